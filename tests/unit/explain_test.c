/* Explanations: rows name facts that there are, and what becomes of numbers and of circles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "check/explain/explain.h"

static Arena arena;
static Verdict verdict = {.arena = &arena};

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static void test_rows(void **state) {
    (void)state;
    const char *problem = explain_table_problem();
    assert_string_equal(problem ? problem : "", "");
}

static void test_numbers(void **state) {
    (void)state;
    const char *pattern = "{phases} phase{phases: is|s are} complete{detail}, by {agent}";
    Facts facts = {.agent = "default", .phases = 1};
    assert_string_equal(explain_text(&verdict, pattern, &facts), "1 phase is complete, by partition 'default'");
    facts.phases = 3;
    facts.detail = " {agent}"; /* which is a text, and no pattern */
    assert_string_equal(explain_text(&verdict, pattern, &facts), "3 phases are complete {agent}, by partition "
                                                                 "'default'");
}

static void test_states(void **state) {
    (void)state;
    Facts facts = {.phases = 2, .count = 1, .pending = 0, .bytes = -16};
    assert_string_equal(explain_phase(&verdict, &facts),
                        "phase 2 is not complete (0 of 1 arrival pending, 16 bytes too many)");
    facts.count = 32;
    facts.bytes = 0;
    assert_string_equal(explain_phase(&verdict, &facts), "phase 2 is not complete (0 of 32 arrivals pending)");
}

/* A cause of both languages has the fix of each. */
static void test_languages(void **state) {
    (void)state;
    Finding tile = {0}, simt = {0};
    Facts facts = {.agent = "threads 0-31", .waits = "wait", .object = "full", .other = "thread 32", .phases = 1};
    explain(&verdict, &tile, CAUSE_EXITED, &facts);
    facts.ptx = true;
    explain(&verdict, &simt, CAUSE_EXITED, &facts);
    assert_string_equal(tile.message, "threads 0-31 wait forever on full: thread 32, which arrives on it, has "
                                      "exited");
    assert_string_equal(tile.message, simt.message);
    assert_string_not_equal(tile.fix, simt.fix);
}

static void test_circle(void **state) {
    (void)state;
    Facts facts = {.object = "%empty[0]", .phases = 1};
    const WaitLink links[] = {
        {.agent = "default", .place = "IR line 60", .object = "%full[1]", .wait = "IR line 54", .its = "its"},
        {.agent = "partition0", .place = "IR line 109", .closes = true}};
    assert_string_equal(
        explain_circle(&verdict, &facts, links, 2),
        "Phase 1 of %empty[0] would be completed by partition 'default' at IR line 60, after its wait on %full[1] "
        "at IR line 54; that would be completed by partition0 at IR line 109, after this wait.");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_states), cmocka_unit_test(test_languages),
                                       cmocka_unit_test(test_circle)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
