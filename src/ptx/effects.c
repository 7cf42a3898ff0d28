/* The effects of a module's instructions, by the rows of their forms. */
#include "ptx/effects.h"

#include "ptx/print.h"

void ptx_form_find_effects(PtxForm *form, Arena *arena) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    Str problem;
    form->effect_count = 0;
    if (!form->row || !ptx_effects(form->row, form->text, effects, PTX_EFFECTS_MOST, &form->effect_count, &problem)) {
        effects[0] = (PtxEffect){.effect.verb = EFFECT_ANYTHING};
        form->effect_count = 1;
    }
    if (!form->effect_count)
        return;
    PtxEffect *kept = ARENA_ARRAY(arena, PtxEffect, form->effect_count);
    memcpy(kept, effects, form->effect_count * sizeof *effects);
    form->effects = kept;
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
    const PtxForm *form = &module->forms[statement->what];
    unsigned count = 0;
    for (unsigned i = 0; i < form->effect_count; i++) {
        PtxEffect effect = form->effects[i];
        if (settle(module, statement, &effect))
            effects[count++] = effect;
    }
    return count;
}

const PtxOperand *ptx_effect_operand(const PtxModule *module, const PtxStatement *statement, Str name) {
    const PtxForm *form = &module->forms[statement->what];
    unsigned count = ptx_operand_count(module, statement);
    int place = form->row ? ptx_operand_place(form->row, form->text, name, count) : -1;
    return place < 0 ? NULL : ptx_operand_at(module, statement, (unsigned)place);
}

/* ---- As text ------------------------------------------------------------------------------------------------- */

typedef struct EffectNamed {
    const PtxModule *module;
    const PtxStatement *statement;
} EffectNamed;

/* The addresses from an operand on. */
static bool print_addresses(const EffectNamed *named, const PtxOperand *first, const char *before, Text *to) {
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
    const EffectNamed *named = context;
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

static void print_effects(const PtxModule *module, const PtxStatement *statement, Text *to) {
    const PtxForm *form = &module->forms[statement->what];
    EffectNamed named = {module, statement};
    PtxNames names = {print_named, &named};
    if (!form->effect_count)
        return;
    text_addf(to, "%u: ", source_place(module->source, statement->begin).line);
    text_str(to, form->text);
    text_char(to, '\n');
    for (unsigned i = 0; i < form->effect_count; i++) {
        PtxEffect effect = form->effects[i];
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
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind == PTX_INSTRUCTION && (!kept || kept[i]))
            print_effects(module, statement, to);
    }
}
