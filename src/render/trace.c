/* Writes a trace as {"traceEvents": [...]}, one event a line. The format's own letters are the values of "ph". */
#include "render/trace.h"

#include "base/json.h"

#include <inttypes.h>

enum { STEP = 10 }; /* microseconds */

typedef struct TraceWriter {
    Json json;
    const Trace *trace;
} TraceWriter;

/* Viewers take process 0 and thread 0 for the idle ones, hence the 1. */
static void start_event(TraceWriter *writer, const char *phase, uint32_t track) {
    Json *json = &writer->json;
    json_line(json, 0);
    json_begin(json, NULL);
    json_text(json, "ph", phase);
    json_number(json, "pid", writer->trace->tracks[track].cta + 1);
    json_number(json, "tid", track + 1);
}

static Json *start_name(TraceWriter *writer, uint32_t track, const char *what, const char *of) {
    Json *json = &writer->json;
    Text name = {0};
    text_addf(&name, "%s_%s", what, of);
    start_event(writer, "M", track);
    json_take(json, "name", &name);
    json_begin(json, "args");
    return json;
}

static void name_track(TraceWriter *writer, uint32_t track, const char *what, const char *name, uint32_t order) {
    Json *json = start_name(writer, track, what, "name");
    json_text(json, "name", name);
    json_end(json);
    json_end(json);
    start_name(writer, track, what, "sort_index");
    json_number(json, "sort_index", order);
    json_end(json);
    json_end(json);
}

static void add_tracks(TraceWriter *writer) {
    const TraceTrack *tracks = writer->trace->tracks;
    for (uint32_t i = 0; i < writer->trace->track_count; i++) {
        bool named = false; /* by an earlier track of the same CTA */
        for (uint32_t k = 0; k < i && !named; k++)
            named = tracks[k].cta == tracks[i].cta;
        if (!named)
            name_track(writer, i, "process", tracks[i].cta_name, tracks[i].cta);
        name_track(writer, i, "thread", tracks[i].agent, i);
    }
}

static uint64_t start_of(const TraceEvent *event) {
    return event->time * STEP;
}

static uint64_t end_of(const TraceEvent *event) {
    return (event->time + (event->duration ? event->duration : 1)) * STEP;
}

static void add_barriers(Json *json, const TraceEvent *event) {
    Text names = {0};
    for (size_t i = 0; i < event->barrier_count; i++) {
        const TraceBarrier *barrier = &event->barriers[i];
        text_addf(&names, "%s%s", i ? ", " : "", barrier->ring);
        if (barrier->slot >= 0)
            text_addf(&names, "[%" PRId64 "]", barrier->slot);
    }
    if (event->barrier_count)
        json_take(json, "barrier", &names);
}

static void add_event(TraceWriter *writer, const TraceEvent *event) {
    static const char *const categories[] = {"step", "wait", "blocked", "flip", "access"}; /* ORDER TraceKind */
    Json *json = &writer->json;
    bool instant = trace_is_instant(event->kind);
    start_event(writer, instant ? "i" : "X", event->track);
    json_number(json, "ts", start_of(event));
    if (instant)
        json_text(json, "s", "t");
    else
        json_number(json, "dur", end_of(event) - start_of(event));
    json_text(json, "cat", categories[event->kind]);
    if (event->kind == TRACE_BLOCKED)
        json_text(json, "cname", "terrible");
    json_text(json, "name", event->name);
    json_begin(json, "args");
    json_number(json, "ir_line", event->ir_line);
    json_text(json, "detail", event->detail);
    add_barriers(json, event);
    json_end(json);
    json_end(json);
}

/* One end of an arrow; `binding` says that it binds to the slice that it lies in. */
static void add_end(TraceWriter *writer, const char *phase, const TraceEvent *event, size_t id, uint64_t time,
                    const char *binding) {
    Json *json = &writer->json;
    start_event(writer, phase, event->track);
    json_number(json, "id", id);
    json_number(json, "ts", time);
    if (binding)
        json_text(json, "bp", binding);
    json_text(json, "cat", "release");
    json_text(json, "name", "releases");
    json_end(json);
}

/* The ends lie inside of slices, since a viewer may not count a slice's edge. */
static void add_flow(TraceWriter *writer, const TraceEvent *from, const TraceEvent *event) {
    uint64_t start = start_of(from) + STEP / 2, end = end_of(event) - 1;
    size_t id = (size_t)(event - writer->trace->events) + 1;
    add_end(writer, "s", from, id, start, NULL);
    add_end(writer, "f", event, id, end > start ? end : start, "e");
}

void render_trace(const Trace *trace, Text *to) {
    TraceWriter writer = {.json.to = to, .trace = trace};
    Json *json = &writer.json;
    json_begin(json, NULL);
    json_text(json, "displayTimeUnit", "ms");
    json_begin(json, "otherData");
    json_text(json, "tool", "weir");
    json_text(json, "file", trace->file);
    json_text(json, "kernel", trace->kernel);
    json_text(json, "launch", trace->launch);
    json_end(json);
    json_line(json, 0);
    json_begin_list(json, "traceEvents");
    add_tracks(&writer);
    for (size_t i = 0; i < trace->event_count; i++) {
        const TraceEvent *event = &trace->events[i];
        add_event(&writer, event);
        if (event->flow_from)
            add_flow(&writer, &trace->events[event->flow_from - 1], event);
    }
    text_char(to, '\n');
    json_end_list(json);
    json_end(json);
    text_char(to, '\n');
}
