/* Who uses a value, backward over SSA values: threads of a CTA as sets. */
#include "machine/simt/decode/unused.h"

#include "machine/simt/decode/guards.h"
#include "ptx/effects.h"

typedef struct UnusedUses {
    const PtxFlow *flow;
    const PtxValues *values;
    Arena *arena;
    uint32_t warps; /* of a CTA: a set of threads is so many masks of lanes */
    uint32_t *used; /* by which threads each value is */
    uint32_t *all;  /* threads */
    bool *open;     /* of each value: what it comes from is to be looked at */
    uint32_t *work;
    uint32_t work_count, work_capacity;
} UnusedUses;

static const PtxStatement *statement_of(const UnusedUses *u, uint32_t instruction) {
    return &u->flow->module->statements[u->flow->instructions[instruction]];
}

static const PtxForm *form_of(const UnusedUses *u, uint32_t instruction) {
    return &u->flow->module->forms[statement_of(u, instruction)->what];
}

static uint32_t *used_by(const UnusedUses *u, uint32_t value) {
    return &u->used[(size_t)value * u->warps];
}

static void use(UnusedUses *u, uint32_t value, const uint32_t *threads) {
    bool more = false;
    if (value == PTX_NONE)
        return;
    uint32_t *used = used_by(u, value);
    for (uint32_t i = 0; i < u->warps; i++) {
        more |= (threads[i] & ~used[i]) != 0;
        used[i] |= threads[i];
    }
    if (!more || u->open[value])
        return;
    u->open[value] = true;
    *ARENA_PUSH(u->arena, u->work, u->work_count, u->work_capacity) = value;
}

/* Every register of an operand and of its members. */
static void use_operand(UnusedUses *u, const PtxOperand *operand, const uint32_t *threads) {
    for (uint32_t i = 0, count = ptx_extent(operand); i < count; i++)
        if (operand[i].kind == PTX_REGISTER)
            use(u, flow_value(u->flow, (uint32_t)(operand + i - u->flow->module->operands)), threads);
}

/* ---- Instructions ---- */

PtxGiver ptx_giver(const PtxForm *form) {
    switch (form->evaluator) {
    case PTX_EVALUATE_SHUFFLE:
    case PTX_EVALUATE_VOTE:
    case PTX_EVALUATE_MATCH:
    case PTX_EVALUATE_REDUCE:
        return GIVEN_BY_WARP;
    case PTX_EVALUATE_NONE:
    case PTX_EVALUATE_CARRY: /* it goes from instruction to instruction in no register */
    case PTX_EVALUATE_BORROW:
    case PTX_EVALUATE_LOAD:
    case PTX_EVALUATE_ELECT:
    case PTX_EVALUATE_ACTIVEMASK:
        return GIVEN_ELSEWHERE;
    default:
        return form->evaluator < PTX_EVALUATE_MMA && form->row && !form->row->control && !form->effect_count &&
                       !ptx_form_has(form->text, STR("cc"))
                   ? GIVEN_BY_ITSELF
                   : GIVEN_ELSEWHERE;
    }
}

/* Whether it says which lanes wait for each other. */
static bool is_mask(const UnusedUses *u, const PtxStatement *statement, const PtxOperand *operand,
                    const PtxEffect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].on.size && ptx_effect_operand(u->flow->module, statement, effects[i].on) == operand)
            return true;
    return false;
}

/* For which threads the guard may hold: it is known of some that it does not, by their number alone. */
static const uint32_t *guarded(const UnusedUses *u, const PtxStatement *statement, uint32_t *room) {
    if (!(statement->flags & PTX_GUARDED))
        return u->all;
    ptx_guard_may(&(PtxGuards){u->flow, u->values, u->warps}, &u->flow->module->operands[statement->first],
                  !(statement->flags & PTX_NEGATED), room);
    return room;
}

/* What an instruction reads: its operands but for those that are written; of one that acts, by those that may run it.
 * The guard decides what is done, unless that is to compute. */
static void use_operands(UnusedUses *u, uint32_t instruction, const uint32_t *threads) {
    const PtxStatement *statement = statement_of(u, instruction);
    const PtxForm *form = form_of(u, instruction);
    uint32_t count, place = 0, room[FORM_MOST_THREADS / PTX_LANES];
    const PtxOperand *operands = ptx_operands(u->flow->module, statement, &count);
    if (ptx_giver(form) == GIVEN_ELSEWHERE)
        threads = guarded(u, statement, room);
    if (statement->flags &
        PTX_GUARDED) /* of a thread for which it does not hold, whatever the data, data decides nothing */
        use_operand(u, &u->flow->module->operands[statement->first], threads);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]), place++) {
        bool written = place < 32 && form->writes >> place & 1 && !(form->updates >> place & 1);
        if (written && operands[i].kind != PTX_ADDRESS && form->row)
            continue;
        use_operand(u, &operands[i], threads);
    }
}

/* Who meets whom is decided by all. */
static void use_mask(UnusedUses *u, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = statement_of(u, instruction);
    unsigned effect_count = ptx_effects_of(u->flow->module, statement, effects);
    uint32_t count;
    const PtxOperand *operands = ptx_operands(u->flow->module, statement, &count);
    if (statement->flags & PTX_GUARDED)
        use_operand(u, &u->flow->module->operands[statement->first], u->all);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]))
        if (is_mask(u, statement, &operands[i], effects, effect_count))
            use_operand(u, &operands[i], u->all);
}

/* A value is used by more threads: so is what it comes from. */
static void follow(UnusedUses *u, uint32_t value) {
    const FlowValue *v = &u->flow->values[value];
    const uint32_t *used = used_by(u, value);
    if (v->kind == VALUE_PHI) {
        for (uint32_t i = 0; i < u->flow->blocks[v->block].predecessor_count; i++)
            use(u, u->flow->inputs[v->inputs + i], used);
    } else if (v->kind == VALUE_RESULT) {
        uint32_t warps[FORM_MOST_THREADS / PTX_LANES];
        PtxGiver giver = ptx_giver(form_of(u, v->instruction));
        for (uint32_t i = 0; i < u->warps; i++)
            warps[i] = used[i] ? UINT32_MAX : 0;
        use(u, v->before, used);
        if (giver != GIVEN_ELSEWHERE)
            use_operands(u, v->instruction, giver == GIVEN_BY_WARP ? warps : used);
    }
}

static void find_uses(UnusedUses *u) {
    for (uint32_t i = 0; i < u->flow->instruction_count; i++) {
        PtxGiver giver = ptx_giver(form_of(u, i));
        if (giver == GIVEN_ELSEWHERE)
            use_operands(u, i, u->all);
        else if (giver == GIVEN_BY_WARP)
            use_mask(u, i);
    }
    while (u->work_count) {
        uint32_t value = u->work[--u->work_count];
        u->open[value] = false;
        follow(u, value);
    }
}

/* ---- Loads ---- */

/* By which threads what a load gives is used: none, some or all of them. */
static bool gives_some(const UnusedUses *u, uint32_t instruction, uint32_t *unused) {
    uint32_t count, some = 0, none = 0;
    const PtxForm *form = form_of(u, instruction);
    const PtxOperand *to = ptx_operands(u->flow->module, statement_of(u, instruction), &count);
    if (form->evaluator != PTX_EVALUATE_LOAD || !form->effect_count || !(form->writes & 1) || !count)
        return false;
    for (uint32_t w = 0; w < u->warps; w++) {
        uint32_t used = 0;
        for (uint32_t i = 0, members = ptx_extent(to); i < members; i++)
            if (to[i].kind == PTX_REGISTER) {
                uint32_t value = flow_value(u->flow, (uint32_t)(to + i - u->flow->module->operands));
                used |= value == PTX_NONE ? UINT32_MAX : used_by(u, value)[w];
            }
        unused[w] = ~used;
        some |= used;
        none |= ~used;
    }
    return some && none;
}

static void mark(const UnusedUses *u, PtxProgram *program) {
    PtxCode *code = &program->code[program->routines[u->flow->function].begin];
    uint32_t *unused = NULL;
    for (uint32_t i = 0; i < u->flow->instruction_count; i++) {
        if (!unused)
            unused = ARENA_ARRAY(program->arena, uint32_t, u->warps);
        if (gives_some(u, i, unused)) {
            code[i].unused = unused;
            unused = NULL;
        }
    }
}

static void find(UnusedUses *u, PtxProgram *program) {
    const PtxBlockShape *shape = &u->values->shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    if (!threads || threads > FORM_MOST_THREADS || threads % PTX_LANES)
        return;
    u->warps = (uint32_t)threads / PTX_LANES;
    u->used = ARENA_ARRAY(u->arena, uint32_t, (size_t)(u->flow->value_count + 1) * u->warps);
    u->open = ARENA_ARRAY(u->arena, bool, u->flow->value_count + 1);
    u->all = ARENA_ARRAY(u->arena, uint32_t, u->warps);
    for (uint32_t i = 0; i < u->warps; i++)
        u->all[i] = UINT32_MAX;
    find_uses(u);
    mark(u, program);
}

/* Whether there are stores that not all threads may make, which is quickly seen. */
static bool stores_by_some(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].guard != PTX_NONE && program->code[i].visible)
            return true;
    return false;
}

void ptx_unused(PtxProgram *program, size_t budget) {
    const char *problem;
    PtxFlow flow;
    PtxValues values;
    PtxBlockShape shape = ptx_block_shape(program->module, program->entry);
    if (!shape.x || !stores_by_some(program) ||
        !ptx_flow_values(&flow, &values, program->module, program->entry, NULL, budget, &problem))
        return;
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, budget);
    arena.exhausted = &exhausted;
    if (!setjmp(exhausted))
        find(&(UnusedUses){.flow = &flow, .values = &values, .arena = &arena}, program);
    arena_free(&arena);
    ptx_flow_values_free(&flow, &values);
}

/* ---- Results that no instruction reads ---- */

static bool has_updates(const PtxProgram *program, const PtxRoutine *routine) {
    for (uint32_t i = routine->begin; routine->ready && i < routine->end; i++)
        if (program->code[i].form->effect_count && program->code[i].form->writes & 1 &&
            program->code[i].form->evaluator != PTX_EVALUATE_LOAD)
            return true;
    return false;
}

/* Whether no register that an instruction writes is read. */
static bool has_unread_result(const PtxFlow *flow, const PtxStatement *statement, const bool *read) {
    uint32_t count;
    const PtxOperand *to = ptx_operands(flow->module, statement, &count);
    if (!count || to->kind == PTX_ADDRESS || !(flow->module->forms[statement->what].writes & 1))
        return false;
    for (uint32_t i = 0, members = ptx_extent(to); i < members; i++)
        if (to[i].kind == PTX_REGISTER) {
            uint32_t value = flow_value(flow, (uint32_t)(to + i - flow->module->operands));
            if (value == PTX_NONE || read[value])
                return false;
        }
    return true;
}

/* What is read: by instructions, by phis, and where a guard does not hold. */
static void find_read(const PtxFlow *flow, bool *read) {
    const PtxModule *module = flow->module;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = &module->statements[flow->instructions[i]];
        const PtxForm *form = &module->forms[statement->what];
        uint32_t count, place = 0;
        const PtxOperand *operands = ptx_operands(module, statement, &count);
        uint32_t guard = statement->flags & PTX_GUARDED ? flow_value(flow, statement->first) : PTX_NONE;
        if (guard != PTX_NONE)
            read[guard] = true;
        for (uint32_t k = 0, extent; k < count; k += extent, place++) {
            bool written = form->row && place < 32 && form->writes >> place & 1 && !(form->updates >> place & 1) &&
                           operands[k].kind != PTX_ADDRESS;
            extent = ptx_extent(&operands[k]);
            for (uint32_t j = k; !written && j < k + extent; j++) {
                uint32_t value = operands[j].kind == PTX_REGISTER
                                     ? flow_value(flow, (uint32_t)(&operands[j] - module->operands))
                                     : PTX_NONE;
                if (value != PTX_NONE)
                    read[value] = true;
            }
        }
    }
    for (uint32_t v = 0; v < flow->value_count; v++) {
        const FlowValue *value = &flow->values[v];
        for (uint32_t i = 0; value->kind == VALUE_PHI && i < flow->blocks[value->block].predecessor_count; i++)
            if (flow->inputs[value->inputs + i] != PTX_NONE)
                read[flow->inputs[value->inputs + i]] = true;
        if (value->kind == VALUE_RESULT && value->before != PTX_NONE)
            read[value->before] = true;
    }
}

void ptx_dead(PtxProgram *program, Arena *arena) {
    for (uint32_t r = 0; r < program->module->functions_count; r++) {
        const PtxRoutine *routine = &program->routines[r];
        const char *problem;
        PtxFlow flow;
        if (!has_updates(program, routine) ||
            !ptx_flow(&flow, program->module, routine->function, ptx_flow_budget(program->module), &problem))
            continue;
        bool *read = ARENA_ARRAY(arena, bool, flow.value_count + 1);
        find_read(&flow, read);
        for (uint32_t i = 0; i < flow.instruction_count; i++)
            program->code[routine->begin + i].dead =
                has_unread_result(&flow, &program->module->statements[flow.instructions[i]], read);
        ptx_flow_free(&flow);
    }
}
