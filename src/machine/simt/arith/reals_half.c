/* f16 and bf16, rounded to nearest: arithmetic without modifiers, and two from two f32. Each row is there twice: as the
 * compiler makes it, and for hosts with AVX2, where it takes four lanes at once. */
#include "machine/simt/arith/compute.h"
#include "machine/simt/core/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE_HOST __attribute__((target("avx2")))
#else
#define WIDE_HOST
#endif

#define ROW_OF(name, host, widen, format, third, value)                              \
    host static void name(Lanes *out, const Lanes *const in[], const Compute *how) { \
        const uint64_t *x = in[0]->at, *y = in[1]->at, *z = in[third]->at;           \
        (void)how;                                                                   \
        EACH_LANE {                                                                  \
            double a = widen(x[i]), b = widen(y[i]), c = third ? widen(z[i]) : 0;    \
            (void)c;                                                                 \
            out->at[i] = format_nearest(&format, value, false);                      \
        }                                                                            \
    }
#define ROWS_OF(name, widen, format, third, value) \
    ROW_OF(name, , widen, format, third, value)    \
    ROW_OF(name##_wide, WIDE_HOST, widen, format, third, value)
ROWS_OF(add_f16, half_widen, half_format, 0, a + b)
ROWS_OF(sub_f16, half_widen, half_format, 0, a - b)
ROWS_OF(mul_f16, half_widen, half_format, 0, a *b)
ROWS_OF(fma_f16, half_widen, half_format, 2, add_odd(a *b, c))
ROWS_OF(add_bf16, brain_widen, brain_format, 0, add_odd(a, b))
ROWS_OF(sub_bf16, brain_widen, brain_format, 0, add_odd(a, -b))
ROWS_OF(mul_bf16, brain_widen, brain_format, 0, a *b)
ROWS_OF(fma_bf16, brain_widen, brain_format, 2, add_odd(a *b, c))

static const struct {
    uint16_t evaluator;
    uint8_t format;
    ComputeRow *row, *wide;
} rows[] = {
    {PTX_EVALUATE_ADD, FORMAT_F16, add_f16, add_f16_wide},    {PTX_EVALUATE_SUB, FORMAT_F16, sub_f16, sub_f16_wide},
    {PTX_EVALUATE_MUL, FORMAT_F16, mul_f16, mul_f16_wide},    {PTX_EVALUATE_FMA, FORMAT_F16, fma_f16, fma_f16_wide},
    {PTX_EVALUATE_ADD, FORMAT_BF16, add_bf16, add_bf16_wide}, {PTX_EVALUATE_SUB, FORMAT_BF16, sub_bf16, sub_bf16_wide},
    {PTX_EVALUATE_MUL, FORMAT_BF16, mul_bf16, mul_bf16_wide}, {PTX_EVALUATE_FMA, FORMAT_BF16, fma_bf16, fma_bf16_wide},
};

ComputeRow *half_row(const Compute *how) {
    if (how->ftz || how->saturates || how->relu || how->round != ROUND_NEAREST)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].evaluator == how->evaluator && rows[i].format == how->type.format)
            return processor_has(PROCESSOR_AVX2) ? rows[i].wide : rows[i].row;
    return NULL;
}

/* ---- From f32 -------------------------------------------------------------------------------------------------- */

/* .relu: 0 for what has a sign, and is a number. */
static inline uint64_t not_below(uint64_t bits, uint64_t relu) {
    uint64_t is_negative = -(uint64_t)((bits & UINT32_MAX) - UINT64_C(0x80000000) <= 0x7f800000);
    return bits & ~(is_negative & relu);
}

#define PAIRS_OF(name, host, format)                                                                                \
    host static void name(Lanes *out, const Lanes *const in[], const Compute *how) {                                \
        const uint64_t *x = in[0]->at, *y = in[1]->at;                                                              \
        bool finite = how->finite;                                                                                  \
        uint64_t relu = how->relu ? UINT64_MAX : 0;                                                                 \
        EACH_LANE {                                                                                                 \
            double high = (double)as_single(not_below(x[i], relu)), low = (double)as_single(not_below(y[i], relu)); \
            uint64_t above = format_nearest(&format, high, finite);                                                 \
            out->at[i] = format_nearest(&format, low, finite) | above << format.bits;                               \
        }                                                                                                           \
    }
#define BOTH_PAIRS_OF(name, format) \
    PAIRS_OF(name, , format)        \
    PAIRS_OF(name##_wide, WIDE_HOST, format)
static const RealFormat e4m3_format = {8, 3, 0, 7, false, 0x7e, 0x7f, true};
static const RealFormat e5m2_format = {8, 2, 0, 15, true, 0x7b, 0x7f, true};
BOTH_PAIRS_OF(to_halves, half_format)
BOTH_PAIRS_OF(to_brains, brain_format)
BOTH_PAIRS_OF(to_e4m3, e4m3_format)
BOTH_PAIRS_OF(to_e5m2, e5m2_format)

ComputeRow *halves_row(const Compute *how) {
    bool wide = processor_has(PROCESSOR_AVX2);
    switch (how->types[0].format) {
    case FORMAT_F16:
        return wide ? to_halves_wide : to_halves;
    case FORMAT_BF16:
        return wide ? to_brains_wide : to_brains;
    case FORMAT_E4M3:
        return wide ? to_e4m3_wide : to_e4m3;
    case FORMAT_E5M2:
        return wide ? to_e5m2_wide : to_e5m2;
    default:
        return NULL;
    }
}
