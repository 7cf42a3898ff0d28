/* Memory of a kernel that checks itself (mode shadow), in the PTX machine. */
#ifndef TESTS_RECORD_CELLS_H
#define TESTS_RECORD_CELLS_H

#include "machine/simt/core/launch.h"
#include "machine/simt/core/machine.h"

/* Cells for each buffer of the launch, clocks and reports; and the last parameter (trace/shadow.h). `plain`: the
 * module before it was instrumented. */
bool add_cells(Arena *arena, const PtxProgram *program, PtxLaunch *launch, PtxModule *plain, bool seed,
               const char **problem);
/* NULL, or what it could not follow. */
const char *cells_trouble(PtxMachine *machine);

#endif
