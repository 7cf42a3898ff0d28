/* Instructions that all threads of a warp have to run together, where one lane alone can be. */
#include "check/lint/ptx/internal.h"

/* Where a predicate is true in at most one lane of a warp. */
typedef enum SingleLane {
    SINGLE_LANE_NOT,
    SINGLE_LANE_TRUE,      /* where it is true there is one lane at most */
    SINGLE_LANE_FALSE,     /* where it is false */
    SINGLE_LANE_TRUE_EACH, /* as SINGLE_LANE_TRUE, and every warp has such a lane: the others are never all */
    SINGLE_LANE_FALSE_EACH,
} SingleLane;

static SingleLane turned(SingleLane single_lane) {
    static const SingleLane turns[] = {SINGLE_LANE_NOT, SINGLE_LANE_FALSE, SINGLE_LANE_TRUE, SINGLE_LANE_FALSE_EACH,
                                       SINGLE_LANE_TRUE_EACH}; /* ORDER Lone */
    return turns[single_lane];
}

static bool is_equal(const PtxLint *lint, uint32_t statement) {
    const PtxForm *form = ptx_form(lint, statement);
    const PtxStatement *at = &lint->module->statements[statement];
    uint32_t a = operand_at(lint->module, at, 1), b = operand_at(lint->module, at, 2);
    if (!str_is(ptx_form_modifier(form->row, form->text, STR("compare")), "eq") || a == PTX_NONE || b == PTX_NONE)
        return false;
    if (ptx_form_has(form->text, STR("or")) || ptx_form_has(form->text, STR("xor")))
        return false;
    const Known *known = lint->known;
    return (known_different(known, a) && known_uniform(known, b)) ||
           (known_different(known, b) && known_uniform(known, a));
}

enum { MOST_DEEP = 16 };
static SingleLane single_lane_value(const PtxLint *lint, uint32_t value, unsigned deep);

static SingleLane single_lane_operand(const PtxLint *lint, uint32_t operand, unsigned deep) {
    if (operand == PTX_NONE || deep == MOST_DEEP)
        return SINGLE_LANE_NOT;
    SingleLane single_lane = single_lane_value(lint, flow_value(&lint->flow, operand), deep + 1);
    return lint->module->operands[operand].negated ? turned(single_lane) : single_lane;
}

/* One that is alone makes their conjunction so; but then it need not be true anywhere. */
static SingleLane single_lane_both(const PtxLint *lint, const PtxStatement *at, unsigned deep) {
    for (unsigned i = 1; i <= 2; i++) {
        SingleLane single_lane = single_lane_operand(lint, operand_at(lint->module, at, i), deep);
        if (single_lane == SINGLE_LANE_TRUE || single_lane == SINGLE_LANE_TRUE_EACH)
            return SINGLE_LANE_TRUE;
    }
    return SINGLE_LANE_NOT;
}

static SingleLane single_lane_value(const PtxLint *lint, uint32_t value, unsigned deep) {
    uint32_t instruction = value_instruction(lint, value);
    int64_t mask;
    if (instruction == PTX_NONE || lint->flow.values[value].before != PTX_NONE)
        return SINGLE_LANE_NOT;
    uint32_t statement = lint->flow.instructions[instruction];
    const PtxStatement *at = &lint->module->statements[statement];
    switch (lint->module->forms[at->what].evaluator) {
    case PTX_EVALUATE_ELECT:
        return number_of(lint, operand_named(lint->module, at, STR("mask")), &mask) && (uint32_t)mask == UINT32_MAX
                   ? SINGLE_LANE_TRUE_EACH
                   : SINGLE_LANE_NOT;
    case PTX_EVALUATE_SETP:
        return is_equal(lint, statement) ? SINGLE_LANE_TRUE : SINGLE_LANE_NOT;
    case PTX_EVALUATE_AND:
        return single_lane_both(lint, at, deep);
    case PTX_EVALUATE_NOT:
        return turned(single_lane_operand(lint, operand_at(lint->module, at, 1), deep));
    case PTX_EVALUATE_MOV:
        return single_lane_operand(lint, operand_at(lint->module, at, 1), deep);
    default:
        return SINGLE_LANE_NOT;
    }
}

/* ---- Where it is run ------------------------------------------------------------------------------ */

/* How many lanes the guard of a statement leaves: a part of the warp for certain. */
static bool guard_parts(const PtxLint *lint, uint32_t statement, bool holds) {
    const PtxStatement *at = &lint->module->statements[statement];
    if (!(at->flags & PTX_GUARDED))
        return false;
    SingleLane single_lane = single_lane_operand(lint, at->first, 0);
    if (((at->flags & PTX_NEGATED) != 0) == holds)
        single_lane = turned(single_lane);
    return single_lane == SINGLE_LANE_TRUE || single_lane == SINGLE_LANE_TRUE_EACH ||
           single_lane == SINGLE_LANE_FALSE_EACH;
}

/* Of each block, the statement whose guard leaves a part of a warp for it and all it dominates; PTX_NONE. */
static uint32_t *separated_blocks(const PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    uint32_t *separated = ARENA_ARRAY(lint->arena, uint32_t, flow->block_count + 1);
    for (uint32_t i = 0; i < flow->block_count; i++)
        separated[i] = PTX_NONE;
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        uint32_t above = block->dominator;
        if (above != PTX_NONE)
            separated[flow->order[n]] = separated[above];
        if (above == PTX_NONE || separated[above] != PTX_NONE || block->predecessor_count != 1)
            continue;
        const FlowBlock *from = &flow->blocks[above];
        if (from->ends != FLOW_BRANCH || flow->edges[block->predecessors] != above || from->begin == from->end)
            continue;
        uint32_t branch = flow->instructions[from->end - 1];
        bool taken = from->successor_count == 2 && flow->edges[from->successors] == flow->order[n];
        if (guard_parts(lint, branch, taken))
            separated[flow->order[n]] = branch;
    }
    return separated;
}

/* ---- Telling -------------------------------------------------------------------------------------- */

static void look_at(PtxLint *lint, const Act *act, const uint32_t *separated) {
    uint32_t by = separated[lint->flow.block_of[act->instruction]];
    bool own = guard_parts(lint, act->statement, true);
    if (by == PTX_NONE && !own)
        return;
    bool barrier =
        act_at(lint, act->instruction, EFFECT_NAMED_SYNC) || act_at(lint, act->instruction, EFFECT_NAMED_ARRIVE);
    const char *group = act->effect->together == PTX_WARPGROUP ? "warpgroup" : "warp";
    Finding *finding;
    if (barrier)
        finding = ptx_find(lint, RULE_THREADS_DIVERGENT, act->statement,
                           "the barrier is reached by a part of a warp, and it is for whole warps");
    else
        finding = ptx_find(lint, RULE_THREADS_DIVERGENT_WARP, act->statement,
                           "all threads of the %s have to run it together, and a part of a warp does", group);
    if (!own)
        ptx_other(lint, finding, "parts the warp", by);
    if (barrier)
        ptx_say(finding,
                "An aligned barrier is run by all threads of a warp together; otherwise its behavior is undefined. "
                "`barrier.sync` without `.aligned` may be reached by threads one by one.",
                "Move the barrier out of the condition.");
}

/* A mask without lanes that run the instruction. */
static void look_at_mask(PtxLint *lint, const Act *act) {
    int64_t mask;
    uint32_t block = lint->flow.block_of[act->instruction], threads = lint->header.threads;
    if (!number_of(lint, act->on, &mask))
        return;
    bool whole = known_whole(lint->known, block) && !is_guarded(lint, act->statement) && threads && threads % 32 == 0;
    if ((uint32_t)mask == 0)
        ptx_find(lint, RULE_THREADS_MASK, act->statement, "the mask is 0: it does not name the lanes that run it");
    else if (whole && (uint32_t)mask != UINT32_MAX)
        ptx_find(lint, RULE_THREADS_MASK, act->statement, "the mask is 0x%x, and all 32 lanes of the warp run it",
                 (unsigned)(uint32_t)mask);
}

void ptx_threads(PtxLint *lint) {
    bool alone = lint->header.most_threads == 1; /* which is all of its warp */
    const uint32_t *separated = alone ? NULL : separated_blocks(lint);
    for (uint32_t i = 0; i < lint->act_count; i++) {
        EffectVerb verb = lint->acts[i].effect->effect.verb;
        if (verb == EFFECT_CONVERGED && separated)
            look_at(lint, &lint->acts[i], separated);
        if (verb == EFFECT_WARP_SYNC)
            look_at_mask(lint, &lint->acts[i]);
    }
}
