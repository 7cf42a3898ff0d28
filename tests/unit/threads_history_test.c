/* What a strong read may give: writes that no later one, which the reader knows, has put out of sight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/hb/threads.h"

enum { PLACE = 0x1000, FLAG = 0x2000 };

/* Four CTAs of a warp each; lane 0 of each is a thread. */
static Threads *start(void) {
    const char *problem = NULL;
    Threads *threads =
        threads_create(&(ThreadsShape){.ctas = 4, .cta_threads = 32, .cluster = 1, .history = true}, &problem);
    assert_non_null(threads);
    return threads;
}

static ThreadsAccess access_of(AccessKind kind, Order order, Scope scope) {
    return (ThreadsAccess){.kind = (uint8_t)kind,
                           .order = (uint8_t)order,
                           .scope = (uint8_t)scope,
                           .element = 4,
                           .bytes = 4,
                           .gives = kind != KIND_WRITE};
}

static void does(Threads *threads, uint32_t cta, AccessKind kind, Order order, uint64_t address) {
    ThreadsAccess access = access_of(kind, order, order == ORDER_WEAK ? SCOPE_NONE : SCOPE_GPU);
    threads_access(threads, 0, cta, 1, &access, (const uint64_t[THREADS_LANES]){address});
}

/* The writes that a relaxed read of the CTA may give are these, the newest first. */
static void expect(Threads *threads, uint32_t cta, uint64_t address, uint32_t count, const uint32_t *writes) {
    ThreadsAccess access = access_of(KIND_READ, ORDER_RELAXED, SCOPE_GPU);
    ThreadsSource sources[8];
    assert_int_equal(threads_sources(threads, cta, 0, &access, address, sources, 8), count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(sources[i].write, writes[i]);
}
#define EXPECT(threads, cta, address, ...) \
    expect(threads, cta, address, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (const uint32_t[]){__VA_ARGS__})

static void gives_every_write(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 1, PLACE, 1, 0);
    does(threads, 2, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 1, PLACE, 2, 1, 0);
    assert_int_equal(threads_writes(threads), 2);
    threads_free(threads);
}

static void gives_its_own_or_newer(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    does(threads, 1, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 0, PLACE, 2, 1);
    EXPECT(threads, 1, PLACE, 2);
    threads_free(threads);
}

/* Of any lane: what the reader knows puts older writes out of sight. */
static void knows_the_writes_of_lanes(void **state) {
    (void)state;
    for (uint32_t lane = 0; lane < 32; lane += 7) {
        Threads *threads = start();
        uint64_t places[THREADS_LANES], flags[THREADS_LANES];
        for (uint32_t i = 0; i < THREADS_LANES; i++)
            places[i] = PLACE, flags[i] = FLAG;
        ThreadsAccess write = access_of(KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        ThreadsAccess release = access_of(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        does(threads, 2, KIND_WRITE, ORDER_RELAXED, PLACE);
        threads_access(threads, 0, 0, 1U << lane, &write, places);
        threads_access(threads, 0, 0, 1U << lane, &release, flags);
        EXPECT(threads, 1, PLACE, 2, 1, 0);
        does(threads, 1, KIND_READ, ORDER_ACQUIRE, FLAG);
        EXPECT(threads, 1, PLACE, 2);
        threads_free(threads);
    }
}

/* Coherence: who has read a write does not read an older one again. */
static void gives_nothing_older_than_was_read(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 1, PLACE, 2, 1, 0);
    threads_choose(threads, 1);
    does(threads, 1, KIND_READ, ORDER_RELAXED, PLACE);
    EXPECT(threads, 1, PLACE, 2, 1);
    EXPECT(threads, 2, PLACE, 2, 1, 0);
    threads_free(threads);
}

static void gives_what_was_released(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    does(threads, 0, KIND_WRITE, ORDER_RELEASE, FLAG);
    threads_choose(threads, 0); /* the flag as it was */
    does(threads, 1, KIND_READ, ORDER_ACQUIRE, FLAG);
    EXPECT(threads, 1, PLACE, 1, 0);
    does(threads, 1, KIND_READ, ORDER_ACQUIRE, FLAG);
    EXPECT(threads, 1, PLACE, 1);
    threads_free(threads);
}

/* An older release that was chosen brings what it released, and no more. */
static void acquires_from_what_was_chosen(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    does(threads, 0, KIND_WRITE, ORDER_RELEASE, FLAG);
    does(threads, 2, KIND_WRITE, ORDER_RELAXED, PLACE + 4);
    does(threads, 2, KIND_WRITE, ORDER_RELEASE, FLAG);
    EXPECT(threads, 1, FLAG, 4, 2, 0);
    threads_choose(threads, 2);
    does(threads, 1, KIND_READ, ORDER_ACQUIRE, FLAG);
    EXPECT(threads, 1, PLACE, 1);
    EXPECT(threads, 1, PLACE + 4, 3, 0);
    threads_free(threads);
}

static void begins_again_behind_weak_writes(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_WEAK, PLACE);
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 1, PLACE, 2, 1);
    EXPECT(threads, 0, PLACE, 2);
    threads_free(threads);
}

static void forgets_with_the_run(void **state) {
    (void)state;
    Threads *threads = start();
    does(threads, 0, KIND_WRITE, ORDER_RELAXED, PLACE);
    threads_restart(threads);
    assert_int_equal(threads_writes(threads), 0);
    does(threads, 1, KIND_WRITE, ORDER_RELAXED, PLACE);
    EXPECT(threads, 0, PLACE, 1, 0);
    threads_free(threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_every_write),
        cmocka_unit_test(gives_its_own_or_newer),
        cmocka_unit_test(knows_the_writes_of_lanes),
        cmocka_unit_test(gives_nothing_older_than_was_read),
        cmocka_unit_test(gives_what_was_released),
        cmocka_unit_test(acquires_from_what_was_chosen),
        cmocka_unit_test(begins_again_behind_weak_writes),
        cmocka_unit_test(forgets_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
