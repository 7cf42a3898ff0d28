/* What the kernel is made of: whether its instructions are understood, whether all threads of a CTA come to the same
 * barriers, and whether its loops end whatever is in memory. What is not so is open. */
#include "check/intervals/internal.h"

/* ---- Instructions ---------------------------------------------------------------------------------- */

static bool is_constant(Intervals *k, const PtxOperand *operand, int64_t *value) {
    if (operand && operand->kind == PTX_REGISTER) {
        Form form = ptx_operand_form(&k->values, (uint32_t)(operand - k->module->operands));
        uint64_t constant;
        if (form.assumes || !form_constant(&form, &constant))
            return false;
        *value = (int64_t)constant;
        return true;
    }
    *value = operand ? operand->value : 0;
    return operand && operand->kind == PTX_INTEGER;
}

/* The CTA's barrier 0, of all its threads. */
static bool is_whole_barrier(Intervals *k, const PtxStatement *statement, const PtxEffect *effect) {
    int64_t id;
    return is_constant(k, ptx_effect_operand(k->module, statement, effect->on), &id) && id == 0 &&
           !ptx_effect_operand(k->module, statement, effect->count) && !(statement->flags & PTX_GUARDED);
}

static bool is_ordinary(const PtxEffect *effect) {
    return effect->effect.proxy == PROXY_GENERIC && effect->effect.done == DONE_NOW &&
           effect->effect.helper == HELPER_BASE && !effect->effect.on_descriptor && !effect->matrix && !effect->lanes &&
           !effect->any_cta && !effect->replicas && !effect->limit.size && !effect->ctas.size;
}

/* Bytes of a type and its vector. */
static int64_t bytes_of_form(const PtxForm *form) {
    Str vector = ptx_form_modifier(form->row, form->text, STR("vec"));
    int64_t count = 1;
    if (vector.size > 1 && !str_to_int((Str){vector.data + 1, vector.size - 1}, &count))
        return 0;
    return ptx_type_bits(ptx_form_modifier(form->row, form->text, STR("t"))) / 8 * count;
}

static void look_at_access(Intervals *k, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = statement_at(k, instruction);
    const PtxForm *form = &k->module->forms[statement->what];
    uint32_t at = k->flow.instructions[instruction];
    PtxSpace space = ptx_space_of_form(form->text, 0);
    const PtxOperand *address = NULL;
    for (unsigned i = 0; i < 4 && (!address || address->kind != PTX_ADDRESS); i++)
        address = ptx_operand_at(k->module, statement, i);
    if (space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM)
        return;
    if (space == PTX_SPACE_CONST && effect->effect.verb == EFFECT_READ)
        return;
    if (space == PTX_SPACE_UNKNOWN && address && address->kind == PTX_ADDRESS) {
        PtxOrigin origin;
        ptx_address_form(&k->values, at, (uint32_t)(address - k->module->operands), &origin);
        if (origin.space == PTX_SPACE_LOCAL || (origin.space == PTX_SPACE_CONST && effect->effect.verb == EFFECT_READ))
            return;
    }
    int64_t bytes = bytes_of_form(form);
    if (!is_ordinary(effect) || !address || address->kind != PTX_ADDRESS || !bytes) {
        leave_open(k, at, "instruction", "it is not understood what %.*s accesses", STR_ARG(form->text));
        return;
    }
    bool atomic = effect->effect.verb == EFFECT_UPDATE;
    bool wide = effect->effect.scope == SCOPE_GPU || effect->effect.scope == SCOPE_SYS || space == PTX_SPACE_SHARED;
    *ARENA_PUSH(k->arena, k->accesses, k->access_count, k->access_capacity) =
        (ThreadAccess){.statement = at,
                       .instruction = instruction,
                       .block = k->flow.block_of[instruction],
                       .verb = effect->effect.verb,
                       .writes = effect->effect.verb != EFFECT_READ,
                       .read_only = effect->read_only,
                       .atomic = atomic && wide && !ptx_form_modifier(form->row, form->text, STR("vec")).size,
                       .space = space,
                       .bytes = bytes,
                       .address = address};
}

static bool is_barrier(const Intervals *k, uint32_t instruction) {
    for (uint32_t i = 0; i < k->barrier_count; i++)
        if (k->barriers[i] == instruction)
            return true;
    return false;
}

/* An instruction of a whole warp: all of its lanes have to come to it. */
static void look_at_convergence(Intervals *k, uint32_t instruction) {
    const PtxStatement *statement = statement_at(k, instruction);
    uint32_t at = k->flow.instructions[instruction], block = k->flow.block_of[instruction];
    if (!(statement->flags & PTX_GUARDED) && k->diverged[block] && k->whole_steady && !k->whole.divergent[block]) {
        Condition warps = {.kind = CONDITION_MULTIPLE,
                           .a = quantity_atom(quantities_in(k), &(QuantityAtom){.kind = ATOM_THREADS}),
                           .b = quantity_constant(quantities_in(k), 32)};
        if (!k->fixed[0])
            require(k, &warps, at);
        if (k->fixed[0] % 32 == 0)
            return;
    }
    if (statement->flags & PTX_GUARDED || k->diverged[block])
        leave_open(k, at, "warp", "some lanes of a warp may not come to where it waits for all of them");
}

/* The same by a mask, which has to have all lanes. */
static void look_at_warp(Intervals *k, uint32_t instruction, const PtxEffect *effect) {
    int64_t mask;
    if (!is_constant(k, ptx_effect_operand(k->module, statement_at(k, instruction), effect->on), &mask) ||
        (uint32_t)mask != UINT32_MAX)
        leave_open(k, k->flow.instructions[instruction], "warp",
                   "the warp's lanes wait for each other by a mask that is not all of them");
    else
        look_at_convergence(k, instruction);
}

static bool look_at_effect(Intervals *k, uint32_t instruction, const PtxEffect *effect) {
    const PtxStatement *statement = statement_at(k, instruction);
    switch (effect->effect.verb) {
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        look_at_access(k, instruction, effect);
        return true;
    case EFFECT_NAMED_SYNC:
        return is_whole_barrier(k, statement, effect);
    case EFFECT_WARP_SYNC:
        look_at_warp(k, instruction, effect);
        return true;
    case EFFECT_CONVERGED:
        if (!is_barrier(k, instruction)) /* of these all threads of a CTA have to come */
            look_at_convergence(k, instruction);
        return effect->together == PTX_WARP;
    case EFFECT_FENCE_ORDER:
        return true;
    default:
        return false;
    }
}

static void look_at_instruction(Intervals *k, uint32_t instruction) {
    const PtxStatement *statement = statement_at(k, instruction);
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (statement->kind != PTX_INSTRUCTION)
        return;
    const PtxForm *form = &k->module->forms[statement->what];
    unsigned count = ptx_effects_of(k->module, statement, effects);
    bool known = form->row && form->evaluator != PTX_EVALUATE_CALL && form->evaluator != PTX_EVALUATE_STOP;
    for (unsigned i = 0; i < count && known; i++)
        known = look_at_effect(k, instruction, &effects[i]);
    if (!known)
        leave_open(k, k->flow.instructions[instruction], "instruction", "%.*s is not understood", STR_ARG(form->text));
}

/* Pointers among the parameters: those of which addresses of global memory are made. */
static void mark_pointers(Intervals *k) {
    for (uint32_t i = 0; i < k->flow.instruction_count; i++) {
        const PtxStatement *statement = statement_at(k, i);
        if (statement->kind != PTX_INSTRUCTION || !k->flow.blocks[k->flow.block_of[i]].reached ||
            k->module->forms[statement->what].evaluator != PTX_EVALUATE_CVTA_TO)
            continue;
        Quantity number = number_of_operand(k, context_at(k, first_stage(k), k->flow.block_of[i]),
                                            ptx_operand_at(k->module, statement, 1), 64);
        const Polynomial *of = number == QUANTITY_NONE ? NULL : &quantities_in(k)->all[number];
        for (uint32_t n = 0; of && n < of->count; n++) {
            const Monomial *term = &of->terms[n];
            const QuantityAtom *atom = term->count == 1 ? &quantities_in(k)->atoms[term->atoms[0]] : NULL;
            bool parameter = atom && (atom->kind == ATOM_ARGUMENT ||
                                      (atom->kind == ATOM_DATA && k->notes[term->atoms[0]].parameter));
            if (parameter && term->factor == 1 && of->count == 1)
                k->pointer[term->atoms[0]] = true;
        }
    }
}

/* ---- Barriers -------------------------------------------------------------------------------------- */

static void find_barriers(Intervals *k) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    k->barriers = ARENA_ARRAY(k->arena, uint32_t, k->flow.instruction_count + 1);
    k->syncs = ARENA_ARRAY(k->arena, bool, k->flow.loop_count + 1);
    for (uint32_t i = 0; i < k->flow.instruction_count; i++) {
        uint32_t block = k->flow.block_of[i];
        unsigned count = k->flow.blocks[block].reached ? ptx_effects_of(k->module, statement_at(k, i), effects) : 0;
        for (unsigned n = 0; n < count; n++) {
            if (effects[n].effect.verb != EFFECT_NAMED_SYNC)
                continue;
            k->barriers[k->barrier_count++] = i;
            for (uint32_t loop = k->flow.blocks[block].loop; loop != PTX_NONE; loop = k->flow.loops[loop].outer)
                k->syncs[loop] = true;
            break;
        }
    }
}

static bool has_barrier(const Intervals *k, uint32_t block) {
    for (uint32_t i = 0; i < k->barrier_count; i++)
        if (k->flow.block_of[k->barriers[i]] == block)
            return true;
    return false;
}

static uint32_t barrier_of(const Intervals *k, uint32_t block) {
    for (uint32_t i = 0; i < k->barrier_count; i++)
        if (k->flow.block_of[k->barriers[i]] == block)
            return k->flow.instructions[k->barriers[i]];
    return PTX_NONE;
}

/* Marks the blocks between the end of a block and where its ways meet again, those reached along `from`'s edges. */
static void mark_between(const Intervals *k, uint32_t from, uint32_t meets, bool *marked) {
    const PtxFlow *flow = &k->flow;
    uint32_t *open = ARENA_ARRAY(k->arena, uint32_t, flow->block_count + 1), count = 0;
    open[count++] = from;
    bool *seen = ARENA_ARRAY(k->arena, bool, flow->block_count + 1);
    while (count) {
        const FlowBlock *block = &flow->blocks[open[--count]];
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t to = flow->edges[block->successors + i];
            if (to == meets || seen[to])
                continue;
            seen[to] = marked[to] = true;
            open[count++] = to;
        }
    }
}

/* Where threads of a CTA may have diverged; a barrier there is open. */
static void look_at_partings(Intervals *k) {
    const PtxFlow *flow = &k->flow;
    k->diverged = ARENA_ARRAY(k->arena, bool, flow->block_count + 1);
    for (uint32_t i = 0; i < flow->order_count; i++) {
        uint32_t block = flow->order[i];
        if (goes_one_way(k, block))
            continue;
        bool *marked = ARENA_ARRAY(k->arena, bool, flow->block_count + 1);
        mark_between(k, block, flow->blocks[block].meets, marked);
        for (uint32_t n = 0; n < flow->block_count; n++) {
            k->diverged[n] |= marked[n];
            if (!marked[n] || !has_barrier(k, n))
                continue;
            uint32_t line = flow->blocks[block].end > flow->blocks[block].begin
                                ? line_of(k, flow->instructions[flow->blocks[block].end - 1])
                                : 0;
            leave_open(k, barrier_of(k, n), "barrier",
                       "some threads of the CTA may not come to it: they may diverge at line %u", line);
        }
    }
}

/* ---- Loops ----------------------------------------------------------------------------------------- */

/* Whether a loop can be gone around without a barrier, from its header to its header. */
static bool goes_around(const Intervals *k, uint32_t loop) {
    const PtxFlow *flow = &k->flow;
    uint32_t header = flow->loops[loop].header, count = 0;
    uint32_t *open = ARENA_ARRAY(k->arena, uint32_t, flow->block_count + 1);
    bool *seen = ARENA_ARRAY(k->arena, bool, flow->block_count + 1);
    if (has_barrier(k, header))
        return false;
    open[count++] = header;
    while (count) {
        const FlowBlock *block = &flow->blocks[open[--count]];
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t to = flow->edges[block->successors + i];
            if (to == header)
                return true;
            if (seen[to] || !is_in_loop(flow, loop, to) || has_barrier(k, to))
                continue;
            seen[to] = true;
            open[count++] = to;
        }
    }
    return false;
}

static void look_at_loops(Intervals *k) {
    for (uint32_t i = 0; i < k->flow.loop_count; i++) {
        const FlowBlock *header = &k->flow.blocks[k->flow.loops[i].header];
        uint32_t at = header->end > header->begin ? k->flow.instructions[header->begin] : PTX_NONE;
        if (k->flow.loops[i].irreducible)
            leave_open(k, at, "loop", "the loop can be entered at several places");
        else if (k->syncs[i] && goes_around(k, i))
            leave_open(k, at, "loop", "there is a turn of the loop without its barrier");
        else if (!loop_ends(k, i))
            leave_open(k, at, "loop", "it is not shown that the loop ends, whatever is in memory");
    }
}

bool look_at_control(Intervals *k) {
    find_barriers(k);
    for (uint32_t i = 0; i < k->flow.loop_count; i++)
        if (k->flow.loops[i].irreducible) {
            look_at_loops(k);
            return false;
        }
    if (k->flow.unknown_count) {
        leave_open(k, k->flow.first_unknown, "instruction", "an instruction is not known");
        return false;
    }
    find_invariants(k);
    look_at_partings(k);
    look_at_loops(k);
    mark_pointers(k);
    for (uint32_t i = 0; i < k->flow.instruction_count; i++)
        if (k->flow.blocks[k->flow.block_of[i]].reached)
            look_at_instruction(k, i);
    return !k->prover.proof->open_count;
}
