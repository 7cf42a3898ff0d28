/* Comparisons and tests: the lanes where they hold. */
#include "machine/simt/arith/compute.h"

/* ---- Whole numbers ------------------------------------------------------------------------------------------- */

#define MASK(name, load, condition)                                     \
    static uint32_t name(const Lanes *const in[], const Compute *how) { \
        uint32_t mask = 0;                                              \
        (void)how;                                                      \
        for (unsigned i = 0; i < PTX_LANES; i++) {                      \
            load a = (load)in[0]->at[i], b = (load)in[1]->at[i];        \
            mask |= (uint32_t)(condition) << i;                         \
        }                                                               \
        return mask;                                                    \
    }
#define COMPARES(name, load)      \
    MASK(lt_##name, load, a < b)  \
    MASK(le_##name, load, a <= b) \
    MASK(gt_##name, load, a > b)  \
    MASK(ge_##name, load, a >= b) \
    MASK(eq_##name, load, a == b) \
    MASK(ne_##name, load, a != b)
COMPARES(unsigned, uint64_t)
COMPARES(s16, int16_t)
COMPARES(s32, int32_t)
COMPARES(s64, int64_t)

#define BY_OUTCOMES(name)                                                                               \
    {                                                                                                   \
        [IS_LESS] = lt_##name, [IS_LESS | IS_EQUAL] = le_##name, [IS_GREATER] = gt_##name,              \
        [IS_GREATER | IS_EQUAL] = ge_##name, [IS_EQUAL] = eq_##name, [IS_LESS | IS_GREATER] = ne_##name \
    }
static ComputeMask *const of_unsigned[8] = BY_OUTCOMES(unsigned), *const of_s16[8] = BY_OUTCOMES(s16),
                          *const of_s32[8] = BY_OUTCOMES(s32), *const of_s64[8] = BY_OUTCOMES(s64);

/* ---- Real numbers -------------------------------------------------------------------------------------------- */

static double flushed(const Compute *how, double value, double least) {
    return how->ftz && value < least && value > -least ? 0 : value;
}

static uint32_t outcome(double a, double b) {
    return a < b ? IS_LESS : a == b ? IS_EQUAL : a > b ? IS_GREATER : IS_UNORDERED;
}

static uint32_t compare_f64(const Lanes *const in[], const Compute *how) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask |= (uint32_t)((outcome(as_double(in[0]->at[i]), as_double(in[1]->at[i])) & how->accepts) != 0) << i;
    return mask;
}

static float single_flushed(const Compute *how, float value) {
    return how->ftz && value < 0x1p-126f && value > -0x1p-126f ? 0 : value;
}

static uint32_t compare_f32(const Lanes *const in[], const Compute *how) {
    bool less = how->accepts & IS_LESS, equal = how->accepts & IS_EQUAL, greater = how->accepts & IS_GREATER;
    bool unordered = how->accepts & IS_UNORDERED;
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        float a = single_flushed(how, as_single(in[0]->at[i])), b = single_flushed(how, as_single(in[1]->at[i]));
        bool holds = (less & (a < b)) | (equal & (a == b)) | (greater & (a > b)) | (unordered & !(a <= b || a > b));
        mask |= (uint32_t)holds << i;
    }
    return mask;
}

static uint32_t compare_narrow(const Lanes *const in[], const Compute *how) {
    double least = how->type.format == FORMAT_F16 ? 0x1p-14 : 0x1p-126;
    FormatId format = (FormatId)how->type.format;
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        double a = flushed(how, format_widen(format, (uint32_t)in[0]->at[i]), least);
        double b = flushed(how, format_widen(format, (uint32_t)in[1]->at[i]), least);
        mask |= (uint32_t)((outcome(a, b) & how->accepts) != 0) << i;
    }
    return mask;
}

ComputeMask *compare_mask(const Compute *how) {
    if (how->type.class == CLASS_REAL)
        return how->type.format == FORMAT_F64   ? compare_f64
               : how->type.format == FORMAT_F32 ? compare_f32
                                                : compare_narrow;
    if (how->accepts & IS_UNORDERED)
        return NULL;
    if (how->type.class != CLASS_SIGNED)
        return of_unsigned[how->accepts];
    return how->type.bits == 16   ? of_s16[how->accepts]
           : how->type.bits == 32 ? of_s32[how->accepts]
                                  : of_s64[how->accepts];
}

/* ---- testp --------------------------------------------------------------------------------------------------- */

/* What a number can be; 0 is normal (H200). ORDER with kinds. */
enum { KIND_NORMAL = 1, KIND_SUBNORMAL = 2, KIND_INFINITE = 4, KIND_NAN = 8 };

static const struct {
    const char *name;
    uint8_t kinds;
} tests[] = {{"finite", KIND_NORMAL | KIND_SUBNORMAL},
             {"infinite", KIND_INFINITE},
             {"number", KIND_NORMAL | KIND_SUBNORMAL | KIND_INFINITE},
             {"notanumber", KIND_NAN},
             {"normal", KIND_NORMAL},
             {"subnormal", KIND_SUBNORMAL}};

static uint8_t kind_of(uint64_t bits, unsigned width) {
    unsigned fraction_bits = width == 32 ? 23 : 52;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1), most = width == 32 ? 0xff : 0x7ff;
    uint64_t exponent = bits >> fraction_bits & most;
    if (exponent == most)
        return fraction ? KIND_NAN : KIND_INFINITE;
    return exponent || !fraction ? KIND_NORMAL : KIND_SUBNORMAL;
}

static uint32_t test_row(const Lanes *const in[], const Compute *how) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < PTX_LANES; i++)
        mask |= (uint32_t)((kind_of(in[0]->at[i], how->type.bits) & how->mode) != 0) << i;
    return mask;
}

ComputeMask *test_mask(Compute *how, Str form) {
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (ptx_form_has(form, str_of(tests[i].name)))
            how->mode = tests[i].kinds;
    return test_row;
}
