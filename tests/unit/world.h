/* Kernels on global memory, as a grid runs them: what the tests of the grid start from. */
#ifndef TESTS_UNIT_WORLD_H
#define TESTS_UNIT_WORLD_H

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

enum { WORLD_LAUNCHES = 4, BUFFERS = 4 };

/* Kernels on memory of a few buffers of 4096 integers that are zero; argument number k of each is buffer k. */
typedef struct World {
    Reading *reading;
    Arena arena;
    jmp_buf exhausted;
    GlobalMemory *memory;
    GridLaunch launches[WORLD_LAUNCHES];
    Launch how[WORLD_LAUNCHES];
    uint32_t count;
    Grid *grid;
    uint64_t begun, ended, events;
} World;

static inline World *world_of(const char *text) {
    World *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->reading = read_good(text);
    arena_init(&world->arena, (size_t)1 << 30);
    world->arena.exhausted = &world->exhausted;
    world->memory = global_create(&world->arena);
    static const char *const names[BUFFERS] = {"a", "b", "c", "d"};
    for (unsigned i = 0; i < BUFFERS; i++)
        global_add(world->memory,
                   &(Area){.name = names[i],
                           .rank = 1,
                           .element_bits = 32,
                           .shape = {1 << 22},
                           .strides = {1},
                           .bytes = (int64_t)4 << 22,
                           .written = true,
                           .zero = true},
                   NULL, 0);
    return world;
}

/* Of the kernel with that number in the text, with so many programs. */
static inline GridLaunch *add_launch(World *world, unsigned kernel, int64_t programs) {
    Verdict verdict = {.arena = &world->arena};
    const Op *function = find_op(world->reading, "tt.func", kernel);
    assert_non_null(function);
    const Program *program =
        program_compile(&world->reading->module, function, COMPILE_GLOBAL | COMPILE_DATA, &verdict);
    assert_non_null(program);
    assert_int_equal(verdict.incomplete_count, 0);
    Launch *how = &world->how[world->count];
    *how = (Launch){.grid = {programs, 1, 1}, .count = program->parameter_count};
    how->arguments = ARENA_ARRAY(&world->arena, Argument, how->count + 1);
    for (uint32_t i = 0; i < how->count; i++)
        how->arguments[i] = (Argument){.name = str_of(program->parameters[i].name),
                                       .kind = ARGUMENT_TENSOR,
                                       .rank = 1,
                                       .shape = {1 << 22},
                                       .strides = {1},
                                       .element_bits = 32,
                                       .address = global_address(i)};
    world->launches[world->count] = (GridLaunch){.program = program, .launch = how};
    return &world->launches[world->count++];
}

static inline World *one_launch(const char *text, int64_t programs) {
    World *world = world_of(text);
    add_launch(world, 0, programs);
    return world;
}

static inline void observe(void *observer, const GridEvent *event) {
    World *world = observer;
    world->begun += event->kind == GRID_BEGIN;
    world->ended += event->kind == GRID_END;
    world->events += event->kind == GRID_EVENT;
}

static inline RunEnd run_grid(World *world, GridOptions options) {
    const char *problem = NULL;
    if (!world->grid)
        world->grid = grid_create(&world->arena, world->memory, world->launches, world->count, &problem);
    assert_null(problem);
    assert_non_null(world->grid);
    options.observe = observe;
    options.observer = world;
    world->begun = world->ended = world->events = 0;
    return grid_run(world->grid, &options);
}

static inline void end_world(World *world) {
    grid_free(world->grid);
    arena_free(&world->arena);
    done(world->reading);
    free(world);
}

static inline int64_t value_at(World *world, unsigned buffer, int64_t index) {
    Word word = global_read(world->memory, global_address(buffer) + 4 * index, 32);
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
