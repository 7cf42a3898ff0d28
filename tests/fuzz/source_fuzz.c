/* Any bytes as the source of C++ that a kernel was compiled from: its launches are read, in bounds and at once, and
 * numbers of them are sizes. */
#include "ptx/source_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 8 << 10, READING_BUDGET = 1 << 20 };

static void read_launch(Source *source, Str mangled) {
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, READING_BUDGET);
    arena.exhausted = &exhausted;
    if (!setjmp(exhausted)) {
        PtxSourceLaunch launch = ptx_launch_in(source, mangled, &arena);
        for (unsigned i = 0; i < 3; i++)
            if (launch.count && (launch.grid[i] == 0 || launch.block[i] == 0 || launch.block[i] < -1))
                abort();
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Source *source = size <= LARGEST_INPUT ? source_copy("fuzz.cu", (const char *)data, size) : NULL;
    if (!source)
        return 0;
    source_line(source, 1);
    if (source->line_count) {
        read_launch(source, STR("_Z4fillPii"));
        read_launch(source, STR("_ZN4sums5scaleIfLi64EEEvPT_PKfS1_ii"));
        read_launch(source, STR("fill"));
    }
    source_free(source);
    return 0;
}
