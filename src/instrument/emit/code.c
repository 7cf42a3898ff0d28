/* Writing PTX: registers and labels of our own, and where lines go. */
#include "instrument/internal.h"

#include "ptx/print.h"

static const Str names[] = {
#define REGISTER(name, type) {#name, sizeof #name - 1},
    CODE_REGISTERS(REGISTER)
#undef REGISTER
};
static const char *const types[] = {
#define REGISTER(name, type) "." #type,
    CODE_REGISTERS(REGISTER)
#undef REGISTER
};

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static Str body_register(InstrumentCode *code, Str name) {
    Text text = {0};
    text_addf(&text, "%%%.*s", (int)name.size, name.data);
    Str kept = {arena_copy(&code->edits->arena, text.data, text.size), text.size};
    text_free(&text);
    return kept;
}

/* The register of that name, which is declared when it is first used. */
static Str register_named(InstrumentCode *code, Str name) {
    for (unsigned i = 0; i < CODE_REGISTER_COUNT; i++) {
        if (!str_equal(name, names[i]))
            continue;
        if (!code->names[i].size)
            code->names[i] = code->body ? body_register(code, name)
                                        : ptx_edit_register(code->edits, code->analysis->function, types[i]);
        return code->names[i];
    }
    return name;
}

void code_declare(const InstrumentCode *code, Text *to) {
    for (unsigned i = 0; i < CODE_REGISTER_COUNT; i++)
        if (code->names[i].size)
            text_addf(to, "\t.reg %s %.*s;\n", types[i], (int)code->names[i].size, code->names[i].data);
}

/* Copies a line, with ~names replaced. */
static void expand(InstrumentCode *code, Str line) {
    for (size_t i = 0; i < line.size; i++) {
        if (line.data[i] != '~') {
            text_char(code->to, line.data[i]);
            continue;
        }
        if (i + 1 < line.size && line.data[i + 1] == 'L') {
            text_str(code->to, code->prefix);
            i++;
            continue;
        }
        size_t end = i + 1;
        while (end < line.size && is_name_char(line.data[end]))
            end++;
        text_str(code->to, register_named(code, (Str){line.data + i + 1, end - i - 1}));
        i = end - 1;
    }
}

static void begin_line(InstrumentCode *code) {
    if (code->to->size)
        text_str(code->to, STR("\n\t"));
}

void code_say(InstrumentCode *code, const char *format, ...) {
    Text line = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&line, format, arguments);
    va_end(arguments);
    begin_line(code);
    expand(code, (Str){line.data, line.size});
    text_char(code->to, ';');
    text_free(&line);
}

uint32_t new_label(InstrumentCode *code) {
    return (*code->labels)++;
}

void code_label(InstrumentCode *code, uint32_t label) {
    begin_line(code);
    text_str(code->to, code->prefix);
    text_addf(code->to, "%u:", label);
}

void code_close(InstrumentCode *code) {
    begin_line(code);
    text_char(code->to, '}');
}

void code_stand(InstrumentCode *code, uint32_t statement) {
    const PtxFunction *function = &code->analysis->module->functions[code->analysis->function];
    code->inner = code->depths[statement - function->begin] > 0;
}

void code_put(InstrumentCode *code, uint32_t statement, bool behind) {
    Str text = {code->text.data, code->text.size};
    if (text.size)
        (behind ? ptx_edit_after : ptx_edit_before)(code->edits, statement, text);
    code->text.size = 0;
}

/* ---- What seldom happens ----------------------------------------------------------------------------------- */

Cold cold_begin(InstrumentCode *code, const char *predicate, bool uni) {
    uint32_t there = new_label(code), back = new_label(code);
    const char *how = uni ? ".uni" : "";
    if (code->inner || code->to == &code->cold) { /* here, and jumped over */
        code_say(code, "@!%s bra%s ~L%u", predicate, how, back);
        return (Cold){back, true};
    }
    code_say(code, "@%s bra%s ~L%u", predicate, how, there);
    code_label(code, back);
    code->to = &code->cold;
    code_label(code, there);
    return (Cold){back, false};
}

void cold_end(InstrumentCode *code, Cold cold) {
    if (cold.here) {
        code_label(code, cold.label);
        return;
    }
    code_say(code, "bra.uni ~L%u", cold.label);
    code->to = &code->text;
}

/* ---- Operands ---------------------------------------------------------------------------------------------- */

const char *operand_text(InstrumentCode *code, uint32_t operand) {
    Text text = {0};
    ptx_print_operand(code->analysis->module, &code->analysis->module->operands[operand], &text);
    return text_keep(&text, &code->edits->arena);
}

/* The guard of a statement, or what it is not: "!%p1". */
static const char *guard_text(InstrumentCode *code, const PtxStatement *statement, bool inverted) {
    Text text = {0};
    bool negated = (statement->flags & PTX_NEGATED) != 0;
    text_str(&text, negated != inverted ? STR("!") : STR(""));
    text_str(&text, str_of(operand_text(code, statement->first)));
    return text_keep(&text, &code->edits->arena);
}

const char *step_predicate(InstrumentCode *code, const InstrumentStep *step) {
    const PtxStatement *statement = look_statement(code->analysis, step->instruction);
    if (step->branch)
        return guard_text(code, &code->analysis->module->statements[step->at], step->other_way);
    bool guarded = statement->flags & PTX_GUARDED && !step->settled;
    if (step->given == PTX_NONE || step->settled)
        return guarded ? guard_text(code, statement, false) : "";
    const char *given = operand_text(code, step->given);
    if (!guarded)
        return given;
    if (statement->flags & PTX_NEGATED)
        code_say(code, "not.pred ~p0, %s", operand_text(code, statement->first));
    code_say(code, "and.pred ~p0, %s, %s", given,
             statement->flags & PTX_NEGATED ? "~p0" : operand_text(code, statement->first));
    return "~p0";
}
