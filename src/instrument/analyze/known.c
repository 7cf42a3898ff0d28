/* Values that the reader of the records knows from the launch and the warp's place in it: addresses of variables, the
 * CTA's place in the grid, and what depends on the thread's number alone. */
#include "instrument/internal.h"

/* The instruction that gives a value, of two operands or three, of which the first is all of the value's register;
 * NULL: there is none. */
static const PtxOperand *operands_of(const FunctionAnalysis *analysis, uint32_t value, uint32_t *count,
                                     const PtxForm **form) {
    const FlowValue *of = &analysis->flow.values[value];
    if (of->kind != VALUE_RESULT || of->before != PTX_NONE)
        return NULL;
    *form = look_form(analysis, of->instruction);
    const PtxOperand *operands = ptx_operands(analysis->module, look_statement(analysis, of->instruction), count);
    bool whole = *count >= 2 && operands[0].kind == PTX_REGISTER && operands[0].part == PTX_WHOLE;
    return whole ? operands : NULL;
}

static uint32_t value_of(const FunctionAnalysis *analysis, const PtxOperand *operand) {
    bool whole = operand->kind == PTX_REGISTER && operand->part == PTX_WHOLE && !operand->negated;
    return whole ? flow_value(&analysis->flow, (uint32_t)(operand - analysis->module->operands)) : PTX_NONE;
}

/* What a value is a copy of; NULL: of nothing. */
static const PtxOperand *moved(const FunctionAnalysis *analysis, uint32_t value) {
    uint32_t count = 0;
    const PtxForm *form;
    const PtxOperand *operands = value == PTX_NONE ? NULL : operands_of(analysis, value, &count, &form);
    return operands && count == 2 && form->evaluator == PTX_EVALUATE_MOV ? &operands[1] : NULL;
}

/* The variable whose address a value is: of shared memory, or a parameter by its generic address. */
static bool know_address(const FunctionAnalysis *analysis, uint32_t value, PtxSum *sum, SitePlaced *placed) {
    const PtxModule *module = analysis->module;
    const PtxOperand *from = moved(analysis, value);
    uint32_t count = 0;
    const PtxForm *form;
    const PtxOperand *operands = operands_of(analysis, value, &count, &form);
    bool generic =
        operands && count == 2 && form->evaluator == PTX_EVALUATE_CVTA && ptx_form_has(form->text, STR("param"));
    if (generic)
        from = moved(analysis, value_of(analysis, &operands[1]));
    if (!from || from->kind != PTX_VARIABLE || placed->address != PTX_NONE)
        return false;
    const PtxVariable *variable = &module->variables[from->a];
    if (generic ? variable->formal != PTX_PARAMETER : !str_is(ptx_name(module, variable->space), ".shared"))
        return false;
    placed->address = from->a;
    sum->constant += from->bits;
    return true;
}

/* The CTA's place in the grid, or a multiple of it. */
static bool know_cta(const FunctionAnalysis *analysis, uint32_t value, SitePlaced *placed) {
    uint32_t count = 0, factor = 1;
    const PtxForm *form;
    const PtxOperand *operands = operands_of(analysis, value, &count, &form), *from = moved(analysis, value);
    if (operands && count == 3 && operands[2].kind == PTX_INTEGER) {
        bool shifts = form->evaluator == PTX_EVALUATE_SHL && operands[2].bits < 32;
        bool multiplies = form->evaluator == PTX_EVALUATE_MUL && ptx_form_has(form->text, STR("lo"));
        if (analysis->values.forms[value].width != 32 || (!shifts && !multiplies))
            return false;
        factor = shifts ? UINT32_C(1) << operands[2].bits : (uint32_t)operands[2].bits;
        from = moved(analysis, value_of(analysis, &operands[1]));
    }
    if (!from || from->kind != PTX_SPECIAL || !str_is(str_of(ptx_special_at(from->a)->name), "%ctaid") ||
        from->part < PTX_X || from->part > PTX_Z)
        return false;
    placed->ctaid[from->part - PTX_X] += factor;
    return true;
}

/* A number in each warp, by the numbers of its threads. */
static bool know_warp(const FunctionAnalysis *analysis, uint32_t value, SitePlaced *placed, Arena *arena) {
    const Form *form = &analysis->values.forms[value];
    const PtxBlockShape *shape = &analysis->values.shape;
    if (placed->of_warp || form->assumes || !form_based_on_constant(form) || !look_full(analysis) ||
        !form_is_uniform(analysis->values.tables, form))
        return false;
    placed->warps = shape->x * shape->y * shape->z / RECORD_LANES;
    uint64_t *of_warp = ARENA_ARRAY(arena, uint64_t, placed->warps);
    for (uint32_t i = 0; i < placed->warps; i++)
        of_warp[i] = (form->ones + form_offset(&analysis->values, form, i * RECORD_LANES)) & low_ones(form->width);
    placed->of_warp = of_warp;
    return true;
}

/* Addresses in shared memory are the same in all CTAs, but for the rank in their upper bits, from sm_90 on; before that
 * it is not known where the first one is. */
const SitePlaced *know_roots(const FunctionAnalysis *analysis, PtxSum *sum, Arena *arena) {
    SitePlaced placed = {.address = PTX_NONE};
    unsigned kept = 0, count = sum->root_count;
    bool named = analysis->module->capability >= 90;
    if (!analysis->module->functions[analysis->function].entry)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        uint32_t root = sum->roots[i];
        if ((!named || !know_address(analysis, root, sum, &placed)) &&
            (sum->width != 32 || !know_cta(analysis, root, &placed)) && !know_warp(analysis, root, &placed, arena))
            sum->roots[kept++] = root;
    }
    sum->root_count = (uint8_t)kept;
    sum->constant &= low_ones(sum->width);
    return kept == count ? NULL : memcpy(ARENA_NEW(arena, SitePlaced), &placed, sizeof placed);
}

_Static_assert(SITE_TERMS == 2 * PTX_SUM_MOST, "a site has as many terms as a sum");
const SiteSum *sum_kept(Arena *arena, const PtxSum *sum) {
    if (!sum->term_count && !sum->constant)
        return NULL;
    SiteSum *copy = ARENA_NEW(arena, SiteSum);
    *copy = (SiteSum){.width = sum->width, .term_count = sum->term_count, .constant = sum->constant};
    for (unsigned i = 0; i < sum->term_count; i++)
        copy->terms[i] = (SiteTerm){sum->terms[i].variable, sum->terms[i].offset, sum->terms[i].subtracted};
    return copy;
}
