/* How much of a kernel was run: which ops that synchronize or touch memory, which ways of its branches, and how often
 * loops went round the rings of barriers and buffers in them; over all runs that were checked. */
#ifndef MACHINE_TILE_SCHEDULE_COVERAGE_H
#define MACHINE_TILE_SCHEDULE_COVERAGE_H

#include "machine/tile/step/machine.h"

typedef struct Covered Covered;

/* Memory: the arena. From now on the machine's runs are noted while machine->ran is set, as it is at first. */
Covered *covered_create(Arena *arena, Machine *machine);
/* To be called before the runs of a launch. */
void covered_launch(Covered *covered, const Launch *launch);
/* To be called after each run that was checked. */
void covered_add_run(Covered *covered);
/* Adds up what was run, and says in one line each, as incomplete, what was not and what to give so that it is.
 * `enforced`: else only the numbers are kept. */
void covered_close(Covered *covered, bool enforced, Verdict *verdict);

#endif
