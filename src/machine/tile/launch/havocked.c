/* From a place back to the loads that it is made of, and from these to the arguments that they load from. */
#include "machine/tile/launch/havocked.h"

#include "ir/op.h"
#include "machine/tile/compile/roots.h"
#include "machine/tile/compile/slice.h"

/* Whether it takes a number from memory that the launch does not describe. */
static bool reads_unknown(const Program *program, const Launch *launch, const Effect *effect) {
    bool strong = effect->order != ORDER_WEAK && effect->scope >= SCOPE_GPU;
    if (effect->space != SPACE_GLOBAL || effect->verb != EFFECT_READ || strong)
        return false;
    Roots roots = address_roots(program, effect->on);
    bool known = !roots.elsewhere;
    for (uint32_t i = 0; i < program->parameter_count && i < MOST_ROOTS; i++) {
        const Argument *argument =
            roots.parameters >> i & 1 ? launch_find(launch, str_of(program->parameters[i].name)) : NULL;
        known &= !(roots.parameters >> i & 1) || (argument && (argument->data || argument->zero));
    }
    return !known;
}

static bool loads_unknown(const Program *program, const Launch *launch, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(program->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (reads_unknown(program, launch, &effects[i]))
            return true;
    return false;
}

static const Op *load_in(const Program *program, const Launch *launch, const Slice *slice) {
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Op *op = program->ops[pc];
        if (op && op->result_count && slice_has(slice, &op->results[0]) && loads_unknown(program, launch, op))
            return op;
    }
    return NULL;
}

static void slice_place(Slice *slice, const Program *program, const Effect *effect, bool by_count) {
    slice_init(slice, program->module);
    slice->without_ends = !by_count;
    slice_add(slice, effect->on);
    slice_add_list(slice, effect->at);
    slice_add_list(slice, effect->offsets);
    slice_close(slice);
}

const Op *havocked_load(const Program *program, const Launch *launch, const Effect *effect, bool by_count) {
    Slice slice;
    slice_place(&slice, program, effect, by_count);
    return load_in(program, launch, &slice);
}

const Op *havocked_value(const Program *program, const Launch *launch, const Value *value, bool by_count) {
    Slice slice;
    slice_init(&slice, program->module);
    slice.without_ends = !by_count;
    slice_add(&slice, value);
    slice_close(&slice);
    return load_in(program, launch, &slice);
}

const Op *havocked_flag(const Program *program, const Effect *effect) {
    Slice slice;
    slice_place(&slice, program, effect, true);
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Op *op = program->ops[pc];
        if (op && op_is(op, CLASS_FLOAT_COMPARISON) && slice_has(&slice, &op->results[0]) &&
            number_width(program->module, type_resolve(program->module, op->results[0].type)) == 1)
            return op;
    }
    return NULL;
}
