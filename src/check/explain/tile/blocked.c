/* Explains a stuck run. The order of the questions matters: what has gone wrong already (lapped, bytes,
 * parity) comes before what would still come (cycle) or not (no producer, exited). */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"

enum { COUNTERFACTUAL_BUDGET = 1 << 18 };

/* ---- Texts ---------------------------------------------------------------------------------------- */

const char *inquiry_agent(const Inquiry *inquiry, uint32_t agent, Helper helper) {
    Text text = {0};
    agent_name(inquiry->machine, agent, helper, &text);
    return verdict_keep(inquiry->verdict, &text);
}

const char *inquiry_barrier(const Inquiry *inquiry, uint32_t barrier) {
    Text text = {0};
    barrier_name(inquiry->machine, barrier, &text);
    return verdict_keep(inquiry->verdict, &text);
}

Finding *inquiry_finding(const Inquiry *inquiry, RuleId rule, size_t most_places) {
    Finding *finding = verdict_finding(inquiry->verdict);
    finding->rule = rule;
    finding->space = "barrier";
    finding_places(inquiry->verdict, finding, most_places);
    finding->place_count = 0;
    return finding;
}

void inquiry_place(const Inquiry *inquiry, Finding *finding, const char *role, Deed deed, const char *note) {
    FindingPlace *place = &finding->places[finding->place_count++];
    place_set(inquiry->machine, place, role, inquiry_agent(inquiry, deed.agent, deed.helper), deed.pc,
              inquiry->verdict);
    place->note = note;
}

void inquiry_init_place(const Inquiry *inquiry, Finding *finding, const BarrierHistory *past, uint32_t count) {
    inquiry_place(inquiry, finding, "initialized", (Deed){.agent = past->init_agent, .pc = past->init_pc},
                  verdict_text(inquiry->verdict, "%u arrival%s a phase", count, plural(count)));
}

uint32_t inquiry_deeds(const Inquiry *inquiry, Finding *finding, const BarrierHistory *past) {
    uint32_t count = past->phase_count < MOST_TOLD ? past->phase_count : MOST_TOLD;
    for (uint32_t i = 0; i < count; i++) {
        const Deed *deed = &past->phase[i];
        bool expects = deed->kind == DEED_EXPECT, delivers = deed->kind == DEED_DELIVER;
        inquiry_place(inquiry, finding,
                      expects    ? "expects"
                      : delivers ? "delivers"
                                 : "arrives",
                      *deed,
                      verdict_text(inquiry->verdict, expects || delivers ? "%lld bytes" : "%lld arrivals",
                                   (long long)deed->amount));
    }
    return count;
}

/* ---- What would have come -------------------------------------------------------------------------- */

bool inquiry_contributed(const BarrierHistory *history, uint32_t agent, uint32_t pc) {
    uint32_t count = history->phase_count < MOST_REMEMBERED ? history->phase_count : MOST_REMEMBERED;
    for (uint32_t i = 0; i < count; i++)
        if (history->phase[i].agent == agent && history->phase[i].pc == pc)
            return true;
    return false;
}

/* Watches the run in which everyone is let through: who would have arrived where first. */
static void watch_release(void *observer, const Event *event) {
    Inquiry *inquiry = observer;
    inquiry->order++;
    bool named = event->kind == EVENT_NAMED_ARRIVE, cluster = event->kind == EVENT_CLUSTER_ARRIVE;
    if (event->kind != EVENT_ARRIVE && event->kind != EVENT_EXPECT && event->kind != EVENT_SIGNAL && !named && !cluster)
        return;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        Blocked *blocked = &inquiry->blocked[i];
        bool same = named     ? blocked->status == AGENT_NAMED && blocked->agent != event->agent
                    : cluster ? blocked->status == AGENT_CLUSTER && blocked->agent != event->agent
                              : blocked->status == AGENT_WAITS;
        if (!same || blocked->released || blocked->barrier != event->barrier)
            continue;
        /* One that has come into this phase already does not make up for one that is missing. */
        if (blocked->status == AGENT_WAITS &&
            inquiry_contributed(&inquiry->history->barriers[blocked->barrier], event->agent, event->pc))
            continue;
        blocked->released = true;
        blocked->releaser_order = inquiry->order;
        blocked->releaser = (Deed){.kind = event->kind == EVENT_EXPECT ? DEED_EXPECT : DEED_ARRIVE,
                                   .agent = event->agent,
                                   .pc = event->pc,
                                   .helper = event->flight ? (Helper)event->flight->helper : HELPER_BASE};
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

static void let_through(Inquiry *inquiry) {
    inquiry->machine->observe = watch_release;
    inquiry->machine->observer = inquiry;
    force_through(inquiry->machine, UINT32_MAX);
    inquiry->machine->observe = NULL;
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
static void find_bytes(Inquiry *inquiry) {
    Machine *machine = inquiry->machine;
    State *before = NULL;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        Blocked *blocked = &inquiry->blocked[i];
        if (blocked->status != AGENT_WAITS || !blocked->state.pending || !blocked->state.bytes)
            continue;
        if (!before) {
            before = state_new(machine, inquiry->verdict->arena);
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

bool inquiry_ended(const Inquiry *inquiry, uint32_t agent) {
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].agent == agent && inquiry->blocked[i].status != AGENT_JOINS)
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
static bool find_exited(const Inquiry *inquiry, Blocked *blocked) {
    const Machine *machine = inquiry->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint32_t pc;
        if (i == blocked->agent || !inquiry->ran[i] || !inquiry_ended(inquiry, i) ||
            !arrives_in_loop(machine, inquiry->strands[i], blocked->barrier, &pc))
            continue;
        blocked->exited = (Deed){.kind = DEED_ARRIVE, .agent = i, .pc = pc};
        return true;
    }
    return false;
}

/* A wait of `agent` that passes again and again on the same phase: it holds nothing back. */
static bool find_idle_wait(const Inquiry *inquiry, uint32_t agent, Blocked *blocked) {
    for (uint32_t i = 0; i < inquiry->machine->slot_count; i++) {
        const LastPass *pass = history_pass(inquiry->history, i, agent);
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
static bool find_vacuous_wait(const Inquiry *inquiry, uint32_t agent, Blocked *blocked) {
    for (uint32_t i = 0; i < inquiry->machine->slot_count; i++) {
        const LastPass *pass = history_pass(inquiry->history, i, agent);
        if (!pass->any || !pass->parity || pass->generation != inquiry->machine->state->barriers[i].born ||
            strand_arrives(inquiry->machine, inquiry->strands[blocked->agent], i, 0) == NO_PC)
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
            if (ranges_meet(&range, &channel))
                return true;
        }
    return false;
}

/* Whether who laps the blocked agent should have waited for what that effect of another agent reports. */
static bool is_missed_sign(const Inquiry *inquiry, const Blocked *blocked, const Deed *lapper, uint32_t agent,
                           const Effect *effect, bool waited, uint32_t *sign) {
    const Machine *machine = inquiry->machine;
    BarrierRange range = effect_barriers(machine->program, effect);
    if (!effect_signals(effect) || !range.any || range_has(machine, &range, blocked->barrier))
        return false;
    *sign = range_first(machine, &range);
    if (*sign == NO_BARRIER)
        return false;
    if (!waited) {
        bool seen = false; /* by any agent but the one that arrives there itself */
        for (uint32_t i = 0; i < machine->program->strand_count && !seen; i++)
            seen = i != inquiry->strands[agent] && strand_waits(machine, i, *sign) != NO_PC;
        return !seen;
    }
    uint32_t strand = inquiry->strands[lapper->agent];
    return strand_waits(machine, strand, *sign) != NO_PC && !waits_before(machine, strand, lapper->pc, *sign);
}

enum { MOST_SIGNALS = 256 /* that are looked at: each is held against the whole program */ };

/* What an agent arrives on, and nothing waits for, or (`waited`) the agent that laps the blocked one does only
 * elsewhere. */
static bool find_sign_of(const Inquiry *inquiry, Blocked *blocked, const Deed *lapper, uint32_t agent, bool waited) {
    const Program *program = inquiry->machine->program;
    uint32_t strand = inquiry->strands[agent], looked_at = 0;
    for (uint32_t pc = program->strands[strand].entry, end = strand_end(program, strand); pc < end; pc++)
        for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
            looked_at += effect_signals(&program->effects[program->code[pc].aux + i].effect);
            if (looked_at > MOST_SIGNALS)
                return false;
            if (is_missed_sign(inquiry, blocked, lapper, agent, &program->effects[program->code[pc].aux + i].effect,
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
static void find_sign(const Inquiry *inquiry, Blocked *blocked, const Deed *lapper) {
    bool found = lapper->agent == blocked->agent || find_sign_of(inquiry, blocked, lapper, blocked->agent, false) ||
                 find_sign_of(inquiry, blocked, lapper, blocked->agent, true);
    for (uint32_t i = 0; i < inquiry->machine->agent_count && !found; i++)
        found = inquiry->ran[i] && i != lapper->agent && find_sign_of(inquiry, blocked, lapper, i, false);
    if (!found || lapper->agent == blocked->agent)
        blocked->sign = NO_BARRIER;
}

/* Whether the agent waits for the first phases of other slots of the ring: then it does not mean the first wait for
 * this one to pass at once, but has left a phase out. */
static bool takes_first_phases(const Inquiry *inquiry, const Blocked *blocked) {
    const Machine *machine = inquiry->machine;
    BarrierPlace here = barrier_place(machine, blocked->barrier);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const LastPass *pass = history_pass(inquiry->history, i, blocked->agent);
        BarrierPlace there = barrier_place(machine, i);
        if (i != blocked->barrier && here.allocation && there.allocation == here.allocation &&
            there.side == here.side && pass->any && !pass->parity && pass->count == 1)
            return true;
    }
    return false;
}

static void classify_mbarrier(const Inquiry *inquiry, Blocked *blocked) {
    const Barrier *barrier = &blocked->state;
    const BarrierHistory *past = &inquiry->history->barriers[blocked->barrier];
    const LastPass *pass = history_pass(inquiry->history, blocked->barrier, blocked->agent);
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
        bool skips = fresh && phases == 1 && takes_first_phases(inquiry, blocked);
        if (skips || (past->last_count && (find_idle_wait(inquiry, past->last[0].agent, blocked) ||
                                           (fresh && find_vacuous_wait(inquiry, past->last[0].agent, blocked)))))
            blocked->rule = RULE_DEADLOCK_PARITY;
        else if (past->last_count)
            find_sign(inquiry, blocked, &past->last[0]);
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
    else if (untouched && find_exited(inquiry, blocked))
        blocked->rule = RULE_DEADLOCK_EXITED;
    else
        blocked->rule = RULE_DEADLOCK_NO_PRODUCER;
}

static void classify(const Inquiry *inquiry, Blocked *blocked) {
    if (blocked->status == AGENT_WAITS) {
        classify_mbarrier(inquiry, blocked);
    } else if (blocked->status == AGENT_NAMED || blocked->status == AGENT_CLUSTER) {
        blocked->rooted = !blocked->released;
        blocked->rule = blocked->released ? RULE_DEADLOCK_CYCLE : RULE_DEADLOCK_NO_PRODUCER;
        if (blocked->status == AGENT_NAMED && !blocked->released && inquiry->history->named_any[blocked->barrier] &&
            inquiry->history->named[blocked->barrier].agent != blocked->agent &&
            is_in_loop(inquiry->machine->program->ops[inquiry->history->named[blocked->barrier].pc]) &&
            inquiry_ended(inquiry, inquiry->history->named[blocked->barrier].agent))
            blocked->rule = RULE_DEADLOCK_EXITED;
    }
}

static void find_blocked(Inquiry *inquiry) {
    const Machine *machine = inquiry->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        inquiry->ran[i] = agent->status != AGENT_IDLE;
        inquiry->strands[i] = agent->strand;
        if (agent->status == AGENT_ENDED || agent->status == AGENT_IDLE || agent->status == AGENT_READY)
            continue;
        Blocked *blocked = &inquiry->blocked[inquiry->count++];
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

static void keep_barriers(Inquiry *inquiry) {
    const Machine *machine = inquiry->machine;
    Barrier *before = ARENA_ARRAY(inquiry->verdict->arena, Barrier, machine->slot_count + 1);
    memcpy(before, machine->state->barriers, machine->slot_count * sizeof *before);
    inquiry->before = before;
}

/* Whether it would fill what another blocked agent waits for, and stands before that at a barrier of which no phase was
 * ever complete: it waits for room where nothing has taken any. */
static bool waits_for_room(const Inquiry *inquiry, const Blocked *blocked) {
    if (blocked->status != AGENT_WAITS || blocked->parity || blocked->state.generation != blocked->state.born)
        return false;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        const Blocked *other = &inquiry->blocked[i];
        if (other != blocked && other->released && other->releaser.kind == DEED_EXPECT &&
            other->releaser.agent == blocked->agent)
            return true;
    }
    return false;
}

static uint64_t waits_passed(const Inquiry *inquiry, uint32_t agent) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < inquiry->machine->slot_count; i++)
        count += history_pass(inquiry->history, i, agent)->count;
    return count;
}

/* Who stands in a circle, waits for the very first phase of a barrier, and has come less far than all others who do:
 * what should have let it start never came. */
static bool find_unstarted(const Inquiry *inquiry, uint32_t *found) {
    uint64_t least = UINT64_MAX;
    bool any = false, progress = false;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        const Blocked *blocked = &inquiry->blocked[i];
        if (blocked->status != AGENT_WAITS || !inquiry_in_circle(inquiry, blocked))
            continue;
        uint64_t passed = waits_passed(inquiry, blocked->agent);
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
static uint32_t pick_wrong(const Inquiry *inquiry) {
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].clash_pcs[1] != NO_PC)
            return i;
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].repeats_more && inquiry_in_circle(inquiry, &inquiry->blocked[i]))
            return i;
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].taken != NO_BARRIER)
            return i;
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].room != ROOM_NOT || waits_for_room(inquiry, &inquiry->blocked[i]))
            return i;
    return UINT32_MAX;
}

/* The one that explains the others. */
static uint32_t pick(const Inquiry *inquiry) {
    static const RuleId order[] = {RULE_DEADLOCK_BYTES, RULE_DEADLOCK_LAPPED, RULE_DEADLOCK_PARITY,
                                   RULE_DEADLOCK_NO_PRODUCER, RULE_DEADLOCK_EXITED};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = 0; i < inquiry->count; i++)
            if (inquiry->blocked[i].rooted && inquiry->blocked[i].rule == order[k])
                return i;
    uint32_t found = pick_wrong(inquiry);
    if (found != UINT32_MAX || find_unstarted(inquiry, &found))
        return found;
    for (int circle = 1; circle >= 0; circle--)
        for (uint32_t i = 0; i < inquiry->count; i++)
            if (inquiry->blocked[i].status != AGENT_JOINS &&
                (!circle || inquiry_in_circle(inquiry, &inquiry->blocked[i])))
                return i;
    return 0;
}

static void move_to(Inquiry *inquiry, uint32_t from, uint32_t to) {
    Blocked moved = inquiry->blocked[from];
    memmove(&inquiry->blocked[to + 1], &inquiry->blocked[to], (from - to) * sizeof moved);
    inquiry->blocked[to] = moved;
}

/* Who waits for whom: the root first, then those who wait for it, then those who wait for them. */
static void sort_by_cause(Inquiry *inquiry) {
    uint32_t sorted = 0;
    move_to(inquiry, pick(inquiry), sorted++);
    for (uint32_t cause = 0; cause < inquiry->count; cause++) {
        if (cause == sorted)
            sorted++; /* who waits for none of these */
        for (uint32_t i = sorted; i < inquiry->count; i++)
            if (inquiry->blocked[i].released && inquiry->blocked[i].releaser.agent == inquiry->blocked[cause].agent)
                move_to(inquiry, i, sorted++);
    }
}

/* ---- The finding ---------------------------------------------------------------------------------- */

Finding *blocked_explain(Machine *machine, const History *history, Verdict *verdict) {
    Inquiry inquiry = {.machine = machine, .history = history, .verdict = verdict};
    find_blocked(&inquiry);
    keep_barriers(&inquiry);
    find_bytes(&inquiry);
    let_through(&inquiry);
    bool mbarrier = false, cluster = false;
    for (uint32_t i = 0; i < inquiry.count; i++) {
        classify(&inquiry, &inquiry.blocked[i]);
        find_cadence(&inquiry, &inquiry.blocked[i]);
        find_unreleased(&inquiry, &inquiry.blocked[i]);
        find_clash(&inquiry, &inquiry.blocked[i]);
        inquiry.blocked[i].room = find_room(&inquiry, &inquiry.blocked[i]);
        mbarrier |= inquiry.blocked[i].status == AGENT_WAITS;
        cluster |= inquiry.blocked[i].status == AGENT_CLUSTER;
    }
    sort_by_cause(&inquiry);
    const Blocked *root = &inquiry.blocked[0];
    bool mixed = mbarrier && cluster && root->rule == RULE_DEADLOCK_CYCLE;
    Finding *finding =
        inquiry_finding(&inquiry, mixed ? RULE_DEADLOCK_MIXED : root->rule, inquiry.count + MOST_TOLD + 5);
    blocked_tell(&inquiry, root, finding);
    blocked_table(&inquiry, finding);
    return finding;
}
