/* What the order log of a program shows: operations that touch the same memory and are ordered by nothing, dependent
 * launches that access before they wait, memory that is given out again while a stream may still use it. */
#ifndef CHECK_PROGRAM_CHECK_H
#define CHECK_PROGRAM_CHECK_H

#include "base/diagnostics.h"
#include "finding/finding.h"
#include "render/trace.h"

/* Whether all lines can be read; else the first that cannot is an error. */
bool program_log_read(Source *source, Diagnostics *diagnostics);
/* Of a log that can be read; with a picture of it, unless `trace` is NULL. */
void program_check(const Source *source, Verdict *verdict, Trace *trace);

#endif
