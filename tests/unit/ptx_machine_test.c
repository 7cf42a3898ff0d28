/* The PTX machine: control, memory, calls, schedules, on small kernels. */
#include "ptx_running.h"

#define KERNEL(body)                                                    \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)" \
    "{ .reg .pred %p<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %rs<8>; .reg .f32 %f<8>;\n" body "}"
#define POINTERS "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; ld.param.u32 %r39, [n];\n"
/* %rd3, %rd5: where this thread's word of "out" and of "in" is */
#define OWN     POINTERS "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4;\n"
#define GIVE(r) "st.global.u32 [%rd3], " r ";\n"

static void set_n(PtxRunning *r, uint32_t n) {
    memcpy(r->parameters + 16, &n, 4);
}

/* Runs it under several schedules; each has to end like that. */
typedef void Check(PtxRunning *r);
static void each_schedule(PtxRunning *r, PtxEnd end, Check *check) {
    static const PtxSchedule schedules[] = {{.kind = SCHEDULE_EAGER},
                                            {.kind = SCHEDULE_EAGER, .mirrored = true},
                                            {.kind = SCHEDULE_LAZY},
                                            {.kind = SCHEDULE_ROUND_ROBIN},
                                            {.kind = SCHEDULE_RANDOM, .seed = 1},
                                            {.kind = SCHEDULE_RANDOM, .seed = 2},
                                            {.kind = SCHEDULE_RANDOM, .seed = 3}};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        r->schedule = schedules[i];
        ptx_running_expect(r, end);
        if (check)
            check(r);
    }
}

static void run_text(const char *target, const char *text, uint32_t ctas, uint32_t threads, uint32_t n, PtxEnd end,
                     Check *check) {
    PtxRunning r;
    ptx_running_read(&r, target, text);
    r.launch.grid[0] = ctas;
    r.launch.block[0] = threads;
    set_n(&r, n);
    each_schedule(&r, end, check);
    ptx_running_end(&r);
}

/* ---- Straight ---- */

static void is_copied(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i);
}

static void copies_each_word(void **state) {
    (void)state;
    run_text("sm_90", KERNEL(OWN "ld.global.u32 %r2, [%rd5]; " GIVE("%r2") "ret;"), 1, 32, 0, PTX_END_COMPLETE,
             is_copied);
}

static void has_vectors(PtxRunning *r) {
    static const uint32_t words[] = {1, 0, 3, 2, 0xffffff81, 0x81, 0xffff8001, 0x8001};
    for (uint32_t i = 0; i < 8; i++)
        ptx_running_is(r, i, words[i]);
}

static void loads_vectors_and_signs(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .align 8 .b8 bytes[8] = {0x81, 0, 0x01, 0x80, 1};\n" KERNEL(
                 POINTERS
                 "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1]; st.global.v4.u32 [%rd2], {%r3, %r2, %r5, %r4};\n"
                 "ld.global.s8 %r6, [bytes]; ld.global.u8 %r7, [bytes]; ld.global.s16 %r8, [bytes+2];\n"
                 "ld.global.u16 %r9, [bytes+2]; st.global.v4.b32 [%rd2+16], {%r6, %r7, %r8, %r9}; ret;"),
             1, 1, 0, PTX_END_COMPLETE, has_vectors);
}

/* ---- Parting and meeting ---- */

static void is_divergent(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? 100 + i : 200);
    ptx_running_is(r, 32, UINT32_MAX); /* all lanes are together behind it */
}

static void lanes_part_and_meet(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                        "add.u32 %r3, %r1, 100; bra BOTH;\n"
                        "EVEN: mov.u32 %r3, 200;\n"
                        "BOTH: activemask.b32 %r4; " GIVE("%r3") "st.global.u32 [%rd2+128], %r4; ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_divergent);
}

static void has_sums(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i * (i + 1) / 2 * 3);
    ptx_running_is(r, 32, UINT32_MAX);
}

/* Each lane goes round the outer loop as often as its number, and three times round the inner one. */
static void nested_loops(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
                        "OUTER: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;\n"
                        "add.u32 %r3, %r3, 1; mov.u32 %r4, 0;\n"
                        "INNER: add.u32 %r2, %r2, %r3; add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; @%p2 bra INNER;\n"
                        "bra OUTER;\n"
                        "DONE: activemask.b32 %r5; " GIVE("%r2") "st.global.u32 [%rd2+128], %r5; ret;"),
             1, 32, 0, PTX_END_COMPLETE, has_sums);
}

static void is_half(PtxRunning *r) {
    bool known = true;
    for (uint32_t i = 0; i < 32; i++)
        if (i % 2)
            ptx_running_is(r, i, 0xaaaaaaaa);
        else
            ptx_running_word(r, i, &known), assert_false(known);
}

static void lanes_exit(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 exit;\n"
                        "activemask.b32 %r3; " GIVE("%r3") "bar.warp.sync -1; ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_half);
}

static void is_table(PtxRunning *r) {
    static const uint32_t words[] = {7, 8, 9, 8};
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, words[i % 4]);
    ptx_running_is(r, 32, UINT32_MAX);
}

static void goes_by_tables(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 3;\n"
                        "T: .branchtargets A, B, C, B;\n"
                        "brx.idx %r2, T;\n"
                        "A: mov.u32 %r3, 7; bra END; B: mov.u32 %r3, 8; bra END; C: mov.u32 %r3, 9;\n"
                        "END: activemask.b32 %r4; " GIVE("%r3") "st.global.u32 [%rd2+128], %r4; ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_table);
}

/* ---- Calls ---- */

static void is_called(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? 3 * i + 1 : i);
    ptx_running_is(r, 32, UINT32_MAX);
}

/* Odd lanes call, with an argument in .param, and one that is a register. */
static void calls_functions(void **state) {
    (void)state;
    run_text(
        "sm_90",
        ".func (.param .b32 result) f(.param .b32 a) { .reg .b32 %r<4>; ld.param.b32 %r1, [a];\n"
        "mul.lo.u32 %r2, %r1, 3; st.param.b32 [result], %r2; ret; }\n"
        ".func (.reg .b32 to) g(.reg .b32 from) { add.u32 to, from, 1; ret; }\n" KERNEL(
            OWN
            "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, %r1; @%p1 bra END;\n"
            "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), f, (x); ld.param.b32 %r3, [y]; }\n"
            "call (%r3), g, (%r3);\n"
            "END: activemask.b32 %r4; " GIVE("%r3") "st.global.u32 [%rd2+128], %r4; ret;"),
        1, 32, 0, PTX_END_COMPLETE, is_called);
}

static void is_factorial(PtxRunning *r) {
    uint32_t product = 1;
    for (uint32_t i = 0; i < 12; i++) {
        ptx_running_is(r, i, product);
        product *= i + 1;
    }
}

/* Each lane as deep as its number; what it keeps lies in local memory. */
static void calls_itself(void **state) {
    (void)state;
    run_text(
        "sm_90",
        ".func (.param .b32 result) f(.param .b32 a)\n"
        "{ .reg .b32 %r<8>; .reg .pred %p; .local .align 4 .b32 kept; ld.param.b32 %r1, [a];\n"
        "mov.u32 %r5, 1; setp.le.u32 %p, %r1, 1; @%p bra END; st.local.u32 [kept], %r1; sub.u32 %r2, %r1, 1;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), f, (x); ld.param.b32 %r3, [y]; }\n"
        "ld.local.u32 %r4, [kept]; mul.lo.u32 %r5, %r3, %r4;\n"
        "END: st.param.b32 [result], %r5; ret; }\n" KERNEL(
            OWN
            "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), f, (x); ld.param.b32 %r3, [y]; }\n" GIVE(
                "%r3") "ret;"),
        1, 12, 0, PTX_END_COMPLETE, is_factorial);
}

static void is_indirect(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? i + 1000 : i + 2000);
    ptx_running_is(r, 32, UINT32_MAX);
}

static void calls_by_address(void **state) {
    (void)state;
    run_text("sm_90",
             ".func (.reg .b32 to) g(.reg .b32 from) { add.u32 to, from, 1000; ret; }\n"
             ".func (.reg .b32 to) h(.reg .b32 from) { add.u32 to, from, 2000; ret; }\n"
             ".global .u64 table[2] = {h, g};\n" KERNEL(
                 OWN "and.b32 %r2, %r1, 1; mul.wide.u32 %rd6, %r2, 8; mov.u64 %rd7, table; add.s64 %rd6, %rd6, %rd7;\n"
                     "ld.global.u64 %rd8, [%rd6];\n"
                     "P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
                     "call (%r3), %rd8, (%r1), P;\n"
                     "activemask.b32 %r4; " GIVE("%r3") "st.global.u32 [%rd2+128], %r4; ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_indirect);
}

/* ---- Addresses ---- */

static void is_generic(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, 5 * i + 3);
    ptx_running_is(r, 32, 1 + 2 * 2 + 4 * 3);
}

/* A word in shared memory, one in local memory and the parameter, all by generic addresses. */
static void generic_addresses(void **state) {
    (void)state;
    run_text("sm_90",
             ".shared .align 4 .b32 s[32];\n" KERNEL(
                 ".local .align 4 .b32 l;\n" OWN
                 "mov.u64 %rd6, s; cvta.shared.u64 %rd7, %rd6; add.s64 %rd7, %rd7, %rd4;\n"
                 "mul.lo.u32 %r2, %r1, 2; st.u32 [%rd7], %r2;\n"
                 "mov.u64 %rd8, l; cvta.local.u64 %rd9, %rd8; mul.lo.u32 %r3, %r1, 3; st.u32 [%rd9], %r3;\n"
                 "mov.u64 %rd10, n; cvta.param.u64 %rd11, %rd10; ld.u32 %r4, [%rd11];\n"
                 "ld.u32 %r5, [%rd7]; ld.local.u32 %r6, [l]; add.u32 %r7, %r5, %r6; add.u32 %r7, %r7, %r4; " GIVE(
                     "%r7") "isspacep.shared %p1, %rd7; isspacep.local %p2, %rd9; isspacep.global %p3, %rd2;\n"
                            "isspacep.global %p4, %rd7; selp.u32 %r10, 1, 0, %p1; selp.u32 %r11, 2, 0, %p2;\n"
                            "selp.u32 %r12, 3, 0, %p3; selp.u32 %r13, 100, 0, %p4; mul.lo.u32 %r11, %r11, 2;\n"
                            "mul.lo.u32 %r12, %r12, 4; add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12; add.u32 "
                            "%r10, %r10, %r13;\n"
                            "st.global.u32 [%rd2+128], %r10; ret;"),
             1, 32, 3, PTX_END_COMPLETE, is_generic);
}

/* ---- Atomics ---- */

static void has_ticket(PtxRunning *r) {
    bool known;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t ticket = ptx_running_word(r, i, &known);
        assert_true(known && ticket < 64);
        seen += ticket;
    }
    assert_int_equal(seen, 63 * 64 / 2);
}

static void atomics_are_apart(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 count;\n" KERNEL(POINTERS "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 32, %r1;\n"
                                                     "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd3, %rd2, %rd4;\n"
                                                     "atom.global.add.u32 %r3, [count], 1; " GIVE("%r3") "ret;"),
             2, 32, 0, PTX_END_COMPLETE, has_ticket);
}

static void has_atomics(PtxRunning *r) {
    static const uint32_t words[] = {0x40400000, 5, 0, 7, 0x42004200, 9, 0xfffffffe, 3, 0, 12, 0xc0c0};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        ptx_running_is(r, i, words[i]);
}

static void atomics_of_all_kinds(void **state) {
    (void)state;
    run_text(
        "sm_90",
        ".shared .align 16 .b32 s[16];\n" KERNEL(
            POINTERS
            "mov.b32 %r2, 0x3f800000; st.shared.b32 [s], %r2; mov.f32 %f1, 0f40000000; red.shared.add.f32 [s], %f1;\n"
            "st.shared.b32 [s+4], 5; mov.u32 %r3, 9; atom.shared.cas.b32 %r4, [s+4], 4, %r3;\n"
            "st.shared.b32 [s+8], 7; atom.shared.inc.u32 %r5, [s+8], 7;\n"
            "st.shared.b32 [s+12], 0; atom.shared.dec.u32 %r6, [s+12], 7;\n"
            "mov.b32 %r7, 0x3c003c00; st.shared.b32 [s+16], %r7; mov.b32 %r8, 0x40004000;\n"
            "red.shared.add.noftz.f16x2 [s+16], %r8;\n"
            "st.shared.b32 [s+20], 9; atom.shared.max.s32 %r9, [s+20], -2;\n"
            "st.shared.b32 [s+24], 9; atom.shared.max.u32 %r10, [s+24], -2;\n"
            "st.shared.b32 [s+28], 9; atom.shared.exch.b32 %r11, [s+28], 3;\n"
            "st.shared.b32 [s+32], 0; red.shared.and.b32 [s+32], 5;\n"
            "st.shared.b32 [s+36], 4; red.shared.or.b32 [s+36], 8;\n"
            "st.shared.b32 [s+40], 0; mov.u16 %rs1, 0; mov.u16 %rs2, 0xc0c0; atom.shared.cas.b16 %rs3, [s+40], %rs1, "
            "%rs2;\n"
            "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [s]; st.global.v4.u32 [%rd2], {%r20, %r21, %r22, %r23};\n"
            "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [s+16]; st.global.v4.u32 [%rd2+16], {%r20, %r21, %r22, %r23};\n"
            "ld.shared.v2.u32 {%r20, %r21}, [s+32]; st.global.v2.u32 [%rd2+32], {%r20, %r21};\n"
            "ld.shared.u32 %r20, [s+40]; st.global.u32 [%rd2+40], %r20; ret;"),
        1, 1, 0, PTX_END_COMPLETE, has_atomics);
}

/* ---- Waiting for others ---- */

static void is_flagged(PtxRunning *r) {
    ptx_running_is(r, 0, 42);
}

/* CTA 0 waits for what CTA 1 writes. */
static void ctas_wait_for_each_other(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 flag; .global .u32 data;\n" KERNEL(
                 POINTERS "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra GIVES;\n"
                          "WAIT: ld.acquire.gpu.global.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT;\n"
                          "ld.global.u32 %r4, [data]; st.global.u32 [%rd2], %r4; ret;\n"
                          "GIVES: mov.u32 %r5, 42; st.global.u32 [data], %r5; mov.u32 %r6, 1;\n"
                          "st.release.gpu.global.u32 [flag], %r6; ret;"),
             2, 1, 0, PTX_END_COMPLETE, is_flagged);
}

static void nobody_gives(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 flag;\n" KERNEL(
                 POINTERS "WAIT: ld.acquire.gpu.global.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT;\n"
                          "mov.u32 %r6, 1; st.release.gpu.global.u32 [flag], %r6; ret;"),
             2, 64, 0, PTX_END_STUCK, NULL);
}

static void is_spinning(PtxRunning *r) {
    const PtxGroup *group = r->machine->ctas[0]->warps[0].groups;
    assert_int_equal(group->status, PTX_IS_SPINS);
    assert_true(r->machine->used < 10000);
}

/* With a number of the lap that wraps, and a pause: the state is the same only every fourth time. */
static void livelock_is_proven(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 lock;\n" KERNEL(
                 POINTERS "mov.u32 %r4, 0;\n"
                          "WAIT: atom.global.cas.b32 %r3, [lock], 1, 2; nanosleep.u32 20; add.u32 %r4, %r4, 1;\n"
                          "and.b32 %r4, %r4, 3; setp.ne.u32 %p2, %r3, 1; @%p2 bra WAIT; ret;"),
             1, 1, 0, PTX_END_STUCK, is_spinning);
}

static void is_locked(PtxRunning *r) {
    ptx_running_is(r, 0, 64);
}

/* Lanes of a warp take a lock one after the other: one that has it has to go on while others wait for it. */
static void lanes_wait_for_each_other(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 lock; .global .u32 sum;\n" KERNEL(
                 POINTERS
                 "WAIT: atom.acquire.gpu.global.cas.b32 %r3, [lock], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra WAIT;\n"
                 "ld.global.u32 %r4, [sum]; add.u32 %r4, %r4, 1; st.global.u32 [sum], %r4; st.global.u32 [%rd2], %r4;\n"
                 "mov.u32 %r5, 0; st.release.gpu.global.u32 [lock], %r5; ret;"),
             1, 64, 0, PTX_END_COMPLETE, is_locked);
}

static void is_synced(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? 1 : 2);
}

/* Two bar.warp.sync of one mask at different places meet; shuffles of lanes that parted come together again. */
static void lanes_sync_apart(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                        "bar.warp.sync -1; mov.u32 %r3, 1; bra BOTH;\n"
                        "EVEN: bar.warp.sync -1; mov.u32 %r3, 2;\n"
                        "BOTH: " GIVE("%r3") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_synced);
}

/* Half of the warp never comes. */
static void lanes_do_not_come(void **state) {
    (void)state;
    run_text("sm_90",
             ".global .u32 flag;\n" KERNEL(
                 OWN "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                     "bar.warp.sync -1; bra BOTH;\n"
                     "EVEN: ld.relaxed.gpu.global.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;\n"
                     "BOTH: ret;"),
             1, 32, 0, PTX_END_STUCK, NULL);
}

/* ---- What must not be done ---- */

static void expect_fault(const char *text, uint32_t n, RuleId rule, uint32_t lanes) {
    PtxRunning r;
    ptx_running_read(&r, "sm_90", text);
    set_n(&r, n);
    ptx_running_expect(&r, PTX_END_FAULT);
    assert_string_equal(rule_of(r.machine->fault.rule)->id, rule_of(rule)->id);
    assert_non_null(r.machine->fault.what);
    assert_int_equal(r.machine->fault.lanes, lanes);
    ptx_running_end(&r);
}

static void bounds(void **state) {
    (void)state;
    const char *global =
        KERNEL(OWN "mul.wide.u32 %rd6, %r39, 4; add.s64 %rd6, %rd6, %rd5; ld.global.u32 %r2, [%rd6]; ret;");
    expect_fault(global, 1024 - 31, RULE_GLOBAL_OUT_OF_BOUNDS, UINT32_C(1) << 31);
    const char *shared = ".shared .b32 s[32];\n" KERNEL(
        POINTERS "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r39;\n"
                 "st.shared.u32 [%r2], %r1; ret;");
    expect_fault(shared, 4, RULE_SHARED_OUT_OF_BOUNDS, UINT32_C(1) << 31);
    expect_fault(shared, 2, RULE_ACCESS_ALIGNMENT, 1);
    expect_fault(shared, (uint32_t)-4, RULE_SHARED_OUT_OF_BOUNDS, 1);
    const char *local = KERNEL(".local .align 4 .b32 l[4];\n" POINTERS
                               "mov.u64 %rd6, l; cvt.u64.u32 %rd7, %r39; add.s64 %rd6, %rd6, %rd7;\n"
                               "st.local.u32 [%rd6], %r1; ret;");
    expect_fault(local, 16, RULE_LOCAL_OUT_OF_BOUNDS, 1);
    expect_fault(KERNEL("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1+4]; ret;"), 0, RULE_ACCESS_INVALID, 1);
    expect_fault(KERNEL("mov.u64 %rd1, 0x123456789000; ld.u32 %r1, [%rd1]; ret;"), 0, RULE_ACCESS_INVALID, 1);
    expect_fault(".const .u32 c = 5;\n" KERNEL(
                     "mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; mov.u32 %r1, 1; st.u32 [%rd2], %r1; ret;"),
                 0, RULE_ACCESS_INVALID, 1);
    expect_fault(KERNEL("trap;"), 0, RULE_KERNEL_TRAP, UINT32_MAX);
}

static void nothing_is_out_of_bounds(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "mul.wide.u32 %rd6, %r39, 4; add.s64 %rd6, %rd6, %rd5; ld.global.u32 %r2, [%rd6];\n"
                        "sub.u32 %r2, %r2, %r39; " GIVE("%r2") "ret;"),
             1, 32, 1024 - 32, PTX_END_COMPLETE, is_copied);
}

/* ---- What is not known ---- */

static void unknown_values(void **state) {
    (void)state;
    PtxRunning r;
    bool known;
    ptx_running_read(&r, "sm_90",
                     ".shared .b32 s[4];\n" KERNEL(OWN "ld.shared.u32 %r2, [s]; add.u32 %r3, %r2, 1; " GIVE(
                         "%r3") "mov.u32 %r4, %clock; setp.eq.u32 %p1, %r4, 7; @%p1 bra A; A: ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    ptx_running_word(&r, 0, &known);
    assert_false(known);
    assert_int_equal(r.machine->unset_count, 1);
    assert_int_equal(r.machine->unset[0].space, PTX_SPACE_SHARED);
    assert_int_equal(r.machine->guess_count, 1);
    assert_non_null(r.machine->guesses[0].source);
    assert_int_equal(r.machine->guesses[0].source->form->evaluator, PTX_EVALUATE_MOV);
    ptx_running_end(&r);
    ptx_running_read(
        &r, "sm_90",
        ".shared .b32 s[4];\n" KERNEL("ld.shared.u32 %r2, [s]; add.u32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 7;\n"
                                      "@%p1 bra A; A: ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_ptr_equal(r.machine->guesses[0].source, r.machine->unset[0].code);
    ptx_running_end(&r);
}

static void what_is_not_modeled_stops(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90", ".extern .func other();\n" KERNEL("call other; ret;"));
    ptx_running_expect(&r, PTX_END_UNKNOWN);
    assert_int_equal(r.program->unknown_count, 1);
    ptx_running_end(&r);
}

/* ---- More memory ---- */

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
                 RULE_GLOBAL_OUT_OF_BOUNDS, 1);
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
    r.machine = ptx_machine(r.program, &r.launch, GEAR_DATA, &problem);
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

static void holds(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90", LOST);
    r.launch.grid[0] = 2;
    r.launch.block[0] = 1;
    uint32_t store = 0;
    while (r.program->code[store].form->row->evaluate[0] || !r.program->code[store].visible)
        store++;
    r.schedule = (PtxSchedule){.kind = SCHEDULE_HELD, .held = 0, .held_count = 1, .held_pc = store};
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
            assert_non_null(event->spots[__builtin_ctz(i)].block);
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
    r.machine = ptx_machine(r.program, &r.launch, GEAR_DATA, &problem);
    r.machine->observe = see;
    r.machine->observer = &seen;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    ptx_running_end(&r);
    return seen;
}

static void tells_events(void **state) {
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

/* ---- Gears ---- */

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
    r.machine = ptx_machine(r.program, &r.launch, GEAR_SLICE, &problem);
    r.machine->observe = see;
    r.machine->observer = &seen;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_int_equal(seen.reads, 1);
    assert_int_equal(seen.writes, 1);
    ptx_running_word(&r, 0, &known);
    assert_false(known);
    ptx_running_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_each_word),
        cmocka_unit_test(loads_vectors_and_signs),
        cmocka_unit_test(lanes_part_and_meet),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(lanes_exit),
        cmocka_unit_test(goes_by_tables),
        cmocka_unit_test(calls_functions),
        cmocka_unit_test(calls_itself),
        cmocka_unit_test(calls_by_address),
        cmocka_unit_test(generic_addresses),
        cmocka_unit_test(atomics_are_apart),
        cmocka_unit_test(atomics_of_all_kinds),
        cmocka_unit_test(ctas_wait_for_each_other),
        cmocka_unit_test(nobody_gives),
        cmocka_unit_test(livelock_is_proven),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(lanes_sync_apart),
        cmocka_unit_test(lanes_do_not_come),
        cmocka_unit_test(bounds),
        cmocka_unit_test(nothing_is_out_of_bounds),
        cmocka_unit_test(unknown_values),
        cmocka_unit_test(what_is_not_modeled_stops),
        cmocka_unit_test(wide_words),
        cmocka_unit_test(atomics_of_vectors),
        cmocka_unit_test(variables_have_values),
        cmocka_unit_test(allocates_on_the_stack),
        cmocka_unit_test(allocates_on_the_heap),
        cmocka_unit_test(prints),
        cmocka_unit_test(assertions),
        cmocka_unit_test(reads_other_ctas),
        cmocka_unit_test(replays),
        cmocka_unit_test(holds),
        cmocka_unit_test(tells_events),
        cmocka_unit_test(skips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
