/* The picture: a lane for each warp, and one for what it has in flight; see trace_report.h on time. */
#include "base/order.h"
#include "check/report/trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- As it comes --------------------------------------------------------------------------------- */

static TraceKind kind_of(const PtxEvent *event) {
    return event->kind == PTX_EVENT_FLIP ? TRACE_FLIP : event->kind == PTX_EVENT_ACCESS ? TRACE_ACCESS : TRACE_STEP;
}

static uint32_t add(TraceReport *trace_report, const Drawn *drawn) {
    if (trace_report->drawn_count == MOST_DRAWN)
        return 0;
    *ARENA_PUSH(trace_report->arena, trace_report->drawn, trace_report->drawn_count, trace_report->drawn_capacity) =
        *drawn;
    return trace_report->drawn_count;
}

uint32_t trace_report_draw(TraceReport *trace_report, const PtxEvent *event, uint32_t barrier_instance) {
    uint32_t number = trace_report_actor(trace_report, event->warp);
    Actor *actor = &trace_report->actors[number];
    bool flies = event->outstanding && event->kind != PTX_EVENT_ISSUE && event->kind != PTX_EVENT_TRACK;
    TraceKind kind = kind_of(event);
    if (flies && actor->flying < actor->now) /* behind its issue */
        actor->flying = actor->now;
    uint64_t *now = flies ? &actor->flying : &actor->now;
    uint64_t time = kind == TRACE_FLIP && *now ? *now - 1 : *now; /* it comes with the event before */
    *now += !trace_is_instant(kind);
    return add(trace_report, &(Drawn){.kind = (uint8_t)kind,
                                      .what = (uint8_t)event->kind,
                                      .flies = flies,
                                      .actor = number,
                                      .barrier_instance = barrier_instance,
                                      .phase = event->phase,
                                      .code = event->code,
                                      .time = time,
                                      .amount = event->count});
}

void trace_report_draw_wait(TraceReport *trace_report, const PtxEvent *event, uint32_t barrier_instance,
                            const Phase *phase) {
    uint32_t number = trace_report_actor(trace_report, event->warp), from = 0;
    Actor *actor = &trace_report->actors[number];
    uint64_t over = 0;
    for (uint32_t i = 0; phase && i < phase->count; i++)
        if (phase->items[i].time + 1 >= over) {
            over = phase->items[i].time + 1;
            from = phase->items[i].drawn;
        }
    uint64_t length = over > actor->now ? over - actor->now : 0;
    add(trace_report, &(Drawn){.kind = length ? TRACE_WAIT : TRACE_STEP,
                               .what = (uint8_t)event->kind,
                               .actor = number,
                               .barrier_instance = barrier_instance,
                               .phase = event->phase,
                               .from = from,
                               .code = event->code,
                               .time = actor->now,
                               .duration = length});
    actor->now += length ? length : 1;
}

/* The warps that stand still at the end. */
static void draw_blocked(TraceReport *trace_report) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < trace_report->actor_count; i++)
        end = trace_report->actors[i].now > end ? trace_report->actors[i].now : end;
    for (uint32_t i = 0; i < trace_report->actor_count; i++) {
        const PtxGroup *group = trace_report_stands(trace_report, i);
        if (group)
            add(trace_report, &(Drawn){.kind = TRACE_BLOCKED,
                                       .what = PTX_EVENT_TEST,
                                       .actor = i,
                                       .barrier_instance = trace_report_stands_at(trace_report, group),
                                       .code = &trace_report->check->program->code[group->pc],
                                       .time = trace_report->actors[i].now,
                                       .duration = end + 1 - trace_report->actors[i].now});
    }
}

/* ---- In words ------------------------------------------------------------------------------------ */

static const char *detail_of(const TraceReport *trace_report, const Drawn *drawn) {
    Verdict *verdict = trace_report->check->verdict;
    const char *at = drawn->barrier_instance ? trace_report_slot(trace_report, drawn->barrier_instance - 1) : "";
    switch ((PtxEventKind)drawn->what) {
    case PTX_EVENT_INIT:
        return verdict_text(verdict, "%s, %" PRId64 " arrivals a phase", at, drawn->amount);
    case PTX_EVENT_EXPECT:
        return verdict_text(verdict, "%s, expects %" PRId64 " bytes", at, drawn->amount);
    case PTX_EVENT_COMPLETE:
        return verdict_text(verdict, "%s, delivers %" PRId64 " bytes", at, drawn->amount);
    case PTX_EVENT_FLIP:
        return verdict_text(verdict, "%s, phase %u is complete", at, drawn->phase);
    case PTX_EVENT_WAIT:
        return drawn->phase == UINT32_MAX ? verdict_text(verdict, "%s, which is fresh", at)
                                          : verdict_text(verdict, "%s, phase %u", at, drawn->phase);
    case PTX_EVENT_NAMED_ARRIVE:
        return verdict_text(verdict, "%s, of %" PRId64 " threads", at, drawn->amount);
    case PTX_EVENT_AWAIT:
        return verdict_text(verdict, "at most %" PRId64 " groups are pending", drawn->amount);
    case PTX_EVENT_EXIT:
        return "exits";
    default:
        return at;
    }
}

/* ---- At the end ---------------------------------------------------------------------------------- */

typedef struct LaneSorted {
    uint64_t time;
    uint32_t number;
} LaneSorted;

ORDER(by_time, LaneSorted, BY(time) BY(number))

/* A track for each warp, and behind it one for what it has in flight, if it has. Its number: 2 * warp, + 1. */
static const TraceTrack *add_tracks(TraceReport *trace_report, uint32_t *tracks, size_t *count) {
    Verdict *verdict = trace_report->check->verdict;
    TraceTrack *all = ARENA_ARRAY(verdict->arena, TraceTrack, 2 * (size_t)trace_report->actor_count + 1);
    uint32_t first = trace_report->cluster * trace_report->check->machine->cluster_size;
    *count = 0;
    for (uint32_t i = 0; i < trace_report->actor_count; i++) {
        const Actor *actor = &trace_report->actors[i];
        const char *cta = verdict_text(verdict, "CTA %u", first + actor->rank);
        for (unsigned flies = 0; flies <= (actor->flying > 0); flies++) {
            tracks[2 * i + flies] = (uint32_t)*count;
            all[(*count)++] = (TraceTrack){first + actor->rank, cta,
                                           verdict_text(verdict, flies ? "warp %u.async" : "warp %u", actor->warp)};
        }
    }
    return all;
}

static TraceEvent event_of(const TraceReport *trace_report, const Drawn *drawn, const uint32_t *tracks) {
    Verdict *verdict = trace_report->check->verdict;
    Str form = drawn->code->form->text;
    TraceEvent event = {.kind = (TraceKind)drawn->kind,
                        .track = tracks[2 * drawn->actor + drawn->flies],
                        .time = drawn->time,
                        .duration = drawn->duration,
                        .name = arena_copy(verdict->arena, form.data, form.size),
                        .detail = detail_of(trace_report, drawn),
                        .ir_line = code_line(trace_report->check->program, drawn->code)};
    if (drawn->barrier_instance) {
        const BarrierInstance *barrier_instance = &trace_report->barrier_instances[drawn->barrier_instance - 1];
        const TraceRing *ring = &trace_report->rings[barrier_instance->ring];
        TraceBarrier *barrier = ARENA_NEW(verdict->arena, TraceBarrier);
        *barrier = (TraceBarrier){*ring->value ? ring->value : ring->name,
                                  ring->depth > 1 ? (int64_t)barrier_instance->slot : -1};
        event.barriers = barrier;
        event.barrier_count = 1;
    }
    return event;
}

void trace_report_add_lanes(TraceReport *trace_report, Trace *trace) {
    draw_blocked(trace_report);
    uint32_t count = trace_report->drawn_count,
             *tracks = ARENA_ARRAY(trace_report->arena, uint32_t, 2 * (size_t)trace_report->actor_count + 2);
    uint32_t *place = ARENA_ARRAY(trace_report->arena, uint32_t, count + 1);
    LaneSorted *order = ARENA_ARRAY(trace_report->arena, LaneSorted, count + 1);
    TraceEvent *events = ARENA_ARRAY(trace_report->check->verdict->arena, TraceEvent, count + 1);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (LaneSorted){trace_report->drawn[i].time, i};
    if (count)
        qsort(order, count, sizeof *order, by_time);
    for (uint32_t i = 0; i < count; i++)
        place[order[i].number] = i + 1;
    trace->tracks = add_tracks(trace_report, tracks, &trace->track_count);
    for (uint32_t i = 0; i < count; i++) {
        const Drawn *drawn = &trace_report->drawn[order[i].number];
        events[i] = event_of(trace_report, drawn, tracks);
        events[i].flow_from = drawn->from ? place[drawn->from - 1] : 0;
    }
    trace->events = events;
    trace->event_count = count;
}
