/* A run as a picture over time, in the trace format of Chrome's tracing and of Perfetto (ui.perfetto.dev).
 *
 * A CTA is a process, an agent a thread of it. The format knows only wall-clock time: a step of the schedule is ten
 * microseconds, so that an arrow can start inside the slice of one step. Steps are slices; a wait is as long as it was
 * blocked; the completion of a barrier's phase is an instant; an arrow leads from an arrival to the wait it released.
 * The arguments of an event are "detail" and "ir_line". */
#ifndef RENDER_TRACE_H
#define RENDER_TRACE_H

#include "base/text.h"

typedef struct TraceTrack {
    uint32_t cta;
    const char *cta_name; /* "cta 0 (0,0,0)" */
    const char *agent;    /* "default", "partition0.tma", "partition0.tensor core" */
} TraceTrack;

typedef enum TraceKind {
    TRACE_STEP,    /* an op */
    TRACE_WAIT,    /* an op that was blocked for `duration` steps, and then went on */
    TRACE_BLOCKED, /* one that never did */
    TRACE_FLIP,    /* the completion of a phase: no duration */
} TraceKind;

typedef struct TraceEvent {
    TraceKind kind;
    uint32_t track;
    uint64_t time, duration; /* in steps; a duration of 0 is shown as 1 */
    const char *name;        /* "ttng.wait_barrier" */
    const char *detail;      /* "%full[1], parity 0, phase 2"; "" if nothing */
    uint32_t ir_line;        /* 0 if none */
    uint32_t flow_from;      /* 1 + the index of the event that released this one; 0 if none did */
} TraceEvent;

typedef struct Trace {
    const char *file, *kernel, *launch; /* kept in the trace, for whoever finds it later; "" if not known */
    const TraceTrack *tracks;
    size_t track_count;
    const TraceEvent *events; /* those of one track do not overlap, except that an instant may lie in a slice */
    size_t event_count;
} Trace;

void render_trace(const Trace *trace, Text *to);

#endif
