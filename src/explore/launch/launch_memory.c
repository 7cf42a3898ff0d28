/* Launch files: memory, of tensors and of tensor descriptors. */
#include "explore/launch/launch_reading.h"

#include <inttypes.h>

/* A list beside the shape, with as many numbers. */
static bool read_beside_shape(Reading *reading, json_t *list, const char *name, int64_t low, const Argument *argument,
                              int64_t values[ARGUMENT_MOST_DIMS]) {
    if (!reading_integers(reading, list, name, low, LAUNCH_MOST_ELEMENTS, values))
        return false;
    if (json_array_size(list) != argument->rank)
        return reading_fail(reading, "'%s' has %zu numbers, and 'shape' has %u", name, json_array_size(list),
                            argument->rank);
    return true;
}

/* A box has as many dimensions as its tensor; what an im2col copy moves is pixels and channels. */
static bool read_block(Reading *reading, json_t *list, Argument *argument) {
    enum { IMAGE_LEAST_RANK = 3, IMAGE_MOST_RANK = 5, COLUMN_RANK = 2 };
    bool column = argument->rank >= IMAGE_LEAST_RANK && argument->rank <= IMAGE_MOST_RANK && json_is_array(list) &&
                  json_array_size(list) == COLUMN_RANK;
    if (column ? !reading_integers(reading, list, "block", 1, LAUNCH_MOST_ELEMENTS, argument->block)
               : !read_beside_shape(reading, list, "block", 1, argument, argument->block))
        return false;
    argument->block_rank = (uint8_t)json_array_size(list);
    return true;
}

static bool is_real_kind(NumberKind kind) {
    return kind >= ELEMENT_F16;
}

/* As numbers where one of them has a point or an exponent, and else as bits. */
static bool read_item(Reading *reading, json_t *item, bool reals, const Argument *argument, int64_t *bits) {
    *bits = json_integer_value(item);
    if (reals && json_is_number(item)) {
        return element_of_real(argument->element, json_number_value(item), bits) ||
               reading_fail(reading, "%g does not fit in an element of its type", json_number_value(item));
    }
    if (!json_is_integer(item))
        return reading_fail(reading, "'data' must be a list of integers");
    return element_fits(*bits, argument->element_bits) ||
           reading_fail(reading, "%" PRId64 " does not fit in an element of %u bits", *bits, argument->element_bits);
}

static bool read_bytes(Reading *reading, json_t *text, Argument *argument) {
    const uint8_t *bytes;
    size_t count, size = argument->element_bits / 8;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return reading_fail(reading, "'data' in hexadecimal needs a 'dtype' of 8, 16, 32 or 64 bits");
    if (!reading_hex(reading, json_string_value(text), &bytes, &count))
        return false;
    if (count % size)
        return reading_fail(reading, "'data' has %zu bytes, and an element has %zu", count, size);
    int64_t *data = ARENA_ARRAY(reading->arena, int64_t, count / size + 1);
    for (size_t i = 0; i < count; i++)
        data[i / size] = (int64_t)((uint64_t)data[i / size] | (uint64_t)bytes[i] << 8 * (i % size));
    argument->data = data;
    argument->data_count = count / size;
    return true;
}

static bool read_data(Reading *reading, json_t *list, Argument *argument) {
    if (json_is_string(list))
        return read_bytes(reading, list, argument);
    if (!json_is_array(list))
        return reading_fail(reading, "'data' must be a list of integers, or bytes in hexadecimal");
    size_t count = json_array_size(list);
    int64_t *data = ARENA_ARRAY(reading->arena, int64_t, count + 1); /* never nothing: NULL means another thing */
    bool reals = false;
    for (size_t i = 0; i < count && !reals && is_real_kind(argument->element); i++)
        reals = json_is_real(json_array_get(list, i));
    for (size_t i = 0; i < count; i++) {
        reading->path[reading->depth++] = i;
        if (!read_item(reading, json_array_get(list, i), reals, argument, &data[i]))
            return false;
        reading_leave(reading);
    }
    argument->data = data;
    argument->data_count = count;
    return true;
}

/* On which device the memory is, if it is not the launch's own. */
static bool read_device(Reading *reading, json_t *memory, Argument *argument) {
    json_t *value = reading_enter(reading, memory, "device");
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
        return reading_fail(reading, "'device' must be an integer from 0 to %d, \"next\" or \"previous\"",
                            MOST_DEVICES - 1);
    argument->device = (uint32_t)number;
    reading_leave(reading);
    return true;
}

/* Where in its buffer it begins. What the buffer holds is told by arguments that begin where it does. */
static bool read_offset(Reading *reading, json_t *memory, Argument *argument) {
    json_t *value = reading_enter(reading, memory, "offset");
    if (!value)
        return true;
    argument->offset = json_integer_value(value);
    if (!json_is_integer(value) || argument->offset < 0 || argument->offset > LAUNCH_MOST_ELEMENTS)
        return reading_fail(reading, "'offset' must be an integer from 0 to 2^48");
    if (argument->offset && !argument->buffer.size)
        return reading_fail(reading, "'offset' requires a 'buffer'");
    if (argument->offset && argument->data && !reading->threads)
        return reading_fail(reading, "'data' gives a buffer from its start, and this tensor starts after that");
    reading_leave(reading);
    return true;
}

/* Whose memory it is, and what is known of it before the run. */
static bool read_history(Reading *reading, json_t *memory, Argument *argument) {
    if (!reading_name(reading, memory, "buffer", &argument->buffer) || !read_offset(reading, memory, argument) ||
        !read_device(reading, memory, argument) || !reading_flag(reading, memory, "output", &argument->output) ||
        !reading_flag(reading, memory, "zero", &argument->zero) ||
        !reading_flag(reading, memory, "peers", &argument->peers))
        return false;
    if (argument->output && (argument->zero || argument->data)) {
        (void)reading_enter(reading, memory, "output");
        return reading_fail(reading, "an output has not been written yet: it takes no '%s'",
                            argument->zero ? "zero" : "data");
    }
    return true;
}

/* The allocation that it lies in. A descriptor may reach past the end of that, as those of ragged tensors do. */
static bool read_storage(Reading *reading, json_t *memory, Argument *argument, int64_t elements) {
    json_t *list = reading_enter(reading, memory, "storage");
    if (!list)
        return true;
    int64_t sizes[ARGUMENT_MOST_DIMS];
    if (!json_is_array(list) || json_array_size(list) != 2)
        return reading_fail(reading,
                            "'storage' must be a list of two integers: the elements before the first one, and from "
                            "the first one on");
    if (!reading_integers(reading, list, "storage", 0, LAUNCH_MOST_ELEMENTS, sizes))
        return false;
    if (argument->kind == ARGUMENT_TENSOR && sizes[1] < elements)
        return reading_fail(reading,
                            "'storage' has %" PRId64 " elements from the first one on, and this tensor spans %" PRId64,
                            sizes[1], elements);
    argument->has_storage = true;
    memcpy(argument->storage, sizes, sizeof argument->storage);
    reading_leave(reading);
    return true;
}

/* A number of CUDA's enumeration, or the bytes that it stands for. */
static bool read_choice(Reading *reading, json_t *memory, const char *key, const char *bytes, int64_t last,
                        uint8_t *number) {
    int64_t given = 0, choice;
    uint8_t place = 0;
    if (!reading_number(reading, memory, key, UINT16_MAX, &given))
        return false;
    *number = (uint8_t)given;
    if (given <= last)
        return true;
    for (const char *at = bytes; *at; place++)
        if (str_to_int(str_next_word(&at), &choice) && choice == given) {
            *number = place;
            return true;
        }
    (void)reading_enter(reading, memory, key);
    return reading_fail(reading, "'%s' must be one of %s, or its number in CUDA", key, bytes);
}

/* Corners of what an im2col copy goes over: a number for each dimension but the outermost and the innermost. */
static bool read_corners(Reading *reading, json_t *memory, const char *key, Argument *argument, int64_t *values) {
    json_t *list = reading_enter(reading, memory, key);
    if (!list)
        return true;
    if (!reading_integers(reading, list, key, INT16_MIN, INT16_MAX, values))
        return false;
    if (argument->rank < 3 || json_array_size(list) != argument->rank - 2u)
        return reading_fail(reading, "'%s' has a number for each dimension but the first and the last", key);
    argument->map.corners = (uint8_t)(argument->rank - 2);
    reading_leave(reading);
    return true;
}

/* What PTX's tensor maps have beside the sizes. */
static bool read_map(Reading *reading, json_t *memory, Argument *argument) {
    enum { MOST_STEP = 8, LAST_SWIZZLE = 6, LAST_INTERLEAVE = 2 }; /* CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, ... */
    ArgumentMap *map = &argument->map;
    if (!read_choice(reading, memory, "swizzle", "0 32 64 128", LAST_SWIZZLE, &map->swizzle) ||
        !read_choice(reading, memory, "interleave", "0 16 32", LAST_INTERLEAVE, &map->interleave) ||
        !read_corners(reading, memory, "lower", argument, map->lower) ||
        !read_corners(reading, memory, "upper", argument, map->upper))
        return false;
    json_t *value = reading_enter(reading, memory, "fill");
    if (value) {
        const char *word = json_is_string(value) ? json_string_value(value) : "";
        map->nans = strcmp(word, "nan") == 0 || (json_is_integer(value) && json_integer_value(value) == 1);
        if (!map->nans && strcmp(word, "zero") != 0 && !(json_is_integer(value) && !json_integer_value(value)))
            return reading_fail(reading, "'fill' must be \"zero\" or \"nan\"");
        reading_leave(reading);
    }
    if ((value = reading_enter(reading, memory, "element_strides"))) {
        if (!read_beside_shape(reading, value, "element_strides", 1, argument, map->steps))
            return false;
        for (unsigned i = 0; i < argument->rank; i++)
            if (map->steps[i] > MOST_STEP)
                return reading_fail(reading, "'element_strides' must have integers from 1 to %d", MOST_STEP);
        reading_leave(reading);
    }
    return true;
}

/* Pointers that lie in the memory itself. */
static bool read_pointers(Reading *reading, json_t *memory, Argument *argument) {
    json_t *value = reading_enter(reading, memory, "pointers");
    if (!value)
        return true;
    if (!reading_parts(reading, value, argument))
        return false;
    reading_leave(reading);
    return true;
}

/* Of PTX, data is that of the buffer, wherever in it the tensor begins. */
static int64_t offset_given(json_t *memory) {
    int64_t offset = json_integer_value(json_object_get(memory, "offset"));
    return offset > 0 && offset <= LAUNCH_MOST_ELEMENTS ? offset : 0;
}

bool reading_memory(Reading *reading, json_t *memory, Argument *argument, const char *kind) {
    if (!json_is_object(memory))
        return reading_fail(reading, "a %s must be an object with a shape", kind);
    if (!reading_has_only(reading, memory,
                          argument->kind == ARGUMENT_TENSOR
                              ? "shape strides block dtype data zero output peers storage buffer offset device pointers"
                              : "shape strides block dtype data zero output peers storage buffer offset device swizzle "
                                "interleave fill element_strides lower upper"))
        return false;
    json_t *value;
    if ((value = reading_enter(reading, memory, "dtype"))) {
        if (!json_is_string(value))
            return reading_fail(reading, "'dtype' must be a type name in quotes");
        argument->element_bits = element_named(json_string_value(value), &argument->element);
        reading_leave(reading);
    }
    if ((value = reading_enter(reading, memory, "data"))) {
        if (!read_data(reading, value, argument))
            return false;
        reading_leave(reading);
    }
    if ((value = reading_enter(reading, memory, "shape"))) {
        if (!reading_integers(reading, value, "shape", 0, LAUNCH_MOST_ELEMENTS, argument->shape))
            return false;
        argument->rank = (uint8_t)json_array_size(value);
        reading_leave(reading);
    } else if (argument->data) {
        argument->rank = 1;
        argument->shape[0] = (int64_t)argument->data_count;
    } else {
        return reading_fail(reading, "a %s needs a shape", kind);
    }
    argument_make_dense(argument);
    if ((value = reading_enter(reading, memory, "strides"))) {
        if (!read_beside_shape(reading, value, "strides", 0, argument, argument->strides))
            return false;
        reading_leave(reading);
    }
    if (argument->kind == ARGUMENT_DESCRIPTOR && (value = reading_enter(reading, memory, "block"))) {
        if (!read_block(reading, value, argument))
            return false;
        reading_leave(reading);
    }
    int64_t elements = argument_elements(argument);
    if (!read_storage(reading, memory, argument, elements))
        return false;
    bool bounded = argument->kind == ARGUMENT_DESCRIPTOR && argument->has_storage;
    if (bounded && (elements < 0 || elements > argument->storage[1]))
        elements = argument->storage[1];
    if (elements < 0)
        return reading_fail(reading, "this %s spans more than %" PRId64 " elements", kind, LAUNCH_MOST_ELEMENTS);
    int64_t whole = elements + (reading->threads ? offset_given(memory) : 0);
    if (argument->data_count > (size_t)whole)
        return reading_fail(reading, "'data' has %zu numbers, and this %s spans %" PRId64, argument->data_count, kind,
                            whole);
    if (argument->kind == ARGUMENT_DESCRIPTOR && !read_map(reading, memory, argument))
        return false;
    return read_history(reading, memory, argument) && read_pointers(reading, memory, argument);
}
