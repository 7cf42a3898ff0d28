/* One function of a module, with its flow and its values. */
#include "instrument/internal.h"

bool look_open(Look *look, PtxModule *module, uint32_t function, const Calls *calls, const char **problem) {
    *look = (Look){.module = module, .calls = calls, .function = function};
    if (!ptx_flow(&look->flow, module, function, ptx_flow_budget(module), problem))
        return false;
    if (!ptx_values(&look->values, &look->flow, NULL, ptx_values_budget(module), problem)) {
        ptx_flow_free(&look->flow);
        return false;
    }
    arena_init(&look->arena, SIZE_MAX);
    const PtxBlockShape *shape = &look->values.shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    look->shaped = threads > 0 && threads <= FORM_MOST_THREADS;
    look->whole = look->shaped && threads % RECORD_LANES == 0;
    look->wraps_checked = true;
    for (uint32_t i = 0; i < look->flow.instruction_count; i++)
        look->wraps_checked &= !look->values.assumed[i] || can_check_wrap(look, i);
    return true;
}

bool look_acts(const Look *look, uint32_t instruction) {
    return look_form(look, instruction)->effect_count > 0;
}

void look_close(Look *look) {
    arena_free(&look->arena);
    ptx_values_free(&look->values);
    ptx_flow_free(&look->flow);
}
