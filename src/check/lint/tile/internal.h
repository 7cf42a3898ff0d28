/* What the passes of the linter share. */
#ifndef CHECK_LINT_TILE_INTERNAL_H
#define CHECK_LINT_TILE_INTERNAL_H

#include "base/pointers.h"
#include "check/facts/facts.h"
#include "check/lint/tile/lint.h"
#include "ir/op.h"
#include "model/effect/effect.h"

/* A rule that was told at some op, and the one before it there. */
typedef struct ReportedRule {
    RuleId rule;
    uint32_t before; /* in Lint.reported_rules; NO_NUMBER: none */
} ReportedRule;

/* What an op does, in the order in which it happens. */
typedef struct Effects {
    const Effect *items, *end;
} Effects;

typedef struct Lint {
    Module *module;
    const Op *function;
    const Target *target; /* NULL: not known; rules that depend on it are then not looked at */
    const Launch *launch; /* NULL: none */
    const LintOptions *options;
    bool alone;          /* as in LintOptions */
    ReleaseSet releases; /* of Triton that may lower it; never none */
    Facts *facts;
    Verdict *verdict;
    Pointers reported; /* by op: the last of its rules */
    ReportedRule *reported_rules;
    uint32_t reported_rule_count, reported_rule_capacity;
    Pointers looked_at; /* ops whose effects were asked for: their number in `effects` */
    Effects *effects;
    uint32_t effects_count, effects_capacity;
} Lint;

/* A finding at `op`: what is wrong there, in one sentence. Why and what would fix it come from the rule's row unless
 * the pass sets them. `other` (may be NULL) is a second place, `role` what it does there. The pointer is good until the
 * next finding. The same rule at the same op is told once: NULL then. */
Finding *lint_find(Lint *lint, RuleId rule, const Op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether the rule was told at the op. Of one op there are at most as many as there are rules. */
bool lint_reported(const Lint *lint, RuleId rule, const Op *op);
void lint_other_place(Lint *lint, Finding *finding, const char *role, const Op *other);

/* The effects of an op, found once; of an op that is not known, EFFECT_ANYTHING alone. */
Effects lint_effects(Lint *lint, const Op *op);
/* The first of them with that verb; NULL if there is none. */
const Effect *lint_effect(Lint *lint, const Op *op, EffectVerb verb);
/* The one handle of a value's type; NULL if that is not known. */
static inline const Type *lint_type(const Lint *lint, const Value *value) {
    return value && value->type ? type_canonical(lint->module, value->type) : NULL;
}
/* True on a target that is known to be AMD's. */
static inline bool lint_is_amd(const Lint *lint) {
    return lint->target && lint->target->vendor == VENDOR_AMD;
}
/* Of the op's module: "ttg.num-ctas" and the like; `otherwise` if it is not there. */
int64_t lint_module_integer(const Lint *lint, const char *name, int64_t otherwise);

/* The region of a partition that holds the op; NULL: none does, or the default one, whose threads are the kernel's. */
const Region *partition_region(const Op *op);
/* Whether the compiler has marked it as one of a kernel that it parts, or is to part, by itself. */
bool op_is_separated(const Op *op);

/* The releases of Triton that the IR of the function may be from; never none. */
ReleaseSet releases_of(Module *module, const Op *function);

/* CTAs of a cluster; 1: there is none. */
uint32_t lint_ctas(const Lint *lint);

/* ---- The passes, one a file; each walks the kernel itself ---- */
void lint_tma(Lint *lint);
void lint_barriers(Lint *lint);
void lint_groups(Lint *lint);
void lint_limits(Lint *lint);
void lint_proxies(Lint *lint);
void lint_amd(Lint *lint);

#endif
