/* Between which bounds a scalar is, all the time: from its type, its op, the conditions of selects, and for what loops
 * carry by induction: a guess that holds at first and that an iteration keeps. */
#include "model/number/slots_internal.h"

enum { MOST_DEPTH = 48, MOST_STEPS = 512 };

/* What a carried value is taken to be while it is tried out. */
typedef struct Guess {
    const Value *value;
    Range range;
    const struct Guess *outer;
} Guess;

typedef struct Ranger {
    Slots *slots;
    const Guess *guesses;
    unsigned depth, steps;
} Ranger;

static Range evaluate(Ranger *r, const Value *value);

static const Range everything = {-RANGE_MOST, RANGE_MOST};
static const Range nothing = {1, 0};

static bool is_empty(Range range) {
    return range.low > range.high;
}

static int64_t limited(int64_t number) {
    return number > RANGE_MOST ? RANGE_MOST : number < -RANGE_MOST ? -RANGE_MOST : number;
}

/* The bounds stay below 2^62, so that their sums do not overflow. */
static Range plus(Range a, Range b) {
    if (is_empty(a) || is_empty(b))
        return nothing;
    bool low = a.low == -RANGE_MOST || b.low == -RANGE_MOST, high = a.high == RANGE_MOST || b.high == RANGE_MOST;
    return (Range){low ? -RANGE_MOST : limited(a.low + b.low), high ? RANGE_MOST : limited(a.high + b.high)};
}

static Range minus(Range a, Range b) {
    return is_empty(b) ? nothing : plus(a, (Range){-b.high, -b.low});
}

static Range either(Range a, Range b) {
    if (is_empty(a) || is_empty(b))
        return is_empty(a) ? b : a;
    return (Range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

static Range both(Range a, Range b) {
    return (Range){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

static bool within(Range inner, Range outer) {
    return is_empty(inner) || (inner.low >= outer.low && inner.high <= outer.high);
}

static int64_t product(int64_t a, int64_t b) {
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result))
        return (a < 0) == (b < 0) ? RANGE_MOST : -RANGE_MOST;
    return limited(result);
}

static Range times(Range a, Range b) {
    if (is_empty(a) || is_empty(b))
        return nothing;
    int64_t corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                         product(a.high, b.high)};
    Range range = {corners[0], corners[0]};
    for (int i = 1; i < 4; i++)
        range = either(range, (Range){corners[i], corners[i]});
    return range;
}

static Range of_width(unsigned width) {
    if (width == 1)
        return (Range){0, 1};
    if (width == 0 || width > 62)
        return everything;
    return (Range){-(INT64_C(1) << (width - 1)), (INT64_C(1) << (width - 1)) - 1};
}

/* ---- Conditions ----------------------------------------------------------------------------------------------------
 */

Range difference_if(const Comparison *comparison, bool holds, Range left, Range right) {
    static const Predicate opposite[] = {IS_NE, IS_EQ, IS_SGE, IS_SGT, IS_SLE, IS_SLT, IS_UGE, IS_UGT, IS_ULE, IS_ULT};
    Predicate predicate = holds ? comparison->predicate : opposite[comparison->predicate];
    Range known = minus(left, right);
    if (predicate >= IS_ULT) {
        if (right.low < 0 || (left.low < 0 && predicate >= IS_UGT)) /* a negative number is a large one */
            return known;
        if (left.low < 0) /* and what is below one that is not negative is itself not negative */
            known = minus((Range){0, left.high}, right);
        predicate = predicate - IS_ULT + IS_SLT;
    }
    switch (predicate) {
    case IS_EQ:
        return both(known, (Range){0, 0});
    case IS_SLT:
        return both(known, (Range){-RANGE_MOST, -1});
    case IS_SLE:
        return both(known, (Range){-RANGE_MOST, 0});
    case IS_SGT:
        return both(known, (Range){1, RANGE_MOST});
    case IS_SGE:
        return both(known, (Range){0, RANGE_MOST});
    default:
        return known;
    }
}

/* What one of two is when it is the one: the condition then bounds what it compares. */
static Range chosen(Ranger *r, const Choice *choice, bool yes) {
    const Value *value = yes ? choice->yes : choice->no;
    Range range = evaluate(r, value);
    Comparison comparison;
    if (!comparison_of(choice->condition, &comparison) || width_of(r->slots, comparison.left) < 2)
        return range;
    Range left = evaluate(r, comparison.left), right = evaluate(r, comparison.right);
    Range difference = difference_if(&comparison, yes, left, right);
    if (is_empty(difference))
        return nothing;
    int64_t add, compared_add;
    if (split_sum(value, &add) != split_sum(comparison.left, &compared_add) ||
        __builtin_sub_overflow(add, compared_add, &add) || limited(add) != add)
        return range;
    return both(range, plus(plus(difference, right), (Range){add, add}));
}

/* ---- Ops -----------------------------------------------------------------------------------------------------------
 */

static Range remainder_of(Range x, Range by, bool is_signed) {
    if (by.low <= 0 || is_empty(x))
        return everything;
    if (x.low >= 0)
        return (Range){0, x.high < by.high ? x.high : by.high - 1};
    return is_signed ? (Range){1 - by.high, by.high - 1} : (Range){0, by.high - 1};
}

static Range quotient_of(Range x, Range by, bool is_signed) {
    if (by.low <= 0 || is_empty(x) || (!is_signed && x.low < 0))
        return everything;
    int64_t low = x.low == -RANGE_MOST ? x.low : x.low / (x.low < 0 ? by.low : by.high);
    int64_t high = x.high == RANGE_MOST ? x.high : x.high / (x.high < 0 ? by.high : by.low);
    return (Range){low, high};
}

static Range bits_of(OpId id, Range a, Range b) {
    bool small = within(a, (Range){0, 1}) && within(b, (Range){0, 1});
    if (id == OP_arith_andi && (a.low >= 0 || b.low >= 0)) {
        int64_t high = a.low < 0 ? b.high : b.low < 0 ? a.high : a.high < b.high ? a.high : b.high;
        return (Range){0, high};
    }
    return small ? (Range){0, 1} : everything;
}

static Range of_binary(OpId id, Range a, Range b) {
    switch (id) {
    case OP_arith_addi:
        return plus(a, b);
    case OP_arith_subi:
        return minus(a, b);
    case OP_arith_muli:
        return times(a, b);
    case OP_arith_remsi:
    case OP_arith_remui:
        return remainder_of(a, b, id == OP_arith_remsi);
    case OP_arith_divsi:
    case OP_arith_divui:
        return quotient_of(a, b, id == OP_arith_divsi);
    case OP_arith_andi:
    case OP_arith_ori:
    case OP_arith_xori:
        return bits_of(id, a, b);
    case OP_arith_minsi:
        return (Range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    case OP_arith_maxsi:
        return (Range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
    default:
        return everything;
    }
}

static Range of_cast(Ranger *r, const Op *op, unsigned to) {
    unsigned from = width_of(r->slots, op->operands[0]);
    Range x = evaluate(r, op->operands[0]);
    bool is_unsigned = op->row->id == OP_arith_extui || op->row->id == OP_arith_index_castui;
    if (!from || is_empty(x))
        return everything;
    if (from == 1)
        return is_unsigned ? x : (Range){-x.high, -x.low};
    if (to >= from)
        return x.low >= 0 || !is_unsigned ? x : from < 62 ? (Range){0, (INT64_C(1) << from) - 1} : everything;
    if (to >= 32 && x.low >= 0) /* assumed to fit */
        return both(x, of_width(to));
    return within(x, of_width(to)) ? x : of_width(to);
}

static Range of_result(Ranger *r, const Value *value) {
    const Op *op = value->owner;
    Choice choice;
    int64_t number;
    if (!op->row || op->form == FORM_OPAQUE)
        return everything;
    if (number_of(value, &number))
        return limited(number) == number ? (Range){number, number} : everything;
    if (choice_of(value, &choice))
        return either(chosen(r, &choice, true), chosen(r, &choice, false));
    switch (op->row->id) {
    case OP_tt_get_program_id:
        return (Range){0, INT32_MAX};
    case OP_tt_get_num_programs:
        return (Range){1, INT32_MAX};
    case OP_arith_extui:
    case OP_arith_extsi:
    case OP_arith_trunci:
    case OP_arith_index_cast:
    case OP_arith_index_castui:
        return op->operand_count == 1 ? of_cast(r, op, width_of(r->slots, value)) : everything;
    case OP_scf_for:
    case OP_scf_while: {
        const Value *last = last_of(value);
        return last ? evaluate(r, last) : everything;
    }
    default:
        if (op->operand_count != 2 || op->result_count != 1 || width_of(r->slots, value) < 2)
            return everything;
        return of_binary(op->row->id, evaluate(r, op->operands[0]), evaluate(r, op->operands[1]));
    }
}

/* ---- What loops carry ----------------------------------------------------------------------------------------------
 */

static Range of_induction(Ranger *r, const Op *loop) {
    if (loop->operand_count < 3 || op_attr(loop, "unsignedCmp"))
        return everything;
    Range from = evaluate(r, loop->operands[0]), to = evaluate(r, loop->operands[1]);
    if (evaluate(r, loop->operands[2]).low <= 0 || is_empty(from) || is_empty(to))
        return everything;
    return (Range){from.low, to.high == RANGE_MOST ? RANGE_MOST : to.high - 1};
}

static Range of_all(Ranger *r, const Value *const *values, unsigned count) {
    Range range = nothing;
    for (unsigned i = 0; i < count; i++)
        range = either(range, evaluate(r, values[i]));
    return range;
}

static Range next_if(Ranger *r, const Value *value, const Circulating *carried, Range range) {
    Guess guess = {value, range, r->guesses};
    r->guesses = &guess;
    Range next = of_all(r, carried->next, carried->next_count);
    r->guesses = guess.outer;
    return next;
}

/* First that it stays what it is at first, then without the bounds that an iteration moves. A guess that an iteration
 * keeps holds; what an iteration makes of it holds too, and may say more. */
static Range of_carried(Ranger *r, const Value *value, const Circulating *carried) {
    Range first = of_all(r, carried->first, carried->first_count), top = of_width(width_of(r->slots, value));
    Range guess = both(first, top), next = next_if(r, value, carried, guess);
    if (!within(next, guess)) {
        guess = (Range){next.low < guess.low ? top.low : guess.low, next.high > guess.high ? top.high : guess.high};
        next = next_if(r, value, carried, guess);
    }
    if (!within(next, guess))
        next = next_if(r, value, carried, guess = top);
    return both(guess, either(first, next));
}

static Range of_argument(Ranger *r, const Value *value) {
    const Block *block = value->owner;
    const Op *op = block->region->op;
    const Value *values[MOST_WAYS];
    Circulating carried;
    if (op && op->row && op->row->id == OP_scf_for && value->index == 0 && block == op->regions[0].first)
        return of_induction(r, op);
    if (circulating_of(r->slots, value, &carried))
        return of_carried(r, value, &carried);
    unsigned count = merged_of(r->slots, value, values);
    return count ? of_all(r, values, count) : everything;
}

static Range evaluate(Ranger *r, const Value *value) {
    for (const Guess *guess = r->guesses; guess; guess = guess->outer)
        if (guess->value == value)
            return guess->range;
    const Range *known = slots_get(r->slots, KEY_RANGE, value, NULL);
    if (known)
        return *known;
    Range top = of_width(width_of(r->slots, value));
    if (r->depth == MOST_DEPTH || ++r->steps > MOST_STEPS)
        return top;
    r->depth++;
    const Value *before = copied_from(r->slots, value);
    Range range = before ? evaluate(r, before) : value->is_result ? of_result(r, value) : of_argument(r, value);
    r->depth--;
    range = both(range, top);
    if (is_empty(range)) /* it is never computed, or overflows */
        range = top;
    if (r->guesses)
        return range;
    Range *kept = ARENA_NEW(&r->slots->module->arena, Range);
    *kept = range;
    slots_put(r->slots, KEY_RANGE, value, NULL, kept);
    return range;
}

Range range_of(Slots *slots, const Value *value) {
    Ranger r = {.slots = slots};
    return evaluate(&r, value);
}
