/* Two engines that are told the same at random, the second one by word (ThreadsShape.by_word): what one says, the other
 * has to say, too. */
#ifndef UNIT_THREADS_PAIR_H
#define UNIT_THREADS_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/threads.h"

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

#endif
