/* Slots and parities as counts: rings of every depth, staggered, inverted, and sequences that follow no count. */
#include "check/report/build/fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LENGTH = 40 };

/* What an op sees that starts at `start` and goes on by `stride`. */
static void make(Sighting *seen, uint32_t depth, uint32_t start, uint32_t stride, bool inverted) {
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t count = start + i * stride;
        seen[i] = (Sighting){count % depth, (uint8_t)((count / depth & 1) ^ inverted)};
    }
}

static void check_texts(const Fit *fit, const char *index, const char *phase) {
    Text text = {0};
    fit_print_index(fit, "accumCnt", &text);
    text_char(&text, 0);
    assert_string_equal(text.data, index);
    text.size = 0;
    fit_print_phase(fit, "accumCnt", &text);
    text_char(&text, 0);
    assert_string_equal(text.data, phase);
    text_free(&text);
}

static void every_ring_is_found(void **state) {
    (void)state;
    Sighting seen[LENGTH];
    for (uint32_t depth = 1; depth <= 9; depth++)
        for (uint32_t start = 0; start < depth; start++)
            for (uint32_t stride = 0; stride < 2 * depth; stride++)
                for (int inverted = 0; inverted < 2; inverted++) {
                    make(seen, depth, start, stride, inverted);
                    Fit fit = fit_sequence(seen, LENGTH, depth, true);
                    assert_true(fit.found);
                    assert_int_equal(fit.start, start);
                    assert_int_equal(fit.stride, stride);
                    assert_int_equal(fit.inverted, inverted);
                    assert_int_equal(fit.constant, stride == 0);
                }
}

static void one_wrong_sighting_is_no_fit(void **state) {
    (void)state;
    Sighting seen[LENGTH];
    for (uint32_t at = 2; at < LENGTH; at++) {
        make(seen, 3, 0, 1, false);
        seen[at].parity ^= 1;
        assert_false(fit_sequence(seen, LENGTH, 3, true).found);
        assert_true(fit_sequence(seen, LENGTH, 3, false).found);
        seen[at].slot = (seen[at].slot + 1) % 3;
        assert_false(fit_sequence(seen, LENGTH, 3, false).found);
    }
}

static void texts_are_those_of_people(void **state) {
    (void)state;
    Sighting seen[LENGTH];
    make(seen, 3, 0, 1, false);
    Fit fit = fit_sequence(seen, LENGTH, 3, true);
    check_texts(&fit, "accumCnt % 3", "(accumCnt / 3) & 1");
    make(seen, 3, 1, 2, true);
    fit = fit_sequence(seen, LENGTH, 3, true);
    check_texts(&fit, "(accumCnt + 1) % 3", "NOT (((accumCnt + 1) / 3) & 1)");
    make(seen, 1, 0, 1, false);
    fit = fit_sequence(seen, LENGTH, 1, true);
    check_texts(&fit, "0", "accumCnt & 1");
    make(seen, 2, 1, 0, true); /* slot 1, always parity 1 */
    fit = fit_sequence(seen, LENGTH, 2, true);
    check_texts(&fit, "1", "1");
    make(seen, 2, 1, 2, false); /* slot 1 alone, its parity changing */
    fit = fit_sequence(seen, LENGTH, 2, true);
    check_texts(&fit, "1", "accumCnt & 1");
}

static void little_says_little(void **state) {
    (void)state;
    Sighting one = {2, 1}, outside = {5, 0};
    Fit fit = fit_sequence(&one, 1, 3, true);
    assert_true(fit.found && fit.constant);
    check_texts(&fit, "2", "1");
    assert_false(fit_sequence(&one, 0, 3, true).found);
    assert_false(fit_sequence(&outside, 1, 3, true).found);
}

static void what_was_seen_is_shown(void **state) {
    (void)state;
    Sighting seen[LENGTH];
    Text text = {0};
    make(seen, 3, 0, 1, false);
    fit_print_seen(seen, LENGTH, false, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, "0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, ...");
    text.size = 0;
    fit_print_seen(seen, 4, true, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, "0, 0, 0, 1");
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ring_is_found),       cmocka_unit_test(one_wrong_sighting_is_no_fit),
        cmocka_unit_test(texts_are_those_of_people), cmocka_unit_test(little_says_little),
        cmocka_unit_test(what_was_seen_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
