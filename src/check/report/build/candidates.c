/* What a count of arrives and waits would suspect, and what it really is by the phase model: a wait takes nothing away,
 * so numbers that do not match are a question and never an answer. */
#include "check/report/build/internal.h"

typedef struct Candidates {
    Builder *builder;
    ReportCandidate *items;
    uint32_t count, capacity;
} Candidates;

/* Returns its places, which are to be filled in. */
static ReportPlace *add(Candidates *candidates, size_t barrier, const char *verdict, size_t places, const char *counts,
                        const char *why) {
    Builder *builder = candidates->builder;
    ReportPlace *list = ARENA_ARRAY(builder->arena, ReportPlace, places + 1);
    *ARENA_PUSH(builder->arena, candidates->items, candidates->count, candidates->capacity) =
        (ReportCandidate){.barrier = builder->barriers[barrier].name,
                          .counts = counts,
                          .verdict = verdict,
                          .why = why,
                          .places = list,
                          .place_count = places};
    return list;
}

/* What one agent does at a ring. */
typedef struct CandidateTally {
    uint64_t waits, at_once, again, own;
    uint64_t flips;        /* of the slots that it waits for */
    size_t ops;            /* that wait */
    const Seen *redundant; /* one that sees what was seen before */
    const Seen *other;     /* another op that waits */
} CandidateTally;

/* Phases of the slots that an agent waits for. */
static uint64_t flips_for(const Sights *sights, uint32_t index, uint32_t agent) {
    enum { MOST_SLOTS = 256 };
    const Ring *ring = &sights->rings[index];
    bool waited[MOST_SLOTS] = {false};
    uint64_t flips = 0;
    if (!ring->slot_flips || ring->depth > MOST_SLOTS)
        return ring->flips;
    for (const Seen *seen = seen_first(sights, index); seen; seen = seen_next(sights, seen)) {
        for (size_t k = 0; k < seen->count && seen->agent == agent && seen->kind == SIGHT_WAIT; k++)
            if (seen->sightings[k].slot < ring->depth)
                waited[seen->sightings[k].slot] = true;
    }
    for (int64_t i = 0; i < ring->depth; i++)
        flips += waited[i] ? ring->slot_flips[i] : 0;
    return flips;
}

static CandidateTally tally(const Sights *sights, uint32_t ring, uint32_t agent) {
    CandidateTally tally = {.flips = flips_for(sights, ring, agent)};
    for (const Seen *seen = seen_first(sights, ring); seen; seen = seen_next(sights, seen)) {
        if (seen->agent != agent || seen->kind != SIGHT_WAIT)
            continue;
        tally.waits += seen->times;
        tally.at_once += seen->at_once;
        tally.again += seen->again;
        tally.own += seen->own;
        tally.ops++;
        if (seen->again && (!tally.redundant || seen->again > tally.redundant->again))
            tally.redundant = seen;
    }
    const Seen *first = tally.redundant ? seen_first(sights, ring) : NULL;
    for (const Seen *seen = first; seen; seen = seen_next(sights, seen)) {
        if (seen->agent == agent && seen->kind == SIGHT_WAIT && seen != tally.redundant)
            tally.other = seen;
    }
    return tally;
}

/* Whether two waits for one ring always look for different parities. */
static bool are_opposite(const Ring *ring, const Seen *one, const Seen *other) {
    Fit a = fit_sequence(one->sightings, one->count, (uint32_t)ring->depth, true);
    Fit b = fit_sequence(other->sightings, other->count, (uint32_t)ring->depth, true);
    return a.found && b.found && a.start == b.start && a.stride == b.stride && a.inverted != b.inverted;
}

static void explain_redundant(Candidates *candidates, const Ring *ring, uint32_t agent, const CandidateTally *tally,
                              size_t barrier) {
    Builder *builder = candidates->builder;
    Verdict *verdict = builder->verdict;
    const Seen *seen = tally->redundant;
    const char *counts =
        verdict_text(verdict, "%llu waits of %s on %llu phase%s", (unsigned long long)tally->waits,
                     builder_agent(builder, agent), (unsigned long long)tally->flips, plural(tally->flips));
    const char *why = verdict_text(
        verdict,
        "%llu of the %llu waits at IR line %u are for a phase that %s had already waited for%s; they return at "
        "once, consume nothing, and are harmless.",
        (unsigned long long)seen->again, (unsigned long long)seen->times, op_line(builder->module, seen->op),
        builder_agent(builder, agent),
        tally->other ? verdict_text(verdict, " (at IR line %u%s)", op_line(builder->module, tally->other->op),
                                    are_opposite(ring, seen, tally->other) ? ", which polls the opposite parity" : "")
                     : "");
    ReportPlace *places = add(candidates, barrier, "redundant", tally->other ? 2 : 1, counts, why);
    places[0] = builder_place(builder, seen->op);
    places[0].times = seen->again;
    if (tally->other) {
        places[1] = builder_place(builder, tally->other->op);
        places[1].times = tally->other->times;
    }
}

/* Who completed the first phases before anything was waited for. */
static const char *priming_text(Candidates *candidates, const Ring *ring) {
    Builder *builder = candidates->builder;
    const Seen *first = NULL;
    for (first = seen_at(builder->sights, ring->first); first && !first->primes;)
        first = seen_next(builder->sights, first);
    return verdict_text(builder->verdict,
                        "its first phase%s complete in advance, by what %s does at IR line %u, so the first waits "
                        "pass",
                        ring->depth > 1 ? "s are" : " is", first ? builder_agent(builder, first->agent) : "",
                        first ? op_line(builder->module, first->op) : 0);
}

/* Waits and phases that differ in number, and nothing else. */
static void explain_balance(Candidates *candidates, uint32_t ring, uint32_t agent, const CandidateTally *tally) {
    Builder *builder = candidates->builder;
    size_t barrier = builder->ring_barriers[ring];
    Verdict *verdict = builder->verdict;
    uint64_t seen = tally->waits - tally->at_once - tally->again;
    uint64_t left = tally->flips > seen ? tally->flips - seen : 0;
    bool one_shot = tally->at_once == tally->waits;
    bool primed = builder->sights->rings[ring].primed;
    const char *counts =
        verdict_text(verdict, "%llu wait%s of %s, %llu phase%s", (unsigned long long)tally->waits, plural(tally->waits),
                     builder_agent(builder, agent), (unsigned long long)tally->flips, plural(tally->flips));
    const char *first = primed ? priming_text(candidates, &builder->sights->rings[ring])
                        : tally->at_once == 1
                            ? "the first wait passes on the fresh barrier (parity 1)"
                            : verdict_text(verdict, "the first %llu waits pass on the fresh barrier (parity 1)",
                                           (unsigned long long)tally->at_once);
    const char *last = left == 1 ? "the last phase completes and is never waited for"
                                 : verdict_text(verdict, "the last %llu phases complete and are never waited for",
                                                (unsigned long long)left);
    bool starts = primed || tally->at_once;
    const char *why = one_shot
                          ? "every wait passes on the fresh barrier, since it asks for parity 1 before any phase is "
                            "complete; it needs no arrival."
                      : starts && left ? verdict_text(verdict, "%s; %s.", first, last)
                      : starts         ? verdict_text(verdict, "%s.", first)
                                       : verdict_text(verdict, "%s.", last);
    add(candidates, barrier, one_shot ? "one-shot" : primed ? "primed" : "balanced", 0, counts, why);
}

/* Which of those that wait forever waits for the ring, from 0, as a finding has them: the first explains the others;
 * SIZE_MAX: none does. */
static size_t blocked_there(const Builder *builder, uint32_t ring) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < builder->verdict->finding_count; i++) {
        const Finding *finding = &builder->verdict->findings[i];
        for (size_t k = 0; k < finding->blocked_count && k < found; k++)
            for (const Seen *seen = seen_first(builder->sights, ring); seen; seen = seen_next(builder->sights, seen)) {
                if (seen->kind == SIGHT_WAIT && op_line(builder->module, seen->op) == finding->blocked[k].place.ir_line)
                    found = k;
            }
    }
    return found;
}

/* Counts are those of the run that hangs, where that is the one that is shown. */
static void add_deadlock(Candidates *candidates, uint32_t index, bool first) {
    Builder *builder = candidates->builder;
    const Ring *ring = &builder->sights->rings[index];
    for (size_t i = 0; builder->hung && i < builder->hung->ring_count; i++) {
        const Ring *hung = &builder->hung->rings[i];
        if (hung->root == ring->root && hung->side == ring->side && hung->id == ring->id)
            ring = hung;
    }
    const char *counts =
        verdict_text(builder->verdict, "%llu wait%s passed, %llu phase%s", (unsigned long long)ring->waits,
                     plural(ring->waits), (unsigned long long)ring->flips, plural(ring->flips));
    add(candidates, builder->ring_barriers[index], "deadlock", 0, counts,
        first ? "a wait on it is blocked forever: see the table above."
              : "a wait on it is blocked too, because of the first one in the table above.");
}

static void look_at_agent(Candidates *candidates, uint32_t index, uint32_t agent) {
    Builder *builder = candidates->builder;
    const Ring *ring = &builder->sights->rings[index];
    size_t barrier = builder->ring_barriers[index];
    CandidateTally found = tally(builder->sights, index, agent);
    if (!found.waits)
        return;
    if (found.again) {
        explain_redundant(candidates, ring, agent, &found, barrier);
    } else if (found.own == found.waits && !ring->primed) {
        add(candidates, barrier, "own", 0,
            verdict_text(builder->verdict, "%llu wait%s", (unsigned long long)found.waits, plural(found.waits)),
            verdict_text(
                builder->verdict,
                "%s waits for phases that it completes itself: it waits for its own asynchronous work, or for nothing.",
                builder_agent(builder, agent)));
    } else if (found.waits != found.flips && builder->sights->end != RUN_STUCK) {
        explain_balance(candidates, index, agent, &found);
    }
}

static void look_at_ring(Candidates *candidates, uint32_t index) {
    Builder *builder = candidates->builder;
    const Ring *ring = &builder->sights->rings[index];
    size_t barrier = builder->ring_barriers[index];
    size_t blocked = blocked_there(builder, index);
    if (blocked != SIZE_MAX) {
        add_deadlock(candidates, index, !blocked);
        return;
    }
    if (!ring->waits && builder->sights->end == RUN_STUCK && builder->barriers[barrier].wait_count)
        return; /* it did not come to that */
    if (!ring->waits && (ring->arrivals || ring->flips)) {
        add(candidates, barrier, "unused", 0,
            verdict_text(builder->verdict, "no wait, %llu arrival%s", (unsigned long long)ring->arrivals,
                         plural(ring->arrivals)),
            "nothing waits on it, so nothing can hang on it; if a wait is missing, the coverage tables show what is "
            "unordered.");
        return;
    }
    if (!ring->waits) {
        add(candidates, barrier, "unused", 0, "no wait, no arrival",
            "it is initialized and not used in this run, which is harmless.");
        return;
    }
    for (uint32_t agent = 0; agent < builder->machine->program->agents_per_cta; agent++)
        look_at_agent(candidates, index, agent);
}

/* Named barriers: an agent that only arrives, and before its first turn, lets the others begin. */
static void look_at_named(Candidates *candidates, uint32_t index) {
    Builder *builder = candidates->builder;
    const Sights *sights = builder->sights;
    const Ring *ring = &sights->rings[index];
    uint64_t arrives = 0;
    const Seen *first = NULL;
    size_t blocked = blocked_there(builder, index);
    if (blocked != SIZE_MAX) {
        add_deadlock(candidates, index, !blocked);
        return;
    }
    for (const Seen *seen = seen_first(sights, index); seen; seen = seen_next(sights, seen)) {
        if (seen->kind == SIGHT_WAIT || agent_cta(builder->machine, seen->agent))
            continue;
        arrives += seen->times;
        first = first && first->moments[0] <= seen->moments[0] ? first : seen;
    }
    if (!first || !ring->waits || arrives <= ring->waits || ring->id < 0)
        return;
    const char *counts = verdict_text(builder->verdict, "%llu arrives, %llu wait%s", (unsigned long long)arrives,
                                      (unsigned long long)ring->waits, plural(ring->waits));
    const char *why = verdict_text(builder->verdict,
                                   "%s arrives first at IR line %u, which lets the others start; as many arrivals "
                                   "are left over at the end, and nothing needs them.",
                                   builder_agent(builder, first->agent), op_line(builder->module, first->op));
    ReportPlace *places = add(candidates, builder->ring_barriers[index], "primed", 1, counts, why);
    places[0] = builder_place(builder, first->op);
    places[0].times = first->times;
}

void report_candidates(Builder *builder) {
    Candidates candidates = {.builder = builder};
    for (size_t i = 0; builder->sights && i < builder->sights->ring_count; i++) {
        if (builder->sights->rings[i].root)
            look_at_ring(&candidates, (uint32_t)i);
        else
            look_at_named(&candidates, (uint32_t)i);
    }
    builder->report->candidates = candidates.items;
    builder->report->candidate_count = candidates.count;
}
