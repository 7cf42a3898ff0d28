/* Registers and instructions: how compiled code is written down. */
#include "machine/tile/compile/program_internal.h"

void compile_cannot(Compiler *compiler, const Op *op, const char *reason) {
    const char *name = arena_copy(&compiler->module->arena, op->name.data, op->name.size);
    verdict_incomplete(compiler->verdict, name, op_line(compiler->module, op), "%s", reason);
}

void compile_too_large(Compiler *compiler, const Op *op) {
    if (!compiler->reported_size)
        compile_cannot(compiler, op, "the kernel is too large to be emulated");
    compiler->reported_size = true;
}

/* ---- Registers ------------------------------------------------------------------------------------ */

Pointers *frame_new(Compiler *compiler) {
    Pointers *frame = ARENA_NEW(&compiler->module->arena, Pointers);
    frame->arena = &compiler->module->arena;
    return frame;
}

bool is_wanted(const Compiler *compiler, const Value *value) {
    return slice_has(&compiler->slice, value);
}

/* The register of a value of the slice; NO_REGISTER for any other. */
uint32_t value_register(Compiler *compiler, const Value *value) {
    if (!value || !is_wanted(compiler, value))
        return NO_REGISTER;
    uint32_t known = pointers_get(compiler->frame, value);
    if (known != NO_NUMBER)
        return known;
    pointers_set(compiler->frame, value, compiler->next_register);
    return compiler->next_register++;
}

/* ---- Instructions --------------------------------------------------------------------------------- */

Instruction *emit_code(Compiler *compiler, Code code, const Op *op) {
    Program *program = compiler->program;
    if (program->code_count >= MOST_INSTRUCTIONS) {
        compile_too_large(compiler, op);
        program->code_count = MOST_INSTRUCTIONS / 2; /* what is still written goes over what is there */
    }
    uint32_t capacity = program->code_capacity; /* both arrays grow together */
    program->ops =
        arena_grown(&compiler->module->arena, program->ops, program->code_count, &capacity, sizeof *program->ops);
    Instruction *instruction =
        ARENA_PUSH(&compiler->module->arena, program->code, program->code_count, program->code_capacity);
    *instruction =
        (Instruction){.code = (uint8_t)code, .dst = NO_REGISTER, .a = NO_REGISTER, .b = NO_REGISTER, .c = NO_REGISTER};
    program->ops[program->code_count - 1] = op;
    return instruction;
}

Instruction *emit_value(Compiler *compiler, Code code, const Op *op, uint32_t dst, uint32_t a, uint32_t aux) {
    Instruction *instruction = emit_code(compiler, code, op);
    instruction->dst = dst;
    instruction->a = a;
    instruction->aux = aux;
    return instruction;
}

uint32_t emit_list_item(Compiler *compiler, uint32_t item) {
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->lists, program->list_count, program->list_capacity) = item;
    return program->list_count - 1;
}

/* The registers of `count` values as a list. */
uint32_t emit_list(Compiler *compiler, Value *const *values, uint32_t count) {
    uint32_t first = compiler->program->list_count;
    for (uint32_t i = 0; i < count; i++)
        emit_list_item(compiler, value_register(compiler, values[i]));
    return first;
}

void emit_move(Compiler *compiler, const Op *op, uint32_t to, uint32_t from) {
    if (to != NO_REGISTER && from != NO_REGISTER && to != from)
        emit_value(compiler, CODE_MOVE, op, to, from, 0);
}

/* Hands values over to block arguments, all at once: a source may be the old value of another target. */
void emit_hand_over(Compiler *compiler, const Op *op, const uint32_t *to, const uint32_t *from, uint32_t count) {
    bool crossed = false;
    for (uint32_t i = 0; i < count && !crossed; i++)
        for (uint32_t k = 0; k < i && !crossed; k++)
            crossed = from[i] != NO_REGISTER && from[i] == to[k] && to[k] != from[k];
    if (!crossed) {
        for (uint32_t i = 0; i < count; i++)
            emit_move(compiler, op, to[i], from[i]);
        return;
    }
    uint32_t first = compiler->next_register;
    compiler->next_register += count;
    for (uint32_t i = 0; i < count; i++)
        if (to[i] != NO_REGISTER)
            emit_move(compiler, op, first + i, from[i]);
    for (uint32_t i = 0; i < count; i++)
        if (to[i] != NO_REGISTER && from[i] != NO_REGISTER)
            emit_move(compiler, op, to[i], first + i);
}

/* The same for values, from operands on to results or arguments; `to` may be shorter. */
void emit_hand_values(Compiler *compiler, const Op *op, Value *to, uint32_t to_count, Value *const *from,
                      uint32_t from_count) {
    uint32_t count = to_count < from_count ? to_count : from_count;
    uint32_t *registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++) {
        registers[i] = value_register(compiler, &to[i]);
        registers[count + i] = registers[i] == NO_REGISTER ? NO_REGISTER : value_register(compiler, from[i]);
    }
    emit_hand_over(compiler, op, registers, registers + count, count);
}

unsigned type_bits(Module *module, const Type *type) {
    type = type_resolve(module, type);
    if (!type)
        return 64;
    if (type->element && (type->kind == TYPE_TENSOR || type->kind == TYPE_VECTOR))
        return type_bits(module, type->element);
    return type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT ? type->width : 64;
}

uint32_t emit_here(const Compiler *compiler) {
    return compiler->program->code_count;
}

/* Emits a jump to be aimed later; returns its address. */
uint32_t emit_jump(Compiler *compiler, const Op *op, Code code, uint32_t condition) {
    emit_code(compiler, code, op)->a = condition;
    return emit_here(compiler) - 1;
}

void emit_aim(Compiler *compiler, uint32_t jump, uint32_t target) {
    compiler->program->code[jump].aux = target;
}

RegisterList emit_operands_of(Compiler *compiler, const Op *op, SlotRef entry) {
    uint32_t count;
    Value **values = op_operands_of(op, entry, &count);
    return (RegisterList){emit_list(compiler, values, count), count};
}

void emit_constant(Compiler *compiler, uint32_t dst, Word word) {
    Program *program = compiler->program;
    *ARENA_PUSH(&compiler->module->arena, program->constants, program->constant_count, program->constant_capacity) =
        word;
    *ARENA_PUSH(&compiler->module->arena, compiler->constants, compiler->constant_count, compiler->constant_capacity) =
        dst;
    *ARENA_PUSH(&compiler->module->arena, compiler->constants, compiler->constant_count, compiler->constant_capacity) =
        program->constant_count - 1;
}
