/* What a rule of `weir lint` says of itself wherever it is told: the columns of its row (lint.def). */
#ifndef FINDING_LINT_ROWS_H
#define FINDING_LINT_ROWS_H

#include "finding/finding.h"

typedef struct LintRow {
    const char *why, *fix; /* NULL: it is a rule of others */
} LintRow;

LintRow lint_row(RuleId rule);

#endif
