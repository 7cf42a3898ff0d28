/* Calls of PTX against what they call: how many arguments and results, and of which type; and two declarations of one
 * function against each other. */
#include "ptx/internal.h"

/* ---- Types -------------------------------------------------------------------------------------------- */

unsigned variable_bits(const Reader *r, const PtxVariable *variable) {
    unsigned bits = type_of(r, variable)->bits;
    if (variable->vector != PTX_NONE)
        bits *= (unsigned)(ptx_name(r->module, variable->vector).data[2] - '0');
    return bits;
}

uint64_t variable_size(const Reader *r, const PtxVariable *variable) {
    uint64_t size = variable_bits(r, variable) / 8;
    for (uint32_t i = 0; i < variable->dimension_count; i++)
        size *= (uint64_t)r->module->operands[variable->dimensions + i].value;
    return size;
}

static unsigned alignment(const Reader *r, const PtxVariable *variable) {
    return variable->align ? variable->align : variable_bits(r, variable) / 8;
}

/* 'b', 'u' (or signed), 'f', or 'p'. */
static char kind_of(const Reader *r, const PtxVariable *variable) {
    Str type = ptx_name(r->module, variable->type);
    char letter = type.size > 1 ? type.data[1] : 'b';
    return letter == 's' ? 'u' : letter;
}

/* The outermost size is not said: x[]. */
static bool is_open(const Reader *r, const PtxVariable *variable) {
    return variable->dimension_count && !r->module->operands[variable->dimensions].value;
}

/* ---- Arguments ------------------------------------------------------------------------------------------ */

static bool fail_argument(Reader *r, const PtxVariable *formal, const char *at) {
    Str name = ptx_name(r->module, formal->name);
    return ptx_fail(r, at, "what is passed for '%.*s' is not of its type", STR_ARG(name.size ? name : STR("_")));
}

static bool check_variable(Reader *r, const PtxVariable *formal, const PtxVariable *actual, const char *at) {
    if (actual->space != WORD_reg && actual->space != WORD_param)
        return ptx_fail(r, at, "only registers and variables of .param are passed");
    if (actual->formal && actual->space == WORD_param)
        return ptx_fail(r, at, "a function's own parameter is not passed on: its value is loaded first");
    if (!formal->dimension_count != !actual->dimension_count)
        return fail_argument(r, formal, at);
    if (formal->dimension_count) {
        bool size = is_open(r, formal) || variable_size(r, formal) == variable_size(r, actual);
        return (size && alignment(r, formal) == alignment(r, actual)) || fail_argument(r, formal, at);
    }
    char a = kind_of(r, formal), b = kind_of(r, actual);
    return (variable_bits(r, formal) == variable_bits(r, actual) && (a == b || a == 'b' || b == 'b')) ||
           fail_argument(r, formal, at);
}

static bool check_argument(Reader *r, const PtxVariable *formal, const PtxOperand *actual, bool returned,
                           const char *at) {
    char kind = kind_of(r, formal);
    switch (actual->kind) {
    case PTX_REGISTER:
    case PTX_VARIABLE:
        if (actual->part || actual->negated || (actual->kind == PTX_VARIABLE && (actual->value || actual->written)))
            return fail_argument(r, formal, at);
        return check_variable(r, formal, &r->module->variables[actual->a], at);
    case PTX_INTEGER:
    case PTX_SINGLE:
    case PTX_DOUBLE:
        return (!returned && !formal->dimension_count &&
                (kind == 'b' || (kind == 'f') == (actual->kind != PTX_INTEGER))) ||
               fail_argument(r, formal, at);
    case PTX_SINK:
        return returned || fail_argument(r, formal, at);
    default:
        return fail_argument(r, formal, at);
    }
}

/* A list of a call, NULL being an empty one. */
static bool check_list(Reader *r, uint32_t first, uint32_t count, const PtxOperand *list, bool returned,
                       const char *at) {
    uint32_t given = 0;
    for (uint32_t i = 1; list && i <= list->a; i += ptx_extent(list + i), given++)
        if (given < count && !check_argument(r, &r->module->variables[first + given], list + i, returned, at))
            return false;
    return given == count ||
           ptx_fail(r, at, "this call has %u %s%s; what is called %s %u", given, returned ? "result" : "argument",
                    plural(given), returned ? "returns" : "takes", count);
}

static bool check_called(Reader *r, uint32_t function, const PtxOperand *results, const PtxOperand *arguments,
                         const char *at) {
    const PtxFunction *called = &r->module->functions[function];
    return check_list(r, called->returns, called->return_count, results, true, at) &&
           check_list(r, called->parameters, called->parameter_count, arguments, false, at);
}

/* ---- What is called ------------------------------------------------------------------------------------------ */

/* A call by a register names a prototype or a list of functions, which stands above it. */
static bool check_indirect(Reader *r, const PtxOperand *prototype, const PtxOperand *results,
                           const PtxOperand *arguments, const char *at) {
    uint32_t label = prototype && prototype->kind == PTX_NAME ? find_label(r, prototype->a, r->scope) : PTX_NONE;
    if (label == PTX_NONE || label + 1 >= r->module->statements_count)
        return ptx_fail(r, at, "a call by a register needs a .callprototype or .calltargets above it");
    const PtxStatement *said = &r->module->statements[label + 1];
    if (said->kind == PTX_PROTOTYPE)
        return check_called(r, said->what, results, arguments, at);
    if (said->kind != PTX_DIRECTIVE || said->what != WORD_calltargets)
        return ptx_fail(r, at, "this label has no .callprototype and no .calltargets");
    for (uint32_t i = 0; i < said->count; i++)
        if (!check_called(r, r->module->operands[said->first + i].a, results, arguments, at))
            return false;
    return true;
}

static void note_results(Reader *r, const PtxOperand *results) {
    for (uint32_t i = 1; results && i <= results->a; i += ptx_extent(results + i))
        if (results[i].kind == PTX_VARIABLE)
            r->module->variables[results[i].a].returned = true;
}

/* A register that is called holds an address. */
static bool is_callee(const Reader *r, const PtxOperand *callee) {
    Str type = ptx_name(r->module, r->module->variables[callee->a].type);
    return word_place(type, ".b64 .u64 .s64 .b32 .u32 .s32") >= 0; /* ptxas takes narrow ones */
}

bool check_call(Reader *r, uint32_t first, const char *at) {
    const PtxOperand *operand = r->module->operands + first, *end = r->module->operands + r->module->operands_count;
    const PtxOperand *results = NULL, *arguments = NULL;
    if (operand < end && operand->kind == PTX_LIST) {
        results = operand;
        operand += ptx_extent(operand);
    }
    const PtxOperand *callee = operand < end ? operand++ : NULL;
    if (operand < end && operand->kind == PTX_LIST) {
        arguments = operand;
        operand += ptx_extent(operand);
    }
    const PtxOperand *prototype = operand < end ? operand++ : NULL;
    if (!callee || operand < end)
        return ptx_fail(r, at, "a call is (results), function, (arguments), prototype");
    note_results(r, results);
    if (callee->kind == PTX_REGISTER && is_callee(r, callee))
        return check_indirect(r, prototype, results, arguments, at);
    if (callee->kind == PTX_NAME && !prototype && find_label(r, callee->a, r->scope) == PTX_NONE)
        return true; /* it is not declared, which is said later */
    if (callee->kind != PTX_CALLEE || r->module->functions[callee->a].entry)
        return ptx_fail(r, at, "this is no function that can be called");
    if (prototype)
        return ptx_fail(r, at, "a prototype belongs to a call by a register");
    return check_called(r, callee->a, results, arguments, at);
}

/* ---- Declarations of one function ------------------------------------------------------------------------------ */

static bool same_parameter(const Reader *r, const PtxVariable *one, const PtxVariable *other) {
    return one->space == other->space && one->type == other->type && one->vector == other->vector &&
           one->dimension_count == other->dimension_count && variable_size(r, one) == variable_size(r, other) &&
           alignment(r, one) == alignment(r, other);
}

static bool same_list(const Reader *r, uint32_t one, uint32_t count, uint32_t other, uint32_t other_count) {
    bool same = count == other_count;
    for (uint32_t i = 0; same && i < count; i++)
        same = same_parameter(r, &r->module->variables[one + i], &r->module->variables[other + i]);
    return same;
}

bool same_prototype(Reader *r, uint32_t one, uint32_t other, const char *at) {
    const PtxFunction *a = &r->module->functions[one], *b = &r->module->functions[other];
    return (same_list(r, a->returns, a->return_count, b->returns, b->return_count) &&
            same_list(r, a->parameters, a->parameter_count, b->parameters, b->parameter_count)) ||
           ptx_fail(r, at, "'%.*s' has other parameters or results than '%.*s' above",
                    STR_ARG(ptx_name(r->module, a->name)), STR_ARG(ptx_name(r->module, b->name)));
}
