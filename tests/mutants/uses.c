/* Plain runs of the kernel, watched. */
#include "uses.h"

#include "emulate/choose.h"
#include "emulate/schedule.h"

enum { WORLDS = 6 };
static const size_t scratch_budget = (size_t)1 << 30;

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

static void run_launch(Machine *machine, const Launch *launch) {
    Arena scratch;
    jmp_buf exhausted;
    machine_launch(machine, launch);
    for (uint64_t cluster = 0; cluster < machine_clusters(machine); cluster++)
        for (unsigned world = 0; world < WORLDS; world++) {
            arena_init(&scratch, scratch_budget);
            scratch.exhausted = &exhausted;
            machine->arena = &scratch;
            machine->atomic_capacity = 0;
            machine->world = world;
            if (setjmp(exhausted) == 0)
                (void)schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER});
            arena_free(&scratch);
            if (!machine->choices && !machine->loads_chosen)
                break;
        }
}

static void run_kernel(const Uses *uses, Module *module, const Op *kernel, const Launch *launch, uint64_t budget) {
    const char *problem;
    Verdict nobody = {.arena = &module->arena};
    const Program *program = program_compile(module, kernel, 0, &nobody);
    Machine *machine = program ? machine_create(&module->arena, program, &problem) : NULL;
    if (!machine)
        return;
    Launch launches[MOST_CHOSEN];
    machine->arena = &module->arena;
    size_t count = launch ? 1 : choose_launches(machine, &module->arena, launches);
    machine->budget = budget;
    machine->observe = observe;
    machine->observer = (void *)uses;
    for (size_t i = 0; i < count; i++)
        run_launch(machine, launch ? launch : &launches[i]);
}

Uses uses_find(Module *module, const Launch *launch, uint64_t budget) {
    Uses uses = {.module = module, .operands = ARENA_ARRAY(&module->arena, uint64_t, module->source->size + 1)};
    size_t count = program_kernels(module, NULL, 0);
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    for (size_t i = 0; i < count; i++)
        run_kernel(&uses, module, kernels[i], launch, budget);
    return uses;
}

bool uses_has(const Uses *uses, const Op *op, const Value *operand) {
    uint32_t place = operand ? operand_of(op, operand) : op->operand_count;
    uint64_t bits = uses->operands[op->offset];
    return operand && place < 63 ? bits >> (place + 1) & 1 : bits & 1;
}
