/* Any bytes as a launch file, as an argument of the command line and as a grid. Whatever they are, reading them ends
 * without a fault: with a launch, or with something said. A launch that was read can be put into words, and written as
 * JSON that reads again, as a launch that is written with the same bytes. */
#include "emulate/launch.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 64 << 20 };

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
    if (good)
        check_launch(&arena, &launch);
    bool argument = !launch_set(&arena, &line, source->data), grid = !launch_set_grid(&line, source->data);
    if (argument || grid)
        check_launch(&arena, &line);
    diagnostics_free(&diagnostics);
    source_free(source);
    arena_free(&arena);
    return 0;
}
