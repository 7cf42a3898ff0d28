/* Takes values apart at additions, moves, and what is an addition because no bit is in both sides. */
#include "ptx/value/sum.h"
#include "ptx/value/internal.h"

enum { DEPTH_MOST = 24, STEPS_MOST = 200 };

typedef struct Taking {
    const PtxValues *values;
    unsigned *steps; /* values that were looked at */
    PtxSum sum;
    bool full; /* a root or a term found no place */
} Taking;

static void add_root(Taking *taking, uint32_t value) {
    PtxSum *sum = &taking->sum;
    unsigned at = sum->root_count;
    if (at == PTX_SUM_MOST) {
        taking->full = true;
        return;
    }
    for (; at && sum->roots[at - 1] > value; at--)
        sum->roots[at] = sum->roots[at - 1];
    sum->roots[at] = value;
    sum->root_count++;
}

static void add_term(Taking *taking, PtxTerm term) {
    if (taking->sum.term_count == PTX_SUM_MOST)
        taking->full = true;
    else
        taking->sum.terms[taking->sum.term_count++] = term;
}

/* Whether no bit can be set in both. */
static bool disjoint(const Taking *taking, const PtxOperand *a, const PtxOperand *b, uint32_t block) {
    const PtxOperand *both[2] = {a, b};
    uint64_t zeros[2], ones;
    for (unsigned i = 0; i < 2; i++) {
        Form form = operand_form(taking->values, both[i], taking->sum.width, block);
        if (form.kind == FORM_NEVER || form.width != taking->sum.width || form.assumes)
            return false;
        form_known(taking->values->tables, &form, &zeros[i], &ones);
    }
    return (zeros[0] | zeros[1]) == low_ones(taking->sum.width);
}

static bool take_value(Taking *taking, uint32_t value, unsigned depth);

/* An operand that is a summand of the width of the sum. */
static bool take_operand(Taking *taking, const PtxOperand *operand, unsigned depth) {
    const PtxFlow *flow = taking->values->flow;
    if (operand->kind == PTX_INTEGER) {
        taking->sum.constant += operand->bits;
        return true;
    }
    if (operand->kind != PTX_REGISTER || operand->part != PTX_WHOLE || operand->negated)
        return false;
    uint32_t value = flow_value(flow, (uint32_t)(operand - flow->module->operands));
    return value != PTX_NONE && register_width(flow->module, operand->a) == taking->sum.width &&
           take_value(taking, value, depth + 1);
}

/* A parameter of the kernel: all of its register. */
static bool take_parameter(Taking *taking, const Meaning *meaning, const PtxOperand *address) {
    const PtxFlow *flow = taking->values->flow;
    const PtxOperand *base = address + 1;
    if (!flow->module->functions[flow->function].entry || meaning->load.space != PTX_SPACE_PARAM ||
        meaning->load_width != taking->sum.width || address->kind != PTX_ADDRESS || address->a != 1 ||
        base->kind != PTX_VARIABLE || flow->module->variables[base->a].formal != PTX_PARAMETER)
        return false;
    uint64_t offset = base->bits + address->bits;
    if (offset > UINT32_MAX)
        return false;
    add_term(taking, (PtxTerm){.variable = base->a, .offset = (uint32_t)offset});
    return true;
}

/* What the instruction that writes it adds up; false, and the sum may be spoiled: it is a root. */
static bool take_result(Taking *taking, const FlowValue *value, unsigned depth) {
    const PtxFlow *flow = taking->values->flow;
    const PtxModule *module = flow->module;
    const PtxStatement *statement = &module->statements[flow->instructions[value->instruction]];
    const PtxForm *form = &module->forms[statement->what];
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    if (!form->row || count < 2 || operands[0].kind != PTX_REGISTER || operands[0].part != PTX_WHOLE)
        return false;
    Meaning own, *meaning = &taking->values->meanings[statement->what];
    if (!meaning->known) { /* no thread comes there */
        own = meaning_of(form);
        meaning = &own;
    }
    const Operation *operation = &meaning->operation;
    bool two = operation->numbers && operation->width == taking->sum.width && operation->result == taking->sum.width &&
               !operation->saturates && count == 3;
    switch (operation->evaluator) {
    case PTX_EVALUATE_MOV:
        return count == 2 && take_operand(taking, &operands[1], depth);
    case PTX_EVALUATE_CVTA_TO: /* of global memory they are the same */
        return count == 2 && meaning->space == PTX_SPACE_GLOBAL && take_operand(taking, &operands[1], depth);
    case PTX_EVALUATE_CVTA:
        return count == 2 && meaning->space == PTX_SPACE_GLOBAL && operands[1].kind == PTX_REGISTER &&
               take_operand(taking, &operands[1], depth);
    case PTX_EVALUATE_LOAD:
        return take_parameter(taking, meaning, &operands[1]);
    case PTX_EVALUATE_OR:
        if (!two || !disjoint(taking, &operands[1], &operands[2], value->block))
            return false;
        return take_operand(taking, &operands[1], depth) && take_operand(taking, &operands[2], depth);
    case PTX_EVALUATE_ADD:
        return two && take_operand(taking, &operands[1], depth) && take_operand(taking, &operands[2], depth);
    case PTX_EVALUATE_SUB:
        if (!two || operands[2].kind != PTX_INTEGER)
            return false;
        taking->sum.constant -= operands[2].bits;
        return take_operand(taking, &operands[1], depth);
    default:
        return false;
    }
}

/* Adds what the value is; it always is at least a root. */
static bool take_value(Taking *taking, uint32_t value, unsigned depth) {
    const FlowValue *of = &taking->values->flow->values[value];
    Taking before = *taking;
    if (depth < DEPTH_MOST && ++*taking->steps < STEPS_MOST && of->kind == VALUE_RESULT && of->before == PTX_NONE &&
        take_result(taking, of, depth) && !taking->full)
        return true;
    *taking = before;
    add_root(taking, value);
    return true;
}

PtxSum ptx_sum_of(const PtxValues *values, uint32_t value) {
    const FlowValue *of = &values->flow->values[value];
    unsigned steps = 0;
    Taking taking = {.values = values, .steps = &steps};
    taking.sum.width = (uint8_t)register_width(values->flow->module, of->variable);
    if (taking.sum.width == 32 || taking.sum.width == 64)
        take_value(&taking, value, 0);
    else
        add_root(&taking, value);
    taking.sum.constant &= low_ones(taking.sum.width);
    return taking.sum;
}

static bool same_term(PtxTerm a, PtxTerm b) {
    return a.variable == b.variable && a.offset == b.offset;
}

bool ptx_sum_apart(const PtxSum *a, const PtxSum *b, PtxSum *apart) {
    if (a->width != b->width || a->root_count != b->root_count)
        return false;
    for (unsigned i = 0; i < a->root_count; i++)
        if (a->roots[i] != b->roots[i])
            return false;
    *apart = (PtxSum){.width = a->width, .constant = (b->constant - a->constant) & low_ones(a->width)};
    bool gone[PTX_SUM_MOST] = {false};
    for (unsigned i = 0; i < b->term_count; i++) {
        unsigned j = 0;
        while (j < a->term_count && (gone[j] || !same_term(a->terms[j], b->terms[i])))
            j++;
        if (j < a->term_count)
            gone[j] = true;
        else
            apart->terms[apart->term_count++] = b->terms[i];
    }
    for (unsigned j = 0; j < a->term_count; j++)
        if (!gone[j]) {
            apart->terms[apart->term_count] = a->terms[j];
            apart->terms[apart->term_count++].subtracted = true;
        }
    return true;
}
