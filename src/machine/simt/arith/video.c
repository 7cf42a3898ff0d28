/* Video instructions: on a byte, half or word of each operand, or on all bytes or halves of a word at once. */
#include "machine/simt/arith/compute.h"

/* ORDER with the evaluators: vadd, ..., vadd2, ..., vadd4, ... */
typedef enum Video {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_SET,
    VIDEO_MAD,
    VIDEO_AVERAGE,
} Video;

/* What is done with the result and c. */
typedef enum Then { THEN_NOTHING, THEN_ADD } Then;

static Video operation_of(PtxEvaluator evaluator, unsigned *parts) {
    static const Video several[] = {VIDEO_ADD, VIDEO_SUB, VIDEO_ABSDIFF, VIDEO_MIN,
                                    VIDEO_MAX, VIDEO_SET, VIDEO_AVERAGE};
    unsigned at = evaluator - PTX_EVALUATE_VADD, count = sizeof several / sizeof *several;
    if (at <= VIDEO_MAD) {
        *parts = 1;
        return (Video)at;
    }
    at -= VIDEO_MAD + 1;
    *parts = at < count ? 2 : 4;
    return several[at % count];
}

/* ---- Parts of registers ---------------------------------------------------------------------------------------- */

static int64_t extended(uint64_t bits, unsigned width, bool is_signed) {
    unsigned shift = 64 - width;
    return is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)(bits << shift >> shift);
}

static void part_place(PtxPart part, unsigned *shift, unsigned *width) {
    *shift = part >= PTX_H0 ? 16 * (part - PTX_H0) : part >= PTX_B0 ? 8 * (part - PTX_B0) : 0;
    *width = part >= PTX_H0 ? 16 : part >= PTX_B0 ? 8 : 32;
}

static int64_t selected(uint64_t bits, PtxPart part, bool is_signed) {
    unsigned shift, width;
    part_place(part, &shift, &width);
    return extended(bits >> shift, width, is_signed);
}

static int64_t clamped(int64_t value, unsigned width, bool is_signed) {
    int64_t most = ((INT64_C(1) << width) - 1) >> is_signed, least = is_signed ? -most - 1 : 0;
    return value < least ? least : value > most ? most : value;
}

/* ---- One number ------------------------------------------------------------------------------------------------ */

static int64_t halved(int64_t sum) {
    return sum >= 0 ? (sum + 1) >> 1 : -((1 - sum) >> 1);
}

static int64_t shifted(const Compute *how, Video video, int64_t a, int64_t b) {
    uint64_t by = (uint64_t)b & UINT32_MAX;
    by = how->wraps ? by & 31 : by > 32 ? 32 : by;
    return video == VIDEO_SHL ? (int64_t)((uint64_t)a << by) : a >> by;
}

static int64_t operated(const Compute *how, Video video, int64_t a, int64_t b) {
    switch (video) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_SET:
        return ((a < b ? IS_LESS : a == b ? IS_EQUAL : IS_GREATER) & how->accepts) != 0;
    case VIDEO_AVERAGE:
        return halved(a + b);
    default:
        return shifted(how, video, a, b);
    }
}

/* The types are those of the result, a and b; vset has no result's, which is unsigned. */
static bool signed_at(const Compute *how, unsigned index, bool set) {
    return set ? index && how->types[index - 1].class == CLASS_SIGNED : how->types[index].class == CLASS_SIGNED;
}

static void one_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    Video video = (Video)(how->mode & 15);
    bool set = video == VIDEO_SET, to_signed = signed_at(how, 0, set);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        int64_t a = selected(in[0]->at[i], (PtxPart)how->from[0].part, signed_at(how, 1, set));
        int64_t b = selected(in[1]->at[i], (PtxPart)how->from[1].part, signed_at(how, 2, set));
        uint32_t c = how->count > 2 ? (uint32_t)in[2]->at[i] : 0;
        int64_t value = operated(how, video, a, b);
        if (how->saturates)
            value = clamped(value, 32, to_signed);
        out->at[i] = (uint32_t)value + (how->mode >> 4 == THEN_ADD ? c : 0);
    }
}

/* ---- vmad ------------------------------------------------------------------------------------------------------ */

static void mad_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    bool sign_a = signed_at(how, 1, false), sign_b = signed_at(how, 2, false), is_signed = sign_a || sign_b;
    bool plus_one = how->mode >> 4 & 1;
    unsigned shift = how->mode >> 5 & 1 ? 7 : how->mode >> 6 & 1 ? 15 : 0;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        __int128 a = selected(in[0]->at[i], (PtxPart)how->from[0].part, sign_a);
        __int128 b = selected(in[1]->at[i], (PtxPart)how->from[1].part, sign_b);
        __int128 c = (int32_t)in[2]->at[i];
        __int128 value = (a * b + c + plus_one) >> shift;
        if (how->saturates) {
            __int128 most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
            value = value < least ? least : value > most ? most : value;
        }
        out->at[i] = (uint32_t)value;
    }
}

/* ---- All parts of a word ---------------------------------------------------------------------------------------- */

static void several_row(Lanes *out, const Lanes *const in[], const Compute *how) {
    Video video = (Video)(how->mode & 15);
    bool set = video == VIDEO_SET, sums = (how->mode >> 4) == THEN_ADD;
    unsigned width = how->table, parts = 32 / width;
    bool to_signed = signed_at(how, 0, set);
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint32_t result = 0, sum = (uint32_t)in[2]->at[i];
        for (unsigned k = 0; k < parts; k++) {
            int64_t a = extended(in[0]->at[i] >> k * width, width, signed_at(how, 1, set));
            int64_t b = extended(in[1]->at[i] >> k * width, width, signed_at(how, 2, set));
            int64_t value = operated(how, video, a, b);
            if (how->saturates)
                value = clamped(value, width, to_signed);
            sum += (uint32_t)value;
            result |= ((uint32_t)value & ((UINT32_C(1) << width) - 1)) << k * width;
        }
        out->at[i] = sums ? sum : result;
    }
}

/* What ptxas makes of these is not what the ISA says: a part of c as the result, the smaller or greater of the result
 * and c, and .sat of what may have more than 32 bits. They are not run. */
static bool differs(const Compute *how, Video video, Str form) {
    bool whole = how->from[0].part == PTX_WHOLE && how->from[1].part == PTX_WHOLE, set = video == VIDEO_SET;
    bool is_signed = signed_at(how, 0, set) || signed_at(how, 1, set) || signed_at(how, 2, set);
    if (how->to.part != PTX_WHOLE || ptx_form_has(form, STR("min")) || ptx_form_has(form, STR("max")))
        return true;
    return how->saturates && (video == VIDEO_SHL || (video == VIDEO_ADD && whole && !is_signed));
}

ComputeRow *video_row(Compute *how, Str form) {
    unsigned parts;
    Video video = operation_of(how->evaluator, &parts);
    Then then = ptx_form_has(form, STR("add")) ? THEN_ADD : THEN_NOTHING;
    for (size_t i = 0; i < 6; i++) {
        static const char *const words[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        static const uint8_t accepts[] = {IS_EQUAL,           IS_LESS | IS_GREATER, IS_LESS,
                                          IS_LESS | IS_EQUAL, IS_GREATER,           IS_GREATER | IS_EQUAL};
        if (ptx_form_has(form, str_of(words[i])))
            how->accepts = accepts[i];
    }
    how->mode = (uint8_t)(video | then << 4);
    if (parts > 1) {
        how->table = (uint8_t)(32 / parts);
        return how->count == 3 ? several_row : NULL;
    }
    if (video == VIDEO_MAD) {
        how->mode = (uint8_t)(video | ptx_form_has(form, STR("po")) << 4 | ptx_form_has(form, STR("shr7")) << 5 |
                              ptx_form_has(form, STR("shr15")) << 6);
        bool wraps = how->saturates && how->mode >> 5 && !signed_at(how, 1, false) && !signed_at(how, 2, false);
        return how->count == 3 && !wraps ? mad_row : NULL; /* .sat of what was shifted: as those that differ */
    }
    return (how->count == 2 || how->count == 3) && !differs(how, video, form) ? one_row : NULL;
}
