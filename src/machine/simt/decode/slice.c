/* The backward slice of a PTX kernel over SSA values, from what decides to what it is computed from. */
#include "machine/simt/decode/slice.h"

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
    bool *decides;      /* of each code, for the caller; NULL: the code is marked */
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
    uint32_t begin = s->program->routines[s->flow->function].begin;
    PtxCode *code = &s->program->code[begin];
    for (uint32_t i = 0; i < s->flow->instruction_count; i++) {
        PtxEffect effects[PTX_EFFECTS_MOST];
        if (s->whole[i])
            continue;
        if (s->decides) {
            s->decides[begin + i] = false;
            continue;
        }
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

static void slice(PtxProgram *program, const PtxFlow *flow, const PtxValues *values, Arena *arena, bool *decides) {
    Slicer s = {.program = program, .flow = flow, .values = values, .arena = arena, .decides = decides};
    s.needed = ARENA_ARRAY(arena, bool, flow->value_count + 1);
    s.whole = ARENA_ARRAY(arena, bool, flow->instruction_count + 1);
    start(&s);
    settle(&s);
    mark(&s);
}

/* ---- What a launch leaves open ------------------------------------------------------------------- */

/* What is known of a value at every launch, from much to little. */
typedef enum SliceKnown {
    KNOWN_NOT_YET,
    KNOWN_CLOSED, /* it is the same */
    KNOWN_BASE,   /* where a parameter points, and so many bytes more, the same at every launch */
    KNOWN_OPEN,
} SliceKnown;

typedef struct Opener {
    Slicer slicer;
    SliceKnown *known; /* of each value */
    bool changed;
    bool several; /* launches of several CTAs were looked at, and showed how what these write meets */
} Opener;

static SliceKnown known_of_special(const PtxOperand *operand) {
    Str varies = str_of(ptx_special_at(operand->a)->varies);
    bool thread = str_is(varies, "thread") || str_is(varies, "shape"); /* which .reqntid says */
    return thread || str_starts(varies, STR("lane")) ? KNOWN_CLOSED : KNOWN_OPEN;
}

/* Of an operand, with its members, that is read. */
static SliceKnown known_of_operand(const Opener *o, const PtxOperand *operand) {
    const PtxFlow *flow = o->slicer.flow;
    SliceKnown known = KNOWN_CLOSED;
    bool soon = false;
    for (uint32_t i = 0, count = ptx_extent(operand); i < count; i++) {
        uint32_t value = operand[i].kind == PTX_REGISTER
                             ? flow_value(flow, (uint32_t)(operand + i - flow->module->operands))
                             : PTX_NONE;
        SliceKnown one = operand[i].kind == PTX_SPECIAL ? known_of_special(&operand[i])
                         : value == PTX_NONE            ? operand[i].kind == PTX_REGISTER ? KNOWN_OPEN : KNOWN_CLOSED
                                                        : o->known[value];
        known = one > known ? one : known;
        soon |= one == KNOWN_NOT_YET;
    }
    if (soon)
        return KNOWN_NOT_YET;
    return operand->kind == PTX_VECTOR && known == KNOWN_BASE ? KNOWN_OPEN : known;
}

/* Whether it loads what the launch gives. */
static bool is_parameter(const Opener *o, const PtxStatement *statement) {
    const PtxModule *module = o->slicer.flow->module;
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i])) {
        PtxOrigin origin = {.space = PTX_SPACE_UNKNOWN};
        if (operands[i].kind != PTX_ADDRESS)
            continue;
        ptx_address_form(o->slicer.values, (uint32_t)(statement - module->statements),
                         (uint32_t)(&operands[i] - module->operands), &origin);
        return origin.space == PTX_SPACE_PARAM;
    }
    return false;
}

/* Whether all that it does to others is to wait for them, or to let them go on. */
static bool only_synchronizes(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = ptx_effects_of(module, statement, effects);
    for (unsigned i = 0; i < count; i++)
        if (effect_is_access(&effects[i].effect) || effects[i].effect.verb == EFFECT_ANYTHING ||
            effects[i].effect.verb == EFFECT_ALLOCATE)
            return false;
    return count;
}

/* What comes of operands of which one may be a base, by what is computed. */
static SliceKnown known_of_result(const Opener *o, const PtxStatement *statement, const SliceKnown *read,
                                  unsigned count) {
    const PtxForm *form = form_of(&o->slicer, statement);
    SliceKnown most = KNOWN_CLOSED;
    unsigned bases = 0;
    for (unsigned i = 0; i < count; i++) {
        most = read[i] > most ? read[i] : most;
        bases += read[i] == KNOWN_BASE;
    }
    switch (form->evaluator) {
    case PTX_EVALUATE_LOAD: /* of what the launch gives a pointer may be used as one; a number is open */
        return is_parameter(o, statement) ? KNOWN_BASE : KNOWN_OPEN;
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        return most;
    case PTX_EVALUATE_ADD:
        return bases > 1 ? KNOWN_OPEN : most;
    case PTX_EVALUATE_SUB:
        return bases > 1 || (count > 1 && read[1] == KNOWN_BASE) ? KNOWN_OPEN : most;
    case PTX_EVALUATE_MAPA:
    case PTX_EVALUATE_GETCTARANK:
    case PTX_EVALUATE_ISSPACEP:
    case PTX_EVALUATE_PENDING:
    case PTX_EVALUATE_CANCELED:
    case PTX_EVALUATE_FIRST_CTA:
    case PTX_EVALUATE_ACTIVEMASK:
        return KNOWN_OPEN;
    default:
        if (!form->evaluator)
            return only_synchronizes(o->slicer.flow->module, statement) && !bases ? most : KNOWN_OPEN;
        return bases || form->evaluator >= PTX_EVALUATE_MMA ? KNOWN_OPEN : most;
    }
}

static SliceKnown known_of_instruction(const Opener *o, uint32_t instruction) {
    enum { MOST_READ = 32 };
    const PtxStatement *statement = statement_of(&o->slicer, instruction);
    const PtxForm *form = form_of(&o->slicer, statement);
    uint32_t count, place = 0;
    unsigned reads = 0;
    SliceKnown read[MOST_READ];
    const PtxOperand *operands = ptx_operands(o->slicer.flow->module, statement, &count);
    if (!form->row)
        return KNOWN_OPEN;
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]), place++) {
        bool written = is_written(form, place) && operands[i].kind != PTX_ADDRESS && !is_updated(form, place);
        if (!written && reads == MOST_READ)
            return KNOWN_OPEN;
        if (!written && (read[reads++] = known_of_operand(o, &operands[i])) == KNOWN_NOT_YET)
            return KNOWN_NOT_YET;
    }
    SliceKnown known = known_of_result(o, statement, read, reads);
    bool guarded = statement->flags & PTX_GUARDED;
    return guarded && known_of_operand(o, &o->slicer.flow->module->operands[statement->first]) > KNOWN_CLOSED
               ? KNOWN_OPEN
               : known;
}

static bool is_undefined(const Opener *o, uint32_t value) {
    return value == PTX_NONE || o->slicer.flow->values[value].kind == VALUE_UNDEFINED;
}

/* Of two ways: a base is none beside a number. */
static SliceKnown known_either(SliceKnown a, SliceKnown b) {
    if (!a || !b)
        return a ? a : b;
    return a == b ? a : KNOWN_OPEN;
}

static SliceKnown known_of_value(const Opener *o, uint32_t number) {
    const PtxFlow *flow = o->slicer.flow;
    const FlowValue *value = &flow->values[number];
    SliceKnown known = KNOWN_NOT_YET;
    if (value->kind == VALUE_RESULT) {
        known = known_of_instruction(o, value->instruction);
        return is_undefined(o, value->before) ? known : known_either(known, o->known[value->before]);
    }
    if (value->kind != VALUE_PHI)
        return value->kind == VALUE_UNDEFINED ? KNOWN_CLOSED : KNOWN_OPEN;
    for (uint32_t i = 0; i < flow->blocks[value->block].predecessor_count; i++) {
        uint32_t input = flow->inputs[value->inputs + i];
        if (!is_undefined(o, input) && input != number)
            known = known_either(known, o->known[input]);
    }
    return known;
}

/* Whether an operand that decides something may be a base: an address in global memory, and nothing else. */
static bool takes_base(const Opener *o, const PtxStatement *statement, const PtxOperand *operand,
                       const PtxEffect *effects, unsigned count) {
    bool global = false;
    for (unsigned i = 0; i < count; i++)
        if (ptx_effect_operand(o->slicer.flow->module, statement, effects[i].on) == operand) {
            if (effects[i].effect.on_descriptor ||
                spaces_of(&o->slicer, statement, &effects[i]) != 1u << PTX_SPACE_GLOBAL)
                return false;
            global = true;
        }
    return operand->kind == PTX_ADDRESS && global;
}

/* Whether an instruction that does something goes by what is open, or reaches what a launch may place elsewhere. */
static bool acts_openly(const Opener *o, uint32_t instruction) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    const PtxStatement *statement = statement_of(&o->slicer, instruction);
    const PtxForm *form = form_of(&o->slicer, statement);
    unsigned effect_count = ptx_effects_of(o->slicer.flow->module, statement, effects);
    uint32_t count, place = 0;
    const PtxOperand *operands = ptx_operands(o->slicer.flow->module, statement, &count);
    if (!does_something(form, effect_count))
        return false;
    if (!form->row || ((statement->flags & PTX_GUARDED) &&
                       known_of_operand(o, &o->slicer.flow->module->operands[statement->first]) > KNOWN_CLOSED))
        return true;
    for (unsigned i = 0; i < effect_count; i++) {
        EffectVerb verb = effects[i].effect.verb;
        bool update = (verb == EFFECT_UPDATE || (verb == EFFECT_WRITE && !o->several)) &&
                      spaces_of(&o->slicer, statement, &effects[i]) & 1u << PTX_SPACE_GLOBAL;
        if (update || verb == EFFECT_ANYTHING || effects[i].ctas.size)
            return true; /* an atomic may order one device and not two; a cluster may have any size */
    }
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]), place++) {
        bool written = is_written(form, place) && operands[i].kind != PTX_ADDRESS;
        bool matters =
            form->row->control || decides(&o->slicer, statement, &operands[i], written, effects, effect_count);
        SliceKnown known = matters ? known_of_operand(o, &operands[i]) : KNOWN_CLOSED;
        if (known == KNOWN_OPEN ||
            (known == KNOWN_BASE && !takes_base(o, statement, &operands[i], effects, effect_count)))
            return true;
    }
    return false;
}

/* The line of the first instruction by which launches differ; 0: there is none. */
static uint32_t find_open(Opener *o) {
    const PtxFlow *flow = o->slicer.flow;
    do {
        o->changed = false;
        for (uint32_t i = 0; i < flow->value_count; i++) {
            SliceKnown known = known_of_value(o, i);
            if (known > o->known[i]) {
                o->known[i] = known;
                o->changed = true;
            }
        }
    } while (o->changed);
    for (uint32_t i = 0; i < flow->instruction_count; i++)
        if (acts_openly(o, i))
            return (uint32_t)source_place(flow->module->source, statement_of(&o->slicer, i)->begin).line;
    return 0;
}

/* Whether a variable of dynamic shared memory is used: how large it is the launch says. */
static bool has_dynamic_memory(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->module->variables_count; i++)
        if (program->used[i] && program->seats[i].space == PTX_SPACE_SHARED && !program->seats[i].bytes)
            return true;
    return false;
}

/* False: it takes more memory than it may. */
static bool look_for_open(const PtxFlow *flow, const PtxValues *values, size_t budget, bool several, uint32_t *line) {
    Arena arena;
    jmp_buf exhausted;
    arena_init(&arena, budget);
    arena.exhausted = &exhausted;
    bool enough = !setjmp(exhausted);
    if (enough) {
        Opener opener = {.slicer = {.flow = flow, .values = values, .arena = &arena}, .several = several};
        opener.known = ARENA_ARRAY(&arena, SliceKnown, flow->value_count + 1);
        *line = find_open(&opener);
    }
    arena_free(&arena);
    return enough;
}

bool ptx_open(const PtxProgram *program, size_t budget, bool several, uint32_t *line) {
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    *line = 0;
    if (!program->required[0] || program->unknown_count || calls(program) || carries(program) ||
        has_dynamic_memory(program) ||
        !ptx_flow_values(&flow, &values, program->module, program->entry, NULL, budget, &problem))
        return true;
    bool enough = look_for_open(&flow, &values, budget, several, line);
    ptx_flow_values_free(&flow, &values);
    return !enough || *line;
}

bool *ptx_slice_needed(const PtxFlow *flow, const PtxValues *values, const bool *counts, Arena *arena) {
    Slicer s = {.flow = flow, .values = values, .counts = counts, .arena = arena};
    s.needed = ARENA_ARRAY(arena, bool, flow->value_count + 1);
    s.whole = ARENA_ARRAY(arena, bool, flow->instruction_count + 1);
    start(&s);
    settle(&s);
    return s.needed;
}

static bool slice_into(PtxProgram *program, size_t budget, bool *decides, const char **problem) {
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
        slice(program, &flow, &values, &arena, decides);
    else
        *problem = "its slice takes more memory than it may";
    arena_free(&arena);
    ptx_flow_values_free(&flow, &values);
    return enough;
}

bool ptx_slice(PtxProgram *program, size_t budget, const char **problem) {
    return slice_into(program, budget, NULL, problem);
}

void ptx_slice_decides(PtxProgram *program, size_t budget, bool *decides) {
    const char *problem;
    memset(decides, true, program->code_count);
    (void)slice_into(program, budget, decides, &problem);
}
