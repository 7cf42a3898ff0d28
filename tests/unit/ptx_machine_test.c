/* The PTX machine: control, calls, memory, what must not be done, on small kernels. */
#include "ptx_running.h"

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

/* ---- Where a CTA is ---- */

/* Clusters of 1 x 2 x 2 in a grid of 2 x 2 x 4: each CTA writes its z at its place. */
static void ids_in_clusters(void **state) {
    (void)state;
    PtxRunning r;
    ptx_running_read(&r, "sm_90",
                     KERNEL(POINTERS "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ctaid.z;"
                                     "mad.lo.u32 %r5, %r4, 2, %r3; mad.lo.u32 %r5, %r5, 2, %r2;"
                                     "mul.wide.u32 %rd4, %r5, 4; add.s64 %rd3, %rd2, %rd4;"
                                     "mad.lo.u32 %r6, %r4, 16, %r3; mad.lo.u32 %r6, %r6, 16, %r2;" GIVE("%r6") "ret;"));
    memcpy(r.launch.grid, (uint32_t[]){2, 2, 4}, sizeof r.launch.grid);
    memcpy(r.launch.cluster, (uint32_t[]){1, 2, 2}, sizeof r.launch.cluster);
    r.launch.block[0] = 1;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    for (uint32_t i = 0; i < 16; i++)
        ptx_running_is(&r, i, (i / 4 * 16 + i / 2 % 2) * 16 + i % 2);
    ptx_running_end(&r);
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

/* Each lane goes around the outer loop as often as its number, and three times round the inner one. */
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

/* A table is what a function begins with. */
static void is_picked(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? 20 : 10);
}

static void begins_with_a_table(void **state) {
    (void)state;
    run_text("sm_90",
             ".func (.reg .b32 to) pick(.reg .b32 from) { T: .branchtargets A, B; brx.idx from, T;\n"
             "A: mov.u32 to, 10; ret; B: mov.u32 to, 20; ret; }\n" KERNEL(
                 OWN "and.b32 %r2, %r1, 1; call (%r3), pick, (%r2);\n" GIVE("%r3") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_picked);
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

static void is_guarded(PtxRunning *r) {
    bool known = true;
    for (uint32_t i = 0; i < 40; i++) {
        if (i % 4 == 3)
            ptx_running_word(r, i, &known), assert_false(known); /* it ended in the function */
        else
            ptx_running_is(r, i, i % 4 == 2 ? 50 : i % 4 == 1 ? 60 : i);
    }
    ptx_running_is(r, 40, 0x77777777);
}

/* Calls, returns and ends that only some lanes make; the last warp has eight. */
static void guarded_calls(void **state) {
    (void)state;
    run_text("sm_90",
             ".func (.reg .b32 to) f(.reg .b32 from) { .reg .pred %p, %q; .reg .b32 %r; and.b32 %r, from, 3;\n"
             "mov.u32 to, 50; setp.eq.u32 %p, %r, 3; setp.eq.u32 %q, %r, 2; @%p exit; @%q ret; mov.u32 to, 60; ret; "
             "}\n" KERNEL(OWN
                          "and.b32 %r2, %r1, 3; setp.ne.u32 %p1, %r2, 0; mov.u32 %r3, %r1; @%p1 call (%r3), f, (%r1);\n"
                          "activemask.b32 %r4; " GIVE(
                              "%r3") "setp.ge.u32 %p2, %r1, 32; @%p2 exit; st.global.u32 [%rd2+160], %r4; ret;"),
             1, 40, 0, PTX_END_COMPLETE, is_guarded);
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

static void nothing_gives(void **state) {
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

static void has_turns(PtxRunning *r) {
    ptx_running_is(r, 0, 50 * 40);
}

/* A loop in a function that is called again and again, each time with the same registers, is no livelock; that of the
 * caller, in which nothing changes, is one. */
#define LOOP_IN_FUNCTION                                            \
    ".func f() { .reg .b32 %r<4>; .reg .pred %p; mov.u32 %r1, 0;\n" \
    "L: add.u32 %r1, %r1, 1; and.b32 %r2, %r1, 31; setp.ne.u32 %p, %r2, 0; @%p bra L; ret; }\n"

static void loops_in_functions(void **state) {
    (void)state;
    run_text("sm_90",
             LOOP_IN_FUNCTION KERNEL(POINTERS
                                     "mov.u32 %r2, 0; L: call f; add.u32 %r2, %r2, 40;\n"
                                     "setp.lt.u32 %p1, %r2, 2000; @%p1 bra L; st.global.u32 [%rd2], %r2; ret;"),
             1, 1, 0, PTX_END_COMPLETE, has_turns);
    run_text("sm_90",
             LOOP_IN_FUNCTION ".global .u32 flag;\n" KERNEL(
                 POINTERS
                 "L: call f; ld.relaxed.gpu.global.u32 %r2, [flag]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L; ret;"),
             1, 1, 0, PTX_END_STUCK, NULL);
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

static void has_spin_timeout(PtxRunning *r) {
    ptx_running_is(r, 0, 7);
}

/* One lane counts while it waits for what the others do behind the place where they would meet it. */
static void lanes_do_not_wait_forever(void **state) {
    (void)state;
    run_text(
        "sm_90",
        ".global .u32 flag;\n" KERNEL(
            POINTERS
            "mov.u32 %r4, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra BOTH;\n"
            "WAIT: add.u32 %r4, %r4, 1; ld.acquire.gpu.global.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0;\n"
            "@%p2 bra WAIT; st.global.u32 [%rd2], %r3;\n"
            "BOTH: setp.ne.u32 %p3, %r1, 31; @%p3 bra END; mov.u32 %r5, 7; st.release.gpu.global.u32 [flag], %r5;\n"
            "END: ret;"),
        1, 32, 0, PTX_END_COMPLETE, has_spin_timeout);
}

static void is_synced(PtxRunning *r) {
    for (uint32_t i = 0; i < 32; i++)
        ptx_running_is(r, i, i % 2 ? 1 : 2);
}

/* Two bar.warp.sync of one mask at different places meet; shuffles of lanes that separated come together again. */
static void lanes_sync_apart(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                        "bar.warp.sync -1; mov.u32 %r3, 1; bra BOTH;\n"
                        "EVEN: bar.warp.sync -1; mov.u32 %r3, 2;\n"
                        "BOTH: " GIVE("%r3") "ret;"),
             1, 32, 0, PTX_END_COMPLETE, is_synced);
}

/* Each lane with its neighbor, all by one instruction. */
static void lanes_sync_in_pairs(void **state) {
    (void)state;
    run_text("sm_90",
             KERNEL(OWN "and.b32 %r2, %r1, 30; mov.u32 %r3, 3; shl.b32 %r3, %r3, %r2; setp.lt.u32 %p1, %r1, 16;\n"
                        "@%p1 bra LOW; bar.warp.sync %r3; bra BOTH; LOW: bar.warp.sync %r3;\n"
                        "BOTH: activemask.b32 %r4; and.b32 %r5, %r1, 1; sub.u32 %r6, 2, %r5; " GIVE("%r6") "ret;"),
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

static void bounds(void **state) {
    (void)state;
    const char *global =
        KERNEL(OWN "mul.wide.u32 %rd6, %r39, 4; add.s64 %rd6, %rd6, %rd5; ld.global.u32 %r2, [%rd6]; ret;");
    expect_fault(global, 1024 - 31, RULE_GLOBAL_OUT_OF_RANGE, UINT32_C(1) << 31);
    const char *shared = ".shared .b32 s[32];\n" KERNEL(
        POINTERS "mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r39;\n"
                 "st.shared.u32 [%r2], %r1; ret;");
    expect_fault(shared, 4, RULE_SHARED_OUT_OF_RANGE, UINT32_C(1) << 31);
    expect_fault(shared, 2, RULE_ACCESS_ALIGNMENT, 1);
    expect_fault(shared, (uint32_t)-4, RULE_SHARED_OUT_OF_RANGE, 1);
    const char *local = KERNEL(".local .align 4 .b32 l[4];\n" POINTERS
                               "mov.u64 %rd6, l; cvt.u64.u32 %rd7, %r39; add.s64 %rd6, %rd6, %rd7;\n"
                               "st.local.u32 [%rd6], %r1; ret;");
    expect_fault(local, 16, RULE_LOCAL_OUT_OF_RANGE, 1);
    expect_fault(KERNEL("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1+4]; ret;"), 0, RULE_ACCESS_INVALID, 1);
    expect_fault(KERNEL("mov.u64 %rd1, 0x123456789000; ld.u32 %r1, [%rd1]; ret;"), 0, RULE_ACCESS_INVALID, 1);
    expect_fault(".const .u32 c = 5;\n" KERNEL(
                     "mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; mov.u32 %r1, 1; st.u32 [%rd2], %r1; ret;"),
                 0, RULE_ACCESS_INVALID, 1);
    expect_fault(KERNEL("trap;"), 0, RULE_KERNEL_TRAP, UINT32_MAX);
}

static void recursion_has_an_end(void **state) {
    (void)state;
    expect_fault(".func f() { call f; ret; }\n" KERNEL("call f; ret;"), 0, RULE_LOCAL_OUT_OF_RANGE, UINT32_MAX);
}

/* A loop whose end it is not known ends in every havoc choice; which way a branch goes depends on it. */
static void havoc_choices(void **state) {
    (void)state;
    PtxRunning r;
    uint32_t ways = 0;
    ptx_running_read(&r, "sm_90",
                     KERNEL(POINTERS "mov.u32 %r2, 0; L: add.u32 %r2, %r2, 1; mov.u32 %r3, %clock;\n"
                                     "setp.lt.u32 %p1, %r3, 100; @%p1 bra L; mov.u32 %r4, %clock; mov.u32 %r5, 1;\n"
                                     "setp.lt.u32 %p2, %r4, 100; @%p2 mov.u32 %r5, 2; st.global.u32 [%rd2], %r2;\n"
                                     "st.global.u32 [%rd2+4], %r5; ret;"));
    for (unsigned havoc_choice = 0; havoc_choice < 4; havoc_choice++) {
        bool known;
        const char *problem;
        if (!r.machine)
            r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
        r.machine->havoc_choice = havoc_choice;
        ptx_running_expect(&r, PTX_END_COMPLETE);
        uint32_t turns = ptx_running_word(&r, 0, &known) > 1, way = ptx_running_word(&r, 1, &known) > 1;
        ways |= 1 << (2 * turns + way);
    }
    assert_int_equal(ways, 15);
    ptx_running_end(&r);
}

/* Run for its results, a thread that only waits for the clock is no hang, and waits in few steps for as long as it
 * says. */
static void clocks_go_on(void **state) {
    (void)state;
    PtxRunning r;
    bool known;
    ptx_running_read(&r, "sm_90",
                     KERNEL(POINTERS ".reg .b64 %c<4>; mov.u64 %c0, %clock64; L: mov.u64 %c1, %clock64;\n"
                                     "sub.s64 %c2, %c1, %c0; setp.lt.s64 %p1, %c2, 20000000; @%p1 bra L;\n"
                                     "shr.u64 %c2, %c2, 20; cvt.u32.u64 %r2, %c2; st.global.u32 [%rd2], %r2; ret;"));
    const char *problem;
    r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
    r.machine->results = true;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_in_range(ptx_running_word(&r, 0, &known), 20000000 >> 20, 2 * 20000000 >> 20);
    assert_true(r.machine->used < 10000);
    ptx_running_end(&r);
}

static void nothing_is_out_of_range(void **state) {
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
    assert_int_equal(r.machine->havoc_count, 1);
    assert_non_null(r.machine->havocs[0].source);
    assert_int_equal(r.machine->havocs[0].source->form->evaluator, PTX_EVALUATE_MOV);
    ptx_running_end(&r);
    ptx_running_read(
        &r, "sm_90",
        ".shared .b32 s[4];\n" KERNEL("ld.shared.u32 %r2, [s]; add.u32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 7;\n"
                                      "@%p1 bra A; A: ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    assert_ptr_equal(r.machine->havocs[0].source, r.machine->unset[0].code);
    ptx_running_end(&r);
}

/* Three conditions that are not known: bit i of what a thread gives is the way that it went at the i-th. */
static void run_ways(PtxRunning *r, unsigned havoc_choice, const uint8_t *spans) {
    ptx_running_go(r);
    r->machine->havoc_choice = havoc_choice;
    r->machine->spans = spans;
    ptx_running_expect(r, PTX_END_COMPLETE);
    assert_int_equal(r->machine->havoc_count, 3);
}

static void unknown_conditions_go_as_the_world_says(void **state) {
    (void)state;
    PtxRunning r;
    uint8_t spans[64];
    unsigned seen = 0;
    ptx_running_read(&r, "sm_90",
                     ".shared .b32 s[4];\n" KERNEL(
                         OWN "mov.u32 %r5, 0; ld.shared.u32 %r2, [s]; ld.shared.u32 %r3, [s+4]; ld.shared.u32 %r4, "
                             "[s+8]; setp.eq.u32 %p1, %r2, 1; setp.eq.u32 %p2, %r3, 1; setp.eq.u32 %p3, %r4, 1;\n"
                             "@%p1 add.u32 %r5, %r5, 1; @%p2 add.u32 %r5, %r5, 2; @%p3 add.u32 %r5, %r5, 4;\n"
                             "@!%p1 add.u32 %r5, %r5, 8; @%p1 bra A; A: " GIVE("%r5") "ret;"));
    r.launch.block[0] = 64;
    for (unsigned havoc_choice = 0; havoc_choice < HAVOC_CHOICE_PLAIN;
         havoc_choice++) { /* every combination, and a condition stays what it was */
        bool known;
        run_ways(&r, havoc_choice, NULL);
        uint32_t given = ptx_running_word(&r, 0, &known);
        assert_int_equal(given >> 3, !(given & 1));
        seen |= 1u << (given & 7);
        ptx_running_is(&r, 63, given);
    }
    assert_int_equal(seen, 0xff);
    run_ways(&r, HAVOC_CHOICE_CHOSEN | 2, NULL);
    ptx_running_is(&r, 40, 8 + 2);
    assert_int_equal(r.machine->havocs[1].went, PTX_RAN_YES);
    assert_int_equal(r.machine->havocs[2].went, PTX_RAN_NO);
    memset(spans, SPAN_NONE, sizeof spans); /* lanes part, */
    run_ways(&r, HAVOC_CHOICE_MIXED | 2 * 1, spans);
    ptx_running_is(&r, 5, 8);
    ptx_running_is(&r, 6, 7);
    run_ways(&r, HAVOC_CHOICE_MIXED | (2 * 1 + 1), spans);
    ptx_running_is(&r, 5, 7);
    memset(spans, SPAN_WARP, sizeof spans); /* warps do, */
    run_ways(&r, HAVOC_CHOICE_MIXED | 2 * HAVOC_CHOICE_WARP_BIT, spans);
    ptx_running_is(&r, 31, 8);
    ptx_running_is(&r, 32, 7);
    memset(spans, SPAN_CTA, sizeof spans); /* and nothing in a CTA does */
    run_ways(&r, HAVOC_CHOICE_MIXED | 2 * HAVOC_CHOICE_WARP_BIT, spans);
    ptx_running_is(&r, 31, 8);
    ptx_running_is(&r, 32, 8);
    ptx_running_end(&r);
}

/* A store to an unknown place of local memory. */
static void unknown_local_stores(void **state) {
    (void)state;
    PtxRunning r;
    bool known;
    ptx_running_read(
        &r, "sm_90",
        ".shared .b32 s[4];\n" KERNEL(OWN ".local .b32 l[4]; ld.shared.u32 %r2, [s]; st.local.u32 [l], 5;\n"
                                          "and.b32 %r2, %r2, 12; mov.u32 %r3, l; add.u32 %r3, %r3, %r2;\n"
                                          "st.local.u32 [%r3], 6; ld.local.u32 %r4, [l]; " GIVE("%r4") "ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    ptx_running_word(&r, 0, &known);
    assert_false(known);
    assert_int_equal(r.machine->havoc_count, 0);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_each_word),
        cmocka_unit_test(loads_vectors_and_signs),
        cmocka_unit_test(lanes_part_and_meet),
        cmocka_unit_test(nested_loops),
        cmocka_unit_test(ids_in_clusters),
        cmocka_unit_test(lanes_exit),
        cmocka_unit_test(goes_by_tables),
        cmocka_unit_test(begins_with_a_table),
        cmocka_unit_test(calls_functions),
        cmocka_unit_test(calls_itself),
        cmocka_unit_test(guarded_calls),
        cmocka_unit_test(calls_by_address),
        cmocka_unit_test(generic_addresses),
        cmocka_unit_test(atomics_are_apart),
        cmocka_unit_test(atomics_of_all_kinds),
        cmocka_unit_test(ctas_wait_for_each_other),
        cmocka_unit_test(nothing_gives),
        cmocka_unit_test(livelock_is_proven),
        cmocka_unit_test(loops_in_functions),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(lanes_do_not_wait_forever),
        cmocka_unit_test(lanes_sync_apart),
        cmocka_unit_test(lanes_sync_in_pairs),
        cmocka_unit_test(lanes_do_not_come),
        cmocka_unit_test(bounds),
        cmocka_unit_test(recursion_has_an_end),
        cmocka_unit_test(havoc_choices),
        cmocka_unit_test(clocks_go_on),
        cmocka_unit_test(nothing_is_out_of_range),
        cmocka_unit_test(unknown_values),
        cmocka_unit_test(unknown_conditions_go_as_the_world_says),
        cmocka_unit_test(unknown_local_stores),
        cmocka_unit_test(what_is_not_modeled_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
