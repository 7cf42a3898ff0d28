/* Declarations of PTX: registers, variables with their initial values, parameters. */
#include "ptx/internal.h"

/* What stands before the name, the same for all names of a statement. */
static PtxVariable fresh(const Reader *r, uint32_t space, uint32_t linkage) {
    return (PtxVariable){.name = PTX_NONE,
                         .linkage = linkage,
                         .space = space,
                         .type = PTX_NONE,
                         .vector = PTX_NONE,
                         .pointer_space = PTX_NONE,
                         .scope = r->scope};
}

static bool is_type(const Reader *r, uint32_t name) {
    return (name >= WORD_b8 && name <= WORD_b64) || (name >= WORD_COUNT && name < r->names_of_types);
}

/* .attribute(.managed, .unified(1, 2)) */
static bool read_attributes(Reader *r, PtxVariable *variable) {
    variable->attributes = r->module->operands_count;
    if (!want(r, '('))
        return false;
    do {
        Str word = take_dotted(r);
        if (!word.size)
            return fail_expected(r, "an attribute");
        add_operand(r, PTX_WORD, intern(r, word), 0);
        if (take(r, '(')) {
            uint32_t head = r->module->operands_count;
            add_operand(r, PTX_LIST, 0, 0);
            do {
                int64_t number;
                if (!read_integer(r, &number))
                    return false;
                add_operand(r, PTX_INTEGER, 0, number);
            } while (take(r, ','));
            if (!want(r, ')'))
                return false;
            r->module->operands[head].a = r->module->operands_count - head - 1;
        }
    } while (take(r, ','));
    variable->attribute_count = r->module->operands_count - variable->attributes;
    return want(r, ')');
}

static bool read_align(Reader *r, uint32_t *align) {
    next_char(r);
    const char *at = r->p;
    if (!read_count(r, align))
        return false;
    return (*align && !(*align & (*align - 1))) || ptx_fail(r, at, "an alignment is a power of two");
}

/* .ptr .global .align 16 */
static bool read_pointer(Reader *r, PtxVariable *variable) {
    variable->pointer = true;
    const char *before = r->p;
    Str word = take_dotted(r);
    if (word_place(word, ".const .global .local .shared") >= 0) {
        variable->pointer_space = intern(r, word);
        before = r->p;
        word = take_dotted(r);
    }
    if (str_is(word, ".align"))
        return read_align(r, &variable->pointer_align);
    r->p = before;
    return true;
}

static bool read_words(Reader *r, PtxVariable *variable) {
    while (next_char(r) == '.') {
        const char *at = r->p;
        Str text = take_dotted(r);
        uint32_t word = text.size ? intern(r, text) : PTX_NONE;
        bool good = true;
        if (is_type(r, word) && (variable->space == WORD_reg || !str_is(text, ".pred")))
            variable->type = word;
        else if (word == WORD_align)
            good = read_align(r, &variable->align);
        else if (word == WORD_attribute)
            good = read_attributes(r, variable);
        else if (word == WORD_ptr && variable->space == WORD_param)
            good = read_pointer(r, variable);
        else if (word_place(text, ".v2 .v4 .v8") >= 0)
            variable->vector = word;
        else
            good = ptx_fail(r, at, "'%.*s' is no type", STR_ARG(text));
        if (!good)
            return false;
    }
    return variable->type != PTX_NONE || fail_expected(r, "a type");
}

static bool read_dimensions(Reader *r, PtxVariable *variable) {
    variable->dimensions = r->module->operands_count;
    while (take(r, '[')) {
        uint32_t size;
        if (take(r, ']')) {
            add_operand(r, PTX_EMPTY, 0, 0);
            continue;
        }
        if (!read_count(r, &size) || !want(r, ']'))
            return false;
        add_operand(r, PTX_INTEGER, 0, size);
    }
    variable->dimension_count = r->module->operands_count - variable->dimensions;
    return true;
}

/* %r<8> */
static bool read_range(Reader *r, PtxVariable *variable) {
    const char *at = r->p;
    if (variable->space != WORD_reg && variable->space != WORD_param)
        return ptx_fail(r, at, "only registers and parameters are declared as a range");
    r->p++;
    variable->ranged = true;
    return read_count(r, &variable->range) && want(r, '>');
}

static bool read_declarator(Reader *r, PtxVariable variable) {
    next_char(r);
    const char *at = r->p;
    Str name = take_identifier(r);
    if (!name.size)
        return fail_expected(r, "a name");
    variable.name = intern(r, name);
    if (next_char(r) == '<' && !read_range(r, &variable))
        return false;
    if (!read_dimensions(r, &variable))
        return false;
    uint32_t index = r->module->variables_count;
    *PUSH(r, variables) = variable;
    if (!declare_variable(r, index, at))
        return false;
    if (next_char(r) != '=')
        return true;
    if (variable.space != WORD_global && variable.space != WORD_const)
        return ptx_fail(r, r->p, "only .global and .const variables have initial values");
    r->p++;
    uint32_t initial = r->module->operands_count;
    if (!read_initial(r))
        return false;
    r->module->variables[index].initial = initial;
    r->module->variables[index].initial_count = r->module->operands_count - initial;
    return true;
}

bool read_linked_variables(Reader *r, uint32_t space, uint32_t linkage) {
    uint32_t first = r->module->variables_count, operands = r->module->operands_count;
    if (r->function == PTX_NONE && space == WORD_local)
        return ptx_fail(r, r->p, "a .local variable stands in a function");
    PtxVariable variable = fresh(r, space, linkage);
    if (!read_words(r, &variable))
        return false;
    do {
        if (!read_declarator(r, variable))
            return false;
    } while (take(r, ','));
    if (!want(r, ';'))
        return false;
    PtxStatement *statement = add_statement(r, PTX_VARIABLES, first, operands);
    statement->count = r->module->variables_count - first;
    return true;
}

bool read_variables(Reader *r, uint32_t word) {
    return read_linked_variables(r, word, PTX_NONE);
}

bool read_parameter(Reader *r, bool named) {
    next_char(r);
    const char *at = r->p;
    Str space = take_dotted(r);
    if (!str_is(space, ".param") && !str_is(space, ".reg"))
        return fail_expected(r, ".param or .reg");
    PtxVariable variable = fresh(r, str_is(space, ".reg") ? WORD_reg : WORD_param, PTX_NONE);
    if (!read_words(r, &variable))
        return false;
    next_char(r);
    at = r->p;
    Str name = take_identifier(r);
    bool sink = str_is(name, "_");
    if (named && (!name.size || sink))
        return fail_expected(r, "a name");
    if (name.size && !sink)
        variable.name = intern(r, name);
    if (!read_dimensions(r, &variable))
        return false;
    uint32_t index = r->module->variables_count;
    *PUSH(r, variables) = variable;
    return !named || declare_variable(r, index, at);
}
