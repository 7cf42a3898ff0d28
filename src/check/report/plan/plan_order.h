/* What the channels of a plan order: whether a write comes after a read, by the tokens that the plan's own channels
 * will get and by nothing else.
 *
 * The partitions of the plan are run, each loop a few times, with a clock for each of how far it knows the others to
 * be. An arrive of a channel leaves the clock of who arrives, and the wait for it takes that over: "full" after the
 * last write, "empty" after the last read, a ring's depth later. Buffers that take turns in one place wait for each
 * other. A loop that is scheduled (loop.stage, loop.cluster) goes in the order in which its pipeline will. MMAs of one
 * partition execute in issue order, and what copies do is known to no agent before it is waited for. */
#ifndef CHECK_REPORT_PLAN_PLAN_ORDER_H
#define CHECK_REPORT_PLAN_PLAN_ORDER_H

#include "check/report/plan/plan.h"

typedef struct PlanOrder PlanOrder;

/* How much a write knows of a read, from the least on. */
typedef enum PlanWay {
    PLAN_OPEN,    /* not decided: the plan is too large, or does not run to its end */
    PLAN_NEVER,   /* nothing is written there after it was read */
    PLAN_PROGRAM, /* program order */
    PLAN_ISSUE,   /* MMAs of one partition */
    PLAN_WAIT,    /* `waits` */
    PLAN_MISSING,
} PlanWay;

/* A wait that will stand in a partition. */
typedef struct PlanWait {
    uint32_t barrier; /* of the plan; NO_INDEX: one of its own, from `from` */
    uint64_t mask;    /* who waits */
    uint64_t from;
    uint32_t order; /* before which op, or loop, of the text */
} PlanWait;

enum { MOST_PLAN_WAITS = 3 };

typedef struct PlanDecision {
    PlanWay way;
    PlanWait waits[MOST_PLAN_WAITS]; /* at different times */
    uint32_t wait_count;
} PlanDecision;

/* Runs the plan; its channels and barriers are known. */
PlanOrder *plan_order_create(Plan *plan);
/* Whether every write of the one access comes after the reads before it of the other. Indices of the plan's accesses.
 */
PlanDecision plan_order_decide(const PlanOrder *order, uint32_t write, uint32_t read);

#endif
