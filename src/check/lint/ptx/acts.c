/* What instructions do: the effects of their rows, with the operands that they are about. */
#include "check/lint/ptx/internal.h"

#include "ptx/effects.h"

/* ---- Operands ------------------------------------------------------------------------------------- */

/* Its number in the module. */
static uint32_t number_in(const PtxModule *module, const PtxOperand *operand) {
    return operand ? (uint32_t)(operand - module->operands) : PTX_NONE;
}

uint32_t operand_at(const PtxModule *module, const PtxStatement *statement, unsigned index) {
    return number_in(module, ptx_operand_at(module, statement, index));
}

uint32_t operand_named(const PtxModule *module, const PtxStatement *statement, Str name) {
    return name.size ? number_in(module, ptx_effect_operand(module, statement, name)) : PTX_NONE;
}

/* ---- Forms ---------------------------------------------------------------------------------------- */

const FormActs *form_acts(PtxLint *lint, uint32_t index) {
    FormActs *acts = &lint->forms[index];
    const PtxForm *form = &lint->module->forms[index];
    if (acts->made)
        return acts;
    acts->made = true;
    if (!form->row) {
        Str left = form->text;
        acts->unknown = ptx_opcode_acts(next_part(&left)) != PTX_COMPUTES;
        return acts;
    }
    PtxEffect effects[PTX_EFFECTS_MOST];
    Str problem;
    acts->unknown = !ptx_effects(form->row, form->text, effects, PTX_EFFECTS_MOST, &acts->count, &problem);
    for (unsigned i = 0; i < acts->count; i++)
        acts->unknown |= effects[i].effect.verb == EFFECT_ANYTHING;
    PtxEffect *kept = ARENA_ARRAY(lint->arena, PtxEffect, acts->count + 1);
    memcpy(kept, effects, acts->count * sizeof *kept);
    acts->effects = kept;
    return acts;
}

/* ---- The acts of a function ----------------------------------------------------------------------- */

static void add_acts(PtxLint *lint, uint32_t instruction) {
    uint32_t statement = lint->flow.instructions[instruction];
    const PtxStatement *at = &lint->module->statements[statement];
    const FormActs *form = form_acts(lint, at->what);
    for (unsigned i = 0; i < form->count; i++) {
        const PtxEffect *effect = &form->effects[i];
        *ARENA_PUSH(lint->arena, lint->acts, lint->act_count, lint->act_capacity) =
            (Act){.statement = statement,
                  .instruction = instruction,
                  .effect = effect,
                  .on = operand_named(lint->module, at, effect->on),
                  .count = operand_named(lint->module, at, effect->count),
                  .through = operand_named(lint->module, at, effect->through)};
    }
}

void gather_acts(PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    lint->first_acts = ARENA_ARRAY(lint->arena, uint32_t, flow->instruction_count + 1);
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        lint->first_acts[i] = lint->act_count;
        if (flow->blocks[flow->block_of[i]].reached)
            add_acts(lint, i);
    }
    lint->first_acts[flow->instruction_count] = lint->act_count;
}

/* ---- What a kernel does at all -------------------------------------------------------------------- */

typedef struct ActWalk {
    PtxLint *lint;
    PtxReach reach;
    bool *seen;
    uint32_t *open; /* functions to be walked */
    uint32_t open_count;
} ActWalk;

static void note_unknown(ActWalk *walk, uint32_t statement, const char *reason) {
    Str form = ptx_form(walk->lint, statement)->text;
    if (walk->reach.unknown == PTX_NONE)
        walk->reach.unknown = statement;
    verdict_incomplete(walk->lint->verdict, verdict_text(walk->lint->verdict, "%.*s", STR_ARG(form)),
                       ptx_line(walk->lint, statement), "%s", reason);
}

static void walk_function(ActWalk *walk, uint32_t function) {
    walk->reach.calls = true;
    if (walk->seen[function])
        return;
    walk->seen[function] = true;
    walk->open[walk->open_count++] = function;
}

/* Functions among operands, whose addresses are taken there; whether there is one. */
static bool walk_addresses(ActWalk *walk, const PtxOperand *operands, uint32_t count) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind != PTX_CALLEE)
            continue;
        uint32_t function = ptx_function_behind(walk->lint->module, operands[i].a);
        any = true;
        if (walk->lint->module->functions[function].body)
            walk_function(walk, function);
    }
    return any;
}

/* A call of an address: it is that of one of the functions whose addresses the module takes. False: it takes none. */
static bool walk_indirect(ActWalk *walk) {
    const PtxModule *module = walk->lint->module;
    bool any = false;
    for (uint32_t i = 0; i < module->variables_count; i++)
        any |=
            walk_addresses(walk, &module->operands[module->variables[i].initial], module->variables[i].initial_count);
    for (uint32_t i = 0; i < module->statements_count; i++) {
        const PtxStatement *at = &module->statements[i];
        uint32_t count;
        if (at->kind != PTX_INSTRUCTION || module->forms[at->what].evaluator == PTX_EVALUATE_CALL)
            continue;
        const PtxOperand *operands = ptx_operands(module, at, &count);
        any |= walk_addresses(walk, operands, count);
    }
    return any;
}

static void walk_call(ActWalk *walk, uint32_t statement) {
    const PtxModule *module = walk->lint->module;
    uint32_t count, callee = PTX_NONE;
    const PtxOperand *operands = ptx_operands(module, &module->statements[statement], &count);
    for (uint32_t i = 0; i < count && callee == PTX_NONE; i++)
        if (operands[i].kind == PTX_CALLEE)
            callee = operands[i].a;
    if (callee == PTX_NONE) {
        if (!walk_indirect(walk))
            note_unknown(walk, statement, "which function it calls is not known");
        return;
    }
    callee = ptx_function_behind(module, callee);
    const PtxFunction *function = &module->functions[callee];
    Str name = ptx_name(module, function->name);
    if (!function->body && !ptx_of_driver(name))
        note_unknown(
            walk, statement,
            verdict_text(walk->lint->verdict, "what %.*s does is not known: it has no body here", STR_ARG(name)));
    if (function->body)
        walk_function(walk, callee);
}

static void walk_effect(PtxReach *reach, const Effect *effect) {
    reach->verbs |= UINT64_C(1) << effect->verb;
    if (effect->verb == EFFECT_COMMIT)
        reach->commits |= 1u << effect->group;
    if (effect->verb == EFFECT_AWAIT)
        reach->awaits |= 1u << effect->group;
    reach->fences_async |= effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC;
    reach->releases_cluster |=
        (effect->verb == EFFECT_CLUSTER_ARRIVE && !effect->relaxed) || effect_releases_to_cluster(effect);
    reach->arrives_for_copies |= effect->verb == EFFECT_ARRIVE && effect->done == DONE_COPIES;
}

static void walk_instruction(ActWalk *walk, uint32_t statement) {
    const PtxStatement *at = &walk->lint->module->statements[statement];
    if (walk->lint->module->forms[at->what].evaluator == PTX_EVALUATE_CALL) {
        walk_call(walk, statement);
        return;
    }
    const FormActs *acts = form_acts(walk->lint, at->what);
    if (acts->unknown)
        note_unknown(walk, statement, "what it does is not known");
    for (unsigned i = 0; i < acts->count; i++)
        walk_effect(&walk->reach, &acts->effects[i].effect);
}

PtxReach reach_of(PtxLint *lint, uint32_t function) {
    const PtxModule *module = lint->module;
    ActWalk walk = {.lint = lint, .reach = {.unknown = PTX_NONE}};
    walk.seen = ARENA_ARRAY(lint->arena, bool, module->functions_count + 1);
    walk.open = ARENA_ARRAY(lint->arena, uint32_t, module->functions_count + 1);
    walk.seen[function] = true;
    walk.open[walk.open_count++] = function;
    while (walk.open_count) {
        const PtxFunction *at = &module->functions[walk.open[--walk.open_count]];
        for (uint32_t i = at->begin; i < at->end; i++)
            if (is_instruction(&module->statements[i]))
                walk_instruction(&walk, i);
    }
    return walk.reach;
}
