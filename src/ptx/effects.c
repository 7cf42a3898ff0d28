/* The effects of a module's instructions, by the rows of their forms. */
#include "ptx/effects.h"

#include "ptx/print.h"

static unsigned effects_of_form(const PtxForm *form, PtxEffect *effects) {
    unsigned count;
    Str problem;
    if (form->row && ptx_effects(form->row, form->text, effects, PTX_EFFECTS_MOST, &count, &problem))
        return count;
    effects[0] = (PtxEffect){.effect.verb = EFFECT_ANYTHING};
    return 1;
}

/* Which memory a matrix of an MMA is in: a register holds the descriptor of shared memory, an address is one of tensor
 * memory. False: it is in registers, which is no effect. */
static bool settle(const PtxModule *module, const PtxStatement *statement, PtxEffect *effect) {
    if (!effect->memory || !effect->effect.on_descriptor)
        return true;
    const PtxOperand *on = ptx_effect_operand(module, statement, effect->on);
    if (!on || on->kind == PTX_VECTOR)
        return false;
    effect->memory = false;
    effect->effect.space = SPACE_SHARED;
    if (on->kind == PTX_ADDRESS) {
        effect->effect.space = SPACE_TENSOR;
        effect->effect.proxy = PROXY_GENERIC;
        effect->effect.on_descriptor = false;
        effect->matrix = true;
    }
    return true;
}

unsigned ptx_effects_of(const PtxModule *module, const PtxStatement *statement, PtxEffect *effects) {
    if (statement->kind != PTX_INSTRUCTION) /* the brace that a function returns at */
        return 0;
    unsigned all = effects_of_form(&module->forms[statement->what], effects), count = 0;
    for (unsigned i = 0; i < all; i++) {
        PtxEffect effect = effects[i];
        if (settle(module, statement, &effect))
            effects[count++] = effect;
    }
    return count;
}

static unsigned top_operands(const PtxOperand *operands, uint32_t count) {
    unsigned top = 0;
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]))
        top++;
    return top;
}

const PtxOperand *ptx_effect_operand(const PtxModule *module, const PtxStatement *statement, Str name) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    const PtxForm *form = &module->forms[statement->what];
    int place = form->row ? ptx_operand_place(form->row, form->text, name, top_operands(operands, count)) : -1;
    if (place < 0)
        return NULL;
    while (place--)
        operands += ptx_extent(operands);
    return operands;
}

/* ---- As text ------------------------------------------------------------------------------------------------- */

typedef struct Named {
    const PtxModule *module;
    const PtxStatement *statement;
} Named;

/* The addresses from an operand on. */
static bool print_addresses(const Named *named, const PtxOperand *first, const char *before, Text *to) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(named->module, named->statement, &count), *end = operands + count;
    bool any = false;
    for (const PtxOperand *at = first; at < end; at += ptx_extent(at)) {
        if (at->kind != PTX_ADDRESS)
            continue;
        text_str(to, any ? STR(", ") : str_of(before));
        ptx_print_operand(named->module, at, to);
        any = true;
    }
    return any;
}

static bool print_named(const void *context, Str name, const char *before, Text *to) {
    const Named *named = context;
    const PtxOperand *operand = ptx_effect_operand(named->module, named->statement, name);
    if (operand && str_is(name, ".."))
        return print_addresses(named, operand, before, to);
    if (!operand || operand->kind == PTX_SINK)
        return false;
    text_str(to, str_of(before));
    ptx_print_operand(named->module, operand, to);
    return true;
}

/* What a call does is what the function does that it names. */
static void print_callee(const PtxModule *module, const PtxStatement *statement, Text *to) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]))
        if (operands[i].kind == PTX_CALLEE) {
            text_str(to, STR(" that "));
            ptx_print_operand(module, &operands[i], to);
            text_str(to, STR(" does"));
            return;
        }
    text_str(to, STR(" that the called function does"));
}

static void print_guard(const PtxModule *module, const PtxStatement *statement, Text *to) {
    if (!(statement->flags & PTX_GUARDED))
        return;
    text_str(to, statement->flags & PTX_NEGATED ? STR(", if not ") : STR(", if "));
    ptx_print_operand(module, &module->operands[statement->first], to);
}

/* The effects of each form, found once. */
typedef struct Found {
    bool known;
    unsigned count;
    PtxEffect *effects;
} Found;

static const Found *find(const PtxModule *module, const PtxStatement *statement, Arena *arena, Found *forms) {
    Found *found = &forms[statement->what];
    if (!found->known) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        found->count = effects_of_form(&module->forms[statement->what], effects);
        found->effects = ARENA_ARRAY(arena, PtxEffect, found->count + 1);
        memcpy(found->effects, effects, found->count * sizeof *effects);
        found->known = true;
    }
    return found;
}

static void print_effects(const PtxModule *module, const PtxStatement *statement, const Found *found, Text *to) {
    Named named = {module, statement};
    PtxNames names = {print_named, &named};
    if (!found->count)
        return;
    text_addf(to, "%u: ", source_place(module->source, statement->begin).line);
    text_str(to, module->forms[statement->what].text);
    text_char(to, '\n');
    for (unsigned i = 0; i < found->count; i++) {
        PtxEffect effect = found->effects[i];
        if (!settle(module, statement, &effect))
            continue;
        text_str(to, STR("    "));
        ptx_effect_print(&effect, &names, to);
        if (effect.callee)
            print_callee(module, statement, to);
        print_guard(module, statement, to);
        text_char(to, '\n');
    }
}

void ptx_print_effects(const PtxModule *module, const bool *kept, Text *to) {
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    Found *forms = ARENA_ARRAY(&arena, Found, module->forms_count + 1);
    memset(forms, 0, (module->forms_count + 1) * sizeof *forms);
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_INSTRUCTION && (!kept || kept[i]))
            print_effects(module, statement, find(module, statement, &arena, forms), to);
    }
    arena_free(&arena);
}
