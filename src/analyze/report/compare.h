/* Compares two barrier reports. */
#ifndef ANALYZE_REPORT_COMPARE_H
#define ANALYZE_REPORT_COMPARE_H

#include "finding/difference.h"

/* Texts are in `arena`, or are those of the reports. */
const Difference *difference_find(Arena *arena, const Report *old, const Report *new);

#endif
