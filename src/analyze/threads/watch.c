/* From the machine's events to the race engine, and from its races to those of watch.h. */
#include "analyze/threads/watch.h"

#include "engine/threads.h"

#include <stdlib.h>

/* An operation that was issued, and that nobody has waited for yet. */
typedef struct Open {
    uint32_t sequence;  /* of the flight */
    uint32_t operation; /* of the engine */
    uint32_t warp;      /* in the grid */
    uint32_t lanes;     /* that issued it, and have not waited for it */
    uint32_t groups;    /* committed before, by each of them alike */
    uint8_t group;
    bool each; /* each lane has one of its own */
} Open;

typedef struct WarpGroups {
    uint32_t committed[GROUP_KINDS][PTX_LANES];
} WarpGroups;

struct PtxWatch {
    Arena *arena;
    const PtxMachine *machine;
    PtxWatchOptions options;
    Threads *threads;
    uint32_t warps; /* of a CTA */
    Open *open;
    uint32_t open_count, open_capacity;
    WarpGroups *groups; /* of each warp of the grid */
    PtxRace *races;
    uint32_t race_count, race_capacity;
};

/* ---- Numbers ---- */

/* Objects of the engine. */
enum { OBJECT_NAMED = 1, OBJECT_CLUSTER, OBJECT_MBARRIER };

static uint64_t object_of(unsigned kind, uint64_t number) {
    return (uint64_t)kind << 60 | number;
}

static uint32_t warp_of(const PtxWatch *watch, const PtxWarp *warp) {
    return warp->cta->number * watch->warps + warp->index;
}

static uint32_t site_of(const PtxWatch *watch, const PtxCode *code) {
    return (uint32_t)(code - watch->machine->program->code);
}

/* Where that is for the engine; false: it is memory of a thread alone, or of nobody. */
static bool address_of(const PtxSpot *spot, uint64_t *address) {
    if (!spot->block)
        return false;
    switch (spot->block->space) {
    case PTX_SPACE_GLOBAL:
        *address = spot->block->base + spot->offset;
        return true;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        *address = threads_shared(spot->block->cta, spot->offset);
        return true;
    case PTX_SPACE_TENSOR:
        *address = threads_tensor(spot->block->cta, spot->offset);
        return true;
    default:
        return false;
    }
}

/* ---- Accesses ---- */

static ThreadsAccess access_of(const PtxWatch *watch, const PtxEvent *event) {
    const PtxAccess *access = &event->access;
    bool weak = !access->strong || (access->is_volatile && watch->options.volatile_races);
    bool silent = access->kind == EFFECT_WRITE && !event->code->data;
    return (ThreadsAccess){
        .kind = access->kind == EFFECT_READ    ? THREADS_READ
                : access->kind == EFFECT_WRITE ? THREADS_WRITE
                                               : THREADS_UPDATE,
        .proxy = access->proxy,
        .order = weak ? THREADS_WEAK : access->order,
        .scope = weak ? THREADS_NO_SCOPE : access->scope,
        .element = (uint8_t)access->element,
        .read_only = access->read_only,
        .gives = access->kind != EFFECT_WRITE && event->code->form->writes,
        .site = site_of(watch, event->code),
        .silent = silent ? event->lanes & ~event->changes : 0,
        .bytes = access->bytes,
        .used = access->used == UINT32_MAX ? 0 : access->used,
    };
}

static Open *open_of(const PtxWatch *watch, uint32_t sequence) {
    for (uint32_t i = watch->open_count; i--;)
        if (watch->open[i].sequence == sequence)
            return &watch->open[i];
    return NULL;
}

static void see_lanes(PtxWatch *watch, const PtxEvent *event, uint32_t operation, const ThreadsAccess *access) {
    uint64_t addresses[PTX_LANES] = {0};
    uint32_t lanes = 0;
    for (uint32_t left = event->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (address_of(&event->spots[lane], &addresses[lane]))
            lanes |= 1u << lane;
    }
    if (lanes)
        threads_access(watch->threads, operation, warp_of(watch, event->warp), lanes, access, addresses);
}

static void see_access(PtxWatch *watch, const PtxEvent *event) {
    ThreadsAccess access = access_of(watch, event);
    const Open *open = event->flight ? open_of(watch, event->flight->sequence) : NULL;
    if (!event->flight || (open && open->each)) {
        see_lanes(watch, event, open ? open->operation : 0, &access);
        return;
    }
    for (uint32_t i = 0; open && i < event->spot_count; i++) {
        uint64_t address;
        if (address_of(&event->spots[i], &address))
            threads_piece(watch->threads, open->operation, &access, address,
                          event->sizes ? event->sizes[i] : event->access.bytes);
    }
}

/* ---- Operations ---- */

static void see_issue(PtxWatch *watch, const PtxEvent *event) {
    const PtxFlight *flight = event->flight;
    bool warp_wide = flight->group == GROUP_WGMMA;
    uint32_t lanes = warp_wide ? event->warp->launched & ~event->warp->exited : flight->lanes;
    const Open *before = flight->after ? open_of(watch, flight->after) : NULL;
    Open open = {.sequence = flight->sequence,
                 .warp = warp_of(watch, event->warp),
                 .lanes = lanes,
                 .groups = flight->groups,
                 .group = flight->group,
                 .each = flight->group == GROUP_CP_ASYNC};
    open.operation = threads_issue(watch->threads, open.warp, lanes, !open.each, before ? before->operation : 0,
                                   site_of(watch, event->code));
    *ARENA_PUSH(watch->arena, watch->open, watch->open_count, watch->open_capacity) = open;
}

static void drop(PtxWatch *watch, uint32_t index) {
    threads_close(watch->threads, watch->open[index].operation);
    memmove(&watch->open[index], &watch->open[index + 1], (watch->open_count - index - 1) * sizeof *watch->open);
    watch->open_count--;
}

/* One whose mbarrier has been told, or that nothing can wait for, is spoken of no more. Tensor core work without a
 * group stays until a commit. */
static void see_land(PtxWatch *watch, const PtxEvent *event) {
    const PtxFlight *flight = event->flight;
    if (flight->group != GROUP_NONE || flight->place == PTX_NO_PLACE)
        return;
    for (uint32_t i = watch->open_count; i--;)
        if (watch->open[i].sequence == flight->sequence) {
            drop(watch, i);
            return;
        }
}

static uint32_t *committed_of(PtxWatch *watch, uint32_t warp, uint8_t kind) {
    return watch->groups[warp].committed[kind];
}

static void see_commit(PtxWatch *watch, const PtxEvent *event) {
    uint32_t *committed = committed_of(watch, warp_of(watch, event->warp), event->group);
    uint32_t lanes = event->group == GROUP_WGMMA ? UINT32_MAX : event->lanes;
    for (; lanes; lanes &= lanes - 1)
        committed[__builtin_ctz(lanes)]++;
}

/* Those of the lanes for which the operation is in a group that is over. */
static uint32_t lanes_done(PtxWatch *watch, const Open *open, const PtxEvent *event) {
    const uint32_t *committed = committed_of(watch, open->warp, open->group);
    bool groupless = open->group == GROUP_TENSOR_LOAD || open->group == GROUP_TENSOR_STORE;
    uint32_t done = 0;
    for (uint32_t left = event->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if ((!open->each || open->lanes >> lane & 1) &&
            (groupless || (int64_t)open->groups + event->count < (int64_t)committed[lane]))
            done |= 1u << lane;
    }
    return done;
}

static void see_await(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = warp_of(watch, event->warp), kept = 0;
    for (uint32_t i = 0; i < watch->open_count; i++) {
        Open *open = &watch->open[i];
        uint32_t done = open->warp == warp && open->group == event->group ? lanes_done(watch, open, event) : 0;
        if (done)
            threads_done(watch->threads, open->operation, event->read_only ? THREADS_READS_DONE : THREADS_ALL_DONE,
                         warp, done, open->each);
        if (done && !event->read_only) {
            open->lanes &= ~done;
            if (!open->lanes) {
                threads_close(watch->threads, open->operation);
                continue;
            }
        }
        watch->open[kept++] = *open;
    }
    watch->open_count = kept;
}

static void see_complete(PtxWatch *watch, const PtxEvent *event) {
    const Open *open = event->flight ? open_of(watch, event->flight->sequence) : NULL;
    if (open)
        threads_done_by(watch->threads, open->operation, THREADS_ALL_DONE, object_of(OBJECT_MBARRIER, event->place),
                        (uint32_t)(event->place >> 32), open->lanes);
}

/* The copies of these lanes so far will be over when the phase is. */
static void see_track(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = warp_of(watch, event->warp);
    for (uint32_t i = 0; i < watch->open_count; i++) {
        const Open *open = &watch->open[i];
        if (open->warp == warp && open->group == GROUP_CP_ASYNC && open->lanes & event->lanes)
            threads_done_by(watch->threads, open->operation, THREADS_ALL_DONE, object_of(OBJECT_MBARRIER, event->place),
                            (uint32_t)(event->place >> 32), open->lanes & event->lanes);
    }
}

/* The tensor core work of the thread so far will be. */
static void see_commit_to(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = warp_of(watch, event->warp);
    for (uint32_t i = 0; i < watch->open_count; i++) {
        const Open *open = &watch->open[i];
        if (open->warp == warp && open->group == GROUP_NONE && open->lanes & event->lanes)
            threads_done_by(watch->threads, open->operation, THREADS_ALL_DONE, object_of(OBJECT_MBARRIER, event->place),
                            (uint32_t)(event->place >> 32), open->lanes);
    }
}

/* ---- Barriers ---- */

/* The object itself is memory, too: who makes it writes it, who uses it has to know that it is made. */
static void touch_mbarrier(PtxWatch *watch, const PtxEvent *event, ThreadsKind kind, bool makes) {
    enum { MBARRIER_BYTES = 8 };
    uint64_t addresses[PTX_LANES], place = threads_shared((uint32_t)(event->place >> 32), (uint32_t)event->place);
    ThreadsAccess access = {.kind = (uint8_t)kind,
                            .order = makes ? THREADS_WEAK : THREADS_RELAXED,
                            .scope = makes ? THREADS_NO_SCOPE : THREADS_CLUSTER,
                            .element = MBARRIER_BYTES,
                            .bytes = MBARRIER_BYTES,
                            .inits = makes,
                            .site = site_of(watch, event->code)};
    for (unsigned lane = 0; lane < PTX_LANES; lane++)
        addresses[lane] = place;
    for (uint32_t left = event->lanes; left; left &= makes ? left - 1 : 0)
        threads_access(watch->threads, 0, warp_of(watch, event->warp), makes ? left & -left : left, &access, addresses);
}

static void see_mbarrier(PtxWatch *watch, const PtxEvent *event) {
    uint64_t object = object_of(OBJECT_MBARRIER, event->place);
    uint32_t warp = warp_of(watch, event->warp), cta = (uint32_t)(event->place >> 32);
    switch (event->kind) {
    case PTX_EVENT_INIT:
        touch_mbarrier(watch, event, THREADS_WRITE, true);
        threads_reset(watch->threads, object);
        break;
    case PTX_EVENT_INVALIDATE:
        touch_mbarrier(watch, event, THREADS_WRITE, true);
        break;
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
        if (event->flight) /* an arrival by hardware: what it says was told when it was asked for */
            break;
        touch_mbarrier(watch, event, THREADS_UPDATE, false);
        if (event->kind == PTX_EVENT_ARRIVE || event->arrives)
            threads_arrive(watch->threads, object, cta, warp, event->lanes, (ThreadsOrder)event->order,
                           (ThreadsScope)event->scope);
        break;
    case PTX_EVENT_TEST:
        touch_mbarrier(watch, event, THREADS_READ, false);
        break;
    case PTX_EVENT_WAIT:
        touch_mbarrier(watch, event, THREADS_READ, false);
        threads_wait(watch->threads, object, warp, event->lanes, (ThreadsOrder)event->order,
                     (ThreadsScope)event->scope);
        break;
    default:
        threads_flip(watch->threads, object);
    }
}

static void see_rendezvous(PtxWatch *watch, const PtxEvent *event) {
    const PtxCta *cta = event->warp->cta;
    uint64_t named = object_of(OBJECT_NAMED, (uint64_t)cta->number << 8 | event->barrier),
             cluster = object_of(OBJECT_CLUSTER, cta->cluster);
    uint32_t warp = warp_of(watch, event->warp);
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
        threads_arrive(watch->threads, named, cta->number, warp, event->lanes, THREADS_RELEASE, THREADS_CTA);
        break;
    case PTX_EVENT_NAMED_MEET:
        threads_flip(watch->threads, named);
        break;
    case PTX_EVENT_NAMED_SYNC:
        threads_wait(watch->threads, named, warp, event->lanes, THREADS_ACQUIRE, THREADS_CTA);
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
        threads_arrive(watch->threads, cluster, THREADS_ANY_CTA, warp, event->lanes, (ThreadsOrder)event->order,
                       THREADS_CLUSTER);
        break;
    case PTX_EVENT_CLUSTER_MEET:
        threads_flip(watch->threads, cluster);
        break;
    default:
        threads_wait(watch->threads, cluster, warp, event->lanes, (ThreadsOrder)event->order, THREADS_CLUSTER);
    }
}

static void see_fence(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = warp_of(watch, event->warp);
    static const ThreadsSpace spaces[PTX_SPACES] = {[PTX_SPACE_GLOBAL] = THREADS_GLOBAL,
                                                    [PTX_SPACE_SHARED] = THREADS_OWN_SHARED,
                                                    [PTX_SPACE_CLUSTER] = THREADS_CLUSTER_SHARED};
    if (event->inits) {
        threads_fence_inits(watch->threads, warp, event->lanes);
    } else if (event->proxy == PROXY_GENERIC) {
        threads_fence(watch->threads, warp, event->lanes, (ThreadsOrder)event->order, (ThreadsScope)event->scope,
                      event->sequential);
    } else {
        uint64_t address = 0;
        if (event->spots && event->lanes)
            (void)address_of(&event->spots[__builtin_ctz(event->lanes)], &address);
        ThreadsOrder order = event->order == ORDER_WEAK ? THREADS_ACQ_REL : (ThreadsOrder)event->order;
        threads_fence_proxy(watch->threads, warp, event->lanes, event->proxy, spaces[event->space], order,
                            (ThreadsScope)event->scope, address);
    }
}

/* ---- All of them ---- */

void ptx_watch_observe(void *to, const PtxEvent *event) {
    PtxWatch *watch = to;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        see_access(watch, event);
        break;
    case PTX_EVENT_FENCE:
        see_fence(watch, event);
        break;
    case PTX_EVENT_WARP_SYNC:
        threads_warp_sync(watch->threads, warp_of(watch, event->warp), event->lanes);
        break;
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_MEET:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_MEET:
    case PTX_EVENT_CLUSTER_WAIT:
        see_rendezvous(watch, event);
        break;
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_FLIP:
    case PTX_EVENT_TEST:
    case PTX_EVENT_WAIT:
        see_mbarrier(watch, event);
        break;
    case PTX_EVENT_COMPLETE:
        see_complete(watch, event);
        break;
    case PTX_EVENT_ISSUE:
        see_issue(watch, event);
        break;
    case PTX_EVENT_LAND:
        see_land(watch, event);
        break;
    case PTX_EVENT_COMMIT:
        see_commit(watch, event);
        break;
    case PTX_EVENT_AWAIT:
        see_await(watch, event);
        break;
    case PTX_EVENT_TRACK:
        see_track(watch, event);
        break;
    case PTX_EVENT_COMMIT_TO:
        see_commit_to(watch, event);
        break;
    case PTX_EVENT_EXIT:
        threads_exit(watch->threads, warp_of(watch, event->warp), event->lanes);
        break;
    case PTX_EVENT_CTA_OVER:
        threads_over(watch->threads, event->warp->cta->number);
        break;
    case PTX_EVENT_AWAIT_LAUNCHES:
    case PTX_EVENT_UNKNOWN:
        break;
    }
}

PtxWatch *ptx_watch(Arena *arena, PtxMachine *machine, const PtxWatchOptions *options, const char **problem) {
    PtxWatch *watch = ARENA_NEW(arena, PtxWatch);
    ThreadsShape shape = {
        .ctas = machine->cta_count, .cta_threads = machine->threads_per_cta, .cluster = machine->cluster_size};
    watch->arena = arena;
    watch->machine = machine;
    watch->options = *options;
    watch->warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    watch->threads = threads_create(&shape, problem);
    return watch->threads ? watch : NULL;
}

void ptx_watch_free(PtxWatch *watch) {
    if (watch->threads)
        threads_free(watch->threads);
    watch->threads = NULL;
    free(watch->groups);
    watch->groups = NULL;
}

void ptx_watch_start(PtxWatch *watch) {
    size_t warps = (size_t)watch->machine->cta_count * watch->warps;
    free(watch->groups);
    watch->groups = calloc(warps + 1, sizeof *watch->groups); /* untouched pages cost nothing */
    watch->open_count = 0;
    threads_restart(watch->threads);
}

void ptx_watch_end(PtxWatch *watch) {
    for (uint32_t i = watch->open_count; i--;)
        threads_close(watch->threads, watch->open[i].operation);
    watch->open_count = 0;
}

const char *ptx_watch_problem(const PtxWatch *watch) {
    return threads_problem(watch->threads);
}

/* ---- Races ---- */

static RaceSide side_of(const PtxWatch *watch, const ThreadsSide *side) {
    static const uint8_t kinds[] = {EFFECT_READ, EFFECT_WRITE, EFFECT_UPDATE};
    const ThreadsAccess *access = &side->access;
    return (RaceSide){.code = &watch->machine->program->code[access->site],
                      .cta = side->warp / watch->warps,
                      .thread = side->warp % watch->warps * PTX_LANES + side->lane,
                      .asynchronous = side->asynchronous,
                      .access = {.kind = kinds[access->kind],
                                 .proxy = access->proxy,
                                 .order = access->order,
                                 .scope = access->scope,
                                 .strong = access->order != THREADS_WEAK,
                                 .read_only = access->read_only,
                                 .element = access->element,
                                 .bytes = access->bytes,
                                 .used = access->used}};
}

/* Where that is in the machine: a block of its own, since those of CTAs do not outlive them. */
static PtxSpot spot_of(PtxWatch *watch, uint64_t address) {
    const PtxMachine *machine = watch->machine;
    for (uint32_t i = 0; i < machine->block_count; i++)
        if (machine->blocks[i].space == PTX_SPACE_GLOBAL && address >= machine->blocks[i].base &&
            address - machine->blocks[i].base < machine->blocks[i].size)
            return (PtxSpot){&machine->blocks[i], address - machine->blocks[i].base};
    enum { OFFSET_BITS = 28 };
    PtxBlock *block = ARENA_NEW(watch->arena, PtxBlock);
    *block = (PtxBlock){.space = address >> 62 == 1   ? PTX_SPACE_SHARED
                                 : address >> 62 == 2 ? PTX_SPACE_TENSOR
                                                      : PTX_SPACE_GLOBAL,
                        .size = UINT64_C(1) << OFFSET_BITS,
                        .name = "",
                        .cta = (uint32_t)(address >> OFFSET_BITS)};
    return (PtxSpot){block, address & ((UINT64_C(1) << OFFSET_BITS) - 1)};
}

static RuleId rule_of_race(const ThreadsRace *race) {
    bool first = race->first.access.kind != THREADS_READ, second = race->second.access.kind != THREADS_READ;
    switch (race->reason) {
    case THREADS_IN_FLIGHT:
        return RULE_RACE_INFLIGHT;
    case THREADS_AT_EXIT:
        return RULE_RACE_EXIT;
    case THREADS_MIXED_SIZE:
        return RULE_RACE_MIXED_SIZE;
    default:
        return first && second ? RULE_RACE_WAW : first ? RULE_RACE_RAW : RULE_RACE_WAR;
    }
}

static bool convert(PtxWatch *watch, const ThreadsRace *race, PtxRace *to) {
    static const RaceReason reasons[] = {
        [THREADS_UNORDERED] = REASON_UNORDERED,   [THREADS_SAME_INSTRUCTION] = REASON_SAME_INSTRUCTION,
        [THREADS_SAME_WARP] = REASON_SAME_WARP,   [THREADS_TOO_NARROW] = REASON_SCOPE,
        [THREADS_OTHER_PROXY] = REASON_PROXY,     [THREADS_IN_FLIGHT] = REASON_IN_FLIGHT,
        [THREADS_MIXED_SIZE] = REASON_MIXED_SIZE, [THREADS_AT_EXIT] = REASON_EXIT};
    if (race->reason == THREADS_READ_ONLY)
        return false;
    *to = (PtxRace){.rule = rule_of_race(race),
                    .first = side_of(watch, &race->first),
                    .spot = spot_of(watch, race->address),
                    .bytes = race->bytes,
                    .reason = reasons[race->reason],
                    .same_value = race->same_value,
                    .times = race->times};
    to->second = race->reason == THREADS_AT_EXIT ? to->first : side_of(watch, &race->second);
    return true;
}

const PtxRace *ptx_watch_races(PtxWatch *watch, uint32_t *count) {
    uint32_t all;
    const ThreadsRace *races = threads_races(watch->threads, &all);
    watch->race_count = 0;
    for (uint32_t i = 0; i < all; i++) {
        PtxRace race;
        if (convert(watch, &races[i], &race))
            *ARENA_PUSH(watch->arena, watch->races, watch->race_count, watch->race_capacity) = race;
    }
    *count = watch->race_count;
    return watch->races;
}

const PtxCode *ptx_watch_order_matters(const PtxWatch *watch) {
    uint32_t site = threads_order_matters(watch->threads);
    return site == THREADS_NONE ? NULL : &watch->machine->program->code[site];
}
