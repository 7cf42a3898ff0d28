/* The instructions of an agent, up to its next visible effect. */
#include "base/deadline.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/step/machine_internal.h"
#include "machine/tile/step/symmetry.h"
#include "model/number/tensor.h"

/* What comes from the memory of a CTA is not what another one has, though it came about in the same way. */
static Word unknown_of_cta(Machine *machine, uint32_t cta, const Evaluation *how, Word word) {
    uint64_t identity = identity_mix(machine->serial + cta, word_identity(word));
    if (word_is(word, WORD_TENSOR) && !word.tensor->known)
        return tensor_unknown(how, identity, machine->arena);
    return word_is(word, WORD_UNKNOWN) ? word_unknown(identity) : word;
}

/* A condition that is not known, and that steers, is chosen where it is made: so whatever is made of it agrees. */
static Word settled(Machine *machine, const Op *op, const Evaluation *how, Word word, const Word *operands) {
    bool open = word_is(word, WORD_UNKNOWN) && !how->tensor && how->width == 1 && how->result < op->result_count;
    if (!open || !slice_has(machine->program->steering, &op->results[how->result]))
        return word;
    unsigned holds = comparison_holds_for(op);
    return word_integer(holds ? machine_choose_comparison(machine, holds, operands[0], operands[1], op)
                              : machine_choose(machine, (uint64_t)word.bits, op));
}

static Word evaluate_slowly(Machine *machine, uint32_t agent, const Instruction *instruction, const Word *words) {
    const Program *program = machine->program;
    Word operands[16];
    const Word *list = operands;
    uint32_t count = instruction->b;
    const Op *op = program->ops[instruction - program->code];
    if (instruction->code == CODE_INTEGER) {
        const uint32_t registers[3] = {instruction->a, instruction->b, instruction->c};
        count = op->operand_count;
        for (uint32_t i = 0; i < count; i++)
            operands[i] = registers[i] == NO_REGISTER ? word_unknown(0) : words[registers[i]];
    } else {
        Word *many = count > 16 ? ARENA_ARRAY(machine->arena, Word, count) : operands;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t reg = program->lists[instruction->a + i];
            many[i] = reg == NO_REGISTER ? word_unknown(0) : words[reg];
        }
        list = many;
    }
    const Evaluation *how = &program->evaluations[instruction->aux];
    Word word = evaluate(how, list, count, machine->arena);
    if (instruction->evaluator && instruction->code == CODE_EVALUATE && machine->serial)
        word = unknown_of_cta(machine, agent_cta(machine, agent), how, word);
    return settled(machine, op, how, word, list);
}

static Word moved_view(Machine *machine, const Instruction *instruction, const Word *words, const char **problem) {
    const ViewStep *step = &machine->program->views[instruction->aux];
    Word view = words[instruction->a];
    if (!word_is(view, WORD_VIEW))
        return view;
    Offset offset = {(int32_t)(view.bits & UINT32_MAX), (int32_t)(view.bits >> 32)};
    int64_t index = 0;
    if (instruction->b != NO_REGISTER) {
        if (!word_is(words[instruction->b], WORD_INTEGER)) {
            *problem = "the slot of a ring is not known";
            return word_unknown((uint64_t)words[instruction->b].bits);
        }
        index = words[instruction->b].bits;
    }
    enum { MBARRIER_BYTES = 8 }; /* a run goes on with one that is outside */
    bool havoc = machine->loads_chosen; /* the index may depend on it, and no data need give it */
    bool outside = step->limit && (index < 0 || index >= step->limit) && !havoc;
    if (outside && step->stride != MBARRIER_BYTES) /* that does no harm as long as nothing accesses it */
        return word_unknown((uint64_t)index);
    offset.base = (int32_t)((uint64_t)offset.base + (uint64_t)index * (uint64_t)step->stride + (uint64_t)step->add);
    offset.affine ^= (int32_t)step->flip;
    if (outside)
        machine->outside = ((uint64_t)view.meta << 32 | (uint32_t)offset.base) + 1;
    uint32_t cta = view.cta ^ step->cta;
    if (instruction->c != NO_REGISTER) {
        Word rank = words[instruction->c];
        if (!word_is(rank, WORD_INTEGER) || rank.bits < 0 || rank.bits >= machine->program->ctas) {
            *problem = "which CTA of the cluster is meant is not known";
            return word_unknown((uint64_t)rank.bits);
        }
        cta = (uint32_t)rank.bits;
    }
    return view_word(view.meta, cta, offset);
}

static Word program_number(const Machine *machine, uint32_t agent, const Instruction *instruction) {
    switch (instruction->code) {
    case CODE_PROGRAM_ID:
        return word_integer(machine->program_id[instruction->aux] +
                            program_id_of_rank(machine->program, agent_cta(machine, agent), instruction->aux));
    case CODE_PROGRAMS:
        return word_integer(machine->programs[instruction->aux]);
    case CODE_RANK:
        return word_integer(agent_cta(machine, agent));
    default:
        return word_integer(machine->program->ctas);
    }
}

static bool enter_loop(Machine *machine, const Instruction *instruction, Word *words) {
    Word lower = words[instruction->a], upper = words[instruction->b], step = words[instruction->c];
    if (!word_is(lower, WORD_INTEGER) || !word_is(upper, WORD_INTEGER) || !word_is(step, WORD_INTEGER))
        return false;
    words[instruction->dst] = lower;
    Trips *trips = &machine->trips[instruction->aux];
    int64_t count = 0;
    if (step.bits > 0 && upper.bits > lower.bits)
        count =
            (int64_t)(((uint64_t)upper.bits - (uint64_t)lower.bits + (uint64_t)step.bits - 1) / (uint64_t)step.bits);
    trips->entered++;
    if (count < trips->least)
        trips->least = count;
    if (count > trips->most)
        trips->most = count;
    return step.bits > 0;
}

static void note_run(const Machine *machine, uint32_t pc, unsigned what) {
    if (machine->ran)
        machine->ran[pc] |= (uint8_t)what;
}

static StepResult fork_agents(Machine *machine, uint32_t index, uint32_t pc, const Fork *fork) {
    const Program *program = machine->program;
    uint32_t base = index - index % program->agents_per_cta;
    machine_emit(machine, &(Event){.kind = EVENT_FORK, .agent = index, .pc = pc, .amount = fork->strand_count});
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        uint32_t child = base + 1 + k;
        machine_start_agent(machine, child, fork->first_strand + k);
        Word *to = machine_words(machine, child);
        const Word *from = machine_words(machine, index);
        for (uint32_t i = 0; i < fork->capture_count; i++) {
            uint32_t reg = program->lists[fork->captures + i];
            to[i] = reg == NO_REGISTER ? (Word){.kind = WORD_NOTHING} : from[reg];
        }
        if (machine->symmetry)
            symmetry_capture(machine, index, child, fork);
    }
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        StepResult result = machine_advance(machine, base + 1 + k);
        if (result != STEP_DONE)
            return result;
    }
    return STEP_DONE;
}

/* Whether the agent stands before the effect because of memory, or of launches, that it shares with other clusters. */
static Gate gate_of(const Machine *machine, uint32_t index, const CompiledEffect *effect) {
    if (effect->effect.verb == EFFECT_AWAIT_LAUNCHES)
        return GATE_LAUNCHES;
    if (effect->transfer != NO_TRANSFER && machine->program->transfers[effect->transfer].polls)
        return GATE_POLL;
    if (!effect->stops)
        return GATE_NONE;
    return transfer_is_shared(machine, index, effect) ? GATE_RESULT : GATE_ACCESS;
}

/* The effects of one instruction, from agent->effect on, up to a visible one. True in *stands: it stands before one. */
static StepResult advance_effects(Machine *machine, uint32_t index, const Instruction *instruction, bool *stands) {
    Agent *agent = &machine->state->agents[index];
    note_run(machine, agent->pc, RAN_STANDS);
    for (; agent->effect < instruction->a; agent->effect++) {
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
        /* What is compiled for global memory alone must not change what is chosen for the rest. */
        uint64_t choices = machine->choices;
        bool present = effect_is_present(machine, index, effect, agent->pc);
        if (effect->effect.space == SPACE_GLOBAL)
            machine->choices = choices;
        note_run(machine, agent->pc, present ? RAN : RAN_SKIPS);
        if (!present)
            continue;
        if (machine->memory && (agent->gate = (uint8_t)gate_of(machine, index, effect)) != GATE_NONE) {
            *stands = true;
            return STEP_DONE;
        }
        if (effect_is_visible(&effect->effect)) {
            *stands = true;
            if (effect->effect.verb != EFFECT_WAIT)
                return STEP_DONE;
            StepResult result = effect_come_to_wait(machine, index, agent->pc, effect);
            note_run(machine, agent->pc, agent->parity ? RAN_YES : RAN_NO);
            return result;
        }
        machine->used++;
        StepResult result = effect_pass_by(machine, index, agent->pc, effect);
        if (result != STEP_DONE)
            return result;
    }
    agent->effect = 0;
    agent->pc++;
    return STEP_DONE;
}

static void keep_word(Machine *machine, Cell *cell, Word word) {
    machine->changes += word_identity(cell->word) != word_identity(word);
    cell->word = word;
}

/* A loop goes around. False if that was once too often. */
static bool goes_around(Machine *machine) {
    if (machine->tensor_limit && machine->arena->held > machine->tensor_limit)
        machine_compact(machine);
    return ++machine->used <= machine->budget && !deadline_passed();
}

/* Which way a select goes. */
static void note_choice(const Machine *machine, uint32_t pc, const Word *words) {
    const Instruction *instruction = &machine->program->code[pc];
    if (!machine->ran)
        return;
    uint32_t by = instruction->code == CODE_INTEGER ? instruction->a : machine->program->lists[instruction->a];
    if (by != NO_REGISTER && word_is(words[by], WORD_INTEGER))
        note_run(machine, pc, words[by].bits ? RAN_YES : RAN_NO);
}

StepResult machine_advance(Machine *machine, uint32_t index) {
    const Program *program = machine->program;
    Agent *agent = &machine->state->agents[index];
    Word *words = machine_words(machine, index);
    for (;;) {
        const Instruction *instruction = &program->code[agent->pc];
        if (machine->symmetry)
            symmetry_follow(machine, index, instruction);
        if (machine->follow)
            machine->follow(machine->follower, index, instruction);
        switch ((Code)instruction->code) {
        case CODE_INTEGER: {
            if (instruction->evaluator == EVALUATE_SELECT)
                note_choice(machine, agent->pc, words);
            Word a = words[instruction->a], b = words[instruction->b], c = words[instruction->c];
            int64_t result;
            if ((a.kind | b.kind | c.kind) == WORD_INTEGER &&
                evaluate_integers((Evaluator)instruction->evaluator, instruction->width, instruction->operand_width,
                                  program->evaluations[instruction->aux].a, a.bits, b.bits, c.bits, &result))
                words[instruction->dst] = word_integer(result);
            else
                words[instruction->dst] = evaluate_slowly(machine, index, instruction, words);
            break;
        }
        case CODE_EVALUATE:
            if (instruction->evaluator == EVALUATE_SELECT)
                note_choice(machine, agent->pc, words);
            words[instruction->dst] = evaluate_slowly(machine, index, instruction, words);
            break;
        case CODE_MOVE:
            words[instruction->dst] = words[instruction->a];
            break;
        case CODE_JUMP:
            agent->pc = instruction->aux;
            continue;
        case CODE_BRANCH: {
            Word condition = words[instruction->a];
            int64_t value = word_is(condition, WORD_INTEGER)
                                ? condition.bits
                                : machine_choose(machine, (uint64_t)condition.bits, program->ops[agent->pc]);
            note_run(machine, agent->pc, value ? RAN_YES : RAN_NO);
            if (!value) {
                agent->pc = instruction->aux;
                continue;
            }
            break;
        }
        case CODE_SWITCH: {
            Word value = words[instruction->a];
            if (!word_is(value, WORD_INTEGER))
                return machine_stop(machine, agent->pc, "which case is taken is not known");
            note_run(machine, agent->pc, value.bits == program->cases[instruction->b] ? RAN_YES : RAN_NO);
            if (value.bits == program->cases[instruction->b]) {
                agent->pc = instruction->aux;
                continue;
            }
            break;
        }
        case CODE_LOOP:
            if (!enter_loop(machine, instruction, words))
                return machine_stop(machine, agent->pc, "the trip count of the loop is not known");
            break;
        case CODE_FOR: {
            int64_t at = words[instruction->dst].bits, end = words[instruction->b].bits;
            bool more = instruction->operand_width
                            ? integer_unsigned(at, instruction->width) < integer_unsigned(end, instruction->width)
                            : at < end;
            if (!more) {
                agent->pc = instruction->aux;
                continue;
            }
            machine->trips[instruction[-1].aux].turns++; /* CODE_LOOP stands before its test */
            break;
        }
        case CODE_NEXT: {
            int64_t at = words[instruction->dst].bits, by = words[instruction->c].bits, next;
            /* Past the largest number of its width a loop ends: hardware would go around, and no kernel means that. */
            if (__builtin_add_overflow(at, by, &next) || integer_wrap(next, instruction->width) != next)
                next = INT64_MAX;
            words[instruction->dst].bits = next;
            agent->pc = instruction->aux;
            if (!goes_around(machine))
                return STEP_BUDGET;
            continue;
        }
        case CODE_AGAIN:
            note_run(machine, agent->pc, RAN);
            if (instruction->aux)
                machine->trips[instruction->aux - 1].turns++;
            if (!goes_around(machine))
                return STEP_BUDGET;
            break;
        case CODE_PROGRAM_ID:
        case CODE_PROGRAMS:
        case CODE_RANK:
        case CODE_RANKS:
            words[instruction->dst] = program_number(machine, index, instruction);
            break;
        case CODE_VIEW: {
            const char *problem = NULL;
            words[instruction->dst] = moved_view(machine, instruction, words, &problem);
            if (problem)
                return machine_stop(machine, agent->pc, problem);
            if (instruction->b != NO_REGISTER)
                note_run(machine, agent->pc, words[instruction->b].bits ? RAN_YES : RAN_NO);
            break;
        }
        case CODE_KEEP_BUFFER: {
            Cell *cell =
                machine_cell(machine, identity_mix(view_key(words[instruction->b]), 0xbf + instruction->aux) | 1, true);
            if (cell)
                keep_word(machine, cell, words[instruction->a]);
            break;
        }
        case CODE_BUFFER: {
            Word aref = words[instruction->a];
            const Cell *cell =
                word_is(aref, WORD_VIEW)
                    ? machine_cell(machine, identity_mix(view_key(aref), 0xbf + instruction->c) | 1, false)
                    : NULL;
            Word slot = instruction->b == NO_REGISTER ? word_integer(machine_entered_slot(machine, index, aref))
                                                      : words[instruction->b];
            words[instruction->dst] =
                cell && word_is(cell->word, WORD_VIEW) && word_is(slot, WORD_INTEGER)
                    ? view_word(
                          cell->word.meta, cell->word.cta,
                          (Offset){(int32_t)((uint64_t)cell->word.bits +
                                             (uint64_t)slot.bits * (uint64_t)program->views[instruction->aux].stride),
                                   (int32_t)(cell->word.bits >> 32)})
                    : word_unknown(0xaef);
            break;
        }
        case CODE_ALLOCATE: {
            const Allocation *allocation = &program->allocations.items[instruction->aux];
            words[instruction->dst] = view_word(allocation->storage, agent_cta(machine, index), allocation->offset);
            break;
        }
        case CODE_DESCRIPTOR:
            memory_make_descriptor(machine, index, instruction);
            break;
        case CODE_FROM_POINTER:
            words[instruction->dst] = memory_descriptor_at(machine, words[instruction->a]);
            break;
        case CODE_SCRATCH:
            words[instruction->dst] = word_integer(SCRATCH_BASE + ((int64_t)instruction->aux << SCRATCH_SHIFT) +
                                                   ((int64_t)agent_cta(machine, index) << SCRATCH_CTA_SHIFT));
            break;
        case CODE_LOAD: {
            Word nothing = {.kind = WORD_NOTHING};
            if (machine->memory && instruction->evaluator)
                break;
            words[instruction->dst] =
                memory_load(machine, index, &program->loads[instruction->aux],
                            instruction->a == NO_REGISTER ? word_unknown(agent->pc) : words[instruction->a],
                            instruction->b == NO_REGISTER ? nothing : words[instruction->b],
                            instruction->c == NO_REGISTER ? nothing : words[instruction->c]);
            break;
        }
        case CODE_CLC:
            words[instruction->dst] = cancel_answer(machine, index, agent->pc, instruction->aux, words[instruction->a]);
            break;
        case CODE_CELL: {
            Word view = words[instruction->a];
            const Cell *cell = word_is(view, WORD_VIEW) ? machine_cell(machine, view_key(view), false) : NULL;
            words[instruction->dst] =
                cell ? cell->word : word_unknown(identity_mix(0xce11 + machine->serial, (uint64_t)view.bits));
            break;
        }
        case CODE_SEQUENCE:
            words[instruction->dst] = (Word){
                .bits = agent->mmas, .meta = agent->pc, .cta = (uint16_t)(machine->serial >> 32), .kind = WORD_INTEGER};
            break;
        case CODE_FINISHED: {
            Word product = words[instruction->a];
            if (word_is(product, WORD_INTEGER) && product.bits > agent->finished)
                machine_emit(
                    machine,
                    &(Event){.kind = EVENT_UNFINISHED, .agent = index, .pc = agent->pc, .amount = product.meta});
            break;
        }
        case CODE_KEEP: {
            Word view = words[instruction->b];
            Cell *cell = word_is(view, WORD_VIEW) ? machine_cell(machine, view_key(view), true) : NULL;
            if (cell)
                keep_word(machine, cell, words[instruction->a]);
            break;
        }
        case CODE_ASSUME:
            if (word_is(words[instruction->a], WORD_INTEGER) && !words[instruction->a].bits) {
                machine->excluded = true;
                return STEP_EXCLUDED;
            }
            break;
        case CODE_EFFECTS: {
            bool stands = false;
            StepResult result = advance_effects(machine, index, instruction, &stands);
            if (result != STEP_DONE || stands)
                return result;
            continue;
        }
        case CODE_FORK: {
            agent->fork = instruction->aux;
            StepResult result = fork_agents(machine, index, agent->pc, &program->forks[instruction->aux]);
            agent->pc++;
            if (result != STEP_DONE)
                return result;
            continue;
        }
        case CODE_JOIN:
            agent->status = AGENT_JOINS;
            return STEP_DONE;
        case CODE_END:
            machine_emit(machine, &(Event){.kind = EVENT_END, .agent = index, .pc = agent->pc});
            agent->status = AGENT_ENDED;
            return STEP_DONE;
        }
        agent->pc++;
    }
}
