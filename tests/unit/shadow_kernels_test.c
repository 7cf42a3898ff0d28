/* Kernels that check themselves while they run: races are found, whatever the schedule, and correct ones are clean. */
#include "machine/simt/async/tensormap.h"
#include "shadowed.h"
#include "share.h"

/* Names that the engine has for itself, and the machine, too. */
#define HbGsanLaunch EngineLaunch
#define Completion   EngineCompletion
#include "engine/hb/gsan_internal.h"
#include "engine/shadow/gsan_cell.h"
#undef HbGsanLaunch
#undef Completion

/* One word for each thread of the grid, at %rd3. */
#define OWN_WORD \
    "mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
/* Data at p, a flag at p + 1024: CTA 0 gives, CTA 1 takes. */
#define GIVE_TAKE(give, take)                          \
    "setp.ne.u32 %p1, %r3, 0; @%p1 bra TAKE;\n"        \
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra OVER;\n"        \
    "st.global.u32 [%rd1+64], 7;\n" give "bra OVER;\n" \
    "TAKE: setp.ne.u32 %p2, %r2, 0; @%p2 bra OVER;\n"  \
    "SPIN:\n" take "setp.eq.u32 %p3, %r6, 0; @%p3 bra SPIN;\n"

#define LOCKED(acquire, release)                                                                                \
    "setp.ne.u32 %p1, %r2, 0;\n"                                                                                \
    "SPIN: mov.u32 %r6, 0; @!%p1 " acquire " %r6, [%rd1+1024], 0, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra SPIN;\n" \
    "@!%p1 ld.global.u32 %r7, [%rd1+64]; add.u32 %r7, %r7, 1; @!%p1 st.global.u32 [%rd1+64], %r7;\n"            \
    "@!%p1 " release " %r8, [%rd1+1024], 0;\n"

/* All meet at a counter, then each reads what its neighbor wrote. */
#define MEET(add, load)                                                                             \
    "st.global.u32 [%rd3], %r5; bar.sync 0; setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, %nctaid.x;\n"     \
    "@!%p1 " add " %r6, [%rd1+2048], 1;\n"                                                          \
    "@%p1 bra MET; SPIN: " load " %r6, [%rd1+2048]; setp.ne.u32 %p2, %r6, %r9; @%p2 bra SPIN;\n"    \
    "MET: bar.sync 0; add.u32 %r7, %r3, 1; rem.u32 %r7, %r7, %r9; mad.lo.u32 %r7, %r7, %r4, %r2;\n" \
    "mul.wide.u32 %rd4, %r7, 4; add.s64 %rd4, %rd1, %rd4; ld.global.u32 %r8, [%rd4];\n"

#define FENCE "fence.acq_rel.gpu;\n"

/* CTA 0 gives by a bulk copy. */
#define BULK(wait)                                                                                          \
    GIVE_TAKE(".shared .align 16 .b8 s[16]; mov.u32 %r10, s; st.shared.v4.u32 [%r10], {%r1,%r1,%r1,%r1};\n" \
              "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%rd1+64], [%r10], 16;\n"     \
              "cp.async.bulk.commit_group;\n" wait "st.release.gpu.global.u32 [%rd1+1024], 1;\n",           \
              "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n")                                              \
    "ld.global.u32 %r7, [%rd1+64]; OVER:\n"

/* 16 bytes for each thread of a CTA, at %rd5: lines, whole; CTA 0 does one thing, the others another one. */
#define LINES_OF_ALL "mul.wide.u32 %rd4, %r2, 16; add.s64 %rd5, %rd1, %rd4; setp.eq.u32 %p4, %r3, 0;\n"
#define WHOLE_WRITE  "st.global.v4.u32 [%rd5], {%r1,%r1,%r1,%r1};\n"
#define WHOLE_READ   "ld.global.v4.u32 {%r11,%r12,%r13,%r14}, [%rd5];\n"
/* The warp of CTA 0 gives, that of CTA 1 takes. */
#define HAND_OVER(give, take)                                                                                       \
    LINES_OF_ALL "@!%p4 bra TAKE;\n" give "bar.sync 0; setp.eq.u32 %p5, %r2, 0;\n"                                  \
                 "@%p5 st.release.gpu.global.u32 [%rd1+1024], 1; bra OVER;\n"                                       \
                 "TAKE: ld.acquire.gpu.global.u32 %r6, [%rd1+1024]; setp.eq.u32 %p3, %r6, 0; @%p3 bra TAKE;\n" take \
                 "OVER:\n"

/* ..._COMPACT: only compact cells can tell. */
typedef enum Expect { CLEAN, RACY, CLEAN_COMPACT, RACY_COMPACT } Expect;

typedef struct Case {
    const char *name, *text;
    uint32_t ctas, threads, slots;
    Expect expect;
} Case;

static const Case cases[] = {
    {"own words",
     SHADOW_KERNEL(OWN_WORD "ld.global.u32 %r6, [%rd3]; add.u32 %r6, %r6, %r5; st.global.u32 [%rd3], %r6;\n"), 4, 64, 0,
     CLEAN},
    {"all CTAs write the same words",
     SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;\n"), 2, 32, 0,
     RACY},
    {"the neighbor's words are read",
     SHADOW_KERNEL(OWN_WORD "st.global.u32 [%rd3], %r5; ld.global.u32 %r6, [%rd3+128];\n"), 4, 32, 0, RACY},
    {"the neighbor's words are read, first",
     SHADOW_KERNEL(OWN_WORD "ld.global.u32 %r6, [%rd3+128]; st.global.u32 [%rd3], %r5;\n"), 4, 32, 0, RACY},
    {"bytes beside each other",
     SHADOW_KERNEL(
         "cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u8 [%rd3], %r3;\n"),
     8, 32, 0, CLEAN_COMPACT},
    {"bytes one over the other",
     SHADOW_KERNEL("shr.u32 %r4, %r3, 1; cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r2, 0;"
                   "@%p1 st.global.u8 [%rd3], %r3;\n"),
     2, 32, 0, RACY},
    {"vectors of 16 bytes",
     SHADOW_KERNEL("mad.lo.u32 %r5, %r3, 32, %r2; mul.wide.u32 %rd2, %r5, 16; add.s64 %rd3, %rd1, %rd2;\n"
                   "ld.global.v4.u32 {%r6,%r7,%r8,%r9}, [%rd3]; st.global.v4.u32 [%rd3], {%r9,%r8,%r7,%r6};\n"),
     4, 32, 0, CLEAN},
    {"atomics only",
     SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], 1;\n"), 4, 32, 0,
     CLEAN},
    {"atomics of the scope of a CTA",
     SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.relaxed.cta.global.add.u32 [%rd3], 1;\n"),
     4, 32, 0, RACY},
    {"atomics and a store",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r3, 1; @!%p1 red.global.add.u32 [%rd1], 1; @%p1 st.global.u32 [%rd1], 9;\n"), 2,
     32, 0, RACY},
    {"atomics, and a weak read between them",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r3, 1; @!%p1 red.global.add.u32 [%rd1], 1; @%p1 ld.global.u32 %r6, [%rd1];\n"
                   "@!%p1 red.global.add.u32 [%rd1], 1;\n"),
     3, 32, 0, RACY},
    {"atomics, and a weak read between them, where others are ordered",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r3, 1; ld.acquire.gpu.global.u32 %r9, [%rd1+1024];\n"
                   "@!%p1 red.global.add.u32 [%rd1], 1; @%p1 ld.global.u32 %r6, [%rd1];\n"
                   "@!%p1 red.global.add.u32 [%rd1], 1; @!%p1 red.global.add.u32 [%rd1], 1;\n"),
     3, 32, 0, RACY},
    {"a flag beside its data, and polled by many",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r3, 0; and.pred %p3, %p1, %p2; @!%p2 bra TAKE;\n"
                   "@%p3 st.global.u32 [%rd1+64], 7; @%p3 st.release.gpu.global.u32 [%rd1+68], 1; bra OVER;\n"
                   "TAKE: @%p1 ld.acquire.gpu.global.u32 %r6, [%rd1+68]; @!%p1 mov.u32 %r6, 1;\n"
                   "setp.eq.u32 %p4, %r6, 0; @%p4 bra TAKE; @%p1 ld.global.u32 %r7, [%rd1+64];\n"
                   "@%p1 atom.global.add.release.gpu.u32 %r8, [%rd1+68], 1; OVER:\n"),
     4, 32, 0, CLEAN},
    {"release and acquire",
     SHADOW_KERNEL(GIVE_TAKE("st.release.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, CLEAN},
    {"released relaxed",
     SHADOW_KERNEL(GIVE_TAKE("st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"acquired relaxed",
     SHADOW_KERNEL(GIVE_TAKE("st.release.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"a scope that is too narrow",
     SHADOW_KERNEL(GIVE_TAKE("st.release.cta.global.u32 [%rd1+1024], 1;\n",
                             "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"fences",
     SHADOW_KERNEL(
         GIVE_TAKE(FENCE "st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n", "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n")
             FENCE "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, CLEAN},
    {"a fence before the store alone",
     SHADOW_KERNEL(GIVE_TAKE(FENCE "st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"a fence, and the write behind it",
     SHADOW_KERNEL(GIVE_TAKE(FENCE "st.global.u32 [%rd1+64], 8; st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") FENCE
                   "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"volatile flags, and fences",
     SHADOW_KERNEL(
         GIVE_TAKE("membar.gl;\nst.volatile.global.u32 [%rd1+1024], 1;\n",
                   "ld.volatile.global.u32 %r6, [%rd1+1024];\n") "membar.gl; ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, CLEAN},
    {"a lock", SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 6, 32, 0,
     CLEAN},
    {"a lock, slots are used again",
     SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 24, 128, 5, CLEAN},
    {"locks beside each other, each with data of its own",
     SHADOW_KERNEL(
         "and.b32 %r4, %r3, 3; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd4, %rd4, %rd1; setp.ne.u32 %p1, %r2, 0;\n"
         "@%p1 bra OVER;\n"
         "TRY: atom.global.acquire.gpu.cas.b32 %r6, [%rd4+1024], 0, 1; setp.ne.u32 %p2, %r6, 0;\n"
         "@%p2 bra TRY; ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, 1; st.global.u32 [%rd4], %r7;\n"
         "atom.global.release.gpu.exch.b32 %r8, [%rd4+1024], 0; OVER:\n"),
     12, 32, 0, CLEAN},
    {"a lock that is taken relaxed",
     SHADOW_KERNEL(LOCKED("atom.global.relaxed.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 4, 32, 0, RACY},
    {"a lock that is released relaxed",
     SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.relaxed.gpu.exch.b32")), 4, 32, 0, RACY},
    {"a grid barrier", SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.release.gpu.u32", "ld.acquire.gpu.global.u32")), 6,
     32, 0, CLEAN},
    {"a grid barrier with a relaxed counter",
     SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.relaxed.gpu.u32", "ld.acquire.gpu.global.u32")), 6, 32, 0, RACY},
    {"a grid barrier with a relaxed poll",
     SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.release.gpu.u32", "ld.relaxed.gpu.global.u32")), 6, 32, 0, RACY},
    {"a bulk copy that was waited for", SHADOW_KERNEL(BULK("cp.async.bulk.wait_group 0;\n")), 2, 32, 0, CLEAN},
    {"a bulk copy, its source was waited for", SHADOW_KERNEL(BULK("cp.async.bulk.wait_group.read 0;\n")), 2, 32, 0,
     RACY_COMPACT},
    {"a bulk copy that nobody waits for", SHADOW_KERNEL(BULK("")), 2, 32, 0, RACY_COMPACT},
    {"bulk copies of all CTAs to one place",
     SHADOW_KERNEL(".shared .align 16 .b8 s[64]; mov.u32 %r10, s; mul.lo.u32 %r11, %r2, 4; add.u32 %r11, %r11, %r10;"
                   "setp.lt.u32 %p1, %r2, 16; @%p1 st.shared.u32 [%r11], %r2; bar.sync 0; fence.proxy.async;"
                   "setp.eq.u32 %p1, %r2, 0; @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r10], 64;"
                   "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"),
     2, 32, 0, RACY},
    {"cp.async from what others write",
     SHADOW_KERNEL(".shared .align 16 .b8 s[512]; mov.u32 %r10, s; shl.b32 %r11, %r2, 4; add.u32 %r11, %r11, %r10;"
                   "mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r3, 0;"
                   "@%p1 cp.async.cg.shared.global [%r11], [%rd3], 16; cp.async.wait_all;"
                   "@!%p1 st.global.v4.u32 [%rd3], {%r1,%r1,%r1,%r1};\n"),
     2, 32, 0, RACY},
    {"cp.async that reads nothing",
     SHADOW_KERNEL(".shared .align 16 .b8 s[512]; mov.u32 %r10, s; shl.b32 %r11, %r2, 4; add.u32 %r11, %r11, %r10;"
                   "mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r3, 0; mov.u32 %r12, 0;"
                   "@%p1 cp.async.cg.shared.global [%r11], [%rd3], 16, %r12; cp.async.wait_all;"
                   "@!%p1 st.global.v4.u32 [%rd3], {%r1,%r1,%r1,%r1};\n"),
     2, 32, 0, CLEAN},
    {"whole lines, each CTA its own",
     SHADOW_KERNEL("mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %rd4, %r5, 16;"
                   "add.s64 %rd5, %rd1, %rd4;\n" WHOLE_READ WHOLE_WRITE WHOLE_READ),
     4, 32, 0, CLEAN},
    {"whole lines that all read", SHADOW_KERNEL(LINES_OF_ALL WHOLE_READ), 6, 32, 0, CLEAN},
    {"whole lines that all write", SHADOW_KERNEL(LINES_OF_ALL WHOLE_WRITE), 3, 32, 0, RACY},
    {"whole lines that one writes and others read",
     SHADOW_KERNEL(LINES_OF_ALL "@%p4 bra GIVE;\n" WHOLE_READ "bra OVER; GIVE:\n" WHOLE_WRITE "OVER:\n"), 4, 32, 0,
     RACY},
    {"a whole line that is read, and a byte of it that is written",
     SHADOW_KERNEL(LINES_OF_ALL "@%p4 bra GIVE;\n" WHOLE_READ "bra OVER;\n"
                                "GIVE: setp.eq.u32 %p5, %r2, 0; @%p5 st.global.u8 [%rd1+101], %r1; OVER:\n"),
     3, 32, 0, RACY},
    {"a whole line that is written, and a word of it that is read",
     SHADOW_KERNEL(LINES_OF_ALL "@%p4 bra GIVE; ld.global.u32 %r6, [%rd1+260]; bra OVER;\n"
                                "GIVE:\n" WHOLE_WRITE "OVER:\n"),
     2, 32, 0, RACY},
    {"a whole line of words, and a line behind it",
     SHADOW_KERNEL("mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4; setp.eq.u32 %p4, %r3, 0;\n"
                   "@%p4 st.global.u32 [%rd5], %r2; @!%p4 st.global.u32 [%rd5+128], %r2;\n"),
     2, 32, 0, CLEAN},
    {"a whole line of words, and its last word",
     SHADOW_KERNEL(
         "mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd1, %rd4; setp.eq.u32 %p4, %r3, 0;\n"
         "@%p4 st.global.u32 [%rd5], %r2; setp.eq.u32 %p5, %r2, 31; and.pred %p6, %p5, %p4; not.pred %p6, %p6;"
         "and.pred %p6, %p6, %p5; @%p6 ld.global.u32 %r6, [%rd1+124];\n"),
     2, 32, 0, RACY},
    {"a line that is written in parts, then read whole, by one CTA",
     SHADOW_KERNEL(LINES_OF_ALL "setp.eq.u32 %p5, %r2, 0; and.pred %p5, %p5, %p4; @%p5 st.global.u32 [%rd1+4], 3;\n"
                                "@!%p4 bra OVER;\n" WHOLE_READ WHOLE_WRITE "OVER: @%p5 ld.global.u32 %r6, [%rd1+8];\n"),
     3, 32, 0, CLEAN},
    {"a whole line that was handed over, read whole", SHADOW_KERNEL(HAND_OVER(WHOLE_WRITE, WHOLE_READ)), 2, 32, 0,
     CLEAN},
    {"a whole line that was handed over, written in parts",
     SHADOW_KERNEL(HAND_OVER(WHOLE_READ WHOLE_WRITE, "st.global.u32 [%rd5+4], %r2;\n" WHOLE_READ)), 2, 32, 0, CLEAN},
    {"parts of a line that were handed over, written whole",
     SHADOW_KERNEL(HAND_OVER("st.global.u32 [%rd5+4], %r2;\n" WHOLE_READ, WHOLE_WRITE)), 2, 32, 0, CLEAN},
    {"a whole line that is written once more behind the release",
     SHADOW_KERNEL(LINES_OF_ALL "@!%p4 bra TAKE;\n" WHOLE_WRITE "bar.sync 0; setp.eq.u32 %p5, %r2, 0;\n"
                                "@%p5 st.release.gpu.global.u32 [%rd1+1024], 1; bar.sync 0;\n" WHOLE_WRITE "bra OVER;\n"
                                "TAKE: ld.acquire.gpu.global.u32 %r6, [%rd1+1024]; setp.eq.u32 %p3, %r6, 0;"
                                "@%p3 bra TAKE;\n" WHOLE_READ "OVER:\n"),
     2, 32, 0, RACY},
    {"a signal by compare and swap, cleared by who got it",
     SHADOW_KERNEL(GIVE_TAKE("atom.global.acq_rel.gpu.cas.b32 %r8, [%rd1+1024], 0, 1;\n",
                             "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; "
                                                                              "st.global.u32 [%rd1+1024], 0; OVER:\n"),
     2, 32, 0, CLEAN},
    {"a compare and swap that fails is only a read",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r2, 0; @%p1 atom.global.acq_rel.gpu.cas.b32 %r8, [%rd1+1024], 5, 1;\n"
                   "@%p1 ld.global.u32 %r7, [%rd1+1024];\n"),
     4, 32, 0, CLEAN},
    {"what compares and fails releases nothing",
     SHADOW_KERNEL(GIVE_TAKE(
         "atom.global.acq_rel.gpu.cas.b32 %r8, [%rd1+1024], 5, 1; st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
         "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, RACY},
    {"a register that had the address of a store has another one behind it",
     SHADOW_KERNEL(OWN_WORD "mov.u64 %rd5, %rd1; st.global.u32 [%rd5], %r5; add.s64 %rd5, %rd3, 64;\n"
                            "st.global.u32 [%rd5], %r5;\n"),
     2, 1, 0, RACY},
    {"loads and stores of whole lines in one look, each CTA's own",
     SHADOW_KERNEL(
         "mad.lo.u32 %r5, %r3, 32, %r2; mul.wide.u32 %rd2, %r5, 16; add.s64 %rd5, %rd1, %rd2;\n" WHOLE_READ WHOLE_WRITE
         "ld.global.v4.u32 {%r15,%r16,%r17,%r18}, [%rd5];\n"),
     4, 32, 0, CLEAN},
    {"loads and stores of whole lines in one look, all CTAs' own but one load",
     SHADOW_KERNEL("mad.lo.u32 %r5, %r3, 32, %r2; mul.wide.u32 %rd2, %r5, 16; add.s64 %rd5, %rd1, %rd2;\n" WHOLE_READ
                   "ld.global.v4.u32 {%r15,%r16,%r17,%r18}, [%rd5+512];\n" WHOLE_WRITE),
     4, 32, 0, RACY},
    {"generic addresses",
     SHADOW_KERNEL(
         OWN_WORD
         ".shared .b32 s[64]; mov.u32 %r10, s; cvt.u64.u32 %rd5, %r10; cvta.shared.u64 %rd5, %rd5;\n"
         "setp.eq.u32 %p4, %r1, 0; selp.b64 %rd6, %rd3, %rd5, %p4; st.u32 [%rd6], %r5; atom.add.u32 %r9, [%rd5], 1;\n"),
     4, 32, 0, CLEAN},
};

static const PtxSchedule schedules[] = {{.kind = SCHEDULE_EAGER},
                                        {.kind = SCHEDULE_EAGER, .mirrored = true},
                                        {.kind = SCHEDULE_ROUND_ROBIN},
                                        {.kind = SCHEDULE_RANDOM, .seed = 1},
                                        {.kind = SCHEDULE_RANDOM, .seed = 2}};

static void check_case(const Case *c, bool seed) {
    Shadowed s;
    shadowed_read(&s, c->text, seed);
    s.slots = c->slots;
    for (size_t i = 0; i < share_of(seed ? 3 : sizeof schedules / sizeof *schedules); i++) {
        if (getenv("SHADOW_VERBOSE"))
            fprintf(stderr, "%s, %zu\n", c->name, i);
        /* A fifth reader of a word changes its cell with each poll, and the machine does not see that it spins. */
        shadowed_go(&s, seed && c->ctas > 4 ? 4 : c->ctas, c->threads, 0, &schedules[i]);
        const ShadowState *state = &shadowed_left(&s)->state;
        if (state->trouble)
            fail_msg("%s: trouble %#x at site %u", c->name, state->trouble, state->trouble_site);
        if ((c->expect == RACY || c->expect == RACY_COMPACT) != (state->races > 0))
            fail_msg("%s: %llu races in schedule %zu; the first is of sites %u and %u", c->name,
                     (unsigned long long)state->races, i, shadowed_left(&s)->reports[0].site,
                     shadowed_left(&s)->reports[0].earlier_site);
    }
    shadowed_end(&s);
}

static void finds_races(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], false);
}

/* The cells of the seed are of words: what is narrower than one is not told apart; nor are copies and threads. */
static void finds_races_in_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cases[i].expect < CLEAN_COMPACT)
            check_case(&cases[i], true);
}

/* ---- The cells of the seed are those of the engine ---- */

typedef struct Fed {
    Gsan *gsan;
    uint32_t threads[SHADOWED_SLOTS];
} Fed;

static void feed(void *observer, const PtxEvent *event) {
    Fed *fed = observer;
    if (event->kind != PTX_EVENT_ACCESS)
        return;
    for (uint32_t lanes = event->lanes; lanes; lanes &= lanes - 1) {
        const PtxLocation *location = &event->locations[__builtin_ctz(lanes)];
        if (!location->block || location->block->base != SHADOWED_REAL)
            continue;
        uint64_t begin = SHADOWED_REAL + location->offset;
        Scope scope = event->access.order == ORDER_WEAK ? SCOPE_NONE : (Scope)event->access.scope;
        gsan_access(fed->gsan, fed->threads[event->warp->cta->number], 0, (AccessKind)event->access.kind,
                    (Order)event->access.order, scope, GSAN_NO_TICKET, begin, begin + event->access.bytes);
    }
}

static void not_reported(void *context, const GsanRace *race) {
    (void)race;
    ++*(uint64_t *)context;
}

/* An epoch of the engine counts from that in which the CTA began. */
static uint32_t as_on_device(const Gsan *gsan, uint32_t clock) {
    return clock ? clock - (gsan->threads[cell_thread(clock)]->epoch - 1) : 0;
}

static void check_cells(const char *text, uint32_t ctas) {
    GsanOptions options = {.mode = GSAN_SAMPLED, .granule = 4, .threads_per_device = 8};
    const char *problem = NULL;
    uint64_t races = 0;
    Fed fed = {.gsan = gsan_create(&options, not_reported, &races, &problem)};
    uint32_t launch = gsan_launch(fed.gsan, &(GsanLaunch){.ctas = ctas, .cluster = 1});
    for (uint32_t i = 0; i < ctas; i++)
        fed.threads[i] = gsan_begin(fed.gsan, launch, i);
    Shadowed s;
    shadowed_read(&s, text, true);
    shadowed_machine(&s, ctas, 32, 0, &schedules[0]);
    s.run.machine->observe = feed;
    s.run.machine->observer = &fed;
    ptx_running_expect(&s.run, PTX_END_COMPLETE);
    assert_int_equal(races > 0, shadowed_left(&s)->state.races > 0);
    const uint8_t *cells = shadowed_block(&s, SHADOWED_CELLS);
    const Page *page = gsan_page_find(&fed.gsan->pages, SHADOWED_REAL >> PAGE_SHIFT);
    assert_non_null(page);
    uint32_t used = 0;
    for (uint32_t i = 0; i < SHADOWED_BYTES / SHADOW_WORD; i++) {
        const GsanCell *device = (const GsanCell *)(const void *)(cells + (size_t)i * SHADOW_SEED_CELL),
                       *engine = (const GsanCell *)(const void *)((const char *)page->cells + (size_t)i * cell_size(4));
        assert_int_equal(device->lock, 0);
        assert_int_equal(device->reads, engine->reads);
        assert_int_equal(device->write, as_on_device(fed.gsan, engine->write));
        for (uint32_t k = 0; k < 4; k++)
            assert_int_equal(device->readers[k], as_on_device(fed.gsan, engine->readers[k]));
        used += device->write || device->reads;
    }
    assert_true(used > 0);
    shadowed_end(&s);
    gsan_free(fed.gsan);
}

static void cells_are_those_of_the_engine(void **state) {
    (void)state;
    check_cells(SHADOW_KERNEL(OWN_WORD "ld.global.u32 %r6, [%rd3]; st.global.u32 [%rd3], %r5;\n"), 4);
    check_cells(SHADOW_KERNEL(OWN_WORD "st.global.u32 [%rd3], %r5; ld.global.u32 %r6, [%rd3+128];\n"), 4);
    check_cells(SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 8; add.s64 %rd3, %rd1, %rd2; ld.global.v2.u32 {%r5,%r6}, [%rd3];"
                              "setp.eq.u32 %p1, %r3, 2; @%p1 st.global.v2.u32 [%rd3], {%r5,%r6};\n"),
                4);
    check_cells(SHADOW_KERNEL(
                    "mul.wide.u32 %rd2, %r2, 16; add.s64 %rd3, %rd1, %rd2; ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd3];"
                    "red.global.add.u32 [%rd3], 1; red.relaxed.cta.global.add.u32 [%rd3+4], 1;\n"),
                3);
    check_cells(SHADOW_KERNEL("and.b32 %r4, %r2, 3; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; "
                              "atom.global.add.u32 %r6, [%rd3], 1;"
                              "ld.volatile.global.u32 %r6, [%rd3];\n"),
                4);
}

/* ---- TMA copies ---- */

/* CTA i stores a box of 8 rows from row i * n on, of a tensor of 32 rows of 64 bytes. */
#define STORED_BOX                                                                                                   \
    ".visible .entry k(.param .u64 p, .param .u32 n, .param .align 64 .b8 m[128]) { .reg .pred %p<4>; .reg .b32 "    \
    "%r<9>;"                                                                                                         \
    ".reg .b64 %rd<9>; .shared .align 128 .b8 s[512]; mov.u32 %r1, s; ld.param.u32 %r2, [n]; mov.u32 %r3, %ctaid.x;" \
    "mul.lo.u32 %r4, %r3, %r2; mov.b64 %rd2, m; cvta.param.u64 %rd3, %rd2; mov.u32 %r5, %tid.x; mov.u32 %r6, 0;"     \
    "shl.b32 %r7, %r5, 4; add.u32 %r7, %r7, %r1; st.shared.v4.u32 [%r7], {%r5,%r5,%r5,%r5}; fence.proxy.async;"      \
    "bar.sync 0; setp.eq.u32 %p1, %r5, 0;\n"                                                                         \
    "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r6, %r4}], [%r1];\n"                        \
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }"

static void check_boxes(uint32_t n, bool known, bool races, uint32_t trouble) {
    enum { MAP_AT = 64, LAUNCH_AT = 192 };
    static uint8_t parameters[LAUNCH_AT + sizeof(ShadowLaunch)];
    TensorMap map = {.rank = 2,
                     .type = 2,
                     .address = SHADOWED_REAL,
                     .size = {16, 32},
                     .stride = {4, 64},
                     .box = {16, 8},
                     .element_stride = {1, 1, 1, 1, 1}};
    Shadowed s;
    uint64_t p = SHADOWED_REAL;
    shadowed_read(&s, STORED_BOX, false);
    shadowed_state(&s, 3, 32);
    if (known)
        s.state->state.maps[0] = (ShadowMap){.parameter = 3,
                                             .rank = 2,
                                             .element = 4,
                                             .address = SHADOWED_REAL,
                                             .size = {16, 32},
                                             .box = {16, 8},
                                             .stride = {4, 64}};
    memcpy(parameters, &p, 8);
    memcpy(parameters + 8, &n, 4);
    tensormap_encode(&map, parameters + MAP_AT);
    memcpy(parameters + LAUNCH_AT, &s.block, sizeof s.block);
    s.run.launch.parameters = parameters;
    s.run.launch.grid[0] = 3;
    ptx_running_expect(&s.run, PTX_END_COMPLETE);
    assert_int_equal(shadowed_left(&s)->state.races > 0, races);
    assert_int_equal(shadowed_left(&s)->state.trouble, trouble);
    shadowed_end(&s);
}

static void boxes_are_checked(void **state) {
    (void)state;
    check_boxes(8, true, false, 0);
    check_boxes(7, true, true, 0);
    check_boxes(0, true, true, 0);
    check_boxes(0, false, false, SHADOW_MAP_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_are_checked), cmocka_unit_test(finds_races),
                                       cmocka_unit_test(finds_races_in_words),
                                       cmocka_unit_test(cells_are_those_of_the_engine)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
