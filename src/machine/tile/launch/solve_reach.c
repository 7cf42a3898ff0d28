/* Ops turned around: what their operands must be for the result to be in a range, down to what a launch gives. */
#include "machine/tile/launch/solve_internal.h"

/* Programs of a grid that is chosen; a number that is larger occurs in no grid. */
static const int64_t most_programs = (int64_t)1 << 20, largest_number = (int64_t)1 << 30;

/* ---- Ranges --------------------------------------------------------------------------------------- */

typedef struct SolveReachSpan {
    int64_t least, most;
} SolveReachSpan;

static int64_t clamped(__int128 number) {
    return number > INT64_MAX ? INT64_MAX : number < INT64_MIN ? INT64_MIN : (int64_t)number;
}

/* No bound stays none. */
static int64_t moved(int64_t bound, __int128 by) {
    return bound == INT64_MAX || bound == INT64_MIN ? bound : clamped(bound + by);
}

static int64_t times(int64_t bound, int64_t by, int64_t more) {
    return bound == INT64_MAX || bound == INT64_MIN ? bound : clamped((__int128)bound * by + more);
}

static int64_t divided_down(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t divided_up(int64_t a, int64_t b) {
    return -divided_down(-a, b);
}

static int64_t multiple_from(int64_t number, int64_t of) {
    int64_t up = divided_up(number, of);
    return times(up, of, 0);
}

/* ---- Leaves --------------------------------------------------------------------------------------- */

/* The number of a range that a parameter gets; false if none is possible. */
static bool pick(const Solver *solver, int64_t divisor, SolveReachSpan span, int64_t now, int64_t *number) {
    if (solver->uneven) {
        *number = multiple_from(span.least, divisor);
        return *number <= span.most;
    }
    for (int64_t round = solver->unit > divisor ? solver->unit : divisor;; round /= 2) {
        if (round < divisor || round % divisor)
            round = divisor;
        *number = now > span.most ? divided_down(span.most, round) * round : multiple_from(span.least, round);
        if (*number >= span.least && *number <= span.most)
            return true;
        if (round == divisor)
            return false;
    }
}

static bool reach_parameter(Solver *solver, const Value *value, uint32_t index, SolveReachSpan span) {
    const Parameter *parameter = &solver->program->parameters[index];
    const Type *type = type_resolve(solver->module, value->type);
    unsigned width = number_width(solver->module, type);
    int64_t least = width == 1 ? 0 : -largest_number, most = width == 1 ? 1 : largest_number, number;
    if (solver->fixed[index] || (index < 64 && solver->held >> index & 1) || !width || type_is(type, STR("tt.ptr")))
        return false;
    if (width > 1 && width < 31) {
        most = (INT64_C(1) << (width - 1)) - 1;
        least = -most - 1;
    }
    span = (SolveReachSpan){span.least > least ? span.least : least, span.most < most ? span.most : most};
    if (span.least < 1 && span.most >= 1) /* sizes and counts are that, if they can be */
        span.least = 1;
    else if (span.least < 0 && span.most >= 0)
        span.least = 0;
    if (span.least > span.most || !pick(solver, parameter->divisibility, span, solver->now.numbers[index], &number))
        return false;
    solver->now.numbers[index] = number;
    solver_changed(solver);
    return true;
}

static bool reach_program(Solver *solver, uint32_t axis, SolveReachSpan span, bool count) {
    if (solver->same_program && !count)
        return false;
    int64_t least = count, number = span.least > least ? span.least : least;
    if (count && solver->now.grid[axis] > span.most && span.most >= 1)
        number = span.most; /* as many as may be */
    if (number > span.most || number >= most_programs)
        return false;
    bool more = !count && number >= solver->now.grid[axis];
    if (solver->grid_fixed && (count || more))
        return false;
    if (count || more)
        solver->now.grid[axis] = count ? number : number + 1;
    if (!count)
        solver->now.program[axis] = number;
    if (solver->now.program[axis] >= solver->now.grid[axis])
        solver->now.program[axis] = solver->now.grid[axis] - 1;
    solver_changed(solver);
    return true;
}

static bool reach_rank(Solver *solver, SolveReachSpan span) {
    int64_t number = span.least > 0 ? span.least : 0;
    if (number > span.most || number >= solver->program->ctas)
        return false;
    solver->now.rank = number;
    solver_changed(solver);
    return true;
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

bool reach_trips(Solver *solver, const Op *loop, int64_t least, int64_t most) {
    Bounds bounds;
    int64_t from, to, step, trips;
    if (!loop_bounds(loop, &bounds) || !solver_value(solver, bounds.from, &from) ||
        !solver_value(solver, bounds.to, &to) || !solver_value(solver, bounds.step, &step) || step <= 0)
        return false;
    if (solver_trips(solver, loop, &trips) && trips >= least && trips <= most)
        return true;
    Setting before = solver->now;
    int64_t first = least > 0 ? times(least - 1, step, 1) : INT64_MIN, last = times(most, step, 0);
    if (reach(solver, bounds.to, moved(first, from), moved(last, from)) && solver_trips(solver, loop, &trips) &&
        trips >= least && trips <= most)
        return true;
    solver->now = before;
    solver_changed(solver);
    int64_t down = last == INT64_MAX ? INT64_MIN : clamped((__int128)to - last);
    int64_t up = first == INT64_MIN ? INT64_MAX : clamped((__int128)to - first);
    if (reach(solver, bounds.from, down, up))
        return true;
    solver->now = before;
    solver_changed(solver);
    return false;
}

/* The turn in which something that starts at `first` and grows by `by` is in the range. */
static bool reach_turn(Solver *solver, const Op *loop, int64_t first, int64_t by, SolveReachSpan span) {
    int64_t *turn = solver_turn(solver, loop);
    if (!turn || !by || loop == solver->pinned)
        return false;
    int64_t wanted = by > 0 ? (span.least <= first ? 0 : divided_up(clamped((__int128)span.least - first), by))
                            : (span.most >= first ? 0 : divided_up(clamped((__int128)first - span.most), -by));
    __int128 there = first + (__int128)wanted * by;
    if (there < span.least || there > span.most || wanted > largest_number)
        return false;
    Bounds bounds;
    if (loop_bounds(loop, &bounds) && !reach_trips(solver, loop, wanted + 1, INT64_MAX))
        return false;
    *turn = wanted;
    solver_changed(solver);
    return true;
}

static bool reach_counter(Solver *solver, const Op *loop, SolveReachSpan span) {
    Bounds bounds;
    int64_t from, step;
    if (!loop_bounds(loop, &bounds) || !solver_value(solver, bounds.from, &from) ||
        !solver_value(solver, bounds.step, &step))
        return false;
    return reach_turn(solver, loop, from, step, span) || reach(solver, bounds.from, span.least, span.most);
}

static bool reach_carried(Solver *solver, const Carried *carried, SolveReachSpan span) {
    int64_t first, by;
    const int64_t *turn = solver_turn(solver, carried->loop);
    if (!turn || !solver_value(solver, carried->first, &first) || !solver_counts(solver, carried, &by)) {
        if (!solver_step_back(solver, carried->loop))
            return reach(solver, carried->first, span.least, span.most);
        bool reached = reach(solver, carried->next, span.least, span.most);
        solver_step_on(solver, carried->loop);
        return reached;
    }
    __int128 less = -(__int128)*turn * by;
    return reach_turn(solver, carried->loop, first, by, span) ||
           reach(solver, carried->first, moved(span.least, less), moved(span.most, less));
}

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

/* One operand is changed and the other is not: whichever can be. */
static bool reach_either(Solver *solver, const Op *op, SolveReachSpan left, SolveReachSpan right) {
    Setting before = solver->now;
    for (int i = 0; i < 2; i++) {
        int which = solver->other_first ? 1 - i : i;
        SolveReachSpan span = which ? right : left;
        if (span.least <= span.most && reach(solver, op->operands[which], span.least, span.most))
            return true;
        solver->now = before;
        solver_changed(solver);
    }
    return false;
}

static SolveReachSpan nothing(void) {
    return (SolveReachSpan){1, 0};
}

/* The x for which x * by is in the range. */
static SolveReachSpan product_of(SolveReachSpan span, int64_t by) {
    if (by <= 0)
        return nothing();
    return (SolveReachSpan){span.least == INT64_MIN ? INT64_MIN : divided_up(span.least, by),
                            span.most == INT64_MAX ? INT64_MAX : divided_down(span.most, by)};
}

/* The x for which x / by is in the range, rounded down or up; numbers are taken not to be negative. */
static SolveReachSpan quotient_of(SolveReachSpan span, int64_t by, bool up) {
    if (by <= 0)
        return nothing();
    return up ? (SolveReachSpan){moved(times(moved(span.least, -1), by, 0), 1), times(span.most, by, 0)}
              : (SolveReachSpan){times(span.least, by, 0), times(span.most, by, by - 1)};
}

static bool reach_product(Solver *solver, const Op *op, SolveReachSpan span, int64_t x, int64_t y) {
    Setting before = solver->now;
    if (span.least > 0 && (!x || !y)) { /* a factor of 0 goes first */
        if ((!x && !reach(solver, op->operands[0], 1, INT64_MAX)) ||
            (!y && !reach(solver, op->operands[1], 1, INT64_MAX)) || !solver_value(solver, op->operands[0], &x) ||
            !solver_value(solver, op->operands[1], &y)) {
            solver->now = before;
            solver_changed(solver);
            return false;
        }
        if (clamped((__int128)x * y) >= span.least && clamped((__int128)x * y) <= span.most)
            return true;
    }
    return reach_either(solver, op, product_of(span, y), product_of(span, x));
}

static bool reach_remainder(Solver *solver, const Op *op, SolveReachSpan span, int64_t x, int64_t y) {
    if (y <= 0 || x < 0 || span.least >= y || span.most < 0)
        return false;
    int64_t base = x - x % y, least = span.least > 0 ? span.least : 0, most = span.most < y ? span.most : y - 1;
    int64_t first = base + most ? 0 : y; /* no size is 0, if it can be another */
    return reach(solver, op->operands[0], base + first + least, base + first + most) ||
           reach(solver, op->operands[0], base + y - first + least, base + y - first + most);
}

/* One bit, which is to be set or not. */
static bool reach_bit(Solver *solver, const Op *op, SolveReachSpan span, int64_t x, int64_t bit) {
    bool set = span.least <= bit && span.most >= bit;
    if (bit & (bit - 1) || x < 0 || bit > largest_number || (!set && (span.least > 0 || span.most < 0)))
        return false;
    int64_t base = x - x % (2 * bit) + (set ? bit : 0);
    return reach(solver, op->operands[0], base, base + bit - 1) ||
           reach(solver, op->operands[0], base + 2 * bit, base + 3 * bit - 1);
}

/* The smaller (or greater) of two: both, or one of them, must be in the range. */
static bool reach_extreme(Solver *solver, const Op *op, SolveReachSpan span, bool smaller) {
    SolveReachSpan both = smaller ? (SolveReachSpan){span.least, INT64_MAX} : (SolveReachSpan){INT64_MIN, span.most};
    Setting before = solver->now;
    for (int i = 0; i < 2; i++) {
        if (reach(solver, op->operands[1 - i], both.least, both.most) &&
            reach(solver, op->operands[i], span.least, span.most))
            return true;
        solver->now = before;
        solver_changed(solver);
    }
    return false;
}

/* ---- Conditions ----------------------------------------------------------------------------------- */

static bool reach_comparison(Solver *solver, const Op *op, bool wanted, int64_t x, int64_t y) {
    Comparison comparison = (Comparison)evaluation_of(solver->module, op, 0).a;
    SolveReachSpan none = nothing();
    switch (wanted ? comparison : comparison_negated(comparison)) {
    case COMPARE_EQ:
        return reach_either(solver, op, (SolveReachSpan){y, y}, (SolveReachSpan){x, x});
    case COMPARE_NE:
        return reach_either(solver, op, (SolveReachSpan){moved(y, 1), INT64_MAX},
                            (SolveReachSpan){moved(x, 1), INT64_MAX}) ||
               reach_either(solver, op, (SolveReachSpan){INT64_MIN, moved(y, -1)},
                            (SolveReachSpan){INT64_MIN, moved(x, -1)});
    case COMPARE_SLT:
    case COMPARE_ULT:
        return reach_either(solver, op, none, (SolveReachSpan){moved(x, 1), INT64_MAX}) ||
               reach_either(solver, op, (SolveReachSpan){INT64_MIN, moved(y, -1)}, none);
    case COMPARE_SLE:
    case COMPARE_ULE:
        return reach_either(solver, op, none, (SolveReachSpan){x, INT64_MAX}) ||
               reach_either(solver, op, (SolveReachSpan){INT64_MIN, y}, none);
    case COMPARE_SGT:
    case COMPARE_UGT:
        return reach_either(solver, op, (SolveReachSpan){moved(y, 1), INT64_MAX}, none) ||
               reach_either(solver, op, none, (SolveReachSpan){INT64_MIN, moved(x, -1)});
    case COMPARE_SGE:
    case COMPARE_UGE:
        return reach_either(solver, op, (SolveReachSpan){y, INT64_MAX}, none) ||
               reach_either(solver, op, none, (SolveReachSpan){INT64_MIN, x});
    }
    return false;
}

/* Of two conditions both, or one. */
static bool reach_bits(Solver *solver, const Op *op, bool wanted, bool both) {
    for (int i = 0; i < 2; i++) {
        Setting before = solver->now;
        int first = solver->other_first ? 1 - i : i;
        if (reach(solver, op->operands[first], wanted, wanted) &&
            (!both || reach(solver, op->operands[1 - first], wanted, wanted)))
            return true;
        solver->now = before;
        solver_changed(solver);
    }
    return false;
}

static bool reach_condition(Solver *solver, const Op *op, SolveReachSpan span, int64_t x, int64_t y) {
    bool wanted = span.least > 0;
    switch (op_evaluator(op)) {
    case EVALUATE_COMPARE:
        return reach_comparison(solver, op, wanted, x, y);
    case EVALUATE_AND:
        return reach_bits(solver, op, wanted, wanted);
    case EVALUATE_OR:
        return reach_bits(solver, op, wanted, !wanted);
    case EVALUATE_XOR:
        return reach_either(solver, op, (SolveReachSpan){wanted ^ y, wanted ^ y},
                            (SolveReachSpan){wanted ^ x, wanted ^ x});
    default:
        return false;
    }
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

static bool reach_number(Solver *solver, const Op *op, SolveReachSpan span, int64_t x, int64_t y) {
    switch (op_evaluator(op)) {
    case EVALUATE_ADD:
        return reach_either(solver, op,
                            (SolveReachSpan){moved(span.least, -(__int128)y), moved(span.most, -(__int128)y)},
                            (SolveReachSpan){moved(span.least, -(__int128)x), moved(span.most, -(__int128)x)});
    case EVALUATE_SUBTRACT: {
        SolveReachSpan right = {span.most == INT64_MAX ? INT64_MIN : clamped((__int128)x - span.most),
                                span.least == INT64_MIN ? INT64_MAX : clamped((__int128)x - span.least)};
        return reach_either(solver, op, (SolveReachSpan){moved(span.least, y), moved(span.most, y)}, right);
    }
    case EVALUATE_MULTIPLY:
        return reach_product(solver, op, span, x, y);
    case EVALUATE_SHIFT_LEFT:
        return y >= 0 && y < 31 && reach_either(solver, op, product_of(span, INT64_C(1) << y), nothing());
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
        return reach_either(solver, op, quotient_of(span, y, false), nothing());
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
        return reach_either(solver, op, quotient_of(span, y, true), nothing());
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return y >= 0 && y < 31 && reach_either(solver, op, quotient_of(span, INT64_C(1) << y, false), nothing());
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return reach_remainder(solver, op, span, x, y);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
        return reach_extreme(solver, op, span, true);
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED:
        return reach_extreme(solver, op, span, false);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_ZERO_EXTEND:
    case EVALUATE_WRAP:
    case EVALUATE_SAME:
        return reach_either(solver, op, span, nothing());
    case EVALUATE_AND: /* a remainder, if it is a mask */
        return y > 0 && (y & (y + 1) ? reach_bit(solver, op, span, x, y) : reach_remainder(solver, op, span, x, y + 1));
    case EVALUATE_XOR:
        return span.least == span.most && reach_either(solver, op, (SolveReachSpan){span.least ^ y, span.least ^ y},
                                                       (SolveReachSpan){span.least ^ x, span.least ^ x});
    default:
        return false;
    }
}

static bool reach_choice(Solver *solver, const Choice *choice, SolveReachSpan span) {
    int64_t condition;
    if (!solver_goes(solver, choice->condition, &condition))
        return false;
    Setting before = solver->now;
    for (int i = 0; i < 2; i++, condition = !condition) {
        if ((i == 0 || reach(solver, choice->condition, condition != 0, condition != 0)) &&
            reach(solver, condition ? choice->yes : choice->no, span.least, span.most))
            return true;
        solver->now = before;
        solver_changed(solver);
    }
    return false;
}

static bool reach_argument(Solver *solver, const Value *value, SolveReachSpan span) {
    uint32_t parameter;
    Carried carried;
    if (solver_parameter(solver, value, &parameter))
        return reach_parameter(solver, value, parameter, span);
    if (counted_by(value))
        return reach_counter(solver, counted_by(value), span);
    if (carried_of(value, &carried) || block_carried(value, &carried))
        return reach_carried(solver, &carried, span);
    const Value *other = solver_passed(solver, value);
    other = other ? other : value_always(value);
    other = other ? other : value_forwarded(value, FORWARDED_ACROSS);
    return other && other != value && reach(solver, other, span.least, span.most);
}

static bool reach_op(Solver *solver, const Op *op, const Value *value, SolveReachSpan span) {
    int64_t x = 0, y = 0;
    uint32_t axis;
    switch (program_asks(solver->program, op, &axis)) {
    case EVALUATE_PROGRAM_ID:
        return reach_program(solver, axis, span, false);
    case EVALUATE_PROGRAM_COUNT:
        return reach_program(solver, axis, span, true);
    case EVALUATE_CTA_RANK:
        return reach_rank(solver, span);
    default:
        break;
    }
    if (op_evaluator(op) == EVALUATE_NONE || !op->operand_count || op->operand_count > 2 ||
        !solver_value(solver, op->operands[0], &x) ||
        (op->operand_count == 2 && !solver_value(solver, op->operands[1], &y)))
        return false;
    bool condition = number_width(solver->module, type_resolve(solver->module, value->type)) == 1;
    if (condition && op_evaluator(op) != EVALUATE_SAME && op_evaluator(op) != EVALUATE_WRAP)
        return reach_condition(solver, op, span, x, y);
    return reach_number(solver, op, span, x, y);
}

bool reach(Solver *solver, const Value *value, int64_t least, int64_t most) {
    int64_t now;
    if (!value || least > most || !solver->steps || solver->depth > MOST_DEPTH)
        return false;
    solver->steps--;
    if (!solver_value(solver, value, &now))
        return false;
    if (now >= least && now <= most)
        return true;
    SolveReachSpan span = {least, most};
    const Op *op = value_op(value);
    const Value *other = op ? value_always(value) : NULL;
    Choice choice;
    solver->depth++;
    bool reached = false;
    if (!op)
        reached = reach_argument(solver, value, span);
    else if (choice_of(value, &choice))
        reached = reach_choice(solver, &choice, span);
    else if (other && other != value)
        reached = reach(solver, other, least, most);
    else
        reached = reach_op(solver, op, value, span);
    solver->depth--;
    return reached && solver_value(solver, value, &now) && now >= least && now <= most;
}
