/* Every interleaving of a reference program: a breadth-first search over states, with the set of those seen.
 *
 * Loops are first written out: an agent becomes a list of steps, each with its barrier and its parity. A state is how
 * far every agent is, what every barrier holds and what is in flight; from it each agent that can take its next step
 * takes it, and each thing in flight that may finish finishes. Nothing is left out because another order would do. */
#include "reference.h"

#include <assert.h>
#include <stdio.h>

enum {
    /* of the default agent, which has the longest list: before, start, body, join, after */
    MOST_STEPS = 3 * REFERENCE_OPERATIONS + REFERENCE_TRIPS * REFERENCE_OPERATIONS,
    MOST_WORK = REFERENCE_AGENTS * MOST_STEPS,
    MOST_COPIES = 16, /* in flight at once */
    MOST_QUEUED = 8,  /* commits and MMAs of one agent, in flight at once */
    MOST_ENDS = 1000,
    LINE_SIZE = 160,
    TABLE_SIZE = 1 << 17, /* a power of two, over twice REFERENCE_STATES */
};

typedef struct Step {
    enum { STEP_START, STEP_JOIN, STEP_OPERATION } kind;
    const ReferenceOperation *operation;
    unsigned barrier, parity;
    uint8_t work; /* copies, commits and MMAs: what they leave in flight */
} Step;

/* What can be in flight: an arrival, or bytes. The same operation on the same barrier is the same work each time. */
typedef struct Work {
    const ReferenceOperation *operation;
    unsigned barrier;
} Work;

typedef struct Barrier {
    int32_t bytes;
    uint8_t live, phase, pending, count;
    uint8_t ended; /* it was invalidated */
    uint8_t unused[3];
} Barrier;

typedef struct Named {
    uint16_t expected, reached;
} Named;

/* Compared byte by byte. Lists of work end at the first 0. */
typedef struct State {
    Barrier barriers[REFERENCE_BARRIERS];
    Named named[REFERENCE_NAMED];
    uint8_t position[REFERENCE_AGENTS];
    uint8_t standing[REFERENCE_AGENTS]; /* at the sync at its position: it has been counted there */
    uint8_t copies[MOST_COPIES];        /* sorted */
    uint8_t queued[REFERENCE_AGENTS][MOST_QUEUED];
} State;

static_assert(sizeof(State) % 8 == 0, "a state is hashed in words, and has no holes");

typedef struct Search {
    const ReferenceProgram *program;
    Step steps[REFERENCE_AGENTS][MOST_STEPS];
    unsigned step_count[REFERENCE_AGENTS], start; /* start: the position of STEP_START in the default agent's list */
    Work work[MOST_WORK + 1];                     /* from 1 */
    unsigned work_count;
    bool too_large;
    size_t state_count, end_count;
} Search;

/* Of the search under way: its ends, sorted; its states; and where a state is by its hash. An entry belongs to the
 * search whose number it carries, so that nothing has to be cleared. */
static char ends[MOST_ENDS][LINE_SIZE];
static State states[REFERENCE_STATES];
static struct { uint32_t search, index; } table[TABLE_SIZE];
static uint32_t search_number;

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static unsigned barrier_of(const ReferenceProgram *program, const ReferenceOperation *operation, unsigned iteration) {
    unsigned barrier = operation->rotating ? iteration % program->depths[operation->array] : operation->slot;
    for (unsigned i = 0; i < operation->array; i++)
        barrier += program->depths[i];
    return barrier;
}

static unsigned parity_of(const ReferenceProgram *program, const ReferenceOperation *operation, unsigned iteration) {
    unsigned parity = operation->parity == REFERENCE_PARITY_ZERO        ? 0
                      : operation->parity == REFERENCE_PARITY_ITERATION ? iteration
                                                                        : iteration / program->depths[operation->array];
    return (parity & 1) ^ operation->flipped;
}

static uint8_t work_of(Search *search, const ReferenceOperation *operation, unsigned barrier) {
    for (unsigned i = 1; i <= search->work_count; i++)
        if (search->work[i].operation == operation && search->work[i].barrier == barrier)
            return (uint8_t)i;
    search->work[++search->work_count] = (Work){operation, barrier};
    return (uint8_t)search->work_count;
}

static void write_out(Search *search, unsigned agent, const ReferenceSequence *sequence) {
    unsigned rounds = sequence->trips ? sequence->trips : 1;
    for (unsigned iteration = 0; iteration < rounds; iteration++)
        for (unsigned i = 0; i < sequence->count; i++) {
            const ReferenceOperation *operation = &sequence->operations[i];
            Step *step = &search->steps[agent][search->step_count[agent]++];
            *step = (Step){.kind = STEP_OPERATION, .operation = operation};
            if (operation->kind >= REFERENCE_NAMED_ARRIVE)
                continue;
            step->barrier = barrier_of(search->program, operation, iteration);
            step->parity = parity_of(search->program, operation, iteration);
            step->work = work_of(search, operation, step->barrier);
        }
}

static void write_all_out(Search *search) {
    const ReferenceProgram *program = search->program;
    write_out(search, 0, &program->before);
    search->start = search->step_count[0];
    search->steps[0][search->step_count[0]++] = (Step){.kind = STEP_START};
    for (unsigned agent = 0; agent < program->agent_count; agent++)
        write_out(search, agent, &program->bodies[agent]);
    search->steps[0][search->step_count[0]++] = (Step){.kind = STEP_JOIN};
    write_out(search, 0, &program->after);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

static void add_end(Search *search, const char *line) {
    size_t at = 0;
    while (at < search->end_count && strcmp(ends[at], line) < 0)
        at++;
    if (at < search->end_count && strcmp(ends[at], line) == 0)
        return;
    if (search->end_count == MOST_ENDS) {
        search->too_large = true;
        return;
    }
    memmove(ends[at + 1], ends[at], (search->end_count - at) * LINE_SIZE);
    strcpy(ends[at], line);
    search->end_count++;
}

static void add_error(Search *search, const char *kind, const ReferenceOperation *operation) {
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "error %s @%u", kind, operation->line);
    add_end(search, line);
}

static void add_end_state(Search *search, const State *state) {
    char line[LINE_SIZE];
    int size = 0;
    for (unsigned agent = 0; agent < search->program->agent_count; agent++) {
        size += agent ? snprintf(line + size, sizeof line - (size_t)size, " partition%u=", agent - 1)
                      : snprintf(line, sizeof line, "default=");
        const Step *step = &search->steps[agent][state->position[agent]];
        if (state->position[agent] == search->step_count[agent])
            size += snprintf(line + size, sizeof line - (size_t)size, "done");
        else
            size += snprintf(line + size, sizeof line - (size_t)size, "@%u",
                             step->kind == STEP_OPERATION ? step->operation->line : search->program->specialize_line);
    }
    size += snprintf(line + size, sizeof line - (size_t)size, " |");
    unsigned barrier_count = 0;
    for (unsigned i = 0; i < search->program->array_count; i++)
        barrier_count += search->program->depths[i];
    for (unsigned i = 0; i < barrier_count; i++) {
        const Barrier *barrier = &state->barriers[i];
        size += barrier->live ? snprintf(line + size, sizeof line - (size_t)size, " %u:%u:%d", barrier->phase,
                                         barrier->pending, barrier->bytes)
                              : snprintf(line + size, sizeof line - (size_t)size, " dead");
    }
    add_end(search, line);
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

static void add_state(Search *search, const State *state) {
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof *state; i += 8) {
        uint64_t word;
        memcpy(&word, (const char *)state + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    size_t at = hash & (TABLE_SIZE - 1);
    for (; table[at].search == search_number; at = (at + 1) & (TABLE_SIZE - 1))
        if (memcmp(&states[table[at].index], state, sizeof *state) == 0)
            return;
    if (search->state_count == REFERENCE_STATES) {
        search->too_large = true;
        return;
    }
    table[at].search = search_number;
    table[at].index = (uint32_t)search->state_count;
    states[search->state_count++] = *state;
}

/* NULL, or the kind of the error. */
static const char *update(Barrier *barrier, unsigned arrivals, int32_t bytes) {
    if (!barrier->live)
        return "uninitialized";
    if (arrivals > barrier->pending)
        return "underflow";
    barrier->pending = (uint8_t)(barrier->pending - arrivals);
    barrier->bytes += bytes;
    if (barrier->pending == 0 && barrier->bytes == 0) {
        barrier->phase ^= 1;
        barrier->pending = barrier->count;
    }
    return NULL;
}

/* Lets the one that stands at the named barrier go, if all are there. */
static void complete_named(const Search *search, State *state, unsigned named) {
    if (state->named[named].reached < state->named[named].expected)
        return;
    state->named[named] = (Named){0, 0};
    for (unsigned agent = 0; agent < search->program->agent_count; agent++)
        if (state->standing[agent] && search->steps[agent][state->position[agent]].operation->named == named) {
            state->standing[agent] = 0;
            state->position[agent]++;
        }
}

/* Puts work at the end of a list. */
static void append(Search *search, uint8_t *list, unsigned capacity, uint8_t work) {
    unsigned count = 0;
    while (count < capacity && list[count])
        count++;
    if (count == capacity)
        search->too_large = true;
    else
        list[count] = work;
}

static void sort_copies(uint8_t *copies) {
    for (unsigned i = 1; i < MOST_COPIES && copies[i]; i++)
        for (unsigned j = i; j > 0 && copies[j] < copies[j - 1]; j--) {
            uint8_t other = copies[j];
            copies[j] = copies[j - 1];
            copies[j - 1] = other;
        }
}

static void take_out(uint8_t *list, unsigned capacity, unsigned at) {
    memmove(list + at, list + at + 1, capacity - at - 1);
    list[capacity - 1] = 0;
}

/* Takes the agent's next step in `state`. False if it has none or cannot; *error if that is the end of the run. */
static bool move(Search *search, State *state, unsigned agent, const char **error) {
    unsigned position = state->position[agent];
    if (position == search->step_count[agent] || state->standing[agent])
        return false;
    if (agent && state->position[0] <= search->start)
        return false;
    const Step *step = &search->steps[agent][position];
    const ReferenceOperation *operation = step->operation;
    if (step->kind == STEP_JOIN)
        for (unsigned other = 1; other < search->program->agent_count; other++)
            if (state->position[other] < search->step_count[other])
                return false;
    if (step->kind != STEP_OPERATION || operation->predicate == REFERENCE_PREDICATE_FALSE) {
        state->position[agent]++;
        return true;
    }
    Barrier *barrier = &state->barriers[step->barrier];
    Named *named = &state->named[operation->named];
    switch (operation->kind) {
    case REFERENCE_INIT:
        if (barrier->live)
            *error = "reinitialized";
        *barrier = (Barrier){.live = 1, .pending = (uint8_t)operation->amount, .count = (uint8_t)operation->amount};
        break;
    case REFERENCE_INVALIDATE:
        if (!barrier->live)
            *error = "uninitialized";
        *barrier = (Barrier){.ended = 1};
        break;
    case REFERENCE_WAIT:
        if (!barrier->live)
            *error = "uninitialized";
        else if (barrier->phase == step->parity)
            return false;
        break;
    case REFERENCE_ARRIVE:
        *error = update(barrier, operation->amount, 0);
        break;
    case REFERENCE_EXPECT:
        *error = update(barrier, 1, (int32_t)operation->amount);
        break;
    case REFERENCE_COPY:
        append(search, state->copies, MOST_COPIES, step->work);
        sort_copies(state->copies);
        break;
    case REFERENCE_COMMIT:
    case REFERENCE_MMA:
        append(search, state->queued[agent], MOST_QUEUED, step->work);
        break;
    case REFERENCE_NAMED_ARRIVE:
    case REFERENCE_NAMED_SYNC:
        if (named->reached == 0)
            named->expected = (uint16_t)operation->amount;
        named->reached = (uint16_t)(named->reached + 32 * search->program->warps[agent]);
        if (operation->kind == REFERENCE_NAMED_SYNC)
            state->standing[agent] = 1;
        else
            state->position[agent]++;
        complete_named(search, state, operation->named);
        return true;
    case REFERENCE_CTA_BARRIER:
        break;
    }
    state->position[agent]++;
    return true;
}

/* The state after something in flight was done: work number `work`, already taken out of its list. */
static void finish(Search *search, State *state, uint8_t work) {
    const Work *done = &search->work[work];
    bool copy = done->operation->kind == REFERENCE_COPY;
    Barrier *barrier = &state->barriers[done->barrier];
    const char *error =
        barrier->ended && !copy ? NULL : update(barrier, copy ? 0 : 1, copy ? -REFERENCE_TILE_BYTES : 0);
    if (error)
        add_error(search, error, done->operation);
    else
        add_state(search, state);
}

static void expand(Search *search, const State *from) {
    bool end = true;
    for (unsigned agent = 0; agent < search->program->agent_count; agent++) {
        State state = *from;
        const char *error = NULL;
        if (!move(search, &state, agent, &error))
            continue;
        end = false;
        if (error)
            add_error(search, error, search->steps[agent][from->position[agent]].operation);
        else
            add_state(search, &state);
    }
    for (unsigned agent = 0; agent < search->program->agent_count; agent++) {
        if (!from->queued[agent][0])
            continue;
        State state = *from;
        take_out(state.queued[agent], MOST_QUEUED, 0);
        finish(search, &state, from->queued[agent][0]);
        end = false;
    }
    for (unsigned i = 0; i < MOST_COPIES && from->copies[i]; i++) {
        State state = *from;
        take_out(state.copies, MOST_COPIES, i);
        finish(search, &state, from->copies[i]);
        end = false;
    }
    if (end)
        add_end_state(search, from);
}

bool reference_explore(const ReferenceProgram *program, Text *to, size_t *state_count) {
    Search search = {.program = program};
    search_number++;
    write_all_out(&search);
    State first;
    memset(&first, 0, sizeof first);
    add_state(&search, &first);
    for (size_t i = 0; i < search.state_count && !search.too_large; i++)
        expand(&search, &states[i]);
    *state_count = search.state_count;
    for (size_t i = 0; i < search.end_count; i++)
        text_addf(to, "%s\n", ends[i]);
    return !search.too_large;
}
