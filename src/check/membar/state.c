/* Sets of pending accesses: frozen ones, which pieces of code hand to each other and share where nothing changed, and
 * the one that a run works on, in which the entries of one neighborhood of memory are found without looking at others.
 */
#include "check/membar/internal.h"

#include <stdlib.h>

/* ---- Frozen sets ----------------------------------------------------------------------------------------------- */

static int compare(uint32_t a, uint32_t b) {
    return a < b ? -1 : a > b;
}

/* Entries that differ in nothing but their ages are one. */
static int compare_entries(const Entry *a, const Entry *b) {
    int order = compare(a->access, b->access);
    if (!order)
        order = compare(a->flying, b->flying);
    if (!order)
        order = compare(a->mark, b->mark);
    if (!order)
        order = compare(a->turns, b->turns);
    for (unsigned i = 0; i < SLOTS_ENTERED && !order; i++) {
        order = compare(a->entered[i], b->entered[i]);
        if (!order)
            order = compare(a->trips[i], b->trips[i]);
    }
    if (!order && !a->flying) {
        order = compare(a->tag, b->tag);
        if (!order)
            order = compare(a->since, b->since);
    }
    return order;
}

static int compare_items(const void *a, const void *b) {
    return compare_entries(a, b);
}

/* Widens ages; true if that changed something. */
static bool widen(Entry *entry, const Entry *other) {
    bool changed = false;
    if (entry->flying && other->young < entry->young) {
        entry->young = other->young;
        changed = true;
    }
    if (entry->flying && other->old > entry->old) {
        entry->old = other->old;
        changed = true;
    }
    return changed;
}

static MembarState *state_new(Membar *membar, uint32_t count) {
    membar->work += count;
    return arena_alloc(membar->run, sizeof(MembarState) + count * sizeof(Entry));
}

void membar_state_sort(MembarState *state) {
    uint32_t count = 0;
    qsort(state->entries, state->count, sizeof *state->entries, compare_items);
    for (uint32_t i = 0; i < state->count; i++) {
        Entry *last = count ? &state->entries[count - 1] : NULL;
        if (last && compare_entries(last, &state->entries[i]) == 0)
            widen(last, &state->entries[i]);
        else
            state->entries[count++] = state->entries[i];
    }
    state->count = count;
}

bool membar_state_equal(const MembarState *a, const MembarState *b) {
    if (a == b)
        return true;
    if (!a || !b || a->count != b->count || a->synced != b->synced)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const Entry *x = &a->entries[i], *y = &b->entries[i];
        if (compare_entries(x, y) || (x->flying && (x->young != y->young || x->old != y->old)))
            return false;
    }
    return true;
}

const MembarState *membar_state_join(Membar *membar, const MembarState *a, const MembarState *b) {
    if (!a || a == b)
        return b;
    if (!b)
        return a;
    MembarState *both = state_new(membar, a->count + b->count);
    uint32_t i = 0, k = 0;
    both->count = 0;
    both->synced = a->synced && b->synced;
    while (i < a->count || k < b->count) {
        int order = i == a->count ? 1 : k == b->count ? -1 : compare_entries(&a->entries[i], &b->entries[k]);
        Entry entry = order <= 0 ? a->entries[i] : b->entries[k];
        if (order == 0)
            widen(&entry, &b->entries[k]);
        i += order <= 0;
        k += order >= 0;
        both->entries[both->count++] = entry;
    }
    membar_merge(membar, both);
    return membar_state_equal(a, both) ? a : membar_state_equal(b, both) ? b : both;
}

/* Only loops that hold the access matter, and of those the outermost: the inner ones have started again since. */
static void go_around(const Membar *membar, Entry *entry, uint32_t loop) {
    const Flow *flow = &membar->flow;
    if (entry->mark == MARK_STALE)
        return;
    if (loop == FLOW_NONE) {
        entry->mark = MARK_STALE;
        entry->turns = 0;
        return;
    }
    if (!flow_loop_holds(flow, loop, membar->accesses[entry->access].number))
        return;
    if (entry->mark == MARK_LOOP + loop) {
        entry->turns += entry->turns < TURNS_MOST;
    } else if (entry->mark == MARK_NONE || flow_loop_has(flow, loop, entry->mark - MARK_LOOP)) {
        entry->mark = MARK_LOOP + loop;
        entry->turns = 1;
    }
}

/* Keeps of the loops that were entered those for which `keep` is true. */
static void forget(Entry *entry, const bool *keep) {
    unsigned kept = 0;
    for (unsigned i = 0; i < SLOTS_ENTERED; i++) {
        if (!keep[i])
            continue;
        entry->entered[kept] = entry->entered[i];
        entry->trips[kept++] = entry->trips[i];
    }
    for (; kept < SLOTS_ENTERED; kept++)
        entry->entered[kept] = entry->trips[kept] = 0;
}

/* A loop starts again when one that holds it goes around. */
static void count_trip(const Membar *membar, Entry *entry, uint32_t loop) {
    bool keep[SLOTS_ENTERED];
    for (unsigned i = 0; i < SLOTS_ENTERED; i++) {
        uint32_t entered = entry->entered[i] - 1;
        keep[i] = entry->entered[i] && loop != FLOW_NONE;
        if (keep[i] && entered == loop)
            keep[i] = entry->trips[i]++ < TRIPS_MOST;
        else if (keep[i])
            keep[i] = !flow_loop_has(&membar->flow, loop, entered);
    }
    forget(entry, keep);
}

static void enter(Entry *entry, uint32_t loop) {
    for (unsigned i = SLOTS_ENTERED - 1; i > 0; i--) {
        entry->entered[i] = entry->entered[i - 1];
        entry->trips[i] = entry->trips[i - 1];
    }
    entry->entered[0] = loop + 1;
    entry->trips[0] = 0;
}

static void go_over(const Membar *membar, Entry *entry, const FlowEdge *edge) {
    bool knows = membar->model == MEMBAR_ASYNC;
    if (membar_is_common(membar, entry))
        return;
    if (knows ? edge->round : edge->back)
        go_around(membar, entry, edge->loop);
    if (!knows || !membar->accesses[entry->access].slot)
        return;
    if (edge->round)
        count_trip(membar, entry, edge->loop);
    if (edge->enters != FLOW_NONE && entry->mark != MARK_STALE)
        enter(entry, edge->enters);
}

const MembarState *membar_state_over(Membar *membar, const MembarState *state, const FlowEdge *edge) {
    if (!state || !state->count || (!edge->back && !edge->round && edge->enters == FLOW_NONE))
        return state;
    MembarState *next = state_new(membar, state->count);
    next->synced = state->synced;
    next->count = state->count;
    for (uint32_t i = 0; i < state->count; i++) {
        next->entries[i] = state->entries[i];
        go_over(membar, &next->entries[i], edge);
    }
    membar_state_sort(next);
    return next;
}

/* ---- The set that is worked on --------------------------------------------------------------------------------- */

MembarWork membar_work_new(Membar *membar) {
    return (MembarWork){.membar = membar,
                        .of_access = ARENA_ARRAY(membar->run, uint32_t, membar->access_count + 1),
                        .reads = ARENA_ARRAY(membar->run, uint32_t, membar->neighborhood_count + 1),
                        .writes = ARENA_ARRAY(membar->run, uint32_t, membar->neighborhood_count + 1)};
}

static uint32_t closed_of(const MembarWork *work, const Entry *entry) {
    return work->closed[work->membar->accesses[entry->access].group];
}

int32_t membar_work_age(const MembarWork *work, const Entry *entry, int32_t kept) {
    int64_t age = (int64_t)kept + closed_of(work, entry);
    return age < work->membar->age_most ? (int32_t)age : work->membar->age_most;
}

int32_t membar_work_keep(const MembarWork *work, const Entry *entry, int32_t age) {
    return age - (int32_t)closed_of(work, entry);
}

/* Entries in flight conflict with nothing: they are in no list of a neighborhood. A read-modify-write is in the list of
 * writes, which both reads and writes look at. */
static uint32_t *list_of(MembarWork *work, const Entry *entry) {
    const Membar *membar = work->membar;
    const Access *access = &membar->accesses[entry->access];
    uint32_t neighborhood = membar->buffers[access->buffer].neighborhood;
    return access->kind & ACCESS_WRITE ? &work->writes[neighborhood] : &work->reads[neighborhood];
}

/* One that is not there yet. */
static void add_new(MembarWork *work, Entry entry) {
    uint32_t *of_access = &work->of_access[entry.access];
    uint32_t index = work->entry_count;
    Arena *arena = work->membar->run;
    work->links = arena_grown(arena, work->links, index, &work->link_capacity, sizeof *work->links);
    *ARENA_PUSH(arena, work->entries, work->entry_count, work->entry_capacity) = entry;
    work->membar->work++;
    work->links[index].of_access = *of_access;
    *of_access = index + 1;
    if (entry.flying)
        return;
    uint32_t *list = list_of(work, &entry);
    work->links[index].in_list = *list;
    *list = index + 1;
}

void membar_work_add(MembarWork *work, Entry entry) {
    for (uint32_t i = work->of_access[entry.access]; i; i = work->links[i - 1].of_access)
        if (compare_entries(&work->entries[i - 1], &entry) == 0) {
            widen(&work->entries[i - 1], &entry);
            return;
        }
    add_new(work, entry);
}

static void unlink_all(MembarWork *work) {
    for (uint32_t i = 0; i < work->entry_count; i++) {
        work->of_access[work->entries[i].access] = 0;
        *list_of(work, &work->entries[i]) = 0;
    }
    work->membar->work += work->entry_count;
}

void membar_work_filter(MembarWork *work, bool (*keep)(Entry *entry, void *context), void *context) {
    uint32_t count = work->entry_count;
    unlink_all(work);
    work->entry_count = 0;
    for (uint32_t i = 0; i < count; i++) { /* what is added lies at or before what is read */
        Entry entry = work->entries[i];
        if (keep(&entry, context))
            membar_work_add(work, entry);
    }
}

void membar_work_load(MembarWork *work, const MembarState *state) {
    unlink_all(work);
    work->entry_count = 0;
    work->synced = state->synced;
    memset(work->closed, 0, sizeof work->closed);
    for (uint32_t i = 0; i < state->count; i++)
        add_new(work, state->entries[i]);
}

const MembarState *membar_work_freeze(MembarWork *work) {
    MembarState *state = state_new(work->membar, work->entry_count);
    state->count = work->entry_count;
    state->synced = work->synced;
    if (state->count) {
        memcpy(state->entries, work->entries, state->count * sizeof *state->entries);
        for (uint32_t i = 0; i < state->count; i++) {
            Entry *entry = &state->entries[i];
            entry->young = entry->flying ? membar_work_age(work, entry, entry->young) : 0;
            entry->old = entry->flying ? membar_work_age(work, entry, entry->old) : 0;
        }
        qsort(state->entries, state->count, sizeof *state->entries, compare_items);
        membar_merge(work->membar, state);
    }
    return state;
}
