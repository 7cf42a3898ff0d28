/* The registers of a function: numbers for them, and which operands read and write them. */
#include "ptx/flow/internal.h"

/* Variables of a function are numbered one behind the other, its parameters first. */
static void find_variables(FlowMaker *m) {
    const PtxFunction *function = &m->module->functions[m->flow->function];
    uint32_t end = function->parameters + function->parameter_count;
    m->first_variable = function->return_count ? function->returns : function->parameters;
    for (uint32_t i = function->end; i-- > function->begin;) {
        const PtxStatement *statement = &m->module->statements[i];
        if (statement->kind == PTX_VARIABLES) {
            end = statement->what + statement->count;
            break;
        }
    }
    m->variable_count = end - m->first_variable;
}

/* The operands of the function's statements. */
static void find_operands(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    uint32_t end = 0;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = &m->module->statements[flow->instructions[i]];
        if (!statement->count)
            continue;
        if (!end)
            flow->first_operand = statement->first;
        end = statement->first + statement->count;
    }
    flow->operand_count = end - flow->first_operand;
    flow->operand_values = graph_nones(&flow->arena, flow->operand_count);
}

static bool is_own(const FlowMaker *m, const PtxOperand *operand) {
    return operand->kind == PTX_REGISTER && operand->a - m->first_variable < m->variable_count;
}

static bool is_register(const PtxModule *module, uint32_t variable) {
    return str_is(ptx_name(module, module->variables[variable].space), ".reg");
}

uint32_t parameter_register(const FlowMaker *m, uint32_t parameter) {
    uint32_t variable = m->module->functions[m->flow->function].parameters + parameter;
    return is_register(m->module, variable) ? m->bases[variable - m->first_variable] : PTX_NONE;
}

/* Of a range only as many registers count as are used. */
static void number_registers(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    uint32_t *used = ARENA_ARRAY(&m->scratch, uint32_t, m->variable_count);
    const PtxFunction *function = &m->module->functions[flow->function];
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (is_register(m->module, function->parameters + i))
            used[function->parameters + i - m->first_variable] = 1;
    for (uint32_t i = 0; i < flow->operand_count; i++) {
        const PtxOperand *operand = &m->module->operands[flow->first_operand + i];
        if (is_own(m, operand) && (uint64_t)operand->value >= used[operand->a - m->first_variable])
            used[operand->a - m->first_variable] = (uint32_t)operand->value + 1;
    }
    uint64_t count = 0;
    m->bases = used;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        uint32_t own = used[i];
        m->bases[i] = (uint32_t)count;
        count += own;
        if (count >= REGISTER_NUMBER)
            longjmp(*m->scratch.exhausted, 1);
    }
    m->register_count = (uint32_t)count;
}

/* What a written operand may be: those in an address are read. */
static bool holds_results(const PtxOperand *operand) {
    return operand->kind == PTX_REGISTER || operand->kind == PTX_VECTOR || operand->kind == PTX_PAIR ||
           operand->kind == PTX_LIST;
}

static void mark_operand(FlowMaker *m, const PtxOperand *operand, uint32_t what) {
    for (uint32_t i = 0, extent = ptx_extent(operand); i < extent; i++) {
        if (!is_own(m, operand + i))
            continue;
        uint32_t kept = what && operand[i].part != PTX_WHOLE ? REGISTER_KEPT : 0;
        m->write_count += what != 0;
        uint32_t number = m->bases[operand[i].a - m->first_variable] + (uint32_t)operand[i].value;
        m->flow->operand_values[operand + i - m->module->operands - m->flow->first_operand] = number | what | kept;
    }
}

static void mark_operands(FlowMaker *m, const PtxStatement *statement) {
    const PtxForm *form = &m->module->forms[statement->what];
    uint32_t count, index = 0, written = form->row ? form->writes : UINT32_MAX, kept = 0;
    const PtxOperand *operands = ptx_operands(m->module, statement, &count);
    if (statement->flags & PTX_GUARDED) {
        mark_operand(m, operands - 1, 0);
        kept = REGISTER_KEPT;
    }
    if (!form->row)
        kept = REGISTER_KEPT;
    for (uint32_t i = 0; i < count; i += ptx_extent(operands + i), index++) {
        bool writes = index < 32 ? written >> index & 1 : !form->row;
        bool updates = form->row && index < 32 && form->updates >> index & 1;
        if (form->row && form->evaluator == PTX_EVALUATE_CALL)
            writes = index == 0 && operands[i].kind == PTX_LIST;
        writes &= holds_results(operands + i) || !form->row;
        mark_operand(m, operands + i, writes ? REGISTER_WRITTEN | (updates ? REGISTER_KEPT : kept) : 0);
    }
}

void make_registers(FlowMaker *m) {
    find_variables(m);
    find_operands(m);
    number_registers(m);
    m->first_writes = graph_numbers(&m->scratch, m->flow->block_count);
    for (uint32_t i = 0; i < m->flow->block_count; i++) {
        const FlowBlock *block = &m->flow->blocks[i];
        m->first_writes[i] = m->write_count;
        for (uint32_t k = block->begin; k < block->end; k++)
            mark_operands(m, &m->module->statements[m->flow->instructions[k]]);
    }
}
