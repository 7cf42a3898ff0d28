/* Approximations: within the error that the ISA documents, and not the bits of any GPU. They are computed in double,
 * with more than enough bits, and rounded to nearest. */
#include "emulate/ptx/compute.h"

static const uint64_t no_number = UINT64_C(0x7ff8000000000000), endless = UINT64_C(0x7ff0000000000000);

static double power_of_two(int exponent) {
    return as_double((uint64_t)(exponent + 1023) << 52);
}

static double size_of(double value) {
    return value < 0 ? -value : value;
}

/* 2^x: a whole part, and the series of e^(f ln 2) for |f| <= 1/2, whose rest is below 2^-45. */
static double exponential(double x) {
    if (x != x)
        return x;
    if (x > 1000 || x < -1000)
        return x > 0 ? as_double(endless) : 0;
    double whole = double_whole(x, ROUND_NEAREST), f = (x - whole) * 0x1.62e42fefa39efp-1, sum = 1;
    for (int k = 11; k; k--)
        sum = 1 + sum * f / k;
    return sum * power_of_two((int)whole);
}

/* log2 of a number over 0: its exponent, and 2 atanh((m - 1) / (m + 1)) for m between 1/sqrt 2 and sqrt 2. */
static double logarithm(double x) {
    if (!(x > 0))
        return x == 0 ? -as_double(endless) : as_double(no_number);
    if (x > 0x1p1000)
        return x;
    uint64_t bits = bits_of_double(x);
    int exponent = (int)(bits >> 52) - 1023;
    double m = as_double((bits & (UINT64_MAX >> 12)) | UINT64_C(1023) << 52);
    if (m > 0x1.6a09e667f3bcdp0)
        m /= 2, exponent++;
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (int k = 17; k > 0; k -= 2)
        sum = 1.0 / k + sum * square;
    return exponent + 2 * t * sum * 0x1.71547652b82fep0;
}

/* The sine of a part of a turn between -3/4 and 3/4. */
static double sine_of_turns(double part) {
    if (part > 0.25)
        part = 0.5 - part;
    if (part < -0.25)
        part = -0.5 - part;
    double x = part * 0x1.921fb54442d18p2, square = x * x, sum = 1;
    for (int k = 14; k; k -= 2)
        sum = 1 - sum * square / (k * (k + 1));
    return x * sum;
}

/* The GPU multiplies by 1 / 2 pi in f32 first, and so do we; whole turns are dropped. */
static double turns_of(double x) {
    double turns = (double)as_single(single_narrow(x * (double)0x1.45f306p-3f, ROUND_ZERO));
    return turns - double_whole(turns, ROUND_NEAREST);
}

static double sine(double x) {
    return x - x == 0 ? sine_of_turns(turns_of(x)) : as_double(no_number);
}
static double cosine(double x) {
    return x - x == 0 ? sine_of_turns(turns_of(x) + 0.25) : as_double(no_number);
}

static double hyperbolic_tangent(double x) {
    double size = size_of(x);
    if (size < 0x1p-4) {
        double square = x * x;
        return x * (1 - square * (1.0 / 3 - square * (2.0 / 15 - square * (17.0 / 315))));
    }
    if (size > 20)
        return x > 0 ? 1 : -1;
    double e = exponential(size * 0x1.71547652b82fep1), tangent = x != x ? x : (e - 1) / (e + 1);
    return x < 0 ? -tangent : tangent;
}

static double root(double x) {
    if (x < 0)
        return as_double(no_number);
    return x > 0 && x < 0x1p1000 ? near_root(x) : x;
}

/* By a factor: of a divisor over 2^126 the factor is 0. */
static double quotient(double a, double b) {
    double size = size_of(b);
    return size > 0x1p126 && size < 0x1p128 ? a * (b < 0 ? -0.0 : 0.0) : a / b;
}

static double operated(const Compute *how, double a, double b) {
    switch (how->evaluator) {
    case PTX_EVALUATE_RCP:
        return 1 / a;
    case PTX_EVALUATE_SQRT:
        return root(a);
    case PTX_EVALUATE_RSQRT:
        return 1 / root(a);
    case PTX_EVALUATE_SIN:
        return sine(a);
    case PTX_EVALUATE_COS:
        return cosine(a);
    case PTX_EVALUATE_LG2:
        return logarithm(a);
    case PTX_EVALUATE_EX2:
        return exponential(a);
    case PTX_EVALUATE_TANH:
        return hyperbolic_tangent(a);
    default:
        return how->full ? a / b : quotient(a, b);
    }
}

static double flushed(const Compute *how, double value) {
    return how->ftz && value < 0x1p-126 && value > -0x1p-126 ? (bits_of_double(value) >> 63 ? -0.0 : 0.0) : value;
}

static void near_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    FormatId format = (FormatId)how->type.format;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double a = flushed(how, format_widen(format, (uint32_t)in[0]->at[i]));
        double b = how->count > 1 ? flushed(how, format_widen(format, (uint32_t)in[1]->at[i])) : 0;
        double value = flushed(how, operated(how, a, b));
        out->at[i] = format == FORMAT_F32 ? single_narrow(value, ROUND_NEAREST)
                                          : format_narrow(format, value, ROUND_NEAREST, false);
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
        uint64_t result = bits_of_double(operated(how, a, 0) * scale);
        if (how->ftz)
            result = (result << 1 >> 53 ? result : result & UINT64_C(1) << 63) >> 32 << 32;
        out->at[i] = result;
    }
}

ComputeRow *approximate_row(Compute *how) {
    switch (how->evaluator) {
    case PTX_EVALUATE_RCP:
    case PTX_EVALUATE_RSQRT:
        return how->type.format == FORMAT_F64 ? near_f64 : near_row;
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_SQRT:
    case PTX_EVALUATE_SIN:
    case PTX_EVALUATE_COS:
    case PTX_EVALUATE_LG2:
    case PTX_EVALUATE_EX2:
    case PTX_EVALUATE_TANH:
        return how->type.format == FORMAT_F64 ? NULL : near_row;
    default:
        return NULL;
    }
}
