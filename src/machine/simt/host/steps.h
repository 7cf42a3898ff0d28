/* What the warps of a launch do, one after the other, that other processes may notice: accesses to memory that they
 * have, too; and what orders it inside the launch: strong accesses to any memory, fences, barriers. Each with its time,
 * which gives steps of launches of several processes one order. */
#ifndef MACHINE_SIMT_HOST_STEPS_H
#define MACHINE_SIMT_HOST_STEPS_H

#include "machine/simt/core/machine.h"

typedef enum HostStepKind {
    STEP_ACCESS,
    STEP_FENCE,
    STEP_ARRIVE, /* at a phase of a barrier of the CTA or cluster, which `address` is the number of */
    STEP_PASS,   /* the warp goes on behind it */
} HostStepKind;

typedef struct HostStep {
    uint64_t time; /* in nanoseconds, CLOCK_MONOTONIC */
    uint64_t address, bytes;
    const PtxCode *code;
    uint32_t warp; /* of the grid: CTA * warps of a CTA + its own */
    uint8_t what, kind, order, scope;
} HostStep;

typedef struct HostSteps HostSteps;

/* Where memory is that other processes have. */
typedef struct StepRange {
    uint64_t begin, bytes;
} StepRange;

/* NULL: there is no memory. */
HostSteps *host_steps_new(const PtxMachine *machine);
/* A recording is played: memory that other processes have is in these ranges, which stay. */
void host_steps_within(HostSteps *steps, const StepRange *ranges, uint32_t count);
void host_steps_free(HostSteps *steps);
void host_steps_observe(HostSteps *steps, const PtxEvent *event);
/* All of them, until `steps` is freed; NULL: there are too many, or an asynchronous operation accesses such memory,
 * which *problem says. */
const HostStep *host_steps_all(const HostSteps *steps, uint32_t *count, const char **problem);

#endif
