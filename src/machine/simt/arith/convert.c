/* From one type to another. */
#include "base/number.h"
#include "machine/simt/arith/compute.h"

/* A register may be wider than its type: what stands in it is cut, and what is written is extended. */
static uint64_t extended(PtxType type, uint64_t bits) {
    unsigned shift = 64 - type.bits;
    return type.class == CLASS_SIGNED ? (uint64_t)((int64_t)(bits << shift) >> shift) : bits << shift >> shift;
}

static uint64_t stored(const Compute *how, uint64_t bits) {
    return extended(how->types[0], bits) & low_ones(how->to.bits ? how->to.bits : 64);
}

/* ---- Whole numbers ------------------------------------------------------------------------------------------- */

typedef __int128 ConvertWide;

static ConvertWide number(PtxType type, uint64_t bits) {
    uint64_t value = extended(type, bits);
    return type.class == CLASS_SIGNED ? (ConvertWide)(int64_t)value : (ConvertWide)value;
}

static uint64_t clamped(PtxType type, ConvertWide value) {
    ConvertWide most = (ConvertWide)(low_ones(type.bits) >> (type.class == CLASS_SIGNED)),
                least = type.class == CLASS_SIGNED ? -most - 1 : 0;
    return (uint64_t)(value < least ? least : value > most ? most : value);
}

static void whole_to_whole(Lanes *out, const Lanes *const in[], const Compute *how) {
    PtxType from = how->types[1];
    EACH_LANE out->at[i] = stored(how, extended(from, in[0]->at[i]));
}

static void whole_to_whole_clamped(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++)
        out->at[i] = stored(how, clamped(how->types[0], number(how->types[1], in[0]->at[i])));
}

/* cvt.pack: what does not fit is clamped; the first operand lies above the second, and the third above both. */
static void pack_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    PtxType type = how->types[0];
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t a = clamped(type, (int32_t)in[0]->at[i]) & low_ones(type.bits);
        uint64_t b = clamped(type, (int32_t)in[1]->at[i]) & low_ones(type.bits);
        uint64_t above = how->count > 2 ? in[2]->at[i] << 2 * type.bits : 0;
        out->at[i] = (uint32_t)(above | a << type.bits | b);
    }
}

/* ---- From whole to real ---------------------------------------------------------------------------------------- */

static double saturated(double value) {
    return !(value > 0) ? 0 : value > 1 ? 1 : value;
}

/* 64 bits in a double, rounded to odd. */
static double odd_of(uint64_t size) {
    if (size >> 53)
        return (double)(size >> 11 | ((size & 2047) != 0)) * 2048;
    return (double)size;
}

static void whole_to_real(Lanes *out, const Lanes *const in[], const Compute *how) {
    FormatId format = (FormatId)how->types[0].format;
    Round round = (Round)how->round;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t bits = extended(how->types[1], in[0]->at[i]);
        bool negative = how->types[1].class == CLASS_SIGNED && bits >> 63;
        uint64_t size = negative ? -bits : bits;
        double value = negative ? -odd_of(size) : odd_of(size);
        if (how->saturates)
            value = saturated(value);
        out->at[i] = format == FORMAT_F64 && !how->saturates ? double_rounded(negative, size, 0, false, round)
                     : format == FORMAT_F64                  ? bits_of_double(value)
                     : format == FORMAT_F32                  ? single_narrow(value, round)
                                                             : format_narrow(format, value, round, false);
    }
}

/* ---- From real to whole ---------------------------------------------------------------------------------------- */

static double flushed(const Compute *how, double value) {
    return how->ftz && value < 0x1p-126 && value > -0x1p-126 ? (bits_of_double(value) >> 63 ? -0.0 : 0.0) : value;
}

static double widened(const Compute *how, PtxType type, uint64_t bits) {
    if (type.format == FORMAT_F64)
        return as_double(bits);
    if (type.format == FORMAT_F32)
        return flushed(how, (double)as_single(bits));
    if (type.format == FORMAT_F16)
        return flushed(how, half_widen(bits & 0xffff));
    return flushed(how, format_widen((FormatId)type.format, (uint32_t)(bits & low_ones(type.bits))));
}

/* What is no number is 0, or the highest bit if either side has 64. */
static uint64_t of_no_number(const Compute *how) {
    PtxType to = how->types[0], from = how->types[1];
    return from.bits == 64 || to.bits == 64 ? UINT64_C(1) << (to.bits - 1) : 0;
}

static uint64_t whole_of(PtxType type, double value) {
    bool is_signed = type.class == CLASS_SIGNED;
    double most = as_double((uint64_t)(1023 + type.bits - is_signed) << 52), least = is_signed ? -most : 0;
    if (value >= most)
        return low_ones(type.bits) >> is_signed;
    if (value < least)
        return is_signed ? UINT64_C(1) << (type.bits - 1) : 0;
    return value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static void real_to_whole(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double value = widened(how, how->types[1], in[0]->at[i]);
        uint64_t result =
            value != value ? of_no_number(how) : whole_of(how->types[0], double_whole(value, (Round)how->round));
        out->at[i] = stored(how, result);
    }
}

/* The most frequent one: f32 to 32 bits, toward 0. */
static void single_to_int(Lanes *out, const Lanes *const in[], const Compute *how) {
    const uint64_t *x = in[0]->at;
    (void)how;
    EACH_LANE {
        double value = (double)as_single(x[i]);
        value = value >= 0x1p31 ? 0x1.fffffffcp30 : value <= -0x1p31 ? -0x1p31 : value != value ? 0 : value;
        out->at[i] = (uint32_t)(int32_t)value;
    }
}

static ComputeRow *to_whole_row(const Compute *how) {
    PtxType to = how->types[0];
    bool frequent = to.class == CLASS_SIGNED && to.bits == 32 && how->types[1].format == FORMAT_F32;
    return frequent && how->round == ROUND_ZERO && how->to.bits == 32 ? single_to_int : real_to_whole;
}

/* ---- From real to real ----------------------------------------------------------------------------------------- */

/* Powers of two without a sign, of which 2^-127 is the least; what is no number is 0xff. */
static uint32_t scale_of(const Compute *how, double value) {
    double size = value < 0 ? -value : value;
    if (size != size)
        return 0xff;
    if (size > 0x1.fffffep127)
        return how->finite ? 0xfe : 0xff;
    if (size <= 0x1p-127)
        return 0;
    uint64_t bits = bits_of_double(size);
    uint32_t exponent = (uint32_t)(bits >> 52) - 1023 + 127;
    exponent += how->round == ROUND_UP && bits << 12;
    return exponent >= 0xff && how->finite ? 0xfe : exponent;
}

static uint64_t narrowed(const Compute *how, double value) {
    FormatId format = (FormatId)how->types[0].format;
    Round round = how->whole ? ROUND_NEAREST : (Round)how->round;
    if (format == FORMAT_UE8M0)
        return scale_of(how, value);
    if (how->whole)
        value = double_whole(value, (Round)how->round);
    if (how->relu && (value < 0 || bits_of_double(value) == UINT64_C(1) << 63))
        value = 0;
    if (how->saturates)
        value = saturated(value);
    if (format == FORMAT_F64)
        return bits_of_double(value);
    if (format != FORMAT_F32 && format != FORMAT_TF32 && round == ROUND_NEAREST)
        return format_nearest(&formats[format], value, how->finite);
    if (format != FORMAT_F32)
        return format_narrow(format, value, round, how->finite);
    uint32_t bits = single_narrow(value, round);
    bool tiny = how->ftz && format_is_tiny(FORMAT_F32, value, round);
    return tiny ? (uint32_t)(bits_of_double(value) >> 63) << 31 : bits;
}

static void real_to_real(Lanes *out, const Lanes *const in[], const Compute *how) {
    for (unsigned i = 0; i < PTX_LANES; i++)
        out->at[i] = narrowed(how, widened(how, how->types[1], in[0]->at[i]));
}

/* ---- What is no number ----------------------------------------------------------------------------------------- */

/* From and to f64 its bits are kept, as many as there are, and the highest of them is 1. */
static void nan_to_real(Lanes *out, const Lanes *const in[], const Compute *how) {
    PtxType to = how->types[0], from = how->types[1];
    unsigned many = from.format == FORMAT_F64 ? 52 : formats[from.format].mantissa;
    unsigned few = to.format == FORMAT_F64 ? 52 : formats[to.format].mantissa;
    uint64_t endless = to.format == FORMAT_F64 ? UINT64_C(0x7ff0000000000000) : formats[to.format].most + UINT64_C(1);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t bits = in[0]->at[i];
        double value = widened(how, from, bits);
        if (value == value || how->saturates) {
            out->at[i] = narrowed(how, value);
            continue;
        }
        if (how->ftz && from.format == FORMAT_F32)
            bits = SINGLE_NAN;
        uint64_t fraction = bits & low_ones(many), sign = bits >> (from.bits - 1) & 1;
        fraction = few > many ? fraction << (few - many) : fraction >> (many - few);
        out->at[i] = sign << (to.bits - 1) | endless | fraction | UINT64_C(1) << (few - 1);
    }
}

/* What is no number is one bit pattern. */
static void half_to_single(Lanes *out, const Lanes *const in[], const Compute *how) {
    (void)how;
    EACH_LANE out->at[i] = single_result((float)half_widen(in[0]->at[i] & 0xffff));
}

/* bf16 is the upper half of f32. */
static void brain_to_single(Lanes *out, const Lanes *const in[], const Compute *how) {
    EACH_LANE {
        uint32_t bits = (uint32_t)in[0]->at[i] << 16;
        if (how->ftz)
            bits = !(bits << 1 >> 24) ? bits & UINT32_C(0x80000000) : single_result(as_single(bits));
        out->at[i] = bits;
    }
}

/* .rna: what is no number is cut, and what .satfinite finds too great is one less. */
static void single_to_tf32(Lanes *out, const Lanes *const in[], const Compute *how) {
    enum { LOW = 0x1fff };
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double value = widened(how, how->types[1], in[0]->at[i]);
        uint32_t bits = (uint32_t)in[0]->at[i] & ~(uint32_t)LOW;
        if (value == value)
            bits = format_narrow(FORMAT_TF32, value, ROUND_AWAY, false);
        out->at[i] = how->finite && bits << 1 >= UINT32_C(0x7f800000) << 1 ? bits - LOW - 1 : bits;
    }
}

/* Several at once: of two operands the first is the upper one. */
static void real_to_packed(Lanes *out, const Lanes *const in[], const Compute *how) {
    PtxType to = how->types[0], from = how->types[1];
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t result = 0;
        for (unsigned k = 0; k < to.count; k++) {
            uint64_t bits = from.count > 1 ? in[0]->at[i] >> k * from.bits : in[how->count - 1 - k]->at[i];
            result |= (narrowed(how, widened(how, from, bits)) & low_ones(to.bits)) << k * to.bits;
        }
        out->at[i] = result;
    }
}

static ComputeRow *packed_row_of(const Compute *how) {
    PtxType to = how->types[0], from = how->types[1];
    bool together = from.count == to.count && how->count == 1, apart = from.count == 1 && how->count == to.count;
    if (!how->rounded || (!together && !apart))
        return NULL;
    bool frequent = apart && to.count == 2 && from.format == FORMAT_F32 && how->round == ROUND_NEAREST;
    ComputeRow *row = frequent ? halves_row(how) : NULL;
    return row ? row : real_to_packed;
}

ComputeRow *convert_row(Compute *how) {
    PtxType to = how->types[0], from = how->types[1];
    if (how->evaluator == PTX_EVALUATE_CVT_PACK)
        return how->count >= 2 ? pack_row : NULL;
    if (!from.class || to.bits > 64 || from.bits > 64)
        return NULL;
    if (to.count > 1)
        return packed_row_of(how);
    if (how->count != 1)
        return NULL;
    if (to.class != CLASS_REAL)
        return from.class == CLASS_REAL ? to_whole_row(how) : how->saturates ? whole_to_whole_clamped : whole_to_whole;
    if (from.class != CLASS_REAL)
        return whole_to_real;
    if (to.format == FORMAT_F64 || from.format == FORMAT_F64)
        return nan_to_real;
    if (to.format == FORMAT_TF32 && how->round == ROUND_AWAY)
        return single_to_tf32;
    if (to.format == FORMAT_F32 && from.format == FORMAT_F16 && !how->ftz && !how->saturates)
        return half_to_single;
    return to.format == FORMAT_F32 && from.format == FORMAT_BF16 ? brain_to_single : real_to_real;
}
