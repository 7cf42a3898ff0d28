/* The columns of lint.def that findings are told with. */
#include "finding/lint_rows.h"

static const LintRow rows[RULE_COUNT] = {
#define LINT(name, id, fact, grade, summary, illegal, needs, source, fix) [RULE_##name] = {illegal, fix},
#include "finding/lint_amd.def"
#include "finding/lint_barrier.def"
#include "finding/lint_group.def"
#include "finding/lint_limit.def"
#include "finding/lint_proxy.def"
#include "finding/lint_ptx.def"
#include "finding/lint_tma.def"
#undef LINT
};

LintRow lint_row(RuleId rule) {
    return rows[rule];
}
