/* The global race engine: asynchronous accesses, barriers of a cluster, and its limits. */
#include "gsan_runs.h"
#include "share.h"

#include <stdlib.h>

/* ---- Asynchronous accesses ---- */

static unsigned asynchronous(Run *run, uint32_t cta, uint32_t ticket, AccessKind kind, uint64_t begin, uint64_t size) {
    Order order = kind == KIND_UPDATE ? ORDER_RELAXED : ORDER_WEAK;
    return gsan_access(run->gsan, run->threads[cta], 300 + 10 * cta + kind, kind, order,
                       kind == KIND_UPDATE ? SCOPE_GPU : SCOPE_NONE, ticket, begin, begin + size);
}

static void an_access_in_flight_races_with_its_own_thread(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_EXACT));
    start(&run, 1);
    uint32_t ticket = gsan_issue(run.gsan, run.threads[0]);
    asynchronous(&run, 0, ticket, KIND_WRITE, DATA, 64);
    assert_int_equal(asynchronous(&run, 0, ticket, KIND_WRITE, DATA, 64), 0); /* the same operation */
    assert_int_equal(weak(&run, 0, KIND_READ, DATA, 4), 1);
    assert_int_equal(run.races[0].reason, GSAN_UNFINISHED);
    assert_true(run.races[0].earlier.in_flight);
    gsan_complete(run.gsan, ticket, run.threads[0]);
    assert_int_equal(weak(&run, 0, KIND_WRITE, DATA + 8, 4), 0);
    is_fine(&run);
}

/* The sampled mode finds it when the operation is over. */
static void an_access_in_flight_is_judged_again_at_its_end(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int waits = 0; waits < 2; waits++) {
        RUN(run, in_mode(mode));
        start(&run, 1);
        uint32_t ticket = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, ticket, KIND_READ, DATA, 64);
        if (waits)
            gsan_complete(run.gsan, ticket, run.threads[0]);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        gsan_end(run.gsan, run.threads[0]);
        assert_int_equal(run.reported, !waits);
        is_fine(&run);
    }
}

static void a_release_publishes_only_what_was_waited_for(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int waits = 0; waits < 2; waits++) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        uint32_t ticket = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, ticket, KIND_WRITE, DATA, 64);
        if (waits)
            gsan_complete(run.gsan, ticket, run.threads[0]);
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
        if (!waits)
            gsan_complete(run.gsan, ticket, run.threads[0]);
        strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        weak(&run, 1, KIND_READ, DATA, 4);
        assert_int_equal(run.reported, !waits);
        if (!waits && mode == GSAN_EXACT)
            assert_int_equal(run.races[0].reason, GSAN_UNFINISHED);
        is_fine(&run);
    }
}

static void an_operation_begins_when_it_is_issued(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int is_late = 0; is_late < 2; is_late++) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA, 64);
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
        uint32_t ticket = is_late ? 0 : gsan_issue(run.gsan, run.threads[1]);
        strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        if (is_late)
            ticket = gsan_issue(run.gsan, run.threads[1]);
        assert_int_equal(asynchronous(&run, 1, ticket, KIND_READ, DATA, 64), !is_late);
        is_fine(&run);
    }
}

static void operations_of_one_thread_are_not_ordered(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int waits = 0; waits < 2; waits++) {
        RUN(run, in_mode(mode));
        start(&run, 1);
        uint32_t one = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, one, KIND_WRITE, DATA, 64);
        if (waits)
            gsan_complete(run.gsan, one, run.threads[0]);
        uint32_t two = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, two, KIND_READ, DATA + 4, 4);
        if (!waits)
            gsan_complete(run.gsan, one, run.threads[0]);
        gsan_complete(run.gsan, two, run.threads[0]);
        assert_int_equal(run.reported, !waits);
        is_fine(&run);
    }
}

/* What was written before its launch is before an operation, and whatever comes behind it: a launch beside both races
 * with the operation, and not with what that has written over. */
static void an_operation_stands_for_what_was_before_its_launch(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        uint32_t first = launch(&run, 0, 1, 1);
        run.threads[0] = gsan_begin(run.gsan, first, 0);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        gsan_end(run.gsan, run.threads[0]);
        uint32_t second = gsan_launch(run.gsan, &(GsanLaunch){.ctas = 1, .after = &first, .after_count = 1});
        run.threads[1] = gsan_begin(run.gsan, second, 0);
        assert_int_equal(asynchronous(&run, 1, gsan_issue(run.gsan, run.threads[1]), KIND_WRITE, DATA, 4), 0);
        run.threads[2] = gsan_begin(run.gsan, launch(&run, 0, 1, 1), 0);
        assert_int_equal(weak(&run, 2, KIND_WRITE, DATA, 4), 1);
        is_fine(&run);
    }
}

static void asynchronous_reads_and_reductions_go_together(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (AccessKind kind = KIND_READ; kind <= KIND_UPDATE; kind += 2) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        for (uint32_t i = 0; i < 4; i++)
            asynchronous(&run, i % 2, gsan_issue(run.gsan, run.threads[i % 2]), kind, DATA + 16 * i, 256);
        gsan_end(run.gsan, run.threads[0]);
        gsan_end(run.gsan, run.threads[1]);
        assert_int_equal(run.reported, 0);
        is_fine(&run);
    }
}

/* Another update has taken the place of the first elements; one behind them is read before the operation is over. */
static void each_element_in_flight_is_judged_at_its_end(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int waits = 0; waits < 2; waits++) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        uint32_t ticket = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, ticket, KIND_UPDATE, DATA, 256);
        asynchronous(&run, 1, gsan_issue(run.gsan, run.threads[1]), KIND_UPDATE, DATA, 128);
        if (waits)
            gsan_complete(run.gsan, ticket, run.threads[0]);
        weak(&run, 0, KIND_READ, DATA + 128, 4);
        gsan_end(run.gsan, run.threads[0]);
        assert_int_equal(run.reported, !waits);
        is_fine(&run);
    }
}

/* An operation that another CTA of the cluster has waited for, or both. */
static void what_waits_has_it_before_itself(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (uint32_t who = 0; who < 3; who++) {
        RUN(run, in_mode(mode));
        uint32_t number = launch(&run, 0, 2, 2);
        run.threads[0] = gsan_begin(run.gsan, number, 0);
        run.threads[1] = gsan_begin(run.gsan, number, 1);
        uint32_t ticket = gsan_issue(run.gsan, run.threads[0]);
        asynchronous(&run, 0, ticket, KIND_READ, DATA, 64);
        if (who != 1)
            gsan_complete(run.gsan, ticket, run.threads[0]);
        if (who != 0)
            gsan_complete(run.gsan, ticket, run.threads[1]);
        weak(&run, 1, KIND_WRITE, DATA, 4);
        assert_int_equal(run.reported, who == 0);
        is_fine(&run);
    }
}

/* ---- Barriers of a cluster ---- */

static unsigned races_through_object(GsanMode mode, GsanExtent extent, bool releases) {
    RUN(run, in_mode(mode));
    start(&run, 2);
    weak(&run, 0, KIND_WRITE, DATA, 4);
    if (releases)
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
    gsan_publish(run.gsan, run.threads[0], 77, extent);
    gsan_publish(run.gsan, run.threads[1], 77, extent);
    gsan_acquire(run.gsan, run.threads[1], 77);
    gsan_retire(run.gsan, 77);
    unsigned races = weak(&run, 1, KIND_READ, DATA, 4);
    gsan_acquire(run.gsan, run.threads[0], 77);
    races += 10 * weak(&run, 0, KIND_WRITE, DATA + 64, 4);
    is_fine(&run);
    return races;
}

static void an_mbarrier_publishes_what_was_released(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        assert_int_equal(races_through_object(mode, GSAN_WHOLE, false), 0);
        assert_int_equal(races_through_object(mode, GSAN_CLOSED, false), 1);
        assert_int_equal(races_through_object(mode, GSAN_CLOSED, true), 0);
    }
}

/* A relaxed barrier, with a fence before it; NO_SCOPE: none. */
static unsigned races_around_relaxed(GsanMode mode, Scope before, bool is_late) {
    RUN(run, in_mode(mode));
    uint32_t number = launch(&run, 0, 2, 2);
    run.threads[0] = gsan_begin(run.gsan, number, 0);
    run.threads[1] = gsan_begin(run.gsan, number, 1);
    if (!is_late)
        weak(&run, 0, KIND_WRITE, DATA, 4);
    if (before)
        fence(&run, 0, ORDER_ACQ_REL, before);
    if (is_late)
        weak(&run, 0, KIND_WRITE, DATA, 4);
    gsan_publish(run.gsan, run.threads[0], 77, GSAN_FENCED);
    gsan_publish(run.gsan, run.threads[1], 77, GSAN_FENCED);
    gsan_acquire(run.gsan, run.threads[1], 77);
    gsan_retire(run.gsan, 77);
    unsigned races = weak(&run, 1, KIND_READ, DATA, 4);
    is_fine(&run);
    return races;
}

static void a_relaxed_barrier_carries_what_fences_close(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (Scope before = SCOPE_NONE; before <= SCOPE_SYS; before++) {
        assert_int_equal(races_around_relaxed(mode, before, false), before < SCOPE_CLUSTER);
        assert_int_equal(races_around_relaxed(mode, before, true), 1);
    }
}

static void many_phases_need_few_epochs(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        for (uint64_t i = 0; i < share_of(100000); i++)
            for (int j = 0; j < 2; j++) {
                gsan_publish(run.gsan, run.threads[j], i, j ? GSAN_WHOLE : GSAN_CLOSED);
                gsan_acquire(run.gsan, run.threads[!j], i);
                if (j)
                    gsan_retire(run.gsan, i);
            }
        is_fine(&run);
    }
}

/* ---- Limits ---- */

static void a_clock_that_has_left_the_ring_is_noticed(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_SAMPLED));
    start(&run, 2);
    weak(&run, 0, KIND_WRITE, DATA, 4);
    strong(&run, 0, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
    for (int i = 0; i < 16; i++)
        gsan_access(run.gsan, run.threads[0], 5, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 0, FLAG + 64, FLAG + 68);
    strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    uint32_t thread, site;
    assert_int_equal(gsan_trouble(run.gsan, &thread, &site), GSAN_RING_OVERWRITTEN);
    assert_int_equal(thread, run.threads[1]);
    assert_int_equal(site, 110);
    assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), 0); /* nothing is made up */
    gsan_free(run.gsan);
}

static void numbers_that_run_out_are_noticed(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        RUN(run, in_mode(GSAN_SAMPLED));
        start(&run, 1);
        for (int j = 0; j < 70000; j++) {
            if (i)
                strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
            weak(&run, 0, KIND_WRITE, DATA, 4);
            gsan_publish(run.gsan, run.threads[0], 1, GSAN_WHOLE);
        }
        uint32_t thread, site;
        assert_int_equal(gsan_trouble(run.gsan, &thread, &site), GSAN_EPOCH_OVERFLOW);
        gsan_free(run.gsan);
    }
}

static void mixed_scopes_are_noticed(void **state) {
    (void)state;
    for (int is_ordered = 0; is_ordered < 2; is_ordered++) {
        RUN(run, in_mode(GSAN_SAMPLED));
        start(&run, 2);
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
        strong(&run, 1, KIND_UPDATE, is_ordered ? ORDER_ACQ_REL : ORDER_RELEASE, SCOPE_SYS);
        uint32_t thread, site;
        assert_int_equal(gsan_trouble(run.gsan, &thread, &site), is_ordered ? GSAN_FINE : GSAN_MIXED_SCOPES);
        gsan_free(run.gsan);
    }
}

static void too_many_ctas_and_too_little_memory_are_noticed(void **state) {
    (void)state;
    uint32_t thread, site;
    RUN(run, in_mode(GSAN_SAMPLED));
    start(&run, 9);
    assert_int_equal(run.threads[8], GSAN_NO_THREAD);
    assert_int_equal(gsan_trouble(run.gsan, &thread, &site), GSAN_TOO_MANY_THREADS);
    gsan_free(run.gsan);
    RUN(small, ((GsanOptions){.mode = GSAN_EXACT, .memory = 1 << 20}));
    start(&small, 1);
    for (uint64_t i = 0; i < 10000; i++)
        weak(&small, 0, KIND_WRITE, i * 4096, 4);
    assert_int_equal(gsan_trouble(small.gsan, &thread, &site), GSAN_OUT_OF_MEMORY);
    gsan_free(small.gsan);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    const char *problem = NULL;
    assert_null(gsan_create(&(GsanOptions){.granule = 3}, found, NULL, &problem));
    assert_string_equal(problem, "a granule has 1, 2, 4 or 16 bytes");
    assert_null(gsan_create(&(GsanOptions){.mode = GSAN_SAMPLED, .devices = 32}, found, NULL, &problem));
    assert_string_equal(problem, "a cell can name at most 4096 threads, of all devices together");
    assert_null(gsan_create(&(GsanOptions){.mode = GSAN_SAMPLED, .memory = 1 << 20}, found, NULL, &problem));
    assert_string_equal(problem, "the clocks need more memory than the limit");
    assert_null(gsan_create(&(GsanOptions){.mode = GSAN_SAMPLED, .ring = 65536}, found, NULL, &problem));
    assert_null(gsan_create(&(GsanOptions){.mode = GSAN_SAMPLED, .slots = 65}, found, NULL, &problem));
}

/* ---- Size ---- */

static void a_sampled_cell_has_six_bytes_a_byte(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_SAMPLED));
    start(&run, 1);
    weak(&run, 0, KIND_WRITE, DATA, 1 << 20);
    GsanStats stats = gsan_stats(run.gsan);
    assert_int_equal(stats.real_bytes, 1 << 20);
    assert_int_equal(stats.shadow_bytes, 6 << 20);
    assert_int_equal(stats.elements, 1 << 18);
    is_fine(&run);
}

/* 4096 CTAs write, all arrive at a counter, all wait for it and read what the others wrote, twice. */
static void a_barrier_of_a_whole_grid(void **state) {
    (void)state;
    const uint32_t ctas = share_of(4096);
    RUN(run, ((GsanOptions){.mode = GSAN_EXACT, .memory = 256 << 20}));
    uint32_t number = launch(&run, 0, ctas, 1), *threads = malloc(ctas * sizeof *threads);
    for (uint32_t i = 0; i < ctas; i++)
        threads[i] = gsan_begin(run.gsan, number, i);
    for (uint32_t round = 0; round < 2; round++) {
        uint64_t data = DATA + (uint64_t)(round & 1) * 4 * ctas;
        for (uint32_t i = 0; i < ctas; i++) {
            gsan_access(run.gsan, threads[i], 1, KIND_WRITE, ORDER_WEAK, 0, 0, data + 4 * i, data + 4 * i + 4);
            gsan_access(run.gsan, threads[i], 2, KIND_UPDATE, ORDER_ACQ_REL, SCOPE_GPU, 0, FLAG, FLAG + 4);
        }
        for (uint32_t i = 0; i < ctas; i++) {
            gsan_access(run.gsan, threads[i], 3, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 0, FLAG, FLAG + 4);
            gsan_access(run.gsan, threads[i], 4, KIND_READ, ORDER_WEAK, 0, 0, data, data + 4 * ctas);
        }
    }
    assert_int_equal(run.reported, 0);
    assert_true(gsan_stats(run.gsan).clock_bytes < 64 << 20);
    free(threads);
    is_fine(&run);
}

static void grids_that_do_not_talk_cost_little(void **state) {
    (void)state;
    enum { CTAS = 4096, LAUNCHES = 20 };
    RUN(run, ((GsanOptions){.mode = GSAN_EXACT}));
    for (uint32_t k = 0; k < LAUNCHES; k++) {
        uint32_t before = k - 1;
        uint32_t number =
            gsan_launch(run.gsan, &(GsanLaunch){.ctas = CTAS, .cluster = 1, .after = &before, .after_count = k != 0});
        for (uint32_t i = 0; i < CTAS; i++) {
            run.threads[0] = gsan_begin(run.gsan, number, i);
            weak(&run, 0, KIND_READ, DATA, 4096);
            weak(&run, 0, KIND_WRITE, (uint64_t)(1 << 24) + i * 64, 64);
            gsan_end(run.gsan, run.threads[0]);
        }
    }
    assert_int_equal(run.reported, 0);
    assert_true(gsan_stats(run.gsan).clock_bytes < 64 << 20);
    assert_true(gsan_stats(run.gsan).shadow_bytes < 16 << 20);
    is_fine(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_in_flight_races_with_its_own_thread),
        cmocka_unit_test(an_access_in_flight_is_judged_again_at_its_end),
        cmocka_unit_test(a_release_publishes_only_what_was_waited_for),
        cmocka_unit_test(an_operation_begins_when_it_is_issued),
        cmocka_unit_test(operations_of_one_thread_are_not_ordered),
        cmocka_unit_test(an_operation_stands_for_what_was_before_its_launch),
        cmocka_unit_test(asynchronous_reads_and_reductions_go_together),
        cmocka_unit_test(each_element_in_flight_is_judged_at_its_end),
        cmocka_unit_test(what_waits_has_it_before_itself),
        cmocka_unit_test(an_mbarrier_publishes_what_was_released),
        cmocka_unit_test(a_relaxed_barrier_carries_what_fences_close),
        cmocka_unit_test(many_phases_need_few_epochs),
        cmocka_unit_test(a_clock_that_has_left_the_ring_is_noticed),
        cmocka_unit_test(numbers_that_run_out_are_noticed),
        cmocka_unit_test(mixed_scopes_are_noticed),
        cmocka_unit_test(too_many_ctas_and_too_little_memory_are_noticed),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(a_sampled_cell_has_six_bytes_a_byte),
        cmocka_unit_test(a_barrier_of_a_whole_grid),
        cmocka_unit_test(grids_that_do_not_talk_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
