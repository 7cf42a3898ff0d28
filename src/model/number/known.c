/* Arithmetic on bounds and remainders. Sums and products are made in 128 bits, so that nothing is lost before it is
 * clear whether the result fits. */
#include "model/number/known.h"

typedef __int128 KnownWide;

static KnownWide absolute(KnownWide n) {
    return n < 0 ? -n : n;
}

static KnownWide common_divisor(KnownWide a, KnownWide b) {
    a = absolute(a);
    b = absolute(b);
    while (b) {
        KnownWide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static KnownWide least_of(KnownWide a, KnownWide b) {
    return a < b ? a : b;
}

static KnownWide most_of(KnownWide a, KnownWide b) {
    return a > b ? a : b;
}

/* The largest power of two that divides `n`, 2^62 at most; 2^62 for 0. */
static int64_t power_in(KnownWide n) {
    int64_t power = 1;
    while (power < (int64_t)1 << 62 && n % (2 * (KnownWide)power) == 0)
        power *= 2;
    return power;
}

/* ---- Making them ---------------------------------------------------------------------------------- */

/* Brings the fields into agreement. `modulus` 0 means exact only together with bounds that say so. */
static IntDomain settled(KnownWide least, KnownWide most, KnownWide modulus, KnownWide remainder) {
    IntDomain known = {.least = least < INT64_MIN ? INT64_MIN : (int64_t)least,
                       .most = most > INT64_MAX ? INT64_MAX : (int64_t)most};
    known.exact = known.least == known.most;
    if (known.exact) {
        known.remainder = known.least;
        known.divisor = known.least == INT64_MIN ? (int64_t)1 << 62
                        : known.least            ? (int64_t)absolute(known.least)
                                                 : INT64_MAX;
        return known;
    }
    if (modulus == 0 || modulus > INT64_MAX)
        modulus = power_in(modulus);
    known.modulus = (int64_t)modulus;
    remainder %= modulus;
    known.remainder = (int64_t)(remainder < 0 ? remainder + modulus : remainder);
    known.divisor = (int64_t)common_divisor(known.modulus, known.remainder);
    return known;
}

IntDomain known_nothing(void) {
    return settled(INT64_MIN, INT64_MAX, 1, 0);
}

IntDomain known_exact(int64_t value) {
    return settled(value, value, 0, value);
}

IntDomain known_between(int64_t least, int64_t most) {
    return settled(least, most, 1, 0);
}

IntDomain known_multiple(int64_t divisor) {
    return settled(INT64_MIN, INT64_MAX, divisor, 0);
}

Tribool known_is_multiple(const IntDomain *known, int64_t n) {
    if (known->exact)
        return known->least % n == 0 ? TRIBOOL_TRUE : TRIBOOL_FALSE;
    if (known->modulus % n == 0 && known->remainder % n == 0)
        return TRIBOOL_TRUE;
    return known->remainder % common_divisor(known->modulus, n) ? TRIBOOL_FALSE : TRIBOOL_UNKNOWN;
}

bool known_equal(const IntDomain *a, const IntDomain *b) {
    return a->least == b->least && a->most == b->most && a->modulus == b->modulus && a->remainder == b->remainder;
}

IntDomain known_join(const IntDomain *a, const IntDomain *b) {
    if (known_equal(a, b))
        return *a;
    KnownWide apart = (KnownWide)a->remainder - b->remainder;
    KnownWide modulus = common_divisor(common_divisor(a->modulus, b->modulus), apart);
    return settled(least_of(a->least, b->least), most_of(a->most, b->most), modulus, a->remainder);
}

/* Of the two moduli the finer one is kept, which need not be all that both say together. */
IntDomain known_both(const IntDomain *a, const IntDomain *b) {
    KnownWide least = most_of(a->least, b->least), most = least_of(a->most, b->most);
    const IntDomain *finer = a->exact || (!b->exact && a->modulus >= b->modulus) ? a : b;
    if (least > most)
        return *finer;
    return settled(least, most, finer->modulus, finer->remainder);
}

IntDomain known_widened(const IntDomain *before, const IntDomain *after) {
    return settled(after->least < before->least ? INT64_MIN : after->least,
                   after->most > before->most ? INT64_MAX : after->most, after->modulus, after->remainder);
}

IntDomain known_counting(const IntDomain *start, const IntDomain *step, int64_t least, int64_t most) {
    KnownWide modulus = common_divisor(start->modulus, common_divisor(step->modulus, step->remainder));
    return settled(least, most, modulus, start->remainder);
}

/* ---- Widths --------------------------------------------------------------------------------------- */

static KnownWide type_least(unsigned width) {
    return width == 1 ? 0 : -((KnownWide)1 << (width - 1));
}

static KnownWide type_most(unsigned width) {
    return width == 1 ? 1 : ((KnownWide)1 << (width - 1)) - 1;
}

IntDomain known_bounded(const IntDomain *known, unsigned width) {
    return settled(most_of(known->least, type_least(width)), least_of(known->most, type_most(width)), known->modulus,
                   known->remainder);
}

/* A number of `width` bits, from what it would be without wrapping around. Bounds that only repeat those of the type
 * are not known. */
static IntDomain fitted(KnownWide least, KnownWide most, KnownWide modulus, KnownWide remainder, unsigned width) {
    KnownWide lowest = type_least(width), highest = type_most(width);
    if (least < lowest || most > highest) {
        KnownWide turn = (KnownWide)1 << width;
        if (least == most) {
            KnownWide value = least & (turn - 1);
            value = width > 1 && value > highest ? value - turn : value;
            return settled(value, value, 0, value);
        }
        modulus = common_divisor(modulus, turn);
        least = lowest;
        most = highest;
    }
    return settled(least == lowest && width > 1 ? INT64_MIN : least, most == highest && width > 1 ? INT64_MAX : most,
                   modulus, remainder);
}

IntDomain known_wrap(const IntDomain *known, unsigned width) {
    return fitted(known->least, known->most, known->modulus, known->remainder, width);
}

IntDomain known_unsigned(const IntDomain *known, unsigned width) {
    IntDomain bounded = known_bounded(known, width);
    if (bounded.least >= 0)
        return bounded;
    KnownWide turn = (KnownWide)1 << width;
    if (bounded.most < 0)
        return settled(bounded.least + turn, bounded.most + turn, bounded.modulus, bounded.remainder + turn);
    return settled(0, turn - 1, common_divisor(bounded.modulus, turn), bounded.remainder);
}

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

IntDomain known_add(const IntDomain *a, const IntDomain *b, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    return fitted((KnownWide)x.least + y.least, (KnownWide)x.most + y.most, common_divisor(x.modulus, y.modulus),
                  (KnownWide)x.remainder + y.remainder, width);
}

static IntDomain subtract(const IntDomain *a, const IntDomain *b, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    return fitted((KnownWide)x.least - y.most, (KnownWide)x.most - y.least, common_divisor(x.modulus, y.modulus),
                  (KnownWide)x.remainder - y.remainder, width);
}

/* The least and the most of four corners. */
static IntDomain of_corners(const KnownWide corners[4], KnownWide modulus, KnownWide remainder, unsigned width) {
    KnownWide least = corners[0], most = corners[0];
    for (int i = 1; i < 4; i++) {
        least = least_of(least, corners[i]);
        most = most_of(most, corners[i]);
    }
    return fitted(least, most, modulus, remainder, width);
}

IntDomain known_multiply(const IntDomain *a, const IntDomain *b, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    const KnownWide corners[4] = {(KnownWide)x.least * y.least, (KnownWide)x.least * y.most,
                                  (KnownWide)x.most * y.least, (KnownWide)x.most * y.most};
    /* (m s + r)(n t + q) = mn st + mq s + nr t + rq */
    KnownWide modulus =
        common_divisor((KnownWide)x.modulus * y.modulus,
                       common_divisor((KnownWide)x.modulus * y.remainder, (KnownWide)y.modulus * x.remainder));
    return of_corners(corners, modulus, (KnownWide)x.remainder * y.remainder, width);
}

static KnownWide quotient(KnownWide a, KnownWide b, int rounding) {
    KnownWide result = a / b, rest = a % b;
    if (rest && (rest < 0) == (b < 0) && rounding == 1)
        return result + 1;
    return rest && (rest < 0) != (b < 0) && rounding == -1 ? result - 1 : result;
}

IntDomain known_divide(const IntDomain *a, const IntDomain *b, int rounding, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    if (y.least <= 0)
        return known_nothing();
    const KnownWide corners[4] = {quotient(x.least, y.least, rounding), quotient(x.least, y.most, rounding),
                                  quotient(x.most, y.least, rounding), quotient(x.most, y.most, rounding)};
    bool even = y.exact && x.modulus % y.least == 0 && x.remainder % y.least == 0;
    return of_corners(corners, even ? x.modulus / y.least : 1, even ? x.remainder / y.least : 0, width);
}

static IntDomain remainder_of(const IntDomain *a, const IntDomain *b, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    if (y.least <= 0)
        return known_nothing();
    if (x.least >= 0 && x.most < y.least)
        return x;
    KnownWide most = least_of((KnownWide)y.most - 1, most_of(x.most, 0)),
              least = x.least >= 0 ? 0 : 1 - (KnownWide)y.most;
    KnownWide modulus = common_divisor(x.modulus, common_divisor(y.modulus, y.remainder));
    return fitted(least, most, modulus, x.remainder, width);
}

static IntDomain minimum(const IntDomain *a, const IntDomain *b) {
    if (a->most <= b->least)
        return *a;
    if (b->most <= a->least)
        return *b;
    IntDomain joined = known_join(a, b);
    return settled(joined.least, least_of(a->most, b->most), joined.modulus, joined.remainder);
}

static IntDomain maximum(const IntDomain *a, const IntDomain *b) {
    if (a->least >= b->most)
        return *a;
    if (b->least >= a->most)
        return *b;
    IntDomain joined = known_join(a, b);
    return settled(most_of(a->least, b->least), joined.most, joined.modulus, joined.remainder);
}

/* ---- Bits ----------------------------------------------------------------------------------------- */

static int64_t combined(int64_t a, int64_t b, Evaluator operation) {
    return operation == EVALUATE_AND ? a & b : operation == EVALUATE_OR ? a | b : a ^ b;
}

/* The largest power of two that divides every value. */
static int64_t power_of(const IntDomain *known) {
    return power_in(known->exact ? known->least : known->divisor);
}

/* The lowest number of the form 2^n - 1 that is not below `most`. */
static int64_t ones_above(int64_t most) {
    int64_t ones = 0;
    while (ones < most)
        ones = 2 * ones + 1;
    return ones;
}

static IntDomain bits_bounds(const IntDomain *x, const IntDomain *y, Evaluator operation) {
    if (operation == EVALUATE_AND && (x->least >= 0 || y->least >= 0)) {
        bool both = x->least >= 0 && y->least >= 0;
        return known_between(0, both ? (int64_t)least_of(x->most, y->most) : x->least >= 0 ? x->most : y->most);
    }
    if (x->least >= 0 && y->least >= 0)
        return known_between(0, ones_above((int64_t)most_of(x->most, y->most)));
    return known_nothing();
}

static IntDomain bits(const IntDomain *a, const IntDomain *b, Evaluator operation, unsigned width) {
    IntDomain x = known_bounded(a, width), y = known_bounded(b, width);
    if (x.exact && y.exact)
        return known_exact(combined(x.least, y.least, operation));
    IntDomain bounds = bits_bounds(&x, &y, operation);
    /* The lowest bits of both are known up to the smaller of the powers of two in their moduli. */
    int64_t low = (int64_t)least_of(power_in(x.modulus), power_in(y.modulus));
    int64_t remainder = combined(x.remainder, y.remainder, operation);
    int64_t zeros = (int64_t)most_of(power_of(&x), power_of(&y));
    if (operation == EVALUATE_AND && zeros > low) {
        low = zeros;
        remainder = 0;
    }
    return fitted(most_of(bounds.least, type_least(width)), least_of(bounds.most, type_most(width)), low, remainder,
                  width);
}

/* ---- By evaluator --------------------------------------------------------------------------------- */

IntDomain known_evaluated(Evaluator code, unsigned to, unsigned width, int64_t attribute, const IntDomain *x,
                          const IntDomain *y) {
    bool positive = x->least >= 0 && y->least >= 0;
    /* A shift by y is a product or a quotient; 0: it cannot be said of which number. */
    IntDomain power = known_exact(y->exact && y->least >= 0 && y->least < 62 ? (int64_t)1 << y->least : 0);
    switch (code) {
    case EVALUATE_ADD:
        return known_add(x, y, width);
    case EVALUATE_SUBTRACT:
        return subtract(x, y, width);
    case EVALUATE_MULTIPLY:
        return known_multiply(x, y, width);
    case EVALUATE_DIVIDE_SIGNED:
        return known_divide(x, y, 0, width);
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
        return known_divide(x, y, -1, width);
    case EVALUATE_DIVIDE_CEIL_SIGNED:
        return known_divide(x, y, 1, width);
    case EVALUATE_REMAINDER_SIGNED:
        return remainder_of(x, y, width);
    case EVALUATE_DIVIDE_UNSIGNED:
        return positive ? known_divide(x, y, 0, width) : known_nothing();
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
        return positive ? known_divide(x, y, 1, width) : known_nothing();
    case EVALUATE_REMAINDER_UNSIGNED:
        if (!positive && y->least > 0)
            return known_between(0, y->most - 1);
        return positive ? remainder_of(x, y, width) : known_nothing();
    case EVALUATE_MINIMUM_SIGNED:
        return minimum(x, y);
    case EVALUATE_MAXIMUM_SIGNED:
        return maximum(x, y);
    case EVALUATE_MINIMUM_UNSIGNED:
        return positive ? minimum(x, y) : known_join(x, y);
    case EVALUATE_MAXIMUM_UNSIGNED:
        return positive ? maximum(x, y) : known_join(x, y);
    case EVALUATE_AND:
    case EVALUATE_OR:
    case EVALUATE_XOR:
        return bits(x, y, code, width);
    case EVALUATE_SHIFT_LEFT:
        return power.least ? known_multiply(x, &power, width) : known_nothing();
    case EVALUATE_SHIFT_RIGHT_SIGNED:
        return power.least ? known_divide(x, &power, -1, width) : known_nothing();
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return power.least && x->least >= 0 ? known_divide(x, &power, 0, width) : known_nothing();
    case EVALUATE_SIGN_EXTEND:
        return width == 1 ? known_between(-1, 0) : known_wrap(x, to);
    case EVALUATE_ZERO_EXTEND: {
        IntDomain plain = known_unsigned(x, width);
        return known_wrap(&plain, to);
    }
    case EVALUATE_WRAP:
        return known_wrap(x, to);
    case EVALUATE_SAME:
        return *x;
    case EVALUATE_ADD_POINTER: {
        IntDomain size = known_exact(attribute), bytes = known_multiply(y, &size, 64);
        return known_add(x, &bytes, 64);
    }
    default:
        return known_nothing();
    }
}

IntDomain known_compared(Comparison comparison, const IntDomain *x, const IntDomain *y) {
    if (comparison >= COMPARE_ULT && (x->least < 0 || y->least < 0))
        return known_between(0, 1);
    switch (comparison) {
    case COMPARE_SLT:
    case COMPARE_ULT:
        return x->most < y->least ? known_exact(1) : x->least >= y->most ? known_exact(0) : known_between(0, 1);
    case COMPARE_SLE:
    case COMPARE_ULE:
        return x->most <= y->least ? known_exact(1) : x->least > y->most ? known_exact(0) : known_between(0, 1);
    case COMPARE_EQ:
    case COMPARE_NE:
        if (x->most < y->least || x->least > y->most)
            return known_exact(comparison == COMPARE_NE);
        return known_between(0, 1);
    default:
        return known_compared(comparison_mirrored(comparison), y, x);
    }
}

IntDomain known_where(const IntDomain *x, Comparison comparison, const IntDomain *y) {
    IntDomain bound = known_nothing();
    switch (comparison) {
    case COMPARE_EQ:
        return known_both(x, y);
    case COMPARE_NE:
        if (y->exact && x->most == y->least && x->least < x->most)
            bound = known_between(INT64_MIN, x->most - 1);
        else if (y->exact && x->least == y->least && x->least < x->most)
            bound = known_between(x->least + 1, INT64_MAX);
        break;
    case COMPARE_ULT:
    case COMPARE_ULE:
        if (y->least < 0)
            break;
        bound = known_between(0, y->most - (comparison == COMPARE_ULT && y->most > 0));
        break;
    case COMPARE_UGT:
    case COMPARE_UGE:
        if (x->least < 0 || y->least < 0)
            break;
        bound = known_between(y->least + (comparison == COMPARE_UGT && y->least < INT64_MAX), INT64_MAX);
        break;
    case COMPARE_SLT:
    case COMPARE_SLE:
        bound = known_between(INT64_MIN, y->most - (comparison == COMPARE_SLT && y->most > INT64_MIN));
        break;
    case COMPARE_SGT:
    case COMPARE_SGE:
        bound = known_between(y->least + (comparison == COMPARE_SGT && y->least < INT64_MAX), INT64_MAX);
        break;
    }
    return known_both(x, &bound);
}
