/* A depth-first search over states. Two states are the same when every agent has done as much, the barriers are alike,
 * and the same is in flight; sequence numbers and phases counted from the beginning do not matter. Where agents read
 * what others leave in shared memory, or ask for the work of other clusters, they must also have found the same. */
#include "machine/tile/schedule/explore.h"

#include "base/deadline.h"
#include "base/table.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/step/machine_internal.h"
#include "model/number/tensor.h"

#include <setjmp.h>

enum { MOST_DEPTH = 4096, MOST_OBJECTS = 128 };

/* A set of what can be touched: mbarriers and named barriers, by number. */
typedef struct Objects {
    uint64_t bits[2];
} Objects;

/* Two hashes of a state that was seen. */
typedef struct ExplorerState {
    uint64_t a, b; /* a: 0: free */
} ExplorerState;
typedef TABLE_OF(ExplorerState) ExplorerStates;

TABLE(states, ExplorerStates, ExplorerState, ExplorerState, 256, item->a, *item, key.b,
      item->a == key.a && item->b == key.b)

typedef struct Explorer {
    Machine *machine;
    Arena *arena;
    uint64_t budget;
    ExplorerStates seen;
    Exploration result;
    Trail trail;
    ExploreFound *found;
    void *context;
    State *saved[MOST_DEPTH];
    Objects *future[MOST_AGENTS]; /* of each agent: what it touches from its nth visible effect on */
    uint32_t future_count[MOST_AGENTS];
    bool reduces, stopped;
} Explorer;

/* ---- Sameness ------------------------------------------------------------------------------------- */

/* Whether what an agent does hangs on what others have left in shared memory, or on who asked first. */
static bool finds(const Machine *machine) {
    return machine->program->slice->reads_cells;
}

static uint64_t mix_found(const Machine *machine, uint64_t hash) {
    const State *state = machine->state;
    hash = identity_mix(identity_mix(hash, state->requests), state->unread);
    for (uint32_t i = 0; i < state->cell_count; i++)
        hash = identity_mix(identity_mix(hash, state->cells[i].key), (uint64_t)state->cells[i].word.bits);
    for (uint32_t i = 0; i < machine->agent_count && finds(machine); i++) {
        const Agent *agent = &state->agents[i];
        const Word *words = machine_words(machine, i);
        hash = identity_mix(hash, agent->refused);
        for (uint32_t k = 0; k < machine->program->strands[agent->strand].register_count; k++)
            hash = identity_mix(hash, word_identity(words[k]));
    }
    return hash;
}

static uint64_t fingerprint(const Machine *machine, uint64_t seed) {
    const State *state = machine->state;
    uint64_t hash = mix_found(machine, seed);
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &state->agents[i];
        hash = identity_mix(hash, (uint64_t)agent->status << 32 | agent->ticks);
        hash = identity_mix(hash, (uint64_t)agent->pc << 32 | agent->effect);
        if (agent->status == AGENT_NAMED)
            hash = identity_mix(hash, state->named[agent->barrier].generation != agent->generation);
        if (agent->status == AGENT_CLUSTER)
            hash = identity_mix(hash, state->cluster[agent->barrier].generation != agent->generation);
    }
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const Barrier *barrier = &state->barriers[i];
        if (barrier->life)
            hash =
                identity_mix(hash, (uint64_t)i << 56 ^ (uint64_t)barrier->bytes << 24 ^
                                       (uint64_t)barrier->pending << 3 ^ (uint64_t)barrier->life << 1 ^ barrier->phase);
    }
    for (uint32_t i = 0; i < machine->program->ctas * NAMED_BARRIERS; i++)
        if (state->named[i].arrived)
            hash = identity_mix(hash,
                                (uint64_t)i << 48 ^ (uint64_t)state->named[i].expected << 24 ^ state->named[i].arrived);
    for (uint32_t i = 0; i < machine->cluster_barriers; i++)
        hash = identity_mix(hash, state->cluster[i].arrived);
    uint64_t outstanding_ops = 0; /* in any order, but those of one ordered stream in theirs */
    for (uint32_t i = 0; i < state->outstanding_count; i++) {
        const Outstanding *outstanding = &state->outstanding_ops[i];
        uint64_t before = 0;
        for (uint32_t k = 0; k < i; k++)
            before += (outstanding->ordered || outstanding->covers) &&
                      state->outstanding_ops[k].agent == outstanding->agent &&
                      state->outstanding_ops[k].helper == outstanding->helper;
        uint64_t one =
            identity_mix(seed, (uint64_t)outstanding->agent << 48 ^ (uint64_t)outstanding->effect << 16 ^ before);
        if (outstanding->request.number)
            one = identity_mix(identity_mix(one, outstanding->request.number), (uint64_t)outstanding->request.cluster);
        outstanding_ops += identity_mix(one, (uint64_t)outstanding->barrier << 32 ^ (uint64_t)outstanding->amount);
    }
    return identity_mix(hash, outstanding_ops);
}

/* True if the machine's state was seen before; else it is seen now. */
static bool seen_before(Explorer *explorer) {
    ExplorerState state = {fingerprint(explorer->machine, 0x1) | 1, fingerprint(explorer->machine, 0x2)};
    ExplorerState *place = states_put(explorer->arena, &explorer->seen, state);
    if (place->a)
        return true;
    *place = state;
    explorer->result.states++;
    return false;
}

/* ---- What each agent will touch ------------------------------------------------------------------- */

static void add_object(Objects *objects, uint32_t number) {
    objects->bits[number >> 6 & 1] |= UINT64_C(1) << (number & 63);
}

static bool has_object(const Objects *objects, uint32_t number) {
    return objects->bits[number >> 6 & 1] >> (number & 63) & 1;
}

typedef struct Listing {
    Explorer *explorer;
    Objects *lists[MOST_AGENTS];
    uint32_t capacity[MOST_AGENTS];
    bool too_many;
} Listing;

static void list_event(void *observer, const Event *event) {
    Listing *listing = observer;
    Explorer *explorer = listing->explorer;
    uint32_t agent = event->agent, number = event->barrier;
    switch (event->kind) {
    case EVENT_NAMED_ARRIVE:
    case EVENT_NAMED_SYNC:
        number += explorer->machine->slot_count;
        break;
    case EVENT_INIT:
    case EVENT_INVALIDATE:
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
    case EVENT_DELIVER:
    case EVENT_WAIT:
        if (event->outstanding)
            return;
        break;
    case EVENT_ISSUE:
        if (event->outstanding->kind == OUTSTANDING_WORK)
            return;
        break;
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_WAIT:
        listing->too_many = true; /* not reduced */
        return;
    default:
        return;
    }
    if (number >= MOST_OBJECTS) {
        listing->too_many = true;
        return;
    }
    /* An issue comes after the visible effect number `ticks`; the effect itself counts it already. */
    uint32_t tick = event->state->agents[agent].ticks;
    uint32_t place = event->kind == EVENT_ISSUE ? tick : tick ? tick - 1 : 0;
    while (place >= listing->capacity[agent])
        listing->lists[agent] = arena_grown(explorer->arena, listing->lists[agent], listing->capacity[agent],
                                            &listing->capacity[agent], sizeof(Objects));
    add_object(&listing->lists[agent][place], number);
}

/* Every agent alone, with every wait passed and every fault passed over; false if that cannot be had. */
static bool list_futures(Explorer *explorer, uint64_t cluster) {
    Machine *machine = explorer->machine;
    Listing *listing = ARENA_NEW(explorer->arena, Listing);
    listing->explorer = explorer;
    machine->observe = list_event;
    machine->observer = listing;
    bool good = machine_start(machine, cluster) == STEP_DONE;
    for (bool moved = true; good && moved;) {
        moved = false;
        for (uint32_t i = 0; i < machine->agent_count && good; i++) {
            Agent *agent = &machine->state->agents[i];
            if (agent->status == AGENT_WAITS || agent->status == AGENT_NAMED)
                agent->forced = 1;
            while (good && machine_can_step(machine, i)) {
                good = machine_step(machine, i) == STEP_DONE;
                machine->state->outstanding_count = 0;
                moved = true;
                if (agent->status == AGENT_WAITS || agent->status == AGENT_NAMED)
                    agent->forced = 1;
            }
        }
    }
    machine->observe = NULL;
    if (!good || listing->too_many || finds(machine))
        return false;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint32_t count = listing->capacity[i];
        for (uint32_t k = count; k-- > 1;) {
            listing->lists[i][k - 1].bits[0] |= listing->lists[i][k].bits[0];
            listing->lists[i][k - 1].bits[1] |= listing->lists[i][k].bits[1];
        }
        explorer->future[i] = listing->lists[i];
        explorer->future_count[i] = count;
    }
    return true;
}

/* Whether nothing but `agent` will ever touch the object again. */
static bool is_alone(const Explorer *explorer, uint32_t agent, uint32_t number) {
    const State *state = explorer->machine->state;
    for (uint32_t i = 0; i < explorer->machine->agent_count; i++) {
        uint32_t tick = state->agents[i].ticks;
        if (i != agent && tick < explorer->future_count[i] && has_object(&explorer->future[i][tick], number))
            return false;
    }
    for (uint32_t i = 0; i < state->outstanding_count; i++)
        if (state->outstanding_ops[i].kind != OUTSTANDING_WORK && state->outstanding_ops[i].barrier == number)
            return false;
    return true;
}

/* ---- Search --------------------------------------------------------------------------------------- */

static void search(Explorer *explorer, uint32_t depth);

static void ended(Explorer *explorer, RunEnd end) {
    explorer->result.clean += end == RUN_COMPLETE;
    explorer->result.stuck += end == RUN_STUCK;
    explorer->result.faults += end == RUN_FAULT;
    if (explorer->found && explorer->found(explorer->context, end, &explorer->trail))
        explorer->stopped = true;
}

/* One transition and what follows; the state is put back. Returns what the transition gave. */
static StepResult follow(Explorer *explorer, uint32_t depth, uint32_t which, bool outstanding, bool only_if_good) {
    Machine *machine = explorer->machine;
    trail_push(&explorer->trail,
               outstanding ? TRAIL_OUTSTANDING | machine->state->outstanding_ops[which].sequence : which);
    StepResult result = outstanding ? machine_complete(machine, which) : machine_step(machine, which);
    if (result == STEP_DONE)
        search(explorer, depth + 1);
    else if (result == STEP_FAULT && !only_if_good)
        ended(explorer, RUN_FAULT);
    else if (result != STEP_FAULT)
        explorer->result.complete = false;
    explorer->trail.count--;
    state_restore(machine, explorer->saved[depth]);
    return result;
}

/* A step that can be taken without its alternatives; true if it was. */
static bool follow_alone(Explorer *explorer, uint32_t depth) {
    Machine *machine = explorer->machine;
    for (uint32_t i = 0; i < machine->state->outstanding_count; i++)
        if (machine->state->outstanding_ops[i].kind == OUTSTANDING_WORK && machine_can_complete(machine, i))
            return follow(explorer, depth, i, true, true) == STEP_DONE;
    if (!explorer->reduces)
        return false;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        if (!machine_can_step(machine, i))
            continue;
        bool alone = agent->status == AGENT_JOINS;
        if (agent->status == AGENT_WAITS)
            alone = is_alone(explorer, i, agent->barrier);
        /* Any other: all it touches with this very effect is what it will touch from here on, and not after it. */
        if (agent->status == AGENT_READY && agent->ticks < explorer->future_count[i]) {
            Objects objects = explorer->future[i][agent->ticks];
            alone = true;
            for (uint32_t number = 0; number < MOST_OBJECTS && alone; number++)
                if (has_object(&objects, number))
                    alone = is_alone(explorer, i, number);
        }
        if (alone && follow(explorer, depth, i, false, true) == STEP_DONE)
            return true;
    }
    return false;
}

static void search(Explorer *explorer, uint32_t depth) {
    Machine *machine = explorer->machine;
    if (explorer->stopped || seen_before(explorer))
        return;
    bool spent = explorer->result.states >= explorer->budget || deadline_passed();
    if (spent || depth + 1 >= MOST_DEPTH) {
        explorer->result.complete = false;
        explorer->stopped |= spent;
        return;
    }
    if (!explorer->saved[depth])
        explorer->saved[depth] = state_new(machine, explorer->arena);
    state_save(machine, explorer->saved[depth]);
    machine->used = 0;
    if (follow_alone(explorer, depth))
        return;
    bool moved = false;
    for (uint32_t i = 0; i < machine->agent_count && !explorer->stopped; i++)
        if (machine_can_step(machine, i)) {
            moved = true;
            follow(explorer, depth, i, false, false);
        }
    for (uint32_t i = 0; i < machine->state->outstanding_count && !explorer->stopped; i++)
        if (machine_can_complete(machine, i)) {
            moved = true;
            follow(explorer, depth, i, true, false);
        }
    if (moved)
        return;
    ended(explorer, schedule_end(machine));
}

Exploration explore(Machine *machine, uint64_t cluster, uint64_t budget, size_t memory, ExploreFound *found,
                    void *context) {
    Arena arena;
    jmp_buf out_of_memory;
    arena_init(&arena, memory);
    arena.exhausted = &out_of_memory;
    Observe *observe = machine->observe;
    machine->immediate = false;
    Exploration result = {0};
    if (setjmp(out_of_memory) == 0) {
        Explorer *explorer = ARENA_NEW(&arena, Explorer);
        *explorer =
            (Explorer){.machine = machine, .arena = &arena, .budget = budget, .found = found, .context = context};
        explorer->result.complete = true;
        explorer->trail.arena = &arena;
        explorer->reduces = list_futures(explorer, cluster);
        explorer->result.reduced = explorer->reduces;
        if (machine_start(machine, cluster) == STEP_DONE)
            search(explorer, 0);
        else
            explorer->result.complete = false;
        result = explorer->result;
    }
    machine->observe = observe;
    arena_free(&arena);
    return result;
}
