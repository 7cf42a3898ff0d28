/* render/ci/ci: SARIF, workflow commands, code quality, JUnit and Checkstyle, of verdicts with hostile texts, in parts,
 * and of too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "render/ci/ci.h"
#include "rendering.h"
#include "share.h"

static const CiFormat *const formats[] = {&ci_sarif, &ci_github, &ci_gitlab, &ci_junit, &ci_checkstyle};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Everything that is a control character, no UTF-8, or means something to one of the formats. */
static const char hostile[] = "a\x01\x1b[31m\r\n::error file=x::y%0A,:<&>\"']]>\\ \xff\xc3 \xef\xbf\xbe {0}[a](b)";

static int start(void **state) {
    return start_rendering(state, hostile, "k.ttgir", "module {\n}\n");
}

static void add_finding(Verdict *verdict) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_RACE_RAW;
    finding->space = "shared";
    finding->message = finding->why = finding->fix = finding->launch = finding->schedule = hostile;
    finding->fingerprint = verdict_text(verdict, "%016zx", verdict->finding_count);
    FindingPlace *places = finding_places(verdict, finding, 2);
    places[0] = (FindingPlace){hostile, hostile, hostile, hostile, hostile, 3, 4, 1, 1, NULL};
    places[1] = (FindingPlace){hostile, hostile, hostile, hostile, "", 0, 0, 2, 1, NULL};
}

static const char *finish(Fixture *fixture, Ci *ci) {
    ci_end(ci);
    text_char(&fixture->text, 0);
    assert_false(fixture->text.failed);
    return fixture->text.data;
}

static const char *written(Fixture *fixture, const CiFormat *format, const char *file, size_t kernels) {
    Ci ci;
    fixture->text.size = 0;
    ci_begin(&ci, format, &(CiOptions){.version = "1"}, &fixture->text);
    for (size_t i = 0; i < kernels; i++)
        ci_add(&ci, &(CiInput){file, fixture->source, &fixture->verdict, NULL});
    ci_error(&ci, file, hostile);
    return finish(fixture, &ci);
}

/* ---- Escapes ------------------------------------------------------------------------------------- */

static bool plain_utf8(const char *text, const char *allowed) {
    for (Str rest = str_of(text); rest.size;) {
        uint32_t character;
        size_t size = utf8_size(rest, &character);
        if (!size || (character < 0x20 && !strchr(allowed, (int)character)))
            return false;
        rest = (Str){rest.data + size, rest.size - size};
    }
    return true;
}

static void hostile_texts_stay_texts(void **state) {
    Fixture *fixture = *state;
    json_error_t error;
    add_finding(&fixture->verdict);
    verdict_incomplete(&fixture->verdict, hostile, 2, "%s", hostile);
    verdict_close(&fixture->verdict);

    json_t *sarif = json_loads(written(fixture, &ci_sarif, hostile, 1), 0, &error);
    assert_non_null(sarif);
    assert_true(plain_utf8(fixture->text.data, "\n"));
    json_t *results = json_object_get(json_array_get(json_object_get(sarif, "runs"), 0), "results");
    assert_int_equal(json_array_size(results), 1);
    json_decref(sarif);

    json_t *gitlab = json_loads(written(fixture, &ci_gitlab, hostile, 1), 0, &error);
    assert_int_equal(json_array_size(gitlab), 3);
    assert_true(plain_utf8(fixture->text.data, "\n"));
    json_decref(gitlab);

    const char *commands = written(fixture, &ci_github, hostile, 1);
    assert_true(plain_utf8(commands, "\n"));
    size_t lines = 0;
    for (const char *line = commands; *line; line = strchr(line, '\n') + 1, lines++)
        assert_int_equal(strncmp(line, "::", 2) == 0, lines < 3);
    assert_int_equal(lines, 4);
    assert_non_null(strstr(commands, "%250A%2C%3A<&>"));

    const char *xml = written(fixture, &ci_junit, hostile, 1);
    assert_true(plain_utf8(xml, "\n\t"));
    assert_null(strstr(xml, "\xef\xbf\xbe")); /* U+FFFE is no character of XML */
    assert_null(strstr(xml, "]]>"));
    assert_non_null(strstr(xml, "&lt;&amp;&gt;"));
    assert_non_null(strstr(xml, "tests=\"2\" failures=\"1\" errors=\"1\""));

    xml = written(fixture, &ci_checkstyle, hostile, 1);
    assert_true(plain_utf8(xml, "\n"));
    assert_null(strstr(xml, "\xef\xbf\xbe"));
    assert_non_null(strstr(xml, "&lt;&amp;&gt;&#34;"));
}

static void uris_are_encoded(void **state) {
    Fixture *fixture = *state;
    add_finding(&fixture->verdict);
    fixture->verdict.findings[0].places[0].file = "";
    verdict_close(&fixture->verdict);
    const char *text = written(fixture, &ci_sarif, "/none/a b%:\xff\n.ttgir", 1);
    assert_non_null(strstr(text, "\"uri\": \"file:///none/a%20b%25%3A%FF%0A.ttgir\"}"));
    text = written(fixture, &ci_sarif, "none/a,b.ttgir", 1);
    assert_non_null(strstr(text, "\"uri\": \"none/a%2Cb.ttgir\", \"uriBaseId\": \"SRCROOT\"}"));
}

/* ---- What led to a finding ------------------------------------------------------------------------- */

/* Agents are threads, that of the last step first; the order of all steps is kept. */
static void steps_become_a_flow(void **state) {
    static const char *const agents[] = {"b", "a", "c", "b", "a"};
    static const int orders[3][3] = {{2, 5, 0}, {1, 4, 0}, {3, 0, 0}};
    static const char *const ids[] = {"a", "b", "c"};
    Fixture *fixture = *state;
    FindingPlace steps[5];
    json_error_t error;
    add_finding(&fixture->verdict);
    for (size_t i = 0; i < 5; i++)
        steps[i] = (FindingPlace){"reads", agents[i], "op", hostile, "", 0, 0, (uint32_t)i + 1, 1, NULL};
    fixture->verdict.findings[0].steps = steps;
    fixture->verdict.findings[0].step_count = 5;
    add_finding(&fixture->verdict);
    verdict_close(&fixture->verdict);
    json_t *sarif = json_loads(written(fixture, &ci_sarif, "k.ttgir", 1), 0, &error);
    json_t *results = json_object_get(json_array_get(json_object_get(sarif, "runs"), 0), "results");
    assert_null(json_object_get(json_array_get(results, 1), "codeFlows"));
    json_t *flows = json_object_get(json_array_get(results, 0), "codeFlows");
    assert_int_equal(json_array_size(flows), 1);
    json_t *threads = json_object_get(json_array_get(flows, 0), "threadFlows");
    assert_int_equal(json_array_size(threads), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *thread = json_array_get(threads, i), *places = json_object_get(thread, "locations");
        assert_string_equal(json_string_value(json_object_get(thread, "id")), ids[i]);
        assert_int_equal(json_array_size(places), orders[i][1] ? 2 : 1);
        for (size_t k = 0; k < json_array_size(places); k++)
            assert_int_equal(json_integer_value(json_object_get(json_array_get(places, k), "executionOrder")),
                             orders[i][k]);
    }
    json_decref(sarif);
}

/* ---- What is told ---------------------------------------------------------------------------------- */

/* Nothing but what was looked at is clean: in no format may it look as if it were. */
static void what_is_incomplete_shows(void **state) {
    static const char *const signs[FORMATS] = {"\"kind\": \"open\"", "::warning ", "\"check_name\": \"incomplete\"",
                                               "<error type=\"incomplete\"", "source=\"weir.incomplete\""};
    Fixture *fixture = *state;
    for (size_t i = 0; i < FORMATS; i++)
        assert_null(strstr(written(fixture, formats[i], "k.ttgir", 1), signs[i]));
    verdict_incomplete(&fixture->verdict, "tt.odd", 2, "nobody knows what it does");
    verdict_close(&fixture->verdict);
    for (size_t i = 0; i < FORMATS; i++) {
        const char *text = written(fixture, formats[i], "k.ttgir", 1);
        assert_non_null(strstr(text, signs[i]));
        assert_non_null(strstr(text, "nobody knows what it does"));
    }
    assert_non_null(strstr(written(fixture, &ci_sarif, "k.ttgir", 1), "\"toolExecutionNotifications\": [\n"));
}

static void notes_are_no_failures(void **state) {
    Fixture *fixture = *state;
    add_finding(&fixture->verdict);
    fixture->verdict.findings[0].graded = true;
    fixture->verdict.findings[0].grade = SEVERITY_NOTE;
    verdict_close(&fixture->verdict);
    assert_non_null(strstr(written(fixture, &ci_junit, "k.ttgir", 1), "failures=\"0\""));
    assert_null(strstr(fixture->text.data, "<failure"));
    assert_non_null(strstr(written(fixture, &ci_github, "k.ttgir", 1), "::notice "));
    assert_non_null(strstr(written(fixture, &ci_gitlab, "k.ttgir", 1), "\"severity\": \"info\""));
    assert_non_null(strstr(written(fixture, &ci_checkstyle, "k.ttgir", 1), "severity=\"info\""));
    assert_non_null(strstr(written(fixture, &ci_sarif, "k.ttgir", 1), "\"level\": \"note\", \"message\""));
}

/* The one that made it: parts that are joined are the whole. */
static void parts_are_the_whole(void **state) {
    Fixture *fixture = *state;
    add_finding(&fixture->verdict);
    verdict_incomplete(&fixture->verdict, "tt.odd", 2, "nobody knows what it does");
    verdict_close(&fixture->verdict);
    for (size_t i = 0; i < FORMATS; i++) {
        char *whole = strdup(written(fixture, formats[i], "k.ttgir", 2));
        Ci ci, parts[3];
        Text texts[3] = {{0}, {0}, {0}};
        fixture->text.size = 0;
        ci_begin(&ci, formats[i], &(CiOptions){.version = "1"}, &fixture->text);
        for (size_t k = 0; k < 3; k++) {
            ci_begin_part(&parts[k], formats[i], &(CiOptions){.version = "1"}, &texts[k]);
            if (k < 2)
                ci_add(&parts[k], &(CiInput){"k.ttgir", fixture->source, &fixture->verdict, NULL});
            else
                ci_error(&parts[k], "k.ttgir", hostile);
            ci_join(&ci, &parts[k]);
            text_free(&texts[k]);
        }
        assert_string_equal(finish(fixture, &ci), whole);
        free(whole);
    }
}

static void no_more_results_than_are_taken(void **state) {
    if (share_of(100) < 100)
        skip(); /* it takes seconds, and only counts what the others write */
    Fixture *fixture = *state;
    json_error_t error;
    for (size_t i = 0; i < 100; i++)
        add_finding(&fixture->verdict);
    verdict_close(&fixture->verdict);
    json_t *sarif = json_loads(written(fixture, &ci_sarif, "k.ttgir", 251), 0, &error);
    json_t *run = json_array_get(json_object_get(sarif, "runs"), 0);
    assert_int_equal(json_array_size(json_object_get(run, "results")), 25000);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(run, "properties"), "leftOut")), 100);
    assert_non_null(strstr(fixture->text.data, "100 more results are omitted"));
    json_decref(sarif);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hostile_texts_stay_texts, start, stop_rendering),
        cmocka_unit_test_setup_teardown(steps_become_a_flow, start, stop_rendering),
        cmocka_unit_test_setup_teardown(uris_are_encoded, start, stop_rendering),
        cmocka_unit_test_setup_teardown(what_is_incomplete_shows, start, stop_rendering),
        cmocka_unit_test_setup_teardown(notes_are_no_failures, start, stop_rendering),
        cmocka_unit_test_setup_teardown(parts_are_the_whole, start, stop_rendering),
        cmocka_unit_test_setup_teardown(no_more_results_than_are_taken, start, stop_rendering),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
