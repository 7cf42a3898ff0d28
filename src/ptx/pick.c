/* Finds what a kernel needs: from its statements on, along the names in them. */
#include "ptx/pick.h"

#include "ptx/internal.h"

#include <stdlib.h>

/* Things of the module: functions first, then variables. */
typedef struct Picking {
    const PtxModule *module;
    bool *kept;
    uint32_t *first; /* of each name, the first thing that has it, + 1 */
    uint32_t *next;  /* of each thing, another of the same name, + 1: a declaration and a definition */
    uint32_t *home;  /* of each thing, the statement that declares it */
    bool *needed;    /* of each thing */
    uint32_t *work;  /* things whose own needs are not looked at yet */
    uint32_t work_count;
    bool strings; /* places name functions by labels of .debug_str */
} Picking;

static uint32_t thing_of_variable(const Picking *picking, uint32_t variable) {
    return picking->module->functions_count + variable;
}

/* A thing is needed, and so are all others of its name. Those in a function come with it. */
static void need(Picking *picking, uint32_t thing, uint32_t name) {
    if (picking->needed[thing] || picking->home[thing] == PTX_NONE)
        return;
    uint32_t other = name == PTX_NONE ? thing + 1 : picking->first[name];
    for (; other; other = picking->next[other - 1])
        if (!picking->needed[other - 1]) {
            picking->needed[other - 1] = true;
            picking->work[picking->work_count++] = other - 1;
        }
}

static void need_operands(Picking *picking, uint32_t first, uint32_t count) {
    const PtxModule *module = picking->module;
    for (const PtxOperand *at = module->operands + first, *end = at + count; at < end; at++) {
        if (at->kind == PTX_CALLEE)
            need(picking, at->a, module->functions[at->a].name);
        else if (at->kind == PTX_VARIABLE)
            need(picking, thing_of_variable(picking, at->a), module->variables[at->a].name);
    }
}

static void need_variable(Picking *picking, const PtxVariable *variable) {
    need_operands(picking, variable->initial, variable->initial_count);
}

static void need_statement(Picking *picking, const PtxStatement *statement) {
    switch ((PtxKind)statement->kind) {
    case PTX_VARIABLES:
        for (uint32_t i = 0; i < statement->count; i++)
            need_variable(picking, &picking->module->variables[statement->what + i]);
        break;
    case PTX_LOC:
        picking->strings |= statement->count > 3;
        break;
    case PTX_FUNCTION:
    case PTX_OPEN:
    case PTX_CLOSE:
    case PTX_END:
    case PTX_LABEL:
        break;
    default:
        need_operands(picking, statement->first, statement->count);
    }
}

static void keep_function(Picking *picking, const PtxFunction *function) {
    for (uint32_t i = function->begin; i < function->end; i++) {
        picking->kept[i] = true;
        need_statement(picking, &picking->module->statements[i]);
    }
}

static void keep_needed(Picking *picking) {
    const PtxModule *module = picking->module;
    while (picking->work_count) {
        uint32_t thing = picking->work[--picking->work_count], statement = picking->home[thing];
        if (thing < module->functions_count) {
            keep_function(picking, &module->functions[thing]);
        } else if (!picking->kept[statement]) {
            picking->kept[statement] = true;
            need_statement(picking, &module->statements[statement]);
        }
    }
}

/* ---- The module ------------------------------------------------------------------------------------------------ */

static void add_thing(Picking *picking, uint32_t thing, uint32_t name, uint32_t statement) {
    picking->home[thing] = statement;
    if (name == PTX_NONE)
        return;
    picking->next[thing] = picking->first[name];
    picking->first[name] = thing + 1;
}

/* The next statement of the module itself, functions and sections left out. */
static uint32_t next_outside(const PtxModule *module, uint32_t at) {
    const PtxStatement *statement = &module->statements[at];
    if (statement->kind == PTX_FUNCTION)
        return module->functions[statement->what].end > at ? module->functions[statement->what].end : at + 1;
    if (statement->kind == PTX_SECTION)
        while (at + 1 < module->statements_count && module->statements[at].kind != PTX_CLOSE)
            at++;
    return at + 1;
}

static void find_things(Picking *picking) {
    const PtxModule *module = picking->module;
    for (uint32_t i = 0; i < module->functions_count + module->variables_count; i++)
        picking->home[i] = PTX_NONE;
    for (uint32_t i = 0; i < module->statements_count; i = next_outside(module, i)) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_FUNCTION)
            add_thing(picking, statement->what, module->functions[statement->what].name, i);
        for (uint32_t k = 0; statement->kind == PTX_VARIABLES && k < statement->count; k++)
            add_thing(picking, thing_of_variable(picking, statement->what + k),
                      module->variables[statement->what + k].name, i);
    }
}

static bool is_alias(const PtxStatement *statement) {
    return statement->kind == PTX_DIRECTIVE && statement->what == WORD_alias;
}

/* A function that is needed may be another name of one that has a body. */
static bool keep_aliases(Picking *picking) {
    const PtxModule *module = picking->module;
    bool any = false;
    for (uint32_t i = 0; i < module->statements_count; i = next_outside(module, i)) {
        const PtxStatement *statement = &module->statements[i];
        const PtxOperand *operands = module->operands + statement->first;
        if (!is_alias(statement) || picking->kept[i] || !statement->count || operands[0].kind != PTX_CALLEE ||
            !picking->needed[operands[0].a])
            continue;
        picking->kept[i] = any = true;
        need_operands(picking, statement->first, statement->count);
    }
    return any;
}

/* Sections are about the whole module, but for the names in .debug_str. */
static void keep_directives(Picking *picking) {
    const PtxModule *module = picking->module;
    for (uint32_t i = 0, next; i < module->statements_count; i = next) {
        const PtxStatement *statement = &module->statements[i];
        next = next_outside(module, i);
        bool section = statement->kind == PTX_SECTION && picking->strings &&
                       str_is(ptx_name(module, module->operands[statement->first].a), ".debug_str");
        if (statement->kind == PTX_DIRECTIVE && !is_alias(statement))
            picking->kept[i] = true;
        for (uint32_t k = i; section && k < next; k++)
            picking->kept[k] = true;
    }
}

static bool find_kernel(Picking *picking, Str kernel) {
    const PtxModule *module = picking->module;
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        if (!function->entry || !function->body || !str_equal(ptx_name(module, function->name), kernel))
            continue;
        need(picking, i, function->name);
        return true;
    }
    return false;
}

static bool pick(Picking *picking, Str kernel) {
    find_things(picking);
    if (!find_kernel(picking, kernel))
        return false;
    do
        keep_needed(picking);
    while (keep_aliases(picking));
    keep_directives(picking);
    return true;
}

bool *ptx_pick(const PtxModule *module, Str kernel, bool *missing) {
    size_t things = (size_t)module->functions_count + module->variables_count + 1;
    Picking picking = {.module = module,
                       .kept = calloc((size_t)module->statements_count + 1, sizeof(bool)),
                       .first = calloc((size_t)module->names_count + 1, sizeof(uint32_t)),
                       .next = calloc(things, sizeof(uint32_t)),
                       .home = calloc(things, sizeof(uint32_t)),
                       .needed = calloc(things, sizeof(bool)),
                       .work = calloc(things, sizeof(uint32_t))};
    bool enough = picking.kept && picking.first && picking.next && picking.home && picking.needed && picking.work;
    bool found = enough && pick(&picking, kernel);
    *missing = enough && !found;
    free(picking.first);
    free(picking.next);
    free(picking.home);
    free(picking.needed);
    free(picking.work);
    if (found)
        return picking.kept;
    free(picking.kept);
    return NULL;
}

bool ptx_targets_debug(const PtxModule *module, const PtxStatement *statement) {
    if (statement->kind != PTX_DIRECTIVE || statement->what != WORD_target || statement->count < 2)
        return false;
    const PtxOperand *last = &module->operands[statement->first + statement->count - 1];
    return last->kind == PTX_WORD && str_is(ptx_name(module, last->a), "debug");
}

/* Where the text of a statement ends, as far as it is printed. */
static uint32_t end_of(const PtxModule *module, const PtxStatement *statement) {
    const char *text = module->source->data + statement->begin;
    const char *comma = memrchr(text, ',', statement->end - statement->begin);
    return ptx_targets_debug(module, statement) && comma ? (uint32_t)(comma - module->source->data) : statement->end;
}

void ptx_print_text(const PtxModule *module, const bool *kept, Text *to) {
    uint32_t gap = 0;
    bool last = false;
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if ((last = kept[i]))
            text_add(to, module->source->data + gap, end_of(module, statement) - gap);
        gap = statement->end;
    }
    if (last)
        text_add(to, module->source->data + gap, module->source->size - gap);
    else
        text_char(to, '\n');
}
