/* What the files of the global race engine share: threads, tickets, an access on its way, and what each mode does.
 *
 * gsan.c           the calls of gsan.h: launches, threads, tickets, what was told
 * gsan_exact.c     the exact mode: judges an access, and records it in cells
 * gsan_state.c     what the exact mode knows of a byte
 * gsan_observed.c  who has read which strong writes there
 * gsan_sync.c      releases, fences and barriers of the exact mode
 * gsan_sampled.c, gsan_cell.h, gsan_cell.c   the sampled mode
 * gsan_pages.c, gsan_pool.c                  addresses and memory, for both */
#ifndef ENGINE_HB_GSAN_INTERNAL_H
#define ENGINE_HB_GSAN_INTERNAL_H

#include "base/table.h"
#include "engine/clock/clock.h"
#include "engine/hb/gsan.h"
#include "engine/shadow/gsan_pages.h"

enum { SCOPES = SCOPE_SYS + 1, NO_SITE = UINT32_MAX };

/* Of launches, by number. */
typedef struct LaunchSet {
    uint32_t words;
    uint64_t bits[];
} LaunchSet;

typedef struct HbGsanLaunch {
    uint32_t device, ctas, cluster;
    uint32_t first_cta;          /* the number that its first CTA has in clocks */
    uint32_t numbers;            /* chained: so many from there on are its own, and of those behind it; 0: it is not chained */
    LaunchSet *before, *awaited; /* all that are; those that it waits for by itself, and what is before them */
    /* What its CTAs know when they begin (NULL until the first one does), and what is known when all have ended. */
    Clock *begin, *end;                /* exact */
    Clock *ended;                      /* exact: it has ended, and no more; NULL until it is asked for */
    uint16_t *begin_clock, *end_clock; /* sampled */
} HbGsanLaunch;

typedef struct Thread Thread;
typedef struct Ticket Ticket;
typedef struct GsanRelease GsanRelease;

/* The threads that have waited for a ticket, and in which epoch. */
typedef struct Completion {
    const Thread *thread;
    uint32_t epoch;
    struct Completion *next;
} Completion;

/* An access that a ticket of the sampled mode has made, for when it is over. */
typedef struct Promised {
    uint64_t begin, end;
    uint32_t site;
    AccessKind kind;
    Order order;
    Scope scope;
    struct Promised *next;
} Promised;

struct Ticket {
    Thread *thread; /* of who issued it */
    uint32_t number, epoch;
    uint32_t records;      /* of cells, that name it */
    bool done, is_write;   /* is_write: one of its accesses is */
    Completion completion; /* the first one, if it is done */
    Ticket *next, **place; /* list of its thread */
    Clock *clock;          /* exact: when it was issued */
    uint16_t *vector;      /* sampled: the same */
    Promised *promised;    /* sampled */
    uint32_t strong_epoch; /* sampled: of its thread, when another one had waited for its strong accesses */
};

/* A release that was read, but made no edge. */
typedef struct Missed {
    const Thread *other;
    uint32_t epoch; /* of the other one */
    uint32_t released_site, acquired_site;
    GsanMissing missing;
} Missed;

enum { HINTS = 8 };
typedef struct Hints {
    Missed missed[HINTS];
    struct {
        uint32_t site, epoch;
    } releases[HINTS];
    uint32_t missed_count, release_count; /* ever */
} Hints;

struct Thread {
    uint32_t number, launch, cta, cluster, device;
    uint32_t of_clocks; /* exact: the number that it has in clocks */
    uint32_t epoch;     /* of what it does now; from 1 on */
    uint32_t published; /* the last epoch that a release of it covers */
    bool alive;
    bool dirty;         /* something is recorded with `epoch` */
    bool issued, wrote; /* in this epoch a ticket was issued; an asynchronous write was made */
    Ticket *tickets;    /* exact: in flight; sampled: all */
    /* exact */
    Clock *clock;
    bool has_fence[SCOPES]; /* a fence of that scope has closed: the clock, and its own epochs up to one */
    Clock *fences[SCOPES];
    uint32_t fence_epochs[SCOPES];
    Clock *observed[SCOPES]; /* what an acquire fence of that scope, or of a wider one, would bring */
    GsanRelease *latest;     /* the last one that it observed, and with which scope */
    Scope latest_scope;
    Hints *hints;
    /* sampled */
    struct GsanSampledLane *lane;
};

/* A race of the access that is being judged: not told yet, since it may go on in the next cell. */
typedef struct GsanPending {
    GsanRace race;
    uint64_t tag; /* of cells that have the same race */
} GsanPending;
enum { MOST_PENDING = 16 };

typedef struct GsanAccess {
    Thread *thread;
    Ticket *ticket; /* NULL: not asynchronous */
    uint32_t site;
    AccessKind kind;
    Order order;
    Scope scope;
    uint64_t begin, end; /* in whole granules */
    uint64_t place; /* of a strong access: where its elements begin, modulo their size; if two accesses differ in */
    uint32_t bytes; /* that or in the bytes of an element, they do not go together. 0: not known */
    uint32_t epoch; /* that it is recorded with */
    uint32_t own;   /* the last epoch of its thread that is before it */
    GsanPending pending[MOST_PENDING];
    uint32_t pending_count;
    unsigned reported;
} GsanAccess;

typedef struct ReportedPair {
    uint32_t earlier, later, kinds; /* kinds: 0: free */
} ReportedPair;
typedef TABLE_OF(ReportedPair) ReportedPairs;

typedef struct Shared Shared; /* a barrier object: gsan_publish */

/* Scratch of a thread, for looking through lists. */
typedef struct Mark {
    uint32_t kept;  /* one more than the index of a record of it that stays; 0 when no list is looked through */
    uint64_t stamp; /* of a chain of writes: the thread has observed all of it */
} Mark;

struct Gsan {
    Pool pool;
    jmp_buf exhausted;
    GsanOptions options;
    const struct GsanModeCalls *mode;
    GsanFound *found;
    void *context;
    bool blind; /* nothing more can be said: see gsan_trouble */
    GsanTrouble trouble;
    uint32_t trouble_thread, trouble_site, site;
    HbGsanLaunch *launches;
    uint32_t launch_count, launch_capacity;
    Thread **threads;
    uint32_t thread_count, thread_capacity;
    Ticket **tickets; /* by number; NULL: over, and nothing of it is left */
    uint32_t ticket_count, ticket_capacity;
    ReportedPairs pairs;
    Shared **shared;
    uint32_t shared_count, shared_capacity;
    Pages pages;
    uint64_t accesses, elements, races, shadow_bytes;
    struct GsanSampledLanes *lanes; /* sampled */
    ClockSpace clocks;              /* exact */
    uint64_t cta_count;             /* of all launches */
    struct GsanExactWalk *walk;     /* exact: of the last access */
    Mark *marks;                    /* exact: of each thread */
    uint32_t mark_capacity;
    uint64_t stamp; /* the last one that a mark can have */
};

struct Shared {
    uint64_t object;
    bool used;
    Clock *clock;     /* exact */
    uint16_t *vector; /* sampled */
};

/* ---- gsan.c ---- */

bool gsan_launches_has(const LaunchSet *set, uint32_t launch);
void gsan_set_trouble(Gsan *gsan, GsanTrouble trouble, const Thread *thread);
/* An array of the pool with room for one more. */
void *gsan_grown(Gsan *gsan, void *items, uint32_t count, uint32_t *capacity, size_t item_size);
Thread *gsan_new_thread(Gsan *gsan);
/* Before something is recorded with the thread's epoch: a ticket of the same epoch must not come after it. */
void gsan_touch(Gsan *gsan, Thread *thread, bool writes);
/* The epoch ends, if there is anything in it: the last one that is over. */
uint32_t gsan_close(Gsan *gsan, Thread *thread);
/* The narrowest scope that has both. */
Scope gsan_needed(const Thread *a, const Thread *b);
Scope gsan_narrower(Scope a, Scope b);
/* A race of the access with an earlier one: of race, all but `later` is given. */
void gsan_note(Gsan *gsan, GsanAccess *access, const GsanRace *race, uint64_t tag);
/* Tells what is pending. */
void gsan_report(Gsan *gsan, GsanAccess *access);
/* Races with the same tag go on. */
void gsan_extend(GsanAccess *access, uint64_t tag, uint64_t begin, uint64_t end);

static inline bool gsan_is_strong(Order order) {
    return order != ORDER_WEAK;
}
static inline bool gsan_acquires(const GsanAccess *access) {
    return !access->ticket && access->kind != KIND_WRITE && order_acquires(access->order);
}
static inline bool gsan_releases(const GsanAccess *access) {
    return !access->ticket && access->kind != KIND_READ && order_releases(access->order);
}

/* ---- The modes ---- */

/* Calls of gsan.h as each mode answers them. */
struct GsanModeCalls {
    void (*create)(Gsan *gsan);
    void (*launch)(Gsan *gsan, HbGsanLaunch *launch, const GsanLaunch *from);
    Thread *(*thread)(Gsan *gsan, const HbGsanLaunch *launch); /* for a CTA that begins; NULL: there is none */
    void (*begin)(Gsan *gsan, Thread *thread);
    void (*end)(Gsan *gsan, Thread *thread);
    void (*await)(Gsan *gsan, Thread *thread);
    void (*access)(Gsan *gsan, GsanAccess *access);
    void (*issue)(Gsan *gsan, Ticket *ticket);
    void (*complete)(Gsan *gsan, Ticket *ticket, Thread *thread);
    void (*forget)(Gsan *gsan, uint64_t begin, uint64_t end);
    void (*acquire_fence)(Gsan *gsan, Thread *thread, Scope scope);
    void (*release_fence)(Gsan *gsan, Thread *thread, Scope scope);
    /* Its epochs up to thread->published, or what its fences have. */
    void (*publish)(Gsan *gsan, Thread *thread, Shared *shared, GsanExtent extent);
    void (*acquire)(Gsan *gsan, Thread *thread, const Shared *shared);
    void (*retire)(Gsan *gsan, Shared *shared);
};
extern const struct GsanModeCalls gsan_exact_mode, gsan_sampled_mode;

/* ---- gsan_sync.c, for gsan_exact.c ---- */

void gsan_sync_acquire_fence(Gsan *gsan, Thread *thread, Scope scope);
void gsan_sync_release_fence(Gsan *gsan, Thread *thread, Scope scope);
void gsan_sync_publish(Gsan *gsan, Thread *thread, Shared *shared, GsanExtent extent);
void gsan_sync_acquire(Gsan *gsan, Thread *thread, const Shared *shared);
void gsan_sync_retire(Gsan *gsan, Shared *shared);
/* What an access that acquires, or a later fence, gets from a release that it has read. */
void gsan_sync_read(Gsan *gsan, GsanAccess *access, GsanRelease *release);
/* What is there to be read after a strong write: may be NULL; one reference is the caller's. */
GsanRelease *gsan_sync_write(Gsan *gsan, GsanAccess *access, const GsanRelease *before);
void gsan_release_drop(Gsan *gsan, GsanRelease *release);
GsanRelease *gsan_release_share(GsanRelease *release);
/* The access has read a write of another thread that is no release. */
void gsan_sync_missed(Gsan *gsan, GsanAccess *access, const Thread *writer, uint32_t epoch, uint32_t site);
/* Fills in what would have ordered them. */
void gsan_sync_hint(const Thread *later, const Thread *earlier, uint32_t epoch, GsanRace *race);

#endif
