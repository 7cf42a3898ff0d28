/* base/text: slices and buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/text.h"

/* ---- Slices ------------------------------------------------------------------------------------ */

static void compares_slices(void **state) {
    (void)state;
    assert_true(str_equal(STR("abc"), str_of("abc")));
    assert_false(str_equal(STR("abc"), STR("abd")));
    assert_false(str_equal(STR("abc"), STR("ab")));
    assert_true(str_equal((Str){NULL, 0}, STR("")));
    assert_true(str_is(STR("tt.load"), "tt.load"));
    assert_false(str_is(STR("tt.load"), "tt.loa"));
    const char *text = "one two";
    assert_true(str_is(str_between(text + 4, text + 7), "two"));
}

static void looks_at_both_ends(void **state) {
    (void)state;
    assert_true(str_starts(STR("tt.load"), STR("tt.")));
    assert_true(str_starts(STR("tt."), STR("tt.")));
    assert_false(str_starts(STR("tt"), STR("tt.")));
    assert_true(str_ends(STR("a.mlir"), STR(".mlir")));
    assert_true(str_ends(STR(".mlir"), STR(".mlir")));
    assert_false(str_ends(STR("mlir"), STR(".mlir")));
    assert_true(str_ends(STR("any"), STR("")));
}

static void reads_whole_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"42", true, 42},
        {"007", true, 7},
        {"-1", true, -1},
        {"0x10", true, 16},
        {"0XfF", true, 255},
        {"-0x10", true, -16},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"0xFFFFFFFFFFFFFFFF", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"0x", false, 0},
        {"-0x", false, 0},
        {"12a", false, 0},
        {"1.0", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"+1", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        if (str_to_int(str_of(cases[i].text), &value) != cases[i].good || value != cases[i].value)
            fail_msg("\"%s\" gives %lld", cases[i].text, (long long)value);
    }
}

/* ---- Buffers ----------------------------------------------------------------------------------- */

static void grows(void **state) {
    (void)state;
    Text text = {0};
    for (int i = 0; i < 10000; i++)
        text_add(&text, "0123456789", 10);
    assert_false(text.failed);
    assert_int_equal(text.size, 100000);
    for (size_t i = 0; i < text.size; i++)
        assert_int_equal(text.data[i], '0' + i % 10);
    text_free(&text);
    assert_null(text.data);
}

static void adds_pieces_of_each_kind(void **state) {
    (void)state;
    Text text = {0};
    text_add(&text, "ab", 2);
    text_char(&text, '-');
    text_str(&text, STR("cd"));
    text_addf(&text, " %d %.*s", 7, 2, "efg");
    text_add(&text, NULL, 0);
    text_char(&text, 0);
    assert_string_equal(text.data, "ab-cd 7 ef");
    text_free(&text);
}

/* A formatted piece may be longer than what the buffer would have grown by. */
static void adds_long_formatted_pieces(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "%5000d", 1);
    assert_int_equal(text.size, 5000);
    assert_int_equal(text.data[4999], '1');
    text_free(&text);
}

/* Bytes of a file that could move a terminal's cursor do not reach it; tabs and UTF-8 do. */
static void plain_text_has_no_control_characters(void **state) {
    (void)state;
    Text text = {0};
    text_add_plain(&text, STR("a\x1b[31m\tb\r\n\x7f\x01 \xc3\xa9"));
    text_char(&text, 0);
    assert_string_equal(text.data, "a?[31m\tb???? \xc3\xa9");
    text_free(&text);
}

/* ---- Sinks ------------------------------------------------------------------------------------- */

typedef struct Pipe {
    Text got;
    int calls, most; /* it takes `most` calls */
} Pipe;

static bool drain(void *to, const char *data, size_t size) {
    Pipe *pipe = to;
    if (pipe->calls++ >= pipe->most)
        return false;
    text_add(&pipe->got, data, size);
    return true;
}

static void utf8_is_read_exactly(void **state) {
    (void)state;
    static const struct {
        Str text;
        size_t size;
        uint32_t character;
    } cases[] = {
        {STR("ab"), 1, 'a'},
        {STR("\xc2\x80"), 2, 0x80},
        {STR("\xc3\xa9x"), 2, 0xe9},
        {STR("\xe0\xa0\x80"), 3, 0x800},
        {STR("\xe2\x82\xac"), 3, 0x20ac},
        {STR("\xef\xbf\xbf"), 3, 0xffff},
        {STR("\xf0\x90\x80\x80"), 4, 0x10000},
        {STR("\xf4\x8f\xbf\xbf"), 4, 0x10ffff},
        {STR("\x80"), 0, 0},             /* starts nothing */
        {STR("\xff"), 0, 0},             /* nor this */
        {STR("\xe2\x82"), 0, 0},         /* cut off */
        {STR("\xe2\x82x"), 0, 0},        /* not continued */
        {STR("\xc0\xaf"), 0, 0},         /* overlong */
        {STR("\xe0\x9f\xbf"), 0, 0},     /* overlong */
        {STR("\xf0\x8f\xbf\xbf"), 0, 0}, /* overlong */
        {STR("\xed\xa0\x80"), 0, 0},     /* a surrogate */
        {STR("\xf4\x90\x80\x80"), 0, 0}, /* past the last */
        {STR("\xf8\x88\x80\x80"), 0, 0}, /* of five bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t character = 0;
        size_t size = utf8_size(cases[i].text, &character);
        if (size != cases[i].size || (size && character != cases[i].character))
            fail_msg("case %zu: %zu bytes, U+%04X", i, size, (unsigned)character);
    }
    assert_int_equal(utf8_count(STR("a\xc3\xa9\xe2\x82\xac")), 3);
    assert_int_equal(utf8_cut(STR("a\xc3\xa9"), 3).size, 3);
    assert_int_equal(utf8_cut(STR("a\xc3\xa9"), 2).size, 1);
    assert_true(utf8_deceives(0x1b) && utf8_deceives(0x85) && utf8_deceives(0x202e));
    assert_false(utf8_deceives('\n') || utf8_deceives('a') || utf8_deceives(0x20ac));
}

static void numbers_for_people(void **state) {
    (void)state;
    Text text = {0};
    text_number(&text, 0);
    text_char(&text, ' ');
    text_number(&text, 999);
    text_char(&text, ' ');
    text_number(&text, 1234567);
    text_char(&text, ' ');
    text_count(&text, 1, "byte");
    text_char(&text, ' ');
    text_count(&text, 1024, "byte");
    text_char(&text, ' ');
    text_number_of(&text, 1024, "launch");
    text_char(&text, 0);
    assert_string_equal(text.data, "0 999 1,234,567 1 byte 1024 bytes 1,024 launches");
    text_free(&text);
}

static void one_of_an_extent_is_singular(void **state) {
    (void)state;
    Text text = {0};
    text_extent(&text, "column", 0, 64);
    text_char(&text, ' ');
    text_extent(&text, "column", 64, 65);
    text_char(&text, ' ');
    text_extent(&text, "byte", 0, 1);
    text_char(&text, 0);
    assert_string_equal(text.data, "columns 0-63 column 64 byte 0");
    text_free(&text);
}

static void empties_itself_into_a_sink(void **state) {
    (void)state;
    Pipe pipe = {.most = 1000};
    Text text = {.sink = drain, .to = &pipe};
    for (int i = 0; i < 50000; i++)
        text_addf(&text, "%05d\n", i);
    assert_true(text.size < 50000 * 6);
    assert_true(pipe.calls > 1);
    assert_true(text_flush(&text));
    assert_int_equal(text.size, 0);
    assert_int_equal(pipe.got.size, 50000 * 6);
    for (int i = 0; i < 50000; i += 999)
        assert_int_equal(atoi(pipe.got.data + (size_t)i * 6), i);
    text_free(&text);
    text_free(&pipe.got);
}

static void takes_a_piece_larger_than_its_buffer(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *big = calloc(1, SIZE);
    assert_non_null(big);
    Pipe pipe = {.most = 1000};
    Text text = {.sink = drain, .to = &pipe};
    text_add(&text, "x", 1);
    text_add(&text, big, SIZE);
    assert_true(text_flush(&text));
    assert_int_equal(pipe.got.size, SIZE + 1);
    text_free(&text);
    text_free(&pipe.got);
    free(big);
}

/* The writer looks once, at the end: after the sink said no, nothing more is handed over. */
static void remembers_that_the_sink_failed(void **state) {
    (void)state;
    Pipe pipe = {.most = 1};
    Text text = {.sink = drain, .to = &pipe};
    for (int i = 0; i < 1000000; i++)
        text_add(&text, "0123456789", 10);
    assert_true(text.failed);
    assert_int_equal(pipe.calls, 2);
    assert_false(text_flush(&text));
    assert_int_equal(pipe.calls, 2);
    text_free(&text);
    text_free(&pipe.got);
}

static void flush_without_a_sink_keeps_the_text(void **state) {
    (void)state;
    Text text = {0};
    text_add(&text, "abc", 3);
    assert_true(text_flush(&text));
    assert_int_equal(text.size, 3);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_read_exactly),
        cmocka_unit_test(numbers_for_people),
        cmocka_unit_test(compares_slices),
        cmocka_unit_test(looks_at_both_ends),
        cmocka_unit_test(reads_whole_numbers),
        cmocka_unit_test(grows),
        cmocka_unit_test(adds_pieces_of_each_kind),
        cmocka_unit_test(adds_long_formatted_pieces),
        cmocka_unit_test(plain_text_has_no_control_characters),
        cmocka_unit_test(one_of_an_extent_is_singular),
        cmocka_unit_test(empties_itself_into_a_sink),
        cmocka_unit_test(takes_a_piece_larger_than_its_buffer),
        cmocka_unit_test(remembers_that_the_sink_failed),
        cmocka_unit_test(flush_without_a_sink_keeps_the_text),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
