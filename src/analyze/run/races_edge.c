/* The edge that is missing between two accesses: which barrier it should go over. Several may report the earlier access
 * in the end; the one that counts is on which its own agent arrives, and that hands this very memory over elsewhere. */
#include "analyze/run/races_internal.h"

uint64_t race_ring(const Races *races, uint32_t barrier) {
    return barrier == UINT32_MAX ? UINT64_MAX
                                 : races->machine->slot_places[barrier % races->machine->slots_per_cta] >> 32;
}

/* Whether a barrier of the same ring hands memory of the span's allocation over. */
static bool hands_over(const Races *races, uint32_t barrier, uint32_t span) {
    const Consan *engine = &races->engine;
    uint64_t ring = race_ring(races, barrier);
    if (span == UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < races->named; i++)
        for (uint32_t other = 0; race_ring(races, i) == ring && other < engine->spans; other++)
            if (consan_handed(engine, i, other) && spans_together(races->spans, other, span))
                return true;
    return false;
}

/* The storage of the barrier that an effect is on; UINT64_MAX: none. */
static uint64_t ring_under(const Program *program, const Effect *effect) {
    const Allocation *allocation = allocation_of(&program->allocations, program->module, effect->on);
    return allocation ? allocation->storage : UINT64_MAX;
}

static uint32_t strand_end(const Program *program, uint32_t strand) {
    return strand + 1 < program->strand_count ? program->strands[strand + 1].entry : program->code_count;
}

/* Whether the strand waits for a barrier of the ring anywhere; UINT32_MAX: whether any does. */
static bool waits_on(const Program *program, uint32_t strand, uint64_t ring) {
    uint32_t from = strand == UINT32_MAX ? 0 : program->strands[strand].entry;
    uint32_t end = strand == UINT32_MAX ? program->code_count : strand_end(program, strand);
    for (uint32_t at = from; at < end; at++)
        for (uint32_t i = 0; program->code[at].code == CODE_EFFECTS && i < program->code[at].a; i++) {
            const Effect *effect = &program->effects[program->code[at].aux + i].effect;
            if (effect->verb == EFFECT_WAIT && ring_under(program, effect) == ring)
                return true;
        }
    return false;
}

/* The op by which the agent arrives on a barrier of that ring, after `pc` if there is one; UINT32_MAX: none. */
static uint32_t arrive_of(const Races *races, uint32_t strand, uint64_t ring, uint32_t pc) {
    const Program *program = races->machine->program;
    uint32_t found = UINT32_MAX;
    for (uint32_t at = program->strands[strand].entry, end = strand_end(program, strand); at < end; at++) {
        const Instruction *instruction = &program->code[at];
        for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (effect->verb != EFFECT_ARRIVE && effect->verb != EFFECT_EXPECT)
                continue;
            if (ring_under(program, effect) == ring && (found == UINT32_MAX || (found < pc && at > pc)))
                found = at;
        }
    }
    return found;
}

static bool reports(const Consan *engine, uint32_t barrier, uint32_t parity, const ConsanConflict *conflict) {
    return conflict->kind == CONSAN_OUTSTANDING_WRITE
               ? consan_write_tracking(engine, barrier, parity, conflict->span)
               : consan_read_tracking(engine, barrier, parity, conflict->span) >> conflict->actor & 1;
}

int race_find_report(const Races *races, Race *race, const ConsanConflict *conflict, uint32_t strand) {
    int best = -1;
    for (uint32_t barrier = 0; barrier < races->named; barrier++)
        for (uint32_t parity = 0; parity < CONSAN_PHASES; parity++) {
            if (!reports(&races->engine, barrier, parity, conflict))
                continue;
            bool own = arrive_of(races, strand, race_ring(races, barrier), race->other_pc) != UINT32_MAX;
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

/* The agent did wait for a slot of the ring that reports the earlier access, and the other agent let it go: too early.
 */
static bool find_early_release(const Races *races, Race *race, const Guard *guard) {
    const struct RaceArriver *arrival = arrival_by(&guard->arrivals, race->other_thread % CONSAN_BASE_ACTORS);
    if (race->barrier == UINT32_MAX || !arrival || race_ring(races, guard->barrier) != race_ring(races, race->barrier))
        return false;
    race->released_early = true;
    race->guard = guard->barrier;
    race->guard_wait_pc = guard->pc;
    race->guard_arrive_pc = arrival->pc;
    return true;
}

/* It waited where the other agent arrives, too, but has not, and others have made up for it. */
static bool find_absence(const Races *races, Race *race, const Guard *guard, uint32_t strand) {
    uint32_t arrive = arrive_of(races, strand, race_ring(races, guard->barrier), race->other_pc);
    bool elsewhere = race->barrier != UINT32_MAX && race_ring(races, race->barrier) != race_ring(races, guard->barrier);
    if (arrive == UINT32_MAX || elsewhere || !guard->arrivals.count ||
        arrival_by(&guard->arrivals, race->other_thread % CONSAN_BASE_ACTORS))
        return false;
    race->without = true;
    race->guard = guard->barrier;
    race->guard_wait_pc = guard->pc;
    race->guard_arrive_pc = arrive;
    memcpy(race->instead, guard->arrivals.by, sizeof race->instead);
    race->instead_count = guard->arrivals.count;
    return true;
}

/* Names the ring, by one of its slots, on which something is reported at `pc` and which nobody looks at. */
static bool set_unseen(const Races *races, Race *race, uint64_t ring, uint32_t pc) {
    for (uint32_t slot = 0; slot < races->machine->slots_used; slot++)
        if (races->machine->slot_places[slot] >> 32 == ring) {
            race->unseen = true;
            race->unseen_by_all = !waits_on(races->machine->program, UINT32_MAX, ring);
            race->guard = slot;
            race->guard_arrive_pc = pc;
            return true;
        }
    return false;
}

/* Where an access at `pc` is reported, by the op itself or by an arrival after it, on a ring for which `other`
 * (UINT32_MAX: anybody) never waits. */
static bool find_unseen_from(const Races *races, Race *race, uint32_t strand, uint32_t pc, uint32_t other) {
    const Program *program = races->machine->program;
    for (uint32_t at = pc, end = strand_end(program, strand); at < end; at++)
        for (uint32_t i = 0; program->code[at].code == CODE_EFFECTS && i < program->code[at].a; i++) {
            const Effect *effect = &program->effects[program->code[at].aux + i].effect;
            bool reports = effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_EXPECT ||
                           (effect->verb == EFFECT_COMPLETE && at == pc);
            uint64_t ring = reports ? ring_under(program, effect) : UINT64_MAX;
            if (ring != UINT64_MAX && !waits_on(program, at == pc ? other : UINT32_MAX, ring) &&
                set_unseen(races, race, ring, at))
                return true;
        }
    return false;
}

/* A barrier that is arrived on, and for which nobody waits, in either direction. */
static bool find_unseen(const Races *races, Race *race, uint32_t later, uint32_t earlier) {
    if (find_unseen_from(races, race, earlier, race->other_pc, UINT32_MAX))
        return true;
    race->unseen_later = find_unseen_from(races, race, later, race->pc, UINT32_MAX);
    return race->unseen_later;
}

void race_find_edge(const Races *races, Race *race, const ConsanConflict *conflict, const State *state) {
    const Guard *guards = races->guards[race->thread % CONSAN_BASE_ACTORS];
    uint32_t earlier = state->agents[race->other_thread % CONSAN_BASE_ACTORS].strand;
    uint32_t later = state->agents[race->thread % CONSAN_BASE_ACTORS].strand;
    int sure = race_find_report(races, race, conflict, earlier);
    /* Who reads what nobody has written yet should have come after this write. */
    if (race->kind == RACE_WAR && !consan_written(&races->engine, conflict->span) &&
        find_unseen_from(races, race, later, race->pc, earlier)) {
        race->unseen_later = true;
        return;
    }
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any; i++)
        if (find_early_release(races, race, &guards[i]))
            return;
    for (uint32_t i = 0; i < MOST_GUARDS && guards[i].any; i++)
        if (find_absence(races, race, &guards[i], earlier))
            return;
    if (!find_unseen(races, race, later, earlier) && sure < 3 && earlier != later)
        (void)find_unseen_from(races, race, earlier, race->other_pc, later);
}
