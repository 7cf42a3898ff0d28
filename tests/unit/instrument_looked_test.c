/* Tests of values that cannot be proven to differ between lanes in a regular way: few of them are looked at with
 * branches, many without; of those that differ in one bit alone the bit is told. That the records are right is
 * tests/record/play. */
#include "ptx_launched.h"

#include "instrument/instrument.h"

#define OPEN                                                                                                   \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u32 n)\n"        \
    ".reqntid 64\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .align 16 .b8 s[1024];\n" \
    "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
#define CLOSE "ret;\n}\n"

static void read_in(PtxModule *module, Source **source, Diagnostics *diagnostics, const char *text) {
    *source = source_copy("test.ptx", text, strlen(text));
    if (!ptx_read(module, *source, true, diagnostics))
        fail_msg("%s\n%s", diagnostics->items[0].message, text);
}

static const InstrumentOptions options = {.spaces = RECORDING_EVERYWHERE, .keep_registers = true};

/* How often something is said in an instrumented kernel. */
static unsigned count(const char *kernel, const char *what) {
    Diagnostics diagnostics = {0};
    const char *problem = NULL, *at;
    Source *source;
    PtxModule module;
    Text to = {0};
    unsigned found = 0;
    read_in(&module, &source, &diagnostics, kernel);
    if (!instrument(&module, &options, &to, &problem))
        fail_msg("%s", problem);
    text_char(&to, 0);
    for (at = to.data; (at = strstr(at, what)); at++)
        found++;
    text_free(&to);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return found;
}

/* ptxas takes the longer for a branch the more there are: those of many values are none, but for the looks whether
 * there is room for the lists of some. */
static void test_many(void **state) {
    (void)state;
#define POINTER "ld.global.b64 %rd4, [%rd3];\n"
#define LOOKED  "ld.global.b32 %r2, [%rd4];\n"
#define FOUR    LOOKED LOOKED LOOKED LOOKED
#define GUARDED "@%p1 ld.global.b32 %r2, [%rd4];\n"
    assert_int_equal(count(OPEN POINTER FOUR FOUR CLOSE, "match.all"), 8);
    assert_int_equal(count(OPEN POINTER FOUR FOUR CLOSE, "bra.uni $"), 8 * 4);
    assert_int_equal(count(OPEN POINTER FOUR FOUR FOUR FOUR CLOSE, "match.all"), 16);
    assert_in_range(count(OPEN POINTER FOUR FOUR FOUR FOUR CLOSE, "bra.uni $"), 2, 8);
    assert_in_range(count(OPEN POINTER "setp.eq.b64 %p1, %rd4, 0;\n" FOUR FOUR GUARDED GUARDED CLOSE, "bra.uni $"), 2,
                    6);
}

/* The last part of the only copy; and whether it is told in a run. */
static SitePart copied(const char *kernel, bool *run) {
    Diagnostics diagnostics = {0};
    const char *problem = NULL;
    SitePart part = {0};
    Source *source;
    PtxModule module;
    Sites sites;
    read_in(&module, &source, &diagnostics, kernel);
    if (!instrument_sites(&sites, &module, &options, &problem))
        fail_msg("%s", problem);
    for (uint32_t i = 0, end = 0; i < sites.count; i++) {
        end = sites.items[i].run ? i + sites.items[i].run : end;
        if (sites.items[i].part_count == 3) {
            part = sites.items[i].parts[2];
            *run = i < end;
        }
    }
    instrument_sites_free(&sites);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return part;
}

/* A copy of 16 bytes or none: one word says who makes it. Where a part of the warp comes, lanes cannot tell it so. */
static void test_bit(void **state) {
    (void)state;
#define SIZE(yes, no) "ld.global.b32 %r2, [%rd3];\nsetp.ne.s32 %p1, %r2, 0;\nselp.b32 %r3, " #yes ", " #no ", %p1;\n"
#define COPY                                                          \
    "mov.u32 %r4, s;\nshl.b32 %r5, %r1, 4;\nadd.s32 %r6, %r4, %r5;\n" \
    "cp.async.cg.shared.global [%r6], [%rd1], 16, %r3;\n"
    bool run = false;
    SitePart part = copied(OPEN SIZE(16, 0) COPY CLOSE, &run);
    assert_true(run && part.proven && part.shape == PART_BIT && part.from == RECORD_FROM_BITS);
    assert_true(part.stride == 16 && part.least == 0);
    assert_int_equal(count(OPEN SIZE(16, 0) COPY CLOSE, "match.all"), 0);
    part = copied(OPEN SIZE(4, 12) COPY CLOSE, &run);
    assert_true(run && part.shape == PART_BIT && part.stride == 8 && part.least == 4);
    part = copied(OPEN SIZE(4, 8) COPY CLOSE, &run);
    assert_true(!run && !part.proven && part.shape != PART_BIT);
    part = copied(OPEN SIZE(16, 0) "@%p1 bra A;\n" COPY "A:\n" CLOSE, &run);
    assert_true(!run && part.shape != PART_BIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
