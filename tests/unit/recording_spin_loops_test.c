/* Where polls could have ended, and where reads could have been made again, is found from where values change
 * (spin_loops.c): looked for access by access, it has to be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "check/replay/internal.h"
#include "share.h"

enum { MOST = 60, NONE = -1 };

static uint64_t state;
static uint32_t draw(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static const SitePoll at_least = {.bits = 32, .compare = POLL_AT_LEAST, .with = 5};
static const SitePoll reported = {.bits = 32, .compare = POLL_AT_LEAST, .reported = true};
static const SitePoll differs = {.bits = 32, .compare = POLL_DIFFERS, .with = 1};

/* Accesses that fit each other, in their order. */
static uint32_t draw_row(Strong *items) {
    uint32_t count = 1 + draw(MOST - 1);
    uint64_t held = draw(3);
    bool counts = draw(2);
    for (uint32_t i = 0; i < count; i++) {
        Strong *item = &items[i];
        *item = (Strong){.key = 64, .index = i, .thread = draw(8), .bytes = 4, .found = held, .finds = true};
        switch (draw(9)) {
        case 0: /* unlocks, or writes what was there */
            item->kind = STRONG_WRITE;
            item->written = counts ? held + 1 : draw(2);
            item->finds = draw(2);
            held = item->written;
            break;
        case 1:
            item->kind = STRONG_ADD;
            item->written = counts ? 1 : 0;
            item->goes_on = draw(4) > 0;
            held += item->written;
            break;
        case 2:
            item->kind = STRONG_CAS;
            item->compared = draw(2);
            item->written = 1;
            item->goes_on = draw(2);
            item->poll = draw(2) ? &differs : NULL;
            held = item->found == item->compared ? 1 : held;
            break;
        case 3: /* polls, and goes on */
            item->kind = draw(2) ? STRONG_ADD : STRONG_MAX;
            item->written = item->kind == STRONG_MAX ? draw(6) : !draw(4);
            item->goes_on = true;
            item->compared = draw(counts ? MOST / 4 : 3);
            item->poll = &reported;
            strong_leaves(item, &held);
            break;
        case 4: /* goes back */
            item->kind = STRONG_ADD;
            item->written = held && !draw(3) ? UINT32_MAX : 0;
            item->goes_on = true;
            strong_leaves(item, &held);
            break;
        default:
            item->kind = STRONG_READ;
            item->compared = draw(4);
            item->poll = draw(4) ? draw(2) ? &at_least : &reported : NULL;
        }
    }
    return count;
}

/* ---- Access by access ---- */

static bool held_before(const Strong *items, uint32_t count, uint32_t at, uint64_t *value) {
    if (at < count && items[at].finds) {
        *value = items[at].found;
        return true;
    }
    return at && strong_leaves(&items[at - 1], value);
}

static bool only_reads(const Strong *item) {
    return item->kind == STRONG_READ || (item->kind == STRONG_CAS && item->finds && item->found != item->compared);
}

static bool ends_on(const Strong *item, uint64_t value) {
    Strong as = *item;
    uint64_t left;
    as.found = value;
    return poll_ends(item, value) && strong_leaves(&as, &left) && left == value;
}

static int early(const Strong *items, uint32_t count, uint32_t at) {
    const Strong *poll = &items[at];
    bool changed = false;
    int found = NONE;
    uint64_t value;
    if (!poll->poll || !poll->finds || !ends_on(poll, poll->found))
        return NONE;
    for (uint32_t i = at; i-- > 0;) {
        if (items[i].thread == poll->thread || (!only_reads(&items[i]) && !items[i].goes_on))
            break;
        changed |= items[i].goes_on;
        if (changed && held_before(items, count, i, &value) && ends_on(poll, value))
            found = (int)i;
    }
    return found;
}

static int late(const Strong *items, uint32_t count, uint32_t at) {
    bool changed = false;
    uint64_t value;
    if (!only_reads(&items[at]) || !items[at].finds)
        return NONE;
    for (uint32_t i = at + 1; i <= count; i++) {
        bool known = held_before(items, count, i, &value);
        if (changed && known && value == items[at].found)
            return (int)i;
        if (i < count && items[i].thread == items[at].thread)
            return NONE;
        changed |= !known || value != items[at].found;
    }
    return NONE;
}

/* ---- The two ---- */

/* How many have two turns. */
static uint32_t compare(const Strong *items, uint32_t count) {
    Arena arena;
    arena_init(&arena, (size_t)64 << 20);
    ModificationOrders turns = {.numbers = ARENA_ARRAY(&arena, uint32_t, count)};
    uint32_t order[2 * MOST], expected = 0, doubled = 0; /* whose turn it is; + MOST: the one in reserve */
    bool only_reading = true;
    for (uint32_t i = 0; i < count; i++) {
        turns.numbers[i] = i;
        only_reading &= items[i].kind == STRONG_READ;
    }
    polls_turns(&turns, items, count, &arena);
    for (uint32_t i = 0; i <= count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            int before = early(items, count, k), behind = before == NONE ? late(items, count, k) : NONE;
            if (before == (int)i)
                order[expected++] = k;
            else if (behind == (int)i)
                order[expected++] = k + MOST;
        }
        if (i < count)
            order[expected++] = early(items, count, i) == NONE ? i : i + MOST;
    }
    for (uint32_t i = 0; i < expected; i++)
        doubled += order[i] >= MOST;
    if (only_reading) {
        assert_int_equal(turns.count, count);
    } else {
        assert_int_equal(turns.count, expected);
        assert_int_equal(turns.doubled, doubled);
        for (uint32_t i = 0; i < expected; i++) {
            assert_int_equal(turns.items[i].number, i);
            assert_int_equal(turns.items[i].state == TURN_RESERVE, order[i] >= MOST);
            if (order[i] < MOST)
                assert_int_equal(turns.numbers[order[i]], i);
            else
                assert_int_equal(turns.items[turns.numbers[order[i] - MOST]].other, i);
        }
    }
    arena_free(&arena);
    return only_reading ? 0 : doubled;
}

static void random_rows(void **unused) {
    (void)unused;
    uint32_t doubled = 0;
    for (uint32_t seed = 0; seed < share_of(3000); seed++) {
        Strong items[MOST];
        state = seed * 71 + 9;
        doubled += compare(items, draw_row(items));
    }
    assert_true(doubled > share_of(3000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
