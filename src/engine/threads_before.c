/* Whether an earlier access is before one that is made now: what its thread knows, and what fences have carried over to
 * another proxy. */
#include "engine/threads_attempt.h"

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
bool attempt_needs_fence(const Attempt *attempt, const Record *earlier) {
    const Record *record = attempt->record;
    /* Shared memory is worked on by the async proxy of the CTA that it belongs to, whoever started the operation:
     * multicast copies, and MMAs of a pair of CTAs. */
    bool placed = attempt->address >> 62 != 0 && earlier->operation && record->operation;
    if (earlier->proxy == record->proxy)
        return earlier->proxy != THREADS_GENERIC && earlier->cta != record->cta && !placed;
    /* That an operation is over is said in the generic proxy. */
    return !(earlier->operation && record->proxy == THREADS_GENERIC);
}

static uint8_t fence_proxy(const Attempt *attempt, const Record *earlier) {
    return attempt->record->proxy != THREADS_GENERIC ? attempt->record->proxy : earlier->proxy;
}

/* Lanes of the earlier access that are before this one, whichever lane does it; behind a fence if it needs one. */
uint32_t attempt_known_lanes(Attempt *attempt, uint32_t index, const Record *earlier) {
    const Clock *clock = attempt->knower.clock;
    if (!attempt_needs_fence(attempt, earlier)) {
        uint32_t memo = index % MEMO;
        if (attempt->memos.known[memo] == index)
            return attempt->known_lanes[memo];
        uint32_t lanes = threads_clock_known(clock, earlier->cta, earlier->warp, earlier->epoch);
        Clock inits;
        if (earlier->inits && threads_bridge(clock, KEY_INITS, &inits))
            lanes |= threads_clock_known(&inits, earlier->cta, earlier->warp, earlier->epoch);
        attempt->memos.known[memo] = index;
        return attempt->known_lanes[memo] = lanes;
    }
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, fence_proxy(attempt, earlier), keys), lanes = 0;
    if (threads_clock_ended(clock, earlier->cta))
        return UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        Clock bridge;
        if (threads_bridge(clock, keys[i], &bridge))
            lanes |= threads_clock_known(&bridge, earlier->cta, earlier->warp, earlier->epoch);
    }
    return lanes;
}

/* The same of any earlier access: of an operation those lanes, too, that it does not have. Without a fence alone. */
uint32_t attempt_over_lanes(Attempt *attempt, uint32_t index, const Record *earlier) {
    if (!earlier->operation)
        return attempt_known_lanes(attempt, index, earlier);
    uint32_t memo = index % MEMO;
    if (attempt->memos.known[memo] == index)
        return attempt->known_lanes[memo];
    const Threads *threads = attempt->threads;
    attempt->memos.known[memo] = index;
    return attempt->known_lanes[memo] =
               threads_operation_known(threads, &attempt->knower, earlier->operation, earlier->kind != THREADS_READ) |
               ~operation_at(threads, earlier->operation)->lanes;
}

/* Up to which epoch a lane's own accesses are before this one. */
static uint32_t own_epoch(const Attempt *attempt, const Record *earlier, uint32_t lane) {
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

static bool operation_before(const Attempt *attempt, const Record *earlier, uint32_t lane, uint32_t by) {
    bool writes = earlier->kind != THREADS_READ;
    const Knower *knower = &attempt->knower;
    if (!attempt_needs_fence(attempt, earlier) || threads_clock_ended(knower->clock, earlier->cta))
        return threads_knows_operation(attempt->threads, knower, earlier->operation, lane, writes, by);
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, fence_proxy(attempt, earlier), keys);
    for (uint32_t i = 0; i < count; i++) {
        Clock bridge = {.home = knower->cta};
        Knower behind = *knower;
        behind.clock = threads_bridge(knower->clock, keys[i], &bridge) ? &bridge : NULL;
        behind.own_epoch = knower->notes ? threads_own(knower->notes, by, keys[i]) : 0;
        if (threads_knows_operation(attempt->threads, &behind, earlier->operation, lane, writes, by))
            return true;
    }
    return false;
}

bool attempt_same_warp(const Attempt *attempt, const Record *earlier) {
    return earlier->cta == attempt->knower.cta && earlier->warp == attempt->knower.warp;
}

/* Whether lane `lane` of the earlier access is before this one by lane `by`; it is not known to all of them. */
bool attempt_lane_before(const Attempt *attempt, const Record *earlier, uint32_t lane, uint32_t by) {
    if (earlier->operation)
        return operation_before(attempt, earlier, lane, by);
    return lane == by && attempt_same_warp(attempt, earlier) && earlier->epoch <= own_epoch(attempt, earlier, lane);
}

/* Of `lanes` of the earlier access, those that are not before all that is done here. */
uint32_t attempt_unordered(Attempt *attempt, uint32_t index, uint32_t lanes) {
    const Record *earlier = record_at(attempt->threads, index);
    uint32_t by = attempt->by, found = 0;
    if (!earlier->operation) {
        uint32_t left = lanes & ~attempt_known_lanes(attempt, index, earlier);
        /* A lane is before itself; where several do it, another one is among them. */
        if (!(left & by) || by & (by - 1) || !attempt_same_warp(attempt, earlier))
            return left;
        return attempt_lane_before(attempt, earlier, lowest(by), lowest(by)) ? left & ~by : left;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (uint32_t some = by; some; some &= some - 1)
            if (!attempt_lane_before(attempt, earlier, lowest(rest), lowest(some))) {
                found |= rest & -rest;
                break;
            }
    return found;
}
