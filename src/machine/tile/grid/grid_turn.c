/* One cluster of a grid: its begin, its turns, when it sleeps, and its end. */
#include "machine/tile/grid/grid_internal.h"

#include "model/number/tensor.h"

enum { NO_AGENT = UINT32_MAX };
/* When a machine's tensors take more, those that nothing needs are thrown away. */
static const size_t tensor_limit = (size_t)1 << 20;
static const size_t least_budget = (size_t)1 << 16;

/* ---- Events --------------------------------------------------------------------------------------- */

static void report(const Cluster *cluster, GridEventKind kind, uint32_t rank, const Event *event) {
    const GridOptions *options = &cluster->grid->options;
    if (options->observe)
        options->observe(options->observer,
                         &(GridEvent){.kind = kind,
                                      .launch = cluster->launch,
                                      .cluster = cluster->index,
                                      .cta = (uint32_t)(cluster->index * cluster->machine->program->ctas + rank),
                                      .machine = cluster->machine,
                                      .event = event});
}

static void hear(void *observer, const Event *event) {
    const Cluster *cluster = observer;
    GridStats *stats = &cluster->grid->stats;
    if (event->kind == EVENT_ACCESS && event->effect->stops) {
        stats->strong += event->effect->strong;
        stats->communicates = true;
    }
    report(cluster, GRID_EVENT, agent_cta(cluster->machine, event->agent), event);
}

void turn_report_end(const Cluster *cluster) {
    for (uint32_t rank = 0; rank < cluster->machine->program->ctas; rank++)
        report(cluster, GRID_END, rank, NULL);
}

/* ---- Sleep ---------------------------------------------------------------------------------------- */

/* Where the agent is, and all that it holds. */
static uint64_t visit_of(const Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    const Word *words = machine_words(machine, index);
    uint64_t hash = identity_mix((uint64_t)agent->pc << 32 | agent->effect, machine->choices);
    uint32_t count = machine->program->strands[agent->strand].register_count;
    for (uint32_t i = 0; i < count; i++)
        hash = identity_mix(hash, word_identity(words[i]));
    return hash;
}

static void note_place(Spin *spin, const Machine *machine, uint32_t index) {
    int64_t address;
    unsigned width;
    if (!transfer_place(machine, index, machine_next_effect(machine, &machine->state->agents[index]), &address,
                        &width)) {
        spin->many = true;
    } else if (!spin->address) {
        spin->address = address;
        spin->width = width;
    } else if (spin->address != address || spin->width != width) {
        spin->many = true;
    }
}

static void keep_visit(Spin *spin, uint64_t visit, uint32_t power) {
    spin->visit = visit;
    spin->steps = 0;
    spin->power = power;
    spin->many = false;
    spin->address = 0;
}

/* The agent stands before an access: whether it has come round with nothing new, and so does not make it. */
static bool falls_asleep(const Grid *grid, Cluster *cluster, uint32_t index) {
    const Machine *machine = cluster->machine;
    Spin *spin = &cluster->spins[index];
    uint64_t version = global_version(grid->memory), visit = visit_of(machine, index);
    if (!spin->active || spin->version != version || spin->changes != machine->changes) {
        *spin = (Spin){.active = true, .version = version, .changes = machine->changes};
        keep_visit(spin, visit, 1);
    } else if (spin->visit == visit) {
        spin->asleep = true;
        if (!spin->many)
            spin->value = global_read(grid->memory, spin->address, spin->width);
        return true;
    } else if (++spin->steps == spin->power) {
        keep_visit(spin, visit, spin->power < UINT32_MAX / 2 ? 2 * spin->power : spin->power);
    }
    note_place(spin, machine, index);
    return false;
}

/* Whether an agent that sleeps would find something new. One that looked at one place alone sleeps on as long as that
 * holds the same. */
static bool wakes(const Grid *grid, const Machine *machine, Spin *spin) {
    uint64_t version = global_version(grid->memory);
    if (spin->changes != machine->changes)
        return true;
    if (spin->version == version || spin->many)
        return spin->version != version;
    Word now = global_read(grid->memory, spin->address, spin->width);
    bool same = now.kind == spin->value.kind && now.bits == spin->value.bits;
    if (same)
        spin->version = version;
    return !same;
}

/* The first that can go on, from the one on that did last. */
static uint32_t next_agent(const Cluster *cluster) {
    const Machine *machine = cluster->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint32_t agent = (cluster->next + i) % machine->agent_count;
        if (!cluster->spins[agent].asleep && machine_can_step(machine, agent))
            return agent;
    }
    return NO_AGENT;
}

bool turn_can_go(const Grid *grid, Cluster *cluster) {
    const Machine *machine = cluster->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++)
        if ((!cluster->spins[i].asleep || wakes(grid, machine, &cluster->spins[i])) && machine_can_step(machine, i))
            return true;
    return false;
}

bool turn_give_up(Cluster *cluster) {
    Machine *machine = cluster->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        Agent *agent = &machine->state->agents[i];
        if (agent->status == AGENT_READY && agent->gate == GATE_POLL &&
            machine->program->transfers[machine_next_effect(machine, agent)->transfer].gives_up &&
            !machine_can_step(machine, i)) {
            agent->forced = 1;
            return true;
        }
    }
    return false;
}

/* ---- Turns ---------------------------------------------------------------------------------------- */

bool turn_awaits(const Grid *grid, uint32_t launch) {
    const GridLaunch *how = grid->courses[launch].launch;
    for (uint32_t i = 0; i < how->awaited_count; i++)
        if (grid->courses[how->awaited[i]].ended < grid->courses[how->awaited[i]].clusters)
            return true;
    return false;
}

/* What the machine may use up in a turn. */
static void give_budget(Grid *grid, Cluster *cluster) {
    uint64_t used = grid->stats.instructions, all = grid->options.budget;
    cluster->machine->budget = cluster->machine->used + (used < all ? all - used : 0);
    size_t others = grid->pool.held + grid->kept.held + grid->held - cluster->held;
    size_t left = grid->options.memory > others ? grid->options.memory - others : 0;
    cluster->tensors.budget = left > least_budget ? left : least_budget;
}

static void record_turn(Turns *record, const Cluster *cluster) {
    Turn *last = record->count ? &record->turns[record->count - 1] : NULL;
    if (last && last->launch == cluster->launch && last->cluster == cluster->index && last->count < UINT32_MAX) {
        last->count++;
        return;
    }
    if (record->count == record->capacity) {
        size_t capacity = record->capacity ? 2 * record->capacity : 64;
        Turn *turns = ARENA_ARRAY(record->arena, Turn, capacity);
        if (record->count)
            memcpy(turns, record->turns, record->count * sizeof *turns);
        record->turns = turns;
        record->capacity = capacity;
    }
    record->turns[record->count++] = (Turn){.launch = cluster->launch, .count = 1, .cluster = cluster->index};
}

static void count_turn(Grid *grid, Cluster *cluster) {
    grid->stats.instructions += cluster->machine->used - cluster->counted;
    cluster->counted = cluster->machine->used;
    grid->held += cluster->tensors.held - cluster->held;
    cluster->held = cluster->tensors.held;
    grid->stats.turns++;
    if (!grid->stats.chosen)
        grid->stats.chosen = cluster->machine->first_choice;
    cluster->row++;
    if (grid->options.record)
        record_turn(grid->options.record, cluster);
}

static int64_t take_work(void *taker) {
    Cluster *cluster = taker;
    return grid_cancel(cluster->grid, cluster);
}

/* A machine that is not in use, or a new one. */
static Cluster *take_cluster(Grid *grid, uint32_t launch) {
    Course *course = &grid->courses[launch];
    Cluster *cluster = course->idle;
    if (cluster) {
        course->idle = cluster->idle;
        return cluster;
    }
    const char *problem;
    cluster = ARENA_NEW(&grid->pool, Cluster);
    cluster->grid = grid;
    cluster->launch = launch;
    arena_init(&cluster->tensors, least_budget);
    Machine *machine = machine_create(&grid->pool, course->launch->program, &problem);
    machine->arena = &cluster->tensors;
    machine->memory = grid->memory;
    machine->observe = hear;
    machine->observer = cluster;
    machine->take_cluster = take_work;
    machine->taker = cluster;
    machine->immediate = true;
    machine_launch(machine, course->launch->launch);
    cluster->machine = machine;
    cluster->spins = ARENA_ARRAY(&grid->pool, Spin, machine->agent_count);
    return cluster;
}

static TurnEnd end_of_turn(const Cluster *cluster) {
    return schedule_end(cluster->machine) == RUN_COMPLETE ? TURN_ENDED
           : next_agent(cluster) == NO_AGENT              ? TURN_BLOCKED
                                                          : TURN_OVER;
}

TurnEnd turn_begin(Grid *grid, uint32_t launch, uint64_t index, StepResult *result) {
    Cluster *cluster = take_cluster(grid, launch);
    Machine *machine = cluster->machine;
    list_push(&grid->ready, cluster);
    cluster->index = index;
    cluster->next = cluster->row = 0;
    cluster->counted = cluster->taken = 0;
    memset(cluster->spins, 0, machine->agent_count * sizeof *cluster->spins);
    cluster->tensors.exhausted = grid->exhausted;
    machine->tensor_limit = tensor_limit;
    machine->symmetry = grid->options.symmetry;
    machine->havoc_choice = grid->options.havoc_choice;
    machine->ran = grid->options.ran;
    machine->number = launch;
    machine->serial = identity_mix(launch + 1, index + 1) | 1;
    machine->awaits_launches = turn_awaits(grid, launch);
    GridRecord *record = grid_record(grid, launch, index, true);
    if (record) {
        record->cluster = cluster;
        record->loads =
            grid->options.keep_loads ? loads_new(&grid->kept, machine->agent_count, &grid->loads_left) : NULL;
    }
    machine->kept = record ? record->loads : NULL;
    for (uint32_t rank = 0; rank < machine->program->ctas; rank++)
        report(cluster, GRID_BEGIN, rank, NULL);
    machine->used = 0;
    give_budget(grid, cluster);
    *result = machine_start(machine, index);
    if (*result == STEP_DONE)
        *result = schedule_land(machine);
    machine->used++; /* a kernel without loops is not free */
    count_turn(grid, cluster);
    return *result == STEP_DONE ? end_of_turn(cluster) : TURN_FAILED;
}

TurnEnd turn_take(Grid *grid, Cluster *cluster, StepResult *result) {
    Machine *machine = cluster->machine;
    bool moved = false, over = false;
    for (uint32_t i = 0; i < machine->agent_count; i++)
        if (cluster->spins[i].asleep && wakes(grid, machine, &cluster->spins[i]))
            cluster->spins[i] = (Spin){0};
    give_budget(grid, cluster);
    *result = STEP_DONE;
    for (uint32_t agent; !over && (agent = next_agent(cluster)) != NO_AGENT;) {
        Gate gate = (Gate)machine->state->agents[agent].gate;
        moved = true; /* to fall asleep is something, too: a run is repeated with that */
        if (gate == GATE_ACCESS && falls_asleep(grid, cluster, agent))
            continue;
        cluster->next = agent;
        *result = machine_step(machine, agent);
        if (*result == STEP_DONE && machine->state->outstanding_count)
            *result = schedule_land(machine);
        if (*result != STEP_DONE) {
            count_turn(grid, cluster);
            return TURN_FAILED;
        }
        over = gate != GATE_NONE;
    }
    if (over) /* the others of the cluster shall have their chance, too */
        cluster->next = (cluster->next + 1) % machine->agent_count;
    if (moved)
        count_turn(grid, cluster);
    return end_of_turn(cluster);
}

void turn_release(Grid *grid, Cluster *cluster) {
    Course *course = &grid->courses[cluster->launch];
    arena_free(&cluster->tensors);
    grid->held -= cluster->held;
    cluster->held = 0;
    cluster->idle = course->idle;
    course->idle = cluster;
}
