/* Kernels on global memory, as a grid runs them: what the tests of the grid start from. */
#ifndef TESTS_UNIT_HAVOC_CHOICE_H
#define TESTS_UNIT_HAVOC_CHOICE_H

#include "reading.h"

#include "machine/tile/grid/grid.h"

#define HEADER                                                                                                \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
#define CONSTANTS                          \
    "    %c0 = arith.constant 0 : i32\n"   \
    "    %c1 = arith.constant 1 : i32\n"   \
    "    %c2 = arith.constant 2 : i32\n"   \
    "    %c7 = arith.constant 7 : i32\n"   \
    "    %c64 = arith.constant 64 : i32\n" \
    "    %true = arith.constant true\n"
#define MODULE(ctas, functions) \
    HEADER "module attributes {\"ttg.num-ctas\" = " ctas " : i32, \"ttg.num-warps\" = 4 : i32} {\n" functions "}\n"
#define FUNCTION(name, arguments, body) \
    "  tt.func public @" name "(" arguments ") {\n" CONSTANTS body "    tt.return\n  }\n"
#define KERNEL(arguments, body) MODULE("1", FUNCTION("kernel", arguments, body))

/* Loops while the value of the type that `load` gives as %found compares with `wanted` so. */
#define SPIN(load, type, relation, wanted)                                                                        \
    "    scf.while : () -> () {\n" load "      %again = arith.cmpi " relation ", %found, " wanted " : " type "\n" \
    "      scf.condition(%again)\n    } do {\n      scf.yield\n    }\n"
#define PROGRAM_ID            "    %pid = tt.get_program_id x : i32\n"
#define STORE(pointer, value) "    tt.store " pointer ", " value " : !tt.ptr<i32>\n"
#define ADD(result, pointer, value, order)                                    \
    "    " result " = tt.atomic_rmw add, " order ", gpu, " pointer ", " value \
    ", %true : (!tt.ptr<i32>, i32, i1) -> i32\n"
#define VOLATILE(pointer) "      %found = tt.load " pointer " {isVolatile = true} : !tt.ptr<i32>\n"
#define ACQUIRE(pointer) \
    "      %found = tt.atomic_rmw add, acquire, gpu, " pointer ", %c0, %true : (!tt.ptr<i32>, i32, i1) -> i32\n"

/* With %r, 0 to 127, and %p, the integers from %to on. */
#define TENSOR(body)                                                                          \
    "    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>\n" \
    "    %ones = arith.constant dense<1> : tensor<128xi32, #blocked>\n"                       \
    "    %all = arith.constant dense<true> : tensor<128xi1, #blocked>\n"                      \
    "    %b = tt.splat %to : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>\n"            \
    "    %p = tt.addptr %b, %r : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>\n" body

enum { HAVOC_CHOICE_LAUNCHES = 4, BUFFERS = 4 };

/* Kernels on memory of a few buffers of 4096 integers that are zero; argument number k of each is buffer k. */
typedef struct HavocChoice {
    Reading *reading;
    Arena arena;
    jmp_buf exhausted;
    GlobalMemory *memory;
    GridLaunch launches[HAVOC_CHOICE_LAUNCHES];
    Launch how[HAVOC_CHOICE_LAUNCHES];
    uint32_t count;
    Grid *grid;
    uint64_t begun, ended, events;
} HavocChoice;

static inline HavocChoice *havoc_choice_of(const char *text) {
    HavocChoice *havoc_choice = calloc(1, sizeof *havoc_choice);
    assert_non_null(havoc_choice);
    havoc_choice->reading = read_good(text);
    arena_init(&havoc_choice->arena, (size_t)1 << 30);
    havoc_choice->arena.exhausted = &havoc_choice->exhausted;
    havoc_choice->memory = global_create(&havoc_choice->arena);
    static const char *const names[BUFFERS] = {"a", "b", "c", "d"};
    for (unsigned i = 0; i < BUFFERS; i++)
        global_add(havoc_choice->memory,
                   &(Area){.name = names[i],
                           .rank = 1,
                           .element_bits = 32,
                           .shape = {1 << 22},
                           .strides = {1},
                           .bytes = (int64_t)4 << 22,
                           .written = true,
                           .zero = true},
                   NULL, 0);
    return havoc_choice;
}

/* Of the kernel with that number in the text, with so many programs. */
static inline GridLaunch *add_launch(HavocChoice *havoc_choice, unsigned kernel, int64_t programs) {
    Verdict verdict = {.arena = &havoc_choice->arena};
    const Op *function = find_op(havoc_choice->reading, "tt.func", kernel);
    assert_non_null(function);
    const Program *program =
        program_compile(&havoc_choice->reading->module, function, COMPILE_GLOBAL | COMPILE_DATA, &verdict);
    assert_non_null(program);
    assert_int_equal(verdict.incomplete_count, 0);
    Launch *how = &havoc_choice->how[havoc_choice->count];
    *how = (Launch){.grid = {programs, 1, 1}, .count = program->parameter_count};
    how->arguments = ARENA_ARRAY(&havoc_choice->arena, Argument, how->count + 1);
    for (uint32_t i = 0; i < how->count; i++)
        how->arguments[i] = (Argument){.name = str_of(program->parameters[i].name),
                                       .kind = ARGUMENT_TENSOR,
                                       .rank = 1,
                                       .shape = {1 << 22},
                                       .strides = {1},
                                       .element_bits = 32,
                                       .address = global_address(i)};
    havoc_choice->launches[havoc_choice->count] = (GridLaunch){.program = program, .launch = how};
    return &havoc_choice->launches[havoc_choice->count++];
}

static inline HavocChoice *one_launch(const char *text, int64_t programs) {
    HavocChoice *havoc_choice = havoc_choice_of(text);
    add_launch(havoc_choice, 0, programs);
    return havoc_choice;
}

static inline void observe(void *observer, const GridEvent *event) {
    HavocChoice *havoc_choice = observer;
    havoc_choice->begun += event->kind == GRID_BEGIN;
    havoc_choice->ended += event->kind == GRID_END;
    havoc_choice->events += event->kind == GRID_EVENT;
}

static inline RunEnd run_grid(HavocChoice *havoc_choice, GridOptions options) {
    const char *problem = NULL;
    if (!havoc_choice->grid)
        havoc_choice->grid = grid_create(&havoc_choice->arena, havoc_choice->memory, havoc_choice->launches,
                                         havoc_choice->count, &problem);
    assert_null(problem);
    assert_non_null(havoc_choice->grid);
    options.observe = observe;
    options.observer = havoc_choice;
    havoc_choice->begun = havoc_choice->ended = havoc_choice->events = 0;
    return grid_run(havoc_choice->grid, &options);
}

static inline void end_havoc_choice(HavocChoice *havoc_choice) {
    grid_free(havoc_choice->grid);
    arena_free(&havoc_choice->arena);
    done(havoc_choice->reading);
    free(havoc_choice);
}

static inline int64_t value_at(HavocChoice *havoc_choice, unsigned buffer, int64_t index) {
    Word word = global_read(havoc_choice->memory, global_address(buffer) + 4 * index, 32);
    assert_int_equal(word.kind, WORD_INTEGER);
    return word.bits;
}

static const GridOptions schedules[] = {{.kind = GRID_FORWARD},
                                        {.kind = GRID_BACKWARD},
                                        {.kind = GRID_ROUND_ROBIN},
                                        {.kind = GRID_RANDOM, .seed = 1},
                                        {.kind = GRID_RANDOM, .seed = 7}};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

#endif
