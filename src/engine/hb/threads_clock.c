/* Clocks of threads: that of all CTAs, the part of its home beside it, and what is known behind proxy fences. */
#include "engine/hb/threads_internal.h"

/* Whether what ended is known whole: it does no more, and then any number is right for it. */
static bool knows_the_dead(const Threads *threads, const CtaClock *clock, const Cta *cta) {
    if (!cta->dead)
        return true;
    for (uint32_t thread = 0; thread < threads->shape.cta_threads; thread++)
        if (cta->finals[thread] != UINT32_MAX && cta->finals[thread] > clock->base &&
            !(cta_clock_known(clock, thread / 32, cta->finals[thread]) >> thread % 32 & 1))
            return false;
    return true;
}

void threads_clock_lift(void *context, CtaClock *clock, uint32_t cta_number) {
    const Threads *threads = context;
    const Cta *cta = threads->ctas[cta_number];
    if (!cta)
        return;
    uint32_t threads_known = 0, least = UINT32_MAX;
    uint32_t live = threads->shape.cta_threads - cta->dead;
    for (uint32_t i = 0; i < clock->count && clock->runs[i].warp < CLOCK_MARKS; i++) {
        uint32_t lanes = clock->runs[i].lanes & cta->warps[clock->runs[i].warp].live;
        threads_known += (uint32_t)__builtin_popcount(lanes);
        if (lanes && clock->runs[i].epoch < least)
            least = clock->runs[i].epoch;
    }
    if (threads_known < live || live == 0 || least == UINT32_MAX || !knows_the_dead(threads, clock, cta))
        return;
    clock->base = least;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < clock->count; i++)
        if (clock->runs[i].warp >= CLOCK_MARKS || clock->runs[i].epoch > least)
            clock->runs[kept++] = clock->runs[i];
    clock->count = kept;
}

/* ---- Bridges ---- */

static void bridges_drop(Threads *threads, Bridges *bridges) {
    if (!bridges || --bridges->references > 0)
        return;
    for (uint32_t i = 0; i < bridges->count; i++) {
        cta_clock_drop(&threads->clocks, bridges->items[i].local);
        clock_drop(&threads->clocks, bridges->items[i].remote);
    }
    gsan_pool_give(&threads->pool, bridges, sizeof *bridges + bridges->count * sizeof(ThreadsBridge));
}

static ThreadsBridge *bridge_find(const Bridges *bridges, uint64_t key) {
    for (uint32_t i = 0; bridges && i < bridges->count; i++)
        if (bridges->items[i].key == key)
            return (ThreadsBridge *)&bridges->items[i];
    return NULL;
}

/* A copy of its own, that has the key. */
static ThreadsBridge *bridge_seat(Threads *threads, Bridges **bridges, uint64_t key) {
    ThreadsBridge *there = bridge_find(*bridges, key);
    if (there && (*bridges)->references == 1)
        return there;
    uint32_t old = *bridges ? (*bridges)->count : 0, count = old + !there;
    Bridges *made = gsan_pool_take(&threads->pool, sizeof *made + count * sizeof(ThreadsBridge));
    made->references = 1;
    for (uint32_t i = 0; i < old; i++) {
        const ThreadsBridge *from = &(*bridges)->items[i];
        if (!there && made->count == i && from->key > key)
            made->items[made->count++] = (ThreadsBridge){.key = key};
        made->items[made->count++] =
            (ThreadsBridge){from->key, cta_clock_share(from->local), clock_share(from->remote)};
    }
    if (made->count < count)
        made->items[made->count++] = (ThreadsBridge){.key = key};
    bridges_drop(threads, *bridges);
    *bridges = made;
    return bridge_find(made, key);
}

/* ---- Whole clocks ---- */

ThreadsClock *threads_clock_share(ThreadsClock *clock) {
    if (clock)
        clock->references++;
    return clock;
}

void threads_clock_drop(Threads *threads, ThreadsClock *clock) {
    if (!clock || --clock->references > 0)
        return;
    cta_clock_drop(&threads->clocks, clock->local);
    clock_drop(&threads->clocks, clock->remote);
    bridges_drop(threads, clock->bridges);
    gsan_pool_give(&threads->pool, clock, sizeof *clock);
}

static void clock_own(Threads *threads, ThreadsClock **clock, uint32_t home) {
    if (*clock && (*clock)->references == 1)
        return;
    ThreadsClock *made = POOL_NEW(&threads->pool, ThreadsClock);
    made->references = 1;
    made->home = home;
    if (*clock) {
        made->local = cta_clock_share((*clock)->local);
        made->remote = clock_share((*clock)->remote);
        if ((made->bridges = (*clock)->bridges))
            made->bridges->references++;
        threads_clock_drop(threads, *clock);
    }
    *clock = made;
}

/* Two parts of a clock, joined with those of another whose home may be elsewhere. */
static void parts_join(Threads *threads, CtaClock **local, Clock **remote, uint32_t home, CtaClock *other_local,
                       Clock *other_remote, uint32_t other_home) {
    clock_join(&threads->clocks, remote, other_remote);
    if (home == other_home) {
        cta_clock_join(&threads->clocks, local, other_local, home);
        return;
    }
    cta_clock_join(&threads->clocks, local, clock_at(other_remote, home), home);
    if (!cta_clock_includes(clock_at(*remote, other_home), other_local))
        cta_clock_join(&threads->clocks, clock_seat(&threads->clocks, remote, other_home), other_local, other_home);
}

static bool parts_include(Threads *threads, CtaClock *local, Clock *remote, uint32_t home, CtaClock *other_local,
                          Clock *other_remote, uint32_t other_home) {
    if (!clock_includes(&threads->clocks, remote, other_remote))
        return false;
    if (home == other_home)
        return cta_clock_includes(local, other_local);
    return cta_clock_includes(local, clock_at(other_remote, home)) &&
           cta_clock_includes(clock_at(remote, other_home), other_local);
}

static bool threads_clock_includes(Threads *threads, const ThreadsClock *clock, const ThreadsClock *other) {
    if (!other || clock == other)
        return true;
    if (!clock ||
        !parts_include(threads, clock->local, clock->remote, clock->home, other->local, other->remote, other->home))
        return false;
    for (uint32_t i = 0; clock->bridges != other->bridges && other->bridges && i < other->bridges->count; i++) {
        const ThreadsBridge *theirs = &other->bridges->items[i], *ours = bridge_find(clock->bridges, theirs->key);
        if (!ours ||
            !parts_include(threads, ours->local, ours->remote, clock->home, theirs->local, theirs->remote, other->home))
            return false;
    }
    return true;
}

void threads_clock_join(Threads *threads, ThreadsClock **clock, uint32_t home, const ThreadsClock *other) {
    if (threads_clock_includes(threads, *clock, other))
        return;
    if (other->references && other->home == home &&
        threads_clock_includes(threads, other, *clock)) { /* not threads_bridge's */
        threads_clock_drop(threads, *clock);
        *clock = threads_clock_share((ThreadsClock *)other);
        return;
    }
    clock_own(threads, clock, home);
    parts_join(threads, &(*clock)->local, &(*clock)->remote, home, other->local, other->remote, other->home);
    for (uint32_t i = 0; other->bridges && i < other->bridges->count; i++) {
        const ThreadsBridge *theirs = &other->bridges->items[i];
        ThreadsBridge *ours = bridge_seat(threads, &(*clock)->bridges, theirs->key);
        parts_join(threads, &ours->local, &ours->remote, home, theirs->local, theirs->remote, other->home);
    }
}

static void parts_raise(Threads *threads, CtaClock **local, Clock **remote, uint32_t home, uint32_t cta, ClockRun run) {
    cta_clock_raise(&threads->clocks, cta == home ? local : clock_seat(&threads->clocks, remote, cta), cta, run);
}

void threads_clock_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t cta, ClockRun run) {
    clock_own(threads, clock, home);
    parts_raise(threads, &(*clock)->local, &(*clock)->remote, home, cta, run);
}

void threads_clock_raise_all(Threads *threads, ThreadsClock **clock, uint32_t home, const Arrived *arrived,
                             uint32_t count) {
    CtaClock *more = cta_clock_new(&threads->clocks, count);
    for (uint32_t i = 0; i < count; i++)
        cta_clock_add(more, arrived[i].run);
    clock_own(threads, clock, home);
    cta_clock_raise_all(&threads->clocks, &(*clock)->local, home, more);
}

void threads_clock_raise_base(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t base) {
    clock_own(threads, clock, home);
    cta_clock_raise_base(&threads->clocks, &(*clock)->local, home, base);
}

void threads_bridge_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key, uint32_t cta,
                          ClockRun run) {
    clock_own(threads, clock, home);
    ThreadsBridge *bridge = bridge_seat(threads, &(*clock)->bridges, key);
    parts_raise(threads, &bridge->local, &bridge->remote, home, cta, run);
}

void threads_bridge_join(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key,
                         const ThreadsClock *other) {
    if (!other)
        return;
    CtaClock *local = cta_clock_share(other->local); /* it may be *clock itself, which changes */
    Clock *remote = clock_share(other->remote);
    uint32_t other_home = other->home;
    clock_own(threads, clock, home);
    ThreadsBridge *bridge = bridge_seat(threads, &(*clock)->bridges, key);
    parts_join(threads, &bridge->local, &bridge->remote, home, local, remote, other_home);
    cta_clock_drop(&threads->clocks, local);
    clock_drop(&threads->clocks, remote);
}

bool threads_clock_at_home(const ThreadsClock *clock) {
    if (!clock)
        return true;
    for (uint32_t i = 0; clock->bridges && i < clock->bridges->count; i++)
        if (clock->bridges->items[i].remote)
            return false;
    return !clock->remote;
}

uint32_t threads_clock_known(const ThreadsClock *clock, uint32_t cta, uint32_t warp, uint32_t epoch) {
    if (!clock)
        return 0;
    return cta_clock_known(cta == clock->home ? clock->local : clock_at(clock->remote, cta), warp, epoch);
}

bool threads_clock_ended(const ThreadsClock *clock, uint32_t cta) {
    const CtaClock *known = !clock ? NULL : cta == clock->home ? clock->local : clock_at(clock->remote, cta);
    return known && known->base == EPOCH_ENDED;
}

/* The home is in `remote`, too, so that others can share that. */
ThreadsClock *threads_clock_of_ended(Threads *threads, uint32_t first_cta, uint32_t ctas) {
    ThreadsClock *clock = NULL;
    clock_own(threads, &clock, first_cta);
    clock->remote = clock_of_ended(&threads->clocks, first_cta, ctas);
    clock->local = cta_clock_share(clock_at(clock->remote, first_cta));
    return clock;
}

bool threads_bridge(const ThreadsClock *clock, uint64_t key, ThreadsClock *bridge) {
    const ThreadsBridge *found = clock ? bridge_find(clock->bridges, key) : NULL;
    if (!found)
        return false;
    *bridge = (ThreadsClock){.home = clock->home, .local = found->local, .remote = found->remote};
    return true;
}
