/* Races between threads, by PTX's memory model: vector clocks over lanes, warps and CTAs, and shadow memory.
 *
 * The machine that runs a kernel reports what its threads do, in an order in which it could have happened: accesses,
 * fences, barriers, and asynchronous operations, which are actors of their own. The engine says which accesses race
 * (PTX ISA 8.7.1): they overlap, one of them writes, they are not morally strong (both strong, each scope has the other
 * thread, the same proxy, complete overlap), and not in causality order. It knows no instructions.
 *
 * What is before what (8.8, 8.9): program order; a release pattern that an acquire pattern observes, also through
 * chains of atomics, if their scopes have each other; fence.sc in the order of the run; barriers. A strong write that
 * was observed is before what comes after who observed it. Lanes of a warp are not ordered by running together.
 * Across proxies, and between CTAs in one that is not the generic one, a proxy fence has to stand between as well. An
 * operation begins behind what its thread did before; it is over for those whom a wait told so, and for those that come
 * behind them. Exact for what the run's reads have read: no access is forgotten unless every later one that races with
 * it also races with one that is kept.
 *
 * State. A thread has an epoch, which grows where others may learn of it. A clock says up to which epoch each thread is
 * known: one number for a CTA whose threads are known alike (behind bar.sync), and 12 bytes for each set of lanes of a
 * warp that are not; nothing of CTAs that are not known, and whatever is equal is shared (copied when it changes).
 * Threads of a warp that know the same are one view: 32 bytes a warp that goes together, 1 byte a thread; 24 more for
 * each set of lanes with a fence that something may still pair with.
 * A location is a word, split where accesses are narrower: 8 bytes (its writes, its readers). What stands there are
 * lists that are kept once, for all words that have the same: 48 bytes for each access of a warp's instruction, and 48
 * for what is known of the access; what no word refers to is given back now and then. A location that is used for
 * synchronization has 112 bytes more, and 60 for each thread that wrote or observed it. */
#ifndef ENGINE_HB_THREADS_H
#define ENGINE_HB_THREADS_H

#include "base/consistency.h"

#include <stddef.h>
#include <stdint.h>

enum { THREADS_LANES = 32 };
#define THREADS_NONE    UINT32_MAX
#define THREADS_ANY_CTA UINT32_MAX

/* Addresses are the caller's: global memory as it is, memory of a CTA with these. */
static inline uint64_t threads_shared(uint32_t cta, uint64_t offset) {
    return UINT64_C(1) << 62 | (uint64_t)cta << 28 | offset;
}
static inline uint64_t threads_tensor(uint32_t cta, uint64_t offset) {
    return UINT64_C(2) << 62 | (uint64_t)cta << 28 | offset;
}

typedef struct ThreadsShape {
    uint32_t ctas, cta_threads;
    uint32_t cluster;  /* CTAs of a cluster; those of one have consecutive numbers */
    size_t memory;     /* the most that it may take; 0: 4 GiB */
    uint32_t sweep_at; /* how much there is when it first looks for what nothing refers to; 0: a million. For tests */
    bool history;      /* writes are kept: threads_sources can be asked. For small programs */
    bool by_word;      /* every word and lane is looked at on its own, with the same result: slow. For tests */
} ThreadsShape;

/* A warp is known by its number in the grid: CTA * warps of a CTA + its own. */
typedef struct ThreadsAccess {
    uint8_t kind, proxy, order, scope; /* order: ..._WEAK: it is a weak one, and has no scope */
    uint8_t element;                   /* bytes of a scalar: strong ones overlap completely if they have the same */
    bool read_only;                    /* reads what nothing may write while the grid runs */
    bool gives;                        /* reads, and the value is used */
    bool loose;                        /* strong by its text alone (volatile): threads_loose */
    bool inits;                        /* it makes an mbarrier: threads_fence_inits is for it */
    bool object;                       /* of an mbarrier: what it orders is told by threads_arrive and the like */
    uint32_t site;                     /* the caller's number for the instruction */
    uint32_t silent;                   /* writes: lanes that do not change what is there */
    uint32_t bytes;                    /* of each lane */
    uint32_t used;                     /* elements of each lane's bytes that are touched: a mask; 0: all */
} ThreadsAccess;
/* Whether all elements of each lane are touched. */
bool threads_is_whole(const ThreadsAccess *access);

typedef enum ThreadsReason {
    THREADS_UNORDERED,
    THREADS_SAME_INSTRUCTION, /* two lanes of one instruction */
    THREADS_SAME_WARP,        /* two lanes of a warp */
    THREADS_TOO_NARROW,       /* both are strong, or a release and an acquire met, but a scope lacks the other thread */
    THREADS_OTHER_PROXY,      /* they are ordered, but for a proxy fence */
    THREADS_IN_FLIGHT,        /* the first is asynchronous, and the second does not know that it is over */
    THREADS_MIXED_SIZE,       /* both are strong, and overlap in part */
    THREADS_AT_EXIT,          /* asynchronous, and nothing has waited for it when its CTA is over; no second */
    THREADS_READ_ONLY,        /* read through a path for data that nothing writes, and written: ordered or not */
} ThreadsReason;

typedef struct ThreadsSide {
    uint32_t warp, lane;
    bool asynchronous;
    ThreadsAccess access;
} ThreadsSide;

typedef struct ThreadsRace {
    ThreadsSide first, second; /* in the order of the run */
    uint64_t address;          /* of the first byte that both touch */
    uint32_t bytes;            /* from there on, of the words that were told together */
    ThreadsReason reason;
    bool same_value; /* a write that changes nothing */
    bool waited;     /* THREADS_IN_FLIGHT: its own threads have waited for the first */
    uint64_t times;
} ThreadsRace;

typedef struct Threads Threads;

/* NULL, with a sentence, if there is not enough memory. Memory is its own. */
Threads *threads_create(const ThreadsShape *shape, const char **problem);
void threads_free(Threads *threads);
/* A new run of the same grid: all is forgotten but the races. */
void threads_restart(Threads *threads);
/* From now on strong accesses observe nothing, and what they release reaches no thread: less is ordered than is. */
void threads_blind(Threads *threads, bool blind);
/* Whether something that threads did in that time may have synchronized two of a CTA: one of them behind a fence of its
 * own, or by a release, another one before a fence, or by an acquire. */
bool threads_blind_missed(const Threads *threads);
/* A sentence if it could not go on, for lack of memory: nothing more is found then; NULL. */
const char *threads_trouble(const Threads *threads);
/* One for each two sites and reason, in the order in which they were found. */
const ThreadsRace *threads_races(const Threads *threads, uint32_t *count);
/* How many they are, and whether threads_order_matters: another number whenever one of the two is new. */
uint32_t threads_news(const Threads *threads);
/* That race came up so often more, in what need not be told as it is the same again. */
void threads_again(Threads *threads, uint32_t race, uint64_t times);
/* The site of the first strong read (or update) that gave a value and could have given another: another thread writes
 * there strongly, and nothing orders the two. THREADS_NONE: there was none. */
uint32_t threads_order_matters(const Threads *threads);
/* Pairs of loose accesses that nothing orders, and that only their strength keeps from being races: the first of each
 * two sites, and of these the first few. */
const ThreadsRace *threads_loose(const Threads *threads, uint32_t *count);

/* ---- Threads ---- */

void threads_exit(Threads *threads, uint32_t warp, uint32_t lanes);
/* All of its threads have ended, and its memory is gone. */
void threads_over(Threads *threads, uint32_t cta);

/* Of several launches, each has CTAs of its own. For those lanes the launch of these CTAs has ended: all that they did,
 * and what they have issued, is before what comes, whatever proxy it is in. */
void threads_ended(Threads *threads, uint32_t warp, uint32_t lanes, uint32_t first_cta, uint32_t ctas);

/* ---- Accesses ---- */

/* Of the lanes of a warp, each its own, as one instruction. `operation`: what it is done by; 0: the threads
 * themselves. */
void threads_access(Threads *threads, uint32_t operation, uint32_t warp, uint32_t lanes, const ThreadsAccess *access,
                    const uint64_t addresses[THREADS_LANES]);
/* Of all 32 lanes of a warp, each behind the one before, from `first` on: faster, where it can be. False: it has to be
 * told by threads_access. */
bool threads_access_coalesced(Threads *threads, uint32_t warp, const ThreadsAccess *access, uint64_t first);
/* Of an operation of one lane, or of all together: `bytes` from an address on; access->bytes is not looked at. */
void threads_piece(Threads *threads, uint32_t operation, const ThreadsAccess *access, uint64_t address, uint64_t bytes);
/* Several of them, all of which are of the same memory: one access. */
typedef struct ThreadsPiece {
    uint64_t address, bytes;
} ThreadsPiece;
void threads_pieces(Threads *threads, uint32_t operation, const ThreadsAccess *access, const ThreadsPiece *pieces,
                    uint32_t count);

/* ---- Asynchronous operations ---- */

/* Lanes of a warp issue one, each lane one of its own; or all of them together a single one. `after`: an earlier
 * operation that the hardware finishes before this one touches anything; 0. */
uint32_t threads_issue(Threads *threads, uint32_t warp, uint32_t lanes, bool together, uint32_t after, uint32_t site);
/* Those lanes issue another one, each its own, and have done nothing since they issued this: it may be told of as the
 * same, if no lane of the two touches what a lane of the other does. */
void threads_issue_again(Threads *threads, uint32_t operation, uint32_t site);
typedef enum ThreadsDone {
    THREADS_ALL_DONE,   /* it is over */
    THREADS_READS_DONE, /* what it reads, it has read */
    THREADS_IN_ORDER,   /* it need not be: but what is put into the same pipe from here on comes behind it */
} ThreadsDone;
/* It goes through the one pipe that there is: THREADS_IN_ORDER is for it, and for those before it. */
void threads_piped(Threads *threads, uint32_t operation);
/* Lanes know that it is over, each what it issued itself; or all of it, for each of them. */
void threads_done(Threads *threads, uint32_t operation, ThreadsDone done, uint32_t warp, uint32_t lanes, bool own);
/* A thread that waits for the phase of the object (below; of that CTA) that is not complete yet will know that it is
 * over: what was issued by `lanes`. */
void threads_done_by(Threads *threads, uint32_t operation, ThreadsDone done, uint64_t object, uint32_t cta,
                     uint32_t lanes);
/* ... and what they knew when they issued it; not what they did themselves. */
void threads_done_reports(Threads *threads, uint32_t operation, uint64_t object, uint32_t cta, uint32_t lanes,
                          Scope scope);
/* Whether all threads of its cluster that live know that it is over, so that none can learn that any more. */
bool threads_done_for_all(Threads *threads, uint32_t operation);
/* The caller does not speak of it again. */
void threads_close(Threads *threads, uint32_t operation);

/* ---- Order ---- */

void threads_fence(Threads *threads, uint32_t warp, uint32_t lanes, Order order, Scope scope, bool sequential);
typedef enum ThreadsSpace {
    THREADS_EVERYWHERE,
    THREADS_GLOBAL,
    THREADS_OWN_SHARED,
    THREADS_CLUSTER_SHARED
} ThreadsSpace;
/* Between the generic proxy and another one. ORDER_ACQ_REL: both ways, of itself. ORDER_RELEASE: what is done so
 * far in the generic proxy; it is there for the other one behind an ..._ACQUIRE, for which this has to be ordered
 * before it, by scopes that have each other. `address`: of an acquire, the 128 bytes that it is for; 0: all. */
void threads_fence_proxy(Threads *threads, uint32_t warp, uint32_t lanes, uint8_t proxy, ThreadsSpace space,
                         Order order, Scope scope, uint64_t address);
/* Accesses that `inits` so far are released to the cluster, by a relaxed arrival that follows, too. */
void threads_fence_inits(Threads *threads, uint32_t warp, uint32_t lanes);
/* Lanes of a mask meet. */
void threads_warp_sync(Threads *threads, uint32_t warp, uint32_t lanes);

/* Barriers: objects that the caller names (not 0). Arrivals are in the phase that is not complete; a wait is for the
 * last that is, and so behind the earlier ones, too. Order: ..._RELEASE and ..._ACQUIRE, or ..._RELAXED: an arrival
 * then brings what fences have released, a wait gives it to a fence that acquires. `cta`: whose it is, and with which
 * it is gone; THREADS_ANY_CTA: it belongs to no CTA, and no operation can be done by it. */
void threads_arrive(Threads *threads, uint64_t object, uint32_t cta, uint32_t warp, uint32_t lanes, Order order,
                    Scope scope);
void threads_flip(Threads *threads, uint64_t object);
void threads_wait(Threads *threads, uint64_t object, uint32_t warp, uint32_t lanes, Order order, Scope scope);
/* All threads of a CTA, none of which has ended, arrive at an object of it (..._RELEASE, ..._CTA), it flips, and all of
 * them have waited: the same as telling each of these. */
void threads_meet(Threads *threads, uint64_t object, uint32_t cta);
/* It is made again. */
void threads_reset(Threads *threads, uint64_t object);

/* ---- What else a read could have read (shape.history) ---- */

/* A write to a location, by its number in the order of the run; 0: what was there before. */
typedef struct ThreadsSource {
    uint32_t write;
    uint32_t warp, lane, site;
} ThreadsSource;
/* Those that a read of `access`, made now by that lane, may read: no other write is between in causality order, as far
 * as the run went. Strong reads alone, of what was written strongly; else 0. The newest first; at most `most`. All
 * bytes have to be of one write, of the same bytes. */
uint32_t threads_sources(Threads *threads, uint32_t warp, uint32_t lane, const ThreadsAccess *access, uint64_t address,
                         ThreadsSource *sources, uint32_t most);
/* The next threads_access by that lane (a read of one element) reads this one. */
void threads_choose(Threads *threads, uint32_t write);
/* How many writes have been numbered so far: those of an access have the numbers behind what it was before. */
uint32_t threads_writes(const Threads *threads);

#endif
