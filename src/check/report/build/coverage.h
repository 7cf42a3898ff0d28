/* Coverage: an agent that overwrites memory must come after every agent that reads what was there, under whatever name.
 *
 * Decided by happens-before in a run: clocks (machine/tile/schedule/clocks.h) carry what each agent knows of every
 * other, through barriers, groups, forks and any chain of them; a direct edge is not asked for. An observer of eager
 * runs, of as many as are made; a row is MISSING if it was in any of them. */
#ifndef CHECK_REPORT_BUILD_COVERAGE_H
#define CHECK_REPORT_BUILD_COVERAGE_H

#include "check/report/build/internal.h"
#include "machine/tile/schedule/schedule.h"
#include "machine/tile/step/machine.h"

typedef struct Coverage Coverage;

/* `watch` is told which waits accesses depend on; or is NULL. */
Coverage *coverage_create(Arena *arena, Machine *machine, Watch *watch);
/* Before each run: clocks start again, rows stay. A run in which asynchronous operations do not complete at once is not
 * looked at. */
void coverage_start(Coverage *coverage, const Rerun *rerun);
void coverage_observe(void *coverage, const Event *event);

/* Adds the parts of allocations that were used under names of their own as buffers of the report. `coverage` may be
 * NULL. */
void coverage_parts(Coverage *coverage, Builder *builder);

/* In which run a missing edge was seen. */
typedef struct MissingEdge {
    size_t finding; /* of the verdict */
    Rerun rerun;
} MissingEdge;

/* Fills the report's coverage and its note, and adds the finding coverage.missing-back-edge for what is missing,
 * without witness, unless the verdict has a race between the same two ops: between two names of one memory that race
 * becomes the missing back edge. Returns one MissingEdge for each that was added. `coverage` is NULL if nothing was
 * run. */
const MissingEdge *coverage_report(Coverage *coverage, Builder *builder, size_t *missing);

#endif
