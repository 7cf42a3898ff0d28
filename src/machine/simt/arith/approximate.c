/* Approximations: within the error that the ISA documents, and not the bits of any GPU. They are computed in double,
 * with more bits than a result has, and rounded to nearest. */
#include "machine/simt/arith/compute.h"

static const uint64_t no_number = UINT64_C(0x7ff8000000000000), endless = UINT64_C(0x7ff0000000000000);

/* The nearest whole number of one below 2^51. */
static double nearest(double x) {
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* 2^x: a whole part, and the series of e^(f ln 2) for |f| <= 1/2, whose rest is below 2^-31. */
static double exponential(double x) {
    if (x != x)
        return x;
    double within = x > 1000 ? 1000 : x < -1000 ? -1000 : x; /* beyond what any result has */
    double whole = nearest(within), f = within - whole;
    double sum = 0x1.62c0223a5c824p-20;
    sum = sum * f + 0x1.ffcbfc588b0c7p-17;
    sum = sum * f + 0x1.430912f86c787p-13;
    sum = sum * f + 0x1.5d87fe78a6731p-10;
    sum = sum * f + 0x1.3b2ab6fba4e77p-7;
    sum = sum * f + 0x1.c6b08d704a0cp-5;
    sum = sum * f + 0x1.ebfbdff82c58fp-3;
    sum = sum * f + 0x1.62e42fefa39efp-1;
    sum = sum * f + 1;
    return sum * as_double((uint64_t)((int64_t)whole + 1023) << 52);
}

/* log2 of a number over 0: its exponent, and 2 atanh((m - 1) / (m + 1)) for m between 1/sqrt 2 and sqrt 2. */
static double logarithm(double x) {
    if (!(x > 0))
        return x == 0 ? -as_double(endless) : as_double(no_number);
    if (x > 0x1p1000)
        return x;
    uint64_t bits = bits_of_double(x), above = UINT64_C(0x3ff6a09e667f3bcd); /* sqrt 2 */
    int64_t exponent = (int64_t)((bits + (UINT64_C(0x4000000000000000) - above)) >> 52) - 1023;
    double m = as_double(bits - ((uint64_t)exponent << 52)), t = (m - 1) / (m + 1), square = t * t;
    double sum = 1.0 / 13;
    for (int k = 11; k > 0; k -= 2)
        sum = sum * square + 1.0 / k;
    return (double)exponent + t * sum * 0x1.71547652b82fep1;
}

/* The sine of a part of a turn between -3/4 and 3/4. */
static double sine_of_turns(double part) {
    part = part > 0.25 ? 0.5 - part : part < -0.25 ? -0.5 - part : part;
    double x = part * 0x1.921fb54442d18p2, square = x * x, sum = 1.0 / 6227020800;
    sum = sum * square - 1.0 / 39916800;
    sum = sum * square + 1.0 / 362880;
    sum = sum * square - 1.0 / 5040;
    sum = sum * square + 1.0 / 120;
    sum = sum * square - 1.0 / 6;
    return x * (sum * square + 1);
}

/* The GPU multiplies by 1 / 2 pi in f32 first, and so do we; whole turns are dropped. */
static double turns_of(double x) {
    double turns = as_double(bits_of_double(x * (double)0x1.45f306p-3f) >> 29 << 29); /* toward 0 */
    if (turns > 0x1p40 || turns < -0x1p40)
        return 0;
    return turns - nearest(turns);
}

static double sine(double x) {
    return x - x == 0 ? sine_of_turns(turns_of(x)) : as_double(no_number);
}
static double cosine(double x) {
    return x - x == 0 ? sine_of_turns(turns_of(x) + 0.25) : as_double(no_number);
}

static double hyperbolic_tangent(double x) {
    double square = x * x;
    if (square < 0x1p-8)
        return x * (1 - square * (1.0 / 3 - square * (2.0 / 15 - square * (17.0 / 315))));
    double e = exponential(x * 0x1.71547652b82fep1);
    return square > 400 ? (x > 0 ? 1 : -1) : (e - 1) / (e + 1);
}

static double root(double x) {
    return x < 0 ? as_double(no_number) : x > 0 && x < 0x1p1000 ? near_root(x) : x;
}

/* By a factor: of a divisor over 2^126 the factor is 0. */
static double quotient(double a, double b) {
    double size = b < 0 ? -b : b;
    return size > 0x1p126 && size < 0x1p128 ? a * (b < 0 ? -0.0 : 0.0) : a / b;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

static double flushed(bool ftz, double value) {
    return ftz && value < 0x1p-126 && value > -0x1p-126 ? (bits_of_double(value) >> 63 ? -0.0 : 0.0) : value;
}

#define NEAR_ROW(name, value)                                                   \
    static void name(Lanes *out, const Lanes *const in[], const Compute *how) { \
        const Lanes *second = in[how->count > 1];                               \
        bool ftz = how->ftz;                                                    \
        for (unsigned i = 0; i < PTX_LANES; i++) {                              \
            double a = flushed(ftz, (double)as_single(in[0]->at[i]));           \
            double b = flushed(ftz, (double)as_single(second->at[i]));          \
            (void)b;                                                            \
            out->at[i] = single_result((float)flushed(ftz, value));             \
        }                                                                       \
    }
NEAR_ROW(rcp_row, 1 / a)
NEAR_ROW(sqrt_row, root(a))
NEAR_ROW(rsqrt_row, 1 / root(a))
NEAR_ROW(sin_row, sine(a))
NEAR_ROW(cos_row, cosine(a))
NEAR_ROW(lg2_row, logarithm(a))
NEAR_ROW(ex2_row, exponential(a))
NEAR_ROW(tanh_row, hyperbolic_tangent(a))
NEAR_ROW(div_row, quotient(a, b))
NEAR_ROW(div_full_row, a / b)

/* f16 and bf16: powers and tangents. */
static void near_half(Lanes *out, const Lanes *const in[], const Compute *how) {
    FormatId format = (FormatId)how->type.format;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double a = format == FORMAT_F16 ? half_widen(in[0]->at[i]) : flushed(how->ftz, brain_widen(in[0]->at[i]));
        double value = how->evaluator == PTX_EVALUATE_EX2 ? exponential(a) : hyperbolic_tangent(a);
        out->at[i] = format_nearest(&formats[format], flushed(how->ftz, value), false);
    }
}

/* Of f64 the upper half of the operand counts, and the lower half of the result is 0, but for rsqrt without .ftz. */
static void near_f64(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t bits = how->ftz ? in[0]->at[i] >> 32 << 32 : in[0]->at[i];
        if (how->ftz && !(bits << 1 >> 53))
            bits &= UINT64_C(1) << 63;
        double a = as_double(bits), scale = 1;
        if (!how->ftz && a > 0 && a < 0x1p-900)
            a *= 0x1p200, scale = 0x1p100;
        uint64_t result = bits_of_double((how->evaluator == PTX_EVALUATE_RCP ? 1 / a : 1 / root(a)) * scale);
        if (how->ftz)
            result = (result << 1 >> 53 ? result : result & UINT64_C(1) << 63) >> 32 << 32;
        out->at[i] = result;
    }
}

static ComputeRow *single_row(const Compute *how) {
    switch (how->evaluator) {
    case PTX_EVALUATE_RCP:
        return rcp_row;
    case PTX_EVALUATE_SQRT:
        return sqrt_row;
    case PTX_EVALUATE_RSQRT:
        return rsqrt_row;
    case PTX_EVALUATE_SIN:
        return sin_row;
    case PTX_EVALUATE_COS:
        return cos_row;
    case PTX_EVALUATE_LG2:
        return lg2_row;
    case PTX_EVALUATE_EX2:
        return ex2_row;
    case PTX_EVALUATE_TANH:
        return tanh_row;
    case PTX_EVALUATE_DIV:
        return how->full ? div_full_row : div_row;
    default:
        return NULL;
    }
}

ComputeRow *approximate_row(Compute *how) {
    bool steep = how->evaluator == PTX_EVALUATE_EX2 || how->evaluator == PTX_EVALUATE_TANH;
    bool inverse = how->evaluator == PTX_EVALUATE_RCP || how->evaluator == PTX_EVALUATE_RSQRT;
    if (how->type.format == FORMAT_F32)
        return single_row(how);
    if (how->type.format == FORMAT_F64)
        return inverse ? near_f64 : NULL;
    return steep ? near_half : NULL;
}
