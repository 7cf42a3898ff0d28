/* base/diagnostics: what is said, and the source line with a caret under the place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/diagnostics.h"

/* The excerpt for an error at `offset` of `text`; the caller frees it. */
static char *excerpt_of(const char *text, size_t offset) {
    Source *source = source_copy("t", text, strlen(text));
    Diagnostics diagnostics = {0};
    diagnostics_add(&diagnostics, SEVERITY_ERROR, source, offset, "wrong");
    assert_int_equal(diagnostics.count, 1);
    char *excerpt = strdup(diagnostics.items[0].excerpt);
    diagnostics_free(&diagnostics);
    source_free(source);
    return excerpt;
}

static void caret_stands_under_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        const char *excerpt;
    } cases[] = {
        {"abc def\n", 0,
         "    abc def\n"
         "    ^\n"},
        {"abc def\n", 4,
         "    abc def\n"
         "        ^\n"},
        {"abc\ndef\n", 5,
         "    def\n"
         "     ^\n"},
        /* At the end of a line, of the text, and of nothing. */
        {"abc\ndef\n", 3,
         "    abc\n"
         "       ^\n"},
        {"abc", 3,
         "    abc\n"
         "       ^\n"},
        {"", 0,
         "    \n"
         "    ^\n"},
        /* A tab stays a tab in both lines, so that they line up whatever its width. */
        {"\ta\tb c", 5,
         "    \ta\tb c\n"
         "    \t \t  ^\n"},
        /* A character of several bytes takes one column. */
        {"\xc3\xa9\xe2\x82\xac x", 6,
         "    \xc3\xa9\xe2\x82\xac x\n"
         "       ^\n"},
        /* What could move a terminal's cursor does not. */
        {"a\x1b[31mb\x01\x7f c\r\n", 10,
         "    a?[31mb?? c\n"
         "              ^\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *excerpt = excerpt_of(cases[i].text, cases[i].offset);
        assert_string_equal(excerpt, cases[i].excerpt);
        free(excerpt);
    }
}

/* Of a long line 120 bytes are shown, 80 of them before the place. */
static void long_lines_are_cut(void **state) {
    (void)state;
    enum { SIZE = 1000 };
    static const struct {
        size_t offset, from, to;
    } cases[] = {
        {0, 0, 120},
        {80, 0, 120},
        {81, 1, 121},
        {500, 420, 540},
        {SIZE - 40, SIZE - 120, SIZE},
        {SIZE, SIZE - 80, SIZE},
    };
    char line[SIZE + 1] = {0};
    for (int i = 0; i < SIZE; i++)
        line[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t from = cases[i].from, to = cases[i].to, offset = cases[i].offset;
        const char *before = from > 0 ? "..." : "", *after = to < SIZE ? "..." : "";
        Text expected = {0};
        text_addf(&expected, "    %s%.*s%s\n", before, (int)(to - from), line + from, after);
        text_addf(&expected, "    %*s^\n", (int)(strlen(before) + offset - from), "");
        text_char(&expected, 0);
        char *excerpt = excerpt_of(line, offset);
        assert_string_equal(excerpt, expected.data);
        free(excerpt);
        text_free(&expected);
    }
}

static void keeps_what_was_said_in_order(void **state) {
    (void)state;
    Source *source = source_copy("t", "a\nb\n", 4);
    Diagnostics diagnostics = {0};
    diagnostics_add(&diagnostics, SEVERITY_NOTE, source, 2, "number %d", 1);
    diagnostics_add(&diagnostics, SEVERITY_ERROR, source, 0, "'%s' is\nwrong\x1b", "x");
    assert_int_equal(diagnostics.count, 2);
    assert_int_equal(diagnostics.items[0].severity, SEVERITY_NOTE);
    assert_string_equal(diagnostics.items[0].message, "number 1");
    assert_int_equal(diagnostics.items[0].place.line, 2);
    assert_int_equal(diagnostics.items[0].place.column, 1);
    assert_int_equal(diagnostics.items[1].severity, SEVERITY_ERROR);
    assert_string_equal(diagnostics.items[1].message, "'x' is?wrong?"); /* it may quote the file */
    assert_int_equal(diagnostics.items[1].place.line, 1);
    diagnostics_free(&diagnostics);
    assert_int_equal(diagnostics.count, 0);
    source_free(source);
}

/* Fifty errors are kept, and fifty notes; all are counted. A warning counts as a note. */
static void keeps_fifty_of_each(void **state) {
    (void)state;
    Source *source = source_copy("t", "text", 4);
    Diagnostics diagnostics = {0};
    for (int i = 0; i < 60; i++) {
        diagnostics_add(&diagnostics, SEVERITY_ERROR, source, 0, "error %d", i);
        diagnostics_add(&diagnostics, i % 2 ? SEVERITY_WARNING : SEVERITY_NOTE, source, 0, "note %d", i);
    }
    diagnostics_add(&diagnostics, SEVERITY_ERROR, source, 0, "one more");
    assert_int_equal(diagnostics.count, 2 * DIAGNOSTICS_KEPT);
    assert_int_equal(diagnostics.errors, 61);
    assert_int_equal(diagnostics.notes, 60);
    assert_string_equal(diagnostics.items[0].message, "error 0");
    assert_string_equal(diagnostics.items[99].message, "note 49");
    diagnostics_free(&diagnostics);
    source_free(source);
}

static void renders_for_a_terminal(void **state) {
    (void)state;
    static const struct {
        Severity severity;
        bool color;
        const char *file, *rendered;
    } cases[] = {
        {SEVERITY_ERROR, false, "k.ttgir", "k.ttgir:2:3: error: not so\n    b c\n      ^\n"},
        {SEVERITY_WARNING, false, "k.ttgir", "k.ttgir:2:3: warning: not so\n    b c\n      ^\n"},
        {SEVERITY_NOTE, false,
         "a\x1b"
         "b",
         "a?b:2:3: note: not so\n    b c\n      ^\n"},
        {SEVERITY_ERROR, true, "k", "k:2:3: \033[1;31merror:\033[0m not so\n    b c\n      ^\n"},
        {SEVERITY_WARNING, true, "k", "k:2:3: \033[1;35mwarning:\033[0m not so\n    b c\n      ^\n"},
        {SEVERITY_NOTE, true, "k", "k:2:3: \033[1;36mnote:\033[0m not so\n    b c\n      ^\n"},
    };
    Source *source = source_copy("t", "a\nb c\n", 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Diagnostics diagnostics = {0};
        diagnostics_add(&diagnostics, cases[i].severity, source, 4, "not so");
        Text text = {0};
        diagnostic_render(&diagnostics.items[0], cases[i].file, cases[i].color, &text);
        text_char(&text, 0);
        assert_string_equal(text.data, cases[i].rendered);
        text_free(&text);
        diagnostics_free(&diagnostics);
    }
    source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caret_stands_under_the_place), cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(keeps_what_was_said_in_order), cmocka_unit_test(keeps_fifty_of_each),
        cmocka_unit_test(renders_for_a_terminal),
    };
    return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
