/* Races in small kernels of PTX, run in the machine and watched: for each way of being right one that lacks something,
 * and what the race is said to be. */
#include "ptx_running.h"

#include "check/simt/watch.h"

/* Registers that every body finds: tid, CTA, address of s, s + 4 * tid, s + 4 * (tid ^ 32), in, out, the mbarrier. */
#define HEAD                                                                                                    \
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"                                                    \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b16 %h<4>; .reg .f32 %f<4>;\n"                \
    ".shared .align 128 .b8 s[4096]; .shared .align 8 .b64 bar;\n"                                              \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.s32 %r4, %r2, %r3;\n" \
    "xor.b32 %r5, %r3, 128; add.s32 %r5, %r5, %r2; xor.b32 %r6, %r3, 4; add.s32 %r6, %r6, %r2;\n"               \
    "ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out]; mov.u32 %r7, bar;\n"                                    \
    "cvta.to.global.u64 %rd0, %rd0; cvta.to.global.u64 %rd1, %rd1;\n"                                           \
    "setp.eq.s32 %p0, %r0, 0; setp.eq.s32 %p1, %r1, 0; setp.lt.s32 %p2, %r0, 32; setp.eq.s32 %p3, %r0, 32;\n"
#define TAIL "\nret; }\n"

enum { NO_RACE = -1, SOME_RACE = -2 }; /* some: its reason depends on the order of the run */

typedef struct Case {
    const char *name;
    uint32_t block, grid, cluster;
    int reason; /* of one race at least; NO_RACE */
    const char *body;
} Case;

/* One thread makes the mbarrier, all know it. */
#define MAKE_BARRIER(count) "@%p0 mbarrier.init.shared.b64 [%r7], " count ";\nbar.sync 0;\n"
#define WAIT(sem, phase) \
    "W" phase ": mbarrier.try_wait.parity" sem ".shared::cta.b64 %p4, [%r7], " phase ";\n@!%p4 bra W" phase ";\n"

static const Case cases[] = {
    /* bar.sync */
    {"shared, no barrier", 64, 1, 1, REASON_UNORDERED, "st.shared.u32 [%r4], %r0; ld.shared.u32 %r8, [%r5];"},
    {"shared, barrier", 64, 1, 1, NO_RACE, "st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r8, [%r5];"},
    {"written again without a second barrier", 64, 1, 1, REASON_UNORDERED,
     "st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r8, [%r5]; st.shared.u32 [%r4], %r8;"},
    {"written again behind a second barrier", 64, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r8, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r8;"},
    {"own element", 64, 1, 1, NO_RACE, "st.shared.u32 [%r4], %r0; ld.shared.u32 %r8, [%r4]; st.shared.u32 [%r4], %r8;"},
    {"all write one word", 64, 1, 1, REASON_SAME_INSTRUCTION, "@%p2 st.shared.u32 [%r2], %r0;"},
    {"one writes, all read", 64, 1, 1, NO_RACE, "@%p0 st.shared.u32 [%r2], %r0; bar.sync 0; ld.shared.u32 %r8, [%r2];"},
    {"named barriers with the same number", 64, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; bar.sync 1, 64; ld.shared.u32 %r8, [%r5];"},
    {"arrive is a source", 64, 1, 1, NO_RACE,
     "@%p2 bra A; st.shared.u32 [%r4], %r0; bar.arrive 1, 64; bra E; A: bar.sync 1, 64; ld.shared.u32 %r8, [%r5]; E:"},
    {"arrive is no more than a source", 64, 1, 1, REASON_UNORDERED,
     "@%p2 bra A; bar.arrive 1, 64; ld.shared.u32 %r8, [%r5]; bra E; A: st.shared.u32 [%r4], %r0; bar.sync 1, 64; E:"},
    {"behind its arrive", 64, 1, 1, REASON_UNORDERED,
     "@%p2 bra A; bar.arrive 1, 64; st.shared.u32 [%r4], %r0; bra E; A: bar.sync 1, 64; ld.shared.u32 %r8, [%r5]; E:"},
    {"bytes beside each other", 64, 1, 1, NO_RACE,
     "add.s32 %r8, %r2, %r0; cvt.u16.u32 %h0, %r0; st.shared.u8 [%r8], %h0;"},
    {"a byte of another's word", 64, 1, 1, REASON_UNORDERED, "st.shared.u32 [%r4], %r0; ld.shared.u8 %h0, [%r5+3];"},
    /* lanes */
    {"lanes of a warp, nothing between", 32, 1, 1, REASON_SAME_WARP,
     "st.shared.u32 [%r4], %r0; ld.shared.u32 %r8, [%r6];"},
    {"lanes of a warp, bar.warp.sync", 32, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; bar.warp.sync -1; ld.shared.u32 %r8, [%r6];"},
    {"bar.warp.sync of a pair", 32, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; and.b32 %r9, %r0, 30; mov.u32 %r10, 3; shl.b32 %r10, %r10, %r9; bar.warp.sync %r10; "
     "ld.shared.u32 %r8, [%r6];"},
    {"shfl orders nothing", 32, 1, 1, REASON_SAME_WARP,
     "st.shared.u32 [%r4], %r0; shfl.sync.idx.b32 %r9, %r0, 0, 31, -1; ld.shared.u32 %r8, [%r6];"},
    {"bar.warp.sync is for one warp", 64, 1, 1, REASON_UNORDERED,
     "st.shared.u32 [%r4], %r0; bar.warp.sync -1; ld.shared.u32 %r8, [%r5];"},
    /* strong accesses */
    {"atomics do not race", 64, 2, 1, NO_RACE, "atom.global.add.u32 %r8, [%rd1], 1;"},
    {"red and a plain read", 64, 1, 1, REASON_UNORDERED,
     "@%p2 red.shared.add.u32 [%r2], 1; @%p3 ld.shared.u32 %r8, [%r2];"},
    {"red, barrier, plain read", 64, 1, 1, NO_RACE,
     "red.shared.add.u32 [%r2], 1; bar.sync 0; ld.shared.u32 %r8, [%r2];"},
    {"plain zero, barrier, red", 64, 1, 1, NO_RACE,
     "@%p0 st.shared.u32 [%r2], 0; bar.sync 0; red.shared.add.u32 [%r2], 1;"},
    {"plain zero, red", 64, 1, 1, REASON_UNORDERED, "@%p0 st.shared.u32 [%r2], 0; @%p3 red.shared.add.u32 [%r2], 1;"},
    {"volatile is strong", 64, 1, 1, NO_RACE, "st.volatile.shared.u32 [%r4], %r0; ld.volatile.shared.u32 %r8, [%r5];"},
    {"volatile and plain", 64, 1, 1, REASON_UNORDERED, "st.volatile.shared.u32 [%r4], %r0; ld.shared.u32 %r8, [%r5];"},
    {"scope of the CTA, two CTAs", 32, 2, 1, REASON_SCOPE, "@%p0 atom.global.cta.add.u32 %r8, [%rd1], 1;"},
    {"scope of the GPU, two CTAs", 32, 2, 1, NO_RACE, "@%p0 atom.global.gpu.add.u32 %r8, [%rd1], 1;"},
    {"two sizes", 64, 1, 1, REASON_MIXED_SIZE,
     "@%p0 st.relaxed.gpu.shared.u32 [%r2], 1; @%p3 ld.relaxed.gpu.shared.u64 %rd5, [%r2];"},
    /* release and acquire */
    {"flag of release and acquire", 64, 1, 1, NO_RACE,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.acquire.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; E:"},
    {"flag that is relaxed", 64, 1, 1, REASON_UNORDERED,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; st.relaxed.gpu.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.acquire.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; E:"},
    {"flag that is read relaxed", 64, 1, 1, REASON_UNORDERED,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.relaxed.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; E:"},
    {"fences around a relaxed flag", 64, 1, 1, NO_RACE,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.relaxed.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; fence.acq_rel.gpu; "
     "ld.global.u32 %r9, [%rd1+4]; E:"},
    {"one fence is missing", 64, 1, 1, REASON_UNORDERED,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.relaxed.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; E:"},
    {"membar and volatile flags", 64, 1, 1, NO_RACE,
     "@!%p0 bra B; st.global.u32 [%rd1+4], 7; membar.gl; st.volatile.global.u32 [%rd1], 1; B: @!%p3 bra E; "
     "S: ld.volatile.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; membar.gl; "
     "ld.global.u32 %r9, [%rd1+4]; E:"},
    {"a flag for the CTA, between CTAs", 32, 2, 1, REASON_SCOPE,
     "@!%p0 bra E; @!%p1 bra B; st.global.u32 [%rd1+4], 7; st.release.cta.global.u32 [%rd1], 1; bra E; "
     "B: mov.u32 %r10, 100; S: ld.acquire.gpu.global.u32 %r8, [%rd1]; sub.s32 %r10, %r10, 1; setp.ne.s32 %p4, %r8, 1; "
     "setp.gt.and.s32 %p4, %r10, 0, %p4; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; E:"},
    {"a flag between CTAs", 32, 2, 1, NO_RACE,
     "@!%p0 bra E; @!%p1 bra B; st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; bra E; "
     "B: S: ld.acquire.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; ld.global.u32 %r9, [%rd1+4]; "
     "E:"},
    {"acquired by one thread, read by another behind a barrier", 64, 2, 1, NO_RACE,
     "@!%p1 bra B; @!%p0 bra E; st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; bra E; "
     "B: @!%p0 bra C; S: ld.acquire.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; C: bar.sync 0; "
     "ld.global.u32 %r9, [%rd1+4]; E:"},
    {"acquired by one thread, read by another", 64, 2, 1, REASON_UNORDERED,
     "@!%p1 bra B; @!%p0 bra E; st.global.u32 [%rd1+4], 7; st.release.gpu.global.u32 [%rd1], 1; bra E; "
     "B: @!%p0 bra C; S: ld.acquire.gpu.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; bra E; "
     "C: @%p3 ld.global.u32 %r9, [%rd1+4]; E:"},
    {"the last of all resets the counter", 64, 2, 1, NO_RACE,
     "atom.global.inc.u32 %r8, [%rd0+1024], 1000; setp.eq.u32 %p4, %r8, 383; @%p4 st.global.u32 [%rd0+1024], 0;"},
    {"one that is not the last resets it", 64, 2, 1, SOME_RACE,
     "atom.global.inc.u32 %r8, [%rd0+1024], 1000; setp.eq.u32 %p4, %r8, 300; @%p4 st.global.u32 [%rd0+1024], 0;"},
    {"the last block reads what others wrote", 32, 4, 1, NO_RACE,
     "@!%p0 bra E; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd5, %rd1; st.global.u32 [%rd5+64], %r1; "
     "fence.acq_rel.gpu; "
     "atom.relaxed.gpu.global.add.u32 %r8, [%rd0], 1; fence.acq_rel.gpu; setp.ne.u32 %p4, %r8, 3; @%p4 bra E; "
     "ld.global.u32 %r9, [%rd1+64]; ld.global.u32 %r9, [%rd1+68]; ld.global.u32 %r9, [%rd1+72]; E:"},
    {"the last block, without a fence before the counter", 32, 4, 1, REASON_UNORDERED,
     "@!%p0 bra E; mul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd5, %rd1; st.global.u32 [%rd5+64], %r1; "
     "atom.relaxed.gpu.global.add.u32 %r8, [%rd0], 1; fence.acq_rel.gpu; setp.ne.u32 %p4, %r8, 3; @%p4 bra E; "
     "ld.global.u32 %r9, [%rd1+64]; ld.global.u32 %r9, [%rd1+68]; E:"},
    {"data read as read-only, and written", 64, 1, 1, REASON_READ_ONLY,
     "@%p0 st.global.u32 [%rd1], 1; bar.sync 0; @%p3 ld.global.nc.u32 %r8, [%rd1];"},
    {"data read as read-only", 64, 1, 1, NO_RACE, "ld.global.nc.u32 %r8, [%rd0]; st.shared.u32 [%r4], %r8;"},
    /* mbarriers */
    {"mbarrier phase", 64, 1, 1, NO_RACE,
     MAKE_BARRIER("32") "@%p2 bra A; st.shared.u32 [%r4], %r0; mbarrier.arrive.shared.b64 %rd5, [%r7]; bra "
                        "E;\nA: " WAIT("", "0") "ld.shared.u32 %r8, [%r5]; E:"},
    {"written behind the arrival", 64, 1, 1, REASON_UNORDERED,
     MAKE_BARRIER("32") "@%p2 bra A; mbarrier.arrive.shared.b64 %rd5, [%r7]; st.shared.u32 [%r4], %r0; bra "
                        "E;\nA: " WAIT("", "0") "ld.shared.u32 %r8, [%r5]; E:"},
    {"mbarrier used before others know it", 64, 1, 1, REASON_UNORDERED,
     "@%p0 mbarrier.init.shared.b64 [%r7], 64; @%p0 st.volatile.global.u32 [%rd1], 1; "
     "S: ld.volatile.global.u32 %r8, [%rd1]; setp.ne.s32 %p4, %r8, 1; @%p4 bra S; mbarrier.arrive.shared.b64 %rd5, "
     "[%r7];"},
    {"a relaxed arrival brings nothing", 64, 1, 1, REASON_UNORDERED,
     MAKE_BARRIER("32") "@%p2 bra A; st.shared.u32 [%r4], %r0; mbarrier.arrive.relaxed.cluster.shared::cta.b64 %rd5, "
                        "[%r7]; bra E;\n"
                        "A: " WAIT("", "0") "ld.shared.u32 %r8, [%r5]; E:"},
    {"a relaxed arrival behind a fence", 64, 1, 1, NO_RACE,
     MAKE_BARRIER("32") "@%p2 bra A; st.shared.u32 [%r4], %r0; fence.acq_rel.cluster; "
                        "mbarrier.arrive.relaxed.cluster.shared::cta.b64 %rd5, [%r7]; bra E;\nA: " WAIT(
                            "", "0") "ld.shared.u32 %r8, [%r5]; E:"},
    {"a relaxed wait gives nothing", 64, 1, 1, REASON_UNORDERED,
     MAKE_BARRIER("32") "@%p2 bra A; st.shared.u32 [%r4], %r0; mbarrier.arrive.shared.b64 %rd5, [%r7]; bra "
                        "E;\nA: " WAIT(".relaxed.cluster", "0") "ld.shared.u32 %r8, [%r5]; E:"},
    {"a relaxed wait, and a fence", 64, 1, 1, NO_RACE,
     MAKE_BARRIER("32") "@%p2 bra A; st.shared.u32 [%r4], %r0; mbarrier.arrive.shared.b64 %rd5, [%r7]; bra "
                        "E;\nA: " WAIT(".relaxed.cluster", "0") "fence.acq_rel.cluster; ld.shared.u32 %r8, [%r5]; E:"},
    /* cp.async */
    {"cp.async, waited for, own", 32, 1, 1, NO_RACE,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "cp.async.wait_group 0; ld.shared.u32 %r8, [%r4];"},
    {"cp.async, not waited for", 32, 1, 1, REASON_IN_FLIGHT,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "ld.shared.u32 %r8, [%r4]; cp.async.wait_group 0;"},
    {"cp.async, not committed", 32, 1, 1, REASON_IN_FLIGHT,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.wait_group 0; ld.shared.u32 %r8, [%r4]; cp.async.wait_all;"},
    {"cp.async of others, no barrier behind the wait", 64, 1, 1, SOME_RACE,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "cp.async.wait_group 0; ld.shared.u32 %r8, [%r5];"},
    {"cp.async of others, barrier before the wait", 64, 1, 1, REASON_IN_FLIGHT,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "bar.sync 0; cp.async.wait_group 0; ld.shared.u32 %r8, [%r5];"},
    {"cp.async of others, wait and barrier", 64, 1, 1, NO_RACE,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r8, [%r5];"},
    {"cp.async, one group too many is left", 32, 1, 1, REASON_IN_FLIGHT,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "cp.async.ca.shared.global [%r4+512], [%rd5], 4; cp.async.commit_group; cp.async.wait_group 1; "
     "ld.shared.u32 %r8, [%r4+512]; cp.async.wait_all;"},
    {"cp.async, the older group", 32, 1, 1, NO_RACE,
     "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
     "cp.async.commit_group; "
     "cp.async.ca.shared.global [%r4+512], [%rd5], 4; cp.async.commit_group; cp.async.wait_group 1; "
     "ld.shared.u32 %r8, [%r4]; cp.async.wait_all;"},
    {"cp.async by an mbarrier", 64, 1, 1, NO_RACE,
     MAKE_BARRIER(
         "64") "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.ca.shared.global [%r4], [%rd5], 4; "
               "cp.async.mbarrier.arrive.noinc.shared.b64 [%r7]; " WAIT("", "0") "ld.shared.u32 %r8, [%r5];"},
    {"cp.async behind the arrival at the mbarrier", 64, 1, 1, REASON_IN_FLIGHT,
     MAKE_BARRIER(
         "64") "mul.wide.u32 %rd5, %r0, 4; add.s64 %rd5, %rd5, %rd0; cp.async.mbarrier.arrive.noinc.shared.b64 [%r7]; "
               "cp.async.ca.shared.global [%r4], [%rd5], 4; " WAIT("",
                                                                   "0") "ld.shared.u32 %r8, [%r5]; cp.async.wait_all;"},
    /* bulk copies */
    {"bulk copy, waited for by all", 64, 1, 1, NO_RACE,
     MAKE_BARRIER(
         "1") "@!%p0 bra A; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r7], 256; "
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 256, [%r7];\nA: " WAIT(
                  "", "0") "ld.shared.u32 %r8, [%r4];"},
    {"bulk copy, waited for by the one who began it", 64, 1, 1, SOME_RACE,
     MAKE_BARRIER(
         "1") "@!%p0 bra A; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r7], 256; "
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 256, [%r7];\n" WAIT(
                  "", "0") "A: ld.shared.u32 %r8, [%r4];"},
    {"bulk copy, the wait of one and a barrier", 64, 1, 1, NO_RACE,
     MAKE_BARRIER(
         "1") "@!%p0 bra A; mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r7], 256; "
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0], 256, [%r7];\n" WAIT(
                  "", "0") "A: bar.sync 0; ld.shared.u32 %r8, [%r4];"},
    {"bulk store without a proxy fence", 64, 1, 1, REASON_PROXY,
     "st.shared.u32 [%r4], %r0; bar.sync 0; @!%p0 bra E; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], "
     "256; "
     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:"},
    {"bulk store behind a proxy fence", 64, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra E; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group 0; E:"},
    {"bulk store behind a proxy fence of global memory", 64, 1, 1, REASON_PROXY,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.global; bar.sync 0; @!%p0 bra E; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group 0; E:"},
    {"source written again before it is read", 64, 1, 1, REASON_IN_FLIGHT,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra B; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; B: bar.sync 0; "
     "st.shared.u32 [%r4], %r0; cp.async.bulk.wait_group 0;"},
    {"source written again when it is read", 64, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra B; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group.read 0; "
     "B: bar.sync 0; st.shared.u32 [%r4], %r0; cp.async.bulk.wait_group 0;"},
    {"what was stored, read when the source is free", 64, 1, 1, REASON_IN_FLIGHT,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra E; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group.read 0; "
     "ld.global.u32 %r8, [%rd1]; cp.async.bulk.wait_group 0; E:"},
    {"what was stored, read when it is over", 64, 1, 1, NO_RACE,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra E; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; "
     "cp.async.bulk.wait_group 0; "
     "ld.global.u32 %r8, [%rd1]; E:"},
    {"a store that nobody waits for", 64, 1, 1, REASON_EXIT,
     "st.shared.u32 [%r4], %r0; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 bra E; "
     "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 256; cp.async.bulk.commit_group; E:"},
    /* clusters */
    {"memory of another CTA, cluster barrier", 32, 2, 2, NO_RACE,
     "st.shared.u32 [%r4], %r0; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r9, %r1, 1; "
     "mapa.shared::cluster.u32 %r10, %r4, %r9; ld.shared::cluster.u32 %r8, [%r10]; barrier.cluster.arrive; "
     "barrier.cluster.wait;"},
    {"memory of another CTA, bar.sync alone", 32, 2, 2, REASON_UNORDERED,
     "st.shared.u32 [%r4], %r0; bar.sync 0; xor.b32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r4, %r9; "
     "ld.shared::cluster.u32 %r8, [%r10]; barrier.cluster.arrive; barrier.cluster.wait;"},
    {"a relaxed arrival at the cluster barrier", 32, 2, 2, REASON_UNORDERED,
     "st.shared.u32 [%r4], %r0; barrier.cluster.arrive.relaxed; barrier.cluster.wait; xor.b32 %r9, %r1, 1; "
     "mapa.shared::cluster.u32 %r10, %r4, %r9; ld.shared::cluster.u32 %r8, [%r10]; barrier.cluster.arrive; "
     "barrier.cluster.wait;"},
    {"a relaxed arrival behind a fence of the cluster", 32, 2, 2, NO_RACE,
     "st.shared.u32 [%r4], %r0; fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait; xor.b32 "
     "%r9, %r1, 1; "
     "mapa.shared::cluster.u32 %r10, %r4, %r9; ld.shared::cluster.u32 %r8, [%r10]; barrier.cluster.arrive; "
     "barrier.cluster.wait;"},
    {"an mbarrier of another CTA, init published", 32, 2, 2, NO_RACE,
     "@%p0 mbarrier.init.shared.b64 [%r7], 1; @%p0 fence.mbarrier_init.release.cluster; "
     "barrier.cluster.arrive.relaxed; "
     "barrier.cluster.wait; xor.b32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r7, %r9; "
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]; " WAIT(
         ".acquire.cluster", "0") "barrier.cluster.arrive; barrier.cluster.wait;"},
    {"an mbarrier of another CTA, init not published", 32, 2, 2, REASON_UNORDERED,
     "@%p0 mbarrier.init.shared.b64 [%r7], 1; barrier.cluster.arrive.relaxed; "
     "barrier.cluster.wait; xor.b32 %r9, %r1, 1; mapa.shared::cluster.u32 %r10, %r7, %r9; "
     "@%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10]; " WAIT(
         ".acquire.cluster", "0") "barrier.cluster.arrive; barrier.cluster.wait;"},
    {"handed over by an mbarrier of the cluster", 32, 2, 2, NO_RACE,
     "@%p0 mbarrier.init.shared.b64 [%r7], 1; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r9, %r1, 1; "
     "mapa.shared::cluster.u32 %r10, %r7, %r9; mapa.shared::cluster.u32 %r11, %r2, %r9; @!%p0 bra A; "
     "st.shared::cluster.u32 [%r11], 5; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\nA: " WAIT(
         ".acquire.cluster", "0") "ld.shared.u32 %r8, [%r2]; barrier.cluster.arrive; barrier.cluster.wait;"},
    {"handed over by an mbarrier, with the scope of a CTA", 32, 2, 2, REASON_SCOPE,
     "@%p0 mbarrier.init.shared.b64 [%r7], 1; barrier.cluster.arrive; barrier.cluster.wait; xor.b32 %r9, %r1, 1; "
     "mapa.shared::cluster.u32 %r10, %r7, %r9; mapa.shared::cluster.u32 %r11, %r2, %r9; @!%p0 bra A; "
     "st.shared::cluster.u32 [%r11], 5; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\nA: " WAIT(
         "", "0") "ld.shared.u32 %r8, [%r2]; barrier.cluster.arrive; barrier.cluster.wait;"},
};

static void run_case(PtxRunning *r, const Case *one, const PtxSchedule *schedule, bool immediate, PtxWatch **watch) {
    Text text = {0};
    text_addf(&text, "%s%s%s", HEAD, one->body, TAIL);
    ptx_running_read(r, "sm_90a", text.data);
    text_free(&text);
    r->launch.block[0] = one->block;
    r->launch.grid[0] = one->grid;
    r->launch.cluster[0] = one->cluster;
    r->buffers[1].zero = true;
    r->buffers[1].output = false;
    r->schedule = *schedule;
    const char *problem = NULL;
    r->machine = ptx_machine(r->program, &r->launch, COMPUTES_ALL, &problem);
    if (!r->machine)
        fail_msg("%s: %s", one->name, problem);
    r->machine->immediate = immediate;
    r->machine->budget = 1000000;
    *watch = ptx_watch(&r->arena, r->machine, &(PtxWatchOptions){0}, &problem);
    assert_non_null(*watch);
    r->machine->observe = ptx_watch_observe;
    r->machine->observer = *watch;
    ptx_watch_start(*watch);
    r->end = ptx_schedule_run(r->machine, &r->schedule);
    ptx_watch_end(*watch);
}

#define WRONG(...) (wrong = true, (void)fprintf(stderr, __VA_ARGS__))

static bool look_at(const Case *one, const PtxSchedule *schedule, bool immediate) {
    bool wrong = false;
    PtxRunning r;
    PtxWatch *watch;
    uint32_t count;
    run_case(&r, one, schedule, immediate, &watch);
    const char *stopped = r.machine->fault.code ? r.machine->fault.what : r.machine->unknown_why;
    if (r.end != PTX_END_COMPLETE)
        WRONG("%s: end %d, %s\n", one->name, r.end, stopped ? stopped : "");
    const PtxRace *races = ptx_watch_races(watch, &count);
    bool found = one->reason == NO_RACE || (one->reason == SOME_RACE && count);
    for (uint32_t i = 0; i < count; i++)
        found |= (int)races[i].reason == one->reason;
    for (uint32_t i = 0; i < count && (one->reason == NO_RACE || !found); i++)
        WRONG("%s: reason %d between lines %u and %u (threads %u.%u and %u.%u), not %d\n", one->name, races[i].reason,
              code_line(r.program, races[i].first.code), code_line(r.program, races[i].second.code), races[i].first.cta,
              races[i].first.thread, races[i].second.cta, races[i].second.thread, one->reason);
    if (!found && !count)
        WRONG("%s: no race was found\n", one->name);
    assert_null(ptx_watch_problem(watch));
    ptx_watch_free(watch);
    ptx_running_end(&r);
    return !wrong;
}

/* Whatever the order: these kernels do the same in each. */
static void each_case(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (getenv("PTX_CASE") && !strstr(cases[i].name, getenv("PTX_CASE")))
            continue;
        wrong += !look_at(&cases[i], &(PtxSchedule){.kind = SCHEDULE_EAGER}, false);
        wrong += !look_at(&cases[i], &(PtxSchedule){.kind = SCHEDULE_EAGER, .mirrored = true}, false);
        wrong += !look_at(&cases[i], &(PtxSchedule){.kind = SCHEDULE_EAGER}, true);
        wrong += !look_at(&cases[i], &(PtxSchedule){.kind = SCHEDULE_RANDOM, .seed = i}, false);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
