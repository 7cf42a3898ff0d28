/* Strong accesses are played in the order in which they were made (order.h): each has a ticket, the number of its turn
 * at the place that it is made to. */
#include "analyze/recording/internal.h"
#include "analyze/recording/order.h"

#include <stdlib.h>

static int by_turn(const void *a, const void *b) {
    const Ticket *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static TicketEntry *entry_of(const Tickets *tickets, uint64_t key) {
    uint32_t mask = tickets->entry_capacity - 1;
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (tickets->entries[at].end && tickets->entries[at].key != key)
        at = (at + 1) & mask;
    return &tickets->entries[at];
}

static void make_entries(Tickets *tickets, Arena *arena) {
    uint32_t keys = 0;
    for (uint32_t i = 0; i < tickets->count; i++)
        keys += !i || tickets->items[i].key != tickets->items[i - 1].key;
    tickets->entry_capacity = 16;
    while (tickets->entry_capacity < 2 * keys)
        tickets->entry_capacity *= 2;
    tickets->entries = ARENA_ARRAY(arena, TicketEntry, tickets->entry_capacity);
    for (uint32_t i = 0, end; i < tickets->count; i = end) {
        for (end = i + 1; end < tickets->count && tickets->items[end].key == tickets->items[i].key;)
            end++;
        *entry_of(tickets, tickets->items[i].key) = (TicketEntry){tickets->items[i].key, i, end};
    }
}

typedef struct Reading {
    Player *player;
    Strong *items;
    uint32_t count, capacity;
} Reading;

static bool is_strong(const Player *player, const Record *record) {
    const PlaySite *site = record->kind == RECORD_LANE ? &player->sites->items[record->site] : NULL;
    return site && site->site->strong && site->code;
}

static void read_warp(Reading *reading, uint32_t number, uint32_t cta, RecordCursor *room) {
    Player *player = reading->player;
    RecordStream stream;
    Record record;
    record_stream(&stream, &player->reader, number, room);
    player->tickets.first[number] = reading->count;
    while (record_next(&stream, &record)) {
        if (!is_strong(player, &record))
            continue;
        const PlaySite *site = &player->sites->items[record.site];
        uint32_t index = reading->count;
        *ARENA_PUSH(&player->arena, reading->items, reading->count, reading->capacity) =
            (Strong){.key = play_strong_key(player, site, &record, cta),
                     .time = record.time,
                     .index = index,
                     .thread = number * RECORD_LANES + (uint32_t)__builtin_ctz(record.lanes),
                     .found = record.found,
                     .written = record.written,
                     .compared = record.compared,
                     .kind = site->strong_kind,
                     .finds = site->finds};
    }
}

void tickets_read(Player *player) {
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    uint32_t warps = player->reader.warps;
    Tickets *tickets = &player->tickets;
    Reading reading = {.player = player};
    if (!player->sites->any_strong)
        return;
    tickets->first = ARENA_ARRAY(&player->arena, uint32_t, player->machine->cta_count * warps + 1);
    for (uint32_t cta = 0; cta < player->machine->cta_count; cta++)
        for (uint32_t i = 0; i < warps; i++)
            read_warp(&reading, play_cta_id(player, cta) * warps + i, cta, room);
    record_reader_restart(&player->reader);
    tickets->count = reading.count;
    tickets->numbers = ARENA_ARRAY(&player->arena, uint32_t, reading.count + 1);
    tickets->items = ARENA_ARRAY(&player->arena, Ticket, reading.count + 1);
    tickets->unfit = strong_order(reading.items, reading.count, tickets->numbers);
    for (uint32_t i = 0; i < reading.count; i++)
        tickets->items[i] = (Ticket){.key = reading.items[i].key, .number = tickets->numbers[reading.items[i].index]};
    tickets_alone(tickets, tickets->items, tickets->count, &player->arena);
}

void tickets_alone(Tickets *tickets, Ticket *items, uint32_t count, Arena *arena) {
    tickets->items = items;
    tickets->count = count;
    if (count)
        qsort(items, count, sizeof *items, by_turn);
    make_entries(tickets, arena);
}

void tickets_take(Player *player, PlayWarp *warp, Record *record) {
    if (is_strong(player, record))
        record->ticket = player->tickets.numbers[player->tickets.first[warp->stream.warp] + warp->strong_count++];
}

bool tickets_turn(Player *player, uint64_t key, uint32_t number, uint32_t cluster) {
    Tickets *tickets = &player->tickets;
    const TicketEntry *entry = entry_of(tickets, key);
    uint32_t low = entry->next, high = entry->end;
    if (low == high || tickets->items[low].number >= number)
        return true;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tickets->items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < entry->end)
        tickets->items[low].waiter = cluster + 1;
    return false;
}

uint32_t tickets_pass(Player *player, uint64_t key) {
    Tickets *tickets = &player->tickets;
    TicketEntry *entry = entry_of(tickets, key);
    if (entry->next == entry->end || ++entry->next == entry->end)
        return 0;
    return tickets->items[entry->next].waiter;
}
