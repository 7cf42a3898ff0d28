/* What the two halves of the proxies' observer share: shared memory (proxies.c), global memory and descriptors
 * (proxies_global.c). */
#ifndef CHECK_FENCES_INTERNAL_H
#define CHECK_FENCES_INTERNAL_H

#include "check/fences/proxies.h"

/* The first fence of an agent that came after an access. */
typedef struct Bridge {
    bool there;
    Epoch stamp;
    uint32_t pc;
} Bridge;

/* How far a fence reaches. */
typedef enum FencesReach { REACH_CTA, REACH_CLUSTER, REACHES } FencesReach;

/* An ordinary access to shared memory that no other has covered since. */
typedef struct Ordinary {
    struct Ordinary *next; /* of the same bucket */
    const SpanSet *set;
    uint32_t agent, pc;
    Epoch stamp;
    bool live, writes;
    bool forwarded;  /* over when a barrier says so: a fence of the agent that has waited for that is enough */
    bool remote;     /* in the memory of another CTA */
    bool delayed;    /* over when it was waited for */
    Bridge *bridges; /* [agent][reach] */
    uint32_t early;  /* a fence of its own threads that came before it was over; NO_PC: none */
} Ordinary;

/* The latest of an asynchronous op on one region. */
typedef struct Asynchronous {
    const SpanSet *set;
    uint32_t agent, pc;
    Epoch stamp;
    bool live, writes;
} Asynchronous;

typedef struct GlobalAccess GlobalAccess;
typedef struct MadeDescriptor MadeDescriptor;

struct Proxies {
    Arena *arena;
    Machine *machine;
    Clocks *clocks;
    Consan engine; /* gives out spans, and no more */
    Spans *spans;
    uint64_t *marks; /* by span: the number of the access that touches it */
    uint64_t mark;
    uint64_t work;  /* comparisons so far */
    bool pairs;     /* some product is of two CTAs */
    bool unordered; /* an asynchronous access and an ordinary one were in no order */
    Ordinary **ordinary;
    uint32_t ordinary_count, ordinary_capacity;
    Ordinary **buckets;
    Asynchronous *asynchronous;
    uint32_t asynchronous_count, asynchronous_capacity;
    uint32_t *arrivals;      /* [barrier][agent]: where it last told what it knows; NO_PC: nowhere */
    uint32_t *last_fences;   /* [agent]: after which no ordinary access came; NO_PC: one did */
    bool *seen;              /* by effect: accesses to shared memory that were made */
    uint8_t *uses;           /* FenceUse: by instruction, then by point */
    uint32_t *empty_befores; /* by instruction: the fence after which nothing was accessed */
    const FencePoint *points;
    size_t point_count;
    const Op *const *without;
    size_t without_count;
    Breach found[MOST_BREACHES];
    uint32_t count;
    const char *problem;
    const Op *problem_op;
    /* Unknown ops that were run, the latest of them; by instruction: how many there were when it was last run. */
    uint32_t unknowns;
    const Op *unknown;
    uint32_t *unknowns_at; /* NULL: everything is known */
    /* proxies_global.c */
    uint64_t cluster;
    GlobalAccess *globals; /* of the launch, the newest first */
    uint32_t global_count;
    Run global_hull;      /* from the first byte of them to behind the last, of all that were kept so far */
    MadeDescriptor *made; /* of the run */
};

/* What the event does, after another access that it may not see. */
Breach breach_at(BreachKind kind, const Event *event, uint32_t other_pc, uint32_t other_agent);
/* Adds it, or counts it if it is there. */
void proxies_breach(Proxies *proxies, Breach breach);
/* The op by which the agent came to know of an access; *own if that was the start or end of a partition. */
uint32_t proxies_reported_by(const Proxies *proxies, uint32_t agent, Epoch stamp, bool *own);
void proxies_give_up(Proxies *proxies, const char *why, const Op *op);

/* ---- proxies.c ---- */
void proxies_visit_stamp(const StateVisit *visit, Epoch stamp);

/* ---- proxies_global.c ---- */
void proxies_global_start(Proxies *proxies, bool same_launch);
void proxies_global_access(Proxies *proxies, const Event *event);
void proxies_global_visit(const Proxies *proxies, const StateVisit *visit);

void proxies_global_fence(Proxies *proxies, const Event *event);

#endif
