/* Compiles a kernel's slice into instructions. Runs after the reader's checks: ops have the operands, regions and
 * terminators that their rows say. What is not understood makes the verdict incomplete, at its place. */
#include "emulate/program.h"

#include "emulate/slice.h"
#include "model/partition.h"
#include "model/root.h"

#include <stdio.h>
#include <stdlib.h>

/* The registers of one frame: a function's body, put in place at one call, or a partition's. */
typedef struct Frame {
    const Value **keys;
    uint32_t *registers;
    uint32_t capacity, count;
} Frame;

/* A jump whose target's address is not known yet. */
typedef struct Patch {
    const Block *to;
    uint32_t at;
} Patch;

typedef struct Pending {
    const Op *op; /* whose partitions are still to be compiled */
    uint32_t fork;
    Value **captured; /* by the regions of a warp group */
    uint32_t captured_count;
} Pending;

typedef struct Compiler {
    Module *module;
    Program *program;
    Verdict *verdict;
    unsigned flags;
    Slice slice;
    Frame *frame;
    uint32_t next_register, loop_depth, call_depth, strand;
    uint32_t *constants; /* of the strand: pairs */
    uint32_t constant_count, constant_capacity;
    const Value *const *returned; /* where the results of the call in place go; NULL in a kernel */
    uint32_t returns[64];         /* jumps to the end of the call in place */
    uint32_t return_count;
    int task; /* the ops of this task alone; -1: all */
    uint64_t tasks;
    Pending *pending;
    uint32_t pending_count, pending_capacity;
    bool reported_size;
    bool unassigned; /* the stages and phases of arefs do not mean anything yet */
} Compiler;

enum { MOST_INSTRUCTIONS = 1 << 20, MOST_CALL_DEPTH = 32, MOST_PARTITIONS = 15 };

/* Room for one more in an array of the program; what was there moves. */
#define PUSH(compiler, array, count, capacity)                                                                        \
    (((count) == (capacity) ? (void)((array) = grow_array(compiler, array, &(capacity), sizeof *(array))) : (void)0), \
     &(array)[(count)++])

static void *grow_array(Compiler *compiler, const void *old, uint32_t *capacity, size_t size) {
    uint32_t larger = *capacity ? *capacity * 2 : 32;
    char *items = ARENA_ARRAY(&compiler->module->arena, char, larger *size);
    if (*capacity)
        memcpy(items, old, *capacity * size);
    *capacity = larger;
    return items;
}

static bool is(const Op *op, OpId id) {
    return op && op->row && op->row->id == id;
}

static uint32_t line_of(Compiler *compiler, const Op *op) {
    return source_place(compiler->module->source, op->offset).line;
}

static const char *name_of(Compiler *compiler, const Op *op) {
    return arena_copy(&compiler->module->arena, op->name.data, op->name.size);
}

static void cannot(Compiler *compiler, const Op *op, const char *reason) {
    verdict_incomplete(compiler->verdict, name_of(compiler, op), line_of(compiler, op), "%s", reason);
}

/* ---- Registers ------------------------------------------------------------------------------------ */

static Frame *frame_new(Compiler *compiler) {
    Frame *frame = ARENA_NEW(&compiler->module->arena, Frame);
    frame->capacity = 256;
    frame->keys = ARENA_ARRAY(&compiler->module->arena, const Value *, frame->capacity);
    frame->registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, frame->capacity);
    return frame;
}

static uint32_t frame_place(const Frame *frame, const Value *value) {
    uint32_t at = (uint32_t)(((uint64_t)(uintptr_t)value >> 4) * 0x9e3779b97f4a7c15u >> 32) & (frame->capacity - 1);
    while (frame->keys[at] && frame->keys[at] != value)
        at = (at + 1) & (frame->capacity - 1);
    return at;
}

static void frame_set(Compiler *compiler, Frame *frame, const Value *value, uint32_t reg) {
    if (frame->count * 2 >= frame->capacity) {
        Frame old = *frame;
        frame->capacity *= 2;
        frame->keys = ARENA_ARRAY(&compiler->module->arena, const Value *, frame->capacity);
        frame->registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, frame->capacity);
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.keys[i]) {
                uint32_t at = frame_place(frame, old.keys[i]);
                frame->keys[at] = old.keys[i];
                frame->registers[at] = old.registers[i];
            }
    }
    uint32_t at = frame_place(frame, value);
    frame->count += frame->keys[at] == NULL;
    frame->keys[at] = value;
    frame->registers[at] = reg;
}

static bool wanted(const Compiler *compiler, const Value *value) {
    return slice_has(&compiler->slice, value);
}

/* The register of a value of the slice; NO_REGISTER for any other. */
static uint32_t reg(Compiler *compiler, const Value *value) {
    if (!value || !wanted(compiler, value))
        return NO_REGISTER;
    uint32_t at = frame_place(compiler->frame, value);
    if (compiler->frame->keys[at])
        return compiler->frame->registers[at];
    uint32_t fresh = compiler->next_register++;
    frame_set(compiler, compiler->frame, value, fresh);
    return fresh;
}

/* ---- Instructions --------------------------------------------------------------------------------- */

static Instruction *emit(Compiler *compiler, Code code, const Op *op) {
    Program *program = compiler->program;
    if (program->code_count >= MOST_INSTRUCTIONS) {
        if (!compiler->reported_size)
            cannot(compiler, op, "the kernel is too large to be emulated");
        compiler->reported_size = true;
        program->code_count = MOST_INSTRUCTIONS / 2; /* the program will not be run */
    }
    if (program->code_count == program->code_capacity) {
        uint32_t capacity = program->code_capacity;
        program->ops = grow_array(compiler, program->ops, &capacity, sizeof *program->ops);
    }
    Instruction *instruction = PUSH(compiler, program->code, program->code_count, program->code_capacity);
    *instruction =
        (Instruction){.code = (uint8_t)code, .dst = NO_REGISTER, .a = NO_REGISTER, .b = NO_REGISTER, .c = NO_REGISTER};
    program->ops[program->code_count - 1] = op;
    return instruction;
}

static uint32_t list_add(Compiler *compiler, uint32_t item) {
    Program *program = compiler->program;
    *PUSH(compiler, program->lists, program->list_count, program->list_capacity) = item;
    return program->list_count - 1;
}

/* The registers of `count` values as a list. */
static uint32_t list_of(Compiler *compiler, Value *const *values, uint32_t count) {
    uint32_t first = compiler->program->list_count;
    for (uint32_t i = 0; i < count; i++)
        list_add(compiler, reg(compiler, values[i]));
    return first;
}

static void move(Compiler *compiler, const Op *op, uint32_t to, uint32_t from) {
    if (to == NO_REGISTER || from == NO_REGISTER || to == from)
        return;
    Instruction *instruction = emit(compiler, CODE_MOVE, op);
    instruction->dst = to;
    instruction->a = from;
}

/* Hands values over to block arguments, all at once: a source may be the old value of another target. */
static void hand_over(Compiler *compiler, const Op *op, const uint32_t *to, const uint32_t *from, uint32_t count) {
    bool crossed = false;
    for (uint32_t i = 0; i < count && !crossed; i++)
        for (uint32_t k = 0; k < i && !crossed; k++)
            crossed = from[i] != NO_REGISTER && from[i] == to[k] && to[k] != from[k];
    if (!crossed) {
        for (uint32_t i = 0; i < count; i++)
            move(compiler, op, to[i], from[i]);
        return;
    }
    uint32_t first = compiler->next_register;
    compiler->next_register += count;
    for (uint32_t i = 0; i < count; i++)
        if (to[i] != NO_REGISTER)
            move(compiler, op, first + i, from[i]);
    for (uint32_t i = 0; i < count; i++)
        if (to[i] != NO_REGISTER && from[i] != NO_REGISTER)
            move(compiler, op, to[i], first + i);
}

/* The same for values, from operands on to results or arguments; `to` may be shorter. */
static void hand_values(Compiler *compiler, const Op *op, Value *to, uint32_t to_count, Value *const *from,
                        uint32_t from_count) {
    uint32_t count = to_count < from_count ? to_count : from_count;
    uint32_t *registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++) {
        registers[i] = reg(compiler, &to[i]);
        registers[count + i] = registers[i] == NO_REGISTER ? NO_REGISTER : reg(compiler, from[i]);
    }
    hand_over(compiler, op, registers, registers + count, count);
}

static unsigned bits_of(Module *module, const Type *type) {
    type = type ? type_resolve(module, type) : NULL;
    if (!type)
        return 64;
    if (type->element && (type->kind == TYPE_TENSOR || type->kind == TYPE_VECTOR))
        return bits_of(module, type->element);
    return type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT ? type->width : 64;
}

/* ---- Pure ops ------------------------------------------------------------------------------------- */

static void compile_constant(Compiler *compiler, uint32_t dst, Word word) {
    Program *program = compiler->program;
    *PUSH(compiler, program->constants, program->constant_count, program->constant_capacity) = word;
    *PUSH(compiler, compiler->constants, compiler->constant_count, compiler->constant_capacity) = dst;
    *PUSH(compiler, compiler->constants, compiler->constant_count, compiler->constant_capacity) =
        program->constant_count - 1;
}

static void compile_pure(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!wanted(compiler, &op->results[i]))
            continue;
        Evaluation how = evaluation_of(compiler->module, op, i);
        uint32_t dst = reg(compiler, &op->results[i]);
        if (!op->operand_count) {
            compile_constant(compiler, dst, evaluate(&how, NULL, 0, &compiler->module->arena));
            continue;
        }
        *PUSH(compiler, program->evaluations, program->evaluation_count, program->evaluation_capacity) = how;
        if (!how.tensor && op->operand_count <= 3) {
            uint32_t a = reg(compiler, op->operands[0]);
            uint32_t b = op->operand_count > 1 ? reg(compiler, op->operands[1]) : a;
            uint32_t c = op->operand_count > 2 ? reg(compiler, op->operands[2]) : a;
            Instruction *instruction = emit(compiler, CODE_INTEGER, op);
            instruction->evaluator = (uint8_t)how.code;
            instruction->width = how.width;
            instruction->operand_width = how.operand_width;
            instruction->dst = dst;
            instruction->a = a;
            instruction->b = b;
            instruction->c = c;
            instruction->aux = program->evaluation_count - 1;
            continue;
        }
        uint32_t list = list_of(compiler, op->operands, op->operand_count);
        Instruction *instruction = emit(compiler, CODE_EVALUATE, op);
        instruction->dst = dst;
        instruction->a = list;
        instruction->b = op->operand_count;
        instruction->aux = program->evaluation_count - 1;
    }
}

static void compile_number(Compiler *compiler, const Op *op, uint32_t result, Code code, uint32_t aux, uint32_t a) {
    if (result >= op->result_count || !wanted(compiler, &op->results[result]))
        return;
    uint32_t dst = reg(compiler, &op->results[result]);
    Instruction *instruction = emit(compiler, code, op);
    instruction->dst = dst;
    instruction->aux = aux;
    instruction->a = a;
}

static uint32_t axis_of(const Op *op, const char *name) {
    const Attr *axis = op_attr(op, name);
    if (!axis)
        return 0;
    if (axis->kind == ATTR_INTEGER)
        return axis->integer > 0 && axis->integer < 3 ? (uint32_t)axis->integer : 0;
    return axis->text.size && axis->text.data[0] == 'y' ? 1 : axis->text.size && axis->text.data[0] == 'z' ? 2 : 0;
}

/* A value read from global memory. */
static void compile_load(Compiler *compiler, const Op *op, AtomicKind atomic) {
    if (!op->result_count || !wanted(compiler, &op->results[0]))
        return;
    Program *program = compiler->program;
    const Type *type = type_resolve(compiler->module, op->results[0].type);
    const Type *element = type && type->element && type->kind == TYPE_TENSOR ? type->element : type;
    *PUSH(compiler, program->loads, program->load_count, program->load_capacity) =
        (CompiledLoad){.op = op,
                       .width = (uint16_t)bits_of(compiler->module, element),
                       .integer = element && (element->kind == TYPE_INTEGER || type_is(element, STR("tt.ptr"))),
                       .atomic = atomic,
                       .type = type};
    uint32_t count = 0, mask = NO_REGISTER, other = NO_REGISTER;
    if (is(op, OP_tt_load)) {
        Value **at = op_operands_at(op, 1, &count);
        mask = count ? reg(compiler, at[0]) : NO_REGISTER;
        at = op_operands_at(op, 2, &count);
        other = count ? reg(compiler, at[0]) : NO_REGISTER;
    } else if (op->operand_count > 2 && atomic == ATOMIC_CAS) {
        mask = reg(compiler, op->operands[2]);
        other = reg(compiler, op->operands[1]);
    } else if (op->operand_count > 1) {
        mask = reg(compiler, op->operands[1]);
    }
    uint32_t pointer = op->operand_count ? reg(compiler, op->operands[0]) : NO_REGISTER;
    uint32_t dst = reg(compiler, &op->results[0]);
    Instruction *instruction = emit(compiler, CODE_LOAD, op);
    instruction->dst = dst;
    instruction->a = pointer;
    instruction->b = mask;
    instruction->c = other;
    instruction->aux = program->load_count - 1;
}

static AtomicKind atomic_of(const Op *op) {
    const Attr *kind = op_attr(op, "atomic_rmw_op");
    if (!kind)
        return ATOMIC_OTHER;
    bool number = kind->kind == ATTR_INTEGER;
    if (number ? kind->integer == 4 : str_is(kind->text, "add"))
        return ATOMIC_ADD;
    if (number ? kind->integer == 10 : str_is(kind->text, "exch"))
        return ATOMIC_EXCHANGE;
    return ATOMIC_OTHER;
}

static int slot_named(const Op *op, const char *name) {
    return op->row ? op_slot(op->row->operands, op->row->operand_count, str_of(name)) : -1;
}

static Value **operands_named(const Op *op, const char *name, uint32_t *count) {
    int slot = slot_named(op, name);
    *count = 0;
    return slot < 0 ? NULL : op_operands_at(op, (unsigned)slot, count);
}

static uint32_t operand_named(Compiler *compiler, const Op *op, const char *name) {
    uint32_t count;
    Value **values = operands_named(op, name, &count);
    return count == 1 ? reg(compiler, values[0]) : NO_REGISTER;
}

static uint32_t operands_list(Compiler *compiler, const Op *op, const char *name, uint32_t *count) {
    Value **values = operands_named(op, name, count);
    return list_of(compiler, values, *count);
}

static void compile_descriptor(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    uint32_t rank, strides, boxes;
    Maker maker = {.op = op, .pointer = NO_REGISTER};
    if (is(op, OP_tt_make_tensor_descriptor)) {
        maker.base = operand_named(compiler, op, "base");
        maker.shape = operands_list(compiler, op, "shape", &rank);
        maker.strides = operands_list(compiler, op, "strides", &strides);
    } else { /* the innermost dimension comes first */
        maker.pointer = operand_named(compiler, op, "desc_ptr");
        maker.base = operand_named(compiler, op, "global_address");
        maker.shape = operands_list(compiler, op, "global_dim", &rank);
        maker.strides = operands_list(compiler, op, "global_stride", &strides);
        maker.box = operands_list(compiler, op, "box_dim", &boxes);
        maker.box_count = boxes;
    }
    maker.rank = rank;
    *PUSH(compiler, program->makers, program->maker_count, program->maker_capacity) = maker;
    uint32_t dst = op->result_count ? reg(compiler, &op->results[0]) : NO_REGISTER;
    if (dst == NO_REGISTER && maker.pointer == NO_REGISTER)
        return;
    Instruction *instruction = emit(compiler, CODE_DESCRIPTOR, op);
    instruction->dst = dst;
    instruction->aux = program->maker_count - 1;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

static bool touches_memory(EffectVerb verb) {
    return verb == EFFECT_READ || verb == EFFECT_WRITE || verb == EFFECT_UPDATE;
}

/* Whether the emulator does anything about it: not views (they are values), not fences (they order accesses, not time).
 */
static bool runs(const Compiler *compiler, const Effect *effect) {
    switch (effect->verb) {
    case EFFECT_VIEW:
    case EFFECT_ALLOCATE:
    case EFFECT_FREE:
    case EFFECT_ANYTHING:
        return false;
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        return effect->space != SPACE_GLOBAL || (compiler->flags & COMPILE_GLOBAL);
    default:
        return true;
    }
}

static bool is_memdesc(Module *module, const Value *value) {
    const Type *type = value && value->type ? type_resolve(module, value->type) : NULL;
    return type && type_is(type, STR("ttg.memdesc"));
}

static bool is_token(Module *module, const Value *value) {
    const Type *type = value && value->type ? type_resolve(module, value->type) : NULL;
    return type && type->kind == TYPE_TENSOR;
}

/* Whether all CTAs of a cluster share one barrier of that type: its layout says that no bit of the CTA's rank moves it.
 */
static bool barrier_is_shared(Compiler *compiler, const Type *type) {
    const Program *program = compiler->program;
    type = type ? type_resolve(compiler->module, type) : NULL;
    if (program->ctas < 2 || program->ranks_are_programs || !type || !type->param_count)
        return false;
    const Attr *encoding = NULL;
    for (uint32_t i = 0; i < type->param_count && !encoding; i++)
        if (type->params[i].size && type->params[i].data[0] == '#')
            encoding = attr_find(compiler->module, type->params[i]);
    encoding = encoding ? attr_resolve(compiler->module, encoding) : NULL;
    Str body = encoding ? encoding->body : (Str){"", 0};
    const char *at = body.size ? memmem(body.data, body.size, "CGALayout", strlen("CGALayout")) : NULL;
    if (!at)
        return false;
    uint32_t bases = 0;
    for (const char *end = body.data + body.size; at < end && program->ctas >> bases > 1; at++) {
        if (*at >= '1' && *at <= '9')
            return false;
        bases += *at == ']';
    }
    return true;
}

static uint32_t ring_of(const Value *value) {
    const Op *op = value && value->is_result ? value->owner : NULL;
    const Attr *buffers = op ? op_attr(op, "numBuffers") : NULL;
    if (buffers && buffers->kind == ATTR_INTEGER && buffers->integer > 0 && buffers->integer < 1 << 16)
        return (uint32_t)buffers->integer;
    return 1;
}

/* Inline assembly on registers alone, without an instruction that touches memory or synchronises. */
static bool is_harmless_assembly(const Op *op) {
    static const char *const words[] = {"bar",        "fence", "membar", "cp.",  "tcgen05", "wgmma",    "mma",
                                        "ld.",        "st.",   "atom",   "red.", "try_",    "griddep",  "nanosleep",
                                        "setmaxnreg", "elect", "call",   "trap", "exit",    "tensormap"};
    const Attr *text = is(op, OP_tt_elementwise_inline_asm) ? op_attr(op, "asm_string") : NULL;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (memmem(text->text.data, text->text.size, words[i], strlen(words[i])))
            return false;
    return text != NULL;
}

static uint64_t hash_text(Str text) {
    uint64_t hash = 0;
    for (size_t i = 0; i < text.size; i++)
        hash = identity_mix(hash, (unsigned char)text.data[i]);
    return hash;
}

/* Before stages and phases are assigned, arefs are written without them, or with zeros in their place: a put that waits
 * for parity 0 on a fresh barrier is none that anybody means. */
static bool arefs_are_unassigned(const Op *root) {
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        uint32_t count = 0;
        if (!is(op, OP_nvws_aref_put_enter))
            continue;
        Value **phase = operands_named(op, "phase", &count);
        if (!count)
            return true;
        const Op *constant = count && phase[0]->is_result ? phase[0]->owner : NULL;
        const Attr *value = is(constant, OP_arith_constant) ? op_attr(constant, "value") : NULL;
        if (value && value->kind == ATTR_INTEGER && value->integer == 0)
            return true;
    }
    return false;
}

/* How many arrivals a phase of an aref's side takes: one for each partition that leaves it, and each way of leaving. */
static int64_t aref_arrivals(Compiler *compiler, const Op *aref, Side side) {
    enum { MOST = 64 };
    uint64_t ways[MOST];
    unsigned count = 0;
    const Op *root = compiler->program->function;
    OpId leaves = side == SIDE_FULL ? OP_nvws_aref_put_exit : OP_nvws_aref_get_exit;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        if (!is(op, leaves) || root_of(compiler->module, op->operands[0]) != aref || count == MOST)
            continue;
        const Attr *kinds = op_attr(op, "async_ops");
        uint64_t way = identity_mix(partitions_of(op).mask, kinds ? hash_text(kinds->text) : 0);
        unsigned i = 0;
        while (i < count && ways[i] != way)
            i++;
        if (i == count)
            ways[count++] = way;
    }
    return count ? count : 1;
}

static void compile_effects(Compiler *compiler, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    Program *program = compiler->program;
    uint32_t first = program->effect_count;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if (effect->verb == EFFECT_ANYTHING && is_harmless_assembly(op))
            continue;
        if (effect->verb == EFFECT_ANYTHING) {
            bool matters = !op->operand_count;
            for (uint32_t k = 0; k < op->operand_count; k++)
                matters |= is_memdesc(compiler->module, op->operands[k]);
            if (matters || op->region_count)
                cannot(compiler, op, op->row ? "what it does to memory is not known" : "the op is not known");
            continue;
        }
        if (!runs(compiler, effect))
            continue;
        CompiledEffect compiled = {.effect = *effect,
                                   .on = reg(compiler, effect->on),
                                   .amount = reg(compiler, effect->amount),
                                   .through = reg(compiler, effect->through),
                                   .predicate = reg(compiler, effect->predicate),
                                   .second_predicate = reg(compiler, effect->second_predicate),
                                   .slot = reg(compiler, effect->slot),
                                   .descriptor = operand_named(compiler, op, "desc"),
                                   .type = effect->on ? effect->on->type : NULL,
                                   .bytes = effect->count};
        if (compiler->unassigned && effect->side != SIDE_NONE && !is_token(compiler->module, effect->on))
            compiled.slot = compiled.amount = NO_REGISTER;
        compiled.pair = effect->pair && effect->helper == HELPER_TENSOR && program->ctas > 1;
        compiled.coordinates = operands_list(compiler, op, "coord", &compiled.coordinate_count);
        if (effect->verb == EFFECT_COMPLETE && effect->amount && is_memdesc(compiler->module, effect->amount))
            compiled.bytes = memdesc_transfer_bytes(compiler->module, effect->amount->type);
        if (effect->verb == EFFECT_INIT && is(op, OP_nvws_aref_create))
            compiled.effect.count = aref_arrivals(compiler, op, effect->side);
        if (is_memdesc(compiler->module, effect->on) && !touches_memory(effect->verb)) {
            compiled.shared_by_ctas = barrier_is_shared(compiler, effect->on->type);
            if (effect->verb == EFFECT_INIT && compiled.shared_by_ctas) {
                const Type *type = type_resolve(compiler->module, effect->on->type);
                compiled.effect.count *=
                    program->ctas / (type->dims[type->dim_count - 1] ? type->dims[type->dim_count - 1] : 1);
            }
        }
        *PUSH(compiler, program->effects, program->effect_count, program->effect_capacity) = compiled;
    }
    if (program->effect_count == first)
        return;
    Instruction *instruction = emit(compiler, CODE_EFFECTS, op);
    instruction->aux = first;
    instruction->a = program->effect_count - first;
}

/* ---- Control flow --------------------------------------------------------------------------------- */

static void compile_region(Compiler *compiler, const Region *region);
static void compile_block(Compiler *compiler, const Block *block);

static uint32_t here(const Compiler *compiler) {
    return compiler->program->code_count;
}

/* Emits a jump to be aimed later; returns its address. */
static uint32_t jump_from(Compiler *compiler, const Op *op, Code code, uint32_t condition) {
    Instruction *instruction = emit(compiler, code, op);
    instruction->a = condition;
    return here(compiler) - 1;
}

static void aim(Compiler *compiler, uint32_t jump, uint32_t target) {
    compiler->program->code[jump].aux = target;
}

static bool is_constant(const Value *value) {
    return value->is_result && is(value->owner, OP_arith_constant);
}

static void compile_for(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Block *body = op->regions[0].first;
    uint32_t lower = reg(compiler, op->operands[0]), upper = reg(compiler, op->operands[1]);
    uint32_t step = reg(compiler, op->operands[2]);
    /* The bounds are read once: a body may hand its own values to registers of the same names. */
    *PUSH(compiler, program->loops, program->loop_count, program->loop_capacity) =
        (Loop){.op = op,
               .strand = compiler->strand,
               .depth = compiler->loop_depth,
               .closed = is_constant(op->operands[0]) && is_constant(op->operands[1]) && is_constant(op->operands[2])};
    uint32_t loop = program->loop_count - 1;
    hand_values(compiler, op, body->args + 1, body->arg_count - 1, op->operands + 3, op->operand_count - 3);
    uint32_t counter = wanted(compiler, &body->args[0]) ? reg(compiler, &body->args[0]) : compiler->next_register++;
    Instruction *enter = emit(compiler, CODE_LOOP, op);
    enter->dst = counter;
    enter->a = lower;
    enter->b = upper;
    enter->c = step;
    enter->aux = loop;
    enter->width = (uint8_t)bits_of(compiler->module, body->args[0].type);
    uint32_t head = here(compiler);
    Instruction *test = emit(compiler, CODE_FOR, op);
    test->dst = counter;
    test->b = upper;
    test->c = step;
    test->width = enter->width;
    const Attr *is_unsigned = op_attr(op, "unsignedCmp");
    test->operand_width = is_unsigned != NULL;
    compiler->loop_depth++;
    compile_block(compiler, body);
    compiler->loop_depth--;
    const Op *yield = body->last;
    hand_values(compiler, op, body->args + 1, body->arg_count - 1, yield->operands, yield->operand_count);
    Instruction *next = emit(compiler, CODE_NEXT, op);
    next->dst = counter;
    next->c = step;
    next->width = test->width = enter->width;
    next->aux = head;
    aim(compiler, head, here(compiler));
    Value **final = ARENA_ARRAY(&compiler->module->arena, Value *, body->arg_count);
    for (uint32_t i = 1; i < body->arg_count; i++)
        final[i - 1] = &body->args[i];
    hand_values(compiler, op, op->results, op->result_count, final, body->arg_count - 1);
}

static void compile_while(Compiler *compiler, const Op *op) {
    const Block *before = op->regions[0].first, *after = op->regions[1].first;
    hand_values(compiler, op, before->args, before->arg_count, op->operands, op->operand_count);
    uint32_t head = here(compiler);
    emit(compiler, CODE_AGAIN, op);
    compiler->loop_depth++;
    compile_block(compiler, before);
    const Op *condition = before->last;
    uint32_t out = jump_from(compiler, condition, CODE_BRANCH, reg(compiler, condition->operands[0]));
    hand_values(compiler, condition, after->args, after->arg_count, condition->operands + 1,
                condition->operand_count - 1);
    compile_block(compiler, after);
    hand_values(compiler, op, before->args, before->arg_count, after->last->operands, after->last->operand_count);
    compiler->loop_depth--;
    aim(compiler, jump_from(compiler, op, CODE_JUMP, NO_REGISTER), head);
    aim(compiler, out, here(compiler));
    hand_values(compiler, condition, op->results, op->result_count, condition->operands + 1,
                condition->operand_count - 1);
}

/* A region that stands for a value: what it hands over at its end becomes the op's results. */
static void compile_yielding(Compiler *compiler, const Op *op, const Region *region) {
    if (!region->first)
        return;
    if (region->block_count > 1) { /* only scf.execute_region may */
        compile_region(compiler, region);
        return;
    }
    compile_block(compiler, region->first);
    const Op *yield = region->first->last;
    if (yield && yield->row && (yield->row->traits & TERMINATOR))
        hand_values(compiler, op, op->results, op->result_count, yield->operands, yield->operand_count);
}

static void compile_if(Compiler *compiler, const Op *op) {
    uint32_t otherwise = jump_from(compiler, op, CODE_BRANCH, reg(compiler, op->operands[0]));
    compile_yielding(compiler, op, &op->regions[0]);
    if (op->region_count < 2 || !op->regions[1].first) {
        aim(compiler, otherwise, here(compiler));
        return;
    }
    uint32_t end = jump_from(compiler, op, CODE_JUMP, NO_REGISTER);
    aim(compiler, otherwise, here(compiler));
    compile_yielding(compiler, op, &op->regions[1]);
    aim(compiler, end, here(compiler));
}

static uint32_t compile_case(Compiler *compiler, const Op *op, uint32_t value, int64_t number) {
    Program *program = compiler->program;
    *PUSH(compiler, program->cases, program->case_count, program->case_capacity) = number;
    Instruction *test = emit(compiler, CODE_SWITCH, op);
    test->a = value;
    test->b = program->case_count - 1;
    return here(compiler) - 1;
}

static void compile_index_switch(Compiler *compiler, const Op *op) {
    const Attr *cases = op_attr(op, "cases");
    uint32_t value = reg(compiler, op->operands[0]);
    uint32_t count = cases && cases->kind == ATTR_INTS ? cases->count : 0;
    if (count + 1 != op->region_count) {
        cannot(compiler, op, "its cases do not match its regions");
        return;
    }
    uint32_t *tests = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        tests[i] = compile_case(compiler, op, value, cases->ints[i]);
    compile_yielding(compiler, op, &op->regions[0]);
    uint32_t end = jump_from(compiler, op, CODE_JUMP, NO_REGISTER);
    for (uint32_t i = 0; i < count; i++) {
        aim(compiler, tests[i], here(compiler));
        compile_yielding(compiler, op, &op->regions[i + 1]);
        tests[count + i] = jump_from(compiler, op, CODE_JUMP, NO_REGISTER);
    }
    for (uint32_t i = 0; i < count; i++)
        aim(compiler, tests[count + i], here(compiler));
    aim(compiler, end, here(compiler));
}

static void compile_call(Compiler *compiler, const Op *op) {
    const Op *target = call_target(compiler->module, op);
    if (!target || compiler->call_depth >= MOST_CALL_DEPTH) {
        cannot(compiler, op, target ? "calls are nested too deeply" : "the function that it calls has no body here");
        return;
    }
    Frame *caller = compiler->frame, *callee = frame_new(compiler);
    const Block *entry = target->regions[0].first;
    uint32_t count = entry->arg_count < op->operand_count ? entry->arg_count : op->operand_count;
    uint32_t *registers = ARENA_ARRAY(&compiler->module->arena, uint32_t, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++)
        registers[count + i] = wanted(compiler, &entry->args[i]) ? reg(compiler, op->operands[i]) : NO_REGISTER;
    uint32_t *results = ARENA_ARRAY(&compiler->module->arena, uint32_t, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        results[i] = reg(compiler, &op->results[i]);

    const Value **returned = ARENA_ARRAY(&compiler->module->arena, const Value *, op->result_count + 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        returned[i] = &op->results[i];
    const Value *const *outer_returned = compiler->returned;
    uint32_t outer_returns[64], outer_count = compiler->return_count;
    memcpy(outer_returns, compiler->returns, sizeof outer_returns);

    compiler->frame = callee;
    for (uint32_t i = 0; i < count; i++)
        registers[i] = reg(compiler, &entry->args[i]);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (results[i] != NO_REGISTER)
            frame_set(compiler, callee, &op->results[i], results[i]);
    hand_over(compiler, op, registers, registers + count, count);
    compiler->returned = returned;
    compiler->return_count = 0;
    compiler->call_depth++;
    compile_region(compiler, &target->regions[0]);
    compiler->call_depth--;
    for (uint32_t i = 0; i < compiler->return_count; i++)
        aim(compiler, compiler->returns[i], here(compiler));
    compiler->returned = outer_returned;
    memcpy(compiler->returns, outer_returns, sizeof outer_returns);
    compiler->return_count = outer_count;
    compiler->frame = caller;
}

static void compile_return(Compiler *compiler, const Op *op) {
    if (!compiler->returned) {
        emit(compiler, CODE_END, op);
        return;
    }
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t to = reg(compiler, compiler->returned[i]);
        move(compiler, op, to, to == NO_REGISTER ? NO_REGISTER : reg(compiler, op->operands[i]));
    }
    if (compiler->return_count == sizeof compiler->returns / sizeof *compiler->returns) {
        cannot(compiler, op, "the function returns in too many places");
        return;
    }
    compiler->returns[compiler->return_count++] = jump_from(compiler, op, CODE_JUMP, NO_REGISTER);
}

static const Op *partitions_op(const Op *specialize) {
    return specialize->region_count > 1 ? region_end(&specialize->regions[1]) : NULL;
}

static void compile_specialize(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const Op *holder = partitions_op(op);
    if (!holder || compiler->strand != 0 || compiler->call_depth) {
        if (holder)
            cannot(compiler, op, "a warp_specialize inside a called function or a partition is not emulated");
        compile_yielding(compiler, op, &op->regions[0]);
        return;
    }
    const Op *captured = holder->operand_count ? holder : op;
    uint32_t captures = list_of(compiler, captured->operands, captured->operand_count);
    Fork *fork = PUSH(compiler, program->forks, program->fork_count, program->fork_capacity);
    *fork = (Fork){
        .op = op, .captures = captures, .capture_count = captured->operand_count, .strand_count = holder->region_count};
    uint32_t index = program->fork_count - 1;
    *PUSH(compiler, compiler->pending, compiler->pending_count, compiler->pending_capacity) =
        (Pending){.op = holder, .fork = index};
    if (holder->region_count > MOST_PARTITIONS)
        cannot(compiler, op, "there are more than 15 partitions");
    emit(compiler, CODE_FORK, op)->aux = index;
    compile_yielding(compiler, op, &op->regions[0]);
    emit(compiler, CODE_JOIN, op)->aux = index;
}

static bool is_inside(const Value *value, const Op *op) {
    const Op *at = value->is_result ? op_parent(value->owner) : ((const Block *)value->owner)->region->op;
    while (at && at != op)
        at = op_parent(at);
    return at != NULL;
}

/* Regions that see the values around them: the first is the default agent's, the others are partitions, which capture
 * what they use. */
static void compile_group(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    if (compiler->strand != 0 || compiler->call_depth || op->region_count > MOST_PARTITIONS) {
        cannot(compiler, op, "a warp group inside another, or of more than 15 partitions, is not emulated");
        return;
    }
    Value **captured = NULL;
    uint32_t count = 0, capacity = 0;
    Frame *seen = frame_new(compiler);
    for (const Op *user = op; user; user = op_next_in_walk(user, op))
        for (uint32_t i = 0; user != op && i < user->operand_count; i++) {
            Value *value = user->operands[i];
            if (!wanted(compiler, value) || is_inside(value, op) || seen->keys[frame_place(seen, value)])
                continue;
            frame_set(compiler, seen, value, 0);
            *PUSH(compiler, captured, count, capacity) = value;
        }
    uint32_t captures = list_of(compiler, captured, count);
    *PUSH(compiler, program->forks, program->fork_count, program->fork_capacity) =
        (Fork){.op = op,
               .captures = captures,
               .capture_count = count,
               .strand_count = op->region_count ? op->region_count - 1 : 0};
    uint32_t index = program->fork_count - 1;
    *PUSH(compiler, compiler->pending, compiler->pending_count, compiler->pending_capacity) =
        (Pending){.op = op, .fork = index, .captured = captured, .captured_count = count};
    emit(compiler, CODE_FORK, op)->aux = index;
    if (op->region_count)
        compile_yielding(compiler, op, &op->regions[0]);
    emit(compiler, CODE_JOIN, op)->aux = index;
}

/* The successors' arguments, then the jump. */
static void compile_edge(Compiler *compiler, const Op *op, const Block *to, Value *const *values, Patch **patches,
                         uint32_t *count, uint32_t *capacity) {
    hand_values(compiler, op, to->args, to->arg_count, values, to->arg_count);
    Patch *patch = PUSH(compiler, *patches, *count, *capacity);
    *patch = (Patch){to, jump_from(compiler, op, CODE_JUMP, NO_REGISTER)};
}

/* Blocks that branch to each other: each in its order, then the jumps are aimed. */
static void compile_region(Compiler *compiler, const Region *region) {
    Patch *patches = NULL;
    uint32_t patch_count = 0, patch_capacity = 0;
    uint32_t *starts = ARENA_ARRAY(&compiler->module->arena, uint32_t, region->block_count + 1);
    const Op *holder = region->op;
    bool yields = holder && !op_function(holder) && !is(holder, OP_ttg_warp_specialize_partitions) &&
                  !is(holder, OP_nvws_warp_group);
    uint32_t *ends = ARENA_ARRAY(&compiler->module->arena, uint32_t, region->block_count + 1);
    uint32_t end_count = 0, order = 0;
    for (const Block *block = region->first; block; block = block->next, order++) {
        starts[order] = here(compiler);
        if (region->block_count > 1)
            emit(compiler, CODE_AGAIN, block->first ? block->first : holder);
        compile_block(compiler, block);
        const Op *end = block->last;
        uint32_t successors = end ? op_successor_count(end) : 0;
        if (is(end, OP_cf_br) && successors == 1) {
            compile_edge(compiler, end, end->extra->successors[0], end->operands, &patches, &patch_count,
                         &patch_capacity);
        } else if (is(end, OP_cf_cond_br) && successors == 2) {
            const Block *yes = end->extra->successors[0], *no = end->extra->successors[1];
            if (end->operand_count != 1 + yes->arg_count + no->arg_count) {
                cannot(compiler, end, "its operands do not match its successors");
                continue;
            }
            uint32_t otherwise = jump_from(compiler, end, CODE_BRANCH, reg(compiler, end->operands[0]));
            compile_edge(compiler, end, yes, end->operands + 1, &patches, &patch_count, &patch_capacity);
            aim(compiler, otherwise, here(compiler));
            compile_edge(compiler, end, no, end->operands + 1 + yes->arg_count, &patches, &patch_count,
                         &patch_capacity);
        } else if (successors) {
            cannot(compiler, end, "this way of branching is not emulated");
        } else if (end && yields) { /* the end of an scf.execute_region */
            hand_values(compiler, end, holder->results, holder->result_count, end->operands, end->operand_count);
            ends[end_count++] = jump_from(compiler, end, CODE_JUMP, NO_REGISTER);
        }
    }
    for (uint32_t i = 0; i < end_count; i++)
        aim(compiler, ends[i], here(compiler));
    for (uint32_t i = 0; i < patch_count; i++) {
        const Block *to = patches[i].to;
        uint32_t k = 0;
        for (const Block *block = region->first; block && block != to; block = block->next)
            k++;
        aim(compiler, patches[i].at, starts[k]);
    }
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* Ops say which task or partition runs them; there are no regions yet. */
static bool is_task_form(PartitionForm form) {
    return form == PARTITION_TASKS || form == PARTITION_SCHEDULED;
}

/* In IR whose ops carry task ids, whether this strand runs the op's effects. */
static bool is_mine(const Compiler *compiler, const Op *op) {
    if (compiler->task < 0)
        return true;
    Partitions partitions = partitions_of(op);
    if (!partitions.mask)
        return compiler->task == 0;
    return partitions.mask >> compiler->task & 1;
}

static void compile_view(Compiler *compiler, const Op *op, const Effect *effect) {
    Program *program = compiler->program;
    uint32_t dst = reg(compiler, effect->on);
    if (dst == NO_REGISTER)
        return;
    if (is(op, OP_nvws_aref_create)) { /* what is allocated are its barriers; the buffers are kept beside them */
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t buffer = reg(compiler, op->operands[i]);
            if (op->operands[i] != effect->amount || buffer == NO_REGISTER)
                continue;
            Instruction *keep = emit(compiler, CODE_KEEP_BUFFER, op);
            keep->a = buffer;
            keep->b = dst;
            keep->aux = i;
        }
        return;
    }
    if (!is_memdesc(compiler->module, effect->on)) {
        move(compiler, op, dst, reg(compiler, effect->amount));
        return;
    }
    ViewStep step = view_step_of_result(compiler->module, op, effect->on->index);
    bool of_aref = !is_memdesc(compiler->module, effect->amount);
    if (step.problem && !of_aref) /* an aref that has no stage yet is indexed by the uses of each agent */
        cannot(compiler, op, step.problem);
    *PUSH(compiler, program->views, program->view_count, program->view_capacity) = step;
    uint32_t source = reg(compiler, effect->amount), index = reg(compiler, step.index), rank = reg(compiler, step.rank);
    Instruction *instruction = emit(compiler, of_aref ? CODE_BUFFER : CODE_VIEW, op);
    instruction->dst = dst;
    instruction->a = source;
    instruction->b = of_aref && compiler->unassigned ? NO_REGISTER : index;
    instruction->c = of_aref ? effect->on->index : rank;
    instruction->aux = program->view_count - 1;
}

static void compile_allocation(Compiler *compiler, const Op *op) {
    const Allocation *allocation = allocation_find(&compiler->program->allocations, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const Type *type = op->results[i].type ? type_resolve(compiler->module, op->results[i].type) : NULL;
        if (!wanted(compiler, &op->results[i]) || (type && type_is(type, STR("ttg.async.token"))))
            continue;
        if (!allocation) {
            cannot(compiler, op, "where it allocates is not known");
            return;
        }
        uint32_t dst = reg(compiler, &op->results[i]);
        Instruction *instruction = emit(compiler, CODE_ALLOCATE, op);
        instruction->dst = dst;
        instruction->aux = (uint32_t)(allocation - compiler->program->allocations.items);
    }
}

/* Views and allocations give values: true in *gives. Returns true if that was all there is to the op. */
static bool compile_places(Compiler *compiler, const Op *op, bool *gives) {
    Effect effects[EFFECTS_MOST];
    unsigned count = op->row && *op->row->effects ? effects_of(compiler->module, op, effects) : 0;
    bool only = count > 0;
    for (unsigned i = 0; i < count; i++) {
        bool place = effects[i].verb == EFFECT_VIEW || effects[i].verb == EFFECT_ALLOCATE;
        if (effects[i].verb == EFFECT_VIEW)
            compile_view(compiler, op, &effects[i]);
        else if (effects[i].verb == EFFECT_ALLOCATE)
            compile_allocation(compiler, op);
        *gives |= place;
        only &= place;
    }
    return only;
}

static void compile_clc(Compiler *compiler, const Op *op) {
    switch (op->row->id) {
    case OP_ttng_clc_load_result:
        compile_number(compiler, op, 0, CODE_CLC, 0, reg(compiler, op->operands[0]));
        break;
    case OP_ttng_clc_is_canceled:
        compile_number(compiler, op, 0, CODE_CLC, 1, reg(compiler, op->operands[0]));
        break;
    case OP_ttng_clc_get_program_id:
        compile_number(compiler, op, 0, CODE_CLC, 2 + axis_of(op, "dim"), reg(compiler, op->operands[0]));
        break;
    default: { /* clc_query_cancel: reads memory, and gives the program or -1 */
        uint32_t answer = compiler->next_register++;
        uint32_t source = reg(compiler, op->operands[0]);
        Instruction *read = emit(compiler, CODE_CLC, op);
        read->dst = answer;
        read->a = source;
        for (uint32_t i = 0; i < op->result_count && i < 3; i++)
            compile_number(compiler, op, i, CODE_CLC, 5 + i, answer);
    }
    }
}

static bool has_effect(Compiler *compiler, const Op *op) {
    Effect effects[EFFECTS_MOST];
    return effects_of(compiler->module, op, effects) > 0;
}

static void compile_op(Compiler *compiler, const Op *op) {
    bool gives = false;
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_scf_for:
        compile_for(compiler, op);
        return;
    case OP_scf_while:
        compile_while(compiler, op);
        return;
    case OP_scf_if:
        compile_if(compiler, op);
        return;
    case OP_ttg_mask: { /* its region runs if the predicate holds */
        uint32_t skip = jump_from(compiler, op, CODE_BRANCH, reg(compiler, op->operands[0]));
        compile_yielding(compiler, op, &op->regions[0]);
        aim(compiler, skip, here(compiler));
        return;
    }
    case OP_scf_index_switch:
        compile_index_switch(compiler, op);
        return;
    case OP_scf_execute_region:
        compile_yielding(compiler, op, &op->regions[0]);
        return;
    case OP_tt_call:
    case OP_func_call:
        compile_call(compiler, op);
        return;
    case OP_tt_return:
    case OP_func_return:
        compile_return(compiler, op);
        return;
    case OP_ttg_warp_return:
        emit(compiler, CODE_END, op);
        return;
    case OP_ttg_warp_specialize:
        compile_specialize(compiler, op);
        return;
    case OP_nvws_warp_group:
        compile_group(compiler, op);
        return;
    case OP_nvws_warp_group_return:
        emit(compiler, CODE_END, op);
        return;
    case OP_tt_get_program_id:
        compile_number(compiler, op, 0, CODE_PROGRAM_ID, axis_of(op, "axis"), NO_REGISTER);
        return;
    case OP_tt_get_num_programs:
        compile_number(compiler, op, 0, CODE_PROGRAMS, axis_of(op, "axis"), NO_REGISTER);
        return;
    case OP_nvg_cluster_id:
    case OP_nvgpu_cluster_id:
        compile_number(compiler, op, 0, CODE_RANK, 0, NO_REGISTER);
        return;
    case OP_ttng_cluster_size_1d:
        compile_number(compiler, op, 0, CODE_RANKS, 0, NO_REGISTER);
        return;
    case OP_ttng_clc_load_result:
    case OP_ttng_clc_is_canceled:
    case OP_ttng_clc_get_program_id:
    case OP_ttng_clc_query_cancel:
        compile_clc(compiler, op);
        break;
    case OP_llvm_intr_assume: {
        uint32_t condition = op->operand_count ? reg(compiler, op->operands[0]) : NO_REGISTER;
        if (condition != NO_REGISTER)
            emit(compiler, CODE_ASSUME, op)->a = condition;
        return;
    }
    case OP_ttg_global_scratch_alloc:
        compile_number(compiler, op, 0, CODE_SCRATCH, compiler->program->scratch_count++, NO_REGISTER);
        return;
    case OP_ttng_reinterpret_tensor_descriptor:
        compile_number(compiler, op, 0, CODE_FROM_POINTER, 0, reg(compiler, op->operands[0]));
        return;
    case OP_tt_make_tensor_descriptor:
        compile_descriptor(compiler, op);
        return;
    case OP_ttng_tensormap_create:
        compile_descriptor(compiler, op);
        break;
    case OP_tt_load:
        compile_load(compiler, op, ATOMIC_NONE);
        break;
    case OP_tt_atomic_rmw:
        compile_load(compiler, op, atomic_of(op));
        break;
    case OP_tt_atomic_cas:
        compile_load(compiler, op, ATOMIC_CAS);
        break;
    case OP_ttg_local_load:
        compile_number(compiler, op, 0, CODE_CELL, 0, reg(compiler, op->operands[0]));
        break;
    default:
        if (compile_places(compiler, op, &gives))
            return;
        if (op->region_count && op->row && !op_function(op) && !is(op, OP_tt_reduce) && !is(op, OP_tt_scan) &&
            !is(op, OP_tt_map_elementwise) && has_effect(compiler, op))
            cannot(compiler, op, "its regions are not emulated");
        if (!gives)
            compile_pure(compiler, op);
    }
    if (!is_mine(compiler, op))
        return;
    compile_effects(compiler, op);
    if (compiler->slice.reads_cells &&
        (is(op, OP_ttg_local_store) || (is(op, OP_ttg_local_alloc) && op->operand_count))) {
        uint32_t value = reg(compiler, op->operands[0]);
        uint32_t place = reg(compiler, op->operand_count > 1 ? op->operands[1] : &op->results[0]);
        if (value != NO_REGISTER && place != NO_REGISTER) {
            Instruction *keep = emit(compiler, CODE_KEEP, op);
            keep->a = value;
            keep->b = place;
        }
    }
}

static bool holds_task(const Op *root) {
    for (const Op *op = root; op; op = op_next_in_walk(op, root))
        if (is_task_form(partitions_of(op).form))
            return true;
    return false;
}

static void compile_block(Compiler *compiler, const Block *block) {
    bool splits = compiler->tasks && compiler->task == 0 && !compiler->call_depth && op_function(block->region->op);
    const Op *first = NULL, *last = NULL;
    for (const Op *op = splits ? block->first : NULL; op; op = op->next)
        if (holds_task(op)) {
            first = first ? first : op;
            last = op;
        }
    for (const Op *op = block->first; op; op = op->next) {
        if (op == first)
            emit(compiler, CODE_FORK, op)->aux = 0;
        compile_op(compiler, op);
        if (op == last && !(op->row && (op->row->traits & TERMINATOR)))
            emit(compiler, CODE_JOIN, op)->aux = 0;
    }
}

/* ---- Units ---------------------------------------------------------------------------------------- */

static void strand_start(Compiler *compiler, const char *name, uint32_t index, uint32_t warps, const Op *op) {
    Program *program = compiler->program;
    *PUSH(compiler, program->strands, program->strand_count, program->strand_capacity) =
        (Strand){.name = name, .entry = here(compiler), .index = index, .warps = warps, .op = op};
    compiler->frame = frame_new(compiler);
    compiler->next_register = 0;
    compiler->constant_count = 0;
    compiler->strand = index;
    compiler->loop_depth = 0;
}

static void strand_end(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    emit(compiler, CODE_END, op);
    Strand *strand = &program->strands[program->strand_count - 1];
    strand->register_count = compiler->next_register;
    strand->constants = program->list_count;
    strand->constant_count = compiler->constant_count / 2;
    for (uint32_t i = 0; i < compiler->constant_count; i++)
        list_add(compiler, compiler->constants[i]);
    if (strand->register_count > program->most_registers)
        program->most_registers = strand->register_count;
}

static const char *partition_name(Compiler *compiler, const char *prefix, uint32_t index) {
    char name[32];
    int size = snprintf(name, sizeof name, "%s%u", prefix, index);
    return arena_copy(&compiler->module->arena, name, (size_t)size);
}

static void compile_partitions(Compiler *compiler, const Pending *pending) {
    Program *program = compiler->program;
    const Op *holder = pending->op;
    const Attr *warps = op_attr(op_parent(holder), "partitionNumWarps");
    program->forks[pending->fork].first_strand = program->strand_count;
    for (uint32_t k = 0; k < holder->region_count; k++) {
        const Block *entry = holder->regions[k].first;
        int64_t count = warps && warps->kind == ATTR_INTS && k < warps->count ? warps->ints[k] : 4;
        strand_start(compiler, partition_name(compiler, "partition", k), k + 1,
                     (uint32_t)(count > 0 && count <= 64 ? count : 4), op_parent(holder));
        compiler->next_register = entry ? entry->arg_count : 0;
        for (uint32_t i = 0; entry && i < entry->arg_count; i++)
            if (wanted(compiler, &entry->args[i]))
                frame_set(compiler, compiler->frame, &entry->args[i], i);
        if (entry)
            compile_region(compiler, &holder->regions[k]);
        strand_end(compiler, holder);
    }
}

static void compile_group_partitions(Compiler *compiler, const Pending *pending) {
    Program *program = compiler->program;
    const Attr *warps = op_attr(pending->op, "numWarps");
    program->forks[pending->fork].first_strand = program->strand_count;
    for (uint32_t k = 1; k < pending->op->region_count; k++) {
        int64_t count = warps && warps->kind == ATTR_INTS && k < warps->count ? warps->ints[k] : 4;
        strand_start(compiler, partition_name(compiler, "partition", k), k,
                     (uint32_t)(count > 0 && count <= 64 ? count : 4), pending->op);
        compiler->next_register = pending->captured_count;
        for (uint32_t i = 0; i < pending->captured_count; i++)
            frame_set(compiler, compiler->frame, pending->captured[i], i);
        compile_region(compiler, &pending->op->regions[k]);
        strand_end(compiler, pending->op);
    }
}

/* IR whose ops say which task runs them, with barriers but without regions: each task runs the whole function, and of
 * the ops with effects its own. */
static void compile_tasks(Compiler *compiler) {
    Program *program = compiler->program;
    const Op *function = program->function;
    const Block *entry = function->regions[0].first;
    uint32_t captures = program->list_count;
    for (uint32_t i = 0; i < entry->arg_count; i++)
        list_add(compiler, program->parameters[i].reg);
    Fork *fork = PUSH(compiler, program->forks, program->fork_count, program->fork_capacity);
    uint32_t first = program->strand_count, count = 0;
    for (uint32_t task = 1; task < 16; task++) {
        if (!(compiler->tasks >> task & 1))
            continue;
        compiler->task = (int)task;
        strand_start(compiler, partition_name(compiler, "task", task), ++count, program->warps, function);
        compiler->next_register = entry->arg_count;
        for (uint32_t i = 0; i < entry->arg_count; i++)
            if (wanted(compiler, &entry->args[i]))
                frame_set(compiler, compiler->frame, &entry->args[i], i);
        compile_region(compiler, &function->regions[0]);
        strand_end(compiler, function);
    }
    *fork = (Fork){.op = function,
                   .first_strand = first,
                   .strand_count = count,
                   .captures = captures,
                   .capture_count = entry->arg_count};
}

/* ---- The slice's roots ---------------------------------------------------------------------------- */

static void add_control(Slice *slice, const Op *op) {
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_scf_for:
        for (uint32_t i = 0; i < 3 && i < op->operand_count; i++)
            slice_add(slice, op->operands[i]);
        break;
    case OP_scf_if:
    case OP_scf_condition:
    case OP_scf_index_switch:
    case OP_cf_cond_br:
    case OP_cf_switch:
    case OP_ttg_mask:
        if (op->operand_count)
            slice_add(slice, op->operands[0]);
        break;
    default:
        break;
    }
}

static void add_named(Slice *slice, const Op *op, const char *name) {
    uint32_t count;
    Value **values = operands_named(op, name, &count);
    for (uint32_t i = 0; i < count; i++)
        slice_add(slice, values[i]);
}

static void add_effects(Compiler *compiler, const Op *op) {
    Slice *slice = &compiler->slice;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(compiler->module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        if (!runs(compiler, &effects[i]))
            continue;
        slice_add(slice, effects[i].on);
        slice_add(slice, effects[i].amount);
        slice_add(slice, effects[i].through);
        slice_add(slice, effects[i].predicate);
        slice_add(slice, effects[i].second_predicate);
        slice_add(slice, effects[i].slot);
        if (effects[i].verb == EFFECT_COMPLETE)
            add_named(slice, op, "desc");
        if (effects[i].on_descriptor && (compiler->flags & COMPILE_GLOBAL))
            add_named(slice, op, "coord");
    }
    if (is(op, OP_llvm_intr_assume) && op->operand_count)
        slice_add(slice, op->operands[0]);
    if (is(op, OP_ttng_tensormap_create)) {
        add_named(slice, op, "desc_ptr");
        add_named(slice, op, "box_dim");
        add_named(slice, op, "global_dim");
    }
}

/* With values read from shared memory in the slice, the integers that are stored there are in it, too. */
static void add_cells(Compiler *compiler) {
    const Op *root = compiler->program->function;
    for (const Op *op = root; op; op = op_next_in_walk(op, root))
        if ((is(op, OP_ttg_local_store) || is(op, OP_ttg_local_alloc)) && op->operand_count) {
            const Type *type = type_resolve(compiler->module, op->operands[0]->type);
            if (type && type->element && type->element->kind == TYPE_INTEGER)
                slice_add(&compiler->slice, op->operands[0]);
        }
}

static void make_slice(Compiler *compiler) {
    Program *program = compiler->program;
    slice_init(&compiler->slice, compiler->module);
    const Block *entry = program->function->regions[0].first;
    for (int pass = 0; pass < 2; pass++) {
        for (const Item *item = compiler->module->first; item; item = item->next)
            for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
                if (pass == 0)
                    add_control(&compiler->slice, op);
                else
                    add_effects(compiler, op);
            }
        slice_close(&compiler->slice);
        for (uint32_t i = 0; pass == 0 && i < entry->arg_count; i++)
            program->parameters[i].steers = wanted(compiler, &entry->args[i]);
    }
    if (compiler->slice.reads_cells) {
        add_cells(compiler);
        slice_close(&compiler->slice);
    }
}

/* ---- Parameters and the rest ---------------------------------------------------------------------- */

static const char *argument_name(Compiler *compiler, const Block *entry, uint32_t index) {
    const Attr *location = entry->arg_locations ? entry->arg_locations[index] : NULL;
    location = location ? attr_resolve(compiler->module, location) : NULL;
    Str name = {"", 0};
    if (location && location->kind == ATTR_LOCATION && location->location == LOC_NAME)
        name = location->name;
    else if (entry->args[index].name)
        name = entry->args[index].name->text;
    if (name.size && name.data[0] == '"')
        name = (Str){name.data + 1, name.size > 1 ? name.size - 2 : 0};
    return arena_copy(&compiler->module->arena, name.data, name.size);
}

/* "desc_3" is a part of "desc": its name with a number behind. Of descriptors the compiler passes shape and strides as
 * arguments of their own, all with the same name in the source. */
static bool is_part_of(const char *name, const char *whole) {
    size_t size = strlen(whole);
    if (strncmp(name, whole, size) != 0)
        return false;
    const char *rest = name + size;
    if (!*rest)
        return true;
    if (*rest++ != '_' && rest[-1] != '.')
        return false;
    return *rest && strspn(rest, "0123456789") == strlen(rest);
}

static void find_parameters(Compiler *compiler) {
    Program *program = compiler->program;
    const Block *entry = program->function->regions[0].first;
    const Function *function = op_function(program->function);
    program->parameter_count = entry->arg_count;
    program->parameters = ARENA_ARRAY(&compiler->module->arena, Parameter, entry->arg_count + 1);
    int32_t whole = -1;
    uint32_t part = 0;
    for (uint32_t i = 0; i < entry->arg_count; i++) {
        Parameter *parameter = &program->parameters[i];
        const Type *type = entry->args[i].type ? type_resolve(compiler->module, entry->args[i].type) : NULL;
        *parameter =
            (Parameter){.name = argument_name(compiler, entry, i), .type = type, .divisibility = 1, .descriptor = -1};
        const Attr *attrs = function && function->arg_attrs ? function->arg_attrs[i] : NULL;
        const Attr *divisibility = attrs ? dict_get(attrs, STR("tt.divisibility")) : NULL;
        if (divisibility && divisibility->kind == ATTR_INTEGER && divisibility->integer > 0)
            parameter->divisibility = divisibility->integer;
        if (type && type_is(type, STR("tt.tensordesc"))) {
            whole = (int32_t)i;
            part = 0;
        } else if (whole >= 0 && type && type->kind == TYPE_INTEGER &&
                   is_part_of(parameter->name, program->parameters[whole].name)) {
            parameter->descriptor = whole;
            parameter->part = part++;
        } else {
            whole = -1;
        }
    }
}

static int64_t module_number(const Op *function, const char *name, int64_t otherwise) {
    for (const Op *op = function; op; op = op_parent(op)) {
        const Attr *attr = op_attr(op, name);
        if (attr && attr->kind == ATTR_INTEGER && attr->integer > 0 && attr->integer <= 64)
            return attr->integer;
    }
    return otherwise;
}

static int64_t module_number_either(const Op *function, const char *name, const char *older, int64_t otherwise) {
    return module_number(function, name, module_number(function, older, otherwise));
}

static void measure_rings(Compiler *compiler) {
    Program *program = compiler->program;
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Op *op = program->allocations.items[i].op;
        const Type *type =
            op->result_count && op->results[0].type ? type_resolve(compiler->module, op->results[0].type) : NULL;
        if (!type || !type_is(type, STR("ttg.memdesc"))) {
            program->barrier_slots += 2 * ring_of(&op->results[0]);
            continue;
        }
        if (!type->element || type->element->kind != TYPE_INTEGER || type->element->width != 64)
            continue;
        int64_t slots = 1;
        for (uint32_t k = 0; k < type->dim_count && slots > 0 && slots < 4096; k++)
            slots *= type->dims[k];
        program->barrier_slots += (uint32_t)(slots > 0 && slots < 4096 ? slots : 1);
        if (type->dim_count && type->dims[0] > program->deepest_ring && type->dims[0] <= 64)
            program->deepest_ring = (uint32_t)type->dims[0];
    }
    program->barrier_slots += 16;
}

static uint64_t tasks_of(const Compiler *compiler) {
    const Op *root = compiler->program->function;
    uint64_t tasks = 0;
    bool synchronises = false;
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        if (is(op, OP_ttg_warp_specialize))
            return 0;
        Partitions partitions = partitions_of(op);
        if (!is_task_form(partitions.form))
            continue;
        tasks |= partitions.mask;
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(compiler->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            synchronises |= effects[i].verb == EFFECT_WAIT;
    }
    return synchronises && tasks & (tasks - 1) ? tasks : 0;
}

static bool calls_others(const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (is(op, OP_tt_call) || is(op, OP_func_call))
            return true;
    return false;
}

static const Op *outermost(const Op *op) {
    while (op_parent(op))
        op = op_parent(op);
    return op;
}

Program *program_compile(Module *module, const Op *function, unsigned flags, Verdict *verdict) {
    if (!function->region_count || !function->regions[0].first)
        return NULL;
    Program *program = ARENA_NEW(&module->arena, Program);
    Compiler compiler = {.module = module, .program = program, .verdict = verdict, .flags = flags, .task = -1};
    program->module = module;
    program->function = function;
    program->warps = (uint32_t)module_number_either(function, "ttg.num-warps", "triton_gpu.num-warps", 4);
    program->ctas = (uint32_t)module_number_either(function, "ttg.num-ctas", "triton_gpu.num-ctas", 1);
    if (program->ctas == 1) {
        program->ctas = (uint32_t)(module_number(function, "ttg.cluster-dim-x", 1) *
                                   module_number(function, "ttg.cluster-dim-y", 1) *
                                   module_number(function, "ttg.cluster-dim-z", 1));
        program->ranks_are_programs = program->ctas > 1;
    }
    if (program->ctas > 16) {
        cannot(&compiler, function, "a cluster of more than 16 CTAs is not emulated");
        program->ctas = 1;
    }
    const Attr *symbol = op_attr(function, "sym_name");
    Str name = symbol ? symbol_name(symbol) : STR("kernel");
    program->name = arena_copy(&module->arena, name.data, name.size);
    program->allocations = allocations_of(module, calls_others(function) ? outermost(function) : function);
    find_parameters(&compiler);
    make_slice(&compiler);
    measure_rings(&compiler);
    compiler.unassigned = arefs_are_unassigned(function);
    compiler.tasks = tasks_of(&compiler);
    if (compiler.tasks && compiler.unassigned) {
        cannot(&compiler, function,
               "the stages and phases of its arefs are not assigned yet, and its ops are not parted into regions: "
               "it cannot be run before that");
        return NULL;
    }
    if (compiler.tasks)
        compiler.task = 0;

    strand_start(&compiler, compiler.tasks ? "task0" : "default", 0, program->warps, function);
    const Block *entry = function->regions[0].first;
    for (uint32_t i = 0; i < entry->arg_count; i++)
        program->parameters[i].reg = reg(&compiler, &entry->args[i]);
    if (compiler.tasks) { /* fork 0, filled in by compile_tasks */
        (void)PUSH(&compiler, program->forks, program->fork_count, program->fork_capacity);
        program->fork_count = 0;
    }
    compile_region(&compiler, &function->regions[0]);
    strand_end(&compiler, function);
    if (compiler.tasks)
        compile_tasks(&compiler);
    for (uint32_t i = 0; i < compiler.pending_count; i++) {
        if (is(compiler.pending[i].op, OP_nvws_warp_group))
            compile_group_partitions(&compiler, &compiler.pending[i]);
        else
            compile_partitions(&compiler, &compiler.pending[i]);
    }
    program->agents_per_cta = 1;
    for (uint32_t i = 0; i < program->fork_count; i++)
        if (program->forks[i].strand_count + 1 > program->agents_per_cta)
            program->agents_per_cta = program->forks[i].strand_count + 1;
    if (program->agents_per_cta > MOST_PARTITIONS + 1 || compiler.reported_size)
        return NULL;
    return program;
}

size_t program_kernels(Module *module, const Op **functions, size_t most) {
    size_t count = 0;
    Map called = {0};
    for (const Item *item = module->first; item; item = item->next)
        for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
            const Attr *callee = is(op, OP_tt_call) || is(op, OP_func_call) ? op_attr(op, "callee") : NULL;
            if (callee)
                *module_put(module, &called, symbol_name(callee)) = module;
        }
    for (const Item *item = module->first; item; item = item->next)
        for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
            if ((!is(op, OP_tt_func) && !is(op, OP_func_func)) || !op->region_count || !op->regions[0].first)
                continue;
            const Attr *symbol = op_attr(op, "sym_name");
            if (symbol && map_get(&called, symbol_name(symbol)))
                continue;
            if (count < most)
                functions[count] = op;
            count++;
        }
    map_free(&called);
    return count;
}
