/* Affine forms, and the box of CTAs in which they hold. */
#include "explore/symmetry.h"

#include <string.h>

static bool moves(const Symmetry *symmetry, const AffineForm *form, unsigned axis) {
    return form->by[axis] && symmetry->low[axis] < symmetry->high[axis];
}

bool symmetry_is_fixed(const Symmetry *symmetry, const AffineForm *form) {
    bool loose = form->loose && memcmp(symmetry->low, symmetry->high, sizeof symmetry->low) != 0;
    return !loose && !moves(symmetry, form, 0) && !moves(symmetry, form, 1) && !moves(symmetry, form, 2);
}

bool symmetry_forms_equal(const AffineForm *left, const AffineForm *right) {
    return !left->loose && !right->loose && memcmp(left->by, right->by, sizeof left->by) == 0;
}

static void pin_axis(Symmetry *symmetry, unsigned axis) {
    symmetry->low[axis] = symmetry->high[axis] = symmetry->at[axis];
}

void symmetry_pin(Symmetry *symmetry, const AffineForm *form) {
    for (unsigned axis = 0; axis < AXES; axis++)
        if (form->by[axis] || form->loose)
            pin_axis(symmetry, axis);
}

/* ---- Bounds --------------------------------------------------------------------------------------- */

/* The least and the most that a number is in the box, along all axes but one. */
static void extremes(const Symmetry *symmetry, const AffineForm *form, int64_t value, unsigned without, __int128 *low,
                     __int128 *high) {
    *low = *high = value;
    for (unsigned axis = 0; axis < AXES; axis++) {
        __int128 by = axis == without ? 0 : form->by[axis], down = by * (symmetry->low[axis] - symmetry->at[axis]),
                 up = by * (symmetry->high[axis] - symmetry->at[axis]);
        *low += by < 0 ? up : down;
        *high += by < 0 ? down : up;
    }
}

/* How far the box reaches from its CTA along one axis, such that numbers which are from low to high without that axis
 * stay from `least` to `most`; false: they are not so even there. */
static bool reach_along(const Symmetry *symmetry, int64_t by, unsigned axis, __int128 up, __int128 down, int64_t *low,
                        int64_t *high) {
    if (up < 0 || down < 0)
        return false;
    __int128 forward = by > 0 ? up / by : down / -(__int128)by, backward = by > 0 ? down / by : up / -(__int128)by;
    int64_t ahead = symmetry->high[axis] - symmetry->at[axis], behind = symmetry->at[axis] - symmetry->low[axis];
    *high = symmetry->at[axis] + (forward < ahead ? (int64_t)forward : ahead);
    *low = symmetry->at[axis] - (backward < behind ? (int64_t)backward : behind);
    return true;
}

/* Of several axes all but the longest are given up. */
static unsigned longest_axis(Symmetry *symmetry, const AffineForm *form) {
    unsigned longest = AXES;
    for (unsigned axis = 0; axis < AXES; axis++)
        if (moves(symmetry, form, axis) && (longest == AXES || symmetry->high[axis] - symmetry->low[axis] >
                                                                   symmetry->high[longest] - symmetry->low[longest]))
            longest = axis;
    return longest;
}

static double volume(const int64_t low[AXES], const int64_t high[AXES]) {
    double size = 1;
    for (unsigned axis = 0; axis < AXES; axis++)
        size *= (double)(high[axis] - low[axis] + 1);
    return size;
}

/* The box is cut along one axis, and either stays as it is along the others, or is one CTA wide there: whichever
 * leaves more of it. */
void symmetry_keep(Symmetry *symmetry, const AffineForm *form, int64_t value, __int128 least, __int128 most) {
    __int128 lowest, highest;
    Symmetry best = *symmetry;
    double largest = 0;
    if (form->loose)
        symmetry_pin(symmetry, form);
    extremes(symmetry, form, value, AXES, &lowest, &highest);
    unsigned longest = longest_axis(symmetry, form);
    if ((lowest >= least && highest <= most) || longest == AXES)
        return;
    for (unsigned i = 0; i < AXES + 1; i++) {
        Symmetry cut = *symmetry;
        unsigned axis = i ? i - 1 : longest;
        if (!moves(&cut, form, axis))
            continue;
        for (unsigned other = 0; other < AXES; other++)
            if (!i && other != axis && form->by[other])
                pin_axis(&cut, other);
        extremes(&cut, form, value, axis, &lowest, &highest);
        if (reach_along(&cut, form->by[axis], axis, most - highest, lowest - least, &cut.low[axis], &cut.high[axis]) &&
            volume(cut.low, cut.high) > largest) {
            largest = volume(cut.low, cut.high);
            best = cut;
        }
    }
    if (largest > 0)
        *symmetry = best;
    else
        symmetry_pin(symmetry, form);
}

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

bool symmetry_combine(const AffineForm *left, const AffineForm *right, int64_t times, AffineForm *to) {
    to->loose = left->loose || right->loose;
    for (unsigned axis = 0; axis < AXES; axis++) {
        int64_t scaled;
        if (__builtin_mul_overflow(right->by[axis], times, &scaled) ||
            __builtin_add_overflow(left->by[axis], scaled, &to->by[axis]))
            return false;
    }
    return true;
}

static int64_t divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

AffineForm symmetry_quotient(Symmetry *symmetry, const AffineForm *form, int64_t by, int64_t least_rest,
                             int64_t most_rest, AffineForm *rest) {
    AffineForm quotient = *form;
    *rest = *form;
    for (unsigned axis = 0; axis < AXES; axis++) {
        quotient.by[axis] = form->by[axis] / by;
        rest->by[axis] = form->by[axis] % by;
        int64_t period = by / divisor(rest->by[axis], by), *least = &symmetry->periods[axis];
        if (period > 1)
            *least = *least && *least < period ? *least : period;
    }
    if (!symmetry_is_fixed(symmetry, rest))
        symmetry_keep(symmetry, rest, 0, -(__int128)least_rest, (__int128)by - 1 - most_rest);
    return quotient;
}

AffineForm symmetry_coordinate(const Symmetry *symmetry, unsigned axis, int64_t step) {
    AffineForm form = {.by = {0}};
    if (!symmetry->weights[0])
        form.by[axis] = step;
    else if (axis == 0) /* along the others there is one CTA */
        memcpy(form.by, symmetry->weights, sizeof form.by);
    return form;
}
