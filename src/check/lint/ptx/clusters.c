/* Other CTAs of the cluster: whether they have started, and arrivals and waits of the cluster barrier. */
#include "check/lint/ptx/internal.h"

/* ---- Memory of other CTAs ------------------------------------------------------------------------- */

/* Whether an address is one that was mapped to a CTA of the cluster with a constant number: others may be the own. */
static bool is_mapped(const PtxLint *lint, uint32_t operand) {
    Point point = point_of(lint, operand);
    uint32_t instruction = point.kind == POINT_VALUE ? value_instruction(lint, point.id) : PTX_NONE;
    int64_t rank;
    if (instruction == PTX_NONE)
        return false;
    uint32_t statement = lint->flow.instructions[instruction];
    return ptx_form(lint, statement)->evaluator == PTX_EVALUATE_MAPA &&
           number_of(lint, operand_at(lint->module, &lint->module->statements[statement], 2), &rank);
}

static const Act *first_remote(const PtxLint *lint, bool barrier) {
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Effect *effect = &lint->acts[i].effect->effect;
        bool is_barrier = effect_is_barrier(effect);
        bool wanted = is_barrier || (!barrier && effect_is_access(effect) && effect->space == SPACE_SHARED);
        if (wanted && lint->acts[i].on != PTX_NONE && lint->module->operands[lint->acts[i].on].kind == PTX_ADDRESS &&
            is_mapped(lint, lint->acts[i].on))
            return &lint->acts[i];
    }
    return NULL;
}

static void look_at_start(PtxLint *lint) {
    if (lint->header.ctas < 2 || !never_does(lint, EFFECT_CLUSTER_WAIT))
        return;
    const Act *remote = first_remote(lint, false);
    if (remote)
        ptx_say(ptx_find(lint, RULE_CLUSTER_START, remote->statement,
                         "accesses shared memory of another CTA, and the kernel has no cluster barrier"),
                NULL, "Put `barrier.cluster.arrive` and `barrier.cluster.wait` before the first access to other CTAs.");
}

static void look_at_inits(PtxLint *lint) {
    if (lint->header.ctas < 2 || lint->reach.unknown != PTX_NONE || lint->reach.releases_cluster ||
        never_does(lint, EFFECT_CLUSTER_WAIT) || never_does(lint, EFFECT_INIT))
        return;
    const Act *remote = first_remote(lint, true);
    if (remote)
        ptx_say(
            ptx_find(lint, RULE_MBARRIER_CLUSTER_INIT, remote->statement,
                     "operates on an mbarrier of another CTA, and nothing publishes initializations to the cluster"),
            "A barrier that other CTAs signal is initialized, published with a fence, and followed by a cluster "
            "barrier before any CTA signals it. A relaxed arrival at the cluster barrier publishes nothing.",
            "Put `fence.mbarrier_init.release.cluster` between the initialization and the cluster barrier.");
}

/* ---- The cluster barrier -------------------------------------------------------------------------- */

/* What a thread may have done last, on some path; none: no path was gone yet. */
enum { MAY_WAIT = 1, MAY_ARRIVE = 2 }; /* its next step is to wait; to arrive */

static unsigned after_act(const PtxLint *lint, const Act *act, unsigned state) {
    EffectVerb verb = act->effect->effect.verb;
    unsigned next = verb == EFFECT_CLUSTER_ARRIVE ? MAY_WAIT : verb == EFFECT_CLUSTER_WAIT ? MAY_ARRIVE : state;
    return is_guarded(lint, act->statement) ? state | next : next;
}

static void look_at_step(PtxLint *lint, const Act *act, unsigned state) {
    EffectVerb verb = act->effect->effect.verb;
    if (verb == EFFECT_CLUSTER_ARRIVE && state == MAY_WAIT)
        ptx_find(lint, RULE_CLUSTER_BARRIER_ORDER, act->statement,
                 "arrives at the cluster barrier again, and has not waited since the last time");
    else if (verb == EFFECT_CLUSTER_WAIT && state == MAY_ARRIVE)
        ptx_find(lint, RULE_CLUSTER_BARRIER_ORDER, act->statement,
                 "waits at the cluster barrier, and has not arrived before");
}

static unsigned go_through(PtxLint *lint, const FlowBlock *block, unsigned state, bool report) {
    for (uint32_t i = lint->first_acts[block->begin]; i < lint->first_acts[block->end]; i++) {
        if (report)
            look_at_step(lint, &lint->acts[i], state);
        state = after_act(lint, &lint->acts[i], state);
    }
    return state;
}

static void look_at_order(PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    uint64_t both = lint->reach.verbs >> EFFECT_CLUSTER_ARRIVE | lint->reach.verbs >> EFFECT_CLUSTER_WAIT;
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls || !(both & 1) || !flow->order_count)
        return;
    uint8_t *states = ARENA_ARRAY(lint->arena, uint8_t, flow->block_count + 1);
    states[flow->order[0]] = MAY_ARRIVE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < flow->order_count; n++) {
            const FlowBlock *block = &flow->blocks[flow->order[n]];
            unsigned state = go_through(lint, block, states[flow->order[n]], false);
            for (uint32_t i = 0; i < block->successor_count; i++) {
                uint8_t *next = &states[flow->edges[block->successors + i]];
                changed |= (*next | state) != *next;
                *next |= (uint8_t)state;
            }
        }
    }
    for (uint32_t n = 0; n < flow->order_count; n++)
        go_through(lint, &flow->blocks[flow->order[n]], states[flow->order[n]], true);
}

void ptx_clusters(PtxLint *lint) {
    look_at_start(lint);
    look_at_inits(lint);
    look_at_order(lint);
}
