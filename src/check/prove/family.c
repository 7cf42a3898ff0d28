/* Following a run: registers that a launch decides, their shifts, and what is not known. */
#include "check/prove/family_internal.h"

#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/solve.h"

/* ---- The program ---------------------------------------------------------------------------------- */

static bool is_silent_effect(const Effect *effect) {
    return effect->space == SPACE_GLOBAL && effect_is_access(effect) && effect->done == DONE_NOW &&
           effect->proxy != PROXY_TENSORMAP && !effect->expected && !effect->repeats;
}

/* Whether nothing that the instruction does is seen but in registers. */
static bool is_silent(const Program *program, const Instruction *instruction) {
    switch ((Code)instruction->code) {
    case CODE_INTEGER:
    case CODE_EVALUATE:
    case CODE_MOVE:
    case CODE_JUMP:
    case CODE_BRANCH:
    case CODE_SWITCH:
    case CODE_LOOP:
    case CODE_FOR:
    case CODE_NEXT:
    case CODE_PROGRAM_ID:
    case CODE_PROGRAMS:
    case CODE_RANK:
    case CODE_RANKS:
    case CODE_VIEW:
    case CODE_ALLOCATE:
    case CODE_LOAD:
    case CODE_ASSUME:
    case CODE_CELL:
    case CODE_SCRATCH:
    case CODE_DESCRIPTOR:
    case CODE_FROM_POINTER:
        return true;
    case CODE_EFFECTS:
        for (uint32_t i = 0; i < instruction->a; i++)
            if (!is_silent_effect(&program->effects[instruction->aux + i].effect))
                return false;
        return true;
    default:
        return false;
    }
}

static bool jumps(const Instruction *instruction) {
    return instruction->code == CODE_JUMP || instruction->code == CODE_BRANCH || instruction->code == CODE_SWITCH ||
           instruction->code == CODE_FOR || instruction->code == CODE_NEXT;
}

/* Whether [first, end) is entered at its first instruction alone, left to `end` alone, and silent. */
static bool is_silent_part(const Program *program, uint32_t first, uint32_t end) {
    if (end < first || end > program->code_count)
        return false;
    for (uint32_t i = 0; i < program->code_count; i++) {
        const Instruction *instruction = &program->code[i];
        bool inside = i >= first && i < end;
        if (inside && !is_silent(program, instruction))
            return false;
        if (!jumps(instruction))
            continue;
        bool into = instruction->aux > first && instruction->aux < end;
        if (inside ? instruction->aux < first || instruction->aux > end : into)
            return false;
    }
    return true;
}

/* Behind the branch and what it decides, if that is structured so. */
static uint32_t branch_end(const Program *program, uint32_t pc) {
    uint32_t other = program->code[pc].aux;
    const Instruction *last = other > pc + 1 ? &program->code[other - 1] : NULL;
    return last && last->code == CODE_JUMP && last->aux >= other ? last->aux : other;
}

static uint32_t fresh_register(Family *family) {
    return family->program.most_registers++;
}

static void change(Family *family, uint32_t pc) {
    Program *program = &family->program;
    Instruction *instruction = &program->code[pc];
    FamilyPoint *point = &family->points[pc];
    point->was = *instruction;
    switch ((Code)instruction->code) {
    case CODE_PROGRAM_ID:
    case CODE_PROGRAMS:
    case CODE_LOAD:
        point->kind = POINT_OPEN;
        *instruction = (Instruction){.code = CODE_MOVE, .dst = instruction->dst, .a = instruction->dst};
        break;
    case CODE_ASSUME: /* what is assumed may not hold: there are only more runs then */
        *instruction = (Instruction){.code = CODE_JUMP, .aux = pc + 1};
        break;
    case CODE_BRANCH:
        point->kind = POINT_BRANCH;
        point->end = branch_end(program, pc);
        point->silent = is_silent_part(program, pc + 1, point->end);
        instruction->a = fresh_register(family);
        break;
    case CODE_LOOP:
        point->kind = POINT_LOOP;
        point->end = program->code[pc + 1].aux;
        point->silent = is_silent_part(program, pc, point->end);
        break;
    case CODE_EFFECTS:
        for (uint32_t i = instruction->aux; i < instruction->aux + instruction->a; i++) {
            CompiledEffect *effect = &program->effects[i];
            if (effect->predicate != NO_REGISTER)
                effect->predicate = fresh_register(family);
            if (effect->second_predicate != NO_REGISTER)
                effect->second_predicate = fresh_register(family);
        }
        break;
    case CODE_INTEGER:
    case CODE_EVALUATE:
        if (!op_is_closed(program, program->ops[pc])) /* what it gives is made of more than its operands */
            point->kind = POINT_LOOSE;
        break;
    default:
        break;
    }
}

Family *family_create(Arena *arena, const Program *program) {
    Family *family = ARENA_NEW(arena, Family);
    Slice *nothing = ARENA_NEW(arena, Slice);
    family->arena = arena;
    family->original = program;
    family->program = *program;
    slice_init(nothing, program->module);
    family->program.steering = nothing; /* conditions are chosen where they decide something, not where they are made */
    family->program.code = ARENA_ARRAY(arena, Instruction, program->code_count);
    memcpy(family->program.code, program->code, program->code_count * sizeof *program->code);
    family->program.effects = ARENA_ARRAY(arena, CompiledEffect, program->effect_count + 1);
    if (program->effect_count)
        memcpy(family->program.effects, program->effects, program->effect_count * sizeof *program->effects);
    family->points = ARENA_ARRAY(arena, FamilyPoint, program->code_count);
    family->control = program->most_registers;
    family->program.most_registers += 3 * program->loop_count;
    family->kept = family->program.most_registers;
    for (uint32_t pc = 0; pc < program->code_count; pc++)
        change(family, pc);
    family->counting = ARENA_ARRAY(arena, bool, (size_t)program->strand_count * family->kept);
    family->uneven = ARENA_ARRAY(arena, bool, (size_t)program->strand_count * family->kept);
    family->grains = ARENA_ARRAY(arena, int64_t, (size_t)program->strand_count * family->kept);
    family->parameters = ARENA_ARRAY(arena, uint32_t, family->kept);
    return family;
}

const Program *family_program(const Family *family) {
    return &family->program;
}

void family_follow(Family *family, Machine *machine, FamilyVisit *visit, void *context) {
    size_t words = (size_t)machine->agent_count * family->program.most_registers;
    family->machine = machine;
    family->visit = visit;
    family->context = context;
    family->shifts = ARENA_ARRAY(family->arena, Shifts, words);
    family->streaks = ARENA_ARRAY(family->arena, FamilyStreak, words);
    family->agents = ARENA_ARRAY(family->arena, FamilyAgent, machine->agent_count);
    family_prepare_hash(family);
    machine->follow = family_instruction;
    machine->follower = family;
}

/* ---- A run ---------------------------------------------------------------------------------------- */

void family_start(Family *family, const FamilyRun *run) {
    const Machine *machine = family->machine;
    size_t words = (size_t)machine->agent_count * family->program.most_registers;
    family->run = *run;
    family->lanes.count = 2 * family->count_count;
    for (uint32_t i = 0; i < MOST_LANES; i++)
        family->lanes.limits[i] = SHIFT_NO_LIMIT;
    memset(family->shifts, 0, words * sizeof *family->shifts);
    memset(family->streaks, 0, words * sizeof *family->streaks);
    memset(family->agents, 0, machine->agent_count * sizeof *family->agents);
    memset(family->pending, 0, sizeof family->pending);
    memset(family->anchors, 0, sizeof family->anchors);
    for (uint32_t i = 0; i < family->program.code_count; i++)
        family->points[i].times = family->points[i].operands = 0;
    family->snapshots = family->spare = NULL;
    family->snapshot_count = 0;
    family->problem = NULL;
    if (family->is_new) /* what was not known before may be made of a trip count */
        family->condition_count = 0;
    family->is_new = family->learned = false;
}

void family_forget(Family *family) {
    memset(family->counting, 0, (size_t)family->program.strand_count * family->kept * sizeof *family->counting);
    for (uint32_t i = 0; i < family->count_count; i++)
        family->counts[i].period = 0;
}

uint32_t family_trip_counts(const Family *family, TripCount **counts) {
    *counts = (TripCount *)family->counts;
    return family->count_count;
}

uint32_t family_conditions(const Family *family) {
    return family->condition_count;
}

bool family_is_new(const Family *family) {
    return family->is_new;
}

bool family_learned(const Family *family) {
    return family->learned;
}

const char *family_problem(const Family *family, const Op **op) {
    *op = family->problem_op;
    return family->problem;
}

bool family_speaks(const Family *family, uint32_t count) {
    return !family->pending[count].is && family->lanes.limits[2 * count] == SHIFT_NO_LIMIT;
}

int64_t family_reach(const Family *family, uint32_t count) {
    return family->lanes.limits[2 * count + 1];
}

FamilyGrowth family_growth(const Family *family, uint32_t count) {
    return family->growth[count];
}

void family_fail(Family *family, const Instruction *instruction, const char *why) {
    if (family->problem)
        return;
    family->problem = why;
    family->problem_op = family->program.ops[instruction - family->program.code];
    family->machine->budget = 0; /* the run ends */
}

/* ---- Shifts --------------------------------------------------------------------------------------- */

static void decide(Family *family, uint32_t agent, uint32_t reg, bool parity) {
    if (reg != NO_REGISTER)
        shifts_decide(&family->lanes, &family_shifts(family, agent)[reg], parity);
}

static void perform(Family *family, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &family->program.code[pc];
    for (uint32_t i = instruction->aux; i < instruction->aux + instruction->a; i++) {
        const CompiledEffect *was = &family->original->effects[i], *effect = &family->program.effects[i];
        bool silent = is_silent_effect(&was->effect);
        const uint32_t from[] = {was->predicate, was->second_predicate};
        const uint32_t to[] = {effect->predicate, effect->second_predicate};
        for (unsigned k = 0; k < 2; k++)
            if (from[k] != NO_REGISTER)
                family_set(family, agent, to[k],
                           word_integer(silent || family_condition(family, agent, from[k], instruction)), (Shifts){0});
        if (silent)
            continue;
        bool place = was->effect.space != SPACE_GLOBAL || was->effect.proxy == PROXY_TENSORMAP;
        const uint32_t reads[] = {place ? was->on : NO_REGISTER,
                                  place ? was->rows : NO_REGISTER,
                                  was->through,
                                  was->slot,
                                  was->boxes,
                                  was->lands,
                                  was->rank};
        for (unsigned k = 0; k < sizeof reads / sizeof *reads; k++)
            decide(family, agent, reads[k], false);
        if (place)
            decide(family, agent, was->amount, was->effect.verb == EFFECT_WAIT);
    }
}

static int64_t size_of(int64_t number) {
    return number == INT64_MIN ? INT64_MAX : number < 0 ? -number : number;
}

/* Numbers wrap around if they grow for long. */
static void note_growth(Family *family, const Instruction *instruction, const int64_t values[3], const Shifts *result) {
    for (uint32_t i = 0; i < family->lanes.count && instruction->width >= 32 && instruction->width < 64; i += 2) {
        FamilyGrowth *growth = &family->growth[i / 2];
        Shift shift = result->lanes[i];
        int64_t per = family->run.down[i / 2] || !family->counts[i / 2].period ? 1 : family->counts[i / 2].period;
        if (shift.kind == SHIFT_LOOSE || !shift.by)
            continue;
        int64_t fast = (size_of(shift.by) - 1) / per + 1;
        growth->fastest = fast > growth->fastest ? fast : growth->fastest;
        for (unsigned k = 0; k < 2; k++)
            growth->largest = size_of(values[k]) > growth->largest ? size_of(values[k]) : growth->largest;
    }
}

static Shifts evaluated(Family *family, uint32_t agent, const Instruction *instruction) {
    const Word *words = family_words(family, agent);
    const Shifts *shifts = family_shifts(family, agent), *of[3] = {0};
    uint32_t registers[] = {instruction->a, instruction->b, instruction->c};
    const uint32_t *list = registers;
    uint32_t count = 3;
    int64_t values[3] = {0};
    bool same = true, numbers = instruction->code == CODE_INTEGER;
    if (instruction->code == CODE_EVALUATE) {
        list = &family->program.lists[instruction->a];
        count = instruction->b;
        if (instruction->evaluator) /* it depends on what no register holds */
            return shifts_loose(&family->lanes);
    }
    Shifts ends = {0};
    for (uint32_t i = 0; i < count; i++)
        if (list[i] != NO_REGISTER) {
            same &= shifts_are_zero(&family->lanes, &shifts[list[i]]);
            for (uint32_t k = 0; k < family->lanes.count; k++)
                ends.lanes[k].ends = shift_ends(ends.lanes[k].ends, shifts[list[i]].lanes[k].ends);
        }
    if (same)
        return ends;
    for (uint32_t i = 0; numbers && i < count; i++) {
        numbers = list[i] != NO_REGISTER && word_is(words[list[i]], WORD_INTEGER);
        if (numbers) {
            values[i] = words[list[i]].bits;
            of[i] = &shifts[list[i]];
        }
    }
    if (!numbers)
        return shifts_loose(&family->lanes);
    const Evaluation *how = &family->program.evaluations[instruction->aux];
    Shifts result =
        shifts_evaluate(&family->lanes, (Evaluator)instruction->evaluator, instruction->width, how->a, values, of, 3);
    note_growth(family, instruction, values, &result);
    return result;
}

static void start_partitions(Family *family, uint32_t agent, const Fork *fork) {
    uint32_t first = agent - agent % family->program.agents_per_cta + 1;
    const Shifts *from = family_shifts(family, agent);
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        Shifts *to = family_shifts(family, first + k);
        memset(to, 0, family->program.most_registers * sizeof *to);
        for (uint32_t i = 0; i < fork->capture_count; i++) {
            uint32_t reg = family->program.lists[fork->captures + i];
            if (reg != NO_REGISTER)
                to[i] = from[reg];
        }
    }
}

/* Products that were waited for: the number of the last is a number of the agent's products. */
static void finished(Family *family, uint32_t agent) {
    FamilyAgent *own = &family->agents[agent];
    const Agent *state = &family->machine->state->agents[agent];
    if (own->finished == state->finished)
        return;
    own->finished = state->finished;
    own->of_finished = own->of_mmas;
}

static void follow(Family *family, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &family->program.code[pc];
    const Word *words = family_words(family, agent);
    Shifts *shifts = family_shifts(family, agent);
    switch ((Code)instruction->code) {
    case CODE_INTEGER:
    case CODE_EVALUATE:
        shifts[instruction->dst] = evaluated(family, agent, instruction);
        break;
    case CODE_MOVE:
    case CODE_LOOP:
        shifts[instruction->dst] = shifts[instruction->a];
        break;
    case CODE_NEXT:
        for (uint32_t i = 0; i < family->lanes.count; i++)
            shifts[instruction->dst].lanes[i] =
                shift_add(shifts[instruction->dst].lanes[i], shifts[instruction->c].lanes[i]);
        break;
    case CODE_SWITCH:
        decide(family, agent, instruction->a, false);
        break;
    case CODE_VIEW:
    case CODE_BUFFER: {
        Shifts result = shifts[instruction->a];
        const uint32_t places[] = {instruction->b, instruction->code == CODE_VIEW ? instruction->c : NO_REGISTER};
        for (unsigned k = 0; k < 2; k++)
            for (uint32_t i = 0; places[k] != NO_REGISTER && i < family->lanes.count; i++) {
                Shift shift = shifts[places[k]].lanes[i];
                if (shift_is_zero(shift))
                    result.lanes[i].ends = shift_ends(result.lanes[i].ends, shift.ends);
                else
                    result.lanes[i] = (Shift){.kind = SHIFT_LOOSE};
            }
        shifts[instruction->dst] = result;
        break;
    }
    case CODE_KEEP: /* nothing of it is known where it is read */
        break;
    case CODE_KEEP_BUFFER: /* which buffers there are is settled before any loop */
        decide(family, agent, instruction->a, false);
        decide(family, agent, instruction->b, false);
        break;
    case CODE_CELL: /* what shared memory holds may be something else each time */
        shifts[instruction->dst] = shifts_loose(&family->lanes);
        break;
    case CODE_SEQUENCE:
        shifts[instruction->dst] = family->agents[agent].of_mmas;
        break;
    case CODE_FINISHED:
        if (word_is(words[instruction->a], WORD_INTEGER))
            shifts_compare(&family->lanes, COMPARE_SLE, words[instruction->a].bits, &shifts[instruction->a],
                           family->machine->state->agents[agent].finished, &family->agents[agent].of_finished);
        break;
    case CODE_EFFECTS:
        perform(family, agent, pc);
        break;
    case CODE_DESCRIPTOR: {
        const Maker *maker = &family->program.makers[instruction->aux];
        for (uint32_t i = 0; i < maker->box.count; i++)
            decide(family, agent, family->program.lists[maker->box.first + i], false);
        if (instruction->dst != NO_REGISTER)
            shifts[instruction->dst] = (Shifts){0};
        break;
    }
    case CODE_FORK:
        start_partitions(family, agent, &family->program.forks[instruction->aux]);
        break;
    case CODE_CLC:
        family_fail(family, instruction, "cluster launch control is not checked");
        break;
    case CODE_AGAIN:
        family_fail(family, instruction,
                    op_is_loop(family->program.ops[instruction - family->program.code])
                        ? "it does not count, and such loops are not checked"
                        : "a branch leads back to there, and such loops are not checked");
        break;
    case CODE_PROGRAM_ID:
    case CODE_PROGRAMS:
    case CODE_RANK:
    case CODE_RANKS:
    case CODE_ALLOCATE:
    case CODE_SCRATCH:
        shifts[instruction->dst] = (Shifts){0};
        break;
    case CODE_FROM_POINTER:
        shifts[instruction->dst] =
            shifts_are_none(&family->lanes, &shifts[instruction->a]) ? (Shifts){0} : shifts_loose(&family->lanes);
        break;
    case CODE_LOAD:
        shifts[instruction->dst] = shifts_loose(&family->lanes);
        break;
    case CODE_JUMP:
    case CODE_BRANCH:
    case CODE_FOR:
    case CODE_ASSUME:
    case CODE_JOIN:
    case CODE_END:
        break;
    }
}

/* Where a pointer points is not known either. */
static void take_parameters(Family *family, uint32_t agent) {
    for (uint32_t i = 0; i < family->program.parameter_count; i++) {
        const Parameter *parameter = &family->program.parameters[i];
        if (parameter->reg != NO_REGISTER && type_is(parameter->type, STR("tt.ptr")))
            family_set(family, agent, parameter->reg, word_unknown(identity_mix(0x9417, i)), (Shifts){0});
    }
    for (uint32_t reg = 0; reg < family->control; reg++)
        if (family->parameters[reg])
            family_set(family, agent, reg, word_integer(family->run.trips[family->parameters[reg] - 1]),
                       family_trip_shifts(family, family->parameters[reg] - 1));
}

static void guess_slot(const Family *family, uint32_t agent, const Instruction *view) {
    const uint32_t places[] = {view->b, view->c};
    for (unsigned i = 0; i < 2; i++)
        if (places[i] != NO_REGISTER && word_is(family_words(family, agent)[places[i]], WORD_UNKNOWN))
            family_set(family, agent, places[i], word_integer(0), (Shifts){0});
}

void family_instruction(void *follower, uint32_t agent, const Instruction *instruction) {
    Family *family = follower;
    uint32_t pc = (uint32_t)(instruction - family->program.code);
    FamilyPoint *point = &family->points[pc];
    if (family->problem || family->is_new)
        return;
    finished(family, agent);
    if (pc == family->program.strands[0].entry && !family->agents[agent].begun) {
        take_parameters(family, agent);
        family->agents[agent].begun = true;
    }
    switch (point->kind) {
    case POINT_OPEN:
        family_open(family, agent, pc);
        return;
    case POINT_TRIPS:
        family_define(family, agent, pc);
        return;
    case POINT_BRANCH:
        family_branch(family, agent, pc);
        return;
    case POINT_LOOP:
        family_enter(family, agent, pc);
        family_entered(family, agent, pc + 1);
        break;
    case POINT_LOOSE:
        family_shifts(family, agent)[instruction->dst] = shifts_loose(&family->lanes);
        return;
    case POINT_PLAIN:
        break;
    }
    if (family->problem || family->is_new)
        return;
    if (instruction->code == CODE_FOR)
        family_loop_head(family, agent, pc);
    if (family->run.guesses && instruction->code == CODE_VIEW)
        guess_slot(family, agent, instruction);
    follow(family, agent, pc);
}
