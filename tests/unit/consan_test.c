/* The race engine, rule by rule: the names are the sentences of its rules. */
#include "consan_steps.h"

#include <string.h>

/* ---- Legality ------------------------------------------------------------------------------------- */

static void test_a_span_that_nothing_touched_is_free(void **state) {
    Consan *engine = engine_of(state);
    for (uint32_t actor = 0; actor < CONSAN_SET_ACTORS; actor++) {
        assert_int_equal(may_read(engine, actor, 3), CONSAN_CLEAN);
        assert_int_equal(may_write(engine, actor, 3), CONSAN_CLEAN);
    }
}

static void test_reads_are_legal_iff_the_reading_actor_sees_the_most_recent_write(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 2, 1), CONSAN_CLEAN);
    hands_over(engine, 1, 2, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_CLEAN);
    writes(engine, 1, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_writes_are_legal_iff_all_prior_writes_and_reads_are_seen(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    hands_over(engine, 1, 2, 0);
    hands_over(engine, 1, 3, 1);
    reads(engine, 2, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, 3, 0), CONSAN_OUTSTANDING_READ);
    reads(engine, 3, 0);
    hands_over(engine, 2, 1, 2);
    assert_int_equal(may_write(engine, 1, 0), CONSAN_OUTSTANDING_READ);
    hands_over(engine, 3, 1, 3);
    assert_int_equal(may_write(engine, 1, 0), CONSAN_CLEAN);
}

static void test_two_reads_are_always_legal(void **state) {
    Consan *engine = engine_of(state);
    reads(engine, 1, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_CLEAN);
    reads(engine, 2, 0);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
}

static void test_a_write_forgets_what_was_read_before_it(void **state) {
    Consan *engine = engine_of(state);
    reads(engine, 1, 0);
    hands_over(engine, 1, 2, 0);
    writes(engine, 2, 0);
    hands_over(engine, 2, 3, 1);
    assert_int_equal(consan_read_visibility(engine, 3, 0, 0), 0);
    assert_int_equal(may_write(engine, 3, 0), CONSAN_CLEAN);
}

/* The barrier has seen the older write, and says nothing of the newer one. */
static void test_a_write_takes_older_ones_off_every_barrier(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    consan_track_frontier(engine, 1, 0, 0);
    assert_true(consan_write_tracking(engine, 0, 0, 0));
    writes(engine, 1, 0);
    assert_false(consan_write_tracking(engine, 0, 0, 0));
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_a_conflict_names_the_first_span_the_other_actor_and_its_place(void **state) {
    Consan *engine = engine_of(state);
    const uint32_t all[] = {5, 4, 6}, some[] = {4, 6};
    consan_set_write(engine, TMA + 1, some, 2, 77);
    ConsanConflict conflict = consan_verify_read(engine, 2, all, 3);
    assert_int_equal(conflict.kind, CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(conflict.span, 4);
    assert_int_equal(conflict.actor, TMA + 1);
    assert_int_equal(conflict.place, 77);
    consan_set_read(engine, 7, &all[0], 1, 88);
    conflict = consan_verify_write(engine, 2, all, 3);
    assert_int_equal(conflict.kind, CONSAN_OUTSTANDING_READ);
    assert_int_equal(conflict.span, 5);
    assert_int_equal(conflict.actor, 7);
    assert_int_equal(conflict.place, 88);
    consan_stage(engine, CONSAN_STORE, 3, &(uint32_t){1}, 1, 99);
    conflict = consan_verify_write(engine, 3, &(uint32_t){1}, 1);
    assert_int_equal(conflict.kind, CONSAN_PENDING_GROUP);
    assert_int_equal(conflict.actor, 3);
    assert_int_equal(conflict.place, 99);
    assert_int_equal(conflict.group, CONSAN_STORE);
}

/* ---- Actors -------------------------------------------------------------------------------------- */

static void test_peers_are_a_base_actor_and_its_helpers(void **state) {
    (void)state;
    assert_int_equal(consan_peers(2), UINT64_C(1) << 2 | UINT64_C(1) << 18 | UINT64_C(1) << 34 | UINT64_C(1) << 50);
    for (uint32_t actor = 16; actor < CONSAN_SET_ACTORS; actor++)
        assert_int_equal(consan_peers(actor), UINT64_C(1) << actor);
}

static void test_what_a_base_actor_does_its_helpers_see(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    assert_int_equal(consan_write_visibility(engine, 0, 0), consan_peers(1));
    assert_int_equal(may_read(engine, TMA + 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, TMA + 2, 0), CONSAN_OUTSTANDING_WRITE);
    reads(engine, 1, 0);
    assert_int_equal(may_write(engine, TENSOR + 1, 0), CONSAN_CLEAN);
}

static void test_what_a_helper_does_is_seen_by_nothing_until_a_barrier_says_so(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, TMA + 1, 0);
    assert_int_equal(consan_write_visibility(engine, 0, 0), consan_peers(TMA + 1));
    assert_int_equal(may_read(engine, TMA + 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, TENSOR + 1, 0), CONSAN_OUTSTANDING_WRITE);
    hands_over(engine, TMA + 1, 1, 0);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
    reads(engine, TENSOR + 1, 0);
    assert_int_equal(may_write(engine, 1, 0), CONSAN_OUTSTANDING_READ);
    hands_over(engine, TENSOR + 1, 1, 1);
    assert_int_equal(may_write(engine, 1, 0), CONSAN_CLEAN);
}

/* ---- Barriers ------------------------------------------------------------------------------------- */

static void test_arrive_tracks_visible_reads_and_writes(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    writes(engine, 2, 1);
    reads(engine, 1, 2);
    reads(engine, 2, 2);
    consan_track_frontier(engine, 1, 3, 0);
    assert_true(consan_write_tracking(engine, 3, 0, 0));
    assert_false(consan_write_tracking(engine, 3, 0, 1));
    assert_int_equal(consan_read_tracking(engine, 3, 0, 2, 0), 1 << 1);
    consan_track_frontier(engine, 2, 3, 0);
    assert_true(consan_write_tracking(engine, 3, 0, 1));
    assert_int_equal(consan_read_tracking(engine, 3, 0, 2, 0), 1 << 1 | 1 << 2);
}

static void test_arrive_tracks_what_a_helper_sees_through_its_base_actor(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    writes(engine, TENSOR + 1, 2);
    consan_track_frontier(engine, TENSOR + 1, 0, 0);
    assert_true(consan_write_tracking(engine, 0, 0, 0));
    assert_int_equal(consan_read_tracking(engine, 0, 0, 1, 0), 1 << 1);
    assert_true(consan_write_tracking(engine, 0, 0, 2));
    consan_track_frontier(engine, TMA + 1, 1, 0);
    assert_false(consan_write_tracking(engine, 1, 0, 2));
}

static void test_wait_transfers_to_peers(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    hands_over(engine, 1, 2, 0);
    assert_int_equal(consan_write_visibility(engine, 0, 0), consan_peers(1) | consan_peers(2));
    assert_int_equal(consan_read_visibility(engine, 2, 1, 0), 1 << 1);
    assert_int_equal(consan_read_visibility(engine, TMA + 2, 1, 0), 1 << 1);
    assert_int_equal(consan_read_visibility(engine, TENSOR + 2, 1, 0), 1 << 1);
    assert_int_equal(consan_read_visibility(engine, CONSAN_CLC + 2, 1, 0), 1 << 1);
    assert_int_equal(consan_read_visibility(engine, 3, 1, 0), 0);
}

static void test_visibility_is_transitive(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    hands_over(engine, 1, 2, 0);
    hands_over(engine, 2, 3, 1);
    assert_int_equal(may_read(engine, 3, 0), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, 3, 1), CONSAN_CLEAN);
}

static void test_a_wait_takes_nothing_from_the_barrier(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    hands_over(engine, 1, 2, 0);
    consan_transfer(engine, 3, 0, 0);
    consan_transfer(engine, 3, 0, 0);
    assert_int_equal(may_read(engine, 3, 0), CONSAN_CLEAN);
}

static void test_what_comes_after_the_arrival_is_not_published(void **state) {
    Consan *engine = engine_of(state);
    consan_track_frontier(engine, 1, 0, 0);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_write(engine, 2, 1), CONSAN_OUTSTANDING_READ);
}

static void test_tracking_is_per_phase(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    consan_track_frontier(engine, 1, 0, 0);
    consan_begin_phase(engine, 0, 1);
    writes(engine, 1, 1);
    consan_track_frontier(engine, 1, 0, 1);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 2, 1), CONSAN_OUTSTANDING_WRITE);
    consan_transfer(engine, 2, 0, 1);
    assert_int_equal(may_read(engine, 2, 1), CONSAN_CLEAN);
}

static void test_a_phase_forgets_what_the_one_of_its_parity_before_published(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    consan_track_frontier(engine, 1, 0, 0);
    consan_begin_phase(engine, 0, 1);
    assert_true(consan_write_tracking(engine, 0, 0, 0));
    consan_begin_phase(engine, 0, 0);
    assert_false(consan_write_tracking(engine, 0, 0, 0));
    assert_int_equal(consan_read_tracking(engine, 0, 0, 1, 0), 0);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_helper_completion_publishes_only_its_bytes(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    writes(engine, TMA + 1, 1);
    writes(engine, TMA + 1, 2);
    consan_track_writes(engine, &(uint32_t){1}, 1, 0, 0);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 1), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 2, 2), CONSAN_OUTSTANDING_WRITE);
}

static void test_helper_completion_publishes_what_it_read(void **state) {
    Consan *engine = engine_of(state);
    reads(engine, 1, 0);
    reads(engine, TMA + 1, 1);
    reads(engine, TMA + 1, 2);
    consan_track_reads(engine, TMA + 1, &(uint32_t){0}, 1, 0, 0); /* another's */
    consan_track_reads(engine, TMA + 1, &(uint32_t){1}, 1, 0, 0);
    assert_int_equal(may_write(engine, 2, 1), CONSAN_OUTSTANDING_READ);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_write(engine, 2, 1), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_OUTSTANDING_READ);
    assert_int_equal(may_write(engine, 2, 2), CONSAN_OUTSTANDING_READ);
    assert_int_equal(may_write(engine, 3, 1), CONSAN_OUTSTANDING_READ);
}

static void test_one_bit_per_reader_second_read_revokes(void **state) {
    Consan *engine = engine_of(state);
    reads(engine, 1, 0);
    hands_over(engine, 1, 2, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_CLEAN);
    consan_track_frontier(engine, 1, 1, 0);
    reads(engine, 1, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_OUTSTANDING_READ);
    assert_int_equal(consan_read_tracking(engine, 1, 0, 0, 0), 0);
    consan_transfer(engine, 2, 1, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_OUTSTANDING_READ);
    hands_over(engine, 1, 2, 2);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_CLEAN);
}

/* ---- Groups --------------------------------------------------------------------------------------- */

static void test_stage_marks_minus_one(void **state) {
    Consan *engine = engine_of(state);
    for (int group = 0; group < CONSAN_GROUPS; group++) {
        stages(engine, (ConsanGroup)group, 2, 1);
        assert_int_equal(consan_outstanding_commits(engine, (ConsanGroup)group, 2, 1), -1);
        assert_int_equal(consan_outstanding_commits(engine, (ConsanGroup)group, 2, 0), 0);
        assert_int_equal(consan_outstanding_commits(engine, (ConsanGroup)group, 1, 1), 0);
    }
}

static void test_commit_turns_staged_into_one_and_increments_others(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    stages(engine, CONSAN_COPY, 2, 0);
    stages(engine, CONSAN_WGMMA, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    stages(engine, CONSAN_COPY, 1, 1);
    consan_commit(engine, CONSAN_COPY, 1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 0), 2);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 1), 1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 2, 0), -1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_WGMMA, 1, 0), -1);
    for (int i = 0; i < 300; i++)
        consan_commit(engine, CONSAN_COPY, 1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 0), INT8_MAX);
}

static void test_a_pending_copy_forbids_every_access_by_anything(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_PENDING_GROUP);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_PENDING_GROUP);
    consan_commit(engine, CONSAN_COPY, 1);
    assert_int_equal(may_write(engine, TMA + 3, 0), CONSAN_PENDING_GROUP);
}

static void test_a_pending_read_forbids_writes_by_anything(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_WGMMA, 1, 0);
    stages(engine, CONSAN_STORE, 1, 1);
    for (uint32_t span = 0; span < 2; span++) {
        assert_int_equal(may_read(engine, 2, span), CONSAN_CLEAN);
        assert_int_equal(may_write(engine, 1, span), CONSAN_PENDING_GROUP);
        assert_int_equal(may_write(engine, 2, span), CONSAN_PENDING_GROUP);
    }
}

static void test_cp_async_wait_clears_above_n_and_sets_write_visibility(void **state) {
    Consan *engine = engine_of(state);
    for (uint32_t span = 0; span < 3; span++) {
        stages(engine, CONSAN_COPY, 1, span);
        if (span < 2)
            consan_commit(engine, CONSAN_COPY, 1);
    }
    consan_clear(engine, CONSAN_COPY, 1, 1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 0), 0);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 1), 1);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 2), -1);
    assert_int_equal(consan_write_visibility(engine, 0, 0), consan_peers(1));
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 1, 1), CONSAN_PENDING_GROUP);
    consan_clear(engine, CONSAN_COPY, 1, 0);
    assert_int_equal(may_read(engine, 1, 1), CONSAN_CLEAN);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 2), -1);
}

static void test_wgmma_wait_clears_above_n_and_makes_the_reads_those_of_its_actor(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_WGMMA, 1, 0);
    consan_commit(engine, CONSAN_WGMMA, 1);
    stages(engine, CONSAN_WGMMA, 1, 1);
    consan_commit(engine, CONSAN_WGMMA, 1);
    consan_clear(engine, CONSAN_WGMMA, 1, 1);
    assert_int_equal(may_write(engine, 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_OUTSTANDING_READ);
    assert_int_equal(may_write(engine, 1, 1), CONSAN_PENDING_GROUP);
    hands_over(engine, 1, 2, 0);
    assert_int_equal(may_write(engine, 2, 0), CONSAN_CLEAN);
}

static void test_the_wait_of_another_actor_clears_nothing(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    consan_clear(engine, CONSAN_COPY, 2, 0);
    consan_clear(engine, CONSAN_WGMMA, 1, 0);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, 0), 1);
}

/* What others saw was the write before it. */
static void test_a_copy_that_is_over_is_the_latest_write(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 1, 0);
    consan_track_frontier(engine, 1, 0, 0);
    reads(engine, 1, 0);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    consan_clear(engine, CONSAN_COPY, 1, 0);
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(consan_read_visibility(engine, 1, 0, 0), 0);
}

static void test_copies_that_report_to_a_barrier_are_over_with_its_phase(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    stages(engine, CONSAN_COPY, 1, 1);
    consan_track_copies(engine, 1, 0, 0);
    for (uint32_t span = 0; span < 2; span++) {
        assert_int_equal(consan_outstanding_commits(engine, CONSAN_COPY, 1, span), 0);
        assert_int_equal(may_read(engine, 1, span), CONSAN_OUTSTANDING_WRITE);
    }
    consan_transfer(engine, 2, 0, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 2, 1), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_copies_that_report_to_a_barrier_are_still_counted_by_their_group(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    stages(engine, CONSAN_COPY, 1, 1);
    consan_track_copies(engine, 1, 0, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    consan_clear(engine, CONSAN_COPY, 1, 1);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 1, 1), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    consan_clear(engine, CONSAN_COPY, 1, 0);
    assert_int_equal(may_read(engine, 1, 1), CONSAN_CLEAN);
}

static void test_that_a_reported_copy_is_over_says_nothing_of_a_later_write(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_commit(engine, CONSAN_COPY, 1);
    consan_track_copies(engine, 1, 0, 0);
    writes(engine, 2, 0);
    consan_clear(engine, CONSAN_COPY, 1, 0);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_a_later_arrival_is_for_copies_that_reported_before_too(void **state) {
    Consan *engine = engine_of(state);
    stages(engine, CONSAN_COPY, 1, 0);
    consan_track_copies(engine, 1, 0, 0);
    consan_track_copies(engine, 1, 1, 0);
    consan_transfer(engine, 2, 1, 0);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 3, 0), CONSAN_OUTSTANDING_WRITE);
}

/* ---- Partitions ----------------------------------------------------------------------------------- */

static void test_fork_copies_what_the_parent_sees(void **state) {
    Consan *engine = engine_of(state);
    writes(engine, 0, 0);
    reads(engine, 0, 1);
    writes(engine, TMA, 2);
    consan_fork(engine, 0, 1);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, TENSOR + 1, 0), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, 1, 1), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 1, 2), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
}

static void test_fork_copies_join_publishes_base_actor_only(void **state) {
    Consan *engine = engine_of(state);
    consan_fork(engine, 0, 1);
    writes(engine, 1, 0);
    reads(engine, 1, 1);
    writes(engine, TMA + 1, 2);
    reads(engine, TENSOR + 1, 3);
    consan_join(engine, 0, 1);
    assert_int_equal(may_read(engine, 0, 0), CONSAN_CLEAN);
    assert_int_equal(may_write(engine, TENSOR, 1), CONSAN_CLEAN);
    assert_int_equal(may_read(engine, 0, 2), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_write(engine, 0, 3), CONSAN_OUTSTANDING_READ);
}

static void test_what_helpers_have_not_finished_stays_unfinished_across_a_fork(void **state) {
    Consan *engine = engine_of(state);
    consan_fork(engine, 0, 1);
    writes(engine, TENSOR + 1, 0);
    reads(engine, TENSOR + 1, 1);
    consan_join(engine, 0, 1);
    consan_fork(engine, 0, 1);
    assert_int_equal(may_read(engine, 1, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_write(engine, 1, 1), CONSAN_OUTSTANDING_READ);
    assert_int_equal(may_write(engine, TENSOR + 1, 0), CONSAN_CLEAN);
}

/* ---- Spans ---------------------------------------------------------------------------------------- */

static void test_split_span_keeps_the_past(void **state) {
    Consan *engine = engine_of(state);
    while (engine->spans < 100)
        consan_span(engine, 0);
    writes(engine, TMA + 1, 0);
    hands_over(engine, TMA + 1, 2, 0);
    reads(engine, 2, 0);
    consan_track_frontier(engine, 2, 1, 1);
    stages(engine, CONSAN_WGMMA, 2, 0);
    consan_commit(engine, CONSAN_WGMMA, 2);
    uint32_t half = consan_split(engine, 0);
    assert_int_equal(half, 100);
    assert_int_equal(consan_write_visibility(engine, half, 0), consan_write_visibility(engine, 0, 0));
    for (uint32_t actor = 0; actor < CONSAN_SET_ACTORS; actor++)
        assert_int_equal(consan_read_visibility(engine, actor, half, 0), consan_read_visibility(engine, actor, 0, 0));
    assert_true(consan_write_tracking(engine, 0, 0, half));
    assert_int_equal(consan_read_tracking(engine, 1, 1, half, 0), 1 << 2);
    assert_int_equal(consan_outstanding_commits(engine, CONSAN_WGMMA, 2, half), 1);
    ConsanConflict conflict = consan_verify_read(engine, 3, &half, 1);
    assert_int_equal(conflict.kind, CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(conflict.actor, TMA + 1);
    writes(engine, 5, 0); /* and from now on they go their own ways */
    assert_int_equal(may_read(engine, 2, 0), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(may_read(engine, 2, half), CONSAN_CLEAN);
}

static void test_there_are_as_many_spans_as_were_asked_for(void **state) {
    Consan *engine = engine_of(state);
    while (engine->spans < SPANS) {
        uint32_t next = engine->spans;
        assert_int_equal(consan_span(engine, 0), next);
    }
    assert_int_equal(consan_span(engine, 0), UINT32_MAX);
    assert_int_equal(consan_split(engine, 0), UINT32_MAX);
}

static void test_reset_forgets_everything_but_the_spans(void **state) {
    Consan *engine = engine_of(state);
    consan_fork(engine, 0, 1);
    writes(engine, TMA + 1, 0);
    reads(engine, 1, 1);
    consan_track_frontier(engine, TMA + 1, 2, 1);
    stages(engine, CONSAN_COPY, 4, 2);
    stages(engine, CONSAN_STORE, 4, 3);
    consan_reset(engine);
    assert_int_equal(engine->spans, 8);
    consan_transfer(engine, 2, 2, 1);
    consan_commit(engine, CONSAN_COPY, 4);
    for (uint32_t span = 0; span < engine->spans; span++) {
        assert_int_equal(consan_write_visibility(engine, span, 0), 0);
        assert_false(consan_write_tracking(engine, 2, 1, span));
        for (uint32_t actor = 0; actor < CONSAN_SET_ACTORS; actor++) {
            assert_int_equal(consan_read_visibility(engine, actor, span, 0), 0);
            assert_int_equal(may_write(engine, actor, span), CONSAN_CLEAN);
        }
    }
}

typedef struct Scarce {
    Arena *arena;
    uint32_t left;
} Scarce;

static void *take_scarce(void *context, size_t size) {
    Scarce *scarce = context;
    return scarce->left-- ? arena_zalloc(scarce->arena, size) : NULL;
}

static void test_that_there_is_no_memory_is_said(void **state) {
    Fixture *fixture = *state;
    Consan engine;
    uint32_t enough = 0;
    ConsanSize size = {.agents = 40, .homes = 2, .spans = 8, .barriers = 8};
    Scarce scarce = {&fixture->arena, enough};
    while (!consan_create(&engine, &size, take_scarce, &scarce))
        scarce.left = ++enough;
    scarce.left = 0;
    assert_in_range(enough, 1, 32);
    assert_int_equal(consan_span(&engine, 0), UINT32_MAX);
    assert_true(engine.exhausted);
    assert_false(consan_create(&engine, &(ConsanSize){.agents = CONSAN_MOST_AGENTS + 1}, take, &fixture->arena));
    assert_false(consan_create(&engine, &(ConsanSize){.barriers = 1 << 20}, take, &fixture->arena));
    assert_false(consan_create(&engine, &(ConsanSize){.homes = 1 << 10, .spans = 1 << 20}, take, &fixture->arena));
}

/* An access that there is no memory for is not forgotten in silence. */
static void test_memory_that_runs_out_later_is_said(void **state) {
    Fixture *fixture = *state;
    Consan engine;
    ConsanSize size = {.agents = 1, .spans = 8, .barriers = 8};
    Scarce scarce = {&fixture->arena, 1000};
    assert_true(consan_create(&engine, &size, take_scarce, &scarce));
    assert_int_equal(consan_span(&engine, 0), 0);
    scarce.left = 0;
    reads(&engine, 1, 0);
    assert_true(engine.exhausted);
    stages(&engine, CONSAN_STORE, 1, 0);
}

/* What an arrival in flight reports is settled when it is issued, and comes to the phase that is open when it lands. */
static void test_an_announced_arrival_publishes_what_was_seen_then(void **state) {
    Consan *engine = &((Fixture *)*state)->engine;
    const uint32_t first = 0, second = 1;
    consan_set_write(engine, TENSOR + 0, &first, 1, 1);
    consan_track_frontier(engine, TENSOR + 0, 5, 0);
    consan_set_write(engine, TENSOR + 0, &second, 1, 2);
    consan_hand_on(engine, 5, 0, 0, 1);
    consan_transfer(engine, 2, 5, 0); /* nothing is left there */
    assert_int_equal(consan_verify_read(engine, 2, &first, 1).kind, CONSAN_OUTSTANDING_WRITE);
    consan_transfer(engine, 2, 0, 1);
    assert_int_equal(consan_verify_read(engine, 2, &first, 1).kind, CONSAN_CLEAN);
    assert_int_equal(consan_verify_read(engine, 2, &second, 1).kind, CONSAN_OUTSTANDING_WRITE);
}

/* Which barrier hands a span over is remembered, of what was new to the one that waited. */
static void test_a_barrier_that_hands_memory_over_is_known(void **state) {
    Consan *engine = &((Fixture *)*state)->engine;
    const uint32_t span = 0;
    assert_false(consan_written(engine, span));
    consan_set_write(engine, 0, &span, 1, 1);
    assert_true(consan_written(engine, span));
    consan_track_frontier(engine, 0, 0, 0);
    consan_track_frontier(engine, 0, 1, 0);
    consan_transfer(engine, 2, 0, 0);
    consan_transfer(engine, 2, 1, 0);
    assert_true(consan_forwarded(engine, 0, span));
    assert_false(consan_forwarded(engine, 1, span)); /* it knew that already */
    assert_true(consan_forwarded(engine, 0, consan_split(engine, span)));
    consan_reset(engine);
    assert_false(consan_forwarded(engine, 0, span));
}

/* Zeroed memory, and behind it what is not. */
static void *take_before_garbage(void *context, size_t size) {
    uint8_t *memory = arena_alloc(context, size + 256);
    memset(memory, 0, size);
    memset(memory + size, 0xff, 256);
    return memory;
}

static void test_no_span_is_behind_the_last_word(void **state) {
    (void)state;
    Arena arena;
    Consan engine;
    arena_init(&arena, (size_t)1 << 24);
    assert_true(consan_create(&engine, &(ConsanSize){.agents = 1, .spans = CONSAN_LANES}, take_before_garbage, &arena));
    for (uint32_t span = 0; span < CONSAN_LANES; span++)
        assert_int_equal(consan_span(&engine, 0), span);
    assert_int_equal(consan_span(&engine, 0), UINT32_MAX);
    assert_int_equal(consan_next_span(&engine, UINT32_MAX, CONSAN_LANES - 1), CONSAN_LANES - 1);
    assert_int_equal(consan_next_span(&engine, UINT32_MAX, CONSAN_LANES), UINT32_MAX);
    arena_free(&arena);
}

/* Memory of each that was asked for, and a byte behind it that is not theirs. */
typedef struct Fenced {
    Arena arena;
    uint8_t *fences[128];
    uint32_t count;
} Fenced;

static void *take_fenced(void *context, size_t size) {
    Fenced *fenced = context;
    uint8_t *memory = arena_zalloc(&fenced->arena, size + 1);
    assert_true(fenced->count < 128);
    fenced->fences[fenced->count++] = memory + size;
    memory[size] = 0xff;
    return memory;
}

static void test_reset_keeps_to_its_own_memory(void **state) {
    (void)state;
    Fenced fenced = {.count = 0};
    Consan engine;
    arena_init(&fenced.arena, (size_t)1 << 24);
    assert_true(consan_create(&engine, &(ConsanSize){.agents = 1, .spans = 2, .barriers = 3}, take_fenced, &fenced));
    uint32_t span = consan_span(&engine, 0);
    writes(&engine, 0, span);
    reads(&engine, 1, span);
    consan_track_frontier(&engine, 0, 2, 1);
    stages(&engine, CONSAN_COPY, 0, span);
    assert_int_not_equal(consan_split(&engine, span), UINT32_MAX);
    consan_reset(&engine);
    for (uint32_t i = 0; i < fenced.count; i++)
        assert_int_equal(*fenced.fences[i], 0xff);
    arena_free(&fenced.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RULE(a_span_that_nothing_touched_is_free),
        RULE(no_span_is_behind_the_last_word),
        RULE(reset_keeps_to_its_own_memory),
        RULE(an_announced_arrival_publishes_what_was_seen_then),
        RULE(a_barrier_that_hands_memory_over_is_known),
        RULE(reads_are_legal_iff_the_reading_actor_sees_the_most_recent_write),
        RULE(writes_are_legal_iff_all_prior_writes_and_reads_are_seen),
        RULE(two_reads_are_always_legal),
        RULE(a_write_forgets_what_was_read_before_it),
        RULE(a_write_takes_older_ones_off_every_barrier),
        RULE(a_conflict_names_the_first_span_the_other_actor_and_its_place),
        RULE(peers_are_a_base_actor_and_its_helpers),
        RULE(what_a_base_actor_does_its_helpers_see),
        RULE(what_a_helper_does_is_seen_by_nothing_until_a_barrier_says_so),
        RULE(arrive_tracks_visible_reads_and_writes),
        RULE(arrive_tracks_what_a_helper_sees_through_its_base_actor),
        RULE(wait_transfers_to_peers),
        RULE(visibility_is_transitive),
        RULE(a_wait_takes_nothing_from_the_barrier),
        RULE(what_comes_after_the_arrival_is_not_published),
        RULE(tracking_is_per_phase),
        RULE(a_phase_forgets_what_the_one_of_its_parity_before_published),
        RULE(helper_completion_publishes_only_its_bytes),
        RULE(helper_completion_publishes_what_it_read),
        RULE(one_bit_per_reader_second_read_revokes),
        RULE(stage_marks_minus_one),
        RULE(memory_that_runs_out_later_is_said),
        RULE(commit_turns_staged_into_one_and_increments_others),
        RULE(a_pending_copy_forbids_every_access_by_anything),
        RULE(a_pending_read_forbids_writes_by_anything),
        RULE(cp_async_wait_clears_above_n_and_sets_write_visibility),
        RULE(wgmma_wait_clears_above_n_and_makes_the_reads_those_of_its_actor),
        RULE(the_wait_of_another_actor_clears_nothing),
        RULE(a_copy_that_is_over_is_the_latest_write),
        RULE(copies_that_report_to_a_barrier_are_over_with_its_phase),
        RULE(copies_that_report_to_a_barrier_are_still_counted_by_their_group),
        RULE(that_a_reported_copy_is_over_says_nothing_of_a_later_write),
        RULE(a_later_arrival_is_for_copies_that_reported_before_too),
        RULE(fork_copies_what_the_parent_sees),
        RULE(fork_copies_join_publishes_base_actor_only),
        RULE(what_helpers_have_not_finished_stays_unfinished_across_a_fork),
        RULE(split_span_keeps_the_past),
        RULE(there_are_as_many_spans_as_were_asked_for),
        RULE(reset_forgets_everything_but_the_spans),
        RULE(that_there_is_no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
