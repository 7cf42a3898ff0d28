/* Stores and reductions of registers that are over some time later (st.async, red.async), in shared memory of a cluster
 * or in global memory; and st.bulk, which fills shared memory with zeros at once. */
#include "machine/simt/async/copies.h"

enum { MOST_MEMBERS = 4, MOST_FILLED = 16777216 };

typedef struct RemoteDetail {
    const PtxArgument *to, *value, *bar;
    PtxSpace space;
    uint32_t bytes, members, each;
    ReduceAction action;
    ReduceType type;
    PtxAccess write;
} RemoteDetail;

typedef struct RemoteStore {
    PtxLocation to;
    uint8_t bytes[MOST_MEMBERS * 8], states[MOST_MEMBERS * 8];
} RemoteStore;

static void land_remote(PtxMachine *machine, PtxOutstanding *outstanding) {
    const RemoteDetail *detail = outstanding->code->detail;
    RemoteStore *store = outstanding->detail;
    if (location_is_there(machine, outstanding, store->to)) {
        CopyScratch *scratch = copy_scratch(machine, 1);
        pieces_add(machine, &scratch->writes, store->to, detail->bytes);
        report_pieces(machine, outstanding, &detail->write, &scratch->writes);
        if (detail->action)
            reduce_memory(machine, detail->action, detail->type, store->to, detail->bytes, store->bytes, store->states);
        ptx_store_bytes(machine, store->to, detail->bytes, store->bytes, store->states);
        if (outstanding->place != PTX_NO_PLACE)
            copy_completes(machine, outstanding, outstanding->place, detail->bytes);
    }
    pool_give(machine, store, sizeof *store);
}

static void take_values(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane, RemoteStore *store) {
    const RemoteDetail *detail = code->detail;
    memset(store->bytes, 0, sizeof store->bytes);
    memset(store->states, BYTE_UNKNOWN, sizeof store->states);
    if (machine->computes == COMPUTES_NEEDED && code->data)
        return;
    for (uint32_t i = 0; i < detail->members; i++) {
        const PtxArgument *member = detail->value->kind == ARGUMENT_MEMBERS
                                        ? argument_member(machine->program, detail->value, i)
                                        : detail->value;
        Lanes scratch;
        uint32_t unknown = 0;
        const Lanes *values = ptx_fetch(machine, group, member, 0, &scratch, &unknown);
        memcpy(store->bytes + i * detail->each, &values->at[lane], detail->each);
        memset(store->states + i * detail->each, unknown >> lane & 1 ? BYTE_UNKNOWN : BYTE_KNOWN, detail->each);
    }
}

static PtxStep remote_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const RemoteDetail *detail = code->detail;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        PtxLocation to, bar = {0};
        if (!find_location(machine, group, code, detail->to, detail->space, lane, detail->bytes, detail->bytes,
                           RULE_ACCESS_ALIGNMENT, &to) ||
            (detail->bar && !find_location(machine, group, code, detail->bar, detail->space, lane, 8, 8,
                                           RULE_MBARRIER_ALIGNMENT, &bar)))
            return failed(machine);
        if (detail->bar && bar.block != to.block)
            return ptx_fault(machine, group, RULE_CLUSTER_STORE_BARRIER, code, 1u << lane,
                             "its mbarrier is not in the CTA that it writes to");
        RemoteStore *store = pool_take(machine, sizeof *store);
        store->to = to;
        take_values(machine, group, code, lane, store);
        if (!ptx_fly(machine, &(PtxOutstanding){.code = code,
                                                .warp = group->warp,
                                                .lane = lane,
                                                .place = detail->bar ? ptx_place(bar) : PTX_NO_PLACE,
                                                .land = land_remote,
                                                .detail = store}))
            return PTX_STEP_FAULT;
    }
    return PTX_STEP_NEXT;
}

/* ---- Zeros -------------------------------------------------------------------------------------- */

typedef struct FillDetail {
    const PtxArgument *to, *size;
    PtxSpace space;
} FillDetail;

static PtxStep fill_lane(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    const FillDetail *detail = code->detail;
    PtxStep step = PTX_STEP_NEXT;
    PtxLocation to;
    uint64_t size;
    if (!lane_value(machine, group, code, detail->size, lane, &size, &step))
        return step;
    if (size % 8 || size > MOST_FILLED)
        return ptx_fault(machine, group, RULE_TMA_BULK_SIZE, code, 1u << lane,
                         machine_sentence(machine, "it fills %llu bytes, which has to be a multiple of 8",
                                          (unsigned long long)size));
    if (!size)
        return step;
    if (!find_location(machine, group, code, detail->to, detail->space, lane, size, 8, RULE_ACCESS_ALIGNMENT, &to))
        return failed(machine);
    CopyScratch *scratch = copy_scratch(machine, size);
    PtxLocation locations[PTX_LANES] = {0};
    locations[lane] = to;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = 1u << lane,
                                  .access = {.kind = KIND_WRITE, .element = 8, .bytes = (uint32_t)size, .used = ~0u},
                                  .locations = locations,
                                  .location_count = PTX_LANES,
                                  .changes = 1u << lane});
    memset(scratch->bytes, 0, size);
    memset(scratch->states, BYTE_KNOWN, size);
    ptx_store_bytes(machine, to, size, scratch->bytes, scratch->states);
    return step;
}

static PtxStep fill_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    return ptx_lane_by_lane(machine, group, code, lanes, fill_lane);
}

/* ---- Preparing ---------------------------------------------------------------------------------- */

static bool fill_prepare(const PtxPrepare *about, PtxCode *code, const PtxEffect *write) {
    FillDetail detail = {.to = named_argument(about, code, write->on),
                         .size = named_argument(about, code, write->count),
                         .space = space_of(code)};
    return detail.to && detail.size && take_code(about, code, fill_run, &detail, sizeof detail);
}

bool remote_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *write = effect_with(about, EFFECT_WRITE), *update = effect_with(about, EFFECT_UPDATE),
                    *complete = effect_with(about, EFFECT_COMPLETE), *to = write ? write : update;
    if (!to || effect_with(about, EFFECT_READ))
        return false;
    if (about->effect_count == 1 && write && write->effect.done == DONE_NOW && write->effect.space == SPACE_SHARED &&
        write->count.size)
        return fill_prepare(about, code, write);
    if (!to->value.size || (to->effect.done != DONE_TX && to->effect.done != DONE_END))
        return false;
    RemoteDetail detail = {.to = named_argument(about, code, to->on),
                           .value = named_argument(about, code, to->value),
                           .bar = complete ? named_argument(about, code, complete->on) : NULL,
                           .space = space_of(code),
                           .bytes = (uint32_t)to->effect.count,
                           .action = update ? reduce_action(code) : REDUCE_NONE};
    if (!detail.to || !detail.value || !detail.bytes || detail.bytes > MOST_MEMBERS * 8 || (complete && !detail.bar))
        return false;
    detail.members = detail.value->kind == ARGUMENT_MEMBERS ? detail.value->count : 1;
    detail.each = detail.bytes / detail.members;
    if (detail.each > 8 || (update && (detail.type = reduce_type(code_modifier(code, STR("t")))) == REDUCE_TYPES))
        return false;
    detail.write = (PtxAccess){.kind = (uint8_t)to->effect.verb,
                               .proxy = (uint8_t)to->effect.proxy,
                               .order = (uint8_t)to->effect.order,
                               .scope = (uint8_t)to->effect.scope,
                               .strong = to->effect.order != ORDER_WEAK,
                               .element = detail.each,
                               .bytes = detail.bytes,
                               .used = ~0u};
    return take_code(about, code, remote_run, &detail, sizeof detail);
}
