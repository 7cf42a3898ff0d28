/* check/lint/ptx/known: whatever is said of a sum, product or remainder holds for every value that it can have. */
#include "reading.h"
#include "share.h"

#include "model/number/known.h"
#include "model/number/value.h"

static uint64_t seed = 1;

static unsigned below(unsigned n) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % n;
}

enum { WIDTH = 8, MOST_VALUES = 6 };

/* A few numbers of 8 bits, and what is known of all of them. */
typedef struct Sample {
    int64_t values[MOST_VALUES];
    unsigned count;
    IntDomain known;
} Sample;

static Sample sample(void) {
    Sample sample = {.count = 1 + below(MOST_VALUES)};
    int64_t step = 1 + below(9), start = (int64_t)below(256) - 128;
    for (unsigned i = 0; i < sample.count; i++) {
        sample.values[i] = integer_wrap(start + step * below(6), WIDTH);
        IntDomain one = known_exact(sample.values[i]);
        sample.known = i ? known_join(&sample.known, &one) : one;
    }
    return sample;
}

static void assert_holds(const IntDomain *known, int64_t value, const char *what, int64_t a, int64_t b) {
    bool right = known->least <= value && value <= known->most && (!known->exact || known->least == value);
    right &= known->modulus == 0 ? known->remainder == value : (value - known->remainder) % known->modulus == 0;
    right &= known->divisor == INT64_MAX ? value == 0 : value % known->divisor == 0;
    for (int64_t n = 1; n <= 64; n *= 2)
        right &= known_is_multiple(known, n) != (value % n == 0 ? TRIBOOL_FALSE : TRIBOOL_TRUE);
    if (!right)
        fail_msg("%s of %lld and %lld is %lld, not from %lld to %lld, %lld modulo %lld", what, (long long)a,
                 (long long)b, (long long)value, (long long)known->least, (long long)known->most,
                 (long long)known->remainder, (long long)known->modulus);
}

/* Every evaluator that makes one number of one or two. */
static void check_evaluators(const Sample *x, const Sample *y, int64_t a, int64_t b) {
    for (Evaluator code = EVALUATE_NONE + 1; code < EVALUATOR_COUNT; code++) {
        int64_t value, bytes = 4;
        if (evaluators[code].kind != NUMBERS || evaluators[code].operands > 2 || code == EVALUATE_COMPARE ||
            !evaluate_integers(code, WIDTH, WIDTH, bytes, a, b, 0, &value))
            continue;
        IntDomain known = known_evaluated(code, WIDTH, WIDTH, bytes, &x->known, &y->known);
        known = known_wrap(&known, WIDTH);
        assert_holds(&known, value, evaluators[code].name, a, b);
    }
}

static void check_pair(const Sample *x, const Sample *y, int64_t a, int64_t b) {
    check_evaluators(x, y, a, b);
    for (Comparison comparison = COMPARE_EQ; comparison <= COMPARE_UGE; comparison++) {
        bool holds = integer_compare(comparison, a, b, integer_unsigned(a, WIDTH), integer_unsigned(b, WIDTH));
        IntDomain known = known_compared(comparison, &x->known, &y->known);
        assert_holds(&known, holds, "the comparison", a, b);
        known = known_where(&x->known, comparison, &y->known);
        if (holds)
            assert_holds(&known, a, "what the comparison leaves", a, b);
    }
    IntDomain known = known_join(&x->known, &y->known);
    assert_holds(&known, a, "the join", a, b);
}

static void what_is_said_holds_for_every_value(void **state) {
    (void)state;
    for (unsigned i = 0; i < share_of(5000); i++) {
        Sample x = sample(), y = sample();
        for (unsigned k = 0; k < x.count; k++) {
            for (unsigned j = 0; j < y.count; j++)
                check_pair(&x, &y, x.values[k], y.values[j]);
            IntDomain known = known_wrap(&x.known, 4);
            assert_holds(&known, integer_wrap(x.values[k], 4), "the lower half", x.values[k], 0);
            known = known_unsigned(&x.known, WIDTH);
            assert_holds(&known, (int64_t)integer_unsigned(x.values[k], WIDTH), "the unsigned one", x.values[k], 0);
        }
    }
}

static void a_multiple_and_a_constant_say_what_is_left(void **state) {
    (void)state;
    IntDomain base = known_multiple(16), six = known_exact(6), ten = known_exact(10);
    IntDomain off = known_add(&base, &six, 64);
    assert_int_equal(off.divisor, 2);
    assert_int_equal(known_is_multiple(&off, 16), TRIBOOL_FALSE);
    assert_int_equal(known_is_multiple(&off, 2), TRIBOOL_TRUE);
    assert_int_equal(known_is_multiple(&base, 128), TRIBOOL_UNKNOWN);
    off = known_add(&off, &ten, 64);
    assert_int_equal(known_is_multiple(&off, 16), TRIBOOL_TRUE);
}

static void nothing_is_a_multiple_of_one(void **state) {
    (void)state;
    IntDomain nothing = known_nothing(), zero = known_exact(0);
    assert_int_equal(known_is_multiple(&nothing, 1), TRIBOOL_TRUE);
    assert_int_equal(known_is_multiple(&nothing, 16), TRIBOOL_UNKNOWN);
    assert_int_equal(known_is_multiple(&zero, 1024), TRIBOOL_TRUE);
    IntDomain product = known_multiply(&nothing, &zero, 64);
    assert_true(product.exact);
}

static void wrapping_keeps_powers_of_two_only(void **state) {
    (void)state;
    IntDomain any = known_nothing(), by = known_exact(96);
    IntDomain product = known_multiply(&any, &by, 32);
    assert_int_equal(product.divisor, 32);
    assert_true(product.least == INT64_MIN && product.most == INT64_MAX);
    IntDomain few = known_between(0, 1000);
    product = known_multiply(&few, &by, 32);
    assert_int_equal(product.divisor, 96);
    assert_int_equal(product.most, 96000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_holds_for_every_value),
        cmocka_unit_test(a_multiple_and_a_constant_say_what_is_left),
        cmocka_unit_test(nothing_is_a_multiple_of_one),
        cmocka_unit_test(wrapping_keeps_powers_of_two_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
