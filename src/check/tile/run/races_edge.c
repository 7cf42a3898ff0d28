/* The edge that is missing between two accesses: which barrier it should go over. Several may report the earlier access
 * in the end; the one that counts is on which its own agent arrives, and that hands this very memory over elsewhere. */
#include "check/tile/run/races_internal.h"

#include "machine/tile/schedule/barrier_ops.h"

uint64_t race_ring(const Races *races, uint32_t barrier) {
    return barrier == UINT32_MAX ? UINT64_MAX
                                 : races->machine->slot_places[barrier % races->machine->slots_per_cta] >> 32;
}

/* Whether the barrier hands memory of the span's allocation over. */
static bool hands_out(const Races *races, uint32_t barrier, uint32_t span) {
    const Consan *engine = &races->engine;
    uint32_t cta = spans_cta(races->spans, span);
    for (uint32_t other = consan_next_span(engine, cta, 0); other != UINT32_MAX;
         other = consan_next_span(engine, cta, other + 1))
        if (consan_forwarded(engine, barrier, other) && spans_together(races->spans, other, span))
            return true;
    return false;
}

/* Whether a barrier of the same ring does. */
static bool hands_over(const Races *races, uint32_t barrier, uint32_t span) {
    if (span == UINT32_MAX)
        return false;
    BarrierRange channel = barrier_channel(races->machine, barrier);
    for (uint32_t i = 0; i < races->named; i++)
        if (range_has(races->machine, &channel, i) && hands_out(races, i, span))
            return true;
    return false;
}

static bool same_channel(const Races *races, uint32_t barrier, uint32_t other) {
    BarrierRange channel = barrier_channel(races->machine, barrier);
    return range_has(races->machine, &channel, other);
}

static bool reports(const Consan *engine, uint32_t barrier, uint32_t parity, const ConsanConflict *conflict) {
    uint32_t set = conflict->actor / CONSAN_SET_ACTORS, own = conflict->actor % CONSAN_SET_ACTORS;
    return conflict->kind == CONSAN_OUTSTANDING_WRITE
               ? consan_write_tracking(engine, barrier, parity, conflict->span)
               : consan_read_tracking(engine, barrier, parity, conflict->span, set) >> own & 1;
}

int race_find_report(const Races *races, Race *race, const ConsanConflict *conflict, uint32_t strand) {
    int best = -1;
    for (uint32_t barrier = 0; barrier < races->named; barrier++)
        for (uint32_t parity = 0; parity < CONSAN_PHASES; parity++) {
            if (!reports(&races->engine, barrier, parity, conflict))
                continue;
            bool own = strand_arrives(races->machine, strand, barrier, race->other_pc) != NO_PC;
            int rank = 2 * own + hands_over(races, barrier, conflict->span);
            if (rank <= best)
                continue;
            best = rank;
            race->barrier = barrier;
            race->parity = (uint8_t)parity;
        }
    return best;
}

static const struct RaceArriver *arrival_by(const PhaseArrivals *arrivals, uint32_t agent) {
    for (uint32_t i = arrivals->count; i-- > 0;)
        if (arrivals->by[i].agent == agent)
            return &arrivals->by[i];
    return NULL;
}

static void set_released_early(Race *race, const Guard *guard, const struct RaceArriver *arrival) {
    race->released_early = true;
    race->guard = guard->barrier;
    race->guard_wait_pc = guard->pc;
    race->guard_arrive_pc = arrival->pc;
}

/* The agent did wait for a slot of the ring that reports the earlier access, and the other agent let it go: too early.
 */
static bool find_early_release(const Races *races, Race *race, const Guard *guard) {
    const struct RaceArriver *arrival = arrival_by(&guard->arrivals, consan_agent(race->other_thread));
    if (race->barrier == UINT32_MAX || !arrival || !same_channel(races, race->barrier, guard->barrier))
        return false;
    set_released_early(race, guard, arrival);
    return true;
}

/* The same where nothing reports it that the agent ever waits for: what let the agent go came before the access, is not
 * its own report of a turn earlier, and hands this memory over at other times, or is all that is between the two. */
static bool find_premature_release(const Races *races, Race *race, const Guard *guard, uint32_t later) {
    const struct RaceArriver *arrival = arrival_by(&guard->arrivals, consan_agent(race->other_thread));
    bool reported = race->barrier != UINT32_MAX;
    if (!arrival || arrival->pc == race->other_pc ||
        (reported && strand_waits(races->machine, later, race->barrier) != NO_PC) ||
        (reported && !hands_over(races, guard->barrier, race->span)))
        return false;
    set_released_early(race, guard, arrival);
    return true;
}

/* It waited where the other agent arrives, too, but has not, and others have made up for it. */
static bool find_absence(const Races *races, Race *race, const Guard *guard, uint32_t strand) {
    uint32_t arrive = strand_arrives(races->machine, strand, guard->barrier, race->other_pc);
    bool elsewhere = race->barrier != UINT32_MAX && !same_channel(races, race->barrier, guard->barrier);
    if (arrive == NO_PC || elsewhere || !guard->arrivals.count ||
        arrival_by(&guard->arrivals, consan_agent(race->other_thread)))
        return false;
    race->without = true;
    race->guard = guard->barrier;
    race->guard_wait_pc = guard->pc;
    race->guard_arrive_pc = arrive;
    memcpy(race->instead, guard->arrivals.by, sizeof race->instead);
    race->instead_count = guard->arrivals.count;
    return true;
}

/* The last wait of the agent for a barrier of the channel, if it is one of its latest. */
static const Guard *guard_on(const Races *races, uint32_t agent, uint32_t barrier) {
    const Guard *guards = races->guards[agent];
    BarrierRange channel = barrier_channel(races->machine, barrier);
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any; i++)
        if (range_has(races->machine, &channel, guards[i].barrier))
            return &guards[i];
    return NULL;
}

/* Who is asked whether it waits for the barriers on which an access is reported. */
typedef enum Watcher {
    NONE_WAITS,  /* no strand waits for it at all */
    OTHER_NEVER, /* the other strand never does; what the op itself does not report is not reported */
    OTHER_WAITS, /* the other strand does, somewhere, but has not here */
} Watcher;

/* Names the channel, by one of its slots, on which something is reported at `pc`, if it is such a one. */
static bool set_unseen(const Races *races, Race *race, const Effect *effect, uint32_t at, Watcher watcher,
                       uint32_t other) {
    const Machine *machine = races->machine;
    BarrierRange range = effect_barriers(machine->program, effect);
    uint32_t barrier = range_first(machine, &range);
    if (barrier == NO_BARRIER)
        return false;
    uint32_t by_any = strand_waits(machine, ANY_STRAND, barrier), by_other = strand_waits(machine, other, barrier);
    if (watcher == OTHER_WAITS ? by_other == NO_PC : watcher == OTHER_NEVER ? by_other != NO_PC : by_any != NO_PC)
        return false;
    race->unseen = true;
    race->unseen_by_all = by_any == NO_PC;
    race->guard = barrier;
    race->guard_arrive_pc = at;
    race->guard_wait_pc = by_other;
    return true;
}

/* Where an access at `pc` is reported, by the op itself or by an arrival after it, on a barrier for which it is with
 * the strand `other` as `watcher` says. */
static bool find_unseen_from(const Races *races, Race *race, uint32_t strand, uint32_t pc, Watcher watcher,
                             uint32_t other) {
    const Program *program = races->machine->program;
    for (uint32_t at = pc, end = strand_end(program, strand); at < end; at++)
        for (uint32_t i = 0; program->code[at].code == CODE_EFFECTS && i < program->code[at].a; i++) {
            const Effect *effect = &program->effects[program->code[at].aux + i].effect;
            bool reports = effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_EXPECT ||
                           (effect->verb == EFFECT_COMPLETE && at == pc);
            Watcher asked = watcher == OTHER_NEVER && at != pc ? NONE_WAITS : watcher;
            if (reports && set_unseen(races, race, effect, at, asked, other))
                return true;
        }
    return false;
}

/* A barrier that is arrived on, and for which nothing waits, in either direction. */
static bool find_unseen(const Races *races, Race *race, uint32_t later, uint32_t earlier) {
    if (find_unseen_from(races, race, earlier, race->other_pc, NONE_WAITS, later))
        return true;
    race->unseen_later = find_unseen_from(races, race, later, race->pc, NONE_WAITS, earlier);
    return race->unseen_later;
}

/* The other agent does wait there somewhere: which wait it is that does not help, and whether it went past it. */
static bool find_late_wait(const Races *races, Race *race, uint32_t strand, uint32_t pc, uint32_t other_agent,
                           uint32_t other) {
    if (!find_unseen_from(races, race, strand, pc, OTHER_WAITS, other))
        return false;
    const Guard *guard = guard_on(races, other_agent, race->guard);
    race->guard_passed = guard != NULL;
    if (guard)
        race->guard_wait_pc = guard->pc;
    return true;
}

/* Who reads what nothing has written yet should have come after this write: what reports that it does not wait for, or
 * not in time. */
static bool find_unwritten(const Races *races, Race *race, uint32_t later, uint32_t earlier) {
    Race tried = *race, released = *race;
    uint32_t agent = consan_agent(race->other_thread);
    bool found = find_unseen_from(races, &tried, later, race->pc, OTHER_NEVER, earlier);
    /* It may be meant to read before this write: it says when it has, and nothing waits for that; or it came as it
     * should. */
    if (!found && later != earlier && !find_unseen_from(races, &released, earlier, race->other_pc, NONE_WAITS, later) &&
        find_late_wait(races, &tried, later, race->pc, agent, earlier)) {
        const Guard *guard = guard_on(races, agent, tried.guard);
        found = !guard || !guard->arrivals.count;
    }
    if (!found)
        return false;
    *race = tried;
    race->unseen_later = true;
    return true;
}

void race_find_edge(const Races *races, Race *race, const ConsanConflict *conflict, const State *state) {
    const Guard *guards = races->guards[consan_agent(race->thread)];
    uint32_t earlier = state->agents[consan_agent(race->other_thread)].strand;
    uint32_t later = state->agents[consan_agent(race->thread)].strand;
    int sure = race_find_report(races, race, conflict, earlier);
    if (race->kind == RACE_WAR && !consan_written(&races->engine, conflict->span) &&
        find_unwritten(races, race, later, earlier))
        return;
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any; i++)
        if (find_early_release(races, race, &guards[i]))
            return;
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any; i++)
        if (find_absence(races, race, &guards[i], earlier))
            return;
    if (find_unseen(races, race, later, earlier))
        return;
    if (sure < 3 && earlier != later && find_unseen_from(races, race, earlier, race->other_pc, OTHER_NEVER, later))
        return;
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any && earlier != later; i++)
        if (find_premature_release(races, race, &guards[i], later))
            return;
    if (race->barrier == UINT32_MAX)
        (void)find_late_wait(races, race, earlier, race->other_pc, consan_agent(race->thread), later);
}
