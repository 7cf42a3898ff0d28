/* The order of strong accesses to one place, from when they began and what they found: counters, locks, flags, times
 * that are wrong by less than what is found says, and what cannot be told. */
#include "analyze/recording/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 64 };

typedef struct Case {
    Strong items[MOST];
    uint32_t numbers[MOST], count;
} Case;

static uint32_t add(Case *of, StrongKind kind, uint32_t thread, uint32_t time, uint32_t found, uint32_t written) {
    of->items[of->count] = (Strong){.key = 1,
                                    .time = time,
                                    .index = of->count,
                                    .thread = thread,
                                    .found = found,
                                    .written = written,
                                    .kind = (uint8_t)kind,
                                    .finds = true};
    return of->count++;
}

/* Each adds 1; times say nothing but that all are near. */
static void test_counter(void **unused) {
    (void)unused;
    Case of = {0};
    for (uint32_t i = 0; i < 16; i++)
        add(&of, STRONG_ADD, i, 1000 + i * 7 % 16, (i * 5 + 3) % 16, 1);
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(of.numbers[i], (i * 5 + 3) % 16);
}

/* A lock that is taken and given back: 0 and 1 in turns; who has it is in the order of times. */
static void test_lock(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t takes[4], gives[4];
    for (uint32_t i = 0; i < 4; i++) {
        takes[i] = add(&of, STRONG_CAS, i, 1000 * i + 900, 0, 1);
        gives[i] = add(&of, STRONG_WRITE, i, 1000 * i + 1500, 1, 0);
        add(&of, STRONG_CAS, i + 8, 1000 * i + 1400, 1, 1); /* in vain */
    }
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(of.numbers[takes[i]] < of.numbers[gives[i]]);
        assert_true(!i || of.numbers[gives[i - 1]] < of.numbers[takes[i]]);
    }
}

/* Who reads before a change comes before it, also if it began long after it: the old value does not come again. */
static void test_readers(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t change = add(&of, STRONG_ADD, 0, 1000, 0, 1);
    uint32_t early = add(&of, STRONG_READ, 1, 30000, 0, 0), late = add(&of, STRONG_READ, 1, 31000, 1, 0);
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    assert_true(of.numbers[early] < of.numbers[change] && of.numbers[change] < of.numbers[late]);
}

/* A flag that is set and cleared again: who reads 0 long after both is behind both. */
static void test_flag_again(void **unused) {
    (void)unused;
    Case of = {0};
    add(&of, STRONG_READ, 2, 500, 0, 0);
    uint32_t set = add(&of, STRONG_WRITE, 0, 1000, 0, 1), seen = add(&of, STRONG_READ, 1, 2000, 1, 0);
    uint32_t clear = add(&of, STRONG_WRITE, 1, 20000, 1, 0), late = add(&of, STRONG_READ, 2, 40000, 0, 0);
    of.items[set].finds = of.items[clear].finds = false;
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    assert_true(of.numbers[set] < of.numbers[seen] && of.numbers[seen] < of.numbers[clear]);
    assert_true(of.numbers[clear] < of.numbers[late]);
}

/* Where nobody knows what was there before: who read what was written a moment later has not read it before that. */
static void test_written_and_read(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t seen = add(&of, STRONG_READ, 1, 1000, 1, 0), set = add(&of, STRONG_WRITE, 0, 1400, 0, 1);
    of.items[set].finds = false;
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    assert_true(of.numbers[set] < of.numbers[seen]);
    Case far = {0};
    seen = add(&far, STRONG_READ, 1, 1000, 1, 0);
    set = add(&far, STRONG_WRITE, 0, 900000, 0, 1);
    far.items[set].finds = false;
    assert_int_equal(strong_order(far.items, far.count, far.numbers), 0);
    assert_true(far.numbers[seen] < far.numbers[set]);
}

/* Times that wrap, several places, and a value that nobody left. */
static void test_rest(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t first = add(&of, STRONG_ADD, 0, UINT32_MAX - 10, 0, 1), second = add(&of, STRONG_ADD, 1, 5, 1, 1);
    uint32_t other = add(&of, STRONG_WRITE, 2, 0, 0, 9);
    of.items[other].key = 2;
    assert_int_equal(strong_order(of.items, of.count, of.numbers), 0);
    assert_true(of.numbers[first] < of.numbers[second]);
    assert_int_equal(of.numbers[other], 0);
    Case wrong = {0};
    add(&wrong, STRONG_ADD, 0, 1000, 0, 1);
    add(&wrong, STRONG_READ, 1, 900000, 77, 0);
    assert_int_equal(strong_order(wrong.items, wrong.count, wrong.numbers), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),    cmocka_unit_test(test_lock), cmocka_unit_test(test_readers),
        cmocka_unit_test(test_flag_again), cmocka_unit_test(test_rest), cmocka_unit_test(test_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
