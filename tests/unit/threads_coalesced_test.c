/* Accesses of whole lines, lanes one beside the other: what is plainly ordered is done at once, and lines that are
 * alike together. Short programs of nothing but whole lines, with lanes in the same places, in others, and swizzled,
 * told to an engine that looks at every word as well (ThreadsShape.by_word): both have to say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/hb/threads.h"
#include "share.h"
#include "threads_pair.h"

enum { CTAS = 3, CTA_WARPS = 2, LANES = 32, LINE = 128, LINES = 9, PARTS = 12, DATA = 0x10000, FLAGS = 0x90000 };

static ThreadsAccess draw_access(uint32_t site) {
    ThreadsAccess access = {.kind = draw(3) ? KIND_READ : KIND_WRITE, .site = site, .bytes = 4U << draw(3)};
    access.element = (uint8_t)access.bytes;
    return access;
}

static void beside(Pair *pair, uint32_t warp, const ThreadsAccess *access, uint64_t first) {
    uint64_t addresses[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        addresses[i] = first + (uint64_t)i * access->bytes;
    BOTH(pair, if (!threads_access_coalesced(engine, warp, access, first))
                   threads_access(engine, 0, warp, UINT32_MAX, access, addresses));
}

/* A program goes from one part of memory to the next: where there was a race, words are looked at from then on. */
static uint64_t part;
static uint64_t draw_line(uint32_t lines) {
    return part + (uint64_t)draw(LINES - lines + 1) * LINE;
}

/* Lines in another order, swizzled, or of some lanes alone. */
static void otherwise(Pair *pair, uint32_t operations[2], uint32_t warp, const ThreadsAccess *access) {
    uint32_t per = LINE / access->bytes, lines = LANES / per, turn = draw(lines), flip = draw(3) ? 0 : draw(per);
    uint32_t group = draw(lines) * per, mask = per == LANES ? UINT32_MAX : ((1U << per) - 1) << group;
    uint32_t lanes = draw(2) ? UINT32_MAX : mask;
    bool rows = draw(2);
    uint64_t addresses[LANES], first = draw_line(lines);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t line = (i / per + turn) % lines;
        addresses[i] = first + line * LINE + (i % per ^ (rows ? line * flip % per : flip)) * access->bytes;
    }
    BOTH(pair, threads_access(engine, operations ? operations[e_] : 0, warp, lanes, access, addresses));
}

static void meet(Pair *pair, uint32_t cta) {
    BOTH(pair, threads_meet(engine, 1 + cta, cta));
}

/* What one CTA did is before what the other does: of all of its threads, or of one. */
static void pass(Pair *pair, uint32_t from, uint32_t to, bool all) {
    uint64_t flags[LANES] = {FLAGS + from * 4};
    ThreadsAccess flag = {
        .kind = KIND_WRITE, .order = ORDER_RELEASE, .scope = SCOPE_GPU, .element = 4, .bytes = 4, .site = 100};
    if (all)
        meet(pair, from);
    BOTH(pair, threads_access(engine, 0, from * CTA_WARPS, 1, &flag, flags));
    flag.kind = KIND_READ;
    flag.order = ORDER_ACQUIRE;
    flag.gives = true;
    flag.site = 101;
    BOTH(pair, threads_access(engine, 0, to * CTA_WARPS, 1, &flag, flags));
    if (all || draw(2))
        meet(pair, to);
}

static void step(Pair *pair, uint32_t site) {
    uint32_t warp = draw(CTAS * CTA_WARPS), lines;
    ThreadsAccess access = draw_access(site);
    switch (draw(12)) {
    case 0:
    case 1:
        meet(pair, draw(CTAS));
        break;
    case 2:
    case 3:
    case 4:
        pass(pair, draw(CTAS), draw(CTAS), draw(4) > 0);
        break;
    case 5:
    case 6:
        otherwise(pair, NULL, warp, &access);
        break;
    case 7: { /* copies, which read or write while the lanes go on */
        uint32_t operations[2];
        for (int i = 0; i < 2; i++)
            operations[i] = threads_issue(pair->each[i], warp, UINT32_MAX, false, 0, site);
        otherwise(pair, operations, warp, &access);
        if (draw(2))
            BOTH(pair, threads_done(engine, operations[e_], THREADS_ALL_DONE, warp, UINT32_MAX, true));
        break;
    }
    default:
        lines = access.bytes * LANES / LINE;
        access.read_only = access.kind == KIND_READ && !draw(12);
        beside(pair, warp, &access, draw_line(lines));
    }
}

/* Everything so far is before what comes. */
static void all_meet(Pair *pair) {
    for (uint32_t i = 0; i + 1 < 2 * CTAS; i++)
        pass(pair, i % CTAS, (i + 1) % CTAS, true);
    for (uint32_t i = 0; i < CTAS; i++) /* lanes of a warp know the same again */
        meet(pair, i);
}

static void whole_lines_agree(void **unused) {
    (void)unused;
    uint32_t with = 0, without = 0;
    for (uint32_t seed = 0; seed < share_of(250); seed++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES, .sweep_at = 400});
        uint32_t before = 0;
        state = seed * 7919 + 11;
        for (uint32_t i = 0; i < PARTS; i++) {
            part = DATA + (uint64_t)i * 2048 + draw(2) * 512;
            for (uint32_t k = 0; k < 3; k++) { /* something stands in most lines */
                ThreadsAccess write = {.kind = KIND_WRITE, .element = 16, .bytes = 16, .site = 60 + k};
                beside(&pair, draw(CTAS * CTA_WARPS), &write, part + (uint64_t)k % 2 * 4 * LINE);
                all_meet(&pair);
            }
            for (uint32_t k = 0; k < 12; k++) {
                step(&pair, draw(50));
                if (draw(2))
                    all_meet(&pair);
            }
            uint32_t count = pair_agree(&pair);
            with += count > before;
            without += count == before;
            before = count;
        }
        pair_free(&pair);
    }
    assert_true(with > share_of(250) && without > share_of(250));
}

/* Two records one behind the other: the second one's first lane is, as a number, what the first one's next lane would
 * be. Who comes after the first alone races with the second. */
static void next_record_is_not_the_next_lane(void **unused) {
    (void)unused;
    Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
    ThreadsAccess write = {.kind = KIND_WRITE, .element = 16, .bytes = 16, .site = 1}, read = write;
    uint64_t lines[LANES] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        lines[24 + i] = DATA + (uint64_t)i * 16;
        lines[i] = DATA + LINE + (uint64_t)i * 16;
    }
    BOTH(&pair, threads_access(engine, 0, 0, 0xff000000, &write, lines));
    write.site = 2;
    BOTH(&pair, threads_access(engine, 0, 4, 0xff, &write, lines));
    pass(&pair, 0, 1, true);
    read.kind = KIND_READ;
    read.site = 3;
    beside(&pair, 2, &read, DATA);
    assert_int_equal(pair_agree(&pair), 1);
    pair_free(&pair);
}

static ThreadsAccess wide(AccessKind kind, uint32_t site) {
    return (ThreadsAccess){.kind = (uint8_t)kind, .element = 16, .bytes = 16, .site = site};
}

/* What one warp did is before what the other one does; other warps of its CTA are not known by that. */
static void pass_warp(Pair *pair, uint32_t from, uint32_t to) {
    BOTH(pair, threads_arrive(engine, 50, THREADS_ANY_CTA, from, UINT32_MAX, ORDER_RELEASE, SCOPE_GPU);
         threads_flip(engine, 50); threads_wait(engine, 50, to, UINT32_MAX, ORDER_ACQUIRE, SCOPE_GPU));
}

/* Lanes that read in a later epoch have read then. */
static void later_read_races(void **unused) {
    (void)unused;
    for (uint32_t again = 0; again < 2; again++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess read = wide(KIND_READ, 1), write = wide(KIND_WRITE, 3);
        beside(&pair, 0, &read, DATA);
        pass_warp(&pair, 0, 2);
        read.site = 2;
        if (again)
            beside(&pair, 0, &read, DATA);
        beside(&pair, 2, &write, DATA);
        assert_int_equal(pair_agree(&pair), again);
        pair_free(&pair);
    }
}

/* A copy that reads what its lanes read, too, is not them: either may be over and known without the other. */
static void copy_is_not_its_lanes(void **unused) {
    (void)unused;
    for (uint32_t known = 0; known < 4; known++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess read = wide(KIND_READ, 1), write = wide(KIND_WRITE, 3);
        uint64_t addresses[LANES];
        for (uint32_t i = 0; i < LANES; i++)
            addresses[i] = DATA + (uint64_t)i * 16;
        BOTH(&pair, uint32_t copy = threads_issue(engine, 0, UINT32_MAX, false, 0, 1);
             threads_access(engine, copy, 0, UINT32_MAX, &read, addresses);
             if (known & 1) threads_done(engine, copy, THREADS_ALL_DONE, 2, UINT32_MAX, false));
        read.site = 2;
        beside(&pair, 0, &read, DATA);
        if (known & 2)
            pass_warp(&pair, 0, 2);
        beside(&pair, 2, &write, DATA);
        assert_int_equal(pair_agree(&pair), !(known & 1) + !(known & 2));
        pair_free(&pair);
    }
}

/* Where one line is swizzled and the one before it is not, lanes are in their own places in that one alone. */
static void one_line_swizzled(void **unused) {
    (void)unused;
    for (uint32_t flip = 0; flip < 2; flip++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess read = wide(KIND_READ, 2), write = wide(KIND_WRITE, 1);
        uint64_t addresses[LANES];
        for (uint32_t i = 0; i < LANES; i++)
            addresses[i] = DATA + (uint64_t)(i / 8 == 1 ? i ^ flip : i) * 16;
        BOTH(&pair, threads_access(engine, 0, 0, UINT32_MAX, &write, addresses));
        beside(&pair, 0, &read, DATA);
        assert_int_equal(pair_agree(&pair), flip);
        pair_free(&pair);
    }
}

/* What was read as if nothing wrote it is written: a race, ordered or not. */
static void written_after_all(void **unused) {
    (void)unused;
    for (uint32_t constant = 0; constant < 2; constant++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess read = wide(KIND_READ, 1), write = wide(KIND_WRITE, 2);
        read.read_only = constant;
        beside(&pair, 0, &read, DATA);
        all_meet(&pair);
        beside(&pair, 2, &write, DATA);
        assert_int_equal(pair_agree(&pair), constant);
        pair_free(&pair);
    }
}

/* Who reads a line behind another reader stands for it, also where it knows of that warp and of no other of its CTA. */
static void reader_behind_a_reader(void **unused) {
    (void)unused;
    for (uint32_t behind = 0; behind < 2; behind++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess read = wide(KIND_READ, 1), write = wide(KIND_WRITE, 3);
        for (uint32_t warp = 0; warp < 3; warp++) /* there are lists */
            beside(&pair, warp, &read, DATA + 4096);
        beside(&pair, 0, &read, DATA);
        if (behind)
            pass_warp(&pair, 0, 2);
        read.site = 2;
        beside(&pair, 2, &read, DATA);
        beside(&pair, 4, &write, DATA);
        assert_int_equal(pair_agree(&pair), behind ? 1 : 2);
        pair_free(&pair);
    }
}

/* Some lanes of a warp know that a copy is over: for these it is, and not for the others. The copy writes what the warp
 * reads then; or both read what another warp writes. */
static void copy_is_over_for_some_lanes(void **unused) {
    (void)unused;
    for (uint32_t k = 0; k < 4; k++) {
        bool writes = k & 1;
        uint32_t knowing = k & 2 ? 0x55555555 : 0xaaaaaaaa, count;
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        ThreadsAccess copied = {.kind = writes ? KIND_WRITE : KIND_READ, .element = 4, .bytes = 4, .site = 1};
        ThreadsAccess read = {.kind = KIND_READ, .element = 4, .bytes = 4, .site = 2}, write = read;
        uint64_t addresses[LANES];
        write.kind = KIND_WRITE;
        write.site = 3;
        for (uint32_t i = 0; i < LANES; i++)
            addresses[i] = DATA + (uint64_t)i * 4;
        BOTH(&pair, uint32_t copy = threads_issue(engine, 0, UINT32_MAX, false, 0, 1);
             threads_access(engine, copy, 0, UINT32_MAX, &copied, addresses);
             threads_done(engine, copy, THREADS_ALL_DONE, 2, knowing, false));
        beside(&pair, 2, &read, DATA);
        if (!writes)
            beside(&pair, 4, &write, DATA);
        assert_int_equal(pair_agree(&pair), writes ? 1 : 2);
        const ThreadsRace *races = threads_races(pair.each[0], &count);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(races[i].times, races[i].first.access.site == 1 ? LANES / 2 : LANES);
        pair_free(&pair);
    }
}

/* A copy of many lines, one of which has a word that another thread wrote: that is found, also where all lines before
 * it were alike. */
static void word_among_copied_lines(void **unused) {
    (void)unused;
    Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
    ThreadsAccess word = {.kind = KIND_WRITE, .element = 4, .bytes = 4, .site = 1}, copied = word;
    uint64_t at[LANES] = {DATA + 11 * LINE + 8};
    copied.site = 2;
    BOTH(&pair, threads_access(engine, 0, 4, 1, &word, at); uint32_t copy = threads_issue(engine, 0, 1, true, 0, 2);
         threads_piece(engine, copy, &copied, DATA, 24 * LINE));
    assert_int_equal(pair_agree(&pair), 1);
    pair_free(&pair);
}

/* Memory runs out where accesses of whole lines need more of it, too: then it says so. */
static void too_little_memory(void **unused) {
    (void)unused;
    const char *problem;
    ThreadsAccess read = wide(KIND_READ, 1);
    ThreadsShape shape = {.ctas = 1, .cta_threads = LANES, .memory = (size_t)4 << 20};
    Threads *engine = threads_create(&shape, &problem);
    assert_non_null(engine);
    threads_meet(engine, 1, 0);
    for (uint32_t i = 0; i < 1 << 17 && !threads_trouble(engine); i++)
        assert_true(threads_access_coalesced(engine, 0, &read, DATA));
    assert_non_null(threads_trouble(engine));
    threads_free(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_lines_agree),       cmocka_unit_test(next_record_is_not_the_next_lane),
        cmocka_unit_test(later_read_races),        cmocka_unit_test(copy_is_not_its_lanes),
        cmocka_unit_test(one_line_swizzled),       cmocka_unit_test(written_after_all),
        cmocka_unit_test(reader_behind_a_reader),  cmocka_unit_test(copy_is_over_for_some_lanes),
        cmocka_unit_test(word_among_copied_lines), cmocka_unit_test(too_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
