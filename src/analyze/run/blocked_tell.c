/* What is told of a stuck run: the agent whose wait explains those of the others, and the places that belong to it. */
#include "analyze/run/blocked_internal.h"

#include "analyze/telling/place.h"
#include "emulate/barrier_ops.h"

#include <stdlib.h>

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

const char *inquiry_awaited(const Inquiry *inquiry, const Blocked *blocked) {
    if (blocked->status == AGENT_NAMED)
        return verdict_text(inquiry->verdict, "named barrier %u", blocked->barrier % NAMED_BARRIERS);
    if (blocked->status == AGENT_CLUSTER)
        return "the cluster barrier";
    if (blocked->status == AGENT_JOINS)
        return "the partitions";
    return inquiry_barrier(inquiry, blocked->barrier);
}

/* What is told of an agent that waits forever. */
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
            c->verdict, "%s waits forever at the cluster barrier: not every thread of the cluster comes to it",
            c->agent);
        finding->why = "The cluster barrier of the hardware counts all threads of all CTAs of the cluster; the other "
                       "partitions of the "
                       "CTA are alive and never arrive.";
        finding->fix = "Put the cluster barrier outside of warp_specialize, or hand over through an mbarrier that the "
                       "peer arrives on.";
        return;
    }
    finding->message = verdict_text(c->verdict, "%s waits forever at %s: %u of %u threads come to it", c->agent,
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
        c->verdict, "%s waits forever for %s: it asks for parity %u, the phase after the one that is completed",
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

/* The agent's first wait for the barrier asks for the phase after the one that it knows to be complete. */
static void explain_first_parity(const Case *c, Finding *finding) {
    const Machine *machine = c->inquiry->machine;
    finding->message = verdict_text(
        c->verdict,
        "%s waits forever for %s: its first wait asks for parity 1, and the phase that is complete has parity 0",
        c->agent, c->what);
    finding->why = verdict_text(
        c->verdict,
        "Phase 0, completed at IR line %u, is over, and a wait for parity 0 would pass on that. Parity 1 now means "
        "phase "
        "1, %s.",
        line_at(machine, c->past->last[0].pc),
        c->root->released ? verdict_text(c->verdict, "whose arrival, at IR line %u, comes after this very wait",
                                         line_at(machine, c->root->releaser.pc))
                          : "for which no arrival comes");
    finding->fix =
        "Wait with parity 0: the first use of a slot is use 0, and the parity of its wait (count / depth) & 1. If "
        "phase 1 is meant, make its arrival before this wait.";
}

/* Bytes have come, and the expect that goes with them has not. */
static void explain_unexpected(const Case *c, Finding *finding) {
    const Deed *copy = NULL;
    uint32_t count = c->past->phase_count < MOST_REMEMBERED ? c->past->phase_count : MOST_REMEMBERED;
    for (uint32_t i = 0; i < count && !copy; i++)
        copy = c->past->phase[i].kind == DEED_DELIVER ? &c->past->phase[i] : NULL;
    const char *where =
        copy ? verdict_text(c->verdict, "the copy at IR line %u", line_at(c->inquiry->machine, copy->pc)) : "a copy";
    finding->message = verdict_text(c->verdict, "%s waits forever for %s: bytes come, but nobody has expected them",
                                    c->agent, c->what);
    finding->why = verdict_text(
        c->verdict,
        "Phase %u takes %u arrival%s, and none has come; %lld bytes have, from %s. An expect announces the bytes of "
        "its "
        "copies and arrives: the one that belongs to these is missing%s.",
        c->phases, c->barrier->count, plural(c->barrier->count), (long long)-c->barrier->bytes, where,
        c->root->released ? verdict_text(c->verdict, " (that at IR line %u comes after a wait that is blocked itself)",
                                         line_at(c->inquiry->machine, c->root->releaser.pc))
                          : "");
    finding->fix = verdict_text(c->verdict, "Expect the bytes of %s on this slot, before it is issued.", where);
}

/* Someone else's parity does not go with the phases: its wait holds nothing back, and so it laps this one. */
static void explain_idle_wait(const Case *c, Finding *finding) {
    const char *other = inquiry_agent(c->inquiry, c->root->idle_agent, HELPER_BASE);
    const char *slot = inquiry_barrier(c->inquiry, c->root->idle_barrier);
    if (!c->root->idle->again) {
        finding->message = verdict_text(
            c->verdict, "%s waits forever for %s: %s goes past its wait for %s before any phase of that is complete",
            c->agent, c->what, other, slot);
        finding->why = verdict_text(c->verdict,
                                    "The wait at IR line %u asks for parity %u, which passes at once on a fresh "
                                    "barrier, and so does this one, at "
                                    "IR line %u: both begin as if the other had gone first. %s has arrived "
                                    "on %s before %s did anything, "
                                    "so that this wait comes too late.",
                                    line_at(c->inquiry->machine, c->root->idle->pc), c->root->idle->parity,
                                    line_at(c->inquiry->machine, c->root->pc), other, c->what, c->agent);
        finding->fix = verdict_text(
            c->verdict, "Let %s wait for %s with parity 0 first: only who fills a slot may pass at once.", other, slot);
        return;
    }
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: %s goes past its wait for %s with parity %u again and again, and laps it",
        c->agent, c->what, other, slot, c->root->idle->parity);
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
                     c->root->bytes > 0 ? "%s waits forever for %s: %s, but %lld bytes never come"
                                        : "%s waits forever for %s: %s, but %lld bytes more come than are expected",
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

static const char *sign_text(const Case *c) {
    Text text = {0};
    channel_name(c->inquiry->machine, c->root->sign, &text);
    return verdict_keep(c->verdict, &text);
}

/* Why nothing holds back who completes the phases. */
static const char *unheld_text(const Case *c) {
    const Machine *machine = c->inquiry->machine;
    if (c->root->sign == NO_BARRIER)
        return "Nothing keeps whoever arrives from completing the next phase before the wait has seen the one before.";
    const Deed *lapper = &c->past->last[0];
    const char *who = inquiry_agent(c->inquiry, lapper->agent, HELPER_BASE);
    const char *how = c->root->sign_waited ? verdict_text(c->verdict, "%s does not wait for that before IR line %u",
                                                          who, line_at(machine, lapper->pc))
                      : strand_waits(machine, ANY_STRAND, c->root->sign) == NO_PC
                          ? "nobody waits for that"
                          : verdict_text(c->verdict, "%s never waits for that", who);
    return verdict_text(c->verdict,
                        "Nothing keeps %s from completing the next phase before the wait has seen the one before: %s "
                        "arrives on %s at IR line %u, and %s.",
                        who, inquiry_agent(c->inquiry, c->root->sign_agent, HELPER_BASE), sign_text(c),
                        line_at(machine, c->root->sign_pc), how);
}

/* Phases are over before anybody looks. */
static void explain_lapped(const Case *c, Finding *finding) {
    const LastPass *pass = history_pass(c->inquiry->history, c->root->barrier, c->root->agent);
    finding->message = verdict_text(
        c->verdict, "%s waits forever for %s: the phase that it wants, and the one after it, are over before it looks",
        c->agent, c->what);
    finding->why =
        verdict_text(c->verdict, "%u phase%s complete, so parity %u now means phase %u, which nobody completes; %s. %s",
                     c->phases, c->phases == 1 ? " is" : "s are", c->root->parity, c->phases,
                     pass->any && pass->generation > c->barrier->born
                         ? verdict_text(c->verdict, "the last one that %s saw is phase %u", c->agent,
                                        pass->generation - c->barrier->born - 1)
                         : verdict_text(c->verdict, "%s has seen none of them", c->agent),
                     unheld_text(c));
    if (c->root->sign != NO_BARRIER) {
        const Deed *lapper = &c->past->last[0];
        finding->fix =
            verdict_text(c->verdict, "Let %s wait for %s (this slot, this phase) before what it does at IR line %u.",
                         inquiry_agent(c->inquiry, lapper->agent, HELPER_BASE), sign_text(c),
                         line_at(c->inquiry->machine, lapper->pc));
        return;
    }
    finding->fix = "Let the one who arrives wait first for a sign that the waiter is past this wait (an \"empty\" "
                   "barrier that the waiter arrives "
                   "on), or arrive once only.";
}

/* Arrivals are missing, and nobody makes them. */
static void explain_no_producer(const Case *c, Finding *finding) {
    ReportPlace arriver;
    if (c->barrier->pending < c->barrier->count && !c->phases)
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: %u of %u arrivals come, and nobody makes the others",
                         c->agent, c->what, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (c->barrier->pending < c->barrier->count)
        finding->message = verdict_text(
            c->verdict, "%s waits forever for %s: in phase %u, %u of %u arrivals come, and nobody makes the others",
            c->agent, c->what, c->phases, c->barrier->count - c->barrier->pending, c->barrier->count);
    else if (blocked_arriver(c->inquiry, c->root, false, &arriver))
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: no arrival comes for phase %u (%s at IR line %u: %s)",
                         c->agent, c->what, c->phases, arriver.partition, arriver.ir_line, arriver.detail);
    else
        finding->message =
            verdict_text(c->verdict, "%s waits forever for %s: %snothing arrives on it%s", c->agent, c->what,
                         c->past->delivered                                     ? "bytes come, but "
                         : blocked_arriver(c->inquiry, c->root, true, &arriver) ? "copies complete on it, but "
                                                                                : "",
                         c->phases ? " any more" : "");
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
    finding->message = verdict_text(c->verdict, "%s waits forever for %s: %s, which arrives on it, has ended", c->agent,
                                    c->what, inquiry_agent(c->inquiry, c->root->exited.agent, c->root->exited.helper));
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
        self ? verdict_text(c->verdict, "%s waits forever for %s: it would arrive on it itself, after this wait",
                            c->agent, c->what)
             : verdict_text(c->verdict,
                            "%s waits forever for %s: %s arrives on it only after a wait that is blocked, too",
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

static void explain_root(const Inquiry *inquiry, const Blocked *root, Finding *finding) {
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
    else if (root->rule == RULE_DEADLOCK_PARITY && !history_pass(inquiry->history, root->barrier, root->agent)->any)
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
        if (!past->last_count && past->initialized)
            inquiry_init_place(inquiry, finding, past, root->state.count);
    }
    for (uint32_t i = 1; i < inquiry->count; i++) {
        const Blocked *other = &inquiry->blocked[i];
        if (other->status != AGENT_JOINS)
            inquiry_place(inquiry, finding, "waits too", (Deed){.agent = other->agent, .pc = other->pc},
                          state_text(inquiry, other));
    }
}

void blocked_tell(const Inquiry *inquiry, const Blocked *root, Finding *finding) {
    explain_root(inquiry, root, finding);
    add_places(inquiry, root, finding);
}
