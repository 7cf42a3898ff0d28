/* Accesses of whole lines of memory, by lanes one beside the other: each line is looked at once, and not cell by cell. */
#include "engine/threads_attempt.h"

enum { SMALLEST_LANE = 4 };

static uint8_t shift_of(uint32_t bytes) {
    return (uint8_t)__builtin_ctz(bytes);
}

/* Whether it can be of whole lines at all. */
static bool has_lines(const Threads *threads, const ThreadsAccess *access) {
    uint32_t bytes = access->bytes, count = bytes / (access->element ? access->element : bytes ? bytes : 1);
    uint32_t all = count >= 32 ? UINT32_MAX : (1U << count) - 1;
    return (!access->used || (access->used & all) == all) && access->order == THREADS_WEAK && !access->object && !access->inits && bytes >= SMALLEST_LANE &&
           bytes <= SHADOW_LINE && !(bytes & (bytes - 1)) && !threads->shape.history &&
           access->proxy == THREADS_GENERIC;
}

/* Whether all of the list is before this: for whichever lane, or, if lanes are at the same places as they were, as each
 * lane's own. */
static bool is_before(Attempt *attempt, const LineSlot *slot, bool same) {
    if (!slot->node || attempt_is_clear(attempt, slot->node << 5))
        return true;
    for (uint32_t index = slot->node; same && index; index = node_at(attempt->threads, index)->next) {
        const Node *node = node_at(attempt->threads, index);
        const Record *record = record_at(attempt->threads, node->record);
        if (record->operation || node->lanes || attempt_needs_fence(attempt, record))
            return false;
        if (attempt_known_lanes(attempt, node->record, record) != UINT32_MAX &&
            !(attempt_same_warp(attempt, record) && record->epoch <= attempt->knower.own_epoch))
            return false;
    }
    return same;
}

/* False: it has to be done cell by cell. */
static bool read_line(Attempt *attempt, Line *line, LineSlot own) {
    LineSlot *reads = &line->reads;
    bool same = reads->lane == own.lane && reads->shift == own.shift;
    bool writer = line->writes.lane == own.lane && line->writes.shift == own.shift;
    if (attempt->record->read_only && line->writes.node)
        return false;
    if (!is_before(attempt, &line->writes, writer))
        return false;
    if (!reads->node || attempt_is_clear(attempt, reads->node << 5)) {
        *reads = own;
    } else if (same) {
        uint32_t slot = reads->node << 5 | own.lane;
        attempt->by = 1U << own.lane;
        if (!attempt_is_there(attempt, slot)) {
            if (!attempt_any_lane(attempt, slot))
                return false;
            uint32_t made = attempt_put(attempt, slot);
            if ((made & 31) != own.lane || node_at(attempt->threads, made >> 5)->lanes)
                return false;
            reads->node = made >> 5;
        }
    } else {
        return false;
    }
    if (attempt->record->read_only)
        line->nc = (LineSlot){attempt->index, own.lane, own.shift};
    return true;
}

static bool write_line(Attempt *attempt, Line *line, LineSlot own) {
    bool writer = line->writes.lane == own.lane && line->writes.shift == own.shift;
    bool reader = line->reads.lane == own.lane && line->reads.shift == own.shift;
    if (line->nc.node || !is_before(attempt, &line->writes, writer) || !is_before(attempt, &line->reads, reader))
        return false;
    line->writes = own;
    line->reads.node = 0;
    return true;
}

/* One line, whose first bytes lane `lane` has. */
static void touch_line(Attempt *attempt, uint64_t address, uint32_t lane, uint32_t bytes) {
    ShadowPage *page = threads_page_lines(attempt->threads, address);
    Line *line = &page->lines[address % SHADOW_PAGE / SHADOW_LINE];
    LineSlot own = {attempt->node, (uint8_t)lane, shift_of(bytes)};
    attempt->address = address;
    if (!page->cells &&
        (attempt->record->kind == THREADS_READ ? read_line(attempt, line, own) : write_line(attempt, line, own)))
        return;
    for (uint32_t at = 0; at < SHADOW_LINE; at += bytes) {
        attempt->by = 1U << (lane + at / bytes);
        attempt_touch(attempt, address + at, address + at + bytes);
    }
}

bool attempt_lines(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses) {
    uint32_t bytes = access->bytes, per = SHADOW_LINE / (bytes ? bytes : 1);
    uint64_t differs = 0;
    if (!has_lines(attempt->threads, access) || per > THREADS_LANES)
        return false;
    uint32_t group = per == THREADS_LANES ? UINT32_MAX : (1U << per) - 1;
    for (uint32_t first = 0; first < THREADS_LANES; first += per) {
        uint32_t there = lanes >> first & group;
        if (there && there != group)
            return false;
        for (uint32_t i = 0; there && i < per; i++)
            differs |= addresses[first + i] - addresses[first] - (uint64_t)i * bytes;
        differs |= there ? addresses[first] % SHADOW_LINE : 0;
    }
    if (differs)
        return false;
    for (uint32_t first = 0; first < THREADS_LANES; first += per)
        if (lanes >> first & 1)
            touch_line(attempt, addresses[first], first, bytes);
    return true;
}

bool threads_access_beside(Threads *threads, uint32_t number, const ThreadsAccess *access, uint64_t first) {
    ENTER(threads, true);
    Warp *warp = threads_warp(threads, number);
    uint32_t bytes = access->bytes, per = SHADOW_LINE / (bytes ? bytes : 1);
    if (first % SHADOW_LINE || warp->count != 1 || warp->views->lanes != UINT32_MAX || !has_lines(threads, access) ||
        per > THREADS_LANES)
        return false;
    View *view = warp->views;
    Knower knower = {view->clock, number / threads->cta_warps, number % threads->cta_warps, UINT32_MAX, warp, 0};
    threads->instructions++;
    threads->several = true;
    threads->accesses += THREADS_LANES;
    view->touched = true;
    Attempt attempt = attempt_of(threads, &knower, access, view->now);
    for (uint32_t lane = 0; lane < THREADS_LANES; lane += per)
        touch_line(&attempt, first + (uint64_t)lane * bytes, lane, bytes);
    return true;
}
