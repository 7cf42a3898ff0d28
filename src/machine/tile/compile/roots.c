/* From an address back to arguments: through moves, casts, loops, branches, calls and the captures of partitions. */
#include "machine/tile/compile/roots.h"

#include "model/flow/forwarded.h"
#include "model/flow/symbol.h"

typedef struct RootSearch {
    const Program *program;
    ValueWalk walk;
    Roots roots;
} RootSearch;

/* Whether it points to memory, or each of its elements does. */
static bool points(const RootSearch *search, const Value *value) {
    Module *module = search->program->module;
    const Type *type = type_resolve(module, value->type);
    if (type && type->kind == TYPE_TENSOR && type->element)
        type = type_resolve(module, type->element);
    return type && (type_is(type, STR("tt.ptr")) || type_is_descriptor(type));
}

static bool is_loaded(const RootSearch *search, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(search->program->module, op, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].space == SPACE_GLOBAL && effects[i].gives)
            return true;
    return false;
}

static bool from_call(RootSearch *search, const Op *call, uint32_t index) {
    const Op *function = call_target(search->program->module, call);
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_is_control(op, CONTROL_RETURN) && index < op->operand_count)
            value_walk_to(&search->walk, op->operands[index]);
    return function != NULL;
}

static bool from_result(RootSearch *search, const Op *op, uint32_t index) {
    bool found = false;
    if (op_is_control(op, CONTROL_CALL))
        return from_call(search, op, index);
    if (is_loaded(search, op))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (points(search, op->operands[i])) {
            value_walk_to(&search->walk, op->operands[i]);
            found = true;
        }
    return found;
}

static bool from_argument(RootSearch *search, const Value *value) {
    const Program *program = search->program;
    const Op *function = value_holder(value);
    if (function == program->function) {
        if (value->index >= MOST_ROOTS || !points(search, value))
            return false;
        search->roots.parameters |= UINT64_C(1) << value->index;
        return true;
    }
    if (!op_is_control(function, CONTROL_FUNCTION))
        return false;
    for (const Op *op = module_first_op(program->module); op; op = op_next_in_walk(op, NULL))
        if (op_is_control(op, CONTROL_CALL) && call_target(program->module, op) == function &&
            value->index < op->operand_count)
            value_walk_to(&search->walk, op->operands[value->index]);
    return true;
}

Roots address_roots(const Program *program, const Value *address) {
    RootSearch search = {.program = program, .walk.seen.arena = &program->module->arena};
    if (!address)
        return (Roots){.elsewhere = true};
    value_walk_to(&search.walk, address);
    while (search.walk.count) {
        const Value *value = search.walk.items[--search.walk.count];
        const Op *op = value_op(value);
        if (value_walk_sources(&search.walk, value))
            continue;
        if (op ? !from_result(&search, op, value->index) : !from_argument(&search, value))
            search.roots.elsewhere = true;
    }
    return search.roots;
}
