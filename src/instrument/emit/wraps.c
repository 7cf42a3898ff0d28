/* Looks whether indices wrap: what is known of the lanes of a warp takes it for granted, of some instructions that make
 * 64 bits of 32, that they do not.
 *
 * An index of 32 bits is known, modulo 2^32, to differ between lanes in some regular way. If no lane is as far as 2^28
 * from lane 0, then it does so without the modulus, too: the steps of which a difference is the sum, five of them at
 * most, are not as long as 2^28 each. And if all are small, no lane is that far from lane 0. */
#include "instrument/internal.h"

enum { SMALL = 1 << 27, FAR = 1 << 28 };

/* The registers of 32 bits that differ between lanes. */
static uint32_t next_index(const Look *look, const PtxStatement *statement, uint32_t from) {
    uint32_t guard = statement->flags & PTX_GUARDED ? 1 : 0;
    for (uint32_t i = from < guard ? guard : from; i < statement->count; i++) {
        uint32_t operand = statement->first + i;
        if (look->module->operands[operand].kind != PTX_REGISTER || flow_value(&look->flow, operand) == PTX_NONE ||
            look->flow.values[flow_value(&look->flow, operand)].operand == operand)
            continue;
        Form form = ptx_operand_form(&look->values, operand);
        if (form.width == 32 && !form_is_uniform(look->values.tables, &form))
            return i;
    }
    return PTX_NONE;
}

static bool is_signed(const PtxForm *form) {
    return ptx_form_has(form->text, STR("s32"));
}

bool can_check_wrap(const Look *look, uint32_t instruction) {
    const PtxForm *form = look_form(look, instruction);
    const PtxStatement *statement = look_statement(look, instruction);
    bool extends = form->evaluator == PTX_EVALUATE_MUL || form->evaluator == PTX_EVALUATE_MAD ||
                   form->evaluator == PTX_EVALUATE_CVT;
    uint32_t count, to = 0;
    const PtxOperand *operands = ptx_operands(look->module, statement, &count);
    if (count && operands->kind == PTX_REGISTER)
        to = ptx_operand_form(&look->values, (uint32_t)(operands - look->module->operands)).width;
    bool narrow = ptx_form_has(form->text, STR("s32")) || ptx_form_has(form->text, STR("u32"));
    return extends && to == 64 && narrow && next_index(look, statement, 0) != PTX_NONE;
}

bool cannot_wrap_apart(const Look *look, uint32_t instruction) {
    const PtxStatement *statement = look_statement(look, instruction);
    for (uint32_t i = statement->flags & PTX_GUARDED ? 1 : 0; i < statement->count; i++) {
        uint32_t operand = statement->first + i, value = flow_value(&look->flow, operand);
        if (value == PTX_NONE || look->flow.values[value].operand == operand)
            continue;
        Form form = ptx_operand_form(&look->values, operand);
        if (form.width < 64 && !form_is_uniform(look->values.tables, &form))
            return false;
    }
    return true;
}

/* All lanes that are far from lane 0: those that it is asked of, if all of the warp come. */
static void write_far(Code *code, const char *index, bool signs) {
    const char *type = signs ? "s64.s32" : "u64.u32";
    code_say(code, "shfl.sync.idx.b32 ~t0, %s, 0, 31, ~full", index);
    code_say(code, "cvt.%s ~d0, ~t0", type);
    code_say(code, "cvt.%s ~d1, %s", type, index);
    code_say(code, "sub.s64 ~d0, ~d1, ~d0");
    code_say(code, "add.s64 ~d0, ~d0, %u", FAR);
    code_say(code, "setp.ge.u64 ~p1, ~d0, %u", 2 * (unsigned)FAR);
}

static void write_wrap_check(Code *code, uint32_t instruction, uint32_t operand) {
    const PtxStatement *statement = look_statement(code->look, instruction);
    bool signs = is_signed(look_form(code->look, instruction)), guarded = statement->flags & PTX_GUARDED;
    bool together = look_together(code->look, code->look->flow.block_of[instruction]);
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

void write_wrap_checks(Code *code) {
    const Look *look = code->look;
    for (uint32_t i = 0; code->plan->wraps && i < look->flow.instruction_count; i++) {
        const PtxStatement *statement = look_statement(look, i);
        if (!look->values.assumed[i] || !look->flow.blocks[look->flow.block_of[i]].reached)
            continue;
        code_stand(code, look->flow.instructions[i]);
        for (uint32_t k = next_index(look, statement, 0); k != PTX_NONE; k = next_index(look, statement, k + 1))
            write_wrap_check(code, i, statement->first + k);
        code_put(code, look->flow.instructions[i], false);
    }
}
