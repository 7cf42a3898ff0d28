/* From the engine's objections to findings. */
#include "check/tile/run/races_internal.h"

#include "check/explain/explain.h"
#include "check/explain/place.h"
#include "machine/tile/schedule/barrier_ops.h"
#include "model/names/names.h"
#include "model/number/expression.h"

static const char *thread_text(const Machine *machine, uint32_t thread, Verdict *verdict) {
    Text text = {0};
    agent_name(machine, consan_agent(thread), race_helper(thread), &text);
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

/* An agent itself, where one of its helpers may have been meant. */
static uint32_t issuer_of(uint32_t thread) {
    return consan_base(consan_agent(thread));
}

/* Whose the earlier access is. That the arrival of cp.async is made by a TMA unit is for the engine alone. */
static const char *earlier_text(const Machine *machine, const Race *race, Verdict *verdict) {
    bool copies = race->arrives && race_helper(race->other_thread) == HELPER_TMA;
    return thread_text(machine, copies ? issuer_of(race->other_thread) : race->other_thread, verdict);
}

static bool later_reads(const Race *race) {
    return race->kind == RACE_RAW || (race_is_inflight(race) && !race->writes);
}

/* What each of the two does: "reads", "writes". */
static const char *later_verb(const Race *race) {
    return race_is_exit(race)         ? "ends"
           : race->span == UINT32_MAX ? "uses"
           : race->frees              ? "frees"
           : later_reads(race)        ? "reads"
                                      : "writes";
}

static const char *later_noun(const Race *race) {
    return race->span == UINT32_MAX ? "use" : later_reads(race) ? "read" : "write";
}

static const char *earlier_verb(const Race *race) {
    bool writes = race->kind == RACE_RAW || race->kind == RACE_WAW ||
                  (race_is_inflight(race) && race->group == GROUP_CP_ASYNC) || race->earlier_writes;
    return race->span == UINT32_MAX ? "computes" : race->arrives ? "arrives on" : writes ? "writes" : "reads";
}

static const char *access_text(const Race *race) {
    return race->arrives ? "arrival" : strcmp(earlier_verb(race), "reads") == 0 ? "read" : "write";
}

/* What every explanation of it names. */
static Facts facts_of(const Races *races, const Machine *machine, const Race *race, Verdict *verdict) {
    Facts facts = {.agent = thread_text(machine, race->thread, verdict),
                   .verb = later_verb(race),
                   .noun = later_noun(race),
                   .object = span_text(races, machine, race->span, verdict),
                   .other = earlier_text(machine, race, verdict),
                   .other_verb = earlier_verb(race),
                   .other_noun = access_text(race),
                   .waiter = thread_text(machine, issuer_of(race->thread), verdict), /* helpers do not wait */
                   .issuer = thread_text(machine, issuer_of(race->other_thread), verdict),
                   .here = ir_line_text(machine, race->pc, verdict),
                   .place = ir_line_text(machine, race->other_pc, verdict),
                   .last = "unordered accesses to",
                   .parity = race->parity};
    bool guarded = race->released_early || race->without || race->unseen;
    if (guarded || race->barrier != UINT32_MAX)
        facts.barrier = barrier_text(machine, guarded ? race->guard : race->barrier, verdict);
    if (guarded)
        facts.arrive = ir_line_text(machine, race->guard_arrive_pc, verdict);
    if (guarded && race->guard_wait_pc != NO_PC)
        facts.wait = ir_line_text(machine, race->guard_wait_pc, verdict);
    return facts;
}

static CauseId explain_group(const Race *race, Facts *facts) {
    static const char *const names[] = {"", "cp.async", "bulk", "wgmma", "TMA store", "async", "tensor"};
    facts->more = names[race->group];
    if (consan_agent(race->thread) != consan_agent(race->other_thread))
        facts->detail = ", and synchronize through a barrier";
    return CAUSE_GROUP;
}

/* The wait that should have covered the earlier access was passed on arrivals of others alone. */
static CauseId explain_without(const Machine *machine, const Race *race, Verdict *verdict, Facts *facts) {
    Text text = {0};
    for (uint32_t i = 0; i < race->instead_count; i++) {
        text_addf(&text, i == 0 ? "" : i + 1 == race->instead_count ? " and " : ", ");
        text_addf(&text, "%s",
                  explain_agent(verdict, thread_text(machine, consan_base(race->instead[i].agent), verdict)));
        text_addf(&text, " at IR line %u", line_at(machine, race->instead[i].pc));
    }
    facts->detail = verdict_keep(verdict, &text);
    return CAUSE_COMPLETED_WITHOUT;
}

/* One of the two is reported where the other one's agent does not look, or not in time. */
static CauseId explain_unseen(const Machine *machine, const Race *race, Verdict *verdict, Facts *facts) {
    Text ring = {0};
    if (race->unseen_later) {
        const char *place = facts->place;
        facts->waiter = facts->issuer;
        facts->other = facts->agent;
        facts->place = facts->here;
        facts->here = place;
    } else {
        facts->other = thread_text(machine, race->other_thread, verdict);
    }
    channel_name(machine, race->guard, &ring);
    facts->barrier = verdict_keep(verdict, &ring);
    if (race->unseen_by_all) {
        facts->detail = explain_text(verdict, ", and nothing waits for {barrier}", facts);
    } else if (race->guard_wait_pc == NO_PC) {
        facts->detail = explain_text(verdict,
                                     ", and {waiter} waits neither for that signal nor for anything ordered after "
                                     "it",
                                     facts);
        facts->more = ", or for an arrival of an agent that has waited on it,";
    } else {
        uint32_t before = line_at(machine, race->unseen_later ? race->other_pc : race->pc);
        facts->last = race->guard_passed                               ? "passes before that arrival"
                      : line_at(machine, race->guard_wait_pc) > before ? "comes after the access"
                                                                       : "does not cover it";
        facts->detail =
            explain_text(verdict,
                         ". Before {here}, {waiter} has not waited for this signal: its wait on {barrier}, at {wait}, "
                         "{last}",
                         facts);
        facts->more = ", with the parity of that phase,";
    }
    return CAUSE_UNSEEN;
}

/* What is in flight when a CTA ends. */
static const char *outstanding_text(const Race *race) {
    static const char *const helpers[] = {"asynchronous copy", "TMA copy", "MMA", "request for the next CTA's work"};
    return race->kind == RACE_EXIT_STORE ? "store"
           : race->group == GROUP_WGMMA  ? "wgmma"
                                         : helpers[race_helper(race->other_thread)];
}

static CauseId explain_exit(const Machine *machine, const Race *race, Verdict *verdict, Facts *facts) {
    bool product = race->group == GROUP_WGMMA || race_helper(race->other_thread) == HELPER_TENSOR;
    facts->agent = race->kind == RACE_EXIT_STORE ? facts->agent : "the CTA";
    facts->more = race->arrives ? "arrival" : outstanding_text(race);
    facts->last = explain_text(verdict,
                               race->arrives          ? "on {object} is still in flight"
                               : race->earlier_writes ? "still writes {object}"
                                                      : "still reads {object}",
                               facts);
    if (race->group != GROUP_NONE)
        facts->detail = "No wait covers its group.";
    else if (race->barrier == UINT32_MAX)
        facts->detail = "It signals no barrier, so nothing can wait for it.";
    else
        facts->detail =
            verdict_text(verdict, "It signals %s, in a phase of parity %u, and no wait for that phase has passed.",
                         barrier_text(machine, race->barrier, verdict), race->parity);
    facts->fix =
        race->kind == RACE_EXIT_STORE ? "Execute `ttng.async_tma_store_wait {pendings = 0 : i32}` before the end."
        : race->arrives               ? "Wait for that phase before the end, or remove the arrive."
        : product
            ? "Wait for it before the end (for a commit after it, or for its group)."
            : "Wait for it before the end, or do not issue it: for example, predicate off a prefetch past the last "
              "tile.";
    return CAUSE_EXITS;
}

/* Whether an instruction only issues its accesses, which are over later. */
static bool goes_on(const Machine *machine, uint32_t pc) {
    const Program *program = machine->program;
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        bool access = effect->verb == EFFECT_READ || effect->verb == EFFECT_WRITE || effect->verb == EFFECT_UPDATE;
        if (access && effect->done != DONE_NOW)
            return true;
    }
    return false;
}

/* The agents that come to each named barrier, as bits: one for each strand of a CTA. */
static uint64_t comers(const Machine *machine, int64_t id, bool waits) {
    const Program *program = machine->program;
    uint64_t found = 0;
    for (uint32_t s = 0; s < program->strand_count; s++)
        for (uint32_t pc = program->strands[s].entry, end = strand_end(program, s); pc < end; pc++)
            for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
                const Effect *effect = &program->effects[program->code[pc].aux + i].effect;
                int64_t named;
                if (effect_is_named(effect) && (!waits || effect->verb == EFFECT_NAMED_SYNC) &&
                    effect_named_id(effect, &named) && named == id)
                    found |= UINT64_C(1) << (program->strands[s].index % 64);
            }
    return found;
}

/* The two meet at a named barrier, and others come to it as well, so that it may be those who meet; false if that is
 * not so. */
static bool is_crowded(const Machine *machine, const Race *race, Facts *facts) {
    uint32_t agents = machine->program->agents_per_cta;
    uint64_t earlier = UINT64_C(1) << (consan_agent(race->other_thread) % agents % 64);
    uint64_t later = UINT64_C(1) << (consan_agent(race->thread) % agents % 64);
    for (int64_t id = 0; id < NAMED_BARRIERS; id++) {
        uint64_t all = comers(machine, id, false);
        if (!(all & earlier) || !(comers(machine, id, true) & later) || !(all & ~(earlier | later)))
            continue;
        facts->first = id;
        facts->second = __builtin_popcountll(all);
        return true;
    }
    return false;
}

/* How the IR computes the slot that a view is of; "" if it is of none. */
static const char *slot_text(const Machine *machine, const Value *view, Verdict *verdict) {
    const Value *slot = value_slot(view);
    Text text = {0};
    if (slot)
        expression_print(machine->program->module, slot, &text);
    return verdict_keep(verdict, &text);
}

/* A copy into one slot that reports to the barrier of another, as far as the IR shows: that is the likely cause,
 * no matter what else is there. */
static bool explain_copy(const Machine *machine, uint32_t pc, Finding *finding, Verdict *verdict) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(machine->program->module, machine->program->ops[pc], effects);
    const Effect *copy = effects_find(effects, count, EFFECT_COMPLETE);
    if (!copy || !copy->on || !copy->amount)
        return false;
    const char *data = slot_text(machine, copy->amount, verdict), *barrier = slot_text(machine, copy->on, verdict);
    if (!strchr(data, ' ') || !strchr(barrier, ' ') || strcmp(data, barrier) == 0)
        return false; /* constants pick barriers and buffers that need not go together */
    uint32_t line = line_at(machine, pc);
    finding->why = verdict_text(verdict,
                                "The copy at IR line %u writes slot %s, but completes on the barrier of slot %s. "
                                "%s",
                                line, data, barrier, finding->why);
    finding->fix =
        verdict_text(verdict,
                     "At IR line %u, copy into the slot on whose barrier the copy completes. If the two are the "
                     "same slot: %s",
                     line, finding->fix);
    return true;
}

/* What is accessed lies over what is in use: "scratch memory of `ttg.convert_layout`", or the name of an allocation. */
static const char *over_text(const Machine *machine, const Race *race, Verdict *verdict) {
    Text text = {0};
    if (allocation_find(&machine->program->allocations, race->over))
        name_print(machine->program->module, race->over, &text);
    else
        text_addf(&text, "its scratch memory");
    return verdict_keep(verdict, &text);
}

/* The work that still goes on in memory that others have got. */
static const char *work_text(const Race *race) {
    static const char *const groups[] = {
        [GROUP_CP_ASYNC] = "cp.async", [GROUP_WGMMA] = "wgmma", [GROUP_TMA_STORE] = "TMA store"};
    return race->group != GROUP_NONE ? groups[race->group] : race->arrives ? "arrival" : outstanding_text(race);
}

static CauseId explain_over(const Machine *machine, const Race *race, Verdict *verdict, Facts *facts) {
    bool apart = race->kind == RACE_APART;
    facts->next = over_text(machine, race, verdict);
    facts->more = apart ? "could be placed over" : "lies over";
    facts->last = strcmp(facts->other_verb, "reads") == 0 ? "reading" : "writing";
    facts->other_noun = work_text(race);
    facts->detail =
        apart ? "The last op that names the first buffer comes before this one, so its bytes are free. It is chance "
                "that the allocator places this memory elsewhere"
        : memory_is_placed(machine->program->function)
            ? "The two overlap in shared memory"
            : "The last op that names the first buffer comes before this one, so the allocator reuses its bytes";
    return CAUSE_LIES_OVER;
}

/* Nothing keeps a compiler from placing it there. */
static void report_may_lie(const Races *races, const Machine *machine, const Race *race, Verdict *verdict) {
    const char *reason = verdict_text(verdict,
                                      "%s may be placed over %s, where the %s at IR line %u may still be in flight; "
                                      "Weir does not know where the compiler places the two. Check the IR after "
                                      "memory allocation, or wait for the operation before this op",
                                      over_text(machine, race, verdict), span_text(races, machine, race->span, verdict),
                                      work_text(race), line_at(machine, race->other_pc));
    op_incomplete(machine->program->module, machine->program->ops[race->pc], reason, verdict);
}

/* The message if the row of the reason has none, and that. */
static CauseId reason_of(const Machine *machine, const Race *race, Verdict *verdict, Facts *facts) {
    if (race->kind == RACE_OVERWRITTEN)
        return CAUSE_OVERWRITTEN;
    if (race_is_exit(race))
        return explain_exit(machine, race, verdict, facts);
    if (race->over)
        return explain_over(machine, race, verdict, facts);
    if (race->group != GROUP_NONE)
        return explain_group(race, facts);
    if (race->released_early) /* the wait was for an arrival that came before the access was over */
        return race->other_pc < race->guard_arrive_pc && goes_on(machine, race->other_pc) ? CAUSE_RELEASED_RUNNING
                                                                                          : CAUSE_RELEASED_EARLY;
    if (race->without)
        return explain_without(machine, race, verdict, facts);
    if (race->unseen)
        return explain_unseen(machine, race, verdict, facts);
    if (race->barrier != UINT32_MAX)
        return CAUSE_SIGNALED;
    return is_crowded(machine, race, facts) ? CAUSE_CROWDED : CAUSE_UNSIGNALED;
}

static void explain_race(const Races *races, const Machine *machine, const Race *race, Finding *finding,
                         Verdict *verdict) {
    Facts facts = facts_of(races, machine, race, verdict);
    bool same = race->pc == race->other_pc && race->thread == race->other_thread;
    explain(verdict, finding, same ? CAUSE_RACE_SAME_OP : race->arrives ? CAUSE_RACE_ARRIVAL : CAUSE_RACE, &facts);
    CauseId reason = reason_of(machine, race, verdict, &facts);
    explain(verdict, finding, reason, &facts);
    if (race->kind == RACE_OVERWRITTEN || race_is_exit(race) || race->over)
        return;
    if (!explain_copy(machine, race->pc, finding, verdict))
        (void)explain_copy(machine, race->other_pc, finding, verdict);
    if (race->by_order)
        finding->why =
            verdict_text(verdict,
                         "%s This depends on the order in which the tensor core executes MMAs: if they complete in "
                         "issue order, the two accesses are ordered.",
                         finding->why);
}

/* An op that may order the two makes the verdict incomplete. */
static void report_doubt(const Races *races, const Machine *machine, const Race *race, Verdict *verdict) {
    const char *who = thread_text(machine, race->thread, verdict),
               *other = thread_text(machine, race->other_thread, verdict);
    const char *reason =
        verdict_text(verdict,
                     "its effects are not known; it may order two otherwise unordered accesses: %s %s %s at IR line "
                     "%u, which %s %s at IR line %u",
                     who, later_verb(race), span_text(races, machine, race->span, verdict), line_at(machine, race->pc),
                     other, earlier_verb(race), line_at(machine, race->other_pc));
    op_incomplete(machine->program->module, race->doubt.op, reason, verdict);
}

Finding *races_report(const Races *races, const Machine *machine, uint32_t index, Verdict *verdict) {
    static const RuleId rules[] = {RULE_RACE_RAW,        RULE_RACE_WAR,   RULE_RACE_WAW,
                                   RULE_RACE_INFLIGHT,   RULE_RACE_APART, RULE_BARRIER_OVERWRITTEN,
                                   RULE_RACE_EXIT_STORE, RULE_RACE_EXIT};
    const Race *race = &races->found[index];
    if (race->doubt.op) {
        /* What would be no more than a note leaves nothing open. */
        if (rule_of(rules[race->kind])->severity != SEVERITY_NOTE)
            report_doubt(races, machine, race, verdict);
        return NULL;
    }
    if (race_is_open(races, race)) {
        if (race->may_lie)
            report_may_lie(races, machine, race, verdict);
        return NULL;
    }
    Finding *finding = verdict_finding(verdict);
    finding->rule = rules[race->kind];
    finding->space = race->span == UINT32_MAX                                ? "register"
                     : spans_space(races->spans, race->span) == SPACE_TENSOR ? "tensor"
                                                                             : "shared";
    explain_race(races, machine, race, finding, verdict);
    finding->times = race->times;
    const char *agent = thread_text(machine, race->thread, verdict), *other = earlier_text(machine, race, verdict);
    FindingPlace *places = finding_places(verdict, finding, 2 + 2 * race->more_count);
    /* Where it ends says little: what is in flight then comes first. */
    FindingPlace *later = &places[race_is_exit(race)], *earlier = &places[!race_is_exit(race)];
    place_set(machine, later, later_verb(race), agent, race->pc, verdict);
    place_set(machine, earlier, earlier_verb(race), other, race->other_pc, verdict);
    earlier->note = span_text(races, machine, race->span, verdict);
    if (!race_is_exit(race))
        later->note = race->over ? over_text(machine, race, verdict) : earlier->note;
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
    flow_report(machine, race->way, verdict, finding);
    return finding;
}

/* Sets of actors, the first one first; those of a kernel of at most 16 agents are one mask. */
static void print_mask(const Races *races, Text *to, const char *what, const uint64_t *sets) {
    text_addf(to, "%s", what);
    for (uint32_t set = 0; set < consan_sets(&races->engine); set++)
        text_addf(to, " %016llx", (unsigned long long)sets[set]);
}

static bool any_in(const Races *races, const uint64_t *sets) {
    bool any = false;
    for (uint32_t set = 0; set < consan_sets(&races->engine); set++)
        any |= sets[set] != 0;
    return any;
}

static void print_visibility(const Races *races, uint32_t span, Text *to, uint64_t *sets) {
    const Consan *engine = &races->engine;
    for (uint32_t set = 0; set < consan_sets(engine); set++)
        sets[set] = consan_write_visibility(engine, span, set);
    print_mask(races, to, "\n  writeVisibility", sets);
    for (uint32_t actor = 0; actor < engine->actors; actor++) {
        for (uint32_t set = 0; set < consan_sets(engine); set++)
            sets[set] = consan_read_visibility(engine, actor, span, set);
        if (!any_in(races, sets))
            continue;
        text_addf(to, "\n  readVisibility[%u]", actor);
        print_mask(races, to, "", sets);
    }
}

static void print_tracking(const Races *races, const Machine *machine, uint32_t span, Text *to, uint64_t *sets) {
    const Consan *engine = &races->engine;
    for (uint32_t barrier = 0; barrier < races->named; barrier++)
        for (uint32_t parity = 0; parity < CONSAN_PHASES; parity++) {
            bool write = consan_write_tracking(engine, barrier, parity, span);
            for (uint32_t set = 0; set < consan_sets(engine); set++)
                sets[set] = consan_read_tracking(engine, barrier, parity, span, set);
            if (!write && !any_in(races, sets))
                continue;
            text_addf(to, "\n  tracked by ");
            barrier_name(machine, barrier, to);
            text_addf(to, " parity %u: write %u, ", parity, write);
            print_mask(races, to, "reads", sets);
        }
}

void races_print(const Races *races, const Machine *machine, Text *to) {
    static const char *const names[] = {"copy", "wgmma", "store"};
    const Consan *engine = &races->engine;
    uint64_t sets[CONSAN_MOST_AGENTS / CONSAN_SET];
    text_addf(to, "%u span%s, %u barriers\n", engine->spans, plural(engine->spans), races->late_first);
    for (uint32_t span = consan_next_span(engine, UINT32_MAX, 0); span != UINT32_MAX;
         span = consan_next_span(engine, UINT32_MAX, span + 1)) {
        text_addf(to, "span %u: ", span);
        spans_describe(races->spans, machine, span, to);
        print_visibility(races, span, to, sets);
        print_tracking(races, machine, span, to, sets);
        for (uint32_t group = 0; group < CONSAN_GROUPS; group++)
            for (uint32_t agent = 0; agent < machine->agent_count; agent++) {
                int entry = consan_outstanding_commits(engine, (ConsanGroup)group, consan_base(agent), span);
                if (entry)
                    text_addf(to, "\n  outstandingCommits[%s][%u] %d", names[group], agent, entry);
            }
        text_char(to, '\n');
    }
}
