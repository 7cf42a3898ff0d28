/* The grid: launches, which cluster has the next turn, and what is left when nothing has one. */
#include "base/deadline.h"
#include "machine/tile/grid/grid_internal.h"

enum {
    WINDOW = 256,        /* round-robin schedules begin no more clusters while so many can go on */
    SPIN_TIMEOUT = 4096, /* turns in a row that a cluster has while others wait */
    REPORTED = 256,      /* progress is reported after so many clusters */
    MOST_DEVICES_OF_GRID = 1 << 16,
};
static const uint64_t most_loads = (uint64_t)1 << 21;
static const uint64_t most_ctas = (uint64_t)1 << 31;

/* ---- Making one ----------------------------------------------------------------------------------- */

static bool count_clusters(const GridLaunch *launch, uint64_t *clusters) {
    for (int axis = 0; axis < 3; axis++)
        if (launch->launch->grid[axis] < 1)
            return false;
    *clusters = program_clusters(launch->program, launch->launch->grid);
    return *clusters && *clusters <= most_ctas / launch->program->ctas;
}

static bool names_launches(const uint32_t *indices, uint32_t many, uint32_t self, uint32_t count) {
    for (uint32_t i = 0; i < many; i++)
        if (indices[i] >= count || indices[i] == self)
            return false;
    return true;
}

static const char *launch_problem(const GridLaunch *launch, uint32_t index, uint32_t count, uint64_t *clusters) {
    if (!launch->program->data)
        return "the kernel was not compiled with its data";
    if (launch->program->ctas > 1 << 10 || !count_clusters(launch, clusters))
        return "the launch has more than 2147483648 CTAs";
    if (launch->device >= MOST_DEVICES_OF_GRID)
        return "there are more than 65536 devices";
    if (!names_launches(launch->after, launch->after_count, index, count) ||
        !names_launches(launch->awaited, launch->awaited_count, index, count))
        return "a launch is ordered after one that does not exist, or after itself";
    return NULL;
}

Grid *grid_create(Arena *arena, GlobalMemory *memory, const GridLaunch *launches, uint32_t count,
                  const char **problem) {
    Grid *grid = ARENA_NEW(arena, Grid);
    grid->memory = memory;
    grid->count = count;
    grid->courses = ARENA_ARRAY(arena, Course, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        Course *course = &grid->courses[i];
        course->launch = &launches[i];
        *problem = launch_problem(&launches[i], i, count, &course->all);
        course->most = launches[i].most && course->all > launches[i].most ? launches[i].most : course->all;
        /* The first machine of a program tells whether there can be any. */
        if (*problem || !machine_create(arena, launches[i].program, problem))
            return NULL;
        if (launches[i].device >= grid->devices)
            grid->devices = launches[i].device + 1;
    }
    grid->live = ARENA_ARRAY(arena, uint32_t, grid->devices + 1);
    return grid;
}

/* ---- Clusters ------------------------------------------------------------------------------------- */

/* Room is made when a cluster begins: clusters that move from list to list need none, and cannot get lost. */
static void list_reserve(Grid *grid, GridList *list, uint64_t count) {
    while (list->capacity < count)
        list->items = arena_grown(&grid->pool, list->items, list->capacity, &list->capacity, sizeof *list->items);
}

void list_push(GridList *list, Cluster *cluster) {
    list->items[list->count++] = cluster;
}

static Cluster *list_remove(GridList *list, uint32_t at) {
    Cluster *cluster = list->items[at];
    memmove(list->items + at, list->items + at + 1, (--list->count - at) * sizeof *list->items);
    return cluster;
}

static void forget_run(Grid *grid) {
    for (unsigned i = 0; i < 2; i++) {
        GridList *list = i ? &grid->asleep : &grid->ready;
        while (list->count)
            turn_release(grid, list->items[--list->count]);
    }
    grid->ended_by = NULL;
    arena_free(&grid->kept);
    grid->records = (GridRecords){0};
}

void grid_free(Grid *grid) {
    forget_run(grid);
    arena_free(&grid->pool);
}

TABLE(records, GridRecords, GridRecord, const GridRecord *, 256, item->launch, item,
      identity_mix(key->launch, key->index) >> 32, item->launch == key->launch && item->index == key->index)

GridRecord *grid_record(Grid *grid, uint32_t launch, uint64_t index, bool make) {
    if (grid->options.kind != GRID_REPLAY && !grid->options.keep_loads)
        return NULL;
    GridRecord key = {.launch = launch + 1, .index = index};
    if (!make)
        return records_find(&grid->records, &key);
    GridRecord *record = records_put(&grid->kept, &grid->records, &key);
    if (!record->launch)
        *record = key;
    return record;
}

/* ---- Launches ------------------------------------------------------------------------------------- */

/* Whether a cluster of the launch could begin if there were room for it. A launch that another may overtake has begun
 * altogether before that. */
static bool may_begin(const Grid *grid, uint32_t index) {
    const Course *course = &grid->courses[index];
    const GridLaunch *launch = course->launch;
    if (course->begun == course->clusters)
        return false;
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (grid->courses[launch->after[i]].ended < grid->courses[launch->after[i]].clusters)
            return false;
    for (uint32_t i = 0; i < launch->awaited_count; i++)
        if (grid->courses[launch->awaited[i]].begun < grid->courses[launch->awaited[i]].clusters)
            return false;
    return true;
}

static bool has_room(const Grid *grid, uint32_t index) {
    uint32_t resident = grid->options.resident;
    return !resident || grid->live[grid->courses[index].launch->device] < resident;
}

static uint64_t next_random(Grid *grid) { /* xorshift64* */
    uint64_t x = grid->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    grid->random = x;
    return x * 0x2545f4914f6cdd1du;
}

/* The launch whose next cluster begins next; `count` if none can. */
static uint32_t next_launch(Grid *grid) {
    uint32_t count = grid->count;
    while (grid->first < count && grid->courses[grid->first].begun == grid->courses[grid->first].clusters)
        grid->first++;
    uint32_t open = count - grid->first, from = 0;
    if (!open)
        return count;
    if (grid->options.kind == GRID_ROUND_ROBIN)
        from = (uint32_t)(grid->stats.clusters % open);
    else if (grid->options.kind == GRID_RANDOM)
        from = (uint32_t)(next_random(grid) % open);
    for (uint32_t i = 0; i < open; i++) {
        uint32_t step = (from + i) % open;
        uint32_t index = grid->options.kind == GRID_BACKWARD ? count - 1 - step : grid->first + step;
        if (may_begin(grid, index) && has_room(grid, index))
            return index;
    }
    return count;
}

/* Number `index` of 0 .. count - 1 in an order that the key gives: a small cipher, repeated until it hits. */
static uint64_t shuffled(uint64_t index, uint64_t count, uint64_t key) {
    unsigned half = 1;
    while (half < 32 && (uint64_t)1 << 2 * half < count)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = index >> half, right = index & mask;
        for (unsigned round = 0; round < 4; round++) {
            uint64_t mixed = left ^ (identity_mix(key + round, right) & mask);
            left = right;
            right = mixed;
        }
        index = left << half | right;
    } while (index >= count);
    return index;
}

static uint64_t next_cluster(const Grid *grid, uint32_t launch) {
    const Course *course = &grid->courses[launch];
    if (grid->options.only && grid->options.kind != GRID_REPLAY)
        return grid->options.only[course->begun];
    if (grid->options.order && grid->options.kind == GRID_FORWARD)
        return grid->options.order[course->begun];
    switch (grid->options.kind) {
    case GRID_BACKWARD:
        return course->clusters - 1 - course->begun;
    case GRID_RANDOM:
        return shuffled(course->begun, course->clusters, identity_mix(grid->options.seed, launch));
    default:
        return course->begun;
    }
}

/* Some launch has ended: those who waited for it may go on. */
static void end_launch(Grid *grid) {
    for (unsigned k = 0; k < 2; k++) {
        GridList *list = k ? &grid->asleep : &grid->ready;
        for (uint32_t i = 0; i < list->count; i++)
            if (list->items[i]->machine->awaits_launches)
                list->items[i]->machine->awaits_launches = turn_awaits(grid, list->items[i]->launch);
    }
}

/* Of a launch half is taken over at the most, so that there are others left to get into the way of. */
int64_t grid_cancel(Grid *grid, Cluster *cluster) {
    Course *course = &grid->courses[cluster->launch];
    uint64_t ring = 2 * (uint64_t)cluster->machine->program->deepest_ring + 1, half = course->clusters / 2;
    grid->stats.asks = true;
    if (!grid->options.cancels || course->begun == course->clusters || cluster->taken == (half < ring ? half : ring))
        return -1;
    uint64_t index = next_cluster(grid, cluster->launch);
    cluster->taken++;
    course->begun++;
    if (++course->ended == course->clusters)
        end_launch(grid);
    return (int64_t)index;
}

static void end_cluster(Grid *grid, Cluster *cluster) {
    uint32_t launch = cluster->launch;
    Course *course = &grid->courses[launch];
    GridRecord *record = grid_record(grid, launch, cluster->index, false);
    if (record)
        record->cluster = NULL;
    turn_report_end(cluster);
    turn_release(grid, cluster);
    grid->live[course->launch->device]--;
    bool all = ++course->ended == course->clusters;
    if (all)
        end_launch(grid);
    if (grid->options.progress && (all || course->ended % REPORTED == 0))
        grid->options.progress(grid->options.context, launch, course->ended, course->clusters);
}

/* ---- Whose turn it is ----------------------------------------------------------------------------- */

/* What comes next: a turn of number `at` of those that are ready, or the begin of a cluster. */
typedef enum ChoiceKind { CHOICE_NONE, CHOICE_TURN, CHOICE_BEGIN } ChoiceKind;
typedef struct GridChoice {
    ChoiceKind kind;
    uint32_t at, launch;
    uint64_t index;
} GridChoice;

/* Those who sleep and can go on become ready. */
static bool wake(Grid *grid) {
    uint32_t left = 0, count = grid->asleep.count;
    grid->woken = global_version(grid->memory);
    for (uint32_t i = 0; i < count; i++) {
        Cluster *cluster = grid->asleep.items[i];
        if (turn_can_go(grid, cluster))
            list_push(&grid->ready, cluster);
        else
            grid->asleep.items[left++] = cluster;
    }
    grid->asleep.count = left;
    return left < count;
}

static bool choose_begin(Grid *grid, GridChoice *choice) {
    uint32_t launch = next_launch(grid);
    if (launch == grid->count)
        return false;
    *choice = (GridChoice){.kind = CHOICE_BEGIN, .launch = launch, .index = next_cluster(grid, launch)};
    return true;
}

/* One after the other: a new one begins when none that has begun can go on, so that few are there at once. */
static GridChoice choose_in_order(Grid *grid) {
    GridChoice choice = {.kind = CHOICE_TURN};
    if (grid->ready.count && grid->ready.items[0]->row >= SPIN_TIMEOUT) {
        Cluster *tired = list_remove(&grid->ready, 0);
        tired->row = 0;
        wake(grid);
        list_push(&grid->ready, tired);
        if (choose_begin(grid, &choice))
            return choice;
    }
    if (grid->ready.count || choose_begin(grid, &choice) || wake(grid))
        return choice;
    return (GridChoice){.kind = CHOICE_NONE};
}

static GridChoice choose_in_turn(Grid *grid) {
    GridChoice choice = {.kind = CHOICE_TURN};
    if (grid->at >= grid->ready.count) {
        if (grid->ready.count < WINDOW && choose_begin(grid, &choice))
            return choice;
        wake(grid);
        grid->at = 0;
    }
    choice.at = grid->at;
    return grid->at < grid->ready.count ? choice : (GridChoice){.kind = CHOICE_NONE};
}

/* Sleepers are looked at the less often the more there are. */
static GridChoice choose_randomly(Grid *grid) {
    GridChoice choice = {.kind = CHOICE_TURN};
    if (grid->asleep.count && grid->woken != global_version(grid->memory) &&
        next_random(grid) % (8 + grid->asleep.count) == 0)
        wake(grid);
    bool begins = !grid->ready.count || (grid->ready.count < WINDOW && next_random(grid) % 4 == 0);
    if (begins && choose_begin(grid, &choice))
        return choice;
    if (!grid->ready.count && !wake(grid))
        return (GridChoice){.kind = CHOICE_NONE};
    choice.at = (uint32_t)(next_random(grid) % grid->ready.count);
    return choice;
}

static GridChoice choose(Grid *grid) {
    switch (grid->options.kind) {
    case GRID_ROUND_ROBIN:
        return choose_in_turn(grid);
    case GRID_RANDOM:
        return choose_randomly(grid);
    default:
        return choose_in_order(grid);
    }
}

/* Nothing can go on: for a poll with a timeout, time runs out. */
static bool give_up(Grid *grid) {
    for (uint32_t i = 0; i < grid->asleep.count; i++)
        if (turn_give_up(grid->asleep.items[i])) {
            list_push(&grid->ready, list_remove(&grid->asleep, i));
            return true;
        }
    return false;
}

/* ---- Running -------------------------------------------------------------------------------------- */

static TurnEnd begin(Grid *grid, uint32_t launch, uint64_t index, StepResult *result) {
    Course *course = &grid->courses[launch];
    course->begun++;
    grid->stats.clusters++;
    grid->live[course->launch->device]++;
    uint64_t live = 1 + (uint64_t)grid->ready.count + grid->asleep.count;
    list_reserve(grid, &grid->ready, live);
    list_reserve(grid, &grid->asleep, live);
    if (live > grid->stats.most_live)
        grid->stats.most_live = live;
    return turn_begin(grid, launch, index, result);
}

/* After a turn of number `at` of those that are ready. True if the run is over with it. */
static bool settle_turn(Grid *grid, uint32_t at, TurnEnd how, StepResult result, RunEnd *end) {
    Cluster *cluster = grid->ready.items[at];
    if (how == TURN_FAILED) {
        grid->ended_by = cluster;
        *end = schedule_end_of(result);
        return true;
    }
    if (how == TURN_OVER || (how == TURN_BLOCKED && grid->options.kind == GRID_REPLAY))
        return false;
    list_remove(&grid->ready, at);
    cluster->row = 0;
    if (how == TURN_BLOCKED)
        list_push(&grid->asleep, cluster);
    else
        end_cluster(grid, cluster);
    return false;
}

static RunEnd end_of_grid(const Grid *grid) {
    for (uint32_t i = 0; i < grid->count; i++)
        if (grid->courses[i].ended < grid->courses[i].clusters)
            return RUN_STUCK;
    return RUN_COMPLETE;
}

/* Whether the budget of the whole run, or the time for it, is used up. */
static bool is_spent(const Grid *grid) {
    return grid->stats.instructions > grid->options.budget || deadline_passed();
}

static RunEnd run_schedule(Grid *grid) {
    RunEnd end;
    StepResult result;
    for (;;) {
        GridChoice choice = choose(grid);
        if (is_spent(grid))
            return RUN_BUDGET;
        if (choice.kind == CHOICE_NONE) {
            if (give_up(grid))
                continue;
            return end_of_grid(grid);
        }
        uint32_t at = choice.at;
        TurnEnd how;
        if (choice.kind == CHOICE_BEGIN) {
            how = begin(grid, choice.launch, choice.index, &result);
            at = grid->ready.count - 1;
        } else {
            how = turn_take(grid, grid->ready.items[at], &result);
        }
        if (settle_turn(grid, at, how, result, &end))
            return end;
        if (grid->options.kind == GRID_ROUND_ROBIN)
            grid->at = choice.kind == CHOICE_BEGIN ? grid->ready.count : how == TURN_OVER ? at + 1 : at;
    }
}

/* ---- Repeating ------------------------------------------------------------------------------------ */

/* One turn of a run that was recorded; all clusters that are there count as ready. False if it is not possible. */
static bool repeat_turn(Grid *grid, const Turn *turn, bool *over, RunEnd *end) {
    StepResult result;
    if (turn->launch >= grid->count || turn->cluster >= grid->courses[turn->launch].all)
        return false;
    const GridRecord *record = grid_record(grid, turn->launch, turn->cluster, false);
    if (!record) {
        if (!may_begin(grid, turn->launch) || !has_room(grid, turn->launch))
            return false;
        TurnEnd how = begin(grid, turn->launch, turn->cluster, &result);
        *over = settle_turn(grid, grid->ready.count - 1, how, result, end);
        return true;
    }
    Cluster *cluster = record->cluster;
    if (!cluster || (!turn_can_go(grid, cluster) && !turn_give_up(cluster)))
        return false;
    TurnEnd how = turn_take(grid, cluster, &result);
    if (how == TURN_ENDED || how == TURN_FAILED) {
        uint32_t at = 0;
        while (grid->ready.items[at] != cluster)
            at++;
        *over = settle_turn(grid, at, how, result, end);
    }
    return true;
}

static RunEnd run_again(Grid *grid) {
    const Turns *turns = grid->options.replay;
    RunEnd end = RUN_DIVERGED;
    for (size_t i = 0; i < turns->count; i++)
        for (uint32_t k = 0; k < turns->turns[i].count; k++) {
            bool over = false, last = i + 1 == turns->count && k + 1 == turns->turns[i].count;
            if (is_spent(grid))
                return RUN_BUDGET;
            if (!repeat_turn(grid, &turns->turns[i], &over, &end))
                return RUN_DIVERGED;
            if (over)
                return last ? end : RUN_DIVERGED;
        }
    while (grid->ready.count) {
        if (turn_can_go(grid, grid->ready.items[0]) || turn_give_up(grid->ready.items[0]))
            return RUN_DIVERGED;
        list_push(&grid->asleep, list_remove(&grid->ready, 0));
    }
    return next_launch(grid) < grid->count ? RUN_DIVERGED : end_of_grid(grid);
}

/* ---- The whole run -------------------------------------------------------------------------------- */

static void start_run(Grid *grid, const GridOptions *options) {
    forget_run(grid);
    grid->options = *options;
    if (!options->budget)
        grid->options.budget = UINT64_C(400000000);
    if (!options->memory)
        grid->options.memory = (size_t)4 << 30;
    grid->pool.budget = grid->kept.budget = grid->options.memory;
    grid->pool.exhausted = grid->kept.exhausted = grid->exhausted;
    grid->stats = (GridStats){0};
    grid->random = identity_mix(options->seed, 0x9e3779b97f4a7c15u) | 1;
    grid->woken = 0;
    grid->at = grid->first = 0;
    grid->loads_left = most_loads;
    for (uint32_t i = 0; i < grid->count; i++) {
        grid->courses[i].begun = grid->courses[i].ended = 0;
        grid->courses[i].clusters = options->only ? options->only_count : grid->courses[i].most;
    }
    memset(grid->live, 0, grid->devices * sizeof *grid->live);
    global_reset(grid->memory);
}

RunEnd grid_run(Grid *grid, const GridOptions *options) {
    jmp_buf exhausted;
    if (setjmp(exhausted))
        return RUN_BUDGET;
    grid->exhausted = &exhausted;
    start_run(grid, options);
    return grid->options.kind == GRID_REPLAY ? run_again(grid) : run_schedule(grid);
}

/* ---- What is left --------------------------------------------------------------------------------- */

static Sleeper sleeper_of(const Grid *grid, const Cluster *cluster, uint32_t index) {
    const Machine *machine = cluster->machine;
    const Agent *agent = &machine->state->agents[index];
    Sleeper sleeper = {.launch = cluster->launch,
                       .cluster = cluster->index,
                       .cta = (uint32_t)(cluster->index * machine->program->ctas + agent_cta(machine, index)),
                       .agent = index,
                       .pc = agent->pc,
                       .machine = machine,
                       .op = machine->program->ops[agent->pc]};
    unsigned width;
    if (agent->status == AGENT_READY && (agent->gate == GATE_ACCESS || agent->gate == GATE_POLL) &&
        transfer_place(machine, index, machine_next_effect(machine, agent), &sleeper.address, &width))
        sleeper.value = global_read(grid->memory, sleeper.address, width);
    return sleeper;
}

size_t grid_sleepers(const Grid *grid, Sleeper *sleepers, size_t most) {
    size_t count = 0;
    for (uint32_t i = 0; i < grid->asleep.count; i++) {
        const Cluster *cluster = grid->asleep.items[i];
        for (uint32_t k = 0; k < cluster->machine->agent_count; k++) {
            uint8_t status = cluster->machine->state->agents[k].status;
            if (status == AGENT_IDLE || status == AGENT_ENDED || status == AGENT_JOINS)
                continue;
            if (count < most)
                sleepers[count] = sleeper_of(grid, cluster, k);
            count++;
        }
    }
    return count;
}

uint64_t grid_never_begun(const Grid *grid) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < grid->count; i++)
        if (may_begin(grid, i) && !has_room(grid, i))
            count += grid->courses[i].clusters - grid->courses[i].begun;
    return count;
}

const Machine *grid_ended_by(const Grid *grid, uint32_t *launch, uint64_t *cluster) {
    if (!grid->ended_by)
        return NULL;
    *launch = grid->ended_by->launch;
    *cluster = grid->ended_by->index;
    return grid->ended_by->machine;
}

GridStats grid_stats(const Grid *grid) {
    return grid->stats;
}

const LoadLog *grid_loads(const Grid *grid, uint32_t launch, uint64_t cluster) {
    const GridRecord *record = records_find(&grid->records, &(GridRecord){.launch = launch + 1, .index = cluster});
    return record ? record->loads : NULL;
}
