/* What else a strong read could have read: the strong writes to a location since it was last written in another way,
 * and which of them another write that the reader knows has put out of sight. For small programs: lists, looked
 * through.
 *
 * Two writes are in coherence order if they are morally strong, as the run had them, or if one is before the other. A
 * read may give a write unless a later one in that order is before the read (PTX ISA 8.10.1, causality). Weak reads are
 * not asked: where they could give more than one write they race with it. */
#include "engine/hb/threads_internal.h"

#include <string.h>

enum { ENTRIES_MOST = 60, BASE_HIDDEN = 63 };

typedef struct ThreadsHistoryEntry {
    uint32_t number;
    ThreadsRecord record; /* as it was: those of the shadow memory may be given back */
    uint32_t lane, chain, link;
    Releases *releases;
    uint64_t before; /* entries that are before it in coherence order */
} ThreadsHistoryEntry;

typedef struct HbHistory {
    struct HbHistory *next;
    uint64_t address;
    uint32_t bytes;
    uint32_t base; /* the write that was there before; 0: what was there when the run began */
    uint32_t count;
    ThreadsHistoryEntry entries[ENTRIES_MOST];
} HbHistory;

static HbHistory *history_at(const Threads *threads, uint64_t address, uint32_t bytes) {
    for (HbHistory *history = threads->histories; history; history = history->next)
        if (history->address == address && history->bytes == bytes)
            return history;
    return NULL;
}

static void history_reset(Threads *threads, HbHistory *history, uint32_t base) {
    for (uint32_t i = 0; i < history->count; i++)
        threads_releases_drop(threads, history->entries[i].releases);
    history->count = 0;
    history->base = base;
}

/* Whether the knower's lane has the write before what it does now: by what it knows, or because a thread that it knows
 * has observed the write. */
static bool knows_entry(Threads *threads, const Knower *knower, uint32_t by, const HbHistory *history,
                        const ThreadsHistoryEntry *entry) {
    const ThreadsRecord *record = &entry->record;
    if (record->cta == knower->cta && record->warp == knower->warp && entry->lane == by &&
        record->epoch <= knower->own_epoch)
        return true;
    if (threads_clock_known(knower->clock, record->cta, record->warp, record->epoch) >> entry->lane & 1)
        return true;
    const Location *location = threads_location(threads, history->address, (uint8_t)history->bytes, false);
    return location && threads_chain_observed(threads, knower, by, location, entry->chain, entry->link);
}

static Knower knower_of(Threads *threads, uint32_t number, uint32_t lane) {
    return (Knower){threads_view_of(threads, number, lane)->clock,
                    number / threads->cta_warps,
                    number % threads->cta_warps,
                    UINT32_MAX,
                    threads_warp(threads, number),
                    0};
}

static void add_entry(Threads *threads, HbHistory *history, const ThreadsRecord *record, uint32_t lane,
                      const Location *at) {
    if (history->count == ENTRIES_MOST) {
        threads->problem = "a place is written more often than is kept of it";
        return;
    }
    uint32_t number = record->cta * threads->cta_warps + record->warp;
    Knower knower = knower_of(threads, number, lane);
    uint64_t before = 0;
    for (uint32_t i = 0; i < history->count; i++) {
        const ThreadsHistoryEntry *earlier = &history->entries[i];
        if (threads_morally_strong(threads, &earlier->record, record) ||
            knows_entry(threads, &knower, lane, history, earlier))
            before |= UINT64_C(1) << i | earlier->before;
    }
    history->entries[history->count++] = (ThreadsHistoryEntry){.number = threads->writes,
                                                               .record = *record,
                                                               .lane = lane,
                                                               .chain = at->chain,
                                                               .link = at->number,
                                                               .releases = threads_releases_share(at->releases),
                                                               .before = before};
}

/* The last weak write of the bytes. */
static uint32_t last_other(const Threads *threads, uint64_t address, uint32_t bytes) {
    for (uint32_t i = threads->other_count; i-- > 0;)
        if (threads->others[i].address < address + bytes &&
            address < threads->others[i].address + threads->others[i].bytes)
            return threads->others[i].number;
    return 0;
}

void threads_history_other(Threads *threads, uint64_t address, uint64_t bytes) {
    threads->writes++;
    *THREADS_PUSH(threads, threads->others, threads->other_count, threads->other_capacity) =
        (OtherWrite){address, bytes, threads->writes};
    for (HbHistory *history = threads->histories; history; history = history->next)
        if (history->address < address + bytes && address < history->address + history->bytes)
            history_reset(threads, history, threads->writes);
}

void threads_history_strong(Threads *threads, uint32_t index, uint32_t lane, uint64_t address, const Location *at) {
    const ThreadsRecord *record = record_at(threads, index);
    uint32_t bytes = record->element, before = threads->writes;
    HbHistory *history = history_at(threads, address, bytes);
    for (HbHistory *other = threads->histories; other; other = other->next)
        if (other != history && other->address < address + bytes && address < other->address + other->bytes)
            history_reset(threads, other, before + 1);
    if (record->operation) {
        threads_history_other(threads, address, bytes);
        return;
    }
    if (!history) {
        history = POOL_NEW(&threads->pool, HbHistory);
        history->address = address;
        history->bytes = bytes;
        history->base = last_other(threads, address, bytes);
        history->next = threads->histories;
        threads->histories = history;
    }
    threads->writes++;
    add_entry(threads, history, record, lane, at);
}

uint32_t threads_sources(Threads *threads, uint32_t warp, uint32_t lane, const ThreadsAccess *access, uint64_t address,
                         ThreadsSource *sources, uint32_t most) {
    ENTER(threads, 0);
    HbHistory *history = history_at(threads, address, access->element);
    if (!history || !history->count || access->order == ORDER_WEAK || access->bytes != access->element)
        return 0;
    Knower knower = knower_of(threads, warp, lane);
    uint64_t hidden = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < history->count; i++)
        if (knows_entry(threads, &knower, lane, history, &history->entries[i]))
            hidden |= history->entries[i].before | UINT64_C(1) << BASE_HIDDEN;
    for (uint32_t i = history->count; i-- > 0 && count < most;) {
        const ThreadsHistoryEntry *entry = &history->entries[i];
        if (!(hidden >> i & 1))
            sources[count++] =
                (ThreadsSource){entry->number, entry->record.cta * threads->cta_warps + entry->record.warp, entry->lane,
                                entry->record.site};
    }
    if (!(hidden >> BASE_HIDDEN) && count < most)
        sources[count++] = (ThreadsSource){history->base, THREADS_NONE, 0, THREADS_NONE};
    return count;
}

void threads_choose(Threads *threads, uint32_t write) {
    threads->chosen = write;
}

uint32_t threads_writes(const Threads *threads) {
    return threads->writes;
}

bool threads_history_observe(Threads *threads, const ThreadsRecord *reads, uint32_t lane, uint64_t address,
                             Observed *observed) {
    const HbHistory *history = history_at(threads, address, reads->element);
    uint32_t chosen = threads->chosen;
    if (chosen == UINT32_MAX || !history)
        return false;
    for (uint32_t i = 0; i < history->count; i++) {
        const ThreadsHistoryEntry *entry = &history->entries[i];
        if (entry->number != chosen)
            continue;
        bool own = entry->record.cta == reads->cta && entry->record.warp == reads->warp && entry->lane == lane;
        if (own || threads_morally_strong(threads, &entry->record, reads))
            *observed = (Observed){.any = true,
                                   .chain = entry->chain,
                                   .number = entry->link,
                                   .releases = threads_releases_share(entry->releases)};
    }
    return true;
}
