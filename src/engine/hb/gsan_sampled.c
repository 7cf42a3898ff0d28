/* The sampled mode: cells of fixed size, and threads that are few, as the multiprocessors of a device are.
 *
 * A thread runs one CTA after the other; its epochs go on. Each has a clock with an entry for every thread, and a ring
 * of the clocks that its releases have published. Whatever does not fit is decided so that no race is made up: where a
 * cell cannot tell who released what, more is taken to be ordered than the exact mode does.
 *
 * An asynchronous access is judged when it is issued, and again when it is over, for what came in between; it is
 * recorded when it is over. */
#include "engine/clock/vector.h"
#include "engine/hb/gsan_internal.h"
#include "engine/shadow/gsan_cell.h"

#include <string.h>

/* The entry of a thread in its own clock is the last epoch of its earlier CTAs that is before it. */
struct GsanSampledLane {
    uint16_t *clock;
    uint16_t *fence; /* what the last fence has closed; its scope is `fence_scope` */
    Scope fence_scope;
    uint16_t *observed[SCOPES]; /* what an acquire fence of that scope, or of a wider one, would bring */
    bool has_fence, has_observed[SCOPES];
    uint32_t asked; /* numbers that it has drawn */
};

struct GsanSampledLanes {
    CellThreads threads;
    struct GsanSampledLane *lanes;
    uint16_t *scratch;
    size_t cell_bytes;
    uint32_t page_cells;
    uint32_t *next; /* of each device, the thread to look at first for the next CTA */
};

/* ---- Memory ---- */

/* Sizes that are no powers of two, and are never given back. */
static void *take_large(Gsan *gsan, size_t size) {
    gsan->pool.used += size;
    return arena_zalloc(&gsan->pool.arena, size);
}

static uint16_t *new_vector(Gsan *gsan) {
    return gsan_pool_take(&gsan->pool, gsan->lanes->threads.count * sizeof(uint16_t));
}

static void give_vector(Gsan *gsan, uint16_t *vector) {
    gsan_pool_give(&gsan->pool, vector, gsan->lanes->threads.count * sizeof(uint16_t));
}

static void sampled_create(Gsan *gsan) {
    struct GsanSampledLanes *lanes = gsan->lanes = POOL_NEW(&gsan->pool, struct GsanSampledLanes);
    CellThreads *threads = &lanes->threads;
    threads->per_device = gsan->options.threads_per_device;
    threads->count = gsan->options.devices * threads->per_device;
    threads->ring = gsan->options.ring;
    size_t count = threads->count, clocks = count * threads->ring;
    threads->clocks = take_large(gsan, clocks * count * sizeof *threads->clocks);
    threads->entries = take_large(gsan, clocks * sizeof *threads->entries);
    threads->tokens = take_large(gsan, count * sizeof *threads->tokens);
    threads->begun = take_large(gsan, count * sizeof *threads->begun);
    threads->clusters = take_large(gsan, count * sizeof *threads->clusters);
    lanes->lanes = take_large(gsan, count * sizeof *lanes->lanes);
    lanes->next = take_large(gsan, gsan->options.devices * sizeof *lanes->next);
    lanes->scratch = new_vector(gsan);
    lanes->cell_bytes = cell_size(gsan->options.slots);
    lanes->page_cells = PAGE_BYTES / gsan->options.granule;
    for (size_t i = 0; i < count; i++) {
        lanes->lanes[i].clock = new_vector(gsan);
        gsan_new_thread(gsan)->lane = &lanes->lanes[i];
    }
}

/* ---- Clocks ---- */

/* Of its own thread, only what earlier CTAs did can be news. */
static void join(Gsan *gsan, Thread *thread, const uint16_t *vector) {
    const CellThreads *threads = &gsan->lanes->threads;
    uint16_t *clock = thread->lane->clock, before = clock[thread->number];
    uint16_t news = vector[thread->number], most = (uint16_t)(threads->begun[thread->number] - 1);
    news = news < most ? news : most;
    vector16_join(clock, vector, threads->count);
    clock[thread->number] = news > before ? news : before;
}

/* The thread's clock with its own epochs up to one. */
static void snapshot(Gsan *gsan, const Thread *thread, uint32_t epoch, uint16_t *to) {
    memcpy(to, thread->lane->clock, gsan->lanes->threads.count * sizeof *to);
    to[thread->number] = (uint16_t)epoch;
}

static CellView view_of(const Gsan *gsan, const GsanAccess *access) {
    const Thread *thread = access->thread;
    const uint16_t *clock = access->ticket ? access->ticket->vector : thread->lane->clock;
    return (CellView){.threads = &gsan->lanes->threads,
                      .clock = clock,
                      .thread = thread->number,
                      .own = (uint16_t)access->own,
                      .before = clock[thread->number],
                      .scope = (uint8_t)access->scope};
}

/* ---- Races ---- */

static void note(Gsan *gsan, GsanAccess *access, CellClock clock, bool was_read, uint64_t begin) {
    const CellThreads *threads = &gsan->lanes->threads;
    uint64_t end = begin + gsan->options.granule;
    if (cell_is_lost(threads, clock)) {
        gsan_set_trouble(gsan, GSAN_RING_OVERWRITTEN, access->thread);
        return;
    }
    CellView view = view_of(gsan, access);
    uint32_t needed = cell_needed(&view, clock), scope = cell_scope(clock);
    const Thread *thread = gsan->threads[cell_thread(clock)];
    bool is_current = cell_time(threads, clock) >= threads->begun[thread->number];
    GsanRace race = {.begin = begin,
                     .end = end,
                     .reason = access->scope && scope ? GSAN_NARROW : GSAN_UNORDERED,
                     .needed = (Scope)needed,
                     .released_site = NO_SITE,
                     .acquired_site = NO_SITE};
    race.earlier = (GsanActor){.thread = thread->number,
                               .launch = is_current ? thread->launch : UINT32_MAX,
                               .cta = is_current ? thread->cta : UINT32_MAX,
                               .site = NO_SITE,
                               .kind = was_read ? KIND_READ : KIND_WRITE,
                               .order = !scope                   ? ORDER_WEAK
                                        : cell_is_release(clock) ? ORDER_RELEASE
                                                                 : ORDER_RELAXED,
                               .scope = (Scope)scope};
    gsan_note(gsan, access, &race, 0);
}

/* ---- Releases ---- */

/* The clock that a release has published; if it has left the ring, one that has all of it. */
static const uint16_t *released(Gsan *gsan, const Thread *reader, CellClock clock, uint16_t *scratch) {
    const CellThreads *threads = &gsan->lanes->threads;
    const Thread *writer = gsan->threads[cell_thread(clock)];
    if (!cell_is_lost(threads, clock))
        return cell_row(threads, writer->number, cell_epoch(clock));
    gsan_set_trouble(gsan, GSAN_RING_OVERWRITTEN, reader);
    snapshot(gsan, writer, writer->epoch, scratch);
    return scratch;
}

static CellEntry entry_of(const CellThreads *threads, CellClock clock) {
    if (cell_is_lost(threads, clock))
        return (CellEntry){.scope = SCOPE_SYS, .inherited = true};
    return *cell_entry(threads, cell_thread(clock), cell_epoch(clock));
}

/* For the next acquire fence of that scope, or of a wider one. */
static void keep_for_fence(Gsan *gsan, struct GsanSampledLane *lane, uint32_t scope, const uint16_t *vector) {
    if (!lane->observed[scope])
        lane->observed[scope] = new_vector(gsan);
    vector16_join(lane->observed[scope], vector, gsan->lanes->threads.count);
    lane->has_observed[scope] = true;
}

/* What a strong read gets from the write that it reads. */
static void read_release(Gsan *gsan, GsanAccess *access, const CellView *view, CellClock write) {
    Thread *thread = access->thread;
    uint32_t needed = cell_needed(view, write);
    if (!cell_is_release(write) || !cell_links(view, write) || entry_of(view->threads, write).scope < needed)
        return;
    const uint16_t *vector = released(gsan, thread, write, gsan->lanes->scratch);
    if (gsan_acquires(access)) {
        join(gsan, thread, vector);
        return;
    }
    keep_for_fence(gsan, thread->lane, needed, vector);
}

/* Whether a strong write passes on what the write before it has released: an update does; a store if its own thread is
 * among those that released, as far as the clock tells. */
static bool inherits(const GsanAccess *access, const CellView *view, CellClock before) {
    const CellThreads *threads = view->threads;
    if (!cell_is_release(before))
        return false;
    if (access->kind == KIND_UPDATE)
        return cell_links(view, before);
    if (gsan_releases(access) || cell_is_lost(threads, before))
        return !gsan_releases(access);
    uint32_t writer = cell_thread(before);
    return writer == view->thread ||
           (entry_of(threads, before).inherited &&
            cell_row(threads, writer, cell_epoch(before))[view->thread] >= threads->begun[view->thread]);
}

/* Takes the next token for what is in `vector`. */
static CellClock publish(Gsan *gsan, GsanAccess *access, const uint16_t *vector, CellEntry entry) {
    CellThreads *threads = &gsan->lanes->threads;
    uint32_t thread = access->thread->number;
    if (threads->tokens[thread] == UINT16_MAX) {
        gsan_set_trouble(gsan, GSAN_TOKEN_OVERFLOW, access->thread);
        return cell_clock(access->epoch, thread, access->scope, false);
    }
    uint32_t token = ++threads->tokens[thread];
    memcpy(cell_row(threads, thread, token), vector, threads->count * sizeof *vector);
    threads->entries[(size_t)thread * threads->ring + token % threads->ring] = entry;
    return cell_clock(token, thread, access->scope, true);
}

static CellClock strong_write(Gsan *gsan, GsanAccess *access, const CellView *view, CellClock before) {
    const CellThreads *threads = view->threads;
    struct GsanSampledLane *lane = access->thread->lane;
    bool releases = gsan_releases(access), passes_on = inherits(access, view, before);
    if (!releases && !lane->has_fence && !passes_on)
        return cell_clock(access->epoch, view->thread, access->scope, false);
    CellEntry entry = {.epoch = (uint16_t)access->epoch};
    uint16_t *mine = new_vector(gsan);
    if (releases) {
        snapshot(gsan, access->thread, access->epoch, mine);
        entry.scope = (uint8_t)access->scope;
    } else if (lane->has_fence) {
        memcpy(mine, lane->fence, threads->count * sizeof *mine);
        entry.scope = (uint8_t)gsan_narrower(lane->fence_scope, access->scope);
    }
    if (passes_on) {
        const uint16_t *theirs = released(gsan, access->thread, before, gsan->lanes->scratch);
        CellEntry old = entry_of(threads, before);
        if (releases && cell_scope(before) != (uint32_t)access->scope &&
            !vector16_includes(mine, theirs, threads->count))
            gsan_set_trouble(gsan, GSAN_MIXED_SCOPES, access->thread);
        vector16_join(mine, theirs, threads->count);
        entry.inherited = old.inherited || cell_thread(before) != view->thread;
        entry.scope = entry.inherited ? SCOPE_SYS : entry.scope > old.scope ? entry.scope : old.scope;
    }
    CellClock clock = publish(gsan, access, mine, entry);
    give_vector(gsan, mine);
    return clock;
}

/* ---- Cells ---- */

static char *cells_of(Gsan *gsan, uint64_t address) {
    Page *page = gsan_page(&gsan->pages, address >> PAGE_SHIFT);
    size_t bytes = gsan->lanes->cell_bytes * gsan->lanes->page_cells;
    if (!page->cells) {
        page->cells = take_large(gsan, bytes);
        gsan->shadow_bytes += bytes;
    }
    return (char *)page->cells + (address & (PAGE_BYTES - 1)) / gsan->options.granule * gsan->lanes->cell_bytes;
}

/* Cells from an address on, up to the end of the range or of the page. */
typedef struct GsanSampledRow {
    char *cells;
    uint32_t count;
    uint64_t begin, end;
} GsanSampledRow;

static GsanSampledRow row_at(Gsan *gsan, uint64_t begin, uint64_t end) {
    uint64_t left = PAGE_BYTES - (begin & (PAGE_BYTES - 1)), stop = end - begin > left ? begin + left : end;
    uint32_t count = (uint32_t)((stop - begin + gsan->options.granule - 1) / gsan->options.granule);
    return (GsanSampledRow){cells_of(gsan, begin), count, begin, stop};
}

static void access_weak(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view) {
    uint32_t slots = gsan->options.slots;
    CellClock clock = cell_clock(access->epoch, view->thread, 0, false), race = 0;
    bool was_read = false, reads = access->kind == KIND_READ;
    size_t size = gsan->lanes->cell_bytes;
    for (uint32_t i = 0; i < row->count; i++) {
        char *cells = row->cells + size * i;
        i += reads ? gsan_cells_read(cells, row->count - i, slots, view, clock, gsan->options.seed,
                                     &access->thread->lane->asked, &race)
                   : gsan_cells_write(cells, row->count - i, slots, view, clock, &race, &was_read);
        if (race)
            note(gsan, access, race, was_read, row->begin + (uint64_t)i * gsan->options.granule);
    }
}

static void judge(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view) {
    for (uint32_t i = 0; i < row->count; i++) {
        const GsanCell *cell = (GsanCell *)(void *)(row->cells + gsan->lanes->cell_bytes * i);
        CellClock reader = access->kind == KIND_READ ? 0 : cell_judge_readers(cell, gsan->options.slots, view);
        CellClock race = reader ? reader : cell_judge_read(cell, gsan->options.slots, view);
        if (race)
            note(gsan, access, race, reader != 0, row->begin + (uint64_t)i * gsan->options.granule);
    }
}

/* An update is no reader: the next one, which takes its place, has observed it. Neighbors mostly have the same write.
 */
static void record(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view) {
    CellClock before = 0, after = 0, read = cell_clock(access->epoch, view->thread, access->scope, false);
    uint32_t slots = gsan->options.slots;
    for (uint32_t i = 0; i < row->count; i++) {
        GsanCell *cell = (GsanCell *)(void *)(row->cells + gsan->lanes->cell_bytes * i);
        if (access->kind == KIND_READ) {
            cell_record_read(cell, slots, view, read,
                             cell_random(gsan->options.seed, view->thread, access->thread->lane->asked++));
            cell_observe(cell, view);
            continue;
        }
        if (!after || cell->write != before) {
            before = cell->write;
            after = access->scope ? strong_write(gsan, access, view, before) : read;
        }
        cell_record_write(cell, slots, view, after);
    }
}

static void read_releases(Gsan *gsan, GsanAccess *access) {
    for (uint64_t at = access->begin; at < access->end; at += gsan->options.granule) {
        CellView view = view_of(gsan, access);
        read_release(gsan, access, &view, ((const GsanCell *)(void *)cells_of(gsan, at))->write);
    }
}

/* ---- Accesses ---- */

typedef void OnRow(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view);

static void for_rows(Gsan *gsan, GsanAccess *access, OnRow *on_row) {
    CellView view = view_of(gsan, access);
    for (uint64_t at = access->begin; at < access->end;) {
        GsanSampledRow row = row_at(gsan, at, access->end);
        on_row(gsan, access, &row, &view);
        at = row.end;
    }
}

static void promise(Gsan *gsan, const GsanAccess *access) {
    Promised *promised = POOL_NEW(&gsan->pool, Promised);
    *promised = (Promised){.begin = access->begin,
                           .end = access->end,
                           .site = access->site,
                           .kind = access->kind,
                           .order = access->order,
                           .scope = access->scope,
                           .next = access->ticket->promised};
    access->ticket->promised = promised;
    access->ticket->is_write |= access->kind != KIND_READ;
}

/* A strong write is part of a release sequence as soon as it is issued. */
static void access_asynchronously(Gsan *gsan, GsanAccess *access) {
    for_rows(gsan, access, judge);
    promise(gsan, access);
    access->epoch = access->ticket->epoch;
    if (gsan_is_strong(access->order) && access->kind != KIND_READ)
        for_rows(gsan, access, record);
}

static void sampled_access(Gsan *gsan, GsanAccess *access) {
    if (access->ticket) {
        access_asynchronously(gsan, access);
    } else if (!gsan_is_strong(access->order)) {
        for_rows(gsan, access, access_weak);
    } else {
        if (access->kind != KIND_WRITE)
            read_releases(gsan, access);
        for_rows(gsan, access, judge);
        for_rows(gsan, access, record);
    }
}

static void sampled_issue(Gsan *gsan, Ticket *ticket) {
    ticket->vector = new_vector(gsan);
    snapshot(gsan, ticket->thread, ticket->thread->lane->clock[ticket->thread->number], ticket->vector);
}

static void know(Thread *thread, uint32_t other, uint32_t epoch) {
    uint16_t *known = &thread->lane->clock[other];
    *known = *known < epoch ? (uint16_t)epoch : *known;
}

static GsanAccess promised_access(Ticket *ticket, const Promised *promised) {
    return (GsanAccess){.thread = ticket->thread,
                        .ticket = ticket,
                        .site = promised->site,
                        .kind = promised->kind,
                        .order = promised->order,
                        .scope = promised->scope,
                        .begin = promised->begin,
                        .end = promised->end,
                        .own = ticket->epoch};
}

/* Whose access it is when it is over: that of who waited for it. But scopes are judged from where it was issued, so a
 * strong one stays with its thread, and who waited gets what that one did until now. */
static Thread *owner_of(Gsan *gsan, Ticket *ticket, const Promised *promised, Thread *waiter) {
    Thread *issuer = ticket->thread;
    if (issuer == waiter || !gsan_is_strong(promised->order))
        return waiter;
    gsan_touch(gsan, issuer, true);
    ticket->strong_epoch = issuer->epoch;
    know(waiter, issuer->number, issuer->epoch);
    return issuer;
}

/* Whether a cell still has the strong write that a ticket has made. */
static bool is_of_ticket(const CellView *view, CellClock write, const Ticket *ticket) {
    return cell_scope(write) && cell_thread(write) == ticket->thread->number &&
           cell_time(view->threads, write) == ticket->epoch;
}

/* A strong write that is over, for what came in between. Who has taken its place, or has read it, may have ordered the
 * others after it. */
static void judge_written(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view) {
    for (uint32_t i = 0; i < row->count; i++) {
        const GsanCell *cell = (GsanCell *)(void *)(row->cells + gsan->lanes->cell_bytes * i);
        if (!is_of_ticket(view, cell->write, access->ticket) || cell_is_observed(cell->write))
            continue;
        CellClock race = cell_judge_readers(cell, gsan->options.slots, view);
        if (race)
            note(gsan, access, race, true, row->begin + (uint64_t)i * gsan->options.granule);
    }
}

static void record_written(Gsan *gsan, GsanAccess *access, const GsanSampledRow *row, const CellView *view) {
    for (uint32_t i = 0; i < row->count; i++) {
        GsanCell *cell = (GsanCell *)(void *)(row->cells + gsan->lanes->cell_bytes * i);
        if (!is_of_ticket(view, cell->write, access->ticket))
            continue;
        bool was_observed = cell_is_observed(cell->write);
        cell->write = strong_write(gsan, access, view, cell->write);
        cell->write += was_observed ? (uint32_t)CELL_OBSERVED << CELL_SCOPE : 0;
    }
}

static bool is_strong_write(const GsanAccess *access) {
    return gsan_is_strong(access->order) && access->kind != KIND_READ;
}

/* All that it promised is judged before any of it is recorded: it does not race with itself. */
static void complete_first(Gsan *gsan, Ticket *ticket, Thread *thread) {
    for (const Promised *promised = ticket->promised; promised; promised = promised->next) {
        GsanAccess access = promised_access(ticket, promised);
        for_rows(gsan, &access, is_strong_write(&access) ? judge_written : judge);
        gsan_report(gsan, &access);
    }
    gsan_touch(gsan, thread, ticket->is_write);
    for (Promised *promised = ticket->promised, *next; promised; promised = next) {
        GsanAccess access = promised_access(ticket, promised);
        access.thread = owner_of(gsan, ticket, promised, thread);
        access.ticket = is_strong_write(&access) ? ticket : NULL;
        access.own = access.epoch = access.thread->epoch;
        for_rows(gsan, &access, is_strong_write(&access) ? record_written : record);
        next = promised->next;
        gsan_pool_give(&gsan->pool, promised, sizeof *promised);
    }
    give_vector(gsan, ticket->vector);
    ticket->promised = NULL;
    ticket->vector = NULL;
    ticket->done = true;
    ticket->completion = (Completion){thread, thread->epoch, NULL};
}

/* Who waits for it after another one gets what that one did until then: a cell names one thread only. */
static void sampled_complete(Gsan *gsan, Ticket *ticket, Thread *thread) {
    if (!ticket->done) {
        complete_first(gsan, ticket, thread);
        return;
    }
    if (ticket->completion.thread != thread)
        know(thread, ticket->completion.thread->number, ticket->completion.epoch);
    if (ticket->thread != thread)
        know(thread, ticket->thread->number, ticket->strong_epoch);
}

/* What is in flight does not come to memory that is gone. */
static void forget_promised(Gsan *gsan, Promised *promised, uint64_t begin, uint64_t end) {
    for (; promised; promised = promised->next) {
        if (promised->end <= begin || promised->begin >= end)
            continue;
        if (promised->begin < begin && promised->end > end) {
            Promised *rest = POOL_NEW(&gsan->pool, Promised);
            *rest = *promised;
            rest->begin = end;
            promised->next = rest;
        }
        if (promised->begin < begin)
            promised->end = begin;
        else
            promised->begin = promised->end < end ? promised->end : end;
    }
}

static void sampled_forget(Gsan *gsan, uint64_t begin, uint64_t end) {
    for (uint32_t i = 0; i < gsan->thread_count; i++)
        for (const Ticket *ticket = gsan->threads[i]->tickets; ticket; ticket = ticket->next)
            forget_promised(gsan, ticket->promised, begin, end);
    uint64_t granule = gsan->options.granule, size = gsan->lanes->cell_bytes;
    for (uint32_t i = 0; i < gsan->pages.table.capacity; i++) {
        Page *page = gsan->pages.table.items[i];
        uint64_t from = page ? page->number << PAGE_SHIFT : 0, last = from + PAGE_BYTES - 1;
        if (!page || !page->cells || last < begin || from >= end)
            continue;
        uint64_t first = from > begin ? 0 : begin - from, stop = last < end ? PAGE_BYTES : end - from;
        first = first / granule;
        stop = (stop + granule - 1) / granule;
        memset((char *)page->cells + first * size, 0, (stop - first) * size);
    }
}

/* ---- Launches and threads ---- */

static void sampled_launch(Gsan *gsan, HbGsanLaunch *launch, const GsanLaunch *from) {
    (void)from;
    launch->end_clock = new_vector(gsan);
}

static void join_ends(Gsan *gsan, const LaunchSet *launches, uint16_t *into) {
    for (uint32_t i = 0; i < gsan->launch_count; i++)
        if (gsan_launches_has(launches, i))
            vector16_join(into, gsan->launches[i].end_clock, gsan->lanes->threads.count);
}

/* They take turns: the later a thread is used again, the less is confused. */
static Thread *sampled_thread(Gsan *gsan, const HbGsanLaunch *launch) {
    if (launch->device >= gsan->options.devices)
        return NULL;
    uint32_t count = gsan->lanes->threads.per_device, *next = &gsan->lanes->next[launch->device];
    for (uint32_t i = 0; i < count; i++) {
        Thread *thread = gsan->threads[launch->device * count + (*next + i) % count];
        if (!thread->alive) {
            *next = (*next + i + 1) % count;
            return thread;
        }
    }
    return NULL;
}

static void sampled_begin(Gsan *gsan, Thread *thread) {
    CellThreads *threads = &gsan->lanes->threads;
    HbGsanLaunch *launch = &gsan->launches[thread->launch];
    struct GsanSampledLane *lane = thread->lane;
    if (!launch->begin_clock) {
        launch->begin_clock = new_vector(gsan);
        join_ends(gsan, launch->before, launch->begin_clock);
    }
    thread->dirty = true;
    gsan_close(gsan, thread);
    threads->begun[thread->number] = (uint16_t)thread->epoch;
    threads->clusters[thread->number] = (uint64_t)thread->launch << 32 | thread->cluster;
    memcpy(lane->clock, launch->begin_clock, threads->count * sizeof *lane->clock);
    thread->published = lane->clock[thread->number];
    lane->has_fence = false;
    memset(lane->has_observed, 0, sizeof lane->has_observed);
    for (unsigned i = 0; i < SCOPES; i++)
        if (lane->observed[i])
            memset(lane->observed[i], 0, threads->count * sizeof *lane->observed[i]);
}

static void sampled_end(Gsan *gsan, Thread *thread) {
    uint16_t *end = gsan->launches[thread->launch].end_clock;
    vector16_join(end, thread->lane->clock, gsan->lanes->threads.count);
    end[thread->number] = (uint16_t)thread->epoch;
    for (Ticket *ticket = thread->tickets, *next; ticket; ticket = next) {
        next = ticket->next;
        gsan->tickets[ticket->number - 1] = NULL;
        gsan_pool_give(&gsan->pool, ticket, sizeof *ticket);
    }
    thread->tickets = NULL;
}

static void sampled_await(Gsan *gsan, Thread *thread) {
    uint16_t *ends = new_vector(gsan);
    join_ends(gsan, gsan->launches[thread->launch].awaited, ends);
    join(gsan, thread, ends);
    give_vector(gsan, ends);
}

/* ---- Fences and barriers ---- */

static void sampled_acquire_fence(Gsan *gsan, Thread *thread, Scope scope) {
    struct GsanSampledLane *lane = thread->lane;
    for (uint32_t i = SCOPE_CTA; i <= (uint32_t)scope; i++)
        if (lane->has_observed[i]) {
            join(gsan, thread, lane->observed[i]);
            memset(lane->observed[i], 0, gsan->lanes->threads.count * sizeof *lane->observed[i]);
            lane->has_observed[i] = false;
        }
}

/* A fence after a wider one takes that one's scope, since there is room for one. */
static void sampled_release_fence(Gsan *gsan, Thread *thread, Scope scope) {
    struct GsanSampledLane *lane = thread->lane;
    if (!lane->fence)
        lane->fence = new_vector(gsan);
    snapshot(gsan, thread, gsan_close(gsan, thread), lane->fence);
    lane->fence_scope = lane->has_fence && lane->fence_scope > scope ? lane->fence_scope : scope;
    lane->has_fence = true;
}

static void publish_vector(Gsan *gsan, uint16_t **to, const uint16_t *vector) {
    if (!*to)
        *to = new_vector(gsan);
    vector16_join(*to, vector, gsan->lanes->threads.count);
}

static void sampled_publish(Gsan *gsan, Thread *thread, Shared *shared, GsanExtent extent) {
    const struct GsanSampledLane *lane = thread->lane;
    if (extent != GSAN_FENCED) {
        snapshot(gsan, thread, thread->published, gsan->lanes->scratch);
        publish_vector(gsan, &shared->vector, gsan->lanes->scratch);
    } else if (lane->has_fence && lane->fence_scope >= SCOPE_CLUSTER) {
        publish_vector(gsan, &shared->vector, lane->fence);
    }
}

static void sampled_acquire(Gsan *gsan, Thread *thread, const Shared *shared) {
    if (shared->vector)
        join(gsan, thread, shared->vector);
}

static void sampled_retire(Gsan *gsan, Shared *shared) {
    give_vector(gsan, shared->vector);
    shared->vector = NULL;
}

const struct GsanModeCalls gsan_sampled_mode = {
    .create = sampled_create,
    .launch = sampled_launch,
    .thread = sampled_thread,
    .begin = sampled_begin,
    .end = sampled_end,
    .await = sampled_await,
    .access = sampled_access,
    .issue = sampled_issue,
    .complete = sampled_complete,
    .forget = sampled_forget,
    .acquire_fence = sampled_acquire_fence,
    .release_fence = sampled_release_fence,
    .publish = sampled_publish,
    .acquire = sampled_acquire,
    .retire = sampled_retire,
};
