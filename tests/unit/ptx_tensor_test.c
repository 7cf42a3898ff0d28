/* Tensor memory in the machine of PTX: who has which columns, the shapes of loads and stores, copies, MMAs and commits.
 */
#include "ptx_running.h"

#undef KERNEL
#define KERNEL(body)                                                                                           \
    ".visible .entry k(.param .u64 in, .param .u64 out)"                                                       \
    "{ .reg .pred %p<8>; .reg .b32 %r<80>; .reg .b64 %rd<20>; .shared .align 1024 .b8 tile[16384];"            \
    ".shared .align 8 .b64 bar; .shared .align 4 .b32 where, other;\n"                                         \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;\n"     \
    "add.s64 %rd3, %rd2, %rd4; add.s64 %rd5, %rd1, %rd4; mov.u32 %r2, tile; shr.u32 %r3, %r1, 5;\n"            \
    "setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r1, 0; mov.u32 %r60, where; mov.u32 %r61, bar; mov.u32 %r62, " \
    "other;\n" body "}"
/* %r10: where its columns begin, with the lane of this warp. */
#define ALLOCATE(columns)                                                                             \
    "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r60], " columns "; bar.sync 0;\n" \
    "ld.shared.u32 %r9, [where]; and.b32 %r11, %r3, 3; shl.b32 %r11, %r11, 21; add.u32 %r10, %r9, %r11;\n"
#define FREE(columns) "bar.sync 0; @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, " columns ";\n"
/* Each word is lane * 512 + column, of 32 columns, 8 at a time. */
#define STORE                                                                                                 \
    "shl.b32 %r12, %r1, 9; mov.u32 %r13, 0; mov.u32 %r14, %r10;\n"                                            \
    "WRITE: add.u32 %r20, %r12, %r13; add.u32 %r21, %r20, 1; add.u32 %r22, %r20, 2; add.u32 %r23, %r20, 3;\n" \
    "add.u32 %r24, %r20, 4; add.u32 %r25, %r20, 5; add.u32 %r26, %r20, 6; add.u32 %r27, %r20, 7;\n"           \
    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r14], {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27};\n"              \
    "add.u32 %r13, %r13, 8; add.u32 %r14, %r14, 8; setp.lt.u32 %p3, %r13, 32; @%p3 bra WRITE;\n"              \
    "tcgen05.wait::st.sync.aligned;\n"
/* What the thread got in %r30 and so on. */
#define GIVE4                                                 \
    "mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd6, %rd2;\n" \
    "st.global.v4.u32 [%rd6], {%r30,%r31,%r32,%r33};\n"

static void start(PtxRunning *r, uint32_t threads, ScheduleKind kind, const char *text) {
    const char *problem;
    ptx_running_read(r, "sm_100a", text);
    r->launch.block[0] = threads;
    r->schedule.kind = kind;
    r->machine = ptx_machine(r->program, &r->launch, COMPUTES_ALL, &problem);
    assert_non_null(r->machine);
    r->machine->budget = 10000000;
}

/* The shapes say which lane and column each register is (CUTLASS and PTX ISA agree on these). */
static void shapes(void **state) {
    (void)state;
    static const char *const loads[] = {
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10];\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.16x64b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10];\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.16x128b.x2.b32 {%r30,%r31,%r32,%r33}, [%r10];\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r30,%r31,%r32,%r33}, [%r10+0x100000];\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {%r30,%r31,%r32,%r33}, [%r10], 16;\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
        KERNEL(ALLOCATE("32") STORE "tcgen05.ld.sync.aligned.32x32b.x4.pack::16b.b32 {%r30,%r31,%r32,%r33}, [%r10];\n"
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"),
    };
    for (unsigned shape = 0; shape < 6; shape++) {
        PtxRunning r;
        start(&r, 64, shape % 2 ? SCHEDULE_LAZY : SCHEDULE_EAGER, loads[shape]);
        ptx_running_expect(&r, PTX_END_COMPLETE);
        for (uint32_t t = 0; t < 64; t++)
            for (uint32_t e = 0; e < 4; e++) {
                uint32_t lane = t % 32, row = lane, column = e;
                if (shape == 1)
                    row = lane / 4 + 8 * (lane % 2), column = lane / 2 % 2 + 2 * e;
                if (shape == 2)
                    row = lane / 4 + 8 * (e % 2), column = lane % 4 + 4 * (e / 2);
                if (shape == 3)
                    row = 16 + lane / 4 + 8 * (e / 2), column = lane % 4 * 2 + e % 2;
                if (shape == 4)
                    row = lane % 16, column = e + 16 * (lane / 16);
                uint32_t word = (t / 32 * 32 + row) * 512 + column;
                if (shape == 5)
                    word = ((t * 512 + 2 * e) & 0xffff) | (t * 512 + 2 * e + 1) << 16;
                ptx_running_is(&r, t * 4 + e, word);
            }
        ptx_running_end(&r);
    }
}

static void see_load(void *observer, const PtxEvent *event) {
    unsigned *order = observer;
    if (event->kind == PTX_EVENT_AWAIT && event->group == GROUP_TENSOR_LOAD)
        order[1] = ++order[0];
    if (event->kind == PTX_EVENT_ACCESS && event->access.kind == EFFECT_READ &&
        event->locations[0].block->space == PTX_SPACE_TENSOR)
        order[2] = ++order[0];
}

/* A load that lands late: what it loads is in its registers at once, which wait for it in hardware; tensor memory is
 * read when it lands, which is before the wait is over. */
static void loads_land(void **state) {
    (void)state;
    PtxRunning r;
    unsigned order[3] = {0};
    start(&r, 32, SCHEDULE_LAZY,
          KERNEL(ALLOCATE("32") STORE
                 "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r10]; st.global.u32 [%rd3], %r30;\n"
                 "tcgen05.wait::ld.sync.aligned; st.global.u32 [%rd3+128], %r30;\n" FREE("32") "ret;"));
    r.machine->observe = see_load;
    r.machine->observer = order;
    ptx_running_expect(&r, PTX_END_COMPLETE);
    ptx_running_is(&r, 5, 5 * 512);
    ptx_running_is(&r, 32 + 5, 5 * 512);
    assert_int_equal(order[2], 1);
    assert_int_equal(order[1], 2);
    ptx_running_end(&r);
}

static void ends(uint32_t threads, PtxEnd end, RuleId rule, const char *text) {
    PtxRunning r;
    start(&r, threads, SCHEDULE_EAGER, text);
    ptx_running_expect(&r, end);
    if (end == PTX_END_FAULT)
        assert_int_equal(r.machine->fault.rule, rule);
    ptx_running_end(&r);
}

static void allocation(void **state) {
    (void)state;
    /* Two warps; the second waits until the first frees what it has. */
    ends(64, PTX_END_COMPLETE, RULE_TMEM_SIZE,
         KERNEL(
             "@!%p1 bra SECOND; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r60], 512; bar.sync 1, 64;\n"
             "ld.shared.u32 %r9, [where]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 512; ret;\n"
             "SECOND: bar.sync 1, 64; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r62], 64;\n"
             "ld.shared.u32 %r9, [other]; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 64; ret;"));
    /* It never does. */
    ends(64, PTX_END_STUCK, RULE_TMEM_SIZE,
         KERNEL("@!%p1 bra SECOND; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r60], 512; bar.sync 1, "
                "64; ret;\n"
                "SECOND: bar.sync 1, 64; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r62], 64; ret;"));
    ends(32, PTX_END_FAULT, RULE_TMEM_AFTER_RELINQUISH,
         KERNEL("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ALLOCATE("32") "ret;"));
    ends(32, PTX_END_FAULT, RULE_TMEM_SIZE,
         KERNEL("mov.u32 %r5, 96; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r60], %r5; ret;"));
    ends(32, PTX_END_FAULT, RULE_TMEM_OUTSIDE, KERNEL(ALLOCATE("64") FREE("32") FREE("32") "ret;"));
    ends(32, PTX_END_FAULT, RULE_TMEM_OUTSIDE, KERNEL(ALLOCATE("32") FREE("32") FREE("32") "ret;"));
    /* Columns that are not its own; lanes of another warp. */
    ends(32, PTX_END_FAULT, RULE_TMEM_OUTSIDE,
         KERNEL(ALLOCATE("32") "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r30,%r31}, [%r10+31]; ret;"));
    ends(64, PTX_END_FAULT, RULE_TMEM_LANES,
         KERNEL(ALLOCATE("32") "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r30}, [%r9]; ret;"));
}

/* ---- MMAs ---- */

/* Words of shared memory: f16 numbers 0 to 3, by a rule that the test knows. */
#define FILL                                                                                                         \
    "@%p2 mbarrier.init.shared::cta.b64 [%r61], 1; mov.u32 %r4, %r1; FILL: and.b32 %r5, %r4, 3; add.u32 %r6, %r4, "  \
    "1;\n"                                                                                                           \
    "shr.u32 %r7, %r4, 4; xor.b32 %r6, %r6, %r7; and.b32 %r6, %r6, 3; cvt.rn.f16.u32 %h1, %r5; cvt.rn.f16.u32 %h2, " \
    "%r6;\n"                                                                                                         \
    "mov.b32 %r8, {%h1, %h2}; shl.b32 %r7, %r4, 2; add.u32 %r7, %r7, %r2; st.shared.u32 [%r7], %r8;\n"               \
    "add.u32 %r4, %r4, 128; setp.lt.u32 %p3, %r4, 4096; @%p3 bra FILL; fence.proxy.async.shared::cta; bar.sync 0;\n"
/* %rd8 is A's descriptor, %rd9 is B's (8192 bytes behind), without a swizzle: 8 rows are 128 bytes. */
#define DESCRIPTORS(leading)                                             \
    "shr.u32 %r7, %r2, 4; cvt.u64.u32 %rd8, %r7; mov.u64 %rd7, " leading \
    "; or.b64 %rd8, %rd8, %rd7; add.s64 %rd9, %rd8, 512;\n"
#define MMA_OF(kind, shape)                                                            \
    "mov.u32 %r15, " shape "; setp.ne.u32 %p4, %r1, %r1; setp.eq.u32 %p5, %r1, %r1;\n" \
    "@%p2 tcgen05.mma.cta_group::1.kind::" kind " [%r9], %rd8, %rd9, %r15, %p4;\n"     \
    "@%p2 tcgen05.mma.cta_group::1.kind::" kind " [%r9], %rd8, %rd9, %r15, %p5;\n"
#define MMA(shape) MMA_OF("f16", shape)
#define COMMIT                                                                             \
    "@%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r61];\n" \
    "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r61], 0; @!%p6 bra AGAIN;\n"

static double element(uint32_t byte) {
    uint32_t word = byte / 4;
    return byte % 4 ? ((word + 1) ^ word >> 4) & 3 : word & 3;
}

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* M = 128, N = 16, K = 16: D twice A * B, a lane of tensor memory for each row. */
static void multiplies(void **state) {
    (void)state;
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER, SCHEDULE_LAZY, SCHEDULE_RANDOM};
    for (unsigned i = 0; i < 3; i++) {
        PtxRunning r;
        start(&r, 128, kinds[i],
              KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA("0x08040010") COMMIT
                     "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10+4]; "
                     "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"));
        ptx_running_expect(&r, PTX_END_COMPLETE);
        for (uint32_t row = 0; row < 128; row++)
            for (uint32_t e = 0; e < 4; e++) {
                double sum = 0;
                uint32_t column = 4 + e;
                for (uint32_t k = 0; k < 16; k++) {
                    uint32_t in_row = k % 8 * 2 + k / 8 * 4096;
                    sum += element(row * 16 + in_row) * element(8192 + column * 16 + in_row);
                }
                bool known = true;
                uint32_t word = ptx_running_word(&r, row * 4 + e, &known);
                assert_true(known);
                assert_true((double)as_float(word) == 2 * sum);
            }
        ptx_running_end(&r);
    }
}

/* The same bytes as numbers of 8 bits, K = 32: with and without a sign, none of which matters below 128; and no type.
 */
static uint32_t small_element(uint32_t byte) {
    static const uint8_t upper[] = {0, 0x3c, 0x40, 0x42}; /* of 0 to 3 as f16 */
    return byte % 2 ? upper[(unsigned)element(byte & ~1U)] : 0;
}

static void has_small_products(PtxRunning *r) {
    for (uint32_t row = 0; row < 128; row++)
        for (uint32_t e = 0; e < 4; e++) {
            uint32_t sum = 0, column = 4 + e;
            for (uint32_t k = 0; k < 32; k++) {
                uint32_t in_row = k % 16 + k / 16 * 4096;
                sum += small_element(row * 16 + in_row) * small_element(8192 + column * 16 + in_row);
            }
            ptx_running_is(r, row * 4 + e, 2 * sum);
        }
}

#define SMALL(shape)                                                                                             \
    KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA_OF("i8", shape) COMMIT \
           "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10+4]; "                             \
           "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;")

static void multiplies_small_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {SMALL("0x08040020"), SMALL("0x080400a0"), SMALL("0x08040420"),
                                        SMALL("0x080404a0")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PtxRunning r;
        start(&r, 128, SCHEDULE_EAGER, texts[i]);
        ptx_running_expect(&r, PTX_END_COMPLETE);
        has_small_products(&r);
        ptx_running_end(&r);
    }
    ends(128, PTX_END_UNKNOWN, RULE_TMEM_SIZE, SMALL("0x08040120"));
}

/* M = 64: 16 rows in each quarter of the lanes. */
static void multiplies_64(void **state) {
    (void)state;
    PtxRunning r;
    start(&r, 128, SCHEDULE_EAGER,
          KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA("0x04040010") COMMIT
                 "tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r30}, [%r10]; tcgen05.wait::ld.sync.aligned; st.global.u32 "
                 "[%rd3], %r30;\n" FREE("32") "ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    for (uint32_t t = 0; t < 128; t++) {
        uint32_t lane = t % 32, row = t / 32 * 16 + lane / 4 + 8 * (lane % 2), column = lane / 2 % 2;
        double sum = 0;
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t in_row = k % 8 * 2 + k / 8 * 4096;
            sum += element(row * 16 + in_row) * element(8192 + column * 16 + in_row);
        }
        bool known = true;
        assert_true((double)as_float(ptx_running_word(&r, t, &known)) == 2 * sum);
        assert_true(known);
    }
    ptx_running_end(&r);
}

/* Without a commit nothing says that it is over. */
static void nothing_commits(void **state) {
    (void)state;
    ends(128, PTX_END_STUCK, RULE_TMEM_SIZE,
         KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA(
             "0x08040010") "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r61], 0; @!%p6 bra AGAIN; ret;"));
    /* A shape that there is not: M = 96. */
    ends(128, PTX_END_UNKNOWN, RULE_TMEM_SIZE,
         KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA("0x06040010") COMMIT
                "ret;"));
    /* N = 64 does not fit the 32 columns. */
    ends(128, PTX_END_FAULT, RULE_TMEM_OUTSIDE,
         KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA("0x08100010") COMMIT
                "ret;"));
}

static void see_commit(void *observer, const PtxEvent *event) {
    if (event->kind == PTX_EVENT_ISSUE && event->place != PTX_NO_PLACE)
        *(uint32_t *)observer = event->outstanding->after;
}

/* A commit waits for what its own thread issued; that of another thread may arrive before the MMA is over. */
static void commits_of_others(void **state) {
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        PtxRunning r;
        uint32_t after = PTX_NONE;
        start(&r, 128, SCHEDULE_LAZY,
              own ? KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000") MMA("0x08040010")
                               COMMIT FREE("32") "ret;")
                  : KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS("0x0000400801000000")
                               MMA("0x08040010") "setp.eq.u32 %p2, %r1, 7;\n" COMMIT FREE("32") "ret;"));
        r.machine->observe = see_commit;
        r.machine->observer = &after;
        ptx_running_expect(&r, PTX_END_COMPLETE);
        assert_int_equal(after != 0, own);
        ptx_running_end(&r);
    }
}

/* 32 rows of 16 bytes, the same in each quarter of the lanes. */
static void copies(void **state) {
    (void)state;
    PtxRunning r;
    start(&r, 128, SCHEDULE_LAZY,
          KERNEL(".reg .b16 %h<4>;\n" ALLOCATE("32") FILL DESCRIPTORS(
              "0x0000400801000000") "@%p2 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r9], %rd8;\n" COMMIT
                                    "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10]; "
                                    "tcgen05.wait::ld.sync.aligned;\n" GIVE4 FREE("32") "ret;"));
    ptx_running_expect(&r, PTX_END_COMPLETE);
    for (uint32_t t = 0; t < 128; t++)
        for (uint32_t e = 0; e < 4; e++) {
            bool known = true;
            uint32_t word = ptx_running_word(&r, t * 4 + e, &known), at = (t % 32 * 16 + e * 4);
            assert_true(known);
            assert_true((word & 0xffff) == (element(at) == 0   ? 0u
                                            : element(at) == 1 ? 0x3c00u
                                            : element(at) == 2 ? 0x4000u
                                                               : 0x4200u));
        }
    ptx_running_end(&r);
}

/* ---- Two CTAs ---- */

/* As FILL, but what a word is depends on the CTA's rank (%r50), too. Both CTAs have all of it before one begins. */
#define PAIR                                                                                                      \
    "mov.u32 %r50, %cluster_ctarank; @%p2 mbarrier.init.shared::cta.b64 [%r61], 1; mov.u32 %r4, %r1;\n"           \
    "@%p1 tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r60], 32; bar.sync 0;\n"                      \
    "ld.shared.u32 %r9, [where]; and.b32 %r11, %r3, 3; shl.b32 %r11, %r11, 21; add.u32 %r10, %r9, %r11;\n"        \
    "FILL: add.u32 %r51, %r4, %r50; and.b32 %r5, %r51, 3; add.u32 %r6, %r51, 1; shr.u32 %r7, %r51, 4;\n"          \
    "xor.b32 %r6, %r6, %r7; and.b32 %r6, %r6, 3; cvt.rn.f16.u32 %h1, %r5; cvt.rn.f16.u32 %h2, %r6;\n"             \
    "mov.b32 %r8, {%h1, %h2}; shl.b32 %r7, %r4, 2; add.u32 %r7, %r7, %r2; st.shared.u32 [%r7], %r8;\n"            \
    "add.u32 %r4, %r4, 128; setp.lt.u32 %p3, %r4, 4096; @%p3 bra FILL; fence.proxy.async.shared::cta;\n"          \
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; setp.eq.u32 %p7, %r50, 0; and.pred %p7, %p7, " \
    "%p2;\n"
#define PAIR_MMA(shape)                                                                                            \
    "mov.u32 %r15, " shape "; setp.ne.u32 %p4, %r1, %r1; mov.u16 %h3, 3;\n"                                        \
    "@%p7 tcgen05.mma.cta_group::2.kind::f16 [%r9], %rd8, %rd9, %r15, %p4;\n"                                      \
    "@%p7 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r61], %h3;\n" \
    "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r61], 0; @!%p6 bra AGAIN;\n"
/* Word 512 * rank + 4 * thread on. */
#define PAIR_GIVE                                                                                              \
    "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30,%r31,%r32,%r33}, [%r10+4]; tcgen05.wait::ld.sync.aligned;\n"  \
    "shl.b32 %r52, %r50, 7; add.u32 %r52, %r52, %r1; mul.wide.u32 %rd6, %r52, 16; add.s64 %rd6, %rd6, %rd2;\n" \
    "st.global.v4.u32 [%rd6], {%r30,%r31,%r32,%r33};\n"                                                        \
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"                                          \
    "@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r9, 32; ret;"

static double element_of(uint32_t rank, uint32_t byte) {
    return element(byte + 4 * rank);
}

/* Each has half of the rows of A and D, and half of the columns of B. With 64 rows in each the two halves of the
 * columns stand in different lanes. */
static void pairs(void **state) {
    (void)state;
    for (unsigned whole = 0; whole < 2; whole++) {
        PtxRunning r;
        const char *problem;
        ptx_running_read(
            &r, "sm_100a",
            whole
                ? KERNEL(".reg .b16 %h<4>;\n" PAIR DESCRIPTORS("0x0000400801000000") PAIR_MMA("0x10040010") PAIR_GIVE)
                : KERNEL(".reg .b16 %h<4>;\n" PAIR DESCRIPTORS("0x0000400801000000") PAIR_MMA("0x08040010") PAIR_GIVE));
        r.launch.block[0] = 128;
        r.launch.grid[0] = r.launch.cluster[0] = 2;
        r.schedule.kind = whole ? SCHEDULE_LAZY : SCHEDULE_EAGER;
        r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
        assert_non_null(r.machine);
        r.machine->budget = 10000000;
        ptx_running_expect(&r, PTX_END_COMPLETE);
        for (uint32_t rank = 0; rank < 2; rank++)
            for (uint32_t lane = 0; lane < 128; lane++)
                for (uint32_t e = 0; e < 4; e++) {
                    uint32_t row = whole ? lane : lane % 64, column = 4 + e + (whole ? 0 : lane / 64 * 8);
                    double sum = 0;
                    for (uint32_t k = 0; k < 16; k++) {
                        uint32_t in_row = k % 8 * 2 + k / 8 * 4096;
                        sum += element_of(rank, row * 16 + in_row) *
                               element_of(column / 8, 8192 + column % 8 * 16 + in_row);
                    }
                    bool known = true;
                    uint32_t word = ptx_running_word(&r, rank * 512 + lane * 4 + e, &known);
                    assert_true(known);
                    assert_true((double)as_float(word) == sum);
                }
        ptx_running_end(&r);
    }
}

static void see_update(void *observer, const PtxEvent *event) {
    unsigned *count = observer;
    *count += event->kind == PTX_EVENT_ACCESS && event->access.kind == EFFECT_UPDATE &&
              event->locations[0].block->space == PTX_SPACE_TENSOR;
}

/* Both CTAs of a pair move their rows. Where the first one has freed its columns, that is the fault, and nothing is
 * done to those of the other one. */
static void pairs_shift(void **state) {
    (void)state;
    for (unsigned freed = 0; freed < 2; freed++) {
        PtxRunning r;
        const char *problem;
        unsigned updates = 0;
#define PAIR_SHIFT                                                                                                 \
    "@%p7 tcgen05.shift.cta_group::2.down [%r9]; mov.u16 %h3, 3;\n"                                                \
    "@%p7 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r61], %h3;\n" \
    "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r61], 0; @!%p6 bra AGAIN;\n"
        ptx_running_read(&r, "sm_100a",
                         freed
                             ? KERNEL(".reg .b16 %h<4>;\n" PAIR "setp.eq.u32 %p5, %r50, 0; and.pred %p5, %p5, %p1;\n"
                                      "@%p5 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r9, 32;\n" PAIR_SHIFT "ret;")
                             : KERNEL(".reg .b16 %h<4>;\n" PAIR PAIR_SHIFT PAIR_GIVE));
        r.launch.block[0] = 128;
        r.launch.grid[0] = r.launch.cluster[0] = 2;
        r.machine = ptx_machine(r.program, &r.launch, COMPUTES_ALL, &problem);
        assert_non_null(r.machine);
        r.machine->budget = 10000000;
        r.machine->observe = see_update;
        r.machine->observer = &updates;
        ptx_running_expect(&r, freed ? PTX_END_FAULT : PTX_END_COMPLETE);
        if (freed)
            assert_int_equal(r.machine->fault.rule, RULE_TMEM_OUTSIDE);
        assert_int_equal(updates, freed ? 0 : 2);
        ptx_running_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(loads_land),
        cmocka_unit_test(allocation),
        cmocka_unit_test(multiplies),
        cmocka_unit_test(multiplies_small_numbers),
        cmocka_unit_test(multiplies_64),
        cmocka_unit_test(nothing_commits),
        cmocka_unit_test(commits_of_others),
        cmocka_unit_test(copies),
        cmocka_unit_test(pairs),
        cmocka_unit_test(pairs_shift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
