/* An engine of races for its tests, and what agents do in short words. */
#ifndef TESTS_UNIT_CONSAN_STEPS_H
#define TESTS_UNIT_CONSAN_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "engine/consan/consan.h"

enum { SPANS = 160, BARRIERS = 8, TMA = CONSAN_TMA, TENSOR = CONSAN_TENSOR };

typedef struct Fixture {
    Arena arena;
    Consan engine;
} Fixture;

static inline void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

static inline int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    ConsanSize size = {.agents = CONSAN_SET, .spans = SPANS, .barriers = BARRIERS};
    arena_init(&fixture->arena, (size_t)1 << 28);
    assert_true(consan_create(&fixture->engine, &size, take, &fixture->arena));
    for (uint32_t span = 0; span < 8; span++)
        assert_int_equal(consan_span(&fixture->engine, 0), span);
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state) {
    Fixture *fixture = *state;
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static inline Consan *engine_of(void **state) {
    Fixture *fixture = *state;
    return &fixture->engine;
}

/* ---- One span ------------------------------------------------------------------------------------- */

static inline ConsanKind may_read(const Consan *engine, uint32_t actor, uint32_t span) {
    return consan_verify_read(engine, actor, &span, 1).kind;
}

static inline ConsanKind may_write(const Consan *engine, uint32_t actor, uint32_t span) {
    return consan_verify_write(engine, actor, &span, 1).kind;
}

static inline void reads(Consan *engine, uint32_t actor, uint32_t span) {
    consan_set_read(engine, actor, &span, 1, 0);
}

static inline void writes(Consan *engine, uint32_t actor, uint32_t span) {
    consan_set_write(engine, actor, &span, 1, 0);
}

static inline void stages(Consan *engine, ConsanGroup group, uint32_t base, uint32_t span) {
    consan_stage(engine, group, base, &span, 1, 0);
}

/* One hands over to the other through a barrier of its own. */
static inline void hands_over(Consan *engine, uint32_t from, uint32_t to, uint32_t barrier) {
    consan_begin_phase(engine, barrier, 0);
    consan_track_frontier(engine, from, barrier, 0);
    consan_transfer(engine, to, barrier, 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)

#endif
