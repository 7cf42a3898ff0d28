/* What the files of the watch share: events that go to the engine as they are (watch.c), operations in flight and the
 * groups in which threads wait for them (watch_outstanding.c), and races (watch_races.c). */
#ifndef CHECK_SIMT_WATCH_INTERNAL_H
#define CHECK_SIMT_WATCH_INTERNAL_H

#include "base/table.h"
#include "check/simt/watch.h"
#include "engine/hb/threads.h"
#include "machine/simt/decode/unused.h"

/* An operation that something may still wait for in a group, or by a commit. */
typedef struct Waited {
    uint32_t operation;
    uint32_t number;    /* of those of its warp */
    uint32_t lanes;     /* that have not waited for it */
    uint32_t groups;    /* groups that these had committed before it */
    uint8_t group;      /* GroupKind */
    bool sources_known; /* they have waited for what it reads */
    uint32_t arrivals;  /* that cover it, and have not come yet */
} Waited;

/* What an arrival says: that these are over. */
typedef struct WatchCovered {
    uint32_t operation, number, lanes; /* number: as in Waited */
} WatchCovered;

typedef struct WatchedLaunch {
    uint32_t sequence; /* 0: free */
    uint32_t operation;
    WatchCovered *covered; /* of the outstanding operation of an arrival */
    uint32_t covered_count, covered_capacity;
} WatchedLaunch;
typedef TABLE_OF(WatchedLaunch) WatchedLaunches;

typedef struct WatchedWarp {
    Waited *waited;
    uint32_t waited_count, waited_capacity, waited_number;
    uint32_t look_at; /* so many, and it is looked which of them are known to be over to all that may ask */
    uint32_t committed[GROUP_KINDS][PTX_LANES];
    bool apart[GROUP_KINDS];    /* some lanes have committed without the others */
    uint32_t newest[PTX_LANES]; /* of the operations that a commit waits for, one after the other: the last */
} WatchedWarp;

/* What is ordered by other rules than memory is watched apart from it, by engines of their own: they get the
 * events that synchronize, and no other accesses to memory.
 *
 * Tensor memory: tcgen05.fence carries what was done to it over an arrival and a wait that are relaxed. It is watched
 * twice: as far as anything orders it, and as far as these fences do, which is what the ISA's canonical patterns have.
 * The start of CTAs: a thread that accesses another CTA of its cluster has to come behind that CTA's start, by anything
 * that orders the two; how strong that is says nothing of time. A CTA's start is an operation that writes to
 * its first byte, over for its threads when they begin; reaching into it reads that byte. */
typedef enum WatchRole {
    WATCHES_MEMORY,    /* all but tensor memory */
    WATCHES_TENSOR,    /* tensor memory, by all that orders */
    WATCHES_CANONICAL, /* ... by tcgen05.fence alone, and what waits for operations themselves */
    WATCHES_STARTS,    /* of CTAs */
    WATCH_ROLES,       /* of a race: no engine found it */
} WatchRole;

/* The operation that the last copy was reported as. */
typedef struct OpenCopy {
    uint32_t operation, warp, lanes, groups; /* operation 0: something else was reported since */
    PtxSpan from, to;
} OpenCopy;

/* Proxy fences that others execute than those who wrote (watch_late.c). */
typedef struct WatchLate WatchLate;

struct PtxWatch {
    Arena *arena; /* races */
    Arena run;    /* outstanding operations and groups of this run */
    PtxMachine *machine;
    PtxWatchOptions options;
    WatchRole role;
    PtxWatch *others[WATCH_ROLES]; /* NULL: the kernel does not need that one */
    uint8_t *started;              /* WATCHES_STARTS, of each CTA: its start was reported */
    WatchLate *late;               /* NULL: no fence can come late */
    Threads *engine;
    uint32_t cta_warps; /* of the engine's CTAs */
    OpenCopy open;
    WatchedWarp ***warps;            /* of each CTA; NULL: nothing asynchronous yet */
    WatchedLaunches outstanding_ops; /* by sequence */
    const PtxCode *arrival;          /* TRACK or COMMIT_TO: the outstanding operation that comes next is its */
    WatchCovered *covered;
    uint32_t covered_count, covered_capacity;
    PtxRace *races;
    uint32_t race_count, race_capacity;
    uint32_t taken; /* of the engine's races, how many were looked at */
    uint32_t news;  /* of the engine (threads_news), as it was when they were taken */
    const PtxCode *order_matters;
    const PtxStores *stores; /* of each code; NULL: values are known */
};

/* Objects of the engine. */
static inline uint64_t mbarrier_object(uint64_t place) {
    return UINT64_C(1) << 60 | place;
}

uint32_t watch_warp(const PtxWatch *watch, const PtxWarp *warp);
uint32_t watch_site(const PtxWatch *watch, const PtxCode *code);
/* The place of an mbarrier with the CTA's number in the engine. */
uint64_t watch_place(const PtxWatch *watch, uint64_t place);
/* Lanes whose location is of memory that threads share, and their addresses. */
uint32_t watch_addresses(const PtxWatch *watch, const PtxLocation *locations, uint32_t lanes,
                         uint64_t addresses[PTX_LANES]);
/* The access as the engine takes it. */
ThreadsAccess watch_access(const PtxWatch *watch, const PtxEvent *event);
/* The bytes of an mbarrier are touched. */
void watch_mbarrier(PtxWatch *watch, const PtxEvent *event, AccessKind kind, bool weak);

void watch_issue(PtxWatch *watch, const PtxEvent *event);
void watch_outstanding_access(PtxWatch *watch, const PtxEvent *event);
void watch_outstanding_done(PtxWatch *watch,
                            const PtxEvent *event); /* complete, or an arrival, by an outstanding operation */
void watch_land(PtxWatch *watch, const PtxEvent *event);
void watch_commit(PtxWatch *watch, const PtxEvent *event);
void watch_await(PtxWatch *watch, const PtxEvent *event);
void watch_arrival(PtxWatch *watch, const PtxEvent *event);
void watch_cta_over(PtxWatch *watch, uint32_t cta);

static inline bool watches_tensor(const PtxWatch *watch) {
    return watch->role == WATCHES_TENSOR || watch->role == WATCHES_CANONICAL;
}
/* WATCHES_STARTS: the CTA of the event's warp has begun; by that event it reaches into others. */
void watch_started(PtxWatch *watch, const PtxEvent *event);
void watch_reaches(PtxWatch *watch, const PtxEvent *event);
void watch_outstanding_reaches(PtxWatch *watch, uint32_t operation, const PtxEvent *event);
/* Operations of those lanes that are in flight come before what others put into the pipe, whom they tell so. */
void watch_pipe(PtxWatch *watch, const PtxEvent *event);

WatchLate *watch_late(Arena *arena, const PtxMachine *machine);
void watch_late_start(PtxWatch *watch);
void watch_late_see(PtxWatch *watch, const PtxEvent *event);
void watch_late_end(PtxWatch *watch); /* what came late is behind the races of the run */

/* Takes over what the engine has found since. */
void watch_take_races(PtxWatch *watch, const PtxEvent *event);

#endif
