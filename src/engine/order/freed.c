/* Pieces of memory with the clocks of what freed them. */
#include "engine/order/freed.h"

#include <stdlib.h>

static void empty(OrderFreed *freed, const ProgramOrder *order) {
    for (uint32_t i = 0; i < freed->count; i++) {
        if (freed->pieces[i].clock)
            lanes_join(order, &freed->rest, freed->pieces[i].clock);
        free(freed->pieces[i].clock);
    }
    freed->count = 0;
    freed->full = true;
}

void freed_keep(OrderFreed *freed, const ProgramOrder *order, uint64_t address, uint64_t bytes,
                const OrderClock *clock) {
    if (freed->count == MOST_FREED)
        empty(freed, order);
    freed->pieces[freed->count++] = (FreedPiece){address, bytes, clock_copy(clock)};
}

void freed_take(OrderFreed *freed, const ProgramOrder *order, uint64_t address, uint64_t bytes, OrderClock *clock,
                void (*each)(uint64_t address, const void *of), const void *of) {
    uint64_t end = address + bytes;
    lanes_join(order, clock, &freed->rest);
    for (uint32_t i = 0; i < freed->count;) {
        FreedPiece *piece = &freed->pieces[i];
        bool overlaps = address < piece->address + piece->bytes && piece->address < end;
        if (overlaps && piece->clock) {
            lanes_join(order, clock, piece->clock);
            each(piece->address, of);
        }
        if (overlaps && address <= piece->address && piece->address + piece->bytes <= end) {
            free(piece->clock);
            *piece = freed->pieces[--freed->count];
        } else {
            i++;
        }
    }
}
