/* wgmma.mma_async: MMAs of four warps whose B, and A if it is not in registers, the tensor cores read from shared
 * memory, through the async proxy, while the threads go on.
 *
 * Each warp of the four has 16 of the 64 rows of D. What a warp issues is its own part: it reads its rows of A
 * and all of B. Parts of one warp are done in the order in which they were issued. A is taken from registers when it is
 * issued, D is read and written when it lands; until then its registers are unknown. */
#include "machine/simt/core/internal.h"
#include "machine/simt/mma/matrix_descriptor.h"
#include "machine/simt/mma/matrix_fragments.h"
#include "machine/simt/mma/matrix_state.h"

enum {
    WGMMA_D,
    WGMMA_A,
    WGMMA_B,
    WGMMA_MORE, /* operands: sparse: metadata, selector; then scale-d, and numbers */
    WGMMA_A_REGISTERS = 4,
    WGMMA_D_REGISTERS = 128,
    WGMMA_BLOCK = 64, /* k that are worked on at once */
};

typedef struct Wgmma {
    MatrixShape shape;
    MatrixType d, a, b;
    bool sparse, from_registers, saturate;
    bool across_a, across_b, negative;
    uint8_t scaled;    /* operand */
    uint16_t stored;   /* k of A that are stored */
    uint16_t d_count;  /* registers */
    MatrixSteps steps; /* of A in registers; B's stand behind each other */
} Wgmma;

/* A warp's part that is in flight. */
typedef struct WarpMma {
    struct WarpMma *older, *next; /* next: the one behind it in the same accumulators */
    const PtxCode *code;
    PtxFrame *frame;
    uint32_t sequence;
    bool accumulates, accumulates_unknown;
    uint32_t lanes;
    MatrixTile a_tile, b_tile;
    Lanes a[WGMMA_A_REGISTERS], metadata;
    uint32_t a_unknown[WGMMA_A_REGISTERS], metadata_unknown;
    unsigned selector;
    uint32_t unknown[WGMMA_D_REGISTERS]; /* lanes of D before it that are not known */
} WarpMma;

/* ---- Landing ---- */

typedef struct MatrixWgmmaWork {
    double a[MATRIX_ROWS * MATRIX_DEPTH], b[WGMMA_BLOCK * MATRIX_COLUMNS];
    double d[MATRIX_COLUMNS / 2][PTX_LANES]; /* elements of each lane */
    bool a_unknown[MATRIX_ROWS], b_unknown[MATRIX_COLUMNS];
} MatrixWgmmaWork;

/* The stored A of the warp, as it comes from registers, or [16][stored]. */
static void take_stored(PtxMachine *machine, const PtxOutstanding *outstanding, double *to, bool *unknown) {
    const WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    if (!wgmma->from_registers) {
        MatrixTake take = {.to = to, .k_count = wgmma->stored, .unknown = unknown};
        matrix_take(machine, &outstanding->warp->cta->shared, &part->a_tile, &take);
        return;
    }
    const Lanes *registers[WGMMA_A_REGISTERS];
    for (unsigned r = 0; r < WGMMA_A_REGISTERS; ++r)
        registers[r] = &part->a[r];
    matrix_take_a((MatrixRegisters){registers, part->a_unknown, WGMMA_A_REGISTERS, wgmma->a}, to, unknown);
}

/* A sparse A: [16][k]. */
static void spread(const PtxOutstanding *outstanding, const double *stored, MatrixWgmmaWork *work) {
    const WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    memset(work->a, 0, MATRIX_ROWS * wgmma->shape.k * sizeof *work->a);
    for (unsigned row = 0; row < MATRIX_ROWS; ++row)
        for (unsigned column = 0; column < wgmma->stored; ++column) {
            unsigned from = matrix_sparse_lane(wgmma->a, wgmma->shape.k, part->selector, row, column);
            unsigned k = matrix_sparse_k(wgmma->a, wgmma->shape.k, &part->metadata, part->selector, row, column);
            unsigned at = wgmma->from_registers
                              ? row % 8 * MATRIX_A_ROW + row / 8 * wgmma->steps.a_half + wgmma->steps.a[column]
                              : row * wgmma->stored + column;
            work->a_unknown[row] |= part->metadata_unknown >> from & 1;
            work->a[row * wgmma->shape.k + k] = stored[at];
        }
}

static void take_a(PtxMachine *machine, const PtxOutstanding *outstanding, MatrixWgmmaWork *work) {
    const Wgmma *wgmma = outstanding->code->detail;
    double stored[MATRIX_ROWS * MATRIX_DEPTH / 2];
    take_stored(machine, outstanding, wgmma->sparse ? stored : work->a, work->a_unknown);
    if (wgmma->sparse)
        spread(outstanding, stored, work);
    for (unsigned i = 0; wgmma->negative && i < MATRIX_ROWS * wgmma->shape.k; ++i)
        work->a[i] = -work->a[i];
}

static void multiply(PtxMachine *machine, const PtxOutstanding *outstanding, MatrixWgmmaWork *work) {
    const WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    unsigned k = wgmma->shape.k;
    bool direct = wgmma->from_registers && !wgmma->sparse;
    take_a(machine, outstanding, work);
    for (unsigned first = 0; first < k; first += WGMMA_BLOCK) {
        MatrixTake take = {.to = work->b,
                           .order = ORDER_FRAGMENTS,
                           .k_first = first,
                           .k_count = k - first < WGMMA_BLOCK ? k - first : WGMMA_BLOCK,
                           .unknown = work->b_unknown};
        MatrixFactors factors = {.k = take.k_count,
                                 .a_row = direct ? MATRIX_A_ROW : k,
                                 .a_half = direct ? wgmma->steps.a_half : 8 * k,
                                 .a = work->a + (direct ? 0 : first),
                                 .b = work->b,
                                 .a_at = direct ? wgmma->steps.a + first : NULL,
                                 .b_at = direct ? wgmma->steps.b : NULL};
        matrix_take(machine, &outstanding->warp->cta->shared, &part->b_tile, &take);
        matrix_multiply_fragments(MATRIX_ROWS, wgmma->shape.n, &factors, work->d);
    }
}

static void read_d(PtxMachine *machine, const PtxOutstanding *outstanding, MatrixWgmmaWork *work) {
    const WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    const PtxArgument *d = code_argument(machine->program, outstanding->code, WGMMA_D);
    for (unsigned r = 0; r < wgmma->d_count; ++r)
        matrix_read_sums(wgmma->d, &part->frame->rows[matrix_register(machine->program, d, r)->slot],
                         work->d + r * matrix_per_register(wgmma->d));
}

static void give_register(const Wgmma *wgmma, MatrixWgmmaWork *work, unsigned index, uint32_t lanes, Lanes *row) {
    Lanes values;
    matrix_write_sums(wgmma->d, wgmma->saturate, work->d + index * matrix_per_register(wgmma->d),
                      lanes == UINT32_MAX ? row : &values);
    for (uint32_t left = lanes == UINT32_MAX ? 0 : lanes; left; left &= left - 1)
        row->at[__builtin_ctz(left)] = values.at[__builtin_ctz(left)];
}

/* What is not known of it is the next part's to know, if there is one: then the registers are still in flight. */
static void write_d(PtxMachine *machine, const PtxOutstanding *outstanding, MatrixWgmmaWork *work) {
    WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    const PtxArgument *d = code_argument(machine->program, outstanding->code, WGMMA_D);
    bool all = !work || (!memchr(work->a_unknown, true, MATRIX_ROWS) && !memchr(work->b_unknown, true, wgmma->shape.n));
    for (unsigned r = 0; r < wgmma->d_count; ++r) {
        uint32_t slot = matrix_register(machine->program, d, r)->slot;
        uint32_t unknown = part->accumulates_unknown ? UINT32_MAX : part->accumulates ? part->unknown[r] : 0;
        if (work)
            give_register(wgmma, work, r, part->lanes, &part->frame->rows[slot]);
        unknown |= all ? 0 : matrix_unknown_sums(wgmma->d, r, work->a_unknown, work->b_unknown);
        unknown = work ? unknown | ~part->lanes : UINT32_MAX;
        if (part->next)
            part->next->unknown[r] = unknown;
        else
            part->frame->row_unknown[slot] = unknown;
    }
}

static void land(PtxMachine *machine, PtxOutstanding *outstanding) {
    WarpMma *part = outstanding->detail;
    const Wgmma *wgmma = outstanding->code->detail;
    bool there =
        wgmma->from_registers || matrix_emit(machine, outstanding, &outstanding->warp->cta->shared, &part->a_tile);
    if (there && matrix_emit(machine, outstanding, &outstanding->warp->cta->shared, &part->b_tile)) {
        MatrixWgmmaWork work;
        bool computes = matrix_computes(machine, outstanding->code);
        memset(work.a_unknown, 0, sizeof work.a_unknown);
        memset(work.b_unknown, 0, sizeof work.b_unknown);
        if (computes && part->accumulates)
            read_d(machine, outstanding, &work);
        else if (computes)
            memset(work.d, 0, wgmma->shape.n / 2u * sizeof *work.d);
        if (computes)
            multiply(machine, outstanding, &work);
        if (!machine->plays)
            write_d(machine, outstanding, computes ? &work : NULL);
    }
    WarpMatrix *warp = &cta_matrix(machine, outstanding->warp->cta)->warps[outstanding->warp->index];
    for (WarpMma **at = &warp->newest; *at; at = &(*at)->older)
        if (*at == part) {
            *at = part->older;
            break;
        }
    release_frame(machine, part->frame);
    pool_give(machine, part, sizeof *part);
}

/* ---- Issuing ---- */

/* Whether the accumulators of another part are the same, or have some of them. */
static bool same_accumulators(const PtxMachine *machine, const WarpMma *part, const WarpMma *other, bool *some) {
    const PtxArgument *mine = code_argument(machine->program, part->code, WGMMA_D);
    const PtxArgument *theirs = code_argument(machine->program, other->code, WGMMA_D);
    uint32_t my_count = matrix_register_count(mine), their_count = matrix_register_count(theirs);
    bool same = my_count == their_count;
    *some = false;
    for (uint32_t i = 0; part->frame == other->frame && i < my_count; ++i)
        for (uint32_t j = 0; j < their_count; ++j) {
            bool equal =
                matrix_register(machine->program, mine, i)->slot == matrix_register(machine->program, theirs, j)->slot;
            *some |= equal;
            same &= equal == (i == j);
        }
    return same && *some;
}

/* What is known of its accumulators, which are unknown from now on until it completes. */
static void claim_d(PtxMachine *machine, WarpMatrix *warp, WarpMma *part) {
    const PtxArgument *d = code_argument(machine->program, part->code, WGMMA_D);
    uint32_t count = matrix_register_count(d);
    bool some = false, follows = false;
    if (machine->plays) /* they are not known, and nothing lands in them */
        return;
    for (WarpMma *other = warp->newest; other && !some; other = other->older)
        if ((follows = same_accumulators(machine, part, other, &some)))
            other->next = part;
    for (uint32_t r = 0; r < count; ++r) {
        uint32_t *unknown = &part->frame->row_unknown[matrix_register(machine->program, d, r)->slot];
        /* Accumulators that it shares with another in part: nothing says in which order that is. */
        part->unknown[r] = some && !follows ? UINT32_MAX : *unknown;
        *unknown = UINT32_MAX;
    }
}

static bool fetch_descriptor(PtxMachine *machine, PtxGroup *group, const PtxCode *code, unsigned operand,
                             uint32_t lanes, MatrixTile *tile, PtxStep *step) {
    uint64_t bits;
    const PtxArgument *argument = code_argument(machine->program, code, operand);
    if (!fetch_uniform(machine, group, code, argument, lanes, &bits, step))
        return false;
    tile->descriptor = matrix_descriptor(bits);
    return true;
}

/* Operands that are registers, as they are now. */
static bool fetch_operands(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, WarpMma *part,
                           PtxStep *step) {
    const Wgmma *wgmma = code->detail;
    const PtxProgram *program = machine->program;
    const PtxArgument *a = code_argument(program, code, WGMMA_A);
    part->a_tile = (MatrixTile){.across = wgmma->across_a,
                                .type = wgmma->a,
                                .first = (uint16_t)(group->warp->index % 4 * MATRIX_ROWS),
                                .lines = MATRIX_ROWS,
                                .k = wgmma->stored};
    part->b_tile =
        (MatrixTile){.across = wgmma->across_b, .type = wgmma->b, .lines = wgmma->shape.n, .k = wgmma->shape.k};
    if (!fetch_descriptor(machine, group, code, WGMMA_B, lanes, &part->b_tile, step) ||
        (!wgmma->from_registers && !fetch_descriptor(machine, group, code, WGMMA_A, lanes, &part->a_tile, step)))
        return false;
    for (uint32_t r = 0; wgmma->from_registers && r < WGMMA_A_REGISTERS; ++r) {
        part->a_unknown[r] = ~lanes;
        part->a[r] = *ptx_fetch(machine, group, matrix_register(program, a, r), 0, &part->a[r], &part->a_unknown[r]);
    }
    if (!wgmma->sparse)
        return true;
    uint64_t selector;
    part->metadata_unknown = ~lanes;
    part->metadata = *ptx_fetch(machine, group, code_argument(program, code, WGMMA_MORE), 0, &part->metadata,
                                &part->metadata_unknown);
    if (!fetch_uniform(machine, group, code, code_argument(program, code, WGMMA_MORE + 1), lanes, &selector, step))
        return false;
    part->selector = (unsigned)selector & 3;
    return true;
}

static void fetch_scaled(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, WarpMma *part) {
    const Wgmma *wgmma = code->detail;
    const PtxArgument *argument = code_argument(machine->program, code, wgmma->scaled);
    uint32_t unknown = 0, mask;
    if (argument->kind == ARGUMENT_PREDICATE)
        mask = ptx_fetch_mask(machine, group, argument, &unknown);
    else {
        Lanes scratch;
        mask = ptx_fetch(machine, group, argument, 0, &scratch, &unknown)->at[0] ? UINT32_MAX : 0;
    }
    part->accumulates = mask & lanes;
    part->accumulates_unknown = unknown & lanes || ((mask & lanes) && (~mask & lanes));
}

static PtxStep run_wgmma(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxStep step = PTX_STEP_NEXT;
    PtxWarp *warp = group->warp;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    if ((warp->index | 3) >= warp->cta->warp_count)
        return fault_with(machine, RULE_THREADS_DIVERGENT_WARP, code, warp, lanes, 0, 0,
                          machine_sentence(machine, "it is run by a warpgroup of %u warps, and takes four",
                                           warp->cta->warp_count % 4));
    WarpMatrix *mine = &cta_matrix(machine, warp->cta)->warps[warp->index];
    WarpMma *part = pool_take(machine, sizeof *part);
    memset(part, 0, sizeof *part);
    part->code = code;
    part->frame = group->frame;
    part->lanes = lanes;
    if (!fetch_operands(machine, group, code, lanes, part, &step)) {
        pool_give(machine, part, sizeof *part);
        return step;
    }
    fetch_scaled(machine, group, code, lanes, part);
    claim_d(machine, mine, part);
    part->frame->users++;
    part->sequence = machine->next_sequence + 1;
    PtxOutstanding outstanding = {.code = code,
                                  .warp = warp,
                                  .lane = (uint32_t)__builtin_ctz(lanes),
                                  .group = GROUP_WGMMA,
                                  .land = land,
                                  .detail = part,
                                  .after = mine->newest ? mine->newest->sequence : 0};
    part->older = mine->newest;
    mine->newest = part;
    return ptx_fly(machine, &outstanding) ? PTX_STEP_NEXT : PTX_STEP_FAULT;
}

/* The number that an operand is; 0: it is none. */
static int64_t number_of(const PtxProgram *program, const PtxCode *code, uint32_t operand) {
    if (operand >= code->count)
        return 0;
    const PtxArgument *argument = code_argument(program, code, operand);
    return argument->kind == ARGUMENT_CONSTANT ? (int32_t)program->constants[argument->slot].at[0] : 0;
}

static bool has_registers(const PtxProgram *program, const PtxCode *code, const Wgmma *wgmma) {
    const PtxArgument *d = code_argument(program, code, WGMMA_D), *a = code_argument(program, code, WGMMA_A);
    unsigned per = wgmma->d == MATRIX_F16 ? 2 : 1;
    if (matrix_register_count(d) * per != wgmma->shape.n / 2u || wgmma->d_count > WGMMA_D_REGISTERS)
        return false;
    for (uint32_t r = 0; r < wgmma->d_count; ++r)
        if (matrix_register(program, d, r)->kind != ARGUMENT_ROW)
            return false;
    return !wgmma->from_registers || matrix_register_count(a) == WGMMA_A_REGISTERS;
}

/* wgmma.fence: of registers alone, and what is in flight takes its own when it is issued or lands. */
static PtxStep run_fence(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxStep step = PTX_STEP_NEXT;
    runs_together(machine, group, code, lanes, &step);
    return step;
}

bool wgmma_prepare(const PtxPrepare *about, PtxCode *code) {
    MatrixForm form;
    if (effect_with(about, EFFECT_FENCE_REGISTERS))
        return take_code(about, code, run_fence, NULL, 0);
    if (about->evaluator != PTX_EVALUATE_WGMMA || code->count < WGMMA_MORE + 1)
        return false;
    matrix_form(code->form, &form);
    const PtxProgram *program = about->program;
    Wgmma wgmma = {.shape = form.shape,
                   .d = form.types[0],
                   .a = form.types[1],
                   .b = form.types[2],
                   .sparse = code_has(code, STR("sp")),
                   .from_registers = code_argument(program, code, WGMMA_A)->kind == ARGUMENT_MEMBERS,
                   .saturate = code_has(code, STR("satfinite")),
                   .d_count = (uint16_t)matrix_register_count(code_argument(program, code, WGMMA_D))};
    wgmma.scaled = wgmma.sparse ? WGMMA_MORE + 2 : WGMMA_MORE;
    uint32_t next = wgmma.scaled + 1u;
    bool integer = matrix_type_is_integer(wgmma.d);
    if (form.type_count != 3 || form.shape.m != 4 * MATRIX_ROWS || form.shape.n > MATRIX_COLUMNS || form.shape.n % 8 ||
        form.shape.k > MATRIX_DEPTH || wgmma.scaled >= code->count || !has_registers(program, code, &wgmma))
        return false;
    wgmma.stored = form.shape.k / (wgmma.sparse ? 2 : 1);
    matrix_steps(wgmma.a, wgmma.stored, &wgmma.steps);
    for (unsigned k = 0; k < MATRIX_SUM_DEPTH; ++k)
        wgmma.steps.b[k] = (uint16_t)(8 * k);
    if (!integer) {
        wgmma.negative = number_of(program, code, next) * number_of(program, code, next + 1) < 0;
        wgmma.across_a = !wgmma.from_registers && number_of(program, code, next + 2) == 1;
        wgmma.across_b = number_of(program, code, next + (wgmma.from_registers ? 2 : 3)) == 1;
    }
    return take_code(about, code, run_wgmma, &wgmma, sizeof wgmma);
}
