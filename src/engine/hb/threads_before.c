/* Whether an earlier access is before one that is made now: what its thread knows, and what fences have carried over to
 * another proxy. */
#include "engine/hb/threads_attempt.h"

#include <string.h>

/* The keys of fences for a proxy at the place. */
uint32_t attempt_keys_at(uint64_t address, uint8_t proxy, uint64_t keys[4]) {
    uint32_t count = 0;
    if (address >> 62 == 0) {
        keys[count++] = key_of(KEY_FENCED, proxy, THREADS_GLOBAL);
    } else {
        keys[count++] = key_of(KEY_FENCED, proxy, THREADS_CLUSTER_SHARED);
        keys[count++] = key_of(KEY_FENCED, proxy, THREADS_OWN_SHARED | (address >> 28 & UINT32_MAX) << 8);
    }
    keys[count++] = key_of(KEY_ACQUIRED, proxy, 0);
    keys[count++] = key_of(KEY_ACQUIRED, proxy, address >> 7);
    return count;
}

/* Whether a proxy fence has to stand between the two. */
bool attempt_needs_fence(const Attempt *attempt, const ThreadsRecord *earlier) {
    const ThreadsRecord *record = attempt->record;
    /* Shared memory is worked on by the async proxy of the CTA that it belongs to, no matter what started the
     * operation: multicast copies, and MMAs of a pair of CTAs. */
    bool placed = attempt->address >> 62 != 0 && earlier->operation && record->operation;
    if (earlier->proxy == record->proxy)
        return earlier->proxy != PROXY_GENERIC && earlier->cta != record->cta && !placed;
    /* That an operation is over is said in the generic proxy. */
    return !(earlier->operation && record->proxy == PROXY_GENERIC);
}

static uint8_t fence_proxy(const Attempt *attempt, const ThreadsRecord *earlier) {
    return attempt->record->proxy != PROXY_GENERIC ? attempt->record->proxy : earlier->proxy;
}

void attempt_move(Attempt *attempt, uint64_t place) {
    attempt->place = place;
    memset(&attempt->memos, 0, sizeof attempt->memos);
    attempt->step.by = 0;
    attempt->line.used = false;
}

static uint32_t known_lanes(const Attempt *attempt, const ThreadsRecord *earlier) {
    const ThreadsClock *clock = attempt->knower.clock;
    uint32_t lanes = threads_clock_known(clock, earlier->cta, earlier->warp, earlier->epoch);
    ThreadsClock inits;
    if (earlier->inits && threads_bridge(clock, KEY_INITS, &inits))
        lanes |= threads_clock_known(&inits, earlier->cta, earlier->warp, earlier->epoch);
    return lanes;
}

/* The same behind a fence. */
static uint32_t fenced_lanes(const Attempt *attempt, const ThreadsRecord *earlier) {
    const Threads *threads = attempt->threads;
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, fence_proxy(attempt, earlier), keys), lanes = 0;
    if (threads_clock_ended(attempt->knower.clock, earlier->cta))
        return UINT32_MAX;
    for (uint32_t i = 0; i < count && lanes != UINT32_MAX; i++) {
        ThreadsClock bridge;
        Knower behind = attempt->knower;
        bool fenced = threads_bridge(attempt->knower.clock, keys[i], &bridge);
        behind.clock = fenced ? &bridge : NULL;
        lanes |= earlier->operation
                     ? threads_operation_known(threads, &behind, earlier->operation, earlier->kind != KIND_READ)
                     : threads_clock_known(behind.clock, earlier->cta, earlier->warp, earlier->epoch);
    }
    return lanes;
}

uint32_t attempt_over_lanes(Attempt *attempt, uint32_t index, const ThreadsRecord *earlier) {
    const Threads *threads = attempt->threads;
    uint32_t memo = index % MEMO, lanes;
    if (attempt->memos.known[memo] == index)
        return attempt->known_lanes[memo];
    if (attempt_needs_fence(attempt, earlier))
        lanes = fenced_lanes(attempt, earlier);
    else if (earlier->operation)
        lanes = threads_operation_known(threads, &attempt->knower, earlier->operation, earlier->kind != KIND_READ);
    else
        lanes = known_lanes(attempt, earlier);
    if (earlier->operation)
        lanes |= ~operation_at(threads, earlier->operation)->lanes;
    attempt->memos.known[memo] = index;
    return attempt->known_lanes[memo] = lanes;
}

/* Up to which epoch a lane's own accesses are before this one. */
static uint32_t own_epoch(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lane) {
    if (!attempt_needs_fence(attempt, earlier))
        return attempt->knower.own_epoch;
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, fence_proxy(attempt, earlier), keys), most = 0;
    for (uint32_t i = 0; attempt->knower.notes && i < count; i++) {
        uint32_t epoch = threads_own(attempt->knower.notes, lane, keys[i]);
        most = epoch > most ? epoch : most;
    }
    return most;
}

static bool operation_before(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lane, uint32_t by) {
    bool writes = earlier->kind != KIND_READ;
    const Knower *knower = &attempt->knower;
    if (!attempt_needs_fence(attempt, earlier) || threads_clock_ended(knower->clock, earlier->cta))
        return threads_knows_operation(attempt->threads, knower, earlier->operation, lane, writes, by);
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, fence_proxy(attempt, earlier), keys);
    for (uint32_t i = 0; i < count; i++) {
        ThreadsClock bridge = {.home = knower->cta};
        Knower behind = *knower;
        behind.clock = threads_bridge(knower->clock, keys[i], &bridge) ? &bridge : NULL;
        behind.own_epoch = knower->notes ? threads_own(knower->notes, by, keys[i]) : 0;
        if (threads_knows_operation(attempt->threads, &behind, earlier->operation, lane, writes, by))
            return true;
    }
    return false;
}

bool attempt_same_warp(const Attempt *attempt, const ThreadsRecord *earlier) {
    return earlier->cta == attempt->knower.cta && earlier->warp == attempt->knower.warp;
}

Asked *attempt_asked(Attempt *attempt, uint32_t index, uint32_t by) {
    uint32_t memo = index % MEMO;
    Asked *asked = &attempt->asked[memo];
    if (attempt->memos.asked[memo] != index || asked->by != by)
        *asked = (Asked){.record = index, .by = by};
    attempt->memos.asked[memo] = index;
    return asked;
}

/* Whether what is known of the earlier operation is the same for whichever lane: behind a fence, of an operation, which
 * has nothing of its own there. */
static bool knows_as_one(const Attempt *attempt, const ThreadsRecord *earlier) {
    return !attempt->knower.notes && attempt->knower.operation != earlier->operation &&
           !attempt->threads->shape.by_word && attempt_needs_fence(attempt, earlier);
}

bool attempt_lane_before(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by) {
    const ThreadsRecord *earlier = record_at(attempt->threads, index);
    if (!earlier->operation)
        return lane == by && attempt_same_warp(attempt, earlier) && earlier->epoch <= own_epoch(attempt, earlier, lane);
    if (knows_as_one(attempt, earlier))
        return attempt_over_lanes(attempt, index, earlier) >> lane & 1;
    Asked *asked = attempt_asked(attempt, index, by);
    if (attempt->threads->shape.by_word)
        return operation_before(attempt, earlier, lane, by);
    if (!(asked->asked >> lane & 1)) {
        asked->asked |= 1U << lane;
        asked->before |= (uint32_t)operation_before(attempt, earlier, lane, by) << lane;
    }
    return asked->before >> lane & 1;
}

uint32_t attempt_unordered(Attempt *attempt, uint32_t index, uint32_t lanes) {
    const ThreadsRecord *earlier = record_at(attempt->threads, index);
    uint32_t by = attempt->by, found = 0, left = lanes & ~attempt_over_lanes(attempt, index, earlier);
    if (!left)
        return 0;
    if (!earlier->operation) {
        /* A lane is before itself; where several do it, another one is among them. */
        if (!(left & by) || by & (by - 1) || !attempt_same_warp(attempt, earlier))
            return left;
        return attempt_lane_before(attempt, index, lowest(by), lowest(by)) ? left & ~by : left;
    }
    for (uint32_t rest = left; rest; rest &= rest - 1)
        for (uint32_t some = by; some; some &= some - 1)
            if (!attempt_lane_before(attempt, index, lowest(rest), lowest(some))) {
                found |= rest & -rest;
                break;
            }
    return found;
}
