/* Which two barriers are the two sides of one ring: the agent that waits for the one arrives on the other next, and the
 * agent that waits for that arrives on the first. */
#include "check/report/build/internal.h"

#include "base/bisect.h"
#include "base/order.h"

#include <stdlib.h>

enum { MOST_LOOKED_AT = 4096, MOST_BARRIERS = 4096 };

/* Two barriers of which one agent waits for the first and then arrives on the second. */
typedef struct Couple {
    size_t waited, arrived; /* barriers */
    uint32_t gap;           /* events between the two */
} Couple;

typedef struct Couples {
    Builder *builder;
    AgentSet *waits, *arrives; /* of each barrier: the agents that do */
    Couple *items;
    size_t count;
} Couples;

static bool is_free(const Builder *builder, size_t barrier) {
    return !*builder->barriers[barrier].pair;
}

static void join(Builder *builder, size_t one, size_t other) {
    builder->barriers[one].pair = builder->barriers[other].name;
    builder->barriers[other].pair = builder->barriers[one].name;
}

/* The two sides of a token or an aref. */
static void join_sides(Builder *builder) {
    for (size_t i = 0; i + 1 < builder->barrier_count; i++) {
        const Thing *one = &builder->barrier_things[i], *other = &builder->barrier_things[i + 1];
        if (one->root && one->root == other->root && one->side != other->side)
            join(builder, i, i + 1);
    }
}

static void find_agents(Couples *couples) {
    const Builder *builder = couples->builder;
    const Sights *sights = builder->sights;
    for (size_t i = 0; i < sights->seen_count; i++) {
        const Seen *seen = &sights->seen[i];
        bool waits = seen->kind == SIGHT_WAIT, delivers = seen->kind == SIGHT_DELIVER;
        AgentSet *sets = waits ? couples->waits : couples->arrives;
        if (!delivers)
            agents_add(&sets[builder->ring_barriers[seen->ring]], seen->agent);
    }
}

/* The first time after a moment that an op did something; false if it never did. */
static bool next_moment(const Seen *seen, uint32_t after, uint32_t *when) {
    size_t low;
    BISECT(low, 0, seen->count, seen->moments[low] <= after);
    if (low == seen->count)
        return false;
    *when = seen->moments[low];
    return true;
}

/* May stand for "memory may be used again": forward rings are found from their other side. */
static bool may_lead_back(const ReportBarrier *barrier) {
    return strcmp(barrier->direction, "forward") != 0 || strcmp(barrier->kind, "named") == 0;
}

/* Of what the agent of a wait arrives on next, all that could be the other side, each with how soon. */
static void look_from(Couples *couples, const Seen *wait) {
    const Builder *builder = couples->builder;
    const Sights *sights = builder->sights;
    size_t waited = builder->ring_barriers[wait->ring];
    for (size_t i = 0; i < sights->seen_count && i < MOST_LOOKED_AT && couples->count < MOST_LOOKED_AT; i++) {
        const Seen *arrive = &sights->seen[i];
        size_t arrived = builder->ring_barriers[arrive->ring];
        uint32_t when;
        if (arrive->agent != wait->agent || arrive->kind == SIGHT_WAIT || arrive->kind == SIGHT_DELIVER ||
            arrived == waited || !agents_meet(&couples->waits[arrived], &couples->arrives[waited]) ||
            !next_moment(arrive, wait->moments[0], &when))
            continue;
        couples->items[couples->count++] = (Couple){waited, arrived, when - wait->moments[0]};
    }
}

ORDER(compare_couples, Couple, BY(gap) BY(waited) BY(arrived))

/* By what was seen to follow on what, the nearest first. */
static void join_seen(Builder *builder) {
    const Sights *sights = builder->sights;
    Couples couples = {.builder = builder,
                       .waits = ARENA_ARRAY(builder->arena, AgentSet, builder->barrier_count + 1),
                       .arrives = ARENA_ARRAY(builder->arena, AgentSet, builder->barrier_count + 1),
                       .items = ARENA_ARRAY(builder->arena, Couple, MOST_LOOKED_AT)};
    find_agents(&couples);
    for (size_t i = 0; i < sights->seen_count && i < MOST_LOOKED_AT; i++) {
        const Seen *seen = &sights->seen[i];
        size_t barrier = builder->ring_barriers[seen->ring];
        if (seen->kind == SIGHT_WAIT && seen->count && is_free(builder, barrier) &&
            may_lead_back(&builder->barriers[barrier]))
            look_from(&couples, seen);
    }
    qsort(couples.items, couples.count, sizeof *couples.items, compare_couples);
    for (size_t i = 0; i < couples.count; i++)
        if (is_free(builder, couples.items[i].waited) && is_free(builder, couples.items[i].arrived))
            join(builder, couples.items[i].waited, couples.items[i].arrived);
}

static bool share_buffer(const ReportBarrier *a, const ReportBarrier *b) {
    for (size_t i = 0; i < a->protect_count; i++)
        for (size_t k = 0; k < b->protect_count; k++)
            if (strcmp(a->protects[i], b->protects[k]) == 0)
                return true;
    return false;
}

/* Of those that are left: opposite directions, and the same buffer. */
static void join_rest(Builder *builder) {
    for (size_t i = 0; i < builder->barrier_count && builder->barrier_count < MOST_BARRIERS; i++)
        for (size_t k = i + 1; k < builder->barrier_count && is_free(builder, i); k++) {
            const ReportBarrier *one = &builder->barriers[i], *other = &builder->barriers[k];
            if (is_free(builder, k) && strcmp(one->direction, other->direction) != 0 && share_buffer(one, other))
                join(builder, i, k);
        }
}

void report_pairs(Builder *builder) {
    join_sides(builder);
    if (builder->sights && builder->sights->seen_count)
        join_seen(builder);
    join_rest(builder);
}
