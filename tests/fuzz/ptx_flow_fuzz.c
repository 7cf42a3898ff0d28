/* Any bytes as PTX. Of a module without errors every function has a flow, within its budget, or none for want of
 * memory; and what it says is what is found the slow way (tests/unit/ptx_flow_brute.h). */
#include "../unit/ptx_flow_brute.h"
#include "ptx_functions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 8 << 10, BUDGET = 32 << 20 };

static void check_function(PtxModule *module, uint32_t function, uint32_t before) {
    (void)before;
    PtxFlow flow;
    const char *problem = NULL;
    if (!ptx_flow(&flow, module, function, BUDGET, &problem)) {
        if (!problem)
            abort();
        return;
    }
    Text text = {0};
    ptx_flow_print(&flow, &text);
    text_free(&text);
    /* What has no row, or no list of labels, is not followed the slow way. */
    if (!flow.unknown_count && check_flow(&flow, 100))
        abort();
    ptx_flow_free(&flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size <= LARGEST_INPUT)
        each_function(data, size, false, check_function);
    return 0;
}
