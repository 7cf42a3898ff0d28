/* A grid by classes of CTAs that do the same (explore/classes.h): one CTA of each is run, and speaks for all of it.
 *
 * What is left is whether CTAs meet in global memory, which the footprints of the classes say in closed form
 * (explore/footprint.h). Two CTAs that access the same bytes, one of which writes, are run together, and the race
 * engine decides. */
#ifndef CHECK_SIMT_CLASSES_H
#define CHECK_SIMT_CLASSES_H

#include "machine/simt/core/symmetry.h"
#include "machine/simt/schedule/schedule.h"

typedef enum ClassesEnd {
    CLASSES_DONE,    /* every CTA was run, or another one has spoken for it */
    CLASSES_NONE,    /* the grid is none that falls into classes: it has to be run whole */
    CLASSES_ENDED,   /* the run of a CTA ended badly: `end` */
    CLASSES_OVERLAP, /* two CTAs touch the same bytes: they were run together behind it, as the last run */
} ClassesEnd;

/* What is called before and behind each run: they start and ask the observer of the machine. `end`: whether all is well
 * with it. */
typedef struct ClassesAudience {
    void (*begin)(void *to);
    bool (*end)(void *to, const uint32_t *ctas, uint32_t count);
    void *to;
} ClassesAudience;

typedef struct ClassesRun {
    uint32_t count;     /* classes */
    uint32_t discarded; /* runs of CTAs that were not classes in the end */
    uint32_t ctas[2];   /* CLASSES_ENDED: the first; CLASSES_OVERLAP: both */
    uint32_t cta_count;
    PtxEnd end;
} ClassesRun;

/* Whether it can be tried: many CTAs, no clusters, no synchronization of CTAs. */
bool classes_apply(const PtxMachine *machine);
/* Whether the grid is too large to be run in several orders. */
bool classes_large(const PtxMachine *machine);
/* `large`: it is taken for a large grid, whatever its size is. */
ClassesEnd classes_run(PtxMachine *machine, const PtxSchedule *schedule, const ClassesAudience *audience, bool large,
                       ClassesRun *run);

#endif
