/* f16 and bf16, rounded to nearest: arithmetic without modifiers, and two from two f32. Each row is there twice: as the
 * compiler makes it, and for hosts with AVX2, where it takes four lanes at once. */
#include "emulate/ptx/compute.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE_HOST __attribute__((target("avx2")))
static bool host_is_wide(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define WIDE_HOST
static bool host_is_wide(void) {
    return false;
}
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
            return host_is_wide() ? rows[i].wide : rows[i].row;
    return NULL;
}

/* ---- From f32 -------------------------------------------------------------------------------------------------- */

/* .relu: 0 for what has a sign, and is a number. */
static inline uint64_t not_below(uint64_t bits, uint64_t relu) {
    uint64_t is_negative = -(uint64_t)((bits & UINT32_MAX) - UINT64_C(0x80000000) <= 0x7f800000);
    return bits & ~(is_negative & relu);
}

#define HALVES_OF(name, host, format)                                                                                  \
    host static void name(Lanes *out, const Lanes *const in[], const Compute *how) {                                   \
        const uint64_t *x = in[0]->at, *y = in[1]->at;                                                                 \
        bool finite = how->finite;                                                                                     \
        uint64_t relu = how->relu ? UINT64_MAX : 0;                                                                    \
        EACH_LANE {                                                                                                    \
            double high = (double)as_single(not_below(x[i], relu)), low = (double)as_single(not_below(y[i], relu));    \
            out->at[i] = format_nearest(&format, low, finite) | (uint64_t)format_nearest(&format, high, finite) << 16; \
        }                                                                                                              \
    }
HALVES_OF(singles_to_halves, , half_format)
HALVES_OF(singles_to_halves_wide, WIDE_HOST, half_format)
HALVES_OF(singles_to_brains, , brain_format)
HALVES_OF(singles_to_brains_wide, WIDE_HOST, brain_format)

ComputeRow *halves_row(const Compute *how) {
    if (how->types[0].format == FORMAT_F16)
        return host_is_wide() ? singles_to_halves_wide : singles_to_halves;
    if (how->types[0].format == FORMAT_BF16)
        return host_is_wide() ? singles_to_brains_wide : singles_to_brains;
    return NULL;
}
