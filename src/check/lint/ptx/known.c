/* Forms of values as answers to questions. */
#include "check/lint/ptx/known.h"

#include "ptx/value/value.h"

#include <stdlib.h>

struct Known {
    PtxValues values;
};

Known *known_open(const PtxFlow *flow, size_t budget, const char **problem) {
    Known *known = calloc(1, sizeof *known);
    if (known && ptx_values(&known->values, flow, NULL, budget, problem))
        return known;
    *problem = known ? *problem : "there is not enough memory";
    free(known);
    return NULL;
}

void known_close(Known *known) {
    if (!known)
        return;
    ptx_values_free(&known->values);
    free(known);
}

bool known_number(const Known *known, uint32_t operand, int64_t *value) {
    const PtxOperand *at = &known->values.flow->module->operands[operand];
    if (at->kind == PTX_INTEGER) {
        *value = at->value;
        return true;
    }
    uint64_t constant;
    Form form = ptx_operand_form(&known->values, operand);
    if (!form_constant(&form, &constant))
        return false;
    *value = form.width == 32 ? (int64_t)(int32_t)constant : (int64_t)constant;
    return true;
}

bool known_off(const Known *known, uint32_t statement, uint32_t operand, uint64_t step) {
    PtxOrigin origin;
    uint64_t zeros, ones;
    Form form = ptx_address_form(&known->values, statement, operand, &origin);
    if (form.kind == FORM_NEVER)
        return false;
    form_known(known->values.tables, &form, &zeros, &ones);
    return (ones & (step - 1)) != 0;
}

/* Of the lanes of one warp. */
static bool are_different(const uint64_t offsets[FORM_LANES], uint64_t mask) {
    for (unsigned i = 0; i < FORM_LANES; i++)
        for (unsigned k = 0; k < i; k++)
            if (((offsets[i] ^ offsets[k]) & mask) == 0)
                return false;
    return true;
}

bool known_different(const Known *known, uint32_t operand) {
    const FormTables *tables = known->values.tables;
    Form form = ptx_operand_form(&known->values, operand);
    if (form.kind != FORM_TABLE)
        return false;
    const uint64_t *offsets = form_offsets(tables, form.table);
    for (unsigned warp = 0; warp < form_threads(tables); warp += FORM_LANES)
        if (!are_different(offsets + warp, low_ones(form.width)))
            return false;
    return true;
}

bool known_uniform(const Known *known, uint32_t operand) {
    Form form = ptx_operand_form(&known->values, operand);
    return form_is_uniform(known->values.tables, &form);
}

bool known_whole(const Known *known, uint32_t block) {
    return !known->values.divergent[block];
}
