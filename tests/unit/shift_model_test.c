/* check/prove/shift: what it says of a family of numbers, held against the numbers. */
#include "reading.h"

#include "check/prove/shift.h"
#include "model/number/value.h"

enum { ROUNDS = 400000, MEMBERS = 24, WIDTH = 64 };

static uint64_t random_state = 0x2545f4914f6cdd1d;

static int64_t random_below(int64_t most) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int64_t)(random_state % (uint64_t)most);
}

/* Small numbers, and multiples of small ones. */
static int64_t random_number(void) {
    return random_below(4) ? random_below(40) - 8 : random_below(20) * 12;
}

static int64_t number_at(int64_t value, Shift shift, int64_t n) {
    return value + n * shift.by;
}

/* Whether what was said of the result holds for member n, where its operands have those values. */
static bool holds(Shift of, int64_t here, int64_t there, int64_t n) {
    if (of.kind == SHIFT_LOOSE || (of.ends && n >= of.ends))
        return true;
    if (of.kind == SHIFT_EXACT)
        return there == here + n * of.by;
    return there >= here && (of.by ? (there - here) % of.by == 0 : there == here);
}

static void results_are_as_shifts_say(void **state) {
    (void)state;
    static const Evaluator codes[] = {
        EVALUATE_ADD,
        EVALUATE_SUBTRACT,
        EVALUATE_MULTIPLY,
        EVALUATE_DIVIDE_SIGNED,
        EVALUATE_AND,
        EVALUATE_DIVIDE_UNSIGNED,
        EVALUATE_REMAINDER_SIGNED,
        EVALUATE_REMAINDER_UNSIGNED,
        EVALUATE_OR,
        EVALUATE_XOR,
        EVALUATE_SHIFT_LEFT,
        EVALUATE_SHIFT_RIGHT_SIGNED,
        EVALUATE_COMPARE,
        EVALUATE_DIVIDE_CEIL_SIGNED,
        EVALUATE_MINIMUM_SIGNED,
        EVALUATE_MAXIMUM_SIGNED,
        EVALUATE_SIGN_EXTEND,
        EVALUATE_DIVIDE_FLOOR_SIGNED,
        EVALUATE_SHIFT_RIGHT_UNSIGNED,
        EVALUATE_ZERO_EXTEND,
    };
    uint64_t exact = 0;
    for (int round = 0; round < ROUNDS; round++) {
        ShiftLanes lanes = {.count = 1, .limits = {SHIFT_NO_LIMIT}};
        Evaluator code = codes[random_below(sizeof codes / sizeof *codes)];
        int64_t values[3] = {random_number(), random_number(), 0}, attribute = random_below(10), here, there = 0;
        Shifts shifts[3] = {{{{0}}}};
        const Shifts *const of[3] = {&shifts[0], &shifts[1], &shifts[2]};
        for (int i = 0; i < 2; i++)
            shifts[i].lanes[0].by = random_below(2) ? random_number() : 0;
        if (!evaluate_integers(code, WIDTH, WIDTH, attribute, values[0], values[1], 0, &here))
            continue;
        Shift result = shifts_evaluate(&lanes, code, WIDTH, attribute, values, of, 2).lanes[0];
        exact += result.kind != SHIFT_LOOSE && !result.ends;
        for (int64_t n = 0; n < MEMBERS; n++) {
            int64_t x = number_at(values[0], shifts[0].lanes[0], n), y = number_at(values[1], shifts[1].lanes[0], n);
            bool known = evaluate_integers(code, WIDTH, WIDTH, attribute, x, y, 0, &there);
            bool right =
                known ? holds(result, here, there, n) : result.kind == SHIFT_LOOSE || (result.ends && n >= result.ends);
            if (!right)
                print_error("code %d: %lld + %lld n, %lld + %lld n, attribute %lld: %lld + %lld n, but %lld for %lld\n",
                            (int)code, (long long)values[0], (long long)shifts[0].lanes[0].by, (long long)values[1],
                            (long long)shifts[1].lanes[0].by, (long long)attribute, (long long)here,
                            (long long)result.by, (long long)there, (long long)n);
            assert_true(right);
        }
    }
    assert_true(exact > ROUNDS / 8);
}

static void decisions_end_lanes(void **state) {
    (void)state;
    ShiftLanes lanes = {.count = 2, .limits = {SHIFT_NO_LIMIT, SHIFT_NO_LIMIT}};
    Shifts still = {0}, moves = {{{.by = 2}, {.by = 1}}};
    shifts_compare(&lanes, COMPARE_SLT, 3, &still, 5, &moves); /* 3 < 5 + 2 n */
    assert_true(lanes.limits[0] == SHIFT_NO_LIMIT && lanes.limits[1] == SHIFT_NO_LIMIT);
    shifts_decide(&lanes, &moves, true); /* the parity of 2 n */
    assert_true(lanes.limits[0] == SHIFT_NO_LIMIT);
    assert_int_equal(lanes.limits[1], 0);
    shifts_compare(&lanes, COMPARE_SLT, 9, &still, 5, &moves); /* 9 < 5 + 2 n from 3 on */
    assert_int_equal(lanes.limits[0], 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_as_shifts_say),
        cmocka_unit_test(decisions_end_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
