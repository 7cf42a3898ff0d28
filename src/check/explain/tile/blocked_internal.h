/* What the files that explain stuck runs share: who is blocked, and what is known of each. */
#ifndef CHECK_EXPLAIN_TILE_BLOCKED_INTERNAL_H
#define CHECK_EXPLAIN_TILE_BLOCKED_INTERNAL_H

#include "check/explain/explain.h"
#include "check/explain/tile/blocked.h"
#include "finding/report.h"
#include "ir/op.h"
#include "machine/tile/schedule/barrier_ops.h"

/* Whether the first wait of an agent is for what it is itself to begin with. */
typedef enum RoomKind {
    ROOM_NOT,
    ROOM_EMPTY,   /* it waits for the release of memory that it has yet to write */
    ROOM_OF_DATA, /* it waits for data that is made of what it has yet to write */
} RoomKind;

/* An agent that cannot go on. */
typedef struct Blocked {
    uint32_t agent, pc;
    uint8_t status, parity;
    uint32_t barrier;
    Barrier state;      /* of an mbarrier */
    Rendezvous meeting; /* of the others */
    RuleId rule;
    bool rooted;   /* what holds it is not another blocked agent */
    bool released; /* someone would have arrived */
    int64_t bytes; /* that are left, or too many, when all others are let through and all arrivals are there */
    BarrierAct releaser;
    uint32_t releaser_order;
    BarrierAct exited;    /* RULE_DEADLOCK_EXITED: who ended, and where it would have arrived */
    const LastPass *idle; /* a wait that does not hold back the agent that laps it; NULL if there is none */
    uint32_t idle_barrier, idle_agent;
    /* RULE_DEADLOCK_LAPPED: what the agent does after its wait, at `sign_pc`, and the agent that laps it does not wait
     * for. */
    uint32_t sign, sign_pc, sign_agent; /* NO_BARRIER: none was found */
    bool sign_waited;                   /* the other one does wait for it, elsewhere */
    bool unexpected;                    /* bytes are there, and no arrival is, that of their expect neither */
    /* In a circle: */
    uint32_t
        taken; /* the barrier on which the agent that should release it took the slot, and did not; NO_BARRIER: none */
    bool repeats_more; /* it waits in a loop, and the arrival is in none, or further out */
    RoomKind room;
    /* A named barrier: two ops that do not agree on its threads; the second NO_PC: all agree. */
    uint32_t clash_pcs[2];
    int64_t clash_threads[2];
} Blocked;

typedef struct Diagnosis {
    Machine *machine;
    const History *history;
    Verdict *verdict;
    Blocked blocked[MOST_AGENTS];
    uint32_t count;
    uint32_t order;
    const Barrier *before;         /* all barriers as they were when it hung */
    bool ran[MOST_AGENTS];         /* agents that were running when the run ended */
    uint32_t strands[MOST_AGENTS]; /* what they ran */
} Diagnosis;

/* ---- blocked.c ---- */
/* A finding about a barrier, with room for that many places, none of which is there yet. */
Finding *diagnosis_finding(const Diagnosis *diagnosis, RuleId rule, size_t most_places);
/* One more place: who did it, and where. */
void diagnosis_place(const Diagnosis *diagnosis, Finding *finding, const char *role, BarrierAct barrier_act,
                     const char *note);
/* Where the barrier was initialized, for `count` arrivals. */
void diagnosis_init_place(const Diagnosis *diagnosis, Finding *finding, const BarrierHistory *past, uint32_t count);
enum { MOST_REPORTED = 8 };
/* What was done in the current phase, the first MOST_REPORTED; returns how much that is. */
uint32_t diagnosis_barrier_acts(const Diagnosis *diagnosis, Finding *finding, const BarrierHistory *past);
/* Whether that instruction of the agent has arrived in the current phase. */
bool diagnosis_contributed(const BarrierHistory *history, uint32_t agent, uint32_t pc);
/* What an agent waits for: "%full[1]", "named barrier 9", "the partitions". */
const char *diagnosis_awaited(const Diagnosis *diagnosis, const Blocked *blocked);
const char *diagnosis_agent(const Diagnosis *diagnosis, uint32_t agent, Helper helper);
const char *diagnosis_barrier(const Diagnosis *diagnosis, uint32_t barrier);
/* Whether the agent has ended, or never ran. */
bool diagnosis_ended(const Diagnosis *diagnosis, uint32_t agent);

/* ---- blocked_causes.c ---- */
/* Who would release it and is blocked as well; NULL: there is none. And whether it waits, through others, for itself.
 */
const Blocked *diagnosis_releaser(const Diagnosis *diagnosis, const Blocked *blocked);
bool diagnosis_in_circle(const Diagnosis *diagnosis, const Blocked *blocked);
/* The innermost loop around an op; NULL if there is none. */
const Op *diagnosis_loop(const Op *op);
/* Fill in what the names say, of one that a circle may be about: repeats_more, taken, clash_pcs. */
void find_cadence(const Diagnosis *diagnosis, Blocked *blocked);
void find_unreleased(const Diagnosis *diagnosis, Blocked *blocked);
void find_clash(const Diagnosis *diagnosis, Blocked *blocked);
RoomKind find_room(const Diagnosis *diagnosis, const Blocked *blocked);

/* ---- blocked_report.c ---- */
/* What every explanation of it names: who waits, for what, and how far that is. */
Facts diagnosis_facts(const Diagnosis *diagnosis, const Blocked *blocked);
/* What is told of it: message, why, what would fix it, and the places. `root` is the agent that explains the others. */
void blocked_report(const Diagnosis *diagnosis, const Blocked *root, Finding *finding);

/* ---- blocked_table.c ---- */
/* The first op that arrives on what is waited for, and why that does not complete it; false if there is none. `bytes`:
 * an op that only delivers bytes is one, too. */
bool blocked_arriver(const Diagnosis *diagnosis, const Blocked *blocked, bool bytes, ReportPlace *place);
/* Gives the finding a row for each agent that waits. */
void blocked_table(const Diagnosis *diagnosis, Finding *finding);

#endif
