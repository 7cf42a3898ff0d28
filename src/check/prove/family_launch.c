/* What a launch decides in a run of a family: trip counts, conditions, and what is not known. */
#include "check/prove/family_internal.h"

#include "base/deadline.h"
#include "model/number/tensor.h"

/* ---- What a launch decides ------------------------------------------------------------------------ */

Shifts family_trip_shifts(const Family *family, uint32_t count) {
    Shifts shifts = {0};
    const TripCount *trips = &family->counts[count];
    shifts.lanes[2 * count].by = family->run.down[count] ? -1 : trips->period ? trips->period : 1;
    shifts.lanes[2 * count + 1].by = 1;
    return shifts;
}

void family_set(const Family *family, uint32_t agent, uint32_t reg, Word word, Shifts shifts) {
    size_t at = (size_t)agent * family->program.most_registers + reg;
    family->machine->state->words[at] = word;
    family->shifts[at] = shifts;
}

/* What the registers that an instruction reads stand for. */
static uint64_t operands_identity(const Family *family, uint32_t agent, const Instruction *instruction) {
    const Word *words = family_words(family, agent);
    uint32_t registers[] = {instruction->a, instruction->b, instruction->c}, count = 3;
    const uint32_t *list = registers;
    uint64_t identity = 1;
    if (instruction->code == CODE_EVALUATE) {
        list = &family->program.lists[instruction->a];
        count = instruction->b;
    } else if (instruction->code != CODE_INTEGER && instruction->code != CODE_MOVE) {
        return identity;
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i] != NO_REGISTER && (instruction->code != CODE_MOVE || !i))
            identity = identity_mix(identity, word_identity(words[list[i]]));
    return identity;
}

static bool operands_differ(const Family *family, uint32_t agent, const Instruction *instruction) {
    const Shifts *shifts = family_shifts(family, agent);
    uint32_t registers[] = {instruction->a, instruction->b, instruction->c}, count = 3;
    const uint32_t *list = registers;
    if (instruction->code == CODE_EVALUATE) {
        list = &family->program.lists[instruction->a];
        count = instruction->b;
    } else if (instruction->code != CODE_INTEGER && instruction->code != CODE_MOVE) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        if (list[i] != NO_REGISTER && (instruction->code != CODE_MOVE || !i) &&
            !shifts_are_none(&family->lanes, &shifts[list[i]]))
            return true;
    return false;
}

/* A register that is a trip count is given its value. */
void family_define(Family *family, uint32_t agent, uint32_t pc) {
    FamilyPoint *point = &family->points[pc];
    uint64_t operands = operands_identity(family, agent, &point->was);
    if (point->operands && point->operands != operands)
        family_fail(family, &family->program.code[pc], "the trip count of a loop changes from time to time");
    if (point->was.code == CODE_LOAD && point->times++)
        family_fail(family, &family->program.code[pc], "the trip count of a loop is loaded more than once");
    if (operands_differ(family, agent, &point->was))
        family_fail(family, &family->program.code[pc], "the trip count of a loop depends on another loop");
    point->operands = operands;
    family_set(family, agent, point->was.dst, word_integer(family->run.trips[point->count]),
               family_trip_shifts(family, point->count));
}

/* A program id, the size of the grid, data: something that is not known. What is read first is the same for the whole
 * launch; what is read again may be something else each time. */
void family_open(Family *family, uint32_t agent, uint32_t pc) {
    FamilyPoint *point = &family->points[pc];
    const Instruction *was = &point->was;
    uint64_t identity = identity_mix(0x09e4 + was->code, was->aux);
    Shifts shifts = {0};
    if (was->code == CODE_LOAD) {
        identity = identity_mix(identity_mix(identity, pc), identity_mix(agent, point->times));
        if (point->times++)
            shifts = shifts_loose(&family->lanes);
    } else if (family->program.ranks_are_programs && was->code == CODE_PROGRAM_ID) {
        identity = identity_mix(identity, agent_cta(family->machine, agent));
    }
    const CompiledLoad *load = was->code == CODE_LOAD ? &family->program.loads[was->aux] : NULL;
    const Type *type = load ? load->type : NULL;
    Word word = word_unknown(identity);
    if (type && type->kind == TYPE_TENSOR) /* no tensor of data decides anything */
        shifts = shifts_loose(&family->lanes);
    family_set(family, agent, was->dst, word, shifts);
}

/* The condition is the same in the whole launch: whether it holds is chosen. */
static bool choose(Family *family, Word word, const Instruction *instruction) {
    uint32_t at = 0;
    while (at < family->condition_count && family->conditions[at] != (uint64_t)word.bits)
        at++;
    if (at == family->condition_count && family->run.guesses)
        return false;
    if (at == MOST_CONDITIONS) {
        family_fail(family, instruction, "a launch decides more conditions than are checked together");
        return false;
    }
    if (at == family->condition_count)
        family->conditions[family->condition_count++] = (uint64_t)word.bits;
    return family->run.conditions >> at & 1;
}

/* What a condition is; of one that is not known, what was chosen. */
bool family_condition(Family *family, uint32_t agent, uint32_t reg, const Instruction *instruction) {
    Word word = family_words(family, agent)[reg];
    const Shifts *shifts = &family_shifts(family, agent)[reg];
    if (word_is(word, WORD_INTEGER)) {
        shifts_decide(&family->lanes, shifts, false);
        return word.bits;
    }
    if (word_is(word, WORD_UNKNOWN) && shifts_are_none(&family->lanes, shifts))
        return choose(family, word, instruction);
    family_fail(family, instruction,
                "what it decides about synchronization depends on data, or changes from trip to trip");
    return false;
}

/* What [first, end) may write holds something unknown. */
static void forget(Family *family, uint32_t agent, uint32_t first, uint32_t end) {
    for (uint32_t pc = first; pc < end; pc++) {
        const Instruction *instruction = &family->points[pc].was;
        bool writes = instruction->code != CODE_BRANCH && instruction->code != CODE_SWITCH &&
                      instruction->code != CODE_JUMP && instruction->code != CODE_EFFECTS &&
                      instruction->code != CODE_ASSUME;
        if (writes && instruction->dst != NO_REGISTER)
            family_set(family, agent, instruction->dst, word_unknown(identity_mix(0xf09e7, pc)),
                       shifts_loose(&family->lanes));
    }
}

void family_branch(Family *family, uint32_t agent, uint32_t pc) {
    FamilyPoint *point = &family->points[pc];
    Instruction *instruction = &family->program.code[pc];
    Word word = family_words(family, agent)[point->was.a];
    const Shifts *shifts = &family_shifts(family, agent)[point->was.a];
    bool known = word_is(word, WORD_INTEGER) && shifts_are_none(&family->lanes, shifts);
    instruction->aux = point->was.aux;
    if (!known && point->silent) {
        forget(family, agent, pc + 1, point->end);
        instruction->aux = point->end;
        family_set(family, agent, instruction->a, word_integer(0), (Shifts){0});
        return;
    }
    bool holds = family_condition(family, agent, point->was.a, instruction);
    family_set(family, agent, instruction->a, word_integer(holds), (Shifts){0});
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static uint32_t find_count(Family *family, uint64_t identity, const Instruction *instruction, TripCount *first) {
    for (uint32_t i = 0; i < family->count_count; i++)
        if (family->counts[i].identity == identity)
            return i;
    if (family->count_count == MOST_TRIP_COUNTS) {
        family_fail(family, instruction,
                    "there are more loops with trip counts of their own than are checked together");
        return MOST_TRIP_COUNTS;
    }
    first->identity = identity;
    family->counts[family->count_count] = *first;
    family->is_new = true;
    return family->count_count++;
}

static uint32_t strand_end(const Program *program, uint32_t strand) {
    return strand + 1 < program->strand_count ? program->strands[strand + 1].entry : program->code_count;
}

/* The one instruction that defines the register of a strand; UINT32_MAX: there are several, or it is not one of the
 * strand's instructions that does. */
static uint32_t definition(const Family *family, uint32_t strand, uint32_t reg, bool *several) {
    uint32_t found = UINT32_MAX;
    for (uint32_t pc = family->program.strands[strand].entry; pc < strand_end(&family->program, strand); pc++) {
        const Instruction *was = &family->points[pc].was;
        bool writes = was->code != CODE_EFFECTS && was->code != CODE_BRANCH && was->code != CODE_JUMP &&
                      was->code != CODE_SWITCH && was->code != CODE_ASSUME;
        if (!writes || was->dst != reg)
            continue;
        *several |= found != UINT32_MAX;
        found = pc;
    }
    return found;
}

/* Where a number is defined: a register of a strand, at an instruction or, for UINT32_MAX, as a parameter. */
typedef struct FamilyOrigin {
    uint32_t agent, reg, pc;
    int64_t factor, more; /* what was looked for is factor times that, and more */
} FamilyOrigin;

/* One step back from a number, to one of which it is a multiple and more: the register; NO_REGISTER if there is none.
 */
static uint32_t step_back(const Family *family, const FamilyOrigin *origin, int64_t *factor, int64_t *more) {
    const Instruction *was = &family->points[origin->pc].was;
    const Word *words = family_words(family, origin->agent);
    *more = 0;
    *factor = 1;
    if (was->code == CODE_MOVE)
        return was->a;
    if (was->code != CODE_INTEGER || was->width < 32) /* narrow numbers wrap around */
        return NO_REGISTER;
    bool first = word_is(words[was->a], WORD_UNKNOWN), second = word_is(words[was->b], WORD_INTEGER);
    switch ((Evaluator)was->evaluator) {
    case EVALUATE_SIGN_EXTEND:
        return first ? was->a : NO_REGISTER;
    case EVALUATE_ADD:
        if (word_is(words[was->a], WORD_INTEGER) && word_is(words[was->b], WORD_UNKNOWN)) {
            *more = words[was->a].bits;
            return was->b;
        }
        *more = words[was->b].bits;
        return first && second ? was->a : NO_REGISTER;
    case EVALUATE_SUBTRACT:
        *more = second ? -words[was->b].bits : 0;
        return first && second ? was->a : NO_REGISTER;
    case EVALUATE_MULTIPLY:
        *factor = second ? words[was->b].bits : 0;
        return first && second && *factor > 0 && *factor < INT32_MAX ? was->a : NO_REGISTER;
    default:
        return NO_REGISTER;
    }
}

/* Finds it; false if it is not one place. */
static bool find_origin(const Family *family, FamilyOrigin *origin) {
    const Program *program = &family->program;
    for (int steps = 0; steps < 16; steps++) {
        bool several = false;
        uint32_t strand = family->machine->state->agents[origin->agent].strand;
        origin->pc = definition(family, strand, origin->reg, &several);
        if (several)
            return false;
        if (origin->pc != UINT32_MAX) {
            int64_t factor, more, all;
            uint32_t back = step_back(family, origin, &factor, &more);
            if (back == NO_REGISTER)
                return true;
            if (__builtin_mul_overflow(more, origin->factor, &all) ||
                __builtin_add_overflow(origin->more, all, &origin->more) ||
                __builtin_mul_overflow(origin->factor, factor, &origin->factor))
                return false;
            origin->reg = back;
            continue;
        }
        if (strand == 0) {
            for (uint32_t i = 0; i < program->parameter_count; i++)
                if (program->parameters[i].reg == origin->reg)
                    return true;
            return false;
        }
        uint32_t captured = NO_REGISTER;
        for (uint32_t i = 0; i < program->fork_count; i++) {
            const Fork *fork = &program->forks[i];
            if (strand >= fork->first_strand && strand < fork->first_strand + fork->strand_count &&
                origin->reg < fork->capture_count)
                captured = program->lists[fork->captures + origin->reg];
        }
        if (captured == NO_REGISTER)
            return false;
        origin->agent -= origin->agent % program->agents_per_cta;
        origin->reg = captured;
    }
    return false;
}

/* The number is a trip count from there on; false if that is not to be had. */
static bool define_at(Family *family, const FamilyOrigin *origin, uint32_t count) {
    if (origin->pc == UINT32_MAX) {
        family->parameters[origin->reg] = count + 1;
        return true;
    }
    FamilyPoint *point = &family->points[origin->pc];
    if (point->was.code != CODE_INTEGER && point->was.code != CODE_EVALUATE && point->was.code != CODE_LOAD &&
        point->was.code != CODE_PROGRAMS && point->was.code != CODE_PROGRAM_ID)
        return false;
    if (point->was.code == CODE_PROGRAM_ID && family->program.ranks_are_programs)
        return false; /* each CTA of a cluster has its own */
    point->kind = POINT_TRIPS;
    point->count = count;
    family->program.code[origin->pc] = (Instruction){.code = CODE_MOVE, .dst = point->was.dst, .a = point->was.dst};
    return true;
}

/* The loop goes by registers of its own from here on. */
static void take_control(Family *family, uint32_t pc, bool own) {
    Instruction *loop = &family->program.code[pc];
    uint32_t first = family->control + 3 * loop->aux;
    for (uint32_t i = pc; i < family->points[pc].end; i++) {
        Instruction *instruction = &family->program.code[i];
        bool part = i == pc || i == pc + 1 || (instruction->code == CODE_NEXT && instruction->aux == pc + 1);
        if (!part)
            continue;
        const Instruction *was = &family->points[i].was;
        instruction->dst = own ? first : was->dst;
        instruction->a = own && i == pc ? first : was->a;
        instruction->b = own && was->b != NO_REGISTER ? first + 1 : was->b;
        instruction->c = own ? first + 2 : was->c;
    }
    family->points[pc].own = own;
}

static void control_loop(Family *family, uint32_t agent, uint32_t pc, int64_t trips, Shifts shifts) {
    uint32_t first = family->control + 3 * family->program.code[pc].aux;
    take_control(family, pc, true);
    family_set(family, agent, first, word_integer(0), (Shifts){0});
    family_set(family, agent, first + 1, word_integer(trips), shifts);
    family_set(family, agent, first + 2, word_integer(1), (Shifts){0});
}

void family_enter(Family *family, uint32_t agent, uint32_t pc) {
    FamilyPoint *point = &family->points[pc];
    const Instruction *was = &point->was;
    const Word *words = family_words(family, agent);
    const Shifts *shifts = family_shifts(family, agent);
    const uint32_t bounds[] = {was->a, was->b, was->c};
    bool known = true, same = true;
    uint64_t identity = 0x7219;
    for (unsigned i = 0; i < 3; i++) {
        if (bounds[i] == NO_REGISTER) {
            family_fail(family, was, "its bounds are not known");
            return;
        }
        known &= word_is(words[bounds[i]], WORD_INTEGER);
        same &= shifts_are_none(&family->lanes, &shifts[bounds[i]]);
        identity = identity_mix(identity, word_identity(words[bounds[i]]));
    }
    if (known) {
        take_control(family, pc, false);
        shifts_decide(&family->lanes, &shifts[was->c], false);
        return;
    }
    if (point->silent) {
        forget(family, agent, pc, point->end);
        control_loop(family, agent, pc, 0, (Shifts){0});
        return;
    }
    if (!same) {
        family_fail(family, &family->program.code[pc], "its trip count depends on data, or on another loop");
        return;
    }
    TripCount first = {.loop = family->program.ops[pc], .factor = 1, .step = 1, .counts = true};
    bool bound = word_is(words[was->a], WORD_INTEGER) && word_is(words[was->c], WORD_INTEGER) && words[was->c].bits > 0;
    FamilyOrigin origin = {.agent = agent, .reg = was->b, .factor = 1};
    if (bound && find_origin(family, &origin)) { /* the bound itself: it may be compared with elsewhere */
        TripCount of_bound = {.loop = first.loop,
                              .factor = origin.factor,
                              .more = origin.more - words[was->a].bits,
                              .step = words[was->c].bits};
        (void)integer_divide(-of_bound.more, of_bound.factor, 64, -1, &of_bound.from);
        uint64_t of = word_identity(family_words(family, origin.agent)[origin.reg]);
        uint32_t before = family->count_count;
        uint32_t count = find_count(family, of, &family->program.code[pc], &of_bound);
        if (count == MOST_TRIP_COUNTS)
            return;
        if (define_at(family, &origin, count)) {
            family->is_new = true;
            family->machine->budget = 0;
            return;
        }
        family->count_count = before;
    }
    uint32_t count = find_count(family, identity, &family->program.code[pc], &first);
    if (count == MOST_TRIP_COUNTS)
        return;
    if (family->is_new) { /* the run begins again, with lanes for it */
        family->machine->budget = 0;
        control_loop(family, agent, pc, 0, (Shifts){0});
        return;
    }
    control_loop(family, agent, pc, family->run.trips[count], family_trip_shifts(family, count));
}

/* The head of a loop. What it counts by itself is not known to the rest. */
void family_loop_head(Family *family, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &family->program.code[pc];
    if (++family->heads % 64 == 0 && deadline_now() > family->run.end)
        family_fail(family, instruction, "there is no time left");
    const Word *words = family_words(family, agent);
    const Shifts *shifts = family_shifts(family, agent);
    if (family->points[pc - 1].own)
        family_set(family, agent, family->points[pc].was.dst,
                   word_unknown(identity_mix(0x1009 + pc, (uint64_t)words[instruction->dst].bits)),
                   shifts_loose(&family->lanes));
    family_head(family, agent, pc);
    shifts_compare(&family->lanes, instruction->operand_width ? COMPARE_ULT : COMPARE_SLT, words[instruction->dst].bits,
                   &shifts[instruction->dst], words[instruction->b].bits, &shifts[instruction->b]);
}
