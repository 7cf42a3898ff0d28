/* Asynchronous operations: they are issued, and land at some time. Which one lands next is the schedule's business. */
#include "machine/simt/sync/barriers.h"

#include "base/bisect.h"

static PtxEvent flight_event(PtxEventKind kind, const PtxFlight *flight) {
    return (PtxEvent){.kind = kind,
                      .code = flight->code,
                      .warp = flight->warp,
                      .lanes = flight->lanes,
                      .flight = flight,
                      .place = flight->place,
                      .group = flight->group};
}

/* Which of the flights has that sequence, or is the first of a greater one. */
static uint32_t find_sequence(const PtxMachine *machine, uint32_t sequence) {
    uint32_t low;
    BISECT(low, 0, machine->flight_count, machine->flights[low]->sequence < sequence);
    return low;
}

static bool has_landed(const PtxMachine *machine, uint32_t sequence) {
    uint32_t at = sequence ? find_sequence(machine, sequence) : 0;
    return !sequence || at == machine->flight_count || machine->flights[at]->sequence != sequence;
}

bool ptx_flight_can_land(const PtxMachine *machine, const PtxFlight *flight) {
    return has_landed(machine, flight->after) && has_landed(machine, flight->behind);
}

void ptx_flight_land(PtxMachine *machine, uint32_t index) {
    PtxFlight *flight = machine->flights[index];
    memmove(&machine->flights[index], &machine->flights[index + 1],
            (machine->flight_count - index - 1) * sizeof *machine->flights);
    machine->flight_count--;
    flight->landed = true;
    flight->land(machine, flight);
    if (!machine->fault.code) {
        PtxEvent event = flight_event(PTX_EVENT_LAND, flight);
        ptx_tell(machine, &event);
    }
    WarpSync *sync = warp_sync(flight->warp);
    if (sync)
        sync->flying[flight->group]--;
    machine->changes++;
    pool_give(machine, flight, sizeof *flight);
}

bool ptx_fly(PtxMachine *machine, const PtxFlight *given) {
    PtxFlight *flight = pool_take(machine, sizeof *flight);
    WarpSync *sync = warp_sync(given->warp);
    int slot = group_slot((GroupKind)given->group);
    *flight = *given;
    flight->landed = false;
    flight->sequence = ++machine->next_sequence;
    if (!flight->lanes)
        flight->lanes = 1u << flight->lane;
    if (!flight->place)
        flight->place = PTX_NO_PLACE;
    if (slot >= 0)
        flight->groups = sync->committed[slot][slot == SLOT_WGMMA ? 0 : flight->lane];
    sync->flying[flight->group]++;
    PtxEvent event = flight_event(PTX_EVENT_ISSUE, flight);
    ptx_tell(machine, &event);
    *ARENA_PUSH(&machine->arena, machine->flights, machine->flight_count, machine->flight_capacity) = flight;
    if (machine->immediate)
        ptx_flight_land(machine, machine->flight_count - 1);
    return !machine->fault.code;
}

bool flights_of_cta(const PtxMachine *machine, const PtxCta *cta) {
    for (uint32_t i = 0; i < machine->flight_count; i++)
        if (machine->flights[i]->warp->cta == cta)
            return true;
    return false;
}
