/* What is planned of a kernel that has no barriers yet: who touches which buffer, and what crosses between partitions.
 *
 * plan_accesses.c collects it, plan.c makes barriers and edges of it, plan_order.c goes through it, plan_coverage.c
 * says what overwrites what. */
#ifndef CHECK_REPORT_PLAN_PLAN_H
#define CHECK_REPORT_PLAN_PLAN_H

#include "check/report/build/internal.h"

enum { NO_INDEX = UINT32_MAX };

/* Indices, in the arena. */
typedef struct List {
    uint32_t *items;
    uint32_t count, capacity;
} List;

typedef struct PlanLoop {
    uint32_t parent;     /* NO_INDEX: none */
    uint32_t begin, end; /* orders of the loop itself and of the last op in it */
    uint32_t line;
} PlanLoop;

/* An op that reads or writes a buffer. */
typedef struct PlanAccess {
    const Op *op;
    const Op *use;   /* the op that takes the allocation itself: this one, or the first view on the way to it */
    uint64_t mask;   /* partitions; 0: not said */
    uint32_t buffer; /* of the plan */
    uint32_t loop;
    uint32_t order; /* where the op stands in the text */
    bool reads, writes;
    bool whole;       /* all of the buffer, or of a slot of it */
    bool accumulates; /* writes: adds to what was there */
    bool mma, tma;
    bool asynchronous; /* reads, and goes on before it is done */
    bool listed_only;  /* what it stands for is another access: the enter of its aref */
    int64_t bytes;     /* of a copy by TMA; -1: none */
    int64_t expected;  /* what the IR says of that number; -1: nothing */
} PlanAccess;

typedef struct PlanBuffer {
    const Op *op;       /* that allocates it; that makes the value */
    const Value *value; /* a value that crosses partitions; NULL: memory */
    const Op *aref;     /* that hands it out; NULL if none does */
    const Type *type;
    const char *name, *shape;
    Space space;
    uint32_t storage; /* NO_INDEX: its own */
    int64_t id, offset, depth, size;
    int64_t begin, end; /* in its storage: bytes, or columns */
    bool depth_said;
    bool cut;              /* it has more channels than are kept */
    uint32_t first, count; /* its accesses */
    uint32_t channel, channels;
    uint32_t same_id;   /* the next buffer of the same buffer.id; NO_INDEX: none */
    uint32_t ring;      /* the first buffer of those that take turns in the slots of one ring; itself if none do */
    uint32_t merged;    /* the first buffer of those that are passed together, by one barrier; itself */
    uint32_t position;  /* in the ring: how many slots ahead of its first one */
    uint32_t turns;     /* of the first of a ring: how many slots are taken in an iteration */
    uint32_t first_use; /* order of the first op that takes it to read what comes from another partition */
    List barriers;      /* of the first of a ring, or of those that are passed together */
    size_t report;      /* its index in the report */
} PlanBuffer;

/* One buffer from one producer to one consumer. */
typedef struct PlanChannel {
    uint32_t buffer;
    uint64_t from;
    unsigned to;
    uint32_t from_loop, to_loop;
    uint32_t loop; /* around both: each of its iterations passes it once */
    bool around;   /* what is read was written in the iteration before */
    List writes, reads;
    List overwrites;      /* who writes next over what was read */
    uint32_t full, empty; /* barriers of the plan */
} PlanChannel;

typedef struct PlanBarrier {
    size_t report;
    uint32_t leader; /* the buffer that has it in its list */
    Side side;
    unsigned to; /* MOST_PARTITIONS: all consumers */
    List channels;
} PlanBarrier;

typedef struct Plan {
    Builder *builder;
    Module *module;
    Arena *arena;
    PlanLoop *loops;
    Pointers loop_numbers; /* of the ops that are loops */
    PlanAccess *accesses;  /* by buffer, then by order */
    PlanBuffer *buffers;   /* allocations in the order of the text, then values */
    PlanChannel *channels;
    PlanBarrier *barriers;
    uint32_t loop_count, access_count, buffer_count, channel_count, barrier_count;
    uint32_t loop_capacity, access_capacity, buffer_capacity, channel_capacity, barrier_capacity;
    struct PlanOrder *order; /* what its channels order (plan_order.h) */
} Plan;

/* One more, unless it has just been added. */
void list_add(Arena *arena, List *list, uint32_t item);

/* ---- plan_accesses.c ---- */
/* Loops, buffers and accesses. */
void plan_collect(Plan *plan);
static inline bool loop_delays(const Plan *plan, uint32_t loop, uint32_t order) {
    return loop == NO_INDEX || (plan->loops[loop].begin < order && order <= plan->loops[loop].end);
}
/* The innermost loop around both; NO_INDEX if there is none. */
uint32_t plan_common_loop(const Plan *plan, uint32_t a, uint32_t b);
/* The outermost loop that is in `outer` and around `loop`: before it stands what is done once in an iteration of
 * `outer`. NO_INDEX if they are the same. */
uint32_t plan_loop_below(const Plan *plan, uint32_t loop, uint32_t outer);

/* ---- plan_channels.c ---- */
/* Channels, and which of them share a ring or a barrier. */
void plan_channels(Plan *plan);
/* The buffer in whose list its barriers are. */
static inline uint32_t plan_leader(const Plan *plan, uint32_t buffer) {
    const PlanBuffer *b = &plan->buffers[buffer];
    return plan->buffers[b->ring].turns > 1 ? b->ring : b->merged;
}
static inline bool plan_written_by_mma(const Plan *plan, const PlanChannel *channel) {
    return channel->writes.count && plan->accesses[channel->writes.items[0]].mma;
}
static inline bool plan_written_by_tma(const Plan *plan, const PlanChannel *channel) {
    return channel->writes.count && plan->accesses[channel->writes.items[0]].tma;
}

/* ---- plan_steps.c ---- */
/* Whether the schedule of its loop says when an op comes. */
bool plan_is_scheduled(const Op *op);

/* ---- plan.c ---- */
/* "task 0, task 2" */
const char *plan_partitions(const Plan *plan, uint64_t mask);

/* ---- plan_coverage.c ---- */
/* What the buffers of the report have to say of each other, the tables of what overwrites what, and a finding
 * (coverage.missing-back-edge) for each back edge that no channel of the plan gives. */
void plan_coverage(Plan *plan);
/* Whether two buffers are, in part, the same memory. */
bool plan_overlap(const Plan *plan, uint32_t a, uint32_t b);

#endif
