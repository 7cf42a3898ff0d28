/* Finds where the kernels of a module touch global memory, and what orders their CTAs. */
#include "instrument/emit/shadow.h"

#include "ptx/effects.h"
#include "trace/shadow.h"

typedef struct ShadowSiteWalk {
    ShadowSites *sites;
    PtxModule *module;
    uint32_t function, capacity;
    PtxFlow flow;
    PtxValues values;
    bool looked; /* at the function: only where something asks for it */
} ShadowSiteWalk;

enum { MOST_SITES = 1 << 20, MOST_BYTES = 32 };

static ShadowSite *add(ShadowSiteWalk *walk, uint32_t statement, ShadowSiteKind kind) {
    ShadowSites *sites = walk->sites;
    if (sites->count == walk->capacity) {
        uint32_t capacity = walk->capacity ? 2 * walk->capacity : 64;
        ShadowSite *items = ARENA_ARRAY(&sites->arena, ShadowSite, capacity);
        if (sites->count)
            memcpy(items, sites->items, sites->count * sizeof *items);
        sites->items = items;
        walk->capacity = capacity;
    }
    ShadowSite *site = &sites->items[sites->count++];
    *site = (ShadowSite){.function = walk->function,
                         .statement = statement,
                         .kind = kind,
                         .address = PTX_NONE,
                         .count = PTX_NONE,
                         .limit = PTX_NONE,
                         .gives = PTX_NONE,
                         .compare = PTX_NONE,
                         .map = PTX_NONE};
    return site;
}

static uint32_t operand_of(const ShadowSiteWalk *walk, const PtxStatement *statement, Str name) {
    const PtxOperand *operand = name.size ? ptx_effect_operand(walk->module, statement, name) : NULL;
    return operand ? (uint32_t)(operand - walk->module->operands) : PTX_NONE;
}

static bool look(ShadowSiteWalk *walk) {
    const char *problem;
    if (!walk->looked)
        walk->looked = ptx_flow_values(&walk->flow, &walk->values, walk->module, walk->function, NULL, 0, &problem);
    return walk->looked;
}

/* Where an address comes from. */
static PtxOrigin origin_of(ShadowSiteWalk *walk, uint32_t statement, uint32_t operand) {
    PtxOrigin origin = {.space = PTX_SPACE_UNKNOWN, .variable = PTX_NONE};
    if (look(walk))
        ptx_address_form(&walk->values, statement, operand, &origin);
    return origin;
}

static uint32_t parameter_of(ShadowSiteWalk *walk, uint32_t statement, uint32_t operand) {
    const PtxFunction *function = &walk->module->functions[walk->function];
    PtxOrigin origin = origin_of(walk, statement, operand);
    uint32_t number = origin.variable - function->parameters;
    return origin.variable != PTX_NONE && origin.variable >= function->parameters && number < function->parameter_count
               ? number
               : PTX_NONE;
}

static bool is_bulk(const PtxEffect *effect) {
    return effect->effect.helper == HELPER_TMA;
}

/* Why an access cannot be checked; NULL: it can. */
static const char *unchecked(const ShadowSiteWalk *walk, const ShadowSite *site, const PtxEffect *effect) {
    const PtxOperand *address = site->address == PTX_NONE ? NULL : &walk->module->operands[site->address];
    if (effect->replicas)
        return "multimem addresses are not checked";
    if (effect->matrix)
        return "matrices of wmma in global memory are not checked";
    if (effect->effect.proxy == PROXY_TEXTURE || effect->effect.proxy == PROXY_SURFACE)
        return "textures and surfaces are not checked";
    if (!address || address->kind != PTX_ADDRESS)
        return "its address is not known";
    if (effect->effect.on_descriptor)
        return site->map == PTX_NONE ? "its tensor map is not a parameter of the kernel" : NULL;
    if (is_bulk(effect) ? site->count == PTX_NONE && !site->bytes : !site->bytes || site->bytes > MOST_BYTES)
        return "how much it touches is not known";
    return NULL;
}

static void add_access(ShadowSiteWalk *walk, uint32_t statement, const PtxEffect *effect) {
    const PtxStatement *of = &walk->module->statements[statement];
    uint32_t address = operand_of(walk, of, effect->on);
    if (effect->memory && address != PTX_NONE) {
        PtxOrigin origin = origin_of(walk, statement, address);
        if (origin.space != PTX_SPACE_UNKNOWN && origin.space != PTX_SPACE_GLOBAL)
            return;
    }
    ShadowSite *site = add(walk, statement, SHADOW_SITE_ACCESS);
    site->access = (uint8_t)effect->effect.verb;
    site->order = (uint8_t)effect->effect.order;
    site->scope = effect->effect.order == ORDER_WEAK ? 0 : (uint8_t)effect->effect.scope;
    site->generic = effect->memory;
    site->address = address;
    site->count = operand_of(walk, of, effect->count);
    site->limit = operand_of(walk, of, effect->limit);
    site->bytes = effect->effect.count > 0 ? (uint32_t)effect->effect.count : 0;
    site->gives = operand_of(walk, of, effect->gives);
    site->compare = operand_of(walk, of, effect->compare);
    site->compares = effect->effect.atomic == ATOMIC_CAS;
    if (effect->effect.on_descriptor && address != PTX_NONE)
        site->map = parameter_of(walk, statement, address);
    if (site->count != PTX_NONE && walk->module->operands[site->count].kind == PTX_INTEGER && !is_bulk(effect))
        site->bytes = (uint32_t)walk->module->operands[site->count].value;
    site->why = unchecked(walk, site, effect);
    site->kind = site->why                      ? SHADOW_SITE_UNCHECKED
                 : effect->effect.on_descriptor ? SHADOW_SITE_TILE
                 : is_bulk(effect)              ? SHADOW_SITE_RANGE
                 : effect->effect.order         ? SHADOW_SITE_STRONG
                                                : SHADOW_SITE_ACCESS;
    walk->sites->strong |= site->kind == SHADOW_SITE_STRONG;
    walk->sites->clocked |= site->kind == SHADOW_SITE_STRONG && site->order > ORDER_RELAXED && site->scope >= SCOPE_GPU;
    walk->sites->copies |= is_bulk(effect) && site->access != KIND_READ;
}

static void add_fence(ShadowSiteWalk *walk, uint32_t statement, const Effect *effect) {
    if (effect->scope < SCOPE_GPU)
        return;
    ShadowSite *site = add(walk, statement, SHADOW_SITE_FENCE);
    site->order = (uint8_t)effect->order;
    site->scope = (uint8_t)effect->scope;
    walk->sites->clocked = walk->sites->fences = true;
}

static void add_group(ShadowSiteWalk *walk, uint32_t statement, const PtxEffect *effect) {
    bool awaits = effect->effect.verb == EFFECT_AWAIT;
    if (effect->effect.group != GROUP_TMA_STORE || (awaits && effect->effect.sources))
        return;
    ShadowSite *site = add(walk, statement, awaits ? SHADOW_SITE_AWAIT : SHADOW_SITE_COMMIT);
    site->count = operand_of(walk, &walk->module->statements[statement], effect->count);
    site->bytes = effect->effect.count > 0 ? (uint32_t)effect->effect.count : 0;
}

static void add_effect(ShadowSiteWalk *walk, uint32_t statement, const PtxEffect *effect) {
    const Effect *what = &effect->effect;
    switch (what->verb) {
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        if ((what->space == SPACE_GLOBAL || effect->memory) && what->proxy != PROXY_TENSORMAP)
            add_access(walk, statement, effect);
        break;
    case EFFECT_FENCE_ORDER:
        add_fence(walk, statement, what);
        break;
    case EFFECT_COMMIT:
    case EFFECT_AWAIT:
        add_group(walk, statement, effect);
        break;
    case EFFECT_AWAIT_LAUNCHES:
        add(walk, statement, SHADOW_SITE_WAIT);
        break;
    case EFFECT_REGISTERS:
        add(walk, statement, SHADOW_SITE_REGISTERS);
        break;
    case EFFECT_ANYTHING:
        add(walk, statement, SHADOW_SITE_UNCHECKED)->why =
            effect->callee ? "what the called function does is not checked" : "what it does is not known";
        break;
    default:
        break;
    }
}

static void walk_statement(ShadowSiteWalk *walk, uint32_t index) {
    const PtxStatement *statement = &walk->module->statements[index];
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (statement->kind != PTX_INSTRUCTION)
        return;
    PtxEvaluator evaluator = walk->module->forms[statement->what].evaluator;
    if (evaluator == PTX_EVALUATE_EXIT || evaluator == PTX_EVALUATE_RETURN) {
        add(walk, index, SHADOW_SITE_EXIT);
        return;
    }
    unsigned count = ptx_effects_of(walk->module, statement, effects);
    for (unsigned i = 0; i < count; i++)
        add_effect(walk, index, &effects[i]);
}

static void walk_function(ShadowSiteWalk *walk) {
    const PtxFunction *function = &walk->module->functions[walk->function];
    for (uint32_t i = function->begin; i < function->end; i++)
        walk_statement(walk, i);
    if (walk->looked)
        ptx_flow_values_free(&walk->flow, &walk->values);
    walk->looked = false;
}

static bool waits(PtxModule *module, const PtxFunction *function) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
        for (unsigned k = 0; k < count; k++)
            if (effects[k].effect.verb == EFFECT_AWAIT_LAUNCHES)
                return true;
    }
    return false;
}

bool shadow_sites(ShadowSites *sites, PtxModule *module, const char **problem) {
    *sites = (ShadowSites){0};
    arena_init(&sites->arena, SIZE_MAX);
    ShadowSiteWalk walk = {.sites = sites, .module = module};
    for (walk.function = 0; walk.function < module->functions_count; walk.function++) {
        const PtxFunction *function = &module->functions[walk.function];
        if (function->entry && function->body)
            walk_function(&walk);
        else if (function->body)
            sites->waits_elsewhere |= waits(module, function);
    }
    if (sites->count < MOST_SITES)
        return true;
    *problem = "there are too many accesses to tell them apart";
    shadow_sites_free(sites);
    return false;
}

bool shadow_as_sites(Sites *to, PtxModule *module, const char **problem) {
    ShadowSites sites;
    if (!shadow_sites(&sites, module, problem))
        return false;
    *to = (Sites){.count = sites.count, .items = ARENA_ARRAY(&sites.arena, Site, sites.count + 1)};
    for (uint32_t i = 0; i < sites.count; i++)
        to->items[i] = (Site){
            .function = sites.items[i].function, .statement = sites.items[i].statement, .why = sites.items[i].why};
    to->arena = sites.arena;
    return true;
}

void shadow_sites_free(ShadowSites *sites) {
    arena_free(&sites->arena);
}
