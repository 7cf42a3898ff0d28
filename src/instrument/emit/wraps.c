/* Looks whether indices wrap: what is known of the lanes of a warp takes it for granted, of some instructions that make
 * 64 bits of 32, that they do not.
 *
 * An index of 32 bits is known, modulo 2^32, to differ between lanes in some regular way. If no lane is as far as 2^28
 * from lane 0, then it does so without the modulus, too: the steps of which a difference is the sum, five of them at
 * most, are not as long as 2^28 each. And if all are small, no lane is that far from lane 0. */
#include "instrument/internal.h"

enum { SMALL = 1 << 27, FAR = 1 << 28 };

/* The registers of 32 bits that differ between lanes. */
static uint32_t next_index(const FunctionAnalysis *analysis, const PtxStatement *statement, uint32_t from) {
    uint32_t guard = statement->flags & PTX_GUARDED ? 1 : 0;
    for (uint32_t i = from < guard ? guard : from; i < statement->count; i++) {
        uint32_t operand = statement->first + i;
        if (analysis->module->operands[operand].kind != PTX_REGISTER ||
            flow_value(&analysis->flow, operand) == PTX_NONE ||
            analysis->flow.values[flow_value(&analysis->flow, operand)].operand == operand)
            continue;
        Form form = ptx_operand_form(&analysis->values, operand);
        if (form.width == 32 && !form_is_uniform(analysis->values.tables, &form))
            return i;
    }
    return PTX_NONE;
}

static bool is_signed(const PtxForm *form) {
    return ptx_form_has(form->text, STR("s32"));
}

bool can_check_wrap(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxForm *form = look_form(analysis, instruction);
    const PtxStatement *statement = look_statement(analysis, instruction);
    bool extends = form->evaluator == PTX_EVALUATE_MUL || form->evaluator == PTX_EVALUATE_MAD ||
                   form->evaluator == PTX_EVALUATE_CVT;
    uint32_t count, to = 0;
    const PtxOperand *operands = ptx_operands(analysis->module, statement, &count);
    if (count && operands->kind == PTX_REGISTER)
        to = ptx_operand_form(&analysis->values, (uint32_t)(operands - analysis->module->operands)).width;
    bool narrow = ptx_form_has(form->text, STR("s32")) || ptx_form_has(form->text, STR("u32"));
    return extends && to == 64 && narrow && next_index(analysis, statement, 0) != PTX_NONE;
}

bool cannot_wrap_apart(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    for (uint32_t i = statement->flags & PTX_GUARDED ? 1 : 0; i < statement->count; i++) {
        uint32_t operand = statement->first + i, value = flow_value(&analysis->flow, operand);
        if (value == PTX_NONE || analysis->flow.values[value].operand == operand)
            continue;
        Form form = ptx_operand_form(&analysis->values, operand);
        if (form.width < 64 && !form_is_uniform(analysis->values.tables, &form))
            return false;
    }
    return true;
}

/* All lanes that are far from lane 0: those that it is asked of, if all of the warp come. */
static void write_far(InstrumentCode *code, const char *index, bool signs) {
    const char *type = signs ? "s64.s32" : "u64.u32";
    code_say(code, "shfl.sync.idx.b32 ~t0, %s, 0, 31, ~full", index);
    code_say(code, "cvt.%s ~d0, ~t0", type);
    code_say(code, "cvt.%s ~d1, %s", type, index);
    code_say(code, "sub.s64 ~d0, ~d1, ~d0");
    code_say(code, "add.s64 ~d0, ~d0, %u", FAR);
    code_say(code, "setp.ge.u64 ~p1, ~d0, %u", 2 * (unsigned)FAR);
}

static void write_wrap_check(InstrumentCode *code, uint32_t instruction, uint32_t operand) {
    const PtxStatement *statement = look_statement(code->analysis, instruction);
    bool signs = is_signed(look_form(code->analysis, instruction)), guarded = statement->flags & PTX_GUARDED;
    bool together = look_together(code->analysis, code->analysis->flow.block_of[instruction]);
    const char *index = operand_text(code, operand);
    if (signs)
        code_say(code, "add.s32 ~t0, %s, %u", index, SMALL);
    code_say(code, "setp.ge.u32 ~p1, %s, %u", signs ? "~t0" : index, 2 * SMALL);
    if (guarded) {
        const char *guard = operand_text(code, statement->first);
        if (statement->flags & PTX_NEGATED)
            code_say(code, "not.pred ~p2, %s", guard);
        code_say(code, "and.pred ~p1, ~p1, %s", statement->flags & PTX_NEGATED ? "~p2" : guard);
    }
    if (together)
        code_say(code, "vote.sync.any.pred ~p2, ~p1, ~full");
    Cold cold = cold_begin(code, together ? "~p2" : "~p1", together);
    if (together && !guarded)
        write_far(code, index, signs);
    write_launch(code, "~d0");
    write_dropped(code, "~p1", "~d0", "~t0", RECORD_DROPPED_WRAP);
    cold_end(code, cold);
}

void write_wrap_checks(InstrumentCode *code) {
    const FunctionAnalysis *analysis = code->analysis;
    for (uint32_t i = 0; code->plan->wraps && i < analysis->flow.instruction_count; i++) {
        const PtxStatement *statement = look_statement(analysis, i);
        if (!analysis->values.assumed[i] || !analysis->flow.blocks[analysis->flow.block_of[i]].reached)
            continue;
        code_stand(code, analysis->flow.instructions[i]);
        for (uint32_t k = next_index(analysis, statement, 0); k != PTX_NONE; k = next_index(analysis, statement, k + 1))
            write_wrap_check(code, i, statement->first + k);
        code_put(code, analysis->flow.instructions[i], false);
    }
}
