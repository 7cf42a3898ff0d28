/* Who waits forever: warps that stand at the same instruction for the same, together. */
#include "check/report/trace/internal.h"

const PtxGroup *trace_report_stands(const TraceReport *trace_report, uint32_t number) {
    const PtxMachine *machine = trace_report->check->machine;
    const Actor *actor = &trace_report->actors[number];
    const PtxCta *cta = machine->ctas[trace_report->cluster * machine->cluster_size + actor->rank];
    const PtxGroup *group = cta ? cta->warps[actor->warp].groups : NULL;
    while (group && (group->status == PTX_IS_DONE || !group->lanes))
        group = group->next;
    return group;
}

uint32_t trace_report_stands_at(const TraceReport *trace_report, const PtxGroup *group) {
    uint32_t size = trace_report->check->machine->cluster_size;
    for (uint32_t i = 0; i < trace_report->barrier_instance_count; i++) {
        const BarrierInstance *barrier_instance = &trace_report->barrier_instances[i];
        bool there = false;
        if (group->status == PTX_IS_MBARRIER)
            there = barrier_instance->kind == INSTANCE_MBARRIER && barrier_instance->at == (uint32_t)group->place &&
                    barrier_instance->rank == (uint32_t)(group->place >> 32) % size;
        else if (group->status == PTX_IS_NAMED)
            there = barrier_instance->kind == INSTANCE_NAMED && barrier_instance->at == group->waits_for &&
                    barrier_instance->rank == group->warp->cta->rank;
        else if (group->status == PTX_IS_CLUSTER)
            there = barrier_instance->kind == INSTANCE_CLUSTER;
        if (there)
            return i + 1;
    }
    return 0;
}

/* ---- A row of the report ------------------------------------------------------------------------- */

/* Who has arrived there before. */
static void add_could(const TraceReport *trace_report, const BarrierInstance *barrier_instance, ReportBlocked *row) {
    ReportSite *sites = ARENA_ARRAY(trace_report->arena, ReportSite, barrier_instance->use_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < barrier_instance->use_count; i++)
        if (!barrier_instance->uses[i].waits)
            trace_report_add_site(trace_report, &barrier_instance->uses[i], sites, &count);
    ReportPlace *could = ARENA_ARRAY(trace_report->check->verdict->arena, ReportPlace, count + 1);
    for (size_t i = 0; i < count; i++)
        could[i] = sites[i].place;
    row->could = could;
    row->could_count = count;
}

static void add_barrier_instance(const TraceReport *trace_report, const PtxGroup *group, uint32_t number,
                                 ReportBlocked *row) {
    const BarrierInstance *barrier_instance = &trace_report->barrier_instances[number];
    const PtxCta *own = group->warp->cta,
                 *cta = trace_report->check->machine->ctas[own->number - own->rank + barrier_instance->rank];
    const PtxMbarrier *mbarrier =
        barrier_instance->kind == INSTANCE_MBARRIER && cta ? ptx_mbarrier_at(cta, barrier_instance->at) : NULL;
    row->waits_for = trace_report_slot(trace_report, number);
    row->flips = (int64_t)barrier_instance->flips;
    add_could(trace_report, barrier_instance, row);
    if (mbarrier) {
        row->phase = row->parity = (int)(mbarrier->phase & 1);
        row->pending = mbarrier->pending;
        row->bytes = mbarrier->bytes;
    }
}

static const char *waits_for(const PtxGroup *group) {
    switch ((PtxStatus)group->status) {
    case PTX_IS_LANES_MEET:
        return "other lanes of its warp";
    case PTX_IS_GROUP_WAIT:
        return "its copies or MMAs";
    case PTX_IS_SPINS:
        return "memory that it polls";
    case PTX_IS_REGISTERS:
        return "registers";
    case PTX_IS_LAUNCHES:
        return "the launch before";
    default:
        return "a barrier";
    }
}

/* "warps 0-3" of those in `together`, "warp 0 of CTA rank 1" */
static const char *names_of(const TraceReport *trace_report, const bool *together, uint32_t first) {
    uint32_t rank = trace_report->actors[first].rank, end = (rank + 1) * trace_report->warps;
    bool clusters = trace_report->actor_count > trace_report->warps;
    Text text = {0};
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        count += together[i];
    text_addf(&text, count == 1 ? "warp " : "warps ");
    for (uint32_t i = first, last; i < end; i = last + 1) {
        for (last = i; together[i] && last + 1 < end && together[last + 1];)
            last++;
        if (!together[i])
            continue;
        text_addf(&text, i == first ? "%u" : ",%u", trace_report->actors[i].warp);
        if (last > i)
            text_addf(&text, "-%u", trace_report->actors[last].warp);
    }
    if (clusters)
        text_addf(&text, " of CTA rank %u", rank);
    return verdict_keep(trace_report->check->verdict, &text);
}

static bool is_symmetry(const TraceReport *trace_report, const PtxGroup *a, const PtxGroup *b) {
    return a->pc == b->pc && a->status == b->status && a->warp->cta == b->warp->cta &&
           trace_report_stands_at(trace_report, a) == trace_report_stands_at(trace_report, b);
}

const ReportBlocked *trace_report_blocked(TraceReport *trace_report, size_t *count) {
    ReportBlocked *rows =
        ARENA_ARRAY(trace_report->check->verdict->arena, ReportBlocked, trace_report->actor_count + 1);
    bool *reported = ARENA_ARRAY(trace_report->arena, bool, trace_report->actor_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < trace_report->actor_count; i++) {
        const PtxGroup *group = trace_report_stands(trace_report, i);
        if (!group || reported[i])
            continue;
        bool *together = ARENA_ARRAY(trace_report->arena, bool, trace_report->actor_count + 1);
        for (uint32_t k = i; k < trace_report->actor_count; k++) {
            const PtxGroup *other = trace_report_stands(trace_report, k);
            together[k] = other && is_symmetry(trace_report, group, other);
            reported[k] |= together[k];
        }
        ReportBlocked *row = &rows[(*count)++];
        uint32_t barrier_instance = trace_report_stands_at(trace_report, group);
        *row = (ReportBlocked){.place = trace_report_place(trace_report, names_of(trace_report, together, i),
                                                           &trace_report->check->program->code[group->pc], 0),
                               .waits_for = waits_for(group),
                               .parity = -1,
                               .phase = -1,
                               .pending = -1,
                               .flips = -1,
                               .why = "",
                               .held_by = ""};
        if (barrier_instance)
            add_barrier_instance(trace_report, group, barrier_instance - 1, row);
    }
    return rows;
}
