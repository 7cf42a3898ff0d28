/* Kernels that are ready, launches that are placed in memory, and runs of them. */
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>
#include <sys/file.h>
#include <time.h>

static const size_t program_budget = (size_t)2 << 30;

/* ---- Kernels ---- */

static HostKernel *find(const PtxDevice *device, const PtxModule *module, uint32_t entry) {
    HostKernel *kernel = device->kernels;
    while (kernel && (kernel->module != module || kernel->entry != entry))
        kernel = kernel->next;
    return kernel;
}

/* False: there is not enough memory, or *problem says what is wrong with the kernel. */
static bool prepare(HostKernel *kernel, const char **problem) {
    jmp_buf here;
    arena_init(&kernel->arena, program_budget);
    kernel->arena.exhausted = &here;
    if (!setjmp(here))
        kernel->program = ptx_program(&kernel->arena, kernel->module, kernel->entry, program_budget, problem);
    kernel->arena.exhausted = NULL;
    return kernel->program;
}

HostKernel *host_kernel(PtxDevice *device, const PtxModule *module, uint32_t entry, const char **problem) {
    HostKernel *kernel = find(device, module, entry);
    if (kernel)
        return kernel;
    kernel = calloc(1, sizeof *kernel);
    *problem = "there is not enough memory";
    if (!kernel)
        return NULL;
    *kernel = (HostKernel){.module = module, .entry = entry};
    if (!prepare(kernel, problem)) {
        arena_free(&kernel->arena);
        free(kernel);
        return NULL;
    }
    kernel->next = device->kernels;
    device->kernels = kernel;
    return kernel;
}

void host_forget(PtxDevice *device, const PtxModule *module) {
    host_forget_variables(device, module);
    for (HostKernel **at = &device->kernels; *at;) {
        HostKernel *kernel = *at;
        if (kernel->module != module) {
            at = &kernel->next;
            continue;
        }
        *at = kernel->next;
        arena_free(&kernel->arena);
        free(kernel);
    }
}

/* ---- Launches ---- */

/* In the order of their addresses. */
static void place_memory(PtxDevice *device, const PtxProgram *program, PtxLaunch *launch, Arena *arena) {
    HostVariables *variables = host_variables(device, program->module);
    launch->buffers =
        ARENA_ARRAY(arena, PtxBuffer, device->range_count + device->heap.count + host_count_variables(device) + 1);
    if (!variables || !host_add_variables(variables, program, launch, arena))
        longjmp(*arena->exhausted, 1);
    host_add_others(device, program, launch, arena);
    for (uint32_t i = 0; i < device->range_count; i++) {
        HostRange *range = device->ranges[i];
        launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = range->name,
                                                              .parameter = PTX_NONE,
                                                              .address = (uintptr_t)range->memory.bytes,
                                                              .bytes = range->memory.size,
                                                              .data = range->memory.bytes,
                                                              .data_bytes = range->memory.size,
                                                              .host = &range->memory};
    }
    host_heap_place(device, launch);
}

void host_place(PtxDevice *device, const HostKernel *kernel, uint8_t *parameters, PtxLaunch *launch, Arena *arena) {
    Text text = {0};
    place_memory(device, kernel->program, launch, arena);
    launch->parameters = parameters;
    text_addf(&text, "grid %ux%ux%u, block %ux%ux%u", launch->grid[0], launch->grid[1], launch->grid[2],
              launch->block[0], launch->block[1], launch->block[2]);
    launch->text = text_keep(&text, arena);
}

void host_watch(PtxMachine *machine, Touched *touched) {
    machine->observe = touched ? touched_observe : NULL;
    machine->observer = touched;
}

/* ---- Memory that other processes access, too ---- */

/* A launch that takes turns with those of other processes, on memory that they share. */
typedef struct HostTurns {
    HostRun *run;
    unsigned idle; /* how often it could not go on, one time after the other */
    double since;  /* when it could not the first time */
} HostTurns;

static bool has_others(const HostRun *run) {
    for (uint32_t i = 0; i < run->launch->buffer_count; i++)
        if (run->launch->buffers[i].host && run->launch->buffers[i].host->shared)
            return run->device->lock;
    return false;
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What was written is there for them from now on: it is not undone. */
static bool give_turn(void *context, bool stuck) {
    static const long first_ns = 50000;
    static const double most_seconds = 120;
    enum { MOST_DOUBLED = 5 };
    HostTurns *turns = context;
    const HostRun *run = turns->run;
    turns->since = stuck && !turns->idle ? seconds() : turns->since;
    turns->idle = stuck ? turns->idle + 1 : 0;
    for (uint32_t i = 0; i < run->launch->buffer_count; i++)
        if (run->launch->buffers[i].host && run->launch->buffers[i].host->shared)
            ptx_host_keep(run->launch->buffers[i].host);
    flock(run->device->lock - 1, LOCK_UN);
    unsigned doubled = turns->idle < MOST_DOUBLED ? turns->idle : MOST_DOUBLED;
    if (stuck)
        nanosleep(&(struct timespec){.tv_nsec = first_ns << doubled}, NULL);
    flock(run->device->lock - 1, LOCK_EX);
    return !stuck || seconds() - turns->since < most_seconds;
}

static void observe_all(void *observer, const PtxEvent *event) {
    const HostRun *run = observer;
    if (run->touched)
        touched_observe(run->touched, event);
    if (run->steps)
        host_steps_observe(run->steps, event);
    if (run->observe)
        run->observe(run->observer, event);
}

/* CTAs run one after the other, and let other processes go on. */
static PtxEnd run_with_others(HostRun *run) {
    HostTurns turns = {.run = run};
    PtxSchedule eager = {.kind = SCHEDULE_EAGER, .others = give_turn, .context = &turns};
    run->steps = run->watched ? host_steps_new(run->machine) : NULL;
    if (run->begins)
        run->begins(run);
    run->machine->observe = run->watched ? observe_all : NULL;
    run->machine->observer = run;
    flock(run->device->lock - 1, LOCK_EX);
    PtxEnd end = ptx_schedule_run(run->machine, &eager);
    flock(run->device->lock - 1, LOCK_UN);
    host_watch(run->machine, NULL);
    return end;
}

PtxEnd host_run(HostRun *run) {
    PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    PtxEnd end = PTX_END_UNKNOWN;
    const PtxProgram *program = run->program && has_others(run) ? run->program : run->kernel->program;
    PtxMachine *machine = run->machine = ptx_machine(program, run->launch, COMPUTES_ALL, &run->problem);
    if (!machine)
        return end;
    run->device->heap.used |= program->takes_memory;
    machine->results = true;
    machine->printed = run->printed;
    run->touched = run->watched ? touched_new(machine, run->dependent) : NULL;
    host_watch(machine, run->touched);
    run->threads = 1;
    if (has_others(run)) {
        end = run_with_others(run);
    } else if (!team_run(run, &end)) {
        run->again = true;
        if (run->touched)
            touched_clear(run->touched);
        end = ptx_schedule_run(machine, &eager);
    }
    if (end == PTX_END_COMPLETE && !host_heap_take(run->device, machine))
        end = PTX_END_BUDGET;
    for (uint32_t i = 0; i < run->launch->buffer_count; i++) {
        if (end == PTX_END_COMPLETE)
            ptx_host_keep(run->launch->buffers[i].host);
        else
            ptx_host_restore(run->launch->buffers[i].host);
    }
    if (end == PTX_END_COMPLETE)
        host_heap_give(run->device, machine);
    return end;
}
