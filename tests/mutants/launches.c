/* Launches, clusters and, where control depends on data that nobody knows, several choices of them. */
#include "launches.h"

#include "emulate/schedule.h"

enum { WORLDS = 6, MOST_WORLD_CLUSTERS = 4, MOST_CLUSTERS = 256 };
static const size_t scratch_budget = (size_t)1 << 30;

static void run_cluster(Machine *machine, uint64_t cluster, const RunWatcher *watcher) {
    Arena scratch;
    jmp_buf exhausted;
    arena_init(&scratch, scratch_budget);
    scratch.exhausted = &exhausted;
    machine->arena = &scratch;
    machine->atomic_capacity = 0;
    watcher->start(watcher->context, machine);
    if (setjmp(exhausted) == 0)
        (void)schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER});
    arena_free(&scratch);
}

static void run_launch(Machine *machine, const Launch *launch, const RunWatcher *watcher) {
    machine_launch(machine, launch);
    for (uint64_t cluster = 0; cluster < machine_clusters(machine) && cluster < MOST_CLUSTERS; cluster++) {
        machine->world = 0;
        do
            run_cluster(machine, cluster, watcher);
        while ((machine->choices || machine->loads_chosen) && cluster < MOST_WORLD_CLUSTERS &&
               ++machine->world < WORLDS);
    }
}

static Machine *machine_of(Module *module, const Op *kernel) {
    const char *problem;
    Verdict nobody = {.arena = &module->arena};
    const Program *program = program_compile(module, kernel, 0, &nobody);
    Machine *machine = program ? machine_create(&module->arena, program, &problem) : NULL;
    if (machine)
        machine->arena = &module->arena;
    return machine;
}

size_t launches_choose(Module *module, Launch *launches) {
    const Op *kernel;
    Machine *machine = program_kernels(module, &kernel, 1) ? machine_of(module, kernel) : NULL;
    size_t count = machine ? choose_launches(machine->program, &module->arena, NULL, NULL, launches) : 0;
    for (size_t i = 0; i < count; i++)
        launches[i].chosen = false;
    return count;
}

void launches_run(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher) {
    size_t count = program_kernels(module, NULL, 0);
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    for (size_t i = 0; i < count; i++) {
        Machine *machine = machine_of(module, kernels[i]);
        if (!machine)
            continue;
        machine->budget = budget;
        run_launch(machine, launch, watcher);
    }
}
