/* The backward slice of a PTX kernel over SSA values, from what decides to what it is computed from. */
#include "emulate/ptx/slice.h"

#include "ptx/effects.h"

/* State spaces of memory, as bits; those that a generic address may be in. */
enum { ALL_SPACES = (1 << PTX_SPACES) - 1 };

typedef struct Slicer {
    PtxProgram *program;
    const PtxFlow *flow;
    const PtxValues *values;
    Arena *arena;
    bool *needed;       /* of each value */
    bool *whole;        /* of each instruction of the flow: all that it reads is needed */
    const bool *counts; /* of each instruction: what it decides counts; NULL: that of all does */
    uint32_t memories;  /* whose contents are needed */
    uint32_t *work;
    uint32_t work_count, work_capacity;
} Slicer;

static const PtxStatement *statement_of(const Slicer *s, uint32_t instruction) {
    return &s->flow->module->statements[s->flow->instructions[instruction]];
}

static const PtxForm *form_of(const Slicer *s, const PtxStatement *statement) {
    return &s->flow->module->forms[statement->what];
}

static void need_value(Slicer *s, uint32_t value) {
    if (value == PTX_NONE || s->needed[value])
        return;
    s->needed[value] = true;
    *ARENA_PUSH(s->arena, s->work, s->work_count, s->work_capacity) = value;
}

/* Every register of an operand and of its members that is read. */
static void need_operand(Slicer *s, const PtxOperand *operand) {
    const PtxModule *module = s->flow->module;
    for (uint32_t i = 0, count = ptx_extent(operand); i < count; i++)
        if (operand[i].kind == PTX_REGISTER)
            need_value(s, flow_value(s->flow, (uint32_t)(operand + i - module->operands)));
}

/* Whether the operand at that place, counted on top, is written, and not an address. */
static bool is_written(const PtxForm *form, uint32_t place) {
    return place < 32 && form->writes >> place & 1;
}

static bool is_updated(const PtxForm *form, uint32_t place) {
    return place < 32 && form->updates >> place & 1;
}

/* Whether an effect goes by the operand: what it is about, how much, when; not what is stored. */
static bool goes_by(const Slicer *s, const PtxStatement *statement, const PtxEffect *effect,
                    const PtxOperand *operand) {
    const Str names[] = {effect->on,    effect->count, effect->through, effect->phase,
                         effect->limit, effect->ctas,  effect->stride,  effect->boxes};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].size && ptx_effect_operand(s->flow->module, statement, names[i]) == operand)
            return true;
    return false;
}

/* Whether an operand decides what the instruction does to others. */
static bool decides(const Slicer *s, const PtxStatement *statement, const PtxOperand *operand, bool written,
                    const PtxEffect *effects, unsigned count) {
    bool acts = false, data = written || operand->kind == PTX_VECTOR;
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].effect.verb;
        if (goes_by(s, statement, &effects[i], operand))
            return true;
        acts |= verb != EFFECT_WARP_SYNC && verb != EFFECT_CONVERGED;
        data |= effects[i].value.size && ptx_effect_operand(s->flow->module, statement, effects[i].value) == operand;
        data |=
            effects[i].compare.size && ptx_effect_operand(s->flow->module, statement, effects[i].compare) == operand;
    }
    return operand->kind == PTX_ADDRESS || (acts && !data);
}

/* What an instruction reads: all of it, or what it has to know to be run at all. */
static void need_operands(Slicer *s, const PtxStatement *statement, bool everything, const PtxEffect *effects,
                          unsigned effect_count) {
    uint32_t count, place = 0;
    const PtxForm *form = form_of(s, statement);
    const PtxOperand *operands = ptx_operands(s->flow->module, statement, &count);
    if (statement->flags & PTX_GUARDED)
        need_operand(s, &s->flow->module->operands[statement->first]);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]), place++) {
        bool written = is_written(form, place) && operands[i].kind != PTX_ADDRESS;
        if (everything ? !written || is_updated(form, place)
                       : decides(s, statement, &operands[i], written, effects, effect_count))
            need_operand(s, &operands[i]);
    }
}

static uint32_t spaces_of(const Slicer *s, const PtxStatement *statement, const PtxEffect *effect) {
    if (effect->effect.space == SPACE_TENSOR)
        return 1u << PTX_SPACE_TENSOR;
    const PtxOperand *on = ptx_effect_operand(s->flow->module, statement, effect->on);
    PtxOrigin origin = {.space = PTX_SPACE_UNKNOWN};
    if (on && on->kind == PTX_ADDRESS && !effect->effect.on_descriptor)
        ptx_address_form(s->values, (uint32_t)(statement - s->flow->module->statements),
                         (uint32_t)(on - s->flow->module->operands), &origin);
    if (origin.space == PTX_SPACE_UNKNOWN && effect->effect.space == SPACE_GLOBAL)
        origin.space = PTX_SPACE_GLOBAL;
    if (origin.space == PTX_SPACE_UNKNOWN && effect->effect.space == SPACE_SHARED)
        origin.space = PTX_SPACE_SHARED;
    if (origin.space == PTX_SPACE_UNKNOWN)
        return ALL_SPACES;
    if (origin.space == PTX_SPACE_SHARED || origin.space == PTX_SPACE_CLUSTER)
        return 1u << PTX_SPACE_SHARED | 1u << PTX_SPACE_CLUSTER;
    return 1u << origin.space;
}

static uint32_t memories_of(const Slicer *s, const PtxStatement *statement, const PtxEffect *effects, unsigned count,
                            bool written) {
    uint32_t spaces = 0;
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].effect.verb;
        if (written ? verb == EFFECT_WRITE || verb == EFFECT_UPDATE : verb == EFFECT_READ || verb == EFFECT_UPDATE)
            spaces |= spaces_of(s, statement, &effects[i]);
    }
    return spaces;
}

/* The instruction has to be run with all that it reads: what it writes is needed. */
static void need_whole(Slicer *s, uint32_t instruction) {
    if (s->whole[instruction])
        return;
    s->whole[instruction] = true;
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = statement_of(s, instruction);
    unsigned count = ptx_effects_of(s->flow->module, statement, effects);
    need_operands(s, statement, true, effects, count);
    s->memories |= memories_of(s, statement, effects, count, false);
}

/* A value is needed: so is what it comes from. */
static void follow(Slicer *s, uint32_t value) {
    const FlowValue *v = &s->flow->values[value];
    if (v->kind == VALUE_RESULT) {
        need_value(s, v->before);
        need_whole(s, v->instruction);
    } else if (v->kind == VALUE_PHI) {
        for (uint32_t i = 0; i < s->flow->blocks[v->block].predecessor_count; i++)
            need_value(s, s->flow->inputs[v->inputs + i]);
    }
}

static bool does_something(const PtxForm *form, unsigned effect_count) {
    return effect_count || !form->row || form->row->control || !form->writes;
}

/* What decides, in every instruction that does more than compute; and stores to memory that is needed. */
static void start(Slicer *s) {
    for (uint32_t i = 0; i < s->flow->instruction_count; i++) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        const PtxStatement *statement = statement_of(s, i);
        const PtxForm *form = form_of(s, statement);
        unsigned count = ptx_effects_of(s->flow->module, statement, effects);
        if (!does_something(form, count) || (s->counts && !s->counts[i]))
            continue;
        if (!form->row || form->row->control)
            need_whole(s, i);
        else
            need_operands(s, statement, false, effects, count);
        for (unsigned k = 0; k < count; k++) /* a tensor map says which memory a copy touches */
            if (effects[k].effect.verb == EFFECT_READ && effects[k].effect.proxy == PROXY_TENSORMAP)
                s->memories |= spaces_of(s, statement, &effects[k]);
    }
}

static void run_work(Slicer *s) {
    while (s->work_count)
        follow(s, s->work[--s->work_count]);
}

/* Until no store is to memory that is needed, of which the data is not. */
static void settle(Slicer *s) {
    uint32_t before;
    run_work(s);
    do {
        before = s->memories;
        for (uint32_t i = 0; i < s->flow->instruction_count; i++) {
            PtxEffect effects[PTX_EFFECTS_MOST];
            const PtxStatement *statement = statement_of(s, i);
            unsigned count = ptx_effects_of(s->flow->module, statement, effects);
            if (memories_of(s, statement, effects, count, true) & s->memories)
                need_whole(s, i);
        }
        run_work(s);
    } while (s->memories != before);
}

static void mark(Slicer *s) {
    PtxCode *code = &s->program->code[s->program->routines[s->flow->function].begin];
    for (uint32_t i = 0; i < s->flow->instruction_count; i++) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        if (s->whole[i])
            continue;
        code[i].skipped = !does_something(code[i].form, ptx_effects_of(s->flow->module, statement_of(s, i), effects));
        code[i].data = !code[i].skipped;
    }
}

static bool calls(const PtxProgram *program) {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < program->module->functions_count; i++)
        ready += program->routines[i].ready;
    return ready != 1;
}

/* A carry goes from instruction to instruction in no register. */
static bool carries(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].form->evaluator == PTX_EVALUATE_CARRY ||
            program->code[i].form->evaluator == PTX_EVALUATE_BORROW)
            return true;
    return false;
}

static void slice(PtxProgram *program, const PtxFlow *flow, const PtxValues *values, Arena *arena) {
    Slicer s = {.program = program, .flow = flow, .values = values, .arena = arena};
    s.needed = ARENA_ARRAY(arena, bool, flow->value_count + 1);
    s.whole = ARENA_ARRAY(arena, bool, flow->instruction_count + 1);
    start(&s);
    settle(&s);
    mark(&s);
}

bool *ptx_slice_needed(const PtxFlow *flow, const PtxValues *values, const bool *counts, Arena *arena) {
    Slicer s = {.flow = flow, .values = values, .counts = counts, .arena = arena};
    s.needed = ARENA_ARRAY(arena, bool, flow->value_count + 1);
    s.whole = ARENA_ARRAY(arena, bool, flow->instruction_count + 1);
    start(&s);
    settle(&s);
    return s.needed;
}

bool ptx_slice(PtxProgram *program, size_t budget, const char **problem) {
    if (calls(program) || carries(program))
        return true;
    PtxFlow flow;
    PtxValues values;
    if (!ptx_flow_values(&flow, &values, program->module, program->entry, NULL, budget, problem))
        return false;
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, budget);
    arena.exhausted = &exhausted;
    bool enough = !setjmp(exhausted);
    if (enough)
        slice(program, &flow, &values, &arena);
    else
        *problem = "its slice takes more memory than it may";
    arena_free(&arena);
    ptx_flow_values_free(&flow, &values);
    return enough;
}
