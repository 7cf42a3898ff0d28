/* Polynomials over atoms: each is kept once, sums and products of them, quotients that can be simplified. */
#include "check/prove/quantity.h"

#include "base/hash.h"
#include "base/table.h"

#include <inttypes.h>
#include <stdlib.h>

static Interval atom_interval(const Quantities *quantities, const QuantityAtom *atom, const LaunchNumbers *launch,
                              const Interval *atoms);

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- One of each ---------------------------------------------------------------------------------- */

static bool same_monomial(const Monomial *a, const Monomial *b) {
    return a->factor == b->factor && a->count == b->count &&
           memcmp(a->atoms, b->atoms, a->count * sizeof *a->atoms) == 0;
}

static bool same_polynomial(const Polynomial *a, const Polynomial *b) {
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = same_monomial(&a->terms[i], &b->terms[i]);
    return same;
}

static uint32_t polynomial_hash(const Polynomial *of) {
    uint64_t hash = HASH_START;
    for (uint32_t i = 0; i < of->count; i++) {
        hash = hash_bytes(hash, (const char *)&of->terms[i].factor, sizeof of->terms[i].factor);
        hash = hash_bytes(hash, (const char *)of->terms[i].atoms, of->terms[i].count * sizeof(uint16_t));
    }
    return table_fold(hash);
}

/* Items are numbers of quantities, and 1: 0 is free. */
typedef struct QuantityTable {
    Quantity *items;
    uint32_t count, capacity;
    const Polynomial *all;
} QuantityTable;
TABLE(quantity_table, QuantityTable, Quantity, const Polynomial *, 64, *item != 0, &table->all[*item - 1],
      polynomial_hash(key), same_polynomial(key, &table->all[*item - 1]))

static Quantity enter(Quantities *quantities, const Monomial *terms, uint32_t count) {
    Polynomial wanted = {.terms = terms, .count = count};
    QuantityTable table = {quantities->found.items, quantities->found.count, quantities->found.capacity,
                           quantities->all};
    Quantity *place = quantity_table_put(quantities->arena, &table, &wanted);
    quantities->found.items = table.items;
    quantities->found.count = table.count;
    quantities->found.capacity = table.capacity;
    if (!*place) {
        Monomial *kept = ARENA_ARRAY(quantities->arena, Monomial, count + 1);
        if (count)
            memcpy(kept, terms, count * sizeof *kept);
        *ARENA_PUSH(quantities->arena, quantities->all, quantities->count, quantities->capacity) =
            (Polynomial){.terms = kept, .count = count};
        *place = quantities->count;
    }
    return *place - 1;
}

void quantities_init(Quantities *quantities, Arena *arena) {
    *quantities = (Quantities){.arena = arena,
                               .atoms = ARENA_ARRAY(arena, QuantityAtom, MOST_ATOMS),
                               .anywhere = ARENA_ARRAY(arena, Interval, MOST_ATOMS)};
    enter(quantities, NULL, 0);
    enter(quantities, &(Monomial){.factor = 1}, 1);
}

static void *copied(Arena *arena, const void *items, size_t count, size_t capacity, size_t size) {
    char *copy = ARENA_ARRAY(arena, char, (capacity + 1) * size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

Quantities *quantities_copy(const Quantities *of, Arena *arena) {
    Quantities *copy = ARENA_NEW(arena, Quantities);
    *copy = *of;
    copy->arena = arena;
    copy->settled = false;
    copy->atoms = copied(arena, of->atoms, of->atom_count, MOST_ATOMS, sizeof *of->atoms);
    copy->anywhere = copied(arena, of->anywhere, of->atom_count, MOST_ATOMS, sizeof *of->anywhere);
    copy->all = copied(arena, of->all, of->count, of->capacity, sizeof *of->all);
    copy->bounds = copied(arena, of->bounds, of->bound_count, of->bound_capacity, sizeof *of->bounds);
    copy->found.items = copied(arena, of->found.items, of->found.capacity, of->found.capacity, sizeof *of->found.items);
    return copy;
}

Quantity quantity_constant(Quantities *quantities, int64_t value) {
    return value ? enter(quantities, &(Monomial){.factor = value}, 1) : QUANTITY_ZERO;
}

bool quantity_is_constant(const Quantities *quantities, Quantity quantity, int64_t *value) {
    if (quantity == QUANTITY_NONE)
        return false;
    const Polynomial *of = &quantities->all[quantity];
    *value = of->count ? of->terms[0].factor : 0;
    return !of->count || (of->count == 1 && !of->terms[0].count);
}

/* ---- Sums and products ---------------------------------------------------------------------------- */

static int compare_atoms(const Monomial *a, const Monomial *b) {
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (unsigned i = 0; i < a->count; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return 0;
}

/* Adds a monomial to a sum that is in order; false if that is too long, or too large. */
static bool add_term(Monomial *sum, uint32_t *count, const Monomial *term) {
    uint32_t at = 0;
    while (at < *count && compare_atoms(&sum[at], term) < 0)
        at++;
    if (at < *count && compare_atoms(&sum[at], term) == 0) {
        if (__builtin_add_overflow(sum[at].factor, term->factor, &sum[at].factor))
            return false;
        if (!sum[at].factor) {
            memmove(&sum[at], &sum[at + 1], (*count - at - 1) * sizeof *sum);
            --*count;
        }
        return true;
    }
    if (*count == MOST_MONOMIALS)
        return false;
    memmove(&sum[at + 1], &sum[at], (*count - at) * sizeof *sum);
    sum[at] = *term;
    ++*count;
    return true;
}

Quantity quantity_add(Quantities *quantities, Quantity a, Quantity b, int64_t times) {
    Monomial sum[MOST_MONOMIALS];
    if (a == QUANTITY_NONE || b == QUANTITY_NONE)
        return QUANTITY_NONE;
    uint32_t count = quantities->all[a].count;
    memcpy(sum, quantities->all[a].terms, count * sizeof *sum);
    const Polynomial other = quantities->all[b];
    for (uint32_t i = 0; times && i < other.count; i++) {
        Monomial term = other.terms[i];
        if (__builtin_mul_overflow(term.factor, times, &term.factor) || !add_term(sum, &count, &term))
            return QUANTITY_NONE;
    }
    return enter(quantities, sum, count);
}

/* a * b, with its atoms in order; false if there are too many. */
static bool multiply_terms(const Monomial *a, const Monomial *b, Monomial *product) {
    *product = (Monomial){.count = 0};
    if (a->count + b->count > MOST_FACTORS || __builtin_mul_overflow(a->factor, b->factor, &product->factor))
        return false;
    for (unsigned i = 0, k = 0; i < a->count || k < b->count;)
        product->atoms[product->count++] =
            k == b->count || (i < a->count && a->atoms[i] <= b->atoms[k]) ? a->atoms[i++] : b->atoms[k++];
    return true;
}

Quantity quantity_multiply(Quantities *quantities, Quantity a, Quantity b) {
    Monomial sum[MOST_MONOMIALS], product;
    uint32_t count = 0;
    if (a == QUANTITY_NONE || b == QUANTITY_NONE)
        return QUANTITY_NONE;
    const Polynomial left = quantities->all[a], right = quantities->all[b];
    for (uint32_t i = 0; i < left.count; i++)
        for (uint32_t k = 0; k < right.count; k++)
            if (!multiply_terms(&left.terms[i], &right.terms[k], &product) || !add_term(sum, &count, &product))
                return QUANTITY_NONE;
    return enter(quantities, sum, count);
}

/* ---- Atoms ---------------------------------------------------------------------------------------- */

static bool same_atom(const QuantityAtom *a, const QuantityAtom *b) {
    return a->kind == b->kind && a->axis == b->axis && a->of == b->of && a->extent == b->extent && a->a == b->a &&
           a->b == b->b && a->key == b->key;
}

/* What its operands have. */
static void inherit(const Quantities *quantities, QuantityAtom *atom) {
    const Quantity operands[] = {atom->a, atom->b};
    for (unsigned i = 0; i < 2; i++) {
        atom->varies |= quantity_varies(quantities, operands[i]);
        atom->data |= quantity_has_data(quantities, operands[i]);
        atom->open |= quantity_is_open(quantities, operands[i]);
    }
}

Quantity quantity_atom(Quantities *quantities, const QuantityAtom *wanted) {
    QuantityAtom atom = *wanted;
    uint32_t at = 0;
    if (atom.a == QUANTITY_NONE || atom.b == QUANTITY_NONE)
        return QUANTITY_NONE;
    while (at < quantities->atom_count && !same_atom(&quantities->atoms[at], &atom))
        at++;
    if (at == MOST_ATOMS)
        return QUANTITY_NONE;
    if (at == quantities->atom_count) {
        atom.varies |= atom.kind == ATOM_PROGRAM || atom.kind == ATOM_LANE || atom.kind == ATOM_TRIP ||
                       atom.kind == ATOM_DATA || atom.kind == ATOM_THREAD;
        atom.data |= atom.kind == ATOM_DATA;
        inherit(quantities, &atom);
        quantities->anywhere[at] = atom_interval(quantities, &atom, NULL, quantities->anywhere);
        quantities->atoms[quantities->atom_count++] = atom;
    }
    return enter(quantities, &(Monomial){.factor = 1, .count = 1, .atoms = {(uint16_t)at}}, 1);
}

static bool any_atom(const Quantities *quantities, Quantity quantity, bool (*is)(const QuantityAtom *atom)) {
    const Polynomial *of = quantity == QUANTITY_NONE ? NULL : &quantities->all[quantity];
    for (uint32_t i = 0; of && i < of->count; i++)
        for (unsigned k = 0; k < of->terms[i].count; k++)
            if (is(&quantities->atoms[of->terms[i].atoms[k]]))
                return true;
    return !of;
}

static bool atom_varies(const QuantityAtom *atom) {
    return atom->varies;
}
static bool atom_has_data(const QuantityAtom *atom) {
    return atom->data;
}
static bool atom_is_open(const QuantityAtom *atom) {
    return atom->open;
}

bool quantity_varies(const Quantities *quantities, Quantity quantity) {
    return any_atom(quantities, quantity, atom_varies);
}
bool quantity_has_data(const Quantities *quantities, Quantity quantity) {
    return any_atom(quantities, quantity, atom_has_data);
}
bool quantity_is_open(const Quantities *quantities, Quantity quantity) {
    return any_atom(quantities, quantity, atom_is_open);
}

bool quantity_mentions(const Quantities *quantities, Quantity quantity, uint32_t atom) {
    const Polynomial *of = quantity == QUANTITY_NONE ? NULL : &quantities->all[quantity];
    for (uint32_t i = 0; of && i < of->count; i++)
        for (unsigned k = 0; k < of->terms[i].count; k++) {
            uint32_t at = of->terms[i].atoms[k];
            const QuantityAtom *inner = &quantities->atoms[at];
            if (at == atom || (at > atom && (quantity_mentions(quantities, inner->a, atom) ||
                                             quantity_mentions(quantities, inner->b, atom))))
                return true;
        }
    return !of;
}

/* ---- Quotients ------------------------------------------------------------------------------------ */

/* term = divisor * *quotient. */
static bool divides(const Monomial *divisor, const Monomial *term, Monomial *quotient) {
    unsigned k = 0;
    *quotient = (Monomial){.factor = term->factor / divisor->factor};
    for (unsigned i = 0; i < term->count; i++)
        if (k < divisor->count && divisor->atoms[k] == term->atoms[i])
            k++;
        else
            quotient->atoms[quotient->count++] = term->atoms[i];
    return k == divisor->count && term->factor % divisor->factor == 0;
}

/* a = b * *whole + *rest, with as much in the first as the divisor shows, if it is one monomial. */
static void split_off(Quantities *quantities, Quantity a, Quantity b, Quantity *whole, Quantity *rest) {
    Monomial quotients[MOST_MONOMIALS], rests[MOST_MONOMIALS];
    uint32_t quotient_count = 0, rest_count = 0;
    const Polynomial of = quantities->all[a], by = quantities->all[b];
    for (uint32_t i = 0; i < of.count; i++) {
        Monomial quotient;
        if (by.count == 1 && by.terms[0].factor > 0 && divides(&by.terms[0], &of.terms[i], &quotient))
            add_term(quotients, &quotient_count, &quotient);
        else
            rests[rest_count++] = of.terms[i];
    }
    *whole = enter(quantities, quotients, quotient_count);
    *rest = enter(quantities, rests, rest_count);
}

/* Whether 0 <= a < b at every launch. */
static bool is_less(const Quantities *quantities, Quantity a, Quantity b) {
    int64_t by;
    if (!quantity_is_constant(quantities, b, &by))
        return a == QUANTITY_ZERO;
    Interval interval = quantity_interval(quantities, quantities->anywhere, a);
    return interval.least >= 0 && interval.most < by;
}

static Quantity quotient_or_rest(Quantities *quantities, Quantity a, Quantity b, AtomKind kind) {
    Quantity whole, rest, result;
    if (a == QUANTITY_NONE || b == QUANTITY_NONE || b == QUANTITY_ZERO)
        return QUANTITY_NONE;
    quantity_bound(quantities, a, 0, BOUND_NONE);
    quantity_bound(quantities, b, 1, BOUND_NONE);
    if (quantity_interval(quantities, quantities->anywhere, b).most <= 1) /* then it is 1 */
        return kind == ATOM_DIVIDE ? a : QUANTITY_ZERO;
    split_off(quantities, a, b, &whole, &rest);
    if (is_less(quantities, rest, b)) {
        result = kind == ATOM_DIVIDE ? QUANTITY_ZERO : rest;
    } else {
        /* a remainder of what may be negative without its whole part is not what is left of it */
        if (quantity_interval(quantities, quantities->anywhere, rest).least < 0) {
            whole = QUANTITY_ZERO;
            rest = a;
        }
        result = quantity_atom(quantities, &(QuantityAtom){.kind = kind, .a = rest, .b = b});
    }
    return kind == ATOM_DIVIDE ? quantity_add(quantities, result, whole, 1) : result;
}

Quantity quantity_divide(Quantities *quantities, Quantity a, Quantity b) {
    return quotient_or_rest(quantities, a, b, ATOM_DIVIDE);
}
Quantity quantity_remainder(Quantities *quantities, Quantity a, Quantity b) {
    return quotient_or_rest(quantities, a, b, ATOM_REMAINDER);
}

static Quantity one_of_two(Quantities *quantities, Quantity a, Quantity b, AtomKind kind) {
    int64_t x;
    Quantity difference = quantity_add(quantities, a, b, -1);
    if (difference == QUANTITY_NONE)
        return QUANTITY_NONE;
    if (quantity_is_constant(quantities, difference, &x))
        return (x < 0) == (kind == ATOM_MINIMUM) ? a : b;
    return quantity_atom(quantities, &(QuantityAtom){.kind = kind, .a = a < b ? a : b, .b = a < b ? b : a});
}

Quantity quantity_minimum(Quantities *quantities, Quantity a, Quantity b) {
    return one_of_two(quantities, a, b, ATOM_MINIMUM);
}
Quantity quantity_maximum(Quantities *quantities, Quantity a, Quantity b) {
    return one_of_two(quantities, a, b, ATOM_MAXIMUM);
}

Quantity quantity_into_minimum(Quantities *quantities, Quantity quantity) {
    const Polynomial of = quantity == QUANTITY_NONE ? (Polynomial){0} : quantities->all[quantity];
    for (uint32_t i = 0; i < of.count; i++) {
        const QuantityAtom *atom = of.terms[i].count == 1 ? &quantities->atoms[of.terms[i].atoms[0]] : NULL;
        if (!atom || of.terms[i].factor != 1 || atom->kind != ATOM_MINIMUM)
            continue;
        const QuantityAtom least = *atom;
        Quantity rest = quantity_add(quantities, quantity, quantity_atom(quantities, &least), -1);
        return quantity_minimum(quantities, quantity_add(quantities, least.a, rest, 1),
                                quantity_add(quantities, least.b, rest, 1));
    }
    return quantity;
}

Quantity quantity_trips(Quantities *quantities, Quantity span, Quantity step) {
    Quantity least = quantity_maximum(quantities, span, QUANTITY_ZERO);
    Quantity up = quantity_add(quantities, quantity_add(quantities, least, step, 1), QUANTITY_ONE, -1);
    return quantity_divide(quantities, up, step);
}

void quantity_bound(Quantities *quantities, Quantity quantity, int64_t least, int64_t most) {
    if (quantity == QUANTITY_NONE)
        return;
    Interval interval = quantity_interval(quantities, quantities->anywhere, quantity);
    if (interval.least >= least && interval.most <= most)
        return;
    for (uint32_t i = 0; i < quantities->bound_count; i++)
        if (quantities->bounds[i].what == quantity) {
            QuantityBound *bound = &quantities->bounds[i];
            bound->least = larger(bound->least, least);
            bound->most = smaller(bound->most, most);
            return;
        }
    *ARENA_PUSH(quantities->arena, quantities->bounds, quantities->bound_count, quantities->bound_capacity) =
        (QuantityBound){.what = quantity, .least = least, .most = most};
}

void quantity_set_most(Quantities *quantities, Quantity quantity, Quantity most) {
    if (quantity != QUANTITY_NONE && most != QUANTITY_NONE && most < quantity) /* so that none waits for itself */
        quantities->all[quantity].most = most;
}

static Quantity substitute_atom(Quantities *quantities, uint32_t at, uint32_t atom, Quantity by) {
    const QuantityAtom old = quantities->atoms[at];
    if (at == atom)
        return by;
    if (at < atom || !(old.kind >= ATOM_TRIP && old.kind <= ATOM_MAXIMUM)) /* it is made of earlier ones */
        return quantity_atom(quantities, &old);
    Quantity a = quantity_substitute(quantities, old.a, atom, by), b = quantity_substitute(quantities, old.b, atom, by);
    switch (old.kind) {
    case ATOM_DIVIDE:
        return quantity_divide(quantities, a, b);
    case ATOM_REMAINDER:
        return quantity_remainder(quantities, a, b);
    case ATOM_MINIMUM:
        return quantity_minimum(quantities, a, b);
    case ATOM_MAXIMUM:
        return quantity_maximum(quantities, a, b);
    default:
        return a == old.a && b == old.b ? quantity_atom(quantities, &old) : QUANTITY_NONE;
    }
}

Quantity quantity_substitute(Quantities *quantities, Quantity quantity, uint32_t atom, Quantity by) {
    if (quantity == QUANTITY_NONE || by == QUANTITY_NONE)
        return QUANTITY_NONE;
    const Polynomial of = quantities->all[quantity];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor);
        for (unsigned k = 0; k < of.terms[i].count; k++)
            product =
                quantity_multiply(quantities, product, substitute_atom(quantities, of.terms[i].atoms[k], atom, by));
        sum = quantity_add(quantities, sum, product, 1);
    }
    return sum;
}

/* ---- At a launch ---------------------------------------------------------------------------------- */

static int64_t clipped(__int128 value) {
    return value > BOUND_NONE ? BOUND_NONE : value < -BOUND_NONE ? -BOUND_NONE : (int64_t)value;
}

static Interval product_of(Interval a, Interval b) {
    const __int128 corners[] = {(__int128)a.least * b.least, (__int128)a.least * b.most, (__int128)a.most * b.least,
                                (__int128)a.most * b.most};
    __int128 least = corners[0], most = corners[0];
    for (unsigned i = 1; i < 4; i++) {
        least = corners[i] < least ? corners[i] : least;
        most = corners[i] > most ? corners[i] : most;
    }
    return (Interval){clipped(least), clipped(most)};
}

static bool is_small(Interval of) {
    return of.least >= 0 && of.most <= INT32_MAX;
}

/* A term. Of small numbers that are not negative, as nearly all are, it needs no more than a multiplication for each
 * bound. */
static Interval term_interval(const Monomial *term, const Interval *atoms) {
    Interval product = {clipped(term->factor), clipped(term->factor)};
    for (unsigned k = 0; k < term->count; k++) {
        Interval by = atoms[term->atoms[k]];
        if (is_small(product) && is_small(by))
            product = (Interval){product.least * by.least, product.most * by.most};
        else if (product.least == product.most && product.least >= -INT32_MAX && product.least < 0 && is_small(by))
            product = (Interval){product.least * by.most, product.least * by.least};
        else
            product = product_of(product, by);
    }
    return product;
}

Interval quantity_interval(const Quantities *quantities, const Interval *atoms, Quantity quantity) {
    int64_t least = 0, most = 0;
    if (quantity == QUANTITY_NONE)
        return (Interval){-BOUND_NONE, BOUND_NONE};
    const Polynomial *of = &quantities->all[quantity];
    for (uint32_t i = 0; i < of->count; i++) { /* no bound is beyond 2^62: a sum of two fits */
        Interval product = term_interval(&of->terms[i], atoms);
        least = product.least == -BOUND_NONE || least == -BOUND_NONE ? -BOUND_NONE : least + product.least;
        most = product.most == BOUND_NONE || most == BOUND_NONE ? BOUND_NONE : most + product.most;
        least = least < -BOUND_NONE ? -BOUND_NONE : least > BOUND_NONE ? BOUND_NONE : least;
        most = most > BOUND_NONE ? BOUND_NONE : most < -BOUND_NONE ? -BOUND_NONE : most;
    }
    if (of->most != QUANTITY_ZERO) {
        int64_t other = quantity_interval(quantities, atoms, of->most).most;
        most = other < most ? other : most;
    }
    return (Interval){least, most};
}

static Interval quotient_interval(Interval a, Interval b) {
    int64_t least = larger(a.least, 0), divisor = larger(b.least, 1);
    return (Interval){b.most == BOUND_NONE ? 0 : least / larger(b.most, 1),
                      a.most == BOUND_NONE ? BOUND_NONE : larger(a.most, 0) / divisor};
}

static Interval remainder_interval(Interval a, Interval b) {
    if (a.least >= 0 && a.most < b.least)
        return a;
    int64_t most = b.most == BOUND_NONE ? BOUND_NONE : larger(b.most - 1, 0);
    return (Interval){0, smaller(most, larger(a.most, 0))};
}

static Interval trip_interval(Interval span, Interval step) {
    int64_t by = larger(step.least, 1);
    return (Interval){0, span.most == BOUND_NONE ? BOUND_NONE : larger(span.most - 1, 0) / by};
}

static Interval width_interval(unsigned width) {
    if (!width || width > 62)
        return (Interval){-BOUND_NONE, BOUND_NONE};
    if (width == 1)
        return (Interval){0, 1};
    return (Interval){-(INT64_C(1) << (width - 1)), (INT64_C(1) << (width - 1)) - 1};
}

static Interval exactly(int64_t value) {
    return (Interval){clipped(value), clipped(value)};
}

static const LaunchNumber *launch_argument(const LaunchNumbers *launch, uint32_t parameter) {
    return launch && parameter < launch->count ? &launch->arguments[parameter] : NULL;
}

/* What the hardware has. */
static int64_t most_threads(unsigned axis) {
    return axis == 2 ? 64 : 1024;
}

/* Of what a launch says itself. */
static Interval given_interval(const QuantityAtom *atom, const LaunchNumbers *launch) {
    const LaunchNumber *argument = launch_argument(launch, atom->of);
    bool dimension = argument && atom->axis < argument->rank;
    switch (atom->kind) {
    case ATOM_ARGUMENT: {
        Interval fits = width_interval(atom->width); /* another number wraps around into it */
        return argument && argument->known && argument->value >= fits.least && argument->value <= fits.most
                   ? exactly(argument->value)
                   : fits;
    }
    case ATOM_SHAPE:
        return dimension ? exactly(argument->shape[atom->axis]) : (Interval){0, BOUND_NONE};
    case ATOM_STRIDE:
        return dimension ? exactly(argument->strides[atom->axis]) : (Interval){-BOUND_NONE, BOUND_NONE};
    case ATOM_PROGRAMS:
        return launch ? exactly(launch->grid[atom->axis]) : (Interval){1, INT32_MAX};
    case ATOM_PROGRAM:
        return (Interval){0, launch ? larger(launch->grid[atom->axis] - 1, 0) : INT32_MAX - 1};
    case ATOM_LANE:
        return (Interval){0, atom->extent - 1};
    case ATOM_THREADS:
        return launch ? exactly(launch->block[atom->axis]) : (Interval){1, most_threads(atom->axis)};
    case ATOM_THREAD:
        return (Interval){0, launch ? larger(launch->block[atom->axis] - 1, 0) : most_threads(atom->axis) - 1};
    default:
        return width_interval(atom->width);
    }
}

static Interval atom_interval(const Quantities *quantities, const QuantityAtom *atom, const LaunchNumbers *launch,
                              const Interval *atoms) {
    Interval a = quantity_interval(quantities, atoms, atom->a), b = quantity_interval(quantities, atoms, atom->b);
    switch (atom->kind) {
    case ATOM_TRIP:
        return trip_interval(a, b);
    case ATOM_DIVIDE:
        return quotient_interval(a, b);
    case ATOM_REMAINDER:
        return remainder_interval(a, b);
    case ATOM_MINIMUM:
        return (Interval){smaller(a.least, b.least), smaller(a.most, b.most)};
    case ATOM_MAXIMUM:
        return (Interval){larger(a.least, b.least), larger(a.most, b.most)};
    default:
        return given_interval(atom, launch);
    }
}

void quantities_at(const Quantities *quantities, const LaunchNumbers *launch, Interval atoms[MOST_ATOMS]) {
    for (uint32_t i = 0; i < quantities->atom_count; i++) {
        const QuantityAtom *atom = &quantities->atoms[i];
        if (!quantities->settled || atom->needed)
            atoms[i] = launch ? atom_interval(quantities, atom, launch, atoms) : quantities->anywhere[i];
    }
}

void quantities_refine(const Quantities *quantities, Interval atoms[MOST_ATOMS]) {
    for (uint32_t i = 0; i < quantities->atom_count; i++) {
        if (quantities->atoms[i].kind < ATOM_TRIP || quantities->atoms[i].kind > ATOM_MAXIMUM)
            continue;
        Interval made = atom_interval(quantities, &quantities->atoms[i], NULL, atoms);
        atoms[i].least = larger(made.least, atoms[i].least);
        atoms[i].most = smaller(made.most, atoms[i].most);
    }
}

void quantity_need(Quantities *quantities, Quantity quantity) {
    const Polynomial *of = quantity == QUANTITY_NONE ? NULL : &quantities->all[quantity];
    for (uint32_t i = 0; of && i < of->count; i++)
        for (unsigned k = 0; k < of->terms[i].count; k++) {
            QuantityAtom *atom = &quantities->atoms[of->terms[i].atoms[k]];
            if (atom->needed)
                continue;
            atom->needed = true;
            quantity_need(quantities, atom->a);
            quantity_need(quantities, atom->b);
        }
    if (of && of->most != QUANTITY_ZERO)
        quantity_need(quantities, of->most);
}

void quantities_settle(Quantities *quantities) {
    for (uint32_t i = 0; i < quantities->bound_count; i++)
        quantity_need(quantities, quantities->bounds[i].what);
    quantities->settled = true;
}

/* ---- For people ----------------------------------------------------------------------------------- */

static void print_atom(const Quantities *quantities, const QuantityAtom *atom, Text *to);

static bool is_simple(const Quantities *quantities, Quantity quantity) {
    const Polynomial *of = &quantities->all[quantity];
    return !of->count ||
           (of->count == 1 && of->terms[0].count + (of->terms[0].factor != 1 || !of->terms[0].count) <= 1);
}

static void print_inner(const Quantities *quantities, Quantity quantity, Text *to) {
    bool simple = is_simple(quantities, quantity);
    text_addf(to, "%s", simple ? "" : "(");
    quantity_print(quantities, quantity, to);
    text_addf(to, "%s", simple ? "" : ")");
}

static void print_binary(const Quantities *quantities, const QuantityAtom *atom, const char *sign, Text *to) {
    text_addf(to, "(");
    print_inner(quantities, atom->a, to);
    text_addf(to, " %s ", sign);
    print_inner(quantities, atom->b, to);
    text_addf(to, ")");
}

static void print_call(const Quantities *quantities, const QuantityAtom *atom, const char *name, Text *to) {
    text_addf(to, "%s(", name);
    quantity_print(quantities, atom->a, to);
    text_addf(to, ", ");
    quantity_print(quantities, atom->b, to);
    text_addf(to, ")");
}

static void print_atom(const Quantities *quantities, const QuantityAtom *atom, Text *to) {
    const char *name = quantities->parameters && atom->kind <= ATOM_STRIDE ? quantities->parameters[atom->of] : "?";
    switch (atom->kind) {
    case ATOM_ARGUMENT:
        text_plainf(to, "%s", name);
        break;
    case ATOM_SHAPE:
        text_plainf(to, "%s.shape[%u]", name, (unsigned)atom->axis);
        break;
    case ATOM_STRIDE:
        text_plainf(to, "%s.strides[%u]", name, (unsigned)atom->axis);
        break;
    case ATOM_PROGRAMS:
        text_addf(to, "grid.%c", "xyz"[atom->axis % 3]);
        break;
    case ATOM_PROGRAM:
        text_addf(to, "pid.%c", "xyz"[atom->axis % 3]);
        break;
    case ATOM_LANE:
        text_addf(to, "lane%u", atom->axis);
        break;
    case ATOM_TRIP:
        text_addf(to, "trip@%u", atom->of);
        break;
    case ATOM_DIVIDE:
        print_binary(quantities, atom, "/", to);
        break;
    case ATOM_REMAINDER:
        print_binary(quantities, atom, "%", to);
        break;
    case ATOM_MINIMUM:
        print_call(quantities, atom, "min", to);
        break;
    case ATOM_MAXIMUM:
        print_call(quantities, atom, "max", to);
        break;
    case ATOM_DATA:
        text_addf(to, "data@%u", atom->of);
        break;
    case ATOM_THREADS:
        text_addf(to, "block.%c", "xyz"[atom->axis % 3]);
        break;
    case ATOM_THREAD:
        text_addf(to, "tid.%c", "xyz"[atom->axis % 3]);
        break;
    case ATOM_ADDRESS:
        text_addf(to, "variable@%u", atom->of);
        break;
    }
}

static void print_term(const Quantities *quantities, const Monomial *term, bool first, Text *to) {
    int64_t factor = term->factor;
    text_addf(to, "%s", first ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ");
    bool shown = !term->count || (factor != 1 && factor != -1);
    if (shown)
        text_addf(to, "%" PRIu64, factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor);
    for (unsigned i = 0; i < term->count; i++) {
        text_addf(to, "%s", shown || i ? " * " : "");
        print_atom(quantities, &quantities->atoms[term->atoms[i]], to);
    }
}

void quantity_print(const Quantities *quantities, Quantity quantity, Text *to) {
    enum { LONGEST = 600 };
    if (quantity == QUANTITY_NONE) {
        text_addf(to, "?");
        return;
    }
    const Polynomial *of = &quantities->all[quantity];
    if (!of->count)
        text_addf(to, "0");
    for (uint32_t i = 0; i < of->count && to->size < LONGEST; i++) /* the constant last */
        print_term(quantities, &of->terms[of->count - 1 - i], i == 0, to);
}
