/* Elements of matrices: the formats that MMAs take, and the sum of products itself.
 *
 * All but f64 fit a float exactly, and a product of two of them a double, so that a sum whose partial sums are exact
 * comes out bit for bit as the hardware has it. Where they are not: tensor cores align the products of some k at once
 * to the greatest of them and cut off what is below some bits (how many is not documented), and round that to the
 * accumulator's type; here all of k is added in doubles and rounded once. */
#ifndef MACHINE_SIMT_MMA_MATRIX_NUMBERS_H
#define MACHINE_SIMT_MMA_MATRIX_NUMBERS_H

#include "base/text.h"

#include <string.h>

typedef enum MatrixType {
    MATRIX_NONE,
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_TF32, /* 32 bits, of which the lower 13 do not count */
    MATRIX_F32,
    MATRIX_F64,
    MATRIX_E4M3,
    MATRIX_E5M2,
    MATRIX_E3M2,
    MATRIX_E2M3,
    MATRIX_E2M1,
    MATRIX_S8,
    MATRIX_U8,
    MATRIX_S4,
    MATRIX_U4,
    MATRIX_B1,
    MATRIX_S32,
    MATRIX_TYPES
} MatrixType;

/* MATRIX_NONE: no such type. */
MatrixType matrix_type(Str name);
/* Bits that an element has in registers and memory, packed. */
unsigned matrix_type_bits(MatrixType type);
bool matrix_type_is_integer(MatrixType type);

/* What the bits of an element are; those above its own do not count. Not of f64. */
float matrix_float(MatrixType type, uint32_t bits);

/* How bits become a number: one shift, and one multiplication by a power of two, which also makes normal numbers of
 * subnormal ones. From magnitude `special` on it is infinite, or no number. */
typedef struct MatrixDecoder {
    uint8_t bits, shift, sign_shift;
    bool integer;
    uint32_t magnitude, sign; /* their bits */
    int32_t special;
    float scale;
} MatrixDecoder;
MatrixDecoder matrix_decoder(MatrixType type);
/* Elements, each in the low bits of a word; a multiple of 8 of them. */
void matrix_decode(const MatrixDecoder *decoder, const uint32_t *bits, unsigned count, double *to);
/* All elements of a register of a warp, those in the lowest bits first: of A by lanes, to[element][lane]; of B
 * to[element][step][place], where a lane is column * 4 + step. */
void matrix_decode_rows(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to);
void matrix_decode_columns(const MatrixDecoder *decoder, const uint64_t lanes[32], double *to);

/* A scale: ue8m0 (2 to the power of it - 127), or else ue4m3, which is e4m3 without a sign. */
float matrix_scale(bool ue8m0, uint8_t bits);
/* An accumulator as a number, and back: f16, f32, s32, f64. `saturate`: what is out of range becomes the last number in
 * range, else an integer wraps, and a float is infinite. A NaN is the hardware's only one. */
double matrix_other_accumulator(MatrixType type, uint64_t bits);
uint64_t matrix_other_result(MatrixType type, double value, bool saturate);
static inline double matrix_accumulator(MatrixType type, uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    if (type != MATRIX_F32)
        return matrix_other_accumulator(type, bits);
    memcpy(&value, &low, sizeof value);
    return (double)value;
}
static inline uint64_t matrix_result(MatrixType type, double value, bool saturate) {
    float rounded = (float)value;
    uint32_t bits;
    if (type != MATRIX_F32 || saturate || value != value)
        return matrix_other_result(type, value, saturate);
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

/* What the functions below, and those that decode, are compiled for: the best that the processor has. False: it has not
 * that one. */
typedef enum MatrixVersion { MATRIX_PLAIN, MATRIX_AVX2, MATRIX_AVX512 } MatrixVersion;
bool matrix_choose(MatrixVersion version);

/* A and B as numbers. Of row i and step j of k, A's is at a[i * a_row + a_at[j]]; of fragments rows from the eighth on
 * are `a_half` behind. B is in panels of eight columns, each 8 * k long; step j of one is at b_at[j]. Without a_at
 * steps stand behind each other. */
enum { MATRIX_SUM_DEPTH = 256 };
typedef struct MatrixFactors {
    unsigned k, a_row, a_half;
    const double *a, *b;
    const uint16_t *a_at, *b_at;
} MatrixFactors;
/* c[m][n] += A * B, without a_at; n is a multiple of 8. */
void matrix_multiply(unsigned m, unsigned n, const MatrixFactors *factors, double *c);
/* The same with sums as the lanes of a warp have them: d[element][lane], m is 8 or 16. Elements are in the order of
 * matrix_row and matrix_column (matrix_fragments.h), n / 2 of them, also where m is 8. A lane has two neighbors of each
 * row, so that a panel has its even columns first. */
#define MATRIX_COLUMN_PLACE(column) (((column)&1) * 4 + (column) % 8 / 2)
void matrix_multiply_fragments(unsigned m, unsigned n, const MatrixFactors *factors, double (*d)[32]);
/* The floats of f32 that all lanes of a register have, as numbers; and back. */
void matrix_widen(const uint64_t from[32], double to[32]);
void matrix_narrow(const double from[32], uint64_t to[32]);
/* The same of floats that stand behind each other in memory. */
void matrix_widen_words(const uint8_t *from, unsigned count, double *to);
void matrix_narrow_words(const double *from, unsigned count, uint8_t *to);
/* The same for f64: one fused multiply-add for each k, from the first to the last. */
void matrix_multiply_f64(unsigned m, unsigned n, unsigned k, const double *a, const double *b, double *c);

#endif
