/* The public API: what there is to know of a module of PTX. */
#include "api/internal.h"

#include "ptx/flow/flow.h"
#include "ptx/pick.h"
#include "ptx/value/value.h"
#include "weir/ptx.h"

#include <stdlib.h>

weir_ptx weir_ptx_of(const weir_module *module) {
    const PtxModule *ptx = module->ptx;
    if (!ptx)
        return (weir_ptx){0};
    return (weir_ptx){.version = ptx->version,
                      .target = public(ptx_name(ptx, ptx->target)),
                      .functions = ptx->functions_count,
                      .forms = ptx->forms_count,
                      .instructions = ptx->instructions,
                      .without_row = ptx->without_row};
}

int weir_ptx_flow_of(const weir_module *module, weir_ptx_flow *sum) {
    const PtxModule *ptx = module->ptx;
    *sum = (weir_ptx_flow){0};
    for (uint32_t i = 0; ptx && i < ptx->functions_count; i++) {
        PtxFlow flow;
        const char *problem;
        if (!ptx->functions[i].body)
            continue;
        if (!ptx_flow(&flow, ptx, i, ptx_flow_budget(ptx), &problem))
            return -1;
        sum->blocks += flow.block_count;
        sum->values += flow.value_count;
        sum->loops += flow.loop_count;
        for (uint32_t k = 0; k < flow.block_count; k++)
            sum->phis += flow.blocks[k].phi_count;
        for (uint32_t k = 0; k < flow.loop_count; k++)
            sum->irreducible += flow.loops[k].irreducible;
        if (flow.arena.held > sum->memory)
            sum->memory = flow.arena.held;
        ptx_flow_free(&flow);
    }
    return ptx ? 0 : -1;
}

static void add_accesses(const PtxShares *shares, PtxSpace space, weir_ptx_accesses *accesses) {
    size_t *const counts[PTX_ACCESS_KINDS] = {&accesses->constant, &accesses->uniform, &accesses->affine,
                                              &accesses->bits,     &accesses->table,   &accesses->any};
    accesses->space = ptx_space_name(space);
    for (unsigned kind = 0; kind < PTX_ACCESS_KINDS; kind++) {
        *counts[kind] = shares->count[space][kind][0] + shares->count[space][kind][1];
        accesses->assumed += shares->count[space][kind][1];
    }
}

_Static_assert((int)WEIR_PTX_SPACES == (int)PTX_SPACES, "a row for each space");
int weir_ptx_values_of(const weir_module *module, weir_ptx_values *sum) {
    const PtxModule *ptx = module->ptx;
    PtxShares shares = {0};
    *sum = (weir_ptx_values){0};
    if (!ptx)
        return -1;
    for (uint32_t i = 0; i < ptx->functions_count; i++) {
        PtxFlow flow;
        PtxValues values;
        const char *problem;
        if (!ptx->functions[i].body)
            continue;
        if (!ptx_flow_values(&flow, &values, ptx, i, NULL, 0, &problem))
            return -1;
        ptx_count_shares(&values, &shares);
        for (uint32_t k = 0; k < flow.block_count; k++)
            sum->parting += values.parts[k];
        sum->blocks += flow.block_count;
        sum->memory = values.arena.held > sum->memory ? values.arena.held : sum->memory;
        ptx_flow_values_free(&flow, &values);
    }
    for (unsigned space = 0; space < PTX_SPACES; space++)
        add_accesses(&shares, (PtxSpace)space, &sum->spaces[space]);
    return 0;
}

weir_ptx_function weir_ptx_function_at(weir_module *module, size_t index) {
    const PtxModule *ptx = module->ptx;
    if (!ptx || index >= ptx->functions_count)
        return (weir_ptx_function){.name = {"", 0}};
    const PtxFunction *function = &ptx->functions[index];
    return (weir_ptx_function){.name = public(ptx_name(ptx, function->name)),
                               .entry = function->entry,
                               .body = function->body,
                               .line = source_place(ptx->source, ptx->statements[function->begin].begin).line,
                               .instructions = function->instructions};
}

int weir_ptx_pick(weir_module *module, const char *kernel) {
    bool missing = true;
    uint32_t entry;
    Str name = str_of(kernel);
    if (module->ptx && module->ok && question_entries(module->ptx, kernel, &entry) == 1)
        name = ptx_name(module->ptx, module->ptx->functions[entry].name);
    bool *kept = module->ptx && module->ok ? ptx_pick(module->ptx, name, &missing) : NULL;
    if (!kept)
        return missing ? 0 : -1;
    free(module->kept);
    module->kept = kept;
    return 1;
}

weir_ptx_form weir_ptx_form_at(const weir_module *module, size_t index) {
    const PtxModule *ptx = module->ptx;
    if (!ptx || index >= ptx->forms_count)
        return (weir_ptx_form){.text = {"", 0}};
    const PtxForm *form = &ptx->forms[index];
    return (weir_ptx_form){public(form->text), form->used, form->row != NULL};
}
