/* MMAs of one warp whose matrices are in registers (mma.sync), and the transposition of a matrix in registers. */
#include "machine/simt/mma/matrix_fragments.h"

enum { MMA_REGISTERS = 8, MMA_COLUMNS = 8, MMA_DEPTH = 256, MMA_DEPTH_F64 = 16 };

/* Operands, by their places in the text. */
enum { MMA_D, MMA_A, MMA_B, MMA_C, MMA_METADATA, MMA_SELECTOR };

/* Where element i of a lane's accumulators is: row * 8 + column. */
typedef uint8_t Places[PTX_LANES][MMA_REGISTERS];

typedef struct Mma {
    MatrixForm form;
    MatrixType d, a, b, c;
    bool saturate, exclusive, sparse;
    Places c_at, d_at;
    MatrixSteps steps;
} Mma;

/* A, B and C of a warp as numbers. */
typedef struct MatrixNumbers {
    double a[MATRIX_ROWS * MMA_DEPTH], b[MMA_DEPTH * MMA_COLUMNS];
    double c[MATRIX_ROWS * MMA_COLUMNS];
    bool a_unknown[MATRIX_ROWS], b_unknown[MMA_COLUMNS], c_unknown[MATRIX_ROWS * MMA_COLUMNS];
} MatrixNumbers;

/* Nothing of A and B is not known so far; numbers that are read were set before. */
static void forget_all(MatrixNumbers *numbers) {
    memset(numbers->a_unknown, 0, sizeof numbers->a_unknown);
    memset(numbers->b_unknown, 0, sizeof numbers->b_unknown);
}

/* ---- Accumulators ---- */

typedef struct Registers {
    Lanes scratch[MMA_REGISTERS];
    const Lanes *at[MMA_REGISTERS];
    uint32_t unknown[MMA_REGISTERS];
    uint32_t count;
} Registers;

static void fetch(PtxMachine *machine, PtxGroup *group, const PtxCode *code, unsigned operand, uint32_t lanes,
                  Registers *to) {
    const PtxArgument *argument = code_argument(machine->program, code, operand);
    to->count = matrix_fetch(machine, group, argument, MMA_REGISTERS, to->scratch, to->at, to->unknown);
    for (uint32_t i = 0; i < to->count; ++i)
        to->unknown[i] |= ~lanes; /* what lanes that ended would have had */
}

/* Where the elements of accumulators are: of mma.m8n8k4 of f16, which is four MMAs of eight lanes each, and of all
 * others. */
static void place_in_quarter(MatrixType type, unsigned lane, unsigned element, unsigned *row, unsigned *column) {
    unsigned low = lane & 3, half = lane >> 4 << 2;
    *row = (type == MATRIX_F16 ? low : (low & 1) + (element & 2)) + half;
    *column = type == MATRIX_F16 ? element : (element & 4) + (low & 2) + (element & 1);
}

static void place_all(MatrixType type, bool quarters, Places places) {
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        for (unsigned i = 0; i < MMA_REGISTERS; ++i) {
            unsigned row = matrix_row(lane, i), column = matrix_column(lane, i) % MMA_COLUMNS;
            if (quarters)
                place_in_quarter(type, lane, i, &row, &column);
            places[lane][i] = (uint8_t)(row * MMA_COLUMNS + column);
        }
}

/* Lanes of one of the four MMAs of mma.m8n8k4 of f16. */
static uint32_t quarter_lanes(unsigned quarter) {
    return UINT32_C(0x000f000f) << 4 * quarter;
}

static void take_c(const Registers *from, MatrixType type, const Places places, uint32_t lanes,
                   MatrixNumbers *numbers) {
    unsigned per = type == MATRIX_F16 ? 2 : 1;
    for (uint32_t r = 0; r < from->count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            if (!(lanes >> lane & 1))
                continue;
            for (unsigned e = 0; e < per; ++e) {
                unsigned at = places[lane][r * per + e];
                numbers->c[at] = matrix_accumulator(type, from->at[r]->at[lane] >> (16 * e));
                numbers->c_unknown[at] = from->unknown[r] >> lane & 1;
            }
        }
}

/* `lanes`: that there are; `part`: whose results these are. */
static void give_d(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint32_t part,
                   const MatrixNumbers *numbers) {
    const Mma *mma = code->detail;
    const PtxArgument *d = code_argument(machine->program, code, MMA_D);
    unsigned per = mma->d == MATRIX_F16 ? 2 : 1;
    for (uint32_t r = 0; r < matrix_register_count(d); ++r) {
        Lanes values;
        uint32_t unknown = 0;
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            values.at[lane] = 0;
            if (!(part >> lane & 1))
                continue;
            for (unsigned e = 0; e < per; ++e) {
                unsigned at = mma->d_at[lane][r * per + e], row = at / MMA_COLUMNS, column = at % MMA_COLUMNS;
                bool known = !(numbers->a_unknown[row] | numbers->b_unknown[column] | numbers->c_unknown[at]);
                values.at[lane] |= matrix_result(mma->d, numbers->c[at], mma->saturate) << (16 * e);
                unknown |= (uint32_t)!known << lane;
            }
        }
        ptx_put(machine, group, matrix_register(machine->program, d, r), 0, &values, part & lanes, unknown);
    }
}

/* ---- Kinds ---- */

/* The stored half of A put where the metadata says. */
static void spread(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, const Registers *stored,
                   MatrixNumbers *numbers) {
    const Mma *mma = code->detail;
    unsigned k = mma->form.shape.k, bits = matrix_type_bits(mma->a), per = 32 / bits;
    const PtxProgram *program = machine->program;
    Lanes scratch, other;
    uint32_t unknown = 0, unknown_selector = 0;
    const Lanes *metadata =
        ptx_fetch(machine, group, code_argument(program, code, MMA_METADATA), 0, &scratch, &unknown);
    const Lanes *selectors =
        ptx_fetch(machine, group, code_argument(program, code, MMA_SELECTOR), 0, &other, &unknown_selector);
    unsigned selector = (unsigned)selectors->at[__builtin_ctz(lanes)] & 3;
    memset(numbers->a, 0, MATRIX_ROWS * k * sizeof *numbers->a);
    for (uint32_t r = 0; r < stored->count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            unsigned row = (lane >> 2) + 8 * (r & 1), column = (lane & 3) * per + (r >> 1) * 4 * per;
            numbers->a_unknown[row] |= stored->unknown[r] >> lane & 1;
            for (unsigned e = 0; e < per; ++e) {
                unsigned from = matrix_sparse_lane(mma->a, k, selector, row, column + e);
                unsigned at = matrix_sparse_k(mma->a, k, metadata, selector, row, column + e);
                numbers->a_unknown[row] |= (unknown | ~lanes) >> from & 1;
                numbers->a[row * k + at] = matrix_float(mma->a, (uint32_t)(stored->at[r]->at[lane] >> (e * bits)));
            }
        }
}

typedef double Sums[MMA_REGISTERS / 2][PTX_LANES];

/* a ^ b over bits: as numbers 1 and -1 their product is -1 where the bits differ. */
static void count_differences(const MatrixShape *shape, const MatrixFactors *factors, MatrixNumbers *numbers,
                              Sums sums) {
    Sums products = {{0}};
    for (unsigned i = 0; i < (unsigned)shape->m * shape->k; ++i)
        numbers->a[i] = 1 - 2 * numbers->a[i];
    for (unsigned i = 0; i < shape->k * MMA_COLUMNS; ++i)
        numbers->b[i] = 1 - 2 * numbers->b[i];
    matrix_multiply_fragments(shape->m, MMA_COLUMNS, factors, products);
    for (unsigned e = 0; e < shape->m / 4u; ++e)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            sums[e][lane] += (shape->k - products[e][lane]) / 2;
}

static void multiply(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Mma *mma = code->detail;
    const MatrixShape *shape = &mma->form.shape;
    Registers a, b, c;
    MatrixNumbers numbers;
    Sums sums;
    forget_all(&numbers);
    fetch(machine, group, code, MMA_A, lanes, &a);
    fetch(machine, group, code, MMA_B, lanes, &b);
    fetch(machine, group, code, MMA_C, lanes, &c);
    if (mma->sparse)
        spread(machine, group, code, lanes, &a, &numbers);
    else
        matrix_take_a((MatrixRegisters){a.at, a.unknown, a.count, mma->a}, numbers.a, numbers.a_unknown);
    matrix_take_b((MatrixRegisters){b.at, b.unknown, b.count, mma->b}, numbers.b, numbers.b_unknown);
    MatrixFactors factors = {.k = shape->k,
                             .a_row = mma->sparse ? shape->k : MATRIX_A_ROW,
                             .a_half = mma->sparse ? 8u * shape->k : mma->steps.a_half,
                             .a = numbers.a,
                             .b = numbers.b,
                             .a_at = mma->steps.a,
                             .b_at = mma->steps.b};
    for (uint32_t r = 0; r < c.count; ++r)
        matrix_read_sums(mma->c, c.at[r], sums + r * matrix_per_register(mma->c));
    if (mma->exclusive)
        count_differences(shape, &factors, &numbers, sums);
    else
        matrix_multiply_fragments(shape->m, MMA_COLUMNS, &factors, sums);
    const PtxArgument *d = code_argument(machine->program, code, MMA_D);
    bool some = memchr(numbers.a_unknown, true, MATRIX_ROWS) || memchr(numbers.b_unknown, true, MMA_COLUMNS);
    for (uint32_t r = 0; r < matrix_register_count(d); ++r) {
        Lanes values;
        uint32_t unknown = some ? matrix_unknown_sums(mma->d, r, numbers.a_unknown, numbers.b_unknown) : 0;
        matrix_write_sums(mma->d, mma->saturate, sums + r * matrix_per_register(mma->d), &values);
        for (unsigned e = 0; e < matrix_per_register(mma->d); ++e)
            unknown |= c.unknown[(r * matrix_per_register(mma->d) + e) / matrix_per_register(mma->c)];
        ptx_put(machine, group, matrix_register(machine->program, d, r), 0, &values, lanes, unknown);
    }
}

static void multiply_f64(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Mma *mma = code->detail;
    const MatrixShape *shape = &mma->form.shape;
    double a[MATRIX_ROWS * MMA_DEPTH_F64], b[MMA_DEPTH_F64 * MMA_COLUMNS];
    Registers from_a, from_b, from_c;
    MatrixNumbers numbers;
    forget_all(&numbers);
    fetch(machine, group, code, MMA_A, lanes, &from_a);
    fetch(machine, group, code, MMA_B, lanes, &from_b);
    fetch(machine, group, code, MMA_C, lanes, &from_c);
    for (uint32_t r = 0; r < from_a.count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            unsigned rows = shape->m / 8, row = (lane >> 2) + 8 * (r % rows), column = (lane & 3) + 4 * (r / rows);
            a[row * shape->k + column] = matrix_accumulator(MATRIX_F64, from_a.at[r]->at[lane]);
            numbers.a_unknown[row] |= from_a.unknown[r] >> lane & 1;
        }
    for (uint32_t r = 0; r < from_b.count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
            b[((lane & 3) + 4 * r) * MMA_COLUMNS + (lane >> 2)] =
                matrix_accumulator(MATRIX_F64, from_b.at[r]->at[lane]);
            numbers.b_unknown[lane >> 2] |= from_b.unknown[r] >> lane & 1;
        }
    take_c(&from_c, MATRIX_F64, mma->c_at, UINT32_MAX, &numbers);
    matrix_multiply_f64(shape->m, MMA_COLUMNS, shape->k, a, b, numbers.c);
    give_d(machine, group, code, lanes, UINT32_MAX, &numbers);
}

/* Of A: rows, of B: columns; that lane `lane`'s i-th element is in, and its k. With `across` a lane has one k. */
static void quarter_operand(const Registers *from, unsigned quarter, bool across, bool is_a, MatrixNumbers *numbers) {
    for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
        if ((lane >> 2 & 3) != quarter)
            continue;
        for (unsigned i = 0; i < 4; ++i) {
            unsigned low = lane & 3, half = lane >> 4 << 2;
            unsigned line = (across ? i : low) + half, k = across ? low : i;
            uint32_t bits = (uint32_t)(from->at[i / 2]->at[lane] >> (16 * (i & 1)));
            bool unknown = from->unknown[i / 2] >> lane & 1;
            if (is_a)
                numbers->a[line * 4 + k] = matrix_float(MATRIX_F16, bits);
            else
                numbers->b[k * MMA_COLUMNS + line] = matrix_float(MATRIX_F16, bits);
            (is_a ? numbers->a_unknown : numbers->b_unknown)[line] |= unknown;
        }
    }
}

static void multiply_quarters(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Mma *mma = code->detail;
    Registers a, b, c;
    fetch(machine, group, code, MMA_A, lanes, &a);
    fetch(machine, group, code, MMA_B, lanes, &b);
    fetch(machine, group, code, MMA_C, lanes, &c);
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
        MatrixNumbers numbers;
        forget_all(&numbers);
        quarter_operand(&a, quarter, mma->form.column[0], true, &numbers);
        quarter_operand(&b, quarter, !mma->form.column[1], false, &numbers);
        take_c(&c, mma->c, mma->c_at, quarter_lanes(quarter), &numbers);
        matrix_multiply(8, MMA_COLUMNS, &(MatrixFactors){.k = 4, .a_row = 4, .a = numbers.a, .b = numbers.b},
                        numbers.c);
        give_d(machine, group, code, lanes, quarter_lanes(quarter), &numbers);
    }
}

static PtxStep run_mma(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Mma *mma = code->detail;
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    if (!matrix_computes(machine, code))
        matrix_forget(machine, group, code_argument(machine->program, code, MMA_D), lanes);
    else if (mma->a == MATRIX_F64)
        multiply_f64(machine, group, code, lanes);
    else if (mma->form.shape.k == 4 && mma->a == MATRIX_F16)
        multiply_quarters(machine, group, code, lanes);
    else
        multiply(machine, group, code, lanes);
    return PTX_STEP_NEXT;
}

/* Scaled blocks, and elements of less than 8 bits that stand apart in a byte each. */
static PtxStep run_scaled(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    if (machine->results)
        return ptx_stop(machine, code, "MMAs of scaled blocks are not computed");
    matrix_forget(machine, group, code_argument(machine->program, code, MMA_D), lanes);
    return PTX_STEP_NEXT;
}

/* Whether the vectors are as long as the fragments that are read of them. */
static bool has_registers(const PtxProgram *program, const PtxCode *code, const Mma *mma) {
    const MatrixShape *shape = &mma->form.shape;
    bool quarters = shape->k == 4 && mma->a == MATRIX_F16;
    unsigned word = mma->a == MATRIX_F64 ? 64 : 32, times = quarters ? 4 : 1;
    unsigned bits[] = {matrix_type_bits(mma->d) * shape->m * shape->n,
                       matrix_type_bits(mma->a) * shape->m * shape->k / (mma->sparse ? 2 : 1),
                       matrix_type_bits(mma->b) * shape->k * shape->n, matrix_type_bits(mma->c) * shape->m * shape->n};
    for (unsigned i = MMA_D; i <= MMA_C; ++i) {
        uint32_t count = matrix_register_count(code_argument(program, code, i));
        if (count > MMA_REGISTERS || count * word * PTX_LANES != bits[i] * times)
            return false;
    }
    return shape->m <= MATRIX_ROWS && shape->n == MMA_COLUMNS && shape->k <= MMA_DEPTH;
}

bool mma_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator != PTX_EVALUATE_MMA || code->count < 4)
        return false;
    Mma mma = {.saturate = code_has(code, STR("satfinite")),
               .exclusive = code_has(code, STR("xor")),
               .sparse = code_has(code, STR("sp")) || code_has(code, STR("sp::ordered_metadata"))};
    matrix_form(code->form, &mma.form);
    if (mma.form.type_count != 4)
        return false;
    mma.d = mma.form.types[0], mma.a = mma.form.types[1], mma.b = mma.form.types[2], mma.c = mma.form.types[3];
    bool scaled = code_has(code, STR("block_scale")), quarters = mma.form.shape.k == 4 && mma.a == MATRIX_F16;
    place_all(mma.c, quarters, mma.c_at);
    place_all(mma.d, quarters, mma.d_at);
    if (mma.form.shape.k <= MATRIX_SUM_DEPTH && matrix_type_bits(mma.a) <= 32)
        matrix_steps(mma.a, mma.form.shape.k, &mma.steps);
    for (unsigned k = 0; mma.sparse && k < MATRIX_SUM_DEPTH; ++k)
        mma.steps.a[k] = (uint16_t)k; /* spread() */
    if (scaled || matrix_type_bits(mma.a) == 6 || matrix_type_bits(mma.b) == 6 || mma.a == MATRIX_E2M1 ||
        mma.b == MATRIX_E2M1)
        take_code(about, code, run_scaled, &mma, sizeof mma);
    else if (has_registers(about->program, code, &mma) && (!mma.sparse || code->count == 6))
        take_code(about, code, run_mma, &mma, sizeof mma);
    else
        return false;
    code->visible = false;
    return true;
}

/* ---- movmatrix ---- */

static PtxStep run_transpose(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    Lanes scratch, values = {0};
    uint32_t from = ~lanes, unknown = 0;
    const Lanes *a = ptx_fetch(machine, group, code_argument(machine->program, code, 1), 0, &scratch, &from);
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        for (unsigned e = 0; e < 2; ++e) {
            unsigned row = (lane & 3) * 2 + e, column = lane >> 2, other = row * 4 + column / 2;
            values.at[lane] |= (a->at[other] >> (16 * (column & 1)) & 0xffff) << (16 * e);
            unknown |= (from >> other & 1) << lane;
        }
    ptx_put(machine, group, code_argument(machine->program, code, 0), 0, &values, lanes, unknown);
    return PTX_STEP_NEXT;
}

bool matrix_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator == PTX_EVALUATE_TRANSPOSE) {
        take_code(about, code, run_transpose, NULL, 0);
        code->visible = false;
        return true;
    }
    return mma_prepare(about, code) || rows_prepare(about, code) || wmma_prepare(about, code) ||
           wgmma_prepare(about, code);
}
