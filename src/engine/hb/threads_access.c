/* Accesses: what is there, whether it is before, and what stays there. */
#include "engine/hb/threads_attempt.h"

/* ---- Cells ---- */

/* Whether all of the list that is not odd is morally strong with this, and no more is asked. */
static bool is_strong(const Attempt *attempt, uint32_t slot) {
    const Node *node = node_at(attempt->threads, slot >> 5);
    const ThreadsRecord *record = attempt->record;
    if (!node->level || record->order == ORDER_WEAK || record->proxy != PROXY_GENERIC)
        return false;
    if (node->level == LEVEL_NONE)
        return true;
    if (node->element != record->element)
        return false;
    if (attempt->threads->order_site == THREADS_NONE && (record->gives || node->gives))
        return false;
    if (record->loose && node->loose && attempt->threads->loose_count < MOST_LOOSE)
        return false;
    return (node->least == record->cta && node->most == record->cta) ||
           (node->level >= LEVEL_GPU && record->level >= LEVEL_GPU);
}

/* Lanes of an earlier write that stay in the list, whether or not they are before: this write leaves the bytes as that
 * one has made them. Who reads meanwhile may come before both, and gets something else. */
static uint32_t lanes_kept(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lanes) {
    return earlier->kind != KIND_READ && attempt->record->silent & attempt->by ? lanes & ~earlier->silent : 0;
}

/* What stays of a list. */
typedef struct ThreadsAccessKept {
    uint32_t nodes[MOST_RACING], lanes[MOST_RACING], count;
} ThreadsAccessKept;

/* If there are too many, one that has changed the bytes stays: others either leave them so, or were told to race. */
static void keep_lanes(const Threads *threads, ThreadsAccessKept *kept, uint32_t node, uint32_t lanes) {
    uint32_t last = kept->count - 1, record = node_at(threads, node)->record;
    if (!lanes)
        return;
    if (kept->count && node_at(threads, kept->nodes[last])->record == record) {
        kept->lanes[last] |= lanes;
    } else if (kept->count < MOST_RACING) {
        kept->nodes[kept->count] = node;
        kept->lanes[kept->count++] = lanes;
    } else if (lanes & ~record_at(threads, record)->silent) {
        kept->nodes[last] = node;
        kept->lanes[last] = lanes;
    }
}

/* The list of these; the slot's lane is as it was. */
static uint32_t list_of(Threads *threads, ThreadsAccessKept *kept, uint32_t slot) {
    uint32_t made = 0;
    while (kept->count--) {
        const Node *node = node_at(threads, kept->nodes[kept->count]);
        uint32_t lanes = kept->lanes[kept->count];
        made = node->next == made && node_lanes(node, slot) == lanes
                   ? kept->nodes[kept->count]
                   : threads_node(threads, node->record, lanes_in(lanes, slot), made, 0);
    }
    return made ? made << 5 | (slot & 31) : 0;
}

/* Whether a race with the element is the same one for whichever lane. */
static bool races_alike(const Attempt *attempt, const ThreadsRecord *earlier) {
    const ThreadsClock *clock = attempt->knower.clock;
    return !attempt->knower.operation && !earlier->silent && !attempt->record->silent && (!clock || !clock->bridges);
}

/* Looks through a list, and tells what races. `keep`: the list of what is not before, in the same order. */
static uint32_t look(Attempt *attempt, uint32_t slot, bool keep) {
    Threads *threads = attempt->threads;
    ThreadsAccessKept kept = {.count = 0};
    uint32_t at = 0;
    for (uint32_t index = slot >> 5; index; index = list_next(threads, slot >> 5, index, ++at)) {
        const Node *node = node_at(threads, index);
        const ThreadsRecord *earlier = record_at(threads, node->record);
        if (!keep && attempt_is_settled(attempt, earlier))
            continue;
        uint32_t lanes = node_lanes(node, slot), left = attempt_unordered(attempt, node->record, lanes);
        attempt->any_lane =
            attempt->any_lane && attempt_is_any_lane(attempt, node) && (!left || races_alike(attempt, earlier));
        if (left)
            left = attempt_judge(attempt, node->record, left);
        if (keep)
            keep_lanes(threads, &kept, index, left | lanes_kept(attempt, earlier, lanes));
    }
    return keep ? list_of(threads, &kept, slot) : 0;
}

/* A strong access looks through what is not settled: the odd ones, if all others are. */
static void look_strong(Attempt *attempt, uint32_t slot) {
    Threads *threads = attempt->threads;
    if (!is_strong(attempt, slot) || node_at(threads, slot >> 5)->cut) {
        look(attempt, slot, false);
        return;
    }
    for (uint32_t index = node_at(threads, slot >> 5)->odd; index;) {
        const Node *node = node_at(threads, index);
        uint32_t left = attempt_unordered(attempt, node->record, node_lanes(node, slot));
        if (left)
            attempt_judge(attempt, node->record, left);
        index = node->next ? node_at(threads, node->next)->odd : 0;
    }
}

/* Whether all of the list races with this weak write, as nothing is known of who made it: for the same reason. */
static bool all_race(const Attempt *attempt, uint32_t slot) {
    enum { MOST_CUT = 4 * MOST_RACING }; /* what does not count any more is given back when there is so much of it */
    const Node *node = node_at(attempt->threads, slot >> 5);
    const ThreadsRecord *record = attempt->record;
    const ThreadsClock *clock = attempt->knower.clock;
    return attempt_is_foreign(attempt, slot) && node->plain && node->depth < MOST_CUT && !record->silent &&
           !record->operation && record->proxy == PROXY_GENERIC && (!clock || !clock->bridges);
}

/* They are reported, and all of them stay. */
static void report_all(Attempt *attempt, uint32_t slot) {
    Threads *threads = attempt->threads;
    uint32_t at = 0, site = THREADS_NONE, race = 0;
    for (uint32_t index = slot >> 5; index; index = list_next(threads, slot >> 5, index, ++at)) {
        const Node *node = node_at(threads, index);
        uint32_t lanes = node_lanes(node, slot), times = node->lanes ? (uint32_t)__builtin_popcount(lanes) : 1;
        const ThreadsRecord *earlier = record_at(threads, node->record);
        if (!at || earlier->site != site) {
            race = attempt_report(attempt, node->record, lowest(lanes), lowest(attempt->by), THREADS_UNORDERED);
            site = earlier->site;
            times--;
        }
        if (times)
            attempt_again(attempt, race, times);
    }
}

/* This weak write in front of those that it races with. */
static uint32_t put_racing(Attempt *attempt, uint32_t slot) {
    Threads *threads = attempt->threads;
    const Node *newest = node_at(threads, slot >> 5);
    bool cut = newest->depth > MOST_RACING;
    uint32_t last = newest->cut ? newest->pruned : slot >> 5;
    while (cut && node_at(threads, last)->next)
        last = node_at(threads, last)->next;
    uint32_t made = threads_node(threads, attempt->index, lanes_in(attempt->by, slot), slot >> 5, cut ? last : 0);
    node_at(threads, made)->cut = cut;
    return made << 5 | (slot & 31);
}

static void read_cell(Attempt *attempt, ThreadsCell *cell) {
    bool weak = attempt->record->order == ORDER_WEAK, any_lane = true;
    if (cell->writes && !attempt_is_clear(attempt, cell->writes)) {
        if (weak)
            look(attempt, cell->writes, false);
        else
            look_strong(attempt, cell->writes);
    }
    bool single = !(attempt->by & (attempt->by - 1));
    if (single && (!cell->reads || (weak && attempt_is_clear(attempt, cell->reads)))) {
        cell->reads = attempt_node(attempt) << 5 | lowest(attempt->by);
        attempt->any_readers = true;
        return;
    }
    if (!weak)
        cell->reads = attempt_put(attempt, cell->reads, NULL);
    else if (!attempt_is_there(attempt, cell->reads, &any_lane))
        cell->reads = attempt_put_again(attempt, cell->reads, &any_lane);
    attempt->any_lane &= any_lane;
}

/* Of a weak write: what it is not behind, and races with; those stay. */
static uint32_t look_racing(Attempt *attempt, uint32_t slot) {
    if (!all_race(attempt, slot))
        return look(attempt, slot, true);
    report_all(attempt, slot);
    return slot;
}

static void write_cell(Attempt *attempt, ThreadsCell *cell) {
    bool weak = attempt->record->order == ORDER_WEAK;
    bool silent = attempt->record->silent & attempt->by;
    if (!weak) {
        if (cell->writes && !attempt_is_clear(attempt, cell->writes))
            look_strong(attempt, cell->writes);
        if (cell->reads && !attempt_is_clear(attempt, cell->reads))
            look_strong(attempt, cell->reads);
        cell->writes = attempt_put(attempt, cell->writes, NULL);
        return;
    }
    uint32_t writes = 0, reads = 0;
    attempt->any_lane &= !silent;
    if (cell->writes && (silent || !attempt_is_clear(attempt, cell->writes)))
        writes = look_racing(attempt, cell->writes);
    attempt->any_readers = !cell->reads || attempt_is_clear(attempt, cell->reads);
    if (!attempt->any_readers)
        reads = look(attempt, cell->reads, true);
    cell->writes = writes ? put_racing(attempt, writes) : attempt_node(attempt) << 5 | lowest(attempt->by);
    cell->reads = reads;
}

/* Memory that something reads as if nothing wrote it. */
static void look_read_only(Attempt *attempt, ShadowPage *page, uint32_t at) {
    uint32_t by = lowest(attempt->by);
    if (attempt->record->read_only) {
        if (!page->nc)
            page->nc = gsan_pool_take(&attempt->threads->pool, (SHADOW_PAGE >> page->shift) * sizeof *page->nc);
        page->nc[at] = attempt->index << 5 | by;
        uint32_t slot = page->cells[at].writes;
        if (slot) {
            const Node *node = node_at(attempt->threads, slot >> 5);
            attempt_report(attempt, node->record, lowest(node_lanes(node, slot)), by, THREADS_READ_ONLY);
        }
    } else if (page->nc && page->nc[at] && attempt->record->kind != KIND_READ) {
        attempt_report(attempt, page->nc[at] >> 5, page->nc[at] & 31, by, THREADS_READ_ONLY);
    }
}

/* For which lanes of the slot a read of what they wrote is as it was for the slot's: all, if all is before whatever
 * lane, or those that have been told to race in the same way. */
static uint32_t alike(const Attempt *attempt, uint32_t slot) {
    uint32_t first = slot >> 5, lane = 1U << (slot & 31);
    if (!slot || attempt->record->kind != KIND_READ)
        return lane;
    if (attempt->memos.clear[first % MEMO] == first)
        return UINT32_MAX;
    const Node *node = node_at(attempt->threads, first);
    const Asked *asked = &attempt->asked[node->record % MEMO];
    bool one = !node->next && !node->lanes && !node->turn && attempt->reported_count == 1 &&
               attempt->memos.asked[node->record % MEMO] == node->record && 1U << asked->by == attempt->by;
    return one && asked->race == attempt->reported[0].race && asked->reported & lane ? asked->reported : lane;
}

/* A cell that is not as the last one was. */
static void touch_cell(Attempt *attempt, ShadowPage *page, uint32_t index) {
    ThreadsCell *cell = &page->cells[index], from = *cell;
    bool read_only = page->nc || attempt->record->read_only;
    attempt->reported_count = 0;
    attempt->any_lane = !(attempt->by & (attempt->by - 1));
    attempt->any_readers = false;
    attempt->steady = attempt->record->order == ORDER_WEAK && !read_only && !attempt->threads->shape.by_word;
    if (read_only)
        look_read_only(attempt, page, index);
    if (attempt->record->kind == KIND_READ)
        read_cell(attempt, cell);
    else
        write_cell(attempt, cell);
    if (!attempt->steady)
        return;
    Step *step = &attempt->step;
    step->from = from;
    step->to = *cell;
    step->by = attempt->by;
    step->alike = alike(attempt, from.writes);
    step->any_lane = attempt->any_lane;
    step->any_readers = attempt->any_readers;
    step->reported_count = attempt->reported_count;
    memcpy(step->reported, attempt->reported, attempt->reported_count * sizeof *step->reported);
}

/* Whether a slot has that list, with a lane that is so much farther. */
static inline bool is_moved(uint32_t slot, uint32_t from, uint32_t moved, bool any) {
    return slot >> 5 == from >> 5 && (any || !from || (slot - from) % THREADS_LANES == moved);
}
static inline uint32_t moved_slot(uint32_t slot, uint32_t moved) {
    return slot ? (slot & ~31U) | (slot + moved) % THREADS_LANES : 0;
}

/* Whether the cell is as the last one was: then it becomes what that has. */
static bool touch_again(const Attempt *attempt, const ShadowPage *page, ThreadsCell *cell) {
    const Step *step = &attempt->step;
    uint32_t moved = lowest(attempt->by) - lowest(step->by | 1U << 31);
    bool reads = attempt->record->kind == KIND_READ;
    if (!step->by || page->nc)
        return false;
    if (step->any_lane && !(attempt->by & (attempt->by - 1)) && !(attempt->record->silent & attempt->by)) {
        moved %= THREADS_LANES;
        if (!is_moved(cell->reads, step->from.reads, moved, step->any_readers) ||
            !is_moved(cell->writes, step->from.writes, moved, reads && step->alike == UINT32_MAX))
            return false;
    } else if (step->by != attempt->by || cell->reads != step->from.reads ||
               (cell->writes != step->from.writes &&
                (cell->writes >> 5 != step->from.writes >> 5 || !(step->alike >> (cell->writes & 31) & 1)))) {
        return false;
    } else {
        moved = 0;
    }
    cell->reads = moved_slot(step->to.reads, moved);
    if (!reads)
        cell->writes = moved_slot(step->to.writes, moved);
    for (uint32_t i = 0; i < step->reported_count; i++)
        attempt->threads->races[step->reported[i].race].times += (uint64_t)step->reported[i].times
                                                                 << (page->shift > 2 ? page->shift - 2 : 0);
    return true;
}

void attempt_touch(Attempt *attempt, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end;) {
        ShadowPage *page = attempt_page(attempt, at);
        uint64_t base = page->number * SHADOW_PAGE, stop = base + SHADOW_PAGE < end ? base + SHADOW_PAGE : end;
        if (!page->cells || (at | stop) & ((1U << page->shift) - 1))
            threads_page_cells(attempt->threads, page, at | stop);
        for (; at < stop; at += 1U << page->shift) {
            uint32_t index = (uint32_t)(at - base) >> page->shift;
            attempt_at(attempt, at);
            if (!touch_again(attempt, page, &page->cells[index]))
                touch_cell(attempt, page, index);
        }
    }
}

/* ---- One lane ---- */

/* Bytes of one lane, element by element where some are not touched, or where they synchronize. */
typedef struct Elements {
    uint32_t count, bytes, used;
} Elements;

static Elements elements_of(const ThreadsAccess *access) {
    uint32_t element = access->element ? access->element : access->bytes;
    uint32_t count = element == access->bytes ? 1 : access->bytes / element;
    uint32_t all = count >= 32 ? UINT32_MAX : (1U << count) - 1;
    return (Elements){count, element, access->used ? access->used & all : all};
}

bool threads_is_whole(const ThreadsAccess *access) {
    if (!access->used)
        return true;
    Elements elements = elements_of(access);
    return elements.used == (elements.count >= 32 ? UINT32_MAX : (1U << elements.count) - 1);
}

static void touch_lane(Attempt *attempt, const ThreadsAccess *access, uint64_t address) {
    if (attempt->whole) {
        attempt_touch(attempt, address, address + access->bytes);
        return;
    }
    Elements elements = elements_of(access);
    for (uint32_t i = 0; i < elements.count; i++)
        if (elements.used >> i & 1)
            attempt_touch(attempt, address + i * elements.bytes, address + (i + 1) * elements.bytes);
}

/* ---- Strong accesses ---- */

static void acquire(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)lanes;
    const void *const *what = context;
    threads_releases_acquire(threads, (Releases *)what[0], &view->clock, number / threads->cta_warps,
                             *(const uint32_t *)what[1]);
}

/* The lane's acquire at the address takes what it read there before, too. */
static void acquire_at(Threads *threads, uint32_t number, uint32_t lane, uint32_t level, uint64_t address,
                       Releases *releases) {
    Warp *warp = threads_warp(threads, number);
    if (releases)
        threads_views(threads, number, 1U << lane, true, acquire, (const void *[]){releases, &level});
    for (const Note *note = warp->notes; note; note = note->next)
        if (note->kind == NOTE_OBSERVED && note->key == address && note->lanes >> lane & 1 &&
            note->releases != releases)
            threads_views(threads, number, 1U << lane, true, acquire, (const void *[]){note->releases, &level});
    if (level >= LEVEL_GPU) /* no later acquire has more of it */
        threads_notes_drop(threads, warp, NOTE_OBSERVED, 1U << lane, LEVEL_GPU, address, false);
}

/* What the lane would have learned. */
static void acquire_narrow(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)lanes;
    const Releases *releases = context;
    for (uint32_t i = 0; i < releases->count; i++)
        threads_bridge_join(threads, &view->clock, number / threads->cta_warps, KEY_LOOSE,
                            releases_items(releases)[i].clock);
}

static void note_observed(Threads *threads, uint32_t number, uint32_t lane, uint64_t address, Releases *releases) {
    Warp *warp = threads_warp(threads, number);
    for (Note *note = warp->notes; note; note = note->next)
        if (note->kind == NOTE_OBSERVED && note->key == address && note->releases == releases) {
            note->lanes |= 1U << lane;
            return;
        }
    Note *note = threads_note(threads, warp, NOTE_OBSERVED, 1U << lane);
    note->key = address;
    note->releases = threads_releases_share(releases);
}

/* To read it again is nothing new, while nothing else writes there, if there was nothing to tell of. */
static void note_poll(Attempt *attempt, uint32_t lane, uint64_t address) {
    const ShadowPage *page = attempt->page;
    uint32_t slot = page->cells[address % SHADOW_PAGE >> page->shift].writes;
    if (attempt->record->element == 1U << page->shift && slot && !attempt->threads->shape.history &&
        !attempt->threads->shape.by_word &&
        (attempt_is_clear(attempt, slot) || (is_strong(attempt, slot) && !node_at(attempt->threads, slot >> 5)->odd)))
        threads_poll(attempt->threads, attempt->index, lane, address, slot);
}

typedef struct Gained {
    uint64_t address;
    Releases *releases;
    uint32_t lane;
} Gained;

/* What the instruction observes is taken only when all of its lanes are done. */
static void strong_lanes(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses) {
    Threads *threads = attempt->threads;
    const ThreadsRecord *record = attempt->record;
    uint32_t number = record->cta * threads->cta_warps + record->warp, count = 0;
    Elements elements = elements_of(access);
    bool alone = !threads->several; /* what it adds itself it may well see: it knows it */
    Gained gained[THREADS_LANES * 4];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest);
        attempt->by = 1U << lane;
        for (uint32_t i = 0; i < elements.count; i++) {
            uint64_t address = addresses[lane] + i * elements.bytes;
            if (!(elements.used >> i & 1))
                continue;
            Observed observed = {0};
            if (threads->blind) {
                threads_blind_access(threads, number, lane, record->order);
                attempt_touch(attempt, address, address + elements.bytes);
                continue;
            }
            if (record->kind != KIND_WRITE)
                observed = threads_observe(threads, attempt->index, lane, address);
            if (alone && record->kind == KIND_UPDATE) {
                threads_releases_drop(threads, observed.releases); /* so that it need not be copied */
                observed.releases = NULL;
            }
            attempt_touch(attempt, address, address + elements.bytes);
            threads_observed(threads, attempt->index, lane, address, &observed);
            if (record->kind == KIND_READ && observed.any && elements.count == 1)
                note_poll(attempt, lane, address);
            if (alone && record->kind == KIND_UPDATE && observed.any)
                observed.releases =
                    threads_releases_share(threads_location(threads, address, record->element, true)->releases);
            if (observed.narrow && order_acquires(record->order) && !record->operation)
                threads_views(threads, number, attempt->by, true, acquire_narrow, observed.narrow);
            threads_releases_drop(threads, observed.narrow);
            bool wanted = !record->operation && (record->kind == KIND_READ || record->gives);
            if (wanted && (observed.releases || order_acquires(record->order)) && count < THREADS_LANES * 4)
                gained[count++] = (Gained){address, observed.releases, lane};
            else
                threads_releases_drop(threads, observed.releases);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (order_acquires(record->order))
            acquire_at(threads, number, gained[i].lane, record->level, gained[i].address, gained[i].releases);
        else
            note_observed(threads, number, gained[i].lane, gained[i].address, gained[i].releases);
        threads_releases_drop(threads, gained[i].releases);
    }
}

/* ---- Whole instructions ---- */

void attempt_begin(Attempt *attempt, Threads *threads, const Knower *knower, const ThreadsAccess *access,
                   uint32_t epoch) {
    if (threads->record_count + threads->node_count >= threads->sweep_at)
        threads_sweep(threads);
    attempt_begin_as(attempt, threads, knower, access, threads_record(threads, knower, access, epoch));
}

void attempt_begin_as(Attempt *attempt, Threads *threads, const Knower *knower, const ThreadsAccess *access,
                      uint32_t record) {
    attempt->threads = threads;
    attempt->knower = *knower;
    attempt->index = record;
    attempt->record = record_at(threads, attempt->index);
    attempt->node = attempt->by = 0;
    attempt->page = NULL;
    bool at_home = !threads->shape.by_word && !threads->done_abroad && threads_clock_at_home(knower->clock);
    attempt->home = at_home ? cluster_bit(threads, knower->cta) : 0;
    attempt->first = knower->cta / threads->shape.cluster * threads->shape.cluster;
    attempt->last = attempt->first + threads->shape.cluster - 1;
    attempt_move(attempt, UINT64_MAX);
    attempt->whole = !access->used || threads_is_whole(access);
}

static bool all_differ(uint32_t lanes, const uint64_t *addresses) {
    uint64_t last = addresses[lowest(lanes)];
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
        if (addresses[lowest(rest)] <= last)
            return false;
        last = addresses[lowest(rest)];
    }
    return true;
}

/* Lanes that read the same place count as one access of several lanes. */
static void weak_reads(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses) {
    for (uint32_t rest = lanes; rest;) {
        uint64_t address = addresses[lowest(rest)];
        attempt->by = 0;
        for (uint32_t more = rest; more; more &= more - 1)
            if (addresses[lowest(more)] == address)
                attempt->by |= more & -more;
        rest &= ~attempt->by;
        touch_lane(attempt, access, address);
    }
}

static void do_lanes(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses) {
    bool kept =
        attempt->threads->shape.history && (access->order == ORDER_WEAK || access->object) && access->kind != KIND_READ;
    for (uint32_t rest = lanes; kept && rest; rest &= rest - 1)
        threads_history_other(attempt->threads, addresses[lowest(rest)], access->bytes);
    if (attempt_lines(attempt, access, lanes, addresses)) {
        return;
    } else if (access->order != ORDER_WEAK && !access->object) {
        strong_lanes(attempt, access, lanes, addresses);
    } else if (access->kind == KIND_READ && !all_differ(lanes, addresses)) {
        weak_reads(attempt, access, lanes, addresses);
    } else {
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            attempt->by = rest & -rest;
            touch_lane(attempt, access, addresses[lowest(rest)]);
        }
    }
}

typedef struct Doing {
    const ThreadsAccess *access;
    const uint64_t *addresses;
} Doing;

static void by_threads(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const Doing *doing = context;
    Knower knower = {view->clock, number / threads->cta_warps,   number % threads->cta_warps,
                     UINT32_MAX,  threads_warp(threads, number), 0};
    view->touched = true;
    threads_clock_share(view->clock); /* what it acquires goes into another one */
    ThreadsClock *clock = view->clock;
    Attempt attempt;
    attempt_begin(&attempt, threads, &knower, doing->access, view->now);
    do_lanes(&attempt, doing->access, lanes, doing->addresses);
    threads_clock_drop(threads, clock);
}

static void tick(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)threads, (void)number, (void)lanes, (void)context;
    view_tick(view);
}

static void by_operation(Threads *threads, uint32_t index, uint32_t lanes, const Doing *doing) {
    const ThreadsOperation *operation = operation_at(threads, index);
    for (uint32_t i = 0; i < operation->part_count; i++) {
        const ThreadsPart *part = &operation->parts[i];
        if (!(part->lanes & lanes))
            continue;
        Knower knower = {part->clock, operation->cta, operation->warp, part->epoch, NULL, index};
        Attempt attempt;
        attempt_begin(&attempt, threads, &knower, doing->access, part->epoch);
        do_lanes(&attempt, doing->access, part->lanes & lanes, doing->addresses);
    }
}

/* For the end of its CTA: what it does to memory of CTAs. */
static void note_first(Threads *threads, uint32_t index, const ThreadsAccess *access, uint64_t address) {
    ThreadsOperation *operation = operation_at(threads, index);
    if (operation->first.bytes || address >> 62 == 0)
        return;
    operation->first = *access;
    operation->first_address = address;
    if (!operation->first.bytes)
        operation->first.bytes = 1;
}

void threads_access(Threads *threads, uint32_t operation, uint32_t warp, uint32_t lanes, const ThreadsAccess *access,
                    const uint64_t addresses[THREADS_LANES]) {
    ENTER(threads);
    if (!lanes)
        return;
    Doing doing = {access, addresses};
    threads->instructions++;
    threads->several = (lanes & (lanes - 1)) != 0;
    if (operation) {
        note_first(threads, operation, access, addresses[lowest(lanes)]);
        by_operation(threads, operation, lanes, &doing);
        return;
    }
    bool strong = access->order != ORDER_WEAK && !access->object;
    if (strong && !threads->several && access->kind == KIND_READ &&
        threads_poll_again(threads, warp, lowest(lanes), access, addresses[lowest(lanes)]))
        return;
    /* A strong access may part views while it is done, so it has parts of its own. They are done in the order of lanes:
     * who observes whom goes by that. */
    if (strong && (threads_view_of(threads, warp, lowest(lanes))->lanes & lanes) != lanes)
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            threads_views(threads, warp, rest & -rest, true, by_threads, &doing);
    else
        threads_views(threads, warp, lanes, strong, by_threads, &doing);
    if (strong && access->kind != KIND_READ && order_releases(access->order))
        threads_views(threads, warp, lanes, true, tick, NULL);
    if (strong)
        threads_views_merge(threads, threads_warp(threads, warp));
    threads->chosen = UINT32_MAX;
}

void threads_pieces(Threads *threads, uint32_t index, const ThreadsAccess *access, const ThreadsPiece *pieces,
                    uint32_t count) {
    ENTER(threads);
    if (!count)
        return;
    const ThreadsOperation *operation = operation_at(threads, index);
    uint32_t lane = lowest(operation->lanes);
    const ThreadsPart *part = threads_operation_part(operation, lane);
    ThreadsAccess whole = *access;
    whole.bytes = pieces->bytes < UINT32_MAX ? (uint32_t)pieces->bytes : UINT32_MAX;
    note_first(threads, index, &whole, pieces->address);
    Knower knower = {part->clock, operation->cta, operation->warp, part->epoch, NULL, index};
    Attempt attempt;
    threads->instructions++;
    attempt_begin(&attempt, threads, &knower, &whole, part->epoch);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = pieces[i].address, bytes = pieces[i].bytes;
        attempt.by = 1U << lane;
        if (threads->shape.history && access->kind != KIND_READ)
            threads_history_other(threads, address, bytes);
        attempt_piece(&attempt, &whole, address, address + bytes);
    }
}

void threads_piece(Threads *threads, uint32_t operation, const ThreadsAccess *access, uint64_t address,
                   uint64_t bytes) {
    threads_pieces(threads, operation, access, &(ThreadsPiece){address, bytes}, 1);
}
