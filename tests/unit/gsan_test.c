/* The rules of the global race engine, one by one, each in both modes where both have it: accesses, atomics, releases,
 * fences and launches. */
#include "gsan_runs.h"

/* ---- Weak accesses ---- */

static void unordered_accesses_race_if_one_writes(void **state) {
    (void)state;
    static const struct {
        AccessKind first, second;
        unsigned races;
    } cases[] = {
        {KIND_READ, KIND_READ, 0}, {KIND_READ, KIND_WRITE, 1}, {KIND_WRITE, KIND_READ, 1}, {KIND_WRITE, KIND_WRITE, 1}};
    IN_BOTH_MODES(mode)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        assert_int_equal(weak(&run, 0, cases[i].first, DATA, 16), 0);
        assert_int_equal(weak(&run, 1, cases[i].second, DATA + 8, 16), cases[i].races);
        assert_int_equal(run.reported, cases[i].races);
        if (run.reported) {
            const GsanRace *race = &run.races[0];
            assert_true(race->begin == DATA + 8 && race->end == DATA + 16);
            assert_int_equal(race->earlier.kind, cases[i].first);
            assert_int_equal(race->later.kind, cases[i].second);
            assert_int_equal(race->earlier.cta, 0);
            assert_int_equal(race->later.cta, 1);
            assert_int_equal(race->earlier.site, mode == GSAN_EXACT ? cases[i].first : UINT32_MAX);
            assert_int_equal(race->later.site, 10 + cases[i].second);
            assert_int_equal(race->reason, GSAN_UNORDERED);
            assert_int_equal(race->needed, SCOPE_GPU);
            assert_int_equal(race->missing, GSAN_NO_PAIR);
        }
        is_fine(&run);
    }
}

static void a_thread_does_not_race_with_itself(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 1);
        for (int i = 0; i < 4; i++) {
            weak(&run, 0, KIND_WRITE, DATA, 64);
            weak(&run, 0, KIND_READ, DATA, 64);
        }
        assert_int_equal(run.reported, 0);
        is_fine(&run);
    }
}

static void a_pair_of_sites_is_told_once_and_counted(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_EXACT));
    start(&run, 2);
    for (uint64_t i = 0; i < 10; i++) {
        weak(&run, 0, KIND_WRITE, DATA + 64 * i, 4);
        weak(&run, 1, KIND_READ, DATA + 64 * i, 4);
    }
    assert_int_equal(run.reported, 1);
    assert_int_equal(gsan_stats(run.gsan).races, 10);
    is_fine(&run);
}

/* Bytes that are neighbors have nothing to do with each other; a coarser granule joins them. */
static void a_granule_of_one_byte_tells_bytes_apart(void **state) {
    (void)state;
    static const uint32_t granules[] = {1, 2, 4, 16};
    for (int i = 0; i < 4; i++)
        for (uint64_t gap = 1; gap <= 16; gap++) {
            GsanOptions options = in_mode(GSAN_EXACT);
            options.granule = granules[i];
            RUN(run, options);
            start(&run, 2);
            weak(&run, 0, KIND_WRITE, DATA, 1);
            weak(&run, 1, KIND_WRITE, DATA + gap, 1);
            assert_int_equal(run.reported, gap < granules[i]);
            is_fine(&run);
        }
}

static void a_race_is_told_with_its_whole_run(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA + 100, 3 * 4096);
        weak(&run, 1, KIND_READ, DATA, 5 * 4096);
        assert_int_equal(run.reported, 1);
        assert_true(run.races[0].begin == DATA + 100 && run.races[0].end == DATA + 100 + 3 * 4096);
        is_fine(&run);
    }
}

/* Of many that race at one place, not all can be kept. */
static void a_crowd_that_races_is_no_burden(void **state) {
    (void)state;
    enum { CTAS = 3000 };
    RUN(run, ((GsanOptions){.mode = GSAN_EXACT}));
    uint32_t number = launch(&run, 0, CTAS, 1);
    for (uint32_t i = 0; i < CTAS; i++) {
        run.threads[0] = gsan_begin(run.gsan, number, i);
        weak(&run, 0, KIND_READ, DATA, 4);
        weak(&run, 0, KIND_WRITE, DATA, 4);
    }
    assert_int_equal(run.reported, 2); /* a read is covered by its CTA's own write */
    assert_true(gsan_stats(run.gsan).races > CTAS);
    assert_true(gsan_stats(run.gsan).races < 2000 * CTAS);
    is_fine(&run);
}

/* A launch that does not say how many CTAs it has has one. */
static void a_launch_has_a_cta(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        uint32_t number = launch(&run, 0, 0, 0);
        assert_int_not_equal(gsan_begin(run.gsan, number, 0), GSAN_NO_THREAD);
        assert_int_equal(gsan_begin(run.gsan, number, 1), GSAN_NO_THREAD);
        is_fine(&run);
    }
}

static void forgotten_memory_has_no_past(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (uint32_t granule = 0; granule < 2; granule++) {
        GsanOptions options = in_mode(mode);
        options.granule = granule;
        RUN(run, options);
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA, 8192);
        gsan_forget(run.gsan, DATA + 4, UINT64_C(1) << 50);
        assert_int_equal(weak(&run, 1, KIND_WRITE, DATA + 4, 8000), 0);
        gsan_forget(run.gsan, DATA, DATA + 4);
        assert_int_equal(weak(&run, 1, KIND_WRITE, DATA, 4), 0);
        is_fine(&run);
    }
}

/* ---- Atomics ---- */

static void strong_accesses_go_together_if_their_scopes_do(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int first = SCOPE_CTA; first <= SCOPE_SYS; first++)
        for (int second = SCOPE_CTA; second <= SCOPE_SYS; second++)
            for (int needed = SCOPE_CLUSTER; needed <= SCOPE_SYS; needed++) {
                RUN(run, in_mode(mode));
                uint32_t one = launch(&run, 0, 4, 2), other = launch(&run, 1, 1, 1);
                run.threads[0] = gsan_begin(run.gsan, one, 0);
                run.threads[1] = needed == SCOPE_SYS ? gsan_begin(run.gsan, other, 0)
                                                     : gsan_begin(run.gsan, one, needed == SCOPE_GPU ? 2 : 1);
                strong(&run, 0, KIND_UPDATE, ORDER_RELAXED, (Scope)first);
                strong(&run, 1, KIND_UPDATE, ORDER_RELAXED, (Scope)second);
                bool races = first < needed || second < needed;
                assert_int_equal(run.reported != 0, races);
                if (races) {
                    assert_int_equal(run.races[0].reason, GSAN_NARROW);
                    assert_int_equal(run.races[0].needed, needed);
                }
                is_fine(&run);
            }
}

static void a_strong_access_races_with_a_weak_one(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        weak(&run, 0, KIND_WRITE, FLAG, 4);
        assert_int_equal(strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_SYS), 1);
        is_fine(&run);
    }
}

static void strong_accesses_of_other_bytes_race(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_EXACT));
    start(&run, 3);
    gsan_access(run.gsan, run.threads[0], 1, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, 0, FLAG, FLAG + 8);
    gsan_access(run.gsan, run.threads[1], 2, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, 0, FLAG, FLAG + 4);
    assert_int_equal(run.reported, 1);
    assert_int_equal(run.races[0].reason, GSAN_UNORDERED);
    gsan_access(run.gsan, run.threads[2], 3, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, 0, FLAG + 4, FLAG + 4096);
    assert_int_equal(run.reported, 1); /* elements of unknown size */
    is_fine(&run);
}

static void strong_accesses_of_the_same_elements_go_together(void **state) {
    (void)state;
    static const struct {
        uint64_t begin, end;
        uint32_t element;
        int reported;
    } seconds[] = {
        {FLAG, FLAG + 12, 4, 0}, {FLAG + 4, FLAG + 8, 4, 0}, {FLAG + 8, FLAG + 4096, 4, 0},
        {FLAG, FLAG + 16, 0, 0}, {FLAG, FLAG + 16, 8, 1},    {FLAG + 2, FLAG + 6, 4, 1},
    };
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        RUN(run, in_mode(GSAN_EXACT));
        start(&run, 2);
        gsan_elements(run.gsan, run.threads[0], 1, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, 0, FLAG, FLAG + 16, 4);
        gsan_elements(run.gsan, run.threads[1], 2, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, 0, seconds[i].begin,
                      seconds[i].end, seconds[i].element);
        assert_int_equal(run.reported, seconds[i].reported);
        is_fine(&run);
    }
}

/* ---- Release and acquire ---- */

typedef struct Handoff {
    Order release, acquire;
    Scope released, acquired;
    bool orders;
    GsanMissing missing;
} Handoff;

static void check_handoff(GsanMode mode, const Handoff *handoff, AccessKind write, AccessKind read) {
    RUN(run, in_mode(mode));
    start(&run, 2);
    weak(&run, WRITER, KIND_WRITE, DATA, 32);
    strong(&run, WRITER, write, handoff->release, handoff->released);
    strong(&run, READER, read, handoff->acquire, handoff->acquired);
    unsigned reported = run.reported;
    weak(&run, READER, KIND_READ, DATA, 32);
    assert_int_equal(run.reported - reported, !handoff->orders);
    if (!handoff->orders && mode == GSAN_EXACT) {
        const GsanRace *race = &run.races[run.reported - 1];
        assert_int_equal(race->missing, handoff->missing);
        assert_int_equal(race->released_site, 100 + write);
        assert_int_equal(race->acquired_site, 110 + read);
        assert_int_equal(race->reason, handoff->missing == GSAN_TOO_NARROW ? GSAN_NARROW : GSAN_UNORDERED);
    }
    is_fine(&run);
}

static void a_release_and_an_acquire_make_an_edge(void **state) {
    (void)state;
    static const Handoff handoffs[] = {
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_GPU, true, GSAN_NO_PAIR},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_SYS, SCOPE_GPU, true, GSAN_NO_PAIR},
        {ORDER_RELEASE, ORDER_RELAXED, SCOPE_GPU, SCOPE_GPU, false, GSAN_NO_ACQUIRE},
        {ORDER_RELAXED, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_GPU, false, GSAN_NO_RELEASE},
        {ORDER_RELAXED, ORDER_RELAXED, SCOPE_SYS, SCOPE_SYS, false, GSAN_NO_RELEASE_NO_ACQUIRE},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_CTA, SCOPE_GPU, false, GSAN_TOO_NARROW},
        {ORDER_RELEASE, ORDER_ACQUIRE, SCOPE_GPU, SCOPE_CLUSTER, false, GSAN_TOO_NARROW},
    };
    IN_BOTH_MODES(mode)
    for (size_t i = 0; i < sizeof handoffs / sizeof *handoffs; i++)
        for (AccessKind write = KIND_WRITE; write <= KIND_UPDATE; write++)
            for (AccessKind read = KIND_READ; read <= KIND_UPDATE; read += 2)
                check_handoff(mode, &handoffs[i], write, read);
}

static void what_comes_after_a_release_is_not_released(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        strong(&run, WRITER, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        weak(&run, WRITER, KIND_WRITE, DATA, 4);
        strong(&run, READER, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        assert_int_equal(weak(&run, READER, KIND_READ, DATA, 4), 1);
        is_fine(&run);
    }
}

static void edges_are_transitive(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int acquires = 0; acquires < 2; acquires++) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
        strong(&run, 1, KIND_READ, acquires ? ORDER_ACQUIRE : ORDER_RELAXED, SCOPE_GPU);
        gsan_access(run.gsan, run.threads[1], 1, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 0, FLAG + 64, FLAG + 68);
        gsan_access(run.gsan, run.threads[2], 2, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 0, FLAG + 64, FLAG + 68);
        assert_int_equal(weak(&run, 2, KIND_READ, DATA, 4), !acquires);
        is_fine(&run);
    }
}

/* What CTA 1 does to the flag between the release of CTA 0 and the acquire of CTA 2. */
static unsigned races_after(GsanMode mode, uint32_t cta, AccessKind kind, Order order) {
    RUN(run, in_mode(mode));
    start(&run, 3);
    weak(&run, 0, KIND_WRITE, DATA, 4);
    strong(&run, 0, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
    strong(&run, cta, kind, order, SCOPE_GPU);
    assert_int_equal(run.reported, order == ORDER_WEAK);
    strong(&run, 2, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
    unsigned races = weak(&run, 2, KIND_READ, DATA, 4);
    is_fine(&run);
    return races;
}

static void updates_pass_a_release_on_and_stores_end_it(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        assert_int_equal(races_after(mode, 1, KIND_UPDATE, ORDER_RELAXED), 0);
        assert_int_equal(races_after(mode, 1, KIND_UPDATE, ORDER_ACQUIRE), 0);
        assert_int_equal(races_after(mode, 1, KIND_UPDATE, ORDER_RELEASE), 0);
        assert_int_equal(races_after(mode, 1, KIND_WRITE, ORDER_RELAXED), 1);
        assert_int_equal(races_after(mode, 1, KIND_WRITE, ORDER_RELEASE), 1);
        assert_int_equal(races_after(mode, 0, KIND_WRITE, ORDER_RELAXED), 0); /* its own */
    }
}

static void a_plain_store_ends_a_release_sequence(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        strong(&run, 0, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU);
        weak(&run, 0, KIND_WRITE, FLAG, 4);
        strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), 1);
        is_fine(&run);
    }
}

static void an_acquire_gets_all_that_have_released(void **state) {
    (void)state;
    enum { WRITERS = 20 };
    IN_BOTH_MODES(mode) {
        GsanOptions options = in_mode(mode);
        options.threads_per_device = WRITERS + 1;
        RUN(run, options);
        start(&run, WRITERS + 1);
        for (uint32_t i = 0; i < WRITERS; i++) {
            weak(&run, i, KIND_WRITE, DATA + 4 * i, 4);
            strong(&run, i, KIND_UPDATE, i % 2 ? ORDER_ACQ_REL : ORDER_RELEASE, SCOPE_GPU);
        }
        strong(&run, WRITERS, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        weak(&run, WRITERS, KIND_READ, DATA, 4 * WRITERS);
        assert_int_equal(run.reported, 0);
        is_fine(&run);
    }
}

/* The weak write that a flag begins with is before the one that acquires from its writer. */
static void an_acquire_counts_for_the_access_itself(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_EXACT));
    start(&run, 2);
    weak(&run, 0, KIND_WRITE, FLAG, 4);
    strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
    assert_int_equal(strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU), 0);
    is_fine(&run);
}

/* ---- Fences ---- */

static unsigned races_with_fences(GsanMode mode, Scope released, Scope acquired, Scope accessed) {
    RUN(run, in_mode(mode));
    start(&run, 2);
    weak(&run, WRITER, KIND_WRITE, DATA, 4);
    if (released)
        fence(&run, WRITER, ORDER_ACQ_REL, released);
    strong(&run, WRITER, KIND_WRITE, ORDER_RELAXED, accessed);
    strong(&run, READER, KIND_READ, ORDER_RELAXED, accessed);
    if (acquired)
        fence(&run, READER, ORDER_ACQ_REL, acquired);
    unsigned reported = run.reported;
    weak(&run, READER, KIND_READ, DATA, 4);
    reported = run.reported - reported;
    is_fine(&run);
    return reported;
}

static void fences_make_relaxed_accesses_an_edge(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        assert_int_equal(races_with_fences(mode, SCOPE_GPU, SCOPE_GPU, SCOPE_GPU), 0);
        assert_int_equal(races_with_fences(mode, SCOPE_SYS, SCOPE_GPU, SCOPE_SYS), 0);
        assert_int_equal(races_with_fences(mode, SCOPE_NONE, SCOPE_GPU, SCOPE_GPU), 1);
        assert_int_equal(races_with_fences(mode, SCOPE_GPU, SCOPE_NONE, SCOPE_GPU), 1);
        assert_int_equal(races_with_fences(mode, SCOPE_CTA, SCOPE_GPU, SCOPE_GPU), 1);
        assert_int_equal(races_with_fences(mode, SCOPE_GPU, SCOPE_CTA, SCOPE_GPU), 1);
        assert_int_equal(races_with_fences(mode, SCOPE_GPU, SCOPE_GPU, SCOPE_CTA), 1);
    }
}

static void a_fence_publishes_what_was_before_it_only(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, WRITER, KIND_WRITE, DATA, 4);
        fence(&run, WRITER, ORDER_RELEASE, SCOPE_GPU);
        weak(&run, WRITER, KIND_WRITE, DATA + 4, 4);
        strong(&run, WRITER, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, READER, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        assert_int_equal(weak(&run, READER, KIND_READ, DATA, 4), 0);
        assert_int_equal(weak(&run, READER, KIND_READ, DATA + 4, 4), 1);
        is_fine(&run);
    }
}

/* ---- Launches ---- */

static void a_launch_comes_after_those_it_names(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int is_after = 0; is_after < 2; is_after++) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        weak(&run, 1, KIND_WRITE, DATA + 4, 4);
        gsan_end(run.gsan, run.threads[0]);
        gsan_end(run.gsan, run.threads[1]);
        uint32_t after[] = {0};
        uint32_t second = gsan_launch(
            run.gsan, &(GsanLaunch){.device = 1, .ctas = 1, .after = after, .after_count = (uint32_t)is_after});
        after[0] = second;
        uint32_t third = gsan_launch(run.gsan, &(GsanLaunch){.device = 0, .ctas = 1, .after = after, .after_count = 1});
        run.threads[1] = gsan_begin(run.gsan, second, 0);
        gsan_end(run.gsan, run.threads[1]);
        run.threads[1] = gsan_begin(run.gsan, third, 0);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 8) != 0, !is_after);
        is_fine(&run);
    }
}

static void a_dependent_launch_has_to_wait(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (int waits = 0; waits < 2; waits++) {
        RUN(run, in_mode(mode));
        start(&run, 1);
        uint32_t first = 0;
        uint32_t second =
            gsan_launch(run.gsan, &(GsanLaunch){.device = 0, .ctas = 1, .awaited = &first, .awaited_count = 1});
        run.threads[1] = gsan_begin(run.gsan, second, 0);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        gsan_end(run.gsan, run.threads[0]);
        if (waits)
            gsan_await_launches(run.gsan, run.threads[1]);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), !waits);
        is_fine(&run);
    }
}

/* A later CTA on the same thread of a device is another CTA. */
static void a_thread_that_is_used_again_is_not_its_former_cta(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        GsanOptions options = in_mode(mode);
        options.threads_per_device = 1;
        RUN(run, options);
        uint32_t number = launch(&run, 0, 3, 1);
        run.threads[0] = gsan_begin(run.gsan, number, 0);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        gsan_end(run.gsan, run.threads[0]);
        run.threads[1] = gsan_begin(run.gsan, number, 1);
        assert_int_equal(run.threads[0] == run.threads[1], mode == GSAN_SAMPLED);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), 1);
        assert_int_equal(run.races[0].earlier.cta, mode == GSAN_SAMPLED ? UINT32_MAX : 0);
        is_fine(&run);
    }
}

/* Releases of 32 threads are kept apart: one of cluster scope reaches a thread of its cluster through those of others.
 * From 33 on they are kept by scope and device, for which a cluster is too narrow. */
static void releases_are_kept_apart_by_thread_up_to_a_number(void **state) {
    (void)state;
    for (uint32_t threads = 32; threads <= 33; threads++) {
        RUN(run, in_mode(GSAN_EXACT));
        uint32_t number = launch(&run, 0, 34, 2);
        for (uint32_t i = 0; i < threads; i++)
            run.threads[i] = gsan_begin(run.gsan, number, i);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        strong(&run, 0, KIND_UPDATE, ORDER_RELEASE, SCOPE_CLUSTER);
        for (uint32_t i = 1; i < threads; i++)
            strong(&run, i, KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU);
        strong(&run, 1, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), threads > 32);
        is_fine(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unordered_accesses_race_if_one_writes),
        cmocka_unit_test(a_thread_does_not_race_with_itself),
        cmocka_unit_test(a_pair_of_sites_is_told_once_and_counted),
        cmocka_unit_test(a_granule_of_one_byte_tells_bytes_apart),
        cmocka_unit_test(a_race_is_told_with_its_whole_run),
        cmocka_unit_test(a_crowd_that_races_is_no_burden),
        cmocka_unit_test(a_launch_has_a_cta),
        cmocka_unit_test(forgotten_memory_has_no_past),
        cmocka_unit_test(strong_accesses_go_together_if_their_scopes_do),
        cmocka_unit_test(a_strong_access_races_with_a_weak_one),
        cmocka_unit_test(strong_accesses_of_other_bytes_race),
        cmocka_unit_test(strong_accesses_of_the_same_elements_go_together),
        cmocka_unit_test(a_release_and_an_acquire_make_an_edge),
        cmocka_unit_test(what_comes_after_a_release_is_not_released),
        cmocka_unit_test(edges_are_transitive),
        cmocka_unit_test(updates_pass_a_release_on_and_stores_end_it),
        cmocka_unit_test(a_plain_store_ends_a_release_sequence),
        cmocka_unit_test(an_acquire_gets_all_that_have_released),
        cmocka_unit_test(an_acquire_counts_for_the_access_itself),
        cmocka_unit_test(fences_make_relaxed_accesses_an_edge),
        cmocka_unit_test(a_fence_publishes_what_was_before_it_only),
        cmocka_unit_test(a_launch_comes_after_those_it_names),
        cmocka_unit_test(a_dependent_launch_has_to_wait),
        cmocka_unit_test(a_thread_that_is_used_again_is_not_its_former_cta),
        cmocka_unit_test(releases_are_kept_apart_by_thread_up_to_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
