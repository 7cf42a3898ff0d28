/* What the families of MMAs share: the words of a form, and fragments in the registers of a warp.
 *
 * Fragments are those of PTX ISA, "Matrix fragments": lane / 4 is a row (of A) or a column (of B), lane % 4 says which
 * elements along k; a register of 32 bits has as many elements as fit. They are the same for all types and shapes but
 * one, mma.m8n8k4 of f16. */
#ifndef MACHINE_SIMT_MMA_MATRIX_FRAGMENTS_H
#define MACHINE_SIMT_MMA_MATRIX_FRAGMENTS_H

#include "machine/simt/mma/matrix_numbers.h"
#include "machine/simt/sync/barriers.h"

enum { MATRIX_ROWS = 16, MATRIX_COLUMNS = 256, MATRIX_DEPTH = 256, MATRIX_FORM_TYPES = 4 };

typedef struct MatrixShape {
    uint16_t m, n, k;
} MatrixShape;

/* The words of a form: its shape, and its matrix types in order. */
typedef struct MatrixForm {
    MatrixShape shape; /* all 0: it has none */
    MatrixType types[MATRIX_FORM_TYPES];
    unsigned type_count;
    bool column[2]; /* the i-th of "row" or "col" is "col" */
} MatrixForm;
void matrix_form(const PtxForm *form, MatrixForm *words);

/* The i-th register of an operand, which is a vector, or one register; NULL: it has fewer. */
const PtxArgument *matrix_register(const PtxProgram *program, const PtxArgument *argument, uint32_t index);
uint32_t matrix_register_count(const PtxArgument *argument);
/* All of them, at most `most`: what is in them, and the lanes of each that is not known. How many there are. */
uint32_t matrix_fetch(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t most, Lanes *scratch,
                      const Lanes **registers, uint32_t *unknown);

/* Whether the values that an instruction moves or makes are computed. */
static inline bool matrix_computes(const PtxMachine *machine, const PtxCode *code) {
    return machine->computes == COMPUTES_ALL || !code->data;
}
/* It is not known what the registers of an operand are. */
void matrix_forget(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument, uint32_t lanes);

/* Fragments of A (16 rows, or 8) and B (8 columns) as numbers, register by register, and which rows or columns are not
 * known. */
typedef struct MatrixRegisters {
    const Lanes *const *at;
    const uint32_t *unknown; /* lanes of each */
    uint32_t count;
    MatrixType type;
} MatrixRegisters;
void matrix_take_a(MatrixRegisters a, double *to, bool *unknown);
void matrix_take_b(MatrixRegisters b, double *to, bool *unknown);
/* Where they are then: MatrixFactors.a_at and b_at. Rows of A are four apart. */
enum { MATRIX_A_ROW = 4 };
typedef struct MatrixSteps {
    uint16_t a[MATRIX_SUM_DEPTH], b[MATRIX_SUM_DEPTH];
    uint16_t a_half;
} MatrixSteps;
void matrix_steps(MatrixType type, unsigned k, MatrixSteps *steps);

/* Accumulators of a register as numbers: of f16 two elements, else one. */
static inline unsigned matrix_per_register(MatrixType type) {
    return type == MATRIX_F16 ? 2 : 1;
}
void matrix_read_sums(MatrixType type, const Lanes *from, double (*to)[PTX_LANES]);
/* And back, in these lanes. */
void matrix_write_sums(MatrixType type, bool saturate, double (*from)[PTX_LANES], Lanes *to);
/* Lanes of accumulator `index` that depend on rows of A or columns of B that are not known. */
uint32_t matrix_unknown_sums(MatrixType type, unsigned index, const bool *rows, const bool *columns);
/* Where element i of a lane's accumulators is: of a warp's 16 (or 8) rows. */
static inline unsigned matrix_row(unsigned lane, unsigned element) {
    return (lane >> 2) + 8 * (element >> 1 & 1);
}
static inline unsigned matrix_column(unsigned lane, unsigned element) {
    return (lane & 3) * 2 + (element & 1) + 8 * (element >> 2);
}

/* Where the nonzero elements of a sparse A are. A chunk of a row has four bits of metadata: two numbers of two bits,
 * each saying which quarter of the chunk a stored element (of s4, a pair) is; of tf32, whose chunks are two elements,
 * both numbers are of the same one. `metadata`: of each lane. The k of element `column` of a stored row. */
unsigned matrix_sparse_k(MatrixType type, unsigned k, const Lanes *metadata, unsigned selector, unsigned row,
                         unsigned column);
/* The lane that has it. */
unsigned matrix_sparse_lane(MatrixType type, unsigned k, unsigned selector, unsigned row, unsigned column);

/* The instructions of a family that each file takes (matrix.c asks them). */
PtxPrepareFamily mma_prepare, rows_prepare, wmma_prepare, wgmma_prepare;

#endif
