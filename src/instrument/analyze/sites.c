/* Which instructions of a module are sites: by the effects of their rows, and where their addresses come from. */
#include "instrument/internal.h"

#include <stdlib.h>

/* The options by which accesses to a space are recorded; 0: nothing else sees it. */
static uint32_t asked_bits(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_GLOBAL:
        return INSTRUMENT_GLOBAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        return INSTRUMENT_SHARED;
    case PTX_SPACE_TENSOR:
        return INSTRUMENT_TENSOR;
    case PTX_SPACE_UNKNOWN:
        return INSTRUMENT_GLOBAL | INSTRUMENT_SHARED;
    default:
        return 0;
    }
}

PtxSpace look_space(const Look *look, uint32_t instruction, const PtxEffect *effect) {
    PtxOrigin origin = {0};
    switch (effect->effect.space) {
    case SPACE_GLOBAL:
        return PTX_SPACE_GLOBAL;
    case SPACE_SHARED:
        return PTX_SPACE_SHARED;
    case SPACE_TENSOR:
        return PTX_SPACE_TENSOR;
    case SPACE_NONE:
        break;
    }
    const PtxOperand *on = ptx_effect_operand(look->module, look_statement(look, instruction), effect->on);
    if (on && on->kind == PTX_ADDRESS)
        ptx_address_form(&look->values, look->flow.instructions[instruction], (uint32_t)(on - look->module->operands),
                         &origin);
    return origin.space;
}

/* ---- One instruction --------------------------------------------------------------------------------------- */

static bool is_strong(const PtxEffect *effect) {
    const Effect *of = &effect->effect;
    return of->done == DONE_NOW && of->helper == HELPER_BASE && of->proxy == PROXY_GENERIC && of->order != ORDER_WEAK;
}

/* Of a mask that is written in the instruction, or is a number that the thread's place in the CTA decides: the lanes
 * that it lacks, although they give it, which is undefined. False: it is another one, and may lack any. */
static bool lanes_unnamed(const Look *look, uint32_t instruction, const PtxEffect *effect, uint32_t *lanes) {
    const PtxOperand *mask = ptx_effect_operand(look->module, look_statement(look, instruction), effect->on);
    const PtxBlockShape *shape = &look->values.shape;
    uint32_t threads = look->shaped ? shape->x * shape->y * shape->z : RECORD_LANES, lacked = 0;
    *lanes = 0;
    if (!mask)
        return true;
    Form form = ptx_operand_form(&look->values, (uint32_t)(mask - look->module->operands));
    if (!form_based_on_constant(&form) || form.assumes)
        return false;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t bit = UINT32_C(1) << i % RECORD_LANES;
        bool has = (form.ones + form_offset(&look->values, &form, i)) & bit;
        *lanes |= has ? 0 : bit;
        lacked |= has ? bit : 0;
    }
    return !(*lanes & lacked); /* the same in all warps */
}

/* Whether others may notice what it does, or it them, beside the memory that it touches. Of lanes that hand on nothing
 * but registers, if some of them may never come. */
static bool synchronizes(const Look *look, uint32_t instruction, const PtxEffect *effect) {
    uint32_t unnamed;
    switch (effect->effect.verb) {
    case EFFECT_WARP_SYNC:
        return !effect->effect.relaxed || look_for_some(look, instruction) ||
               !lanes_unnamed(look, instruction, effect, &unnamed) || unnamed;
    case EFFECT_ANYTHING:
        return !effect->callee || call_leaves(look->calls, look->flow.instructions[instruction]);
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
    case EFFECT_VIEW:
    case EFFECT_CONVERGED:
    case EFFECT_FENCE_REGISTERS:
    case EFFECT_REGISTERS:
    case EFFECT_RELINQUISH:
    case EFFECT_VERBS:
        return false;
    default:
        return true;
    }
}

/* The map that a copy goes through is somewhere in memory, where it may be changed. */
static bool map_in_memory(const Look *look, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = look_statement(look, instruction);
    const PtxOperand *on = ptx_effect_operand(look->module, statement, effect->on);
    PtxOrigin origin = {0};
    if (effect->effect.proxy != PROXY_TENSORMAP || effect->effect.verb != EFFECT_READ || !on || on->kind != PTX_ADDRESS)
        return false;
    ptx_address_form(&look->values, look->flow.instructions[instruction], (uint32_t)(on - look->module->operands),
                     &origin);
    return origin.space != PTX_SPACE_PARAM && on->a && on[1].kind == PTX_REGISTER;
}

/* A barrier of threads which all lanes of a warp are to come to together. */
static bool is_aligned(const PtxEffect *effects, unsigned count) {
    bool barrier = false, converged = false;
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].effect.verb;
        converged |= verb == EFFECT_CONVERGED;
        barrier |= verb == EFFECT_NAMED_SYNC || verb == EFFECT_NAMED_ARRIVE || verb == EFFECT_CTA_BARRIER ||
                   verb == EFFECT_CLUSTER_ARRIVE || verb == EFFECT_CLUSTER_WAIT;
    }
    return barrier && converged;
}

static bool ends_thread(const Look *look, uint32_t instruction) {
    PtxEvaluator evaluator = look_form(look, instruction)->evaluator;
    return look->module->functions[look->function].entry
               ? evaluator == PTX_EVALUATE_RETURN || evaluator == PTX_EVALUATE_EXIT
               : evaluator == PTX_EVALUATE_EXIT;
}

/* Whether the grid is over with it, which fails: that a thread came there is all that there is to say. */
static bool stops_grid(const Look *look, uint32_t instruction) {
    return look_form(look, instruction)->evaluator == PTX_EVALUATE_STOP ||
           (look->calls && call_stops(look->calls, look->flow.instructions[instruction]));
}

static bool is_texture(const PtxEffect *effect) {
    return effect->effect.proxy == PROXY_TEXTURE || effect->effect.proxy == PROXY_SURFACE;
}

/* Whether it is an atomic without a result that there is with one, too: of whole numbers. */
static bool can_fetch(const Look *look, uint32_t instruction) {
    const PtxForm *form = look_form(look, instruction);
    if (!str_starts(form->text, STR("red.")) || !form->row)
        return false;
    Str type = ptx_form_modifier(form->row, form->text, STR("t"));
    return type.size == 3 && (type.data[0] == 'b' || type.data[0] == 'u' || type.data[0] == 's');
}

bool site_of(const Look *look, uint32_t instruction, const InstrumentOptions *options, Site *site, Arena *arena) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    uint32_t block = look->flow.block_of[instruction], behind;
    bool any = false, parts = true, shared = true;
    if (ends_thread(look, instruction)) {
        site->ends = true;
        return true;
    }
    site->stops = options->spaces & INSTRUMENT_STOPS && stops_grid(look, instruction);
    if (site->stops)
        return true;
    if (!look_acts(look, instruction))
        return false;
    unsigned count = ptx_effects_of(look->module, look_statement(look, instruction), effects);
    site->aligned = is_aligned(effects, count);
    for (unsigned i = 0; i < count; i++) {
        const PtxEffect *effect = &effects[i];
        any |= synchronizes(look, instruction, effect);
        if (effect_is_access(&effect->effect)) {
            PtxSpace space = look_space(look, instruction, effect);
            uint32_t bits = asked_bits(space);
            shared &= space == PTX_SPACE_SHARED;
            site->strong |= bits && is_strong(effect);
            any |= (bits & options->spaces) != 0 || site->strong;
        }
        site->waits |= effect->effect.verb == EFFECT_WAIT && effect->gives.size;
        site->meets |= effect->effect.verb == EFFECT_WARP_SYNC;
        site->hands |= effect->effect.verb == EFFECT_WARP_SYNC && effect->effect.relaxed;
        if (site->hands && !lanes_unnamed(look, instruction, effect, &site->unnamed))
            site->unnamed = 0;
        site->map |= map_in_memory(look, instruction, effect);
        parts &= !is_texture(effect) && effect->effect.verb != EFFECT_ANYTHING;
    }
    if (site->waits && wait_exit(look, instruction, &behind) != PTX_NONE)
        block = wait_exit(look, instruction, &behind);
    if (any && parts && !gather_parts(look, instruction, block, effects, count, site, arena))
        site->part_count = 0;
    if (any && parts && !site->strong)
        gather_data(look, instruction, block, effects, count, site);
    site->strong &= site->part_count <= 1; /* the address is all that there is */
    site->shared = shared;
    site->each = site->strong;
    site->fetches = site->strong && can_fetch(look, instruction);
    site->large = site->strong && element_bytes(look, instruction) > 4;
    if (site->strong)
        find_poll(look, instruction, site);
    return any;
}

/* ---- The module -------------------------------------------------------------------------------------------- */

typedef struct Finding {
    Sites *sites;
    Looks *looks;
    Calls calls;
    uint32_t *firsts; /* of each function: its first site */
    uint32_t capacity;
    const InstrumentOptions *options;
    bool orders; /* something acquires, releases, is a fence, or waits for what strong accesses leave */
} Finding;

/* Whether what strong accesses find may order others, by this instruction. */
static bool can_order(const Look *look, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count =
        look_acts(look, instruction) ? ptx_effects_of(look->module, look_statement(look, instruction), effects) : 0;
    bool strong = false;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (effect->verb == EFFECT_FENCE_ORDER || effect->verb == EFFECT_ANYTHING || effect->order > ORDER_RELAXED)
            return true;
        strong |= effect_is_access(effect) && is_strong(&effects[i]);
    }
    return strong && look_waits(look, instruction);
}

/* Where nothing can be ordered by them, strong accesses to shared memory are recorded as others are: neither when they
 * were made nor what they found is asked for. Those to global memory may be seen by other kernels. */
static void record_as_others(Site *site) {
    site->strong = site->each = site->fetches = site->large = false;
    site->poll = (SitePoll){0};
}

/* A wait in vain that nothing repeats: that it was made is all there is to record, and it has no success that would be
 * recorded later. */
static bool is_made_once(const Look *look, uint32_t instruction, const Site *site) {
    return site->waits && look->flow.blocks[look->flow.block_of[instruction]].loop == PTX_NONE;
}

static Site test_of(const Look *look, uint32_t instruction, const Site *wait, Arena *arena) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    Site test = {.number = wait->number, .function = wait->function, .statement = wait->statement, .tests = true};
    unsigned count = ptx_effects_of(look->module, look_statement(look, instruction), effects);
    if (!gather_parts(look, instruction, look->flow.block_of[instruction], effects, count, &test, arena))
        test.part_count = 0;
    return test;
}

static bool find_in(Finding *finding, Look *look, const char **problem) {
    Sites *sites = finding->sites;
    for (uint32_t i = 0; i < look->flow.instruction_count; i++) {
        Site site = {.number = sites->count, .function = look->function, .statement = look->flow.instructions[i]};
        if (!look->flow.blocks[look->flow.block_of[i]].reached)
            continue;
        finding->orders = finding->orders || can_order(look, i);
        if (!site_of(look, i, finding->options, &site, &sites->arena))
            continue;
        if (is_made_once(look, i, &site)) {
            *ARENA_PUSH(&sites->arena, sites->items, sites->count, finding->capacity) =
                test_of(look, i, &site, &sites->arena);
            site.number = sites->count;
        }
        if (sites->count >= RECORD_SITES) {
            *problem = "there are more than a million instructions to record";
            return false;
        }
        *ARENA_PUSH(&sites->arena, sites->items, sites->count, finding->capacity) = site;
    }
    return true;
}

static bool find_in_function(Finding *finding, uint32_t function, const char **problem) {
    finding->firsts[function] = finding->sites->count;
    Look *look = look_take(finding->looks, function, &finding->calls, problem);
    bool good = look && find_in(finding, look, problem);
    if (look)
        look_give(finding->looks, look);
    return good;
}

/* How the sites of a function are recorded: which are told of together, and the chunk that it needs. */
static bool plan_sites(Finding *finding, uint32_t function, const char **problem) {
    Plan plan;
    Arena scratch;
    Sites *sites = finding->sites;
    uint32_t first = finding->firsts[function], end = first;
    while (end < sites->found && sites->items[end].function == function)
        end++;
    if (end == first)
        return true;
    Look *look = look_take(finding->looks, function, &finding->calls, problem);
    if (!look)
        return false;
    arena_init(&scratch, SIZE_MAX);
    plan_function(&plan, look, sites, first, end - first, &scratch);
    for (uint32_t i = 0; i < plan.tell_count; i++)
        *ARENA_PUSH(&sites->arena, sites->items, sites->count, finding->capacity) = *plan.tells[i];
    sites->slots = plan.slots > sites->slots ? plan.slots : sites->slots;
    sites->led_apart |= !plan.together;
    if (plan.chunk > sites->chunk)
        sites->chunk = plan.chunk;
    arena_free(&scratch);
    look_give(finding->looks, look);
    return true;
}

static bool each_function(Finding *finding, const char **problem, bool (*what)(Finding *, uint32_t, const char **)) {
    const PtxModule *module = finding->looks->module;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].body && !what(finding, i, problem))
            return false;
    return true;
}

bool find_sites(Sites *sites, Looks *looks, const InstrumentOptions *options, const char **problem) {
    PtxModule *module = looks->module;
    Finding finding = {.sites = sites, .looks = looks, .options = options};
    *sites = (Sites){.chunk = 4 * RECORD_UNIT};
    arena_init(&sites->arena, SIZE_MAX);
    finding.firsts = ARENA_ARRAY(&sites->arena, uint32_t, module->functions_count + 1);
    calls_find(&finding.calls, module, sites, &sites->arena);
    bool good = each_function(&finding, problem, find_in_function);
    for (uint32_t i = 0; i < sites->count && !finding.orders; i++)
        if (sites->items[i].strong && sites->items[i].shared)
            record_as_others(&sites->items[i]);
    calls_find(&finding.calls, module, sites, &sites->arena);
    sites->found = sites->count;
    if (good && each_function(&finding, problem, plan_sites))
        return true;
    instrument_sites_free(sites);
    return false;
}

bool instrument_sites(Sites *sites, PtxModule *module, const InstrumentOptions *options, const char **problem) {
    Looks looks;
    looks_open(&looks, module);
    bool good = find_sites(sites, &looks, options, problem);
    looks_close(&looks);
    return good;
}

void instrument_sites_free(Sites *sites) {
    arena_free(&sites->arena);
    *sites = (Sites){0};
}
