/* Barriers in the machine of PTX: named ones with counts, arrivals and reductions, threads that have ended, .aligned
 * under divergence, cluster barriers, mbarriers with tokens and parities, remote ones, groups, registers; kernels that
 * are right, and what is told of those that are not. */
#include "ptx_launched.h"

#define HEAD                                           \
    ".version 8.7\n.target sm_90a\n.address_size 64\n" \
    ".visible .entry k(.param .u64 .ptr .global .align 16 out) "
#define BODY                                                                                                \
    "{\n.reg .pred %p<12>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"                                          \
    ".shared .align 128 .b8 sm[8192];\n.shared .align 8 .b64 bar[8];\n"                                     \
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, sm;\nmov.u32 %r2, bar;\n"                \
    "mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r1, %r3;\n" \
    "shr.u32 %r4, %r0, 5;\nand.b32 %r5, %r0, 31;\n"
/* %rd0 out, %rd1 out + 4 tid, %r0 tid, %r1 sm, %r2 bar, %r3 sm + 4 tid, %r4 warp, %r5 lane */
#define THREAD0(text) "setp.eq.u32 %p0, %r0, 0;\n{\n@!%p0 bra NOT0;\n" text "NOT0:\n}\n"

typedef struct Case {
    const char *name;
    unsigned threads, cluster;
    const char *header, *body;
    PtxEnd end;
    int rule;         /* of a fault; -1: none */
    const char *what; /* part of what is said of it */
} Case;

static Ran run_case(const Case *c, ScheduleKind kind, uint64_t seed) {
    char text[8192], launch[400];
    unsigned cluster = c->cluster ? c->cluster : 1;
    snprintf(text, sizeof text, "%s%s\n%s%s\nret;\n}\n", HEAD, c->header ? c->header : "", BODY, c->body);
    snprintf(launch, sizeof launch,
             "{\"kernel\": \"k\", \"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"cluster\": [%u, 1, 1], \"args\": "
             "[{\"tensor\": {\"shape\": [512], \"dtype\": \"i32\", \"zero\": true}}]}",
             cluster, c->threads, cluster);
    PtxSchedule schedule = {.kind = kind, .seed = seed};
    return run_ptx(text, launch, &schedule);
}

static void hold(const Case *c) {
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER, SCHEDULE_LAZY, SCHEDULE_RANDOM, SCHEDULE_RANDOM};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        Ran ran = run_case(c, kinds[i], i + 1);
        if (ran.end != c->end || (c->rule >= 0 && (int)ran.rule != c->rule) || (c->what && !strstr(ran.what, c->what)))
            fail_msg("%s, schedule %u: end %d, rule %d, %s", c->name, i, (int)ran.end, (int)ran.rule, ran.what);
    }
}

#define RIGHT(name, threads, cluster, body) \
    { name, threads, cluster, NULL, body, PTX_END_COMPLETE, -1, NULL }
#define HANGS(name, threads, cluster, body) \
    { name, threads, cluster, NULL, body, PTX_END_STUCK, -1, NULL }
#define WRONG(name, threads, cluster, rule, what, body) \
    { name, threads, cluster, NULL, body, PTX_END_FAULT, rule, what }

/* ---- Named barriers ----------------------------------------------------------------------------- */

static const Case named[] = {
    RIGHT("all", 128, 1, "bar.sync 0;"),
    RIGHT("a part of a warp", 100, 1, "bar.sync 0;\nbar.sync 0;"),
    RIGHT("two pairs of warps", 128, 1, "shr.u32 %r6, %r4, 1;\nadd.u32 %r6, %r6, 1;\nbar.sync %r6, 64;"),
    RIGHT("arrive and sync", 64, 1, "setp.eq.u32 %p1, %r4, 0;\n@%p1 bar.arrive 3, 64;\n@!%p1 bar.sync 3, 64;"),
    RIGHT("early exit", 128, 1, "setp.gt.u32 %p1, %r0, 40;\n@%p1 exit;\nbar.sync 0;"),
    RIGHT("a whole warp ended", 128, 1, "setp.ge.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 0;\nbar.sync 0;"),
    RIGHT("a whole warp ended, and not the first barrier", 128, 1,
          "setp.ge.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 1;\nbar.sync 5;"),
    RIGHT("not aligned, by two ways", 64, 1,
          "setp.lt.u32 %p1, %r5, 7;\n@%p1 bra A;\nbarrier.sync 1;\nbra B;\nA: barrier.sync 1;\nB: bar.sync 0;"),
    RIGHT("not aligned, guarded", 32, 1,
          "setp.lt.u32 %p1, %r5, 7;\n@%p1 barrier.sync 1, 32;\n@!%p1 barrier.sync 1, 32;"),
    RIGHT("reduction with a count", 64, 1, "setp.lt.u32 %p1, %r0, 5;\nbar.red.popc.u32 %r6, 2, 64, %p1;"),
    HANGS("a count, and a whole warp ended", 64, 1, "setp.ge.u32 %p1, %r0, 32;\n@%p1 exit;\nbar.sync 1, 64;"),
    HANGS("one warp does not come", 64, 1, "setp.eq.u32 %p1, %r4, 0;\n@%p1 bar.sync 1, 64;\nbar.sync 2, 64;"),
    HANGS("the other way round", 64, 1,
          "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra A;\nbar.sync 1, 64;\nbar.sync 2, 64;\nbra B;\n"
          "A: bar.sync 2, 64;\nbar.sync 1, 64;\nB:"),
    WRONG("number", 32, 1, RULE_NAMED_ID, "barrier 16", "mov.u32 %r6, 16;\nbar.sync %r6;"),
    WRONG("not whole warps", 64, 1, RULE_NAMED_THREADS, "40 threads", "mov.u32 %r6, 40;\nbar.sync 1, %r6;"),
    WRONG("more than there are", 64, 1, RULE_NAMED_THREADS, "96 threads", "bar.sync 1, 96;"),
    WRONG("counts differ", 96, 1, RULE_NAMED_COUNT, "for 96",
          "setp.eq.u32 %p1, %r4, 0;\n@%p1 bar.arrive 1, 96;\nbar.sync 2;\n@!%p1 bar.sync 1, 64;"),
    WRONG("arrives twice", 64, 1, RULE_NAMED_COUNT, "again before it is complete",
          "setp.eq.u32 %p1, %r4, 0;\n@!%p1 bra B;\nbar.arrive 1, 64;\nbar.arrive 1, 64;\nB: bar.sync 2;"),
    WRONG("a reduction and a barrier", 64, 1, RULE_NAMED_REDUCTION, "with and without",
          "setp.eq.u32 %p1, %r4, 0;\n@%p1 bar.red.or.pred %p2, 1, 64, %p1;\n@!%p1 bar.sync 1, 64;"),
    WRONG("aligned, guarded", 64, 1, RULE_THREADS_DIVERGENT_WARP, "5 of the warp's 32 lanes",
          "setp.lt.u32 %p1, %r5, 5;\n@%p1 bar.sync 0;"),
    WRONG("aligned, in a branch", 64, 1, RULE_THREADS_DIVERGENT_WARP, "5 of the warp's 32",
          "setp.ge.u32 %p1, %r5, 5;\n@%p1 bra A;\nbar.sync 0;\nA: st.global.u32 [%rd1], 1;"),
    WRONG("aligned, by two ways", 32, 1, RULE_THREADS_DIVERGENT_WARP, "the others do not",
          "setp.lt.u32 %p1, %r5, 7;\n@%p1 bra A;\nbar.sync 1;\nst.global.u32 [%rd1], 1;\nbra B;\nA: bar.sync 1;\nB:"),
};

static void test_named(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof named / sizeof *named; i++)
        hold(&named[i]);
}

static void test_named_reductions(void **state) {
    (void)state;
    Case c = RIGHT("popc, and, or", 96, 1,
                   "setp.lt.u32 %p1, %r0, 41;\nbar.red.popc.u32 %r6, 0, %p1;\n"
                   "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, !%p1;\n"
                   "selp.u32 %r7, 100, 0, %p2;\nselp.u32 %r8, 1000, 0, %p3;\nadd.u32 %r6, %r6, %r7;\nadd.u32 %r6, %r6, "
                   "%r8;\nst.global.u32 [%rd1], %r6;");
    Ran ran = run_case(&c, SCHEDULE_RANDOM, 5);
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (unsigned i = 0; i < 96; i++)
        assert_int_equal(ran.out[i], 1041);
    assert_int_equal(ran.reported[PTX_EVENT_NAMED_COMPLETE], 3);
    assert_int_equal(ran.reported[PTX_EVENT_NAMED_ARRIVE], 9);
    assert_int_equal(ran.reported[PTX_EVENT_NAMED_SYNC], 9);
}

/* ---- Cluster barriers --------------------------------------------------------------------------- */

static const Case clusters[] = {
    RIGHT("arrive and wait", 64, 2,
          "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
          "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;"),
    RIGHT("not in a cluster", 64, 1, "barrier.cluster.arrive;\nbarrier.cluster.wait;"),
    RIGHT("one CTA ends", 64, 2,
          "mov.u32 %r6, %cluster_ctarank;\nsetp.eq.u32 %p1, %r6, 1;\n@%p1 exit;\n"
          "barrier.cluster.arrive;\nbarrier.cluster.wait;"),
    RIGHT("one arrives and ends", 64, 2,
          "mov.u32 %r6, %cluster_ctarank;\nsetp.eq.u32 %p1, %r6, 1;\nbarrier.cluster.arrive;\n@%p1 exit;\n"
          "barrier.cluster.wait;"),
    HANGS("one CTA does not arrive", 64, 2,
          "mov.u32 %r6, %cluster_ctarank;\nsetp.eq.u32 %p1, %r6, 1;\n@%p1 bra A;\nbarrier.cluster.arrive;\n"
          "barrier.cluster.wait;\nA: @!%p1 bra B;\nmov.u32 %r7, 1;\nst.shared.u32 [%r1], %r7;\nW: ld.shared.u32 %r7, "
          "[%r1];\nsetp.ne.u32 %p2, %r7, 0;\n@%p2 bra W;\nB:"),
    WRONG("wait without arrive", 32, 2, RULE_CLUSTER_BARRIER_ORDER, "without having arrived", "barrier.cluster.wait;"),
    WRONG("arrives twice", 32, 2, RULE_CLUSTER_BARRIER_ORDER, "second time",
          "barrier.cluster.arrive;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;"),
    WRONG("waits twice", 32, 2, RULE_CLUSTER_BARRIER_ORDER, "without having arrived",
          "barrier.cluster.arrive;\nbarrier.cluster.wait;\nbarrier.cluster.wait;"),
    WRONG("aligned, guarded", 32, 2, RULE_THREADS_DIVERGENT_WARP, "1 of the warp's 32",
          "setp.eq.u32 %p1, %r5, 3;\n@%p1 barrier.cluster.arrive.aligned;\nbarrier.cluster.wait;"),
};

static void test_clusters(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof clusters / sizeof *clusters; i++)
        hold(&clusters[i]);
}

/* ---- mbarriers ---------------------------------------------------------------------------------- */

#define INIT(count) THREAD0("mbarrier.init.shared::cta.b64 [%r2], " count ";\n") "bar.sync 0;\n"
#define WAIT(parity) \
    "W" parity ": mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2], " parity ";\n@!%p5 bra W" parity ";\n"

static const Case mbarriers[] = {
    RIGHT("everybody arrives", 64, 1,
          INIT("64") "mbarrier.arrive.shared::cta.b64 _, [%r2];\n" WAIT(
              "0") "mbarrier.arrive.shared::cta.b64 %rd2, [%r2];\n"
                   "S: mbarrier.try_wait.shared::cta.b64 %p5, [%r2], %rd2;\n@!%p5 bra S;"),
    RIGHT("one thread, several arrivals", 64, 1,
          INIT("5") "setp.eq.u32 %p1, %r0, 40;\n@%p1 mbarrier.arrive.shared.b64 %rd2, [%r2], 5;\n" WAIT("0")),
    RIGHT("parity 1 at first", 32, 1, INIT("1") WAIT("1")),
    RIGHT("test_wait in a loop", 64, 1,
          INIT("1") "setp.eq.u32 %p1, %r0, 63;\n@%p1 mbarrier.arrive.shared.b64 %rd2, [%r2];\n"
                    "T: mbarrier.test_wait.parity.shared.b64 %p5, [%r2], 0;\n@!%p5 bra T;"),
    RIGHT("bytes by threads", 64, 1,
          INIT("1") "setp.eq.u32 %p1, %r0, 0;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 256;\n"
                    "setp.ge.u32 %p1, %r0, 32;\n@%p1 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 8;\n" WAIT(
                        "0")),
    RIGHT("expect_tx before", 32, 1,
          INIT("1") THREAD0(
              "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 16;\n"
              "mbarrier.arrive.shared::cta.b64 _, [%r2];\n"
              "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 16;\n") "W0: "
                                                                               "mbarrier.try_wait.parity.shared::cta."
                                                                               "b64 %p5, [%r2], 0;\n@!%p5 bra W0;\n"),
    RIGHT("dropped", 64, 1,
          INIT("64") "setp.lt.u32 %p1, %r0, 32;\n@%p1 mbarrier.arrive_drop.shared.b64 %rd2, [%r2];\n"
                     "@!%p1 mbarrier.arrive.shared.b64 %rd2, [%r2];\n" WAIT(
                         "0") "bar.sync 0;\n@!%p1 mbarrier.arrive.shared.b64 %rd2, [%r2];\n" WAIT("1")),
    RIGHT(
        "invalidated and made again", 32, 1,
        INIT("32") "mbarrier.arrive.shared.b64 %rd2, [%r2];\n" WAIT(
            "0") "bar.sync 0;\n@%p0 mbarrier.inval.shared.b64 [%r2];\n@%p0 mbarrier.init.shared.b64 [%r2], "
                 "32;\nbar.sync "
                 "0;\nmbarrier.arrive.shared.b64 %rd2, [%r2];\nW2: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0;\n"
                 "@!%p5 bra W2;"),
    RIGHT("of another CTA", 32, 2,
          INIT("32") "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                     "mov.u32 %r6, %cluster_ctarank;\nxor.b32 %r6, %r6, 1;\nmapa.shared::cluster.u32 %r7, %r2, %r6;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];\n" WAIT(
                         "0") "barrier.cluster.arrive;\nbarrier.cluster.wait;"),
    RIGHT(
        "lanes at several", 32, 1,
        THREAD0(
            "mbarrier.init.shared::cta.b64 [%r2], 16;\nmbarrier.init.shared::cta.b64 [%r2+8], 16;\n") "bar.sync 0;\n"
                                                                                                      "and.b32 %r6, "
                                                                                                      "%r0, "
                                                                                                      "1;\nshl.b32 "
                                                                                                      "%r6, %r6, "
                                                                                                      "3;\nadd.u32 "
                                                                                                      "%r6, %r6, "
                                                                                                      "%r2;\nmbarrier."
                                                                                                      "arrive.shared."
                                                                                                      "b64 %rd2, "
                                                                                                      "[%r6];\n"
                                                                                                      "S: "
                                                                                                      "mbarrier.try_"
                                                                                                      "wait.shared.b64 "
                                                                                                      "%p5, [%r6], "
                                                                                                      "%rd2;\n@!%p5 "
                                                                                                      "bra S;"),
    HANGS("lapped", 32, 1,
          INIT("1") "setp.eq.u32 %p1, %r0, 1;\n@%p1 mbarrier.arrive.shared.b64 _, [%r2];\n@%p1 "
                    "mbarrier.arrive.shared.b64 _, "
                    "[%r2];\nbar.sync 0;\n" WAIT("0")),
    HANGS("an arrival is missing", 64, 1,
          INIT("64") "setp.ne.u32 %p1, %r0, 9;\n@%p1 mbarrier.arrive.shared::cta.b64 _, [%r2];\n" WAIT("0")),
    HANGS("wrong parity", 32, 1, INIT("32") "mbarrier.arrive.shared::cta.b64 _, [%r2];\n" WAIT("0") WAIT("1")),
    HANGS("bytes do not come", 32, 1,
          INIT("1") "@%p0 mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 16;\n" WAIT("0")),
    WRONG("never made", 32, 1, RULE_BARRIER_UNINITIALIZED, "no mbarrier", "mbarrier.arrive.shared::cta.b64 _, [%r2];"),
    WRONG("wait for one never made", 32, 1, RULE_BARRIER_UNINITIALIZED, "no mbarrier", WAIT("0")),
    WRONG("more arrivals by an instruction than are pending", 32, 1, RULE_BARRIER_UNDERFLOW, "32 arrivals come",
          INIT("16") "mbarrier.arrive.shared.b64 _, [%r2];"),
    WRONG("too many arrivals", 64, 1, RULE_BARRIER_UNDERFLOW, "2 arrivals come",
          INIT("1") "setp.eq.u32 %p1, %r0, 1;\n@%p1 mbarrier.arrive.shared.b64 %rd2, [%r2], 2;"),
    WRONG("made twice", 32, 1, RULE_BARRIER_REINITIALIZED, "invalidated first",
          INIT("1") "@%p0 mbarrier.init.shared.b64 [%r2], 1;"),
    WRONG("used when gone", 32, 1, RULE_BARRIER_INVALIDATED, "invalidated",
          INIT("1") "@%p0 mbarrier.inval.shared.b64 [%r2];\nbar.sync 0;\n@%p0 mbarrier.arrive.shared.b64 %rd2, [%r2];"),
    WRONG("invalidated twice", 32, 1, RULE_BARRIER_INVALIDATED, "invalidated",
          INIT("1") "@%p0 mbarrier.inval.shared.b64 [%r2];\n@%p0 mbarrier.inval.shared.b64 [%r2];"),
    WRONG("invalidated while others wait", 64, 1, RULE_BARRIER_INVALIDATED, NULL,
          INIT("1") "setp.eq.u32 %p1, %r4, 0;\n@%p1 bra A;\n" WAIT(
              "0") "bra B;\nA: @%p0 mbarrier.inval.shared.b64 [%r2];\nB:"),
    WRONG("count 0", 32, 1, RULE_MBARRIER_COUNT, "count is 0", "mov.u32 %r6, 0;\n" INIT("%r6")),
    WRONG("bytes out of range", 32, 1, RULE_BARRIER_BYTES, "1048576",
          INIT("1") "mov.u32 %r6, 1048576;\n@%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], %r6;"),
    WRONG("noComplete completes", 32, 1, RULE_BARRIER_UNDERFLOW, ".noComplete",
          INIT("1") "@%p0 mbarrier.arrive.noComplete.shared.b64 %rd2, [%r2], 1;"),
    WRONG("an old token", 32, 1, RULE_BARRIER_OVERRUN, "phase 0, and 2 phases",
          INIT("1") "@!%p0 exit;\nmbarrier.arrive.shared.b64 %rd2, [%r2];\nmbarrier.arrive.shared.b64 _, [%r2];\n"
                    "mbarrier.test_wait.shared.b64 %p5, [%r2], %rd2;"),
    WRONG("misaligned", 32, 1, RULE_MBARRIER_ALIGNMENT, "multiple of 8",
          "@%p0 exit;\nmbarrier.init.shared.b64 [%r2+4], 1;"),
};

static void test_mbarriers(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof mbarriers / sizeof *mbarriers; i++)
        hold(&mbarriers[i]);
}

/* One instruction of a warp can complete several phases; each lane has the token of its own. */
static void test_tokens(void **state) {
    (void)state;
    Case c = RIGHT("tokens", 32, 1,
                   INIT("32") "mbarrier.arrive.shared.b64 %rd2, [%r2];\nmbarrier.pending_count.b64 %r6, %rd2;\n"
                              "st.global.u32 [%rd1], %r6;");
    Ran ran = run_case(&c, SCHEDULE_EAGER, 0);
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(ran.out[i], 32 - i);
    assert_int_equal(ran.reported[PTX_EVENT_FLIP], 1);
    assert_int_equal(ran.reported[PTX_EVENT_ARRIVE], 1);
}

/* A test that fails is told, and orders nothing; one that succeeds is a wait. */
static void test_tests(void **state) {
    (void)state;
    Case c = RIGHT("tests", 32, 1,
                   INIT("32") "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;\nmbarrier.arrive.shared.b64 _, "
                              "[%r2];\nmbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0;\nselp.u32 %r6, 1, 0, %p1;\n"
                              "selp.u32 %r7, 2, 0, %p2;\nadd.u32 %r6, %r6, %r7;\nst.global.u32 [%rd1], %r6;");
    Ran ran = run_case(&c, SCHEDULE_EAGER, 0);
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    assert_int_equal(ran.out[7], 2);
    assert_int_equal(ran.reported[PTX_EVENT_TEST], 1);
    assert_int_equal(ran.reported[PTX_EVENT_WAIT], 1);
}

/* ---- Registers ---------------------------------------------------------------------------------- */

#define SEPARATED(first, second) "setp.lt.u32 %p1, %r0, 128;\n@%p1 bra A;\n" second "bra B;\nA: " first "B:"

static const Case registers[] = {
    {"handed on", 256, 1, ".reqntid 256 .minnctapersm 1",
     SEPARATED("setmaxnreg.dec.sync.aligned.u32 40;\n", "setmaxnreg.inc.sync.aligned.u32 256;\n"), PTX_END_COMPLETE, -1,
     NULL},
    {"more than there are", 256, 1, ".reqntid 256 .maxnreg 128",
     SEPARATED("setmaxnreg.dec.sync.aligned.u32 104;\n", "setmaxnreg.inc.sync.aligned.u32 160;\n"), PTX_END_STUCK, -1,
     NULL},
    {"an increase that is none", 128, 1, ".reqntid 128 .maxnreg 128", "setmaxnreg.inc.sync.aligned.u32 40;",
     PTX_END_FAULT, RULE_REGISTERS_COUNT, "have 128"},
    {"ignored", 128, 1, NULL, "setmaxnreg.inc.sync.aligned.u32 40;", PTX_END_COMPLETE, -1, NULL},
    {"ignored, since no register count follows from threads alone", 256, 1, ".reqntid 256",
     SEPARATED("setmaxnreg.dec.sync.aligned.u32 104;\n", "setmaxnreg.inc.sync.aligned.u32 256;\n"), PTX_END_COMPLETE,
     -1, NULL},
};

static void test_registers(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof registers / sizeof *registers; i++)
        hold(&registers[i]);
}

/* ---- Fences ------------------------------------------------------------------------------------- */

static void test_fences(void **state) {
    (void)state;
    Case c =
        RIGHT("fences", 32, 1,
              "membar.cta;\nmembar.gl;\nfence.sc.gpu;\nfence.acq_rel.cta;\nfence.acquire.gpu;\nfence.proxy.async;\n"
              "fence.proxy.async.shared::cta;\nfence.proxy.alias;\nfence.mbarrier_init.release.cluster;\n"
              "fence.proxy.tensormap::generic.release.gpu;\n"
              "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;\n"
              "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;");
    Ran ran = run_case(&c, SCHEDULE_EAGER, 0);
    assert_string_equal(ran.what, "");
    assert_int_equal(ran.end, PTX_END_COMPLETE);
    assert_int_equal(ran.reported[PTX_EVENT_FENCE], 11);
    assert_int_equal(ran.reported[PTX_EVENT_AWAIT_LAUNCHES], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),     cmocka_unit_test(test_named_reductions), cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_mbarriers), cmocka_unit_test(test_tokens),           cmocka_unit_test(test_tests),
        cmocka_unit_test(test_registers), cmocka_unit_test(test_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
