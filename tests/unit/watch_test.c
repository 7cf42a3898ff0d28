/* check/report/build/watch: what a run shows of barriers: sightings, passes on phases seen before, bytes, who released
 * whom. */
#include "running.h"

#include "check/report/build/watch.h"

typedef struct Watching {
    Running *running;
    Watch *watch;
} Watching;

static void observe(void *watch, const Event *event) {
    watch_observe(watch, event);
}

static void run_again(Watching *watching, RunEnd end) {
    Machine *machine = watching->running->machine;
    Rerun rerun = {.launch = &watching->running->launch, .schedule = {.kind = SCHEDULE_EAGER}};
    watch_start(watching->watch, &rerun);
    machine->observe = observe;
    machine->observer = watching->watch;
    assert_int_equal(run_eagerly(watching->running), end);
    machine->observe = NULL;
    watch_end(watching->watch, end);
}

static Watching watch_kernel(const char *text, RunEnd end) {
    Watching watching = {.running = compile_whole(text)};
    watching.watch = watch_create(&watching.running->reading->module.arena, watching.running->machine);
    assert_null(watch_kept(watching.watch));
    run_again(&watching, end);
    return watching;
}

/* The first op of that kind by that agent. */
static const Seen *seen_by(const Sights *sights, uint32_t agent, SightKind kind) {
    for (size_t i = 0; i < sights->seen_count; i++)
        if (sights->seen[i].agent == agent && sights->seen[i].kind == kind)
            return &sights->seen[i];
    fail_msg("agent %u did no such thing", agent);
    return NULL;
}

static void waits_and_arrivals_are_seen(void **state) {
    (void)state;
    Watching watching =
        watch_kernel(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0), WAIT(a, 0) ARRIVE(b)), RUN_COMPLETE);
    const Sights *sights = watch_kept(watching.watch);
    assert_int_equal(sights->ring_count, 2);
    assert_int_equal(sights->seen_count, 4);
    const Seen *wait = seen_by(sights, 1, SIGHT_WAIT);
    assert_int_equal(wait->times, 1);
    assert_int_equal(wait->count, 1);
    assert_int_equal(wait->sightings[0].parity, 0);
    assert_int_equal(wait->at_once, 0);
    assert_int_equal(sights->rings[wait->ring].flips, 1);
    assert_int_equal(sights->rings[wait->ring].count, 1);
    assert_int_equal(sights->handing_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_not_equal(sights->seen[sights->handings[i].from].agent, sights->seen[sights->handings[i].to].agent);
    end_kernel(watching.running);
}

static void a_second_look_at_a_phase_is_told_from_the_first(void **state) {
    (void)state;
    Watching watching =
        watch_kernel(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a), WAIT(a, 0) WAIT(a, 0) WAIT(b, 1)), RUN_COMPLETE);
    const Sights *sights = watch_kept(watching.watch);
    uint64_t again = 0, at_once = 0;
    for (size_t i = 0; i < sights->seen_count; i++) {
        again += sights->seen[i].again;
        at_once += sights->seen[i].at_once;
    }
    assert_int_equal(again, 1);
    assert_int_equal(at_once, 1);
    end_kernel(watching.running);
}

static void bytes_of_a_phase_are_added_up(void **state) {
    (void)state;
    Watching watching = watch_kernel(KERNEL("%desc: !desc", "    %bar = ttg.local_alloc : () -> !barrier\n"
                                                            "    %tile = ttg.local_alloc : () -> !tile\n" INIT(bar, 1)
                                                                EXPECT(bar, 256) COPY(bar) COPY(bar) WAIT(bar, 0)),
                                     RUN_COMPLETE);
    const Sights *sights = watch_kept(watching.watch);
    const Ring *ring = &sights->rings[seen_by(sights, 0, SIGHT_EXPECT)->ring];
    assert_int_equal(ring->expected, 256);
    assert_int_equal(ring->delivery_count, 2);
    assert_int_equal(ring->deliveries[0].bytes, 128);
    assert_false(ring->bytes_vary);
    assert_int_equal(seen_by(sights, 0, SIGHT_WAIT)->own, 1);
    end_kernel(watching.running);
}

static void what_is_blocked_at_the_end_is_seen_too(void **state) {
    (void)state;
    Watching watching = watch_kernel(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a), WAIT(b, 0)), RUN_STUCK);
    const Seen *wait = seen_by(watch_kept(watching.watch), 1, SIGHT_WAIT);
    assert_int_equal(wait->times, 0);
    assert_int_equal(wait->count, 1);
    end_kernel(watching.running);
}

static void the_run_that_showed_most_is_kept(void **state) {
    (void)state;
    Watching watching = {
        .running = compile_whole(
            KERNEL("%n: i32", "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(
                                  bar, 1) "    scf.for %i = %c0 to %n step %c1 : i32 {\n" ARRIVE(bar) "    }\n"))};
    watching.watch = watch_create(&watching.running->reading->module.arena, watching.running->machine);
    give(watching.running, "n=5");
    run_again(&watching, RUN_COMPLETE);
    give(watching.running, "n=2");
    run_again(&watching, RUN_COMPLETE);
    const Sights *sights = watch_kept(watching.watch);
    assert_int_equal(watch_runs(watching.watch), 2);
    assert_int_equal(seen_by(sights, 0, SIGHT_ARRIVE)->times, 5);
    give(watching.running, "n=100");
    run_again(&watching, RUN_COMPLETE);
    assert_int_equal(seen_by(watch_kept(watching.watch), 0, SIGHT_ARRIVE)->times, 100);
    assert_int_equal(seen_by(watch_kept(watching.watch), 0, SIGHT_ARRIVE)->count, 100);
    end_kernel(watching.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_and_arrivals_are_seen),
        cmocka_unit_test(a_second_look_at_a_phase_is_told_from_the_first),
        cmocka_unit_test(bytes_of_a_phase_are_added_up),
        cmocka_unit_test(what_is_blocked_at_the_end_is_seen_too),
        cmocka_unit_test(the_run_that_showed_most_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
