/* Copies in the machine of PTX: cp.async of every size, bulk copies in all directions, reductions, st.async and
 * red.async, tensor copies with swizzles and edges, tensor maps that a kernel changes; what they leave in memory, that
 * they are not over before an agent waits, and what is said of those that are wrong. */
#include "machine/simt/async/tensormap.h"
#include "ptx_launched.h"

#define HEAD                                                                                            \
    ".version 8.7\n.target sm_90a\n.address_size 64\n"                                                  \
    ".visible .entry k(.param .u64 .ptr .global .align 16 out, .param .u64 .ptr .global .align 16 in, " \
    ".param .align 64 .b8 map[128])\n"
#define BODY                                                                                                \
    "{\n.reg .pred %p<12>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"                         \
    ".shared .align 1024 .b8 sm[8192];\n.shared .align 8 .b64 bar[8];\n"                                    \
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, sm;\nmov.u32 %r2, bar;\n"                \
    "mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r1, %r3;\n" \
    "ld.param.u64 %rd2, [in];\nmul.wide.u32 %rd3, %r0, 4;\nadd.u64 %rd3, %rd2, %rd3;\n"                     \
    "mov.b64 %rd4, map;\ncvta.param.u64 %rd4, %rd4;\nsetp.eq.u32 %p0, %r0, 0;\nsetp.ne.u32 %p1, %r0, 0;\n"  \
    "mov.u32 %r4, %cluster_ctarank;\nxor.b32 %r5, %r4, 1;\nmapa.shared::cluster.u32 %r6, %r1, %r5;\n"       \
    "mapa.shared::cluster.u32 %r7, %r2, %r5;\n"
/* %rd0 out, %rd1 out + 4 tid, %rd2 in, %rd3 in + 4 tid, %rd4 map; %r0 tid, %r1 sm, %r2 bar, %r3 sm + 4 tid, %r4 rank,
 * %r5 the other rank, %r6 and %r7 sm and bar there; %p0 thread 0, %p1 the others */
#define INIT      "@%p0 mbarrier.init.shared.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n"
#define CLUSTER   "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
#define EXPECT(n) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " n ";\n"
#define WAIT      "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0;\n@!%p5 bra W;\n"
#define GIVE      "ld.shared.u32 %r30, [%r3];\nst.global.u32 [%rd1], %r30;\n"
#define DONE      "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"

typedef struct Case {
    const char *name;
    unsigned threads, cluster;
    const char *descriptor; /* NULL: zeros */
    const char *body;
    PtxEnd end;
    int rule;
    const char *what;
    uint32_t (*expected)(uint32_t index); /* of out[0..threads) */
} Case;

static Ran run_case(const Case *c, ScheduleKind kind, uint64_t seed) {
    char text[8192], launch[16384], zeros[300];
    snprintf(zeros, sizeof zeros, "{\"bytes\": \"%0256d\"}", 0);
    unsigned cluster = c->cluster ? c->cluster : 1, at;
    snprintf(text, sizeof text, "%s%s%s\nret;\n}\n", HEAD, BODY, c->body);
    at = (unsigned)snprintf(
        launch, sizeof launch,
        "{\"kernel\": \"k\", \"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"cluster\": [%u, 1, 1], "
        "\"args\": [{\"tensor\": {\"shape\": [512], \"dtype\": \"i32\", \"zero\": true, \"buffer\": \"out\"}}, "
        "{\"tensor\": {\"shape\": [512], \"dtype\": \"i32\", \"buffer\": \"in\", \"data\": [",
        cluster, c->threads, cluster);
    for (unsigned i = 0; i < 512; i++)
        at += (unsigned)snprintf(launch + at, sizeof launch - at, "%s%u", i ? "," : "", 1000 + i);
    snprintf(launch + at, sizeof launch - at, "]}}, %s]}", c->descriptor ? c->descriptor : zeros);
    PtxSchedule schedule = {.kind = kind, .seed = seed};
    return run_ptx(text, launch, &schedule);
}

static void hold(const Case *c) {
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER, SCHEDULE_LAZY, SCHEDULE_RANDOM, SCHEDULE_RANDOM};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Ran ran = run_case(c, kinds[i], i + 1);
        if (ran.end != c->end || (c->rule >= 0 && (int)ran.rule != c->rule) || (c->what && !strstr(ran.what, c->what)))
            fail_msg("%s, schedule %u: end %d, rule %d, %s", c->name, i, (int)ran.end, (int)ran.rule, ran.what);
        for (unsigned k = 0; c->expected && k < c->threads; k++)
            if (ran.out[k] != c->expected(k))
                fail_msg("%s, schedule %u: word %u is 0x%x, not 0x%x", c->name, i, k, ran.out[k], c->expected(k));
        assert_int_equal(ran.reported[PTX_EVENT_ISSUE] * (c->end == PTX_END_COMPLETE),
                         ran.reported[PTX_EVENT_LAND] * (c->end == PTX_END_COMPLETE));
    }
}

static uint32_t same(uint32_t i) {
    return 1000 + i;
}

/* ---- cp.async ----------------------------------------------------------------------------------- */

static uint32_t sevenths(uint32_t i) { /* 16 bytes of every fourth thread, of which 4 * (tid / 4 % 4) are read */
    return i % 4 < i / 4 % 4 ? 1000 + i : 0;
}
static uint32_t every_other(uint32_t i) {
    return i / 2 % 2 ? 0 : 1000 + i;
}

#define COPY4 "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
static const Case thread_copies[] = {
    {"4 bytes", 64, 1, NULL, COPY4 "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" GIVE,
     PTX_END_COMPLETE, -1, NULL, same},
    {"wait_all", 64, 1, NULL, COPY4 "cp.async.wait_all;\nbar.sync 0;\n" GIVE, PTX_END_COMPLETE, -1, NULL, same},
    {"16 bytes, some of them", 64, 1, NULL,
     "and.b32 %r10, %r0, 3;\nsetp.eq.u32 %p2, %r10, 0;\nand.b32 %r11, %r0, 12;\n"
     "@%p2 cp.async.cg.shared.global [%r3], [%rd3], 16, %r11;\ncp.async.wait_all;\nbar.sync 0;\n" GIVE,
     PTX_END_COMPLETE, -1, NULL, sevenths},
    {"8 bytes, ignored", 64, 1, NULL,
     "and.b32 %r10, %r0, 1;\nsetp.eq.u32 %p2, %r10, 0;\nand.b32 %r11, %r0, 2;\nsetp.ne.u32 %p3, %r11, 0;\n"
     "@%p2 cp.async.ca.shared.global [%r3], [%rd3], 8, %p3;\ncp.async.wait_all;\nbar.sync 0;\n" GIVE,
     PTX_END_COMPLETE, -1, NULL, every_other},
    {"nothing is read behind the end", 64, 1, NULL,
     "mov.u32 %r10, 0;\nsub.u32 %r10, 0, 0;\nadd.u64 %rd3, %rd3, 4096;\ncp.async.ca.shared.global [%r3], [%rd3], 4, "
     "%r10;\n"
     "cp.async.wait_all;\n",
     PTX_END_COMPLETE, -1, NULL, NULL},
    {"an mbarrier", 64, 1, NULL,
     "@%p0 mbarrier.init.shared.b64 [%r2], 64;\nbar.sync 0;\n" COPY4
     "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n" WAIT GIVE,
     PTX_END_COMPLETE, -1, NULL, same},
    {"an mbarrier, announced", 64, 1, NULL,
     "@%p0 mbarrier.init.shared.b64 [%r2], 64;\nbar.sync 0;\n" COPY4
     "cp.async.mbarrier.arrive.shared.b64 [%r2];\nmbarrier.arrive.shared.b64 _, [%r2];\n" WAIT GIVE,
     PTX_END_COMPLETE, -1, NULL, same},
    {"groups", 64, 1, NULL,
     COPY4 "cp.async.commit_group;\nadd.u32 %r10, %r3, 1024;\ncp.async.ca.shared.global [%r10], [%rd3], 4;\n"
           "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\n" GIVE,
     PTX_END_COMPLETE, -1, NULL, same},
    {"reads too much", 32, 1, NULL, "mov.u32 %r10, 5;\ncp.async.ca.shared.global [%r3], [%rd3], 4, %r10;",
     PTX_END_FAULT, RULE_COPY_WIDTH, "reads 5 bytes", NULL},
    {"behind the end", 32, 1, NULL, "add.u64 %rd3, %rd3, 2048;\n" COPY4, PTX_END_FAULT, -1, NULL, NULL},
    {"misaligned", 32, 1, NULL, "cp.async.ca.shared.global [%r3], [%rd3], 8;", PTX_END_FAULT, -1, "multiple of 8",
     NULL},
};

static void test_thread_copies(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof thread_copies / sizeof *thread_copies; i++)
        hold(&thread_copies[i]);
}

/* Nothing waits: what is read is what was there. */
static void test_not_over(void **state) {
    (void)state;
    Case c = {"no wait",        32, 1,    NULL, "mov.u32 %r10, 7;\nst.shared.u32 [%r3], %r10;\n" COPY4 GIVE,
              PTX_END_COMPLETE, -1, NULL, NULL};
    assert_int_equal(run_case(&c, SCHEDULE_EAGER, 0).out[5], 1005);
    assert_int_equal(run_case(&c, SCHEDULE_LAZY, 0).out[5], 7);
    Case pending = {"one group less",
                    32,
                    1,
                    NULL,
                    "mov.u32 %r10, 7;\nst.shared.u32 [%r3], %r10;\n" COPY4
                    "cp.async.commit_group;\ncp.async.wait_group 1;\n" GIVE,
                    PTX_END_COMPLETE,
                    -1,
                    NULL,
                    NULL};
    assert_int_equal(run_case(&pending, SCHEDULE_LAZY, 0).out[5], 7);
}

/* ---- Bulk copies -------------------------------------------------------------------------------- */

static uint32_t doubled(uint32_t i) {
    return 2 * (1000 + i);
}
static uint32_t at_least_1010(uint32_t i) {
    return i < 10 ? 1010 : 1000 + i;
}

#define TX  ".mbarrier::complete_tx::bytes"
#define G2S "cp.async.bulk.shared::cluster.global" TX " [%r1], [%rd2], 256, [%r2];\n"
static const Case bulk[] = {
    {"global to shared", 64, 1, NULL, INIT EXPECT("256") "@%p0 " G2S WAIT GIVE, PTX_END_COMPLETE, -1, NULL, same},
    {"to global", 64, 1, NULL,
     "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], %r10;\nfence.proxy.async;\nbar.sync 0;\n@%p1 exit;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n" DONE,
     PTX_END_COMPLETE, -1, NULL, same},
    {"only its reads are waited for", 64, 1, NULL,
     "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], %r10;\nfence.proxy.async;\nbar.sync 0;\n@%p1 exit;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\ncp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r1], 0;",
     PTX_END_COMPLETE, -1, NULL, same},
    {"added in global memory", 64, 1, NULL,
     "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], %r10;\nst.global.u32 [%rd1], "
     "%r10;\nfence.proxy.async;\nbar.sync "
     "0;\n@%p1 exit;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r1], 256;\n" DONE,
     PTX_END_COMPLETE, -1, NULL, doubled},
    {"greatest in global memory", 64, 1, NULL,
     "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], 1010;\nst.global.u32 [%rd1], "
     "%r10;\nfence.proxy.async;\nbar.sync "
     "0;\n@%p1 exit;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%rd0], [%r1], 256;\n" DONE,
     PTX_END_COMPLETE, -1, NULL, at_least_1010},
    {"to the other CTA", 64, 2, NULL,
     INIT CLUSTER "ld.global.u32 %r10, [%rd3];\nadd.u32 %r11, %r3, 1024;\nst.shared.u32 [%r11], %r10;\n"
                  "fence.proxy.async;\nbar.sync 0;\n" EXPECT("256") "add.u32 %r12, %r1, 1024;\n@%p0 "
                                                                    "cp.async.bulk.shared::cluster.shared::cta" TX
                                                                    " [%r6], [%r12], 256, [%r7];\n" WAIT GIVE CLUSTER,
     PTX_END_COMPLETE, -1, NULL, same},
    {"to both CTAs", 64, 2, NULL,
     INIT CLUSTER EXPECT("256") "setp.eq.u32 %p2, %r4, 0;\nand.pred %p2, %p2, %p0;\nmov.u16 %h0, 3;\n@%p2 "
                                "cp.async.bulk.shared::cluster.global" TX
                                ".multicast::cluster [%r1], [%rd2], 256, [%r2], %h0;\n" WAIT
                                "setp.eq.u32 %p3, %r4, 1;\n@!%p3 bra N;\n" GIVE "N:\n" CLUSTER,
     PTX_END_COMPLETE, -1, NULL, same},
    {"stores of registers", 64, 2, NULL,
     INIT CLUSTER EXPECT("256") "ld.global.u32 %r10, [%rd3];\nmapa.shared::cluster.u32 %r11, %r3, %r5;\n"
                                "st.async.shared::cluster" TX ".u32 [%r11], %r10, [%r7];\n" WAIT GIVE CLUSTER,
     PTX_END_COMPLETE, -1, NULL, same},
    {"added in the other CTA", 64, 2, NULL,
     INIT "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], %r10;\n" CLUSTER EXPECT(
         "256") "mapa.shared::cluster.u32 %r11, %r3, %r5;\nred.async.relaxed.cluster.shared::cluster" TX
                ".add.u32 [%r11], %r10, [%r7];\n" WAIT GIVE CLUSTER,
     PTX_END_COMPLETE, -1, NULL, doubled},
    {"more is expected", 64, 1, NULL, INIT EXPECT("512") "@%p0 " G2S WAIT, PTX_END_STUCK, -1, NULL, NULL},
    {"nothing is expected", 32, 1, NULL, INIT "@%p0 " G2S WAIT, PTX_END_STUCK, -1, NULL, NULL},
    {"size", 32, 1, NULL,
     INIT "mov.u32 %r10, 24;\n@%p0 cp.async.bulk.shared::cluster.global" TX " [%r1], [%rd2], %r10, [%r2];",
     PTX_END_FAULT, RULE_TMA_BULK_SIZE, "24 bytes", NULL},
    {"address", 32, 1, NULL, INIT "add.u32 %r1, %r1, 8;\n@%p0 " G2S, PTX_END_FAULT, RULE_TMA_BULK_ADDRESS,
     "multiple of 16", NULL},
    {"behind the end", 32, 1, NULL, INIT "add.u64 %rd2, %rd2, 2000;\nand.b64 %rd2, %rd2, -16;\n@%p0 " G2S,
     PTX_END_FAULT, -1, NULL, NULL},
    {"mbarrier of another CTA", 32, 2, NULL,
     INIT CLUSTER "@%p0 cp.async.bulk.shared::cluster.global" TX " [%r1], [%rd2], 256, [%r7];\n" CLUSTER, PTX_END_FAULT,
     RULE_TMA_BARRIER_CTA, NULL, NULL},
    {"no such CTA", 32, 2, NULL,
     INIT CLUSTER "mov.u16 %h0, 5;\n@%p0 cp.async.bulk.shared::cluster.global" TX
                  ".multicast::cluster [%r1], [%rd2], 256, [%r2], %h0;",
     PTX_END_FAULT, RULE_TMA_MULTICAST, "no CTA 2", NULL},
    {"to a CTA that has ended", 32, 2, NULL,
     INIT CLUSTER "setp.eq.u32 %p2, %r4, 1;\n@%p2 exit;\n" CLUSTER "@%p0 cp.async.bulk.shared::cluster.shared::cta" TX
                  " [%r6], [%r1], 256, [%r7];",
     PTX_END_FAULT, RULE_CLUSTER_EXIT, NULL, NULL},
    {"to its own CTA", 32, 2, NULL,
     INIT CLUSTER "add.u32 %r12, %r1, 1024;\n@%p0 cp.async.bulk.shared::cluster.shared::cta" TX
                  " [%r1], [%r12], 256, [%r2];\n" CLUSTER,
     PTX_END_FAULT, RULE_CLUSTER_STORE_ALONE, "its own CTA", NULL},
    {"no mbarrier", 32, 1, NULL, "@%p0 " G2S, PTX_END_FAULT, RULE_BARRIER_UNINITIALIZED, NULL, NULL},
};

static void test_bulk(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof bulk / sizeof *bulk; i++)
        hold(&bulk[i]);
}

/* ---- Tensor copies ------------------------------------------------------------------------------ */

#define MAP(more) \
    "{\"descriptor\": {\"buffer\": \"in\", \"dtype\": \"i32\", \"shape\": [16, 32], \"block\": [8, 8]" more "}}"

static uint32_t box(uint32_t i) { /* of 8 x 8 at column 4, row 2 */
    return 1000 + (2 + i / 8) * 32 + 4 + i % 8;
}
static uint32_t corner(uint32_t i) { /* at column -4, row 12 */
    return i / 8 >= 4 || i % 8 < 4 ? 0 : 1000 + (12 + i / 8) * 32 + i % 8 - 4;
}
static uint32_t swizzled(uint32_t i) { /* of 8 rows of 32 bytes: chunks of 16 change places where bit 7 is 1 */
    return box(i ^ (i >> 3 & 4));
}
static uint32_t shifted(uint32_t i) { /* what a store at column 4, row 2 of a 4 x 16 tensor leaves in it */
    uint32_t row = i / 16, column = i % 16;
    return row >= 2 && column >= 4 && column < 12 ? 1000 + (row - 2) * 8 + column - 4 : 0;
}

#define LOAD(at) "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile" TX " [%r1], [%rd4, {" at "}], [%r2];\n"
#define FILL     "ld.global.u32 %r10, [%rd3];\nst.shared.u32 [%r3], %r10;\nfence.proxy.async;\nbar.sync 0;\n"
static const Case tensors[] = {
    {"a box", 64, 1, MAP(""), INIT EXPECT("256") LOAD("4, 2") WAIT GIVE, PTX_END_COMPLETE, -1, NULL, box},
    {"edges", 64, 1, MAP(""), INIT EXPECT("256") LOAD("-4, 12") WAIT GIVE, PTX_END_COMPLETE, -1, NULL, corner},
    {"swizzled", 64, 1, MAP(", \"swizzle\": 32"), INIT EXPECT("256") LOAD("4, 2") WAIT GIVE, PTX_END_COMPLETE, -1, NULL,
     swizzled},
    {"a store", 64, 1,
     "{\"descriptor\": {\"buffer\": \"out\", \"dtype\": \"i32\", \"shape\": [4, 16], \"block\": [8, 8]}}",
     FILL "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd4, {4, 2}], [%r1];\n" DONE,
     PTX_END_COMPLETE, -1, NULL, shifted},
    {"too few coordinates", 32, 1, MAP(""),
     INIT "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.tile" TX " [%r1], [%rd4, {4}], [%r2];", PTX_END_FAULT,
     RULE_TMA_COORDINATES, "1 coordinates", NULL},
    {"not at 16 bytes", 32, 1, MAP(""), INIT LOAD("-3, 2"), PTX_END_FAULT, RULE_TMA_COORDINATES, "multiple of 16",
     NULL},
    {"a negative store", 32, 1, MAP(""),
     FILL "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd4, {4, -2}], [%r1];\n" DONE,
     PTX_END_FAULT, RULE_TMA_NEGATIVE_STORE, "coordinate 1 is -2", NULL},
    {"no map", 32, 1, NULL, INIT LOAD("0, 0"), PTX_END_FAULT, RULE_TMA_MAP_MEMORY, "no tensor map", NULL},
    {"expected too little", 64, 1, MAP(""),
     INIT EXPECT("128") LOAD("4, 2") WAIT "W2: "
                                          "mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0;\n@!%p5 bra W2;\n",
     PTX_END_STUCK, -1, NULL, NULL},
};

static void test_tensors(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof tensors / sizeof *tensors; i++)
        hold(&tensors[i]);
}

/* A map is made in shared memory, copied to global memory, and used. */
static void test_changed_map(void **state) {
    (void)state;
    static const Case c = {
        "a changed map",
        64,
        1,
        MAP(""),
        ".shared .align 128 .b8 made[128];\nmov.u32 %r20, made;\nshl.b32 %r21, %r0, 2;\nsetp.lt.u32 %p7, %r0, 32;\n"
        "cvt.u64.u32 %rd10, %r21;\nadd.u64 %rd10, %rd4, %rd10;\nadd.u32 %r21, %r20, %r21;\n@%p7 ld.b32 %r22, [%rd10];\n"
        "@%p7 st.shared.b32 [%r21], %r22;\n" INIT
        "@%p0 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r20], 1, 4;\n"
        "@%p0 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r20], 0, 64;\n"
        "add.u64 %rd11, %rd0, 1024;\nbar.sync 0;\nsetp.ge.u32 %p8, %r0, 32;\n@%p8 bra N;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd11], [%r20], "
        "128;\nN: "
        "bar.sync 0;\nfence.proxy.tensormap::generic.acquire.gpu [%rd11], 128;\nmov.b64 %rd4, %rd11;\n" EXPECT("256")
            LOAD("4, 2") WAIT GIVE,
        PTX_END_COMPLETE,
        -1,
        NULL,
        NULL};
    Ran ran = run_case(&c, SCHEDULE_RANDOM, 3);
    assert_string_equal(ran.what, "");
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(ran.out[i], i / 8 >= 2 ? 0 : 1000 + (2 + i / 8) * 16 + 4 + i % 8);
}

/* What only sm_100 has: zeros at once, rows that are gathered and scattered, requests for other clusters. */
#define BLACKWELL ".version 8.7\n.target sm_100a\n.address_size 64\n"
#define PARAMETERS                                                                                      \
    ".visible .entry k(.param .u64 .ptr .global .align 16 out, .param .u64 .ptr .global .align 16 in, " \
    ".param .align 64 .b8 map[128])\n"

static Ran run_blackwell(const char *body, unsigned grid, unsigned threads, unsigned cluster, const char *descriptor) {
    char text[8192], launch[8192];
    unsigned at;
    snprintf(text, sizeof text, "%s%s%s%s\nret;\n}\n", BLACKWELL, PARAMETERS, BODY, body);
    at =
        (unsigned)snprintf(launch, sizeof launch,
                           "{\"kernel\": \"k\", \"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"cluster\": [%u, 1, 1], "
                           "\"args\": [{\"tensor\": "
                           "{\"shape\": [512], \"dtype\": \"i32\", \"zero\": true, \"buffer\": \"out\"}}, {\"tensor\": "
                           "{\"shape\": [512], \"dtype\": \"i32\", \"buffer\": \"in\", \"data\": [",
                           grid, threads, cluster);
    for (unsigned i = 0; i < 512; i++)
        at += (unsigned)snprintf(launch + at, sizeof launch - at, "%s%u", i ? "," : "", 1000 + i);
    snprintf(launch + at, sizeof launch - at, "]}}, %s]}", descriptor);
    PtxSchedule schedule = {.kind = SCHEDULE_LAZY};
    return run_ptx(text, launch, &schedule);
}

#define ROWS "{\"descriptor\": {\"buffer\": \"in\", \"dtype\": \"i32\", \"shape\": [16, 32], \"block\": [1, 8]}}"

static void test_blackwell(void **state) {
    (void)state;
    Ran ran = run_blackwell(
        "mov.u32 %r10, 9;\nst.shared.u32 [%r3], %r10;\nbar.sync 0;\nmov.u64 %rd10, 64;\n@%p0 st.bulk.weak."
        "shared::cta [%r1], %rd10, 0;\nbar.sync 0;\n" GIVE,
        1, 32, 1, ROWS);
    assert_string_equal(ran.what, "");
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(ran.out[i], i < 16 ? 0 : 9);
    ran = run_blackwell(INIT EXPECT("128") "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4" TX
                                           " [%r1], [%rd4, {8, 3, 11, 15, 99}], [%r2];\n" WAIT GIVE,
                        1, 32, 1, ROWS);
    assert_string_equal(ran.what, "");
    static const unsigned rows[] = {3, 11, 15};
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(ran.out[i], i < 24 ? 1000 + rows[i / 8] * 32 + 8 + i % 8 : 0);
    /* two CTAs of four are run: each takes another one's place */
    ran = run_blackwell(
        INIT
        "mov.u32 %r20, %ctaid.x;\nL: mul.wide.u32 %rd10, %r20, 4;\nadd.u64 %rd10, %rd0, %rd10;\n"
        "@%p0 atom.global.add.u32 %r21, [%rd10], 1;\n" EXPECT(
            "16") "@%p0 clusterlaunchcontrol.try_cancel.async."
                  "shared::cta" TX ".b128 [%r1], [%r2];\nmov.u32 %r22, 0;\n" WAIT
                  ".reg .b128 answer;\nld.shared.b128 answer, [%r1];\n"
                  "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, answer;\n@!%p6 bra E;\n"
                  "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, answer;\n"
                  "mul.wide.u32 %rd10, %r20, 4;\nadd.u64 %rd10, %rd0, %rd10;\n@%p0 atom.global.add.u32 %r21, [%rd10], "
                  "1;\nE:",
        200, 32, 1, ROWS);
    assert_string_equal(ran.what, "");
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(ran.out[i], 1);
    /* clusters of two: the first CTA of one asks, and both have the answer */
    ran = run_blackwell(
        INIT "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nmov.u32 %r20, %ctaid.x;\n"
             "mov.u32 %r23, %cluster_ctarank;\nmul.wide.u32 %rd10, %r20, 4;\nadd.u64 %rd10, %rd0, %rd10;\n"
             "@%p0 atom.global.add.u32 %r21, [%rd10], 1;\n" EXPECT(
                 "16") "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
                       "setp.eq.and.u32 %p5, %r23, 0, %p0;\n@%p5 clusterlaunchcontrol.try_cancel.async."
                       "shared::cta" TX ".multicast::cluster::all.b128 [%r1], [%r2];\nmov.u32 %r22, 0;\n" WAIT
                       ".reg .b128 answer;\nld.shared.b128 answer, [%r1];\n"
                       "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, answer;\n@!%p6 bra E;\n"
                       "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, answer;\n"
                       "add.u32 %r20, %r20, %r23;\nmul.wide.u32 %rd10, %r20, 4;\nadd.u64 %rd10, %rd0, %rd10;\n"
                       "@%p0 atom.global.add.u32 %r21, [%rd10], 1;\nE:",
        200, 32, 2, ROWS);
    assert_string_equal(ran.what, "");
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(ran.out[i], 1);
}

static void test_encoding(void **state) {
    (void)state;
    TensorMap map = {.kind = TENSORMAP_IM2COL,
                     .rank = 4,
                     .type = 9,
                     .swizzle = 3,
                     .fill = 1,
                     .address = 0x123456789ab0,
                     .size = {64, 7, 5, 3},
                     .stride = {2, 128, 896, 4480},
                     .box = {64, 1, 1, 1},
                     .element_stride = {1, 2, 2, 1},
                     .lower = {-1, -2},
                     .upper = {1, -3},
                     .channels = 64,
                     .pixels = 128},
              again;
    uint8_t bytes[TENSORMAP_BYTES], zeros[TENSORMAP_BYTES] = {0};
    tensormap_encode(&map, bytes);
    assert_true(tensormap_decode(bytes, &again));
    assert_int_equal(again.rank, 4);
    assert_int_equal(again.address, map.address);
    assert_int_equal(again.lower[1], -2);
    assert_int_equal(again.upper[1], -3);
    assert_int_equal(again.stride[3], 4480);
    assert_int_equal(again.stride[0], 2);
    assert_int_equal(again.pixels, 128);
    assert_false(tensormap_decode(zeros, &again));
    assert_true(tensormap_replace(zeros, TENSORMAP_TYPE, 0, 10));
    assert_true(tensormap_decode(zeros, &again));
    assert_int_equal(again.type, 9); /* bf16: numbers of tensormap.replace are others */
    zeros[0] ^= 1;
    assert_false(tensormap_replace(zeros, TENSORMAP_RANK, 0, 1));
}

/* What a bulk copy leaves out at its ends is not known behind it, and not taken for 0: to store 0 there is a change. */
static void test_ends_that_are_left_out(void **state) {
    (void)state;
    const Case ends = {.threads = 64,
                       .body = INIT EXPECT("256") "@%p0 cp.async.bulk.shared::cta.global" TX
                                                  ".ignore_oob [%r1], [%rd2], 256, [%r2], 4, 8;\n" WAIT GIVE};
    Ran ran = run_case(&ends, SCHEDULE_EAGER, 1);
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (unsigned i = 1; i < 62; i++)
        assert_int_equal(ran.out[i], 1000 + i);
    assert_true(ran.out[0] && ran.out[62] && ran.out[63]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_copies), cmocka_unit_test(test_not_over),
        cmocka_unit_test(test_bulk),          cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_changed_map),   cmocka_unit_test(test_encoding),
        cmocka_unit_test(test_blackwell),     cmocka_unit_test(test_ends_that_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
