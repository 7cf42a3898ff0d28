/* render/table: columns that shrink, wrap and never lose anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "render/table.h"

static const TableColumn two[] = {{"name", IS_WORDS, false}, {"what it is", IS_WORDS, false}};
static const TableColumn numbers[] = {{"name", IS_WORDS, false}, {"n", IS_NUMBER, false}, {"more", IS_WORDS, true}};

/* Cells are given row by row, up to NULL. */
static void expect_table(const TableColumn *columns, size_t count, Style style, const char *const *cells,
                         const char *expected) {
    Table table = table_begin(columns, count);
    for (size_t i = 0; cells[i]; i++)
        text_addf(table_cell(&table, strstr(cells[i], "BAD") ? TONE_BAD : TONE_PLAIN), "%s", cells[i]);
    Text to = {0};
    table_print(&table, style, 2, &to);
    text_char(&to, 0);
    assert_string_equal(to.data, expected);
    text_free(&to);
    table_free(&table);
}
#define EXPECT_TABLE(columns, width, expected, ...)                                   \
    expect_table(columns, sizeof(columns) / sizeof *(columns), (Style){false, width}, \
                 (const char *const[]){__VA_ARGS__, NULL}, expected)

/* ---- Tables ------------------------------------------------------------------------------------ */

static void stands_in_columns(void **state) {
    (void)state;
    EXPECT_TABLE(two, 0,
                 "  name   what it is\n"
                 "  -----  ----------------\n"
                 "  full   the forward one\n"
                 "  empty  and the backward\n",
                 "full", "the forward one", "empty", "and the backward");
}

static void puts_numbers_right_and_leaves_out_empty_columns(void **state) {
    (void)state;
    EXPECT_TABLE(numbers, 80,
                 "  name   n\n"
                 "  ----  --\n"
                 "  a      7\n"
                 "  b     42\n",
                 "a", "7", "", "b", "42", "");
    EXPECT_TABLE(numbers, 80,
                 "  name   n  more\n"
                 "  ----  --  ----\n"
                 "  a      7\n"
                 "  b     42  c\n",
                 "a", "7", "", "b", "42", "c");
}

static void wraps_the_widest_column(void **state) {
    (void)state;
    EXPECT_TABLE(two, 26,
                 "  name   what it is\n"
                 "  -----  -----------------\n"
                 "  full   data is ready for\n"
                 "         who waits\n"
                 "  empty  free\n",
                 "full", "data is ready for who waits", "empty", "free");
}

static void breaks_words_that_are_too_long(void **state) {
    (void)state;
    EXPECT_TABLE(two, 28,
                 "  name          what it is\n"
                 "  ------------  ------------\n"
                 "  async_tma_    abcdefghijkl\n"
                 "  copy_global_  mnopqrstuvwx\n"
                 "  to_local      yz\n",
                 "async_tma_copy_global_to_local", "abcdefghijklmnopqrstuvwxyz");
}

static void becomes_paragraphs_where_it_cannot_fit(void **state) {
    (void)state;
    static const TableColumn wide[] = {{"a", IS_WORDS, false},
                                       {"bb", IS_WORDS, false},
                                       {"c", IS_WORDS, true},
                                       {"d", IS_WORDS, true},
                                       {"e", IS_WORDS, true}};
    EXPECT_TABLE(wide, 40,
                 "  a   abcdefghijklmnopqrstuvwxyz\n"
                 "  bb  abcdefghijklmnopqrstuvwxyzabcdefgh\n"
                 "      ijklmnopqrstuvwxyz\n"
                 "  c   three\n"
                 "  d   abcdefghijklm\n"
                 "      and more\n"
                 "\n"
                 "  a   two\n"
                 "  d   abcdefghijklm\n",
                 "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "three",
                 "abcdefghijklm\nand more", "", "two", "", "", "abcdefghijklm", "");
}

static void breaks_lines_where_a_cell_says_so(void **state) {
    (void)state;
    EXPECT_TABLE(two, 0,
                 "  name  what it is\n"
                 "  ----  ----------\n"
                 "  a     one\n"
                 "        two\n",
                 "a", "one\ntwo");
}

static void prints_nothing_without_rows(void **state) {
    (void)state;
    Table table = table_begin(two, 2);
    Text to = {0};
    table_print(&table, (Style){.width = 80}, 2, &to);
    assert_int_equal(to.size, 0);
    assert_int_equal(table_rows(&table), 0);
    assert_true(table_shows(&table, 0));
    table_free(&table);
}

static void measures_what_a_terminal_shows(void **state) {
    (void)state;
    assert_int_equal(text_width(STR("✓ ordered")), 9);
    assert_int_equal(text_width(STR("é")), 1);
    assert_int_equal(text_width(STR("e\u0301")), 1);
    assert_int_equal(text_width(STR("核")), 2);
    assert_int_equal(text_width(STR("\xff\x1b[")), 3);
    assert_int_equal(text_width(STR("\xc2\x9b")), 2); /* a control of Latin-1: '?' twice */
    EXPECT_TABLE(two, 0,
                 "  name       what it is\n"
                 "  ---------  ----------\n"
                 "  ✓ ordered  核 one\n"
                 "  ✗ MISSING  ?[31m two\n"
                 "  ???        a b\n",
                 "✓ ordered", "核 one", "✗ MISSING", "\033[31m two", "\xff\xfe\xc2", "a\tb");
}

static void has_colors_if_asked(void **state) {
    (void)state;
    expect_table(two, 2, (Style){true, 0}, (const char *const[]){"a", "BAD", NULL},
                 "  \033[1mname\033[0m  \033[1mwhat it is\033[0m\n"
                 "  ----  ----------\n"
                 "  a     \033[1;31mBAD\033[0m\n");
}

/* Whatever the width, every character of every cell is there, and no line is wider than it should be. */
static void loses_nothing(void **state) {
    (void)state;
    static const char *const cells[] = {"a_long_name_of_a_barrier", "a sentence about it, with words of many sizes",
                                        "x", "averyveryveryverylongwordthathasnoplacetobreakit and more"};
    for (unsigned width = 24; width < 120; width++) {
        Table table = table_begin(two, 2);
        for (size_t i = 0; i < 4; i++)
            text_addf(table_cell(&table, TONE_PLAIN), "%s", cells[i]);
        Text to = {0};
        table_print(&table, (Style){.width = width}, 0, &to);
        size_t letters = 0, expected = 0;
        for (size_t i = 0, line = 0; i < to.size; i++) {
            line = to.data[i] == '\n' ? 0 : line + 1;
            assert_true(line <= width);
            letters += to.data[i] == 'e';
        }
        for (size_t i = 0; i < 4; i++)
            for (const char *at = cells[i]; *at; at++)
                expected += *at == 'e';
        assert_int_equal(letters, expected + 1); /* "name" */
        text_free(&to);
        table_free(&table);
    }
}

/* ---- Paragraphs -------------------------------------------------------------------------------- */

static void expect_wrapped(const char *text, unsigned width, size_t used, const char *prefix, const char *expected) {
    Text to = {0};
    text_wrapped(&to, (Style){.width = width}, TONE_PLAIN, str_of(text), used, prefix);
    text_char(&to, 0);
    assert_string_equal(to.data, expected);
    text_free(&to);
}

static void wraps_paragraphs(void **state) {
    (void)state;
    expect_wrapped("one line", 80, 0, "", "one line\n");
    expect_wrapped("", 80, 0, "", "\n");
    expect_wrapped("as wide as need be, with width 0", 0, 10, "| ", "as wide as need be, with width 0\n");
    expect_wrapped("the words go on below, behind what is put there", 30, 4, "  | ",
                   "the words go on below,\n  | behind what is put there\n");
    expect_wrapped("a line\nand another", 80, 0, "  ", "a line\n  and another\n");
    expect_wrapped("never less than a few columns", 5, 4, "    ", "never less than a\n    few columns\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_in_columns),
        cmocka_unit_test(puts_numbers_right_and_leaves_out_empty_columns),
        cmocka_unit_test(wraps_the_widest_column),
        cmocka_unit_test(breaks_words_that_are_too_long),
        cmocka_unit_test(becomes_paragraphs_where_it_cannot_fit),
        cmocka_unit_test(breaks_lines_where_a_cell_says_so),
        cmocka_unit_test(prints_nothing_without_rows),
        cmocka_unit_test(measures_what_a_terminal_shows),
        cmocka_unit_test(has_colors_if_asked),
        cmocka_unit_test(loses_nothing),
        cmocka_unit_test(wraps_paragraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
