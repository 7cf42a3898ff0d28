/* Values for people: each block with what its end does to a warp, each value with its form, and the addresses of
 * accesses. */
#include "ptx/print.h"
#include "ptx/value/internal.h"

#include <inttypes.h>

static const char *const space_names[PTX_SPACES] = {"generic", "global", "shared", "shared::cluster",
                                                    "local",   "const",  "param",  "tensor memory"};

const char *ptx_space_name(PtxSpace space) {
    return space_names[space];
}

static void print_value(const PtxValues *values, uint32_t index, Text *to) {
    const FlowValue *value = &values->flow->values[index];
    const PtxOperand operand = {.kind = PTX_REGISTER, .a = value->variable, .value = value->index};
    text_str(to, STR("    "));
    ptx_print_operand(values->flow->module, &operand, to);
    text_addf(to, ":%" PRIu32 " = ", index);
    form_print(values->tables, &values->forms[index], to);
}

static void print_accesses(const PtxValues *values, uint32_t statement, Text *to) {
    const PtxModule *module = values->flow->module;
    const PtxStatement *of = &module->statements[statement];
    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        PtxOrigin origin;
        if (module->operands[i].kind != PTX_ADDRESS)
            continue;
        Form form = ptx_address_form(values, statement, i, &origin);
        text_str(to, STR("    "));
        text_str(to, module->forms[of->what].text);
        text_addf(to, ": %s ", ptx_space_name(origin.space));
        ptx_print_operand(module, &module->operands[i], to);
        text_str(to, STR(" = "));
        form_print(values->tables, &form, to);
        text_char(to, '\n');
    }
}

static void print_instruction(const PtxValues *values, uint32_t instruction, Text *to) {
    const PtxFlow *flow = values->flow;
    const PtxStatement *statement = &flow->module->statements[flow->instructions[instruction]];
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t value = flow_value(flow, i);
        if (value == PTX_NONE || flow->values[value].operand != i)
            continue;
        print_value(values, value, to);
        text_str(to, STR("  // "));
        text_str(to, flow->module->forms[statement->what].text);
        text_str(to, values->assumed[instruction] ? STR(", taken not to wrap\n") : STR("\n"));
    }
    print_accesses(values, flow->instructions[instruction], to);
}

static void print_head(const PtxValues *values, uint32_t index, Text *to) {
    const FlowBlock *block = &values->flow->blocks[index];
    text_addf(to, "  block %" PRIu32 ":", index);
    if (!block->reached)
        text_str(to, STR(" never reached"));
    if (values->divergent[index])
        text_str(to, STR(" divergent"));
    if (values->parts[index])
        text_str(to, STR(" parts the warp"));
    text_char(to, '\n');
}

void ptx_values_print(const PtxValues *values, Text *to) {
    const PtxFlow *flow = values->flow;
    const PtxFunction *function = &flow->module->functions[flow->function];
    text_str(to, function->entry ? STR(".entry ") : STR(".func "));
    text_str(to, ptx_name(flow->module, function->name));
    if (values->shape.x)
        text_addf(to, ", CTAs of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads\n", values->shape.x, values->shape.y,
                  values->shape.z);
    else
        text_str(to, STR(", rows of CTAs taken to be whole warps\n"));
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        print_head(values, i, to);
        for (uint32_t k = 0; k < block->phi_count; k++) {
            print_value(values, block->phis + k, to);
            text_str(to, STR("  // phi\n"));
        }
        for (uint32_t k = block->begin; k < block->end; k++)
            print_instruction(values, k, to);
    }
}
