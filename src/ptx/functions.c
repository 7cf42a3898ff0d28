/* Functions of PTX and their prototypes: what stands before the body, and what ends with it. */
#include "ptx/internal.h"

/* Which parameters are read: with names, of a kernel, results. */
typedef struct FunctionListKind {
    bool named, entry, results;
} FunctionListKind;

static uint64_t list_bytes(const Reader *r, uint32_t first, uint32_t count) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PtxVariable *variable = &r->module->variables[first + i];
        uint64_t bytes = variable_size(r, variable), align = variable->align;
        if (!align)
            align = variable_bits(r, variable) / 8;
        size = align ? (size + align - 1) / align * align + bytes : size + bytes;
    }
    return size;
}

/* What holds of a list as a whole. */
static bool check_list(Reader *r, uint32_t first, uint32_t count, FunctionListKind kind, const char *at) {
    for (uint32_t i = 0; i < count; i++) {
        const PtxVariable *variable = &r->module->variables[first + i];
        if (variable->dimension_count && !variable_size(r, variable) && (kind.entry || kind.results || i + 1 < count))
            return ptx_fail(r, at, "only the last parameter of a function may be an array without a size");
        if (kind.results && count > 1 && variable->space == WORD_param)
            return ptx_fail(r, at, "only registers are several results");
    }
    uint64_t size = list_bytes(r, first, count), most = ptx_most_parameters(r->module->version);
    return !kind.entry || size <= most ||
           ptx_fail(r, at, "the parameters of a kernel have at most %llu bytes; these have %llu",
                    (unsigned long long)most, (unsigned long long)size);
}

/* ( .param ..., ... ); where there is no parenthesis, there are none. */
static bool read_parameters(Reader *r, uint32_t *first, uint32_t *count, bool *listed, FunctionListKind kind) {
    *first = r->module->variables_count;
    *listed = take_more(r, '(');
    const char *at = r->p;
    if (!*listed)
        return true;
    if (!take(r, ')')) {
        do {
            if (!read_parameter(r, kind.named, kind.entry, kind.results))
                return false;
        } while (take(r, ','));
        if (!want(r, ')'))
            return false;
    }
    *count = r->module->variables_count - *first;
    return check_list(r, *first, *count, kind, at);
}

/* Linkages that go together: the same, or none behind one that is not .extern. */
static bool same_linkage(uint32_t before, uint32_t now) {
    return before == now || (now == PTX_NONE && before != WORD_extern);
}

/* The function at hand against what its name stood for before. */
static bool check_again(Reader *r, uint32_t index, const char *at) {
    if (r->declared == PTX_NONE)
        return true;
    const PtxFunction *now = &r->module->functions[index], *before = &r->module->functions[r->declared];
    Str name = ptx_name(r->module, now->name);
    if (before->body)
        return ptx_fail(r, at, "'%.*s' is defined above", STR_ARG(name));
    if (before->entry != now->entry || !same_linkage(before->linkage, now->linkage))
        return ptx_fail(r, at, "'%.*s' is declared above in another way", STR_ARG(name));
    return same_prototype(r, index, r->declared, at);
}

static bool read_head(Reader *r, PtxFunction *function, const char **at) {
    bool returned;
    if (!function->entry && !read_parameters(r, &function->returns, &function->return_count, &returned,
                                             (FunctionListKind){.named = true, .results = true}))
        return false;
    next_char(r);
    *at = r->p;
    Str name = take_identifier(r);
    if (!name.size)
        return fail_expected(r, "the function's name");
    function->name = intern(r, name);
    if (!check_name(r, name, *at) ||
        !read_parameters(r, &function->parameters, &function->parameter_count, &function->listed,
                         (FunctionListKind){.named = true, .entry = function->entry}))
        return false;
    function->parameter_bytes = list_bytes(r, function->parameters, function->parameter_count);
    return true;
}

bool read_linked_function(Reader *r, uint32_t word, uint32_t linkage) {
    if (r->function != PTX_NONE)
        return ptx_fail(r, r->p, "a function cannot stand in a function");
    if (linkage == WORD_common)
        return ptx_fail(r, r->p, "only variables are '.common'");
    uint32_t index = r->module->functions_count;
    PtxFunction function = {.linkage = linkage, .entry = word == WORD_entry, .begin = r->module->statements_count};
    const char *at;
    open_scope(r);
    if (!read_head(r, &function, &at)) {
        close_scope(r);
        return false;
    }
    *PUSH(r, functions) = function;
    if (!declare_function(r, index, at) || !check_again(r, index, at)) {
        close_scope(r);
        return false;
    }
    add_statement(r, PTX_FUNCTION, index, r->module->operands_count);
    r->function = index;
    r->header = true;
    r->header_words = 0;
    return true;
}

bool read_defined(Reader *r, uint32_t word) {
    return read_linked_function(r, word, PTX_NONE);
}

bool read_linkage(Reader *r, uint32_t linkage) {
    next_char(r);
    Str text = take_dotted(r);
    uint32_t word = text.size ? intern(r, text) : PTX_NONE;
    if (word == WORD_entry || word == WORD_func)
        return read_linked_function(r, word, linkage);
    if (word >= WORD_reg && word <= WORD_tex)
        return read_linked_variables(r, word, linkage);
    return ptx_fail(r, text.data, "a function or a variable is expected behind '%.*s'",
                    STR_ARG(r->module->names[linkage].text));
}

void end_function(Reader *r) {
    settle_fixups(r);
    close_scope(r);
    r->module->functions[r->function].end = r->module->statements_count;
    r->function = PTX_NONE;
    r->header = false;
}

/* All .const variables together. */
static void check_constants(Reader *r) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < r->module->variables_count; i++) {
        const PtxVariable *variable = &r->module->variables[i];
        if (variable->space == WORD_const && variable->linkage != WORD_extern)
            size += variable_size(r, variable);
    }
    if (size > 65536)
        ptx_fail(r, r->end, "the .const variables have %llu bytes, and there are 65536", (unsigned long long)size);
}

void check_defined(Reader *r) {
    check_constants(r);
    if (r->debug && !r->debug_section)
        ptx_fail(r, r->end, "'.target ..., debug' needs sections of debug information");
    for (uint32_t i = 0; i < r->module->functions_count; i++) {
        const PtxFunction *function = &r->module->functions[i];
        if (function->name == PTX_NONE || function->body || function->alias || function->linkage == WORD_extern)
            continue;
        const PtxName *name = &r->module->names[function->name];
        if (ptx_of_driver(name->text))
            continue; /* the driver has them */
        if (name->bound_kind == BOUND_FUNCTION && name->bound == i)
            ptx_fail(r, r->base + r->module->statements[function->begin].begin,
                     "'%.*s' is defined nowhere, and is not '.extern'", STR_ARG(name->text));
    }
}

/* .noreturn, .abi_preserve 8: as of a function */
static bool read_prototype_words(Reader *r, PtxFunction *prototype) {
    static const char words[] = ".noreturn .abi_preserve .abi_preserve_control";
    for (int last = -1, place; next_char(r) == '.'; last = place) {
        const char *at = r->p;
        Str word = take_dotted(r);
        place = word_place(word, words);
        unsigned version = place > 0 ? 90 : 64;
        if (place < 0 || place <= last)
            return ptx_fail(r, at, "'%.*s' does not stand here", STR_ARG(word));
        if (version > r->module->version)
            return ptx_fail(r, at, "'%.*s' needs .version %u.%u or later", STR_ARG(word), version / 10, version % 10);
        if (place == 0 && prototype->return_count)
            return ptx_fail(r, at, "what returns values does not come with '%.*s'", STR_ARG(word));
        add_operand(r, PTX_WORD, intern(r, word), 0);
        prototype->noreturn |= place == 0;
        uint32_t number;
        if (place > 0 && !read_count(r, &number))
            return false;
        if (place > 0)
            add_operand(r, PTX_INTEGER, 0, number);
    }
    return true;
}

/* p: .callprototype (.param .b32 _) _ (.param .b64 _, ...); */
bool read_prototype(Reader *r, uint32_t word) {
    PtxFunction prototype = {.name = PTX_NONE, .linkage = PTX_NONE, .begin = r->module->statements_count};
    bool returned;
    if (!is_labeled(r, word) || !read_parameters(r, &prototype.returns, &prototype.return_count, &returned,
                                                 (FunctionListKind){.results = true}))
        return false;
    if (!str_is(take_identifier(r), "_"))
        return fail_expected(r, "'_'");
    if (!read_parameters(r, &prototype.parameters, &prototype.parameter_count, &prototype.listed,
                         (FunctionListKind){0}))
        return false;
    uint32_t operands = r->module->operands_count;
    if (!read_prototype_words(r, &prototype) || !want(r, ';'))
        return false;
    uint32_t index = r->module->functions_count;
    *PUSH(r, functions) = prototype;
    add_statement(r, PTX_PROTOTYPE, index, operands);
    r->module->functions[index].end = r->module->statements_count;
    return true;
}
