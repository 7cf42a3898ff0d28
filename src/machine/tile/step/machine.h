/* The machine: agents, mbarriers and what is in flight, and one step of any of them.
 *
 * A machine runs one cluster of CTAs at a time. Its state is plain data in one block of memory: it can be copied,
 * compared and put back. Time is a sequence of steps; a step is one visible effect of one agent (and all that it does
 * before the next one), or the completion of one asynchronous operation. Who makes the next step is the schedule's
 * business (schedule.h); the machine says who can.
 *
 * A machine may be given global memory that it shares with others (`memory`; the program is then compiled with
 * COMPILE_DATA). Loads, stores and atomics are then carried out, and an access that others can tell apart, or that
 * decides something, is a step of its own.
 *
 * mbarriers, exactly (PTX ISA 9.7.15.16): a phase completes when no arrival is pending and the transaction bytes are
 * zero; then the phase bit flips and the count is pending again. A wait for parity P blocks while the phase bit is P.
 * An expect is one arrival and bytes to come; a copy delivers bytes only. */
#ifndef MACHINE_TILE_STEP_MACHINE_H
#define MACHINE_TILE_STEP_MACHINE_H

#include "explore/launch/launch.h"
#include "machine/tile/compile/program.h"

enum {
    NAMED_BARRIERS = 16,
    MOST_OUTSTANDING_OPS = 512, /* operations in flight in one cluster */
    MOST_CELLS = 128,           /* integers in shared memory of a CTA that control depends on */
    MOST_AGENTS = 512,          /* of a cluster: of 16 CTAs, 32 each */
};

/* Agents of a cluster. */
typedef struct AgentSet {
    uint64_t words[MOST_AGENTS / 64];
} AgentSet;

static inline void agents_add(AgentSet *set, uint32_t agent) {
    set->words[agent / 64] |= UINT64_C(1) << agent % 64;
}

static inline void agents_remove(AgentSet *set, uint32_t agent) {
    set->words[agent / 64] &= ~(UINT64_C(1) << agent % 64);
}

static inline bool agents_have(const AgentSet *set, uint32_t agent) {
    return set->words[agent / 64] >> agent % 64 & 1;
}

/* Whether some agent is in both. */
static inline bool agents_meet(const AgentSet *a, const AgentSet *b) {
    uint64_t common = 0;
    for (uint32_t i = 0; i < MOST_AGENTS / 64; i++)
        common |= a->words[i] & b->words[i];
    return common;
}

typedef enum AgentStatus {
    AGENT_IDLE, /* a partition that is not running */
    AGENT_READY,
    AGENT_WAITS, /* for an mbarrier */
    AGENT_NAMED,
    AGENT_CLUSTER,
    AGENT_JOINS, /* for the partitions to end */
    AGENT_ENDED,
} AgentStatus;

/* What an agent that is ready stands before, where global memory is kept. */
typedef enum Gate {
    GATE_NONE,
    GATE_ACCESS,   /* an access that is a step of its own */
    GATE_POLL,     /* one that goes on when memory is as it expects */
    GATE_RESULT,   /* an atomic that the first CTA of the cluster makes for all */
    GATE_LAUNCHES, /* the end of the launches before */
} Gate;

typedef struct Agent {
    uint32_t pc, effect; /* the next instruction, and of its effects the next one */
    uint32_t ticks;      /* visible effects so far */
    uint32_t strand;     /* of the program */
    uint32_t barrier;    /* waited for: a slot, a named barrier, a cluster barrier */
    uint32_t generation; /* named and cluster barriers: of when it came */
    uint32_t fork;
    uint32_t groups[GROUP_KINDS]; /* committed and not waited for */
    uint32_t mmas, finished;      /* asynchronous products issued, and of them those that were waited for */
    uint32_t loads;               /* how many of the loads that it was given (LoadLog) are behind it */
    uint32_t atomics;             /* those that one CTA of the cluster makes for all, so far */
    uint32_t refused;             /* the instruction that saw a request for another cluster fail, + 1; 0: none did */
    uint8_t status, parity;
    uint8_t forced; /* its wait goes on though it should not: to see what would come after, or as its time is up */
    uint8_t gate;
} Agent;

typedef enum BarrierLife { BARRIER_NEVER, BARRIER_LIVE, BARRIER_INVALID } BarrierLife;

typedef struct Barrier {
    uint32_t count, pending;
    int64_t bytes;       /* expected and not delivered */
    uint32_t generation; /* phases completed, in all its lives */
    uint32_t born;       /* generation at its last init */
    uint8_t life, phase;
    uint16_t unused; /* the same */
} Barrier;

typedef struct Rendezvous { /* a named or cluster barrier */
    uint32_t expected, arrived, generation;
} Rendezvous;

typedef enum OutstandingKind { OUTSTANDING_BYTES, OUTSTANDING_ARRIVAL, OUTSTANDING_WORK } OutstandingKind;

/* For another cluster: the how many-th, from 1, and which cluster it gives; -1: none. */
typedef struct Request {
    uint32_t number;
    int64_t cluster;
} Request;

/* An asynchronous operation, issued and not complete. */
typedef struct Outstanding {
    uint32_t sequence; /* of issue, from 1 */
    uint32_t effect;   /* of the program */
    uint32_t pc;
    uint32_t tick;    /* visible effects of its agent when it was issued */
    uint32_t barrier; /* slot; unused for OUTSTANDING_WORK */
    int64_t amount;   /* bytes or arrivals */
    Request request;
    uint16_t agent;
    uint8_t kind, helper;
    uint8_t ordered; /* completes after all earlier ordered ones of its agent and helper */
    uint8_t covers;  /* completes after all earlier ones of its agent and helper */
    uint8_t toward;  /* XOR the issuer's CTA: where it is done */
    uint8_t member;  /* what is multicast comes everywhere at once: which of them it is, the first 0 */
} Outstanding;

/* What an int in shared memory holds, where control depends on it. */
typedef struct Cell {
    uint64_t key; /* 0: free */
    Word word;
} Cell;

typedef struct State {
    uint32_t outstanding_count, cell_count, next_sequence;
    /* Requests for another cluster: how many there were, which of the last 64 were granted and nothing has read the
     * answer of, and the instruction of the first of these, + 1. */
    uint32_t requests, unread_pc;
    uint64_t unread;
    /* Behind it, in this order: */
    Agent *agents;
    Barrier *barriers;
    Rendezvous *named, *cluster;
    Outstanding *outstanding_ops;
    Cell *cells;
    Word *words;
} State;

/* Why a barrier cannot be used so. */
typedef struct Fault {
    RuleId rule;
    uint32_t agent, pc, effect, barrier;
    int64_t amount;
    bool in_flight; /* found when an asynchronous operation completed */
} Fault;

typedef enum EventKind {
    EVENT_ACCESS, /* effect: read, write, update */
    EVENT_INIT,
    EVENT_INVALIDATE,
    EVENT_EXPECT,
    EVENT_ARRIVE,
    EVENT_ISSUE,   /* an asynchronous operation begins: outstanding operation */
    EVENT_DELIVER, /* outstanding operation: bytes */
    EVENT_SIGNAL,  /* outstanding operation: arrivals */
    EVENT_FINISH,  /* outstanding operation: work that signals nothing */
    EVENT_FLIP,    /* a phase completed, by the event before */
    EVENT_BLOCK,   /* an agent comes to a wait that it cannot pass yet */
    EVENT_WAIT,    /* it went on */
    EVENT_COMMIT,
    EVENT_AWAIT,
    EVENT_NAMED_ARRIVE,
    EVENT_NAMED_SYNC,     /* went on */
    EVENT_NAMED_COMPLETE, /* all have come; amount: threads more than were needed */
    EVENT_CLUSTER_ARRIVE,
    EVENT_CLUSTER_COMPLETE,
    EVENT_CLUSTER_WAIT,
    EVENT_CTA_BARRIER,
    EVENT_FENCE,
    EVENT_FREE,       /* effect: free; of the memory at `view` */
    EVENT_DISTURB,    /* bytes are written that nothing else looks at: effect scratch, or a barrier that nothing uses */
    EVENT_UNFINISHED, /* the result of an asynchronous product is used before it is waited for; amount: the instruction
                         that issued it */
    EVENT_UNKNOWN,    /* an op, or assembly, of which it is not known what it does: it could have done anything here */
    EVENT_AWAIT_LAUNCHES, /* the launches that it waited for have ended */
    EVENT_FORK,
    EVENT_JOIN,
    EVENT_END,
} EventKind;

typedef struct Event {
    EventKind kind;
    uint32_t agent;
    uint32_t pc;
    const Op *op;
    const CompiledEffect *effect;   /* NULL for fork, join, end */
    const Outstanding *outstanding; /* NULL unless asynchronous */
    uint32_t barrier;               /* slot, or id */
    int64_t amount;
    uint8_t parity;
    Word view;            /* accesses */
    const ViewPart *part; /* accesses: of the view; NULL: all of it */
    uint32_t toward;      /* accesses: XOR the issuer's CTA: where it is done, and its barrier signaled */
    bool silent;          /* of a write: memory is as it was before, as far as is known */
    bool stored;        /* of an update: it writes something; not so a compare that fails. Else whether it is a write */
    const State *state; /* after it; global memory is still as before it */
} Event;

typedef void Observe(void *observer, const Event *event);

/* Before an agent carries out an instruction; it may change the agent's registers. */
typedef void Follow(void *follower, uint32_t agent, const Instruction *instruction);

typedef enum StepResult {
    STEP_DONE,
    STEP_FAULT,   /* machine->fault says which */
    STEP_UNKNOWN, /* something that control depends on is not known: machine->unknown_op, machine->unknown */
    STEP_BUDGET,
    STEP_EXCLUDED, /* the launch breaks an assumption of the kernel */
} StepResult;

/* A tensor descriptor. Its outermost dimension comes first, but that of its box last. */
typedef struct Descriptor {
    uint8_t rank, box_rank;
    bool boxed;                                 /* its box is known, and not that of its type */
    int64_t base, shape[8], strides[8], box[8]; /* strides: bytes */
    uint16_t element_bits;                      /* 4: copies, `shape` and `box` count bytes, each of two of them */
    int64_t address;                            /* of the memory that holds it; 0: none */
    int64_t at[8];                              /* a block pointer: where its block begins, in elements */
    bool off;                                   /* AMD: its predicate is false, and nothing is moved */
    const char *unknown; /* why base, shape or strides are not known; NULL: they are (with COMPILE_GLOBAL) */
} Descriptor;

typedef struct AtomicCell {
    int64_t address, value;
    uint32_t looks; /* one after the other that found it as the last one had */
} AtomicCell;

/* What an atomic of all CTAs of a cluster gave: one CTA has made it, the others take the result. */
typedef struct SharedResult {
    uint32_t agent, number; /* of its CTA; of the atomics of that agent */
    uint32_t left;          /* CTAs that have not taken it */
    bool stored;
    Word word;
} SharedResult;

typedef struct GlobalMemory GlobalMemory; /* global_memory.h */
/* What loads gave, agent by agent in program order (grid.h). */
typedef struct LoadLog LoadLog;

typedef struct TileSymmetry TileSymmetry; /* symmetry.h */

/* Of one loop: how often it was entered with this launch, how often it ran then, and all its turns in this run. */
typedef struct Trips {
    uint64_t entered, turns; /* turns that were begun: one who waits forever makes no more */
    int64_t least, most;     /* of the bounds */
} Trips;

/* How many ways there are to choose what is not known: any two such conditions, of the first few that a run asks for,
 * are tried in every combination. */
enum { MACHINE_HAVOC_CHOICES = 10, MOST_CHOICE_ROOTS = 64 };
/* From there on havoc choices have one large number for all data, even and odd ones in turn. */
enum { MACHINE_LARGE_HAVOC_CHOICE = 1000 };

/* What runs have seen of an instruction. */
enum {
    RAN = 1,        /* it did what it is there for: of effects, one of them */
    RAN_YES = 2,    /* a branch, a select: its condition held; a wait: its parity was 1; a view: of a slot but 0 */
    RAN_NO = 4,     /* it did not */
    RAN_STANDS = 8, /* effects were come to */
    RAN_SKIPS = 16, /* a predicate left one of them out */
};

typedef struct Machine {
    const Program *program;
    const Launch *launch;
    Arena *arena; /* tensors of a run; emptied by the code that starts one */
    State *state;
    uint32_t agent_count, slots_per_cta, slot_count, slots_used;
    uint32_t outstanding_capacity, cell_capacity; /* 0 where the program can have none */
    uint32_t cluster_barriers;
    int64_t program_id[3]; /* of the cluster */
    uint64_t cluster;      /* its index in the launch's order */
    int64_t programs[3];
    uint64_t budget, used; /* instructions and completions */
    uint64_t events;
    uint64_t flips; /* of phases */
    /* places of mbarriers: storage << 32 | byte -> slot, the same for every CTA */
    uint64_t *slot_keys;
    uint32_t *slot_values;
    uint32_t slot_capacity;
    uint64_t *slot_places; /* the other way round */
    uint64_t outside;      /* the last place whose ring has no such slot, + 1; 0: none */
    uint32_t *storage_sizes;
    /* what is not known is chosen; havoc choices differ in how */
    unsigned havoc_choice;
    uint64_t choices;
    uint64_t roots[MOST_CHOICE_ROOTS]; /* what was chosen, in the order in which it was asked for */
    uint32_t root_count;
    const Op *first_choice;
    uint64_t loads_chosen;
    bool counted; /* an atomic has found what other clusters may have left otherwise */
    /* */
    Descriptor *descriptors;
    uint32_t descriptor_count;
    /* With COMPILE_GLOBAL: those that the kernel made in this run, one for each value that a maker had. Their indices
     * follow those of `descriptors`. */
    Descriptor *made;
    uint32_t made_count, made_capacity;
    AtomicCell *atomics;
    uint32_t atomic_count, atomic_capacity;
    /* Where global memory is kept; else NULL and 0. */
    GlobalMemory *memory;
    int64_t *bases;   /* the addresses of the parameters */
    uint32_t number;  /* of the launch among all of a run */
    uint64_t serial;  /* of the cluster among all of a run: what is in its own memory belongs to no other cluster */
    uint64_t changes; /* steps that other agents of the cluster could notice, but for those to global memory */
    /* Takes a cluster that has not begun out of the grid: its index; -1: it gets none. NULL: there never is one. */
    int64_t (*take_cluster)(void *taker);
    void *taker;
    bool awaits_launches; /* some launch that it has to wait for is still running */
    size_t tensor_limit; /* when the arena, which is the machine's own then, holds more, it is cleared of old tensors */
    SharedResult *results;
    uint32_t result_count, result_capacity;
    LoadLog *kept;          /* where what its loads give is written down; NULL: nowhere */
    const LoadLog *loads;   /* what its loads give; NULL: what memory holds */
    Trips *trips;           /* one a loop */
    uint8_t *ran;           /* of each instruction: RAN_... of all runs so far; NULL: it is not asked for */
    TileSymmetry *symmetry; /* the clusters for which the run speaks; NULL: it is not asked for */
    Fault fault;
    const Op *unknown_op;
    const char *unknown;
    Observe *observe;
    void *observer;
    Follow *follow; /* NULL: none */
    void *follower;
    bool excluded;     /* the launch broke an assumption of the kernel */
    bool immediate;    /* what is asynchronous completes when it is issued */
    bool out_of_order; /* tensor-core work without a commit completes in any order */
} Machine;

/* Everything that does not change between runs. Memory: `arena`. NULL if the program needs more than the machine has;
 * then *problem says what. */
Machine *machine_create(Arena *arena, const Program *program, const char **problem);
/* Gives the kernel its arguments; `launch` must name the arguments that control depends on, others are unknown. */
void machine_launch(Machine *machine, const Launch *launch);
/* The start of the cluster with that index in the launch's order; how many there are. */
StepResult machine_start(Machine *machine, uint64_t cluster);
uint64_t machine_clusters(const Machine *machine);

/* Makes scalar loads of integers give what they gave in the run that `loads` is of, in the order of each agent, for as
 * long as there is something left. NULL: no more. */
void machine_give_loads(Machine *machine, const LoadLog *loads);
/* What the loads of an agent gave, one after the other; false after the last. Those that gave nothing known are left
 * out. */
bool loads_at(const LoadLog *loads, uint32_t agent, uint32_t *index, const Op **op, int64_t *value);
/* A log to be filled by hand, in the order of each agent. Memory: the arena. */
LoadLog *loads_start(Arena *arena, uint32_t agents);
void loads_add(LoadLog *loads, uint32_t agent, const Op *op, int64_t value);
/* What it says, also when the run that it is of is no longer there. */
const LoadLog *loads_copy(Arena *arena, const LoadLog *loads);

/* Whether some data that is not known may be taken to be 0. */
bool machine_havoc_choice_has_zeros(unsigned havoc_choice);

/* Whether the agent can make a step. Schedules ask it of every agent again and again: what most of them do, which is
 * wait, is looked at here; the rest of it there. */
bool machine_can_step_on(const Machine *machine, uint32_t agent);
static inline bool machine_can_step(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    if (agent->status == AGENT_ENDED || agent->status == AGENT_IDLE)
        return false;
    if (agent->status == AGENT_WAITS) {
        const Barrier *barrier = &machine->state->barriers[agent->barrier];
        return barrier->phase != agent->parity || barrier->life != BARRIER_LIVE || agent->forced;
    }
    return machine_can_step_on(machine, index);
}
StepResult machine_step(Machine *machine, uint32_t agent);
/* As if what the agent waits for had come: the phase of its mbarrier completes, whatever is pending; whom it is to meet
 * has come. No run does that: it is how to see what a run that hangs was meant to do. */
void machine_let_on(Machine *machine, uint32_t agent);
/* Whether that outstanding operation can complete now, and completing it. */
bool machine_can_complete(const Machine *machine, uint32_t outstanding);
StepResult machine_complete(Machine *machine, uint32_t outstanding);

/* Copies of the state: made, taken, put back, compared. */
State *state_new(const Machine *machine, Arena *arena);
void state_save(const Machine *machine, State *to);
void state_restore(Machine *machine, const State *from);
bool state_equal(const Machine *machine, const State *a, const State *b);

/* The slot of the mbarrier at that byte of a storage; UINT32_MAX if there is no more room. */
uint32_t machine_slot(Machine *machine, uint32_t cta, uint32_t storage, int64_t byte);

/* What an mbarrier is in the IR: a slot of what an op allocates. */
typedef struct BarrierPlace {
    const Allocation *allocation; /* NULL: not known; then `slot` is its byte */
    Side side;                    /* tokens and arefs are two rings each */
    int64_t slot, depth;
} BarrierPlace;
BarrierPlace barrier_place(const Machine *machine, uint32_t barrier);

/* Names, for people. */
void agent_name(const Machine *machine, uint32_t agent, Helper helper, Text *to);
/* "%full", "%token.empty": the value of its allocation, and which ring of it. */
void ring_name(const Machine *machine, uint32_t barrier, Text *to);
/* "%full[1]": its ring, and the slot. */
void barrier_name(const Machine *machine, uint32_t barrier, Text *to);
static inline uint32_t barrier_cta(const Machine *machine, uint32_t barrier) {
    return barrier / machine->slots_per_cta;
}
static inline uint32_t agent_cta(const Machine *machine, uint32_t agent) {
    return agent / machine->program->agents_per_cta;
}

/* What of its view an access or copy of that agent touches in the CTA so far away (XOR); NULL: all, or see `reach`. */
static inline const ViewPart *effect_part(const Machine *machine, uint32_t agent, const CompiledEffect *effect,
                                          uint32_t toward) {
    if (!effect->parts)
        return NULL;
    uint32_t cta = agent_cta(machine, agent);
    return effect->parts[cta * machine->program->ctas + (cta ^ toward)];
}

/* Where the copy of that agent comes down; NULL: in the CTA whose barrier it signals. */
static inline const Landing *effect_landing(const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    return effect->landings ? &effect->landings[agent_cta(machine, agent)] : NULL;
}

#endif
