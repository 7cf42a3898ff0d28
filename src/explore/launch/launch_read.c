/* Launch files: arguments, and the launch as a whole. */
#include "explore/launch/launch_reading.h"

#include "model/target/release.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_AFTER = 4096, MOST_REQUIRES = 64 };

/* One that differs from device to device, or tells how many there are: until that is known there is one. */
static bool read_place(Reading *reading, json_t *value, Argument *argument, const char *key) {
    bool flag = false;
    if (!reading_flag(reading, value, key, &flag))
        return false;
    if (!flag) {
        (void)reading_enter(reading, value, key);
        return reading_fail(reading, "'%s' must be true where it is given", key);
    }
    argument->integer = argument->meaning == MEANS_DEVICES;
    return true;
}

/* What the only member of an argument's object says. */
static const struct {
    const char *key;
    ArgumentKind kind;
    ArgumentMeaning meaning;
} kinds[] = {
    {"tensor", ARGUMENT_TENSOR, MEANS_NUMBER},     {"descriptor", ARGUMENT_DESCRIPTOR, MEANS_NUMBER},
    {"pointers", ARGUMENT_POINTERS, MEANS_NUMBER}, {"rank", ARGUMENT_INTEGER, MEANS_RANK},
    {"devices", ARGUMENT_INTEGER, MEANS_DEVICES},  {"bytes", ARGUMENT_RAW, MEANS_NUMBER},
};

/* {"bytes": "00 ff", "pointers": {"8": ...}} */
static bool read_raw(Reading *reading, json_t *object, Argument *argument) {
    json_t *value = reading_enter(reading, object, "bytes");
    if (!json_is_string(value))
        return reading_fail(reading, "'bytes' must be hexadecimal digits in quotes");
    if (!reading_hex(reading, json_string_value(value), &argument->bytes, &argument->byte_count))
        return false;
    reading_leave(reading);
    if (!(value = reading_enter(reading, object, "pointers")))
        return true;
    if (!reading_parts(reading, value, argument))
        return false;
    reading_leave(reading);
    return true;
}

bool reading_parts(Reading *reading, json_t *object, Argument *argument) {
    enum { MOST_NESTED_ARGUMENTS = 4 };
    if (!json_is_object(object))
        return reading_fail(reading, "'pointers' must be an object of arguments by offset in bytes");
    size_t count = json_object_size(object), position = 0;
    if (count > LAUNCH_MOST_ARGUMENTS)
        return reading_fail(reading, "there are %zu pointers, and at most %d are allowed", count,
                            LAUNCH_MOST_ARGUMENTS);
    if (reading->nested == MOST_NESTED_ARGUMENTS)
        return reading_fail(reading, "pointers go at most %d memories deep", MOST_NESTED_ARGUMENTS);
    reading->nested++;
    argument->parts = ARENA_ARRAY(reading->arena, ArgumentPart, count + 1);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        ArgumentPart *part = &argument->parts[argument->part_count++];
        reading->path[reading->depth++] = position++;
        if (!str_to_int(str_of(key), &part->at) || part->at < 0 || part->at > INT32_MAX)
            return reading_fail(reading, "'%s' is no offset in bytes", key);
        part->value = ARENA_NEW(reading->arena, Argument);
        part->value->name = argument->name;
        if (!reading_argument(reading, value, part->value))
            return false;
        reading_leave(reading);
    }
    reading->nested--;
    return true;
}

static bool read_kind(Reading *reading, json_t *value, Argument *argument, const char *key) {
    if (argument->meaning != MEANS_NUMBER)
        return read_place(reading, value, argument, key);
    if (argument->kind == ARGUMENT_RAW)
        return read_raw(reading, value, argument);
    if (argument->kind == ARGUMENT_POINTERS) {
        argument->element_bits = 64;
        return reading_name(reading, value, key, &argument->buffer);
    }
    if (!reading_memory(reading, reading_enter(reading, value, key), argument, key))
        return false;
    reading_leave(reading);
    return true;
}

bool reading_argument(Reading *reading, json_t *value, Argument *argument) {
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        argument->kind = ARGUMENT_INTEGER;
        argument->integer = json_integer_value(value);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        argument->kind = ARGUMENT_INTEGER;
        argument->integer = json_is_true(value);
        return true;
    case JSON_REAL:
        argument->kind = ARGUMENT_FLOAT;
        argument->number = json_real_value(value);
        return true;
    case JSON_OBJECT:
        break;
    default:
        value = NULL;
        break;
    }
    size_t found = 0, kind = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_object_get(value, kinds[i].key) &&
            !(kinds[i].kind == ARGUMENT_POINTERS && json_object_get(value, "bytes"))) /* it has pointers of its own */
            found++, kind = i;
    if (found != 1)
        return reading_fail(
            reading,
            "'%.*s' must be a number, true, false, or an object with one of \"tensor\", \"descriptor\", "
            "\"pointers\", \"rank\", \"devices\" and \"bytes\"",
            STR_ARG(argument->name));
    argument->kind = kinds[kind].kind;
    argument->meaning = kinds[kind].meaning;
    const char *keys = argument->kind == ARGUMENT_RAW ? "bytes pointers" : kinds[kind].key;
    return reading_has_only(reading, value, keys) && read_kind(reading, value, argument, kinds[kind].key);
}

static bool read_named(Reading *reading, Str name, json_t *value, Launch *launch) {
    reading->path[reading->depth++] = launch->count;
    if (!name.size)
        return reading_fail(reading, "an argument needs a name");
    Argument *argument = &launch->arguments[launch->count++];
    argument->name = str_of(arena_copy(reading->arena, name.data, name.size));
    if (!reading_argument(reading, value, argument))
        return false;
    reading_leave(reading);
    return true;
}

/* By name, or in a list, where their numbers are their names. */
static bool read_arguments(Reading *reading, json_t *given, Launch *launch) {
    if (!json_is_object(given) && !json_is_array(given))
        return reading_fail(reading, "'args' must be an object of arguments by name, or a list of them");
    size_t count = json_is_object(given) ? json_object_size(given) : json_array_size(given), index;
    if (count > LAUNCH_MOST_ARGUMENTS)
        return reading_fail(reading, "there are %zu arguments, and at most %d are allowed", count,
                            LAUNCH_MOST_ARGUMENTS);
    launch->arguments = count ? ARENA_ARRAY(reading->arena, Argument, count) : NULL;
    launch->capacity = count;
    const char *key;
    char number[24];
    json_t *value;
    json_object_foreach(given, key, value) {
        if (!read_named(reading, str_of(key), value, launch))
            return false;
    }
    json_array_foreach(given, index, value) {
        snprintf(number, sizeof number, "%zu", index);
        if (!read_named(reading, str_of(number), value, launch))
            return false;
    }
    return true;
}

/* The kernels that have ended before. */
static bool read_after(Reading *reading, json_t *root, Launch *launch) {
    json_t *list = reading_enter(reading, root, "after");
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > MOST_AFTER)
        return reading_fail(reading, "'after' must be a list of at most %d kernel names", MOST_AFTER);
    launch->after_count = json_array_size(list);
    launch->after = ARENA_ARRAY(reading->arena, Str, launch->after_count + 1);
    for (size_t i = 0; i < launch->after_count; i++) {
        json_t *item = json_array_get(list, i);
        if (!json_is_string(item) || !json_string_length(item)) {
            reading->path[reading->depth++] = i;
            return reading_fail(reading, "'after' must have kernel names in quotes");
        }
        launch->after[i] = str_of(arena_copy(reading->arena, json_string_value(item), json_string_length(item)));
    }
    reading_leave(reading);
    return true;
}

static bool read_release(Reading *reading, json_t *root, Launch *launch) {
    json_t *value = reading_enter(reading, root, "triton");
    if (!value)
        return true;
    if (!json_is_string(value) || !releases_named(str_of(json_string_value(value))))
        return reading_fail(reading, "'triton' must be a release in quotes, from \"3.5\" on");
    launch->triton = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
    reading_leave(reading);
    return true;
}

static bool read_text(Reading *reading, json_t *root, const char *key, const char *what, Str *text) {
    json_t *value = reading_enter(reading, root, key);
    if (!value)
        return true;
    if (!json_is_string(value))
        return reading_fail(reading, "'%s' must be %s, in quotes", key, what);
    *text = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
    reading_leave(reading);
    return true;
}

/* What callers promise. */
static bool read_requires(Reading *reading, json_t *root, Launch *launch) {
    json_t *list = reading_enter(reading, root, "requires");
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > MOST_REQUIRES)
        return reading_fail(reading, "'requires' must be a list of at most %d requirements", MOST_REQUIRES);
    launch->requires = ARENA_ARRAY(reading->arena, Requirement, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        size_t at;
        reading->path[reading->depth++] = i;
        if (!json_is_string(item))
            return reading_fail(reading, "'requires' must have requirements in quotes, \"K %% 64 == 0\"");
        Str text = {json_string_value(item), json_string_length(item)};
        const char *problem = requirement_read(reading->arena, text, &launch->requires[launch->require_count++], &at);
        if (problem)
            return reading_fail_in(reading, at, problem);
        reading_leave(reading);
    }
    reading_leave(reading);
    return true;
}

/* Where it runs, and what it comes after. */

static bool read_order(Reading *reading, json_t *root, Launch *launch) {
    int64_t stream = 0, device = 0;
    launch->has_device = json_object_get(root, "device") != NULL;
    if (!reading_number(reading, root, "stream", INT32_MAX, &stream) ||
        !reading_number(reading, root, "device", MOST_DEVICES - 1, &device))
        return false;
    launch->stream = (uint32_t)stream;
    launch->device = (uint32_t)device;
    return reading_flag(reading, root, "dependent", &launch->dependent) &&
           read_text(reading, root, "checked", "the hash of the IR", &launch->checked) &&
           read_after(reading, root, launch);
}

/* Three positive integers; nothing happens if there are none. */
static bool read_shape(Reading *reading, json_t *root, const char *key, int64_t shape[3]) {
    int64_t sizes[ARGUMENT_MOST_DIMS];
    json_t *value = reading_enter(reading, root, key);
    if (!value)
        return true;
    if (!json_is_array(value) || json_array_size(value) != 3)
        return reading_fail(reading, "'%s' must be a list of three positive integers", key);
    if (!reading_integers(reading, value, key, 1, INT32_MAX, sizes))
        return false;
    memcpy(shape, sizes, 3 * sizeof *shape);
    reading_leave(reading);
    return true;
}

static bool read_launch(Reading *reading, Launch *launch) {
    json_t *root = reading->root, *value;
    if (!json_is_object(root))
        return reading_fail(reading, "a launch must be an object, {\"kernel\": ..., \"grid\": ..., \"args\": ...}");
    reading->threads = json_object_get(root, "block") != NULL;
    if (!reading_has_only(
            reading, root,
            "kernel grid block cluster shared args stream device dependent after triton checked requires at"))
        return false;
    if ((value = reading_enter(reading, root, "kernel"))) {
        if (!json_is_string(value))
            return reading_fail(reading, "'kernel' must be a name in quotes");
        launch->kernel = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
        reading_leave(reading);
    }
    launch->has_shared = json_object_get(root, "shared") != NULL;
    if (!read_shape(reading, root, "grid", launch->grid) || !read_shape(reading, root, "block", launch->block) ||
        !read_shape(reading, root, "cluster", launch->cluster) ||
        !reading_number(reading, root, "shared", INT32_MAX, &launch->shared))
        return false;
    if (!read_order(reading, root, launch) || !read_release(reading, root, launch) ||
        !read_requires(reading, root, launch) ||
        !read_text(reading, root, "at", "the place where it is launched", &launch->at))
        return false;
    if ((value = reading_enter(reading, root, "args"))) {
        if (!read_arguments(reading, value, launch))
            return false;
        reading_leave(reading);
    }
    return true;
}

bool launch_read(Arena *arena, Source *source, Launch *launch, Diagnostics *diagnostics) {
    Reading reading = {.arena = arena, .source = source, .diagnostics = diagnostics};
    *launch = (Launch){.kernel = STR(""), .grid = {1, 1, 1}};
    reading.root = reading_parse(&reading);
    if (!reading.root)
        return false;
    /* An arena that is exhausted is left by a jump, and what Jansson holds is not in the arena. */
    jmp_buf here, *outer = arena->exhausted;
    if (setjmp(here)) {
        json_decref(reading.root);
        arena->exhausted = outer;
        longjmp(*outer, 1);
    }
    arena->exhausted = outer ? &here : NULL;
    bool good = reading_is_filled(&reading, reading.root, "launch") && read_launch(&reading, launch);
    arena->exhausted = outer;
    json_decref(reading.root);
    return good;
}
