/* Compares two barrier reports. */
#ifndef CHECK_REPORT_DIFFERENCE_COMPARE_H
#define CHECK_REPORT_DIFFERENCE_COMPARE_H

#include "finding/difference.h"

/* Texts are in `arena`, or are those of the reports. */
const Difference *difference_find(Arena *arena, const Report *old, const Report *new);

#endif
