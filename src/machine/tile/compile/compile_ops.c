/* Ops: how their results come about, and which of them have effects. */
#include "machine/tile/compile/program_internal.h"
#include "machine/tile/compile/roots.h"

#include "model/effect/inline_ptx.h"

/* ---- Pure ops ------------------------------------------------------------------------------------- */

/* Whether the op's results depend on more than its operands in registers: on shared or tensor memory, on what a
 * descriptor describes, or on a special register. */
static bool depends_on_more(Compiler *compiler, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const Type *type = type_resolve(compiler->module, op->operands[i]->type);
        if (value_register(compiler, op->operands[i]) == NO_REGISTER ||
            value_is_memdesc(compiler->module, op->operands[i]) || (type && type_is_descriptor(type)))
            return true;
    }
    return inline_ptx_names_registers(compiler->module, op, false);
}

void compile_pure(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!is_wanted(compiler, &op->results[i]))
            continue;
        Evaluation how = evaluation_of(compiler->module, op, i);
        uint32_t dst = value_register(compiler, &op->results[i]);
        bool elsewhere = (compiler->flags & COMPILE_DATA) && depends_on_more(compiler, op);
        if (!op->operand_count && !elsewhere) {
            emit_constant(compiler, dst, evaluate(&how, NULL, 0, &compiler->module->arena));
            continue;
        }
        *ARENA_PUSH(&compiler->module->arena, program->evaluations, program->evaluation_count,
                    program->evaluation_capacity) = how;
        uint32_t a = op->operand_count ? value_register(compiler, op->operands[0]) : NO_REGISTER;
        uint32_t b = op->operand_count > 1 ? value_register(compiler, op->operands[1]) : a;
        uint32_t c = op->operand_count > 2 ? value_register(compiler, op->operands[2]) : a;
        bool kept = a != NO_REGISTER && b != NO_REGISTER && c != NO_REGISTER;
        if (!how.tensor && op->operand_count <= 3 && kept && !elsewhere) {
            Instruction *instruction = emit_value(compiler, CODE_INTEGER, op, dst, a, program->evaluation_count - 1);
            instruction->evaluator = (uint8_t)how.code;
            instruction->width = how.width;
            instruction->operand_width = how.operand_width;
            instruction->b = b;
            instruction->c = c;
            continue;
        }
        uint32_t list = emit_list(compiler, op->operands, op->operand_count);
        Instruction *instruction = emit_value(compiler, CODE_EVALUATE, op, dst, list, program->evaluation_count - 1);
        instruction->b = op->operand_count;
        instruction->evaluator = elsewhere;
    }
}

static void compile_number(Compiler *compiler, const Op *op, uint32_t result, Code code, uint32_t aux, uint32_t a) {
    if (result < op->result_count && is_wanted(compiler, &op->results[result]))
        emit_value(compiler, code, op, value_register(compiler, &op->results[result]), a, aux);
}

static uint32_t axis_of(const Op *op, const char *name) {
    const Attr *axis = op_attr(op, name);
    if (!axis)
        return 0;
    if (axis->kind == ATTR_INTEGER)
        return axis->integer > 0 && axis->integer < 3 ? (uint32_t)axis->integer : 0;
    return axis->text.size && axis->text.data[0] == 'y' ? 1 : axis->text.size && axis->text.data[0] == 'z' ? 2 : 0;
}

Evaluator program_asks(const Program *program, const Op *op, uint32_t *axis) {
    bool one = program->ctas == 1 || program->ranks_are_programs; /* CTA to a program */
    *axis = 0;
    if (!op || op_evaluator(op) == EVALUATE_PROGRAM_ID || op_evaluator(op) == EVALUATE_PROGRAM_COUNT) {
        *axis = op ? axis_of(op, "axis") : 0;
        return op_evaluator(op);
    }
    InlineRegister asked = op_is(op, CLASS_INLINE_PTX) ? inline_ptx_register(program->module, op) : REGISTER_OTHER;
    if (asked >= REGISTER_RANK)
        return asked == REGISTER_RANK ? EVALUATE_CTA_RANK : EVALUATE_CTA_COUNT;
    if (asked == REGISTER_OTHER || !one)
        return op_evaluator(op);
    *axis = (asked - REGISTER_CTA) % 3;
    return asked < REGISTER_CTAS ? EVALUATE_PROGRAM_ID : EVALUATE_PROGRAM_COUNT;
}

/* A value read from global memory. */
/* Whether the kernel writes no memory that the load may read: what the launch gives is there, then. */
static bool reads_untouched(Compiler *compiler, const Effect *load) {
    const Op *function = compiler->program->function;
    Roots roots = address_roots(compiler->program, load->on);
    for (const Op *op = function; op && !roots.elsewhere; op = op_next_in_walk(op, function)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(compiler->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            if (effect->verb == EFFECT_ANYTHING)
                return false;
            if (effect->space != SPACE_GLOBAL || !effect_is_access(effect) || effect->verb == EFFECT_READ)
                continue;
            Roots others = address_roots(compiler->program, effect->on);
            if (others.elsewhere || others.parameters & roots.parameters)
                return false;
        }
        if (op_is_control(op, CONTROL_CALL))
            return false;
    }
    return !roots.elsewhere;
}

static void compile_load(Compiler *compiler, const Op *op, const Effect *load) {
    if (!is_wanted(compiler, load->gives))
        return;
    Program *program = compiler->program;
    const Type *type = type_resolve(compiler->module, load->gives->type);
    const Type *element = type && type->element && type->kind == TYPE_TENSOR ? type->element : type;
    *ARENA_PUSH(&compiler->module->arena, program->loads, program->load_count, program->load_capacity) =
        (CompiledLoad){.op = op,
                       .width = (uint16_t)type_bits(compiler->module, element),
                       .integer = element && (element->kind == TYPE_INTEGER || type_is(element, STR("tt.ptr"))),
                       .atomic = load->atomic,
                       .given = load->expected || load->offsets.count || is_inline_ptx(op),
                       .type = type};
    bool again = compiler->loop_depth > 0;
    for (uint32_t i = 0; i < program->loop_count; i++)
        again |= program->loops[i].head != NULL;
    program->polls |= load->order != ORDER_WEAK && again;
    CompiledLoad *compiled = &program->loads[program->load_count - 1];
    compiled->untouched = type && type->kind == TYPE_TENSOR && compiled->integer && !compiled->given &&
                          load->verb == EFFECT_READ && reads_untouched(compiler, load);
    bool update = load->verb == EFFECT_UPDATE;
    uint32_t operand = value_register(compiler, update ? load->value : load->mask);
    uint32_t other = value_register(compiler, update ? load->compare : load->otherwise);
    uint32_t pointer = value_register(compiler, load->on), dst = value_register(compiler, load->gives);
    Instruction *instruction = emit_value(compiler, CODE_LOAD, op, dst, pointer, program->load_count - 1);
    instruction->b = operand;
    instruction->c = other;
}

static void compile_descriptor(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    const DescribeColumn *column = &op->row->describes;
    SlotRef base = column->of.column == REF_NONE ? column->base : column->of;
    Maker maker = {.op = op,
                   .pointer = value_register(compiler, op_operand_of(op, column->at)),
                   .base = value_register(compiler, op_operand_of(op, base)),
                   .predicate = value_register(compiler, op_operand_of(op, column->predicate))};
    maker.shape = emit_operands_of(compiler, op, column->shape);
    maker.strides = emit_operands_of(compiler, op, column->strides);
    maker.box = emit_operands_of(compiler, op, column->box);
    maker.offsets = emit_operands_of(compiler, op, column->offsets);
    maker.bounds = emit_operands_of(compiler, op, column->bounds);
    *ARENA_PUSH(&compiler->module->arena, program->makers, program->maker_count, program->maker_capacity) = maker;
    uint32_t dst = op->result_count ? value_register(compiler, &op->results[0]) : NO_REGISTER;
    if (dst != NO_REGISTER || maker.pointer != NO_REGISTER)
        emit_value(compiler, CODE_DESCRIPTOR, op, dst, NO_REGISTER, program->maker_count - 1);
}

/* Where addresses do not matter, a descriptor matters for its box alone. */
static void compile_described(Compiler *compiler, const Op *op) {
    Describe kind = op_describes(op);
    if (kind == DESCRIBE_TAKEN)
        compile_number(compiler, op, 0, CODE_FROM_POINTER, 0,
                       value_register(compiler, op_operand_of(op, op->row->describes.at)));
    else if (kind == DESCRIBE_TENSOR || kind == DESCRIBE_MAP || (compiler->flags & COMPILE_GLOBAL))
        compile_descriptor(compiler, op);
    else
        compile_pure(compiler, op);
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* Ops say which task or partition runs them; there are no regions yet. */
bool partition_is_task(PartitionForm form) {
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
    uint32_t dst = value_register(compiler, effect->on);
    if (dst == NO_REGISTER)
        return;
    if (op_is(op, CLASS_AREF)) { /* what is allocated are its barriers; the buffers are kept beside them */
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t buffer = value_register(compiler, op->operands[i]);
            if (op->operands[i] == effect->amount && buffer != NO_REGISTER)
                emit_value(compiler, CODE_KEEP_BUFFER, op, NO_REGISTER, buffer, i)->b = dst;
        }
        return;
    }
    if (!value_is_memdesc(compiler->module, effect->on) && !effect->rank) {
        emit_move(compiler, op, dst, value_register(compiler, effect->amount));
        return;
    }
    ViewStep step = view_step_of_result(compiler->module, op, effect->on->index);
    if (step.cta && !view_may_be_elsewhere(compiler, effect->on))
        step.problem = "a copy, an MMA or control flow is given a view that starts in another CTA";
    bool of_aref = !value_is_memdesc(compiler->module, effect->amount) && !effect->rank;
    if (step.problem && !of_aref) { /* an aref that has no stage yet is indexed by the uses of each agent */
        compile_cannot(compiler, op, step.problem);
        if (program->ctas > 1) { /* it may be that of any CTA */
            emit_constant(compiler, dst, word_unknown(dst));
            return;
        }
    }
    *ARENA_PUSH(&compiler->module->arena, program->views, program->view_count, program->view_capacity) = step;
    uint32_t source = value_register(compiler, effect->amount), index = value_register(compiler, step.index),
             rank = value_register(compiler, step.rank);
    Instruction *instruction =
        emit_value(compiler, of_aref ? CODE_BUFFER : CODE_VIEW, op, dst, source, program->view_count - 1);
    instruction->b = of_aref && compiler->unassigned ? NO_REGISTER : index;
    instruction->c = of_aref ? effect->on->index : rank;
}

static void compile_allocation(Compiler *compiler, const Op *op) {
    const Allocation *allocation = allocation_find(&compiler->program->allocations, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const Type *type = type_resolve(compiler->module, op->results[i].type);
        if (!is_wanted(compiler, &op->results[i]) || (type && type_is(type, STR("ttg.async.token"))))
            continue;
        if (!allocation) {
            compile_cannot(compiler, op, "where it allocates is not known");
            return;
        }
        emit_value(compiler, CODE_ALLOCATE, op, value_register(compiler, &op->results[i]), NO_REGISTER,
                   (uint32_t)(allocation - compiler->program->allocations.items));
    }
}

static void compile_own_memory(Compiler *compiler, const Op *op) {
    Program *program = compiler->program;
    compile_number(compiler, op, 0, CODE_SCRATCH, program->scratch_count, NO_REGISTER);
    *ARENA_PUSH(&compiler->module->arena, program->scratches, program->scratch_count, program->scratch_capacity) = op;
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
        else if (place && effects[i].space == SPACE_GLOBAL)
            compile_own_memory(compiler, op);
        else if (place)
            compile_allocation(compiler, op);
        *gives |= place;
        only &= place;
    }
    return only;
}

/* Values that the machine has: false if the op's is none of them. */
static bool compile_machine(Compiler *compiler, const Op *op) {
    static const struct {
        Evaluator evaluator;
        Code code;
        uint32_t aux;
    } numbers[] = {
        {EVALUATE_PROGRAM_ID, CODE_PROGRAM_ID, 0}, {EVALUATE_PROGRAM_COUNT, CODE_PROGRAMS, 0},
        {EVALUATE_CTA_RANK, CODE_RANK, 0},         {EVALUATE_CTA_COUNT, CODE_RANKS, 0},
        {EVALUATE_STORED, CODE_CELL, 0},           {EVALUATE_CANCEL_ANSWER, CODE_CLC, 0},
        {EVALUATE_CANCEL_GRANTED, CODE_CLC, 1},    {EVALUATE_CANCEL_PROGRAM, CODE_CLC, 2},
    };
    uint32_t axis;
    Evaluator asked = program_asks(compiler->program, op, &axis);
    if (asked == EVALUATE_CANCEL_PROGRAM)
        axis = axis_of(op, "dim");
    uint32_t first = op->operand_count ? value_register(compiler, op->operands[0]) : NO_REGISTER;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (asked == numbers[i].evaluator) {
            compile_number(compiler, op, 0, numbers[i].code, numbers[i].aux + axis, first);
            return true;
        }
    if (op_evaluator(op) != EVALUATE_CANCEL_QUERY)
        return false;
    uint32_t answer = compiler->next_register++; /* reads memory, and gives the program or -1 */
    emit_value(compiler, CODE_CLC, op, answer, first, 0);
    for (uint32_t i = 0; i < op->result_count && i < 3; i++)
        compile_number(compiler, op, i, CODE_CLC, 5 + i, answer);
    return true;
}

/* Keeps integers that are stored in shared memory, for those who read them there. */
static void compile_cell(Compiler *compiler, const Op *op) {
    if (!compiler->slice.reads_cells || !op_is(op, CLASS_LOCAL_STORE) || !op->operand_count)
        return;
    uint32_t value = value_register(compiler, op->operands[0]);
    uint32_t place = value_register(compiler, op->operand_count > 1 ? op->operands[1] : &op->results[0]);
    if (value == NO_REGISTER || place == NO_REGISTER)
        return;
    emit_value(compiler, CODE_KEEP, op, NO_REGISTER, value, 0)->b = place;
}

/* The results of a product, or of a wait for products, in registers. */
static void compile_product(Compiler *compiler, const Op *op) {
    compile_effects(compiler, op);
    if (op_is(op, CLASS_WGMMA)) {
        compile_number(compiler, op, 0, CODE_SEQUENCE, 0, NO_REGISTER);
        return;
    }
    for (uint32_t i = 0; i < op->result_count && i < op->operand_count; i++)
        if (is_wanted(compiler, &op->results[i]))
            emit_move(compiler, op, value_register(compiler, &op->results[i]),
                      value_register(compiler, op->operands[i]));
}

/* Whether something in the op's regions has an effect that would be missed. */
static bool hides_effects(Compiler *compiler, const Op *root) {
    for (const Op *op = op_next_in_walk(root, root); op; op = op_next_in_walk(op, root)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(compiler->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effect_runs(compiler, &effects[i]))
                return true;
    }
    return false;
}

/* All other values. Returns true if that was all there is to the op. */
static bool compile_values(Compiler *compiler, const Op *op) {
    bool gives = false;
    Effect load;
    if (op_describes(op)) {
        compile_described(compiler, op);
        return false;
    }
    if (data_load(compiler, op, &load)) {
        compile_load(compiler, op, &load);
        return false;
    }
    if (compile_places(compiler, op, &gives))
        return true;
    if (op->region_count && !op_function(op) && hides_effects(compiler, op))
        compile_unknown(compiler, op, "its regions are not emulated");
    if (!gives)
        compile_pure(compiler, op);
    return false;
}

void compile_op(Compiler *compiler, const Op *op) {
    if (compiler->reported_size) /* the program will not be run */
        return;
    if (!structure_is_sound(op)) {
        compile_unknown(compiler, op, "its regions are malformed");
        return;
    }
    mmas_check(compiler, op);
    if (is_mine(compiler, op))
        compile_scratch(compiler, op);
    if (compile_control(compiler, op))
        return;
    if (op_is(op, CLASS_WGMMA) || op_is(op, CLASS_WGMMA_WAIT)) {
        compile_product(compiler, op);
        return;
    }
    if (op_is(op, CLASS_ASSUMPTION)) {
        uint32_t condition = op->operand_count ? value_register(compiler, op->operands[0]) : NO_REGISTER;
        if (condition != NO_REGISTER)
            emit_code(compiler, CODE_ASSUME, op)->a = condition;
        return;
    }
    if (!compile_machine(compiler, op) && compile_values(compiler, op))
        return;
    if (!is_mine(compiler, op))
        return;
    compile_effects(compiler, op);
    compile_meeting(compiler, op);
    compile_cell(compiler, op);
}

static bool holds_task(const Op *root) {
    for (const Op *op = root; op; op = op_next_in_walk(op, root))
        if (partition_is_task(partitions_of(op).form))
            return true;
    return false;
}

void compile_block(Compiler *compiler, const Block *block) {
    bool splits = compiler->tasks && compiler->task == 0 && !compiler->call_depth && op_function(block->region->op);
    const Op *first = NULL, *last = NULL;
    for (const Op *op = splits ? block->first : NULL; op; op = op->next)
        if (holds_task(op)) {
            first = first ? first : op;
            last = op;
        }
    for (const Op *op = block->first; op; op = op->next) {
        if (op == first)
            emit_code(compiler, CODE_FORK, op)->aux = 0;
        compile_op(compiler, op);
        if (op == last && !op_is_terminator(op))
            emit_code(compiler, CODE_JOIN, op)->aux = 0;
    }
}
