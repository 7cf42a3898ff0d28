/* Lines of the kernel's own source in texts that name lines of the IR.
 *
 * Analyses see IR, and their texts say "IR line 41". People wrote Python: once a kernel's verdict is whole, its texts
 * are gone through, and name the source line first: "rings.py:86 (IR line 41)". */
#ifndef CHECK_EXPLAIN_SOURCE_LINES_H
#define CHECK_EXPLAIN_SOURCE_LINES_H

#include "finding/finding.h"
#include "finding/report.h"
#include "ir/ir.h"

/* Goes through the texts of all findings of the verdict, which is about a kernel of the module. A line is named in both
 * ways where a text first has it, then by its source alone, unless two IR lines in the text have that source line.
 * Lines without a location, and lines of other files ("IR line 41 of producer"), stay as they are. */
void verdict_name_source(Verdict *verdict, Module *module);

/* Who waits in a deadlock, in other words: each text as `retell` gives it. */
typedef const char *Retell(const void *context, Verdict *verdict, const char *text);
const ReportBlocked *blocked_retold(Verdict *verdict, const Finding *finding, Retell *retell, const void *context);

#endif
