/* What happened to each barrier in a run, for explanations afterwards. An observer. */
#ifndef MACHINE_TILE_SCHEDULE_HISTORY_H
#define MACHINE_TILE_SCHEDULE_HISTORY_H

#include "machine/tile/step/machine.h"

enum { MOST_REMEMBERED = 32 /* arrivals of 16 CTAs, and what they announce */ };

typedef enum BarrierActKind {
    BARRIER_ACT_ARRIVE,
    BARRIER_ACT_EXPECT,
    BARRIER_ACT_DELIVER,
    BARRIER_ACT_SIGNAL
} BarrierActKind;

/* Something that came into a phase. */
typedef struct BarrierAct {
    BarrierActKind kind;
    uint32_t agent, pc;
    Helper helper;
    int64_t amount;
    bool alone; /* no partition was running: an agent that starts later knows of it */
} BarrierAct;

typedef struct LastPass {
    bool any;
    uint32_t count; /* passes in all */
    uint8_t parity;
    uint32_t generation; /* phases complete when it passed */
    uint32_t pc;
    uint32_t again;   /* passes in a row with this parity and no phase completed in between, by this op */
    uint32_t skipped; /* phases that completed between its passes and that it never saw */
} LastPass;

typedef struct BarrierHistory {
    uint64_t barrier_acts;             /* in all */
    uint64_t waits;                    /* passed */
    uint32_t observed;                 /* phases complete when the last wait passed */
    uint64_t unobserved;               /* phases completed while nothing had seen the one before */
    BarrierAct overrun;                /* the first that did so */
    BarrierAct phase[MOST_REMEMBERED]; /* of the current phase, the first ones */
    uint32_t phase_count;
    BarrierAct last[2]; /* the last two that completed a phase, the latest first */
    uint32_t last_count;
    BarrierAct latest;           /* of any phase */
    int64_t expected, delivered; /* bytes, in the current phase */
    uint32_t init_agent, init_pc;
    bool initialized;
    uint32_t end_pc, end_agent;
    bool ended;
    uint32_t unknowns; /* ops that are not known which surely came before its init: they did nothing to it */
} BarrierHistory;

typedef struct History {
    const Machine *machine;
    BarrierHistory *barriers;
    LastPass *passes;  /* [barrier][agent] */
    BarrierAct *named; /* the latest arrival at each named barrier */
    bool *named_any;
    /* Unknown ops that were run: they could have arrived, waited or made a barrier. The latest; how many; by whom. */
    const Op *unknown;
    uint32_t unknowns;
    AgentSet unknown_agents;
    uint32_t unknown_agent_count;
} History;

History *history_create(Arena *arena, const Machine *machine);
void history_observe(void *history, const Event *event);
const LastPass *history_pass(const History *history, uint32_t barrier, uint32_t agent);

/* The op that may be why a run did not end as it should, and which is not known; NULL: there was none, or none can have
 * to do with it. Of the state in which the run ended. */
const Op *history_doubt(const History *history, bool faulted);

#endif
