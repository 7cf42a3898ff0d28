/* The order of strong accesses: those to the same 16 bytes are played in the order of their tickets. Tickets have gaps,
 * and are given out for several such places at once. */
#include "analyze/recording/internal.h"

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

static void read_warp(Player *player, uint32_t number, uint32_t cta, RecordCursor *room) {
    RecordStream stream;
    Record record;
    record_stream(&stream, &player->reader, number, room);
    while (record_next(&stream, &record)) {
        const PlaySite *site = record.kind == RECORD_LANE ? &player->sites->items[record.site] : NULL;
        if (!site || !site->site->ticketed || !site->code)
            continue;
        *ARENA_PUSH(&player->arena, player->tickets.items, player->tickets.count, player->tickets.capacity) =
            (Ticket){.key = play_ticket_key(player, site, &record, cta), .number = record.ticket};
    }
}

void tickets_read(Player *player) {
    RecordCursor *room = ARENA_ARRAY(&player->arena, RecordCursor, RECORD_LEADERS);
    uint32_t warps = player->reader.warps;
    if (!player->sites->any_ticketed)
        return;
    for (uint32_t cta = 0; cta < player->machine->cta_count; cta++)
        for (uint32_t i = 0; i < warps; i++)
            read_warp(player, play_cta_id(player, cta) * warps + i, cta, room);
    record_reader_restart(&player->reader);
    if (player->tickets.count)
        qsort(player->tickets.items, player->tickets.count, sizeof *player->tickets.items, by_turn);
    make_entries(&player->tickets, &player->arena);
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
