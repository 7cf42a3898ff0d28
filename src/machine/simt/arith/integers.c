/* Arithmetic of whole numbers. */
#include "machine/simt/arith/compute.h"

typedef unsigned __int128 IntegerBits128;
typedef __int128 Wide128;

/* Of b = 0 nothing is specified: lanes where it is so are not known (unknown_quotient). */
static uint64_t quotient(uint64_t a, uint64_t b) {
    return b ? a / b : UINT64_MAX;
}
static uint64_t rest(uint64_t a, uint64_t b) {
    return b ? a % b : a;
}
static uint64_t quotient_signed(int64_t a, int64_t b) {
    uint64_t size = quotient(magnitude(a), magnitude(b));
    return (a < 0) != (b < 0) ? -size : size;
}
static uint64_t rest_signed(int64_t a, int64_t b) {
    uint64_t size = rest(magnitude(a), magnitude(b));
    return a < 0 ? -size : size;
}

static int64_t clamped(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* `u` and `s`: numbers of that width; `w`: unsigned, to work in; `uw`, `sw`: of twice the width. */
#define WIDTH_ROWS(n, u, s, w, uw, sw)                                     \
    ROW2(add_##n, u, w, u, a + b)                                          \
    ROW2(sub_##n, u, w, u, a - b)                                          \
    ROW2(mul_##n, u, w, u, a *b)                                           \
    ROW3(mad_##n, u, w, u, a *b + (w)c)                                    \
    ROW2(mul_high_u##n, u, uw, u, (a * b) >> n)                            \
    ROW2(mul_high_s##n, s, sw, u, (a * b) >> n)                            \
    ROW3(mad_high_u##n, u, uw, u, ((a * b) >> n) + c)                      \
    ROW3(mad_high_s##n, s, sw, u, (uint64_t)((a * b) >> n) + c)            \
    ROW3(sad_u##n, u, w, u, (a < b ? b - a : a - b) + (w)c)                \
    ROW3(sad_s##n, s, s, u, (w)(a < b ? (w)b - (w)a : (w)a - (w)b) + (w)c) \
    ROW2(div_u##n, u, u, u, quotient(a, b))                                \
    ROW2(div_s##n, s, s, u, quotient_signed(a, b))                         \
    ROW2(rem_u##n, u, u, u, rest(a, b))                                    \
    ROW2(rem_s##n, s, s, u, rest_signed(a, b))                             \
    ROW2(min_u##n, u, u, u, a < b ? a : b)                                 \
    ROW2(min_s##n, s, s, u, a < b ? a : b)                                 \
    ROW2(max_u##n, u, u, u, a > b ? a : b)                                 \
    ROW2(max_s##n, s, s, u, a > b ? a : b)                                 \
    ROW2(min_relu_##n, s, s, u, a < b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b)) \
    ROW2(max_relu_##n, s, s, u, a > b ? (a < 0 ? 0 : a) : (b < 0 ? 0 : b)) \
    ROW1(abs_##n, s, s, u, magnitude(a))                                   \
    ROW1(neg_##n, u, w, u, 0 - a)
WIDTH_ROWS(16, uint16_t, int16_t, uint32_t, uint32_t, int32_t)
WIDTH_ROWS(32, uint32_t, int32_t, uint32_t, uint64_t, int64_t)
WIDTH_ROWS(64, uint64_t, int64_t, uint64_t, IntegerBits128, Wide128)

ROW2(mul_wide_u16, uint16_t, uint32_t, uint32_t, a *b)
ROW2(mul_wide_s16, int16_t, int32_t, uint32_t, a *b)
ROW2(mul_wide_u32, uint32_t, uint64_t, uint64_t, a *b)
ROW2(mul_wide_s32, int32_t, int64_t, uint64_t, a *b)
ROW3(mad_wide_u16, uint16_t, uint32_t, uint32_t, a *b + (uint32_t)c)
ROW3(mad_wide_s16, int16_t, int32_t, uint32_t, (uint32_t)(a *b) + (uint32_t)c)
ROW3(mad_wide_u32, uint32_t, uint64_t, uint64_t, a *b + c)
ROW3(mad_wide_s32, int32_t, int64_t, uint64_t, (uint64_t)(a *b) + c)

ROW2(add_saturated, int32_t, int64_t, uint32_t, clamped(a + b, INT32_MIN, INT32_MAX))
ROW2(sub_saturated, int32_t, int64_t, uint32_t, clamped(a - b, INT32_MIN, INT32_MAX))
ROW3(mad_saturated, int32_t, int64_t, uint32_t, clamped(((a * b) >> 32) + (int32_t)c, INT32_MIN, INT32_MAX))

/* The lower 24 bits. */
#define LOW24(x)    ((x)&0xffffff)
#define SIGNED24(x) ((int64_t)((uint64_t)(x) << 40) >> 40)
ROW2(mul24_low_u, uint32_t, uint64_t, uint32_t, LOW24(a) * LOW24(b))
ROW2(mul24_low_s, uint32_t, int64_t, uint32_t, SIGNED24(a) * SIGNED24(b))
ROW2(mul24_high_u, uint32_t, uint64_t, uint32_t, (LOW24(a) * LOW24(b)) >> 16)
ROW2(mul24_high_s, uint32_t, int64_t, uint32_t, (SIGNED24(a) * SIGNED24(b)) >> 16)
ROW3(mad24_low_u, uint32_t, uint64_t, uint32_t, LOW24(a) * LOW24(b) + c)
ROW3(mad24_low_s, uint32_t, int64_t, uint32_t, (uint64_t)(SIGNED24(a) * SIGNED24(b)) + c)
ROW3(mad24_high_u, uint32_t, uint64_t, uint32_t, ((LOW24(a) * LOW24(b)) >> 16) + c)
ROW3(mad24_high_s, uint32_t, int64_t, uint32_t, (uint64_t)((SIGNED24(a) * SIGNED24(b)) >> 16) + c)
ROW3(mad24_saturated, uint32_t, int64_t, uint32_t,
     clamped(((SIGNED24(a) * SIGNED24(b)) >> 16) + (int32_t)c, INT32_MIN, INT32_MAX))

/* ---- What is not known --------------------------------------------------------------------------------------- */

static uint32_t zeros(const Lanes *values) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask |= (uint32_t)!values->at[i] << i;
    return mask;
}

static uint32_t unknown_quotient(const Lanes *const in[], const uint32_t unknown[], const Compute *how) {
    (void)how;
    return unknown[0] | unknown[1] | zeros(in[1]);
}

/* 0 times whatever is 0. */
static uint32_t unknown_product(const Lanes *const in[], const uint32_t unknown[], const Compute *how) {
    uint32_t both = unknown[0] | unknown[1];
    if (both)
        both &= ~((zeros(in[0]) & ~unknown[0]) | (zeros(in[1]) & ~unknown[1]));
    return both | (how->count > 2 ? unknown[2] : 0);
}

static uint32_t unknown_difference(const Lanes *const in[], const uint32_t unknown[], const Compute *how) {
    (void)in;
    return how->same ? 0 : unknown[0] | unknown[1];
}

/* ---- Picking -------------------------------------------------------------------------------------------------- */

typedef enum IntegerPart { PART_ANY, PART_LOW, PART_HIGH, PART_WIDE, PART_SATURATED, PART_RELU } IntegerPart;

#define ROWS(name) \
    { name##_16, name##_32, name##_64 }
#define ROWS_U(name) \
    { name##_u16, name##_u32, name##_u64 }
#define ROWS_S(name) \
    { name##_s16, name##_s32, name##_s64 }
#define ONLY_32(name) \
    { NULL, name, NULL }
#define UP_TO_32(name) \
    { name##16, name##32, NULL }
enum { OF_BOTH, OF_UNSIGNED, OF_SIGNED };

static const struct {
    uint16_t evaluator;
    uint8_t part, sign;
    ComputeRow *rows[3];
} rows[] = {
    {PTX_EVALUATE_ADD, PART_LOW, OF_BOTH, ROWS(add)},
    {PTX_EVALUATE_ADD, PART_SATURATED, OF_SIGNED, ONLY_32(add_saturated)},
    {PTX_EVALUATE_SUB, PART_LOW, OF_BOTH, ROWS(sub)},
    {PTX_EVALUATE_SUB, PART_SATURATED, OF_SIGNED, ONLY_32(sub_saturated)},
    {PTX_EVALUATE_MUL, PART_LOW, OF_BOTH, ROWS(mul)},
    {PTX_EVALUATE_MUL, PART_HIGH, OF_UNSIGNED, ROWS_U(mul_high)},
    {PTX_EVALUATE_MUL, PART_HIGH, OF_SIGNED, ROWS_S(mul_high)},
    {PTX_EVALUATE_MUL, PART_WIDE, OF_UNSIGNED, UP_TO_32(mul_wide_u)},
    {PTX_EVALUATE_MUL, PART_WIDE, OF_SIGNED, UP_TO_32(mul_wide_s)},
    {PTX_EVALUATE_MAD, PART_LOW, OF_BOTH, ROWS(mad)},
    {PTX_EVALUATE_MAD, PART_HIGH, OF_UNSIGNED, ROWS_U(mad_high)},
    {PTX_EVALUATE_MAD, PART_HIGH, OF_SIGNED, ROWS_S(mad_high)},
    {PTX_EVALUATE_MAD, PART_SATURATED, OF_SIGNED, ONLY_32(mad_saturated)},
    {PTX_EVALUATE_MAD, PART_WIDE, OF_UNSIGNED, UP_TO_32(mad_wide_u)},
    {PTX_EVALUATE_MAD, PART_WIDE, OF_SIGNED, UP_TO_32(mad_wide_s)},
    {PTX_EVALUATE_MUL24, PART_LOW, OF_UNSIGNED, ONLY_32(mul24_low_u)},
    {PTX_EVALUATE_MUL24, PART_LOW, OF_SIGNED, ONLY_32(mul24_low_s)},
    {PTX_EVALUATE_MUL24, PART_HIGH, OF_UNSIGNED, ONLY_32(mul24_high_u)},
    {PTX_EVALUATE_MUL24, PART_HIGH, OF_SIGNED, ONLY_32(mul24_high_s)},
    {PTX_EVALUATE_MAD24, PART_LOW, OF_UNSIGNED, ONLY_32(mad24_low_u)},
    {PTX_EVALUATE_MAD24, PART_LOW, OF_SIGNED, ONLY_32(mad24_low_s)},
    {PTX_EVALUATE_MAD24, PART_HIGH, OF_UNSIGNED, ONLY_32(mad24_high_u)},
    {PTX_EVALUATE_MAD24, PART_HIGH, OF_SIGNED, ONLY_32(mad24_high_s)},
    {PTX_EVALUATE_MAD24, PART_SATURATED, OF_SIGNED, ONLY_32(mad24_saturated)},
    {PTX_EVALUATE_SAD, PART_LOW, OF_UNSIGNED, ROWS_U(sad)},
    {PTX_EVALUATE_SAD, PART_LOW, OF_SIGNED, ROWS_S(sad)},
    {PTX_EVALUATE_DIV, PART_LOW, OF_UNSIGNED, ROWS_U(div)},
    {PTX_EVALUATE_DIV, PART_LOW, OF_SIGNED, ROWS_S(div)},
    {PTX_EVALUATE_REM, PART_LOW, OF_UNSIGNED, ROWS_U(rem)},
    {PTX_EVALUATE_REM, PART_LOW, OF_SIGNED, ROWS_S(rem)},
    {PTX_EVALUATE_MIN, PART_LOW, OF_UNSIGNED, ROWS_U(min)},
    {PTX_EVALUATE_MIN, PART_LOW, OF_SIGNED, ROWS_S(min)},
    {PTX_EVALUATE_MIN, PART_RELU, OF_SIGNED, ROWS(min_relu)},
    {PTX_EVALUATE_MAX, PART_LOW, OF_UNSIGNED, ROWS_U(max)},
    {PTX_EVALUATE_MAX, PART_LOW, OF_SIGNED, ROWS_S(max)},
    {PTX_EVALUATE_MAX, PART_RELU, OF_SIGNED, ROWS(max_relu)},
    {PTX_EVALUATE_ABS, PART_LOW, OF_SIGNED, ROWS(abs)},
    {PTX_EVALUATE_NEG, PART_LOW, OF_SIGNED, ROWS(neg)},
};

ComputeRow *integer_row(Compute *how) {
    unsigned width = how->type.bits == 16 ? 0 : how->type.bits == 32 ? 1 : 2;
    uint8_t sign = how->type.class == CLASS_SIGNED ? OF_SIGNED : OF_UNSIGNED;
    uint8_t part = how->wide        ? PART_WIDE
                   : how->saturates ? PART_SATURATED
                   : how->relu      ? PART_RELU
                   : how->high      ? PART_HIGH
                                    : PART_LOW;
    if (how->evaluator == PTX_EVALUATE_DIV || how->evaluator == PTX_EVALUATE_REM)
        how->unknown = unknown_quotient;
    else if (how->evaluator == PTX_EVALUATE_MUL || how->evaluator == PTX_EVALUATE_MAD)
        how->unknown = unknown_product;
    else if (how->evaluator == PTX_EVALUATE_SUB)
        how->unknown = unknown_difference;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].evaluator == how->evaluator && rows[i].part == part &&
            (rows[i].sign == OF_BOTH || rows[i].sign == sign))
            return rows[i].rows[width];
    how->unknown = NULL;
    return NULL;
}
