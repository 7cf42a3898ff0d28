/* Which CTAs of a grid do the same, so that one of each class is enough.
 *
 * The grid is a box of CTAs that nothing has spoken for. The first of them is run, and the box for which that run
 * speaks (symmetry.h) is cut out; what is left is a few boxes, and so on until there is none. A grid of 2^31 CTAs of
 * which one behaves otherwise takes three runs. A run that does not finish speaks for its own CTA alone. */
#ifndef EXPLORE_CLASSES_H
#define EXPLORE_CLASSES_H

#include "base/arena.h"
#include "explore/symmetry.h"

/* More classes than this are not looked at. */
enum { MOST_CLASSES = 1 << 16 };

typedef struct CtaBox {
    int64_t low[AXES], high[AXES]; /* both included */
} CtaBox;

/* Runs a CTA, and makes the box smaller as it goes; false: the run speaks for that CTA alone. */
typedef bool RunClass(void *context, Symmetry *symmetry, uint64_t cta);

typedef enum ClassOrder {
    CLASSES_ANY,     /* as it comes; a CTA that is the only one left of its box, or `singly`, is not run */
    CLASSES_LARGEST, /* of the boxes that are left the largest first: how many classes there will be is seen early */
    CLASSES_LOWEST,  /* the CTA with the lowest number first */
} ClassOrder;

typedef struct CtaClasses CtaClasses;

/* Of a grid of those sizes. `singly`: each CTA is taken for a class of its own. Memory: `arena`. */
CtaClasses *classes_new(Arena *arena, const int64_t sizes[AXES], ClassOrder order, bool singly, RunClass *run,
                        void *context);
/* Before the first: takes the CTAs of a grid of one dimension for those of a box, as far as what the first one does
 * suggests it: of CTAs that go by their number modulo 8, the box is 8 long. `period`: how long it is; 0: not known.
 * False: it does not. */
bool classes_split(CtaClasses *classes, int64_t period);
/* Of a grid of one dimension, CTAs in order: after how many the sizes of classes so far repeat; 0: they do not. */
int64_t classes_period(const CtaClasses *classes);
/* The CTAs along each axis; of a box, the last may be more than there are. */
void classes_sizes(const CtaClasses *classes, int64_t sizes[AXES]);
/* The number of a CTA, x first. */
uint64_t classes_number(const int64_t sizes[AXES], const int64_t at[AXES]);
/* A CTA that no other has spoken for, which has been run; false: there is none, or there are too many classes. */
bool classes_next(CtaClasses *classes, uint64_t *cta);
/* The CTAs that the last one speaks for. */
CtaBox classes_last(const CtaClasses *classes);
/* How many there were so far, and how many CTAs they speak for. */
uint64_t classes_count(const CtaClasses *classes);
uint64_t classes_covered(const CtaClasses *classes);
/* Whether there will be more than `most` classes, if the rest is like those so far. */
bool classes_too_many(const CtaClasses *classes, uint64_t most);

#endif
