/* base/requirement: which texts are requirements, what they come to, and what is wrong with the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/requirement.h"

/* n is 100, m is 64, a has the shape 8x16, the strides 16 and 1, and 128 elements; the grid is 4x2x1, the block 32x1x1.
 */
static bool look_up(const void *context, const RequiredTerm *name, int64_t *value) {
    static const int64_t shape[] = {8, 16}, strides[] = {16, 1}, grid[] = {4, 2, 1}, block[] = {32, 1, 1};
    (void)context;
    if (name->kind == TERM_GRID || name->kind == TERM_BLOCK) {
        *value = (name->kind == TERM_GRID ? grid : block)[name->axis];
        return true;
    }
    bool tensor = str_is(name->name, "a") && name->axis < 2;
    if (name->kind == TERM_ARGUMENT)
        *value = str_is(name->name, "n") ? 100 : 64;
    else if (name->kind == TERM_SIZE)
        *value = 128;
    else
        *value = (name->kind == TERM_SHAPE ? shape : strides)[name->axis % 2];
    return name->kind == TERM_ARGUMENT ? str_is(name->name, "n") || str_is(name->name, "m") : tensor;
}

/* "true", "false", "not known", or "COLUMN: what is wrong". */
static const char *outcome(Arena *arena, const char *text, char room[200]) {
    Requirement requirement;
    size_t at;
    bool holds;
    const char *problem = requirement_read(arena, str_of(text), &requirement, &at);
    assert_true(at <= strlen(text));
    if (problem)
        snprintf(room, 200, "%zu: %s", at + 1, problem);
    else if (!requirement_value(&requirement, look_up, NULL, &holds))
        snprintf(room, 200, "not known");
    else
        snprintf(room, 200, holds ? "true" : "false");
    return room;
}

static const struct {
    const char *text, *expected;
} cases[] = {
    {"n == 100", "true"},
    {"  n==100  ", "true"},
    {"n % 64 == 36", "true"},
    {"n // 64 == 1", "true"},
    {"n / 64 == 1", "true"},
    {"-n // 64 == -2", "true"},
    {"-n % 64 == 28", "true"},
    {"n % -64 == -28", "true"},
    {"n - 1 - 1 == 98", "true"},
    {"n - (1 - 1) == 100", "true"},
    {"2 + 3 * n == 302", "true"},
    {"(2 + 3) * n == 500", "true"},
    {"100 // 3 // 2 == 16", "true"},
    {"n != m", "true"},
    {"n < m", "false"},
    {"n <= 100", "true"},
    {"n > 100", "false"},
    {"n >= 100", "true"},
    {"min(n, m) == 64", "true"},
    {"max(n, m) == n", "true"},
    {"min (n, max(m, 80)) == 80", "true"},
    {"--n == n", "true"},
    {"grid.x == 4", "true"},
    {"grid . y * grid.z == 2", "true"},
    {"block.x % 32 == 0", "true"},
    {"a.shape[1] == a.strides[0]", "true"},
    {"size of a >= (a.shape[0] - 1) * a.strides[0] + a.shape[1]", "true"},
    {"size of a > 128", "false"},
    {"a.shape[2] == 1", "not known"},
    {"other == 1", "not known"},
    {"n % (m - 64) == 0", "not known"},
    {"n * 100000000000000 * 100000000000000 > 0", "not known"},
    {"strides of a nest", "not known"},
    {"min == 3", "not known"},
    {"size > 0", "not known"},
    {"grid > 0", "not known"},
    {"n", "2: a comparison is expected here: ==, !=, <, <=, > or >="},
    {"n = 1", "3: two numbers are compared with '=='"},
    {"n == ", "6: a number, the name of an argument, or '(' is expected here"},
    {"== n", "1: a number, the name of an argument, or '(' is expected here"},
    {"(n == 1", "4: ')' is expected here"},
    {"(n + 1 > 2", "8: ')' is expected here"},
    {"n == 1)", "7: nothing is expected behind the comparison"},
    {"1 < n < 9", "7: there is one comparison in each: make two of this"},
    {"n > 1 and m > 1", "7: there is one comparison in each: make two of this"},
    {"n > 1 && m > 1", "7: there is one comparison in each: make two of this"},
    {"n >> 1 == 0", "4: a number, the name of an argument, or '(' is expected here"},
    {"n == 0x10", "7: numbers are whole ones, written with digits"},
    {"n == 1.5", "7: numbers are whole ones, written with digits"},
    {"n == 4000000000000000000000", "6: the number is too large"},
    {"a.shape == 1", "9: a dimension in brackets is expected here: a.shape[0]"},
    {"a.shape[n] == 1", "9: a number is expected here"},
    {"a.shape[8] == 1", "10: a tensor has at most 8 dimensions"},
    {"a.rank == 1", "3: an argument has .shape[i] and .strides[i]"},
    {"grid.w == 1", "6: the grid and the block have x, y and z"},
    {"min(n) == 1", "6: ',' is expected here: min and max have two operands"},
    {"size of == 1", "9: the name of an argument is expected here"},
    {"strides of a", "13: 'nest' is expected here: strides of a nest"},
    {"strides of a nest now", "19: nothing is expected behind the comparison"},
    {"n\xc3\xa9 == 1", "2: a comparison is expected here: ==, !=, <, <=, > or >="},
    {"", "1: it is empty"},
    {"   ", "4: a number, the name of an argument, or '(' is expected here"},
};

static void reads_requirements(void **state) {
    (void)state;
    Arena arena;
    char room[200];
    arena_init(&arena, 64 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(outcome(&arena, cases[i].text, room), cases[i].expected) != 0)
            fail_msg("%s\n  %s\n  expected: %s", cases[i].text, room, cases[i].expected);
    arena_free(&arena);
}

/* Texts that differ in blanks alone are the same; what is nested too deeply, or too long, is refused. */
static void texts_are_bounded(void **state) {
    (void)state;
    Arena arena;
    Requirement a, b;
    size_t at;
    char text[1200], room[200];
    arena_init(&arena, 64 << 20);
    assert_null(requirement_read(&arena, STR(" strides  of\tc nest "), &a, &at));
    assert_null(requirement_read(&arena, STR("strides of c nest"), &b, &at));
    assert_string_equal(a.text, b.text);
    memset(text, '(', 100);
    strcpy(text + 100, "n");
    assert_string_equal(outcome(&arena, text, room), "61: this is nested too deeply");
    memset(text, '-', 100);
    assert_string_equal(outcome(&arena, text, room), "61: this is nested too deeply");
    memset(text, ' ', 1100);
    strcpy(text + 1100, "n == 1");
    assert_string_equal(outcome(&arena, text, room), "1: it is longer than 1000 characters");
    for (unsigned i = 0; i < 495; i++)
        memcpy(text + 2 * i, "1+", 2);
    strcpy(text + 990, "1 == 496");
    assert_string_equal(outcome(&arena, text, room), "true");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_requirements), cmocka_unit_test(texts_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
