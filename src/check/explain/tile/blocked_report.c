/* What is reported of a stuck run: the agent whose wait explains those of the others, and the places that belong to it.
 */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"
#include "machine/tile/schedule/barrier_ops.h"

#include <stdlib.h>

/* "parity 0; 2 phases complete, 1 of 1 arrivals pending, 16384 bytes to come" */
static const char *state_text(const Diagnosis *diagnosis, const Blocked *blocked) {
    Verdict *verdict = diagnosis->verdict;
    if (blocked->status == AGENT_NAMED)
        return verdict_text(verdict, "named barrier %u: %u of %u threads have arrived",
                            blocked->barrier % NAMED_BARRIERS, blocked->meeting.arrived, blocked->meeting.expected);
    if (blocked->status == AGENT_CLUSTER)
        return verdict_text(verdict, "%u of the agents of the cluster have arrived", blocked->meeting.arrived);
    if (blocked->status == AGENT_JOINS)
        return "waits for the partitions to exit";
    const Barrier *barrier = &blocked->state;
    uint32_t phases = barrier->generation - barrier->born;
    const char *bytes = "";
    if (barrier->bytes)
        bytes = verdict_text(verdict, barrier->bytes > 0 ? ", %lld bytes outstanding" : ", %lld bytes too many",
                             (long long)llabs(barrier->bytes));
    return verdict_text(verdict, "%s, parity %u; phase %u is not complete (%u of %u arrival%s pending%s)",
                        diagnosis_barrier(diagnosis, blocked->barrier), blocked->parity, phases, barrier->pending,
                        barrier->count, plural(barrier->count), bytes);
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

/* What is told of an agent that waits forever. */
typedef struct Case {
    const Diagnosis *diagnosis;
    const Blocked *root;
    Verdict *verdict;
    const char *agent, *what;
    const Barrier *barrier; /* of one that waits for an mbarrier; its past, and how many phases are complete */
    const BarrierHistory *past;
    uint32_t phases;
} Case;

/* Ops that do not agree on how many threads come to a named barrier. */
static void explain_clash(const Case *c, Finding *finding) {
    const Machine *machine = c->diagnosis->machine;
    const uint32_t *pcs = c->root->clash_pcs;
    const int64_t *threads = c->root->clash_threads;
    finding->message = verdict_text(c->verdict, "%s waits forever at %s: ops on it are for %lld threads and for %lld",
                                    c->agent, c->what, (long long)threads[0], (long long)threads[1]);
    finding->why = verdict_text(
        c->verdict,
        "All ops on a named barrier must give the same thread count: the one at IR line %u gives %lld, the one at IR "
        "line %u gives %lld. %u of %u threads have arrived.",
        line_at(machine, pcs[0]), (long long)threads[0], line_at(machine, pcs[1]), (long long)threads[1],
        c->root->meeting.arrived, c->root->meeting.expected);
    finding->fix = "Give every op on it the same count: the threads that wait plus those that arrive.";
}

static void explain_meeting(const Case *c, Finding *finding) {
    if (c->root->status == AGENT_CLUSTER) {
        finding->message = verdict_text(
            c->verdict, "%s waits forever at the cluster barrier: not every thread of the cluster reaches it",
            c->agent);
        finding->why = "The hardware cluster barrier counts all threads of all CTAs in the cluster; the other "
                       "partitions of the CTA are alive and never arrive.";
        finding->fix = "Move the cluster barrier outside warp_specialize, or use an mbarrier that the peer arrives "
                       "on.";
        return;
    }
    if (c->root->clash_pcs[1] != NO_PC) {
        explain_clash(c, finding);
        return;
    }
    finding->message = verdict_text(c->verdict, "%s waits forever at %s: %u of %u threads reach it", c->agent, c->what,
                                    c->root->meeting.arrived, c->root->meeting.expected);
    finding->why = verdict_text(
        c->verdict,
        "A named barrier completes when its thread count (%u) has arrived; each partition counts its warps times 32. "
        "Only %u have, and %s.",
        c->root->meeting.expected, c->root->meeting.arrived,
        c->root->rule == RULE_DEADLOCK_CYCLE    ? "the missing arrival comes after a wait that is itself blocked"
        : c->root->rule == RULE_DEADLOCK_EXITED ? "the partition that arrived before has exited"
                                                : "nothing else arrives");
    finding->fix =
        "Make the count the number of threads that wait plus those that arrive; release the first waiter of a "
        "ping-pong with an arrive before the loop.";
}

/* The parity asked for does not go with the phases. */
static void explain_parity(const Case *c, Finding *finding) {
    const LastPass *pass = history_pass(c->diagnosis->history, c->root->barrier, c->root->agent);
    finding->message =
        verdict_text(c->verdict, "%s waits forever for %s: it waits for parity %u, the phase after the completed one",
                     c->agent, c->what, c->root->parity);
    finding->why = verdict_text(
        c->verdict,
        "%u phase%s complete; the previous wait, at IR line %u, passed with parity %u when %u were complete. Parity "
        "%u now means phase %u, which cannot complete before this wait passes. The parity must alternate with the "
        "phases.",
        c->phases, c->phases == 1 ? " is" : "s are", line_at(c->diagnosis->machine, pass->pc), pass->parity,
        pass->generation - c->barrier->born, c->root->parity, c->phases);
    finding->fix = "Compute the parity from the number of uses of this slot, (count / depth) & 1, and carry the "
                   "count through every enclosing loop.";
}

/* The agent's first wait for the barrier asks for the phase after the one that it knows to be complete. */
static void explain_first_parity(const Case *c, Finding *finding) {
    const Machine *machine = c->diagnosis->machine;
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: its first wait is for parity 1, and the completed phase has parity 0",
        c->agent, c->what);
    finding->why = verdict_text(
        c->verdict,
        "Phase 0 was completed at IR line %u, and a wait for parity 0 would pass. Parity 1 now means phase 1, %s.",
        line_at(machine, c->past->last[0].pc),
        c->root->released ? verdict_text(c->verdict, "whose arrival, at IR line %u, comes after this wait",
                                         line_at(machine, c->root->releaser.pc))
                          : "which no arrival completes");
    finding->fix =
        "Wait with parity 0: the first use of a slot is use 0, and the parity of its wait is (count / depth) & 1. If "
        "phase 1 is meant, arrive before this wait.";
}

/* Bytes have come, and the expect that goes with them has not. */
static void explain_unexpected(const Case *c, Finding *finding) {
    const BarrierAct *copy = NULL;
    uint32_t count = c->past->phase_count < MOST_REMEMBERED ? c->past->phase_count : MOST_REMEMBERED;
    for (uint32_t i = 0; i < count && !copy; i++)
        copy = c->past->phase[i].kind == BARRIER_ACT_DELIVER ? &c->past->phase[i] : NULL;
    const char *where =
        copy ? verdict_text(c->verdict, "the copy at IR line %u", line_at(c->diagnosis->machine, copy->pc)) : "a copy";
    finding->message = verdict_text(c->verdict,
                                    "%s waits forever for %s: bytes are delivered, but no expect "
                                    "announced them",
                                    c->agent, c->what);
    finding->why = verdict_text(
        c->verdict,
        "Phase %u needs %u arrival%s, and none was made; %lld bytes were delivered, by %s. An expect "
        "(mbarrier.arrive.expect_tx) adds the bytes of its copies and arrives: the one for these bytes is missing%s.",
        c->phases, c->barrier->count, plural(c->barrier->count), (long long)-c->barrier->bytes, where,
        c->root->released ? verdict_text(c->verdict,
                                         " (the one at IR line %u comes after a wait that is itself "
                                         "blocked)",
                                         line_at(c->diagnosis->machine, c->root->releaser.pc))
                          : "");
    finding->fix = verdict_text(c->verdict,
                                "Expect the bytes of %s on this slot (`ttng.barrier_expect`) before it "
                                "is issued.",
                                where);
}

/* Someone else's parity does not go with the phases: its wait holds nothing back, and so it laps this one. */
static void explain_idle_wait(const Case *c, Finding *finding) {
    const char *other = diagnosis_agent(c->diagnosis, c->root->idle_agent, HELPER_BASE);
    const char *slot = diagnosis_barrier(c->diagnosis, c->root->idle_barrier);
    if (!c->root->idle->again) {
        finding->message = verdict_text(
            c->verdict, "%s waits forever for %s: %s passes its wait for %s before any phase of it is complete",
            c->agent, c->what, other, slot);
        finding->why = verdict_text(c->verdict,
                                    "The wait at IR line %u is for parity %u, which passes at once on a fresh "
                                    "barrier, and so does this one, at IR line %u: each side starts as if the other "
                                    "had gone first. %s has arrived on %s before %s did anything, so this wait comes "
                                    "too late.",
                                    line_at(c->diagnosis->machine, c->root->idle->pc), c->root->idle->parity,
                                    line_at(c->diagnosis->machine, c->root->pc), other, c->what, c->agent);
        finding->fix = verdict_text(
            c->verdict, "Let %s wait for %s with parity 0 first: only the producer's first wait may pass at once.",
            other, slot);
        return;
    }
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: %s passes its wait for %s with parity %u repeatedly, and laps it",
        c->agent, c->what, other, slot, c->root->idle->parity);
    finding->why =
        verdict_text(c->verdict,
                     "The wait at IR line %u passed %u times in a row with parity %u, and no phase of %s completed "
                     "in between, so it does not block; %u phases of %s complete before %s looks.",
                     line_at(c->diagnosis->machine, c->root->idle->pc), c->root->idle->again + 1, c->root->idle->parity,
                     slot, c->phases, c->what, c->agent);
    finding->fix = "Let the parity of that wait alternate with the uses of its slot, (count / depth) & 1, with a "
                   "counter that advances by one per use.";
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
        text_addf(to, "%sIR line %u", to->size ? " and " : "", line_at(c->diagnosis->machine, barrier_act->pc));
        bytes += barrier_act->amount;
    }
    return bytes;
}

/* "The expect at IR line 38 announces 16384 bytes, and the copies at IR line 39 and IR line 40 deliver 49152." */
static const char *announced_text(const Case *c) {
    Text expects = {0}, copies = {0};
    int64_t expected = list_lines(c, BARRIER_ACT_EXPECT, &expects),
            delivered = list_lines(c, BARRIER_ACT_DELIVER, &copies);
    const char *expect = verdict_keep(c->verdict, &expects), *copy = verdict_keep(c->verdict, &copies);
    const char *announced =
        *expect ? verdict_text(c->verdict, "The expect at %s announces %lld bytes", expect, (long long)expected)
                : "No expect announces bytes";
    return *copy ? verdict_text(c->verdict, "%s, and the %s at %s deliver%s %lld.", announced,
                                strstr(copy, " and ") ? "copies" : "copy", copy, strstr(copy, " and ") ? "" : "s",
                                (long long)delivered)
                 : verdict_text(c->verdict, "%s, and no copy delivers any.", announced);
}

/* All arrivals are there, the bytes are not. */
static void explain_bytes(const Case *c, Finding *finding) {
    const char *arrivals = c->barrier->pending ? "whatever else arrives" : "all arrivals are in";
    finding->message =
        verdict_text(c->verdict,
                     c->root->bytes > 0 ? "%s waits forever for %s: %s, but %lld bytes never arrive"
                                        : "%s waits forever for %s: %s, but %lld more bytes arrive than are expected",
                     c->agent, c->what, arrivals, (long long)llabs(c->root->bytes));
    finding->why = verdict_text(
        c->verdict, "%s Phase %u completes when no arrival is pending and the transaction bytes are zero; %+lld %s.%s",
        announced_text(c), c->phases, (long long)c->root->bytes,
        c->past->expected - c->past->delivered == c->root->bytes ? "remain" : "remain, with what earlier phases left",
        c->barrier->pending ? verdict_text(c->verdict,
                                           " %u of %u arrivals are pending as well, but only because the agents that "
                                           "make them are blocked.",
                                           c->barrier->pending, c->barrier->count)
                            : "");
    finding->fix = "Make the `ttng.barrier_expect` the sum of the bytes that the copies on this slot and phase "
                   "deliver (the descriptor's box counts, not the size of the destination), and give every copy its "
                   "expect.";
}

static const char *sign_text(const Case *c) {
    Text text = {0};
    channel_name(c->diagnosis->machine, c->root->sign, &text);
    return verdict_keep(c->verdict, &text);
}

/* Why nothing holds back who completes the phases. */
static const char *unheld_text(const Case *c) {
    const Machine *machine = c->diagnosis->machine;
    if (c->root->sign == NO_BARRIER)
        return "Nothing keeps the arriving side from completing the next phase before the wait has seen the previous "
               "one.";
    const BarrierAct *lapper = &c->past->last[0];
    const char *who = diagnosis_agent(c->diagnosis, lapper->agent, HELPER_BASE);
    const char *how = c->root->sign_waited ? verdict_text(c->verdict, "%s does not wait for it before IR line %u", who,
                                                          line_at(machine, lapper->pc))
                      : strand_waits(machine, ANY_STRAND, c->root->sign) == NO_PC
                          ? "nothing waits for it"
                          : verdict_text(c->verdict, "%s never waits for it", who);
    return verdict_text(c->verdict,
                        "Nothing keeps %s from completing the next phase before the wait has seen the previous one: "
                        "%s arrives on %s at IR line %u, and %s.",
                        who, diagnosis_agent(c->diagnosis, c->root->sign_agent, HELPER_BASE), sign_text(c),
                        line_at(machine, c->root->sign_pc), how);
}

/* " (the last two by IR line 39 and IR line 40)" */
static const char *completed_text(const Case *c) {
    const Machine *machine = c->diagnosis->machine;
    const BarrierAct *last = c->past->last;
    if (c->past->last_count < 2)
        return "";
    const char *who = diagnosis_agent(c->diagnosis, last[0].agent, HELPER_BASE);
    return last[0].pc == last[1].pc
               ? verdict_text(c->verdict, " (by what %s does at IR line %u)", who, line_at(machine, last[0].pc))
               : verdict_text(c->verdict, " (the last two by what %s does at IR line %u and at IR line %u)", who,
                              line_at(machine, last[1].pc), line_at(machine, last[0].pc));
}

/* Phases are over before any agent looks. */
static void explain_lapped(const Case *c, Finding *finding) {
    const LastPass *pass = history_pass(c->diagnosis->history, c->root->barrier, c->root->agent);
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: its phase and the next one complete before it looks", c->agent, c->what);
    finding->why =
        verdict_text(c->verdict,
                     "%u phase%s complete%s, so parity %u now means phase %u, which nothing completes; "
                     "%s. %s",
                     c->phases, c->phases == 1 ? " is" : "s are", completed_text(c), c->root->parity, c->phases,
                     pass->any && pass->generation > c->barrier->born
                         ? verdict_text(c->verdict, "the last one that %s saw is phase %u", c->agent,
                                        pass->generation - c->barrier->born - 1)
                         : verdict_text(c->verdict, "%s has seen none of them", c->agent),
                     unheld_text(c));
    if (c->root->sign != NO_BARRIER) {
        const BarrierAct *lapper = &c->past->last[0];
        finding->fix =
            verdict_text(c->verdict, "Let %s wait for %s (this slot, this phase) before what it does at IR line %u.",
                         diagnosis_agent(c->diagnosis, lapper->agent, HELPER_BASE), sign_text(c),
                         line_at(c->diagnosis->machine, lapper->pc));
        return;
    }
    finding->fix = "Before arriving, wait for a signal that the waiter is past this wait (an \"empty\" barrier that "
                   "the waiter arrives on), or arrive only once.";
}

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
        text_addf(&text, "%s%s at IR line %u", text.size ? " and on " : "", diagnosis_barrier(c->diagnosis, i),
                  line_at(machine, past->latest.pc));
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
                return verdict_text(c->verdict, "%s, which waits for %s at IR line %u,",
                                    diagnosis_agent(c->diagnosis,
                                                    agent_cta(machine, c->root->agent) * program->agents_per_cta +
                                                        program->strands[s].index,
                                                    HELPER_BASE),
                                    verdict_keep(c->verdict, &name), line_at(machine, wait));
            }
            return "";
        }
    return "";
}

/* What would complete the phase, in the words of what the barrier is. */
static const char *fix_of_missing(const Case *c, const char *slots) {
    Side side = barrier_place(c->diagnosis->machine, c->root->barrier).side;
    if (*slots)
        return "Let the index of the arrive and that of the wait follow the same count, so that they come to the same "
               "slots in the same order.";
    if (side != SIDE_NONE)
        return side == SIDE_EMPTY ? "Release the slot after its last use: `nvws.consumer_release` of a token, "
                                    "`nvws.aref.get.exit` of an aref."
                                  : "Commit the slot when it is filled: `nvws.producer_commit` of a token, "
                                    "`nvws.aref.put.exit` of an aref.";
    const char *peer = peer_text(c);
    if (*peer && !c->past->barrier_acts)
        return verdict_text(c->verdict,
                            "Let %s arrive on %s after that (`ttng.arrive_barrier`; `ttng.tc_gen5_commit` for "
                            "tensor-core work, `ttng.barrier_expect` for copies), or remove the wait.",
                            peer, c->what);
    return c->past->barrier_acts
               ? "Make the count of `ttng.init_barrier` the number of arrivals of one phase, or add the "
                 "missing `ttng.arrive_barrier` (check its slot)."
               : "Add the `ttng.arrive_barrier`, `ttng.tc_gen5_commit` or `ttng.barrier_expect` on this "
                 "slot (check which slot the others arrive on), or remove the wait.";
}

/* Arrivals are missing, and nothing makes them. */
static void explain_no_producer(const Case *c, Finding *finding) {
    ReportPlace arriver;
    const char *slots = other_slots(c);
    if (c->barrier->pending < c->barrier->count && !c->phases)
        finding->message = verdict_text(c->verdict,
                                        "%s waits forever for %s: %u of %u arrivals are made, and nothing makes the "
                                        "others",
                                        c->agent, c->what, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (c->barrier->pending < c->barrier->count)
        finding->message =
            verdict_text(c->verdict,
                         "%s waits forever for %s: in phase %u, %u of %u arrivals are made, and nothing makes the "
                         "others",
                         c->agent, c->what, c->phases, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (*slots)
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: arrivals come on %s, and none on this slot", c->agent,
                         c->what, slots);
    else if (blocked_arriver(c->diagnosis, c->root, false, &arriver))
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: no arrival is made for phase %u (%s at IR line %u: %s)",
                         c->agent, c->what, c->phases, arriver.partition, arriver.ir_line, arriver.detail);
    else
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: %snothing arrives on it%s", c->agent, c->what,
                         c->past->delivered                                       ? "bytes are delivered, but "
                         : blocked_arriver(c->diagnosis, c->root, true, &arriver) ? "copies complete on it, but "
                                                                                  : "",
                         c->phases ? " any more" : "");
    finding->why = verdict_text(c->verdict,
                                "The wait for parity %u needs phase %u to complete, which takes %u arrival%s; %u "
                                "came, and letting every blocked agent through adds none.",
                                c->root->parity, c->phases, c->barrier->count, plural(c->barrier->count),
                                c->barrier->count - c->barrier->pending);
    finding->fix = fix_of_missing(c, slots);
}

/* Who would arrive has ended. */
static void explain_exited(const Case *c, Finding *finding) {
    finding->message =
        verdict_text(c->verdict, "%s waits forever for %s: %s, which arrives on it, has exited", c->agent, c->what,
                     diagnosis_agent(c->diagnosis, c->root->exited.agent, c->root->exited.helper));
    finding->why = verdict_text(
        c->verdict,
        "%u phase%s complete, and the wait needs phase %u; the arrive at IR line %u is in a loop that ran too few "
        "iterations for it.",
        c->phases, c->phases == 1 ? " is" : "s are", c->phases, line_at(c->diagnosis->machine, c->root->exited.pc));
    finding->fix = "Let both sides run the same number of iterations for every trip count, including zero and one.";
}

/* Who waits for whom, from the root on: "It is completed at IR line 60, by default, after its wait for %full[1] at IR
 * line 54; that at IR line 109, by partition0, after this wait." */
static const char *circle_text(const Case *c) {
    enum { MOST_LINKS = 4 };
    const Machine *machine = c->diagnosis->machine;
    Text text = {0};
    text_addf(&text, "Phase %u of %s", c->phases, c->what);
    const Blocked *at = c->root, *next = NULL;
    for (unsigned i = 0; i < MOST_LINKS && at->released; i++, at = next) {
        next = diagnosis_releaser(c->diagnosis, at);
        text_addf(&text, "%s would be completed at IR line %u, by %s", i ? "; that" : "",
                  line_at(machine, at->releaser.pc), diagnosis_agent(c->diagnosis, at->releaser.agent, HELPER_BASE));
        if (next == c->root)
            text_addf(&text, ", after this wait");
        else if (next)
            text_addf(&text, ", after its wait for %s at IR line %u", diagnosis_awaited(c->diagnosis, next),
                      line_at(machine, next->pc));
        if (!next || next == c->root)
            break;
    }
    text_addf(&text, ".");
    return verdict_keep(c->verdict, &text);
}

/* The agent waits each time in a loop for what comes once, or less often. */
static void explain_cadence(const Case *c, const char *other, Finding *finding) {
    const Program *program = c->diagnosis->machine->program;
    const Op *loop = diagnosis_loop(program->ops[c->root->pc]);
    uint32_t line = loop ? op_line(program->module, loop) : 0;
    finding->message =
        verdict_text(c->verdict,
                     "%s waits forever for %s: it waits in every iteration of the loop at IR line %u, and %s arrives "
                     "on it outside of such a loop, at IR line %u",
                     c->agent, c->what, line, other, line_at(c->diagnosis->machine, c->root->releaser.pc));
    finding->why = circle_text(c);
    finding->fix = verdict_text(c->verdict,
                                "Wait once for each arrival: move the wait out of the loop at IR line %u, with the "
                                "phase of the loop around it, or the arrive into the loop of %s.",
                                line, other);
}

/* The agent that should release the slot took it, and waits for the next one first. */
static void explain_unreleased(const Case *c, const char *other, Finding *finding) {
    const LastPass *pass = history_pass(c->diagnosis->history, c->root->taken, c->root->releaser.agent);
    const Blocked *taker = diagnosis_releaser(c->diagnosis, c->root);
    const Machine *machine = c->diagnosis->machine;
    const char *taken = diagnosis_barrier(c->diagnosis, c->root->taken);
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: %s waited for %s at IR line %u, and has not released the slot since",
        c->agent, c->what, other, taken, line_at(machine, pass->pc));
    finding->why = verdict_text(c->verdict,
                                "%s has seen %u phase%s of %s and arrived on %s for %u; it goes on to wait at IR line "
                                "%u. %s",
                                other, c->phases + 1, plural(c->phases + 1), taken, c->what, c->phases,
                                taker ? line_at(machine, taker->pc) : 0, circle_text(c));
    finding->fix = verdict_text(c->verdict,
                                "Let %s arrive on %s after the use of what it waited for at IR line %u and before its "
                                "wait at IR line %u; or give the ring more slots, if it is to be released later.",
                                other, c->what, line_at(machine, pass->pc), taker ? line_at(machine, taker->pc) : 0);
}

/* Who would arrive waits, through others, for this one. */
static void explain_cycle(const Case *c, Finding *finding) {
    const char *other =
        c->root->released ? diagnosis_agent(c->diagnosis, c->root->releaser.agent, c->root->releaser.helper) : "";
    const Blocked *next = diagnosis_releaser(c->diagnosis, c->root);
    bool self = c->root->released && c->root->releaser.agent == c->root->agent;
    if (c->root->repeats_more) {
        explain_cadence(c, other, finding);
        return;
    }
    if (c->root->taken != NO_BARRIER) {
        explain_unreleased(c, other, finding);
        return;
    }
    finding->message =
        self ? verdict_text(c->verdict, "%s waits forever for %s: it would itself arrive on it, after this wait",
                            c->agent, c->what)
        : c->root->room == ROOM_EMPTY
            ? verdict_text(c->verdict,
                           "%s waits forever for %s: its first wait is for parity 0, for the release of what it has "
                           "not written yet",
                           c->agent, c->what)
            : verdict_text(c->verdict,
                           "%s waits forever for %s: %s arrives on it only after its wait for %s, which "
                           "is also blocked",
                           c->agent, c->what, other, next ? diagnosis_awaited(c->diagnosis, next) : "another");
    finding->why = circle_text(c);
    finding->fix =
        c->root->room == ROOM_EMPTY
            ? "Let the first wait for an empty slot pass: parity 1 on a fresh barrier, ((count / depth) & 1) ^ 1."
        : c->root->room == ROOM_OF_DATA && next
            ? verdict_text(c->verdict, "Move the wait at IR line %u after what is done at IR line %u.",
                           line_at(c->diagnosis->machine, c->root->pc),
                           line_at(c->diagnosis->machine, next->releaser.pc))
            : "Break the cycle: arrive before waiting, acquire slots in the same order on both sides, or let the "
              "first wait on an empty slot pass (parity 1 on a fresh barrier).";
}

static void explain_root(const Diagnosis *diagnosis, const Blocked *root, Finding *finding) {
    bool waits = root->status == AGENT_WAITS;
    Case c = {.diagnosis = diagnosis,
              .root = root,
              .verdict = diagnosis->verdict,
              .agent = diagnosis_agent(diagnosis, root->agent, HELPER_BASE),
              .what = diagnosis_awaited(diagnosis, root),
              .barrier = &root->state,
              .past = waits ? &diagnosis->history->barriers[root->barrier] : NULL,
              .phases = root->state.generation - root->state.born};
    if (!waits)
        explain_meeting(&c, finding);
    else if (root->rule == RULE_DEADLOCK_BYTES)
        explain_bytes(&c, finding);
    else if (root->rule == RULE_DEADLOCK_LAPPED)
        explain_lapped(&c, finding);
    else if (root->rule == RULE_DEADLOCK_PARITY && root->idle)
        explain_idle_wait(&c, finding);
    else if (root->rule == RULE_DEADLOCK_PARITY && !history_pass(diagnosis->history, root->barrier, root->agent)->any)
        explain_first_parity(&c, finding);
    else if (root->rule == RULE_DEADLOCK_PARITY)
        explain_parity(&c, finding);
    else if (root->unexpected)
        explain_unexpected(&c, finding);
    else if (root->rule == RULE_DEADLOCK_NO_PRODUCER)
        explain_no_producer(&c, finding);
    else if (root->rule == RULE_DEADLOCK_EXITED)
        explain_exited(&c, finding);
    else
        explain_cycle(&c, finding);
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
    explain_root(diagnosis, root, finding);
    add_places(diagnosis, root, finding);
}
