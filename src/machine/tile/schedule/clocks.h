/* Happens-before in an eager run: what has surely happened before what, in every schedule.
 *
 * A clock says how far every component is known to have come. Each agent has one for what it has done, one for its
 * tensor-core work, which commits cover, and two for each kind of group that it can wait for by counting: what the
 * operations read, and all of them. Each mbarrier has one for its phases. An agent that arrives on a barrier leaves its
 * clock there; an agent that waits for that phase takes it up, and with it all that the other had taken up before.
 *
 * A Stamp says when an access is over: a component, and how far it has to have come. Clocks are an observer of a run in
 * which what is asynchronous completes when it is issued; that an operation is complete counts for nothing until
 * something has waited for it. */
#ifndef MACHINE_TILE_SCHEDULE_CLOCKS_H
#define MACHINE_TILE_SCHEDULE_CLOCKS_H

#include "base/visit.h"
#include "machine/tile/step/machine.h"

enum { NO_COMPONENT = UINT32_MAX };

typedef struct Clocks Clocks;

typedef struct Epoch {
    uint32_t component; /* NO_COMPONENT: nothing can know it, since its barrier is not known */
    uint32_t value;
} Epoch;

/* How an agent came to know something. */
typedef enum RaiseKind {
    RAISE_WAIT, /* for an mbarrier */
    RAISE_NAMED,
    RAISE_CLUSTER,
    RAISE_AWAIT, /* for its own groups */
    RAISE_FORK,  /* it is a partition, and started */
    RAISE_JOIN,  /* its partitions ended */
} RaiseKind;

typedef struct Raise {
    uint32_t value; /* that the component came to */
    uint32_t pc;    /* of the wait; RAISE_FORK: of what started it */
    uint32_t barrier;
    uint16_t via; /* the agent that let it know: it arrived, committed, started it or ended */
    uint8_t kind;
} Raise;

/* NULL, with a reason, if there are more agents or barriers than there is room for. */
Clocks *clocks_create(Arena *arena, Machine *machine, const char **problem);
/* Before a run. */
void clocks_start(Clocks *clocks);
/* To be called with each event of a run, before anything is asked about it. */
void clocks_observe(Clocks *clocks, const Event *event);
/* A run went on for longer than clocks can count: what they say from there on means nothing. */
bool clocks_overflowed(const Clocks *clocks);

/* When the access is over that was observed last. */
Epoch clocks_epoch(Clocks *clocks, const Event *access);
/* All that the agent has done so far, the event that was observed last included. */
Epoch clocks_now(const Clocks *clocks, uint32_t agent);
/* Whether the agent knows that it is over. */
bool clocks_know(const Clocks *clocks, uint32_t agent, Epoch stamp);
/* Whether the access that was observed last begins after it is over. What the tensor core does for one agent is done in
 * the order of issue, unless the machine says otherwise. */
bool clocks_follow(const Clocks *clocks, const Event *access, Epoch stamp);
/* Of the last few times that the agent learned about the component, the first that was enough; NULL if there is none:
 * it is its own. */
const Raise *clocks_raise(const Clocks *clocks, uint32_t agent, Epoch stamp);
/* The agent that a component belongs to; UINT32_MAX for those of barriers. */
uint32_t clocks_agent(const Clocks *clocks, uint32_t component);
/* All that decides what clocks will say of the events to come; not how agents came to know. Components are those of
 * epochs. */
void clocks_visit(const Clocks *clocks, const StateVisit *visit);
/* Whether the access is made by the agent itself and is over when its next op begins. */
bool clocks_immediate(const Clocks *clocks, const CompiledEffect *access);

#endif
