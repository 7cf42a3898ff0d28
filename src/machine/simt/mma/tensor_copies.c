/* Shared memory to tensor memory (tcgen05.cp), and tensor memory moved down by a lane (tcgen05.shift). One thread
 * issues them; with cta_group::2 both CTAs of the pair do the same, each in its own memory. */
#include "machine/simt/mma/matrix_descriptor.h"
#include "machine/simt/mma/matrix_fragments.h"
#include "machine/simt/mma/tensor.h"

enum { COPY_CTAS = 2, SHIFT_COLUMNS = 8 };

/* Which rows of the matrix each quarter of the lanes gets. */
typedef enum CopyWarps { COPY_ALL, COPY_02_13, COPY_01_23, COPY_SAME } CopyWarps;

typedef struct TensorCopy {
    uint8_t rows;  /* 128, 64, 32 */
    uint8_t words; /* of a row: 8 or 4 */
    CopyWarps warps;
    bool pair, shifts;
    bool widens; /* 4 or 6 bits to 8: which bits of a byte they get the PTX ISA only draws */
} TensorCopy;

typedef struct OutstandingCopy {
    TensorPlace place;
    MatrixDescriptor descriptor;
} OutstandingCopy;

/* The row that a lane of tensor memory gets. */
static unsigned row_of(const TensorCopy *copy, unsigned lane) {
    unsigned warp = lane / 32, within = lane % 32;
    switch (copy->warps) {
    case COPY_02_13:
        return within + 32 * (warp % 2); /* warps 0 and 2 get the same */
    case COPY_01_23:
        return within + 32 * (warp / 2);
    case COPY_SAME:
        return within;
    default:
        return lane;
    }
}

static void copy_rows(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta, const MatrixTile *tile) {
    const TensorCopy *copy = outstanding->code->detail;
    const OutstandingCopy *moved = outstanding->detail;
    TensorMemory *memory = tensor_memory(machine, cta);
    bool computes = matrix_computes(machine, outstanding->code) && !copy->widens;
    for (unsigned lane = 0; lane < TENSOR_LANES; ++lane)
        for (unsigned word = 0; word < copy->words; word += 4) {
            uint8_t bytes[DESCRIPTOR_CHUNK], states[DESCRIPTOR_CHUNK];
            uint32_t address = matrix_chunk(tile, row_of(copy, lane), word / 4);
            PtxLocation from = {&cta->shared, address - cta->shared.base};
            ptx_load_bytes(machine, from, DESCRIPTOR_CHUNK, bytes, states);
            for (unsigned i = 0; i < 4; ++i) {
                uint32_t value;
                bool known = computes;
                for (unsigned byte = 0; byte < 4; ++byte)
                    known &= states[4 * i + byte] == BYTE_KNOWN;
                memcpy(&value, bytes + 4 * i, sizeof value);
                tensor_set(memory, lane, moved->place.column + word + i, value, known);
            }
        }
}

static bool copy_in(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta) {
    const TensorCopy *copy = outstanding->code->detail;
    const OutstandingCopy *moved = outstanding->detail;
    TensorMemory *memory = tensor_memory(machine, cta);
    MatrixTile tile = {
        .descriptor = moved->descriptor, .type = MATRIX_U8, .lines = copy->rows, .k = (uint16_t)(copy->words * 4)};
    TensorArea area = {.lane_count = TENSOR_LANES, .column = moved->place.column, .columns = copy->words};
    for (uint32_t i = 0; i < TENSOR_LANES; ++i)
        area.lanes[i] = i;
    if (!matrix_emit(machine, outstanding, &cta->shared, &tile) ||
        !tensor_check(machine, outstanding->code, outstanding->warp, UINT32_C(1) << outstanding->lane, memory, &area))
        return false;
    tensor_emit(machine, outstanding, KIND_WRITE, memory, &area);
    copy_rows(machine, outstanding, cta, &tile);
    return true;
}

/* Where its rows end the PTX ISA does not say: what is there is not known then. */
static bool shift_in(PtxMachine *machine, const PtxOutstanding *outstanding, PtxCta *cta) {
    const OutstandingCopy *moved = outstanding->detail;
    TensorMemory *memory = tensor_memory(machine, cta);
    TensorArea area = {.lane_count = 32, .column = moved->place.column, .columns = SHIFT_COLUMNS};
    for (uint32_t i = 0; i < area.lane_count; ++i)
        area.lanes[i] = moved->place.lane + i;
    if (!tensor_check(machine, outstanding->code, outstanding->warp, UINT32_C(1) << outstanding->lane, memory, &area))
        return false;
    tensor_emit(machine, outstanding, KIND_UPDATE, memory, &area);
    for (uint32_t i = 0; i < area.lane_count; ++i)
        for (uint32_t column = 0; column < area.columns; ++column)
            tensor_set(memory, area.lanes[i], area.column + column, 0, false);
    return true;
}

static void land(PtxMachine *machine, PtxOutstanding *outstanding) {
    const TensorCopy *copy = outstanding->code->detail;
    PtxCta *ctas[COPY_CTAS] = {outstanding->warp->cta,
                               copy->pair ? tensor_peer(machine, outstanding->warp->cta) : NULL};
    bool goes_on = true;
    for (unsigned i = 0; i < COPY_CTAS && goes_on; ++i)
        if (ctas[i])
            goes_on = copy->shifts ? shift_in(machine, outstanding, ctas[i]) : copy_in(machine, outstanding, ctas[i]);
    pool_give(machine, outstanding->detail, sizeof(OutstandingCopy));
}

static PtxStep issue(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const TensorCopy *copy = code->detail;
    PtxStep step = PTX_STEP_NEXT;
    uint64_t address, bits = 0;
    OutstandingCopy made = {.place = {0}};
    if (!tensor_address(machine, group, code, 0, lane, &address, &step))
        return step;
    made.place = tensor_place(address);
    if (!copy->shifts) {
        const PtxArgument *argument = code_argument(machine->program, code, 1);
        if (!fetch_uniform(machine, group, code, argument, UINT32_C(1) << lane, &bits, &step))
            return step;
        if (!tensor_descriptor(bits, &made.descriptor))
            return ptx_stop(machine, code, "the matrix descriptor has a swizzle that there is not");
    }
    if (copy->pair && !tensor_peer(machine, group->warp->cta))
        return ptx_stop(machine, code, "the other CTA of the pair is not there");
    OutstandingCopy *moved = pool_take(machine, sizeof *moved);
    *moved = made;
    PtxOutstanding outstanding = {.code = code, .warp = group->warp, .lane = lane, .land = land, .detail = moved};
    return tensor_fly(machine, &outstanding) ? PTX_STEP_NEXT : PTX_STEP_FAULT;
}

static PtxStep run_copy(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, issue);
}

bool tensor_copy_prepare(const PtxPrepare *about, PtxCode *code) {
    TensorCopy copy = {.pair = code_has(code, STR("cta_group::2")),
                       .shifts = about->evaluator == PTX_EVALUATE_TENSOR_SHIFT,
                       .widens = code_has(code, STR("b8x16"))};
    if (copy.shifts)
        return code->count == 1 && take_code(about, code, run_copy, &copy, sizeof copy);
    if (about->evaluator != PTX_EVALUATE_TENSOR_COPY || code->count != 2)
        return false;
    copy.rows = 128;
    copy.words = code_has(code, STR("128x256b")) ? 8 : 4;
    if (code_has(code, STR("64x128b"))) {
        copy.rows = 64;
        copy.warps = code_has(code, STR("warpx2::02_13")) ? COPY_02_13 : COPY_01_23;
    } else if (code_has(code, STR("32x128b"))) {
        copy.rows = 32;
        copy.warps = COPY_SAME;
    } else if (!code_has(code, STR("128x256b")) && !code_has(code, STR("128x128b")))
        return false; /* 4x256b: the lanes that it writes are not said */
    return take_code(about, code, run_copy, &copy, sizeof copy);
}
