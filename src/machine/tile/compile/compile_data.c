/* What accesses to global memory do with the data in registers: what is written or compared, where what is found goes,
 * and whether control depends on it. */
#include "machine/tile/compile/program_internal.h"

#include "model/effect/inline_ptx.h"
#include "model/flow/forwarded.h"
#include "model/memory/alike.h"

enum { MOST_FOLLOWED = 256 }; /* values that one is made of */

bool data_moves(const Effect *effect) {
    return effect->space == SPACE_GLOBAL && !effect->on_descriptor && (effect->value || effect->gives);
}

/* Where offsets say which places it reads, what is there is known only if memory is kept. */
bool data_load(Compiler *compiler, const Op *op, Effect *load) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(compiler->module, op, effects) : 0;
    int assembly = count && op->result_count == 1 && is_inline_ptx(op) ? inline_ptx_load(compiler->module, op) : -1;
    if (assembly >= 0)
        effects[assembly].gives = &op->results[0];
    for (unsigned i = 0; i < count; i++) {
        *load = effects[i];
        if (data_moves(load) && load->gives && (!load->offsets.count || (compiler->flags & COMPILE_DATA)))
            return true;
    }
    return false;
}

/* ---- Ops of the table ----------------------------------------------------------------------------- */

static bool is_integer(Module *module, const Type *type) {
    type = type_resolve(module, type);
    if (type && type->kind == TYPE_TENSOR && type->element)
        type = type_resolve(module, type->element);
    return type && (type->kind == TYPE_INTEGER || type_is(type, STR("tt.ptr")));
}

/* Whether nothing but arguments, program ids, constants and what is loaded from global memory makes the value, without
 * a loop: its identity then says what it is, in every CTA. */
static bool is_followed(Compiler *compiler, const Value *value) {
    ValueWalk walk = {.seen = {.arena = &compiler->module->arena}};
    value_walk_to(&walk, value);
    for (uint32_t at = 0; at < walk.count; at++) {
        const Op *op = value_op(walk.items[at]);
        Effect effects[EFFECTS_MOST];
        if (walk.count > MOST_FOLLOWED ||
            (!op && walk.items[at]->owner != compiler->program->function->regions[0].first))
            return false;
        unsigned count = op ? effects_of(compiler->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            if (effects[i].verb != EFFECT_READ || effects[i].space != SPACE_GLOBAL)
                return false;
        if (op && op->region_count && op_evaluator(op) != EVALUATE_REDUCE && op_evaluator(op) != EVALUATE_SCAN)
            return false;
        for (uint32_t i = 0; op && i < op->operand_count; i++)
            value_walk_to(&walk, op->operands[i]);
    }
    return true;
}

static Transfer transfer_of(Compiler *compiler, const Effect *effect) {
    const Value *moved = effect->expected ? effect->expected : effect->gives ? effect->gives : effect->value;
    return (Transfer){.value = value_register(compiler, effect->value),
                      .compare = value_register(compiler, effect->compare),
                      .other = value_register(compiler, effect->otherwise),
                      .until = value_register(compiler, effect->expected),
                      .result = value_register(compiler, effect->gives),
                      .type = moved->type,
                      .width = (uint16_t)type_bits(compiler->module, moved->type),
                      .times = 1,
                      .integer = is_integer(compiler->module, moved->type),
                      .followed = effect->verb == EFFECT_WRITE && is_followed(compiler, effect->value),
                      .atomic = effect->atomic,
                      .polls = effect->expected != NULL,
                      .gives_up = effect->gives_up,
                      .relation = COMPARE_EQ};
}

/* ---- Assembly ------------------------------------------------------------------------------------- */

static uint32_t number_register(Compiler *compiler, InlineNumber number) {
    if (!number.known)
        return NO_REGISTER;
    if (number.value)
        return value_register(compiler, number.value);
    uint32_t fresh = compiler->next_register++;
    emit_constant(compiler, fresh, word_integer(number.number));
    return fresh;
}

static AtomicKind atomic_of_assembly(const InlineAccess *access) {
    bool is_signed = access->type == 's';
    switch (access->action) {
    case INLINE_LOAD:
    case INLINE_STORE:
        return ATOMIC_NONE;
    case INLINE_ADD:
        return ATOMIC_ADD;
    case INLINE_AND:
        return ATOMIC_AND;
    case INLINE_OR:
        return ATOMIC_OR;
    case INLINE_XOR:
        return ATOMIC_XOR;
    case INLINE_EXCHANGE:
        return ATOMIC_EXCHANGE;
    case INLINE_COMPARE:
        return ATOMIC_CAS;
    case INLINE_MINIMUM:
        return is_signed ? ATOMIC_MINIMUM : ATOMIC_MINIMUM_UNSIGNED;
    case INLINE_MAXIMUM:
        return is_signed ? ATOMIC_MAXIMUM : ATOMIC_MAXIMUM_UNSIGNED;
    case INLINE_INCREMENT:
        return ATOMIC_INCREMENT;
    case INLINE_DECREMENT:
        return ATOMIC_DECREMENT;
    }
    return ATOMIC_OTHER;
}

static Comparison comparison_of(const InlineAccess *access) {
    static const Comparison signed_ones[] = {COMPARE_EQ,  COMPARE_NE,  COMPARE_SLT,
                                             COMPARE_SGE, COMPARE_SLE, COMPARE_SGT};
    static const Comparison unsigned_ones[] = {COMPARE_EQ,  COMPARE_NE,  COMPARE_ULT,
                                               COMPARE_UGE, COMPARE_ULE, COMPARE_UGT};
    return (access->until_signed ? signed_ones : unsigned_ones)[access->until];
}

static bool transfer_of_assembly(Compiler *compiler, const Op *op, unsigned index, bool repeats, Transfer *transfer) {
    InlineAccess access;
    if (!inline_ptx_access(compiler->module, op, index, &access) || access.elements != 1 || access.bits > 64)
        return false;
    const Program *program = compiler->program;
    const Type *result = access.result ? type_resolve(compiler->module, access.result->type) : NULL;
    const Type *written = access.operand.value ? type_resolve(compiler->module, access.operand.value->type) : NULL;
    bool scalar = op->operand_count && type_resolve(compiler->module, op->operands[0]->type) &&
                  type_resolve(compiler->module, op->operands[0]->type)->kind != TYPE_TENSOR;
    *transfer = (Transfer){.value = number_register(compiler, access.operand),
                           .compare = number_register(compiler, access.compare),
                           .other = NO_REGISTER,
                           .until = repeats ? number_register(compiler, access.until_number) : NO_REGISTER,
                           .result = access.result ? value_register(compiler, access.result) : NO_REGISTER,
                           .type = result ? result : written,
                           /* every thread of the CTA makes one of a scalar */
                           .times = (uint16_t)(access.once || !scalar ? 1 : program->warps * program->warp_threads),
                           .atomic = atomic_of_assembly(&access),
                           .polls = repeats,
                           .finds = repeats,
                           .relation = comparison_of(&access)};
    /* What each thread finds another number of is none that is known. */
    bool updates = transfer->atomic != ATOMIC_NONE && transfer->atomic != ATOMIC_CAS;
    transfer->integer = access.type != 'f' && !(updates && transfer->times > 1 && transfer->result != NO_REGISTER);
    transfer->width = (uint16_t)access.bits;
    return true;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

/* What reads the result of the op has it from here, and not from what came before the effects. */
static void take_over_load(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    uint32_t last = program->code_count - 1;
    if (program->code_count && program->code[last].code == CODE_LOAD && program->ops[last] == op)
        program->code[last].evaluator = 1;
}

void data_compile(Compiler *compiler, const Op *op, unsigned index, CompiledEffect *compiled) {
    Program *program = compiler->program;
    const Effect *effect = &compiled->effect;
    Transfer transfer;
    bool moves = data_moves(effect);
    compiled->strong = effect->order != ORDER_WEAK;
    compiled->alike = effect->verb == EFFECT_WRITE && effect->done == DONE_NOW && !effect->on_descriptor &&
                      op_is_alike(compiler->module, program->function, op);
    if (moves)
        transfer = transfer_of(compiler, effect);
    if (moves && transfer.polls && type_resolve(compiler->module, transfer.type)->kind == TYPE_TENSOR)
        compile_cannot(compiler, op, "it polls several addresses at once, which is not emulated");
    if (!moves && is_inline_ptx(op))
        moves = transfer_of_assembly(compiler, op, index, effect->repeats, &transfer);
    transfer.width = moves && transfer.width < 8 ? 8 : transfer.width;
    if (moves && transfer.width % 8 == 0 && transfer.width <= 64) {
        transfer.steers = op->result_count && slice_has(compiler->program->steering, &op->results[0]);
        *ARENA_PUSH(&compiler->module->arena, program->transfers, program->transfer_count, program->transfer_capacity) =
            transfer;
        compiled->transfer = program->transfer_count - 1;
        if (transfer.result != NO_REGISTER)
            take_over_load(compiler, op);
    }
    compiled->stops = compiled->strong || (compiled->transfer != NO_TRANSFER && (transfer.steers || transfer.polls));
}
