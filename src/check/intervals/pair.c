/* Why two accesses of two threads are never to the same bytes: they would have to fulfill conditions that exclude each
 * other. What cannot be excluded at every launch is tried with preconditions; those that are not needed are left out.
 */
#include "check/intervals/internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_SPLITS = 24, MOST_NODES = 500, MOST_CANDIDATES = 40, MOST_RATIOS = 8 };

/* ---- Splits ---------------------------------------------------------------------------------------- */

/* A difference of the two threads, times what both agree in: a(first) - b(second). It is less than 0, 0, or more. */
typedef struct PairSplit {
    Quantity a, b;
    Monomial by; /* factor 1 */
} PairSplit;

typedef struct ThreadPair {
    Intervals *k;
    const Visit *visits[2];
    bool one_cta;
    PairSplit splits[MOST_SPLITS];
    unsigned split_count;
    unsigned nodes;
    bool strides; /* sizes of the CTA and the grid are no factors, but belong to what they are multiplied with */
} ThreadPair;

static int64_t divisor_of(int64_t a, int64_t b) {
    a = llabs(a);
    b = llabs(b);
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t content_of(const Quantities *quantities, Quantity number, int64_t content) {
    const Polynomial *of = &quantities->all[number];
    for (uint32_t i = 0; i < of->count; i++)
        content = divisor_of(content, of->terms[i].factor);
    return content;
}

static Quantity term_of(Quantities *quantities, const Monomial *term) {
    Quantity product = quantity_constant(quantities, term->factor);
    for (unsigned i = 0; i < term->count; i++)
        product = quantity_multiply(quantities, product, quantity_atom(quantities, &quantities->atoms[term->atoms[i]]));
    return product;
}

static Quantity divided(Quantities *quantities, Quantity number, int64_t by) {
    const Polynomial of = quantities->all[number];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Monomial term = of.terms[i];
        term.factor /= by;
        sum = quantity_add(quantities, sum, term_of(quantities, &term), 1);
    }
    return sum;
}

static void add_split(ThreadPair *pair, Quantity a, Quantity b, const Monomial *by) {
    Quantities *quantities = quantities_in(pair->k);
    int64_t content = content_of(quantities, a, content_of(quantities, b, 0));
    if (pair->split_count == MOST_SPLITS || !content)
        return;
    a = divided(quantities, a, content);
    b = divided(quantities, b, content);
    for (unsigned i = 0; i < pair->split_count; i++) {
        const PairSplit *other = &pair->splits[i];
        if (other->a == a && other->b == b && other->by.count == by->count &&
            memcmp(other->by.atoms, by->atoms, by->count * sizeof *by->atoms) == 0)
            return;
    }
    if (a != QUANTITY_NONE && b != QUANTITY_NONE)
        pair->splits[pair->split_count++] = (PairSplit){a, b, *by};
}

/* The two parts of a term: what both threads agree in, and the rest, with the factor. */
static void part(ThreadPair *pair, const PairSystem *system, const Monomial *term, Monomial *shared, Monomial *own) {
    const Quantities *quantities = quantities_in(pair->k);
    *shared = (Monomial){.factor = 1};
    *own = (Monomial){.factor = term->factor};
    for (unsigned i = 0; i < term->count; i++) {
        AtomKind kind = quantities->atoms[term->atoms[i]].kind;
        bool size = kind == ATOM_THREADS || kind == ATOM_PROGRAMS || kind == ATOM_PROGRAM;
        Monomial *to = system_shares(system, term->atoms[i]) && !(pair->strides && size) ? shared : own;
        to->atoms[to->count++] = term->atoms[i];
    }
}

static bool same_atoms(const Monomial *a, const Monomial *b) {
    return a->count == b->count && memcmp(a->atoms, b->atoms, a->count * sizeof *a->atoms) == 0;
}

/* What an offset has of a factor that both agree in. */
static Quantity part_by(ThreadPair *pair, const PairSystem *system, Quantity offset, const Monomial *by) {
    Quantities *quantities = quantities_in(pair->k);
    const Polynomial of = quantities->all[offset];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Monomial shared, own;
        part(pair, system, &of.terms[i], &shared, &own);
        if (same_atoms(&shared, by) && (by->count || own.count))
            sum = quantity_add(quantities, sum, term_of(quantities, &own), 1);
    }
    return sum;
}

/* Terms of a number with that factor, up to its sign; 0: with an atom at all. */
static Quantity digit_of(ThreadPair *pair, Quantity number, int64_t factor) {
    Quantities *quantities = quantities_in(pair->k);
    const Polynomial of = quantities->all[number];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++)
        if (of.terms[i].count && llabs(of.terms[i].factor) == factor)
            sum = quantity_add(quantities, sum, term_of(quantities, &of.terms[i]), 1);
    return sum;
}

/* A number by the size of its factors: the largest first. */
static void add_digits(ThreadPair *pair, Quantity a, Quantity b, const Monomial *by) {
    Quantities *quantities = quantities_in(pair->k);
    const Quantity sides[2] = {a, b};
    int64_t last = INT64_MAX;
    for (unsigned n = 0; n < 8; n++) {
        int64_t next = 0;
        for (unsigned side = 0; side < 2; side++) {
            const Polynomial *of = &quantities->all[sides[side]];
            for (uint32_t i = 0; i < of->count; i++) {
                int64_t factor = llabs(of->terms[i].factor);
                if (of->terms[i].count && factor < last && factor > next)
                    next = factor;
            }
        }
        if (!next)
            return;
        add_split(pair, digit_of(pair, a, next), digit_of(pair, b, next), by);
        last = next;
    }
}

/* All differences that the offsets are made of: those with the longest factors first. */
static void find_splits_by(ThreadPair *pair, const PairSystem *system) {
    Quantities *quantities = quantities_in(pair->k);
    const Quantity offsets[2] = {pair->visits[0]->offset, pair->visits[1]->offset};
    static const Monomial one = {.factor = 1};
    for (int degree = 4; degree >= 0; degree--)
        for (unsigned side = 0; side < 2; side++) {
            const Polynomial of = quantities->all[offsets[side]];
            for (uint32_t i = 0; i < of.count; i++) {
                Monomial shared, own;
                part(pair, system, &of.terms[i], &shared, &own);
                if (shared.count != degree)
                    continue;
                Quantity a = part_by(pair, system, offsets[0], &shared), b = part_by(pair, system, offsets[1], &shared);
                add_split(pair, a, b, &shared);
                add_digits(pair, a, b, &shared);
                add_digits(pair, a, b, &one);
            }
        }
}

static bool is_in_offset(ThreadPair *pair, uint32_t atom) {
    const Quantities *quantities = quantities_in(pair->k);
    return quantity_mentions(quantities, pair->visits[0]->offset, atom) ||
           quantity_mentions(quantities, pair->visits[1]->offset, atom);
}

static Quantity odd_of(ThreadPair *pair, uint32_t atom) {
    Quantities *quantities = quantities_in(pair->k);
    Quantity self = quantity_atom(quantities, &quantities->atoms[atom]);
    return quantity_add(quantities, quantity_constant(quantities, -1), self, 2);
}

static void find_splits(ThreadPair *pair, const PairSystem *system) {
    static const Monomial one = {.factor = 1};
    for (unsigned i = 0; i < 2; i++) {
        pair->strides = i == 0;
        find_splits_by(pair, system);
    }
    for (uint32_t i = 0; i < quantities_in(pair->k)->atom_count; i++) /* 0 or 1: 2 x - 1 is never 0 */
        if (quantities_in(pair->k)->atoms[i].kind == ATOM_DATA && system_shares(system, i) && is_in_offset(pair, i))
            add_split(pair, odd_of(pair, i), QUANTITY_ZERO, &one);
    for (unsigned axis = 0; axis < 3; axis++) {
        QuantityAtom atom = {.kind = pair->one_cta ? ATOM_THREAD : ATOM_PROGRAM, .axis = (uint8_t)axis};
        Quantity self = quantity_atom(quantities_in(pair->k), &atom);
        add_split(pair, self, self, &one);
    }
}

/* times * (a - b) + constant <= 0, or == 0, all of it times the factor. */
static void add_difference(PairSystem *system, const PairSplit *split, const Monomial *by, int64_t times,
                           int64_t constant, bool equal) {
    system_begin(system);
    system_term_by(system, split->a, 0, times, by);
    system_term_by(system, split->b, 1, -times, by);
    system_term_by(system, QUANTITY_ONE, 0, constant, by);
    system_row(system, 0, equal);
}

static bool refute(ThreadPair *pair, PairSystem *system, unsigned at);

/* One of the three: sign is -1, 0 or 1. */
static bool refute_branch(ThreadPair *pair, const PairSystem *from, unsigned at, int sign) {
    static const Monomial one = {.factor = 1};
    const PairSplit *split = &pair->splits[at];
    PairSystem *system = system_copy(from);
    add_difference(system, split, &one, sign ? -sign : 1, sign ? 1 : 0, !sign);
    if (split->by.count && (!sign || system_is_positive(system, &split->by)))
        add_difference(system, split, &split->by, sign ? -sign : 1, sign ? 1 : 0, !sign);
    system_close(system);
    return refute(pair, system, at + 1);
}

static bool refute(ThreadPair *pair, PairSystem *system, unsigned at) {
    if (system_refuted(system))
        return true;
    if (at == pair->split_count || ++pair->nodes > MOST_NODES || prover_is_late(&pair->k->prover))
        return false;
    return refute_branch(pair, system, at, 1) && refute_branch(pair, system, at, -1) &&
           refute_branch(pair, system, at, 0);
}

/* ---- One pair -------------------------------------------------------------------------------------- */

static const ThreadAccess *access_of(const ThreadPair *pair, unsigned side) {
    return &pair->k->accesses[pair->visits[side]->access];
}

/* The bytes of both have some in common. */
static void add_overlap(ThreadPair *pair, PairSystem *system) {
    for (unsigned side = 0; side < 2; side++) { /* offset of this one - that of the other < bytes of the other */
        system_begin(system);
        system_term(system, pair->visits[side]->offset, side, 1);
        system_term(system, pair->visits[1 - side]->offset, 1 - side, -1);
        system_row(system, 1 - access_of(pair, 1 - side)->bytes, false);
    }
}

/* Parameters that numbers are multiplied with, and that are shown not to be negative. */
static void find_positive(ThreadPair *pair, PairSystem *system) {
    Quantities *quantities = quantities_in(pair->k);
    for (uint32_t i = 0; i < quantities->atom_count; i++) {
        if (quantities->atoms[i].kind != ATOM_ARGUMENT || quantities->atoms[i].width != 32)
            continue;
        PairSystem *negative = system_copy(system);
        system_begin(negative);
        system_term(negative, quantity_atom(quantities, &quantities->atoms[i]), 0, 1);
        system_row(negative, 1, false);
        if (system_refuted(negative))
            system_set_positive(system, i);
    }
}

/* What holds where the accesses are made, times the factors of the offsets. */
static void add_products(ThreadPair *pair, PairSystem *system) {
    system_follow(system, true);
    for (unsigned i = 0; i < pair->split_count; i++) {
        const Monomial *by = &pair->splits[i].by;
        if (!by->count || !system_is_positive(system, by) || (i && same_atoms(by, &pair->splits[i - 1].by)))
            continue;
        for (unsigned side = 0; side < 2; side++) {
            const PairFacts *facts = &pair->visits[side]->context->facts;
            for (uint32_t n = 0; n < facts->count; n++) {
                if (facts->all[n].kind == FACT_NOT_ZERO || quantities_in(pair->k)->all[facts->all[n].left].count > 5)
                    continue;
                system_begin(system);
                system_term_by(system, facts->all[n].left, side, 1, by);
                system_row(system, 0, facts->all[n].kind == FACT_ZERO);
            }
        }
    }
    system_follow(system, false);
}

/* What makes the two threads (or CTAs) two: they are equal along the axes before, and differ along this one. */
static bool refute_case(ThreadPair *pair, const PairSystem *from, unsigned axis, int sign) {
    Quantities *quantities = quantities_in(pair->k);
    PairSystem *system = system_copy(from);
    AtomKind kind = pair->one_cta ? ATOM_THREAD : ATOM_PROGRAM;
    for (unsigned i = 0; i <= axis; i++) {
        Quantity place = quantity_atom(quantities, &(QuantityAtom){.kind = kind, .axis = (uint8_t)i});
        system_begin(system);
        system_term(system, place, 0, i < axis ? 1 : -sign);
        system_term(system, place, 1, i < axis ? -1 : sign);
        system_row(system, i < axis ? 0 : 1, i < axis);
    }
    system_close(system);
    return refute(pair, system, 0);
}

static bool are_apart(ThreadPair *pair) {
    Intervals *k = pair->k;
    arena_reset(&k->pair);
    pair->split_count = pair->nodes = 0;
    PairSystem *system = system_new(k, &k->pair, pair->one_cta);
    for (unsigned side = 0; side < 2; side++)
        system_facts(system, &pair->visits[side]->context->facts, side);
    system_facts(system, &k->launch, 0);
    system_close(system);
    find_positive(pair, system);
    add_overlap(pair, system);
    find_splits(pair, system);
    add_products(pair, system);
    system_close(system);
    if (system_refuted(system))
        return true;
    for (unsigned axis = 0; axis < 3; axis++)
        for (int sign = 1; sign >= (pair->visits[0] == pair->visits[1] ? 1 : -1); sign -= 2)
            if (!refute_case(pair, system, axis, sign))
                return false;
    return true;
}

/* ---- Preconditions --------------------------------------------------------------------------------- */

typedef struct Preconditions {
    Intervals *k;
    Condition all[MOST_CANDIDATES];
    unsigned count;
    bool taken[MOST_CANDIDATES];
} Preconditions;

static Quantity size_along(Intervals *k, AtomKind kind, unsigned axis) {
    return quantity_atom(quantities_in(k), &(QuantityAtom){.kind = kind, .axis = (uint8_t)axis});
}

static void add_candidate(Preconditions *to, ConditionKind kind, Quantity a, Quantity b) {
    Intervals *k = to->k;
    Condition condition = {.kind = kind, .a = a, .b = b};
    if (to->count == MOST_CANDIDATES || a == QUANTITY_NONE || b == QUANTITY_NONE ||
        quantity_varies(quantities_in(k), a) || quantity_varies(quantities_in(k), b) ||
        condition_holds(quantities_in(k), quantities_in(k)->anywhere, &condition))
        return;
    for (unsigned i = 0; i < to->count; i++)
        if (to->all[i].kind == kind && to->all[i].a == a && to->all[i].b == b)
            return;
    to->all[to->count++] = condition;
}

static bool mentions_axis(Intervals *k, Quantity number, AtomKind kind, unsigned axis) {
    const Quantities *quantities = quantities_in(k);
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        if (quantities->atoms[i].kind == kind && quantities->atoms[i].axis == axis &&
            quantity_mentions(quantities, number, i))
            return true;
    return false;
}

static void add_one_limit(Preconditions *to, unsigned axis, int64_t most) {
    Intervals *k = to->k;
    if (most >= 2 && most < 1024)
        add_candidate(to, CONDITION_AT_LEAST, quantity_constant(quantities_in(k), most),
                      size_along(k, ATOM_THREADS, axis));
}

/* The size of the CTA along an axis is at most so many, or a power of two near that. */
static void add_limit(Preconditions *to, unsigned axis, int64_t most) {
    int64_t power = 1;
    if (to->k->pinned[0][axis] || most < 2)
        return;
    while (power * 2 <= most)
        power *= 2;
    add_one_limit(to, axis, most);
    for (int64_t limit = power * 2; limit > 1 && limit >= power / 4; limit /= 2)
        add_one_limit(to, axis, limit);
}

/* Limits of the CTA's sizes by how many times one factor of an offset is in another. */
static void add_limits(Preconditions *to, Quantity offset) {
    Intervals *k = to->k;
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[offset];
    int64_t ratios[MOST_RATIOS];
    unsigned count = 0;
    for (uint32_t i = 0; i < of.count; i++)
        for (uint32_t n = 0; n < of.count; n++) {
            int64_t above = llabs(of.terms[i].factor), below = llabs(of.terms[n].factor);
            if (!of.terms[i].count || !of.terms[n].count || above <= below || above % below)
                continue;
            bool there = false;
            for (unsigned r = 0; r < count; r++)
                there |= ratios[r] == above / below;
            if (!there && count < MOST_RATIOS)
                ratios[count++] = above / below;
        }
    for (unsigned axis = 0; axis < 3; axis++)
        for (unsigned r = 0; r < count; r++)
            if (mentions_axis(k, offset, ATOM_THREAD, axis))
                add_limit(to, axis, ratios[r]);
}

/* The most (or least) that a number can be, by the sizes of the launch; QUANTITY_NONE: that is not said. */
static Quantity end_of(Intervals *k, Quantity number, bool most) {
    Quantities *quantities = quantities_in(k);
    const Polynomial of = quantities->all[number];
    Quantity sum = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor);
        for (unsigned n = 0; n < of.terms[i].count; n++) {
            const QuantityAtom atom = quantities->atoms[of.terms[i].atoms[n]];
            Quantity self = quantity_atom(quantities, &atom);
            bool up = (of.terms[i].factor > 0) == most;
            if (atom.kind == ATOM_THREAD || atom.kind == ATOM_PROGRAM) {
                Quantity size = size_along(k, atom.kind == ATOM_THREAD ? ATOM_THREADS : ATOM_PROGRAMS, atom.axis);
                if (atom.kind == ATOM_THREAD && k->fixed[atom.axis])
                    size = quantity_constant(quantities, k->fixed[atom.axis]);
                self = up ? quantity_add(quantities, size, QUANTITY_ONE, -1) : QUANTITY_ZERO;
            } else if (atom.varies) {
                return QUANTITY_NONE;
            }
            product = quantity_multiply(quantities, product, self);
        }
        sum = quantity_add(quantities, sum, product, 1);
    }
    return sum;
}

/* That a factor of the offsets is larger than all that is in them without it. */
static void add_strides(Preconditions *to, ThreadPair *pair, const PairSystem *system) {
    Intervals *k = to->k;
    Quantities *quantities = quantities_in(k);
    pair->strides = true;
    for (unsigned i = 0; i < pair->split_count; i++) {
        const Monomial by = pair->splits[i].by;
        bool argument = by.count > 0;
        for (unsigned n = 0; n < by.count; n++)
            argument &= quantities->atoms[by.atoms[n]].kind == ATOM_ARGUMENT;
        if (!argument)
            continue;
        Quantity most = QUANTITY_ZERO;
        Monomial longer = {.factor = 0};
        for (unsigned side = 0; side < 2; side++) {
            const Polynomial of = quantities->all[pair->visits[side]->offset];
            Quantity below = QUANTITY_ZERO;
            for (uint32_t n = 0; n < of.count; n++) {
                Monomial shared, own;
                part(pair, system, &of.terms[n], &shared, &own);
                if (shared.count < by.count && own.count)
                    below = quantity_add(quantities, below, term_of(quantities, &of.terms[n]), 1);
                else if (same_atoms(&shared, &by) && (!longer.factor || llabs(own.factor) < longer.factor))
                    longer.factor = llabs(own.factor);
            }
            Quantity upper = end_of(k, below, true), lower = end_of(k, below, false);
            if (upper == QUANTITY_NONE || lower == QUANTITY_NONE)
                return;
            most = side ? most : quantity_add(quantities, upper, lower, -1);
        }
        Monomial factor = by;
        factor.factor = longer.factor ? longer.factor : 1;
        int64_t bytes = access_of(pair, 0)->bytes;
        int64_t content = content_of(quantities, most, factor.factor);
        if (!content)
            continue;
        factor.factor /= content;
        if (bytes % content == 0)
            add_candidate(to, CONDITION_AT_LEAST, term_of(quantities, &factor),
                          quantity_add(quantities, divided(quantities, most, content),
                                       quantity_constant(quantities, bytes / content), 1));
    }
}

static int64_t constant_in(const Quantities *quantities, Quantity number) {
    const Polynomial *of = &quantities->all[number];
    return of->count && !of->terms[0].count ? of->terms[0].factor : 0;
}

/* Limits by how far two offsets are apart. */
static void add_distance(Preconditions *to, const ThreadPair *pair) {
    Intervals *k = to->k;
    Quantities *quantities = quantities_in(k);
    Quantity a = pair->visits[0]->offset, b = pair->visits[1]->offset;
    int64_t distance = llabs(constant_in(quantities, a) - constant_in(quantities, b));
    const Polynomial of = quantities->all[a];
    for (uint32_t i = 0; i < of.count && distance; i++)
        for (unsigned axis = 0; axis < 3; axis++) {
            const Monomial *term = &of.terms[i];
            const QuantityAtom *atom = term->count == 1 ? &quantities->atoms[term->atoms[0]] : NULL;
            if (atom && atom->kind == ATOM_THREAD && atom->axis == axis && distance % term->factor == 0)
                add_limit(to, axis, distance / llabs(term->factor));
        }
}

static void find_candidates(Preconditions *to, ThreadPair *pair, const PairSystem *system) {
    Intervals *k = to->k;
    Quantities *quantities = quantities_in(k);
    add_strides(to, pair, system);
    add_distance(to, pair);
    for (unsigned side = 0; side < 2; side++)
        add_limits(to, pair->visits[side]->offset);
    for (unsigned i = 0; i < pair->split_count; i++)
        for (unsigned n = 0; n < pair->splits[i].by.count; n++) {
            const QuantityAtom *atom = &quantities->atoms[pair->splits[i].by.atoms[n]];
            if (atom->kind == ATOM_ARGUMENT && atom->width == 32)
                add_candidate(to, CONDITION_AT_LEAST, quantity_atom(quantities, atom), QUANTITY_ONE);
        }
    for (unsigned axis = 3; axis-- > 0;) {
        AtomKind place = pair->one_cta ? ATOM_THREAD : ATOM_PROGRAM,
                 size = pair->one_cta ? ATOM_THREADS : ATOM_PROGRAMS;
        bool mentioned = mentions_axis(k, pair->visits[0]->offset, place, axis) ||
                         mentions_axis(k, pair->visits[1]->offset, place, axis);
        if (!mentioned && (axis || !pair->one_cta) && !k->pinned[!pair->one_cta][axis])
            add_candidate(to, CONDITION_EQUAL, size_along(k, size, axis), QUANTITY_ONE);
    }
}

/* What is asked for now, so that it can be taken back. */
typedef struct AskedBefore {
    uint32_t launch_count;
    int64_t pinned[2][3];
} AskedBefore;

static void suppose(Preconditions *of, AskedBefore *before) {
    Intervals *k = of->k;
    Quantities *quantities = quantities_in(k);
    before->launch_count = k->launch.count;
    memcpy(before->pinned, k->pinned, sizeof k->pinned);
    for (unsigned i = 0; i < of->count; i++) {
        const Condition *condition = &of->all[i];
        if (!of->taken[i])
            continue;
        if (condition->kind == CONDITION_AT_LEAST)
            add_fact(k, &k->launch, quantity_add(quantities, condition->b, condition->a, -1), FACT_AT_MOST);
        if (condition->kind != CONDITION_EQUAL)
            continue;
        const QuantityAtom *atom = &quantities->atoms[quantities->all[condition->a].terms[0].atoms[0]];
        k->pinned[atom->kind == ATOM_PROGRAMS][atom->axis] = 1;
    }
}

static void take_back(Preconditions *of, const AskedBefore *before) {
    of->k->launch.count = before->launch_count;
    memcpy(of->k->pinned, before->pinned, sizeof before->pinned);
}

/* Whether it holds with the preconditions that are taken. */
typedef bool PairTest(void *context);

static bool holds_with(Preconditions *of, PairTest *test, void *context) {
    AskedBefore before;
    suppose(of, &before);
    bool quiet = of->k->quiet;
    of->k->quiet = true;
    bool holds = test(context);
    of->k->quiet = quiet;
    take_back(of, &before);
    return holds;
}

/* How soon a candidate is left out: limits of x first, and the smallest of an axis. */
static int64_t limit_of(const Preconditions *of, unsigned at) {
    const Quantities *quantities = quantities_in(of->k);
    int64_t limit;
    if (of->all[at].kind != CONDITION_AT_LEAST || !quantity_is_constant(quantities, of->all[at].a, &limit))
        return INT64_MAX;
    return quantities->atoms[quantities->all[of->all[at].b].terms[0].atoms[0]].axis * INT64_C(4096) + limit;
}

/* Those that ask for most come first: they are left out first. */
static void sort_candidates(Preconditions *of) {
    for (unsigned i = 1; i < of->count; i++)
        for (unsigned n = i; n && limit_of(of, n) < limit_of(of, n - 1); n--) {
            Condition other = of->all[n];
            of->all[n] = of->all[n - 1];
            of->all[n - 1] = other;
        }
}

/* Looks for preconditions with which it holds, as few as can be, and asks for them. */
static bool settle(Preconditions *of, PairTest *test, void *context, uint32_t statement) {
    sort_candidates(of);
    memset(of->taken, true, of->count);
    if (!of->count || !holds_with(of, test, context))
        return false;
    for (unsigned i = 0; i < of->count; i++) {
        of->taken[i] = false;
        of->taken[i] = !holds_with(of, test, context);
    }
    for (unsigned i = 0; i < of->count; i++)
        if (of->taken[i])
            require(of->k, &of->all[i], statement);
    return true;
}

static bool test_pair(void *context) {
    return are_apart(context);
}

/* ---- All pairs ------------------------------------------------------------------------------------- */

static const PtxVariable *variable_of_root(const Intervals *k, Quantity root, uint32_t *which) {
    const Quantities *quantities = &k->prover.proof->quantities;
    if (root == QUANTITY_NONE)
        return NULL;
    const QuantityAtom *atom = &quantities->atoms[quantities->all[root].terms[0].atoms[0]];
    *which = atom->of;
    return atom->kind == ATOM_ADDRESS ? &k->module->variables[atom->of] : NULL;
}

static PtxSpace space_of(const Intervals *k, const Visit *visit) {
    uint32_t which;
    const PtxVariable *variable = variable_of_root(k, visit->root, &which);
    PtxSpace space = k->accesses[visit->access].space;
    if (variable)
        return ptx_space_named(ptx_name(k->module, variable->space));
    if (space == PTX_SPACE_UNKNOWN && visit->root != QUANTITY_NONE)
        return PTX_SPACE_GLOBAL;
    return space;
}

/* The bytes of a variable; 0: as many as the launch gives it. */
static int64_t variable_size(const Intervals *k, const PtxVariable *variable) {
    Str type = ptx_name(k->module, variable->type);
    int64_t bytes = type.size ? ptx_type_bits((Str){type.data + 1, type.size - 1}) / 8 : 0, count = 1;
    if (variable->vector != PTX_NONE) {
        Str vector = ptx_name(k->module, variable->vector);
        if (vector.size < 3 || !str_to_int((Str){vector.data + 2, vector.size - 2}, &count))
            return 0;
    }
    for (uint32_t i = 0; i < variable->dimension_count; i++) {
        const PtxOperand *dimension = &k->module->operands[variable->dimensions + i];
        if (dimension->kind != PTX_INTEGER || dimension->value < 0 ||
            __builtin_mul_overflow(bytes, dimension->value, &bytes))
            return 0;
    }
    return bytes > INT32_MAX ? 0 : bytes * count;
}

static bool is_own(PtxSpace space) {
    return space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST;
}

/* Whether two visits may be to one memory at all. */
static bool share_root(const Intervals *k, const Visit *a, const Visit *b) {
    PtxSpace spaces[2] = {space_of(k, a), space_of(k, b)};
    uint32_t which;
    if (is_own(spaces[0]) || is_own(spaces[1]))
        return false;
    if (spaces[0] != spaces[1] && spaces[0] != PTX_SPACE_UNKNOWN && spaces[1] != PTX_SPACE_UNKNOWN)
        return false;
    if (a->root == QUANTITY_NONE || b->root == QUANTITY_NONE || a->root == b->root)
        return true;
    const PtxVariable *first = variable_of_root(k, a->root, &which), *second = variable_of_root(k, b->root, &which);
    return first && second && !variable_size(k, first) && !variable_size(k, second); /* they lie at one place */
}

static const char *verb_of(const ThreadAccess *access) {
    return access->verb == EFFECT_UPDATE ? "atomic" : access->writes ? "store" : "load";
}

static void leave_pair(ThreadPair *pair, const char *reason) {
    Intervals *k = pair->k;
    const ThreadAccess *a = access_of(pair, 0), *b = access_of(pair, 1);
    const char *who = pair->one_cta ? "thread of the CTA" : "CTA";
    if (a == b)
        leave_open(k, a->statement, reason, "against itself in another %s: %s", who, reason);
    else
        leave_open(k, a->statement, reason, "against the %s at line %u in another %s: %s", verb_of(b),
                   line_of(k, b->statement), who, reason);
}

static void prove_pair(Intervals *k, const Visit *a, const Visit *b, bool one_cta) {
    ThreadPair pair = {.k = k, .visits = {a, b}, .one_cta = one_cta};
    const ThreadAccess *first = access_of(&pair, 0), *second = access_of(&pair, 1);
    if ((!first->writes && !second->writes) || !share_root(k, a, b))
        return;
    if (!one_cta && (first->read_only || second->read_only)) { /* of all pairs, in whatever interval */
        leave_pair(&pair, "what is read as if nothing wrote it is written");
        return;
    }
    if (first->atomic && second->atomic && first->bytes == second->bytes) {
        proof_assume(&k->prover, "memory that atomics access is accessed by one device");
        return;
    }
    if (a->problem || b->problem) {
        leave_pair(&pair, a->problem ? a->problem : b->problem);
        return;
    }
    if (a->root == QUANTITY_NONE || b->root == QUANTITY_NONE) {
        leave_pair(&pair, "the address is not understood");
        return;
    }
    if (are_apart(&pair))
        return;
    Preconditions *candidates = ARENA_NEW(k->arena, Preconditions);
    candidates->k = k;
    find_candidates(candidates, &pair, system_new(k, &k->pair, one_cta));
    if (!settle(candidates, test_pair, &pair, first->statement))
        leave_pair(&pair, one_cta ? "two threads may access the same bytes between two barriers"
                                  : "two CTAs may access the same bytes");
}

/* Whether a pair of that kind was looked at before. */
static bool was_seen(Intervals *k, const Visit *a, const Visit *b) {
    for (uint32_t i = 0; i < k->seen_count; i++) {
        const Visit *const *seen = k->seen[i].visits;
        if (seen[0]->access == a->access && seen[1]->access == b->access && seen[0]->context == a->context &&
            seen[1]->context == b->context)
            return true;
    }
    SeenPair *place = ARENA_PUSH(k->arena, k->seen, k->seen_count, k->seen_capacity);
    place->visits[0] = a;
    place->visits[1] = b;
    return false;
}

void prove_interval(Intervals *k, const Visits *visits) {
    for (uint32_t i = 0; i < visits->count; i++)
        for (uint32_t n = i; n < visits->count && !prover_is_late(&k->prover); n++)
            if (!was_seen(k, &visits->all[i], &visits->all[n]))
                prove_pair(k, &visits->all[i], &visits->all[n], true);
}

void prove_ctas(Intervals *k, const Visits *visits) {
    for (uint32_t i = 0; i < visits->count; i++) {
        PtxSpace space = space_of(k, &visits->all[i]);
        for (uint32_t n = i; n < visits->count && space != PTX_SPACE_SHARED && !prover_is_late(&k->prover); n++)
            if (space_of(k, &visits->all[n]) != PTX_SPACE_SHARED)
                prove_pair(k, &visits->all[i], &visits->all[n], false);
    }
}

/* ---- Places ---------------------------------------------------------------------------------------- */

typedef struct PlaceTest {
    Intervals *k;
    const Visit *visit;
    int64_t most;
} PlaceTest;

static bool test_place(void *context) {
    const PlaceTest *test = context;
    return is_in_range(test->k, &test->visit->context->facts, test->visit->offset, 0, test->most);
}

/* Whether an access stays in the variable that it is made to: then no two variables have bytes in common. */
static void prove_place(Intervals *k, const Visit *visit) {
    uint32_t which;
    const ThreadAccess *access = &k->accesses[visit->access];
    const PtxVariable *variable = variable_of_root(k, visit->root, &which);
    int64_t size = variable ? variable_size(k, variable) : 0;
    if (!variable && access->space != PTX_SPACE_SHARED)
        return;
    if (!variable || (visit->problem && !visit->loaded)) {
        leave_open(k, access->statement, "bounds", "it may be outside of the variable that it is made to");
        return;
    }
    if (visit->problem) {
        proof_assume(&k->prover, "indices that depend on data stay in their variable");
        return;
    }
    if (!size)
        proof_assume(&k->prover, "there is as much dynamic shared memory as is accessed");
    PlaceTest test = {k, visit, size ? size - access->bytes : BOUND_NONE - 1};
    Preconditions *candidates = ARENA_NEW(k->arena, Preconditions);
    bool quiet = k->quiet;
    k->quiet = true;
    bool holds = test_place(&test);
    k->quiet = quiet;
    if (holds)
        return;
    candidates->k = k;
    const Polynomial of = quantities_in(k)->all[visit->offset];
    for (unsigned axis = size ? 0 : 3; axis < 3; axis++)
        for (uint32_t i = 0; i < of.count; i++) {
            const Monomial *term = &of.terms[i];
            const QuantityAtom *atom = term->count ? &quantities_in(k)->atoms[term->atoms[0]] : NULL;
            if (atom && term->count == 1 && atom->kind == ATOM_ARGUMENT && atom->width == 32 && !axis)
                add_candidate(candidates, CONDITION_AT_LEAST,
                              quantity_constant(quantities_in(k), size / llabs(term->factor)),
                              quantity_atom(quantities_in(k), atom));
            if (atom && term->count == 1 && atom->kind == ATOM_THREADS && atom->axis == axis)
                add_limit(candidates, axis,
                          (test.most - constant_in(quantities_in(k), visit->offset)) / llabs(term->factor));
            if (atom && term->count == 1 && atom->kind == ATOM_THREAD && atom->axis == axis)
                add_limit(candidates, axis,
                          (size - constant_in(quantities_in(k), visit->offset)) / llabs(term->factor));
        }
    if (size)
        add_limits(candidates, visit->offset);
    if (!settle(candidates, test_place, &test, access->statement))
        leave_open(k, access->statement, "bounds", "it may be outside of the variable that it is made to");
}

void prove_places(Intervals *k, const Visits *visits) {
    for (uint32_t i = 0; i < visits->count && !prover_is_late(&k->prover); i++)
        prove_place(k, &visits->all[i]);
}
