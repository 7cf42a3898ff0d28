/* Tables of the launches of each stream by their keys, and of pairs of these. */
#include "runtime/record/gpu_pairs.h"

#include "base/hash.h"

#include <stdlib.h>

enum { MOST_KINDS = 256, MOST_PAIRS = 1 << 14, MOST_AGAIN = 8, MOST_EXTRA = 256 };

/* Launches of a stream that have the same key. */
typedef struct GpuPairKind {
    uint64_t key;
    const char *name;
    uint64_t last, recorded; /* the last one, the last that was recorded: numbers + 1 */
    uint64_t chosen;         /* the last that is or was to be recorded */
    uint32_t again;          /* launches that were recorded for pairs */
    bool wanted;
} GpuPairKind;

typedef struct Kinds {
    GpuPairKind *items;
    uint32_t count;
    uint64_t forgotten; /* the last launch, + 1, of those that there was no room for */
} Kinds;

typedef struct RecordPair {
    uint64_t key; /* 0: there is none here */
    const char *one, *other;
    uint64_t missed;
    bool covered;
} RecordPair;

static Kinds kinds[ORDER_STREAMS];
static RecordPair *pairs; /* MOST_PAIRS of them; NULL: no two launches have met yet */
static uint32_t pair_count, extra;
static const char *untold_name; /* of a kernel whose pairs could not all be kept, */
static uint64_t untold;         /* and of how many launches that is so */

static GpuPairKind *find_kind(uint32_t stream, uint64_t key) {
    for (uint32_t i = 0; i < kinds[stream].count; i++)
        if (kinds[stream].items[i].key == key)
            return &kinds[stream].items[i];
    return NULL;
}

/* NULL: there is no room for it. */
static RecordPair *find_pair(uint64_t one, uint64_t other) {
    uint64_t both[2] = {one < other ? one : other, one < other ? other : one};
    uint64_t key = hash_bytes(HASH_START, both, sizeof both) | 1;
    if (!pairs)
        pairs = calloc(MOST_PAIRS, sizeof *pairs);
    for (uint32_t i = 0, at = (uint32_t)(key >> 20) % MOST_PAIRS; pairs && i < MOST_PAIRS / 2;
         i++, at = (at + 1) % MOST_PAIRS) {
        if (pairs[at].key == key)
            return &pairs[at];
        if (!pairs[at].key && pair_count < MOST_PAIRS / 2) {
            pair_count++;
            pairs[at].key = key;
            return &pairs[at];
        }
    }
    return NULL;
}

static bool may_record(const GpuPairKind *kind) {
    return extra < MOST_EXTRA && (!kind || kind->again < MOST_AGAIN);
}

bool pairs_wanted(uint32_t stream, uint64_t begun, uint32_t of, uint64_t key) {
    const GpuPairKind *mine = find_kind(of, key);
    bool wanted = false;
    for (uint32_t i = 0; i < kinds[stream].count && may_record(mine); i++) {
        GpuPairKind *kind = &kinds[stream].items[i];
        bool beside = kind->last > begun || kind->chosen > begun;
        const RecordPair *pair = beside && may_record(kind) ? find_pair(kind->key, key) : NULL;
        if (!pair || pair->covered)
            continue;
        wanted = true;
        kind->wanted |= kind->recorded <= begun && kind->chosen <= begun;
    }
    return wanted;
}

bool pairs_wanted_by_others(uint32_t stream, uint64_t key) {
    const GpuPairKind *mine = find_kind(stream, key);
    return mine && mine->wanted && may_record(mine);
}

void pairs_extra(uint32_t stream, uint64_t key) {
    GpuPairKind *mine = find_kind(stream, key);
    extra++;
    if (!mine)
        return;
    mine->again++;
    mine->wanted = false;
}

void pairs_meet(uint32_t stream, uint64_t begun, const OrderKernel *kernel) {
    bool lost = kinds[stream].forgotten > begun;
    for (uint32_t i = 0; i < kinds[stream].count; i++) {
        const GpuPairKind *kind = &kinds[stream].items[i];
        RecordPair *pair = kind->last > begun ? find_pair(kind->key, kernel->key) : NULL;
        lost |= kind->last > begun && !pair;
        if (!pair)
            continue;
        pair->one = kernel->name;
        pair->other = kind->name;
        if (kernel->recorded && kind->recorded > begun)
            pair->covered = true;
        else
            pair->missed++;
    }
    if (!lost)
        return;
    untold++;
    untold_name = kernel->name;
}

/* That of the oldest launch, which is most likely over. */
static GpuPairKind *free_kind(Kinds *all) {
    if (!all->items && !(all->items = calloc(MOST_KINDS, sizeof *all->items)))
        return NULL;
    if (all->count < MOST_KINDS)
        return &all->items[all->count++];
    GpuPairKind *oldest = all->items;
    for (uint32_t i = 1; i < all->count; i++)
        if (all->items[i].last < oldest->last)
            oldest = &all->items[i];
    all->forgotten = oldest->last > all->forgotten ? oldest->last : all->forgotten;
    return oldest;
}

static GpuPairKind *kind_of(uint32_t stream, const OrderKernel *kernel) {
    GpuPairKind *kind = find_kind(stream, kernel->key);
    if (!kind && (kind = free_kind(&kinds[stream])))
        *kind = (GpuPairKind){.key = kernel->key, .name = kernel->name};
    return kind;
}

void pairs_choose(uint32_t stream, const OrderKernel *kernel) {
    GpuPairKind *kind = kind_of(stream, kernel);
    if (kind && kind->chosen <= kernel->number)
        kind->chosen = kernel->number + 1;
}

void pairs_add(uint32_t stream, const OrderKernel *kernel) {
    GpuPairKind *kind = kind_of(stream, kernel);
    uint64_t number = kernel->number + 1;
    if (!kind) {
        kinds[stream].forgotten = number;
        return;
    }
    kind->last = kind->last < number ? number : kind->last;
    if (kernel->recorded && kind->recorded < number)
        kind->recorded = number;
}

void pairs_each_missed(void (*report)(const char *kernel, const char *other, uint64_t launches)) {
    for (uint32_t i = 0; pairs && i < MOST_PAIRS; i++)
        if (pairs[i].key && pairs[i].missed && !pairs[i].covered)
            report(pairs[i].one, pairs[i].other, pairs[i].missed);
    if (untold)
        report(untold_name, "other kernels", untold);
}
