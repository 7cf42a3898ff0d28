/* Registers that an asynchronous MMA, or a load from tensor memory, still writes; and the fence before an MMA. */
#include "analyze/ptx/internal.h"

/* What writes registers later: the effect gives them, and a wait for its group says that they are there. */
static const Act *late_work(const Lint *lint, uint32_t instruction) {
    for (uint32_t i = lint->first_acts[instruction]; i < lint->first_acts[instruction + 1]; i++) {
        const Effect *effect = &lint->acts[i].effect->effect;
        bool late = effect->group == GROUP_WGMMA || effect->group == GROUP_TENSOR_LOAD;
        if (effect->verb == EFFECT_READ && effect->done == DONE_GROUP && late && lint->acts[i].effect->gives.size)
            return &lint->acts[i];
    }
    return NULL;
}

static bool is_mma(const Act *work) {
    return work && work->effect->effect.group == GROUP_WGMMA;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* By value: the instruction that still writes it, + 1. `turn` tells what was waited for since. */
typedef struct Pending {
    uint32_t *writer, *turn;
    uint32_t turns[GROUP_KINDS];
} Pending;

static bool is_pending(const Lint *lint, const Pending *pending, uint32_t value, const Act **work) {
    if (value == PTX_NONE || !pending->writer[value])
        return false;
    *work = late_work(lint, pending->writer[value] - 1);
    return *work && pending->turns[(*work)->effect->effect.group] == pending->turn[value];
}

static void set_pending(Pending *pending, uint32_t value, uint32_t writer, GroupKind group) {
    if (value == PTX_NONE)
        return;
    pending->writer[value] = writer + 1;
    pending->turn[value] = pending->turns[group];
}

/* The registers that an operand is made of: itself, or its members. */
static void set_operand(const Lint *lint, Pending *pending, uint32_t operand, uint32_t writer, GroupKind group) {
    uint32_t end = operand + ptx_extent(&lint->module->operands[operand]);
    for (uint32_t i = operand; i < end; i++)
        set_pending(pending, flow_value(&lint->flow, i), writer, group);
}

static void tell_read(Lint *lint, uint32_t statement, const Act *work) {
    bool mma = is_mma(work);
    Finding *finding = ptx_find(lint, mma ? RULE_WGMMA_RESULT : RULE_TMEM_LOAD_IN_FLIGHT, statement,
                                mma ? "a register that an asynchronous MMA still writes is used before a wait"
                                    : "a register that a load from tensor memory still writes is used before a wait");
    if (mma)
        ptx_say(finding,
                "wgmma.mma_async writes its registers at some later time. Until `wgmma.wait_group`, any access to them "
                "other than as the accumulator of the next MMA is undefined behavior.",
                "Put `wgmma.commit_group` and `wgmma.wait_group` before the use.");
    ptx_other(lint, finding, "writes it", work->statement);
}

static bool moves(const Lint *lint, uint32_t statement) {
    PtxEvaluator evaluator = ptx_form(lint, statement)->evaluator;
    return evaluator == PTX_EVALUATE_MOV;
}

/* What one instruction reads and writes, in a block of which all before it was gone through. */
static void go_through(Lint *lint, Pending *pending, uint32_t instruction) {
    const PtxModule *module = lint->module;
    uint32_t statement = lint->flow.instructions[instruction];
    const PtxStatement *at = &module->statements[statement];
    const Act *own = late_work(lint, instruction), *work = NULL;
    for (uint32_t i = at->first; i < at->first + at->count; i++) {
        uint32_t value = flow_value(&lint->flow, i);
        bool written = value != PTX_NONE && lint->flow.values[value].kind == VALUE_RESULT &&
                       lint->flow.values[value].operand == i;
        if (written || !is_pending(lint, pending, value, &work))
            continue;
        if (moves(lint, statement)) /* a name more, no access: what uses that is one */
            set_operand(lint, pending, operand_at(module, at, 0), pending->writer[value] - 1,
                        work->effect->effect.group);
        else if (!is_mma(own) || !is_mma(work))
            tell_read(lint, statement, work);
    }
    if (own) {
        uint32_t operand = operand_named(module, at, own->effect->gives);
        if (operand != PTX_NONE)
            set_operand(lint, pending, operand, instruction, own->effect->effect.group);
    }
    const Act *await = act_at(lint, instruction, EFFECT_AWAIT);
    if (await) /* of what is left pending it is not told which it is */
        pending->turns[await->effect->effect.group]++;
}

static void look_at_results(Lint *lint) {
    const PtxFlow *flow = &lint->flow;
    Pending pending = {.writer = ARENA_ARRAY(lint->arena, uint32_t, flow->value_count + 1),
                       .turn = ARENA_ARRAY(lint->arena, uint32_t, flow->value_count + 1)};
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        for (uint32_t i = block->begin; i < block->end; i++)
            go_through(lint, &pending, i);
        for (unsigned i = 0; i < GROUP_KINDS; i++)
            pending.turns[i]++;
    }
}

/* ---- The fence ------------------------------------------------------------------------------------ */

static bool is_fence(const Lint *lint, const Act *act, const void *nothing) {
    (void)lint, (void)nothing;
    return act->effect->effect.verb == EFFECT_FENCE_REGISTERS;
}

/* The first MMA without a fence on any path to it; of others what follows from that is not told again. */
static void look_at_first(Lint *lint) {
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls)
        return;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (late_work(lint, act->instruction) != act || !is_mma(act))
            continue;
        if (!such_before(lint, act->instruction, is_fence, NULL))
            ptx_find(lint, RULE_WGMMA_FENCE, act->statement,
                     "no wgmma.fence is on any path to this asynchronous MMA");
        return;
    }
}

/* Whether an instruction writes one of the registers of a vector. An accumulator is read and written as one operand,
 * of which SSA has what is written alone: registers are compared. */
static bool writes_member(const Lint *lint, uint32_t instruction, uint32_t vector) {
    const PtxModule *module = lint->module;
    const PtxStatement *at = &module->statements[lint->flow.instructions[instruction]];
    for (uint32_t i = at->first; i < at->first + at->count; i++) {
        uint32_t value = flow_value(&lint->flow, i);
        if (value == PTX_NONE || lint->flow.values[value].kind != VALUE_RESULT ||
            lint->flow.values[value].operand != i)
            continue;
        for (uint32_t k = vector + 1; k <= vector + module->operands[vector].a; k++)
            if (module->operands[k].kind == PTX_REGISTER && module->operands[k].a == module->operands[i].a &&
                module->operands[k].value == module->operands[i].value)
                return true;
    }
    return false;
}

/* The accumulator, and a first operand in registers: written by the threads themselves behind the fence? */
static void look_at_registers(Lint *lint, uint32_t mma, uint32_t fence) {
    const PtxModule *module = lint->module;
    uint32_t statement = lint->flow.instructions[mma];
    for (unsigned index = 0; index < 2; index++) {
        uint32_t operand = operand_at(module, &module->statements[statement], index);
        if (operand == PTX_NONE || module->operands[operand].kind != PTX_VECTOR)
            continue;
        for (uint32_t i = fence + 1; i < mma; i++) {
            if (moves(lint, lint->flow.instructions[i]) || late_work(lint, i) || !writes_member(lint, i, operand))
                continue;
            Finding *finding =
                ptx_find(lint, RULE_WGMMA_FENCE, statement,
                         "a register of this asynchronous MMA is written after the last wgmma.fence before it");
            ptx_other(lint, finding, "writes it", lint->flow.instructions[i]);
            return;
        }
    }
}

static void look_at_fences(Lint *lint) {
    const PtxFlow *flow = &lint->flow;
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        uint32_t fence = PTX_NONE;
        for (uint32_t i = block->begin; i < block->end; i++) {
            if (act_at(lint, i, EFFECT_FENCE_REGISTERS))
                fence = i;
            else if (fence != PTX_NONE && is_mma(late_work(lint, i)))
                look_at_registers(lint, i, fence);
        }
    }
}

void ptx_in_flight(Lint *lint) {
    bool any = false;
    for (uint32_t i = 0; i < lint->act_count && !any; i++)
        any = late_work(lint, lint->acts[i].instruction) != NULL;
    if (!any)
        return;
    look_at_results(lint);
    look_at_first(lint);
    look_at_fences(lint);
}
