/* Plain stores to the places of strong accesses. What they store is not recorded, and when: but a strong access that
 * found what no strong one has left, has found what one of them stored (order.c). */
#include "check/replay/internal.h"

#include "base/bisect.h"
#include "base/deadline.h"
#include "check/replay/order/order.h"

/* A place of strong accesses. */
typedef struct ReplayStored {
    uint64_t first; /* byte */
    uint32_t bytes, stores;
} ReplayStored;

typedef struct StoreCounting {
    ReplayStored *places; /* by their first bytes */
    uint32_t count;
    uint32_t longest; /* bytes */
} StoreCounting;

static void count_store(StoreCounting *counting, uint64_t first, uint32_t bytes) {
    uint32_t low; /* the first that may end behind it */
    BISECT(low, 0, counting->count, counting->places[low].first + counting->longest <= first);
    for (; low < counting->count && counting->places[low].first < first + bytes; low++)
        counting->places[low].stores += counting->places[low].first + counting->places[low].bytes > first;
}

static void read_warp(StoreCounting *counting, Player *player, uint32_t number, uint32_t cta, uint32_t warp,
                      RecordCursor *room) {
    RecordStream stream;
    Record record;
    record_stream(&stream, &player->reader, number, room);
    while (!deadline_passed() && record_next(&stream, &record)) {
        Lanes places;
        uint32_t bytes = record.kind < RECORD_EXIT ? play_stored_places(player, &player->sites->items[record.site],
                                                                        &record, cta, warp, &places)
                                                   : 0;
        for (uint32_t rest = bytes ? record.lanes : 0; rest; rest &= rest - 1)
            count_store(counting, places.at[__builtin_ctz(rest)], bytes);
    }
}

void stores_count(Strong *items, uint32_t count, Player *const *players, uint32_t player_count, Arena *arena) {
    StoreCounting counting = {.places = ARENA_ARRAY(arena, ReplayStored, count + 1)};
    RecordCursor *room = ARENA_ARRAY(arena, RecordCursor, RECORD_LEADERS);
    for (uint32_t i = 0; i < count; i++) {
        if (i && items[i].key == items[i - 1].key)
            continue;
        ReplayStored *place = &counting.places[counting.count++];
        place->first = play_key_first(items[i].key, &place->bytes);
        counting.longest = place->bytes > counting.longest ? place->bytes : counting.longest;
    }
    for (uint32_t i = 0; i < player_count; i++) {
        Player *player = players[i];
        uint32_t warps = player->reader.warps;
        for (uint32_t cta = 0; cta < player->machine->cta_count; cta++)
            for (uint32_t k = 0; k < warps; k++)
                read_warp(&counting, player, play_cta_id(player, cta) * warps + k, cta, k, room);
        record_reader_restart(&player->reader);
    }
    for (uint32_t i = 0, at = 0; i < count; i++) {
        at += i && items[i].key != items[i - 1].key;
        items[i].stores = counting.places[at].stores;
    }
}
