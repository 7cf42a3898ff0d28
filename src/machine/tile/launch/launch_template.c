/* From a kernel's parameters to the JSON of a launch file with gaps. */
#include "machine/tile/launch/launch_template.h"

#include "base/json.h"
#include "machine/tile/compile/program.h"

#include <inttypes.h>

typedef struct Template {
    Module *module;
    Parameter *parameters;
    uint32_t count;
    unsigned axes;
    Json json;
} Template;

static const Type *element_of(const Template *template, const Type *type) {
    const Type *inner = type->element ? type_resolve(template->module, type->element) : NULL;
    return inner && inner->element ? type_resolve(template->module, inner->element) : inner;
}

static bool is_number(const Type *type) {
    return type && (type->kind == TYPE_INTEGER || type->kind == TYPE_FLOAT);
}

/* A part of a descriptor is given with it, and what has no name cannot be given. */
static bool is_given(const Parameter *parameter) {
    return parameter->type && parameter->descriptor < 0 && *parameter->name;
}

/* ---- Values ------------------------------------------------------------------------------------- */

static void add_unknowns(Json *json, const char *key, uint32_t count) {
    json_begin_list(json, key);
    for (uint32_t i = 0; i < count; i++)
        json_nothing(json, NULL);
    json_end_list(json);
}

static void add_element(Json *json, const Type *element) {
    if (is_number(element))
        json_str(json, "dtype", element->text);
}

static void add_value(Template *template, const Parameter *parameter) {
    Json *json = &template->json;
    bool descriptor = type_is_descriptor(parameter->type);
    json_line(json, 4);
    json_key(json, str_of(parameter->name));
    if (!descriptor && !type_is(parameter->type, STR("tt.ptr"))) {
        json_nothing(json, NULL);
        return;
    }
    const Type *block = descriptor ? parameter_block(template->module, parameter) : NULL;
    json_begin(json, NULL);
    json_begin(json, descriptor ? "descriptor" : "tensor");
    add_unknowns(json, "shape", block ? block->dim_count : 1);
    if (block)
        json_integers(json, "block", block->dims, block->dim_count);
    add_element(json, element_of(template, parameter->type));
    json_end(json);
    json_end(json);
}

/* ---- What there is to know of them --------------------------------------------------------------- */

static void say_memory(const Template *template, const Parameter *parameter, Text *to) {
    const Type *element = element_of(template, parameter->type);
    bool descriptor = type_is_descriptor(parameter->type);
    text_addf(to, "a %s", descriptor ? "tensor descriptor" : "pointer");
    if (is_number(element))
        text_addf(to, "%s%.*s", descriptor ? " of " : " to ", STR_ARG(element->text));
    if (!descriptor && parameter->divisibility > 1)
        text_addf(to, ", aligned to %" PRId64 " bytes", parameter->divisibility);
    text_addf(to, "; shape in elements, and strides if it is not dense");
    if (!descriptor && element && element->kind == TYPE_INTEGER)
        text_addf(to, "; data, if loops or branches depend on it");
}

static void say_parameter(const Template *template, const Parameter *parameter, Text *to) {
    const Type *type = parameter->type;
    if (type_is_descriptor(type) || type_is(type, STR("tt.ptr"))) {
        say_memory(template, parameter, to);
        return;
    }
    text_str(to, type->text);
    if (type->kind == TYPE_FLOAT)
        text_addf(to, ", with a point or an exponent");
    else if (type->kind == TYPE_INTEGER && type->width == 1)
        text_addf(to, ", true or false");
    if (parameter->divisibility > 1)
        text_addf(to, ", a multiple of %" PRId64, parameter->divisibility);
}

static void say_grid(unsigned axes, Text *to) {
    static const char names[] = "xyz";
    const char *between = "; the kernel uses its program id along ";
    text_addf(to, "programs in x, y and z");
    for (unsigned i = 0; i < 3; i++)
        if (axes >> i & 1) {
            text_addf(to, "%s%c", between, names[i]);
            between = " and ";
        }
    if (!axes)
        text_addf(to, "; the kernel does not use its program id");
}

/* ---- The file ------------------------------------------------------------------------------------ */

/* Along an axis that the kernel does not look at, one program does what all do. */
static void add_grid(Template *template) {
    Json *json = &template->json;
    json_line(json, 2);
    json_begin_list(json, "grid");
    for (unsigned i = 0; i < 3; i++) {
        if (template->axes >> i & 1)
            json_nothing(json, NULL);
        else
            json_number(json, NULL, 1);
    }
    json_end_list(json);
}

static void add_arguments(Template *template) {
    json_line(&template->json, 2);
    json_begin(&template->json, "args");
    for (uint32_t i = 0; i < template->count; i++)
        if (is_given(&template->parameters[i]))
            add_value(template, &template->parameters[i]);
    json_end(&template->json);
}

static void add_sentences(Template *template) {
    Json *json = &template->json;
    Text text = {0};
    json_line(json, 2);
    json_begin(json, "x-parameters");
    json_line(json, 4);
    say_grid(template->axes, &text);
    json_take(json, "grid", &text);
    for (uint32_t i = 0; i < template->count; i++) {
        const Parameter *parameter = &template->parameters[i];
        if (!is_given(parameter))
            continue;
        json_line(json, 4);
        say_parameter(template, parameter, &text);
        json_key(json, str_of(parameter->name));
        json_take(json, NULL, &text);
    }
    json_end(json);
}

void launch_template(Module *module, const Op *kernel, Text *to) {
    Template template = {.module = module, .axes = program_axes(module, true), .json.to = to};
    Json *json = &template.json;
    template.parameters = program_parameters(module, kernel, &template.count);
    json_begin(json, NULL);
    json_line(json, 2);
    json_text(json, "kernel", program_name(module, kernel));
    add_grid(&template);
    add_arguments(&template);
    add_sentences(&template);
    json_end(json);
    text_char(to, '\n');
}
