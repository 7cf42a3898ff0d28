/* Finds the expression that a few dozen ops compute, and writes it.
 *
 * Three things that loops carry are known: counters (x + k each iteration), rings (x + 1 that wraps around to 0, once
 * or several times an iteration) and phases (a bit that flips when a ring wraps around, or each time). A count that an
 * inner loop carries on for its outer loop is one counter, that of the inner loop. */
#include "model/number/expression.h"

#include "model/flow/forwarded.h"
#include "model/number/parts.h"

enum { MOST_DEPTH = 12, MOST_CHARACTERS = 200, MOST_STEPS = 64, MOST_LOOPS = 16, MOST_CHAIN = 16 };

/* How tightly a written expression holds together; a lower one is put into parentheses. */
typedef enum Level { LEVEL_ANY, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_ATOM } Level;

typedef struct ExpressionPrinter {
    Module *module;
    Text out;
    unsigned depth;
} ExpressionPrinter;

/* ---- Values ---------------------------------------------------------------------------------------------------- */

static bool is_bit(const Value *value) {
    return value->type && value->type->kind == TYPE_INTEGER && value->type->width == 1;
}

/* The same number under an earlier name; NULL if it has none. */
static const Value *before(const Value *value) {
    const Value *from = cast_of(value);
    Carried carried;
    Choice choice;
    if (from) /* a bit that is extended by its sign becomes 0 or -1, and one of many is not all of them */
        return is_bit(from) != is_bit(value) && !value_made(value, EVALUATE_ZERO_EXTEND) ? NULL : from;
    if (carried_of(value, &carried))
        return carried.next == carried.argument ? carried.first : NULL;
    if (choice_of(value, &choice))
        return choice.yes == choice.no ? choice.yes : NULL;
    return value->is_result ? value_forwarded(value, FORWARDED_OUT) : value_always(value);
}

/* The same number under the name that it was given first: through casts, captures, and loops that hand it on. */
static const Value *through(const Value *value) {
    for (int step = 0; step < MOST_STEPS; step++) {
        const Value *same = before(value);
        if (!same)
            break;
        value = same;
    }
    return value;
}

static bool number_of(const Value *value, int64_t *number) {
    return value && value_constant(through(value), number);
}

static bool is_number(const Value *value, int64_t wanted) {
    int64_t number;
    return number_of(value, &number) && number == wanted;
}

/* What is divided by *depth. */
static const Value *divided(const Op *op, int64_t *depth) {
    return op && number_of(op->operands[1], depth) && *depth > 0 ? through(op->operands[0]) : NULL;
}

/* value = x % depth, also where it is written x - (x / depth) * depth. */
static const Value *modulo_of(const Value *value, int64_t *depth) {
    const Op *op = remainder_made(value);
    if (op)
        return divided(op, depth);
    op = made_of_two(value, EVALUATE_SUBTRACT);
    const Op *product = op ? made_of_two(through(op->operands[1]), EVALUATE_MULTIPLY) : NULL;
    for (unsigned i = 0; product && i < 2; i++) {
        int64_t factor;
        const Value *x = divided(quotient_made(through(product->operands[i])), depth);
        if (x && x == through(op->operands[0]) && number_of(product->operands[1 - i], &factor) && factor == *depth)
            return x;
    }
    return NULL;
}

/* Whether a condition is "x is the last slot of `depth`", or, if *negated, that it is not. */
static const Value *last_slot_of(const Value *condition, int64_t *depth, bool *negated) {
    Relation relation;
    int64_t bound, add;
    if (!relation_of(through(condition), &relation) || !number_of(relation.right, &bound) || bound < 0 ||
        bound > INT32_MAX)
        return NULL;
    static const struct {
        bool negated, above;
    } kinds[] = {[COMPARE_NE] = {true, false},  [COMPARE_SLT] = {true, false}, [COMPARE_SLE] = {true, true},
                 [COMPARE_SGT] = {false, true}, [COMPARE_ULT] = {true, false}, [COMPARE_ULE] = {true, true},
                 [COMPARE_UGT] = {false, true}, [COMPARE_UGE] = {false, false}};
    const Value *x = split_sum(relation.left, through, &add);
    if (add < INT32_MIN || add > INT32_MAX)
        return NULL;
    *negated = kinds[relation.comparison].negated;
    *depth = bound + kinds[relation.comparison].above - add + 1;
    return *depth > 0 ? x : NULL;
}

/* value = (x + *by) % depth, where x is below depth: x + 1, or 0 where that would be `depth`. */
static const Value *wrapped(const Value *value, int64_t *depth, int64_t *by) {
    const Value *x = modulo_of(value, depth);
    if (x) {
        x = split_sum(x, through, by);
        return *by > 0 && *by <= INT32_MAX ? x : NULL;
    }
    Choice choice;
    bool negated;
    if (!choice_of(value, &choice))
        return NULL;
    x = last_slot_of(choice.condition, depth, &negated);
    if (!x)
        return NULL;
    const Value *zero = negated ? choice.no : choice.yes, *next = negated ? choice.yes : choice.no;
    return is_number(zero, 0) && split_sum(next, through, by) == x && *by == 1 ? x : NULL;
}

/* value = NOT bit; NULL if it is not that. */
static const Value *inverted(const Value *value) {
    const Op *op = made_of_two(value, EVALUATE_XOR);
    for (unsigned i = 0; op && i < 2; i++)
        if (is_number(op->operands[1 - i], 1))
            return through(op->operands[i]);
    return NULL;
}

/* value = bit, flipped if *condition holds (or, if *negated, does not); *condition is NULL where it always flips. */
static const Value *flipped(const Value *value, const Value **condition, bool *negated) {
    const Value *bit = inverted(value);
    Choice choice;
    *condition = NULL;
    *negated = false;
    if (bit)
        return bit;
    if (choice_of(value, &choice)) {
        *condition = choice.condition;
        const Value *yes = through(choice.yes), *no = through(choice.no);
        if (inverted(yes) == no)
            return no;
        *negated = true;
        return inverted(no) == yes ? yes : NULL;
    }
    const Op *op = made_of_two(value, EVALUATE_XOR);
    for (unsigned i = 0; op && i < 2; i++)
        if (made_of_two(through(op->operands[i]), EVALUATE_COMPARE)) {
            *condition = op->operands[i];
            return through(op->operands[1 - i]);
        }
    return NULL;
}

/* ---- What loops carry ------------------------------------------------------------------------------------------ */

/* A value that a loop carries, inside the loop or after it, seen through. */
static bool carried_through(const Value *value, Carried *carried) {
    if (!carried_of(value, carried))
        return false;
    carried->first = through(carried->first);
    carried->next = through(carried->next);
    return true;
}

/* Of loops that carry one value on for each other: the innermost, which changes it, and what it is at first. */
static bool core_of(const Value *value, Carried *core, int64_t *start) {
    Carried inner, outer;
    if (!carried_through(value, core))
        return false;
    for (int i = 0; i < MOST_LOOPS && carried_through(core->next, &inner) && inner.first == core->argument; i++)
        *core = inner;
    Carried at = *core;
    for (int i = 0; i < MOST_LOOPS && carried_through(at.first, &outer) && at.first == outer.argument; i++) {
        if (!carried_through(outer.next, &inner) || inner.argument != at.argument)
            return false;
        at = outer;
    }
    return number_of(at.first, start);
}

static bool counter_of(const Value *value, Carried *core, int64_t *start, int64_t *step) {
    return core_of(value, core, start) && split_sum(core->next, through, step) == core->argument;
}

/* A slot: (start + step * iterations) % depth. */
typedef struct ExpressionRing {
    const Op *loop;
    int64_t start, step, depth;
} ExpressionRing;

/* What wraps around to become `value`, *later slots later; `value` itself if it is no such thing. */
static const Value *unwrapped(const Value *value, int64_t *depth, int64_t *later) {
    int64_t by, this_depth;
    const Value *x;
    *depth = *later = 0;
    for (int i = 0; i < MOST_CHAIN && (x = wrapped(value, &this_depth, &by)); i++) {
        if (*depth && this_depth != *depth)
            break;
        *depth = this_depth;
        *later += by;
        value = x;
    }
    return value;
}

static bool ring_of(const Value *value, ExpressionRing *ring) {
    Carried core;
    if (!core_of(value, &core, &ring->start) || unwrapped(core.next, &ring->depth, &ring->step) != core.argument)
        return false;
    ring->loop = core.loop; /* pipelined loops start at -1, before the first slot */
    return ring->step > 0 && ring->start >= -1 && ring->start < ring->depth;
}

/* A slot that a loop carries, or one that follows it within the iteration. */
static bool ring_value(const Value *value, ExpressionRing *ring, int64_t *later) {
    int64_t depth;
    const Value *x = unwrapped(value, &depth, later);
    return ring_of(x, ring) && (!*later || ring->depth == depth);
}

/* The slot that a condition looks at, if it says that this is the last one. */
static bool ring_at_end(const Value *condition, ExpressionRing *ring, int64_t *later, bool *negated) {
    int64_t depth;
    const Value *x = last_slot_of(condition, &depth, negated);
    return x && ring_value(x, ring, later) && ring->depth == depth;
}

/* A phase: start XOR ((ring.start + ring.step * iterations) / ring.depth & 1). A depth of 0: it flips for reasons that
 * were not found. */
typedef struct ExpressionPhase {
    ExpressionRing ring;
    bool start;
} ExpressionPhase;

/* What flips to become `value`, *flips times, each when the ring is at its end, at one slot after the other. A phase
 * that always flips is one of a ring of depth 1; any other has depth 0. */
static const Value *unflipped(const Value *value, ExpressionRing *ring, int64_t *flips) {
    const Value *condition, *bit;
    bool negated, at_end_negated, exact = true;
    int64_t later, last = -1;
    *ring = (ExpressionRing){.depth = 1};
    *flips = 0;
    for (int i = 0; i < MOST_CHAIN && (bit = flipped(value, &condition, &negated)); i++) {
        ExpressionRing at = {.depth = 1};
        later = 0;
        if (condition)
            exact = exact && ring_at_end(condition, &at, &later, &at_end_negated) && negated == at_end_negated;
        exact = exact && (!i || (at.loop == ring->loop && at.depth == ring->depth));
        exact = exact && (!condition || !i || later + i == last);
        last = condition ? later + i : -1;
        *ring = at;
        ++*flips;
        value = bit;
    }
    if (!exact || (*flips && last >= 0 && last != *flips - 1))
        ring->depth = 0;
    return value;
}

/* That it flips in loops within the loop, or under conditions: a phase, but not one with a formula. */
static bool flips_somehow(const Value *value, ExpressionPhase *phase) {
    Carried carried, inner;
    const Value *condition, *bit;
    bool negated, any = false;
    Choice choice;
    if (!carried_through(value, &carried))
        return false;
    const Value *at = carried.next;
    for (int i = 0; i < MOST_STEPS && at != carried.argument; i++) {
        if ((bit = flipped(at, &condition, &negated))) {
            any = true;
            at = bit;
        } else if (choice_of(at, &choice)) {
            at = through(through(choice.yes) == carried.argument ? choice.no : choice.yes);
        } else if (at->is_result && carried_through(at, &inner)) {
            any |= flipped(inner.next, &condition, &negated) != NULL;
            at = inner.first;
        } else {
            return false;
        }
    }
    *phase = (ExpressionPhase){.ring = {.loop = carried.loop}};
    return any && at == carried.argument;
}

static bool phase_of(const Value *value, ExpressionPhase *phase) {
    Carried core;
    int64_t start, flips;
    if (!core_of(value, &core, &start) || (start != 0 && start != 1) ||
        unflipped(core.next, &phase->ring, &flips) != core.argument || !flips)
        return flips_somehow(value, phase);
    ExpressionRing *ring = &phase->ring;
    if (ring->depth == 1 && !ring->loop)
        *ring = (ExpressionRing){core.loop, 0, flips, 1};
    else if (ring->loop != core.loop || ring->step != flips)
        ring->depth = 0;
    ring->loop = core.loop;
    phase->start = start == 1;
    return true;
}

/* A phase that a loop carries, or what it flips to within the iteration. */
static bool phase_value(const Value *value, ExpressionPhase *phase, int64_t *later) {
    ExpressionRing ring;
    const Value *bit = unflipped(value, &ring, later);
    if (!phase_of(bit, phase))
        return false;
    const ExpressionRing *known = &phase->ring;
    bool always = ring.depth == 1 && !ring.loop,
         exact = known->depth &&
                 (always ? known->depth == 1
                         : ring.loop == known->loop && ring.start == known->start && ring.depth == known->depth);
    if (*later && !exact)
        phase->ring.depth = 0;
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

static void print(ExpressionPrinter *p, const Value *value, Level level);

static bool open_at(ExpressionPrinter *p, Level level, Level least) {
    if (level < least)
        text_char(&p->out, '(');
    return level < least;
}

static void close_if(ExpressionPrinter *p, bool opened) {
    if (opened)
        text_char(&p->out, ')');
}

static void print_loop(ExpressionPrinter *p, const char *word, const Op *loop) {
    text_addf(&p->out, "%s(loop@%u)", word, op_line(p->module, loop));
}

static void print_sum_end(ExpressionPrinter *p, int64_t add) {
    if (add)
        text_addf(&p->out, " %c %llu", add < 0 ? '-' : '+',
                  add < 0 ? 0 - (unsigned long long)add : (unsigned long long)add);
}

/* step * iterations + start */
static void print_count(ExpressionPrinter *p, const Op *loop, int64_t start, int64_t step, Level least) {
    bool opened = open_at(p, start ? LEVEL_SUM : step == 1 ? LEVEL_ATOM : LEVEL_PRODUCT, least);
    if (step != 1)
        text_addf(&p->out, "%lld*", (long long)step);
    print_loop(p, step == 1 ? "accumCnt" : "n", loop);
    print_sum_end(p, start);
    close_if(p, opened);
}

/* The slot, `later` slots later. */
static void print_ring(ExpressionPrinter *p, const ExpressionRing *ring, int64_t later, Level least) {
    if (ring->step % ring->depth == 0) { /* it comes back to where it was */
        text_addf(&p->out, "%lld", (long long)((ring->start + later) % ring->depth));
        return;
    }
    bool opened = open_at(p, LEVEL_PRODUCT, least);
    print_count(p, ring->loop, (ring->start + later) % ring->depth, ring->step, LEVEL_ATOM);
    text_addf(&p->out, " %% %lld", (long long)ring->depth);
    close_if(p, opened);
}

static void print_phase(ExpressionPrinter *p, const ExpressionPhase *phase, int64_t later, bool invert, Level least) {
    ExpressionRing around, one = phase->ring;
    const ExpressionRing *ring = &one;
    int64_t start = ring->start + later;
    if (ring->depth && ring->step % ring->depth == 0) { /* once around in each iteration, or several times */
        around = (ExpressionRing){ring->loop, 0, ring->step / ring->depth, 1};
        start /= ring->depth;
        ring = &around;
    } else if (start < 0) {
        one.depth = 0;
    }
    bool set = ring->depth ? (phase->start != invert) != (start / ring->depth % 2 == 1) : invert;
    bool opened = open_at(p, !ring->depth && !set ? LEVEL_ATOM : LEVEL_ANY, least);
    text_addf(&p->out, "%s", set ? "NOT " : "");
    if (ring->depth) {
        text_addf(&p->out, "%s%s", set ? "(" : "", ring->depth > 1 ? "(" : "");
        print_count(p, ring->loop, start % ring->depth, ring->step, LEVEL_ATOM);
        if (ring->depth > 1)
            text_addf(&p->out, " / %lld)", (long long)ring->depth);
        text_addf(&p->out, " & 1%s", set ? ")" : "");
    } else {
        print_loop(p, "phase", ring->loop);
    }
    close_if(p, opened);
}

/* What loops carry, and what follows from it within an iteration. */
static bool print_carried(ExpressionPrinter *p, const Value *value, Level least) {
    Carried core;
    ExpressionRing ring;
    ExpressionPhase phase;
    int64_t start, step, later, same;
    if (core_of(value, &core, &start) && number_of(core.next, &same) && same == start)
        text_addf(&p->out, "%lld", (long long)start);
    else if (counter_of(value, &core, &start, &step))
        print_count(p, core.loop, start, step, least);
    else if (ring_value(value, &ring, &later) && ring.start + later >= 0)
        print_ring(p, &ring, later, least);
    else if (phase_value(value, &phase, &later) && (phase.ring.depth || !inverted(value)))
        print_phase(p, &phase, later, false, least);
    else
        return false;
    return true;
}

static void print_inverted(ExpressionPrinter *p, const Value *bit, Level least) {
    const Value *again = inverted(bit);
    ExpressionPhase phase;
    int64_t later;
    if (again) {
        print(p, again, least);
    } else if (phase_value(bit, &phase, &later)) {
        print_phase(p, &phase, later, true, least);
    } else {
        bool opened = open_at(p, LEVEL_ANY, least);
        text_addf(&p->out, "NOT ");
        print(p, bit, LEVEL_ATOM);
        close_if(p, opened);
    }
}

static void print_binary(ExpressionPrinter *p, const Op *op, const char *sign, Level level, Level left, Level right,
                         Level least) {
    bool opened = open_at(p, level, least);
    print(p, op->operands[0], left);
    text_addf(&p->out, " %s ", sign);
    print(p, op->operands[1], right);
    close_if(p, opened);
}

static void print_call(ExpressionPrinter *p, const char *word, const Op *op) {
    text_addf(&p->out, "%s(", word);
    print(p, op->operands[0], LEVEL_ANY);
    text_addf(&p->out, ", ");
    print(p, op->operands[1], LEVEL_ANY);
    text_char(&p->out, ')');
}

/* Ops that are one sign, or a word with two arguments. */
static bool print_arithmetic(ExpressionPrinter *p, const Value *value, Level least) {
    static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">="};
    static const struct {
        const char *sign; /* NULL: none */
        Level level;      /* an atom: a word */
    } signs[EVALUATOR_COUNT] = {
        [EVALUATE_ADD] = {"+", LEVEL_SUM},
        [EVALUATE_SUBTRACT] = {"-", LEVEL_SUM},
        [EVALUATE_MULTIPLY] = {"*", LEVEL_PRODUCT},
        [EVALUATE_DIVIDE_UNSIGNED] = {"/", LEVEL_PRODUCT},
        [EVALUATE_DIVIDE_SIGNED] = {"/", LEVEL_PRODUCT},
        [EVALUATE_DIVIDE_FLOOR_SIGNED] = {"/", LEVEL_PRODUCT},
        [EVALUATE_REMAINDER_UNSIGNED] = {"%", LEVEL_PRODUCT},
        [EVALUATE_REMAINDER_SIGNED] = {"%", LEVEL_PRODUCT},
        [EVALUATE_AND] = {"&", LEVEL_ANY},
        [EVALUATE_OR] = {"|", LEVEL_ANY},
        [EVALUATE_XOR] = {"^", LEVEL_ANY},
        [EVALUATE_SHIFT_LEFT] = {"<<", LEVEL_ANY},
        [EVALUATE_SHIFT_RIGHT_UNSIGNED] = {">>", LEVEL_ANY},
        [EVALUATE_SHIFT_RIGHT_SIGNED] = {">>", LEVEL_ANY},
        [EVALUATE_DIVIDE_CEIL_UNSIGNED] = {"ceildiv", LEVEL_ATOM},
        [EVALUATE_DIVIDE_CEIL_SIGNED] = {"ceildiv", LEVEL_ATOM},
        [EVALUATE_MINIMUM_UNSIGNED] = {"min", LEVEL_ATOM},
        [EVALUATE_MINIMUM_SIGNED] = {"min", LEVEL_ATOM},
        [EVALUATE_MAXIMUM_UNSIGNED] = {"max", LEVEL_ATOM},
        [EVALUATE_MAXIMUM_SIGNED] = {"max", LEVEL_ATOM},
    };
    const Op *op = value->owner;
    Evaluator how = op_evaluator_at(op, value->index);
    Relation relation;
    if (op->operand_count != 2)
        return false;
    if (relation_of(value, &relation))
        print_binary(p, op, comparisons[relation.comparison], LEVEL_ANY, LEVEL_SUM, LEVEL_SUM, least);
    else if (!signs[how].sign)
        return false;
    else if (signs[how].level == LEVEL_ATOM)
        print_call(p, signs[how].sign, op);
    else if (signs[how].level == LEVEL_SUM)
        print_binary(p, op, signs[how].sign, LEVEL_SUM, LEVEL_SUM, LEVEL_PRODUCT, least);
    else
        print_binary(p, op, signs[how].sign, signs[how].level, LEVEL_ATOM, LEVEL_ATOM, least);
    return true;
}

static void print_sum(ExpressionPrinter *p, const Value *x, int64_t add, Level least) {
    Carried core;
    int64_t start, step, total;
    if (counter_of(x, &core, &start, &step) && start && !__builtin_add_overflow(start, add, &total)) {
        print_count(p, core.loop, total, step, least);
        return;
    }
    bool opened = open_at(p, add ? LEVEL_SUM : LEVEL_ATOM, least);
    print(p, x, add ? LEVEL_SUM : least);
    print_sum_end(p, add);
    close_if(p, opened);
}

/* x + 3, x % 3, wrap(x + 1, 3): what is found in several ops. */
static bool print_found(ExpressionPrinter *p, const Value *value, Level least) {
    int64_t add, depth;
    const Value *x = modulo_of(value, &depth);
    if (x) {
        bool opened = open_at(p, LEVEL_PRODUCT, least);
        print(p, x, LEVEL_ATOM);
        text_addf(&p->out, " %% %lld", (long long)depth);
        close_if(p, opened);
        return true;
    }
    x = divided(quotient_made(value), &depth);
    if (x && depth == 1) {
        print(p, x, least);
        return true;
    }
    x = split_sum(value, through, &add);
    if (x != value) {
        print_sum(p, x, add, least);
        return true;
    }
    x = wrapped(value, &depth, &add);
    if (x) {
        text_addf(&p->out, "wrap(");
        print(p, x, LEVEL_SUM);
        text_addf(&p->out, " + %lld, %lld)", (long long)add, (long long)depth);
        return true;
    }
    x = inverted(value);
    if (x)
        print_inverted(p, x, least);
    return x != NULL;
}

/* Whether it can only be 0 or 1, so that its lowest bit is all of it. */
static bool is_one_bit(const Value *value) {
    int64_t depth;
    ExpressionPhase phase;
    value = through(value);
    if (is_bit(value) || (modulo_of(value, &depth) && depth == 2) || phase_of(value, &phase))
        return true;
    const Op *op = made_of_two(value, EVALUATE_AND);
    return op && (is_number(op->operands[0], 1) || is_number(op->operands[1], 1));
}

static void print_lowest_bit(ExpressionPrinter *p, const Value *value, Level least) {
    if (is_one_bit(value)) {
        print(p, value, least);
        return;
    }
    bool opened = open_at(p, LEVEL_ANY, least);
    print(p, value, LEVEL_ATOM);
    text_addf(&p->out, " & 1");
    close_if(p, opened);
}

static void print_result(ExpressionPrinter *p, const Value *value, Level least) {
    const Op *op = value->owner;
    Evaluator how = op_evaluator(op);
    int64_t axis;
    if (print_found(p, value, least) || print_arithmetic(p, value, least))
        return;
    if (how == EVALUATE_PROGRAM_ID || how == EVALUATE_PROGRAM_COUNT) {
        text_addf(&p->out, how == EVALUATE_PROGRAM_ID ? "program_id(" : "num_programs(");
        if (op_number(op, "axis", &axis) && axis >= 0 && axis < 3)
            text_char(&p->out, (char)('x' + axis));
        text_char(&p->out, ')');
    } else if (cast_of(value) && is_bit(value)) { /* the others were passed through */
        print_lowest_bit(p, cast_of(value), least);
    } else {
        value_print(value, &p->out);
    }
}

static void print_argument(ExpressionPrinter *p, const Value *value) {
    const Op *loop = counted_by(value);
    if (loop)
        print_loop(p, "iv", loop);
    else if (op_is_control(value_holder(value), CONTROL_TILES) &&
             value->index + 1 == ((const Block *)value->owner)->arg_count)
        text_addf(&p->out, "tileIdx");
    else
        value_print(value, &p->out);
}

static void print(ExpressionPrinter *p, const Value *value, Level least) {
    int64_t number;
    value = through(value);
    if (p->depth >= MOST_DEPTH || p->out.size > MOST_CHARACTERS) {
        text_addf(&p->out, "...");
        return;
    }
    p->depth++;
    if (number_of(value, &number))
        text_addf(&p->out, "%lld", (long long)number);
    else if (print_carried(p, value, least))
        ;
    else if (value->is_result)
        print_result(p, value, least);
    else
        print_argument(p, value);
    p->depth--;
}

void expression_print(Module *module, const Value *value, Text *to) {
    ExpressionPrinter p = {.module = module};
    print(&p, value, LEVEL_ANY);
    Str whole = {p.out.data, p.out.size};
    bool cut = whole.size > MOST_CHARACTERS;
    text_str(to, cut ? utf8_cut(whole, MOST_CHARACTERS - 3) : whole);
    text_addf(to, "%s", cut ? "..." : "");
    text_free(&p.out);
}
