/* Launches in words, and as launch files. */
#include "base/json.h"
#include "explore/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>

static void add_integers(Text *to, const int64_t *values, size_t count, const char *between) {
    for (size_t i = 0; i < count; i++)
        text_addf(to, "%s%" PRId64, i ? between : "", values[i]);
}

static bool is_dense(const Argument *argument) {
    Argument dense = *argument;
    argument_make_dense(&dense);
    return memcmp(dense.strides, argument->strides, sizeof dense.strides[0] * argument->rank) == 0;
}

/* " (output, buffer flags of the next device)" */
static void describe_history(const Argument *argument, Text *to) {
    const char *between = " (";
    if (argument->has_storage) {
        text_addf(to, "%sin a storage of %lld", between, (long long)(argument->storage[0] + argument->storage[1]));
        between = ", ";
    }
    if (argument->output || argument->zero) {
        text_addf(to, "%s%s", between, argument->output ? "output" : "zeros");
        between = ", ";
    }
    if (argument->peers) {
        text_addf(to, "%sof several processes", between);
        between = ", ";
    }
    if (argument->buffer.size) {
        text_addf(to, "%sbuffer ", between);
        text_add_plain(to, argument->buffer);
        if (argument->offset)
            text_addf(to, " from %lld on", (long long)argument->offset);
        between = argument->place == DEVICE_OWN ? ", " : " ";
    }
    if (argument->place == DEVICE_NUMBER)
        text_addf(to, "%sof device %u", between, argument->device);
    else if (argument->place != DEVICE_OWN)
        text_addf(to, "%sof the %s device", between, argument->place == DEVICE_NEXT ? "next" : "previous");
    if (argument->has_storage || argument->output || argument->zero || argument->buffer.size ||
        argument->place != DEVICE_OWN)
        text_char(to, ')');
}

static void describe_memory(const Argument *argument, Text *to) {
    enum { MOST_SHOWN = 8 };
    text_addf(to, "%s ", argument->kind == ARGUMENT_TENSOR ? "tensor" : "descriptor");
    if (argument->rank)
        add_integers(to, argument->shape, argument->rank, "x");
    else
        text_addf(to, "of one element");
    if (!is_dense(argument)) {
        text_addf(to, " strides ");
        add_integers(to, argument->strides, argument->rank, "x");
    }
    if (argument->data) {
        bool all = argument->data_count <= MOST_SHOWN;
        text_addf(to, " [");
        for (size_t i = 0; i < (all ? argument->data_count : MOST_SHOWN); i++) {
            text_addf(to, "%s", i ? ", " : "");
            if (!element_print(argument->element, argument->data[i], to))
                text_addf(to, "%" PRId64, argument->data[i]);
        }
        text_addf(to, all ? "]" : ", ...]");
    }
    describe_history(argument, to);
}

static void describe_argument(const Argument *argument, Text *to) {
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
        if (argument->meaning == MEANS_NUMBER)
            text_addf(to, "%" PRId64, argument->integer);
        else
            text_addf(to, argument->meaning == MEANS_RANK ? "the device" : "the number of devices");
        break;
    case ARGUMENT_FLOAT:
        json_add_float(to, argument->number);
        break;
    case ARGUMENT_TENSOR:
    case ARGUMENT_DESCRIPTOR:
        describe_memory(argument, to);
        break;
    case ARGUMENT_RAW:
        text_addf(to, "%zu bytes", argument->byte_count);
        break;
    case ARGUMENT_POINTERS:
        text_addf(to, "pointers to ");
        text_add_plain(to, argument->buffer);
        break;
    }
}

static void describe_order(const Launch *launch, Text *to) {
    if (launch->stream)
        text_addf(to, ", stream %u", launch->stream);
    if (launch->has_device)
        text_addf(to, ", device %u", launch->device);
    if (launch->dependent)
        text_addf(to, ", dependent");
    for (size_t i = 0; i < launch->after_count; i++) {
        text_addf(to, i ? " and " : ", after ");
        text_add_plain(to, launch->after[i]);
    }
}

/* One CTA alone is no cluster worth a word. */
static bool has_cluster(const Launch *launch) {
    return launch->cluster[0] > 1 || launch->cluster[1] > 1 || launch->cluster[2] > 1;
}

/* What launches of PTX say. */
static void describe_threads(const Launch *launch, Text *to) {
    if (launch->block[0]) {
        text_addf(to, ", block ");
        add_integers(to, launch->block, 3, "x");
    }
    if (has_cluster(launch)) {
        text_addf(to, ", cluster ");
        add_integers(to, launch->cluster, 3, "x");
    }
    if (launch->has_shared)
        text_addf(to, ", %" PRId64 " bytes of dynamic shared memory", launch->shared);
}

void launch_describe(const Launch *launch, Text *to) {
    text_addf(to, "grid ");
    add_integers(to, launch->grid, 3, "x");
    describe_threads(launch, to);
    describe_order(launch, to);
    for (size_t i = 0; i < launch->count; i++) {
        const Argument *argument = &launch->arguments[i];
        text_addf(to, ", ");
        text_add_plain(to, argument->shown.size ? argument->shown : argument->name);
        text_addf(to, " = ");
        describe_argument(argument, to);
    }
}

const char *launch_text(const Launch *launch, Arena *arena) {
    Text text = {0};
    launch_describe(launch, &text);
    return text_keep(&text, arena);
}

/* ---- As a file --------------------------------------------------------------------------------- */

static void write_history(const Argument *argument, Json *json) {
    if (argument->has_storage)
        json_integers(json, "storage", argument->storage, 2);
    if (argument->buffer.size)
        json_str(json, "buffer", argument->buffer);
    if (argument->offset)
        json_number(json, "offset", (uint64_t)argument->offset);
    if (argument->place == DEVICE_NUMBER)
        json_number(json, "device", argument->device);
    else if (argument->place != DEVICE_OWN)
        json_text(json, "device", argument->place == DEVICE_NEXT ? "next" : "previous");
    if (argument->output)
        json_truth(json, "output", true);
    if (argument->zero)
        json_truth(json, "zero", true);
    if (argument->peers)
        json_truth(json, "peers", true);
}

static void write_map(const Argument *argument, Json *json) {
    const ArgumentMap *map = &argument->map;
    if (map->swizzle)
        json_number(json, "swizzle", map->swizzle);
    if (map->interleave)
        json_number(json, "interleave", map->interleave);
    if (map->nans)
        json_text(json, "fill", "nan");
    if (map->steps[0])
        json_integers(json, "element_strides", map->steps, argument->rank);
    if (map->corners) {
        json_integers(json, "lower", map->lower, map->corners);
        json_integers(json, "upper", map->upper, map->corners);
    }
}

static void write_value(const Argument *argument, Json *json);

static void write_parts(const Argument *argument, Json *json) {
    if (!argument->part_count)
        return;
    json_begin(json, "pointers");
    for (uint32_t i = 0; i < argument->part_count; i++) {
        char offset[24];
        snprintf(offset, sizeof offset, "%" PRId64, argument->parts[i].at);
        json_key(json, str_of(offset));
        write_value(argument->parts[i].value, json);
    }
    json_end(json);
}

static void write_raw(const Argument *argument, Json *json) {
    Text text = {0};
    for (size_t i = 0; i < argument->byte_count; i++)
        text_addf(&text, "%02x", argument->bytes[i]);
    json_begin(json, NULL);
    json_take(json, "bytes", &text);
    write_parts(argument, json);
    json_end(json);
}

static void write_memory(const Argument *argument, Json *json) {
    json_begin(json, NULL);
    json_begin(json, argument->kind == ARGUMENT_TENSOR ? "tensor" : "descriptor");
    json_integers(json, "shape", argument->shape, argument->rank);
    json_integers(json, "strides", argument->strides, argument->rank);
    if (argument->kind == ARGUMENT_DESCRIPTOR && argument->block_rank)
        json_integers(json, "block", argument->block, argument->block_rank);
    char room[8];
    if (argument->element_bits)
        json_text(json, "dtype", element_name(argument->element, argument->element_bits, room));
    if (argument->data)
        json_integers(json, "data", argument->data, argument->data_count);
    if (argument->kind == ARGUMENT_DESCRIPTOR)
        write_map(argument, json);
    write_history(argument, json);
    write_parts(argument, json);
    json_end(json);
    json_end(json);
}

static void write_value(const Argument *argument, Json *json) {
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
        if (argument->meaning == MEANS_NUMBER) {
            json_signed(json, NULL, argument->integer);
            break;
        }
        json_begin(json, NULL);
        json_truth(json, argument->meaning == MEANS_RANK ? "rank" : "devices", true);
        json_end(json);
        break;
    case ARGUMENT_FLOAT:
        json_float(json, NULL, argument->number);
        break;
    case ARGUMENT_TENSOR:
    case ARGUMENT_DESCRIPTOR:
        write_memory(argument, json);
        break;
    case ARGUMENT_RAW:
        write_raw(argument, json);
        break;
    case ARGUMENT_POINTERS:
        json_begin(json, NULL);
        json_str(json, "pointers", argument->buffer);
        json_end(json);
        break;
    }
}

static void write_order(const Launch *launch, Json *json) {
    if (launch->stream)
        json_number(json, "stream", launch->stream);
    if (launch->has_device)
        json_number(json, "device", launch->device);
    if (launch->dependent)
        json_truth(json, "dependent", true);
    if (launch->checked.size)
        json_str(json, "checked", launch->checked);
    if (launch->at.size)
        json_str(json, "at", launch->at);
    if (launch->require_count)
        json_begin_list(json, "requires");
    for (size_t i = 0; i < launch->require_count; i++)
        json_text(json, NULL, launch->requires[i].text);
    if (launch->require_count)
        json_end_list(json);
    if (!launch->after_count)
        return;
    json_begin_list(json, "after");
    for (size_t i = 0; i < launch->after_count; i++)
        json_str(json, NULL, launch->after[i]);
    json_end_list(json);
}

void launch_write(const Launch *launch, Text *to) {
    Json json = {.to = to};
    json_begin(&json, NULL);
    if (launch->kernel.size)
        json_str(&json, "kernel", launch->kernel);
    if (launch->triton.size)
        json_str(&json, "triton", launch->triton);
    json_integers(&json, "grid", launch->grid, 3);
    if (launch->block[0])
        json_integers(&json, "block", launch->block, 3);
    if (has_cluster(launch))
        json_integers(&json, "cluster", launch->cluster, 3);
    if (launch->has_shared)
        json_number(&json, "shared", (uint64_t)launch->shared);
    write_order(launch, &json);
    json_begin(&json, "args");
    for (size_t i = 0; i < launch->count; i++) {
        json_key(&json, launch->arguments[i].name);
        write_value(&launch->arguments[i], &json);
    }
    json_end(&json);
    json_end(&json);
}
