/* Barriers of all kinds: who arrives and who waits, phase by phase; and which of them are a ring. */
#include "check/report/trace/internal.h"

#include <stdlib.h>

/* ---- As they come -------------------------------------------------------------------------------- */

static uint32_t meeting_at(Portrait *portrait, MeetKind kind, uint32_t rank, uint32_t at) {
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        const Meeting *meeting = &portrait->meetings[i];
        if (meeting->kind == kind && meeting->rank == rank && meeting->at == at)
            return i;
    }
    *ARENA_PUSH(portrait->arena, portrait->meetings, portrait->meeting_count, portrait->meeting_capacity) =
        (Meeting){.kind = kind, .rank = rank, .at = at, .count = -1, .bytes = -1};
    return portrait->meeting_count - 1;
}

static uint32_t meeting_of(Portrait *portrait, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_MEET:
    case PTX_EVENT_NAMED_SYNC:
        return meeting_at(portrait, MEET_NAMED, event->warp->cta->rank, event->barrier);
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_MEET:
    case PTX_EVENT_CLUSTER_WAIT:
        return meeting_at(portrait, MEET_CLUSTER, 0, 0);
    default:
        return meeting_at(portrait, MEET_MBARRIER,
                          (uint32_t)(event->place >> 32) % portrait->check->machine->cluster_size,
                          (uint32_t)event->place);
    }
}

static Use *use_of(Portrait *portrait, Meeting *meeting, uint32_t actor, const PtxCode *code, uint32_t phase,
                   bool waits) {
    for (uint32_t i = 0; i < meeting->use_count; i++) {
        Use *use = &meeting->uses[i];
        if (use->actor == actor && use->code == code && use->waits == waits)
            return use;
    }
    Use *use = ARENA_PUSH(portrait->arena, meeting->uses, meeting->use_count, meeting->use_capacity);
    *use = (Use){.code = code, .actor = actor, .waits = waits, .first = phase, .amount = -1};
    return use;
}

static ReportMechanism mechanism_of(const Portrait *portrait, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
        return MECHANISM_NAMED;
    case PTX_EVENT_CLUSTER_ARRIVE:
        return MECHANISM_CLUSTER;
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_COMPLETE:
        return MECHANISM_TMA;
    default:
        return (ReportMechanism)portrait->mechanism[code_number(portrait, event->code)];
    }
}

static void arrive(Portrait *portrait, uint32_t number, const PtxEvent *event) {
    Meeting *meeting = &portrait->meetings[number];
    Phase *phase = &meeting->phases[meeting->phase % PHASES];
    Use *use = use_of(portrait, meeting, portrait_actor(portrait, event->warp), event->code, event->phase, false);
    uint32_t drawn = portrait_draw(portrait, event, number + 1);
    use->mechanism = (uint8_t)mechanism_of(portrait, event);
    use->times++;
    use->amount = event->count;
    if (event->kind == PTX_EVENT_EXPECT)
        phase->expected += event->count * __builtin_popcount(event->lanes);
    if (event->kind == PTX_EVENT_NAMED_ARRIVE)
        meeting->count = event->count;
    const Actor *actor = &portrait->actors[use->actor];
    *ARENA_PUSH(portrait->arena, phase->items, phase->count, phase->capacity) =
        (Arrival){.actor = use->actor,
                  .order = portrait->order,
                  .drawn = drawn,
                  .time = (event->flight ? actor->flying : actor->now) - 1,
                  .flies = event->flight != NULL,
                  .code = event->code};
}

/* A phase is over, and the next one begins. */
static void flip(Portrait *portrait, uint32_t number, const PtxEvent *event) {
    Meeting *meeting = &portrait->meetings[number];
    const Phase *over = &meeting->phases[meeting->phase % PHASES];
    if (over->expected)
        meeting->bytes = over->expected;
    if (meeting->kind == MEET_MBARRIER)
        portrait_draw(portrait, event, number + 1);
    meeting->flips++;
    meeting->phase++;
    meeting->phases[meeting->phase % PHASES] = (Phase){0};
}

static void wait(Portrait *portrait, uint32_t number, const PtxEvent *event) {
    Meeting *meeting = &portrait->meetings[number];
    bool mbarrier = meeting->kind == MEET_MBARRIER, passes = mbarrier && event->phase == UINT32_MAX;
    uint32_t which = mbarrier ? event->phase : meeting->phase - 1, actor = portrait_actor(portrait, event->warp);
    Use *use = use_of(portrait, meeting, actor, event->code, which, true);
    if (!use->times++)
        use->passes = passes;
    bool kept = !passes && which < meeting->phase && meeting->phase - which < PHASES;
    const Phase *phase = kept ? &meeting->phases[which % PHASES] : NULL;
    portrait_draw_wait(portrait, event, number + 1, phase);
    for (uint32_t i = 0; phase && i < phase->count; i++)
        portrait_learn(portrait, &phase->items[i], actor, number, event->code);
}

void portrait_meet(Portrait *portrait, const PtxEvent *event) {
    uint32_t number = meeting_of(portrait, event);
    Meeting *meeting = &portrait->meetings[number];
    switch (event->kind) {
    case PTX_EVENT_INIT:
        portrait_draw(portrait, event, number + 1);
        meeting->init = event->code;
        meeting->count = event->count;
        meeting->phase = 0;
        meeting->phases[0] = (Phase){0};
        break;
    case PTX_EVENT_FLIP:
    case PTX_EVENT_NAMED_MEET:
    case PTX_EVENT_CLUSTER_MEET:
        flip(portrait, number, event);
        break;
    case PTX_EVENT_WAIT:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_WAIT:
        wait(portrait, number, event);
        break;
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
        arrive(portrait, number, event);
        break;
    default:
        portrait_draw(portrait, event, number + 1);
        break;
    }
}

void portrait_meet_blocked(Portrait *portrait) {
    for (uint32_t i = 0; i < portrait->actor_count; i++) {
        const PtxGroup *group = portrait_stands(portrait, i);
        uint32_t number = group ? portrait_stands_at(portrait, group) : 0;
        if (number)
            use_of(portrait, &portrait->meetings[number - 1], i, &portrait->check->program->code[group->pc],
                   portrait->meetings[number - 1].phase, true);
    }
}

/* ---- Rings --------------------------------------------------------------------------------------- */

static bool has_use(const Meeting *meeting, const Use *use) {
    for (uint32_t i = 0; i < meeting->use_count; i++)
        if (meeting->uses[i].code == use->code && meeting->uses[i].waits == use->waits)
            return true;
    return false;
}

/* Whether the same instructions arrive at both and wait for both. */
static bool is_alike(const Meeting *a, const Meeting *b) {
    for (uint32_t i = 0; i < a->use_count; i++)
        if (!has_use(b, &a->uses[i]))
            return false;
    for (uint32_t i = 0; i < b->use_count; i++)
        if (!has_use(a, &b->uses[i]))
            return false;
    return a->count == b->count;
}

/* Named ones first, then the cluster's, then mbarriers by address; of one, by CTA. */
typedef struct Sorted {
    uint64_t key;
    uint32_t number;
} Sorted;

static uint64_t key_of(const Meeting *meeting) {
    static const uint8_t ranks[] = {[MEET_MBARRIER] = 2, [MEET_NAMED] = 0, [MEET_CLUSTER] = 1};
    return (uint64_t)ranks[meeting->kind] << 60 | (uint64_t)meeting->at << 16 | meeting->rank;
}

static int by_key(const void *a, const void *b) {
    const Sorted *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Whether the meeting is a further slot of the ring, or the one of another CTA. */
static bool goes_on(const Portrait *portrait, const Ring *ring, const Meeting *last, const Meeting *meeting) {
    if (ring->kind != meeting->kind)
        return false;
    if (last->at == meeting->at)
        return true;
    return ring->kind == MEET_MBARRIER && is_alike(last, meeting) &&
           shared_begin(portrait->check, last->at) == shared_begin(portrait->check, meeting->at);
}

static void make_rings(Portrait *portrait, const Sorted *order) {
    const Meeting *last = NULL;
    for (uint32_t i = 0; i < portrait->meeting_count; i++) {
        Meeting *meeting = &portrait->meetings[order[i].number];
        Ring *ring = portrait->ring_count ? &portrait->rings[portrait->ring_count - 1] : NULL;
        if (!ring || !goes_on(portrait, ring, last, meeting)) {
            ring = &portrait->rings[portrait->ring_count++];
            *ring = (Ring){.kind = meeting->kind, .first = meeting->at, .last = meeting->at, .depth = 1};
        }
        ring->depth += ring->last != meeting->at;
        ring->last = meeting->at;
        meeting->ring = (uint32_t)(ring - portrait->rings);
        meeting->slot = ring->depth - 1;
        last = meeting;
    }
}

void portrait_find_rings(Portrait *portrait) {
    Sorted *order = ARENA_ARRAY(portrait->arena, Sorted, portrait->meeting_count + 1);
    portrait->rings = ARENA_ARRAY(portrait->arena, Ring, portrait->meeting_count + 1);
    for (uint32_t i = 0; i < portrait->meeting_count; i++)
        order[i] = (Sorted){key_of(&portrait->meetings[i]), i};
    if (portrait->meeting_count)
        qsort(order, portrait->meeting_count, sizeof *order, by_key);
    make_rings(portrait, order);
}

const char *portrait_slot(const Portrait *portrait, uint32_t number) {
    const Meeting *meeting = &portrait->meetings[number];
    const Ring *ring = &portrait->rings[meeting->ring];
    return ring->depth > 1 ? verdict_text(portrait->check->verdict, "%s[%u]", ring->name, meeting->slot) : ring->name;
}
