/* A kernel taken apart: routines, code, and who runs what. */
#include "machine/simt/decode/internal.h"

#include "base/bisect.h"
#include "ptx/effects.h"

/* ---- Asking about code ---- */

const PtxArgument *code_named(const PtxProgram *program, const PtxCode *code, Str name) {
    int place = code->form->row ? ptx_operand_place(code->form->row, code->form->text, name, code->count) : -1;
    return place < 0 || (uint32_t)place >= code->count ? NULL : code_argument(program, code, (uint32_t)place);
}

Str code_modifier(const PtxCode *code, Str group) {
    return code->form->row ? ptx_form_modifier(code->form->row, code->form->text, group) : (Str){"", 0};
}

bool code_has(const PtxCode *code, Str modifier) {
    return ptx_form_has(code->form->text, modifier);
}

uint32_t code_line(const PtxProgram *program, const PtxCode *code) {
    const PtxStatement *statement = &program->module->statements[code->statement];
    return (uint32_t)source_place(program->module->source, statement->begin).line;
}

uint32_t code_behind(const PtxProgram *program, const PtxCode *code, uint32_t statement) {
    uint32_t at = (uint32_t)(code - program->code), index = 0;
    while (
        index < program->module->functions_count &&
        !(program->routines[index].ready && at >= program->routines[index].begin && at < program->routines[index].end))
        index++;
    const PtxRoutine *routine = &program->routines[index];
    uint32_t low;
    BISECT(low, routine->begin, routine->end - 1, program->code[low].statement < statement);
    return low;
}

/* ---- Families ---- */

/* Why an instruction cannot be run, whatever its family: it names what this module does not have. NULL: it can. */
static const char *names_nothing(PtxProgram *program, const PtxCode *code) {
    const PtxModule *module = program->module;
    const PtxStatement *statement = &module->statements[code->statement];
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        bool variable = operand->kind == PTX_VARIABLE || operand->kind == PTX_REGISTER;
        const PtxSymbolSlot *seat = variable ? &program->seats[operand->a] : NULL;
        if (operand->kind == PTX_REGISTER && !seat->bits)
            return "it uses a register that is declared outside of all functions";
        if (operand->kind == PTX_VARIABLE && !seat->bytes && seat->space != PTX_SPACE_SHARED &&
            seat->space != PTX_SPACE_PARAM) {
            Text text = {0};
            text_addf(&text, "it uses the variable %.*s, which is defined elsewhere",
                      STR_ARG(ptx_name(module, module->variables[operand->a].name)));
            const char *kept = arena_copy(program->arena, text.data, text.size);
            text_free(&text);
            return kept;
        }
    }
    return NULL;
}

/* What instructions of one form have in common, found with the first of them. */
typedef struct Common {
    uint8_t family; /* that took the last one; FAMILIES: none did */
    uint8_t effect_count;
    PtxEffect *effects; /* NULL: they are not known yet, or depend on the operands */
} Common;

static PtxPrepareFamily *const families[] = {control_prepare, compute_prepare, warp_prepare,
                                             matrix_prepare,  tensor_prepare,  barrier_prepare,
                                             copy_prepare,    access_prepare,  texture_prepare};
enum { FAMILIES = sizeof families / sizeof *families };

static bool family_of(const PtxPrepare *about, PtxCode *code, Common *common) {
    if (!code->form->row)
        return false;
    if (common->family < FAMILIES && families[common->family](about, code))
        return true;
    for (uint8_t i = 0; i < FAMILIES; i++)
        if (families[i](about, code)) {
            common->family = i;
            return true;
        }
    return false;
}

/* Of MMAs: whether a matrix is in registers. */
static bool depends_on_operands(const PtxEffect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].effect.on_descriptor)
            return true;
    return false;
}

static unsigned common_effects(const PtxProgram *program, Arena *scratch, const PtxStatement *statement, Common *common,
                               PtxEffect *effects) {
    if (common->effects) {
        memcpy(effects, common->effects, sizeof *effects * common->effect_count);
        return common->effect_count;
    }
    unsigned count = ptx_effects_of(program->module, statement, effects);
    if (!depends_on_operands(effects, count)) {
        common->effect_count = (uint8_t)count;
        common->effects = arena_alloc(scratch, sizeof *effects * (count + 1));
        memcpy(common->effects, effects, sizeof *effects * count);
    }
    return count;
}

static void prepare_code(PtxProgram *program, Arena *scratch, Common *commons, uint32_t index) {
    PtxCode *code = &program->code[index];
    const PtxStatement *statement = &program->module->statements[code->statement];
    bool written = statement->kind == PTX_INSTRUCTION; /* a return at the end of a function need not be */
    Common *common = &commons[written ? statement->what : program->module->forms_count];
    PtxEffect effects[PTX_EFFECTS_MOST];
    PtxPrepare about = {.program = program, .evaluator = code->form->evaluator, .effects = effects};
    about.effect_count = written ? common_effects(program, scratch, statement, common, effects) : 0;
    const char *why = written ? names_nothing(program, code) : NULL;
    for (unsigned i = 0; i < about.effect_count; i++)
        code->together |= effects[i].effect.verb == EFFECT_CONVERGED;
    if (!why && family_of(&about, code, common))
        return;
    code->run = ptx_run_unknown;
    code->detail = why;
    code->visible = true;
    if (!program->unknown_count++)
        program->first_unknown = index;
}

static void prepare_all(PtxProgram *program, Arena *scratch) {
    Common *commons = ARENA_ARRAY(scratch, Common, program->module->forms_count + 1);
    for (uint32_t i = 0; i <= program->module->forms_count; i++)
        commons[i].family = FAMILIES;
    for (uint32_t i = 0; i < program->code_count; i++)
        prepare_code(program, scratch, commons, i);
}

/* ---- Routines ---- */

static const PtxForm *return_form(PtxProgram *program) {
    PtxForm *form = ARENA_NEW(program->arena, PtxForm);
    form->text = STR("ret");
    form->row = ptx_row_of(form->text, NULL);
    form->evaluator = PTX_EVALUATE_RETURN;
    return form;
}

/* Whether a thread that comes there is over at once. */
static bool is_end(const PtxProgram *program, const PtxRoutine *routine, uint32_t code) {
    PtxEvaluator evaluator = program->code[code].form->evaluator;
    return !(program->module->statements[program->code[code].statement].flags & PTX_GUARDED) &&
           (evaluator == PTX_EVALUATE_EXIT ||
            (evaluator == PTX_EVALUATE_RETURN && routine == &program->routines[program->entry]));
}

/* Places where threads that part at the end of a block meet again. Those that are over do not wait for others: a
 * barrier counts without them. */
static void note_meets(PtxProgram *program, const PtxRoutine *routine, const PtxFlow *flow) {
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *block = &flow->blocks[i];
        if (block->end == block->begin || block->meets == PTX_NONE)
            continue;
        uint32_t meets = routine->begin + flow->blocks[block->meets].begin;
        if (!is_end(program, routine, meets))
            program->code[routine->begin + block->end - 1].meets = meets;
    }
}

/* Whether going round by it does nothing but wait: it reads, waits, computes. */
static bool is_quiet(const PtxCode *code) {
    for (unsigned i = 0; i < code->form->effect_count; i++) {
        if (!verb_is(code->form->effects[i].effect.verb, VERB_QUIET))
            return false;
    }
    return true;
}

/* The first code from `begin` on, before `end`, that is not quiet, or `end`. */
static uint32_t quiet_until(const PtxProgram *program, uint32_t begin, uint32_t end) {
    while (begin < end && is_quiet(&program->code[begin]))
        begin++;
    return begin;
}

static bool comes_back(const PtxProgram *program, const PtxRoutine *routine, const PtxFlow *flow, uint32_t at,
                       uint8_t *seen, uint32_t *stack) {
    uint32_t home = flow->block_of[at - routine->begin], count = 0;
    memset(seen, 0, flow->block_count);
    stack[count++] = home;
    for (bool first = true; count; first = false) {
        uint32_t number = stack[--count];
        const FlowBlock *block = &flow->blocks[number];
        uint32_t begin = first ? at + 1 : routine->begin + block->begin, end = routine->begin + block->end;
        if (!first && number == home)
            end = at;
        if (quiet_until(program, begin, end) != end)
            continue;
        if (!first && number == home)
            return true;
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t next = flow->edges[block->successors + i];
            if (!seen[next])
                stack[count++] = next;
            seen[next] = true;
        }
    }
    return false;
}

/* Values that are to be followed back. */
typedef struct ValueWork {
    const PtxFlow *flow;
    bool *seen;
    uint32_t *stack, count;
} ValueWork;

static void push_value(ValueWork *work, uint32_t value) {
    if (value == PTX_NONE || work->seen[value])
        return;
    work->seen[value] = true;
    work->stack[work->count++] = value;
}

/* All that an instruction names; what it writes itself does no harm. */
static void push_operands(ValueWork *work, uint32_t instruction) {
    const PtxModule *module = work->flow->module;
    const PtxStatement *statement = &module->statements[work->flow->instructions[instruction]];
    uint32_t count;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    for (uint32_t i = 0; i < count; i++)
        push_value(work, flow_value(work->flow, (uint32_t)(operands + i - module->operands)));
    if (statement->flags & PTX_GUARDED)
        push_value(work, flow_value(work->flow, statement->first));
}

static bool is_in_loop(const PtxFlow *flow, uint32_t block, uint32_t loop) {
    uint32_t inner = flow->blocks[block].loop;
    while (inner != PTX_NONE && inner != loop)
        inner = flow->loops[inner].outer;
    return inner == loop;
}

/* Whether some branch in the innermost loop around a load depends on what it gives. */
static bool decides_loop(ValueWork *work, uint32_t load) {
    const PtxFlow *flow = work->flow;
    uint32_t loop = flow->blocks[flow->block_of[load]].loop;
    memset(work->seen, 0, flow->value_count);
    work->count = 0;
    for (uint32_t i = 0; i < flow->block_count; i++)
        if (flow->blocks[i].ends >= FLOW_BRANCH && flow->blocks[i].end > flow->blocks[i].begin &&
            is_in_loop(flow, i, loop))
            push_operands(work, flow->blocks[i].end - 1);
    while (work->count) {
        const FlowValue *value = &flow->values[work->stack[--work->count]];
        if (value->kind == VALUE_RESULT) {
            if (value->instruction == load)
                return true;
            push_value(work, value->before);
            push_operands(work, value->instruction);
        } else if (value->kind == VALUE_PHI) {
            for (uint32_t i = 0; i < flow->blocks[value->block].predecessor_count; i++)
                push_value(work, flow->inputs[value->inputs + i]);
        }
    }
    return false;
}

/* Waits that may give up, and that no loop makes again until they do not; volatile loads that a loop makes again until
 * they give something else. */
static void note_peeks(PtxProgram *program, const PtxRoutine *routine, const PtxFlow *flow) {
    uint8_t *seen = NULL;
    uint32_t *stack = NULL;
    ValueWork work = {.flow = flow};
    for (uint32_t i = routine->begin; i + 1 < routine->end; i++) {
        PtxCode *code = &program->code[i];
        bool gives_up = false;
        for (unsigned j = 0; j < code->form->effect_count; j++)
            gives_up |= code->form->effects[j].effect.verb == EFFECT_WAIT && code->form->effects[j].effect.gives_up;
        bool loads = code->form->effect_count && code->form->effects[0].effect.verb == EFFECT_READ &&
                     code_has(code, STR("volatile"));
        if (!gives_up && !loads)
            continue;
        if (!seen) {
            seen = ARENA_ARRAY(program->arena, uint8_t, flow->block_count);
            stack = ARENA_ARRAY(program->arena, uint32_t, flow->block_count + 1);
            work.seen = ARENA_ARRAY(program->arena, bool, flow->value_count + 1);
            work.stack = ARENA_ARRAY(program->arena, uint32_t, flow->value_count + 1);
        }
        bool again = comes_back(program, routine, flow, i, seen, stack);
        code->polls = loads && again && decides_loop(&work, i - routine->begin);
        code->once = gives_up && !again;
        program->peeks |= code->once;
    }
}

static void add_code(PtxProgram *program, uint32_t statement, const PtxForm *form) {
    PtxCode *code = ARENA_PUSH(program->arena, program->code, program->code_count, program->code_capacity);
    *code = (PtxCode){.statement = statement, .guard = PTX_NONE, .meets = PTX_NONE, .form = form};
}

/* The code behind each statement of a function. */
static uint32_t *places_of(const PtxFunction *function, const PtxModule *module, uint32_t begin, Arena *scratch) {
    uint32_t *places = arena_alloc(scratch, sizeof(uint32_t) * (size_t)(function->end - function->begin + 1));
    uint32_t at = begin;
    for (uint32_t i = function->begin; i < function->end; i++) {
        places[i - function->begin] = at;
        at += module->statements[i].kind == PTX_INSTRUCTION;
    }
    return places;
}

/* An end that says nothing is a return. */
static bool add_routine(PtxProgram *program, uint32_t index, size_t budget, WantedTypes *types, const char **problem) {
    const PtxModule *module = program->module;
    const PtxFunction *function = &module->functions[index];
    PtxRoutine *routine = &program->routines[index];
    PtxFlow flow;
    if (!ptx_flow(&flow, module, index, budget, problem))
        return false;
    routine->begin = program->code_count;
    for (uint32_t i = 0; i < flow.instruction_count; i++)
        add_code(program, flow.instructions[i], &module->forms[module->statements[flow.instructions[i]].what]);
    add_code(program, function->end - 1, return_form(program));
    routine->end = program->code_count;
    note_meets(program, routine, &flow);
    note_peeks(program, routine, &flow);
    ptx_flow_free(&flow);
    Arena scratch;
    arena_init(&scratch, budget);
    scratch.exhausted = program->arena->exhausted;
    uint32_t *places = places_of(function, module, routine->begin, &scratch);
    for (uint32_t i = routine->begin; i + 1 < routine->end; i++)
        decode_arguments(program, &program->code[i], places, function->begin, types);
    arena_free(&scratch);
    routine->ready = true;
    return true;
}

/* .reqntid and the like. */
static void read_header(PtxProgram *program) {
    const PtxModule *module = program->module;
    const PtxFunction *function = &module->functions[program->entry];
    for (uint32_t i = function->begin; i < function->end; i++) {
        const PtxStatement *statement = &module->statements[i];
        if (statement->kind != PTX_DIRECTIVE || !(statement->flags & PTX_HEADER))
            continue;
        Str word = ptx_name(module, statement->what);
        uint32_t *to = str_is(word, ".reqntid")             ? program->required
                       : str_is(word, ".reqnctapercluster") ? program->cluster
                                                            : NULL;
        program->explicit_cluster |= str_is(word, ".explicitcluster");
        for (uint32_t k = 0; to && k < 3; k++)
            to[k] = k < statement->count ? (uint32_t)module->operands[statement->first + k].value : 1;
    }
}

static bool build(PtxProgram *program, size_t budget, const char **problem) {
    const PtxModule *module = program->module;
    jmp_buf here, *outer = program->arena->exhausted;
    Arena scratch;
    arena_init(&scratch, budget);
    if (setjmp(here)) {
        arena_free(&scratch);
        program->arena->exhausted = outer;
        longjmp(*outer, 1);
    }
    scratch.exhausted = program->arena->exhausted = &here;
    bool *reached = ARENA_ARRAY(&scratch, bool, module->functions_count), whole = true;
    layout_reach(program, &scratch, reached);
    layout_seats(program, reached);
    layout_images(program);
    WantedTypes *types = decode_types(module, &scratch);
    for (uint32_t i = 0; whole && i < module->functions_count; i++)
        if (reached[i] && module->functions[i].body)
            whole = add_routine(program, i, budget, types, problem);
    if (whole)
        prepare_all(program, &scratch);
    program->arena->exhausted = outer;
    arena_free(&scratch);
    return whole;
}

PtxProgram *ptx_program(Arena *arena, const PtxModule *module, uint32_t entry, size_t budget, const char **problem) {
    jmp_buf *before = arena->exhausted, here;
    PtxProgram *volatile program = NULL;
    volatile bool whole = false;
    arena->exhausted = &here;
    if (!setjmp(here)) {
        program = ARENA_NEW(arena, PtxProgram);
        *program = (PtxProgram){.module = module, .arena = arena, .entry = entry};
        program->routines = ARENA_ARRAY(arena, PtxRoutine, module->functions_count);
        for (uint32_t i = 0; i < module->functions_count; i++)
            program->routines[i].function = i;
        program->seats = ARENA_ARRAY(arena, PtxSymbolSlot, module->variables_count);
        program->images = ARENA_ARRAY(arena, uint8_t *, module->variables_count);
        program->used = ARENA_ARRAY(arena, uint8_t, module->variables_count);
        program->specials = special_kinds(arena);
        read_header(program);
        whole = build(program, budget, problem);
    } else {
        *problem = "the kernel takes more memory than there is for it";
    }
    arena->exhausted = before;
    return whole ? program : NULL;
}
