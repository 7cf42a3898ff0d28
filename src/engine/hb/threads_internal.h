/* What the files of the engine for threads share: clocks (threads_clock.c), what threads know and how they learn it
 * (threads.c, threads_fence.c, threads_release.c), operations (threads_operation.c), shadow memory (threads_shadow.c),
 * accesses (threads_access.c) and what synchronizes through memory (threads_strong.c, threads_history.c). */
#ifndef ENGINE_HB_THREADS_INTERNAL_H
#define ENGINE_HB_THREADS_INTERNAL_H

#include "base/table.h"
#include "engine/clock/clock.h"
#include "engine/hb/threads.h"

#include <setjmp.h>

/* ---- Clocks ---- */

/* Warps of a clock from CLOCK_MARKS on are objects, one each lane (threads_done_by), whose epoch is the number of their
 * phases that are known to be complete. */

/* What is known behind a proxy fence, and the like: which one `key` says. */
typedef struct ThreadsBridge {
    uint64_t key;
    CtaClock *local;
    Clock *remote;
} ThreadsBridge;
typedef struct Bridges { /* sorted by key */
    uint32_t references, count;
    ThreadsBridge items[];
} Bridges;

/* Its home's part is `local`; what `remote` has of the home is in `local`, too. NULL knows nothing. */
typedef struct ThreadsClock {
    uint32_t references, home;
    CtaClock *local;
    Clock *remote;
    Bridges *bridges;
} ThreadsClock;

/* Kinds of keys; the rest of a key is a CTA or an address. */
enum {
    KEY_FENCED = 1, /* | proxy << 8 | space << 16 | CTA << 24 (of THREADS_OWN_SHARED) */
    KEY_RELEASED,   /* | proxy << 8 | level << 16 | CTA << 24: the first half of a fence in two */
    KEY_ACQUIRED,   /* | proxy << 8 | address << 16 */
    KEY_INITS,      /* threads_fence_inits */
    KEY_LOOSE,      /* what would be known if every scope were wide enough */
};
static inline uint64_t key_of(unsigned kind, unsigned proxy, uint64_t rest) {
    return kind | proxy << 8 | rest << 16;
}

/* Scopes are levels here: on one GPU those of the system and of the GPU are the same. */
enum { LEVEL_CTA = 1, LEVEL_CLUSTER, LEVEL_GPU, LEVEL_NONE = UINT8_MAX };

/* Lanes of a warp that arrived, and what they knew. */
typedef struct Arrived {
    uint32_t cta, level;
    ClockRun run;
    ThreadsClock *clock;
} Arrived;

/* The home of a clock that several CTAs will take as it is: all that it knows is in `remote`, which they then share. */
#define NO_HOME UINT32_MAX

ThreadsClock *threads_clock_share(ThreadsClock *clock);
void threads_clock_drop(Threads *threads, ThreadsClock *clock);
/* These change *clock, and copy it first if others have it. */
void threads_clock_join(Threads *threads, ThreadsClock **clock, uint32_t home, const ThreadsClock *other);
void threads_clock_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t cta, ClockRun run);
/* The same of several runs of its home's, those of a lane in the order of their epochs. */
void threads_clock_raise_all(Threads *threads, ThreadsClock **clock, uint32_t home, const Arrived *arrived,
                             uint32_t count);
/* All threads of its home are known up to an epoch. */
void threads_clock_raise_base(Threads *threads, ThreadsClock **clock, uint32_t home, uint32_t base);
/* To what is known behind `key`: more of a CTA; all of `other` (without its own bridges). */
void threads_bridge_raise(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key, uint32_t cta,
                          ClockRun run);
void threads_bridge_join(Threads *threads, ThreadsClock **clock, uint32_t home, uint64_t key,
                         const ThreadsClock *other);
/* Whether nothing is known of any CTA but its home, behind whatever key. */
bool threads_clock_at_home(const ThreadsClock *clock);
/* Lanes of the warp that are known up to that epoch. */
uint32_t threads_clock_known(const ThreadsClock *clock, uint32_t cta, uint32_t warp, uint32_t epoch);
/* Whether the CTA's threads are all known up to that epoch, alike. */
static inline bool clock_has_cta(const ThreadsClock *clock, uint32_t cta, uint32_t epoch) {
    if (!clock)
        return false;
    const CtaLeaf *leaf = cta != clock->home && clock->remote ? clock->remote->leaves[cta / CTA_LEAF] : NULL;
    const CtaClock *known = cta == clock->home ? clock->local : leaf ? leaf->ctas[cta % CTA_LEAF] : NULL;
    return known && known->base >= epoch;
}
/* Whether its launch has ended for who has the clock. */
bool threads_clock_ended(const ThreadsClock *clock, uint32_t cta);
/* A clock that knows that of those CTAs, and nothing else. */
ThreadsClock *threads_clock_of_ended(Threads *threads, uint32_t first_cta, uint32_t ctas);
/* For the clocks' space: if runs have every thread of the CTA that lives, the base can be what the least of them has.
 */
void threads_clock_lift(void *threads, CtaClock *clock, uint32_t cta);
/* The clock of a bridge as one of its own, valid while `clock` is; false: there is none. */
bool threads_bridge(const ThreadsClock *clock, uint64_t key, ThreadsClock *bridge);

/* ---- Releases: what an acquire of an object or a location may learn ---- */

typedef struct Release {
    uint32_t cta; /* of the first operation of the pattern */
    uint32_t level;
    ThreadsClock *clock;
} Release;
/* Of many: more are put behind those that are there, which others have, too. One CTA and level may be there twice. */
typedef struct ReleaseRow {
    uint32_t references, count, capacity;
    Release items[];
} ReleaseRow;
typedef struct Releases { /* sorted by CTA and level, if there is no row */
    uint32_t references, count, capacity;
    uint32_t one_cta;   /* UINT32_MAX: they are from several */
    uint32_t min_level; /* of all */
    ThreadsClock *all;  /* of all of them */
    ReleaseRow *row;    /* of which the first `count` are these; NULL: they are here */
    Release items[];
} Releases;
static inline const Release *releases_items(const Releases *releases) {
    return releases->row ? releases->row->items : releases->items;
}

Releases *threads_releases_share(Releases *releases);
void threads_releases_drop(Threads *threads, Releases *releases);
/* These take the clock's reference; change *releases. */
void threads_releases_add(Threads *threads, Releases **releases, uint32_t cta, uint32_t level, ThreadsClock *clock);
void threads_releases_join(Threads *threads, Releases **releases, const Releases *more);
/* Lanes of the clock's owner, in `cta`, acquire at that level: what they may learn; the rest goes behind KEY_LOOSE. */
void threads_releases_acquire(Threads *threads, Releases *releases, ThreadsClock **clock, uint32_t cta, uint32_t level);

/* ---- Threads ---- */

/* Lanes of a warp that know the same of others. Of itself, each knows everything. */
typedef struct ThreadsView {
    uint32_t lanes;
    uint32_t now; /* their epoch, from 1 */
    bool touched; /* memory, in this epoch */
    ThreadsClock *clock;
} ThreadsView;

typedef enum NoteKind {
    NOTE_RELEASED,     /* a release fence of `level`, when `clock` was known, and of itself `epoch` */
    NOTE_OBSERVED,     /* `releases` were read, at `key` (an address; or 0, of a relaxed wait, with a mark) */
    NOTE_OWN,          /* of itself, each lane has the accesses up to `epoch` behind `key` */
    NOTE_OWN_RELEASED, /* the same, when a release fence of `level` was made */
} NoteKind;
typedef struct Note {
    struct Note *next;
    uint8_t kind, level;
    uint32_t lanes, epoch;
    uint64_t key;
    ThreadsClock *clock;
    Releases *releases;
    uint32_t mark_cta;
    ClockRun mark; /* lanes 0: none */
} Note;

typedef struct Warp {
    uint32_t live;
    uint32_t blind; /* lanes that have made strong accesses that observed nothing */
    uint32_t count, capacity;
    ThreadsView *views;
    Note *notes;
} Warp;

typedef struct Object Object;
typedef struct Cta {
    uint32_t marks;      /* given to objects so far */
    uint32_t dead;       /* threads that ended */
    uint32_t *finals;    /* of each thread that ended: up to which epoch it touched memory; made when the first ends */
    uint32_t operations; /* those issued from it: a list */
    Object *objects;
    struct ShadowPage *pages; /* of its memory */
    uint32_t blind[2];        /* threads of which such an access may release, and acquire something: 0, its number in
                                 the CTA + 1, or UINT32_MAX: several */
    Warp warps[];
} Cta;

/* What something knew before a wait, and behind it. */
typedef struct Lesson {
    ThreadsClock *from, *to;
    uint32_t cta, level;
    bool used;
} Lesson;
struct Object {
    struct Object *next, *of_cta; /* of the hash table; of its CTA */
    uint64_t name;
    uint32_t cta;
    uint32_t flips, waited;       /* phases complete; the last for which something waited, + 1 */
    uint32_t mark;                /* UINT32_MAX: it has none */
    uint32_t latest, done_latest; /* epochs: the largest that arrived */
    Releases *collecting, *done;
    Arrived *arrived; /* not among those that are collected yet */
    uint32_t arrived_count, arrived_capacity;
    Lesson learned; /* of this phase */
};

/* ---- Operations ---- */

typedef struct Completion {
    struct Completion *next;
    uint32_t cta, warp, lanes, epoch; /* who knows, from that epoch on; warp: of the CTA, or a mark's */
    uint32_t part;                    /* lanes of the operation that it is about */
    bool own;                         /* each lane of `lanes` of its own part alone */
    bool reads_only, in_order;        /* as in ThreadsDone */
    uint64_t object;                  /* of a mark */
} Completion;
typedef struct ThreadsPart {
    uint32_t lanes, epoch; /* of itself, up to this epoch */
    ThreadsClock *clock;   /* with what each lane has of itself behind keys, if it is one lane */
} ThreadsPart;
/* Of one that was told of as the same: its first access. */
typedef struct Earlier {
    struct Earlier *next;
    uint32_t site;
    ThreadsAccess first;
    uint64_t first_address;
} Earlier;
typedef struct ThreadsOperation {
    uint32_t cta, warp, lanes, site, after;
    uint32_t depth;              /* how many it comes after, one after the other */
    uint64_t chain;              /* of the first of them: no others have it */
    uint32_t next;               /* of its CTA */
    bool closed, marked, listed; /* listed: by its CTA */
    bool piped;
    uint32_t part_count, part_capacity;
    ThreadsPart *parts;
    Completion *completions;
    ThreadsAccess first; /* the first access to memory of a CTA that it made: `bytes` 0: none yet */
    uint64_t first_address;
    Earlier *earlier; /* the newest first */
} ThreadsOperation;

/* ---- Shadow memory ---- */

enum { MOST_LOOSE = 8 };   /* pairs of loose accesses that are kept */
enum { MOST_RACING = 64 }; /* accesses to a place that race with each other and are kept */

/* An access of a warp's instruction. */
typedef struct ThreadsRecord {
    uint32_t cta, warp, epoch, operation;
    uint32_t instruction; /* lanes of one know different things: then it has several records */
    uint32_t site, silent, bytes;
    uint8_t kind, proxy, order, scope, element; /* as they were told, in the order of ThreadsAccess */
    bool read_only, gives, loose, inits;
    uint8_t level;
    bool stays;    /* in the lists that it was added to, of which none was found to have another one of its CTA */
    uint32_t node; /* the list that has it alone; 0: there is none */
} ThreadsRecord;

/* Of a record, what most accesses ask for. These are close together, and records are not: many of them are behind each
 * other in a line of the cache. Of a strong one the epoch may be an earlier one (threads_poll_again). */
typedef struct Stamp {
    uint32_t cta, epoch;
    uint32_t warp; /* STAMP_OTHER: it is asynchronous, or of another proxy than the generic one; ask the record */
} Stamp;
#define STAMP_OTHER UINT32_MAX

/* An element of a list; lists are shared by words. */
typedef struct Node {
    uint32_t record, lanes; /* lanes 0: one, which is `turn` behind the one that the slot says, modulo 32 */
    uint32_t next;          /* 0: the last */
    Stamp stamp;            /* of the record */
    uint32_t chain;         /* of the hash table */
    uint32_t depth, pruned; /* pruned: depth when it was last looked through; `cut`: the last of the list */
    uint32_t odd;           /* the first of the list that is weak or not generic; 0: none is */
    uint64_t clusters;      /* of all in the list: cluster_bit of each */
    uint32_t least, most;   /* ... and between which CTAs they are */
    uint8_t level;          /* of those that are not odd: the narrowest; 0: there are several sizes; LEVEL_NONE */
    uint8_t element;        /* ... and their size */
    bool gives;
    bool loose; /* some of them are */
    bool alone; /* it is not in the hash table */
    bool plain; /* all are weak, generic accesses of threads, change something, and no two are of one record */
    bool cut;   /* of what is behind the first MOST_RACING, the last alone counts */
    uint8_t turn;
} Node;

/* Slots: node << 5 | lane; 0: none. */
typedef struct ThreadsCell {
    uint32_t writes, reads;
} ThreadsCell;

/* A line that was accessed as a whole, and not otherwise: slots as those of cells, but that the lane of a cell is the
 * slot's + (bytes from the line's begin on >> shift ^ flip). LINE_ALONE: the slot is of a record, which is alone there.
 */
enum { SHADOW_PAGE = 1024, SHADOW_LINE = 128, PAGE_LINES = SHADOW_PAGE / SHADOW_LINE, LINE_ALONE = 128 };
typedef struct ThreadsLine {
    uint32_t writes, reads; /* compared and changed as one */
    union {
        struct {
            uint8_t write_shift, read_shift; /* | LINE_ALONE */
            uint8_t write_flip, read_flip;   /* swizzled: lanes are not in the order of their places */
        };
        uint32_t seats; /* all of these */
    };
    uint8_t nc_shift, nc_flip;
} ThreadsLine;
enum { CELL_SHIFT = 4 };
typedef struct Location Location;
typedef struct ShadowPage {
    struct ShadowPage *next, *of_cta; /* of the hash table; of the same CTA */
    uint64_t number;
    uint8_t shift;      /* a cell is 1 << shift bytes: 16 at most, fewer where accesses begin or end within such */
    ThreadsCell *cells; /* NULL: there are lines alone */
    ThreadsLine lines[PAGE_LINES];
    uint32_t *nc;         /* by cell: slot of a record (record << 5 | lane) that read it as read-only; NULL: none */
    uint32_t *line_nc;    /* the same by line */
    Location **locations; /* by word, lists; NULL: none */
} ShadowPage;

enum { CHUNK_SHIFT = 14, CHUNK = 1 << CHUNK_SHIFT };
/* Items by number, from 1; given back ones are used again, the last one first: the second number in each says which is
 * next. */
typedef struct Store {
    size_t size;
    char **chunks;
    uint32_t chunk_count, chunk_capacity;
    uint32_t next; /* never used yet */
    uint32_t free, free_count;
    size_t behind; /* bytes behind the items of a chunk */
} Store;
static inline void *store_at(const Store *store, uint32_t index) {
    return store->chunks[index >> CHUNK_SHIFT] + (size_t)(index & (CHUNK - 1)) * store->size;
}
/* A new one, for which memory is taken. */
uint32_t threads_store_more(Threads *threads, Store *store);
/* Who takes it sets all of it. */
static inline uint32_t store_take(Threads *threads, Store *store) {
    uint32_t index = store->free;
    if (!index)
        return store->next < store->chunk_count << CHUNK_SHIFT ? store->next++ : threads_store_more(threads, store);
    store->free = ((const uint32_t *)store_at(store, index))[1];
    store->free_count--;
    return index;
}
static inline void store_give(Store *store, uint32_t index) {
    ((uint32_t *)store_at(store, index))[1] = store->free;
    store->free = index;
    store->free_count++;
}

/* Those that are given back by threads_sweep alone. Behind the items of a chunk there is a bit for each that stayed;
 * the next free one is looked for in these, so that a sweep does not touch what is free. */
typedef struct Swept {
    Store store;
    uint32_t at;   /* of 64 from there on ... */
    uint64_t free; /* ... these are free */
} Swept;
enum { SWEPT_BITS = CHUNK / 8 };
/* The bits of 64 of them, of which this is one. */
static inline uint64_t *swept_bits(const Swept *swept, uint32_t index) {
    char *chunk = swept->store.chunks[index >> CHUNK_SHIFT];
    return (uint64_t *)(void *)(chunk + (swept->store.size << CHUNK_SHIFT)) + (index & (CHUNK - 1)) / 64;
}
static inline uint32_t swept_take(Threads *threads, Swept *swept) {
    if (!swept->store.free_count)
        return store_take(threads, &swept->store);
    while (!swept->free) {
        swept->at += 64;
        swept->free = ~*swept_bits(swept, swept->at);
    }
    uint32_t index = swept->at + (uint32_t)__builtin_ctzll(swept->free);
    swept->free &= swept->free - 1;
    swept->store.free_count--;
    return index;
}
/* Marks it; false: it is marked already. */
static inline bool swept_mark(Swept *swept, uint32_t index) {
    uint64_t *bits = swept_bits(swept, index), bit = UINT64_C(1) << index % 64;
    bool first = !(*bits & bit);
    *bits |= bit;
    return first;
}

/* ---- Locations: what synchronizes through memory ---- */

/* What a thread wrote there strongly, and what it has observed. Writes have numbers: those of one chain of updates,
 * each of which read the one before, follow each other. */
typedef struct Witness {
    bool used;
    uint32_t warp, lane;                        /* warp: of the grid */
    uint32_t record, wrote_chain, wrote_number; /* record 0: it has not written */
    uint32_t saw_chain, saw_number, saw_epoch;  /* saw_chain 0: nothing */
    uint32_t kept_chain, kept_number;           /* while older ones are looked through: the last that stays */
    uint32_t own;                               /* the first of its releases there (Location.own), + 1 */
    struct {
        uint32_t record, writes, sweep; /* of its last read; what had been written; Threads.sweeps */
    } poll;
} Witness;
typedef struct OwnRelease { /* a release there, for the thread's later strong writes there */
    uint32_t level;
    uint32_t next; /* of the same thread, + 1 */
    ThreadsClock *clock;
} OwnRelease;
struct Location {
    Location *next; /* of the word */
    uint64_t address;
    uint32_t element;            /* bytes */
    uint32_t chain, number;      /* of the newest strong write */
    uint32_t record, lane;       /* which that is */
    Releases *releases;          /* what it brings */
    uint32_t before_instruction; /* the instruction that is about to be done, and what there was before it */
    Releases *before;
    Witness *witnesses; /* hashed */
    uint32_t witness_count, witness_capacity;
    Witness *older; /* what was seen or written before that, and something may still ask for */
    uint32_t older_count, older_capacity;
    OwnRelease *own;
    uint32_t own_count, own_capacity;
};

/* ---- The engine ---- */

enum { LATEST_PAGES = 1024 };
/* The number is here, too, so that a page is not looked at that it turns out not to be. */
typedef struct LatestPage {
    uint64_t number;
    ShadowPage *page; /* NULL: none */
} LatestPage;
/* shape.history: a write that nothing synchronizes by. */
typedef struct OtherWrite {
    uint64_t address, bytes;
    uint32_t number;
} OtherWrite;

typedef struct RaceKey {
    uint32_t first, second, index;
    uint32_t rest;
} RaceKey;
typedef TABLE_OF(RaceKey) RaceTable;

enum { SOONER = 32 };
struct Threads {
    ThreadsShape shape;
    Pool pool;
    jmp_buf jump;
    const char *problem;
    uint32_t cta_warps;
    uint32_t last_mask; /* lanes of a CTA's last warp */
    Cta **ctas;
    Object **objects; /* hashed by name */
    uint32_t object_count, object_capacity;
    Store operations;
    uint64_t chains; /* of operations that come after each other, so far */
    Swept records, nodes;
    uint32_t *node_table;
    uint32_t node_capacity, node_count, record_count;
    uint32_t sweeps;                /* so far */
    uint32_t sweep_at, sweep_first; /* records and nodes together; the second a SOONER-th of that where few are left */
    ShadowPage **pages;
    uint32_t page_count, page_capacity;
    LatestPage latest[LATEST_PAGES];
    ClockSpace clocks;
    struct EndedLaunch *ended; /* what was asked for with threads_ended */
    ThreadsClock *sequential;  /* fence.sc of the widest level; by cluster, by CTA */
    ThreadsClock **sequential_clusters, **sequential_ctas;
    Arena found; /* races stay when a run begins again */
    ThreadsRace *races;
    uint32_t race_count, race_capacity;
    RaceTable race_table;
    uint32_t order_site;
    ThreadsRace loose[MOST_LOOSE];
    uint32_t loose_count;
    bool acquires_at; /* a thread has made a proxy fence for an address alone */
    bool done_abroad; /* a thread of another cluster knows that an operation is over */
    uint32_t instructions;
    bool several;                /* lanes do the instruction that is looked at */
    bool blind;                  /* strong accesses observe nothing */
    bool blind_missed;           /* ... and might have synchronized threads */
    struct HbHistory *histories; /* shape.history: of locations that are written strongly */
    OtherWrite *others;
    uint32_t other_count, other_capacity;
    uint32_t writes; /* ... how many there were of both */
    uint32_t chosen; /* write; UINT32_MAX: the newest */
};

#define ENTER(threads, ...)                         \
    do {                                            \
        if ((threads)->problem)                     \
            return __VA_ARGS__;                     \
        if (setjmp((threads)->jump)) {              \
            (threads)->problem = threads_no_memory; \
            return __VA_ARGS__;                     \
        }                                           \
    } while (0)
extern const char threads_no_memory[];

/* An array that doubles; new room is zero. */
void *threads_grown(Threads *threads, void *items, uint32_t count, uint32_t *capacity, size_t size);
#define THREADS_PUSH(threads, items, count, capacity)                                                 \
    ((count) == (capacity)                                                                            \
         ? (void)((items) = threads_grown((threads), (items), (count), &(capacity), sizeof *(items))) \
         : (void)0,                                                                                   \
     &(items)[(count)++])

static inline uint32_t level_of(unsigned scope) {
    return scope == SCOPE_SYS ? LEVEL_GPU : scope;
}
/* Whether the scope of that level of a thread of `from` has the threads of `to`. */
static inline bool level_has(const Threads *threads, uint32_t level, uint32_t from, uint32_t to) {
    return level >= LEVEL_GPU || from == to ||
           (level == LEVEL_CLUSTER && from / threads->shape.cluster == to / threads->shape.cluster);
}
static inline uint32_t lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}
static inline uint64_t hashed(uint64_t value) {
    value *= UINT64_C(0x9E3779B97F4A7C15);
    return value ^ value >> 32;
}

/* One of 64; neighbors, and those that are a power of two apart, have others. */
static inline uint64_t cluster_bit(const Threads *threads, uint32_t cta) {
    return UINT64_C(1) << (hashed(cta / threads->shape.cluster + 1) >> 20 & 63);
}

Cta *threads_cta_begin(Threads *threads, uint32_t cta);
static inline Cta *threads_cta(Threads *threads, uint32_t cta) {
    return threads->ctas[cta] ? threads->ctas[cta] : threads_cta_begin(threads, cta);
}
static inline Warp *threads_warp(Threads *threads, uint32_t warp) {
    return &threads_cta(threads, warp / threads->cta_warps)->warps[warp % threads->cta_warps];
}
/* Calls it for each view's part of the lanes; if `parts`, the view has those lanes alone then. */
typedef void Viewed(Threads *threads, uint32_t warp, ThreadsView *view, uint32_t lanes, void *context);
void threads_views(Threads *threads, uint32_t warp, uint32_t lanes, bool parts, Viewed *each, void *context);
ThreadsView *threads_view_of(Threads *threads, uint32_t warp, uint32_t lane);
/* Views that have become alike are one. */
void threads_views_merge(Threads *threads, Warp *warp);
static inline void view_tick(ThreadsView *view) {
    view->now++;
    view->touched = false;
}
/* What the lanes of the view have to tell: what they know, and themselves. */
ThreadsClock *threads_export(Threads *threads, uint32_t warp, const ThreadsView *view, uint32_t lanes);
/* What fences have released of the lane of the view, into *releases; `least`: of which level at least. */
/* A strong access of lanes that observes nothing; and a fence of lanes, some of which may have made such ones. */
void threads_blind_access(Threads *threads, uint32_t warp, uint32_t lane, Order order);
void threads_blind_fence(Threads *threads, uint32_t warp, uint32_t lanes);
void threads_fenced_releases(Threads *threads, uint32_t warp, uint32_t lane, uint32_t least, Releases **releases);
Note *threads_note(Threads *threads, Warp *warp, NoteKind kind, uint32_t lanes);
void threads_notes_drop(Threads *threads, Warp *warp, NoteKind kind, uint32_t lanes, uint32_t level, uint64_t key,
                        bool any);
/* Up to which epoch the lane has itself behind the key. */
uint32_t threads_own(const Warp *warp, uint32_t lane, uint64_t key);

Object *threads_object(Threads *threads, uint64_t name, bool make, uint32_t cta);
/* The mark of an object, as a run of its CTA: that so many phases are complete. */
ClockRun threads_mark(Threads *threads, Object *object, uint32_t phases);

static inline ThreadsOperation *operation_at(const Threads *threads, uint32_t index) {
    return store_at(&threads->operations, index);
}
/* The same as store_at, of a size that the compiler knows. */
static inline ThreadsRecord *record_at(const Threads *threads, uint32_t index) {
    return (ThreadsRecord *)(void *)threads->records.store.chunks[index >> CHUNK_SHIFT] + (index & (CHUNK - 1));
}
static inline Node *node_at(const Threads *threads, uint32_t index) {
    return (Node *)(void *)threads->nodes.store.chunks[index >> CHUNK_SHIFT] + (index & (CHUNK - 1));
}

static inline uint32_t node_lanes(const Node *node, uint32_t slot) {
    return node->lanes ? node->lanes : 1U << ((slot + node->turn) & 31);
}

/* Behind the bits of its chunk. */
static inline Stamp *stamp_at(const Threads *threads, uint32_t index) {
    char *chunk = threads->records.store.chunks[index >> CHUNK_SHIFT];
    return (Stamp *)(void *)(chunk + (sizeof(ThreadsRecord) << CHUNK_SHIFT) + SWEPT_BITS) + (index & (CHUNK - 1));
}

/* The page of an address, with cells; NULL: nothing was there. */
ShadowPage *threads_page(Threads *threads, uint64_t address);
/* The same, which may have no cells; it is made, if `make`. */
ShadowPage *threads_page_lines(Threads *threads, uint64_t address, bool make);
/* The same, if it was looked for lately; or it is looked for, and not made. */
static inline ShadowPage *threads_page_near(Threads *threads, uint64_t address) {
    uint64_t number = address / SHADOW_PAGE;
    const LatestPage *latest = &threads->latest[hashed(number) % LATEST_PAGES];
    return latest->number == number && latest->page ? latest->page : threads_page_lines(threads, address, false);
}
/* It has cells, of which some begin or end at each of these places of it. */
void threads_page_cells(Threads *threads, ShadowPage *page, uint64_t edges);
/* A slot of a line as those of cells are. */
void threads_line_settle(Threads *threads, uint32_t *slot, uint8_t *shift);
/* The list of one record, whose lane the slot says. */
uint32_t threads_node_alone(Threads *threads, uint32_t record);
/* Lanes of an element of a list: several, or one, as the slot says (Node). */
typedef struct NodeLanes {
    uint32_t lanes, turn;
} NodeLanes;
static inline NodeLanes lanes_in(uint32_t lanes, uint32_t slot) {
    return lanes & (lanes - 1) ? (NodeLanes){lanes, 0}
                               : (NodeLanes){0, ((uint32_t)__builtin_ctz(lanes) - slot) % THREADS_LANES};
}
/* The list with one more in front. */
uint32_t threads_node(Threads *threads, uint32_t record, NodeLanes lanes, uint32_t next, uint32_t pruned);
/* The same of a new record, of which there is no such list yet; or there may be two of it. */
uint32_t threads_node_first(Threads *threads, uint32_t record, NodeLanes lanes, uint32_t next, uint32_t pruned);
/* Gives back what no cell refers to. */
void threads_sweep(Threads *threads);
void threads_record_mark(Threads *threads, uint32_t record);

/* Who accesses: what is known to it. */
typedef struct Knower {
    const ThreadsClock *clock;
    uint32_t cta, warp; /* warp: of the CTA */
    uint32_t own_epoch; /* of its lane's own, up to this one */
    const Warp *notes;  /* NULL: the clock has what they say */
    uint32_t operation; /* 0: the threads themselves */
} Knower;
/* A CTA is over: what it has in flight; its memory. */
void threads_operations_over(Threads *threads, uint32_t cta);
void threads_report_exit(Threads *threads, const ThreadsOperation *operation, uint32_t site, const ThreadsAccess *first,
                         uint64_t address);
void threads_pages_free(Threads *threads, ShadowPage *pages);
/* Whether the lane `by` knows that an operation has read (or written) what its `lane` does. */
bool threads_knows_operation(const Threads *threads, const Knower *knower, uint32_t operation, uint32_t lane,
                             bool writes, uint32_t by);
/* Lanes of an operation whose part is known to be over to whichever lane of the knower. */
uint32_t threads_operation_known(const Threads *threads, const Knower *knower, uint32_t operation, bool writes);
/* What is known to the lanes of an operation when it begins: the part of `lane`. */
const ThreadsPart *threads_operation_part(const ThreadsOperation *operation, uint32_t lane);
/* Frees those that nothing refers to. */
void threads_operations_sweep(Threads *threads);

/* One element of a lane's strong access, before its cells are changed: what it observes. */
typedef struct Observed {
    bool any;
    uint32_t chain, number;
    Releases *releases; /* its own reference */
    Releases *narrow;   /* what it would be, if scopes had each other */
} Observed;
Location *threads_location(Threads *threads, uint64_t address, uint32_t element, bool make);
Observed threads_observe(Threads *threads, uint32_t record, uint32_t lane, uint64_t address);
/* Whether two strong accesses are morally strong: scopes, proxies, sizes. */
bool threads_morally_strong(const Threads *threads, const ThreadsRecord *one, const ThreadsRecord *other);
/* ... and after: its own write, and what it has observed, is known there. */
void threads_observed(Threads *threads, uint32_t record, uint32_t lane, uint64_t address, const Observed *observed);
/* What a thread has read is noted, if to read it again is nothing new while nothing writes there; and it is read again.
 * False: that has to be looked at. */
void threads_poll(Threads *threads, uint32_t record, uint32_t lane, uint64_t address, uint32_t writes);
bool threads_poll_again(Threads *threads, uint32_t warp, uint32_t lane, const ThreadsAccess *access, uint64_t address);
/* Whether the strong write was observed by a thread that the accessing lane knows. */
bool threads_was_observed(Threads *threads, const Knower *knower, uint32_t by, uint32_t record, uint32_t lane,
                          uint64_t address);
/* The location's records stay; the location is gone. */
void threads_location_mark(Threads *threads, const Location *location);
void threads_location_drop(Threads *threads, Location *location);

/* Whether a thread that the knower knows has observed a write of the chain, this one or one behind it. */
bool threads_chain_observed(const Threads *threads, const Knower *knower, uint32_t by, const Location *location,
                            uint32_t chain, uint32_t number);

/* shape.history: a write that is weak, or of an operation; a strong one, which the location has already. */
void threads_history_other(Threads *threads, uint64_t address, uint64_t bytes);
void threads_history_strong(Threads *threads, uint32_t index, uint32_t lane, uint64_t address, const Location *at);
/* What a read observes whose write was chosen. False: none was. */
bool threads_history_observe(Threads *threads, const ThreadsRecord *reads, uint32_t lane, uint64_t address,
                             Observed *observed);

#endif
