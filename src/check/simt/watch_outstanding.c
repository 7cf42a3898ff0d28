/* Operations in flight: actors of the engine, and how threads wait for them: by groups, by mbarriers that count their
 * bytes, by arrivals that come when they are over. */
#include "check/simt/watch_internal.h"

#include <string.h>

enum { FEW_WAITED = 32, MANY_WAITED = 4096, MOST_PIECES = 256 };

/* ---- Flights by their sequence ---- */

TABLE(outstanding, WatchedLaunches, WatchedLaunch, uint32_t, 64, item->sequence, item->sequence, key * 2654435761u,
      item->sequence == key)

static WatchedLaunch *outstanding_add(PtxWatch *watch, uint32_t sequence) {
    WatchedLaunch *outstanding = outstanding_put(&watch->run, &watch->outstanding_ops, sequence);
    WatchCovered *covered = outstanding->covered; /* of one that stood there before: its memory is used again */
    uint32_t capacity = outstanding->covered_capacity;
    *outstanding = (WatchedLaunch){.sequence = sequence, .covered = covered, .covered_capacity = capacity};
    return outstanding;
}

static WatchedWarp *warp_of(PtxWatch *watch, const PtxWarp *warp) {
    WatchedWarp ***warps = &watch->warps[warp->cta->number], **seat;
    if (!*warps)
        *warps = ARENA_ARRAY(&watch->run, WatchedWarp *, watch->cta_warps);
    seat = &(*warps)[warp->index];
    if (!*seat)
        *seat = ARENA_NEW(&watch->run, WatchedWarp);
    return *seat;
}

/* ---- Issue ---- */

static void put_waited(PtxWatch *watch, WatchedWarp *warp, Waited waited) {
    waited.number = warp->waited_number++;
    *ARENA_PUSH(&watch->run, warp->waited, warp->waited_count, warp->waited_capacity) = waited;
}

/* Whether it is one operation of all lanes of the warp. */
static bool is_together(uint8_t group) {
    return group == GROUP_WGMMA || group == GROUP_TENSOR_LOAD || group == GROUP_TENSOR_STORE;
}
/* Whether only a commit says when it is over: those of one thread are done one after the other. */
static bool is_committed(const PtxOutstanding *outstanding) {
    return outstanding->group == GROUP_NONE && outstanding->place == PTX_NO_PLACE;
}

static bool touches_tensor(const PtxOutstanding *outstanding) {
    return outstanding->group == GROUP_TENSOR_LOAD || outstanding->group == GROUP_TENSOR_STORE ||
           is_committed(outstanding);
}

static void take_covered(PtxWatch *watch, WatchedLaunch *outstanding) {
    for (uint32_t i = 0; i < watch->covered_count; i++)
        *ARENA_PUSH(&watch->run, outstanding->covered, outstanding->covered_count, outstanding->covered_capacity) =
            watch->covered[i];
    watch->covered_count = 0;
    watch->arrival = NULL;
}

void watch_issue(PtxWatch *watch, const PtxEvent *event) {
    const PtxOutstanding *outstanding = event->outstanding;
    WatchedLaunch *known = outstanding_add(watch, outstanding->sequence);
    if (watch->arrival == outstanding->code) {
        take_covered(watch, known); /* it touches nothing but the mbarrier */
        return;
    }
    bool together = is_together(outstanding->group), committed = is_committed(outstanding);
    if (watches_tensor(watch) && !touches_tensor(outstanding))
        return;
    WatchedWarp *warp = warp_of(watch, outstanding->warp);
    uint32_t lanes = together ? outstanding->warp->launched & ~outstanding->warp->exited : outstanding->lanes;
    known->operation =
        threads_issue(watch->engine, watch_warp(watch, outstanding->warp), lanes, together,
                      committed ? warp->newest[outstanding->lane] : 0, watch_site(watch, outstanding->code));
    if (committed) {
        warp->newest[outstanding->lane] = known->operation;
        threads_piped(watch->engine, known->operation);
    }
    if (outstanding->group != GROUP_NONE || committed)
        put_waited(watch, warp,
                   (Waited){known->operation, 0, lanes, outstanding->groups, outstanding->group, false, 0});
}

/* ---- What it touches ---- */

void watch_outstanding_access(PtxWatch *watch, const PtxEvent *event) {
    const WatchedLaunch *outstanding = outstanding_find(&watch->outstanding_ops, event->outstanding->sequence);
    bool tensor = event->outstanding->group != GROUP_CP_ASYNC && event->location_count &&
                  event->locations[0].block->space == PTX_SPACE_TENSOR;
    if (!outstanding || !outstanding->operation)
        return;
    if (watch->role == WATCHES_STARTS)
        watch_outstanding_reaches(watch, outstanding->operation, event);
    if (watch->role == WATCHES_STARTS || tensor != watches_tensor(watch))
        return;
    ThreadsAccess access = watch_access(watch, event);
    uint64_t addresses[PTX_LANES];
    if (event->outstanding->group == GROUP_CP_ASYNC) {
        uint32_t warp = watch_warp(watch, event->warp);
        for (uint32_t rest = watch_addresses(watch, event->locations, event->lanes, addresses); rest;) {
            uint32_t bytes = event->sizes ? event->sizes[__builtin_ctz(rest)] : access.bytes, same = 0;
            for (uint32_t more = rest; more; more &= more - 1)
                if (!event->sizes || event->sizes[__builtin_ctz(more)] == bytes)
                    same |= more & -more;
            access.bytes = bytes;
            access.element = 0;
            if (bytes)
                threads_access(watch->engine, outstanding->operation, warp, same, &access, addresses);
            rest &= ~same;
        }
        return;
    }
    ThreadsPiece pieces[MOST_PIECES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < event->location_count; i++) {
        uint64_t bytes = event->sizes ? event->sizes[i] : access.bytes;
        if (watch_addresses(watch, &event->locations[i], 1, addresses) && bytes)
            pieces[count++] = (ThreadsPiece){addresses[0], bytes};
        if (count == MOST_PIECES || i + 1 == event->location_count) {
            threads_pieces(watch->engine, outstanding->operation, &access, pieces, count);
            count = 0;
        }
    }
}

static bool is_beyond(PtxSpan span, PtxSpan other) {
    return other.begin >= span.end || other.end <= span.begin;
}

static void extend(PtxSpan *span, PtxSpan more) {
    span->begin = more.begin < span->begin ? more.begin : span->begin;
    span->end = more.end > span->end ? more.end : span->end;
}

/* Whether it can be told of as the operation of the last copy: nothing has happened since, and they have no place in
 * common. */
static bool goes_on(OpenCopy *open, const OpenCopy *copy) {
    if (!open->operation || open->warp != copy->warp || open->lanes != copy->lanes || open->groups != copy->groups ||
        !is_beyond(open->from, copy->from) || !is_beyond(open->to, copy->to))
        return false;
    extend(&open->from, copy->from);
    extend(&open->to, copy->to);
    return true;
}

bool ptx_watch_copy(PtxWatch *watch, const PtxWarp *from_warp, uint32_t lanes, const PtxCopySide *from,
                    const PtxCopySide *to) {
    WatchedWarp *warp = warp_of(watch, from_warp);
    uint32_t number = watch_warp(watch, from_warp), groups = warp->committed[GROUP_CP_ASYNC][__builtin_ctz(lanes)];
    for (uint32_t rest = warp->apart[GROUP_CP_ASYNC] ? lanes : 0; rest; rest &= rest - 1)
        if (warp->committed[GROUP_CP_ASYNC][__builtin_ctz(rest)] != groups)
            return false;
    OpenCopy copy = {0, number, lanes, groups, from->span, to->span};
    if (goes_on(&watch->open, &copy)) {
        threads_issue_again(watch->engine, watch->open.operation, to->reported->site);
    } else {
        copy.operation = threads_issue(watch->engine, number, lanes, false, 0, to->reported->site);
        watch->open = copy;
        put_waited(watch, warp, (Waited){copy.operation, 0, lanes, groups, GROUP_CP_ASYNC, false, 0});
    }
    uint32_t operation = watch->open.operation;
    if (from->reported)
        threads_access(watch->engine, operation, number, lanes, from->reported, from->addresses);
    threads_access(watch->engine, operation, number, lanes, to->reported, to->addresses);
    watch_take_races(watch, NULL);
    return true;
}

/* ---- That it is over ---- */

static void touch_mbarrier(PtxWatch *watch, uint32_t operation, const PtxEvent *event) {
    ThreadsAccess access = {.kind = KIND_UPDATE,
                            .order = ORDER_RELAXED,
                            .scope = SCOPE_CLUSTER,
                            .element = 8,
                            .object = true,
                            .site = watch_site(watch, event->code)};
    uint64_t place = watch_place(watch, event->place);
    if (watch->role != WATCHES_MEMORY)
        return;
    threads_piece(watch->engine, operation, &access, threads_shared((uint32_t)(place >> 32), (uint32_t)place), 8);
}

void watch_outstanding_done(PtxWatch *watch, const PtxEvent *event) {
    WatchedLaunch *outstanding = outstanding_find(&watch->outstanding_ops, event->outstanding->sequence);
    uint64_t place = watch_place(watch, event->place), object = mbarrier_object(place);
    uint32_t cta = (uint32_t)(place >> 32);
    if (!outstanding)
        return;
    for (uint32_t i = 0; i < outstanding->covered_count; i++) {
        uint32_t lanes = outstanding->covered[i].lanes, here = lanes & event->lanes;
        if (event->group == GROUP_CP_ASYNC) /* each lane arrives for its own copies, some in the next phase, perhaps */
            lanes = here;
        threads_done_by(watch->engine, outstanding->covered[i].operation, THREADS_ALL_DONE, object, cta,
                        here ? lanes : 0);
    }
    /* An MMA comes behind what its thread knew: a thread that waits for its commit may write again what was copied for
     * it. */
    if (outstanding->covered_count && event->group != GROUP_CP_ASYNC) {
        const WatchCovered *last = &outstanding->covered[outstanding->covered_count - 1];
        threads_done_reports(watch->engine, last->operation, object, cta, last->lanes, SCOPE_CLUSTER);
    }
    if (!outstanding->operation)
        return;
    if (watch->role == WATCHES_STARTS) /* it comes from a thread that has begun */
        threads_done_reports(watch->engine, outstanding->operation, object, cta, UINT32_MAX, SCOPE_SYS);
    touch_mbarrier(watch, outstanding->operation, event);
    threads_done_by(watch->engine, outstanding->operation, THREADS_ALL_DONE, object, cta, UINT32_MAX);
}

static bool is_newest(const WatchedWarp *warp, const Waited *waited) {
    return warp->newest[__builtin_ctz(waited->lanes)] == waited->operation;
}

/* What an arrival has covered may be covered by later ones, too, or waited for in another way: it is kept until every
 * thread that may ask knows that it is over; of very many, for a while. The last of those that commits cover is kept,
 * with all before it: the next commit covers it, too. */
static bool is_kept(const PtxWatch *watch, const WatchedWarp *warp, const Waited *waited, bool is_covered, bool look,
                    uint32_t left) {
    if (waited->arrivals || is_newest(warp, waited))
        return true;
    if (is_covered && (waited->group == GROUP_NONE || left > MANY_WAITED))
        return false;
    return !look || waited->group != GROUP_CP_ASYNC || !threads_done_for_all(watch->engine, waited->operation);
}

static void drop_covered(PtxWatch *watch, WatchedWarp *warp, const WatchedLaunch *outstanding) {
    uint32_t left = outstanding->covered_count, kept = 0;
    const WatchCovered *covered = outstanding->covered; /* in the order of their numbers, as those of the warp are */
    bool look = warp->waited_count > warp->look_at;
    for (uint32_t i = 0; i < warp->waited_count; i++) {
        Waited *waited = &warp->waited[i];
        while (left && covered->number < waited->number)
            covered++, left--;
        bool is_covered = left && covered->number == waited->number;
        waited->arrivals -= is_covered;
        if (is_kept(watch, warp, waited, is_covered, look, warp->waited_count - (i - kept)))
            warp->waited[kept++] = *waited;
        else
            threads_close(watch->engine, waited->operation);
    }
    warp->waited_count = kept;
    if (look)
        warp->look_at = 2 * kept + FEW_WAITED;
}

void watch_land(PtxWatch *watch, const PtxEvent *event) {
    const PtxOutstanding *landed = event->outstanding;
    WatchedLaunch *outstanding = outstanding_find(&watch->outstanding_ops, landed->sequence);
    if (!outstanding)
        return;
    if (outstanding->covered_count)
        drop_covered(watch, warp_of(watch, landed->warp), outstanding);
    if (outstanding->operation && landed->group == GROUP_NONE && !is_committed(landed))
        threads_close(watch->engine, outstanding->operation);
    outstanding_remove(&watch->outstanding_ops, landed->sequence)->sequence = 0;
}

/* ---- Groups ---- */

void watch_commit(PtxWatch *watch, const PtxEvent *event) {
    WatchedWarp *warp = warp_of(watch, event->warp);
    uint32_t lanes = event->group == GROUP_WGMMA ? 1 : event->lanes;
    warp->apart[event->group] |= lanes != UINT32_MAX;
    for (; lanes; lanes &= lanes - 1)
        warp->committed[event->group][__builtin_ctz(lanes)]++;
}

/* Lanes of those that wait which have it in a group that is over. */
static uint32_t lanes_over(const WatchedWarp *warp, const Waited *waited, const PtxEvent *event) {
    uint32_t over = 0;
    if (waited->group != event->group)
        return 0;
    if (waited->group == GROUP_WGMMA)
        return waited->groups + event->count < warp->committed[GROUP_WGMMA][0] ? event->lanes : 0;
    if (is_together(waited->group))
        return event->lanes;
    if (!warp->apart[waited->group])
        return waited->groups + event->count < warp->committed[waited->group][0] ? waited->lanes & event->lanes : 0;
    for (uint32_t rest = waited->lanes & event->lanes; rest; rest &= rest - 1)
        if (waited->groups + event->count < warp->committed[waited->group][__builtin_ctz(rest)])
            over |= rest & -rest;
    return over;
}

void watch_await(PtxWatch *watch, const PtxEvent *event) {
    WatchedWarp *warp = warp_of(watch, event->warp);
    uint32_t number = watch_warp(watch, event->warp), kept = 0;
    for (uint32_t i = 0; i < warp->waited_count; i++) {
        Waited *waited = &warp->waited[i];
        uint32_t over = lanes_over(warp, waited, event);
        if (over && !(event->read_only && waited->sources_known)) {
            threads_done(watch->engine, waited->operation, event->read_only ? THREADS_READS_DONE : THREADS_ALL_DONE,
                         number, over, !is_together(waited->group));
            waited->sources_known = event->read_only;
        }
        if (over && !event->read_only)
            waited->lanes &= ~over;
        if (waited->lanes)
            warp->waited[kept++] = *waited;
        else
            threads_close(watch->engine, waited->operation);
    }
    warp->waited_count = kept;
}

void watch_pipe(PtxWatch *watch, const PtxEvent *event) {
    const WatchedWarp *warp = warp_of(watch, event->warp);
    for (uint32_t i = 0; event->order == ORDER_RELEASE && i < warp->waited_count; i++)
        if (warp->waited[i].group == GROUP_NONE && warp->waited[i].lanes & event->lanes)
            threads_done(watch->engine, warp->waited[i].operation, THREADS_IN_ORDER, watch_warp(watch, event->warp),
                         warp->waited[i].lanes & event->lanes, true);
}

/* ---- Arrivals that come when others are over ---- */

void watch_arrival(PtxWatch *watch, const PtxEvent *event) {
    WatchedWarp *warp = warp_of(watch, event->warp);
    bool copies = event->kind == PTX_EVENT_TRACK;
    if (watch->arrival == event->code)
        return; /* the same commit, at another CTA's mbarrier */
    watch->arrival = event->code;
    watch->covered_count = 0;
    for (uint32_t i = 0; i < warp->waited_count; i++) {
        Waited *waited = &warp->waited[i];
        uint32_t lanes = waited->lanes & event->lanes;
        if (!lanes || waited->group != (copies ? GROUP_CP_ASYNC : GROUP_NONE))
            continue;
        waited->arrivals++;
        *ARENA_PUSH(&watch->run, watch->covered, watch->covered_count, watch->covered_capacity) =
            (WatchCovered){waited->operation, waited->number, lanes};
    }
}

void watch_cta_over(PtxWatch *watch, uint32_t cta) {
    for (uint32_t i = 0; watch->warps[cta] && i < watch->cta_warps; i++) {
        const WatchedWarp *warp = watch->warps[cta][i];
        for (uint32_t j = 0; warp && j < warp->waited_count; j++)
            threads_close(watch->engine, warp->waited[j].operation);
    }
    watch->warps[cta] = NULL;
}
