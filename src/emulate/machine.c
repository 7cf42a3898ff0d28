/* One step of the machine: an agent's instructions up to its next visible effect, that effect, or a completion. */
#include "emulate/machine.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Laying out the state ------------------------------------------------------------------------- */

enum { PARAMETER_SHIFT = 40 };
static const int64_t scratch_base = INT64_C(1) << 60;

typedef struct Layout {
    size_t agents, barriers, named, cluster, flights, cells, words, size;
} Layout;

static size_t place(size_t *at, size_t bytes) {
    size_t start = *at;
    *at = (start + bytes + 15) & ~(size_t)15;
    return start;
}

static Layout layout_of_state(const Machine *machine) {
    Layout layout;
    size_t at = (sizeof(State) + 15) & ~(size_t)15;
    layout.agents = place(&at, machine->agent_count * sizeof(Agent));
    layout.barriers = place(&at, machine->slot_count * sizeof(Barrier));
    layout.named = place(&at, (size_t)machine->program->ctas * NAMED_BARRIERS * sizeof(Rendezvous));
    layout.cluster = place(&at, machine->cluster_barriers * sizeof(Rendezvous));
    layout.flights = place(&at, MOST_FLIGHTS * sizeof(Flight));
    layout.cells = place(&at, MOST_CELLS * sizeof(Cell));
    layout.words = place(&at, (size_t)machine->agent_count * machine->program->most_registers * sizeof(Word));
    layout.size = at;
    return layout;
}

State *state_new(const Machine *machine, Arena *arena) {
    Layout layout = layout_of_state(machine);
    char *block = arena_zalloc(arena, layout.size);
    State *state = (State *)block;
    state->agents = (Agent *)(block + layout.agents);
    state->barriers = (Barrier *)(block + layout.barriers);
    state->named = (Rendezvous *)(block + layout.named);
    state->cluster = (Rendezvous *)(block + layout.cluster);
    state->flights = (Flight *)(block + layout.flights);
    state->cells = (Cell *)(block + layout.cells);
    state->words = (Word *)(block + layout.words);
    return state;
}

/* The parts of a state that are in use. */
typedef struct Part {
    size_t at, size;
} Part;

static unsigned parts_of(const Machine *machine, const State *state, Part parts[4]) {
    Layout layout = layout_of_state(machine);
    parts[0] = (Part){layout.agents, layout.flights - layout.agents};
    parts[1] = (Part){layout.flights, state->flight_count * sizeof(Flight)};
    parts[2] = (Part){layout.cells, state->cell_count * sizeof(Cell)};
    parts[3] = (Part){layout.words, layout.size - layout.words};
    return 4;
}

static void copy(const Machine *machine, State *to, const State *from) {
    Part parts[4];
    unsigned count = parts_of(machine, from, parts);
    to->flight_count = from->flight_count;
    to->cell_count = from->cell_count;
    to->next_sequence = from->next_sequence;
    to->launches = from->launches;
    for (unsigned i = 0; i < count; i++)
        memcpy((char *)to + parts[i].at, (const char *)from + parts[i].at, parts[i].size);
}

void state_save(const Machine *machine, State *to) {
    copy(machine, to, machine->state);
}

void state_restore(Machine *machine, const State *from) {
    copy(machine, machine->state, from);
}

bool state_equal(const Machine *machine, const State *a, const State *b) {
    if (a->flight_count != b->flight_count || a->cell_count != b->cell_count || a->launches != b->launches)
        return false;
    Part parts[4];
    unsigned count = parts_of(machine, a, parts);
    for (unsigned i = 0; i < count; i++)
        if (memcmp((const char *)a + parts[i].at, (const char *)b + parts[i].at, parts[i].size) != 0)
            return false;
    return true;
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
    machine->trips = ARENA_ARRAY(arena, Trips, program->loop_count + 1);
    machine->descriptor_count = program->parameter_count + program->maker_count * machine->agent_count;
    machine->descriptors = ARENA_ARRAY(arena, Descriptor, machine->descriptor_count + 1);
    machine->state = state_new(machine, arena);
    return machine;
}

/* ---- Launching ------------------------------------------------------------------------------------ */

static const Argument *argument_of(const Launch *launch, const char *name) {
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
        const Argument *argument = argument_of(launch, whole->name);
        if (!argument || argument->kind != ARGUMENT_DESCRIPTOR || parameter->part >= 2u * argument->rank)
            return unknown;
        return word_integer(parameter->part < argument->rank ? argument->shape[parameter->part]
                                                             : argument->strides[parameter->part - argument->rank]);
    }
    if (type_is(parameter->type, STR("tt.tensordesc")))
        return (Word){.kind = WORD_DESCRIPTOR, .meta = index};
    if (type_is(parameter->type, STR("tt.ptr")))
        return word_integer((int64_t)(index + 1) << PARAMETER_SHIFT);
    const Argument *argument = argument_of(launch, parameter->name);
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
        const Argument *argument = argument_of(launch, machine->program->parameters[i].name);
        Descriptor *descriptor = &machine->descriptors[i];
        *descriptor = (Descriptor){.base = (int64_t)(i + 1) << PARAMETER_SHIFT};
        if (argument && argument->kind == ARGUMENT_DESCRIPTOR) {
            descriptor->rank = argument->rank;
            for (unsigned k = 0; k < argument->rank; k++) {
                descriptor->shape[k] = argument->shape[k];
                descriptor->strides[k] = argument->strides[k];
            }
        }
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

static StepResult advance(Machine *machine, uint32_t index);

static Word *words_of(const Machine *machine, uint32_t agent) {
    return machine->state->words + (size_t)agent * machine->program->most_registers;
}

static void start_agent(Machine *machine, uint32_t index, uint32_t strand_index) {
    const Program *program = machine->program;
    const Strand *strand = &program->strands[strand_index];
    Agent *agent = &machine->state->agents[index];
    uint32_t ticks = agent->ticks;
    *agent = (Agent){.pc = strand->entry, .strand = strand_index, .status = AGENT_READY, .ticks = ticks};
    Word *words = words_of(machine, index);
    for (uint32_t i = 0; i < strand->register_count; i++)
        words[i] = (Word){.kind = WORD_NOTHING};
    const uint32_t *list = program->lists + strand->constants;
    for (uint32_t i = 0; i < strand->constant_count; i++)
        words[list[2 * i]] = program->constants[list[2 * i + 1]];
}

StepResult machine_start(Machine *machine, uint64_t cluster) {
    State *state = machine->state;
    const Program *program = machine->program;
    Layout layout = layout_of_state(machine);
    memset((char *)state + layout.agents, 0, layout.flights - layout.agents);
    memset((char *)state + layout.words, 0, layout.size - layout.words);
    state->flight_count = state->cell_count = state->next_sequence = state->launches = 0;
    machine->used = 0;
    machine->choices = machine->loads_chosen = 0;
    machine->first_choice = NULL;
    machine->atomic_count = 0;
    machine->excluded = false;
    uint64_t first = program->ranks_are_programs ? cluster * program->ctas : cluster;
    for (uint32_t cta = 0; cta < program->ctas; cta++)
        start_agent(machine, cta * program->agents_per_cta, 0);
    for (uint32_t i = 0; i < program->parameter_count; i++)
        if (program->parameters[i].reg != NO_REGISTER)
            for (uint32_t cta = 0; cta < program->ctas; cta++)
                words_of(machine, cta * program->agents_per_cta)[program->parameters[i].reg] =
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

/* ---- Small things --------------------------------------------------------------------------------- */

static void tell(Machine *machine, Event event) {
    machine->events++;
    if (machine->observe) {
        event.op = machine->program->ops[event.pc];
        event.state = machine->state;
        machine->observe(machine->observer, &event);
    }
}

static StepResult stop_at(Machine *machine, uint32_t pc, const char *reason) {
    machine->unknown_op = machine->program->ops[pc];
    machine->unknown = reason;
    return STEP_UNKNOWN;
}

static StepResult fault_at(Machine *machine, RuleId rule, uint32_t agent, uint32_t pc, uint32_t effect,
                           uint32_t barrier, int64_t amount, bool in_flight) {
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

static int64_t byte_of(Word view) {
    return (int32_t)(view.bits & UINT32_MAX) + (int64_t)(int32_t)(view.bits >> 32);
}

static Word view_word(uint32_t storage, uint32_t cta, Offset offset) {
    return (Word){.bits = (int64_t)((uint64_t)(uint32_t)offset.base | (uint64_t)(uint32_t)offset.affine << 32),
                  .meta = storage,
                  .cta = (uint16_t)cta,
                  .kind = WORD_VIEW};
}

/* Something unknown that control depends on: worlds differ in what it is taken to be. */
static int64_t choose(Machine *machine, uint64_t identity, const Op *op) {
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

static Cell *cell_at(Machine *machine, uint64_t key, bool make) {
    State *state = machine->state;
    for (uint32_t i = 0; i < state->cell_count; i++)
        if (state->cells[i].key == key)
            return &state->cells[i];
    if (!make || state->cell_count == MOST_CELLS)
        return NULL;
    state->cells[state->cell_count] = (Cell){.key = key};
    return &state->cells[state->cell_count++];
}

static uint64_t cell_key(Word view) {
    return identity_mix((uint64_t)view.bits, (uint64_t)view.meta << 16 | view.cta) | 1;
}

/* ---- Memory --------------------------------------------------------------------------------------- */

static bool data_at(const Machine *machine, int64_t address, unsigned width, int64_t *value) {
    int64_t index = address >> PARAMETER_SHIFT;
    if (index < 1 || index > (int64_t)machine->program->parameter_count)
        return false;
    const Argument *argument = argument_of(machine->launch, machine->program->parameters[index - 1].name);
    int64_t offset = address - (index << PARAMETER_SHIFT);
    if (!argument || !argument->data || offset % (width / 8))
        return false;
    offset /= width / 8;
    if (offset < 0 || (uint64_t)offset >= argument->data_count)
        return false;
    *value = integer_wrap(argument->data[offset], width);
    return true;
}

/* An integer in memory that nobody described: the same for every agent, different from world to world. */
static int64_t chosen_data(Machine *machine, uint64_t identity, const Op *op) {
    static const int64_t values[] = {1, 0, 3, 300};
    if (!machine->loads_chosen++ && !machine->first_choice)
        machine->first_choice = op;
    if (machine->world < sizeof values / sizeof *values)
        return values[machine->world];
    return (int64_t)(identity_mix(identity, machine->world) >> 20 & 7);
}

static AtomicCell *atomic_at(Machine *machine, int64_t address) {
    for (uint32_t i = 0; i < machine->atomic_count; i++)
        if (machine->atomics[i].address == address)
            return &machine->atomics[i];
    if (machine->atomic_count == machine->atomic_capacity) {
        uint32_t capacity = machine->atomic_capacity ? machine->atomic_capacity * 2 : 64;
        AtomicCell *atomics = ARENA_ARRAY(machine->arena, AtomicCell, capacity);
        if (machine->atomic_count)
            memcpy(atomics, machine->atomics, machine->atomic_count * sizeof *atomics);
        machine->atomics = atomics;
        machine->atomic_capacity = capacity;
    }
    int64_t value = 0;
    (void)data_at(machine, address, 32, &value);
    machine->atomics[machine->atomic_count] = (AtomicCell){address, value};
    return &machine->atomics[machine->atomic_count++];
}

static Word load(Machine *machine, const CompiledLoad *how, Word pointer, Word operand, Word other) {
    uint64_t identity =
        identity_mix(0x10ad, pointer.kind == WORD_TENSOR ? pointer.tensor->identity : (uint64_t)pointer.bits);
    if (how->type && how->type->kind == TYPE_TENSOR) {
        Evaluation nothing = {.code = EVALUATE_NONE,
                              .tensor = true,
                              .rank = (uint8_t)how->type->dim_count,
                              .width = (uint8_t)how->width,
                              .identity = identity};
        for (uint32_t i = 0; i < how->type->dim_count && i < TENSOR_MOST_DIMS; i++)
            nothing.dims[i] = how->type->dims[i];
        return evaluate(&nothing, &pointer, 1, machine->arena);
    }
    if (!how->integer)
        return word_unknown(identity);
    bool known = word_is(pointer, WORD_INTEGER);
    if (how->atomic != ATOMIC_NONE) {
        if (!known || !word_is(operand, WORD_INTEGER) || how->atomic == ATOMIC_OTHER)
            return word_integer(chosen_data(machine, identity, how->op));
        AtomicCell *cell = atomic_at(machine, pointer.bits);
        int64_t old = cell->value;
        if (how->atomic == ATOMIC_ADD)
            cell->value = integer_wrap((int64_t)((uint64_t)old + (uint64_t)operand.bits), how->width);
        else if (how->atomic == ATOMIC_EXCHANGE || (word_is(other, WORD_INTEGER) && other.bits == old))
            cell->value = operand.bits;
        return word_integer(old);
    }
    int64_t value;
    if (word_is(operand, WORD_INTEGER) && !operand.bits) /* masked off */
        return word_is(other, WORD_NOTHING) ? word_integer(0) : other;
    for (uint32_t i = 0; known && i < machine->atomic_count; i++)
        if (machine->atomics[i].address == pointer.bits)
            return word_integer(machine->atomics[i].value);
    if (known && data_at(machine, pointer.bits, how->width, &value))
        return word_integer(value);
    return word_integer(integer_wrap(chosen_data(machine, identity, how->op), how->width));
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

static void make_descriptor(Machine *machine, uint32_t agent, const Instruction *instruction) {
    const Program *program = machine->program;
    const Maker *maker = &program->makers[instruction->aux];
    Word *words = words_of(machine, agent);
    uint32_t index = program->parameter_count + instruction->aux * machine->agent_count + agent;
    Descriptor *descriptor = &machine->descriptors[index];
    *descriptor = (Descriptor){.rank = (uint8_t)(maker->rank > 8 ? 8 : maker->rank)};
    descriptor->boxed = maker->box_count > 0 && maker->box_count <= 8;
    descriptor->box_rank = (uint8_t)(descriptor->boxed ? maker->box_count : 0);
    for (uint32_t i = 0; i < descriptor->box_rank; i++) {
        uint32_t reg = program->lists[maker->box + i];
        Word size = reg == NO_REGISTER ? word_unknown(0) : words[reg];
        descriptor->boxed &= word_is(size, WORD_INTEGER) && size.bits > 0;
        descriptor->box[i] = size.bits;
    }
    if (maker->pointer != NO_REGISTER && word_is(words[maker->pointer], WORD_INTEGER))
        descriptor->address = words[maker->pointer].bits;
    if (instruction->dst != NO_REGISTER)
        words[instruction->dst] = (Word){.kind = WORD_DESCRIPTOR, .meta = index};
}

static Word descriptor_in_memory(const Machine *machine, Word pointer) {
    for (uint32_t i = machine->program->parameter_count;
         word_is(pointer, WORD_INTEGER) && i < machine->descriptor_count; i++)
        if (machine->descriptors[i].address == pointer.bits && pointer.bits)
            return (Word){.kind = WORD_DESCRIPTOR, .meta = i};
    return word_unknown(0xdec);
}

/* What a copy through the descriptor delivers: as many boxes as cover the tile. */
static int64_t bytes_delivered(const Machine *machine, const CompiledEffect *effect, const Word *words) {
    Word word = effect->descriptor == NO_REGISTER ? word_unknown(0) : words[effect->descriptor];
    if (!word_is(word, WORD_DESCRIPTOR) || !machine->descriptors[word.meta].boxed || !effect->effect.amount)
        return effect->bytes;
    const Descriptor *descriptor = &machine->descriptors[word.meta];
    const Type *tile = type_resolve(machine->program->module, effect->effect.amount->type);
    int64_t elements = 1, tile_elements = 1;
    for (unsigned i = 0; i < descriptor->box_rank; i++) { /* the box's innermost dimension comes first */
        int64_t size = i < tile->dim_count ? tile->dims[tile->dim_count - 1 - i] : 1;
        elements *= descriptor->box[i] * ((size + descriptor->box[i] - 1) / descriptor->box[i]);
        tile_elements *= size;
    }
    return tile_elements > 0 ? effect->bytes / tile_elements * elements : effect->bytes;
}

/* ---- Barriers ------------------------------------------------------------------------------------- */

/* After a change of the barrier: its phase may be complete. */
static void settle(Machine *machine, uint32_t slot, uint32_t agent, uint32_t pc, const CompiledEffect *effect) {
    Barrier *barrier = &machine->state->barriers[slot];
    if (barrier->pending || barrier->bytes)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->count;
    barrier->generation++;
    tell(machine, (Event){.kind = EVENT_FLIP, .agent = agent, .pc = pc, .effect = effect, .barrier = slot});
}

static RuleId misuse(const Barrier *barrier) {
    return barrier->life == BARRIER_NEVER ? RULE_BARRIER_UNINITIALISED : RULE_BARRIER_INVALIDATED;
}

enum { MOST_TRANSACTION_BYTES = (1 << 20) - 1 };

/* Takes arrivals and bytes to come (or delivered: negative) to the barrier. */
static StepResult bring(Machine *machine, uint32_t slot, uint32_t agent, uint32_t pc, uint32_t effect_index,
                        int64_t arrivals, int64_t bytes, Event event) {
    Barrier *barrier = &machine->state->barriers[slot];
    const CompiledEffect *effect = &machine->program->effects[effect_index];
    bool in_flight = event.flight != NULL;
    /* What comes late to a barrier that is no more harms nobody, as long as its bytes are not something else by then.
     */
    if (in_flight && barrier->life == BARRIER_INVALID)
        return STEP_DONE;
    if (barrier->life != BARRIER_LIVE)
        return fault_at(machine, misuse(barrier), agent, pc, effect_index, slot, 0, in_flight);
    if (arrivals > barrier->pending)
        return fault_at(machine, RULE_BARRIER_UNDERFLOW, agent, pc, effect_index, slot, arrivals, in_flight);
    if (barrier->bytes + bytes > MOST_TRANSACTION_BYTES || barrier->bytes + bytes < -MOST_TRANSACTION_BYTES)
        return fault_at(machine, RULE_BARRIER_BYTES, agent, pc, effect_index, slot, barrier->bytes + bytes, in_flight);
    barrier->pending -= (uint32_t)arrivals;
    barrier->bytes += bytes;
    event.agent = agent;
    event.pc = pc;
    event.effect = effect;
    event.barrier = slot;
    tell(machine, event);
    settle(machine, slot, agent, pc, effect);
    return STEP_DONE;
}

/* ---- Flights -------------------------------------------------------------------------------------- */

static StepResult fly(Machine *machine, uint32_t agent, uint32_t pc, uint32_t effect, FlightKind kind, uint32_t slot,
                      int64_t amount) {
    State *state = machine->state;
    if (state->flight_count == MOST_FLIGHTS)
        return stop_at(machine, pc, "more asynchronous operations are in flight than the emulator keeps (512)");
    const Effect *what = &machine->program->effects[effect].effect;
    Flight *flight = &state->flights[state->flight_count++];
    *flight = (Flight){.sequence = ++state->next_sequence,
                       .effect = effect,
                       .pc = pc,
                       .barrier = slot,
                       .amount = amount,
                       .agent = (uint16_t)agent,
                       .kind = (uint8_t)kind,
                       .helper = (uint8_t)what->helper,
                       .ordered = what->done == DONE_COMMIT && !machine->out_of_order,
                       .covers = what->done == DONE_COMMIT && kind == FLIGHT_ARRIVAL};
    tell(machine, (Event){.kind = EVENT_ISSUE,
                          .agent = agent,
                          .pc = pc,
                          .effect = &machine->program->effects[effect],
                          .flight = flight,
                          .barrier = slot,
                          .amount = amount});
    return STEP_DONE;
}

bool machine_can_complete(const Machine *machine, uint32_t index) {
    const Flight *flight = &machine->state->flights[index];
    if (!flight->ordered && !flight->covers)
        return true;
    for (uint32_t i = 0; i < index; i++) {
        const Flight *earlier = &machine->state->flights[i];
        if (earlier->agent == flight->agent && earlier->helper == flight->helper &&
            (flight->covers || earlier->ordered || earlier->covers))
            return false;
    }
    return true;
}

StepResult machine_complete(Machine *machine, uint32_t index) {
    State *state = machine->state;
    Flight flight = state->flights[index];
    memmove(&state->flights[index], &state->flights[index + 1], (state->flight_count - index - 1) * sizeof flight);
    state->flight_count--;
    machine->used++;
    const CompiledEffect *effect = &machine->program->effects[flight.effect];
    if (flight.kind == FLIGHT_WORK) {
        tell(
            machine,
            (Event){.kind = EVENT_FINISH, .agent = flight.agent, .pc = flight.pc, .effect = effect, .flight = &flight});
        return STEP_DONE;
    }
    bool bytes = flight.kind == FLIGHT_BYTES;
    if (bytes && effect->effect.helper == HELPER_CLC && effect->amount != NO_REGISTER) {
        /* The answer: another program of the grid while there are some left for this cluster. */
        Word view = words_of(machine, flight.agent)[effect->amount];
        Cell *cell = word_is(view, WORD_VIEW) ? cell_at(machine, cell_key(view), true) : NULL;
        if (cell)
            cell->word = word_integer(++state->launches <= 2 ? (int64_t)state->launches : -1);
    }
    return bring(machine, flight.barrier, flight.agent, flight.pc, flight.effect, bytes ? 0 : flight.amount,
                 bytes ? -flight.amount : 0,
                 (Event){.kind = bytes ? EVENT_DELIVER : EVENT_SIGNAL, .flight = &flight, .amount = flight.amount});
}

/* ---- Effects -------------------------------------------------------------------------------------- */

static bool is_visible(const Effect *effect) {
    switch (effect->verb) {
    case EFFECT_INIT:
    case EFFECT_INVALIDATE:
    case EFFECT_EXPECT:
    case EFFECT_WAIT:
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
    case EFFECT_CLUSTER_ARRIVE:
    case EFFECT_CLUSTER_WAIT:
        return true;
    case EFFECT_ARRIVE: /* asynchronous ones are seen when they are made */
        return effect->done == DONE_NOW || (effect->done == DONE_COPIES && !effect->no_increment);
    case EFFECT_COMPLETE:
        return effect->done == DONE_NOW && effect->helper == HELPER_BASE;
    default:
        return false;
    }
}

/* Threads of the agent's strand. */
static uint32_t threads_of(const Machine *machine, uint32_t agent) {
    return machine->program->strands[machine->state->agents[agent].strand].warps * 32;
}

/* Whether the effect happens: its predicate, and of barriers that a cluster shares that this is the CTA that owns it.
 */
static bool is_present(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t pc) {
    const uint32_t predicates[] = {effect->predicate, effect->second_predicate};
    for (unsigned i = 0; i < 2; i++) {
        if (predicates[i] == NO_REGISTER)
            continue;
        Word word = words_of(machine, agent)[predicates[i]];
        if (word_is(word, WORD_INTEGER) ? !word.bits : !choose(machine, (uint64_t)word.bits, machine->program->ops[pc]))
            return false;
    }
    EffectVerb verb = effect->effect.verb;
    if (effect->shared_by_ctas && agent_cta(machine, agent) != 0 &&
        (verb == EFFECT_INIT || verb == EFFECT_INVALIDATE || verb == EFFECT_WAIT))
        return false;
    if (effect->pair && agent_cta(machine, agent) % 2)
        return false;
    return true;
}

/* The slot that the effect is on; false if it is not known. */
static bool find_slot(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t which, uint32_t *slot) {
    const Word *words = words_of(machine, agent);
    Word view = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
    if (!word_is(view, WORD_VIEW))
        return false;
    int64_t byte = byte_of(view);
    if (effect->effect.side != SIDE_NONE) {
        uint32_t ring = machine->storage_sizes[view.meta] / 16;
        byte += 8 * (int64_t)(effect->effect.side == SIDE_EMPTY ? ring + which : which);
    }
    uint32_t cta = effect->shared_by_ctas ? 0 : view.cta;
    *slot = machine_slot(machine, cta, view.meta, byte);
    return *slot != UINT32_MAX;
}

/* Tokens and arefs: which slot of the ring; arefs that do not say it yet count their uses, per agent. */
static bool ring_place(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t *which,
                       int64_t *parity) {
    const Word *words = words_of(machine, agent);
    *which = 0;
    if (effect->effect.side == SIDE_NONE)
        return true;
    if (effect->slot != NO_REGISTER) {
        if (!word_is(words[effect->slot], WORD_INTEGER))
            return false;
        *which = (uint32_t)words[effect->slot].bits;
        return true;
    }
    if (effect->on == NO_REGISTER || !word_is(words[effect->on], WORD_VIEW))
        return false;
    Word view = words[effect->on];
    uint32_t ring = machine->storage_sizes[view.meta] / 16;
    bool enters = effect->effect.verb == EFFECT_WAIT;
    /* A producer waits for empty slots and fills them; a consumer the other way round. */
    bool producer = enters == (effect->effect.side == SIDE_EMPTY);
    Cell *uses = cell_at(machine, identity_mix(cell_key(view), agent * 2u + producer) | 1, true);
    if (!uses || !ring)
        return false;
    int64_t count = uses->word.bits;
    if (!enters)
        count--; /* it leaves the slot that it entered */
    *which = (uint32_t)((count < 0 ? 0 : count) % ring);
    *parity = (count / ring & 1) ^ producer;
    return true;
}

static void ring_entered(Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    if (effect->effect.side == SIDE_NONE || effect->slot != NO_REGISTER)
        return;
    Word view = words_of(machine, agent)[effect->on];
    Cell *uses =
        cell_at(machine, identity_mix(cell_key(view), agent * 2u + (effect->effect.side == SIDE_EMPTY)) | 1, true);
    if (uses)
        uses->word.bits++;
}

static void arrive_at(Rendezvous *rendezvous, uint32_t arrivals, uint32_t expected) {
    if (!rendezvous->arrived)
        rendezvous->expected = expected;
    rendezvous->arrived += arrivals;
    if (rendezvous->arrived >= rendezvous->expected) {
        rendezvous->generation++;
        rendezvous->arrived = rendezvous->expected = 0;
    }
}

/* Agents that take part in the hardware's cluster barrier: all whose warps are there. Those of a partition that has
 * come to its end are, until the partitions are joined; they just never arrive. */
static uint32_t live_agents(const Machine *machine) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint8_t status = machine->state->agents[i].status;
        count += status != AGENT_IDLE && (status != AGENT_ENDED || i % machine->program->agents_per_cta);
    }
    return count;
}

/* The hardware's barrier counts every thread of the cluster that has not ended; inside a partition, an arrive together
 * with its wait is one between the same partitions of the CTAs. */
static uint32_t cluster_barrier_of(const Machine *machine, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &machine->program->code[pc];
    const CompiledEffect *effects = &machine->program->effects[instruction->aux];
    uint32_t strand = machine->program->strands[machine->state->agents[agent].strand].index;
    bool both = instruction->a > 1 && effects[0].effect.verb == EFFECT_CLUSTER_ARRIVE &&
                effects[instruction->a - 1].effect.verb == EFFECT_CLUSTER_WAIT;
    return strand && both ? 1 + strand : 0;
}

static StepResult wait_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    const Barrier *barrier = &machine->state->barriers[agent->barrier];
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects);
    if (barrier->life != BARRIER_LIVE)
        return fault_at(machine, misuse(barrier), index, pc, effect_index, agent->barrier, 0, false);
    tell(machine, (Event){.kind = EVENT_WAIT,
                          .agent = index,
                          .pc = pc,
                          .effect = effect,
                          .barrier = agent->barrier,
                          .parity = agent->parity});
    ring_entered(machine, index, effect);
    agent->status = AGENT_READY;
    agent->forced = 0;
    return STEP_DONE;
}

/* Several slots of a ring at once: making and freeing tokens. */
static StepResult life_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects);
    Word view = effect->on == NO_REGISTER ? word_unknown(0) : words_of(machine, index)[effect->on];
    if (!word_is(view, WORD_VIEW))
        return stop_at(machine, pc, "which barrier it means is not known");
    uint32_t count = what->side == SIDE_NONE ? 1 : machine->storage_sizes[view.meta] / 16;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot;
        if (!find_slot(machine, index, effect, i, &slot))
            return stop_at(machine, pc, "there are more barriers than the emulator has room for");
        Barrier *barrier = &machine->state->barriers[slot];
        if (what->verb == EFFECT_INIT) {
            if (barrier->life == BARRIER_LIVE)
                return fault_at(machine, RULE_BARRIER_REINITIALISED, index, pc, effect_index, slot, 0, false);
            *barrier = (Barrier){.count = (uint32_t)what->count,
                                 .pending = (uint32_t)what->count,
                                 .life = BARRIER_LIVE,
                                 .generation = barrier->generation,
                                 .born = barrier->generation};
        } else {
            if (barrier->life != BARRIER_LIVE)
                return fault_at(machine, misuse(barrier), index, pc, effect_index, slot, 0, false);
            for (uint32_t k = 0; k < machine->agent_count; k++)
                if (machine->state->agents[k].status == AGENT_WAITS && machine->state->agents[k].barrier == slot &&
                    k != index && machine->state->agents[k].parity == barrier->phase)
                    return fault_at(machine, RULE_BARRIER_INVALIDATED, index, pc, effect_index, slot, k + 1, false);
            barrier->life = BARRIER_INVALID;
        }
        tell(machine, (Event){.kind = what->verb == EFFECT_INIT ? EVENT_INIT : EVENT_INVALIDATE,
                              .agent = index,
                              .pc = pc,
                              .effect = effect,
                              .barrier = slot,
                              .amount = what->count});
    }
    return STEP_DONE;
}

static StepResult named_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    const Word *words = words_of(machine, index);
    Word id = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
    Word threads = effect->amount == NO_REGISTER ? word_unknown(0) : words[effect->amount];
    if (!word_is(id, WORD_INTEGER) || !word_is(threads, WORD_INTEGER))
        return stop_at(machine, pc, "which named barrier it means, or how many threads, is not known");
    if (id.bits < 0 || id.bits >= NAMED_BARRIERS || threads.bits <= 0)
        return stop_at(machine, pc, "the hardware has named barriers 0 to 15, for one thread at least");
    uint32_t at = agent_cta(machine, index) * NAMED_BARRIERS + (uint32_t)id.bits;
    Rendezvous *named = &machine->state->named[at];
    bool sync = effect->effect.verb == EFFECT_NAMED_SYNC;
    uint32_t before = named->generation, all = named->arrived + threads_of(machine, index);
    uint32_t needed = named->arrived ? named->expected : (uint32_t)threads.bits;
    tell(machine, (Event){.kind = EVENT_NAMED_ARRIVE,
                          .agent = index,
                          .pc = pc,
                          .effect = effect,
                          .barrier = at,
                          .amount = threads.bits});
    arrive_at(named, threads_of(machine, index), (uint32_t)threads.bits);
    if (named->generation != before)
        tell(machine, (Event){.kind = EVENT_NAMED_MEET,
                              .agent = index,
                              .pc = pc,
                              .effect = effect,
                              .barrier = at,
                              .amount = all - needed});
    if (sync) {
        agent->status = AGENT_NAMED;
        agent->barrier = at;
        agent->generation = before;
    }
    return STEP_DONE;
}

static void cluster_meets(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect, uint32_t at) {
    machine->state->cluster[at].generation++;
    machine->state->cluster[at].arrived = 0;
    tell(machine, (Event){.kind = EVENT_CLUSTER_MEET, .agent = index, .pc = pc, .effect = effect, .barrier = at});
}

static StepResult cluster_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    uint32_t at = cluster_barrier_of(machine, index, pc);
    Rendezvous *cluster = &machine->state->cluster[at];
    if (effect->effect.verb == EFFECT_CLUSTER_ARRIVE) {
        agent->generation = cluster->generation;
        tell(machine, (Event){.kind = EVENT_CLUSTER_ARRIVE, .agent = index, .pc = pc, .effect = effect, .barrier = at});
        cluster->arrived++;
        if (cluster->arrived >= (at ? machine->program->ctas : live_agents(machine)))
            cluster_meets(machine, index, pc, effect, at);
        return STEP_DONE;
    }
    agent->status = AGENT_CLUSTER;
    agent->barrier = at;
    return STEP_DONE;
}

/* A visible effect, with its predicate true. */
static StepResult perform(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects), slot, which;
    int64_t parity = 0;
    switch (what->verb) {
    case EFFECT_WAIT:
        return wait_step(machine, index, pc, effect);
    case EFFECT_INIT:
    case EFFECT_INVALIDATE:
        return life_step(machine, index, pc, effect);
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
        return named_step(machine, index, pc, effect);
    case EFFECT_CLUSTER_ARRIVE:
    case EFFECT_CLUSTER_WAIT:
        return cluster_step(machine, index, pc, effect);
    default:
        break;
    }
    if (!ring_place(machine, index, effect, &which, &parity) || !find_slot(machine, index, effect, which, &slot))
        return stop_at(machine, pc, "which barrier it means is not known");
    if (what->verb == EFFECT_EXPECT)
        return bring(machine, slot, index, pc, effect_index, 1, what->count,
                     (Event){.kind = EVENT_EXPECT, .amount = what->count});
    if (what->verb == EFFECT_COMPLETE)
        return bring(machine, slot, index, pc, effect_index, 0, -effect->bytes,
                     (Event){.kind = EVENT_DELIVER, .amount = effect->bytes});
    int64_t arrivals = what->count * (what->per_thread ? threads_of(machine, index) : 1);
    if (what->done == DONE_COPIES) { /* announced now, made when the copies are done */
        Barrier *barrier = &machine->state->barriers[slot];
        if (barrier->life != BARRIER_LIVE)
            return fault_at(machine, misuse(barrier), index, pc, effect_index, slot, 0, false);
        barrier->pending += (uint32_t)arrivals;
        return fly(machine, index, pc, effect_index, FLIGHT_ARRIVAL, slot, arrivals);
    }
    return bring(machine, slot, index, pc, effect_index, arrivals, 0,
                 (Event){.kind = EVENT_ARRIVE, .amount = arrivals});
}

/* An effect that nobody sees at once. */
static StepResult pass_by(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    const Word *words = words_of(machine, index);
    Agent *agent = &machine->state->agents[index];
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects), slot, which;
    int64_t parity = 0;
    Event event = {.agent = index, .pc = pc, .effect = effect};
    switch (what->verb) {
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        event.kind = EVENT_ACCESS;
        event.view = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
        tell(machine, event);
        if (what->done == DONE_COMMIT && what->helper == HELPER_TENSOR && what->verb != EFFECT_READ)
            return fly(machine, index, pc, effect_index, FLIGHT_WORK, 0, 0);
        return STEP_DONE;
    case EFFECT_ARRIVE:
    case EFFECT_COMPLETE: {
        if (!ring_place(machine, index, effect, &which, &parity) || !find_slot(machine, index, effect, which, &slot))
            return stop_at(machine, pc, "which barrier it means is not known");
        bool bytes = what->verb == EFFECT_COMPLETE;
        int64_t amount = bytes ? bytes_delivered(machine, effect, words)
                               : what->count * (what->per_thread ? threads_of(machine, index) : 1);
        if (bytes && amount < 0)
            return stop_at(machine, pc, "how many bytes it copies is not known");
        StepResult result = fly(machine, index, pc, effect_index, bytes ? FLIGHT_BYTES : FLIGHT_ARRIVAL, slot, amount);
        if (result == STEP_DONE && effect->pair && machine->program->ctas > 1) {
            uint32_t peer = slot < machine->slots_per_cta * (agent_cta(machine, index) + 1)
                                ? slot + machine->slots_per_cta
                                : slot - machine->slots_per_cta;
            return fly(machine, index, pc, effect_index, bytes ? FLIGHT_BYTES : FLIGHT_ARRIVAL, peer, amount);
        }
        return result;
    }
    case EFFECT_COMMIT:
        agent->groups[what->group]++;
        event.kind = EVENT_COMMIT;
        tell(machine, event);
        return STEP_DONE;
    case EFFECT_AWAIT:
        if (agent->groups[what->group] > what->count)
            agent->groups[what->group] = (uint32_t)what->count;
        event.kind = EVENT_AWAIT;
        event.amount = what->count;
        tell(machine, event);
        return STEP_DONE;
    case EFFECT_CTA_BARRIER:
        event.kind = EVENT_CTA_BARRIER;
        tell(machine, event);
        return STEP_DONE;
    case EFFECT_FENCE_PROXY:
    case EFFECT_FENCE_ORDER:
        event.kind = EVENT_FENCE;
        tell(machine, event);
        return STEP_DONE;
    default:
        return STEP_DONE;
    }
}

/* ---- Instructions --------------------------------------------------------------------------------- */

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
    return evaluate(&program->evaluations[instruction->aux], list, count, machine->arena);
}

/* The slot of an aref that the agent has entered, where the IR does not say. */
static int64_t entered_slot(Machine *machine, uint32_t agent, Word aref) {
    uint32_t ring = machine->storage_sizes[aref.meta] / 16;
    for (uint32_t producer = 0; producer < 2 && ring; producer++) {
        const Cell *uses = cell_at(machine, identity_mix(cell_key(aref), agent * 2u + producer) | 1, false);
        if (uses && uses->word.bits > 0)
            return (uses->word.bits - 1) % ring;
    }
    return 0;
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
    offset.base = (int32_t)((int64_t)offset.base + index * step->stride + step->add);
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
        const Cell *cell = word_is(word, WORD_VIEW) ? cell_at(machine, cell_key(word), false) : NULL;
        return cell ? cell->word : word_integer(-1);
    }
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
    tell(machine, (Event){.kind = EVENT_FORK, .agent = index, .pc = pc, .amount = fork->strand_count});
    for (uint32_t k = 0; k < fork->strand_count; k++) {
        uint32_t child = base + 1 + k;
        start_agent(machine, child, fork->first_strand + k);
        Word *to = words_of(machine, child);
        const Word *from = words_of(machine, index);
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

/* The agent comes to a wait: what for is settled now. */
static StepResult come_to_wait(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    uint32_t which;
    int64_t parity = 0;
    if (!ring_place(machine, index, effect, &which, &parity) ||
        !find_slot(machine, index, effect, which, &agent->barrier))
        return stop_at(machine, pc, "which barrier it waits for is not known");
    if (effect->amount != NO_REGISTER) {
        Word word = words_of(machine, index)[effect->amount];
        if (!word_is(word, WORD_INTEGER))
            return stop_at(machine, pc, "the parity that it waits for is not known");
        parity = (word.bits & 1) ^ effect->effect.inverted;
    }
    agent->parity = (uint8_t)parity;
    agent->status = AGENT_WAITS;
    const Barrier *barrier = &machine->state->barriers[agent->barrier];
    if (machine->observe && barrier->life == BARRIER_LIVE && barrier->phase == agent->parity)
        tell(machine, (Event){.kind = EVENT_BLOCK,
                              .agent = index,
                              .pc = pc,
                              .effect = effect,
                              .barrier = agent->barrier,
                              .parity = agent->parity});
    return STEP_DONE;
}

/* The effects of one instruction, from agent->effect on, up to a visible one. True in *stands: it stands before one. */
static StepResult advance_effects(Machine *machine, uint32_t index, const Instruction *instruction, bool *stands) {
    Agent *agent = &machine->state->agents[index];
    for (; agent->effect < instruction->a; agent->effect++) {
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
        if (!is_present(machine, index, effect, agent->pc))
            continue;
        if (is_visible(&effect->effect)) {
            *stands = true;
            return effect->effect.verb == EFFECT_WAIT ? come_to_wait(machine, index, agent->pc, effect) : STEP_DONE;
        }
        machine->used++;
        StepResult result = pass_by(machine, index, agent->pc, effect);
        if (result != STEP_DONE)
            return result;
    }
    agent->effect = 0;
    agent->pc++;
    return STEP_DONE;
}

/* Runs an agent up to its next visible effect, without doing that. */
static StepResult advance(Machine *machine, uint32_t index) {
    const Program *program = machine->program;
    Agent *agent = &machine->state->agents[index];
    Word *words = words_of(machine, index);
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
                                : choose(machine, (uint64_t)condition.bits, program->ops[agent->pc]);
            if (!value) {
                agent->pc = instruction->aux;
                continue;
            }
            break;
        }
        case CODE_SWITCH: {
            Word value = words[instruction->a];
            if (!word_is(value, WORD_INTEGER))
                return stop_at(machine, agent->pc, "which case is taken is not known");
            if (value.bits == program->cases[instruction->b]) {
                agent->pc = instruction->aux;
                continue;
            }
            break;
        }
        case CODE_LOOP:
            if (!enter_loop(machine, instruction, words))
                return stop_at(machine, agent->pc, "how often the loop runs is not known");
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
            if (++machine->used > machine->budget)
                return STEP_BUDGET;
            continue;
        }
        case CODE_AGAIN:
            if (++machine->used > machine->budget)
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
                return stop_at(machine, agent->pc, problem);
            break;
        }
        case CODE_KEEP_BUFFER: {
            Cell *cell =
                cell_at(machine, identity_mix(cell_key(words[instruction->b]), 0xbf + instruction->aux) | 1, true);
            if (cell)
                cell->word = words[instruction->a];
            break;
        }
        case CODE_BUFFER: {
            Word aref = words[instruction->a];
            const Cell *cell = word_is(aref, WORD_VIEW)
                                   ? cell_at(machine, identity_mix(cell_key(aref), 0xbf + instruction->c) | 1, false)
                                   : NULL;
            Word slot = instruction->b == NO_REGISTER ? word_integer(entered_slot(machine, index, aref))
                                                      : words[instruction->b];
            words[instruction->dst] =
                cell && word_is(slot, WORD_INTEGER)
                    ? view_word(cell->word.meta, cell->word.cta,
                                (Offset){(int32_t)((cell->word.bits & UINT32_MAX) +
                                                   slot.bits * program->views[instruction->aux].stride),
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
            make_descriptor(machine, index, instruction);
            break;
        case CODE_FROM_POINTER:
            words[instruction->dst] = descriptor_in_memory(machine, words[instruction->a]);
            break;
        case CODE_SCRATCH:
            words[instruction->dst] = word_integer(scratch_base + ((int64_t)instruction->aux << 32));
            break;
        case CODE_LOAD: {
            Word nothing = {.kind = WORD_NOTHING};
            words[instruction->dst] =
                load(machine, &program->loads[instruction->aux],
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
            const Cell *cell = word_is(view, WORD_VIEW) ? cell_at(machine, cell_key(view), false) : NULL;
            words[instruction->dst] = cell ? cell->word : word_unknown(identity_mix(0xce11, (uint64_t)view.bits));
            break;
        }
        case CODE_KEEP: {
            Word view = words[instruction->b];
            Cell *cell = word_is(view, WORD_VIEW) ? cell_at(machine, cell_key(view), true) : NULL;
            if (cell)
                cell->word = words[instruction->a];
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
            tell(machine, (Event){.kind = EVENT_END, .agent = index, .pc = agent->pc});
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

bool machine_can_step(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    switch ((AgentStatus)agent->status) {
    case AGENT_READY:
        return true;
    case AGENT_WAITS: {
        const Barrier *barrier = &machine->state->barriers[agent->barrier];
        return barrier->phase != agent->parity || barrier->life != BARRIER_LIVE || agent->forced;
    }
    case AGENT_NAMED:
        return machine->state->named[agent->barrier].generation != agent->generation || agent->forced;
    case AGENT_CLUSTER: {
        const Rendezvous *cluster = &machine->state->cluster[agent->barrier];
        return cluster->generation != agent->generation || agent->forced ||
               (!agent->barrier && cluster->arrived && cluster->arrived >= live_agents(machine));
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
    if (agent->status == AGENT_JOINS) {
        uint32_t base = index - index % machine->program->agents_per_cta;
        for (uint32_t k = 1; k < machine->program->agents_per_cta; k++)
            machine->state->agents[base + k].status = AGENT_IDLE;
        tell(machine, (Event){.kind = EVENT_JOIN, .agent = index, .pc = pc});
        agent->status = AGENT_READY;
        agent->pc++;
        return advance(machine, index);
    }
    const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER) {
        bool named = agent->status == AGENT_NAMED;
        if (!named && !agent->forced && machine->state->cluster[agent->barrier].generation == agent->generation)
            cluster_meets(machine, index, pc, effect, agent->barrier); /* others ended while it waited */
        tell(machine, (Event){.kind = named ? EVENT_NAMED_SYNC : EVENT_CLUSTER_WAIT,
                              .agent = index,
                              .pc = pc,
                              .effect = effect,
                              .barrier = agent->barrier});
        agent->status = AGENT_READY;
        agent->forced = 0;
        agent->effect++;
        return advance(machine, index);
    }
    StepResult result = perform(machine, index, pc, effect);
    if (result != STEP_DONE)
        return result;
    if (agent->status == AGENT_NAMED || agent->status == AGENT_CLUSTER)
        return STEP_DONE; /* it has arrived, and goes on when the others have */
    agent->effect++;
    return advance(machine, index);
}

/* ---- Names ---------------------------------------------------------------------------------------- */

void agent_name(const Machine *machine, uint32_t index, Helper helper, Text *to) {
    static const char *const helpers[] = {"", ".tma", ".tensor", ".clc"};
    if (machine->program->ctas > 1)
        text_addf(to, "cta%u.", agent_cta(machine, index));
    uint32_t within = index % machine->program->agents_per_cta;
    const Agent *agent = &machine->state->agents[index];
    if (agent->status == AGENT_IDLE && within)
        text_addf(to, "partition%u", within - 1);
    else
        text_addf(to, "%s", machine->program->strands[agent->strand].name);
    text_addf(to, "%s", helpers[helper]);
}

void barrier_name(const Machine *machine, uint32_t barrier, Text *to) {
    const Program *program = machine->program;
    uint64_t key = machine->slot_places[barrier % machine->slots_per_cta];
    uint32_t storage = (uint32_t)(key >> 32);
    int64_t byte = (int32_t)(uint32_t)key;
    const Allocation *best = NULL;
    for (uint32_t i = 0; i < program->allocations.count; i++) {
        const Allocation *allocation = &program->allocations.items[i];
        if (allocation->storage == storage && allocation->offset.base <= byte &&
            (!best || allocation->offset.base > best->offset.base))
            best = allocation;
    }
    if (!best) {
        text_addf(to, "barrier at byte %lld", (long long)byte);
        return;
    }
    const Value *value = best->op->result_count ? &best->op->results[0] : NULL;
    text_add(to, "%", 1);
    if (value && value->name)
        text_add_plain(to, value->name->text);
    else
        text_addf(to, "?");
    int64_t slot = (byte - best->offset.base) / 8;
    if (!type_is(type_resolve(program->module, value->type), STR("ttg.memdesc"))) {
        int64_t ring = best->size / 16;
        text_addf(to, slot >= ring ? ".empty" : ".full");
        slot -= slot >= ring ? ring : 0;
    }
    text_addf(to, "[%lld]", (long long)slot);
    if (program->ctas > 1)
        text_addf(to, " of cta%u", barrier_cta(machine, barrier));
}
