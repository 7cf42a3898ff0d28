/* Tensor memory to and from registers (tcgen05.ld, tcgen05.st): a warp together, asynchronously: tensor memory is read
 * or written, for all others, when they land. What is stored is taken from registers when it is issued. What is loaded
 * is in them at once: the hardware makes an instruction that reads such a register wait for it, and compilers (LLVM
 * under Triton) move computations before the tcgen05.wait::ld; a program that is right does not change the words
 * meanwhile. */
#include "base/number.h"
#include "machine/simt/mma/matrix_fragments.h"
#include "machine/simt/mma/tensor.h"

enum { MOVE_REGISTERS = 128 };

/* Which lane and column a register of a thread is, of x1; more of them are further columns. */
typedef enum MoveShape { MOVE_32X32, MOVE_16X64, MOVE_16X128, MOVE_16X256, MOVE_16X32X2 } MoveShape;

typedef struct MmaMove {
    MoveShape shape;
    bool stores, halves; /* halves: two columns of 16 bits are one register */
    uint8_t address, data;
    uint8_t split;   /* 16x32bx2: operand that says how far the second half is away; 0: none */
    uint8_t reduced; /* .red: the operand for what is reduced; 0: none */
    bool maximum, absolute, keeps_nan;
    char reduces; /* 'u', 's', 'f' */
    uint16_t count;
} MmaMove;

/* What is in flight. */
typedef struct OutstandingMove {
    TensorPlace place;
    int32_t split;
    uint32_t lanes;
    uint32_t unknown[MOVE_REGISTERS];
    uint32_t values[MOVE_REGISTERS][PTX_LANES];
} OutstandingMove;

/* ---- Places ---- */

static TensorPlace place_of(const MmaMove *move, const OutstandingMove *outstanding, unsigned lane, unsigned r) {
    unsigned row = lane, column = r;
    switch (move->shape) {
    case MOVE_32X32:
        break;
    case MOVE_16X64:
        row = (lane >> 2) + 8 * (lane & 1);
        column = (lane >> 1 & 1) + 2 * r;
        break;
    case MOVE_16X128:
        row = (lane >> 2) + 8 * (r & 1);
        column = (lane & 3) + 4 * (r >> 1);
        break;
    case MOVE_16X256:
        row = (lane >> 2) + 8 * (r >> 1 & 1);
        column = 2 * (lane & 3) + (r & 1) + 8 * (r >> 2);
        break;
    case MOVE_16X32X2:
        row = lane & 15;
        break;
    }
    uint32_t far = move->shape == MOVE_16X32X2 && lane >= 16 ? (uint32_t)outstanding->split : 0;
    return (TensorPlace){outstanding->place.lane + row,
                         outstanding->place.column + far + column * (move->halves ? 2 : 1)};
}

/* Columns of each lane from the address on, of one half. */
static unsigned columns_of(const MmaMove *move) {
    static const uint8_t columns[] = {
        [MOVE_32X32] = 1, [MOVE_16X64] = 2, [MOVE_16X128] = 4, [MOVE_16X256] = 8, [MOVE_16X32X2] = 1};
    static const uint8_t registers[] = {
        [MOVE_32X32] = 1, [MOVE_16X64] = 1, [MOVE_16X128] = 2, [MOVE_16X256] = 4, [MOVE_16X32X2] = 1};
    return move->count / registers[move->shape] * columns[move->shape] * (move->halves ? 2u : 1u);
}

static TensorArea area_of(const MmaMove *move, const OutstandingMove *outstanding, bool second) {
    TensorArea area = {.lane_count = move->shape == MOVE_32X32 ? 32 : 16,
                       .column = outstanding->place.column + (second ? (uint32_t)outstanding->split : 0),
                       .columns = columns_of(move)};
    for (uint32_t i = 0; i < area.lane_count; ++i)
        area.lanes[i] = outstanding->place.lane + i;
    return area;
}

/* ---- Landing ---- */

static uint32_t reduce(const MmaMove *move, uint32_t a, uint32_t b) {
    bool second;
    if (move->reduces == 'f') {
        float x = as_single(a), y = as_single(b);
        if (x != x || y != y)
            return move->keeps_nan ? 0x7fffffff : x != x ? b : a;
        second = move->maximum ? y > x : y < x;
    } else if (move->reduces == 's')
        second = move->maximum ? (int32_t)b > (int32_t)a : (int32_t)b < (int32_t)a;
    else
        second = move->maximum ? b > a : b < a;
    return second ? b : a;
}

static void put_register(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument,
                         const uint32_t values[PTX_LANES], uint32_t lanes, uint32_t unknown) {
    Lanes row;
    for (unsigned lane = 0; lane < PTX_LANES; ++lane)
        row.at[lane] = values[lane];
    ptx_put(machine, group, argument, 0, &row, lanes, unknown & lanes);
}

/* Whether the words of a lane stand behind each other. */
static bool in_a_row(const MmaMove *move) {
    return (move->shape == MOVE_32X32 || move->shape == MOVE_16X32X2) && !move->halves;
}

static void load_words(const MmaMove *move, OutstandingMove *moved, const TensorMemory *memory) {
    memset(moved->unknown, 0, move->count * sizeof *moved->unknown);
    for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
        TensorPlace first = place_of(move, moved, lane, 0);
        const uint8_t *at = memory->block.bytes + tensor_offset(first.lane, first.column);
        bool together = in_a_row(move) &&
                        bytes_known(memory->block.states + tensor_offset(first.lane, first.column), 4u * move->count);
        for (unsigned r = 0; r < move->count; ++r) {
            if (together) {
                memcpy(&moved->values[r][lane], at + 4 * r, 4);
                continue;
            }
            TensorPlace place = place_of(move, moved, lane, r);
            bool known = true;
            uint32_t value = tensor_word(memory, place.lane, place.column, &known);
            if (move->halves)
                value = (value & 0xffff) | tensor_word(memory, place.lane, place.column + 1, &known) << 16;
            moved->values[r][lane] = value;
            moved->unknown[r] |= (uint32_t)!known << lane;
        }
    }
}

static void load(PtxMachine *machine, PtxGroup *group, const PtxCode *code, OutstandingMove *moved,
                 const TensorMemory *memory) {
    const MmaMove *move = code->detail;
    const PtxProgram *program = machine->program;
    const PtxArgument *d = code_argument(program, code, move->data);
    uint32_t reduced[PTX_LANES] = {0}, reduced_unknown = 0;
    load_words(move, moved, memory);
    for (unsigned r = 0; r < move->count; ++r) {
        uint32_t unknown = matrix_computes(machine, code) ? moved->unknown[r] : UINT32_MAX;
        for (unsigned lane = 0; move->reduced && lane < PTX_LANES; ++lane) {
            uint32_t taken = move->absolute ? moved->values[r][lane] & 0x7fffffff : moved->values[r][lane];
            reduced[lane] = r ? reduce(move, reduced[lane], taken) : taken;
        }
        reduced_unknown |= unknown;
        put_register(machine, group, matrix_register(program, d, r), moved->values[r], moved->lanes, unknown);
    }
    if (move->reduced)
        put_register(machine, group, code_argument(program, code, move->reduced), reduced, moved->lanes,
                     reduced_unknown);
}

static void store(PtxMachine *machine, PtxOutstanding *outstanding, TensorMemory *memory) {
    const MmaMove *move = outstanding->code->detail;
    const OutstandingMove *moved = outstanding->detail;
    bool computes = matrix_computes(machine, outstanding->code);
    uint32_t unknown = computes ? 0 : UINT32_MAX;
    for (unsigned r = 0; r < move->count; ++r)
        unknown |= moved->unknown[r];
    for (unsigned lane = 0; lane < PTX_LANES; ++lane) {
        TensorPlace first = place_of(move, moved, lane, 0);
        uint32_t at = tensor_offset(first.lane, first.column);
        bool together = in_a_row(move) && !(unknown >> lane & 1);
        if (together)
            memset(memory->block.states + at, BYTE_KNOWN, 4u * move->count);
        for (unsigned r = 0; r < move->count; ++r) {
            uint32_t value = moved->values[r][lane];
            if (together) {
                memcpy(memory->block.bytes + at + 4 * r, &value, 4);
                continue;
            }
            TensorPlace place = place_of(move, moved, lane, r);
            bool known = computes && !(moved->unknown[r] >> lane & 1);
            tensor_set(memory, place.lane, place.column, move->halves ? value & 0xffff : value, known);
            if (move->halves)
                tensor_set(memory, place.lane, place.column + 1, value >> 16, known);
        }
    }
}

static bool check(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, const OutstandingMove *moved,
                  const TensorMemory *memory) {
    const MmaMove *move = code->detail;
    TensorArea first = area_of(move, moved, false), second = area_of(move, moved, true);
    return tensor_check(machine, code, warp, moved->lanes, memory, &first) &&
           (move->shape != MOVE_16X32X2 || tensor_check(machine, code, warp, moved->lanes, memory, &second));
}

static void land(PtxMachine *machine, PtxOutstanding *outstanding) {
    const MmaMove *move = outstanding->code->detail;
    OutstandingMove *moved = outstanding->detail;
    TensorMemory *memory = tensor_memory(machine, outstanding->warp->cta);
    if (check(machine, outstanding->code, outstanding->warp, moved, memory)) {
        TensorArea first = area_of(move, moved, false), second = area_of(move, moved, true);
        AccessKind kind = move->stores ? KIND_WRITE : KIND_READ;
        tensor_emit(machine, outstanding, kind, memory, &first);
        if (move->shape == MOVE_16X32X2)
            tensor_emit(machine, outstanding, kind, memory, &second);
        if (move->stores)
            store(machine, outstanding, memory);
    }
    pool_give(machine, moved, sizeof *moved);
}

/* ---- Issuing ---- */

/* A warp reaches a quarter of the lanes. */
static PtxStep check_lanes(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                           const OutstandingMove *moved) {
    const MmaMove *move = code->detail;
    uint32_t first = group->warp->index % 4 * 32, high = move->shape == MOVE_32X32 ? 32 : 16;
    if (moved->place.lane >= first && moved->place.lane + high <= first + 32)
        return PTX_STEP_NEXT;
    return fault_with(machine, RULE_TMEM_LANES, code, group->warp, lanes, 0, moved->place.lane,
                      machine_sentence(machine, "warp %u of its warpgroup reaches lanes %u to %u, and not %u to %u",
                                       group->warp->index % 4, first, first + 31, moved->place.lane,
                                       moved->place.lane + high - 1));
}

static void take_registers(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                           OutstandingMove *moved) {
    const MmaMove *move = code->detail;
    const PtxArgument *data = code_argument(machine->program, code, move->data);
    for (unsigned r = 0; r < move->count; ++r) {
        Lanes scratch;
        moved->unknown[r] = ~lanes;
        const Lanes *values =
            ptx_fetch(machine, group, matrix_register(machine->program, data, r), 0, &scratch, &moved->unknown[r]);
        for (unsigned lane = 0; lane < PTX_LANES; ++lane)
            moved->values[r][lane] = (uint32_t)values->at[lane];
    }
}

static PtxStep issue(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint64_t address,
                     int32_t split) {
    const MmaMove *move = code->detail;
    OutstandingMove *moved = pool_take(machine, sizeof *moved);
    moved->place = tensor_place(address);
    moved->split = split;
    moved->lanes = lanes;
    TensorMemory *memory = tensor_memory(machine, group->warp->cta);
    PtxStep step = check_lanes(machine, group, code, lanes, moved);
    if (step == PTX_STEP_NEXT && !check(machine, code, group->warp, moved, memory))
        step = PTX_STEP_FAULT;
    if (step != PTX_STEP_NEXT) {
        pool_give(machine, moved, sizeof *moved);
        return step;
    }
    if (move->stores)
        take_registers(machine, group, code, lanes, moved);
    else
        load(machine, group, code, moved, memory);
    PtxOutstanding outstanding = {.code = code,
                                  .warp = group->warp,
                                  .lane = (uint32_t)__builtin_ctz(lanes),
                                  .group = move->stores ? GROUP_TENSOR_STORE : GROUP_TENSOR_LOAD,
                                  .land = land,
                                  .detail = moved};
    return ptx_fly(machine, &outstanding) ? PTX_STEP_NEXT : PTX_STEP_FAULT;
}

static PtxStep run_move(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MmaMove *move = code->detail;
    PtxStep step;
    uint64_t address, split = 0;
    if (!runs_together(machine, group, code, lanes, &step) ||
        !tensor_address(machine, group, code, move->address, (uint32_t)__builtin_ctz(lanes), &address, &step))
        return step;
    const PtxArgument *argument = code_argument(machine->program, code, move->split);
    if (move->split && !fetch_uniform(machine, group, code, argument, lanes, &split, &step))
        return step;
    return issue(machine, group, code, lanes, address, (int32_t)split);
}

static bool shape_of(const PtxCode *code, MoveShape *shape) {
    static const struct {
        const char *word;
        MoveShape shape;
    } words[] = {{"32x32b", MOVE_32X32},
                 {"16x64b", MOVE_16X64},
                 {"16x128b", MOVE_16X128},
                 {"16x256b", MOVE_16X256},
                 {"16x32bx2", MOVE_16X32X2}};
    for (unsigned i = 0; i < sizeof words / sizeof *words; ++i)
        if (code_has(code, str_of(words[i].word))) {
            *shape = words[i].shape;
            return true;
        }
    return false;
}

bool tensor_move_prepare(const PtxPrepare *about, PtxCode *code) {
    MmaMove move = {.stores = effect_with(about, EFFECT_WRITE) != NULL};
    if (about->evaluator != PTX_EVALUATE_TENSOR_MOVE || !shape_of(code, &move.shape))
        return false;
    bool reduces = code_has(code, STR("red")), split = move.shape == MOVE_16X32X2;
    move.halves = code_has(code, STR("pack::16b")) || code_has(code, STR("unpack::16b"));
    move.reduced = reduces ? 1 : 0;
    move.address = move.stores ? 0 : reduces ? 2 : 1;
    move.split = split ? (uint8_t)(move.address + 1) : 0;
    move.data = move.stores ? (split ? 2 : 1) : 0;
    move.maximum = code_has(code, STR("max"));
    move.absolute = code_has(code, STR("abs"));
    move.keeps_nan = code_has(code, STR("NaN"));
    move.reduces = code_has(code, STR("f32")) ? 'f' : code_has(code, STR("s32")) ? 's' : 'u';
    if (code->count < 2u + reduces + split)
        return false;
    uint32_t count = matrix_register_count(code_argument(about->program, code, move.data));
    move.count = (uint16_t)count;
    return count <= MOVE_REGISTERS && take_code(about, code, run_move, &move, sizeof move);
}
