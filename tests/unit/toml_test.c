/* config/toml: what is read, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/toml.h"

/* A value as JSON, so that a test shows all of it. */
static void write_value(const TomlValue *value, Text *to) {
    const char *separator = "";
    switch (value->kind) {
    case TOML_STRING:
        text_addf(to, "\"%.*s\"", (int)value->text.size, value->text.data);
        break;
    case TOML_INTEGER:
        text_addf(to, "%lld", (long long)value->integer);
        break;
    case TOML_BOOLEAN:
        text_addf(to, value->truth ? "true" : "false");
        break;
    case TOML_ARRAY:
    case TOML_TABLE:
        text_addf(to, value->kind == TOML_ARRAY ? "[" : "{");
        for (const TomlEntry *entry = value->first; entry; entry = entry->next, separator = ", ") {
            text_addf(to, "%s", separator);
            if (value->kind == TOML_TABLE)
                text_addf(to, "%.*s: ", (int)entry->key.size, entry->key.data);
            write_value(&entry->value, to);
        }
        text_addf(to, value->kind == TOML_ARRAY ? "]" : "}");
        break;
    }
}

/* What the text comes to: its value, or "LINE:COLUMN: message". */
static char *read_text(const char *data, size_t size) {
    Source *source = source_copy("weir.toml", data, size);
    Diagnostics diagnostics = {0};
    Arena arena;
    Text out = {0};
    arena_init(&arena, 64 << 20);
    const TomlValue *root = toml_read(&arena, source, &diagnostics);
    assert_int_equal(diagnostics.errors, root ? 0 : 1);
    if (root)
        write_value(root, &out);
    else
        text_addf(&out, "%u:%u: %s", diagnostics.items[0].place.line, diagnostics.items[0].place.column,
                  diagnostics.items[0].message);
    text_char(&out, 0);
    diagnostics_free(&diagnostics);
    source_free(source);
    arena_free(&arena);
    return out.data;
}

typedef struct Case {
    const char *text, *expected;
} Case;

static void compare(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *is = read_text(cases[i].text, strlen(cases[i].text));
        if (strcmp(is, cases[i].expected) != 0)
            fail_msg("%s\nis %s\nnot %s", cases[i].text, is, cases[i].expected);
        free(is);
    }
}

#define COMPARE(cases) compare(cases, sizeof cases / sizeof *cases)

static void reads_values(void **state) {
    (void)state;
    static const Case cases[] = {
        {"", "{}"},
        {"# nothing\n\n  \t\n", "{}"},
        {"a = 1", "{a: 1}"},
        {"a=1 # one\r\nb = -2\n", "{a: 1, b: -2}"},
        {"a = +1_000\nb = 0x_f", "2:7: '_' must be between two digits of a number"},
        {"a = +1_000\nb = 0xfF\nc = 0o17\nd = 0b101\ne = 0\nf = -0", "{a: 1000, b: 255, c: 15, d: 5, e: 0, f: 0}"},
        {"a = 9223372036854775807\nb = -9223372036854775808", "{a: 9223372036854775807, b: -9223372036854775808}"},
        {"a = true\nb = false", "{a: true, b: false}"},
        {"a = \"x\\ty\\\"\\\\\\u00e9\\U0001F600\"", "{a: \"x\ty\"\\\xc3\xa9\xf0\x9f\x98\x80\"}"},
        {"a = 'C:\\x'\nb = ''", "{a: \"C:\\x\", b: \"\"}"},
        {"a = \"\"\"\none\r\ntwo \\\n   \n  three\"\"\"", "{a: \"one\ntwo three\"}"},
        {"a = \"\"\"\"\"quoted\"\"\"\"\"", "{a: \"\"\"quoted\"\"\"}"},
        {"a = '''\na\\\n'b'''", "{a: \"a\\\n'b\"}"},
        {"a = []\nb = [1, 'x', [true], ]", "{a: [], b: [1, \"x\", [true]]}"},
        {"a = [ # list\n 1,\n # two\n 2\n]\n", "{a: [1, 2]}"},
        {"a = {}\nb = {c = 1, d.e = 'f'}", "{a: {}, b: {c: 1, d: {e: \"f\"}}}"},
    };
    COMPARE(cases);
}

static void reads_tables(void **state) {
    (void)state;
    static const Case cases[] = {
        {"[a]\nb = 1\n[c]\nd = 2", "{a: {b: 1}, c: {d: 2}}"},
        {"[a.b]\nc = 1\n[a]\nd = 2", "{a: {b: {c: 1}, d: 2}}"},
        {"[ a . 'b c' ] # x\nd = 1", "{a: {b c: {d: 1}}}"},
        {"a.b = 1\na.c = 2", "{a: {b: 1, c: 2}}"},
        {"[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3", "{a: [{b: 1}, {b: 2, c: {d: 3}}]}"},
        {"[a]\nb.c = 1\n[a.b.d]\ne = 2", "{a: {b: {c: 1, d: {e: 2}}}}"},
        {"\"race.war\" = 1\n1-2_x = 3", "{race.war: 1, 1-2_x: 3}"},
    };
    COMPARE(cases);
}

static void refuses(void **state) {
    (void)state;
    static const Case cases[] = {
        {"a", "1:2: '=' is expected after a key"},
        {"= 1", "1:1: a key is expected here: letters, digits, '_' and '-', or a string"},
        {"a = ", "1:5: a value is expected here"},
        {"a = yes", "1:5: 'yes' is not a value: a string needs quotes, and true and false are lowercase"},
        {"a = True", "1:5: 'True' is not a value: a string needs quotes, and true and false are lowercase"},
        {"a = 1 2", "1:7: a line must end after a value"},
        {"a = 1 b = 2", "1:7: a line must end after a value"},
        {"[a] b = 1", "1:5: a line must end after a header"},
        {"a = 1.5", "1:5: floating-point numbers, dates and times are not accepted here"},
        {"a = 1e5", "1:5: floating-point numbers, dates and times are not accepted here"},
        {"a = 2026-01-01", "1:5: floating-point numbers, dates and times are not accepted here"},
        {"a = 07:32:00", "1:5: floating-point numbers, dates and times are not accepted here"},
        {"a = inf", "1:5: 'inf' is not a value: a string needs quotes, and true and false are lowercase"},
        {"a = 01", "1:5: a number must not start with 0"},
        {"a = 1__0", "1:7: '_' must be between two digits of a number"},
        {"a = 1_", "1:7: a digit is expected here"},
        {"a = 0x", "1:7: a digit is expected here"},
        {"a = 9223372036854775808", "1:5: this number does not fit in 64 bits"},
        {"a = -9223372036854775809", "1:6: this number does not fit in 64 bits"},
        {"a = 0xffffffffffffffffffff", "1:7: this number does not fit in 64 bits"},
        {"a = \"x", "1:5: this string does not end"},
        {"a = \"x\ny\"", "1:5: this string does not end"},
        {"a = '''x", "1:5: this string does not end"},
        {"a = \"\\x\"", "1:7: a backslash must be followed by b, t, n, f, r, \", \\, u or U; in '...' it is literal"},
        {"a = \"\\u12\"", "1:10: \\u takes 4 hexadecimal digits, and \\U takes 8"},
        {"a = \"\\ud800\"", "1:6: there is no such character"},
        {"a = \"\\U00110000\"", "1:6: there is no such character"},
        {"a = \"\\u0000\"", "1:6: a string may not hold a zero byte"},
        {"a = \"\"\"x\"\"\"\"\"\"", "1:9: there are too many quotes here"},
        {"a = [1 2]", "1:8: expected ',' or ']' in an array"},
        {"a = [1,", "1:8: a value is expected here"},
        {"a = {b = 1\n}", "1:11: an inline table must be on one line: expected ',' or '}'"},
        {"a = {b = 1,}", "1:12: a key is expected here: letters, digits, '_' and '-', or a string"},
        {"a = 1\na = 2", "2:1: 'a' is already defined"},
        {"[a]\n[a]", "2:2: 'a' is already defined"},
        {"a = 1\n[a]", "2:2: 'a' is already defined"},
        {"a = 1\n[a.b]", "2:2: 'a' is already defined, and cannot be extended by headers"},
        {"a = {}\n[a.b]", "2:2: 'a' is already defined, and cannot be extended by headers"},
        {"a = [{}]\n[[a]]", "2:3: 'a' is already defined, and is not an array of tables"},
        {"[a]\n[[a]]", "2:3: 'a' is already defined, and is not an array of tables"},
        {"a.b = 1\n[a]", "2:2: 'a' is already defined"},
        {"[a.b]\n[a]\nb.c = 1", "3:1: 'b' is already defined, and cannot be extended by dotted keys"},
        {"[a", "1:3: ']' is expected here"},
        {"[[a]", "1:4: ']]' is expected here"},
        {"[]", "1:2: a key is expected here: letters, digits, '_' and '-', or a string"},
        {"'''a''' = 1", "1:1: a key must be on one line"},
        {"a = 1 # \x01", "1:9: a control character is not allowed here"},
        {"a = 1\rb = 2", "1:6: a control character is not allowed here"},
        {"a = '\xff'", "1:6: this is not UTF-8"},
    };
    COMPARE(cases);
    char *is = read_text("a = 1\0b", 7);
    assert_string_equal(is, "1:6: a control character is not allowed here");
    free(is);
}

/* What is nested without end, or has no end of members, is refused before it takes much. */
static void bounds_what_it_takes(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "a = ");
    for (int i = 0; i < 100000; i++)
        text_char(&text, '[');
    char *is = read_text(text.data, text.size);
    assert_string_equal(is, "1:37: this is nested more than 32 deep");
    free(is);
    text.size = 0;
    for (int i = 0; i < 20000; i++)
        text_addf(&text, "k%d = 0\n", i);
    is = read_text(text.data, text.size);
    assert_string_equal(is, "10001:1: there are more than 10000 values");
    free(is);
    text.size = 0;
    text_addf(&text, "[a");
    for (int i = 0; i < 1000; i++)
        text_addf(&text, ".a");
    is = read_text(text.data, text.size);
    assert_string_equal(is, "1:65: this is nested more than 32 deep");
    free(is);
    text.size = 0;
    while (text.size <= TOML_LARGEST)
        text_addf(&text, "# a comment that is of no interest to anybody\n");
    is = read_text(text.data, text.size);
    assert_string_equal(is, "1:1: a project file has at most 1048576 bytes");
    free(is);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_values),
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(refuses),
        cmocka_unit_test(bounds_what_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
