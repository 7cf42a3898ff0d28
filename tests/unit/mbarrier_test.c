/* The arithmetic of an mbarrier's phase: what is just allowed, and what is one too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "explore/mbarrier.h"

/* The outcome, and that what is wrong changes nothing. */
static MbarrierOutcome bring(MbarrierTally *tally, MbarrierChange change) {
    MbarrierTally before = *tally;
    int64_t wrong = -1;
    MbarrierOutcome outcome = mbarrier_bring(tally, &change, &wrong);
    if (outcome != MBARRIER_GOES_ON) {
        assert_int_equal(before.count, tally->count);
        assert_int_equal(before.pending, tally->pending);
        assert_int_equal(before.bytes, tally->bytes);
    }
    return outcome;
}

static void arrivals(void **state) {
    (void)state;
    MbarrierTally tally = {.count = 3, .pending = 3};
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 4}), MBARRIER_UNDERFLOW);
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 2}), MBARRIER_GOES_ON);
    assert_int_equal(tally.pending, 1);
    assert_false(mbarrier_completes(&tally));
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 2}), MBARRIER_UNDERFLOW);
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1}), MBARRIER_GOES_ON);
    assert_true(mbarrier_completes(&tally));
    assert_int_equal(tally.pending, 3);
}

/* All that are expected may drop, and no more. */
static void drops(void **state) {
    (void)state;
    MbarrierTally tally = {.count = 2, .pending = 2};
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1, .drops = 1}), MBARRIER_GOES_ON);
    assert_int_equal(tally.count, 1);
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1, .drops = 2}), MBARRIER_UNDERFLOW);
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1, .drops = 1}), MBARRIER_GOES_ON);
    assert_int_equal(tally.count, 0);
    assert_true(mbarrier_completes(&tally));
    assert_int_equal(tally.pending, 0);
    tally = (MbarrierTally){.count = 1, .pending = 1};
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1, .drops = 1}), MBARRIER_GOES_ON);
    assert_true(mbarrier_completes(&tally));
}

static void bytes(void **state) {
    (void)state;
    MbarrierTally tally = {.count = 1, .pending = 1};
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = MBARRIER_MOST_BYTES}), MBARRIER_GOES_ON);
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = 1}), MBARRIER_OUT_OF_RANGE);
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = INT64_MAX}), MBARRIER_OUT_OF_RANGE);
    assert_int_equal(bring(&tally, (MbarrierChange){.arrivals = 1}), MBARRIER_GOES_ON);
    assert_false(mbarrier_completes(&tally));
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = -MBARRIER_MOST_BYTES}), MBARRIER_GOES_ON);
    assert_true(mbarrier_completes(&tally));
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = -MBARRIER_MOST_BYTES}), MBARRIER_GOES_ON);
    assert_int_equal(bring(&tally, (MbarrierChange){.bytes = -1}), MBARRIER_OUT_OF_RANGE);
}

static void counts(void **state) {
    (void)state;
    assert_true(mbarrier_counts(0));
    assert_false(mbarrier_counts(-1));
    assert_true(mbarrier_counts(MBARRIER_MOST_ARRIVALS));
    assert_false(mbarrier_counts(MBARRIER_MOST_ARRIVALS + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals),
        cmocka_unit_test(drops),
        cmocka_unit_test(bytes),
        cmocka_unit_test(counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
