/* From a kernel's parameters to the JSON of a launch file with gaps. */
#include "base/json.h"
#include "machine/simt/launch/launch_internal.h"

#include <inttypes.h>

static void add_unknowns(Json *json, const char *key, unsigned count) {
    json_begin_list(json, key);
    for (unsigned i = 0; i < count; i++)
        json_nothing(json, NULL);
    json_end_list(json);
}

/* Numbers that the header says, or gaps. */
static void add_shape(Json *json, const PtxModule *module, uint32_t entry, const char *key, const char *directive) {
    uint32_t numbers[3];
    if (!ptx_header_numbers(module, entry, directive, numbers)) {
        add_unknowns(json, key, 3);
        return;
    }
    int64_t sizes[3] = {numbers[0], numbers[1], numbers[2]};
    json_integers(json, key, sizes, 3);
}

static bool is_pointer(const PtxParameter *parameter) {
    return parameter->pointer ||
           (parameter->scalar && parameter->bits == 64 && parameter->letter != 'f' && parameter->letter != 's');
}

static void add_value(Json *json, const PtxParameter *parameter) {
    json_key(json, parameter->name);
    if (ptx_parameter_is_map(parameter)) {
        json_begin(json, NULL);
        json_begin(json, "descriptor");
        add_unknowns(json, "shape", 2);
        add_unknowns(json, "block", 2);
        json_nothing(json, "dtype");
        json_end(json);
        json_end(json);
    } else if (!parameter->scalar) {
        json_begin(json, NULL);
        json_nothing(json, "bytes");
        json_end(json);
    } else if (is_pointer(parameter)) {
        json_begin(json, NULL);
        json_begin(json, "tensor");
        add_unknowns(json, "shape", 1);
        json_nothing(json, "dtype");
        json_end(json);
        json_end(json);
    } else {
        json_nothing(json, NULL);
    }
}

static void say_value(const PtxParameter *parameter, uint32_t index, Text *to) {
    text_addf(to, "parameter %u, ", index);
    if (ptx_parameter_is_map(parameter))
        text_addf(to, "128 bytes: a tensor map, outermost dimension first, or {\"bytes\": ...}");
    else if (!parameter->scalar)
        text_addf(to, "%" PRIu64 " bytes by value, in hexadecimal; pointers in them as \"pointers\": {OFFSET: ...}",
                  parameter->bytes);
    else if (is_pointer(parameter))
        text_addf(to, ".%c%u: a pointer%s", parameter->letter, parameter->bits,
                  parameter->pointer ? "" : ", or else a number");
    else
        text_addf(to, ".%c%u", parameter->letter, parameter->bits);
}

static void add_sentences(Json *json, const PtxModule *module, uint32_t entry) {
    const PtxFunction *function = &module->functions[entry];
    json_line(json, 2);
    json_begin(json, "x-parameters");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        PtxParameter parameter = ptx_parameter(module, entry, i);
        Text text = {0};
        json_line(json, 4);
        say_value(&parameter, i, &text);
        json_key(json, parameter.name);
        json_take(json, NULL, &text);
    }
    json_end(json);
}

void ptx_launch_template(const PtxModule *module, uint32_t entry, Text *to) {
    const PtxFunction *function = &module->functions[entry];
    Json json = {.to = to};
    uint32_t numbers[3];
    json_begin(&json, NULL);
    json_line(&json, 2);
    json_str(&json, "kernel", ptx_name(module, function->name));
    json_line(&json, 2);
    add_unknowns(&json, "grid", 3);
    json_line(&json, 2);
    add_shape(&json, module, entry, "block", ".reqntid");
    if (ptx_header_numbers(module, entry, ".reqnctapercluster", numbers)) {
        json_line(&json, 2);
        add_shape(&json, module, entry, "cluster", ".reqnctapercluster");
    }
    if (ptx_has_dynamic(module)) {
        json_line(&json, 2);
        json_nothing(&json, "shared");
    }
    json_line(&json, 2);
    json_begin(&json, "args");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        PtxParameter parameter = ptx_parameter(module, entry, i);
        json_line(&json, 4);
        add_value(&json, &parameter);
    }
    json_end(&json);
    add_sentences(&json, module, entry);
    json_end(&json);
    text_char(to, '\n');
}
