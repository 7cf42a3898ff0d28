/* Barriers as the report has them: a ring each, with everyone who arrives and waits. */
#include "analyze/portrait/internal.h"

#include <inttypes.h>

/* The uses of all slots by one role at one instruction, together. */
static bool add_site(const Portrait *portrait, const Use *use, ReportSite *sites, size_t *count) {
    const char *role = portrait->roles[portrait->actors[use->actor].role].name;
    uint32_t line = code_line(portrait->check->program, use->code);
    for (size_t i = 0; i < *count; i++)
        if (sites[i].place.ir_line == line && strcmp(sites[i].place.partition, role) == 0) {
            sites[i].place.times += use->times;
            return false;
        }
    bool bytes = use->mechanism == MECHANISM_TMA;
    sites[*count] = (ReportSite){.place = portrait_place(portrait, role, use->code, use->times),
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
    return true;
}

static const ReportSite *sites_of(const Portrait *portrait, uint32_t ring, bool waits, size_t *count) {
    size_t most = 1;
    for (uint32_t i = 0; i < portrait->meeting_count; i++)
        most += portrait->meetings[i].ring == ring ? portrait->meetings[i].use_count : 0;
    ReportSite *sites = ARENA_ARRAY(portrait->check->verdict->arena, ReportSite, most);
    *count = 0;
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        const Meeting *meeting = &portrait->meetings[i];
        for (uint32_t k = 0; meeting->ring == ring && k < meeting->use_count; k++)
            if (meeting->uses[k].waits == waits)
                add_site(portrait, &meeting->uses[k], sites, count);
    }
    bool named = portrait->rings[ring].kind != MEET_MBARRIER;
    for (size_t i = 0; i < *count; i++) /* a barrier of threads has no parity */
        if (named) {
            sites[i].first_parity = -1;
            sites[i].amount = -1;
        }
    return sites;
}

static const char *mechanisms_of(const Portrait *portrait, const ReportSite *sites, size_t count) {
    Text text = {0};
    for (ReportMechanism mechanism = 0; mechanism < MECHANISM_COUNT; mechanism++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(sites[i].mechanism, report_mechanism(mechanism)) == 0) {
                text_addf(&text, "%s%s", text.size ? ", " : "", report_mechanism(mechanism));
                break;
            }
    return verdict_keep(portrait->check->verdict, &text);
}

/* What the links of the ring carry: data that is ready, memory that may be used again. */
static void find_carried(const Portrait *portrait, uint32_t ring, ReportBarrier *barrier) {
    const char **names = ARENA_ARRAY(portrait->check->verdict->arena, const char *, portrait->piece_count + 1);
    bool ready = false, again = false;
    for (uint32_t i = 0; i < portrait->piece_count; i++) {
        bool carried = false;
        for (uint32_t k = 0; k < portrait->link_count; k++) {
            const Link *link = &portrait->links[k];
            if (portrait->meetings[link->meeting].ring != ring)
                continue;
            ready |= link->carries[0] != NULL;
            again |= link->carries[1] != NULL;
            carried |= portrait_carries(link->carries[0], &portrait->pieces[i]) ||
                       portrait_carries(link->carries[1], &portrait->pieces[i]);
        }
        if (carried)
            names[barrier->protect_count++] = portrait->pieces[i].name;
    }
    barrier->protects = names;
    barrier->direction = ready && again ? "both" : ready ? "forward" : again ? "backward" : "";
}

/* Phases, and what a phase takes, of all slots and CTAs together. */
static void add_phases(const Portrait *portrait, uint32_t ring, ReportBarrier *barrier) {
    const PtxCode *init = NULL;
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        const Meeting *meeting = &portrait->meetings[i];
        if (meeting->ring != ring)
            continue;
        barrier->flips += meeting->flips;
        barrier->count = meeting->count;
        init = meeting->init ? meeting->init : init;
        if (meeting->bytes >= 0)
            barrier->expect_bytes = barrier->data_bytes = meeting->bytes;
    }
    for (size_t i = 0; i < barrier->wait_count; i++) {
        const ReportSite *site = &barrier->waits[i];
        barrier->iterations = site->place.times > barrier->iterations ? site->place.times : barrier->iterations;
        barrier->inverted |= site->passes_at_once;
    }
    ReportPlace *others = ARENA_ARRAY(portrait->check->verdict->arena, ReportPlace, 1);
    if (init) {
        others[barrier->other_count++] = portrait_place(portrait, "", init, 0);
        barrier->others = others;
    }
}

void portrait_tell_barriers(Portrait *portrait, Report *report) {
    static const char *const kinds[] = {
        [MEET_MBARRIER] = "mbarrier", [MEET_NAMED] = "named", [MEET_CLUSTER] = "cluster"};
    ReportBarrier *barriers = ARENA_ARRAY(portrait->check->verdict->arena, ReportBarrier, portrait->ring_count + 1);
    for (uint32_t i = 0; i < portrait->ring_count; i++) {
        const Ring *ring = &portrait->rings[i];
        ReportBarrier *barrier = &barriers[i];
        *barrier = (ReportBarrier){.name = ring->name,
                                   .value = ring->value,
                                   .kind = kinds[ring->kind],
                                   .depth = ring->kind == MEET_MBARRIER ? ring->depth : -1,
                                   .count = -1,
                                   .index = "",
                                   .phase = "",
                                   .offset = "",
                                   .expect_bytes = -1,
                                   .data_bytes = -1,
                                   .cadence = "",
                                   .pair = "",
                                   .participants = ""};
        barrier->arrives = sites_of(portrait, i, false, &barrier->arrive_count);
        barrier->waits = sites_of(portrait, i, true, &barrier->wait_count);
        barrier->mechanism = mechanisms_of(portrait, barrier->arrives, barrier->arrive_count);
        find_carried(portrait, i, barrier);
        add_phases(portrait, i, barrier);
    }
    report->barriers = barriers;
    report->barrier_count = portrait->ring_count;
}

/* ---- Who waits forever ---------------------------------------------------------------------------- */

/* The meeting that a group stands at; NULL: it waits for something else. */
static const Meeting *stands_at(const Portrait *portrait, const PtxGroup *group) {
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        const Meeting *meeting = &portrait->meetings[i];
        if ((group->status == PTX_IS_MBARRIER && meeting->kind == MEET_MBARRIER &&
             meeting->at == (uint32_t)group->place &&
             meeting->rank == (uint32_t)(group->place >> 32) % portrait->check->machine->cluster_size) ||
            (group->status == PTX_IS_NAMED && meeting->kind == MEET_NAMED && meeting->at == group->waits_for &&
             meeting->rank == group->warp->cta->rank) ||
            (group->status == PTX_IS_CLUSTER && meeting->kind == MEET_CLUSTER))
            return meeting;
    }
    return NULL;
}

/* Who arrived there before: it did not again. */
static void add_could(const Portrait *portrait, const Meeting *meeting, ReportBlocked *row) {
    ReportSite *sites = ARENA_ARRAY(portrait->arena, ReportSite, meeting->use_count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < meeting->use_count; i++)
        if (!meeting->uses[i].waits)
            add_site(portrait, &meeting->uses[i], sites, &count);
    ReportPlace *could = ARENA_ARRAY(portrait->check->verdict->arena, ReportPlace, count + 1);
    for (size_t i = 0; i < count; i++)
        could[i] = sites[i].place;
    row->could = could;
    row->could_count = count;
}

static ReportBlocked row_of(const Portrait *portrait, const PtxGroup *group) {
    static const char *const others[] = {
        [PTX_IS_LANES_MEET] = "other lanes of its warp", [PTX_IS_GROUP_WAIT] = "its copies or MMAs",
        [PTX_IS_SPINS] = "memory that it polls",         [PTX_IS_REGISTERS] = "registers",
        [PTX_IS_LAUNCHES] = "the launch before",         [PTX_IS_DONE] = ""};
    const PtxWarp *warp = group->warp;
    const Meeting *meeting = stands_at(portrait, group);
    ReportBlocked row = {
        .place =
            portrait_place(portrait,
                           verdict_text(portrait->check->verdict,
                                        portrait->actor_count > portrait->warps ? "warp %u of CTA rank %u" : "warp %u",
                                        warp->index, warp->cta->rank),
                           &portrait->check->program->code[group->pc], 0),
        .waits_for = group->status < sizeof others / sizeof *others && others[group->status] ? others[group->status]
                                                                                             : "something",
        .parity = -1,
        .phase = -1,
        .pending = -1,
        .flips = -1,
        .why = "",
        .held_by = ""};
    if (!meeting)
        return row;
    row.waits_for = portrait_slot(portrait, (uint32_t)(meeting - portrait->meetings));
    row.flips = (int64_t)meeting->flips;
    add_could(portrait, meeting, &row);
    const PtxCta *cta = portrait->check->machine->ctas[warp->cta->number - warp->cta->rank + meeting->rank];
    const PtxMbarrier *mbarrier = meeting->kind == MEET_MBARRIER && cta ? ptx_mbarrier_at(cta, meeting->at) : NULL;
    if (mbarrier) {
        row.phase = (int)(mbarrier->phase & 1);
        row.parity = row.phase;
        row.pending = mbarrier->pending;
        row.bytes = mbarrier->bytes;
    }
    return row;
}

const ReportBlocked *portrait_blocked(Portrait *portrait, size_t *count) {
    const PtxMachine *machine = portrait->check->machine;
    ReportBlocked *rows = ARENA_ARRAY(portrait->check->verdict->arena, ReportBlocked, portrait->actor_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        const Actor *actor = &portrait->actors[i];
        const PtxCta *cta = machine->ctas[portrait->cluster * machine->cluster_size + actor->rank];
        const PtxGroup *group = cta ? cta->warps[actor->warp].groups : NULL;
        while (group && (group->status == PTX_IS_DONE || !group->lanes))
            group = group->next;
        if (group)
            rows[(*count)++] = row_of(portrait, group);
    }
    return rows;
}
