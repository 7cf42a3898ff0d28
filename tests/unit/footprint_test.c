/* Lines that nothing can race for: what is quiet is compared with every byte and thread, on random accesses. */
#include "check/replay/footprint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 6, BYTES = LINES * FOOTPRINT_LINE, WARPS = 6, CLUSTER_WARPS = 2, ACCESSES = 24, BASE = 1 << 20 };

/* Of one access: who touches each byte: the thread, + 1, above WARPS * 32 if it is an operation's own; 0: nothing. */
typedef struct Access {
    uint32_t warp;
    bool writes;
    uint32_t first, end;
    uint32_t by[BYTES];
} Access;

static uint32_t next(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* Lanes beside each other, as many as fit. */
static void add_beside(Footprint *footprint, Access *access, uint32_t *seed) {
    uint32_t bytes = 1U << next(seed, 5), room = BYTES / bytes;
    uint32_t first = next(seed, room) * bytes, end = first + 32 * bytes;
    *access = (Access){.warp = next(seed, WARPS), .writes = next(seed, 3) == 0, .first = first};
    access->end = end > BYTES ? BYTES : end;
    for (uint32_t at = first; at < access->end; at++)
        access->by[at] = access->warp * 32 + (at - first) / bytes + 1;
    if (end == access->end)
        footprint_add_beside(footprint, access->warp, access->writes, BASE + first, bytes, true);
    for (uint32_t line = first / FOOTPRINT_LINE; end > BYTES && line * FOOTPRINT_LINE < access->end; line++)
        footprint_add(footprint, access->warp, access->writes, BASE + line * FOOTPRINT_LINE,
                      footprint_beside(bytes, (uint32_t)((int32_t)(line * FOOTPRINT_LINE - first) / (int32_t)bytes)));
}

/* Quarters of a line, by one thread or operation each time. */
static void add_quarters(Footprint *footprint, Access *access, uint32_t *seed, uint32_t number) {
    uint32_t line = next(seed, LINES), quarters = 1 + next(seed, 15);
    *access = (Access){.warp = next(seed, WARPS), .writes = next(seed, 3) == 0};
    access->first = line * FOOTPRINT_LINE;
    access->end = access->first + FOOTPRINT_LINE;
    for (uint32_t i = 0; i < FOOTPRINT_LINE; i++)
        if (quarters >> i / (FOOTPRINT_LINE / 4) & 1)
            access->by[access->first + i] = WARPS * 32 + number + 1;
    footprint_add(footprint, access->warp, access->writes, BASE + access->first,
                  footprint_quarters(access->writes ? quarters : 15));
}

/* Some bytes of a line, by one thread, or by an operation of it. */
static void add_words(Footprint *footprint, Access *access, uint32_t *seed, uint32_t number) {
    uint32_t bytes = 1U << next(seed, 5), first = next(seed, BYTES / bytes) * bytes, lane = next(seed, 3);
    bool alone = next(seed, 4);
    *access = (Access){.warp = next(seed, WARPS), .writes = next(seed, 3) == 0, .first = first, .end = first + bytes};
    for (uint32_t at = first; at < access->end; at++)
        access->by[at] = alone ? access->warp * 32 + lane + 1 : WARPS * 32 + number + 1;
    footprint_add_words(footprint, access->warp, lane, alone, access->writes, BASE + first, BASE + access->end);
}

/* Whether some byte of the access is touched by another thread, and one of the two writes. */
static bool conflicts(const Access *accesses, uint32_t index) {
    const Access *one = &accesses[index];
    for (uint32_t k = 0; k < ACCESSES; k++)
        for (uint32_t at = one->first; k != index && at < one->end; at++)
            if (one->by[at] && accesses[k].by[at] && (one->writes || accesses[k].writes) &&
                one->by[at] != accesses[k].by[at])
                return true;
    return false;
}

static void test_what_is_quiet_conflicts_with_nothing(void **state) {
    (void)state;
    static Access accesses[ACCESSES];
    uint32_t seed = 1, quiet = 0, noisy = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        Arena arena;
        arena_init(&arena, 1 << 24);
        Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, round % 5 == 0);
        Footprint *other =
            footprint_new(&arena, WARPS, CLUSTER_WARPS, round % 5 == 0); /* some in two that are merged */
        uint32_t kept = 2 + next(&seed, ACCESSES - 1);
        memset(accesses, 0, sizeof accesses);
        for (uint32_t i = 0; i < kept && i < ACCESSES; i++) {
            Footprint *to = round % 3 && next(&seed, 2) ? other : footprint;
            switch (next(&seed, 4) + (round % 2 ? 0 : 2)) { /* of small ones alone, too */
            case 0:
                add_quarters(to, &accesses[i], &seed, i);
                break;
            case 1:
            case 2:
                add_beside(to, &accesses[i], &seed);
                break;
            default:
                add_words(to, &accesses[i], &seed, i);
            }
        }
        footprint_merge(footprint, other);
        for (uint32_t i = 0; i < kept && i < ACCESSES; i++) {
            bool is_quiet = footprint_is_quiet(footprint, BASE + accesses[i].first, BASE + accesses[i].end);
            bool cluster = footprint_cluster_is_quiet(footprint, accesses[i].warp / CLUSTER_WARPS);
            assert_true(!is_quiet || !conflicts(accesses, i));
            assert_true(!cluster || is_quiet);
            quiet += is_quiet;
            noisy += !is_quiet;
        }
        arena_free(&arena);
    }
    assert_true(quiet > 1000 && noisy > 1000);
}

/* Threads beside each other are the same as line by line. */
static void test_beside_is_line_by_line(void **state) {
    (void)state;
    uint32_t seed = 7, noisy = 0;
    for (uint32_t round = 0; round < 3000; round++) {
        Arena arena;
        arena_init(&arena, 1 << 24);
        bool only_writes = round % 5 == 0;
        Footprint *one = footprint_new(&arena, WARPS, CLUSTER_WARPS, only_writes);
        Footprint *other = footprint_new(&arena, WARPS, CLUSTER_WARPS, only_writes);
        for (uint32_t i = 0; i < 12; i++) {
            uint32_t bytes = 1U << next(&seed, 5), warp = next(&seed, WARPS), first = next(&seed, 4) * bytes * 16;
            bool writes = next(&seed, 4) == 0, alone = next(&seed, 4);
            footprint_add_beside(one, warp, writes, BASE + first, bytes, alone);
            for (uint32_t line = first / FOOTPRINT_LINE; line * FOOTPRINT_LINE < first + 32 * bytes; line++)
                footprint_add(other, warp, writes, BASE + line * FOOTPRINT_LINE,
                              alone ? footprint_beside(bytes, (line * FOOTPRINT_LINE - first) / bytes)
                                    : footprint_quarters(15));
        }
        for (uint32_t at = 0; at < 4096; at += FOOTPRINT_LINE) {
            bool quiet = footprint_is_quiet(one, BASE + at, BASE + at + FOOTPRINT_LINE);
            assert_int_equal(quiet, footprint_is_quiet(other, BASE + at, BASE + at + FOOTPRINT_LINE));
            noisy += !quiet;
        }
        for (uint32_t i = 0; i < WARPS / CLUSTER_WARPS; i++)
            assert_int_equal(footprint_cluster_is_quiet(one, i), footprint_cluster_is_quiet(other, i));
        assert_int_equal(footprint_is_loud(one), footprint_is_loud(other));
        arena_free(&arena);
    }
    assert_true(noisy > 1000);
}

static void test_a_line_that_is_read_by_all_is_quiet(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    for (uint32_t warp = 0; warp < WARPS; warp++)
        footprint_add(footprint, warp, false, BASE, footprint_beside(4, 0));
    footprint_add_readers(footprint, BASE, BASE + 4 * FOOTPRINT_LINE);
    for (uint32_t i = 0; i < WARPS / CLUSTER_WARPS; i++)
        assert_true(footprint_cluster_is_quiet(footprint, i));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + 4 * FOOTPRINT_LINE));
    footprint_add(footprint, 3, true, BASE + 3 * FOOTPRINT_LINE, footprint_beside(4, 0));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + 3 * FOOTPRINT_LINE));
    assert_false(footprint_is_quiet(footprint, BASE + 3 * FOOTPRINT_LINE, BASE + 3 * FOOTPRINT_LINE + 1));
    assert_false(footprint_cluster_is_quiet(footprint, 0));
    arena_free(&arena);
}

static void test_readers_of_what_was_written(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    footprint_add(footprint, 3, true, BASE, footprint_beside(4, 0));
    footprint_add_readers(footprint, BASE, BASE + FOOTPRINT_LINE);
    assert_false(footprint_is_quiet(footprint, BASE, BASE + 4));
    assert_false(footprint_cluster_is_quiet(footprint, 0));
    arena_free(&arena);
}

/* The same threads in the same places, again and again; and a thread that reads what it has written. */
static void test_a_thread_of_its_own_is_quiet(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    for (uint32_t i = 0; i < 4; i++)
        footprint_add(footprint, 2, i % 2, BASE, footprint_beside(4, 0));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    assert_true(footprint_cluster_is_quiet(footprint, 1));
    footprint_add(footprint, 2, false, BASE, footprint_beside(4, 1));
    assert_false(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    assert_false(footprint_cluster_is_quiet(footprint, 1));
    assert_true(footprint_cluster_is_quiet(footprint, 0));
    arena_free(&arena);
}

/* A word each, of one line. */
static void test_threads_that_share_a_line(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    for (uint32_t warp = 0; warp < WARPS; warp++)
        for (uint32_t writes = 0; writes < 2; writes++)
            footprint_add_words(footprint, warp, 0, true, writes, BASE + 4 * warp, BASE + 4 * warp + 4);
    assert_true(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    assert_true(footprint_cluster_is_quiet(footprint, 0));
    footprint_add_words(footprint, 5, 1, true, false, BASE + 20, BASE + 24);
    assert_true(footprint_is_quiet(footprint, BASE, BASE + 20));
    assert_false(footprint_is_quiet(footprint, BASE + 23, BASE + 24));
    assert_true(footprint_cluster_is_quiet(footprint, 0));
    assert_false(footprint_cluster_is_quiet(footprint, 2));
    footprint_add(footprint, 0, false, BASE, footprint_beside(4, 0)); /* the whole line */
    assert_false(footprint_is_quiet(footprint, BASE, BASE + 4));
    assert_true(footprint_is_quiet(footprint, BASE + 4 * WARPS, BASE + FOOTPRINT_LINE));
    assert_false(footprint_cluster_is_quiet(footprint, 0));
    arena_free(&arena);
}

/* Warps of two CTAs that write halves of a line; and one that writes in both. */
static void test_warps_that_write_other_quarters(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    footprint_add(footprint, 0, true, BASE, footprint_quarters(3));
    footprint_add(footprint, 2, true, BASE, footprint_quarters(12));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    assert_true(footprint_cluster_is_quiet(footprint, 0) && footprint_cluster_is_quiet(footprint, 1));
    footprint_add(footprint, 4, true, BASE, footprint_quarters(4));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE / 2));
    assert_false(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    assert_true(footprint_cluster_is_quiet(footprint, 0) && !footprint_cluster_is_quiet(footprint, 1));
    arena_free(&arena);
}

/* A warp that writes a line piece by piece writes each byte once. */
static void test_a_warp_that_writes_quarter_by_quarter(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, false);
    for (uint32_t i = 0; i < 4; i++)
        footprint_add(footprint, 0, true, BASE, footprint_quarters(1U << i));
    assert_true(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    footprint_add(footprint, 0, true, BASE, footprint_quarters(4));
    assert_false(footprint_is_quiet(footprint, BASE, BASE + FOOTPRINT_LINE));
    arena_free(&arena);
}

/* What is read says nothing then; what is written once is noisy. */
static void test_only_what_is_written(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    Footprint *footprint = footprint_new(&arena, WARPS, CLUSTER_WARPS, true);
    footprint_add(footprint, 1, true, BASE + FOOTPRINT_LINE, footprint_beside(4, 0));
    footprint_add_words(footprint, 1, 0, true, true, BASE + 3 * FOOTPRINT_LINE, BASE + 3 * FOOTPRINT_LINE + 4);
    for (uint32_t warp = 0; warp < 2; warp++)
        footprint_add(footprint, warp, false, BASE, footprint_beside(4, 0));
    footprint_add_words(footprint, 0, 0, true, false, BASE + 2 * FOOTPRINT_LINE, BASE + 2 * FOOTPRINT_LINE + 4);
    footprint_add_readers(footprint, BASE, BASE + LINES * FOOTPRINT_LINE);
    for (uint32_t i = 0; i < LINES; i++)
        assert_int_equal(footprint_is_quiet(footprint, BASE + i * FOOTPRINT_LINE, BASE + (i + 1) * FOOTPRINT_LINE),
                         i != 1 && i != 3);
    assert_false(footprint_cluster_is_quiet(footprint, 2));
    arena_free(&arena);
}

static void test_too_many_warps(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 24);
    assert_null(footprint_new(&arena, FOOTPRINT_WARPS, 4, false));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_quiet_conflicts_with_nothing),
        cmocka_unit_test(test_beside_is_line_by_line),
        cmocka_unit_test(test_a_line_that_is_read_by_all_is_quiet),
        cmocka_unit_test(test_readers_of_what_was_written),
        cmocka_unit_test(test_a_thread_of_its_own_is_quiet),
        cmocka_unit_test(test_threads_that_share_a_line),
        cmocka_unit_test(test_warps_that_write_other_quarters),
        cmocka_unit_test(test_a_warp_that_writes_quarter_by_quarter),
        cmocka_unit_test(test_only_what_is_written),
        cmocka_unit_test(test_too_many_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
