/* Numbers at random; and boxes of CTAs, with a look at every one of them. */
#ifndef TESTS_UNIT_BOXES_H
#define TESTS_UNIT_BOXES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "explore/symmetry.h"

static uint64_t seed = 1;

static inline int64_t roll(int64_t from, int64_t to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int64_t)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* What a number of that form, which is `value` in the CTA of the run, is in another. */
static inline int64_t value_at(const Symmetry *box, const AffineForm *form, int64_t value, const int64_t at[AXES]) {
    for (unsigned axis = 0; axis < AXES; axis++)
        value += form->by[axis] * (at[axis] - box->at[axis]);
    return value;
}

#define EACH_CTA(box, at)                                             \
    for (at[2] = (box)->low[2]; at[2] <= (box)->high[2]; at[2]++)     \
        for (at[1] = (box)->low[1]; at[1] <= (box)->high[1]; at[1]++) \
            for (at[0] = (box)->low[0]; at[0] <= (box)->high[0]; at[0]++)

#endif
