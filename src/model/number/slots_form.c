/* Values as sums of symbols, over the integers.
 *
 * Everything that moves by multiples stays exact: x % 3 is x - 3 * (some number), a select that wraps is
 * x + 1 - 3 * (its condition), an XOR with 1 is x + 1 - 2 * (some number). So two values differ if the constant of
 * their difference is no multiple of what all other factors have in common, and no modulus has to be looked for.
 *
 * A value x that a loop carries, that is x0 at first and becomes x + c + (terms), is x0 + c * count + (sums of the
 * terms over the iterations before). Sums have names too, so that two counters that a loop moves alike keep their
 * distance, whatever the terms are: the number of iterations of an inner loop, a condition. */
#include "model/number/slots_internal.h"

enum { MOST_DEPTH = 128, MOST_EXPANSIONS = 64 };

/* ---- Symbols -------------------------------------------------------------------------------------------------------
 */

static const Symbol *enter(Slots *slots, Symbol symbol, const void *a, const void *b) {
    Symbol *made = slots_get(slots, KEY_SYMBOL + symbol.kind, a, b);
    if (made)
        return made;
    made = ARENA_NEW(&slots->module->arena, Symbol);
    *made = symbol;
    made->id = slots->symbol_count++;
    slots_put(slots, KEY_SYMBOL + symbol.kind, a, b, made);
    return made;
}

static const Symbol *symbol_of_value(Slots *slots, SymbolKind kind, const Value *value) {
    return enter(slots, (Symbol){.kind = kind, .value = value, .home = loop_around(slots, value)}, value, NULL);
}

static const Symbol *symbol_of_loop(Slots *slots, SymbolKind kind, const FlowLoop *loop, const Symbol *of) {
    const FlowLoop *outer = loop->parent == FLOW_NONE ? NULL : &slots->flow->loops[loop->parent];
    const FlowLoop *home = kind == SYMBOL_EXIT ? outer : loop;
    return enter(slots, (Symbol){.kind = kind, .loop = loop, .of = of, .home = home}, loop, of);
}

static const Symbol *symbol_of_way(Slots *slots, const Block *block, unsigned way) {
    const FlowLoop *home = flow_loop_around(slots->flow, block);
    return enter(slots, (Symbol){.kind = SYMBOL_WAY, .home = home}, block, (const void *)(uintptr_t)way);
}

/* ---- Sums ----------------------------------------------------------------------------------------------------------
 */

static SlotForm constant_form(int64_t constant) {
    return (SlotForm){.constant = constant};
}

static SlotForm symbol_form(const Symbol *symbol) {
    return (SlotForm){.count = 1, .terms = {{symbol, 1}}};
}

static bool add_term(SlotForm *form, const Symbol *symbol, int64_t factor) {
    uint32_t at = 0;
    while (at < form->count && form->terms[at].symbol->id < symbol->id)
        at++;
    if (at == form->count || form->terms[at].symbol != symbol) {
        if (!factor)
            return true;
        if (form->count == FORM_TERMS)
            return false;
        memmove(&form->terms[at + 1], &form->terms[at], sizeof *form->terms * (form->count - at));
        form->terms[at] = (SlotTerm){symbol, factor};
        form->count++;
        return true;
    }
    if (__builtin_add_overflow(form->terms[at].factor, factor, &factor) || factor == INT64_MIN)
        return false;
    form->terms[at].factor = factor;
    if (!factor) {
        form->count--;
        memmove(&form->terms[at], &form->terms[at + 1], sizeof *form->terms * (form->count - at));
    }
    return true;
}

bool form_add(SlotForm *to, const SlotForm *other, int64_t factor) {
    int64_t part;
    if (__builtin_mul_overflow(other->constant, factor, &part) ||
        __builtin_add_overflow(to->constant, part, &to->constant) || to->constant == INT64_MIN)
        return false;
    for (uint32_t i = 0; i < other->count; i++)
        if (__builtin_mul_overflow(other->terms[i].factor, factor, &part) || part == INT64_MIN ||
            !add_term(to, other->terms[i].symbol, part))
            return false;
    return true;
}

static int64_t factor_of(const SlotForm *form, const Symbol *symbol) {
    for (uint32_t i = 0; i < form->count; i++)
        if (form->terms[i].symbol == symbol)
            return form->terms[i].factor;
    return 0;
}

int64_t greatest_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* ---- Ops -----------------------------------------------------------------------------------------------------------
 */

/* x + step * (some number that goes with the value) */
static bool up_to_multiples(Slots *slots, const Value *value, const Value *x, int64_t step, SlotForm *form) {
    *form = *form_of(slots, x);
    return add_term(form, symbol_of_value(slots, SYMBOL_HIDDEN, value), step);
}

/* What wrapping around at that width moves a number by; 2^62 divides what wider ones do. */
static int64_t wrap_step(unsigned width) {
    return INT64_C(1) << (width < 62 ? width : 62);
}

static bool sum(Slots *slots, const Op *op, int64_t sign, SlotForm *form) {
    *form = *form_of(slots, op->operands[0]);
    return form_add(form, form_of(slots, op->operands[1]), sign);
}

static bool scaled(Slots *slots, const Op *op, SlotForm *form) {
    const SlotForm *left = form_of(slots, op->operands[0]), *right = form_of(slots, op->operands[1]);
    if (left->count && right->count)
        return false;
    *form = constant_form(0);
    return left->count ? form_add(form, left, right->constant) : form_add(form, right, left->constant);
}

static bool shifted(Slots *slots, const Op *op, SlotForm *form) {
    const SlotForm *by = form_of(slots, op->operands[1]);
    if (by->count || by->constant < 0 || by->constant > 32)
        return false;
    *form = constant_form(0);
    return form_add(form, form_of(slots, op->operands[0]), INT64_C(1) << by->constant);
}

/* A signed remainder goes with the number, below 0 too. An unsigned one takes a negative number for a large one. */
static bool remainder_form(Slots *slots, const Op *op, SlotForm *form) {
    const SlotForm *x = form_of(slots, op->operands[0]), *by = form_of(slots, op->operands[1]);
    bool is_unsigned = op_evaluator(op) == EVALUATE_REMAINDER_UNSIGNED;
    if (by->count || by->constant <= 0 || by->constant > INT32_MAX)
        return false;
    if (!x->count && (x->constant >= 0 || !is_unsigned)) {
        *form = constant_form(x->constant % by->constant);
        return true;
    }
    int64_t step = by->constant;
    if (is_unsigned && range_of(slots, op->operands[0]).low < 0)
        step = greatest_divisor(step, wrap_step(width_of(slots, &op->results[0])));
    return up_to_multiples(slots, &op->results[0], op->operands[0], step, form);
}

/* The low bits of a number. */
static bool masked(Slots *slots, const Op *op, SlotForm *form) {
    for (unsigned i = 0; i < 2; i++) {
        const SlotForm *mask = form_of(slots, op->operands[i]);
        if (mask->count || mask->constant < 0 || mask->constant >= INT32_MAX || (mask->constant & (mask->constant + 1)))
            continue;
        const SlotForm *x = form_of(slots, op->operands[1 - i]);
        if (!x->count) {
            *form = constant_form(x->constant & mask->constant);
            return true;
        }
        return up_to_multiples(slots, &op->results[0], op->operands[1 - i], mask->constant + 1, form);
    }
    return false;
}

/* x ^ y = x + y - 2 * (x & y) */
static bool flipped(Slots *slots, const Op *op, SlotForm *form) {
    const SlotForm *x = form_of(slots, op->operands[0]), *y = form_of(slots, op->operands[1]);
    *form = *x;
    if (!x->count && !y->count) {
        *form = constant_form(x->constant ^ y->constant);
        return true;
    }
    return form_add(form, y, 1) && add_term(form, symbol_of_value(slots, SYMBOL_HIDDEN, &op->results[0]), -2);
}

static bool cast(Slots *slots, const Op *op, SlotForm *form) {
    const Value *x = op->operands[0];
    unsigned from = width_of(slots, x), to = width_of(slots, &op->results[0]);
    bool is_unsigned = op_evaluator(op) == EVALUATE_ZERO_EXTEND;
    if (!from || !to)
        return false;
    *form = *form_of(slots, x);
    if (from == 1 && to > 1 && !is_unsigned) { /* a bit that is set becomes -1 */
        *form = constant_form(0);
        return form_add(form, form_of(slots, x), -1);
    }
    if (to >= from) {
        bool same = from == 1 || !is_unsigned || to == from || range_of(slots, x).low >= 0;
        return same || up_to_multiples(slots, &op->results[0], x, wrap_step(from), form);
    }
    Range range = range_of(slots, x);
    bool fits = to >= 32 ? range.low >= 0 : range.low >= 0 && to > 1 && range.high < wrap_step(to - 1);
    return fits || up_to_multiples(slots, &op->results[0], x, wrap_step(to), form);
}

/* ---- One of two ----------------------------------------------------------------------------------------------------
 */

/* no + (yes - no) * condition, if yes - no is a constant. */
static bool choose(Slots *slots, const Value *condition, const SlotForm *yes, const SlotForm *no, SlotForm *form) {
    SlotForm difference = *yes;
    if (!form_add(&difference, no, -1) || difference.count)
        return false;
    *form = *no;
    return form_add(form, form_of(slots, condition), difference.constant);
}

/* Adds so often `zero`, which is 0 where `form` is what is taken, that it goes with `other` up to a constant. */
static bool match(SlotForm *form, const SlotForm *other, const SlotForm *zero) {
    SlotForm difference = *other;
    if (!form_add(&difference, form, -1) || !difference.count)
        return false;
    int64_t factor = factor_of(zero, difference.terms[0].symbol), wanted = difference.terms[0].factor;
    return factor && wanted % factor == 0 && form_add(form, zero, wanted / factor);
}

/* A wrap: where the condition tells exactly what a number is, that number may be put into its place. So 0 at x + 1 == 3
 * is x + 1 - 3. With x + 1 >= 3 it takes to know that x + 1 is not above 3. Of a ring of two both ways tell, since
 * x + 1 < 2 means that x is 0; what still speaks of x says more. */
static bool wrapped(Slots *slots, const Choice *choice, SlotForm *form) {
    Relation relation;
    if (!relation_of(choice->condition, &relation) || width_of(slots, relation.left) < 2)
        return false;
    Range left = range_of(slots, relation.left), right = range_of(slots, relation.right);
    SlotForm zero = *form_of(slots, relation.left);
    if (!form_add(&zero, form_of(slots, relation.right), -1))
        return false;
    bool found = false;
    for (unsigned i = 0; i < 2; i++) {
        bool holds = i == 0;
        SlotForm candidate;
        Range difference = difference_if(&relation, holds, left, right);
        SlotForm equation = zero, yes = *form_of(slots, choice->yes), no = *form_of(slots, choice->no);
        if (difference.low != difference.high ||
            __builtin_sub_overflow(equation.constant, difference.low, &equation.constant))
            continue;
        if (!match(holds ? &yes : &no, holds ? &no : &yes, &equation) ||
            !choose(slots, choice->condition, &yes, &no, &candidate))
            continue;
        if (!found || candidate.count > form->count)
            *form = candidate;
        found = true;
    }
    return found;
}

static bool chosen(Slots *slots, const Choice *choice, SlotForm *form) {
    return choose(slots, choice->condition, form_of(slots, choice->yes), form_of(slots, choice->no), form) ||
           wrapped(slots, choice, form);
}

/* What comes together from several ways, if it is the same but for constants. The first way needs no symbol. */
static bool merged(Slots *slots, const Block *block, const Value *const *values, unsigned count, SlotForm *form) {
    const SlotForm *first = form_of(slots, values[0]);
    *form = *first;
    for (unsigned i = 1; i < count; i++) {
        SlotForm difference = *form_of(slots, values[i]);
        if (!form_add(&difference, first, -1) || difference.count)
            return false;
        if (difference.constant && !add_term(form, symbol_of_way(slots, block, i), difference.constant))
            return false;
    }
    return true;
}

/* ---- Loops ---------------------------------------------------------------------------------------------------------
 */

/* What it is when the loop is left. */
static bool at_exit(Slots *slots, const FlowLoop *loop, const SlotForm *inside, SlotForm *form) {
    *form = constant_form(inside->constant);
    for (uint32_t i = 0; i < inside->count; i++) {
        SlotTerm term = inside->terms[i];
        if (symbol_varies(term.symbol, loop))
            term.symbol = symbol_of_loop(slots, SYMBOL_EXIT, loop, term.symbol);
        if (!add_term(form, term.symbol, term.factor))
            return false;
    }
    return true;
}

/* What adding `step` in each iteration comes to. */
static bool accumulated(Slots *slots, const FlowLoop *loop, const SlotForm *step, SlotForm *form) {
    if (!add_term(form, symbol_of_loop(slots, SYMBOL_COUNT, loop, NULL), step->constant))
        return false;
    for (uint32_t i = 0; i < step->count; i++)
        if (!add_term(form, symbol_of_loop(slots, SYMBOL_SUM, loop, step->terms[i].symbol), step->terms[i].factor))
            return false;
    return true;
}

/* lower bound + step * count */
static bool induction(Slots *slots, const Op *op, SlotForm *form) {
    Bounds bounds;
    if (!loop_bounds(op, &bounds))
        return false;
    *form = *form_of(slots, bounds.from);
    return accumulated(slots, flow_loop_of(slots->flow, op), form_of(slots, bounds.step), form);
}

/* A value that becomes what another one was: if that one goes on by `step` each time, and this one starts a step behind
 * it, it follows it. */
static bool follows(Slots *slots, const FlowLoop *loop, const SlotForm *first, const SlotForm *next, SlotForm *form) {
    const Symbol *count = symbol_of_loop(slots, SYMBOL_COUNT, loop, NULL);
    int64_t step = factor_of(next, count);
    SlotForm apart = *next; /* from where the other one starts to a step after this one's start: must be nothing */
    *form = *first;
    if (!add_term(&apart, count, -step) || !add_term(form, count, step) ||
        __builtin_sub_overflow(apart.constant, step, &apart.constant))
        return false;
    for (uint32_t i = 0; i < next->count; i++) {
        SlotTerm term = next->terms[i];
        if (term.symbol == count || !symbol_varies(term.symbol, loop))
            continue;
        if (!add_term(&apart, term.symbol, -term.factor) ||
            !add_term(form, symbol_of_loop(slots, SYMBOL_LAST, loop, term.symbol), term.factor))
            return false;
    }
    return form_add(&apart, first, -1) && form_expand(slots, &apart, NULL) && !apart.count && !apart.constant;
}

static bool carried_form(Slots *slots, const Symbol *symbol, const Circulating *carried, SlotForm *form) {
    const FlowLoop *loop = carried->loop;
    const SlotForm *first = form_of(slots, carried->first[0]);
    const Block *header = symbol->value->owner;
    SlotForm next;
    for (unsigned i = 1; i < carried->first_count; i++) {
        SlotForm difference = *form_of(slots, carried->first[i]);
        if (!form_add(&difference, first, -1) || difference.count || difference.constant)
            return false;
    }
    if (!merged(slots, header, carried->next, carried->next_count, &next) || !form_expand(slots, &next, loop))
        return false;
    int64_t itself = factor_of(&next, symbol);
    if (!itself)
        return follows(slots, loop, first, &next, form);
    /* a * x + rest = x + rest + (a - 1) * x, and of the last the loop makes a sum as of any other */
    *form = *first;
    return add_term(&next, symbol, -1) && accumulated(slots, loop, &next, form);
}

/* ---- All together --------------------------------------------------------------------------------------------------
 */

static bool result_form(Slots *slots, const Value *value, SlotForm *form) {
    const Op *op = value->owner;
    int64_t number;
    Choice choice;
    unsigned width = width_of(slots, value);
    if (!op->row || op->form == FORM_OPAQUE || !width)
        return false;
    if (value_constant(value, &number)) {
        *form = constant_form(number);
        return number != INT64_MIN;
    }
    if (choice_of(value, &choice))
        return chosen(slots, &choice, form);
    const Value *last = value_forwarded(value, FORWARDED_OUT);
    if (last)
        return at_exit(slots, flow_loop_of(slots->flow, op), form_of(slots, last), form);
    bool two = op->operand_count == 2 && op->result_count == 1, wide = two && width > 1;
    switch (op_evaluator(op)) {
    case EVALUATE_ADD:
        return wide && sum(slots, op, 1, form);
    case EVALUATE_SUBTRACT:
        return wide && sum(slots, op, -1, form);
    case EVALUATE_MULTIPLY:
        return wide && scaled(slots, op, form);
    case EVALUATE_SHIFT_LEFT:
        return wide && shifted(slots, op, form);
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return wide && remainder_form(slots, op, form);
    case EVALUATE_AND:
        return two && masked(slots, op, form);
    case EVALUATE_XOR:
        return two && flipped(slots, op, form);
    default:
        return cast_of(value) && cast(slots, op, form);
    }
}

static bool argument_form(Slots *slots, const Value *value, SlotForm *form) {
    const Op *loop = counted_by(value);
    const Value *values[MOST_WAYS];
    if (!width_of(slots, value))
        return false;
    if (loop)
        return induction(slots, loop, form);
    unsigned count = merged_of(slots, value, values);
    return count && merged(slots, value->owner, values, count, form);
}

const SlotForm *form_of(Slots *slots, const Value *value) {
    const SlotForm *known = slots_get(slots, KEY_FORM, value, NULL);
    if (known)
        return known;
    SlotForm form;
    bool found = false;
    if (slots->depth < MOST_DEPTH) {
        slots->depth++;
        const Value *before = copied_from(slots, value);
        if (before)
            form = *form_of(slots, before);
        found = before             ? true
                : value->is_result ? result_form(slots, value, &form)
                                   : argument_form(slots, value, &form);
        slots->depth--;
    }
    SlotForm *kept = ARENA_NEW(&slots->module->arena, SlotForm);
    *kept = found ? form : symbol_form(symbol_of_value(slots, SYMBOL_VALUE, value));
    slots_put(slots, KEY_FORM, value, NULL, kept);
    return kept;
}

/* What a symbol is in terms of others that say more; false if nothing is known. */
static bool expansion(Slots *slots, const Symbol *symbol, SlotForm *form) {
    SlotForm inside;
    Circulating carried;
    if (symbol->kind == SYMBOL_EXIT)
        return expansion(slots, symbol->of, &inside) && at_exit(slots, symbol->loop, &inside, form);
    if (symbol->kind != SYMBOL_VALUE || symbol->value->is_result || symbol->state == BEING_TRIED)
        return false;
    if (symbol->state == NOT_TRIED) {
        Symbol *tried = (Symbol *)symbol;
        tried->state = BEING_TRIED;
        if (slots->depth < MOST_DEPTH && circulating_of(slots, symbol->value, &carried)) {
            slots->depth++;
            if (carried_form(slots, symbol, &carried, form)) {
                SlotForm *kept = ARENA_NEW(&slots->module->arena, SlotForm);
                *kept = *form;
                tried->carried = kept;
            }
            slots->depth--;
        }
        tried->state = TRIED;
    }
    if (symbol->carried)
        *form = *symbol->carried;
    return symbol->carried != NULL;
}

bool form_expand(Slots *slots, SlotForm *form, const FlowLoop *loop) {
    uint32_t at = 0;
    for (unsigned i = 0; at < form->count && i < MOST_EXPANSIONS;) {
        SlotTerm term = form->terms[at];
        SlotForm instead;
        if ((loop && !symbol_varies(term.symbol, loop)) || !expansion(slots, term.symbol, &instead)) {
            at++;
            continue;
        }
        if (!add_term(form, term.symbol, -term.factor) || !form_add(form, &instead, term.factor))
            return false;
        at = 0;
        i++;
    }
    return true;
}

bool carried_step(Slots *slots, const Value *argument, int64_t *step) {
    const SlotForm *form = form_of(slots, argument);
    Circulating carried;
    SlotForm instead;
    if (form->count != 1 || form->terms[0].symbol->value != argument || !circulating_of(slots, argument, &carried) ||
        !expansion(slots, form->terms[0].symbol, &instead))
        return false;
    *step = 0;
    for (uint32_t i = 0; i < instead.count; i++) {
        const Symbol *symbol = instead.terms[i].symbol;
        if (symbol->kind == SYMBOL_COUNT && symbol->loop == carried.loop)
            *step = instead.terms[i].factor;
        else if (symbol_varies(symbol, carried.loop))
            return false;
    }
    return true;
}
