/* Fences: those that order memory, those between proxies, and that of mbarriers that were just made. */
#include "engine/hb/threads_internal.h"

/* ---- Order ---- */

void threads_fenced_releases(Threads *threads, uint32_t number, uint32_t lane, uint32_t least, Releases **releases) {
    uint32_t cta = number / threads->cta_warps, warp = number % threads->cta_warps;
    for (const Note *note = threads_warp(threads, number)->notes; note; note = note->next) {
        if (note->kind != NOTE_RELEASED || note->level < least || !(note->lanes >> lane & 1))
            continue;
        ThreadsClock *clock = threads_clock_share(note->clock);
        threads_clock_raise(threads, &clock, cta, cta, (ClockRun){warp, 1U << lane, note->epoch});
        for (const Note *own = threads_warp(threads, number)->notes; own; own = own->next)
            if (own->kind == NOTE_OWN_RELEASED && own->level == note->level && own->lanes >> lane & 1)
                threads_bridge_raise(threads, &clock, cta, own->key, cta, (ClockRun){warp, 1U << lane, own->epoch});
        threads_releases_add(threads, releases, cta, note->level, clock);
    }
}

typedef struct Fence {
    Order order;
    uint32_t level;
    bool sequential;
} Fence;

/* What was read strongly before, and may be learned now. Of the widest level, nothing is left for later fences. */
static void take_observed(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, uint32_t level) {
    Warp *warp = threads_warp(threads, number);
    uint32_t cta = number / threads->cta_warps;
    for (const Note *note = warp->notes; note; note = note->next) {
        if (note->kind != NOTE_OBSERVED || !(note->lanes & lanes))
            continue;
        threads_releases_acquire(threads, note->releases, &view->clock, cta, level);
        if (note->mark.lanes)
            threads_clock_raise(threads, &view->clock, cta, note->mark_cta, note->mark);
    }
    if (level >= LEVEL_GPU)
        threads_notes_drop(threads, warp, NOTE_OBSERVED, lanes, 0, 0, true);
}

/* The order of fence.sc is that of the run. */
static void take_sequential(Threads *threads, uint32_t cta, ThreadsView *view, uint32_t level) {
    threads_clock_join(threads, &view->clock, cta, threads->sequential_ctas[cta]);
    if (level >= LEVEL_CLUSTER)
        threads_clock_join(threads, &view->clock, cta, threads->sequential_clusters[cta / threads->shape.cluster]);
    if (level >= LEVEL_GPU)
        threads_clock_join(threads, &view->clock, cta, threads->sequential);
}

static void give_sequential(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, uint32_t level) {
    uint32_t cta = number / threads->cta_warps;
    ThreadsClock *reported = threads_export(threads, number, view, lanes);
    threads_clock_join(threads, &threads->sequential_ctas[cta], cta, reported);
    if (level >= LEVEL_CLUSTER)
        threads_clock_join(threads, &threads->sequential_clusters[cta / threads->shape.cluster], cta, reported);
    if (level >= LEVEL_GPU)
        threads_clock_join(threads, &threads->sequential, threads->sequential ? threads->sequential->home : cta,
                           reported);
    threads_clock_drop(threads, reported);
}

static void take(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const Fence *what = context;
    if (order_acquires(what->order))
        take_observed(threads, number, view, lanes, what->level);
    if (what->sequential)
        take_sequential(threads, number / threads->cta_warps, view, what->level);
}

static void give(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const Fence *what = context;
    Warp *warp = threads_warp(threads, number);
    for (uint32_t level = LEVEL_CTA; level <= what->level; level++) {
        threads_notes_drop(threads, warp, NOTE_RELEASED, lanes, level, 0, false);
        threads_notes_drop(threads, warp, NOTE_OWN_RELEASED, lanes, level, 0, true);
    }
    Note *note = threads_note(threads, warp, NOTE_RELEASED, lanes);
    note->level = (uint8_t)what->level;
    note->epoch = view->now;
    note->clock = threads_clock_share(view->clock);
    for (const Note *own = note->next; own; own = own->next)
        if (own->kind == NOTE_OWN && own->lanes & lanes) {
            Note *copy = threads_note(threads, warp, NOTE_OWN_RELEASED, own->lanes & lanes);
            copy->level = note->level;
            copy->key = own->key;
            copy->epoch = own->epoch;
        }
    if (what->sequential)
        give_sequential(threads, number, view, lanes, what->level);
    view_tick(view);
}

static void nothing(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)threads, (void)number, (void)view, (void)lanes, (void)context;
}

/* All take before one of them gives: lanes of one instruction learn nothing from each other. */
void threads_fence(Threads *threads, uint32_t number, uint32_t lanes, Order order, Scope scope, bool sequential) {
    ENTER(threads);
    Fence what = {sequential ? ORDER_ACQ_REL : order, level_of(scope), sequential};
    Warp *warp = threads_warp(threads, number);
    threads_blind_fence(threads, number, lanes);
    if (order_acquires(what.order)) {
        for (const Note *note = warp->notes; note; note = note->next)
            if (note->kind == NOTE_OBSERVED) /* what one lane has read, others do not learn */
                threads_views(threads, number, lanes & note->lanes, true, nothing, NULL);
        threads_views(threads, number, lanes, true, take, &what);
    }
    if (order_releases(what.order))
        threads_views(threads, number, lanes, true, give, &what);
    threads_views_merge(threads, warp);
}

/* ---- Accesses that observe nothing ---- */

enum { MAY_RELEASE, MAY_ACQUIRE };

static void add_blind(Threads *threads, uint32_t number, uint32_t lane, unsigned what) {
    Cta *cta = threads->ctas[number / threads->cta_warps];
    uint32_t thread = (number % threads->cta_warps) * THREADS_LANES + lane + 1;
    cta->blind[what] = !cta->blind[what] || cta->blind[what] == thread ? thread : UINT32_MAX;
    threads->blind_missed |= cta->blind[MAY_RELEASE] && cta->blind[MAY_ACQUIRE] &&
                             (cta->blind[MAY_RELEASE] != cta->blind[MAY_ACQUIRE] || cta->blind[what] == UINT32_MAX);
}

/* The order in which threads come here need not be that of the run: what one of them may acquire may be released by
 * another one that comes behind it. */
void threads_blind_access(Threads *threads, uint32_t number, uint32_t lane, Order order) {
    Warp *warp = threads_warp(threads, number);
    bool fenced = order_releases(order);
    for (const Note *note = warp->notes; note && !fenced; note = note->next)
        fenced = note->kind == NOTE_RELEASED && note->lanes >> lane & 1;
    warp->blind |= 1U << lane;
    if (fenced)
        add_blind(threads, number, lane, MAY_RELEASE);
    if (order_acquires(order))
        add_blind(threads, number, lane, MAY_ACQUIRE);
}

void threads_blind_fence(Threads *threads, uint32_t number, uint32_t lanes) {
    for (uint32_t rest = threads_warp(threads, number)->blind & lanes; rest; rest &= rest - 1)
        add_blind(threads, number, lowest(rest), MAY_ACQUIRE);
}

bool threads_blind_missed(const Threads *threads) {
    return threads->blind_missed;
}

/* ---- Proxies ---- */

typedef struct ProxyFence {
    uint8_t proxy;
    ThreadsSpace space;
    Order order;
    uint32_t level;
    uint64_t address;
} ProxyFence;

static uint64_t fenced_key(const ProxyFence *fence, ThreadsSpace space, uint32_t cta) {
    return key_of(KEY_FENCED, fence->proxy, space | (space == THREADS_OWN_SHARED ? (uint64_t)cta << 8 : 0));
}

/* All that the lanes know, and have done, is behind the key from now on. */
static void put_behind(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, uint64_t key) {
    Warp *warp = threads_warp(threads, number);
    if (view->clock)
        threads_bridge_join(threads, &view->clock, number / threads->cta_warps, key, view->clock);
    threads_notes_drop(threads, warp, NOTE_OWN, lanes, 0, key, false);
    Note *note = threads_note(threads, warp, NOTE_OWN, lanes);
    note->key = key;
    note->epoch = view->now;
}

static uint64_t released_key(const ProxyFence *fence, uint32_t level, uint32_t cta) {
    return key_of(KEY_RELEASED, fence->proxy, level | (uint64_t)cta << 8);
}

/* What a release that this thread has behind itself has put there, if the two scopes have each other. */
static void acquire_proxy(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes,
                          const ProxyFence *fence) {
    uint32_t cta = number / threads->cta_warps;
    Warp *warp = threads_warp(threads, number);
    uint64_t to = key_of(KEY_ACQUIRED, fence->proxy, fence->address >> 7);
    ThreadsClock *gained = NULL;
    for (uint32_t i = 0; view->clock && view->clock->bridges && i < view->clock->bridges->count; i++) {
        uint64_t key = view->clock->bridges->items[i].key;
        uint32_t level = key >> 16 & 0xff, from = (uint32_t)(key >> 24);
        ThreadsClock bridge;
        if (key == released_key(fence, level, from) && level_has(threads, level, from, cta) &&
            level_has(threads, fence->level, cta, from) && threads_bridge(view->clock, key, &bridge))
            threads_clock_join(threads, &gained, cta, &bridge);
    }
    if (gained)
        threads_bridge_join(threads, &view->clock, cta, to, gained);
    threads_clock_drop(threads, gained);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest), epoch = threads_own(warp, lane, to);
        for (uint32_t level = LEVEL_CTA; level <= LEVEL_GPU; level++) {
            uint32_t released = threads_own(warp, lane, released_key(fence, level, cta));
            epoch = released > epoch ? released : epoch;
        }
        if (!epoch)
            continue;
        threads_notes_drop(threads, warp, NOTE_OWN, 1U << lane, 0, to, false);
        Note *note = threads_note(threads, warp, NOTE_OWN, 1U << lane);
        note->key = to;
        note->epoch = epoch;
    }
}

static void fence_proxy(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const ProxyFence *what = context;
    uint32_t cta = number / threads->cta_warps;
    if (what->order == ORDER_ACQUIRE) {
        acquire_proxy(threads, number, view, lanes, what);
        return;
    }
    if (what->order == ORDER_RELEASE) {
        put_behind(threads, number, view, lanes, released_key(what, what->level, cta));
    } else if (what->space == THREADS_EVERYWHERE) {
        put_behind(threads, number, view, lanes, fenced_key(what, THREADS_GLOBAL, cta));
        put_behind(threads, number, view, lanes, fenced_key(what, THREADS_CLUSTER_SHARED, cta));
    } else {
        put_behind(threads, number, view, lanes, fenced_key(what, what->space, cta));
    }
    view_tick(view);
}

void threads_fence_proxy(Threads *threads, uint32_t warp, uint32_t lanes, uint8_t proxy, ThreadsSpace space,
                         Order order, Scope scope, uint64_t address) {
    ENTER(threads);
    ProxyFence what = {proxy, space, order, level_of(scope), address};
    threads->acquires_at |= order == ORDER_ACQUIRE && address;
    threads_views(threads, warp, lanes, true, fence_proxy, &what);
    threads_views_merge(threads, threads_warp(threads, warp));
}

static void fence_inits(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)context;
    Warp *warp = threads_warp(threads, number);
    threads_notes_drop(threads, warp, NOTE_OWN, lanes, 0, KEY_INITS, false);
    Note *note = threads_note(threads, warp, NOTE_OWN, lanes);
    note->key = KEY_INITS;
    note->epoch = view->now;
    view_tick(view);
}

void threads_fence_inits(Threads *threads, uint32_t warp, uint32_t lanes) {
    ENTER(threads);
    threads_views(threads, warp, lanes, true, fence_inits, NULL);
    threads_views_merge(threads, threads_warp(threads, warp));
}
