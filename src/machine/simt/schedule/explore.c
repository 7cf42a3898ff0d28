/* Depth-first search over the orders of a small kernel, and over what its reads give.
 *
 * Of the steps that could be made somewhere, one is tried first; others only if a run shows that two steps could come
 * the other way round (dynamic partial-order reduction), and not again what a run before had (sleep sets). */
#include "machine/simt/schedule/explore.h"

#include "base/deadline.h"
#include "machine/simt/core/internal.h"
#include "machine/simt/schedule/explore_internal.h"

enum { OPTIONS_MOST = 64, POINTS_MOST = 1 << 14, THREADS_MOST = 4096, STEPS_MOST = 1 << 13 };
enum { STEPS_OF_ALL_MOST = 1 << 18 };
#define EXPLORE_BUDGET ((size_t)1 << 30)

/* A step that need not be made again as long as nothing that it touches is. */
typedef struct ExploreSleeper {
    uint32_t step;
    ExploreTouch touch;
} ExploreSleeper;

/* A choice: of a step, or of a write. */
typedef struct ExplorePoint {
    bool is_read;
    uint32_t at, count;
    uint32_t options[OPTIONS_MOST];
    uint64_t wanted, done; /* of steps: options that have to be tried, that have been */
    ExploreTouch *touches; /* of those that were made */
    ExploreSleeper *asleep;
    uint32_t asleep_count, touches_room, asleep_room;
} ExplorePoint;

typedef enum ExploreEnding { ENDING_NONE, ENDING_PRUNED, ENDING_DONE } ExploreEnding;

typedef struct ExploreSearch {
    PtxMachine *machine;
    const PtxExplorer *explorer;
    PtxExplored *explored;
    Arena arena; /* points */
    ExplorePoint *points;
    uint32_t point_count, point_capacity;
    Arena run_arena; /* of a run */
    ExploreSleeper *asleep;
    uint32_t asleep_count;
    Values values;
    ExploreSteps steps;
    uint64_t steps_of_all; /* of all runs so far */
    ExploreTouch touch;    /* of the step that is made */
    uint32_t depth;
    Trail trail;
    const Trail *replay;
    uint32_t replayed;
    uint8_t *stale; /* of each thread: what it read last was not the newest */
    PtxEnd end;
} ExploreSearch;

/* ---- Choices ------------------------------------------------------------------------------------------------------
 */

static ExplorePoint *point_new(ExploreSearch *search) {
    if (search->point_count == POINTS_MOST)
        return NULL;
    ExplorePoint *point = ARENA_PUSH(&search->arena, search->points, search->point_count, search->point_capacity);
    *point = (ExplorePoint){.touches = point->touches, /* room of one that was here before */
                            .asleep = point->asleep,
                            .touches_room = point->touches_room,
                            .asleep_room = point->asleep_room};
    return point;
}

/* What a trail says comes next, if it is one of the options; else the first. */
static uint32_t replay_choice(ExploreSearch *search, const uint32_t *options, uint32_t count, uint32_t mark) {
    if (!search->replay || search->replayed == search->replay->count)
        return 0;
    uint32_t wanted = search->replay->steps[search->replayed];
    if ((wanted & TRAIL_READ) != mark)
        return 0;
    search->replayed++;
    for (uint32_t i = 0; i < count; i++)
        if (options[i] == (wanted & ~mark))
            return i;
    search->end = PTX_END_DIVERGED;
    return 0;
}

/* ---- Reads --------------------------------------------------------------------------------------------------------
 */

/* A thread that reads a place again reads nothing older: of the writes, those behind what it read there last. */
static uint32_t newer(const LastRead *last, uint32_t *writes, uint32_t count) {
    uint32_t kept = 0;
    if (!last)
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (writes[i] > last->write)
            writes[kept++] = writes[i];
    return kept ? kept : 1;
}

static uint32_t choose_write(ExploreSearch *search, const uint32_t *writes, uint32_t count) {
    if (count == 1)
        return 0;
    if (search->depth == search->point_count) {
        ExplorePoint *point = point_new(search);
        if (!point) {
            search->explored->left = "a run was too long";
            return 0;
        }
        point->is_read = true;
        point->count = count;
        memcpy(point->options, writes, count * sizeof *writes);
        point->at = replay_choice(search, writes, count, TRAIL_READ);
    }
    uint32_t at = search->points[search->depth++].at;
    trail_push(&search->trail, TRAIL_READ | writes[at]);
    return at;
}

static bool is_one_element(const PtxEvent *event) {
    return !event->outstanding && event->access.kind == KIND_READ && event->access.bytes == event->access.element &&
           !(event->lanes & (event->lanes - 1)) && event->access.bytes <= 8;
}

/* Which write the read of this event gives. False: that is not known. */
static bool choose_read(ExploreSearch *search, const PtxEvent *event, uint32_t *chosen) {
    const PtxReads *reads = &search->explorer->reads;
    uint32_t writes[OPTIONS_MOST], lane = (uint32_t)__builtin_ctz(event->lanes);
    uint32_t thread = ptx_thread_number(search->machine, event->warp, lane);
    uint32_t count = reads->sources(reads->context, event, lane, writes, OPTIONS_MOST);
    if (!count)
        return false;
    PtxLocation location = event->locations[lane];
    const LastRead *last = values_last_read(&search->values, thread, event->code, location);
    uint32_t newest = writes[0], left = newer(last, writes, count);
    uint32_t write = writes[choose_write(search, writes, left)];
    LastRead read = {thread, write, event->code, location.block, location.offset};
    values_read(&search->values, &read);
    search->stale[thread] = write != newest;
    reads->choose(reads->context, write);
    if (write != newest && !values_give(&search->values, location, event->access.bytes, write))
        search->explored->left = "what an earlier write left is not known";
    *chosen = write;
    return true;
}

static void observe(void *observer, const PtxEvent *event) {
    ExploreSearch *search = observer;
    const PtxExplorer *explorer = search->explorer;
    const PtxReads *reads = &explorer->reads;
    bool writes = event->kind == PTX_EVENT_ACCESS && event->access.kind != KIND_READ;
    uint32_t chosen = 0;
    bool is_chosen = event->kind == PTX_EVENT_ACCESS && reads->sources && is_one_element(event) &&
                     choose_read(search, event, &chosen);
    if (event->kind == PTX_EVENT_ISSUE && event->outstanding)
        steps_issue(&search->steps, event->outstanding->sequence);
    uint32_t first = reads->writes ? reads->writes(reads->context) : 0;
    explorer->observe(explorer->context, event);
    uint32_t last = reads->writes ? reads->writes(reads->context) : 0;
    if (writes && reads->writes)
        values_write(&search->values, event, first, last);
    touch_event(&search->touch, event, is_chosen, first, is_chosen ? chosen : last);
}

/* ---- Steps --------------------------------------------------------------------------------------------------------
 */

static void end_ctas(PtxMachine *machine) {
    for (uint32_t i = 0; i < machine->cta_count; i++)
        if (machine->ctas[i] && !machine->ctas[i]->live)
            cta_end(machine, machine->ctas[i]);
}

/* A thread that spins has yet to see a write that is there. */
static bool can_go(const ExploreSearch *search, const PtxGroup *group) {
    uint32_t thread = ptx_thread_number(search->machine, group->warp, (uint32_t)__builtin_ctz(group->lanes));
    return ptx_group_can_go(search->machine, group) || (group->status == PTX_IS_SPINS && search->stale[thread]);
}

static uint32_t enabled(ExploreSearch *search, uint32_t *steps) {
    PtxMachine *machine = search->machine;
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->cta_count; i++) {
        PtxCta *cta = machine->ctas[i];
        for (uint32_t k = 0; cta && k < cta->warp_count; k++)
            for (PtxGroup *group = cta->warps[k].groups; group && count < OPTIONS_MOST; group = group->next)
                if (can_go(search, group))
                    steps[count++] = ptx_thread_number(machine, group->warp, (uint32_t)__builtin_ctz(group->lanes));
    }
    for (uint32_t i = 0; i < machine->outstanding_count && count < OPTIONS_MOST; i++)
        if (ptx_outstanding_can_complete(machine, machine->outstanding_ops[i]))
            steps[count++] = TRAIL_OUTSTANDING | machine->outstanding_ops[i]->sequence;
    return count;
}

static PtxGroup *group_of(const PtxMachine *machine, uint32_t thread) {
    const PtxCta *cta = machine->ctas[thread / machine->threads_per_cta];
    uint32_t within = thread % machine->threads_per_cta;
    PtxGroup *group = cta->warps[within / PTX_LANES].groups;
    while (group && !(group->lanes >> within % PTX_LANES & 1))
        group = group->next;
    return group;
}

static PtxEnd end_of(PtxTurn turn) {
    switch (turn) {
    case PTX_TURN_FAULT:
        return PTX_END_FAULT;
    case PTX_TURN_UNKNOWN:
        return PTX_END_UNKNOWN;
    case PTX_TURN_BUDGET:
        return PTX_END_BUDGET;
    default:
        return PTX_END_COMPLETE;
    }
}

static bool sleeps(const ExploreSleeper *asleep, uint32_t count, uint32_t step) {
    for (uint32_t i = 0; i < count; i++)
        if (asleep[i].step == step)
            return true;
    return false;
}

/* Whether the option's next step, of those behind `first` that do not need it and up to `second`, has none of these
 * before it: then they could all be made before `first`, and it could begin. */
static bool could_begin(const ExploreSteps *steps, uint32_t first, uint32_t second, uint32_t option) {
    uint32_t next = first + 1;
    while (next <= second && steps->all[next].who != option)
        next++;
    if (next > second || (next < second && steps_before(steps, first, next)))
        return false;
    for (uint32_t i = first + 1; i < next; i++)
        if (!steps_before(steps, first, i) && steps_before(steps, i, next))
            return false;
    return true;
}

/* Two steps could come the other way round: at the choice that the first was, one is tried that can begin with what
 * leads to the second. If such a one sleeps, or is to be tried anyway, that is covered; all are tried if none is. */
static void want_exchange(void *context, const ExploreSteps *steps, uint32_t first, uint32_t second) {
    ExploreSearch *search = context;
    uint32_t number = steps->all[first].point, found = OPTIONS_MOST;
    if (number == PTX_NONE)
        return;
    ExplorePoint *point = &search->points[number];
    for (uint32_t i = 0; i < point->count && !steps->wide; i++) {
        if (!could_begin(steps, first, second, point->options[i]))
            continue;
        if (point->wanted >> i & 1 || sleeps(point->asleep, point->asleep_count, point->options[i]))
            return;
        found = found == OPTIONS_MOST ? i : found;
    }
    if (found == OPTIONS_MOST)
        point->wanted = UINT64_MAX;
    else
        point->wanted |= UINT64_C(1) << found;
}

/* Makes a step; false: the run is over, and search->end says why. */
static bool make_step(ExploreSearch *search, uint32_t step, uint32_t point) {
    PtxMachine *machine = search->machine;
    uint32_t first_thread = 0, lanes = 0;
    search->touch = (ExploreTouch){.count = 0};
    trail_push(&search->trail, step);
    if (step & TRAIL_OUTSTANDING) {
        uint32_t i = 0;
        while (machine->outstanding_ops[i]->sequence != (step & ~TRAIL_OUTSTANDING))
            i++;
        ptx_outstanding_complete(machine, i);
        if (machine->fault.code || machine->unknown)
            search->end = machine->fault.code ? PTX_END_FAULT : PTX_END_UNKNOWN;
    } else {
        PtxGroup *group = group_of(machine, step);
        lanes = group->lanes;
        first_thread = ptx_thread_number(machine, group->warp, 0);
        search->end = end_of(ptx_group_turn(machine, group));
    }
    values_step_over(&search->values);
    end_ctas(machine);
    steps_add(&search->steps, step, first_thread, lanes, point, &search->touch, want_exchange, search);
    return search->end == PTX_END_COMPLETE;
}

/* ---- Sleep sets ---------------------------------------------------------------------------------------------------
 */

/* Behind a step: who slept before it, and those that were tried in its place, unless it touches what they do. */
static void sleep_on(ExploreSearch *search, const ExplorePoint *point) {
    ExploreSleeper *kept =
        ARENA_ARRAY(&search->run_arena, ExploreSleeper, search->asleep_count + (point ? point->count : 0) + 1);
    uint32_t count = 0;
    if (search->explorer->every)
        return;
    for (uint32_t i = 0; i < search->asleep_count; i++)
        if (touch_order(&search->asleep[i].touch, &search->touch) == TOUCH_APART)
            kept[count++] = search->asleep[i];
    for (uint32_t i = 0; point && i < point->count; i++)
        if (point->done >> i & 1 && !sleeps(search->asleep, search->asleep_count, point->options[i]) &&
            touch_order(&point->touches[i], &search->touch) == TOUCH_APART)
            kept[count++] = (ExploreSleeper){point->options[i], point->touches[i]};
    search->asleep = kept;
    search->asleep_count = count;
}

/* The next option to be tried that does not sleep; the count: there is none. */
static uint32_t first_awake(const ExplorePoint *point) {
    uint32_t i = 0;
    while (i < point->count && (point->done >> i & 1 || !(point->wanted >> i & 1) ||
                                sleeps(point->asleep, point->asleep_count, point->options[i])))
        i++;
    return i;
}

static ExplorePoint *point_of_steps(ExploreSearch *search, const uint32_t *steps, uint32_t count) {
    ExplorePoint *point = point_new(search);
    if (!point)
        return NULL;
    point->count = count;
    memcpy(point->options, steps, count * sizeof *steps);
    while (point->touches_room < count)
        point->touches = arena_grown(&search->arena, point->touches, point->touches_room, &point->touches_room,
                                     sizeof(ExploreTouch));
    while (point->asleep_room < search->asleep_count + 1)
        point->asleep =
            arena_grown(&search->arena, point->asleep, point->asleep_room, &point->asleep_room, sizeof(ExploreSleeper));
    if (search->asleep_count)
        memcpy(point->asleep, search->asleep, search->asleep_count * sizeof(ExploreSleeper));
    point->asleep_count = search->asleep_count;
    point->wanted = UINT64_MAX;
    point->at = search->replay ? replay_choice(search, steps, count, 0) : first_awake(point);
    if (!search->explorer->every)
        point->wanted = point->at < count ? UINT64_C(1) << point->at : 0;
    return point;
}

/* ---- A run --------------------------------------------------------------------------------------------------------
 */

static bool release_warps(PtxMachine *machine) {
    bool any = false;
    for (uint32_t i = 0; i < machine->cta_count; i++)
        for (uint32_t k = 0; machine->ctas[i] && k < machine->ctas[i]->warp_count; k++)
            any |= ptx_warp_release(machine, &machine->ctas[i]->warps[k]);
    return any;
}

static bool some_live(const PtxMachine *machine) {
    for (uint32_t i = 0; i < machine->cta_count; i++)
        if (machine->ctas[i])
            return true;
    return false;
}

/* Who makes the next step of `count` that could: which of them. The count: all have been tried elsewhere. */
static uint32_t choose_step(ExploreSearch *search, const uint32_t *steps, uint32_t count, uint32_t *point) {
    *point = PTX_NONE;
    if (count == 1) {
        if (search->replay)
            replay_choice(search, steps, count, 0);
        return sleeps(search->asleep, search->asleep_count, steps[0]) ? count : 0;
    }
    if (search->depth == search->point_count && !point_of_steps(search, steps, count)) {
        search->end = PTX_END_BUDGET;
        return count;
    }
    *point = search->depth++;
    return search->points[*point].at;
}

static ExploreEnding advance(ExploreSearch *search) {
    uint32_t steps[OPTIONS_MOST], count = enabled(search, steps), number;
    if (!count) {
        if (release_warps(search->machine) || spins_stir(search->machine) || waits_give_up(search->machine))
            return ENDING_NONE;
        search->end = some_live(search->machine) ? PTX_END_STUCK : PTX_END_COMPLETE;
        return ENDING_DONE;
    }
    uint32_t index = choose_step(search, steps, count, &number);
    if (index == count)
        return search->end == PTX_END_BUDGET ? ENDING_DONE : ENDING_PRUNED;
    bool over = !make_step(search, steps[index], number);
    ExplorePoint *point = number == PTX_NONE ? NULL : &search->points[number];
    if (point)
        point->touches[index] = search->touch;
    sleep_on(search, point);
    return over ? ENDING_DONE : ENDING_NONE;
}

static ExploreEnding run(ExploreSearch *search) {
    PtxMachine *machine = search->machine;
    arena_reset(&search->run_arena);
    search->asleep = NULL;
    search->asleep_count = 0;
    search->depth = 0;
    search->end = PTX_END_COMPLETE;
    search->trail.count = 0;
    uint32_t threads = machine->cta_count * machine->threads_per_cta;
    memset(search->stale, 0, threads);
    search->steps =
        (ExploreSteps){.arena = &search->run_arena, .last = ARENA_ARRAY(&search->run_arena, uint32_t, threads)};
    ptx_machine_start(machine);
    values_start(&search->values, machine);
    search->explorer->start(search->explorer->context);
    for (uint32_t i = 0; i < machine->cta_count / machine->cluster_size; i++)
        ptx_machine_begin(machine, i);
    for (uint32_t steps = 0; steps < STEPS_MOST; steps++) {
        ExploreEnding ending = advance(search);
        if (ending != ENDING_NONE)
            return ending;
        if (search->end == PTX_END_DIVERGED)
            return ENDING_DONE;
        if (deadline_passed()) {
            search->end = PTX_END_TIME;
            return ENDING_DONE;
        }
    }
    search->end = PTX_END_BUDGET;
    return ENDING_DONE;
}

/* The next run: the last choice that has an option left. False: there is none. */
static bool next_run(ExploreSearch *search) {
    while (search->point_count) {
        ExplorePoint *point = &search->points[search->point_count - 1];
        point->done |= UINT64_C(1) << (point->at % OPTIONS_MOST);
        point->at = point->is_read ? point->at + 1 : first_awake(point);
        if (point->at < point->count)
            return true;
        search->point_count--;
    }
    return false;
}

/* ---- All of them --------------------------------------------------------------------------------------------------
 */

static const char *why_not(const PtxMachine *machine) {
    if ((uint64_t)machine->cta_count * machine->threads_per_cta > THREADS_MOST)
        return "it has more threads than are explored";
    return NULL;
}

static void explore_all(ExploreSearch *search, uint64_t most) {
    PtxExplored *explored = search->explored;
    for (bool more = true; more; more = next_run(search)) {
        if (explored->runs + explored->pruned == most || search->steps_of_all > STEPS_OF_ALL_MOST) {
            explored->left = "there are more orders than are run";
            return;
        }
        ExploreEnding ending = run(search);
        search->steps_of_all += search->steps.count;
        *(ending == ENDING_PRUNED ? &explored->pruned : &explored->runs) += 1;
        if (ending == ENDING_DONE && search->explorer->end(search->explorer->context, search->end, &search->trail)) {
            explored->left = "it was enough";
            return;
        }
        if (ending == ENDING_DONE && (search->end == PTX_END_BUDGET || search->end == PTX_END_TIME)) {
            explored->left = search->end == PTX_END_TIME ? "there was no more time" : "a run was too long";
            return;
        }
    }
    explored->complete = !explored->left;
}

/* The machine is observed by the search meanwhile. */
static void with_search(ExploreSearch *search, uint64_t most) {
    PtxMachine *machine = search->machine;
    PtxMachine before = *machine;
    jmp_buf here;
    arena_init(&search->arena, EXPLORE_BUDGET);
    arena_init(&search->run_arena, EXPLORE_BUDGET);
    arena_init(&search->values.arena, EXPLORE_BUDGET);
    search->arena.exhausted = search->run_arena.exhausted = search->values.arena.exhausted = &here;
    machine->arena.exhausted = &here;
    machine->observe = observe;
    machine->observer = search;
    machine->step_visible = true;
    machine->immediate = false;
    if (!setjmp(here)) {
        search->trail.arena = &search->arena;
        search->stale = ARENA_ARRAY(&search->arena, uint8_t, (size_t)machine->cta_count * machine->threads_per_cta);
        if (search->replay)
            run(search);
        else
            explore_all(search, most);
    } else {
        search->end = PTX_END_BUDGET;
        search->explored->left = "it takes more memory than there is";
    }
    machine->arena.exhausted = before.arena.exhausted;
    machine->observe = before.observe;
    machine->observer = before.observer;
    machine->step_visible = before.step_visible;
    machine->immediate = before.immediate;
    arena_free(&search->arena);
    arena_free(&search->run_arena);
    arena_free(&search->values.arena);
}

void ptx_explore(PtxMachine *machine, const PtxExplorer *explorer, uint64_t most, PtxExplored *explored) {
    *explored = (PtxExplored){.left = why_not(machine)};
    if (explored->left)
        return;
    ExploreSearch search = {.machine = machine, .explorer = explorer, .explored = explored};
    with_search(&search, most);
}

PtxEnd ptx_explore_replay(PtxMachine *machine, const PtxExplorer *explorer, const Trail *trail) {
    PtxExplored explored = {.left = why_not(machine)};
    if (explored.left)
        return PTX_END_DIVERGED;
    ExploreSearch search = {.machine = machine, .explorer = explorer, .explored = &explored, .replay = trail};
    with_search(&search, 1);
    return search.end;
}
