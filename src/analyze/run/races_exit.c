/* What goes on in the memory of a CTA when the CTA ends: copies, products and arrivals that nobody has waited for. */
#include "analyze/run/races_internal.h"

/* Who ends while its stores still read shared memory leaves them to read what comes after. */
static void check_stores(Races *races, const Event *event) {
    const Consan *engine = &races->engine;
    if (!(engine->staged[CONSAN_STORE] >> event->agent & 1))
        return;
    for (uint32_t span = 0; span < engine->spans; span++)
        if (consan_outstanding_commits(engine, CONSAN_STORE, event->agent, span)) {
            ConsanConflict conflict = {.kind = CONSAN_PENDING_GROUP,
                                       .span = span,
                                       .actor = event->agent,
                                       .place = consan_stage_place(engine, CONSAN_STORE, event->agent, span),
                                       .group = CONSAN_STORE};
            race_object(races, event, event->agent, false, &conflict, false);
        }
}

/* Whether the access that is in the way of a write by the last agent of a CTA goes on when that ends. What threads do
 * themselves they have done by then. What other CTAs of the cluster do is the matter of cluster.exit: that an SM waits
 * for the copies of a CTA says nothing of theirs. */
static bool outlasts(const Races *races, const ConsanConflict *conflict, uint32_t cta) {
    if (conflict->kind == CONSAN_CLEAN || agent_cta(races->machine, conflict->actor % CONSAN_BASE_ACTORS) != cta)
        return false;
    return conflict->kind == CONSAN_PENDING_GROUP ? conflict->group != CONSAN_STORE
                                                  : conflict->actor >= CONSAN_BASE_ACTORS;
}

/* The partitions have been joined: what any of them has waited for is known to the agent that ends. */
static void check_rest(Races *races, const Event *event, bool arrivals) {
    const Consan *engine = &races->engine;
    uint32_t cta = agent_cta(races->machine, event->agent);
    for (uint32_t span = 0; span < engine->spans; span++) {
        if (spans_cta(races->spans, span) != cta)
            continue;
        ConsanConflict conflict = consan_verify_write(engine, event->agent, &span, 1);
        if (outlasts(races, &conflict, cta) && race_is_arrival(races, &conflict) == arrivals)
            race_object(races, event, event->agent, true, &conflict, false);
    }
}

void races_end(Races *races, const Event *event) {
    check_stores(races, event);
    if (event->agent % races->machine->program->agents_per_cta != 0)
        return;
    check_rest(races, event, false);
    check_rest(races, event, true); /* told only where the work that it reports is not */
}
