/* Sums of products: vector instructions where the processor has them, chosen when they are first used. Each element's
 * products are exact and are added one k after the other, so that all versions give the same bits. */
#include "machine/simt/mma/matrix_numbers.h"

#include <math.h>

typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef float FourFloats __attribute__((vector_size(16), aligned(4)));
typedef uint64_t FourWords __attribute__((vector_size(32), aligned(8)));
typedef uint32_t FourHalves __attribute__((vector_size(16), aligned(4)));

/* ---- Rows and columns ---- */

/* Four rows and eight columns, whose sums stay in registers. */
static inline __attribute__((always_inline)) void multiply_block(unsigned n, unsigned k, const float *a, const float *b,
                                                                 double *c) {
    Four sums[4][2];
    for (unsigned i = 0; i < 4; ++i) {
        sums[i][0] = *(const Four *)(c + (size_t)i * n);
        sums[i][1] = *(const Four *)(c + (size_t)i * n + 4);
    }
    for (unsigned j = 0; j < k; ++j) {
        const float *row = b + (size_t)j * n;
        Four low = __builtin_convertvector(*(const FourFloats *)row, Four);
        Four high = __builtin_convertvector(*(const FourFloats *)(row + 4), Four);
        for (unsigned i = 0; i < 4; ++i) {
            double factor = (double)a[(size_t)i * k + j];
            sums[i][0] += low * factor;
            sums[i][1] += high * factor;
        }
    }
    for (unsigned i = 0; i < 4; ++i) {
        *(Four *)(c + (size_t)i * n) = sums[i][0];
        *(Four *)(c + (size_t)i * n + 4) = sums[i][1];
    }
}

static inline __attribute__((always_inline)) void multiply(unsigned m, unsigned n, unsigned k, const float *a,
                                                           const float *b, double *c) {
    unsigned i = 0;
    for (; i + 4 <= m; i += 4)
        for (unsigned l = 0; l < n; l += 8)
            multiply_block(n, k, a + (size_t)i * k, b + l, c + (size_t)i * n + l);
    for (; i < m; ++i)
        for (unsigned j = 0; j < k; ++j)
            for (unsigned l = 0; l < n; ++l)
                c[(size_t)i * n + l] += (double)a[(size_t)i * k + j] * (double)b[(size_t)j * n + l];
}

/* ---- Fragments ---- */

/* Columns of eight, as doubles: even ones, then odd ones, for each k. */
static inline __attribute__((always_inline)) void part_columns(unsigned n, unsigned k, const float *b,
                                                               double (*to)[8]) {
    for (unsigned j = 0; j < k; ++j)
        for (unsigned l = 0; l < 8; ++l)
            to[j][(l & 1) * 4 + l / 2] = (double)b[(size_t)j * n + l];
}

/* Eight rows of a fragment and eight columns: elements 0 and 1 of each lane. */
static inline __attribute__((always_inline)) void multiply_eight(unsigned k, const float *a, const double (*b)[8],
                                                                 double *even, double *odd) {
    for (unsigned half = 0; half < 2; ++half) {
        Four sums[4][2];
        const float *rows = a + (size_t)half * 4 * k;
        for (unsigned i = 0; i < 4; ++i) {
            sums[i][0] = *(const Four *)(even + (half * 4 + i) * 4);
            sums[i][1] = *(const Four *)(odd + (half * 4 + i) * 4);
        }
        for (unsigned j = 0; j < k; ++j) {
            Four low = *(const Four *)b[j], high = *(const Four *)(b[j] + 4);
            for (unsigned i = 0; i < 4; ++i) {
                double factor = (double)rows[(size_t)i * k + j];
                sums[i][0] += low * factor;
                sums[i][1] += high * factor;
            }
        }
        for (unsigned i = 0; i < 4; ++i) {
            *(Four *)(even + (half * 4 + i) * 4) = sums[i][0];
            *(Four *)(odd + (half * 4 + i) * 4) = sums[i][1];
        }
    }
}

static inline __attribute__((always_inline)) void multiply_fragments(unsigned m, unsigned n, unsigned k, const float *a,
                                                                     const float *b, double (*d)[32]) {
    double columns[MATRIX_SUM_DEPTH][8];
    for (unsigned l = 0; l < n; l += 8) {
        part_columns(n, k, b + l, columns);
        for (unsigned upper = 0; upper < m / 8; ++upper) {
            double(*elements)[32] = d + l / 2 + 2 * upper;
            multiply_eight(k, a + (size_t)upper * 8 * k, (const double(*)[8])columns, elements[0], elements[1]);
        }
    }
}

/* ---- Accumulators of f32 in registers ---- */

static inline __attribute__((always_inline)) void widen(const uint64_t *from, double *to) {
    for (unsigned i = 0; i < 32; i += 4) {
        FourHalves bits = __builtin_convertvector(*(const FourWords *)(from + i), FourHalves);
        FourFloats floats;
        memcpy(&floats, &bits, sizeof floats);
        *(Four *)(to + i) = __builtin_convertvector(floats, Four);
    }
}

static inline __attribute__((always_inline)) bool narrow(const double *from, uint64_t *to) {
    bool numbers = true;
    for (unsigned i = 0; i < 32; i += 4) {
        Four values = *(const Four *)(from + i);
        FourFloats floats = __builtin_convertvector(values, FourFloats);
        FourHalves bits;
        memcpy(&bits, &floats, sizeof bits);
        *(FourWords *)(to + i) = __builtin_convertvector(bits, FourWords);
        for (unsigned k = 0; k < 4; ++k)
            numbers &= values[k] == values[k];
    }
    return numbers;
}

/* ---- Versions ---- */

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
WIDE static void wide_multiply(unsigned m, unsigned n, unsigned k, const float *a, const float *b, double *c) {
    multiply(m, n, k, a, b, c);
}
WIDE static void wide_fragments(unsigned m, unsigned n, unsigned k, const float *a, const float *b, double (*d)[32]) {
    multiply_fragments(m, n, k, a, b, d);
}
WIDE static void wide_widen(const uint64_t *from, double *to) {
    widen(from, to);
}
WIDE static bool wide_narrow(const double *from, uint64_t *to) {
    return narrow(from, to);
}
#define CHOOSE(wide, plain) (is_wide() ? (wide) : (plain))
#else
#define CHOOSE(wide, plain) (plain)
#endif

void matrix_multiply(unsigned m, unsigned n, unsigned k, const float *a, const float *b, double *c) {
    CHOOSE(wide_multiply(m, n, k, a, b, c), multiply(m, n, k, a, b, c));
}

void matrix_multiply_fragments(unsigned m, unsigned n, unsigned k, const float *a, const float *b, double (*d)[32]) {
    CHOOSE(wide_fragments(m, n, k, a, b, d), multiply_fragments(m, n, k, a, b, d));
}

void matrix_widen(const uint64_t from[32], double to[32]) {
    CHOOSE(wide_widen(from, to), widen(from, to));
}

void matrix_narrow(const double from[32], uint64_t to[32]) {
    if (!CHOOSE(wide_narrow(from, to), narrow(from, to)))
        for (unsigned i = 0; i < 32; ++i)
            to[i] = matrix_result(MATRIX_F32, from[i], false);
}

void matrix_multiply_f64(unsigned m, unsigned n, unsigned k, const double *a, const double *b, double *c) {
    for (unsigned i = 0; i < m; ++i)
        for (unsigned l = 0; l < n; ++l)
            for (unsigned j = 0; j < k; ++j)
                c[i * n + l] = fma(a[i * k + j], b[j * n + l], c[i * n + l]);
}
