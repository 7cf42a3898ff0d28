/* Barriers as the report has them: a ring each, with everyone who arrives and waits. */
#include "check/report/trace/internal.h"

#include <inttypes.h>

void trace_report_add_site(const TraceReport *trace_report, const TraceUse *use, ReportSite *sites, size_t *count) {
    const char *role = trace_report->roles[trace_report->actors[use->actor].role].name;
    uint32_t line = code_line(trace_report->check->program, use->code);
    for (size_t i = 0; i < *count; i++)
        if (sites[i].place.ir_line == line && strcmp(sites[i].place.partition, role) == 0) {
            sites[i].place.times += use->times;
            return;
        }
    bool bytes = use->mechanism == MECHANISM_TMA;
    sites[*count] = (ReportSite){.place = trace_report_place(trace_report, role, use->code, use->times),
                                 .mechanism = use->waits ? "" : report_mechanism((ReportMechanism)use->mechanism),
                                 .index = "",
                                 .phase = "",
                                 .index_as_written = "",
                                 .phase_as_written = "",
                                 .part = "",
                                 .first_parity = use->waits && use->passes ? 1
                                                 : use->waits              ? (int)(use->first & 1)
                                                                           : -1,
                                 .passes_at_once = use->passes,
                                 .amount = use->waits || (!bytes && use->amount <= 0) ? -1 : use->amount};
    ++*count;
}

static const ReportSite *sites_of(const TraceReport *trace_report, uint32_t ring, bool waits, size_t *count) {
    size_t most = 1;
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++)
        most += trace_report->barrier_instances[i].ring == ring ? trace_report->barrier_instances[i].use_count : 0;
    ReportSite *sites = ARENA_ARRAY(trace_report->check->verdict->arena, ReportSite, most);
    *count = 0;
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++) {
        const BarrierInstance *barrier_instance = &trace_report->barrier_instances[i];
        for (uint32_t k = 0; barrier_instance->ring == ring && k < barrier_instance->use_count; k++)
            if (barrier_instance->uses[k].waits == waits)
                trace_report_add_site(trace_report, &barrier_instance->uses[k], sites, count);
    }
    bool named = trace_report->rings[ring].kind != INSTANCE_MBARRIER;
    for (size_t i = 0; i < *count; i++) /* a barrier of threads has no parity */
        if (named) {
            sites[i].first_parity = -1;
            sites[i].amount = -1;
        }
    return sites;
}

static const char *mechanisms_of(const TraceReport *trace_report, const ReportSite *sites, size_t count) {
    Text text = {0};
    for (ReportMechanism mechanism = 0; mechanism < MECHANISM_COUNT; mechanism++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(sites[i].mechanism, report_mechanism(mechanism)) == 0) {
                text_addf(&text, "%s%s", text.size ? ", " : "", report_mechanism(mechanism));
                break;
            }
    return verdict_keep(trace_report->check->verdict, &text);
}

/* What the links of the ring carry: data that is ready, memory that may be used again. */
static void find_carried(const TraceReport *trace_report, uint32_t ring, ReportBarrier *barrier) {
    const char **names = ARENA_ARRAY(trace_report->check->verdict->arena, const char *, trace_report->piece_count + 1);
    bool ready = false, again = false;
    for (uint32_t i = 0; i < trace_report->piece_count; i++) {
        bool carried = false;
        for (uint32_t k = 0; k < trace_report->link_count; k++) {
            const Link *link = &trace_report->links[k];
            if (trace_report->barrier_instances[link->barrier_instance].ring != ring)
                continue;
            ready |= link->carries[0] != NULL;
            again |= link->carries[1] != NULL;
            carried |= trace_report_carries(link->carries[0], &trace_report->pieces[i]) ||
                       trace_report_carries(link->carries[1], &trace_report->pieces[i]);
        }
        if (carried)
            names[barrier->protect_count++] = trace_report->pieces[i].name;
    }
    barrier->protects = names;
    barrier->direction = ready && again ? "both" : ready ? "forward" : again ? "backward" : "";
}

/* Phases, and what a phase takes, of all slots and CTAs together. */
static void add_phases(const TraceReport *trace_report, uint32_t ring, ReportBarrier *barrier) {
    const PtxCode *init = NULL;
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++) {
        const BarrierInstance *barrier_instance = &trace_report->barrier_instances[i];
        if (barrier_instance->ring != ring)
            continue;
        barrier->flips += barrier_instance->flips;
        barrier->count = barrier_instance->count;
        init = barrier_instance->init ? barrier_instance->init : init;
        if (barrier_instance->bytes >= 0)
            barrier->expect_bytes = barrier->data_bytes = barrier_instance->bytes;
    }
    for (size_t i = 0; i < barrier->wait_count; i++) {
        const ReportSite *site = &barrier->waits[i];
        barrier->iterations = site->place.times > barrier->iterations ? site->place.times : barrier->iterations;
        barrier->inverted |= site->passes_at_once;
    }
    ReportPlace *others = ARENA_ARRAY(trace_report->check->verdict->arena, ReportPlace, 1);
    if (init) {
        others[barrier->other_count++] = trace_report_place(trace_report, "", init, 0);
        barrier->others = others;
    }
}

void trace_report_add_barriers(TraceReport *trace_report, Report *report) {
    static const char *const kinds[] = {
        [INSTANCE_MBARRIER] = "mbarrier", [INSTANCE_NAMED] = "named", [INSTANCE_CLUSTER] = "cluster"};
    ReportBarrier *barriers =
        ARENA_ARRAY(trace_report->check->verdict->arena, ReportBarrier, trace_report->ring_count + 1);
    for (uint32_t i = 0; i < trace_report->ring_count; i++) {
        const TraceRing *ring = &trace_report->rings[i];
        ReportBarrier *barrier = &barriers[i];
        *barrier = report_barrier_blank();
        barrier->name = ring->name;
        barrier->value = ring->value;
        barrier->kind = kinds[ring->kind];
        barrier->depth = ring->kind == INSTANCE_MBARRIER ? (int64_t)ring->depth : -1;
        barrier->arrives = sites_of(trace_report, i, false, &barrier->arrive_count);
        barrier->waits = sites_of(trace_report, i, true, &barrier->wait_count);
        barrier->mechanism = mechanisms_of(trace_report, barrier->arrives, barrier->arrive_count);
        find_carried(trace_report, i, barrier);
        add_phases(trace_report, i, barrier);
    }
    report->barriers = barriers;
    report->barrier_count = trace_report->ring_count;
}
