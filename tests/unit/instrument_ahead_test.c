/* Tests of how little instrumented PTX says: where the pointer goes on, what is copied before it is stored, and what
 * the kernel notes of its memory. That the records are right is tests/record/play. */
#include "ptx_launched.h"

#include "instrument/instrument.h"

#define OPEN                                                                                                 \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 n)\n"      \
    ".reqntid 64\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .align 4 .b8 s[512];\n" \
    "ld.param.u32 %r1, [n];\nld.param.u64 %rd1, [x];\n"
#define CLOSE "ret;\n}\n"
#define MEET  "bar.sync 0;\n"

static char *instrumented(const char *text) {
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};
    Diagnostics diagnostics = {0};
    Source *source = source_copy("test.ptx", text, strlen(text));
    const char *problem = NULL;
    PtxModule module;
    Text to = {0};
    if (!ptx_read(&module, source, true, &diagnostics))
        fail_msg("%s\n%s", diagnostics.items[0].message, text);
    if (!instrument(&module, &options, &to, &problem))
        fail_msg("%s", problem);
    text_char(&to, 0);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return to.data;
}

static unsigned count_in(const char *text, const char *what) {
    unsigned count = 0;
    for (; (text = strstr(text, what)); text++)
        count++;
    return count;
}

static unsigned count(const char *kernel, const char *what) {
    char *text = instrumented(kernel);
    unsigned found = count_in(text, what);
    free(text);
    return found;
}

/* In straight code it never does; in a loop once a turn, whatever waits stand in it; where ways meet, in those that
 * have recorded something else than the first. */
static void test_pointer(void **state) {
    (void)state;
    static const char goes_on[] = "add.u32 %weir_", wide[] = "add.s64 %weir_";
    assert_int_equal(count(OPEN MEET MEET MEET CLOSE, goes_on), 0);
    assert_int_equal(count(OPEN MEET "A:\n" MEET MEET "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
                                     "@%p1 bra A;\n" MEET CLOSE,
                           goes_on),
                     2);
#define WAY(first, second) \
    OPEN "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\n" first "bra.uni B;\nA:\n" second "B:\n" MEET CLOSE
    assert_int_equal(count(WAY(MEET, MEET), goes_on), 0);
    assert_int_equal(count(WAY(MEET, MEET MEET), goes_on), 1);
    /* The way that goes back may come before its chunk: there the upper half is needed. */
    assert_int_equal(count(WAY(MEET, MEET), wide) + count(WAY(MEET, MEET MEET), wide), 0);
    assert_int_equal(count(WAY("", MEET), goes_on), 1);
    assert_int_equal(count(WAY(MEET MEET, MEET), goes_on), 0);
    assert_int_equal(count(WAY(MEET MEET, MEET), wide), 1);
}

/* A register that is written before its record is, is copied; another one is not. */
static void test_copies(void **state) {
    (void)state;
#define STORES(between)                                                                             \
    OPEN "mov.u32 %r2, %clusterid.x;\nmul.lo.u32 %r3, %r2, %r1;\nst.shared.b32 [%r2], 7;\n" between \
         "st.shared.b32 [%r3], 7;\n" MEET CLOSE
    assert_int_equal(count(STORES(""), ", %r2;\n"), 0);
    assert_int_equal(count(STORES("mov.u32 %r2, 5;\n"), ", %r2;\n"), 1);
}

/* What is known without a record: addresses of variables, the CTA's place in the grid, the number of a warp. */
static void test_known(void **state) {
    (void)state;
#define AT(from) OPEN from "st.shared.b32 [%r2], 7;\n" MEET CLOSE
    assert_int_equal(count(AT("mov.u32 %r2, %clusterid.x;\n"), ", %r2}"), 1);
    assert_int_equal(count(AT("mov.u32 %r2, s;\n"), ", %r2}"), 0);
    assert_int_equal(count(AT("mov.u32 %r3, %ctaid.z;\nmul.lo.s32 %r2, %r3, 24;\n"), ", %r2}"), 0);
    assert_int_equal(count(AT("mov.u32 %r3, %ctaid.x;\nmul.lo.u32 %r2, %r3, %r1;\n"), ", %r2}"), 1);
    assert_int_equal(count(AT("mov.u32 %r3, %tid.x;\nshr.u32 %r2, %r3, 5;\n"), ", %r2}"), 0);
}

/* Where shared and local memory are is noted if an address may be in them without saying so. */
static void test_windows(void **state) {
    (void)state;
    assert_int_equal(count(OPEN "ld.global.b32 %r2, [%rd1];\n" CLOSE, "cvta.shared"), 0);
    assert_int_equal(count(OPEN "ld.b32 %r2, [%rd1];\n" CLOSE, "cvta.shared"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointer),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
