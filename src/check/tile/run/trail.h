/* A witness as text: a trail file, which `weir run --replay` runs again, step by step.
 *
 *     weir trail 1
 *     kernel matmul
 *     launch {"kernel": "matmul", "grid": [1, 1, 1], "args": {"K": 128}}
 *     cluster 0
 *     world 0
 *     order issue
 *     completion immediate
 *     load 0 21 1
 *     agent 0 default ttng.init_barrier @24
 *     outstanding operation 1 partition0.tma ttng.async_tma_copy_global_to_local @41
 *
 * `load A L V`: the next load of agent A at line L of the IR finds V (what other CTAs have written when the whole grid
 * ran). A step is `agent N` or `outstanding N`; what follows on its line is for people and is not read. The lines
 * before the first step may stand in any order; `kernel` and `launch` must be there. Empty lines mean nothing.
 *
 * A trail of a whole grid, of one or several launches, is of version 2:
 *
 *     weir trail 2
 *     devices 2
 *     resident 0
 *     kernel producer
 *     launch {"kernel": "producer", "grid": [4, 1, 1], "args": {...}}
 *     kernel consumer
 *     launch {...}
 *     turns 0 3 17
 *
 * The last line is 17 turns of cluster 3 of launch 0. A line `granule 4`, among the first ones, says that accesses were
 * told apart by so many bytes only; `cancels 1`, that clusters did the work of others that had not begun. Launches are
 * counted in the order in which they are made: kernel by kernel, and of each device by device. */
#ifndef CHECK_TILE_RUN_TRAIL_H
#define CHECK_TILE_RUN_TRAIL_H

#include "check/tile/run/check.h"
#include "machine/tile/grid/grid.h"

enum { TRAIL_MOST_STEPS = 10 * 1000 * 1000 };

/* Which kernels, how launched, and whose turn it was. */
typedef struct GridTrail {
    Str *kernels;
    Launch *launches; /* one a kernel */
    uint32_t count;
    uint32_t devices, resident; /* as in GlobalOptions */
    uint32_t granule;           /* as in GsanOptions; 0: not given */
    bool cancels;               /* as in GridOptions */
    Turns turns;
} GridTrail;

typedef struct TrailFile {
    Str kernel;
    Launch launch;
    Rerun rerun; /* its launch is the one above, its schedule replays `trail`, its loads are these: */
    GivenLoad *loads;
    Trail trail;
    bool whole;     /* of a whole grid: */
    GridTrail grid; /* then this, and nothing of the above */
} TrailFile;

/* `machine` is one on which the run is repeated, to write beside each step what it does. A trail with more than
 * TRAIL_MOST_STEPS is not written. */
void trail_write(Machine *machine, const Rerun *rerun, const Trail *trail, Text *to);
void grid_trail_write(const GridTrail *trail, Text *to);
/* False, with diagnostics at the place, if it is not a trail. Everything in the arena. `file` must stay where it is. */
bool trail_read(Arena *arena, Source *source, TrailFile *file, Diagnostics *diagnostics);
/* The same from a finding's witness; false if that is "", or of a whole grid. */
bool trail_read_text(Arena *arena, const char *witness, TrailFile *file);
/* The same of a whole grid; false if it is "", or of one cluster. */
bool grid_trail_read_text(Arena *arena, const char *witness, TrailFile *file);

#endif
