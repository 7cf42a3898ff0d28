/* Kernels of PTX in tests, run in the machine: the text, a launch by hand, and what memory holds behind it. */
#ifndef TESTS_PTX_RUNNING_H
#define TESTS_PTX_RUNNING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulate/ptx/schedule.h"
#include "ptx/reader.h"

enum { RUN_BUFFER_BYTES = 4096 };
#define RUN_BUFFER UINT64_C(0x200000000)

typedef struct PtxRunning {
    Source *source;
    PtxModule module;
    Diagnostics diagnostics;
    Arena arena;
    PtxProgram *program;
    PtxLaunch launch;
    PtxBuffer buffers[2]; /* "in", whose words are 0, 1, 2, ...; "out", which nobody has written */
    uint32_t in[RUN_BUFFER_BYTES / 4];
    uint8_t parameters[256];
    PtxMachine *machine;
    PtxSchedule schedule;
    PtxEnd end;
} PtxRunning;

/* Text behind .version and .target; the kernel is the last .entry. Parameters: in, out, further words. */
static inline void ptx_running_read(PtxRunning *r, const char *target, const char *text) {
    memset(r, 0, sizeof *r);
    Text all = {0};
    text_addf(&all, ".version 8.7\n.target %s\n.address_size 64\n%s", target, text);
    r->source = source_copy("test.ptx", all.data, all.size);
    text_free(&all);
    if (!ptx_read(&r->module, r->source, true, &r->diagnostics))
        fail_msg("%s", r->diagnostics.count ? r->diagnostics.items[0].message : "?");
    uint32_t entry = PTX_NONE;
    for (uint32_t i = 0; i < r->module.functions_count; i++)
        entry = r->module.functions[i].entry ? i : entry;
    assert_int_not_equal(entry, PTX_NONE);
    arena_init(&r->arena, (size_t)256 << 20);
    const char *problem = NULL;
    r->program = ptx_program(&r->arena, &r->module, entry, (size_t)256 << 20, &problem);
    if (!r->program)
        fail_msg("%s", problem);
    for (unsigned i = 0; i < RUN_BUFFER_BYTES / 4; i++)
        r->in[i] = i;
    r->buffers[0] = (PtxBuffer){.name = "in",
                                .address = RUN_BUFFER,
                                .bytes = RUN_BUFFER_BYTES,
                                .data = (const uint8_t *)r->in,
                                .data_bytes = RUN_BUFFER_BYTES};
    r->buffers[1] = (PtxBuffer){
        .name = "out", .address = RUN_BUFFER + (UINT64_C(1) << 32), .bytes = RUN_BUFFER_BYTES, .output = true};
    memcpy(r->parameters, &r->buffers[0].address, 8);
    memcpy(r->parameters + 8, &r->buffers[1].address, 8);
    r->launch = (PtxLaunch){.grid = {1, 1, 1},
                            .block = {32, 1, 1},
                            .cluster = {1, 1, 1},
                            .parameters = r->parameters,
                            .buffers = r->buffers,
                            .buffer_count = 2};
}

static inline PtxEnd ptx_running_go(PtxRunning *r) {
    const char *problem = NULL;
    if (!r->machine)
        r->machine = ptx_machine(r->program, &r->launch, GEAR_DATA, &problem);
    if (!r->machine)
        fail_msg("%s", problem);
    if (r->machine->budget == UINT64_MAX)
        r->machine->budget = 10000000;
    r->end = ptx_schedule_run(r->machine, &r->schedule);
    return r->end;
}

static inline void ptx_running_expect(PtxRunning *r, PtxEnd end) {
    ptx_running_go(r);
    if (r->end == end)
        return;
    const PtxCode *code = r->machine->unknown ? r->machine->unknown : r->machine->fault.code;
    fail_msg("ended with %d, not %d: line %u: %s", (int)r->end, (int)end, code ? code_line(r->program, code) : 0,
             r->machine->unknown_why  ? r->machine->unknown_why
             : r->machine->fault.what ? r->machine->fault.what
                                      : "");
}

static inline uint32_t ptx_running_word(PtxRunning *r, uint32_t index, bool *known) {
    for (uint32_t i = 0; i < r->machine->block_count; i++) {
        PtxBlock *block = &r->machine->blocks[i];
        if (block->base == r->buffers[1].address)
            return (uint32_t)ptx_load(r->machine, (PtxSpot){block, (uint64_t)index * 4}, 4, known);
    }
    *known = false;
    return 0;
}

/* Word `index` of "out" is known, and that. */
static inline void ptx_running_is(PtxRunning *r, uint32_t index, uint32_t value) {
    bool known = false;
    uint32_t word = ptx_running_word(r, index, &known);
    if (!known || word != value)
        fail_msg("out[%u] is %u%s, not %u", index, word, known ? "" : ", which nobody knows", value);
}

static inline void ptx_running_end(PtxRunning *r) {
    ptx_machine_free(r->machine);
    arena_free(&r->arena);
    ptx_free(&r->module);
    diagnostics_free(&r->diagnostics);
    source_free(r->source);
}

#endif
