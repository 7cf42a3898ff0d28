/* Threads that poll: to read the same place again, which nothing has written since, is done without a look at who else
 * has (threads_poll_again), and the releases of many CTAs are put one behind the other. An engine that does neither
 * (ThreadsShape.by_word) has to give the same races, of random programs and of those where it would matter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/hb/threads.h"
#include "share.h"
#include "threads_pair.h"

enum { CTAS = 12, CTA_WARPS = 2, LANES = 32, DATA = 0x10000, FLAGS = 0x90000 };

static Pair new_pair(void) {
    return pair_new((ThreadsShape){.ctas = CTAS, .cta_threads = CTA_WARPS * LANES, .sweep_at = 200});
}

/* Which races there are, and how often: of those at one place, which is told of first need not be the same. */
static uint32_t agree(const Pair *pair) {
    uint32_t count, other;
    const ThreadsRace *races = threads_races(pair->each[0], &count), *slow = threads_races(pair->each[1], &other);
    assert_int_equal(count, other);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < count && (slow[k].first.access.site != races[i].first.access.site ||
                             slow[k].second.access.site != races[i].second.access.site ||
                             slow[k].reason != races[i].reason || slow[k].same_value != races[i].same_value))
            k++;
        assert_true(k < count);
        assert_int_equal(races[i].times, slow[k].times);
    }
    assert_int_equal(threads_order_matters(pair->each[0]), threads_order_matters(pair->each[1]));
    assert_null(threads_trouble(pair->each[0]));
    return count;
}

static void by(Pair *pair, uint32_t warp, uint32_t lane, ThreadsAccess access, uint64_t address) {
    uint64_t addresses[LANES] = {0};
    addresses[lane] = address;
    access.element = access.element ? access.element : 4;
    access.bytes = access.element;
    for (int i = 0; i < 2; i++)
        threads_access(pair->each[i], 0, warp, 1U << lane, &access, addresses);
}

static void meet(Pair *pair, uint32_t cta) {
    for (int i = 0; i < 2; i++)
        threads_meet(pair->each[i], 1 + cta, cta);
}

static ThreadsAccess weak(AccessKind kind, uint32_t site) {
    return (ThreadsAccess){.kind = (uint8_t)kind, .site = site};
}

static ThreadsAccess strong(AccessKind kind, Order order, Scope scope, uint32_t site) {
    return (ThreadsAccess){.kind = (uint8_t)kind,
                           .order = (uint8_t)order,
                           .scope = (uint8_t)scope,
                           .site = site,
                           .gives = kind != KIND_WRITE};
}

static void poll_at_random(Pair *pair) {
    uint32_t warp = draw(CTAS * CTA_WARPS), lane = draw(8) ? 0 : 1;
    uint64_t flag = FLAGS + draw(2) * 4;
    Scope scope = draw(10) ? SCOPE_GPU : SCOPE_CTA;
    uint32_t narrow = scope == SCOPE_CTA ? 100 : 0; /* another instruction */
    switch (draw(24)) {
    case 0:
        by(pair, warp, lane, strong(KIND_WRITE, ORDER_RELEASE, scope, 1 + narrow), flag);
        break;
    case 1:
        by(pair, warp, lane, strong(KIND_WRITE, ORDER_RELAXED, scope, 2 + narrow), flag);
        break;
    case 2:
    case 3:
        by(pair, warp, lane, strong(KIND_UPDATE, ORDER_ACQ_REL, scope, 3 + narrow), flag);
        break;
    case 4:
        by(pair, warp, lane, strong(KIND_UPDATE, ORDER_RELEASE, scope, 4 + narrow), flag);
        break;
    case 5:
        if (!draw(3))
            by(pair, warp, lane, weak(draw(2) ? KIND_WRITE : KIND_READ, 5), flag);
        break;
    case 6:
    case 7:
        by(pair, warp, lane, weak(draw(3) ? KIND_READ : KIND_WRITE, 6), DATA + draw(6) * 4);
        break;
    case 8:
    case 9:
    case 10:
        meet(pair, warp / CTA_WARPS);
        break;
    case 11:
        for (int i = 0; i < 2; i++)
            threads_fence(pair->each[i], warp, 1U << lane, ORDER_ACQ_REL, scope, false);
        break;
    case 12: /* eight bytes: of both flags */
        if (!draw(6)) {
            ThreadsAccess wide = strong(KIND_READ, ORDER_ACQUIRE, scope, 7 + narrow);
            wide.element = 8;
            by(pair, warp, lane, wide, FLAGS);
        }
        break;
    default: /* some times, and others between them */
        for (uint32_t i = 0; i < 3; i++) {
            bool takes = draw(3) > 0;
            by(pair, warp, lane,
               strong(KIND_READ, takes ? ORDER_ACQUIRE : ORDER_RELAXED, scope, (takes ? 8 : 9) + narrow), flag);
            if (!draw(3))
                by(pair, warp ^ 1, 0, strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 10), flag);
            if (!draw(3))
                meet(pair, warp / CTA_WARPS);
        }
    }
}

static void random_polls_agree(void **unused) {
    (void)unused;
    uint32_t with = 0;
    for (uint32_t seed = 0; seed < share_of(400); seed++) {
        Pair pair = new_pair();
        uint32_t before = 0;
        state = seed * 977 + 5;
        for (uint32_t i = 0; i < 250; i++) {
            poll_at_random(&pair);
            uint32_t now = agree(&pair);
            with += now > before;
            before = now;
        }
        pair_free(&pair);
    }
    assert_true(with > share_of(300));
}

/* What a poll that failed has read orders what its thread does next: polls that go on later take nothing from that, nor
 * do they give it to those who have read less. */
static void failing_poll_orders(void **unused) {
    (void)unused;
    for (uint32_t takes = 0; takes < 2; takes++) {
        Pair pair = new_pair();
        ThreadsAccess poll = strong(KIND_READ, takes ? ORDER_ACQUIRE : ORDER_RELAXED, SCOPE_GPU, 3);
        by(&pair, 0, 0, weak(KIND_WRITE, 1), DATA);
        by(&pair, 0, 0, strong(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 2), FLAGS);
        by(&pair, 2, 0, poll, FLAGS);
        by(&pair, 2, 0, poll, FLAGS);
        by(&pair, 4, 0, strong(KIND_WRITE, ORDER_RELAXED, SCOPE_GPU, 4), FLAGS);
        by(&pair, 2, 0, poll, FLAGS);
        by(&pair, 2, 0, weak(KIND_READ, 5), DATA);
        assert_int_equal(agree(&pair), !takes);
        pair_free(&pair);
    }
}

/* A store that is ordered behind the first poll, and not behind the second, races with that. */
static void later_poll_races(void **unused) {
    (void)unused;
    for (uint32_t again = 0; again < 2; again++) {
        Pair pair = new_pair();
        ThreadsAccess poll = strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 3);
        by(&pair, 0, 0, strong(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 1), FLAGS);
        by(&pair, 2, 0, poll, FLAGS);
        by(&pair, 2, 0, strong(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 2), FLAGS + 64);
        for (uint32_t i = 0; i < again; i++)
            by(&pair, 2, 0, poll, FLAGS);
        by(&pair, 0, 0, strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 4), FLAGS + 64);
        by(&pair, 0, 0, weak(KIND_WRITE, 5), FLAGS);
        assert_int_equal(agree(&pair), again);
        pair_free(&pair);
    }
}

/* Another thread of the CTA, which knows of the first poll, stands for it; of the second one it knows nothing. */
static void two_pollers_of_a_cta(void **unused) {
    (void)unused;
    Pair pair = new_pair();
    ThreadsAccess poll = strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 3);
    by(&pair, 0, 0, strong(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 1), FLAGS);
    by(&pair, 2, 0, poll, FLAGS);
    meet(&pair, 1);
    by(&pair, 3, 0, poll, FLAGS);
    by(&pair, 3, 0, strong(KIND_WRITE, ORDER_RELEASE, SCOPE_GPU, 2), FLAGS + 64);
    by(&pair, 2, 0, poll, FLAGS);
    by(&pair, 0, 0, strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 4), FLAGS + 64);
    by(&pair, 0, 0, weak(KIND_WRITE, 5), FLAGS);
    assert_int_equal(agree(&pair), 1);
    pair_free(&pair);
}

/* A counter that many CTAs add to, round by round, and some read at any time: the one that reads it knows of those that
 * have added by then, and of no others. */
static void counter_of_many(void **unused) {
    (void)unused;
    for (uint32_t missing = 0; missing < 2; missing++)
        for (uint32_t narrow = 0; narrow < 2; narrow++) {
            Pair pair = new_pair();
            for (uint32_t round = 0; round < 5; round++) {
                for (uint32_t cta = 0; cta < CTAS; cta++) {
                    by(&pair, cta * CTA_WARPS, 0, weak(KIND_WRITE, 1), DATA + (round * CTAS + cta) * 4);
                    by(&pair, cta * CTA_WARPS, 0, strong(KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU, 2), FLAGS);
                }
                for (uint32_t cta = 0; cta < CTAS; cta++) {
                    Scope scope = narrow && cta == 7 ? SCOPE_CTA : SCOPE_GPU;
                    by(&pair, cta * CTA_WARPS, 0, strong(KIND_READ, ORDER_ACQUIRE, scope, 3), FLAGS);
                    by(&pair, cta * CTA_WARPS, 0, weak(KIND_READ, 4), DATA + (round * CTAS + (cta + 1) % CTAS) * 4);
                }
            }
            if (missing) {
                by(&pair, 3 * CTA_WARPS, 0, weak(KIND_WRITE, 5), DATA);
                by(&pair, 4 * CTA_WARPS, 0, weak(KIND_READ, 6), DATA);
            }
            assert_true((agree(&pair) > 0) == (missing || narrow));
            pair_free(&pair);
        }
}

/* What is kept of a counter does not grow with the rounds that it was used for: neither the additions, of each CTA the
 * last of which stands for the others, nor who has seen which of them. */
static void counter_of_many_rounds(void **unused) {
    (void)unused;
    enum { MANY = 64, ROUNDS = 1000 };
    const char *problem;
    Threads *engine = threads_create(
        &(ThreadsShape){.ctas = MANY, .cta_threads = LANES, .memory = (size_t)8 << 20, .sweep_at = 1 << 14}, &problem);
    assert_non_null(engine);
    uint64_t counter[LANES] = {FLAGS}, data[LANES];
    ThreadsAccess add = strong(KIND_UPDATE, ORDER_RELEASE, SCOPE_GPU, 1), take = add, read = weak(KIND_READ, 3),
                  write = weak(KIND_WRITE, 4);
    take.order = ORDER_ACQUIRE;
    take.site = 2;
    add.element = take.element = read.element = write.element = add.bytes = take.bytes = read.bytes = write.bytes = 4;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t cta = 0; cta < MANY; cta++) {
            data[0] = DATA + (round % 2 * MANY + (cta + 1) % MANY) * 4;
            threads_access(engine, 0, cta, 1, &read, data);
            data[0] = DATA + ((round + 1) % 2 * MANY + cta) * 4;
            threads_access(engine, 0, cta, 1, &write, data);
            threads_access(engine, 0, cta, 1, &add, counter);
        }
        for (uint32_t cta = 0; cta < MANY; cta++)
            threads_access(engine, 0, cta, 1, &take, counter);
    }
    uint32_t count;
    threads_races(engine, &count);
    assert_null(threads_trouble(engine));
    assert_int_equal(count, 0);
    /* The one that was first to see all of the last round's knows of no other that has: of each, the last one is there.
     */
    threads_access(engine, 0, 0, 1, &write, counter);
    const ThreadsRace *races = threads_races(engine, &count);
    assert_int_equal(count, 1);
    assert_int_equal(races->first.access.site, take.site);
    assert_int_equal(races->times, MANY - 1);
    threads_free(engine);
}

/* CTAs of one thread. What a CTA has released is also what it knows of itself when it has read that again: a barrier
 * goes on from there for it, and not for those who have read what it released. */
static void barrier_after_own_release(void **state) {
    (void)state;
    Pair pair = pair_new((ThreadsShape){.ctas = 3, .cta_threads = 1});
    ThreadsAccess adds = strong(KIND_UPDATE, ORDER_ACQ_REL, SCOPE_GPU, 1),
                  polls = strong(KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, 2);
    by(&pair, 1, 0, adds, FLAGS);
    by(&pair, 0, 0, adds, FLAGS);
    by(&pair, 0, 0, polls, FLAGS);
    by(&pair, 2, 0, polls, FLAGS);
    by(&pair, 0, 0, weak(KIND_WRITE, 3), DATA);
    meet(&pair, 0);
    by(&pair, 2, 0, weak(KIND_READ, 4), DATA);
    assert_int_equal(agree(&pair), 1);
    pair_free(&pair);
}

/* To read the same place again with a narrower scope is another access: it lacks the thread that writes next. */
static void narrower_poll_is_another(void **unused) {
    (void)unused;
    for (uint32_t narrow = 0; narrow < 2; narrow++) {
        Pair pair = new_pair();
        by(&pair, 0, 0, strong(KIND_WRITE, ORDER_RELAXED, SCOPE_GPU, 1), FLAGS);
        by(&pair, 2, 0, strong(KIND_READ, ORDER_RELAXED, SCOPE_GPU, 2), FLAGS);
        by(&pair, 2, 0, strong(KIND_READ, ORDER_RELAXED, narrow ? SCOPE_CTA : SCOPE_GPU, 2), FLAGS);
        by(&pair, 4, 0, strong(KIND_WRITE, ORDER_RELAXED, SCOPE_GPU, 3), FLAGS);
        assert_int_equal(agree(&pair), narrow);
        pair_free(&pair);
    }
}

/* Half of what is polled is written meanwhile, and the other half is as it was: the next poll sees that, and races. */
static void half_of_a_flag_is_written(void **unused) {
    (void)unused;
    Pair pair = new_pair();
    ThreadsAccess poll = strong(KIND_READ, ORDER_RELAXED, SCOPE_GPU, 2), half = weak(KIND_WRITE, 3);
    half.element = 2;
    by(&pair, 0, 0, strong(KIND_WRITE, ORDER_RELAXED, SCOPE_GPU, 1), FLAGS);
    by(&pair, 2, 0, poll, FLAGS);
    by(&pair, 4, 0, half, FLAGS + 2);
    assert_int_equal(agree(&pair), 2); /* with the write, and with the poll */
    by(&pair, 2, 0, poll, FLAGS);
    assert_int_equal(agree(&pair), 3);
    pair_free(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_polls_agree),        cmocka_unit_test(failing_poll_orders),
        cmocka_unit_test(later_poll_races),          cmocka_unit_test(two_pollers_of_a_cta),
        cmocka_unit_test(counter_of_many),           cmocka_unit_test(counter_of_many_rounds),
        cmocka_unit_test(barrier_after_own_release), cmocka_unit_test(narrower_poll_is_another),
        cmocka_unit_test(half_of_a_flag_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
