/* wmma: MMAs of one warp whose fragments are loaded from and stored to memory as tiles.
 *
 * PTX does not say which lane has which element of such a fragment. Here: of A and B, the elements row by row (of B
 * column by column), so many to each lane; of accumulators the layout of mma.sync, blocks of 16 x 8 (or 8 x 8) one
 * after the other, row of blocks by row of blocks. f16 has room for every element of A and B twice: the upper half of
 * the registers repeats the lower one. */
#include "machine/simt/mma/matrix_fragments.h"

enum { WMMA_REGISTERS = 8, WMMA_ELEMENTS = 512, WMMA_LINES = 32 };

typedef enum MatrixWmmaPart { PART_A, PART_B, PART_C } MatrixWmmaPart;

typedef struct Fragment {
    MatrixWmmaPart part;
    MatrixType type;
    uint16_t lines, depth; /* A: rows, k; B: columns, k; C: rows, columns */
} Fragment;

static Fragment fragment_of(const MatrixShape *shape, MatrixWmmaPart part, MatrixType type) {
    return (Fragment){.part = part,
                      .type = type,
                      .lines = part == PART_B ? shape->n : shape->m,
                      .depth = part == PART_C ? shape->n : shape->k};
}

static unsigned registers_of(const Fragment *fragment) {
    unsigned bits = (unsigned)fragment->lines * fragment->depth * matrix_type_bits(fragment->type);
    unsigned word = fragment->type == MATRIX_F64 ? 64 : 32, count = bits / PTX_LANES / word;
    return fragment->type == MATRIX_F16 && fragment->part != PART_C ? 8 : count ? count : 1;
}

/* The element (line * depth + k) that is the i-th of a lane. */
static unsigned element_of(const Fragment *fragment, unsigned lane, unsigned i) {
    unsigned count = (unsigned)fragment->lines * fragment->depth, per = count / PTX_LANES;
    if (fragment->part != PART_C)
        return lane * per + i % per;
    unsigned high = fragment->lines < 16 ? 8 : 16, per_block = high / 4, block = i / per_block;
    unsigned blocks = fragment->depth / 8, e = i % per_block;
    unsigned row = block / blocks * high + matrix_row(lane, e), column = block % blocks * 8 + matrix_column(lane, e);
    return row * fragment->depth + column;
}

/* ---- Memory ---- */

typedef struct MatrixWmmaTile {
    Fragment fragment;
    PtxSpace space;
    bool stores;
    bool across;                   /* memory has columns of A or C, or rows of B, one after the other */
    uint8_t address, data, stride; /* operands; stride 0: there is none */
    uint8_t chunk;                 /* bytes of each lane */
    uint16_t lines, line_bytes;    /* as memory has them */
} MatrixWmmaTile;

/* The tile in pieces of the same size, one for each lane. */
static bool pieces(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint64_t base,
                   int64_t stride, PtxLocation locations[PTX_LANES], uint32_t *there) {
    const MatrixWmmaTile *tile = code->detail;
    unsigned per_line = tile->line_bytes / tile->chunk, bits = matrix_type_bits(tile->fragment.type);
    Lanes addresses;
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        addresses.at[lane] = base + (uint64_t)((int64_t)(lane / per_line) * stride * bits / 8) +
                             (uint64_t)(lane % per_line) * tile->chunk;
    uint32_t align = bits < 32 ? 4 : bits / 8;
    *there = lanes;
    return ptx_resolve(machine, group, code, tile->space, &addresses, 0, tile->chunk, align, there, locations);
}

static void report(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                   const PtxLocation *locations) {
    const MatrixWmmaTile *tile = code->detail;
    unsigned bits = matrix_type_bits(tile->fragment.type);
    PtxEvent event = {.kind = PTX_EVENT_ACCESS,
                      .code = code,
                      .warp = group->warp,
                      .lanes = lanes,
                      .locations = locations,
                      .location_count = PTX_LANES,
                      .changes = lanes,
                      .access = {.kind = tile->stores ? KIND_WRITE : KIND_READ,
                                 .proxy = PROXY_GENERIC,
                                 .order = ORDER_WEAK,
                                 .element = bits < 8 ? 1 : bits / 8,
                                 .bytes = tile->chunk,
                                 .used = UINT32_MAX}};
    ptx_emit(machine, &event);
}

/* Where an element is in memory's lines: in bits. */
static unsigned bit_of(const MatrixWmmaTile *tile, unsigned element) {
    const Fragment *fragment = &tile->fragment;
    unsigned line = element / fragment->depth, k = element % fragment->depth;
    unsigned at = tile->across ? k * fragment->lines + line : line * fragment->depth + k;
    return at * matrix_type_bits(fragment->type);
}

typedef struct MatrixWmmaImage {
    uint8_t bytes[PTX_LANES * 64], states[PTX_LANES * 64];
} MatrixWmmaImage;

static void load_tile(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                      const MatrixWmmaImage *image) {
    const MatrixWmmaTile *tile = code->detail;
    const PtxArgument *d = code_argument(machine->program, code, tile->data);
    unsigned bits = matrix_type_bits(tile->fragment.type), word = bits == 64 ? 64 : 32, per = word / bits;
    for (uint32_t r = 0; r < matrix_register_count(d); ++r) {
        Lanes values = {0};
        uint32_t unknown = 0;
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            for (unsigned e = 0; e < per; ++e) {
                unsigned bit = bit_of(tile, element_of(&tile->fragment, lane, r * per + e));
                uint64_t value = 0;
                memcpy(&value, image->bytes + bit / 8, bits < 8 ? 1 : bits / 8);
                if (bits < 8)
                    value = value >> bit % 8 & ((1u << bits) - 1);
                values.at[lane] |= value << (e * bits);
                for (unsigned byte = bit / 8; byte <= (bit + bits - 1) / 8; ++byte)
                    unknown |= (uint32_t)(image->states[byte] != BYTE_KNOWN) << lane;
            }
        ptx_put(machine, group, matrix_register(machine->program, d, r), 0, &values, lanes, unknown);
    }
}

static void gather_tile(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                        MatrixWmmaImage *image) {
    const MatrixWmmaTile *tile = code->detail;
    const PtxArgument *data = code_argument(machine->program, code, tile->data);
    Lanes scratch[WMMA_REGISTERS];
    const Lanes *registers[WMMA_REGISTERS];
    uint32_t unknown[WMMA_REGISTERS];
    uint32_t count = matrix_fetch(machine, group, data, WMMA_REGISTERS, scratch, registers, unknown);
    unsigned bits = matrix_type_bits(tile->fragment.type), word = bits == 64 ? 64 : 32, per = word / bits;
    for (uint32_t r = 0; r < count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            for (unsigned e = 0; e < per; ++e) {
                unsigned at = bit_of(tile, element_of(&tile->fragment, lane, r * per + e)) / 8;
                uint64_t value = registers[r]->at[lane] >> (e * bits);
                bool known = matrix_computes(machine, code) && !((unknown[r] | ~lanes) >> lane & 1);
                memcpy(image->bytes + at, &value, bits / 8);
                memset(image->states + at, known ? BYTE_KNOWN : BYTE_UNKNOWN, bits / 8);
            }
}

static PtxStep run_tile(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MatrixWmmaTile *tile = code->detail;
    const PtxProgram *program = machine->program;
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    Lanes scratch;
    uint32_t unknown = 0, there;
    const Lanes *addresses =
        ptx_fetch_address(machine, group, code_argument(program, code, tile->address), &scratch, &unknown);
    uint64_t base = addresses->at[__builtin_ctz(lanes)];
    uint64_t stride = (tile->across ? tile->fragment.lines : tile->fragment.depth);
    if (unknown & lanes)
        return ptx_stop(machine, code, "the address of its matrix is not known");
    if (tile->stride &&
        !fetch_uniform(machine, group, code, code_argument(program, code, tile->stride), lanes, &stride, &step))
        return step;
    PtxLocation locations[PTX_LANES];
    if (!pieces(machine, group, code, lanes, base, (int32_t)stride, locations, &there))
        return PTX_STEP_FAULT;
    report(machine, group, code, there, locations);
    MatrixWmmaImage image;
    memset(image.states, BYTE_UNKNOWN, sizeof image.states);
    if (tile->stores)
        gather_tile(machine, group, code, lanes, &image);
    else if (!matrix_computes(machine, code)) {
        matrix_forget(machine, group, code_argument(program, code, tile->data), lanes);
        return PTX_STEP_NEXT;
    }
    for (uint32_t left = there; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), at = lane * tile->chunk;
        if (tile->stores)
            ptx_store_bytes(machine, locations[lane], tile->chunk, image.bytes + at, image.states + at);
        else
            ptx_load_bytes(machine, locations[lane], tile->chunk, image.bytes + at, image.states + at);
    }
    if (!tile->stores)
        load_tile(machine, group, code, lanes, &image);
    return PTX_STEP_NEXT;
}

/* ---- The MMA ---- */

typedef struct Wmma {
    Fragment a, b, c, d;
    bool saturate, exclusive;
} Wmma;

typedef struct MatrixWmmaValues {
    double *numbers; /* [line][k] */
    bool *unknown;
} MatrixWmmaValues;

static void take(PtxMachine *machine, PtxGroup *group, const PtxArgument *from, const Fragment *fragment,
                 uint32_t lanes, MatrixWmmaValues to) {
    Lanes scratch[WMMA_REGISTERS];
    const Lanes *registers[WMMA_REGISTERS];
    uint32_t unknown[WMMA_REGISTERS];
    uint32_t count = matrix_fetch(machine, group, from, WMMA_REGISTERS, scratch, registers, unknown);
    unsigned bits = matrix_type_bits(fragment->type), word = bits == 64 ? 64 : 32, per = word / bits;
    for (uint32_t r = 0; r < count; ++r)
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            for (unsigned e = 0; e < per; ++e) {
                unsigned at = element_of(fragment, lane, r * per + e);
                uint64_t value = registers[r]->at[lane] >> (e * bits);
                bool wide = fragment->type == MATRIX_F64 || fragment->type == MATRIX_S32;
                to.numbers[at] =
                    wide ? matrix_accumulator(fragment->type, value) : matrix_float(fragment->type, (uint32_t)value);
                to.unknown[at] = (unknown[r] | ~lanes) >> lane & 1;
            }
}

static void give(PtxMachine *machine, PtxGroup *group, const PtxArgument *to, const Fragment *fragment, uint32_t lanes,
                 MatrixWmmaValues from, bool saturate) {
    unsigned bits = matrix_type_bits(fragment->type), word = bits == 64 ? 64 : 32, per = word / bits;
    for (uint32_t r = 0; r < matrix_register_count(to); ++r) {
        Lanes values = {0};
        uint32_t unknown = 0;
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            for (unsigned e = 0; e < per; ++e) {
                unsigned at = element_of(fragment, lane, r * per + e);
                values.at[lane] |= matrix_result(fragment->type, from.numbers[at], saturate) << (e * bits);
                unknown |= (uint32_t)from.unknown[at] << lane;
            }
        ptx_put(machine, group, matrix_register(machine->program, to, r), 0, &values, lanes, unknown);
    }
}

/* One element of D, and whether it is known. */
static void dot(const Wmma *wmma, MatrixWmmaValues a, MatrixWmmaValues b, unsigned row, unsigned column, double *sum,
                bool *unknown) {
    unsigned k = wmma->a.depth;
    for (unsigned i = 0; i < k; ++i) {
        double left = a.numbers[row * k + i], right = b.numbers[column * k + i];
        *unknown |= a.unknown[row * k + i] || b.unknown[column * k + i];
        if (wmma->exclusive)
            *sum += left != right;
        else if (wmma->a.type == MATRIX_F64)
            *sum = __builtin_fma(left, right, *sum);
        else
            *sum += left * right;
    }
}

static PtxStep run_wmma(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Wmma *wmma = code->detail;
    const PtxProgram *program = machine->program;
    PtxStep step;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    if (!matrix_computes(machine, code)) {
        matrix_forget(machine, group, code_argument(program, code, 0), lanes);
        return PTX_STEP_NEXT;
    }
    double a[8 * 128], b[8 * 128], c[WMMA_ELEMENTS]; /* b1 has the most: 8 x 128 */
    bool a_unknown[8 * 128], b_unknown[8 * 128], c_unknown[WMMA_ELEMENTS];
    MatrixWmmaValues in_a = {a, a_unknown}, in_b = {b, b_unknown}, in_c = {c, c_unknown};
    take(machine, group, code_argument(program, code, 1), &wmma->a, lanes, in_a);
    take(machine, group, code_argument(program, code, 2), &wmma->b, lanes, in_b);
    take(machine, group, code_argument(program, code, 3), &wmma->c, lanes, in_c);
    for (unsigned row = 0; row < wmma->c.lines; ++row)
        for (unsigned column = 0; column < wmma->c.depth; ++column) {
            unsigned at = row * wmma->c.depth + column;
            dot(wmma, in_a, in_b, row, column, &c[at], &c_unknown[at]);
        }
    give(machine, group, code_argument(program, code, 0), &wmma->d, lanes, in_c, wmma->saturate);
    return PTX_STEP_NEXT;
}

static bool prepare_mma(const PtxPrepare *about, PtxCode *code, const MatrixForm *form) {
    /* Of f16 the types of D and C alone are said. */
    bool half = form->type_count == 2;
    if (code->count != 4 || (!half && form->type_count != 4))
        return false;
    Wmma wmma = {.a = fragment_of(&form->shape, PART_A, half ? MATRIX_F16 : form->types[1]),
                 .b = fragment_of(&form->shape, PART_B, half ? MATRIX_F16 : form->types[2]),
                 .c = fragment_of(&form->shape, PART_C, form->types[half ? 1 : 3]),
                 .d = fragment_of(&form->shape, PART_C, form->types[0]),
                 .saturate = code_has(code, STR("satfinite")),
                 .exclusive = code_has(code, STR("xor"))};
    const Fragment *const fragments[] = {&wmma.d, &wmma.a, &wmma.b, &wmma.c};
    for (unsigned i = 0; i < 4; ++i)
        if (matrix_register_count(code_argument(about->program, code, i)) != registers_of(fragments[i]))
            return false;
    take_code(about, code, run_wmma, &wmma, sizeof wmma);
    code->visible = false;
    return true;
}

static bool prepare_tile(const PtxPrepare *about, PtxCode *code, const MatrixForm *form) {
    MatrixWmmaTile tile = {.stores = effect_with(about, EFFECT_WRITE) != NULL, .space = space_of(code)};
    MatrixWmmaPart part = code_has(code, STR("a")) ? PART_A : code_has(code, STR("b")) ? PART_B : PART_C;
    tile.address = tile.stores ? 0 : 1;
    tile.data = tile.stores ? 1 : 0;
    tile.stride = code->count > 2 ? 2 : 0;
    tile.fragment = fragment_of(&form->shape, part, form->types[0]);
    tile.across = part == PART_B ? !form->column[0] : form->column[0];
    unsigned bits = matrix_type_bits(form->types[0]) * tile.fragment.lines * tile.fragment.depth;
    tile.chunk = (uint8_t)(bits / 8 / PTX_LANES);
    tile.lines = tile.across ? tile.fragment.depth : tile.fragment.lines;
    tile.line_bytes = (uint16_t)(bits / 8 / tile.lines);
    if (form->type_count != 1 || code->count < 2 || !tile.chunk ||
        matrix_register_count(code_argument(about->program, code, tile.data)) != registers_of(&tile.fragment))
        return false;
    return take_code(about, code, run_tile, &tile, sizeof tile);
}

bool wmma_prepare(const PtxPrepare *about, PtxCode *code) {
    MatrixForm form;
    if (about->evaluator != PTX_EVALUATE_TILE && about->evaluator != PTX_EVALUATE_WMMA)
        return false;
    matrix_form(code->form, &form);
    if (!form.shape.m || (unsigned)form.shape.m * form.shape.n > WMMA_ELEMENTS)
        return false;
    return about->evaluator == PTX_EVALUATE_TILE ? prepare_tile(about, code, &form) : prepare_mma(about, code, &form);
}
