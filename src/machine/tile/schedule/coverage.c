/* What was run of a kernel, op by op, and what is said of the rest. */
#include "machine/tile/schedule/coverage.h"

#include "base/pointers.h"
#include "machine/tile/compile/block_loops.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/pairs.h"
#include "machine/tile/launch/rings.h"
#include "machine/tile/launch/shifts.h"
#include "machine/tile/launch/steering.h"
#include "model/flow/forwarded.h"
#include "model/flow/symbol.h"
#include "model/memory/views.h"

struct Covered {
    Arena *arena;
    Machine *machine;
    const Program *program;
    Solver *solver;
    uint64_t *turns; /* of each loop: the most in one run of one CTA */
    Shifts *shifts;  /* of slots and phases, and what launches have made of them */
    Pairs *pairs;    /* of conditions, and how they came out together */
    Pointers flags;  /* of ops: RAN_... of all their instructions */
    Pointers called; /* functions that the kernel calls, itself included: 1 if a run has come to one */
    bool ran;
};

Covered *covered_create(Arena *arena, Machine *machine) {
    Covered *covered = ARENA_NEW(arena, Covered);
    const Program *program = machine->program;
    *covered = (Covered){.arena = arena,
                         .machine = machine,
                         .program = program,
                         .turns = ARENA_ARRAY(arena, uint64_t, program->loop_count + 1),
                         .flags = {.arena = arena},
                         .called = {.arena = arena}};
    machine->ran = ARENA_ARRAY(arena, uint8_t, program->code_count + 1);
    covered->solver = solver_create(arena, program);
    Setting *ones = solver_setting(covered->solver);
    for (uint32_t i = 0; i < SETTING_MOST_NUMBERS; i++)
        ones->numbers[i] = 1;
    ones->grid[0] = ones->grid[1] = ones->grid[2] = 1;
    covered->shifts = shifts_create(arena, covered->solver, program);
    covered->pairs = pairs_create(arena, covered->solver, program);
    return covered;
}

void covered_launch(Covered *covered, const Launch *launch) {
    solver_launch(covered->solver, launch);
    shifts_see(covered->shifts, covered->solver);
    pairs_see(covered->pairs, covered->solver);
}

void covered_add_run(Covered *covered) {
    covered->ran = true;
    for (uint32_t i = 0; i < covered->program->loop_count; i++) {
        uint64_t turns = covered->machine->trips[i].turns / covered->program->ctas;
        if (turns > covered->turns[i])
            covered->turns[i] = turns;
    }
}

/* ---- What was come to ----------------------------------------------------------------------------- */

static unsigned flags_of(const Covered *covered, const Op *op) {
    uint32_t flags = pointers_get(&covered->flags, op);
    return flags == NO_NUMBER ? 0 : flags;
}

static void gather_flags(Covered *covered) {
    const Program *program = covered->program;
    for (uint32_t i = 0; i < program->code_count; i++)
        if (covered->machine->ran[i] && program->ops[i])
            pointers_set(&covered->flags, program->ops[i],
                         flags_of(covered, program->ops[i]) | covered->machine->ran[i]);
}

static bool is_reached(const Covered *covered, const Op *op);

static uint64_t turns_of(const Covered *covered, const Op *loop) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < covered->program->loop_count; i++)
        if (covered->program->loops[i].op == loop && covered->turns[i] > most)
            most = covered->turns[i];
    bool once_more = op_is_control(loop, CONTROL_WHILE) || !op_is_loop(loop); /* its condition is asked once more */
    return once_more && most ? most - 1 : most;
}

static bool is_entered(const Covered *covered, const Op *op, uint32_t region) {
    switch (op_control(op)) {
    case CONTROL_FUNCTION:
        return pointers_get(&covered->called, op) == 1;
    case CONTROL_BRANCH:
    case CONTROL_GUARD:
        return flags_of(covered, op) & (region ? RAN_NO : RAN_YES);
    case CONTROL_LOOP:
        return turns_of(covered, op) > 0;
    case CONTROL_WHILE:
        return region ? flags_of(covered, region_end(op, 0)) & RAN_YES : flags_of(covered, op) & RAN;
    case CONTROL_SWITCH: /* the ways of its cases are counted by what is in them */
        return flags_of(covered, op) & (region ? RAN_YES : RAN_NO);
    default:
        return is_reached(covered, op);
    }
}

/* Whether some run has come to the op; of ops in several blocks, to its block. */
static bool is_reached(const Covered *covered, const Op *op) {
    const Op *around = op_parent(op);
    if (!around)
        return true;
    const Region *region = op->block->region;
    if (region->block_count > 1)
        return flags_of(covered, op->block->first) & RAN;
    return is_entered(covered, around, (uint32_t)(region - around->regions));
}

/* Functions that the kernel calls, and which of them are come to, by calls that are; callers are first, but for those
 * that make a circle. */
static void gather_called(Covered *covered) {
    const Op *call;
    pointers_set(&covered->called, covered->program->function, covered->ran);
    for (uint32_t i = 0; (call = solver_call(covered->solver, i)); i++)
        if (call_target(covered->program->module, call) != covered->program->function)
            pointers_set(&covered->called, call_target(covered->program->module, call), 0);
    for (bool more = covered->ran; more;) {
        more = false;
        for (uint32_t i = 0; (call = solver_call(covered->solver, i)); i++) {
            const Op *callee = call_target(covered->program->module, call);
            if (pointers_get(&covered->called, callee) || !is_reached(covered, call))
                continue;
            pointers_set(&covered->called, callee, 1);
            more = true;
        }
    }
}

static bool was_run(const Covered *covered, const Op *op) {
    unsigned flags = flags_of(covered, op);
    return flags & RAN_STANDS ? flags & RAN : is_reached(covered, op);
}

/* ---- What cannot be ------------------------------------------------------------------------------- */

/* The op around it that was come to, and did not go into the region with `op` in it; NULL: there is none. */
static const Op *turned_away_by(const Covered *covered, const Op *op) {
    for (const Op *around = op_parent(op); around; op = around, around = op_parent(around))
        if (is_reached(covered, around) &&
            !is_entered(covered, around, (uint32_t)(op->block->region - around->regions)))
            return around;
    return NULL;
}

/* Whether it is the same at every launch that the op is not run: nothing that a caller gives, no program id and no
 * data decides it. */
static bool never_runs(const Covered *covered, const Op *op) {
    const Op *by = turned_away_by(covered, op);
    Effect effects[EFFECTS_MOST];
    if (by)
        return op_is_loop(by) && !op_is_control(by, CONTROL_WHILE)
                   ? solver_same_trips(covered->solver, by)
                   : condition_of(by) && solver_closed(covered->solver, condition_of(by));
    unsigned count = is_reached(covered, op) ? effects_of(covered->program->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if ((effects[i].predicate && solver_closed(covered->solver, effects[i].predicate)) ||
            (effects[i].second_predicate && solver_closed(covered->solver, effects[i].second_predicate)))
            return true;
    return false;
}

/* ---- What is said --------------------------------------------------------------------------------- */

static uint64_t conditions_depend(const Covered *covered, const Op *op) {
    const Op *by = turned_away_by(covered, op);
    Bounds bounds;
    uint64_t mask = 0;
    if (by && loop_bounds(by, &bounds))
        mask = solver_depends(covered->solver, bounds.from) | solver_depends(covered->solver, bounds.to);
    else if (by)
        mask = solver_depends(covered->solver, condition_of(by));
    Effect effects[EFFECTS_MOST];
    unsigned count = by ? 0 : effects_of(covered->program->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        mask |= solver_depends(covered->solver, effects[i].predicate);
    return mask;
}

/* The parameters of a mask that are memory, or that are numbers, each after `before`; how many there are. */
static uint32_t add_parameters(const Covered *covered, uint64_t mask, bool memory, const char *before,
                               const char *behind, Text *to) {
    const Program *program = covered->program;
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->parameter_count && i < 64; i++) {
        const Type *type = type_resolve(program->module, program->parameters[i].type);
        if (!(mask >> i & 1) || !type || (memory ? !type_is(type, STR("tt.ptr")) : type->kind != TYPE_INTEGER))
            continue;
        text_addf(to, "%s%s%s%s", count++ ? " and " : "", before, program->parameters[i].name, behind);
    }
    return count;
}

/* A wait without end that does not count as a finding; NULL: there is none. */
static const Finding *passed_over_hang(const Verdict *verdict) {
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (finding->blocked_count && (finding->suppressed || finding_severity(finding) == SEVERITY_NOTE))
            return finding;
    }
    return NULL;
}

/* "give --arg n=VALUE", "give a launch file with the data of lens", or what else would help. */
static void say_what_to_give(const Covered *covered, const Verdict *verdict, uint64_t mask, Text *to) {
    const Finding *hang = passed_over_hang(verdict);
    Text tensors = {0};
    if (hang) {
        text_addf(to, "a wait never ends (%s, %s)", rule_of(hang->rule)->id,
                  hang->suppressed ? suppression_kind_word(hang->suppressed) : "a note");
        return;
    }
    text_addf(to, "give ");
    bool numbers = add_parameters(covered, mask, false, "--arg ", "=VALUE", to) > 0;
    if (add_parameters(covered, mask, true, "", "", &tensors))
        text_addf(to, "%sa launch file with the data of %.*s", numbers ? " and " : "", (int)tensors.size, tensors.data);
    else
        text_addf(to, numbers ? ", or a launch file" : "a launch file with the data and the grid that reach it");
    text_free(&tensors);
}

static const char *place_text(Verdict *verdict, const Covered *covered, const Op *op) {
    const Op *by = turned_away_by(covered, op);
    uint32_t line = by ? op_line(covered->program->module, by) : 0;
    if (!by)
        return is_reached(covered, op) ? "its predicate was never true" : "no run reached it";
    return verdict_text(
        verdict, op_is_loop(by) ? "the loop at line %u ran no iteration" : "the branch at line %u was not taken", line);
}

static void say_not_run(const Covered *covered, const Op *op, uint32_t others, Verdict *verdict) {
    Text give = {0};
    say_what_to_give(covered, verdict, conditions_depend(covered, op), &give);
    const char *what = verdict_keep(verdict, &give);
    const char *more = others ? verdict_text(verdict, " (and %u more op%s)", others, others == 1 ? "" : "s") : "";
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(covered->program->module, op),
                       "it was not run%s: %s; %s", more, place_text(verdict, covered, op), what);
}

/* Whether a loop of blocks runs as often at every launch, as far as its conditions tell; *mask: what they depend on. */
static bool blocks_same_trips(const Covered *covered, const Block *head, uint64_t *mask) {
    bool same = true;
    for (const Block *block = head; block; block = block->next) {
        const Value *condition = block_loop_has(head, block) && block_loop_stays(head, block->last) >= 0
                                     ? op_operand_of(block->last, block->last->row->control.condition)
                                     : NULL;
        if (!condition)
            continue;
        same &= solver_closed(covered->solver, condition);
        *mask |= solver_depends(covered->solver, condition);
    }
    return same;
}

/* How many slots its ring has; 0: it has none, or runs as often at every launch. */
static uint32_t open_ring(const Covered *covered, const Loop *loop) {
    Module *module = covered->program->module;
    uint64_t mask = 0;
    if (loop->head)
        return blocks_same_trips(covered, loop->head, &mask) ? 0 : ring_in_blocks(covered->solver, module, loop->head);
    return solver_same_trips(covered->solver, loop->op) ? 0 : ring_in_loop(covered->solver, module, loop->op);
}

static void say_not_turned(const Covered *covered, const Op *loop, uint32_t slots, Verdict *verdict) {
    Text give = {0};
    const Op *reported = op_is_loop(loop) ? loop : loop->block->last; /* of blocks: a branch of its head */
    Bounds bounds;
    uint64_t mask = 0, turns = turns_of(covered, loop);
    if (loop_bounds(loop, &bounds))
        mask = solver_depends(covered->solver, bounds.from) | solver_depends(covered->solver, bounds.to);
    else if (!op_is_loop(loop))
        (void)blocks_same_trips(covered, loop->block, &mask);
    say_what_to_give(covered, verdict, mask, &give);
    const char *what = verdict_keep(verdict, &give);
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(reported->name)),
                       op_line(covered->program->module, reported),
                       "its ring of %u slot%s never wrapped: at most %llu iteration%s; %s", slots,
                       slots == 1 ? "" : "s", (unsigned long long)turns, turns == 1 ? "" : "s", what);
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

static bool is_of_kernel(const Covered *covered, const Op *op) {
    const Op *function = op;
    while (function && !op_is_control(function, CONTROL_FUNCTION))
        function = op_parent(function);
    return function && pointers_get(&covered->called, function) != NO_NUMBER;
}

static void count_ops(const Covered *covered, bool enforced, Verdict *verdict) {
    Module *module = covered->program->module;
    RunCoverage *coverage = &verdict->coverage;
    const Op *first = NULL;
    uint32_t missed = 0;
    RunSite site;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        if (!run_site_of(module, op, &site) || !is_of_kernel(covered, op))
            continue;
        bool run = was_run(covered, op);
        if (!run && never_runs(covered, op)) {
            coverage->unreachable++;
            continue;
        }
        coverage->barrier_ops += site.synchronizes;
        coverage->barrier_ops_run += site.synchronizes && run;
        coverage->accesses += !site.synchronizes;
        coverage->accesses_run += !site.synchronizes && run;
        missed += !run;
        first = run || first ? first : op;
    }
    if (first && enforced)
        say_not_run(covered, first, missed - 1, verdict);
}

/* ---- Ways ----------------------------------------------------------------------------------------- */

/* Whether it may be otherwise at some launch, and nothing but CLC decides that. */
static bool may_differ(const Covered *covered, const Value *value) {
    return value && !solver_closed(covered->solver, value) && !solver_asked(covered->solver, value);
}

/* The condition of a branch or a select that was seen in one way only; NULL: there is none. */
static const Value *condition_one_way(const Covered *covered, const Op *op) {
    const Value *condition = steering_condition(covered->program, op);
    bool turned = condition && op_evaluator(op) == EVALUATE_SELECT && solver_counts_up(covered->solver, condition);
    return !turned && may_differ(covered, condition) ? condition : NULL;
}

/* What of an op's was seen in one way only, though it may not be the same at every launch: a condition, a predicate, a
 * slot, a parity; NULL: nothing. Slots and parities that a loop counts are the matter of rings. */
static const Value *one_way_only(const Covered *covered, const Op *op, const char **way) {
    Module *module = covered->program->module;
    unsigned flags = flags_of(covered, op);
    bool both = (flags & RAN_YES) && (flags & RAN_NO);
    const Value *condition = flags & (RAN_YES | RAN_NO) && !both ? condition_one_way(covered, op) : NULL;
    *way = flags & RAN_YES ? "its condition always held" : "its condition never held";
    if (condition)
        return condition;
    Effect effects[EFFECTS_MOST];
    unsigned count = flags && op->row && *op->row->effects ? effects_of(module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++) {
        const Value *slot = effects[i].verb == EFFECT_VIEW && slots_viewed(module, op, &effects[i])
                                ? view_step_of_result(module, op, effects[i].on->index).index
                                : NULL;
        *way = flags & RAN_YES ? "it was never slot 0" : "it was always slot 0";
        if (slot && !both && !solver_counted(covered->solver, slot) && may_differ(covered, slot))
            return slot;
        if (!(flags & RAN))
            continue;
        const Value *predicate = effects[i].predicate;
        *way = "its predicate always held";
        if (effects[i].space != SPACE_GLOBAL && !(flags & RAN_SKIPS) && may_differ(covered, predicate))
            return predicate;
        *way = flags & RAN_YES ? "its parity was always 1" : "its parity was always 0";
        const Value *amount = effects[i].verb == EFFECT_WAIT ? effects[i].amount : NULL;
        if (amount && !both && !solver_counted(covered->solver, amount) && may_differ(covered, amount) &&
            !(predicate && solver_closed_where(covered->solver, amount, predicate)))
            return amount;
    }
    return NULL;
}

static void say_one_way(const Covered *covered, const Op *op, const Value *value, const char *way, uint32_t others,
                        Verdict *verdict) {
    Text give = {0};
    say_what_to_give(covered, verdict, solver_depends(covered->solver, value), &give);
    const char *what = verdict_keep(verdict, &give);
    const char *more = others ? verdict_text(verdict, " (and of %u more op%s)", others, others == 1 ? "" : "s") : "";
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)), op_line(covered->program->module, op),
                       "its other outcome was not run%s: %s; %s", more, way, what);
}

static void look_at_ways(const Covered *covered, Verdict *verdict) {
    const Value *first_value = NULL;
    const Op *first = NULL;
    const char *first_way = NULL, *way;
    uint32_t missed = 0;
    for (const Op *op = module_first_op(covered->program->module); op; op = op_next_in_walk(op, NULL)) {
        const Value *value = is_of_kernel(covered, op) ? one_way_only(covered, op, &way) : NULL;
        if (!value)
            continue;
        if (!missed++)
            first = op, first_value = value, first_way = way;
    }
    bool held;
    const Op *extends = first ? NULL : pairs_one_way(covered->pairs, &first_value, &held);
    if (extends)
        say_one_way(covered, extends, first_value, held ? "its condition always held" : "its condition never held", 0,
                    verdict);
    if (first)
        say_one_way(covered, first, first_value, first_way, missed - 1, verdict);
}

static void look_at_shifts(const Covered *covered, Verdict *verdict) {
    const Shift *shift = shifts_missing(covered->shifts);
    Text give = {0};
    if (!shift)
        return;
    say_what_to_give(covered, verdict, solver_depends(covered->solver, shift->value), &give);
    const char *what = verdict_keep(verdict, &give);
    verdict_incomplete(
        verdict, verdict_text(verdict, "%.*s", STR_ARG(shift->op->name)), op_line(covered->program->module, shift->op),
        "its slot or phase, iteration by iteration, was the same at every launch, and may be another; %s", what);
}

static void look_at_pairs(const Covered *covered, Verdict *verdict) {
    static const char *const ways[] = {"did not hold", "held"};
    Pair pair;
    Text give = {0};
    if (!pairs_missing(covered->pairs, &pair))
        return;
    say_what_to_give(covered, verdict,
                     solver_depends(covered->solver, pair.values[0]) | solver_depends(covered->solver, pair.values[1]),
                     &give);
    const char *what = verdict_keep(verdict, &give);
    Module *module = covered->program->module;
    verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(pair.ops[0]->name)), op_line(module, pair.ops[0]),
                       "two outcomes were not run together: its condition %s, and that at line %u %s; %s",
                       ways[pair.outcomes[0]], op_line(module, pair.ops[1]), ways[pair.outcomes[1]], what);
}

static void count_branches(const Covered *covered, Verdict *verdict) {
    Pointers seen = {.arena = covered->arena};
    const Program *program = covered->program;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const Op *op = program->ops[i];
        bool choice = op && is_steering_choice(covered->program, op);
        if ((program->code[i].code != CODE_BRANCH && !choice) || pointers_get(&seen, op) != NO_NUMBER)
            continue;
        pointers_set(&seen, op, 0);
        unsigned flags = flags_of(covered, op);
        const Value *condition = choice ? op->operands[0] : condition_of(op);
        bool closed = condition && (solver_closed(covered->solver, condition) ||
                                    (choice && solver_counts_up(covered->solver, condition)));
        unsigned taken = ((flags & RAN_YES) != 0) + ((flags & RAN_NO) != 0);
        /* One that is closed may be both all the same: at the end of a loop, or by rank. */
        verdict->coverage.branches += closed && taken < 2 ? 1 : 2;
        verdict->coverage.branches_taken += taken;
    }
}

/* ---- Rings ---------------------------------------------------------------------------------------- */

static void count_rings(const Covered *covered, bool enforced, Verdict *verdict) {
    Pointers seen = {.arena = covered->arena};
    for (uint32_t i = 0; i < covered->program->loop_count; i++) {
        const Op *loop = covered->program->loops[i].op;
        if (pointers_get(&seen, loop) != NO_NUMBER)
            continue;
        pointers_set(&seen, loop, 0);
        uint32_t slots = open_ring(covered, &covered->program->loops[i]);
        if (!slots || (!is_reached(covered, loop) && never_runs(covered, loop)))
            continue;
        bool turned = turns_of(covered, loop) > slots;
        verdict->coverage.rings++;
        verdict->coverage.rings_turned += turned;
        if (!turned && turns_of(covered, loop) && enforced)
            say_not_turned(covered, loop, slots, verdict);
    }
}

void covered_close(Covered *covered, bool enforced, Verdict *verdict) {
    verdict->coverage = (RunCoverage){0};
    gather_flags(covered);
    gather_called(covered);
    count_ops(covered, enforced, verdict);
    count_branches(covered, verdict);
    count_rings(covered, enforced, verdict);
    if (enforced && !verdict->incomplete_count)
        look_at_ways(covered, verdict);
    if (enforced && !verdict->incomplete_count)
        look_at_shifts(covered, verdict);
    if (enforced && !verdict->incomplete_count)
        look_at_pairs(covered, verdict);
}
