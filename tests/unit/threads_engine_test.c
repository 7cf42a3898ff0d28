/* The engine for threads alone: each rule of PTX's memory model, where it holds and where something is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/hb/threads.h"

/* Two CTAs of two warps each, in one cluster. */
enum { A = 0, B = 1, FAR = 2, SITE_FIRST = 1, SITE_SECOND = 2 };
#define DATA UINT64_C(0x1000)
#define FLAG UINT64_C(0x2000)

static Threads *engine;

static int begin(void **state) {
    (void)state;
    const char *problem;
    engine = threads_create(&(ThreadsShape){.ctas = 2, .cta_threads = 64, .cluster = 2}, &problem);
    return engine == NULL;
}
static int end(void **state) {
    (void)state;
    threads_free(engine);
    return 0;
}

static void access_at(uint32_t warp, uint32_t lanes, ThreadsAccess access, uint64_t address) {
    uint64_t addresses[THREADS_LANES];
    for (uint32_t i = 0; i < THREADS_LANES; i++)
        addresses[i] = address;
    if (!access.element)
        access.element = 4;
    access.bytes = access.element;
    threads_access(engine, 0, warp, lanes, &access, addresses);
}
static void writes(uint32_t warp, uint32_t lane) {
    access_at(warp, 1U << lane, (ThreadsAccess){.kind = KIND_WRITE, .site = SITE_FIRST}, DATA);
}
static void reads(uint32_t warp, uint32_t lane) {
    access_at(warp, 1U << lane, (ThreadsAccess){.kind = KIND_READ, .site = SITE_SECOND}, DATA);
}
static void flag(uint32_t warp, AccessKind kind, Order order, Scope scope) {
    access_at(warp, 1,
              (ThreadsAccess){
                  .kind = (uint8_t)kind, .order = (uint8_t)order, .scope = (uint8_t)scope, .gives = true, .site = 9},
              FLAG);
}
static void fence(uint32_t warp, Order order, Scope scope) {
    threads_fence(engine, warp, 1, order, scope, false);
}

/* The reason of the race between the two sites; -1: there is none. */
static int found(void) {
    uint32_t count;
    const ThreadsRace *races = threads_races(engine, &count);
    for (uint32_t i = 0; i < count; i++)
        if (races[i].first.access.site == SITE_FIRST && races[i].second.access.site == SITE_SECOND)
            return (int)races[i].reason;
    return -1;
}
#define RACES(why) assert_int_equal(found(), THREADS_##why)
#define NO_RACE()  assert_int_equal(found(), -1)
/* The same test once more, with nothing known. */
static void again(void) {
    threads_free(engine);
    begin(NULL);
}

static void lanes_are_unordered(void **state) {
    (void)state;
    writes(A, 0);
    reads(A, 1);
    RACES(SAME_WARP);
    again();
    writes(A, 0);
    reads(A, 0);
    NO_RACE();
    again();
    writes(A, 0);
    reads(B, 0);
    RACES(UNORDERED);
    again();
    writes(A, 0);
    threads_warp_sync(engine, A, 3);
    reads(A, 1);
    NO_RACE();
    again();
    writes(A, 0);
    threads_warp_sync(engine, A, 6);
    reads(A, 1);
    RACES(SAME_WARP);
}

static void barriers(void **state) {
    (void)state;
    writes(A, 3);
    threads_arrive(engine, 7, 0, A, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_arrive(engine, 7, 0, B, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(engine, 7);
    threads_wait(engine, 7, B, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
    reads(B, 5);
    NO_RACE();
    /* who only arrived knows nothing */
    again();
    writes(A, 3);
    threads_arrive(engine, 7, 0, A, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_arrive(engine, 7, 0, B, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(engine, 7);
    reads(B, 5);
    RACES(UNORDERED);
    /* behind the arrival */
    again();
    threads_arrive(engine, 7, 0, A, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    writes(A, 3);
    threads_flip(engine, 7);
    threads_wait(engine, 7, B, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
    reads(B, 5);
    RACES(UNORDERED);
}

static void threads_that_ended(void **state) {
    (void)state;
    writes(A, 3);
    threads_exit(engine, A, UINT32_MAX);
    threads_arrive(engine, 7, 0, B, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(engine, 7);
    threads_wait(engine, 7, B, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
    reads(B, 0);
    RACES(UNORDERED);
}

static void flags(void **state) {
    (void)state;
    static const struct {
        Order write, read;
        Scope write_scope, read_scope;
        int reason;
    } rows[] = {
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_GPU, -1},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CLUSTER, SCOPE_CLUSTER, -1},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_SYS, SCOPE_GPU, -1},
        {ORDER_RELAXED, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_GPU, THREADS_UNORDERED},
        {ORDER_RELEASE, ORDER_RELAXED, SCOPE_GPU, SCOPE_GPU, THREADS_UNORDERED},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CTA, SCOPE_GPU, THREADS_TOO_NARROW},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_CTA, THREADS_TOO_NARROW},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        again();
        writes(A, 0);
        flag(A, KIND_WRITE, rows[i].write, rows[i].write_scope);
        flag(FAR, KIND_READ, rows[i].read, rows[i].read_scope);
        reads(FAR, 0);
        assert_int_equal(found(), rows[i].reason);
    }
}

static void fences(void **state) {
    (void)state;
    for (int missing = 0; missing < 4; missing++) {
        again();
        writes(A, 0);
        if (missing != 1)
            fence(A, missing == 3 ? ORDER_ACQUIRE : ORDER_RELEASE, SCOPE_GPU);
        flag(A, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        flag(FAR, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        if (missing != 2)
            fence(FAR, ORDER_ACQUIRE, SCOPE_GPU);
        reads(FAR, 0);
        assert_int_equal(found(), missing ? THREADS_UNORDERED : -1);
    }
    /* of a scope that lacks the other one */
    again();
    writes(A, 0);
    fence(A, ORDER_ACQ_REL, SCOPE_CTA);
    flag(A, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
    flag(FAR, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
    fence(FAR, ORDER_ACQ_REL, SCOPE_GPU);
    reads(FAR, 0);
    RACES(TOO_NARROW);
    /* two of fence.sc, without a flag */
    for (Scope scope = SCOPE_CTA; scope <= SCOPE_GPU; scope++) {
        again();
        writes(A, 0);
        threads_fence(engine, A, 1, ORDER_ACQ_REL, scope, true);
        threads_fence(engine, FAR, 1, ORDER_ACQ_REL, scope, true);
        reads(FAR, 0);
        assert_int_equal(found(), scope == SCOPE_CTA ? THREADS_UNORDERED : -1);
    }
    again();
    writes(A, 0);
    fence(A, ORDER_ACQ_REL, SCOPE_GPU);
    fence(FAR, ORDER_ACQ_REL, SCOPE_GPU);
    reads(FAR, 0);
    RACES(UNORDERED);
}

static void chains(void **state) {
    (void)state;
    for (int broken = 0; broken < 3; broken++) {
        again();
        writes(A, 0);
        flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        if (broken == 1)
            flag(B, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU); /* not an update */
        else
            flag(B, KIND_UPDATE, ORDER_RELAXED, broken ? SCOPE_CTA : SCOPE_GPU);
        flag(FAR, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        reads(FAR, 0);
        assert_int_equal(found() >= 0, broken > 0);
    }
}

static void strong_accesses(void **state) {
    (void)state;
    ThreadsAccess first = {.kind = KIND_UPDATE, .order = ORDER_RELAXED, .scope = SCOPE_GPU, .site = SITE_FIRST};
    ThreadsAccess second = first;
    second.site = SITE_SECOND;
    access_at(A, 1, first, DATA);
    access_at(FAR, 1, second, DATA);
    NO_RACE();
    again();
    second.scope = SCOPE_CTA;
    access_at(A, 1, first, DATA);
    access_at(FAR, 1, second, DATA);
    RACES(TOO_NARROW);
    again();
    second.scope = SCOPE_GPU;
    second.element = 8;
    access_at(A, 1, first, DATA);
    access_at(FAR, 1, second, DATA);
    RACES(MIXED_SIZE);
    again();
    access_at(A, 1, first, DATA);
    reads(FAR, 0);
    RACES(UNORDERED);
}

/* One that is strong, but goes through another proxy, is not ordered by that. */
static void strong_accesses_of_another_proxy(void **state) {
    (void)state;
    ThreadsAccess first = {
        .kind = KIND_UPDATE, .order = ORDER_RELAXED, .scope = SCOPE_GPU, .proxy = PROXY_ASYNC, .site = SITE_FIRST};
    ThreadsAccess second = first;
    second.site = SITE_SECOND;
    second.proxy = PROXY_GENERIC;
    access_at(A, 1, first, DATA);
    access_at(FAR, 1, second, DATA);
    RACES(UNORDERED);
}

/* A thread writes with CTA and with GPU scope, and another one observes each write. The last one with CTA scope stays,
 * as no wider one stands for it; so must what was observed of it, however many writes come behind. */
static void observations_of_older_writes(void **state) {
    (void)state;
    ThreadsAccess write = {.kind = KIND_WRITE, .order = ORDER_RELAXED, .site = SITE_FIRST};
    ThreadsAccess read = {.kind = KIND_READ, .order = ORDER_RELAXED, .scope = SCOPE_CTA, .site = 9, .gives = true};
    for (uint32_t i = 0; i < 64; i++) {
        write.scope = i == 0 || i == 2 ? SCOPE_CTA : SCOPE_GPU;
        access_at(A, 1, write, DATA);
        access_at(B, 1, read, DATA);
    }
    reads(B, 0);
    NO_RACE();
    reads(B, 1);
    RACES(UNORDERED);
}

/* A strong write that was observed is before what its observer does there, and not elsewhere. */
static void observation(void **state) {
    (void)state;
    ThreadsAccess update = {
        .kind = KIND_UPDATE, .order = ORDER_RELAXED, .scope = SCOPE_GPU, .site = SITE_FIRST, .gives = true};
    access_at(A, 1, update, DATA);
    access_at(FAR, 1, update, DATA);
    reads(FAR, 0);
    NO_RACE();
    again();
    access_at(FAR, 1, update, DATA);
    access_at(A, 1, update, DATA);
    reads(FAR, 0);
    RACES(UNORDERED);
}

static void bytes(void **state) {
    (void)state;
    access_at(A, 1, (ThreadsAccess){.kind = KIND_WRITE, .element = 1, .site = SITE_FIRST}, DATA + 2);
    access_at(B, 1, (ThreadsAccess){.kind = KIND_READ, .element = 2, .site = SITE_SECOND}, DATA);
    NO_RACE();
    access_at(B, 1, (ThreadsAccess){.kind = KIND_READ, .element = 2, .site = SITE_SECOND}, DATA + 2);
    RACES(UNORDERED);
}

static void mbarriers(void **state) {
    (void)state;
    static const struct {
        Order arrive, wait;
        Scope arrive_scope, wait_scope;
        bool fence_before, fence_behind;
        int reason;
    } rows[] = {
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CLUSTER, SCOPE_CLUSTER, false, false, -1},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CTA, SCOPE_CLUSTER, false, false, THREADS_TOO_NARROW},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CLUSTER, SCOPE_CTA, false, false, THREADS_TOO_NARROW},
        {ORDER_RELAXED, ORDER_ACQUIRE, SCOPE_CLUSTER, SCOPE_CLUSTER, false, false, THREADS_UNORDERED},
        {ORDER_RELAXED, ORDER_ACQUIRE, SCOPE_CLUSTER, SCOPE_CLUSTER, true, false, -1},
        {ORDER_RELEASE, ORDER_RELAXED, SCOPE_CLUSTER, SCOPE_CLUSTER, false, false, THREADS_UNORDERED},
        {ORDER_RELEASE, ORDER_RELAXED, SCOPE_CLUSTER, SCOPE_CLUSTER, false, true, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        again();
        writes(FAR, 0);
        if (rows[i].fence_before)
            fence(FAR, ORDER_ACQ_REL, SCOPE_CLUSTER);
        threads_arrive(engine, 5, 0, FAR, 1, rows[i].arrive, rows[i].arrive_scope);
        threads_flip(engine, 5);
        threads_wait(engine, 5, A, 1, rows[i].wait, rows[i].wait_scope);
        if (rows[i].fence_behind)
            fence(A, ORDER_ACQ_REL, SCOPE_CLUSTER);
        reads(A, 0);
        assert_int_equal(found(), rows[i].reason);
    }
}

/* ---- Operations ---- */

static void piece(uint32_t operation, AccessKind kind, uint32_t site, uint8_t proxy) {
    ThreadsAccess access = {.kind = (uint8_t)kind, .proxy = proxy, .element = 4, .site = site};
    threads_piece(engine, operation, &access, DATA, 16);
}

static void operations(void **state) {
    (void)state;
    /* in flight, waited for by its thread, by another behind that */
    for (int waits = 0; waits < 4; waits++) {
        again();
        uint32_t copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
        piece(copy, KIND_WRITE, SITE_FIRST, PROXY_GENERIC);
        if (waits)
            threads_done(engine, copy, waits == 3 ? THREADS_READS_DONE : THREADS_ALL_DONE, A, 1, true);
        if (waits == 2)
            threads_warp_sync(engine, A, 3);
        reads(A, waits == 2);
        assert_int_equal(found(), waits == 0 || waits == 3 ? THREADS_IN_FLIGHT : -1);
    }
    /* a barrier does not wait for it */
    again();
    uint32_t copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
    piece(copy, KIND_WRITE, SITE_FIRST, PROXY_GENERIC);
    threads_warp_sync(engine, A, UINT32_MAX);
    threads_done(engine, copy, THREADS_ALL_DONE, A, 1, true);
    reads(A, 1);
    RACES(IN_FLIGHT);
    /* once, however many lanes read it */
    again();
    copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
    piece(copy, KIND_WRITE, SITE_FIRST, PROXY_GENERIC);
    access_at(B, 7, (ThreadsAccess){.kind = KIND_READ, .site = SITE_SECOND}, DATA);
    RACES(IN_FLIGHT);
    uint32_t count;
    assert_int_equal(threads_races(engine, &count)->times, 1);
    /* by an mbarrier: the one that waits for it */
    again();
    copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
    piece(copy, KIND_WRITE, SITE_FIRST, PROXY_ASYNC);
    threads_done_by(engine, copy, THREADS_ALL_DONE, 5, 0, UINT32_MAX);
    threads_flip(engine, 5);
    threads_wait(engine, 5, B, 1, ORDER_ACQUIRE, SCOPE_CTA);
    reads(B, 0);
    NO_RACE();
    reads(B, 1);
    RACES(IN_FLIGHT);
}

static void operations_that_all_know(void **state) {
    (void)state;
    uint32_t copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
    threads_done_by(engine, copy, THREADS_ALL_DONE, 5, 0, UINT32_MAX);
    assert_false(threads_done_for_all(engine, copy));
    threads_flip(engine, 5);
    for (uint32_t warp = A; warp <= FAR + 1; warp++) {
        assert_false(threads_done_for_all(engine, copy));
        threads_wait(engine, 5, warp, UINT32_MAX - 1, ORDER_ACQUIRE, SCOPE_CLUSTER);
        assert_false(threads_done_for_all(engine, copy)); /* a lane of the warp does not know it */
        threads_wait(engine, 5, warp, 1, ORDER_ACQUIRE, SCOPE_CLUSTER);
    }
    assert_true(threads_done_for_all(engine, copy));
}

static void proxies(void **state) {
    (void)state;
    static const struct {
        ThreadsSpace space;
        bool fenced;
        int reason;
    } rows[] = {
        {THREADS_EVERYWHERE, false, THREADS_OTHER_PROXY},
        {THREADS_EVERYWHERE, true, -1},
        {THREADS_GLOBAL, true, -1},
        {THREADS_OWN_SHARED, true, THREADS_OTHER_PROXY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        again();
        writes(A, 0);
        if (rows[i].fenced)
            threads_fence_proxy(engine, A, 1, PROXY_ASYNC, rows[i].space, ORDER_ACQ_REL, SCOPE_CTA, 0);
        piece(threads_issue(engine, A, 1, false, 0, SITE_SECOND), KIND_READ, SITE_SECOND, PROXY_ASYNC);
        assert_int_equal(found(), rows[i].reason);
    }
    /* a fence orders nothing by itself */
    again();
    writes(A, 0);
    threads_fence_proxy(engine, A, 1, PROXY_ASYNC, THREADS_EVERYWHERE, ORDER_ACQ_REL, SCOPE_CTA, 0);
    piece(threads_issue(engine, B, 1, false, 0, SITE_SECOND), KIND_READ, SITE_SECOND, PROXY_ASYNC);
    RACES(UNORDERED);
    /* a fence of one lane is not that of another, though they know the same */
    for (uint32_t lane = 0; lane < 2; lane++) {
        again();
        writes(B, 0);
        threads_arrive(engine, 7, 0, B, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
        threads_flip(engine, 7);
        threads_wait(engine, 7, A, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
        threads_fence_proxy(engine, A, 1, PROXY_ASYNC, THREADS_EVERYWHERE, ORDER_ACQ_REL, SCOPE_CTA, 0);
        piece(threads_issue(engine, A, 1U << lane, false, 0, SITE_SECOND), KIND_READ, SITE_SECOND, PROXY_ASYNC);
        assert_int_equal(found(), lane ? THREADS_OTHER_PROXY : -1);
    }
}

/* Lanes of a warp read a flag one after the other, between two releases: each has what it has read itself. */
static void observed_by_lanes(void **state) {
    (void)state;
    ThreadsAccess look = {.kind = KIND_READ, .order = ORDER_RELAXED, .scope = SCOPE_GPU, .gives = true, .site = 9};
    for (uint32_t lane = 0; lane < 2; lane++) {
        again();
        flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        access_at(FAR, 1, look, FLAG);
        writes(A, 0);
        flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        access_at(FAR, 2, look, FLAG);
        threads_fence(engine, FAR, 3, ORDER_ACQ_REL, SCOPE_GPU, false);
        reads(FAR, lane);
        assert_int_equal(found(), lane ? -1 : THREADS_UNORDERED);
    }
}

static void tensor_maps(void **state) {
    (void)state;
    for (int missing = 0; missing < 4; missing++) {
        again();
        writes(A, 0);
        if (missing != 1)
            threads_fence_proxy(engine, A, 1, PROXY_TENSORMAP, THREADS_GLOBAL, ORDER_RELEASE, SCOPE_GPU, 0);
        flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        flag(FAR, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        if (missing != 2)
            threads_fence_proxy(engine, FAR, 1, PROXY_TENSORMAP, THREADS_GLOBAL, ORDER_ACQUIRE, SCOPE_GPU,
                                missing == 3 ? DATA + 128 : DATA);
        piece(threads_issue(engine, FAR, 1, false, 0, SITE_SECOND), KIND_READ, SITE_SECOND, PROXY_TENSORMAP);
        assert_int_equal(found(), missing ? THREADS_OTHER_PROXY : -1);
    }
}

static void ends_of_ctas(void **state) {
    (void)state;
    ThreadsAccess access = {.kind = KIND_READ, .proxy = PROXY_ASYNC, .element = 4, .site = SITE_FIRST};
    for (int waits = 0; waits < 2; waits++) {
        uint32_t count;
        again();
        uint32_t store = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
        threads_piece(engine, store, &access, threads_shared(0, 0x400), 64);
        if (waits)
            threads_done(engine, store, THREADS_READS_DONE, A, 1, true);
        threads_over(engine, 0);
        const ThreadsRace *races = threads_races(engine, &count);
        assert_int_equal(count, !waits);
        if (count) {
            assert_int_equal(races->reason, THREADS_AT_EXIT);
            assert_int_equal(races->times, 1);
        }
    }
}

/* What the fence for initializations has released does not hide what a barrier has released besides. */
static void initializations(void **state) {
    (void)state;
    ThreadsAccess init = {.kind = KIND_WRITE, .site = SITE_FIRST, .element = 8, .inits = true};
    for (int releases = 0; releases < 2; releases++) {
        again();
        access_at(A, 1, init, FLAG);
        threads_fence_inits(engine, A, 1);
        threads_arrive(engine, 7, 0, A, 1, ORDER_RELAXED, SCOPE_CLUSTER);
        threads_flip(engine, 7);
        threads_wait(engine, 7, B, 1, ORDER_ACQUIRE, SCOPE_CLUSTER);
        access_at(B, 1, (ThreadsAccess){.kind = KIND_READ, .site = SITE_SECOND, .element = 8}, FLAG);
        NO_RACE();
        access_at(A, 1, init, DATA);
        threads_arrive(engine, 7, 0, A, 1, releases ? ORDER_RELEASE : ORDER_RELAXED, SCOPE_CLUSTER);
        threads_flip(engine, 7);
        threads_wait(engine, 7, B, 1, ORDER_ACQUIRE, SCOPE_CLUSTER);
        access_at(B, 1, (ThreadsAccess){.kind = KIND_READ, .site = SITE_SECOND, .element = 8}, DATA);
        assert_int_equal(found(), releases ? -1 : THREADS_UNORDERED);
    }
}

static void order_of_the_run(void **state) {
    (void)state;
    flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
    assert_int_equal(threads_order_matters(engine), THREADS_NONE);
    uint32_t news = threads_news(engine);
    flag(FAR, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    assert_int_equal(threads_order_matters(engine), 9);
    assert_int_not_equal(threads_news(engine), news); /* no race, but it is new */
}

/* No more than it may take, and then it says so. */
static void memory(void **state) {
    (void)state;
    const char *problem = NULL;
    Threads *small = threads_create(
        &(ThreadsShape){.ctas = 1, .cta_threads = 32, .cluster = 1, .memory = (size_t)4 << 20}, &problem);
    assert_non_null(small);
    ThreadsAccess access = {.kind = KIND_WRITE, .element = 4, .bytes = 4};
    for (uint32_t i = 0; i < 1 << 20 && !threads_trouble(small); i++) {
        uint64_t addresses[THREADS_LANES];
        for (uint32_t lane = 0; lane < THREADS_LANES; lane++)
            addresses[lane] = (uint64_t)(i * THREADS_LANES + lane) * 4;
        threads_access(small, 0, 0, UINT32_MAX, &access, addresses);
    }
    assert_non_null(threads_trouble(small));
    threads_free(small);
}

/* What a release leaves is gone with the next one. */
static void releases_take_no_more_memory(void **state) {
    (void)state;
    const char *problem = NULL;
    threads_free(engine);
    engine = threads_create(
        &(ThreadsShape){.ctas = 1, .cta_threads = 64, .cluster = 1, .memory = (size_t)4 << 20, .sweep_at = 1000},
        &problem);
    assert_non_null(engine);
    for (uint32_t i = 0; i < 1 << 15; i++) {
        flag(A, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        flag(B, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    }
    assert_null(threads_trouble(engine));
}

/* Whether a release and an acquire of two threads of a CTA, by strong accesses that observe nothing, were missed. */
static bool missed(uint32_t releasing, uint32_t acquiring) {
    again();
    threads_blind(engine, true);
    flag(releasing, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
    assert_false(threads_blind_missed(engine));
    flag(acquiring, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    return threads_blind_missed(engine);
}

static void what_is_not_observed_may_be_missed(void **state) {
    (void)state;
    assert_true(missed(A, B));
    assert_true(missed(B, A));
    assert_false(missed(A, A));
    assert_false(missed(A, FAR));
}

/* Several launches in one engine: each CTA is one of its own. */
static void launches(void **state) {
    (void)state;
    /* who knows that the other has ended, and who does not */
    writes(A, 0);
    threads_ended(engine, FAR, 1, 0, 1);
    reads(FAR, 0);
    NO_RACE();
    reads(FAR, 1);
    RACES(UNORDERED);
    /* also before it is over here, and when that is gone */
    again();
    threads_ended(engine, FAR, UINT32_MAX, 0, 1);
    writes(A, 0);
    threads_exit(engine, A, UINT32_MAX);
    threads_exit(engine, B, UINT32_MAX);
    threads_over(engine, 0);
    reads(FAR, 5);
    NO_RACE();
    /* what one knows it can tell others */
    again();
    threads_free(engine);
    const char *problem;
    engine = threads_create(&(ThreadsShape){.ctas = 3, .cta_threads = 32}, &problem);
    writes(0, 0);
    threads_ended(engine, 1, 1, 0, 1);
    flag(1, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
    flag(2, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    reads(2, 0);
    NO_RACE();
    reads(2, 1);
    RACES(UNORDERED);
    /* operations of the other are over, too, in whichever proxy; not for who does not know */
    for (int knows = 0; knows < 2; knows++)
        for (uint8_t proxy = PROXY_GENERIC; proxy <= PROXY_ASYNC; proxy++) {
            again();
            uint32_t copy = threads_issue(engine, A, 1, false, 0, SITE_FIRST);
            piece(copy, KIND_WRITE, SITE_FIRST, proxy);
            if (knows)
                threads_ended(engine, FAR, 1, 0, 1);
            reads(FAR, 0);
            assert_int_equal(found(), knows ? -1 : THREADS_IN_FLIGHT);
        }
    again();
    writes(A, 0);
    threads_ended(engine, FAR, 1, 0, 1);
    uint32_t copy = threads_issue(engine, FAR, 1, false, 0, SITE_SECOND);
    piece(copy, KIND_READ, SITE_SECOND, PROXY_ASYNC);
    NO_RACE();
}

/* The last warp of a CTA has fewer threads; what lanes of the others do is ordered by barriers as ever. */
static void a_part_of_a_warp(void **state) {
    (void)state;
    const char *problem;
    threads_free(engine);
    engine = threads_create(&(ThreadsShape){.ctas = 1, .cta_threads = 48}, &problem);
    writes(A, 20);
    reads(B, 3);
    RACES(UNORDERED);
    threads_free(engine);
    engine = threads_create(&(ThreadsShape){.ctas = 1, .cta_threads = 48}, &problem);
    writes(A, 20);
    threads_arrive(engine, 7, 0, A, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_arrive(engine, 7, 0, B, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(engine, 7);
    threads_wait(engine, 7, B, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
    reads(B, 3);
    NO_RACE();
    threads_meet(engine, 7, 0);
    reads(A, 20);
    NO_RACE();
    /* those of the last warp that are there have ended, and all of the first but one */
    threads_exit(engine, B, UINT32_MAX);
    threads_exit(engine, A, ~(1U << 20));
    reads(A, 20);
    NO_RACE();
}

/* A flag that FAR has read, between the fences of A and what fences FAR has: one that is too narrow leaves what was
 * observed to a wider one behind it. */
static void fences_one_after_the_other(void **state) {
    (void)state;
    enum { ONE = 1, OTHER = 2 }; /* lanes */
    static const struct {
        struct {
            Order order;
            Scope scope;
            uint32_t lanes; /* 0: there is no such fence */
        } fences[2];
        uint32_t reader;
        int reason;
    } rows[] = {
        {{{ORDER_ACQ_REL, SCOPE_CTA, ONE}}, 0, THREADS_TOO_NARROW},
        {{{ORDER_ACQ_REL, SCOPE_CTA, ONE}, {ORDER_ACQ_REL, SCOPE_GPU, ONE}}, 0, -1},
        {{{ORDER_ACQUIRE, SCOPE_CTA, ONE}, {ORDER_ACQUIRE, SCOPE_CLUSTER, ONE}}, 0, -1},
        {{{ORDER_RELEASE, SCOPE_GPU, ONE}}, 0, THREADS_UNORDERED},
        {{{ORDER_RELEASE, SCOPE_GPU, ONE}, {ORDER_ACQUIRE, SCOPE_GPU, ONE}}, 0, -1},
        {{{ORDER_ACQ_REL, SCOPE_GPU, OTHER}}, 1, THREADS_UNORDERED},
        {{{ORDER_ACQ_REL, SCOPE_GPU, OTHER}, {ORDER_ACQ_REL, SCOPE_GPU, ONE}}, 0, -1},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        again();
        writes(A, 0);
        fence(A, ORDER_ACQ_REL, SCOPE_GPU);
        flag(A, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        flag(FAR, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        for (unsigned k = 0; k < 2 && rows[i].fences[k].lanes; k++)
            threads_fence(engine, FAR, rows[i].fences[k].lanes, rows[i].fences[k].order, rows[i].fences[k].scope,
                          false);
        reads(FAR, rows[i].reader);
        assert_int_equal(found(), rows[i].reason);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lanes_are_unordered, begin, end),
        cmocka_unit_test_setup_teardown(barriers, begin, end),
        cmocka_unit_test_setup_teardown(a_part_of_a_warp, begin, end),
        cmocka_unit_test_setup_teardown(threads_that_ended, begin, end),
        cmocka_unit_test_setup_teardown(flags, begin, end),
        cmocka_unit_test_setup_teardown(fences, begin, end),
        cmocka_unit_test_setup_teardown(fences_one_after_the_other, begin, end),
        cmocka_unit_test_setup_teardown(chains, begin, end),
        cmocka_unit_test_setup_teardown(strong_accesses, begin, end),
        cmocka_unit_test_setup_teardown(strong_accesses_of_another_proxy, begin, end),
        cmocka_unit_test_setup_teardown(observations_of_older_writes, begin, end),
        cmocka_unit_test_setup_teardown(observation, begin, end),
        cmocka_unit_test_setup_teardown(bytes, begin, end),
        cmocka_unit_test_setup_teardown(mbarriers, begin, end),
        cmocka_unit_test_setup_teardown(operations, begin, end),
        cmocka_unit_test_setup_teardown(operations_that_all_know, begin, end),
        cmocka_unit_test_setup_teardown(proxies, begin, end),
        cmocka_unit_test_setup_teardown(observed_by_lanes, begin, end),
        cmocka_unit_test_setup_teardown(tensor_maps, begin, end),
        cmocka_unit_test_setup_teardown(ends_of_ctas, begin, end),
        cmocka_unit_test_setup_teardown(initializations, begin, end),
        cmocka_unit_test_setup_teardown(order_of_the_run, begin, end),
        cmocka_unit_test_setup_teardown(memory, begin, end),
        cmocka_unit_test_setup_teardown(releases_take_no_more_memory, begin, end),
        cmocka_unit_test_setup_teardown(what_is_not_observed_may_be_missed, begin, end),
        cmocka_unit_test_setup_teardown(launches, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
