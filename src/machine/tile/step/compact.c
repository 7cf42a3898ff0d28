/* Throws away the tensors and descriptors of a machine that nothing refers to any more: a kernel that runs long makes
 * new ones all the time. */
#include "base/table.h"
#include "machine/tile/step/machine_internal.h"

/* Where a tensor has gone; several registers may hold one. */
typedef struct Moved {
    const Tensor *from, *to;
} Moved;
typedef TABLE_OF(Moved) MovedTable;
TABLE(moved, MovedTable, Moved, const Tensor *, 64, item->from, item->from, table_hash((uintptr_t)key >> 4),
      item->from == key)

typedef struct CompactMove {
    Machine *machine;
    Arena arena; /* what is kept */
    Arena table; /* what this needs itself */
    MovedTable moved;
    uint32_t *places; /* of descriptors that were made: 1 + where they go; 0: nothing has it */
} CompactMove;

typedef void CompactVisit(CompactMove *move, Word *word);

static size_t word_count(const Machine *machine) {
    return (size_t)machine->agent_count * machine->program->most_registers;
}

static void visit_all(CompactMove *move, CompactVisit *visit) {
    State *state = move->machine->state;
    size_t count = word_count(move->machine);
    for (size_t i = 0; i < count; i++)
        visit(move, &state->words[i]);
    for (uint32_t i = 0; i < state->cell_count; i++)
        visit(move, &state->cells[i].word);
    for (uint32_t i = 0; i < move->machine->result_count; i++)
        visit(move, &move->machine->results[i].word);
}

/* ---- Tensors -------------------------------------------------------------------------------------- */

/* How much of its data it reaches. */
static size_t extent(const Tensor *tensor) {
    int64_t last = 0;
    for (unsigned i = 0; i < tensor->rank; i++)
        last += tensor->dims[i] > 0 ? (tensor->dims[i] - 1) * tensor->strides[i] : 0;
    return (size_t)last + 1;
}

static void *copy(CompactMove *move, const void *from, size_t size) {
    void *to = arena_alloc(&move->arena, size);
    return size ? memcpy(to, from, size) : to;
}

static void move_tensor(CompactMove *move, Word *word) {
    if (!word_is(*word, WORD_TENSOR))
        return;
    Moved *place = moved_put(&move->table, &move->moved, word->tensor);
    if (!place->from) {
        Tensor *tensor = copy(move, word->tensor, sizeof *tensor);
        if (tensor->data)
            tensor->data = copy(move, tensor->data, extent(tensor) * sizeof *tensor->data);
        *place = (Moved){word->tensor, tensor};
    }
    word->tensor = place->to;
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

static uint32_t *place_of_descriptor(const CompactMove *move, const Word *word) {
    uint32_t launched = move->machine->descriptor_count;
    return word_is(*word, WORD_DESCRIPTOR) && word->meta >= launched ? &move->places[word->meta - launched] : NULL;
}

static void mark_descriptor(CompactMove *move, Word *word) {
    uint32_t *place = place_of_descriptor(move, word);
    if (place)
        *place = 1;
}

static void move_descriptor(CompactMove *move, Word *word) {
    const uint32_t *place = place_of_descriptor(move, word);
    if (place)
        word->meta = move->machine->descriptor_count + *place - 1;
}

/* Those that lie in memory can still be found there. */
static void move_descriptors(CompactMove *move) {
    Machine *machine = move->machine;
    uint32_t kept = 0;
    move->places = ARENA_ARRAY(&move->table, uint32_t, machine->made_count + 1);
    visit_all(move, mark_descriptor);
    for (uint32_t i = 0; i < machine->made_count; i++)
        if (move->places[i] || machine->made[i].address) {
            machine->made[kept] = machine->made[i];
            move->places[i] = ++kept;
        }
    visit_all(move, move_descriptor);
    machine->made = copy(move, machine->made, kept * sizeof *machine->made);
    machine->made_count = machine->made_capacity = kept;
}

void machine_compact(Machine *machine) {
    /* What is kept is not more than what there is: for a moment there may be twice as much. */
    const Arena empty = {.budget = SIZE_MAX / 2, .exhausted = machine->arena->exhausted};
    CompactMove move = {.machine = machine, .arena = empty, .table = empty};
    visit_all(&move, move_tensor);
    move_descriptors(&move);
    machine->results = copy(&move, machine->results, machine->result_count * sizeof *machine->results);
    machine->result_capacity = machine->result_count;
    machine->atomics = copy(&move, machine->atomics, machine->atomic_count * sizeof *machine->atomics);
    machine->atomic_capacity = machine->atomic_count;
    arena_free(&move.table);
    arena_free(machine->arena);
    move.arena.budget = machine->arena->budget;
    *machine->arena = move.arena;
    if (machine->tensor_limit < 2 * move.arena.held)
        machine->tensor_limit = 2 * move.arena.held;
}
