/* config/glob: patterns of paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/glob.h"

static void matches(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool meant;
    } cases[] = {
        {"*.ttgir", "a.ttgir", true},
        {"*.ttgir", "x/y/a.ttgir", true}, /* no slash: the last part, wherever it is */
        {"*.ttgir", "a.mlir", false},
        {"x/*.ttgir", "x/a.ttgir", true},
        {"x/*.ttgir", "x/y/a.ttgir", false},
        {"/x/*.ttgir", "x/a.ttgir", true},
        {"x/**/*.ttgir", "x/a.ttgir", true},
        {"x/**/*.ttgir", "x/y/z/a.ttgir", true},
        {"x/**/*.ttgir", "xy/a.ttgir", false},
        {"**/a/**", "x/a/b", true},
        {"**/a/**", "a/b", true},
        {"**/a/**", "x/ba/b", false},
        {"third_party/", "third_party/x/k.ttgir", true},
        {"third_party/", "a/third_party/x", false},
        {"**/**/x", "a/b/c/x", true},
        {"**", "a/b", true},
        {"a/**", "a", false},
        {"a**b/c", "axxb/c", true},
        {"a**b/c", "ax/xb/c", false},
        {"k?.ttgir", "k1.ttgir", true},
        {"k?/x", "k//x", false},
        {"k[0-9a].mlir", "k7.mlir", true},
        {"k[0-9a].mlir", "kb.mlir", false},
        {"k[!0-9].mlir", "kb.mlir", true},
        {"k[!0-9].mlir", "k0.mlir", false},
        {"k[]x].mlir", "k].mlir", true},
        {"a[!b]c/d", "a/c/d", false},
        {"*a*a*a*a*b/c", "aaaaaaaaaaaaaaaa/c", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(glob_problem(str_of(cases[i].pattern)));
        if (glob_matches(str_of(cases[i].pattern), str_of(cases[i].path)) != cases[i].meant)
            fail_msg("%s and %s", cases[i].pattern, cases[i].path);
    }
}

static void refuses(void **state) {
    (void)state;
    char longest[GLOB_LONGEST + 1];
    memset(longest, '*', sizeof longest);
    assert_non_null(glob_problem(STR("")));
    assert_non_null(glob_problem(STR("a[b")));
    assert_non_null(glob_problem(STR("a[]")));
    assert_non_null(glob_problem(STR("a[!]")));
    assert_non_null(glob_problem((Str){longest, sizeof longest}));
}

/* The longest patterns that try the most ways: done at once all the same. */
static void takes_no_time(void **state) {
    (void)state;
    char pattern[GLOB_LONGEST], path[4096];
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = "**/"[i % 3];
    memset(path, 'a', sizeof path);
    for (size_t i = 7; i < sizeof path; i += 8)
        path[i] = '/';
    pattern[sizeof pattern - 1] = 'b';
    assert_false(glob_matches((Str){pattern, sizeof pattern}, (Str){path, sizeof path}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches),
        cmocka_unit_test(refuses),
        cmocka_unit_test(takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
