/* Which clusters of a launch do the same (explore/classes.h), as the machine of IR runs them. */
#ifndef MACHINE_TILE_SCHEDULE_CLASSES_H
#define MACHINE_TILE_SCHEDULE_CLASSES_H

#include "explore/classes.h"
#include "machine/tile/step/machine.h"

/* Runs a cluster, with what it follows; false: the run speaks for that cluster alone. */
typedef bool RunTileClass(void *context, TileSymmetry *symmetry, uint64_t cluster);

/* Of the launch that the machine has. `loads_differ`: each cluster is given what its loads give. Memory: `arena`. */
CtaClasses *classes_create(Arena *arena, Machine *machine, bool loads_differ);
/* The same, by where accesses to global memory lie; `run` runs each of them, also one that is alone. */
CtaClasses *classes_of_places(Arena *arena, Machine *machine, RunTileClass *run, void *context);

#endif
