/* What the passes of the linter share. */
#ifndef ANALYZE_LINT_INTERNAL_H
#define ANALYZE_LINT_INTERNAL_H

#include "analyze/facts/facts.h"
#include "analyze/lint/lint.h"
#include "base/pointers.h"

/* A rule that was told at some op, and the one before it there. */
typedef struct ToldRule {
    RuleId rule;
    uint32_t before; /* in Lint.told_rules; NO_NUMBER: none */
} ToldRule;

typedef struct Lint {
    Module *module;
    const Op *function;
    const Target *target; /* NULL: not known; rules that depend on it are then not looked at */
    const Launch *launch; /* NULL: none */
    bool alone;           /* as in LintOptions */
    Facts *facts;
    Verdict *verdict;
    Pointers told; /* by op: the last of its rules */
    ToldRule *told_rules;
    uint32_t told_rule_count, told_rule_capacity;
} Lint;

/* A finding at `op`: what is wrong there, in one sentence. Why and what would fix it come from the rule's row unless
 * the pass sets them. `other` (may be NULL) is a second place, `role` what it does there. The pointer is good until the
 * next finding. The same rule at the same op is told once: NULL then. */
Finding *lint_find(Lint *lint, RuleId rule, const Op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether the rule was told at the op. Of one op there are at most as many as there are rules. */
bool lint_told(const Lint *lint, RuleId rule, const Op *op);
void lint_other_place(Lint *lint, Finding *finding, const char *role, const Op *other);
const char *lint_text(Lint *lint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether the op is of that row. */
static inline bool lint_is(const Op *op, unsigned row) {
    return op->row && op->row->id == row;
}
/* The operand(s) by the name that the row gives them; NULL if there is none. */
const Value *lint_operand(const Op *op, const char *name);
/* An integer attribute; false if it is not there. */
bool lint_integer(const Op *op, const char *name, int64_t *value);
/* Of the op's module: "ttg.num-ctas" and the like; `otherwise` if it is not there. */
int64_t lint_module_integer(const Lint *lint, const char *name, int64_t otherwise);

/* ---- The passes, one a file; each walks the kernel itself ---- */
void lint_tma(Lint *lint);
void lint_barriers(Lint *lint);
void lint_groups(Lint *lint);
void lint_limits(Lint *lint);
void lint_proxies(Lint *lint);
void lint_amd(Lint *lint);

#endif
