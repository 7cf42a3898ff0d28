/* Sums of products: arithmetic, quotients, and ranges. */
#include "check/certificate/number.h"

#include <string.h>

/* ---- Sums ----------------------------------------------------------------------------------------- */

/* A number that is being made. */
typedef struct NumberDraft {
    bool bad;
    uint32_t count;
    NumberTerm terms[NUMBER_TERMS];
} NumberDraft;

static int order_of(const NumberTerm *a, const NumberTerm *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return 0;
}

static void draft_add(NumberDraft *draft, NumberTerm term) {
    uint32_t at = 0;
    while (at < draft->count && order_of(&draft->terms[at], &term) < 0)
        at++;
    if (!term.factor || draft->bad)
        return;
    if (at < draft->count && order_of(&draft->terms[at], &term) == 0) {
        draft->bad |= __builtin_add_overflow(draft->terms[at].factor, term.factor, &draft->terms[at].factor);
        if (!draft->terms[at].factor)
            memmove(&draft->terms[at], &draft->terms[at + 1], (--draft->count - at) * sizeof term);
        return;
    }
    if ((draft->bad |= draft->count == NUMBER_TERMS))
        return;
    memmove(&draft->terms[at + 1], &draft->terms[at], (draft->count++ - at) * sizeof term);
    draft->terms[at] = term;
}

static const Number *draft_end(NumberTable *numbers, const NumberDraft *draft) {
    if (draft->bad)
        return NULL;
    Number *number = arena_alloc(numbers->arena, sizeof *number + draft->count * sizeof *number->terms);
    number->count = draft->count;
    memcpy(number->terms, draft->terms, draft->count * sizeof *number->terms);
    return number;
}

const Number *number_constant(NumberTable *numbers, int64_t value) {
    NumberDraft draft = {.count = 0};
    draft_add(&draft, (NumberTerm){.factor = value});
    return draft_end(numbers, &draft);
}

bool number_is_constant(const Number *number, int64_t *value) {
    if (!number || number->count > 1 || (number->count && number->terms[0].count))
        return false;
    *value = number->count ? number->terms[0].factor : 0;
    return true;
}

bool number_same(const Number *a, const Number *b) {
    if (!a || !b || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->terms[i].factor != b->terms[i].factor || order_of(&a->terms[i], &b->terms[i]) != 0)
            return false;
    return true;
}

const Number *number_add(NumberTable *numbers, const Number *a, const Number *b, int64_t times) {
    NumberDraft draft = {.count = 0};
    if (!a || !b)
        return NULL;
    draft.count = a->count;
    memcpy(draft.terms, a->terms, a->count * sizeof *a->terms);
    for (uint32_t i = 0; i < b->count; i++) {
        NumberTerm term = b->terms[i];
        draft.bad |= __builtin_mul_overflow(term.factor, times, &term.factor);
        draft_add(&draft, term);
    }
    return draft_end(numbers, &draft);
}

static NumberTerm product_of_terms(const NumberTerm *a, const NumberTerm *b, bool *bad) {
    NumberTerm term = {.count = 0};
    *bad |= a->count + b->count > NUMBER_FACTORS || __builtin_mul_overflow(a->factor, b->factor, &term.factor);
    for (uint32_t i = 0, k = 0; !*bad && (i < a->count || k < b->count);) {
        bool first = k == b->count || (i < a->count && a->atoms[i] <= b->atoms[k]);
        term.atoms[term.count++] = first ? a->atoms[i++] : b->atoms[k++];
    }
    return term;
}

const Number *number_multiply(NumberTable *numbers, const Number *a, const Number *b) {
    NumberDraft draft = {.count = 0};
    for (uint32_t i = 0; a && b && i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            draft_add(&draft, product_of_terms(&a->terms[i], &b->terms[k], &draft.bad));
    return a && b ? draft_end(numbers, &draft) : NULL;
}

const Number *number_shrink(NumberTable *numbers, const Number *number, int64_t by) {
    NumberDraft draft = {.bad = !number || by <= 0};
    for (uint32_t i = 0; !draft.bad && i < number->count; i++) {
        NumberTerm term = number->terms[i];
        draft.bad = term.factor % by != 0;
        term.factor /= by;
        draft_add(&draft, term);
    }
    return draft_end(numbers, &draft);
}

/* ---- Atoms ---------------------------------------------------------------------------------------- */

bool number_is_atom(const Number *number, uint32_t *atom) {
    if (!number || number->count != 1 || number->terms[0].count != 1 || number->terms[0].factor != 1)
        return false;
    *atom = number->terms[0].atoms[0];
    return true;
}

bool number_is_varying(const NumberTable *numbers, const Number *number) {
    for (uint32_t i = 0; number && i < number->count; i++)
        for (uint32_t k = 0; k < number->terms[i].count; k++)
            if (numbers->atoms[number->terms[i].atoms[k]].varies)
                return true;
    return !number;
}

bool number_has_data(const NumberTable *numbers, const Number *number) {
    for (uint32_t i = 0; number && i < number->count; i++)
        for (uint32_t k = 0; k < number->terms[i].count; k++)
            if (numbers->atoms[number->terms[i].atoms[k]].data)
                return true;
    return !number;
}

static bool same_operand(const Number *a, const Number *b) {
    return a == b || number_same(a, b);
}

const Number *number_atom(NumberTable *numbers, NumberAtom atom) {
    bool made = atom.kind >= NUMBER_TRIP && atom.kind <= NUMBER_MAXIMUM;
    uint32_t at = 0;
    if (made && (!atom.a || !atom.b))
        return NULL;
    for (; at < numbers->atom_count; at++) {
        const NumberAtom *other = &numbers->atoms[at];
        if (other->kind == atom.kind && other->axis == atom.axis && other->of == atom.of &&
            other->extent == atom.extent && other->key == atom.key && same_operand(other->a, atom.a) &&
            same_operand(other->b, atom.b))
            break;
    }
    if (at == NUMBER_ATOMS)
        return NULL;
    if (at < numbers->atom_count) { /* more may be known of what it is made of */
        numbers->atoms[at].range = number_atom_range(numbers, NULL, &numbers->atoms[at]);
    } else {
        atom.data = atom.kind == NUMBER_DATA ||
                    (made && (number_has_data(numbers, atom.a) || number_has_data(numbers, atom.b)));
        atom.varies = atom.kind == NUMBER_PROGRAM || atom.kind == NUMBER_LANE || atom.kind == NUMBER_TRIP ||
                      atom.data || (made && (number_is_varying(numbers, atom.a) || number_is_varying(numbers, atom.b)));
        atom.range = number_atom_range(numbers, NULL, &atom);
        numbers->atoms[numbers->atom_count++] = atom;
    }
    NumberDraft draft = {.count = 1, .terms = {{.factor = 1, .count = 1, .atoms = {at}}}};
    return draft_end(numbers, &draft);
}

/* ---- Quotients ------------------------------------------------------------------------------------ */

/* Whether `by` is a factor of the term; what is left of it. */
static bool take_factor(const NumberTerm *term, const NumberTerm *by, NumberTerm *left) {
    uint32_t k = 0;
    *left = (NumberTerm){.factor = term->factor / by->factor};
    for (uint32_t i = 0; i < term->count; i++)
        if (k < by->count && by->atoms[k] == term->atoms[i])
            k++;
        else
            left->atoms[left->count++] = term->atoms[i];
    return k == by->count && term->factor % by->factor == 0;
}

/* a = whole * b + rest. What is left is a quotient of the rest alone only if the rest is never negative. */
static const Number *quotient(NumberTable *numbers, NumberAtomKind kind, const Number *a, const Number *b) {
    NumberDraft whole = {.count = 0}, rest = {.count = 0};
    int64_t by;
    number_need(numbers, a, 0, NUMBER_BEYOND);
    number_need(numbers, b, 1, NUMBER_BEYOND);
    if (number_range(numbers, NULL, b).most <= 1) /* it is 1 */
        return kind == NUMBER_DIVIDE ? a : number_constant(numbers, 0);
    for (uint32_t i = 0; i < a->count; i++) {
        NumberTerm left;
        bool whole_part = b->count == 1 && b->terms[0].factor > 0 && take_factor(&a->terms[i], &b->terms[0], &left);
        draft_add(whole_part ? &whole : &rest, whole_part ? left : a->terms[i]);
    }
    const Number *wholes = draft_end(numbers, &whole), *rests = draft_end(numbers, &rest), *result;
    NumberRange range = number_range(numbers, NULL, rests);
    bool small = number_is_constant(b, &by) ? range.least >= 0 && range.most < by : rests && rests->count == 0;
    if (small) {
        result = kind == NUMBER_DIVIDE ? number_constant(numbers, 0) : rests;
    } else {
        if (range.least < 0) {
            wholes = number_constant(numbers, 0);
            rests = a;
        }
        result = number_atom(numbers, (NumberAtom){.kind = kind, .a = rests, .b = b});
    }
    return kind == NUMBER_DIVIDE ? number_add(numbers, result, wholes, 1) : result;
}

const Number *number_of_two(NumberTable *numbers, NumberAtomKind kind, const Number *a, const Number *b) {
    int64_t apart;
    if (!a || !b || (number_is_constant(b, &apart) && apart == 0 && kind <= NUMBER_REMAINDER))
        return NULL;
    if (kind == NUMBER_DIVIDE || kind == NUMBER_REMAINDER)
        return quotient(numbers, kind, a, b);
    const Number *difference = number_add(numbers, a, b, -1);
    if (number_is_constant(difference, &apart))
        return (apart < 0) == (kind == NUMBER_MINIMUM) ? a : b;
    bool turned = difference && difference->count && difference->terms[difference->count - 1].factor < 0;
    return difference ? number_atom(numbers, (NumberAtom){.kind = kind, .a = turned ? b : a, .b = turned ? a : b})
                      : NULL;
}

static const Number *replace_in_atom(NumberTable *numbers, uint32_t at, uint32_t atom, const Number *by) {
    const NumberAtom old = numbers->atoms[at];
    if (at == atom)
        return by;
    if (old.kind < NUMBER_TRIP || old.kind > NUMBER_MAXIMUM)
        return number_atom(numbers, old);
    const Number *a = number_replace(numbers, old.a, atom, by), *b = number_replace(numbers, old.b, atom, by);
    if (same_operand(a, old.a) && same_operand(b, old.b))
        return number_atom(numbers, old);
    return old.kind == NUMBER_TRIP ? NULL : number_of_two(numbers, old.kind, a, b);
}

const Number *number_replace(NumberTable *numbers, const Number *number, uint32_t atom, const Number *by) {
    const Number *sum = number_constant(numbers, 0);
    if (!number || !by || ++numbers->work > MOST_WORK)
        return NULL;
    for (uint32_t i = 0; i < number->count; i++) {
        const Number *product = number_constant(numbers, number->terms[i].factor);
        for (uint32_t k = 0; k < number->terms[i].count; k++)
            product = number_multiply(numbers, product, replace_in_atom(numbers, number->terms[i].atoms[k], atom, by));
        sum = number_add(numbers, sum, product, 1);
    }
    return sum;
}

/* ---- Ranges --------------------------------------------------------------------------------------- */

static int64_t less(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t more(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static int64_t clipped(__int128 value) {
    return value > NUMBER_BEYOND ? NUMBER_BEYOND : value < -NUMBER_BEYOND ? -NUMBER_BEYOND : (int64_t)value;
}

static NumberRange product_range(NumberRange a, NumberRange b) {
    const __int128 corners[] = {(__int128)a.least * b.least, (__int128)a.least * b.most, (__int128)a.most * b.least,
                                (__int128)a.most * b.most};
    NumberRange range = {clipped(corners[0]), clipped(corners[0])};
    for (unsigned i = 1; i < 4; i++)
        range = (NumberRange){less(range.least, clipped(corners[i])), more(range.most, clipped(corners[i]))};
    return range;
}

static NumberRange sum_range(const NumberTable *numbers, const NumberRange *atoms, const Number *number) {
    NumberRange sum = {0, 0};
    for (uint32_t i = 0; i < number->count; i++) {
        NumberRange product = {clipped(number->terms[i].factor), clipped(number->terms[i].factor)};
        for (uint32_t k = 0; k < number->terms[i].count; k++) {
            uint32_t atom = number->terms[i].atoms[k];
            product = product_range(product, atoms ? atoms[atom] : numbers->atoms[atom].range);
        }
        bool below = sum.least == -NUMBER_BEYOND || product.least == -NUMBER_BEYOND;
        bool above = sum.most == NUMBER_BEYOND || product.most == NUMBER_BEYOND;
        sum.least = below ? -NUMBER_BEYOND : clipped((__int128)sum.least + product.least);
        sum.most = above ? NUMBER_BEYOND : clipped((__int128)sum.most + product.most);
    }
    return sum;
}

NumberRange number_range(const NumberTable *numbers, const NumberRange *atoms, const Number *number) {
    if (!number)
        return (NumberRange){-NUMBER_BEYOND, NUMBER_BEYOND};
    NumberRange range = sum_range(numbers, atoms, number);
    for (uint32_t i = 0; i < numbers->fact_count; i++)
        if (number_same(numbers->facts[i].what, number))
            range.most = less(range.most, sum_range(numbers, atoms, numbers->facts[i].most).most);
    return range;
}

static NumberRange width_range(unsigned width) {
    if (width == 1)
        return (NumberRange){0, 1};
    if (!width || width > 62)
        return (NumberRange){-NUMBER_BEYOND, NUMBER_BEYOND};
    return (NumberRange){-(INT64_C(1) << (width - 1)), (INT64_C(1) << (width - 1)) - 1};
}

NumberRange number_atom_range(const NumberTable *numbers, const NumberRange *atoms, const NumberAtom *atom) {
    NumberRange a = {0, 0}, b = {0, 0};
    if (atom->kind >= NUMBER_TRIP && atom->kind <= NUMBER_MAXIMUM) {
        a = number_range(numbers, atoms, atom->a);
        b = number_range(numbers, atoms, atom->b);
    }
    switch (atom->kind) {
    case NUMBER_SHAPE:
        return (NumberRange){0, NUMBER_BEYOND};
    case NUMBER_STRIDE:
        return (NumberRange){-NUMBER_BEYOND, NUMBER_BEYOND};
    case NUMBER_PROGRAMS:
        return (NumberRange){1, INT32_MAX};
    case NUMBER_PROGRAM:
        return (NumberRange){0, INT32_MAX - 1};
    case NUMBER_LANE:
        return (NumberRange){0, atom->extent - 1};
    case NUMBER_TRIP:
        return (NumberRange){0, a.most == NUMBER_BEYOND ? NUMBER_BEYOND : more(a.most - 1, 0) / more(b.least, 1)};
    case NUMBER_DIVIDE:
        return (NumberRange){b.most == NUMBER_BEYOND ? 0 : more(a.least, 0) / more(b.most, 1),
                             a.most == NUMBER_BEYOND ? NUMBER_BEYOND : more(a.most, 0) / more(b.least, 1)};
    case NUMBER_REMAINDER:
        if (a.least >= 0 && a.most < b.least)
            return a;
        return (NumberRange){0, less(b.most == NUMBER_BEYOND ? NUMBER_BEYOND : more(b.most - 1, 0), more(a.most, 0))};
    case NUMBER_MINIMUM:
        return (NumberRange){less(a.least, b.least), less(a.most, b.most)};
    case NUMBER_MAXIMUM:
        return (NumberRange){more(a.least, b.least), more(a.most, b.most)};
    default: /* arguments and data */
        return width_range(atom->width);
    }
}

/* ---- What is needed ------------------------------------------------------------------------------- */

void number_need(NumberTable *numbers, const Number *number, int64_t least, int64_t most) {
    uint32_t at = 0;
    while (at < numbers->need_count && !number_same(numbers->needs[at].what, number))
        at++;
    if (!number)
        return;
    if (at == numbers->need_count)
        *ARENA_PUSH(numbers->arena, numbers->needs, numbers->need_count, numbers->need_capacity) =
            (NumberNeed){number, {least, most}};
    numbers->needs[at].range =
        (NumberRange){more(numbers->needs[at].range.least, least), less(numbers->needs[at].range.most, most)};
}

bool number_need_is_open(const NumberTable *numbers, const NumberNeed *need, NumberRange *asked) {
    NumberRange range = number_range(numbers, NULL, need->what);
    asked->least = need->range.least > range.least ? need->range.least : -NUMBER_BEYOND;
    asked->most = need->range.most < range.most ? need->range.most : NUMBER_BEYOND;
    return asked->least > -NUMBER_BEYOND || asked->most < NUMBER_BEYOND;
}

void number_know_most(NumberTable *numbers, const Number *number, const Number *most) {
    if (number && most && !number_same(number, most))
        *ARENA_PUSH(numbers->arena, numbers->facts, numbers->fact_count, numbers->fact_capacity) =
            (NumberFact){number, most};
}
