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
static bool find_divergent(Look *look, const char **problem) {
    PtxValues values;
    bool *divergent = ARENA_ARRAY(&look->arena, bool, look->flow.block_count + 1);
    if (!ptx_values(&values, &look->flow, &(PtxBlockShape){.rows = ROWS_ANY, .unsteady = true},
                    ptx_values_budget(look->module), problem))
        return false;
    memcpy(divergent, values.divergent, look->flow.block_count * sizeof *divergent);
    ptx_values_free(&values);
    look->divergent = divergent;
    return true;
}

/* ---- Lanes that go on without others ---------------------------------------------------------------------- */

/* Whether all lanes of a warp that have not ended wait for each other there, if all come to its block. */
static bool joins_warp(const Look *look, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = look_statement(look, instruction);
    const PtxOperand *mask = ptx_effect_operand(look->module, statement, effect->on);
    uint64_t value = 0;
    if (statement->flags & PTX_GUARDED)
        return false;
    if (effect->effect.verb == EFFECT_NAMED_SYNC)
        return !ptx_effect_operand(look->module, statement, effect->count);
    if (effect->effect.verb != EFFECT_WARP_SYNC || !mask)
        return effect->effect.verb == EFFECT_CTA_BARRIER;
    Form form = ptx_operand_form(&look->values, (uint32_t)(mask - look->module->operands));
    return form_constant(&form, &value) && (uint32_t)value == UINT32_MAX;
}

bool look_for_some(const Look *look, uint32_t instruction) {
    const PtxStatement *statement = look_statement(look, instruction);
    if (!look->module->functions[look->function].entry || look->divergent[look->flow.block_of[instruction]])
        return true;
    if (!(statement->flags & PTX_GUARDED))
        return false;
    Form guard = ptx_operand_form(&look->values, statement->first);
    return !look->shaped || !look_granted(look, &guard) || !form_is_uniform(look->values.tables, &guard);
}

/* Of each block: whether lanes wait in it, by a mask, that a part of a warp comes to; and whether all of the warp meet
 * in it. */
static bool find_meetings(const Look *look, bool *some, bool *all) {
    const PtxFlow *flow = &look->flow;
    PtxEffect effects[PTX_EFFECTS_MOST];
    bool any = false;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        uint32_t block = flow->block_of[i];
        if (!flow->blocks[block].reached || !look_acts(look, i))
            continue;
        unsigned count = ptx_effects_of(look->module, look_statement(look, i), effects);
        bool waits = look->calls && call_meets(look->calls, flow->instructions[i]);
        for (unsigned k = 0; k < count; k++) {
            waits |= effects[k].effect.verb == EFFECT_WARP_SYNC;
            all[block] |= !look->divergent[block] && joins_warp(look, i, &effects[k]);
        }
        some[block] |= waits && look_for_some(look, i);
        any |= some[block];
    }
    return any;
}

/* While lanes wait for others by a mask, those that are not in it, or do not come, go on: also to places that all lanes
 * come to sooner or later. They come there apart, and none may be made to wait for the others, up to where all of them
 * wait for each other anyway. */
static void find_apart(Look *look) {
    const PtxFlow *flow = &look->flow;
    Arena *arena = &look->arena;
    bool *some = ARENA_ARRAY(arena, bool, flow->block_count + 1),
         *all = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    bool *seen = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    bool *apart = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    uint32_t *open = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1), count = 0;
    if (!find_meetings(look, some, all))
        return;
    memcpy(apart, look->divergent, flow->block_count * sizeof *apart);
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
    look->divergent = apart;
}

static void look_close(Look *look) {
    arena_free(&look->arena);
    ptx_flow_values_free(&look->flow, &look->values);
}

static bool look_closed(Look *look) {
    look_close(look);
    return false;
}

static bool look_open(Look *look, PtxModule *module, uint32_t function, const Calls *calls, const char **problem) {
    *look = (Look){.module = module, .calls = calls, .function = function};
    PtxBlockShape lone = {.rows = ROWS_LONE};
    if (!ptx_flow_values(&look->flow, &look->values, module, function, &lone, 0, problem))
        return false;
    arena_init(&look->arena, SIZE_MAX);
    const PtxBlockShape *shape = &look->values.shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    look->shaped = threads > 0 && threads <= FORM_MOST_THREADS;
    look->rows = has_rows(module, function, shape);
    look->divergent = look->values.divergent;
    bool meets = calls && calls->meets[function];
    if ((look->rows || (meets && !look->shaped)) && !find_divergent(look, problem))
        return look_closed(look);
    look->wraps_checked = true;
    for (uint32_t i = 0; i < look->flow.instruction_count; i++)
        look->wraps_checked &= !look->values.assumed[i] || can_check_wrap(look, i) || cannot_wrap_apart(look, i);
    if (meets)
        find_apart(look);
    return true;
}

void looks_open(Looks *looks, PtxModule *module) {
    *looks = (Looks){.module = module};
    arena_init(&looks->arena, SIZE_MAX);
    looks->kept = ARENA_ARRAY(&looks->arena, Look *, module->functions_count + 1);
}

void looks_close(Looks *looks) {
    for (uint32_t i = 0; i < looks->module->functions_count; i++)
        if (looks->kept[i])
            look_close(looks->kept[i]);
    arena_free(&looks->arena);
}

Look *look_take(Looks *looks, uint32_t function, const Calls *calls, const char **problem) {
    const PtxFunction *of = &looks->module->functions[function];
    Look *look = looks->kept[function];
    if (!look) {
        look = ARENA_NEW(&looks->arena, Look);
        if (!look_open(look, looks->module, function, calls, problem))
            return NULL;
        uint32_t statements = of->end - of->begin;
        if (statements <= STATEMENTS_KEPT - looks->statements) {
            looks->kept[function] = look;
            looks->statements += statements;
        }
    }
    look->calls = calls;
    return look;
}

void look_give(Looks *looks, Look *look) {
    if (looks->kept[look->function] != look)
        look_close(look);
}

bool instrument_fits(const PtxModule *module, uint32_t function, const uint32_t block[3]) {
    PtxBlockShape shape = ptx_block_shape(module, function);
    return !has_rows(module, function, &shape) || block[0] % RECORD_LANES == 0 || block[1] * block[2] == 1;
}

bool look_acts(const Look *look, uint32_t instruction) {
    return look_form(look, instruction)->effect_count > 0;
}
