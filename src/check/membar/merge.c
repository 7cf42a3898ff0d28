/* Too many pending accesses: what keeps time and memory in proportion to the length of a function in which hardly
 * anything ends them, such as a chain of hundreds of loops that may not run once.
 *
 * Accesses that are alike but for the bytes that they touch within one buffer have an access that stands for all of
 * them. Where too many of them are pending, the oldest become that one. It touches the bytes of all, in a slot that is
 * not known, so that what conflicts with one of them conflicts with it.
 *
 * Behind a barrier, entries are kept only to see what the barrier is good for. Where there are too many of those, the
 * oldest are dropped, and the barrier stays where it is. */
#include "check/membar/internal.h"

#include <assert.h>
#include <stdlib.h>

enum { MOST_ALIKE = 128, MOST_TAGGED = 256 };
static_assert(MOST_TAGGED >= MOST_ALIKE, "a smaller set is not checked");

/* ---- Accesses that are alike ----------------------------------------------------------------------------------- */

/* All but the bytes, as one number for each; accesses with the same ones are alike. */
enum { TRAITS = 2 };
typedef struct Traits {
    uint64_t numbers[TRAITS];
    uint32_t access;
} Traits;

static Traits traits_of(const Access *access, uint32_t index) {
    uint64_t bits = access->kind | (uint64_t)access->roles << 8 | (uint64_t)access->group << 16 |
                    (uint64_t)access->outstanding << 24 | (uint64_t)access->mbarrier << 32 |
                    (uint64_t)access->copy << 40 | (uint64_t)access->tensor_core << 41 |
                    (uint64_t)access->distributed << 42;
    return (Traits){{access->buffer, bits}, index};
}

static int compare_traits(const void *a, const void *b) {
    const Traits *x = a, *y = b;
    for (int i = 0; i < TRAITS; i++)
        if (x->numbers[i] != y->numbers[i])
            return x->numbers[i] < y->numbers[i] ? -1 : 1;
    return x->access < y->access ? -1 : x->access > y->access;
}

/* The access that stands for `count` of them, of which the first in the text gives it its name. */
static void add_common(Membar *membar, const Traits *traits, uint32_t count) {
    Access common = membar->accesses[traits[0].access];
    common.slot = common.ring = NULL;
    common.type = NULL;
    common.offsets = NULL;
    common.through = NULL;
    common.alike = membar->access_count;
    for (uint32_t i = 0; i < count; i++) {
        Access *access = &membar->accesses[traits[i].access];
        access->alike = common.alike;
        common.begin = access->begin < common.begin ? access->begin : common.begin;
        common.end = access->end > common.end ? access->end : common.end;
    }
    *MEMBAR_PUSH(membar, accesses, access) = common;
}

void membar_find_alike(Membar *membar) {
    if (membar->node_count <= MOST_ALIKE)
        return;
    Traits *traits = ARENA_ARRAY(membar->arena, Traits, membar->access_count);
    uint32_t count = 0;
    for (uint32_t i = 1; i < membar->access_count; i++)
        if (!membar->accesses[i].foreign)
            traits[count++] = traits_of(&membar->accesses[i], i);
    qsort(traits, count, sizeof *traits, compare_traits);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (memcmp(traits[end].numbers, traits[first].numbers, sizeof traits[first].numbers) != 0)
                break;
        add_common(membar, &traits[first], end - first);
    }
    membar->alike_counts = ARENA_ARRAY(membar->arena, uint32_t, 2 * (size_t)membar->access_count);
}

bool membar_is_common(const Membar *membar, const Entry *entry) {
    return membar->accesses[entry->access].alike == entry->access;
}

/* ---- Entries of a set ------------------------------------------------------------------------------------------ */

/* Where entries like this one are counted; NULL: they are not. */
static uint32_t *count_of(const Membar *membar, const Entry *entry) {
    uint32_t alike = membar->accesses[entry->access].alike;
    return alike && alike != entry->access ? &membar->alike_counts[2 * (size_t)alike + entry->flying] : NULL;
}

static bool is_tagged(const Entry *entry) {
    return !entry->flying && entry->tag;
}

/* What is in flight until every thread waits for an mbarrier never becomes pending: it can be forgotten. */
static bool is_forgotten(const Membar *membar, const Entry *entry) {
    return entry->flying && membar->accesses[entry->access].outstanding == OUTSTANDING_MBARRIER;
}

static Entry common_entry(const Membar *membar, const Entry *entry) {
    return (Entry){.access = membar->accesses[entry->access].alike,
                   .flying = entry->flying,
                   .since = SINCE_UNKNOWN,
                   .young = entry->young,
                   .old = entry->old};
}

void membar_merge(Membar *membar, MembarState *state) {
    uint32_t tagged = 0, kept = 0, *counted;
    bool many = false;
    if (state->count <= MOST_ALIKE || !membar->alike_counts)
        return;
    for (uint32_t i = 0; i < state->count; i++) {
        const Entry *entry = &state->entries[i];
        if (is_tagged(entry))
            many |= ++tagged > MOST_TAGGED;
        else if ((counted = count_of(membar, entry)))
            many |= ++*counted > MOST_ALIKE;
    }
    for (uint32_t i = 0; i < state->count; i++) { /* the oldest come first */
        Entry entry = state->entries[i];
        counted = is_tagged(&entry) ? NULL : count_of(membar, &entry);
        if (is_tagged(&entry) && tagged > MOST_TAGGED) {
            tagged--;
            if (membar->pinned)
                membar->pinned[entry.tag - 1] = true;
            continue;
        }
        bool merges = counted && *counted > MOST_ALIKE;
        if (counted)
            (*counted)--;
        if (merges && is_forgotten(membar, &entry))
            continue;
        state->entries[kept++] = merges ? common_entry(membar, &entry) : entry;
    }
    state->count = kept;
    if (many)
        membar_state_sort(state);
}
