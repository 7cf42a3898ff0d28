/* A flow for people: each block with its edges, its phis and its instructions. Behind a register stands the number of
 * the value that it has there: %r1:7. */
#include "ptx/print.h"
#include "ptx/flow/flow.h"

#include <inttypes.h>

static void print_value(const PtxFlow *flow, uint32_t index, Text *to) {
    const FlowValue *value = &flow->values[index];
    const PtxOperand operand = {.kind = PTX_REGISTER, .a = value->variable, .value = value->index};
    ptx_print_operand(flow->module, &operand, to);
    if (value->kind == VALUE_UNDEFINED)
        text_str(to, STR(":undefined"));
    else
        text_addf(to, ":%" PRIu32, index);
}

static void print_operand(const PtxFlow *flow, const PtxOperand *operand, Text *to);

static void print_members(const PtxFlow *flow, const PtxOperand *head, const char *brackets, const char *between,
                          Text *to) {
    if (*brackets)
        text_char(to, brackets[0]);
    for (uint32_t i = 1; i <= head->a; i += ptx_extent(head + i)) {
        if (i > 1)
            text_str(to, str_of(between));
        print_operand(flow, head + i, to);
        if (i == 1 && head->kind == PTX_ADDRESS && (head->value || head->written))
            text_addf(to, "+%" PRId64, head->value);
    }
    if (*brackets)
        text_char(to, brackets[1]);
}

static void print_operand(const PtxFlow *flow, const PtxOperand *operand, Text *to) {
    uint32_t value = flow_value(flow, (uint32_t)(operand - flow->module->operands));
    switch ((PtxOperandKind)operand->kind) {
    case PTX_ADDRESS:
        print_members(flow, operand, "[]", ", ", to);
        text_str(to, operand->unified ? STR(".unified") : STR(""));
        return;
    case PTX_VECTOR:
        print_members(flow, operand, "{}", ", ", to);
        return;
    case PTX_LIST:
        print_members(flow, operand, "()", ", ", to);
        return;
    case PTX_PAIR:
        print_members(flow, operand, "", "|", to);
        return;
    default:
        ptx_print_operand(flow->module, operand, to);
        if (value != PTX_NONE && flow->values[value].kind == VALUE_UNDEFINED)
            text_str(to, STR(":undefined"));
        else if (value != PTX_NONE)
            text_addf(to, ":%" PRIu32, value);
    }
}

/* What registers keep where the guard does not hold, behind the instruction. */
static void print_kept(const PtxFlow *flow, const PtxStatement *statement, Text *to) {
    const char *before = " // else ";
    for (uint32_t i = 0; i < statement->count; i++) {
        uint32_t value = flow_value(flow, statement->first + i);
        if (value == PTX_NONE || flow->values[value].operand != statement->first + i ||
            flow->values[value].before == PTX_NONE)
            continue;
        text_str(to, str_of(before));
        print_value(flow, flow->values[value].before, to);
        before = ", ";
    }
}

static void print_instruction(const PtxFlow *flow, const PtxStatement *statement, Text *to) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(flow->module, statement, &count);
    text_str(to, STR("    "));
    if (statement->flags & PTX_GUARDED) {
        text_str(to, statement->flags & PTX_NEGATED ? STR("@!") : STR("@"));
        print_operand(flow, operands - 1, to);
        text_char(to, ' ');
    }
    text_str(to, flow->module->forms[statement->what].text);
    for (uint32_t i = 0; i < count; i += ptx_extent(operands + i)) {
        text_str(to, i ? STR(", ") : STR(" "));
        print_operand(flow, operands + i, to);
    }
    text_char(to, ';');
    print_kept(flow, statement, to);
    text_char(to, '\n');
}

static void print_phi(const PtxFlow *flow, uint32_t index, Text *to) {
    const FlowValue *value = &flow->values[index];
    const FlowBlock *block = &flow->blocks[value->block];
    text_str(to, STR("    "));
    print_value(flow, index, to);
    text_str(to, STR(" = phi"));
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        text_addf(to, "%s from block %" PRIu32 " ", i ? "," : "", flow->edges[block->predecessors + i]);
        print_value(flow, flow->inputs[value->inputs + i], to);
    }
    text_char(to, '\n');
}

static void print_blocks(const char *before, const uint32_t *blocks, uint32_t count, Text *to) {
    for (uint32_t i = 0; i < count; i++)
        text_addf(to, "%s%" PRIu32, i ? ", " : before, blocks[i]);
}

static void print_head(const PtxFlow *flow, uint32_t index, Text *to) {
    const FlowBlock *block = &flow->blocks[index];
    text_addf(to, "  block %" PRIu32 ":", index);
    if (!block->reached)
        text_str(to, STR(" never reached"));
    print_blocks(" from ", flow->edges + block->predecessors, block->predecessor_count, to);
    print_blocks(block->predecessor_count ? "; to " : " to ", flow->edges + block->successors, block->successor_count,
                 to);
    if (block->dominator != PTX_NONE)
        text_addf(to, "; dominated by %" PRIu32, block->dominator);
    if (block->meets != PTX_NONE)
        text_addf(to, "; meets in %" PRIu32, block->meets);
    if (block->loop != PTX_NONE)
        text_addf(to, "; in loop %" PRIu32, block->loop);
    text_char(to, '\n');
}

static void print_loop(const PtxFlow *flow, uint32_t index, Text *to) {
    const PtxFlowLoop *loop = &flow->loops[index];
    text_addf(to, "  loop %" PRIu32 ": header %" PRIu32, index, loop->header);
    if (loop->outer != PTX_NONE)
        text_addf(to, "; in loop %" PRIu32, loop->outer);
    text_str(to, loop->irreducible ? STR("; irreducible\n") : STR("\n"));
}

void ptx_flow_print(const PtxFlow *flow, Text *to) {
    const PtxFunction *function = &flow->module->functions[flow->function];
    Str name = ptx_name(flow->module, function->name);
    text_str(to, function->entry ? STR(".entry ") : STR(".func "));
    text_str(to, name);
    text_char(to, '\n');
    for (uint32_t i = 0; i < flow->loop_count; i++)
        print_loop(flow, i, to);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        print_head(flow, i, to);
        for (uint32_t k = 0; k < block->phi_count; k++)
            print_phi(flow, block->phis + k, to);
        for (uint32_t k = block->begin; k < block->end; k++)
            print_instruction(flow, &flow->module->statements[flow->instructions[k]], to);
    }
}
