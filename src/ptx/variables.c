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

/* (1, 2) of .unified */
static bool read_unified(Reader *r) {
    uint32_t head = r->module->operands_count;
    int64_t number, other;
    add_operand(r, PTX_LIST, 2, 0);
    if (!want(r, '(') || !read_whole(r, &number) || !want(r, ',') || !read_whole(r, &other) || !want(r, ')'))
        return false;
    add_operand(r, PTX_INTEGER, 0, number);
    add_operand(r, PTX_INTEGER, 0, other);
    r->module->operands[head].a = 2;
    return true;
}

/* .attribute(.managed, .unified(1, 2)) */
static bool read_attributes(Reader *r, PtxVariable *variable) {
    variable->attributes = r->module->operands_count;
    if (!want(r, '('))
        return false;
    do {
        Str word = take_dotted(r);
        bool managed = str_is(word, ".managed");
        if (!managed && !str_is(word, ".unified"))
            return fail_expected(r, "an attribute");
        if (managed && variable->space != WORD_global)
            return ptx_fail(r, word.data, "only .global variables are managed");
        add_operand(r, PTX_WORD, intern(r, word), 0);
        if (!managed && !read_unified(r))
            return false;
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

static bool is_opaque(const Reader *r, const PtxVariable *variable) {
    return type_of(r, variable)->opaque;
}

/* What a variable's type allows, in its space. */
static bool check_type(Reader *r, const PtxVariable *variable, const char *at) {
    Str type = ptx_name(r->module, variable->type);
    bool vector = variable->vector != PTX_NONE, predicate = str_is(type, ".pred");
    if (predicate && (vector || variable->space != WORD_reg))
        return ptx_fail(r, at, "predicates are single registers");
    if (vector && (is_opaque(r, variable) || variable_bits(r, variable) > 128))
        return ptx_fail(r, at, "a vector has at most 128 bits");
    if (variable->space == WORD_param && (vector || str_is(type, ".f16x2")))
        return ptx_fail(r, at, "a variable of .param is no vector");
    if (is_opaque(r, variable) && variable->space != WORD_param && r->function != PTX_NONE)
        return ptx_fail(r, at, "'%.*s' stands outside of functions", STR_ARG(type));
    return !str_is(type, ".samplerref") || r->samplers ||
           ptx_fail(r, at, "there are samplers with '.target ..., texmode_independent'");
}

/* What stands before a type: .align and .attribute in any order, then .v2 or .v4. A parameter has .align and .ptr
 * behind its type, too. */
static bool read_words(Reader *r, PtxVariable *variable, bool parameter) {
    const char *start = r->p;
    while (next_char(r) == '.') {
        const char *at = r->p;
        Str text = take_dotted(r);
        uint32_t word = text.size ? intern(r, text) : PTX_NONE;
        bool good = true, typed = variable->type != PTX_NONE, vector = variable->vector != PTX_NONE;
        if (is_type(r, word) && !typed)
            variable->type = word;
        else if (word == WORD_align && !vector && (!typed || parameter) && !variable->pointer)
            good = read_align(r, &variable->align);
        else if (word == WORD_attribute && !vector && !typed)
            good = read_attributes(r, variable);
        else if (word == WORD_ptr && variable->space == WORD_param && typed && parameter)
            good = read_pointer(r, variable);
        else if (word_place(text, ".v2 .v4") >= 0 && !typed && !vector)
            variable->vector = word;
        else
            good = ptx_fail(r, at, "'%.*s' does not stand here", STR_ARG(text));
        if (!good)
            return false;
    }
    if (variable->type == PTX_NONE)
        return fail_expected(r, "a type");
    return check_type(r, variable, start);
}

static bool read_dimensions(Reader *r, PtxVariable *variable) {
    variable->dimensions = r->module->operands_count;
    while (take(r, '[')) {
        int64_t size;
        if (variable->dimensions == r->module->operands_count && take(r, ']')) { /* the first alone may have none */
            add_operand(r, PTX_EMPTY, 0, 0);
            continue;
        }
        if (!read_whole(r, &size) || !want(r, ']'))
            return false;
        add_operand(r, PTX_INTEGER, 0, size);
    }
    variable->dimension_count = r->module->operands_count - variable->dimensions;
    return true;
}

/* %r<8> */
static bool read_range(Reader *r, PtxVariable *variable) {
    r->p++;
    variable->ranged = true;
    return read_count(r, &variable->range) && want(r, '>');
}

/* ---- Initial values -------------------------------------------------------------------------------------- */

static bool fail_initial(Reader *r, const char *at) {
    return ptx_fail(r, at, "this initial value is not of the variable's type");
}

/* The address of a variable or a function. */
static bool check_place(Reader *r, uint32_t index, const PtxOperand *value, const char *at) {
    bool generic = value->kind == PTX_GENERIC;
    int64_t offset = value->kind == PTX_MASKED ? value[1].value : value->value;
    value += value->kind == PTX_GENERIC || value->kind == PTX_MASKED;
    if (value->kind == PTX_CALLEE)
        return (!generic && !offset) || ptx_fail(r, at, "a function's address stands alone");
    if (value->a == index)
        return ptx_fail(r, at, "a variable's own address is no initial value of it");
    uint32_t space = r->module->variables[value->a].space;
    return space == WORD_global || space == WORD_const ||
           ptx_fail(r, at, "only addresses of .global and .const variables are initial values");
}

static bool check_value(Reader *r, uint32_t index, const PtxOperand *value, const char *at) {
    const PtxVariable *variable = &r->module->variables[index];
    Str type = ptx_name(r->module, variable->type);
    char letter = type.data[1];
    unsigned bits = variable_bits(r, variable);
    if (is_opaque(r, variable))
        return fail_initial(r, at);
    if (str_starts(type, STR(".f16")))
        return ptx_fail(r, at, "'%.*s' has no initial values", STR_ARG(type));
    switch (value->kind) {
    case PTX_INTEGER:
        return letter != 'f' || fail_initial(r, at);
    case PTX_SINGLE:
    case PTX_DOUBLE:
        return letter == 'f' || letter == 'b' || fail_initial(r, at);
    case PTX_MASKED: /* one byte of it */
        if (letter != 'u' || !value->bits || value->bits != UINT64_C(255) << (__builtin_ctzll(value->bits) & 56))
            return fail_initial(r, at);
        return check_place(r, index, value, at);
    case PTX_VECTOR:
        return fail_initial(r, at);
    default:
        return letter == 'u' && bits >= 32 ? check_place(r, index, value, at) : fail_initial(r, at);
    }
}

/* The members of a list, `depth` brackets in; how many there may be. */
static bool check_initial(Reader *r, uint32_t index, uint32_t at, uint32_t depth, const char *text) {
    const PtxVariable *variable = &r->module->variables[index];
    bool vector = variable->vector != PTX_NONE && depth == variable->dimension_count;
    if (depth >= variable->dimension_count + (variable->vector != PTX_NONE))
        return check_value(r, index, &r->module->operands[at], text);
    if (r->module->operands[at].kind != PTX_VECTOR)
        return fail_initial(r, text);
    const PtxOperand *size = vector ? NULL : &r->module->operands[variable->dimensions + depth];
    uint64_t most = vector ? (uint64_t)(ptx_name(r->module, variable->vector).data[2] - '0') : (uint64_t)size->value;
    uint64_t count = 0;
    uint32_t last = at + r->module->operands[at].a;
    bool flat = depth + 1 == variable->dimension_count + (variable->vector != PTX_NONE);
    for (uint32_t i = at + 1; i <= last; i += ptx_extent(&r->module->operands[i]), count++)
        if (!(flat ? check_value(r, index, &r->module->operands[i], text)
                   : check_initial(r, index, i, depth + 1, text)))
            return false;
    if (size && !size->value)
        return count || fail_initial(r, text);
    return (vector ? count == most : count <= most && most) ||
           ptx_fail(r, text, "there are %llu initial values, for %llu places", (unsigned long long)count,
                    (unsigned long long)most);
}

static bool read_initials(Reader *r, uint32_t index) {
    const PtxVariable *variable = &r->module->variables[index];
    const char *at = r->p;
    if ((variable->space != WORD_global && variable->space != WORD_const) || variable->linkage == WORD_extern)
        return ptx_fail(r, at, "only .global and .const variables that are defined here have initial values");
    r->p++;
    next_char(r);
    at = r->p;
    uint32_t initial = r->module->operands_count;
    if (!read_initial(r) || !check_initial(r, index, initial, 0, at))
        return false;
    r->module->variables[index].initial = initial;
    r->module->variables[index].initial_count = r->module->operands_count - initial;
    return true;
}

/* ---- Declarations ------------------------------------------------------------------------------------------ */

/* An array has a size, unless it is somewhere else, or its initial values say it. */
static bool check_complete(Reader *r, const PtxVariable *variable, const char *at) {
    const PtxOperand *size = variable->dimension_count ? &r->module->operands[variable->dimensions] : NULL;
    bool elsewhere = variable->space != WORD_global && variable->space != WORD_param;
    if (!size && elsewhere && is_opaque(r, variable)) /* ptxas takes arrays of them */
        return ptx_fail(r, at, "'%.*s' is a type of .global variables", STR_ARG(ptx_name(r->module, variable->type)));
    if (!size)
        return true;
    if (variable->space == WORD_reg)
        return ptx_fail(r, at, "registers are no array");
    bool said = next_char(r) == '=';
    return size->value || said || variable->linkage == WORD_extern || ptx_fail(r, at, "this array has no size");
}

static bool read_declarator(Reader *r, PtxVariable variable) {
    next_char(r);
    const char *at = r->p;
    Str name = take_identifier(r);
    if (!name.size)
        return fail_expected(r, "a name");
    if (!check_name(r, name, at))
        return false;
    variable.name = intern(r, name);
    if (next_char(r) == '<' ? !read_range(r, &variable) : !read_dimensions(r, &variable))
        return false;
    if (!check_complete(r, &variable, at))
        return false;
    uint32_t index = r->module->variables_count;
    *PUSH(r, variables) = variable;
    if (!declare_variable(r, index, at))
        return false;
    return next_char(r) != '=' || read_initials(r, index);
}

/* Where variables of a space may stand. */
static bool check_space(Reader *r, uint32_t space, uint32_t linkage) {
    bool outside = r->function == PTX_NONE;
    Str name = r->module->names[space].text;
    if (outside && (space == WORD_local || space == WORD_reg || space == WORD_param))
        return ptx_fail(r, r->p, "a '%.*s' variable stands in a function", STR_ARG(name));
    if (space == WORD_tex && r->module->version >= 15)
        return ptx_fail(r, r->p, "'.tex' is no longer a space of variables");
    if (linkage != PTX_NONE && !outside)
        return ptx_fail(r, r->p, "'%.*s' stands outside of functions", STR_ARG(r->module->names[linkage].text));
    return linkage != WORD_common || space == WORD_global || ptx_fail(r, r->p, "only .global variables are '.common'");
}

bool read_linked_variables(Reader *r, uint32_t space, uint32_t linkage) {
    uint32_t first = r->module->variables_count, operands = r->module->operands_count;
    if (!check_space(r, space, linkage))
        return false;
    PtxVariable variable = fresh(r, space, linkage);
    if (!read_words(r, &variable, false))
        return false;
    if (take(r, ';'))
        return true; /* ptxas takes that: nothing is declared */
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

/* What only kernels, or only functions take. */
static bool check_formal(Reader *r, const PtxVariable *variable, bool entry, const char *at) {
    Str type = ptx_name(r->module, variable->type);
    if (entry)
        return variable->space == WORD_param || ptx_fail(r, at, "parameters of kernels are of .param");
    if (variable->pointer)
        return ptx_fail(r, at, "'.ptr' is about the parameters of kernels");
    if (is_opaque(r, variable) || (variable->space == WORD_reg && variable->dimension_count))
        return ptx_fail(r, at, "this is no parameter of a function");
    return variable->dimension_count || word_place(type, ".pred .u8 .s8 .u16 .s16") < 0 ||
           ptx_fail(r, at, "a function neither takes nor returns a single '%.*s'", STR_ARG(type));
}

bool read_parameter(Reader *r, bool named, bool entry, bool result) {
    next_char(r);
    const char *at = r->p;
    Str space = take_dotted(r);
    if (!str_is(space, ".param") && !str_is(space, ".reg"))
        return fail_expected(r, ".param or .reg");
    PtxVariable variable = fresh(r, str_is(space, ".reg") ? WORD_reg : WORD_param, PTX_NONE);
    variable.formal = result ? PTX_RESULT : PTX_PARAMETER;
    if (!read_words(r, &variable, true))
        return false;
    next_char(r);
    at = r->p;
    Str name = take_identifier(r);
    bool sink = str_is(name, "_");
    if (!name.size)
        return fail_expected(r, "a name");
    if (!sink) {
        if (!check_name(r, name, at))
            return false;
        variable.name = intern(r, name);
    }
    if (!read_dimensions(r, &variable) || !check_formal(r, &variable, entry, at))
        return false;
    if (variable.dimension_count > 1)
        return ptx_fail(r, at, "a parameter has one dimension at most");
    uint32_t index = r->module->variables_count;
    *PUSH(r, variables) = variable;
    return !named || declare_variable(r, index, at);
}
