/* Sets of threads, backward over what a condition is made of. */
#include "machine/simt/decode/guards.h"

#include <string.h>

enum { DEEPEST = 12, MOST_WARPS = FORM_MOST_THREADS / PTX_LANES };

typedef struct Set {
    uint32_t warps[MOST_WARPS];
} Set;

static Set all_threads(void) {
    Set set;
    memset(&set, 0xff, sizeof set);
    return set;
}

static Set both(Set a, const Set *b) {
    for (unsigned i = 0; i < MOST_WARPS; i++)
        a.warps[i] &= b->warps[i];
    return a;
}

static Set either(Set a, const Set *b) {
    for (unsigned i = 0; i < MOST_WARPS; i++)
        a.warps[i] |= b->warps[i];
    return a;
}

static Set may_be(const PtxGuards *g, const PtxOperand *operand, bool holds, unsigned depth);
static Set value_may_be(const PtxGuards *g, uint32_t value, bool holds, unsigned depth);

static bool is_zero(const PtxGuards *g, const PtxOperand *operand) {
    Form form = ptx_operand_form(g->values, (uint32_t)(operand - g->flow->module->operands));
    uint64_t number;
    return form_constant(&form, &number) && !number;
}

/* What a comparison with 0 says of the number; of others nothing is said. */
static Set compared(const PtxGuards *g, const PtxStatement *statement, const PtxForm *form, bool holds,
                    unsigned depth) {
    const PtxOperand *a = ptx_operand_at(g->flow->module, statement, 1),
                     *b = ptx_operand_at(g->flow->module, statement, 2);
    bool equal = ptx_form_has(form->text, STR("eq"));
    if (!(equal || ptx_form_has(form->text, STR("ne"))) || !a || !b || !is_zero(g, b))
        return all_threads();
    return may_be(g, a, equal ? !holds : holds, depth);
}

/* a and b, or a or b. Of numbers that have no bit in common `and` is 0, whatever they are. */
static Set joined(const Set *a, const Set *b, bool is_and, bool holds, bool is_predicate) {
    if (is_and == holds)
        return both(*a, b);
    return is_and && !is_predicate ? all_threads() : either(*a, b);
}

static Set comparison(const PtxGuards *g, const PtxStatement *statement, const PtxForm *form, bool holds,
                      unsigned depth) {
    const PtxOperand *with = ptx_operand_at(g->flow->module, statement, 3);
    bool is_and = ptx_form_has(form->text, STR("and"));
    Set set = compared(g, statement, form, holds, depth);
    if (!with)
        return set;
    if (!is_and && !ptx_form_has(form->text, STR("or")))
        return all_threads();
    Set other = may_be(g, with, holds, depth);
    return joined(&set, &other, is_and, holds, true);
}

static Set chosen(const PtxGuards *g, const PtxStatement *statement, bool holds, unsigned depth) {
    const PtxOperand *by = ptx_operand_at(g->flow->module, statement, 3);
    Set first = may_be(g, ptx_operand_at(g->flow->module, statement, 1), holds, depth),
        yes = may_be(g, by, true, depth);
    Set second = may_be(g, ptx_operand_at(g->flow->module, statement, 2), holds, depth),
        no = may_be(g, by, false, depth);
    first = both(first, &yes);
    second = both(second, &no);
    return either(first, &second);
}

static Set result_may_be(const PtxGuards *g, const PtxStatement *statement, bool holds, unsigned depth) {
    const PtxForm *form = &g->flow->module->forms[statement->what];
    const PtxOperand *to = ptx_operand_at(g->flow->module, statement, 0);
    bool is_predicate = ptx_form_has(form->text, STR("pred"));
    if (!to || to->kind != PTX_REGISTER) /* a pair: of which of the two it is, is not asked */
        return all_threads();
    switch (form->evaluator) {
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR: {
        Set a = may_be(g, ptx_operand_at(g->flow->module, statement, 1), holds, depth);
        Set b = may_be(g, ptx_operand_at(g->flow->module, statement, 2), holds, depth);
        return joined(&a, &b, form->evaluator == PTX_EVALUATE_AND, holds, is_predicate);
    }
    case PTX_EVALUATE_NOT:
        return is_predicate ? may_be(g, ptx_operand_at(g->flow->module, statement, 1), !holds, depth) : all_threads();
    case PTX_EVALUATE_CNOT:
        return may_be(g, ptx_operand_at(g->flow->module, statement, 1), !holds, depth);
    case PTX_EVALUATE_SETP:
        return comparison(g, statement, form, holds, depth);
    case PTX_EVALUATE_SELP:
        return chosen(g, statement, holds, depth);
    case PTX_EVALUATE_MOV:
        return may_be(g, ptx_operand_at(g->flow->module, statement, 1), holds, depth);
    case PTX_EVALUATE_CVT: /* what is cut off a number may be all of it */
        return holds && !ptx_form_has(form->text, STR("f32")) && !ptx_form_has(form->text, STR("f64"))
                   ? may_be(g, ptx_operand_at(g->flow->module, statement, 1), true, depth)
                   : all_threads();
    default:
        return all_threads();
    }
}

static Set value_may_be(const PtxGuards *g, uint32_t value, bool holds, unsigned depth) {
    const FlowValue *v = &g->flow->values[value];
    const Form *form = &g->values->forms[value];
    Set set = {{0}};
    if (!form->assumes && form_based_on_constant(form)) {
        for (uint32_t i = 0; i < g->warps * PTX_LANES; i++) {
            bool is = ((form->ones + form_offset(g->values, form, i)) & low_ones(form->width)) != 0;
            set.warps[i / PTX_LANES] |= (uint32_t)(is == holds) << i % PTX_LANES;
        }
        return set;
    }
    if (v->kind == VALUE_RESULT) {
        set = result_may_be(g, &g->flow->module->statements[g->flow->instructions[v->instruction]], holds, depth);
        if (v->before != PTX_NONE) {
            Set before = value_may_be(g, v->before, holds, depth - 1);
            set = either(set, &before);
        }
        return set;
    }
    return all_threads();
}

static Set may_be(const PtxGuards *g, const PtxOperand *operand, bool holds, unsigned depth) {
    if (!operand || !depth)
        return all_threads();
    if (operand->kind == PTX_REGISTER) {
        uint32_t value = flow_value(g->flow, (uint32_t)(operand - g->flow->module->operands));
        bool whole = value != PTX_NONE && operand->part == PTX_WHOLE;
        return whole ? value_may_be(g, value, holds != operand->negated, depth - 1) : all_threads();
    }
    Form form = ptx_operand_form(g->values, (uint32_t)(operand - g->flow->module->operands));
    uint64_t number;
    Set none = {{0}};
    return form_constant(&form, &number) && (number != 0) != holds ? none : all_threads();
}

void ptx_guard_may(const PtxGuards *guards, const PtxOperand *operand, bool holds, uint32_t *threads) {
    Set set = may_be(guards, operand, holds, DEEPEST);
    memcpy(threads, set.warps, guards->warps * sizeof *threads);
}
