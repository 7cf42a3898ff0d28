/* From the origins of addresses (ptx/value) to variables of shared memory. */
#include "machine/simt/decode/within.h"

#include "machine/simt/decode/internal.h"

/* The variable of the one address in shared memory that an instruction has; PTX_NONE. */
static uint32_t variable_of(const PtxValues *values, uint32_t at) {
    const PtxModule *module = values->flow->module;
    const PtxStatement *statement = &module->statements[at];
    uint32_t count, found = PTX_NONE, shared = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i])) {
        PtxOrigin origin;
        if (operands[i].kind != PTX_ADDRESS)
            continue;
        (void)ptx_address_form(values, at, (uint32_t)(&operands[i] - module->operands), &origin);
        shared += origin.space != PTX_SPACE_GLOBAL;
        found = origin.distance ? PTX_NONE : origin.variable;
    }
    return shared == 1 ? found : PTX_NONE;
}

static void mark(PtxProgram *program, const PtxValues *values) {
    PtxCode *code = &program->code[program->routines[program->entry].begin];
    for (uint32_t i = 0; i < values->flow->instruction_count; i++) {
        uint32_t variable = code[i].form->effect_count ? variable_of(values, values->flow->instructions[i]) : PTX_NONE;
        variable = variable == PTX_NONE ? PTX_NONE : ptx_variable_behind(program->module, variable);
        if (variable != PTX_NONE && program->seats[variable].space == PTX_SPACE_SHARED)
            code[i].within = &program->seats[variable];
    }
}

/* Whether there are variables with a size: dynamic shared memory alone ends where memory does. */
static bool has_sized(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->module->variables_count; i++)
        if (program->used[i] && program->seats[i].space == PTX_SPACE_SHARED && program->seats[i].bytes)
            return true;
    return false;
}

void ptx_within(PtxProgram *program, size_t budget) {
    const char *problem;
    PtxFlow flow;
    PtxValues values;
    if (!has_sized(program) ||
        !ptx_flow_values(&flow, &values, program->module, program->entry, NULL, budget, &problem))
        return;
    mark(program, &values);
    ptx_flow_values_free(&flow, &values);
}
