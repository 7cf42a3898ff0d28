/* Strong accesses: what releases hand over to acquires, by the address that both use (ShadowFlag).
 *
 * A flag has a row: of each actor the latest epoch that was released through it, by itself or by who knew of it. Rows
 * only grow. A release raises the row before its write is made, an acquire joins the row after its read: so it has all
 * that the write that it read has released, and maybe what is about to be released, or was released before a later
 * write. Nobody waits for anybody, and no lock is held while the kernel's own instructions run. */
#ifndef DEVICE_FLAGS_H
#define DEVICE_FLAGS_H

#include "device/clocks.h"

/* A strong access of a lane. The orders are GsanOrder's: weak 0, relaxed, acquire, release, acq_rel. */
enum { SCOPE_OF_DEVICE = 3 };

static inline bool order_acquires(uint32_t order) {
    return order == 2 || order == 4;
}
static inline bool order_releases(uint32_t order) {
    return order == 3 || order == 4;
}

#define EACH_WAY _Pragma("unroll") for (uint32_t i = 0; i < SHADOW_WAYS; i++)

static inline uint64_t bucket_of(const Here *here, uint64_t address) {
    return STATE64(here, flags) + (uint64_t)shadow_bucket(address) * SHADOW_WAYS * sizeof(ShadowFlag);
}

/* The flag of an address; row 0: it has none. */
typedef struct Flag {
    uint64_t at;
    uint32_t row, version;
} Flag;

static inline bool is_flag_of(const Here *here, Wide way, uint64_t address) {
    return way.low == address && (way.high >> 24 & 255) == here_tag(here);
}
static inline uint32_t way_row(Wide way) {
    return (uint32_t)way.high & 0xffffff;
}

static inline Flag find_flag(const Here *here, uint64_t address) {
    uint64_t bucket = bucket_of(here, address);
    Wide ways[SHADOW_WAYS];
    EACH_WAY ways[i] = wide_load(bucket + i * sizeof(ShadowFlag));
    Flag flag = {0};
    EACH_WAY if (is_flag_of(here, ways[i], address)) {
        flag = (Flag){bucket + i * sizeof(ShadowFlag), way_row(ways[i]), (uint32_t)(ways[i].high >> 32)};
    }
    return flag;
}

/* Ways are taken from the first on, and stay for the launch: two that come at the same time find each other. Row 0:
 * there is no room. */
static inline Flag add_flag(const Here *here, uint64_t address, uint32_t site) {
    uint32_t row = 1 + add32(here->state + offsetof(ShadowState, rows_used), 1);
    Wide mine = {address, row | (uint64_t)here_tag(here) << 24};
    uint64_t at = bucket_of(here, address), end = at + SHADOW_WAYS * sizeof(ShadowFlag);
    for (; at < end && row <= STATE32(here, row_count); at += sizeof(ShadowFlag)) {
        Wide old = wide_load(at);
        if ((old.high >> 24 & 255) != here_tag(here)) {
            Wide seen = wide_cas(at, old, mine);
            old = wide_equal(seen, old) ? mine : seen;
        }
        if (is_flag_of(here, old, address))
            return (Flag){at, way_row(old), (uint32_t)(old.high >> 32)};
    }
    store32(here->state + offsetof(ShadowState, flags_lost), 1);
    tell_trouble(here, SHADOW_FLAGS_LOST, site);
    return (Flag){0};
}

static inline uint64_t row_at(const Here *here, uint32_t row) {
    return STATE64(here, rows) + (uint64_t)(row - 1) * STATE32(here, row_bytes);
}

/* ---- Releases ---- */

/* What a release hands over: the CTA's own epoch and groups, and what it knows, or knew at its last fence. */
typedef struct Release {
    uint32_t epoch, complete;
    bool by_fence;
} Release;

/* All that the CTA knows is in the row already, if nothing was learned since it was put there. */
static inline uint64_t published(uint32_t row, uint32_t changes) {
    return row | (uint64_t)changes << 32;
}

static inline void raise_row(const View *view, uint32_t lanes, const Release *release, uint32_t row) {
    uint64_t at = row_at(view->here, row), vector = own_vector(view, release->by_fence ? VECTOR_FENCE : VECTOR_KNOWS);
    uint32_t changes = load32(ACTOR(view->actor, changes)), count = entries_of(view), step = ones(lanes);
    bool has_all = !release->by_fence && (!changes || load64(ACTOR(view->actor, published)) == published(row, changes));
    uint32_t own = view->here->who << view->slot_shift;
    if (ballot(lanes, has_all) != lanes)
        for (uint32_t i = rank_in(lanes); i < count; i += step) {
            uint32_t epoch = vector_entry(vector, i);
            if (epoch && (i >> view->slot_shift) != view->here->who)
                raise32(at + 4 * (uint64_t)i, epoch);
        }
    if (lane() == lowest(lanes)) {
        raise32(at + 4 * (uint64_t)own, release->epoch);
        if (view->slot_shift)
            raise32(at + 4 * (uint64_t)(own | 1), release->complete);
        if (!release->by_fence && !has_all)
            store64(ACTOR(view->actor, published), published(row, changes));
    }
    fence();
    meet(lanes);
}

/* Before a write of a lane of `want`, all of one instruction. */
static inline void release_flags(const View *view, uint32_t lanes, uint32_t want, uint64_t address, bool releases,
                                 uint32_t epoch, uint32_t site) {
    uint32_t fence_epoch = load32(ACTOR(view->actor, fence_epoch));
    Release release = {releases ? epoch : fence_epoch,
                       load32(releases ? ACTOR(view->actor, complete) : ACTOR(view->actor, fence_complete)), !releases};
    want = ballot(lanes, (want >> lane() & 1) && release.epoch);
    while (want) {
        uint32_t leader = lowest(want);
        uint64_t one = from_lane64(lanes, address, leader);
        Flag flag = find_flag(view->here, one);
        if (lane() == leader && !flag.row)
            flag = add_flag(view->here, one, site);
        flag.row = from_lane(lanes, flag.row, leader);
        flag.at = from_lane64(lanes, flag.at, leader);
        if (flag.row) {
            raise_row(view, lanes, &release, flag.row);
            if (lane() == leader)
                raise_version(flag.at + offsetof(ShadowFlag, version));
            if (!releases)
                fence();
        }
        want &= ~ballot(lanes, address == one);
    }
    meet(lanes);
}

/* ---- Acquires ---- */

/* Everything that anybody has closed so far: for flags that there was no room for. */
static inline void know_all(const View *view, uint32_t lanes) {
    uint64_t vector = own_vector(view, VECTOR_KNOWS);
    uint32_t count = STATE32(view->here, slots), step = ones(lanes);
    for (uint32_t i = rank_in(lanes); i < count; i += step) {
        uint64_t at = actor_of(view->here, i);
        if (i == view->here->who)
            continue;
        vector_raise(vector, i << view->slot_shift, load32(ACTOR(at, epoch)));
        if (view->slot_shift)
            vector_raise(vector, i << 1 | 1, load32(ACTOR(at, complete)));
    }
    fence();
    if (lane() == lowest(lanes))
        add32(ACTOR(view->actor, changes), 1);
    meet(lanes);
}

static inline void join_flag(const View *view, uint32_t lanes, uint32_t row, bool acquires) {
    join(view, lanes, own_vector(view, acquires ? VECTOR_KNOWS : VECTOR_OBSERVED), row_at(view->here, row), true);
    if (lane() == lowest(lanes)) {
        uint32_t old = add32(acquires ? ACTOR(view->actor, changes) : ACTOR(view->actor, observed), 1);
        if (acquires && (!old || load64(ACTOR(view->actor, published)) == published(row, old)))
            store64(ACTOR(view->actor, published), published(row, old + 1));
    }
    meet(lanes);
}

/* Behind a read of a lane of `want`. `seen`: what the lane has joined last; who polls finds it again. */
static inline uint64_t acquire_flags(const View *view, uint32_t lanes, uint32_t want, uint64_t address, bool acquires,
                                     uint64_t seen) {
    while (want) {
        uint32_t leader = lowest(want);
        uint64_t one = from_lane64(lanes, address, leader);
        Flag flag = find_flag(view->here, one);
        flag.row = from_lane(lanes, flag.row, leader);
        flag.version = from_lane(lanes, flag.version, leader);
        uint32_t any_lost = from_lane(lanes, load32(view->here->state + offsetof(ShadowState, flags_lost)), leader);
        bool lost = !flag.row && any_lost;
        uint64_t now = flag.row | (uint64_t)acquires << 31 | (uint64_t)flag.version << 32;
        bool is_new = from_lane64(lanes, seen, leader) != now;
        if (lost)
            know_all(view, lanes);
        else if (flag.row && is_new)
            join_flag(view, lanes, flag.row, acquires);
        uint32_t same = ballot(lanes, address == one);
        if (flag.row && (want & same) >> lane() & 1)
            seen = now;
        want &= ~same;
    }
    return seen;
}

#endif
