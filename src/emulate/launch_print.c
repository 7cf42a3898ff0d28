/* Launches in words, and as launch files. */
#include "emulate/launch.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static int add_to_text(const char *data, size_t size, void *to) {
    text_add(to, data, size);
    return 0;
}

/* Strings and floats as JSON has them. Takes `value` over. */
static void add_json(Text *to, json_t *value, size_t flags) {
    if (!value || json_dump_callback(value, add_to_text, to, JSON_ENCODE_ANY | flags) != 0)
        to->failed = true;
    json_decref(value);
}

/* With the fewest digits that give the same number again: 0.1, not 0.10000000000000001. */
static void add_float(Text *to, double number) {
    int digits = 15;
    for (; digits < 17; digits++) {
        char trial[32];
        snprintf(trial, sizeof trial, "%.*g", digits, number);
        if (strtod(trial, NULL) == number)
            break;
    }
    add_json(to, json_real(number), JSON_REAL_PRECISION((size_t)digits));
}

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
    if (argument->output || argument->zero) {
        text_addf(to, "%s%s", between, argument->output ? "output" : "zeros");
        between = ", ";
    }
    if (argument->buffer.size) {
        text_addf(to, "%sbuffer ", between);
        text_add_plain(to, argument->buffer);
        between = argument->place == DEVICE_OWN ? ", " : " ";
    }
    if (argument->place == DEVICE_NUMBER)
        text_addf(to, "%sof device %u", between, argument->device);
    else if (argument->place != DEVICE_OWN)
        text_addf(to, "%sof the %s device", between, argument->place == DEVICE_NEXT ? "next" : "previous");
    if (argument->output || argument->zero || argument->buffer.size || argument->place != DEVICE_OWN)
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
        add_integers(to, argument->data, all ? argument->data_count : MOST_SHOWN, ", ");
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
        add_float(to, argument->number);
        break;
    case ARGUMENT_TENSOR:
    case ARGUMENT_DESCRIPTOR:
        describe_memory(argument, to);
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

void launch_describe(const Launch *launch, Text *to) {
    text_addf(to, "grid ");
    add_integers(to, launch->grid, 3, "x");
    describe_order(launch, to);
    for (size_t i = 0; i < launch->count; i++) {
        const Argument *argument = &launch->arguments[i];
        text_addf(to, ", ");
        text_add_plain(to, argument->name);
        text_addf(to, " = ");
        describe_argument(argument, to);
    }
}

const char *launch_text(const Launch *launch, Arena *arena) {
    Text text = {0};
    launch_describe(launch, &text);
    return text_keep(&text, arena);
}

static void write_list(Text *to, const char *name, const int64_t *values, size_t count) {
    text_addf(to, "\"%s\": [", name);
    add_integers(to, values, count, ", ");
    text_char(to, ']');
}

static void write_name(Text *to, Str name) {
    add_json(to, json_stringn(name.data, name.size), 0);
}

static void write_history(const Argument *argument, Text *to) {
    if (argument->buffer.size) {
        text_addf(to, ", \"buffer\": ");
        write_name(to, argument->buffer);
    }
    if (argument->place == DEVICE_NUMBER)
        text_addf(to, ", \"device\": %u", argument->device);
    else if (argument->place != DEVICE_OWN)
        text_addf(to, ", \"device\": \"%s\"", argument->place == DEVICE_NEXT ? "next" : "previous");
    if (argument->output)
        text_addf(to, ", \"output\": true");
    if (argument->zero)
        text_addf(to, ", \"zero\": true");
}

static void write_memory(const Argument *argument, Text *to) {
    text_addf(to, "{\"%s\": {", argument->kind == ARGUMENT_TENSOR ? "tensor" : "descriptor");
    write_list(to, "shape", argument->shape, argument->rank);
    text_addf(to, ", ");
    write_list(to, "strides", argument->strides, argument->rank);
    if (argument->kind == ARGUMENT_DESCRIPTOR && argument->rank && argument->block[0]) {
        text_addf(to, ", ");
        write_list(to, "block", argument->block, argument->rank);
    }
    if (argument->element_bits)
        text_addf(to, ", \"dtype\": \"i%u\"", argument->element_bits);
    if (argument->data) {
        text_addf(to, ", ");
        write_list(to, "data", argument->data, argument->data_count);
    }
    write_history(argument, to);
    text_addf(to, "}}");
}

static void write_argument(const Argument *argument, Text *to) {
    switch (argument->kind) {
    case ARGUMENT_INTEGER:
        if (argument->meaning == MEANS_NUMBER)
            text_addf(to, "%" PRId64, argument->integer);
        else
            text_addf(to, "{\"%s\": true}", argument->meaning == MEANS_RANK ? "rank" : "devices");
        break;
    case ARGUMENT_FLOAT:
        add_float(to, argument->number);
        break;
    case ARGUMENT_TENSOR:
    case ARGUMENT_DESCRIPTOR:
        write_memory(argument, to);
        break;
    case ARGUMENT_POINTERS:
        text_addf(to, "{\"pointers\": ");
        write_name(to, argument->buffer);
        text_char(to, '}');
        break;
    }
}

static void write_order(const Launch *launch, Text *to) {
    if (launch->stream)
        text_addf(to, ", \"stream\": %u", launch->stream);
    if (launch->has_device)
        text_addf(to, ", \"device\": %u", launch->device);
    if (launch->dependent)
        text_addf(to, ", \"dependent\": true");
    if (!launch->after_count)
        return;
    text_addf(to, ", \"after\": [");
    for (size_t i = 0; i < launch->after_count; i++) {
        if (i)
            text_addf(to, ", ");
        write_name(to, launch->after[i]);
    }
    text_char(to, ']');
}

void launch_write(const Launch *launch, Text *to) {
    text_char(to, '{');
    if (launch->kernel.size) {
        text_addf(to, "\"kernel\": ");
        write_name(to, launch->kernel);
        text_addf(to, ", ");
    }
    write_list(to, "grid", launch->grid, 3);
    write_order(launch, to);
    text_addf(to, ", \"args\": {");
    for (size_t i = 0; i < launch->count; i++) {
        const Argument *argument = &launch->arguments[i];
        if (i)
            text_addf(to, ", ");
        write_name(to, argument->name);
        text_addf(to, ": ");
        write_argument(argument, to);
    }
    text_addf(to, "}}");
}
