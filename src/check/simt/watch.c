/* From the events of the machine to the engine for threads: accesses, fences, barriers. */
#include "check/simt/watch_internal.h"

#include "ptx/effects.h"

#include <string.h>

static const size_t most_memory = (size_t)3 << 30;

/* ---- Names ---- */

uint32_t ptx_watch_cta(const PtxWatch *watch, uint32_t cta) {
    const WatchSlot *seat = watch->options.seat;
    uint32_t size = watch->machine->cluster_size;
    return seat ? seat->first_cta + cta / size * seat->cluster + cta % size : cta;
}

uint64_t watch_place(const PtxWatch *watch, uint64_t place) {
    return (uint64_t)ptx_watch_cta(watch, (uint32_t)(place >> 32)) << 32 | (uint32_t)place;
}

uint32_t watch_warp(const PtxWatch *watch, const PtxWarp *warp) {
    return ptx_watch_cta(watch, warp->cta->number) * watch->cta_warps + warp->index;
}

uint32_t watch_site(const PtxWatch *watch, const PtxCode *code) {
    uint32_t site = (uint32_t)(code - watch->machine->program->code);
    return watch->options.seat ? site + watch->options.seat->first_site : site;
}

static uint64_t named_object(uint32_t cta, uint32_t id) {
    return UINT64_C(2) << 60 | (uint64_t)cta << 8 | id;
}
static uint64_t cluster_object(uint32_t first_cta) {
    return UINT64_C(3) << 60 | first_cta;
}

/* Where a block is in the engine; UINT64_MAX: nothing else has it. */
static uint64_t block_base(const PtxWatch *watch, const PtxBlock *block) {
    const WatchSlot *seat = watch->options.seat;
    switch (block->space) {
    case PTX_SPACE_GLOBAL:
        return block->base + (seat && block->base - PTX_WINDOW_GLOBAL < PTX_WINDOW_SIZE ? seat->variables : 0);
    case PTX_SPACE_TENSOR:
        return threads_tensor(ptx_watch_cta(watch, block->cta), 0);
    case PTX_SPACE_SHARED:
    case PTX_SPACE_CLUSTER:
        return threads_shared(ptx_watch_cta(watch, block->cta), 0);
    default:
        return UINT64_MAX;
    }
}

uint32_t watch_addresses(const PtxWatch *watch, const PtxLocation *locations, uint32_t lanes,
                         uint64_t addresses[PTX_LANES]) {
    const PtxBlock *last = NULL;
    uint64_t base = 0;
    uint32_t taken = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        const PtxBlock *block = locations[lane].block;
        if (block != last) {
            last = block;
            base = block_base(watch, block);
        }
        addresses[lane] = base + locations[lane].offset;
        if (base != UINT64_MAX)
            taken |= rest & -rest;
    }
    return taken;
}

/* ---- Accesses ---- */

/* Whether the value that it reads goes to a register. */
static bool gives_value(const PtxWatch *watch, const PtxEvent *event) {
    if (event->access.kind == KIND_WRITE || event->outstanding || !event->code->count || event->code->dead)
        return false;
    const PtxArgument *first = code_argument(watch->machine->program, event->code, 0);
    return first->kind != ARGUMENT_ADDRESS && first->kind != ARGUMENT_SINK;
}

/* Where sequential fences are not in one order by themselves, they are by what is written and read between them: a
 * fence before a write, of whichever thread, and one behind what reads it are in an order that cannot be another. */
static uint8_t order_apart(const PtxWatch *watch, const PtxAccess *access, uint8_t order) {
    if (watch->role == WATCHES_CANONICAL)
        return ORDER_RELAXED;
    if (!watch->options.apart_fences && watch->role != WATCHES_STARTS)
        return order;
    return access->kind == KIND_READ ? ORDER_ACQUIRE : access->kind == KIND_WRITE ? ORDER_RELEASE : ORDER_ACQ_REL;
}

ThreadsAccess watch_access(const PtxWatch *watch, const PtxEvent *event) {
    const PtxAccess *access = &event->access;
    bool strong = access->strong && !(access->is_volatile && watch->options.volatile_races);
    return (ThreadsAccess){
        .kind = access->kind,
        .proxy = access->proxy,
        .order = strong ? order_apart(watch, access, access->order == ORDER_WEAK ? ORDER_RELAXED : access->order)
                        : ORDER_WEAK,
        .scope = !strong                                                        ? SCOPE_NONE
                 : access->scope == SCOPE_NONE || watch->role == WATCHES_STARTS ? SCOPE_SYS
                                                                                : access->scope,
        .element = (uint8_t)access->element,
        .read_only = access->read_only && !watch->options.seat, /* another launch may have written it before */
        .gives = gives_value(watch, event),
        .loose = strong && access->is_volatile && !event->code->polls,
        .site = watch_site(watch, event->code),
        .silent = access->kind == KIND_READ ? 0 : event->lanes & ~event->changes,
        .bytes = access->bytes,
        .used = access->used,
    };
}

/* Lanes that do not use what they read: it is the same to them whether something writes it meanwhile. */
static uint32_t unused_lanes(const PtxWatch *watch, const PtxWarp *warp, const ThreadsAccess *access) {
    if (access->kind != KIND_READ || access->order != ORDER_WEAK)
        return 0;
    uint32_t site = access->site - (watch->options.seat ? watch->options.seat->first_site : 0);
    return code_unused(&watch->machine->program->code[site], warp->index);
}

static void see_access(PtxWatch *watch, const PtxEvent *event) {
    uint64_t addresses[PTX_LANES];
    uint32_t warp = watch_warp(watch, event->warp);
    ThreadsAccess access = watch_access(watch, event);
    if (watch->role != WATCHES_MEMORY && access.order == ORDER_WEAK)
        return;
    uint32_t lanes = event->lanes & ~unused_lanes(watch, event->warp, &access);
    lanes = watch_addresses(watch, event->locations, lanes, addresses);
    if (access.kind != KIND_UPDATE) {
        threads_access(watch->engine, 0, warp, lanes, &access, addresses);
        return;
    }
    /* A compare that failed is a read. */
    uint32_t reads = lanes & ~event->changes;
    threads_access(watch->engine, 0, warp, lanes & event->changes, &access, addresses);
    access.kind = KIND_READ;
    access.order = access.order == ORDER_ACQ_REL   ? ORDER_ACQUIRE
                   : access.order == ORDER_RELEASE ? ORDER_RELAXED
                                                   : access.order;
    threads_access(watch->engine, 0, warp, reads, &access, addresses);
}

void ptx_watch_reported(const PtxWatch *watch, const PtxCode *code, const PtxAccess *access, ThreadsAccess *reported) {
    PtxEvent event = {.code = code, .access = *access, .changes = UINT32_MAX};
    *reported = watch_access(watch, &event);
    if (threads_is_whole(reported))
        reported->used = 0; /* which need not be asked again of each access */
}

void ptx_watch_access(PtxWatch *watch, const PtxWarp *warp, uint32_t lanes, const ThreadsAccess *reported,
                      const uint64_t addresses[PTX_LANES]) {
    watch->open.operation = 0;
    lanes &= ~unused_lanes(watch, warp, reported);
    threads_access(watch->engine, 0, watch_warp(watch, warp), lanes, reported, addresses);
    watch_take_races(watch, NULL);
}

bool ptx_watch_beside(PtxWatch *watch, const PtxWarp *warp, const ThreadsAccess *reported, uint64_t first) {
    watch->open.operation = 0;
    if (unused_lanes(watch, warp, reported))
        return false;
    bool done = threads_access_coalesced(watch->engine, watch_warp(watch, warp), reported, first);
    watch_take_races(watch, NULL);
    return done;
}

/* ---- Fences ---- */

static ThreadsSpace space_of(const PtxEvent *event) {
    switch (event->space) {
    case PTX_SPACE_GLOBAL:
        return THREADS_GLOBAL;
    case PTX_SPACE_CLUSTER:
        return THREADS_CLUSTER_SHARED;
    case PTX_SPACE_SHARED:
        return code_has(event->code, STR("shared::cluster")) ? THREADS_CLUSTER_SHARED : THREADS_OWN_SHARED;
    default:
        return THREADS_EVERYWHERE;
    }
}

static void see_proxy_fence(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = watch_warp(watch, event->warp);
    bool halves = event->order == ORDER_RELEASE || event->order == ORDER_ACQUIRE;
    Order order = halves ? (Order)event->order : ORDER_ACQ_REL;
    if (!event->locations || order != ORDER_ACQUIRE) {
        threads_fence_proxy(watch->engine, warp, event->lanes, event->proxy, space_of(event), order, event->scope, 0);
        return;
    }
    uint64_t addresses[PTX_LANES];
    for (uint32_t rest = watch_addresses(watch, event->locations, event->lanes, addresses); rest; rest &= rest - 1)
        threads_fence_proxy(watch->engine, warp, rest & -rest, event->proxy, space_of(event), order, event->scope,
                            addresses[__builtin_ctz(rest)]);
}

static void see_fence(PtxWatch *watch, const PtxEvent *event) {
    uint32_t warp = watch_warp(watch, event->warp);
    bool tensor = event->space == PTX_SPACE_TENSOR;
    if (watch->role == WATCHES_CANONICAL ? !tensor : tensor && watch->role != WATCHES_TENSOR)
        return;
    if (tensor) {
        watch_pipe(watch, event);
        threads_fence(watch->engine, warp, event->lanes, event->order, SCOPE_GPU, false);
    } else if (event->inits) {
        threads_fence_inits(watch->engine, warp, event->lanes);
    } else if (event->proxy != PROXY_GENERIC) {
        see_proxy_fence(watch, event);
    } else {
        threads_fence(watch->engine, warp, event->lanes, event->order, event->scope,
                      event->sequential && !watch->options.apart_fences);
    }
}

/* ---- Barriers ---- */

void watch_mbarrier(PtxWatch *watch, const PtxEvent *event, AccessKind kind, bool weak) {
    uint64_t addresses[PTX_LANES];
    if (watch->role != WATCHES_MEMORY)
        return;
    uint64_t place = watch_place(watch, event->place);
    for (uint32_t i = 0; i < PTX_LANES; i++)
        addresses[i] = threads_shared((uint32_t)(place >> 32), (uint32_t)place);
    ThreadsAccess access = {
        .kind = (uint8_t)kind,
        .order = weak ? ORDER_WEAK : ORDER_RELAXED,
        .scope = weak ? SCOPE_NONE : SCOPE_CLUSTER,
        .element = 8,
        .bytes = 8,
        .inits = event->kind == PTX_EVENT_INIT,
        .object = true,
        .site = watch_site(watch, event->code),
    };
    threads_access(watch->engine, 0, watch_warp(watch, event->warp), event->lanes, &access, addresses);
}

static Order half_of(const PtxWatch *watch, uint8_t order, Order half) {
    if (watch->role == WATCHES_STARTS)
        return half;
    return order == ORDER_RELAXED || watch->role == WATCHES_CANONICAL ? ORDER_RELAXED : half;
}
static Scope scope_of(const PtxWatch *watch, uint8_t scope) {
    return watch->role == WATCHES_STARTS ? SCOPE_SYS : scope ? scope : SCOPE_CTA;
}

static void see_arrival(PtxWatch *watch, const PtxEvent *event) {
    uint64_t place = watch_place(watch, event->place), object = mbarrier_object(place);
    uint32_t cta = (uint32_t)(place >> 32);
    watch_mbarrier(watch, event, KIND_UPDATE, false);
    if (event->kind == PTX_EVENT_ARRIVE || event->arrives)
        threads_arrive(watch->engine, object, cta, watch_warp(watch, event->warp), event->lanes,
                       half_of(watch, event->order, ORDER_RELEASE), scope_of(watch, event->scope));
}

static void see_mbarrier(PtxWatch *watch, const PtxEvent *event) {
    uint64_t object = mbarrier_object(watch_place(watch, event->place));
    switch (event->kind) {
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
        watch_mbarrier(watch, event, KIND_WRITE, true);
        threads_reset(watch->engine, object);
        break;
    case PTX_EVENT_FLIP:
        threads_flip(watch->engine, object);
        break;
    case PTX_EVENT_TEST: /* orders nothing */
        watch_mbarrier(watch, event, KIND_READ, false);
        break;
    case PTX_EVENT_WAIT:
        watch_mbarrier(watch, event, KIND_READ, false);
        threads_wait(watch->engine, object, watch_warp(watch, event->warp), event->lanes,
                     half_of(watch, event->order, ORDER_ACQUIRE), scope_of(watch, event->scope));
        break;
    default:
        if (event->outstanding)
            watch_outstanding_done(watch, event);
        else
            see_arrival(watch, event);
    }
}

static void see_barrier(PtxWatch *watch, const PtxEvent *event) {
    Threads *engine = watch->engine;
    const PtxCta *cta = event->warp->cta;
    uint32_t warp = watch_warp(watch, event->warp);
    uint32_t number = ptx_watch_cta(watch, cta->number);
    uint64_t named = named_object(number, event->barrier), cluster = cluster_object(number - cta->rank);
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
        threads_arrive(engine, named, number, warp, event->lanes, half_of(watch, ORDER_RELEASE, ORDER_RELEASE),
                       SCOPE_CTA);
        break;
    case PTX_EVENT_NAMED_COMPLETE:
        threads_flip(engine, named);
        break;
    case PTX_EVENT_NAMED_SYNC:
        threads_wait(engine, named, warp, event->lanes, half_of(watch, ORDER_ACQUIRE, ORDER_ACQUIRE), SCOPE_CTA);
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
        threads_arrive(engine, cluster, THREADS_ANY_CTA, warp, event->lanes,
                       half_of(watch, event->order, ORDER_RELEASE), SCOPE_CLUSTER);
        break;
    case PTX_EVENT_CLUSTER_COMPLETE:
        threads_flip(engine, cluster);
        break;
    default:
        threads_wait(engine, cluster, warp, event->lanes, half_of(watch, event->order, ORDER_ACQUIRE), SCOPE_CLUSTER);
    }
}

void ptx_watch_meet(PtxWatch *watch, const PtxCta *cta, uint32_t barrier) {
    uint32_t number = ptx_watch_cta(watch, cta->number);
    watch->open.operation = 0;
    threads_meet(watch->engine, named_object(number, barrier), number);
    for (unsigned i = 0; i < WATCH_ROLES; i++)
        if (watch->others[i])
            threads_meet(watch->others[i]->engine, named_object(number, barrier), number);
    watch_take_races(watch, NULL);
}

/* ---- Everything ---- */

static void see(PtxWatch *watch, const PtxEvent *event) {
    if (watch->role == WATCHES_STARTS && event->warp && !event->outstanding) {
        watch_started(watch, event);
        watch_reaches(watch, event);
    }
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        if (event->outstanding)
            watch_outstanding_access(watch, event);
        else
            see_access(watch, event);
        break;
    case PTX_EVENT_FENCE:
        see_fence(watch, event);
        break;
    case PTX_EVENT_WARP_SYNC:
        threads_warp_sync(watch->engine, watch_warp(watch, event->warp), event->lanes);
        break;
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_COMPLETE:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_COMPLETE:
    case PTX_EVENT_CLUSTER_WAIT:
        see_barrier(watch, event);
        break;
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
    case PTX_EVENT_FLIP:
    case PTX_EVENT_TEST:
    case PTX_EVENT_WAIT:
        see_mbarrier(watch, event);
        break;
    case PTX_EVENT_ISSUE:
        watch_issue(watch, event);
        break;
    case PTX_EVENT_LAND:
        watch_land(watch, event);
        break;
    case PTX_EVENT_COMMIT:
        watch_commit(watch, event);
        break;
    case PTX_EVENT_AWAIT:
        watch_await(watch, event);
        break;
    case PTX_EVENT_TRACK:
    case PTX_EVENT_COMMIT_TO:
        watch_arrival(watch, event);
        break;
    case PTX_EVENT_EXIT:
        threads_exit(watch->engine, watch_warp(watch, event->warp), event->lanes);
        break;
    case PTX_EVENT_CTA_OVER:
        threads_over(watch->engine, ptx_watch_cta(watch, event->warp->cta->number));
        watch_cta_over(watch, event->warp->cta->number);
        break;
    case PTX_EVENT_PEER:
    case PTX_EVENT_AWAIT_LAUNCHES:
    case PTX_EVENT_TRIGGER_LAUNCHES:
    case PTX_EVENT_UNKNOWN:
        break;
    }
}

void ptx_watch_blind(PtxWatch *watch, bool blind) {
    threads_blind(watch->engine, blind);
    for (unsigned i = 0; i < WATCH_ROLES; i++)
        if (watch->others[i])
            threads_blind(watch->others[i]->engine, blind);
}

bool ptx_watch_blind_missed(const PtxWatch *watch) {
    return threads_blind_missed(watch->engine);
}

void ptx_watch_observe(void *to, const PtxEvent *event) {
    PtxWatch *watch = to;
    watch->open.operation = 0;
    see(watch, event);
    watch_late_see(watch, event);
    for (unsigned i = WATCHES_TENSOR; i < WATCH_ROLES; i++)
        if (watch->others[i])
            see(watch->others[i], event);
    watch_take_races(watch, event);
}

/* ---- Its life ---- */

static bool uses_tensor_memory(const PtxProgram *program) {
    for (uint32_t i = 0; i < program->code_count; i++) {
        const PtxForm *form = program->code[i].form;
        for (unsigned j = 0; form && j < form->effect_count; j++)
            if (form->effects[j].effect.space == SPACE_TENSOR && effect_is_access(&form->effects[j].effect))
                return true;
    }
    return false;
}

static PtxWatch *watch_with(Arena *arena, PtxMachine *machine, const PtxWatchOptions *options, WatchRole role,
                            const char **problem) {
    ThreadsShape shape = {.ctas = machine->cta_count,
                          .cta_threads = machine->threads_per_cta,
                          .cluster = machine->cluster_size,
                          .memory = options->memory ? options->memory : most_memory,
                          .history = options->history};
    const WatchSlot *seat = options->seat;
    Threads *engine = seat ? seat->engine : threads_create(&shape, problem);
    if (!engine)
        return NULL;
    PtxWatch *watch = ARENA_NEW(arena, PtxWatch);
    watch->arena = arena;
    watch->machine = machine;
    watch->options = *options;
    watch->role = role;
    watch->engine = engine;
    watch->cta_warps = seat ? seat->cta_warps : (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    return watch;
}

/* Launches that are watched together have no more in common than global memory. */
PtxWatch *ptx_watch(Arena *arena, PtxMachine *machine, const PtxWatchOptions *options, const char **problem) {
    PtxWatch *watch = watch_with(arena, machine, options, WATCHES_MEMORY, problem);
    PtxWatchOptions others = *options;
    others.history = false;
    if (!watch || options->seat)
        return watch;
    bool tensor = uses_tensor_memory(machine->program);
    watch->late = options->beyond ? watch_late(arena, machine) : NULL;
    for (unsigned i = WATCHES_TENSOR; i < WATCH_ROLES; i++) {
        if (i == WATCHES_STARTS ? machine->cluster_size < 2 || !options->beyond : !tensor)
            continue;
        watch->others[i] = watch_with(arena, machine, &others, i, problem);
        if (!watch->others[i]) {
            ptx_watch_free(watch);
            return NULL;
        }
    }
    return watch;
}

void ptx_watch_free(PtxWatch *watch) {
    if (!watch)
        return;
    for (unsigned i = 0; i < WATCH_ROLES; i++)
        ptx_watch_free(watch->others[i]);
    if (!watch->options.seat)
        threads_free(watch->engine);
    arena_free(&watch->run);
    watch->engine = NULL;
}

void ptx_watch_start(PtxWatch *watch) {
    arena_free(&watch->run);
    arena_init(&watch->run, most_memory);
    watch->run.exhausted = watch->arena->exhausted;
    watch->warps = ARENA_SPARSE(&watch->run, WatchedWarp **, watch->machine->cta_count);
    watch->outstanding_ops = (WatchedLaunches){0};
    watch->open.operation = 0;
    watch->covered = NULL;
    watch->covered_count = watch->covered_capacity = 0;
    watch->arrival = NULL;
    if (!watch->options.seat)
        threads_restart(watch->engine);
    watch_late_start(watch);
    watch->started =
        watch->role == WATCHES_STARTS ? ARENA_ARRAY(&watch->run, uint8_t, watch->machine->cta_count) : NULL;
    for (unsigned i = 0; i < WATCH_ROLES; i++)
        if (watch->others[i])
            ptx_watch_start(watch->others[i]);
}

const char *ptx_watch_problem(const PtxWatch *watch) {
    const char *problem = threads_trouble(watch->engine);
    for (unsigned i = 0; i < WATCH_ROLES && !problem; i++)
        problem = watch->others[i] ? threads_trouble(watch->others[i]->engine) : NULL;
    return problem;
}
