/* Clocks of slots: what a CTA knows of the others, and what its fences have closed.
 *
 * Entries of a vector only grow, each by an atomic of its own: nobody ever waits for anybody here. All lanes of a warp
 * that come together work on a vector together. */
#ifndef DEVICE_CLOCKS_H
#define DEVICE_CLOCKS_H

#include "device/report.h"

enum { VECTOR_BATCH = 4 };

static inline uint32_t entries_of(const View *view) {
    return STATE32(view->here, slots) << view->slot_shift;
}

/* Of what others have released, an entry of the own slot counts for its earlier CTAs only. */
typedef struct Own {
    uint32_t actor, begun, old_groups, shift;
} Own;

static inline Own own_of(const View *view) {
    return (Own){view->here->who << view->slot_shift, load32(ACTOR(view->actor, begun)),
                 load32(ACTOR(view->actor, old_groups)), view->slot_shift};
}

static inline uint32_t not_own(const Own *own, uint32_t actor, uint32_t epoch) {
    if (actor >> own->shift != own->actor >> own->shift)
        return epoch;
    uint32_t most = actor == own->actor ? own->begun : own->old_groups;
    return epoch < most ? epoch : most;
}

/* What a CTA has of others grows by this: a row of a flag, or a vector of its own. */
static inline void join(const View *view, uint32_t lanes, uint64_t vector, uint64_t from, bool is_row) {
    uint32_t count = entries_of(view), step = ones(lanes);
    Own own = own_of(view);
    for (uint32_t first = rank_in(lanes); first < count; first += step * VECTOR_BATCH) {
        uint32_t had[VECTOR_BATCH], got[VECTOR_BATCH];
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++) {
            uint32_t at = first + i * step;
            got[i] = at >= count ? 0 : is_row ? load32(from + 4 * (uint64_t)at) : vector_entry(from, at);
            had[i] = at >= count ? 0 : vector_entry(vector, at);
        }
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++) {
            uint32_t at = first + i * step, news = not_own(&own, at, got[i]);
            if (at < count && news > had[i])
                vector_raise(vector, at, news);
        }
    }
    fence();
    meet(lanes);
}

static inline uint64_t own_vector(const View *view, uint32_t which) {
    return vector_of(view->here, view->here->who, which);
}

/* ---- Epochs ---- */

/* The epoch of what the CTA does now is over: the next one begins. By one lane, which gets its number. */
static inline uint32_t close_epoch(const View *view, uint32_t site) {
    uint32_t most = most_epoch(view->epoch_bits), epoch = add32(ACTOR(view->actor, epoch), 1) + 1;
    if (epoch < most)
        return epoch;
    tell_trouble(view->here, SHADOW_EPOCHS_OVER, site);
    return most;
}

/* ---- Fences ---- */

static inline void acquire_fence(const View *view, uint32_t lanes) {
    uint32_t observed = load32(ACTOR(view->actor, observed));
    if (ballot(lanes, observed == load32(ACTOR(view->actor, taken_in))) == lanes)
        return;
    join(view, lanes, own_vector(view, VECTOR_KNOWS), own_vector(view, VECTOR_OBSERVED), false);
    if (lane() == lowest(lanes)) {
        add32(ACTOR(view->actor, changes), 1);
        store32(ACTOR(view->actor, taken_in), observed);
    }
    meet(lanes);
}

static inline void release_fence(const View *view, uint32_t lanes, uint32_t site) {
    uint32_t changes = load32(ACTOR(view->actor, changes));
    if (ballot(lanes, changes == load32(ACTOR(view->actor, fenced))) != lanes)
        join(view, lanes, own_vector(view, VECTOR_FENCE), own_vector(view, VECTOR_KNOWS), false);
    if (lane() == lowest(lanes)) {
        max32(ACTOR(view->actor, fence_complete), load32(ACTOR(view->actor, complete)));
        max32(ACTOR(view->actor, fence_epoch), close_epoch(view, site));
        store32(ACTOR(view->actor, fenced), changes);
    }
    meet(lanes);
}

#endif
