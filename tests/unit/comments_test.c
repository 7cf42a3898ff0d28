/* config/comments: suppressions in Python and in C++. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config/comments.h"

/* "LINE>TARGET FIRST-LAST RULES: REASON" of each, with what is wrong instead of the reason in "!...". */
static char *read_text(const char *file, const char *text) {
    Source *source = source_copy(file, text, strlen(text));
    SuppressionList list = {0};
    Arena arena;
    Text out = {0};
    arena_init(&arena, 1 << 20);
    suppressions_read(&arena, source, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        const Suppression *item = &list.items[i];
        text_addf(&out, "%u>%u %u-", item->line, item->target, item->first);
        if (item->last == UINT32_MAX)
            text_addf(&out, "end");
        else
            text_addf(&out, "%u", item->last);
        text_addf(&out, " %s: %s%s\n", item->rules, item->problem ? "!" : "",
                  item->problem ? item->problem : item->reason);
    }
    text_char(&out, 0);
    source_free(source);
    arena_free(&arena);
    return out.data;
}

static void compare_in(const char *file, const char *text, const char *expected) {
    char *is = read_text(file, text);
    if (strcmp(is, expected) != 0)
        fail_msg("%s\nis\n%snot\n%s", text, is, expected);
    free(is);
}

static void compare(const char *text, const char *expected) {
    compare_in("k.py", text, expected);
}

static void reads_comments(void **state) {
    (void)state;
    compare("x = 1  # weir: ignore[race.war] one warp\n", "1>1 1-end race.war: one warp\n");
    compare("# weir: ignore[race, deadlock.lapped]: known\n\n# more\nx = 1\n",
            "1>4 1-end race,deadlock.lapped: known\n");
    compare("#weir:ignore[race] - why  \r\nx = 1\r\n", "1>2 1-end race: why\n");
    compare("x = 1 # noqa # weir: ignore[race] why\n", "1>1 1-end race: why\n");
    compare("# weir: ignore[race] a\n# weir: ignore[barrier] b\nx\n", "1>3 1-end race: a\n2>3 1-end barrier: b\n");
    compare("# weir: ignore[race] nothing follows", "1>1 1-end race: nothing follows\n");
}

static void says_what_is_not_honored(void **state) {
    (void)state;
    compare("x # weir: ignore[race.war]\n", "1>1 1-end race.war: !it gives no reason\n");
    compare("x # weir: ignore[race.war] :\n", "1>1 1-end race.war: !it gives no reason\n");
    compare("x # weir: ignore[] why\n", "1>1 1-end : !it names no rule, as ignore[race.war] does\n");
    compare("x # weir: ignore why\n", "1>1 1-end : !it names no rule, as ignore[race.war] does\n");
    compare("x # weir: ignore[race.wra] why\n",
            "1>1 1-end race.wra: !there is no rule 'race.wra'; did you mean 'race.war'?\n");
    compare("x # weir: ignore[what.ever] why\n", "1>1 1-end what.ever: !there is no rule 'what.ever'\n");
    compare("x # weir: disable[race] why\n", "1>1 1-end race: !it is not of the form '# weir: ignore[RULE] reason'\n");
    compare("x # weir: a dam across a river\n", "");
}

static void knows_strings(void **state) {
    (void)state;
    compare("s = '# weir: ignore[race] no'\n", "");
    compare("s = \"\\\"# weir: ignore[race] no\"\n", "");
    compare("s = '''\n# weir: ignore[race] no\n'''  # weir: ignore[race] yes\n", "3>3 1-end race: yes\n");
    compare("s = 'not closed\nx  # weir: ignore[race] yes\n", "2>2 1-end race: yes\n");
    compare("s = 'a\\\nb'  # weir: ignore[race] yes\n", "2>2 1-end race: yes\n");
    compare("\"\"\"weir: a text that does not end\n# weir: ignore[race] no\n", "");
}

/* The function that a comment is in tells by whose being looked at it is known to be useless. */
static void knows_functions(void **state) {
    (void)state;
    compare("import x\n"
            "def a(\n"
            "    b,\n"
            "):\n"
            "    x  # weir: ignore[race] in a\n"
            "\n"
            "    def inner():\n"
            "\tx  # weir: ignore[race] in inner\n"
            "    y  # weir: ignore[race] in a again\n"
            "\n"
            "@decorated  # weir: ignore[race] in none\n"
            "# weir: ignore[race] in b\n"
            "async def b(): x\n"
            "z\n",
            "5>5 2-10 race: in a\n8>8 7-8 race: in inner\n9>9 2-10 race: in a again\n11>11 1-end race: in none\n"
            "12>13 13-13 race: in b\n");
    compare("def a():\n  call(x,  # weir: ignore[race] first\ny,  # weir: ignore[race] second\n)\nz\n",
            "2>2 1-4 race: first\n3>3 1-4 race: second\n");
}

static void knows_cpp(void **state) {
    (void)state;
    compare_in("k.cu", "x = 1; // weir: ignore[race.raw] one warp\n", "1>1 1-end race.raw: one warp\n");
    compare_in("k.cuh", "/* weir: ignore[race] above */\n// and more\n\nx = 1;\n", "1>4 1-end race: above\n");
    compare_in("k.h", "/* weir: ignore[race] above\n * and more */ x = 1;\n", "1>2 1-end race: above\n");
    compare_in("k.cu", "s = \"// weir: ignore[race] no\"; c = '\"'; // NOLINT // weir: ignore[race] yes\n",
               "1>1 1-end race: yes\n");
    compare_in("k.cu", "s = R\"x(\n// weir: ignore[race] no\n)\" )x\"; // weir: ignore[race] yes\n",
               "3>3 1-end race: yes\n");
    compare_in("k.cu", "n = 1'000; // weir: ignore[race] digits\n# weir: ignore[race] no\n",
               "1>1 1-end race: digits\n");
    compare_in("k.cu", "x; // weir: disable[race] why\n",
               "1>1 1-end race: !it is not of the form '// weir: ignore[RULE] reason'\n");
    compare_in("k.cu", "/* weir: ignore[race] not closed\nx\n", "1>1 1-end race: not closed\n");
}

static void knows_functions_of_cpp(void **state) {
    (void)state;
    compare_in("k.cu",
               "namespace a {\n"
               "struct S { int x; }; // weir: ignore[race] in none\n"
               "__global__ void\n"
               "kernel(int *p) {\n"
               "    if (*p) {\n"
               "        *p = 1; // weir: ignore[race] in kernel\n"
               "    }\n"
               "}\n"
               "} // namespace\n"
               "void b() { // weir: ignore[race] in b\n"
               "}\n",
               "2>2 1-end race: in none\n6>6 3-8 race: in kernel\n10>10 10-11 race: in b\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_comments), cmocka_unit_test(says_what_is_not_honored),
        cmocka_unit_test(knows_strings),  cmocka_unit_test(knows_functions),
        cmocka_unit_test(knows_cpp),      cmocka_unit_test(knows_functions_of_cpp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
