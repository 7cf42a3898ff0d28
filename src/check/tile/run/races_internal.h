/* What the files about races share: the engine, and what is remembered for the code that explains what it objects to.
 */
#ifndef CHECK_TILE_RUN_RACES_INTERNAL_H
#define CHECK_TILE_RUN_RACES_INTERNAL_H

#include "check/tile/run/races.h"
#include "model/memory/overlay.h"

/* Spans and late arrivals: of each CTA. */
enum { SPANS = 1024, WINDOW = 2 * MOST_OUTSTANDING_OPS, MOST_LATE = 16, MOST_GUARDS = 4 };

/* A phase: who has arrived in it, the first ones. */
typedef struct PhaseArrivals {
    struct RaceArriver by[MOST_ARRIVERS];
    uint32_t count;
} PhaseArrivals;

/* A wait that an agent went past, and who had completed the phase that it waited for. */
typedef struct Guard {
    bool any;
    uint32_t barrier, pc;
    PhaseArrivals arrivals;
} Guard;

/* What is to be explained of a barrier: the phase that is open, and the last that is complete. */
typedef struct BarrierPast {
    PhaseArrivals now, done;
} BarrierPast;

struct Races {
    Machine *machine;
    Arena *arena;
    Consan engine;
    Spans *spans;
    MayOrder *may_order; /* NULL: everything is known */
    bool by_waits;
    bool commits;                           /* the kernel commits its products itself */
    bool late_arrivals;                     /* in this run, of commits or copies */
    uint32_t named, cluster_first;          /* where the barriers of the engine begin that stand for those */
    uint32_t fenced_first;                  /* the same, of each agent of a cluster: what its last fence has released */
    const SpanSet *outstanding_ops[WINDOW]; /* what copies and arrivals in flight write, by sequence number */
    const SpanSet *sources[WINDOW];         /* what such copies read, of shared memory */
    /* Arrivals in flight: what they will publish is settled when they are issued, and kept in phases of barriers that
     * stand for nothing else, from `late_first` on. Sequence numbers; 0: free. */
    uint32_t late_first, *late, late_count;
    BarrierPast *pasts;           /* of each barrier */
    Guard (*guards)[MOST_GUARDS]; /* of each agent: its last waits, the latest first */
    const Overlays *overlays;
    bool *laid_over;        /* by storage: it may lie over another */
    struct OverPair *pairs; /* items of `overlays`, each with one that it lies over */
    uint32_t pair_count, pair_capacity;
    const Op *over; /* the same as Race.over, while such an access is looked at, and how it lies there */
    Over how;
    TileFlow flow;
    Race found[MOST_RACES];
    uint32_t count;
    uint64_t cluster;
    unsigned havoc_choice;
    bool again;
    const char *problem;
    const Op *problem_op;
};

/* The actor of an agent, or of one of its helpers; and which it is. */
static inline uint32_t race_actor(uint32_t agent, Helper helper) {
    return consan_base(agent) + (uint32_t)helper * CONSAN_SET;
}

static inline Helper race_helper(uint32_t actor) {
    return (Helper)(consan_kind(actor) / CONSAN_SET);
}

/* ---- races.c ---- */
/* The engine objects to what `thread` does, or that it ends. */
void race_object(Races *races, const Event *event, uint32_t thread, bool writes, const ConsanConflict *conflict,
                 bool by_order);

/* Whether no finding is made of it: an op that is not known may order the two, where memory lies is not known, or
 * another race says it. */
bool race_is_open(const Races *races, const Race *race);

/* Whether the earlier access is an arrival that comes when other work is done. */
bool race_is_arrival(const Races *races, const ConsanConflict *conflict);

/* ---- races_over.c ---- */
void races_prepare_over(Races *races);
/* An access to these bytes, or scratch memory that the op of the event takes. */
void races_check_over(Races *races, const Event *event, uint32_t thread, bool writes, const SpanSet *set);
void races_check_scratch(Races *races, const Event *event);

/* ---- races_exit.c ---- */
/* An agent has ended, and with the first one of a CTA the CTA has. */
void races_end(Races *races, const Event *event);

/* ---- races_edge.c ---- */
/* The barrier on which the earlier access is reported. Returns how sure that is: 3 at best, -1 for none. */
int race_find_report(const Races *races, Race *race, const ConsanConflict *conflict, uint32_t strand);
/* Which edge is missing between the two accesses: the barrier on which the earlier one is reported, and the wait that
 * should have covered it. `state`: when the later one was made. */
void race_find_edge(const Races *races, Race *race, const ConsanConflict *conflict, const State *state);
/* What the barriers of one allocation have in common. */
uint64_t race_ring(const Races *races, uint32_t barrier);

#endif
