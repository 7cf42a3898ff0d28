/* Arithmetic of real numbers, rounded as IEEE 754 has it, once. */
#include "machine/simt/arith/compute.h"

static double flushed_to_zero(double value, double least) {
    return value < least && value > -least ? (value < 0 || bits_of_double(value) >> 63 ? -0.0 : 0.0) : value;
}

static double least_normal(FormatId format) {
    return format == FORMAT_F16 ? 0x1p-14 : 0x1p-126;
}

/* ---- f16, bf16 and f32, with every modifier -------------------------------------------------------------------- */

static double operand(const Compute *how, unsigned k, uint64_t bits) {
    FormatId format = (FormatId)how->formats[k];
    double value = format == FORMAT_F32   ? (double)as_single(bits)
                   : format == FORMAT_F16 ? half_widen(bits)
                                          : brain_widen(bits);
    return how->ftz ? flushed_to_zero(value, least_normal(format)) : value;
}

/* What the modifiers make of a number that is exact, or rounded to odd. */
static uint32_t finished(const Compute *how, double value) {
    FormatId id = (FormatId)how->type.format;
    const RealFormat *format = &formats[id];
    uint32_t sign = 1u << (format->bits - 1), one = (uint32_t)format->bias << format->mantissa;
    uint32_t bits = id == FORMAT_F32              ? single_narrow(value, (Round)how->round)
                    : how->round == ROUND_NEAREST ? format_nearest(format, value, false)
                                                  : format_narrow(id, value, (Round)how->round, false);
    if (how->ftz && format_is_tiny(id, value, (Round)how->round))
        bits = (uint32_t)(bits_of_double(value) >> 63) << (format->bits - 1);
    if (how->saturates)
        return value != value || bits & sign ? 0 : bits > one ? one : bits;
    return how->relu && bits & sign ? 0 : bits;
}

/* f32's root: near_root is exact enough but for numbers that have an exact root. */
static double root(double value) {
    if (!(value > 0) || value > 0x1p200)
        return value < 0 ? as_double(UINT64_C(0x7ff8000000000000)) : value;
    double near = near_root(value);
    double single = (double)(float)near;
    return single * single == value ? single : near;
}

static double operated(const Compute *how, double a, double b, double c) {
    Round round = (Round)how->round;
    switch (how->evaluator) {
    case PTX_EVALUATE_ADD:
        return zero_sum(add_odd(a, b), a, b, round);
    case PTX_EVALUATE_SUB:
        return zero_sum(add_odd(a, -b), a, -b, round);
    case PTX_EVALUATE_MUL:
        return a * b;
    case PTX_EVALUATE_DIV:
        return a / b;
    case PTX_EVALUATE_RCP:
        return 1 / a;
    case PTX_EVALUATE_SQRT:
        return root(a);
    default: { /* fma, mad */
        double both = a * b;
        return zero_sum(add_odd(both, c), both, c, round);
    }
    }
}

static void root_f32(Lanes *out, const Lanes *const in[], const Compute *how) {
    (void)how;
    EACH_LANE out->at[i] = single_result((float)root((double)as_single(in[0]->at[i])));
}

static void general(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double a = operand(how, 0, in[0]->at[i]), b = how->count > 1 ? operand(how, 1, in[1]->at[i]) : 0;
        double c = how->count > 2 ? operand(how, 2, in[2]->at[i]) : 0;
        out->at[i] = finished(how, operated(how, a, b, c));
    }
}

/* .oob: a factor that is the NaN of what lies out of range, of either sign, makes the result 0. Which one that is, an
 * H200 says. */
static void bounded_fma(Lanes *out, const Lanes *const in[], const Compute *how) {
    enum { OUT_OF_RANGE = 0x7ff7 };
    Lanes result;
    general(&result, in, how);
    EACH_LANE {
        bool outside = (in[0]->at[i] & 0x7fff) == OUT_OF_RANGE || (in[1]->at[i] & 0x7fff) == OUT_OF_RANGE;
        out->at[i] = outside ? 0 : result.at[i];
    }
}

/* ---- The most frequent ones ----------------------------------------------------------------------------------- */

static float single_flushed(float value) {
    return value < 0x1p-126f && value > -0x1p-126f ? as_single(bits_of_single(value) & UINT32_C(0x80000000)) : value;
}
static uint32_t result_flushed(float value) {
    return single_result(single_flushed(value));
}
static double odd_fma(float a, float b, float c) {
    return add_odd((double)a * (double)b, (double)c);
}
static uint32_t odd_flushed(double value) {
    if (value >= 0x1p-126 || value <= -0x1p-126)
        return single_result((float)value);
    uint32_t sign = (uint32_t)(bits_of_double(value) >> 63) << 31;
    return format_is_tiny(FORMAT_F32, value, ROUND_NEAREST) ? sign : single_result((float)value);
}

#define AS_SINGLE(x) as_single(x)
#define FLUSHED(x)   single_flushed(as_single(x))
ROW2(add_f32, uint64_t, uint64_t, uint32_t, single_result(AS_SINGLE(a) + AS_SINGLE(b)))
ROW2(sub_f32, uint64_t, uint64_t, uint32_t, single_result(AS_SINGLE(a) - AS_SINGLE(b)))
ROW2(mul_f32, uint64_t, uint64_t, uint32_t, single_result(AS_SINGLE(a) * AS_SINGLE(b)))
ROW2(div_f32, uint64_t, uint64_t, uint32_t, single_result(AS_SINGLE(a) / AS_SINGLE(b)))
ROW3(fma_f32, uint64_t, uint64_t, uint32_t, single_result((float)odd_fma(AS_SINGLE(a), AS_SINGLE(b), AS_SINGLE(c))))
ROW2(add_ftz, uint64_t, uint64_t, uint32_t, result_flushed(FLUSHED(a) + FLUSHED(b)))
ROW2(sub_ftz, uint64_t, uint64_t, uint32_t, result_flushed(FLUSHED(a) - FLUSHED(b)))
ROW2(mul_ftz, uint64_t, uint64_t, uint32_t, odd_flushed((double)FLUSHED(a) * (double)FLUSHED(b)))
ROW3(fma_ftz, uint64_t, uint64_t, uint32_t, odd_flushed(odd_fma(FLUSHED(a), FLUSHED(b), FLUSHED(c))))

static ComputeRow *single_row(const Compute *how) {
    if (how->round != ROUND_NEAREST || how->saturates || how->relu)
        return general;
    switch (how->evaluator) {
    case PTX_EVALUATE_ADD:
        return how->ftz ? add_ftz : add_f32;
    case PTX_EVALUATE_SUB:
        return how->ftz ? sub_ftz : sub_f32;
    case PTX_EVALUATE_MUL:
        return how->ftz ? mul_ftz : mul_f32;
    case PTX_EVALUATE_DIV:
        return how->ftz ? general : div_f32;
    case PTX_EVALUATE_SQRT:
        return how->ftz ? general : root_f32;
    case PTX_EVALUATE_FMA:
    case PTX_EVALUATE_MAD:
        return host_fma_row(how) ? host_fma_row(how) : how->ftz ? fma_ftz : fma_f32;
    default:
        return general;
    }
}

/* ---- f64 ------------------------------------------------------------------------------------------------------ */

static uint64_t less(uint64_t b) {
    bool nan = b << 1 > UINT64_C(0x7ff0000000000000) << 1;
    return nan ? b : b ^ UINT64_C(1) << 63;
}

/* Numbers that the host rounds as PTX does; of what is none, or is infinite, the bits are the GPU's. */
static bool plain(double value) {
    return value - value == 0;
}

static uint64_t operated_f64(const Compute *how, uint64_t a, uint64_t b, uint64_t c) {
    Round round = (Round)how->round;
    switch (how->evaluator) {
    case PTX_EVALUATE_ADD:
        return double_add(a, b, round);
    case PTX_EVALUATE_SUB:
        return double_add(a, less(b), round);
    case PTX_EVALUATE_MUL:
        return double_multiply(a, b, round);
    case PTX_EVALUATE_DIV:
        return double_divide(a, b, round);
    case PTX_EVALUATE_RCP:
        return double_divide(UINT64_C(0x3ff0000000000000), a, round);
    case PTX_EVALUATE_SQRT:
        return double_root(a, round);
    default: /* fma, mad */
        return double_fma(a, b, c, round);
    }
}

static void general_f64(Lanes *out, const Lanes *const in[], const Compute *how) {
    const Lanes *second = in[how->count > 1 ? 1 : 0], *third = in[how->count > 2 ? 2 : 0];
    for (unsigned i = 0; i < PTX_LANES; i++)
        out->at[i] = operated_f64(how, in[0]->at[i], second->at[i], third->at[i]);
}

#define ROW_F64(name, value)                                                                  \
    static void name(Lanes *out, const Lanes *const in[], const Compute *how) {               \
        for (unsigned i = 0; i < PTX_LANES; i++) {                                            \
            uint64_t x = in[0]->at[i], y = in[1]->at[i];                                      \
            double a = as_double(x), b = as_double(y), result = value;                        \
            out->at[i] = plain(result) ? bits_of_double(result) : operated_f64(how, x, y, 0); \
        }                                                                                     \
    }
ROW_F64(add_f64, a + b)
ROW_F64(sub_f64, a - b)
ROW_F64(mul_f64, a *b)
ROW_F64(div_f64, a / b)

static ComputeRow *double_row(const Compute *how) {
    if (how->round != ROUND_NEAREST)
        return general_f64;
    switch (how->evaluator) {
    case PTX_EVALUATE_ADD:
        return add_f64;
    case PTX_EVALUATE_SUB:
        return sub_f64;
    case PTX_EVALUATE_MUL:
        return mul_f64;
    case PTX_EVALUATE_DIV:
        return div_f64;
    case PTX_EVALUATE_FMA:
    case PTX_EVALUATE_MAD:
        return host_fma_row(how) ? host_fma_row(how) : general_f64;
    default:
        return general_f64;
    }
}

/* ---- Signs, the smallest and the greatest ---------------------------------------------------------------------- */

static uint64_t sign_of(const Compute *how) {
    return UINT64_C(1) << (how->type.bits - 1);
}

/* Above infinity, without its sign. */
static bool is_nan(const Compute *how, uint64_t bits) {
    uint64_t infinity =
        how->type.bits == 64 ? UINT64_C(0x7ff0000000000000) : formats[how->type.format].most + UINT64_C(1);
    return (bits & ~sign_of(how)) > infinity;
}

/* One bit pattern, but in f64, where the operand is made quiet. */
static uint64_t quiet(const Compute *how, uint64_t bits) {
    return how->type.bits == 64 ? bits | UINT64_C(1) << 51 : formats[how->type.format].no_number;
}

static uint64_t without_subnormals(const Compute *how, uint64_t bits) {
    unsigned mantissa = how->type.bits == 64 ? 52 : formats[how->type.format].mantissa;
    return how->ftz && !((bits & ~sign_of(how)) >> mantissa) ? bits & sign_of(how) : bits;
}

static void abs_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t bits = without_subnormals(how, in[0]->at[i]);
        out->at[i] = is_nan(how, bits) ? quiet(how, bits) : bits & ~sign_of(how);
    }
}

static void neg_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t bits = without_subnormals(how, in[0]->at[i]);
        out->at[i] = is_nan(how, bits) ? quiet(how, bits) : bits ^ sign_of(how);
    }
}

static void copysign_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    uint64_t sign = sign_of(how);
    EACH_LANE out->at[i] = (in[1]->at[i] & ~sign) | (in[0]->at[i] & sign);
}

/* Numbers in the order of their bits: negative ones from the other end. */
static int64_t rank(uint64_t bits, uint64_t sign) {
    return bits & sign ? -(int64_t)(bits & ~sign) - 1 : (int64_t)bits;
}

static uint64_t extreme(const Compute *how, uint64_t a, uint64_t b) {
    uint64_t sign = sign_of(how), signs = (a ^ b) & sign;
    if (how->absolute)
        a &= ~sign, b &= ~sign;
    bool not_a = is_nan(how, a), not_b = is_nan(how, b);
    if ((not_a && not_b) || (how->nan && (not_a || not_b)))
        return quiet(how, not_b ? b : a);
    uint64_t chosen;
    if (not_a || not_b)
        chosen = not_a ? b : a;
    else
        chosen = (rank(a, sign) < rank(b, sign)) == (how->evaluator == PTX_EVALUATE_MIN) ? a : b;
    return how->xorsign ? chosen | signs : chosen;
}

static void extreme_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t value = without_subnormals(how, in[0]->at[i]);
        for (unsigned k = 1; k < how->count; k++)
            value = extreme(how, value, without_subnormals(how, in[k]->at[i]));
        out->at[i] = value;
    }
}

/* f32 without modifiers: the bits of one, in their order. */
static uint32_t chosen(uint32_t a, uint32_t b, bool first) {
    bool not_a = (a & 0x7fffffff) > 0x7f800000, not_b = (b & 0x7fffffff) > 0x7f800000;
    uint32_t number = not_a ? b : not_b ? a : first ? a : b;
    return not_a && not_b ? SINGLE_NAN : number;
}
static int32_t order_of(uint32_t bits) {
    return (int32_t)(bits ^ (bits >> 31 ? 0x7fffffff : 0));
}
ROW2(min_f32, uint32_t, uint32_t, uint32_t, chosen(a, b, order_of(a) < order_of(b)))
ROW2(max_f32, uint32_t, uint32_t, uint32_t, chosen(a, b, order_of(a) > order_of(b)))

static ComputeRow *extreme_of(const Compute *how) {
    bool plain_ones = !how->ftz && !how->nan && !how->absolute && !how->xorsign && how->count == 2;
    if (how->type.format != FORMAT_F32 || !plain_ones)
        return extreme_row;
    return how->evaluator == PTX_EVALUATE_MIN ? min_f32 : max_f32;
}

/* ---- Picking -------------------------------------------------------------------------------------------------- */

ComputeRow *real_row(Compute *how) {
    bool mixed = how->formats[0] != how->type.format, wide = how->type.format == FORMAT_F64;
    switch (how->evaluator) {
    case PTX_EVALUATE_ABS:
        return abs_row;
    case PTX_EVALUATE_NEG:
        return neg_row;
    case PTX_EVALUATE_COPYSIGN:
        return copysign_row;
    case PTX_EVALUATE_MIN:
    case PTX_EVALUATE_MAX:
        return extreme_of(how);
    case PTX_EVALUATE_FMA:
        if (how->oob)
            return bounded_fma;
        break;
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
    case PTX_EVALUATE_MUL:
    case PTX_EVALUATE_MAD:
    case PTX_EVALUATE_DIV:
    case PTX_EVALUATE_RCP:
    case PTX_EVALUATE_SQRT:
        break;
    default:
        return NULL;
    }
    if (wide)
        return double_row(how);
    return mixed ? general : how->type.format == FORMAT_F32 ? single_row(how) : half_row(how) ? half_row(how) : general;
}
