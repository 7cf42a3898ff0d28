/* Formats of matrix elements. Each float format becomes a float by one shift and one multiplication by a power of two,
 * which also makes normal numbers of its subnormal ones. */
#include "machine/simt/mma/matrix_numbers.h"

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

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float integer_of(const MatrixNumberFormat *format, uint32_t bits) {
    uint32_t mask = (UINT32_C(1) << format->bits) - 1, sign = UINT32_C(1) << (format->bits - 1);
    int32_t value = (int32_t)(bits & mask);
    return (float)(format->is_signed && (bits & sign) ? value - (int32_t)mask - 1 : value);
}

float matrix_float(MatrixType type, uint32_t bits) {
    const MatrixNumberFormat *format = &formats[type];
    if (format->integer)
        return integer_of(format, bits);
    if (type == MATRIX_TF32)
        return float_of(bits & ~UINT32_C(0x1fff));
    uint32_t low = format->exponent + format->mantissa, magnitude = bits & ((UINT32_C(1) << low) - 1);
    uint32_t sign = (bits >> low & 1) << 31, shift = 23u - format->mantissa;
    uint32_t greatest = ((UINT32_C(1) << format->exponent) - 1) << format->mantissa;
    if (format->specials == SPECIAL_IEEE && magnitude >= greatest)
        return float_of(sign | 0x7f800000 | (magnitude > greatest ? 0x400000 : 0));
    if (format->specials == SPECIAL_NAN_ONLY && magnitude == (UINT32_C(1) << low) - 1)
        return float_of(sign | 0x7fc00000);
    float scale = float_of((uint32_t)(254 - format->bias) << 23); /* 2^(127 - bias) */
    return float_of(bits_of(float_of(magnitude << shift) * scale) | sign);
}

void matrix_floats(MatrixType type, const uint8_t *bytes, unsigned bit, unsigned count, float *to, unsigned stride) {
    const uint8_t *at = bytes + bit / 8;
    unsigned bits = formats[type].bits;
    uint16_t word;
    uint32_t whole;
    switch (type) {
    case MATRIX_F16:
        for (unsigned i = 0; i < count; ++i, at += 2) {
            memcpy(&word, at, sizeof word);
            to[i * stride] = matrix_half(word);
        }
        return;
    case MATRIX_BF16:
        for (unsigned i = 0; i < count; ++i, at += 2) {
            memcpy(&word, at, sizeof word);
            to[i * stride] = float_of((uint32_t)word << 16);
        }
        return;
    case MATRIX_TF32:
    case MATRIX_F32:
        for (unsigned i = 0; i < count; ++i, at += 4) {
            memcpy(&whole, at, sizeof whole);
            to[i * stride] = float_of(type == MATRIX_TF32 ? whole & ~UINT32_C(0x1fff) : whole);
        }
        return;
    case MATRIX_S8:
        for (unsigned i = 0; i < count; ++i)
            to[i * stride] = (int8_t)at[i];
        return;
    case MATRIX_U8:
        for (unsigned i = 0; i < count; ++i)
            to[i * stride] = at[i];
        return;
    default: /* of 8 bits or less: each within two bytes */
        for (unsigned i = 0; i < count; ++i) {
            unsigned from = bit + i * bits, last = (from + bits - 1) / 8;
            to[i * stride] = matrix_float(type, (bytes[from / 8] | (uint32_t)bytes[last] << 8) >> from % 8);
        }
    }
}

float matrix_scale(bool ue8m0, uint8_t bits) {
    if (!ue8m0)
        return matrix_float(MATRIX_E4M3, bits & 0x7f);
    if (bits == 0xff)
        return float_of(0x7fc00000);
    return bits ? float_of((uint32_t)bits << 23) : float_of(0x400000); /* 2^-127 is subnormal */
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
        return bits_of(copysignf(0x1.fffffep127f, rounded));
    return bits_of(rounded);
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
