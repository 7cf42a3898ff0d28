/* The machine: its start, and steps. */
#include "base/deadline.h"
#include "machine/tile/step/machine_internal.h"
#include "machine/tile/step/symmetry.h"
#include "model/number/tensor.h"

/* Of a run: a loop that asks more often is to end some time. */
enum { SOME_CHOICES = 64 };

/* Room for what the program can have in flight, and in cells: most programs that run in thousands of CTAs at once have
 * neither. */
static void size_state(Machine *machine) {
    const Program *program = machine->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_COMPLETE || effect->done == DONE_COMMIT)
            machine->outstanding_capacity = MOST_OUTSTANDING_OPS;
        if (effect->side != SIDE_NONE || effect->helper == HELPER_CLC)
            machine->cell_capacity = MOST_CELLS * program->ctas;
    }
    for (uint32_t i = 0; i < program->code_count; i++)
        if (program->code[i].code == CODE_KEEP || program->code[i].code == CODE_KEEP_BUFFER)
            machine->cell_capacity = MOST_CELLS * program->ctas;
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

void machine_emit(Machine *machine, Event *event) {
    machine->events += event->kind != EVENT_DISTURB; /* it belongs to an op that has no other */
    if (machine->observe) {
        event->op = machine->program->ops[event->pc];
        event->state = machine->state;
        machine->observe(machine->observer, event);
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

/* 0, 1 or 2 for something unknown that control depends on. Worlds are the rows of an orthogonal array of strength two,
 * with a row of ones beside it; its columns are the unknowns in the order in which the run asks for them. */
static unsigned choose_digit(Machine *machine, uint64_t identity, const Op *op) {
    enum { DIGITS = 3, COLUMNS = 4 };
    uint32_t root = 0;
    if (!machine->choices++)
        machine->first_choice = op;
    while (root < machine->root_count && machine->roots[root] != identity)
        root++;
    if (root == machine->root_count && root < MOST_CHOICE_ROOTS)
        machine->roots[machine->root_count++] = identity;
    if (machine->choices > SOME_CHOICES) /* a loop that asks may go on forever */
        return (unsigned)(identity_mix(identity, machine->choices) >> 17) % DIGITS;
    if (machine->havoc_choice <= 1)
        return machine->havoc_choice;
    unsigned row = machine->havoc_choice - 1, first = row / DIGITS, second = row % DIGITS;
    const unsigned columns[COLUMNS] = {first, second, first + second, first + 2 * second};
    return columns[root % COLUMNS] % DIGITS;
}

int64_t machine_choose(Machine *machine, uint64_t identity, const Op *op) {
    return choose_digit(machine, identity, op) == 1;
}

int64_t machine_choose_comparison(Machine *machine, unsigned holds, Word x, Word y, const Op *op) {
    static const unsigned by_digit[] = {STANDS_GREATER, STANDS_LESS, STANDS_EQUAL};
    uint64_t difference = difference_identity(x, y);
    bool turned = difference >> 63;
    unsigned stands = by_digit[choose_digit(machine, turned ? ~difference : difference, op)];
    if (turned && stands != STANDS_EQUAL)
        stands ^= STANDS_LESS | STANDS_GREATER;
    return (holds & stands) != 0;
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
    if (type_is_descriptor(parameter->type))
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
        machine->bases[i] = given ? argument->address : global_address(i);
        machine->descriptors[i] = memory_launched_descriptor(machine, i, argument);
    }
}

uint64_t machine_clusters(const Machine *machine) {
    return program_clusters(machine->program, machine->programs);
}

void machine_start_agent(Machine *machine, uint32_t index, uint32_t strand_index) {
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
    for (uint32_t i = 0; i < program->loop_count; i++)
        machine->trips[i].turns = 0;
    machine->choices = machine->loads_chosen = 0;
    machine->root_count = 0;
    machine->first_choice = NULL;
    machine->counted = false;
    machine->atomics = NULL; /* both were in the arena of the last run */
    machine->atomic_count = machine->atomic_capacity = 0;
    machine->made = NULL;
    machine->made_count = machine->made_capacity = 0;
    machine->results = NULL;
    machine->result_count = machine->result_capacity = 0;
    machine->changes = 0;
    machine->excluded = false;
    if (machine->symmetry)
        symmetry_start(machine);
    machine->cluster = cluster;
    for (uint32_t cta = 0; cta < program->ctas; cta++)
        machine_start_agent(machine, cta * program->agents_per_cta, 0);
    for (uint32_t i = 0; i < program->parameter_count; i++)
        if (program->parameters[i].reg != NO_REGISTER)
            for (uint32_t cta = 0; cta < program->ctas; cta++)
                machine_words(machine, cta * program->agents_per_cta)[program->parameters[i].reg] =
                    parameter_word(machine, i);
    program_first_id(program, machine->programs, cluster, machine->program_id);
    for (uint32_t cta = 0; cta < program->ctas; cta++) {
        StepResult result = machine_advance(machine, cta * program->agents_per_cta);
        if (result != STEP_DONE)
            return result;
    }
    return STEP_DONE;
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
    return machine_advance(machine, index);
}

bool machine_can_step_on(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    switch ((AgentStatus)agent->status) {
    case AGENT_READY:
        return agent->gate == GATE_NONE || agent->forced || gate_is_open(machine, index);
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
    if (++machine->used > machine->budget || deadline_passed())
        return STEP_BUDGET;
    agent->ticks++;
    if (agent->gate != GATE_NONE)
        return pass_gate(machine, index);
    machine->changes++;
    if (agent->status == AGENT_JOINS) {
        uint32_t base = index - index % machine->program->agents_per_cta;
        for (uint32_t k = 1; k < machine->program->agents_per_cta; k++)
            machine->state->agents[base + k].status = AGENT_IDLE;
        machine_emit(machine, &(Event){.kind = EVENT_JOIN, .agent = index, .pc = pc});
        agent->status = AGENT_READY;
        agent->pc++;
        return machine_advance(machine, index);
    }
    const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER) {
        bool named = agent->status == AGENT_NAMED;
        if (!named && !agent->forced && machine->state->cluster[agent->barrier].generation == agent->generation)
            machine_cluster_meets(machine, index, pc, effect, agent->barrier); /* others ended while it waited */
        machine_emit(machine, &(Event){.kind = named ? EVENT_NAMED_SYNC : EVENT_CLUSTER_WAIT,
                                       .agent = index,
                                       .pc = pc,
                                       .effect = effect,
                                       .barrier = agent->barrier});
        agent->status = AGENT_READY;
        agent->forced = 0;
        agent->effect++;
        return machine_advance(machine, index);
    }
    StepResult result = effect_perform(machine, index, pc, effect);
    if (result != STEP_DONE)
        return result;
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER)
        return STEP_DONE; /* it has arrived, and goes on when the others have */
    agent->effect++;
    return machine_advance(machine, index);
}
