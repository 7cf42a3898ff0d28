/* The order of strong accesses to one place, from when they began and what they found: counters, locks, flags, times
 * that are wrong by less than what is found says, and what cannot be told. */
#include "check/replay/order/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 64 };

typedef struct Case {
    Strong items[MOST];
    uint32_t numbers[MOST], count;
} Case;

static uint32_t add(Case *of, StrongKind kind, uint32_t thread, uint32_t time, uint64_t found, uint64_t written) {
    of->items[of->count] = (Strong){.key = 1,
                                    .time = time,
                                    .index = of->count,
                                    .thread = thread,
                                    .found = found,
                                    .written = written,
                                    .kind = (uint8_t)kind,
                                    .bytes = 4,
                                    .finds = true};
    return of->count++;
}

/* Each adds 1; times say nothing but that all are near. */
static void test_counter(void **unused) {
    (void)unused;
    Case of = {0};
    for (uint32_t i = 0; i < 16; i++)
        add(&of, STRONG_ADD, i, 1000 + i * 7 % 16, (i * 5 + 3) % 16, 1);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(of.numbers[i], (i * 5 + 3) % 16);
}

/* Where no value comes twice, what was found says it all: records that wait for long have times that say nothing. */
static void test_chain(void **unused) {
    (void)unused;
    Case of = {0};
    for (uint32_t i = 0; i < 16; i++)
        add(&of, STRONG_ADD, i, (16 - i) * 90000000, i, 1);
    uint32_t early = add(&of, STRONG_READ, 20, 1000, 7, 0), late = add(&of, STRONG_READ, 20, 2000, 16, 0);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(of.numbers[i], i + (i >= 7));
    assert_int_equal(of.numbers[early], 7);
    assert_int_equal(of.numbers[late], 17);
    /* But not in another order than that of a thread's program, nor with a value that was never there. */
    Case back = {0};
    add(&back, STRONG_ADD, 0, 1000, 1, 1);
    add(&back, STRONG_ADD, 0, 900000000, 0, 1);
    assert_int_equal(strong_order(back.items, back.count, back.numbers).unfit, 1);
    add(&of, STRONG_READ, 21, 3000, 99, 0);
    assert_true(strong_order(of.items, of.count, of.numbers).unfit > 0);
}

/* The same of counters that begin anywhere and go on by any step, in whatever order they are given; two neighbors
 * whose records are the other way round are not in the order of their program if they are of one thread. */
static void test_chains(void **unused) {
    (void)unused;
    uint32_t seed = 1, own = 0;
    for (unsigned round = 0; round < 2000; round++) {
        Case of = {0};
        uint64_t held = round % 3 * 1000, step = round / 8 % 4 + 1;
        uint32_t count = 2 + round % (MOST - 3), turned = round % count;
        for (uint32_t i = 0; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            bool reads = i && seed >> 28 < 4 && of.items[i - 1].kind == STRONG_ADD; /* one before each change */
            add(&of, reads ? STRONG_READ : STRONG_ADD, (seed >> 8) % 5, i, held, step);
            held += reads ? 0 : step;
        }
        bool turns = turned + 1 < count, same = turns && of.items[turned].thread == of.items[turned + 1].thread;
        if (turns) {
            of.items[turned].index = turned + 1;
            of.items[turned + 1].index = turned;
        }
        if (round % 16 == 7) /* what was there was changed twice */
            add(&of, STRONG_ADD, 9, 0, of.items[0].found, step);
        if (round % 16 == 15) { /* ... and something else never */
            of.items[count / 2].kind = STRONG_ADD;
            of.items[count / 2].found = of.items[0].found;
        }
        for (uint32_t i = of.count; i-- > 1;) {
            seed = seed * 1664525 + 1013904223;
            Strong moved = of.items[i], *with = &of.items[(seed >> 8) % (i + 1)];
            of.items[i] = *with;
            *with = moved;
        }
        bool good = strong_chain(of.items, of.count, of.numbers);
        assert_int_equal(good, !same && round % 8 != 7);
        for (uint32_t i = 0; good && i < count; i++)
            assert_int_equal(of.numbers[i], turns && i - turned < 2 ? 2 * turned + 1 - i : i);
        own += same;
    }
    assert_true(own > 100);
}

/* A lock that is taken and given back: 0 and 1 in turns; who has it is in the order of times. */
static void test_lock(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t takes[4], gives[4];
    for (uint32_t i = 0; i < 4; i++) {
        takes[i] = add(&of, STRONG_CAS, i, 1000 * i + 900, 0, 1);
        gives[i] = add(&of, STRONG_WRITE, i, 1000 * i + 1500, 1, 0);
        add(&of, STRONG_CAS, i + 8, 1000 * i + 1400, 1, 1); /* in vain */
    }
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(of.numbers[takes[i]] < of.numbers[gives[i]]);
        assert_true(!i || of.numbers[gives[i - 1]] < of.numbers[takes[i]]);
    }
}

/* Who reads before a change comes before it, also if it began long after it: the old value does not come again. */
static void test_readers(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t change = add(&of, STRONG_ADD, 0, 1000, 0, 1);
    uint32_t early = add(&of, STRONG_READ, 1, 30000, 0, 0), late = add(&of, STRONG_READ, 1, 31000, 1, 0);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    assert_true(of.numbers[early] < of.numbers[change] && of.numbers[change] < of.numbers[late]);
}

/* A flag that is set and cleared again: who reads 0 long after both is behind both. */
static void test_flag_again(void **unused) {
    (void)unused;
    Case of = {0};
    add(&of, STRONG_READ, 2, 500, 0, 0);
    uint32_t set = add(&of, STRONG_WRITE, 0, 1000, 0, 1), seen = add(&of, STRONG_READ, 1, 2000, 1, 0);
    uint32_t clear = add(&of, STRONG_WRITE, 1, 20000, 1, 0), late = add(&of, STRONG_READ, 2, 40000, 0, 0);
    of.items[set].finds = of.items[clear].finds = false;
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    assert_true(of.numbers[set] < of.numbers[seen] && of.numbers[seen] < of.numbers[clear]);
    assert_true(of.numbers[clear] < of.numbers[late]);
}

/* Where it is not known what was there before: who read what was written a moment later has not read it before that. */
static void test_written_and_read(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t seen = add(&of, STRONG_READ, 1, 1000, 1, 0), set = add(&of, STRONG_WRITE, 0, 1400, 0, 1);
    of.items[set].finds = false;
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    assert_true(of.numbers[set] < of.numbers[seen]);
    Case far = {0};
    seen = add(&far, STRONG_READ, 1, 1000, 1, 0);
    set = add(&far, STRONG_WRITE, 0, 900000, 0, 1);
    far.items[set].finds = false;
    assert_int_equal(strong_order(far.items, far.count, far.numbers).unfit, 0);
    assert_true(far.numbers[seen] < far.numbers[set]);
}

/* Times that wrap, several places, and a value that nothing left. */
static void test_rest(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t first = add(&of, STRONG_ADD, 0, UINT32_MAX - 10, 0, 1), second = add(&of, STRONG_ADD, 1, 5, 1, 1);
    uint32_t other = add(&of, STRONG_WRITE, 2, 0, 0, 9);
    of.items[other].key = 2;
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    assert_true(of.numbers[first] < of.numbers[second]);
    assert_int_equal(of.numbers[other], 0);
    Case wrong = {0};
    add(&wrong, STRONG_ADD, 0, 1000, 0, 1);
    add(&wrong, STRONG_READ, 1, 900000, 77, 0);
    assert_int_equal(strong_order(wrong.items, wrong.count, wrong.numbers).unfit, 1);
}

/* A lock that is given back by a plain store, of which there is no more than that it is made. */
static void test_stored(void **unused) {
    (void)unused;
    Case of = {0};
    uint32_t takes[4], vain[4];
    for (uint32_t i = 0; i < 4; i++) {
        takes[i] = add(&of, STRONG_CAS, i, 20000 * i + 1000, 0, 1);
        vain[i] = add(&of, STRONG_CAS, i + 8, 20000 * i + 9000, 1, 1);
    }
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 3);
    for (uint32_t i = 0; i < of.count; i++)
        of.items[i].stores = 4;
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(of.numbers[takes[i]] == 2 * i && of.numbers[vain[i]] == 2 * i + 1);
    for (uint32_t i = 0; i < of.count; i++) /* not so many */
        of.items[i].stores = 2;
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 1);
    /* 0 is also what a strong store leaves, or may be what an atomic does of which is not known: it may be theirs. */
    for (uint32_t i = 0; i < of.count; i++)
        of.items[i].stores = 4;
    uint32_t other = add(&of, STRONG_WRITE, 3, 900000, 0, 0);
    of.items[other].finds = false;
    of.items[other].stores = 4;
    assert_true(strong_order(of.items, of.count, of.numbers).unfit > 0);
    of.items[of.count - 1].kind = STRONG_OTHER;
    assert_true(strong_order(of.items, of.count, of.numbers).unfit > 0);
}

static uint32_t add_wide(Case *of, StrongKind kind, uint32_t bytes, uint64_t found, uint64_t written) {
    uint32_t index = add(of, kind, of->count, 1000, found, written);
    of->items[index].bytes = (uint8_t)bytes;
    return index;
}

/* Values that differ above 32 bits alone: all of them count. */
static void test_upper(void **unused) {
    (void)unused;
    Case of = {0};
    for (uint64_t i = 0; i < 8; i++)
        add_wide(&of, STRONG_ADD, 8, (7 - i) << 32, UINT64_C(1) << 32);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(of.numbers[i], 7 - i);
    Case wrong = {0};
    add_wide(&wrong, STRONG_ADD, 8, 0, UINT64_C(1) << 32);
    add_wide(&wrong, STRONG_READ, 8, UINT64_C(3) << 32, 0);
    assert_int_equal(strong_order(wrong.items, wrong.count, wrong.numbers).unfit, 1);
}

/* The one that counts up to a limit, or keeps the largest, is ordered by what it found; so are sums of reals. */
static void test_kinds(void **unused) {
    (void)unused;
    static const uint32_t reals[] = {0, 0x3F800000, 0x40000000, 0x40400000}; /* 0 to 3 */
    Case counts = {0}, down = {0}, signs = {0}, sums = {0};
    for (uint32_t i = 0; i < 4; i++)
        add_wide(&counts, STRONG_INC, 4, 3 - i, 3);
    add_wide(&counts, STRONG_READ, 4, 0, 0);
    assert_int_equal(strong_order(counts.items, counts.count, counts.numbers).unfit, 0);
    assert_true(counts.numbers[3] < counts.numbers[2] && counts.numbers[1] < counts.numbers[0]);
    for (uint32_t i = 0; i < 3; i++)
        add_wide(&down, STRONG_DEC, 4, i, 5);
    assert_int_equal(strong_order(down.items, down.count, down.numbers).unfit, 0);
    assert_int_equal(down.numbers[0], 2);
    add_wide(&signs, STRONG_MOST, 4, 5, 7);
    add_wide(&signs, STRONG_MOST, 4, 0xFFFFFFFF, 5);
    add_wide(&signs, STRONG_LEAST, 4, 7, 0xFFFFFFFE);
    add_wide(&signs, STRONG_READ, 4, 0xFFFFFFFE, 0);
    assert_int_equal(strong_order(signs.items, signs.count, signs.numbers).unfit, 0);
    assert_true(signs.numbers[1] == 0 && signs.numbers[0] == 1 && signs.numbers[2] == 2 && signs.numbers[3] == 3);
    for (uint32_t i = 0; i < 4; i++)
        add_wide(&sums, STRONG_ADD_REAL, 4, reals[3 - i], 0x3F800000);
    StrongUncertain doubts = strong_order(sums.items, sums.count, sums.numbers);
    assert_true(!doubts.unfit && !doubts.unsure && sums.numbers[0] == 3 && sums.numbers[3] == 0);
}

/* Sums of 16-bit reals, which round: 1, 2 and 2048 + 1 (2048, as that is even), and two of bf16 side by side. */
static void test_halves(void **unused) {
    (void)unused;
    Case halves = {0}, brains = {0}, small = {0};
    add_wide(&halves, STRONG_ADD_HALF, 2, 0x6800, 0x3C00);
    add_wide(&halves, STRONG_READ, 2, 0x6800, 0);
    add_wide(&halves, STRONG_ADD_HALF, 2, 0x3C00, 0x67FF); /* 1 + 2047 */
    add_wide(&halves, STRONG_ADD_HALF, 2, 0, 0x3C00);
    StrongUncertain doubts = strong_order(halves.items, halves.count, halves.numbers);
    assert_true(!doubts.unfit && !doubts.unsure && halves.numbers[3] == 0 && halves.numbers[2] == 1);
    add_wide(&brains, STRONG_ADD_BRAIN, 4, 0xC0004000, 0x3F803F80);
    add_wide(&brains, STRONG_ADD_BRAIN, 4, 0xBF804040, 0);
    add_wide(&brains, STRONG_ADD_BRAIN, 4, 0, 0xC0004000); /* -2 and 2 */
    doubts = strong_order(brains.items, brains.count, brains.numbers);
    assert_true(!doubts.unfit && !doubts.unsure && brains.numbers[2] == 0 && brains.numbers[1] == 2);
    add_wide(&small, STRONG_ADD_HALF, 2, 0x03FF, 0x0001); /* the largest that is not normal, and the smallest */
    add_wide(&small, STRONG_READ, 2, 0x0400, 0);
    add_wide(&small, STRONG_ADD_HALF, 2, 0x0400, 0x7BFF);
    add_wide(&small, STRONG_ADD_HALF, 2, 0x7BFF, 0x7BFF); /* becomes infinite */
    add_wide(&small, STRONG_READ, 2, 0x7C00, 0);
    doubts = strong_order(small.items, small.count, small.numbers);
    assert_true(!doubts.unfit && !doubts.unsure && small.numbers[0] == 0 && small.numbers[4] == 4);
}

/* Behind what leaves something that is not known, nothing is sure; of one that gives nothing, nothing was asked. */
static void test_unsure(void **unused) {
    (void)unused;
    Case of = {0}, silent = {0};
    add(&of, STRONG_OTHER, 0, 1000, 0, 1);
    add(&of, STRONG_READ, 1, 1001, 5, 0);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unsure, 1);
    for (uint32_t i = 0; i < 3; i++)
        silent.items[add(&silent, STRONG_OTHER, i, 1000, 0, 1)].finds = false;
    assert_int_equal(strong_order(silent.items, silent.count, silent.numbers).unsure, 0);
}

/* A counter whose adds come long after they began, as fences before them wait for the host's memory. */
static void test_late(void **unused) {
    static const uint32_t found[] = {0, 5, 6, 1, 2, 3, 4, 7};
    (void)unused;
    Case of = {0};
    for (uint32_t i = 0; i < 8; i++)
        add(&of, STRONG_ADD, i, 1000 + 60000 * i, found[i], 1);
    uint32_t early = add(&of, STRONG_READ, 8, 601000, 1, 0);
    assert_int_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(of.numbers[i], found[i] + (found[i] > 0));
    assert_int_equal(of.numbers[early], 1);
}

/* Values that change without any agent here: the host writes them. */
static void test_reads_alone(void **unused) {
    (void)unused;
    Case of = {0};
    for (uint32_t i = 0; i < 8; i++) {
        add(&of, STRONG_READ, i, 1000 + i * 5 % 8, 0, 0);
        add(&of, STRONG_READ, i, 1020 + i * 3 % 8, i % 3, 0);
    }
    StrongUncertain doubts = strong_order(of.items, of.count, of.numbers);
    assert_true(!doubts.unfit && !doubts.unsure && !doubts.within);
    for (uint32_t i = 0; i < 16; i += 2)
        assert_true(of.numbers[i] < of.numbers[i + 1]);
    add(&of, STRONG_WRITE, 9, 1030, 0, 7); /* one that writes what nothing found does not explain it */
    assert_int_not_equal(strong_order(of.items, of.count, of.numbers).unfit, 0);
}

/* Many of them, by key, time and index; times that are too far from each other are sorted in another way. */
static void test_sorted(void **unused) {
    static Strong items[4096];
    (void)unused;
    for (unsigned round = 0; round < 3; round++) {
        uint32_t seed = round;
        for (uint32_t i = 0; i < 4096; i++) {
            seed = seed * 1664525 + 1013904223;
            uint64_t key = (seed >> 8) % 5 * (round ? UINT64_C(0x10000000001) : 1);
            uint32_t time = UINT32_MAX - 500 + (seed >> 16) % 1000 + (round == 2 && key ? 1U << 30 : 0);
            items[i] = (Strong){.key = key, .time = time, .index = i, .found = key ^ time};
        }
        strong_sort(items, 4096);
        for (uint32_t i = 0; i < 4096; i++)
            assert_true(items[i].found == (items[i].key ^ items[i].time));
        for (uint32_t i = 1; i < 4096; i++) {
            const Strong *a = &items[i - 1], *b = &items[i];
            int32_t later = (int32_t)(b->time - a->time);
            assert_true(a->key < b->key || (a->key == b->key && (later > 0 || (!later && a->index < b->index))));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),    cmocka_unit_test(test_lock),        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_flag_again), cmocka_unit_test(test_rest),        cmocka_unit_test(test_upper),
        cmocka_unit_test(test_kinds),      cmocka_unit_test(test_unsure),      cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_chain),      cmocka_unit_test(test_chains),      cmocka_unit_test(test_stored),
        cmocka_unit_test(test_late),       cmocka_unit_test(test_reads_alone), cmocka_unit_test(test_halves),
        cmocka_unit_test(test_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
