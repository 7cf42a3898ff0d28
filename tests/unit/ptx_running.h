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

#include "machine/simt/schedule/schedule.h"
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
    PtxBuffer buffers[2]; /* "in", whose words are 0, 1, 2, ...; "out", which nothing has written */
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
    text_addf(&all, ".version 9.0\n.target %s\n.address_size 64\n%s", target, text);
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
        r->machine = ptx_machine(r->program, &r->launch, COMPUTES_ALL, &problem);
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
            return (uint32_t)ptx_load(r->machine, (PtxLocation){block, (uint64_t)index * 4}, 4, known);
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

/* ---- Kernels ---- */

#define KERNEL(body)                                                    \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)" \
    "{ .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %rs<8>; .reg .f32 %f<8>;\n" body "}"
#define POINTERS "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; ld.param.u32 %r39, [n];\n"
/* %rd3, %rd5: where this thread's word of "out" and of "in" is */
#define OWN     POINTERS "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;\n"
#define GIVE(r) "st.global.u32 [%rd3], " r ";\n"

static inline void set_n(PtxRunning *r, uint32_t n) {
    memcpy(r->parameters + 16, &n, 4);
}

/* Runs it under several schedules; each has to end like that. */
typedef void Check(PtxRunning *r);
static inline void each_schedule(PtxRunning *r, PtxEnd end, Check *check) {
    static const PtxSchedule schedules[] = {{.kind = SCHEDULE_EAGER},
                                            {.kind = SCHEDULE_EAGER, .mirrored = true},
                                            {.kind = SCHEDULE_LAZY},
                                            {.kind = SCHEDULE_ROUND_ROBIN},
                                            {.kind = SCHEDULE_RANDOM, .seed = 1},
                                            {.kind = SCHEDULE_RANDOM, .seed = 2},
                                            {.kind = SCHEDULE_RANDOM, .seed = 3}};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        r->schedule = schedules[i];
        ptx_running_expect(r, end);
        if (check)
            check(r);
    }
}

static inline void run_text(const char *target, const char *text, uint32_t ctas, uint32_t threads, uint32_t n,
                            PtxEnd end, Check *check) {
    PtxRunning r;
    ptx_running_read(&r, target, text);
    r.launch.grid[0] = ctas;
    r.launch.block[0] = threads;
    set_n(&r, n);
    each_schedule(&r, end, check);
    ptx_running_end(&r);
}

static inline void expect_fault(const char *text, uint32_t n, RuleId rule, uint32_t lanes) {
    PtxRunning r;
    ptx_running_read(&r, "sm_90", text);
    set_n(&r, n);
    ptx_running_expect(&r, PTX_END_FAULT);
    assert_string_equal(rule_of(r.machine->fault.rule)->id, rule_of(rule)->id);
    assert_non_null(r.machine->fault.what);
    assert_int_equal(r.machine->fault.lanes, lanes);
    ptx_running_end(&r);
}

#endif
