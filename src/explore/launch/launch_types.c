/* Types of elements in launches, by name; and numbers as the bits of one. */
#include "explore/launch/launch_reading.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A type's whole name in lower case, or one of the beginnings below and a number of bits ("fp16", "bfloat16",
 * "f8e4m3fn"). A boolean has a byte in memory. */
static const struct {
    const char *name;
    uint16_t bits;
    NumberKind kind;
} whole_names[] = {
    {"bool", 8, ELEMENT_UNSIGNED},
    {"half", 16, ELEMENT_F16},
    {"float", 32, ELEMENT_F32},
    {"double", 64, ELEMENT_F64},
    {"tf32", 32, ELEMENT_TF32},
    {"e4m3", 8, ELEMENT_E4M3},
    {"e5m2", 8, ELEMENT_E5M2},
    {"e3m4", 8, ELEMENT_BITS},
    {"e8m0", 8, ELEMENT_BITS},
    {"e2m3", 6, ELEMENT_BITS},
    {"e3m2", 6, ELEMENT_BITS},
    {"e2m1", 4, ELEMENT_BITS},
    {"float4_e2m1fn_x2", 8, ELEMENT_BITS}, /* two to an element */
};
static const struct {
    const char *text;
    NumberKind kind;
} beginnings[] = {
    {"f", ELEMENT_F32},       {"fp", ELEMENT_F32},      {"float", ELEMENT_F32},     {"bf", ELEMENT_BF16},
    {"bfloat", ELEMENT_BF16}, {"i", ELEMENT_SIGNED},    {"int", ELEMENT_SIGNED},    {"si", ELEMENT_SIGNED},
    {"u", ELEMENT_UNSIGNED},  {"ui", ELEMENT_UNSIGNED}, {"uint", ELEMENT_UNSIGNED},
};
/* How the bits of a float of 8 are used, by what follows them. */
static const struct {
    const char *name;
    NumberKind kind;
} small_floats[] = {
    {"e4m3", ELEMENT_E4M3}, {"e4m3fn", ELEMENT_E4M3}, {"_e4m3fn", ELEMENT_E4M3}, {"e4nv", ELEMENT_E4M3},
    {"e5m2", ELEMENT_E5M2}, {"_e5m2", ELEMENT_E5M2},  {"e5", ELEMENT_E5M2},
};

static NumberKind float_kind(NumberKind kind, int64_t bits, const char *rest) {
    if (bits == 8)
        for (size_t i = 0; i < sizeof small_floats / sizeof *small_floats; i++)
            if (strcmp(rest, small_floats[i].name) == 0)
                return small_floats[i].kind;
    if (kind == ELEMENT_BF16)
        return bits == 16 ? kind : ELEMENT_BITS;
    return bits == 16 ? ELEMENT_F16 : bits == 32 ? ELEMENT_F32 : bits == 64 ? ELEMENT_F64 : ELEMENT_BITS;
}

/* 0 for a name that is none of these. */
uint16_t element_named(const char *name, NumberKind *kind) {
    const char *dot = strrchr(name, '.'); /* "torch.float16" */
    char lower[32] = {0};
    name = dot ? dot + 1 : name;
    if (strlen(name) >= sizeof lower)
        return 0;
    for (size_t i = 0; name[i]; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < sizeof whole_names / sizeof *whole_names; i++)
        if (strcmp(lower, whole_names[i].name) == 0) {
            *kind = whole_names[i].kind;
            return whole_names[i].bits;
        }
    size_t letters = strspn(lower, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = strspn(lower + letters, "0123456789");
    int64_t bits;
    if (!str_to_int((Str){lower + letters, digits}, &bits) || bits < 1 || bits > 128)
        return 0;
    /* The small floats go on with how their bits are used. */
    if (lower[letters + digits] && !((*lower == 'f' || *lower == 'b') && bits <= 8))
        return 0;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strlen(beginnings[i].text) == letters && memcmp(lower, beginnings[i].text, letters) == 0) {
            bool real = beginnings[i].kind == ELEMENT_F32 || beginnings[i].kind == ELEMENT_BF16;
            *kind = real ? float_kind(beginnings[i].kind, bits, lower + letters + digits) : beginnings[i].kind;
            return bits == 1 ? 8 : (uint16_t)bits;
        }
    return 0;
}

const char *element_name(NumberKind kind, unsigned bits, char room[8]) {
    static const char *const names[ELEMENT_KINDS] = {
        [ELEMENT_F16] = "f16", [ELEMENT_BF16] = "bf16",   [ELEMENT_F32] = "f32",    [ELEMENT_TF32] = "tf32",
        [ELEMENT_F64] = "f64", [ELEMENT_E4M3] = "f8e4m3", [ELEMENT_E5M2] = "f8e5m2"};
    if (names[kind])
        return names[kind];
    snprintf(room, 8, "%c%u", kind == ELEMENT_UNSIGNED ? 'u' : 'i', bits & 0xff);
    return room;
}

/* ---- Numbers ------------------------------------------------------------------------------------- */

typedef struct FloatForm {
    unsigned exponent, fraction; /* bits */
    bool finite;                 /* no infinities: the largest exponent has numbers, too, all ones is NaN */
} FloatForm;

static const FloatForm float_forms[ELEMENT_KINDS] = {
    [ELEMENT_F16] = {5, 10, false},  [ELEMENT_BF16] = {8, 7, false},  [ELEMENT_F32] = {8, 23, false},
    [ELEMENT_TF32] = {8, 23, false}, [ELEMENT_F64] = {11, 52, false}, [ELEMENT_E4M3] = {4, 3, true},
    [ELEMENT_E5M2] = {5, 2, false},
};

/* To the nearest, and of two the even one. */
static uint64_t shift_rounded(uint64_t value, unsigned by) {
    if (by == 0)
        return value;
    if (by > 63)
        return 0;
    uint64_t half = UINT64_C(1) << (by - 1), rest = value & (half * 2 - 1), kept = value >> by;
    return kept + (rest > half || (rest == half && (kept & 1)));
}

bool element_of_real(NumberKind kind, double number, int64_t *bits) {
    enum { FRACTION = 52, BIAS = 1023, EXPONENT_MASK = 0x7ff };
    const FloatForm *form = &float_forms[kind];
    uint64_t given;
    memcpy(&given, &number, sizeof given);
    if (!form->exponent || (given >> FRACTION & EXPONENT_MASK) == EXPONENT_MASK)
        return false;
    uint64_t sign = given >> 63, fraction = given & ((UINT64_C(1) << FRACTION) - 1);
    int exponent = (int)(given >> FRACTION & EXPONENT_MASK);
    fraction |= exponent ? UINT64_C(1) << FRACTION : 0;
    int bias = (1 << (form->exponent - 1)) - 1, scaled = (exponent ? exponent : 1) - BIAS + bias;
    unsigned drop = FRACTION - form->fraction;
    uint64_t magnitude = scaled < 1 ? shift_rounded(fraction, drop + (unsigned)(1 - scaled))
                                    : ((uint64_t)(scaled - 1) << form->fraction) + shift_rounded(fraction, drop);
    uint64_t largest = (((UINT64_C(1) << form->exponent) - 1) << form->fraction) - 1; /* the last before infinity */
    if (form->finite)
        largest = (UINT64_C(1) << (form->exponent + form->fraction)) - 2;
    *bits = (int64_t)(magnitude | sign << (form->exponent + form->fraction));
    return magnitude <= largest;
}

/* What the bits stand for; they are a float's. */
static double real_of(const FloatForm *form, uint64_t bits) {
    unsigned all = form->exponent + form->fraction;
    uint64_t fraction = bits & ((UINT64_C(1) << form->fraction) - 1), ones = (UINT64_C(1) << form->exponent) - 1;
    uint64_t exponent = bits >> form->fraction & ones;
    bool last = exponent == ones && (!form->finite || fraction == (UINT64_C(1) << form->fraction) - 1);
    int bias = (1 << (form->exponent - 1)) - 1, scale = (int)(exponent ? exponent : 1) - bias - (int)form->fraction;
    double magnitude = ldexp((double)(fraction | (exponent ? UINT64_C(1) << form->fraction : 0)), scale);
    if (last)
        magnitude = !form->finite && !fraction ? INFINITY : NAN;
    return bits >> all & 1 ? -magnitude : magnitude;
}

bool element_print(NumberKind kind, int64_t bits, Text *to) {
    enum { MOST_DIGITS = 17, MOST_WHOLE = 10000000 };
    char digits[32];
    int64_t again;
    if (!float_forms[kind].exponent)
        return false;
    double number = real_of(&float_forms[kind], (uint64_t)bits);
    if (fabs(number) < MOST_WHOLE && number == floor(number)) {
        text_addf(to, "%.1f", number);
        return true;
    }
    for (int precision = 1; precision <= MOST_DIGITS; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (!isfinite(number) || (element_of_real(kind, strtod(digits, NULL), &again) && again == bits))
            break;
    }
    text_addf(to, "%s", digits);
    return true;
}
