/* What goes on in the memory of a CTA when the CTA ends: copies, products and arrivals that nothing has waited for. */
#include "check/tile/run/races_internal.h"

/* Who ends while its stores still read shared memory leaves them to read what comes after. */
static void check_stores(Races *races, const Event *event) {
    const Consan *engine = &races->engine;
    uint32_t actor = consan_base(event->agent);
    for (uint32_t span = consan_next_staged(engine, CONSAN_STORE, actor, 0); span != UINT32_MAX;
         span = consan_next_staged(engine, CONSAN_STORE, actor, span + 1)) {
        ConsanConflict conflict = {.kind = CONSAN_PENDING_GROUP,
                                   .span = span,
                                   .actor = actor,
                                   .place = consan_stage_place(engine, CONSAN_STORE, actor, span),
                                   .group = CONSAN_STORE};
        race_object(races, event, actor, false, &conflict, false);
    }
}

/* Whether the access that is in the way of a write by the last agent of a CTA goes on when that ends. What threads do
 * themselves they have done by then. What other CTAs of the cluster do is the matter of cluster.exit: that an SM waits
 * for the copies of a CTA says nothing of theirs. */
static bool outlasts(const Races *races, const ConsanConflict *conflict, uint32_t cta) {
    if (conflict->kind == CONSAN_CLEAN || agent_cta(races->machine, consan_agent(conflict->actor)) != cta)
        return false;
    return conflict->kind == CONSAN_PENDING_GROUP ? conflict->group != CONSAN_STORE
                                                  : consan_kind(conflict->actor) != CONSAN_BASE;
}

/* The partitions have been joined: what any of them has waited for is known to the agent that ends. */
static void check_rest(Races *races, const Event *event, bool arrivals) {
    const Consan *engine = &races->engine;
    uint32_t cta = agent_cta(races->machine, event->agent), actor = consan_base(event->agent);
    for (uint32_t span = consan_next_span(engine, cta, 0); span != UINT32_MAX;
         span = consan_next_span(engine, cta, span + 1)) {
        ConsanConflict conflict = consan_verify_write(engine, actor, &span, 1);
        if (outlasts(races, &conflict, cta) && race_is_arrival(races, &conflict) == arrivals)
            race_object(races, event, actor, true, &conflict, false);
    }
}

void races_end(Races *races, const Event *event) {
    check_stores(races, event);
    if (event->agent % races->machine->program->agents_per_cta != 0)
        return;
    check_rest(races, event, false);
    check_rest(races, event, true); /* told only where the work that it reports is not */
}
