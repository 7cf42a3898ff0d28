/* Which clusters of a launch do the same, so that one of each class is enough.
 *
 * The grid is a box of clusters that nothing has spoken for. The first of them is run, and the box for which that run
 * speaks (symmetry.h) is cut out; what is left is a few boxes, and so on until there is none. A grid of 2^31 clusters
 * of which one behaves otherwise takes three runs. A run that does not finish speaks for its own cluster alone.
 */
#ifndef MACHINE_TILE_SCHEDULE_CLASSES_H
#define MACHINE_TILE_SCHEDULE_CLASSES_H

#include "machine/tile/step/machine.h"

/* More classes than this are not looked at. */
enum { MOST_CLASSES = 1 << 16 };

typedef struct ScheduleClasses ScheduleClasses;

/* Runs a cluster, with what it follows; false: the run speaks for that cluster alone. */
typedef bool RunClass(void *context, Symmetry *symmetry, uint64_t cluster);

/* Of the launch that the machine has. `loads_differ`: each cluster is given what its loads give. Memory: `arena`. */
ScheduleClasses *classes_create(Arena *arena, Machine *machine, bool loads_differ);
/* The same, by where accesses to global memory lie; `run` runs each of them, also one that is alone. */
ScheduleClasses *classes_of_places(Arena *arena, Machine *machine, RunClass *run, void *context);
/* Before the first: takes the programs of a grid of one dimension for those of a box, as far as what the first one does
 * suggests it: of programs that go by their number modulo 8, the box is 8 long. False: it does not. */
bool classes_split(ScheduleClasses *classes);
/* The clusters along each axis; of a box, the last may be more than there are. */
void classes_sizes(const ScheduleClasses *classes, int64_t sizes[3]);
/* A cluster that no other has spoken for; false: there is none, or there are too many classes. The machine has run it
 * to find for whom it speaks. */
bool classes_next(ScheduleClasses *classes, uint64_t *cluster);
/* The clusters that the last one speaks for, along each axis of the grid of clusters; both ends included. */
void classes_last(const ScheduleClasses *classes, int64_t low[3], int64_t high[3]);
/* How many there were so far, and how many clusters they speak for. */
uint64_t classes_count(const ScheduleClasses *classes);
uint64_t classes_covered(const ScheduleClasses *classes);

#endif
