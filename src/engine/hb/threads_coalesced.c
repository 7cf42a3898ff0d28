/* Accesses of a warp all of whose lanes know the same, one beside the other, of whole lines: most of what kernels do.
 * What stands in the lines is before, as a rule, and as its CTA is known by one number; then nothing else is looked at.
 */
#include "engine/hb/threads_attempt.h"

/* An access, and how far it is done. */
typedef struct ThreadsCoalescedBeside {
    Threads *threads;
    Knower knower;
    const ThreadsAccess *access;
    uint32_t record, epoch;
    uint64_t address; /* of the lines that are left */
    uint32_t count, lane, per;
    uint8_t shift;
} ThreadsCoalescedBeside;

/* Whether there are so many more, so that memory does not run out. */
static inline bool has_room(const Store *store, uint32_t count) {
    return store->free_count >= count || store->next + count <= store->chunk_count << CHUNK_SHIFT;
}

/* Whether that is before, as can be seen at once; `same`: lanes are where they were then. */
static inline bool is_before(const ThreadsCoalescedBeside *beside, const Stamp *stamp, bool same) {
    const Knower *knower = &beside->knower;
    return stamp->warp != STAMP_OTHER && ((same && stamp->cta == knower->cta && stamp->warp == knower->warp) ||
                                          clock_has_cta(knower->clock, stamp->cta, stamp->epoch));
}

static inline bool all_before(const ThreadsCoalescedBeside *beside, uint32_t slot, uint8_t shift, bool same) {
    if (!slot)
        return true;
    if (shift & LINE_ALONE)
        return is_before(beside, stamp_at(beside->threads, slot >> 5), same);
    for (uint32_t index = slot >> 5; index;) {
        const Node *node = node_at(beside->threads, index);
        if (!is_before(beside, &node->stamp, same && !node->lanes && !node->turn))
            return false;
        index = node->next;
    }
    return true;
}

/* What becomes of a line that one warp has read, in the same places, which is not before as a CTA is: lanes that have
 * read it in the same epoch have; lanes of their own stand for what they did earlier; others, of which nothing is
 * known, are joined. False: that has to be looked at. */
static bool join_reader(const ThreadsCoalescedBeside *beside, const ThreadsLine *from, const Seats *seats,
                        ThreadsLine *to) {
    Threads *threads = beside->threads;
    const Knower *knower = &beside->knower;
    const ThreadsRecord *record = record_at(threads, from->reads >> 5);
    if (!(from->read_shift & LINE_ALONE) || record->operation || record->proxy != PROXY_GENERIC ||
        !seats_are(seats, from->reads, from->read_shift, from->read_flip))
        return false;
    if (record->cta == knower->cta && record->warp == knower->warp) {
        if (record->epoch != beside->epoch)
            to->reads = beside->record << 5 | seats->lane;
        return true;
    }
    if (threads_clock_known(knower->clock, record->cta, record->warp, record->epoch) ||
        !has_room(&threads->nodes.store, 2))
        return false;
    uint32_t other = threads_node_alone(threads, from->reads >> 5);
    to->reads = threads_node_first(threads, beside->record, (NodeLanes){0}, other, 1) << 5 | seats->lane;
    to->read_shift = seats->shift;
    return true;
}

/* What becomes of a line; false: that has to be looked at. */
static bool read_line(const ThreadsCoalescedBeside *beside, const ThreadsLine *from, const Seats *seats,
                      ThreadsLine *to) {
    if (!all_before(beside, from->reads, from->read_shift, false))
        return join_reader(beside, from, seats, to);
    to->reads = beside->record << 5 | seats->lane;
    to->read_shift = seats->shift | LINE_ALONE;
    to->read_flip = 0;
    return true;
}

static bool write_line(const ThreadsCoalescedBeside *beside, const ThreadsLine *from, const Seats *seats,
                       ThreadsLine *to) {
    if (!all_before(beside, from->reads, from->read_shift,
                    seats_are(seats, from->reads, from->read_shift, from->read_flip)))
        return false;
    to->writes = beside->record << 5 | seats->lane;
    to->write_shift = seats->shift | LINE_ALONE;
    to->reads = 0;
    to->write_flip = to->read_shift = to->read_flip = 0;
    return true;
}

/* Lines of a page, from the first that is left on, as far as they are alike; 0: that one has to be looked at. */
static uint32_t do_alike(const ThreadsCoalescedBeside *beside, ShadowPage *page) {
    if (!page || page->cells || page->line_nc || beside->access->read_only)
        return 0;
    uint32_t at = (uint32_t)(beside->address % SHADOW_PAGE) / SHADOW_LINE;
    uint32_t more = (beside->count < PAGE_LINES - at ? beside->count : PAGE_LINES - at) - 1;
    ThreadsLine *line = &page->lines[at];
    Seats seats = {beside->lane, beside->shift, 0};
    LineStep step = {.from = *line, .to = *line};
    if (!all_before(beside, line->writes, line->write_shift,
                    seats_are(&seats, line->writes, line->write_shift, line->write_flip)) ||
        !(beside->access->kind == KIND_READ ? read_line(beside, line, &seats, &step.to)
                                            : write_line(beside, line, &seats, &step.to)))
        return 0;
    *line = step.to;
    return 1 + (more ? threads_lines_again(&step, line + 1, more, beside->per) : 0);
}

static void went_on(ThreadsCoalescedBeside *beside, uint32_t lines) {
    beside->address += (uint64_t)lines * SHADOW_LINE;
    beside->lane += lines * beside->per;
    beside->count -= lines;
}

/* What is left of it. */
static void do_rest(ThreadsCoalescedBeside *beside) {
    Threads *threads = beside->threads;
    ENTER(threads);
    Attempt attempt;
    attempt_begin_as(&attempt, threads, &beside->knower, beside->access, beside->record);
    attempt_touch_lines(&attempt, beside->address, beside->count, beside->lane, beside->per, beside->shift);
}

/* All of it as any other access. */
static void do_all(const ThreadsCoalescedBeside *beside) {
    Threads *threads = beside->threads;
    ENTER(threads);
    Attempt attempt;
    attempt_begin(&attempt, threads, &beside->knower, beside->access, beside->epoch);
    attempt_touch_lines(&attempt, beside->address, beside->count, 0, beside->per, beside->shift);
}

bool threads_access_coalesced(Threads *threads, uint32_t number, const ThreadsAccess *access, uint64_t first) {
    if (threads->problem)
        return true;
    uint32_t cta = number / threads->cta_warps, own = number % threads->cta_warps;
    if (!threads->ctas[cta] || first % SHADOW_LINE || !threads_has_lines(threads, access))
        return false;
    Warp *warp = &threads->ctas[cta]->warps[own];
    ThreadsView *view = warp->views;
    if (warp->count != 1 || view->lanes != UINT32_MAX)
        return false;
    uint8_t shift = shift_of(access->bytes);
    uint32_t per = SHADOW_LINE >> shift;
    ThreadsCoalescedBeside beside = {.threads = threads,
                                     .knower = {view->clock, cta, own, UINT32_MAX, warp, 0},
                                     .access = access,
                                     .epoch = view->now,
                                     .address = first,
                                     .count = THREADS_LANES / per,
                                     .per = per,
                                     .shift = shift};
    threads->instructions++;
    threads->several = true;
    view->touched = true;
    if (!has_room(&threads->records.store, 1) || threads->record_count + threads->node_count >= threads->sweep_at) {
        do_all(&beside);
        return true;
    }
    beside.record = threads_record(threads, &beside.knower, access, view->now);
    while (beside.count) {
        uint32_t done = do_alike(&beside, threads_page_near(threads, beside.address));
        if (!done) {
            do_rest(&beside);
            break;
        }
        went_on(&beside, done);
    }
    return true;
}
