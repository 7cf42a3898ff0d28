/* From a launch file's values to the bytes of parameters and memory. */
#include "machine/simt/launch/launch_internal.h"

#include "machine/simt/async/tensormap.h"
#include "machine/simt/core/machine.h"
#include "model/target/target.h"

#include <inttypes.h>

/* ---- Parameters ---------------------------------------------------------------------------------- */

PtxParameter ptx_parameter(const PtxModule *module, uint32_t entry, uint32_t index) {
    PtxParameter parameter = {.variable = module->functions[entry].parameters + index};
    const PtxVariable *variable = &module->variables[parameter.variable];
    Str type = ptx_name(module, variable->type), vector = ptx_name(module, variable->vector);
    int64_t bits = 0;
    parameter.name = ptx_parameter_name(module, parameter.variable);
    parameter.exact = ptx_name(module, variable->name);
    parameter.letter = type.size > 1 ? type.data[1] : 'b';
    if (type.size > 2)
        (void)str_to_int((Str){type.data + 2, type.size - 2}, &bits);
    parameter.bits = bits > 0 && bits <= 128 ? (uint32_t)bits : 64; /* .texref and the like: an address */
    parameter.bytes = parameter.bits / 8;
    parameter.scalar = !vector.size && !variable->dimension_count;
    if (vector.size > 2)
        parameter.bytes *= (uint64_t)(vector.data[2] - '0');
    for (uint32_t i = 0; i < variable->dimension_count; i++)
        parameter.bytes *= module->operands[variable->dimensions + i].bits;
    parameter.pointer = variable->pointer;
    return parameter;
}

bool ptx_parameter_is_map(const PtxParameter *parameter) {
    return parameter->bytes == TENSORMAP_BYTES && !parameter->scalar;
}

bool ptx_has_dynamic(const PtxModule *module) {
    for (uint32_t i = 0; i < module->variables_count; i++) {
        const PtxVariable *variable = &module->variables[i];
        if (str_is(ptx_name(module, variable->space), ".shared") && variable->dimension_count &&
            module->operands[variable->dimensions].kind == PTX_EMPTY)
            return true;
    }
    return false;
}

/* ---- Binding ------------------------------------------------------------------------------------- */

/* Memory that arguments name. */
typedef struct LaunchMemory {
    Str name; /* of the buffer; "": of one argument alone */
    const Argument *first;
    uint32_t parameter; /* that points to it; PTX_NONE: it is a part of other bytes, or is named by several */
    uint64_t bytes, address;
    uint8_t *data;
    uint64_t data_bytes;
    bool zero, output, chosen;
} LaunchMemory;

typedef struct Binding {
    Arena *arena;
    const PtxProgram *program;
    LaunchMemory *memories;
    uint32_t count, capacity;
    uint32_t *seen, seen_count, seen_capacity; /* memories, in the order in which arguments are walked */
    uint32_t next;                             /* of these, while values are placed */
    uint32_t parameter;                        /* whose argument is looked at; PTX_NONE: none */
    const char *problem;
} Binding;

static bool fail(Binding *binding, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Binding *binding, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    binding->problem = text_keep(&text, binding->arena);
    return false;
}

static bool has_memory(const Argument *argument) {
    return argument->kind == ARGUMENT_TENSOR || argument->kind == ARGUMENT_DESCRIPTOR ||
           argument->kind == ARGUMENT_POINTERS;
}

static uint64_t bytes_of(const Argument *argument, int64_t elements) {
    return ((uint64_t)elements * argument->element_bits + 7) / 8;
}

/* Elements before its first one, which belong to the memory. */
static int64_t elements_before(const Argument *argument) {
    int64_t before = argument->has_storage ? argument->storage[0] : 0;
    return before > argument->offset ? before : argument->offset;
}

static int64_t elements_from(const Argument *argument) {
    int64_t own = argument_elements(argument);
    return argument->has_storage && (argument->storage[1] > own || argument->kind == ARGUMENT_DESCRIPTOR)
               ? argument->storage[1]
               : own;
}

/* ---- What memory there is ---- */

static LaunchMemory *memory_named(Binding *binding, const Argument *argument) {
    for (uint32_t i = 0; argument->buffer.size && i < binding->count; i++)
        if (str_equal(binding->memories[i].name, argument->buffer))
            return &binding->memories[i];
    LaunchMemory *memory = ARENA_PUSH(binding->arena, binding->memories, binding->count, binding->capacity);
    *memory = (LaunchMemory){.name = argument->buffer, .first = argument, .parameter = binding->parameter};
    return memory;
}

static bool put_data(Binding *binding, const Argument *argument, LaunchMemory *memory) {
    unsigned bits = argument->element_bits;
    if (bits > 64 || (bits % 8 && bits != 4))
        return fail(binding, "'%.*s': elements of %u bits take no 'data'", STR_ARG(argument->name), bits);
    if (argument->has_storage && argument->storage[0])
        return fail(binding, "'%.*s': 'data' gives memory from its start, and this tensor starts after that",
                    STR_ARG(argument->name));
    uint64_t size = bytes_of(argument, (int64_t)argument->data_count);
    uint8_t *bytes = ARENA_ARRAY(binding->arena, uint8_t, size + 8);
    for (size_t i = 0; i < argument->data_count; i++) {
        uint64_t value = (uint64_t)argument->data[i] & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
        if (bits == 4)
            bytes[i / 2] |= (uint8_t)(value << 4 * (i % 2));
        else
            memcpy(bytes + i * bits / 8, &value, bits / 8); /* hosts are little endian, as GPUs are */
    }
    if (memory->data && (memory->data_bytes != size || memcmp(memory->data, bytes, size) != 0))
        return fail(binding, "buffer '%.*s' is given different data", STR_ARG(argument->buffer));
    memory->data = bytes;
    memory->data_bytes = size;
    return true;
}

static bool find_memory(Binding *binding, const Argument *argument, bool chosen) {
    if (argument->kind == ARGUMENT_POINTERS) {
        LaunchMemory *memory = memory_named(binding, &(Argument){.name = argument->name});
        memory->first = argument;
        memory->bytes = 8;
        *ARENA_PUSH(binding->arena, binding->seen, binding->seen_count, binding->seen_capacity) = binding->count - 1;
        return true;
    }
    if (!argument->element_bits)
        return fail(binding, "'%.*s' needs a 'dtype': PTX does not say what pointers point to",
                    STR_ARG(argument->name));
    LaunchMemory *memory = memory_named(binding, argument);
    uint64_t bytes = bytes_of(argument, elements_before(argument) + elements_from(argument));
    memory->bytes = bytes > memory->bytes ? bytes : memory->bytes;
    memory->zero |= argument->zero;
    memory->output |= argument->output;
    memory->chosen |= chosen;
    *ARENA_PUSH(binding->arena, binding->seen, binding->seen_count, binding->seen_capacity) =
        (uint32_t)(memory - binding->memories);
    return !argument->data || put_data(binding, argument, memory);
}

static bool find_memories(Binding *binding, const Argument *argument, bool chosen) {
    if (has_memory(argument) && !find_memory(binding, argument, chosen))
        return false;
    uint32_t parameter = binding->parameter;
    binding->parameter = PTX_NONE;
    for (uint32_t i = 0; i < argument->part_count; i++)
        if (!find_memories(binding, argument->parts[i].value, chosen))
            return false;
    binding->parameter = parameter;
    return true;
}

static bool place_memories(Binding *binding) {
    uint64_t at = PTX_BUFFERS_FIRST;
    for (uint32_t i = 0; i < binding->count; i++) {
        LaunchMemory *memory = &binding->memories[i];
        if (memory->output && (memory->zero || memory->data))
            return fail(binding, "buffer '%.*s' is an output, and another argument gives what it holds",
                        STR_ARG(memory->name));
        memory->address = at;
        uint64_t size = (memory->bytes + PTX_BUFFERS_APART - 1) / PTX_BUFFERS_APART * PTX_BUFFERS_APART;
        if (size > PTX_WINDOW_SHARED || at + size + PTX_BUFFERS_APART > PTX_WINDOW_SHARED)
            return fail(binding, "'%.*s': there are no addresses left for so much memory",
                        STR_ARG(memory->first->name));
        at += size + PTX_BUFFERS_APART;
    }
    return true;
}

/* ---- Values ---- */

static uint8_t map_type(const Argument *argument) {
    static const uint8_t kinds[ELEMENT_KINDS] = {
        [ELEMENT_F16] = 6, [ELEMENT_BF16] = 9, [ELEMENT_F32] = 7, [ELEMENT_TF32] = 11, [ELEMENT_F64] = 8};
    bool is_signed = argument->element == ELEMENT_SIGNED;
    if (kinds[argument->element])
        return kinds[argument->element];
    switch (argument->element_bits) {
    case 4:
        return 13;
    case 6:
        return 15;
    case 16:
        return 1;
    case 32:
        return is_signed ? 3 : 2;
    case 64:
        return is_signed ? 5 : 4;
    default:
        return 0;
    }
}

/* The bytes of a tensor map. A launch has the outermost dimension first, and a map the innermost. */
static bool make_map(Binding *binding, const Argument *argument, uint64_t address, uint8_t bytes[TENSORMAP_BYTES]) {
    unsigned rank = argument->rank;
    TensorMap map = {.rank = (uint8_t)rank,
                     .type = map_type(argument),
                     .interleave = argument->map.interleave,
                     .swizzle = argument->map.swizzle,
                     .fill = argument->map.nans,
                     .address = address};
    bool column = rank >= 3 && argument->block_rank == 2;
    if (rank < 1 || rank > TENSORMAP_DIMS)
        return fail(binding, "'%.*s' is a tensor map, which has 1 to %d dimensions", STR_ARG(argument->name),
                    TENSORMAP_DIMS);
    if (!argument->block_rank)
        return fail(binding, "'%.*s' is a tensor map: it needs a 'block'", STR_ARG(argument->name));
    map.kind = column ? TENSORMAP_IM2COL : TENSORMAP_TILED;
    for (unsigned i = 0; i < rank; i++) {
        unsigned from = rank - 1 - i;
        if (argument->shape[from] > UINT32_MAX || (!column && argument->block[from] > UINT16_MAX))
            return fail(binding, "'%.*s' is too large for a tensor map", STR_ARG(argument->name));
        map.size[i] = (uint32_t)argument->shape[from];
        map.stride[i] = (uint64_t)argument->strides[from] * argument->element_bits / 8;
        map.box[i] = column ? 0 : (uint16_t)argument->block[from];
        map.element_stride[i] = (uint8_t)(argument->map.steps[from] ? argument->map.steps[from] : 1);
    }
    for (unsigned i = 0; column && i < argument->map.corners && i < 3; i++) {
        map.lower[i] = (int16_t)argument->map.lower[argument->map.corners - 1 - i];
        map.upper[i] = (int16_t)argument->map.upper[argument->map.corners - 1 - i];
    }
    if (column) {
        map.pixels = (uint16_t)argument->block[0];
        map.channels = (uint16_t)argument->block[1];
    }
    tensormap_encode(&map, bytes);
    return true;
}

/* Where bytes are put, and which of them are known. */
typedef struct LaunchRoom {
    uint8_t *bytes, *known;
    uint64_t size;
} LaunchRoom;

static bool put(Binding *binding, LaunchRoom *room, const Argument *argument, uint64_t at, const void *bytes,
                size_t size) {
    if (at > room->size || size > room->size - at)
        return fail(binding, "'%.*s': byte %" PRIu64 " is behind its end", STR_ARG(argument->name), at + size - 1);
    memcpy(room->bytes + at, bytes, size);
    memset(room->known + at, BYTE_KNOWN, size);
    return true;
}

static bool put_value(Binding *binding, LaunchRoom *room, const Argument *argument, uint64_t at);

static bool put_parts(Binding *binding, LaunchRoom *room, const Argument *argument) {
    for (uint32_t i = 0; i < argument->part_count; i++)
        if (!put_value(binding, room, argument->parts[i].value, (uint64_t)argument->parts[i].at))
            return false;
    return true;
}

/* Pointers that lie in memory: what is before them has to be known, too. */
static bool put_pointers(Binding *binding, LaunchMemory *memory, const Argument *argument) {
    LaunchRoom room = {.size = memory->data_bytes};
    uint64_t begin = bytes_of(argument, argument->offset);
    for (uint32_t i = 0; i < argument->part_count; i++) {
        bool map = argument->parts[i].value->kind == ARGUMENT_DESCRIPTOR;
        uint64_t end = begin + (uint64_t)argument->parts[i].at + (map ? TENSORMAP_BYTES : 8);
        room.size = end > room.size ? end : room.size;
    }
    if (room.size > memory->bytes)
        return fail(binding, "'%.*s': a pointer is behind the end of its %" PRIu64 " bytes", STR_ARG(argument->name),
                    memory->bytes);
    room.bytes = ARENA_ARRAY(binding->arena, uint8_t, room.size + 8);
    room.known = ARENA_ARRAY(binding->arena, uint8_t, room.size + 8);
    memset(room.known, memory->zero ? BYTE_KNOWN : 0, room.size);
    if (memory->data) {
        memcpy(room.bytes, memory->data, memory->data_bytes);
        memset(room.known, BYTE_KNOWN, memory->data_bytes);
    }
    LaunchRoom behind = {room.bytes + begin, room.known + begin, room.size - begin};
    if (!put_parts(binding, &behind, argument))
        return false;
    if (memchr(room.known, 0, room.size))
        return fail(binding, "'%.*s' has pointers: what is between them needs 'data', or 'zero'",
                    STR_ARG(argument->name));
    memory->data = room.bytes;
    memory->data_bytes = room.size;
    return true;
}

/* The address of an argument's memory, which is given what it holds. */
static bool address_of(Binding *binding, const Argument *argument, uint64_t *address) {
    LaunchMemory *memory = &binding->memories[binding->seen[binding->next++]];
    *address = memory->address;
    if (argument->kind == ARGUMENT_POINTERS) {
        for (uint32_t i = 0; i < binding->count; i++)
            if (str_equal(binding->memories[i].name, argument->buffer)) {
                memory->data = ARENA_ARRAY(binding->arena, uint8_t, 8);
                memory->data_bytes = 8;
                memcpy(memory->data, &binding->memories[i].address, 8);
                return true;
            }
        return fail(binding, "'%.*s': there is no buffer '%.*s'", STR_ARG(argument->name), STR_ARG(argument->buffer));
    }
    *address += bytes_of(argument, elements_before(argument));
    return !argument->part_count || put_pointers(binding, memory, argument);
}

static bool put_number(Binding *binding, LaunchRoom *room, const Argument *argument, uint64_t at,
                       const PtxParameter *of) {
    bool real = argument->kind == ARGUMENT_FLOAT, float_type = of->letter == 'f';
    uint64_t size = room->size < 8 ? room->size : 8;
    int64_t bits = argument->integer;
    if (real && (of->letter == 'u' || of->letter == 's'))
        return fail(binding, "'%.*s' is an integer, .%c%u, and the launch gives %g", STR_ARG(argument->name),
                    of->letter, of->bits, argument->number);
    if (!of->scalar && size != 1 && size != 2 && size != 4 && room->size != 8)
        return fail(binding, "'%.*s' has %" PRIu64 " bytes: the launch gives them as {\"bytes\": ...}",
                    STR_ARG(argument->name), room->size);
    if (real || float_type) {
        double number = real ? argument->number : (double)argument->integer;
        NumberKind kind = size == 8 ? ELEMENT_F64 : size == 4 ? ELEMENT_F32 : ELEMENT_F16;
        if (!element_of_real(kind, number, &bits))
            return fail(binding, "'%.*s': %g does not fit in %" PRIu64 " bits", STR_ARG(argument->name), number,
                        size * 8);
    } else if (size < 8 && (bits < -(INT64_C(1) << (size * 8 - 1)) || bits >= INT64_C(1) << (size * 8))) {
        return fail(binding, "'%.*s' has %" PRIu64 " bits, and %" PRId64 " does not fit", STR_ARG(argument->name),
                    size * 8, bits);
    }
    return put(binding, room, argument, at, &bits, size);
}

static bool put_value(Binding *binding, LaunchRoom *room, const Argument *argument, uint64_t at) {
    static const PtxParameter inner = {.letter = 'b', .bits = 64, .bytes = 8, .scalar = true};
    uint64_t address;
    uint8_t map[TENSORMAP_BYTES];
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
    case ARGUMENT_FLOAT: {
        LaunchRoom eight = {room->bytes + at, room->known + at, 8};
        if (at + 8 > room->size)
            return fail(binding, "'%.*s': byte %" PRIu64 " is behind its end", STR_ARG(argument->name), at + 7);
        return put_number(binding, &eight, argument, 0, &inner);
    }
    case ARGUMENT_RAW:
        if (!put(binding, room, argument, at, argument->bytes, argument->byte_count))
            return false;
        return put_parts(binding, room, argument);
    case ARGUMENT_DESCRIPTOR:
        if (!address_of(binding, argument, &address) || !make_map(binding, argument, address, map))
            return false;
        return put(binding, room, argument, at, map, sizeof map);
    default:
        return address_of(binding, argument, &address) && put(binding, room, argument, at, &address, 8);
    }
}

/* ---- A launch ---- */

/* What a parameter is given. */
typedef struct Given {
    PtxParameter parameter;
    const Argument *argument;
    bool chosen;
} Given;

/* The parameter that an argument is for, by name or by number; PTX_NONE. */
static uint32_t parameter_of(const Given *given, uint32_t count, Str name) {
    int64_t number;
    for (uint32_t i = 0; i < count; i++)
        if (str_equal(given[i].parameter.exact, name) || str_equal(given[i].parameter.name, name))
            return i;
    return str_to_int(name, &number) && number >= 0 && number < count ? (uint32_t)number : PTX_NONE;
}

static bool match(Binding *binding, const Launch *launch, const bool *chosen, Given *given, uint32_t count) {
    for (uint32_t i = 0; i < launch->count; i++) {
        const Argument *argument = &launch->arguments[i];
        uint32_t at = parameter_of(given, count, argument->name);
        if (at == PTX_NONE) {
            if (argument->kind == ARGUMENT_TENSOR && argument->buffer.size)
                continue; /* it describes memory that others point to */
            return fail(binding, "there is no parameter '%.*s'; there are %u, by name or from 0 on",
                        STR_ARG(argument->name), count);
        }
        if (given[at].argument)
            return fail(binding, "parameter '%.*s' is given twice", STR_ARG(given[at].parameter.name));
        if (!str_equal(given[at].parameter.name, given[at].parameter.exact))
            launch->arguments[i].shown = given[at].parameter.name;
        given[at].argument = argument;
        given[at].chosen = chosen[i];
    }
    return true;
}

/* A tensor map whose address is the parameter lies in memory of its own. */
static const Argument *as_pointer(Arena *arena, const Given *given) {
    const Argument *argument = given->argument;
    if (argument->kind != ARGUMENT_DESCRIPTOR || given->parameter.bytes != 8)
        return argument;
    Argument *around = ARENA_NEW(arena, Argument);
    *around = (Argument){.name = argument->name,
                         .kind = ARGUMENT_TENSOR,
                         .rank = 1,
                         .element_bits = 8,
                         .shape = {TENSORMAP_BYTES},
                         .strides = {1},
                         .part_count = 1};
    around->parts = ARENA_NEW(arena, ArgumentPart);
    around->parts->value = ARENA_NEW(arena, Argument);
    *around->parts->value = *argument;
    return around;
}

static bool fits(Binding *binding, const Given *given) {
    const PtxParameter *parameter = &given->parameter;
    const Argument *argument = given->argument;
    if (argument->kind == ARGUMENT_DESCRIPTOR && parameter->bytes < TENSORMAP_BYTES)
        return fail(binding, "'%.*s' has %" PRIu64 " bytes, and a tensor map has %d", STR_ARG(parameter->name),
                    parameter->bytes, TENSORMAP_BYTES);
    if ((argument->kind == ARGUMENT_TENSOR || argument->kind == ARGUMENT_POINTERS) &&
        (parameter->bytes < 8 || parameter->letter == 'f'))
        return fail(binding, "'%.*s' is a scalar, .%c%u, and the launch gives memory", STR_ARG(parameter->name),
                    parameter->letter, parameter->bits);
    bool open = given->chosen || !argument->byte_count; /* what is not given is not known */
    if (argument->kind == ARGUMENT_RAW && argument->byte_count != parameter->bytes && !open)
        return fail(binding, "'%.*s' has %" PRIu64 " bytes, and the launch gives %zu", STR_ARG(parameter->name),
                    parameter->bytes, argument->byte_count);
    return true;
}

static bool put_parameter(Binding *binding, PtxLaunch *to, const Given *given) {
    const PtxSymbolSlot *seat = &binding->program->seats[given->parameter.variable];
    LaunchRoom room = {to->parameters + seat->at, to->known + seat->at, given->parameter.bytes};
    const Argument *argument = given->argument;
    if (argument->kind == ARGUMENT_INTEGER || argument->kind == ARGUMENT_FLOAT)
        return put_number(binding, &room, argument, 0, &given->parameter);
    return put_value(binding, &room, argument, 0);
}

/* "argument 2", "argument input", the name of the buffer, or that of the argument whose bytes point to it. */
static const char *memory_name(const Binding *binding, const LaunchMemory *memory) {
    Text text = {0};
    if (memory->name.size)
        text_add_plain(&text, memory->name);
    else if (memory->parameter != PTX_NONE)
        text_plainf(
            &text, "%s",
            ptx_argument_name(binding->program->module, binding->program->entry, memory->parameter, binding->arena));
    else
        text_plainf(&text, "memory of %s",
                    arena_copy(binding->arena, memory->first->name.data, memory->first->name.size));
    return text_keep(&text, binding->arena);
}

static void keep_memories(const Binding *binding, PtxLaunch *to) {
    to->buffers = ARENA_ARRAY(binding->arena, PtxBuffer, binding->count + 1);
    to->buffer_count = binding->count;
    for (uint32_t i = 0; i < binding->count; i++) {
        const LaunchMemory *memory = &binding->memories[i];
        to->buffers[i] = (PtxBuffer){.name = memory_name(binding, memory),
                                     .parameter = memory->parameter,
                                     .address = memory->address,
                                     .bytes = memory->bytes,
                                     .data = memory->data,
                                     .data_bytes = memory->data_bytes,
                                     .zero = memory->zero,
                                     .output = memory->output,
                                     .chosen = memory->chosen};
    }
}

static bool bind_arguments(Binding *binding, const Launch *launch, const bool *chosen, PtxLaunch *to) {
    const PtxModule *module = binding->program->module;
    uint32_t count = module->functions[binding->program->entry].parameter_count;
    Given *given = ARENA_ARRAY(binding->arena, Given, count + 1);
    for (uint32_t i = 0; i < count; i++)
        given[i].parameter = ptx_parameter(module, binding->program->entry, i);
    if (!match(binding, launch, chosen, given, count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        given[i].argument = as_pointer(binding->arena, &given[i]);
        binding->parameter = i;
        if (!fits(binding, &given[i]) || !find_memories(binding, given[i].argument, given[i].chosen))
            return false;
    }
    binding->parameter = PTX_NONE;
    for (uint32_t i = 0; i < launch->count; i++) {
        const Argument *argument = &launch->arguments[i];
        if (parameter_of(given, count, argument->name) == PTX_NONE && !find_memories(binding, argument, false))
            return false;
    }
    if (!place_memories(binding))
        return false;
    to->parameters = ARENA_ARRAY(binding->arena, uint8_t, binding->program->parameter_bytes + 1);
    to->known = ARENA_ARRAY(binding->arena, uint8_t, binding->program->parameter_bytes + 1);
    memset(to->known, BYTE_UNKNOWN, binding->program->parameter_bytes + 1);
    for (uint32_t i = 0; i < count; i++)
        if (!put_parameter(binding, to, &given[i]))
            return false;
    keep_memories(binding, to);
    return true;
}

/* ---- Shapes ---- */

enum { MOST_SHARED = 232448 }; /* bytes of shared memory that a CTA can have, on any target */

static bool is_said(const int64_t shape[3]) {
    return shape[0] > 0;
}

static bool same(const int64_t shape[3], const uint32_t wanted[3]) {
    return shape[0] == wanted[0] && shape[1] == wanted[1] && shape[2] == wanted[2];
}

static bool check_shapes(Binding *binding, const Launch *launch) {
    enum { MOST_THREADS = 1024, MOST_CTAS = 16 };
    const uint32_t *required = binding->program->required, *cluster = binding->program->cluster;
    const int64_t *block = launch->block, *ctas = launch->cluster;
    uint32_t most[3];
    if (required[0] && !same(block, required))
        return fail(binding,
                    "the kernel needs a block of %ux%ux%u threads (.reqntid), and the launch has %" PRId64 "x%" PRId64
                    "x%" PRId64,
                    required[0], required[1], required[2], block[0], block[1], block[2]);
    if (block[0] > MOST_THREADS || block[1] > MOST_THREADS || block[2] > 64 ||
        block[0] * block[1] * block[2] > MOST_THREADS)
        return fail(binding, "a block has at most %d threads", MOST_THREADS);
    if (ptx_header_numbers(binding->program->module, binding->program->entry, ".maxntid", most) &&
        block[0] * block[1] * block[2] > (int64_t)most[0] * most[1] * most[2])
        return fail(binding, "the kernel takes a block of at most %u threads (.maxntid), and the launch has %" PRId64,
                    most[0] * most[1] * most[2], block[0] * block[1] * block[2]);
    if (cluster[0] && !same(ctas, cluster))
        return fail(binding, "the kernel needs clusters of %ux%ux%u CTAs (.reqnctapercluster)", cluster[0], cluster[1],
                    cluster[2]);
    if (ctas[0] > MOST_CTAS || ctas[1] > MOST_CTAS || ctas[2] > MOST_CTAS || ctas[0] * ctas[1] * ctas[2] > MOST_CTAS)
        return fail(binding, "a cluster has at most %d CTAs", MOST_CTAS);
    for (unsigned i = 0; i < 3; i++)
        if (launch->grid[i] % ctas[i])
            return fail(binding,
                        "the grid is not a whole number of clusters: %" PRId64 " CTAs along %c, %" PRId64
                        " in a cluster",
                        launch->grid[i], "xyz"[i], ctas[i]);
    return true;
}

/* What a CTA can have of shared memory. PTX of a target with a letter runs there only, any other on all later ones,
 * too.
 */
static bool check_shared(Binding *binding, const Launch *launch) {
    const PtxProgram *program = binding->program;
    const Target *target = target_named(ptx_name(program->module, program->module->target));
    int64_t most = program->module->variant && target ? target->shared_bytes : MOST_SHARED;
    int64_t reserved = program->module->capability >= 90 ? PTX_SHARED_FIRST : 0; /* which no limit counts */
    int64_t own = (int64_t)program->shared_bytes - reserved;
    if (launch->shared <= most - own || !launch->shared)
        return true;
    if (!own)
        return fail(binding, "a CTA has at most %" PRId64 " bytes of shared memory, and the launch has %" PRId64, most,
                    launch->shared);
    return fail(binding,
                "a CTA has at most %" PRId64 " bytes of shared memory, and the launch has %" PRId64 " beside %" PRId64
                " of the kernel's own",
                most, launch->shared, own);
}

/* 128 threads, or as many as there may be or must be, along the axes that the kernel reads. */
static void choose_block(const PtxProgram *program, const PtxUses *uses, int64_t block[3]) {
    enum { USUAL_THREADS = 128, ROW = 16, LAYER = 4 };
    uint32_t most[3];
    unsigned axes = uses->thread_axes;
    int64_t threads = uses->least > USUAL_THREADS ? uses->least : USUAL_THREADS;
    if (ptx_header_numbers(program->module, program->entry, ".maxntid", most)) {
        int64_t limit = (int64_t)most[0] * most[1] * most[2];
        threads = uses->roles || limit < threads ? limit : threads;
    }
    block[2] = axes & 4 && threads % LAYER == 0 ? LAYER : 1;
    block[0] = axes & 6 && threads / block[2] % ROW == 0 ? ROW : threads / block[2];
    block[1] = threads / block[2] / block[0];
}

/* What is not given. */
static void choose_shapes(const PtxProgram *program, const PtxUses *uses, Launch *launch, PtxLaunch *to) {
    enum { SMALL_GRID = 2 };
    to->chosen_block = !is_said(launch->block);
    to->chosen_grid = !is_said(launch->grid);
    for (unsigned i = 0; i < 3; i++) {
        if (to->chosen_block)
            launch->block[i] = program->required[0] ? program->required[i] : 1;
        if (!launch->cluster[i])
            launch->cluster[i] = program->cluster[0]                       ? program->cluster[i]
                                 : uses->pairs && launch->chosen && i == 0 ? 2
                                                                           : 1;
        if (to->chosen_grid)
            launch->grid[i] = launch->cluster[i] * (uses->axes >> i & 1 ? SMALL_GRID : 1);
    }
    if (to->chosen_block && !program->required[0])
        choose_block(program, uses, launch->block);
    to->chosen_shared = !launch->has_shared && ptx_has_dynamic(program->module);
    if (to->chosen_shared) {
        launch->has_shared = true;
        launch->shared = program->shared_bytes < MOST_SHARED ? (int64_t)(MOST_SHARED - program->shared_bytes) : 0;
    }
}

static void copy_shape(uint32_t to[3], const int64_t from[3]) {
    for (unsigned i = 0; i < 3; i++)
        to[i] = (uint32_t)from[i];
}

bool ptx_launch_bind(Arena *arena, const PtxProgram *program, const Launch *given, PtxLaunch *launch,
                     const char **problem) {
    Binding binding = {.arena = arena, .program = program};
    Launch *all = ARENA_NEW(arena, Launch);
    PtxUses uses = ptx_launch_uses(arena, program);
    uint32_t parameters = program->module->functions[program->entry].parameter_count;
    bool *chosen = ARENA_ARRAY(arena, bool, given->count + parameters + 1);
    *launch = (PtxLaunch){.dependent = given->dependent, .chosen = given->chosen};
    *all = *given;
    choose_shapes(program, &uses, all, launch);
    ptx_launch_fill(arena, program, &uses, NULL, all, chosen);
    bool good =
        check_shapes(&binding, all) && check_shared(&binding, all) && bind_arguments(&binding, all, chosen, launch);
    copy_shape(launch->grid, all->grid);
    copy_shape(launch->block, all->block);
    copy_shape(launch->cluster, all->cluster);
    launch->dynamic_bytes = (uint64_t)all->shared;
    launch->text = launch_text(all, arena);
    launch->from = all;
    *problem = binding.problem;
    return good;
}
