/* What reductions in memory make of an element: whole numbers, and reals of 16, 32 and 64 bits, rounded to nearest. */
#include "machine/simt/async/copies.h"

#include <math.h>

static const uint8_t sizes[REDUCE_TYPES] = {4, 4, 8, 8, 2, 2, 4, 8};

unsigned reduce_bytes(ReduceType type) {
    return sizes[type];
}

ReduceType reduce_type(Str type) {
    static const char *const names[REDUCE_TYPES] = {"u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"};
    for (int i = 0; i < REDUCE_TYPES; i++)
        if (str_is(type, names[i]))
            return (ReduceType)i;
    return str_is(type, "b32") ? REDUCE_U32 : str_is(type, "b64") ? REDUCE_U64 : REDUCE_TYPES;
}

ReduceAction reduce_action(const PtxCode *code) {
    static const char *const names[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor"};
    Str name = code_modifier(code, STR("op"));
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return (ReduceAction)i;
    return REDUCE_NONE;
}

/* ---- Reals -------------------------------------------------------------------------------------- */

static double from_half(uint64_t bits, unsigned mantissa) {
    unsigned exponent_bits = 15 - mantissa;
    int exponent = (int)(bits >> mantissa & ((1u << exponent_bits) - 1)), bias = (1 << (exponent_bits - 1)) - 1;
    double fraction = (double)(bits & ((1u << mantissa) - 1)), sign = bits >> 15 & 1 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    if (!exponent)
        return sign * ldexp(fraction, 1 - bias - (int)mantissa);
    return sign * ldexp(fraction + (1u << mantissa), exponent - bias - (int)mantissa);
}

/* To the nearest, ties to even; of f16 (10) or bf16 (7). A NaN is that of the hardware. */
static uint64_t to_half(double value, unsigned mantissa) {
    unsigned exponent_bits = 15 - mantissa;
    int bias = (1 << (exponent_bits - 1)) - 1, exponent;
    uint64_t sign = signbit(value) ? 0x8000 : 0, most = ((UINT64_C(1) << exponent_bits) - 1) << mantissa;
    if (isnan(value))
        return 0x7fff;
    if (isinf(value))
        return sign | most;
    if (value == 0)
        return sign;
    frexp(value, &exponent); /* 0.5 <= |x| < 1 */
    int lowest = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double scaled = nearbyint(ldexp(fabs(value), (int)mantissa - lowest));
    uint64_t bits = (uint64_t)scaled; /* with its leading 1, which may carry into the exponent */
    if (lowest == 1 - bias)
        return sign | bits;
    bits += (uint64_t)(lowest + bias - 1) << mantissa;
    return sign | (bits >= most ? most : bits);
}

static double real_of(ReduceType type, uint64_t bits) {
    float single;
    double real;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case REDUCE_F16:
        return from_half(bits, 10);
    case REDUCE_BF16:
        return from_half(bits, 7);
    case REDUCE_F32:
        memcpy(&single, &low, 4);
        return single;
    default:
        memcpy(&real, &bits, 8);
        return real;
    }
}

static uint64_t bits_of(ReduceType type, double value) {
    float single = (float)value;
    uint64_t bits = 0;
    switch (type) {
    case REDUCE_F16:
        return to_half(value, 10);
    case REDUCE_BF16:
        return to_half(value, 7);
    case REDUCE_F32:
        if (isnan(value))
            return 0x7fffffff;
        memcpy(&bits, &single, 4);
        return bits;
    default:
        memcpy(&bits, &value, 8);
        return bits;
    }
}

static uint64_t reduce_real(ReduceAction action, ReduceType type, uint64_t old, uint64_t value) {
    double a = real_of(type, old), b = real_of(type, value);
    if (action == REDUCE_ADD) {
        float x = (float)a, y = (float)b;
        if (type == REDUCE_F32) /* rounded once */
            return bits_of(type, (double)(x + y));
        return bits_of(type, a + b);
    }
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? bits_of(type, NAN) : isnan(a) ? value : old;
    if (a == b) /* -0 is less than +0 */
        return (action == REDUCE_MIN) == (signbit(a) != 0) ? old : value;
    return (action == REDUCE_MIN) == (a < b) ? old : value;
}

/* ---- Whole numbers ------------------------------------------------------------------------------ */

uint64_t reduce_element(ReduceAction action, ReduceType type, uint64_t old, uint64_t value) {
    if (type >= REDUCE_F16)
        return reduce_real(action, type, old, value);
    bool narrow = sizes[type] == 4;
    int64_t a = type == REDUCE_S32 ? (int32_t)old : (int64_t)old,
            b = type == REDUCE_S32 ? (int32_t)value : (int64_t)value;
    bool is_signed = type == REDUCE_S32 || type == REDUCE_S64, less = is_signed ? b < a : value < old;
    uint64_t result = old;
    switch (action) {
    case REDUCE_NONE:
        result = value;
        break;
    case REDUCE_ADD:
        result = old + value;
        break;
    case REDUCE_MIN:
        result = less ? value : old;
        break;
    case REDUCE_MAX:
        result = less ? old : value;
        break;
    case REDUCE_INC:
        result = old >= value ? 0 : old + 1;
        break;
    case REDUCE_DEC:
        result = !old || old > value ? value : old - 1;
        break;
    case REDUCE_AND:
        result = old & value;
        break;
    case REDUCE_OR:
        result = old | value;
        break;
    case REDUCE_XOR:
        result = old ^ value;
        break;
    }
    return narrow ? (uint32_t)result : result;
}

void reduce_memory(PtxMachine *machine, ReduceAction action, ReduceType type, PtxLocation location, size_t count,
                   uint8_t *bytes, uint8_t *states) {
    unsigned size = sizes[type];
    for (size_t at = 0; at + size <= count; at += size) {
        bool known;
        uint64_t value = 0, old = ptx_load(machine, (PtxLocation){location.block, location.offset + at}, size, &known);
        memcpy(&value, bytes + at, size);
        for (unsigned i = 0; i < size; i++)
            known &= states[at + i] == BYTE_KNOWN;
        uint64_t result = reduce_element(action, type, old, value);
        memcpy(bytes + at, &result, size);
        memset(states + at, known ? BYTE_KNOWN : BYTE_UNKNOWN, size);
    }
}
