/* Explains a stuck run. The order of the questions matters: what has gone wrong already (lapped, bytes,
 * parity) comes before what would still come (cycle) or not (no producer, exited). */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"

enum { COUNTERFACTUAL_BUDGET = 1 << 18 };

/* ---- Texts ---------------------------------------------------------------------------------------- */

const char *diagnosis_agent(const Diagnosis *diagnosis, uint32_t agent, Helper helper) {
    Text text = {0};
    agent_name(diagnosis->machine, agent, helper, &text);
    return verdict_keep(diagnosis->verdict, &text);
}

const char *diagnosis_barrier(const Diagnosis *diagnosis, uint32_t barrier) {
    Text text = {0};
    barrier_name(diagnosis->machine, barrier, &text);
    return verdict_keep(diagnosis->verdict, &text);
}

Finding *diagnosis_finding(const Diagnosis *diagnosis, RuleId rule, size_t most_places) {
    Finding *finding = verdict_finding(diagnosis->verdict);
    finding->rule = rule;
    finding->space = "barrier";
    finding_places(diagnosis->verdict, finding, most_places);
    finding->place_count = 0;
    return finding;
}

void diagnosis_place(const Diagnosis *diagnosis, Finding *finding, const char *role, BarrierAct barrier_act,
                     const char *note) {
    FindingPlace *place = &finding->places[finding->place_count++];
    place_set(diagnosis->machine, place, role, diagnosis_agent(diagnosis, barrier_act.agent, barrier_act.helper),
              barrier_act.pc, diagnosis->verdict);
    place->note = note;
}

void diagnosis_init_place(const Diagnosis *diagnosis, Finding *finding, const BarrierHistory *past, uint32_t count) {
    diagnosis_place(diagnosis, finding, "initialized", (BarrierAct){.agent = past->init_agent, .pc = past->init_pc},
                    verdict_text(diagnosis->verdict, "%u arrival%s a phase", count, plural(count)));
}

uint32_t diagnosis_barrier_acts(const Diagnosis *diagnosis, Finding *finding, const BarrierHistory *past) {
    uint32_t count = past->phase_count < MOST_REPORTED ? past->phase_count : MOST_REPORTED;
    for (uint32_t i = 0; i < count; i++) {
        const BarrierAct *barrier_act = &past->phase[i];
        bool expects = barrier_act->kind == BARRIER_ACT_EXPECT, delivers = barrier_act->kind == BARRIER_ACT_DELIVER;
        diagnosis_place(diagnosis, finding,
                        expects    ? "expects"
                        : delivers ? "delivers"
                                   : "arrives",
                        *barrier_act,
                        verdict_text(diagnosis->verdict, expects || delivers ? "%lld bytes" : "%lld arrivals",
                                     (long long)barrier_act->amount));
    }
    return count;
}

/* ---- What would have come -------------------------------------------------------------------------- */

bool diagnosis_contributed(const BarrierHistory *history, uint32_t agent, uint32_t pc) {
    uint32_t count = history->phase_count < MOST_REMEMBERED ? history->phase_count : MOST_REMEMBERED;
    for (uint32_t i = 0; i < count; i++)
        if (history->phase[i].agent == agent && history->phase[i].pc == pc)
            return true;
    return false;
}

/* Watches the run in which everyone is let through: who would have arrived where first. */
static void watch_release(void *observer, const Event *event) {
    Diagnosis *diagnosis = observer;
    diagnosis->order++;
    bool named = event->kind == EVENT_NAMED_ARRIVE, cluster = event->kind == EVENT_CLUSTER_ARRIVE;
    if (event->kind != EVENT_ARRIVE && event->kind != EVENT_EXPECT && event->kind != EVENT_SIGNAL && !named && !cluster)
        return;
    for (uint32_t i = 0; i < diagnosis->count; i++) {
        Blocked *blocked = &diagnosis->blocked[i];
        bool same = named     ? blocked->status == AGENT_NAMED && blocked->agent != event->agent
                    : cluster ? blocked->status == AGENT_CLUSTER && blocked->agent != event->agent
                              : blocked->status == AGENT_WAITS;
        if (!same || blocked->released || blocked->barrier != event->barrier)
            continue;
        /* One that has come into this phase already does not make up for one that is missing. */
        if (blocked->status == AGENT_WAITS &&
            diagnosis_contributed(&diagnosis->history->barriers[blocked->barrier], event->agent, event->pc))
            continue;
        blocked->released = true;
        blocked->releaser_order = diagnosis->order;
        blocked->releaser =
            (BarrierAct){.kind = event->kind == EVENT_EXPECT ? BARRIER_ACT_EXPECT : BARRIER_ACT_ARRIVE,
                         .agent = event->agent,
                         .pc = event->pc,
                         .helper = event->outstanding ? (Helper)event->outstanding->helper : HELPER_BASE};
    }
}

/* Runs on with every agent that waits let through, but for one (UINT32_MAX: for none), until it goes on. No run comes
 * there, and nothing is looked for in it: it does not count as run. */
static void force_through(Machine *machine, uint32_t but) {
    uint64_t budget = machine->budget;
    uint8_t *ran = machine->ran;
    machine->ran = NULL;
    machine->budget = machine->used + COUNTERFACTUAL_BUDGET;
    for (unsigned round = 0; round < 4096; round++) {
        bool any = false;
        for (uint32_t i = 0; i < machine->agent_count; i++) {
            Agent *agent = &machine->state->agents[i];
            if (i != but &&
                (agent->status == AGENT_WAITS || agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER)) {
                agent->forced = 1;
                any = true;
            }
        }
        if (!any || schedule_continue(machine) != RUN_STUCK)
            break;
    }
    machine->budget = budget;
    machine->ran = ran;
}

static void let_through(Diagnosis *diagnosis) {
    diagnosis->machine->observe = watch_release;
    diagnosis->machine->observer = diagnosis;
    force_through(diagnosis->machine, UINT32_MAX);
    diagnosis->machine->observe = NULL;
}

/* The first phase of the barrier in which all arrivals are there: which bytes are not, with all others let through.
 */
typedef struct ByteWatch {
    uint32_t barrier, generation;
    bool complete; /* the phase is, in the end */
    int64_t bytes;
} ByteWatch;

static void watch_bytes(void *observer, const Event *event) {
    ByteWatch *watch = observer;
    const Barrier *barrier = &event->state->barriers[watch->barrier];
    watch->complete |= barrier->generation != watch->generation;
    if (!watch->complete)
        watch->bytes = barrier->pending ? 0 : barrier->bytes;
}

/* An arrival may be missing on a barrier because an agent waits, in the end, for this very wait; if the bytes are wrong
 * all the same, then that is the cause, and not the circle. */
static void find_bytes(Diagnosis *diagnosis) {
    Machine *machine = diagnosis->machine;
    State *before = NULL;
    for (uint32_t i = 0; i < diagnosis->count; i++) {
        Blocked *blocked = &diagnosis->blocked[i];
        if (blocked->status != AGENT_WAITS || !blocked->state.pending || !blocked->state.bytes)
            continue;
        if (!before) {
            before = state_new(machine, diagnosis->verdict->arena);
            state_save(machine, before);
        }
        ByteWatch watch = {.barrier = blocked->barrier, .generation = blocked->state.generation};
        machine->observe = watch_bytes;
        machine->observer = &watch;
        force_through(machine, blocked->agent);
        machine->observe = NULL;
        state_restore(machine, before);
        blocked->bytes = watch.complete ? 0 : watch.bytes;
    }
}

/* ---- Which rule ----------------------------------------------------------------------------------- */

bool diagnosis_ended(const Diagnosis *diagnosis, uint32_t agent) {
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].agent == agent && diagnosis->blocked[i].status != AGENT_JOINS)
            return false;
    return true;
}

static bool is_in_loop(const Op *op) {
    for (op = op_parent(op); op; op = op_parent(op))
        if (op_is_loop(op))
            return true;
    return false;
}

/* The op by which a strand arrives on a barrier or its ring, in a loop that could have iterated more often. */
static bool arrives_in_loop(const Machine *machine, uint32_t strand, uint32_t barrier, uint32_t *pc) {
    const Program *program = machine->program;
    for (uint32_t from = program->strands[strand].entry;;) {
        uint32_t at = strand_arrives(machine, strand, barrier, from);
        if (at == NO_PC || at < from)
            return false;
        *pc = at;
        if (is_in_loop(program->ops[at]))
            return true;
        from = at + 1;
    }
}

/* Another agent that arrives on barriers of this kind in a loop, and has run to its end. */
static bool find_exited(const Diagnosis *diagnosis, Blocked *blocked) {
    const Machine *machine = diagnosis->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint32_t pc;
        if (i == blocked->agent || !diagnosis->ran[i] || !diagnosis_ended(diagnosis, i) ||
            !arrives_in_loop(machine, diagnosis->strands[i], blocked->barrier, &pc))
            continue;
        blocked->exited = (BarrierAct){.kind = BARRIER_ACT_ARRIVE, .agent = i, .pc = pc};
        return true;
    }
    return false;
}

/* A wait of `agent` that passes again and again on the same phase: it holds nothing back. */
static bool find_idle_wait(const Diagnosis *diagnosis, uint32_t agent, Blocked *blocked) {
    for (uint32_t i = 0; i < diagnosis->machine->slot_count; i++) {
        const LastPass *pass = history_pass(diagnosis->history, i, agent);
        if (!pass->any || !pass->again)
            continue;
        blocked->idle = pass;
        blocked->idle_barrier = i;
        blocked->idle_agent = agent;
        return true;
    }
    return false;
}

/* A wait of `agent`, for what the blocked agent is to tell it, that passed before anything was told: both began as if
 * the other one came first. */
static bool find_vacuous_wait(const Diagnosis *diagnosis, uint32_t agent, Blocked *blocked) {
    for (uint32_t i = 0; i < diagnosis->machine->slot_count; i++) {
        const LastPass *pass = history_pass(diagnosis->history, i, agent);
        if (!pass->any || !pass->parity || pass->generation != diagnosis->machine->state->barriers[i].born ||
            strand_arrives(diagnosis->machine, diagnosis->strands[blocked->agent], i, 0) == NO_PC)
            continue;
        blocked->idle = pass;
        blocked->idle_barrier = i;
        blocked->idle_agent = agent;
        return true;
    }
    return false;
}

/* Whether `first` always comes before `op` in a turn of the loop around that, if it stands before it. */
static bool is_in_way(const Op *first, const Op *op) {
    for (; op && !op_is_loop(op); op = op_parent(op))
        if (op->block == first->block)
            return true;
    return false;
}

/* Whether the strand waits for the barrier, or its ring, each time before it does what stands at `pc`. */
static bool waits_before(const Machine *machine, uint32_t strand, uint32_t pc, uint32_t barrier) {
    const Program *program = machine->program;
    BarrierRange channel = barrier_channel(machine, barrier);
    for (uint32_t at = program->strands[strand].entry; at < pc; at++)
        for (uint32_t i = 0; program->code[at].code == CODE_EFFECTS && i < program->code[at].a; i++) {
            const Effect *effect = &program->effects[program->code[at].aux + i].effect;
            if (effect->verb != EFFECT_WAIT || !is_in_way(program->ops[at], program->ops[pc]))
                continue;
            BarrierRange range = effect_barriers(program, effect);
            if (ranges_overlap(&range, &channel))
                return true;
        }
    return false;
}

/* Whether who laps the blocked agent should have waited for what that effect of another agent reports. */
static bool is_missed_sign(const Diagnosis *diagnosis, const Blocked *blocked, const BarrierAct *lapper, uint32_t agent,
                           const Effect *effect, bool waited, uint32_t *sign) {
    const Machine *machine = diagnosis->machine;
    BarrierRange range = effect_barriers(machine->program, effect);
    if (!effect_signals(effect) || !range.any || range_has(machine, &range, blocked->barrier))
        return false;
    *sign = range_first(machine, &range);
    if (*sign == NO_BARRIER)
        return false;
    if (!waited) {
        bool seen = false; /* by any agent but the one that arrives there itself */
        for (uint32_t i = 0; i < machine->program->strand_count && !seen; i++)
            seen = i != diagnosis->strands[agent] && strand_waits(machine, i, *sign) != NO_PC;
        return !seen;
    }
    uint32_t strand = diagnosis->strands[lapper->agent];
    return strand_waits(machine, strand, *sign) != NO_PC && !waits_before(machine, strand, lapper->pc, *sign);
}

enum { MOST_SIGNALS = 256 /* that are looked at: each is held against the whole program */ };

/* What an agent arrives on, and nothing waits for, or (`waited`) the agent that laps the blocked one does only
 * elsewhere. */
static bool find_sign_of(const Diagnosis *diagnosis, Blocked *blocked, const BarrierAct *lapper, uint32_t agent,
                         bool waited) {
    const Program *program = diagnosis->machine->program;
    uint32_t strand = diagnosis->strands[agent], looked_at = 0;
    for (uint32_t pc = program->strands[strand].entry, end = strand_end(program, strand); pc < end; pc++)
        for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
            looked_at += effect_signals(&program->effects[program->code[pc].aux + i].effect);
            if (looked_at > MOST_SIGNALS)
                return false;
            if (is_missed_sign(diagnosis, blocked, lapper, agent, &program->effects[program->code[pc].aux + i].effect,
                               waited, &blocked->sign)) {
                blocked->sign_pc = pc;
                blocked->sign_agent = agent;
                blocked->sign_waited = waited;
                return true;
            }
        }
    return false;
}

/* The sign that should hold back the agent that laps this one: its own, or one of an agent that comes after it. */
static void find_sign(const Diagnosis *diagnosis, Blocked *blocked, const BarrierAct *lapper) {
    bool found = lapper->agent == blocked->agent || find_sign_of(diagnosis, blocked, lapper, blocked->agent, false) ||
                 find_sign_of(diagnosis, blocked, lapper, blocked->agent, true);
    for (uint32_t i = 0; i < diagnosis->machine->agent_count && !found; i++)
        found = diagnosis->ran[i] && i != lapper->agent && find_sign_of(diagnosis, blocked, lapper, i, false);
    if (!found || lapper->agent == blocked->agent)
        blocked->sign = NO_BARRIER;
}

/* Whether the agent waits for the first phases of other slots of the ring: then it does not mean the first wait for
 * this one to pass at once, but has left a phase out. */
static bool takes_first_phases(const Diagnosis *diagnosis, const Blocked *blocked) {
    const Machine *machine = diagnosis->machine;
    BarrierPlace here = barrier_place(machine, blocked->barrier);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const LastPass *pass = history_pass(diagnosis->history, i, blocked->agent);
        BarrierPlace there = barrier_place(machine, i);
        if (i != blocked->barrier && here.allocation && there.allocation == here.allocation &&
            there.side == here.side && pass->any && !pass->parity && pass->count == 1)
            return true;
    }
    return false;
}

static void classify_mbarrier(const Diagnosis *diagnosis, Blocked *blocked) {
    const Barrier *barrier = &blocked->state;
    const BarrierHistory *past = &diagnosis->history->barriers[blocked->barrier];
    const LastPass *pass = history_pass(diagnosis->history, blocked->barrier, blocked->agent);
    uint32_t phases = barrier->generation - barrier->born;
    uint32_t passed = pass->any ? pass->generation - barrier->born : 0;
    blocked->rooted = true;
    if (!barrier->pending && barrier->bytes)
        blocked->bytes = barrier->bytes;
    if (blocked->bytes) {
        blocked->rule = RULE_DEADLOCK_BYTES;
        return;
    }
    if (pass->any && pass->parity == blocked->parity && phases == passed + 1) {
        blocked->rule = RULE_DEADLOCK_PARITY; /* the same parity again, one flip later */
        return;
    }
    uint32_t wanted = passed;                   /* the phase it has not seen yet */
    bool fresh = !pass->any && blocked->parity; /* meant to pass at once, or to wait for the second phase */
    /* What was completed before the partitions started, or by itself, it knew: then it does not mean to pass at once.
     */
    bool knew = past->last_count && (past->last[0].alone || past->last[0].agent == blocked->agent);
    bool lapped = fresh ? phases > (knew ? 1u : 0u) : phases > wanted + 1;
    lapped |= !blocked->released && pass->skipped; /* it went on, but has lost count */
    if (lapped) {
        blocked->rule = RULE_DEADLOCK_LAPPED;
        bool skips = fresh && phases == 1 && takes_first_phases(diagnosis, blocked);
        if (skips || (past->last_count && (find_idle_wait(diagnosis, past->last[0].agent, blocked) ||
                                           (fresh && find_vacuous_wait(diagnosis, past->last[0].agent, blocked)))))
            blocked->rule = RULE_DEADLOCK_PARITY;
        else if (past->last_count)
            find_sign(diagnosis, blocked, &past->last[0]);
        return;
    }
    bool untouched = barrier->pending == barrier->count;
    blocked->unexpected = untouched && barrier->bytes < 0;
    if (blocked->unexpected) {
        blocked->rule = RULE_DEADLOCK_NO_PRODUCER;
        return;
    }
    if (fresh && knew && phases == 1 && untouched && !past->waits) {
        blocked->rule = RULE_DEADLOCK_PARITY; /* the first wait of all, for the phase after the one that it knows */
        return;
    }
    if (blocked->released) {
        blocked->rule = RULE_DEADLOCK_CYCLE;
        blocked->rooted = false;
        return;
    }
    if (pass->any && past->last_count && past->last[0].agent == blocked->agent)
        blocked->rule = RULE_DEADLOCK_PARITY;
    else if (untouched && find_exited(diagnosis, blocked))
        blocked->rule = RULE_DEADLOCK_EXITED;
    else
        blocked->rule = RULE_DEADLOCK_NO_PRODUCER;
}

static void classify(const Diagnosis *diagnosis, Blocked *blocked) {
    if (blocked->status == AGENT_WAITS) {
        classify_mbarrier(diagnosis, blocked);
    } else if (blocked->status == AGENT_NAMED || blocked->status == AGENT_CLUSTER) {
        blocked->rooted = !blocked->released;
        blocked->rule = blocked->released ? RULE_DEADLOCK_CYCLE : RULE_DEADLOCK_NO_PRODUCER;
        if (blocked->status == AGENT_NAMED && !blocked->released && diagnosis->history->named_any[blocked->barrier] &&
            diagnosis->history->named[blocked->barrier].agent != blocked->agent &&
            is_in_loop(diagnosis->machine->program->ops[diagnosis->history->named[blocked->barrier].pc]) &&
            diagnosis_ended(diagnosis, diagnosis->history->named[blocked->barrier].agent))
            blocked->rule = RULE_DEADLOCK_EXITED;
    }
}

static void find_blocked(Diagnosis *diagnosis) {
    const Machine *machine = diagnosis->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        diagnosis->ran[i] = agent->status != AGENT_IDLE;
        diagnosis->strands[i] = agent->strand;
        if (agent->status == AGENT_ENDED || agent->status == AGENT_IDLE || agent->status == AGENT_READY)
            continue;
        Blocked *blocked = &diagnosis->blocked[diagnosis->count++];
        *blocked = (Blocked){.agent = i,
                             .pc = agent->pc,
                             .status = agent->status,
                             .parity = agent->parity,
                             .barrier = agent->barrier,
                             .sign = NO_BARRIER};
        if (agent->status == AGENT_WAITS)
            blocked->state = machine->state->barriers[agent->barrier];
        else if (agent->status == AGENT_NAMED)
            blocked->meeting = machine->state->named[agent->barrier];
        else if (agent->status == AGENT_CLUSTER)
            blocked->meeting = machine->state->cluster[agent->barrier];
    }
}

static void keep_barriers(Diagnosis *diagnosis) {
    const Machine *machine = diagnosis->machine;
    Barrier *before = ARENA_ARRAY(diagnosis->verdict->arena, Barrier, machine->slot_count + 1);
    memcpy(before, machine->state->barriers, machine->slot_count * sizeof *before);
    diagnosis->before = before;
}

/* Whether it would fill what another blocked agent waits for, and stands before that at a barrier of which no phase was
 * ever complete: it waits for room where nothing has taken any. */
static bool waits_for_room(const Diagnosis *diagnosis, const Blocked *blocked) {
    if (blocked->status != AGENT_WAITS || blocked->parity || blocked->state.generation != blocked->state.born)
        return false;
    for (uint32_t i = 0; i < diagnosis->count; i++) {
        const Blocked *other = &diagnosis->blocked[i];
        if (other != blocked && other->released && other->releaser.kind == BARRIER_ACT_EXPECT &&
            other->releaser.agent == blocked->agent)
            return true;
    }
    return false;
}

static uint64_t waits_passed(const Diagnosis *diagnosis, uint32_t agent) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < diagnosis->machine->slot_count; i++)
        count += history_pass(diagnosis->history, i, agent)->count;
    return count;
}

/* Who stands in a circle, waits for the very first phase of a barrier, and has come less far than all others who do:
 * what should have let it start never came. */
static bool find_unstarted(const Diagnosis *diagnosis, uint32_t *found) {
    uint64_t least = UINT64_MAX;
    bool any = false, progress = false;
    for (uint32_t i = 0; i < diagnosis->count; i++) {
        const Blocked *blocked = &diagnosis->blocked[i];
        if (blocked->status != AGENT_WAITS || !diagnosis_in_circle(diagnosis, blocked))
            continue;
        uint64_t passed = waits_passed(diagnosis, blocked->agent);
        bool first = !blocked->parity && blocked->state.generation == blocked->state.born;
        progress |= !first || (any && passed != least);
        if (first && passed < least) {
            least = passed;
            *found = i;
            any = true;
        }
    }
    return any && progress;
}

/* Of those in a circle, the wait that is wrong, if something says which; else SIZE_MAX. */
static uint32_t pick_wrong(const Diagnosis *diagnosis) {
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].clash_pcs[1] != NO_PC)
            return i;
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].repeats_more && diagnosis_in_circle(diagnosis, &diagnosis->blocked[i]))
            return i;
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].taken != NO_BARRIER)
            return i;
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].room != ROOM_NOT || waits_for_room(diagnosis, &diagnosis->blocked[i]))
            return i;
    return UINT32_MAX;
}

/* The one that explains the others. */
static uint32_t pick(const Diagnosis *diagnosis) {
    static const RuleId order[] = {RULE_DEADLOCK_BYTES, RULE_DEADLOCK_LAPPED, RULE_DEADLOCK_PARITY,
                                   RULE_DEADLOCK_NO_PRODUCER, RULE_DEADLOCK_EXITED};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = 0; i < diagnosis->count; i++)
            if (diagnosis->blocked[i].rooted && diagnosis->blocked[i].rule == order[k])
                return i;
    uint32_t found = pick_wrong(diagnosis);
    if (found != UINT32_MAX || find_unstarted(diagnosis, &found))
        return found;
    for (int circle = 1; circle >= 0; circle--)
        for (uint32_t i = 0; i < diagnosis->count; i++)
            if (diagnosis->blocked[i].status != AGENT_JOINS &&
                (!circle || diagnosis_in_circle(diagnosis, &diagnosis->blocked[i])))
                return i;
    return 0;
}

static void move_to(Diagnosis *diagnosis, uint32_t from, uint32_t to) {
    Blocked moved = diagnosis->blocked[from];
    memmove(&diagnosis->blocked[to + 1], &diagnosis->blocked[to], (from - to) * sizeof moved);
    diagnosis->blocked[to] = moved;
}

/* Who waits for whom: the root first, then those who wait for it, then those who wait for them. */
static void sort_by_cause(Diagnosis *diagnosis) {
    uint32_t sorted = 0;
    move_to(diagnosis, pick(diagnosis), sorted++);
    for (uint32_t cause = 0; cause < diagnosis->count; cause++) {
        if (cause == sorted)
            sorted++; /* who waits for none of these */
        for (uint32_t i = sorted; i < diagnosis->count; i++)
            if (diagnosis->blocked[i].released &&
                diagnosis->blocked[i].releaser.agent == diagnosis->blocked[cause].agent)
                move_to(diagnosis, i, sorted++);
    }
}

/* ---- The finding ---------------------------------------------------------------------------------- */

Finding *blocked_explain(Machine *machine, const History *history, Verdict *verdict) {
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    find_blocked(&diagnosis);
    keep_barriers(&diagnosis);
    find_bytes(&diagnosis);
    let_through(&diagnosis);
    bool mbarrier = false, cluster = false;
    for (uint32_t i = 0; i < diagnosis.count; i++) {
        classify(&diagnosis, &diagnosis.blocked[i]);
        find_cadence(&diagnosis, &diagnosis.blocked[i]);
        find_unreleased(&diagnosis, &diagnosis.blocked[i]);
        find_clash(&diagnosis, &diagnosis.blocked[i]);
        diagnosis.blocked[i].room = find_room(&diagnosis, &diagnosis.blocked[i]);
        mbarrier |= diagnosis.blocked[i].status == AGENT_WAITS;
        cluster |= diagnosis.blocked[i].status == AGENT_CLUSTER;
    }
    sort_by_cause(&diagnosis);
    const Blocked *root = &diagnosis.blocked[0];
    bool mixed = mbarrier && cluster && root->rule == RULE_DEADLOCK_CYCLE;
    Finding *finding =
        diagnosis_finding(&diagnosis, mixed ? RULE_DEADLOCK_MIXED : root->rule, diagnosis.count + MOST_REPORTED + 5);
    blocked_report(&diagnosis, root, finding);
    blocked_table(&diagnosis, finding);
    return finding;
}
