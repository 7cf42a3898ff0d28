/* A kernel, read, compiled and on a machine: what the tests of the emulator start from.
 *
 * KERNEL(parameters, body) is a text with one kernel; its body may use the constants below, !barrier, !ring (two
 * barriers), !tile (64 halves, 128 bytes) and !desc. AGENTS(parameters, before, default, partition) is one with a
 * partition of one warp beside the default agent of four: both see %a and %b, two barriers, and the partition all else
 * that is captured under the same names. */
#ifndef TESTS_UNIT_RUNNING_H
#define TESTS_UNIT_RUNNING_H

#include "reading.h"

#include "machine/tile/schedule/schedule.h"

#define MODULE_WITH(attributes, functions)                                                                    \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                    \
    "#smem = #ttg.shared_memory\n"                                                                            \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"                                               \
    "!ring = !ttg.memdesc<2x1xi64, #shared, #smem, mutable>\n"                                                \
    "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"                                                 \
    "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"                                                       \
    "module attributes {" attributes ", \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:100\", "             \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n" functions "}\n"
#define MODULE_OF(ctas, functions) MODULE_WITH("\"ttg.num-ctas\" = " #ctas " : i32", functions)

#define CONSTANTS                        \
    "    %c0 = arith.constant 0 : i32\n" \
    "    %c1 = arith.constant 1 : i32\n" \
    "    %c2 = arith.constant 2 : i32\n" \
    "    %true = arith.constant true\n"  \
    "    %false = arith.constant false\n"

#define FUNCTION(parameters, body) "  tt.func public @kernel(" parameters ") {\n" CONSTANTS body "    tt.return\n  }\n"

#define KERNEL(parameters, body) MODULE_OF(1, FUNCTION(parameters, body))

/* In clusters of x * y programs. */
#define CLUSTERS(x, y, parameters, body)                                                      \
    MODULE_WITH("\"ttg.cluster-dim-x\" = " #x " : i32, \"ttg.cluster-dim-y\" = " #y " : i32", \
                FUNCTION(parameters, body))

/* With one barrier, %bar. */
#define ON_BARRIER(parameters, body) KERNEL(parameters, "    %bar = ttg.local_alloc : () -> !barrier\n" body)

#define SPECIALIZED(before, default_body, partition_body, after)                                                     \
    "    %a = ttg.local_alloc : () -> !barrier\n"                                                                    \
    "    %b = ttg.local_alloc : () -> !barrier\n" before "    ttg.warp_specialize(%a, %b)\n"                         \
    "    default {\n" default_body "      ttg.warp_yield\n    }\n"                                                   \
    "    partition0(%a: !barrier, %b: !barrier) num_warps(1) {\n" CONSTANTS partition_body "      ttg.warp_return\n" \
    "    } : (!barrier, !barrier) -> ()\n" after

#define AGENTS(before, default_body, partition_body) KERNEL("", SPECIALIZED(before, default_body, partition_body, ""))

#define INIT(bar, count)         "    ttng.init_barrier %" #bar ", " #count " : !barrier\n"
#define INVALIDATE(bar)          "    ttng.inval_barrier %" #bar " : !barrier\n"
#define ARRIVE(bar)              "    ttng.arrive_barrier %" #bar ", 1 : !barrier\n"
#define ARRIVE_COUNT(bar, count) "    ttng.arrive_barrier %" #bar ", " #count " : !barrier\n"
#define EXPECT(bar, bytes)       "    ttng.barrier_expect %" #bar ", " #bytes ", %true : !barrier\n"
#define WAIT(bar, parity)        "    ttng.wait_barrier %" #bar ", %c" #parity " : !barrier\n"
#define COPY(bar) \
    "    ttng.async_tma_copy_global_to_local %desc[%c0] %tile, %" #bar ", %true : !desc, !barrier -> !tile\n"

typedef struct Running {
    Reading *reading;
    Verdict verdict;
    const Op *function;
    const Program *program;
    Machine *machine;
    Launch launch;
} Running;

/* Reads, and compiles the last function; NULL as the machine if there is nothing to run. */
static inline Running *compile_kernel(const char *text) {
    Running *running = calloc(1, sizeof *running);
    assert_non_null(running);
    running->reading = read_text(text);
    for (size_t i = 0; i < running->reading->diagnostics.count; i++)
        if (running->reading->diagnostics.items[i].severity == SEVERITY_ERROR)
            print_error("%u: %s\n%s", running->reading->diagnostics.items[i].place.line,
                        running->reading->diagnostics.items[i].message, running->reading->diagnostics.items[i].excerpt);
    assert_true(running->reading->ok);
    Module *module = &running->reading->module;
    running->verdict = (Verdict){.arena = &module->arena};
    running->function = find_op(running->reading, "tt.func", 0);
    for (unsigned i = 1; find_op(running->reading, "tt.func", i); i++)
        running->function = find_op(running->reading, "tt.func", i);
    assert_non_null(running->function);
    running->program = program_compile(module, running->function, 0, &running->verdict);
    const char *problem = NULL;
    running->machine = running->program ? machine_create(&module->arena, running->program, &problem) : NULL;
    running->launch = (Launch){.grid = {1, 1, 1}};
    if (running->machine)
        running->machine->budget = 100000;
    return running;
}

/* Everything of it must be understood. */
static inline Running *compile_whole(const char *text) {
    Running *running = compile_kernel(text);
    for (size_t i = 0; i < running->verdict.incomplete_count; i++)
        print_error("line %u: %s\n", running->verdict.incomplete[i].ir_line, running->verdict.incomplete[i].reason);
    assert_int_equal(running->verdict.incomplete_count, 0);
    assert_non_null(running->machine);
    return running;
}

/* "n=3" */
static inline void give(Running *running, const char *argument) {
    assert_null(launch_set(&running->reading->module.arena, &running->launch, argument));
}

/* At its start, before any agent's first visible effect. */
static inline Running *start_kernel(const char *text) {
    Running *running = compile_whole(text);
    machine_launch(running->machine, &running->launch);
    assert_int_equal(machine_start(running->machine, 0), STEP_DONE);
    return running;
}

static inline void end_kernel(Running *running) {
    done(running->reading);
    free(running);
}

static inline void take_steps(Running *running, uint32_t agent, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        assert_true(machine_can_step(running->machine, agent));
        assert_int_equal(machine_step(running->machine, agent), STEP_DONE);
    }
}

/* A whole run. */
static inline RunEnd run_schedule(Running *running, Schedule schedule) {
    machine_launch(running->machine, &running->launch);
    return schedule_run(running->machine, 0, &schedule);
}

static inline RunEnd run_eagerly(Running *running) {
    return run_schedule(running, (Schedule){.kind = SCHEDULE_EAGER});
}

static inline const Agent *agent_at(const Running *running, uint32_t agent) {
    return &running->machine->state->agents[agent];
}

/* The barrier with that name ("%bar[0]"), once it was used. */
static inline uint32_t slot_named(const Running *running, const char *name) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < running->machine->slots_used; i++) {
        Text text = {0};
        barrier_name(running->machine, i, &text);
        if (text.size == strlen(name) && memcmp(text.data, name, text.size) == 0)
            found = i;
        text_free(&text);
    }
    if (found == UINT32_MAX)
        print_error("no barrier %s was used\n", name);
    assert_true(found != UINT32_MAX);
    return found;
}

static inline const Barrier *barrier_named(const Running *running, const char *name) {
    return &running->machine->state->barriers[slot_named(running, name)];
}

#define assert_barrier(running, name, phase, pending, bytes) \
    assert_barrier_at(barrier_named(running, name), phase, pending, bytes, __FILE__, __LINE__)
static inline void assert_barrier_at(const Barrier *barrier, unsigned phase, unsigned pending, int64_t bytes,
                                     const char *file, int line) {
    if (barrier->phase != phase || barrier->pending != pending || barrier->bytes != bytes) {
        print_error("phase %u, %u pending, %lld bytes\n", barrier->phase, barrier->pending, (long long)barrier->bytes);
        _fail(file, line);
    }
}

/* The agent's next step is one that a barrier does not allow. */
static inline void assert_step_faults(Running *running, uint32_t agent, RuleId rule) {
    assert_true(machine_can_step(running->machine, agent));
    assert_int_equal(machine_step(running->machine, agent), STEP_FAULT);
    assert_string_equal(rule_of(running->machine->fault.rule)->id, rule_of(rule)->id);
    assert_int_equal(running->machine->fault.agent, agent);
}

/* The line of the text that the agent stands at. */
static inline uint32_t line_of_agent(const Running *running, uint32_t agent) {
    return source_place(running->reading->source, running->program->ops[agent_at(running, agent)->pc]->offset).line;
}

#endif
