/* What an instruction's form says beside its operation: the state space that it names, and what a load loads. */
#include "ptx/value/internal.h"

PtxSpace ptx_space_named(Str name) {
    static const struct {
        const char *name;
        PtxSpace space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL},      {"shared", PTX_SPACE_SHARED},
                  {"shared::cta", PTX_SPACE_SHARED}, {"shared::cluster", PTX_SPACE_CLUSTER},
                  {"local", PTX_SPACE_LOCAL},        {"const", PTX_SPACE_CONST},
                  {"param", PTX_SPACE_PARAM},        {"param::entry", PTX_SPACE_PARAM},
                  {"param::func", PTX_SPACE_PARAM}};
    if (name.size && name.data[0] == '.')
        name = (Str){name.data + 1, name.size - 1};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is(name, spaces[i].name))
            return spaces[i].space;
    return PTX_SPACE_UNKNOWN;
}

PtxSpace ptx_space_of_form(Str form, unsigned index) {
    PtxSpace first = PTX_SPACE_UNKNOWN;
    unsigned count = 0;
    next_part(&form);
    while (form.size) {
        PtxSpace space = ptx_space_named(next_part(&form));
        if (space == PTX_SPACE_UNKNOWN)
            continue;
        if (count++ == index)
            return space;
        first = space;
    }
    return count == 1 ? first : PTX_SPACE_UNKNOWN;
}

static bool is_strong(Str form) {
    static const char *const words[] = {"volatile", "relaxed", "acquire", "mmio", "cv"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_form_has(form, str_of(words[i])))
            return true;
    return false;
}

static unsigned number_at_end(Str type) {
    unsigned number = 0;
    for (size_t i = 0; i < type.size; i++)
        if (type.data[i] >= '0' && type.data[i] <= '9')
            number = number * 10 + (unsigned)(type.data[i] - '0');
    return number;
}

Meaning meaning_of(const PtxForm *form) {
    Meaning meaning = {.known = true, .operation = operation_of(form->row, form->text)};
    meaning.space = ptx_space_of_form(form->text, 0);
    meaning.uniform = ptx_form_has(form->text, STR("uni"));
    meaning.all = ptx_form_has(form->text, STR("all"));
    if (meaning.operation.evaluator == PTX_EVALUATE_LOAD) {
        Str type = ptx_form_modifier(form->row, form->text, STR("t"));
        meaning.load_width = (uint8_t)number_at_end(type);
        meaning.load_signed = type.size && type.data[0] == 's';
        meaning.load.space = meaning.space;
        meaning.load.weak = !is_strong(form->text);
        meaning.load.fixed = meaning.space == PTX_SPACE_CONST || ptx_form_has(form->text, STR("nc"));
    }
    return meaning;
}
