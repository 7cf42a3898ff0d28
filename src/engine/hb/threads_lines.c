/* Accesses of whole lines of memory, by lanes one beside the other: each line is looked at once, and not cell by cell.
 */
#include "engine/hb/threads_attempt.h"

/* Whether a record is before this: whichever lane does it, or, if lanes are at the same places as they were, as each
 * lane's own. */
static bool record_before(Attempt *attempt, uint32_t index, bool same) {
    const ThreadsRecord *record = record_at(attempt->threads, index);
    if (!record->operation && !attempt_needs_fence(attempt, record) &&
        ((same && attempt_same_warp(attempt, record) && record->epoch <= attempt->knower.own_epoch) ||
         clock_has_cta(attempt->knower.clock, record->cta, record->epoch)))
        return true;
    return attempt_over_lanes(attempt, index, record) == UINT32_MAX;
}

static bool all_before(Attempt *attempt, uint32_t slot, uint8_t shift, bool same) {
    if (!slot)
        return true;
    if (shift & LINE_ALONE)
        return record_before(attempt, slot >> 5, same);
    if (attempt_is_clear(attempt, slot))
        return true;
    for (uint32_t index = slot >> 5; same && index; index = node_at(attempt->threads, index)->next) {
        const Node *node = node_at(attempt->threads, index);
        if (node->lanes || node->turn || !record_before(attempt, node->record, same))
            return false;
    }
    return same;
}

/* Whether the one who has read it is a warp of which nothing is known: it stays, and this is placed in front. */
static bool joins_another(Attempt *attempt, const ThreadsLine *line) {
    if (!(line->read_shift & LINE_ALONE))
        return false;
    const ThreadsRecord *record = record_at(attempt->threads, line->reads >> 5);
    return !record->operation && !attempt_same_warp(attempt, record) &&
           !attempt_over_lanes(attempt, line->reads >> 5, record);
}

/* Among those who have read it before; false: it has to be done cell by cell. */
static bool join_readers(Attempt *attempt, ThreadsLine *line, const Seats *seats, bool *any_lane) {
    if (!seats_are(seats, line->reads, line->read_shift, line->read_flip))
        return false;
    bool another = joins_another(attempt, line);
    threads_line_settle(attempt->threads, &line->reads, &line->read_shift);
    if (another) {
        line->reads = threads_node_first(attempt->threads, attempt->index, (NodeLanes){0}, line->reads >> 5, 1) << 5 |
                      seats->lane;
        return true;
    }
    attempt->by = 1U << seats->lane;
    bool any = true;
    if (attempt_is_there(attempt, line->reads, &any))
        return true;
    uint32_t made = attempt_put_again(attempt, line->reads, any_lane);
    /* A lane that has all of the line is the only one. */
    if ((!*any_lane && 1U << seats->shift < SHADOW_LINE) || (made & 31) != seats->lane ||
        node_at(attempt->threads, made >> 5)->lanes || node_at(attempt->threads, made >> 5)->turn)
        return false;
    line->reads = made;
    return true;
}

/* The slot of the same list for a lane that is so much farther; 0: there is no such lane. */
static inline uint32_t slot_moved(uint32_t slot, uint32_t moved) {
    return !slot || (slot ^ (slot + moved)) >> 5 ? 0 : slot + moved;
}

/* Whether the line is as the last one was: then it becomes what that has. */
static inline bool line_again(const LineStep *step, ThreadsLine *line, const Seats *seats) {
    uint32_t moved = seats->lane - step->lane;
    if (!step->used || step->from.seats != line->seats || step->shift != seats->shift || step->flip != seats->flip ||
        (moved && !step->any_lane))
        return false;
    uint32_t writes = slot_moved(step->from.writes, moved), reads = slot_moved(step->from.reads, moved);
    if (writes != line->writes || reads != line->reads || (step->from.writes && !writes) ||
        (step->from.reads && !reads))
        return false;
    line->writes = slot_moved(step->to.writes, moved);
    line->reads = slot_moved(step->to.reads, moved);
    line->seats = step->to.seats;
    return true;
}

static void line_done(Attempt *attempt, const ThreadsLine *from, const ThreadsLine *to, const Seats *seats,
                      bool any_lane) {
    attempt->line = (LineStep){*from, *to, (uint8_t)seats->lane, seats->shift, seats->flip, any_lane, true};
}

static bool read_line(Attempt *attempt, ShadowPage *page, uint32_t at, const Seats *seats) {
    ThreadsLine *line = &page->lines[at], from = *line;
    bool nc = attempt->record->read_only, any_lane = true;
    if (nc ? line->writes != 0
           : !all_before(attempt, line->writes, line->write_shift,
                         seats_are(seats, line->writes, line->write_shift, line->write_flip)))
        return false;
    if (all_before(attempt, line->reads, line->read_shift, false)) {
        line->reads = attempt->index << 5 | seats->lane;
        line->read_shift = seats->shift | LINE_ALONE;
        line->read_flip = seats->flip;
    } else if (!join_readers(attempt, line, seats, &any_lane)) {
        return false;
    }
    if (!nc) {
        line_done(attempt, &from, line, seats, any_lane);
        return true;
    }
    if (!page->line_nc)
        page->line_nc = gsan_pool_take(&attempt->threads->pool, PAGE_LINES * sizeof(uint32_t));
    page->line_nc[at] = attempt->index << 5 | seats->lane;
    line->nc_shift = seats->shift;
    line->nc_flip = seats->flip;
    return true;
}

static bool write_line(Attempt *attempt, ShadowPage *page, uint32_t at, const Seats *seats) {
    ThreadsLine *line = &page->lines[at], from = *line;
    if ((page->line_nc && page->line_nc[at]) ||
        !all_before(attempt, line->writes, line->write_shift,
                    seats_are(seats, line->writes, line->write_shift, line->write_flip)) ||
        !all_before(attempt, line->reads, line->read_shift,
                    seats_are(seats, line->reads, line->read_shift, line->read_flip)))
        return false;
    line->writes = attempt->index << 5 | seats->lane;
    line->write_shift = seats->shift | LINE_ALONE;
    line->write_flip = seats->flip;
    line->reads = 0;
    line->read_shift = line->read_flip = 0;
    line_done(attempt, &from, line, seats, true);
    return true;
}

/* A line that is not as the last one was. */
static void touch_other(Attempt *attempt, ShadowPage *page, uint64_t address, const Seats *seats) {
    uint32_t at = (uint32_t)(address % SHADOW_PAGE) / SHADOW_LINE, bytes = 1U << seats->shift;
    if (!page->cells && (attempt->record->kind == KIND_READ ? read_line(attempt, page, at, seats)
                                                            : write_line(attempt, page, at, seats)))
        return;
    for (uint32_t i = 0; i < SHADOW_LINE / bytes; i++) { /* in the order of lanes */
        uint64_t from = address + (i ^ seats->flip) * bytes;
        attempt->by = 1U << (seats->lane + i);
        attempt_touch(attempt, from, from + bytes);
    }
}

/* One line, of lanes from `lane` on, of which the one at its begin is `flip` behind that. */
static inline void touch_line(Attempt *attempt, uint64_t address, uint32_t lane, uint8_t shift, uint8_t flip) {
    ShadowPage *page = attempt_page(attempt, address);
    Seats seats = {lane, shift, flip};
    attempt_at(attempt, address);
    /* Where something reads as if nothing wrote there, each line is looked at. */
    if (page->cells || page->line_nc ||
        !line_again(&attempt->line, &page->lines[address % SHADOW_PAGE / SHADOW_LINE], &seats))
        touch_other(attempt, page, address, &seats);
}

void attempt_touch_lines(Attempt *attempt, uint64_t address, uint32_t count, uint32_t lane, uint32_t per,
                         uint8_t shift) {
    while (count) {
        touch_line(attempt, address, lane, shift, 0);
        const LineStep *step = &attempt->line;
        ShadowPage *page = attempt->page;
        uint32_t next = (uint32_t)(address % SHADOW_PAGE) / SHADOW_LINE + 1, done = 0;
        uint32_t most = count - 1 < PAGE_LINES - next ? count - 1 : PAGE_LINES - next;
        if (most && step->used && step->lane == lane && (!per || step->any_lane) && !page->cells && !page->line_nc &&
            !attempt->threads->acquires_at)
            done = threads_lines_again(step, &page->lines[next], most, per);
        address += (uint64_t)(1 + done) * SHADOW_LINE;
        lane += (1 + done) * per;
        count -= 1 + done;
    }
}

/* Where the lanes from `first` on have a whole line, each its own part of it: the line; UINT64_MAX: they do not. */
static uint64_t line_of(const uint64_t *addresses, uint32_t first, uint32_t bytes, uint8_t *flip) {
    uint32_t per = SHADOW_LINE / bytes;
    uint64_t line = addresses[first] / SHADOW_LINE * SHADOW_LINE, away = addresses[first] - line, differs = 0;
    *flip = (uint8_t)(away / bytes);
    for (uint32_t i = 0; i < per; i++)
        differs |= addresses[first + i] ^ (line + (i ^ *flip) * bytes);
    return differs ? UINT64_MAX : line;
}

bool attempt_lines(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses) {
    uint32_t bytes = access->bytes;
    uint64_t lines[THREADS_LANES];
    uint8_t flips[THREADS_LANES];
    if (!threads_has_lines(attempt->threads, access))
        return false;
    uint32_t per = SHADOW_LINE >> shift_of(bytes), group = per == THREADS_LANES ? UINT32_MAX : (1U << per) - 1;
    for (uint32_t first = 0; first < THREADS_LANES; first += per) {
        uint32_t there = lanes >> first & group;
        if (there && there != group)
            return false;
        if (there && (lines[first] = line_of(addresses, first, bytes, &flips[first])) == UINT64_MAX)
            return false;
    }
    for (uint32_t first = 0; first < THREADS_LANES; first += per)
        if (lanes >> first & 1)
            touch_line(attempt, lines[first], first, shift_of(bytes), flips[first]);
    return true;
}

/* A lane that has all of the line is in its first place. */
void attempt_piece(Attempt *attempt, const ThreadsAccess *access, uint64_t begin, uint64_t end) {
    const Threads *threads = attempt->threads;
    uint32_t by = attempt->by;
    uint64_t first = (begin + SHADOW_LINE - 1) / SHADOW_LINE * SHADOW_LINE, last = end / SHADOW_LINE * SHADOW_LINE;
    bool lines = first < last && access->order == ORDER_WEAK && !access->inits && !access->silent &&
                 !threads->shape.history && !threads->shape.by_word;
    if (!lines) {
        attempt_touch(attempt, begin, end);
        return;
    }
    attempt_touch(attempt, begin, first);
    for (uint64_t at = first; at < last;) {
        uint64_t lines = (last - at) / SHADOW_LINE;
        uint32_t count = lines < UINT32_MAX ? (uint32_t)lines : UINT32_MAX;
        attempt_touch_lines(attempt, at, count, lowest(by), 0, shift_of(SHADOW_LINE));
        at += (uint64_t)count * SHADOW_LINE;
    }
    attempt->by = by;
    attempt_touch(attempt, last, end);
}
