/* Who has the next turn in the machine of PTX. Kinds and trails are those of both machines (explore/trail.h): a
 * step of a trail is the number of a thread, the lowest of its group, or TRAIL_OUTSTANDING and the number of an
 * operation.
 */
#ifndef MACHINE_SIMT_SCHEDULE_SCHEDULE_H
#define MACHINE_SIMT_SCHEDULE_SCHEDULE_H

#include "explore/trail.h"
#include "machine/simt/core/machine.h"

typedef struct PtxSchedule {
    ScheduleKind kind; /* SCHEDULE_DELAYED: threads [held, held + held_count) stand still before code `delayed_pc` while
                          others can move */
    uint64_t seed;
    bool mirrored; /* from the last CTA and warp to the first */
    bool gives_up; /* waits that are made once have no timeout (PtxMachine.gives_up) */
    uint32_t held, held_count, delayed_pc;
    const uint32_t *only; /* clusters that are run, and no others, in this order; NULL: all */
    uint32_t only_count;
    /* Gives the cluster that begins next, instead of all of them in their order; NULL. `stuck`: those that have begun
     * cannot go on without it. False: there is none. */
    bool (*next)(void *context, bool stuck, uint32_t *cluster);
    void *context;
    /* Other processes may change memory now; `stuck`: no thread can go on before they do. False: they will not. NULL:
     * there are none. */
    bool (*others)(void *context, bool stuck);
    Trail *record; /* NULL: the steps are not kept */
    const Trail *replay;
    bool explored;   /* SCHEDULE_REPLAY: the trail is that of an exploration, and is replayed by it (explore.h) */
    ScheduleKind as; /* SCHEDULE_REPLAY: the kind of the schedule whose trail it is; `mirrored` is of that, too */
} PtxSchedule;

typedef enum PtxEnd {
    PTX_END_COMPLETE,
    PTX_END_STUCK,   /* some thread can never go on */
    PTX_END_FAULT,   /* machine->fault */
    PTX_END_UNKNOWN, /* machine->unknown */
    PTX_END_BUDGET,
    PTX_END_TIME,
    PTX_END_DIVERGED, /* a replayed step was not possible */
} PtxEnd;

/* Runs the grid from its start. */
PtxEnd ptx_schedule_run(PtxMachine *machine, const PtxSchedule *schedule);
/* "eager", "random (seed 3)"; for people. */
void ptx_schedule_describe(const PtxSchedule *schedule, Text *to);

#endif
