/* Formats of real numbers, and rounding to them.
 *
 * Every format but f64 is exact in a double, and a double that was rounded to odd (its last bit is 1 if anything was
 * cut off) can be rounded once more to any of them as if nothing had been lost: it has more than two bits more than
 * each. Sums of such doubles are therefore made with add_odd; products of two numbers of 24 bits are exact. Nothing of
 * this depends on the host's rounding mode being another than to nearest, or on contracted expressions. */
#ifndef MACHINE_SIMT_ARITH_FORMATS_H
#define MACHINE_SIMT_ARITH_FORMATS_H

#include "base/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* (gcc does not contract in the C standard's own mode.) */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef enum Round {
    ROUND_NEAREST, /* .rn: to even */
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY, /* .rna: to nearest, what lies in the middle away from 0 */
} Round;

typedef enum FormatId {
    FORMAT_NONE,
    FORMAT_F16,
    FORMAT_BF16,
    FORMAT_F32,
    FORMAT_F64,
    FORMAT_TF32,
    FORMAT_E4M3,
    FORMAT_E5M2,
    FORMAT_E2M3,
    FORMAT_E3M2,
    FORMAT_E2M1,
    FORMAT_UE8M0,
    FORMATS
} FormatId;

typedef struct RealFormat {
    uint8_t bits, mantissa, shift; /* shift: where its lowest bit lies in the register (tf32) */
    int16_t bias;
    bool infinite;      /* it has infinities: `most` + 1 */
    uint32_t most;      /* the greatest number */
    uint32_t no_number; /* what a GPU gives for a NaN */
    bool has_nan;
} RealFormat;

extern const RealFormat formats[FORMATS];
/* The same, for loops that are made for one format. */
static const RealFormat half_format = {16, 10, 0, 15, true, 0x7bff, 0x7fff, true};
static const RealFormat brain_format = {16, 7, 0, 127, true, 0x7f7f, 0x7fff, true};

enum { SINGLE_NAN = 0x7fffffff };
static inline uint32_t single_result(float value) {
    return value != value ? (uint32_t)SINGLE_NAN : bits_of_single(value);
}

/* The number that some bits are, all formats but f64. */
double format_widen(FormatId format, uint32_t bits);
/* (Choices are masks here and below, so that compilers take several lanes at once.) */
static inline double format_half_widen(uint64_t bits, unsigned mantissa, uint64_t bias) {
    uint64_t size = bits & 0x7fff, shifted = size << (52 - mantissa),
             is_small = -(uint64_t)(size < UINT64_C(1) << mantissa);
    uint64_t is_endless = -(uint64_t)(size >= 0x8000 - (UINT64_C(1) << mantissa)), is_zero = -(uint64_t)(size == 0);
    uint64_t small = bits_of_double(as_double((UINT64_C(1023) << 52) | (shifted & is_small)) - 1) - ((bias - 1) << 52);
    uint64_t normal = (shifted + ((1023 - bias) << 52)) | (is_endless & UINT64_C(0x7ff0000000000000));
    return as_double((((small & is_small) | (normal & ~is_small)) & ~is_zero) | (bits & 0x8000) << 48);
}
static inline double half_widen(uint64_t bits) {
    return format_half_widen(bits, 10, 15);
}
static inline double brain_widen(uint64_t bits) {
    return format_half_widen(bits, 7, 127);
}

/* The bits of a number: rounded once if it is exact or was rounded to odd. `finite`: what is too great becomes the
 * greatest number, infinities, too. */
uint32_t format_narrow(FormatId format, double value, Round round, bool finite);
uint32_t single_narrow(double value, Round round);
/* The same to nearest, of all that are not shifted in their registers. A small number is rounded by being added to one
 * whose last place is that of the least number of the format. */
static inline uint32_t format_nearest(const RealFormat *format, double value, bool finite) {
    uint64_t bits = bits_of_double(value), size = bits << 1 >> 1;
    unsigned drop = 52 - format->mantissa;
    uint64_t least = (uint64_t)(1024 - format->bias) << 52;
    uint64_t last = (uint64_t)(1024 - format->bias + 52 - format->mantissa) << 52;
    uint64_t is_small = -(uint64_t)(size < least), is_nan = -(uint64_t)(size > UINT64_C(0x7ff0000000000000));
    uint64_t small = bits_of_double(as_double(size & is_small) + as_double(last)) - last;
    uint64_t normal = (size + ((UINT64_C(1) << (drop - 1)) - 1) + (size >> drop & 1)) >> drop;
    normal -= (uint64_t)(1023 - format->bias) << format->mantissa;
    uint64_t result = (small & is_small) | (normal & ~is_small), most = format->most + (format->infinite && !finite);
    uint64_t is_beyond = -(uint64_t)(result > most);
    result = (most & is_beyond) | (result & ~is_beyond) | (bits >> 63) << (format->bits - 1);
    return (uint32_t)((format->no_number & is_nan) | (result & ~is_nan));
}

/* Whether .ftz makes a result 0: it would be below the least normal number, 2^least, if it were rounded to the format's
 * bits without a bound for its exponent. Of f16 and f32, and those like them. */
bool format_is_tiny(FormatId format, double value, Round round);

/* A sum and a quotient, a root, rounded to odd; of numbers with at most 24 bits each, or products of two such. */
static inline double add_odd(double a, double b) {
    double sum = a + b, of_b = sum - a, of_a = sum - of_b, error = (a - of_a) + (b - of_b);
    uint64_t bits = bits_of_double(sum);
    int64_t toward =
        ((error > 0) - (error < 0)) * (1 - 2 * (int64_t)(bits >> 63)); /* of an even one: to its neighbor */
    return as_double(bits + ((uint64_t)toward & ((bits & 1) - 1)));
}
/* Within 2^-51 of the root of a normal number over 0, which decides how it rounds to 24 bits: Newton's steps from a
 * guess of 1 / root by its bits. */
static inline double near_root(double value) {
    double by = as_double(UINT64_C(0x5fe6eb50c7b537a9) - (bits_of_double(value) >> 1));
    for (unsigned i = 0; i < 4; i++)
        by = by * (1.5 - 0.5 * value * by * by);
    double root = value * by;
    return root + 0.5 * by * (value - root * root);
}

/* Nothing of what `round_down` of 0 = x - x would be is in a double that is 0: its sign is. */
static inline double zero_sum(double sum, double a, double b, Round round) {
    return sum == 0 && round == ROUND_DOWN && (bits_of_double(a) ^ bits_of_double(b)) >> 63 ? -0.0 : sum;
}

/* ---- f64, with all its bits: reals64.c ---- */

/* significand * 2^exponent, a bit more if `more`. */
uint64_t double_rounded(bool negative, unsigned __int128 significand, int exponent, bool more, Round round);
uint64_t double_add(uint64_t a, uint64_t b, Round round);
uint64_t double_multiply(uint64_t a, uint64_t b, Round round);
uint64_t double_fma(uint64_t a, uint64_t b, uint64_t c, Round round);
uint64_t double_divide(uint64_t a, uint64_t b, Round round);
uint64_t double_root(uint64_t a, Round round);
/* A whole number, towards where the mode says. */
double double_whole(double value, Round round);

#endif
