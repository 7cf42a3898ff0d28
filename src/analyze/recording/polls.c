/* Polls that could have ended earlier: a strong read of which only a comparison lets a loop end (SitePoll) would have
 * ended it on any value that compares so. It is played where the first of these was there, as a run that is as real as
 * the one that was recorded has it: what others did between is not ordered before what comes behind the loop, and need
 * not have been.
 *
 * Between that place and the one that was recorded there may be only reads, and atomics that go on with what was
 * released, so that nothing is ordered there that was not so in the recorded run: all races of that one are found, too.
 * If somebody has to wait there for a poll that itself waits for him, by what else orders the two, it is played where
 * it was recorded: each has a turn there, too, in reserve. In the same way a read of what was there twice, which can
 * only have been made the second time. */
#include "analyze/recording/internal.h"

#include "analyze/recording/order.h"

#include <stdlib.h>

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
    return compares(item->poll, value, item->poll->told ? item->compared : item->poll->with);
}

/* Whether it ends its loop on that value, and leaves it as it is. */
static bool ends_on(const Strong *item, uint64_t value) {
    Strong as = *item;
    uint64_t left;
    as.found = value;
    return poll_ends(item, value) && strong_leaves(&as, &left) && left == value;
}

/* ---- Where it ends -------------------------------------------------------------------------------- */

/* The accesses to one place, in their order. Each has a turn; some have two, of which the second is in reserve. */
typedef struct Row {
    const Strong **items;
    uint32_t count;
    uint32_t *first, *second; /* of each: before which it has them; its own number: where it was found to be. NONE */
    bool any;                 /* some are elsewhere */
    uint32_t *lists, *next;   /* of those: who comes before each, + 1, and the next of the list */
    uint32_t *slots;          /* of each: its first turn */
} Row;
enum { NONE = UINT32_MAX };

/* What was there before the access; or behind all of them. */
static bool held_before(const Row *row, uint32_t at, uint64_t *value) {
    if (at < row->count && row->items[at]->finds) {
        *value = row->items[at]->found;
        return true;
    }
    return at && strong_leaves(row->items[at - 1], value);
}

static bool only_reads(const Strong *item) {
    return item->kind == STRONG_READ || (item->kind == STRONG_CAS && item->finds && item->found != item->compared);
}

/* A poll may be played before those who only read, and before atomics by which all go on, instead of behind them. */
static void find_early(Row *row, uint32_t at) {
    const Strong *poll = row->items[at];
    uint64_t value;
    bool changed = false;
    if (!poll->poll || !poll->finds || !ends_on(poll, poll->found))
        return;
    for (uint32_t i = at; i-- > 0 && at - i < MOST_BACK;) {
        const Strong *before = row->items[i];
        if (before->thread == poll->thread || (!only_reads(before) && !before->goes_on))
            break;
        changed |= before->goes_on;
        if (changed && held_before(row, i, &value) && ends_on(poll, value)) {
            row->first[at] = i;
            row->second[at] = at;
            row->any = true;
        }
    }
}

/* What was read may have been there again later: if it cannot be read here, then there. */
static void find_late(Row *row, uint32_t at) {
    const Strong *item = row->items[at];
    uint64_t value;
    if (!only_reads(item) || !item->finds || row->second[at] != NONE)
        return;
    bool changed = false;
    for (uint32_t i = at + 1; i <= row->count && i - at < MOST_FORTH; i++) {
        bool known = held_before(row, i, &value);
        if (changed && known && value == item->found) {
            row->second[at] = i;
            row->any = true;
            return;
        }
        if (i < row->count && row->items[i]->thread == item->thread)
            return;
        changed |= !known || value != item->found;
    }
}

static void take_row(Row *row, const Strong *items, uint32_t count, const uint32_t *numbers) {
    row->count = count;
    row->any = false;
    for (uint32_t i = 0; i < count; i++) {
        row->items[numbers[items[i].index]] = &items[i];
        row->first[i] = i;
        row->second[i] = NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        find_early(row, i);
        find_late(row, i);
    }
}

/* ---- Turns ---------------------------------------------------------------------------------------- */

static void note(StrongTurns *turns, const Row *row, uint32_t at) {
    uint64_t value = 0;
    held_before(row, row->first[at], &value);
    if (!turns->early.site)
        turns->early = (EarlyPoll){row->items[at]->site, row->items[at]->found, value};
}

static void add_turn(StrongTurns *turns, Row *row, uint32_t at, bool second, uint32_t number) {
    const Strong *item = row->items[at];
    TurnState state = second ? TURN_RESERVE : row->second[at] != NONE ? TURN_EARLY : TURN_ONLY;
    turns->items[turns->count] = (StrongTurn){.key = item->key, .number = number, .state = (uint8_t)state};
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

static void add_row(StrongTurns *turns, Row *row) {
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

/* The accesses to a place that nobody writes. False: somebody does. */
static bool add_reads(StrongTurns *turns, const Strong *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (items[i].kind != STRONG_READ)
            return false;
    for (uint32_t i = 0; i < count; i++)
        turns->items[turns->count++] =
            (StrongTurn){.key = items[i].key, .number = turns->numbers[items[i].index], .state = TURN_ANY};
    return true;
}

void polls_turns(StrongTurns *turns, const Strong *items, uint32_t count, Arena *arena) {
    Row row = {.items = ARENA_ARRAY(arena, const Strong *, count + 1)};
    uint32_t **lists[] = {&row.first, &row.second, &row.lists, &row.next, &row.slots};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = ARENA_ARRAY(arena, uint32_t, (size_t)count + 2);
    turns->items = ARENA_ARRAY(arena, StrongTurn, 2 * (size_t)count + 1);
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

void polls_tell(const Player *player, Verdict *verdict, size_t first) {
    const EarlyPoll *early = player->turns ? &player->turns->early : NULL; /* NULL: it was not played */
    const PlaySites *sites = player->sites;
    if (!early || !early->site || early->site < sites->items || early->site >= sites->items + sites->sites.count)
        return;
    const char *words = verdict_text(
        verdict,
        "in an order of what was recorded in which polls end as early as they could: nothing orders the two; the poll "
        "at line %u (%.*s), which found %llu, would have ended on %llu, which was there before",
        code_line(player->check->program, early->site->code), STR_ARG(early->site->code->form->text),
        (unsigned long long)early->found, (unsigned long long)early->value);
    for (size_t i = first; i < verdict->finding_count; i++)
        if (verdict->findings[i].space && strcmp(verdict->findings[i].space, "global") == 0)
            verdict->findings[i].schedule = words;
}

/* ---- Those who cannot come so early --------------------------------------------------------------- */

static StrongTurn *turn_of(const StrongTurns *turns, const StrongPlace *place, uint32_t number) {
    return &turns->items[place->begin + number]; /* numbers have no gaps */
}

uint32_t polls_number(const StrongTurns *turns, const StrongPlace *place, uint32_t number) {
    const StrongTurn *turn = turn_of(turns, place, number);
    if (number >= place->end - place->begin) /* of a recording that is damaged */
        return number;
    return turn->state == TURN_LEFT ? turn->other : number;
}

bool polls_skip(StrongTurns *turns, uint32_t *woken) {
    for (uint32_t i = 0; turns->doubled && i < turns->place_capacity; i++) {
        uint32_t at = (turns->skipped_at + i) & (turns->place_capacity - 1);
        StrongPlace *place = &turns->places[at];
        StrongTurn *turn = place->next < place->end ? &turns->items[place->next] : NULL;
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
