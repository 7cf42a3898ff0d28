/* The machine's state as one block of plain data: laid out, copied, compared. */
#include "machine/tile/step/machine_internal.h"

typedef struct StateLayout {
    size_t agents, barriers, named, cluster, flights, cells, words, size;
} StateLayout;

static size_t place(size_t *at, size_t bytes) {
    size_t start = *at;
    *at = (start + bytes + 15) & ~(size_t)15;
    return start;
}

static StateLayout layout_of_state(const Machine *machine) {
    StateLayout layout;
    size_t at = (sizeof(State) + 15) & ~(size_t)15;
    layout.agents = place(&at, machine->agent_count * sizeof(Agent));
    layout.barriers = place(&at, machine->slot_count * sizeof(Barrier));
    layout.named = place(&at, (size_t)machine->program->ctas * NAMED_BARRIERS * sizeof(Rendezvous));
    layout.cluster = place(&at, machine->cluster_barriers * sizeof(Rendezvous));
    layout.flights = place(&at, machine->flight_capacity * sizeof(Flight));
    layout.cells = place(&at, machine->cell_capacity * sizeof(Cell));
    layout.words = place(&at, (size_t)machine->agent_count * machine->program->most_registers * sizeof(Word));
    layout.size = at;
    return layout;
}

State *state_new(const Machine *machine, Arena *arena) {
    StateLayout layout = layout_of_state(machine);
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
    StateLayout layout = layout_of_state(machine);
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
    to->requests = from->requests;
    to->unread_pc = from->unread_pc;
    to->unread = from->unread;
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
    if (a->flight_count != b->flight_count || a->cell_count != b->cell_count || a->requests != b->requests ||
        a->unread != b->unread)
        return false;
    Part parts[4];
    unsigned count = parts_of(machine, a, parts);
    for (unsigned i = 0; i < count; i++)
        if (memcmp((const char *)a + parts[i].at, (const char *)b + parts[i].at, parts[i].size) != 0)
            return false;
    return true;
}

void state_clear(Machine *machine) {
    State *state = machine->state;
    StateLayout layout = layout_of_state(machine);
    memset((char *)state + layout.agents, 0, layout.flights - layout.agents);
    memset((char *)state + layout.words, 0, layout.size - layout.words);
    state->flight_count = state->cell_count = state->next_sequence = 0;
    state->requests = state->unread_pc = 0;
    state->unread = 0;
}
