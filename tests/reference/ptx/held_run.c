/* A kernel by the machine of src/machine/simt. */
#include "held.h"

#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"

#include <stdio.h>

static void run(const PtxProgram *program, uint64_t schedule, Held *held) {
    uint64_t parameters[2] = {HELD_OUT, held->n | (uint64_t)held->more << 32};
    PtxBuffer buffer = {.name = "out", .address = HELD_OUT, .bytes = HELD_BYTES, .zero = true};
    PtxLaunch launch = {.grid = {held->ctas, 1, 1},
                        .block = {held->threads, 1, 1},
                        .cluster = {1, 1, 1},
                        .parameters = (uint8_t *)parameters,
                        .buffers = &buffer,
                        .buffer_count = 1};
    const char *problem = NULL;
    PtxMachine *machine = ptx_machine(program, &launch, COMPUTES_ALL, &problem);
    if (!machine) {
        snprintf(held->problem, sizeof held->problem, "%s", problem);
        return;
    }
    machine->budget = 10000000;
    PtxSchedule how = {.kind = schedule ? SCHEDULE_RANDOM : SCHEDULE_EAGER, .seed = schedule};
    PtxEnd end = ptx_schedule_run(machine, &how);
    held->havocs = machine->havoc_count;
    const PtxCode *code = machine->unknown ? machine->unknown : machine->fault.code;
    const char *why = machine->unknown_why ? machine->unknown_why : machine->fault.what;
    if (end != PTX_END_COMPLETE)
        snprintf(held->problem, sizeof held->problem, "the machine ended with %d, line %u: %s", (int)end,
                 code ? code_line(program, code) : 0, why ? why : "");
    for (uint32_t i = 0; i < machine->block_count; i++) {
        if (machine->blocks[i].base != HELD_OUT)
            continue;
        for (unsigned k = 0; k < HELD_BYTES; k += 4) {
            uint32_t word = (uint32_t)ptx_load(machine, (PtxLocation){&machine->blocks[i], k}, 4, &held->known[k / 4]);
            memcpy(held->bytes + k, &word, 4);
        }
    }
    ptx_machine_free(machine);
}

void held_run(const char *text, uint64_t schedule, Held *held) {
    Source *source = source_copy("held.ptx", text, strlen(text));
    PtxModule module;
    Diagnostics diagnostics = {0};
    held->problem[0] = 0;
    if (!ptx_read(&module, source, false, &diagnostics)) {
        snprintf(held->problem, sizeof held->problem, "not read: %s", diagnostics.items[0].message);
        return;
    }
    uint32_t kernel = 0;
    while (!module.functions[kernel].entry)
        kernel++;
    Arena arena;
    const char *problem = NULL;
    arena_init(&arena, (size_t)64 << 20);
    PtxProgram *program = ptx_program(&arena, &module, kernel, (size_t)64 << 20, &problem);
    if (program)
        run(program, schedule, held);
    else
        snprintf(held->problem, sizeof held->problem, "%s", problem);
    arena_free(&arena);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}
