/* Lists of accesses, as they stand in cells and lines: whether all of one is before, and what stays of it when another
 * access is placed in front. */
#include "engine/hb/threads_attempt.h"

enum { LOOKED_AT = 8, LONG_LIST = 32 };

/* Whether a weak access of threads is before this, as its CTA is known by one number: as most are. */
static inline bool is_behind(const Attempt *attempt, const Node *node, uint32_t index) {
    return node->odd == index && node->stamp.warp != STAMP_OTHER && attempt->record->proxy == PROXY_GENERIC &&
           clock_has_cta(attempt->knower.clock, node->stamp.cta, node->stamp.epoch);
}

/* Whether everything of the list is before whatever lane does this. */
bool attempt_is_clear(Attempt *attempt, uint32_t slot) {
    uint32_t first = slot >> 5;
    if (attempt->memos.clear[first % MEMO] == first)
        return true;
    if (attempt_is_foreign(attempt, slot))
        return false;
    for (uint32_t index = first, next; index; index = next) {
        const Node *node = node_at(attempt->threads, index);
        next = node->next;
        if (!is_behind(attempt, node, index) &&
            attempt_over_lanes(attempt, node->record, record_at(attempt->threads, node->record)) != UINT32_MAX)
            return false;
    }
    attempt->memos.clear[first % MEMO] = first;
    return true;
}

/* Whether what stays of lanes of an earlier access of the list is nothing where that is before a later one, because the
 * later one stands for it: whatever races with it races with that. A write that changes nothing does not stand for
 * one that has changed the bytes: that race may be graver. An operation does not stand for another: who knows that it
 * is over does not know what its thread knew. */
static bool stands_for(const Threads *threads, const ThreadsRecord *later, uint32_t by, const ThreadsRecord *earlier,
                       uint32_t lanes) {
    if (later->silent & by && lanes & ~earlier->silent)
        return false;
    if (later->order == ORDER_WEAK)
        return true;
    return earlier->order != ORDER_WEAK && earlier->level >= later->level && earlier->element == later->element &&
           earlier->proxy == later->proxy && earlier->cta == later->cta && !(earlier->operation && later->operation) &&
           (later->gives || !earlier->gives || threads->order_site != THREADS_NONE) &&
           (later->loose || !earlier->loose);
}

/* In front of a list of which nothing goes. */
static uint32_t put_first(Attempt *attempt, uint32_t slot, uint32_t pruned) {
    return threads_node_first(attempt->threads, attempt->index, lanes_in(attempt->by, slot), slot >> 5, pruned) << 5 |
           (slot & 31);
}

/* Whether some lanes of the warp that does this know that the operation is over, and others need not. */
static bool some_lanes_know(const Attempt *attempt, uint32_t operation) {
    const Completion *done = operation ? operation_at(attempt->threads, operation)->completions : NULL;
    while (done &&
           (done->cta != attempt->knower.cta || done->warp != attempt->knower.warp || done->lanes == UINT32_MAX))
        done = done->next;
    return done != NULL;
}

bool attempt_is_any_lane(Attempt *attempt, const Node *node) {
    const ThreadsRecord *record = record_at(attempt->threads, node->record);
    uint32_t over = attempt_over_lanes(attempt, node->record, record);
    uint32_t lanes = record->operation ? operation_at(attempt->threads, record->operation)->lanes : UINT32_MAX;
    if (over == UINT32_MAX)
        return true;
    if (over & lanes || (record->operation && attempt_needs_fence(attempt, record)) ||
        some_lanes_know(attempt, record->operation))
        return false;
    return !attempt_same_warp(attempt, record) ||
           (!record->operation && !node->lanes && !attempt_needs_fence(attempt, record));
}

bool attempt_is_there(const Attempt *attempt, uint32_t slot, bool *any_lane) {
    const ThreadsRecord *record = attempt->record;
    uint32_t left = attempt_is_foreign(attempt, slot) ? 0 : LOOKED_AT;
    for (uint32_t index = slot >> 5; index && left--; index = node_at(attempt->threads, index)->next) {
        const Node *node = node_at(attempt->threads, index);
        const ThreadsRecord *other = record_at(attempt->threads, node->record);
        if (other->warp != record->warp || other->cta != record->cta || other->epoch != record->epoch ||
            other->order != ORDER_WEAK || other->proxy != record->proxy || other->operation != record->operation)
            continue;
        *any_lane &= !node->lanes;
        if (!(attempt->by & ~node_lanes(node, slot)))
            return true;
    }
    return false;
}

/* The same, for one of many cells that have the same list. */
uint32_t attempt_put_again(Attempt *attempt, uint32_t slot, bool *any_lane) {
    uint32_t first = slot >> 5, by = lowest(attempt->by), turn = (by - slot) % THREADS_LANES;
    uint32_t memo = (first + turn) % MEMO;
    bool single = !(attempt->by & (attempt->by - 1));
    *any_lane = true;
    if (single && attempt->memos.put_from[memo] == first && attempt->put_as[memo].turn == turn &&
        !attempt->threads->shape.by_word)
        return attempt->put_to[memo] << 5 | (attempt->put_as[memo].alone ? by : slot & 31);
    uint32_t made = attempt_put(attempt, slot, any_lane);
    *any_lane &= single;
    if (*any_lane) {
        attempt->memos.put_from[memo] = first;
        attempt->put_to[memo] = made >> 5;
        attempt->put_as[memo].turn = (uint8_t)turn;
        attempt->put_as[memo].alone = !node_at(attempt->threads, made >> 5)->next;
    }
    return made;
}

/* Of a long list, the newest first: strong accesses of a lane for which a later one of the same lane stands. Who puts
 * something in front sees to its own alone, and there may be many others. */
static uint32_t without_repeated(Threads *threads, uint32_t slot, uint32_t *nodes, uint32_t count) {
    uint32_t seats = 2U << (31 - __builtin_clz(count)), kept = 0;
    uint32_t *newest = gsan_pool_take(&threads->pool, seats * sizeof *newest);
    for (uint32_t i = 0; i < count; i++) {
        const Node *node = node_at(threads, nodes[i]), *later = NULL;
        ThreadsRecord *record = record_at(threads, node->record);
        uint32_t lanes = node_lanes(node, slot);
        uint32_t seat = (uint32_t)hashed((uint64_t)record->cta << 32 ^ record->warp << 24 ^ lanes) & (seats - 1);
        for (; newest[seat]; seat = (seat + 1) & (seats - 1)) {
            later = node_at(threads, newest[seat]);
            const ThreadsRecord *other = record_at(threads, later->record);
            if (other->cta == record->cta && other->warp == record->warp && node_lanes(later, slot) == lanes)
                break;
        }
        bool plain = record->order != ORDER_WEAK && !record->operation && !node->lanes;
        if (plain && newest[seat] && stands_for(threads, record_at(threads, later->record), lanes, record, lanes)) {
            record->stays = false;
            continue;
        }
        if (plain)
            newest[seat] = nodes[i];
        nodes[kept++] = nodes[i];
    }
    gsan_pool_give(&threads->pool, newest, seats * sizeof *newest);
    return kept;
}

uint32_t attempt_put(Attempt *attempt, uint32_t slot, bool *any_lane) {
    Threads *threads = attempt->threads;
    const Node *newest = slot ? node_at(threads, slot >> 5) : NULL;
    uint32_t count = newest ? newest->depth : 0, more = 0, made = 0, by = attempt->by;
    bool any = true, foreign = newest && !newest->cut && attempt_is_foreign(attempt, slot);
    /* Long lists are looked through now and then. */
    if (foreign || (newest && !newest->cut && count > LONG_LIST && count < 2 * newest->pruned)) {
        if (any_lane)
            *any_lane = true;
        return put_first(attempt, slot, foreign ? newest->depth : newest->pruned);
    }
    uint32_t some[2 * LONG_LIST];
    uint32_t *nodes = count <= 2 * LONG_LIST ? some : gsan_pool_take(&threads->pool, count * sizeof *nodes);
    for (uint32_t index = slot >> 5; index; index = list_next(threads, slot >> 5, index, more)) {
        if (index != slot >> 5 && !newest->cut && attempt_is_foreign(attempt, index << 5)) { /* nothing of it goes */
            made = index;
            break;
        }
        nodes[more++] = index;
    }
    if (more > LONG_LIST)
        more = without_repeated(threads, slot, nodes, more);
    while (more--) {
        const Node *node = node_at(threads, nodes[more]);
        uint32_t lanes = node_lanes(node, slot), left = lanes;
        any = any && any_lane && attempt_is_any_lane(attempt, node);
        if (stands_for(threads, attempt->record, by, record_at(threads, node->record), left))
            left = attempt_unordered(attempt, node->record, left);
        if (left == lanes && made == node->next)
            made = nodes[more];
        else if (left)
            made = threads_node(threads, node->record, lanes_in(left, slot), made, 0);
        if (record_at(threads, node->record)->cta == attempt->record->cta) {
            record_at(threads, node->record)->stays = false;
            record_at(threads, attempt->index)->stays &= !left;
        }
    }
    if (nodes != some)
        gsan_pool_give(&threads->pool, nodes, count * sizeof *nodes);
    if (any_lane)
        *any_lane = any;
    if (made)
        return put_first(attempt, made << 5 | (slot & 31), node_at(threads, made)->depth);
    if (by & (by - 1))
        return threads_node_first(threads, attempt->index, (NodeLanes){by, 0}, 0, 0) << 5;
    return attempt_node(attempt) << 5 | lowest(by);
}
