/* Two threads side by side, backward over SSA values from what they store. */
#include "machine/simt/decode/replicas.h"

#include "machine/simt/decode/unused.h"
#include "ptx/effects.h"

#include <stdlib.h>
#include <string.h>

bool ptx_replicas_open(PtxReplicas *replicas, const PtxProgram *program, const PtxBlockShape *shape, size_t budget) {
    const char *problem;
    *replicas = (PtxReplicas){0};
    if (!ptx_flow_values(&replicas->flow, &replicas->values, program->module, program->entry, shape, budget, &problem))
        return false;
    replicas->program = program;
    replicas->seen = malloc(replicas->flow.value_count + 1);
    replicas->work = malloc((replicas->flow.value_count + 1) * sizeof *replicas->work);
    if (replicas->seen && replicas->work)
        return true;
    ptx_replicas_close(replicas);
    return false;
}

void ptx_replicas_close(PtxReplicas *replicas) {
    if (!replicas->program)
        return;
    free(replicas->seen);
    free(replicas->work);
    ptx_flow_values_free(&replicas->flow, &replicas->values);
    *replicas = (PtxReplicas){0};
}

typedef struct ReplicaPair {
    PtxReplicas *replicas;
    uint32_t one, other; /* threads */
    bool apart;          /* of different CTAs */
    uint32_t count;      /* values that are to be looked at: replicas->work */
    bool differ;         /* something is not the same */
    bool forwarded;      /* something comes from other lanes: two that add what they have to it may come to the same */
} ReplicaPair;

/* What a form says of the two. */
typedef enum ReplicaSymmetry { NOT_KNOWN, SAME, DIFFERENT } ReplicaSymmetry;

static ReplicaSymmetry compare(const ReplicaPair *pair, const Form *form) {
    bool in_warp = !pair->apart && pair->one / FORM_LANES == pair->other / FORM_LANES;
    const PtxValues *values = &pair->replicas->values;
    if (form->kind == FORM_TABLE && (form->span <= (pair->apart ? SPAN_GRID : SPAN_CTA) || in_warp))
        return (form_offset(values, form, pair->one) ^ form_offset(values, form, pair->other)) & low_ones(form->width)
                   ? DIFFERENT
                   : SAME;
    if (form->kind != FORM_TABLE && form->kind != FORM_NEVER && in_warp && !((pair->one ^ pair->other) & form->lanes))
        return SAME;
    return NOT_KNOWN;
}

/* Once each: whether it differs is found when its turn comes. */
static void look_at(ReplicaPair *pair, uint32_t value) {
    pair->differ |= value == PTX_NONE;
    if (value == PTX_NONE || pair->replicas->seen[value])
        return;
    pair->replicas->seen[value] = 1;
    pair->replicas->work[pair->count++] = value;
}

static void look_at_operand(ReplicaPair *pair, const PtxOperand *operand) {
    const PtxFlow *flow = &pair->replicas->flow;
    for (uint32_t i = 0, count = ptx_extent(operand); i < count; i++) {
        uint32_t index = (uint32_t)(operand + i - flow->module->operands);
        if (operand[i].kind == PTX_REGISTER) {
            look_at(pair, flow_value(flow, index));
        } else if (operand[i].kind != PTX_VECTOR && operand[i].kind != PTX_ADDRESS) {
            Form form = ptx_operand_form(&pair->replicas->values, index);
            ReplicaSymmetry symmetry = compare(pair, &form);
            pair->differ |= symmetry == DIFFERENT || (symmetry == NOT_KNOWN && pair->apart);
        }
    }
}

/* What an instruction reads; of a load, from where. */
static void look_at_operands(ReplicaPair *pair, const PtxStatement *statement) {
    const PtxModule *module = pair->replicas->flow.module;
    const PtxForm *form = &module->forms[statement->what];
    uint32_t count, place = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    if (statement->flags & PTX_GUARDED)
        look_at_operand(pair, &module->operands[statement->first]);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]), place++) {
        bool written = place < 32 && form->writes >> place & 1 && !(form->updates >> place & 1);
        if (!written || operands[i].kind == PTX_ADDRESS)
            look_at_operand(pair, &operands[i]);
    }
}

static void look_behind_result(ReplicaPair *pair, const FlowValue *value) {
    const PtxFlow *flow = &pair->replicas->flow;
    const PtxStatement *statement = &flow->module->statements[flow->instructions[value->instruction]];
    const PtxForm *form = &flow->module->forms[statement->what];
    bool matrix = form->evaluator >= PTX_EVALUATE_MMA && form->evaluator <= PTX_EVALUATE_TENSOR_MMA;
    if (value->before != PTX_NONE)
        look_at(pair, value->before);
    if (matrix || ptx_giver(form) == GIVEN_BY_WARP)
        pair->forwarded = true;
    else if (ptx_giver(form) == GIVEN_BY_ITSELF || form->evaluator == PTX_EVALUATE_LOAD)
        look_at_operands(pair, statement);
    else
        pair->differ = true;
}

/* What decides which way a block is left. */
static void look_at_end(ReplicaPair *pair, uint32_t block) {
    const PtxFlow *flow = &pair->replicas->flow;
    const FlowBlock *of = block == PTX_NONE ? NULL : &flow->blocks[block];
    if (!of || of->begin == of->end || of->successor_count < 2)
        return;
    const PtxStatement *last = &flow->module->statements[flow->instructions[of->end - 1]];
    if (last->flags & PTX_GUARDED)
        look_at_operand(pair, &flow->module->operands[last->first]);
}

/* What comes together in a phi, and what decides which of it that is. */
static void look_behind_phi(ReplicaPair *pair, const FlowValue *phi) {
    const PtxFlow *flow = &pair->replicas->flow;
    const FlowBlock *block = &flow->blocks[phi->block];
    look_at_end(pair, block->dominator);
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        look_at(pair, flow->inputs[phi->inputs + i]);
        look_at_end(pair, flow->edges[block->predecessors + i]);
    }
}

static void look_behind(ReplicaPair *pair, uint32_t value) {
    const PtxFlow *flow = &pair->replicas->flow;
    const FlowValue *v = &flow->values[value];
    ReplicaSymmetry symmetry = compare(pair, &pair->replicas->values.forms[value]);
    pair->differ |= symmetry == DIFFERENT;
    if (symmetry != NOT_KNOWN)
        return;
    if (v->kind == VALUE_RESULT)
        look_behind_result(pair, v);
    if (v->kind == VALUE_PHI)
        look_behind_phi(pair, v);
}

/* The operand that an instruction stores; NULL: none. */
static const PtxOperand *stored_by(const PtxReplicas *replicas, const PtxCode *code) {
    const PtxModule *module = replicas->flow.module;
    const PtxStatement *statement = &module->statements[code->statement];
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (unsigned i = 0, count = ptx_effects_of(module, statement, effects); i < count; i++)
        if (effects[i].effect.verb == EFFECT_WRITE && effects[i].value.size)
            return ptx_effect_operand(module, statement, effects[i].value);
    return NULL;
}

static bool is_in_entry(const PtxReplicas *replicas, const PtxCode *code) {
    const PtxRoutine *routine = &replicas->program->routines[replicas->program->entry];
    uint32_t at = (uint32_t)(code - replicas->program->code);
    return at >= routine->begin && at < routine->end;
}

bool ptx_may_store_same(PtxReplicas *replicas, const PtxCode *code, uint32_t one, uint32_t other, bool apart) {
    ReplicaPair pair = {.replicas = replicas, .one = one, .other = other, .apart = apart};
    if (!is_in_entry(replicas, code))
        return false;
    if (code->together) /* rows of a matrix, which lie in registers of others */
        return true;
    const PtxOperand *stored = stored_by(replicas, code);
    if (!stored)
        return false;
    memset(replicas->seen, 0, replicas->flow.value_count);
    look_at_operand(&pair, stored);
    while (pair.count && !pair.forwarded)
        look_behind(&pair, replicas->work[--pair.count]);
    return pair.forwarded || !pair.differ;
}

/* ---- Data ---- */

/* Whether a value is loaded, or comes from where that cannot be decided. */
static bool is_data(const PtxFlow *flow, const FlowValue *value) {
    const PtxStatement *statement = &flow->module->statements[flow->instructions[value->instruction]];
    const PtxForm *form = &flow->module->forms[statement->what];
    PtxSpace space = ptx_space_of_form(form->text, 0);
    if (form->evaluator == PTX_EVALUATE_LOAD)
        return space != PTX_SPACE_PARAM && space != PTX_SPACE_CONST;
    return ptx_giver(form) == GIVEN_ELSEWHERE && form->evaluator != PTX_EVALUATE_ELECT &&
           form->evaluator != PTX_EVALUATE_ACTIVEMASK && form->evaluator != PTX_EVALUATE_CARRY &&
           form->evaluator != PTX_EVALUATE_BORROW;
}

bool ptx_stores_data(PtxReplicas *replicas, const PtxCode *code) {
    const PtxFlow *flow = &replicas->flow;
    const PtxOperand *stored = is_in_entry(replicas, code) ? stored_by(replicas, code) : NULL;
    ReplicaPair pair = {.replicas = replicas};
    if (!stored)
        return true;
    memset(replicas->seen, 0, flow->value_count);
    look_at_operand(&pair, stored);
    while (pair.count) {
        const FlowValue *v = &flow->values[replicas->work[--pair.count]];
        if (v->kind == VALUE_RESULT && is_data(flow, v))
            return true;
        if (v->kind == VALUE_RESULT) {
            if (v->before != PTX_NONE)
                look_at(&pair, v->before);
            look_at_operands(&pair, &flow->module->statements[flow->instructions[v->instruction]]);
        }
        if (v->kind == VALUE_PHI)
            look_behind_phi(&pair, v);
    }
    return false;
}
