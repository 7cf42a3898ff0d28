/* Which ops and operands the events are about. */
#include "uses.h"

#include "launches.h"

static uint32_t operand_of(const Op *op, const Value *value) {
    uint32_t i = 0;
    while (i < op->operand_count && op->operands[i] != value)
        i++;
    return i;
}

static void observe(void *observer, const Event *event) {
    const Uses *uses = observer;
    if (!event->op || !event->effect)
        return;
    uint32_t operand = operand_of(event->op, event->effect->effect.on);
    uses->operands[event->op->offset] |= 1 | (operand < 63 ? UINT64_C(2) << operand : 0);
}

static void start(void *context, Machine *machine) {
    machine->observe = observe;
    machine->observer = context;
}

Uses uses_create(Module *module) {
    return (Uses){ARENA_ARRAY(&module->arena, uint64_t, module->source->size + 1)};
}

void uses_find(Uses *uses, Module *module, const Launch *launch, uint64_t budget) {
    launches_run(module, launch, budget, &(RunWatcher){uses, start, NULL});
}

bool uses_has(const Uses *uses, const Op *op, const Value *operand) {
    uint32_t place = operand ? operand_of(op, operand) : op->operand_count;
    uint64_t bits = uses->operands[op->offset];
    return operand && place < 63 ? bits >> (place + 1) & 1 : bits & 1;
}
