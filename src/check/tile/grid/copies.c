/* Elements of which several threads of a CTA hold a copy: what they do with the value that each of them loads.
 *
 * It matters if addresses or conditions depend on it, or if it goes to memory, with one exception: of the threads that
 * hold an element of a tensor, or a number, the first one stores it to global memory. A copy that another thread holds
 * is not used then, so long as no op moves elements between the load and the store. */
#include "check/tile/grid/internal.h"

#include "ir/op.h"
#include "ir/optable.h"
#include "machine/tile/compile/slice.h"
#include "model/flow/forwarded.h"
#include "model/memory/scratch.h"

/* From a tensor that is stored back to what its elements are made of, thread by thread. */
typedef struct CopyWalk {
    Slice *slice;
    const Type *like; /* of the tensor */
    ValueWalk values;
} CopyWalk;

/* Whether threads hold its elements as they hold those of the tensor. */
static bool is_like(const CopyWalk *walk, const Value *value) {
    const Type *type = type_resolve(walk->slice->module, value->type), *like = walk->like;
    return type && type->kind == TYPE_TENSOR && type->dim_count == like->dim_count &&
           memcmp(type->dims, like->dims, like->dim_count * sizeof *like->dims) == 0 && type->encoding &&
           like->encoding && str_equal(type->encoding->text, like->encoding->text);
}

/* Whether each thread makes its elements of the result of its own elements of the operands. */
static bool is_elementwise(const CopyWalk *walk, const Op *op) {
    Evaluator how = op_evaluator(op);
    if (!op->row || *op->row->effects || op->region_count || !op->operand_count || op_is_control(op, CONTROL_CALL) ||
        (how != EVALUATE_NONE && evaluators[how].kind == SHAPES) || scratch_of(walk->slice->module, op).bytes)
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const Type *type = type_resolve(walk->slice->module, op->operands[i]->type);
        if (!type || (type->kind == TYPE_TENSOR && !is_like(walk, op->operands[i])))
            return false;
    }
    return true;
}

/* Whether the value is loaded from global memory; then what it is where the mask is false is gone on with. */
static bool is_loaded(CopyWalk *walk, const Op *op, const Value *value) {
    Effect effects[EFFECTS_MOST];
    for (unsigned i = 0, count = effects_of(walk->slice->module, op, effects); i < count; i++)
        if (effects[i].verb == EFFECT_READ && effects[i].space == SPACE_GLOBAL && effects[i].gives == value) {
            value_walk_to(&walk->values, effects[i].otherwise);
            return true;
        }
    return false;
}

static bool walk_on(CopyWalk *walk, const Value *value) {
    const Op *op = value_op(value);
    if (!is_like(walk, value))
        return false;
    if (op && is_elementwise(walk, op)) {
        for (uint32_t i = 0; i < op->operand_count; i++)
            value_walk_to(&walk->values, op->operands[i]);
        return true;
    }
    return (op && is_loaded(walk, op, value)) || value_walk_sources(&walk->values, value);
}

static void add_stored(Slice *slice, const Value *stored, const Type *type) {
    CopyWalk walk = {.slice = slice, .like = type, .values.seen.arena = &slice->module->arena};
    value_walk_to(&walk.values, stored);
    while (walk.values.count) {
        const Value *value = walk.values.items[--walk.values.count];
        if (!walk_on(&walk, value))
            slice_add(slice, value);
    }
}

/* What the places of accesses are made of, and whether they are made; and what goes to memory from other threads than
 * the first that holds it. */
static const Slice *uses_of(GlobalCheck *run, size_t kernel) {
    const Program *program = run->programs[kernel];
    if (!run->places)
        run->places = ARENA_ARRAY(run->arena, Slice *, run->count);
    if (run->places[kernel])
        return run->places[kernel];
    Slice *slice = run->places[kernel] = ARENA_NEW(run->arena, Slice);
    slice_init(slice, program->module);
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        const Type *type = effect->value ? type_resolve(program->module, effect->value->type) : NULL;
        slice_add_place(slice, effect, true);
        if (type && effect->space != SPACE_GLOBAL)
            slice_add(slice, effect->value);
        else if (type && type->kind == TYPE_TENSOR)
            add_stored(slice, effect->value, type);
    }
    slice_close(slice);
    return slice;
}

bool copies_matter(GlobalCheck *run, uint32_t site) {
    size_t kernel = site_kernel(run, site);
    const Op *op = run->programs[kernel]->ops[site_pc(run, site)];
    bool found = false;
    for (uint32_t i = 0; i < op->result_count; i++)
        found |= slice_has(uses_of(run, kernel), &op->results[i]) ||
                 slice_has(run->programs[kernel]->steering, &op->results[i]);
    return found;
}
