/* explore/meet: sums of bounded multiples, pieces and families of them, beside a look at every member. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "explore/overlap.h"

static uint64_t seed = 1;

static int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* ---- Sums ----------------------------------------------------------------------------------------- */

static bool can_reach(const OverlapTerm *terms, unsigned count, int64_t low, int64_t high) {
    if (!count)
        return low <= 0 && high >= 0;
    for (int64_t i = 0; i < terms->count; i++)
        if (can_reach(terms + 1, count - 1, low - i * terms->by, high - i * terms->by))
            return true;
    return false;
}

static void sums_are_found_where_they_are(void **state) {
    (void)state;
    unsigned found = 0;
    for (unsigned round = 0; round < 20000; round++) {
        OverlapTerm terms[4];
        unsigned count = (unsigned)roll(0, 4);
        for (unsigned i = 0; i < count; i++)
            terms[i] = (OverlapTerm){.by = roll(-12, 12) * roll(1, 5), .count = roll(1, 5)};
        int64_t low = roll(-80, 80), high = low + roll(0, 6), sum = 0;
        Overlap overlap = overlap_sum(terms, count, low, high);
        assert_int_equal(overlap, can_reach(terms, count, low, high) ? OVERLAP_FOUND : OVERLAP_NEVER);
        if (overlap != OVERLAP_FOUND)
            continue;
        found++;
        for (unsigned i = 0; i < count; i++) {
            assert_in_range(terms[i].value, 0, terms[i].count - 1);
            sum += terms[i].by * terms[i].value;
        }
        assert_true(sum >= low && sum <= high);
    }
    assert_in_range(found, 3000, 16000);
}

static void sums_of_billions_take_no_time(void **state) {
    (void)state;
    OverlapTerm rows[] = {
        {.by = 131072, .count = 1 << 30}, {.by = -131072, .count = 1 << 30}, {.by = 4, .count = 32768}};
    assert_int_equal(overlap_sum(rows, 3, 131069, 131071), OVERLAP_NEVER);
    assert_int_equal(overlap_sum(rows, 3, 131072 * INT64_C(1000000007) + 8, 131072 * INT64_C(1000000007) + 8),
                     OVERLAP_FOUND);
    assert_int_equal(rows[0].value - rows[1].value, 1000000007);
    assert_int_equal(rows[2].value, 2);
}

/* ---- Families ------------------------------------------------------------------------------------- */

enum { BYTES = 4096, MIDDLE = 2048 };

static Piece any_piece(void) {
    Piece piece = {.begin = roll(-40, 40), .bytes = roll(1, 6), .levels = (unsigned)roll(0, 2)};
    for (unsigned i = 0; i < piece.levels; i++) {
        piece.strides[i] = roll(-20, 20);
        piece.counts[i] = roll(1, 3);
    }
    return piece;
}

static Family any_family(const Piece *piece) {
    Family family = {.piece = piece};
    for (unsigned i = 0; i < OVERLAP_AXES; i++) {
        family.by[i] = roll(0, 2) ? roll(-30, 30) : 0;
        family.low[i] = roll(0, 3);
        family.high[i] = family.low[i] + roll(0, i ? 1 : 3);
    }
    return family;
}

static void mark(const Piece *piece, unsigned level, int64_t at, uint8_t *bytes) {
    if (level == piece->levels) {
        for (int64_t i = 0; i < piece->bytes; i++)
            bytes[MIDDLE + at + i] = 1;
        return;
    }
    for (int64_t i = 0; i < piece->counts[level]; i++)
        mark(piece, level + 1, at + i * piece->strides[level], bytes);
}

/* Whether the one, in the CTA at these coordinates, meets the other in the CTA at those. */
static bool touch(const Family *left, const int64_t *at, const Family *right, const int64_t *other) {
    uint8_t one[BYTES] = {0}, two[BYTES] = {0};
    int64_t to_left = left->piece->begin, to_right = right->piece->begin;
    for (unsigned i = 0; i < OVERLAP_AXES; i++) {
        to_left += left->by[i] * (at[i] - left->low[i]);
        to_right += right->by[i] * (other[i] - right->low[i]);
    }
    mark(left->piece, 0, to_left, one);
    mark(right->piece, 0, to_right, two);
    for (unsigned i = 0; i < BYTES; i++)
        if (one[i] && two[i])
            return true;
    return false;
}

static bool next_of(const Family *family, int64_t *at) {
    for (unsigned i = 0; i < OVERLAP_AXES; i++) {
        if (++at[i] <= family->high[i])
            return true;
        at[i] = family->low[i];
    }
    return false;
}

static bool any_overlap(const Family *left, const Family *right, bool same, bool within) {
    int64_t at[OVERLAP_AXES], other[OVERLAP_AXES];
    memcpy(at, left->low, sizeof at);
    do {
        memcpy(other, right->low, sizeof other);
        do {
            bool itself = memcmp(at, other, sizeof at) == 0;
            if ((within ? itself : !same || !itself) && touch(left, at, right, other))
                return true;
        } while (next_of(right, other));
    } while (next_of(left, at));
    return false;
}

static void families_meet_where_their_members_do(void **state) {
    (void)state;
    unsigned found = 0, undecided = 0;
    for (unsigned round = 0; round < 1500; round++) {
        Piece pieces[2] = {any_piece(), any_piece()};
        Family left = any_family(&pieces[0]), right = any_family(&pieces[1]);
        bool same = round % 2;
        int64_t at[OVERLAP_AXES], other[OVERLAP_AXES];
        if (same) {
            memcpy(right.low, left.low, sizeof right.low);
            memcpy(right.high, left.high, sizeof right.high);
            if (round % 4 == 1)
                memcpy(right.by, left.by, sizeof right.by);
            assert_int_equal(overlap_within(&left, &right),
                             any_overlap(&left, &right, true, true) ? OVERLAP_FOUND : OVERLAP_NEVER);
        }
        Overlap overlap = overlap_families(&left, &right, same, at, other);
        if (overlap == OVERLAP_UNDECIDED) {
            assert_true(same && memcmp(left.by, right.by, sizeof left.by) != 0);
            undecided++;
            continue;
        }
        assert_int_equal(overlap, any_overlap(&left, &right, same, false) ? OVERLAP_FOUND : OVERLAP_NEVER);
        if (overlap == OVERLAP_FOUND) {
            found++;
            assert_true(touch(&left, at, &right, other));
            assert_false(same && memcmp(at, other, sizeof at) == 0);
        }
    }
    assert_in_range(found, 300, 1400);
    assert_in_range(undecided, 0, 150);
}

/* ---- Pieces --------------------------------------------------------------------------------------- */

static void runs_are_the_same_bytes_as_their_pieces(void **state) {
    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        Arena arena;
        Run runs[64];
        Bytes bytes = {.runs = runs};
        uint8_t given[BYTES] = {0}, made[BYTES] = {0};
        int64_t at = roll(-500, 0), length = roll(1, 4), gap = roll(1, 6);
        arena_init(&arena, (size_t)1 << 20);
        for (int64_t i = roll(1, 60); i > 0; i--) {
            if (!roll(0, 9))
                gap = roll(1, 6);
            runs[bytes.count++] = (Run){at, at + length};
            memset(given + MIDDLE + at, 1, (size_t)length);
            at += length + gap;
        }
        uint32_t count;
        const Piece *pieces = overlap_pieces(&arena, &bytes, &count);
        for (uint32_t i = 0; i < count; i++)
            mark(&pieces[i], 0, pieces[i].begin, made);
        assert_memory_equal(given, made, BYTES);
        arena_free(&arena);
    }
}

static void a_tile_is_one_piece(void **state) {
    (void)state;
    Arena arena;
    Run runs[4 * 32];
    Bytes bytes = {runs, 4 * 32};
    uint32_t count;
    arena_init(&arena, (size_t)1 << 20);
    for (int64_t i = 0; i < 4 * 32; i++)
        runs[i] = (Run){i / 32 * 100000 + i % 32 * 512, i / 32 * 100000 + i % 32 * 512 + 64};
    const Piece *pieces = overlap_pieces(&arena, &bytes, &count);
    assert_int_equal(count, 1);
    assert_int_equal(pieces[0].levels, 2);
    Run hull = overlap_hull(&pieces[0]);
    assert_int_equal(hull.begin, 0);
    assert_int_equal(hull.end, 3 * 100000 + 31 * 512 + 64);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_found_where_they_are),
        cmocka_unit_test(sums_of_billions_take_no_time),
        cmocka_unit_test(families_meet_where_their_members_do),
        cmocka_unit_test(runs_are_the_same_bytes_as_their_pieces),
        cmocka_unit_test(a_tile_is_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
