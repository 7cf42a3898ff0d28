/* For the tests of what renders verdicts: a made-up verdict, and the text that is made of it. */
#ifndef TESTS_UNIT_RENDERING_H
#define TESTS_UNIT_RENDERING_H

#include <stdlib.h>

#include "finding/finding.h"

typedef struct Fixture {
    Arena arena;
    Verdict verdict;
    Source *source;
    Text text;
} Fixture;

/* Of a kernel in an IR file of that name and text. */
static inline int start_rendering(void **state, const char *kernel, const char *file, const char *ir) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 64 << 20);
    fixture->verdict = (Verdict){.arena = &fixture->arena, .kernel = kernel, .seconds = 0.25};
    fixture->source = source_copy(file, ir, strlen(ir));
    *state = fixture;
    return 0;
}

static inline int stop_rendering(void **state) {
    Fixture *fixture = *state;
    arena_free(&fixture->arena);
    source_free(fixture->source);
    text_free(&fixture->text);
    free(fixture);
    return 0;
}

#endif
