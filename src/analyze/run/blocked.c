/* Explains a stuck run. The order of the questions matters: what has gone wrong already (lapped, bytes,
 * parity) comes before what would still come (cycle) or not (no producer, exited). */
#include "analyze/run/blocked_internal.h"

#include "analyze/telling/place.h"

#include <stdlib.h>

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
    inquiry_place(inquiry, finding, "initialised", (Deed){.agent = past->init_agent, .pc = past->init_pc},
                  verdict_text(inquiry->verdict, "%u arrival%s a phase", count, plural(count)));
}

uint32_t inquiry_deeds(const Inquiry *inquiry, Finding *finding, const BarrierHistory *past) {
    uint32_t count = past->phase_count < MOST_REMEMBERED ? past->phase_count : MOST_REMEMBERED;
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

/* "parity 0; 2 phases complete, 1 of 1 arrivals pending, 16384 bytes to come" */
static const char *state_text(const Inquiry *inquiry, const Blocked *blocked) {
    Verdict *verdict = inquiry->verdict;
    if (blocked->status == AGENT_NAMED)
        return verdict_text(verdict, "named barrier %u: %u of %u threads have come", blocked->barrier % NAMED_BARRIERS,
                            blocked->meeting.arrived, blocked->meeting.expected);
    if (blocked->status == AGENT_CLUSTER)
        return verdict_text(verdict, "%u of the agents of the cluster have arrived", blocked->meeting.arrived);
    if (blocked->status == AGENT_JOINS)
        return "waits for the partitions to end";
    const Barrier *barrier = &blocked->state;
    uint32_t phases = barrier->generation - barrier->born;
    const char *bytes = "";
    if (barrier->bytes)
        bytes = verdict_text(verdict, barrier->bytes > 0 ? ", %lld bytes still to come" : ", %lld bytes too many",
                             (long long)llabs(barrier->bytes));
    return verdict_text(verdict, "%s, parity %u; phase %u is not complete (%u of %u arrival%s pending%s)",
                        inquiry_barrier(inquiry, blocked->barrier), blocked->parity, phases, barrier->pending,
                        barrier->count, plural(barrier->count), bytes);
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

/* Runs on with every agent that waits let through, but for one (UINT32_MAX: for none), until it goes on. */
static void force_through(Machine *machine, uint32_t but) {
    uint64_t budget = machine->budget;
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
}

static void let_through(Inquiry *inquiry) {
    inquiry->machine->observe = watch_release;
    inquiry->machine->observer = inquiry;
    force_through(inquiry->machine, UINT32_MAX);
    inquiry->machine->observe = NULL;
}

/* The first phase of the barrier in which all arrivals are there: which bytes are not, with everybody else let through.
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

/* An arrival may be missing on a barrier because somebody waits, in the end, for this very wait; if the bytes are wrong
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

/* The op by which a strand arrives on the storage of a barrier, in a loop that could have gone round more often. */
static bool strand_arrives(const Machine *machine, uint32_t strand, uint32_t barrier, uint32_t *pc) {
    const Program *program = machine->program;
    uint32_t storage = (uint32_t)(machine->slot_places[barrier % machine->slots_per_cta] >> 32);
    uint32_t end = strand + 1 < program->strand_count ? program->strands[strand + 1].entry : program->code_count;
    for (uint32_t at = program->strands[strand].entry; at < end; at++) {
        const Instruction *instruction = &program->code[at];
        if (instruction->code != CODE_EFFECTS || !is_in_loop(program->ops[at]))
            continue;
        for (uint32_t i = 0; i < instruction->a; i++) {
            const Effect *effect = &program->effects[instruction->aux + i].effect;
            if (effect->verb != EFFECT_ARRIVE && effect->verb != EFFECT_EXPECT)
                continue;
            const Allocation *allocation = allocation_of(&program->allocations, program->module, effect->on);
            if (allocation && allocation->storage == storage) {
                *pc = at;
                return true;
            }
        }
    }
    return false;
}

/* Another agent that arrives on barriers of this kind in a loop, and has run to its end. */
static bool find_exited(const Inquiry *inquiry, Blocked *blocked) {
    const Machine *machine = inquiry->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint32_t pc;
        if (i == blocked->agent || !inquiry->ran[i] || !inquiry_ended(inquiry, i) ||
            !strand_arrives(machine, inquiry->strands[i], blocked->barrier, &pc))
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
        if (past->last_count && find_idle_wait(inquiry, past->last[0].agent, blocked))
            blocked->rule = RULE_DEADLOCK_PARITY;
        return;
    }
    if (blocked->released) {
        blocked->rule = RULE_DEADLOCK_CYCLE;
        blocked->rooted = false;
        return;
    }
    bool partial = barrier->pending < barrier->count;
    if (pass->any && past->last_count && past->last[0].agent == blocked->agent)
        blocked->rule = RULE_DEADLOCK_PARITY;
    else if (!partial && find_exited(inquiry, blocked))
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
    for (uint32_t i = 0; i < machine->agent_count && inquiry->count < MOST_BLOCKED; i++) {
        const Agent *agent = &machine->state->agents[i];
        inquiry->ran[i] = agent->status != AGENT_IDLE;
        inquiry->strands[i] = agent->strand;
        if (agent->status == AGENT_ENDED || agent->status == AGENT_IDLE || agent->status == AGENT_READY)
            continue;
        Blocked *blocked = &inquiry->blocked[inquiry->count++];
        *blocked = (Blocked){
            .agent = i, .pc = agent->pc, .status = agent->status, .parity = agent->parity, .barrier = agent->barrier};
        if (agent->status == AGENT_WAITS)
            blocked->state = machine->state->barriers[agent->barrier];
        else if (agent->status == AGENT_NAMED)
            blocked->meeting = machine->state->named[agent->barrier];
        else if (agent->status == AGENT_CLUSTER)
            blocked->meeting = machine->state->cluster[agent->barrier];
    }
}

/* Whether it would fill what another blocked agent waits for, and stands before that at a barrier of which no phase was
 * ever complete: it waits for room where nobody has taken any. */
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

/* The one that explains the others. */
static uint32_t pick(const Inquiry *inquiry) {
    static const RuleId order[] = {RULE_DEADLOCK_BYTES, RULE_DEADLOCK_LAPPED, RULE_DEADLOCK_PARITY,
                                   RULE_DEADLOCK_NO_PRODUCER, RULE_DEADLOCK_EXITED};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = 0; i < inquiry->count; i++)
            if (inquiry->blocked[i].rooted && inquiry->blocked[i].rule == order[k])
                return i;
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (waits_for_room(inquiry, &inquiry->blocked[i]))
            return i;
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].status != AGENT_JOINS)
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

const char *inquiry_awaited(const Inquiry *inquiry, const Blocked *blocked) {
    if (blocked->status == AGENT_NAMED)
        return verdict_text(inquiry->verdict, "named barrier %u", blocked->barrier % NAMED_BARRIERS);
    if (blocked->status == AGENT_CLUSTER)
        return "the cluster barrier";
    if (blocked->status == AGENT_JOINS)
        return "the partitions";
    return inquiry_barrier(inquiry, blocked->barrier);
}

/* What is told of an agent that waits for ever. */
typedef struct Case {
    const Inquiry *inquiry;
    const Blocked *root;
    Verdict *verdict;
    const char *agent, *what;
    const Barrier *barrier; /* of one that waits for an mbarrier; its past, and how many phases are complete */
    const BarrierHistory *past;
    uint32_t phases;
} Case;

static void explain_meeting(const Case *c, Finding *finding) {
    if (c->root->status == AGENT_CLUSTER) {
        finding->message = verdict_text(
            c->verdict, "%s waits for ever at the cluster barrier: not every thread of the cluster comes to it",
            c->agent);
        finding->why = "The cluster barrier of the hardware counts all threads of all CTAs of the cluster; the other "
                       "partitions of the "
                       "CTA are alive and never arrive.";
        finding->fix = "Put the cluster barrier outside of warp_specialize, or hand over through an mbarrier that the "
                       "peer arrives on.";
        return;
    }
    finding->message = verdict_text(c->verdict, "%s waits for ever at %s: %u of %u threads come to it", c->agent,
                                    c->what, c->root->meeting.arrived, c->root->meeting.expected);
    finding->why = verdict_text(
        c->verdict,
        "A named barrier opens when as many threads have come as its count says (%u); each partition "
        "brings its warps times 32. Only %u have, and %s.",
        c->root->meeting.expected, c->root->meeting.arrived,
        c->root->rule == RULE_DEADLOCK_CYCLE ? "the arrival that is missing comes after a wait that is blocked itself"
        : c->root->rule == RULE_DEADLOCK_EXITED ? "the partition that came here before has ended"
                                                : "nobody else comes");
    finding->fix =
        "Make the count the sum of the threads that wait and that arrive, and let the first waiter of a ping-pong be "
        "released by an arrive before the loop.";
}

/* The parity asked for does not go with the phases. */
static void explain_parity(const Case *c, Finding *finding) {
    const LastPass *pass = history_pass(c->inquiry->history, c->root->barrier, c->root->agent);
    finding->message = verdict_text(
        c->verdict, "%s waits for ever for %s: it asks for parity %u, the phase after the one that is completed",
        c->agent, c->what, c->root->parity);
    finding->why = verdict_text(
        c->verdict,
        "%u phase%s complete; the wait before, at IR line %u, passed with parity %u when %u were, and parity %u now "
        "means phase %u, which is not completed before this wait is passed. The parity asked for must alternate "
        "exactly with the phases.",
        c->phases, c->phases == 1 ? " is" : "s are", line_at(c->inquiry->machine, pass->pc), pass->parity,
        pass->generation - c->barrier->born, c->root->parity, c->phases);
    finding->fix = "Compute the parity from the count of the uses of this slot ((count / depth) & 1), carried through "
                   "every loop around it.";
}

/* Someone else's parity does not go with the phases: its wait holds nothing back, and so it laps this one. */
static void explain_idle_wait(const Case *c, Finding *finding) {
    const char *other = inquiry_agent(c->inquiry, c->root->idle_agent, HELPER_BASE);
    const char *slot = inquiry_barrier(c->inquiry, c->root->idle_barrier);
    finding->message = verdict_text(
        c->verdict,
        "%s waits for ever for %s: %s goes past its wait for %s with parity %u again and again, and laps it", c->agent,
        c->what, other, slot, c->root->idle->parity);
    finding->why =
        verdict_text(c->verdict,
                     "The wait at IR line %u passed %u times in a row with parity %u while no phase of %s was "
                     "completed in between, so that it "
                     "holds nobody back; %u phases of %s are complete before %s looks.",
                     line_at(c->inquiry->machine, c->root->idle->pc), c->root->idle->again + 1, c->root->idle->parity,
                     slot, c->phases, c->what, c->agent);
    finding->fix = "Let the parity of that wait alternate with the uses of its slot ((count / depth) & 1), with a "
                   "counter that goes up by one a use.";
}

/* All arrivals are there, the bytes are not. */
static void explain_bytes(const Case *c, Finding *finding) {
    const char *arrivals = c->barrier->pending ? "whoever arrives" : "all arrivals are there";
    finding->message =
        verdict_text(c->verdict,
                     c->root->bytes > 0 ? "%s waits for ever for %s: %s, but %lld bytes never come"
                                        : "%s waits for ever for %s: %s, but %lld bytes more come than are expected",
                     c->agent, c->what, arrivals, (long long)llabs(c->root->bytes));
    if (c->barrier->pending)
        finding->why = verdict_text(
            c->verdict,
            "Phase %u completes when no arrival is pending and the transaction bytes are zero. In it, %lld bytes were "
            "expected and %lld delivered so far. %u of %u arrivals are pending, too, but only since whoever makes them "
            "waits: with all others let through they come, and %+lld bytes remain.",
            c->phases, (long long)c->past->expected, (long long)c->past->delivered, c->barrier->pending,
            c->barrier->count, (long long)c->root->bytes);
    else
        finding->why = verdict_text(
            c->verdict,
            "Phase %u completes when no arrival is pending and the transaction bytes are zero. In it, %lld bytes "
            "were expected and %lld delivered; with what the phases before left over, %+lld remain.",
            c->phases, (long long)c->past->expected, (long long)c->past->delivered, (long long)c->barrier->bytes);
    finding->fix = "Make the expect the sum of the bytes that the copies on this slot and phase deliver (the box "
                   "of a descriptor counts, "
                   "not the size of the destination), and let every copy have its expect.";
}

/* Phases are over before anybody looks. */
static void explain_lapped(const Case *c, Finding *finding) {
    const LastPass *pass = history_pass(c->inquiry->history, c->root->barrier, c->root->agent);
    finding->message = verdict_text(
        c->verdict, "%s waits for ever for %s: the phase that it wants, and the one after it, are over before it looks",
        c->agent, c->what);
    finding->why = verdict_text(
        c->verdict,
        "%u phase%s complete, so parity %u now means phase %u, which nobody completes; %s. "
        "Nothing keeps whoever arrives from completing the next phase before the wait has seen the one before.",
        c->phases, c->phases == 1 ? " is" : "s are", c->root->parity, c->phases,
        pass->any && pass->generation > c->barrier->born
            ? verdict_text(c->verdict, "the last one that %s saw is phase %u", c->agent,
                           pass->generation - c->barrier->born - 1)
            : verdict_text(c->verdict, "%s has seen none of them", c->agent));
    finding->fix = "Let the one who arrives wait first for a sign that the waiter is past this wait (an \"empty\" "
                   "barrier that the waiter arrives "
                   "on), or arrive once only.";
}

/* Arrivals are missing, and nobody makes them. */
static void explain_no_producer(const Case *c, Finding *finding) {
    ReportPlace arriver;
    if (c->barrier->pending < c->barrier->count && !c->phases)
        finding->message =
            verdict_text(c->verdict, "%s waits for ever for %s: %u of %u arrivals come, and nobody makes the others",
                         c->agent, c->what, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (c->barrier->pending < c->barrier->count)
        finding->message = verdict_text(
            c->verdict, "%s waits for ever for %s: in phase %u, %u of %u arrivals come, and nobody makes the others",
            c->agent, c->what, c->phases, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (blocked_arriver(c->inquiry, c->root, &arriver))
        finding->message =
            verdict_text(c->verdict, "%s waits for ever for %s: no arrival comes for phase %u (%s at IR line %u: %s)",
                         c->agent, c->what, c->phases, arriver.partition, arriver.ir_line, arriver.detail);
    else
        finding->message =
            verdict_text(c->verdict, "%s waits for ever for %s: %snothing arrives on it%s", c->agent, c->what,
                         c->past->delivered ? "bytes come, but " : "", c->phases ? " any more" : "");
    finding->why = verdict_text(c->verdict,
                                "The wait for parity %u needs phase %u to complete, which takes %u arrival%s; %u "
                                "came, and letting every blocked agent "
                                "through brings no other.",
                                c->root->parity, c->phases, c->barrier->count, plural(c->barrier->count),
                                c->barrier->count - c->barrier->pending);
    finding->fix = c->past->deeds ? "Make the count of the init the number of arrivals of one phase, or add the "
                                    "arrive that is missing (check its slot)."
                                  : "Add the arrive, commit or expect on this slot (check which slot the others "
                                    "arrive on), or drop the wait.";
}

/* Who would arrive has ended. */
static void explain_exited(const Case *c, Finding *finding) {
    finding->message =
        verdict_text(c->verdict, "%s waits for ever for %s: %s, which arrives on it, has ended", c->agent, c->what,
                     inquiry_agent(c->inquiry, c->root->exited.agent, c->root->exited.helper));
    finding->why = verdict_text(
        c->verdict,
        "%u phase%s complete, and the wait needs phase %u; the arrive at IR line %u is in a loop that went "
        "round too few times for it.",
        c->phases, c->phases == 1 ? " is" : "s are", c->phases, line_at(c->inquiry->machine, c->root->exited.pc));
    finding->fix = "Let both run the same number of iterations, for every trip count, zero and one included.";
}

/* Who would arrive waits, through others, for this one. */
static void explain_cycle(const Case *c, Finding *finding) {
    const char *other =
        c->root->released ? inquiry_agent(c->inquiry, c->root->releaser.agent, c->root->releaser.helper) : "";
    bool self = c->root->released && c->root->releaser.agent == c->root->agent;
    finding->message =
        self ? verdict_text(c->verdict, "%s waits for ever for %s: it would arrive on it itself, after this wait",
                            c->agent, c->what)
             : verdict_text(c->verdict,
                            "%s waits for ever for %s: %s arrives on it only after a wait that is blocked, too",
                            c->agent, c->what, other);
    finding->why =
        verdict_text(c->verdict,
                     "Phase %u of %s is completed by the arrive at IR line %u, and that comes after a wait "
                     "which, through the others, waits "
                     "for this one.",
                     c->phases, c->what, c->root->released ? line_at(c->inquiry->machine, c->root->releaser.pc) : 0);
    finding->fix = "Break the circle: arrive before waiting, make both sides take their slots in the same order, "
                   "or let the first wait on an empty slot "
                   "pass (parity 1 on a fresh barrier).";
}

static void explain(const Inquiry *inquiry, const Blocked *root, Finding *finding) {
    bool waits = root->status == AGENT_WAITS;
    Case c = {.inquiry = inquiry,
              .root = root,
              .verdict = inquiry->verdict,
              .agent = inquiry_agent(inquiry, root->agent, HELPER_BASE),
              .what = inquiry_awaited(inquiry, root),
              .barrier = &root->state,
              .past = waits ? &inquiry->history->barriers[root->barrier] : NULL,
              .phases = root->state.generation - root->state.born};
    if (!waits)
        explain_meeting(&c, finding);
    else if (root->rule == RULE_DEADLOCK_BYTES)
        explain_bytes(&c, finding);
    else if (root->rule == RULE_DEADLOCK_LAPPED)
        explain_lapped(&c, finding);
    else if (root->rule == RULE_DEADLOCK_PARITY && root->idle)
        explain_idle_wait(&c, finding);
    else if (root->rule == RULE_DEADLOCK_PARITY)
        explain_parity(&c, finding);
    else if (root->rule == RULE_DEADLOCK_NO_PRODUCER)
        explain_no_producer(&c, finding);
    else if (root->rule == RULE_DEADLOCK_EXITED)
        explain_exited(&c, finding);
    else
        explain_cycle(&c, finding);
}

static void add_places(const Inquiry *inquiry, const Blocked *root, Finding *finding) {
    const BarrierHistory *past = root->status == AGENT_WAITS ? &inquiry->history->barriers[root->barrier] : NULL;
    inquiry_place(inquiry, finding, "waits", (Deed){.agent = root->agent, .pc = root->pc}, state_text(inquiry, root));
    if (root->released)
        inquiry_place(inquiry, finding, "would arrive", root->releaser, "if it got here");
    if (root->rule == RULE_DEADLOCK_EXITED && past)
        inquiry_place(inquiry, finding, "would arrive", root->exited, "has ended");
    if (root->idle)
        inquiry_place(inquiry, finding, "does not wait", (Deed){.agent = root->idle_agent, .pc = root->idle->pc},
                      inquiry_barrier(inquiry, root->idle_barrier));
    if (past && root->rule == RULE_DEADLOCK_BYTES) {
        inquiry_deeds(inquiry, finding, past);
    } else if (past && !root->released) {
        for (uint32_t i = past->last_count; i-- > 0;)
            inquiry_place(
                inquiry, finding, "completed", past->last[i],
                verdict_text(inquiry->verdict, "phase %u", root->state.generation - root->state.born - 1 - i));
        if (!past->last_count && past->initialised)
            inquiry_init_place(inquiry, finding, past, root->state.count);
    }
    for (uint32_t i = 1; i < inquiry->count; i++) {
        const Blocked *other = &inquiry->blocked[i];
        if (other->status != AGENT_JOINS)
            inquiry_place(inquiry, finding, "waits too", (Deed){.agent = other->agent, .pc = other->pc},
                          state_text(inquiry, other));
    }
}

Finding *blocked_explain(Machine *machine, const History *history, Verdict *verdict) {
    Inquiry inquiry = {.machine = machine, .history = history, .verdict = verdict};
    find_blocked(&inquiry);
    find_bytes(&inquiry);
    let_through(&inquiry);
    bool mbarrier = false, cluster = false;
    for (uint32_t i = 0; i < inquiry.count; i++) {
        classify(&inquiry, &inquiry.blocked[i]);
        mbarrier |= inquiry.blocked[i].status == AGENT_WAITS;
        cluster |= inquiry.blocked[i].status == AGENT_CLUSTER;
    }
    sort_by_cause(&inquiry);
    const Blocked *root = &inquiry.blocked[0];
    bool mixed = mbarrier && cluster && root->rule == RULE_DEADLOCK_CYCLE;
    Finding *finding =
        inquiry_finding(&inquiry, mixed ? RULE_DEADLOCK_MIXED : root->rule, inquiry.count + MOST_REMEMBERED + 5);
    explain(&inquiry, root, finding);
    add_places(&inquiry, root, finding);
    blocked_table(&inquiry, finding);
    return finding;
}
