/* Polls that could have ended earlier: a strong read of which only a comparison lets a loop end (SitePoll) would have
 * ended it on any value that compares so. It is played where the first of these was there, as a run that is as real as
 * the one that was recorded has it: what others did between is not ordered before what comes behind the loop, and need
 * not have been.
 *
 * Between that place and the one that was recorded there may be only reads, and atomics that go on with what was
 * released, so that nothing is ordered there that was not so in the recorded run: all races of that one are found, too.
 * If somebody has to wait there for a poll that itself waits for him, by what else orders the two, it is played where
 * it was recorded: each has a turn there, too, in reserve. */
#include "analyze/recording/internal.h"

#include "analyze/recording/order.h"

#include <stdlib.h>

enum { MOST_BACK = 4096 }; /* accesses before a poll that are looked at */

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

/* Whether it ends its loop on that value, and leaves it as it is. */
static bool ends_on(const Strong *item, uint64_t value) {
    Strong as = *item;
    uint64_t left;
    as.found = value;
    return compares(item->poll, value, item->poll->told ? item->compared : item->poll->with) &&
           strong_leaves(&as, &left) && left == value;
}

/* ---- Where it ends -------------------------------------------------------------------------------- */

/* The accesses to one place, in their order. */
typedef struct Row {
    const Strong **items;
    uint32_t count;
    uint32_t *early; /* of each: the number in front of which it could have been; its own: it is where it was */
    bool any;
} Row;

/* What was there before the access. */
static bool held_before(const Row *row, uint32_t at, uint64_t *value) {
    if (row->items[at]->finds) {
        *value = row->items[at]->found;
        return true;
    }
    return at && strong_leaves(row->items[at - 1], value);
}

/* Whether a poll may be played before it instead of behind it. */
static bool may_pass(const Strong *poll, const Strong *before) {
    bool reads = before->kind == STRONG_READ ||
                 (before->kind == STRONG_CAS && before->finds && before->found != before->compared);
    return before->thread != poll->thread && (reads || before->goes_on);
}

static void find_early(Row *row, uint32_t at) {
    const Strong *poll = row->items[at];
    uint64_t value;
    if (!poll->poll || !poll->finds || !ends_on(poll, poll->found))
        return;
    for (uint32_t i = at; i-- > 0 && at - i < MOST_BACK && may_pass(poll, row->items[i]);)
        if (held_before(row, i, &value) && value != poll->found && ends_on(poll, value))
            row->early[at] = i;
    row->any |= row->early[at] != at;
}

static void take_row(Row *row, const Strong *items, uint32_t count, const uint32_t *numbers) {
    bool polls = false;
    row->count = count;
    row->any = false;
    for (uint32_t i = 0; i < count; i++) {
        row->items[numbers[items[i].index]] = &items[i];
        row->early[i] = i;
        polls |= items[i].poll != NULL;
    }
    for (uint32_t i = 0; i < count && polls; i++)
        find_early(row, i);
}

/* ---- Turns ---------------------------------------------------------------------------------------- */

static void note(StrongTurns *turns, const Row *row, uint32_t at) {
    uint64_t value = 0;
    held_before(row, row->early[at], &value);
    if (!turns->early_count++)
        turns->early = (EarlyPoll){row->items[at]->site, row->items[at]->found, value};
}

static StrongTurn *add_turn(StrongTurns *turns, const Strong *item, uint32_t number, TurnState state) {
    StrongTurn *turn = &turns->items[turns->count++];
    *turn = (StrongTurn){.key = item->key, .number = number, .state = (uint8_t)state};
    return turn;
}

/* `first`, `next`: lists of those who come before each. */
static void add_row(StrongTurns *turns, const Row *row, uint32_t *first, uint32_t *next) {
    uint32_t number = 0, begin = turns->count;
    for (uint32_t i = 0; i < row->count; i++)
        first[i] = 0;
    for (uint32_t i = row->count; row->any && i-- > 0;)
        if (row->early[i] != i) {
            next[i] = first[row->early[i]];
            first[row->early[i]] = i + 1;
        }
    for (uint32_t i = 0; i < row->count; i++) {
        const Strong *item = row->items[i];
        for (uint32_t k = first[i]; k; k = next[k - 1]) {
            turns->numbers[row->items[k - 1]->index] = number;
            add_turn(turns, row->items[k - 1], number++, TURN_EARLY);
            note(turns, row, k - 1);
        }
        bool moved = row->early[i] != i;
        uint32_t early = turns->numbers[item->index];
        StrongTurn *turn = add_turn(turns, item, number++, moved ? TURN_RESERVE : TURN_ONLY);
        if (moved)
            turns->items[begin + early].other = turn->number;
        else
            turns->numbers[item->index] = turn->number;
    }
}

void polls_turns(StrongTurns *turns, const Strong *items, uint32_t count, Arena *arena) {
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, count + 1), *next = ARENA_ARRAY(arena, uint32_t, count + 1);
    Row row = {.items = ARENA_ARRAY(arena, const Strong *, count + 1),
               .early = ARENA_ARRAY(arena, uint32_t, count + 1)};
    turns->items = ARENA_ARRAY(arena, StrongTurn, 2 * (size_t)count + 1);
    turns->count = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        take_row(&row, items + i, end - i, turns->numbers);
        add_row(turns, &row, first, next);
    }
}

void polls_tell(const Player *player, Verdict *verdict, size_t first) {
    const EarlyPoll *early = &player->turns->early;
    const PlaySites *sites = player->sites;
    if (!player->turns->early_count || early->site < sites->items || early->site >= sites->items + sites->sites.count)
        return;
    const char *words = verdict_text(
        verdict,
        "in an order of what was recorded in which polls end as early as they could: nothing orders the two; the poll "
        "at line %u (%.*s), which found %llu, would have ended on %llu",
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
    for (uint32_t i = 0; turns->early_count && i < turns->place_capacity; i++) {
        StrongPlace *place = &turns->places[i];
        StrongTurn *turn = place->next < place->end ? &turns->items[place->next] : NULL;
        if (!turn || turn->state != TURN_EARLY)
            continue;
        turn->state = TURN_LEFT;
        turn_of(turns, place, turn->other)->state = TURN_ONLY;
        *woken = turns_on(turns, place);
        return true;
    }
    return false;
}
