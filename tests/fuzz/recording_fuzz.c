/* Any bytes as a recording: it is read, or refused with a sentence; and one that was read is played to a verdict,
 * whatever its records say, without a fault. */
#include "analyze/recording/recording.h"
#include "ptx/reader.h"
#include "render/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 256 << 20, MOST_CTAS = 4096 };

static void check(PtxModule *module, const Recording *recording) {
    Arena arena;
    uint32_t entry = recording_entry(module, recording);
    if (entry == PTX_NONE)
        return;
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena, .kernel = "fuzz"};
    ThreadsOptions options = {.only_launch = true};
    Text text = {0};
    recording_check(module, entry, recording, &options, &verdict);
    verdict_close(&verdict);
    render_text(&verdict, module->source, (TextOptions){.launches = true}, &text);
    text_free(&text);
    arena_free(&arena);
}

static void play(const Recording *recording) {
    const uint32_t *grid = recording->launch.grid;
    if ((uint64_t)grid[0] * grid[1] * grid[2] > MOST_CTAS)
        return;
    Source *source = source_copy("fuzz", recording->ptx.data, recording->ptx.size);
    PtxModule module;
    Diagnostics diagnostics = {0};
    if (!source)
        abort();
    if (ptx_read(&module, source, false, &diagnostics))
        check(&module, recording);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Recording recording;
    const char *problem = NULL;
    jmp_buf here;
    if (size > LARGEST_INPUT)
        return 0;
    arena_init(&arena, BUDGET);
    arena.exhausted = &here;
    if (setjmp(here)) { /* packed chunks may be many */
        arena_free(&arena);
        return 0;
    }
    if (recording_read(&recording, data, size, &arena, &problem)) {
        if (recording.ptx.size)
            play(&recording);
    } else if (!problem || !*problem) {
        abort();
    }
    arena_free(&arena);
    return 0;
}
