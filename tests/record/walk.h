/* What an instrumented kernel has left in the memory of the PTX machine: memory for it, and whether its chunks are
 * well-formed. */
#ifndef TESTS_RECORD_WALK_H
#define TESTS_RECORD_WALK_H

#include "instrument/instrument.h"
#include "machine/simt/core/launch.h"
#include "machine/simt/core/machine.h"

/* Adds the block of the last parameter (trace/record.h) and all it points to. */
bool add_recording(Arena *arena, const PtxProgram *program, PtxLaunch *launch, uint32_t chunk, const char **problem);
/* NULL, or what is wrong: all records are read, in their order, and each lane that there is has ended. `plain`: the
 * module before it was instrumented. */
const char *walk_recording(PtxMachine *machine, const Sites *sites);

#endif
