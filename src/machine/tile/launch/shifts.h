/* Slots and phases that a loop counts, and that something else shifts: (i + n) & 1, (i * stride) % 3. Going round the
 * ring shows each of them, but only as one launch has them; so launches are wanted that have them otherwise in the same
 * turns.
 */
#ifndef MACHINE_TILE_LAUNCH_SHIFTS_H
#define MACHINE_TILE_LAUNCH_SHIFTS_H

#include "machine/tile/launch/solve.h"

typedef struct Shifts Shifts;

/* What an op goes by, and the innermost loop around it; NULL: it is in none, but in a function that is called in one.
 */
typedef struct Shift {
    const Op *op, *loop;
    const Value *value;
    int64_t numbers; /* that it can be: slots, or 2 */
} Shift;

/* Memory: the arena. */
Shifts *shifts_create(Arena *arena, Solver *solver, const Program *program);
/* Notes what they are in the first turns, in the programs of the solver's setting. */
void shifts_see(Shifts *shifts, Solver *solver);
/* Those in their order; NULL: there are fewer. */
const Shift *shifts_item(const Shifts *shifts, uint32_t index);
/* The first that was the same, turn by turn, in all settings that were noted; NULL: there is none. */
const Shift *shifts_missing(const Shifts *shifts);

#endif
