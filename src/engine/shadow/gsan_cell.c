/* Weak accesses to cells that lie one after the other. Runs on devices, too. */
#include "engine/shadow/gsan_cell.h"

static GsanCell *cell_at(void *cells, size_t size, uint32_t at) {
    return (GsanCell *)(void *)((char *)cells + size * at);
}

uint32_t gsan_cells_read(void *cells, uint32_t count, uint32_t slots, const CellView *view, CellClock clock,
                         uint64_t seed, uint32_t *asked, CellClock *race) {
    size_t size = cell_size(slots);
    for (uint32_t i = 0; i < count; i++) {
        GsanCell *cell = cell_at(cells, size, i);
        *race = cell_judge_read(cell, slots, view);
        if (cell->readers[0] != clock) /* neighbors are read by the same CTA, mostly more than once */
            cell_record_read(cell, slots, view, clock, cell_random(seed, view->thread, (*asked)++));
        if (*race)
            return i;
    }
    return count;
}

uint32_t gsan_cells_write(void *cells, uint32_t count, uint32_t slots, const CellView *view, CellClock clock,
                          CellClock *race, bool *was_read) {
    size_t size = cell_size(slots);
    for (uint32_t i = 0; i < count; i++) {
        GsanCell *cell = cell_at(cells, size, i);
        *race = cell->reads ? cell_judge_readers(cell, slots, view) : 0;
        *was_read = *race != 0;
        if (!*race)
            *race = cell_judge_read(cell, slots, view);
        cell_record_write(cell, slots, view, clock);
        if (*race)
            return i;
    }
    return count;
}
