/* Strong accesses: the table of flags (ShadowBucket), one critical section with the access itself. */
#ifndef DEVICE_FLAGS_H
#define DEVICE_FLAGS_H

#include "device/clocks.h"

enum { FLAG_TRIES = 8 };

/* A strong access, for the lane whose turn it is. The orders are GsanOrder's: weak 0, relaxed, acquire, release,
 * acq_rel. */
typedef struct Strong {
    uint64_t address;
    uint32_t bytes, site, kind, order, scope;
    bool stored;
} Strong;

static inline bool strong_acquires(const Strong *strong) {
    return strong->kind != SHADOW_WRITE && (strong->order == 2 || strong->order == 4);
}
static inline bool strong_releases(const Strong *strong) {
    return strong->stored && (strong->order == 3 || strong->order == 4);
}

static inline uint64_t bucket_of(const Here *here, uint64_t address) {
    return STATE64(here, buckets) + (uint64_t)shadow_bucket(address) * sizeof(ShadowBucket);
}

#define EACH_WAY _Pragma("unroll") for (uint32_t i = 0; i < SHADOW_WAYS; i++)

static inline uint64_t way_of(uint64_t bucket, uint32_t way) {
    return bucket + offsetof(ShadowBucket, entries) + way * sizeof(ShadowSync);
}

/* The entry of an address, or one that nobody has in this launch. All are loaded before any is looked at. */
typedef struct Way {
    uint64_t at, free; /* 0: there is none */
    uint64_t rest;     /* of the entry: what stands behind the address */
} Way;

static inline Way find_flag(const Here *here, uint64_t bucket, uint64_t address) {
    uint64_t addresses[SHADOW_WAYS], rests[SHADOW_WAYS];
    EACH_WAY {
        addresses[i] = load64(way_of(bucket, i));
        rests[i] = load64(way_of(bucket, i) + 8);
    }
    Way way = {0};
    EACH_WAY {
        bool is_ours = (uint32_t)(rests[i] >> 32 & 255) == here_tag(here);
        if (is_ours && addresses[i] == address) {
            way.at = way_of(bucket, i);
            way.rest = rests[i];
        }
        way.free = is_ours ? way.free : way_of(bucket, i);
    }
    return way;
}

/* One of those that others have is lost. */
static inline uint64_t take_flag(const Here *here, uint64_t bucket, uint64_t address, uint32_t site) {
    store32(bucket + offsetof(ShadowBucket, lost), here_tag(here));
    tell_trouble(here, SHADOW_FLAGS_LOST, site);
    return way_of(bucket, (uint32_t)((address >> 2) % SHADOW_WAYS));
}

/* The last strong write of an address. */
typedef struct Flag {
    uint32_t stamp, scope;
    bool release;
    bool lost;   /* there may have been one */
    uint64_t at; /* where the next one is written; 0: some other one has to go */
} Flag;

static inline Flag load_flag(const Here *here, uint64_t address) {
    uint64_t bucket = bucket_of(here, address);
    Way way = find_flag(here, bucket, address);
    if (!way.at)
        return (Flag){.lost = load32(bucket + offsetof(ShadowBucket, lost)) == here_tag(here), .at = way.free};
    return (Flag){(uint32_t)way.rest, (uint32_t)(way.rest >> 40 & 255), way.rest >> 48 & 1, false, way.at};
}

/* The bucket is locked, and stays so until that can be seen. */
static inline void store_flag(const View *view, const Turn *turn, const Strong *strong, const Flag *flag,
                              bool release) {
    if (is_leader(turn)) {
        const Here *here = view->here;
        uint64_t at =
            flag->at ? flag->at : take_flag(here, bucket_of(here, strong->address), strong->address, strong->site);
        store64(at, strong->address);
        store64(at + 8,
                view->stamp | (uint64_t)here_tag(here) << 32 | (uint64_t)strong->scope << 40 | (uint64_t)release << 48);
    }
    meet(turn->lanes);
}

/* Everything that anybody has published so far: for flags that there was no room for. */
static inline void know_all(const View *view, const Turn *turn) {
    uint64_t vector = vector_of(view->here, view->here->who, VECTOR_KNOWS);
    uint32_t count = STATE32(view->here, slots), step = ones(turn->lanes);
    lock_actor(turn, view->actor);
    join(view, turn, VECTOR_KNOWS, ACTOR_KNOWS, 0);
    for (uint32_t i = rank_in(turn->lanes); i < count; i += step) {
        uint64_t at = actor_of(view->here, i);
        if (i == view->here->who)
            continue;
        store16(vector + 2 * ((uint64_t)i << view->slot_shift), (uint16_t)load32(ACTOR(at, epoch)));
        if (view->slot_shift)
            store16(vector + 2 * ((uint64_t)i << 1 | 1), (uint16_t)load32(ACTOR(at, complete)));
    }
    unlock_actor(turn, view->actor);
}

/* What a strong read gets from the write that it reads. */
static inline void read_flag(const View *view, const Turn *turn, const Strong *strong, const Flag *flag) {
    if (flag->lost && strong->scope >= 3) {
        know_all(view, turn);
        return;
    }
    if (!flag->release || !scopes_link(view, flag->stamp, flag->scope))
        return;
    /* Who polls reads the same again and again. */
    bool acquires = strong_acquires(strong);
    uint32_t memo = stamp_time(view, flag->stamp) | (acquires ? 0 : ACTOR_LATER);
    if (from_lane(turn->lanes, load32(ACTOR(view->actor, joined)), turn->leader) == memo)
        return;
    Released released = released_by(view, flag->stamp);
    /* Its own counts for what it passed on of others. */
    bool helps = is_own(view, flag->stamp) ? released.inherited && released.row : released.scope >= 3;
    if (!from_lane(turn->lanes, helps, turn->leader))
        return;
    uint32_t which = acquires ? VECTOR_KNOWS : VECTOR_OBSERVED, has = acquires ? ACTOR_KNOWS : ACTOR_OBSERVED;
    lock_actor(turn, view->actor);
    uint64_t row = from_lane64(turn->lanes, released.row, turn->leader);
    if (row)
        join(view, turn, which, has, row);
    else
        join_lost(view, turn, flag->stamp, strong->site, which, has);
    if (is_leader(turn))
        store32(ACTOR(view->actor, joined), memo);
    unlock_actor(turn, view->actor);
}

/* Whether a strong write passes on what the one before it has released: an update does; a store if its own CTA is the
 * one that released. */
static inline bool passes_on(const View *view, const Strong *strong, const Flag *flag) {
    if (!flag->release)
        return false;
    if (strong->kind == SHADOW_UPDATE)
        return is_own(view, flag->stamp) || scopes_link(view, flag->stamp, flag->scope);
    return !strong_releases(strong) && is_own(view, flag->stamp);
}

/* What the next one that reads it gets. */
static inline void write_flag(View *view, const Turn *turn, const Strong *strong, const Flag *flag) {
    bool releases = strong_releases(strong), passes = passes_on(view, strong, flag);
    bool has_fence = load32(ACTOR(view->actor, has)) & ACTOR_FENCED;
    bool is_release = from_lane(turn->lanes, releases || has_fence || passes, turn->leader);
    if (is_release) {
        uint64_t passed = passes ? released_by(view, flag->stamp).row : 0;
        lock_actor(turn, view->actor);
        view_renew(view, strong->site);
        meet(turn->lanes);
        publish(view, turn, releases, passes, passed, strong->scope, strong->site);
        unlock_actor(turn, view->actor);
    }
    store_flag(view, turn, strong, flag, is_release);
}

/* ---- The critical section ---- */

static inline void lock_bucket(const Here *here, const Turn *turn, uint64_t address) {
    if (is_leader(turn)) {
        uint64_t at = bucket_of(here, address);
        for (;;) {
            uint32_t sequence = load32(at);
            if (!(sequence & 1) && cas32(at, sequence, sequence + 1) == sequence)
                break;
        }
        fence();
    }
    meet(turn->lanes);
}

static inline void unlock_bucket(const Here *here, const Turn *turn, uint64_t address) {
    fence();
    meet(turn->lanes);
    if (is_leader(turn)) {
        uint64_t at = bucket_of(here, address);
        store32(at, load32(at) + 1);
    }
    meet(turn->lanes);
}

/* For loads, which take no lock: the sequence, once it is even. */
static inline uint32_t quiet_sequence(const Here *here, uint64_t address) {
    uint64_t at = bucket_of(here, address);
    uint32_t sequence = load32(at);
    while (sequence & 1)
        sequence = load32(at);
    fence();
    return sequence;
}

#endif
