/* The names of agents and barriers, for people. */
#include "machine/tile/step/machine_internal.h"

#include "model/names/names.h"

void agent_name(const Machine *machine, uint32_t index, Helper helper, Text *to) {
    static const char *const helpers[] = {"", ".tma", ".tensor", ".clc"};
    if (machine->program->ctas > 1)
        text_addf(to, "cta%u.", agent_cta(machine, index));
    uint32_t within = index % machine->program->agents_per_cta;
    const Agent *agent = &machine->state->agents[index];
    if (agent->status == AGENT_IDLE && within)
        text_addf(to, "partition%u", within - 1);
    else
        text_addf(to, "%s", machine->program->strands[agent->strand].name);
    text_addf(to, "%s", helpers[helper]);
}

BarrierPlace barrier_place(const Machine *machine, uint32_t barrier) {
    const Program *program = machine->program;
    uint64_t key = machine->slot_places[barrier % machine->slots_per_cta];
    uint32_t storage = (uint32_t)(key >> 32);
    int64_t byte = (int32_t)(uint32_t)key;
    const Allocation *best = NULL;
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Allocation *allocation = &program->allocations.items[i];
        if (allocation->storage == storage && allocation->offset.base <= byte &&
            (!best || allocation->offset.base > best->offset.base))
            best = allocation;
    }
    if (!best)
        return (BarrierPlace){.slot = byte};
    BarrierPlace place = {best, SIDE_NONE, (byte - best->offset.base) / 8, best->size / 8};
    const Value *value = best->op->result_count ? &best->op->results[0] : NULL;
    if (value && !type_is(type_resolve(program->module, value->type), STR("ttg.memdesc"))) {
        place.depth = best->size / 16;
        place.side = place.slot >= place.depth ? SIDE_EMPTY : SIDE_FULL;
        place.slot -= place.side == SIDE_EMPTY ? place.depth : 0;
    }
    return place;
}

void ring_name(const Machine *machine, uint32_t barrier, Text *to) {
    BarrierPlace place = barrier_place(machine, barrier);
    if (!place.allocation) {
        text_addf(to, "barrier at byte %lld", (long long)place.slot);
        return;
    }
    name_print(machine->program->module, place.allocation->op, to);
    if (place.side != SIDE_NONE)
        text_addf(to, place.side == SIDE_EMPTY ? ".empty" : ".full");
}

void barrier_name(const Machine *machine, uint32_t barrier, Text *to) {
    BarrierPlace place = barrier_place(machine, barrier);
    ring_name(machine, barrier, to);
    if (!place.allocation)
        return;
    text_addf(to, "[%lld]", (long long)place.slot);
    if (machine->program->ctas > 1)
        text_addf(to, " of cta%u", barrier_cta(machine, barrier));
}
