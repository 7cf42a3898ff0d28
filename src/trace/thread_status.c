/* Which threads stand at barriers, by what was recorded before them: the barriers of a cluster, gone through again.
 *
 * A record at a barrier was made before it, so that the last record of a thread does not say whether it is held there
 * or has gone on and computes. Each warp's own records are in order; barriers make an order of the rest. */
#include "trace/thread_status.h"

#include "trace/sample.h"

enum { NAMED = 16 };

/* What counts of a record. A meeting of which some number is not known lets all pass. */
typedef struct ThreadStatusAct {
    RecordKind kind; /* RECORD_EXIT, RECORD_GIVES_UP, or another one */
    RecordSyncs meets;
    bool counted;
    uint32_t lanes, at, count;
    uint32_t by; /* RECORD_SYNCS_LANES: RecordShape.meets_by */
} ThreadStatusAct;

typedef struct ThreadStatusWarp {
    bool begun;
    uint32_t launched, ended, gave_up, held; /* lanes */
    ThreadStatusAct *acts;
    uint32_t act_count, act_capacity;
    uint32_t next[RECORD_LANES];   /* of each lane: acts that it is done with, or are not its own */
    uint32_t passed[RECORD_LANES]; /* ... and that it has come behind, as records show */
    uint32_t came[NAMED], held_at[NAMED];
    uint32_t masks[RECORD_LANES], by[RECORD_LANES];       /* of lanes that meet others: whom, and by what */
    uint32_t meets_lanes;                                 /* lanes that are held there */
    uint32_t arrivals[RECORD_LANES], waits[RECORD_LANES]; /* at the cluster's barrier */
    uint32_t waits_for_cluster;                           /* lanes that are held there */
} ThreadStatusWarp;

typedef struct ThreadStatusNamed {
    uint64_t warps; /* that have arrived */
    uint32_t expected;
    bool counted;
} ThreadStatusNamed;

typedef struct ThreadStatusCta {
    ThreadStatusWarp *warps;
    uint32_t warp_count;
    ThreadStatusNamed named[NAMED];
} ThreadStatusCta;

typedef struct ThreadStatusCluster {
    ThreadStatusCta *ctas;
    uint32_t cta_count;
    bool changed; /* a thread has gone on */
} ThreadStatusCluster;

static uint32_t live(const ThreadStatusWarp *warp) {
    return warp->launched & ~warp->ended;
}

/* ---- What was recorded ---------------------------------------------------------------------------- */

static bool number_of(const Record *record, const RecordNumber *number, uint32_t *value) {
    *value = number->value;
    if (!number->part)
        return true;
    RecordKind kind = number->part <= record->part_count ? record->parts[number->part - 1].kind : RECORD_CHUNK;
    if (kind != RECORD_UNIFORM && (kind != RECORD_WARP || !number->uniform))
        return false;
    *value = (uint32_t)record->parts[number->part - 1].value;
    return true;
}

static ThreadStatusAct act_of(const Record *record, const RecordShape *shapes) {
    ThreadStatusAct act = {.kind = record->kind, .lanes = record->lanes};
    if (record->kind == RECORD_EXIT || record->kind == RECORD_GIVES_UP)
        return act;
    const RecordShape *shape = &shapes[record->site];
    bool known = number_of(record, &shape->meets_at, &act.at) && number_of(record, &shape->meets_count, &act.count);
    act.counted = shape->meets_count.given;
    act.by = shape->meets_by;
    act.meets = known && (shape->meets == RECORD_SYNCS_LANES || act.at < NAMED) ? shape->meets : RECORD_SYNCS_NONE;
    return act;
}

static void take_acts(ThreadStatusWarp *warp, RecordReader *reader, uint32_t number, RecordCursor *room, Arena *arena) {
    RecordStream stream;
    Record record;
    record_stream(&stream, reader, number, room);
    while (record_next(&stream, &record)) {
        ThreadStatusAct act = act_of(&record, reader->shapes);
        for (uint32_t left = record.lanes; left; left &= left - 1)
            warp->passed[__builtin_ctz(left)] = warp->act_count;
        if (act.lanes && (act.meets || act.kind == RECORD_EXIT || act.kind == RECORD_GIVES_UP))
            *ARENA_PUSH(arena, warp->acts, warp->act_count, warp->act_capacity) = act;
    }
}

/* ---- Barriers ------------------------------------------------------------------------------------- */

static void release(ThreadStatusCluster *cluster, ThreadStatusWarp *warp, uint32_t lanes) {
    warp->held &= ~lanes;
    cluster->changed |= lanes != 0;
}

/* Whether every warp that has threads left has arrived. */
static bool others_have_ended(const ThreadStatusCta *cta, const ThreadStatusNamed *named) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (live(&cta->warps[i]) && !(named->warps >> i & 1))
            return false;
    return true;
}

/* A warp has arrived when all of its threads that have not ended have come; a barrier without a count waits for no
 * warp that has ended. */
static void settle_named(ThreadStatusCluster *cluster, ThreadStatusCta *cta, uint32_t id) {
    ThreadStatusNamed *named = &cta->named[id];
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].came[id] && !(live(&cta->warps[i]) & ~cta->warps[i].came[id]))
            named->warps |= UINT64_C(1) << i;
    uint32_t arrived = (uint32_t)__builtin_popcountll(named->warps) * RECORD_LANES;
    if (!arrived || (arrived < named->expected && (named->counted || !others_have_ended(cta, named))))
        return;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (named->warps >> i & 1) {
            release(cluster, &cta->warps[i], cta->warps[i].held_at[id]);
            cta->warps[i].came[id] = cta->warps[i].held_at[id] = 0;
        }
    *named = (ThreadStatusNamed){0};
}

static void settle_lanes(ThreadStatusCluster *cluster, ThreadStatusWarp *warp) {
    for (uint32_t left = warp->meets_lanes, here; left; left &= ~here) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), mask = warp->masks[lane];
        here = 0;
        for (uint32_t other = left; other; other &= other - 1)
            if (warp->masks[__builtin_ctz(other)] == mask && warp->by[__builtin_ctz(other)] == warp->by[lane])
                here |= other & -other;
        if (mask & live(warp) & ~here)
            continue;
        warp->meets_lanes &= ~here;
        release(cluster, warp, here);
    }
}

/* Who waits for the n-th time waits for the n-th arrival of all. */
static void settle_cluster(ThreadStatusCluster *cluster) {
    uint32_t all = UINT32_MAX;
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t k = 0; k < cluster->ctas[i].warp_count; k++) {
            const ThreadStatusWarp *warp = &cluster->ctas[i].warps[k];
            for (uint32_t left = live(warp); left; left &= left - 1)
                if (warp->arrivals[__builtin_ctz(left)] < all)
                    all = warp->arrivals[__builtin_ctz(left)];
        }
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        for (uint32_t k = 0; k < cluster->ctas[i].warp_count; k++) {
            ThreadStatusWarp *warp = &cluster->ctas[i].warps[k];
            uint32_t over = 0;
            for (uint32_t left = warp->waits_for_cluster; left; left &= left - 1)
                over |= warp->waits[__builtin_ctz(left)] <= all ? left & -left : 0;
            warp->waits_for_cluster &= ~over;
            release(cluster, warp, over);
        }
}

/* ---- Going through them --------------------------------------------------------------------------- */

static void come(ThreadStatusCta *cta, ThreadStatusWarp *warp, const ThreadStatusAct *act, uint32_t lanes) {
    ThreadStatusNamed *named = &cta->named[act->at % NAMED];
    uint32_t lane;
    switch (act->meets) {
    case RECORD_SYNCS_NAMED:
    case RECORD_SYNCS_NAMED_ARRIVE:
        named->expected = act->counted ? act->count : cta->warp_count * RECORD_LANES;
        named->counted |= act->counted;
        warp->came[act->at] |= lanes;
        if (act->meets == RECORD_SYNCS_NAMED) {
            warp->held_at[act->at] |= lanes;
            warp->held |= lanes;
        }
        break;
    case RECORD_SYNCS_LANES:
        for (uint32_t left = lanes; left; left &= left - 1) {
            warp->masks[__builtin_ctz(left)] = act->at;
            warp->by[__builtin_ctz(left)] = act->by;
        }
        warp->meets_lanes |= lanes;
        warp->held |= lanes;
        break;
    case RECORD_SYNCS_CLUSTER_ARRIVE:
    case RECORD_SYNCS_CLUSTER_WAIT:
        for (uint32_t left = lanes; left; left &= left - 1) {
            lane = (uint32_t)__builtin_ctz(left);
            if (act->meets == RECORD_SYNCS_CLUSTER_ARRIVE)
                warp->arrivals[lane]++;
            else
                warp->waits[lane]++;
        }
        warp->waits_for_cluster |= act->meets == RECORD_SYNCS_CLUSTER_WAIT ? lanes : 0;
        warp->held |= act->meets == RECORD_SYNCS_CLUSTER_WAIT ? lanes : 0;
        break;
    default:
        warp->ended |= act->kind == RECORD_EXIT ? lanes : 0;
        warp->gave_up |= act->kind == RECORD_GIVES_UP ? lanes : 0;
    }
}

/* The next act of the lane; act_count: there is none. */
static uint32_t next_of(ThreadStatusWarp *warp, uint32_t lane) {
    uint32_t at = warp->next[lane];
    while (at < warp->act_count && !(warp->acts[at].lanes >> lane & 1))
        at++;
    return warp->next[lane] = at;
}

/* Lanes that nothing holds come to what is next. */
static void run_warp(ThreadStatusCluster *cluster, ThreadStatusCta *cta, ThreadStatusWarp *warp) {
    for (uint32_t left = live(warp) & ~warp->held & ~warp->gave_up, lanes; left; left &= ~lanes) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), at = next_of(warp, lane);
        lanes = left & -left;
        if (at == warp->act_count)
            continue;
        lanes = 0;
        for (uint32_t other = left & warp->acts[at].lanes; other; other &= other - 1)
            if (next_of(warp, (uint32_t)__builtin_ctz(other)) == at) {
                lanes |= other & -other;
                warp->next[__builtin_ctz(other)]++;
            }
        come(cta, warp, &warp->acts[at], lanes);
        cluster->changed = true;
    }
}

static void go_through(ThreadStatusCluster *cluster) {
    do {
        cluster->changed = false;
        for (uint32_t i = 0; i < cluster->cta_count; i++) {
            ThreadStatusCta *cta = &cluster->ctas[i];
            for (uint32_t k = 0; k < cta->warp_count; k++) {
                run_warp(cluster, cta, &cta->warps[k]);
                settle_lanes(cluster, &cta->warps[k]);
            }
            for (uint32_t id = 0; id < NAMED; id++)
                settle_named(cluster, cta, id);
        }
        settle_cluster(cluster);
    } while (cluster->changed);
}

/* ---- Counting them -------------------------------------------------------------------------------- */

/* Who is held before something that his records show him behind has not been understood, and may be anywhere. */
static void count_warp(RecordThreadStatus *thread_status, const ThreadStatusWarp *warp) {
    for (uint32_t left = warp->launched; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), is = left & -left;
        bool held = (warp->held & is) && warp->next[lane] > warp->passed[lane];
        thread_status->ended += (warp->ended & is) != 0;
        thread_status->gave_up += (warp->gave_up & is) != 0;
        thread_status->held += held;
        thread_status->elsewhere += !held && !((warp->ended | warp->gave_up) & is);
    }
}

static void open_warp(ThreadStatusWarp *warp, RecordReader *reader, uint32_t number, uint32_t threads,
                      RecordCursor *room, Arena *arena) {
    uint32_t lanes = threads - number % reader->warps * RECORD_LANES;
    *warp = (ThreadStatusWarp){.launched = lanes < RECORD_LANES ? (UINT32_C(1) << lanes) - 1 : UINT32_MAX,
                               .begun = record_begun(reader->recording, number)};
    if (warp->begun)
        take_acts(warp, reader, number, room, arena);
}

/* Those of a cluster that has not begun are not counted. */
static void count_cluster(RecordThreadStatus *thread_status, RecordReader *reader, uint32_t number, uint32_t threads,
                          RecordCursor *room, Arena *arena) {
    const RecordingLaunch *launch = &reader->recording->launch;
    ThreadStatusCluster cluster = {.cta_count = launch->cluster[0] * launch->cluster[1] * launch->cluster[2]};
    bool begun = false;
    cluster.ctas = ARENA_ARRAY(arena, ThreadStatusCta, cluster.cta_count);
    for (uint32_t i = 0; i < cluster.cta_count; i++) {
        ThreadStatusCta *cta = &cluster.ctas[i];
        uint32_t id = recording_cta(launch, number * cluster.cta_count + i);
        *cta = (ThreadStatusCta){.warps = ARENA_ARRAY(arena, ThreadStatusWarp, reader->warps),
                                 .warp_count = reader->warps};
        for (uint32_t k = 0; k < cta->warp_count; k++) {
            open_warp(&cta->warps[k], reader, id * reader->warps + k, threads, room, arena);
            begun |= cta->warps[k].begun;
        }
    }
    if (!begun)
        return;
    go_through(&cluster);
    for (uint32_t i = 0; i < cluster.cta_count; i++)
        for (uint32_t k = 0; k < cluster.ctas[i].warp_count; k++)
            count_warp(thread_status, &cluster.ctas[i].warps[k]);
}

bool record_thread_status(RecordThreadStatus *thread_status, const Recording *recording, const RecordShape *shapes,
                          uint32_t site_count) {
    const RecordingLaunch *launch = &recording->launch;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t size = (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    RecordCursor room[RECORD_LEADERS];
    RecordReader reader;
    Arena arena, clusters;
    jmp_buf exhausted;
    *thread_status = (RecordThreadStatus){0};
    arena_init(&arena, SIZE_MAX);
    arena_init(&clusters, SIZE_MAX);
    arena.exhausted = clusters.exhausted = &exhausted;
    if (setjmp(exhausted)) {
        arena_free(&arena);
        arena_free(&clusters);
        return false;
    }
    bool reports = !launch->dropped && launch->asked <= recording->more_count && !is_sampled(launch) &&
                   record_reader(&reader, recording, shapes, site_count, &arena);
    for (uint64_t i = 0; reports && i < ctas / size; i++) {
        count_cluster(thread_status, &reader, (uint32_t)i, threads, room, &clusters);
        arena_reset(&clusters);
    }
    reports = reports && !reader.damaged && !reader.missing;
    arena_free(&clusters);
    arena_free(&arena);
    return reports;
}
