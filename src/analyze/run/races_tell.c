/* From the engine's objections to findings. */
#include "analyze/run/races_internal.h"

#include "analyze/telling/place.h"
#include "emulate/barrier_ops.h"

static const char *thread_text(const Machine *machine, uint32_t thread, Verdict *verdict) {
    Text text = {0};
    agent_name(machine, thread % CONSAN_BASE_ACTORS, (Helper)(thread / CONSAN_BASE_ACTORS), &text);
    return verdict_keep(verdict, &text);
}

static const char *span_text(const Races *races, const Machine *machine, uint32_t span, Verdict *verdict) {
    Text text = {0};
    if (span == UINT32_MAX) /* in registers */
        return "the result of an MMA";
    spans_describe(races->spans, machine, span, &text);
    return verdict_keep(verdict, &text);
}

static const char *barrier_text(const Machine *machine, uint32_t barrier, Verdict *verdict) {
    Text text = {0};
    barrier_name(machine, barrier, &text);
    return verdict_keep(verdict, &text);
}

/* Whose the earlier access is. That the arrival of cp.async is made by a copy engine is for the engine alone. */
static const char *earlier_text(const Machine *machine, const Race *race, Verdict *verdict) {
    bool copies = race->arrives && race->other_thread / CONSAN_BASE_ACTORS == HELPER_TMA;
    return thread_text(machine, copies ? race->other_thread % CONSAN_BASE_ACTORS : race->other_thread, verdict);
}

/* What each of the two does: "reads", "writes". */
static const char *later_verb(const Race *race) {
    return race_is_exit(race)                                                         ? "ends"
           : race->span == UINT32_MAX                                                 ? "uses"
           : race->frees                                                              ? "frees"
           : race->kind == RACE_RAW || (race->kind == RACE_INFLIGHT && !race->writes) ? "reads"
                                                                                      : "writes";
}

static const char *earlier_verb(const Race *race) {
    bool writes = race->kind == RACE_RAW || race->kind == RACE_WAW ||
                  (race->kind == RACE_INFLIGHT && race->group == GROUP_CP_ASYNC) || race->earlier_writes;
    return race->span == UINT32_MAX ? "computes" : race->arrives ? "arrives on" : writes ? "writes" : "reads";
}

static void explain_group(const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    static const char *const names[] = {"", "cp.async", "bulk", "wgmma", "TMA store", "async", "tensor"};
    finding->why = verdict_text(
        verdict, "Until the %s group at IR line %u is waited for, it goes on; no wait before this access covers it.",
        names[race->group], line_at(machine, race->other_pc));
    finding->fix = verdict_text(
        verdict, "Wait for that %s group (leaving few enough groups pending) before this access%s.", names[race->group],
        race->thread % CONSAN_BASE_ACTORS != race->other_thread % CONSAN_BASE_ACTORS
            ? ", and hand over through a barrier"
            : "");
}

/* The wait that should have covered the earlier access was passed on arrivals of others alone. */
static void explain_without(const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    const char *waiter = thread_text(machine, race->thread % CONSAN_BASE_ACTORS, verdict);
    const char *absent = thread_text(machine, race->other_thread % CONSAN_BASE_ACTORS, verdict);
    const char *barrier = barrier_text(machine, race->guard, verdict);
    Text text = {0};
    for (uint32_t i = 0; i < race->instead_count; i++) {
        text_addf(&text, i == 0 ? "" : i + 1 == race->instead_count ? " and " : ", ");
        agent_name(machine, race->instead[i].agent, HELPER_BASE, &text);
        text_addf(&text, " at IR line %u", line_at(machine, race->instead[i].pc));
    }
    const char *others = verdict_keep(verdict, &text);
    finding->why = verdict_text(
        verdict,
        "%s did wait for %s, at IR line %u, but that phase was complete without %s, which arrives on it at IR line %u: "
        "what came was %s.",
        waiter, barrier, line_at(machine, race->guard_wait_pc), absent, line_at(machine, race->guard_arrive_pc),
        others);
    finding->fix = verdict_text(verdict,
                                "Make the count of %s the number of arrivals of one phase, and let whoever arrives "
                                "there for another reason, or once more, have a barrier of its own.",
                                barrier);
}

/* One of the two is reported where the other one's agent does not look, or not in time. */
static void explain_unseen(const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    uint32_t from = race->unseen_later ? race->thread : race->other_thread;
    uint32_t to = race->unseen_later ? race->other_thread : race->thread;
    Text text = {0};
    channel_name(machine, race->guard, &text);
    const char *ring = verdict_keep(verdict, &text), *waiter = thread_text(machine, to % CONSAN_BASE_ACTORS, verdict);
    uint32_t line = line_at(machine, race->unseen_later ? race->pc : race->other_pc);
    uint32_t before = line_at(machine, race->unseen_later ? race->other_pc : race->pc);
    const char *what =
        verdict_text(verdict, "What %s does at IR line %u is reported on %s, at IR line %u",
                     thread_text(machine, from, verdict), line, ring, line_at(machine, race->guard_arrive_pc));
    if (race->unseen_by_all)
        finding->why = verdict_text(verdict, "%s, and nobody waits for %s.", what, ring);
    else if (race->guard_wait_pc == NO_PC)
        finding->why = verdict_text(verdict, "%s, and %s waits neither for that nor for anything after such a wait.",
                                    what, waiter);
    else
        finding->why = verdict_text(
            verdict, "%s. %s has not waited for that before IR line %u: its wait for %s, at IR line %u, %s.", what,
            waiter, before, ring, line_at(machine, race->guard_wait_pc),
            race->guard_passed                               ? "was passed before that arrival comes"
            : line_at(machine, race->guard_wait_pc) > before ? "comes after the access"
                                                             : "does not cover it");
    const char *how = race->unseen_by_all            ? ""
                      : race->guard_wait_pc == NO_PC ? ", or for an arrival of somebody who has,"
                                                     : ", with the parity of that phase,";
    finding->fix =
        verdict_text(verdict, "Let %s wait for %s (this slot, this phase)%s before the access at IR line %u.", waiter,
                     ring, how, before);
}

/* What is in flight when a CTA ends. */
static const char *flight_text(const Race *race) {
    static const char *const helpers[] = {"asynchronous copy", "TMA copy", "MMA", "request for the next CTA's work"};
    return race->kind == RACE_EXIT_STORE ? "store"
           : race->group == GROUP_WGMMA  ? "wgmma"
                                         : helpers[race->other_thread / CONSAN_BASE_ACTORS];
}

static void explain_exit(const Races *races, const Machine *machine, const Race *race, Finding *finding,
                         Verdict *verdict) {
    const char *who = race->kind == RACE_EXIT_STORE ? thread_text(machine, race->thread, verdict) : "the CTA";
    uint32_t line = line_at(machine, race->other_pc);
    if (race->arrives)
        finding->message = verdict_text(verdict, "%s ends while the arrival at IR line %u is still on its way to %s",
                                        who, line, span_text(races, machine, race->span, verdict));
    else
        finding->message =
            verdict_text(verdict, "%s ends while the %s at IR line %u still %s %s", who, flight_text(race), line,
                         race->earlier_writes ? "writes" : "reads", span_text(races, machine, race->span, verdict));
    if (race->group != GROUP_NONE)
        finding->why = "No wait covers its group.";
    else if (race->barrier == UINT32_MAX)
        finding->why = "It is reported on no barrier, so that nobody can have waited for it.";
    else
        finding->why = verdict_text(
            verdict, "It is reported on %s, in a phase of parity %u, and nobody has waited for that phase.",
            barrier_text(machine, race->barrier, verdict), race->parity);
    bool product = race->group == GROUP_WGMMA || race->other_thread / CONSAN_BASE_ACTORS == HELPER_TENSOR;
    finding->fix =
        race->kind == RACE_EXIT_STORE ? "Wait for the store's group, with no group left pending, before the end."
        : race->arrives               ? "Wait for that phase before the end, or leave the arrival out."
        : product
            ? "Wait for it before the end (for a commit after it, or for its group)."
            : "Wait for it before the end; or do not issue it: a prefetch past the last tile can be predicated off.";
}

static void explain(const Races *races, const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    const char *who = thread_text(machine, race->thread, verdict), *other = earlier_text(machine, race, verdict);
    const char *waiter = thread_text(machine, race->thread % CONSAN_BASE_ACTORS, verdict); /* helpers do not wait */
    const char *issuer = thread_text(machine, race->other_thread % CONSAN_BASE_ACTORS, verdict);
    const char *what = span_text(races, machine, race->span, verdict);
    const char *access = race->arrives ? "arrival" : race->kind == RACE_WAR ? "read" : "write";
    uint32_t line = line_at(machine, race->other_pc);
    if (race->kind == RACE_OVERWRITTEN) {
        const char *barrier = barrier_text(machine, race->barrier, verdict);
        finding->message = verdict_text(verdict, "%s writes over %s, a barrier that is in use", who, barrier);
        finding->why = verdict_text(
            verdict, "The write covers the eight bytes of %s, which was initialized and not invalidated since.",
            barrier);
        finding->fix =
            "Invalidate the barrier before its bytes are used for something else, or give the data memory of its own.";
        return;
    }
    if (race_is_exit(race)) {
        explain_exit(races, machine, race, finding, verdict);
        return;
    }
    if (race->pc == race->other_pc && race->thread == race->other_thread)
        finding->message =
            verdict_text(verdict, "%s %s %s, which the same op %s a turn earlier, and nothing orders the two", who,
                         later_verb(race), what, earlier_verb(race));
    else if (race->arrives)
        finding->message =
            verdict_text(verdict, "%s %s %s while the arrival at IR line %u, of %s, may still be on its way there", who,
                         later_verb(race), what, line, other);
    else
        finding->message = verdict_text(verdict, "%s %s %s, which %s %s at IR line %u, and nothing orders the two", who,
                                        later_verb(race), what, other, earlier_verb(race), line);
    if (race->kind == RACE_INFLIGHT) {
        explain_group(machine, race, finding, verdict);
    } else if (race->released_early) {
        const char *barrier = barrier_text(machine, race->guard, verdict);
        uint32_t arrive = line_at(machine, race->guard_arrive_pc);
        finding->why = verdict_text(
            verdict,
            "%s did wait for %s, at IR line %u, but %s had arrived on it at IR line %u, before the %s of IR "
            "line %u: the wait does not cover that.",
            waiter, barrier, line_at(machine, race->guard_wait_pc), issuer, arrive, access, line);
        finding->fix = verdict_text(
            verdict,
            "Move the arrive at IR line %u behind the %s at IR line %u; if that arrive is about another slot, "
            "wait for the slot that is accessed here.",
            arrive, access, line);
    } else if (race->without) {
        explain_without(machine, race, finding, verdict);
    } else if (race->unseen) {
        explain_unseen(machine, race, finding, verdict);
    } else if (race->barrier != UINT32_MAX) {
        const char *barrier = barrier_text(machine, race->barrier, verdict);
        finding->why = verdict_text(
            verdict,
            "The %s at IR line %u is first reported by an arrival on %s, in a phase of parity %u, and %s has not "
            "waited for that phase.",
            access, line, barrier, race->parity, waiter);
        finding->fix = verdict_text(
            verdict,
            "Let %s wait for %s with parity %u before this access, or for something that comes after such a wait; "
            "if it waits for an earlier arrival already, move that arrival behind the %s.",
            waiter, barrier, race->parity, access);
    } else {
        finding->why = verdict_text(
            verdict, "After the %s at IR line %u, %s has arrived on no barrier that %s has waited for since.", access,
            line, issuer, waiter);
        finding->fix = verdict_text(
            verdict,
            "Let %s arrive on a barrier after that access (or commit, for the tensor core), and %s wait for it "
            "before this one.",
            issuer, waiter);
    }
    if (race->by_order)
        finding->why =
            verdict_text(verdict,
                         "%s It depends on the order in which the tensor core works: if MMAs complete in the order of "
                         "their issue, the two are ordered.",
                         finding->why);
}

/* An op that may order the two makes the verdict incomplete. */
static void report_doubt(const Races *races, const Machine *machine, const Race *race, Verdict *verdict) {
    const char *who = thread_text(machine, race->thread, verdict),
               *other = thread_text(machine, race->other_thread, verdict);
    const char *reason =
        verdict_text(verdict,
                     "what it does is not known, and may order two accesses that nothing else orders: %s %s %s at IR "
                     "line %u, which %s %s at IR line %u",
                     who, later_verb(race), span_text(races, machine, race->span, verdict), line_at(machine, race->pc),
                     other, earlier_verb(race), line_at(machine, race->other_pc));
    op_incomplete(machine->program->module, race->doubt.op, reason, verdict);
}

Finding *races_report(const Races *races, const Machine *machine, uint32_t index, Verdict *verdict) {
    static const RuleId rules[] = {
        RULE_RACE_RAW,        RULE_RACE_WAR, RULE_RACE_WAW, RULE_RACE_INFLIGHT, RULE_BARRIER_OVERWRITTEN,
        RULE_RACE_EXIT_STORE, RULE_RACE_EXIT};
    const Race *race = &races->found[index];
    if (race->doubt.op) {
        /* What would be no more than a note leaves nothing open. */
        if (rule_of(rules[race->kind])->severity != SEVERITY_NOTE)
            report_doubt(races, machine, race, verdict);
        return NULL;
    }
    Finding *finding = verdict_finding(verdict);
    finding->rule = rules[race->kind];
    finding->space = race->span == UINT32_MAX                                ? "register"
                     : spans_space(races->spans, race->span) == SPACE_TENSOR ? "tensor"
                                                                             : "shared";
    explain(races, machine, race, finding, verdict);
    finding->times = race->times;
    const char *agent = thread_text(machine, race->thread, verdict), *other = earlier_text(machine, race, verdict);
    FindingPlace *places = finding_places(verdict, finding, 2 + 2 * race->more_count);
    /* Where it ends says little: what is in flight then comes first. */
    FindingPlace *later = &places[race_is_exit(race)], *earlier = &places[!race_is_exit(race)];
    place_set(machine, later, later_verb(race), agent, race->pc, verdict);
    place_set(machine, earlier, earlier_verb(race), other, race->other_pc, verdict);
    earlier->note = span_text(races, machine, race->span, verdict);
    if (!race_is_exit(race))
        later->note = earlier->note;
    size_t count = 2;
    for (uint32_t i = 0; i < race->more_count; i++) { /* of each op only what was not named yet */
        const uint32_t pcs[] = {race->more[i].pc, race->more[i].other_pc};
        for (unsigned k = 0; k < 2; k++) {
            bool named = false;
            for (size_t n = 0; n < count; n++)
                named |= places[n].ir_line == line_at(machine, pcs[k]);
            if (!named)
                place_set(machine, &places[count++], k ? earlier_verb(race) : later_verb(race), k ? other : agent,
                          pcs[k], verdict);
        }
    }
    finding->place_count = race->kind == RACE_OVERWRITTEN ? 1 : count;
    return finding;
}

void races_print(const Races *races, const Machine *machine, Text *to) {
    const Consan *engine = &races->engine;
    text_addf(to, "%u span%s, %u barriers\n", engine->spans, plural(engine->spans), races->late_first);
    for (uint32_t span = 0; span < engine->spans; span++) {
        text_addf(to, "span %u: ", span);
        spans_describe(races->spans, machine, span, to);
        text_addf(to, "\n  writeVisibility %016llx", (unsigned long long)consan_write_visibility(engine, span));
        for (uint32_t thread = 0; thread < CONSAN_ACTORS; thread++) {
            uint64_t seen = consan_read_visibility(engine, thread, span);
            if (seen)
                text_addf(to, "\n  readVisibility[%u] %016llx", thread, (unsigned long long)seen);
        }
        for (uint32_t barrier = 0; barrier < races->named; barrier++)
            for (uint32_t parity = 0; parity < CONSAN_PHASES; parity++) {
                bool write = consan_write_tracking(engine, barrier, parity, span);
                uint64_t reads = consan_read_tracking(engine, barrier, parity, span);
                if (!write && !reads)
                    continue;
                text_addf(to, "\n  tracked by ");
                barrier_name(machine, barrier, to);
                text_addf(to, " parity %u: write %u, reads %016llx", parity, write, (unsigned long long)reads);
            }
        for (uint32_t group = 0; group < CONSAN_GROUPS; group++)
            for (uint32_t base = 0; base < CONSAN_BASE_ACTORS; base++) {
                int entry = consan_outstanding_commits(engine, (ConsanGroup)group, base, span);
                static const char *const names[] = {"copy", "wgmma", "store"};
                if (entry)
                    text_addf(to, "\n  outstandingCommits[%s][%u] %d", names[group], base, entry);
            }
        text_char(to, '\n');
    }
}
