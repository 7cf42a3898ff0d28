/* Groups of asynchronous operations (cp.async and bulk copies of each thread, wgmma of each warp): commits and waits;
 * and the registers that warps hand on to each other (setmaxnreg). */
#include "machine/simt/sync/barriers.h"

int group_slot(GroupKind group) {
    switch (group) {
    case GROUP_CP_ASYNC:
        return SLOT_COPIES;
    case GROUP_TMA_STORE:
        return SLOT_BULK;
    case GROUP_WGMMA:
        return SLOT_WGMMA;
    default:
        return -1;
    }
}

typedef struct GroupDetail {
    uint8_t group;              /* GroupKind */
    uint8_t slot;               /* of those that are committed */
    bool commits, awaits;       /* first the one, then the other */
    bool sources, together;     /* sources: only what was read */
    const PtxArgument *pending; /* groups that may be left; NULL: none */
} GroupDetail;

/* Whether an outstanding operation is of a group that the lanes wait for, if the last `pending` ones may be left. */
static bool is_waited_for(const PtxOutstanding *outstanding, const PtxGroup *group, uint8_t kind, uint32_t pending) {
    const WarpSync *sync = warp_sync(group->warp);
    int slot = group_slot((GroupKind)kind);
    if (outstanding->warp != group->warp || outstanding->group != kind)
        return false;
    if (kind == GROUP_WGMMA)
        return outstanding->groups + pending < sync->committed[slot][0];
    uint32_t lanes = outstanding->lanes & group->lanes;
    if (slot < 0)
        return lanes != 0;
    return lanes && outstanding->groups + pending < sync->committed[slot][__builtin_ctz(lanes)];
}

static bool all_landed(const PtxMachine *machine, const PtxGroup *group, uint8_t kind, uint32_t pending) {
    if (!warp_sync(group->warp)->flying[kind])
        return true;
    for (uint32_t i = 0; i < machine->outstanding_count; i++)
        if (is_waited_for(machine->outstanding_ops[i], group, kind, pending))
            return false;
    return true;
}

bool group_wait_is_over(const PtxMachine *machine, const PtxGroup *group) {
    return all_landed(machine, group, (uint8_t)(group->place >> 32), (uint32_t)group->place);
}

static void commit(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const GroupDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    ptx_emit(machine,
             &(PtxEvent){
                 .kind = PTX_EVENT_COMMIT, .code = code, .warp = group->warp, .lanes = lanes, .group = detail->group});
    uint32_t *committed = sync->committed[detail->slot];
    if (detail->group == GROUP_WGMMA)
        lanes = 1;
    for (; lanes; lanes &= lanes - 1)
        committed[__builtin_ctz(lanes)]++;
}

static PtxStep group_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const GroupDetail *detail = code->detail;
    PtxStep step = PTX_STEP_NEXT;
    uint64_t pending = 0;
    if (detail->together && !runs_together(machine, group, code, lanes, &step))
        return step;
    if (detail->pending && !fetch_uniform(machine, group, code, detail->pending, lanes, &pending, &step))
        return step;
    if (detail->commits) /* of one that waited, and comes here again, a group of nothing: it is complete */
        commit(machine, group, code, lanes);
    if (!detail->awaits)
        return PTX_STEP_NEXT;
    if (!all_landed(machine, group, detail->group, (uint32_t)pending)) {
        group->status = PTX_IS_GROUP_WAIT;
        group->place = (uint64_t)detail->group << 32 | (uint32_t)pending;
        return PTX_STEP_WAITS;
    }
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_AWAIT,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = lanes,
                                  .group = detail->group,
                                  .count = (int64_t)pending,
                                  .read_only = detail->sources});
    return PTX_STEP_NEXT;
}

/* ---- Registers ---------------------------------------------------------------------------------- */

void registers_begin(PtxMachine *machine, PtxCta *cta) {
    GridSync *grid = grid_sync(machine);
    if (!grid->registers)
        grid->registers = ptx_first_registers(machine->program->module, machine->program->entry) + 1;
    uint32_t count = grid->registers - 1;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        warp_sync(&cta->warps[i])->registers = count;
}

typedef struct RegisterDetail {
    const PtxArgument *count;
    bool more;
} RegisterDetail;

static PtxStep register_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const RegisterDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    CtaSync *cta = cta_sync(group->warp->cta);
    PtxStep step = PTX_STEP_NEXT;
    uint64_t count;
    if (!runs_together(machine, group, code, lanes, &step) ||
        !fetch_uniform(machine, group, code, detail->count, lanes, &count, &step))
        return step;
    if (!sync->registers)
        return PTX_STEP_NEXT;
    if (detail->more ? count < sync->registers : count > sync->registers)
        return fault_with(machine, RULE_REGISTERS_COUNT, code, group->warp, lanes, 0, (int64_t)count,
                          machine_sentence(machine, "it asks for %llu registers, and its threads have %u",
                                           (unsigned long long)count, sync->registers));
    int64_t change = ((int64_t)count - sync->registers) * PTX_LANES;
    if (change > cta->registers) {
        group->status = PTX_IS_REGISTERS;
        group->waits_for = (uint32_t)change;
        return PTX_STEP_WAITS;
    }
    cta->registers -= change;
    sync->registers = (uint32_t)count;
    machine->changes++;
    return PTX_STEP_NEXT;
}

/* ---- Preparing ---------------------------------------------------------------------------------- */

static bool register_prepare(const PtxPrepare *about, PtxCode *code, const PtxEffect *effect) {
    RegisterDetail detail = {.count = named_argument(about, code, effect->count), .more = code_has(code, STR("inc"))};
    if (!detail.count)
        return false;
    return take_code(about, code, register_run, &detail, sizeof detail);
}

bool group_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *commits = effect_with(about, EFFECT_COMMIT), *awaits = effect_with(about, EFFECT_AWAIT),
                    *registers = effect_with(about, EFFECT_REGISTERS);
    if (registers)
        return register_prepare(about, code, registers);
    if (!commits && !awaits)
        return false;
    GroupDetail detail = {.group = (uint8_t)(awaits ? awaits : commits)->effect.group,
                          .commits = commits != NULL,
                          .awaits = awaits != NULL,
                          .sources = awaits && awaits->effect.sources,
                          .together = effect_with(about, EFFECT_CONVERGED) != NULL,
                          .pending = awaits ? named_argument(about, code, awaits->count) : NULL};
    int slot = group_slot((GroupKind)detail.group);
    if (commits && slot < 0)
        return false;
    detail.slot = (uint8_t)(slot < 0 ? 0 : slot);
    code->blocks = detail.awaits && !detail.together;
    return take_code(about, code, group_run, &detail, sizeof detail);
}
