/* `weir report K.ptx`: a run of the machine of PTX as a report with a picture. */
#ifndef CHECK_REPORT_TRACE_REPORT_H
#define CHECK_REPORT_TRACE_REPORT_H

#include "check/simt/check.h"
#include "finding/report.h"
#include "render/trace.h"

/* threads_check, and a report: of the run that threads_show would show. */
void trace_report_report(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Verdict *verdict,
                         Report *report, Trace *trace);

#endif
