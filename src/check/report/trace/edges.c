/* Edges between roles: a barrier that one arrives at and another waits for, with what it carries. */
#include "check/report/trace/internal.h"

/* Links of all warps of two roles by one ring, in one direction, together. */
typedef struct Bundle {
    uint32_t from, to, ring; /* from, to: roles */
    bool again;              /* memory may be used again */
    bool carries;
    const Link *link;
    uint64_t *granules;
} Bundle;

typedef struct Bundles {
    Bundle *items;
    uint32_t count, capacity;
} Bundles;

static Bundle *bundle_of(TraceReport *trace_report, Bundles *bundles, const Link *link, bool again) {
    uint32_t from = trace_report->actors[link->from].role, to = trace_report->actors[link->to].role;
    uint32_t ring = trace_report->barrier_instances[link->barrier_instance].ring;
    for (uint32_t i = 0; i < bundles->count; i++) {
        Bundle *bundle = &bundles->items[i];
        if (bundle->from == from && bundle->to == to && bundle->ring == ring && bundle->again == again)
            return bundle;
    }
    Bundle *bundle = ARENA_PUSH(trace_report->arena, bundles->items, bundles->count, bundles->capacity);
    *bundle = (Bundle){.from = from,
                       .to = to,
                       .ring = ring,
                       .again = again,
                       .link = link,
                       .granules = ARENA_ARRAY(trace_report->arena, uint64_t, trace_report->granule_count / 64 + 1)};
    return bundle;
}

static void add_carries(TraceReport *trace_report, Bundles *bundles, const Link *link, bool again) {
    if (!link->carries[again])
        return;
    Bundle *bundle = bundle_of(trace_report, bundles, link, again);
    if (!bundle->carries)
        bundle->link = link;
    bundle->carries = true;
    for (uint32_t i = 0; i <= trace_report->granule_count / 64; i++)
        bundle->granules[i] |= link->carries[again][i];
}

/* A barrier that all warps meet at: whatever is behind it comes after whatever is before it. */
static bool is_for_all(const TraceReport *trace_report, const BarrierInstance *barrier_instance) {
    bool *come = ARENA_ARRAY(trace_report->arena, bool, trace_report->actor_count + 1);
    uint32_t count = 0,
             all = barrier_instance->kind == INSTANCE_NAMED ? trace_report->warps : trace_report->actor_count;
    for (uint32_t i = 0; i < barrier_instance->use_count; i++)
        if (barrier_instance->uses[i].waits && !come[barrier_instance->uses[i].actor]) {
            come[barrier_instance->uses[i].actor] = true;
            count++;
        }
    return barrier_instance->kind != INSTANCE_MBARRIER && count == all;
}

/* What is handed over; and where nothing is, that one role waits for another at a barrier that is not for all. */
static Bundles find_bundles(TraceReport *trace_report) {
    Bundles bundles = {0};
    for (unsigned again = 0; again < 2; again++)
        for (uint32_t i = 0; i < trace_report->link_count; i++)
            add_carries(trace_report, &bundles, &trace_report->links[i], again);
    uint32_t carrying = bundles.count;
    for (uint32_t i = 0; i < trace_report->link_count; i++) {
        const Link *link = &trace_report->links[i];
        uint32_t from = trace_report->actors[link->from].role, to = trace_report->actors[link->to].role;
        uint32_t ring = trace_report->barrier_instances[link->barrier_instance].ring;
        bool reported =
            from == to || is_for_all(trace_report, &trace_report->barrier_instances[link->barrier_instance]);
        for (uint32_t k = 0; k < carrying && !reported; k++)
            reported = bundles.items[k].from == from && bundles.items[k].to == to && bundles.items[k].ring == ring;
        if (!reported)
            bundle_of(trace_report, &bundles, link, false);
    }
    return bundles;
}

static const char *carried(const TraceReport *trace_report, const Bundle *bundle) {
    Text text = {0};
    for (uint32_t i = 0; bundle->carries && i < trace_report->piece_count; i++)
        if (trace_report_carries(bundle->granules, &trace_report->pieces[i]))
            text_addf(&text, "%s%s", text.size ? ", " : "", trace_report->pieces[i].name);
    return verdict_keep(trace_report->check->verdict, &text);
}

static const char *mechanism_of(const TraceReport *trace_report, const Link *link) {
    const BarrierInstance *barrier_instance = &trace_report->barrier_instances[link->barrier_instance];
    for (uint32_t i = 0; i < barrier_instance->use_count; i++)
        if (barrier_instance->uses[i].code == link->out && !barrier_instance->uses[i].waits)
            return report_mechanism((ReportMechanism)barrier_instance->uses[i].mechanism);
    return report_mechanism(MECHANISM_ARRIVE);
}

void trace_report_add_edges(TraceReport *trace_report, Report *report) {
    Bundles bundles = find_bundles(trace_report);
    ReportEdge *edges = ARENA_ARRAY(trace_report->check->verdict->arena, ReportEdge, bundles.count + 1);
    for (uint32_t i = 0; i < bundles.count; i++) {
        const Bundle *bundle = &bundles.items[i];
        const char *from = trace_report->roles[bundle->from].name, *to = trace_report->roles[bundle->to].name;
        edges[i] =
            (ReportEdge){.from = from,
                         .to = to,
                         .barrier = trace_report->rings[bundle->ring].name,
                         .mechanism = mechanism_of(trace_report, bundle->link),
                         .direction = bundle->again ? "backward" : "forward",
                         .carries = carried(trace_report, bundle),
                         .note = "",
                         .out = trace_report_place(trace_report, from, bundle->link->out,
                                                   trace_report_times(trace_report, bundle->from, bundle->link->out)),
                         .in = trace_report_place(trace_report, to, bundle->link->in,
                                                  trace_report_times(trace_report, bundle->to, bundle->link->in))};
    }
    report->edges = edges;
    report->edge_count = bundles.count;
}
