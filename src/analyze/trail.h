/* A witness as text: a trail file, which `weir run --replay` runs again, step by step.
 *
 *     weir trail 1
 *     kernel matmul
 *     launch {"kernel": "matmul", "grid": [1, 1, 1], "args": {"K": 128}}
 *     cluster 0
 *     world 0
 *     order issue
 *     completion immediate
 *     agent 0 default ttng.init_barrier @24
 *     flight 1 partition0.tma ttng.async_tma_copy_global_to_local @41
 *
 * A step is `agent N` or `flight N`; what follows on its line is for people and is not read. The lines before the first
 * step may stand in any order; `kernel` and `launch` must be there. Empty lines mean nothing. */
#ifndef ANALYZE_TRAIL_H
#define ANALYZE_TRAIL_H

#include "analyze/deadlock.h"

enum { TRAIL_MOST_STEPS = 10 * 1000 * 1000 };

typedef struct TrailFile {
    Str kernel;
    Launch launch;
    Rerun rerun; /* its launch is the one above, its schedule replays `trail` */
    Trail trail;
} TrailFile;

/* `machine` is one on which the run is repeated, to write beside each step what it does. A trail with more than
 * TRAIL_MOST_STEPS is not written. */
void trail_write(Machine *machine, const Rerun *rerun, const Trail *trail, Text *to);
/* False, with diagnostics at the place, if it is not a trail. Everything in the arena. `file` must stay where it is. */
bool trail_read(Arena *arena, Source *source, TrailFile *file, Diagnostics *diagnostics);
/* The same from a finding's witness; false if that is "". */
bool trail_read_text(Arena *arena, const char *witness, TrailFile *file);

#endif
