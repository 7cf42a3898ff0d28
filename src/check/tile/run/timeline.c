/* Tracks are numbered agent by agent, with room for each helper; those that nothing happened on are left out at the
 * end. */
#include "check/tile/run/timeline.h"

#include "ir/op.h"

/* Of one slice: parts that are told, and barriers. An op that makes a thousand is told by its first. */
enum { MOST_PARTS = 16, MOST_MARKS = 64 };

/* What is going on on a track. */
typedef struct Track {
    uint64_t end;        /* of the last slice */
    uint32_t last;       /* 1 + the index of the last slice; 0: none */
    uint32_t parts;      /* of the last slice */
    uint32_t access;     /* 1 + the index of the last access; 0: none */
    uint64_t blocked_at; /* where a blocked wait begins */
    bool blocked, used;
} Track;

struct Timeline {
    Arena *arena;
    const Machine *machine;
    StepCount count;
    uint64_t now;
    uint32_t latest; /* the track of the latest slice */
    Track *tracks;
    uint32_t track_count;
    uint32_t *released_by;  /* of each mbarrier, then named and cluster barriers: 1 + the event that opened it last */
    TraceBarrier *barriers; /* as released_by; `ring` is NULL until it is asked for */
    uint32_t marks[MOST_MARKS];
    size_t mark_count;
    TraceEvent *events;
    uint32_t event_count, event_capacity;
};

/* Barriers are numbered in one row: mbarriers, named ones, those of clusters. */
static uint32_t first_named(const Machine *machine) {
    return machine->slot_count;
}

static uint32_t first_cluster(const Machine *machine) {
    return machine->slot_count + machine->program->ctas * NAMED_BARRIERS;
}

Timeline *timeline_create(Arena *arena, const Machine *machine) {
    Timeline *timeline = ARENA_NEW(arena, Timeline);
    timeline->arena = arena;
    timeline->machine = machine;
    timeline->track_count = machine->agent_count * HELPER_KINDS;
    timeline->tracks = ARENA_ARRAY(arena, Track, timeline->track_count);
    uint32_t barriers = first_cluster(machine) + machine->cluster_barriers;
    timeline->released_by = ARENA_ARRAY(arena, uint32_t, barriers);
    timeline->barriers = ARENA_ARRAY(arena, TraceBarrier, barriers);
    return timeline;
}

void timeline_mark(Timeline *timeline, uint32_t ir_line) {
    if (timeline->mark_count < MOST_MARKS)
        timeline->marks[timeline->mark_count++] = ir_line;
}

/* Its place among all barriers. */
static uint32_t barrier_of(const Timeline *timeline, const Event *event) {
    switch (event->kind) {
    case EVENT_NAMED_ARRIVE:
    case EVENT_NAMED_COMPLETE:
    case EVENT_NAMED_SYNC:
        return first_named(timeline->machine) + event->barrier;
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_COMPLETE:
    case EVENT_CLUSTER_WAIT:
        return first_cluster(timeline->machine) + event->barrier;
    default:
        return event->barrier;
    }
}

static const TraceBarrier *trace_barrier(Timeline *timeline, uint32_t barrier) {
    const Machine *machine = timeline->machine;
    TraceBarrier *known = &timeline->barriers[barrier];
    Text text = {0};
    if (known->ring)
        return known;
    known->slot = -1;
    if (barrier >= first_cluster(machine)) {
        text_addf(&text, "the cluster barrier");
    } else if (barrier >= first_named(machine)) {
        text_addf(&text, "named barrier %u", (barrier - first_named(machine)) % NAMED_BARRIERS);
    } else {
        ring_name(machine, barrier, &text);
        BarrierPlace place = barrier_place(machine, barrier);
        known->slot = place.allocation ? place.slot : -1;
    }
    known->ring = text_keep(&text, timeline->arena);
    return known;
}

static void add_barrier(Timeline *timeline, TraceEvent *event, uint32_t barrier) {
    const TraceBarrier *known = trace_barrier(timeline, barrier);
    if (event->barrier_count == MOST_PARTS)
        return;
    TraceBarrier *list = ARENA_ARRAY(timeline->arena, TraceBarrier, event->barrier_count + 1);
    for (size_t i = 0; i < event->barrier_count; i++) {
        if (event->barriers[i].ring == known->ring && event->barriers[i].slot == known->slot)
            return;
        list[i] = event->barriers[i];
    }
    list[event->barrier_count++] = *known;
    event->barriers = list;
}

/* NULL if there are enough. */
static TraceEvent *add(Timeline *timeline, TraceKind kind, uint32_t track, uint64_t time, uint64_t duration) {
    if (timeline->event_count == TIMELINE_MOST_EVENTS)
        return NULL;
    TraceEvent *event = ARENA_PUSH(timeline->arena, timeline->events, timeline->event_count, timeline->event_capacity);
    *event = (TraceEvent){.kind = kind, .track = track, .time = time, .duration = duration, .name = "", .detail = ""};
    timeline->tracks[track].used = true;
    if (!trace_is_instant(kind)) {
        timeline->tracks[track].end = time + (duration ? duration : 1);
        timeline->tracks[track].last = timeline->event_count;
        timeline->tracks[track].parts = 0;
        timeline->latest = track;
    }
    return event;
}

static void name_op(Timeline *timeline, TraceEvent *event, const Op *op) {
    event->name = arena_copy(timeline->arena, op->name.data, op->name.size);
    event->ir_line = op_line(timeline->machine->program->module, op);
}

static void report(Timeline *timeline, const Event *event, Text *to) {
    switch (event->kind) {
    case EVENT_JOIN:
        text_addf(to, "the partitions");
        return;
    case EVENT_NAMED_ARRIVE:
    case EVENT_NAMED_SYNC:
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_WAIT:
        text_addf(to, "%s", trace_barrier(timeline, barrier_of(timeline, event))->ring);
        return;
    case EVENT_FINISH:
        return;
    default:
        break;
    }
    barrier_name(timeline->machine, event->barrier, to);
    const Barrier *barrier = &event->state->barriers[event->barrier];
    switch (event->kind) {
    case EVENT_INIT:
        text_addf(to, ", count %lld", (long long)event->amount);
        break;
    case EVENT_WAIT:
        text_addf(to, ", parity %u", event->parity);
        break;
    case EVENT_EXPECT:
    case EVENT_DELIVER:
        text_addf(to, ", %lld bytes", (long long)event->amount);
        break;
    default:
        break;
    }
    uint32_t over = barrier->generation - barrier->born;
    if (event->kind == EVENT_WAIT && over)
        text_addf(to, ", phase %u is complete", over - 1);
    else if (event->kind != EVENT_INIT && event->kind != EVENT_INVALIDATE && event->kind != EVENT_WAIT)
        text_addf(to, ", phase %u", over);
}

/* A slice of one step. A second one in the same step is an op that does several such things: told in one. */
static void draw_step(Timeline *timeline, const Event *event, uint32_t track) {
    Text detail = {0};
    Track *at = &timeline->tracks[track];
    bool same = at->last && at->end > timeline->now;
    TraceEvent *slice = same ? &timeline->events[at->last - 1] : add(timeline, TRACE_STEP, track, timeline->now, 1);
    if (!slice)
        return;
    name_op(timeline, slice, event->op);
    if (event->kind == EVENT_FINISH || at->parts++ > MOST_PARTS)
        return;
    if (*slice->detail)
        text_addf(&detail, "%s; ", slice->detail);
    if (at->parts > MOST_PARTS)
        text_addf(&detail, "and more");
    else
        report(timeline, event, &detail);
    slice->detail = text_keep(&detail, timeline->arena);
    add_barrier(timeline, slice, barrier_of(timeline, event));
}

/* An agent that goes on. It was blocked since it came to the wait, if that was told, else since its last slice. */
static void draw_wait(Timeline *timeline, const Event *event, uint32_t track) {
    Track *at = &timeline->tracks[track];
    uint64_t start = at->blocked ? at->blocked_at : event->kind == EVENT_WAIT ? timeline->now : at->end;
    bool waited = start < timeline->now;
    at->blocked = false;
    TraceEvent *slice = add(timeline, waited ? TRACE_WAIT : TRACE_STEP, track, waited ? start : timeline->now,
                            waited ? timeline->now - start + 1 : 1);
    if (!slice)
        return;
    name_op(timeline, slice, event->op);
    Text detail = {0};
    report(timeline, event, &detail);
    slice->detail = text_keep(&detail, timeline->arena);
    if (event->kind == EVENT_JOIN)
        return;
    uint32_t barrier = barrier_of(timeline, event), from = timeline->released_by[barrier];
    add_barrier(timeline, slice, barrier);
    if (waited && from && timeline->events[from - 1].track != track)
        slice->flow_from = from;
}

/* An mbarrier's phase is completed by what was drawn last, which may be a helper's. */
static void draw_flip(Timeline *timeline, const Event *event, uint32_t track) {
    if (event->kind == EVENT_FLIP)
        track = timeline->latest;
    timeline->released_by[barrier_of(timeline, event)] = timeline->tracks[track].last;
    TraceEvent *flip = event->kind == EVENT_FLIP ? add(timeline, TRACE_FLIP, track, timeline->now, 0) : NULL;
    if (!flip)
        return;
    const Barrier *barrier = &event->state->barriers[event->barrier];
    Text text = {0};
    text_addf(&text, "phase %u of ", barrier->generation - barrier->born - 1);
    barrier_name(timeline->machine, event->barrier, &text);
    flip->name = text_keep(&text, timeline->arena);
    flip->detail = "completes";
    flip->ir_line = op_line(timeline->machine->program->module, event->op);
    add_barrier(timeline, flip, event->barrier);
}

static bool is_marked(const Timeline *timeline, const Op *op) {
    uint32_t line = op_line(timeline->machine->program->module, op);
    for (size_t i = 0; i < timeline->mark_count; i++)
        if (timeline->marks[i] == line)
            return true;
    return false;
}

/* What an op accesses at once is told in one. */
static void draw_access(Timeline *timeline, const Event *event) {
    const Effect *effect = &event->effect->effect;
    uint32_t track = event->agent * HELPER_KINDS + (effect->done == DONE_NOW ? (uint32_t)HELPER_BASE : effect->helper);
    bool shown = effect->space == SPACE_SHARED || effect->space == SPACE_TENSOR;
    if (!shown || !timeline->mark_count || !is_marked(timeline, event->op))
        return;
    uint32_t *last = &timeline->tracks[track].access;
    TraceEvent *access = *last ? &timeline->events[*last - 1] : NULL;
    if (!access || access->time != timeline->now || !str_equal(str_of(access->name), event->op->name)) {
        access = add(timeline, TRACE_ACCESS, track, timeline->now, 0);
        if (!access)
            return;
        *last = timeline->event_count;
        name_op(timeline, access, event->op);
    }
    Text detail = {0};
    text_addf(&detail, "%s%s%s ", access->detail, *access->detail ? "; " : "", effect_access_verb(effect->verb));
    access_name(timeline->machine, event->effect, event->view, &detail);
    access->detail = text_keep(&detail, timeline->arena);
}

void timeline_observe(void *observer, const Event *event) {
    Timeline *timeline = observer;
    timeline->now = step_of(&timeline->count, timeline->machine, event);
    uint32_t track =
        event->agent * HELPER_KINDS + (event->outstanding ? event->outstanding->helper : (uint32_t)HELPER_BASE);
    switch (event->kind) {
    case EVENT_ACCESS:
        draw_access(timeline, event);
        break;
    case EVENT_INIT:
    case EVENT_INVALIDATE:
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
    case EVENT_FINISH:
    case EVENT_NAMED_ARRIVE:
    case EVENT_CLUSTER_ARRIVE:
        draw_step(timeline, event, track);
        break;
    case EVENT_BLOCK:
        timeline->tracks[track].blocked = true;
        timeline->tracks[track].blocked_at = timeline->now + 1;
        break;
    case EVENT_WAIT:
    case EVENT_NAMED_SYNC:
    case EVENT_CLUSTER_WAIT:
    case EVENT_JOIN:
        draw_wait(timeline, event, track);
        break;
    case EVENT_FLIP:
    case EVENT_NAMED_COMPLETE:
    case EVENT_CLUSTER_COMPLETE:
        draw_flip(timeline, event, track);
        break;
    default:
        break;
    }
}

static void draw_blocked(Timeline *timeline) {
    const Machine *machine = timeline->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        const Track *track = &timeline->tracks[i * HELPER_KINDS];
        if (agent->status == AGENT_IDLE || agent->status == AGENT_ENDED)
            continue;
        uint64_t start = track->blocked ? track->blocked_at : track->end, end = timeline->now + 2;
        TraceEvent *slice = add(timeline, TRACE_BLOCKED, i * HELPER_KINDS, start, end > start ? end - start : 1);
        if (!slice)
            return;
        name_op(timeline, slice, machine->program->ops[agent->pc]);
        Text detail = {0};
        wait_name(machine, agent, &detail);
        text_addf(&detail, ", forever");
        slice->detail = text_keep(&detail, timeline->arena);
        if (agent->status == AGENT_WAITS)
            add_barrier(timeline, slice, agent->barrier);
        else if (agent->status == AGENT_NAMED)
            add_barrier(timeline, slice, first_named(machine) + agent->barrier);
        else if (agent->status == AGENT_CLUSTER)
            add_barrier(timeline, slice, first_cluster(machine) + agent->barrier);
    }
}

static const char *cta_name(Timeline *timeline, uint32_t cta) {
    const Machine *machine = timeline->machine;
    int64_t id[3];
    Text text = {0};
    for (unsigned axis = 0; axis < 3; axis++)
        id[axis] = machine->program_id[axis] + program_id_of_rank(machine->program, cta, axis);
    text_addf(&text, "cta %u (%lld,%lld,%lld)", cta, (long long)id[0], (long long)id[1], (long long)id[2]);
    return text_keep(&text, timeline->arena);
}

/* The name of the agent without its CTA, which stands above it. */
static const char *track_name(Timeline *timeline, uint32_t agent, Helper helper) {
    Text text = {0};
    agent_name(timeline->machine, agent, helper, &text);
    const char *name = text_keep(&text, timeline->arena), *dot = strchr(name, '.');
    return timeline->machine->program->ctas > 1 && dot ? dot + 1 : name;
}

void timeline_finish(Timeline *timeline, RunEnd end, Trace *trace) {
    if (end == RUN_STUCK)
        draw_blocked(timeline);
    TraceTrack *tracks = ARENA_ARRAY(timeline->arena, TraceTrack, timeline->track_count);
    uint32_t *places = ARENA_ARRAY(timeline->arena, uint32_t, timeline->track_count), count = 0;
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        if (!timeline->tracks[i].used)
            continue;
        uint32_t agent = i / HELPER_KINDS, cta = agent_cta(timeline->machine, agent);
        places[i] = count;
        tracks[count++] = (TraceTrack){.cta = cta,
                                       .cta_name = cta_name(timeline, cta),
                                       .agent = track_name(timeline, agent, (Helper)(i % HELPER_KINDS))};
    }
    for (size_t i = 0; i < timeline->event_count; i++)
        timeline->events[i].track = places[timeline->events[i].track];
    trace->tracks = tracks;
    trace->track_count = count;
    trace->events = timeline->events;
    trace->event_count = timeline->event_count;
}
