/* Which other runs are to be made where one does not decide for all schedules: what is held back in each.
 *
 * Every risk of a run (machine/tile/schedule/causes.h) asks for one in which what it names is held back, beside what
 * was held back already: so another set of arrivals completes a phase, or a wait comes too late. Each of them is
 * watched in turn, and may have risks of its own. The number is bounded; the caller is told if some were left. */
#ifndef CHECK_TILE_RUN_OTHERS_H
#define CHECK_TILE_RUN_OTHERS_H

#include "machine/tile/schedule/causes.h"

typedef struct Others Others;

Others *others_create(Arena *arena);
/* A new launch: nothing was run yet. */
void others_start(Others *others);
/* A run was made with `schedule`, and these are its risks. */
void others_add(Others *others, const Causes *causes, const Schedule *schedule);
/* The next run to be made; false if there is none. */
bool others_next(Others *others, Schedule *schedule);
/* Whether there were more than may be made; asked once. */
bool others_left(Others *others);

#endif
