/* A run as a picture over time, in the trace format of Chrome's tracing and of Perfetto (ui.perfetto.dev).
 *
 * A CTA is a process, an agent a thread of it. The format knows only wall-clock time: a step of the schedule is ten
 * microseconds, so that an arrow can start inside the slice of one step. Steps are slices; a wait is as long as it was
 * blocked; the completion of a barrier's phase is an instant; an arrow leads from an arrival to the wait it released.
 * The arguments of an event are "ir_line", "detail", and "barrier" if it is about one: "%full[1]". */
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
    TRACE_ACCESS,  /* an access to memory that a finding is about: no duration */
} TraceKind;

static inline bool trace_is_instant(TraceKind kind) {
    return kind == TRACE_FLIP || kind == TRACE_ACCESS;
}

/* A barrier as an event names it. */
typedef struct TraceBarrier {
    const char *ring; /* the allocation's value, and its side if it has two: "%full", "%tok.empty"; "named barrier 9" */
    int64_t slot;     /* -1: it has none */
} TraceBarrier;

typedef struct TraceEvent {
    TraceKind kind;
    uint32_t track;
    uint64_t time, duration;      /* in steps; a duration of 0 is shown as 1 */
    const char *name;             /* "ttng.wait_barrier" */
    const char *detail;           /* "%full[1], parity 0, phase 2"; "" if nothing */
    uint32_t ir_line;             /* 0 if none */
    uint32_t flow_from;           /* 1 + the index of the event that released this one; 0 if none did */
    const TraceBarrier *barriers; /* that it is about, each once */
    size_t barrier_count;
} TraceEvent;

/* Which line of the kernel's own source a line of its text comes from: of an op, an instruction, an operation of a
 * program's log. */
typedef struct TraceCodeLine {
    const char *file;
    uint32_t line, ir_line;
    bool own; /* of the kernel, in the file that it begins in; or of the program */
} TraceCodeLine;

typedef struct Trace {
    const char *file, *kernel, *launch; /* kept in the trace, for later readers; "" if not known */
    const TraceTrack *tracks;
    size_t track_count;
    const TraceEvent *events; /* those of one track do not overlap, except that instants may lie in a slice */
    size_t event_count;
    const TraceCodeLine *code; /* the kernel's own first; none: the text names no source */
    size_t code_count;
} Trace;

void render_trace(const Trace *trace, Text *to);

#endif
