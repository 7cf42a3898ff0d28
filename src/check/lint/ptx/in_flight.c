/* Registers that an asynchronous MMA still writes, and the fence before it.
 *
 * A load from tensor memory writes registers later, too, but an instruction that uses them waits for it by that: PTX
 * asks for tcgen05.wait::ld only where others may then write the tensor memory. */
#include "check/lint/ptx/internal.h"

/* The effect of an MMA that gives its registers when a wait for its group says so. */
static const Act *mma_at(const PtxLint *lint, uint32_t instruction) {
    for (uint32_t i = lint->first_acts[instruction]; i < lint->first_acts[instruction + 1]; i++) {
        const Effect *effect = &lint->acts[i].effect->effect;
        if (effect->verb == EFFECT_READ && effect->done == DONE_GROUP && effect->group == GROUP_WGMMA &&
            lint->acts[i].effect->gives.size)
            return &lint->acts[i];
    }
    return NULL;
}

/* ---- Results -------------------------------------------------------------------------------------- */

/* By value: the instruction that still writes it, + 1, and the turn that it is of: each wait begins the next. */
typedef struct InFlightPending {
    uint32_t *writer, *turn;
    uint32_t turns;
    bool *reported; /* by instruction: the first use of what it writes was reported */
} InFlightPending;

static const Act *pending_at(const PtxLint *lint, const InFlightPending *pending, uint32_t value) {
    if (value == PTX_NONE || !pending->writer[value] || pending->turn[value] != pending->turns)
        return NULL;
    return mma_at(lint, pending->writer[value] - 1);
}

/* The registers that an operand is made of: itself, or its members. */
static void set_pending(const PtxLint *lint, InFlightPending *pending, uint32_t operand, uint32_t writer) {
    uint32_t end = operand + ptx_extent(&lint->module->operands[operand]);
    for (uint32_t i = operand; i < end; i++) {
        uint32_t value = flow_value(&lint->flow, i);
        if (value == PTX_NONE)
            continue;
        pending->writer[value] = writer + 1;
        pending->turn[value] = pending->turns;
    }
}

static void report_read(PtxLint *lint, uint32_t statement, const Act *mma) {
    Finding *finding = ptx_find(lint, RULE_WGMMA_RESULT, statement,
                                "a register that an asynchronous MMA still writes is used before a wait");
    ptx_say(
        finding,
        "wgmma.mma_async writes its registers at some later time. Until `wgmma.wait_group`, any access to them other "
        "than as the accumulator of the next MMA is undefined behavior. ptxas 13.0 inserts a wait, and says so with "
        "-v (C7517).",
        "Put `wgmma.commit_group` and `wgmma.wait_group` before the use.");
    ptx_other(lint, finding, "writes it", mma->statement);
    if (finding) {
        finding->graded = true;
        finding->grade = SEVERITY_WARNING;
    }
}

static bool moves(const PtxLint *lint, uint32_t statement) {
    return ptx_form(lint, statement)->evaluator == PTX_EVALUATE_MOV;
}

/* What one instruction reads and writes, in a block of which all before it was gone through. */
static void go_through(PtxLint *lint, InFlightPending *pending, uint32_t instruction) {
    const PtxModule *module = lint->module;
    uint32_t statement = lint->flow.instructions[instruction];
    const PtxStatement *at = &module->statements[statement];
    const Act *own = mma_at(lint, instruction);
    for (uint32_t i = at->first; i < at->first + at->count; i++) {
        uint32_t value = flow_value(&lint->flow, i);
        bool written =
            value != PTX_NONE && lint->flow.values[value].kind == VALUE_RESULT && lint->flow.values[value].operand == i;
        const Act *mma = written ? NULL : pending_at(lint, pending, value);
        if (!mma)
            continue;
        if (moves(lint, statement)) { /* a name more, no access: what uses that is one */
            set_pending(lint, pending, operand_at(module, at, 0), mma->instruction);
        } else if (!own && !pending->reported[mma->instruction]) {
            pending->reported[mma->instruction] = true;
            report_read(lint, statement, mma);
        }
    }
    uint32_t given = own ? operand_named(module, at, own->effect->gives) : PTX_NONE;
    if (given != PTX_NONE)
        set_pending(lint, pending, given, instruction);
    const Act *await = act_at(lint, instruction, EFFECT_AWAIT);
    pending->turns += await && await->effect->effect.group == GROUP_WGMMA; /* which are left pending is not told */
}

static void look_at_results(PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    InFlightPending pending = {.turns = 1,
                               .writer = ARENA_ARRAY(lint->arena, uint32_t, flow->value_count + 1),
                               .turn = ARENA_ARRAY(lint->arena, uint32_t, flow->value_count + 1),
                               .reported = ARENA_ARRAY(lint->arena, bool, flow->instruction_count + 1)};
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        for (uint32_t i = block->begin; i < block->end; i++)
            go_through(lint, &pending, i);
        pending.turns++;
    }
}

/* ---- The fence ------------------------------------------------------------------------------------ */

static bool is_fence(const PtxLint *lint, const Act *act, const void *nothing) {
    (void)lint, (void)nothing;
    return act->effect->effect.verb == EFFECT_FENCE_REGISTERS;
}

/* The first MMA without a fence on any path to it; of others what follows from that is not told again. */
static void look_at_first(PtxLint *lint) {
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls)
        return;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (mma_at(lint, act->instruction) != act)
            continue;
        if (!such_before(lint, act->instruction, is_fence, NULL))
            ptx_find(lint, RULE_WGMMA_FENCE, act->statement, "no wgmma.fence is on any path to this asynchronous MMA");
        return;
    }
}

/* Whether an instruction writes one of the registers of a vector. An accumulator is read and written as one operand,
 * of which SSA has what is written alone: registers are compared. */
static bool writes_member(const PtxLint *lint, uint32_t instruction, uint32_t vector) {
    const PtxModule *module = lint->module;
    const PtxStatement *at = &module->statements[lint->flow.instructions[instruction]];
    for (uint32_t i = at->first; i < at->first + at->count; i++) {
        uint32_t value = flow_value(&lint->flow, i);
        if (value == PTX_NONE || lint->flow.values[value].kind != VALUE_RESULT || lint->flow.values[value].operand != i)
            continue;
        for (uint32_t k = vector + 1; k <= vector + module->operands[vector].a; k++)
            if (module->operands[k].kind == PTX_REGISTER && module->operands[k].a == module->operands[i].a &&
                module->operands[k].value == module->operands[i].value)
                return true;
    }
    return false;
}

/* The accumulator, and a first operand in registers: written by the threads themselves behind the fence? */
static void look_at_registers(PtxLint *lint, uint32_t mma, uint32_t fence) {
    const PtxModule *module = lint->module;
    uint32_t statement = lint->flow.instructions[mma];
    for (unsigned index = 0; index < 2; index++) {
        uint32_t operand = operand_at(module, &module->statements[statement], index);
        if (operand == PTX_NONE || module->operands[operand].kind != PTX_VECTOR)
            continue;
        for (uint32_t i = fence + 1; i < mma; i++) {
            if (moves(lint, lint->flow.instructions[i]) || mma_at(lint, i) || !writes_member(lint, i, operand))
                continue;
            Finding *finding =
                ptx_find(lint, RULE_WGMMA_FENCE, statement,
                         "a register of this asynchronous MMA is written after the last wgmma.fence before it");
            ptx_other(lint, finding, "writes it", lint->flow.instructions[i]);
            return;
        }
    }
}

static void look_at_fences(PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        uint32_t fence = PTX_NONE;
        for (uint32_t i = block->begin; i < block->end; i++) {
            if (act_at(lint, i, EFFECT_FENCE_REGISTERS))
                fence = i;
            else if (fence != PTX_NONE && mma_at(lint, i))
                look_at_registers(lint, i, fence);
        }
    }
}

void ptx_in_flight(PtxLint *lint) {
    bool any = false;
    for (uint32_t i = 0; i < lint->act_count && !any; i++)
        any = mma_at(lint, lint->acts[i].instruction) != NULL;
    if (!any)
        return;
    look_at_results(lint);
    look_at_first(lint);
    look_at_fences(lint);
}
