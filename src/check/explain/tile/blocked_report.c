/* What is reported of a stuck run: the agent whose wait explains those of the others, and the places that belong to it.
 */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/explain.h"
#include "check/explain/place.h"
#include "machine/tile/schedule/barrier_ops.h"

#include <stdlib.h>

/* What is reported of an agent that waits forever. */
typedef struct Case {
    const Diagnosis *diagnosis;
    const Blocked *root;
    Verdict *verdict;
    const BarrierHistory *past; /* of an mbarrier; else NULL */
    Facts facts;
} Case;

static const char *at(const Case *c, uint32_t pc) {
    return ir_line_text(c->diagnosis->machine, pc, c->verdict);
}

static const char *agent_text(const Case *c, uint32_t agent) {
    return diagnosis_agent(c->diagnosis, agent, HELPER_BASE);
}

/* The same in a sentence. */
static const char *agent_in_words(const Case *c, uint32_t agent) {
    return explain_agent(c->verdict, agent_text(c, agent));
}

/* "%full[0], parity 0; phase 2 is not complete (1 of 1 arrival pending, 16384 bytes outstanding)" */
static const char *state_text(const Diagnosis *diagnosis, const Blocked *blocked) {
    Verdict *verdict = diagnosis->verdict;
    if (blocked->status == AGENT_NAMED)
        return verdict_text(verdict, "named barrier %u: %u of %u threads have arrived",
                            blocked->barrier % NAMED_BARRIERS, blocked->meeting.arrived, blocked->meeting.expected);
    if (blocked->status == AGENT_CLUSTER)
        return verdict_text(verdict, "%u of the agents of the cluster have arrived", blocked->meeting.arrived);
    if (blocked->status == AGENT_JOINS)
        return "waits for the partitions to exit";
    Facts facts = diagnosis_facts(diagnosis, blocked);
    return verdict_text(verdict, "%s, parity %u; %s", facts.object, blocked->parity, explain_phase(verdict, &facts));
}

const char *diagnosis_awaited(const Diagnosis *diagnosis, const Blocked *blocked) {
    if (blocked->status == AGENT_NAMED)
        return verdict_text(diagnosis->verdict, "named barrier %u", blocked->barrier % NAMED_BARRIERS);
    if (blocked->status == AGENT_CLUSTER)
        return "the cluster barrier";
    if (blocked->status == AGENT_JOINS)
        return "the partitions";
    return diagnosis_barrier(diagnosis, blocked->barrier);
}

Facts diagnosis_facts(const Diagnosis *diagnosis, const Blocked *blocked) {
    const Barrier *barrier = &blocked->state;
    Facts facts = {.agent = diagnosis_agent(diagnosis, blocked->agent, HELPER_BASE),
                   .waits = "waits",
                   .its = "its",
                   .object = diagnosis_awaited(diagnosis, blocked),
                   .here = ir_line_text(diagnosis->machine, blocked->pc, diagnosis->verdict),
                   .asked = verdict_text(diagnosis->verdict, " for parity %u", blocked->parity),
                   .parity = blocked->parity,
                   .phases = barrier->generation - barrier->born,
                   .count = barrier->count,
                   .pending = barrier->pending,
                   .arrived = barrier->count - barrier->pending,
                   .bytes = barrier->bytes};
    return facts;
}

/* ---- Barriers of threads --------------------------------------------------------------------------- */

static CauseId explain_meeting(Case *c) {
    const Blocked *root = c->root;
    c->facts.arrived = root->meeting.arrived;
    c->facts.count = root->meeting.expected;
    if (root->status == AGENT_CLUSTER)
        return CAUSE_CLUSTER_BARRIER;
    if (root->clash_pcs[1] != NO_PC) { /* ops that do not agree on how many threads come */
        c->facts.place = at(c, root->clash_pcs[0]);
        c->facts.arrive = at(c, root->clash_pcs[1]);
        c->facts.first = root->clash_threads[0];
        c->facts.second = root->clash_threads[1];
        return CAUSE_THREADS_DISAGREE;
    }
    c->facts.detail = root->rule == RULE_DEADLOCK_CYCLE ? "the missing arrival comes after a wait that is blocked, too"
                      : root->rule == RULE_DEADLOCK_EXITED ? "the partition that arrived before has exited"
                                                           : "nothing else arrives";
    return CAUSE_NAMED_BARRIER;
}

/* ---- Parity ---------------------------------------------------------------------------------------- */

/* The parity asked for does not go with the phases; or another agent's does not, so that its wait holds nothing back,
 * and it laps this one. */
static CauseId explain_parity(Case *c) {
    const Blocked *root = c->root;
    const LastPass *pass = history_pass(c->diagnosis->history, root->barrier, root->agent);
    if (root->idle) {
        c->facts.other = agent_text(c, root->idle_agent);
        c->facts.barrier = diagnosis_barrier(c->diagnosis, root->idle_barrier);
        c->facts.place = at(c, root->idle->pc);
        c->facts.parity = root->idle->parity;
        c->facts.first = root->idle->again + 1;
        return root->idle->again ? CAUSE_PASSES_AGAIN : CAUSE_PASSES_FRESH;
    }
    if (!pass->any) { /* its first wait asks for the phase after the one that it knows to be complete */
        c->facts.place = at(c, c->past->last[0].pc);
        c->facts.detail = root->released ? verdict_text(c->verdict, "whose arrival, at %s, comes after this wait",
                                                        at(c, root->releaser.pc))
                                         : "which no arrival completes";
        return CAUSE_PARITY_FIRST;
    }
    c->facts.place = at(c, pass->pc);
    c->facts.first = pass->parity;
    c->facts.second = pass->generation - root->state.born;
    return CAUSE_PARITY_REPEATED;
}

/* ---- Bytes ----------------------------------------------------------------------------------------- */

/* Bytes have come, and the expect that goes with them has not. */
static CauseId explain_unexpected(Case *c) {
    const BarrierAct *copy = NULL;
    uint32_t count = c->past->phase_count < MOST_REMEMBERED ? c->past->phase_count : MOST_REMEMBERED;
    for (uint32_t i = 0; i < count && !copy; i++)
        copy = c->past->phase[i].kind == BARRIER_ACT_DELIVER ? &c->past->phase[i] : NULL;
    c->facts.other = copy ? verdict_text(c->verdict, "the copy at %s", at(c, copy->pc)) : "a copy";
    c->facts.bytes = -c->facts.bytes;
    if (c->root->released)
        c->facts.detail = verdict_text(c->verdict, " (the expect at %s comes after a wait that is blocked, too)",
                                       at(c, c->root->releaser.pc));
    return CAUSE_BYTES_UNEXPECTED;
}

/* The lines of the ops of this phase that expect bytes, or deliver them; each once. Returns the bytes of one time each.
 */
static int64_t list_lines(const Case *c, BarrierActKind kind, Text *to) {
    uint32_t count = c->past->phase_count < MOST_REMEMBERED ? c->past->phase_count : MOST_REMEMBERED;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const BarrierAct *barrier_act = &c->past->phase[i];
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= c->past->phase[k].kind == kind && c->past->phase[k].pc == barrier_act->pc;
        if (barrier_act->kind != kind || again)
            continue;
        text_addf(to, "%s%s", to->size ? " and " : "", at(c, barrier_act->pc));
        bytes += barrier_act->amount;
    }
    return bytes;
}

/* "The expect at IR line 38 announces 16384 bytes, and the copies at IR line 39 and IR line 40 deliver 49152. " */
static const char *announced_text(const Case *c) {
    Text expects = {0}, copies = {0};
    Facts facts = {.first = list_lines(c, BARRIER_ACT_EXPECT, &expects),
                   .second = list_lines(c, BARRIER_ACT_DELIVER, &copies)};
    facts.arrive = verdict_keep(c->verdict, &expects);
    facts.place = verdict_keep(c->verdict, &copies);
    facts.count = strstr(facts.place, " and ") ? 2 : 1;
    facts.more = explain_text(
        c->verdict, *facts.arrive ? "The expect at {arrive} announces {first} bytes" : "No expect announces bytes",
        &facts);
    return explain_text(c->verdict,
                        *facts.place ? "{more}, and the cop{count:y|ies} at {place} deliver{count:s|} {second}. "
                                     : "{more}, and no copy delivers any. ",
                        &facts);
}

/* All arrivals are there, the bytes are not. */
static CauseId explain_bytes(Case *c) {
    int64_t bytes = c->root->bytes;
    c->facts.bytes = llabs(bytes);
    c->facts.more = c->facts.pending ? "even with all other arrivals, " : "all arrivals are in, but ";
    c->facts.last = bytes > 0 ? "bytes never arrive" : "more bytes arrive than are expected";
    c->facts.detail = announced_text(c);
    c->facts.next = verdict_text(
        c->verdict, "%+lld remain%s.%s", (long long)bytes,
        c->past->expected - c->past->delivered == bytes ? "" : ", including the rest of earlier phases",
        c->facts.pending ? explain_text(c->verdict,
                                        " {pending} of {count} arrivals are pending, too, but only because the "
                                        "agents that make them are blocked.",
                                        &c->facts)
                         : "");
    return CAUSE_BYTES;
}

/* ---- Lapped ---------------------------------------------------------------------------------------- */

/* Why nothing holds back who completes the phases. */
static const char *unheld_text(Case *c) {
    const Machine *machine = c->diagnosis->machine;
    const BarrierAct *lapper = &c->past->last[0];
    Facts facts = {.other = agent_text(c, lapper->agent), .place = at(c, lapper->pc)};
    Text sign = {0};
    channel_name(machine, c->root->sign, &sign);
    facts.barrier = verdict_keep(c->verdict, &sign);
    facts.agent = agent_text(c, c->root->sign_agent);
    facts.arrive = at(c, c->root->sign_pc);
    facts.more =
        explain_text(c->verdict,
                     c->root->sign_waited ? "{other} does not wait for it before {place}"
                     : strand_waits(machine, ANY_STRAND, c->root->sign) == NO_PC ? "nothing waits for it"
                                                                                 : "{other} never waits for it",
                     &facts);
    c->facts.fix = explain_text(
        c->verdict, "Have {other} wait on {barrier} (this slot, this phase) before its op at {place}.", &facts);
    return explain_text(c->verdict,
                        "Nothing keeps {other} from completing the next phase before the wait has seen the previous "
                        "one: {agent} arrives on {barrier} at {arrive}, but {more}.",
                        &facts);
}

/* " (the last two by IR line 39 and IR line 40)" */
static const char *completed_text(const Case *c) {
    const BarrierAct *last = c->past->last;
    if (c->past->last_count < 2)
        return "";
    Facts facts = {.other = agent_text(c, last[0].agent), .place = at(c, last[0].pc), .here = at(c, last[1].pc)};
    return explain_text(c->verdict,
                        last[0].pc == last[1].pc ? " (the last two by {other} at {place})"
                                                 : " (the last two by {other} at {here} and at {place})",
                        &facts);
}

/* Phases are over before any agent looks. */
static CauseId explain_lapped(Case *c) {
    const LastPass *pass = history_pass(c->diagnosis->history, c->root->barrier, c->root->agent);
    uint32_t born = c->root->state.born;
    c->facts.next = "it waits";
    c->facts.more = completed_text(c);
    c->facts.last = pass->any && pass->generation > born
                        ? verdict_text(c->verdict, "the last phase that %s saw is phase %u",
                                       explain_agent(c->verdict, c->facts.agent), pass->generation - born - 1)
                        : explain_text(c->verdict, "{agent} has seen none of them", &c->facts);
    c->facts.fix = "Before arriving, wait until the waiter is past this wait (an \"empty\" barrier on which the waiter "
                   "arrives), or arrive only once.";
    c->facts.detail = c->root->sign != NO_BARRIER ? unheld_text(c) : explain_unheld;
    return CAUSE_LAPPED;
}

/* ---- Arrivals -------------------------------------------------------------------------------------- */

/* "%full[0] at IR line 109 and on %full[1] at IR line 123": where arrivals come on other slots of the ring; "" if on
 * none. */
static const char *other_slots(const Case *c) {
    enum { MOST_SLOTS = 4 };
    const Machine *machine = c->diagnosis->machine;
    BarrierPlace here = barrier_place(machine, c->root->barrier);
    Text text = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->slot_count && !c->past->barrier_acts && here.allocation && here.depth > 1; i++) {
        const BarrierHistory *past = &c->diagnosis->history->barriers[i];
        BarrierPlace there = barrier_place(machine, i);
        if (there.allocation != here.allocation || there.side != here.side || !past->barrier_acts ||
            barrier_cta(machine, i) != barrier_cta(machine, c->root->barrier) || count++ >= MOST_SLOTS)
            continue;
        text_addf(&text, "%s%s at %s", text.size ? " and on " : "", diagnosis_barrier(c->diagnosis, i),
                  at(c, past->latest.pc));
    }
    return verdict_keep(c->verdict, &text);
}

/* "default, which waits for %full at IR line 41,": the agent that waits for what this one signals next is likely to be
 * the one that it waits for; "" if there is none. */
static const char *peer_text(const Case *c) {
    const Machine *machine = c->diagnosis->machine;
    const Program *program = machine->program;
    uint32_t own = c->diagnosis->strands[c->root->agent];
    for (uint32_t pc = c->root->pc + 1, end = strand_end(program, own); pc < end; pc++)
        for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
            const Effect *effect = &program->effects[program->code[pc].aux + i].effect;
            BarrierRange range = effect_barriers(program, effect);
            uint32_t signaled = effect_signals(effect) ? range_first(machine, &range) : NO_BARRIER;
            if (signaled == NO_BARRIER || range_has(machine, &range, c->root->barrier))
                continue;
            for (uint32_t s = 0; s < program->strand_count; s++) {
                uint32_t wait = s == own ? NO_PC : strand_waits(machine, s, signaled);
                Text name = {0};
                if (wait == NO_PC)
                    continue;
                channel_name(machine, signaled, &name);
                uint32_t first = agent_cta(machine, c->root->agent) * program->agents_per_cta;
                return verdict_text(c->verdict, "%s, which waits for %s at %s,",
                                    agent_in_words(c, first + program->strands[s].index),
                                    verdict_keep(c->verdict, &name), at(c, wait));
            }
            return "";
        }
    return "";
}

/* What would complete the phase, in the words of what the barrier is. */
static const char *fix_of_missing(const Case *c, const char *slots) {
    Side side = barrier_place(c->diagnosis->machine, c->root->barrier).side;
    if (*slots)
        return "Derive the index of the arrive and that of the wait from the same count, so that both use the same "
               "slots in the same order.";
    if (side != SIDE_NONE)
        return side == SIDE_EMPTY ? "Release the slot after its last use: `nvws.consumer_release` of a token, "
                                    "`nvws.aref.get.exit` of an aref."
                                  : "Commit the slot when it is filled: `nvws.producer_commit` of a token, "
                                    "`nvws.aref.put.exit` of an aref.";
    const char *peer = peer_text(c);
    if (*peer && !c->past->barrier_acts)
        return verdict_text(c->verdict,
                            "Have %s arrive on %s after that (`ttng.arrive_barrier`; `ttng.tc_gen5_commit` for "
                            "tensor-core work, `ttng.barrier_expect` for copies), or remove the wait.",
                            peer, c->facts.object);
    return c->past->barrier_acts
               ? "Set the count of `ttng.init_barrier` to the number of arrivals per phase, or add the missing "
                 "`ttng.arrive_barrier` (check its slot)."
               : "Add the `ttng.arrive_barrier`, `ttng.tc_gen5_commit` or `ttng.barrier_expect` on this slot (check "
                 "on which slot the other arrivals are), or remove the wait.";
}

/* Arrivals are missing, and nothing makes them. */
static CauseId explain_no_producer(Case *c) {
    ReportPlace arriver;
    const char *slots = other_slots(c);
    c->facts.detail = "no agent that is blocked would add one";
    c->facts.fix = fix_of_missing(c, slots);
    if (c->facts.arrived) {
        c->facts.more = c->facts.phases ? explain_text(c->verdict, "in phase {phases}, ", &c->facts) : "";
        return CAUSE_ARRIVALS_MISSING;
    }
    c->facts.more = slots;
    if (*slots)
        return CAUSE_ARRIVALS_ELSEWHERE;
    if (blocked_arriver(c->diagnosis, c->root, false, &arriver)) {
        c->facts.other = arriver.partition;
        c->facts.place = verdict_text(c->verdict, "IR line %u", arriver.ir_line);
        c->facts.more = arriver.detail;
        return CAUSE_ARRIVAL_HELD;
    }
    c->facts.more = c->past->delivered                                       ? "bytes are delivered, but "
                    : blocked_arriver(c->diagnosis, c->root, true, &arriver) ? "copies complete on it, but "
                                                                             : "";
    c->facts.last = c->facts.phases ? " any more" : "";
    return CAUSE_ARRIVALS_NONE;
}

/* Who would arrive has ended. */
static CauseId explain_exited(Case *c) {
    c->facts.other = diagnosis_agent(c->diagnosis, c->root->exited.agent, c->root->exited.helper);
    c->facts.place = at(c, c->root->exited.pc);
    c->facts.detail = "is in a loop that ran too few iterations";
    return CAUSE_EXITED;
}

/* ---- Circles --------------------------------------------------------------------------------------- */

/* Who waits for whom, from the root on. */
static const char *circle_text(const Case *c) {
    enum { MOST_LINKS = 4 };
    WaitLink links[MOST_LINKS];
    uint32_t count = 0;
    const Blocked *here = c->root, *next = here;
    for (; count < MOST_LINKS && next && here->released && !(count && here == c->root); here = next) {
        next = diagnosis_releaser(c->diagnosis, here);
        links[count++] = (WaitLink){.agent = agent_text(c, here->releaser.agent),
                                    .place = at(c, here->releaser.pc),
                                    .object = next ? diagnosis_awaited(c->diagnosis, next) : NULL,
                                    .wait = next ? at(c, next->pc) : NULL,
                                    .its = "its",
                                    .closes = next == c->root};
    }
    return explain_circle(c->verdict, &c->facts, links, count);
}

/* Who would arrive waits, through others, for this one. */
static CauseId explain_cycle(Case *c) {
    const Blocked *root = c->root, *next = diagnosis_releaser(c->diagnosis, root);
    const Program *program = c->diagnosis->machine->program;
    c->facts.detail = circle_text(c);
    c->facts.more = "arrives";
    c->facts.next = next ? diagnosis_awaited(c->diagnosis, next) : "another";
    if (root->released) {
        c->facts.other = diagnosis_agent(c->diagnosis, root->releaser.agent, root->releaser.helper);
        c->facts.place = at(c, root->releaser.pc);
    }
    if (root->repeats_more) { /* it waits each time in a loop for what comes once, or less often */
        const Op *loop = diagnosis_loop(program->ops[root->pc]);
        c->facts.wait = verdict_text(c->verdict, "IR line %u", loop ? op_line(program->module, loop) : 0);
        return CAUSE_CIRCLE_CADENCE;
    }
    if (root->taken != NO_BARRIER) { /* the agent that should release the slot took it, and waits for the next first */
        c->facts.barrier = diagnosis_barrier(c->diagnosis, root->taken);
        c->facts.wait = at(c, history_pass(c->diagnosis->history, root->taken, root->releaser.agent)->pc);
        c->facts.place = next ? at(c, next->pc) : "";
        c->facts.first = c->facts.phases + 1;
        return CAUSE_CIRCLE_UNRELEASED;
    }
    if (root->released && root->releaser.agent == root->agent)
        return CAUSE_CIRCLE_SELF;
    if (root->room == ROOM_OF_DATA && next)
        c->facts.place = at(c, next->releaser.pc);
    return root->room == ROOM_EMPTY             ? CAUSE_CIRCLE_EMPTY
           : root->room == ROOM_OF_DATA && next ? CAUSE_CIRCLE_DATA
                                                : CAUSE_CIRCLE;
}

static CauseId explain_root(Case *c) {
    if (!c->past)
        return explain_meeting(c);
    switch (c->root->rule) {
    case RULE_DEADLOCK_BYTES:
        return explain_bytes(c);
    case RULE_DEADLOCK_LAPPED:
        return explain_lapped(c);
    case RULE_DEADLOCK_PARITY:
        return explain_parity(c);
    case RULE_DEADLOCK_NO_PRODUCER:
        return c->root->unexpected ? explain_unexpected(c) : explain_no_producer(c);
    case RULE_DEADLOCK_EXITED:
        return explain_exited(c);
    default:
        return explain_cycle(c);
    }
}

static void add_places(const Diagnosis *diagnosis, const Blocked *root, Finding *finding) {
    const BarrierHistory *past = root->status == AGENT_WAITS ? &diagnosis->history->barriers[root->barrier] : NULL;
    diagnosis_place(diagnosis, finding, "waits", (BarrierAct){.agent = root->agent, .pc = root->pc},
                    state_text(diagnosis, root));
    if (root->released)
        diagnosis_place(diagnosis, finding, "would arrive", root->releaser, "if it got here");
    if (root->rule == RULE_DEADLOCK_EXITED && past)
        diagnosis_place(diagnosis, finding, "would arrive", root->exited, "has ended");
    if (root->idle)
        diagnosis_place(diagnosis, finding, "does not wait",
                        (BarrierAct){.agent = root->idle_agent, .pc = root->idle->pc},
                        diagnosis_barrier(diagnosis, root->idle_barrier));
    if (past && root->rule == RULE_DEADLOCK_BYTES) {
        diagnosis_barrier_acts(diagnosis, finding, past);
    } else if (past && !root->released) {
        for (uint32_t i = past->last_count; i-- > 0;)
            diagnosis_place(
                diagnosis, finding, "completed", past->last[i],
                verdict_text(diagnosis->verdict, "phase %u", root->state.generation - root->state.born - 1 - i));
        if (!past->last_count && past->initialized)
            diagnosis_init_place(diagnosis, finding, past, root->state.count);
    }
    for (uint32_t i = 1; i < diagnosis->count; i++) {
        const Blocked *other = &diagnosis->blocked[i];
        if (other->status != AGENT_JOINS)
            diagnosis_place(diagnosis, finding, "waits too", (BarrierAct){.agent = other->agent, .pc = other->pc},
                            state_text(diagnosis, other));
    }
}

void blocked_report(const Diagnosis *diagnosis, const Blocked *root, Finding *finding) {
    Case c = {.diagnosis = diagnosis,
              .root = root,
              .verdict = diagnosis->verdict,
              .past = root->status == AGENT_WAITS ? &diagnosis->history->barriers[root->barrier] : NULL,
              .facts = diagnosis_facts(diagnosis, root)};
    CauseId cause = explain_root(&c);
    explain(diagnosis->verdict, finding, cause, &c.facts);
    add_places(diagnosis, root, finding);
}
