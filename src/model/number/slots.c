/* Compares two slots, and says why they differ. */
#include "model/number/slots_internal.h"

enum { MOST_VIEWS = 64 };

/* ---- Which slot a view is of ---------------------------------------------------------------------------------------
 */

static const Op *slot_op(const Value *view) {
    for (int step = 0; view && step < MOST_VIEWS; step++) {
        const Op *op = value_op(view);
        if (op && (op->form == FORM_OPAQUE || !op->operand_count))
            return NULL;
        if (op_is(op, CLASS_INDEX))
            return op->operand_count == 2 ? op : NULL;
        view = op_is(op, CLASS_SAME_SLOT) ? op->operands[0] : value_forwarded(view, FORWARDED_CAPTURE);
    }
    return NULL;
}

const Value *slot_index(const Value *view) {
    const Op *op = slot_op(view);
    return op ? op->operands[1] : NULL;
}

const Value *slot_ring(const Value *view) {
    const Op *op = slot_op(view);
    const Value *ring = op ? op->operands[0] : NULL, *before;
    for (int step = 0; ring && step < MOST_VIEWS && (before = value_forwarded(ring, FORWARDED_CAPTURE)); step++)
        ring = before;
    return ring;
}

/* ---- As Triton does it ---------------------------------------------------------------------------------------------
 */

/* base + offset, or (base + offset) % modulus. */
typedef struct Plain {
    const Value *base; /* NULL: a constant */
    int64_t offset;
    int64_t modulus; /* 0: none */
} Plain;

/* A sum with a constant, in either order; NULL if it is not that. */
static const Value *before_sum(const Value *value, int64_t *number) {
    return made_of_two(value, EVALUATE_ADD) ? sum_part(value, NULL, number) : NULL;
}

/* -1 <= base < modulus, so that one more, with 0 for `modulus`, is the remainder. */
static bool is_bounded(Slots *slots, const Value *base, int64_t modulus, const Value *select) {
    const Value *incoming[MOST_WAYS * 2];
    int64_t number;
    Circulating carried;
    if (value_constant(base, &number))
        return number >= -1 && number < modulus;
    if (base->is_result)
        return false;
    unsigned count = merged_of(slots, base, incoming);
    if (!count && circulating_of(slots, base, &carried) && carried.loop->first_block) {
        for (unsigned i = 0; i < carried.first_count; i++)
            incoming[count++] = carried.first[i];
        for (unsigned i = 0; i < carried.next_count; i++)
            incoming[count++] = carried.next[i];
    }
    for (unsigned i = 0; i < count; i++)
        if (incoming[i] != select && (!value_constant(incoming[i], &number) || number < -1 || number >= modulus))
            return false;
    return count > 0;
}

/* The value that a select moves on by one and wraps around to 0, and where; NULL if it is no such select. */
static const Value *before_wrap(Slots *slots, const Value *value, int64_t *modulus) {
    Choice choice;
    Relation relation;
    int64_t number;
    if (!value_made(value, EVALUATE_SELECT) || !choice_of(value, &choice) ||
        !relation_of(choice.condition, &relation) ||
        (relation.comparison != COMPARE_SGE && relation.comparison != COMPARE_SLT))
        return NULL;
    bool above = relation.comparison == COMPARE_SGE;
    const Value *wrapped = above ? choice.yes : choice.no, *next = above ? choice.no : choice.yes;
    const Value *base = before_sum(next, &number);
    if (!base || number != 1 || relation.left != next || !value_constant(wrapped, &number) || number != 0 ||
        !value_constant(relation.right, modulus) || *modulus <= 0 || !is_bounded(slots, base, *modulus, value))
        return NULL;
    return base;
}

static Plain plain_of(Slots *slots, const Value *value, unsigned depth) {
    enum { MOST_DEPTH = 64 };
    const Plain opaque = {.base = value};
    const Value *inner;
    const Op *op;
    int64_t number, modulus = 0;
    if (value_constant(value, &number))
        return (Plain){.offset = number};
    if (depth == MOST_DEPTH)
        return opaque;
    if (!(inner = before_sum(value, &number))) {
        number = 1;
        inner = before_wrap(slots, value, &modulus);
    }
    if (!inner && (op = made_of_two(value, EVALUATE_REMAINDER_SIGNED)) && value_constant(op->operands[1], &modulus) &&
        modulus > 0) {
        number = 0;
        inner = op->operands[0];
    }
    if (!inner)
        return opaque;
    Plain plain = plain_of(slots, inner, depth + 1);
    if (plain.modulus || __builtin_add_overflow(plain.offset, number, &plain.offset)) /* nothing within a remainder */
        return opaque;
    plain.modulus = modulus;
    return plain;
}

/* ---- How far apart two are -----------------------------------------------------------------------------------------
 */

/* second - first = constant + step * (back edges crossed) + a multiple of `modulus` (0: exactly). */
typedef struct SlotDistance {
    int64_t constant, step, modulus;
} SlotDistance;

typedef struct Entered {
    const FlowLoop *loop; /* NULL: none */
    int64_t trips;
} Entered;

/* A SlotsWay, with loops that are known. */
typedef struct SlotWay {
    const FlowLoop *loop; /* NULL: no back edge lies between */
    int64_t iterations;   /* of it; SLOTS_EVERY */
    Entered entered[SLOTS_ENTERED];
} SlotWay;

static bool distance_plain(Slots *slots, const Value *first, const Value *second, SlotDistance *distance) {
    Plain a = plain_of(slots, first, 0), b = plain_of(slots, second, 0);
    *distance = (SlotDistance){.modulus = a.modulus};
    return a.base == b.base && a.modulus == b.modulus &&
           !__builtin_sub_overflow(b.offset, a.offset, &distance->constant) && distance->constant != INT64_MIN;
}

/* What a symbol was inside the loop when that was left; itself, if it is none of those. */
static const Symbol *inside(const Symbol *symbol, const FlowLoop *loop) {
    return symbol->kind == SYMBOL_EXIT && symbol->loop == loop ? symbol->of : symbol;
}

/* Takes what an iteration changes out of a form: the factor of the loop's count, and what the others have in common.
 * Behind the loop, the count is that with which it was left. */
static bool take_varying(SlotForm *form, const FlowLoop *loop, int64_t *counted, int64_t *modulus) {
    uint32_t kept = 0;
    *counted = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        SlotTerm term = form->terms[i];
        const Symbol *symbol = inside(term.symbol, loop);
        if (!symbol_varies(symbol, loop))
            form->terms[kept++] = term;
        else if (symbol->kind != SYMBOL_COUNT || symbol->loop != loop)
            *modulus = greatest_divisor(*modulus, term.factor);
        else if (__builtin_add_overflow(*counted, term.factor, counted))
            return false;
    }
    form->count = kept;
    return true;
}

/* In its first iteration, what a loop carries is what it was handed, whatever it makes of that later. */
static bool put_first(Slots *slots, SlotForm *form, const FlowLoop *loop) {
    for (uint32_t i = 0; i < form->count;) {
        SlotTerm term = form->terms[i];
        const Symbol *symbol = inside(term.symbol, loop);
        Circulating carried;
        if (symbol->kind != SYMBOL_VALUE || !circulating_of(slots, symbol->value, &carried) || carried.loop != loop ||
            carried.first_count != 1) {
            i++;
            continue;
        }
        if (!form_add(form, &(SlotForm){.count = 1, .terms = {term}}, -1) ||
            !form_add(form, form_of(slots, carried.first[0]), term.factor))
            return false;
        i = 0; /* the terms have moved */
    }
    return form_expand(slots, form, NULL);
}

/* Inserts how often a loop has gone around. At first, sums over its iterations are 0, and so is what was before. */
static bool put_trips(SlotForm *form, const Entered *entered) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < form->count; i++) {
        SlotTerm term = form->terms[i];
        const Symbol *symbol = inside(term.symbol, entered->loop);
        bool of_loop = symbol->loop == entered->loop;
        int64_t part;
        if (of_loop && symbol->kind == SYMBOL_COUNT) {
            if (__builtin_mul_overflow(term.factor, entered->trips, &part) ||
                __builtin_add_overflow(form->constant, part, &form->constant) || form->constant == INT64_MIN)
                return false;
        } else if (!of_loop || entered->trips || (symbol->kind != SYMBOL_SUM && symbol->kind != SYMBOL_LAST)) {
            form->terms[kept++] = term;
        }
    }
    form->count = kept;
    return true;
}

static bool distance_strong(Slots *slots, const Value *first, const Value *second, const SlotWay *way,
                            SlotDistance *distance) {
    SlotForm a = *form_of(slots, first), b = *form_of(slots, second);
    const FlowLoop *loop = way->loop;
    int64_t counted = 0, more;
    *distance = (SlotDistance){0};
    if ((loop || way->entered[0].loop) && !form_expand(slots, &b, NULL))
        return false;
    for (unsigned i = 0; i < SLOTS_ENTERED; i++)
        if (way->entered[i].loop && ((!way->entered[i].trips && !put_first(slots, &b, way->entered[i].loop)) ||
                                     !put_trips(&b, &way->entered[i])))
            return false;
    if (loop) {
        if (!form_expand(slots, &a, loop) || !take_varying(&a, loop, &counted, &distance->modulus) ||
            !take_varying(&b, loop, &distance->step, &distance->modulus))
            return false;
        if (__builtin_sub_overflow(distance->step, counted, &more) || more == INT64_MIN)
            return false;
        distance->modulus = greatest_divisor(distance->modulus, more);
    }
    if (!form_add(&b, &a, -1) || !form_expand(slots, &b, NULL))
        return false;
    for (uint32_t i = 0; i < b.count; i++)
        distance->modulus = greatest_divisor(distance->modulus, b.terms[i].factor);
    distance->constant = b.constant;
    return true;
}

/* What its constant is after that many iterations; false if that is too large a number. */
static bool constant_after(const SlotDistance *distance, int64_t iterations, int64_t *constant) {
    int64_t part;
    *constant = distance->constant;
    return iterations <= 0 || (!__builtin_mul_overflow(distance->step, iterations, &part) &&
                               !__builtin_add_overflow(*constant, part, constant) && *constant != INT64_MIN);
}

/* All that is not its constant is a multiple of this; 0: there is nothing else. */
static int64_t modulus_of(const SlotDistance *distance, int64_t iterations) {
    return iterations == SLOTS_EVERY ? greatest_divisor(distance->modulus, distance->step) : distance->modulus;
}

/* Exactly known, and more or less with each iteration. */
static bool only_moves(const SlotDistance *distance, int64_t iterations) {
    return iterations == SLOTS_EVERY && !distance->modulus && distance->step;
}

/* True if it is never 0. */
static bool never_zero(const SlotDistance *distance, int64_t iterations) {
    int64_t constant, modulus = modulus_of(distance, iterations);
    if (!constant_after(distance, iterations, &constant))
        return false;
    if (only_moves(distance, iterations) && (constant == 0 || (constant > 0) == (distance->step > 0)))
        return true;
    return modulus ? constant % modulus != 0 : constant != 0;
}

/* ---- Saying why ----------------------------------------------------------------------------------------------------
 */

static void add_name(const Value *value, Text *to) {
    int64_t add, number;
    if (value_constant(value, &number)) {
        text_addf(to, "%lld", (long long)number);
        return;
    }
    value_print(split_sum(value, NULL, &add), to);
    if (add)
        text_addf(to, " %c %llu", add < 0 ? '-' : '+', add < 0 ? 0 - (unsigned long long)add : (unsigned long long)add);
}

/* What the remainder is taken of, where that is what makes a slot of a count. */
static const Value *counted(const Value *value) {
    enum { MOST_STEPS = 8 };
    for (int step = 0; step < MOST_STEPS; step++) {
        const Op *op = remainder_made(value);
        const Value *before = cast_of(value);
        int64_t number;
        op = op ? op : made_of_two(value, EVALUATE_AND);
        if (op && value_constant(op->operands[1], &number))
            before = op->operands[0];
        if (!before)
            break;
        value = before;
    }
    return value;
}

typedef struct SlotQuestion {
    Slots *slots;
    const Value *first, *second;
    SlotWay way;
    SlotDistance distance;
} SlotQuestion;

static uint32_t loop_line(const SlotQuestion *q, const FlowLoop *loop) {
    uint32_t offset = loop->first_block ? loop->first_block->offset : loop->op->offset;
    return source_place(q->slots->module->source, offset).line;
}

/* "in every iteration of the loop at line 5 (both start so and go on by 1)", if that is what keeps the distance. */
static void add_reason(const SlotQuestion *q, const Value *a, const Value *b, Text *to) {
    int64_t add, step, other;
    a = split_sum(a, NULL, &add);
    b = split_sum(b, NULL, &add);
    const FlowLoop *loop = loop_around(q->slots, a);
    if (!loop || loop != loop_around(q->slots, b))
        return;
    text_addf(to, " in every iteration of the loop at line %u", loop_line(q, loop));
    if (carried_step(q->slots, a, &step) && carried_step(q->slots, b, &other) && step == other)
        text_addf(to, " (both start there and advance by %lld)", (long long)step);
}

static void add_later(const SlotQuestion *q, Text *to) {
    uint32_t line = loop_line(q, q->way.loop);
    if (q->way.iterations == SLOTS_EVERY)
        text_addf(to, " any number of iterations of the loop at line %u later", line);
    else if (q->way.iterations == 1)
        text_addf(to, " in the next iteration of the loop at line %u", line);
    else
        text_addf(to, " %lld iterations of the loop at line %u later", (long long)q->way.iterations, line);
}

/* "when the loop at line 5 has not gone around yet" */
static void add_entered(const SlotQuestion *q, Text *to) {
    for (unsigned i = 0; i < SLOTS_ENTERED && q->way.entered[i].loop; i++) {
        const Entered *entered = &q->way.entered[i];
        text_addf(to, "%s the loop at line %u has ", i ? " and" : " when", loop_line(q, entered->loop));
        if (entered->trips)
            text_addf(to, "run %lld iteration%s", (long long)entered->trips, entered->trips == 1 ? "" : "s");
        else
            text_addf(to, "not run yet");
    }
}

/* "%p = %c + 2", or what else the distance is. */
static void add_distance(const SlotQuestion *q, const Value *a, const Value *b, int64_t apart, int64_t multiples,
                         Text *to) {
    int64_t add;
    if (!q->way.loop && !multiples && split_sum(a, NULL, &add) == split_sum(b, NULL, &add)) {
        add_name(a, to);
        text_addf(to, " and ");
        add_name(b, to);
        text_addf(to, " are %lld apart", (long long)(apart < 0 ? -apart : apart));
        return;
    }
    bool swapped = !q->way.loop && apart < 0;
    add_name(swapped ? a : b, to);
    if (q->way.loop)
        add_later(q, to);
    text_addf(to, " = ");
    add_name(swapped ? b : a, to);
    if (apart)
        text_addf(to, " %c %lld", apart < 0 && !swapped ? '-' : '+', (long long)(apart < 0 ? -apart : apart));
    if (multiples)
        text_addf(to, " plus a multiple of %lld", (long long)multiples);
    if (!q->way.loop && !q->way.entered[0].loop)
        add_reason(q, a, b, to);
    add_entered(q, to);
}

static void explain(const SlotQuestion *q, Text *to) {
    const Value *a = counted(q->first), *b = counted(q->second);
    SlotDistance distance;
    int64_t modulus = modulus_of(&q->distance, q->way.iterations), apart, number;
    if (!q->way.loop && value_constant(a, &number) && value_constant(b, &number)) {
        text_addf(to, "the slots are always ");
        add_name(q->first, to);
        text_addf(to, " and ");
        add_name(q->second, to);
        return;
    }
    if (only_moves(&q->distance, q->way.iterations)) {
        add_name(q->second, to);
        text_addf(to, " advances by %lld in each iteration of the loop at line %u, and does not return to ",
                  (long long)q->distance.step, loop_line(q, q->way.loop));
        add_name(q->first, to);
        add_entered(q, to);
        return;
    }
    bool simple = distance_strong(q->slots, a, b, &q->way, &distance) && !distance.modulus &&
                  constant_after(&distance, q->way.iterations, &apart);
    if (!simple) { /* in between lies more than a remainder: say it of the slots themselves */
        distance = q->distance;
        a = q->first;
        b = q->second;
        constant_after(&distance, q->way.iterations, &apart);
    }
    add_distance(q, a, b, apart, modulus_of(&distance, q->way.iterations), to);
    if (modulus)
        text_addf(to, ", and %lld is not a multiple of %lld", (long long)(apart < 0 ? -apart : apart),
                  (long long)modulus);
}

/* True if one is always below the other, at whatever time. */
static bool apart_by_range(Slots *slots, const Value *first, const Value *second, Text *proof) {
    Range a = range_of(slots, first), b = range_of(slots, second);
    if (a.high >= b.low && b.high >= a.low)
        return false;
    if (!proof)
        return true;
    add_name(first, proof);
    text_addf(proof, a.high < b.low ? " is never above %lld, and " : " is never below %lld, and ",
              (long long)(a.high < b.low ? a.high : a.low));
    add_name(second, proof);
    text_addf(proof, a.high < b.low ? " never below %lld" : " never above %lld",
              (long long)(a.high < b.low ? b.low : b.high));
    return true;
}

/* ---- The answers ---------------------------------------------------------------------------------------------------
 */

static bool apart_on(Slots *slots, const Value *first, const Value *second, SlotWay way, Text *proof) {
    SlotQuestion q = {slots, first, second, way, {0}};
    if (!distance_strong(slots, first, second, &way, &q.distance) || !never_zero(&q.distance, way.iterations))
        return false;
    if (proof)
        explain(&q, proof);
    return true;
}

bool slots_differ_on(Slots *slots, const Value *first, const Value *second, const SlotsWay *way, Text *proof) {
    SlotWay known = {.loop = way->around ? flow_loop_of(slots->flow, way->around) : NULL,
                     .iterations = way->iterations};
    if (slots->irreducible || (way->around && !known.loop))
        return false;
    /* what the loops that were entered say comes last: it makes the longer proof */
    if (apart_on(slots, first, second, known, proof) || apart_by_range(slots, first, second, proof))
        return true;
    unsigned count = 0;
    for (unsigned i = 0; i < SLOTS_ENTERED && way->entered[i].loop; i++)
        if ((known.entered[count].loop = flow_loop_of(slots->flow, way->entered[i].loop)))
            known.entered[count++].trips = way->entered[i].trips;
    return count && apart_on(slots, first, second, known, proof);
}

bool slots_differ(Slots *slots, const Value *first, const Value *second, const Op *around, SlotStrength strength,
                  Text *proof) {
    if (strength == SLOTS_STRONG)
        return slots_differ_on(slots, first, second, &(SlotsWay){around, around ? SLOTS_EVERY : 0, {{0}}}, proof);
    const FlowLoop *loop = around ? flow_loop_of(slots->flow, around) : NULL;
    SlotQuestion q = {.slots = slots, .first = first, .second = second};
    if (slots->irreducible || (around && (!loop || loop->first_block)) ||
        !distance_plain(slots, first, second, &q.distance) || !never_zero(&q.distance, 0))
        return false;
    if (proof)
        explain(&q, proof);
    return true;
}

bool slots_differ_after(Slots *slots, const Value *first, const Value *second, const Op *around, int64_t iterations,
                        Text *proof) {
    if (iterations < 0 || (iterations && !around))
        return false;
    return slots_differ_on(slots, first, second, &(SlotsWay){iterations ? around : NULL, iterations, {{0}}}, proof);
}
