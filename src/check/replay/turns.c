/* Strong accesses are played in the order in which they were made (order.h): each waits for its turn at the place that
 * it is made to. */
#include "base/bisect.h"
#include "base/deadline.h"
#include "base/order.h"
#include "check/replay/internal.h"
#include "check/replay/order/order.h"

#include <stdlib.h>

ORDER(by_turn, ModificationOrder, BY(key) BY(number))

TABLE(strong, StrongPlaces, StrongPlace, uint64_t, 16, item->end, item->key, table_hash(key), item->key == key)

static void make_places(ModificationOrders *turns, Arena *arena) {
    uint32_t keys = 0;
    for (uint32_t i = 0; i < turns->count; i++)
        keys += !i || turns->items[i].key != turns->items[i - 1].key;
    turns->places.capacity = 16;
    while (turns->places.capacity < 2 * keys)
        turns->places.capacity *= 2;
    turns->places.items = ARENA_ARRAY(arena, StrongPlace, turns->places.capacity);
    for (uint32_t i = 0, end; i < turns->count; i = end) {
        for (end = i + 1; end < turns->count && turns->items[end].key == turns->items[i].key;)
            end++;
        *strong_place(&turns->places, turns->items[i].key) = (StrongPlace){turns->items[i].key, i, i, end};
    }
}

struct StrongReading {
    Arena *arena;
    Strong *items;
    uint32_t count, capacity;
    uint64_t *elements; /* places of the other elements of vectors */
    uint32_t element_count, element_capacity;
};

static bool is_ordered(const Player *player, const PlaySite *site) {
    return site->site->strong && site->code && play_has_turns(player, site);
}

/* A vector is ordered by its first element: the others must not be accessed on their own. */
static void add_elements(StrongReading *reading, const PlaySite *site, uint64_t key) {
    for (uint32_t i = 1; i < site->strong_count; i++)
        *ARENA_PUSH(reading->arena, reading->elements, reading->element_count, reading->element_capacity) =
            key + (uint64_t)i * site->strong_bytes * 8; /* addresses are above the size */
}

ORDER_NUMBERS(by_key, uint64_t)

static uint32_t count_split(const StrongReading *reading) {
    uint32_t count = 0;
    if (!reading->element_count)
        return 0;
    qsort(reading->elements, reading->element_count, sizeof *reading->elements, by_key);
    for (uint32_t i = 0; i < reading->count; i++)
        count += bsearch(&reading->items[i].key, reading->elements, reading->element_count, sizeof *reading->elements,
                         by_key) != NULL;
    return count;
}

static bool is_written(const Strong *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (items[i].kind != STRONG_READ)
            return true;
    return false;
}

/* Those that are to bytes which others access in another size, of which some write: the order of each size says nothing
 * of that of the others. Sorted by key: by the first byte. */
static uint32_t count_mixed(const Strong *items, uint32_t count) {
    uint32_t mixed = 0, behind = 0; /* behind: that are counted already */
    for (uint32_t i = 0, end; i < count; i = end) {
        uint32_t bytes, ignored;
        uint64_t first = play_key_first(items[i].key, &bytes);
        for (end = i + 1; end < count && items[end].key == items[i].key;)
            end++;
        uint32_t all = end;
        while (all < count && play_key_first(items[all].key, &ignored) < first + bytes)
            all++;
        if (all > end && is_written(items + i, all - i)) {
            mixed += all - (i > behind ? i : behind);
            behind = all;
        }
    }
    return mixed;
}

StrongReading *turns_reading(Player *player) {
    bool ordered = player->sites->any_strong && player->sites->any_order;
    StrongReading *reading = ordered ? ARENA_NEW(&player->arena, StrongReading) : NULL;
    if (reading) {
        reading->arena = &player->arena;
        player->first_strong =
            ARENA_ARRAY(&player->arena, uint32_t, player->machine->cta_count * player->reader.warps + 1);
    }
    return reading;
}

void turns_begin(const StrongReading *reading, Player *player, uint32_t warp) {
    player->first_strong[warp] = reading->count;
}

/* For as many as all CTAs have, if they go on as those before this one, and not for much more; at least for twice as
 * many as there are. */
static void make_room(StrongReading *reading, const Player *player, uint32_t cta) {
    enum { FIRST = 256, MOST_AHEAD = 1 << 18 };
    uint64_t all = (uint64_t)reading->capacity * player->machine->cta_count / (cta + 1);
    uint64_t ahead = all + all / 16 < MOST_AHEAD ? all + all / 16 : MOST_AHEAD;
    uint64_t least = reading->capacity ? 2 * (uint64_t)reading->capacity : FIRST;
    uint64_t capacity = ahead > least ? ahead : least;
    Strong *items = arena_alloc(reading->arena, capacity * sizeof *items);
    if (reading->capacity)
        memcpy(items, reading->items, reading->capacity * sizeof *items);
    reading->items = items;
    reading->capacity = (uint32_t)capacity;
}

void turns_see(StrongReading *reading, Player *player, uint32_t warp, uint32_t cta, const Record *record) {
    const PlaySite *site = record->kind == RECORD_LANE ? &player->sites->items[record->site] : NULL;
    if (!site || !is_ordered(player, site))
        return;
    uint32_t index = reading->count++;
    if (index >= reading->capacity)
        make_room(reading, player, cta);
    uint64_t mask = site->strong_bytes < 8 ? (UINT64_C(1) << 8 * site->strong_bytes) - 1 : UINT64_MAX;
    reading->items[index] =
        (Strong){.key = play_strong_key(player, site, record, cta),
                 .time = record->time,
                 .index = index,
                 .thread = player->first_thread + warp * RECORD_LANES + (uint32_t)__builtin_ctz(record->lanes),
                 .cta = player->first_cluster * player->machine->cluster_size + cta,
                 .found = record->found & mask,
                 .written = record->written & mask,
                 .compared = record->compared & mask,
                 .bytes = site->strong_bytes < 8 ? site->strong_bytes : 8,
                 .kind = site->strong_kind,
                 .finds = site->finds,
                 .goes_on = site->goes_on,
                 .poll = site->site->poll.bits ? &site->site->poll : NULL,
                 .site = site};
    add_elements(reading, site, reading->items[index].key);
}

static void read_warp(StrongReading *reading, Player *player, uint32_t number, uint32_t cta, RecordCursor *room) {
    RecordStream stream;
    Record record;
    record_stream(&stream, &player->reader, number, room);
    turns_begin(reading, player, number);
    while (!deadline_passed() && record_next(&stream, &record))
        turns_see(reading, player, number, cta, &record);
}

static void read_all(StrongReading *reading, Player *player) {
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    uint32_t warps = player->reader.warps;
    if (!player->sites->any_strong || !player->turns->kept_in_order)
        return;
    player->first_strong = ARENA_ARRAY(&player->arena, uint32_t, player->machine->cta_count * warps + 1);
    player->reader.skims = true;
    for (uint32_t cta = 0; cta < player->machine->cta_count; cta++)
        for (uint32_t i = 0; i < warps; i++)
            read_warp(reading, player, play_cta_id(player, cta) * warps + i, cta, room);
    player->reader.skims = false;
    record_reader_restart(&player->reader);
}

void turns_read(ModificationOrders *turns, Player *const *players, uint32_t count) {
    Arena *arena = &players[0]->arena;
    StrongReading reading = {.arena = arena};
    *turns = (ModificationOrders){0};
    for (uint32_t i = 0; i < count; i++)
        turns->kept_in_order |= players[i]->sites->any_order;
    for (uint32_t i = 0; i < count; i++)
        players[i]->turns = turns;
    if (count == 1 && players[0]->read)
        reading = *players[0]->read;
    else
        for (uint32_t i = 0; i < count; i++)
            read_all(&reading, players[i]);
    turns->count = reading.count;
    turns->numbers = ARENA_ARRAY(arena, uint32_t, reading.count + 1);
    turns->doubts = strong_order(reading.items, reading.count, turns->numbers);
    if (turns->doubts.unfit && !turns->doubts.late) { /* what was found may be what plain stores left */
        stores_count(reading.items, reading.count, players, count, arena);
        turns->doubts = strong_order(reading.items, reading.count, turns->numbers);
    }
    turns->read = reading.items;
    turns->read_count = reading.count;
    if (turns->doubts.late) /* nothing is played */
        return;
    turns->split = count_split(&reading) + count_mixed(reading.items, reading.count);
    turns->doubts.within |= turns->split && strong_within(reading.items, reading.count);
    if (turns->doubts.unfit || turns->doubts.unsure || turns->split) /* how polls could have ended is not known */
        for (uint32_t i = 0; i < reading.count; i++)
            reading.items[i].poll = NULL;
    locks_find(turns, reading.items, reading.count, arena);
    polls_turns(turns, reading.items, reading.count, arena);
    turns_alone(turns, turns->items, turns->count, arena);
}

void turns_alone(ModificationOrders *turns, ModificationOrder *items, uint32_t count, Arena *arena) {
    turns->items = items;
    turns->count = count;
    bool sorted = true;
    for (uint32_t i = 1; i < count && sorted; i++)
        sorted = by_turn(&items[i - 1], &items[i]) <= 0;
    if (!sorted)
        qsort(items, count, sizeof *items, by_turn);
    make_places(turns, arena);
}

void turns_take(Player *player, PlayWarp *warp, Record *record) {
    if (is_ordered(player, &player->sites->items[record->site]) && player->turns->kept_in_order)
        record->turn = player->turns->numbers[player->first_strong[warp->stream.warp] + warp->strong_count++];
}

StrongPlace *turns_place(const Player *player, const PlaySite *site, Record *record, uint32_t cta) {
    const ModificationOrders *turns = player->turns;
    if (!record->place)
        record->place =
            (uint32_t)(strong_place(&turns->places, play_strong_key(player, site, record, cta)) - turns->places.items) +
            1;
    return &turns->places.items[record->place - 1];
}

bool turn_has_come(Player *player, const StrongPlace *place, uint32_t number, uint32_t cluster) {
    ModificationOrders *turns = player->turns;
    uint32_t low = place->next, high = place->end;
    if (turns->doubled)
        number = polls_number(turns, place, number);
    if (low == high || turns->items[low].number >= number || turns->items[low].state == TURN_ANY)
        return true;
    if (number < high - place->begin && turns->items[place->begin + number].number == number)
        low = place->begin + number; /* as a rule numbers have no gaps */
    else
        BISECT(low, low, high, turns->items[low].number < number);
    if (low < place->end)
        turns->items[low].waiter = player->first_cluster + cluster + 1;
    return false;
}

void turns_overrule(ModificationOrders *turns, StrongPlace *place, uint32_t number) {
    while (place->next < place->end && turns->items[place->next].number < number)
        place->next++;
    turns->doubts.unfit++;
    turns->doubts.within = true;
}

uint32_t turns_pass(Player *player, StrongPlace *place) {
    return place->next == place->end ? 0 : turns_on(player->turns, place);
}

uint32_t turns_on(ModificationOrders *turns, StrongPlace *place) {
    do
        place->next++;
    while (place->next < place->end && turns->items[place->next].state == TURN_RESERVE);
    return place->next == place->end ? 0 : turns->items[place->next].waiter;
}
