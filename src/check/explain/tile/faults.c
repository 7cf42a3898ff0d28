/* Explains what is done to a barrier that it does not allow, or that leaves it in a state that no wait can tell. */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"

#include <stdlib.h>

static const char *barrier_act_of(EffectVerb verb) {
    switch (verb) {
    case EFFECT_INIT:
        return "initializes";
    case EFFECT_INVALIDATE:
        return "invalidates";
    case EFFECT_EXPECT:
        return "expects";
    case EFFECT_COMPLETE:
        return "delivers";
    case EFFECT_WAIT:
        return "waits";
    default:
        return "arrives";
    }
}

Finding *fault_explain(Machine *machine, const History *history, Verdict *verdict) {
    const Fault *fault = &machine->fault;
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    const Barrier *barrier = &machine->state->barriers[fault->barrier];
    const BarrierHistory *past = &history->barriers[fault->barrier];
    const Effect *effect = &machine->program->effects[fault->effect].effect;
    const char *what = diagnosis_barrier(&diagnosis, fault->barrier);
    bool request = fault->rule == RULE_CLC_ASKS_AGAIN;
    const char *agent = diagnosis_agent(&diagnosis, fault->agent, fault->in_flight ? effect->helper : HELPER_BASE);
    Finding *finding = diagnosis_finding(&diagnosis, fault->rule, 3);
    diagnosis_place(
        &diagnosis, finding, request ? "asks" : barrier_act_of(effect->verb),
        (BarrierAct){.agent = fault->agent, .helper = fault->in_flight ? effect->helper : HELPER_BASE, .pc = fault->pc},
        request ? "" : what);
    if (past->initialized && !request && fault->rule != RULE_BARRIER_UNINITIALIZED &&
        !(past->ended && fault->rule == RULE_BARRIER_INVALIDATED))
        diagnosis_init_place(&diagnosis, finding, past, barrier->count);
    switch (fault->rule) {
    case RULE_BARRIER_UNDERFLOW:
        finding->message = verdict_text(verdict, "%s makes %lld arrival%s on %s, where %u of %u %s pending", agent,
                                        (long long)fault->amount, plural(fault->amount), what, barrier->pending,
                                        barrier->count, barrier->pending == 1 ? "is" : "are");
        finding->why = verdict_text(verdict,
                                    "The barrier's count is %u arrival%s per phase; phase %u has had %u, and %lld "
                                    "bytes are outstanding. One more arrival takes the count below zero, which is "
                                    "undefined.",
                                    barrier->count, plural(barrier->count), barrier->generation - barrier->born,
                                    barrier->count - barrier->pending, (long long)barrier->bytes);
        finding->fix = "Make the count of `ttng.init_barrier` the number of arrivals of one phase (an expect is one, "
                       "too; a perThread arrive is one per thread), or wait for the phase before arriving again.";
        break;
    case RULE_BARRIER_UNINITIALIZED:
        finding->message = verdict_text(verdict, "%s uses %s before it is initialized", agent, what);
        finding->why = "Until it is initialized, an mbarrier is ordinary memory, and mbarrier operations on it are "
                       "undefined.";
        finding->fix =
            "Initialize it with `ttng.init_barrier` (check the slot) before warp_specialize, or before the first use "
            "in every schedule.";
        break;
    case RULE_BARRIER_REINITIALIZED:
        finding->message = verdict_text(verdict, "%s initializes %s, which is in use", agent, what);
        finding->why = "Initializing a location that holds a valid mbarrier is undefined, even if nothing waits on "
                       "it.";
        finding->fix = "Invalidate it first (`ttng.inval_barrier`), or initialize it once, outside the loop.";
        break;
    case RULE_BARRIER_INVALIDATED:
        if (fault->amount) {
            uint32_t waiter = (uint32_t)fault->amount - 1;
            finding->message = verdict_text(verdict, "%s invalidates %s while %s waits for it", agent, what,
                                            diagnosis_agent(&diagnosis, waiter, HELPER_BASE));
            diagnosis_place(&diagnosis, finding, "waits",
                            (BarrierAct){.agent = waiter, .pc = machine->state->agents[waiter].pc}, what);
        } else {
            finding->message = verdict_text(verdict, "%s uses %s after it was invalidated", agent, what);
            diagnosis_place(&diagnosis, finding, "invalidated",
                            (BarrierAct){.agent = past->end_agent, .pc = past->end_pc}, what);
        }
        finding->why =
            verdict_text(verdict,
                         "After mbarrier.inval%s the location is ordinary memory again, and mbarrier operations on it "
                         "are undefined.",
                         past->ended ? verdict_text(verdict, ", at IR line %u,", line_at(machine, past->end_pc)) : "");
        finding->fix = "Invalidate it when all its users are done: after the partitions join, and after the waits "
                       "for everything in flight.";
        break;
    case RULE_CLC_ASKS_AGAIN:
        finding->message = verdict_text(verdict, "%s asks for another cluster after it saw a request fail", agent);
        diagnosis_place(&diagnosis, finding, "sees the failure",
                        (BarrierAct){.agent = fault->agent, .pc = (uint32_t)fault->amount - 1}, "");
        finding->why = "A request fails when no cluster is left to take over; what another one does after that is not "
                       "defined.";
        finding->fix = "Leave the loop when clc_is_canceled is false.";
        break;
    default:
        finding->message = verdict_text(verdict, "%s takes the transaction bytes of %s to %lld, out of range", agent,
                                        what, (long long)fault->amount);
        finding->why = "The transaction count of an mbarrier holds -1048575 to 1048575 bytes.";
        finding->fix = "Spread the copies over more barriers, or wait between them.";
        break;
    }
    return finding;
}

Finding *overrun_explain(Machine *machine, const History *history, uint32_t barrier, Verdict *verdict) {
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    const BarrierHistory *past = &history->barriers[barrier];
    if (!past->unobserved || !past->waits)
        return NULL;
    Finding *finding = diagnosis_finding(&diagnosis, RULE_BARRIER_OVERRUN, 2);
    const char *what = diagnosis_barrier(&diagnosis, barrier);
    finding->message = verdict_text(verdict,
                                    "%s completes a phase of %s before any wait could see that the previous one was "
                                    "complete",
                                    diagnosis_agent(&diagnosis, past->overrun.agent, past->overrun.helper), what);
    finding->why = verdict_text(verdict,
                                "At least one wait must succeed on each phase before the next phase is arrived on; "
                                "here %llu phase%s passed unseen, and a parity wait cannot distinguish phases that "
                                "are two apart.",
                                (unsigned long long)past->unobserved, plural((int64_t)past->unobserved));
    finding->fix =
        "Wait for each phase before arriving on the next, or make the two arrivals one phase (a count of two).";
    diagnosis_place(&diagnosis, finding, "completes", past->overrun, what);
    diagnosis_place(&diagnosis, finding, "initialized", (BarrierAct){.agent = past->init_agent, .pc = past->init_pc},
                    "");
    return finding;
}

/* The work of a cluster that was canceled is done by no cluster. */
static Finding *unread_explain(const Diagnosis *diagnosis) {
    Finding *finding = diagnosis_finding(diagnosis, RULE_CLC_UNREAD, 1);
    finding->message = "a cluster is canceled, and the response that names it is never read: its work is not done";
    finding->why = "A request that is granted cancels a cluster that has not started. The answer, 16 bytes of shared "
                   "memory, is the only word of it, and the kernel ends without having read that.";
    finding->fix = "Wait for every request, read its answer, and do the work that it gives; or do not ask.";
    diagnosis_place(diagnosis, finding, "asks", (BarrierAct){.pc = diagnosis->machine->state->unread_pc - 1}, "");
    return finding;
}

Finding *leftover_explain(Machine *machine, const History *history, Verdict *verdict) {
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    if (machine->state->unread)
        return unread_explain(&diagnosis);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const Barrier *barrier = &machine->state->barriers[i];
        const BarrierHistory *past = &history->barriers[i];
        if (barrier->life == BARRIER_NEVER || !barrier->bytes || !past->barrier_acts)
            continue;
        Finding *finding = diagnosis_finding(&diagnosis, RULE_BARRIER_BYTES, MOST_REPORTED + 1);
        const char *what = diagnosis_barrier(&diagnosis, i);
        finding->message = verdict_text(verdict,
                                        barrier->bytes > 0 ? "%s ends with %lld expected bytes that never arrive"
                                                           : "%s ends with %lld more bytes than expected",
                                        what, (long long)llabs(barrier->bytes));
        finding->why =
            verdict_text(verdict,
                         "At the end, phase %u has %lld bytes expected and %lld delivered. Nothing waits for that "
                         "phase here, but it can never complete, and an earlier phase may have completed with the "
                         "wrong bytes.",
                         barrier->generation - barrier->born, (long long)past->expected, (long long)past->delivered);
        finding->fix = "Make every `ttng.barrier_expect` the sum of the bytes of its copies, and give every copy its "
                       "expect.";
        if (!diagnosis_barrier_acts(&diagnosis, finding, past))
            diagnosis_place(&diagnosis, finding, "initialized",
                            (BarrierAct){.agent = past->init_agent, .pc = past->init_pc}, what);
        return finding;
    }
    return NULL;
}
