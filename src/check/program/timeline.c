/* The program as a picture: a track for each stream and host thread that accesses memory, a slice for each operation,
 * as early as what orders it allows, arrows from what is waited for, marks where two operations race. Time is counted
 * in slices: how long an operation takes is not known. */
#include "check/program/internal.h"

#include <stdlib.h>

enum { SLICE = 4, MOST_SHOWN = 20000 };

struct ProgramTimeline {
    Arena *arena;
    TraceEvent *events; /* an operation's number is its index; marks of races are behind all of them */
    uint32_t count, capacity;
    TraceEvent *marks;
    uint32_t mark_count, mark_capacity;
    uint64_t ready[ORDER_LANES];    /* of each lane, when its next operation may begin */
    uint32_t released[ORDER_LANES]; /* 1 + the operation that a wait of the lane is for; 0: none */
    uint32_t last[ORDER_LANES];     /* 1 + the last operation */
};

ProgramTimeline *program_timeline(Arena *arena) {
    ProgramTimeline *timeline = ARENA_NEW(arena, ProgramTimeline);
    timeline->arena = arena;
    return timeline;
}

/* The time after all that a clock has. Of each lane, operations end in their order. */
static uint64_t time_after(const ProgramTimeline *timeline, const ProgramCheck *check, const OrderClock *clock) {
    uint64_t time = 0;
    for (uint32_t lane = 0; lane < check->order.lane_count; lane++) {
        uint64_t over = clock->over[lane];
        if (over && over <= timeline->count) {
            const TraceEvent *event = &timeline->events[over - 1];
            uint64_t end = event->time + event->duration;
            time = end > time ? end : time;
        }
    }
    return time;
}

void program_timeline_waits(ProgramTimeline *timeline, const OrderLane *lane, const OrderLane *other) {
    if (timeline)
        timeline->released[lane->index] = timeline->last[other->index];
}

void program_timeline_operation(ProgramTimeline *timeline, const ProgramCheck *check, const OrderLane *lane,
                                const OrderClock *begun) {
    if (!timeline || check->number != timeline->count || timeline->count == MOST_SHOWN)
        return;
    const ProgramSite *site = &check->sites[check->site];
    uint32_t index = lane->index;
    uint64_t time = time_after(timeline, check, begun);
    bool dependent = check->operation.verb == ORDER_DEPENDENT; /* it may begin earlier, but slices do not overlap */
    time = time > timeline->ready[index] ? time : timeline->ready[index];
    *ARENA_PUSH(timeline->arena, timeline->events, timeline->count, timeline->capacity) = (TraceEvent){
        .kind = TRACE_STEP,
        .track = index,
        .time = time,
        .duration = SLICE,
        .name = arena_copy(timeline->arena, site->name.data, site->name.size),
        .detail = verdict_text(check->verdict, "%.*s%s", STR_ARG(site->where), dependent ? ", a dependent launch" : ""),
        .ir_line = site->line,
        .flow_from = timeline->released[index]};
    timeline->ready[index] = time + SLICE;
    timeline->last[index] = timeline->count;
    timeline->released[index] = 0;
}

static void mark(ProgramTimeline *timeline, uint64_t number, const char *name, const char *detail) {
    if (number >= timeline->count || timeline->mark_count == MOST_SHOWN)
        return;
    const TraceEvent *event = &timeline->events[number];
    *ARENA_PUSH(timeline->arena, timeline->marks, timeline->mark_count, timeline->mark_capacity) = (TraceEvent){
        .kind = TRACE_ACCESS, .track = event->track, .time = event->time + SLICE / 2, .name = name, .detail = detail};
}

void program_timeline_race(ProgramTimeline *timeline, uint64_t earlier, uint64_t later, const char *message) {
    if (!timeline)
        return;
    mark(timeline, earlier, "race", message);
    mark(timeline, later, "race", message);
}

/* Lines of the log, by the places of the program that they are about. */
static TraceCodeLine *code_lines(const ProgramCheck *check, size_t *count) {
    TraceCodeLine *lines = ARENA_ARRAY(check->timeline->arena, TraceCodeLine, check->site_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < check->site_count; i++) {
        FindingPlace place = {.file = ""};
        program_place(check, &check->sites[i], "", "", &place);
        if (place.line)
            lines[(*count)++] = (TraceCodeLine){place.file, place.line, check->sites[i].line, true};
    }
    return lines;
}

void program_timeline_close(const ProgramCheck *check, const char *file, Trace *trace) {
    ProgramTimeline *timeline = check->timeline;
    uint32_t count = check->order.lane_count;
    TraceTrack *tracks = ARENA_ARRAY(timeline->arena, TraceTrack, count + 1);
    TraceEvent *events = ARENA_ARRAY(timeline->arena, TraceEvent, timeline->count + timeline->mark_count + 1);
    for (uint32_t i = 0; i < count; i++)
        tracks[i] = (TraceTrack){.cta_name = "program", .agent = "host"};
    for (uint32_t i = 0; i < check->stream_count; i++)
        tracks[check->streams[i].track].agent = program_stream_name(check, i);
    for (uint32_t i = 0; i < timeline->count; i++)
        events[i] = timeline->events[i];
    for (uint32_t i = 0; i < timeline->mark_count; i++)
        events[timeline->count + i] = timeline->marks[i];
    size_t code_count;
    const TraceCodeLine *code = code_lines(check, &code_count);
    *trace = (Trace){.file = file,
                     .kernel = "program",
                     .code = code,
                     .code_count = code_count,
                     .launch = "",
                     .tracks = tracks,
                     .track_count = count,
                     .events = events,
                     .event_count = timeline->count + timeline->mark_count};
}
