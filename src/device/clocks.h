/* Clocks of slots: what a CTA knows of the others, and what its fences have closed.
 *
 * Entries of a vector only grow, each by an atomic of its own: no thread ever waits for another here. All lanes of a
 * warp that come together work on a vector together. */
#ifndef DEVICE_CLOCKS_H
#define DEVICE_CLOCKS_H

#include "device/signals.h"

enum { VECTOR_BATCH = 5 };

/* Of compact vectors, with those behind the last one that make it a multiple of 16 bytes, and are zero. */
static inline uint32_t entries_of(const View *view) {
    return CELLS_COMPACT ? view->here->stride / 4 : STATE32(view->here, slots) << view->slot_shift;
}

/* Of what others have released, an entry of the own slot counts for its earlier CTAs only. */
typedef struct Own {
    uint32_t actor, begun, old_groups, shift;
} Own;

static inline Own own_of(const View *view) {
    return (Own){view->here->who << view->slot_shift, view_begun(view), view_old_groups(view), view->slot_shift};
}

static inline uint32_t not_own(const Own *own, uint32_t actor, uint32_t epoch) {
    if (actor >> own->shift != own->actor >> own->shift)
        return epoch;
    uint32_t most = actor == own->actor ? own->begun : own->old_groups;
    return epoch < most ? epoch : most;
}

/* Some entries at once: what they say is waited for once. A function of its own, so that it has the registers for that.
 */
static __attribute__((noinline)) void weir_slow_join(uint32_t lanes, uint32_t count, uint64_t vector, uint64_t from,
                                                     uint32_t actor, uint32_t begun, uint32_t old_groups,
                                                     uint32_t shift) {
    Own own = {actor, begun, old_groups, shift};
    uint32_t step = ones(lanes);
#pragma nounroll
    for (uint32_t first = rank_in(lanes); first < count; first += step * VECTOR_BATCH) {
        uint32_t had[VECTOR_BATCH], got[VECTOR_BATCH];
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++) {
            uint32_t at = first + i * step;
            got[i] = load32_if(at < count, from + 4 * (uint64_t)at);
            had[i] = load32_if(at < count, vector + 4 * (uint64_t)at);
        }
#pragma unroll
        for (uint32_t i = 0; i < VECTOR_BATCH; i++) {
            uint32_t at = first + i * step, news = not_own(&own, at, got[i]);
            raise32_if(news > had[i], vector + 4 * (uint64_t)at, news);
        }
    }
    meet(lanes);
}

/* Of the seed: vectors have entries of 16 bits, rows of 32. */
static inline void join_each(const View *view, uint32_t lanes, uint64_t vector, uint64_t from, bool is_row) {
    uint32_t count = entries_of(view), step = ones(lanes);
    Own own = own_of(view);
    for (uint32_t at = rank_in(lanes); at < count; at += step) {
        uint32_t news = not_own(&own, at, is_row ? load32(from + 4 * (uint64_t)at) : vector_entry(from, at));
        if (news > vector_entry(vector, at))
            vector_raise(vector, at, news);
    }
}

/* What a CTA has of others grows by this: a row of a flag, or a vector of its own. Who looks at the vector is of the
 * same CTA, and comes after it by what orders its threads: no fence is needed for that. */
static inline void join(const View *view, uint32_t lanes, uint64_t vector, uint64_t from, bool is_row) {
    if (CELLS_COMPACT) {
        Own own = own_of(view);
        weir_slow_join(lanes, entries_of(view), vector, from, own.actor, own.begun, own.old_groups, own.shift);
        return;
    }
    join_each(view, lanes, vector, from, is_row);
    meet(lanes);
}

static inline uint64_t own_vector(const View *view, uint32_t which) {
    return vector_of(view->here, view->here->who, which);
}

/* ---- Epochs ---- */

/* The epoch of what the CTA does now is over: the next one begins. By one lane; what it gets is on its way. */
static inline uint32_t close_epoch(const View *view) {
    return add32(ACTOR(view->actor, epoch), 1);
}
/* Its number. */
static inline uint32_t closed_epoch(const View *view, uint32_t closed, uint32_t site) {
    uint32_t most = most_epoch(view->epoch_bits);
    if (closed + 1 < most)
        return closed + 1;
    report_trouble(view->here, SHADOW_EPOCHS_OVER, site);
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
        if (signals_of(view->here))
            weir_slow_signal(0, SHADOW_FENCES, 0, 0, HERE_FEW_GIVEN(view->here));
    }
    meet(lanes);
}

static inline void release_fence(const View *view, uint32_t lanes, uint32_t site) {
    uint32_t changes = load32(ACTOR(view->actor, changes));
    if (ballot(lanes, changes == load32(ACTOR(view->actor, fenced))) != lanes)
        join(view, lanes, own_vector(view, VECTOR_FENCE), own_vector(view, VECTOR_KNOWS), false);
    if (lane() == lowest(lanes)) {
        max32(ACTOR(view->actor, fence_complete), load32(ACTOR(view->actor, complete)));
        max32(ACTOR(view->actor, fence_epoch), closed_epoch(view, close_epoch(view), site));
        store32(ACTOR(view->actor, fenced), changes);
    }
    meet(lanes);
}

#endif
