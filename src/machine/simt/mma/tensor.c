/* Tensor memory: who has which columns, commits of what is in flight to an mbarrier, and fences. */
#include "machine/simt/mma/tensor.h"

#include <string.h>

CtaMatrix *cta_matrix(PtxMachine *machine, PtxCta *cta) {
    if (!cta->tensor) {
        CtaMatrix *made = ARENA_NEW(&machine->arena, CtaMatrix);
        made->warps = arena_zalloc(&machine->arena, cta->warp_count * sizeof *made->warps);
        cta->tensor = made;
    }
    return cta->tensor;
}

void tensor_cta_begin(PtxMachine *machine, PtxCta *cta) {
    (void)machine;
    cta->tensor = NULL;
}

TensorMemory *tensor_memory(PtxMachine *machine, PtxCta *cta) {
    CtaMatrix *matrix = cta_matrix(machine, cta);
    if (!matrix->memory) {
        TensorMemory *memory = ARENA_NEW(&machine->arena, TensorMemory);
        memory->block =
            (PtxBlock){.space = PTX_SPACE_TENSOR, .size = TENSOR_BYTES, .name = "tensor memory", .cta = cta->number};
        matrix->memory = memory;
    }
    return matrix->memory;
}

PtxCta *tensor_peer(PtxMachine *machine, const PtxCta *cta) {
    uint32_t other = cta->number ^ 1;
    if (machine->cluster_size % 2 || other >= machine->cta_count)
        return NULL;
    return machine->ctas[other];
}

/* ---- Words ---- */

uint32_t tensor_word(const TensorMemory *memory, uint32_t lane, uint32_t column, bool *known) {
    uint32_t at = tensor_offset(lane, column), value;
    *known &= bytes_known(memory->block.states + at, 4);
    memcpy(&value, memory->block.bytes + at, sizeof value);
    return value;
}

void tensor_set(TensorMemory *memory, uint32_t lane, uint32_t column, uint32_t value, bool known) {
    uint32_t at = tensor_offset(lane, column);
    memcpy(memory->block.bytes + at, &value, sizeof value);
    memset(memory->block.states + at, known ? BYTE_KNOWN : BYTE_UNKNOWN, sizeof value);
}

static bool has_column(const TensorMemory *memory, uint32_t column) {
    return column < TENSOR_COLUMNS && memory->units >> column / TENSOR_UNIT & 1;
}

bool tensor_check(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lanes,
                  const TensorMemory *memory, const TensorArea *area) {
    for (uint32_t i = 0; i < area->lane_count; ++i)
        if (area->lanes[i] >= TENSOR_LANES) {
            fault_with(machine, RULE_TMEM_LANES, code, warp, lanes, 0, area->lanes[i],
                       machine_sentence(machine, "lane %u of tensor memory, which has 128", area->lanes[i]));
            return false;
        }
    for (uint32_t column = area->column; column < area->column + area->columns; ++column)
        if (!has_column(memory, column)) {
            fault_with(machine, RULE_TMEM_OUTSIDE, code, warp, lanes, 0, column,
                       machine_sentence(machine, "column %u of tensor memory is not allocated", column));
            return false;
        }
    return true;
}

void tensor_emit(PtxMachine *machine, const PtxOutstanding *outstanding, AccessKind kind, TensorMemory *memory,
                 const TensorArea *area) {
    PtxLocation locations[TENSOR_LANES];
    for (uint32_t i = 0; i < area->lane_count; ++i)
        locations[i] = (PtxLocation){&memory->block, tensor_offset(area->lanes[i], area->column)};
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = outstanding->code,
                                  .warp = outstanding->warp,
                                  .lanes = UINT32_C(1) << outstanding->lane,
                                  .outstanding = outstanding,
                                  .locations = locations,
                                  .location_count = area->lane_count,
                                  .changes = UINT32_C(1) << outstanding->lane,
                                  .access = {.kind = (uint8_t)kind,
                                             .proxy = PROXY_GENERIC,
                                             .order = ORDER_WEAK,
                                             .element = 4,
                                             .bytes = area->columns * 4,
                                             .used = UINT32_MAX}});
}

bool tensor_address(PtxMachine *machine, PtxGroup *group, const PtxCode *code, unsigned operand, uint32_t lane,
                    uint64_t *address, PtxStep *step) {
    Lanes scratch;
    uint32_t unknown = 0;
    const PtxArgument *argument = code_argument(machine->program, code, operand);
    const Lanes *values = ptx_fetch_address(machine, group, argument, &scratch, &unknown);
    *address = values->at[lane] & UINT32_MAX;
    if (unknown >> lane & 1)
        *step = ptx_stop(machine, code, "its address in tensor memory is not known");
    return !(unknown >> lane & 1);
}

bool tensor_fly(PtxMachine *machine, PtxOutstanding *outstanding) {
    WarpMatrix *warp = &cta_matrix(machine, outstanding->warp->cta)->warps[outstanding->warp->index];
    outstanding->after = warp->issued[outstanding->lane];
    warp->issued[outstanding->lane] = machine->next_sequence + 1;
    return ptx_fly(machine, outstanding);
}

/* ---- Allocation ---- */

typedef enum TensorLife { LIFE_ALLOCATE, LIFE_FREE, LIFE_RELINQUISH } TensorLife;

typedef struct LifeDetail {
    TensorLife what;
    PtxSpace space;
    bool pair; /* by two CTAs together */
} LifeDetail;

/* The first units in a row that are free; TENSOR_UNIT if there are not that many. */
static uint32_t free_units(const TensorMemory *memory, uint32_t units) {
    for (uint32_t at = 0; at + units <= TENSOR_COLUMNS / TENSOR_UNIT; at += units)
        if (!(memory->units >> at & ((UINT32_C(1) << units) - 1)))
            return at;
    return TENSOR_UNIT;
}

bool tensor_has_columns(const PtxMachine *machine, const PtxGroup *group) {
    (void)machine;
    const CtaMatrix *matrix = group->warp->cta->tensor;
    uint32_t units = (group->waits_for & ~PTX_WAITS_COLUMNS) / TENSOR_UNIT;
    return !matrix || !matrix->memory || free_units(matrix->memory, units) != TENSOR_UNIT;
}

/* Bytes of tensor memory are kept as long as some of it is allocated. */
static void take_bytes(PtxMachine *machine, TensorMemory *memory, uint32_t at, uint32_t units) {
    if (!memory->block.bytes) {
        memory->block.bytes = pool_take(machine, TENSOR_BYTES);
        memory->block.states = pool_take(machine, TENSOR_BYTES);
        memset(memory->block.bytes, 0, TENSOR_BYTES);
        memset(memory->block.states, BYTE_NEVER, TENSOR_BYTES);
    }
    for (uint32_t lane = 0; lane < TENSOR_LANES; ++lane)
        memset(memory->block.states + tensor_offset(lane, at * TENSOR_UNIT), BYTE_NEVER,
               (size_t)units * TENSOR_UNIT * 4);
}

static void give_bytes(PtxMachine *machine, TensorMemory *memory) {
    pool_give(machine, memory->block.bytes, TENSOR_BYTES);
    pool_give(machine, memory->block.states, TENSOR_BYTES);
    memory->block.bytes = memory->block.states = NULL;
}

/* Where an allocation begins is written to shared memory. */
static PtxStep write_address(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                             uint32_t value) {
    const LifeDetail *detail = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, one = lanes & -lanes;
    const PtxArgument *argument = code_argument(machine->program, code, 0);
    const Lanes *addresses = ptx_fetch_address(machine, group, argument, &scratch, &unknown);
    PtxLocation locations[PTX_LANES] = {{0}};
    if (!ptx_resolve(machine, group, code, detail->space, addresses, unknown, 4, 4, &one, locations))
        return PTX_STEP_FAULT;
    if (!one)
        return ptx_stop(machine, code, "the address that it writes to is not known");
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = one,
                                  .locations = locations,
                                  .location_count = PTX_LANES,
                                  .changes = one,
                                  .access = {.kind = KIND_WRITE,
                                             .proxy = PROXY_GENERIC,
                                             .order = ORDER_WEAK,
                                             .element = 4,
                                             .bytes = 4,
                                             .used = UINT32_MAX}});
    ptx_store(machine, locations[__builtin_ctz(one)], 4, value, true);
    return PTX_STEP_NEXT;
}

static PtxStep allocate(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, TensorMemory *memory,
                        uint32_t columns) {
    if (memory->relinquished)
        return fault_with(machine, RULE_TMEM_AFTER_RELINQUISH, code, group->warp, lanes, 0, 0,
                          "its CTA has given up the right to allocate");
    uint32_t units = columns / TENSOR_UNIT, at = free_units(memory, units);
    if (at == TENSOR_UNIT) {
        group->status = PTX_IS_REGISTERS;
        group->waits_for = columns | PTX_WAITS_COLUMNS;
        return PTX_STEP_WAITS;
    }
    PtxStep step = write_address(machine, group, code, lanes, at * TENSOR_UNIT);
    if (step != PTX_STEP_NEXT)
        return step;
    const LifeDetail *detail = code->detail;
    if (detail->pair && machine->cluster_size % 2 == 0)
        ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_PEER,
                                      .code = code,
                                      .warp = group->warp,
                                      .lanes = lanes,
                                      .place = (uint64_t)(group->warp->cta->number ^ 1) << 32});
    take_bytes(machine, memory, at, units);
    memory->units |= ((UINT32_C(1) << units) - 1) << at;
    memory->begins |= UINT32_C(1) << at;
    machine->changes++;
    return PTX_STEP_NEXT;
}

static PtxStep release(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, TensorMemory *memory,
                       uint32_t columns) {
    uint64_t address;
    PtxStep step;
    const PtxArgument *argument = code_argument(machine->program, code, 0);
    if (!fetch_uniform(machine, group, code, argument, lanes, &address, &step))
        return step;
    TensorPlace place = tensor_place(address);
    uint32_t unit = place.column / TENSOR_UNIT, mask = (UINT32_C(1) << columns / TENSOR_UNIT) - 1;
    bool whole = place.column < TENSOR_COLUMNS && place.column % TENSOR_UNIT == 0 && memory->begins >> unit & 1 &&
                 (memory->units >> unit & mask) == mask && !(memory->begins >> unit & mask & ~UINT32_C(1));
    if (!whole)
        return fault_with(machine, RULE_TMEM_OUTSIDE, code, group->warp, lanes, 0, place.column,
                          machine_sentence(machine,
                                           "it frees %u columns from column %u on, which were not allocated so",
                                           columns, place.column));
    memory->units &= ~(mask << unit);
    memory->begins &= ~(UINT32_C(1) << unit);
    if (!memory->units)
        give_bytes(machine, memory);
    machine->changes++;
    return PTX_STEP_NEXT;
}

static PtxStep run_life(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const LifeDetail *detail = code->detail;
    PtxStep step;
    uint64_t columns;
    if (!runs_together(machine, group, code, lanes, &step))
        return step;
    TensorMemory *memory = tensor_memory(machine, group->warp->cta);
    if (detail->what == LIFE_RELINQUISH) {
        memory->relinquished = true;
        return PTX_STEP_NEXT;
    }
    const PtxArgument *argument = code_argument(machine->program, code, 1);
    if (!fetch_uniform(machine, group, code, argument, lanes, &columns, &step))
        return step;
    if (columns < TENSOR_UNIT || columns > TENSOR_COLUMNS || (columns & (columns - 1)))
        return fault_with(
            machine, RULE_TMEM_SIZE, code, group->warp, lanes, 0, (int64_t)columns,
            machine_sentence(machine, "%u columns: a power of two from 32 to 512 is needed", (uint32_t)columns));
    if (detail->what == LIFE_ALLOCATE)
        return allocate(machine, group, code, lanes, memory, (uint32_t)columns);
    return release(machine, group, code, lanes, memory, (uint32_t)columns);
}

static bool life_prepare(const PtxPrepare *about, PtxCode *code) {
    LifeDetail detail = {.space = space_of(code)};
    const PtxEffect *found;
    if ((found = effect_with(about, EFFECT_ALLOCATE)))
        detail.what = LIFE_ALLOCATE;
    else if ((found = effect_with(about, EFFECT_FREE)))
        detail.what = LIFE_FREE;
    else if ((found = effect_with(about, EFFECT_RELINQUISH)))
        detail.what = LIFE_RELINQUISH;
    if (!found || found->effect.space != SPACE_TENSOR || code->count != (detail.what == LIFE_RELINQUISH ? 0 : 2))
        return false;
    detail.pair = found->effect.pair;
    return take_code(about, code, run_life, &detail, sizeof detail);
}

/* ---- Commits ---- */

typedef struct CommitDetail {
    PtxSpace space;
    bool multicast;
    uint8_t order, scope;
} CommitDetail;

/* An arrival at an mbarrier of each of some CTAs. */
typedef struct Commit {
    uint32_t count;
    uint64_t places[32];
} Commit;

static void land_commit(PtxMachine *machine, PtxOutstanding *outstanding) {
    const CommitDetail *detail = outstanding->code->detail;
    Commit *commit = outstanding->detail;
    for (uint32_t i = 0; i < commit->count; ++i)
        if (!ptx_mbarrier_bring(machine, &(PtxEvent){.kind = PTX_EVENT_ARRIVE,
                                                     .code = outstanding->code,
                                                     .warp = outstanding->warp,
                                                     .lanes = UINT32_C(1) << outstanding->lane,
                                                     .outstanding = outstanding,
                                                     .place = commit->places[i],
                                                     .count = 1,
                                                     .order = detail->order,
                                                     .scope = detail->scope}))
            break;
    pool_give(machine, commit, sizeof *commit);
}

/* The mbarriers at the same address in the CTAs of a mask. */
static void multicast(PtxMachine *machine, const PtxCta *cta, uint32_t address, uint64_t mask, Commit *commit) {
    uint32_t first = cta->number - cta->rank;
    for (uint32_t rank = 0; rank < machine->cluster_size && rank < 16; ++rank)
        if (mask >> rank & 1)
            commit->places[commit->count++] = (uint64_t)(first + rank) << 32 | address;
}

static PtxStep commit_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane,
                           PtxLocation location, uint64_t mask) {
    const CommitDetail *detail = code->detail;
    Commit *commit = pool_take(machine, sizeof *commit);
    uint64_t place = ptx_place(location);
    commit->count = 0;
    if (detail->multicast)
        multicast(machine, group->warp->cta, (uint32_t)place, mask, commit);
    else
        commit->places[commit->count++] = place;
    for (uint32_t i = 0; i < commit->count; ++i)
        ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_COMMIT_TO,
                                      .code = code,
                                      .warp = group->warp,
                                      .lanes = UINT32_C(1) << lane,
                                      .place = commit->places[i],
                                      .count = 1,
                                      .order = detail->order,
                                      .scope = detail->scope});
    PtxOutstanding outstanding = {.code = code,
                                  .warp = group->warp,
                                  .lane = lane,
                                  .place = commit->count ? commit->places[0] : PTX_NO_PLACE,
                                  .land = land_commit,
                                  .detail = commit};
    return tensor_fly(machine, &outstanding) ? PTX_STEP_NEXT : PTX_STEP_FAULT;
}

/* Without a state space the address is generic, says the PTX ISA. The hardware takes the lower 32 bits of it, which are
 * an address of shared memory either way, and compilers (Triton) hand it one of shared memory. */
static PtxSpace commit_space(const CommitDetail *detail, const Lanes *addresses, uint32_t lanes) {
    for (uint32_t left = lanes; left; left &= left - 1)
        if (addresses->at[__builtin_ctz(left)] > UINT32_MAX)
            return detail->space;
    return PTX_SPACE_CLUSTER;
}

static PtxStep run_commit(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const CommitDetail *detail = code->detail;
    const PtxProgram *program = machine->program;
    Lanes scratch, other;
    uint32_t unknown = 0, there = lanes, mask_unknown = 0;
    PtxLocation locations[PTX_LANES];
    const Lanes *addresses = ptx_fetch_address(machine, group, code_argument(program, code, 0), &scratch, &unknown);
    PtxSpace space = commit_space(detail, addresses, lanes & ~unknown);
    if (!ptx_resolve(machine, group, code, space, addresses, unknown, 8, 8, &there, locations))
        return PTX_STEP_FAULT;
    const Lanes *masks = NULL;
    if (detail->multicast)
        masks = ptx_fetch(machine, group, code_argument(program, code, 1), 0, &other, &mask_unknown);
    if (there != lanes || mask_unknown & lanes)
        return ptx_stop(machine, code, "which mbarriers it commits to is not known");
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        PtxStep step = commit_lane(machine, group, code, lane, locations[lane], masks ? masks->at[lane] : 0);
        if (step != PTX_STEP_NEXT)
            return step;
    }
    return PTX_STEP_NEXT;
}

static bool commit_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *arrive = effect_with(about, EFFECT_ARRIVE);
    if (!arrive || arrive->effect.done != DONE_COMMIT || !code->count)
        return false;
    CommitDetail detail = {.space = space_of(code),
                           .multicast = arrive->effect.multicast && code->count > 1,
                           .order = (uint8_t)arrive->effect.order,
                           .scope = (uint8_t)arrive->effect.scope};
    return take_code(about, code, run_commit, &detail, sizeof detail);
}

/* ---- Fences ---- */

static PtxStep run_fence(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const Order *order = code->detail;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_FENCE,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = lanes,
                                  .order = (uint8_t)*order,
                                  .space = PTX_SPACE_TENSOR,
                                  .proxy = PROXY_GENERIC});
    return PTX_STEP_NEXT;
}

static bool fence_prepare_tensor(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *fence = effect_with(about, EFFECT_FENCE_ORDER);
    if (!fence || fence->effect.spaces != 1u << SPACE_TENSOR)
        return false;
    return take_code(about, code, run_fence, &fence->effect.order, sizeof fence->effect.order);
}

bool tensor_prepare(const PtxPrepare *about, PtxCode *code) {
    return tensor_move_prepare(about, code) || tensor_copy_prepare(about, code) || tensor_mma_prepare(about, code) ||
           life_prepare(about, code) || commit_prepare(about, code) || fence_prepare_tensor(about, code);
}
