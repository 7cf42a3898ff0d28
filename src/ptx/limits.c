/* Numbers that instructions take only some of: barrier ids, sizes of copies, parities. */
#include "ptx/internal.h"

#define NUMBER(...) \
    { __VA_ARGS__, false, false } /* or a register, of which nothing is known */
#define LITERAL(...) \
    { __VA_ARGS__, true, false } /* nothing but a number will do */
/* Rows say which form, by words that it has and words that it has not, and which operand, from 0 on. */
static const struct Limit {
    const char *words, *without;
    uint8_t operand;
    uint8_t multiple;
    bool short_number; /* of 32 bits */
    int64_t least, most;
    bool literal;
    bool fraction; /* over 0, up to 1 */
} limits[] = {
    LITERAL("cp async wait_group", "bulk", 0, 1, false, INT64_MIN, INT64_MAX),
    LITERAL("cp async bulk wait_group", "", 0, 1, false, INT64_MIN, INT64_MAX),
    {"createpolicy fractional", "", 1, 1, false, 1, 0, false, true},
    NUMBER("bar sync", "warp red", 0, 1, true, 0, 15),
    NUMBER("bar arrive", "", 0, 1, true, 0, 15),
    NUMBER("bar red", "", 1, 1, true, 0, 15),
    NUMBER("barrier sync", "red", 0, 1, true, 0, 15),
    NUMBER("barrier arrive", "cluster", 0, 1, true, 0, 15),
    NUMBER("barrier red", "", 1, 1, true, 0, 15),
    NUMBER("bar sync", "warp red", 1, 32, false, INT64_MIN, INT64_MAX),
    NUMBER("bar arrive", "", 1, 32, false, 1, INT64_MAX),
    NUMBER("barrier sync", "red", 1, 32, false, INT64_MIN, INT64_MAX),
    NUMBER("barrier arrive", "cluster", 1, 32, false, 1, INT64_MAX),
    LITERAL("cp async ca shared", "bulk", 2, 4, false, 4, 16),
    LITERAL("cp async ca shared::cta", "bulk", 2, 4, false, 4, 16),
    LITERAL("cp async cg", "bulk", 2, 1, false, 16, 16),
    NUMBER("cp async ca", "bulk", 3, 1, false, 0, 16),
    NUMBER("cp async cg", "bulk", 3, 1, false, 0, 16),
    NUMBER("cp async bulk", "tensor prefetch wait_group", 2, 16, true, 0, 1048560),
    NUMBER("cp async bulk prefetch", "tensor", 1, 16, true, 0, 1048560),
    NUMBER("cp reduce async bulk", "tensor", 2, 16, true, 0, 1048560),
    NUMBER("mbarrier parity", "", 2, 1, false, 0, 1),
    NUMBER("mbarrier arrive", "expect_tx", 2, 1, false, 1, INT64_MAX),
    NUMBER("mbarrier arrive_drop", "expect_tx", 2, 1, false, 1, INT64_MAX),
    LITERAL("wgmma wait_group", "", 0, 1, false, 0, INT64_MAX),
    LITERAL("setmaxnreg", "", 0, 8, false, 24, 256),
    LITERAL("pmevent", "mask", 0, 1, false, 0, 15),
    LITERAL("pmevent mask", "", 0, 1, false, 0, 65535),
    NUMBER("bfe", "", 2, 1, false, 0, 255),
    NUMBER("bfe", "", 3, 1, false, 0, 255),
    NUMBER("bfi", "", 3, 1, false, 0, 255),
    NUMBER("bfi", "", 4, 1, false, 0, 255),
    LITERAL("discard", "", 1, 1, false, 128, 128),
    LITERAL("applypriority", "", 1, 1, false, 128, 128),
    LITERAL("tensormap cp_fenceproxy", "", 2, 1, false, 128, 128),
    LITERAL("fence proxy", "", 1, 1, false, 128, 128),
    NUMBER("tensormap replace box_dim", "", 1, 1, false, 0, 4),
    NUMBER("tensormap replace global_dim", "", 1, 1, false, 0, 4),
    NUMBER("tensormap replace global_stride", "", 1, 1, false, 0, 3),
    NUMBER("tensormap replace element_stride", "", 1, 1, false, 0, 4),
    LITERAL("tensormap replace elemtype", "", 1, 1, false, 0, 15),
    LITERAL("tensormap replace swizzle_mode", "", 1, 1, false, 0, 4),
    LITERAL("tensormap replace fill_mode", "", 1, 1, false, 0, 1),
    LITERAL("tensormap replace interleave_layout", "", 1, 1, false, 0, 2),
};
enum { LIMITS = sizeof limits / sizeof *limits };
_Static_assert(LIMITS <= 64, "a form has a bit for each");

static bool has_all(Str form, const char *words) {
    Str left = form, opcode = next_part(&left);
    if (!str_equal(str_next_word(&words), opcode))
        return false;
    for (Str word; (word = str_next_word(&words)).size;)
        if (!ptx_form_has(form, word))
            return false;
    return true;
}

static bool has_any(Str form, const char *words) {
    for (Str word; (word = str_next_word(&words)).size;)
        if (ptx_form_has(form, word))
            return true;
    return false;
}

uint64_t limits_of(Str form) {
    uint64_t set = 0;
    for (unsigned i = 0; i < LIMITS; i++)
        if (has_all(form, limits[i].words) && !has_any(form, limits[i].without))
            set |= UINT64_C(1) << i;
    return set;
}

static bool check_fraction(Reader *r, const PtxOperand *operand, const char *at) {
    double value;
    float narrow;
    uint32_t low = (uint32_t)operand->bits;
    memcpy(&value, &operand->bits, sizeof value);
    memcpy(&narrow, &low, sizeof narrow);
    if (operand->kind == PTX_SINGLE)
        value = narrow;
    bool number = operand->kind == PTX_SINGLE || operand->kind == PTX_DOUBLE;
    if (operand->kind == PTX_INTEGER || (number && !(value > 0 && value <= 1)))
        return ptx_fail(r, at, "this has to be over 0.0, and at most 1.0");
    return true;
}

static bool check_limit(Reader *r, const struct Limit *limit, int64_t number, const char *at) {
    int64_t value = limit->short_number ? (int32_t)number : number;
    if (value < limit->least || value > limit->most)
        return limit->least == limit->most ? ptx_fail(r, at, "this has to be %lld", (long long)limit->least)
               : limit->most == INT64_MAX  ? ptx_fail(r, at, "this has to be at least %lld", (long long)limit->least)
                                          : ptx_fail(r, at, "this has to be from %lld to %lld", (long long)limit->least,
                                                     (long long)limit->most);
    if (limit->multiple == 4 && value == 12)
        return ptx_fail(r, at, "this has to be 4, 8 or 16");
    return value % limit->multiple == 0 || ptx_fail(r, at, "this has to be a multiple of %u", limit->multiple);
}

bool check_limits(Reader *r, uint64_t set, unsigned index, const PtxOperand *operand, const char *at) {
    for (; set; set &= set - 1) {
        const struct Limit *limit = &limits[__builtin_ctzll(set)];
        if (limit->operand != index)
            continue;
        if (limit->fraction && !check_fraction(r, operand, at))
            return false;
        if (limit->literal && operand->kind != PTX_INTEGER)
            return ptx_fail(r, at, "this has to be a whole number, and no register");
        if (!limit->fraction && operand->kind == PTX_INTEGER && !check_limit(r, limit, operand->value, at))
            return false;
    }
    return true;
}
