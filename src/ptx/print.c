/* Prints a PTX module from what was understood of it. */
#include "ptx/print.h"

#include "ptx/internal.h"
#include "ptx/pick.h"

#include <inttypes.h>

static void print_name(const PtxModule *module, uint32_t name, Text *to) {
    text_str(to, ptx_name(module, name));
}

/* ---- Operands ------------------------------------------------------------------------------------------- */

static void print_register(const PtxModule *module, const PtxOperand *operand, Text *to) {
    const PtxVariable *variable = &module->variables[operand->a];
    print_name(module, variable->name, to);
    if (variable->ranged)
        text_addf(to, "%" PRId64, operand->value);
}

static void print_special(const PtxOperand *operand, Text *to) {
    const PtxSpecial *special = ptx_special_at(operand->a);
    text_str(to, str_of(special->name));
    if (special->numbers)
        text_addf(to, "%" PRId64, operand->value);
}

static void print_integer(const PtxOperand *operand, Text *to) {
    if (operand->not_signed)
        text_addf(to, "%" PRIu64 "U", operand->bits);
    else if (operand->value == INT64_MIN) /* its digits alone are no signed number */
        text_addf(to, "-0x8000000000000000");
    else
        text_addf(to, "%" PRId64, operand->value);
}

static void print_offset(int64_t offset, Text *to) {
    if (offset)
        text_addf(to, "+%" PRId64, offset);
}

static void print_members(const PtxModule *module, const PtxOperand *head, const char *between, Text *to) {
    for (const PtxOperand *at = head + 1, *end = at + head->a; at < end; at += ptx_extent(at)) {
        if (at > head + 1)
            text_str(to, str_of(between));
        ptx_print_operand(module, at, to);
        if (head->kind == PTX_ADDRESS && at == head + 1 && head->written)
            text_addf(to, "+%" PRId64, head->value);
    }
}

static void print_bracketed(const PtxModule *module, const PtxOperand *operand, const char *brackets, Text *to) {
    text_char(to, brackets[0]);
    print_members(module, operand, ", ", to);
    text_char(to, brackets[1]);
}

static void print_variable(const PtxModule *module, const PtxOperand *operand, Text *to) {
    print_name(module, module->variables[operand->a].name, to);
    if (operand->written)
        text_addf(to, "[%" PRId64 "]", operand->value);
    else
        print_offset(operand->value, to);
}

static void print_tree(const PtxModule *module, const PtxOperand *operand, Text *to) {
    switch ((PtxOperandKind)operand->kind) {
    case PTX_ADDRESS:
        print_bracketed(module, operand, "[]", to);
        text_str(to, operand->unified ? STR(".unified") : STR(""));
        break;
    case PTX_VECTOR:
        print_bracketed(module, operand, "{}", to);
        break;
    case PTX_LIST:
        print_bracketed(module, operand, "()", to);
        break;
    case PTX_PAIR:
        print_members(module, operand, "|", to);
        break;
    case PTX_DIFFERENCE:
        print_members(module, operand, "-", to);
        break;
    case PTX_GENERIC:
        text_str(to, STR("generic"));
        print_bracketed(module, operand, "()", to);
        print_offset(operand->value, to);
        break;
    default:
        text_addf(to, "0x%" PRIx64, operand->bits);
        print_bracketed(module, operand, "()", to);
    }
}

void ptx_print_operand(const PtxModule *module, const PtxOperand *operand, Text *to) {
    if (operand->negated)
        text_char(to, '!');
    switch ((PtxOperandKind)operand->kind) {
    case PTX_REGISTER:
        print_register(module, operand, to);
        break;
    case PTX_SPECIAL:
        print_special(operand, to);
        break;
    case PTX_INTEGER:
        print_integer(operand, to);
        break;
    case PTX_SINGLE:
        text_addf(to, "0f%08" PRIX64, operand->bits);
        break;
    case PTX_DOUBLE:
        text_addf(to, "0d%016" PRIX64, operand->bits);
        break;
    case PTX_VARIABLE:
        print_variable(module, operand, to);
        break;
    case PTX_CALLEE:
        print_name(module, module->functions[operand->a].name, to);
        print_offset(operand->value, to);
        break;
    case PTX_TARGET:
        print_name(module, module->statements[operand->a].what, to);
        break;
    case PTX_NAME:
        print_name(module, operand->a, to);
        print_offset(operand->value, to);
        break;
    case PTX_WORD:
    case PTX_STRING:
        print_name(module, operand->a, to);
        break;
    case PTX_SINK:
        text_char(to, '_');
        break;
    case PTX_EMPTY:
        break;
    default:
        print_tree(module, operand, to);
    }
    if (operand->part)
        text_addf(to, ".%s", ptx_part_names[operand->part]);
}

static void print_list(const PtxModule *module, const PtxOperand *operands, uint32_t count, Text *to) {
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i])) {
        if (i)
            text_str(to, STR(", "));
        ptx_print_operand(module, &operands[i], to);
    }
}

/* ---- Declarations ------------------------------------------------------------------------------------------ */

static void print_word(const PtxModule *module, uint32_t name, Text *to) {
    if (name == PTX_NONE)
        return;
    print_name(module, name, to);
    text_char(to, ' ');
}

static void print_attributes(const PtxModule *module, const PtxVariable *variable, Text *to) {
    if (!variable->attribute_count)
        return;
    text_str(to, STR(".attribute("));
    const PtxOperand *operands = module->operands + variable->attributes;
    for (uint32_t i = 0; i < variable->attribute_count; i += ptx_extent(&operands[i])) {
        if (i && operands[i].kind == PTX_WORD)
            text_str(to, STR(", "));
        ptx_print_operand(module, &operands[i], to);
    }
    text_str(to, STR(") "));
}

static void print_pointer(const PtxModule *module, const PtxVariable *variable, Text *to) {
    if (!variable->pointer)
        return;
    text_str(to, STR(".ptr "));
    print_word(module, variable->pointer_space, to);
    if (variable->pointer_align)
        text_addf(to, ".align %u ", variable->pointer_align);
}

static void print_words(const PtxModule *module, const PtxVariable *variable, Text *to) {
    print_word(module, variable->linkage, to);
    print_word(module, variable->space, to);
    print_attributes(module, variable, to);
    if (variable->align)
        text_addf(to, ".align %u ", variable->align);
    print_word(module, variable->vector, to);
    print_word(module, variable->type, to);
    print_pointer(module, variable, to);
}

static void print_declarator(const PtxModule *module, const PtxVariable *variable, Text *to) {
    if (variable->name == PTX_NONE)
        text_char(to, '_');
    print_name(module, variable->name, to);
    if (variable->ranged)
        text_addf(to, "<%u>", variable->range);
    for (uint32_t i = 0; i < variable->dimension_count; i++) {
        text_char(to, '[');
        ptx_print_operand(module, &module->operands[variable->dimensions + i], to);
        text_char(to, ']');
    }
    if (variable->initial_count) {
        text_str(to, STR(" = "));
        ptx_print_operand(module, &module->operands[variable->initial], to);
    }
}

static void print_variables(const PtxModule *module, const PtxStatement *statement, Text *to) {
    const PtxVariable *variables = module->variables + statement->what;
    print_words(module, &variables[0], to);
    for (uint32_t i = 0; i < statement->count; i++) {
        if (i)
            text_str(to, STR(", "));
        print_declarator(module, &variables[i], to);
    }
    text_char(to, ';');
}

static void print_parameters(const PtxModule *module, uint32_t first, uint32_t count, Text *to) {
    text_char(to, '(');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            text_str(to, STR(", "));
        print_words(module, &module->variables[first + i], to);
        print_declarator(module, &module->variables[first + i], to);
    }
    text_char(to, ')');
}

static void print_function(const PtxModule *module, const PtxFunction *function, const char *word, Text *to) {
    print_word(module, function->linkage, to);
    text_str(to, str_of(word));
    text_char(to, ' ');
    if (function->return_count) {
        print_parameters(module, function->returns, function->return_count, to);
        text_char(to, ' ');
    }
    if (function->name == PTX_NONE)
        text_char(to, '_');
    print_name(module, function->name, to);
    if (function->listed)
        print_parameters(module, function->parameters, function->parameter_count, to);
}

static void print_prototype(const PtxModule *module, const PtxStatement *statement, Text *to) {
    print_function(module, &module->functions[statement->what], ".callprototype", to);
    for (uint32_t i = 0; i < statement->count; i++) {
        text_char(to, ' ');
        ptx_print_operand(module, &module->operands[statement->first + i], to);
    }
    text_char(to, ';');
}

/* ---- Statements --------------------------------------------------------------------------------------------- */

static void print_instruction(const PtxModule *module, const PtxStatement *statement, Text *to) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    if (statement->flags & PTX_GUARDED) {
        text_str(to, statement->flags & PTX_NEGATED ? STR("@!") : STR("@"));
        ptx_print_operand(module, operands - 1, to);
        text_char(to, ' ');
    }
    text_str(to, module->forms[statement->what].text);
    if (count)
        text_char(to, ' ');
    print_list(module, operands, count, to);
    text_char(to, ';');
}

static void print_loc(const PtxModule *module, const PtxStatement *statement, Text *to) {
    text_str(to, STR(".loc"));
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        text_str(to, operand->kind == PTX_WORD ? STR(", ") : STR(" "));
        ptx_print_operand(module, operand, to);
    }
}

/* Which directives end in a semicolon; and .file, whose first two words have no comma between them. */
static void print_directive(const PtxModule *module, const PtxStatement *statement, Text *to) {
    static const uint32_t ended[] = {WORD_pragma, WORD_alias, WORD_branchtargets, WORD_calltargets};
    const PtxOperand *operands = module->operands + statement->first;
    uint32_t count = statement->count, first = 0;
    print_name(module, statement->what, to);
    if (count)
        text_char(to, ' ');
    if (statement->what == WORD_file) {
        ptx_print_operand(module, operands, to);
        text_char(to, ' ');
        first = 1;
    }
    print_list(module, operands + first, count - first, to);
    for (size_t i = 0; i < sizeof ended / sizeof *ended; i++)
        if (statement->what == ended[i])
            text_char(to, ';');
}

void ptx_print_statement(const PtxModule *module, const PtxStatement *statement, Text *to) {
    switch ((PtxKind)statement->kind) {
    case PTX_INSTRUCTION:
        print_instruction(module, statement, to);
        break;
    case PTX_LABEL:
        print_name(module, statement->what, to);
        text_char(to, ':');
        break;
    case PTX_OPEN:
        text_char(to, '{');
        break;
    case PTX_CLOSE:
        text_char(to, '}');
        break;
    case PTX_END:
        text_char(to, ';');
        break;
    case PTX_FUNCTION: {
        const PtxFunction *function = &module->functions[statement->what];
        print_function(module, function, function->entry ? ".entry" : ".func", to);
        break;
    }
    case PTX_PROTOTYPE:
        print_prototype(module, statement, to);
        break;
    case PTX_VARIABLES:
        print_variables(module, statement, to);
        break;
    case PTX_LOC:
        print_loc(module, statement, to);
        break;
    default:
        print_directive(module, statement, to);
    }
}

void ptx_print_kept(const PtxModule *module, const bool *kept, Text *to) {
    unsigned depth = 0;
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (kept && !kept[i])
            continue;
        depth -= statement->kind == PTX_CLOSE && depth;
        for (unsigned k = 0; k < depth; k++)
            text_char(to, '\t');
        PtxStatement shorter = *statement;
        shorter.count -= kept && ptx_targets_debug(module, statement);
        ptx_print_statement(module, &shorter, to);
        text_char(to, '\n');
        depth += statement->kind == PTX_OPEN;
    }
}

void ptx_print(const PtxModule *module, Text *to) {
    ptx_print_kept(module, NULL, to);
}
