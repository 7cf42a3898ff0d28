/* base/rooted: what an input names is opened below the root alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/code.h"
#include "base/rooted.h"

static char folder[] = "/tmp/weir-rooted-XXXXXX", root[64];

static void write_file(const char *path, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        putc('x', file);
    fclose(file);
}

/* OUTSIDE.py beside the root; in the root a.py, sub/b.py, and links and a pipe that lead elsewhere. */
static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    snprintf(root, sizeof root, "%s/root", folder);
    assert_int_equal(mkdir("root", 0700) | mkdir("root/sub", 0700) | mkdir("rooted", 0700), 0);
    write_file("outside.py", 3);
    write_file("rooted/c.py", 3);
    write_file("root/a.py", 5);
    write_file("root/sub/b.py", 7);
    write_file("root/large.py", ROOTED_LARGEST + 1);
    assert_int_equal(symlink("../outside.py", "root/link.py"), 0);
    assert_int_equal(symlink("..", "root/up"), 0);
    assert_int_equal(symlink("sub/b.py", "root/inner.py"), 0);
    assert_int_equal(mkfifo("root/pipe.py", 0600), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") | system(command);
}

/* The size of what a name leads to, for IR in that folder; -1: to nothing. */
static int size_of(const char *beside, const char *name) {
    char ir[128];
    snprintf(ir, sizeof ir, "%s/k.ttgir", beside);
    char *path = code_below(ir, root, name);
    Source *source = path ? rooted_read(root, path) : NULL;
    int size = source ? (int)source->size : -1;
    source_free(source);
    free(path);
    return size;
}

static void finds_what_is_below(void **state) {
    (void)state;
    char name[128];
    assert_int_equal(size_of("/", "a.py"), 5);
    assert_int_equal(size_of("/", "sub/b.py"), 7);
    assert_int_equal(size_of("/", "sub/../a.py"), 5);
    assert_int_equal(size_of("/", "b.py"), -1);
    assert_int_equal(size_of("root/sub", "b.py"), 7);
    assert_int_equal(size_of("/", "inner.py"), 7); /* a link that stays inside */
    snprintf(name, sizeof name, "%s/sub/b.py", root);
    assert_int_equal(size_of("/", name), 7);
}

/* It was written on a machine where the project lay elsewhere. */
static void finds_the_end_of_a_path(void **state) {
    (void)state;
    assert_int_equal(size_of("/", "/nowhere/at/all/sub/b.py"), 7);
    assert_int_equal(size_of("/", "/nowhere/at/all/b.py"), -1);
}

static void opens_nothing_else(void **state) {
    (void)state;
    char name[128];
    assert_int_equal(size_of("/", "../outside.py"), -1);
    assert_int_equal(size_of(".", "outside.py"), -1); /* beside the IR, and not below the root */
    assert_int_equal(size_of("/", "link.py"), -1);
    assert_int_equal(size_of("/", "up/outside.py"), -1);
    assert_int_equal(size_of("/", "../rooted/c.py"), -1); /* the root's name is a part of its */
    assert_int_equal(size_of("/", "/nowhere/../outside.py"), -1);
    snprintf(name, sizeof name, "%s/outside.py", folder);
    assert_int_equal(size_of("/", name), -1);
    assert_int_equal(size_of("/", "/etc/passwd"), -1);
    assert_int_equal(size_of("/", "sub"), -1);
    assert_int_equal(size_of("/", ""), -1);
    assert_int_equal(size_of("/", "pipe.py"), -1); /* and does not wait for a writer */
    assert_int_equal(size_of("/", "large.py"), -1);
    assert_null(rooted_read(root, "pipe.py"));
    assert_null(rooted_read(root, "large.py"));
    assert_null(rooted_read(root, "sub"));
    assert_null(rooted_read(root, "../outside.py"));
    assert_null(rooted_read(root, "sub/../../outside.py"));
    assert_null(rooted_read(root, "/etc/passwd"));
    assert_null(rooted_read(root, "link.py"));
    assert_null(rooted_read(root, "up/outside.py"));
}

/* Between being found and being opened, a file or a folder became a link. */
static void opens_no_link(void **state) {
    (void)state;
    assert_int_equal(rename("root/a.py", "root/kept.py"), 0);
    assert_int_equal(symlink("../outside.py", "root/a.py"), 0);
    assert_null(rooted_read(root, "a.py"));
    assert_int_equal(rename("root/sub", "sub"), 0);
    assert_int_equal(symlink("../sub", "root/sub"), 0);
    assert_null(rooted_read(root, "sub/b.py"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_below),
        cmocka_unit_test(finds_the_end_of_a_path),
        cmocka_unit_test(opens_nothing_else),
        cmocka_unit_test(opens_no_link),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
