/* Any bytes as a launch file, as an argument of the command line and as a grid. Whatever they are, reading them ends
 * without a fault: with a launch, or with something said. A launch that was read can be put into words, and written as
 * JSON that reads again, as a launch that is written with the same bytes. Made twice on each of three devices, it has
 * memory and an order, or something is said. */
#include "machine/tile/grid/launch_sequence.h"
#include "mlir/reader.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20, DEVICES = 3 };

/* Its parameters have the names that inputs use. */
static const char kernel[] = "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                             "  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<f32>, %n: i32) {\n"
                             "    %0 = tt.load %x : !tt.ptr<i32>\n"
                             "    %1 = tt.atomic_rmw add, acq_rel, gpu, %x, %n : (!tt.ptr<i32>, i32) -> i32\n"
                             "    %2 = tt.load %y : !tt.ptr<f32>\n"
                             "    tt.return\n"
                             "  }\n"
                             "}\n";

static void give_up(const char *why, Text before, Text after) {
    fprintf(stderr, "%s\n---- before\n%.*s\n---- after\n%.*s\n", why, (int)before.size, before.data, (int)after.size,
            after.data);
    abort();
}

static Source *copy(const char *data, size_t size) {
    Source *source = source_copy("fuzz", data, size);
    if (!source)
        abort();
    return source;
}

static void check_launch(Arena *arena, const Launch *launch) {
    Text words = {0}, once = {0}, twice = {0};
    launch_describe(launch, &words);
    launch_write(launch, &once);
    if (words.failed || once.failed)
        give_up("a launch cannot be written", words, once);
    if (memchr(words.data, '\n', words.size) || memchr(once.data, '\n', once.size))
        give_up("a launch is written on more than one line", words, once);
    Source *source = copy(once.data, once.size);
    Diagnostics diagnostics = {0};
    Launch again;
    if (!launch_read(arena, source, &again, &diagnostics))
        give_up("what was written has errors", once, twice);
    launch_write(&again, &twice);
    if (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0)
        give_up("what was written is written differently", once, twice);
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(&words);
    text_free(&once);
    text_free(&twice);
}

/* Compiled once, and kept. */
static const Program *program(void) {
    static Module module;
    static const Program *compiled;
    const Op *function;
    Diagnostics diagnostics = {0};
    if (compiled)
        return compiled;
    Source *source = copy(kernel, sizeof kernel - 1);
    if (!read_unit(&module, source, &(Unit){.end = source->size}, (ReadOptions){0}, &diagnostics) ||
        program_kernels(&module, &function, 1) != 1)
        abort();
    Verdict verdict = {.arena = &module.arena};
    compiled = program_compile(&module, function, COMPILE_GLOBAL | COMPILE_DATA, &verdict);
    if (!compiled)
        abort();
    return compiled;
}

/* Memory that it names can be named, too. */
static void check_launch_sequence(const Launch *launch) {
    const LaunchSequenceInput inputs[] = {{program(), launch}, {program(), launch}};
    const char *problem = NULL;
    Arena arena;
    jmp_buf exhausted;
    LaunchSequence launch_sequence;
    Text name = {0};
    arena_init(&arena, BUDGET);
    arena.exhausted = &exhausted;
    if (!setjmp(exhausted)) {
        bool good = launch_sequence_build(&arena, inputs, 2, DEVICES, &launch_sequence, &problem);
        if (good == (problem != NULL))
            abort();
        for (uint32_t i = 0; good && i < global_area_count(launch_sequence.memory); i++)
            global_name(launch_sequence.memory, global_address(i), &name);
    }
    text_free(&name);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Arena arena;
    Diagnostics diagnostics = {0};
    Launch launch, line = {.grid = {1, 1, 1}};
    Source *source = copy((const char *)data, size);
    arena_init(&arena, BUDGET);
    bool good = launch_read(&arena, source, &launch, &diagnostics);
    if (good == (diagnostics.errors > 0))
        abort();
    if (good) {
        check_launch(&arena, &launch);
        check_launch_sequence(&launch);
    }
    bool argument = !launch_set(&arena, &line, source->data), grid = !launch_set_grid(&line, source->data);
    if (argument || grid)
        check_launch(&arena, &line);
    diagnostics_free(&diagnostics);
    source_free(source);
    arena_free(&arena);
    return 0;
}
