/* Operations in flight: issued, and complete some time. */
#include "machine/tile/step/machine_internal.h"

StepResult outstanding_issue(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, OutstandingKind kind,
                             uint32_t slot, int64_t amount, Toward where, Request request) {
    State *state = machine->state;
    if (state->outstanding_count == machine->outstanding_capacity)
        return machine_stop(machine, pc, "more asynchronous operations are in flight than the emulator keeps (512)");
    const Effect *what = &machine->program->effects[effect].effect;
    Outstanding *outstanding = &state->outstanding_ops[state->outstanding_count++];
    *outstanding = (Outstanding){.sequence = ++state->next_sequence,
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
                                 .covers = what->done == DONE_COMMIT && kind == OUTSTANDING_ARRIVAL};
    machine_emit(machine, &(Event){.kind = EVENT_ISSUE,
                                   .agent = agent,
                                   .pc = pc,
                                   .effect = &machine->program->effects[effect],
                                   .outstanding = outstanding,
                                   .barrier = slot,
                                   .amount = amount});
    return STEP_DONE;
}

StepResult outstanding_complete(Machine *machine, uint32_t count) {
    uint32_t first = machine->state->outstanding_count - count;
    if (machine->immediate && machine_can_complete(machine, first))
        return machine_complete(machine, first);
    return STEP_DONE;
}

StepResult outstanding_submit(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, OutstandingKind kind,
                              uint32_t slot, int64_t amount) {
    StepResult result = outstanding_issue(machine, agent, pc, effect, kind, slot, amount, (Toward){0}, (Request){0});
    return result == STEP_DONE ? outstanding_complete(machine, 1) : result;
}

bool machine_can_complete(const Machine *machine, uint32_t index) {
    const Outstanding *outstanding = &machine->state->outstanding_ops[index];
    if (outstanding->member)
        return false;
    if (!outstanding->ordered && !outstanding->covers)
        return true;
    for (uint32_t i = 0; i < index; i++) {
        const Outstanding *earlier = &machine->state->outstanding_ops[i];
        if (earlier->agent == outstanding->agent && earlier->helper == outstanding->helper &&
            (outstanding->covers || earlier->ordered || earlier->covers))
            return false;
    }
    return true;
}

static StepResult complete_one(Machine *machine, uint32_t index) {
    State *state = machine->state;
    Outstanding outstanding = state->outstanding_ops[index];
    memmove(&state->outstanding_ops[index], &state->outstanding_ops[index + 1],
            (state->outstanding_count - index - 1) * sizeof outstanding);
    state->outstanding_count--;
    machine->used++;
    machine->changes++;
    const CompiledEffect *effect = &machine->program->effects[outstanding.effect];
    if (outstanding.kind == OUTSTANDING_WORK) {
        machine_emit(machine, &(Event){.kind = EVENT_FINISH,
                                       .agent = outstanding.agent,
                                       .pc = outstanding.pc,
                                       .effect = effect,
                                       .outstanding = &outstanding});
        return STEP_DONE;
    }
    bool bytes = outstanding.kind == OUTSTANDING_BYTES;
    if (outstanding.request.number)
        cancel_land(machine, &outstanding);
    return barrier_bring(machine, outstanding.barrier, outstanding.agent, outstanding.pc, outstanding.effect,
                         bytes ? 0 : outstanding.amount, bytes ? -outstanding.amount : 0,
                         &(Event){.kind = bytes ? EVENT_DELIVER : EVENT_SIGNAL,
                                  .outstanding = &outstanding,
                                  .amount = outstanding.amount});
}

StepResult machine_complete(Machine *machine, uint32_t index) {
    const Outstanding *outstanding_ops = machine->state->outstanding_ops;
    uint32_t next = outstanding_ops[index].sequence + 1;
    StepResult result = complete_one(machine, index);
    while (result == STEP_DONE && index < machine->state->outstanding_count &&
           outstanding_ops[index].sequence == next &&
           outstanding_ops[index].member) { /* the others of a multicast stand behind it */
        result = complete_one(machine, index);
        next++;
    }
    return result;
}
