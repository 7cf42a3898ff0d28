/* Runs of a scout: what lanes are, and what they do. */
#include "base/deadline.h"
#include "base/number.h"
#include "machine/simt/arith/compute.h"
#include "machine/simt/core/internal.h"
#include "machine/simt/launch/scout_internal.h"

#include "ptx/effects.h"

static const uint64_t run_instructions = UINT64_C(1) << 18;

/* ---- For the machine ------------------------------------------------------------------------------ */

void ptx_scout_special(const PtxMachine *machine, unsigned first, unsigned axis, Lanes *values) {
    const PtxScout *scout = machine->scout;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        const int64_t *at = scout->candidates[i < scout->sent ? i : 0];
        values->at[i] = axis < 3 ? (uint64_t)at[first + axis] : first == SCOUT_GRID || first == SCOUT_BLOCK;
    }
}

static void note_ways(PtxScout *scout, const PtxCode *code, uint32_t yes, uint32_t no) {
    uint32_t *went = &scout->went[2 * (code - scout->program->code)];
    went[0] |= no;
    went[1] |= yes;
}

static int64_t as_number(PtxType type, uint64_t value) {
    if (type.class == CLASS_SIGNED && type.bits < 64)
        return (int64_t)(value << (64 - type.bits)) >> (64 - type.bits);
    return (int64_t)value;
}

/* How far a comparison is from the other outcome. */
static void note_distance(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxScout *scout = machine->scout;
    const Compute *how = code->detail;
    ScoutComparison *comparison = scout->comparisons[code - scout->program->code];
    Lanes scratch[2];
    uint32_t unknown[2];
    const Lanes *a = compute_fetch(machine, group, &how->from[0], &scratch[0], &unknown[0]);
    const Lanes *b = compute_fetch(machine, group, &how->from[1], &scratch[1], &unknown[1]);
    for (uint32_t rest = lanes & ~(unknown[0] | unknown[1]); rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        int64_t distance;
        if (__builtin_sub_overflow(as_number(how->type, a->at[i]), as_number(how->type, b->at[i]), &distance))
            continue;
        if (!(comparison->seen >> i & 1) || magnitude(distance) < magnitude(comparison->distance[i]))
            comparison->distance[i] = distance;
        comparison->seen |= UINT32_C(1) << i;
    }
}

static void put_numbers(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t parameter, uint32_t lanes) {
    const PtxScout *scout = machine->scout;
    const PtxArgument *to = code_argument(machine->program, code, 0);
    uint64_t mask = low_ones(to->bits);
    Lanes values;
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = (uint64_t)scout->candidates[i < scout->sent ? i : 0][SCOUT_NUMBERS + parameter] & mask;
    ptx_put(machine, group, to, 0, &values, lanes, 0);
}

static void note_places(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxScout *scout = machine->scout;
    uint32_t at = (uint32_t)(code - scout->program->code), unknown = 0;
    Lanes scratch;
    const Lanes *addresses =
        ptx_fetch_address(machine, group, code_named(machine->program, code, STR("a")), &scratch, &unknown);
    for (uint32_t rest = lanes & ~unknown & ~scout->placed[at]; rest; rest &= rest - 1) /* the first time */
        scout->places[at]->at[__builtin_ctz(rest)] = addresses->at[__builtin_ctz(rest)];
    scout->placed[at] |= lanes & ~unknown;
}

PtxStep ptx_scout_step(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    PtxScout *scout = machine->scout;
    uint32_t at = (uint32_t)(code - scout->program->code);
    if (code->guard != PTX_NONE)
        note_ways(scout, code, lanes, group->lanes & ~lanes);
    if (!lanes)
        return PTX_STEP_NEXT;
    if (scout->comparisons[at])
        note_distance(machine, group, code, lanes);
    if (scout->loads[at] != PTX_NONE) {
        put_numbers(machine, group, code, scout->loads[at], lanes);
        return PTX_STEP_NEXT;
    }
    if (scout->places[at])
        note_places(machine, group, code, lanes);
    if (!scout->runs[at])
        return ptx_skip(machine, group, code, lanes);
    if (code->form->evaluator == PTX_EVALUATE_SELP) {
        const Compute *how = code->detail;
        uint32_t unknown = 0, mask = ptx_fetch_mask(machine, group, &how->chooser, &unknown);
        note_ways(scout, code, mask & lanes & ~unknown, ~mask & lanes & ~unknown);
    }
    PtxStep step = code->run(machine, group, code, lanes);
    if (scout->comparisons[at]) {
        uint32_t unknown = 0, mask = ptx_fetch_mask(machine, group, &((const Compute *)code->detail)->to, &unknown);
        note_ways(scout, code, mask & lanes & ~unknown, ~mask & lanes & ~unknown);
    }
    if (step != PTX_STEP_FAULT && step != PTX_STEP_UNKNOWN)
        return step;
    machine->unknown = NULL;
    ptx_exit(machine, group, lanes); /* others go on */
    return PTX_STEP_MOVED;
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

static PtxGroup *who_can_go(const PtxMachine *machine, const PtxWarp *warp) {
    for (PtxGroup *group = warp->groups; group; group = group->next)
        if (ptx_group_can_go(machine, group))
            return group;
    return NULL;
}

static void keep(PtxScout *scout) {
    for (uint32_t i = 0; i < 2 * scout->program->code_count; i++) {
        if (!scout->went[i] || scout->known[i])
            continue;
        scout->known[i] = ARENA_ARRAY(scout->arena, int64_t, scout->count);
        memcpy(scout->known[i], scout->candidates[__builtin_ctz(scout->went[i])], scout->count * sizeof **scout->known);
    }
}

void scout_run(PtxScout *scout, unsigned havoc_choice) {
    PtxMachine *machine = scout->machine;
    uint32_t codes = scout->program->code_count;
    memset(scout->went, 0, 2 * codes * sizeof *scout->went);
    memset(scout->placed, 0, codes * sizeof *scout->placed);
    for (uint32_t i = 0; i < codes; i++)
        if (scout->comparisons[i])
            scout->comparisons[i]->seen = 0;
    machine->budget = run_instructions < scout->left ? run_instructions : scout->left;
    machine->havoc_choice = havoc_choice;
    ptx_machine_start(machine);
    ptx_machine_begin(machine, 0);
    PtxWarp *warp = &machine->ctas[0]->warps[0];
    uint32_t unsent = scout->sent < PTX_LANES ? warp->launched & ~((UINT32_C(1) << scout->sent) - 1) : 0;
    if (unsent)
        ptx_exit(machine, warp->groups, unsent);
    for (;;) {
        PtxGroup *group = who_can_go(machine, warp);
        if (!group && !ptx_warp_release(machine, warp))
            break;
        if (deadline_passed())
            scout->left = 0;
        if (!scout->left || (group && ptx_group_turn(machine, group) == PTX_TURN_BUDGET))
            break;
    }
    scout->left -= machine->used < scout->left ? machine->used : scout->left;
    keep(scout);
}

/* ---- Making one ----------------------------------------------------------------------------------- */

static uint32_t parameter_of(const PtxProgram *program, const PtxCode *code) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    if (code->form->evaluator != PTX_EVALUATE_LOAD || code->count != 2 ||
        ptx_space_of_form(code->form->text, 0) != PTX_SPACE_PARAM)
        return PTX_NONE;
    const PtxArgument *to = code_argument(program, code, 0), *address = code_argument(program, code, 1);
    if (to->kind != ARGUMENT_ROW || address->kind != ARGUMENT_ADDRESS || address->count != 1 || address->offset)
        return PTX_NONE;
    const PtxArgument *base = argument_member(program, address, 0);
    uint32_t parameter = base->slot - kernel->parameters;
    return base->kind == ARGUMENT_SYMBOL && !base->offset && parameter < kernel->parameter_count ? parameter : PTX_NONE;
}

/* Whether a thread does it by itself, with what it has. */
static bool is_own(const PtxProgram *program, const PtxCode *code) {
    const PtxStatement *statement = &program->module->statements[code->statement];
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (code->visible || code->blocks || code->together || code->form->evaluator == PTX_EVALUATE_ACTIVEMASK)
        return false;
    if (statement->kind != PTX_INSTRUCTION || !ptx_effects_of(program->module, statement, effects))
        return true;
    PtxSpace space = ptx_space_of_form(code->form->text, 0);
    return space == PTX_SPACE_PARAM || space == PTX_SPACE_LOCAL || space == PTX_SPACE_CONST;
}

static bool is_shared_store(const PtxProgram *program, const PtxCode *code) {
    const PtxStatement *statement = &program->module->statements[code->statement];
    PtxEffect effects[PTX_EFFECTS_MOST];
    return statement->kind == PTX_INSTRUCTION && code->visible &&
           ptx_space_of_form(code->form->text, 0) == PTX_SPACE_SHARED && code_named(program, code, STR("a")) &&
           ptx_effects_of(program->module, statement, effects) == 1 && effects[0].effect.verb == EFFECT_WRITE;
}

static bool is_comparison(const PtxCode *code) {
    const Compute *how = code->detail;
    return code->form->evaluator == PTX_EVALUATE_SETP && code->run != ptx_run_unknown && how->count == 2 &&
           how->type.count == 1 && (how->type.class == CLASS_SIGNED || how->type.class == CLASS_UNSIGNED);
}

/* Which special registers are read. */
static void open_shape(PtxScout *scout, const Launch *fixed) {
    static const struct {
        const char *name;
        unsigned first;
    } specials[] = {{"%nctaid", SCOUT_GRID}, {"%ntid", SCOUT_BLOCK}, {"%ctaid", SCOUT_CTA}, {"%tid", SCOUT_THREAD}};
    const PtxModule *module = scout->program->module;
    for (uint32_t i = 0; i < scout->program->argument_count; i++) {
        const PtxArgument *argument = &scout->program->arguments[i];
        if (argument->kind != ARGUMENT_READ_ONLY)
            continue;
        const char *name = ptx_special_at(module->operands[argument->operand].a)->name;
        for (unsigned k = 0; k < sizeof specials / sizeof *specials; k++)
            if (strcmp(name, specials[k].name) == 0 && argument->part >= PTX_X && argument->part <= PTX_Z)
                scout->open[specials[k].first + argument->part - PTX_X] = true;
    }
    for (unsigned i = 0; i < 3; i++) {
        scout->open[SCOUT_GRID + i] &= !fixed || !fixed->grid[0];
        scout->open[SCOUT_BLOCK + i] &= !scout->program->required[0] && (!fixed || !fixed->block[0]);
    }
}

static void open_numbers(PtxScout *scout, const PtxLaunch *like, const Launch *fixed) {
    const PtxProgram *program = scout->program;
    for (uint32_t i = 0; i < scout->count - SCOUT_NUMBERS; i++) {
        PtxParameter parameter = ptx_parameter(program->module, program->entry, i);
        uint32_t number = SCOUT_NUMBERS + i;
        int64_t any;
        scout->open[number] = parameter.scalar && ptx_launch_number(program, like, i, &any) &&
                              !(fixed && ptx_launch_argument(fixed, &parameter, i) != PTX_NONE);
        scout->most[number] = parameter.bits < 64 ? (INT64_C(1) << (parameter.bits - 1)) - 1 : INT64_MAX;
        scout->least[number] = parameter.bits < 64 ? -(INT64_C(1) << (parameter.bits - 1)) : INT64_MIN;
    }
    for (uint32_t i = 0; i < program->code_count; i++) {
        uint32_t loads = parameter_of(program, &program->code[i]);
        scout->loads[i] = loads != PTX_NONE && scout->open[SCOUT_NUMBERS + loads] ? loads : PTX_NONE;
    }
}

PtxScout *ptx_scout(Arena *arena, const PtxProgram *program, const PtxLaunch *like, const Launch *fixed,
                    uint64_t budget) {
    const char *problem;
    PtxScout *scout = ARENA_NEW(arena, PtxScout);
    uint32_t codes = program->code_count;
    scout->arena = arena;
    scout->program = program;
    scout->count = SCOUT_NUMBERS + program->module->functions[program->entry].parameter_count;
    scout->left = budget;
    scout->open = ARENA_ARRAY(arena, bool, scout->count);
    scout->least = ARENA_ARRAY(arena, int64_t, scout->count);
    scout->most = ARENA_ARRAY(arena, int64_t, scout->count);
    scout->loads = ARENA_ARRAY(arena, uint32_t, codes + 1);
    scout->runs = ARENA_ARRAY(arena, bool, codes + 1);
    scout->comparisons = ARENA_ARRAY(arena, ScoutComparison *, codes + 1);
    scout->places = ARENA_ARRAY(arena, Lanes *, codes + 1);
    scout->placed = ARENA_ARRAY(arena, uint32_t, codes + 1);
    scout->went = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)codes + 1);
    scout->known = ARENA_ARRAY(arena, int64_t *, 2 * (size_t)codes + 1);
    scout->tried = ARENA_ARRAY(arena, bool, 2 * (size_t)codes + 1);
    for (unsigned i = 0; i < PTX_LANES; i++)
        scout->candidates[i] = ARENA_ARRAY(arena, int64_t, scout->count);
    open_shape(scout, fixed);
    open_numbers(scout, like, fixed);
    for (uint32_t i = 0; i < codes; i++) {
        scout->runs[i] = is_own(program, &program->code[i]);
        if (is_shared_store(program, &program->code[i]))
            scout->places[i] = ARENA_NEW(arena, Lanes);
        if (is_comparison(&program->code[i]))
            scout->comparisons[i] = ARENA_NEW(arena, ScoutComparison);
    }
    if (!ptx_flow(&scout->flow, program->module, program->entry, ptx_flow_budget(program->module), &problem))
        return NULL;
    scout->machine = ptx_machine(program, like, COMPUTES_ALL, &problem);
    if (!scout->machine) {
        ptx_flow_free(&scout->flow);
        return NULL;
    }
    scout->machine->scout = scout;
    scout->machine->arena.exhausted = arena->exhausted;
    scout->lanes = scout->machine->threads_per_cta < PTX_LANES ? scout->machine->threads_per_cta : PTX_LANES;
    return scout;
}

void ptx_scout_free(PtxScout *scout) {
    if (!scout)
        return;
    ptx_machine_free(scout->machine);
    ptx_flow_free(&scout->flow);
}

bool ptx_scout_is_open(const PtxScout *scout, unsigned number) {
    return number < scout->count && scout->open[number];
}

uint32_t ptx_scout_count(const PtxScout *scout) {
    return scout->count;
}
