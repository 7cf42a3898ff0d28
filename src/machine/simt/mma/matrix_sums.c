/* Elements as numbers, and sums of their products: vector instructions where the processor has them, chosen when they
 * are first used. Each element's products are exact and are added one k after the other, so that all versions give the
 * same bits. */
#include "machine/simt/core/processor.h"
#include "machine/simt/mma/matrix_numbers.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
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

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define LOAD_SUMS(i) Four low##i = *(const Four *)(low + i * pitch), high##i = *(const Four *)(high + i * pitch);
#define ADD_PRODUCTS(i)              \
    low##i += first * from[i * row]; \
    high##i += second * from[i * row];
#define STORE_SUMS(i)                    \
    *(Four *)(low + i * pitch) = low##i; \
    *(Four *)(high + i * pitch) = high##i;

#define TARGET
#define REALS(floats) __builtin_convertvector(floats, Four)
#define WORDS(halves) __builtin_convertvector(halves, FourWords)
#define VERSION(name) plain_##name
#include "machine/simt/mma/matrix_sums.def"
#ifdef __x86_64__
#define TARGET        __attribute__((target("avx2,fma")))
#define REALS(floats) (Four) _mm256_cvtps_pd((__m128)(floats))
#define WORDS(halves) (FourWords) _mm256_cvtepu32_epi64((__m128i)(halves))
#define VERSION(name) avx2_##name
#include "machine/simt/mma/matrix_sums.def"
#define TARGET        __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#define REALS(floats) (Four) _mm256_cvtps_pd((__m128)(floats))
#define WORDS(halves) (FourWords) _mm256_cvtepu32_epi64((__m128i)(halves))
#define VERSION(name) avx512_##name
#include "machine/simt/mma/matrix_sums.def"
#endif

/* ---- Versions ---- */

static MatrixVersion best_version(void) {
    if (!processor_has(PROCESSOR_AVX2) || !processor_has(PROCESSOR_FMA))
        return MATRIX_PLAIN;
    return processor_has(PROCESSOR_AVX512) ? MATRIX_AVX512 : MATRIX_AVX2;
}

static int chosen = -1;

bool matrix_choose(MatrixVersion version) {
    if (version > best_version())
        return false;
    __atomic_store_n(&chosen, (int)version, __ATOMIC_RELAXED);
    return true;
}

static MatrixVersion version_now(void) {
    int now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (now < 0)
        __atomic_store_n(&chosen, now = (int)best_version(), __ATOMIC_RELAXED);
    return (MatrixVersion)now;
}

#ifdef __x86_64__
#define CHOOSE(name, ...)                                        \
    (version_now() == MATRIX_AVX512 ? avx512_##name(__VA_ARGS__) \
     : version_now() == MATRIX_AVX2 ? avx2_##name(__VA_ARGS__)   \
                                    : plain_##name(__VA_ARGS__))
#else
#define CHOOSE(name, ...) ((void)version_now, plain_##name(__VA_ARGS__))
#endif

void matrix_decode_rows(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    CHOOSE(decode_rows, decoder, lanes, to);
}

void matrix_decode_columns(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to) {
    CHOOSE(decode_columns, decoder, lanes, to);
}

void matrix_decode(const MatrixDecoder *decoder, const uint32_t *bits, unsigned count, double *to) {
    CHOOSE(decode, decoder, bits, count, to);
}

void matrix_multiply(unsigned m, unsigned n, const MatrixFactors *factors, double *c) {
    CHOOSE(multiply, m, n, factors, c);
}

void matrix_multiply_fragments(unsigned m, unsigned n, const MatrixFactors *factors, double (*d)[32]) {
    CHOOSE(multiply_fragments, m, n, factors, d);
}

void matrix_widen(const uint64_t from[32], double to[32]) {
    CHOOSE(widen, from, to);
}

void matrix_narrow(const double from[32], uint64_t to[32]) {
    if (!CHOOSE(narrow, from, to))
        for (unsigned i = 0; i < 32; ++i)
            to[i] = matrix_result(MATRIX_F32, from[i], false);
}

void matrix_widen_words(const uint8_t *from, unsigned count, double *to) {
    CHOOSE(widen_words, from, count, to);
}

void matrix_narrow_words(const double *from, unsigned count, uint8_t *to) {
    if (CHOOSE(narrow_words, from, count, to))
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
