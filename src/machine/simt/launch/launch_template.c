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

static void add_number(Json *json, const char *key, int64_t number) {
    if (number < 0)
        json_nothing(json, key);
    else
        json_signed(json, key, number);
}

/* Numbers that the source says, or gaps. */
static void add_sizes(Json *json, const char *key, const int64_t sizes[3], bool known) {
    json_begin_list(json, key);
    for (unsigned i = 0; i < 3; i++)
        add_number(json, NULL, known ? sizes[i] : -1);
    json_end_list(json);
}

/* Numbers that the header says, else those. */
static void add_shape(Json *json, const PtxModule *module, uint32_t entry, const char *directive, const char *key,
                      const int64_t source[3], bool known) {
    uint32_t numbers[3];
    if (!ptx_header_numbers(module, entry, directive, numbers)) {
        add_sizes(json, key, source, known);
        return;
    }
    int64_t sizes[3] = {numbers[0], numbers[1], numbers[2]};
    json_integers(json, key, sizes, 3);
}

static bool is_pointer(const PtxParameter *parameter) {
    return parameter->pointer ||
           (parameter->scalar && parameter->bits == 64 && parameter->letter != 'f' && parameter->letter != 's');
}

/* What the source says: the type that it points to, NULL if not; its number, -1 if not. */
static void add_value(Json *json, const PtxParameter *parameter, const char *pointee, int64_t source) {
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
        if (pointee)
            json_text(json, "dtype", pointee);
        else
            json_nothing(json, "dtype");
        json_end(json);
        json_end(json);
    } else {
        add_number(json, NULL, parameter->letter == 'f' ? -1 : source);
    }
}

static void say_value(const PtxParameter *parameter, const char *pointee, uint32_t index, Text *to) {
    text_addf(to, "parameter %u, ", index);
    if (ptx_parameter_is_map(parameter))
        text_addf(to, "128 bytes: a tensor map, outermost dimension first, or {\"bytes\": ...}");
    else if (!parameter->scalar)
        text_addf(to, "%" PRIu64 " bytes by value, in hexadecimal; pointers in them as \"pointers\": {OFFSET: ...}",
                  parameter->bytes);
    else if (is_pointer(parameter) && pointee)
        text_addf(to, "a pointer to %s", pointee);
    else if (is_pointer(parameter))
        text_addf(to, ".%c%u: a pointer%s", parameter->letter, parameter->bits,
                  parameter->pointer ? "" : ", or else a number");
    else
        text_addf(to, ".%c%u", parameter->letter, parameter->bits);
}

static void add_sentences(Json *json, const PtxModule *module, uint32_t entry, const PtxSourceLaunch *known,
                          const char *const *pointees) {
    const PtxFunction *function = &module->functions[entry];
    json_line(json, 2);
    json_begin(json, "x-parameters");
    if (known->count) {
        json_line(json, 4);
        json_text(json, "<<<>>>", "numbers are those of the launch in the source, where it has constants");
    }
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        PtxParameter parameter = ptx_parameter(module, entry, i);
        Text text = {0};
        json_line(json, 4);
        say_value(&parameter, pointees[i], i, &text);
        json_key(json, parameter.name);
        json_take(json, NULL, &text);
    }
    json_end(json);
}

void ptx_launch_template(const PtxModule *module, uint32_t entry, const PtxSourceLaunch *known, Arena *arena,
                         Text *to) {
    const PtxFunction *function = &module->functions[entry];
    Json json = {.to = to};
    uint32_t numbers[3];
    const char **pointees = ARENA_ARRAY(arena, const char *, function->parameter_count + 1);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        pointees[i] = ptx_pointee(module, entry, i, arena);
    json_begin(&json, NULL);
    json_line(&json, 2);
    json_str(&json, "kernel", ptx_name(module, function->name));
    json_line(&json, 2);
    add_sizes(&json, "grid", known->grid, known->count > 0);
    json_line(&json, 2);
    add_shape(&json, module, entry, ".reqntid", "block", known->block, known->count > 0);
    if (ptx_header_numbers(module, entry, ".reqnctapercluster", numbers)) {
        json_line(&json, 2);
        add_shape(&json, module, entry, ".reqnctapercluster", "cluster", NULL, false);
    }
    if (ptx_has_dynamic(module)) {
        json_line(&json, 2);
        add_number(&json, "shared", known->count ? known->shared : -1);
    }
    json_line(&json, 2);
    json_begin(&json, "args");
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        PtxParameter parameter = ptx_parameter(module, entry, i);
        json_line(&json, 4);
        int64_t number = known->count && i < PTX_MOST_SOURCE_ARGUMENTS ? known->arguments[i] : -1;
        add_value(&json, &parameter, pointees[i], number);
    }
    json_end(&json);
    add_sentences(&json, module, entry, known, pointees);
    json_end(&json);
    text_char(to, '\n');
}
