/* Facts, found by going over the function again and again until nothing changes.
 *
 * Every scalar and every view of memory is a node; what makes it what it is (an op, a loop, a value handed on) is a
 * step. A node starts with nothing seen, each step adds what it sees, and a fact that has changed too often is widened
 * to what cannot change any more, so that it ends. Should a hostile file still need too many rounds, what is handed on
 * is taken for unknown; then only an order of blocks that nothing writes can be left, and nothing is known at all. */
#include "check/facts/facts.h"

#include "base/pointers.h"
#include "model/flow/forwarded.h"
#include "model/layout/layout.h"
#include "model/number/evaluate.h"

enum { NO_NODE = NO_NUMBER, MOST_OPERANDS = 3, CHANGES_BEFORE_WIDENING = 12, MOST_ROUNDS = 80 };

typedef struct FactNode {
    const Value *value;
    uint32_t step; /* the only one that makes it, where that is an evaluation; else NO_NODE */
    uint8_t width; /* 0: a view of memory */
    uint8_t changes;
    bool seen, made; /* made: some step makes it */
    bool remote, several;
    IntDomain number;     /* of a view: where its storage's base is */
    IntDomain affine;     /* of a view: the part that XOR combines */
    const Op *allocation; /* of a view; NULL: not known, or several */
} FactNode;

typedef enum FactStepKind { STEP_EVALUATE, STEP_HAND, STEP_COUNT, STEP_VIEW } FactStepKind;

typedef struct FactStep {
    FactStepKind kind;
    uint32_t to;
    uint32_t from[MOST_OPERANDS]; /* a loop's: lower bound, upper bound, step */
    const Evaluation *how;
    ViewStep view;
    uint32_t index; /* of a view: the node of `view.index` */
    uint8_t operands;
    bool unsigned_loop;
    int64_t promised; /* tt.divisibility of the op, or 1 */
} FactStep;

struct Facts {
    Arena *arena;
    Module *module;
    const Op *function;
    const Launch *launch;
    const Parameter *parameters;
    uint32_t parameter_count;
    Pointers numbers; /* Value -> node */
    FactNode *nodes;
    uint32_t node_count, node_capacity;
    FactStep *steps;
    uint32_t step_count, step_capacity;
    bool forwarded_unknown, nothing;
};

/* ---- Nodes ---------------------------------------------------------------------------------------- */

static bool is_view(Module *module, const Type *type) {
    type = type ? type_canonical(module, type) : NULL;
    return type && memdesc_space(type) != SPACE_NONE;
}

static void add_node(Facts *facts, const Value *value) {
    uint8_t width = (uint8_t)number_width(facts->module, value->type);
    if (!width && !is_view(facts->module, value->type))
        return;
    pointers_set(&facts->numbers, value, facts->node_count);
    *ARENA_PUSH(facts->arena, facts->nodes, facts->node_count, facts->node_capacity) = (FactNode){
        .value = value, .width = width, .step = NO_NODE, .number = known_nothing(), .affine = known_exact(0)};
}

static void add_nodes(Facts *facts) {
    for (const Op *op = facts->function; op; op = op_next_in_walk(op, facts->function)) {
        for (uint32_t i = 0; i < op->result_count; i++)
            add_node(facts, &op->results[i]);
        for (uint32_t r = 0; r < op->region_count; r++)
            for (const Block *block = op->regions[r].first; block; block = block->next)
                for (uint32_t i = 0; i < block->arg_count; i++)
                    add_node(facts, &block->args[i]);
    }
}

static uint32_t node_of(const Facts *facts, const Value *value) {
    return value ? pointers_get(&facts->numbers, value) : NO_NODE;
}

/* ---- What is known from the start ----------------------------------------------------------------- */

static void set(FactNode *node, IntDomain known) {
    node->number = known;
    node->seen = node->made = true;
}

static IntDomain parameter_fact(const Facts *facts, const Parameter *parameter, unsigned width) {
    const Launch *launch = facts->launch;
    bool part = parameter->descriptor >= 0;
    const Parameter *whole = part ? &facts->parameters[parameter->descriptor] : parameter;
    const Argument *argument = launch ? launch_find(launch, str_of(whole->name)) : NULL;
    if (argument && part && argument->kind == ARGUMENT_DESCRIPTOR && parameter->part < 2u * argument->rank)
        return known_exact(parameter->part < argument->rank ? argument->shape[parameter->part]
                                                            : argument->strides[parameter->part - argument->rank]);
    if (argument && !part && argument->kind == ARGUMENT_INTEGER && !type_is(parameter->type, STR("tt.ptr")))
        return known_exact(integer_wrap(argument->integer, width));
    return width == 1 ? known_between(0, 1) : known_multiple(parameter->divisibility);
}

static void set_parameters(Facts *facts) {
    const Block *entry = facts->function->region_count ? facts->function->regions[0].first : NULL;
    if (!entry)
        return;
    facts->parameters = program_parameters(facts->module, facts->function, &facts->parameter_count);
    for (uint32_t i = 0; i < facts->parameter_count; i++) {
        uint32_t node = node_of(facts, &entry->args[i]);
        if (node != NO_NODE && facts->nodes[node].width)
            set(&facts->nodes[node], parameter_fact(facts, &facts->parameters[i], facts->nodes[node].width));
    }
}

/* A program's id, or how many there are: of the launch, or what a grid can have at most. */
static IntDomain grid_fact(const Facts *facts, const Op *op, bool count) {
    static const int64_t most[3] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
    int64_t axis;
    if (!op_number(op, "axis", &axis) || axis < 0 || axis > 2)
        return known_between(0, INT32_MAX);
    bool given = facts->launch && facts->launch->grid[axis] > 0;
    int64_t programs = given ? facts->launch->grid[axis] : most[axis];
    if (count)
        return given ? known_exact(programs) : known_between(1, programs);
    return known_between(0, programs - 1);
}

/* What an op gives that is no arithmetic; false if nothing is known. */
static bool source_fact(const Facts *facts, const Op *op, IntDomain *known) {
    Evaluator how = op_evaluator(op);
    Effect effects[EFFECTS_MOST];
    int64_t alignment;
    if (how == EVALUATE_PROGRAM_ID || how == EVALUATE_PROGRAM_COUNT)
        *known = grid_fact(facts, op, how == EVALUATE_PROGRAM_COUNT);
    else if (how == EVALUATE_NONE && op_integer(op, "alignment", &alignment) && alignment > 0 &&
             effects_of(facts->module, op, effects) && effects[0].verb == EFFECT_ALLOCATE)
        *known = known_multiple(alignment);
    else
        return false;
    return true;
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

static FactStep *add_step(Facts *facts, FactStepKind kind, uint32_t to) {
    FactStep *step = ARENA_PUSH(facts->arena, facts->steps, facts->step_count, facts->step_capacity);
    *step = (FactStep){.kind = kind, .to = to, .from = {NO_NODE, NO_NODE, NO_NODE}, .index = NO_NODE, .promised = 1};
    facts->nodes[to].made = true;
    return step;
}

static void add_forwarded(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)how;
    Facts *facts = context;
    uint32_t node = node_of(facts, to);
    if (node != NO_NODE)
        add_step(facts, STEP_HAND, node)->from[0] = node_of(facts, from);
}

/* tt.divisibility on an op is what the kernel's author promises of its result: dense<16> : tensor<1xi32>. */
static int64_t promised_divisor(const Op *op) {
    const Attr *attr = op_attr(op, "tt.divisibility");
    int64_t divisor;
    return attr && attr_numbers(attr, &divisor, 1) == 1 && divisor >= 1 && divisor <= INT32_MAX ? divisor : 1;
}

static void add_evaluation(Facts *facts, const Op *op, uint32_t result) {
    uint32_t node = node_of(facts, &op->results[result]);
    Evaluation how = evaluation_of(facts->module, op, result);
    if (how.code == EVALUATE_NONE || how.tensor || op->operand_count > MOST_OPERANDS)
        return;
    Evaluation *kept = ARENA_NEW(facts->arena, Evaluation);
    *kept = how;
    facts->nodes[node].step = facts->step_count;
    FactStep *step = add_step(facts, STEP_EVALUATE, node);
    step->how = kept;
    step->operands = (uint8_t)op->operand_count;
    step->promised = op->result_count == 1 ? promised_divisor(op) : 1;
    for (uint32_t i = 0; i < op->operand_count; i++)
        step->from[i] = node_of(facts, op->operands[i]);
}

static void add_count(Facts *facts, const Op *loop) {
    const Block *body = loop->regions[0].first;
    Bounds bounds;
    uint32_t node = loop_bounds(loop, &bounds) && body && body->arg_count ? node_of(facts, &body->args[0]) : NO_NODE;
    if (node == NO_NODE)
        return;
    FactStep *step = add_step(facts, STEP_COUNT, node);
    step->unsigned_loop = op_attr(loop, "unsignedCmp") != NULL;
    step->from[0] = node_of(facts, bounds.from);
    step->from[1] = node_of(facts, bounds.to);
    step->from[2] = node_of(facts, bounds.step);
}

static void set_allocation(const Op *op, FactNode *node) {
    int64_t offset;
    node->allocation = op;
    set(node, known_exact(op_integer(op, "allocation.offset", &offset) ? offset : 0));
}

static void add_views(Facts *facts, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(facts->module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        uint32_t node = node_of(facts, effects[i].on);
        if (node == NO_NODE || facts->nodes[node].width || effects[i].verb != EFFECT_VIEW || !effects[i].on->is_result)
            continue;
        FactStep *step = add_step(facts, STEP_VIEW, node);
        step->from[0] = node_of(facts, effects[i].amount);
        step->view = view_step_of_result(facts->module, op, effects[i].on->index);
        step->index = node_of(facts, step->view.index);
    }
}

static bool makes_view(Facts *facts, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        uint32_t node = node_of(facts, &op->results[i]);
        if (node != NO_NODE && !facts->nodes[node].width)
            return true;
    }
    return false;
}

static void add_op(Facts *facts, const Op *op) {
    IntDomain known;
    if (op_is_control(op, CONTROL_LOOP) && op->region_count)
        add_count(facts, op);
    bool chooses_number = op_evaluator(op) == EVALUATE_SELECT && !makes_view(facts, op);
    if (!chooses_number && op_hands_on(op, add_forwarded, facts))
        return;
    if (op_is(op, CLASS_LOCAL_ALLOC) && op->result_count) {
        uint32_t node = node_of(facts, &op->results[0]);
        if (node != NO_NODE)
            set_allocation(op, &facts->nodes[node]);
        return;
    }
    if (makes_view(facts, op))
        add_views(facts, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        uint32_t node = node_of(facts, &op->results[i]);
        if (node == NO_NODE || !facts->nodes[node].width)
            continue;
        if (source_fact(facts, op, &known))
            set(&facts->nodes[node], known);
        else
            add_evaluation(facts, op, i);
    }
}

/* ---- Evaluating ----------------------------------------------------------------------------------- */

static bool is_comparison(const FactStep *step) {
    return step->kind == STEP_EVALUATE && step->how->code == EVALUATE_COMPARE && step->how->a >= COMPARE_EQ &&
           step->how->a <= COMPARE_UGE;
}

static IntDomain bounded(const Facts *facts, uint32_t node) {
    return known_bounded(&facts->nodes[node].number, facts->nodes[node].width);
}

/* An arm of a select, of which the condition says more where it compares that very value. */
static IntDomain arm(const Facts *facts, const FactStep *select, bool holds) {
    uint32_t value = select->from[holds ? 1 : 2];
    uint32_t made_by = facts->nodes[select->from[0]].step;
    IntDomain known = bounded(facts, value);
    const FactStep *compare = made_by == NO_NODE ? NULL : &facts->steps[made_by];
    if (!compare || !is_comparison(compare) || (compare->from[0] != value && compare->from[1] != value))
        return known;
    bool left = compare->from[0] == value;
    Comparison predicate = (Comparison)compare->how->a;
    predicate = left ? predicate : comparison_mirrored(predicate);
    IntDomain other = bounded(facts, compare->from[left ? 1 : 0]);
    return known_where(&known, holds ? predicate : comparison_negated(predicate), &other);
}

static IntDomain select_fact(const Facts *facts, const FactStep *step) {
    const IntDomain *condition = &facts->nodes[step->from[0]].number;
    IntDomain yes = arm(facts, step, true), no = arm(facts, step, false);
    if (condition->exact)
        return condition->least ? yes : no;
    return known_join(&yes, &no);
}

static IntDomain evaluation_fact(const Facts *facts, const FactStep *step) {
    const Evaluation *how = step->how;
    IntDomain operands[MOST_OPERANDS] = {known_exact(0), known_exact(0), known_exact(0)};
    int64_t value;
    bool exact = true;
    if (word_is(how->constant, WORD_INTEGER))
        return known_exact(how->constant.bits);
    for (unsigned i = 0; i < step->operands; i++) {
        if (step->from[i] == NO_NODE)
            return known_nothing();
        operands[i] = bounded(facts, step->from[i]);
        exact &= operands[i].exact;
    }
    if (exact && how->code != EVALUATE_SAME)
        return evaluate_integers(how->code, how->width, how->operand_width, how->a, operands[0].least,
                                 operands[1].least, operands[2].least, &value)
                   ? known_exact(value)
                   : known_nothing();
    if (how->code == EVALUATE_SELECT)
        return select_fact(facts, step);
    if (how->code == EVALUATE_COMPARE)
        return is_comparison(step) ? known_compared((Comparison)how->a, &operands[0], &operands[1])
                                   : known_between(0, 1);
    IntDomain known = known_evaluated(how->code, how->width, how->operand_width, how->a, &operands[0], &operands[1]);
    if (how->width == 1)
        known = known_bounded(&known, 1);
    return known_wrap(&known, how->width);
}

/* A loop's counter: from the lower bound on, below the upper one. */
static IntDomain count_fact(const Facts *facts, const FactStep *step) {
    IntDomain lower = bounded(facts, step->from[0]), upper = bounded(facts, step->from[1]),
              by = bounded(facts, step->from[2]);
    bool counts = by.least >= 1 && (!step->unsigned_loop || (lower.least >= 0 && upper.least >= 0));
    if (!counts)
        return known_counting(&lower, &by, INT64_MIN, INT64_MAX);
    int64_t most = upper.most > INT64_MIN ? upper.most - 1 : upper.most;
    if (lower.exact && by.exact && upper.exact && most > lower.least)
        most = lower.least + (int64_t)(((uint64_t)most - (uint64_t)lower.least) / (uint64_t)by.least) * by.least;
    return known_counting(&lower, &by, lower.least, most > lower.least ? most : lower.least);
}

/* ---- Rounds --------------------------------------------------------------------------------------- */

static void see_number(FactNode *node, const IntDomain *known, bool *changed) {
    IntDomain joined = node->seen ? known_join(&node->number, known) : *known;
    if (node->seen && known_equal(&joined, &node->number))
        return;
    if (node->seen && node->changes >= CHANGES_BEFORE_WIDENING)
        joined = known_widened(&node->number, &joined);
    node->changes += node->changes < UINT8_MAX;
    node->number = joined;
    node->seen = *changed = true;
}

/* A view that is at `place` in its allocation. */
static void see_view(FactNode *node, const FactNode *place, bool *changed) {
    if (!node->seen) {
        node->allocation = place->allocation;
        node->several = place->several;
        node->remote = place->remote;
        node->affine = place->affine;
    }
    bool differs = node->allocation != place->allocation;
    IntDomain affine = known_join(&node->affine, &place->affine);
    if ((differs && !node->several) || (place->remote && !node->remote) || !known_equal(&affine, &node->affine))
        *changed = true;
    if (differs) {
        node->allocation = NULL;
        node->several = true;
    }
    node->remote |= place->remote;
    node->affine = affine;
    see_number(node, &place->number, changed);
}

static FactNode view_fact(const Facts *facts, const FactStep *step) {
    FactNode place = {.number = known_nothing(), .affine = known_exact(0)};
    if (step->from[0] == NO_NODE)
        return place;
    place = facts->nodes[step->from[0]];
    const ViewStep *view = &step->view;
    if (view->problem || view->cta) { /* of another CTA nothing is said */
        place.number = known_nothing();
        place.affine = known_exact(0);
        return place;
    }
    IntDomain flip = known_exact(view->flip), stride = known_exact(view->stride), add = known_exact(view->add);
    place.affine = known_evaluated(EVALUATE_XOR, 64, 64, 0, &place.affine, &flip);
    place.number = known_add(&place.number, &add, 64);
    if (view->index) {
        IntDomain index = step->index == NO_NODE ? known_nothing() : facts->nodes[step->index].number;
        IntDomain moved = known_multiply(&index, &stride, 64);
        place.number = known_add(&place.number, &moved, 64);
    }
    place.remote |= view->rank != NULL;
    return place;
}

static bool is_ready(const Facts *facts, const FactStep *step) {
    for (unsigned i = 0; i < MOST_OPERANDS; i++)
        if (step->from[i] != NO_NODE && !facts->nodes[step->from[i]].seen)
            return false;
    return step->index == NO_NODE || facts->nodes[step->index].seen;
}

static void do_step(Facts *facts, const FactStep *step, bool *changed) {
    FactNode *to = &facts->nodes[step->to];
    FactNode nowhere = {.number = known_nothing(), .affine = known_exact(0)};
    IntDomain known = known_nothing();
    if (step->kind == STEP_HAND) {
        const FactNode *from =
            step->from[0] == NO_NODE || facts->forwarded_unknown ? &nowhere : &facts->nodes[step->from[0]];
        if (!to->width)
            see_view(to, from->width ? &nowhere : from, changed);
        else
            see_number(to, from->width ? &from->number : &known, changed);
        return;
    }
    if (step->kind == STEP_VIEW) {
        FactNode place = view_fact(facts, step);
        see_view(to, &place, changed);
        return;
    }
    bool whole = step->kind == STEP_EVALUATE ||
                 (step->from[0] != NO_NODE && step->from[1] != NO_NODE && step->from[2] != NO_NODE);
    if (step->kind == STEP_EVALUATE)
        known = evaluation_fact(facts, step);
    else if (whole)
        known = count_fact(facts, step);
    if (step->promised > 1 && !known.exact) {
        IntDomain promise = known_multiple(step->promised);
        known = known_both(&promise, &known);
    }
    see_number(to, &known, changed);
}

/* False if the rounds were too many. */
static bool settle(Facts *facts) {
    bool changed = true;
    for (unsigned round = 0; changed && round < MOST_ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 0; i < facts->step_count; i++)
            if (is_ready(facts, &facts->steps[i]))
                do_step(facts, &facts->steps[i], &changed);
    }
    return !changed;
}

static void forget(Facts *facts) {
    for (uint32_t i = 0; i < facts->step_count; i++) {
        FactNode *node = &facts->nodes[facts->steps[i].to];
        node->seen = node->several = node->remote = false;
        node->changes = 0;
        node->allocation = NULL;
    }
}

Facts *facts_create(Arena *arena, Module *module, const Op *function, const Launch *launch) {
    Facts *facts = ARENA_NEW(arena, Facts);
    *facts =
        (Facts){.arena = arena, .module = module, .function = function, .launch = launch, .numbers = {.arena = arena}};
    add_nodes(facts);
    set_parameters(facts);
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        add_op(facts, op);
    for (uint32_t i = 0; i < facts->node_count; i++)
        facts->nodes[i].seen |= !facts->nodes[i].made;
    if (!settle(facts)) {
        facts->forwarded_unknown = true;
        forget(facts);
        facts->nothing = !settle(facts);
    }
    return facts;
}

/* ---- Asking --------------------------------------------------------------------------------------- */

IntDomain known_of(Facts *facts, const Value *value) {
    uint32_t node = facts->nothing ? NO_NODE : node_of(facts, value);
    return node == NO_NODE || !facts->nodes[node].seen || !facts->nodes[node].width ? known_nothing()
                                                                                    : facts->nodes[node].number;
}

/* The alignment of an allocation that has no place yet. */
static int64_t alignment_of(Module *module, const Op *allocation) {
    int64_t alignment;
    if (op_integer(allocation, "alignment", &alignment) && alignment > 0)
        return alignment;
    const Layout *layout = layout_of(module, allocation->results[0].type);
    return layout && layout->alignment > 0 ? layout->alignment : 1;
}

KnownPlace place_of(Facts *facts, const Value *memdesc) {
    uint32_t number = facts->nothing ? NO_NODE : node_of(facts, memdesc);
    const FactNode *node = number == NO_NODE ? NULL : &facts->nodes[number];
    if (!node || !node->seen || node->width || !node->allocation)
        return (KnownPlace){.byte = known_nothing(), .alignment = 1, .remote = node && node->remote};
    return (KnownPlace){.allocation = node->allocation,
                        .byte = known_add(&node->number, &node->affine, 64),
                        .placed = op_attr(node->allocation, "allocation.offset") != NULL,
                        .alignment = alignment_of(facts->module, node->allocation),
                        .remote = node->remote};
}

/* Captures are few, and lead outwards: each step leaves a region. */
const Parameter *parameter_of(Facts *facts, const Value *value) {
    const Block *entry = facts->function->region_count ? facts->function->regions[0].first : NULL;
    while (value && !value->is_result && value->owner != entry)
        value = value_forwarded(value, FORWARDED_CAPTURE);
    return value && !value->is_result && value->index < facts->parameter_count ? &facts->parameters[value->index]
                                                                               : NULL;
}

const Argument *argument_of(Facts *facts, const Parameter *parameter) {
    return facts->launch && parameter ? launch_find(facts->launch, str_of(parameter->name)) : NULL;
}
