/* f64 in whole numbers, for what the host's arithmetic does not have: directed rounding, and products and sums that are
 * rounded once. */
#include "machine/simt/arith/formats.h"

typedef unsigned __int128 Reals64Bits128;

/* A number that is not 0, or any of the others. */
typedef struct Unpacked {
    bool negative, zero, infinite, nan;
    uint64_t significand; /* bit 52 is its highest */
    int exponent;         /* of bit 0 */
} Unpacked;

static const uint64_t infinity = UINT64_C(0x7ff0000000000000), sign_bit = UINT64_C(1) << 63;
/* Of 0 / 0 and the like. */
static const uint64_t invalid = UINT64_C(0xfff8000000000000);

static Unpacked unpacked(uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    Unpacked made = {.negative = bits >> 63, .exponent = exponent - 1075};
    made.zero = !exponent && !fraction;
    made.infinite = exponent == 0x7ff && !fraction;
    made.nan = exponent == 0x7ff && fraction;
    made.significand = fraction | UINT64_C(1) << 52;
    if (!exponent && fraction) {
        int shift = __builtin_clzll(fraction) - 11;
        made.significand = fraction << shift;
        made.exponent = -1074 - shift;
    }
    return made;
}

static uint64_t signed_bits(bool negative, uint64_t size) {
    return size | (negative ? sign_bit : 0);
}

/* The first of the operands that is no number, with its quiet bit. */
static uint64_t nan_of(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t chosen = unpacked(a).nan ? a : unpacked(b).nan ? b : c;
    return chosen | UINT64_C(1) << 51;
}

static int width_of(Reals64Bits128 value) {
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

static bool rounds_up(bool negative, bool odd, bool half, bool rest, Round round) {
    switch (round) {
    case ROUND_NEAREST:
        return half && (rest || odd);
    case ROUND_AWAY:
        return half;
    case ROUND_DOWN:
        return negative && (half || rest);
    case ROUND_UP:
        return !negative && (half || rest);
    case ROUND_ZERO:
        break;
    }
    return false;
}

uint64_t double_rounded(bool negative, Reals64Bits128 significand, int exponent, bool more, Round round) {
    int drop = width_of(significand) - 53;
    if (!significand)
        return signed_bits(negative, 0);
    if (exponent + drop < -1074)
        drop = -1074 - exponent;
    uint64_t kept;
    if (drop <= 0) {
        kept = (uint64_t)significand << -drop;
        more = rounds_up(negative, kept & 1, false, more, round);
    } else {
        bool half = drop <= 128 && significand >> (drop - 1) & 1;
        bool rest = more || (drop > 128 ? true : (significand & (((Reals64Bits128)1 << (drop - 1)) - 1)) != 0);
        kept = drop >= 128 ? 0 : (uint64_t)(significand >> drop);
        more = rounds_up(negative, kept & 1, half, rest, round);
    }
    int top = exponent + drop + 1074; /* 0: subnormal, or the least normal ones */
    kept += more;
    uint64_t size = kept + ((uint64_t)top << 52);
    if (size >= infinity || top > 2046) {
        bool stays = round == ROUND_ZERO || (round == ROUND_DOWN && !negative) || (round == ROUND_UP && negative);
        size = stays ? infinity - 1 : infinity;
    }
    return signed_bits(negative, size);
}

/* ---- Sums ---- */

/* A number with its highest bit at 125. */
typedef struct Aligned {
    bool negative;
    Reals64Bits128 significand;
    int exponent;
} Aligned;

static Aligned aligned(bool negative, Reals64Bits128 significand, int exponent) {
    int shift = 126 - width_of(significand);
    return (Aligned){negative, significand << shift, exponent - shift};
}

static uint64_t sum_of(Aligned a, Aligned b, Round round) {
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.significand < b.significand)) {
        Aligned other = a;
        a = b, b = other;
    }
    int apart = a.exponent - b.exponent;
    bool more = apart > 127 || (b.significand & (((Reals64Bits128)1 << apart) - 1)) != 0;
    Reals64Bits128 other = apart > 127 ? 0 : b.significand >> apart;
    if (a.negative == b.negative)
        return double_rounded(a.negative, a.significand + other, a.exponent, more, round);
    Reals64Bits128 rest = a.significand - other - more;
    if (!rest && !more)
        return signed_bits(round == ROUND_DOWN, 0);
    return double_rounded(a.negative, rest, a.exponent, more, round);
}

static uint64_t zeros_added(bool a, bool b, Round round) {
    return signed_bits(a == b ? a : round == ROUND_DOWN, 0);
}

/* (As on the GPU, the second operand comes first, and of quotients the first.) */
uint64_t double_add(uint64_t a, uint64_t b, Round round) {
    Unpacked x = unpacked(a), y = unpacked(b);
    if (x.nan || y.nan)
        return nan_of(b, a, a);
    if (x.infinite || y.infinite)
        return x.infinite && y.infinite && x.negative != y.negative ? invalid : x.infinite ? a : b;
    if (x.zero || y.zero)
        return x.zero && y.zero ? zeros_added(x.negative, y.negative, round) : x.zero ? b : a;
    return sum_of(aligned(x.negative, x.significand, x.exponent), aligned(y.negative, y.significand, y.exponent),
                  round);
}

/* ---- Products ---- */

uint64_t double_multiply(uint64_t a, uint64_t b, Round round) {
    Unpacked x = unpacked(a), y = unpacked(b);
    bool negative = x.negative != y.negative;
    if (x.nan || y.nan)
        return nan_of(b, a, a);
    if ((x.infinite && y.zero) || (x.zero && y.infinite))
        return invalid;
    if (x.infinite || y.infinite)
        return signed_bits(negative, infinity);
    if (x.zero || y.zero)
        return signed_bits(negative, 0);
    return double_rounded(negative, (Reals64Bits128)x.significand * y.significand, x.exponent + y.exponent, false,
                          round);
}

uint64_t double_fma(uint64_t a, uint64_t b, uint64_t c, Round round) {
    Unpacked x = unpacked(a), y = unpacked(b), z = unpacked(c);
    bool negative = x.negative != y.negative, endless = x.infinite || y.infinite;
    if (x.nan || y.nan || z.nan)
        return nan_of(b, c, a);
    if ((x.infinite && y.zero) || (x.zero && y.infinite) || (endless && z.infinite && z.negative != negative))
        return invalid;
    if (endless)
        return signed_bits(negative, infinity);
    if (z.infinite)
        return c;
    if (x.zero || y.zero)
        return z.zero ? zeros_added(negative, z.negative, round) : c;
    Reals64Bits128 both = (Reals64Bits128)x.significand * y.significand;
    if (z.zero)
        return double_rounded(negative, both, x.exponent + y.exponent, false, round);
    return sum_of(aligned(negative, both, x.exponent + y.exponent), aligned(z.negative, z.significand, z.exponent),
                  round);
}

/* ---- Quotients and roots ---- */

uint64_t double_divide(uint64_t a, uint64_t b, Round round) {
    Unpacked x = unpacked(a), y = unpacked(b);
    bool negative = x.negative != y.negative;
    if (x.nan || y.nan)
        return nan_of(a, b, b);
    if ((x.infinite && y.infinite) || (x.zero && y.zero))
        return invalid;
    if (x.infinite || y.zero)
        return signed_bits(negative, infinity);
    if (x.zero || y.infinite)
        return signed_bits(negative, 0);
    Reals64Bits128 dividend = (Reals64Bits128)x.significand << 64, quotient = dividend / y.significand;
    return double_rounded(negative, quotient, x.exponent - y.exponent - 64, dividend % y.significand != 0, round);
}

/* The root of a number from 2^124 on, of which some 50 bits are known, cut to a whole number. */
static uint64_t whole_root(Reals64Bits128 value) {
    uint64_t root = (uint64_t)(near_root((double)(uint64_t)(value >> 64)) * 0x1p32);
    __int128 error = (__int128)(value - (Reals64Bits128)root * root);
    root += (uint64_t)(int64_t)(error / (__int128)root / 2);
    while ((Reals64Bits128)root * root > value)
        root--;
    while (value - (Reals64Bits128)root * root > (Reals64Bits128)root * 2)
        root++;
    return root;
}

uint64_t double_root(uint64_t a, Round round) {
    Unpacked x = unpacked(a);
    if (x.nan)
        return nan_of(a, a, a);
    if (x.zero || (x.infinite && !x.negative))
        return a;
    if (x.negative)
        return invalid;
    int shift = 72 + (x.exponent & 1);
    Reals64Bits128 value = (Reals64Bits128)x.significand << shift;
    uint64_t root = whole_root(value);
    return double_rounded(false, root, (x.exponent - shift) / 2, (Reals64Bits128)root * root != value, round);
}

double double_whole(double value, Round round) {
    uint64_t bits = bits_of_double(value), sign = bits & sign_bit;
    double size = as_double(bits & ~sign_bit);
    if (!(size < 0x1p52))
        return value;
    double whole = (double)(uint64_t)size, rest = size - whole;
    bool up = round == ROUND_NEAREST ? rest > 0.5 || (rest == 0.5 && ((uint64_t)whole & 1))
              : round == ROUND_AWAY  ? rest >= 0.5
              : round == ROUND_DOWN  ? sign && rest > 0
              : round == ROUND_UP    ? !sign && rest > 0
                                     : false;
    return as_double(bits_of_double(up ? whole + 1 : whole) | sign);
}
