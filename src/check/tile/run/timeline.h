/* A run as a picture: collects what render/trace.h draws. An observer.
 *
 * Time is the number of the step. A slice is a visible effect of an agent, or the completion of an asynchronous
 * operation on the track of the helper that made it; what an agent does in between (accesses, issues, fences) takes no
 * step and is not drawn, but for accesses at marked lines. A wait is drawn from where it was blocked to where it went
 * on, with an arrow from what released it. */
#ifndef CHECK_TILE_RUN_TIMELINE_H
#define CHECK_TILE_RUN_TIMELINE_H

#include "check/explain/place.h"
#include "machine/tile/schedule/schedule.h"
#include "render/trace.h"

/* More than this nothing can look at; the picture ends there. */
enum { TIMELINE_MOST_EVENTS = 1 << 20 };

typedef struct Timeline Timeline;

/* Memory: `arena`. */
Timeline *timeline_create(Arena *arena, const Machine *machine);
/* Accesses of ops at that line of the IR are drawn, too. */
void timeline_mark(Timeline *timeline, uint32_t ir_line);
void timeline_observe(void *timeline, const Event *event);
/* Draws who is blocked forever. The machine is as the run left it. `trace` has file, kernel and launch already. */
void timeline_finish(Timeline *timeline, RunEnd end, Trace *trace);

#endif
