/* base/arena: memory with one life and a budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void new_arena_holds_nothing(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    assert_int_equal(arena.held, 0);
    assert_int_equal(arena.budget, 1 << 20);
    arena_free(&arena);
}

static void memory_is_aligned_for_any_object(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    for (size_t size = 1; size < 40; size++)
        assert_int_equal((uintptr_t)arena_alloc(&arena, size) % 8, 0);
    arena_free(&arena);
}

static void zalloc_clears(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    memset(arena_alloc(&arena, 100), 0xff, 100);
    static const char zeros[4096];
    assert_memory_equal(arena_zalloc(&arena, sizeof zeros), zeros, sizeof zeros);
    int *numbers = ARENA_ARRAY(&arena, int, 3);
    assert_int_equal(numbers[0] | numbers[1] | numbers[2], 0);
    arena_free(&arena);
}

/* Chunks of any size, also where they have been used before. */
static void zalloc_clears_what_was_used(void **state) {
    (void)state;
    for (int round = 0; round < 6; round++) {
        Arena arena;
        arena_init(&arena, 64 << 20);
        for (int again = 0; again < 2; again++, arena_reset(&arena))
            for (size_t size = 1000; size < 3 << 20; size *= 2) {
                char *piece = arena_zalloc(&arena, size);
                for (size_t i = 0; i < size; i += 97)
                    assert_int_equal(piece[i], 0);
                memset(piece, 0xff, size);
                memset(arena_alloc(&arena, 50), 0xff, 50);
            }
        arena_free(&arena);
    }
}

/* Large pages are not for who may not have as much. */
static void a_small_budget_is_enough(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    jmp_buf exhausted;
    arena.exhausted = &exhausted;
    static volatile bool jumped;
    jumped = false;
    if (setjmp(exhausted) == 0)
        memset(arena_zalloc(&arena, 900 << 10), 1, 900 << 10);
    else
        jumped = true;
    assert_false(jumped);
    assert_in_range(arena.held, 900 << 10, 1 << 20);
    arena_free(&arena);
}

static void copy_ends_in_a_zero_byte(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    assert_string_equal(arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    arena_free(&arena);
}

/* Growing takes another chunk from the system; what was handed out stays where it is. */
static void older_memory_stays(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static char *pieces[COUNT];
    Arena arena;
    arena_init(&arena, 64 << 20);
    for (int i = 0; i < COUNT; i++)
        pieces[i] = memset(arena_alloc(&arena, 1000), i % 251, 1000);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal((unsigned char)pieces[i][0], i % 251);
        assert_int_equal((unsigned char)pieces[i][999], i % 251);
    }
    assert_in_range(arena.held, COUNT * 1000, arena.budget);
    arena_free(&arena);
}

static void one_piece_may_be_larger_than_any_chunk(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 64 << 20);
    size_t size = 20 << 20;
    memset(arena_alloc(&arena, size), 1, size);
    assert_in_range(arena.held, size, arena.budget);
    arena_free(&arena);
}

/* Past the budget the arena does not return: it jumps to where the owner of the work said. */
static void jumps_when_the_budget_is_spent(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    jmp_buf exhausted;
    arena.exhausted = &exhausted;
    static volatile size_t taken;
    taken = 0;
    if (setjmp(exhausted) == 0)
        for (;;) {
            arena_alloc(&arena, 1000);
            taken += 1000;
        }
    assert_in_range(taken, (1 << 20) / 4, 1 << 20); /* chunks double, so not every byte can be used */
    assert_in_range(arena.held, taken, 1 << 20);
    arena_free(&arena);
}

/* Whether a new arena of 1 MiB gives so much at once. */
static bool gives(size_t size) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    jmp_buf exhausted;
    arena.exhausted = &exhausted;
    volatile bool given = false;
    if (setjmp(exhausted) == 0) {
        arena_alloc(&arena, size);
        given = true;
    }
    assert_true(given || arena.held == 0);
    arena_free(&arena);
    return given;
}

static void jumps_at_once_for_what_cannot_fit(void **state) {
    (void)state;
    assert_true(gives(1 << 19));
    assert_false(gives((1 << 20) + 1));
    assert_false(gives(SIZE_MAX / 2));
    assert_false(gives(SIZE_MAX / 2 + 1));
    assert_false(gives(SIZE_MAX - 8));
    assert_false(gives(SIZE_MAX));
}

/* What did not fit leaves the arena as it was: smaller pieces can still be had. */
static void works_on_after_a_jump(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    char *before = arena_copy(&arena, "before", 6);
    jmp_buf exhausted;
    arena.exhausted = &exhausted;
    if (setjmp(exhausted) == 0)
        arena_alloc(&arena, 2 << 20);
    assert_string_equal(arena_copy(&arena, "after", 5), "after");
    assert_string_equal(before, "before");
    arena_free(&arena);
}

static void can_be_used_again_when_freed(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    arena_alloc(&arena, 5000);
    arena_free(&arena);
    assert_int_equal(arena.held, 0);
    assert_int_equal(arena.budget, 1 << 20);
    assert_string_equal(arena_copy(&arena, "again", 5), "again");
    arena_free(&arena);
}

/* Large chunks are handed from arena to arena as they are. */
static void memory_of_a_freed_arena_is_cleared(void **state) {
    (void)state;
    enum { SIZE = 3 << 20 };
    for (int turn = 0; turn < 3; turn++) {
        Arena first, second;
        arena_init(&first, SIZE_MAX);
        arena_init(&second, SIZE_MAX);
        unsigned char *ours = arena_zalloc(&first, SIZE), *theirs = arena_zalloc(&second, SIZE);
        for (size_t i = 0; i < SIZE; i += 64)
            assert_int_equal(ours[i] | theirs[i], 0);
        memset(ours, 1, SIZE);
        assert_int_equal(theirs[SIZE - 1], 0);
        memset(theirs, 2, SIZE);
        assert_int_equal(ours[SIZE - 1], 1);
        arena_free(&first);
        arena_free(&second);
    }
}

static void an_array_grows_and_keeps_what_it_holds(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    int *items = NULL;
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        items = arena_grown(&arena, items, i, &capacity, sizeof *items);
        assert_true(capacity > i);
        assert_int_equal(items[i], 0);
        items[i] = (int)i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    arena_free(&arena);
}

static void a_limit_is_for_all_arenas_together(void **state) {
    (void)state;
    enum { LIMIT = 1 << 20 };
    Arena arenas[2];
    jmp_buf exhausted;
    volatile size_t held[2] = {0};
    for (int again = 0; again < 2; again++) {
        arena_limit(LIMIT);
        for (volatile int i = 0; i < 2; i++) {
            arena_init(&arenas[i], SIZE_MAX);
            arenas[i].exhausted = &exhausted;
        }
        if (setjmp(exhausted) == 0)
            for (;;)
                for (int i = 0; i < 2; i++)
                    held[i] += arena_alloc(&arenas[i], 1000) ? 1000 : 0;
        assert_in_range(held[0] + held[1], LIMIT / 4, LIMIT);
        assert_in_range(arenas[0].held + arenas[1].held, held[0] + held[1], LIMIT);
        /* What is freed can be taken again, and without a limit there is more. */
        arena_free(&arenas[0]);
        assert_non_null(arena_alloc(&arenas[0], LIMIT / 8));
        arena_limit(0);
        assert_non_null(arena_alloc(&arenas[1], 2 * LIMIT));
        held[0] = held[1] = 0;
        arena_free(&arenas[0]);
        arena_free(&arenas[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_arena_holds_nothing),
        cmocka_unit_test(memory_is_aligned_for_any_object),
        cmocka_unit_test(zalloc_clears),
        cmocka_unit_test(zalloc_clears_what_was_used),
        cmocka_unit_test(a_small_budget_is_enough),
        cmocka_unit_test(copy_ends_in_a_zero_byte),
        cmocka_unit_test(older_memory_stays),
        cmocka_unit_test(one_piece_may_be_larger_than_any_chunk),
        cmocka_unit_test(jumps_when_the_budget_is_spent),
        cmocka_unit_test(jumps_at_once_for_what_cannot_fit),
        cmocka_unit_test(works_on_after_a_jump),
        cmocka_unit_test(can_be_used_again_when_freed),
        cmocka_unit_test(memory_of_a_freed_arena_is_cleared),
        cmocka_unit_test(an_array_grows_and_keeps_what_it_holds),
        cmocka_unit_test(a_limit_is_for_all_arenas_together),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
