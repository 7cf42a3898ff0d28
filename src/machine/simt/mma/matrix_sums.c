/* Sums of products: vector instructions where the processor has them, chosen when they are first used. Each element's
 * products are exact and are added one k after the other, so that all versions give the same bits. */
#include "machine/simt/mma/matrix_numbers.h"

#include <math.h>

typedef double Four __attribute__((vector_size(32), aligned(8)));
typedef float FourFloats __attribute__((vector_size(16), aligned(4)));
typedef uint64_t FourWords __attribute__((vector_size(32), aligned(8)));
typedef uint32_t FourHalves __attribute__((vector_size(16), aligned(4)));

/* ---- Eight columns ---- */

/* Columns as doubles, for each k: two vectors of four. */
typedef struct Columns {
    double at[MATRIX_SUM_DEPTH][8];
} Columns;

/* Four rows, whose sums stay in registers. `low` and `high`: where those of the first row's columns are, by four; those
 * of the next rows are `pitch` behind. */
static inline __attribute__((always_inline)) void multiply_rows(unsigned k, const float *a, const Columns *b,
                                                                double *low, double *high, size_t pitch) {
    Four sums[4][2];
    for (unsigned i = 0; i < 4; ++i) {
        sums[i][0] = *(const Four *)(low + i * pitch);
        sums[i][1] = *(const Four *)(high + i * pitch);
    }
    for (unsigned j = 0; j < k; ++j) {
        Four first = *(const Four *)b->at[j], second = *(const Four *)(b->at[j] + 4);
        for (unsigned i = 0; i < 4; ++i) {
            double factor = (double)a[(size_t)i * k + j];
            sums[i][0] += first * factor;
            sums[i][1] += second * factor;
        }
    }
    for (unsigned i = 0; i < 4; ++i) {
        *(Four *)(low + i * pitch) = sums[i][0];
        *(Four *)(high + i * pitch) = sums[i][1];
    }
}

/* ---- Rows and columns ---- */

static inline __attribute__((always_inline)) void multiply(unsigned m, unsigned n, unsigned k, const float *a,
                                                           const float *b, double *c) {
    Columns columns;
    for (unsigned l = 0; l < n; l += 8) {
        unsigned i = 0;
        for (unsigned j = 0; j < k; ++j)
            for (unsigned column = 0; column < 8; ++column)
                columns.at[j][column] = (double)b[(size_t)j * n + l + column];
        for (; i + 4 <= m; i += 4)
            multiply_rows(k, a + (size_t)i * k, &columns, c + (size_t)i * n + l, c + (size_t)i * n + l + 4, n);
        for (; i < m; ++i)
            for (unsigned j = 0; j < k; ++j)
                for (unsigned column = 0; column < 8; ++column)
                    c[(size_t)i * n + l + column] += (double)a[(size_t)i * k + j] * columns.at[j][column];
    }
}

/* ---- Fragments ---- */

/* A lane has two neighbors of each row: even columns, then odd ones. */
static inline __attribute__((always_inline)) void multiply_fragments(unsigned m, unsigned n, unsigned k, const float *a,
                                                                     const float *b, double (*d)[32]) {
    Columns columns;
    for (unsigned l = 0; l < n; l += 8) {
        for (unsigned j = 0; j < k; ++j)
            for (unsigned column = 0; column < 8; ++column)
                columns.at[j][(column & 1) * 4 + column / 2] = (double)b[(size_t)j * n + l + column];
        for (unsigned row = 0; row < m; row += 4) {
            double(*elements)[32] = d + l / 2 + 2 * (row / 8);
            unsigned lane = row % 8 * 4;
            multiply_rows(k, a + (size_t)row * k, &columns, elements[0] + lane, elements[1] + lane, 4);
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
