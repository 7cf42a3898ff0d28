/* Barriers as the report has them: a ring each, with everyone who arrives and waits. */
#include "check/report/trace/internal.h"

#include <inttypes.h>

void portrait_add_site(const Portrait *portrait, const Use *use, ReportSite *sites, size_t *count) {
    const char *role = portrait->roles[portrait->actors[use->actor].role].name;
    uint32_t line = code_line(portrait->check->program, use->code);
    for (size_t i = 0; i < *count; i++)
        if (sites[i].place.ir_line == line && strcmp(sites[i].place.partition, role) == 0) {
            sites[i].place.times += use->times;
            return;
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
                portrait_add_site(portrait, &meeting->uses[k], sites, count);
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
        *barrier = report_barrier_blank();
        barrier->name = ring->name;
        barrier->value = ring->value;
        barrier->kind = kinds[ring->kind];
        barrier->depth = ring->kind == MEET_MBARRIER ? (int64_t)ring->depth : -1;
        barrier->arrives = sites_of(portrait, i, false, &barrier->arrive_count);
        barrier->waits = sites_of(portrait, i, true, &barrier->wait_count);
        barrier->mechanism = mechanisms_of(portrait, barrier->arrives, barrier->arrive_count);
        find_carried(portrait, i, barrier);
        add_phases(portrait, i, barrier);
    }
    report->barriers = barriers;
    report->barrier_count = portrait->ring_count;
}
