/* check/explain/source_lines: texts of findings name the lines that people wrote. */
#include "reading.h"

#include "check/explain/source_lines.h"

/* Lines 2 and 3 have one source line, 4 another, 5 one of another file, 6 none. */
static const char module_text[] = "module {\n"
                                  "  %a = arith.constant 1 : i32 loc(\"/home/me/rings.py\":86:4)\n"
                                  "  %b = arith.constant 2 : i32 loc(\"/home/me/rings.py\":86:9)\n"
                                  "  %c = arith.constant 3 : i32 loc(\"x\"(\"/home/me/rings.py\":16:4))\n"
                                  "  %d = arith.constant 4 : i32 loc(\"tiles.py\":7:1)\n"
                                  "  %e = arith.constant 5 : i32 loc(unknown)\n"
                                  "}\n";

static void assert_text(const char *text, const char *expected) {
    Reading *reading = read_text(module_text);
    assert_true(reading->ok);
    Verdict verdict = {.arena = &reading->module.arena};
    Finding *finding = verdict_finding(&verdict);
    finding->message = text;
    finding->why = finding->fix = finding->schedule = "";
    verdict_name_source(&verdict, &reading->module);
    assert_string_equal(verdict.findings[0].message, expected);
    done(reading);
}

static void the_source_comes_first(void **state) {
    (void)state;
    assert_text("the wait at IR line 4, too early", "the wait at rings.py:16 (IR line 4), too early");
    assert_text("IR line 5", "tiles.py:7 (IR line 5)");
}

static void the_ir_is_named_once(void **state) {
    (void)state;
    assert_text("IR line 4, then IR line 5, then IR line 4",
                "rings.py:16 (IR line 4), then tiles.py:7 (IR line 5), then rings.py:16");
}

static void two_lines_of_one_source_line_are_told_apart(void **state) {
    (void)state;
    assert_text("IR line 2 and IR line 3 and IR line 2",
                "rings.py:86 (IR line 2) and rings.py:86 (IR line 3) and rings.py:86 (IR line 2)");
}

static void others_stay(void **state) {
    (void)state;
    assert_text("IR line 6", "IR line 6");
    assert_text("IR line 99 and IR line x", "IR line 99 and IR line x");
    assert_text("IR line 4 of producer", "IR line 4 of producer");
    assert_text("IR line ", "IR line ");
    assert_text("", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_comes_first),
        cmocka_unit_test(the_ir_is_named_once),
        cmocka_unit_test(two_lines_of_one_source_line_are_told_apart),
        cmocka_unit_test(others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
