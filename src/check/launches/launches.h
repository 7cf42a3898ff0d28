/* What checks of a kernel's launches have found while the program ran (src/cuda/checks.c): an object of JSON a line,
 * each with the result of one launch as `--format json` has it, and the kernel's name for people; or with the number of
 * launches that were not checked, since equal ones were. */
#ifndef CHECK_LAUNCHES_LAUNCHES_H
#define CHECK_LAUNCHES_LAUNCHES_H

#include "base/diagnostics.h"
#include "finding/finding.h"

#define LAUNCHES_ENDING ".weirchecks"

bool launches_in(const Source *source);
/* Whether all lines can be read; else the first that cannot is an error. */
bool launches_read(Source *source, Diagnostics *diagnostics);
/* Of such a file: one verdict of all launches. */
void launches_verdict(const Source *source, Verdict *verdict);

#endif
