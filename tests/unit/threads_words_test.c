/* The engine for threads takes whole lines, and many cells at once where they are the same. The same program told to
 * one that looks at every word and lane on its own (ThreadsShape.by_word) has to give the same races: the same pairs,
 * lanes, addresses and reasons, as often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/hb/threads.h"
#include "share.h"
#include "threads_pair.h"

enum {
    CTAS = 4,
    CTA_WARPS = 2,
    LANES = 32,
    LINE = 128,
    OPERATIONS = 64,
    GLOBAL = 0x10000,
    SPAN = 4096,
    FLAGS = 0x90000
};

static bool one_in(uint32_t chances) {
    return draw(chances) == 0;
}

static void access_both(Pair *pair, uint32_t warp, uint32_t lanes, const ThreadsAccess *access,
                        const uint64_t *addresses) {
    BOTH(pair, threads_access(engine, 0, warp, lanes, access, addresses));
}
static void barrier_both(Pair *pair, uint32_t cta, uint32_t warps) {
    for (uint32_t warp = 0; warp < warps; warp++)
        BOTH(pair, threads_arrive(engine, 1 + cta, cta, cta * warps + warp, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA));
    BOTH(pair, threads_flip(engine, 1 + cta));
    for (uint32_t warp = 0; warp < warps; warp++)
        BOTH(pair, threads_wait(engine, 1 + cta, cta * warps + warp, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA));
}

/* The same, told to one of them at once. */
static void overlap_both(Pair *pair, uint32_t cta, uint32_t warps) {
    Threads *each = pair->each[1];
    threads_meet(pair->each[0], 1 + cta, cta);
    for (uint32_t warp = 0; warp < warps; warp++)
        threads_arrive(each, 1 + cta, cta, cta * warps + warp, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(each, 1 + cta);
    for (uint32_t warp = 0; warp < warps; warp++)
        threads_wait(each, 1 + cta, cta * warps + warp, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
}

/* ---- Random programs ---- */

typedef struct Random {
    Pair pair;
    uint32_t operations[OPERATIONS][2], warps[OPERATIONS], lanes[OPERATIONS], count;
    bool together[OPERATIONS], generic[OPERATIONS];
} Random;

static uint64_t draw_base(uint32_t cta) {
    return one_in(2) ? GLOBAL : threads_shared(cta, 0x400);
}

/* Lines as they are and swizzled, sectors of lines, rows apart, words anywhere, and one word for all. */
static void draw_addresses(uint32_t cta, uint32_t bytes, uint64_t *addresses) {
    uint64_t base = draw_base(cta), at = draw(SPAN / LINE / 8) * LINE;
    uint32_t per = LINE / bytes, flip = draw(per), what = draw(8);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t row = i / per, seat = i % per;
        addresses[i] = base + at;
        if (what <= 1)
            addresses[i] += (uint64_t)i * bytes;
        else if (what <= 3)
            addresses[i] += (uint64_t)row * LINE + (seat ^ (what == 2 ? flip : row % per)) * bytes;
        else if (what == 4)
            addresses[i] += (uint64_t)(i / 4) * LINE + i % 4 * bytes;
        else if (what == 5)
            addresses[i] += 16 + (uint64_t)i * bytes;
        else if (what == 6)
            addresses[i] = base + draw(SPAN / bytes / 8) * bytes;
    }
}

static ThreadsAccess draw_access(void) {
    static const uint8_t sizes[] = {4, 4, 8, 16, 16, 2, 1};
    ThreadsAccess access = {.kind = one_in(3) ? KIND_WRITE : KIND_READ, .site = draw(12)};
    access.bytes = sizes[draw(one_in(6) ? 7 : 5)];
    access.element = (uint8_t)access.bytes;
    access.read_only = access.kind == KIND_READ && one_in(20);
    access.silent = access.kind == KIND_WRITE && one_in(4) ? 0x0ff0 : 0;
    return access;
}

static void step_access(Random *run) {
    uint32_t cta = draw(CTAS), warp = cta * CTA_WARPS + draw(CTA_WARPS);
    uint32_t lanes = one_in(4) ? (one_in(2) ? 0xff00 : 0x11111111) : UINT32_MAX;
    ThreadsAccess access = draw_access();
    uint64_t addresses[LANES];
    draw_addresses(cta, access.bytes, addresses);
    if (lanes == UINT32_MAX && access.bytes >= 4 && one_in(3)) {
        uint64_t first = addresses[0] / LINE * LINE;
        for (uint32_t i = 0; i < LANES; i++)
            addresses[i] = first + i * access.bytes;
        BOTH(&run->pair, if (!threads_access_coalesced(engine, warp, &access, first))
                             threads_access(engine, 0, warp, lanes, &access, addresses));
        return;
    }
    access_both(&run->pair, warp, lanes, &access, addresses);
}

static void step_issue(Random *run) {
    if (run->count == OPERATIONS)
        return;
    uint32_t index = run->count++, warp = draw(CTAS * CTA_WARPS);
    run->warps[index] = warp;
    run->together[index] = one_in(2);
    run->generic[index] = one_in(2);
    run->lanes[index] = run->together[index] && one_in(2) ? 1 : UINT32_MAX;
    for (int i = 0; i < 2; i++)
        run->operations[index][i] =
            threads_issue(run->pair.each[i], warp, run->lanes[index], run->together[index], 0, 20);
}

static void step_operation(Random *run) {
    uint32_t index = draw(run->count), cta = run->warps[index] / CTA_WARPS;
    ThreadsAccess access = draw_access();
    access.read_only = false;
    access.silent = 0;
    access.proxy = run->generic[index] ? PROXY_GENERIC : PROXY_ASYNC;
    if (one_in(2)) {
        bool own = !run->together[index] && one_in(2);
        uint32_t warp = own || one_in(2) ? run->warps[index] : draw(CTAS * CTA_WARPS);
        ThreadsDone done = one_in(4) ? THREADS_READS_DONE : THREADS_ALL_DONE;
        BOTH(&run->pair, threads_done(engine, run->operations[index][e_], done, warp, UINT32_MAX, own));
        return;
    }
    if (!run->together[index]) {
        uint64_t addresses[LANES];
        draw_addresses(cta, access.bytes, addresses);
        BOTH(&run->pair,
             threads_access(engine, run->operations[index][e_], run->warps[index], UINT32_MAX, &access, addresses));
        return;
    }
    ThreadsPiece pieces[16];
    uint32_t count = 1 + draw(16), bytes = 16u << draw(5);
    uint64_t base = draw_base(cta) + (one_in(4) ? 16 : 0);
    for (uint32_t i = 0; i < count; i++)
        pieces[i] = (ThreadsPiece){base + (uint64_t)i * LINE, bytes > LINE ? LINE : bytes};
    BOTH(&run->pair, threads_pieces(engine, run->operations[index][e_], &access, pieces, count));
}

/* An atomic that releases and acquires. */
static ThreadsAccess flag_at(uint32_t site) {
    return (ThreadsAccess){.kind = KIND_UPDATE,
                           .order = ORDER_ACQ_REL,
                           .scope = SCOPE_GPU,
                           .element = 4,
                           .bytes = 4,
                           .gives = true,
                           .site = site};
}

/* What orders them: barriers of CTAs, a flag that all may release to and acquire from, fences. */
static void step_order(Random *run) {
    uint32_t cta = draw(CTAS), warp = cta * CTA_WARPS + draw(CTA_WARPS);
    uint64_t addresses[LANES];
    ThreadsAccess flag = flag_at(40);
    for (uint32_t i = 0; i < LANES; i++)
        addresses[i] = FLAGS + 4 * draw(2);
    switch (draw(6)) {
    case 0:
        access_both(&run->pair, warp, 1, &flag, addresses);
        BOTH(&run->pair, threads_warp_sync(engine, warp, UINT32_MAX));
        break;
    case 1:
        BOTH(&run->pair, threads_warp_sync(engine, warp, UINT32_MAX));
        break;
    case 2:
        BOTH(&run->pair, threads_fence_proxy(engine, warp, UINT32_MAX, PROXY_ASYNC, THREADS_EVERYWHERE, ORDER_ACQ_REL,
                                             SCOPE_GPU, 0));
        break;
    case 3:
        barrier_both(&run->pair, cta, CTA_WARPS);
        break;
    default:
        overlap_both(&run->pair, cta, CTA_WARPS);
    }
}

static uint32_t random_program(uint64_t seed, ThreadsShape shape) {
    Random run = {.pair = pair_new(shape)};
    state = seed * 977 + 5;
    uint32_t order = 2 + draw(3), races = 0;
    for (uint32_t i = 0; i < 120; i++) {
        if (one_in(order))
            step_order(&run);
        else if (one_in(6))
            step_issue(&run);
        else if (run.count && one_in(3))
            step_operation(&run);
        else
            step_access(&run);
        races = pair_agree(&run.pair);
    }
    for (uint32_t cta = 0; cta < CTAS; cta++)
        BOTH(&run.pair, threads_over(engine, cta));
    pair_agree(&run.pair);
    pair_free(&run.pair);
    return races;
}

static void random_programs_agree(void **unused) {
    (void)unused;
    uint32_t with = 0, programs = getenv("WORDS_PROGRAMS") ? (uint32_t)atoi(getenv("WORDS_PROGRAMS")) : share_of(250);
    for (uint32_t i = 0; i < programs; i++) {
        ThreadsShape shape = {
            .ctas = CTAS, .cta_threads = CTA_WARPS * LANES, .cluster = 1 + i % 2, .sweep_at = i % 3 ? 0 : 60};
        with += random_program(i, shape) > 0;
    }
    assert_true(with > programs / 2); /* they race, as a rule */
}

/* Each CTA keeps to its own memory, with a barrier between what its warps do: nothing races, whatever the pattern. */
static void ordered_programs_are_clean(void **unused) {
    (void)unused;
    for (uint32_t seed = 0; seed < share_of(100); seed++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES});
        state = seed * 31 + 7;
        for (uint32_t i = 0; i < 60; i++) {
            uint32_t cta = draw(CTAS), warp = cta * CTA_WARPS + draw(CTA_WARPS), bytes = 4u << draw(3);
            uint32_t per = LINE / bytes, flip = draw(per);
            ThreadsAccess access = {
                .kind = one_in(2) ? KIND_WRITE : KIND_READ, .element = (uint8_t)bytes, .bytes = bytes, .site = i};
            uint64_t base = one_in(2) ? threads_shared(cta, 0) : GLOBAL + cta * UINT64_C(65536), addresses[LANES];
            for (uint32_t k = 0; k < LANES; k++)
                addresses[k] = base + (uint64_t)(k / per) * LINE + (k % per ^ flip) * bytes;
            access_both(&pair, warp, UINT32_MAX, &access, addresses);
            (one_in(2) ? barrier_both : overlap_both)(&pair, cta, CTA_WARPS);
        }
        assert_int_equal(pair_agree(&pair), 0);
        pair_free(&pair);
    }
}

/* ---- Where in a line the race is ---- */

static void race_in_a_swizzled_line(void **unused) {
    (void)unused;
    Pair pair = pair_new((ThreadsShape){.ctas = 1, .cta_threads = 64});
    ThreadsAccess write = {.kind = KIND_WRITE, .element = 16, .bytes = 16, .site = 1};
    ThreadsAccess read = {.kind = KIND_READ, .element = 4, .bytes = 4, .site = 2};
    uint64_t rows[LANES], words[LANES];
    for (uint32_t i = 0; i < LANES; i++) { /* row r has its 16 bytes exchanged by r */
        rows[i] = threads_shared(0, i / 8 * LINE + (i % 8 ^ i / 8) * 16);
        words[i] = threads_shared(0, 3 * LINE + 5 * 16 + 4);
    }
    access_both(&pair, 0, UINT32_MAX, &write, rows);
    access_both(&pair, 1, 1u << 9, &read, words);
    assert_int_equal(pair_agree(&pair), 1);
    uint32_t count;
    const ThreadsRace *race = threads_races(pair.each[0], &count);
    assert_int_equal(race->first.lane, 24 + (5 ^ 3)); /* who wrote the fifth 16 bytes of row 3 */
    assert_int_equal(race->second.lane, 9);
    assert_int_equal(race->address, words[9]);
    assert_int_equal(race->reason, THREADS_UNORDERED);
    pair_free(&pair);
}

/* Many CTAs have read a line, and released; one of them read it again behind that. Who has acquired all that, and
 * writes the line, races with that one alone. */
static void one_reader_of_many(void **unused) {
    (void)unused;
    enum { MANY = 200, LATE = 57 };
    for (int late = 0; late < 2; late++) {
        Pair pair = pair_new((ThreadsShape){.ctas = MANY, .cta_threads = 32, .sweep_at = 100});
        ThreadsAccess read = {.kind = KIND_READ, .element = 4, .bytes = 4, .site = 1}, write = read;
        ThreadsAccess flag = flag_at(3);
        uint64_t line[LANES], flags[LANES];
        write.kind = KIND_WRITE;
        write.site = 2;
        for (uint32_t i = 0; i < LANES; i++) {
            line[i] = GLOBAL + i * 4;
            flags[i] = FLAGS;
        }
        for (uint32_t cta = 0; cta < MANY; cta++) {
            BOTH(&pair, if (!threads_access_coalesced(engine, cta, &read, GLOBAL))
                            threads_access(engine, 0, cta, UINT32_MAX, &read, line));
            BOTH(&pair, threads_warp_sync(engine, cta, UINT32_MAX));
            access_both(&pair, cta, 1, &flag, flags);
            BOTH(&pair, threads_warp_sync(engine, cta, UINT32_MAX));
        }
        if (late)
            access_both(&pair, LATE, 1u << 4, &read, line);
        access_both(&pair, MANY - 1, UINT32_MAX, &write, line);
        assert_int_equal(pair_agree(&pair), late ? 1 : 0);
        uint32_t count;
        const ThreadsRace *race = threads_races(pair.each[0], &count);
        if (late) {
            assert_int_equal(race->first.warp, LATE);
            assert_int_equal(race->first.lane, 4);
            assert_int_equal(race->second.lane, 4);
            assert_int_equal(race->times, 1);
        }
        pair_free(&pair);
    }
}

/* cp.async into swizzled lines, which an MMA reads by sectors, with and without a proxy fence. */
static void copies_and_sectors(void **unused) {
    (void)unused;
    for (int fenced = 0; fenced < 2; fenced++) {
        Pair pair = pair_new((ThreadsShape){.ctas = 1, .cta_threads = 64});
        ThreadsAccess write = {.kind = KIND_WRITE, .bytes = 16, .site = 1};
        ThreadsAccess read = {.kind = KIND_READ, .proxy = PROXY_ASYNC, .element = 16, .bytes = 16, .site = 2};
        uint64_t rows[LANES];
        ThreadsPiece pieces[8];
        for (uint32_t i = 0; i < LANES; i++)
            rows[i] = threads_shared(0, i / 8 * LINE + (i % 8 ^ i / 8) * 16);
        for (uint32_t i = 0; i < 4; i++)
            pieces[i] = (ThreadsPiece){threads_shared(0, i * LINE + 32), 32};
        uint32_t copies[2], mma[2];
        for (int e = 0; e < 2; e++) {
            Threads *engine = pair.each[e];
            copies[e] = threads_issue(engine, 0, UINT32_MAX, false, 0, 1);
            threads_access(engine, copies[e], 0, UINT32_MAX, &write, rows);
            threads_done(engine, copies[e], THREADS_ALL_DONE, 0, UINT32_MAX, true);
            if (fenced)
                threads_fence_proxy(engine, 0, UINT32_MAX, PROXY_ASYNC, THREADS_EVERYWHERE, ORDER_ACQ_REL, SCOPE_GPU,
                                    0);
        }
        barrier_both(&pair, 0, 2);
        for (int e = 0; e < 2; e++) {
            mma[e] = threads_issue(pair.each[e], 1, UINT32_MAX, true, 0, 2);
            threads_pieces(pair.each[e], mma[e], &read, pieces, 4);
        }
        assert_int_equal(pair_agree(&pair), fenced ? 0 : 1);
        uint32_t count;
        const ThreadsRace *race = threads_races(pair.each[0], &count);
        if (!fenced) {
            assert_int_equal(race->reason, THREADS_OTHER_PROXY);
            assert_int_equal(race->first.lane, 2);
            assert_int_equal(race->times, 4 * 32 / 4); /* words */
        }
        pair_free(&pair);
    }
}

/* Copies that a warp issues one directly behind the other, with no place in common: told of as one operation and as
 * several. Some are waited for, some are not; others read, write and end. */
typedef struct Group {
    uint32_t warp, count, operations[4];
} Group;

static Group issue_group(Pair *pair, uint32_t first_line) {
    Group group = {.warp = draw(CTAS * CTA_WARPS), .count = 1 + draw(3)};
    uint32_t cta = group.warp / CTA_WARPS, lanes = one_in(4) ? 0x00ffff00 : UINT32_MAX;
    ThreadsAccess read = {.kind = KIND_READ, .bytes = 16}, write = {.kind = KIND_WRITE, .bytes = 16};
    for (uint32_t k = 0; k < group.count; k++) {
        uint64_t from[LANES], to[LANES], line = (first_line + 4 * k) * UINT64_C(128);
        for (uint32_t i = 0; i < LANES; i++) {
            from[i] = GLOBAL + line + i * 16;
            to[i] = threads_shared(cta, line + i * 16);
        }
        read.site = write.site = 100 + draw(8);
        if (!k)
            group.operations[0] = threads_issue(pair->each[0], group.warp, lanes, false, 0, read.site);
        else
            threads_issue_again(pair->each[0], group.operations[0], read.site);
        group.operations[1 + k] = threads_issue(pair->each[1], group.warp, lanes, false, 0, read.site);
        BOTH(pair, threads_access(engine, group.operations[e_ ? 1 + k : 0], group.warp, lanes, &read, from));
        BOTH(pair, threads_access(engine, group.operations[e_ ? 1 + k : 0], group.warp, lanes, &write, to));
    }
    return group;
}

static void wait_group(Pair *pair, const Group *group) {
    threads_done(pair->each[0], group->operations[0], THREADS_ALL_DONE, group->warp, UINT32_MAX, true);
    for (uint32_t k = 0; k < group->count; k++)
        threads_done(pair->each[1], group->operations[1 + k], THREADS_ALL_DONE, group->warp, UINT32_MAX, true);
}

static void copies_reported_as_one(void **unused) {
    (void)unused;
    uint32_t with = 0, at_exit = 0;
    for (uint32_t seed = 0; seed < share_of(300); seed++) {
        Pair pair = pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES, .sweep_at = 80});
        state = seed * 131 + 3;
        for (uint32_t i = 0; i < 30; i++) {
            Group group = issue_group(&pair, draw(3) * 12);
            if (!one_in(6))
                wait_group(&pair, &group);
            if (one_in(2))
                overlap_both(&pair, group.warp / CTA_WARPS, CTA_WARPS);
            uint32_t warp = one_in(2) ? group.warp ^ 1 : draw(CTAS * CTA_WARPS);
            ThreadsAccess access = draw_access();
            uint64_t addresses[LANES];
            draw_addresses(warp / CTA_WARPS, access.bytes, addresses);
            access_both(&pair, warp, UINT32_MAX, &access, addresses);
            pair_agree(&pair);
        }
        for (uint32_t cta = 0; cta < CTAS; cta++)
            BOTH(&pair, threads_over(engine, cta));
        uint32_t count = pair_agree(&pair);
        const ThreadsRace *races = threads_races(pair.each[0], &count);
        with += count > 0;
        for (uint32_t i = 0; i < count; i++)
            at_exit += races[i].reason == THREADS_AT_EXIT;
        pair_free(&pair);
    }
    assert_true(with > share_of(100) && at_exit > share_of(100));
}

/* A lane has read what a release left, and then what a store left that stands in no chain with it. An acquire there for
 * its CTA alone does not bring the first one, whose thread is in another CTA; one for the GPU does, however often. */
static void acquires_of_a_place(void **unused) {
    (void)unused;
    static const struct {
        Scope scopes[3];
        uint32_t races;
    } cases[] = {{{SCOPE_CTA, SCOPE_NONE}, 1},
                 {{SCOPE_GPU, SCOPE_NONE}, 0},
                 {{SCOPE_CTA, SCOPE_GPU, SCOPE_NONE}, 0},
                 {{SCOPE_GPU, SCOPE_CTA, SCOPE_GPU}, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Pair pair = pair_new((ThreadsShape){.ctas = 3, .cta_threads = 32});
        uint64_t data[LANES], flags[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            data[i] = GLOBAL + i * 4;
            flags[i] = FLAGS;
        }
        ThreadsAccess write = {.kind = KIND_WRITE, .element = 4, .bytes = 4, .site = 1}, read = write, flag = write;
        read.kind = KIND_READ;
        read.site = 2;
        flag = (ThreadsAccess){
            .kind = KIND_WRITE, .order = ORDER_RELEASE, .scope = SCOPE_GPU, .element = 4, .bytes = 4, .site = 3};
        access_both(&pair, 0, 1, &write, data);
        access_both(&pair, 0, 1, &flag, flags);
        ThreadsAccess look = flag;
        look.kind = KIND_READ;
        look.order = ORDER_RELAXED;
        look.gives = true;
        look.site = 4;
        access_both(&pair, 1, 1, &look, flags);
        flag.order = ORDER_RELAXED;
        flag.site = 5;
        access_both(&pair, 2, 1, &flag, flags);
        look.order = ORDER_ACQUIRE;
        for (uint32_t i = 0; i < 3 && cases[k].scopes[i]; i++) {
            look.scope = (uint8_t)cases[k].scopes[i];
            access_both(&pair, 1, 1, &look, flags);
        }
        access_both(&pair, 1, 1, &read, data);
        uint32_t count = 0, weak = 0;
        const ThreadsRace *races = threads_races(pair.each[0], &count);
        pair_agree(&pair);
        for (uint32_t i = 0; i < count; i++)
            weak += races[i].second.access.site == 2;
        assert_int_equal(weak, cases[k].races);
        pair_free(&pair);
    }
}

/* More writers of a line than are kept of those that race, by lanes that are shifted against each other; who reads it
 * or writes it strongly then races with those that are kept. */
static void many_writers_of_a_place(void **unused) {
    (void)unused;
    enum { MANY = 400 };
    for (uint32_t shifts = 1; shifts < 3; shifts++) {
        Pair pair = pair_new((ThreadsShape){.ctas = MANY + 2, .cta_threads = 32});
        ThreadsAccess write = {.kind = KIND_WRITE, .element = 4, .bytes = 4}, read = write, strong = write;
        uint64_t line[LANES];
        read.kind = KIND_READ;
        strong.order = ORDER_RELAXED;
        strong.scope = SCOPE_GPU;
        for (uint32_t cta = 0; cta < MANY + 2; cta++) {
            const ThreadsAccess *access = cta < MANY ? &write : cta == MANY ? &read : &strong;
            write.site = cta / 3 % 2;
            read.site = strong.site = 2 + cta;
            for (uint32_t i = 0; i < LANES; i++)
                line[i] = GLOBAL + (i + cta % shifts) * 4;
            access_both(&pair, cta, UINT32_MAX, access, line);
        }
        assert_int_equal(pair_agree(&pair), 4 + 2 + 3);
        pair_free(&pair);
    }
}

/* Warps read a tile of shared memory shifted against each other, write it, and update it strongly; now and then a
 * barrier between is missing. */
static void shifted_lanes(void **unused) {
    (void)unused;
    uint32_t with = 0;
    for (uint32_t seed = 0; seed < share_of(200); seed++) {
        enum { WARPS = 4 };
        Pair pair = pair_new((ThreadsShape){.ctas = 1, .cta_threads = WARPS * LANES, .sweep_at = 200});
        state = seed * 77 + 5;
        for (uint32_t round = 0; round < 8; round++) {
            for (uint32_t warp = 0; warp < WARPS; warp++)
                for (uint32_t i = 0; i < 5; i++) {
                    uint32_t kind = round % 3 == 0 ? KIND_WRITE : round % 3 == 1 ? KIND_UPDATE : KIND_READ;
                    ThreadsAccess access = {.kind = (uint8_t)kind, .element = 4, .bytes = 4, .site = round % 3 * 8 + i};
                    uint64_t addresses[LANES];
                    uint32_t shift = kind == KIND_WRITE ? 4 : draw(9), step = one_in(4) ? 2 : 1;
                    if (kind == KIND_UPDATE) {
                        access.order = ORDER_RELAXED;
                        access.scope = one_in(8) ? SCOPE_NONE + 1 : SCOPE_GPU;
                    }
                    for (uint32_t lane = 0; lane < LANES; lane++)
                        addresses[lane] =
                            threads_shared(0, ((uint64_t)warp * LANES + lane / step * (kind == KIND_WRITE ? step : 1) +
                                               (kind == KIND_WRITE ? lane % step : 0) + shift) *
                                                  4);
                    access_both(&pair, warp, one_in(6) ? 0x0ffffff0 : UINT32_MAX, &access, addresses);
                }
            if (!one_in(6))
                barrier_both(&pair, 0, WARPS);
        }
        with += pair_agree(&pair) > 0;
        pair_free(&pair);
    }
    assert_true(with > share_of(50) && with < share_of(200));
}

/* Lanes of a write that leave the bytes as they were do not stand for who has made them so: who reads those races with
 * both. Where the lanes beside them change something, that one alone is left. */
static void lanes_that_change_nothing(void **unused) {
    (void)unused;
    Pair pair = pair_new((ThreadsShape){.ctas = 2, .cta_threads = 2 * LANES});
    ThreadsAccess write = {.kind = KIND_WRITE, .element = 4, .bytes = 4, .site = 1}, read = write;
    uint64_t words[LANES];
    uint32_t count, kept = 0;
    for (uint32_t i = 0; i < LANES; i++)
        words[i] = GLOBAL + i * 4;
    access_both(&pair, 0, UINT32_MAX, &write, words);
    barrier_both(&pair, 0, 2);
    write.site = 2;
    write.silent = 0x0ff0;
    access_both(&pair, 1, UINT32_MAX, &write, words);
    read.kind = KIND_READ;
    read.site = 3;
    access_both(&pair, 2, UINT32_MAX, &read, words);
    assert_int_equal(pair_agree(&pair),
                     3); /* with the second write, as it changes something or not, and with the first */
    const ThreadsRace *races = threads_races(pair.each[0], &count);
    for (uint32_t i = 0; i < count; i++)
        kept += races[i].first.access.site == 1 ? (uint32_t)races[i].times : 0;
    assert_int_equal(kept, 8);
    pair_free(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_agree),   cmocka_unit_test(ordered_programs_are_clean),
        cmocka_unit_test(race_in_a_swizzled_line), cmocka_unit_test(one_reader_of_many),
        cmocka_unit_test(copies_and_sectors),      cmocka_unit_test(copies_reported_as_one),
        cmocka_unit_test(acquires_of_a_place),     cmocka_unit_test(many_writers_of_a_place),
        cmocka_unit_test(shifted_lanes),           cmocka_unit_test(lanes_that_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
