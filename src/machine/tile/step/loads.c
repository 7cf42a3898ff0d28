/* What the loads of a cluster gave, so that the cluster can be run again alone. Each load is noted with its op: a
 * program that needs only some of them passes over the others. */
#include "machine/tile/step/machine_internal.h"

typedef struct StepLoad {
    const Op *op;
    Word word;
} StepLoad;

typedef struct AgentLoads {
    StepLoad *loads;
    uint32_t count, capacity;
} AgentLoads;

struct LoadLog {
    Arena *arena;
    AgentLoads *agents;
    uint32_t agent_count;
    uint64_t *left;
};

LoadLog *loads_new(Arena *arena, uint32_t agents, uint64_t *left) {
    LoadLog *log = ARENA_NEW(arena, LoadLog);
    *log = (LoadLog){arena, ARENA_ARRAY(arena, AgentLoads, agents), agents, left};
    return log;
}

void loads_note(LoadLog *log, uint32_t agent, const Op *op, Word word) {
    AgentLoads *of = &log->agents[agent];
    if (!*log->left)
        return;
    --*log->left;
    *ARENA_PUSH(log->arena, of->loads, of->count, of->capacity) = (StepLoad){op, word};
}

bool loads_take(Machine *machine, uint32_t agent, const Op *op, Word *word) {
    const LoadLog *log = machine->loads;
    uint32_t *next = &machine->state->agents[agent].loads;
    if (agent >= log->agent_count)
        return false;
    const AgentLoads *of = &log->agents[agent];
    while (*next < of->count && of->loads[*next].op != op)
        ++*next;
    if (*next >= of->count)
        return false;
    *word = of->loads[(*next)++].word;
    return word_is(*word, WORD_INTEGER);
}

void machine_give_loads(Machine *machine, const LoadLog *loads) {
    machine->loads = loads;
}

bool loads_at(const LoadLog *log, uint32_t agent, uint32_t *index, const Op **op, int64_t *value) {
    if (agent >= log->agent_count)
        return false;
    const AgentLoads *of = &log->agents[agent];
    while (*index < of->count && !word_is(of->loads[*index].word, WORD_INTEGER))
        ++*index;
    if (*index >= of->count)
        return false;
    *op = of->loads[*index].op;
    *value = of->loads[(*index)++].word.bits;
    return true;
}

LoadLog *loads_start(Arena *arena, uint32_t agents) {
    uint64_t *left = ARENA_NEW(arena, uint64_t);
    *left = UINT64_MAX;
    return loads_new(arena, agents, left);
}

void loads_add(LoadLog *log, uint32_t agent, const Op *op, int64_t value) {
    if (agent < log->agent_count)
        loads_note(log, agent, op, word_integer(value));
}

const LoadLog *loads_copy(Arena *arena, const LoadLog *log) {
    LoadLog *copy = loads_start(arena, log->agent_count);
    for (uint32_t agent = 0; agent < log->agent_count; agent++)
        for (uint32_t i = 0; i < log->agents[agent].count; i++) {
            StepLoad load = log->agents[agent].loads[i];
            loads_note(copy, agent, load.op, word_is(load.word, WORD_INTEGER) ? load.word : word_unknown(0));
        }
    return copy;
}
