/* The half of a proof about global memory: of each two accesses to one root, that no two programs come to the same
 * element, and that two accesses of one program to the same element are in order.
 *
 * Two accesses to the same element have offsets of the same value. An offset is a sum over levels: a factor that is the
 * same in the whole launch (a stride) times a number that varies. If the levels nest (condition.h), the two accesses
 * agree in the number of each level; if what these are made of nests again (tiles beside each other), in each digit of
 * it. So numbers become known to be equal. From a quotient and a remainder by the same divisor follows what was divided
 * (grouped and swizzled program ids); a minimum, a quotient or a remainder of known numbers is known. When the program
 * ids are among the known ones, both accesses are of the same program.
 *
 * Levels that do not nest whatever the launch are open; others become a precondition. */
#include "check/prove/access.h"

#include "ir/op.h"
#include "model/flow/partition.h"

#include <inttypes.h>
#include <stdlib.h>

/* Two accesses, and what they are known to agree in when they are to the same element. */
typedef struct PairProof {
    Prover *prover;
    const ProofAccess *access[2];
    const char *subject;    /* the name of the root */
    bool known[MOST_ATOMS]; /* the atom has the same value in both */
    bool apart;             /* they are never to the same element */
    bool alike;             /* every program writes the same there */
    uint32_t equations;     /* numbers that are known to be equal, as the certificate counts them */
    const char *problem;    /* what stopped it */
} PairProof;

static Quantities *quantities_of(const PairProof *pair) {
    return &pair->prover->proof->quantities;
}

/* ---- Levels ---------------------------------------------------------------------------------------- */

/* Of one level of two offsets: the numbers that vary, sums without products of what varies, and by how much more the
 * first offset is, which does not vary. */
typedef struct LevelSum {
    Quantity factor; /* the same in the whole launch */
    Quantity varying[2], difference;
} LevelSum;

static int64_t greatest_divisor_of(int64_t a, int64_t b) {
    a = llabs(a);
    b = llabs(b);
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Splits a monomial: *launch is its part that does not vary, *varies the atom that does; NONE: there is none. */
static bool split_monomial(PairProof *pair, const Monomial *term, Quantity *launch, Quantity *varies) {
    Quantities *quantities = quantities_of(pair);
    *launch = QUANTITY_ONE;
    *varies = QUANTITY_NONE;
    for (unsigned i = 0; i < term->count; i++) {
        const QuantityAtom *atom = &quantities->atoms[term->atoms[i]];
        Quantity one = quantity_atom(quantities, atom);
        if (!atom->varies) {
            *launch = quantity_multiply(quantities, *launch, one);
        } else if (*varies == QUANTITY_NONE) {
            *varies = one;
        } else {
            pair->problem = "numbers that differ from program to program are multiplied with each other";
            return false;
        }
    }
    return *launch != QUANTITY_NONE;
}

static LevelSum *level_of(PairProof *pair, LevelSum *levels, unsigned *count, Quantity factor) {
    for (unsigned i = 0; i < *count; i++)
        if (levels[i].factor == factor)
            return &levels[i];
    if (*count == MOST_LEVELS) {
        pair->problem = "the address is too long";
        return NULL;
    }
    levels[*count] = (LevelSum){.factor = factor};
    return &levels[(*count)++];
}

/* Adds to the sums of both sides what varies, by level. False: that is too much, or no sum. */
static bool add_varying(PairProof *pair, const Quantity sides[2], LevelSum *levels, unsigned *count) {
    Quantities *quantities = quantities_of(pair);
    for (unsigned side = 0; side < 2; side++) {
        const Polynomial of = quantities->all[sides[side]];
        for (uint32_t i = 0; i < of.count; i++) {
            Quantity launch, varies;
            if (!split_monomial(pair, &of.terms[i], &launch, &varies))
                return false;
            if (varies == QUANTITY_NONE)
                continue;
            LevelSum *level = level_of(pair, levels, count, launch);
            if (!level)
                return false;
            level->varying[side] = quantity_add(quantities, level->varying[side], varies, of.terms[i].factor);
            if (level->varying[side] == QUANTITY_NONE)
                return false;
        }
    }
    return true;
}

/* term = *quotient * the factor of a level, which is a product of atoms. */
static bool quotient_of(Quantities *quantities, const Monomial *term, Quantity factor, Quantity *quotient) {
    const Monomial *by = &quantities->all[factor].terms[0];
    unsigned k = 0;
    *quotient = quantity_constant(quantities, term->factor);
    for (unsigned i = 0; i < term->count; i++)
        if (k < by->count && by->atoms[k] == term->atoms[i])
            k++;
        else
            *quotient =
                quantity_multiply(quantities, *quotient, quantity_atom(quantities, &quantities->atoms[term->atoms[i]]));
    return k == by->count && *quotient != QUANTITY_NONE;
}

/* Adds a term that does not vary, of the first side or (times -1) of the second, to the level with the longest factor
 * that is in it. */
static bool add_fixed(PairProof *pair, const Monomial *term, int64_t times, LevelSum *levels, unsigned *count) {
    Quantities *quantities = quantities_of(pair);
    LevelSum *best = NULL;
    Quantity quotient;
    for (unsigned i = 0; i < *count; i++)
        if (quotient_of(quantities, term, levels[i].factor, &quotient) &&
            (!best || quantities->all[levels[i].factor].terms[0].count > quantities->all[best->factor].terms[0].count))
            best = &levels[i];
    best = best ? best : level_of(pair, levels, count, QUANTITY_ONE);
    if (!best || !quotient_of(quantities, term, best->factor, &quotient))
        return false;
    best->difference = quantity_add(quantities, best->difference, quotient, times);
    return best->difference != QUANTITY_NONE;
}

/* The sums of both sides by level. False: they are too many, or not sums. */
static bool find_levels(PairProof *pair, const Quantity sides[2], LevelSum *levels, unsigned *count) {
    Quantities *quantities = quantities_of(pair);
    *count = 0;
    if (!add_varying(pair, sides, levels, count))
        return false;
    for (unsigned side = 0; side < 2; side++) {
        const Polynomial of = quantities->all[sides[side]];
        for (uint32_t i = 0; i < of.count; i++) {
            bool varies = false;
            for (unsigned k = 0; k < of.terms[i].count; k++)
                varies |= quantities->atoms[of.terms[i].atoms[k]].varies;
            if (!varies && !add_fixed(pair, &of.terms[i], side ? -1 : 1, levels, count))
                return false;
        }
    }
    return true;
}

/* By what all terms of a level can be divided; 0: there are none. */
static int64_t level_content(const Quantities *quantities, const LevelSum *level) {
    const Quantity parts[] = {level->varying[0], level->varying[1], level->difference};
    int64_t divisor = 0;
    for (unsigned part = 0; part < 3; part++) {
        const Polynomial *of = &quantities->all[parts[part]];
        for (uint32_t i = 0; i < of->count; i++)
            divisor = greatest_divisor_of(divisor, of->terms[i].factor);
    }
    return divisor;
}

static Quantity divided_by(Quantities *quantities, Quantity sum, int64_t divisor) {
    const Polynomial of = quantities->all[sum];
    Quantity result = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor / divisor);
        for (unsigned k = 0; k < of.terms[i].count; k++)
            product = quantity_multiply(quantities, product,
                                        quantity_atom(quantities, &quantities->atoms[of.terms[i].atoms[k]]));
        result = quantity_add(quantities, result, product, 1);
    }
    return result;
}

/* ---- Bounds by guards ------------------------------------------------------------------------------ */

/* The part of a quantity that varies; *rest is the other one. */
static Quantity varying_part(Quantities *quantities, Quantity quantity, Quantity *rest) {
    const Polynomial of = quantities->all[quantity];
    Quantity varying = QUANTITY_ZERO;
    for (uint32_t i = 0; i < of.count; i++) {
        Quantity product = quantity_constant(quantities, of.terms[i].factor);
        bool varies = false;
        for (unsigned k = 0; k < of.terms[i].count; k++) {
            const QuantityAtom *atom = &quantities->atoms[of.terms[i].atoms[k]];
            varies |= atom->varies;
            product = quantity_multiply(quantities, product, quantity_atom(quantities, atom));
        }
        varying = varies ? quantity_add(quantities, varying, product, 1) : varying;
    }
    *rest = quantity_add(quantities, quantity, varying, -1);
    return varying;
}

/* a = *times * b, a whole number; b is not 0. */
static bool is_multiple_of(Quantities *quantities, Quantity a, Quantity b, int64_t *times) {
    const Polynomial *of = &quantities->all[a], *by = &quantities->all[b];
    if (!of->count || of->count != by->count)
        return false;
    *times = of->terms[0].factor / by->terms[0].factor;
    return *times && quantity_add(quantities, a, b, -*times) == QUANTITY_ZERO;
}

/* What the guards of an access say of `value`, which varies, and to which `add` is added: the tightest of them that is
 * first found. */
static void set_bounds(PairProof *pair, unsigned side, Quantity value, Quantity add, NestLevel *level) {
    Quantities *quantities = quantities_of(pair);
    const ProofGuards *guards = &pair->access[side]->guards;
    level->least[side] = level->most[side] = QUANTITY_NONE;
    for (uint32_t i = 0; i < guards->count && value != QUANTITY_ZERO; i++) {
        Quantity rest, varying = varying_part(quantities, guards->all[i].left, &rest);
        int64_t times;
        if (varying == QUANTITY_NONE || rest == QUANTITY_NONE || !is_multiple_of(quantities, varying, value, &times))
            continue;
        if (times != 1 && times != -1) /* value * times + rest <= 0 */
            continue;
        Quantity bound = quantity_add(quantities, add, rest, -times);
        Quantity *kept = times > 0 ? &level->most[side] : &level->least[side];
        if (*kept == QUANTITY_NONE)
            *kept = bound;
        else
            *kept = times > 0 ? quantity_minimum(quantities, *kept, bound) : quantity_maximum(quantities, *kept, bound);
    }
}

/* ---- Nesting --------------------------------------------------------------------------------------- */

/* By how much the sides of a level differ at least at a launch with several programs and turns. */
static int64_t least_width(const PairProof *pair, const Interval *atoms, const NestLevel *level) {
    const Quantities *quantities = quantities_of(pair);
    Interval a = quantity_interval(quantities, atoms, level->value[0]);
    Interval b = quantity_interval(quantities, atoms, level->value[1]);
    bool bounded = false;
    for (unsigned side = 0; side < 2; side++)
        bounded |= level->most[side] != QUANTITY_NONE || level->least[side] != QUANTITY_NONE;
    bool known = a.least > -BOUND_NONE && b.least > -BOUND_NONE && a.most < INT32_MAX / 2 && b.most < INT32_MAX / 2;
    if (!known || bounded)
        return 1;
    return a.most - b.least > b.most - a.least ? a.most - b.least : b.most - a.least;
}

/* Whether there may be launches with several programs at which the levels nest: those with constant factors do. */
static bool may_nest(const PairProof *pair, const NestLevel *levels, unsigned count) {
    const Quantities *quantities = quantities_of(pair);
    const Interval *atoms = quantities->anywhere;
    int64_t factors[MOST_LEVELS], widths[MOST_LEVELS], factor;
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        int64_t width = least_width(pair, atoms, &levels[i]);
        if (!quantity_is_constant(quantities, levels[i].factor, &factor) || width <= 0)
            continue;
        unsigned at = kept++;
        for (; at && factors[at - 1] > llabs(factor); at--) {
            factors[at] = factors[at - 1];
            widths[at] = widths[at - 1];
        }
        factors[at] = llabs(factor);
        widths[at] = width;
    }
    __int128 span = 0;
    for (unsigned i = 0; i < kept; i++) {
        if (factors[i] <= span)
            return false;
        span += (__int128)factors[i] * widths[i];
    }
    return true;
}

/* Both sides of each level of the equation are equal from now on, if that can be asked of a launch. */
static bool require_nest(PairProof *pair, uint32_t equation, const NestLevel *levels, unsigned count) {
    Condition nest = {.kind = CONDITION_NEST, .levels = levels, .level_count = count, .op = pair->access[0]->op};
    if (!may_nest(pair, levels, count)) {
        pair->problem = "tiles of two programs overlap, or elements of one tile do";
        return false;
    }
    proof_require(pair->prover, &nest, pair->subject);
    if (count)
        proof_take(pair->prover, PROOF_NEST, equation, 0, &nest);
    pair->equations += count;
    return true;
}

static bool quantity_is_known(const PairProof *pair, Quantity quantity);

/* Whether `here` counts turns of a loop, and there is a number that none of them comes to: how many there are, say. */
static bool is_no_turn(PairProof *pair, Quantity here, Quantity there) {
    Quantities *quantities = quantities_of(pair);
    const Polynomial of = quantities->all[here];
    for (uint32_t i = 0; i < of.count; i++) {
        const Monomial *term = &of.terms[i];
        const QuantityAtom atom = quantities->atoms[term->atoms[0]];
        if (term->count != 1 || atom.kind != ATOM_TRIP)
            continue;
        Quantity first = quantity_add(quantities, here, quantity_atom(quantities, &atom), -term->factor);
        Quantity trips = quantity_trips(quantities, atom.a, atom.b);
        if (!quantity_is_known(pair, first) || !quantity_is_known(pair, there) || !quantity_is_known(pair, trips) ||
            quantity_mentions(quantities, first, term->atoms[0]) ||
            quantity_mentions(quantities, there, term->atoms[0]))
            return false;
        first = quantity_add(quantities, first, there, -1); /* by how much it is more in the first turn, and the last */
        Quantity last = quantity_add(quantities, trips, QUANTITY_ONE, -1);
        last = quantity_add(quantities, first, last, term->factor);
        Interval from = quantity_interval(quantities, quantities->anywhere, term->factor > 0 ? first : last);
        Interval to = quantity_interval(quantities, quantities->anywhere, term->factor > 0 ? last : first);
        return last != QUANTITY_NONE && (from.least > 0 || to.most < 0);
    }
    return false;
}

/* Whether the sides of a level, of that equation, never are the same number. */
static void look_whether_apart(PairProof *pair, uint32_t equation, const NestLevel *level) {
    const Interval *atoms = quantities_of(pair)->anywhere;
    Interval a = quantity_interval(quantities_of(pair), atoms, level->value[0]);
    Interval b = quantity_interval(quantities_of(pair), atoms, level->value[1]);
    if (pair->apart || (a.most >= b.least && b.most >= a.least && !is_no_turn(pair, level->value[0], level->value[1]) &&
                        !is_no_turn(pair, level->value[1], level->value[0])))
        return;
    pair->apart = true;
    proof_take(pair->prover, PROOF_APART, equation, 0, NULL);
}

/* ---- Digits ---------------------------------------------------------------------------------------- */

/* The atoms of both sides of a sum by their factor. */
typedef struct DigitSum {
    int64_t factor;
    Quantity side[2], difference;
} DigitSum;

static bool find_digits(PairProof *pair, const Quantity sides[2], DigitSum *digits, unsigned *count) {
    Quantities *quantities = quantities_of(pair);
    for (unsigned side = 0; side < 2; side++) {
        const Polynomial of = quantities->all[sides[side]];
        for (uint32_t i = 0; i < of.count; i++) {
            unsigned at = 0;
            while (at < *count && digits[at].factor != of.terms[i].factor)
                at++;
            if (at == MOST_LEVELS) {
                pair->problem = "the address is too long";
                return false;
            }
            if (at == *count)
                digits[(*count)++] = (DigitSum){.factor = of.terms[i].factor};
            digits[at].side[side] =
                quantity_add(quantities, digits[at].side[side],
                             quantity_atom(quantities, &quantities->atoms[of.terms[i].atoms[0]]), 1);
        }
    }
    return true;
}

/* The digit that a term of the difference belongs to: the one with the largest factor that divides it. */
static DigitSum *digit_for(DigitSum *digits, unsigned *count, int64_t factor) {
    DigitSum *best = NULL;
    for (unsigned i = 0; i < *count; i++)
        if (factor % digits[i].factor == 0 && (!best || llabs(digits[i].factor) > llabs(best->factor)))
            best = &digits[i];
    if (!best && *count < MOST_LEVELS) {
        best = &digits[(*count)++];
        *best = (DigitSum){.factor = 1};
    }
    return best;
}

static bool add_difference(PairProof *pair, Quantity difference, DigitSum *digits, unsigned *count) {
    Quantities *quantities = quantities_of(pair);
    const Polynomial of = quantities->all[difference];
    for (uint32_t i = 0; i < of.count; i++) {
        DigitSum *digit = digit_for(digits, count, of.terms[i].factor);
        Quantity quotient;
        Monomial term = of.terms[i];
        if (!digit)
            return false;
        term.factor /= digit->factor;
        if (!quotient_of(quantities, &term, QUANTITY_ONE, &quotient))
            return false;
        digit->difference = quantity_add(quantities, digit->difference, quotient, 1);
    }
    return true;
}

static void learn(PairProof *pair, Quantity a, Quantity b) {
    const Polynomial *of = a == b && a != QUANTITY_NONE ? &quantities_of(pair)->all[a] : NULL;
    if (of && of->count == 1 && of->terms[0].count == 1 && of->terms[0].factor == 1)
        pair->known[of->terms[0].atoms[0]] = true;
}

/* The sums are equal if the difference is added to the first: so are their digits, if they nest. */
static bool equate_digits(PairProof *pair, uint32_t equation, const LevelSum *sum) {
    Quantities *quantities = quantities_of(pair);
    DigitSum digits[MOST_LEVELS] = {{0}};
    NestLevel levels[MOST_LEVELS];
    unsigned count = 0;
    if (!find_digits(pair, sum->varying, digits, &count))
        return false;
    if (!add_difference(pair, sum->difference, digits, &count)) {
        pair->problem = "the address is too long";
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        const DigitSum *digit = &digits[i];
        levels[i] =
            (NestLevel){.factor = quantity_constant(quantities, digit->factor),
                        .value = {quantity_add(quantities, digit->side[0], digit->difference, 1), digit->side[1]}};
        set_bounds(pair, 0, digit->side[0], digit->difference, &levels[i]);
        set_bounds(pair, 1, digit->side[1], QUANTITY_ZERO, &levels[i]);
    }
    uint32_t first = pair->equations;
    if (!require_nest(pair, equation, levels, count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        look_whether_apart(pair, first + i, &levels[i]);
        learn(pair, levels[i].value[0], levels[i].value[1]);
    }
    return true;
}

/* Two offsets are equal, by that equation: so is each of their levels, and each digit of it. */
static bool equate(PairProof *pair, uint32_t equation, Quantity a, Quantity b) {
    Quantities *quantities = quantities_of(pair);
    const Quantity sides[2] = {a, b};
    LevelSum sums[MOST_LEVELS];
    NestLevel levels[MOST_LEVELS];
    unsigned count, kept = 0;
    if (!find_levels(pair, sides, sums, &count))
        return false;
    for (unsigned i = 0; i < count; i++) {
        int64_t content = level_content(quantities, &sums[i]);
        if (!content)
            continue;
        LevelSum sum = {.factor = quantity_multiply(quantities, sums[i].factor, quantity_constant(quantities, content)),
                        .varying = {divided_by(quantities, sums[i].varying[0], content),
                                    divided_by(quantities, sums[i].varying[1], content)},
                        .difference = divided_by(quantities, sums[i].difference, content)};
        NestLevel *level = &levels[kept];
        *level = (NestLevel){.factor = sum.factor,
                             .value = {quantity_add(quantities, sum.varying[0], sum.difference, 1), sum.varying[1]}};
        set_bounds(pair, 0, sum.varying[0], sum.difference, level);
        set_bounds(pair, 1, sum.varying[1], QUANTITY_ZERO, level);
        sums[kept++] = sum;
    }
    uint32_t first = pair->equations;
    if (!require_nest(pair, equation, levels, kept))
        return false;
    for (unsigned i = 0; i < kept; i++) {
        look_whether_apart(pair, first + i, &levels[i]);
        if (!equate_digits(pair, first + i, &sums[i]))
            return false;
    }
    return true;
}

/* ---- What follows ---------------------------------------------------------------------------------- */

static bool atom_is_known(const PairProof *pair, uint32_t at) {
    const QuantityAtom *atom = &quantities_of(pair)->atoms[at];
    bool made = atom->kind >= ATOM_DIVIDE && atom->kind <= ATOM_MAXIMUM;
    return !atom->varies || pair->known[at] ||
           (made && quantity_is_known(pair, atom->a) && quantity_is_known(pair, atom->b));
}

/* Whether it has the same value in both. */
static bool quantity_is_known(const PairProof *pair, Quantity quantity) {
    if (quantity == QUANTITY_NONE)
        return false;
    const Polynomial *of = &quantities_of(pair)->all[quantity];
    for (uint32_t i = 0; i < of->count; i++)
        for (unsigned k = 0; k < of->terms[i].count; k++)
            if (!atom_is_known(pair, of->terms[i].atoms[k]))
                return false;
    return true;
}

/* The quantity with each remainder y % w by itself written as y - w * (y / w). */
static Quantity without_remainders(PairProof *pair, Quantity quantity) {
    Quantities *quantities = quantities_of(pair);
    const Polynomial of = quantities->all[quantity];
    Quantity result = quantity;
    for (uint32_t i = 0; i < of.count; i++) {
        const QuantityAtom atom = of.terms[i].count == 1 ? quantities->atoms[of.terms[i].atoms[0]] : (QuantityAtom){0};
        if (atom.kind != ATOM_REMAINDER)
            continue;
        Quantity whole = quantity_multiply(quantities, atom.b, quantity_divide(quantities, atom.a, atom.b));
        result = quantity_add(quantities, result, quantity_atom(quantities, &atom), -of.terms[i].factor);
        result = quantity_add(quantities, result, quantity_add(quantities, atom.a, whole, -1), of.terms[i].factor);
    }
    return result;
}

/* Whether it is known by how much the two differ. */
static bool difference_is_known(PairProof *pair, Quantity a, Quantity b) {
    Quantities *quantities = quantities_of(pair);
    if (a == b)
        return true;
    Quantity difference = quantity_add(quantities, without_remainders(pair, a), without_remainders(pair, b), -1);
    return quantity_is_known(pair, difference);
}

/* A quotient x / d and a remainder y % d are known, and so is y - x: then x is. */
static bool rejoin(PairProof *pair, const QuantityAtom *whole, uint32_t quotient, uint32_t rest) {
    bool before[MOST_ATOMS];
    if (!atom_is_known(pair, quotient) || !atom_is_known(pair, rest) || !quantity_is_known(pair, whole->b) ||
        quantity_is_known(pair, whole->a) || !difference_is_known(pair, quantities_of(pair)->atoms[rest].a, whole->a))
        return false;
    memcpy(before, pair->known, sizeof before);
    proof_take(pair->prover, PROOF_JOIN, quotient, rest, NULL);
    if (!equate(pair, pair->equations++, whole->a, whole->a))
        pair->problem = NULL; /* it may not be needed */
    return memcmp(before, pair->known, sizeof before) != 0;
}

/* Goes on until nothing more follows. */
static void saturate(PairProof *pair) {
    const Quantities *quantities = quantities_of(pair);
    bool more = true;
    while (more && !prover_is_late(pair->prover)) {
        more = false;
        for (uint32_t i = 0; i < quantities->atom_count; i++) {
            const QuantityAtom whole = quantities->atoms[i];
            for (uint32_t k = 0; whole.kind == ATOM_DIVIDE && k < quantities->atom_count; k++)
                if (quantities->atoms[k].kind == ATOM_REMAINDER && quantities->atoms[k].b == whole.b)
                    more |= rejoin(pair, &whole, i, k);
        }
    }
}

/* ---- A pair ---------------------------------------------------------------------------------------- */

/* Whether conditions around both accesses leave one program along an axis: `if pid == 0`. */
static bool one_program_is_left(PairProof *pair, Quantity program) {
    NestLevel level = {.factor = QUANTITY_ZERO, .value = {program, program}};
    set_bounds(pair, 0, program, QUANTITY_ZERO, &level);
    set_bounds(pair, 1, program, QUANTITY_ZERO, &level);
    Condition same = {.kind = CONDITION_NEST, .levels = &level, .level_count = 1};
    return condition_holds(quantities_of(pair), quantities_of(pair)->anywhere, &same);
}

static bool program_is_known(PairProof *pair, unsigned axis) {
    Quantities *quantities = quantities_of(pair);
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        if (quantities->atoms[i].kind == ATOM_PROGRAM && quantities->atoms[i].axis == axis)
            if (pair->known[i] || one_program_is_left(pair, quantity_atom(quantities, &quantities->atoms[i]))) {
                proof_take(pair->prover, pair->known[i] ? PROOF_KNOWN : PROOF_PINNED, axis, 0, NULL);
                return true;
            }
    return false;
}

/* Whether the program id along an axis is in the offset of one of the two. */
static bool mentions_program(const PairProof *pair, unsigned axis) {
    Quantities *quantities = quantities_of(pair);
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        if (quantities->atoms[i].kind == ATOM_PROGRAM && quantities->atoms[i].axis == axis &&
            (quantity_mentions(quantities, pair->access[0]->offset, i) ||
             quantity_mentions(quantities, pair->access[1]->offset, i)))
            return true;
    return false;
}

static bool lanes_are_known(const PairProof *pair);

/* Whether each program makes this write to this element, and all of them write the same. */
static bool is_alike(PairProof *pair) {
    bool named = pair->access[0] != pair->access[1] || !lanes_are_known(pair);
    for (unsigned axis = 0; axis < 3; axis++)
        named |= mentions_program(pair, axis);
    return !named && access_is_uniform(pair->prover, pair->access[0]);
}

/* Another program never comes to the same element, or writes what is there. */
static bool programs_differ(PairProof *pair) {
    Quantities *quantities = quantities_of(pair);
    if (!pair->apart && is_alike(pair)) {
        proof_take(pair->prover, PROOF_ALIKE, 0, 0, NULL);
        pair->alike = pair->prover->proof->alike = true;
        return true;
    }
    for (unsigned axis = 0; axis < 3 && !pair->apart; axis++) {
        if (program_is_known(pair, axis))
            continue;
        if (mentions_program(pair, axis)) {
            pair->problem = "the address does not determine the program id";
            return false;
        }
        Condition one = {.kind = CONDITION_EQUAL,
                         .a = quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_PROGRAMS, .axis = (uint8_t)axis}),
                         .b = QUANTITY_ONE,
                         .op = pair->access[0]->op};
        proof_require(pair->prover, &one, pair->subject);
        proof_take(pair->prover, PROOF_ONE, axis, 0, &one);
    }
    return true;
}

/* Whether all coordinates of the element in its tile are equal in both. */
static bool lanes_are_known(const PairProof *pair) {
    const Quantities *quantities = quantities_of(pair);
    uint32_t lanes = pair->access[0]->lanes;
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        if (quantities->atoms[i].kind == ATOM_LANE && pair->known[i])
            lanes &= ~(1u << quantities->atoms[i].axis);
    return !lanes;
}

/* Whether all turns of loops around an access are equal in both. Branches between blocks may be a loop. */
static bool turns_are_known(const PairProof *pair) {
    const Quantities *quantities = quantities_of(pair);
    for (const Op *op = pair->access[0]->op; op && op != pair->prover->function; op = op_parent(op)) {
        bool found = false;
        if (op->block && op->block->region->block_count > 1)
            return false;
        if (!op_is_loop(op))
            continue;
        for (uint32_t i = 0; i < quantities->atom_count && !found; i++)
            found = quantities->atoms[i].kind == ATOM_TRIP && quantities->atoms[i].key == op && pair->known[i];
        if (!found)
            return false;
    }
    return true;
}

/* Whether two accesses of one program to one element are in order: the same thread makes both. */
static bool is_ordered(PairProof *pair) {
    const ProofAccess *a = pair->access[0], *b = pair->access[1];
    Partitions first = partitions_of(a->op), second = partitions_of(b->op);
    bool alone = !(first.mask & (first.mask - 1)) && first.mask == second.mask; /* one partition makes both */
    if (pair->apart)
        return true;
    if (a->async || b->async) {
        pair->problem = a == b ? "asynchronous accesses of two trips may be to the same element"
                               : "one of them is asynchronous, and both may be to the same element in one program";
        return a == b && alone && lanes_are_known(pair) && turns_are_known(pair);
    }
    pair->problem = "two threads of a program may come to the same element";
    bool same = a->mapping && a->mapping == b->mapping &&
                (!a->copies || (a->writes && b->writes)); /* of threads with copies the first one writes */
    return alone && lanes_are_known(pair) && (a == b || same);
}

static const char *access_word(const ProofAccess *access) {
    return access->effect.verb == EFFECT_UPDATE ? "atomic" : access->writes ? "store" : "load";
}

/* `inside`: it is about one program. */
static void leave_open(Prover *prover, const ProofAccess *a, const ProofAccess *b, bool inside, const char *reason) {
    Text text = {0};
    bool call = op_is_control(a->op, CONTROL_CALL);
    proof_place(prover, a->op, call ? "call" : access_word(a), &text);
    if (a->root != ROOT_UNKNOWN && a != b) {
        text_addf(&text, " against the ");
        proof_place(prover, b->op, access_word(b), &text);
    } else if (a->root != ROOT_UNKNOWN) {
        text_addf(&text, inside ? " against itself" : " against itself in another program");
    }
    text_addf(&text, ": %s", reason);
    proof_open_text(prover, a->op, reason, &text);
}

static void print_pair(const PairProof *pair) {
    Text text = {0};
    const ProofAccess *a = pair->access[0], *b = pair->access[1];
    text_addf(&text, "%s at line %u", access_word(a), op_line(pair->prover->module, a->op));
    if (a != b)
        text_addf(&text, " and %s at line %u", access_word(b), op_line(pair->prover->module, b->op));
    text_plainf(&text, " of %s: element ", pair->subject);
    quantity_print(quantities_of(pair), a->offset, &text);
    if (a->offset != b->offset) {
        text_addf(&text, " and ");
        quantity_print(quantities_of(pair), b->offset, &text);
    }
    if (pair->alike)
        text_addf(&text, ", where every program writes the same");
    proof_step(pair->prover, "%.*s", (int)text.size, text.data);
    text_free(&text);
}

/* From here on, both accesses are of one program. */
static void take_one_program(PairProof *pair) {
    const Quantities *quantities = quantities_of(pair);
    proof_take(pair->prover, PROOF_SAME, 0, 0, NULL);
    for (uint32_t i = 0; i < quantities->atom_count; i++)
        pair->known[i] |= quantities->atoms[i].kind == ATOM_PROGRAM;
}

static void prove_pair(Prover *prover, const ProofAccess *a, const ProofAccess *b) {
    if ((!a->writes && !b->writes) || (a->root >= 0 && b->root >= 0 && a->root != b->root))
        return;
    bool own = a->root == ROOT_OWN && b->root == ROOT_OWN; /* no other program comes there */
    if (!own && ((a->root == ROOT_OWN && b->root >= 0) || (b->root == ROOT_OWN && a->root >= 0)))
        return;
    if (own && op_describes(a->op) == DESCRIBE_MAP && op_describes(b->op) == DESCRIBE_MAP)
        return; /* descriptors, each of which one thread writes */
    if (a->strong && b->strong && a->bytes == b->bytes && a->effect.verb != EFFECT_ANYTHING &&
        b->effect.verb != EFFECT_ANYTHING) {
        proof_assume(prover, "memory that atomics access is accessed by one device");
        return;
    }
    if (a->problem || b->problem) {
        leave_open(prover, a->problem ? a : b, a->problem ? b : a, false, a->problem ? a->problem : b->problem);
        return;
    }
    PairProof pair = {.prover = prover, .access = {a, b}, .equations = 1};
    pair.subject = own ? "memory of its own" : prover->proof->names[a->root];
    const ProofAccess *first = prover->proof->accesses;
    proof_take(prover, PROOF_PAIR, (uint32_t)(a - first), (uint32_t)(b - first), NULL);
    quantity_bound(&prover->proof->quantities, a->offset, -BOUND_NONE + 1, BOUND_NONE - 1);
    quantity_bound(&prover->proof->quantities, b->offset, -BOUND_NONE + 1, BOUND_NONE - 1);
    bool good = a->bytes == b->bytes;
    pair.problem = good ? NULL : "elements of two sizes";
    if (own)
        take_one_program(&pair);
    good = good && equate(&pair, 0, a->offset, b->offset);
    if (good)
        saturate(&pair);
    good = good && (own || programs_differ(&pair));
    if (good && !own) {
        take_one_program(&pair);
        saturate(&pair);
    }
    bool inside = good || own;
    good = good && is_ordered(&pair);
    proof_take(prover, PROOF_ORDERED, 0, 0, NULL);
    if (!good)
        leave_open(prover, a, b, inside, pair.problem ? pair.problem : "it is not understood");
    print_pair(&pair);
}

/* CTAs of a cluster that share a program id would have to be distinguished. */
static bool has_clusters(const Prover *prover) {
    static const char *const names[] = {"ttg.num-ctas", "ttg.cluster-dim-x", "ttg.cluster-dim-y", "ttg.cluster-dim-z"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const Attr *attr = op_attr_around(prover->function, names[i]);
        if (attr && (attr->kind != ATTR_INTEGER || attr->integer != 1))
            return true;
    }
    return false;
}

void prove_global(Prover *prover) {
    ProofAccesses accesses = proof_accesses(prover);
    Proof *proof = prover->proof;
    bool writes = false;
    proof->accesses = accesses.all;
    proof->access_count = accesses.count;
    proof->writes = ARENA_ARRAY(prover->arena, bool, proof->name_count + 1);
    for (uint32_t i = 0; i < accesses.count; i++) {
        const ProofAccess *access = &accesses.all[i];
        writes |= access->writes;
        if (access->root >= 0 && (uint32_t)access->root < proof->name_count)
            proof->writes[access->root] |= access->writes;
    }
    if (writes && has_clusters(prover)) {
        proof_open(prover, NULL, "clusters", "it writes global memory, and CTAs of a cluster are not distinguished");
        return;
    }
    for (uint32_t i = 0; i < accesses.count; i++)
        for (uint32_t k = i; k < accesses.count && !prover_is_late(prover); k++)
            prove_pair(prover, &accesses.all[i], &accesses.all[k]);
}
