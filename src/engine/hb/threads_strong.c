/* What synchronizes through memory: chains of strong writes, what they release, and who has observed them. */
#include "base/bisect.h"
#include "base/order.h"
#include "engine/hb/threads_internal.h"

#include <stdlib.h>

Location *threads_location(Threads *threads, uint64_t address, uint32_t element, bool make) {
    ShadowPage *page = threads_page_lines(threads, address, make);
    if (!page || (!page->locations && !make))
        return NULL;
    if (!page->locations)
        page->locations = gsan_pool_take(&threads->pool, SHADOW_PAGE / 4 * sizeof(Location *));
    Location **list = &page->locations[address % SHADOW_PAGE / 4];
    for (Location *location = *list; location; location = location->next)
        if (location->address == address && location->element == element)
            return location;
    if (!make)
        return NULL;
    Location *location = POOL_NEW(&threads->pool, Location);
    location->address = address;
    location->element = element;
    location->next = *list;
    return *list = location;
}

void threads_location_drop(Threads *threads, Location *location) {
    threads_releases_drop(threads, location->releases);
    threads_releases_drop(threads, location->before);
    gsan_pool_give(&threads->pool, location->witnesses, location->witness_capacity * sizeof(Witness));
    gsan_pool_give(&threads->pool, location->older, location->older_capacity * sizeof(Witness));
    for (uint32_t i = 0; i < location->own_count; i++)
        threads_clock_drop(threads, location->own[i].clock);
    gsan_pool_give(&threads->pool, location->own, location->own_capacity * sizeof(OwnRelease));
    gsan_pool_give(&threads->pool, location, sizeof *location);
}

void threads_location_mark(Threads *threads, const Location *location) {
    threads_record_mark(threads, location->record);
    for (uint32_t i = 0; i < location->witness_capacity; i++)
        threads_record_mark(threads, location->witnesses[i].record);
    for (uint32_t i = 0; i < location->older_count; i++)
        threads_record_mark(threads, location->older[i].record);
}

bool threads_morally_strong(const Threads *threads, const ThreadsRecord *one, const ThreadsRecord *other) {
    return one->order != ORDER_WEAK && other->order != ORDER_WEAK && one->proxy == other->proxy &&
           one->element == other->element && level_has(threads, one->level, one->cta, other->cta) &&
           level_has(threads, other->level, other->cta, one->cta);
}

/* ---- Who wrote and who observed ---- */

static uint32_t seat_of(const Location *location, uint32_t warp, uint32_t lane) {
    uint32_t mask = location->witness_capacity - 1;
    uint32_t at = (uint32_t)hashed((uint64_t)warp << 5 | lane) & mask;
    while (location->witnesses[at].used &&
           (location->witnesses[at].warp != warp || location->witnesses[at].lane != lane))
        at = (at + 1) & mask;
    return at;
}

static Witness *witness_find(const Location *location, uint32_t warp, uint32_t lane) {
    if (!location->witness_capacity)
        return NULL;
    Witness *witness = &location->witnesses[seat_of(location, warp, lane)];
    return witness->used ? witness : NULL;
}

static void witnesses_grow(Threads *threads, Location *location) {
    Witness *old = location->witnesses;
    uint32_t capacity = location->witness_capacity;
    location->witness_capacity = capacity ? capacity * 2 : 2;
    location->witnesses = gsan_pool_take(&threads->pool, location->witness_capacity * sizeof *old);
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i].used)
            location->witnesses[seat_of(location, old[i].warp, old[i].lane)] = old[i];
    gsan_pool_give(&threads->pool, old, capacity * sizeof *old);
}

static Witness *witness_make(Threads *threads, Location *location, uint32_t warp, uint32_t lane) {
    Witness *witness = witness_find(location, warp, lane);
    if (witness)
        return witness;
    if ((location->witness_count + 1) * 4 > location->witness_capacity * 3)
        witnesses_grow(threads, location);
    witness = &location->witnesses[seat_of(location, warp, lane)];
    *witness = (Witness){.used = true, .warp = warp, .lane = lane};
    location->witness_count++;
    return witness;
}

/* Writes in the order of the run. */
static uint64_t write_number(uint32_t chain, uint32_t number) {
    return (uint64_t)chain << 32 | number;
}

ORDER_NUMBERS(by_number, uint64_t)

/* Those that something may ask for, sorted: each thread's newest, and what a wider one does not stand for. */
static uint32_t writes_asked_for(const Location *location, uint64_t *writes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < location->witness_capacity; i++)
        if (location->witnesses[i].used && location->witnesses[i].record)
            writes[count++] = write_number(location->witnesses[i].wrote_chain, location->witnesses[i].wrote_number);
    for (uint32_t i = 0; i < location->older_count; i++)
        if (location->older[i].record)
            writes[count++] = write_number(location->older[i].wrote_chain, location->older[i].wrote_number);
    qsort(writes, count, sizeof *writes, by_number);
    return count;
}

/* Whether one of them is behind `after`, and not behind `last`. */
static bool is_between(const uint64_t *writes, uint32_t count, uint64_t after, uint64_t last) {
    uint32_t low;
    BISECT(low, 0, count, writes[low] <= after);
    return low < count && writes[low] <= last;
}

/* What was seen, and about which no question is possible any more, or what the thread had seen before says it, too, is
 * forgotten. Those of a thread are in the order in which it saw them. */
static void prune_older(Threads *threads, Location *location) {
    size_t bytes = ((size_t)location->witness_capacity + location->older_count) * sizeof(uint64_t);
    uint64_t *writes = gsan_pool_take(&threads->pool, bytes);
    uint32_t kept = 0, count = writes_asked_for(location, writes);
    for (uint32_t i = 0; i < location->witness_capacity; i++)
        location->witnesses[i].kept_chain = 0;
    for (uint32_t i = 0; i < location->older_count; i++) {
        Witness seen = location->older[i], *witness = witness_find(location, seen.warp, seen.lane);
        uint32_t before = witness->kept_chain == seen.saw_chain ? witness->kept_number : 0;
        if (!seen.record && !is_between(writes, count, write_number(seen.saw_chain, before),
                                        write_number(seen.saw_chain, seen.saw_number)))
            continue;
        location->older[kept++] = seen;
        if (!seen.record) {
            witness->kept_chain = seen.saw_chain;
            witness->kept_number = seen.saw_number;
        }
    }
    location->older_count = kept;
    gsan_pool_give(&threads->pool, writes, bytes);
}

/* Room for one more: what stays is at most half of it, so that it is not looked through for each. */
static void older_room(Threads *threads, Location *location) {
    if (location->older_count < location->older_capacity)
        return;
    if (!threads->shape.history)
        prune_older(threads, location);
    if (location->older_count >= location->older_capacity / 2)
        location->older = threads_grown(threads, location->older, location->older_count, &location->older_capacity,
                                        sizeof *location->older);
}

static void saw(Threads *threads, Location *location, Witness *witness, uint32_t chain, uint32_t number,
                uint32_t epoch) {
    if (witness->saw_chain == chain && witness->saw_number >= number)
        return; /* it has known it for longer */
    if (witness->saw_chain && (witness->saw_chain != chain || witness->saw_epoch != epoch)) {
        older_room(threads, location);
        location->older[location->older_count] = *witness;
        location->older[location->older_count++].record = 0;
    }
    witness->saw_chain = chain;
    witness->saw_number = number;
    witness->saw_epoch = epoch;
}

static bool knows_witness(const Threads *threads, const Knower *knower, uint32_t by, const Witness *witness) {
    uint32_t cta = witness->warp / threads->cta_warps, warp = witness->warp % threads->cta_warps;
    if (cta == knower->cta && warp == knower->warp && witness->lane == by && witness->saw_epoch <= knower->own_epoch)
        return true;
    return threads_clock_known(knower->clock, cta, warp, witness->saw_epoch) >> witness->lane & 1;
}

bool threads_was_observed(Threads *threads, const Knower *knower, uint32_t by, uint32_t record, uint32_t lane,
                          uint64_t address) {
    const ThreadsRecord *write = record_at(threads, record);
    if (write->operation || write->order == ORDER_WEAK || write->kind == KIND_READ)
        return false;
    const Location *location =
        threads_location(threads, address & ~(uint64_t)(write->element - 1), write->element, false);
    const Witness *writer =
        location ? witness_find(location, write->cta * threads->cta_warps + write->warp, lane) : NULL;
    for (uint32_t i = 0; writer && writer->record != record && i < location->older_count; i++)
        if (location->older[i].record == record && location->older[i].lane == lane)
            writer = &location->older[i];
    if (!writer || writer->record != record)
        return false;
    return threads_chain_observed(threads, knower, by, location, writer->wrote_chain, writer->wrote_number);
}

bool threads_chain_observed(const Threads *threads, const Knower *knower, uint32_t by, const Location *location,
                            uint32_t chain, uint32_t number) {
    const Witness *own = witness_find(location, knower->cta * threads->cta_warps + knower->warp, by);
    if (own && own->saw_chain == chain && own->saw_number >= number && knows_witness(threads, knower, by, own))
        return true;
    for (uint32_t i = 0; i < location->witness_capacity; i++) {
        const Witness *witness = &location->witnesses[i];
        if (witness->used && witness->saw_chain == chain && witness->saw_number >= number &&
            knows_witness(threads, knower, by, witness))
            return true;
    }
    for (uint32_t i = 0; i < location->older_count; i++)
        if (location->older[i].saw_chain == chain && location->older[i].saw_number >= number &&
            knows_witness(threads, knower, by, &location->older[i]))
            return true;
    return false;
}

/* ---- Reads and writes ---- */

/* Whether the newest write of the bytes is that strong one. */
static bool is_newest(Threads *threads, uint64_t address, uint32_t bytes, uint32_t record, uint32_t lane) {
    ShadowPage *page = threads_page(threads, address);
    for (uint64_t at = address; page && at < address + bytes; at += 1U << page->shift) {
        uint32_t slot = page->cells[at % SHADOW_PAGE >> page->shift].writes;
        if (!slot)
            return false;
        const Node *node = node_at(threads, slot >> 5);
        if (node->record != record || node_lanes(node, slot) != 1U << lane)
            return false;
    }
    return page != NULL;
}

Observed threads_observe(Threads *threads, uint32_t record, uint32_t lane, uint64_t address) {
    Observed observed = {0};
    const ThreadsRecord *reads = record_at(threads, record);
    if (threads->shape.history && threads_history_observe(threads, reads, lane, address, &observed))
        return observed;
    const Location *location = threads_location(threads, address, reads->element, false);
    if (!location || !location->record ||
        !is_newest(threads, address, reads->element, location->record, location->lane))
        return observed;
    const ThreadsRecord *write = record_at(threads, location->record);
    bool own = !write->operation && !reads->operation && write->cta == reads->cta && write->warp == reads->warp &&
               location->lane == lane;
    if (!threads_morally_strong(threads, write, reads) && !own) {
        if (write->proxy == reads->proxy)
            observed.narrow = threads_releases_share(location->releases);
        return observed;
    }
    observed.any = true;
    observed.chain = location->chain;
    observed.number = location->number;
    /* Lanes of one instruction do not inherit from each other. */
    bool same = location->before_instruction == reads->instruction;
    observed.releases = threads_releases_share(same ? location->before : location->releases);
    return observed;
}

static void own_release(Threads *threads, Location *location, Witness *witness, uint32_t level, ThreadsClock *clock) {
    for (uint32_t i = witness->own; i; i = location->own[i - 1].next) {
        OwnRelease *own = &location->own[i - 1];
        if (own->level != level)
            continue;
        threads_clock_drop(threads, own->clock);
        own->clock = clock;
        return;
    }
    *THREADS_PUSH(threads, location->own, location->own_count, location->own_capacity) =
        (OwnRelease){level, witness->own, clock};
    witness->own = location->own_count;
}

/* The release patterns that end in this write, of the thread whose witness it is. */
static void put_releases(Threads *threads, Location *location, const ThreadsRecord *record, Witness *witness) {
    uint32_t warp = witness->warp, lane = witness->lane;
    bool releases = order_releases(record->order);
    for (uint32_t i = witness->own; i; i = location->own[i - 1].next)
        if (!releases || location->own[i - 1].level != record->level) /* else this one has all of it */
            threads_releases_add(threads, &location->releases, record->cta, location->own[i - 1].level,
                                 threads_clock_share(location->own[i - 1].clock));
    threads_fenced_releases(threads, warp, lane, LEVEL_CTA, &location->releases);
    if (!releases)
        return;
    ThreadsClock *clock = threads_export(threads, warp, threads_view_of(threads, warp, lane), 1U << lane);
    own_release(threads, location, witness, record->level, threads_clock_share(clock));
    threads_releases_add(threads, &location->releases, record->cta, record->level, clock);
}

void threads_observed(Threads *threads, uint32_t index, uint32_t lane, uint64_t address, const Observed *observed) {
    const ThreadsRecord *record = record_at(threads, index);
    bool writes = record->kind != KIND_READ;
    if (!writes && !observed->any)
        return;
    Location *location = threads_location(threads, address, record->element, true);
    Witness *witness = record->operation
                           ? NULL
                           : witness_make(threads, location, record->cta * threads->cta_warps + record->warp, lane);
    if (writes) {
        bool goes_on = record->kind == KIND_UPDATE && observed->any;
        if (location->before_instruction != record->instruction) {
            threads_releases_drop(threads, location->before);
            location->before = threads_releases_share(goes_on && threads->several ? observed->releases : NULL);
            location->before_instruction = record->instruction;
        }
        if (!goes_on) {
            threads_releases_drop(threads, location->releases);
            location->releases = NULL;
            location->chain++;
            location->number = 0;
        }
        location->number++;
        location->record = index;
        location->lane = lane;
        if (witness) {
            put_releases(threads, location, record, witness);
            if (witness->record && record_at(threads, witness->record)->level < record->level) {
                /* The narrower one stays where it is, and the wider one does not stand for it. */
                Witness *old = THREADS_PUSH(threads, location->older, location->older_count, location->older_capacity);
                *old = *witness;
                old->saw_chain = 0;
            }
            witness->record = index;
            witness->wrote_chain = location->chain;
            witness->wrote_number = location->number;
        }
        if (threads->shape.history)
            threads_history_strong(threads, index, lane, address, location);
    }
    if (witness && observed->any)
        saw(threads, location, witness, observed->chain, observed->number, record->epoch);
}

/* ---- Polls ---- */

void threads_poll(Threads *threads, uint32_t index, uint32_t lane, uint64_t address, uint32_t writes) {
    const ThreadsRecord *record = record_at(threads, index);
    const Location *location = threads_location(threads, address, record->element, false);
    Witness *witness = location ? witness_find(location, record->cta * threads->cta_warps + record->warp, lane) : NULL;
    if (!witness)
        return;
    witness->poll.record = index;
    witness->poll.writes = writes;
    witness->poll.sweep = threads->sweeps;
}

/* It is the same access, made later: what it brings is known, and it is not asked when it was made before. */
bool threads_poll_again(Threads *threads, uint32_t warp, uint32_t lane, const ThreadsAccess *access, uint64_t address) {
    const ShadowPage *page = threads_page_lines(threads, address, false);
    const Location *location =
        page && page->cells && page->locations ? threads_location(threads, address, access->element, false) : NULL;
    const Witness *witness = location ? witness_find(location, warp, lane) : NULL;
    if (!witness || !witness->poll.record || witness->poll.sweep != threads->sweeps ||
        witness->saw_chain != location->chain || witness->saw_number != location->number ||
        access->bytes != 1U << page->shift ||
        page->cells[address % SHADOW_PAGE >> page->shift].writes != witness->poll.writes)
        return false;
    ThreadsRecord *record = record_at(threads, witness->poll.record);
    if (!record->stays || record->site != access->site || record->order != access->order ||
        record->scope != access->scope || record->gives != access->gives || record->loose != access->loose)
        return false;
    ThreadsView *view = threads_view_of(threads, warp, lane);
    view->touched = true;
    record->epoch = view->now;
    record->instruction = threads->instructions;
    return true;
}
