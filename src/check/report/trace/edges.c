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

static Bundle *bundle_of(Portrait *portrait, Bundles *bundles, const Link *link, bool again) {
    uint32_t from = portrait->actors[link->from].role, to = portrait->actors[link->to].role;
    uint32_t ring = portrait->meetings[link->meeting].ring;
    for (uint32_t i = 0; i < bundles->count; i++) {
        Bundle *bundle = &bundles->items[i];
        if (bundle->from == from && bundle->to == to && bundle->ring == ring && bundle->again == again)
            return bundle;
    }
    Bundle *bundle = ARENA_PUSH(portrait->arena, bundles->items, bundles->count, bundles->capacity);
    *bundle = (Bundle){.from = from,
                       .to = to,
                       .ring = ring,
                       .again = again,
                       .link = link,
                       .granules = ARENA_ARRAY(portrait->arena, uint64_t, portrait->granule_count / 64 + 1)};
    return bundle;
}

static void add_carries(Portrait *portrait, Bundles *bundles, const Link *link, bool again) {
    if (!link->carries[again])
        return;
    Bundle *bundle = bundle_of(portrait, bundles, link, again);
    if (!bundle->carries)
        bundle->link = link;
    bundle->carries = true;
    for (uint32_t i = 0; i <= portrait->granule_count / 64; i++)
        bundle->granules[i] |= link->carries[again][i];
}

/* A barrier that all warps meet at: whatever is behind it comes after whatever is before it. */
static bool is_for_all(const Portrait *portrait, const Meeting *meeting) {
    bool *come = ARENA_ARRAY(portrait->arena, bool, portrait->actor_count + 1);
    uint32_t count = 0, all = meeting->kind == MEET_NAMED ? portrait->warps : portrait->actor_count;
    for (uint32_t i = 0; i < meeting->use_count; i++)
        if (meeting->uses[i].waits && !come[meeting->uses[i].actor]) {
            come[meeting->uses[i].actor] = true;
            count++;
        }
    return meeting->kind != MEET_MBARRIER && count == all;
}

/* What is handed over; and where nothing is, that one role waits for another at a barrier that is not for all. */
static Bundles find_bundles(Portrait *portrait) {
    Bundles bundles = {0};
    for (unsigned again = 0; again < 2; again++)
        for (uint32_t i = 0; i < portrait->link_count; i++)
            add_carries(portrait, &bundles, &portrait->links[i], again);
    uint32_t carrying = bundles.count;
    for (uint32_t i = 0; i < portrait->link_count; i++) {
        const Link *link = &portrait->links[i];
        uint32_t from = portrait->actors[link->from].role, to = portrait->actors[link->to].role;
        uint32_t ring = portrait->meetings[link->meeting].ring;
        bool told = from == to || is_for_all(portrait, &portrait->meetings[link->meeting]);
        for (uint32_t k = 0; k < carrying && !told; k++)
            told = bundles.items[k].from == from && bundles.items[k].to == to && bundles.items[k].ring == ring;
        if (!told)
            bundle_of(portrait, &bundles, link, false);
    }
    return bundles;
}

static const char *carried(const Portrait *portrait, const Bundle *bundle) {
    Text text = {0};
    for (uint32_t i = 0; bundle->carries && i < portrait->piece_count; i++)
        if (portrait_carries(bundle->granules, &portrait->pieces[i]))
            text_addf(&text, "%s%s", text.size ? ", " : "", portrait->pieces[i].name);
    return verdict_keep(portrait->check->verdict, &text);
}

static const char *mechanism_of(const Portrait *portrait, const Link *link) {
    const Meeting *meeting = &portrait->meetings[link->meeting];
    for (uint32_t i = 0; i < meeting->use_count; i++)
        if (meeting->uses[i].code == link->out && !meeting->uses[i].waits)
            return report_mechanism((ReportMechanism)meeting->uses[i].mechanism);
    return report_mechanism(MECHANISM_ARRIVE);
}

void portrait_tell_edges(Portrait *portrait, Report *report) {
    Bundles bundles = find_bundles(portrait);
    ReportEdge *edges = ARENA_ARRAY(portrait->check->verdict->arena, ReportEdge, bundles.count + 1);
    for (uint32_t i = 0; i < bundles.count; i++) {
        const Bundle *bundle = &bundles.items[i];
        const char *from = portrait->roles[bundle->from].name, *to = portrait->roles[bundle->to].name;
        edges[i] = (ReportEdge){.from = from,
                                .to = to,
                                .barrier = portrait->rings[bundle->ring].name,
                                .mechanism = mechanism_of(portrait, bundle->link),
                                .direction = bundle->again ? "backward" : "forward",
                                .carries = carried(portrait, bundle),
                                .note = "",
                                .out = portrait_place(portrait, from, bundle->link->out,
                                                      portrait_times(portrait, bundle->from, bundle->link->out)),
                                .in = portrait_place(portrait, to, bundle->link->in,
                                                     portrait_times(portrait, bundle->to, bundle->link->in))};
    }
    report->edges = edges;
    report->edge_count = bundles.count;
}
