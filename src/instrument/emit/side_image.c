/* A kernel in an image of its own beside that of the program: variables of the module are those of the program's image.
 * For each of them the image has a pointer in constant memory, which is set when it is loaded; what names a variable
 * reads its pointer. Constant memory is accessed by its global address, which is that of the program's image, too. */
#include "instrument/instrument.h"

#include "instrument/emit/shadow.h"
#include "instrument/internal.h"
#include "ptx/pick.h"
#include "ptx/print.h"
#include "ptx/reader.h"

#include <stdlib.h>

enum { AT_ONCE = 4 }; /* variables that an instruction names */

/* ---- Variables --------------------------------------------------------------------------------------------- */

bool instrument_in_common(const PtxModule *module, uint32_t number) {
    const PtxVariable *variable = &module->variables[number];
    Str space = ptx_name(module, variable->space);
    return variable->scope == PTX_NONE && !variable->formal && (str_is(space, ".global") || str_is(space, ".const"));
}

bool instrument_literal(const PtxModule *module, uint32_t number) {
    const PtxVariable *variable = &module->variables[number];
    if (variable->linkage != PTX_NONE || !variable->initial_count || variable->align > 1 ||
        !str_is(ptx_name(module, variable->type), ".b8") || !str_is(ptx_name(module, variable->space), ".global"))
        return false;
    for (uint32_t i = 0; i < variable->initial_count; i++) {
        uint8_t kind = module->operands[variable->initial + i].kind;
        if (kind != PTX_INTEGER && kind != PTX_VECTOR)
            return false;
    }
    return true;
}

/* ---- The text ---------------------------------------------------------------------------------------------- */

typedef struct SideImageBeside {
    PtxModule *module; /* what is changed */
    PtxEdits edits;
    bool *common;           /* of each variable: the program's image has it */
    Str registers[AT_ONCE]; /* of the function */
    const char *problem;
} SideImageBeside;

static void find_common(SideImageBeside *beside, const PtxModule *plain) {
    PtxModule *module = beside->module;
    beside->common = ARENA_ARRAY(&beside->edits.arena, bool, module->variables_count + 1);
    for (uint32_t i = 0; i < module->variables_count; i++)
        for (uint32_t k = 0; instrument_in_common(module, i) && k < plain->variables_count && !beside->common[i]; k++)
            beside->common[i] =
                instrument_in_common(plain, k) &&
                str_equal(ptx_name(plain, plain->variables[k].name), ptx_name(module, module->variables[i].name));
}

/* A pointer in place of each variable that a statement declares. What is a literal stays, and is what it points to at
 * first. */
static void edit_declaration(SideImageBeside *beside, uint32_t number) {
    const PtxModule *module = beside->module;
    const PtxStatement *statement = &module->statements[number];
    Text text = {0};
    bool stays = false;
    for (uint32_t i = 0; i < statement->count; i++) {
        uint32_t variable = statement->what + i;
        Str name = ptx_name(module, module->variables[variable].name);
        bool literal = instrument_literal(module, variable);
        if (!beside->common[variable]) {
            stays = true;
            continue;
        }
        stays |= literal;
        text_str(&text, STR(".visible .const .align 8 .u64 " INSTRUMENT_AT));
        text_str(&text, name);
        if (literal) {
            text_str(&text, STR(" = generic("));
            text_str(&text, name);
            text_char(&text, ')');
        }
        text_str(&text, STR(";\n"));
    }
    if (text.size && stays)
        ptx_edit_after(&beside->edits, number, (Str){text.data, text.size});
    else if (text.size)
        ptx_edit_replace(&beside->edits, number, (Str){text.data, text.size});
    text_free(&text);
}

static Str register_at(SideImageBeside *beside, uint32_t function, uint32_t index) {
    if (!beside->registers[index].size)
        beside->registers[index] = ptx_edit_register(&beside->edits, function, ".b64");
    return beside->registers[index];
}

/* Reads the pointer of a variable, before the statement, to a register; and where that stands in the statement's place
 * for the variable, it stands for its bytes from the operand's offset on. */
static void point(SideImageBeside *beside, uint32_t number, PtxOperand *operand, Str to) {
    Text text = {0};
    text_addf(&text, "ld.const.b64 %.*s, [" INSTRUMENT_AT, (int)to.size, to.data);
    text_str(&text, ptx_name(beside->module, beside->module->variables[operand->a].name));
    text_str(&text, STR("];"));
    if (operand->value)
        text_addf(&text, " add.s64 %.*s, %.*s, %lld;", (int)to.size, to.data, (int)to.size, to.data,
                  (long long)operand->value);
    ptx_edit_before(&beside->edits, number, (Str){text.data, text.size});
    text_free(&text);
}

/* "ld.const.f32" with .global. */
static Str without_const(SideImageBeside *beside, Str form) {
    static const char word[] = ".const";
    Text text = {0};
    size_t length = strlen(word);
    for (size_t i = 0; i < form.size;) {
        bool found = form.size - i >= length && memcmp(form.data + i, word, length) == 0 &&
                     (i + length == form.size || form.data[i + length] == '.');
        if (found)
            text_str(&text, STR(".global"));
        else
            text_char(&text, form.data[i]);
        i += found ? length : 1;
    }
    Str changed = {arena_copy(&beside->edits.arena, text.data, text.size), text.size};
    text_free(&text);
    return changed;
}

static bool is_among(PtxOperand *const *operands, unsigned count, uint32_t variable) {
    for (unsigned i = 0; i < count; i++)
        if (operands[i]->a == variable)
            return true;
    return false;
}

static void edit_instruction(SideImageBeside *beside, uint32_t function, uint32_t number) {
    PtxModule *module = beside->module;
    PtxStatement *statement = &module->statements[number];
    PtxForm *form = &module->forms[statement->what];
    Str before = form->text, changed = without_const(beside, form->text), names[AT_ONCE];
    PtxOperand *named[AT_ONCE], was[AT_ONCE];
    unsigned count = 0;
    for (uint32_t i = 0; i < statement->count && !beside->problem; i++) {
        PtxOperand *operand = &module->operands[statement->first + i];
        if (operand->kind != PTX_VARIABLE || !beside->common[operand->a])
            continue;
        if (variable_opaque(module, &module->variables[operand->a]))
            beside->problem = "it uses references to textures or surfaces, which are those of the program's own image";
        else if (count == AT_ONCE || is_among(named, count, operand->a))
            beside->problem = "an instruction of it names too many variables";
        else
            named[count++] = operand;
    }
    bool is_const = changed.size != before.size;
    if (is_const && form->evaluator == PTX_EVALUATE_ISSPACEP)
        beside->problem = "it asks whether an address is one of constant memory";
    if (beside->problem || (!count && !is_const))
        return;
    for (unsigned i = 0; i < count; i++) {
        was[i] = *named[i];
        names[i] = ptx_name(module, module->variables[named[i]->a].name);
        point(beside, number, named[i], register_at(beside, function, i));
    }
    for (unsigned i = 0; i < count; i++) {
        named[i]->value = 0;
        named[i]->written = 0;
        module->names[module->variables[named[i]->a].name].text = beside->registers[i];
    }
    form->text = changed;
    Text text = {0};
    ptx_print_statement(module, statement, &text);
    ptx_edit_replace(&beside->edits, number, (Str){text.data, text.size});
    text_free(&text);
    form->text = before;
    for (unsigned i = count; i-- > 0;) {
        *named[i] = was[i];
        module->names[module->variables[named[i]->a].name].text = names[i];
    }
}

static void edit_all(SideImageBeside *beside) {
    const PtxModule *module = beside->module;
    uint32_t next = 0;
    for (uint32_t f = 0; f < module->functions_count && !beside->problem; f++) {
        const PtxFunction *function = &module->functions[f];
        memset(beside->registers, 0, sizeof beside->registers);
        for (uint32_t i = function->begin; i < function->end && function->body && !beside->problem; i++)
            if (module->statements[i].kind == PTX_INSTRUCTION)
                edit_instruction(beside, f, i);
        for (; next < function->begin; next++)
            if (module->statements[next].kind == PTX_VARIABLES)
                edit_declaration(beside, next);
        next = function->end > next ? function->end : next;
    }
    for (; next < module->statements_count; next++)
        if (module->statements[next].kind == PTX_VARIABLES)
            edit_declaration(beside, next);
}

static bool change(const PtxModule *plain, PtxModule *module, Text *to, const char **problem) {
    SideImageBeside beside = {.module = module};
    if (calls_addresses(module))
        beside.problem = "it calls functions by their addresses, which are those of the program's own image";
    ptx_edits_init(&beside.edits, module);
    if (!beside.problem) {
        find_common(&beside, plain);
        edit_all(&beside);
    }
    if (!beside.problem)
        ptx_edit_print(&beside.edits, to);
    ptx_edits_free(&beside.edits);
    *problem = beside.problem;
    return !beside.problem;
}

/* What says how it was instrumented stays, though no kernel names it. */
static void keep_marks(const PtxModule *module, bool *kept) {
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        Str name =
            statement->kind == PTX_VARIABLES ? ptx_name(module, module->variables[statement->what].name) : (Str){"", 0};
        if (str_is(name, INSTRUMENT_MARK) || str_is(name, SHADOW_MARK))
            kept[i] = true;
    }
}

bool instrument_beside(const PtxModule *plain, const PtxModule *with, Str kernel, Text *to, const char **problem) {
    PtxModule module;
    Diagnostics diagnostics = {0};
    Text text = {0};
    bool missing = false, good = false, *kept = kernel.size ? ptx_pick(with, kernel, &missing) : NULL;
    *problem = missing ? "its text does not have it" : "there was no memory";
    if (kernel.size && !kept)
        return false;
    if (kept) {
        keep_marks(with, kept);
        ptx_print_text(with, kept, &text);
    } else {
        text_str(&text, (Str){with->source->data, with->source->size});
    }
    free(kept);
    Source *source = text.failed ? NULL : source_copy("module.ptx", text.data, text.size);
    text_free(&text);
    if (source && ptx_read(&module, source, false, &diagnostics))
        good = change(plain, &module, to, problem);
    if (source)
        ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
    return good && !to->failed;
}
