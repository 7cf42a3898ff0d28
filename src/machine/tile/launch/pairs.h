/* Conditions by twos: what goes wrong where one holds and another does not is not seen by runs in which each goes both
 * ways. Conditions that a launch decides (arguments, program ids, ranks; no turn of a loop, no data) are held against
 * each other, under the settings of launches. */
#ifndef MACHINE_TILE_LAUNCH_PAIRS_H
#define MACHINE_TILE_LAUNCH_PAIRS_H

#include "machine/tile/launch/solve.h"

typedef struct Pairs Pairs;

/* Two conditions, where they stand, and how they come out. */
typedef struct Pair {
    const Op *ops[2];
    const Value *values[2];
    bool outcomes[2];
} Pair;

/* Memory: the arena. The conditions of a kernel that decide which synchronization and accesses are run, and how. */
Pairs *pairs_create(Arena *arena, Solver *solver, const Program *program);
/* Notes how they come out, together, in the programs of the solver's setting. */
void pairs_see(Pairs *pairs, Solver *solver);
/* The next combination that was not seen and may be possible, beginning with *at, which is 0 at first; false: all were.
 */
bool pairs_next(const Pairs *pairs, uint32_t *at, Pair *pair);
/* One that was not seen though different arguments decide the two, and each went both ways; false: there is none. */
bool pairs_missing(const Pairs *pairs, Pair *pair);
/* An op that makes a number of a condition which was seen in one way only; NULL: there is none. */
const Op *pairs_one_way(const Pairs *pairs, const Value **value, bool *held);

#endif
