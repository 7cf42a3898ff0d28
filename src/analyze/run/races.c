/* From events to the engine's rules, and from its objections to findings. */
#include "analyze/run/races.h"

#include "analyze/telling/place.h"
#include "model/memory/views.h"

#include <stdlib.h>

enum { SPANS = 1024, WINDOW = 2 * MOST_FLIGHTS };

/* The last wait that an agent went past, and the arrival that completed the phase it waited for. */
typedef struct Guard {
    bool any;
    uint32_t barrier, wait_pc, arrive_agent, arrive_pc;
} Guard;

struct Races {
    Machine *machine;
    Arena *arena;
    Consan engine;
    Spans *spans;
    bool by_waits;
    bool commits;                   /* the kernel commits its products itself */
    uint32_t named, cluster_first;  /* where the barriers of the engine begin that stand for those */
    const SpanSet *flights[WINDOW]; /* what the copies in flight write, by sequence number */
    Guard *arrivals;                /* of each barrier: what completed its last phase */
    Guard guards[CONSAN_BASE_ACTORS];
    Race found[MOST_RACES];
    uint32_t count;
    uint64_t cluster;
    unsigned world;
    const char *problem;
    const Op *problem_op;
};

static void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

Races *races_create(Arena *arena, Machine *machine, bool by_waits, const char **problem) {
    if (machine->agent_count > CONSAN_BASE_ACTORS) {
        *problem = "races are not looked for: a cluster has more than 16 agents";
        return NULL;
    }
    Races *races = ARENA_NEW(arena, Races);
    races->machine = machine;
    races->arena = arena;
    races->by_waits = by_waits;
    for (uint32_t i = 0; i < machine->program->effect_count; i++) {
        const Effect *effect = &machine->program->effects[i].effect;
        races->commits |=
            effect->verb == EFFECT_ARRIVE && effect->done == DONE_COMMIT && effect->helper == HELPER_TENSOR;
    }
    races->named = machine->slot_count;
    races->cluster_first = races->named + machine->program->ctas * NAMED_BARRIERS;
    (void)consan_create(&races->engine, SPANS, races->cluster_first + machine->cluster_barriers, take, arena);
    races->arrivals = ARENA_ARRAY(arena, Guard, machine->slot_count);
    races->spans = spans_create(arena, machine->program->module, &races->engine);
    return races;
}

void races_start(Races *races, uint64_t cluster, unsigned world) {
    spans_reset(races->spans);
    memset(races->guards, 0, sizeof races->guards);
    memset(races->arrivals, 0, races->machine->slot_count * sizeof *races->arrivals);
    races->cluster = cluster;
    races->world = world;
}

const Race *races_found(const Races *races, uint32_t *count) {
    *count = races->count;
    return races->found;
}

const char *races_problem(const Races *races, const Op **op) {
    *op = races->problem_op;
    return races->problem;
}

static uint32_t actor_of(uint32_t agent, Helper helper) {
    return agent + (uint32_t)helper * CONSAN_BASE_ACTORS;
}

/* ---- Objections ----------------------------------------------------------------------------------- */

/* The barrier on which the earlier access reports, if it does. */
static void find_report(const Races *races, Race *race, const ConsanConflict *conflict) {
    const Consan *engine = &races->engine;
    race->barrier = UINT32_MAX;
    for (uint32_t barrier = 0; barrier < races->named; barrier++)
        for (uint32_t parity = 0; parity < CONSAN_PHASES; parity++) {
            bool reports = conflict->kind == CONSAN_OUTSTANDING_WRITE
                               ? consan_write_tracking(engine, barrier, parity, conflict->span)
                               : consan_read_tracking(engine, barrier, parity, conflict->span) >> conflict->actor & 1;
            if (reports && race->barrier == UINT32_MAX) {
                race->barrier = barrier;
                race->parity = (uint8_t)parity;
            }
        }
}

static uint64_t ring_of(const Races *races, uint32_t barrier) {
    return barrier == UINT32_MAX ? UINT64_MAX
                                 : races->machine->slot_places[barrier % races->machine->slots_per_cta] >> 32;
}

/* The agent did wait for a slot of the ring that reports the earlier access, and the other agent let it go: too early.
 */
static void find_guard(const Races *races, Race *race) {
    const Guard *guard = &races->guards[race->thread % CONSAN_BASE_ACTORS];
    if (!guard->any || race->barrier == UINT32_MAX || guard->arrive_agent != race->other_thread % CONSAN_BASE_ACTORS ||
        ring_of(races, guard->barrier) != ring_of(races, race->barrier))
        return;
    race->released_early = true;
    race->guard = guard->barrier;
    race->guard_wait_pc = guard->wait_pc;
    race->guard_arrive_pc = guard->arrive_pc;
}

/* One fault, one finding: the same two ops again, or other ops of the same two agents that lack the same edge, belong
 * to a race that is known. So does a write after a write where the read in between is known to be unordered: what
 * orders that orders both. */
static bool joins(const Races *races, Race *known, const Race *race) {
    bool same_ops = known->pc == race->pc && known->other_pc == race->other_pc && known->kind == race->kind;
    bool same_edge = known->thread == race->thread && known->other_thread == race->other_thread &&
                     known->kind == race->kind && known->group == race->group &&
                     ring_of(races, known->barrier) == ring_of(races, race->barrier);
    bool implied =
        known->pc == race->pc && known->thread == race->thread && known->kind == RACE_WAR && race->kind == RACE_WAW;
    if (!same_ops && !same_edge && !implied)
        return false;
    known->times++;
    known->by_order &= race->by_order;
    bool listed = same_ops || implied;
    for (uint32_t i = 0; i < known->more_count && !listed; i++)
        listed = known->more[i].pc == race->pc && known->more[i].other_pc == race->other_pc;
    if (!listed && known->more_count < MOST_MORE)
        known->more[known->more_count++] = (struct RacePair){race->pc, race->other_pc};
    return true;
}

static void object(Races *races, const Event *event, uint32_t thread, bool writes, const ConsanConflict *conflict,
                   bool by_order) {
    static const GroupKind groups[] = {GROUP_CP_ASYNC, GROUP_WGMMA, GROUP_TMA_STORE};
    Race race = {.thread = thread,
                 .ends = event->kind == EVENT_END,
                 .frees = event->kind == EVENT_FREE,
                 .pc = event->pc,
                 .other_thread = conflict->actor,
                 .other_pc = conflict->place,
                 .span = conflict->span,
                 .by_order = by_order,
                 .writes = writes,
                 .times = 1,
                 .cluster = races->cluster,
                 .world = races->world,
                 .barrier = UINT32_MAX};
    if (conflict->kind == CONSAN_PENDING_GROUP) {
        race.kind = RACE_INFLIGHT;
        race.group = groups[conflict->group];
    } else {
        race.kind = conflict->kind == CONSAN_OUTSTANDING_READ ? RACE_WAR : writes ? RACE_WAW : RACE_RAW;
        find_report(races, &race, conflict);
        find_guard(races, &race);
    }
    for (uint32_t i = 0; i < races->count; i++)
        if (joins(races, &races->found[i], &race))
            return;
    if (races->count < MOST_RACES)
        races->found[races->count++] = race;
}

static ConsanConflict verify(const Races *races, uint32_t thread, bool writes, const SpanSet *set) {
    return writes ? consan_verify_write(&races->engine, thread, set->spans, set->count)
                  : consan_verify_read(&races->engine, thread, set->spans, set->count);
}

static void check_access(Races *races, const Event *event, uint32_t thread, bool writes, const SpanSet *set) {
    ConsanConflict conflict = verify(races, thread, writes, set);
    if (conflict.kind != CONSAN_CLEAN) {
        object(races, event, thread, writes, &conflict, false);
        return;
    }
    /* Two operations of one helper are ordered only as far as their issuer knows: always for the copy engine, and for
     * the tensor core where its work is ordered by waits alone. */
    bool tma = thread / CONSAN_BASE_ACTORS == HELPER_TMA, tensor = thread / CONSAN_BASE_ACTORS == HELPER_TENSOR;
    if (!tma && !(tensor && races->by_waits))
        return;
    conflict = verify(races, thread % CONSAN_BASE_ACTORS, writes, set);
    /* Products into one accumulator follow each other. */
    bool same_op = tensor && conflict.kind == CONSAN_OUTSTANDING_WRITE && writes;
    if (conflict.kind != CONSAN_CLEAN && !same_op)
        object(races, event, thread, writes, &conflict, tensor);
}

/* ---- Events --------------------------------------------------------------------------------------- */

/* A write that meets the bytes of a barrier that is in use. */
static void check_barriers(Races *races, const Event *event, uint32_t thread, const SpanSet *set) {
    const Machine *machine = races->machine;
    for (uint32_t k = 0; k < machine->slots_used; k++) {
        uint32_t slot = set->view.cta * machine->slots_per_cta + k;
        int64_t byte = (int32_t)(uint32_t)machine->slot_places[k];
        Run own = {byte, byte + 8};
        if (machine->slot_places[k] >> 32 != set->view.meta || event->state->barriers[slot].life != BARRIER_LIVE ||
            !bytes_meet(&set->bytes, &(Bytes){&own, 1}))
            continue;
        for (uint32_t i = 0; i < races->count; i++)
            if (races->found[i].kind == RACE_OVERWRITTEN && races->found[i].pc == event->pc) {
                races->found[i].times++;
                return;
            }
        if (races->count < MOST_RACES)
            races->found[races->count++] = (Race){.kind = RACE_OVERWRITTEN,
                                                  .thread = thread,
                                                  .pc = event->pc,
                                                  .other_thread = thread,
                                                  .other_pc = event->pc,
                                                  .span = set->spans[0],
                                                  .barrier = slot,
                                                  .writes = true,
                                                  .times = 1,
                                                  .cluster = races->cluster,
                                                  .world = races->world};
        return;
    }
}

static const SpanSet *spans_at(Races *races, const Event *event, Word view, const Type *type) {
    const char *problem = "which memory it touches is not known";
    const SpanSet *set = word_is(view, WORD_VIEW) && type ? spans_of(races->spans, view, type, &problem) : NULL;
    if (!set && !races->problem) {
        races->problem = problem;
        races->problem_op = event->op;
    }
    return set;
}

static ConsanGroup group_of(GroupKind kind, bool writes) {
    if (kind == GROUP_WGMMA)
        return CONSAN_WGMMA;
    return writes || kind == GROUP_CP_ASYNC || kind == GROUP_AMD_ASYNC ? CONSAN_COPY : CONSAN_STORE;
}

static void access_event(Races *races, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if (effect->space != SPACE_SHARED && effect->space != SPACE_TENSOR)
        return;
    const SpanSet *set = spans_at(races, event, event->view, event->effect->type);
    if (!set)
        return;
    bool writes = effect->verb != EFFECT_READ;
    /* What is done at once is the agent's own, whoever does it: before it is lowered, a product or a copy may be
     * written so. But where commits are written out, products are asynchronous, said or not. */
    bool own = effect->done == DONE_NOW && !(effect->helper == HELPER_TENSOR && races->commits);
    uint32_t thread = actor_of(event->agent, own ? HELPER_BASE : effect->helper);
    if (writes && effect->space == SPACE_SHARED)
        check_barriers(races, event, thread, set);
    if (effect->done == DONE_GROUP) {
        ConsanGroup group = group_of(effect->group, writes);
        uint32_t checks = group == CONSAN_STORE ? thread : event->agent;
        check_access(races, event, checks, writes, set);
        consan_stage(&races->engine, group, event->agent, set->spans, set->count, event->pc);
        return;
    }
    check_access(races, event, thread, writes, set);
    if (writes)
        consan_set_write(&races->engine, thread, set->spans, set->count, event->pc);
    else
        consan_set_read(&races->engine, thread, set->spans, set->count, event->pc);
}

static void signal_event(Races *races, const Event *event) {
    const Flight *flight = event->flight;
    uint32_t parity = event->state->barriers[event->barrier].phase;
    if (event->kind == EVENT_DELIVER) {
        const SpanSet *set = races->flights[flight->sequence % WINDOW];
        if (set)
            consan_track_writes(&races->engine, set->spans, set->count, event->barrier, parity);
    } else if (event->effect->effect.done == DONE_COPIES) {
        consan_track_copies(&races->engine, flight->agent, event->barrier, parity);
    } else {
        consan_track_frontier(&races->engine, actor_of(flight->agent, (Helper)flight->helper), event->barrier, parity);
    }
}

static void issue_event(Races *races, const Event *event) {
    const CompiledEffect *effect = event->effect;
    const SpanSet **place = &races->flights[event->flight->sequence % WINDOW];
    *place = NULL;
    if (event->flight->kind == FLIGHT_BYTES && effect->lands != NO_REGISTER) {
        Word view = event->state->words[(size_t)event->agent * races->machine->program->most_registers + effect->lands];
        if (word_is(view, WORD_VIEW))
            *place = spans_at(races, event, view, effect->landing);
    }
}

/* The groups of effects that are waited for by count. */
static void await_group(Races *races, const Event *event, ConsanGroup group) {
    if (event->kind == EVENT_COMMIT)
        consan_commit(&races->engine, group, event->agent);
    else
        consan_clear(&races->engine, group, event->agent, (uint32_t)event->amount);
}

static void await_event(Races *races, const Event *event) {
    GroupKind kind = event->effect->effect.group;
    await_group(races, event, group_of(kind, false));
    if (kind == GROUP_AMD_TENSOR) /* loads, too */
        await_group(races, event, CONSAN_COPY);
}

/* Who ends while its stores still read shared memory leaves them to read what comes after. */
static void end_event(Races *races, const Event *event) {
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
            object(races, event, event->agent, false, &conflict, false);
        }
}

/* Memory that is given back is whoever's asks next: nobody may work on it any more, as if it were written. */
static void free_event(Races *races, const Event *event) {
    const SpanSet *set = spans_at(races, event, event->view, event->effect->type);
    if (set)
        check_access(races, event, event->agent, true, set);
}

/* At a named barrier, or that of the cluster. */
static void meeting_event(Races *races, const Event *event, uint32_t barrier, const Rendezvous *meeting) {
    Consan *engine = &races->engine;
    if (event->kind == EVENT_NAMED_MEET || event->kind == EVENT_CLUSTER_MEET)
        consan_begin_phase(engine, barrier, meeting->generation & 1);
    else if (event->kind == EVENT_NAMED_SYNC || event->kind == EVENT_CLUSTER_WAIT)
        consan_transfer(engine, event->agent, barrier, event->state->agents[event->agent].generation & 1);
    else if (!event->effect->effect.relaxed)
        consan_track_frontier(engine, event->agent, barrier, meeting->generation & 1);
}

void races_observe(void *observer, const Event *event) {
    Races *races = observer;
    Consan *engine = &races->engine;
    uint32_t agent = event->agent, first = agent - agent % races->machine->program->agents_per_cta + 1;
    switch (event->kind) {
    case EVENT_ACCESS:
        access_event(races, event);
        break;
    case EVENT_FREE:
        free_event(races, event);
        break;
    case EVENT_ISSUE:
        issue_event(races, event);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        if (event->flight)
            signal_event(races, event);
        else
            consan_track_frontier(engine, agent, event->barrier, event->state->barriers[event->barrier].phase);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        consan_track_frontier(engine, agent, event->barrier, event->state->barriers[event->barrier].phase);
        /* Who leaves a token or an aref says that the copies that it issued are done, too. */
        if (event->effect->effect.side != SIDE_NONE)
            consan_track_frontier(engine, CONSAN_TMA + agent, event->barrier,
                                  event->state->barriers[event->barrier].phase);
        break;
    case EVENT_FLIP:
        races->arrivals[event->barrier] =
            (Guard){.any = true, .barrier = event->barrier, .arrive_agent = agent, .arrive_pc = event->pc};
        consan_begin_phase(engine, event->barrier, event->state->barriers[event->barrier].phase);
        break;
    case EVENT_INIT:
        consan_begin_phase(engine, event->barrier, 0);
        consan_begin_phase(engine, event->barrier, 1);
        break;
    case EVENT_WAIT:
        races->guards[agent] = races->arrivals[event->barrier];
        races->guards[agent].wait_pc = event->pc;
        consan_transfer(engine, agent, event->barrier, event->parity);
        break;
    case EVENT_COMMIT:
    case EVENT_AWAIT:
        await_event(races, event);
        break;
    case EVENT_NAMED_ARRIVE:
    case EVENT_NAMED_MEET:
    case EVENT_NAMED_SYNC:
        meeting_event(races, event, races->named + event->barrier, &event->state->named[event->barrier]);
        break;
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_MEET:
    case EVENT_CLUSTER_WAIT:
        meeting_event(races, event, races->cluster_first + event->barrier, &event->state->cluster[event->barrier]);
        break;
    case EVENT_END:
        end_event(races, event);
        break;
    case EVENT_UNFINISHED: {
        ConsanConflict conflict = {.kind = CONSAN_PENDING_GROUP,
                                   .span = UINT32_MAX,
                                   .actor = agent,
                                   .place = (uint32_t)event->amount,
                                   .group = CONSAN_WGMMA};
        object(races, event, agent, false, &conflict, false);
        break;
    }
    case EVENT_FORK:
        for (uint32_t k = 0; k < event->amount; k++)
            consan_fork(engine, agent, first + k);
        break;
    case EVENT_JOIN:
        for (uint32_t k = 0; k + 1 < races->machine->program->agents_per_cta; k++)
            consan_join(engine, agent, first + k);
        break;
    default:
        break;
    }
}

/* ---- Findings ------------------------------------------------------------------------------------- */

static const char *thread_text(const Machine *machine, uint32_t thread, Verdict *verdict) {
    Text text = {0};
    agent_name(machine, thread % CONSAN_BASE_ACTORS, (Helper)(thread / CONSAN_BASE_ACTORS), &text);
    return verdict_keep(verdict, &text);
}

static const char *span_text(const Races *races, const Machine *machine, uint32_t span, Verdict *verdict) {
    Text text = {0};
    if (span == UINT32_MAX) /* in registers */
        return "the result of a product";
    spans_describe(races->spans, machine, span, &text);
    return verdict_keep(verdict, &text);
}

static const char *barrier_text(const Machine *machine, uint32_t barrier, Verdict *verdict) {
    Text text = {0};
    barrier_name(machine, barrier, &text);
    return verdict_keep(verdict, &text);
}

/* What each of the two does: "reads", "writes". */
static const char *later_verb(const Race *race) {
    return race->span == UINT32_MAX                                                   ? "uses"
           : race->frees                                                              ? "frees"
           : race->kind == RACE_RAW || (race->kind == RACE_INFLIGHT && !race->writes) ? "reads"
                                                                                      : "writes";
}

static const char *earlier_verb(const Race *race) {
    bool writes = race->kind == RACE_RAW || race->kind == RACE_WAW ||
                  (race->kind == RACE_INFLIGHT && race->group == GROUP_CP_ASYNC);
    return race->span == UINT32_MAX ? "computes" : writes ? "writes" : "reads";
}

static void explain_group(const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    static const char *const names[] = {"", "cp.async", "bulk", "wgmma", "TMA store", "async", "tensor"};
    finding->why = verdict_text(
        verdict, "Until the %s group of IR line %u is waited for, it goes on; no wait before this access covers it.",
        names[race->group], line_at(machine, race->other_pc));
    finding->fix = verdict_text(
        verdict, "Wait for that %s group (leaving few enough groups pending) before this access%s.", names[race->group],
        race->thread % CONSAN_BASE_ACTORS != race->other_thread % CONSAN_BASE_ACTORS
            ? ", and hand over through a barrier"
            : "");
}

static void explain(const Races *races, const Machine *machine, const Race *race, Finding *finding, Verdict *verdict) {
    const char *who = thread_text(machine, race->thread, verdict),
               *other = thread_text(machine, race->other_thread, verdict);
    const char *waiter = thread_text(machine, race->thread % CONSAN_BASE_ACTORS, verdict); /* helpers do not wait */
    const char *issuer = thread_text(machine, race->other_thread % CONSAN_BASE_ACTORS, verdict);
    const char *what = span_text(races, machine, race->span, verdict);
    const char *access = race->kind == RACE_WAR ? "read" : "write";
    uint32_t line = line_at(machine, race->other_pc);
    if (race->kind == RACE_OVERWRITTEN) {
        const char *barrier = barrier_text(machine, race->barrier, verdict);
        finding->message = verdict_text(verdict, "%s writes over %s, a barrier that is in use", who, barrier);
        finding->why = verdict_text(
            verdict, "The write covers the eight bytes of %s, which was initialised and not invalidated since.",
            barrier);
        finding->fix =
            "Invalidate the barrier before its bytes are used for something else, or give the data memory of its own.";
        return;
    }
    if (race->ends)
        finding->message =
            verdict_text(verdict, "%s ends while the store at IR line %u still reads %s", who, line, what);
    else if (race->pc == race->other_pc && race->thread == race->other_thread)
        finding->message =
            verdict_text(verdict, "%s %s %s, which the same op %s a turn earlier, and nothing orders the two", who,
                         later_verb(race), what, earlier_verb(race));
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
            "Move the arrive of IR line %u behind the %s of IR line %u; if that arrive is about another slot, "
            "wait for the slot that is accessed here.",
            arrive, access, line);
    } else if (race->barrier != UINT32_MAX) {
        const char *barrier = barrier_text(machine, race->barrier, verdict);
        finding->why = verdict_text(
            verdict,
            "The %s of IR line %u is first reported by an arrival on %s, in a phase of parity %u, and %s has not "
            "waited for that phase.",
            access, line, barrier, race->parity, waiter);
        finding->fix = verdict_text(
            verdict,
            "Let %s wait for %s with parity %u before this access, or for something that comes after such a wait; "
            "if it waits for an earlier arrival already, move that arrival behind the %s.",
            waiter, barrier, race->parity, access);
    } else {
        finding->why = verdict_text(
            verdict, "After the %s of IR line %u, %s has arrived on no barrier that %s has waited for since.", access,
            line, issuer, waiter);
        finding->fix = verdict_text(
            verdict,
            "Let %s arrive on a barrier after that access (or commit, for the tensor core), and %s wait for it "
            "before this one.",
            issuer, waiter);
    }
    if (race->by_order)
        finding->why = verdict_text(
            verdict,
            "%s It depends on the order in which the tensor core works: if products complete in the order of "
            "their issue, the two are ordered.",
            finding->why);
}

void races_report(const Races *races, const Machine *machine, uint32_t index, Verdict *verdict) {
    static const RuleId rules[] = {RULE_RACE_RAW, RULE_RACE_WAR, RULE_RACE_WAW, RULE_RACE_INFLIGHT,
                                   RULE_BARRIER_OVERWRITTEN};
    const Race *race = &races->found[index];
    Finding *finding = verdict_finding(verdict);
    finding->rule = rules[race->kind];
    finding->space = race->span == UINT32_MAX                                ? "register"
                     : spans_space(races->spans, race->span) == SPACE_TENSOR ? "tensor"
                                                                             : "shared";
    explain(races, machine, race, finding, verdict);
    finding->times = race->times;
    const char *agent = thread_text(machine, race->thread, verdict),
               *other = thread_text(machine, race->other_thread, verdict);
    FindingPlace *places = finding_places(verdict, finding, 2 + 2 * race->more_count);
    place_set(machine, &places[0], later_verb(race), agent, race->pc, verdict);
    place_set(machine, &places[1], earlier_verb(race), other, race->other_pc, verdict);
    places[0].note = places[1].note = span_text(races, machine, race->span, verdict);
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
}

void races_print(const Races *races, const Machine *machine, Text *to) {
    const Consan *engine = &races->engine;
    text_addf(to, "%u span%s, %u barriers\n", engine->spans, plural(engine->spans), engine->barriers);
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
