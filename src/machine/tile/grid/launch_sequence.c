/* First the buffers, since one that several launches name is as large as the largest of them says; then the launches,
 * device by device, whose pointers make the areas of the buffers; then the order of the launches. */
#include "machine/tile/grid/launch_sequence.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_BUFFERS = 4096, MOST_LAUNCHES = 4096 };

/* An address that lies in a buffer. */
typedef struct LaunchSequenceHeld {
    int64_t at; /* element */
    struct LaunchSequenceBuffer *buffer;
    int64_t offset; /* bytes from its begin */
} LaunchSequenceHeld;

typedef struct LaunchSequenceBuffer {
    Str name;    /* "": nothing shares it */
    Area area;   /* without a device */
    bool output; /* it is said so */
    const int64_t *data;
    size_t data_count;
    struct LaunchSequenceBuffer *delays; /* it holds the addresses of that one; NULL: data, or it is not known */
    LaunchSequenceHeld *held;            /* addresses of others that the launch gives one by one */
    uint32_t held_count;
    bool is_placed;  /* some area of it is being made */
    uint32_t *areas; /* on each device; NO_AREA: no pointer to it is known */
} LaunchSequenceBuffer;

/* An input with an argument for every pointer, and the buffers they point to. */
typedef struct Prepared {
    Argument *arguments;
    LaunchSequenceBuffer **buffers; /* of each argument; NULL: it is no memory */
    uint32_t count;
    uint32_t first, end; /* its launches */
} Prepared;

typedef struct LaunchSequenceBuilder {
    Arena *arena;
    const LaunchSequenceInput *inputs;
    uint32_t count, devices;
    const char **problem;
    Prepared *prepared;
    LaunchSequenceBuffer **named;
    uint32_t named_count, named_capacity;
    uint32_t area_count;
    LaunchSequence *launch_sequence;
} LaunchSequenceBuilder;

static bool fail(LaunchSequenceBuilder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(LaunchSequenceBuilder *builder, const char *format, ...) {
    char message[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    /* Names of files' arguments may hold anything. What is plain is never longer. */
    char *problem = arena_alloc(builder->arena, sizeof message);
    Text plain = {0};
    text_add_plain(&plain, str_of(message));
    snprintf(problem, sizeof message, "%.*s", (int)plain.size, plain.size ? plain.data : "");
    text_free(&plain);
    *builder->problem = problem;
    return false;
}

/* ---- What an argument says of its memory -------------------------------------------------------- */

/* Bits in memory of what a pointer or descriptor of that type points to; 0 if the type does not say. */
static uint16_t bits_behind(const Program *program, const Type *type) {
    bool pointer = type_is(type, STR("tt.ptr"));
    while (type && type->element) {
        type = type_resolve(program->module, type->element);
        if (pointer && type && type_is(type, STR("tt.ptr")))
            return 64;
    }
    if (!type || (type->kind != TYPE_INTEGER && type->kind != TYPE_FLOAT))
        return 0;
    return type->width < 8 ? 8 : type->width;
}

/* A copy through a descriptor goes by the kernel's type. A pointer does not tell what is behind it if that is a
 * descriptor in memory. */
static uint16_t element_bits(const Program *program, const Parameter *parameter, const Argument *argument) {
    uint16_t bits = parameter ? bits_behind(program, parameter->type) : 0;
    if (argument->kind == ARGUMENT_DESCRIPTOR && parameter)
        return type_is_descriptor(parameter->type) && bits ? bits : argument->element_bits;
    return argument->element_bits ? argument->element_bits : bits;
}

/* Whether the elements leave gaps, in which no others lie: from the smallest stride on, each is at least as large as
 * all that the smaller ones reach over. */
static bool leaves_gaps(const Area *area) {
    bool used[ARGUMENT_MOST_DIMS] = {false}, gaps = false;
    int64_t reach = 1;
    for (unsigned i = 0; i < area->rank; i++) {
        unsigned smallest = ARGUMENT_MOST_DIMS;
        for (unsigned k = 0; k < area->rank; k++)
            if (!used[k] && (smallest == ARGUMENT_MOST_DIMS || area->strides[k] < area->strides[smallest]))
                smallest = k;
        used[smallest] = true;
        if (area->shape[smallest] < 2)
            continue;
        if (area->strides[smallest] < reach)
            return false;
        gaps |= area->strides[smallest] > reach;
        reach += (area->shape[smallest] - 1) * area->strides[smallest];
    }
    return gaps && area->element_bits % 8 == 0;
}

static int64_t bytes_of(int64_t elements, uint16_t bits) {
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

static int64_t offset_bytes(const Argument *argument, uint16_t bits) {
    return argument->offset / 8 * bits + argument->offset % 8 * bits / 8;
}

/* All of the allocation that it is a view of is its own, gaps and what lies around it included. */
static void add_storage(const Argument *argument, uint16_t bits, Area *area) {
    int64_t before = argument->storage[0] - argument->offset; /* before its buffer */
    area->before = before > 0 ? bytes_of(before, bits) : 0;
    area->bytes = bytes_of(argument->storage[1], bits) + offset_bytes(argument, bits);
    area->storage = true;
    area->sparse = false;
}

static Area describe_area(const Argument *argument, uint16_t bits) {
    Area area = {.rank = argument->rank, .element_bits = bits, .bytes = -1, .zero = argument->zero};
    memcpy(area.shape, argument->shape, sizeof area.shape);
    memcpy(area.strides, argument->strides, sizeof area.strides);
    int64_t elements = argument_elements(argument);
    if (bits && elements >= 0) { /* at most 2^48 of at most 128 bits */
        area.bytes = bytes_of(elements, bits);
        area.sparse = leaves_gaps(&area);
    }
    if (argument->offset && bits && elements >= 0) { /* with all of its buffer that lies before it */
        area.rank = 1;
        area.shape[0] = argument->offset + elements;
        area.strides[0] = 1;
        area.bytes += offset_bytes(argument, bits);
        area.sparse = false;
    }
    if (argument->has_storage && bits)
        add_storage(argument, bits, &area);
    return area;
}

/* ---- Buffers ------------------------------------------------------------------------------------ */

static LaunchSequenceBuffer *new_buffer(LaunchSequenceBuilder *builder, Str name, Area area) {
    LaunchSequenceBuffer *buffer = ARENA_NEW(builder->arena, LaunchSequenceBuffer);
    buffer->area = area;
    buffer->area.name = arena_copy(builder->arena, name.data, name.size);
    buffer->areas = ARENA_ARRAY(builder->arena, uint32_t, builder->devices);
    for (uint32_t i = 0; i < builder->devices; i++)
        buffer->areas[i] = NO_AREA;
    return buffer;
}

static LaunchSequenceBuffer *find_buffer(const LaunchSequenceBuilder *builder, Str name) {
    for (uint32_t i = 0; i < builder->named_count; i++)
        if (str_equal(builder->named[i]->name, name))
            return builder->named[i];
    return NULL;
}

static bool same_elements(const Area *a, const Area *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof *a->shape * a->rank) == 0 &&
           memcmp(a->strides, b->strides, sizeof *a->strides * a->rank) == 0;
}

static bool same_data(const LaunchSequenceBuffer *buffer, const Argument *argument) {
    return buffer->data_count == argument->data_count &&
           memcmp(buffer->data, argument->data, sizeof *buffer->data * buffer->data_count) == 0;
}

/* What another argument says of a buffer. */
static bool merge(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer, const Area *area,
                  const Argument *argument) {
    Area *known = &buffer->area;
    if (known->element_bits && area->element_bits && known->element_bits != area->element_bits)
        return fail(builder, "buffer '%.*s' has elements of %u bits in one launch and of %u bits in another",
                    STR_ARG(buffer->name), known->element_bits, area->element_bits);
    if (buffer->data && argument->data && !same_data(buffer, argument))
        return fail(builder, "buffer '%.*s' holds different data in two launches", STR_ARG(buffer->name));
    bool sparse = known->sparse && area->sparse && same_elements(known, area), zero = known->zero || area->zero;
    bool storage = known->storage || area->storage;
    int64_t before = known->before > area->before ? known->before : area->before;
    if (area->bytes > known->bytes) {
        const char *name = known->name;
        *known = *area;
        known->name = name;
    }
    known->sparse = sparse;
    known->before = before;
    known->storage = storage;
    known->zero = zero;
    return true;
}

static bool report_buffer(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer, const Argument *argument) {
    buffer->output |= argument->output;
    if (argument->data && !buffer->data) {
        buffer->data = argument->data;
        buffer->data_count = argument->data_count;
    }
    if (buffer->output && (buffer->data || buffer->area.zero))
        return fail(builder, "buffer '%.*s' is an output in one launch, and holds data in another",
                    STR_ARG(buffer->name));
    buffer->area.written = !buffer->output;
    if (buffer->area.bytes > AREA_HALF || buffer->area.before > AREA_HALF)
        return fail(builder, "'%.*s' spans more than 2^%d bytes", STR_ARG(argument->name), AREA_SHIFT - 1);
    return true;
}

/* The buffer of an argument that is a tensor or a descriptor. */
static LaunchSequenceBuffer *buffer_of(LaunchSequenceBuilder *builder, const Argument *argument, uint16_t bits) {
    Area area = describe_area(argument, bits);
    LaunchSequenceBuffer *buffer = argument->buffer.size ? find_buffer(builder, argument->buffer) : NULL;
    if (buffer) {
        if (!merge(builder, buffer, &area, argument))
            return NULL;
    } else {
        buffer = new_buffer(builder, argument->buffer.size ? argument->buffer : argument->name, area);
        buffer->name = argument->buffer;
        if (buffer->name.size) {
            if (builder->named_count == MOST_BUFFERS) {
                fail(builder, "there are more than %d buffers", MOST_BUFFERS);
                return NULL;
            }
            *ARENA_PUSH(builder->arena, builder->named, builder->named_count, builder->named_capacity) = buffer;
        }
    }
    return report_buffer(builder, buffer, argument) ? buffer : NULL;
}

/* ---- Inputs ------------------------------------------------------------------------------------- */

static const Parameter *find_parameter(const Program *program, Str name) {
    for (uint32_t i = 0; i < program->parameter_count; i++)
        if (program->parameters[i].type && str_is(name, program->parameters[i].name))
            return &program->parameters[i];
    return NULL;
}

/* Memory that addresses in a buffer lead to: has a name of its own, or that of the argument and a number. */
static bool prepare_held(LaunchSequenceBuilder *builder, const Program *program, const Argument *argument,
                         LaunchSequenceBuffer *buffer) {
    if (!argument->part_count || buffer->held_count)
        return true;
    if (buffer->area.element_bits != 64 || buffer->output)
        return fail(builder,
                    "'%.*s' of %s holds pointers, so that its elements must have 64 bits, and no output is there",
                    STR_ARG(argument->name), program->name);
    buffer->held = ARENA_ARRAY(builder->arena, LaunchSequenceHeld, argument->part_count);
    for (uint32_t i = 0; i < argument->part_count; i++) {
        const ArgumentPart *part = &argument->parts[i];
        Argument value = *part->value;
        if (value.kind != ARGUMENT_TENSOR || part->at % 8 || part->at >= buffer->area.bytes)
            return fail(builder, "'pointers' of '%.*s' of %s must be tensors, at multiples of 8 bytes inside of it",
                        STR_ARG(argument->name), program->name);
        Text name = {0};
        text_addf(&name, "%.*s[%" PRId64 "]", STR_ARG(argument->name), part->at / 8);
        value.name = str_of(text_keep(&name, builder->arena));
        LaunchSequenceBuffer *to = buffer_of(builder, &value, value.element_bits);
        if (!to || !prepare_held(builder, program, &value, to))
            return false;
        buffer->held[buffer->held_count++] =
            (LaunchSequenceHeld){part->at / 8, to, offset_bytes(&value, to->area.element_bits)};
    }
    return true;
}

static bool prepare_described(LaunchSequenceBuilder *builder, const Program *program, Prepared *prepared, uint32_t i) {
    const Argument *argument = &prepared->arguments[i];
    if (argument->kind != ARGUMENT_TENSOR && argument->kind != ARGUMENT_DESCRIPTOR)
        return true;
    if (argument->place == DEVICE_NUMBER && argument->device >= builder->devices)
        return fail(builder, "'%.*s' of %s is on device %u, and there %s %u", STR_ARG(argument->name), program->name,
                    argument->device, builder->devices == 1 ? "is only" : "are only", builder->devices);
    const Parameter *parameter = find_parameter(program, argument->name);
    prepared->buffers[i] = buffer_of(builder, argument, element_bits(program, parameter, argument));
    return prepared->buffers[i] && prepare_held(builder, program, argument, prepared->buffers[i]);
}

static bool is_memory(const Argument *argument) {
    return argument->kind == ARGUMENT_TENSOR || argument->kind == ARGUMENT_DESCRIPTOR ||
           argument->kind == ARGUMENT_POINTERS;
}

/* A pointer that the launch does not describe has memory, too, of any size. */
static void prepare_undescribed(LaunchSequenceBuilder *builder, const Program *program, const Launch *launch,
                                Prepared *prepared) {
    for (uint32_t i = 0; i < program->parameter_count; i++) {
        const Parameter *parameter = &program->parameters[i];
        const Argument *argument = launch_find(launch, str_of(parameter->name));
        if (!parameter->type || !type_is(parameter->type, STR("tt.ptr")) || (argument && is_memory(argument)))
            continue;
        uint32_t at = argument ? (uint32_t)(argument - launch->arguments) : prepared->count++;
        Area area = {.element_bits = bits_behind(program, parameter->type), .bytes = -1, .written = true};
        prepared->arguments[at] = (Argument){.name = str_of(parameter->name), .kind = ARGUMENT_TENSOR};
        prepared->buffers[at] = new_buffer(builder, prepared->arguments[at].name, area);
    }
}

static bool prepare(LaunchSequenceBuilder *builder, const LaunchSequenceInput *input, Prepared *prepared) {
    const Launch *launch = input->launch;
    size_t most = launch->count + input->program->parameter_count + 1;
    prepared->arguments = ARENA_ARRAY(builder->arena, Argument, most);
    prepared->buffers = ARENA_ARRAY(builder->arena, LaunchSequenceBuffer *, most);
    prepared->count = (uint32_t)launch->count;
    if (launch->count)
        memcpy(prepared->arguments, launch->arguments, sizeof *launch->arguments * launch->count);
    for (uint32_t i = 0; i < launch->count; i++)
        if (!prepare_described(builder, input->program, prepared, i))
            return false;
    prepare_undescribed(builder, input->program, launch, prepared);
    return true;
}

/* Memory that holds addresses: once all buffers are known. */
static bool prepare_pointers(LaunchSequenceBuilder *builder, const LaunchSequenceInput *input, Prepared *prepared) {
    for (uint32_t i = 0; i < prepared->count; i++) {
        Argument *argument = &prepared->arguments[i];
        if (argument->kind != ARGUMENT_POINTERS)
            continue;
        LaunchSequenceBuffer *target = find_buffer(builder, argument->buffer);
        if (!target)
            return fail(builder, "'%.*s' of %s points to buffer '%.*s', which no launch describes",
                        STR_ARG(argument->name), input->program->name, STR_ARG(argument->buffer));
        argument->rank = 1;
        argument->shape[0] = builder->devices;
        argument->strides[0] = 1;
        prepared->buffers[i] = new_buffer(builder, argument->name, describe_area(argument, 64));
        prepared->buffers[i]->delays = target;
        prepared->buffers[i]->area.written = true;
    }
    return true;
}

/* ---- Areas -------------------------------------------------------------------------------------- */

static bool make_area(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer, uint32_t device);

/* What a buffer holds on a device: data, and the addresses there of the memory that it leads to. */
static bool place_held(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer, uint32_t device,
                       const int64_t **data, size_t *count) {
    *count = buffer->data_count;
    for (uint32_t i = 0; i < buffer->held_count; i++)
        *count = (size_t)buffer->held[i].at >= *count ? (size_t)buffer->held[i].at + 1 : *count;
    int64_t *numbers = ARENA_ARRAY(builder->arena, int64_t, *count + 1);
    size_t known = buffer->data_count;
    if (known)
        memcpy(numbers, buffer->data, known * sizeof *numbers);
    for (uint32_t i = 0; i < buffer->held_count; i++) {
        const LaunchSequenceHeld *held = &buffer->held[i];
        if (held->buffer->is_placed)
            return fail(builder, "'%s' leads to memory that leads back to it", buffer->area.name);
        if (!make_area(builder, held->buffer, device))
            return false;
        numbers[held->at] = global_address(held->buffer->areas[device]) + held->offset;
        known += (size_t)held->at >= buffer->data_count;
    }
    if (known < *count && !buffer->area.zero)
        return fail(builder,
                    "'%s' has 'pointers' and elements before the last of them that are not given: 'data' can "
                    "give them",
                    buffer->area.name);
    *data = numbers;
    return true;
}

static bool make_area(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer, uint32_t device) {
    if (buffer->areas[device] != NO_AREA)
        return true;
    const int64_t *data = buffer->data;
    size_t count = buffer->data_count;
    buffer->is_placed = true;
    if (buffer->held_count && !place_held(builder, buffer, device, &data, &count))
        return false;
    buffer->is_placed = false;
    if (builder->area_count == MOST_AREAS)
        return fail(builder, "there are more than %d pieces of memory", MOST_AREAS);
    Area area = buffer->area;
    area.device = device;
    buffer->areas[device] = global_add(builder->launch_sequence->memory, &area, data, count);
    builder->area_count++;
    return true;
}

static bool make_pointers(LaunchSequenceBuilder *builder, LaunchSequenceBuffer *buffer) {
    int64_t *addresses = ARENA_ARRAY(builder->arena, int64_t, builder->devices);
    for (uint32_t i = 0; i < builder->devices; i++) {
        if (!make_area(builder, buffer->delays, i))
            return false;
        addresses[i] = global_address(buffer->delays->areas[i]);
    }
    buffer->data = addresses;
    buffer->data_count = builder->devices;
    return true;
}

static uint32_t device_of(const LaunchSequenceBuilder *builder, const Argument *argument, uint32_t own) {
    switch (argument->place) {
    case DEVICE_OWN:
        break;
    case DEVICE_NUMBER:
        return argument->device;
    case DEVICE_NEXT:
        return (own + 1) % builder->devices;
    case DEVICE_PREVIOUS:
        return (own + builder->devices - 1) % builder->devices;
    }
    return own;
}

/* ---- Launches ----------------------------------------------------------------------------------- */

/* The arguments of a launch on one device. */
static bool place_arguments(LaunchSequenceBuilder *builder, const Prepared *prepared, uint32_t device, Launch *launch) {
    launch->count = launch->capacity = prepared->count;
    launch->arguments = ARENA_ARRAY(builder->arena, Argument, prepared->count + 1);
    for (uint32_t i = 0; i < prepared->count; i++) {
        Argument *argument = &launch->arguments[i];
        LaunchSequenceBuffer *buffer = prepared->buffers[i];
        *argument = prepared->arguments[i];
        if (argument->meaning != MEANS_NUMBER)
            argument->integer = argument->meaning == MEANS_RANK ? device : builder->devices;
        argument->meaning = MEANS_NUMBER;
        if (!buffer)
            continue;
        uint32_t where = device_of(builder, argument, device);
        if ((buffer->delays && !buffer->data && !make_pointers(builder, buffer)) || !make_area(builder, buffer, where))
            return false;
        argument->address = global_address(buffer->areas[where]) + offset_bytes(argument, buffer->area.element_bits);
    }
    return true;
}

static bool place_launches(LaunchSequenceBuilder *builder, uint32_t input, uint32_t *inputs) {
    const LaunchSequenceInput *from = &builder->inputs[input];
    Prepared *prepared = &builder->prepared[input];
    LaunchSequence *launch_sequence = builder->launch_sequence;
    if (from->launch->has_device && from->launch->device >= builder->devices)
        return fail(builder, "the launch of %s is on device %u, and there %s %u", from->program->name,
                    from->launch->device, builder->devices == 1 ? "is only" : "are only", builder->devices);
    prepared->first = launch_sequence->count;
    for (uint32_t device = 0; device < builder->devices; device++) {
        if (from->launch->has_device && from->launch->device != device)
            continue;
        Launch *launch = ARENA_NEW(builder->arena, Launch);
        *launch = *from->launch;
        if (!place_arguments(builder, prepared, device, launch))
            return false;
        inputs[launch_sequence->count] = input;
        launch_sequence->launches[launch_sequence->count++] =
            (GridLaunch){.program = from->program, .launch = launch, .device = device};
    }
    prepared->end = launch_sequence->count;
    return true;
}

/* ---- Order -------------------------------------------------------------------------------------- */

/* The launches that one has to come after, each once. */
typedef struct Before {
    uint32_t *launches;
    uint32_t count;
    bool *there;
} Before;

/* A stream has come to the end of a launch only when that of what the launch may have overtaken is over, too. */
static void add_ended(const LaunchSequence *launch_sequence, Before *before, uint32_t launch) {
    while (!before->there[launch]) { /* what is there has brought the others */
        before->there[launch] = true;
        before->launches[before->count++] = launch;
        if (launch_sequence->launches[launch].awaited_count)
            launch = launch_sequence->launches[launch].awaited[0];
    }
}

static bool is_of_kernel(const LaunchSequenceInput *input, Str name) {
    return str_is(name, input->program->name) || str_equal(name, input->launch->kernel);
}

/* Which inputs before this one it names as those that have ended. */
static bool find_named(LaunchSequenceBuilder *builder, uint32_t input, bool *named) {
    const Launch *launch = builder->inputs[input].launch;
    memset(named, 0, sizeof *named * builder->count);
    for (size_t i = 0; i < launch->after_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < input; k++)
            if (is_of_kernel(&builder->inputs[k], launch->after[i]))
                named[k] = found = true;
        if (!found)
            return fail(builder, "the launch of %s is after '%.*s', and no launch before it is of that kernel",
                        builder->inputs[input].program->name, STR_ARG(launch->after[i]));
    }
    return true;
}

/* The launch before it on its stream; itself if there is none. */
static uint32_t previous_on_stream(const LaunchSequence *launch_sequence, uint32_t launch) {
    const GridLaunch *own = &launch_sequence->launches[launch];
    for (uint32_t i = launch; i-- > 0;)
        if (launch_sequence->launches[i].device == own->device &&
            launch_sequence->launches[i].launch->stream == own->launch->stream)
            return i;
    return launch;
}

static void order_launch(LaunchSequenceBuilder *builder, uint32_t index, const bool *named) {
    const LaunchSequence *launch_sequence = builder->launch_sequence;
    GridLaunch *launch = &launch_sequence->launches[index];
    Before before = {.launches = ARENA_ARRAY(builder->arena, uint32_t, index + 1),
                     .there = ARENA_ARRAY(builder->arena, bool, index + 1)};
    uint32_t previous = previous_on_stream(launch_sequence, index);
    if (previous != index && launch->launch->dependent) {
        uint32_t *awaited = ARENA_NEW(builder->arena, uint32_t);
        *awaited = previous;
        launch->awaited = awaited;
        launch->awaited_count = 1;
        for (uint32_t i = 0; i < launch_sequence->launches[previous].after_count; i++)
            add_ended(launch_sequence, &before, launch_sequence->launches[previous].after[i]);
    } else if (previous != index) {
        add_ended(launch_sequence, &before, previous);
    }
    for (uint32_t k = 0; k < launch_sequence->inputs[index]; k++)
        for (uint32_t i = builder->prepared[k].first; named[k] && i < builder->prepared[k].end; i++)
            add_ended(launch_sequence, &before, i);
    launch->after = before.launches;
    launch->after_count = before.count;
}

static bool order_launches(LaunchSequenceBuilder *builder) {
    bool *named = ARENA_ARRAY(builder->arena, bool, builder->count + 1);
    for (uint32_t input = 0; input < builder->count; input++) {
        if (!find_named(builder, input, named))
            return false;
        for (uint32_t i = builder->prepared[input].first; i < builder->prepared[input].end; i++)
            order_launch(builder, i, named);
    }
    return true;
}

bool launch_sequence_build(Arena *arena, const LaunchSequenceInput *inputs, size_t count, uint32_t devices,
                           LaunchSequence *launch_sequence, const char **problem) {
    LaunchSequenceBuilder builder = {
        .arena = arena, .inputs = inputs, .devices = devices, .problem = problem, .launch_sequence = launch_sequence};
    if (devices < 1 || devices > MOST_DEVICES)
        return fail(&builder, "there are from 1 to %d devices", MOST_DEVICES);
    if (count > MOST_LAUNCHES / devices)
        return fail(&builder, "there are more than %d launches", MOST_LAUNCHES);
    builder.count = (uint32_t)count;
    builder.prepared = ARENA_ARRAY(arena, Prepared, count + 1);
    uint32_t *input_of = ARENA_ARRAY(arena, uint32_t, count * devices + 1);
    *launch_sequence = (LaunchSequence){.memory = global_create(arena),
                                        .launches = ARENA_ARRAY(arena, GridLaunch, count * devices + 1),
                                        .inputs = input_of};
    for (uint32_t i = 0; i < builder.count; i++)
        if (!prepare(&builder, &inputs[i], &builder.prepared[i]))
            return false;
    for (uint32_t i = 0; i < builder.count; i++)
        if (!prepare_pointers(&builder, &inputs[i], &builder.prepared[i]))
            return false;
    for (uint32_t i = 0; i < builder.count; i++)
        if (!place_launches(&builder, i, input_of))
            return false;
    return order_launches(&builder);
}
