/* instrument/plan/group, instrument/emit/bodies: which records are made by calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "instrument/instrument.h"
#include "ptx/reader.h"

/* A kernel with this body, instrumented. */
static char *instrumented(const char *directives, const char *body) {
    Text text = {0}, to = {0};
    Diagnostics diagnostics = {0};
    PtxModule module;
    const char *problem = NULL;
    InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};
    text_addf(&text,
              ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x) %s{\n"
              ".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
              "mov.u32 %%r1, %%tid.x;\nld.param.u64 %%rd1, [x];\nmul.wide.u32 %%rd2, %%r1, 4;\n"
              "add.s64 %%rd3, %%rd1, %%rd2;\n%sret;\n}\n",
              directives, body);
    Source *source = source_copy("k.ptx", text.data, text.size);
    if (!ptx_read(&module, source, true, &diagnostics))
        fail_msg("%s\n%s", diagnostics.items[0].message, text.data);
    assert_true(instrument(&module, &options, &to, &problem));
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    text_free(&text);
    text_char(&to, 0);
    return to.data;
}

static unsigned count(const char *text, const char *what) {
    unsigned found = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        found++;
    return found;
}

/* Odd lanes go on to the body; all meet behind it. */
#define ODD(body)                                                                                    \
    "and.b32 %r4, %r1, 1;\nsetp.eq.u32 %p1, %r4, 0;\nsetp.eq.u32 %p2, %r1, 3;\n@%p1 bra END;\n" body \
    "bra.uni END;\nEND:\nbar.sync 0;\n"
#define STORE(at) "st.global.b32 [%rd3+" #at "], %r1;\n"

/* So many values where a part of the warp comes that it takes calls. */
#define EIGHT STORE(0) STORE(4) STORE(8) STORE(12) STORE(16) STORE(20) STORE(24) STORE(28)
#define MANY  "setp.eq.u32 %p3, %r1, 5;\n@%p3 bra FEW;\n" EIGHT EIGHT EIGHT EIGHT EIGHT "FEW:\nbar.sync 0;\n"

/* Calls that make records of a body in a kernel that has many, and before how many of them it is found who is there. */
static void expect_calls(const char *body, unsigned calls, unsigned looks) {
    Text text = {0};
    text_addf(&text, "%s%s", MANY, body);
    text_char(&text, 0);
    char *made = instrumented("", text.data), *without = instrumented("", MANY);
    assert_int_equal(count(made, "call (weir_to), weir_") - count(without, "call (weir_to), weir_"), calls);
    assert_int_equal(count(made, "activemask.b32") - count(without, "activemask.b32"), looks);
    text_free(&text);
    free(made);
    free(without);
}

static void expect_none(const char *body) {
    char *made = instrumented("", body);
    assert_int_equal(count(made, "call (weir_to), weir_"), 0);
    free(made);
}

/* Lanes that lead apart are recorded by a call for up to four values of a straight segment; who is there is looked for
 * once for it, and again behind a guard. What may hold a thread is the last that a call tells of. */
static void test_segments(void **state) {
    (void)state;
    expect_calls(ODD(STORE(0) STORE(4) STORE(8) STORE(12)), 1, 1);
    expect_calls(ODD(STORE(0) STORE(4) STORE(8) STORE(12) STORE(16)), 2, 1);
    expect_calls(ODD(STORE(0) STORE(4) "@%p2 " STORE(8) STORE(12) STORE(16)), 3, 3);
    /* Behind the wait of some for others it is not known that all come to the barrier and to the end. */
    expect_calls(ODD(STORE(0) "bar.warp.sync 1;\n" STORE(4)), 4, 2);
}

/* Kernels that ptxas would serialize wgmmas of, or save registers of, call nothing. */
static void test_no_calls(void **state) {
    (void)state;
    expect_none(MANY ODD(STORE(0) "setmaxnreg.dec.sync.aligned.u32 40;\n"));
    expect_none(MANY ODD(STORE(0) "wgmma.fence.sync.aligned;\n"));
    expect_none(ODD(STORE(0))); /* nor do those with few values */
    char *made = instrumented(".reqntid 64 ", STORE(0));
    assert_null(strstr(made, ".func")); /* and where nothing calls it, there is no function */
    free(made);
}

/* A strong access of lanes that lead apart is one call; a value whose lanes are as far apart as no call can say is
 * recorded where it stands. */
static void test_lanes(void **state) {
    (void)state;
    char *made =
        instrumented("", MANY ODD("atom.global.add.u32 %r5, [%rd3], 1;\natom.global.add.u64 %rd5, [%rd1], 1;\n"));
    assert_int_equal(count(made, "), weir_lane, ("), 1);
    assert_int_equal(count(made, "), weir_lane_large, ("), 1);
    free(made);
    made = instrumented(
        "", MANY ODD("mul.wide.u32 %rd4, %r1, 515;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.b8 [%rd5], %r1;\n"));
    char *without = instrumented("", MANY);
    assert_int_equal(count(made, "call (weir_to), weir_"), count(without, "call (weir_to), weir_"));
    assert_int_equal(count(made, "activemask.b32"), count(without, "activemask.b32") + 1);
    free(without);
    free(made);
}

/* Where lanes may lead apart, a value that has to be looked at is told by a call, too, where all come; where they never
 * do, in place. */
static void test_all(void **state) {
    (void)state;
#define LOOKED "ld.global.u64 %rd4, [%rd3];\nst.global.b32 [%rd4], %r1;\n"
    expect_calls(LOOKED ODD(STORE(0)), 2, 2);
    expect_none(LOOKED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_no_calls),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
