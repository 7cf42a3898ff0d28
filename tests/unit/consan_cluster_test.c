/* The race engine with more agents than one set holds: clusters of CTAs. */
#include "consan_steps.h"

static void make_cluster(Fixture *fixture, Consan *engine) {
    ConsanSize size = {.agents = 80, .homes = 16, .spans = SPANS, .barriers = BARRIERS};
    assert_true(consan_create(engine, &size, take, &fixture->arena));
    assert_int_equal(consan_sets(engine), 5);
}

static void test_every_agent_has_four_actors(void **state) {
    (void)state;
    static const uint32_t kinds[] = {CONSAN_BASE, CONSAN_TMA, CONSAN_TENSOR, CONSAN_CLC};
    for (uint32_t agent = 0; agent < CONSAN_MOST_AGENTS; agent++)
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t actor = consan_base(agent) + kinds[i];
            assert_int_equal(consan_agent(actor), agent);
            assert_int_equal(consan_kind(actor), kinds[i]);
            assert_true(consan_peers(consan_base(agent)) >> actor % CONSAN_SET_ACTORS & 1);
        }
}

static void test_spans_of_two_homes_share_no_word(void **state) {
    Consan engine;
    make_cluster(*state, &engine);
    uint32_t first = consan_span(&engine, 3), other = consan_span(&engine, 15), next = consan_span(&engine, 3);
    assert_int_equal(next, first + 1);
    assert_int_not_equal(first / CONSAN_LANES, other / CONSAN_LANES);
    assert_int_equal(consan_span(&engine, 16), UINT32_MAX); /* there is no such CTA */
    assert_int_equal(consan_next_span(&engine, 3, 0), first);
    assert_int_equal(consan_next_span(&engine, 3, first + 1), next);
    assert_int_equal(consan_next_span(&engine, 3, next + 1), UINT32_MAX);
    assert_int_equal(consan_next_span(&engine, UINT32_MAX, next + 1), other);
    assert_int_equal(consan_split(&engine, other), other + 1);
}

/* Agents 16 apart have the same number in their sets. */
static void test_agents_of_different_sets_are_different(void **state) {
    Consan engine;
    make_cluster(*state, &engine);
    uint32_t span = consan_span(&engine, 0), writer = consan_base(79), other = consan_base(15);
    writes(&engine, writer, span);
    assert_int_equal(may_read(&engine, writer, span), CONSAN_CLEAN);
    assert_int_equal(may_read(&engine, other, span), CONSAN_OUTSTANDING_WRITE);
    assert_int_equal(consan_verify_read(&engine, other, &span, 1).actor, writer);
    assert_int_equal(consan_write_visibility(&engine, span, 0), 0);
    assert_int_equal(consan_write_visibility(&engine, span, 4), consan_peers(writer));
    hands_over(&engine, writer, other, 0);
    assert_int_equal(may_write(&engine, other, span), CONSAN_CLEAN);
    reads(&engine, CONSAN_TENSOR + writer, span);
    assert_int_equal(may_write(&engine, other, span), CONSAN_OUTSTANDING_READ);
    assert_int_equal(consan_verify_write(&engine, other, &span, 1).actor, CONSAN_TENSOR + writer);
    assert_int_equal(may_write(&engine, CONSAN_TENSOR + other, span), CONSAN_OUTSTANDING_READ);
}

static void test_groups_are_each_agents_own(void **state) {
    Consan engine;
    make_cluster(*state, &engine);
    uint32_t span = consan_span(&engine, 7), one = consan_base(20), two = consan_base(36);
    stages(&engine, CONSAN_STORE, two, span);
    stages(&engine, CONSAN_STORE, one, span);
    consan_commit(&engine, CONSAN_STORE, one);
    assert_int_equal(consan_next_staged(&engine, CONSAN_STORE, two, 0), span);
    assert_int_equal(consan_next_staged(&engine, CONSAN_STORE, two, span + 1), UINT32_MAX);
    assert_int_equal(consan_verify_write(&engine, one, &span, 1).actor, one); /* the lowest */
    consan_clear(&engine, CONSAN_STORE, one, 0);
    assert_int_equal(consan_outstanding_commits(&engine, CONSAN_STORE, one, span), 0);
    assert_int_equal(consan_outstanding_commits(&engine, CONSAN_STORE, two, span), -1);
    assert_int_equal(consan_verify_write(&engine, one, &span, 1).actor, two);
}

/* What nothing can learn from is not kept: after the others have written again, an actor is in no word of theirs. */
static void test_words_in_which_nothing_is_seen_are_left(void **state) {
    Consan engine;
    make_cluster(*state, &engine);
    uint32_t own = consan_span(&engine, 0), theirs = consan_span(&engine, 9), other = consan_base(45);
    writes(&engine, other, theirs);
    writes(&engine, 0, own);
    hands_over(&engine, other, 0, 0);
    assert_int_equal(engine.watched.counts[0], 2);
    writes(&engine, other, theirs);
    hands_over(&engine, 0, 3, 1);
    assert_int_equal(engine.watched.counts[0], 1);
    assert_int_equal(may_read(&engine, 3, own), CONSAN_CLEAN);
    assert_int_equal(may_read(&engine, 3, theirs), CONSAN_OUTSTANDING_WRITE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RULE(every_agent_has_four_actors),
        RULE(spans_of_two_homes_share_no_word),
        RULE(agents_of_different_sets_are_different),
        RULE(groups_are_each_agents_own),
        RULE(words_in_which_nothing_is_seen_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
