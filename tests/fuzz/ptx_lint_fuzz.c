/* Any bytes as PTX. Of every function of a module without errors the values are told apart and linted, within their
 * budgets, and without a fault; and:
 *
 *   - a form has a width, its known bits do not contradict each other, and what is uniform has the same offset in all
 *     lanes
 *   - a kernel that was looked at has a verdict, which can be put into words and into JSON
 */
#include "check/lint/ptx/lint.h"
#include "ptx/flow/flow.h"
#include "ptx/value/value.h"
#include "ptx_functions.h"
#include "said.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 16 << 10, BUDGET = 64 << 20 };

static void check_form(const PtxValues *values, const Form *form) {
    uint64_t stride;
    if (form->zeros & form->ones)
        abort();
    if (form->kind == FORM_TABLE && form_offset(values, form, 0) != 0)
        abort();
    if (form->kind == FORM_TABLE)
        form_stride(values, form, &stride);
}

static void check_values(const PtxFlow *flow) {
    PtxValues values;
    const char *problem = NULL;
    if (!ptx_values(&values, flow, NULL, BUDGET, &problem)) {
        if (!problem)
            abort();
        return;
    }
    for (uint32_t i = 0; i < flow->value_count; i++)
        check_form(&values, &values.forms[i]);
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = &flow->module->statements[flow->instructions[i]];
        uint32_t count;
        const PtxOperand *operands = ptx_operands(flow->module, statement, &count);
        for (uint32_t k = 0; k < count; k += ptx_extent(&operands[k])) {
            uint32_t operand = (uint32_t)(operands + k - flow->module->operands);
            Form form = operands[k].kind == PTX_ADDRESS
                            ? ptx_address_form(&values, flow->instructions[i], operand, NULL)
                            : ptx_operand_form(&values, operand);
            check_form(&values, &form);
        }
    }
    Text text = {0};
    ptx_values_print(&values, &text);
    text_free(&text);
    ptx_values_free(&values);
}

static void check_function(PtxModule *module, uint32_t function, uint32_t before) {
    PtxFlow flow;
    const char *problem = NULL;
    if (ptx_flow(&flow, module, function, BUDGET, &problem)) {
        check_values(&flow);
        ptx_flow_free(&flow);
    } else if (!problem) {
        abort();
    }
    Arena arena;
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena};
    ptx_lint(module, function, before == 0, NULL, &verdict);
    verdict_close(&verdict);
    say_verdict(&verdict, module->source);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size <= LARGEST_INPUT)
        each_function(data, size, true, check_function);
    return 0;
}
