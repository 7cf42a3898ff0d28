/* The machine: its start, the instructions of an agent up to its next visible effect, and steps. */
#include "emulate/machine_internal.h"
#include "model/number/tensor.h"

static StepResult advance(Machine *machine, uint32_t index);

/* Room for what the program can have in flight, and in cells: most programs that run in thousands of CTAs at once have
 * neither. */
static void size_state(Machine *machine) {
    const Program *program = machine->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_COMPLETE || effect->done == DONE_COMMIT)
            machine->flight_capacity = MOST_FLIGHTS;
        if (effect->side != SIDE_NONE || effect->helper == HELPER_CLC)
            machine->cell_capacity = MOST_CELLS;
    }
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_KEEP || program->code[i].code == CODE_KEEP_BUFFER)
            machine->cell_capacity = MOST_CELLS;
}

Machine *machine_create(Arena *arena, const Program *program, const char **problem) {
    Machine *machine = ARENA_NEW(arena, Machine);
    machine->program = program;
    machine->arena = arena;
    machine->agent_count = program->agents_per_cta * program->ctas;
    machine->slots_per_cta = program->barrier_slots;
    machine->slot_count = machine->slots_per_cta * program->ctas;
    machine->cluster_barriers = 1 + program->agents_per_cta;
    if (machine->slots_per_cta > 1 << 14 || program->most_registers > 1 << 18) {
        *problem = "the kernel has more barriers or values than the emulator has room for";
        return NULL;
    }
    machine->slot_capacity = 64;
    while (machine->slot_capacity < machine->slots_per_cta * 4)
        machine->slot_capacity *= 2;
    machine->slot_keys = ARENA_ARRAY(arena, uint64_t, machine->slot_capacity);
    machine->slot_values = ARENA_ARRAY(arena, uint32_t, machine->slot_capacity);
    machine->slot_places = ARENA_ARRAY(arena, uint64_t, machine->slots_per_cta);
    machine->storage_sizes = ARENA_ARRAY(arena, uint32_t, program->allocations.storage_count + 1);
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Allocation *allocation = &program->allocations.items[i];
        machine->storage_sizes[allocation->storage] = (uint32_t)allocation->size;
    }
    machine->bases = ARENA_ARRAY(arena, int64_t, program->parameter_count + 1);
    machine->trips = ARENA_ARRAY(arena, Trips, program->loop_count + 1);
    machine->descriptor_count = program->parameter_count + program->maker_count * machine->agent_count;
    machine->descriptors = ARENA_ARRAY(arena, Descriptor, machine->descriptor_count + 1);
    size_state(machine);
    machine->state = state_new(machine, arena);
    return machine;
}

/* ---- Small things --------------------------------------------------------------------------------- */

void machine_tell(Machine *machine, Event event) {
    machine->events++;
    if (machine->observe) {
        event.op = machine->program->ops[event.pc];
        event.state = machine->state;
        machine->observe(machine->observer, &event);
    }
}

StepResult machine_stop(Machine *machine, uint32_t pc, const char *reason) {
    machine->unknown_op = machine->program->ops[pc];
    machine->unknown = reason;
    return STEP_UNKNOWN;
}

StepResult machine_fault(Machine *machine, RuleId rule, uint32_t agent, uint32_t pc, uint32_t effect, uint32_t barrier,
                         int64_t amount, bool in_flight) {
    machine->fault = (Fault){rule, agent, pc, effect, barrier, amount, in_flight};
    return STEP_FAULT;
}

/* The slot of the mbarrier at that byte of a storage. */
uint32_t machine_slot(Machine *machine, uint32_t cta, uint32_t storage, int64_t byte) {
    uint64_t key = ((uint64_t)storage << 32 | (uint32_t)byte) + 1;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & (machine->slot_capacity - 1);
    while (machine->slot_keys[at] && machine->slot_keys[at] != key)
        at = (at + 1) & (machine->slot_capacity - 1);
    if (!machine->slot_keys[at]) {
        if (machine->slots_used == machine->slots_per_cta)
            return UINT32_MAX;
        machine->slot_keys[at] = key;
        machine->slot_values[at] = machine->slots_used;
        machine->slot_places[machine->slots_used++] = key - 1;
    }
    return cta * machine->slots_per_cta + machine->slot_values[at];
}

/* Something unknown that control depends on: worlds differ in what it is taken to be. */
int64_t machine_choose(Machine *machine, uint64_t identity, const Op *op) {
    if (!machine->choices++)
        machine->first_choice = op;
    if (machine->choices > 4096)
        return 0;
    switch (machine->world) {
    case 0:
        return 0;
    case 1:
        return machine->choices <= 64;
    default:
        return (int64_t)(identity_mix(identity, machine->world) >> 17 & 1);
    }
}

Cell *machine_cell(Machine *machine, uint64_t key, bool make) {
    State *state = machine->state;
    for (uint32_t i = 0; i < state->cell_count; i++)
        if (state->cells[i].key == key)
            return &state->cells[i];
    if (!make || state->cell_count == machine->cell_capacity)
        return NULL;
    state->cells[state->cell_count] = (Cell){.key = key};
    return &state->cells[state->cell_count++];
}

/* ---- Launching ------------------------------------------------------------------------------------ */

const Argument *machine_argument(const Launch *launch, const char *name) {
    return launch_find(launch, str_of(name));
}

/* The value of a parameter; unknown if the launch does not say. */
static Word parameter_word(Machine *machine, uint32_t index) {
    const Program *program = machine->program;
    const Parameter *parameter = &program->parameters[index];
    const Launch *launch = machine->launch;
    uint64_t identity = 0x5eed;
    for (const char *at = parameter->name; *at; at++)
        identity = identity_mix(identity, (unsigned char)*at);
    Word unknown = word_unknown(identity_mix(identity, index));
    if (parameter->descriptor >= 0) {
        const Parameter *whole = &program->parameters[parameter->descriptor];
        const Argument *argument = machine_argument(launch, whole->name);
        if (!argument || argument->kind != ARGUMENT_DESCRIPTOR || parameter->part >= 2u * argument->rank)
            return unknown;
        return word_integer(parameter->part < argument->rank ? argument->shape[parameter->part]
                                                             : argument->strides[parameter->part - argument->rank]);
    }
    if (type_is(parameter->type, STR("tt.tensordesc")))
        return (Word){.kind = WORD_DESCRIPTOR, .meta = index};
    if (type_is(parameter->type, STR("tt.ptr")))
        return word_integer(machine->bases[index]);
    const Argument *argument = machine_argument(launch, parameter->name);
    if (argument && argument->kind == ARGUMENT_INTEGER &&
        (parameter->type->kind == TYPE_INTEGER || parameter->type->kind == TYPE_INDEX))
        return word_integer(
            integer_wrap(argument->integer, parameter->type->kind == TYPE_INDEX ? 64 : parameter->type->width));
    return unknown;
}

void machine_launch(Machine *machine, const Launch *launch) {
    machine->launch = launch;
    for (int axis = 0; axis < 3; axis++)
        machine->programs[axis] = launch->grid[axis];
    for (uint32_t i = 0; i < machine->program->loop_count; i++)
        machine->trips[i] = (Trips){.least = INT64_MAX};
    for (uint32_t i = 0; i < machine->program->parameter_count; i++) {
        const Argument *argument = machine_argument(launch, machine->program->parameters[i].name);
        bool given = argument && argument->address;
        machine->bases[i] = given ? argument->address : (int64_t)(i + 1) << PARAMETER_SHIFT;
        machine->descriptors[i] = memory_launched_descriptor(machine, i, argument);
    }
}

uint64_t machine_clusters(const Machine *machine) {
    uint64_t count = 1;
    for (int axis = 0; axis < 3; axis++)
        count *= (uint64_t)machine->programs[axis];
    if (machine->program->ranks_are_programs)
        count = (count + machine->program->ctas - 1) / machine->program->ctas;
    return count;
}

static void start_agent(Machine *machine, uint32_t index, uint32_t strand_index) {
    const Program *program = machine->program;
    const Strand *strand = &program->strands[strand_index];
    Agent *agent = &machine->state->agents[index];
    uint32_t ticks = agent->ticks;
    *agent = (Agent){.pc = strand->entry, .strand = strand_index, .status = AGENT_READY, .ticks = ticks};
    Word *words = machine_words(machine, index);
    for (uint32_t i = 0; i < strand->register_count; i++)
        words[i] = (Word){.kind = WORD_NOTHING};
    for (uint32_t i = strand->constants; i < strand->constants + 2 * strand->constant_count; i += 2)
        words[program->lists[i]] = program->constants[program->lists[i + 1]];
}

StepResult machine_start(Machine *machine, uint64_t cluster) {
    const Program *program = machine->program;
    state_clear(machine);
    machine->used = 0;
    machine->choices = machine->loads_chosen = 0;
    machine->first_choice = NULL;
    machine->atomics = NULL; /* both were in the arena of the last run */
    machine->atomic_count = machine->atomic_capacity = 0;
    machine->made = NULL;
    machine->made_count = machine->made_capacity = 0;
    machine->results = NULL;
    machine->result_count = machine->result_capacity = 0;
    machine->changes = 0;
    machine->excluded = false;
    uint64_t first = program->ranks_are_programs ? cluster * program->ctas : cluster;
    for (uint32_t cta = 0; cta < program->ctas; cta++)
        start_agent(machine, cta * program->agents_per_cta, 0);
    for (uint32_t i = 0; i < program->parameter_count; i++)
        if (program->parameters[i].reg != NO_REGISTER)
            for (uint32_t cta = 0; cta < program->ctas; cta++)
                machine_words(machine, cta * program->agents_per_cta)[program->parameters[i].reg] =
                    parameter_word(machine, i);
    machine->program_id[0] = (int64_t)(first % (uint64_t)machine->programs[0]);
    machine->program_id[1] = (int64_t)(first / (uint64_t)machine->programs[0] % (uint64_t)machine->programs[1]);
    machine->program_id[2] = (int64_t)(first / (uint64_t)machine->programs[0] / (uint64_t)machine->programs[1]);
    for (uint32_t cta = 0; cta < program->ctas; cta++) {
        StepResult result = advance(machine, cta * program->agents_per_cta);
        if (result != STEP_DONE)
            return result;
    }
    return STEP_DONE;
}

/* ---- Instructions --------------------------------------------------------------------------------- */

/* What comes from the memory of the cluster is not what another cluster has, though it came about in the same way. */
static Word unknown_of_cluster(Machine *machine, const Evaluation *how, Word word) {
    uint64_t identity = identity_mix(machine->serial, word_identity(word));
    if (word_is(word, WORD_TENSOR) && !word.tensor->known)
        return tensor_unknown(how, identity, machine->arena);
    return word_is(word, WORD_UNKNOWN) ? word_unknown(identity) : word;
}

static Word evaluate_slowly(Machine *machine, const Instruction *instruction, const Word *words) {
    const Program *program = machine->program;
    Word operands[16];
    const Word *list = operands;
    uint32_t count = instruction->b;
    if (instruction->code == CODE_INTEGER) {
        const Op *op = program->ops[instruction - program->code];
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
        return unknown_of_cluster(machine, how, word);
    return word;
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
            *problem = "which slot of a ring is meant is not known";
            return word_unknown((uint64_t)words[instruction->b].bits);
        }
        index = words[instruction->b].bits;
    }
    offset.base = (int32_t)((uint64_t)offset.base + (uint64_t)index * (uint64_t)step->stride + (uint64_t)step->add);
    offset.affine ^= (int32_t)step->flip;
    uint32_t cta = view.cta;
    if (instruction->c != NO_REGISTER && word_is(words[instruction->c], WORD_INTEGER) &&
        words[instruction->c].bits >= 0 && words[instruction->c].bits < machine->program->ctas)
        cta = (uint32_t)words[instruction->c].bits;
    return view_word(view.meta, cta, offset);
}

static Word program_number(const Machine *machine, uint32_t agent, const Instruction *instruction) {
    switch (instruction->code) {
    case CODE_PROGRAM_ID: {
        int64_t id = machine->program_id[instruction->aux];
        if (machine->program->ranks_are_programs && instruction->aux == 0)
            id += agent_cta(machine, agent);
        return word_integer(id);
    }
    case CODE_PROGRAMS:
        return word_integer(machine->programs[instruction->aux]);
    case CODE_RANK:
        return word_integer(agent_cta(machine, agent));
    default:
        return word_integer(machine->program->ctas);
    }
}

/* 0: the answer at a view; 1: whether it gave a program; 2 + axis: which; 5 + axis: which, or -1. */
static Word launch_answer(Machine *machine, uint32_t what, Word word) {
    if (what == 0) {
        const Cell *cell = word_is(word, WORD_VIEW) ? machine_cell(machine, view_key(word), false) : NULL;
        return cell ? cell->word : word_integer(-1);
    }
    if (word_is(word, WORD_TENSOR))
        return word_unknown(word.tensor->identity);
    if (!word_is(word, WORD_INTEGER))
        return word;
    if (what == 1)
        return word_integer(word.bits >= 0);
    if (what >= 5 && word.bits < 0)
        return word_integer(-1);
    uint32_t axis = (what - 2) % 3;
    return word_integer(axis ? machine->program_id[axis] : (machine->program_id[0] + word.bits) % machine->programs[0]);
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

static StepResult fork_agents(Machine *machine, uint32_t index, uint32_t pc, const Fork *fork) {
    const Program *program = machine->program;
    uint32_t base = index - index % program->agents_per_cta;
    machine_tell(machine, (Event){.kind = EVENT_FORK, .agent = index, .pc = pc, .amount = fork->strand_count});
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        uint32_t child = base + 1 + k;
        start_agent(machine, child, fork->first_strand + k);
        Word *to = machine_words(machine, child);
        const Word *from = machine_words(machine, index);
        for (uint32_t i = 0; i < fork->capture_count; i++) {
            uint32_t reg = program->lists[fork->captures + i];
            to[i] = reg == NO_REGISTER ? (Word){.kind = WORD_NOTHING} : from[reg];
        }
    }
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        StepResult result = advance(machine, base + 1 + k);
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
    for (; agent->effect < instruction->a; agent->effect++) {
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
        /* What is compiled for global memory alone must not change what is chosen for the rest. */
        uint64_t choices = machine->choices;
        bool present = effect_is_present(machine, index, effect, agent->pc);
        if (effect->effect.space == SPACE_GLOBAL)
            machine->choices = choices;
        if (!present)
            continue;
        if (machine->memory && (agent->gate = (uint8_t)gate_of(machine, index, effect)) != GATE_NONE) {
            *stands = true;
            return STEP_DONE;
        }
        if (effect_is_visible(&effect->effect)) {
            *stands = true;
            return effect->effect.verb == EFFECT_WAIT ? effect_come_to_wait(machine, index, agent->pc, effect)
                                                      : STEP_DONE;
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

/* A loop goes round. False if that was once too often. */
static bool goes_round(Machine *machine) {
    if (machine->tensor_limit && machine->arena->held > machine->tensor_limit)
        machine_compact(machine);
    return ++machine->used <= machine->budget;
}

/* Runs an agent up to its next visible effect, without doing that. */
static StepResult advance(Machine *machine, uint32_t index) {
    const Program *program = machine->program;
    Agent *agent = &machine->state->agents[index];
    Word *words = machine_words(machine, index);
    for (;;) {
        const Instruction *instruction = &program->code[agent->pc];
        switch ((Code)instruction->code) {
        case CODE_INTEGER: {
            Word a = words[instruction->a], b = words[instruction->b], c = words[instruction->c];
            int64_t result;
            if ((a.kind | b.kind | c.kind) == WORD_INTEGER &&
                evaluate_integers((Evaluator)instruction->evaluator, instruction->width, instruction->operand_width,
                                  program->evaluations[instruction->aux].a, a.bits, b.bits, c.bits, &result))
                words[instruction->dst] = word_integer(result);
            else
                words[instruction->dst] = evaluate_slowly(machine, instruction, words);
            break;
        }
        case CODE_EVALUATE:
            words[instruction->dst] = evaluate_slowly(machine, instruction, words);
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
            if (value.bits == program->cases[instruction->b]) {
                agent->pc = instruction->aux;
                continue;
            }
            break;
        }
        case CODE_LOOP:
            if (!enter_loop(machine, instruction, words))
                return machine_stop(machine, agent->pc, "how often the loop runs is not known");
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
            break;
        }
        case CODE_NEXT: {
            int64_t at = words[instruction->dst].bits, by = words[instruction->c].bits, next;
            /* Past the largest number of its width a loop ends: hardware would go round, and no kernel means that. */
            if (__builtin_add_overflow(at, by, &next) || integer_wrap(next, instruction->width) != next)
                next = INT64_MAX;
            words[instruction->dst].bits = next;
            agent->pc = instruction->aux;
            if (!goes_round(machine))
                return STEP_BUDGET;
            continue;
        }
        case CODE_AGAIN:
            if (!goes_round(machine))
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
            words[instruction->dst] = launch_answer(machine, instruction->aux, words[instruction->a]);
            break;
        case CODE_CELL: {
            Word view = words[instruction->a];
            const Cell *cell = word_is(view, WORD_VIEW) ? machine_cell(machine, view_key(view), false) : NULL;
            words[instruction->dst] =
                cell ? cell->word : word_unknown(identity_mix(0xce11 + machine->serial, (uint64_t)view.bits));
            break;
        }
        case CODE_SEQUENCE:
            words[instruction->dst] = (Word){.bits = agent->products,
                                             .meta = agent->pc,
                                             .cta = (uint16_t)(machine->serial >> 32),
                                             .kind = WORD_INTEGER};
            break;
        case CODE_FINISHED: {
            Word product = words[instruction->a];
            if (word_is(product, WORD_INTEGER) && product.bits > agent->finished)
                machine_tell(
                    machine,
                    (Event){.kind = EVENT_UNFINISHED, .agent = index, .pc = agent->pc, .amount = product.meta});
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
            machine_tell(machine, (Event){.kind = EVENT_END, .agent = index, .pc = agent->pc});
            agent->status = AGENT_ENDED;
            return STEP_DONE;
        }
        agent->pc++;
    }
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

static bool partitions_ended(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    const Fork *fork = &machine->program->forks[agent->fork];
    uint32_t base = index - index % machine->program->agents_per_cta;
    for (uint32_t k = 0; k < fork->strand_count; k++)
        if (machine->state->agents[base + 1 + k].status != AGENT_ENDED)
            return false;
    return true;
}

static bool gate_is_open(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    const CompiledEffect *effect = machine_next_effect(machine, agent);
    switch ((Gate)agent->gate) {
    case GATE_POLL:
        return transfer_poll_passes(machine, index, effect);
    case GATE_RESULT:
        return machine->program->transfers[effect->transfer].result == NO_REGISTER || transfer_result(machine, index);
    case GATE_LAUNCHES:
        return !machine->awaits_launches;
    default:
        return true;
    }
}

/* The access that the agent stands before, and what it does up to its next visible effect. */
static StepResult pass_gate(Machine *machine, uint32_t index) {
    Agent *agent = &machine->state->agents[index];
    const CompiledEffect *effect = machine_next_effect(machine, agent);
    bool gives_up = agent->gate == GATE_POLL && agent->forced && !transfer_poll_passes(machine, index, effect);
    agent->gate = GATE_NONE;
    agent->forced = 0;
    if (gives_up) {
        transfer_give_up(machine, index, effect);
    } else {
        StepResult result = effect_pass_by(machine, index, agent->pc, effect);
        if (result != STEP_DONE)
            return result;
    }
    agent->effect++;
    return advance(machine, index);
}

bool machine_can_step(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    switch ((AgentStatus)agent->status) {
    case AGENT_READY:
        return agent->gate == GATE_NONE || agent->forced || gate_is_open(machine, index);
    case AGENT_WAITS: {
        const Barrier *barrier = &machine->state->barriers[agent->barrier];
        return barrier->phase != agent->parity || barrier->life != BARRIER_LIVE || agent->forced;
    }
    case AGENT_NAMED:
        return machine->state->named[agent->barrier].generation != agent->generation || agent->forced;
    case AGENT_CLUSTER: {
        const Rendezvous *cluster = &machine->state->cluster[agent->barrier];
        return cluster->generation != agent->generation || agent->forced ||
               (!agent->barrier && cluster->arrived && cluster->arrived >= machine_live_agents(machine));
    }
    case AGENT_JOINS:
        return partitions_ended(machine, index);
    default:
        return false;
    }
}

StepResult machine_step(Machine *machine, uint32_t index) {
    Agent *agent = &machine->state->agents[index];
    uint32_t pc = agent->pc;
    const Instruction *instruction = &machine->program->code[pc];
    if (++machine->used > machine->budget)
        return STEP_BUDGET;
    agent->ticks++;
    if (agent->gate != GATE_NONE)
        return pass_gate(machine, index);
    machine->changes++;
    if (agent->status == AGENT_JOINS) {
        uint32_t base = index - index % machine->program->agents_per_cta;
        for (uint32_t k = 1; k < machine->program->agents_per_cta; k++)
            machine->state->agents[base + k].status = AGENT_IDLE;
        machine_tell(machine, (Event){.kind = EVENT_JOIN, .agent = index, .pc = pc});
        agent->status = AGENT_READY;
        agent->pc++;
        return advance(machine, index);
    }
    const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER) {
        bool named = agent->status == AGENT_NAMED;
        if (!named && !agent->forced && machine->state->cluster[agent->barrier].generation == agent->generation)
            machine_cluster_meets(machine, index, pc, effect, agent->barrier); /* others ended while it waited */
        machine_tell(machine, (Event){.kind = named ? EVENT_NAMED_SYNC : EVENT_CLUSTER_WAIT,
                                      .agent = index,
                                      .pc = pc,
                                      .effect = effect,
                                      .barrier = agent->barrier});
        agent->status = AGENT_READY;
        agent->forced = 0;
        agent->effect++;
        return advance(machine, index);
    }
    StepResult result = effect_perform(machine, index, pc, effect);
    if (result != STEP_DONE)
        return result;
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER)
        return STEP_DONE; /* it has arrived, and goes on when the others have */
    agent->effect++;
    return advance(machine, index);
}
