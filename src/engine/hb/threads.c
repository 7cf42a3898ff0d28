/* The engine for threads: its life, warps and their views, and what barriers give. */
#include "engine/hb/threads_internal.h"

#include <stdlib.h>
#include <string.h>

const char threads_no_memory[] = "checking this for races needs more memory than there is";

enum { FIRST_TABLE = 1024, FIRST_SWEEP = 1 << 20, MOST_ARRIVED = 1024 };
static const size_t most_memory = (size_t)4 << 30;

void *threads_grown(Threads *threads, void *items, uint32_t count, uint32_t *capacity, size_t size) {
    uint32_t more = *capacity ? *capacity * 2 : 4;
    void *grown = gsan_pool_take(&threads->pool, more * size);
    if (items) {
        memcpy(grown, items, count * size);
        gsan_pool_give(&threads->pool, items, *capacity * size);
    }
    *capacity = more;
    return grown;
}

uint32_t threads_store_more(Threads *threads, Store *store) {
    char **chunk = THREADS_PUSH(threads, store->chunks, store->chunk_count, store->chunk_capacity);
    size_t items = store->size << CHUNK_SHIFT;
    *chunk = arena_alloc(&threads->pool.arena, items + store->behind); /* it is never given back */
    memset(*chunk + items, 0, store->behind);
    if (store->next == 0) {
        memset(*chunk, 0, store->size);
        store->next = 1; /* 0 stands for none */
    }
    return store->next++;
}

/* ---- Life ---- */

static void start(Threads *threads) {
    const ThreadsShape *shape = &threads->shape;
    threads->cta_warps = (shape->cta_threads + 31) / 32;
    threads->clocks = (ClockSpace){.pool = &threads->pool, .lift = threads_clock_lift, .context = threads};
    clock_space_grow(&threads->clocks, shape->ctas);
    threads->last_mask = shape->cta_threads % 32 ? (1U << shape->cta_threads % 32) - 1 : UINT32_MAX;
    threads->ctas = ARENA_SPARSE(&threads->pool.arena, Cta *, shape->ctas);
    threads->sequential_ctas = ARENA_SPARSE(&threads->pool.arena, ThreadsClock *, shape->ctas);
    threads->sequential_clusters = ARENA_SPARSE(&threads->pool.arena, ThreadsClock *, shape->ctas);
    threads->operations.size = sizeof(ThreadsOperation);
    threads->records.store.size = sizeof(ThreadsRecord);
    threads->nodes.store.size = sizeof(Node);
    threads->records.store.behind = SWEPT_BITS + CHUNK * sizeof(Stamp);
    threads->nodes.store.behind = SWEPT_BITS;
    threads->node_capacity = FIRST_TABLE;
    threads->node_table = gsan_pool_take(&threads->pool, FIRST_TABLE * sizeof(uint32_t));
    threads->page_capacity = FIRST_TABLE;
    threads->pages = gsan_pool_take(&threads->pool, FIRST_TABLE * sizeof *threads->pages);
    threads->sweep_first = shape->sweep_at ? shape->sweep_at : FIRST_SWEEP;
    threads->sweep_at = threads->sweep_first / SOONER;
    threads->chosen = UINT32_MAX;
}

static bool try_start(Threads *threads) {
    ENTER(threads, false);
    start(threads);
    return true;
}

Threads *threads_create(const ThreadsShape *shape, const char **problem) {
    Threads *threads = calloc(1, sizeof *threads);
    *problem = threads_no_memory;
    if (!threads)
        return NULL;
    threads->shape = *shape;
    if (!threads->shape.cluster)
        threads->shape.cluster = 1;
    size_t budget = shape->memory ? shape->memory : most_memory;
    arena_init(&threads->pool.arena, budget);
    arena_init(&threads->found, budget);
    threads->pool.arena.exhausted = threads->found.exhausted = &threads->jump;
    threads->order_site = UINT32_MAX;
    if (!try_start(threads)) {
        threads_free(threads);
        return NULL;
    }
    *problem = NULL;
    return threads;
}

void threads_free(Threads *threads) {
    if (!threads)
        return;
    arena_free(&threads->pool.arena);
    arena_free(&threads->found);
    free(threads);
}

void threads_blind(Threads *threads, bool blind) {
    threads->blind = blind;
}

void threads_restart(Threads *threads) {
    Threads old = *threads;
    arena_reset(&old.pool.arena);
    memset(threads, 0, sizeof *threads);
    threads->shape = old.shape;
    threads->pool.arena = old.pool.arena;
    threads->pool.arena.exhausted = old.found.exhausted = &threads->jump;
    threads->found = old.found;
    threads->races = old.races;
    threads->race_count = old.race_count;
    threads->race_capacity = old.race_capacity;
    threads->race_table = old.race_table;
    threads->order_site = old.order_site;
    memcpy(threads->loose, old.loose, sizeof old.loose);
    threads->loose_count = old.loose_count;
    threads->problem = old.problem;
    if (!threads->problem)
        try_start(threads);
}

const char *threads_trouble(const Threads *threads) {
    return threads->problem;
}

const ThreadsRace *threads_races(const Threads *threads, uint32_t *count) {
    *count = threads->race_count;
    return threads->races;
}

uint32_t threads_news(const Threads *threads) {
    return threads->race_count << 1 | (threads->order_site != THREADS_NONE);
}

uint32_t threads_order_matters(const Threads *threads) {
    return threads->order_site;
}

const ThreadsRace *threads_loose(const Threads *threads, uint32_t *count) {
    *count = threads->loose_count;
    return threads->loose;
}

/* ---- CTAs, warps, views ---- */

static size_t cta_bytes(const Threads *threads) {
    return sizeof(Cta) + threads->cta_warps * sizeof(Warp);
}

Cta *threads_cta_begin(Threads *threads, uint32_t number) {
    Cta *cta = gsan_pool_take(&threads->pool, cta_bytes(threads));
    for (uint32_t i = 0; i < threads->cta_warps; i++) {
        Warp *warp = &cta->warps[i];
        warp->live = i + 1 < threads->cta_warps ? UINT32_MAX : threads->last_mask;
        *THREADS_PUSH(threads, warp->views, warp->count, warp->capacity) = (ThreadsView){.lanes = warp->live, .now = 1};
    }
    return threads->ctas[number] = cta;
}

static void view_part(Threads *threads, Warp *warp, uint32_t index, uint32_t lanes) {
    ThreadsView rest = warp->views[index];
    rest.lanes &= ~lanes;
    threads_clock_share(rest.clock);
    *THREADS_PUSH(threads, warp->views, warp->count, warp->capacity) = rest;
    warp->views[index].lanes = lanes;
}

void threads_views(Threads *threads, uint32_t number, uint32_t lanes, bool parts, Viewed *each, void *context) {
    Warp *warp = threads_warp(threads, number);
    uint32_t count = warp->count; /* parts that stay behind are put at the end */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t common = warp->views[i].lanes & lanes;
        if (!common)
            continue;
        if (parts && common != warp->views[i].lanes)
            view_part(threads, warp, i, common);
        each(threads, number, &warp->views[i], common, context);
    }
}

ThreadsView *threads_view_of(Threads *threads, uint32_t number, uint32_t lane) {
    Warp *warp = threads_warp(threads, number);
    for (uint32_t i = 0; i < warp->count; i++)
        if (warp->views[i].lanes >> lane & 1)
            return &warp->views[i];
    return NULL;
}

void threads_views_merge(Threads *threads, Warp *warp) {
    for (uint32_t i = 0; i < warp->count; i++)
        for (uint32_t j = warp->count - 1; j > i; j--) {
            ThreadsView *one = &warp->views[i], *other = &warp->views[j];
            if (one->clock != other->clock || one->now != other->now)
                continue;
            one->lanes |= other->lanes;
            one->touched |= other->touched;
            threads_clock_drop(threads, other->clock);
            *other = warp->views[--warp->count];
        }
}

/* ---- Notes ---- */

Note *threads_note(Threads *threads, Warp *warp, NoteKind kind, uint32_t lanes) {
    Note *note = POOL_NEW(&threads->pool, Note);
    note->kind = (uint8_t)kind;
    note->lanes = lanes;
    note->next = warp->notes;
    return warp->notes = note;
}

static void note_free(Threads *threads, Note *note) {
    threads_clock_drop(threads, note->clock);
    threads_releases_drop(threads, note->releases);
    gsan_pool_give(&threads->pool, note, sizeof *note);
}

/* Takes the lanes out of the notes of that kind: of at most `level` and with that key, or, if `any`, of that level with
 * any key. */
void threads_notes_drop(Threads *threads, Warp *warp, NoteKind kind, uint32_t lanes, uint32_t level, uint64_t key,
                        bool any) {
    for (Note **at = &warp->notes; *at;) {
        Note *note = *at;
        if (note->kind == kind && (any ? note->level == level : note->level <= level && note->key == key))
            note->lanes &= ~lanes;
        if (note->lanes) {
            at = &note->next;
        } else {
            *at = note->next;
            note_free(threads, note);
        }
    }
}

uint32_t threads_own(const Warp *warp, uint32_t lane, uint64_t key) {
    for (const Note *note = warp->notes; note; note = note->next)
        if (note->kind == NOTE_OWN && note->key == key && note->lanes >> lane & 1)
            return note->epoch;
    return 0;
}

ThreadsClock *threads_export(Threads *threads, uint32_t number, const ThreadsView *view, uint32_t lanes) {
    ThreadsClock *clock = threads_clock_share(view->clock);
    uint32_t cta = number / threads->cta_warps, warp = number % threads->cta_warps;
    threads_clock_raise(threads, &clock, cta, cta, (ClockRun){warp, lanes, view->now});
    for (const Note *note = threads_warp(threads, number)->notes; note; note = note->next)
        if (note->kind == NOTE_OWN && note->lanes & lanes)
            threads_bridge_raise(threads, &clock, cta, note->key, cta,
                                 (ClockRun){warp, note->lanes & lanes, note->epoch});
    return clock;
}

/* ---- Ends ---- */

static void ended(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    Cta *cta = context;
    uint32_t final = view->touched ? view->now : view->now - 1;
    uint32_t *finals = &cta->finals[number % threads->cta_warps * 32];
    for (uint32_t lane = 0; lane < THREADS_LANES; lane++)
        finals[lane] = lanes >> lane & 1 ? final : finals[lane];
}

static void lanes_end(Threads *threads, uint32_t number, uint32_t lanes) {
    Cta *cta = threads_cta(threads, number / threads->cta_warps);
    Warp *warp = threads_warp(threads, number);
    lanes &= warp->live;
    if (!cta->finals) {
        size_t bytes = threads->cta_warps * 32 * sizeof(uint32_t);
        cta->finals = gsan_pool_take(&threads->pool, bytes);
        memset(cta->finals, 0xff, bytes);
    }
    threads_views(threads, number, lanes, false, ended, cta);
    cta->dead += (uint32_t)__builtin_popcount(lanes);
    warp->live &= ~lanes;
}

void threads_exit(Threads *threads, uint32_t number, uint32_t lanes) {
    ENTER(threads);
    lanes_end(threads, number, lanes);
}

/* ---- Warps ---- */

static void report(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    ThreadsClock *reported = threads_export(threads, number, view, lanes), **all = context;
    if (*all)
        threads_clock_join(threads, all, number / threads->cta_warps, reported);
    else
        *all = threads_clock_share(reported);
    threads_clock_drop(threads, reported);
}

static void latest(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)threads, (void)number, (void)lanes;
    uint32_t *epoch = context;
    *epoch = view->now > *epoch ? view->now : *epoch;
}

typedef struct ThreadsLearned {
    ThreadsClock *clock;
    uint32_t now;
} ThreadsLearned;

static void learn(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)lanes;
    ThreadsLearned *learned = context;
    threads_clock_join(threads, &view->clock, number / threads->cta_warps, learned->clock);
    view->now = learned->now;
    view->touched = false;
}

static void align(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)threads, (void)number, (void)lanes;
    view->now = *(uint32_t *)context;
}

static void lanes_meet(Threads *threads, uint32_t number, uint32_t lanes) {
    Warp *warp = threads_warp(threads, number);
    lanes &= warp->live;
    ThreadsLearned learned = {0};
    /* They stand still until all have come, so all may be said to be as far as the farthest. */
    threads_views(threads, number, lanes, false, latest, &learned.now);
    threads_views(threads, number, lanes, true, align, &learned.now);
    threads_views(threads, number, lanes, false, report, &learned.clock);
    learned.now++;
    threads_views(threads, number, lanes, true, learn, &learned);
    threads_clock_drop(threads, learned.clock);
    threads_views_merge(threads, warp);
}

void threads_warp_sync(Threads *threads, uint32_t number, uint32_t lanes) {
    ENTER(threads);
    lanes_meet(threads, number, lanes);
}

/* ---- Objects ---- */

static void objects_grow(Threads *threads) {
    uint32_t capacity = threads->object_capacity ? threads->object_capacity * 2 : 64;
    Object **grown = gsan_pool_take(&threads->pool, capacity * sizeof *grown);
    for (uint32_t i = 0; i < threads->object_capacity; i++)
        for (Object *object = threads->objects[i], *next; object; object = next) {
            Object **bucket = &grown[hashed(object->name) & (capacity - 1)];
            next = object->next;
            object->next = *bucket;
            *bucket = object;
        }
    gsan_pool_give(&threads->pool, threads->objects, threads->object_capacity * sizeof *grown);
    threads->objects = grown;
    threads->object_capacity = capacity;
}

Object *threads_object(Threads *threads, uint64_t name, bool make, uint32_t cta) {
    if (threads->object_count >= threads->object_capacity)
        objects_grow(threads);
    Object **bucket = &threads->objects[hashed(name) & (threads->object_capacity - 1)];
    for (Object *object = *bucket; object; object = object->next)
        if (object->name == name)
            return object;
    if (!make)
        return NULL;
    Object *object = POOL_NEW(&threads->pool, Object);
    object->name = name;
    object->cta = cta;
    object->mark = UINT32_MAX;
    object->next = *bucket;
    *bucket = object;
    threads->object_count++;
    if (cta != THREADS_ANY_CTA) {
        object->of_cta = threads_cta(threads, cta)->objects;
        threads_cta(threads, cta)->objects = object;
    }
    return object;
}

static void forget_learned(Threads *threads, Object *object) {
    threads_clock_drop(threads, object->learned.from);
    threads_clock_drop(threads, object->learned.to);
    object->learned = (Lesson){0};
}

static void arrivals_drop(Threads *threads, Object *object) {
    for (uint32_t i = 0; i < object->arrived_count; i++)
        threads_clock_drop(threads, object->arrived[i].clock);
    object->arrived_count = 0;
}

/* Arrivals of one CTA, with what each knew, are one release. */
static void arrivals_settle(Threads *threads, Object *object) {
    Arrived *all = object->arrived;
    for (uint32_t begin = 0, end; begin < object->arrived_count; begin = end) {
        ThreadsClock *clock = threads_clock_share(all[begin].clock), *last = clock;
        for (end = begin + 1;
             end < object->arrived_count && all[end].cta == all[begin].cta && all[end].level == all[begin].level;
             end++) {
            if (all[end].clock && all[end].clock != last)
                threads_clock_join(threads, &clock, all[begin].cta, all[end].clock);
            last = all[end].clock;
        }
        threads_clock_raise_all(threads, &clock, all[begin].cta, &all[begin], end - begin);
        threads_releases_add(threads, &object->collecting, all[begin].cta, all[begin].level, clock);
    }
    arrivals_drop(threads, object);
}

static void object_drop(Threads *threads, Object *object) {
    Object **at = &threads->objects[hashed(object->name) & (threads->object_capacity - 1)];
    while (*at != object)
        at = &(*at)->next;
    *at = object->next;
    threads->object_count--;
    threads_releases_drop(threads, object->collecting);
    threads_releases_drop(threads, object->done);
    arrivals_drop(threads, object);
    forget_learned(threads, object);
    gsan_pool_give(&threads->pool, object->arrived, object->arrived_capacity * sizeof(Arrived));
    gsan_pool_give(&threads->pool, object, sizeof *object);
}

ClockRun threads_mark(Threads *threads, Object *object, uint32_t phases) {
    if (object->mark == UINT32_MAX) {
        object->mark = threads_cta(threads, object->cta)->marks++;
        forget_learned(threads, object);
    }
    return (ClockRun){CLOCK_MARKS + object->mark / 32, 1U << object->mark % 32, phases};
}

typedef struct ThreadsArrival {
    Object *object;
    Order order;
    uint32_t level;
} ThreadsArrival;

/* Whether lanes have something behind keys of their own that their clock does not have there. */
static bool has_own(const Warp *warp, const ThreadsView *view, uint32_t lanes, uint32_t cta, uint32_t number) {
    for (const Note *note = warp->notes; note; note = note->next) {
        ThreadsClock bridge;
        if (note->kind == NOTE_OWN && note->lanes & lanes &&
            (!threads_bridge(view->clock, note->key, &bridge) ||
             note->lanes & lanes & ~threads_clock_known(&bridge, cta, number, note->epoch)))
            return true;
    }
    return false;
}

static void arrive(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const ThreadsArrival *arrival = context;
    Object *object = arrival->object;
    uint32_t cta = number / threads->cta_warps, warp = number % threads->cta_warps;
    if (object->latest > view->now)
        view->now = object->latest; /* nothing forbids it, and those who wait have one number to know */
    if (arrival->order == ORDER_RELEASE) {
        if (threads->shape.by_word || has_own(threads_warp(threads, number), view, lanes, cta, warp))
            threads_releases_add(threads, &object->collecting, cta, arrival->level,
                                 threads_export(threads, number, view, lanes));
        else
            *THREADS_PUSH(threads, object->arrived, object->arrived_count, object->arrived_capacity) =
                (Arrived){cta, arrival->level, {warp, lanes, view->now}, threads_clock_share(view->clock)};
        if (object->arrived_count == MOST_ARRIVED)
            arrivals_settle(threads, object);
        object->latest = view->now;
        view_tick(view);
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        threads_fenced_releases(threads, number, lowest(rest), LEVEL_CTA, &object->collecting);
    ThreadsClock *inits = NULL;
    for (const Note *note = threads_warp(threads, number)->notes; note; note = note->next)
        if (note->kind == NOTE_OWN && note->key == KEY_INITS && note->lanes & lanes)
            threads_bridge_raise(threads, &inits, cta, KEY_INITS, cta,
                                 (ClockRun){warp, note->lanes & lanes, note->epoch});
    if (inits)
        threads_releases_add(threads, &object->collecting, cta, LEVEL_CLUSTER, inits);
}

void threads_arrive(Threads *threads, uint64_t name, uint32_t cta, uint32_t warp, uint32_t lanes, Order order,
                    Scope scope) {
    ENTER(threads);
    ThreadsArrival arrival = {threads_object(threads, name, true, cta), order, level_of(scope)};
    threads_views(threads, warp, lanes, true, arrive, &arrival);
    threads_views_merge(threads, threads_warp(threads, warp));
}

void threads_flip(Threads *threads, uint64_t name) {
    ENTER(threads);
    Object *object = threads_object(threads, name, false, THREADS_ANY_CTA);
    if (!object) /* nothing has arrived */
        return;
    object->flips++;
    forget_learned(threads, object);
    arrivals_settle(threads, object);
    if (!object->done) {
        object->done = object->collecting;
    } else {
        threads_releases_join(threads, &object->done, object->collecting);
        threads_releases_drop(threads, object->collecting);
    }
    object->collecting = NULL;
    object->done_latest = object->latest;
}

/* Who waits with the same clock as the last one that did learns the same. */
static bool learn_again(Threads *threads, const Object *object, ThreadsView *view, uint32_t level, uint32_t cta) {
    const Lesson *learned = &object->learned;
    if (!learned->used || threads->shape.by_word || learned->from != view->clock || learned->level != level ||
        learned->cta != cta)
        return false;
    threads_clock_drop(threads, view->clock);
    view->clock = threads_clock_share(learned->to);
    return true;
}

static void await(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const ThreadsArrival *arrival = context;
    Object *object = arrival->object;
    uint32_t cta = number / threads->cta_warps;
    if (arrival->order == ORDER_ACQUIRE) {
        if (!learn_again(threads, object, view, arrival->level, cta)) {
            ThreadsClock *from = threads_clock_share(view->clock);
            threads_releases_acquire(threads, object->done, &view->clock, cta, arrival->level);
            if (object->mark != UINT32_MAX)
                threads_clock_raise(threads, &view->clock, cta, object->cta,
                                    threads_mark(threads, object, object->flips));
            forget_learned(threads, object);
            object->learned = (Lesson){from, threads_clock_share(view->clock), cta, arrival->level, true};
        }
        if (view->now <= object->done_latest) {
            view->now = object->done_latest;
            view_tick(view);
        }
        return;
    }
    Note *note = threads_note(threads, threads_warp(threads, number), NOTE_OBSERVED, lanes);
    note->releases = threads_releases_share(object->done);
    note->mark_cta = object->cta;
    if (object->mark != UINT32_MAX)
        note->mark = threads_mark(threads, object, object->flips);
}

void threads_wait(Threads *threads, uint64_t name, uint32_t warp, uint32_t lanes, Order order, Scope scope) {
    ENTER(threads);
    Object *object = threads_object(threads, name, false, 0);
    if (!object)
        return;
    object->waited = object->flips;
    ThreadsArrival arrival = {object, order, level_of(scope)};
    threads_views(threads, warp, lanes, true, await, &arrival);
    threads_views_merge(threads, threads_warp(threads, warp));
}

/* Whether all threads of the CTA are there, of which there is nothing but what their clocks have. */
static bool is_whole(const Threads *threads, const Cta *cta, uint32_t number) {
    for (uint32_t i = 0; i < threads->cta_warps; i++) {
        const Warp *warp = &cta->warps[i];
        if (warp->live != (i + 1 < threads->cta_warps ? UINT32_MAX : threads->last_mask))
            return false;
        for (uint32_t j = 0; warp->notes && j < warp->count; j++)
            if (has_own(warp, &warp->views[j], warp->views[j].lanes, number, i))
                return false;
    }
    return !threads->shape.by_word;
}

static void overlap_one_by_one(Threads *threads, uint64_t name, uint32_t number) {
    uint32_t first = number * threads->cta_warps, warps = threads->cta_warps;
    for (uint32_t i = 0; i < warps; i++)
        threads_arrive(threads, name, number, first + i, UINT32_MAX, ORDER_RELEASE, SCOPE_CTA);
    threads_flip(threads, name);
    for (uint32_t i = 0; i < warps; i++)
        threads_wait(threads, name, first + i, UINT32_MAX, ORDER_ACQUIRE, SCOPE_CTA);
}

/* All that they know; *latest: the farthest of them. */
static ThreadsClock *all_know(Threads *threads, const Cta *cta, uint32_t number, uint32_t *latest) {
    ThreadsClock *clock = threads_clock_share(cta->warps[0].views->clock), *last = clock;
    for (uint32_t i = 0; i < threads->cta_warps; i++)
        for (uint32_t j = 0; j < cta->warps[i].count; j++) {
            const ThreadsView *view = &cta->warps[i].views[j];
            *latest = view->now > *latest ? view->now : *latest;
            if (view->clock && view->clock != last)
                threads_clock_join(threads, &clock, number, view->clock);
            last = view->clock;
        }
    return clock;
}

/* Whether they all have one clock, which nothing else has, and the farthest of them knows all that it says of their own
 * CTA: then it can be changed where it is. *latest: the farthest of them. */
static ThreadsClock *only_theirs(const Threads *threads, const Cta *cta, uint32_t number, uint32_t *latest) {
    ThreadsClock *clock = cta->warps[0].views->clock;
    uint32_t views = 0, most = 0;
    for (uint32_t i = 0; i < threads->cta_warps; i++) {
        const Warp *warp = &cta->warps[i];
        for (uint32_t j = 0; j < warp->count; j++) {
            if (warp->views[j].clock != clock)
                return NULL;
            most = warp->views[j].now > most ? warp->views[j].now : most;
        }
        views += warp->count;
    }
    CtaClock *local = clock ? clock->local : NULL;
    if (!local || clock->home != number || clock->references != views || local->references > 1 || local->count ||
        local->base > most)
        return NULL;
    *latest = most;
    return clock;
}

void threads_meet(Threads *threads, uint64_t name, uint32_t number) {
    ENTER(threads);
    Cta *cta = threads_cta(threads, number);
    uint32_t latest = 0;
    if (!is_whole(threads, cta, number)) {
        overlap_one_by_one(threads, name, number);
        return;
    }
    /* Who arrives may be as far as the farthest; so all of them are known by one number. What earlier phases of the
     * object brought, those know who arrive. */
    ThreadsClock *clock = only_theirs(threads, cta, number, &latest);
    if (clock) {
        clock->local->base = latest;
        clock->references = threads->cta_warps;
        for (uint32_t i = 0; i < threads->cta_warps; i++) {
            Warp *warp = &cta->warps[i];
            warp->count = 1;
            warp->views[0] = (ThreadsView){.lanes = warp->live, .now = latest + 1, .clock = clock};
        }
        return;
    }
    clock = all_know(threads, cta, number, &latest);
    threads_clock_raise_base(threads, &clock, number, latest);
    for (uint32_t i = 0; i < threads->cta_warps; i++) {
        Warp *warp = &cta->warps[i];
        for (uint32_t j = 0; j < warp->count; j++)
            threads_clock_drop(threads, warp->views[j].clock);
        warp->count = 1;
        warp->views[0] = (ThreadsView){.lanes = warp->live, .now = latest + 1, .clock = threads_clock_share(clock)};
    }
    threads_clock_drop(threads, clock);
}

void threads_reset(Threads *threads, uint64_t name) {
    ENTER(threads);
    Object *object = threads_object(threads, name, false, 0);
    if (!object)
        return;
    threads_releases_drop(threads, object->collecting);
    threads_releases_drop(threads, object->done);
    object->collecting = object->done = NULL;
    arrivals_drop(threads, object);
    forget_learned(threads, object);
    object->latest = object->done_latest = 0;
    /* Its mark goes on from where it is: phases of what was there before stay known to whom they are. */
}

/* ---- The end of a CTA ---- */

void threads_over(Threads *threads, uint32_t number) {
    ENTER(threads);
    Cta *cta = threads->ctas[number];
    if (!cta)
        return;
    threads_operations_over(threads, number);
    for (Object *object = cta->objects, *next; object; object = next) {
        next = object->of_cta;
        object_drop(threads, object);
    }
    for (uint32_t i = 0; i < threads->cta_warps; i++) {
        Warp *warp = &cta->warps[i];
        for (uint32_t j = 0; j < warp->count; j++)
            threads_clock_drop(threads, warp->views[j].clock);
        gsan_pool_give(&threads->pool, warp->views, warp->capacity * sizeof(ThreadsView));
        while (warp->notes) {
            Note *note = warp->notes;
            warp->notes = note->next;
            note_free(threads, note);
        }
    }
    threads_pages_free(threads, cta->pages);
    gsan_pool_give(&threads->pool, cta->finals, threads->cta_warps * 32 * sizeof(uint32_t));
    gsan_pool_give(&threads->pool, cta, cta_bytes(threads));
    threads->ctas[number] = NULL;
}
