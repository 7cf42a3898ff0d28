/* Races in a run of the PTX machine: feeds what it tells to the engine (engine/hb/threads.h), and keeps what that
 * reports.
 *
 * A race is two accesses to the same bytes, at least one a write, not both morally strong, not in causality order
 * (PTX ISA 8.7.1). That the run made them in some order counts for nothing. */
#ifndef CHECK_SIMT_WATCH_H
#define CHECK_SIMT_WATCH_H

#include "machine/simt/schedule/explore.h"

/* One side of a race. */
typedef struct RaceSide {
    const PtxCode *code;
    uint32_t cta, thread; /* CTA number, thread in it */
    bool asynchronous;    /* an operation that the thread issued */
    PtxAccess access;
} RaceSide;

/* Why two accesses are not ordered; the first that fits. */
typedef enum RaceReason {
    REASON_UNORDERED,        /* nothing synchronizes them */
    REASON_SAME_INSTRUCTION, /* two lanes of one instruction */
    REASON_SAME_WARP,        /* two lanes of a warp, without bar.warp.sync */
    REASON_SCOPE,            /* they synchronize, but with a scope that does not have the other thread */
    REASON_PROXY,            /* they are ordered, but a proxy fence is missing */
    REASON_IN_FLIGHT,        /* nothing waited for the operation */
    REASON_MIXED_SIZE,       /* both are strong, and overlap in part */
    REASON_EXIT,             /* in flight when its CTA ends: both sides are the operation */
    REASON_TENSOR_FENCE,     /* of tensor memory: they are ordered, but a tcgen05.fence is missing */
    REASON_START,            /* the first is the start of the CTA that the second reaches into */
    REASON_LATE,             /* a proxy fence is between, but not in the thread that wrote */
    REASON_READ_ONLY,        /* ld.global.nc reads it, and a thread of the grid writes it; ordered or not */
} RaceReason;

typedef struct PtxRace {
    RuleId rule;            /* race.raw, race.war, race.waw, race.inflight, ... */
    RaceSide first, second; /* in the order of the run */
    PtxLocation location;
    uint32_t bytes;
    RaceReason reason;
    bool same_value; /* both write the same */
    bool by_chance;  /* ... in this run, and not with other data */
    bool unset;      /* they write what is made of registers or memory that nothing has written */
    bool by_lanes;   /* unless lanes that come together at a shuffle or the like are ordered by that */
    bool waited;     /* REASON_IN_FLIGHT: the first is over for the thread that started it */
    bool unknown;    /* ... or may, in a recording that does not say what */
    uint64_t times;
    uint64_t step;  /* of the second, in thread_instructions */
    uint8_t role;   /* of the watch that found it (watch_internal.h), and */
    uint32_t index; /* which of its engine's races it is */
} PtxRace;

typedef struct PtxWatchOptions {
    bool volatile_races; /* volatile accesses count as weak ones */
    bool history;        /* for ptx_watch_reads */
    bool beyond;         /* the start of CTAs and fences that come late, too: of machines that run, not of recordings */
    bool apart_fences;   /* the order of sequential fences among each other orders nothing */
    const struct WatchSlot *seat; /* one of several launches that are watched together; NULL: it is alone */
    size_t memory;                /* the most that it may take; 0: 3 GiB */
} PtxWatchOptions;

/* Where one of several launches has its place in an engine that is theirs together. */
typedef struct WatchSlot {
    struct Threads *engine;
    uint32_t first_cta, cta_warps; /* CTAs count on from that; all have as many warps there as the largest */
    uint32_t cluster;              /* CTAs from one cluster to the next */
    uint32_t first_site;           /* added to the numbers of code */
    uint64_t variables;            /* added to addresses of the module's variables, which lie elsewhere in others */
} WatchSlot;

typedef struct PtxWatch PtxWatch;
/* Pairs of volatile accesses, none of which polls, that nothing orders, and that would be races if they were not
 * volatile; in `arena`. */
const PtxRace *ptx_watch_loose(const PtxWatch *watch, Arena *arena, uint32_t *count);
/* For one machine; NULL, with a sentence, if it needs more memory than there is. */
PtxWatch *ptx_watch(Arena *arena, PtxMachine *machine, const PtxWatchOptions *options, const char **problem);
void ptx_watch_free(PtxWatch *watch); /* its races are the arena's */
/* Before each run. What was found stays. */
void ptx_watch_start(PtxWatch *watch);
void ptx_watch_observe(void *watch, const PtxEvent *event); /* a PtxObserve */
/* From now on, strong accesses order nothing (threads_blind); until the next run. */
void ptx_watch_blind(PtxWatch *watch, bool blind);
/* Whether some that were made meanwhile could have. */
bool ptx_watch_blind_missed(const PtxWatch *watch);
/* For callers that have the accesses of threads without an event: how an access of that code goes to the engine, in
 * which all lanes write something else than was there; and telling it. */
struct ThreadsAccess;
void ptx_watch_reported(const PtxWatch *watch, const PtxCode *code, const PtxAccess *access,
                        struct ThreadsAccess *reported);
void ptx_watch_access(PtxWatch *watch, const PtxWarp *warp, uint32_t lanes, const struct ThreadsAccess *reported,
                      const uint64_t addresses[PTX_LANES]);
/* All threads of a CTA have come to a named barrier, and go on. */
void ptx_watch_meet(PtxWatch *watch, const PtxCta *cta, uint32_t barrier);
/* Lanes one beside the other, as in engine/hb/threads.h. */
bool ptx_watch_beside(PtxWatch *watch, const PtxWarp *warp, const struct ThreadsAccess *reported, uint64_t first);
/* A cp.async of those lanes, from and to those addresses, with what lies between; nothing is read if
 * from->told is NULL. False: they have committed groups apart from each other. */
typedef struct PtxSpan {
    uint64_t begin, end;
} PtxSpan;
typedef struct PtxCopySide {
    const struct ThreadsAccess *reported;
    const uint64_t *addresses;
    PtxSpan span;
} PtxCopySide;
bool ptx_watch_copy(PtxWatch *watch, const PtxWarp *warp, uint32_t lanes, const PtxCopySide *from,
                    const PtxCopySide *to);
/* Where values are not known (a recording): what is known of those that each code stores. */
typedef enum PtxStoresHow {
    STORES_ANY,
    STORES_ROWS,     /* what lies in registers of other lanes: of one instruction nothing is known */
    STORES_SYMMETRY, /* lanes that come together store the same */
    STORES_SAME,     /* all threads of the launch that come here do */
    STORES_CONSTANT, /* every thread that comes does */
} PtxStoresHow;
typedef struct PtxStores {
    uint8_t how;
    uint32_t value; /* STORES_CONSTANT: what, or a hash of it */
} PtxStores;
void ptx_watch_values(PtxWatch *watch, const PtxStores *stores);
/* Behind a run: copies in flight, ... */
void ptx_watch_end(PtxWatch *watch);
/* One for each pair of instructions and reason. */
const PtxRace *ptx_watch_races(const PtxWatch *watch, uint32_t *count);
/* That one of them came up so often more (threads_again). */
void ptx_watch_again(PtxWatch *watch, uint32_t race, uint64_t times);
/* Whether something that decides what is run came from a read that other orders may give another value, and where
 * first: then one run does not speak for all of them. */
const PtxCode *ptx_watch_order_matters(const PtxWatch *watch);
/* A sentence if some run took more memory than there is, and was not looked at to its end; NULL. */
const char *ptx_watch_problem(const PtxWatch *watch);
/* options.history, for explorations: what strong reads may give. */
PtxReads ptx_watch_reads(PtxWatch *watch);
/* The CTA's number in the engine. */
uint32_t ptx_watch_cta(const PtxWatch *watch, uint32_t cta);
/* Of launches that are watched together, none of which has races of its own: one of the engine's, whose sides are of
 * these two. The location is the second's. */
struct ThreadsRace;
PtxRace ptx_watch_between(const PtxWatch *first, const PtxWatch *second, const struct ThreadsRace *race);
/* In a recording: what an address of global memory belongs to, a variable, or the argument that points to it or before
 * it. */
void ptx_anchored(const PtxMachine *machine, uint64_t address, PtxBlock *block);

#endif
