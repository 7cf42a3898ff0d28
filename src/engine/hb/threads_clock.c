/* Clocks of threads: up to which epoch each is known. What is equal is shared, and copied when it changes. */
#include "engine/hb/threads_internal.h"

#include <string.h>

/* ---- One CTA ---- */

static size_t cta_size(uint32_t capacity) {
    return sizeof(CtaClock) + capacity * sizeof(HbThreadsRun);
}

CtaClock *threads_cta_share(CtaClock *clock) {
    if (clock)
        clock->references++;
    return clock;
}

void threads_cta_drop(Threads *threads, CtaClock *clock) {
    if (clock && --clock->references == 0)
        gsan_pool_give(&threads->pool, clock, cta_size(clock->capacity));
}

static CtaClock *cta_new(Threads *threads, uint32_t capacity) {
    CtaClock *clock = gsan_pool_take(&threads->pool, cta_size(capacity));
    clock->references = 1;
    clock->capacity = capacity;
    return clock;
}

/* The first run of that warp or a later one. */
static uint32_t first_run(const CtaClock *clock, uint32_t warp) {
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->runs[middle].warp < warp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t cta_known(const CtaClock *clock, uint32_t warp, uint32_t epoch) {
    if (!clock)
        return 0;
    if (clock->base >= epoch && warp < MARKS)
        return UINT32_MAX;
    uint32_t known = 0;
    for (uint32_t i = first_run(clock, warp); i < clock->count && clock->runs[i].warp == warp; i++)
        if (clock->runs[i].epoch >= epoch)
            known |= clock->runs[i].lanes;
    return known;
}

static bool cta_includes(const CtaClock *clock, const CtaClock *other) {
    if (!other || clock == other)
        return true;
    if (!clock || other->base > clock->base)
        return false;
    for (uint32_t i = 0; i < other->count; i++)
        if (other->runs[i].lanes & ~cta_known(clock, other->runs[i].warp, other->runs[i].epoch))
            return false;
    return true;
}

/* Appends what is above the base of runs of one warp, the largest epochs first. */
static void put_runs(CtaClock *to, HbThreadsRun *runs, uint32_t count) {
    uint32_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = i;
        for (uint32_t j = i + 1; j < count; j++)
            if (runs[j].epoch > runs[best].epoch)
                best = j;
        HbThreadsRun run = runs[best];
        runs[best] = runs[i];
        run.lanes &= ~covered;
        if (!run.lanes || (run.warp < MARKS && run.epoch <= to->base))
            continue;
        covered |= run.lanes;
        if (to->count && to->runs[to->count - 1].warp == run.warp && to->runs[to->count - 1].epoch == run.epoch)
            to->runs[to->count - 1].lanes |= run.lanes;
        else
            to->runs[to->count++] = run;
    }
}

/* Whether what ended is known whole: it does no more, and then any number is right for it. */
static bool knows_the_dead(const Threads *threads, const CtaClock *clock, const Cta *cta) {
    if (!cta->dead)
        return true;
    for (uint32_t thread = 0; thread < threads->shape.cta_threads; thread++)
        if (cta->finals[thread] != UINT32_MAX && cta->finals[thread] > clock->base &&
            !(cta_known(clock, thread / 32, cta->finals[thread]) >> thread % 32 & 1))
            return false;
    return true;
}

/* If runs have every thread that lives, the base can be what the least of them has. */
static void lift_base(const Threads *threads, CtaClock *clock, uint32_t cta_number) {
    const Cta *cta = threads->ctas[cta_number];
    if (!cta)
        return;
    uint32_t threads_known = 0, least = UINT32_MAX;
    uint32_t live = threads->shape.cta_threads - cta->dead;
    for (uint32_t i = 0; i < clock->count && clock->runs[i].warp < MARKS; i++) {
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
        if (clock->runs[i].warp >= MARKS || clock->runs[i].epoch > least)
            clock->runs[kept++] = clock->runs[i];
    clock->count = kept;
}

static CtaClock *cta_union(Threads *threads, const CtaClock *a, const CtaClock *b, uint32_t cta) {
    CtaClock *made = cta_new(threads, a->count + b->count);
    made->base = a->base > b->base ? a->base : b->base;
    for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
        uint32_t warp =
            i < a->count && (j == b->count || a->runs[i].warp <= b->runs[j].warp) ? a->runs[i].warp : b->runs[j].warp;
        HbThreadsRun runs[2 * THREADS_LANES];
        uint32_t count = 0;
        while (i < a->count && a->runs[i].warp == warp)
            runs[count++] = a->runs[i++];
        while (j < b->count && b->runs[j].warp == warp)
            runs[count++] = b->runs[j++];
        put_runs(made, runs, count);
    }
    lift_base(threads, made, cta);
    return made;
}

static void cta_join(Threads *threads, CtaClock **clock, CtaClock *other, uint32_t cta) {
    if (cta_includes(*clock, other))
        return;
    CtaClock *made = cta_includes(other, *clock) ? threads_cta_share(other) : cta_union(threads, *clock, other, cta);
    threads_cta_drop(threads, *clock);
    *clock = made;
}

static void cta_raise(Threads *threads, CtaClock **clock, uint32_t cta, HbThreadsRun run) {
    if (!(run.lanes & ~cta_known(*clock, run.warp, run.epoch)))
        return;
    CtaClock *more = cta_new(threads, 1);
    more->count = 1;
    more->runs[0] = run;
    if (*clock) {
        cta_join(threads, clock, more, cta);
        threads_cta_drop(threads, more);
    } else {
        lift_base(threads, more, cta);
        *clock = more;
    }
}

/* ---- All CTAs ---- */

static Remote *remote_share(Remote *remote) {
    if (remote)
        remote->references++;
    return remote;
}

static void leaf_drop(Threads *threads, CtaLeaf *leaf) {
    if (!leaf || --leaf->references > 0)
        return;
    for (uint32_t i = 0; i < CTA_LEAF; i++)
        threads_cta_drop(threads, leaf->ctas[i]);
    gsan_pool_give(&threads->pool, leaf, sizeof *leaf);
}

static size_t remote_size(const Threads *threads) {
    return sizeof(Remote) + threads->leaf_count * sizeof(CtaLeaf *);
}

static void remote_drop(Threads *threads, Remote *remote) {
    if (!remote || --remote->references > 0)
        return;
    for (uint32_t i = 0; i < threads->leaf_count; i++)
        leaf_drop(threads, remote->leaves[i]);
    gsan_pool_give(&threads->pool, remote, remote_size(threads));
}

/* It is about to learn more. */
static void remote_step(Threads *threads, Remote *remote, bool made) {
    uint32_t *last = made ? NULL : &threads->line_steps[remote->line];
    remote->version = ++threads->versions;
    if (last && *last == remote->step) {
        remote->step = ++*last;
        return;
    }
    remote->parent_line = made ? UINT32_MAX : remote->line;
    remote->parent_step = remote->step;
    remote->line = threads->line_count;
    remote->step = 0;
    *THREADS_PUSH(threads, threads->line_steps, threads->line_count, threads->line_capacity) = 0;
}

/* Whether that can be told by what they were made from: one has all of the other. */
static bool remote_behind(const Remote *remote, const Remote *other) {
    return (remote->line == other->line && remote->step >= other->step) ||
           (remote->parent_line == other->line && remote->parent_step >= other->step);
}

/* Where the CTA's clock stands, for code that changes it. */
static CtaClock **remote_seat(Threads *threads, Remote **remote, uint32_t cta) {
    bool first = !*remote;
    if (!*remote || (*remote)->references > 1) {
        Remote *made = gsan_pool_take(&threads->pool, remote_size(threads));
        made->references = 1;
        if (*remote) {
            made->line = (*remote)->line;
            made->step = (*remote)->step;
        }
        for (uint32_t i = 0; *remote && i < threads->leaf_count; i++)
            if ((made->leaves[i] = (*remote)->leaves[i]))
                made->leaves[i]->references++;
        remote_drop(threads, *remote);
        *remote = made;
    }
    remote_step(threads, *remote, first);
    CtaLeaf **leaf = &(*remote)->leaves[cta / CTA_LEAF];
    if (!*leaf || (*leaf)->references > 1) {
        CtaLeaf *made = POOL_NEW(&threads->pool, CtaLeaf);
        made->references = 1;
        for (uint32_t i = 0; *leaf && i < CTA_LEAF; i++)
            made->ctas[i] = threads_cta_share((*leaf)->ctas[i]);
        leaf_drop(threads, *leaf);
        *leaf = made;
    }
    return &(*leaf)->ctas[cta % CTA_LEAF];
}

static CtaClock *remote_at(const Remote *remote, uint32_t cta) {
    const CtaLeaf *leaf = remote && cta != NO_HOME ? remote->leaves[cta / CTA_LEAF] : NULL;
    return leaf ? leaf->ctas[cta % CTA_LEAF] : NULL;
}

static bool remote_includes(Threads *threads, const Remote *remote, const Remote *other) {
    if (!other || remote == other)
        return true;
    if (!remote)
        return false;
    if (remote_behind(remote, other))
        return true;
    if (remote->line == other->line) /* it has less, as a rule; if it has not, it may be taken for less */
        return false;
    uint64_t *memo = threads->included[hashed(remote->version * 31 + other->version) % INCLUDED_MEMO];
    if (memo[0] == remote->version && memo[1] == other->version)
        return true;
    for (uint32_t i = 0; i < threads->leaf_count; i++) {
        if (!other->leaves[i] || other->leaves[i] == remote->leaves[i])
            continue;
        if (!remote->leaves[i])
            return false;
        for (uint32_t j = 0; j < CTA_LEAF; j++)
            if (!cta_includes(remote->leaves[i]->ctas[j], other->leaves[i]->ctas[j]))
                return false;
    }
    memo[0] = remote->version;
    memo[1] = other->version;
    return true;
}

static void remote_join(Threads *threads, Remote **remote, Remote *other) {
    if (remote_includes(threads, *remote, other))
        return;
    if (remote_includes(threads, other, *remote)) {
        remote_drop(threads, *remote);
        *remote = remote_share(other);
        return;
    }
    for (uint32_t i = 0; i < threads->leaf_count; i++) {
        CtaLeaf *leaf = other->leaves[i];
        for (uint32_t j = 0; leaf && leaf != (*remote)->leaves[i] && j < CTA_LEAF; j++)
            if (!cta_includes(remote_at(*remote, i * CTA_LEAF + j), leaf->ctas[j]))
                cta_join(threads, remote_seat(threads, remote, i * CTA_LEAF + j), leaf->ctas[j], i * CTA_LEAF + j);
    }
}

/* ---- Bridges ---- */

static void bridges_drop(Threads *threads, Bridges *bridges) {
    if (!bridges || --bridges->references > 0)
        return;
    for (uint32_t i = 0; i < bridges->count; i++) {
        threads_cta_drop(threads, bridges->items[i].local);
        remote_drop(threads, bridges->items[i].remote);
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
            (ThreadsBridge){from->key, threads_cta_share(from->local), remote_share(from->remote)};
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
    threads_cta_drop(threads, clock->local);
    remote_drop(threads, clock->remote);
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
        made->local = threads_cta_share((*clock)->local);
        made->remote = remote_share((*clock)->remote);
        if ((made->bridges = (*clock)->bridges))
            made->bridges->references++;
        threads_clock_drop(threads, *clock);
    }
    *clock = made;
}

/* Two parts of a clock, joined with those of another whose home may be elsewhere. */
static void parts_join(Threads *threads, CtaClock **local, Remote **remote, uint32_t home, CtaClock *other_local,
                       Remote *other_remote, uint32_t other_home) {
    remote_join(threads, remote, other_remote);
    if (home == other_home) {
        cta_join(threads, local, other_local, home);
        return;
    }
    cta_join(threads, local, remote_at(other_remote, home), home);
    if (!cta_includes(remote_at(*remote, other_home), other_local))
        cta_join(threads, remote_seat(threads, remote, other_home), other_local, other_home);
}

static bool parts_include(Threads *threads, CtaClock *local, Remote *remote, uint32_t home, CtaClock *other_local,
                          Remote *other_remote, uint32_t other_home) {
    if (!remote_includes(threads, remote, other_remote))
        return false;
    if (home == other_home)
        return cta_includes(local, other_local);
    return cta_includes(local, remote_at(other_remote, home)) &&
           cta_includes(remote_at(remote, other_home), other_local);
}

static bool clock_includes(Threads *threads, const ThreadsClock *clock, const ThreadsClock *other) {
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
    if (clock_includes(threads, *clock, other))
        return;
    if (other->references && other->home == home && clock_includes(threads, other, *clock)) { /* not threads_bridge's */
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

static void parts_raise(Threads *threads, CtaClock **local, Remote **remote, uint32_t home, uint32_t cta,
                        HbThreadsRun run) {
    cta_raise(threads, cta == home ? local : remote_seat(threads, remote, cta), cta, run);
}

void threads_clock_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t cta, HbThreadsRun run) {
    clock_own(threads, clock, home);
    parts_raise(threads, &(*clock)->local, &(*clock)->remote, home, cta, run);
}

/* A run behind others: of lanes that are there already it is the newer one. */
static void add_run(CtaClock *clock, HbThreadsRun run) {
    uint32_t at = first_run(clock, run.warp), kept = at, end = at;
    while (end < clock->count && clock->runs[end].warp == run.warp) {
        HbThreadsRun there = clock->runs[end++];
        there.lanes &= ~run.lanes;
        if (there.lanes && there.epoch == run.epoch)
            run.lanes |= there.lanes;
        else if (there.lanes)
            clock->runs[kept++] = there;
    }
    memmove(&clock->runs[kept + 1], &clock->runs[end], (clock->count - end) * sizeof(HbThreadsRun));
    clock->runs[kept] = run;
    clock->count += kept + 1 - end;
}

void threads_clock_raise_all(Threads *threads, ThreadsClock **clock, uint32_t home, const Arrived *arrived,
                             uint32_t count) {
    CtaClock *more = cta_new(threads, count);
    for (uint32_t i = 0; i < count; i++)
        add_run(more, arrived[i].run);
    clock_own(threads, clock, home);
    if ((*clock)->local) {
        cta_join(threads, &(*clock)->local, more, home);
        threads_cta_drop(threads, more);
    } else {
        lift_base(threads, more, home);
        (*clock)->local = more;
    }
}

void threads_clock_raise_base(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t base) {
    clock_own(threads, clock, home);
    CtaClock *local = (*clock)->local;
    if (local && local->references == 1 && !local->count) {
        local->base = local->base > base ? local->base : base;
        return;
    }
    CtaClock *more = cta_new(threads, 0);
    more->base = base;
    if (local) {
        cta_join(threads, &(*clock)->local, more, home);
        threads_cta_drop(threads, more);
    } else {
        (*clock)->local = more;
    }
}

void threads_bridge_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key, uint32_t cta,
                          HbThreadsRun run) {
    clock_own(threads, clock, home);
    ThreadsBridge *bridge = bridge_seat(threads, &(*clock)->bridges, key);
    parts_raise(threads, &bridge->local, &bridge->remote, home, cta, run);
}

void threads_bridge_join(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key,
                         const ThreadsClock *other) {
    if (!other)
        return;
    CtaClock *local = threads_cta_share(other->local); /* it may be *clock itself, which changes */
    Remote *remote = remote_share(other->remote);
    uint32_t other_home = other->home;
    clock_own(threads, clock, home);
    ThreadsBridge *bridge = bridge_seat(threads, &(*clock)->bridges, key);
    parts_join(threads, &bridge->local, &bridge->remote, home, local, remote, other_home);
    threads_cta_drop(threads, local);
    remote_drop(threads, remote);
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
    return cta_known(cta == clock->home ? clock->local : remote_at(clock->remote, cta), warp, epoch);
}

bool threads_clock_ended(const ThreadsClock *clock, uint32_t cta) {
    const CtaClock *known = !clock ? NULL : cta == clock->home ? clock->local : remote_at(clock->remote, cta);
    return known && known->base == EPOCH_ENDED;
}

/* The home is in `remote`, too, so that others can share that. */
ThreadsClock *threads_clock_of_ended(Threads *threads, uint32_t first_cta, uint32_t ctas) {
    CtaClock *ended = cta_new(threads, 0);
    ThreadsClock *clock = NULL;
    ended->base = EPOCH_ENDED;
    clock_own(threads, &clock, first_cta);
    clock->local = threads_cta_share(ended);
    for (uint32_t i = 0; i < ctas; i++)
        *remote_seat(threads, &clock->remote, first_cta + i) = threads_cta_share(ended);
    threads_cta_drop(threads, ended);
    return clock;
}

bool threads_bridge(const ThreadsClock *clock, uint64_t key, ThreadsClock *bridge) {
    const ThreadsBridge *found = clock ? bridge_find(clock->bridges, key) : NULL;
    if (!found)
        return false;
    *bridge = (ThreadsClock){.home = clock->home, .local = found->local, .remote = found->remote};
    return true;
}
