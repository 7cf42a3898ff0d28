/* All schedules of a small kernel: a search over the machine's states, with partial-order reduction, within a budget.
 *
 * What an agent does next depends on nothing but what it has done, so that its visible effects are a fixed list; a
 * first run of each agent alone gives it. A step on a barrier that nothing else will ever touch again is taken without
 * its alternatives (a persistent set of one); it cannot change what the others can do. Where an agent reads what others
 * left in shared memory, or asks for the work of other clusters, its list is not fixed, and nothing is left out. */
#ifndef MACHINE_TILE_SCHEDULE_EXPLORE_H
#define MACHINE_TILE_SCHEDULE_EXPLORE_H

#include "machine/tile/schedule/schedule.h"

typedef struct Exploration {
    uint64_t states;               /* distinct ones seen */
    bool complete;                 /* else the budget was hit */
    bool reduced;                  /* with partial-order reduction */
    uint64_t clean, stuck, faults; /* ends */
} Exploration;

/* An end: nothing can move any more, or a fault. The machine is in that state, `trail` leads to it. Returns true to
 * stop. */
typedef bool ExploreFound(void *context, RunEnd end, const Trail *trail);

/* Explores the cluster from its start, visiting at most `budget` states and taking at most `memory` bytes. */
Exploration explore(Machine *machine, uint64_t cluster, uint64_t budget, size_t memory, ExploreFound *found,
                    void *context);

#endif
