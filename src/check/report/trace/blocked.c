/* Who waits forever: warps that stand at the same instruction for the same, together. */
#include "check/report/trace/internal.h"

const PtxGroup *portrait_stands(const Portrait *portrait, uint32_t number) {
    const PtxMachine *machine = portrait->check->machine;
    const Actor *actor = &portrait->actors[number];
    const PtxCta *cta = machine->ctas[portrait->cluster * machine->cluster_size + actor->rank];
    const PtxGroup *group = cta ? cta->warps[actor->warp].groups : NULL;
    while (group && (group->status == PTX_IS_DONE || !group->lanes))
        group = group->next;
    return group;
}

uint32_t portrait_stands_at(const Portrait *portrait, const PtxGroup *group) {
    uint32_t size = portrait->check->machine->cluster_size;
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        const Meeting *meeting = &portrait->meetings[i];
        bool there = false;
        if (group->status == PTX_IS_MBARRIER)
            there = meeting->kind == MEET_MBARRIER && meeting->at == (uint32_t)group->place &&
                    meeting->rank == (uint32_t)(group->place >> 32) % size;
        else if (group->status == PTX_IS_NAMED)
            there = meeting->kind == MEET_NAMED && meeting->at == group->waits_for &&
                    meeting->rank == group->warp->cta->rank;
        else if (group->status == PTX_IS_CLUSTER)
            there = meeting->kind == MEET_CLUSTER;
        if (there)
            return i + 1;
    }
    return 0;
}

/* ---- A row of the report ------------------------------------------------------------------------- */

/* Who has arrived there before. */
static void add_could(const Portrait *portrait, const Meeting *meeting, ReportBlocked *row) {
    ReportSite *sites = ARENA_ARRAY(portrait->arena, ReportSite, meeting->use_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < meeting->use_count; i++)
        if (!meeting->uses[i].waits)
            portrait_add_site(portrait, &meeting->uses[i], sites, &count);
    ReportPlace *could = ARENA_ARRAY(portrait->check->verdict->arena, ReportPlace, count + 1);
    for (size_t i = 0; i < count; i++)
        could[i] = sites[i].place;
    row->could = could;
    row->could_count = count;
}

static void add_meeting(const Portrait *portrait, const PtxGroup *group, uint32_t number, ReportBlocked *row) {
    const Meeting *meeting = &portrait->meetings[number];
    const PtxCta *own = group->warp->cta,
                 *cta = portrait->check->machine->ctas[own->number - own->rank + meeting->rank];
    const PtxMbarrier *mbarrier = meeting->kind == MEET_MBARRIER && cta ? ptx_mbarrier_at(cta, meeting->at) : NULL;
    row->waits_for = portrait_slot(portrait, number);
    row->flips = (int64_t)meeting->flips;
    add_could(portrait, meeting, row);
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
static const char *names_of(const Portrait *portrait, const bool *together, uint32_t first) {
    uint32_t rank = portrait->actors[first].rank, end = (rank + 1) * portrait->warps;
    bool clusters = portrait->actor_count > portrait->warps;
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
        text_addf(&text, i == first ? "%u" : ",%u", portrait->actors[i].warp);
        if (last > i)
            text_addf(&text, "-%u", portrait->actors[last].warp);
    }
    if (clusters)
        text_addf(&text, " of CTA rank %u", rank);
    return verdict_keep(portrait->check->verdict, &text);
}

static bool is_alike(const Portrait *portrait, const PtxGroup *a, const PtxGroup *b) {
    return a->pc == b->pc && a->status == b->status && a->warp->cta == b->warp->cta &&
           portrait_stands_at(portrait, a) == portrait_stands_at(portrait, b);
}

const ReportBlocked *portrait_blocked(Portrait *portrait, size_t *count) {
    ReportBlocked *rows = ARENA_ARRAY(portrait->check->verdict->arena, ReportBlocked, portrait->actor_count + 1);
    bool *told = ARENA_ARRAY(portrait->arena, bool, portrait->actor_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        const PtxGroup *group = portrait_stands(portrait, i);
        if (!group || told[i])
            continue;
        bool *together = ARENA_ARRAY(portrait->arena, bool, portrait->actor_count + 1);
        for (uint32_t k = i; k < portrait->actor_count; k++) {
            const PtxGroup *other = portrait_stands(portrait, k);
            together[k] = other && is_alike(portrait, group, other);
            told[k] |= together[k];
        }
        ReportBlocked *row = &rows[(*count)++];
        uint32_t meeting = portrait_stands_at(portrait, group);
        *row = (ReportBlocked){.place = portrait_place(portrait, names_of(portrait, together, i),
                                                       &portrait->check->program->code[group->pc], 0),
                               .waits_for = waits_for(group),
                               .parity = -1,
                               .phase = -1,
                               .pending = -1,
                               .flips = -1,
                               .why = "",
                               .held_by = ""};
        if (meeting)
            add_meeting(portrait, group, meeting - 1, row);
    }
    return rows;
}
