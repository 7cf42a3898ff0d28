/* Formats of matrix elements. */
#include "machine/simt/mma/matrix_numbers.h"

#include "base/number.h"

#include <math.h>

/* What the greatest exponent stands for. */
typedef enum Specials { SPECIAL_IEEE, SPECIAL_NAN_ONLY, SPECIAL_NONE } Specials;

typedef struct MatrixNumberFormat {
    const char *name;
    uint8_t bits;
    bool integer, is_signed;
    uint8_t exponent, mantissa, bias;
    Specials specials;
} MatrixNumberFormat;

static const MatrixNumberFormat formats[MATRIX_TYPES] = {
    [MATRIX_F16] = {"f16", 16, .exponent = 5, .mantissa = 10, .bias = 15},
    [MATRIX_BF16] = {"bf16", 16, .exponent = 8, .mantissa = 7, .bias = 127},
    [MATRIX_TF32] = {"tf32", 32, .exponent = 8, .mantissa = 23, .bias = 127},
    [MATRIX_F32] = {"f32", 32, .exponent = 8, .mantissa = 23, .bias = 127},
    [MATRIX_F64] = {"f64", 64},
    [MATRIX_E4M3] = {"e4m3", 8, .exponent = 4, .mantissa = 3, .bias = 7, .specials = SPECIAL_NAN_ONLY},
    [MATRIX_E5M2] = {"e5m2", 8, .exponent = 5, .mantissa = 2, .bias = 15},
    [MATRIX_E3M2] = {"e3m2", 6, .exponent = 3, .mantissa = 2, .bias = 3, .specials = SPECIAL_NONE},
    [MATRIX_E2M3] = {"e2m3", 6, .exponent = 2, .mantissa = 3, .bias = 1, .specials = SPECIAL_NONE},
    [MATRIX_E2M1] = {"e2m1", 4, .exponent = 2, .mantissa = 1, .bias = 1, .specials = SPECIAL_NONE},
    [MATRIX_S8] = {"s8", 8, .integer = true, .is_signed = true},
    [MATRIX_U8] = {"u8", 8, .integer = true},
    [MATRIX_S4] = {"s4", 4, .integer = true, .is_signed = true},
    [MATRIX_U4] = {"u4", 4, .integer = true},
    [MATRIX_B1] = {"b1", 1, .integer = true},
    [MATRIX_S32] = {"s32", 32, .integer = true, .is_signed = true},
};

MatrixType matrix_type(Str name) {
    for (unsigned i = MATRIX_NONE + 1; i < MATRIX_TYPES; ++i)
        if (str_is(name, formats[i].name))
            return (MatrixType)i;
    return MATRIX_NONE;
}

unsigned matrix_type_bits(MatrixType type) {
    return formats[type].bits;
}

bool matrix_type_is_integer(MatrixType type) {
    return formats[type].integer;
}

MatrixDecoder matrix_decoder(MatrixType type) {
    const MatrixNumberFormat *format = &formats[type];
    unsigned low = format->exponent + format->mantissa;
    MatrixDecoder decoder = {.bits = format->bits, .integer = format->integer};
    if (format->integer) {
        decoder.magnitude = UINT32_MAX >> (32 - format->bits);
        decoder.sign = format->is_signed ? UINT32_C(1) << (format->bits - 1) : 0;
        return decoder;
    }
    uint32_t greatest = ((UINT32_C(1) << format->exponent) - 1) << format->mantissa;
    decoder.sign = UINT32_C(1) << low;
    decoder.magnitude = (decoder.sign - 1) & (type == MATRIX_TF32 ? ~UINT32_C(0x1fff) : UINT32_MAX);
    decoder.sign_shift = (uint8_t)(31 - low);
    decoder.shift = (uint8_t)(23 - format->mantissa);
    decoder.scale = as_single((uint32_t)(254 - format->bias) << 23); /* 2^(127 - bias) */
    decoder.special = format->specials == SPECIAL_NONE   ? INT32_MAX
                      : format->specials == SPECIAL_IEEE ? (int32_t)greatest
                                                         : (int32_t)(decoder.sign - 1);
    return decoder;
}

float matrix_float(MatrixType type, uint32_t bits) {
    MatrixDecoder decoder = matrix_decoder(type);
    uint32_t magnitude = bits & decoder.magnitude, sign = (bits & decoder.sign) << decoder.sign_shift;
    if (decoder.integer)
        return (float)((int32_t)(magnitude ^ decoder.sign) - (int32_t)decoder.sign);
    uint32_t special = (int32_t)magnitude >= decoder.special ? 0x7f800000 : 0;
    return as_single(bits_of_single(as_single(magnitude << decoder.shift) * decoder.scale) | sign | special);
}

float matrix_scale(bool ue8m0, uint8_t bits) {
    if (!ue8m0)
        return matrix_float(MATRIX_E4M3, bits & 0x7f);
    if (bits == 0xff)
        return as_single(0x7fc00000);
    return bits ? as_single((uint32_t)bits << 23) : as_single(0x400000); /* 2^-127 is subnormal */
}

double matrix_other_accumulator(MatrixType type, uint64_t bits) {
    if (type == MATRIX_S32)
        return (int32_t)(uint32_t)bits;
    if (type == MATRIX_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    return matrix_float(type, (uint32_t)bits);
}

/* To the nearest, and of two that are as near to the even one. */
static uint32_t half_of(double value, bool saturate) {
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value))
        return 0x7fff;
    if (magnitude >= 65520)
        return sign | (saturate ? 0x7bff : 0x7c00);
    if (magnitude < 0x1p-14)
        return sign | (uint32_t)nearbyint(magnitude * 0x1p24);
    int exponent;
    frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    return sign | (((uint32_t)(exponent + 13) << 10) + (uint32_t)nearbyint(ldexp(magnitude, 11 - exponent)));
}

static uint32_t single_of(double value, bool saturate) {
    if (isnan(value))
        return 0x7fffffff;
    float rounded = (float)value;
    if (saturate && isinf(rounded))
        return bits_of_single(copysignf(0x1.fffffep127f, rounded));
    return bits_of_single(rounded);
}

static uint32_t whole_of(double value, bool saturate) {
    if (saturate)
        return (uint32_t)(int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
    return (uint32_t)(uint64_t)(int64_t)value;
}

uint64_t matrix_other_result(MatrixType type, double value, bool saturate) {
    switch (type) {
    case MATRIX_F16:
        return half_of(value, saturate);
    case MATRIX_F32:
        return single_of(value, saturate);
    case MATRIX_S32:
        return whole_of(value, saturate);
    default:
        break;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? UINT64_C(0x7fffffffffffffff) : bits;
}
