/* What lane-wise instructions give for integers, bits and predicates, as the PTX ISA says it. */
#include "internal.h"

typedef unsigned __int128 Wide;
typedef __int128 SignedWide;

static bool is_signed(Type type) {
    return type.class == SIGNED || type.class == PAIR_SIGNED;
}

static SignedWide number(uint64_t value, Type type) {
    return is_signed(type) ? (SignedWide)extended(value, type.bits) : (SignedWide)cut(value, type.bits);
}

static uint64_t clamped(SignedWide value, Type type) {
    SignedWide most = is_signed(type) ? ((SignedWide)1 << (type.bits - 1)) - 1 : ((SignedWide)1 << type.bits) - 1;
    SignedWide least = is_signed(type) ? -most - 1 : 0;
    return (uint64_t)(value > most ? most : value < least ? least : value);
}

bool compares(Compare compare, Type type, uint64_t a, uint64_t b) {
    bool unsign = compare >= COMPARE_LO && compare <= COMPARE_HS;
    Type as = unsign ? (Type){UNSIGNED, type.bits} : type;
    SignedWide x = number(a, as), y = number(b, as);
    switch (compare) {
    case COMPARE_EQ:
        return x == y;
    case COMPARE_NE:
        return x != y;
    case COMPARE_LT:
    case COMPARE_LO:
        return x < y;
    case COMPARE_LE:
    case COMPARE_LS:
        return x <= y;
    case COMPARE_GT:
    case COMPARE_HI:
        return x > y;
    case COMPARE_GE:
    case COMPARE_HS:
        return x >= y;
    default:
        return false;
    }
}

/* ---- Sums and products ---- */

static uint64_t add_with_carry(uint64_t a, uint64_t b, bool in, Type type, bool *carry) {
    Wide sum = (Wide)cut(a, type.bits) + cut(b, type.bits) + in;
    *carry = sum >> type.bits & 1;
    return cut((uint64_t)sum, type.bits);
}

static uint64_t subtract_with_borrow(uint64_t a, uint64_t b, bool in, Type type, bool *borrow) {
    Wide difference = (Wide)cut(a, type.bits) - cut(b, type.bits) - in;
    *borrow = difference >> 127 & 1;
    return cut((uint64_t)difference, type.bits);
}

/* The half of a product that the form asks for, or all of it. */
static uint64_t product(const Verb *form, uint64_t a, uint64_t b) {
    Type type = form->types[0];
    Wide all = (Wide)number(a, type) * (Wide)number(b, type);
    if (has(form, W_wide))
        return cut((uint64_t)all, type.bits * 2u);
    return cut((uint64_t)(has(form, W_hi) ? all >> type.bits : all), type.bits);
}

static uint64_t product24(const Verb *form, uint64_t a, uint64_t b) {
    bool sign = form->types[0].class == SIGNED;
    uint64_t all = sign ? (uint64_t)(extended(a, 24) * extended(b, 24)) : cut(a, 24) * cut(b, 24);
    return cut(has(form, W_hi) ? all >> 16 : all, 32);
}

static uint64_t sum(const Verb *form, const uint64_t in[6], bool *carry) {
    Type type = form->types[0];
    bool minus = form->does == DOES_sub || form->does == DOES_subc;
    bool takes = (form->does == DOES_addc || form->does == DOES_subc) && *carry, gives;
    if (has(form, W_sat))
        return clamped(minus ? number(in[0], type) - number(in[1], type) : number(in[0], type) + number(in[1], type),
                       type);
    uint64_t result = minus ? subtract_with_borrow(in[0], in[1], takes, type, &gives)
                            : add_with_carry(in[0], in[1], takes, type, &gives);
    if (has(form, W_cc))
        *carry = gives;
    return result;
}

static uint64_t product_and_sum(const Verb *form, const uint64_t in[6], bool *carry) {
    Type type = form->types[0];
    bool takes = form->does == DOES_madc && *carry, gives;
    if (has(form, W_wide))
        return cut(product(form, in[0], in[1]) + in[2], type.bits * 2u);
    uint64_t first = product(form, in[0], in[1]);
    if (has(form, W_sat))
        return clamped(number(first, type) + number(in[2], type), type);
    uint64_t result = add_with_carry(first, in[2], takes, type, &gives);
    if (has(form, W_cc))
        *carry = gives;
    return result;
}

static uint64_t quotient(const Verb *form, uint64_t a, uint64_t b) {
    Type type = form->types[0];
    SignedWide x = number(a, type), y = number(b, type);
    if (form->does == DOES_div)
        return cut(y ? (uint64_t)(x / y) : UINT64_MAX, type.bits);
    return cut(y ? (uint64_t)(x % y) : a, type.bits);
}

static uint64_t extreme(const Verb *form, const uint64_t in[6], unsigned inputs) {
    Type type = form->types[0];
    SignedWide best = number(in[0], type);
    for (unsigned i = 1; i < inputs; i++) {
        SignedWide next = number(in[i], type);
        if (form->does == DOES_min ? next < best : next > best)
            best = next;
    }
    return cut(has(form, W_relu) && best < 0 ? 0 : (uint64_t)best, type.bits);
}

static uint64_t difference_sum(Type type, const uint64_t in[6]) {
    SignedWide a = number(in[0], type), b = number(in[1], type);
    return cut((uint64_t)(a < b ? b - a : a - b) + in[2], type.bits);
}

static uint64_t dot(const Verb *form, const uint64_t in[6]) {
    bool four = form->does == DOES_dp4a;
    Type left = {form->types[0].class, four ? 8 : 16}, right = {form->types[1].class, 8};
    SignedWide total = (SignedWide)in[2];
    for (unsigned i = 0; i < (four ? 4u : 2u); i++) {
        unsigned at = four ? i : i + (has(form, W_hi) ? 2 : 0);
        total += number(in[0] >> left.bits * i, left) * number(in[1] >> 8 * at, right);
    }
    return cut((uint64_t)total, 32);
}

/* ---- Bits ---- */

static uint64_t highest_bit(const Verb *form, uint64_t a) {
    Type type = form->types[0];
    uint64_t bits = cut(is_signed(type) && extended(a, type.bits) < 0 ? ~a : a, type.bits);
    if (!bits)
        return UINT32_MAX;
    uint64_t at = 63u - (unsigned)__builtin_clzll(bits);
    return has(form, W_shiftamt) ? type.bits - 1u - at : at;
}

/* The bit that is the n-th 1 from `base` on, itself counted; of a negative n, going down. */
static uint64_t nth_bit(uint32_t mask, uint32_t base, int32_t n) {
    if (base > 31)
        return UINT32_MAX;
    if (n == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int step = n > 0 ? 1 : -1, left = n > 0 ? n : -n;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint64_t)at;
    return UINT32_MAX;
}

static uint64_t reversed(uint64_t a, unsigned bits) {
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++)
        result |= (a >> i & 1) << (bits - 1 - i);
    return result;
}

static uint64_t field(Type type, const uint64_t in[6]) {
    unsigned at = in[1] & 0xff, size = in[2] & 0xff, top = type.bits - 1u;
    uint64_t a = cut(in[0], type.bits), result = 0;
    bool sign = is_signed(type) && size && (a >> (at + size - 1 > top ? top : at + size - 1) & 1);
    for (unsigned i = 0; i <= top; i++)
        result |= (uint64_t)(i < size && at + i <= top ? a >> (at + i) & 1 : sign) << i;
    return result;
}

static uint64_t field_put(Type type, const uint64_t in[6]) {
    unsigned at = in[2] & 0xff, size = in[3] & 0xff;
    uint64_t result = cut(in[1], type.bits);
    for (unsigned i = 0; i < size && at + i < type.bits; i++)
        result = (result & ~(UINT64_C(1) << (at + i))) | (in[0] >> i & 1) << (at + i);
    return result;
}

static uint64_t cut_extended(const Verb *form, const uint64_t in[6]) {
    uint32_t size = (uint32_t)in[1];
    size = has(form, W_wrap) ? size & 31 : size > 32 ? 32 : size;
    if (!size)
        return 0;
    return is_signed(form->types[0]) ? cut((uint64_t)extended(in[0], size), 32) : cut(in[0], size);
}

static uint64_t bit_mask(const Verb *form, const uint64_t in[6]) {
    uint32_t at = (uint32_t)in[0], size = (uint32_t)in[1];
    if (has(form, W_wrap))
        at &= 31, size &= 31;
    if (at > 31)
        return 0;
    return cut(cut(UINT64_MAX, size > 32 ? 32 : size) << at, 32);
}

static uint64_t looked_up(const uint64_t in[6]) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; i++) {
        unsigned entry = (unsigned)((in[0] >> i & 1) << 2 | (in[1] >> i & 1) << 1 | (in[2] >> i & 1));
        result |= (in[3] >> entry & 1) << i;
    }
    return result;
}

static uint64_t funnel(const Verb *form, const uint64_t in[6]) {
    uint32_t n = (uint32_t)in[2];
    n = has(form, W_wrap) ? n & 31 : n > 32 ? 32 : n;
    uint64_t both = cut(in[1], 32) << 32 | cut(in[0], 32);
    return has(form, W_l) ? (n ? both << n >> 32 : both >> 32) & UINT32_MAX : cut(n == 32 ? both >> 32 : both >> n, 32);
}

static uint64_t shifted(const Verb *form, uint64_t a, uint64_t b) {
    Type type = form->types[0];
    uint32_t n = (uint32_t)b;
    if (form->does == DOES_shl)
        return n >= type.bits ? 0 : cut(a << n, type.bits);
    if (is_signed(type))
        return cut((uint64_t)(extended(a, type.bits) >> (n >= type.bits ? type.bits - 1u : n)), type.bits);
    return n >= type.bits ? 0 : cut(a, type.bits) >> n;
}

/* Which bytes the modes of prmt choose, for the last two bits of c; the first of the four is the lowest. */
static unsigned chosen_byte(const Verb *form, unsigned i, unsigned c) {
    if (has(form, W_f4e))
        return c + i;
    if (has(form, W_b4e))
        return (c + 8 - i) & 7;
    if (has(form, W_rc8))
        return c;
    if (has(form, W_ecl))
        return i < c ? c : i;
    if (has(form, W_ecr))
        return i < c ? i : c;
    return (c & 1) * 2 + (i & 1); /* rc16 */
}

static uint64_t permuted(const Verb *form, const uint64_t in[6]) {
    uint64_t both = cut(in[1], 32) << 32 | cut(in[0], 32), result = 0;
    bool plain = !(has(form, W_f4e) || has(form, W_b4e) || has(form, W_rc8) || has(form, W_ecl) || has(form, W_ecr) ||
                   has(form, W_rc16));
    for (unsigned i = 0; i < 4; i++) {
        unsigned choice = (unsigned)(in[2] >> 4 * i & 15);
        unsigned at = plain ? choice & 7 : chosen_byte(form, i, in[2] & 3);
        uint64_t byte = both >> 8 * at & 255;
        if (plain && choice & 8)
            byte = byte & 0x80 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* ---- The rest ---- */

static bool combined(const Verb *form, bool value, bool with) {
    return has(form, W_and)   ? value && with
           : has(form, W_or)  ? value || with
           : has(form, W_xor) ? value != with
                              : value;
}

static void compare_and_set(const Verb *form, const uint64_t in[6], uint64_t out[2]) {
    Type type = form->types[form->type_count - 1];
    uint64_t said[2];
    bool holds = compares(form->compare, type, in[0], in[1]);
    if (type.class == REAL && evaluate_real(form, in, said))
        holds = said[0];
    bool with = in[2] & 1;
    out[0] = combined(form, holds, with);
    out[1] = combined(form, !holds, with);
    if (form->does == DOES_set) {
        Type to = form->types[0];
        out[0] = !out[0] ? 0 : to.class == REAL ? 0x3f800000 : cut(UINT64_MAX, to.bits);
    }
}

static uint64_t converted(const Verb *form, uint64_t a) {
    Type to = form->types[0], from = form->types[1];
    SignedWide value = number(a, from);
    return has(form, W_sat) ? cut(clamped(value, to), to.bits) : cut((uint64_t)value, to.bits);
}

/* Both halves of a word, each as a number of 16 bits. */
static void by_halves(const Verb *form, const uint64_t in[6], unsigned inputs, uint64_t out[2]) {
    Verb half = *form;
    half.types[0] = (Type){form->types[0].class == PAIR_SIGNED ? SIGNED : UNSIGNED, 16};
    bool carry = false;
    uint64_t result = 0;
    for (unsigned h = 0; h < 2; h++) {
        uint64_t own[6] = {0}, got[2] = {0};
        for (unsigned i = 0; i < inputs; i++)
            own[i] = in[i] >> 16 * h & 0xffff;
        evaluate(&half, own, inputs, &carry, got);
        result |= (got[0] & 0xffff) << 16 * h;
    }
    out[0] = result;
}

static uint64_t bits_of(const Verb *form, const uint64_t in[6]) {
    Type type = form->types[0];
    uint64_t a = cut(in[0], type.bits);
    switch (form->does) {
    case DOES_popc:
        return (uint64_t)__builtin_popcountll(a);
    case DOES_clz:
        return a ? (uint64_t)__builtin_clzll(a) - (64u - type.bits) : type.bits;
    case DOES_bfind:
        return highest_bit(form, a);
    case DOES_fns:
        return nth_bit((uint32_t)in[0], (uint32_t)in[1], (int32_t)in[2]);
    case DOES_brev:
        return reversed(a, type.bits);
    case DOES_bfe:
        return field(type, in);
    case DOES_bfi:
        return field_put(type, in);
    case DOES_szext:
        return cut_extended(form, in);
    case DOES_bmsk:
        return bit_mask(form, in);
    case DOES_and:
        return cut(in[0] & in[1], type.bits);
    case DOES_or:
        return cut(in[0] | in[1], type.bits);
    case DOES_xor:
        return cut(in[0] ^ in[1], type.bits);
    case DOES_not:
        return cut(~in[0], type.bits);
    case DOES_cnot:
        return !a;
    case DOES_shf:
        return funnel(form, in);
    case DOES_shl:
    case DOES_shr:
        return shifted(form, in[0], in[1]);
    default:
        return permuted(form, in);
    }
}

/* For formats that C does not have: some bits, the same for the same operands. */
static uint64_t some_bits(const Verb *form, const uint64_t in[6], unsigned inputs) {
    uint64_t bits = mixed(form->words, form->does);
    for (unsigned i = 0; i < inputs; i++)
        bits = mixed(bits, in[i]);
    return cut(bits, form->type_count ? form->types[0].bits : 64);
}

static bool is_integer(Type type) {
    return type.class == PREDICATE || type.class == BITS || type.class == UNSIGNED || type.class == SIGNED;
}

/* Sums, products, quotients and the like. False: it is none. */
static bool arithmetic(const Verb *form, const uint64_t in[6], unsigned inputs, bool *carry, uint64_t *out) {
    Type type = form->types[0];
    switch (form->does) {
    case DOES_add:
    case DOES_sub:
    case DOES_addc:
    case DOES_subc:
        *out = sum(form, in, carry);
        return true;
    case DOES_mul:
        *out = product(form, in[0], in[1]);
        return true;
    case DOES_mad:
    case DOES_madc:
        *out = product_and_sum(form, in, carry);
        return true;
    case DOES_mul24:
        *out = product24(form, in[0], in[1]);
        return true;
    case DOES_mad24:
        *out = has(form, W_sat) ? clamped(number(product24(form, in[0], in[1]), type) + number(in[2], type), type)
                                : cut(product24(form, in[0], in[1]) + in[2], 32);
        return true;
    case DOES_sad:
        *out = difference_sum(type, in);
        return true;
    case DOES_div:
    case DOES_rem:
        *out = quotient(form, in[0], in[1]);
        return true;
    case DOES_abs:
        *out = cut((uint64_t)(number(in[0], type) < 0 ? -number(in[0], type) : number(in[0], type)), type.bits);
        return true;
    case DOES_neg:
        *out = cut(-in[0], type.bits);
        return true;
    case DOES_min:
    case DOES_max:
        *out = extreme(form, in, inputs);
        return true;
    case DOES_dp4a:
    case DOES_dp2a:
        *out = dot(form, in);
        return true;
    default:
        return false;
    }
}

void evaluate(const Verb *form, const uint64_t in[6], unsigned inputs, bool *carry, uint64_t out[2]) {
    Type type = form->types[0], last = form->type_count ? form->types[form->type_count - 1] : type;
    if (type.class == PAIR_SIGNED || type.class == PAIR_UNSIGNED) {
        by_halves(form, in, inputs, out);
        return;
    }
    bool chooses =
        form->does == DOES_selp || form->does == DOES_setp || form->does == DOES_set || form->does == DOES_slct;
    bool real = !is_integer(type) || !is_integer(last);
    if (real && !chooses) {
        if (!evaluate_real(form, in, out))
            out[0] = some_bits(form, in, inputs);
        return;
    }
    if (real && (form->does == DOES_setp || form->does == DOES_set) &&
        (last.class == OTHER_REAL || type.class == OTHER_REAL)) {
        out[0] = some_bits(form, in, inputs) & (form->does == DOES_setp ? 1 : UINT64_MAX);
        out[1] = !out[0];
        return;
    }
    if (arithmetic(form, in, inputs, carry, out))
        return;
    switch (form->does) {
    case DOES_lop3:
        out[0] = looked_up(in);
        out[1] = combined(form, out[0] != 0, in[4] & 1);
        return;
    case DOES_set:
    case DOES_setp:
        compare_and_set(form, in, out);
        return;
    case DOES_selp:
        out[0] = cut(in[2] & 1 ? in[0] : in[1], type.bits);
        return;
    case DOES_slct: {
        float c;
        uint32_t bits = (uint32_t)in[2];
        memcpy(&c, &bits, 4);
        bool first = last.class == REAL ? c >= 0 : (int32_t)bits >= 0;
        out[0] = cut(first ? in[0] : in[1], type.bits);
        return;
    }
    case DOES_cvt:
        out[0] = converted(form, in[0]);
        return;
    default:
        out[0] = bits_of(form, in);
    }
}
