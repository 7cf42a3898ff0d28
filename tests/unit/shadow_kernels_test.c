/* Kernels that check themselves while they run: races are found, whatever the schedule, and correct ones are clean. */
#include "shadowed.h"

/* One word for each thread of the grid, at %rd3. */
#define OWN_WORD "mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
/* Data at p, a flag at p + 1024: CTA 0 gives, CTA 1 takes. */
#define GIVE_TAKE(give, take)                                                            \
    "setp.ne.u32 %p1, %r3, 0; @%p1 bra TAKE;\n"                                          \
    "setp.ne.u32 %p2, %r2, 0; @%p2 bra OVER;\n"                                          \
    "st.global.u32 [%rd1+64], 7;\n" give "bra OVER;\n"                                   \
    "TAKE: setp.ne.u32 %p2, %r2, 0; @%p2 bra OVER;\n"                                    \
    "SPIN:\n" take "setp.eq.u32 %p3, %r6, 0; @%p3 bra SPIN;\n"

#define LOCKED(acquire, release)                                                                               \
    "setp.ne.u32 %p1, %r2, 0;\n"                                                                               \
    "SPIN: mov.u32 %r6, 0; @!%p1 " acquire " %r6, [%rd1+1024], 0, 1; setp.ne.u32 %p2, %r6, 0; @%p2 bra SPIN;\n" \
    "@!%p1 ld.global.u32 %r7, [%rd1+64]; add.u32 %r7, %r7, 1; @!%p1 st.global.u32 [%rd1+64], %r7;\n"            \
    "@!%p1 " release " %r8, [%rd1+1024], 0;\n"

/* All meet at a counter, then each reads what its neighbor wrote. */
#define MEET(add, load)                                                                                              \
    "st.global.u32 [%rd3], %r5; bar.sync 0; setp.ne.u32 %p1, %r2, 0; mov.u32 %r9, %nctaid.x;\n"                     \
    "@!%p1 " add " %r6, [%rd1+2048], 1;\n"                                                                          \
    "@%p1 bra MET; SPIN: " load " %r6, [%rd1+2048]; setp.ne.u32 %p2, %r6, %r9; @%p2 bra SPIN;\n"                    \
    "MET: bar.sync 0; add.u32 %r7, %r3, 1; rem.u32 %r7, %r7, %r9; mad.lo.u32 %r7, %r7, %r4, %r2;\n"                 \
    "mul.wide.u32 %rd4, %r7, 4; add.s64 %rd4, %rd1, %rd4; ld.global.u32 %r8, [%rd4];\n"

#define FENCE "fence.acq_rel.gpu;\n"

typedef struct Case {
    const char *name, *text;
    uint32_t ctas, threads, slots;
    bool races;
} Case;

static const Case cases[] = {
    {"own words", SHADOW_KERNEL(OWN_WORD "ld.global.u32 %r6, [%rd3]; add.u32 %r6, %r6, %r5; st.global.u32 [%rd3], %r6;\n"),
     4, 64, 0, false},
    {"all CTAs write the same words", SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;\n"),
     2, 32, 0, true},
    {"the neighbor's words are read",
     SHADOW_KERNEL(OWN_WORD "st.global.u32 [%rd3], %r5; ld.global.u32 %r6, [%rd3+128];\n"), 4, 32, 0, true},
    {"the neighbor's words are read, first",
     SHADOW_KERNEL(OWN_WORD "ld.global.u32 %r6, [%rd3+128]; st.global.u32 [%rd3], %r5;\n"), 4, 32, 0, true},
    {"bytes beside each other",
     SHADOW_KERNEL("cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r2, 0; @%p1 st.global.u8 [%rd3], %r3;\n"),
     8, 32, 0, false},
    {"bytes one over the other",
     SHADOW_KERNEL("shr.u32 %r4, %r3, 1; cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2; setp.eq.u32 %p1, %r2, 0;"
                   "@%p1 st.global.u8 [%rd3], %r3;\n"),
     2, 32, 0, true},
    {"vectors of 16 bytes",
     SHADOW_KERNEL("mad.lo.u32 %r5, %r3, 32, %r2; mul.wide.u32 %rd2, %r5, 16; add.s64 %rd3, %rd1, %rd2;\n"
                   "ld.global.v4.u32 {%r6,%r7,%r8,%r9}, [%rd3]; st.global.v4.u32 [%rd3], {%r9,%r8,%r7,%r6};\n"),
     4, 32, 0, false},
    {"atomics only", SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], 1;\n"),
     4, 32, 0, false},
    {"atomics of the scope of a CTA",
     SHADOW_KERNEL("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; red.relaxed.cta.global.add.u32 [%rd3], 1;\n"), 4, 32,
     0, true},
    {"atomics and a store",
     SHADOW_KERNEL("setp.eq.u32 %p1, %r3, 1; @!%p1 red.global.add.u32 [%rd1], 1; @%p1 st.global.u32 [%rd1], 9;\n"), 2, 32, 0, true},
    {"release and acquire",
     SHADOW_KERNEL(GIVE_TAKE("st.release.gpu.global.u32 [%rd1+1024], 1;\n", "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n")
                       "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, false},
    {"released relaxed",
     SHADOW_KERNEL(GIVE_TAKE("st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n", "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n")
                       "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, true},
    {"acquired relaxed",
     SHADOW_KERNEL(GIVE_TAKE("st.release.gpu.global.u32 [%rd1+1024], 1;\n", "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n")
                       "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, true},
    {"a scope that is too narrow",
     SHADOW_KERNEL(GIVE_TAKE("st.release.cta.global.u32 [%rd1+1024], 1;\n", "ld.acquire.gpu.global.u32 %r6, [%rd1+1024];\n")
                       "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, true},
    {"fences", SHADOW_KERNEL(GIVE_TAKE(FENCE "st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                                       "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") FENCE
                             "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, false},
    {"a fence before the store alone",
     SHADOW_KERNEL(GIVE_TAKE(FENCE "st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, true},
    {"a fence, and the write behind it",
     SHADOW_KERNEL(GIVE_TAKE(FENCE "st.global.u32 [%rd1+64], 8; st.relaxed.gpu.global.u32 [%rd1+1024], 1;\n",
                             "ld.relaxed.gpu.global.u32 %r6, [%rd1+1024];\n") FENCE
                   "ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, true},
    {"volatile flags, and fences",
     SHADOW_KERNEL(GIVE_TAKE("membar.gl;\nst.volatile.global.u32 [%rd1+1024], 1;\n",
                             "ld.volatile.global.u32 %r6, [%rd1+1024];\n") "membar.gl; ld.global.u32 %r7, [%rd1+64]; OVER:\n"),
     2, 32, 0, false},
    {"a lock", SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 6, 32, 0, false},
    {"a lock, slots are used again",
     SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 24, 32, 24, false},
    {"a lock that is taken relaxed",
     SHADOW_KERNEL(LOCKED("atom.global.relaxed.gpu.cas.b32", "atom.global.release.gpu.exch.b32")), 4, 32, 0, true},
    {"a lock that is released relaxed",
     SHADOW_KERNEL(LOCKED("atom.global.acquire.gpu.cas.b32", "atom.global.relaxed.gpu.exch.b32")), 4, 32, 0, true},
    {"a grid barrier", SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.release.gpu.u32", "ld.acquire.gpu.global.u32")), 6, 32, 0, false},
    {"a grid barrier with a relaxed counter",
     SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.relaxed.gpu.u32", "ld.acquire.gpu.global.u32")), 6, 32, 0, true},
    {"a grid barrier with a relaxed poll",
     SHADOW_KERNEL(OWN_WORD MEET("atom.global.add.release.gpu.u32", "ld.relaxed.gpu.global.u32")), 6, 32, 0, true},
    {"generic addresses",
     SHADOW_KERNEL(OWN_WORD ".shared .b32 s[64]; mov.u32 %r10, s; cvt.u64.u32 %rd5, %r10; cvta.shared.u64 %rd5, %rd5;\n"
                            "setp.eq.u32 %p4, %r1, 0; selp.b64 %rd6, %rd3, %rd5, %p4; st.u32 [%rd6], %r5; atom.add.u32 %r9, [%rd5], 1;\n"),
     4, 32, 0, false},
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
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        if (getenv("SHADOW_VERBOSE"))
            fprintf(stderr, "%s, %zu\n", c->name, i);
        /* A fifth reader of a word changes its cell with each poll, and the machine does not see that it spins. */
        shadowed_go(&s, seed && c->ctas > 4 ? 4 : c->ctas, c->threads, 0, &schedules[i]);
        const ShadowState *state = &shadowed_left(&s)->state;
        if (state->trouble)
            fail_msg("%s: trouble %#x at site %u", c->name, state->trouble, state->trouble_site);
        if (c->races != (state->races > 0))
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

/* The cells of the seed are of words: what is narrower than one is not told apart. */
static void finds_races_in_words(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, "bytes beside each other"))
            check_case(&cases[i], true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_races), cmocka_unit_test(finds_races_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
