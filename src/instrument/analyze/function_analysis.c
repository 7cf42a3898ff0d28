/* One function of a module, with its flow and its values. */
#include "instrument/internal.h"

/* Of functions whose looks are kept, all together: looks take memory for each. */
enum { STATEMENTS_KEPT = 1 << 15 };

/* Whether a statement names the place of a thread in its CTA in another direction than x. */
static bool reads_rows(const PtxModule *module, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        const PtxStatement *statement = &module->statements[i];
        for (uint32_t k = 0; statement->kind == PTX_INSTRUCTION && k < statement->count; k++) {
            const PtxOperand *operand = &module->operands[statement->first + k];
            if (operand->kind == PTX_SPECIAL && str_is(str_of(ptx_special_at(operand->a)->varies), "thread") &&
                operand->part != PTX_X)
                return true;
        }
    }
    return false;
}

/* Whether a kernel whose shape is not known is taken for one with a single row. */
static bool has_rows(const PtxModule *module, uint32_t function, const PtxBlockShape *shape) {
    const PtxFunction *of = &module->functions[function];
    return of->entry && !shape->x && !reads_rows(module, of->begin, of->end);
}

/* Which lanes come together, whatever the shape is and memory holds. */
static bool find_divergent(FunctionAnalysis *analysis, const char **problem) {
    PtxValues values;
    bool *divergent = ARENA_ARRAY(&analysis->arena, bool, analysis->flow.block_count + 1);
    if (!ptx_values(&values, &analysis->flow, &(PtxBlockShape){.rows = ROWS_ANY, .unsteady = true},
                    ptx_values_budget(analysis->module), problem))
        return false;
    memcpy(divergent, values.divergent, analysis->flow.block_count * sizeof *divergent);
    ptx_values_free(&values);
    analysis->divergent = divergent;
    return true;
}

/* ---- Lanes that go on without others ---------------------------------------------------------------------- */

/* Whether all lanes of a warp that have not ended wait for each other there, if all come to its block. */
static bool joins_warp(const FunctionAnalysis *analysis, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    const PtxOperand *mask = ptx_effect_operand(analysis->module, statement, effect->on);
    uint64_t value = 0;
    if (statement->flags & PTX_GUARDED)
        return false;
    if (effect->effect.verb == EFFECT_NAMED_SYNC)
        return !ptx_effect_operand(analysis->module, statement, effect->count);
    if (effect->effect.verb != EFFECT_WARP_SYNC || !mask)
        return effect->effect.verb == EFFECT_CTA_BARRIER;
    Form form = ptx_operand_form(&analysis->values, (uint32_t)(mask - analysis->module->operands));
    return form_constant(&form, &value) && (uint32_t)value == UINT32_MAX;
}

bool look_for_some(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    if (!analysis->module->functions[analysis->function].entry ||
        analysis->divergent[analysis->flow.block_of[instruction]])
        return true;
    if (!(statement->flags & PTX_GUARDED))
        return false;
    Form guard = ptx_operand_form(&analysis->values, statement->first);
    return !analysis->shaped || !look_granted(analysis, &guard) || !form_is_uniform(analysis->values.tables, &guard);
}

/* Of each block: whether lanes wait in it, by a mask, that a part of a warp comes to; and whether all of the warp meet
 * in it. */
static bool find_meetings(const FunctionAnalysis *analysis, bool *some, bool *all) {
    const PtxFlow *flow = &analysis->flow;
    PtxEffect effects[PTX_EFFECTS_MOST];
    bool any = false;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        uint32_t block = flow->block_of[i];
        if (!flow->blocks[block].reached || !look_acts(analysis, i))
            continue;
        unsigned count = ptx_effects_of(analysis->module, look_statement(analysis, i), effects);
        bool waits = analysis->calls && call_meets(analysis->calls, flow->instructions[i]);
        for (unsigned k = 0; k < count; k++) {
            waits |= effects[k].effect.verb == EFFECT_WARP_SYNC;
            all[block] |= !analysis->divergent[block] && joins_warp(analysis, i, &effects[k]);
        }
        some[block] |= waits && look_for_some(analysis, i);
        any |= some[block];
    }
    return any;
}

/* While lanes wait for others by a mask, those that are not in it, or do not come, go on: also to places that all lanes
 * come to sooner or later. They come there apart, and none may be made to wait for the others, up to where all of them
 * wait for each other anyway. */
static void find_apart(FunctionAnalysis *analysis) {
    const PtxFlow *flow = &analysis->flow;
    Arena *arena = &analysis->arena;
    bool *some = ARENA_ARRAY(arena, bool, flow->block_count + 1),
         *all = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    bool *seen = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    bool *apart = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    uint32_t *open = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1), count = 0;
    if (!find_meetings(analysis, some, all))
        return;
    memcpy(apart, analysis->divergent, flow->block_count * sizeof *apart);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        apart[b] |= some[b];
        seen[b] = some[b];
        if (some[b])
            open[count++] = b;
    }
    while (count) {
        const FlowBlock *block = &flow->blocks[open[--count]];
        for (uint32_t k = 0; k < block->successor_count; k++) {
            uint32_t to = flow->edges[block->successors + k];
            apart[to] = true;
            if (!seen[to] && !all[to])
                open[count++] = to;
            seen[to] = true;
        }
    }
    analysis->divergent = apart;
}

static void look_close(FunctionAnalysis *analysis) {
    arena_free(&analysis->arena);
    ptx_flow_values_free(&analysis->flow, &analysis->values);
}

static bool look_closed(FunctionAnalysis *analysis) {
    look_close(analysis);
    return false;
}

static bool look_open(FunctionAnalysis *analysis, PtxModule *module, uint32_t function, const Calls *calls,
                      const char **problem) {
    *analysis = (FunctionAnalysis){.module = module, .calls = calls, .function = function};
    PtxBlockShape lone = {.rows = ROWS_LONE};
    if (!ptx_flow_values(&analysis->flow, &analysis->values, module, function, &lone, 0, problem))
        return false;
    arena_init(&analysis->arena, SIZE_MAX);
    const PtxBlockShape *shape = &analysis->values.shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    analysis->shaped = threads > 0 && threads <= FORM_MOST_THREADS;
    analysis->rows = has_rows(module, function, shape);
    analysis->divergent = analysis->values.divergent;
    bool meets = calls && calls->meets[function];
    if ((analysis->rows || (meets && !analysis->shaped)) && !find_divergent(analysis, problem))
        return look_closed(analysis);
    analysis->wraps_checked = true;
    for (uint32_t i = 0; i < analysis->flow.instruction_count; i++)
        analysis->wraps_checked &=
            !analysis->values.assumed[i] || can_check_wrap(analysis, i) || cannot_wrap_apart(analysis, i);
    if (meets)
        find_apart(analysis);
    return true;
}

void analyses_open(FunctionAnalyses *analyses, PtxModule *module) {
    *analyses = (FunctionAnalyses){.module = module};
    arena_init(&analyses->arena, SIZE_MAX);
    analyses->kept = ARENA_ARRAY(&analyses->arena, FunctionAnalysis *, module->functions_count + 1);
}

void analyses_close(FunctionAnalyses *analyses) {
    for (uint32_t i = 0; i < analyses->module->functions_count; i++)
        if (analyses->kept[i])
            look_close(analyses->kept[i]);
    arena_free(&analyses->arena);
}

FunctionAnalysis *analysis_take(FunctionAnalyses *analyses, uint32_t function, const Calls *calls,
                                const char **problem) {
    const PtxFunction *of = &analyses->module->functions[function];
    FunctionAnalysis *analysis = analyses->kept[function];
    if (!analysis) {
        analysis = ARENA_NEW(&analyses->arena, FunctionAnalysis);
        if (!look_open(analysis, analyses->module, function, calls, problem))
            return NULL;
        uint32_t statements = of->end - of->begin;
        if (statements <= STATEMENTS_KEPT - analyses->statements) {
            analyses->kept[function] = analysis;
            analyses->statements += statements;
        }
    }
    analysis->calls = calls;
    return analysis;
}

void analysis_give(FunctionAnalyses *analyses, FunctionAnalysis *analysis) {
    if (analyses->kept[analysis->function] != analysis)
        look_close(analysis);
}

bool instrument_fits(const PtxModule *module, uint32_t function, const uint32_t block[3]) {
    PtxBlockShape shape = ptx_block_shape(module, function);
    return !has_rows(module, function, &shape) || block[0] % RECORD_LANES == 0 || block[1] * block[2] == 1;
}

bool look_acts(const FunctionAnalysis *analysis, uint32_t instruction) {
    return look_form(analysis, instruction)->effect_count > 0;
}
