/* The picture: a lane for each warp, and one for what it has in flight; see portrait.h on time. */
#include "check/report/trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- As it comes --------------------------------------------------------------------------------- */

static TraceKind kind_of(const PtxEvent *event) {
    return event->kind == PTX_EVENT_FLIP ? TRACE_FLIP : event->kind == PTX_EVENT_ACCESS ? TRACE_ACCESS : TRACE_STEP;
}

static uint32_t add(Portrait *portrait, const Drawn *drawn) {
    if (portrait->drawn_count == MOST_DRAWN)
        return 0;
    *ARENA_PUSH(portrait->arena, portrait->drawn, portrait->drawn_count, portrait->drawn_capacity) = *drawn;
    return portrait->drawn_count;
}

uint32_t portrait_draw(Portrait *portrait, const PtxEvent *event, uint32_t meeting) {
    uint32_t number = portrait_actor(portrait, event->warp);
    Actor *actor = &portrait->actors[number];
    bool flies = event->flight && event->kind != PTX_EVENT_ISSUE && event->kind != PTX_EVENT_TRACK;
    TraceKind kind = kind_of(event);
    if (flies && actor->flying < actor->now) /* behind its issue */
        actor->flying = actor->now;
    uint64_t *now = flies ? &actor->flying : &actor->now;
    uint64_t time = kind == TRACE_FLIP && *now ? *now - 1 : *now; /* it comes with the event before */
    *now += !trace_is_instant(kind);
    return add(portrait, &(Drawn){.kind = (uint8_t)kind,
                                  .what = (uint8_t)event->kind,
                                  .flies = flies,
                                  .actor = number,
                                  .meeting = meeting,
                                  .phase = event->phase,
                                  .code = event->code,
                                  .time = time,
                                  .amount = event->count});
}

void portrait_draw_wait(Portrait *portrait, const PtxEvent *event, uint32_t meeting, const Phase *phase) {
    uint32_t number = portrait_actor(portrait, event->warp), from = 0;
    Actor *actor = &portrait->actors[number];
    uint64_t over = 0;
    for (uint32_t i = 0; phase && i < phase->count; i++)
        if (phase->items[i].time + 1 >= over) {
            over = phase->items[i].time + 1;
            from = phase->items[i].drawn;
        }
    uint64_t length = over > actor->now ? over - actor->now : 0;
    add(portrait, &(Drawn){.kind = length ? TRACE_WAIT : TRACE_STEP,
                           .what = (uint8_t)event->kind,
                           .actor = number,
                           .meeting = meeting,
                           .phase = event->phase,
                           .from = from,
                           .code = event->code,
                           .time = actor->now,
                           .duration = length});
    actor->now += length ? length : 1;
}

/* The warps that stand still at the end. */
static void draw_blocked(Portrait *portrait) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++)
        end = portrait->actors[i].now > end ? portrait->actors[i].now : end;
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        const PtxGroup *group = portrait_stands(portrait, i);
        if (group)
            add(portrait, &(Drawn){.kind = TRACE_BLOCKED,
                                   .what = PTX_EVENT_TEST,
                                   .actor = i,
                                   .meeting = portrait_stands_at(portrait, group),
                                   .code = &portrait->check->program->code[group->pc],
                                   .time = portrait->actors[i].now,
                                   .duration = end + 1 - portrait->actors[i].now});
    }
}

/* ---- In words ------------------------------------------------------------------------------------ */

static const char *detail_of(const Portrait *portrait, const Drawn *drawn) {
    Verdict *verdict = portrait->check->verdict;
    const char *at = drawn->meeting ? portrait_slot(portrait, drawn->meeting - 1) : "";
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

typedef struct Sorted {
    uint64_t time;
    uint32_t number;
} Sorted;

static int by_time(const void *a, const void *b) {
    const Sorted *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* A track for each warp, and behind it one for what it has in flight, if it has. Its number: 2 * warp, + 1. */
static const TraceTrack *add_tracks(Portrait *portrait, uint32_t *tracks, size_t *count) {
    Verdict *verdict = portrait->check->verdict;
    TraceTrack *all = ARENA_ARRAY(verdict->arena, TraceTrack, 2 * (size_t)portrait->actor_count + 1);
    uint32_t first = portrait->cluster * portrait->check->machine->cluster_size;
    *count = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        const Actor *actor = &portrait->actors[i];
        const char *cta = verdict_text(verdict, "CTA %u", first + actor->rank);
        for (unsigned flies = 0; flies <= (actor->flying > 0); flies++) {
            tracks[2 * i + flies] = (uint32_t)*count;
            all[(*count)++] = (TraceTrack){first + actor->rank, cta,
                                           verdict_text(verdict, flies ? "warp %u.async" : "warp %u", actor->warp)};
        }
    }
    return all;
}

static TraceEvent event_of(const Portrait *portrait, const Drawn *drawn, const uint32_t *tracks) {
    Verdict *verdict = portrait->check->verdict;
    Str form = drawn->code->form->text;
    TraceEvent event = {.kind = (TraceKind)drawn->kind,
                        .track = tracks[2 * drawn->actor + drawn->flies],
                        .time = drawn->time,
                        .duration = drawn->duration,
                        .name = arena_copy(verdict->arena, form.data, form.size),
                        .detail = detail_of(portrait, drawn),
                        .ir_line = code_line(portrait->check->program, drawn->code)};
    if (drawn->meeting) {
        const Meeting *meeting = &portrait->meetings[drawn->meeting - 1];
        const Ring *ring = &portrait->rings[meeting->ring];
        TraceBarrier *barrier = ARENA_NEW(verdict->arena, TraceBarrier);
        *barrier =
            (TraceBarrier){*ring->value ? ring->value : ring->name, ring->depth > 1 ? (int64_t)meeting->slot : -1};
        event.barriers = barrier;
        event.barrier_count = 1;
    }
    return event;
}

void portrait_tell_lanes(Portrait *portrait, Trace *trace) {
    draw_blocked(portrait);
    uint32_t count = portrait->drawn_count,
             *tracks = ARENA_ARRAY(portrait->arena, uint32_t, 2 * (size_t)portrait->actor_count + 2);
    uint32_t *place = ARENA_ARRAY(portrait->arena, uint32_t, count + 1);
    Sorted *order = ARENA_ARRAY(portrait->arena, Sorted, count + 1);
    TraceEvent *events = ARENA_ARRAY(portrait->check->verdict->arena, TraceEvent, count + 1);
    for (uint32_t i = 0; i < count; i++)
        order[i] = (Sorted){portrait->drawn[i].time, i};
    if (count)
        qsort(order, count, sizeof *order, by_time);
    for (uint32_t i = 0; i < count; i++)
        place[order[i].number] = i + 1;
    trace->tracks = add_tracks(portrait, tracks, &trace->track_count);
    for (uint32_t i = 0; i < count; i++) {
        const Drawn *drawn = &portrait->drawn[order[i].number];
        events[i] = event_of(portrait, drawn, tracks);
        events[i].flow_from = drawn->from ? place[drawn->from - 1] : 0;
    }
    trace->events = events;
    trace->event_count = count;
}
