/* Launches, clusters and, where control depends on data that is not known, several choices of them. */
#include "launches.h"

enum { HAVOC_CHOICES = 6, MOST_HAVOC_CHOICE_CLUSTERS = 4, MOST_CLUSTERS = 256 };
static const size_t scratch_budget = (size_t)1 << 30;

static const Schedule plain[] = {{.kind = SCHEDULE_EAGER}};
static const Schedule others[] = {{.kind = SCHEDULE_LAZY},
                                  {.kind = SCHEDULE_ROUND_ROBIN},
                                  {.kind = SCHEDULE_EAGER, .mirrored = true},
                                  {.kind = SCHEDULE_RANDOM, .seed = 1},
                                  {.kind = SCHEDULE_RANDOM, .seed = 2},
                                  {.kind = SCHEDULE_RANDOM, .seed = 3}};

typedef struct Plan {
    const Schedule *schedules;
    size_t count;
    uint64_t clusters; /* at most */
} Plan;

static void run_cluster(Machine *machine, uint64_t cluster, const Schedule *schedule, const RunWatcher *watcher) {
    Arena scratch;
    jmp_buf exhausted;
    volatile RunEnd end = RUN_BUDGET;
    arena_init(&scratch, scratch_budget);
    scratch.exhausted = &exhausted;
    machine->arena = &scratch;
    machine->atomic_capacity = 0;
    watcher->start(watcher->context, machine);
    if (setjmp(exhausted) == 0)
        end = schedule_run(machine, cluster, schedule);
    arena_free(&scratch);
    if (watcher->end)
        watcher->end(watcher->context, end);
}

static void run_launch(Machine *machine, const Launch *launch, const Plan *plan, const RunWatcher *watcher) {
    machine_launch(machine, launch);
    for (uint64_t cluster = 0; cluster < machine_clusters(machine) && cluster < plan->clusters; cluster++) {
        machine->havoc_choice = 0;
        do
            for (size_t i = 0; i < plan->count; i++)
                run_cluster(machine, cluster, &plan->schedules[i], watcher);
        while ((machine->choices || machine->loads_chosen) && cluster < MOST_HAVOC_CHOICE_CLUSTERS &&
               ++machine->havoc_choice < HAVOC_CHOICES);
    }
}

static Machine *machine_of(Module *module, const Op *kernel) {
    const char *problem;
    Verdict ignored = {.arena = &module->arena};
    const Program *program = program_compile(module, kernel, 0, &ignored);
    Machine *machine = program ? machine_create(&module->arena, program, &problem) : NULL;
    if (machine)
        machine->arena = &module->arena;
    return machine;
}

size_t launches_choose(Module *module, const Launch *like, Launch *launches) {
    const Op *kernel;
    Machine *machine = program_kernels(module, &kernel, 1) ? machine_of(module, kernel) : NULL;
    size_t count = machine ? choose_launches(machine->program, &module->arena, like, NULL, NULL, launches) : 0,
           kept = 0;
    for (size_t i = 0; i < count; i++)
        if (launches[i].doubt == DOUBT_NONE) {
            launches[kept] = launches[i];
            launches[kept++].chosen = false;
        }
    return kept;
}

static void run_kernels(Module *module, const Launch *launch, uint64_t budget, const Plan *plan,
                        const RunWatcher *watcher) {
    size_t count = program_kernels(module, NULL, 0);
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    for (size_t i = 0; i < count; i++) {
        Machine *machine = machine_of(module, kernels[i]);
        if (!machine)
            continue;
        machine->budget = budget;
        run_launch(machine, launch, plan, watcher);
    }
}

void launches_run(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher) {
    run_kernels(module, launch, budget, &(Plan){plain, sizeof plain / sizeof *plain, MOST_CLUSTERS}, watcher);
}

void launches_run_otherwise(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher) {
    run_kernels(module, launch, budget, &(Plan){others, sizeof others / sizeof *others, MOST_HAVOC_CHOICE_CLUSTERS},
                watcher);
}
