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

/* Which cause a fault is, and what belongs to it. */
static CauseId fault_cause(const Diagnosis *diagnosis, const BarrierHistory *past, Finding *finding, Facts *facts) {
    const Fault *fault = &diagnosis->machine->fault;
    switch (fault->rule) {
    case RULE_BARRIER_UNDERFLOW:
        return CAUSE_UNDERFLOW;
    case RULE_BARRIER_UNINITIALIZED:
        return CAUSE_UNINITIALIZED;
    case RULE_BARRIER_REINITIALIZED:
        return CAUSE_REINITIALIZED;
    case RULE_BARRIER_INVALIDATED:
        if (fault->amount) {
            uint32_t waiter = (uint32_t)fault->amount - 1;
            facts->other = diagnosis_agent(diagnosis, waiter, HELPER_BASE);
            diagnosis_place(diagnosis, finding, "waits",
                            (BarrierAct){.agent = waiter, .pc = diagnosis->machine->state->agents[waiter].pc},
                            facts->object);
        } else {
            diagnosis_place(diagnosis, finding, "invalidated",
                            (BarrierAct){.agent = past->end_agent, .pc = past->end_pc}, facts->object);
        }
        facts->more = explain_text(diagnosis->verdict,
                                   fault->amount ? "invalidates {object} while {other} waits for it"
                                                 : "uses {object} after it was invalidated",
                                   facts);
        if (past->ended)
            facts->detail =
                verdict_text(diagnosis->verdict, ", at IR line %u,", line_at(diagnosis->machine, past->end_pc));
        return CAUSE_INVALIDATED;
    case RULE_CLC_ASKS_AGAIN:
        diagnosis_place(diagnosis, finding, "sees the failure",
                        (BarrierAct){.agent = fault->agent, .pc = (uint32_t)fault->amount - 1}, "");
        return CAUSE_ASKS_AGAIN;
    default:
        return CAUSE_BYTES_RANGE;
    }
}

Finding *fault_explain(Machine *machine, const History *history, Verdict *verdict) {
    const Fault *fault = &machine->fault;
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    const Blocked at = {.agent = fault->agent,
                        .pc = fault->pc,
                        .status = AGENT_WAITS,
                        .barrier = fault->barrier,
                        .state = machine->state->barriers[fault->barrier]};
    const BarrierHistory *past = &history->barriers[fault->barrier];
    const Effect *effect = &machine->program->effects[fault->effect].effect;
    const BarrierAct act = {
        .agent = fault->agent, .helper = fault->in_flight ? effect->helper : HELPER_BASE, .pc = fault->pc};
    bool request = fault->rule == RULE_CLC_ASKS_AGAIN;
    Facts facts = diagnosis_facts(&diagnosis, &at);
    facts.agent = diagnosis_agent(&diagnosis, act.agent, act.helper);
    facts.first = fault->amount;
    Finding *finding = diagnosis_finding(&diagnosis, fault->rule, 3);
    diagnosis_place(&diagnosis, finding, request ? "asks" : barrier_act_of(effect->verb), act,
                    request ? "" : facts.object);
    if (past->initialized && !request && fault->rule != RULE_BARRIER_UNINITIALIZED &&
        !(past->ended && fault->rule == RULE_BARRIER_INVALIDATED))
        diagnosis_init_place(&diagnosis, finding, past, at.state.count);
    CauseId cause = fault_cause(&diagnosis, past, finding, &facts);
    explain(verdict, finding, cause, &facts);
    return finding;
}

Finding *overrun_explain(Machine *machine, const History *history, uint32_t barrier, Verdict *verdict) {
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    const BarrierHistory *past = &history->barriers[barrier];
    if (!past->unobserved || !past->waits)
        return NULL;
    Finding *finding = diagnosis_finding(&diagnosis, RULE_BARRIER_OVERRUN, 2);
    Facts facts = {.agent = diagnosis_agent(&diagnosis, past->overrun.agent, past->overrun.helper),
                   .object = diagnosis_barrier(&diagnosis, barrier),
                   .first = (int64_t)past->unobserved};
    explain(verdict, finding, CAUSE_OVERRUN, &facts);
    diagnosis_place(&diagnosis, finding, "completes", past->overrun, facts.object);
    diagnosis_place(&diagnosis, finding, "initialized", (BarrierAct){.agent = past->init_agent, .pc = past->init_pc},
                    "");
    return finding;
}

Finding *leftover_explain(Machine *machine, const History *history, Verdict *verdict) {
    Diagnosis diagnosis = {.machine = machine, .history = history, .verdict = verdict};
    if (machine->state->unread) { /* the work of a cluster that was canceled is done by no cluster */
        Finding *finding = diagnosis_finding(&diagnosis, RULE_CLC_UNREAD, 1);
        explain(verdict, finding, CAUSE_UNREAD, &(Facts){0});
        diagnosis_place(&diagnosis, finding, "asks", (BarrierAct){.pc = machine->state->unread_pc - 1}, "");
        return finding;
    }
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const Barrier *barrier = &machine->state->barriers[i];
        const BarrierHistory *past = &history->barriers[i];
        if (barrier->life == BARRIER_NEVER || !barrier->bytes || !past->barrier_acts)
            continue;
        Finding *finding = diagnosis_finding(&diagnosis, RULE_BARRIER_BYTES, MOST_REPORTED + 1);
        Facts facts = {.object = diagnosis_barrier(&diagnosis, i),
                       .more = barrier->bytes > 0 ? "expected bytes that never arrive" : "more bytes than expected",
                       .bytes = llabs(barrier->bytes),
                       .phases = barrier->generation - barrier->born,
                       .first = past->expected,
                       .second = past->delivered};
        explain(verdict, finding, CAUSE_LEFTOVER, &facts);
        if (!diagnosis_barrier_acts(&diagnosis, finding, past))
            diagnosis_place(&diagnosis, finding, "initialized",
                            (BarrierAct){.agent = past->init_agent, .pc = past->init_pc}, facts.object);
        return finding;
    }
    return NULL;
}
