/* Asynchronous operations: they are issued, and land at some time. Which one lands next is the schedule's business. */
#include "machine/simt/sync/barriers.h"

#include "base/bisect.h"

static PtxEvent outstanding_event(PtxEventKind kind, const PtxOutstanding *outstanding) {
    return (PtxEvent){.kind = kind,
                      .code = outstanding->code,
                      .warp = outstanding->warp,
                      .lanes = outstanding->lanes,
                      .outstanding = outstanding,
                      .place = outstanding->place,
                      .group = outstanding->group};
}

/* Which of the outstanding operations has that sequence, or is the first of a greater one. */
static uint32_t find_sequence(const PtxMachine *machine, uint32_t sequence) {
    uint32_t low;
    BISECT(low, 0, machine->outstanding_count, machine->outstanding_ops[low]->sequence < sequence);
    return low;
}

static bool has_landed(const PtxMachine *machine, uint32_t sequence) {
    uint32_t at = sequence ? find_sequence(machine, sequence) : 0;
    return !sequence || at == machine->outstanding_count || machine->outstanding_ops[at]->sequence != sequence;
}

bool ptx_outstanding_can_complete(const PtxMachine *machine, const PtxOutstanding *outstanding) {
    return has_landed(machine, outstanding->after) && has_landed(machine, outstanding->behind);
}

void ptx_outstanding_complete(PtxMachine *machine, uint32_t index) {
    PtxOutstanding *outstanding = machine->outstanding_ops[index];
    memmove(&machine->outstanding_ops[index], &machine->outstanding_ops[index + 1],
            (machine->outstanding_count - index - 1) * sizeof *machine->outstanding_ops);
    machine->outstanding_count--;
    outstanding->landed = true;
    outstanding->land(machine, outstanding);
    if (!machine->fault.code) {
        PtxEvent event = outstanding_event(PTX_EVENT_LAND, outstanding);
        ptx_emit(machine, &event);
    }
    WarpSync *sync = warp_sync(outstanding->warp);
    if (sync)
        sync->flying[outstanding->group]--;
    machine->changes++;
    pool_give(machine, outstanding, sizeof *outstanding);
}

bool ptx_fly(PtxMachine *machine, const PtxOutstanding *given) {
    PtxOutstanding *outstanding = pool_take(machine, sizeof *outstanding);
    WarpSync *sync = warp_sync(given->warp);
    int slot = group_slot((GroupKind)given->group);
    *outstanding = *given;
    outstanding->landed = false;
    outstanding->sequence = ++machine->next_sequence;
    if (!outstanding->lanes)
        outstanding->lanes = 1u << outstanding->lane;
    if (!outstanding->place)
        outstanding->place = PTX_NO_PLACE;
    if (slot >= 0)
        outstanding->groups = sync->committed[slot][slot == SLOT_WGMMA ? 0 : outstanding->lane];
    sync->flying[outstanding->group]++;
    PtxEvent event = outstanding_event(PTX_EVENT_ISSUE, outstanding);
    ptx_emit(machine, &event);
    *ARENA_PUSH(&machine->arena, machine->outstanding_ops, machine->outstanding_count, machine->outstanding_capacity) =
        outstanding;
    if (machine->immediate)
        ptx_outstanding_complete(machine, machine->outstanding_count - 1);
    return !machine->fault.code;
}

bool outstanding_ops_of_cta(const PtxMachine *machine, const PtxCta *cta) {
    for (uint32_t i = 0; i < machine->outstanding_count; i++)
        if (machine->outstanding_ops[i]->warp->cta == cta)
            return true;
    return false;
}
