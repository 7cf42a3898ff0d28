/* tcgen05.mma: one thread has the tensor cores multiply matrices of shared memory (A also of tensor memory) into tensor
 * memory. With cta_group::2 two CTAs do it together: each has half of the rows of A and D, and half of the columns of B
 * in its own memory.
 *
 * What is read and written is told of all forms. What comes out is computed of those whose layouts are documented in
 * words; the others (scaled blocks of a pair of CTAs, A of less than 8 bits in tensor memory, .ashift) are not known
 * it. Sparse ones, and masks of columns, are not taken. */
#include "machine/simt/mma/matrix_descriptor.h"
#include "machine/simt/mma/matrix_fragments.h"
#include "machine/simt/mma/tensor.h"

#include <math.h>

enum {
    MMA_D,
    MMA_A,
    MMA_B,
    MMA_IDESC,
    MMA_MORE, /* operands */
    MMA_ROWS = 128,
    MMA_COLUMNS = 256,
    MMA_DEPTH = 64,
    MMA_CTAS = 2,
    MMA_BLOCK = 4,
};

typedef enum MmaKind { KIND_F16, KIND_TF32, KIND_F8F6F4, KIND_I8, KIND_MXF8F6F4, KIND_MXF4, MMA_KINDS } MmaKind;

typedef struct TensorMma {
    MmaKind kind;
    bool pair, stationary; /* stationary: .ws */
    bool scaled, from_tensor, shifts;
    uint8_t scales;           /* scale factors along k */
    uint8_t enable, disabled; /* operands; disabled: lanes of D that stay as they are; 0: none */
    uint8_t scale_a, scale_b; /* operands; 0: none */
    uint8_t shrinks;          /* operand: D is divided by 2 to the power of it; 0: none */
} TensorMma;

/* One that is in flight. */
typedef struct OutstandingMma {
    uint16_t m, n, k; /* m: rows of one CTA */
    MatrixType a, b, d;
    bool negative, saturate, across_a, across_b;
    bool accumulates, unknown; /* unknown: whether it accumulates is not known */
    bool ue8m0;
    uint8_t scale_a_id, scale_b_id;
    TensorPlace d_place, a_place, scale_a_place, scale_b_place;
    MatrixDescriptor a_descriptor, b_descriptor;
    double factor;                   /* of D */
    uint32_t disabled[MMA_CTAS * 4]; /* lanes */
} OutstandingMma;

/* ---- Where D is ---- */

typedef enum TensorMmaLayout { LAYOUT_ROWS, LAYOUT_HALF, LAYOUT_TWO, LAYOUT_FOUR } TensorMmaLayout;

/* A lane for each row; 16 of each 32 lanes; two halves of the columns beside each other; four quarters. */
static TensorMmaLayout layout_of(const TensorMma *mma, const OutstandingMma *outstanding) {
    if (outstanding->m == 128)
        return LAYOUT_ROWS;
    if (outstanding->m == 32)
        return LAYOUT_FOUR;
    return mma->pair || mma->stationary ? LAYOUT_TWO : LAYOUT_HALF;
}

/* Columns of a row of D that stand behind each other in a lane. */
static unsigned d_columns(const TensorMma *mma, const OutstandingMma *outstanding) {
    TensorMmaLayout layout = layout_of(mma, outstanding);
    return outstanding->n / (layout == LAYOUT_FOUR ? 4u : layout == LAYOUT_TWO ? 2u : 1u);
}

/* The lane of a row's part of that many columns. */
static uint32_t d_lane(const TensorMma *mma, const OutstandingMma *outstanding, unsigned row, unsigned part) {
    TensorMmaLayout layout = layout_of(mma, outstanding);
    if (layout == LAYOUT_HALF)
        row = row % 16 + 32 * (row / 16);
    return (outstanding->d_place.lane + row + (layout == LAYOUT_FOUR ? 32u : 64u) * part) % TENSOR_LANES;
}

static TensorArea d_area(const TensorMma *mma, const OutstandingMma *outstanding, unsigned cta) {
    TensorMmaLayout layout = layout_of(mma, outstanding);
    TensorArea area = {.column = outstanding->d_place.column, .columns = d_columns(mma, outstanding)};
    for (uint32_t lane = 0; lane < TENSOR_LANES; ++lane) {
        bool used = layout != LAYOUT_HALF || (lane & 16) == (outstanding->d_place.lane & 16);
        if (used && !(outstanding->disabled[4 * cta + lane / 32] >> lane % 32 & 1))
            area.lanes[area.lane_count++] = lane;
    }
    return area;
}

/* ---- What it reads ---- */

typedef struct TensorMmaWork {
    double a[MMA_ROWS * MMA_DEPTH], b[MMA_DEPTH * MMA_COLUMNS];
    double c[MMA_BLOCK * MMA_COLUMNS]; /* of some rows at once */
    bool a_unknown[MMA_ROWS], b_unknown[MMA_COLUMNS];
} TensorMmaWork;

static MatrixTile a_tile(const TensorMma *mma, const OutstandingMma *outstanding) {
    return (MatrixTile){.descriptor = outstanding->a_descriptor,
                        .across = outstanding->across_a,
                        .type = outstanding->a,
                        .tight = mma->kind == KIND_MXF4,
                        .lines = outstanding->m,
                        .k = outstanding->k};
}

static MatrixTile b_tile(const TensorMma *mma, const OutstandingMma *outstanding) {
    return (MatrixTile){.descriptor = outstanding->b_descriptor,
                        .across = outstanding->across_b,
                        .type = outstanding->b,
                        .tight = mma->kind == KIND_MXF4,
                        .lines = (uint16_t)(outstanding->n / (mma->pair ? 2 : 1)),
                        .k = outstanding->k};
}

/* Columns of A in tensor memory: 32 bits of k each. */
static uint32_t a_columns(const TensorMma *mma, const OutstandingMma *outstanding) {
    unsigned bits = matrix_type_bits(outstanding->a);
    return outstanding->k * (bits < 8 && mma->kind != KIND_MXF4 ? 8u : bits) / 32u;
}

static bool report_area(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, AccessKind kind,
                        const TensorArea *area) {
    TensorMemory *memory = tensor_memory(machine, cta);
    if (!tensor_check(machine, outstanding->code, outstanding->warp, UINT32_C(1) << outstanding->lane, memory, area))
        return false;
    tensor_emit(machine, outstanding, kind, memory, area);
    return true;
}

/* Scale factors: of row (or column) i, lane i % 32 of each quarter, column i / 32. */
static bool report_scales(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, TensorPlace place,
                          unsigned lines) {
    TensorArea area = {.lane_count = TENSOR_LANES, .column = place.column, .columns = (lines + 31) / 32};
    for (uint32_t i = 0; i < TENSOR_LANES; ++i)
        area.lanes[i] = i;
    return report_area(machine, outstanding, cta, KIND_READ, &area);
}

static bool report_all(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, unsigned rank) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    MatrixTile a = a_tile(mma, made), b = b_tile(mma, made);
    if (mma->from_tensor) {
        TensorArea area = {.column = made->a_place.column, .columns = a_columns(mma, made)};
        for (uint32_t lane = 0; lane < TENSOR_LANES; ++lane)
            if (layout_of(mma, made) != LAYOUT_HALF || (lane & 16) == (made->a_place.lane & 16))
                area.lanes[area.lane_count++] = lane;
        if (!report_area(machine, outstanding, cta, KIND_READ, &area))
            return false;
    } else if (!matrix_emit(machine, outstanding, &cta->shared, &a))
        return false;
    if (mma->scaled && (!report_scales(machine, outstanding, cta, made->scale_a_place, made->m) ||
                        !report_scales(machine, outstanding, cta, made->scale_b_place, made->n)))
        return false;
    TensorArea d = d_area(mma, made, rank);
    return matrix_emit(machine, outstanding, &cta->shared, &b) &&
           report_area(machine, outstanding, cta, made->accumulates || made->unknown ? KIND_UPDATE : KIND_WRITE, &d);
}

/* ---- What comes out ---- */

static void take_a(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, TensorMmaWork *work) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    if (!mma->from_tensor) {
        MatrixTile tile = a_tile(mma, made);
        matrix_take(machine, &cta->shared, &tile,
                    &(MatrixTake){.to = work->a, .k_count = made->k, .unknown = work->a_unknown});
        return;
    }
    const TensorMemory *memory = tensor_memory(machine, cta);
    MatrixDecoder decoder = matrix_decoder(made->a);
    unsigned per = 32 / decoder.bits;
    bool half = layout_of(mma, made) == LAYOUT_HALF;
    for (unsigned row = 0; row < made->m; ++row) {
        unsigned lane = (made->a_place.lane + (half ? row % 16 + 32 * (row / 16) : row)) % TENSOR_LANES;
        uint32_t elements[MMA_DEPTH];
        for (unsigned k = 0; k < made->k; k += per) {
            bool known = true;
            uint32_t word = tensor_word(memory, lane, made->a_place.column + k / per, &known);
            for (unsigned e = 0; e < per; ++e)
                elements[k + e] = word >> (e * decoder.bits);
            work->a_unknown[row] |= !known;
        }
        matrix_decode(&decoder, elements, made->k, work->a + row * made->k);
    }
}

static void take_b(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *const ctas[MMA_CTAS],
                   TensorMmaWork *work) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    MatrixTile tile = b_tile(mma, made);
    for (unsigned i = 0; i < (mma->pair ? MMA_CTAS : 1u); ++i)
        matrix_take(machine, &ctas[i]->shared, &tile,
                    &(MatrixTake){.to = work->b + i * tile.lines * made->k,
                                  .order = ORDER_COLUMNS,
                                  .k_count = made->k,
                                  .unknown = work->b_unknown + i * tile.lines});
}

static void apply_scales(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, TensorMmaWork *work) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    const TensorMemory *memory = tensor_memory(machine, cta);
    unsigned block = made->k / mma->scales;
    for (unsigned side = 0; side < 2; ++side) {
        TensorPlace place = side ? made->scale_b_place : made->scale_a_place;
        unsigned id = side ? made->scale_b_id : made->scale_a_id, lines = side ? made->n : made->m;
        for (unsigned i = 0; i < lines; ++i) {
            bool known = true;
            uint32_t word = tensor_word(memory, i % 32, place.column + i / 32, &known);
            for (unsigned k = 0; k < made->k; ++k) {
                float scale = matrix_scale(made->ue8m0, (uint8_t)(word >> 8 * ((id + k / block) & 3)));
                double *at = side ? &work->b[(i / 8 * made->k + k) * 8 + i % 8] : &work->a[i * made->k + k];
                *at = (double)((float)*at * scale);
            }
            (side ? work->b_unknown : work->a_unknown)[i] |= !known;
        }
    }
}

/* Some words of a lane that stand behind each other. */
typedef struct TensorWords {
    uint8_t *bytes, *states;
    unsigned count;
} TensorWords;

static TensorWords d_words(TensorMemory *memory, const TensorMma *mma, const OutstandingMma *made, unsigned row,
                           unsigned part) {
    uint32_t at = tensor_offset(d_lane(mma, made, row, part), made->d_place.column);
    return (TensorWords){memory->block.bytes + at, memory->block.states + at, d_columns(mma, made)};
}

static void read_words(const OutstandingMma *made, TensorWords words, double *to) {
    if (made->d == MATRIX_F32)
        matrix_widen_words(words.bytes, words.count, to);
    for (unsigned i = 0; made->d != MATRIX_F32 && i < words.count; ++i) {
        uint32_t word;
        memcpy(&word, words.bytes + 4 * i, sizeof word);
        to[i] = matrix_accumulator(made->d, word);
    }
    for (unsigned i = 0; made->factor != 1 && i < words.count; ++i)
        to[i] *= made->factor;
}

static void write_words(const OutstandingMma *made, const double *from, TensorWords words) {
    if (made->d == MATRIX_F32 && !made->saturate)
        matrix_narrow_words(from, words.count, words.bytes);
    else
        for (unsigned i = 0; i < words.count; ++i) {
            uint32_t word = (uint32_t)matrix_result(made->d, from[i], made->saturate);
            memcpy(words.bytes + 4 * i, &word, sizeof word);
        }
}

/* What is known of D then: what was known before, if it counts, and of A's row and B's columns. */
static void know_words(const OutstandingMma *made, const TensorMmaWork *work, bool all_columns, unsigned row,
                       unsigned column, TensorWords words) {
    bool counts = made->accumulates && work;
    if (work && !work->a_unknown[row] && all_columns && (!counts || bytes_known(words.states, 4 * words.count))) {
        memset(words.states, BYTE_KNOWN, 4 * words.count);
        return;
    }
    for (unsigned i = 0; i < words.count; ++i) {
        bool known = work && !work->a_unknown[row] && !work->b_unknown[column + i] &&
                     (!counts || bytes_known(words.states + 4 * i, 4));
        memset(words.states + 4 * i, known ? BYTE_KNOWN : BYTE_UNKNOWN, 4);
    }
}

static bool is_disabled(const OutstandingMma *made, unsigned rank, uint32_t lane) {
    return made->disabled[4 * rank + lane / 32] >> lane % 32 & 1;
}

/* Some rows of D. Without work, it is not known what comes out. */
static void compute_rows(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, unsigned rank,
                         unsigned first, TensorMmaWork *work) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    TensorMemory *memory = tensor_memory(machine, cta);
    unsigned columns = d_columns(mma, made), parts = made->n / columns;
    bool all = work && !memchr(work->b_unknown, true, made->n);
    if (work && !made->accumulates)
        memset(work->c, 0, MMA_BLOCK * made->n * sizeof *work->c);
    for (unsigned i = 0; work && made->accumulates && i < MMA_BLOCK * parts; ++i)
        read_words(made, d_words(memory, mma, made, first + i / parts, i % parts), work->c + i * columns);
    if (work)
        matrix_multiply(MMA_BLOCK, made->n,
                        &(MatrixFactors){.k = made->k, .a_row = made->k, .a = work->a + first * made->k, .b = work->b},
                        work->c);
    for (unsigned i = 0; i < MMA_BLOCK * parts; ++i) {
        unsigned row = first + i / parts, part = i % parts;
        TensorWords words = d_words(memory, mma, made, row, part);
        if (is_disabled(made, rank, d_lane(mma, made, row, part)))
            continue;
        if (work)
            write_words(made, work->c + i * columns, words);
        else
            memset(words.bytes, 0, 4 * columns);
        know_words(made, work, all, row, part * columns, words);
    }
}

/* Whether what comes out is documented in words. */
static bool is_documented(const TensorMma *mma, const OutstandingMma *made) {
    bool narrow = matrix_type_bits(made->a) < 8;
    if (made->unknown || mma->shifts || (mma->pair && (mma->scaled || (mma->from_tensor && made->m != 128))))
        return false;
    return !(mma->from_tensor && narrow && mma->kind != KIND_MXF4);
}

static void compute(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *const ctas[MMA_CTAS]) {
    const TensorMma *mma = outstanding->code->detail;
    const OutstandingMma *made = outstanding->detail;
    bool computes = matrix_computes(machine, outstanding->code) && is_documented(mma, made);
    TensorMmaWork *work = computes ? pool_take(machine, sizeof *work) : NULL;
    for (unsigned i = 0; i < (mma->pair ? MMA_CTAS : 1u); ++i) {
        if (computes) {
            memset(work->a_unknown, 0, sizeof work->a_unknown);
            memset(work->b_unknown, 0, sizeof work->b_unknown);
            take_a(machine, outstanding, ctas[i], work);
            take_b(machine, outstanding, ctas, work);
            if (mma->scaled)
                apply_scales(machine, outstanding, ctas[i], work);
            for (unsigned at = 0; made->negative && at < (unsigned)made->m * made->k; ++at)
                work->a[at] = -work->a[at];
        }
        for (unsigned row = 0; row < made->m; row += MMA_BLOCK)
            compute_rows(machine, outstanding, ctas[i], i, row, work);
    }
    if (work)
        pool_give(machine, work, sizeof *work);
}

static void land(PtxMachine *machine, PtxOutstanding *outstanding) {
    const TensorMma *mma = outstanding->code->detail;
    PtxCta *ctas[MMA_CTAS] = {outstanding->warp->cta, NULL};
    if (mma->pair) {
        PtxCta *peer = tensor_peer(machine, outstanding->warp->cta);
        bool even = outstanding->warp->cta->rank % 2 == 0;
        ctas[0] = even ? outstanding->warp->cta : peer;
        ctas[1] = even ? peer : outstanding->warp->cta;
    }
    bool goes_on = true;
    if (mma->pair && (!ctas[0] || !ctas[1])) {
        ptx_stop(machine, outstanding->code, "the other CTA of the pair is not there");
        goes_on = false;
    }
    for (unsigned i = 0; i < (mma->pair ? MMA_CTAS : 1u) && goes_on; ++i)
        goes_on = report_all(machine, outstanding, ctas[i], i);
    if (goes_on)
        compute(machine, outstanding, ctas);
    pool_give(machine, outstanding->detail, sizeof(OutstandingMma));
}

/* ---- Issuing ---- */

static MatrixType element_type(MmaKind kind, unsigned code) {
    static const MatrixType small[8] = {MATRIX_E4M3, MATRIX_E5M2, MATRIX_NONE, MATRIX_E2M3, MATRIX_E3M2, MATRIX_E2M1};
    switch (kind) {
    case KIND_F16:
        return code == 0 ? MATRIX_F16 : code == 1 ? MATRIX_BF16 : MATRIX_NONE;
    case KIND_TF32:
        return code == 2 ? MATRIX_TF32 : MATRIX_NONE;
    case KIND_I8:
        return code == 0 ? MATRIX_U8 : code == 1 ? MATRIX_S8 : MATRIX_NONE;
    case KIND_MXF4:
        return code == 1 ? MATRIX_E2M1 : MATRIX_NONE;
    default:
        return small[code & 7];
    }
}

/* The instruction descriptor. False: it says something that there is not. */
static bool read_descriptor(const TensorMma *mma, uint32_t bits, OutstandingMma *made) {
    static const uint8_t depths[MMA_KINDS] = {16, 8, 32, 32, 32, 64};
    static const MatrixType results[4] = {MATRIX_F16, MATRIX_F32, MATRIX_S32, MATRIX_NONE};
    unsigned b_bits = mma->kind == KIND_MXF4 ? 3 : 7;
    made->a = element_type(mma->kind, bits >> 7 & 7);
    made->b = element_type(mma->kind, bits >> 10 & b_bits);
    made->d = mma->scaled ? MATRIX_F32 : results[bits >> 4 & 3];
    made->saturate = !mma->scaled && bits >> 3 & 1;
    made->negative = (bits >> 13 & 1) != (bits >> 14 & 1);
    made->across_a = bits >> 15 & 1;
    made->across_b = bits >> 16 & 1;
    made->n = (uint16_t)((bits >> 17 & 63) << 3);
    made->m = (uint16_t)(mma->scaled ? (bits >> 27 & 3) << 7 : (bits >> 24 & 31) << 4);
    made->k = depths[mma->kind];
    if (mma->scaled) {
        made->scale_b_id = bits >> 4 & 3;
        made->scale_a_id = bits >> 29 & 3;
        made->ue8m0 = bits >> 23 & 1;
    }
    if (mma->pair)
        made->m /= 2;
    bool rows = made->m == 128 || made->m == 64 || (made->m == 32 && mma->stationary);
    bool k96 = mma->kind == KIND_MXF4 && bits >> 31;
    bool columns = made->n && made->n <= MMA_COLUMNS && !(mma->pair && made->n % 16);
    return rows && columns && made->a && made->b && made->d && !(bits >> 2 & 1) && !k96;
}

static bool fetch_number(PtxMachine *machine, PtxGroup *group, const PtxCode *code, unsigned operand, uint32_t lane,
                         uint64_t *value, PtxStep *step) {
    return fetch_uniform(machine, group, code, code_argument(machine->program, code, operand), UINT32_C(1) << lane,
                         value, step);
}

/* Tensor memory that it reads, and lanes that it leaves alone. */
static bool fetch_places(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, OutstandingMma *made,
                         PtxStep *step) {
    const TensorMma *mma = code->detail;
    const unsigned operands[] = {MMA_D, mma->from_tensor ? MMA_A : MMA_D, mma->scale_a, mma->scale_b};
    TensorPlace *const places[] = {&made->d_place, &made->a_place, &made->scale_a_place, &made->scale_b_place};
    for (unsigned i = 0; i < (mma->scaled ? 4u : 2u); ++i) {
        uint64_t address;
        if (!tensor_address(machine, group, code, operands[i], lane, &address, step))
            return false;
        *places[i] = tensor_place(address);
    }
    if (!mma->disabled)
        return true;
    const PtxArgument *vector = code_argument(machine->program, code, mma->disabled);
    for (uint32_t i = 0; i < matrix_register_count(vector) && i < MMA_CTAS * 4; ++i) {
        uint64_t bits;
        if (!fetch_uniform(machine, group, code, matrix_register(machine->program, vector, i), UINT32_C(1) << lane,
                           &bits, step))
            return false;
        made->disabled[i] = (uint32_t)bits;
    }
    return true;
}

static bool fetch_operands(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane,
                           OutstandingMma *made, PtxStep *step) {
    const TensorMma *mma = code->detail;
    uint64_t a = 0, b, bits, shrinks = 0;
    if ((!mma->from_tensor && !fetch_number(machine, group, code, MMA_A, lane, &a, step)) ||
        !fetch_number(machine, group, code, MMA_B, lane, &b, step) ||
        !fetch_number(machine, group, code, MMA_IDESC, lane, &bits, step) ||
        (mma->shrinks && !fetch_number(machine, group, code, mma->shrinks, lane, &shrinks, step)) ||
        !fetch_places(machine, group, code, lane, made, step))
        return false;
    uint32_t unknown = 0;
    const PtxArgument *enable = code_argument(machine->program, code, mma->enable);
    uint32_t mask = ptx_fetch_mask(machine, group, enable, &unknown);
    made->accumulates = mask >> lane & 1;
    made->unknown = unknown >> lane & 1;
    made->factor = ldexp(1, -(int)(shrinks & 15));
    bool fits = read_descriptor(mma, (uint32_t)bits, made) && tensor_descriptor(b, &made->b_descriptor) &&
                (mma->from_tensor || tensor_descriptor(a, &made->a_descriptor));
    if (!fits || made->b_descriptor.absolute || made->a_descriptor.absolute) {
        *step = ptx_stop(machine, code, "its descriptors say a shape or a layout that is not modeled");
        return false;
    }
    if (mma->pair && !tensor_peer(machine, group->warp->cta)) {
        *step = ptx_stop(machine, code, "the other CTA of the pair is not there");
        return false;
    }
    return true;
}

static PtxStep run_mma(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxStep step = PTX_STEP_NEXT;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        OutstandingMma *made = pool_take(machine, sizeof *made);
        memset(made, 0, sizeof *made);
        if (!fetch_operands(machine, group, code, lane, made, &step)) {
            pool_give(machine, made, sizeof *made);
            return step;
        }
        PtxOutstanding outstanding = {.code = code, .warp = group->warp, .lane = lane, .land = land, .detail = made};
        if (!tensor_fly(machine, &outstanding))
            return PTX_STEP_FAULT;
    }
    return step;
}

static bool kind_of(const PtxCode *code, TensorMma *mma) {
    static const struct {
        const char *word;
        MmaKind kind;
    } kinds[] = {{"kind::f16", KIND_F16},          {"kind::tf32", KIND_TF32},
                 {"kind::f8f6f4", KIND_F8F6F4},    {"kind::i8", KIND_I8},
                 {"kind::mxf4", KIND_MXF4},        {"kind::mxf4nvf4", KIND_MXF4},
                 {"kind::mxf8f6f4", KIND_MXF8F6F4}};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (code_has(code, str_of(kinds[i].word))) {
            mma->kind = kinds[i].kind;
            bool four = code_has(code, STR("scale_vec::4X")) || code_has(code, STR("block16"));
            mma->scales = four ? 4 : mma->kind == KIND_MXF4 ? 2 : 1;
            return true;
        }
    return false;
}

bool tensor_mma_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator != PTX_EVALUATE_TENSOR_MMA || code->count < MMA_MORE + 1)
        return false;
    const PtxProgram *program = about->program;
    TensorMma mma = {.pair = code_has(code, STR("cta_group::2")),
                     .stationary = code_has(code, STR("ws")),
                     .scaled = code_has(code, STR("block_scale")),
                     .shifts = code_has(code, STR("ashift")),
                     .from_tensor = code_argument(program, code, MMA_A)->kind == ARGUMENT_ADDRESS};
    uint8_t next = MMA_MORE;
    if (!kind_of(code, &mma) || code_has(code, STR("sp")))
        return false;
    if (code_argument(program, code, next)->kind == ARGUMENT_MEMBERS)
        mma.disabled = next++;
    if (mma.scaled) {
        mma.scale_a = next++;
        mma.scale_b = next++;
    }
    if (next >= code->count || code_argument(program, code, next)->kind != ARGUMENT_PREDICATE)
        return false;
    mma.enable = next++;
    if (next < code->count && mma.stationary)
        return false; /* a mask of columns */
    if (next < code->count)
        mma.shrinks = next;
    return take_code(about, code, run_mma, &mma, sizeof mma);
}
