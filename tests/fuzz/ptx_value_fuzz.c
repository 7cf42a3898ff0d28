/* Any bytes as PTX. Of a module without errors the values of every function have forms, within their budget, or none
 * for want of memory; and each form is one that there can be. */
#include "ptx/value/value.h"
#include "ptx_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 8 << 10, BUDGET = 32 << 20 };

static void check_form(const PtxValues *values, const Form *form) {
    uint64_t mask = low_ones(form->width);
    if (form->kind == FORM_NEVER || form->kind > FORM_ANY || form->span >= SPAN_NONE || !form->width)
        abort();
    if (form->zeros & form->ones || (form->zeros | form->ones) & ~mask)
        abort();
    if (form->kind == FORM_TABLE && form_offsets(values->tables, form->table)[0])
        abort();
}

static void check_values(const PtxFlow *flow, const PtxBlockShape *shape) {
    PtxValues values;
    const char *problem = NULL;
    if (!ptx_values(&values, flow, shape, BUDGET, &problem)) {
        if (!problem)
            abort();
        return;
    }
    for (uint32_t v = 0; v < flow->value_count; v++)
        check_form(&values, &values.forms[v]);
    Text text = {0};
    ptx_values_print(&values, &text);
    text_free(&text);
    PtxShares shares = {0};
    ptx_count_shares(&values, &shares);
    ptx_values_free(&values);
}

static void check_function(PtxModule *module, uint32_t function, uint32_t before) {
    (void)before;
    static const PtxBlockShape shapes[] = {{.x = 0}, {.x = 64, .y = 1, .z = 1}, {.x = 24, .y = 3, .z = 2},
                                           {.x = 7}, {.rows = ROWS_LONE},       {.rows = ROWS_ANY}};
    PtxFlow flow;
    const char *problem = NULL;
    if (ptx_flow(&flow, module, function, BUDGET, &problem))
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            check_values(&flow, &shapes[i]);
    ptx_flow_free(&flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size <= LARGEST_INPUT)
        each_function(data, size, false, check_function);
    return 0;
}
