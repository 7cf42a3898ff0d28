/* What an instruction's form says beside its operation: the state space that it names, and what a load loads. */
#include "ptx/value/internal.h"

PtxSpace space_named(Str name) {
    static const struct {
        const char *name;
        PtxSpace space;
    } spaces[] = {{"global", SPACE_GLOBAL},      {"shared", SPACE_SHARED},
                  {"shared::cta", SPACE_SHARED}, {"shared::cluster", SPACE_CLUSTER},
                  {"local", SPACE_LOCAL},        {"const", SPACE_CONST},
                  {"param", SPACE_PARAM},        {"param::entry", SPACE_PARAM},
                  {"param::func", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (str_is(name, spaces[i].name))
            return spaces[i].space;
    return SPACE_UNKNOWN;
}

/* The first that the form names. */
static PtxSpace space_of_form(Str form) {
    PtxSpace space = SPACE_UNKNOWN;
    next_part(&form);
    while (form.size && space == SPACE_UNKNOWN)
        space = space_named(next_part(&form));
    return space;
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
    meaning.space = space_of_form(form->text);
    meaning.uniform = ptx_form_has(form->text, STR("uni"));
    meaning.all = ptx_form_has(form->text, STR("all"));
    if (meaning.operation.evaluator == PTX_EVALUATE_LOAD) {
        Str type = ptx_form_modifier(form->row, form->text, STR("t"));
        meaning.load_width = (uint8_t)number_at_end(type);
        meaning.load_signed = type.size && type.data[0] == 's';
        meaning.load.space = meaning.space;
        meaning.load.weak = !is_strong(form->text);
        meaning.load.fixed = meaning.space == SPACE_CONST || ptx_form_has(form->text, STR("nc"));
    }
    return meaning;
}
