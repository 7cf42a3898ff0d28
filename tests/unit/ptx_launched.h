/* Runs a text of PTX in the machine, for tests: one kernel, a launch as launch files have it, several schedules. */
#ifndef TESTS_PTX_LAUNCHED_H
#define TESTS_PTX_LAUNCHED_H

#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RUN_EVENTS = PTX_EVENT_UNKNOWN + 1, RUN_WORDS = 512 };

typedef struct Ran {
    PtxEnd end;
    RuleId rule;             /* of a fault */
    char what[200];          /* of it, or why it is not modeled */
    uint32_t out[RUN_WORDS]; /* the first words of the first buffer */
    uint64_t reported[RUN_EVENTS];
} Ran;

static inline void run_observe(void *observer, const PtxEvent *event) {
    ((Ran *)observer)->reported[event->kind]++;
}

static inline Ran run_machine(PtxMachine *machine, const PtxSchedule *schedule) {
    Ran ran = {0};
    machine->budget = 50000000;
    machine->observe = run_observe;
    machine->observer = &ran;
    ran.end = ptx_schedule_run(machine, schedule);
    ran.rule = machine->fault.rule;
    const char *what = ran.end == PTX_END_FAULT     ? machine->fault.what
                       : ran.end == PTX_END_UNKNOWN ? machine->unknown_why
                                                    : NULL;
    const PtxCode *unknown = ran.end == PTX_END_UNKNOWN ? machine->unknown : NULL;
    snprintf(ran.what, sizeof ran.what, "%.*s%s%s", unknown && unknown->form ? (int)unknown->form->text.size : 0,
             unknown && unknown->form ? unknown->form->text.data : "", unknown ? ": " : "", what ? what : "");
    for (uint32_t i = 0; i < machine->block_count && machine->launch->buffer_count; i++) {
        const PtxBlock *block = &machine->blocks[i];
        if (block->base == machine->launch->buffers[0].address && block->bytes)
            memcpy(ran.out, block->bytes, block->size < sizeof ran.out ? block->size : sizeof ran.out);
    }
    return ran;
}

/* The kernel of a module at a launch, with that schedule. */
static inline Ran run_ptx(const char *ptx, const char *launch_text, const PtxSchedule *schedule) {
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    PtxModule module = {0};
    Diagnostics diagnostics = {0};
    Launch given = {0};
    PtxLaunch launch = {0};
    const char *problem = NULL;
    Source *source = source_copy("test.ptx", ptx, strlen(ptx)),
           *json = source_copy("test.json", launch_text, strlen(launch_text));
    if (!ptx_read(&module, source, false, &diagnostics) || !launch_read(&arena, json, &given, &diagnostics))
        fail_msg("%s\n%s", diagnostics.items[0].message, ptx);
    uint32_t kernel = 0;
    while (!module.functions[kernel].entry)
        kernel++;
    PtxProgram *program = ptx_program(&arena, &module, kernel, SIZE_MAX, &problem);
    PtxMachine *machine = NULL;
    if (program && ptx_launch_bind(&arena, program, &given, &launch, &problem))
        machine = ptx_machine(program, &launch, COMPUTES_ALL, &problem);
    if (!machine)
        fail_msg("%s\n%s", problem, ptx);
    Ran ran = run_machine(machine, schedule);
    ptx_machine_free(machine);
    arena_free(&arena);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    source_free(json);
    return ran;
}

#endif
