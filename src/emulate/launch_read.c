/* Launch files.
 *
 * Jansson takes the JSON apart and keeps no places, so where a value stands is found again when there is something to
 * say about it: the path to a value is the positions of its ancestors, and the n-th member of one of Jansson's objects
 * is the n-th in the text, since Jansson keeps their order and no key may come twice. The first fault ends the
 * reading. */
#include "emulate/launch_internal.h"

#include "model/target/release.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>

/* What a file may hold. Jansson takes 40 bytes for a number and 300 for an object, so these keep it to about 1 GB. */
enum {
    LARGEST_FILE = 64 << 20,
    MOST_VALUES = 16 << 20,
    MOST_BRACKETS = 64 << 10,
    MOST_NESTED = 64,
    MOST_AFTER = 4096,
    LONGEST_PATH = 8,
};

/* ---- Places ------------------------------------------------------------------------------------- */

static const char *skip_blank(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* The JSON is known to be right, so brackets need only be counted. */
static const char *skip_value(const char *at, const char *end) {
    if (*at == '"')
        return skip_string(at, end);
    if (*at != '{' && *at != '[')
        return at + strcspn(at, ",]} \t\r\n");
    size_t open = 0;
    do {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '{' || *at == '[')
            open++;
        else if (*at == '}' || *at == ']')
            open--;
        at++;
    } while (open);
    return at;
}

typedef struct Reading {
    Arena *arena;
    Source *source;
    Diagnostics *diagnostics;
    json_t *root;
    size_t path[LONGEST_PATH]; /* to the value being read: positions among the members or items */
    size_t depth;
} Reading;

static size_t offset_of_value(const Reading *reading) {
    const char *end = reading->source->data + reading->source->size;
    const char *at = skip_blank(reading->source->data);
    for (size_t i = 0; i < reading->depth; i++) {
        bool object = *at == '{';
        for (size_t left = reading->path[i] + 1; left; left--) {
            at = skip_blank(at + 1); /* past the bracket, or the comma */
            if (object)
                at = skip_blank(skip_blank(skip_string(at, end)) + 1);
            if (left > 1)
                at = skip_blank(skip_value(at, end));
        }
    }
    return (size_t)(at - reading->source->data);
}

static bool fail(const Reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const Reading *reading, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(reading->diagnostics, SEVERITY_ERROR, reading->source, offset_of_value(reading), format,
                     arguments);
    va_end(arguments);
    return false;
}

/* Down to a member; NULL, and nowhere, if there is none. */
static json_t *enter(Reading *reading, json_t *object, const char *name) {
    const char *key;
    json_t *value;
    size_t position = 0;
    json_object_foreach(object, key, value) {
        if (strcmp(key, name) == 0) {
            reading->path[reading->depth++] = position;
            return value;
        }
        position++;
    }
    return NULL;
}

static void leave(Reading *reading) {
    reading->depth--;
}

/* A member that means nothing is a slip of the finger, and silence about it would make another launch of this one. What
 * begins with x- is the writer's own, and so is `from`, who made the file. */
static bool has_only(Reading *reading, json_t *object, const char *keys) {
    const char *key;
    json_t *value;
    size_t position = 0;
    json_object_foreach(object, key, value) {
        bool known = strcmp(key, "from") == 0 || strncmp(key, "x-", 2) == 0;
        for (const char *at = keys; !known && *at;)
            known = str_is(str_next_word(&at), key);
        if (!known) {
            reading->path[reading->depth++] = position;
            return fail(reading, "there is no '%s' here; there is: %s", key, keys);
        }
        position++;
    }
    return true;
}

/* ---- From text to Jansson ----------------------------------------------------------------------- */

/* Looks for what would make Jansson take too much memory. */
static bool is_within_limits(const Reading *reading) {
    Source *source = reading->source;
    const char *at = source->data, *end = at + source->size, *problem = NULL;
    if (source->size > LARGEST_FILE) {
        diagnostics_add(reading->diagnostics, SEVERITY_ERROR, source, 0, "a launch file has at most %d bytes",
                        LARGEST_FILE);
        return false;
    }
    size_t values = 1, brackets = 0, open = 0;
    int most = 0;
    while (at < end) {
        switch (*at) {
        case '"':
            at = skip_string(at, end);
            continue;
        case ',':
            if (++values > MOST_VALUES)
                problem = "values", most = MOST_VALUES;
            break;
        case '[':
        case '{':
            if (++brackets > MOST_BRACKETS)
                problem = "lists and objects", most = MOST_BRACKETS;
            if (++open > MOST_NESTED)
                problem = "nested lists and objects", most = MOST_NESTED;
            break;
        case ']':
        case '}':
            if (open)
                open--;
            break;
        default:
            break;
        }
        if (problem) {
            diagnostics_add(reading->diagnostics, SEVERITY_ERROR, source, (size_t)(at - source->data),
                            "a launch file has at most %d %s", most, problem);
            return false;
        }
        at++;
    }
    return true;
}

/* Jansson's position is the end of the token that it says it is near. With a caret under it, the token itself need not
 * be named. */
static void report_syntax(const Reading *reading, json_error_t *error) {
    size_t offset = error->position < 0 ? 0 : (size_t)error->position;
    size_t back = offset < reading->source->size ? 1 : 0; /* into a token that is too long for Jansson to name */
    char *near = strstr(error->text, " near '");
    if (near) {
        back = strlen(near) - strlen(" near ''");
        *near = 0;
    }
    diagnostics_add(reading->diagnostics, SEVERITY_ERROR, reading->source, back < offset ? offset - back : 0,
                    "this is not JSON: %s", error->text);
}

/* An unsigned integer that has no signed one of its value. */
bool parse_large_unsigned(Str s, int64_t *same_bits) {
    if (s.size < 19 || s.size > 20 || s.data[0] == '0')
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < s.size; i++)
        if (s.data[i] < '0' || s.data[i] > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.data[i] - '0'), &value))
            return false;
    *same_bits = (int64_t)value;
    return value > INT64_MAX;
}

/* Jansson has signed integers only, so it gets those of the same bits for the larger unsigned ones. Writes `until`
 * bytes of such a text, or a few more, and returns how far in the source they reach. */
static size_t wrap_unsigned(const Source *source, size_t until, Text *to) {
    const char *at = source->data, *end = at + source->size;
    while (at < end && to->size < until && !to->failed) {
        size_t number = strspn(at, "+-.0123456789eE");
        const char *next = *at == '"' ? skip_string(at, end) : at + (number ? number : 1);
        int64_t same_bits;
        if (parse_large_unsigned(str_between(at, next), &same_bits))
            text_addf(to, "%" PRId64, same_bits);
        else
            text_str(to, str_between(at, next));
        at = next;
    }
    return (size_t)(at - source->data) - (to->size > until ? to->size - until : 0);
}

static json_t *parse(const Reading *reading) {
    const Source *source = reading->source;
    if (!is_within_limits(reading))
        return NULL;
    json_error_t error;
    json_t *root = json_loadb(source->data, source->size, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_numeric_overflow) {
        Text wrapped = {0}, before = {0};
        wrap_unsigned(source, SIZE_MAX, &wrapped);
        root = json_loadb(wrapped.data, wrapped.size, JSON_REJECT_DUPLICATES, &error);
        if (!root && error.position > 0)
            error.position = (int)wrap_unsigned(source, (size_t)error.position, &before);
        text_free(&wrapped);
        text_free(&before);
    }
    if (!root)
        report_syntax(reading, &error);
    return root;
}

/* ---- Types of elements -------------------------------------------------------------------------- */

/* A type's whole name in lower case, or one of these beginnings and a number of bits ("fp16", "bfloat16", "f8e4m3fn").
 * A boolean has a byte in memory. */
static const struct {
    const char *name;
    uint16_t bits;
} whole_names[] = {
    {"bool", 8},
    {"half", 16},
    {"float", 32},
    {"double", 64},
    {"tf32", 32},
    {"e4m3", 8},
    {"e5m2", 8},
    {"e3m4", 8},
    {"e8m0", 8},
    {"e2m3", 6},
    {"e3m2", 6},
    {"e2m1", 4},
    {"float4_e2m1fn_x2", 8}, /* two to an element */
};
static const char *const beginnings[] = {"f", "fp", "float", "bf", "bfloat", "i", "int", "si", "u", "ui", "uint"};

/* 0 for a name that is none of these. */
static uint16_t bits_of_type(const char *name) {
    const char *dot = strrchr(name, '.'); /* "torch.float16" */
    char lower[32] = {0};
    name = dot ? dot + 1 : name;
    if (strlen(name) >= sizeof lower)
        return 0;
    for (size_t i = 0; name[i]; i++)
        lower[i] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < sizeof whole_names / sizeof *whole_names; i++)
        if (strcmp(lower, whole_names[i].name) == 0)
            return whole_names[i].bits;
    size_t letters = strspn(lower, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = strspn(lower + letters, "0123456789");
    int64_t bits;
    if (!str_to_int((Str){lower + letters, digits}, &bits) || bits < 1 || bits > 128)
        return 0;
    /* The small floats go on with how their bits are used. */
    if (lower[letters + digits] && !((*lower == 'f' || *lower == 'b') && bits <= 8))
        return 0;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strlen(beginnings[i]) == letters && memcmp(lower, beginnings[i], letters) == 0)
            return bits == 1 ? 8 : (uint16_t)bits;
    return 0;
}

/* ---- From Jansson to a launch ------------------------------------------------------------------- */

static bool read_integers(Reading *reading, json_t *list, const char *name, int64_t low, int64_t high,
                          int64_t values[ARGUMENT_MOST_DIMS]) {
    if (!json_is_array(list) || json_array_size(list) > ARGUMENT_MOST_DIMS)
        return fail(reading, "'%s' must be a list of at most %d integers", name, ARGUMENT_MOST_DIMS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        values[i] = json_integer_value(item);
        if (!json_is_integer(item) || values[i] < low || values[i] > high) {
            reading->path[reading->depth++] = i;
            return fail(reading, "'%s' must have integers from %" PRId64 " to %" PRId64, name, low, high);
        }
    }
    return true;
}

/* A list beside the shape, with as many numbers. */
static bool read_beside_shape(Reading *reading, json_t *list, const char *name, int64_t low, const Argument *argument,
                              int64_t values[ARGUMENT_MOST_DIMS]) {
    if (!read_integers(reading, list, name, low, LAUNCH_MOST_ELEMENTS, values))
        return false;
    if (json_array_size(list) != argument->rank)
        return fail(reading, "'%s' has %zu numbers, and 'shape' has %u", name, json_array_size(list), argument->rank);
    return true;
}

/* A box has as many dimensions as its tensor; what an im2col copy moves is pixels and channels. */
static bool read_block(Reading *reading, json_t *list, Argument *argument) {
    enum { IMAGE_LEAST_RANK = 3, IMAGE_MOST_RANK = 5, COLUMN_RANK = 2 };
    bool column = argument->rank >= IMAGE_LEAST_RANK && argument->rank <= IMAGE_MOST_RANK && json_is_array(list) &&
                  json_array_size(list) == COLUMN_RANK;
    if (column ? !read_integers(reading, list, "block", 1, LAUNCH_MOST_ELEMENTS, argument->block)
               : !read_beside_shape(reading, list, "block", 1, argument, argument->block))
        return false;
    argument->block_rank = (uint8_t)json_array_size(list);
    return true;
}

/* A member that is a name; nothing happens if there is none. */
static bool read_name(Reading *reading, json_t *object, const char *key, Str *name) {
    json_t *value = enter(reading, object, key);
    if (!value)
        return true;
    if (!json_is_string(value) || !json_string_length(value))
        return fail(reading, "'%s' must be a name in quotes", key);
    *name = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
    leave(reading);
    return true;
}

static bool read_flag(Reading *reading, json_t *object, const char *key, bool *flag) {
    json_t *value = enter(reading, object, key);
    if (!value)
        return true;
    if (!json_is_boolean(value))
        return fail(reading, "'%s' must be true or false", key);
    *flag = json_is_true(value);
    leave(reading);
    return true;
}

static bool read_data(Reading *reading, json_t *list, Argument *argument) {
    if (!json_is_array(list))
        return fail(reading, "'data' must be a list of integers");
    size_t count = json_array_size(list);
    int64_t *data = ARENA_ARRAY(reading->arena, int64_t, count + 1); /* never nothing: NULL means another thing */
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        data[i] = json_integer_value(item);
        if (!json_is_integer(item) || !element_fits(data[i], argument->element_bits)) {
            reading->path[reading->depth++] = i;
            if (!json_is_integer(item))
                return fail(reading, "'data' must be a list of integers");
            return fail(reading, "%" PRId64 " does not fit in an element of %u bits", data[i], argument->element_bits);
        }
    }
    argument->data = data;
    argument->data_count = count;
    return true;
}

/* On which device the memory is, if it is not the launch's own. */
static bool read_device(Reading *reading, json_t *memory, Argument *argument) {
    json_t *value = enter(reading, memory, "device");
    if (!value)
        return true;
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    int64_t number = json_integer_value(value);
    if (strcmp(word, "next") == 0)
        argument->place = DEVICE_NEXT;
    else if (strcmp(word, "previous") == 0)
        argument->place = DEVICE_PREVIOUS;
    else if (json_is_integer(value) && number >= 0 && number < MOST_DEVICES)
        argument->place = DEVICE_NUMBER;
    else
        return fail(reading, "'device' must be an integer from 0 to %d, \"next\" or \"previous\"", MOST_DEVICES - 1);
    argument->device = (uint32_t)number;
    leave(reading);
    return true;
}

/* Where in its buffer it begins. What the buffer holds is told by arguments that begin where it does. */
static bool read_offset(Reading *reading, json_t *memory, Argument *argument) {
    json_t *value = enter(reading, memory, "offset");
    if (!value)
        return true;
    argument->offset = json_integer_value(value);
    if (!json_is_integer(value) || argument->offset < 0 || argument->offset > LAUNCH_MOST_ELEMENTS)
        return fail(reading, "'offset' must be an integer from 0 to 2^48");
    if (argument->offset && !argument->buffer.size)
        return fail(reading, "'offset' requires a 'buffer'");
    if (argument->offset && argument->data)
        return fail(reading, "'data' gives a buffer from its start, and this tensor starts after that");
    leave(reading);
    return true;
}

/* Whose memory it is, and what is known of it before the run. */
static bool read_history(Reading *reading, json_t *memory, Argument *argument) {
    if (!read_name(reading, memory, "buffer", &argument->buffer) || !read_offset(reading, memory, argument) ||
        !read_device(reading, memory, argument) || !read_flag(reading, memory, "output", &argument->output) ||
        !read_flag(reading, memory, "zero", &argument->zero))
        return false;
    if (argument->output && (argument->zero || argument->data)) {
        (void)enter(reading, memory, "output");
        return fail(reading, "an output has not been written yet: it takes no '%s'", argument->zero ? "zero" : "data");
    }
    return true;
}

/* The allocation that it lies in. A descriptor may reach past the end of that, as those of ragged tensors do. */
static bool read_storage(Reading *reading, json_t *memory, Argument *argument, int64_t elements) {
    json_t *list = enter(reading, memory, "storage");
    if (!list)
        return true;
    int64_t sizes[ARGUMENT_MOST_DIMS];
    if (!json_is_array(list) || json_array_size(list) != 2)
        return fail(reading, "'storage' must be a list of two integers: the elements before the first one, and from "
                             "the first one on");
    if (!read_integers(reading, list, "storage", 0, LAUNCH_MOST_ELEMENTS, sizes))
        return false;
    if (argument->kind == ARGUMENT_TENSOR && sizes[1] < elements)
        return fail(reading, "'storage' has %" PRId64 " elements from the first one on, and this tensor spans %" PRId64,
                    sizes[1], elements);
    argument->has_storage = true;
    memcpy(argument->storage, sizes, sizeof argument->storage);
    leave(reading);
    return true;
}

/* What follows "tensor" or "descriptor", which is its kind. */
static bool read_memory(Reading *reading, json_t *memory, Argument *argument, const char *kind) {
    if (!json_is_object(memory))
        return fail(reading, "a %s must be an object with a shape", kind);
    if (!has_only(reading, memory, "shape strides block dtype data zero output storage buffer offset device"))
        return false;
    json_t *value;
    if ((value = enter(reading, memory, "dtype"))) {
        if (!json_is_string(value))
            return fail(reading, "'dtype' must be a type name in quotes");
        argument->element_bits = bits_of_type(json_string_value(value));
        leave(reading);
    }
    if ((value = enter(reading, memory, "data"))) {
        if (!read_data(reading, value, argument))
            return false;
        leave(reading);
    }
    if ((value = enter(reading, memory, "shape"))) {
        if (!read_integers(reading, value, "shape", 0, LAUNCH_MOST_ELEMENTS, argument->shape))
            return false;
        argument->rank = (uint8_t)json_array_size(value);
        leave(reading);
    } else if (argument->data) {
        argument->rank = 1;
        argument->shape[0] = (int64_t)argument->data_count;
    } else {
        return fail(reading, "a %s needs a shape", kind);
    }
    argument_make_dense(argument);
    if ((value = enter(reading, memory, "strides"))) {
        if (!read_beside_shape(reading, value, "strides", 0, argument, argument->strides))
            return false;
        leave(reading);
    }
    if (argument->kind == ARGUMENT_DESCRIPTOR && (value = enter(reading, memory, "block"))) {
        if (!read_block(reading, value, argument))
            return false;
        leave(reading);
    }
    int64_t elements = argument_elements(argument);
    if (!read_storage(reading, memory, argument, elements))
        return false;
    bool bounded = argument->kind == ARGUMENT_DESCRIPTOR && argument->has_storage;
    if (bounded && (elements < 0 || elements > argument->storage[1]))
        elements = argument->storage[1];
    if (elements < 0)
        return fail(reading, "this %s spans more than %" PRId64 " elements", kind, LAUNCH_MOST_ELEMENTS);
    if (argument->data_count > (size_t)elements)
        return fail(reading, "'data' has %zu numbers, and this %s spans %" PRId64, argument->data_count, kind,
                    elements);
    return read_history(reading, memory, argument);
}

/* One that differs from device to device, or tells how many there are: until that is known there is one. */
static bool read_place(Reading *reading, json_t *value, Argument *argument, const char *key) {
    bool flag = false;
    if (!read_flag(reading, value, key, &flag))
        return false;
    if (!flag) {
        (void)enter(reading, value, key);
        return fail(reading, "'%s' must be true where it is given", key);
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
    {"devices", ARGUMENT_INTEGER, MEANS_DEVICES},
};

static bool read_kind(Reading *reading, json_t *value, Argument *argument, const char *key) {
    if (argument->meaning != MEANS_NUMBER)
        return read_place(reading, value, argument, key);
    if (argument->kind == ARGUMENT_POINTERS) {
        argument->element_bits = 64;
        return read_name(reading, value, key, &argument->buffer);
    }
    if (!read_memory(reading, enter(reading, value, key), argument, key))
        return false;
    leave(reading);
    return true;
}

static bool read_argument(Reading *reading, json_t *value, Argument *argument) {
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
        if (json_object_get(value, kinds[i].key))
            found++, kind = i;
    if (found != 1)
        return fail(reading,
                    "'%.*s' must be a number, true, false, or an object with one of \"tensor\", \"descriptor\", "
                    "\"pointers\", \"rank\" and \"devices\"",
                    STR_ARG(argument->name));
    argument->kind = kinds[kind].kind;
    argument->meaning = kinds[kind].meaning;
    return has_only(reading, value, kinds[kind].key) && read_kind(reading, value, argument, kinds[kind].key);
}

static bool read_arguments(Reading *reading, json_t *object, Launch *launch) {
    if (!json_is_object(object))
        return fail(reading, "'args' must be an object of arguments by name");
    size_t count = json_object_size(object);
    if (count > LAUNCH_MOST_ARGUMENTS)
        return fail(reading, "there are %zu arguments, and at most %d are allowed", count, LAUNCH_MOST_ARGUMENTS);
    launch->arguments = count ? ARENA_ARRAY(reading->arena, Argument, count) : NULL;
    launch->capacity = count;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        reading->path[reading->depth++] = launch->count;
        if (!*key)
            return fail(reading, "an argument needs a name");
        Argument *argument = &launch->arguments[launch->count++];
        argument->name = str_of(arena_copy(reading->arena, key, strlen(key)));
        if (!read_argument(reading, value, argument))
            return false;
        leave(reading);
    }
    return true;
}

static bool read_number(Reading *reading, json_t *object, const char *key, int64_t high, uint32_t *number) {
    json_t *value = enter(reading, object, key);
    if (!value)
        return true;
    int64_t given = json_integer_value(value);
    if (!json_is_integer(value) || given < 0 || given > high)
        return fail(reading, "'%s' must be an integer from 0 to %" PRId64, key, high);
    *number = (uint32_t)given;
    leave(reading);
    return true;
}

/* The kernels that have ended before. */
static bool read_after(Reading *reading, json_t *root, Launch *launch) {
    json_t *list = enter(reading, root, "after");
    if (!list)
        return true;
    if (!json_is_array(list) || json_array_size(list) > MOST_AFTER)
        return fail(reading, "'after' must be a list of at most %d kernel names", MOST_AFTER);
    launch->after_count = json_array_size(list);
    launch->after = ARENA_ARRAY(reading->arena, Str, launch->after_count + 1);
    for (size_t i = 0; i < launch->after_count; i++) {
        json_t *item = json_array_get(list, i);
        if (!json_is_string(item) || !json_string_length(item)) {
            reading->path[reading->depth++] = i;
            return fail(reading, "'after' must have kernel names in quotes");
        }
        launch->after[i] = str_of(arena_copy(reading->arena, json_string_value(item), json_string_length(item)));
    }
    leave(reading);
    return true;
}

static bool read_release(Reading *reading, json_t *root, Launch *launch) {
    json_t *value = enter(reading, root, "triton");
    if (!value)
        return true;
    if (!json_is_string(value) || !releases_named(str_of(json_string_value(value))))
        return fail(reading, "'triton' must be a release in quotes, from \"3.5\" on");
    launch->triton = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
    leave(reading);
    return true;
}

/* Where it runs, and what it comes after. */
static bool read_order(Reading *reading, json_t *root, Launch *launch) {
    launch->has_device = json_object_get(root, "device") != NULL;
    return read_number(reading, root, "stream", INT32_MAX, &launch->stream) &&
           read_number(reading, root, "device", MOST_DEVICES - 1, &launch->device) &&
           read_flag(reading, root, "dependent", &launch->dependent) && read_after(reading, root, launch);
}

static bool read_launch(Reading *reading, Launch *launch) {
    json_t *root = reading->root, *value;
    if (!json_is_object(root))
        return fail(reading, "a launch must be an object, {\"kernel\": ..., \"grid\": ..., \"args\": ...}");
    if (!has_only(reading, root, "kernel grid args stream device dependent after triton"))
        return false;
    if ((value = enter(reading, root, "kernel"))) {
        if (!json_is_string(value))
            return fail(reading, "'kernel' must be a name in quotes");
        launch->kernel = str_of(arena_copy(reading->arena, json_string_value(value), json_string_length(value)));
        leave(reading);
    }
    if ((value = enter(reading, root, "grid"))) {
        int64_t grid[ARGUMENT_MOST_DIMS];
        if (!json_is_array(value) || json_array_size(value) != 3)
            return fail(reading, "'grid' must be a list of three positive integers");
        if (!read_integers(reading, value, "grid", 1, INT32_MAX, grid))
            return false;
        memcpy(launch->grid, grid, sizeof launch->grid);
        leave(reading);
    }
    if (!read_order(reading, root, launch) || !read_release(reading, root, launch))
        return false;
    if ((value = enter(reading, root, "args"))) {
        if (!read_arguments(reading, value, launch))
            return false;
        leave(reading);
    }
    return true;
}

/* Names all that a template leaves open and nobody has filled in. The writer's own keys may hold anything. */
static bool is_filled(Reading *reading, json_t *value, const char *name) {
    const char *key;
    json_t *member;
    size_t position = 0, index;
    bool filled = true;
    if (json_is_null(value))
        return fail(reading, "'%s' must still be filled in", name);
    if (reading->depth == LONGEST_PATH)
        return true; /* nothing that is read is as far in */
    json_object_foreach(value, key, member) {
        reading->path[reading->depth++] = position++;
        filled &= strcmp(key, "from") == 0 || strncmp(key, "x-", 2) == 0 || is_filled(reading, member, key);
        leave(reading);
    }
    json_array_foreach(value, index, member) {
        reading->path[reading->depth++] = index;
        bool good = is_filled(reading, member, name);
        leave(reading);
        if (!good)
            return false; /* the list is told of once */
    }
    return filled;
}

bool launch_read(Arena *arena, Source *source, Launch *launch, Diagnostics *diagnostics) {
    Reading reading = {.arena = arena, .source = source, .diagnostics = diagnostics};
    *launch = (Launch){.kernel = STR(""), .grid = {1, 1, 1}};
    reading.root = parse(&reading);
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
    bool good = is_filled(&reading, reading.root, "launch") && read_launch(&reading, launch);
    arena->exhausted = outer;
    json_decref(reading.root);
    return good;
}
