/* By effects: what synchronizes or touches memory; by the slice: what decides that. */
#include "machine/tile/launch/steering.h"

#include "machine/tile/compile/slice.h"
#include "model/flow/forwarded.h"

bool is_around(const Op *outer, const Op *inner) {
    for (const Op *at = op_parent(inner); at; at = op_parent(at))
        if (at == outer)
            return true;
    return false;
}

bool run_site_of(Module *module, const Op *op, RunSite *site) {
    if (!op->row || !*op->row->effects)
        return false;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    bool accesses = false;
    *site = (RunSite){.op = op, .global = true};
    for (unsigned i = 0; i < count; i++) {
        site->synchronizes |= verb_is(effects[i].verb, VERB_SYNCS);
        accesses |= effect_is_access(&effects[i]) && effects[i].space != SPACE_NONE;
        site->global &= effects[i].space == SPACE_GLOBAL;
    }
    return site->synchronizes || accesses;
}

/* Whether something in it synchronizes, or touches memory that is the CTA's own. */
static bool has_site(Module *module, const Op *around) {
    RunSite site;
    for (const Op *op = op_next_in_walk(around, around); op; op = op_next_in_walk(op, around))
        if (run_site_of(module, op, &site) && (site.synchronizes || !site.global))
            return true;
    return false;
}

static bool is_zero(const Value *value) {
    int64_t number;
    return value_constant(value, &number) && number == 0;
}

/* Whether all that it is used for is to end loops that count up from zero. */
static bool ends_loops(const Value *value) {
    const Op *root = value_op(value);
    while (op_parent(root) && !op_is_control(root, CONTROL_FUNCTION))
        root = op_parent(root);
    Bounds bounds;
    int64_t step;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        uint32_t uses = 0;
        for (uint32_t i = 0; i < op->operand_count; i++)
            uses += op->operands[i] == value;
        if (uses && (uses > 1 || !loop_bounds(op, &bounds) || bounds.to != value || !is_zero(bounds.from) ||
                     !value_constant(bounds.step, &step) || step <= 0))
            return false;
    }
    return true;
}

/* x > 0 ? min(n, x) : 0 as the end of a loop: with an x that is not greater it makes no turn, whichever is chosen. */
static bool only_clamps(const Program *program, const Op *op) {
    Module *module = program->module;
    const Op *condition = op->operand_count == 3 ? value_op(op->operands[0]) : NULL;
    if (!condition || op_evaluator(condition) != EVALUATE_COMPARE || !is_zero(op->operands[2]) ||
        evaluation_of(module, condition, 0).a != COMPARE_SGT || !is_zero(condition->operands[1]))
        return false;
    const Op *least = value_op(op->operands[1]);
    const Value *number = condition->operands[0];
    bool bounded = op->operands[1] == number || (op_evaluator(least) == EVALUATE_MINIMUM_SIGNED &&
                                                 (least->operands[0] == number || least->operands[1] == number));
    return bounded && ends_loops(&op->results[0]);
}

bool is_steering_choice(const Program *program, const Op *op) {
    return chooses_whole(op) && op->result_count && slice_has(program->steering, &op->results[0]) &&
           !only_clamps(program, op);
}

/* A branch that yields such. */
static bool gives_steering(const Program *program, const Op *branch) {
    for (uint32_t i = 0; i < branch->result_count; i++)
        if (slice_has(program->steering, &branch->results[i]))
            return true;
    return false;
}

const Value *condition_of(const Op *op) {
    const Op *at = op_is_control(op, CONTROL_WHILE) ? region_end(op, 0) : op;
    return at && at->row ? op_operand_of(at, at->row->control.condition) : NULL;
}

const Value *steering_condition(const Program *program, const Op *op) {
    bool jump = op_is_control(op, CONTROL_JUMP);
    bool branch = op_is_control(op, CONTROL_BRANCH) || op_is_control(op, CONTROL_GUARD);
    if (jump || (branch && op->region_count))
        return has_site(program->module, jump ? program->function : op) || gives_steering(program, op)
                   ? condition_of(op)
                   : NULL;
    return is_steering_choice(program, op) ? op->operands[0] : NULL;
}

const Value *extended_condition(Module *module, const struct Slice *slice, const Op *op) {
    bool extends = op_evaluator(op) == EVALUATE_ZERO_EXTEND || op_evaluator(op) == EVALUATE_SIGN_EXTEND;
    return extends && op->operand_count == 1 && slice_has(slice, &op->results[0]) &&
                   number_width(module, type_resolve(module, op->operands[0]->type)) == 1
               ? op->operands[0]
               : NULL;
}
