/* What a launch leaves open, read off the slice of what is run: all in it that no op computes from constants. */
#include "machine/tile/launch/open.h"

#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/solve.h"
#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"
#include "model/flow/symbol.h"

/* An address: a pointer, or a tensor of them. */
static bool is_address(Module *module, const Value *value) {
    const Type *type = value->type ? type_resolve(module, value->type) : NULL;
    const Type *element =
        type && type->kind == TYPE_TENSOR && type->element ? type_resolve(module, type->element) : type;
    return element && type_is(element, STR("tt.ptr"));
}

/* A name for memory, or for something in flight, which holds no number. */
static bool is_handle(Module *module, const Value *value) {
    const Type *type = value->type ? type_resolve(module, value->type) : NULL;
    return type && type->kind == TYPE_DIALECT && !type_is(type, STR("tt.ptr")) && !type_is_descriptor(type);
}

static void hear(void *context, Forwarded how, const Value *from, const Value *to) {
    (void)context, (void)how, (void)from, (void)to;
}

/* A number that is made of an address: it is as open as where the pointer points. */
static bool looks_at_address(const Program *program, const Op *op, const Value *result) {
    for (uint32_t i = 0; i < op->operand_count && !is_address(program->module, result); i++)
        if (is_address(program->module, op->operands[i]))
            return true;
    return false;
}

/* Whether a value of the slice is no more than what others of the slice make it. */
static bool is_made(const Program *program, const Value *value) {
    const Op *op = value_op(value), *holder = op ? NULL : value_holder(value);
    if (value_sources(value, hear, NULL) || (!op && counted_by(value)))
        return true;
    if (!op)
        return op_is_control(holder, CONTROL_FUNCTION) && holder != program->function; /* every call hands it over */
    if (op_is_control(op, CONTROL_CALL))
        return call_target(program->module, op);
    return is_handle(program->module, value) || (op_is_closed(program, op) && !looks_at_address(program, op, value));
}

static const char *describe(const Program *program, const Value *value) {
    Text text = {0};
    const Op *op = value_op(value), *holder = op ? op : value_holder(value);
    if (!op && holder == program->function && value->index < program->parameter_count)
        text_addf(&text, "argument %s", program->parameters[value->index].name);
    else
        text_addf(&text, "%.*s (line %u)", holder ? (int)holder->name.size : 0, holder ? holder->name.data : "",
                  holder ? op_line(program->module, holder) : 0);
    return text_keep(&text, &program->module->arena);
}

/* The first value of the op, or of the blocks in it, that is open; NULL: there is none. */
static const Value *open_at(const Program *program, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (slice_has(program->slice, &op->results[i]) && !is_made(program, &op->results[i]))
            return &op->results[i];
    for (uint32_t r = 0; r < op->region_count; r++)
        for (const Block *block = op->regions[r].first; block; block = block->next)
            for (uint32_t i = 0; i < block->arg_count; i++)
                if (slice_has(program->slice, &block->args[i]) && !is_made(program, &block->args[i]) &&
                    !(op == program->function && is_address(program->module, &block->args[i])))
                    return &block->args[i];
    return NULL;
}

const char *program_open(const Program *program) {
    Pointers called = {.arena = &program->module->arena};
    Solver *solver = solver_create(&program->module->arena, program);
    const Op *call;
    pointers_set(&called, program->function, 0);
    for (uint32_t i = 0; (call = solver_call(solver, i)); i++)
        pointers_set(&called, call_target(program->module, call), 0);
    if (program->unknowns)
        return "an op that is not known";
    for (const Op *op = module_first_op(program->module); op; op = op_next_in_walk(op, NULL)) {
        const Op *function = op;
        while (function && !op_is_control(function, CONTROL_FUNCTION))
            function = op_parent(function);
        if (!function || pointers_get(&called, function) == NO_NUMBER)
            continue;
        if (is_inline_ptx(op))
            return "inline assembly";
        const Value *value = open_at(program, op);
        if (value)
            return describe(program, value);
    }
    return NULL;
}

/* Whether it does that to global memory, or an update. */
static bool has_access(const Program *program, EffectVerb verb) {
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->space == SPACE_GLOBAL && effect_is_access(effect) &&
            (effect->verb == verb || effect->verb == EFFECT_UPDATE))
            return true;
    }
    return false;
}

bool program_writes_global(const Program *program) {
    return has_access(program, EFFECT_WRITE);
}

bool program_updates_global(const Program *program) {
    return has_access(program, EFFECT_UPDATE);
}
