/* Every way in which a small kernel can end, as text. */
#ifndef TESTS_UNIT_ENDS_H
#define TESTS_UNIT_ENDS_H

#include "machine/tile/schedule/explore.h"

#include <stdlib.h>

typedef struct Ends {
    Machine *machine;
    char **lines;
    uint32_t count, capacity;
} Ends;

static uint32_t line_at(const Machine *machine, uint32_t pc) {
    return source_place(machine->program->module->source, machine->program->ops[pc]->offset).line;
}

static void write_end(Ends *ends, RunEnd end, Text *to) {
    Machine *machine = ends->machine;
    const Program *program = machine->program;
    if (end == RUN_FAULT) {
        const Fault *fault = &machine->fault;
        const char *kind = fault->rule == RULE_BARRIER_UNDERFLOW       ? "underflow"
                           : fault->rule == RULE_BARRIER_REINITIALIZED ? "reinitialized"
                           : fault->rule == RULE_BARRIER_BYTES         ? "bytes"
                                                                       : "uninitialized";
        text_addf(to, "error %s @%u", kind, line_at(machine, fault->pc));
        return;
    }
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        text_addf(to, i ? " " : "");
        agent_name(machine, i, HELPER_BASE, to);
        if (agent->status == AGENT_ENDED || agent->status == AGENT_IDLE)
            text_addf(to, "=done");
        else
            text_addf(to, "=@%u", line_at(machine, agent->pc));
    }
    text_addf(to, " |");
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Allocation *allocation = &program->allocations.items[i];
        const Type *type = type_resolve(program->module, allocation->op->results[0].type);
        if (!type->element || type->element->kind != TYPE_INTEGER || type->element->width != 64)
            continue;
        for (int64_t byte = 0; byte < allocation->size; byte += 8) {
            uint32_t slot = machine_slot(machine, 0, allocation->storage, allocation->offset.base + byte);
            const Barrier *barrier = &machine->state->barriers[slot];
            if (barrier->life == BARRIER_LIVE)
                text_addf(to, " %u:%u:%lld", barrier->phase, barrier->pending, (long long)barrier->bytes);
            else
                text_addf(to, " dead");
        }
    }
}

static bool add_end(void *context, RunEnd end, const Trail *trail) {
    (void)trail;
    Ends *ends = context;
    Text line = {0};
    write_end(ends, end, &line);
    text_char(&line, '\0');
    for (size_t i = 0; i < ends->count; i++)
        if (line.failed || strcmp(ends->lines[i], line.data) == 0) {
            text_free(&line);
            return false;
        }
    *ARENA_PUSH(ends->machine->arena, ends->lines, ends->count, ends->capacity) = line.data;
    return false;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The distinct ends of the module's only kernel, launched with a grid of one and no arguments, one a line and sorted:
 * "default=done partition0=@12 | 0:1:0 1:1:0" (mbarriers as phase:pending:bytes, or "dead"), or "error underflow @7".
 * False if the budget was hit or there is nothing to run. */
static bool explore_ends(Module *module, size_t budget, Text *to) {
    const Op *function;
    Verdict verdict = {.arena = &module->arena};
    if (program_kernels(module, &function, 1) != 1)
        return false;
    const Program *program = program_compile(module, function, 0, &verdict);
    const char *problem;
    Machine *machine = program && !verdict.incomplete_count ? machine_create(&module->arena, program, &problem) : NULL;
    if (!machine)
        return false;
    Launch launch = {.grid = {1, 1, 1}};
    machine->budget = 1 << 20;
    machine_launch(machine, &launch);
    Ends ends = {.machine = machine};
    Exploration result = explore(machine, 0, budget, (size_t)1 << 30, add_end, &ends);
    if (ends.count)
        qsort(ends.lines, ends.count, sizeof *ends.lines, by_text);
    for (size_t i = 0; i < ends.count; i++) {
        text_addf(to, "%s\n", ends.lines[i]);
        free(ends.lines[i]);
    }
    return result.complete;
}

#endif
