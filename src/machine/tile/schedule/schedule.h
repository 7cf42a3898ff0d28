/* Who makes the next step: the schedules.
 *
 * Every schedule is deterministic: the same machine, launch and schedule give the same steps. Nothing runs without a
 * bound: the machine's budget ends a run that does not end. */
#ifndef MACHINE_TILE_SCHEDULE_SCHEDULE_H
#define MACHINE_TILE_SCHEDULE_SCHEDULE_H

#include "explore/trail.h"
#include "machine/tile/step/machine.h"

/* What stands still: an agent before its visible effect number `tick`, from 0; or what it issued at `pc` after
 * so many of them. */
typedef struct Delay {
    uint32_t agent, tick, pc;
    bool outstanding;
} Delay;

enum { MOST_DELAYS = 3 };

typedef struct Schedule {
    ScheduleKind kind;
    uint64_t seed;
    Delay delays[MOST_DELAYS]; /* SCHEDULE_DELAYED: the last one is let go first, when nothing else can move */
    uint32_t delay_count;
    bool mirrored; /* agents have their turns from the last to the first */
    Trail *record; /* NULL: the steps are not kept */
    const Trail *replay;
    bool immediate; /* SCHEDULE_REPLAY, SCHEDULE_ROUND_ROBIN: what is asynchronous completes at once */
} Schedule;

typedef enum RunEnd {
    RUN_COMPLETE, /* every agent ended */
    RUN_STUCK,    /* some agent can never go on */
    RUN_FAULT,    /* machine->fault */
    RUN_UNKNOWN,  /* machine->unknown */
    RUN_BUDGET,
    RUN_EXCLUDED,
    RUN_DIVERGED, /* a replayed step was not possible */
} RunEnd;

/* When nothing moves any more: RUN_COMPLETE, or RUN_STUCK. */
RunEnd schedule_end(const Machine *machine);
/* Whether what is asynchronous completes when it is issued. */
bool schedule_is_immediate(const Schedule *schedule);

/* Runs the cluster from its start to its end. */
RunEnd schedule_run(Machine *machine, uint64_t cluster, const Schedule *schedule);
/* Everything in flight that can complete does. */
StepResult schedule_land(Machine *machine);
/* Why a run ended with a step that gave this, which is not STEP_DONE. */
RunEnd schedule_end_of(StepResult result);
/* Runs on from the machine's state, eagerly. */
RunEnd schedule_continue(Machine *machine);

/* "partition0 is slow, and what ttng.tc_gen5_commit at IR line 41 starts is late"; for people. */
void schedule_describe_delays(const Machine *machine, const Schedule *schedule, Text *to);
/* "one in which partition0 is slow", "eager"; for people. */
void schedule_describe(const Machine *machine, const Schedule *schedule, Text *to);

#endif
