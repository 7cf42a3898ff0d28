/* What was done to mbarriers in a run that went wrong: who initialized them, who arrived, how many phases completed. */
#include "analyze/threads/internal.h"

struct History {
    Arena *arena;
    MbarrierHistory *items;
    uint32_t count, capacity;
};

History *history_new(Arena *arena) {
    History *history = ARENA_NEW(arena, History);
    history->arena = arena;
    return history;
}

void history_clear(History *history) {
    history->count = 0;
}

static MbarrierHistory *item_of(History *history, uint64_t place) {
    for (uint32_t i = history->count; i-- > 0;)
        if (history->items[i].place == place)
            return &history->items[i];
    MbarrierHistory *item = ARENA_PUSH(history->arena, history->items, history->count, history->capacity);
    *item = (MbarrierHistory){.place = place};
    return item;
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
    item->waiter_count += at == item->waiter_count;
    item->waiters[at].warp = warp;
    item->waiters[at].seen = (uint32_t)(phase + 1);
}

void history_see(History *history, const PtxEvent *event) {
    MbarrierHistory *item;
    switch (event->kind) {
    case PTX_EVENT_INIT:
        item = item_of(history, event->place);
        *item = (MbarrierHistory){.place = event->place, .init = event->code};
        break;
    case PTX_EVENT_EXPECT:
        item_of(history, event->place)->expect = event->code;
        break;
    case PTX_EVENT_ARRIVE:
        item = item_of(history, event->place);
        item->arrivals += (uint64_t)event->count * (uint64_t)__builtin_popcount(event->lanes);
        add_arriver(item, event);
        break;
    case PTX_EVENT_WAIT:
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

const MbarrierHistory *history_of(const History *history, uint64_t place) {
    for (uint32_t i = history->count; i-- > 0;)
        if (history->items[i].place == place)
            return &history->items[i];
    return NULL;
}
