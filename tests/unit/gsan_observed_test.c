/* The global race engine: what a strong read or an update has observed is before what comes after it. */
#include "gsan_runs.h"

#include <stdlib.h>

/* Another flag, for order between two CTAs. */
static void hand_over(Run *run, uint32_t from, uint32_t to) {
    uint64_t flag = FLAG + 256 + 64 * from;
    gsan_access(run->gsan, run->threads[from], 1, KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, GSAN_NO_TICKET, flag, flag + 4);
    gsan_access(run->gsan, run->threads[to], 2, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, GSAN_NO_TICKET, flag, flag + 4);
}

/* The counter of a grid: the last one puts it back. */
static void the_last_update_has_observed_all_others(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (AccessKind kind = KIND_READ; kind <= KIND_WRITE; kind++) {
        RUN(run, in_mode(mode));
        start(&run, 6);
        for (uint32_t i = 0; i < 6; i++)
            strong(&run, i, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(weak(&run, 5, kind, FLAG, 4), 0);
        is_fine(&run);
    }
}

static void an_earlier_update_has_not_observed_later_ones(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        for (uint32_t i = 0; i < 3; i++)
            strong(&run, i, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_WRITE, FLAG, 4), 1);
        assert_int_equal(run.races[0].earlier.cta, 2);
        is_fine(&run);
    }
}

/* CTA 0 sets a flag, CTA 1 reads it, CTA 2 follows one of them, or nothing. */
static void what_follows_an_observer_may_be_weak(void **state) {
    (void)state;
    IN_BOTH_MODES(mode)
    for (uint32_t who = 0; who < 4; who++) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        strong(&run, 0, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 1, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        if (who < 2)
            hand_over(&run, who, 2);
        assert_int_equal(weak(&run, who == 3 ? 1 : 2, KIND_READ, FLAG, 4), who == 2);
        is_fine(&run);
    }
}

static void only_the_write_itself_is_observed(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 2);
        weak(&run, 0, KIND_WRITE, DATA, 4);
        strong(&run, 0, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 1, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_WRITE, FLAG, 4), 0);
        assert_int_equal(weak(&run, 1, KIND_READ, DATA, 4), 1);
        is_fine(&run);
    }
}

/* A store has not read what was there; a sampled cell has only the last write. */
static void a_store_ends_a_chain(void **state) {
    (void)state;
    for (AccessKind kind = KIND_WRITE; kind <= KIND_UPDATE; kind++)
        for (uint32_t second = 0; second < 2; second++) {
            RUN(run, in_mode(GSAN_EXACT));
            start(&run, 3);
            strong(&run, 0, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
            strong(&run, second, kind, ORDER_RELAXED, SCOPE_GPU);
            strong(&run, 2, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
            assert_int_equal(weak(&run, 2, KIND_WRITE, FLAG, 4), kind == KIND_WRITE);
            is_fine(&run);
        }
}

static void a_read_is_not_observed(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        strong(&run, 0, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 2, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 1, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_READ, FLAG, 4), 0);
        assert_int_equal(weak(&run, 1, KIND_WRITE, FLAG, 4), 1);
        assert_int_equal(run.races[0].earlier.kind, KIND_READ);
        is_fine(&run);
    }
}

/* CTA 1 is in between, with a scope that has CTA 0 or not. */
static void every_link_of_a_chain_is_morally_strong(void **state) {
    (void)state;
    for (Scope scope = SCOPE_CTA; scope <= SCOPE_SYS; scope++) {
        RUN(run, in_mode(GSAN_EXACT));
        start(&run, 3);
        strong(&run, 0, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 1, KIND_UPDATE, ORDER_RELAXED, scope);
        strong(&run, 2, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(run.reported != 0, scope < SCOPE_GPU);
        uint64_t before = gsan_stats(run.gsan).races;
        weak(&run, 2, KIND_WRITE, FLAG, 4);
        assert_int_equal(gsan_stats(run.gsan).races - before, scope < SCOPE_GPU ? 2 : 0);
        is_fine(&run);
    }
}

/* It is a link of the chain, but its thread has not read. */
static void an_asynchronous_update_observes_nothing(void **state) {
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        RUN(run, in_mode(GSAN_EXACT));
        start(&run, 2);
        strong(&run, 0, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU);
        uint32_t ticket = gsan_issue(run.gsan, run.threads[1]);
        gsan_access(run.gsan, run.threads[1], 5, KIND_UPDATE, ORDER_RELAXED, SCOPE_GPU, ticket, FLAG, FLAG + 4);
        gsan_complete(run.gsan, ticket, run.threads[1]);
        if (reads)
            strong(&run, 1, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        assert_int_equal(weak(&run, 1, KIND_READ, FLAG, 4), !reads);
        is_fine(&run);
    }
}

/* What was observed in an epoch that others know of stays so, whatever its thread reads later. */
static void an_early_observation_is_kept(void **state) {
    (void)state;
    IN_BOTH_MODES(mode) {
        RUN(run, in_mode(mode));
        start(&run, 3);
        strong(&run, 0, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, 1, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        hand_over(&run, 1, 2);
        for (int i = 0; i < 100; i++) {
            strong(&run, 1, KIND_READ, ORDER_RELAXED, SCOPE_GPU);
            fence(&run, 1, ORDER_RELEASE, SCOPE_GPU);
        }
        assert_int_equal(weak(&run, 2, KIND_READ, FLAG, 4), 0);
        is_fine(&run);
    }
}

/* Two CTAs answer each other with relaxed stores to one flag, without end. */
static void an_old_chain_is_let_go(void **state) {
    (void)state;
    RUN(run, in_mode(GSAN_EXACT));
    start(&run, 2);
    for (uint32_t i = 0; i < 100000; i++) {
        strong(&run, i % 2, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
        strong(&run, !(i % 2), KIND_READ, ORDER_RELAXED, SCOPE_GPU);
        fence(&run, i % 2, ORDER_RELEASE, SCOPE_CTA);
    }
    assert_true(gsan_stats(run.gsan).shadow_bytes < 64 << 10);
    assert_int_equal(run.reported, 0);
    is_fine(&run);
}

/* A barrier of a grid that is put back by a store of the last one, again and again; and one that only counts. */
static void rounds_of_a_counter_do_not_pile_up(void **state) {
    (void)state;
    enum { CTAS = 200, ROUNDS = 200 };
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        RUN(run, ((GsanOptions){.mode = GSAN_EXACT}));
        uint32_t number = launch(&run, 0, CTAS, 1), *threads = malloc(CTAS * sizeof *threads);
        for (uint32_t i = 0; i < CTAS; i++)
            threads[i] = gsan_begin(run.gsan, number, i);
        for (uint32_t round = 0; round < ROUNDS; round++)
            for (uint32_t i = 0; i < 2 * CTAS + 1; i++) {
                run.threads[0] = threads[(i + round) % CTAS];
                fence(&run, 0, ORDER_RELEASE, SCOPE_GPU);
                if (i < 2 * CTAS)
                    strong(&run, 0, i < CTAS ? KIND_UPDATE : KIND_READ, ORDER_RELAXED, SCOPE_GPU);
                else if (is_reset)
                    strong(&run, 0, KIND_WRITE, ORDER_RELAXED, SCOPE_GPU);
            }
        assert_true(gsan_stats(run.gsan).shadow_bytes < 1 << 20);
        assert_int_equal(run.reported, 0);
        free(threads);
        is_fine(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_update_has_observed_all_others),
        cmocka_unit_test(an_earlier_update_has_not_observed_later_ones),
        cmocka_unit_test(what_follows_an_observer_may_be_weak),
        cmocka_unit_test(only_the_write_itself_is_observed),
        cmocka_unit_test(a_store_ends_a_chain),
        cmocka_unit_test(a_read_is_not_observed),
        cmocka_unit_test(every_link_of_a_chain_is_morally_strong),
        cmocka_unit_test(an_asynchronous_update_observes_nothing),
        cmocka_unit_test(an_early_observation_is_kept),
        cmocka_unit_test(an_old_chain_is_let_go),
        cmocka_unit_test(rounds_of_a_counter_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
