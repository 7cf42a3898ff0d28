/* What is said of asynchronous copies, barriers and clusters in PTX: kernels that are right, and the same with a wait,
 * a fence, a barrier or an arrival missing, or in the wrong place. */
#include "check/simt/check.h"
#include "ptx/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define HEAD                                                                                                          \
    ".version 8.7\n"                                                                                                  \
    ".target sm_90a\n"                                                                                                \
    ".address_size 64\n"                                                                                              \
    ".visible .entry k(.param .u64 .ptr .global .align 16 out, .param .u64 .ptr .global .align 16 in, .param .align " \
    "64 .b8 map[128])\n"                                                                                              \
    "{\n"                                                                                                             \
    ".reg .pred %p<12>; .reg .b16 %h<4>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n"                                      \
    ".shared .align 1024 .b8 sm[8192];\n"                                                                             \
    ".shared .align 8 .b64 bar[8];\n"                                                                                 \
    "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, sm; mov.u32 %r2, bar;\n"                             \
    "mov.u32 %r31, %ctaid.x; mov.u32 %r32, %ntid.x; mad.lo.u32 %r31, %r31, %r32, %r0;\n"                              \
    "mul.wide.u32 %rd1, %r31, 4; add.u64 %rd1, %rd0, %rd1; shl.b32 %r3, %r0, 2; add.u32 %r3, %r1, %r3;\n"             \
    "ld.param.u64 %rd2, [in]; mul.wide.u32 %rd3, %r0, 4; add.u64 %rd3, %rd2, %rd3;\n"                                 \
    "mov.b64 %rd4, map; cvta.param.u64 %rd4, %rd4; setp.eq.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r0, 0;\n"               \
    "mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1; mapa.shared::cluster.u32 %r6, %r1, %r5; "                    \
    "mapa.shared::cluster.u32 %r7, %r2, %r5;\n"

/* %rd0 out, %rd1 out + 4 thread, %rd2 in, %rd3 in + 4 tid, %rd4 map; %r0 tid, %r1 sm, %r2 bar, %r3 sm + 4 tid, %r4
 * rank, %r5 the other rank, %r6 and %r7 sm and bar there; %p0 thread 0, %p1 the others */
typedef struct Case {
    const char *name;
    unsigned threads, cluster;
    int rule; /* one of those that are found; -1: it is clean */
    const char *body;
} Case;

static const Case cases[] = {
    {"bulk ok", 64, 1, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 256, [%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"bulk no wait", 64, 1, RULE_RACE_WAR,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], 256, [%r2];\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma ok", 64, 1, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma no wait", 64, 1, RULE_RACE_WAR,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma over old data, fenced", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async;\n"
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma over old data, no fence", 64, 1, RULE_FENCE_MISSING,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma waits wrong parity", 64, 1, RULE_DEADLOCK_LAPPED,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 1; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"tma expect too little", 64, 1, RULE_DEADLOCK_BYTES,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 128;\n"
     "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd4, {4, 2}], "
     "[%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async ok", 64, 1, -1,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.wait_all;\n"
     "bar.sync 0;\n"
     "ld.shared.u32 %r30, [%r1+16]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async no bar", 64, 1, RULE_RACE_INFLIGHT,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.wait_all;\n"
     "ld.shared.u32 %r30, [%r1+16]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async own, no bar", 64, 1, -1,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.wait_all;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async no wait", 64, 1, RULE_RACE_INFLIGHT,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "bar.sync 0;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async group left", 64, 1, RULE_RACE_INFLIGHT,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.commit_group;\n"
     "cp.async.wait_group 1;\n"
     "bar.sync 0;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async two to one place", 64, 1, RULE_RACE_INFLIGHT,
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.wait_all;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async mbarrier ok", 64, 1, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 64; bar.sync 0;\n"
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r1+16]; st.global.u32 [%rd1], %r30;\n"},
    {"cp.async mbarrier, copy behind", 64, 1, RULE_RACE_INFLIGHT,
     "@%p0 mbarrier.init.shared.b64 [%r2], 64; bar.sync 0;\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2];\n"
     "cp.async.ca.shared.global [%r3], [%rd3], 4;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"},
    {"store ok", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async; bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store no fence", 64, 1, RULE_FENCE_MISSING,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store no bar", 64, 1, RULE_RACE_RAW,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store source reused after read wait", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async; bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group.read 0;\n"
     "bar.sync 0;\n"
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store source reused", 64, 1, RULE_RACE_INFLIGHT,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async; bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "bar.sync 0;\n"
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store result read after read wait", 64, 1, RULE_RACE_INFLIGHT,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async; bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group.read 0;\n"
     "@%p0 ld.global.u32 %r11, [%rd0+4];\n"
     "@%p0 st.global.u32 [%rd0+1024], %r11;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"},
    {"store result read", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "fence.proxy.async; bar.sync 0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 256;\n"
     "@%p0 cp.async.bulk.commit_group;\n"
     "@%p0 cp.async.bulk.wait_group 0;\n"
     "@%p0 ld.global.u32 %r11, [%rd0+4];\n"
     "@%p0 st.global.u32 [%rd0+1024], %r11;\n"},
    {"dsmem ok", 64, 2, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "mapa.shared::cluster.u32 %r8, %r3, %r5; ld.shared::cluster.u32 %r9, [%r8]; st.global.u32 [%rd1], %r9;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"dsmem no first barrier", 64, 2, RULE_RACE_RAW,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "mapa.shared::cluster.u32 %r8, %r3, %r5; ld.shared::cluster.u32 %r9, [%r8]; st.global.u32 [%rd1], %r9;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"dsmem no last barrier", 64, 2, RULE_CLUSTER_EXIT,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "mapa.shared::cluster.u32 %r8, %r3, %r5; ld.shared::cluster.u32 %r9, [%r8]; st.global.u32 [%rd1], %r9;\n"},
    {"dsmem relaxed arrive", 64, 2, RULE_RACE_RAW,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"
     "mapa.shared::cluster.u32 %r8, %r3, %r5; ld.shared::cluster.u32 %r9, [%r8]; st.global.u32 [%rd1], %r9;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"st.async ok", 64, 2, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "ld.global.u32 %r10, [%rd3]; mapa.shared::cluster.u32 %r11, %r3, %r5; "
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r10, [%r7];\n"
     "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"st.async no wait", 64, 2, RULE_RACE_WAR,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "ld.global.u32 %r10, [%rd3]; mapa.shared::cluster.u32 %r11, %r3, %r5; "
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r10, [%r7];\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"
     "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"st.async before peer starts", 64, 2, RULE_BARRIER_UNINITIALIZED,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "ld.global.u32 %r10, [%rd3]; mapa.shared::cluster.u32 %r11, %r3, %r5; "
     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r10, [%r7];\n"
     "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"named ok", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "bar.sync 1, 64;\n"
     "ld.shared.u32 %r30, [%r1+128]; st.global.u32 [%rd1], %r30;\n"},
    {"arrive does not wait", 64, 1, RULE_RACE_WAR,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "shr.u32 %r12, %r0, 5; setp.eq.u32 %p3, %r12, 0;\n"
     "@%p3 bar.arrive 1, 64;\n"
     "@!%p3 bar.sync 1, 64;\n"
     "ld.shared.u32 %r30, [%r1+128]; st.global.u32 [%rd1], %r30;\n"},
    {"arrive, one way", 64, 1, -1,
     "ld.global.u32 %r10, [%rd3]; st.shared.u32 [%r3], %r10;\n"
     "shr.u32 %r12, %r0, 5; setp.eq.u32 %p3, %r12, 0;\n"
     "@%p3 bar.arrive 1, 64;\n"
     "@!%p3 bar.sync 1, 64;\n"
     "@!%p3 ld.shared.u32 %r30, [%r1+16];\n"
     "@!%p3 st.global.u32 [%rd1], %r30;\n"},
    {"multicast ok", 64, 2, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "setp.eq.u32 %p2, %r4, 0; and.pred %p2, %p2, %p0; mov.u16 %h0, 3;\n"
     "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd2], 256, "
     "[%r2], %h0;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"multicast, stored by each CTA", 64, 2, -1,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "setp.eq.u32 %p2, %r4, 0; and.pred %p2, %p2, %p0; mov.u16 %h0, 3;\n"
     "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd2], 256, "
     "[%r2], %h0;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n"
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"multicast, stored by each CTA before it is there", 64, 2, RULE_RACE_INFLIGHT,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "setp.eq.u32 %p2, %r4, 0; and.pred %p2, %p2, %p0; mov.u16 %h0, 3;\n"
     "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd2], 256, "
     "[%r2], %h0;\n"
     "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n"
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
    {"multicast before the peer's mbarrier is made", 64, 2, RULE_RACE_WAW,
     "@%p0 mbarrier.init.shared.b64 [%r2], 1;\n"
     "bar.sync 0;\n"
     "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 256;\n"
     "setp.eq.u32 %p2, %r4, 0; and.pred %p2, %p2, %p0; mov.u16 %h0, 3;\n"
     "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd2], 256, "
     "[%r2], %h0;\n"
     "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r2], 0; @!%p5 bra W;\n"
     "ld.shared.u32 %r30, [%r3]; st.global.u32 [%rd1], %r30;\n"
     "barrier.cluster.arrive; barrier.cluster.wait;\n"},
};

static const char the_launch[] =
    "{\"kernel\": \"k\", \"grid\": [%u, 1, 1], \"block\": [%u, 1, 1], \"cluster\": [%u, 1, 1], \"args\": [{\"tensor\": "
    "{\"shape\": [1024], \"dtype\": \"i32\", \"zero\": true}}, {\"tensor\": {\"shape\": [512], \"dtype\": \"i32\", "
    "\"zero\": true, \"buffer\": \"in\"}}, {\"descriptor\": {\"shape\": [16, 32], \"dtype\": \"i32\", \"block\": [8, "
    "8], "
    "\"buffer\": \"in\"}}]}";

static void look(const Case *c, PtxComputes computes) {
    char text[8192], launch[1024];
    Arena arena;
    PtxModule module = {0};
    Diagnostics diagnostics = {0};
    Launch given = {0};
    arena_init(&arena, SIZE_MAX);
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", HEAD, c->body);
    snprintf(launch, sizeof launch, the_launch, c->cluster, c->threads, c->cluster);
    Source *source = source_copy("test.ptx", text, strlen(text)),
           *json = source_copy("test.json", launch, strlen(launch));
    if (!ptx_read(&module, source, false, &diagnostics) || !launch_read(&arena, json, &given, &diagnostics))
        fail_msg("%s: %s", c->name, diagnostics.items[0].message);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    ThreadsOptions options = {.launch = &given, .only_launch = true, .computes = computes};
    threads_check(&module, 0, &options, &verdict);
    verdict_close(&verdict);
    if (verdict.incomplete_count)
        fail_msg("%s: incomplete", c->name);
    bool found = c->rule < 0 && !verdict.finding_count;
    for (size_t i = 0; i < verdict.finding_count; i++)
        found |= (int)verdict.findings[i].rule == c->rule;
    if (!found)
        fail_msg("%s: %zu findings; %s", c->name, verdict.finding_count,
                 verdict.finding_count ? verdict.findings[0].message : "clean");
    arena_free(&arena);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    source_free(json);
}

static void test_data(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        look(&cases[i], COMPUTES_ALL);
}

/* The same is found where only what decides is computed. */
static void test_slice(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        look(&cases[i], COMPUTES_NEEDED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_data), cmocka_unit_test(test_slice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
