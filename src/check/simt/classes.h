/* A grid by classes of CTAs that do the same: one CTA of each is run, and speaks for all of it
 * (machine/simt/core/symmetry.h).
 *
 * What is left is whether CTAs meet in global memory: the bytes that each touches are those of the one that ran, so
 * many further on; where those of two CTAs overlap and one writes, these two are run together, and the race engine
 * decides. */
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

typedef struct CtaClasses {
    uint32_t count;   /* classes */
    uint32_t ctas[2]; /* CLASSES_ENDED: the first; CLASSES_OVERLAP: both */
    uint32_t cta_count;
    PtxEnd end;
    const PtxCode *alone; /* where a CTA first did something that is only its own; NULL: nowhere */
    const char *why;
} CtaClasses;

/* Whether it can be tried: many CTAs, no clusters, no synchronization of CTAs. */
bool classes_apply(const PtxMachine *machine);
/* `begin` and `end` are called before and behind each run, with `to`: they start and ask the observer of the machine.
 */
ClassesEnd classes_run(PtxMachine *machine, const PtxSchedule *schedule, void (*begin)(void *to),
                       bool (*end)(void *to, const uint32_t *ctas, uint32_t count), void *to, CtaClasses *classes);

#endif
