/* Kernels that are ready, launches that are placed in memory, and runs of them. */
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

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
    launch->buffers = ARENA_ARRAY(arena, PtxBuffer, device->range_count + program->module->variables_count + 1);
    if (!variables || !host_add_variables(variables, program, launch, arena))
        longjmp(*arena->exhausted, 1);
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

PtxEnd host_run(HostRun *run) {
    PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    PtxEnd end = PTX_END_UNKNOWN;
    PtxMachine *machine = run->machine = ptx_machine(run->kernel->program, run->launch, COMPUTES_ALL, &run->problem);
    if (!machine)
        return end;
    machine->results = true;
    machine->printed = run->printed;
    run->touched = run->watched ? touched_new(machine, run->dependent) : NULL;
    host_watch(machine, run->touched);
    run->threads = 1;
    if (!team_run(run, &end)) {
        run->again = true;
        if (run->touched)
            touched_clear(run->touched);
        end = ptx_schedule_run(machine, &eager);
    }
    for (uint32_t i = 0; i < run->launch->buffer_count; i++) {
        if (end == PTX_END_COMPLETE)
            ptx_host_keep(run->launch->buffers[i].host);
        else
            ptx_host_restore(run->launch->buffers[i].host);
    }
    return end;
}
