/* Which instructions of a module are sites: by the effects of their rows, and where their addresses come from. */
#include "instrument/internal.h"

#include <stdlib.h>

/* The options by which accesses to a space are recorded; 0: nothing else sees it. */
static uint32_t asked_bits(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_GLOBAL:
        return RECORDING_GLOBAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        return RECORDING_SHARED;
    case PTX_SPACE_TENSOR:
        return RECORDING_TENSOR;
    case PTX_SPACE_UNKNOWN:
        return RECORDING_GLOBAL | RECORDING_SHARED;
    default:
        return 0;
    }
}

PtxSpace look_space(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
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
    const PtxOperand *on = ptx_effect_operand(analysis->module, look_statement(analysis, instruction), effect->on);
    if (on && on->kind == PTX_ADDRESS)
        ptx_address_form(&analysis->values, analysis->flow.instructions[instruction],
                         (uint32_t)(on - analysis->module->operands), &origin);
    return origin.space;
}

/* ---- One instruction --------------------------------------------------------------------------------------- */

static bool is_strong(const PtxEffect *effect) {
    const Effect *of = &effect->effect;
    return of->done == DONE_NOW && of->helper == HELPER_BASE && of->proxy == PROXY_GENERIC && of->order != ORDER_WEAK;
}

/* Of a mask that is written in the instruction, or is a number that the thread's place in the CTA decides: the lanes
 * that it lacks, although they give it, which is undefined. False: it is another one, and may lack any. */
static bool lanes_unnamed(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect,
                          uint32_t *lanes) {
    const PtxOperand *mask = ptx_effect_operand(analysis->module, look_statement(analysis, instruction), effect->on);
    const PtxBlockShape *shape = &analysis->values.shape;
    uint32_t threads = analysis->shaped ? shape->x * shape->y * shape->z : RECORD_LANES, lacked = 0;
    *lanes = 0;
    if (!mask)
        return true;
    Form form = ptx_operand_form(&analysis->values, (uint32_t)(mask - analysis->module->operands));
    if (!form_based_on_constant(&form) || form.assumes)
        return false;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t bit = UINT32_C(1) << i % RECORD_LANES;
        bool has = (form.ones + form_offset(&analysis->values, &form, i)) & bit;
        *lanes |= has ? 0 : bit;
        lacked |= has ? bit : 0;
    }
    return !(*lanes & lacked); /* the same in all warps */
}

/* Whether others may notice what it does, or it them, beside the memory that it touches. Of lanes that hand on nothing
 * but registers, if some of them may never come. */
static bool synchronizes(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
    uint32_t unnamed;
    switch (effect->effect.verb) {
    case EFFECT_WARP_SYNC:
        return !effect->effect.relaxed || look_for_some(analysis, instruction) ||
               !lanes_unnamed(analysis, instruction, effect, &unnamed) || unnamed;
    case EFFECT_ANYTHING:
        return !effect->callee || call_leaves(analysis->calls, analysis->flow.instructions[instruction]);
    case EFFECT_ALLOCATE:
    case EFFECT_FREE:
    case EFFECT_TRIGGER_LAUNCHES: /* which may come before or behind what it has waited for */
        return true;
    default:
        return verb_is(effect->effect.verb, VERB_SYNCS);
    }
}

/* The map that a copy goes through is somewhere in memory, where it may be changed. */
static bool map_in_memory(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxOperand *on = ptx_effect_operand(analysis->module, statement, effect->on);
    PtxOrigin origin = {0};
    if (effect->effect.proxy != PROXY_TENSORMAP || effect->effect.verb != EFFECT_READ || !on || on->kind != PTX_ADDRESS)
        return false;
    ptx_address_form(&analysis->values, analysis->flow.instructions[instruction],
                     (uint32_t)(on - analysis->module->operands), &origin);
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

static bool ends_thread(const FunctionAnalysis *analysis, uint32_t instruction) {
    PtxEvaluator evaluator = look_form(analysis, instruction)->evaluator;
    return analysis->module->functions[analysis->function].entry
               ? evaluator == PTX_EVALUATE_RETURN || evaluator == PTX_EVALUATE_EXIT
               : evaluator == PTX_EVALUATE_EXIT;
}

/* Whether the grid is over with it, which fails: that a thread came there is all that there is to say. */
static bool stops_grid(const FunctionAnalysis *analysis, uint32_t instruction) {
    return look_form(analysis, instruction)->evaluator == PTX_EVALUATE_STOP ||
           (analysis->calls && call_stops(analysis->calls, analysis->flow.instructions[instruction]));
}

static bool is_texture(const PtxEffect *effect) {
    return effect->effect.proxy == PROXY_TEXTURE || effect->effect.proxy == PROXY_SURFACE;
}

/* Whether it is an atomic without a result that there is with one, too: of whole numbers. */
static bool can_fetch(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxForm *form = look_form(analysis, instruction);
    if (!str_starts(form->text, STR("red.")) || !form->row)
        return false;
    Str type = ptx_form_modifier(form->row, form->text, STR("t"));
    return type.size == 3 && (type.data[0] == 'b' || type.data[0] == 'u' || type.data[0] == 's');
}

bool site_of(const FunctionAnalysis *analysis, uint32_t instruction, const InstrumentOptions *options, Site *site,
             Arena *arena) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    uint32_t block = analysis->flow.block_of[instruction], behind;
    bool any = false, parts = true, shared = true;
    if (ends_thread(analysis, instruction)) {
        site->ends = true;
        return true;
    }
    site->stops = options->spaces & RECORDING_STOPS && stops_grid(analysis, instruction);
    if (site->stops)
        return true;
    if (!look_acts(analysis, instruction))
        return false;
    unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects);
    site->aligned = is_aligned(effects, count);
    for (unsigned i = 0; i < count; i++) {
        const PtxEffect *effect = &effects[i];
        any |= synchronizes(analysis, instruction, effect);
        if (effect_is_access(&effect->effect)) {
            PtxSpace space = look_space(analysis, instruction, effect);
            uint32_t bits = asked_bits(space);
            shared &= space == PTX_SPACE_SHARED;
            site->strong |= bits && is_strong(effect);
            any |= (bits & options->spaces) != 0 || site->strong;
        }
        site->waits |= effect->effect.verb == EFFECT_WAIT && effect->gives.size;
        site->meets |= effect->effect.verb == EFFECT_WARP_SYNC;
        site->hands |= effect->effect.verb == EFFECT_WARP_SYNC && effect->effect.relaxed;
        if (site->hands && !lanes_unnamed(analysis, instruction, effect, &site->unnamed))
            site->unnamed = 0;
        site->map |= map_in_memory(analysis, instruction, effect);
        parts &= !is_texture(effect) && effect->effect.verb != EFFECT_ANYTHING;
    }
    if (site->waits && wait_exit(analysis, instruction, &behind) != PTX_NONE)
        block = wait_exit(analysis, instruction, &behind);
    if (any && parts && !gather_parts(analysis, instruction, block, effects, count, site, arena))
        site->part_count = 0;
    if (any && parts && !site->strong)
        gather_data(analysis, instruction, block, effects, count, site);
    site->strong &= site->part_count <= 1; /* the address is all that there is */
    site->shared = shared;
    site->each = site->strong;
    site->fetches = site->strong && can_fetch(analysis, instruction);
    site->large = site->strong && element_bytes(analysis, instruction) > 4;
    if (site->strong)
        find_poll(analysis, instruction, site);
    return any;
}

/* ---- The module -------------------------------------------------------------------------------------------- */

typedef struct SiteFinding {
    Sites *sites;
    FunctionAnalyses *analyses;
    Calls calls;
    uint32_t *firsts; /* of each function: its first site */
    uint32_t capacity;
    const InstrumentOptions *options;
    bool orders; /* something acquires, releases, is a fence, or waits for what strong accesses leave */
} SiteFinding;

/* Whether what strong accesses find may order others, by this instruction. */
static bool can_order(const FunctionAnalysis *analysis, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = look_acts(analysis, instruction)
                         ? ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects)
                         : 0;
    bool strong = false;
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i].effect;
        if (effect->verb == EFFECT_FENCE_ORDER || effect->verb == EFFECT_ANYTHING || effect->order > ORDER_RELAXED)
            return true;
        strong |= effect_is_access(effect) && is_strong(&effects[i]);
    }
    return strong && look_waits(analysis, instruction);
}

/* Where nothing can be ordered by them, strong accesses to shared memory are recorded as others are: neither when they
 * were made nor what they found is asked for. Those to global memory may be seen by other kernels. */
static void record_as_others(Site *site) {
    site->strong = site->each = site->fetches = site->large = false;
    site->poll = (SitePoll){0};
}

/* A wait in vain that nothing repeats: that it was made is all there is to record, and it has no success that would be
 * recorded later. */
static bool is_made_once(const FunctionAnalysis *analysis, uint32_t instruction, const Site *site) {
    return site->waits && analysis->flow.blocks[analysis->flow.block_of[instruction]].loop == PTX_NONE;
}

static Site test_of(const FunctionAnalysis *analysis, uint32_t instruction, const Site *wait, Arena *arena) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    Site test = {.number = wait->number, .function = wait->function, .statement = wait->statement, .tests = true};
    unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, instruction), effects);
    if (!gather_parts(analysis, instruction, analysis->flow.block_of[instruction], effects, count, &test, arena))
        test.part_count = 0;
    return test;
}

static bool find_in(SiteFinding *finding, FunctionAnalysis *analysis, const char **problem) {
    Sites *sites = finding->sites;
    for (uint32_t i = 0; i < analysis->flow.instruction_count; i++) {
        Site site = {
            .number = sites->count, .function = analysis->function, .statement = analysis->flow.instructions[i]};
        if (!analysis->flow.blocks[analysis->flow.block_of[i]].reached)
            continue;
        finding->orders = finding->orders || can_order(analysis, i);
        if (!site_of(analysis, i, finding->options, &site, &sites->arena))
            continue;
        if (is_made_once(analysis, i, &site)) {
            *ARENA_PUSH(&sites->arena, sites->items, sites->count, finding->capacity) =
                test_of(analysis, i, &site, &sites->arena);
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

static bool find_in_function(SiteFinding *finding, uint32_t function, const char **problem) {
    finding->firsts[function] = finding->sites->count;
    FunctionAnalysis *analysis = analysis_take(finding->analyses, function, &finding->calls, problem);
    bool good = analysis && find_in(finding, analysis, problem);
    if (analysis)
        analysis_give(finding->analyses, analysis);
    return good;
}

/* How the sites of a function are recorded: which are told of together, and the chunk that it needs. */
static bool plan_sites(SiteFinding *finding, uint32_t function, const char **problem) {
    InstrumentPlan plan;
    Arena scratch;
    Sites *sites = finding->sites;
    uint32_t first = finding->firsts[function], end = first;
    while (end < sites->found && sites->items[end].function == function)
        end++;
    if (end == first)
        return true;
    FunctionAnalysis *analysis = analysis_take(finding->analyses, function, &finding->calls, problem);
    if (!analysis)
        return false;
    arena_init(&scratch, SIZE_MAX);
    plan_function(&plan, analysis, sites, first, end - first, &scratch);
    for (uint32_t i = 0; i < plan.report_count; i++)
        *ARENA_PUSH(&sites->arena, sites->items, sites->count, finding->capacity) = *plan.reports[i];
    sites->slots = plan.slots > sites->slots ? plan.slots : sites->slots;
    sites->led_apart |= !plan.together;
    if (plan.chunk > sites->chunk)
        sites->chunk = plan.chunk;
    arena_free(&scratch);
    analysis_give(finding->analyses, analysis);
    return true;
}

static bool each_function(SiteFinding *finding, const char **problem,
                          bool (*what)(SiteFinding *, uint32_t, const char **)) {
    const PtxModule *module = finding->analyses->module;
    for (uint32_t i = 0; i < module->functions_count; i++)
        if (module->functions[i].body && !what(finding, i, problem))
            return false;
    return true;
}

bool find_sites(Sites *sites, FunctionAnalyses *analyses, const InstrumentOptions *options, const char **problem) {
    PtxModule *module = analyses->module;
    SiteFinding finding = {.sites = sites, .analyses = analyses, .options = options};
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
    good = good && each_function(&finding, problem, plan_sites);
    for (uint32_t i = 0; i < sites->count && good; i++)
        describe_site(module, &sites->items[i]);
    if (good)
        return true;
    instrument_sites_free(sites);
    return false;
}

bool instrument_sites(Sites *sites, PtxModule *module, const InstrumentOptions *options, const char **problem) {
    FunctionAnalyses analyses;
    analyses_open(&analyses, module);
    bool good = find_sites(sites, &analyses, options, problem);
    analyses_close(&analyses);
    return good;
}

void instrument_sites_free(Sites *sites) {
    arena_free(&sites->arena);
    *sites = (Sites){0};
}
