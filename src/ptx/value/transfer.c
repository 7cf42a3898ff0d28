/* What an instruction makes of the forms that it reads. */
#include "ptx/value/internal.h"

/* One look at one instruction. */
typedef struct TransferLook {
    ValueSolver *s;
    uint32_t block;
    const PtxStatement *statement;
    const Meaning *meaning; /* NULL: no row */
    const PtxOperand *operands;
    uint32_t count;
    bool assumed;
} TransferLook;

static bool writes(const TransferLook *look, const PtxOperand *operand) {
    const PtxFlow *flow = look->s->flow;
    uint32_t at = (uint32_t)(operand - look->s->module->operands), value = flow_value(flow, at);
    return operand->kind == PTX_REGISTER && value != PTX_NONE && flow->values[value].operand == at;
}

/* ---- What is written -------------------------------------------------------------------------------------- */

static Form guard_form(const TransferLook *look) {
    Form guard = operand_form(look->s->values, look->operands - 1, 1, look->block);
    if (look->statement->flags & PTX_NEGATED && guard.kind != FORM_NEVER)
        guard = form_not(look->s->tables, &guard);
    return guard;
}

/* Where the guard does not hold, what was there stays. */
static Form guarded(const TransferLook *look, const FlowValue *value, Form form) {
    if (value->before == PTX_NONE)
        return form;
    if (!(look->statement->flags & PTX_GUARDED))
        return form_any(form.width);
    Form guard = guard_form(look), before = value_form(look->s->values, value->before, look->block);
    return form_select(look->s->tables, &guard, &form, &before);
}

static void write(TransferLook *look, const PtxOperand *operand, Form form, bool is_signed, PtxOrigin origin) {
    ValueSolver *s = look->s;
    if (!writes(look, operand))
        return;
    uint32_t index = flow_value(s->flow, (uint32_t)(operand - s->module->operands));
    const FlowValue *value = &s->flow->values[index];
    unsigned width = register_width(s->module, operand->a);
    if (operand->part != PTX_WHOLE || s->module->variables[operand->a].vector != PTX_NONE)
        form = form_any(width);
    form = guarded(look, value, form_extend(s->tables, &form, width, is_signed, &look->assumed));
    if (value->before != PTX_NONE && s->values->forms[value->before].kind != FORM_NEVER)
        origin = join_origins(origin, s->values->origins[value->before]);
    set_form(s, index, form, origin);
}

/* All that is written: the first form, and the second of a pair's second. */
static void write_all(TransferLook *look, const Form results[2], bool is_signed, PtxOrigin origin) {
    const PtxOperand *pair = look->count && look->operands->kind == PTX_PAIR ? look->operands : NULL;
    for (uint32_t i = 0; i < look->count; i++) {
        bool second = pair && i == 2;
        write(look, look->operands + i, results[second], is_signed && !second, second ? unknown_origin() : origin);
    }
}

static void write_any(TransferLook *look) {
    Form any[2] = {form_any(128), form_any(128)};
    write_all(look, any, false, unknown_origin());
}

/* ---- What is read --------------------------------------------------------------------------------------------- */

/* Everything, numbers and addresses included. */
static Form pure_of_reads(TransferLook *look) {
    Form result = form_uniform(128, SPAN_GRID, 0, 0);
    for (uint32_t i = 0; i < look->count; i++) {
        const PtxOperand *operand = look->operands + i;
        if (operand->kind > PTX_VARIABLE || writes(look, operand)) /* labels, words, and trees without their leaves */
            continue;
        Form both[2] = {result, operand_form(look->s->values, operand, 64, look->block)};
        result = form_pure(look->s->tables, both, 2, 128);
    }
    return result;
}

/* The operands behind the first, which is written. */
static unsigned read_arguments(TransferLook *look, Form arguments[], unsigned most) {
    const Operation *op = &look->meaning->operation;
    unsigned count = 0;
    for (uint32_t i = 0, index = 0; i < look->count && count < most; i += ptx_extent(look->operands + i), index++)
        if (index) {
            unsigned width = op->numbers && operation_arguments(op) > count ? operation_argument_width(op, count) : 32;
            arguments[count++] = operand_form(look->s->values, look->operands + i, width, look->block);
        }
    return count;
}

/* ---- Evaluators ------------------------------------------------------------------------------------------------- */

static void evaluate_numbers(TransferLook *look) {
    Operation op = look->meaning->operation;
    Form arguments[MOST_ARGUMENTS + 1], results[2];
    unsigned wanted = operation_arguments(&op), count = read_arguments(look, arguments, wanted);
    if (!op.numbers || count < wanted) {
        results[0] = results[1] = pure_of_reads(look);
        write_all(look, results, false, unknown_origin());
        return;
    }
    results[0] = operation_apply(look->s->tables, &op, arguments, count, &look->assumed);
    results[1] = form_any(1);
    if (look->operands->kind == PTX_PAIR && op.evaluator == PTX_EVALUATE_SETP) {
        static const Compare opposite[] = {COMPARE_NE, COMPARE_EQ, COMPARE_GE, COMPARE_GT, COMPARE_LE, COMPARE_LT};
        op.compare = (uint8_t)opposite[op.compare];
        results[1] = operation_apply(look->s->tables, &op, arguments, count, &look->assumed);
    }
    PtxOrigin origin = result_origin(look->s->values, look->meaning, look->statement);
    write_all(look, results, op.result_signed, origin);
}

static unsigned member_width(const TransferLook *look, const PtxOperand *member, unsigned fallback) {
    return member->kind == PTX_REGISTER ? register_width(look->s->module, member->a) : fallback;
}

/* mov of a vector: members side by side. */
static void evaluate_pack(TransferLook *look, const PtxOperand *to, const PtxOperand *from) {
    Form parts[8];
    unsigned total = member_width(look, to, 64), count = 0;
    for (uint32_t i = 1; i <= from->a && count < 8; i += ptx_extent(from + i))
        parts[count++] = operand_form(look->s->values, from + i, total / from->a, look->block);
    Form results[2] = {form_pack(look->s->tables, parts, count, total), form_any(1)};
    write_all(look, results, false, unknown_origin());
}

static void evaluate_unpack(TransferLook *look, const PtxOperand *to, const PtxOperand *from) {
    unsigned total = member_width(look, from, 64), each = total / (to->a ? to->a : 1), at = 0;
    Form whole = operand_form(look->s->values, from, total, look->block);
    for (uint32_t i = 1; i <= to->a; i++) {
        unsigned width = member_width(look, to + i, each);
        write(look, to + i, form_part(look->s->tables, &whole, at, width), false, unknown_origin());
        at += width;
    }
}

static void evaluate_mov(TransferLook *look) {
    const PtxOperand *to = look->operands, *from = to + ptx_extent(to);
    if (to->kind == PTX_VECTOR && from->kind == PTX_VECTOR) {
        write_any(look);
    } else if (from->kind == PTX_VECTOR) {
        evaluate_pack(look, to, from);
    } else if (to->kind == PTX_VECTOR) {
        evaluate_unpack(look, to, from);
    } else {
        unsigned width = member_width(look, to, 64);
        Form results[2] = {operand_form(look->s->values, from, width, look->block), form_any(1)};
        write_all(look, results, false, result_origin(look->s->values, look->meaning, look->statement));
    }
}

/* Generic addresses are those of a window, which lies somewhere, on a multiple of 64 KiB. */
static void evaluate_window(TransferLook *look) {
    Form arguments[2], results[2] = {form_any(64), form_any(1)};
    const Meaning *meaning = look->meaning;
    unsigned count = read_arguments(look, arguments, 2);
    bool mapped = meaning->operation.evaluator == PTX_EVALUATE_MAPA;
    if (count && arguments[0].kind == FORM_NEVER) {
        results[0] = arguments[0];
    } else if (count && meaning->space == PTX_SPACE_GLOBAL && !mapped) {
        results[0] = arguments[0];
    } else if (count && (!mapped || (count > 1 && form_is_uniform(look->s->tables, &arguments[1])))) {
        unsigned width = arguments[0].width;
        FormSpan span = mapped && form_span(&arguments[1]) > SPAN_CTA ? form_span(&arguments[1]) : SPAN_CTA;
        Form window = form_uniform(width, span, low_ones(width) & 0xffff, 0);
        results[0] = form_sum(look->s->tables, &arguments[0], &window);
        results[0].assumes |= mapped ? arguments[1].assumes : 0;
    }
    write_all(look, results, false, result_origin(look->s->values, meaning, look->statement));
}

/* Whether all lanes that load one address get one value; then over which threads. */
static bool loads_same(const TransferLook *look, const PtxOperand *address, const Form *at, FormSpan *span,
                       unsigned *assumes) {
    const Load *load = &look->meaning->load;
    PtxOrigin origin = address_origin(look->s->values, load->space, address);
    bool parameter = is_kernel_parameter(look->s->flow, origin.variable);
    *span = form_span(at);
    *assumes = at->assumes;
    if (!form_is_uniform(look->s->tables, at))
        return false;
    if (load->space == PTX_SPACE_PARAM)
        return parameter;
    if (load->fixed)
        return true;
    if (look->s->values->shape.unsteady)
        return false;
    *span = SPAN_WARP;
    *assumes |= FORM_STEADY;
    bool known = load->space == PTX_SPACE_UNKNOWN ? origin.space != PTX_SPACE_UNKNOWN || parameter : true;
    return load->weak && known && origin.space != PTX_SPACE_LOCAL && origin.space != PTX_SPACE_PARAM;
}

static void evaluate_load(TransferLook *look) {
    const PtxOperand *address = look->operands + ptx_extent(look->operands);
    unsigned width = look->meaning->load_width, assumes = 0;
    FormSpan span;
    Form at = address_form(look->s->values, address, look->block), results[2];
    results[0] = form_any(width);
    if (at.kind == FORM_NEVER)
        results[0].kind = FORM_NEVER;
    else if (loads_same(look, address, &at, &span, &assumes))
        results[0] = form_uniform(width, span, 0, 0);
    results[0].assumes = results[0].kind == FORM_TABLE ? (uint8_t)assumes : 0;
    results[1] = results[0];
    write_all(look, results, look->meaning->load_signed,
              result_origin(look->s->values, look->meaning, look->statement));
}

static void evaluate_lanes(TransferLook *look) {
    Form arguments[MOST_ARGUMENTS + 1], results[2];
    unsigned count = read_arguments(look, arguments, MOST_ARGUMENTS);
    lanes_results(look->s, look->meaning, arguments, count, results);
    write_all(look, results, false, unknown_origin());
}

static void evaluate(TransferLook *look) {
    switch (look->meaning ? look->meaning->operation.evaluator : PTX_EVALUATE_NONE) {
    case PTX_EVALUATE_NONE:
    case PTX_EVALUATE_CALL:
    case PTX_EVALUATE_CARRY:
    case PTX_EVALUATE_BORROW:
    /* Of matrices a lane gets what other lanes have, or gave the address of. */
    case PTX_EVALUATE_MMA:
    case PTX_EVALUATE_WMMA:
    case PTX_EVALUATE_WGMMA:
    case PTX_EVALUATE_ROWS:
    case PTX_EVALUATE_TILE:
    case PTX_EVALUATE_TRANSPOSE:
    case PTX_EVALUATE_TENSOR_MOVE:
    case PTX_EVALUATE_TENSOR_COPY:
    case PTX_EVALUATE_TENSOR_SHIFT:
    case PTX_EVALUATE_TENSOR_MMA:
        write_any(look);
        break;
    case PTX_EVALUATE_MOV:
        evaluate_mov(look);
        break;
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
    case PTX_EVALUATE_MAPA:
        evaluate_window(look);
        break;
    case PTX_EVALUATE_LOAD:
        evaluate_load(look);
        break;
    case PTX_EVALUATE_SHUFFLE:
    case PTX_EVALUATE_VOTE:
    case PTX_EVALUATE_MATCH:
    case PTX_EVALUATE_REDUCE:
    case PTX_EVALUATE_ELECT:
    case PTX_EVALUATE_ACTIVEMASK:
        evaluate_lanes(look);
        break;
    default:
        evaluate_numbers(look);
    }
}

/* ---- Where it goes on ---------------------------------------------------------------------------------------------
 */

static FormSpan span_of(const FormTables *tables, const Form *form) {
    return form->kind == FORM_NEVER ? SPAN_GRID : form_is_uniform(tables, form) ? form_span(form) : SPAN_NONE;
}

/* .uni promises that threads that are together stay together. */
static void note_end(TransferLook *look) {
    const FlowBlock *block = &look->s->flow->blocks[look->block];
    FormSpan span = SPAN_GRID;
    if (block->ends != FLOW_BRANCH && block->ends != FLOW_TABLE)
        return;
    if (look->statement->flags & PTX_GUARDED) {
        Form guard = guard_form(look);
        span = span_of(look->s->tables, &guard);
    }
    if (block->ends == FLOW_TABLE) {
        Form index = pure_of_reads(look);
        FormSpan own = look->meaning ? span_of(look->s->tables, &index) : SPAN_NONE;
        span = own > span ? own : span;
    }
    if (look->meaning && look->meaning->uniform && span == SPAN_NONE)
        span = SPAN_WARP;
    control_note(look->s, look->block, span);
}

void solve_instruction(ValueSolver *s, uint32_t instruction) {
    const PtxStatement *statement = &s->module->statements[s->flow->instructions[instruction]];
    const PtxForm *form = &s->module->forms[statement->what];
    TransferLook look = {.s = s, .block = s->flow->block_of[instruction], .statement = statement};
    Meaning *meaning = form->row ? &s->values->meanings[statement->what] : NULL;
    if (meaning && !meaning->known)
        *meaning = meaning_of(form);
    look.meaning = meaning;
    look.operands = ptx_operands(s->module, statement, &look.count);
    evaluate(&look);
    if (instruction + 1 == s->flow->blocks[look.block].end)
        note_end(&look);
    s->values->assumed[instruction] = look.assumed;
}
