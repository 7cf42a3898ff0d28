/* What an instrumented kernel has left in the memory of the PTX machine: memory for it, and whether its chunks are
 * well-formed. */
#ifndef TESTS_RECORD_WALK_H
#define TESTS_RECORD_WALK_H

#include "emulate/ptx/launch.h"
#include "emulate/ptx/machine.h"
#include "instrument/instrument.h"

/* Adds the block of the last parameter (record/record.h) and all it points to. */
bool add_recording(Arena *arena, const PtxProgram *program, PtxLaunch *launch, uint32_t chunk, const char **problem);
/* NULL, or what is wrong: each chain of chunks is followed to its end, and each lane that there is has ended. */
const char *walk_recording(PtxMachine *machine, const Sites *sites);

#endif
