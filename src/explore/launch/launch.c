/* Launches on the command line, and what is asked of an argument. */
#include "explore/launch/launch_internal.h"

#include <ctype.h>
#include <jansson.h>

void argument_make_dense(Argument *argument) {
    int64_t stride = 1;
    for (size_t i = argument->rank; i-- > 0;) {
        argument->strides[i] = stride;
        int64_t size = argument->shape[i] > 0 ? argument->shape[i] : 1;
        if (__builtin_mul_overflow(stride, size, &stride))
            stride = INT64_MAX; /* `argument_elements` says no */
    }
}

int64_t argument_elements(const Argument *argument) {
    bool empty = false;
    int64_t count = 1, far;
    for (size_t i = 0; i < argument->rank; i++) {
        int64_t steps = argument->shape[i] ? argument->shape[i] - 1 : 0;
        empty |= argument->shape[i] == 0;
        if (argument->strides[i] > LAUNCH_MOST_ELEMENTS || __builtin_mul_overflow(steps, argument->strides[i], &far) ||
            __builtin_add_overflow(count, far, &count) || count > LAUNCH_MOST_ELEMENTS)
            return -1;
    }
    return empty ? 0 : count;
}

static Str trimmed(Str s) {
    while (s.size && isspace((unsigned char)s.data[0]))
        s.data++, s.size--;
    while (s.size && isspace((unsigned char)s.data[s.size - 1]))
        s.size--;
    return s;
}

/* As JSON writes it, whatever the locale. */
static bool parse_float(Str s, double *number) {
    json_error_t error;
    json_t *value = json_loadb(s.data, s.size, JSON_DECODE_ANY, &error);
    bool good = json_is_real(value);
    *number = json_real_value(value);
    json_decref(value);
    return good;
}

/* "[1, 2, 3]" */
static const char *parse_list(Arena *arena, Str s, Argument *argument) {
    if (s.data[s.size - 1] != ']' || s.size < 2)
        return "a list must end with ']'";
    s = trimmed((Str){s.data + 1, s.size - 2});
    size_t count = s.size ? 1 : 0;
    for (size_t i = 0; i < s.size; i++)
        count += s.data[i] == ',';
    *argument = (Argument){.name = argument->name,
                           .kind = ARGUMENT_TENSOR,
                           .rank = 1,
                           .element_bits = 32,
                           .shape = {(int64_t)count},
                           .strides = {1},
                           .data_count = count};
    int64_t *data = ARENA_ARRAY(arena, int64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const char *comma = memchr(s.data, ',', s.size);
        Str item = comma ? str_between(s.data, comma) : s;
        if (!str_to_int(trimmed(item), &data[i]) || !element_fits(data[i], argument->element_bits))
            return "a list must have 32-bit integers separated by commas";
        if (comma)
            s = str_between(comma + 1, s.data + s.size);
    }
    argument->data = data;
    return NULL;
}

static bool parse_word(Str s, int64_t *value) {
    *value = str_is(s, "true") || str_is(s, "True");
    return *value || str_is(s, "false") || str_is(s, "False");
}

static Argument *place_for(Arena *arena, Launch *launch, Str name) {
    const Argument *found = launch_find(launch, name);
    if (found)
        return &launch->arguments[found - launch->arguments];
    return ARENA_PUSH(arena, launch->arguments, launch->count, launch->capacity);
}

/* Of a name that MLIR can give a value. */
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-";

const char *launch_set(Arena *arena, Launch *launch, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals)
        return "an argument must be NAME=VALUE";
    Str name = trimmed(str_between(text, equals)), value = trimmed(str_of(equals + 1));
    if (!name.size)
        return "an argument must be NAME=VALUE, and the name is missing";
    if (strspn(name.data, name_characters) < name.size)
        return "an argument's name may have letters, digits, '_', '.', '$' and '-'";
    Argument argument = {.name = name};
    if (value.size && value.data[0] == '[') {
        const char *problem = parse_list(arena, value, &argument);
        if (problem)
            return problem;
    } else if (parse_float(value, &argument.number)) {
        argument.kind = ARGUMENT_FLOAT;
    } else if (!str_to_int(value, &argument.integer) && !parse_large_unsigned(value, &argument.integer) &&
               !parse_word(value, &argument.integer)) {
        return "an argument must be a 64-bit integer, a float, true, false, or a list of integers in brackets";
    }
    if (launch->count >= LAUNCH_MOST_ARGUMENTS && !launch_find(launch, name))
        return "there are too many arguments";
    argument.name.data = arena_copy(arena, name.data, name.size);
    *place_for(arena, launch, name) = argument;
    return NULL;
}

static const char *set_shape(int64_t shape[3], const char *text, const char *problem) {
    int64_t sizes[3] = {1, 1, 1};
    for (size_t i = 0;; i++) {
        size_t size = strcspn(text, ",x");
        if (i == 3 || !str_to_int(trimmed((Str){text, size}), &sizes[i]) || sizes[i] < 1 || sizes[i] > INT32_MAX)
            return problem;
        if (!text[size])
            break;
        text += size + 1;
    }
    memcpy(shape, sizes, sizeof sizes);
    return NULL;
}

const char *launch_set_grid(Launch *launch, const char *text) {
    return set_shape(launch->grid, text, "a grid must be one, two or three positive integers separated by commas");
}

const char *launch_set_block(Launch *launch, const char *text) {
    return set_shape(launch->block, text, "a block must be one, two or three positive integers separated by commas");
}

const char *launch_set_cluster(Launch *launch, const char *text) {
    return set_shape(launch->cluster, text,
                     "a cluster must be one, two or three positive integers separated by commas");
}

const char *launch_set_shared(Launch *launch, const char *text) {
    int64_t bytes;
    if (!str_to_int(trimmed(str_of(text)), &bytes) || bytes < 0 || bytes > INT32_MAX)
        return "dynamic shared memory must be a number of bytes";
    launch->shared = bytes;
    launch->has_shared = true;
    return NULL;
}

const Argument *launch_find(const Launch *launch, Str name) {
    for (size_t i = 0; i < launch->count; i++)
        if (str_equal(launch->arguments[i].name, name) || str_equal(launch->arguments[i].shown, name))
            return &launch->arguments[i];
    return NULL;
}
