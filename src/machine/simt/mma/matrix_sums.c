/* Elements as numbers, and sums of their products: vector instructions where the processor has them, chosen when they
 * are first used. Each element's products are exact and are added one k after the other, so that all versions give the
 * same bits. */
#include "machine/simt/mma/matrix_numbers.h"

#include <math.h>

/* Products are exact, so that one instruction may multiply and add. */
#ifdef __clang__
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef float FourFloats __attribute__((vector_size(16), aligned(4)));
typedef uint64_t FourWords __attribute__((vector_size(32), aligned(8)));
typedef int64_t FourMasks __attribute__((vector_size(32), aligned(8)));
typedef uint32_t FourHalves __attribute__((vector_size(16), aligned(4)));
typedef float EightFloats __attribute__((vector_size(32), aligned(4)));
typedef uint32_t EightHalves __attribute__((vector_size(32), aligned(4)));
typedef int32_t EightMasks __attribute__((vector_size(32), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

/* ---- Elements ---- */

/* Eight elements, each in a word from `bit` on. */
INLINE void decode_eight(const MatrixDecoder *decoder, const uint32_t *words, unsigned bit, double *to) {
    EightHalves bits = *(const EightHalves *)words >> bit;
    EightHalves magnitude = bits & decoder->magnitude;
    EightFloats floats;
    if (decoder->integer) {
        EightMasks whole = (EightMasks)(magnitude ^ decoder->sign) - (int32_t)decoder->sign;
        floats = __builtin_convertvector(whole, EightFloats);
    } else {
        EightHalves sign = (bits & decoder->sign) << decoder->sign_shift;
        EightHalves special = (EightHalves)((EightMasks)magnitude >= decoder->special) & UINT32_C(0x7f800000);
        floats = (EightFloats)(magnitude << decoder->shift) * decoder->scale;
        floats = (EightFloats)((EightHalves)floats | sign | special);
    }
    FourFloats low, high;
    memcpy(&low, &floats, sizeof low);
    memcpy(&high, (const char *)&floats + sizeof low, sizeof high);
    *(Four *)to = __builtin_convertvector(low, Four);
    *(Four *)(to + 4) = __builtin_convertvector(high, Four);
}

INLINE void decode(const MatrixDecoder *decoder, const uint32_t *bits, unsigned count, double *to) {
    for (unsigned i = 0; i < count; i += 8)
        decode_eight(decoder, bits + i, 0, to + i);
}

INLINE void decode_words(const MatrixDecoder *decoder, const uint32_t words[32], double *to) {
    for (unsigned bit = 0; bit < 32; bit += decoder->bits)
        for (unsigned i = 0; i < 32; i += 8, to += 8)
            decode_eight(decoder, words + i, bit, to);
}

INLINE void decode_rows(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    uint32_t words[32];
    for (unsigned i = 0; i < 32; i += 4)
        *(FourHalves *)(words + i) = __builtin_convertvector(*(const FourWords *)(lanes + i), FourHalves);
    decode_words(decoder, words, to);
}

INLINE void decode_columns(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    uint32_t words[32];
    for (unsigned step = 0; step < 4; ++step)
        for (unsigned column = 0; column < 8; ++column)
            words[8 * step + MATRIX_COLUMN_PLACE(column)] = (uint32_t)lanes[4 * column + step];
    decode_words(decoder, words, to);
}

/* ---- Eight columns ---- */

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define LOAD_SUMS(i) Four low##i = *(const Four *)(low + i * pitch), high##i = *(const Four *)(high + i * pitch);
#define ADD_PRODUCTS(i)              \
    low##i += first * from[i * row]; \
    high##i += second * from[i * row];
#define STORE_SUMS(i)                    \
    *(Four *)(low + i * pitch) = low##i; \
    *(Four *)(high + i * pitch) = high##i;

/* Four rows, whose sums stay in registers. `low` and `high`: where those of the first row's columns are, by four; those
 * of the next rows are `pitch` behind. */
INLINE void multiply_rows(const MatrixFactors *factors, const uint16_t *a_at, const uint16_t *b_at, const double *a,
                          const double *b, double *low, double *high, size_t pitch) {
    size_t row = factors->a_row;
    EACH_ROW(LOAD_SUMS)
    for (unsigned j = 0; j < factors->k; ++j) {
        const double *from = a + (a_at ? a_at[j] : j), *column = b + (b_at ? b_at[j] : 8 * j);
        Four first = *(const Four *)column, second = *(const Four *)(column + 4);
        EACH_ROW(ADD_PRODUCTS)
    }
    EACH_ROW(STORE_SUMS)
}

/* ---- Rows and columns ---- */

INLINE void multiply(unsigned m, unsigned n, const MatrixFactors *factors, double *c) {
    unsigned k = factors->k;
    for (unsigned l = 0; l < n; l += 8) {
        const double *a = factors->a, *b = factors->b + (size_t)l * k;
        unsigned i = 0;
        for (; i + 4 <= m; i += 4, a += 4 * factors->a_row)
            multiply_rows(factors, NULL, NULL, a, b, c + (size_t)i * n + l, c + (size_t)i * n + l + 4, n);
        for (; i < m; ++i, a += factors->a_row)
            for (unsigned j = 0; j < k; ++j)
                for (unsigned column = 0; column < 8; ++column)
                    c[(size_t)i * n + l + column] += a[j] * b[8 * j + column];
    }
}

/* ---- Fragments ---- */

INLINE void multiply_fragments(unsigned m, unsigned n, const MatrixFactors *factors, const uint16_t *a_at,
                               const uint16_t *b_at, double (*d)[32]) {
    for (unsigned l = 0; l < n; l += 8)
        for (unsigned row = 0; row < m; row += 4) {
            const double *a = factors->a + row % 8 * factors->a_row + row / 8 * factors->a_half;
            double(*elements)[32] = d + l / 2 + 2 * (row / 8);
            unsigned lane = row % 8 * 4;
            multiply_rows(factors, a_at, b_at, a, factors->b + (size_t)l * factors->k, elements[0] + lane,
                          elements[1] + lane, 4);
        }
}

/* ---- Accumulators of f32 in registers ---- */

INLINE void widen(const uint64_t *from, double *to) {
    for (unsigned i = 0; i < 32; i += 4) {
        FourHalves bits = __builtin_convertvector(*(const FourWords *)(from + i), FourHalves);
        FourFloats floats;
        memcpy(&floats, &bits, sizeof floats);
        *(Four *)(to + i) = __builtin_convertvector(floats, Four);
    }
}

INLINE bool narrow(const double *from, uint64_t *to) {
    FourMasks wrong = {0};
    for (unsigned i = 0; i < 32; i += 4) {
        Four values = *(const Four *)(from + i);
        FourFloats floats = __builtin_convertvector(values, FourFloats);
        FourHalves bits;
        memcpy(&bits, &floats, sizeof bits);
        *(FourWords *)(to + i) = __builtin_convertvector(bits, FourWords);
        wrong |= values != values;
    }
    return !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

INLINE void widen_words(const uint8_t *from, unsigned count, double *to) {
    unsigned i = 0;
    for (; i + 4 <= count; i += 4) {
        FourFloats floats;
        memcpy(&floats, from + 4 * i, sizeof floats);
        *(Four *)(to + i) = __builtin_convertvector(floats, Four);
    }
    for (; i < count; ++i) {
        float value;
        memcpy(&value, from + 4 * i, sizeof value);
        to[i] = (double)value;
    }
}

INLINE bool narrow_words(const double *from, unsigned count, uint8_t *to) {
    FourMasks wrong = {0};
    unsigned i = 0;
    for (; i + 4 <= count; i += 4) {
        Four values = *(const Four *)(from + i);
        FourFloats floats = __builtin_convertvector(values, FourFloats);
        memcpy(to + 4 * i, &floats, sizeof floats);
        wrong |= values != values;
    }
    return i == count && !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
}

/* ---- Versions ---- */

#define FRAGMENTS(m, n, factors, d)                                                           \
    ((factors)->a_at ? multiply_fragments(m, n, factors, (factors)->a_at, (factors)->b_at, d) \
                     : multiply_fragments(m, n, factors, NULL, NULL, d))

#ifdef __x86_64__
#define WIDE __attribute__((target("avx2,fma")))
static bool is_wide(void) {
    static int known = -1;
    int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (now < 0) {
        __builtin_cpu_init();
        now = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        __atomic_store_n(&known, now, __ATOMIC_RELAXED);
    }
    return now;
}
WIDE static void wide_rows(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    decode_rows(decoder, lanes, to);
}
WIDE static void wide_columns(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    decode_columns(decoder, lanes, to);
}
WIDE static void wide_decode(const MatrixDecoder *decoder, const uint32_t *bits, unsigned count, double *to) {
    decode(decoder, bits, count, to);
}
WIDE static void wide_multiply(unsigned m, unsigned n, const MatrixFactors *factors, double *c) {
    multiply(m, n, factors, c);
}
WIDE static void wide_fragments(unsigned m, unsigned n, const MatrixFactors *factors, double (*d)[32]) {
    FRAGMENTS(m, n, factors, d);
}
WIDE static void wide_widen(const uint64_t *from, double *to) {
    widen(from, to);
}
WIDE static bool wide_narrow(const double *from, uint64_t *to) {
    return narrow(from, to);
}
WIDE static void wide_widen_words(const uint8_t *from, unsigned count, double *to) {
    widen_words(from, count, to);
}
WIDE static bool wide_narrow_words(const double *from, unsigned count, uint8_t *to) {
    return narrow_words(from, count, to);
}
#define CHOOSE(wide, plain) (is_wide() ? (wide) : (plain))
#else
#define CHOOSE(wide, plain) (plain)
#endif

void matrix_decode_rows(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    CHOOSE(wide_rows(decoder, lanes, to), decode_rows(decoder, lanes, to));
}

void matrix_decode_columns(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    CHOOSE(wide_columns(decoder, lanes, to), decode_columns(decoder, lanes, to));
}

void matrix_decode(const MatrixDecoder *decoder, const uint32_t *bits, unsigned count, double *to) {
    CHOOSE(wide_decode(decoder, bits, count, to), decode(decoder, bits, count, to));
}

void matrix_multiply(unsigned m, unsigned n, const MatrixFactors *factors, double *c) {
    CHOOSE(wide_multiply(m, n, factors, c), multiply(m, n, factors, c));
}

void matrix_multiply_fragments(unsigned m, unsigned n, const MatrixFactors *factors, double (*d)[32]) {
    CHOOSE(wide_fragments(m, n, factors, d), FRAGMENTS(m, n, factors, d));
}

void matrix_widen(const uint64_t from[32], double to[32]) {
    CHOOSE(wide_widen(from, to), widen(from, to));
}

void matrix_narrow(const double from[32], uint64_t to[32]) {
    if (!CHOOSE(wide_narrow(from, to), narrow(from, to)))
        for (unsigned i = 0; i < 32; ++i)
            to[i] = matrix_result(MATRIX_F32, from[i], false);
}

void matrix_widen_words(const uint8_t *from, unsigned count, double *to) {
    CHOOSE(wide_widen_words(from, count, to), widen_words(from, count, to));
}

void matrix_narrow_words(const double *from, unsigned count, uint8_t *to) {
    if (CHOOSE(wide_narrow_words(from, count, to), narrow_words(from, count, to)))
        return;
    for (unsigned i = 0; i < count; ++i) {
        uint32_t word = (uint32_t)matrix_result(MATRIX_F32, from[i], false);
        memcpy(to + 4 * i, &word, sizeof word);
    }
}

void matrix_multiply_f64(unsigned m, unsigned n, unsigned k, const double *a, const double *b, double *c) {
    for (unsigned i = 0; i < m; ++i)
        for (unsigned l = 0; l < n; ++l)
            for (unsigned j = 0; j < k; ++j)
                c[i * n + l] = fma(a[i * k + j], b[j * n + l], c[i * n + l]);
}
