/* What accesses to global memory do with the data in registers: which operand is written or compared, where what is
 * found goes, and whether control depends on it. */
#include "emulate/program_internal.h"

#include "model/effect/inline_ptx.h"

enum { MOST_FOLLOWED = 256 }; /* values that one is made of */

/* The operands of an op that matter, by their names in its row. */
typedef struct DataOp {
    OpId id;
    const char *value, *compare, *other, *until;
} DataOp;

static const DataOp *data_op(const Op *op) {
    static const DataOp ops[] = {
        {.id = OP_tt_load, .other = "other"},
        {.id = OP_tt_store, .value = "value"},
        {.id = OP_tt_atomic_rmw, .value = "val"},
        {.id = OP_tt_atomic_cas, .value = "val", .compare = "cmp"},
        {.id = OP_tt_atomic_poll, .until = "expected"},
        {.id = OP_amdg_buffer_load, .other = "other"},
        {.id = OP_amdg_buffer_store, .value = "value"},
        {.id = OP_amdg_buffer_atomic_rmw, .value = "value"},
        {.id = OP_amdg_buffer_atomic_cas, .value = "val", .compare = "cmp"},
    };
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op_has_id(op, ops[i].id))
            return &ops[i];
    return NULL;
}

static void add_named(Compiler *compiler, const Op *op, const char *name) {
    uint32_t count = 0;
    Value **values = name ? op_operands_named(op, name, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        slice_add(&compiler->slice, values[i]);
}

void data_add(Compiler *compiler, const Op *op) {
    const DataOp *names = data_op(op);
    if (names) {
        add_named(compiler, op, names->value);
        add_named(compiler, op, names->compare);
        add_named(compiler, op, names->until);
    } else if (is_inline_ptx(op)) {
        for (uint32_t i = 0; i < op->operand_count; i++)
            slice_add(&compiler->slice, op->operands[i]);
    }
}

bool data_loads(Compiler *compiler, const Op *op) {
    if (op->result_count != 1)
        return false;
    if (is_inline_ptx(op))
        return inline_ptx_load(compiler->module, op) >= 0;
    return op_has_id(op, OP_tt_atomic_poll) || ((compiler->flags & COMPILE_DATA) && data_op(op));
}

/* ---- Ops of the table ----------------------------------------------------------------------------- */

AtomicKind data_atomic(const Op *op) {
    static const AtomicKind kinds[] = {ATOMIC_OTHER,
                                       ATOMIC_AND,
                                       ATOMIC_OR,
                                       ATOMIC_XOR,
                                       ATOMIC_ADD,
                                       ATOMIC_OTHER,
                                       ATOMIC_MAXIMUM,
                                       ATOMIC_MINIMUM,
                                       ATOMIC_MAXIMUM_UNSIGNED,
                                       ATOMIC_MINIMUM_UNSIGNED,
                                       ATOMIC_EXCHANGE};
    if (op_has_id(op, OP_tt_atomic_cas) || op_has_id(op, OP_amdg_buffer_atomic_cas))
        return ATOMIC_CAS;
    int slot = op->row ? op_slot(op->row->attrs, op->row->attr_count, STR("atomic_rmw_op")) : -1;
    const Attr *kind = slot < 0 ? NULL : op_attr(op, "atomic_rmw_op");
    int64_t number = 0;
    if (kind && kind->kind == ATTR_INTEGER)
        number = kind->integer;
    else if (kind)
        (void)enum_value(op->row->attrs[slot].enumeration, kind->text, &number);
    return number > 0 && number < (int64_t)(sizeof kinds / sizeof *kinds) ? kinds[number] : ATOMIC_OTHER;
}

static uint32_t named(Compiler *compiler, const Op *op, const char *name) {
    return name ? emit_operand_named(compiler, op, name) : NO_REGISTER;
}

/* The type of what is moved: what is found there, else what is written. */
static const Type *moved_type(const Op *op, const DataOp *names, const char *also) {
    uint32_t count = 0;
    Value **values = names->until || op->result_count == 0 ? op_operands_named(op, also, &count) : NULL;
    if (count)
        return values[0]->type;
    return op->result_count ? op->results[0].type : NULL;
}

static bool is_volatile(const Op *op) {
    const Attr *attr = op_has_id(op, OP_tt_load) ? op_attr(op, "isVolatile") : NULL;
    return attr && (attr->kind == ATTR_UNIT || (attr->kind == ATTR_BOOL && attr->integer));
}

static bool has_operand(const Op *op, const char *name) {
    uint32_t count;
    (void)op_operands_named(op, name, &count);
    return count > 0;
}

static Transfer transfer_of_op(Compiler *compiler, const Op *op, const DataOp *names, EffectVerb verb) {
    return (Transfer){.value = named(compiler, op, names->value),
                      .compare = named(compiler, op, names->compare),
                      .other = named(compiler, op, names->other),
                      .until = named(compiler, op, names->until),
                      .result = op->result_count ? value_register(compiler, &op->results[0]) : NO_REGISTER,
                      .type = moved_type(op, names, names->until ? names->until : names->value),
                      .times = 1,
                      .atomic = verb == EFFECT_UPDATE ? data_atomic(op) : ATOMIC_NONE,
                      .polls = names->until != NULL,
                      .gives_up = names->until && has_operand(op, "timeout"),
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
    transfer->integer = access.type != 'f';
    transfer->width = (uint16_t)access.bits;
    return true;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

static bool is_integer(Module *module, const Type *type) {
    type = type ? type_resolve(module, type) : NULL;
    if (type && type->kind == TYPE_TENSOR && type->element)
        type = type_resolve(module, type->element);
    return type && (type->kind == TYPE_INTEGER || type_is(type, STR("tt.ptr")));
}

/* Whoever reads the result of the op has it from here, and not from what came before the effects. */
static void take_over_load(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    uint32_t last = program->code_count - 1;
    if (program->code_count && program->code[last].code == CODE_LOAD && program->ops[last] == op)
        program->code[last].evaluator = 1;
}

/* Whether nothing but arguments, program ids, constants and what is loaded from global memory makes the value, without
 * a loop: its identity then says what it is, in every CTA. `steps` bounds the search. */
static bool is_followed(Compiler *compiler, const Value *value, unsigned *steps) {
    if (!*steps)
        return false;
    --*steps;
    const Op *op = value->is_result ? value->owner : NULL;
    if (!op)
        return value->owner == compiler->program->function->regions[0].first;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb != EFFECT_READ || effects[i].space != SPACE_GLOBAL)
            return false;
    if (op->region_count && !op_has_id(op, OP_tt_reduce) && !op_has_id(op, OP_tt_scan))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!is_followed(compiler, op->operands[i], steps))
            return false;
    return true;
}

void data_compile(Compiler *compiler, const Op *op, unsigned index, CompiledEffect *compiled) {
    Program *program = compiler->program;
    const Effect *effect = &compiled->effect;
    const DataOp *names = data_op(op);
    Transfer transfer;
    bool moves = false;
    compiled->strong = effect->order != ORDER_WEAK || is_volatile(op);
    if (names) {
        transfer = transfer_of_op(compiler, op, names, effect->verb);
        transfer.integer = is_integer(compiler->module, transfer.type);
        transfer.width = (uint16_t)type_bits(compiler->module, transfer.type);
        uint32_t count = 0;
        Value **values = names->value ? op_operands_named(op, names->value, &count) : NULL;
        unsigned steps = MOST_FOLLOWED;
        transfer.followed = count && effect->verb == EFFECT_WRITE && is_followed(compiler, values[0], &steps);
        moves = true;
    } else if (is_inline_ptx(op)) {
        moves = transfer_of_assembly(compiler, op, index, effect->repeats, &transfer);
    }
    transfer.width = moves && transfer.width < 8 ? 8 : transfer.width;
    if (moves && transfer.width % 8 == 0 && transfer.width <= 64) {
        transfer.steers = op->result_count && slice_has(&compiler->control, &op->results[0]);
        *ARENA_PUSH(&compiler->module->arena, program->transfers, program->transfer_count, program->transfer_capacity) =
            transfer;
        compiled->transfer = program->transfer_count - 1;
        if (transfer.result != NO_REGISTER)
            take_over_load(compiler, op);
    }
    compiled->stops = compiled->strong || (compiled->transfer != NO_TRANSFER && (transfer.steers || transfer.polls));
}
