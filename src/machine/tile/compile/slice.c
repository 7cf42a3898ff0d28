/* The backward slice: from a value to the values it is computed from, through blocks, loops, branches, calls and the
 * captures of partitions. */
#include "machine/tile/compile/slice.h"

#include "machine/tile/compile/block_loops.h"
#include "model/effect/effect.h"
#include "model/flow/forwarded.h"
#include "model/flow/symbol.h"

void slice_init(Slice *slice, Module *module) {
    *slice = (Slice){.module = module, .walk.seen.arena = &module->arena};
}

Slice slice_copy(const Slice *slice) {
    Slice copy = {.module = slice->module, .walk.seen = slice->walk.seen};
    Pointers *values = &copy.walk.seen;
    values->items = ARENA_ARRAY(&slice->module->arena, PointerEntry, values->capacity);
    if (values->capacity)
        memcpy(values->items, slice->walk.seen.items, values->capacity * sizeof *values->items);
    return copy;
}

void slice_add(Slice *slice, const Value *value) {
    value_walk_to(&slice->walk, value);
}

void slice_add_list(Slice *slice, ValueList list) {
    for (uint32_t i = 0; i < list.count; i++)
        slice_add(slice, list.items[i]);
}

static void add_operand(Slice *slice, const Op *op, uint32_t index) {
    if (index < op->operand_count)
        slice_add(slice, op->operands[index]);
}

/* What the function that is called returns. */
static void add_returned(Slice *slice, const Op *call, uint32_t index) {
    const Op *function = call_target(slice->module, call);
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_is_control(op, CONTROL_RETURN))
            add_operand(slice, op, index);
}

/* What every call of a function hands over. */
static void add_passed(Slice *slice, const Op *function, uint32_t index) {
    for (const Op *op = module_first_op(slice->module); op; op = op_next_in_walk(op, NULL))
        if (op_is_control(op, CONTROL_CALL) && call_target(slice->module, op) == function)
            add_operand(slice, op, index);
}

/* Floats are kept there, and nothing that control can depend on. */
static bool reads_tensor_memory(Slice *slice, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(slice->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_READ && effects[i].space == SPACE_TENSOR)
            return true;
    return false;
}

static void from_result(Slice *slice, const Op *op, uint32_t index) {
    if (op_is_control(op, CONTROL_CALL)) {
        add_returned(slice, op, index);
        return;
    }
    switch (op_evaluator(op)) {
    case EVALUATE_STORED:
    case EVALUATE_CANCEL_ANSWER:
    case EVALUATE_CANCEL_QUERY:
        slice->reads_cells = true;
        add_operand(slice, op, 0);
        return;
    default:
        break;
    }
    /* Only its place among the products matters; where memory lies does not depend on what it is filled with. */
    if (op_is(op, CLASS_WGMMA) || op_is(op, CLASS_LOCAL_ALLOC) || reads_tensor_memory(slice, op))
        return;
    bool one = op_is(op, CLASS_WGMMA_WAIT);
    for (uint32_t i = one ? index : 0; i < op->operand_count && (!one || i == index); i++)
        slice_add(slice, op->operands[i]);
}

static void from_argument(Slice *slice, const Value *value) {
    Bounds bounds;
    if (loop_bounds(counted_by(value), &bounds)) {
        slice_add(slice, bounds.from);
        slice_add(slice, slice->without_ends ? NULL : bounds.to);
        slice_add(slice, bounds.step);
    } else if (op_is_control(value_holder(value), CONTROL_FUNCTION)) {
        add_passed(slice, value_holder(value), value->index);
    }
}

/* By which of several values an argument of a block is: the conditions of the branches before it. */
static void add_ways(Slice *slice, const Value *value) {
    const Block *to = value->owner;
    bool several = to->region && to->region->block_count > 1 && !value_always(value);
    for (const Block *from = several ? to->region->first : NULL; from; from = from->next)
        if (op_is_control(from->last, CONTROL_JUMP) && block_is_by_either(to, from->last))
            slice_add(slice, op_operand_of(from->last, from->last->row->control.condition));
}

/* Which of its sources a value is, some condition decides, as that of a select does: a branch that yields it, a switch,
 * a loop behind which it is, branches to its block. */
static void add_deciding(Slice *slice, const Value *value) {
    const Op *op = value_op(value);
    Choice choice;
    Bounds bounds;
    if (choice_of(value, &choice))
        slice_add(slice, choice.condition);
    else if (op_is_control(op, CONTROL_SWITCH))
        slice_add(slice, op_operand_of(op, op->row->control.number));
    else if (op_is_loop(op) && !slice->without_ends) {
        const Op *end = op_is_control(op, CONTROL_WHILE) ? region_end(op, 0) : NULL;
        if (loop_bounds(op, &bounds)) {
            slice_add(slice, bounds.from);
            slice_add(slice, bounds.to);
        }
        if (end && end->row)
            slice_add(slice, op_operand_of(end, end->row->control.condition));
    } else if (!op) {
        add_ways(slice, value);
    }
}

void slice_add_place(Slice *slice, const Effect *effect, bool whether) {
    if (effect->space != SPACE_GLOBAL || !effect_is_access(effect))
        return;
    slice_add(slice, effect->on);
    slice_add(slice, effect->rows);
    slice_add_list(slice, effect->at);
    slice_add_list(slice, effect->offsets);
    if (whether) {
        slice_add(slice, effect->mask);
        slice_add(slice, effect->predicate);
    }
}

void slice_close(Slice *slice) {
    while (slice->walk.count) {
        const Value *value = slice->walk.items[--slice->walk.count];
        const Op *op = value_op(value);
        add_deciding(slice, value);
        if (value_walk_sources(&slice->walk, value))
            continue;
        if (op)
            from_result(slice, op, value->index);
        else
            from_argument(slice, value);
    }
}
