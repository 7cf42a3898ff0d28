/* How sums, multiples and comparisons of values change from CTA to CTA, and the bounds within which that holds. */
#include "machine/simt/core/symmetry_internal.h"

const Change change_same = {.kept = true}, change_differs = {.kept = false};

/* ---- Bounds ---- */

/* The change times d stays from `least` to `most`. */
void change_bind(PtxSymmetry *symmetry, const Change *change, int64_t least, int64_t most) {
    if (change_is_same(change))
        return;
    for (uint32_t i = 0; i < symmetry->bound_count; i++) {
        PtxSymmetryBound *bound = &symmetry->bounds[i];
        if (memcmp(bound->by, change->by, sizeof bound->by))
            continue;
        bound->least = least > bound->least ? least : bound->least;
        bound->most = most < bound->most ? most : bound->most;
        return;
    }
    PtxSymmetryBound *bound =
        ARENA_PUSH(symmetry->arena, symmetry->bounds, symmetry->bound_count, symmetry->bound_capacity);
    *bound = (PtxSymmetryBound){.least = least, .most = most};
    memcpy(bound->by, change->by, sizeof bound->by);
}

bool change_breaks(const Change *change, uint32_t bytes) {
    uint64_t align = bytes & -bytes; /* the power of two in it */
    return align && ((uint64_t)(change->by[0] | change->by[1] | change->by[2]) & (align - 1));
}

/* A whole number of up to 63 bits, or 64 signed ones; of an unsigned one of 64 bits from 2^63 on, less 2^64. */
static int64_t as_number(uint64_t value, unsigned bits, bool is_signed) {
    if (bits >= 64)
        return (int64_t)value;
    return is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)(value & ((UINT64_C(1) << bits) - 1));
}

/* As a number of that type it does not wrap, in any of the lanes: then it changes as a whole number does. An unsigned
 * one of 64 bits stays in its half, so that what as_number says of it has the order that it has. */
static void bind_type(PtxSymmetry *symmetry, const Change *change, const Lanes *values, uint32_t lanes, unsigned bits,
                      bool is_signed) {
    if (change_is_same(change))
        return;
    int64_t low = is_signed ? bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        int64_t value = as_number(values->at[lane], bits, is_signed), down, up;
        bool upper = !is_signed && value < 0;
        if (!__builtin_sub_overflow(upper ? INT64_MIN : low, value, &down) && down > least)
            least = down;
        if (!__builtin_sub_overflow(upper ? -1 : high, value, &up) && up < most)
            most = up;
    }
    change_bind(symmetry, change, least, most);
}

bool lanes_uniform(const Lanes *values, uint32_t lanes, uint64_t *value) {
    *value = values->at[__builtin_ctz(lanes)];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && values->at[lane] != *value)
            return false;
    return true;
}

Change change_sum(Change a, Change b, int64_t sign) {
    if (!a.kept || !b.kept)
        return change_differs;
    for (unsigned i = 0; i < 3; i++) {
        int64_t more;
        if (__builtin_mul_overflow(b.by[i], sign, &more) || __builtin_add_overflow(a.by[i], more, &a.by[i]))
            return change_differs;
    }
    return a;
}

static Change times(const SymmetryStep *s, const Read *a, const Read *by) {
    uint64_t factor;
    Change change = a->change;
    if (!change_is_same(&by->change) || !lanes_uniform(by->values, s->lanes, &factor))
        return change_differs;
    int64_t number = as_number(factor, s->about->from_bits ? s->about->from_bits : s->about->bits, true);
    if (s->about->from_bits && !s->about->from_signed)
        number = as_number(factor, s->about->from_bits, false);
    for (unsigned i = 0; i < 3; i++)
        if (__builtin_mul_overflow(change.by[i], number, &change.by[i]))
            return change_differs;
    return change;
}

Change change_multiplied(SymmetryStep *s) {
    const Read *a = &s->in[0], *b = &s->in[1];
    if (change_is_same(&a->change) && change_is_same(&b->change))
        return change_same;
    if (!a->change.kept || !b->change.kept || code_has(s->code, STR("hi")))
        return change_differs;
    const Read *changes = change_is_same(&a->change) ? b : a;
    if (s->about->from_bits)
        bind_type(s->symmetry, &changes->change, changes->values, s->lanes, s->about->from_bits, s->about->from_signed);
    return times(s, changes, changes == a ? b : a);
}

/* The lowest bit that a change has in any direction: what is below it stays. */
static unsigned low_bits(const Change *change) {
    uint64_t all = (uint64_t)(change->by[0] | change->by[1] | change->by[2]);
    return all ? (unsigned)__builtin_ctzll(all) : 64;
}

/* Whether all lanes have nothing above (or below) that bit. */
static bool fits(const Lanes *values, uint32_t lanes, unsigned bit, bool below) {
    if (bit >= 64)
        return below;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && (below ? values->at[lane] >> bit : values->at[lane] & ((UINT64_C(1) << bit) - 1)))
            return false;
    return true;
}

/* a | b or a ^ b, of which one changes in bits that the other has not. */
Change change_merged(const SymmetryStep *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        unsigned bit = low_bits(&a->change);
        if (a->change.kept && change_is_same(&b->change) && fits(b->values, s->lanes, bit, true) &&
            fits(a->values, s->lanes, bit, false))
            return a->change;
    }
    return change_differs;
}

/* a & b, where b has only bits below those that change, or all from there on. */
Change change_masked(const SymmetryStep *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        unsigned bit = low_bits(&a->change);
        uint64_t mask;
        if (!a->change.kept || !change_is_same(&b->change) || !lanes_uniform(b->values, s->lanes, &mask))
            continue;
        if (bit >= 64 || !(mask >> bit))
            return change_same;
        uint64_t top = s->about->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << s->about->bits) - 1;
        if ((mask | ((UINT64_C(1) << bit) - 1)) == top)
            return a->change;
    }
    return change_differs;
}

Change change_shifted_right(SymmetryStep *s) {
    uint64_t by;
    Change change = s->in[0].change;
    if (!change.kept || !change_is_same(&s->in[1].change) || !lanes_uniform(s->in[1].values, s->lanes, &by) ||
        by > low_bits(&change))
        return change_differs;
    bind_type(s->symmetry, &change, s->in[0].values, s->lanes, s->about->bits, s->about->is_signed);
    for (unsigned i = 0; i < 3; i++)
        change.by[i] >>= by;
    return change;
}

/* a / b or a % b, of a change by multiples of b. */
Change change_divided(SymmetryStep *s, bool remainder) {
    uint64_t by;
    Change change = s->in[0].change;
    if (!change.kept || !change_is_same(&s->in[1].change) || !lanes_uniform(s->in[1].values, s->lanes, &by))
        return change_differs;
    int64_t number = as_number(by, s->about->bits, s->about->is_signed);
    for (unsigned i = 0; i < 3; i++)
        if (number <= 0 || change.by[i] % number)
            return change_differs;
    /* Only from 0 on: below it division rounds the other way. */
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(s->lanes >> lane & 1))
            continue;
        int64_t value = as_number(s->in[0].values->at[lane], s->about->bits, s->about->is_signed);
        if (value < 0)
            return change_differs;
        least = -value > least ? -value : least;
        int64_t top =
            s->about->bits >= 64 ? INT64_MAX : (INT64_C(1) << (s->about->bits - (s->about->is_signed ? 1 : 0))) - 1;
        most = top - value < most ? top - value : most;
    }
    change_bind(s->symmetry, &s->in[0].change, least, most);
    for (unsigned i = 0; i < 3; i++)
        change.by[i] = remainder ? 0 : change.by[i] / number;
    return change;
}

Change change_converted(SymmetryStep *s) {
    const Read *a = &s->in[0];
    if (!s->about->bits || !s->about->from_bits || code_has(s->code, STR("sat")))
        return change_is_same(&a->change) ? change_same : change_differs;
    if (s->about->bits > s->about->from_bits)
        bind_type(s->symmetry, &a->change, a->values, s->lanes, s->about->from_bits, s->about->from_signed);
    return a->change;
}

/* ---- Comparisons ---- */

/* What the comparison of a with b says stays as it is: bounds for t = a - b, which changes by `change`. */
static bool bind_difference(PtxSymmetry *symmetry, const Change *change, uint8_t compare, const int64_t *t,
                            uint32_t lanes) {
    int64_t least = INT64_MIN, most = INT64_MAX; /* of t over those below, and from 0 on */
    bool below = false, equal_there = false, above = false;
    int64_t most_below = INT64_MIN, least_above = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (t[lane] < 0) {
            below = true;
            most_below = t[lane] > most_below ? t[lane] : most_below;
        } else if (t[lane] > 0) {
            above = true;
            least_above = t[lane] < least_above ? t[lane] : least_above;
        } else {
            equal_there = true;
        }
    }
    /* Each of three kinds stays what it is, but that which the comparison does not tell apart may mix. */
    bool with_below = compare == COMPARE_LE || compare == COMPARE_GT,
         with_above = compare == COMPARE_LT || compare == COMPARE_GE;
    if (compare == COMPARE_EQ || compare == COMPARE_NE) {
        if (equal_there)
            least = most = 0;
    } else if (equal_there) {
        if (with_below)
            most = 0;
        if (with_above)
            least = 0;
    }
    if (below) {
        int64_t limit = -most_below - (with_below ? 0 : 1);
        most = limit < most ? limit : most;
    }
    if (above) {
        int64_t limit = -least_above + (with_above ? 0 : 1);
        least = limit > least ? limit : least;
    }
    change_bind(symmetry, change, least, most);
    return true;
}

/* Whether the outcome is the same in all CTAs for which the bounds hold. */
bool change_compared(SymmetryStep *s) {
    Change change = change_sum(s->in[0].change, s->in[1].change, -1);
    if (change_is_same(&s->in[0].change) && change_is_same(&s->in[1].change))
        return true;
    if (!change.kept || !s->about->bits || !s->about->compare)
        return false;
    int64_t t[PTX_LANES];
    for (unsigned i = 0; i < 2; i++)
        bind_type(s->symmetry, &s->in[i].change, s->in[i].values, s->lanes, s->about->bits, s->about->is_signed);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        int64_t a = as_number(s->in[0].values->at[lane], s->about->bits, s->about->is_signed);
        int64_t b = as_number(s->in[1].values->at[lane], s->about->bits, s->about->is_signed);
        if (s->lanes >> lane & 1 && (__builtin_sub_overflow(a, b, &t[lane]) || t[lane] == INT64_MIN))
            return false;
    }
    return change_is_same(&change) || bind_difference(s->symmetry, &change, s->about->compare, t, s->lanes);
}
