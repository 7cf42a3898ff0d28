/* base/source: a text, and places in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/source.h"

static void copies_a_buffer(void **state) {
    (void)state;
    char buffer[] = "module";
    Source *source = source_copy("a.mlir", buffer, 6);
    assert_non_null(source);
    buffer[0] = 'x';
    assert_string_equal(source->name, "a.mlir");
    assert_int_equal(source->size, 6);
    assert_memory_equal(source->data, "module\0", 7); /* the reader needs the zero */
    source_free(source);
}

static void refuses_what_offsets_cannot_reach(void **state) {
    (void)state;
    assert_null(source_copy("huge", "", SOURCE_LARGEST + 1));
}

/* Lines and columns count from 1, columns in bytes; the end of a line belongs to it. */
static void finds_places(void **state) {
    (void)state;
    static const char text[] = "ab\n\ncd\xc3\xa9 f\r\nlast";
    static const struct {
        size_t offset;
        uint32_t line, column;
    } cases[] = {
        {0, 1, 1}, {1, 1, 2},  {2, 1, 3},  {3, 2, 1},  {4, 3, 1},  {6, 3, 3},
        {8, 3, 5}, {10, 3, 7}, {11, 3, 8}, {12, 4, 1}, {15, 4, 4}, {16, 4, 5}, /* the end of the text */
    };
    Source *source = source_copy("t", text, sizeof text - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Place place = source_place(source, cases[i].offset);
        if (place.line != cases[i].line || place.column != cases[i].column)
            fail_msg("offset %zu is at %u:%u", cases[i].offset, place.line, place.column);
    }
    source_free(source);
}

static void gives_lines_without_their_ends(void **state) {
    (void)state;
    static const char text[] = "first\r\n\nthird\rstill\nlast";
    Source *source = source_copy("t", text, sizeof text - 1);
    source_place(source, 0);
    assert_true(str_is(source_line(source, 1), "first"));
    assert_true(str_is(source_line(source, 2), ""));
    assert_true(str_is(source_line(source, 3), "third\rstill"));
    assert_true(str_is(source_line(source, 4), "last"));
    assert_true(str_is(source_line(source, 5), ""));
    assert_true(str_is(source_line(source, 0), ""));
    source_free(source);
}

static void empty_text_has_one_empty_line(void **state) {
    (void)state;
    Source *source = source_copy("t", NULL, 0);
    Place place = source_place(source, 0);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.column, 1);
    assert_true(str_is(source_line(source, 1), ""));
    source_free(source);
}

static void reads_a_file(void **state) {
    (void)state;
    char path[] = "/tmp/weir-source-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a\0b\n", 4), 4);
    close(fd);
    const char *problem = "";
    Source *source = source_read(path, &problem);
    unlink(path);
    assert_non_null(source);
    assert_null(problem);
    assert_string_equal(source->name, path);
    assert_int_equal(source->size, 4);
    assert_memory_equal(source->data, "a\0b\n\0", 5);
    source_free(source);
}

/* A pipe tells no size; "-" reads it to its end. */
static void reads_standard_input(void **state) {
    (void)state;
    enum { SIZE = 300000 };
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < SIZE; i++)
            if (write(ends[1], i % 2 ? "b" : "a", 1) != 1)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const char *problem = NULL;
    Source *source = source_read("-", &problem);
    dup2(saved, STDIN_FILENO);
    close(saved);
    waitpid(child, NULL, 0);
    assert_non_null(source);
    assert_string_equal(source->name, "<stdin>");
    assert_int_equal(source->size, SIZE);
    assert_memory_equal(source->data + SIZE - 2, "ab\0", 3);
    source_free(source);
}

static void says_why_a_file_cannot_be_read(void **state) {
    (void)state;
    static const struct {
        const char *path, *problem;
    } cases[] = {
        {"/nonexistent/file.mlir", "No such file or directory"},
        {"/", "it is a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *problem = NULL;
        assert_null(source_read(cases[i].path, &problem));
        assert_string_equal(problem, cases[i].problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_a_buffer),
        cmocka_unit_test(refuses_what_offsets_cannot_reach),
        cmocka_unit_test(finds_places),
        cmocka_unit_test(gives_lines_without_their_ends),
        cmocka_unit_test(empty_text_has_one_empty_line),
        cmocka_unit_test(reads_a_file),
        cmocka_unit_test(reads_standard_input),
        cmocka_unit_test(says_why_a_file_cannot_be_read),
    };
    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
