/* A witness of a run of PTX as text: which launch, in which order.
 *
 *     weir trail 3
 *     kernel reduce
 *     launch {"kernel": "reduce", "grid": [1, 1, 1], "block": [64, 1, 1], "args": {...}}
 *     gear data
 *     world 0
 *     schedule random 3
 *
 * A schedule is eager, mirrored, lazy, round-robin, `random SEED`, or `held THREAD COUNT CODE`: every one is
 * deterministic, so that its name is enough to run it again. `explored` is one of all orders of a small kernel; a line
 * `steps` has its choices then, as a trail of machine/simt/schedule/explore.h. `volatile 1`: volatile accesses count as
 * weak ones. A trail of a recording has a line `recording` in place of the launch and all else: it is played again from
 * the file that it is of; with a line `beside N` together with that of launch N. The lines behind the first may stand
 * in any order; `kernel` and `launch` must be there. Empty lines mean nothing. */
#ifndef CHECK_SIMT_TRAIL_H
#define CHECK_SIMT_TRAIL_H

#include "base/diagnostics.h"
#include "machine/simt/schedule/schedule.h"

typedef struct ThreadsTrail {
    Str kernel;
    Launch launch;
    PtxSchedule schedule;
    PtxComputes computes;
    unsigned havoc_choice;
    bool volatile_races;
    bool recorded;   /* that of a recording, which has everything else */
    uint64_t beside; /* played together with others, launch `beside` - 1 among them; 0: alone */
} ThreadsTrail;

void threads_trail_write(const ThreadsTrail *trail, Text *to);
/* False, with diagnostics at the place, if it is none. Everything goes to the arena. */
bool threads_trail_read(Arena *arena, Source *source, ThreadsTrail *trail, Diagnostics *diagnostics);
/* The same from a finding's witness; false: it has none. */
bool threads_trail_read_text(Arena *arena, const char *witness, ThreadsTrail *trail);

#endif
