/* A list of runs of bytes that grows piece by piece. Pieces that come in the order of their addresses are put together
 * as they come; only others need sorting. */
#ifndef MACHINE_TILE_MEMORY_BYTE_INTERVALS_H
#define MACHINE_TILE_MEMORY_BYTE_INTERVALS_H

#include "base/arena.h"
#include "model/memory/views.h"

typedef struct Runs {
    Arena *arena;
    Run *runs;
    uint32_t count, capacity;
    bool disordered;
    bool hull; /* of what lies far apart, one run from its first byte to its last is enough */
} Runs;

/* Room for more. */
void runs_grow(Runs *runs);
/* Sorted, and none touches another. */
void runs_sort(Runs *runs);

static inline void runs_take(Runs *runs, int64_t begin, int64_t bytes) {
    Run *last = runs->count ? &runs->runs[runs->count - 1] : NULL;
    int64_t end;
    if (bytes <= 0)
        return;
    if (__builtin_add_overflow(begin, bytes, &end))
        end = INT64_MAX;
    if (last && begin >= last->begin && begin <= last->end) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    runs->disordered |= last && begin < last->begin;
    if (runs->count == runs->capacity)
        runs_grow(runs);
    runs->runs[runs->count++] = (Run){begin, end};
}

#endif
