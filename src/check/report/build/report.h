/* The barrier report: partitions, barriers, shared data, aliases, deadlocks and coverage of one kernel.
 *
 * What can be read off the IR is; slots, phases, edges and coverage are what a run showed. The parts are files of their
 * own (internal.h lists them); report.c puts them together. */
#ifndef CHECK_REPORT_BUILD_REPORT_H
#define CHECK_REPORT_BUILD_REPORT_H

#include "check/tile/run/check.h"
#include "finding/report.h"
#include "render/trace.h"

/* Checks the kernel as check_runs does, and makes the report of it; findings of the report's own (coverage) are
 * added to the verdict. verdict_close is the caller's. `trace` becomes a picture of one run; it has no tracks if
 * nothing was run. The module's arena must be able to jump. */
const Report *report_build(Module *module, const Op *function, const CheckOptions *options, Verdict *verdict,
                           Trace *trace);

/* Of a kernel that has tasks and no barriers yet, what its plan cannot order (coverage.missing-back-edge) is added to
 * the verdict, as report_build does: where no report is wanted. Of any other kernel nothing. */
void report_check_plan(Module *module, const Op *function, Verdict *verdict);

#endif
