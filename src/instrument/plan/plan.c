/* How the sites of a function are recorded: who leads, where the record is written, and where it is looked whether
 * there is room.
 *
 * Lanes that all come to a site have one place for it: so many units behind the pointer. It is looked once whether
 * there is room for all of them on any way from there: at the heads of loops, and where ways get too long. */
#include "base/order.h"
#include "instrument/internal.h"

#include <stdlib.h>

enum {
    MOST_UNITS = 96,      /* of a check, in functions with loops or with records whose size depends on the run */
    CHUNK_LARGE = 4096,   /* bytes of a chunk in such functions */
    CHUNK_APART = 1024,   /* ... where each lane may have one */
    STRAIGHT_UNITS = 254, /* of a check elsewhere: a whole chunk */
    UNITS_KEPT = 2,       /* for the chunk's head, and for what says where it goes on */
};

/* ---- Waits ------------------------------------------------------------------------------------------------- */

/* Whether a block is a jump, alone, and to where. */
static bool is_jump_to(const PtxFlow *flow, uint32_t block, uint32_t target) {
    const FlowBlock *at = &flow->blocks[block];
    return at->ends == FLOW_JUMP && at->end - at->begin == 1 && at->predecessor_count == 1 &&
           flow->edges[at->successors] == target;
}

static uint32_t label_of(const FunctionAnalysis *analysis, uint32_t instruction) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    for (uint32_t i = 0; i < statement->count; i++)
        if (analysis->module->operands[statement->first + i].kind == PTX_TARGET)
            return analysis->module->operands[statement->first + i].a;
    return PTX_NONE;
}

/* Whether the registers of an instruction, but for those that it writes, come from before a block. */
static bool from_before(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t block) {
    const PtxStatement *statement = look_statement(analysis, instruction);
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t value = flow_value(&analysis->flow, i);
        const FlowValue *of = value == PTX_NONE ? NULL : &analysis->flow.values[value];
        if (of && of->block == block && of->operand != i)
            return false;
    }
    return true;
}

uint32_t wait_exit(const FunctionAnalysis *analysis, uint32_t instruction, uint32_t *behind) {
    const PtxFlow *flow = &analysis->flow;
    uint32_t block = flow->block_of[instruction];
    const FlowBlock *at = &flow->blocks[block];
    const PtxStatement *wait = look_statement(analysis, instruction), *branch = look_statement(analysis, at->end - 1);
    if (at->ends != FLOW_BRANCH || at->successor_count != 2 || wait->flags & PTX_GUARDED ||
        !from_before(analysis, instruction, block))
        return PTX_NONE;
    /* The guard of the branch is what the wait gave. */
    uint32_t given = flow_value(flow, branch->first);
    if (given == PTX_NONE || flow->values[given].kind != VALUE_RESULT || flow->values[given].instruction != instruction)
        return PTX_NONE;
    uint32_t taken = flow->edges[at->successors], next = flow->edges[at->successors + 1];
    bool again = branch->flags & PTX_NEGATED, simple = again ? taken == block : is_jump_to(flow, next, block);
    uint32_t leaves = again ? next : taken;
    if (!simple || leaves <= block || flow->blocks[leaves].predecessor_count != 1 || !look_together(analysis, leaves))
        return PTX_NONE;
    *behind = again ? flow->instructions[at->end - 1] : label_of(analysis, at->end - 1);
    return leaves;
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static uint32_t static_units(const Site *site) {
    return (site->part_count ? site->part_count : 1) + (site->map ? 1 + 128 / RECORD_UNIT : 0);
}

uint32_t step_most_units(const InstrumentStep *step) {
    const Site *site = step->site;
    uint32_t list = 1 + RECORD_LANES * 8 / RECORD_UNIT, units = 0;
    if (step->how == STEP_EACH)
        return RECORD_LANES * (1 + lane_units(site));
    for (uint32_t i = 0; i < site->part_count; i++)
        units +=
            part_is_one(&site->parts[i]) && (step->how != STEP_APART || site->parts[i].shape != PART_TABLE) ? 1 : list;
    return (step->how == STEP_APART ? 2 : 0) + static_units(site) + units;
}

/* The predicate that says whether a wait is over. */
static uint32_t given_by(const FunctionAnalysis *analysis, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = look_statement(analysis, instruction);
    unsigned count = ptx_effects_of(analysis->module, statement, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.verb == EFFECT_WAIT)
            return (uint32_t)(ptx_effect_operand(analysis->module, statement, effects[i].gives) -
                              analysis->module->operands);
    return PTX_NONE;
}

static InstrumentStep step_of(const FunctionAnalysis *analysis, Site *site, uint32_t instruction) {
    InstrumentStep step = {
        .site = site, .instruction = instruction, .block = analysis->flow.block_of[instruction], .at = site->statement};
    uint32_t behind, leaves = site->waits ? wait_exit(analysis, instruction, &behind) : PTX_NONE;
    step.behind = site->waits;
    if (leaves != PTX_NONE) {
        step.block = leaves;
        step.at = behind;
        step.settled = true;
    }
    bool together = look_together(analysis, step.block);
    step.how = site->each ? STEP_EACH : together ? STEP_STATIC : STEP_APART;
    step.units = step.how == STEP_STATIC ? static_units(site) : 0;
    step.given = site->waits ? given_by(analysis, instruction) : PTX_NONE;
    step.alone = site->each && made_alone(analysis, instruction);
    return step;
}

/* ---- Exits ------------------------------------------------------------------------------------------------- */

/* Whether a block does nothing but to end a thread, and lanes come to it by branches that others do not take: then it
 * is recorded before the branches. Lanes that are over are over at once then, and not after some code for which others,
 * who go on to a barrier, would be without them. */
static bool ends_at_branches(const FunctionAnalysis *analysis, uint32_t block) {
    const PtxFlow *flow = &analysis->flow;
    const FlowBlock *at = &flow->blocks[block];
    bool any = false;
    if (at->end - at->begin != 1 || look_statement(analysis, at->begin)->flags & PTX_GUARDED)
        return false;
    for (uint32_t i = 0; i < at->predecessor_count; i++) {
        const FlowBlock *from = &flow->blocks[flow->edges[at->predecessors + i]];
        if (from->ends > FLOW_BRANCH || from->begin == from->end || from->successor_count > 2)
            return false;
        any |= from->ends == FLOW_BRANCH && from->successor_count == 2;
    }
    return any;
}

/* The step of an exit at the end of a block that leads to it; by its n-th way out. */
static InstrumentStep exit_step(const FunctionAnalysis *analysis, Site *site, uint32_t instruction, uint32_t from,
                                uint32_t way) {
    const FlowBlock *block = &analysis->flow.blocks[from];
    InstrumentStep step = {.site = site, .instruction = instruction, .block = from, .given = PTX_NONE, .exits = true};
    step.at = analysis->flow.instructions[block->end - 1];
    step.behind = block->ends == FLOW_NEXT;
    step.branch = block->ends == FLOW_BRANCH;
    step.other_way = way == 1;
    step.how = look_together(analysis, from) ? STEP_STATIC : STEP_APART;
    step.units = 1;
    return step;
}

static void add_exits(InstrumentPlan *plan, Site *site, uint32_t instruction) {
    const PtxFlow *flow = &plan->analysis->flow;
    uint32_t block = flow->block_of[instruction];
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t k = 0; flow->blocks[b].reached && k < flow->blocks[b].successor_count; k++)
            if (flow->edges[flow->blocks[b].successors + k] == block)
                *ARENA_PUSH(plan->arena, plan->steps, plan->count, plan->capacity) =
                    exit_step(plan->analysis, site, instruction, b, k);
}

/* ---- All ---------------------------------------------------------------------------------------------------- */

/* In the order of the blocks, and in a block of the text. */
ORDER(in_order, InstrumentStep, BY(block) BY(at) BY(behind) BY(other_way))

/* Whether it is the address of something in the parameters: a tensor map. */
static bool in_parameters(const FunctionAnalysis *analysis, uint32_t statement, const SitePart *part) {
    PtxOrigin origin = {0};
    uint32_t address = part->operand - 1;
    if (address < analysis->module->statements[statement].first ||
        analysis->module->operands[address].kind != PTX_ADDRESS)
        return false;
    ptx_address_form(&analysis->values, statement, address, &origin);
    return origin.space == PTX_SPACE_PARAM;
}

/* Blocks in which waits are recorded that are over before: an exit comes behind these. */
static bool *find_settled(const InstrumentPlan *plan, const Site *sites, uint32_t count) {
    const FunctionAnalysis *analysis = plan->analysis;
    bool *settled = ARENA_ARRAY(plan->arena, bool, analysis->flow.block_count + 1);
    for (uint32_t i = 0, instruction = 0; i < count; i++) {
        while (analysis->flow.instructions[instruction] != sites[i].statement)
            instruction++;
        uint32_t behind, leaves = sites[i].waits ? wait_exit(analysis, instruction, &behind) : PTX_NONE;
        if (leaves != PTX_NONE)
            settled[leaves] = true;
    }
    return settled;
}

static void make_steps(InstrumentPlan *plan, Site *sites, uint32_t count) {
    const FunctionAnalysis *analysis = plan->analysis;
    uint32_t instruction = 0;
    bool *settled = find_settled(plan, sites, count);
    plan->called = !analysis->module->functions[analysis->function].entry;
    plan->calls = analysis->calls && calls_any(analysis->calls, analysis->function);
    plan->windows = plan->calls; /* what is called may have such addresses */
    plan->together = (analysis->shaped || analysis->rows) && !plan->called && !plan->calls;
    for (uint32_t i = 0; i < count; i++) {
        while (analysis->flow.instructions[instruction] != sites[i].statement)
            instruction++;
        uint32_t block = analysis->flow.block_of[instruction];
        if (sites[i].ends && !settled[block] && ends_at_branches(analysis, block))
            add_exits(plan, &sites[i], instruction);
        else
            *ARENA_PUSH(plan->arena, plan->steps, plan->count, plan->capacity) =
                step_of(analysis, &sites[i], instruction);
        for (uint32_t k = 0; k < sites[i].part_count; k++) {
            const SitePart *part = &sites[i].parts[k];
            plan->dynamic |= !part->proven || (part->shape == PART_CORNERS && sites[i].map);
            plan->corners |= part->shape == PART_CORNERS;
            plan->every |= part->shape == PART_EVERY;
            if (part->data)
                continue;
            bool parameter = in_parameters(analysis, sites[i].statement, part);
            plan->parameters |= parameter;
            plan->windows |= part->generic && !parameter;
            plan->wraps |= part->proven && ptx_operand_form(&analysis->values, part->operand).assumes & FORM_NO_WRAP;
        }
    }
    if (plan->count)
        qsort(plan->steps, plan->count, sizeof *plan->steps, in_order);
    for (uint32_t i = 0; i < plan->count; i++) {
        const InstrumentStep *step = &plan->steps[i];
        plan->together &= look_together(analysis, step->block);
        plan->dynamic |= step->how != STEP_STATIC;
        plan->loops |= analysis->flow.blocks[step->block].loop != PTX_NONE;
    }
}

/* ---- Room -------------------------------------------------------------------------------------------------- */

/* The loops in which something is recorded. */
static bool *find_loops(const InstrumentPlan *plan, Arena *arena) {
    const PtxFlow *flow = &plan->analysis->flow;
    bool *records = ARENA_ARRAY(arena, bool, flow->loop_count + 1);
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t loop = flow->blocks[plan->steps[i].block].loop; loop != PTX_NONE && !records[loop];
             loop = flow->loops[loop].outer)
            records[loop] = true;
    return records;
}

/* Blocks that begin another turn of a loop in which something is recorded. */
static bool *find_heads(InstrumentPlan *plan, Arena *arena) {
    const PtxFlow *flow = &plan->analysis->flow;
    bool *heads = ARENA_ARRAY(arena, bool, flow->block_count + 1), *loops = find_loops(plan, arena);
    uint32_t *places = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1);
    for (uint32_t i = 0; i < flow->order_count; i++)
        places[flow->order[i]] = i;
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        const PtxFlowLoop *loop = &flow->loops[i];
        heads[loop->header] |= loops[i];
        for (uint32_t b = 0; loops[i] && loop->irreducible && b < flow->block_count; b++) {
            const FlowBlock *block = &flow->blocks[b];
            for (uint32_t k = 0; block->reached && k < block->predecessor_count; k++)
                heads[b] |= places[flow->edges[block->predecessors + k]] >= places[b];
        }
    }
    for (uint32_t b = 0; b < flow->block_count; b++)
        plan->together &= !heads[b] || look_together(plan->analysis, b);
    return heads;
}

/* Units that a step takes where it stands: lanes that count have one more for the first of several. */
static uint32_t units_of(const InstrumentPlan *plan, const InstrumentStep *step) {
    if (step->how == STEP_EACH && step->alone && plan->together)
        return lane_units(step->site);
    return step->how == STEP_STATIC ? step->units + step->lists + (step->first && !plan->together) : 0;
}

/* Calls of a block that hand on, before a place in it. */
static uint32_t calls_before(const InstrumentPlan *plan, uint32_t block, uint32_t at, bool behind) {
    const PtxFlow *flow = &plan->analysis->flow;
    uint32_t count = 0;
    for (uint32_t i = flow->blocks[block].begin; plan->calls && i < flow->blocks[block].end; i++)
        count += (flow->instructions[i] < at || (flow->instructions[i] == at && behind)) &&
                 call_hands(plan->analysis->calls, flow->instructions[i]);
    return count;
}

/* What is called takes room: behind the n-th call of a block so much has to be there. */
static void need_behind(InstrumentPlan *plan, uint32_t block, uint32_t calls, uint32_t units) {
    const PtxFlow *flow = &plan->analysis->flow;
    for (uint32_t i = flow->blocks[block].begin; i < flow->blocks[block].end; i++)
        if (call_hands(plan->analysis->calls, flow->instructions[i]) && !--calls) {
            plan->call_needs[i] = units;
            plan->most = units > plan->most ? units : plan->most;
            return;
        }
}

/* Whether all lanes look there whether there is room, for what comes behind it, too. */
static bool looks_itself(const InstrumentPlan *plan, const InstrumentStep *step) {
    return plan->together && step->how == STEP_EACH && !step->alone;
}

/* From the end of a block on: what has to be there when it begins, if `behind` it has to be so much. */
static uint32_t need_of(InstrumentPlan *plan, uint32_t block, uint32_t first, uint32_t end, uint32_t behind,
                        uint32_t limit) {
    uint32_t units = behind, last = end, calls = calls_before(plan, block, UINT32_MAX, false);
    for (uint32_t i = end; i-- > first;) {
        InstrumentStep *step = &plan->steps[i];
        if (step->calls != calls) {
            need_behind(plan, block, calls, units);
            units = 0;
            calls = step->calls;
        }
        if (!step->in_run || step->last)
            last = i;
        if (looks_itself(plan, step)) {
            plan->most = units > plan->most ? units : plan->most;
            units = 0;
            continue;
        }
        if (units + units_of(plan, step) > limit && units) {
            plan->steps[last].check = units;
            plan->most = units > plan->most ? units : plan->most;
            units = 0;
        }
        units += units_of(plan, step);
    }
    if (calls) {
        need_behind(plan, block, calls, units);
        units = 0;
    }
    return units;
}

/* What only tells is not counted, and needs no count before it. */
static void mark_first(InstrumentPlan *plan) {
    bool counted = false;
    for (uint32_t i = 0; i < plan->count; i++) {
        const InstrumentStep *before =
            i && plan->steps[i - 1].block == plan->steps[i].block ? &plan->steps[i - 1] : NULL;
        InstrumentStep *step = &plan->steps[i];
        step->calls = calls_before(plan, step->block, step->at, step->behind);
        counted &= before && before->how == STEP_STATIC && before->calls == step->calls;
        step->first = !counted && !step->site->only_emits;
        counted |= step->first;
    }
}

/* Whether a warp that leaves a block may come back to it without a look for room: there is one in blocks that
 * `analysis`.
 */
static bool comes_back(const PtxFlow *flow, uint32_t block, const bool *analysis, Arena *arena) {
    bool *seen = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    uint32_t *open = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1), count = 0;
    for (open[count++] = block; count;) {
        const FlowBlock *at = &flow->blocks[open[--count]];
        for (uint32_t k = 0; k < at->successor_count; k++) {
            uint32_t to = flow->edges[at->successors + k];
            if (to == block)
                return true;
            if (!analysis[to] && !seen[to])
                open[count++] = to;
            seen[to] = true;
        }
    }
    return false;
}

/* A turn that comes to a step that looks, or to the head of a loop in it, finds the room that the last one left: it
 * need not look where it begins. */
static void leave_heads(const InstrumentPlan *plan, bool *heads, const uint32_t *begins, Arena *arena) {
    const PtxFlow *flow = &plan->analysis->flow;
    bool *own = ARENA_ARRAY(arena, bool, flow->block_count + 1),
         *analysis = ARENA_ARRAY(arena, bool, flow->block_count + 1);
    for (uint32_t b = 0; b < flow->block_count; b++) {
        for (uint32_t i = begins[b]; i < begins[b + 1]; i++)
            own[b] |= looks_itself(plan, &plan->steps[i]);
        analysis[b] = own[b] || heads[b];
    }
    for (uint32_t b = 0; b < flow->block_count; b++) {
        analysis[b] = own[b];
        heads[b] = heads[b] && !own[b] && comes_back(flow, b, analysis, arena);
        analysis[b] |= heads[b];
    }
}

/* Units that have to be there when a block begins, if those of others are known. */
static uint32_t block_need(InstrumentPlan *plan, uint32_t b, const bool *heads, const uint32_t *begins,
                           const uint32_t *needs, uint32_t limit) {
    const PtxFlow *flow = &plan->analysis->flow;
    const FlowBlock *block = &flow->blocks[b];
    uint32_t behind = 0;
    for (uint32_t k = 0; k < block->successor_count; k++) {
        uint32_t to = flow->edges[block->successors + k];
        if (!heads[to] && needs[to] > behind)
            behind = needs[to];
    }
    return need_of(plan, b, begins[b], begins[b + 1], behind, limit);
}

/* From the end to the beginning, once more for each loop whose turns are not looked at where they begin. */
static void find_needs(InstrumentPlan *plan, bool *heads, uint32_t limit, Arena *arena) {
    const PtxFlow *flow = &plan->analysis->flow;
    uint32_t *needs = ARENA_ARRAY(arena, uint32_t, flow->block_count + 1);
    uint32_t *begins = ARENA_ARRAY(arena, uint32_t, flow->block_count + 2);
    for (uint32_t i = 0; i < plan->count; i++)
        begins[plan->steps[i].block + 1]++;
    for (uint32_t b = 0; b < flow->block_count; b++)
        begins[b + 1] += begins[b];
    leave_heads(plan, heads, begins, arena);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < plan->count; i++)
            plan->steps[i].check = 0;
        for (uint32_t i = flow->order_count; i-- > 0;) {
            uint32_t b = flow->order[i], before = needs[b];
            needs[b] = block_need(plan, b, heads, begins, needs, limit);
            plan->most = needs[b] > plan->most ? needs[b] : plan->most;
            changed |= needs[b] != before;
        }
    }
    for (uint32_t b = 0; b < flow->block_count; b++)
        plan->needs[b] = heads[b] ? needs[b] : 0;
}

/* The least power of two of bytes that has room for them. */
static uint32_t chunk_for(uint32_t units) {
    uint32_t bytes = 4 * RECORD_UNIT;
    while (bytes / RECORD_UNIT < units + UNITS_KEPT)
        bytes *= 2;
    return bytes;
}

void plan_function(InstrumentPlan *plan, const FunctionAnalysis *analysis, Sites *sites, uint32_t first, uint32_t count,
                   Arena *arena) {
    *plan = (InstrumentPlan){.analysis = analysis, .arena = arena, .keep = &sites->arena, .report_base = sites->count};
    for (uint32_t i = sites->count; i-- > sites->found;)
        if (sites->items[i].function == analysis->function)
            plan->report_base = i; /* it was planned before */
    plan->needs = ARENA_ARRAY(arena, uint32_t, analysis->flow.block_count + 1);
    plan->call_needs = ARENA_ARRAY(arena, uint32_t, analysis->flow.instruction_count + 1);
    make_steps(plan, sites->items + first, count);
    if (!plan->called)
        plan_reported(plan);
    if (plan->count)
        qsort(plan->steps, plan->count, sizeof *plan->steps, in_order);
    bool *heads = find_heads(plan, arena);
    plan->bodies = bodies_fit(plan);
    segments_call(plan);
    plan_flat(plan, MOST_UNITS);
    mark_first(plan);
    plan_runs(plan);
    segments_find(plan, MOST_UNITS);
    plan->dynamic |= plan->calls;
    plan->lone = plan->together && !plan->dynamic && !plan->corners && !plan->every;
    bool open = plan->loops || plan->dynamic;
    find_needs(plan, heads, open ? MOST_UNITS : STRAIGHT_UNITS, arena);
    plan_ahead(plan);
    uint32_t own = 0, all = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t units = step_most_units(&plan->steps[i]), room = plan->steps[i].room;
        own = units > own ? units : own;
        own = room > own ? room : own;
        own = plan->steps[i].grouped && group_most_units() > own ? group_most_units() : own;
        all += units;
    }
    plan->chunk = chunk_for(plan->most + (plan->dynamic ? own : 0));
    /* Without loops, one for all that a warp may have to say is enough. */
    uint32_t usual = !open ? 0 : plan->together ? CHUNK_LARGE : CHUNK_APART;
    if (open && !plan->loops && !plan->calls && all < CHUNK_LARGE / RECORD_UNIT - UNITS_KEPT)
        usual = chunk_for(all);
    if (plan->chunk < usual)
        plan->chunk = usual;
}
