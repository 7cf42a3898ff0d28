/* Makes the flow of a function, in steps that each need those before. */
#include "ptx/flow/internal.h"

bool ptx_flow(PtxFlow *flow, const PtxModule *module, uint32_t function, size_t budget, const char **problem) {
    *flow = (PtxFlow){.module = module, .function = function, .first_unknown = PTX_NONE};
    FlowMaker maker = {.flow = flow, .module = module}, *m = &maker;
    jmp_buf exhausted;
    arena_init(&flow->arena, budget / 2);
    arena_init(&m->scratch, budget / 2);
    bool good = setjmp(exhausted) == 0;
    if (good) {
        flow->arena.exhausted = m->scratch.exhausted = &exhausted;
        make_blocks(m);
        make_loops(m);
        make_dominance(m);
        make_meetings(m);
        make_values(m);
    } else {
        *problem = "its blocks and values take more memory than is given for them";
        arena_free(&flow->arena);
    }
    flow->arena.exhausted = NULL;
    arena_free(&m->scratch);
    return good;
}

size_t ptx_flow_budget(const PtxModule *module) {
    return ((size_t)64 << 20) + 512 * ((size_t)module->operands_count + module->statements_count);
}

void ptx_flow_free(PtxFlow *flow) {
    arena_free(&flow->arena);
}
