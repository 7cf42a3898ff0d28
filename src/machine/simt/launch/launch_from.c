/* A launch that is placed in memory of this process, as a launch file has it: the way back from the bytes of parameters
 * and memory. Words that are addresses of memory become pointers into buffers. */
#include "machine/simt/launch/launch_internal.h"

#include "base/bisect.h"
#include "machine/simt/core/machine.h"

typedef struct LaunchFrom {
    Arena *arena;
    const PtxProgram *program;
    const PtxLaunch *launch;
    Launch *made;
    uint32_t first; /* buffer that is no variable: from there on they are sorted by address */
    bool *named;    /* of each buffer: an argument says what it holds */
    uint64_t bytes; /* of these */
    uint64_t most;  /* of each; 0: all of it */
    const char *problem;
} LaunchFrom;

enum { MOST_BYTES = 1 << 20, WORD = 8 };

static Argument *fail(LaunchFrom *from, const char *problem) {
    from->problem = from->problem ? from->problem : problem;
    return NULL;
}

/* The buffer that an address is in; PTX_NONE. Variables of the module have the same address at every launch. */
static uint32_t buffer_at(const LaunchFrom *from, uint64_t address) {
    const PtxBuffer *buffers = from->launch->buffers;
    uint32_t low;
    BISECT(low, from->first, from->launch->buffer_count, buffers[low].address <= address);
    return low > from->first && address - buffers[low - 1].address < buffers[low - 1].bytes ? low - 1 : PTX_NONE;
}

static Str name_of(const LaunchFrom *from, uint32_t buffer) {
    Text text = {0};
    text_addf(&text, "memory %u", buffer);
    return str_of(text_keep(&text, from->arena));
}

static Argument *pointer_to(LaunchFrom *from, uint64_t address);

/* Words of some bytes that are addresses. */
static bool add_parts(LaunchFrom *from, Argument *argument, const uint8_t *bytes, uint64_t count, uint64_t first) {
    uint32_t capacity = 0;
    for (uint64_t at = 0; at + WORD <= count; at += WORD) {
        uint64_t word;
        memcpy(&word, bytes + at, WORD);
        if (buffer_at(from, word) == PTX_NONE)
            continue;
        if (at < first)
            return fail(from, "a pointer lies before the memory that a parameter points to");
        Argument *value = pointer_to(from, word);
        if (!value)
            return false;
        *ARENA_PUSH(from->arena, argument->parts, argument->part_count, capacity) =
            (ArgumentPart){.at = (int64_t)(at - first), .value = value};
    }
    return true;
}

/* What the memory held before the launch; what is known of it has to be its begin. */
static bool add_memory(LaunchFrom *from, uint32_t index, const uint8_t *bytes, const uint8_t *states) {
    const PtxBuffer *buffer = &from->launch->buffers[index];
    uint64_t known = 0;
    while (known < buffer->bytes && states[known] == BYTE_KNOWN)
        known++;
    if (from->most)
        known = known < from->most ? known : from->most;
    else if (memchr(states + known, BYTE_KNOWN, buffer->bytes - known))
        return fail(from, "only parts of the memory were written before the launch");
    Argument *argument = ARENA_PUSH(from->arena, from->made->arguments, from->made->count, from->made->capacity);
    int64_t *data = known ? ARENA_ARRAY(from->arena, int64_t, known) : NULL;
    for (uint64_t i = 0; i < known; i++)
        data[i] = bytes[i];
    Str name = name_of(from, index);
    *argument = (Argument){.name = name,
                           .kind = ARGUMENT_TENSOR,
                           .rank = 1,
                           .element_bits = 8,
                           .element = ELEMENT_UNSIGNED,
                           .shape = {(int64_t)buffer->bytes},
                           .strides = {1},
                           .data = data,
                           .data_count = known,
                           .buffer = name,
                           .output = !known && !memchr(states, BYTE_UNKNOWN, buffer->bytes)};
    return true;
}

static Argument *pointer_to(LaunchFrom *from, uint64_t address) {
    uint32_t index = buffer_at(from, address);
    const PtxBuffer *buffer = &from->launch->buffers[index];
    uint64_t offset = address - buffer->address;
    Argument *argument = ARENA_NEW(from->arena, Argument);
    *argument = (Argument){.kind = ARGUMENT_TENSOR,
                           .rank = 1,
                           .element_bits = 8,
                           .element = ELEMENT_UNSIGNED,
                           .shape = {(int64_t)(buffer->bytes - offset)},
                           .strides = {1},
                           .buffer = name_of(from, index),
                           .offset = (int64_t)offset};
    if (buffer->heap)
        return fail(from, "a launch file has no memory that kernels got by malloc");
    if (from->named[index] || from->most == PTX_LAUNCH_BARE)
        return argument;
    from->named[index] = true;
    from->bytes += buffer->bytes;
    if (from->bytes > MOST_BYTES && !from->most)
        return fail(from, "the launch has more than 1 MiB of memory");
    if (buffer->address % WORD)
        return fail(from, "memory is not aligned as that of a launch file is");
    uint8_t *bytes = ARENA_ARRAY(from->arena, uint8_t, buffer->bytes),
            *states = ARENA_ARRAY(from->arena, uint8_t, buffer->bytes);
    ptx_host_before(buffer->host, bytes, states);
    return add_memory(from, index, bytes, states) && add_parts(from, argument, bytes, buffer->bytes, offset) ? argument
                                                                                                             : NULL;
}

static bool add_parameter(LaunchFrom *from, uint32_t variable) {
    const PtxSymbolSlot *seat = &from->program->seats[variable];
    const uint8_t *bytes = from->launch->parameters + seat->at;
    uint64_t word = 0;
    Argument argument = {.kind = ARGUMENT_RAW, .bytes = bytes, .byte_count = seat->bytes};
    memcpy(&word, bytes, seat->bytes < WORD ? seat->bytes : WORD);
    if (seat->bytes == WORD && buffer_at(from, word) != PTX_NONE) {
        const Argument *pointer = pointer_to(from, word);
        if (!pointer)
            return false;
        argument = *pointer;
    } else if (!add_parts(from, &argument, bytes, seat->bytes, 0)) {
        return false;
    }
    argument.name = ptx_name(from->program->module, from->program->module->variables[variable].name);
    argument.shown = ptx_parameter_name(from->program->module, variable);
    *ARENA_PUSH(from->arena, from->made->arguments, from->made->count, from->made->capacity) = argument;
    return true;
}

/* A launch file does not say what variables of the module hold. */
static bool variables_are_new(const LaunchFrom *from) {
    for (uint32_t i = 0; i < from->launch->buffer_count; i++) {
        const PtxBuffer *buffer = &from->launch->buffers[i];
        if (!buffer->variable)
            continue;
        uint8_t *bytes = ARENA_ARRAY(from->arena, uint8_t, buffer->bytes),
                *states = ARENA_ARRAY(from->arena, uint8_t, buffer->bytes);
        ptx_host_before(buffer->host, bytes, states);
        for (uint64_t k = 0; k < buffer->bytes; k++)
            if (states[k] != BYTE_KNOWN || bytes[k] != (buffer->initial ? buffer->initial[k] : 0))
                return false;
    }
    return true;
}

const Launch *ptx_launch_from(Arena *arena, const PtxProgram *program, const PtxLaunch *launch, uint64_t most,
                              const char **problem) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    LaunchFrom from = {
        .arena = arena, .program = program, .launch = launch, .made = ARENA_NEW(arena, Launch), .most = most};
    from.named = ARENA_ARRAY(arena, bool, launch->buffer_count + 1);
    while (from.first < launch->buffer_count && launch->buffers[from.first].variable)
        from.first++;
    for (unsigned i = 0; i < 3; i++) {
        from.made->grid[i] = launch->grid[i];
        from.made->block[i] = launch->block[i];
        from.made->cluster[i] = launch->cluster[i];
    }
    from.made->shared = (int64_t)launch->dynamic_bytes;
    from.made->has_shared = launch->dynamic_bytes;
    bool good =
        most || variables_are_new(&from) || fail(&from, "variables of the module do not hold their initial values");
    for (uint32_t i = 0; good && i < kernel->parameter_count; i++)
        good = add_parameter(&from, kernel->parameters + i);
    *problem = from.problem;
    return good ? from.made : NULL;
}
