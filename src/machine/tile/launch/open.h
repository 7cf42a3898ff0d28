/* What a launch leaves open: whether a kernel does the same at every launch. */
#ifndef MACHINE_TILE_LAUNCH_OPEN_H
#define MACHINE_TILE_LAUNCH_OPEN_H

#include "machine/tile/compile/program.h"

/* The first of what differs from launch to launch, and decides which way is gone, which slot and phase is meant, how
 * often a loop runs, or which bytes are accessed: "argument n", "tt.get_program_id (line 12)". NULL: there is none. Of
 * global memory that counts if the program was compiled with COMPILE_GLOBAL. Where a pointer points is not open: what
 * is added to it is. Memory: the module's. */
const char *program_open(const Program *program);

/* Whether the program writes global memory; whether by an atomic. It was compiled with COMPILE_GLOBAL. */
bool program_writes_global(const Program *program);
bool program_updates_global(const Program *program);

#endif
