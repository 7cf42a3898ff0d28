/* Two engines that are told the same at random, the second one by word (ThreadsShape.by_word): what one says, the other
 * has to say, too. */
#ifndef UNIT_THREADS_PAIR_H
#define UNIT_THREADS_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/hb/threads.h"

/* Random numbers, the same in each run. */
static uint64_t state;
static inline uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

typedef struct Pair {
    Threads *each[2]; /* the second one is by_word */
} Pair;

static inline Pair pair_new(ThreadsShape shape) {
    Pair pair;
    const char *problem;
    for (int i = 0; i < 2; i++) {
        shape.by_word = i == 1;
        pair.each[i] = threads_create(&shape, &problem);
        assert_non_null(pair.each[i]);
    }
    return pair;
}

static inline void pair_free(Pair *pair) {
    for (int i = 0; i < 2; i++)
        threads_free(pair->each[i]);
}

/* The same call to each `engine`. */
#define BOTH(pair, call)                    \
    for (int e_ = 0; e_ < 2; e_++) {        \
        Threads *engine = (pair)->each[e_]; \
        call;                               \
    }

static inline void same_side(const ThreadsSide *a, const ThreadsSide *b) {
    assert_int_equal(a->warp, b->warp);
    assert_int_equal(a->lane, b->lane);
    assert_int_equal(a->asynchronous, b->asynchronous);
    assert_int_equal(a->access.site, b->access.site);
    assert_int_equal(a->access.kind, b->access.kind);
    assert_int_equal(a->access.bytes, b->access.bytes);
}

/* How many races both have. */
static inline uint32_t pair_agree(const Pair *pair) {
    uint32_t count, other;
    const ThreadsRace *races = threads_races(pair->each[0], &count), *slow = threads_races(pair->each[1], &other);
    assert_int_equal(count, other);
    for (uint32_t i = 0; i < count; i++) {
        same_side(&races[i].first, &slow[i].first);
        same_side(&races[i].second, &slow[i].second);
        assert_int_equal(races[i].address, slow[i].address);
        assert_int_equal(races[i].bytes, slow[i].bytes);
        assert_int_equal(races[i].reason, slow[i].reason);
        assert_int_equal(races[i].same_value, slow[i].same_value);
        assert_int_equal(races[i].times, slow[i].times);
    }
    assert_int_equal(threads_order_matters(pair->each[0]), threads_order_matters(pair->each[1]));
    assert_null(threads_trouble(pair->each[0]));
    return count;
}

#endif
