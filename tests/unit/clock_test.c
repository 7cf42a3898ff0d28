/* Clocks over CTAs beside plain vectors, on random joins and raises; clocks share what is equal, vectors share nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/clock/clock.h"
#include "share.h"

enum { PROGRAMS = 400, STEPS = 300, CLOCKS = 12, CTAS = 3 * CTA_LEAF, FIRST_CTAS = CTA_LEAF + 3 };

typedef struct Program {
    Pool pool;
    ClockSpace space;
    jmp_buf exhausted;
    Clock *clocks[CLOCKS];
    uint32_t vectors[CLOCKS][CTAS];
    uint64_t random;
    uint32_t ctas; /* that there are */
} Program;

static uint32_t choose(Program *program, uint32_t count) {
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(program->random >> 33) % count;
}

static void start(Program *program, uint64_t seed) {
    memset(program, 0, sizeof *program);
    program->random = seed * 0x9e3779b97f4a7c15u + 1;
    arena_init(&program->pool.arena, (size_t)64 << 20);
    program->pool.arena.exhausted = &program->exhausted;
    program->space.pool = &program->pool;
    clock_space_grow(&program->space, program->ctas = FIRST_CTAS);
}

static void set(Program *program, uint32_t to, uint32_t from) {
    Clock *clock = clock_share(program->clocks[from]);
    clock_drop(&program->space, program->clocks[to]);
    program->clocks[to] = clock;
    memmove(program->vectors[to], program->vectors[from], sizeof program->vectors[to]);
}

static void raise_one(Program *program, uint32_t which) {
    /* Mostly a few of them, in both leaves. */
    uint32_t cta = choose(program, 4) ? choose(program, 4) * 21 : choose(program, program->ctas);
    uint32_t epoch = program->vectors[which][cta] + choose(program, 3);
    if (!epoch)
        return;
    clock_raise(&program->space, &program->clocks[which], cta, epoch);
    program->vectors[which][cta] = epoch;
}

static void join(Program *program, uint32_t to, uint32_t from) {
    clock_join(&program->space, &program->clocks[to], program->clocks[from]);
    for (uint32_t i = 0; i < CTAS; i++)
        if (program->vectors[from][i] > program->vectors[to][i])
            program->vectors[to][i] = program->vectors[from][i];
}

static void end_some(Program *program, uint32_t which) {
    uint32_t first = choose(program, program->ctas), count = 1 + choose(program, program->ctas - first);
    Clock *ended = clock_of_ended(&program->space, first, count);
    clock_join(&program->space, &program->clocks[which], ended);
    clock_drop(&program->space, ended);
    for (uint32_t i = first; i < first + count; i++)
        program->vectors[which][i] = EPOCH_ENDED - 1000; /* so that there is room above */
}

static void step(Program *program) {
    uint32_t what = choose(program, 64), one = choose(program, CLOCKS), other = choose(program, CLOCKS);
    if (what < 24)
        raise_one(program, one);
    else if (what < 48)
        join(program, one, other);
    else if (what < 62)
        set(program, one, other);
    else if (what == 62)
        clock_space_grow(&program->space, program->ctas = CTAS);
    else if (choose(program, 4) == 0)
        end_some(program, one);
}

static void is_equal(const Program *program, uint64_t seed, int at) {
    for (uint32_t i = 0; i < CLOCKS; i++)
        for (uint32_t cta = 0; cta < CTAS; cta++) {
            uint32_t epoch = program->vectors[i][cta];
            bool ended = epoch >= EPOCH_ENDED - 1000;
            if ((epoch && !clock_knows(program->clocks[i], cta, epoch)) ||
                (!ended && clock_knows(program->clocks[i], cta, epoch + 1)))
                fail_msg("program %u, step %d: clock %u, CTA %u, epoch %u", (unsigned)seed, at, i, cta, epoch);
        }
}

static void clocks_know_what_vectors_know(void **state) {
    (void)state;
    static Program program;
    for (uint64_t seed = 0; seed < share_of(PROGRAMS); seed++) {
        start(&program, seed);
        if (setjmp(program.exhausted))
            fail_msg("there is no memory");
        for (int i = 0; i < STEPS; i++) {
            step(&program);
            is_equal(&program, seed, i);
        }
        for (uint32_t i = 0; i < CLOCKS; i++)
            clock_drop(&program.space, program.clocks[i]);
        gsan_pool_give(&program.pool, program.space.line_steps, program.space.line_capacity * sizeof(uint32_t));
        assert_int_equal(program.pool.used, 0); /* nothing was lost */
        arena_free(&program.pool.arena);
    }
}

/* The first clock that there was, and one that was copied since: neither has what the other has. */
static void a_copy_has_no_more_than_its_original(void **state) {
    (void)state;
    static Program program;
    start(&program, 1);
    clock_raise(&program.space, &program.clocks[0], 0, 1);
    clock_raise(&program.space, &program.clocks[1], 1, 1);
    set(&program, 2, 1);
    clock_raise(&program.space, &program.clocks[2], 2, 1);
    clock_join(&program.space, &program.clocks[2], program.clocks[0]);
    assert_true(clock_knows(program.clocks[2], 0, 1));
    assert_false(clock_includes(&program.space, program.clocks[0], program.clocks[2]));
    arena_free(&program.pool.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_know_what_vectors_know),
        cmocka_unit_test(a_copy_has_no_more_than_its_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
