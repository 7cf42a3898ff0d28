/* Kinds of schedules, and trails, the steps of a run: both machines have them. */
#ifndef EXPLORE_TRAIL_H
#define EXPLORE_TRAIL_H

#include "base/arena.h"

typedef enum ScheduleKind {
    SCHEDULE_EAGER,       /* what is asynchronous completes at once; each agent runs until it blocks */
    SCHEDULE_LAZY,        /* a completion comes only when no agent can go on, the oldest first */
    SCHEDULE_ROUND_ROBIN, /* one step of each agent and one completion in turn */
    SCHEDULE_RANDOM,      /* by `seed` */
    SCHEDULE_DELAYED,     /* eager, but some agents or outstanding operations stand still while any other can move */
    SCHEDULE_REPLAY,      /* a trail */
} ScheduleKind;

/* The steps of a run: an agent's number, or TRAIL_OUTSTANDING and the sequence number of an asynchronous operation. */
typedef struct Trail {
    uint32_t *steps;
    uint32_t count, capacity;
    Arena *arena;
} Trail;

void trail_push(Trail *trail, uint32_t step);

#define TRAIL_OUTSTANDING UINT32_C(0x80000000)

#endif
