/* What may have ordered two accesses to global memory that nothing else orders: ops that are not known.
 *
 * Such an op could release, acquire or wait for anything. It has ordered two accesses of two CTAs at most if the one,
 * after its access, releases something, and the other, before its own, acquires something; the unknown op itself counts
 * as both. What is relaxed orders nothing unless a fence is beside it, which is then the unknown op. Of each place in a
 * kernel it is kept which of these some CTA has done before it, and after it. */
#include "check/tile/grid/internal.h"

#include "check/explain/place.h"

enum { BEFORE = 1, AFTER = 2, SITES_A_WORD = 64 };

void grid_may_order_set_up(GlobalCheck *run) {
    for (size_t i = 0; i < run->count; i++)
        run->has_unknowns |= run->programs[i]->unknowns;
    run->unknown_ran = UINT32_MAX;
    if (run->has_unknowns)
        run->barrier_instances = ARENA_ARRAY(run->arena, uint8_t, run->site_count + 1);
}

static size_t site_words(const GlobalCheck *run) {
    return run->site_count / SITES_A_WORD + 1;
}

void grid_may_order_begin(GlobalCheck *run, GridClusterThreads *cluster_threads, uint32_t rank, uint32_t most) {
    size_t words = site_words(run);
    if (!run->has_unknowns)
        return;
    if (!cluster_threads->visited) {
        cluster_threads->visited = ARENA_ARRAY(run->arena, uint64_t, words * most);
        cluster_threads->met = ARENA_ARRAY(run->arena, bool, most);
    }
    memset(cluster_threads->visited + words * rank, 0, words * sizeof *cluster_threads->visited);
    cluster_threads->met[rank] = false;
}

static bool has_order(const Event *event, Order order) {
    const Effect *effect = event->effect ? &event->effect->effect : NULL; /* the end of an agent has none */
    bool orders =
        effect && (event->kind == EVENT_ACCESS || (event->kind == EVENT_FENCE && effect->verb == EFFECT_FENCE_ORDER));
    return orders && (effect->order == order || effect->order == ORDER_ACQ_REL);
}

/* Whether others could learn from the event what its CTA did before it. */
static bool can_release(const Event *event) {
    switch (event->kind) {
    case EVENT_UNKNOWN:
    case EVENT_ARRIVE:
    case EVENT_EXPECT:
    case EVENT_CLUSTER_ARRIVE:
        return true;
    default:
        return has_order(event, ORDER_RELEASE);
    }
}

/* Whether its CTA could learn from the event what others did. */
static bool can_acquire(const Event *event) {
    switch (event->kind) {
    case EVENT_UNKNOWN:
    case EVENT_WAIT:
    case EVENT_CLUSTER_WAIT:
    case EVENT_AWAIT_LAUNCHES:
        return true;
    default:
        return has_order(event, ORDER_ACQUIRE);
    }
}

void grid_may_order_note(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank) {
    const Event *what = event->event;
    uint32_t site = site_of(run, event);
    if (!run->has_unknowns)
        return;
    size_t words = site_words(run);
    uint64_t *visited = cluster_threads->visited + words * rank;
    if (what->kind == EVENT_UNKNOWN)
        run->unknown_ran = site;
    if (what->kind == EVENT_ACCESS) {
        visited[site / SITES_A_WORD] |= UINT64_C(1) << site % SITES_A_WORD;
        run->barrier_instances[site] |= cluster_threads->met[rank] ? BEFORE : 0;
    }
    cluster_threads->met[rank] |= can_acquire(what);
    if (!can_release(what))
        return;
    for (size_t i = 0; i < words; i++)
        for (uint64_t left = visited[i]; left; left &= left - 1)
            run->barrier_instances[i * SITES_A_WORD + (size_t)__builtin_ctzll(left)] |= AFTER;
}

bool grid_may_order_race(const GlobalCheck *run, const GsanRace *race) {
    if (run->unknown_ran == UINT32_MAX || race->earlier.site == UINT32_MAX)
        return run->unknown_ran != UINT32_MAX;
    uint8_t earlier = run->barrier_instances[race->earlier.site], later = run->barrier_instances[race->later.site];
    return (earlier & AFTER && later & BEFORE) || (later & AFTER && earlier & BEFORE);
}

void grid_may_order_take_back(const GlobalCheck *run, size_t kernel) {
    Verdict *verdict = run->kernels[kernel].verdict;
    const Program *program = run->programs[site_kernel(run, run->unknown_ran)];
    const Op *op = program->ops[site_pc(run, run->unknown_ran)];
    const Finding *finding = &verdict->findings[--verdict->finding_count];
    op_may_prevent(program->module, op, finding, verdict);
}
