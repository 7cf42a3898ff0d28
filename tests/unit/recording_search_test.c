/* The order of strong accesses to one place where values come again: a barrier of the grid that counts round and round,
 * whose threads poll it, and a sum that plain stores reset. The times are those when accesses began, which are made
 * some time later. */
#include "check/replay/order/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 96, ROUNDS = 12, SUMS = 3, MOST = 1 << 16, LATE = 300000 };

/* As a machine makes them: truth[] is their order, by index. */
typedef struct Made {
    Strong *items;
    uint32_t *numbers, *truth, count;
    uint32_t seed;
    uint64_t value, now;
} Made;

static Made made_new(uint32_t seed) {
    return (Made){.items = calloc(MOST, sizeof(Strong)),
                  .numbers = calloc(MOST, sizeof(uint32_t)),
                  .truth = calloc(MOST, sizeof(uint32_t)),
                  .seed = seed,
                  .now = 1000000};
}

static void made_free(Made *made) {
    free(made->items);
    free(made->numbers);
    free(made->truth);
}

static uint32_t rolled(Made *made, uint32_t below) {
    made->seed = made->seed * 1664525 + 1013904223;
    return (made->seed >> 8) % below;
}

/* The thread makes an access now, which it began a while ago, though not before it had made the one before it. */
static void make(Made *made, StrongKind kind, uint32_t thread, uint64_t *last, uint64_t written) {
    uint64_t began = made->now - rolled(made, LATE);
    assert_true(made->count < MOST);
    made->items[made->count] = (Strong){.key = 1,
                                        .time = (uint32_t)(began > *last ? began : *last + 1),
                                        .index = made->count,
                                        .thread = thread,
                                        .found = made->value & UINT32_MAX,
                                        .written = written & UINT32_MAX,
                                        .kind = (uint8_t)kind,
                                        .bytes = 4,
                                        .finds = true};
    if (kind == STRONG_ADD)
        made->value = (made->value + written) & UINT32_MAX;
    *last = made->now;
    made->now += 1 + rolled(made, 2000);
    made->truth[made->count] = made->count;
    made->count++;
}

/* Changes come as they were made, and each read between the same two. */
static void assert_right(const Made *made) {
    uint32_t *at = calloc(made->count, sizeof *at), changes = 0;
    uint32_t *before = calloc(made->count, sizeof *before), *came = calloc(made->count, sizeof *came);
    const Strong **by_index = calloc(made->count, sizeof *by_index);
    for (uint32_t i = 0; i < made->count; i++) {
        by_index[made->items[i].index] = &made->items[i];
        at[made->numbers[made->items[i].index]] = made->items[i].index;
    }
    for (uint32_t i = 0; i < made->count; i++) {
        before[i] = changes;
        changes += by_index[i]->kind != STRONG_READ;
    }
    changes = 0;
    for (uint32_t i = 0; i < made->count; i++) {
        came[at[i]] = changes;
        changes += by_index[at[i]]->kind != STRONG_READ;
    }
    for (uint32_t i = 0; i < made->count; i++)
        assert_int_equal(came[i], before[i]);
    free(at);
    free(before);
    free(came);
    free(by_index);
}

/* The barrier of cooperative groups: the first thread adds what is missing to 2^31, and all wait for that bit to
 * change. After two rounds all values come again. */
static void make_barrier(Made *made) {
    uint64_t last[THREADS] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t order[THREADS];
        for (uint32_t i = 0; i < THREADS; i++) {
            uint32_t at = rolled(made, i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            make(made, STRONG_ADD, order[i], &last[order[i]], order[i] ? 1 : 0x80000000U - (THREADS - 1));
            for (uint32_t k = rolled(made, 4); k-- > 0;) {
                uint32_t waits = order[rolled(made, i + 1)];
                make(made, STRONG_READ, waits, &last[waits], 0);
            }
        }
        for (uint32_t i = 0; i < THREADS; i++)
            make(made, STRONG_READ, order[i], &last[order[i]], 0);
    }
}

static void test_barrier(void **unused) {
    (void)unused;
    for (uint32_t seed = 1; seed < 20; seed++) {
        Made made = made_new(seed);
        make_barrier(&made);
        StrongUncertain doubts = strong_order(made.items, made.count, made.numbers);
        assert_int_equal(doubts.unfit, 0);
        assert_int_equal(doubts.unsure, 0);
        assert_right(&made);
        made_free(&made);
    }
}

/* One that found what was never there is not explained away. */
static void test_wrong_barrier(void **unused) {
    (void)unused;
    Made made = made_new(7);
    make_barrier(&made);
    made.items[made.count / 2].found ^= 0x40000000;
    assert_true(strong_order(made.items, made.count, made.numbers).unfit > 0);
    made_free(&made);
}

/* Each thread adds the same several times; before each of the sums a plain store makes it 0. What the first sum comes
 * to is found in the second, too: in several places another thread could come, and an order among several is none. */
static void test_sums(void **unused) {
    (void)unused;
    for (uint32_t seed = 1; seed < 20; seed++) {
        Made made = made_new(seed);
        uint64_t last[THREADS] = {0};
        for (unsigned sum = 0; sum < SUMS; sum++) {
            uint32_t done[THREADS] = {0};
            made.value = 0;
            made.now += 100000; /* a barrier of the CTA, and the store */
            for (uint32_t i = 0; i < THREADS; i++)
                last[i] = made.now - rolled(&made, 1000);
            for (uint32_t i = 0; i < THREADS * (1 + 3 * sum);) {
                uint32_t thread = rolled(&made, THREADS);
                if (done[thread] == 1 + 3 * sum)
                    continue;
                done[thread]++;
                make(&made, STRONG_ADD, thread, &last[thread], sum ? THREADS : 1);
                i++;
            }
        }
        for (uint32_t i = 0; i < made.count; i++)
            made.items[i].stores = SUMS;
        assert_true(strong_order(made.items, made.count, made.numbers).unfit > 0);
        made_free(&made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_wrong_barrier),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
