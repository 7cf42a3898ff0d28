/* Asynchronous operations: what they know when they begin, and who knows that they are over. */
#include "engine/hb/threads_internal.h"

typedef struct Issue {
    ThreadsOperation *operation;
    uint32_t capacity;
    bool keyed; /* lanes have something behind keys of their own */
} Issue;

static void put_part(Threads *threads, Issue *issue, uint32_t lanes, uint32_t epoch, ThreadsClock *clock) {
    ThreadsOperation *operation = issue->operation;
    if (!operation->parts) { /* most have one */
        operation->parts = POOL_NEW(&threads->pool, ThreadsPart);
        issue->capacity = 1;
    }
    *THREADS_PUSH(threads, operation->parts, operation->part_count, issue->capacity) =
        (ThreadsPart){lanes, epoch, clock};
}

static void issue_each(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    Issue *issue = context;
    if (!issue->keyed && lanes & (lanes - 1))
        put_part(threads, issue, lanes, view->now, threads_clock_share(view->clock));
    else
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            put_part(threads, issue, rest & -rest, view->now, threads_export(threads, number, view, rest & -rest));
    view_tick(view);
}

static void issue_together(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    ThreadsPart *part = context;
    ThreadsClock *reported = threads_export(threads, number, view, lanes);
    threads_clock_join(threads, &part->clock, number / threads->cta_warps, reported);
    threads_clock_drop(threads, reported);
    view_tick(view);
}

/* What is before an operation is before one that comes after it. */
static void take_over(Threads *threads, ThreadsOperation *operation, const ThreadsOperation *earlier) {
    for (uint32_t i = 0; i < operation->part_count; i++)
        for (uint32_t j = 0; j < earlier->part_count; j++) {
            const ThreadsPart *from = &earlier->parts[j];
            ThreadsClock **to = &operation->parts[i].clock;
            if (from->clock)
                threads_clock_join(threads, to, operation->cta, from->clock);
            threads_clock_raise(threads, to, operation->cta, earlier->cta,
                                (ClockRun){earlier->warp, from->lanes, from->epoch});
        }
}

uint32_t threads_issue(Threads *threads, uint32_t number, uint32_t lanes, bool together, uint32_t after,
                       uint32_t site) {
    ENTER(threads, 0);
    Cta *cta = threads_cta(threads, number / threads->cta_warps);
    Warp *warp = threads_warp(threads, number);
    uint32_t index = store_take(threads, &threads->operations);
    ThreadsOperation *operation = operation_at(threads, index);
    *operation = (ThreadsOperation){
        .cta = number / threads->cta_warps,
        .warp = number % threads->cta_warps,
        .lanes = lanes,
        .site = site,
        .after = after,
        .depth = after ? operation_at(threads, after)->depth + 1 : 0,
        .chain = after ? operation_at(threads, after)->chain : ++threads->chains,
        .next = cta->operations,
        .listed = true,
    };
    cta->operations = index;
    Issue issue = {.operation = operation};
    for (const Note *note = warp->notes; note; note = note->next)
        issue.keyed |= note->kind == NOTE_OWN && note->lanes & lanes;
    if (together) {
        ThreadsPart part = {.lanes = lanes};
        threads_views(threads, number, lanes, true, issue_together, &part);
        put_part(threads, &issue, lanes, 0, part.clock);
    } else {
        threads_views(threads, number, lanes, true, issue_each, &issue);
    }
    operation->part_capacity = issue.capacity;
    if (after)
        take_over(threads, operation, operation_at(threads, after));
    threads_views_merge(threads, warp);
    return index;
}

void threads_issue_again(Threads *threads, uint32_t index, uint32_t site) {
    ENTER(threads);
    ThreadsOperation *operation = operation_at(threads, index);
    Earlier *earlier = POOL_NEW(&threads->pool, Earlier);
    *earlier = (Earlier){operation->earlier, operation->site, operation->first, operation->first_address};
    operation->earlier = earlier;
    operation->first = (ThreadsAccess){0};
    operation->site = site;
}

const ThreadsPart *threads_operation_part(const ThreadsOperation *operation, uint32_t lane) {
    for (uint32_t i = 0; i < operation->part_count; i++)
        if (operation->parts[i].lanes >> lane & 1)
            return &operation->parts[i];
    return &operation->parts[0];
}

/* Whether everything that knows `done` knows the other one, and that it says as much. */
static bool says_more(const Completion *other, const Completion *done) {
    return other->cta == done->cta && other->warp == done->warp && !(done->lanes & ~other->lanes) &&
           other->epoch <= done->epoch && !(done->part & ~other->part) && other->own == done->own &&
           other->reads_only <= done->reads_only && other->in_order == done->in_order;
}

/* Those that it comes after are over, too: it began when they were. */
static void complete(Threads *threads, uint32_t index, Completion done) {
    while (index) {
        ThreadsOperation *operation = operation_at(threads, index);
        for (const Completion *other = operation->completions; other; other = other->next)
            if (says_more(other, &done))
                return;
        done.next = operation->completions;
        operation->completions = POOL_NEW(&threads->pool, Completion);
        *operation->completions = done;
        threads->done_abroad |= done.cta / threads->shape.cluster != operation->cta / threads->shape.cluster;
        index = operation->after;
        done.part = UINT32_MAX;
        done.own = done.reads_only = false;
    }
}

typedef struct Done {
    uint32_t operation;
    ThreadsDone done;
    bool own;
} Done;

static void put_done(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    const Done *done = context;
    complete(threads, done->operation,
             (Completion){
                 .cta = number / threads->cta_warps,
                 .warp = number % threads->cta_warps,
                 .lanes = lanes,
                 .epoch = view->now,
                 .part = done->own ? lanes : UINT32_MAX,
                 .own = done->own,
                 .reads_only = done->done == THREADS_READS_DONE,
                 .in_order = done->done == THREADS_IN_ORDER,
             });
}

void threads_done(Threads *threads, uint32_t operation, ThreadsDone done, uint32_t warp, uint32_t lanes, bool own) {
    ENTER(threads);
    Done what = {operation, done, own};
    threads_views(threads, warp, lanes, false, put_done, &what);
}

void threads_done_by(Threads *threads, uint32_t operation, ThreadsDone done, uint64_t name, uint32_t cta,
                     uint32_t lanes) {
    ENTER(threads);
    Object *object = threads_object(threads, name, true, cta);
    ClockRun mark = threads_mark(threads, object, object->flips + 1);
    complete(threads, operation,
             (Completion){
                 .cta = object->cta,
                 .warp = mark.warp,
                 .lanes = mark.lanes,
                 .epoch = mark.epoch,
                 .part = lanes,
                 .reads_only = done == THREADS_READS_DONE,
                 .object = name,
             });
}

void threads_done_reports(Threads *threads, uint32_t index, uint64_t name, uint32_t cta, uint32_t lanes, Scope scope) {
    ENTER(threads);
    Object *object = threads_object(threads, name, true, cta);
    const ThreadsOperation *operation = operation_at(threads, index);
    for (uint32_t i = 0; i < operation->part_count; i++)
        if (operation->parts[i].lanes & lanes && operation->parts[i].clock)
            threads_releases_add(threads, &object->collecting, operation->cta, level_of(scope),
                                 threads_clock_share(operation->parts[i].clock));
}

void threads_piped(Threads *threads, uint32_t operation) {
    ENTER(threads);
    operation_at(threads, operation)->piped = true;
}

void threads_close(Threads *threads, uint32_t operation) {
    if (!threads->problem) /* else it may not have been issued */
        operation_at(threads, operation)->closed = true;
}

static bool comes_after(const Threads *threads, uint32_t operation, uint32_t earlier) {
    const ThreadsOperation *before = operation_at(threads, earlier);
    if (operation_at(threads, operation)->chain != before->chain)
        return false;
    while (operation_at(threads, operation)->depth > before->depth)
        operation = operation_at(threads, operation)->after;
    return operation == earlier;
}

/* Whether who asks may go by it: for reads or writes, in the pipe or not. */
static bool counts_for(const Threads *threads, const Completion *done, const Knower *knower, bool writes) {
    if (done->in_order)
        return knower->operation && operation_at(threads, knower->operation)->piped;
    return !writes || !done->reads_only;
}

bool threads_knows_operation(const Threads *threads, const Knower *knower, uint32_t index, uint32_t lane, bool writes,
                             uint32_t by) {
    if (knower->operation == index)
        return lane == by; /* of several lanes, each has one of its own */
    if (knower->operation && comes_after(threads, knower->operation, index))
        return true;
    if (threads_clock_ended(knower->clock, operation_at(threads, index)->cta))
        return true;
    for (const Completion *done = operation_at(threads, index)->completions; done; done = done->next) {
        if (!(done->part >> lane & 1) || !counts_for(threads, done, knower, writes))
            continue;
        uint32_t lanes = done->own ? done->lanes & 1U << lane : done->lanes;
        if (threads_clock_known(knower->clock, done->cta, done->warp, done->epoch) & lanes)
            return true;
        if (done->cta == knower->cta && done->warp == knower->warp && lanes >> by & 1 &&
            done->epoch <= knower->own_epoch)
            return true;
    }
    return false;
}

uint32_t threads_operation_known(const Threads *threads, const Knower *knower, uint32_t index, bool writes) {
    uint32_t known = 0;
    if (knower->operation == index)
        return 0;
    if (knower->operation && comes_after(threads, knower->operation, index))
        return UINT32_MAX;
    if (threads_clock_ended(knower->clock, operation_at(threads, index)->cta))
        return UINT32_MAX;
    for (const Completion *done = operation_at(threads, index)->completions; done; done = done->next) {
        if (!counts_for(threads, done, knower, writes))
            continue;
        uint32_t lanes = threads_clock_known(knower->clock, done->cta, done->warp, done->epoch) & done->lanes;
        known |= done->own ? done->part & lanes : lanes ? done->part : 0;
    }
    return known;
}

bool threads_done_for_all(Threads *threads, uint32_t index) {
    ENTER(threads, false);
    const ThreadsOperation *operation = operation_at(threads, index);
    uint32_t size = threads->shape.cluster, first = operation->cta / size * size;
    for (uint32_t cta = first; cta < first + size; cta++)
        for (uint32_t i = 0; i < threads->cta_warps; i++) {
            const Warp *warp = threads->ctas[cta] ? &threads->ctas[cta]->warps[i] : NULL;
            if (!warp)
                return false; /* it has not begun */
            for (uint32_t k = 0; k < warp->count; k++) {
                Knower knower = {.clock = warp->views[k].clock, .cta = cta, .warp = i};
                if (warp->views[k].lanes & warp->live &&
                    operation->lanes & ~threads_operation_known(threads, &knower, index, true))
                    return false;
            }
        }
    return true;
}

/* ---- Its end ---- */

/* Whether something has waited for all of it, as far as it touches memory of CTAs. */
/* ... of which this is the first access that it made to memory of a CTA. */
static bool is_over(Threads *threads, const ThreadsOperation *operation, const ThreadsAccess *first) {
    uint32_t left = operation->lanes;
    for (const Completion *done = operation->completions; done; done = done->next) {
        if (done->in_order || (done->reads_only && first->kind != KIND_READ))
            continue;
        const Object *object = done->object ? threads_object(threads, done->object, false, 0) : NULL;
        if (!object || object->waited >= done->epoch)
            left &= ~done->part;
    }
    return first->bytes == 0 || left == 0;
}

static bool finished(Threads *threads, const ThreadsOperation *operation) {
    for (const Earlier *one = operation->earlier; one; one = one->next)
        if (!is_over(threads, operation, &one->first))
            return false;
    return is_over(threads, operation, &operation->first);
}

void threads_operations_over(Threads *threads, uint32_t cta) {
    for (uint32_t index = threads->ctas[cta]->operations, next; index; index = next) {
        ThreadsOperation *operation = operation_at(threads, index);
        next = operation->next;
        operation->next = 0;
        operation->listed = false;
        if (!is_over(threads, operation, &operation->first))
            threads_report_exit(threads, operation, operation->site, &operation->first, operation->first_address);
        for (const Earlier *one = operation->earlier; one; one = one->next)
            if (!is_over(threads, operation, &one->first))
                threads_report_exit(threads, operation, one->site, &one->first, one->first_address);
    }
}

static void operation_free(Threads *threads, uint32_t index) {
    ThreadsOperation *operation = operation_at(threads, index);
    for (uint32_t i = 0; i < operation->part_count; i++)
        threads_clock_drop(threads, operation->parts[i].clock);
    gsan_pool_give(&threads->pool, operation->parts, operation->part_capacity * sizeof(ThreadsPart));
    while (operation->completions) {
        Completion *done = operation->completions;
        operation->completions = done->next;
        gsan_pool_give(&threads->pool, done, sizeof *done);
    }
    while (operation->earlier) {
        Earlier *one = operation->earlier;
        operation->earlier = one->next;
        gsan_pool_give(&threads->pool, one, sizeof *one);
    }
    operation->lanes = 0;
    store_give(&threads->operations, index);
}

static void lists_sweep(Threads *threads) {
    for (uint32_t i = 0; i < threads->shape.ctas; i++) {
        uint32_t *at = threads->ctas[i] ? &threads->ctas[i]->operations : NULL;
        while (at && *at) {
            ThreadsOperation *operation = operation_at(threads, *at);
            if (operation->closed && !operation->marked && finished(threads, operation)) {
                *at = operation->next;
                operation->listed = false;
            } else {
                at = &operation->next;
            }
        }
    }
}

void threads_operations_sweep(Threads *threads) {
    /* One that another comes after is needed as long as that is. */
    for (uint32_t i = threads->operations.next; i-- > 1;) {
        const ThreadsOperation *operation = operation_at(threads, i);
        if (operation->lanes && (operation->marked || !operation->closed))
            for (uint32_t after = operation->after; after && !operation_at(threads, after)->marked;
                 after = operation_at(threads, after)->after)
                operation_at(threads, after)->marked = true;
    }
    lists_sweep(threads);
    for (uint32_t i = 1; i < threads->operations.next; i++) {
        ThreadsOperation *operation = operation_at(threads, i);
        if (operation->lanes && operation->closed && !operation->marked && !operation->listed)
            operation_free(threads, i);
        operation->marked = false;
    }
}
