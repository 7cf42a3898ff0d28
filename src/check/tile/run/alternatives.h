/* Which other runs are to be made where one does not decide for all schedules: what is held back in each.
 *
 * Every risk of a run (machine/tile/schedule/happens_before.h) asks for one in which what it names is held back, beside
 * what was held back already: so another set of arrivals completes a phase, or a wait comes too late. Each of them is
 * watched in turn, and may have risks of its own. The number is bounded; it returns whether some were left. */
#ifndef CHECK_TILE_RUN_ALTERNATIVES_H
#define CHECK_TILE_RUN_ALTERNATIVES_H

#include "machine/tile/schedule/happens_before.h"

typedef struct Alternatives Alternatives;

Alternatives *alternatives_create(Arena *arena);
/* A new launch: nothing was run yet. */
void alternatives_start(Alternatives *alternatives);
/* A run was made with `schedule`, and these are its risks. */
void alternatives_add(Alternatives *alternatives, const HappensBefore *happens_before, const Schedule *schedule);
/* The next run to be made; false if there is none. */
bool alternatives_next(Alternatives *alternatives, Schedule *schedule);
/* Whether there were more than may be made; asked once. */
bool alternatives_left(Alternatives *alternatives);

#endif
