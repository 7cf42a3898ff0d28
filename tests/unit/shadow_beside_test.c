/* Launches that may run at the same time, of kernels that check themselves: what each finds in the cells that the other
 * one has left. `n` says what a launch does. */
#include "shadowed.h"
#include "share.h"

/* Words, 4 bytes for each thread, at %rd3; lines, 16 bytes for each, at %rd5. */
#define PLACES                                                                           \
    "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; mul.wide.u32 %rd4, %r2, 16;\n" \
    "add.s64 %rd5, %rd1, %rd4; setp.eq.u32 %p1, %r1, 0;\n"
#define WORD_WRITE "st.global.u32 [%rd3], %r2;\n"
#define WORD_READ  "ld.global.u32 %r6, [%rd3];\n"
#define LINE_WRITE "st.global.v4.u32 [%rd5], {%r2,%r2,%r2,%r2};\n"
#define LINE_READ  "ld.global.v4.u32 {%r6,%r7,%r8,%r9}, [%rd5];\n"
/* The first launch (n = 0) does one thing, the second another one. */
#define THEN(first, second) SHADOW_KERNEL(PLACES "@!%p1 bra SECOND;\n" first "bra OVER;\nSECOND: " second "OVER:\n")
#define RELEASED            "st.release.gpu.global.u32 [%rd1+1024], 1;\n"
#define ACQUIRED            "ld.acquire.gpu.global.u32 %r10, [%rd1+1024];\n"

typedef struct BesideCase {
    const char *name, *text;
    bool races; /* between the two, if they may run at the same time */
    bool met;   /* their signals may order them */
} BesideCase;

static const BesideCase cases[] = {
    {"words are written, and read", THEN(WORD_WRITE, WORD_READ), true, false},
    {"words are read, and written", THEN(WORD_READ, WORD_WRITE), true, false},
    {"words are written twice", THEN(WORD_WRITE, WORD_WRITE), true, false},
    {"words are read twice", THEN(WORD_READ, WORD_READ), false, false},
    {"words are read, read again, and written", THEN(WORD_READ, WORD_READ "bar.sync 0;\n" WORD_WRITE), true, false},
    {"lines are written, and read", THEN(LINE_WRITE, LINE_READ), true, false},
    {"lines are read, and written", THEN(LINE_READ, LINE_WRITE), true, false},
    {"lines are written twice", THEN(LINE_WRITE, LINE_WRITE), true, false},
    {"lines are read twice", THEN(LINE_READ, LINE_READ), false, false},
    {"lines are read, read again, and written", THEN(LINE_READ, LINE_READ "bar.sync 0;\n" LINE_WRITE), true, false},
    {"lines are written, and words read", THEN(LINE_WRITE, WORD_READ), true, false},
    {"words are written, and lines read", THEN(WORD_WRITE, LINE_READ), true, false},
    {"lines are read, and words written", THEN(LINE_READ, WORD_WRITE), true, false},
    {"words are read, and lines written", THEN(WORD_READ, LINE_WRITE), true, false},
    {"lines that lie apart", THEN(LINE_WRITE, "ld.global.v4.u32 {%r6,%r7,%r8,%r9}, [%rd5+2048];\n"), false, false},
    {"bytes that lie beside each other",
     THEN("st.global.u16 [%rd3], %rs1;\n", "st.global.u16 [%rd3+1024], %rs1; ld.global.u16 %rs2, [%rd3+1022];\n"),
     false, false},
    {"atomics", THEN("red.global.add.u32 [%rd3], 1;\n", "red.global.add.u32 [%rd3], 1;\n"), false, false},
    {"atomics of the scope of a CTA",
     THEN("red.relaxed.cta.global.add.u32 [%rd3], 1;\n", "red.global.add.u32 [%rd3], 1;\n"), true, false},
    {"atomics, and a read", THEN("red.global.add.u32 [%rd3], 1;\n", WORD_READ), true, false},
    {"a signal is read", THEN(WORD_WRITE "bar.sync 0;\n" RELEASED, ACQUIRED "bar.sync 0;\n" WORD_READ), true, true},
    {"a signal is read by many, beside each other",
     THEN(WORD_WRITE "bar.sync 0; add.s64 %rd6, %rd3, 1024; st.release.gpu.global.u32 [%rd6], 1;\n",
          "add.s64 %rd6, %rd3, 1024; ld.acquire.gpu.global.u32 %r10, [%rd6]; bar.sync 0;\n" WORD_READ),
     true, true},
    {"a signal by fences",
     THEN(WORD_WRITE "bar.sync 0; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
          "ld.relaxed.gpu.global.u32 %r10, [%rd1+1024]; fence.acq_rel.gpu; bar.sync 0;\n" WORD_READ),
     true, true},
    {"no release",
     THEN(WORD_WRITE "bar.sync 0; st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n", ACQUIRED "bar.sync 0;\n" WORD_READ),
     true, false},
    {"no acquire",
     THEN(WORD_WRITE "bar.sync 0;\n" RELEASED, "ld.relaxed.gpu.global.u32 %r10, [%rd1+1024]; bar.sync 0;\n" WORD_READ),
     true, false},
    {"a signal is not read", THEN(WORD_WRITE "bar.sync 0;\n" RELEASED, WORD_READ), true, false},
    {"a signal is read too late", THEN(WORD_WRITE "bar.sync 0;\n" RELEASED, WORD_READ "bar.sync 0;\n" ACQUIRED), true,
     false},
};

static uint32_t met_of(const ShadowedState *left) {
    uint32_t met = 0;
    for (uint32_t i = 0; i < left->state.report_count; i++)
        met += left->reports[i].met;
    return met;
}

static void check_case(const BesideCase *one, bool beside, uint32_t slots) {
    static const PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    Shadowed s;
    shadowed_read(&s, one->text, false);
    s.slots = slots;
    shadowed_go(&s, 1, 32, 0, &eager);
    assert_int_equal(shadowed_left(&s)->state.report_count, 0);
    shadowed_next(&s, beside ? 2 : 0, 0);
    shadowed_go(&s, 1, 32, 1, &eager);
    const ShadowedState *left = shadowed_left(&s);
    bool found = left->state.report_count > 0;
    if (found != (beside && one->races) || (found && (met_of(left) > 0) != one->met))
        fail_msg("%s%s: %u reports, %u of them met", one->name, beside ? "" : ", one after the other",
                 left->state.report_count, met_of(left));
    for (uint32_t i = 0; i < left->state.report_count; i++) {
        assert_int_equal(left->reports[i].other, 1);
        assert_int_equal(left->reports[i].cta, 0);
        assert_int_equal(left->reports[i].earlier, slots ? 0 : 1);
        assert_true(left->reports[i].earlier_site > 0);
    }
    shadowed_end(&s);
}

static void launches_race(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int beside = 0; beside < 2; beside++)
            check_case(&cases[i], beside, 0);
    check_case(&cases[sizeof cases / sizeof *cases - 2], true, 2);
}

/* A third launch comes behind the second, which runs beside the first. */
static void what_came_before_is_forgotten(void **state) {
    (void)state;
    static const PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    Shadowed s;
    shadowed_read(&s, THEN(LINE_READ, LINE_READ "bar.sync 0;\n" LINE_WRITE), false);
    shadowed_go(&s, 1, 32, 0, &eager);
    shadowed_next(&s, 0, 0);
    shadowed_go(&s, 1, 32, 0, &eager);
    assert_int_equal(shadowed_left(&s)->state.report_count, 0);
    shadowed_next(&s, 1 << 1, 0); /* beside the first, whose reads the second has replaced */
    shadowed_go(&s, 1, 32, 1, &eager);
    assert_int_equal(shadowed_left(&s)->state.report_count, 0);
    shadowed_next(&s, 1 << 3, 0);
    shadowed_go(&s, 1, 32, 0, &eager);
    assert_int_equal(shadowed_left(&s)->state.report_count, 1);
    shadowed_end(&s);
}

/* The one that was made first comes to memory that the other one had before. */
static void the_later_one_may_come_first(void **state) {
    (void)state;
    static const PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    Shadowed s;
    shadowed_read(&s, THEN(WORD_WRITE, WORD_READ), false);
    s.beside->any = 1;
    s.beside->begun[2][0] = 1 << 1;
    s.tag = 2;
    shadowed_go(&s, 1, 32, 0, &eager);
    memcpy(s.cells, shadowed_block(&s, SHADOWED_CELLS), s.cell_bytes);
    s.tag = 1;
    shadowed_go(&s, 1, 32, 1, &eager);
    assert_int_equal(shadowed_left(&s)->state.report_count, 1);
    assert_int_equal(shadowed_left(&s)->reports[0].other, 2);
    shadowed_end(&s);
}

typedef struct WaitCase {
    const char *name, *text;
    bool races;
    uint32_t ctas, waited;
} WaitCase;

static const WaitCase waits[] = {
    {"waits first", THEN(WORD_WRITE, "griddepcontrol.wait;\n" WORD_READ), false, 1, 1},
    {"reads first", THEN(WORD_WRITE, WORD_READ "griddepcontrol.wait;\n"), true, 1, 1},
    {"never waits", THEN(WORD_WRITE, WORD_READ), true, 1, 0},
    {"one warp waits for all",
     THEN(WORD_WRITE, "setp.gt.u32 %p5, %r2, 31; @%p5 bra MEET; griddepcontrol.wait;\nMEET: bar.sync 0;\n" WORD_READ),
     false, 1, 1},
    {"waits in one CTA of two", THEN(WORD_WRITE, "setp.eq.u32 %p5, %r3, 0; @%p5 griddepcontrol.wait;\n@%p5 " WORD_READ),
     false, 2, 1},
    {"waits first, and releases",
     THEN(WORD_WRITE, "griddepcontrol.wait;\n" WORD_READ "st.release.gpu.global.u32 [%rd1+1024], 1;\n"), false, 1, 1},
};

static void dependent_launches_wait(void **state) {
    (void)state;
    static const PtxSchedule eager = {.kind = SCHEDULE_EAGER};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        Shadowed s;
        shadowed_read(&s, waits[i].text, false);
        shadowed_go(&s, 1, 64, 0, &eager);
        shadowed_next(&s, 1 << 1, 0);
        s.dependent = true;
        shadowed_go(&s, waits[i].ctas, 64, 1, &eager);
        const ShadowedState *left = shadowed_left(&s);
        if ((left->state.report_count > 0) != waits[i].races || left->state.waited != waits[i].waited)
            fail_msg("%s: %u reports, %u waited", waits[i].name, left->state.report_count, left->state.waited);
        shadowed_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_race), cmocka_unit_test(what_came_before_is_forgotten),
                                       cmocka_unit_test(the_later_one_may_come_first),
                                       cmocka_unit_test(dependent_launches_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
