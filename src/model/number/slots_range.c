/* Between which bounds a scalar is, all the time: from its type, its op, the conditions of selects, and for what loops
 * carry by induction: a guess that holds at first and that an iteration keeps. */
#include "model/number/known.h"
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

static Range find(Ranger *r, const Value *value);

/* Sums do not overflow here (slots_internal.h): wide enough that none does, or is cut off at the ends of 64 bits. */
enum { UNBOUNDED = 96 };

static const Range everything = {INT64_MIN, INT64_MAX};
static const Range nothing = {1, 0};

static bool is_empty(Range range) {
    return range.low > range.high;
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

static Range evaluated(Evaluator code, unsigned to, unsigned from, Range a, Range b) {
    if (is_empty(a) || is_empty(b))
        return nothing;
    IntDomain x = known_between(a.low, a.high), y = known_between(b.low, b.high);
    IntDomain known = known_evaluated(code, to, from, 0, &x, &y);
    return (Range){known.least, known.most};
}

static Range plus(Range a, Range b) {
    return evaluated(EVALUATE_ADD, UNBOUNDED, UNBOUNDED, a, b);
}

static Range of_width(unsigned width) {
    IntDomain known = known_nothing();
    known = known_bounded(&known, width && width <= 64 ? width : 64);
    return (Range){known.least, known.most};
}

/* ---- Conditions ----------------------------------------------------------------------------------------------------
 */

Range difference_if(const Relation *relation, bool holds, Range left, Range right) {
    Comparison comparison = holds ? relation->comparison : comparison_negated(relation->comparison);
    Range range = evaluated(EVALUATE_SUBTRACT, UNBOUNDED, UNBOUNDED, left, right);
    if (comparison >= COMPARE_ULT) {
        if (right.low < 0 || (left.low < 0 && comparison >= COMPARE_UGT)) /* a negative number is a large one */
            return range;
        if (left.low < 0) /* and what is below one that is not negative is itself not negative */
            range = evaluated(EVALUATE_SUBTRACT, UNBOUNDED, UNBOUNDED, (Range){0, left.high}, right);
        comparison = comparison - COMPARE_ULT + COMPARE_SLT;
    }
    IntDomain known = known_between(range.low, range.high), zero = known_exact(0);
    IntDomain tribool = known_compared(comparison, &known, &zero);
    if (is_empty(range) || (tribool.exact && !tribool.least))
        return nothing;
    known = known_where(&known, comparison, &zero);
    return (Range){known.least, known.most};
}

/* What one of two is when it is the one: the condition then bounds what it compares. */
static Range chosen(Ranger *r, const Choice *choice, bool yes) {
    const Value *value = yes ? choice->yes : choice->no;
    Range range = find(r, value);
    Relation relation;
    if (!relation_of(choice->condition, &relation) || width_of(r->slots, relation.left) < 2)
        return range;
    Range left = find(r, relation.left), right = find(r, relation.right);
    Range difference = difference_if(&relation, yes, left, right);
    if (is_empty(difference))
        return nothing;
    int64_t add, compared_add;
    if (split_sum(value, NULL, &add) != split_sum(relation.left, NULL, &compared_add) ||
        __builtin_sub_overflow(add, compared_add, &add))
        return range;
    return both(range, plus(plus(difference, right), (Range){add, add}));
}

/* ---- Ops -----------------------------------------------------------------------------------------------------------
 */

static Range of_cast(Ranger *r, const Value *value, const Value *x) {
    unsigned from = width_of(r->slots, x), to = width_of(r->slots, value);
    Range range = find(r, x);
    if (!from || !to || is_empty(range))
        return everything;
    if (to < from && to >= 32 && range.low >= 0) /* assumed to fit */
        return range;
    return evaluated(op_evaluator(value->owner), to, from, range, (Range){0, 0});
}

static Range of_result(Ranger *r, const Value *value) {
    const Op *op = value->owner;
    Choice choice;
    int64_t number;
    if (!op->row || op->form == FORM_OPAQUE)
        return everything;
    if (value_constant(value, &number))
        return (Range){number, number};
    if (choice_of(value, &choice))
        return either(chosen(r, &choice, true), chosen(r, &choice, false));
    const Value *before = cast_of(value);
    if (before)
        return of_cast(r, value, before);
    if ((before = value_forwarded(value, FORWARDED_OUT)))
        return find(r, before);
    if (op_evaluator(op) == EVALUATE_PROGRAM_ID || op_evaluator(op) == EVALUATE_PROGRAM_COUNT)
        return (Range){op_evaluator(op) == EVALUATE_PROGRAM_COUNT, INT32_MAX};
    if (op->operand_count != 2 || op->result_count != 1 || width_of(r->slots, value) < 2)
        return everything;
    return evaluated(op_evaluator(op), UNBOUNDED, UNBOUNDED, find(r, op->operands[0]), find(r, op->operands[1]));
}

/* ---- What loops carry ----------------------------------------------------------------------------------------------
 */

static Range of_induction(Ranger *r, const Op *loop) {
    Bounds bounds;
    if (!loop_bounds(loop, &bounds) || op_attr(loop, "unsignedCmp"))
        return everything;
    Range from = find(r, bounds.from), to = find(r, bounds.to);
    if (find(r, bounds.step).low <= 0 || is_empty(from) || is_empty(to))
        return everything;
    return (Range){from.low, to.high - (to.high > INT64_MIN)};
}

static Range of_all(Ranger *r, const Value *const *values, unsigned count) {
    Range range = nothing;
    for (unsigned i = 0; i < count; i++)
        range = either(range, find(r, values[i]));
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
    const Op *loop = counted_by(value);
    const Value *values[MOST_WAYS];
    Circulating carried;
    if (loop)
        return of_induction(r, loop);
    if (circulating_of(r->slots, value, &carried))
        return of_carried(r, value, &carried);
    unsigned count = merged_of(r->slots, value, values);
    return count ? of_all(r, values, count) : everything;
}

static Range find(Ranger *r, const Value *value) {
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
    Range range = before ? find(r, before) : value->is_result ? of_result(r, value) : of_argument(r, value);
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
    return find(&r, value);
}
