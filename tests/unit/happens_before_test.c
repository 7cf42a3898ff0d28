/* machine/tile/schedule/causes: what one run shows about all schedules: each kind of risk, and none where barriers
 * settle the order.
 */
#include "running.h"

#include "machine/tile/schedule/happens_before.h"

typedef struct Watched {
    Running *running;
    HappensBefore *happens_before;
} Watched;

static Watched watch(const char *text) {
    Watched watched = {.running = compile_whole(text)};
    Machine *machine = watched.running->machine;
    watched.happens_before = happens_before_create(&watched.running->reading->module.arena, machine);
    happens_before_start(watched.happens_before);
    machine->observe = happens_before_observe;
    machine->observer = watched.happens_before;
    assert_int_equal(run_eagerly(watched.running), RUN_COMPLETE);
    machine->observe = NULL;
    return watched;
}

/* One risk a line: its kind, whom to hold, and at which op. */
static char *sensitive_points_of(const Watched *watched) {
    static const char *const kinds[] = {"lapped", "early", "older", "before init", "after end"};
    const Machine *machine = watched->running->machine;
    uint32_t count;
    const SensitivePoint *sensitive_points = happens_before_sensitive(watched->happens_before, &count);
    Text text = {0};
    for (uint32_t i = 0; i < count; i++) {
        text_addf(&text, "%s: ", kinds[sensitive_points[i].kind]);
        if (sensitive_points[i].outstanding_ops)
            text_addf(&text, "what is in flight");
        else
            text_addf(&text, "%s%s at %.*s", sensitive_points[i].outstanding ? "what is in flight of " : "",
                      sensitive_points[i].agent ? "partition0" : "default",
                      STR_ARG(machine->program->ops[sensitive_points[i].pc]->name));
        text_addf(&text, "\n");
    }
    text_char(&text, 0);
    return text.data;
}

static void assert_sensitive_points(const char *text, const char *expected) {
    Watched watched = watch(text);
    char *found = sensitive_points_of(&watched);
    assert_string_equal(found, expected);
    free(found);
    assert_false(happens_before_overflowed(watched.happens_before));
    end_kernel(watched.running);
}

/* ---- Risks ------------------------------------------------------------------------------------------ */

static void a_wait_that_the_next_phase_does_not_wait_for_can_be_lapped(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0) ARRIVE(a), ARRIVE(b) WAIT(a, 0)),
                            "lapped: partition0 at ttng.wait_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0) ARRIVE(a), WAIT(a, 0) ARRIVE(b)), "");
}

static void an_arrival_can_come_into_the_phase_before(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1), ARRIVE(a), ARRIVE(a)), "early: default at ttng.arrive_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 1), ARRIVE(a), WAIT(a, 0) ARRIVE(a)), "");
    assert_sensitive_points(AGENTS(INIT(a, 2), ARRIVE(a), ARRIVE(a)), ""); /* two of one phase */
}

static void bytes_can_come_into_the_phase_before(void **state) {
    (void)state;
#define COPIED(body) ON_BARRIER("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" INIT(bar, 1) body)
    assert_sensitive_points(COPIED(EXPECT(bar, 128) COPY(bar) EXPECT(bar, 128) COPY(bar)),
                            "early: what is in flight of default at "
                            "ttng.async_tma_copy_global_to_local\n");
    assert_sensitive_points(COPIED(EXPECT(bar, 128) COPY(bar) WAIT(bar, 0) EXPECT(bar, 128) COPY(bar)), "");
#undef COPIED
}

static void a_wait_can_pass_on_an_older_phase(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1), ARRIVE(a) ARRIVE(a), WAIT(a, 1)), "older: what is in flight\n");
    assert_sensitive_points(AGENTS(INIT(a, 1), ARRIVE(a), WAIT(a, 0)), "");
}

static void a_barrier_can_be_used_before_its_init(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS("", INIT(a, 2), ARRIVE(a)), "before init: default at ttng.init_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 2), "", ARRIVE(a)), "");
    assert_sensitive_points(AGENTS(INIT(b, 1), INIT(a, 2) ARRIVE(b), WAIT(b, 0) ARRIVE(a)), "");
}

static void a_barrier_can_be_used_after_its_end(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0) INVALIDATE(a), ARRIVE(b) WAIT(a, 0)),
                            "after end: partition0 at ttng.wait_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0) INVALIDATE(a), WAIT(a, 0) ARRIVE(b)),
                            "");
    assert_sensitive_points(KERNEL("", SPECIALIZED(INIT(a, 1), ARRIVE(a), WAIT(a, 0), INVALIDATE(a))), "");
}

/* Who arrives twice on a barrier of count 2 could make up the phase alone, and each of the two could have come later;
 * in whichever order the agents stand. */
static void others_can_complete_a_phase(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 2), ARRIVE(a) ARRIVE(a), ARRIVE(a)),
                            "early: default at ttng.arrive_barrier\n"
                            "early: default at ttng.arrive_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 2), ARRIVE(a), ARRIVE(a) ARRIVE(a)),
                            "early: default at ttng.arrive_barrier\n");
    assert_sensitive_points(AGENTS(INIT(a, 2), ARRIVE(a), ARRIVE(a)), "");
    assert_sensitive_points(AGENTS(INIT(a, 2), ARRIVE(a), ARRIVE(a) WAIT(a, 0) ARRIVE(a)), "");
}

/* ---- Order that does not come from mbarriers ---------------------------------------------------------- */

#define MEET                                  \
    "      %id = arith.constant 1 : i32\n"    \
    "      %all = arith.constant 160 : i32\n" \
    "      ttng.wait_barrier_named %id, %all : i32, i32\n"

static void a_named_barrier_orders(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1), ARRIVE(a) MEET, MEET ARRIVE(a)), "");
    assert_sensitive_points(AGENTS("", INIT(a, 2) MEET, MEET ARRIVE(a)), "");
}

static void fork_and_join_order(void **state) {
    (void)state;
    assert_sensitive_points(KERNEL("", SPECIALIZED(INIT(a, 1) ARRIVE(a), "", ARRIVE(a), ARRIVE(a))), "");
}

static void more_threads_than_are_needed_leave_open_who_meets(void **state) {
    (void)state;
    static const char text[] = AGENTS("",
                                      "      %id = arith.constant 1 : i32\n"
                                      "      %few = arith.constant 32 : i32\n"
                                      "      ttng.arrive_barrier_named %id, %few : i32, i32\n",
                                      "");
    Watched watched = watch(text);
    uint32_t count;
    const SensitivePoint *sensitive_points = happens_before_sensitive(watched.happens_before, &count);
    assert_int_equal(count, 1);
    assert_int_equal(sensitive_points[0].kind, SENSITIVE_POINT_EARLY);
    end_kernel(watched.running);
}

/* ---- A ring that is right ----------------------------------------------------------------------------- */

#define RING(first, second)                            \
    "      %c8 = arith.constant 8 : i32\n"             \
    "      scf.for %i = %c0 to %c8 step %c1 : i32 {\n" \
    "        %phase = arith.andi %i, %c1 : i32\n"      \
    "        %other = arith.xori %phase, %c1 : i32\n" first second "      }\n"
#define CONSUMER RING("        ttng.wait_barrier %a, %phase : !barrier\n", ARRIVE(b))
#define PRODUCER RING("        ttng.wait_barrier %b, %other : !barrier\n", ARRIVE(a))

static void a_ring_with_back_pressure_has_no_risks(void **state) {
    (void)state;
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), CONSUMER, PRODUCER), "");
    assert_sensitive_points(AGENTS(INIT(a, 1) INIT(b, 1), PRODUCER, CONSUMER), "");
}

/* ---- Phases that nothing sees -------------------------------------------------------------------------- */

static void a_phase_that_nothing_saw_is_an_overrun(void **state) {
    (void)state;
    Watched watched = watch(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) ARRIVE(bar) WAIT(bar, 1)));
    uint32_t barrier = UINT32_MAX;
    assert_true(happens_before_overrun(watched.happens_before, &barrier));
    assert_int_equal(barrier, slot_named(watched.running, "%bar[0]"));
    end_kernel(watched.running);

    static const char *const harmless[] = {
        ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0) ARRIVE(bar) WAIT(bar, 1)),
        ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) ARRIVE(bar)), /* nothing wants to see */
    };
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        watched = watch(harmless[i]);
        assert_false(happens_before_overrun(watched.happens_before, &barrier));
        end_kernel(watched.running);
    }
}

/* ---- Limits ------------------------------------------------------------------------------------------- */

static void more_risks_than_are_kept_are_said_to_be_more(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
                     "#smem = #ttg.shared_memory\n"
                     "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
                     "!ring = !ttg.memdesc<65x1xi64, #shared, #smem, mutable>\n"
                     "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                     "  tt.func public @kernel() {\n"
                     "    %%ring = ttg.local_alloc : () -> !ring\n"
                     "    ttg.warp_specialize(%%ring)\n"
                     "    default {\n");
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i <= MOST_SENSITIVE_POINTS; i++)
            text_addf(&text,
                      "      %%n%d = arith.constant %d : i32\n"
                      "      %%b%d = ttg.memdesc_index %%ring[%%n%d] : !ring -> !barrier\n"
                      "      ttng.%s_barrier %%b%d, %d : !barrier\n",
                      i, i, i, i, side ? "arrive" : "init", i, side ? 1 : 2);
        text_addf(&text, side ? "      ttg.warp_return\n    } : (!ring) -> ()\n    tt.return\n  }\n}\n"
                              : "      ttg.warp_yield\n    }\n    partition0(%%ring: !ring) num_warps(1) {\n");
    }
    text_char(&text, 0);
    Watched watched = watch(text.data);
    uint32_t count;
    (void)happens_before_sensitive(watched.happens_before, &count);
    assert_int_equal(count, MOST_SENSITIVE_POINTS);
    assert_true(happens_before_overflowed(watched.happens_before));
    end_kernel(watched.running);
    text_free(&text);
}

static void a_second_run_starts_afresh(void **state) {
    (void)state;
    Watched watched = watch(AGENTS(INIT(a, 1), ARRIVE(a), ARRIVE(a)));
    uint32_t count;
    happens_before_start(watched.happens_before);
    watched.running->machine->observe = happens_before_observe;
    assert_int_equal(run_eagerly(watched.running), RUN_COMPLETE);
    (void)happens_before_sensitive(watched.happens_before, &count);
    assert_int_equal(count, 1);
    end_kernel(watched.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_the_next_phase_does_not_wait_for_can_be_lapped),
        cmocka_unit_test(an_arrival_can_come_into_the_phase_before),
        cmocka_unit_test(bytes_can_come_into_the_phase_before),
        cmocka_unit_test(a_wait_can_pass_on_an_older_phase),
        cmocka_unit_test(a_barrier_can_be_used_before_its_init),
        cmocka_unit_test(a_barrier_can_be_used_after_its_end),
        cmocka_unit_test(others_can_complete_a_phase),
        cmocka_unit_test(a_named_barrier_orders),
        cmocka_unit_test(fork_and_join_order),
        cmocka_unit_test(more_threads_than_are_needed_leave_open_who_meets),
        cmocka_unit_test(a_ring_with_back_pressure_has_no_risks),
        cmocka_unit_test(a_phase_that_nothing_saw_is_an_overrun),
        cmocka_unit_test(more_risks_than_are_kept_are_said_to_be_more),
        cmocka_unit_test(a_second_run_starts_afresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
