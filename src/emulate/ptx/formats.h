/* Formats of real numbers, and rounding to them.
 *
 * Every format but f64 is exact in a double, and a double that was rounded to odd (its last bit is 1 if anything was
 * cut off) can be rounded once more to any of them as if nothing had been lost: it has more than two bits more than
 * each. Sums of such doubles are therefore made with add_odd; products of two numbers of 24 bits are exact. Nothing of
 * this depends on the host's rounding mode being another than to nearest, or on contracted expressions. */
#ifndef EMULATE_PTX_FORMATS_H
#define EMULATE_PTX_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

static inline double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float as_single(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static inline uint32_t bits_of_single(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

enum { SINGLE_NAN = 0x7fffffff };
static inline uint32_t single_result(float value) {
    return value != value ? (uint32_t)SINGLE_NAN : bits_of_single(value);
}

/* The number that some bits are, all formats but f64. */
double format_widen(FormatId format, uint32_t bits);
static inline double half_widen(uint64_t bits) {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31)
        return format_widen(FORMAT_F16, (uint32_t)bits);
    double size = (double)(int32_t)(fraction | (exponent ? 1024u : 0)) *
                  as_double((uint64_t)((exponent ? exponent : 1) + 1023 - 25) << 52);
    return bits >> 15 & 1 ? -size : size;
}
static inline double brain_widen(uint64_t bits) {
    return (double)as_single(bits << 16);
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
    double least = as_double((uint64_t)(1024 - format->bias) << 52);
    uint64_t last = (uint64_t)(1024 - format->bias + 52 - format->mantissa) << 52;
    uint64_t small = bits_of_double(as_double(size) + as_double(last)) - last;
    uint64_t normal = (size + ((UINT64_C(1) << (drop - 1)) - 1) + (size >> drop & 1)) >> drop;
    normal -= (uint64_t)(1023 - format->bias) << format->mantissa;
    uint64_t result = as_double(size) < least ? small : normal, most = format->most + (format->infinite && !finite);
    result = result > most ? most : result;
    if (size > UINT64_C(0x7ff0000000000000))
        return format->no_number;
    return (uint32_t)(result | (bits >> 63) << (format->bits - 1));
}

/* A sum and a quotient, a root, rounded to odd; of numbers with at most 24 bits each, or products of two such. */
static inline double add_odd(double a, double b) {
    double sum = a + b, of_b = sum - a, of_a = sum - of_b, error = (a - of_a) + (b - of_b);
    uint64_t bits = bits_of_double(sum);
    if (error != 0 && error == error && !(bits & 1))
        bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
    return as_double(bits);
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
