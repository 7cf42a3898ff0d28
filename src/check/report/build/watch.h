/* What a run showed of each barrier, op by op: which slots and parities, how often, who let whom go on.
 *
 * A spectator of the plain run of each cluster (run/check.h). Of all runs it keeps one: the one in which the most ops
 * did something, and among those the longest. */
#ifndef CHECK_REPORT_BUILD_WATCH_H
#define CHECK_REPORT_BUILD_WATCH_H

#include "check/report/build/fit.h"
#include "check/tile/run/check.h"

/* What an op does to a barrier. */
typedef enum SightKind { SIGHT_ARRIVE, SIGHT_EXPECT, SIGHT_DELIVER, SIGHT_WAIT } SightKind;

enum { MOST_SIGHTINGS = 4096 }; /* kept of one op; those that follow are counted */

/* One effect of an op on a barrier, by one agent. */
typedef struct Seen {
    SightKind kind;
    const Op *op;
    const CompiledEffect *effect;
    uint32_t agent, pc;
    uint32_t ring; /* the first that it was seen on */
    bool strays;   /* seen on other rings as well */
    Helper helper;
    uint64_t times;
    uint64_t again;   /* waits: passed on a phase that the agent had seen before */
    uint64_t at_once; /* waits: passed on a barrier of which no phase was complete */
    uint64_t own;     /* waits: passed on a phase that its own agent alone completed */
    uint64_t primes;  /* arrivals: into the first phase, by the agent that has just made the barrier */
    int64_t amount;   /* arrivals, bytes or threads, the first time */
    bool varies;      /* not the same each time */
    Sighting *sightings;
    uint32_t *moments;    /* when, in events of the run */
    uint32_t count, room; /* of sightings that are kept */
    uint32_t next;        /* of the same ring: its index + 1; 0: there is none */
} Seen;

/* Whether all that an arrival does is to let the first wait pass. */
static inline bool seen_primes(const Seen *seen) {
    return seen->primes && seen->primes == seen->times;
}

/* Bytes of one phase by one op. */
typedef struct Delivery {
    const Op *op;
    const CompiledEffect *effect;
    int64_t bytes;
} Delivery;

enum { MOST_DELIVERIES = 16 };

/* A ring of barriers: an array of mbarriers, one side of a token or an aref, or a named barrier. */
typedef struct Ring {
    const Op *root; /* NULL: the named barrier `id` */
    Side side;
    int64_t id, depth;
    int64_t count;    /* arrivals of a phase; -1: never initialized */
    bool counts_vary; /* not the same in all slots */
    uint64_t inits;   /* of all slots together */
    uint64_t flips;
    uint64_t
        *slot_flips; /* of each slot, in the first CTA; NULL: of a run that is not kept, or there are too many slots */
    uint64_t unseen; /* phases that completed while nothing had seen the one before */
    uint64_t waits, arrivals;
    int64_t expected;                     /* bytes of the first phase that had any; -1: none had */
    Delivery deliveries[MOST_DELIVERIES]; /* of that phase */
    uint32_t delivery_count;
    bool bytes_vary; /* other phases had other sums */
    bool primed;     /* the agent that made it arrived at once, so that the first waits pass */
    uint32_t first;  /* of what was seen on it, in the order in which it came: its index + 1; 0: nothing was */
} Ring;

enum { MOST_TOGETHER = 24, MOST_CLUSTER_THREAD_SETS = 1024, NO_CLUSTER_THREADS = UINT32_MAX };

/* Those who together completed a phase of a ring. */
typedef struct ClusterThreads {
    uint32_t ring;
    uint32_t members[MOST_TOGETHER]; /* indices of Seen */
    uint32_t count;
} ClusterThreads;

/* One op's arrival let another's wait go on. */
typedef struct Handing {
    uint32_t from, to; /* indices of Seen */
    uint64_t times;
} Handing;

/* An access came after an earlier one to the same memory because of a wait: that ring protects the buffer. */
typedef struct Protection {
    uint32_t ring;
    const Op *buffer;         /* the op that allocates it */
    uint32_t from, to;        /* agents: of the earlier access, and of the later one, which waited */
    uint32_t cluster_threads; /* who let it go on; NO_CLUSTER_THREADS: not known */
    const Op *wait;           /* the op that waited */
    bool backward; /* the earlier one read what the later one overwrites; else the later one uses what was written */
    uint64_t times;
} Protection;

/* A run. */
typedef struct Sights {
    Rerun rerun;
    Launch launch; /* of the rerun, which points to it */
    RunEnd end;
    uint64_t events;
    Seen *seen;
    uint32_t seen_count, seen_capacity;
    Ring *rings;
    uint32_t ring_count, ring_capacity;
    Handing *handings;
    uint32_t handing_count, handing_capacity;
    ClusterThreads *cluster_thread_sets;
    uint32_t cluster_threads_count, cluster_threads_capacity;
    Protection *protections;
    uint32_t protection_count, protection_capacity;
} Sights;

/* What was seen on a ring, one after the other; NULL behind the last. */
static inline const Seen *seen_at(const Sights *sights, uint32_t number) {
    return number ? &sights->seen[number - 1] : NULL;
}
static inline const Seen *seen_first(const Sights *sights, uint32_t ring) {
    return seen_at(sights, sights->rings[ring].first);
}
static inline const Seen *seen_next(const Sights *sights, const Seen *seen) {
    return seen_at(sights, seen->next);
}

typedef struct Watch Watch;

/* Memory: `arena`. The machine is the one of the first run. */
Watch *watch_create(Arena *arena, Machine *machine);
void watch_start(Watch *watch, const Rerun *rerun);
void watch_observe(Watch *watch, const Event *event);
/* How far the run is, in events. */
uint64_t watch_moment(const Watch *watch);
/* Called by the code that knows the order of accesses: a wait for `barrier` (`named`: a named one) is what first put
 * the later access after the earlier one, which was at the moment `since`, and (`by_helper`) asynchronous. If by now
 * its agent has also synchronized with the agent that made the earlier access, it is that barrier that protects. */
void watch_protects(Watch *watch, uint32_t barrier, bool named, Protection protection, uint64_t since, bool by_helper);
void watch_end(Watch *watch, RunEnd end);
/* The run that was kept; NULL if there was none. */
const Sights *watch_kept(const Watch *watch);
/* Whether the agent is one of a set of the cluster's threads; nothing is of NO_CLUSTER_THREADS. */
bool cluster_threads_has(const Sights *sights, uint32_t cluster_threads, uint32_t agent);
/* How many runs there were. */
uint64_t watch_runs(const Watch *watch);

#endif
