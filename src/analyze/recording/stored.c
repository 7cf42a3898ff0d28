/* What stores store, as far as it can be told without values: constants, and what is the same in all lanes of a warp.
 */
#include "analyze/recording/internal.h"

static uint8_t operand_alike(const PtxValues *values, const PtxArgument *argument) {
    uint64_t constant;
    if (argument->kind == ARGUMENT_CONSTANT)
        return STORES_CONSTANT;
    if (argument->kind != ARGUMENT_ROW)
        return STORES_ANY;
    Form form = ptx_operand_form(values, argument->operand);
    if (form_constant(&form, &constant))
        return STORES_CONSTANT;
    return form_is_uniform(values->tables, &form) && !form.assumes ? STORES_ALIKE : STORES_ANY;
}

static uint8_t stored_by(const PtxProgram *program, const PtxValues *values, const PtxCode *code) {
    PlayAccess access;
    const PtxArgument *data = code_named(program, code, STR("b"));
    if (!play_access(program, code, &access) || access.access.kind != EFFECT_WRITE || !data)
        return STORES_ANY;
    uint8_t least = STORES_CONSTANT;
    uint32_t count = data->kind == ARGUMENT_MEMBERS ? data->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t each = operand_alike(values, data->kind == ARGUMENT_MEMBERS ? argument_member(program, data, i) : data);
        least = each < least ? each : least;
    }
    return least;
}

static void look(ThreadsCheck *check, uint32_t function, uint8_t *stores) {
    const PtxProgram *program = check->program;
    const PtxRoutine *routine = &program->routines[function];
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    if (!ptx_flow(&flow, check->module, function, ptx_flow_budget(check->module), &problem))
        return;
    if (ptx_values(&values, &flow, NULL, ptx_values_budget(check->module), &problem)) {
        for (uint32_t i = routine->begin; i < routine->end; i++)
            stores[i] = stored_by(program, &values, &program->code[i]);
        ptx_values_free(&values);
    }
    ptx_flow_free(&flow);
}

const uint8_t *play_stored(ThreadsCheck *check) {
    uint8_t *stores = ARENA_ARRAY(&check->arena, uint8_t, check->program->code_count + 1);
    for (uint32_t i = 0; i < check->module->functions_count; i++)
        if (check->program->routines[i].ready)
            look(check, i, stores);
    return stores;
}
