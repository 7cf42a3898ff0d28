/* Formats of real numbers: from bits to doubles, and back, rounded. */
#include "machine/simt/arith/formats.h"

const RealFormat formats[FORMATS] = {
    [FORMAT_F16] = {16, 10, 0, 15, true, 0x7bff, 0x7fff, true},
    [FORMAT_BF16] = {16, 7, 0, 127, true, 0x7f7f, 0x7fff, true},
    [FORMAT_F32] = {32, 23, 0, 127, true, 0x7f7fffff, 0x7fffffff, true},
    [FORMAT_TF32] = {19, 10, 13, 127, true, 0x3fbff, 0x3ffff, true},
    [FORMAT_E4M3] = {8, 3, 0, 7, false, 0x7e, 0x7f, true},
    [FORMAT_E5M2] = {8, 2, 0, 15, true, 0x7b, 0x7f, true},
    [FORMAT_E2M3] = {6, 3, 0, 1, false, 0x1f, 0x1f, false},
    [FORMAT_E3M2] = {6, 2, 0, 3, false, 0x1f, 0x1f, false},
    [FORMAT_E2M1] = {4, 1, 0, 1, false, 0x7, 0x7, false},
};

/* value * 2^exponent, of which both ends are normal doubles. */
static double scaled(double value, int exponent) {
    return value * as_double((uint64_t)(exponent + 1023) << 52);
}

static double widen_scale(uint32_t bits) {
    return bits == 0xff ? as_double(UINT64_C(0x7ff8000000000000)) : scaled(1, (int)bits - 127);
}

double format_widen(FormatId id, uint32_t bits) {
    const RealFormat *format = &formats[id];
    if (id == FORMAT_F32)
        return (double)as_single(bits);
    if (id == FORMAT_UE8M0)
        return widen_scale(bits & 0xff);
    bits >>= format->shift;
    uint32_t sign = bits >> (format->bits - 1) & 1, rest = bits & ((1u << (format->bits - 1)) - 1);
    uint32_t fraction = rest & ((1u << format->mantissa) - 1), exponent = rest >> format->mantissa;
    double value;
    if (format->has_nan && rest > format->most)
        value = format->infinite && rest == format->most + 1 ? as_double(UINT64_C(0x7ff0000000000000))
                                                             : as_double(UINT64_C(0x7ff8000000000000));
    else if (exponent)
        value = scaled((double)(fraction | 1u << format->mantissa), (int)exponent - format->bias - format->mantissa);
    else
        value = scaled((double)fraction, 1 - format->bias - format->mantissa);
    return sign ? -value : value;
}

static bool rounds_up(Round round, bool negative, uint64_t kept, uint64_t rest, uint64_t half) {
    switch (round) {
    case ROUND_NEAREST:
        return rest > half || (rest == half && (kept & 1));
    case ROUND_AWAY:
        return rest >= half;
    case ROUND_DOWN:
        return negative && rest;
    case ROUND_UP:
        return !negative && rest;
    case ROUND_ZERO:
        break;
    }
    return false;
}

/* A number that is too great. */
static uint32_t beyond(const RealFormat *format, bool negative, Round round, bool finite) {
    bool stays = round == ROUND_ZERO || (round == ROUND_DOWN && !negative) || (round == ROUND_UP && negative);
    return format->infinite && !finite && !stays ? format->most + 1 : format->most;
}

/* The size of a number over 0 as the bits of a format, without its sign. */
static uint32_t narrow_size(const RealFormat *format, uint64_t bits, bool negative, Round round, bool finite) {
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023, least = 1 - format->bias, drop = 52 - format->mantissa;
    uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | (exponent > -1023 ? UINT64_C(1) << 52 : 0);
    if (exponent < least)
        drop += least - exponent;
    drop = drop > 60 ? 60 : drop;
    uint64_t kept = significand >> drop, rest = significand & ((UINT64_C(1) << drop) - 1);
    kept += rounds_up(round, negative, kept, rest, UINT64_C(1) << (drop - 1));
    if (exponent >= least)
        kept += (uint64_t)(exponent - least) << format->mantissa;
    return kept > format->most ? beyond(format, negative, round, finite) : (uint32_t)kept;
}

uint32_t format_narrow(FormatId id, double value, Round round, bool finite) {
    const RealFormat *format = &formats[id];
    uint64_t bits = bits_of_double(value), size = bits << 1 >> 1, infinity = UINT64_C(0x7ff0000000000000);
    bool negative = bits >> 63;
    if (size > infinity)
        return format->no_number << format->shift;
    uint32_t result;
    if (size == infinity)
        result = format->infinite && !finite ? format->most + 1 : format->most;
    else
        result = size ? narrow_size(format, size, negative, round, finite) : 0;
    return (result | (uint32_t)negative << (format->bits - 1)) << format->shift;
}

uint32_t single_narrow(double value, Round round) {
    float single = (float)value;
    double back = (double)single;
    uint32_t bits = bits_of_single(single);
    if (value != value)
        return SINGLE_NAN;
    bool negative = bits >> 31;
    if (round == ROUND_ZERO)
        return (negative ? back < value : back > value) ? bits - 1 : bits;
    if (round == ROUND_DOWN && back > value)
        return negative ? bits + 1 : bits - 1;
    if (round == ROUND_UP && back < value)
        return negative ? bits - 1 : bits + 1;
    return bits;
}

bool format_is_tiny(FormatId id, double value, Round round) {
    bool half = id == FORMAT_F16, single = id == FORMAT_F32;
    double least = half ? 0x1p-14 : 0x1p-126, up = half ? 0x1p8 : 0x1p64, bound = least * up;
    if (value >= least || value <= -least || value != value)
        return false;
    uint32_t bits = single ? single_narrow(value * up, round) : format_narrow(id, value * up, round, false);
    double rounded = format_widen(id, bits);
    return rounded < bound && rounded > -bound;
}
