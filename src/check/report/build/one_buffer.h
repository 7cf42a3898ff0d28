/* The part of a barrier report that is about the buffers of one buffer.id. */
#ifndef CHECK_REPORT_BUILD_ONE_BUFFER_H
#define CHECK_REPORT_BUILD_ONE_BUFFER_H

#include "finding/report.h"

/* Leaves those buffers, the barriers that protect them and their pairs, edges through those barriers or with such a
 * buffer, candidates, and coverage that concerns them. Partitions, deadlocks and the verdict stay: they are the
 * kernel's. False, and nothing is left out, if there is no such buffer. Memory: `arena`. */
bool report_keep_buffer(Arena *arena, Report *report, int64_t id);

#endif
