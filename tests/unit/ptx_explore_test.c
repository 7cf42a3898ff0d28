/* Exploration of small kernels: every outcome that there is is found, and orders that come to the same are left out. */
#include "ptx_running.h"

#include "machine/simt/schedule/explore.h"

enum { OUTCOMES_MOST = 64, WRITES_MOST = 256 };

/* Two threads, the first of warps 0 and 1 (and of 2), each with a part of its own; `in` is zero at words from 1024
 * bytes on. */
#define ROLES(first, second, third)                                                                              \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)"                                          \
    "{ .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .shared .b64 bar; .shared .align 16 .b8 buf[64];\n" \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;\n"            \
    "setp.ne.u32 %p0, %r2, 0; @%p0 exit; setp.eq.u32 %p0, %r1, 32; @%p0 bra SECOND;\n"                           \
    "setp.eq.u32 %p0, %r1, 64; @%p0 bra THIRD;\n" first "ret;\nSECOND:\n" second "ret;\nTHIRD:\n" third "ret;\n}"

typedef struct Seen {
    PtxRunning running;
    uint32_t outcomes[OUTCOMES_MOST];
    uint32_t count;
    bool stuck;
    /* a simple memory: a read may give any write there was to the same word */
    uint64_t written[WRITES_MOST];
    uint32_t writes;
    PtxExplored explored;
    Trail last;
} Seen;

static void on_start(void *context) {
    ((Seen *)context)->writes = 0;
}

static void on_event(void *context, const PtxEvent *event) {
    Seen *seen = context;
    if (event->kind == PTX_EVENT_ACCESS && event->access.kind != EFFECT_READ && seen->writes + 1 < WRITES_MOST) {
        PtxLocation location = event->locations[event->outstanding ? 0 : (uint32_t)__builtin_ctz(event->lanes)];
        seen->written[++seen->writes] = location.block->base + location.offset;
    }
}

static uint32_t on_sources(void *context, const PtxEvent *event, uint32_t lane, uint32_t *writes, uint32_t most) {
    Seen *seen = context;
    uint32_t count = 0;
    for (uint32_t i = seen->writes; i > 0 && count < most; i--)
        if (seen->written[i] == event->locations[lane].block->base + event->locations[lane].offset)
            writes[count++] = i;
    if (count < most)
        writes[count++] = 0;
    return count;
}

static void on_choose(void *context, uint32_t write) {
    (void)context, (void)write;
}

static uint32_t on_writes(void *context) {
    return ((Seen *)context)->writes;
}

/* The outcome: the first words of "out", 8 bits each. */
static bool on_end(void *context, PtxEnd end, const Trail *trail) {
    Seen *seen = context;
    uint32_t outcome = 0, i = 0;
    (void)trail;
    if (end == PTX_END_STUCK) {
        seen->stuck = true;
        return false;
    }
    assert_int_equal(end, PTX_END_COMPLETE);
    for (uint32_t word = 0; word < 4; word++) {
        bool known;
        outcome |= (ptx_running_word(&seen->running, word, &known) & 0xff) << 8 * word;
    }
    while (i < seen->count && seen->outcomes[i] != outcome)
        i++;
    if (i == seen->count && seen->count < OUTCOMES_MOST)
        seen->outcomes[seen->count++] = outcome;
    return false;
}

static bool has(const Seen *seen, uint32_t outcome) {
    for (uint32_t i = 0; i < seen->count; i++)
        if (seen->outcomes[i] == outcome)
            return true;
    return false;
}

static void explore(Seen *seen, const char *text, uint32_t warps, bool sources, bool every) {
    const char *problem = NULL;
    memset(seen, 0, sizeof *seen);
    ptx_running_read(&seen->running, "sm_90", text);
    memset((uint8_t *)seen->running.in + 1024, 0, RUN_BUFFER_BYTES - 1024);
    seen->running.launch.block[0] = 32 * warps;
    seen->running.machine = ptx_machine(seen->running.program, &seen->running.launch, COMPUTES_ALL, &problem);
    assert_non_null(seen->running.machine);
    PtxExplorer explorer = {seen,   on_start, on_event, {seen, sources ? on_sources : NULL, on_choose, on_writes},
                            on_end, every};
    ptx_explore(seen->running.machine, &explorer, 1000000, &seen->explored);
    if (!seen->explored.complete)
        fail_msg("%s", seen->explored.left);
    ptx_running_end(&seen->running);
}

/* With and without orders that come to the same: the same outcomes, these. */
static void expect(const char *text, uint32_t warps, bool sources, const uint32_t *outcomes, uint32_t count) {
    static Seen few, all;
    explore(&few, text, warps, sources, false);
    explore(&all, text, warps, sources, true);
    assert_int_equal(few.count, count);
    assert_int_equal(all.count, count);
    assert_int_equal(few.stuck, all.stuck);
    assert_true(few.explored.runs + few.explored.pruned <= all.explored.runs);
    for (uint32_t i = 0; i < count; i++)
        assert_true(has(&few, outcomes[i]) && has(&all, outcomes[i]));
}
#define EXPECT(text, warps, sources, ...)                                           \
    do {                                                                            \
        static const uint32_t expected[] = {__VA_ARGS__};                           \
        expect(text, warps, sources, expected, sizeof expected / sizeof *expected); \
    } while (0)

#define BUFFERING                                                                                  \
    ROLES("st.relaxed.gpu.global.u32 [%rd1+1024], 1; ld.relaxed.gpu.global.u32 %r3, [%rd1+2048]; " \
          "st.global.u32 [%rd2], %r3;",                                                            \
          "st.relaxed.gpu.global.u32 [%rd1+2048], 1; ld.relaxed.gpu.global.u32 %r3, [%rd1+1024]; " \
          "st.global.u32 [%rd2+4], %r3;",                                                          \
          "")

static void interleaves(void **state) {
    (void)state;
    EXPECT(BUFFERING, 2, false, 0x0001, 0x0100, 0x0101);
}

static void reads_older_writes(void **state) {
    (void)state;
    EXPECT(BUFFERING, 2, true, 0x0000, 0x0001, 0x0100, 0x0101);
}

static void adds_in_every_order(void **state) {
    (void)state;
    EXPECT(ROLES("atom.relaxed.gpu.global.add.u32 %r3, [%rd1+1024], 1; st.global.u32 [%rd2], %r3;",
                 "atom.relaxed.gpu.global.add.u32 %r3, [%rd1+1024], 1; st.global.u32 [%rd2+4], %r3;",
                 "atom.relaxed.gpu.global.add.u32 %r3, [%rd1+1024], 1; st.global.u32 [%rd2+8], %r3;"),
           3, false, 0x020100, 0x010200, 0x020001, 0x000201, 0x010002, 0x000102);
}

static void leaves_out_what_is_the_same(void **state) {
    static Seen seen;
    (void)state;
    explore(&seen,
            ROLES("st.global.u32 [%rd2], 1; st.global.u32 [%rd2+64], 1; st.global.u32 [%rd2+68], 1;",
                  "st.global.u32 [%rd2+4], 1; st.global.u32 [%rd2+72], 1; st.global.u32 [%rd2+76], 1;",
                  "st.global.u32 [%rd2+8], 1; st.global.u32 [%rd2+80], 1; st.global.u32 [%rd2+84], 1;"),
            3, false, false);
    assert_int_equal(seen.explored.runs, 1);
    assert_int_equal(seen.explored.pruned, 0);
    assert_true(has(&seen, 0x010101));
}

static void spins_until_it_sees(void **state) {
    (void)state;
    EXPECT(ROLES("st.global.u32 [%rd1+1024], 7; st.release.gpu.global.u32 [%rd1+2048], 1;",
                 "L: ld.acquire.gpu.global.u32 %r3, [%rd1+2048]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; "
                 "ld.global.u32 %r4, [%rd1+1024]; st.global.u32 [%rd2], %r4;",
                 ""),
           2, true, 0x07, 0x00); /* this memory orders nothing */
}

static void finds_who_waits_forever(void **state) {
    static Seen seen;
    (void)state;
    explore(&seen,
            ROLES("st.relaxed.gpu.global.u32 [%rd1+1024], 1; st.relaxed.gpu.global.u32 [%rd1+1024], 0;",
                  "L: ld.relaxed.gpu.global.u32 %r3, [%rd1+1024]; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; "
                  "st.global.u32 [%rd2], %r3;",
                  ""),
            2, false, false);
    assert_true(seen.stuck);
    assert_true(has(&seen, 1));
}

static void tests_an_mbarrier(void **state) {
    (void)state;
    EXPECT(ROLES("mbarrier.init.shared.b64 [bar], 1; bar.sync 0; mbarrier.arrive.shared.b64 %rd3, [bar];",
                 "bar.sync 0; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r3, 1, 2, %p1; "
                 "st.global.u32 [%rd2], %r3;",
                 ""),
           2, false, 1, 2);
}

static void copies_land_late_or_early(void **state) {
    (void)state;
    EXPECT(ROLES("mov.u32 %r5, 9; st.shared.u32 [buf], %r5; cp.async.ca.shared.global [buf], [%rd1+4], 4; "
                 "cp.async.commit_group; ld.shared.u32 %r3, [buf]; st.global.u32 [%rd2], %r3; cp.async.wait_group 0;",
                 "", ""),
           1, false, 1, 9);
}

/* ---- Replays ---- */

static bool keep_last(void *context, PtxEnd end, const Trail *trail) {
    Seen *seen = context;
    bool known;
    (void)end;
    if (ptx_running_word(&seen->running, 0, &known) || ptx_running_word(&seen->running, 1, &known))
        return false;
    seen->last = (Trail){.arena = &seen->running.arena};
    for (uint32_t i = 0; i < trail->count; i++)
        trail_push(&seen->last, trail->steps[i]);
    return true;
}

static void replays_with_what_was_read(void **state) {
    static Seen seen;
    const char *problem = NULL;
    (void)state;
    memset(&seen, 0, sizeof seen);
    ptx_running_read(&seen.running, "sm_90", BUFFERING);
    memset((uint8_t *)seen.running.in + 1024, 0, RUN_BUFFER_BYTES - 1024);
    seen.running.launch.block[0] = 64;
    seen.running.machine = ptx_machine(seen.running.program, &seen.running.launch, COMPUTES_ALL, &problem);
    PtxExplorer explorer = {&seen, on_start, on_event, {&seen, on_sources, on_choose, on_writes}, keep_last, false};
    ptx_explore(seen.running.machine, &explorer, 1000, &seen.explored);
    assert_true(seen.last.count > 0); /* both read what was there before */
    assert_int_equal(ptx_explore_replay(seen.running.machine, &explorer, &seen.last), PTX_END_COMPLETE);
    ptx_running_is(&seen.running, 0, 0);
    ptx_running_is(&seen.running, 1, 0);
    ptx_running_end(&seen.running);
}

static void says_when_there_are_too_many(void **state) {
    static Seen seen;
    const char *problem = NULL;
    (void)state;
    memset(&seen, 0, sizeof seen);
    ptx_running_read(&seen.running, "sm_90", BUFFERING);
    seen.running.launch.block[0] = 64;
    seen.running.machine = ptx_machine(seen.running.program, &seen.running.launch, COMPUTES_ALL, &problem);
    PtxExplorer explorer = {&seen, on_start, on_event, {&seen, on_sources, on_choose, on_writes}, on_end, true};
    ptx_explore(seen.running.machine, &explorer, 2, &seen.explored);
    assert_false(seen.explored.complete);
    assert_non_null(seen.explored.left);
    ptx_running_end(&seen.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaves),
        cmocka_unit_test(reads_older_writes),
        cmocka_unit_test(adds_in_every_order),
        cmocka_unit_test(leaves_out_what_is_the_same),
        cmocka_unit_test(spins_until_it_sees),
        cmocka_unit_test(finds_who_waits_forever),
        cmocka_unit_test(tests_an_mbarrier),
        cmocka_unit_test(copies_land_late_or_early),
        cmocka_unit_test(replays_with_what_was_read),
        cmocka_unit_test(says_when_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
