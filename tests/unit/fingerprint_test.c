/* finding/fingerprint and base/code: what a finding is known by stays when lines, numbers and words change, and is
 * another one when the finding is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/code.h"
#include "finding/fingerprint.h"
#include "weir/weir.h"

/* ---- Of made-up findings ------------------------------------------------------------------------- */

static Finding *add_race(Verdict *verdict, uint32_t line) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_RACE_RAW;
    finding->space = "shared";
    FindingPlace *places = finding_places(verdict, finding, 2);
    places[0] = (FindingPlace){"reads", "default", "ttg.local_load", "", "/a/rings.py", line, 3, line + 9, 5, NULL};
    places[1] = (FindingPlace){"writes", "default.tma", "ttng.copy", "", "/a/rings.py", line - 2, 3, line + 7, 5, NULL};
    return finding;
}

typedef void Change(Verdict *verdict, Finding *finding, const char **ir, const char **anchor);

static void nothing(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)f, (void)ir, (void)anchor;
}
static void lines(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->places[0].line += 40, f->places[1].line += 40, f->places[0].ir_line = 7, f->places[0].column = 1;
}
static void words(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->message = "%17 is read too early", f->why = "because", f->places[0].note = "bytes 0-8191 of %17";
}
static void launch(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->launch = "grid 7x1x1", f->times = 12, f->elsewhere = true, f->places[0].agent = "cta1.default";
}
static void folder(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)anchor;
    f->places[0].file = "/home/else/rings.py", *ir = "cache/x.ttgir";
}
static void agents(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)ir, (void)anchor;
    FindingPlace first = f->places[0], second = f->places[1];
    FindingPlace *places = finding_places(v, f, 3);
    places[0] = first, places[1] = second, places[2] = second;
    places[2].agent = "partition9.tma";
}
static void rule(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->rule = RULE_RACE_WAR;
}
static void space(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->space = "tensor";
}
static void kernel(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)f, (void)ir, (void)anchor;
    v->kernel = "other";
}
static void file(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->places[0].file = "/a/other.py";
}
static void text(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)f, (void)ir;
    *anchor = "value = tile.load(other)";
}
static void role(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->places[1].role = "reads";
}
static void op(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->places[1].op = "ttg.local_store";
}
static void unknown_file(Verdict *v, Finding *f, const char **ir, const char **anchor) {
    (void)v, (void)ir, (void)anchor;
    f->places[0].file = "";
}

static void fingerprint_after(Change *change, char to[FINGERPRINT_DIGITS + 1]) {
    Arena arena;
    arena_init(&arena, 1 << 20);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    const char *ir = "k.ttgir", *anchor = "value = tile.load(registers)";
    Finding *finding = add_race(&verdict, 30);
    change(&verdict, finding, &ir, &anchor);
    verdict_fingerprints(&verdict, ir, &anchor);
    snprintf(to, FINGERPRINT_DIGITS + 1, "%s", finding->fingerprint);
    assert_int_equal(strlen(finding->fingerprint), FINGERPRINT_DIGITS);
    assert_int_equal(strspn(finding->fingerprint, "0123456789abcdef"), FINGERPRINT_DIGITS);
    arena_free(&arena);
}

static void stays_when_only_the_surroundings_change(void **state) {
    (void)state;
    static Change *const changes[] = {nothing, lines, words, launch, folder, agents};
    char before[FINGERPRINT_DIGITS + 1], after[FINGERPRINT_DIGITS + 1];
    fingerprint_after(nothing, before);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        fingerprint_after(changes[i], after);
        assert_string_equal(before, after);
    }
}

/* Baselines hold them: that of this finding is what it was in the first release with fingerprints. */
static void is_the_same_in_every_release(void **state) {
    (void)state;
    char now[FINGERPRINT_DIGITS + 1];
    fingerprint_after(nothing, now);
    assert_string_equal(now, "b6fa17aa92b79d5d");
}

static void differs_where_the_finding_does(void **state) {
    (void)state;
    static Change *const changes[] = {nothing, rule, space, kernel, file, text, role, op, unknown_file};
    enum { COUNT = sizeof changes / sizeof *changes };
    char all[COUNT][FINGERPRINT_DIGITS + 1];
    for (size_t i = 0; i < COUNT; i++) {
        fingerprint_after(changes[i], all[i]);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(all[i], all[k]);
    }
}

static void equals_are_numbered(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    static const char *const anchors[] = {"same", "same", "else", "same"};
    for (unsigned i = 0; i < 4; i++)
        add_race(&verdict, 10 * (i + 1));
    verdict_fingerprints(&verdict, "k.ttgir", anchors);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(verdict.findings[i].fingerprint, verdict.findings[k].fingerprint);
    /* One that is not equal does not shift the numbers of those that are. */
    char third[FINGERPRINT_DIGITS + 1];
    snprintf(third, sizeof third, "%s", verdict.findings[3].fingerprint);
    verdict.findings[2] = verdict.findings[3];
    verdict.finding_count = 3;
    static const char *const fewer[] = {"same", "same", "same"};
    verdict_fingerprints(&verdict, "k.ttgir", fewer);
    assert_string_equal(verdict.findings[2].fingerprint, third);
    arena_free(&arena);
}

/* ---- Of kernels ----------------------------------------------------------------------------------- */

/* Two rings' worth of a kernel that hangs: waits for barriers that nothing arrives on. %s: what stands before it, then
 * the location of the first wait. */
static const char hang[] =
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#smem = #ttg.shared_memory\n%s"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"} {\n"
    "  tt.func public @hang() {\n"
    "    %%zero = arith.constant 0 : i32\n"
    "    %%%s = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
    "    ttng.init_barrier %%%s, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
    "    ttng.wait_barrier %%%s, %%zero : !ttg.memdesc<1xi64, #shared, #smem, mutable>%s\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static void fingerprint_of(const char *path, const char *before, const char *value, const char *location,
                           char to[FINGERPRINT_DIGITS + 1]) {
    char ir[4096];
    snprintf(ir, sizeof ir, hang, before, value, value, value, location);
    weir_context *weir = weir_create();
    weir_file *file = weir_open_buffer(weir, path, ir, strlen(ir));
    weir_module *module = weir_parse(file, 0, 0);
    weir_result *result = weir_run(module, NULL);
    assert_true(weir_item_count(result, WEIR_ITEM_FINDING) >= 1);
    snprintf(to, FINGERPRINT_DIGITS + 1, "%s", weir_item_at(result, WEIR_ITEM_FINDING, 0).fingerprint);
    assert_int_equal(strlen(to), FINGERPRINT_DIGITS);
    weir_result_free(result);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(weir);
}

static void ir_may_be_moved_and_renumbered(void **state) {
    (void)state;
    char first[FINGERPRINT_DIGITS + 1], moved[FINGERPRINT_DIGITS + 1], other[FINGERPRINT_DIGITS + 1];
    fingerprint_of("a/hang.ttgir", "", "bar", "", first);
    fingerprint_of("b/hang.ttgir", "// a line\n// and one more\n", "17", "", moved);
    fingerprint_of("a/other.ttgir", "", "bar", "", other);
    assert_string_equal(first, moved);
    assert_string_not_equal(first, other);
}

/* A folder with a source in it; `path` is that of IR beside it. */
static void write_code(const char *folder, const char *code) {
    char path[256];
    snprintf(path, sizeof path, "%s/hang.py", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(code, file);
    assert_int_equal(fclose(file), 0);
}

static void source_may_be_moved_within_its_file(void **state) {
    (void)state;
    char folder[] = "/tmp/weir-fingerprint-XXXXXX", ir[256], code[256];
    char first[FINGERPRINT_DIGITS + 1], now[FINGERPRINT_DIGITS + 1];
    assert_non_null(mkdtemp(folder));
    snprintf(ir, sizeof ir, "%s/hang.ttgir", folder);
    snprintf(code, sizeof code, "%s/hang.py", folder);

    write_code(folder, "def hang():\n    wait(bar, 0)\n");
    fingerprint_of(ir, "", "bar", " loc(\"/elsewhere/hang.py\":2:5)", first);
    write_code(folder, "import x\n\n\ndef hang():\n        wait(bar,  0)  # forever\n");
    fingerprint_of(ir, "// moved\n", "9", " loc(\"/elsewhere/hang.py\":5:9)", now);
    assert_string_equal(first, now);
    write_code(folder, "def hang():\n    wait(bar, 1)\n");
    fingerprint_of(ir, "", "bar", " loc(\"/elsewhere/hang.py\":2:5)", now);
    assert_string_not_equal(first, now);
    /* A line that the file does not have, a blank one, and a file that is not there: by the op, each. */
    char by_op[FINGERPRINT_DIGITS + 1];
    fingerprint_of(ir, "", "bar", " loc(\"/elsewhere/hang.py\":99:5)", by_op);
    write_code(folder, "\n\n");
    fingerprint_of(ir, "", "bar", " loc(\"/elsewhere/hang.py\":2:5)", now);
    assert_string_equal(by_op, now);
    unlink(code);
    fingerprint_of(ir, "", "bar", " loc(\"/elsewhere/hang.py\":2:5)", now);
    assert_string_equal(by_op, now);
    rmdir(folder);
}

/* ---- Source code ---------------------------------------------------------------------------------- */

static void lines_are_plain(void **state) {
    (void)state;
    static const struct {
        const char *line, *plain;
        bool python;
    } cases[] = {
        {"  a  =\tb ", "a = b", true},
        {"a # b", "a", true},
        {"# only", "", true},
        {"a = '#' # b", "a = '#'", true},
        {"a = \"it's \\\" #\" + c#d", "a = \"it's \\\" #\" + c", true},
        {"#define  X", "#define X", false},
        {"", "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text to = {0};
        code_line_plain(str_of(cases[i].line), cases[i].python, &to);
        assert_true(str_is((Str){to.data ? to.data : "", to.size}, cases[i].plain));
        text_free(&to);
    }
}

static void expect_below(const char *ir, const char *root, const char *file, const char *expected) {
    char *below = code_below(ir, root, file);
    if (expected)
        assert_non_null(below);
    else
        assert_null(below);
    if (below)
        assert_string_equal(below, expected);
    free(below);
}

/* root/kernels/hang.py, root/link.py -> outside/hang.py, outside/hang.py */
static void code_is_told_only_below_the_root(void **state) {
    (void)state;
    char top[] = "/tmp/weir-root-XXXXXX", root[64], kernels[64], outside[64], path[128], other[128];
    assert_non_null(mkdtemp(top));
    snprintf(root, sizeof root, "%s/root", top);
    snprintf(kernels, sizeof kernels, "%s/root/kernels", top);
    snprintf(outside, sizeof outside, "%s/outside", top);
    assert_int_equal(mkdir(root, 0700) | mkdir(kernels, 0700) | mkdir(outside, 0700), 0);
    write_code(kernels, "x\n");
    write_code(outside, "y\n");
    snprintf(path, sizeof path, "%s/link.py", root);
    snprintf(other, sizeof other, "%s/hang.py", outside);
    assert_int_equal(symlink(other, path), 0);

    expect_below("/nowhere/k.ttgir", root, "/build/7/kernels/hang.py", "kernels/hang.py");
    expect_below("/nowhere/k.ttgir", root, "kernels/hang.py", "kernels/hang.py");
    expect_below("/nowhere/k.ttgir", root, "/build/7/hang.py", NULL);
    expect_below("/nowhere/k.ttgir", root, "../outside/hang.py", NULL);
    expect_below("/nowhere/k.ttgir", root, "link.py", NULL);
    expect_below("/nowhere/k.ttgir", root, other, NULL);
    expect_below("/nowhere/k.ttgir", root, "/etc/passwd", NULL);
    snprintf(path, sizeof path, "%s/k.ttgir", kernels);
    expect_below(path, root, "/build/7/hang.py", "kernels/hang.py");
    char *below = path_below(root, kernels);
    assert_string_equal(below, "kernels");
    free(below);
    snprintf(path, sizeof path, "%s/none.ttgir", kernels);
    below = path_below(root, path);
    assert_string_equal(below, "kernels/none.ttgir");
    free(below);
    assert_null(path_below(root, outside));
    assert_null(path_below(root, root));

    Source *found = code_find("/nowhere/k.ttgir", root, "/build/7/kernels/hang.py");
    assert_non_null(found);
    source_place(found, 0); /* makes the index of lines */
    assert_true(str_is(source_line(found, 1), "x"));
    source_free(found);
    assert_null(code_find("/nowhere/k.ttgir", NULL, "/build/7/kernels/hang.py"));
    assert_null(code_find("/nowhere/k.ttgir", "/", "/etc/passwd"));

    snprintf(path, sizeof path, "rm -r %s", top);
    assert_int_equal(system(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_when_only_the_surroundings_change),
        cmocka_unit_test(is_the_same_in_every_release),
        cmocka_unit_test(differs_where_the_finding_does),
        cmocka_unit_test(equals_are_numbered),
        cmocka_unit_test(ir_may_be_moved_and_renumbered),
        cmocka_unit_test(source_may_be_moved_within_its_file),
        cmocka_unit_test(lines_are_plain),
        cmocka_unit_test(code_is_told_only_below_the_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
