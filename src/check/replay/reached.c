/* Which pages the addresses of a launch's records are in. */
#include "check/replay/reached.h"

#include "base/deadline.h"
#include "check/replay/order/order.h"

enum { PAGE_LOG2 = 12 };
#define NOT_GLOBAL UINT64_C(0x4000000000000000) /* windows */

TABLE(page, ReachedPages, ReachedPage, uint64_t, 256, item->page, item->page - 1, table_hash(key),
      item->page == key + 1)

static void add(Reached *reached, uint64_t page, uint8_t how) {
    ReachedPage *item = page_put(reached->arena, &reached->pages, page);
    item->page = page + 1;
    item->how |= how;
}

static void add_plain(Reached *reached, const Player *player, const PlaySite *site, const Record *record,
                      uint32_t warp) {
    uint64_t last = UINT64_MAX, mask = site->site->parts[0].bits == 32 ? UINT32_MAX : UINT64_MAX;
    uint8_t how = site->access.access.kind == KIND_READ ? REACH_READS : REACH_WRITES;
    Lanes values;
    play_values(player, site, record, 0, warp, &values);
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1) {
        uint64_t begin = (values.at[__builtin_ctz(rest)] + (uint64_t)site->access.offset) & mask;
        uint64_t page = begin >> PAGE_LOG2, end = (begin + site->access.access.bytes - 1) >> PAGE_LOG2;
        if (begin >= NOT_GLOBAL || page == last)
            continue;
        for (; page <= end; page++)
            add(reached, page, how);
        last = end;
    }
}

static void add_strong(Reached *reached, const Player *player, const PlaySite *site, const Record *record,
                       uint32_t cta) {
    uint64_t key = play_strong_key(player, site, record, cta), begin;
    uint8_t how = site->strong_kind == STRONG_READ ? REACH_READS : REACH_WRITES;
    PlayPlace place = play_key_place(key, &begin);
    if (place == PLACE_SHARED)
        return;
    if (place == PLACE_NAMED) { /* where it lies is not known: the key is a page of its own */
        add(reached, key, how);
        reached->named |= how;
    }
    uint64_t end = begin + (uint64_t)site->strong_bytes * site->strong_count - 1;
    for (uint64_t page = begin >> PAGE_LOG2; place == PLACE_GLOBAL && page <= end >> PAGE_LOG2; page++)
        add(reached, page, how);
    reached->reports_host |= how == REACH_WRITES && site->for_system;
}

static void read_warp(Reached *reached, Player *player, uint32_t number, uint32_t cta, uint32_t warp,
                      RecordCursor *room) {
    RecordStream stream;
    Record record;
    record_stream(&stream, &player->reader, number, room);
    while (!deadline_passed() && record_next(&stream, &record)) {
        const PlaySite *site = record.kind < RECORD_EXIT ? &player->sites->items[record.site] : NULL;
        if (!site || !site->code)
            continue;
        if (site->site->strong)
            add_strong(reached, player, site, &record, cta);
        else if (site->plain && (site->access.space == PTX_SPACE_GLOBAL || site->access.space == PTX_SPACE_UNKNOWN))
            add_plain(reached, player, site, &record, warp);
        else if (!site->plain) {
            reached->anywhere |= site->global;
            reached->named |= site->global;
        }
    }
}

/* ---- Variables ------------------------------------------------------------------------------------ */

/* Whether the kernel has variables of global memory of which it is not known where they were. */
static bool has_variables(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->module->variables_count; i++)
        if (program->used[i] && play_is_apart(&program->seats[i]))
            return true;
    return false;
}

static bool is_allocated(const Recording *recording, uint64_t page) {
    uint64_t begin = page << PAGE_LOG2, end = begin + (UINT64_C(1) << PAGE_LOG2);
    for (size_t i = 0; i < recording->memory_count; i++)
        if (recording->memory[i].base < end && begin < recording->memory[i].base + recording->memory[i].bytes)
            return true;
    return false;
}

void reached_outside(Reached *reached, const Recording *recording) {
    uint64_t largest = NOT_GLOBAL >> PAGE_LOG2;
    for (uint32_t i = 0; i < reached->pages.capacity; i++) {
        const ReachedPage *item = &reached->pages.items[i];
        if (item->page && item->page <= largest && (item->how & ~reached->outside) &&
            !is_allocated(recording, item->page - 1))
            reached->outside |= item->how;
    }
}

void reached_by(Reached *reached, Player *player, Arena *arena) {
    RecordCursor *room = ARENA_ARRAY(arena, RecordCursor, RECORD_LEADERS);
    uint32_t warps = player->reader.warps;
    *reached = (Reached){.arena = arena};
    for (uint32_t cta = 0; cta < player->machine->cta_count; cta++)
        for (uint32_t i = 0; i < warps; i++)
            read_warp(reached, player, play_cta_id(player, cta) * warps + i, cta, i, room);
    record_reader_restart(&player->reader);
    if (!has_variables(player->check->program))
        reached->named = 0;
}

static bool conflict(uint8_t one, uint8_t other) {
    return one && other && (one | other) & REACH_WRITES;
}

static uint8_t all_of(const Reached *reached) {
    uint8_t how = reached->anywhere;
    for (uint32_t i = 0; i < reached->pages.capacity; i++)
        how |= reached->pages.items[i].how;
    return how;
}

bool reached_overlap(const Reached *one, const Reached *other) {
    if (conflict(one->anywhere, all_of(other)) || conflict(other->anywhere, all_of(one)))
        return true;
    bool fewer = one->pages.count < other->pages.count;
    const ReachedPages *less = fewer ? &one->pages : &other->pages, *more = fewer ? &other->pages : &one->pages;
    for (uint32_t i = 0; i < less->capacity; i++) {
        const ReachedPage *item = &less->items[i], *same = item->page ? page_find(more, item->page - 1) : NULL;
        if (same && conflict(item->how, same->how))
            return true;
    }
    return false;
}

bool reached_variables(const Reached *one, const Reached *other) {
    return conflict(one->named, other->outside) || conflict(one->outside, other->named);
}
