/* f32 and f64 by C's arithmetic, rounded to nearest. Approximations of PTX are C's functions, so they are near what a
 * device gives, and not the same; other roundings and formats are left to the caller. */
#include "internal.h"

#include <math.h>

static double real(uint64_t bits, Type type) {
    double value;
    float narrow;
    uint32_t low = (uint32_t)bits;
    memcpy(&value, &bits, 8);
    memcpy(&narrow, &low, 4);
    return type.bits == 32 ? narrow : value;
}

/* What is no number is one bit pattern in f32. */
static uint64_t bits_of(double value, Type type) {
    uint64_t bits = 0;
    float narrow = (float)value;
    if (type.bits == 32 && isnan(value))
        bits = 0x7fffffff;
    else if (type.bits == 32)
        memcpy(&bits, &narrow, 4);
    else
        memcpy(&bits, &value, 8);
    return bits;
}

/* What no operand says is no number: its sign is the processor's own choice in C, and negative on a device. */
static double invalid(double value, double a, double b) {
    return isnan(value) && !isnan(a) && !isnan(b) ? -fabs(value) : value;
}

static double flushed(const Verb *form, double value) {
    value = has(form, W_ftz) ? (double)(float)value : value; /* rounded first */
    return has(form, W_ftz) && fabs(value) < 0x1p-126 ? copysign(0, value) : value;
}

static double saturated(const Verb *form, double value) {
    if (!has(form, W_sat))
        return value;
    return isnan(value) || value <= 0 ? 0 : value > 1 ? 1 : value;
}

static bool ordered(Compare compare, double a, double b) {
    bool nan = isnan(a) || isnan(b);
    switch (compare) {
    case COMPARE_EQ:
        return a == b;
    case COMPARE_NE:
        return !nan && a != b;
    case COMPARE_LT:
        return a < b;
    case COMPARE_LE:
        return a <= b;
    case COMPARE_GT:
        return a > b;
    case COMPARE_GE:
        return a >= b;
    case COMPARE_EQU:
        return nan || a == b;
    case COMPARE_NEU:
        return nan || a != b;
    case COMPARE_LTU:
        return nan || a < b;
    case COMPARE_LEU:
        return nan || a <= b;
    case COMPARE_GTU:
        return nan || a > b;
    case COMPARE_GEU:
        return nan || a >= b;
    case COMPARE_NUM:
        return !nan;
    default:
        return nan;
    }
}

static bool is_kind(const Verb *form, double value, Type type) {
    bool small = value != 0 && fabs(value) < (type.bits == 32 ? 0x1p-126 : 0x1p-1022);
    return has(form, W_finite)       ? isfinite(value)
           : has(form, W_infinite)   ? isinf(value)
           : has(form, W_number)     ? !isnan(value)
           : has(form, W_notanumber) ? isnan(value)
           : has(form, W_normal)     ? isfinite(value) && !small /* zero is, on the H200 */
                                     : small;
}

/* The whole number in the direction that the form says. */
static double rounded(const Verb *form, double value) {
    return has(form, W_rzi)   ? trunc(value)
           : has(form, W_rmi) ? floor(value)
           : has(form, W_rpi) ? ceil(value)
                              : nearbyint(value);
}

static uint64_t to_integer(const Verb *form, double value) {
    Type to = form->types[0];
    if (isnan(value))
        return 0;
    value = rounded(form, value);
    double most = ldexp(1, to.class == SIGNED ? to.bits - 1 : to.bits), least = to.class == SIGNED ? -most : 0;
    if (value >= most)
        return cut(UINT64_MAX >> (to.class == SIGNED), 64) &
               cut(UINT64_MAX, to.class == SIGNED ? to.bits - 1u : to.bits);
    if (value < least)
        return cut(to.class == SIGNED ? UINT64_C(1) << (to.bits - 1) : 0, to.bits);
    return cut(value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, to.bits);
}

static bool convert_real(const Verb *form, uint64_t a, uint64_t *out) {
    Type to = form->types[0], from = form->types[1];
    if (from.class == OTHER_REAL || to.class == OTHER_REAL || has(form, W_rz) || has(form, W_rm) || has(form, W_rp))
        return false;
    if (from.class != REAL) {
        if (from.class == SIGNED)
            *out = to.bits == 32 ? bits_of((float)extended(a, from.bits), to)
                                 : bits_of((double)extended(a, from.bits), to);
        else
            *out = to.bits == 32 ? bits_of((float)cut(a, from.bits), to) : bits_of((double)cut(a, from.bits), to);
        return true;
    }
    double value = flushed(form, real(a, from));
    if (to.class != REAL)
        *out = to_integer(form, value);
    else if (has(form, W_rni) || has(form, W_rzi) || has(form, W_rmi) || has(form, W_rpi))
        *out = bits_of(saturated(form, rounded(form, value)), to);
    else
        *out = bits_of(saturated(form, value), to);
    return true;
}

static double of_one(const Verb *form, double a) {
    switch (form->does) {
    case DOES_rcp:
        return 1 / a;
    case DOES_sqrt:
        return sqrt(a);
    case DOES_rsqrt:
        return 1 / sqrt(a);
    case DOES_sin:
        return sin(a);
    case DOES_cos:
        return cos(a);
    case DOES_lg2:
        return log2(a);
    case DOES_ex2:
        return exp2(a);
    case DOES_abs:
        return fabs(a);
    default: /* neg */
        return -a;
    }
}

/* Two f32 are rounded once: their exact sum or product may need more bits than a double has, but never so that rounding
 * twice would give another float. */
static double of_two(const Verb *form, double a, double b) {
    switch (form->does) {
    case DOES_add:
        return a + b;
    case DOES_sub:
        return a - b;
    case DOES_mul:
        return a * b;
    case DOES_div:
        return a / b;
    case DOES_min:
        return fmin(a, b);
    case DOES_max:
        return fmax(a, b);
    default: /* copysign: the sign of a on b */
        return copysign(b, a);
    }
}

bool evaluate_real(const Verb *form, const uint64_t in[6], uint64_t out[2]) {
    Type type = form->types[form->type_count - 1];
    if (form->does == DOES_cvt)
        return form->type_count == 2 && convert_real(form, in[0], out);
    if (type.class != REAL || has(form, W_rz) || has(form, W_rm) || has(form, W_rp) || has(form, W_xorsign))
        return false;
    double a = flushed(form, real(in[0], type)), b = flushed(form, real(in[1], type)), c = real(in[2], type), value;
    switch (form->does) {
    case DOES_set:
    case DOES_setp:
        out[0] = ordered(form->compare, a, b);
        return true;
    case DOES_testp:
        out[0] = is_kind(form, real(in[0], type), type);
        return true;
    case DOES_fma:
    case DOES_mad:
        c = flushed(form, c);
        value = type.bits == 32 ? fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
        out[0] = bits_of(flushed(form, saturated(form, invalid(value, a, isnan(c) ? c : b))), type);
        return true;
    case DOES_add:
    case DOES_sub:
    case DOES_mul:
    case DOES_div:
    case DOES_min:
    case DOES_max:
    case DOES_copysign: {
        if ((form->does == DOES_min || form->does == DOES_max) && has(form, W_NaN) && (isnan(a) || isnan(b)))
            a = b = NAN;
        out[0] = bits_of(flushed(form, saturated(form, invalid(of_two(form, a, b), a, b))), type);
        return true;
    }
    case DOES_rcp:
    case DOES_sqrt:
    case DOES_rsqrt:
    case DOES_sin:
    case DOES_cos:
    case DOES_lg2:
    case DOES_ex2:
    case DOES_abs:
    case DOES_neg:
        out[0] = bits_of(flushed(form, invalid(of_one(form, a), a, a)), type);
        return true;
    default:
        return false;
    }
}
