/* Bits: logic, shifts, fields, permutations, counts, and sums of bytes. */
#include "base/number.h"
#include "machine/simt/arith/compute.h"

/* ---- Logic and shifts ---------------------------------------------------------------------------------------- */

ROW2(and_row, uint64_t, uint64_t, uint64_t, a &b)
ROW2(or_row, uint64_t, uint64_t, uint64_t, a | b)
ROW2(xor_row, uint64_t, uint64_t, uint64_t, a ^ b)
ROW1(not_16, uint64_t, uint64_t, uint16_t, ~a)
ROW1(not_32, uint64_t, uint64_t, uint32_t, ~a)
ROW1(not_64, uint64_t, uint64_t, uint64_t, ~a)
ROW1(cnot_row, uint64_t, uint64_t, uint64_t, !a)

ROW2(shl_16, uint32_t, uint32_t, uint16_t, b > 15 ? 0 : a << (b & 15))
ROW2(shl_32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a << (b & 31))
ROW2(shl_64, uint64_t, uint64_t, uint64_t, b > 63 ? 0 : a << (b & 63))
ROW2(shr_u16, uint32_t, uint32_t, uint16_t, b > 15 ? 0 : a >> (b & 15))
ROW2(shr_u32, uint32_t, uint32_t, uint32_t, b > 31 ? 0 : a >> (b & 31))
ROW2(shr_u64, uint64_t, uint64_t, uint64_t, b > 63 ? 0 : a >> (b & 63))
ROW2(shr_s16, uint32_t, uint32_t, uint16_t, (int16_t)a >> (b > 15 ? 15 : b))
ROW2(shr_s32, uint32_t, uint32_t, uint32_t, (int32_t)a >> (b > 31 ? 31 : b))
ROW2(shr_s64, uint64_t, uint64_t, uint64_t, (int64_t)a >> (b > 63 ? 63 : b))

ROW3(shf_left_wrap, uint64_t, uint64_t, uint32_t, (b << 32 | a) << (c & 31) >> 32)
ROW3(shf_right_wrap, uint64_t, uint64_t, uint32_t, (b << 32 | a) >> (c & 31))
ROW3(shf_left_clamp, uint64_t, uint64_t, uint32_t, c > 31 ? a : (b << 32 | a) << c >> 32)
ROW3(shf_right_clamp, uint64_t, uint64_t, uint32_t, c > 31 ? b : (b << 32 | a) >> c)

/* Bit by bit what the table has at a, b, c. */
static void lop3_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    uint32_t term[8];
    for (unsigned k = 0; k < 8; k++)
        term[k] = how->table >> k & 1 ? UINT32_MAX : 0;
    EACH_LANE {
        uint32_t a = (uint32_t)in[0]->at[i], b = (uint32_t)in[1]->at[i], c = (uint32_t)in[2]->at[i];
        uint32_t with = (b & ((c & term[7]) | (~c & term[6]))) | (~b & ((c & term[5]) | (~c & term[4])));
        uint32_t without = (b & ((c & term[3]) | (~c & term[2]))) | (~b & ((c & term[1]) | (~c & term[0])));
        out->at[i] = (a & with) | (~a & without);
    }
}

/* ---- Counts -------------------------------------------------------------------------------------------------- */

static uint32_t highest(uint64_t a, unsigned width, const Compute *how) {
    if (how->type.class == CLASS_SIGNED && a >> (width - 1))
        a = ~a & low_ones(width);
    if (!a)
        return UINT32_MAX;
    uint32_t bit = 63 - (uint32_t)__builtin_clzll(a);
    return how->shift_amount ? width - 1 - bit : bit;
}

static uint64_t reversed(uint64_t a) {
    a = (a >> 1 & UINT64_C(0x5555555555555555)) | (a & UINT64_C(0x5555555555555555)) << 1;
    a = (a >> 2 & UINT64_C(0x3333333333333333)) | (a & UINT64_C(0x3333333333333333)) << 2;
    a = (a >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (a & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(a);
}

/* The n-th 1 from a bit on, up or down; n = 0: that bit itself. */
static uint32_t found_set(uint32_t bits, uint32_t base, int32_t n) {
    int64_t at = base, step = n < 0 ? -1 : 1;
    uint64_t left = n < 0 ? -(uint64_t)(int64_t)n : (uint64_t)n;
    if (!n)
        return base < 32 && bits >> base & 1 ? base : UINT32_MAX;
    for (; at >= 0 && at < 32; at += step)
        if (bits >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

ROW1(popc_row, uint64_t, uint64_t, uint32_t, __builtin_popcountll(a))
ROW1(clz_32, uint32_t, uint32_t, uint32_t, a ? __builtin_clz(a) : 32)
ROW1(clz_64, uint64_t, uint64_t, uint32_t, a ? __builtin_clzll(a) : 64)
ROW1(bfind_32, uint32_t, uint64_t, uint32_t, highest(a, 32, how))
ROW1(bfind_64, uint64_t, uint64_t, uint32_t, highest(a, 64, how))
ROW1(brev_32, uint64_t, uint64_t, uint32_t, reversed(a) >> 32)
ROW1(brev_64, uint64_t, uint64_t, uint64_t, reversed(a))
ROW3(fns_row, uint32_t, uint32_t, uint32_t, found_set(a, b, (int32_t)c))

/* ---- Fields -------------------------------------------------------------------------------------------------- */

static uint64_t extracted(const Compute *how, uint64_t a, unsigned at, unsigned size) {
    unsigned width = how->type.bits, end = at + size < width ? at + size : width;
    uint64_t sign = how->type.class == CLASS_SIGNED && size ? a >> (end - 1) & 1 : 0;
    unsigned there = at < end ? end - at : 0;
    uint64_t field = there ? a >> at & low_ones(there) : 0;
    return (sign ? field | ~low_ones(there) : field) & low_ones(width);
}

static void bfe_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    EACH_LANE out->at[i] = extracted(how, in[0]->at[i], in[1]->at[i] & 255, in[2]->at[i] & 255);
}

static void bfi_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    unsigned width = how->type.bits;
    EACH_LANE {
        unsigned at = in[2]->at[i] & 255, size = in[3]->at[i] & 255;
        uint64_t field = at < width ? low_ones(size) << at & low_ones(width) : 0,
                 moved = at < width ? in[0]->at[i] << at : 0;
        out->at[i] = (in[1]->at[i] & ~field) | (moved & field);
    }
}

static uint64_t cut_and_extended(const Compute *how, uint64_t a, uint64_t b) {
    unsigned size = b > 31 && !how->wraps ? 32 : b & 31;
    bool sign = how->type.class == CLASS_SIGNED && size && size < 32 && a >> (size - 1) & 1;
    return ((a & low_ones(size)) | (sign ? ~low_ones(size) : 0)) & UINT32_MAX;
}

static uint64_t masked_ones(const Compute *how, uint64_t at, uint64_t size) {
    if (how->wraps)
        at &= 31, size &= 31;
    at = at > 32 ? 32 : at;
    size = size > 32 ? 32 : size;
    return low_ones((unsigned)size) << at & UINT32_MAX;
}

ROW2(szext_row, uint64_t, uint64_t, uint32_t, cut_and_extended(how, a, b))
ROW2(bmsk_row, uint64_t, uint64_t, uint32_t, masked_ones(how, a, b))

/* ---- Bytes --------------------------------------------------------------------------------------------------- */

/* The choice of four bytes that a mode of prmt makes of the lower two bits of c; none: c is the choice. */
static const struct {
    const char *name;
    uint16_t choices[4];
} permutations[] = {{"", {0}},
                    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},
                    {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
                    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
                    {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
                    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},
                    {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};

static uint32_t permuted(uint64_t both, uint32_t choices) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned choice = choices >> 4 * k & 15;
        uint32_t byte = (uint32_t)(both >> 8 * (choice & 7)) & 255;
        if (choice & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * k;
    }
    return result;
}

ROW3(prmt_row, uint64_t, uint64_t, uint32_t, permuted(b << 32 | a, (uint32_t)c))
ROW3(prmt_mode_row, uint64_t, uint64_t, uint32_t, permuted(b << 32 | a, permutations[how->mode].choices[c & 3]))

/* Byte or half k of a word, of the type that the form says. */
static int64_t byte_of(uint64_t word, unsigned k, PtxType type) {
    return type.class == CLASS_SIGNED ? (int8_t)(word >> 8 * k) : (int64_t)(word >> 8 * k & 255);
}
static int64_t half_of(uint64_t word, unsigned k, PtxType type) {
    return type.class == CLASS_SIGNED ? (int16_t)(word >> 16 * k) : (int64_t)(word >> 16 * k & 0xffff);
}

static void dp4a_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    EACH_LANE {
        uint64_t sum = in[2]->at[i];
        for (unsigned k = 0; k < 4; k++)
            sum += (uint64_t)(byte_of(in[0]->at[i], k, how->types[0]) * byte_of(in[1]->at[i], k, how->types[1]));
        out->at[i] = (uint32_t)sum;
    }
}

static void dp2a_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    EACH_LANE {
        uint64_t sum = in[2]->at[i];
        for (unsigned k = 0; k < 2; k++)
            sum += (uint64_t)(half_of(in[0]->at[i], k, how->types[0]) *
                              byte_of(in[1]->at[i], k + (how->high ? 2 : 0), how->types[1]));
        out->at[i] = (uint32_t)sum;
    }
}

/* ---- What is not known --------------------------------------------------------------------------------------- */

/* Lanes where it is `value`, and known. */
static uint32_t known_to_be(const Lanes *values, uint32_t unknown, uint64_t value) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask |= (uint32_t)(values->at[i] == value) << i;
    return mask & ~unknown;
}

static uint32_t unknown_logic(const Lanes *const in[], const uint32_t unknown[], const Compute *how) {
    uint32_t both = unknown[0] | unknown[1];
    if (!both)
        return 0;
    if (how->evaluator == PTX_EVALUATE_XOR)
        return how->same ? 0 : both;
    uint64_t decides = how->evaluator == PTX_EVALUATE_AND ? 0 : low_ones(how->type.bits);
    return both & ~(known_to_be(in[0], unknown[0], decides) | known_to_be(in[1], unknown[1], decides));
}

/* ---- Picking ------------------------------------------------------------------------------------------------- */

static ComputeRow *by_width(const Compute *how, ComputeRow *of_16, ComputeRow *of_32, ComputeRow *of_64) {
    return how->type.bits == 16 ? of_16 : how->type.bits == 32 ? of_32 : of_64;
}

static ComputeRow *logic_row(Compute *how) {
    how->unknown = unknown_logic;
    return how->evaluator == PTX_EVALUATE_AND ? and_row : how->evaluator == PTX_EVALUATE_OR ? or_row : xor_row;
}

static ComputeRow *shift_row(const Compute *how) {
    if (how->evaluator == PTX_EVALUATE_SHL)
        return by_width(how, shl_16, shl_32, shl_64);
    if (how->evaluator == PTX_EVALUATE_SHF)
        return how->left ? (how->wraps ? shf_left_wrap : shf_left_clamp)
                         : (how->wraps ? shf_right_wrap : shf_right_clamp);
    return how->type.class == CLASS_SIGNED ? by_width(how, shr_s16, shr_s32, shr_s64)
                                           : by_width(how, shr_u16, shr_u32, shr_u64);
}

static ComputeRow *permutation_row(Compute *how, Str form) {
    for (uint8_t i = 1; i < sizeof permutations / sizeof *permutations; i++)
        if (ptx_form_has(form, str_of(permutations[i].name)))
            how->mode = i;
    return how->mode ? prmt_mode_row : prmt_row;
}

ComputeRow *bits_row(Compute *how, Str form) {
    switch (how->evaluator) {
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR:
    case PTX_EVALUATE_XOR:
        return logic_row(how);
    case PTX_EVALUATE_NOT:
        return by_width(how, not_16, not_32, not_64);
    case PTX_EVALUATE_CNOT:
        return cnot_row;
    case PTX_EVALUATE_SHL:
    case PTX_EVALUATE_SHR:
    case PTX_EVALUATE_SHF:
        return shift_row(how);
    case PTX_EVALUATE_LOP3:
        return lop3_row;
    case PTX_EVALUATE_PRMT:
        return permutation_row(how, form);
    case PTX_EVALUATE_POPC:
        return popc_row;
    case PTX_EVALUATE_CLZ:
        return by_width(how, NULL, clz_32, clz_64);
    case PTX_EVALUATE_BFIND:
        return by_width(how, NULL, bfind_32, bfind_64);
    case PTX_EVALUATE_BREV:
        return by_width(how, NULL, brev_32, brev_64);
    case PTX_EVALUATE_FNS:
        return fns_row;
    case PTX_EVALUATE_BFE:
        return bfe_row;
    case PTX_EVALUATE_BFI:
        return bfi_row;
    case PTX_EVALUATE_SZEXT:
        return szext_row;
    case PTX_EVALUATE_BMSK:
        return bmsk_row;
    case PTX_EVALUATE_DP4A:
        return dp4a_row;
    case PTX_EVALUATE_DP2A:
        return dp2a_row;
    default:
        return NULL;
    }
}
