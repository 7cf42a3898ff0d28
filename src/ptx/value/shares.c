/* How much is known: accesses of memory by the forms of their addresses. */
#include "ptx/value/internal.h"

PtxAccessKind ptx_access_kind(const PtxValues *values, const Form *form, const PtxOrigin *origin) {
    switch (form_shape(values->tables, form)) {
    case SHAPE_UNIFORM: {
        bool placed = origin->variable != PTX_NONE && origin->space != PTX_SPACE_GLOBAL;
        bool known = (form_based_on_constant(form) && !form->table) || (placed && form_span(form) == SPAN_GRID);
        return known ? ACCESS_CONSTANT : ACCESS_UNIFORM;
    }
    case SHAPE_AFFINE:
        return ACCESS_AFFINE;
    case SHAPE_BITS:
        return ACCESS_BITS;
    default:
        return form->kind == FORM_TABLE ? ACCESS_TABLE : ACCESS_ANY;
    }
}

static void count_access(const PtxValues *values, uint32_t statement, uint32_t operand, PtxShares *shares) {
    PtxOrigin origin;
    Form form = ptx_address_form(values, statement, operand, &origin);
    if (origin.space == PTX_SPACE_PARAM)
        return;
    PtxAccessKind kind = ptx_access_kind(values, &form, &origin);
    shares->count[origin.space][kind][form.assumes && kind != ACCESS_ANY]++;
}

/* Which operands are addresses of memory the row says; those of instructions that only compute are none. */
static void count_instruction(const PtxValues *values, uint32_t statement, PtxShares *shares) {
    const PtxModule *module = values->flow->module;
    const PtxStatement *of = &module->statements[statement];
    const PtxRow *row = module->forms[of->what].row;
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, of, &count);
    if (!row || (!*row->effects && module->forms[of->what].evaluator != PTX_EVALUATE_LOAD))
        return;
    for (uint32_t i = 0; i < count; i += ptx_extent(operands + i))
        if (operands[i].kind == PTX_ADDRESS)
            count_access(values, statement, (uint32_t)(operands + i - module->operands), shares);
}

void ptx_count_shares(const PtxValues *values, PtxShares *shares) {
    const PtxFlow *flow = values->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++)
        if (flow->blocks[flow->block_of[i]].reached)
            count_instruction(values, flow->instructions[i], shares);
    const PtxOrigin none = unknown_origin();
    for (uint32_t v = 0; v < flow->value_count; v++) {
        shares->values++;
        shares->value_kinds[ptx_access_kind(values, &values->forms[v], &none)]++;
    }
}
