/* A module made ready to run: where variables lie, and functions as lists of instructions with their operands. */
#include "internal.h"

/* ---- Variables ---- */

static uint64_t aligned(uint64_t at, uint64_t align) {
    return align ? (at + align - 1) / align * align : at;
}

/* A multiple of an alignment that is none of a larger one, so that no more alignment is seen than there has to be. */
uint64_t odd_aligned(uint64_t at, uint64_t align) {
    at = aligned(at, align);
    return align && at / align % 2 == 0 ? at + align : at;
}

static unsigned vector_of(Str name) {
    return name.size == 3 ? (unsigned)(name.data[2] - '0') : 1;
}

static Space space_of_name(Str name) {
    return str_is(name, ".shared")   ? IN_SHARED
           : str_is(name, ".global") ? IN_GLOBAL
           : str_is(name, ".local")  ? IN_LOCAL
           : str_is(name, ".const")  ? IN_CONST
           : str_is(name, ".param")  ? IN_PARAM
                                     : GENERIC;
}

static uint64_t elements(const PtxModule *module, const PtxVariable *v) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < v->dimension_count; d++)
        count *= module->operands[v->dimensions + d].kind == PTX_INTEGER
                     ? (uint64_t)module->operands[v->dimensions + d].value
                     : 0;
    if (!count && v->initial_count) /* as many as there are values */
        count = v->initial_count;
    return count;
}

static void size_up(Machine *machine, uint32_t index) {
    const PtxModule *module = machine->module;
    const PtxVariable *v = &module->variables[index];
    Placed *p = &machine->placed[index];
    Type type = type_of_name(ptx_name(module, v->type));
    p->bits = type.class == NO_TYPE ? 64 : type.bits;
    p->vector = v->vector == PTX_NONE ? 1 : (uint8_t)vector_of(ptx_name(module, v->vector));
    p->space = space_of_name(ptx_name(module, v->space));
    p->bytes = (uint32_t)(elements(module, v) * p->vector * ((p->bits + 7u) / 8));
}

static uint64_t alignment(Machine *machine, uint32_t index) {
    const PtxVariable *v = &machine->module->variables[index];
    const Placed *p = &machine->placed[index];
    return v->align ? v->align : (p->bits + 7u) / 8 * p->vector;
}

/* The registers of a range, or one. */
static uint32_t register_slots(const PtxVariable *v, const Placed *p) {
    return (v->ranged ? v->range : 1) * p->vector * (p->bits == 128 ? 2 : 1);
}

/* Of the variables of a function that threads have for themselves: their place in its frame. */
static void place_in_frame(Machine *machine, Function *f, uint32_t index, bool in_entry) {
    Placed *p = &machine->placed[index];
    machine->owners[index] = f->index;
    if (p->space == GENERIC) {
        p->slot = f->slots;
        f->slots += register_slots(&machine->module->variables[index], p);
    } else if (p->space == IN_PARAM || p->space == IN_LOCAL) {
        uint32_t *bytes = p->space == IN_PARAM ? &f->param_bytes : &f->local_bytes;
        p->at = aligned(*bytes, alignment(machine, index));
        *bytes = (uint32_t)p->at + p->bytes;
    }
    if (in_entry && p->space == IN_PARAM)
        machine->owners[index] = PTX_NONE;
}

/* Parameters of kernels lie by themselves, from 0 on; the rest of a function is placed when it is made ready. */
static void place_kernel_parameters(Machine *machine, const PtxFunction *ptx) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < ptx->parameter_count; i++) {
        Placed *p = &machine->placed[ptx->parameters + i];
        p->at = at = aligned(at, alignment(machine, ptx->parameters + i));
        at += p->bytes;
    }
}

/* Shared memory: the variables one behind the other, at offsets that have no more alignment than they ask for; those
 * whose size the launch decides behind all others. Global and constant ones are placed by the launch. */
void place_variables(Machine *machine) {
    const PtxModule *module = machine->module;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        size_up(machine, i);
        machine->owners[i] = PTX_NONE;
    }
    uint64_t at = 1024;
    for (int dynamic = 0; dynamic < 2; dynamic++)
        for (uint32_t i = 0; i < module->variables_count; i++) {
            Placed *p = &machine->placed[i];
            if (p->space != IN_SHARED || (p->bytes == 0) != dynamic)
                continue;
            at = odd_aligned(at, alignment(machine, i));
            p->at = at;
            at += p->bytes;
        }
    machine->shared_bytes = (uint32_t)at;
    for (uint32_t f = 0; f < module->functions_count; f++)
        if (module->functions[f].entry)
            place_kernel_parameters(machine, &module->functions[f]);
}

/* ---- Operands ---- */

static uint32_t add_arg(Machine *machine, Function *f, Arg arg) {
    *ARENA_PUSH(&machine->arena, f->args, f->arg_count, f->arg_capacity) = arg;
    return f->arg_count - 1;
}

static uint64_t constant_bits(const PtxOperand *operand, Type type) {
    if (operand->kind != PTX_DOUBLE || type.class != REAL || type.bits != 32)
        return operand->bits;
    double wide;
    memcpy(&wide, &operand->bits, 8);
    float narrow = (float)wide;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    return bits;
}

static Arg plain_arg(Machine *machine, uint32_t at, Type type) {
    const PtxOperand *operand = &machine->module->operands[at];
    Arg arg = {.kind = ARG_OTHER,
               .operand_kind = operand->kind,
               .part = operand->part,
               .negated = operand->negated,
               .what = operand->a,
               .value = operand->bits,
               .operand = at};
    switch ((PtxOperandKind)operand->kind) {
    case PTX_REGISTER: {
        const Placed *p = &machine->placed[operand->a];
        unsigned vector = operand->part >= PTX_X && operand->part <= PTX_W ? operand->part - PTX_X : 0;
        unsigned wide = p->bits == 128 ? 2 : 1;
        arg.kind = p->space == GENERIC ? ARG_REGISTER : ARG_VARIABLE;
        arg.bits = p->bits;
        if (p->space == GENERIC)
            arg.what = p->slot + (uint32_t)operand->value * p->vector * wide + vector;
        break;
    }
    case PTX_SPECIAL:
        arg.kind = ARG_SPECIAL;
        break;
    case PTX_INTEGER:
    case PTX_SINGLE:
    case PTX_DOUBLE:
        arg.kind = ARG_CONSTANT;
        arg.value = constant_bits(operand, type);
        break;
    case PTX_VARIABLE:
        arg.kind = ARG_VARIABLE;
        if (machine->placed[operand->a].space == GENERIC) { /* a register that is no range */
            arg.kind = ARG_REGISTER;
            arg.what = machine->placed[operand->a].slot;
            arg.bits = machine->placed[operand->a].bits;
        }
        break;
    case PTX_CALLEE:
        arg.kind = ARG_FUNCTION;
        break;
    case PTX_TARGET:
        arg.kind = ARG_LABEL;
        break;
    case PTX_SINK:
        arg.kind = ARG_SINK;
        break;
    default:
        break;
    }
    return arg;
}

/* The operands from `at` to `end`, those beside each other in a row; each with its members behind all of them. */
static uint32_t take_operands(Machine *machine, Function *f, uint32_t at, uint32_t end, Type type, uint32_t *count) {
    uint32_t first = f->arg_count;
    *count = 0;
    for (uint32_t i = at; i < end; i += ptx_extent(&machine->module->operands[i]), ++*count)
        add_arg(machine, f, plain_arg(machine, i, type));
    for (uint32_t k = 0; k < *count; k++) {
        const PtxOperand *operand = &machine->module->operands[f->args[first + k].operand];
        if (operand->kind < PTX_ADDRESS)
            continue;
        uint32_t inside = f->args[first + k].operand + 1, own;
        uint32_t members = take_operands(machine, f, inside, inside + operand->a, type, &own);
        Arg *arg = &f->args[first + k];
        arg->kind = operand->kind == PTX_ADDRESS ? ARG_ADDRESS : ARG_MEMBERS;
        arg->first = members;
        arg->count = own;
    }
    return first;
}

/* ---- Functions ---- */

/* The first instruction at or behind a statement. */
uint32_t instruction_at(const Function *f, uint32_t statement) {
    return f->labels[statement - f->ptx->begin];
}

static void place_locals(Machine *machine, Function *f) {
    const PtxModule *module = machine->module;
    const PtxFunction *ptx = f->ptx;
    f->param_bytes = 0x10000; /* .param variables of a function have their own addresses, apart from a kernel's */
    for (uint32_t i = 0; i < ptx->return_count; i++)
        place_in_frame(machine, f, ptx->returns + i, false);
    for (uint32_t i = 0; i < ptx->parameter_count && !ptx->entry; i++)
        place_in_frame(machine, f, ptx->parameters + i, false);
    for (uint32_t s = ptx->begin; s < ptx->end; s++)
        if (module->statements[s].kind == PTX_VARIABLES)
            for (uint32_t i = 0; i < module->statements[s].count; i++)
                if (machine->placed[module->statements[s].what + i].space != IN_SHARED)
                    place_in_frame(machine, f, module->statements[s].what + i, false);
}

static void take_instruction(Machine *machine, Function *f, Instruction *to, uint32_t statement) {
    const PtxStatement *s = &machine->module->statements[statement];
    *to = (Instruction){.statement = statement, .form = &machine->forms[s->what], .guard = PTX_NONE};
    uint32_t at = s->first, none;
    if (s->flags & PTX_GUARDED) {
        to->guard = take_operands(machine, f, at, at + 1, (Type){PREDICATE, 1}, &none);
        to->guard_negated = s->flags & PTX_NEGATED;
        at++;
    }
    const Verb *form = to->form;
    Type type = form->type_count
                    ? form->types[form->does == DOES_set || form->does == DOES_cvt ? form->type_count - 1 : 0]
                    : (Type){BITS, 64};
    to->args = take_operands(machine, f, at, s->first + s->count, type, &to->arg_count);
}

Function *function_ready(Machine *machine, uint32_t index) {
    Function *f = &machine->functions[index];
    if (f->ready)
        return f;
    const PtxModule *module = machine->module;
    *f = (Function){.ptx = &module->functions[index], .index = index, .ready = true};
    place_locals(machine, f);
    f->code = ARENA_ARRAY(&machine->arena, Instruction, f->ptx->instructions + 1);
    f->labels = ARENA_ARRAY(&machine->arena, uint32_t, f->ptx->end - f->ptx->begin + 1);
    for (uint32_t s = f->ptx->begin; s < f->ptx->end; s++) {
        f->labels[s - f->ptx->begin] = f->count;
        if (module->statements[s].kind == PTX_INSTRUCTION)
            take_instruction(machine, f, &f->code[f->count++], s);
    }
    find_loops(machine, f);
    return f;
}
