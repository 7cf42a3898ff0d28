/* What a value depends on, without a setting: arguments, data, loops; and whether it is the same at every launch. */
#include "machine/tile/launch/solve_internal.h"

#include "model/flow/symbol.h"

/* ---- Following a value back ------------------------------------------------------------------------ */

typedef struct Following {
    Solver *solver;
    Pointers seen;
    uint64_t mask;
    unsigned left;
    bool place;         /* a program id, a rank, data or a parameter without a bit in the mask decides it */
    bool open;          /* something decides it that is not the same at every launch, but for what follows */
    bool loops;         /* how often a loop runs does */
    bool asked;         /* the hardware is asked for it: whether there is more work */
    bool plain;         /* conditions of selects and branches are left out: those are wanted both ways by themselves */
    bool turns;         /* of loops it is not followed how often they run */
    const Value *holds; /* a condition that is known to; NULL: none is */
} Following;

const Value *value_behind(const Value *value) {
    for (const Value *other = value_always(value); other && other != value; other = value_always(value))
        value = other;
    return value;
}

static void follow(Following *following, const Value *value);

static void follow_source(void *context, Forwarded how, const Value *from, const Value *to) {
    Following *following = context;
    Carried carried;
    /* By which branch, is followed where blocks make a loop, and not elsewhere. */
    following->open |= how == FORWARDED_BRANCH && !value_always(to) && !block_carried(to, &carried);
    follow(following, from);
}

/* What decides whether a loop of blocks iterates again. */
static void follow_blocks(Following *following, const Value *value) {
    Carried carried;
    if (!block_carried(value, &carried))
        return;
    const Block *head = value->owner;
    following->loops = true;
    for (const Block *block = head; block && !following->turns; block = block->next)
        if (block_loop_has(head, block) && block_loop_stays(head, block->last) >= 0)
            follow(following, op_operand_of(block->last, block->last->row->control.condition));
}

bool op_is_closed(const Program *program, const Op *op) {
    uint32_t axis;
    Evaluator how = program_asks(program, op, &axis);
    return how == EVALUATE_CTA_RANK || how == EVALUATE_CTA_COUNT ||
           (how != EVALUATE_NONE && how != EVALUATE_POISON && how < EVALUATE_PROGRAM_ID);
}

/* What decides which way a loop, branch or switch goes, and how often. */
static void follow_control(Following *following, const Op *op) {
    if (!op || !op->row || !op->region_count)
        return;
    const Op *end = op_is_control(op, CONTROL_WHILE) ? region_end(op, 0) : NULL;
    const ControlColumn *control = &op->row->control;
    const SlotRef steering[] = {control->from, control->to, control->step, control->condition, control->number};
    following->loops |= op_is_loop(op);
    if ((following->turns && op_is_loop(op)) || (following->plain && !op_is_loop(op)))
        return;
    for (unsigned i = 0; i < sizeof steering / sizeof *steering; i++)
        follow(following, op_operand_of(op, steering[i]));
    if (end && end->row)
        follow(following, op_operand_of(end, end->row->control.condition));
}

/* What every call hands over for an argument of a function; false if it is none, or nothing calls it. */
static bool follow_passed(Following *following, const Value *value) {
    const Op *function = value_op(value) ? NULL : value_holder(value);
    Solver *solver = following->solver;
    if (!op_is_control(function, CONTROL_FUNCTION) || !solver_passed(solver, value))
        return false;
    for (uint32_t i = 0; i < solver->call_count; i++)
        if (call_target(solver->module, solver->calls[i]) == function && value->index < solver->calls[i]->operand_count)
            follow(following, solver->calls[i]->operands[value->index]);
    return true;
}

/* The numbers that a value has where its comparison with a constant holds; false if it is none of these. */
static bool holds_from(Solver *solver, const Value *condition, const Value **value, int64_t *least, int64_t *most) {
    const Op *op = value_made(condition, EVALUATE_COMPARE);
    int64_t number;
    if (!op || !value_constant(op->operands[1], &number) || number == INT64_MIN || number == INT64_MAX)
        return false;
    *value = op->operands[0];
    *least = INT64_MIN;
    *most = INT64_MAX;
    switch ((Comparison)evaluation_of(solver->module, op, 0).a) {
    case COMPARE_EQ:
        *least = *most = number;
        return true;
    case COMPARE_SLT:
    case COMPARE_SLE:
        *most = number - ((Comparison)evaluation_of(solver->module, op, 0).a == COMPARE_SLT);
        return true;
    case COMPARE_SGT:
    case COMPARE_SGE:
        *least = number + ((Comparison)evaluation_of(solver->module, op, 0).a == COMPARE_SGT);
        return true;
    default:
        return false;
    }
}

/* Whether a condition follows from the one that is known to hold, or cannot be with it. */
static bool is_settled(const Following *following, const Value *condition) {
    const Value *value, *other;
    int64_t least, most, from, to;
    if (!following->holds)
        return false;
    if (value_behind(following->holds) == value_behind(condition))
        return true;
    return holds_from(following->solver, value_behind(following->holds), &value, &least, &most) &&
           holds_from(following->solver, value_behind(condition), &other, &from, &to) &&
           value_behind(value) == value_behind(other) && ((least >= from && most <= to) || least > to || most < from);
}

static void follow(Following *following, const Value *value) {
    uint32_t parameter;
    if (!value || pointers_get(&following->seen, value) != NO_NUMBER || is_settled(following, value))
        return;
    if (!following->left) {
        following->open = true;
        return;
    }
    following->left--;
    pointers_set(&following->seen, value, 0);
    const Op *op = value_op(value);
    if (solver_parameter(following->solver, value, &parameter)) {
        following->mask |= parameter < 64 ? UINT64_C(1) << parameter : 0;
        following->place |= parameter >= 64;
        following->open = true;
        return;
    }
    bool passed = follow_passed(following, value);
    follow_control(following, op ? op : value_holder(value));
    if (!op)
        follow_blocks(following, value);
    Choice choice;
    if (choice_of(value, &choice) && !following->plain)
        follow(following, choice.condition);
    if (value_sources(value, follow_source, following))
        return;
    if (!op) {
        following->open |= !counted_by(value) && !passed;
        return;
    }
    bool asks = op_evaluator(op) >= EVALUATE_CANCEL_ANSWER && op_evaluator(op) <= EVALUATE_CANCEL_QUERY;
    following->asked |= asks;
    uint32_t axis;
    bool pure = op_is_closed(following->solver->program, op);
    following->place |= !pure || program_asks(following->solver->program, op, &axis) == EVALUATE_CTA_RANK;
    following->open |= !asks && !pure;
    for (uint32_t i = 0; !asks && i < op->operand_count; i++)
        follow(following, op->operands[i]);
}

static Following followed(Solver *solver, const Value *value) {
    Following following = {.solver = solver, .seen = {.arena = solver->arena}, .left = MOST_FOLLOWED_VALUES};
    follow(&following, value);
    return following;
}

static bool is_open(const Following *following) {
    return following->open || following->asked;
}

static bool is_open_value(Solver *solver, const Value *value) {
    Following following = followed(solver, value);
    return is_open(&following);
}

bool solver_closed_where(Solver *solver, const Value *value, const Value *holds) {
    Following following = {
        .solver = solver, .seen = {.arena = solver->arena}, .left = MOST_FOLLOWED_VALUES, .holds = holds};
    follow(&following, value);
    return !is_open(&following);
}

uint64_t solver_depends(Solver *solver, const Value *value) {
    return followed(solver, value).mask;
}

bool solver_by_place(Solver *solver, const Value *value) {
    return followed(solver, value).place;
}

bool solver_asked(Solver *solver, const Value *value) {
    Following following = followed(solver, value);
    return following.asked && !following.open;
}

bool solver_counted(Solver *solver, const Value *value) {
    return followed(solver, value).loops;
}

bool solver_turned(Solver *solver, const Value *value) {
    Following following = {
        .solver = solver, .seen = {.arena = solver->arena}, .left = MOST_FOLLOWED_VALUES, .turns = true};
    follow(&following, value);
    return following.loops && !is_open(&following);
}

/* What decides it beside turns, and conditions of selects and branches. */
static Following followed_plainly(Solver *solver, const Value *value) {
    Following following = {
        .solver = solver, .seen = {.arena = solver->arena}, .left = MOST_FOLLOWED_VALUES, .plain = true, .turns = true};
    follow(&following, value);
    return following;
}

/* ---- Sums of multiples ---- */

enum { MOST_TERMS = 24, USUAL_WIDTH = 32 };

/* A sum of values, each so many times; what is the same at every launch is left out. */
typedef struct SolveDependSum {
    struct {
        const Value *value;
        int64_t times;
    } terms[MOST_TERMS];
    uint32_t count;
    bool full;
    bool turns; /* what the turns of a loop add is left out, too */
    unsigned left;
} SolveDependSum;

static void add_term(SolveDependSum *sum, const Value *value, int64_t times) {
    uint32_t i = 0;
    while (i < sum->count && sum->terms[i].value != value)
        i++;
    if (i == MOST_TERMS) {
        sum->full = true;
        return;
    }
    if (i == sum->count) {
        sum->terms[i].value = value;
        sum->terms[i].times = 0;
        sum->count++;
    }
    sum->full |= __builtin_add_overflow(sum->terms[i].times, times, &sum->terms[i].times);
}

static void add_value(Solver *solver, SolveDependSum *sum, const Value *value, int64_t times);

/* What a loop carries, if each turn adds the same to it, at every launch: what it starts from; else NULL. */
static const Value *counted_from(Solver *solver, const Value *value) {
    Carried carried;
    if (!carried_of(value, &carried) && !block_carried(value, &carried))
        return NULL;
    const Op *add = value_made(carried.next, EVALUATE_ADD), *less = value_made(carried.next, EVALUATE_SUBTRACT);
    for (int i = 0; i < 2 && (add || (less && !i)); i++) {
        const Op *op = add ? add : less;
        bool goes_on = op->operands[i] == carried.argument ||
                       value_forwarded(op->operands[i], FORWARDED_ACROSS) == carried.argument;
        if (goes_on && !is_open_value(solver, op->operands[1 - i]))
            return carried.first;
    }
    return NULL;
}

/* In a loop that runs as often at every launch, its counter is where it starts, and something that is the same. */
static void add_argument(Solver *solver, SolveDependSum *sum, const Value *value, int64_t times) {
    const Op *loop = counted_by(value);
    Bounds bounds;
    const Value *other = value_always(value), *from = sum->turns ? counted_from(solver, value) : NULL;
    if (!other && sum->turns)
        other = value_forwarded(value, FORWARDED_ACROSS);
    if (loop && loop_bounds(loop, &bounds) && (sum->turns || solver_same_trips(solver, loop)))
        add_value(solver, sum, bounds.from, times);
    else if (from)
        add_value(solver, sum, from, times);
    else if (other && other != value)
        add_value(solver, sum, other, times);
    else
        add_term(sum, value, times);
}

static void add_op(Solver *solver, SolveDependSum *sum, const Op *op, const Value *value, int64_t times) {
    int64_t factor;
    switch (op_evaluator(op)) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
        add_value(solver, sum, op->operands[0], times);
        add_value(solver, sum, op->operands[1], op_evaluator(op) == EVALUATE_ADD ? times : -times);
        return;
    case EVALUATE_SAME:
        add_value(solver, sum, op->operands[0], times);
        return;
    case EVALUATE_SIGN_EXTEND: /* of what does not wrap, or is taken not to */
    case EVALUATE_ZERO_EXTEND:
        if (number_width(solver->module, type_resolve(solver->module, op->operands[0]->type)) < USUAL_WIDTH)
            break;
        add_value(solver, sum, op->operands[0], times);
        return;
    case EVALUATE_MULTIPLY:
        for (int i = 0; i < 2; i++)
            if (value_constant(op->operands[i], &factor) && !__builtin_mul_overflow(factor, times, &factor)) {
                add_value(solver, sum, op->operands[1 - i], factor);
                return;
            }
        break;
    default:
        break;
    }
    add_term(sum, value, times);
}

static void add_value(Solver *solver, SolveDependSum *sum, const Value *value, int64_t times) {
    const Op *op = value_op(value);
    if (!sum->left) {
        sum->full = true;
        return;
    }
    sum->left--;
    if (!op)
        add_argument(solver, sum, value, times);
    else if (is_open_value(solver, value))
        add_op(solver, sum, op, value, times);
}

/* Whether the difference of the two is the same at every launch. */
static bool same_difference(Solver *solver, const Value *a, const Value *b) {
    SolveDependSum sum = {.left = MOST_STEPS};
    add_value(solver, &sum, a, 1);
    add_value(solver, &sum, b, -1);
    for (uint32_t i = 0; i < sum.count; i++)
        if (sum.terms[i].times)
            return false;
    return !sum.full;
}

int64_t remainder_by(const Op *op) {
    int64_t number;
    if (!op || op->operand_count != 2 || !value_constant(op->operands[1], &number) || number < 1)
        return 0;
    bool mask = op_evaluator(op) == EVALUATE_AND && !(number & (number + 1));
    bool remainder = op_evaluator(op) == EVALUATE_REMAINDER_SIGNED || op_evaluator(op) == EVALUATE_REMAINDER_UNSIGNED;
    return mask ? number + 1 : remainder ? number : 0;
}

static bool varies(Solver *solver, const Value *value, int64_t by, unsigned depth);

/* Whether a term of a sum is another at another launch, in the same turns. */
static bool term_varies(Solver *solver, const Value *value, unsigned depth) {
    const Op *op = value_op(value);
    Choice choice;
    if (!followed_plainly(solver, value).open)
        return false;
    if (depth && choice_of(value, &choice))
        return varies(solver, choice.yes, 0, depth - 1) || varies(solver, choice.no, 0, depth - 1);
    if (!depth || !op || !op_is_closed(solver->program, op) || op->region_count)
        return true;
    if (remainder_by(op))
        return varies(solver, op->operands[0], remainder_by(op), depth - 1);
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (varies(solver, op->operands[i], 0, depth - 1))
            return true;
    return false;
}

/* The same of a number, multiples of `by` aside, if that is not 0. */
static bool varies(Solver *solver, const Value *value, int64_t by, unsigned depth) {
    SolveDependSum sum = {.left = MOST_STEPS, .turns = true};
    add_value(solver, &sum, value, 1);
    for (uint32_t i = 0; i < sum.count; i++)
        if ((by ? sum.terms[i].times % by : sum.terms[i].times) && term_varies(solver, sum.terms[i].value, depth))
            return true;
    return sum.full;
}

bool solver_shifted(Solver *solver, const Value *value) {
    enum { DEEPEST = 8 };
    return followed_plainly(solver, value).loops && varies(solver, value, 0, DEEPEST);
}

static bool is_plain(Solver *solver, const Value *value, unsigned depth);

/* Whether each term is what a loop carries or gives, or one of two numbers by a condition that is plain itself: where a
 * ring has started over, or not. */
static bool counts_plainly(Solver *solver, const Op *compare, unsigned depth) {
    SolveDependSum sum = {.left = MOST_STEPS};
    if (number_width(solver->module, type_resolve(solver->module, compare->operands[0]->type)) < USUAL_WIDTH)
        return false;
    add_value(solver, &sum, compare->operands[0], 1);
    add_value(solver, &sum, compare->operands[1], -1);
    for (uint32_t i = 0; i < sum.count; i++) {
        const Op *op = sum.terms[i].times ? value_op(sum.terms[i].value) : NULL;
        if (op && !op_is_loop(op) && (op_evaluator(op) != EVALUATE_SELECT || !is_plain(solver, op->operands[0], depth)))
            return false;
    }
    return !sum.full;
}

static bool is_plain(Solver *solver, const Value *value, unsigned depth) {
    const Op *op = value_op(value);
    switch (depth ? op_evaluator(op) : EVALUATE_NONE) {
    case EVALUATE_COMPARE:
        return counts_plainly(solver, op, depth - 1);
    case EVALUATE_AND:
    case EVALUATE_OR:
    case EVALUATE_XOR:
        return is_plain(solver, op->operands[0], depth - 1) && is_plain(solver, op->operands[1], depth - 1);
    default:
        return false;
    }
}

bool solver_counts_up(Solver *solver, const Value *value) {
    enum { DEEPEST = 8 };
    return solver_turned(solver, value) && is_plain(solver, value, DEEPEST);
}

bool solver_same_trips(Solver *solver, const Op *loop) {
    Bounds bounds;
    return loop_bounds(loop, &bounds) && solver_closed(solver, bounds.step) &&
           same_difference(solver, bounds.from, bounds.to);
}

static bool least_of(const Program *program, const Value *value, unsigned depth, int64_t *least);

/* Of what is computed from others that have such a number. A launch whose 32-bit numbers wrap is one that no caller
 * makes; narrow ones wrap in any. */
static bool least_of_result(const Program *program, const Op *op, unsigned depth, int64_t *least) {
    int64_t a, b;
    if (!op || op->operand_count != 2 ||
        number_width(program->module, type_resolve(program->module, op->results[0].type)) < USUAL_WIDTH ||
        !least_of(program, op->operands[0], depth, &a))
        return false;
    switch (op_evaluator(op)) {
    case EVALUATE_ADD:
        return least_of(program, op->operands[1], depth, &b) && !__builtin_add_overflow(a, b, least);
    case EVALUATE_MULTIPLY:
        return a >= 0 && least_of(program, op->operands[1], depth, &b) && b >= 0 &&
               !__builtin_mul_overflow(a, b, least);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_REMAINDER_SIGNED: /* of a negative divisor, too, if that is not zero */
        *least = 0;
        return a >= 0 && (op_evaluator(op) == EVALUATE_REMAINDER_SIGNED ||
                          (least_of(program, op->operands[1], depth, &b) && b >= 0));
    default:
        return false;
    }
}

/* A number that it is never less than. */
static bool least_of(const Program *program, const Value *value, unsigned depth, int64_t *least) {
    enum { DEEPEST = 16 };
    Bounds bounds;
    int64_t step;
    uint32_t axis;
    value = value_behind(value);
    switch (program_asks(program, value_op(value), &axis)) {
    case EVALUATE_PROGRAM_ID:
        *least = 0;
        return true;
    case EVALUATE_PROGRAM_COUNT:
        *least = 1;
        return true;
    default:
        if (value_constant(value, least))
            return true;
        if (depth == DEEPEST)
            return false;
        if (loop_bounds(counted_by(value), &bounds))
            return value_constant(bounds.step, &step) && step > 0 && least_of(program, bounds.from, depth + 1, least);
        return least_of_result(program, value_op(value), depth + 1, least);
    }
}

/* Whether the comparison with a constant comes out the same for all that the first operand can be. */
static bool compares_alike(Solver *solver, const Op *op) {
    int64_t least, with;
    if (!least_of(solver->program, op->operands[0], 0, &least) || !value_constant(op->operands[1], &with))
        return false;
    switch ((Comparison)evaluation_of(solver->module, op, 0).a) {
    case COMPARE_SGE:
    case COMPARE_SLT:
        return least >= with;
    case COMPARE_SGT:
    case COMPARE_SLE:
    case COMPARE_EQ:
    case COMPARE_NE:
        return least > with;
    default:
        return false;
    }
}

/* Whether what a loop counts is compared with where the loop ends: it is less, as long as it runs. */
static bool compares_bound(Solver *solver, const Op *op) {
    Bounds bounds;
    int64_t step;
    if (!loop_bounds(counted_by(value_behind(op->operands[0])), &bounds) || !value_constant(bounds.step, &step) ||
        step <= 0 || value_behind(bounds.to) != value_behind(op->operands[1]))
        return false;
    return evaluation_of(solver->module, op, 0).a < COMPARE_ULT; /* not as unsigned numbers */
}

/* Whether an argument of a function is, by every call; false if it is none, or follows from itself by recursion. */
static bool is_passed_closed(Solver *solver, const Value *value) {
    const Op *function = value_op(value) ? NULL : value_holder(value);
    uint32_t known = pointers_get(&solver->closed, value);
    if (known != NO_NUMBER || !op_is_control(function, CONTROL_FUNCTION) || !solver_passed(solver, value))
        return known == 1;
    bool closed = true;
    pointers_set(&solver->closed, value, 0);
    for (uint32_t i = 0; i < solver->call_count && closed; i++)
        if (call_target(solver->module, solver->calls[i]) == function)
            closed = value->index < solver->calls[i]->operand_count &&
                     solver_closed(solver, solver->calls[i]->operands[value->index]);
    pointers_set(&solver->closed, value, closed);
    return closed;
}

bool solver_closed(Solver *solver, const Value *value) {
    const Op *op = value_op(value);
    const Value *other = op ? NULL : value_always(value); /* in a partition, what it captures */
    if (!is_open_value(solver, value))
        return true;
    if (other && other != value)
        return solver_closed(solver, other);
    if (!op)
        return is_passed_closed(solver, value);
    switch (op_evaluator(op)) {
    case EVALUATE_COMPARE:
        return same_difference(solver, op->operands[0], op->operands[1]) || compares_alike(solver, op) ||
               compares_bound(solver, op);
    case EVALUATE_AND:
    case EVALUATE_OR:
    case EVALUATE_XOR:
        return solver_closed(solver, op->operands[0]) && solver_closed(solver, op->operands[1]);
    default:
        return false;
    }
}
