/* What running a plan is made of: plan_steps.c lists what each partition does, plan_order.c does it. */
#ifndef CHECK_REPORT_PLAN_PLAN_INTERNAL_H
#define CHECK_REPORT_PLAN_PLAN_INTERNAL_H

#include "check/report/plan/plan_order.h"

typedef enum PlanStepKind {
    STEP_WAIT,   /* for a barrier of a channel */
    STEP_TURN,   /* for a read of a buffer that has the same place */
    STEP_ACCESS, /* of a buffer */
    STEP_LOOP,
    STEP_AWAIT, /* until copies of the partition are done */
    STEP_ARRIVE /* on a barrier of a channel */
} PlanStepKind;

/* One time that a step comes, in the order of the text. */
typedef struct Time {
    uint32_t when;
    uint32_t round;  /* of the channel's loop, or of the buffer's */
    uint32_t before; /* waits out of the channel's loop: arrives until then; turns: reads until then */
} Time;

/* Something that is done in each iteration of a loop. Those at one place are in the order of their kinds. */
typedef struct PlanStep {
    PlanStepKind kind;
    uint32_t loop;    /* that it stands in; NO_INDEX: none */
    uint32_t order;   /* in the text */
    uint32_t index;   /* the access, the loop, or the channel; NO_INDEX: all copies */
    Side side;        /* of the channel */
    uint32_t at;      /* waits and turns: the access that it stands before */
    uint64_t mask;    /* who does it */
    int64_t left;     /* awaits: how many copies may be left */
    bool every_round; /* it is once in each iteration of the channel's loop */
    bool scheduled;
    uint32_t stage, cluster; /* of a loop that is pipelined */
    Time *times;
    uint32_t time_count, time_capacity;
    uint32_t queued; /* how often, as the pipelines go */
} PlanStep;

typedef struct PlanSteps {
    PlanStep *items; /* by loop: what stands in none first */
    uint32_t count, capacity;
    uint32_t *first;      /* of each loop + 1, its steps; [0]: what stands in none */
    uint32_t turns;       /* of each loop */
    uint32_t *rounds;     /* of each loop: iterations begun */
    uint32_t *arrives[2]; /* of each channel, [full, empty]: how many until now, in the text */
    uint32_t *reads;      /* of each access the same */
    uint32_t when;
    bool too_many;
} PlanSteps;

/* What a partition does next. */
typedef struct PlanTask {
    uint32_t step, time;
} PlanTask;
typedef struct Queue {
    PlanTask *items;
    uint32_t count, capacity, done;
} Queue;

/* Lists all steps, when each of them comes in the text, and what each partition (bit of a mask) does one after the
 * other; `queues` has MOST_PARTITIONS. */
PlanSteps *plan_steps(Plan *plan, Queue *queues);

#endif
