/* Where the variables of a kernel lie: registers in rows of a frame, others in their memories; and what they hold at
 * first. */
#include "machine/simt/decode/internal.h"

unsigned ptx_bits_of_type(Str type) {
    unsigned bits = 0, times = 1;
    if (type.size && type.data[0] == '.')
        type = (Str){type.data + 1, type.size - 1};
    if (str_is(type, "pred"))
        return 1;
    if (str_ends(type, STR("ref")))
        return 64;
    for (size_t i = 0; i < type.size; i++) {
        if (type.data[i] >= '0' && type.data[i] <= '9')
            bits = bits * 10 + (unsigned)(type.data[i] - '0');
        else if (type.data[i] == 'x' && i + 1 < type.size)
            times = (unsigned)(type.data[++i] - '0');
    }
    return bits * times;
}

/* ---- What is reached ---- */

typedef struct Reaching {
    PtxProgram *program;
    bool *reached;
    uint32_t *work, count;
    bool calls_any; /* some call is of a function whose address is in memory, or in a register */
} Reaching;

static bool is_declared_only(const PtxModule *module, const PtxVariable *variable) {
    return variable->linkage != PTX_NONE && str_is(ptx_name(module, variable->linkage), ".extern");
}

uint32_t ptx_variable_behind(const PtxModule *module, uint32_t index) {
    const PtxVariable *variable = &module->variables[index];
    for (uint32_t i = 0; is_declared_only(module, variable) && i < module->variables_count; i++)
        if (module->variables[i].name == variable->name && module->variables[i].space == variable->space &&
            module->variables[i].scope == variable->scope && !is_declared_only(module, &module->variables[i]))
            return i;
    return index;
}

static void reach_operands(Reaching *r, uint32_t first, uint32_t count);

static void reach_function(Reaching *r, uint32_t function) {
    function = ptx_function_behind(r->program->module, function);
    if (r->reached[function])
        return;
    r->reached[function] = true;
    r->work[r->count++] = function;
}

static void reach_operands(Reaching *r, uint32_t first, uint32_t count) {
    const PtxModule *module = r->program->module;
    for (uint32_t i = first; i < first + count; i++) {
        const PtxOperand *operand = &module->operands[i];
        if (operand->kind == PTX_CALLEE)
            reach_function(r, operand->a);
        if (operand->kind != PTX_VARIABLE || r->program->used[operand->a])
            continue;
        uint32_t defined = ptx_variable_behind(module, operand->a);
        r->program->used[operand->a] |= PTX_USED;
        r->program->used[defined] |= PTX_USED;
        reach_operands(r, module->variables[defined].initial, module->variables[defined].initial_count);
    }
}

static bool has_callee(const PtxModule *module, uint32_t first, uint32_t count) {
    uint32_t i = first;
    while (i < first + count && module->operands[i].kind != PTX_CALLEE)
        i++;
    return i < first + count;
}

static bool is_call(const PtxModule *module, const PtxStatement *statement) {
    return statement->kind == PTX_INSTRUCTION && module->forms[statement->what].evaluator == PTX_EVALUATE_CALL;
}

/* What such a call may lead to: functions whose addresses variables hold (another kernel may have left a pointer to the
 * table in memory), or that instructions of the module take. */
static void reach_any(Reaching *r) {
    const PtxModule *module = r->program->module;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        const PtxVariable *variable = &module->variables[i];
        if (!has_callee(module, variable->initial, variable->initial_count))
            continue;
        r->program->used[i] |= PTX_USED;
        reach_operands(r, variable->initial, variable->initial_count);
    }
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_INSTRUCTION && !is_call(module, statement) &&
            has_callee(module, statement->first, statement->count))
            reach_operands(r, statement->first, statement->count);
    }
}

/* Variables that are named outside of brackets, and not as arguments of a call: their addresses are values. */
static void note_addressed(PtxProgram *program, const PtxStatement *statement) {
    const PtxModule *module = program->module;
    if (module->forms[statement->what].evaluator == PTX_EVALUATE_CALL)
        return;
    for (uint32_t i = 0; i < statement->count;) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        if (operand->kind == PTX_VARIABLE)
            program->used[operand->a] |= PTX_ADDRESSED;
        i += operand->kind == PTX_VECTOR ? 1 : ptx_extent(operand);
    }
}

void layout_reach(PtxProgram *program, Arena *scratch, bool *reached) {
    const PtxModule *module = program->module;
    Reaching r = {
        .program = program, .reached = reached, .work = ARENA_ARRAY(scratch, uint32_t, module->functions_count)};
    reach_function(&r, program->entry);
    while (r.count) {
        const PtxFunction *function = &module->functions[r.work[--r.count]];
        for (uint32_t i = function->begin; function->body && i < function->end; i++) {
            const PtxStatement *statement = &module->statements[i];
            if (statement->kind == PTX_INSTRUCTION || statement->kind == PTX_DIRECTIVE)
                reach_operands(&r, statement->first, statement->count);
            if (statement->kind == PTX_INSTRUCTION)
                note_addressed(program, statement);
            if (!r.calls_any && is_call(module, statement) && !has_callee(module, statement->first, statement->count)) {
                r.calls_any = true;
                reach_any(&r);
            }
        }
    }
}

/* ---- Seats ---- */

static uint64_t up(uint64_t at, uint64_t align) {
    return align > 1 ? (at + align - 1) / align * align : at;
}

/* Elements of an array; 0: it says no size. */
static uint64_t elements(const PtxModule *module, const PtxVariable *variable) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < variable->dimension_count; i++) {
        const PtxOperand *size = &module->operands[variable->dimensions + i];
        uint64_t each = size->kind == PTX_INTEGER ? (uint64_t)size->value : 0;
        count *= each;
    }
    return count;
}

static unsigned vector_members(const PtxModule *module, const PtxVariable *variable) {
    Str word = ptx_name(module, variable->vector);
    return word.size == 3 ? (unsigned)(word.data[2] - '0') : 1;
}

/* Scalars of an initializer, for an array whose first dimension is open. */
static uint64_t given_elements(const PtxModule *module, const PtxVariable *variable) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < variable->initial_count;) {
        const PtxOperand *operand = &module->operands[variable->initial + i];
        bool nests = operand->kind == PTX_VECTOR;
        count += !nests;
        i += nests ? 1 : ptx_extent(operand);
    }
    return count;
}

static PtxSymbolSlot seat_of(const PtxProgram *program, uint32_t index) {
    const PtxModule *module = program->module;
    const PtxVariable *variable = &module->variables[index];
    PtxSymbolSlot seat = {.space = ptx_space_named(ptx_name(module, variable->space)),
                          .bits = (uint8_t)ptx_bits_of_type(ptx_name(module, variable->type)),
                          .members = (uint8_t)vector_members(module, variable)};
    uint64_t each = (uint64_t)(seat.bits < 8 ? 8 : seat.bits) / 8 * seat.members, count = elements(module, variable);
    if (!count && variable->initial_count)
        count = given_elements(module, variable) / seat.members;
    seat.bytes = each * count;
    return seat;
}

static uint64_t align_of(const PtxModule *module, uint32_t index, const PtxSymbolSlot *seat) {
    uint32_t said = module->variables[index].align;
    uint64_t natural = (uint64_t)(seat->bits < 8 ? 8 : seat->bits) / 8 * seat->members;
    return said > natural ? said : natural ? natural : 1;
}

static void seat_register(PtxProgram *program, PtxRoutine *routine, uint32_t index) {
    const PtxVariable *variable = &program->module->variables[index];
    PtxSymbolSlot *seat = &program->seats[index];
    uint32_t count = variable->ranged ? variable->range : 1;
    *seat = seat_of(program, index);
    if (seat->bits == 1) {
        seat->at = routine->masks;
        routine->masks += count;
        return;
    }
    seat->at = routine->rows;
    routine->rows += count * seat->members * (seat->bits > 64 ? 2 : 1);
}

static void take_place(PtxProgram *program, uint32_t index, uint64_t *end) {
    PtxSymbolSlot *seat = &program->seats[index];
    *seat = seat_of(program, index);
    seat->at = up(*end, align_of(program->module, index, seat));
    *end = seat->at + seat->bytes;
}

/* Variables of static shared memory, one after the other; those without a size are dynamic. */
static void seat_shared(PtxProgram *program, uint32_t index) {
    PtxSymbolSlot seat = seat_of(program, index);
    if (seat.bytes)
        take_place(program, index, &program->shared_bytes);
    else
        program->seats[index] = seat;
}

static void seat_in_function(PtxProgram *program, PtxRoutine *routine, uint32_t index) {
    const PtxVariable *variable = &program->module->variables[index];
    bool kernels = routine->function == program->entry && variable->formal == PTX_PARAMETER;
    PtxSpace space = ptx_space_named(ptx_name(program->module, variable->space));
    bool on_stack = space == PTX_SPACE_PARAM && !kernels && (program->used[index] & PTX_ADDRESSED);
    uint64_t end;
    switch (on_stack ? PTX_SPACE_LOCAL : space) {
    case PTX_SPACE_UNKNOWN:
        seat_register(program, routine, index);
        break;
    case PTX_SPACE_PARAM:
        end = kernels ? program->parameter_bytes : routine->param_bytes;
        take_place(program, index, &end);
        *(kernels ? &program->parameter_bytes : &routine->param_bytes) = (uint32_t)end;
        break;
    case PTX_SPACE_LOCAL:
        end = routine->local_bytes;
        take_place(program, index, &end);
        routine->local_bytes = (uint32_t)end;
        program->seats[index].space = PTX_SPACE_LOCAL; /* a parameter whose address is taken lies on the stack */
        break;
    default:
        break; /* with those of the module */
    }
}

static void seat_function(PtxProgram *program, uint32_t index) {
    const PtxModule *module = program->module;
    const PtxFunction *function = &module->functions[index];
    PtxRoutine *routine = &program->routines[index];
    for (uint32_t i = 0; i < function->return_count; i++)
        seat_in_function(program, routine, function->returns + i);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        seat_in_function(program, routine, function->parameters + i);
    for (uint32_t i = function->begin; i < function->end; i++)
        for (uint32_t k = 0; module->statements[i].kind == PTX_VARIABLES && k < module->statements[i].count; k++)
            seat_in_function(program, routine, module->statements[i].what + k);
    routine->param_bytes = (uint32_t)up(routine->param_bytes, 16);
    routine->local_bytes = (uint32_t)up(routine->local_bytes, 16);
}

/* Variables behind a dynamic one may be declared with different alignments: they all lie at the same place. */
static void seat_dynamic(PtxProgram *program) {
    const PtxModule *module = program->module;
    uint64_t align = 16;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        PtxSymbolSlot *seat = &program->seats[i];
        if (program->used[i] && seat->space == PTX_SPACE_SHARED && !seat->bytes && align_of(module, i, seat) > align)
            align = align_of(module, i, seat);
    }
    program->dynamic_at = up(program->shared_bytes, align);
    for (uint32_t i = 0; i < module->variables_count; i++)
        if (program->seats[i].space == PTX_SPACE_SHARED && !program->seats[i].bytes)
            program->seats[i].at = program->dynamic_at;
}

/* Variables that something in the module names, or all of them where the program has them, too: in global and const
 * memory each is at the same address for all kernels, whichever of them uses it. */
static const bool *mentioned_variables(const PtxProgram *program) {
    const PtxModule *module = program->module;
    bool *mentioned = ARENA_ARRAY(program->arena, bool, module->variables_count + 1);
    memset(mentioned, module->globals_at != 0, module->variables_count + 1);
    for (uint32_t i = 0; i < module->operands_count; i++)
        if (module->operands[i].kind == PTX_VARIABLE)
            mentioned[ptx_variable_behind(module, module->operands[i].a)] = true;
    return mentioned;
}

void layout_seats(PtxProgram *program, const bool *reached) {
    enum { APART = 256 };
    const PtxModule *module = program->module;
    uint64_t global = module->globals_at ? module->globals_at : PTX_WINDOW_GLOBAL, constant = 16;
    const bool *mentioned = mentioned_variables(program);
    program->shared_bytes = module->capability >= 90 ? PTX_SHARED_FIRST : 0;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (reached[i] && module->functions[i].body)
            seat_function(program, i);
    for (uint32_t i = 0; i < module->variables_count; i++) {
        if (!mentioned[i] || ptx_variable_behind(module, i) != i)
            continue;
        switch (ptx_space_named(ptx_name(module, module->variables[i].space))) {
        case PTX_SPACE_SHARED:
            if (program->used[i])
                seat_shared(program, i);
            break;
        case PTX_SPACE_GLOBAL:
            global = up(global, APART);
            take_place(program, i, &global);
            global += APART;
            break;
        case PTX_SPACE_CONST:
            take_place(program, i, &constant);
            break;
        default:
            break;
        }
    }
    program->const_bytes = constant;
    program->parameter_bytes = (uint32_t)up(program->parameter_bytes, 4);
    seat_dynamic(program);
    for (uint32_t i = 0; i < module->variables_count; i++)
        if (program->used[i])
            program->seats[i] = program->seats[ptx_variable_behind(module, i)];
}

bool ptx_program_holds(const PtxProgram *program, uint32_t variable, PtxSpace space) {
    const PtxSymbolSlot *seat = &program->seats[variable];
    return program->used[variable] && seat->bytes && seat->space == space &&
           ptx_variable_behind(program->module, variable) == variable;
}

/* ---- Initial values ---- */

static uint64_t generic_base(PtxSpace space) {
    return space == PTX_SPACE_SHARED  ? PTX_WINDOW_SHARED
           : space == PTX_SPACE_CONST ? PTX_WINDOW_CONST
           : space == PTX_SPACE_LOCAL ? PTX_WINDOW_LOCAL
                                      : 0;
}

static uint64_t initial_value(const PtxProgram *program, const PtxOperand *operand, unsigned bits) {
    const PtxSymbolSlot *seat = operand->kind == PTX_VARIABLE ? &program->seats[operand->a] : NULL;
    double wide;
    float narrow;
    uint32_t low;
    switch (operand->kind) {
    case PTX_DOUBLE:
        if (bits != 32)
            return operand->bits;
        memcpy(&wide, &operand->bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        return low;
    case PTX_VARIABLE:
        return seat->at + (uint64_t)operand->value;
    case PTX_CALLEE:
        return PTX_WINDOW_CODE + 16 * (uint64_t)ptx_function_behind(program->module, operand->a);
    case PTX_GENERIC:
        seat = operand[1].kind == PTX_VARIABLE ? &program->seats[operand[1].a] : NULL;
        return (seat ? generic_base(seat->space) : 0) + initial_value(program, &operand[1], bits) +
               (uint64_t)operand->value;
    case PTX_MASKED: {
        uint64_t mask = operand->bits, value = initial_value(program, &operand[1], bits) & mask;
        return mask ? value >> __builtin_ctzll(mask) : 0;
    }
    default:
        return operand->bits;
    }
}

/* Elements of what one more level of braces holds, at that depth: the rest of it is zeros. */
static uint64_t level_elements(const PtxModule *module, const PtxVariable *variable, unsigned depth, unsigned members) {
    uint64_t count = members;
    for (uint32_t i = depth; i < variable->dimension_count; i++) {
        const PtxOperand *size = &module->operands[variable->dimensions + i];
        count *= size->kind == PTX_INTEGER && size->value > 0 ? (uint64_t)size->value : 1;
    }
    return count;
}

typedef struct Filling {
    PtxProgram *program;
    const PtxVariable *variable;
    const PtxSymbolSlot *seat;
    uint8_t *image;
} Filling;

static void fill_level(const Filling *f, const PtxOperand *braces, unsigned depth, uint64_t first) {
    unsigned bytes = f->seat->bits / 8;
    uint64_t at = first;
    for (uint32_t i = 0; i < braces->a; i += ptx_extent(&braces[1 + i])) {
        const PtxOperand *operand = &braces[1 + i];
        if (operand->kind == PTX_VECTOR) {
            fill_level(f, operand, depth + 1, at);
            at += level_elements(f->program->module, f->variable, depth + 1, f->seat->members);
            continue;
        }
        uint64_t value = initial_value(f->program, operand, f->seat->bits);
        if ((at + 1) * bytes <= f->seat->bytes)
            memcpy(f->image + at * bytes, &value, bytes < 8 ? bytes : 8);
        at++;
    }
}

static void fill_image(PtxProgram *program, uint32_t index, uint8_t *image) {
    const PtxVariable *variable = &program->module->variables[index];
    Filling f = {.program = program, .variable = variable, .seat = &program->seats[index], .image = image};
    const PtxOperand *initial = &program->module->operands[variable->initial];
    if (initial->kind == PTX_VECTOR) {
        fill_level(&f, initial, 0, 0);
        return;
    }
    uint64_t value = initial_value(program, initial, f.seat->bits);
    memcpy(image, &value, f.seat->bits < 64 ? f.seat->bits / 8 : 8);
}

void layout_images(PtxProgram *program) {
    const PtxModule *module = program->module;
    for (uint32_t i = 0; i < module->variables_count; i++) {
        PtxSpace space = program->seats[i].space;
        if (!(program->used[i] || module->globals_at) || !module->variables[i].initial_count ||
            (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST))
            continue;
        program->images[i] = ARENA_ARRAY(program->arena, uint8_t, program->seats[i].bytes + 8);
        fill_image(program, i, program->images[i]);
    }
}
