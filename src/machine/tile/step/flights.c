/* Operations in flight: issued, and complete some time. */
#include "machine/tile/step/machine_internal.h"

StepResult flight_issue(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, FlightKind kind, uint32_t slot,
                        int64_t amount, Toward where, Request request) {
    State *state = machine->state;
    if (state->flight_count == machine->flight_capacity)
        return machine_stop(machine, pc, "more asynchronous operations are in flight than the emulator keeps (512)");
    const Effect *what = &machine->program->effects[effect].effect;
    Flight *flight = &state->flights[state->flight_count++];
    *flight = (Flight){.sequence = ++state->next_sequence,
                       .effect = effect,
                       .pc = pc,
                       .tick = state->agents[agent].ticks,
                       .barrier = slot,
                       .amount = amount,
                       .request = request,
                       .agent = (uint16_t)agent,
                       .kind = (uint8_t)kind,
                       .helper = (uint8_t)what->helper,
                       .toward = (uint8_t)where.toward,
                       .member = (uint8_t)where.member,
                       .ordered = what->done == DONE_COMMIT && !machine->out_of_order,
                       .covers = what->done == DONE_COMMIT && kind == FLIGHT_ARRIVAL};
    machine_tell(machine, &(Event){.kind = EVENT_ISSUE,
                                   .agent = agent,
                                   .pc = pc,
                                   .effect = &machine->program->effects[effect],
                                   .flight = flight,
                                   .barrier = slot,
                                   .amount = amount});
    return STEP_DONE;
}

StepResult flight_land(Machine *machine, uint32_t count) {
    uint32_t first = machine->state->flight_count - count;
    if (machine->immediate && machine_can_complete(machine, first))
        return machine_complete(machine, first);
    return STEP_DONE;
}

StepResult flight_fly(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, FlightKind kind, uint32_t slot,
                      int64_t amount) {
    StepResult result = flight_issue(machine, agent, pc, effect, kind, slot, amount, (Toward){0}, (Request){0});
    return result == STEP_DONE ? flight_land(machine, 1) : result;
}

bool machine_can_complete(const Machine *machine, uint32_t index) {
    const Flight *flight = &machine->state->flights[index];
    if (flight->member)
        return false;
    if (!flight->ordered && !flight->covers)
        return true;
    for (uint32_t i = 0; i < index; i++) {
        const Flight *earlier = &machine->state->flights[i];
        if (earlier->agent == flight->agent && earlier->helper == flight->helper &&
            (flight->covers || earlier->ordered || earlier->covers))
            return false;
    }
    return true;
}

static StepResult complete_one(Machine *machine, uint32_t index) {
    State *state = machine->state;
    Flight flight = state->flights[index];
    memmove(&state->flights[index], &state->flights[index + 1], (state->flight_count - index - 1) * sizeof flight);
    state->flight_count--;
    machine->used++;
    machine->changes++;
    const CompiledEffect *effect = &machine->program->effects[flight.effect];
    if (flight.kind == FLIGHT_WORK) {
        machine_tell(
            machine,
            &(Event){
                .kind = EVENT_FINISH, .agent = flight.agent, .pc = flight.pc, .effect = effect, .flight = &flight});
        return STEP_DONE;
    }
    bool bytes = flight.kind == FLIGHT_BYTES;
    if (flight.request.number)
        cancel_land(machine, &flight);
    return barrier_bring(
        machine, flight.barrier, flight.agent, flight.pc, flight.effect, bytes ? 0 : flight.amount,
        bytes ? -flight.amount : 0,
        &(Event){.kind = bytes ? EVENT_DELIVER : EVENT_SIGNAL, .flight = &flight, .amount = flight.amount});
}

StepResult machine_complete(Machine *machine, uint32_t index) {
    const Flight *flights = machine->state->flights;
    uint32_t next = flights[index].sequence + 1;
    StepResult result = complete_one(machine, index);
    while (result == STEP_DONE && index < machine->state->flight_count && flights[index].sequence == next &&
           flights[index].member) { /* the others of a multicast stand behind it */
        result = complete_one(machine, index);
        next++;
    }
    return result;
}
