/* All passes over one kernel, and how they say what they find. */
#include "check/lint/tile/internal.h"

#include "check/explain/place.h"
#include "finding/lint_rows.h"
#include "model/effect/unknown.h"

#include <stdarg.h>

/* ---- Saying it ------------------------------------------------------------------------------------ */

bool lint_reported(const Lint *lint, RuleId rule, const Op *op) {
    for (uint32_t i = pointers_get(&lint->reported, op); i != NO_NUMBER; i = lint->reported_rules[i].before)
        if (lint->reported_rules[i].rule == rule)
            return true;
    return false;
}

static void keep_reported(Lint *lint, RuleId rule, const Op *op) {
    ReportedRule reported = {rule, pointers_get(&lint->reported, op)};
    pointers_set(&lint->reported, op, lint->reported_rule_count);
    *ARENA_PUSH(&lint->module->arena, lint->reported_rules, lint->reported_rule_count, lint->reported_rule_capacity) =
        reported;
}

Finding *lint_find(Lint *lint, RuleId rule, const Op *op, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    if (lint_reported(lint, rule, op))
        return NULL;
    keep_reported(lint, rule, op);
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    Finding *finding = verdict_finding(lint->verdict);
    finding->rule = rule;
    finding->space = "shared";
    finding->message = verdict_keep(lint->verdict, &text);
    finding->why = lint_row(rule).why;
    finding->fix = lint_row(rule).fix;
    finding->times = 1;
    FindingPlace *places = finding_places(lint->verdict, finding, 2);
    op_place_set(lint->module, op, &places[0], lint->verdict);
    finding->place_count = 1;
    return finding;
}

void lint_other_place(Lint *lint, Finding *finding, const char *role, const Op *other) {
    if (!finding || finding->place_count != 1)
        return;
    op_place_set(lint->module, other, &finding->places[1], lint->verdict);
    finding->places[1].role = role;
    finding->place_count = 2;
}

/* ---- Looking at ops ------------------------------------------------------------------------------- */

Effects lint_effects(Lint *lint, const Op *op) {
    Effect effects[EFFECTS_MOST];
    Arena *arena = &lint->module->arena;
    if (op->row && !*op->row->effects && op->form != FORM_OPAQUE)
        return (Effects){0};
    uint32_t number = pointers_get(&lint->looked_at, op);
    if (number != NO_NUMBER)
        return lint->effects[number];
    unsigned count = effects_of(lint->module, op, effects);
    Effect *items = ARENA_ARRAY(arena, Effect, count + 1);
    memcpy(items, effects, count * sizeof *items);
    pointers_set(&lint->looked_at, op, lint->effects_count);
    return *ARENA_PUSH(arena, lint->effects, lint->effects_count, lint->effects_capacity) =
               (Effects){items, items + count};
}

const Effect *lint_effect(Lint *lint, const Op *op, EffectVerb verb) {
    Effects effects = lint_effects(lint, op);
    return effects_find(effects.items, (unsigned)(effects.end - effects.items), verb);
}

int64_t lint_module_integer(const Lint *lint, const char *name, int64_t otherwise) {
    const Attr *attr = op_attr_around(lint->function, name);
    return attr && attr->kind == ATTR_INTEGER ? attr->integer : otherwise;
}

const Region *partition_region(const Op *op) {
    for (const Op *parent; (parent = op_parent(op)); op = parent)
        if (op_is_control(parent, CONTROL_PARTITIONS))
            return op->block->region;
    return NULL;
}

bool op_is_separated(const Op *op) {
    return op_attr(op, "ttg.partition") || op_attr(op, "async_task_id") || op_attr(op, "tt.warp_specialize");
}

/* Beside a run, a kernel that does not fit its target is no fault of its synchronization: the driver refuses it. What
 * was found about sizes becomes a note. */
static void set_limits_aside(Verdict *verdict, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        const Rule *rule = rule_of(finding->rule);
        if (rule_listed("limit", rule->id) && rule->severity != SEVERITY_NOTE)
            verdict_note(verdict, "IR line %u: %s [%s]; `weir lint` reports it", finding->places[0].ir_line,
                         finding->message, rule->id);
        else
            verdict->findings[kept++] = *finding;
    }
    verdict->finding_count = kept;
}

/* An op that is not known may break any rule, and keep any from being broken. That the verdict says so needs no more
 * than some of them. */
static void note_unknown_ops(Lint *lint) {
    enum { MOST_REPORTED = 100 };
    unsigned reported = 0;
    for (const Op *op = lint->function; op && reported < MOST_REPORTED; op = op_next_in_walk(op, lint->function)) {
        if (!lint_effect(lint, op, EFFECT_ANYTHING))
            continue;
        Text reason = {0};
        unknown_reason(lint->module, op, &reason);
        op_incomplete(lint->module, op, verdict_keep(lint->verdict, &reason), lint->verdict);
        reported++;
    }
}

/* Rules about something that has to come before, after or between, and that an op that is not known may be. */
static bool is_about_time(RuleId rule) {
    static const RuleId rules[] = {RULE_WGMMA_RESULT,          RULE_WGMMA_AROUND,
                                   RULE_MBARRIER_CLUSTER_INIT, RULE_MBARRIER_NEVER_WAITED,
                                   RULE_CLUSTER_START,         RULE_CLUSTER_EXIT,
                                   RULE_AMD_WAIT_TOKEN,        RULE_AMD_WAIT_COUNT,
                                   RULE_AMD_READ_IN_FLIGHT,    RULE_AMD_COND_BARRIER,
                                   RULE_AMD_CLUSTER_BARRIER,   RULE_TMA_MAP_ACQUIRE,
                                   RULE_TMA_MAP_REWRITE,       RULE_TMA_STORE_WAIT_ELSEWHERE,
                                   RULE_TMA_READ_ONLY_WAIT};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i] == rule)
            return true;
    return false;
}

static bool is_in_loop(const Op *op) {
    while (op && !op_is_loop(op))
        op = op_parent(op);
    return op != NULL;
}

/* An op that is not known and that may be what the finding misses: of two places, one between them. */
static const Op *doubt_of(Lint *lint, const Finding *finding) {
    uint32_t one = finding->places[0].ir_line, other = finding->place_count > 1 ? finding->places[1].ir_line : 0;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        uint32_t line = op_line(lint->module, op);
        bool between = !other || is_in_loop(op) || (line > one) != (line > other);
        if (between && lint_effect(lint, op, EFFECT_ANYTHING))
            return op;
    }
    return NULL;
}

static void set_doubts_aside(Lint *lint, size_t first) {
    Verdict *verdict = lint->verdict;
    size_t kept = first;
    for (size_t i = first; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        bool timed = is_about_time(finding->rule) && finding->place_count;
        const Op *op = timed ? doubt_of(lint, finding) : NULL;
        if (op)
            op_may_prevent(lint->module, op, finding, verdict);
        else
            verdict->findings[kept++] = *finding;
    }
    verdict->finding_count = kept;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

void lint_check(Module *module, const Op *function, const LintOptions *options, Verdict *verdict) {
    Lint lint = {.module = module,
                 .function = function,
                 .target = options->target ? options->target : target_of(function),
                 .launch = options->launch,
                 .options = options,
                 .alone = options->alone,
                 .releases = options->releases ? options->releases : releases_of(module, function),
                 .reported = {.arena = &module->arena},
                 .looked_at = {.arena = &module->arena},
                 .verdict = verdict};
    static void (*const passes[])(Lint *) = {lint_tma, lint_barriers, lint_groups, lint_limits, lint_proxies, lint_amd};
    lint.facts = facts_create(&module->arena, module, function, options->launch);
    size_t first = verdict->finding_count;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        passes[i](&lint);
    set_doubts_aside(&lint, first);
    if (options->alone)
        note_unknown_ops(&lint);
    else
        set_limits_aside(verdict, first);
}
