/* The machine's state as one block of plain data: laid out, copied, compared. */
#include "machine/tile/step/machine_internal.h"

typedef struct StateLayout {
    size_t agents, barriers, named, cluster, outstanding_ops, cells, words, size;
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
    layout.outstanding_ops = place(&at, machine->outstanding_capacity * sizeof(Outstanding));
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
    state->outstanding_ops = (Outstanding *)(block + layout.outstanding_ops);
    state->cells = (Cell *)(block + layout.cells);
    state->words = (Word *)(block + layout.words);
    return state;
}

/* The parts of a state that are in use. */
typedef struct StatePart {
    size_t at, size;
} StatePart;

static unsigned parts_of(const Machine *machine, const State *state, StatePart parts[4]) {
    StateLayout layout = layout_of_state(machine);
    parts[0] = (StatePart){layout.agents, layout.outstanding_ops - layout.agents};
    parts[1] = (StatePart){layout.outstanding_ops, state->outstanding_count * sizeof(Outstanding)};
    parts[2] = (StatePart){layout.cells, state->cell_count * sizeof(Cell)};
    parts[3] = (StatePart){layout.words, layout.size - layout.words};
    return 4;
}

static void copy(const Machine *machine, State *to, const State *from) {
    StatePart parts[4];
    unsigned count = parts_of(machine, from, parts);
    to->outstanding_count = from->outstanding_count;
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
    if (a->outstanding_count != b->outstanding_count || a->cell_count != b->cell_count || a->requests != b->requests ||
        a->unread != b->unread)
        return false;
    StatePart parts[4];
    unsigned count = parts_of(machine, a, parts);
    for (unsigned i = 0; i < count; i++)
        if (memcmp((const char *)a + parts[i].at, (const char *)b + parts[i].at, parts[i].size) != 0)
            return false;
    return true;
}

void state_clear(Machine *machine) {
    State *state = machine->state;
    StateLayout layout = layout_of_state(machine);
    memset((char *)state + layout.agents, 0, layout.outstanding_ops - layout.agents);
    memset((char *)state + layout.words, 0, layout.size - layout.words);
    state->outstanding_count = state->cell_count = state->next_sequence = 0;
    state->requests = state->unread_pc = 0;
    state->unread = 0;
}
