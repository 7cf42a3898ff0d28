/* What a grid needs, from what several launches say: the memory of all devices, the launches on each of them, with
 * addresses and ranks inserted, and which of them comes after which.
 *
 * Arguments that name the same buffer share its memory, one area for each device; all others have memory of their own.
 * Launches go in the order of the inputs, and one input's in the order of the devices. */
#ifndef MACHINE_TILE_GRID_LAUNCH_SEQUENCE_H
#define MACHINE_TILE_GRID_LAUNCH_SEQUENCE_H

#include "machine/tile/grid/grid.h"

typedef struct LaunchSequenceInput {
    const Program *program;
    const Launch *launch;
} LaunchSequenceInput;

typedef struct LaunchSequence {
    GlobalMemory *memory;
    GridLaunch *launches;
    const uint32_t *inputs; /* of each launch: which input it is of */
    uint32_t count;
} LaunchSequence;

/* Memory: the arena. False if they cannot be run together: *problem is a sentence. */
bool launch_sequence_build(Arena *arena, const LaunchSequenceInput *inputs, size_t count, uint32_t devices,
                           LaunchSequence *launch_sequence, const char **problem);

#endif
