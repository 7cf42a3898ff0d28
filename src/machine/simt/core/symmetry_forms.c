/* Affine forms of sums, multiples, quotients and comparisons of whole warps, and the box of CTAs in which they hold. */
#include "machine/simt/core/symmetry_internal.h"

const AffineForm affine_same = {.loose = false}, affine_loose = {.loose = true};

/* ---- Numbers ---- */

/* What a number of that form is in other CTAs lies from `least` to `most` further on. */
static void keep(const SymmetryStep *s, const AffineForm *form, int64_t least, int64_t most) {
    symmetry_keep(s->box, form, 0, least, most);
}

/* A whole number of up to 63 bits, or 64 signed ones; of an unsigned one of 64 bits from 2^63 on, less 2^64. */
static int64_t as_number(uint64_t value, unsigned bits, bool is_signed) {
    if (bits >= 64)
        return (int64_t)value;
    return is_signed ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)(value & ((UINT64_C(1) << bits) - 1));
}

/* As a number of that type it does not wrap, in any of the lanes: then it changes as a whole number does. An unsigned
 * one of 64 bits stays in its half, so that what as_number says of it has the order that it has. */
static void keep_type(const SymmetryStep *s, const Read *read, unsigned bits, bool is_signed) {
    if (read->form.loose || is_same(s, &read->form))
        return;
    int64_t low = is_signed ? bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1)) : 0;
    int64_t high = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(s->lanes >> lane & 1))
            continue;
        int64_t value = as_number(read->values->at[lane], bits, is_signed), down, up;
        bool upper = !is_signed && value < 0;
        if (!__builtin_sub_overflow(upper ? INT64_MIN : low, value, &down) && down > least)
            least = down;
        if (!__builtin_sub_overflow(upper ? -1 : high, value, &up) && up < most)
            most = up;
    }
    keep(s, &read->form, least, most);
}

bool lanes_uniform(const Lanes *values, uint32_t lanes, uint64_t *value) {
    *value = values->at[__builtin_ctz(lanes)];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && values->at[lane] != *value)
            return false;
    return true;
}

/* ---- Sums and multiples ---- */

AffineForm affine_sum(const AffineForm *a, const AffineForm *b, int64_t times) {
    AffineForm sum;
    return symmetry_combine(a, b, times, &sum) && !sum.loose ? sum : affine_loose;
}

/* Whether quotients of that form by a positive number have one: where their remainders stay, or are made to. */
static bool divides(const SymmetryStep *s, const AffineForm *form, int64_t by) {
    AffineForm rest = *form;
    for (unsigned axis = 0; axis < AXES; axis++)
        rest.by[axis] %= by;
    return !form->loose && (s->symmetry->narrows || is_same(s, &rest));
}

/* Upper halves of products: rounded down, as of division by a power of two. */
static AffineForm quotients(const SymmetryStep *s, const AffineForm *form, const int64_t *values, int64_t by,
                            AffineForm *rest);

AffineForm affine_multiplied(SymmetryStep *s) {
    const SymmetryAbout *about = s->about;
    bool second = is_same(s, &s->in[0].form), high = code_has(s->code, STR("hi"));
    const Read *changes = &s->in[second], *same = &s->in[!second];
    unsigned bits = about->from_bits ? about->from_bits : about->bits;
    bool is_signed = about->from_bits ? about->from_signed : about->is_signed;
    uint64_t value;
    if (is_same(s, &s->in[0].form) && is_same(s, &s->in[1].form))
        return affine_same;
    if (changes->form.loose || !is_same(s, &same->form) || !lanes_uniform(same->values, s->lanes, &value) ||
        (high && (bits > 32 || !s->symmetry->narrows)))
        return affine_loose;
    bool whole = about->from_bits || high; /* else it is taken modulo a power of two */
    int64_t factor = as_number(value, bits, is_signed || !whole);
    if (whole)
        keep_type(s, changes, bits, is_signed);
    AffineForm product = affine_sum(&affine_same, &changes->form, factor), rest;
    if (!high || product.loose)
        return product;
    int64_t values[PTX_LANES];
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        values[lane] = (int64_t)((uint64_t)as_number(changes->values->at[lane], bits, is_signed) * (uint64_t)factor);
    return quotients(s, &product, values, INT64_C(1) << bits, &rest);
}

/* The lowest bit that a form changes: what is below it stays. */
static unsigned low_bits(const AffineForm *form) {
    uint64_t all = (uint64_t)(form->by[0] | form->by[1] | form->by[2]);
    return all ? (unsigned)__builtin_ctzll(all) : 64;
}

/* Whether all lanes have nothing from that bit on. */
static bool is_below(const Lanes *values, uint32_t lanes, unsigned bit) {
    for (unsigned lane = 0; bit < 64 && lane < PTX_LANES; lane++)
        if (lanes >> lane & 1 && values->at[lane] >> bit)
            return false;
    return true;
}

/* a | b or a ^ b, of which one changes in bits that the other has not: those below stay as they are in both. */
AffineForm affine_merged(const SymmetryStep *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        if (!a->form.loose && is_same(s, &b->form) && is_below(b->values, s->lanes, low_bits(&a->form)))
            return a->form;
    }
    return affine_loose;
}

/* ---- Quotients ---- */

/* By a positive number, rounded down. Where lanes have different quotients their remainders must stay as they are. */
static AffineForm quotients(const SymmetryStep *s, const AffineForm *form, const int64_t *values, int64_t by,
                            AffineForm *rest) {
    int64_t least = INT64_MAX, most = 0, first = 0;
    bool together = true;
    if (!divides(s, form, by))
        return *rest = affine_loose;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(s->lanes >> lane & 1))
            continue;
        int64_t left = values[lane] % by < 0 ? values[lane] % by + by : values[lane] % by;
        int64_t quotient = values[lane] / by - (values[lane] % by < 0);
        together &= least == INT64_MAX || quotient == first;
        first = quotient;
        least = left < least ? left : least;
        most = left > most ? left : most;
    }
    Symmetry within = *s->box;
    AffineForm quotient = symmetry_quotient(&within, form, by, least, most, rest);
    if (!together && !is_same(s, rest))
        return *rest = affine_loose;
    *s->box = within;
    return quotient;
}

static void numbers_of(const SymmetryStep *s, const Read *read, int64_t *values) {
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        values[lane] = as_number(read->values->at[lane], s->about->bits, s->about->is_signed);
}

/* The lower `bit` bits, which wrap where the number does. */
static AffineForm low_part(const SymmetryStep *s, const AffineForm *form, const int64_t *values, unsigned bit) {
    AffineForm rest;
    if (bit > 62)
        return *form;
    (void)quotients(s, form, values, INT64_C(1) << bit, &rest);
    return rest;
}

/* a & b, where b is a row of ones: the lower bits of a without its lowest ones. */
AffineForm affine_masked(SymmetryStep *s) {
    for (unsigned i = 0; i < 2; i++) {
        const Read *a = &s->in[i], *b = &s->in[1 - i];
        uint64_t mask;
        int64_t values[PTX_LANES];
        if (a->form.loose || !is_same(s, &b->form) || !lanes_uniform(b->values, s->lanes, &mask))
            continue;
        unsigned bits = s->about->bits, end = mask ? 64 - (unsigned)__builtin_clzll(mask) : 0;
        unsigned begin = mask ? (unsigned)__builtin_ctzll(mask) : 0;
        if (!mask || !(mask >> (low_bits(&a->form) < 64 ? low_bits(&a->form) : 63)))
            return affine_same;
        if (mask >> begin & ((mask >> begin) + 1))
            continue;
        numbers_of(s, a, values);
        AffineForm upper = end >= bits ? a->form : low_part(s, &a->form, values, end);
        AffineForm lower = begin ? low_part(s, &upper, values, begin) : affine_same;
        return affine_sum(&upper, &lower, -1);
    }
    return affine_loose;
}

AffineForm affine_shifted_right(SymmetryStep *s) {
    uint64_t by;
    int64_t values[PTX_LANES];
    AffineForm rest;
    if (s->in[0].form.loose || !is_same(s, &s->in[1].form) || !lanes_uniform(s->in[1].values, s->lanes, &by) ||
        by > 61 || by >= s->about->bits || !divides(s, &s->in[0].form, INT64_C(1) << by))
        return affine_loose;
    keep_type(s, &s->in[0], s->about->bits, s->about->is_signed);
    numbers_of(s, &s->in[0], values);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (s->lanes >> lane & 1 && values[lane] < 0 && !s->about->is_signed)
            return affine_loose;
    return quotients(s, &s->in[0].form, values, INT64_C(1) << by, &rest);
}

/* a / b or a % b. Only from 0 on: below it division rounds the other way. */
AffineForm affine_divided(SymmetryStep *s, bool remainder) {
    uint64_t by;
    int64_t values[PTX_LANES], least = INT64_MAX;
    AffineForm rest;
    if (s->in[0].form.loose || !is_same(s, &s->in[1].form) || !lanes_uniform(s->in[1].values, s->lanes, &by))
        return affine_loose;
    int64_t number = as_number(by, s->about->bits, s->about->is_signed);
    numbers_of(s, &s->in[0], values);
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (s->lanes >> lane & 1)
            least = values[lane] < least ? values[lane] : least;
    if (number <= 0 || least < 0 || !divides(s, &s->in[0].form, number))
        return affine_loose;
    keep_type(s, &s->in[0], s->about->bits, s->about->is_signed);
    keep(s, &s->in[0].form, -least, INT64_MAX);
    AffineForm quotient = quotients(s, &s->in[0].form, values, number, &rest);
    return remainder ? rest : quotient;
}

AffineForm affine_converted(SymmetryStep *s) {
    const Read *a = &s->in[0];
    if (!s->about->bits || !s->about->from_bits || code_has(s->code, STR("sat")))
        return is_same(s, &a->form) ? affine_same : affine_loose;
    if (s->about->bits > s->about->from_bits)
        keep_type(s, a, s->about->from_bits, s->about->from_signed);
    return a->form;
}

/* ---- Comparisons ---- */

/* What the comparison of a with b says stays as it is: bounds for t = a - b, which changes by `form`. */
static void keep_difference(const SymmetryStep *s, const AffineForm *form, uint8_t compare, const int64_t *t) {
    int64_t least = INT64_MIN, most = INT64_MAX; /* of t over those below, and from 0 on */
    bool below = false, equal_there = false, above = false;
    int64_t most_below = INT64_MIN, least_above = INT64_MAX;
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        if (!(s->lanes >> lane & 1))
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
    keep(s, form, least, most);
}

/* a - b in all lanes, as whole numbers that do not wrap; false: that is not known. */
static bool differences(const SymmetryStep *s, int64_t *t, AffineForm *form) {
    *form = affine_sum(&s->in[0].form, &s->in[1].form, -1);
    if (form->loose || !s->about->bits)
        return false;
    for (unsigned i = 0; i < 2; i++)
        keep_type(s, &s->in[i], s->about->bits, s->about->is_signed);
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {
        int64_t a = as_number(s->in[0].values->at[lane], s->about->bits, s->about->is_signed);
        int64_t b = as_number(s->in[1].values->at[lane], s->about->bits, s->about->is_signed);
        if (s->lanes >> lane & 1 && (__builtin_sub_overflow(a, b, &t[lane]) || t[lane] == INT64_MIN))
            return false;
    }
    return true;
}

bool affine_compared(SymmetryStep *s) {
    int64_t t[PTX_LANES];
    AffineForm form;
    if (is_same(s, &s->in[0].form) && is_same(s, &s->in[1].form))
        return true;
    if (!s->about->compare || !differences(s, t, &form))
        return false;
    if (!is_same(s, &form))
        keep_difference(s, &form, s->about->compare, t);
    return true;
}

/* The one that is the smaller in all lanes, or the greater; or either, if both change alike. */
AffineForm affine_smaller(SymmetryStep *s, bool least) {
    int64_t t[PTX_LANES];
    AffineForm form;
    bool below = true, above = true;
    if (!s->symmetry->narrows || !differences(s, t, &form))
        return affine_loose;
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        if (s->lanes >> lane & 1) {
            bool halves = !s->about->is_signed && s->about->bits >= 64 &&
                          (int64_t)(s->in[0].values->at[lane] ^ s->in[1].values->at[lane]) < 0;
            below &= t[lane] <= 0 && !halves;
            above &= t[lane] >= 0 && !halves;
        }
    if (is_same(s, &form))
        return s->in[0].form;
    if (!below && !above)
        return affine_loose;
    keep_difference(s, &form, below ? COMPARE_LE : COMPARE_GE, t);
    return s->in[below == least ? 0 : 1].form;
}
