/* What becomes of findings by what a project has decided: how grave they are, and which do not count.
 *
 * A finding that does not count is still there, with why it does not. Nothing here is about what could not be looked
 * at: a kernel that is incomplete stays so. A rule that is off goes before a comment, and a comment before the
 * baseline; all three are remembered as used. */
#ifndef CONFIG_APPLY_H
#define CONFIG_APPLY_H

#include "config/project.h"

/* Of the findings of a verdict that is not closed yet. `ir`: the name of the IR's file, beside which sources may be. */
void project_apply(Project *project, Verdict *verdict, const char *ir);

/* All that may be wrong with a kernel was looked for: what the baseline still has of it beside what was found is gone;
 * and a comment in a function that the kernel has ops in, by the lines that follow, was of no use if it was of none to
 * any kernel. */
void project_looked_at(Project *project, Verdict *verdict);
void project_looked_at_line(Project *project, const char *ir, Str file, uint32_t line);

/* ---- At the end ---- */

/* What is to be said of comments and of the baseline. */
typedef struct Remark {
    Severity severity;
    const char *file;
    uint32_t line; /* 0: it is about the file */
    const char *text;
} Remark;

/* All of them, by file and line; in the project's arena. Returns how many. */
size_t project_remarks(Project *project, const Remark **remarks);

#endif
