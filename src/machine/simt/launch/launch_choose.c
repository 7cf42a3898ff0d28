/* Launches that were not given, and what a given one leaves open.
 *
 * What the parameters are for is read off the kernel: one that an address is made of is a pointer, others of 32 and 64
 * bits are numbers. In most launches all of these are the same, so that sizes fit each other, and launches differ in
 * how large that number is; in some they differ. Memory is large, and its contents are not known. */
#include "machine/simt/launch/launch_internal.h"
#include "ptx/effects.h"

/* ---- How parameters are used --------------------------------------------------------------------- */

static uint32_t index_of(const PtxProgram *program, uint32_t variable) {
    const PtxFunction *function = &program->module->functions[program->entry];
    uint32_t at = variable - function->parameters;
    return variable != PTX_NONE && variable >= function->parameters && at < function->parameter_count ? at : PTX_NONE;
}

/* What the addresses of an instruction are made of. */
static void look_at_addresses(const PtxProgram *program, const PtxValues *values, uint32_t statement, PtxUses *uses) {
    const PtxModule *module = program->module;
    uint32_t count, extent;
    const PtxOperand *operands = ptx_operands(module, &module->statements[statement], &count);
    for (uint32_t i = 0; i < count; i += extent) {
        extent = ptx_extent(&operands[i]);
        if (operands[i].kind != PTX_ADDRESS)
            continue;
        PtxOrigin origin;
        ptx_address_form(values, statement, (uint32_t)(&operands[i] - module->operands), &origin);
        uint32_t parameter = index_of(program, origin.variable);
        bool own = operands[i].a && operands[i + 1].kind == PTX_VARIABLE; /* its own bytes are read */
        if (parameter != PTX_NONE && !own && origin.space != PTX_SPACE_PARAM)
            uses->pointers[parameter] = true;
    }
}

/* Which parts of %ctaid and %tid are read. */
static void look_at_axes(const PtxModule *module, uint32_t statement, PtxUses *uses) {
    const PtxStatement *at = &module->statements[statement];
    for (uint32_t i = 0; i < at->count; i++) {
        const PtxOperand *operand = &module->operands[at->first + i];
        if (operand->kind != PTX_SPECIAL)
            continue;
        const char *name = ptx_special_at(operand->a)->name;
        unsigned axes = operand->part >= PTX_X && operand->part <= PTX_Z ? 1u << (operand->part - PTX_X) : 7;
        uses->axes |= strcmp(name, "%ctaid") == 0 ? axes : 0;
        uses->thread_axes |= strcmp(name, "%tid") == 0 ? axes : 0;
    }
}

/* Whether it takes two CTAs of a cluster. */
static void look_at_clusters(const PtxModule *module, uint32_t statement, PtxUses *uses) {
    static const char *const words[] = {"cta_group::2", "multicast::cluster"};
    Str text = module->forms[module->statements[statement].what].text;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        uses->pairs |= ptx_form_has(text, str_of(words[i]));
}

/* For how many threads its barriers are. Roles of warps are made for the block that the kernel is launched with. */
static void look_at_barriers(const PtxProgram *program, const PtxValues *values, uint32_t statement, PtxUses *uses) {
    enum { MOST_THREADS = 1024 };
    const PtxModule *module = program->module;
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(module, &module->statements[statement], effects);
    bool named = false;
    for (unsigned i = 0; i < count; i++) {
        named |= effects[i].effect.verb == EFFECT_NAMED_SYNC || effects[i].effect.verb == EFFECT_NAMED_ARRIVE;
        uses->roles |= effects[i].effect.verb == EFFECT_INIT;
    }
    uint32_t operand_count;
    const PtxOperand *operands = ptx_operands(module, &module->statements[statement], &operand_count);
    if (!named || operand_count != 2) /* its number and that of the threads */
        return;
    uint64_t constant = operands[1].kind == PTX_INTEGER ? (uint64_t)operands[1].value : 0;
    Form form = ptx_operand_form(values, (uint32_t)(&operands[1] - module->operands));
    uses->roles = true;
    if ((constant || form_constant(&form, &constant)) && constant <= MOST_THREADS && (int64_t)constant > uses->least)
        uses->least = (int64_t)constant;
}

PtxUses ptx_launch_uses(Arena *arena, const PtxProgram *program) {
    const PtxModule *module = program->module;
    uint32_t count = module->functions[program->entry].parameter_count;
    PtxUses uses = {.pointers = ARENA_ARRAY(arena, bool, count + 1)};
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    for (uint32_t i = 0; i < count; i++)
        uses.pointers[i] = ptx_parameter(module, program->entry, i).pointer;
    if (!ptx_flow_values(&flow, &values, module, program->entry, NULL, 0, &problem))
        return uses;
    for (uint32_t i = 0; i < flow.instruction_count; i++) {
        look_at_addresses(program, &values, flow.instructions[i], &uses);
        look_at_axes(module, flow.instructions[i], &uses);
        look_at_clusters(module, flow.instructions[i], &uses);
        look_at_barriers(program, &values, flow.instructions[i], &uses);
    }
    if (uses.thread_axes & 6 && ptx_launch_one_row(arena, &flow))
        uses.thread_axes = 1;
    ptx_flow_values_free(&flow, &values);
    return uses;
}

/* ---- What is left open --------------------------------------------------------------------------- */

uint32_t ptx_launch_argument(const Launch *launch, const PtxParameter *parameter, uint32_t index) {
    int64_t number;
    for (uint32_t i = 0; i < launch->count; i++) {
        Str name = launch->arguments[i].name;
        if (str_equal(name, parameter->exact) || str_equal(name, parameter->name) ||
            (str_to_int(name, &number) && number == index))
            return i;
    }
    return PTX_NONE;
}

static Argument chosen_argument(const PtxParameter *parameter, bool pointer, int64_t number) {
    enum { USUAL_BYTES = 1 << 20 };
    static const uint8_t nothing[1];
    Argument argument = {.name = parameter->exact, .shown = parameter->name};
    if (pointer && parameter->bytes == 8) {
        argument.kind = ARGUMENT_TENSOR;
        argument.rank = 1;
        argument.element_bits = 8;
        argument.element = ELEMENT_UNSIGNED;
        argument.shape[0] = USUAL_BYTES;
        argument.strides[0] = 1;
    } else if (parameter->scalar && parameter->letter != 'f' && parameter->bits <= 64) {
        argument.kind = ARGUMENT_INTEGER;
        argument.integer = number;
    } else { /* none of it is known */
        argument.kind = ARGUMENT_RAW;
        argument.bytes = nothing;
    }
    return argument;
}

void ptx_launch_fill(Arena *arena, const PtxProgram *program, const PtxUses *uses, const int64_t *numbers,
                     Launch *launch, bool *chosen) {
    enum { USUAL_NUMBER = 100 };
    uint32_t count = program->module->functions[program->entry].parameter_count, given = launch->count;
    Argument *arguments = ARENA_ARRAY(arena, Argument, given + count + 1);
    if (given)
        memcpy(arguments, launch->arguments, given * sizeof *arguments);
    for (uint32_t i = 0; i < count; i++) {
        PtxParameter parameter = ptx_parameter(program->module, program->entry, i);
        if (ptx_launch_argument(launch, &parameter, i) != PTX_NONE)
            continue;
        int64_t most = parameter.bits < 63 ? (INT64_C(1) << (parameter.bits - 1)) - 1 : INT64_MAX;
        int64_t number = numbers ? numbers[i] : USUAL_NUMBER;
        chosen[given] = true;
        arguments[given++] = chosen_argument(&parameter, uses->pointers[i], number < most ? number : most);
    }
    launch->arguments = arguments;
    launch->count = launch->capacity = given;
}

/* ---- Launches ------------------------------------------------------------------------------------ */

/* Turns of loops over elements: one, two, odd ones; over tiles of 16 to 128 elements, the same. */
static const int64_t numbers[] = {128, 3, 100, 1, 2, 5, 33, 16, 320, 768, 257};
enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

/* Whether that parameter is a number that was not given. */
static bool is_open(const PtxProgram *program, const PtxUses *uses, const Launch *launch, uint32_t index) {
    PtxParameter parameter = ptx_parameter(program->module, program->entry, index);
    return ptx_launch_argument(launch, &parameter, index) == PTX_NONE &&
           chosen_argument(&parameter, uses->pointers[index], 0).kind == ARGUMENT_INTEGER;
}

bool ptx_launch_with(Arena *arena, const PtxProgram *program, const Launch *fixed, const int64_t *each,
                     const uint32_t *grid, const uint32_t *block, PtxLaunch *made, const char **problem) {
    PtxUses uses = ptx_launch_uses(arena, program);
    Launch launch = fixed ? *fixed : (Launch){.kernel = STR("")};
    const Launch base = launch;
    launch.chosen = true;
    launch.kernel = ptx_name(program->module, program->module->functions[program->entry].name);
    bool *chosen =
        ARENA_ARRAY(arena, bool, base.count + program->module->functions[program->entry].parameter_count + 1);
    ptx_launch_fill(arena, program, &uses, each, &launch, chosen);
    for (unsigned i = 0; i < 3; i++) {
        if (grid && !base.grid[0])
            launch.grid[i] = grid[i];
        if (block && !base.block[0])
            launch.block[i] = block[i];
    }
    if (!ptx_launch_bind(arena, program, &launch, made, problem))
        return false;
    made->chosen_grid = !base.grid[0];
    made->chosen_block = !base.block[0];
    for (uint32_t k = 0; k < made->buffer_count; k++) {
        PtxBuffer *buffer = &made->buffers[k];
        PtxParameter of = {.name = STR("")};
        if (buffer->parameter != PTX_NONE)
            of = ptx_parameter(program->module, program->entry, buffer->parameter);
        buffer->chosen = !of.name.size || ptx_launch_argument(&base, &of, buffer->parameter) == PTX_NONE;
    }
    return true;
}

/* Numbers that are all different: from 33 up, or down to it; large ones. */
static int64_t different(PtxNumbers kind, uint32_t index, uint32_t count) {
    switch (kind) {
    case PTX_NUMBERS_UP:
        return 33 + 16 * (int64_t)index + index % 2;
    case PTX_NUMBERS_DOWN:
        return 33 + 16 * (int64_t)(count - index) + index % 2;
    case PTX_NUMBERS_LARGE:
        return 5003 + 1000 * (int64_t)index;
    default:
        return 0;
    }
}

bool ptx_launch_numbers(Arena *arena, const PtxProgram *program, const Launch *fixed, PtxNumbers kind,
                        const PtxLaunch *like, PtxLaunch *made) {
    enum { LARGE_GRID = 130 };
    uint32_t count = program->module->functions[program->entry].parameter_count, open = 0, at = 0;
    int64_t *each = ARENA_ARRAY(arena, int64_t, count + 1);
    const Launch blank = {.kernel = STR("")};
    PtxUses uses = ptx_launch_uses(arena, program);
    const char *problem;
    uint32_t grid[3] = {like->grid[0], like->grid[1], like->grid[2]};
    for (uint32_t i = 0; i < count; i++)
        open += is_open(program, &uses, fixed ? fixed : &blank, i);
    for (uint32_t i = 0; i < count; i++)
        if (is_open(program, &uses, fixed ? fixed : &blank, i))
            each[i] = different(kind, at++, open);
    bool large = kind == PTX_NUMBERS_LARGE && like->chosen_grid && uses.axes & 1;
    if (large)
        grid[0] = (LARGE_GRID + grid[0] - 1) / grid[0] * grid[0];
    else if (open < (kind == PTX_NUMBERS_UP || kind == PTX_NUMBERS_DOWN ? 2 : 1))
        return false; /* there is nothing to differ */
    return ptx_launch_with(arena, program, fixed, each, grid, like->block, made, &problem);
}

uint32_t ptx_launch_choose(Arena *arena, const PtxProgram *program, const Launch *fixed, PtxLaunch *launches,
                           uint32_t most, const char **problem) {
    const Launch blank = {.kernel = STR("")};
    uint32_t parameters = program->module->functions[program->entry].parameter_count, count = 0, open = 0;
    int64_t *each = ARENA_ARRAY(arena, int64_t, parameters + 1);
    PtxUses uses = ptx_launch_uses(arena, program);
    for (uint32_t i = 0; i < parameters; i++)
        open += is_open(program, &uses, fixed ? fixed : &blank, i);
    for (uint32_t i = 0; i < (open ? NUMBER_COUNT : 1) && count < most; i++) {
        for (uint32_t k = 0; k < parameters; k++)
            each[k] = numbers[i];
        if (!ptx_launch_with(arena, program, fixed, each, NULL, NULL, &launches[count++], problem))
            return 0;
    }
    return count;
}

bool ptx_launch_number(const PtxProgram *program, const PtxLaunch *launch, uint32_t parameter, int64_t *number) {
    PtxParameter of = ptx_parameter(program->module, program->entry, parameter);
    uint32_t at = launch->from ? ptx_launch_argument(launch->from, &of, parameter) : PTX_NONE;
    const Argument *argument = at == PTX_NONE ? NULL : &launch->from->arguments[at];
    if (!argument || argument->kind != ARGUMENT_INTEGER)
        return false;
    *number = argument->integer;
    return true;
}

bool ptx_launch_grow(Arena *arena, const PtxProgram *program, PtxLaunch *launch, uint32_t buffer, uint64_t bytes) {
    if (buffer >= launch->buffer_count || !launch->buffers[buffer].chosen || bytes > PTX_BUFFERS_APART ||
        bytes <= launch->buffers[buffer].bytes)
        return false;
    launch->buffers[buffer].bytes = bytes;
    uint32_t parameter = launch->buffers[buffer].parameter;
    if (parameter != PTX_NONE) {
        PtxParameter of = ptx_parameter(program->module, program->entry, parameter);
        launch->from->arguments[ptx_launch_argument(launch->from, &of, parameter)].shape[0] = (int64_t)bytes;
        launch->text = launch_text(launch->from, arena);
    }
    return true;
}
