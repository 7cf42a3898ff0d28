/* Requests for the work of a cluster that has not started (cluster launch control): which cluster the answer gives,
 * where it lands, and what it says when it is read. */
#include "machine/tile/step/machine_internal.h"

enum { NONE = -1 };

static uint64_t bit_of(uint32_t number) {
    return (uint64_t)1 << number % 64;
}

/* How many requests of a cluster that runs by itself are granted. The first cluster, and every other one, gets as many
 * as go around the deepest ring twice; between them are those whose first, second, ... request fails. */
static uint64_t most_granted(const Machine *machine) {
    uint64_t most = 2 * (uint64_t)machine->program->deepest_ring + 1;
    if (most < 2)
        most = 2;
    return machine->cluster % 2 ? machine->cluster / 2 % most : most;
}

/* By itself it gets those that come after it in the grid. */
static int64_t next_of_grid(Machine *machine) {
    uint64_t many = machine->state->requests;
    return many <= most_granted(machine) ? (int64_t)((machine->cluster + many) % machine_clusters(machine)) : NONE;
}

Request cancel_request(Machine *machine, uint32_t pc) {
    State *state = machine->state;
    Request request = {.number = ++state->requests};
    request.cluster = !machine->memory        ? next_of_grid(machine)
                      : machine->take_cluster ? machine->take_cluster(machine->taker)
                                              : NONE;
    if (request.cluster < 0 || machine_clusters(machine) < 2) /* of a grid of one there is no work to be lost */
        return request;
    if (!state->unread)
        state->unread_pc = pc + 1;
    state->unread |= bit_of(request.number);
    return request;
}

/* Where the answer of an outstanding operation lands: a view, if that is known. */
static Word landing_of(const Machine *machine, const Outstanding *outstanding) {
    const CompiledEffect *effect = &machine->program->effects[outstanding->effect];
    Word view =
        effect->lands == NO_REGISTER ? word_unknown(0) : machine_words(machine, outstanding->agent)[effect->lands];
    return view_toward(view, outstanding->toward);
}

void cancel_land(Machine *machine, const Outstanding *outstanding) {
    Word view = landing_of(machine, outstanding);
    Cell *cell = word_is(view, WORD_VIEW) ? machine_cell(machine, view_key(view), true) : NULL;
    if (!cell)
        return;
    cell->word = word_integer(outstanding->request.cluster);
    cell->word.meta = outstanding->request.number;
}

/* A read that comes too early is another fault than none. */
void cancel_read(Machine *machine, Word view) {
    State *state = machine->state;
    if (!state->unread || !word_is(view, WORD_VIEW))
        return;
    const Cell *cell = machine_cell(machine, view_key(view), false);
    if (cell && word_is(cell->word, WORD_INTEGER))
        state->unread &= ~bit_of(cell->word.meta);
    for (uint32_t i = 0; i < state->outstanding_count; i++) {
        const Outstanding *outstanding = &state->outstanding_ops[i];
        Word lands = outstanding->request.number ? landing_of(machine, outstanding) : word_unknown(0);
        if (word_is(lands, WORD_VIEW) && view_key(lands) == view_key(view))
            state->unread &= ~bit_of(outstanding->request.number);
    }
}

/* A program along an axis of a cluster of the grid. Nothing can use the one of an answer that gives none. */
static Word program_of(const Machine *machine, int64_t cluster, uint32_t axis) {
    int64_t id[3] = {0};
    if (cluster >= 0)
        program_first_id(machine->program, machine->programs, (uint64_t)cluster, id);
    return word_integer(id[axis]);
}

/* 0: the answer at a view; 1: whether it gives a cluster; 2 + axis: its program; 5 + axis: that, or -1. */
Word cancel_answer(Machine *machine, uint32_t agent, uint32_t pc, uint32_t what, Word word) {
    if (what == 0) {
        const Cell *cell = word_is(word, WORD_VIEW) ? machine_cell(machine, view_key(word), false) : NULL;
        return word_integer(cell && word_is(cell->word, WORD_INTEGER) ? cell->word.bits : NONE);
    }
    if (word_is(word, WORD_TENSOR))
        return word_unknown(word.tensor->identity);
    if (!word_is(word, WORD_INTEGER))
        return word;
    if (word.bits < 0 && (what == 1 || what >= 5))
        machine->state->agents[agent].refused = pc + 1;
    if (what == 1)
        return word_integer(word.bits >= 0);
    return what >= 5 && word.bits < 0 ? word_integer(NONE) : program_of(machine, word.bits, (what - 2) % 3);
}
