/* What was done to mbarriers in a run that went wrong: who initialized them, who arrived, how many phases completed. */
#include "check/simt/internal.h"

#include <string.h>

enum { MBARRIER_SIZE = 8, PLACES = 1 << 12 };

/* Where threads waited or arrived: an instruction, and the warps of a CTA that were there. */
typedef struct HistorySite {
    const PtxCode *code;
    uint32_t cta, first, last;
} HistorySite;

struct SimtHistory {
    Arena *arena;
    MbarrierHistory *items;
    uint32_t count, capacity;
    uint32_t low, high;           /* addresses that mbarriers have, in whatever CTA; */
    uint64_t places[PLACES / 64]; /* a bit for each 8 bytes: some mbarrier is there */
    Overwrite overwrite;
    HistorySite *sites; /* of all runs */
    uint32_t site_count, site_capacity;
    SimtLook *looks; /* by the number of the warp in the grid */
    uint32_t look_capacity;
};

SimtHistory *history_new(Arena *arena) {
    SimtHistory *history = ARENA_NEW(arena, SimtHistory);
    history->arena = arena;
    history_clear(history);
    return history;
}

void history_clear(SimtHistory *history) {
    history->count = 0;
    history->low = UINT32_MAX;
    history->high = 0;
    history->overwrite = (Overwrite){0};
    memset(history->places, 0, sizeof history->places);
    if (history->looks)
        memset(history->looks, 0, sizeof(SimtLook) * history->look_capacity);
}

bool history_any(const SimtHistory *history) {
    return history->count > 0;
}

bool history_near(const SimtHistory *history, uint64_t begin, uint64_t end) {
    if (begin >= history->high || end <= history->low)
        return false;
    for (uint64_t at = begin / MBARRIER_SIZE, last = (end - 1) / MBARRIER_SIZE; at <= last; at++)
        if (history->places[at % PLACES / 64] >> at % 64 & 1 || last - at >= PLACES)
            return true;
    return false;
}

Overwrite history_overwrite(const SimtHistory *history) {
    return history->overwrite;
}

static MbarrierHistory *item_of(SimtHistory *history, uint64_t place) {
    for (uint32_t i = history->count; i-- > 0;)
        if (history->items[i].place == place)
            return &history->items[i];
    MbarrierHistory *item = ARENA_PUSH(history->arena, history->items, history->count, history->capacity);
    *item = (MbarrierHistory){.place = place};
    history->low = (uint32_t)place < history->low ? (uint32_t)place : history->low;
    history->high = (uint32_t)place + MBARRIER_SIZE > history->high ? (uint32_t)place + MBARRIER_SIZE : history->high;
    uint32_t bit = (uint32_t)place / MBARRIER_SIZE % PLACES;
    history->places[bit / 64] |= UINT64_C(1) << bit % 64;
    return item;
}

static uint32_t warp_number(const PtxWarp *warp) {
    return warp->cta->number * warp->cta->warp_count + warp->index;
}

static void add_look(SimtHistory *history, const PtxEvent *event) {
    uint32_t number = warp_number(event->warp);
    while (number >= history->look_capacity)
        history->looks = arena_grown(history->arena, history->looks, history->look_capacity, &history->look_capacity,
                                     sizeof(SimtLook));
    SimtLook *look = &history->looks[number];
    look->code = event->code;
    look->place = event->place;
    look->location = (PtxLocation){0};
    if (event->kind == PTX_EVENT_ACCESS) {
        look->location = event->locations[__builtin_ctz(event->lanes)];
        look->bytes = event->access.bytes;
    }
}

SimtLook history_look(const SimtHistory *history, const PtxWarp *warp) {
    uint32_t number = warp_number(warp);
    return number < history->look_capacity ? history->looks[number] : (SimtLook){0};
}

/* Of each instruction the last time. */
static void add_arriver(MbarrierHistory *item, const PtxEvent *event) {
    uint32_t at = 0;
    while (at < item->arriver_count && item->arrivers[at].code != event->code)
        at++;
    if (at == HISTORY_ARRIVERS)
        return;
    item->arriver_count += at == item->arriver_count;
    item->arrivers[at].code = event->code;
    item->arrivers[at].warp = event->warp;
    item->arrivers[at].lane = event->lanes ? (uint32_t)__builtin_ctz(event->lanes) : 0;
}

/* A wait that a fresh mbarrier lets pass has seen no phase. */
static void add_wait(MbarrierHistory *item, const PtxWarp *warp, uint32_t phase) {
    uint32_t at = 0;
    while (at < item->waiter_count && item->waiters[at].warp != warp)
        at++;
    if (at == HISTORY_WAITERS)
        return;
    if (at == item->waiter_count) {
        item->waiter_count++;
        item->waiters[at].seen = item->waiters[at].last = 0;
    }
    item->waiters[at].warp = warp;
    item->waiters[at].seen += (uint32_t)(phase + 1) > item->waiters[at].last;
    item->waiters[at].last = (uint32_t)(phase + 1);
}

static void add_site(SimtHistory *history, const PtxEvent *event) {
    uint32_t at = 0;
    if (!event->code || !event->warp || event->outstanding)
        return;
    while (at < history->site_count && history->sites[at].code != event->code)
        at++;
    uint32_t index = event->warp->index, cta = event->warp->cta->number;
    if (at == history->site_count) {
        *ARENA_PUSH(history->arena, history->sites, history->site_count, history->site_capacity) =
            (HistorySite){event->code, cta, index, index};
        return;
    }
    HistorySite *site = &history->sites[at];
    if (site->cta != cta)
        return;
    site->first = index < site->first ? index : site->first;
    site->last = index > site->last ? index : site->last;
}

/* Warps of the CTA that are slow at a site. */
static PtxSchedule held_at(const SimtHistory *history, const ThreadsCheck *check, const HistorySite *site,
                           uint32_t first, uint32_t last) {
    const PtxMachine *machine = check->machine;
    uint32_t *cluster = ARENA_NEW(history->arena, uint32_t);
    *cluster = site->cta / machine->cluster_size;
    return (PtxSchedule){.kind = SCHEDULE_DELAYED,
                         .held = site->cta * machine->threads_per_cta + first * PTX_LANES,
                         .held_count = (last - first + 1) * PTX_LANES,
                         .delayed_pc = (uint32_t)(site->code - check->program->code),
                         .only = check->classes ? cluster : NULL, /* each class has run alone */
                         .only_count = check->classes != 0};
}

/* All that were there; and, as one of them may be who lets the others go on, the last and the first alone. */
uint32_t history_delays(const SimtHistory *history, const ThreadsCheck *check, PtxSchedule *list, uint32_t most) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < history->site_count && count < most; i++)
        list[count++] = held_at(history, check, &history->sites[i], history->sites[i].first, history->sites[i].last);
    for (uint32_t i = 0; i < 2 * history->site_count && count < most; i++) {
        const HistorySite *site = &history->sites[i / 2];
        uint32_t warp = i % 2 ? site->first : site->last;
        if (site->first != site->last)
            list[count++] = held_at(history, check, site, warp, warp);
    }
    return count;
}

/* Whether data is written where an mbarrier is that is in use: those lie apart from data, so that a look at the range
 * of all of them settles most writes. */
static void look_at_write(SimtHistory *history, const PtxEvent *event) {
    for (uint32_t i = 0; i < event->location_count && !history->overwrite.code; i++) {
        if (!event->outstanding && !(event->lanes >> i & 1)) /* nothing is said of its location */
            continue;
        const PtxBlock *block = event->locations[i].block;
        if (!block || block->space != PTX_SPACE_SHARED)
            continue;
        uint32_t bytes = event->sizes ? event->sizes[i] : event->access.bytes;
        uint64_t begin = block->base + event->locations[i].offset;
        if (!bytes || !history_near(history, begin, begin + bytes))
            continue;
        for (uint32_t k = 0; k < history->count; k++) {
            uint64_t at = (uint32_t)history->items[k].place;
            bool own = history->items[k].place >> 32 == block->cta && at < begin + bytes && begin < at + MBARRIER_SIZE;
            if (!own || history->items[k].over)
                continue;
            uint32_t lane = event->outstanding ? event->outstanding->lane : i;
            history->overwrite = (Overwrite){event->code, event->warp->cta->number,
                                             event->warp->index * PTX_LANES + lane, history->items[k].place};
        }
    }
}

void history_see(SimtHistory *history, const PtxEvent *event) {
    MbarrierHistory *item;
    switch (event->kind) {
    case PTX_EVENT_TEST:
        add_look(history, event);
        break;
    case PTX_EVENT_ACCESS:
        if (event->access.strong && event->access.kind != KIND_WRITE && !event->outstanding && event->lanes &&
            event->locations)
            add_look(history, event);
        if (history->count && event->access.kind != KIND_READ && event->code && event->warp)
            look_at_write(history, event);
        break;
    case PTX_EVENT_INVALIDATE:
        item_of(history, event->place)->over = true;
        break;
    case PTX_EVENT_INIT:
        item = item_of(history, event->place);
        *item = (MbarrierHistory){.place = event->place, .init = event->code};
        break;
    case PTX_EVENT_EXPECT:
        item_of(history, event->place)->expect = event->code;
        break;
    case PTX_EVENT_ARRIVE:
        item = item_of(history, event->place);
        add_site(history, event);
        item->arrivals += (uint64_t)event->count * (uint64_t)__builtin_popcount(event->lanes);
        add_arriver(item, event);
        break;
    case PTX_EVENT_WAIT:
        add_site(history, event);
        add_wait(item_of(history, event->place), event->warp, event->phase);
        break;
    case PTX_EVENT_FLIP:
        item = item_of(history, event->place);
        item->flips++;
        item->arrivals = 0;
        break;
    default:
        break;
    }
}

const MbarrierHistory *history_of(const SimtHistory *history, uint64_t place) {
    for (uint32_t i = history->count; i-- > 0;)
        if (history->items[i].place == place)
            return &history->items[i];
    return NULL;
}
