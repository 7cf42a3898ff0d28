/* Clocks of slots: what a CTA knows of the others, the ring of what its releases have published, and flags.
 *
 * All lanes of a warp that come together work on a vector together; the one whose turn it is (`leader`) holds the
 * locks: that of the bucket first, that of the actor inside. */
#ifndef DEVICE_CLOCKS_H
#define DEVICE_CLOCKS_H

#include "device/report.h"

/* A warp's lanes at work for one of them. */
typedef struct Turn {
    uint32_t lanes, leader;
} Turn;

static inline bool is_leader(const Turn *turn) {
    return lane() == turn->leader;
}

static inline void lock_actor(const Turn *turn, uint64_t actor) {
    if (is_leader(turn)) {
        while (cas32(ACTOR(actor, lock), 0, 1))
            ;
        fence();
    }
    meet(turn->lanes);
}

static inline void unlock_actor(const Turn *turn, uint64_t actor) {
    fence();
    meet(turn->lanes);
    if (is_leader(turn))
        store32(ACTOR(actor, lock), 0);
    meet(turn->lanes);
}

/* ---- Vectors ---- */

enum { VECTOR_BATCH = 4 };

/* to = the larger of a and b (0: none), word by word. */
static inline void vector_larger(const View *view, const Turn *turn, uint64_t to, uint64_t a, uint64_t b) {
    uint32_t count = STATE32(view->here, stride) / 4, step = ones(turn->lanes);
    for (uint32_t first = rank_in(turn->lanes); first < count; first += step * VECTOR_BATCH) {
        uint32_t x[VECTOR_BATCH], y[VECTOR_BATCH];
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++) {
            uint64_t at = 4 * (uint64_t)(first + i * step);
            bool is_in = first + i * step < count;
            x[i] = a && is_in ? load32(a + at) : 0;
            y[i] = b && is_in ? load32(b + at) : 0;
        }
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++)
            if (first + i * step < count)
                store32(to + 4 * (uint64_t)(first + i * step), larger_halves(x[i], y[i]));
    }
    meet(turn->lanes);
}

static inline void raise_entry(const Turn *turn, uint64_t vector, uint32_t actor, uint32_t epoch) {
    uint64_t at = vector + 2 * (uint64_t)actor;
    if (is_leader(turn) && load16(at) < epoch)
        store16(at, (uint16_t)epoch);
    meet(turn->lanes);
}

static inline uint64_t vector_if(const View *view, uint32_t has, uint32_t which) {
    return load32(ACTOR(view->actor, has)) & has ? vector_of(view->here, view->here->who, which) : 0;
}

static inline void set_has(const View *view, const Turn *turn, uint32_t has) {
    if (is_leader(turn))
        store32(ACTOR(view->actor, has), load32(ACTOR(view->actor, has)) | has);
    meet(turn->lanes);
}

static inline uint16_t entry_in(uint64_t vector, uint32_t actor) {
    return vector ? load16(vector + 2 * (uint64_t)actor) : 0;
}

/* Of the own slot, only what earlier CTAs of it did can be news. */
static inline void keep_own(const View *view, const Turn *turn, uint64_t vector, uint64_t from, uint32_t part,
                            uint16_t before, uint32_t most) {
    uint32_t actor = view->here->who << view->slot_shift | part;
    uint32_t news = entry_in(from, actor);
    news = news < most ? news : most;
    if (is_leader(turn))
        store16(vector + 2 * (uint64_t)actor, (uint16_t)(news > before ? news : before));
    meet(turn->lanes);
}

/* Raises the vector `which` of the actor, which is locked. */
static inline void join(const View *view, const Turn *turn, uint32_t which, uint32_t has, uint64_t from) {
    uint64_t vector = vector_of(view->here, view->here->who, which), old = vector_if(view, has, which);
    uint32_t own = view->here->who << view->slot_shift;
    uint16_t before = entry_in(old, own), before_groups = view->slot_shift ? entry_in(old, own | 1) : 0;
    meet(turn->lanes);
    vector_larger(view, turn, vector, old, from);
    keep_own(view, turn, vector, from, 0, before, load32(ACTOR(view->actor, begun)));
    if (view->slot_shift)
        keep_own(view, turn, vector, from, 1, before_groups, load32(ACTOR(view->actor, old_groups)));
    fence();
    if (is_leader(turn) && which == VECTOR_KNOWS)
        store32(ACTOR(view->actor, changes), load32(ACTOR(view->actor, changes)) + 1);
    set_has(view, turn, has);
}

/* ---- Epochs and the ring ---- */

/* The epoch of what the CTA does now is over: the next one begins. Its actor is locked. */
static inline void next_epoch(const View *view, const Turn *turn, uint32_t site) {
    if (is_leader(turn)) {
        if (view->epoch + 1 < 1u << view->epoch_bits && view->epoch < UINT16_MAX)
            store32(ACTOR(view->actor, epoch), view->epoch);
        else
            tell_trouble(view->here, SHADOW_EPOCHS_OVER, site);
    }
    meet(turn->lanes);
}

static inline uint64_t ring_index(const Here *here, uint32_t slot, uint32_t epoch) {
    uint32_t count = STATE32(here, ring_count);
    return (uint64_t)slot * count + (epoch & (count - 1));
}
static inline uint64_t row_of(const Here *here, uint32_t slot, uint32_t epoch) {
    return STATE64(here, ring) + ring_index(here, slot, epoch) * STATE32(here, stride);
}
static inline uint64_t entry_of(const Here *here, uint32_t slot, uint32_t epoch) {
    return STATE64(here, entries) + ring_index(here, slot, epoch) * sizeof(ShadowEntry);
}

/* What a release has published. */
typedef struct Released {
    uint64_t row; /* 0: it has left the ring */
    uint32_t scope;
    bool inherited;
} Released;

static inline Released released_by(const View *view, uint32_t stamp) {
    uint32_t slot = stamp_actor(view, stamp) >> view->slot_shift, epoch = stamp_epoch(view, stamp);
    uint64_t at = entry_of(view->here, slot, epoch);
    uint64_t entry = load64(at);
    if ((uint32_t)entry != epoch)
        return (Released){.scope = 4, .inherited = true};
    return (Released){row_of(view->here, slot, epoch), (uint32_t)(entry >> 32 & 255), entry >> 40 & 255};
}

/* A release that has left the ring: all that its slot knows now has all of it. */
static inline void join_lost(const View *view, const Turn *turn, uint32_t stamp, uint32_t site, uint32_t which,
                             uint32_t has) {
    uint32_t actor = stamp_actor(view, stamp), slot = actor >> view->slot_shift;
    uint64_t at = actor_of(view->here, slot);
    if (is_leader(turn))
        tell_trouble(view->here, SHADOW_RING_WRAPPED, site);
    uint64_t theirs = load32(ACTOR(at, has)) & ACTOR_KNOWS ? vector_of(view->here, slot, VECTOR_KNOWS) : 0;
    join(view, turn, which, has, theirs);
    raise_entry(turn, vector_of(view->here, view->here->who, which), slot << view->slot_shift,
                load32(ACTOR(at, epoch)));
}

/* ---- Fences ---- */

static inline void acquire_fence(const View *view, const Turn *turn) {
    uint64_t observed = vector_if(view, ACTOR_OBSERVED, VECTOR_OBSERVED);
    if (!observed)
        return;
    join(view, turn, VECTOR_KNOWS, ACTOR_KNOWS, observed);
    if (is_leader(turn)) {
        store32(ACTOR(view->actor, has), load32(ACTOR(view->actor, has)) & ~(uint32_t)ACTOR_OBSERVED);
        store32(ACTOR(view->actor, joined), 0);
    }
    meet(turn->lanes);
}

static inline void release_fence(const View *view, const Turn *turn, uint32_t scope, uint32_t site) {
    uint32_t changes = load32(ACTOR(view->actor, changes)), has = load32(ACTOR(view->actor, has));
    if (!(has & ACTOR_FENCED) || load32(ACTOR(view->actor, fenced)) != changes)
        vector_larger(view, turn, vector_of(view->here, view->here->who, VECTOR_FENCE),
                      vector_if(view, ACTOR_KNOWS, VECTOR_KNOWS), 0);
    if (is_leader(turn)) {
        uint32_t old = has & ACTOR_FENCED ? load32(ACTOR(view->actor, fence_scope)) : 0;
        store32(ACTOR(view->actor, fence_scope), old > scope ? old : scope);
        store32(ACTOR(view->actor, fence_epoch), view->epoch);
        store32(ACTOR(view->actor, fence_complete), load32(ACTOR(view->actor, complete)));
        store32(ACTOR(view->actor, fenced), changes);
    }
    set_has(view, turn, ACTOR_FENCED);
    next_epoch(view, turn, site);
}

/* ---- Releases ---- */

/* Where the ring has a clock of these: the actor's own, or that of its last fence, and what is passed on.
 * Its actor is locked; the epoch is over with it. */
static inline void publish(const View *view, const Turn *turn, bool releases, bool passes, uint64_t passed,
                           uint32_t scope, uint32_t site) {
    const Here *here = view->here;
    uint32_t own = here->who << view->slot_shift;
    uint64_t row = row_of(here, here->who, view->epoch), entry = entry_of(here, here->who, view->epoch);
    bool has_fence = load32(ACTOR(view->actor, has)) & ACTOR_FENCED;
    if (is_leader(turn))
        store64(entry, 0);
    fence();
    meet(turn->lanes);
    uint64_t mine = releases    ? vector_if(view, ACTOR_KNOWS, VECTOR_KNOWS)
                    : has_fence ? vector_of(here, here->who, VECTOR_FENCE)
                                : 0;
    vector_larger(view, turn, row, mine, passed);
    if (releases || has_fence) {
        raise_entry(turn, row, own, releases ? view->epoch : load32(ACTOR(view->actor, fence_epoch)));
        if (view->slot_shift)
            raise_entry(turn, row, own | 1,
                        load32(releases ? ACTOR(view->actor, complete) : ACTOR(view->actor, fence_complete)));
    }
    fence();
    meet(turn->lanes);
    if (is_leader(turn)) {
        uint32_t entry_scope = releases ? scope : has_fence ? load32(ACTOR(view->actor, fence_scope)) : 0;
        entry_scope = !releases && entry_scope > scope ? scope : entry_scope;
        entry_scope = passes ? 4 : entry_scope;
        store64(entry, view->epoch | (uint64_t)entry_scope << 32 | (uint64_t)passes << 40);
    }
    next_epoch(view, turn, site);
}

#endif
