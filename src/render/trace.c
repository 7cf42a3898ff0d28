/* Writes a trace as {"traceEvents": [...]}, one event a line. The format's own letters are the values of "ph". */
#include "render/trace.h"

#include "render/json.h"

#include <inttypes.h>

enum { STEP = 10 }; /* microseconds */

typedef struct Writer {
    Text *to;
    const Trace *trace;
    bool any; /* event was written */
} Writer;

static void add_text(Text *to, const char *key, const char *text) {
    text_addf(to, ", \"%s\": ", key);
    render_json_string(to, text);
}

/* Viewers take process 0 and thread 0 for the idle ones, hence the 1. */
static void start_event(Writer *writer, const char *phase, uint32_t track) {
    text_addf(writer->to, "%s\n{\"ph\": \"%s\", \"pid\": %u, \"tid\": %u", writer->any ? "," : "", phase,
              writer->trace->tracks[track].cta + 1, track + 1);
    writer->any = true;
}

static void name_track(Writer *writer, uint32_t track, const char *what, const char *name, uint32_t order) {
    start_event(writer, "M", track);
    text_addf(writer->to, ", \"name\": \"%s_name\", \"args\": {\"name\": ", what);
    render_json_string(writer->to, name);
    text_addf(writer->to, "}}");
    start_event(writer, "M", track);
    text_addf(writer->to, ", \"name\": \"%s_sort_index\", \"args\": {\"sort_index\": %u}}", what, order);
}

static void add_tracks(Writer *writer) {
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

static void add_barriers(Text *to, const TraceEvent *event) {
    Text names = {0};
    for (size_t i = 0; i < event->barrier_count; i++) {
        const TraceBarrier *barrier = &event->barriers[i];
        text_addf(&names, "%s%s", i ? ", " : "", barrier->ring);
        if (barrier->slot >= 0)
            text_addf(&names, "[%" PRId64 "]", barrier->slot);
    }
    text_char(&names, 0);
    if (event->barrier_count)
        add_text(to, "barrier", names.failed ? "" : names.data);
    text_free(&names);
}

static void add_event(Writer *writer, const TraceEvent *event) {
    static const char *const categories[] = {"step", "wait", "blocked", "flip", "access"}; /* ORDER TraceKind */
    Text *to = writer->to;
    bool instant = trace_is_instant(event->kind);
    start_event(writer, instant ? "i" : "X", event->track);
    text_addf(to, ", \"ts\": %" PRIu64, start_of(event));
    if (instant)
        text_addf(to, ", \"s\": \"t\"");
    else
        text_addf(to, ", \"dur\": %" PRIu64, end_of(event) - start_of(event));
    text_addf(to, ", \"cat\": \"%s\"", categories[event->kind]);
    if (event->kind == TRACE_BLOCKED)
        text_addf(to, ", \"cname\": \"terrible\"");
    add_text(to, "name", event->name);
    text_addf(to, ", \"args\": {\"ir_line\": %u", event->ir_line);
    add_text(to, "detail", event->detail);
    add_barriers(to, event);
    text_addf(to, "}}");
}

/* An arrow binds to the slices that its ends lie in. They lie inside, since a viewer may not count a slice's edge. */
static void add_flow(Writer *writer, const TraceEvent *from, const TraceEvent *event) {
    static const char what[] = ", \"cat\": \"release\", \"name\": \"releases\"}";
    uint64_t start = start_of(from) + STEP / 2, end = end_of(event) - 1;
    size_t id = (size_t)(event - writer->trace->events) + 1;
    start_event(writer, "s", from->track);
    text_addf(writer->to, ", \"id\": %zu, \"ts\": %" PRIu64 "%s", id, start, what);
    start_event(writer, "f", event->track);
    text_addf(writer->to, ", \"id\": %zu, \"ts\": %" PRIu64 ", \"bp\": \"e\"%s", id, end > start ? end : start, what);
}

void render_trace(const Trace *trace, Text *to) {
    Writer writer = {.to = to, .trace = trace};
    text_addf(to, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"tool\": \"weir\"");
    add_text(to, "file", trace->file);
    add_text(to, "kernel", trace->kernel);
    add_text(to, "launch", trace->launch);
    text_addf(to, "},\n\"traceEvents\": [");
    add_tracks(&writer);
    for (size_t i = 0; i < trace->event_count; i++) {
        const TraceEvent *event = &trace->events[i];
        add_event(&writer, event);
        if (event->flow_from)
            add_flow(&writer, &trace->events[event->flow_from - 1], event);
    }
    text_addf(to, "\n]}\n");
}
