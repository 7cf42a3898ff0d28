/* Barriers of all kinds: who arrives and who waits, phase by phase; and which of them are a ring. */
#include "base/order.h"
#include "check/report/trace/internal.h"

#include <stdlib.h>

/* ---- As they come -------------------------------------------------------------------------------- */

static uint32_t barrier_instance_at(TraceReport *trace_report, InstanceKind kind, uint32_t rank, uint32_t at) {
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++) {
        const BarrierInstance *barrier_instance = &trace_report->barrier_instances[i];
        if (barrier_instance->kind == kind && barrier_instance->rank == rank && barrier_instance->at == at)
            return i;
    }
    *ARENA_PUSH(trace_report->arena, trace_report->barrier_instances, trace_report->barrier_instance_count,
                trace_report->barrier_instance_capacity) =
        (BarrierInstance){.kind = kind, .rank = rank, .at = at, .count = -1, .bytes = -1};
    return trace_report->barrier_instance_count - 1;
}

static uint32_t barrier_instance_of(TraceReport *trace_report, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_COMPLETE:
    case PTX_EVENT_NAMED_SYNC:
        return barrier_instance_at(trace_report, INSTANCE_NAMED, event->warp->cta->rank, event->barrier);
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_COMPLETE:
    case PTX_EVENT_CLUSTER_WAIT:
        return barrier_instance_at(trace_report, INSTANCE_CLUSTER, 0, 0);
    default:
        return barrier_instance_at(trace_report, INSTANCE_MBARRIER,
                                   (uint32_t)(event->place >> 32) % trace_report->check->machine->cluster_size,
                                   (uint32_t)event->place);
    }
}

static TraceUse *use_of(TraceReport *trace_report, BarrierInstance *barrier_instance, uint32_t actor,
                        const PtxCode *code, uint32_t phase, bool waits) {
    for (uint32_t i = 0; i < barrier_instance->use_count; i++) {
        TraceUse *use = &barrier_instance->uses[i];
        if (use->actor == actor && use->code == code && use->waits == waits)
            return use;
    }
    TraceUse *use = ARENA_PUSH(trace_report->arena, barrier_instance->uses, barrier_instance->use_count,
                               barrier_instance->use_capacity);
    *use = (TraceUse){.code = code, .actor = actor, .waits = waits, .first = phase, .amount = -1};
    return use;
}

static ReportMechanism mechanism_of(const TraceReport *trace_report, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
        return MECHANISM_NAMED;
    case PTX_EVENT_CLUSTER_ARRIVE:
        return MECHANISM_CLUSTER;
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_COMPLETE:
        return MECHANISM_TMA;
    default:
        return (ReportMechanism)trace_report->mechanism[code_number(trace_report, event->code)];
    }
}

static void arrive(TraceReport *trace_report, uint32_t number, const PtxEvent *event) {
    BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    Phase *phase = &barrier_instance->phases[barrier_instance->phase % PHASES];
    TraceUse *use = use_of(trace_report, barrier_instance, trace_report_actor(trace_report, event->warp), event->code,
                           event->phase, false);
    uint32_t drawn = trace_report_draw(trace_report, event, number + 1);
    use->mechanism = (uint8_t)mechanism_of(trace_report, event);
    use->times++;
    use->amount = event->count;
    if (event->kind == PTX_EVENT_EXPECT)
        phase->expected += event->count * __builtin_popcount(event->lanes);
    if (event->kind == PTX_EVENT_NAMED_ARRIVE)
        barrier_instance->count = event->count;
    const Actor *actor = &trace_report->actors[use->actor];
    *ARENA_PUSH(trace_report->arena, phase->items, phase->count, phase->capacity) =
        (Arrival){.actor = use->actor,
                  .order = trace_report->order,
                  .drawn = drawn,
                  .time = (event->outstanding ? actor->flying : actor->now) - 1,
                  .flies = event->outstanding != NULL,
                  .code = event->code};
}

/* A phase is over, and the next one begins. */
static void flip(TraceReport *trace_report, uint32_t number, const PtxEvent *event) {
    BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    const Phase *over = &barrier_instance->phases[barrier_instance->phase % PHASES];
    if (over->expected)
        barrier_instance->bytes = over->expected;
    if (barrier_instance->kind == INSTANCE_MBARRIER)
        trace_report_draw(trace_report, event, number + 1);
    barrier_instance->flips++;
    barrier_instance->phase++;
    barrier_instance->phases[barrier_instance->phase % PHASES] = (Phase){0};
}

static void wait(TraceReport *trace_report, uint32_t number, const PtxEvent *event) {
    BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    bool mbarrier = barrier_instance->kind == INSTANCE_MBARRIER, passes = mbarrier && event->phase == UINT32_MAX;
    uint32_t which = mbarrier ? event->phase : barrier_instance->phase - 1,
             actor = trace_report_actor(trace_report, event->warp);
    TraceUse *use = use_of(trace_report, barrier_instance, actor, event->code, which, true);
    if (!use->times++)
        use->passes = passes;
    bool kept = !passes && which < barrier_instance->phase && barrier_instance->phase - which < PHASES;
    const Phase *phase = kept ? &barrier_instance->phases[which % PHASES] : NULL;
    trace_report_draw_wait(trace_report, event, number + 1, phase);
    for (uint32_t i = 0; phase && i < phase->count; i++)
        trace_report_learn(trace_report, &phase->items[i], actor, number, event->code);
}

void trace_report_sync(TraceReport *trace_report, const PtxEvent *event) {
    uint32_t number = barrier_instance_of(trace_report, event);
    BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    switch (event->kind) {
    case PTX_EVENT_INIT:
        trace_report_draw(trace_report, event, number + 1);
        barrier_instance->init = event->code;
        barrier_instance->count = event->count;
        barrier_instance->phase = 0;
        barrier_instance->phases[0] = (Phase){0};
        break;
    case PTX_EVENT_FLIP:
    case PTX_EVENT_NAMED_COMPLETE:
    case PTX_EVENT_CLUSTER_COMPLETE:
        flip(trace_report, number, event);
        break;
    case PTX_EVENT_WAIT:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_WAIT:
        wait(trace_report, number, event);
        break;
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
        arrive(trace_report, number, event);
        break;
    default:
        trace_report_draw(trace_report, event, number + 1);
        break;
    }
}

void trace_report_sync_blocked(TraceReport *trace_report) {
    for (uint32_t i = 0; i < trace_report->actor_count; i++) {
        const PtxGroup *group = trace_report_stands(trace_report, i);
        uint32_t number = group ? trace_report_stands_at(trace_report, group) : 0;
        if (number)
            use_of(trace_report, &trace_report->barrier_instances[number - 1], i,
                   &trace_report->check->program->code[group->pc], trace_report->barrier_instances[number - 1].phase,
                   true);
    }
}

/* ---- Rings --------------------------------------------------------------------------------------- */

static bool has_use(const BarrierInstance *barrier_instance, const TraceUse *use) {
    for (uint32_t i = 0; i < barrier_instance->use_count; i++)
        if (barrier_instance->uses[i].code == use->code && barrier_instance->uses[i].waits == use->waits)
            return true;
    return false;
}

/* Whether the same instructions arrive at both and wait for both. */
static bool is_symmetry(const BarrierInstance *a, const BarrierInstance *b) {
    for (uint32_t i = 0; i < a->use_count; i++)
        if (!has_use(b, &a->uses[i]))
            return false;
    for (uint32_t i = 0; i < b->use_count; i++)
        if (!has_use(a, &b->uses[i]))
            return false;
    return a->count == b->count;
}

/* Named ones first, then the cluster's, then mbarriers by address; of one, by CTA. */
typedef struct BarrierInstanceSorted {
    uint64_t key;
    uint32_t number;
} BarrierInstanceSorted;

static uint64_t key_of(const BarrierInstance *barrier_instance) {
    static const uint8_t ranks[] = {[INSTANCE_MBARRIER] = 2, [INSTANCE_NAMED] = 0, [INSTANCE_CLUSTER] = 1};
    return (uint64_t)ranks[barrier_instance->kind] << 60 | (uint64_t)barrier_instance->at << 16 |
           barrier_instance->rank;
}

ORDER(by_key, BarrierInstanceSorted, BY(key))

/* Whether the meeting is a further slot of the ring, or the one of another CTA. */
static bool goes_on(const TraceReport *trace_report, const TraceRing *ring, const BarrierInstance *last,
                    const BarrierInstance *barrier_instance) {
    if (ring->kind != barrier_instance->kind)
        return false;
    if (last->at == barrier_instance->at)
        return true;
    return ring->kind == INSTANCE_MBARRIER && is_symmetry(last, barrier_instance) &&
           shared_begin(trace_report->check, last->at) == shared_begin(trace_report->check, barrier_instance->at);
}

static void make_rings(TraceReport *trace_report, const BarrierInstanceSorted *order) {
    const BarrierInstance *last = NULL;
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++) {
        BarrierInstance *barrier_instance = &trace_report->barrier_instances[order[i].number];
        TraceRing *ring = trace_report->ring_count ? &trace_report->rings[trace_report->ring_count - 1] : NULL;
        if (!ring || !goes_on(trace_report, ring, last, barrier_instance)) {
            ring = &trace_report->rings[trace_report->ring_count++];
            *ring = (TraceRing){.kind = barrier_instance->kind,
                                .first = barrier_instance->at,
                                .last = barrier_instance->at,
                                .depth = 1};
        }
        ring->depth += ring->last != barrier_instance->at;
        ring->last = barrier_instance->at;
        barrier_instance->ring = (uint32_t)(ring - trace_report->rings);
        barrier_instance->slot = ring->depth - 1;
        last = barrier_instance;
    }
}

void trace_report_find_rings(TraceReport *trace_report) {
    BarrierInstanceSorted *order =
        ARENA_ARRAY(trace_report->arena, BarrierInstanceSorted, trace_report->barrier_instance_count + 1);
    trace_report->rings = ARENA_ARRAY(trace_report->arena, TraceRing, trace_report->barrier_instance_count + 1);
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++)
        order[i] = (BarrierInstanceSorted){key_of(&trace_report->barrier_instances[i]), i};
    if (trace_report->barrier_instance_count)
        qsort(order, trace_report->barrier_instance_count, sizeof *order, by_key);
    make_rings(trace_report, order);
}

const char *trace_report_slot(const TraceReport *trace_report, uint32_t number) {
    const BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    const TraceRing *ring = &trace_report->rings[barrier_instance->ring];
    return ring->depth > 1 ? verdict_text(trace_report->check->verdict, "%s[%u]", ring->name, barrier_instance->slot)
                           : ring->name;
}
