/* A ring of the last events, and what each of them is in words. */
#include "check/explain/tile/flow.h"

#include "check/explain/place.h"

/* What an agent does, by the kind of event; NULL: no agent does it, and it is not reported. */
static const char *const verbs[] = {
    [EVENT_ACCESS] = "reads",
    [EVENT_INIT] = "initializes",
    [EVENT_INVALIDATE] = "invalidates",
    [EVENT_EXPECT] = "expects bytes on",
    [EVENT_ARRIVE] = "arrives on",
    [EVENT_ISSUE] = "issues work",
    [EVENT_DELIVER] = "delivers bytes to",
    [EVENT_SIGNAL] = "arrives on",
    [EVENT_FINISH] = "finishes work",
    [EVENT_FLIP] = NULL,
    [EVENT_BLOCK] = "is blocked waiting for",
    [EVENT_WAIT] = "continues after waiting for",
    [EVENT_COMMIT] = "commits a group",
    [EVENT_AWAIT] = "waits for its groups",
    [EVENT_NAMED_ARRIVE] = "arrives at a named barrier",
    [EVENT_NAMED_SYNC] = "continues after a named barrier",
    [EVENT_NAMED_COMPLETE] = NULL,
    [EVENT_CLUSTER_ARRIVE] = "arrives at the cluster barrier",
    [EVENT_CLUSTER_COMPLETE] = NULL,
    [EVENT_CLUSTER_WAIT] = "continues after the cluster barrier",
    [EVENT_CTA_BARRIER] = "synchronizes its threads",
    [EVENT_FENCE] = "executes a fence",
    [EVENT_FREE] = "frees",
    [EVENT_DISTURB] = "writes scratch memory",
    [EVENT_UNFINISHED] = "uses the result of an MMA",
    [EVENT_UNKNOWN] = "has an unknown effect",
    [EVENT_AWAIT_LAUNCHES] = "continues after the preceding launches",
    [EVENT_FORK] = "starts partitions",
    [EVENT_JOIN] = "continues after its partitions",
    [EVENT_END] = "ends",
};

void flow_observe(void *observer, const Event *event) {
    TileFlow *flow = observer;
    if (verbs[event->kind])
        flow->last[flow->count++ % FLOW_MOST] = (FlowEvent){.kind = event->kind,
                                                            .agent = event->agent,
                                                            .pc = event->pc,
                                                            .barrier = event->barrier,
                                                            .helper = event_helper(event),
                                                            .effect = event->effect,
                                                            .view = event->view};
}

/* The last `most` of them. */
static FlowPart last_of(const TileFlow *flow, uint32_t most, Arena *arena) {
    uint64_t count = flow->count < FLOW_MOST ? flow->count : FLOW_MOST;
    count = count < most ? count : most;
    FlowEvent *events = ARENA_ARRAY(arena, FlowEvent, count);
    for (uint64_t i = 0; i < count; i++)
        events[i] = flow->last[(flow->count - count + i) % FLOW_MOST];
    return (FlowPart){events, (uint32_t)count};
}

static bool touches(const FlowEvent *event, Spans *spans, uint32_t span) {
    const char *problem;
    if (event->kind != EVENT_ACCESS || span == UINT32_MAX)
        return event->kind == EVENT_ACCESS;
    const SpanSet *set = word_is(event->view, WORD_VIEW) && event->effect->type
                             ? spans_of(spans, event->view, event->effect->type, &problem)
                             : NULL;
    for (uint32_t i = 0; set && i < set->count; i++)
        if (set->spans[i] == span)
            return true;
    return false;
}

FlowPart flow_since(const TileFlow *flow, uint32_t agent, uint32_t pc, Spans *spans, uint32_t span, Arena *arena) {
    for (uint32_t back = 1; back < FLOW_MOST && back < flow->count; back++) {
        const FlowEvent *event = &flow->last[(flow->count - 1 - back) % FLOW_MOST];
        if (event->agent == agent && event->pc == pc && touches(event, spans, span))
            return last_of(flow, back + 1, arena);
    }
    return (FlowPart){NULL, 0};
}

static const char *verb_of(const FlowEvent *event) {
    return event->kind == EVENT_ACCESS && event->effect ? effect_access_verb(event->effect->effect.verb)
                                                        : verbs[event->kind];
}

/* What it is done to. */
static void add_object(const Machine *machine, const FlowEvent *event, Text *to) {
    switch (event->kind) {
    case EVENT_ACCESS:
    case EVENT_FREE:
        access_name(machine, event->effect, event->view, to);
        break;
    case EVENT_INIT:
    case EVENT_INVALIDATE:
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
    case EVENT_BLOCK:
    case EVENT_WAIT:
        barrier_name(machine, event->barrier, to);
        break;
    default:
        break;
    }
}

void flow_report(const Machine *machine, FlowPart part, Verdict *verdict, Finding *finding) {
    finding->steps = ARENA_ARRAY(verdict->arena, FindingPlace, part.count + 1); /* and one for its end */
    finding->step_count = part.count;
    for (uint32_t i = 0; i < part.count; i++) {
        const FlowEvent *event = &part.events[i];
        Text agent = {0}, object = {0};
        agent_name(machine, event->agent, event->helper, &agent);
        add_object(machine, event, &object);
        finding->steps[i] = (FindingPlace){.role = "", .agent = "", .op = "", .note = "", .file = ""};
        place_set(machine, &finding->steps[i], verb_of(event), verdict_keep(verdict, &agent), event->pc, verdict);
        finding->steps[i].note = verdict_keep(verdict, &object);
    }
}

void flow_report_end(const Machine *machine, const TileFlow *flow, Verdict *verdict, Finding *finding) {
    flow_report(machine, last_of(flow, FLOW_END, verdict->arena), verdict, finding);
    if (!finding->place_count)
        return;
    const FindingPlace *end = &finding->places[0];
    const FindingPlace *last = finding->step_count ? &finding->steps[finding->step_count - 1] : NULL;
    bool there = last && last->ir_line == end->ir_line && strcmp(last->agent, end->agent) == 0;
    finding->steps[finding->step_count - there] = *end; /* which says more */
    finding->step_count += !there;
}
