/* Barriers of the machine of PTX: who takes which instruction, fences, and what they share. */
#include "machine/simt/sync/barriers.h"

#include <stdarg.h>

/* ---- Preparing ---------------------------------------------------------------------------------- */

const PtxArgument *named_argument(const PtxPrepare *about, const PtxCode *code, Str name) {
    return name.size ? code_named(about->program, code, name) : NULL;
}

const PtxEffect *effect_with(const PtxPrepare *about, EffectVerb verb) {
    for (unsigned i = 0; i < about->effect_count; i++)
        if (about->effects[i].effect.verb == verb)
            return &about->effects[i];
    return NULL;
}

PtxSpace space_of(const PtxCode *code) {
    Str space = code_modifier(code, STR("space"));
    if (!space.size)
        return PTX_SPACE_UNKNOWN;
    if (str_is(space, "global"))
        return PTX_SPACE_GLOBAL;
    return str_is(space, "shared::cluster") ? PTX_SPACE_CLUSTER : PTX_SPACE_SHARED;
}

bool take_code(const PtxPrepare *about, PtxCode *code, PtxRun *run, const void *detail, size_t size) {
    code->run = run;
    if (size)
        code->detail = memcpy(arena_alloc(about->program->arena, size), detail, size);
    code->visible = true;
    return true;
}

bool barrier_prepare(const PtxPrepare *about, PtxCode *code) {
    return named_prepare(about, code) || cluster_prepare(about, code) || mbarrier_prepare(about, code) ||
           group_prepare(about, code) || fence_prepare(about, code);
}

/* ---- Running ------------------------------------------------------------------------------------ */

const char *machine_sentence(PtxMachine *machine, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    return text_keep(&text, &machine->arena);
}

PtxStep fault_with(PtxMachine *machine, RuleId rule, const PtxCode *code, const PtxWarp *warp, uint32_t lanes,
                   uint64_t place, int64_t amount, const char *what) {
    machine->fault = (PtxFault){
        .rule = rule, .code = code, .warp = warp, .lanes = lanes, .address = place, .amount = amount, .what = what};
    return PTX_STEP_FAULT;
}

PtxStep barriers_divergent(PtxMachine *machine, const PtxGroup *group, const PtxCode *code) {
    return fault_with(machine, RULE_THREADS_DIVERGENT_WARP, code, group->warp, group->lanes, 0, 0,
                      machine_sentence(machine, "%d of the warp's %d lanes run it, and the others do not",
                                       __builtin_popcount(group->lanes), __builtin_popcount(live_lanes(group->warp))));
}

bool runs_together(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, PtxStep *step) {
    uint32_t live = live_lanes(group->warp);
    if (lanes == live)
        return true;
    if (lanes != group->lanes) {
        *step = fault_with(machine, RULE_THREADS_DIVERGENT_WARP, code, group->warp, lanes, 0, 0,
                           machine_sentence(machine, "%d of the warp's %d lanes run it: its guard is false in others",
                                            __builtin_popcount(lanes), __builtin_popcount(live)));
        return false;
    }
    if (ptx_gather(machine, group, code, live))
        return true;
    *step = PTX_STEP_WAITS;
    if (machine->unknown) { /* the others are at another instruction */
        machine->unknown = NULL;
        machine->unknown_why = NULL;
        *step = barriers_divergent(machine, group, code);
    }
    return false;
}

bool fetch_uniform(PtxMachine *machine, PtxGroup *group, const PtxCode *code, const PtxArgument *argument,
                   uint32_t lanes, uint64_t *value, PtxStep *step) {
    Lanes scratch;
    uint32_t unknown = 0;
    if (argument->kind == ARGUMENT_CONSTANT) {
        *value = machine->program->constants[argument->slot].at[0];
        return true;
    }
    const Lanes *values = ptx_fetch(machine, group, argument, 0, &scratch, &unknown);
    if (unknown & lanes) {
        *step = ptx_stop(machine, code, "a number that it goes by is not known");
        return false;
    }
    *value = values->at[__builtin_ctz(lanes)];
    for (uint32_t left = lanes; left; left &= left - 1)
        if (values->at[__builtin_ctz(left)] != *value) {
            *step = ptx_stop(machine, code, "a number that it goes by differs between lanes of the warp");
            return false;
        }
    return true;
}

/* ---- Memory of outstanding operations -------------------------------------------------------------------------- */

GridSync *grid_sync(PtxMachine *machine) {
    if (!machine->grid) {
        GridSync *grid = ARENA_NEW(&machine->arena, GridSync);
        uint32_t size = machine->cluster_size ? machine->cluster_size : 1;
        grid->begun = arena_sparse(&machine->arena, machine->cta_count / size + 1);
        machine->grid = grid;
    }
    return machine->grid;
}

/* 64 bytes, 128, ... */
static unsigned pool_class(size_t size) {
    unsigned class = 0;
    while ((size_t)64 << class < size)
        class ++;
    return class;
}

void *pool_take(PtxMachine *machine, size_t size) {
    GridSync *grid = grid_sync(machine);
    unsigned class = pool_class(size);
    void *memory = class < POOL_CLASSES ? grid->pool[class] : NULL;
    if (!memory)
        return arena_alloc(&machine->arena, (size_t)64 << class);
    memcpy(&grid->pool[class], memory, sizeof(void *));
    return memory;
}

void pool_give(PtxMachine *machine, void *memory, size_t size) {
    GridSync *grid = grid_sync(machine);
    unsigned class = pool_class(size);
    if (class >= POOL_CLASSES)
        return;
    memcpy(memory, &grid->pool[class], sizeof(void *));
    grid->pool[class] = memory;
}

/* ---- Fences, and the launches before ------------------------------------------------------------ */

typedef struct FenceDetail {
    PtxEvent event;             /* but for who */
    const PtxArgument *address; /* of a tensor map; NULL: none */
} FenceDetail;

static PtxStep fence_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const FenceDetail *detail = code->detail;
    PtxEvent event = detail->event;
    PtxLocation locations[PTX_LANES] = {0};
    event.code = code;
    event.warp = group->warp;
    if (detail->address) {
        Lanes scratch;
        uint32_t unknown = 0;
        const Lanes *addresses = ptx_fetch_address(machine, group, detail->address, &scratch, &unknown);
        if (!ptx_resolve(machine, group, code, PTX_SPACE_UNKNOWN, addresses, unknown, 128, 128, &lanes, locations))
            return PTX_STEP_FAULT;
        event.locations = locations;
        event.location_count = PTX_LANES;
        event.access.bytes = 128;
    }
    event.lanes = lanes;
    if (lanes)
        ptx_emit(machine, &event);
    return PTX_STEP_NEXT;
}

bool fence_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *effect = about->effect_count == 1 ? about->effects : NULL;
    if (!effect)
        return false;
    const Effect *what = &effect->effect;
    FenceDetail detail = {.event = {.kind = PTX_EVENT_FENCE}};
    if (what->verb == EFFECT_AWAIT_LAUNCHES) {
        detail.event.kind = PTX_EVENT_AWAIT_LAUNCHES;
    } else if (what->verb == EFFECT_TRIGGER_LAUNCHES) {
        detail.event.kind = PTX_EVENT_TRIGGER_LAUNCHES;
    } else if (what->verb == EFFECT_FENCE_ORDER || what->verb == EFFECT_FENCE_PROXY) {
        detail.event.order = (uint8_t)what->order;
        detail.event.scope = (uint8_t)what->scope;
        detail.event.proxy = (uint8_t)(what->verb == EFFECT_FENCE_PROXY ? what->proxy : PROXY_GENERIC);
        detail.event.sequential = effect->sequential;
        detail.event.inits = effect->inits;
        Space space = what->verb == EFFECT_FENCE_PROXY     ? what->space
                      : what->spaces == 1u << SPACE_SHARED ? SPACE_SHARED
                      : what->spaces == 1u << SPACE_TENSOR ? SPACE_TENSOR
                                                           : SPACE_NONE;
        static const PtxSpace spaces[] = {[SPACE_NONE] = PTX_SPACE_UNKNOWN,
                                          [SPACE_SHARED] = PTX_SPACE_SHARED,
                                          [SPACE_TENSOR] = PTX_SPACE_TENSOR,
                                          [SPACE_GLOBAL] = PTX_SPACE_GLOBAL};
        bool cluster = effect->any_cta || (what->order == ORDER_WEAK && what->scope == SCOPE_CLUSTER);
        detail.event.space = space == SPACE_SHARED && cluster ? PTX_SPACE_CLUSTER : spaces[space];
        detail.address = named_argument(about, code, effect->on);
    } else {
        return false;
    }
    return take_code(about, code, fence_run, &detail, sizeof detail);
}

/* ---- What the machine tells of threads and CTAs ------------------------------------------------- */

void barriers_cta_begin(PtxMachine *machine, PtxCta *cta) {
    GridSync *grid = grid_sync(machine);
    cta->sync = memset(pool_take(machine, sizeof(CtaSync)), 0, sizeof(CtaSync));
    for (uint32_t i = 0; i < cta->warp_count; i++)
        cta->warps[i].sync = memset(pool_take(machine, sizeof(WarpSync)), 0, sizeof(WarpSync));
    grid->begun[cta->cluster] |= CLUSTER_BEGUN;
    cluster_begin(machine, cta);
    registers_begin(machine, cta);
}

void barriers_cta_end(PtxMachine *machine, PtxCta *cta) {
    cluster_end(machine, cta);
    mbarriers_end(machine, cta);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        pool_give(machine, cta->warps[i].sync, sizeof(WarpSync));
        cta->warps[i].sync = NULL;
    }
    pool_give(machine, cta->sync, sizeof(CtaSync));
    cta->sync = NULL;
}

void barriers_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes) {
    named_exit(machine, warp);
    cluster_exit(machine, warp, lanes);
}

bool barriers_passes(const PtxMachine *machine, const PtxGroup *group) {
    const WarpSync *sync = warp_sync(group->warp);
    switch (group->status) {
    case PTX_IS_NAMED:
        return !(sync->waiting[group->waits_for] & group->lanes);
    case PTX_IS_CLUSTER:
        return !(sync->arrived & group->lanes);
    case PTX_IS_MBARRIER:
        return mbarrier_wait_is_over(machine, group);
    case PTX_IS_GROUP_WAIT:
        return group_wait_is_over(machine, group);
    case PTX_IS_REGISTERS:
        if (group->waits_for & PTX_WAITS_COLUMNS)
            return tensor_has_columns(machine, group);
        return cta_sync(group->warp->cta)->registers >= (int64_t)group->waits_for;
    default:
        return false;
    }
}

bool barriers_canceled(const PtxMachine *machine, uint32_t cluster) {
    const GridSync *grid = machine->grid;
    return grid && grid->begun[cluster] & CLUSTER_CANCELED;
}
