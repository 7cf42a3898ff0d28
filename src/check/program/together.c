/* Memory that processes or devices share: operations on it are held against each other as CTAs of launches are
 * (engine/hb/gsan.h), so that signals in that memory order what they order, with the scopes that they have. A warp
 * counts as a thread of the engine, and its CTA (or cluster) as a cluster. An operation of which no steps are known is
 * one thread that does all at once. */
#include "check/program/internal.h"

#include "base/array.h"
#include "engine/hb/gsan.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES = 64, MOST_WARPS = 1 << 20, STEP_SITES = 1 << 20 };
/* Of an object that is an address; those of launches are small numbers. */
#define ADDRESSED (UINT64_C(1) << 63)
static const size_t most_memory = (size_t)1 << 30;

typedef enum TogetherVerb { DOES_ACCESS, DOES_FENCE, DOES_RELEASE, DOES_ACQUIRE, DOES_ARRIVE, DOES_PASS } TogetherVerb;

typedef struct TogetherStep {
    uint64_t time, address, bytes;
    uint32_t warp, site;
    uint8_t does, kind, order, scope;
} TogetherStep;

/* An operation that the engine knows, by its number there. */
typedef struct TogetherOperation {
    uint64_t number;
    uint32_t lane, site;
    bool signals;   /* it has atomics, of which it is not known what they order */
    bool steps;     /* ... which is known */
    const OrderClock *issued; /* what threads of the host knew then, if it has no steps and others had steps left; or NULL */
    bool of_shared; /* ProgramRecording.of_shared; then, too: */
    /* What is over when it begins; of its process what may signal others, with itself: of each lane the last. */
    const OrderClock *begun;
    const ProgramSignal *before;
    uint32_t before_count;
} TogetherOperation;

/* A race of which the end of the log decides whether signals may order the two. */
typedef struct TogetherRace {
    struct TogetherRace *next;
    uint32_t earlier, later; /* operations */
    SharedRace shared;
    GsanRace race;
    RaceMemory memory;
} TogetherRace;

/* One whose steps are not all done. */
typedef struct TogetherLaunch {
    struct TogetherLaunch *next;
    uint32_t launch, at, step_count, warps;
    TogetherStep *steps;
    uint32_t *threads;  /* of each warp; GSAN_NO_THREAD: it has not begun */
    uint64_t objects;   /* added to the numbers of its barriers */
    OrderClock *issued; /* what threads of the host knew when it was issued */
} TogetherLaunch;

/* Of a lane, its operations that the engine knows. */
typedef struct TogetherLane {
    uint32_t *launches;
    uint32_t count, capacity;
} TogetherLane;

/* A place of a kernel, or of the program. */
typedef struct TogetherSite {
    uint32_t site; /* of the operation */
    Str where;     /* in the kernel; empty: it is not known */
} TogetherSite;

/* The place of an allocation. If that is gone, operations from `until` on do not touch it. */
typedef struct TogetherPlace {
    uint64_t begin, bytes;
    uint32_t site, until;
} TogetherPlace;

struct ProgramTogether {
    ProgramCheck *check;
    Gsan *gsan;
    TogetherOperation *operations;
    uint32_t operation_count, operation_capacity;
    TogetherLane lanes[ORDER_LANES];
    TogetherLaunch *active;
    TogetherSite *sites;
    uint32_t site_count, site_capacity;
    Map site_map;
    TogetherStep *steps; /* of the operation that is open */
    uint32_t step_count, step_capacity;
    uint64_t grid[ORDER_NUMBERS];
    uint64_t placed;       /* bytes of all places */
    TogetherPlace *places; /* sorted */
    uint32_t place_count, place_capacity, gone_count;
    bool has_grid, wrong;
    bool lost;        /* of launches in mode shadow some of what they touched */
    uint64_t unit;    /* that one ran on, + 1 */
    bool other_units; /* ... and others on another */
    TogetherRace *races, **last_race;
    bool late; /* steps were done before those of a launch that they may come behind, which began later */
    uint64_t objects;
    const OrderClock *issued, *kept; /* of the operation that is being done; the last one of those with none */
};

/* ---- Sites ---------------------------------------------------------------------------------------------- */

static uint32_t site_of(ProgramTogether *together, Str where) {
    ProgramCheck *check = together->check;
    Text key = {0};
    text_addf(&key, "%u %.*s", check->site, STR_ARG(where));
    void *known = map_get(&together->site_map, (Str){key.data, key.size});
    if (known) {
        text_free(&key);
        return (uint32_t)((uintptr_t)known - 1);
    }
    size_t size = key.size;
    const char *kept = text_keep(&key, check->arena);
    void **seat = map_put(&together->site_map, (Str){kept, size});
    if (!seat || !ARRAY_ROOM(together->sites, together->site_count, together->site_capacity, 64)) {
        check->races.failed = true;
        return 0;
    }
    together->sites[together->site_count] = (TogetherSite){check->site, where};
    *seat = (void *)(uintptr_t)++together->site_count;
    return together->site_count - 1;
}

/* ---- Places --------------------------------------------------------------------------------------------- */

/* Memory is an allocation and an offset: steps may be done after another allocation has come to the address. Returns
 * how many of the bytes lie in the same allocation. */
static uint64_t find_place(ProgramTogether *together, uint64_t *address, uint64_t bytes) {
    static const uint64_t page = 4096, most = UINT64_C(1) << ADDRESS_BITS;
    RaceMemory *memory = races_memory(&together->check->races, *address);
    if (!memory)
        return bytes;
    uint64_t before = memory->address % page, offset = *address - memory->address;
    if (!memory->place && (memory->bytes >= most - together->placed - 2 * page ||
                           !ARRAY_ROOM(together->places, together->place_count, together->place_capacity, 64))) {
        together->check->races.failed = true;
        return bytes;
    }
    if (!memory->place) {
        memory->place = ((uint64_t)PLACED << ADDRESS_BITS) + together->placed + before;
        together->placed += (before + memory->bytes + page - 1) / page * page;
        together->places[together->place_count++] =
            (TogetherPlace){memory->place, memory->bytes, memory->site, UINT32_MAX};
    }
    *address = memory->place + offset;
    return bytes < memory->bytes - offset ? bytes : memory->bytes - offset;
}

/* NULL: the address is in none. */
static TogetherPlace *place_at(const ProgramTogether *together, uint64_t address) {
    uint32_t low = 0, high = together->place_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (together->places[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    TogetherPlace *place = low ? &together->places[low - 1] : NULL;
    return place && address - place->begin < place->bytes ? place : NULL;
}

void program_together_gone(void *check, const RaceMemory *memory) {
    ProgramTogether *together = ((ProgramCheck *)check)->together;
    TogetherPlace *place = together && memory->place ? place_at(together, memory->place) : NULL;
    if (!place)
        return;
    place->until = together->operation_count;
    together->gone_count++;
}

/* Once most places are of allocations that are gone: those that no step touches any more. */
static void forget_gone(ProgramTogether *together) {
    uint32_t first = UINT32_MAX - 1, kept = 0;
    if (together->gone_count <= together->place_count / 2)
        return;
    for (const TogetherLaunch *active = together->active; active; active = active->next)
        first = active->launch < first ? active->launch : first;
    for (uint32_t i = 0; i < together->place_count; i++) {
        const TogetherPlace *place = &together->places[i];
        if (place->until > first)
            together->places[kept++] = *place;
        else
            gsan_forget(together->gsan, place->begin, place->begin + place->bytes);
    }
    together->gone_count -= together->place_count - kept;
    together->place_count = kept;
}

/* ---- What is found -------------------------------------------------------------------------------------- */

static const OrderClock *issued_of(const ProgramTogether *together, uint32_t launch) {
    for (const TogetherLaunch *active = together->active; active; active = active->next)
        if (active->launch == launch)
            return active->issued;
    return launch + 1 == together->operation_count && together->issued ? together->issued
                                                                       : together->operations[launch].issued;
}

/* What threads of the host know now, for as long as the check lasts. */
static const OrderClock *keep_issued(ProgramTogether *together) {
    const OrderClock *now = program_issued(together->check);
    if (!together->kept || memcmp(together->kept, now, sizeof *now) != 0) {
        OrderClock *copy = ARENA_NEW(together->check->arena, OrderClock);
        *copy = *now;
        together->kept = copy;
    }
    return together->kept;
}

/* Whether a thread of the host knew that one of them was over when the other one was issued: it may have handed over.
 */
static bool is_open(const TogetherOperation *one, const OrderClock *other) {
    return other && clock_has(other, one->lane, one->number);
}

/* Whether something in the process of one may have read a signal of another process before it ends, and does not come
 * before the other one. */
static bool may_receive(const ProgramCheck *check, const TogetherOperation *one, const TogetherOperation *other) {
    const ProgramProcess *process = &check->processes[check->sites[one->site].process];
    bool may = !one->of_shared && process->signal_count && process->first_signal <= one->number;
    for (uint32_t i = 0; i < one->before_count; i++)
        may |= !other->begun || !clock_has(other->begun, one->before[i].lane, one->before[i].number);
    return may;
}

static bool may_signal(const ProgramCheck *check, const TogetherOperation *from, const TogetherOperation *to) {
    const ProgramProcess *process = &check->processes[check->sites[from->site].process];
    return process->signal_count && process->last_signal >= from->number && may_receive(check, to, from);
}

static void keep_race(ProgramTogether *together, const SharedRace *shared) {
    TogetherRace *kept = ARENA_NEW(together->check->arena, TogetherRace);
    *kept = (TogetherRace){.earlier = shared->race->earlier.launch,
                           .later = shared->race->later.launch,
                           .shared = *shared,
                           .race = *shared->race};
    kept->shared.race = &kept->race;
    if (shared->memory) {
        kept->memory = *shared->memory;
        kept->shared.memory = &kept->memory;
    }
    if (!together->last_race)
        together->last_race = &together->races;
    *together->last_race = kept;
    together->last_race = &kept->next;
}

static void report_kept(const ProgramTogether *together) {
    ProgramCheck *check = together->check;
    for (TogetherRace *kept = together->races; kept; kept = kept->next) {
        SharedRace *shared = &kept->shared;
        const TogetherOperation *earlier = &together->operations[kept->earlier];
        const TogetherOperation *later = &together->operations[kept->later];
        shared->communicates |= may_signal(check, earlier, later) || may_signal(check, later, earlier);
        program_report_shared(check, shared);
    }
}

static void found(void *context, const GsanRace *told) {
    ProgramTogether *together = context;
    GsanRace turned = *told;
    const GsanRace *race = &turned;
    const TogetherOperation *earlier = &together->operations[race->earlier.launch];
    const TogetherOperation *later = &together->operations[race->later.launch];
    if (race->earlier.launch == race->later.launch)
        return; /* that is the kernel's own */
    if ((earlier->of_shared || later->of_shared) && earlier->number > later->number) { /* of one the times are known */
        turned.earlier = told->later;
        turned.later = told->earlier;
        const TogetherOperation *first = later;
        later = earlier;
        earlier = first;
    }
    const OrderClock *issued = issued_of(together, race->later.launch);
    const OrderClock *other = issued_of(together, race->earlier.launch);
    const TogetherPlace *place = place_at(together, race->begin);
    RaceMemory memory = {.bytes = place ? place->bytes : 0, .site = place ? place->site : 0};
    SharedRace shared = {
        .earlier = earlier->site,
        .later = later->site,
        .earlier_number = earlier->number,
        .number = later->number,
        .earlier_where =
            race->earlier.site < together->site_count ? together->sites[race->earlier.site].where : STR(""),
        .later_where = race->later.site < together->site_count ? together->sites[race->later.site].where : STR(""),
        .released_where =
            race->released_site < together->site_count ? together->sites[race->released_site].where : STR(""),
        .acquired_where =
            race->acquired_site < together->site_count ? together->sites[race->acquired_site].where : STR(""),
        .race = race,
        .memory = place ? &memory : NULL,
        .offset = place ? race->begin - place->begin : 0,
        .communicates = earlier->signals && later->signals,
        .open = is_open(earlier, issued) || is_open(later, other) || (issued && issued->open),
    };
    if (earlier->of_shared || later->of_shared) {
        keep_race(together, &shared);
        return;
    }
    together->check->recordings->signals |= shared.communicates;
    program_report_shared(together->check, &shared);
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

static uint32_t thread_of(ProgramTogether *together, TogetherLaunch *launch, uint32_t warp) {
    if (launch->threads[warp] == GSAN_NO_THREAD)
        launch->threads[warp] = gsan_begin(together->gsan, launch->launch, warp);
    return launch->threads[warp];
}

static void do_step(ProgramTogether *together, TogetherLaunch *launch, const TogetherStep *step) {
    Gsan *gsan = together->gsan;
    uint32_t thread = thread_of(together, launch, step->warp);
    switch ((TogetherVerb)step->does) {
    case DOES_ACCESS:
        gsan_access(gsan, thread, step->site, (AccessKind)step->kind, (Order)step->order, (Scope)step->scope,
                    GSAN_NO_TICKET, step->address, step->address + step->bytes);
        break;
    case DOES_FENCE:
        gsan_fence(gsan, thread, step->site, (Order)step->order, (Scope)step->scope);
        break;
    case DOES_RELEASE:
        gsan_publish(gsan, thread, ADDRESSED | step->address, GSAN_WHOLE);
        break;
    case DOES_ACQUIRE:
        gsan_acquire(gsan, thread, ADDRESSED | step->address);
        break;
    case DOES_ARRIVE:
        gsan_publish(gsan, thread, launch->objects + step->address, GSAN_WHOLE);
        break;
    case DOES_PASS:
        gsan_acquire(gsan, thread, launch->objects + step->address);
        break;
    }
}

static void end_launch(ProgramTogether *together, TogetherLaunch **at) {
    TogetherLaunch *launch = *at;
    for (uint32_t i = 0; i < launch->warps; i++)
        if (launch->threads[i] != GSAN_NO_THREAD)
            gsan_end(together->gsan, launch->threads[i]);
    *at = launch->next;
    free(launch->steps);
    free(launch->threads);
    free(launch->issued);
    free(launch);
}

/* All steps up to that time, the earliest first. */
static void do_steps_until(ProgramTogether *together, uint64_t time) {
    for (;;) {
        TogetherLaunch *first = NULL;
        for (TogetherLaunch **at = &together->active; *at;) {
            if ((*at)->at == (*at)->step_count) {
                end_launch(together, at);
                continue;
            }
            if (!first || (*at)->steps[(*at)->at].time < first->steps[first->at].time)
                first = *at;
            at = &(*at)->next;
        }
        if (!first || first->steps[first->at].time > time)
            return;
        do_step(together, first, &first->steps[first->at++]);
    }
}

/* ---- Operations --------------------------------------------------------------------------------------------- */

/* The last of a lane that is before that number; UINT32_MAX: there is none. */
static uint32_t last_before(const ProgramTogether *together, uint32_t lane, uint64_t number) {
    const TogetherLane *of = &together->lanes[lane];
    uint32_t low = 0, high = of->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (together->operations[of->launches[middle]].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? of->launches[low - 1] : UINT32_MAX;
}

/* Whether a recorded launch that has not begun has done something by then. */
static bool lacks_steps(const ProgramTogether *together, uint64_t time) {
    const ProgramRecordings *all = together->check->recordings;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].step_count && !all->items[i].begun && all->items[i].steps[0].numbers[0] < time)
            return true;
    return false;
}

/* Operations that are over when it begins; their steps are done. */
static uint32_t find_after(ProgramTogether *together, const OrderClock *clock, uint32_t after[ORDER_LANES]) {
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < together->check->order.lane_count; lane++) {
        uint32_t last = clock->over[lane] ? last_before(together, lane, clock->over[lane]) : UINT32_MAX;
        if (last == UINT32_MAX)
            continue;
        after[count++] = last;
        for (const TogetherLaunch *active = together->active; active; active = active->next)
            if (active->launch == last && active->step_count) {
                together->late |= active->at < active->step_count &&
                                  lacks_steps(together, active->steps[active->step_count - 1].time);
                do_steps_until(together, active->steps[active->step_count - 1].time);
                break;
            }
    }
    return count;
}

static bool begin_engine(ProgramTogether *together) {
    GsanOptions options = {.mode = GSAN_EXACT, .devices = DEVICES, .memory = most_memory};
    const char *problem;
    if (!together->gsan)
        together->gsan = gsan_create(&options, found, together, &problem);
    together->check->races.failed |= !together->gsan;
    return together->gsan;
}

bool program_touches_shared(const ProgramCheck *check, uint32_t hows) {
    for (uint32_t i = 0; i < check->touch_count; i++) {
        const Touch *touch = &check->touches[i];
        const RaceMemory *memory = races_memory(&check->races, touch->begin);
        if (memory && memory->shared && touch->how & hows)
            return true;
    }
    return false;
}

void program_together_may_signal(ProgramCheck *check, const OrderLane *lane) {
    ProgramProcess *process = program_process(check);
    uint32_t i = 0;
    while (i < process->signal_count && process->signals[i].lane != lane->index)
        i++;
    if (i == process->signal_count && !ARRAY_ROOM(process->signals, i, process->signal_capacity, 4)) {
        check->races.failed = true;
        return;
    }
    process->first_signal = process->signal_count ? process->first_signal : check->number;
    process->signal_count += i == process->signal_count;
    process->signals[i] = (ProgramSignal){lane->index, check->number};
    process->last_signal = check->number;
}

/* Where it stands among signals of processes. */
static void place_among_signals(ProgramCheck *check, const OrderLane *lane, TogetherOperation *operation) {
    const ProgramProcess *process = program_process(check);
    ProgramSignal *before = ARENA_ARRAY(check->arena, ProgramSignal, process->signal_count + 1);
    OrderClock *begun = ARENA_NEW(check->arena, OrderClock);
    *begun = lane->now;
    for (uint32_t i = 0; i < process->signal_count; i++)
        before[i] = process->signals[i];
    operation->begun = begun;
    operation->before = before;
    operation->before_count = process->signal_count;
    operation->of_shared = true;
}

static const ProgramRecording *known_shared(const ProgramCheck *check) {
    return check->known && check->known->of_shared ? check->known : NULL;
}

/* Its number; UINT32_MAX: there is no memory. */
static uint32_t add_operation(ProgramTogether *together, const OrderLane *lane) {
    ProgramCheck *check = together->check;
    const ProgramRecording *known = known_shared(check);
    uint32_t after[ORDER_LANES];
    TogetherLane *of = &together->lanes[lane->index];
    if (!begin_engine(together) ||
        !ARRAY_ROOM(together->operations, together->operation_count, together->operation_capacity, 64) ||
        !ARRAY_ROOM(of->launches, of->count, of->capacity, 64)) {
        check->races.failed = true;
        return UINT32_MAX;
    }
    uint64_t warps = together->has_grid ? together->grid[0] * together->grid[1] : 1;
    GsanLaunch launch = {.device = together->has_grid ? (uint32_t)together->grid[3] % DEVICES : 0,
                         .ctas = (uint32_t)warps,
                         .cluster = together->has_grid ? (uint32_t)(together->grid[1] * together->grid[2]) : 1,
                         .after = after,
                         .chained = true,
                         .behind = GSAN_NO_LAUNCH};
    launch.after_count = find_after(together, &lane->now, after);
    if (of->count && last_before(together, lane->index, lane->now.over[lane->index]) == of->launches[of->count - 1])
        launch.behind = of->launches[of->count - 1];
    uint32_t number = gsan_launch(together->gsan, &launch);
    if (number == UINT32_MAX)
        return number; /* that is said at the end */
    together->operations[together->operation_count++] = (TogetherOperation){
        .number = check->number,
        .lane = lane->index,
        .site = check->site,
        .signals = !together->has_grid && (known ? known->signals : program_touches_shared(check, TOUCH_STRONG)),
        .steps = together->has_grid,
        .issued = together->active && !together->has_grid ? keep_issued(together) : NULL};
    if (known)
        place_among_signals(check, lane, &together->operations[together->operation_count - 1]);
    of->launches[of->count++] = number;
    return number;
}

static void touch_piece(ProgramTogether *together, uint32_t thread, uint32_t site, const Touch *touch, uint64_t begin) {
    bool strong = touch->how & (TOUCH_STRONG_READ | TOUCH_STRONG_WRITE);
    bool writes = touch->how & (TOUCH_WRITE | TOUCH_STRONG_WRITE);
    for (uint64_t done = 0, bytes; done < touch->bytes; done += bytes) {
        uint64_t at = begin + done;
        bytes = find_place(together, &at, touch->bytes - done);
        gsan_access(together->gsan, thread, site, writes ? KIND_WRITE : KIND_READ, strong ? ORDER_RELAXED : ORDER_WEAK,
                    strong ? SCOPE_SYS : SCOPE_NONE, GSAN_NO_TICKET, at, at + bytes);
    }
}

/* Of an operation that has no steps: what it touches of memory that processes share, at once. */
static void touch_all(ProgramTogether *together, uint32_t thread) {
    const ProgramCheck *check = together->check;
    uint32_t site = site_of(together, STR(""));
    for (uint32_t i = 0; i < check->touch_count; i++) {
        const Touch *touch = &check->touches[i];
        const RaceMemory *memory = races_memory(&check->races, touch->begin);
        if (touch->how == TOUCH_UNSEEN || touch->how & TOUCH_MAY)
            continue; /* the order decides alone (races.h) */
        for (uint64_t k = 0; memory && memory->shared && k < touch->count; k++)
            touch_piece(together, thread, site, touch, touch->begin + k * touch->stride);
    }
}

static OrderClock *copy_of(const OrderClock *clock) {
    OrderClock *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *clock;
    return copy;
}

/* Its steps are done as time goes on. */
static void start_launch(ProgramTogether *together, uint32_t number) {
    ProgramCheck *check = together->check;
    TogetherLaunch *launch = calloc(1, sizeof *launch);
    uint32_t warps = (uint32_t)(together->grid[0] * together->grid[1]);
    uint32_t *threads = calloc(warps + 1, sizeof *threads);
    OrderClock *issued = copy_of(program_issued(check));
    if (!launch || !threads || !issued) {
        check->races.failed = true;
        free(launch);
        free(threads);
        free(issued);
        return;
    }
    for (uint32_t i = 0; i < warps; i++)
        threads[i] = GSAN_NO_THREAD;
    *launch = (TogetherLaunch){.next = together->active,
                               .launch = number,
                               .step_count = together->step_count,
                               .warps = warps,
                               .steps = together->steps,
                               .threads = threads,
                               .objects = together->objects,
                               .issued = issued};
    together->objects += UINT32_MAX;
    together->active = launch;
    together->steps = NULL;
    together->step_capacity = 0;
}

/* What a dependent launch does before it has waited is looked at elsewhere (races.h). */
void program_together_operation(ProgramCheck *check, const OrderLane *lane) {
    ProgramTogether *together = check->together;
    bool steps = together && together->has_grid && together->step_count;
    const ProgramRecording *known = known_shared(check);
    if (known ? known->signals : !steps && program_touches_shared(check, TOUCH_STRONG | TOUCH_MAY))
        program_together_may_signal(check, lane);
    if (together)
        together->lost |= known && known->lost;
    if (together && (steps || program_touches_shared(check, TOUCH_ANY))) {
        do_steps_until(together, program_process(check)->time);
        uint32_t number = add_operation(together, lane);
        if (number != UINT32_MAX)
            forget_gone(together);
        together->issued = program_issued(check);
        if (number != UINT32_MAX && steps) {
            start_launch(together, number);
        } else if (number != UINT32_MAX) {
            uint32_t thread = gsan_begin(together->gsan, number, 0);
            touch_all(together, thread);
            gsan_end(together->gsan, thread);
        }
        together->issued = NULL;
    }
    if (together) {
        together->step_count = 0;
        together->has_grid = false;
    }
}

bool program_together_signals(const ProgramCheck *check) {
    const ProgramTogether *together = check->together;
    for (uint32_t i = 0; together && i < together->operation_count; i++)
        if (together->operations[i].signals || together->operations[i].steps)
            return true;
    return false;
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

ProgramTogether *program_together(ProgramCheck *check) {
    if (!check->together && (check->together = calloc(1, sizeof *check->together)))
        check->together->check = check;
    check->races.failed |= !check->together;
    return check->together;
}

static void set_grid(ProgramTogether *together, const OrderLine *line) {
    uint64_t warps;
    bool fits = line->numbers[0] && line->numbers[1] && line->numbers[2] &&
                !__builtin_mul_overflow(line->numbers[0], line->numbers[1], &warps) && warps <= MOST_WARPS &&
                line->numbers[2] <= line->numbers[0];
    together->wrong |= !fits;
    together->has_grid = fits;
    for (unsigned i = 0; i < line->number_count; i++)
        together->grid[i] = line->numbers[i];
}

/* An access as one of each allocation that it reaches into. */
static bool add_step(ProgramTogether *together, TogetherStep step) {
    uint64_t at = step.address, left = step.bytes;
    do {
        step.address = at;
        if (step.does == DOES_ACCESS)
            step.bytes = find_place(together, &step.address, left);
        if (!ARRAY_ROOM(together->steps, together->step_count, together->step_capacity, 64))
            return false;
        together->steps[together->step_count++] = step;
        at += step.bytes;
        left -= step.bytes;
    } while (left);
    return true;
}

void program_together_line(ProgramCheck *check, const OrderLine *line) {
    enum { KIND = 10, ORDER = 100 };
    ProgramTogether *together = check->is_open ? program_together(check) : NULL;
    if (!together)
        return;
    if (line->verb == ORDER_GRID) {
        set_grid(together, line);
        return;
    }
    bool signal = line->verb == ORDER_RELEASES || line->verb == ORDER_ACQUIRES;
    bool barrier = line->verb == ORDER_ARRIVE || line->verb == ORDER_PASS;
    uint64_t how = barrier || signal ? 0 : line->numbers[2];
    TogetherStep step = {.time = line->numbers[0],
                         .warp = (uint32_t)line->numbers[1],
                         .address = line->verb == ORDER_STEP ? line->numbers[3]
                                    : barrier || signal      ? line->numbers[2]
                                                             : 0,
                         .bytes = line->verb == ORDER_STEP ? line->numbers[4] : 0,
                         .does = line->verb == ORDER_STEP       ? DOES_ACCESS
                                 : line->verb == ORDER_FENCE    ? DOES_FENCE
                                 : line->verb == ORDER_RELEASES ? DOES_RELEASE
                                 : line->verb == ORDER_ACQUIRES ? DOES_ACQUIRE
                                 : line->verb == ORDER_ARRIVE   ? DOES_ARRIVE
                                                                : DOES_PASS,
                         .kind = (uint8_t)(how % KIND),
                         .order = (uint8_t)(how / KIND % KIND),
                         .scope = (uint8_t)(how / ORDER % KIND)};
    bool fits = together->has_grid && line->numbers[1] < together->grid[0] * together->grid[1] &&
                step.kind <= KIND_UPDATE && step.order <= ORDER_ACQ_REL && step.scope <= SCOPE_SYS &&
                how / ORDER < KIND && (!barrier || line->numbers[2] < UINT32_MAX) &&
                (!together->step_count || together->steps[together->step_count - 1].time <= step.time);
    if (step.scope == SCOPE_CTA)
        step.scope = SCOPE_CLUSTER;
    if (fits && line->verb == ORDER_STEP)
        fits =
            step.bytes && program_address(check, &step.address, step.bytes) && step.address + step.bytes > step.address;
    if (fits && signal) {
        fits = program_address(check, &step.address, 1);
        find_place(together, &step.address, 1);
    }
    if (fits)
        step.site = barrier || signal ? UINT32_MAX : site_of(together, line->texts[0]);
    together->wrong |= !fits || !add_step(together, step);
}

void program_together_steps(ProgramCheck *check, ProgramRecording *recorded) {
    recorded->begun = true;
    ProgramTogether *together = program_together(check);
    if (together && recorded->of_shared) {
        together->other_units |= together->unit && together->unit != recorded->grid[3] + 1;
        together->unit = recorded->grid[3] + 1;
    }
    OrderLine line = {.verb = ORDER_GRID, .number_count = 4, .texts = {STR(""), STR("")}};
    memcpy(line.numbers, recorded->grid, sizeof recorded->grid);
    program_together_line(check, &line);
    for (uint32_t i = 0; i < recorded->step_count; i++) {
        const ProgramStep *step = &recorded->steps[i];
        line = (OrderLine){.verb = (OrderVerb)step->verb, .number_count = 5, .texts = {step->where, STR("")}};
        memcpy(line.numbers, step->numbers, sizeof step->numbers);
        program_together_line(check, &line);
    }
}

/* ---- The end -------------------------------------------------------------------------------------------------- */

void program_together_end(ProgramCheck *check) {
    ProgramTogether *together = check->together;
    uint32_t thread, site;
    if (!together)
        return;
    if (together->gsan)
        do_steps_until(together, UINT64_MAX);
    report_kept(together);
    if (together->lost)
        verdict_incomplete(check->verdict, "", 0,
                           "in mode shadow, launches of several processes are held against each other by what their "
                           "cells said of memory that processes share when each was over: what another launch of the "
                           "process had touched, too, was not checked");
    if (together->other_units)
        verdict_incomplete(check->verdict, "", 0,
                           "in mode shadow, launches on several GPUs signal each other: their times, which say what "
                           "that orders, are of several clocks");
    if (together->wrong)
        verdict_incomplete(check->verdict, "", 0,
                           "steps of launches in the log do not match their grids: not all races were checked");
    if (together->late)
        verdict_incomplete(check->verdict, "", 0,
                           "launches of several processes signal each other, and one of them is in its stream after "
                           "an operation that follows another one: what the signals order is not known");
    GsanTrouble trouble = together->gsan ? gsan_trouble(together->gsan, &thread, &site) : GSAN_FINE;
    if (trouble != GSAN_FINE)
        verdict_incomplete(check->verdict, "", 0, "not all accesses to memory that processes share were checked: %s",
                           gsan_trouble_text(trouble));
}

void program_together_release(ProgramCheck *check) {
    ProgramTogether *together = check->together;
    if (!together)
        return;
    for (TogetherLaunch *launch = together->active, *next; launch; launch = next) {
        next = launch->next;
        free(launch->steps);
        free(launch->threads);
        free(launch->issued);
        free(launch);
    }
    for (uint32_t i = 0; i < ORDER_LANES; i++)
        free(together->lanes[i].launches);
    gsan_free(together->gsan);
    map_free(&together->site_map);
    free(together->operations);
    free(together->sites);
    free(together->steps);
    free(together->places);
    free(together);
    check->together = NULL;
}
