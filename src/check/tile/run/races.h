/* Races in shared and tensor memory: the emulator's events, fed to the ConSan engine, and what it objects to.
 *
 * An observer of an eager run: what is asynchronous completes at once, so that what orders two accesses is the order of
 * barriers and waits, and never luck. One run finds what is unordered in it. */
#ifndef CHECK_TILE_RUN_RACES_H
#define CHECK_TILE_RUN_RACES_H

#include "base/visit.h"
#include "check/explain/tile/flow.h"
#include "check/explain/tile/spans.h"
#include "check/tile/run/may_order.h"
#include "machine/tile/step/machine.h"

typedef enum RaceKind {
    RACE_RAW,
    RACE_WAR,
    RACE_WAW,
    RACE_INFLIGHT,
    RACE_APART,       /* the two are in different memory, which could as well be the same */
    RACE_OVERWRITTEN, /* of a live barrier */
    RACE_EXIT_STORE,  /* the later one is the end of the agent, and the earlier a store out of its memory */
    RACE_EXIT         /* it is the end of the CTA, and other asynchronous work goes on in its memory */
} RaceKind;

enum { MOST_MORE = 4, MOST_ARRIVERS = 6 };

/* Two accesses that nothing orders. */
typedef struct Race {
    RaceKind kind;
    uint32_t thread, pc;             /* the later one: the engine's actor */
    uint32_t other_thread, other_pc; /* the earlier one */
    uint32_t span;
    GroupKind group;  /* that the earlier one is in, if it is waited for so; GROUP_NONE: it is in none */
    uint32_t barrier; /* on which the earlier one reports, UINT32_MAX: on none */
    uint8_t parity;   /* in the phase of which parity */
    /* The later one's agent waited for a barrier of that ring, but the arrival that let it go on came before the
     * earlier access. */
    bool released_early;
    /* It waited for a barrier on which the other one's agent arrives, but the phase was complete without that: these
     * had arrived instead. */
    bool without;
    struct RaceArriver {
        uint32_t agent, pc;
    } instead[MOST_ARRIVERS];
    uint32_t instead_count;
    /* One of the two, the later one (unseen_later) or the earlier, is reported on a barrier for which the other one's
     * agent never waits (guard_wait_pc: UINT32_MAX), or not in time. */
    bool unseen, unseen_later, unseen_by_all;       /* by_all: no agent does */
    bool guard_passed;                              /* it went past that wait before */
    uint32_t guard, guard_wait_pc, guard_arrive_pc; /* of any of these */
    struct RacePair {
        uint32_t pc, other_pc;
    } more[MOST_MORE]; /* other pairs of the same two agents for want of the same edge */
    uint32_t more_count;
    bool arrives;        /* the earlier one is an arrival, which writes its barrier when it comes */
    bool earlier_writes; /* RACE_EXIT */
    bool frees;          /* it is that the memory is given back */
    /* The later one is to memory of this op, which lies over what the earlier one works in; NULL: it is to the same. */
    const Op *over;
    bool may_lie;         /* it may lie there; where the compiler puts it is not known */
    bool writes;          /* the later one does */
    bool by_order;        /* only where tensor-core work is ordered by waits alone */
    bool havoc_dependent; /* it was taken back: it comes of data that was not given */
    FlowPart way;         /* from the earlier one to the later; nothing if they are far apart */
    Doubt doubt;          /* whether an op that is not known may order them */
    uint64_t times;
    uint64_t cluster;
    unsigned havoc_choice;
} Race;

/* Whether it is with work that goes on by itself. */
static inline bool race_is_inflight(const Race *race) {
    return race->kind == RACE_INFLIGHT || race->kind == RACE_APART;
}

/* Whether the later one is an end. */
static inline bool race_is_exit(const Race *race) {
    return race->kind == RACE_EXIT || race->kind == RACE_EXIT_STORE;
}

enum { MOST_RACES = 64 };

typedef struct Races Races;

/* NULL, with a reason, if the kernel has more agents or barriers than the engine can have. */
Races *races_create(Arena *arena, Machine *machine, bool by_waits, const char **problem);
/* `again`: a run like one before but for who comes first: what it shows of known races is not told twice. */
void races_start(Races *races, uint64_t cluster, unsigned havoc_choice, bool again);
void races_observe(void *races, const Event *event);
const Race *races_found(const Races *races, uint32_t *count);
/* The first access whose memory was not known; NULL if there was none. */
const char *races_problem(const Races *races, const Op **op);

/* Adds a finding for the race to the verdict; NULL if it is in doubt: then the verdict is incomplete for it; or if
 * another one of these races says the same. */
Finding *races_report(const Races *races, const Machine *machine, uint32_t index, Verdict *verdict);
/* It was taken back. Others may lack the same edge for sure, and are told from then on. */
void races_take_back(Races *races, uint32_t index);
/* Whether these runs have shown the race, or the same with the other one first. */
bool races_show(const Races *races, const Race *race);
/* What the runs before have shown is forgotten. */
void races_clear(Races *races);
/* Those in doubt, which have been reported, are looked for again from now on. Returns how many races are left. */
uint32_t races_forget_may_order(Races *races);
/* All that decides which races the events to come will show, where nothing is in flight; not what was found. */
void races_visit(const Races *races, const StateVisit *visit);
/* The engine's tables, for people. */
void races_print(const Races *races, const Machine *machine, Text *to);

#endif
