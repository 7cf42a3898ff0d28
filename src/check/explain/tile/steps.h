/* A run for people, one line an event, as it happens. An observer.
 *
 *     step  agent       op                                         what it does
 *        1  default     ttng.init_barrier @24 (kernel.py:13)       initializes %full[0], count 1
 *       12  partition0  ttng.barrier_expect @52 (kernel.py:27)     arrives on %full[1]: 0 of 1 pending, 16384 bytes ...
 *
 * Steps have the numbers of a trail's steps: what an agent does on its way to its next visible effect belongs to the
 * step before. Step 0 is the start. */
#ifndef CHECK_EXPLAIN_TILE_STEPS_H
#define CHECK_EXPLAIN_TILE_STEPS_H

#include "check/explain/place.h"
#include "machine/tile/schedule/schedule.h"

typedef struct Steps {
    const Machine *machine;
    Text *to;
    StepCount count;
    uint64_t last;             /* step */
    int agent_width, op_width; /* of the columns */
} Steps;

/* Writes the line with the names of the columns. */
void steps_start(Steps *steps, const Machine *machine, Text *to);
void steps_observe(void *steps, const Event *event);
/* Who is blocked forever, and how the run ended. The machine is as the run left it. */
void steps_finish(Steps *steps, RunEnd end);

#endif
