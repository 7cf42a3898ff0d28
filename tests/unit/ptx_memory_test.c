/* The PTX machine: wide words, initial values, the stack and the heap, clusters, schedules, events, gears. */
#include "ptx_running.h"

/* ---- Memory ---- */

static void has_quads(PtxRunning *r) {
    static const uint32_t words[] = {4, 5, 6, 7, 8, 9, 10, 11, 4, 5, 6, 7};
    for (uint32_t i = 0; i < 12; i++)
        ptx_running_is(r, i, words[i]);
}

/* 16 bytes at once: moved, exchanged, and compared. */
static void wide_words(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .align 16 .b8 word[16];\n" KERNEL(
                 ".reg .b128 %q<4>;\n" POINTERS
                 "ld.global.b128 %q1, [%rd1+16]; ld.global.b128 %q2, [%rd1+32]; st.global.b128 [word], %q1;\n"
                 "atom.global.cas.b128 %q3, [word], %q1, %q2; st.global.b128 [%rd2], %q3;\n"
                 "atom.global.cas.b128 %q3, [word], %q1, %q1; atom.global.exch.b128 %q3, [word], %q1;\n"
                 "st.global.b128 [%rd2+16], %q3; ld.global.b128 %q3, [word]; st.global.b128 [%rd2+32], %q3; ret;"),
             1, 1, 0, PTX_END_COMPLETE, has_quads);
}

static void has_vector_atomics(PtxRunning *r) {
    ptx_running_is(r, 0, 0x42000000); /* 32 times 1, 2, 3 and 4 */
    ptx_running_is(r, 1, 0x42800000);
    ptx_running_is(r, 2, 0x42c00000);
    ptx_running_is(r, 3, 0x43000000);
    ptx_running_is(r, 4, 0x50004c00); /* 16 and 32 as f16 */
}

static void atomics_of_vectors(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .align 16 .b8 words[32];\n" KERNEL(
                 POINTERS
                 "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000;\n"
                 "mov.f32 %f4, 0f40800000; red.global.add.v4.f32 [words], {%f1, %f2, %f3, %f4};\n"
                 "mov.b16 %rs1, 0x3800; mov.b16 %rs2, 0x3c00; red.global.add.noftz.v2.f16 [words+16], {%rs1, %rs2};\n"
                 "bar.warp.sync -1; ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [words];\n"
                 "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5}; ld.global.u32 %r6, [words+16];\n"
                 "st.global.u32 [%rd2+16], %r6; ret;"),
             1, 32, 0, PTX_END_COMPLETE, has_vector_atomics);
}

static void has_tables(PtxRunning *r) {
    static const uint32_t words[] = {1, 2, 0, 4, 0, 0, 0x2d, 9, 1};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        ptx_running_is(r, i, words[i]);
}

static void variables_have_values(void **state) {
    (void)state;
    run_text("sm_90",
             ".const .align 4 .b32 table[2][3] = {{1, 2}, {4}};\n"
             ".global .align 8 .b8 text[3] = {65, 45};\n"
             ".global .u64 where = generic(text) + 1;\n"
             ".global .u32 zero;\n"
             ".global .align 4 .u32 pair[2] = {7, 9};\n"
             ".global .u64 inside = pair + 4;\n" KERNEL(
                 POINTERS "ld.const.u32 %r2, [table]; ld.const.u32 %r3, [table+4]; ld.const.u32 %r4, [table+8];\n"
                          "ld.const.u32 %r5, [table+12]; st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};\n"
                          "ld.const.u32 %r2, [table+16]; ld.global.u32 %r3, [zero]; ld.global.u64 %rd6, [where];\n"
                          "ld.u8 %r4, [%rd6]; ld.global.u64 %rd7, [inside]; ld.global.u32 %r5, [%rd7];\n"
                          "st.global.v4.u32 [%rd2+16], {%r2, %r3, %r4, %r5};\n"
                          "mov.u64 %rd8, zero; setp.ne.u64 %p1, %rd8, 0; selp.u32 %r6, 1, 0, %p1; st.global.u32 "
                          "[%rd2+32], %r6; ret;"),
             1, 1, 0, PTX_END_COMPLETE, has_tables);
}

static void has_stack(PtxRunning *r) {
    for (uint32_t i = 0; i < 8; i++)
        ptx_running_is(r, i, 10 * i + (i ? i : 1) - 1);
}

/* Each thread allocates as much as it likes, in a function that others call with more on the stack. */
static void allocates_on_the_stack(void **state) {
    (void)state;
    run_text(
        "sm_90",
        KERNEL(
            OWN
            "add.u32 %r2, %r1, 1; mul.wide.u32 %rd6, %r2, 4; stacksave.u64 %rd9; alloca.u64 %rd7, %rd6, 16;\n"
            "mul.wide.u32 %rd8, %r1, 4; add.s64 %rd8, %rd8, %rd7; mul.lo.u32 %r3, %r1, 10; st.local.u32 [%rd8], %r3;\n"
            "alloca.u64 %rd10, %rd6, 16; max.u32 %r5, %r1, 1; st.local.u32 [%rd10], %r5; ld.local.u32 %r4, [%rd8];\n"
            "ld.local.u32 %r6, [%rd10]; add.u32 %r4, %r4, %r6; sub.u32 %r4, %r4, 1; stackrestore.u64 %rd9; " GIVE(
                "%r4") "ret;"),
        1, 8, 0, PTX_END_COMPLETE, has_stack);
}

static void has_heap(PtxRunning *r) {
    for (uint32_t i = 0; i < 4; i++)
        ptx_running_is(r, i, i + 5);
}

#define MALLOC                                                                                               \
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"                                         \
    ".extern .func free(.param .b64 at);\n"                                                                  \
    ".extern .func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);\n"                            \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e) " \
    ".noreturn;\n"
#define MALLOC_32                                                                                                   \
    "{ .param .b64 size; .param .b64 at; mov.u64 %rd6, 32; st.param.b64 [size], %rd6; call (at), malloc, (size);\n" \
    "ld.param.b64 %rd7, [at]; }\n"
#define FREE "{ .param .b64 at; st.param.b64 [at], %rd7; call free, (at); }\n"

static void allocates_on_the_heap(void **state) {
    (void)state;
    run_text("sm_90",
             MALLOC KERNEL(OWN MALLOC_32 "add.u32 %r2, %r1, 5; st.u32 [%rd7+28], %r2; ld.u32 %r3, [%rd7+28]; " GIVE(
                 "%r3") FREE "ret;"),
             1, 4, 0, PTX_END_COMPLETE, has_heap);
    expect_fault(MALLOC KERNEL(OWN MALLOC_32 "mov.u32 %r2, 1; st.u32 [%rd7+32], %r2; ret;"), 0,
                 RULE_GLOBAL_OUT_OF_RANGE, 1);
    expect_fault(MALLOC KERNEL(OWN MALLOC_32 FREE FREE "ret;"), 0, RULE_ACCESS_INVALID, 1);
}

static void prints(void **state) {
    (void)state;
    PtxRunning r;
    Text printed = {0};
    const char *text =
        ".global .align 1 .b8 format[18] = {37, 100, 32, 37, 115, 32, 37, 53, 46, 49, 102, 37, 37, 32, 37, 120, 10};\n"
        ".global .align 1 .b8 word[3] = {104, 105};\n" MALLOC KERNEL(
            ".local .align 8 .b8 list[32]; .reg .f64 %fd<2>;\n" POINTERS
            "sub.u32 %r2, %r1, 7; st.local.u32 [list], %r2; mov.u64 %rd6, word; cvta.global.u64 %rd7, %rd6;\n"
            "st.local.u64 [list+8], %rd7; mov.u64 %rd10, 0x3ff8000000000000; st.local.u64 [list+16], %rd10;\n"
            "mov.u32 %r3, 255; st.local.u32 [list+24], %r3;\n"
            "mov.u64 %rd8, list; cvta.local.u64 %rd9, %rd8; mov.u64 %rd11, format;\n"
            "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd11; st.param.b64 [b], %rd9;\n"
            "call (c), vprintf, (a, b); } ret;");
    ptx_running_read(&r, "sm_90", text);
    r.launch.block[0] = 2;
    const char *problem;
    r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
    r.machine->printed = &printed;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    text_char(&printed, 0);
    assert_string_equal(printed.data, "-7 hi   1.5% ff\n-6 hi   1.5% ff\n");
    text_free(&printed);
    ptx_running_end(&r);
}

static void assertions(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(
        &r, "sm_90",
        ".global .align 1 .b8 text[6] = {120, 32, 62, 32, 48};\n" MALLOC KERNEL(
            "mov.u64 %rd1, text; mov.u32 %r1, 3; mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 5; @%p1 bra END;\n"
            "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
            "st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], %r1; st.param.b64 [d], %rd1;\n"
            "st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); } END: ret;"));
    ptx_running_expect(&r, PTX_END_FAULT);
    assert_int_equal(r.machine->fault.rule, RULE_KERNEL_TRAP);
    assert_int_equal(r.machine->fault.lanes, 1 << 5);
    assert_string_equal(r.machine->fault.what, "assertion `x > 0` failed");
    ptx_running_end(&r);
}

/* ---- Clusters ---- */

static void has_neighbors(PtxRunning *r) {
    for (uint32_t i = 0; i < 4; i++)
        ptx_running_is(r, i, 100 + (i ^ 1));
}

#define CLUSTER                                                                                                      \
    ".shared .b32 s; \n" KERNEL(                                                                                     \
        POINTERS "mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %ctaid.x; add.u32 %r4, %r3, 100; mov.u32 %r5, s;\n"    \
                 "st.shared.u32 [%r5], %r4; BEFORE\n"                                                                \
                 "xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r5, %r6; ld.shared::cluster.u32 %r8, [%r7];\n" \
                 "mul.wide.u32 %rd4, %r3, 4; add.s64 %rd3, %rd2, %rd4; " GIVE("%r8") "AFTER ret;")

/* The text with the two words replaced. */
static void cluster_text(const char *before, const char *after, Text *to) {
    for (const char *at = CLUSTER; *at;) {
        bool is_before = !strncmp(at, "BEFORE", 6), is_after = !strncmp(at, "AFTER", 5);
        if (is_before || is_after) {
            text_addf(to, "%s", is_before ? before : after);
            at += is_before ? 6 : 5;
        } else {
            text_char(to, *at++);
        }
    }
    text_char(to, 0);
}

static void reads_other_ctas(void **state) {
    (void)state;
    static const char sync[] = "barrier.cluster.arrive; barrier.cluster.wait;";
    PtxRunning r;
    Text text = {0};
    cluster_text(sync, sync, &text);
    ptx_running_read(&r, "sm_90", text.data);
    text_free(&text);
    r.launch.grid[0] = 4;
    r.launch.cluster[0] = 2;
    r.launch.block[0] = 1;
    each_schedule(&r, PTX_END_COMPLETE, has_neighbors);
    ptx_running_end(&r);
    cluster_text(sync, "", &text);
    ptx_running_read(&r, "sm_90", text.data);
    text_free(&text);
    r.launch.grid[0] = r.launch.cluster[0] = 2;
    r.schedule.kind = SCHEDULE_EAGER;
    ptx_running_expect(&r, PTX_END_FAULT); /* one ends before the other has read */
    assert_int_equal(r.machine->fault.rule, RULE_CLUSTER_EXIT);
    ptx_running_end(&r);
}

/* ---- Schedules ---- */

/* Both threads add to a word without an atomic: what comes out depends on the order. */
#define LOST                                                                                               \
    ".global .u32 word;\n" KERNEL(POINTERS "ld.relaxed.gpu.global.u32 %r2, [word]; add.u32 %r2, %r2, 1;\n" \
                                           "st.relaxed.gpu.global.u32 [word], %r2;\n"                      \
                                           "ld.relaxed.gpu.global.u32 %r3, [word]; st.global.u32 [%rd2], %r3; ret;")

static uint32_t lost_word(PtxRunning *r) {
    bool known;
    return ptx_running_word(r, 0, &known);
}

static void replays(void **state) {
    (void)state;
    PtxRunning r;
    unsigned seen[3] = {0};
    ptx_running_read(&r, "sm_90", LOST);
    r.launch.grid[0] = 2;
    r.launch.block[0] = 1;
    for (uint64_t seed = 1; seed < 40; seed++) {
        Trail trail = {.arena = &r.arena};
        r.schedule = (PtxSchedule){.kind = SCHEDULE_RANDOM, .seed = seed, .record = &trail};
        ptx_running_expect(&r, PTX_END_COMPLETE);
        uint32_t word = lost_word(&r);
        assert_true(word == 1 || word == 2);
        seen[word]++;
        r.schedule = (PtxSchedule){.kind = SCHEDULE_REPLAY, .as = SCHEDULE_RANDOM, .replay = &trail};
        ptx_running_expect(&r, PTX_END_COMPLETE);
        assert_int_equal(lost_word(&r), word);
    }
    assert_true(seen[1] && seen[2]);
    ptx_running_end(&r);
}

static void delays(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90", LOST);
    r.launch.grid[0] = 2;
    r.launch.block[0] = 1;
    uint32_t store = 0;
    while (r.program->code[store].form->row->evaluate[0] || !r.program->code[store].visible)
        store++;
    r.schedule = (PtxSchedule){.kind = SCHEDULE_DELAYED, .held = 0, .held_count = 1, .delayed_pc = store};
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(lost_word(&r), 1); /* CTA 0 had read before CTA 1 wrote */
    r.schedule = (PtxSchedule){.kind = SCHEDULE_EAGER};
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(lost_word(&r), 2);
    ptx_running_end(&r);
}

/* ---- Events ---- */

typedef struct Seen {
    unsigned reads, writes, updates, exits, overs, syncs;
    uint32_t lanes, changes, used;
    uint8_t order, scope;
} Seen;

static void see(void *to, const PtxEvent *event) {
    Seen *seen = to;
    if (event->kind == PTX_EVENT_ACCESS) {
        seen->reads += event->access.kind == EFFECT_READ;
        seen->writes += event->access.kind == EFFECT_WRITE;
        seen->updates += event->access.kind == EFFECT_UPDATE;
        seen->lanes = event->lanes;
        seen->changes = event->changes;
        seen->order = event->access.order;
        seen->scope = event->access.scope;
        seen->used = event->access.used;
        for (uint32_t i = event->lanes; i; i &= i - 1)
            assert_non_null(event->locations[__builtin_ctz(i)].block);
    }
    seen->exits += event->kind == PTX_EVENT_EXIT;
    seen->overs += event->kind == PTX_EVENT_CTA_OVER;
    seen->syncs += event->kind == PTX_EVENT_WARP_SYNC;
}

static Seen events_of(const char *text, uint32_t threads) {
    PtxRunning r;
    Seen seen = {0};
    const char *problem;
    ptx_running_read(&r, "sm_90", text);
    r.launch.block[0] = threads;
    r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
    r.machine->observe = see;
    r.machine->observer = &seen;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    ptx_running_end(&r);
    return seen;
}

static void reports_events(void **state) {
    (void)state;
    Seen seen = events_of(KERNEL(OWN "ld.volatile.global.v4.u32 {%r2, _, %r4, _}, [%rd1]; bar.warp.sync -1; ret;"), 32);
    assert_int_equal(seen.reads, 1);
    assert_int_equal(seen.used, 5);
    assert_int_equal(seen.order, ORDER_RELAXED);
    assert_int_equal(seen.scope, SCOPE_SYS);
    assert_int_equal(seen.syncs, 1);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(seen.overs, 1);
    /* each lane writes its number where 5 was, to the word of "in": lane 5 changes nothing */
    seen = events_of(KERNEL(OWN "mov.u32 %r2, 5; st.global.u32 [%rd5], %r2; ret;"), 8);
    assert_int_equal(seen.changes, 0xff & ~(1 << 5));
    seen = events_of(KERNEL(OWN "atom.release.cta.global.cas.b32 %r2, [%rd5], 5, 1; ret;"), 8);
    assert_int_equal(seen.updates, 1);
    assert_int_equal(seen.changes, 1 << 5);
    assert_int_equal(seen.order, ORDER_RELEASE);
    assert_int_equal(seen.scope, SCOPE_CTA);
    seen = events_of(KERNEL(".local .b32 l;\n" OWN "st.local.u32 [l], %r1; ld.local.u32 %r2, [l]; mov.u64 %rd6, l;\n"
                            "cvta.local.u64 %rd7, %rd6; st.u32 [%rd7], %r1; ret;"),
                     32);
    assert_int_equal(seen.reads + seen.writes, 0);
}

/* ---- Values ---- */

static void skips(void **state) {
    (void)state;
    PtxRunning r;
    bool known;
    ptx_running_read(&r, "sm_90", KERNEL(OWN "ld.global.u32 %r2, [%rd5]; add.u32 %r3, %r1, 1; " GIVE("%r3") "ret;"));
    for (uint32_t i = 0; i < r.program->code_count; i++) {
        PtxCode *code = &r.program->code[i];
        code->skipped = code->form->evaluator == PTX_EVALUATE_ADD && code->form->text.data[4] == 'u';
        code->data = code->form->evaluator == PTX_EVALUATE_LOAD && code->visible;
    }
    const char *problem;
    Seen seen = {0};
    r.machine = ptx_machine(r.program, &r.launch, COMPUTES_NEEDED, &problem);
    r.machine->observe = see;
    r.machine->observer = &seen;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(seen.reads, 1);
    assert_int_equal(seen.writes, 1);
    ptx_running_word(&r, 0, &known);
    assert_false(known);
    ptx_running_end(&r);
}

/* What stands for a word that is not known is a float from 1 to 2, its halves are numbers, and each has another. */
static void words_that_are_not_known(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90", KERNEL("ret;"));
    r.buffers[1].output = false; /* an input whose data is not given */
    ptx_running_expect(&r, PTX_END_COMPLETE);
    uint32_t seen[64];
    for (uint32_t i = 0; i < 64; i++) {
        bool known = true;
        seen[i] = ptx_running_word(&r, i, &known);
        assert_false(known);
        assert_int_equal(seen[i] >> 23, 127);
        assert_int_not_equal(seen[i] >> 10 & 31, 31); /* of f16 */
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(seen[i], seen[k]);
    }
    ptx_running_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_not_known),
        cmocka_unit_test(wide_words),
        cmocka_unit_test(atomics_of_vectors),
        cmocka_unit_test(variables_have_values),
        cmocka_unit_test(allocates_on_the_stack),
        cmocka_unit_test(allocates_on_the_heap),
        cmocka_unit_test(prints),
        cmocka_unit_test(assertions),
        cmocka_unit_test(reads_other_ctas),
        cmocka_unit_test(replays),
        cmocka_unit_test(delays),
        cmocka_unit_test(reports_events),
        cmocka_unit_test(skips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
