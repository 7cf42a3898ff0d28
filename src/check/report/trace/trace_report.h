/* A run of PTX as a barrier report and a picture: which warps do the same, which barriers they meet at, in which
 * phases, what memory that orders, and who waits forever.
 *
 * It is about one cluster of the grid, whose events it watches. Warps that run the same are a role, which the
 * report calls a partition; one of them may do more than the others, for all of them. Mbarriers that lie one behind the
 * other and are used by the same instructions are a ring. An edge carries memory that was accessed before the arrival
 * and after the wait, by different warps, as long as no shorter way from one to the other is known.
 *
 * The picture has no clock, as recordings have none: each thing that synchronizes takes one step of its warp, and a
 * wait lasts until the arrivals that it is for are over. What no wait orders is side by side. */
#ifndef CHECK_REPORT_TRACE_TRACE_REPORT_H
#define CHECK_REPORT_TRACE_TRACE_REPORT_H

#include "check/simt/internal.h"
#include "finding/report.h"
#include "render/trace.h"

typedef struct TraceReport TraceReport;

/* Before the machine of the check starts, for one cluster. Texts are in the arena of the check's verdict. `reported`:
 * the findings that there are already, whose accesses are drawn. All else is in the check's own arena. */
TraceReport *trace_report_begin(ThreadsCheck *check, uint32_t cluster, const Verdict *reported);
void trace_report_see(void *trace_report, const PtxEvent *event); /* a PtxObserve */
/* Behind the run, while the machine stands: partitions, barriers, edges, buffers; everyone who waits forever, in the
 * machine that is stuck. The rest of the report is the caller's. */
void trace_report_finish(TraceReport *trace_report, Report *report, Trace *trace);
const ReportBlocked *trace_report_blocked(TraceReport *trace_report, size_t *count);
/* Deadlocks are findings; who waits stands beside the first of them. Where there is none, one of two reasons: every
 * wait was over, or that is open. */
void trace_report_add_deadlocks(Report *report, Verdict *verdict, const ReportBlocked *blocked, size_t count,
                                const char *over, const char *open);

#endif
