/* Functions of PTX and their prototypes: what stands before the body, and what ends with it. */
#include "ptx/internal.h"

/* ( .param ..., ... ); where there is no parenthesis, there are none. */
static bool read_parameters(Reader *r, uint32_t *first, uint32_t *count, bool *listed, bool named) {
    *first = r->module->variables_count;
    *listed = take_more(r, '(');
    if (!*listed)
        return true;
    if (!take(r, ')')) {
        do {
            if (!read_parameter(r, named))
                return false;
        } while (take(r, ','));
        if (!want(r, ')'))
            return false;
    }
    *count = r->module->variables_count - *first;
    return true;
}

bool read_linked_function(Reader *r, uint32_t word, uint32_t linkage) {
    if (r->function != PTX_NONE)
        return ptx_fail(r, r->p, "a function cannot stand in a function");
    uint32_t index = r->module->functions_count;
    PtxFunction function = {.linkage = linkage, .entry = word == WORD_entry, .begin = r->module->statements_count};
    bool returned;
    open_scope(r);
    bool good = function.entry || read_parameters(r, &function.returns, &function.return_count, &returned, true);
    next_char(r);
    const char *at = r->p;
    Str name = good ? take_identifier(r) : (Str){"", 0};
    if (good && !name.size)
        good = fail_expected(r, "the function's name");
    if (good)
        function.name = intern(r, name);
    good = good && read_parameters(r, &function.parameters, &function.parameter_count, &function.listed, true);
    if (!good) {
        close_scope(r);
        return false;
    }
    *PUSH(r, functions) = function;
    if (!declare_function(r, index, at)) {
        close_scope(r);
        return false;
    }
    add_statement(r, PTX_FUNCTION, index, r->module->operands_count);
    r->function = index;
    r->header = true;
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

/* .callprototype (.param .b32 _) _ (.param .b64 _, ...); */
bool read_prototype(Reader *r, uint32_t word) {
    (void)word;
    PtxFunction prototype = {.name = PTX_NONE, .linkage = PTX_NONE, .begin = r->module->statements_count};
    bool returned;
    if (!read_parameters(r, &prototype.returns, &prototype.return_count, &returned, false))
        return false;
    if (!str_is(take_identifier(r), "_"))
        return fail_expected(r, "'_'");
    if (!read_parameters(r, &prototype.parameters, &prototype.parameter_count, &prototype.listed, false))
        return false;
    uint32_t operands = r->module->operands_count;
    while (next_char(r) == '.') { /* .noreturn, .abi_preserve 8 */
        Str directive = take_dotted(r);
        uint32_t word = intern(r, directive);
        add_operand(r, PTX_WORD, word, 0);
        prototype.noreturn |= word == WORD_noreturn;
        int64_t number;
        if (is_class(next_char(r), CLASS_DIGIT)) {
            if (!read_integer(r, &number))
                return false;
            add_operand(r, PTX_INTEGER, 0, number);
        }
    }
    if (!want(r, ';'))
        return false;
    uint32_t index = r->module->functions_count;
    *PUSH(r, functions) = prototype;
    add_statement(r, PTX_PROTOTYPE, index, operands);
    r->module->functions[index].end = r->module->statements_count;
    return true;
}
