/* Polls that could have ended earlier: a strong read of which only a comparison lets a loop end (SitePoll) would have
 * ended it on any value that compares so. It is played where the first of these was there, as a run that is as real as
 * the one that was recorded has it: what others did between is not ordered before what comes behind the loop, and need
 * not have been.
 *
 * Between that place and the one that was recorded there may be only reads, and atomics that go on with what was
 * released, so that nothing is ordered there that was not so in the recorded run: all races of that one are found, too.
 * If a thread has to wait there for a poll that itself waits for it, by what else orders the two, it is played where
 * it was recorded: each has a turn there, too, in reserve. In the same way a read of what was there twice, which can
 * only have been made the second time. */
#include "check/replay/internal.h"

#include "base/deadline.h"
#include "check/replay/order/order.h"

#include <string.h>

enum {
    MOST_BACK = 4096, /* accesses before a poll that are looked at */
    MOST_FORTH = 256, /* ... and behind a read */
};

/* ---- When a poll ends ----------------------------------------------------------------------------- */

static bool compares(const SitePoll *poll, uint64_t found, uint64_t with) {
    unsigned unused = 64U - poll->bits;
    uint64_t a = found << unused, b = with << unused;
    int order = poll->is_signed ? ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b) : (a > b) - (a < b);
    switch ((PollCompare)poll->compare) {
    case POLL_EQUAL:
        return order == 0;
    case POLL_DIFFERS:
        return order != 0;
    case POLL_LESS:
        return order < 0;
    case POLL_AT_MOST:
        return order <= 0;
    case POLL_GREATER:
        return order > 0;
    case POLL_AT_LEAST:
        return order >= 0;
    }
    return false;
}

bool poll_ends(const Strong *item, uint64_t value) {
    return compares(item->poll, value, item->poll->reported ? item->compared : item->poll->with);
}

/* Whether it ends its loop on that value, and leaves it as it is. */
static bool ends_on(const Strong *item, uint64_t value) {
    if (item->kind == STRONG_READ)
        return poll_ends(item, value);
    Strong as = *item;
    uint64_t left;
    as.found = value;
    return poll_ends(item, value) && strong_leaves(&as, &left) && left == value;
}

/* ---- Where it ends -------------------------------------------------------------------------------- */

/* Where the place holds one value: before all accesses from `begin` on, up to the next stretch. */
typedef struct SpinLoopSegment {
    uint64_t value;
    uint32_t begin;
    uint32_t again; /* the next segment with the same value; NONE */
    bool known;
} SpinLoopSegment;

/* What comes last of each key, for as many as there are accesses. */
typedef struct SpinLoopLatest {
    uint64_t *keys;
    uint32_t *at; /* + 1; 0: free */
    uint32_t mask;
} SpinLoopLatest;

/* Polls that end alike, and on which of some segments first. */
typedef struct SpinLoopEnding {
    const Strong *poll; /* one of them; NULL: none yet */
    uint32_t from, to;  /* these were looked at, the last, too */
    uint32_t first;     /* NONE */
} SpinLoopEnding;

/* The accesses to one place, in their order. Each has a turn; some have two, of which the second is in reserve. */
typedef struct SpinLoopRow {
    const Strong **items;
    uint32_t count;
    uint32_t *first, *second; /* of each: before which it has them; its own number: where it was found to be. NONE */
    bool any;                 /* some are elsewhere */
    uint32_t *lists, *next;   /* of those: who comes before each, + 1, and the next of the list */
    uint32_t *slots;          /* of each: its first turn */
    uint32_t *own, *later;    /* of each: behind its thread's access before it; its thread's next one, NONE */
    SpinLoopSegment *segments;
    uint32_t *segment_of; /* of each; and of the end */
    SpinLoopLatest latest;
    SpinLoopEnding ending; /* of the last poll */
} SpinLoopRow;
enum { NONE = UINT32_MAX };

/* What was there before the access; or behind all of them. */
static bool held_before(const SpinLoopRow *row, uint32_t at, uint64_t *value) {
    if (at < row->count && row->items[at]->finds) {
        *value = row->items[at]->found;
        return true;
    }
    return at && strong_leaves(row->items[at - 1], value);
}

static bool only_reads(const Strong *item) {
    return item->kind == STRONG_READ || (item->kind == STRONG_CAS && item->finds && item->found != item->compared);
}

static void latest_clear(SpinLoopLatest *latest, uint32_t count) {
    uint32_t capacity = 4;
    while (capacity < 2 * count)
        capacity *= 2;
    memset(latest->at, 0, capacity * sizeof *latest->at);
    latest->mask = capacity - 1;
}

/* The last of that key so far, + 1; from now on it is `at`. */
static uint32_t latest_put(SpinLoopLatest *latest, uint64_t key, uint32_t at) {
    uint32_t seat = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & latest->mask;
    while (latest->at[seat] && latest->keys[seat] != key)
        seat = (seat + 1) & latest->mask;
    uint32_t before = latest->at[seat];
    latest->keys[seat] = key;
    latest->at[seat] = at + 1;
    return before;
}

static void find_own(SpinLoopRow *row) {
    latest_clear(&row->latest, row->count);
    for (uint32_t i = 0; i < row->count; i++) {
        row->own[i] = latest_put(&row->latest, row->items[i]->thread, i);
        row->later[i] = NONE;
        if (row->own[i])
            row->later[row->own[i] - 1] = i;
    }
}

static void find_segments(SpinLoopRow *row) {
    uint32_t count = 0;
    for (uint32_t i = 0; i <= row->count; i++) {
        uint64_t value = 0;
        bool known = held_before(row, i, &value);
        const SpinLoopSegment *last = count ? &row->segments[count - 1] : NULL;
        if (!last || last->known != known || last->value != value)
            row->segments[count++] = (SpinLoopSegment){value, i, NONE, known};
        row->segment_of[i] = count - 1;
    }
    latest_clear(&row->latest, count);
    for (uint32_t i = count; i-- > 0;)
        if (row->segments[i].known)
            row->segments[i].again = latest_put(&row->latest, row->segments[i].value, i) - 1; /* 0: NONE */
}

/* Whether they end on the same values, whatever they found. */
static bool end_symmetry(const Strong *one, const Strong *other) {
    return one->poll == other->poll && one->kind == other->kind && one->bytes == other->bytes &&
           one->finds == other->finds && one->compared == other->compared &&
           (one->kind == STRONG_READ || one->written == other->written);
}

/* The first segment from `from` to `to` that the poll ends on; NONE. */
static uint32_t first_end(const SpinLoopRow *row, const Strong *poll, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i <= to; i++)
        if (row->segments[i].known && ends_on(poll, row->segments[i].value))
            return i;
    return NONE;
}

/* The same; of many that wait for one value, each has to be told where it comes only once. */
static uint32_t find_end(SpinLoopRow *row, const Strong *poll, uint32_t from, uint32_t to) {
    SpinLoopEnding *known = &row->ending;
    bool symmetry = known->poll && end_symmetry(known->poll, poll) && to >= known->to && from <= known->to &&
                    (known->first == NONE || known->first >= from);
    if (!symmetry) {
        known->from = from;
        known->first = first_end(row, poll, from, to);
    } else {
        uint32_t before = from < known->from ? first_end(row, poll, from, known->from - 1) : NONE;
        known->from = from < known->from ? from : known->from;
        if (before != NONE)
            known->first = before;
        else if (known->first == NONE)
            known->first = first_end(row, poll, known->to + 1, to);
    }
    known->poll = poll;
    known->to = to;
    return known->first;
}

/* A poll may be played before those who only read, and before atomics by which all go on, instead of behind them:
 * before the last of these, and not before others, which end at `least`. */
static void find_early(SpinLoopRow *row, uint32_t at, uint32_t least, uint32_t changed) {
    const Strong *poll = row->items[at];
    least = row->own[at] > least ? row->own[at] : least;
    least = at >= MOST_BACK && at - MOST_BACK + 1 > least ? at - MOST_BACK + 1 : least;
    if (changed <= least || !poll->poll || !poll->finds || !ends_on(poll, poll->found))
        return;
    uint32_t end = find_end(row, poll, row->segment_of[least], row->segment_of[changed - 1]);
    if (end == NONE)
        return;
    row->first[at] = row->segments[end].begin > least ? row->segments[end].begin : least;
    row->second[at] = at;
    row->any = true;
}

/* What was read may have been there again later: if it cannot be read here, then there. */
static void find_late(SpinLoopRow *row, uint32_t at) {
    const Strong *item = row->items[at];
    if (!only_reads(item) || !item->finds || row->second[at] != NONE)
        return;
    uint32_t again = row->segments[row->segment_of[at]].again;
    uint32_t to = again == NONE ? NONE : row->segments[again].begin;
    if (to == NONE || to - at >= MOST_FORTH || to > row->later[at])
        return;
    row->second[at] = to;
    row->any = true;
}

static void take_row(SpinLoopRow *row, const Strong *items, uint32_t count, const uint32_t *numbers) {
    uint32_t least = 0, changed = 0; /* behind the last that is not passed; behind the last that goes on */
    row->count = count;
    row->any = false;
    row->ending.poll = NULL;
    for (uint32_t i = 0; i < count; i++) {
        row->items[numbers[items[i].index]] = &items[i];
        row->first[i] = i;
        row->second[i] = NONE;
    }
    if (count == 1)
        return;
    find_own(row);
    find_segments(row);
    for (uint32_t i = 0; i < count && !deadline_passed(); i++) {
        find_early(row, i, least, changed);
        find_late(row, i);
        changed = row->items[i]->goes_on ? i + 1 : changed;
        least = !only_reads(row->items[i]) && !row->items[i]->goes_on ? i + 1 : least;
    }
}

/* ---- Turns ---------------------------------------------------------------------------------------- */

static void note(ModificationOrders *turns, const SpinLoopRow *row, uint32_t at) {
    uint64_t value = 0;
    held_before(row, row->first[at], &value);
    if (!turns->early.site)
        turns->early = (EarlyPoll){row->items[at]->site, row->items[at]->found, value};
}

static void add_turn(ModificationOrders *turns, SpinLoopRow *row, uint32_t at, bool second, uint32_t number) {
    const Strong *item = row->items[at];
    TurnState state = second ? TURN_RESERVE : row->second[at] != NONE ? TURN_EARLY : TURN_ONLY;
    turns->items[turns->count] = (ModificationOrder){.key = item->key, .number = number, .state = (uint8_t)state};
    if (second) {
        turns->items[row->slots[at]].other = number;
    } else {
        turns->numbers[item->index] = number;
        row->slots[at] = turns->count;
    }
    turns->doubled += second;
    turns->count++;
    if (!second && row->first[at] != at)
        note(turns, row, at);
}

static void add_row(ModificationOrders *turns, SpinLoopRow *row) {
    uint32_t number = 0;
    for (uint32_t i = 0; row->any && i <= row->count; i++)
        row->lists[i] = 0;
    for (uint32_t i = row->count; row->any && i-- > 0;) {
        uint32_t to = row->first[i] != i ? row->first[i] : row->second[i];
        if (to == NONE)
            continue;
        row->next[i] = row->lists[to];
        row->lists[to] = i + 1;
    }
    for (uint32_t i = 0; i <= row->count; i++) {
        for (uint32_t k = row->any ? row->lists[i] : 0; k; k = row->next[k - 1])
            add_turn(turns, row, k - 1, row->first[k - 1] == k - 1, number++);
        if (i < row->count)
            add_turn(turns, row, i, row->first[i] != i, number++);
    }
}

/* The accesses to a place that nothing writes. False: something does. */
static bool add_reads(ModificationOrders *turns, const Strong *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (items[i].kind != STRONG_READ)
            return false;
    for (uint32_t i = 0; i < count; i++)
        turns->items[turns->count++] =
            (ModificationOrder){.key = items[i].key, .number = turns->numbers[items[i].index], .state = TURN_ANY};
    return true;
}

static uint32_t most_of_a_key(const Strong *items, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        most = end - i > most ? end - i : most;
    }
    return most;
}

void polls_turns(ModificationOrders *turns, const Strong *items, uint32_t count, Arena *arena) {
    SpinLoopRow row = {0};
    uint32_t **lists[] = {&row.first, &row.second, &row.lists, &row.next,
                          &row.slots, &row.own,    &row.later, &row.segment_of};
    uint32_t most = most_of_a_key(items, count);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = ARENA_ARRAY(arena, uint32_t, (size_t)most + 2);
    row.items = ARENA_ARRAY(arena, const Strong *, most + 1);
    row.segments = ARENA_ARRAY(arena, SpinLoopSegment, (size_t)most + 1);
    row.latest.keys = ARENA_ARRAY(arena, uint64_t, 4 * (size_t)most + 8);
    row.latest.at = ARENA_ARRAY(arena, uint32_t, 4 * (size_t)most + 8);
    turns->items = ARENA_ARRAY(arena, ModificationOrder, 2 * (size_t)count + 1);
    turns->count = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        if (add_reads(turns, items + i, end - i))
            continue;
        take_row(&row, items + i, end - i, turns->numbers);
        add_row(turns, &row);
    }
}

void polls_report(const Player *player, Verdict *verdict, size_t first) {
    const EarlyPoll *early = player->turns ? &player->turns->early : NULL; /* NULL: it was not played */
    const PlaySites *sites = player->sites;
    if (!early || !early->site || early->site < sites->items || early->site >= sites->items + sites->sites.count)
        return;
    const char *words = verdict_text(
        verdict,
        "in an order of the recorded operations in which polls end as early as possible: the poll at line %u "
        "(%.*s), which found %llu, could have ended on the earlier value %llu",
        code_line(player->check->program, early->site->code), STR_ARG(early->site->code->form->text),
        (unsigned long long)early->found, (unsigned long long)early->value);
    for (size_t i = first; i < verdict->finding_count; i++)
        if (verdict->findings[i].space && strcmp(verdict->findings[i].space, "global") == 0)
            verdict->findings[i].schedule = words;
}

/* ---- Those who cannot come so early --------------------------------------------------------------- */

static ModificationOrder *turn_of(const ModificationOrders *turns, const StrongPlace *place, uint32_t number) {
    return &turns->items[place->begin + number]; /* numbers have no gaps */
}

uint32_t polls_number(const ModificationOrders *turns, const StrongPlace *place, uint32_t number) {
    const ModificationOrder *turn = turn_of(turns, place, number);
    if (number >= place->end - place->begin) /* of a recording that is damaged */
        return number;
    return turn->state == TURN_LEFT ? turn->other : number;
}

bool polls_skip(ModificationOrders *turns, uint32_t *woken) {
    for (uint32_t i = 0; turns->doubled && i < turns->places.capacity; i++) {
        uint32_t at = (turns->skipped_at + i) & (turns->places.capacity - 1);
        StrongPlace *place = &turns->places.items[at];
        ModificationOrder *turn = place->next < place->end ? &turns->items[place->next] : NULL;
        if (!turn || turn->state != TURN_EARLY)
            continue;
        turn->state = TURN_LEFT;
        turns->skipped_at = at;
        turn_of(turns, place, turn->other)->state = TURN_ONLY;
        *woken = turns_on(turns, place);
        return true;
    }
    return false;
}
