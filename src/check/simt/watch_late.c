/* Proxy fences that come late: a thread writes shared memory and signals others, and the fence is executed behind that,
 * by the thread that starts the copy. It lies on the way from the write to the copy, so that nothing is out of order;
 * but the documented place is in the thread that wrote, before it signals.
 *
 * Of each 16 bytes of shared memory it is kept who wrote them last, when, and how often that thread had signaled
 * before; of each thread, for its last signals, when its last fence before them was. */
#include "check/simt/watch_internal.h"

#include "ptx/effects.h"

enum { GRAIN = 16, SIGNALS = 16, MOST_LATE = 64 };

typedef struct LateWrite {
    uint64_t thread; /* of the grid, + 1; 0: no thread */
    uint32_t at, signals;
    const PtxCode *code;
} LateWrite;

typedef struct LateThread {
    uint32_t fence, signals;
    uint32_t fences[SIGNALS]; /* the last one before each of the last signals */
} LateThread;

struct WatchLate {
    uint32_t clock;
    LateWrite **writes; /* of each CTA */
    LateThread **threads;
    PtxRace found[MOST_LATE];
    uint32_t count;
};

void watch_late_start(PtxWatch *watch) {
    if (!watch->late)
        return;
    const PtxMachine *machine = watch->machine;
    watch->late->clock = 0;
    watch->late->writes = ARENA_SPARSE(&watch->run, LateWrite *, machine->cta_count);
    watch->late->threads = ARENA_SPARSE(&watch->run, LateThread *, machine->cta_count);
}

WatchLate *watch_late(Arena *arena, const PtxMachine *machine) {
    bool fences = false, copies = false;
    for (uint32_t i = 0; i < machine->program->code_count; i++) {
        const PtxForm *form = machine->program->code[i].form;
        for (unsigned j = 0; form && j < form->effect_count; j++) {
            const Effect *effect = &form->effects[j].effect;
            fences |= effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC;
            copies |= effect_is_access(effect) && effect->proxy == PROXY_ASYNC && effect->space == SPACE_SHARED;
        }
    }
    return fences && copies ? ARENA_NEW(arena, WatchLate) : NULL;
}

static uint64_t thread_of(const PtxWatch *watch, const PtxWarp *warp, uint32_t lane) {
    return (uint64_t)warp->cta->number * watch->machine->threads_per_cta + warp->index * PTX_LANES + lane;
}

static LateThread *late_thread(PtxWatch *watch, uint64_t number) {
    uint32_t threads = watch->machine->threads_per_cta;
    LateThread **cta = &watch->late->threads[number / threads];
    if (!*cta)
        *cta = ARENA_ARRAY(&watch->run, LateThread, threads);
    return &(*cta)[number % threads];
}

static bool is_shared(const PtxLocation *location) {
    return location->block &&
           (location->block->space == PTX_SPACE_SHARED || location->block->space == PTX_SPACE_CLUSTER);
}

/* What is kept of the first of the bytes; NULL: it is not memory of a CTA. */
static LateWrite *write_at(PtxWatch *watch, const PtxLocation *location, uint64_t bytes, uint32_t *count) {
    WatchLate *late = watch->late;
    if (!is_shared(location) || location->block->cta >= watch->machine->cta_count ||
        location->offset + bytes > location->block->size)
        return NULL;
    LateWrite **writes = &late->writes[location->block->cta];
    if (!*writes)
        *writes = ARENA_ARRAY(&watch->run, LateWrite, location->block->size / GRAIN + 1);
    *count = (uint32_t)((location->offset % GRAIN + bytes + GRAIN - 1) / GRAIN);
    return &(*writes)[location->offset / GRAIN];
}

static void see_write(PtxWatch *watch, const PtxEvent *event) {
    for (uint32_t rest = event->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), count = 0, thread = thread_of(watch, event->warp, lane);
        LateWrite *write = write_at(watch, &event->locations[lane], event->access.bytes, &count);
        for (uint32_t i = 0; write && i < count; i++)
            write[i] = (LateWrite){thread + 1, watch->late->clock, late_thread(watch, thread)->signals, event->code};
    }
}

static void see_lanes(PtxWatch *watch, const PtxEvent *event, bool fence) {
    for (uint32_t rest = event->lanes; rest; rest &= rest - 1) {
        LateThread *thread = late_thread(watch, thread_of(watch, event->warp, (uint32_t)__builtin_ctz(rest)));
        if (fence)
            thread->fence = watch->late->clock;
        else
            thread->fences[thread->signals++ % SIGNALS] = thread->fence;
    }
}

/* Whether the thread that wrote has signaled others, and had no fence between. */
static bool is_late(PtxWatch *watch, const LateWrite *write) {
    const LateThread *thread = late_thread(watch, write->thread - 1);
    uint32_t since = thread->signals - write->signals;
    return since > 0 && since <= SIGNALS && thread->fences[write->signals % SIGNALS] < write->at;
}

static void report(PtxWatch *watch, const PtxEvent *event, const LateWrite *write, const PtxLocation *location) {
    WatchLate *late = watch->late;
    uint32_t threads = watch->machine->threads_per_cta,
             issuer = thread_of(watch, event->warp, event->outstanding->lane);
    for (uint32_t i = 0; i < late->count; i++)
        if (late->found[i].first.code == write->code && late->found[i].second.code == event->code) {
            late->found[i].times++;
            return;
        }
    if (late->count == MOST_LATE)
        return;
    PtxBlock *block = ARENA_NEW(watch->arena, PtxBlock);
    *block = *location->block;
    late->found[late->count++] = (PtxRace){
        .rule = RULE_FENCE_LATE,
        .first = {.code = write->code,
                  .cta = (write->thread - 1) / threads,
                  .thread = (write->thread - 1) % threads,
                  .access = {.kind = KIND_WRITE}},
        .second = {.code = event->code,
                   .cta = issuer / threads,
                   .thread = issuer % threads,
                   .asynchronous = true,
                   .access = event->access},
        .location = {block, location->offset},
        .bytes = GRAIN,
        .reason = REASON_LATE,
        .times = 1,
        .role = WATCH_ROLES,
        .step = watch->machine->thread_instructions,
    };
}

static void see_outstanding(PtxWatch *watch, const PtxEvent *event) {
    uint32_t issuer = thread_of(watch, event->warp, event->outstanding->lane);
    for (uint32_t i = 0; i < event->location_count; i++) {
        uint32_t count = 0;
        const LateWrite *write =
            write_at(watch, &event->locations[i], event->sizes ? event->sizes[i] : event->access.bytes, &count);
        for (uint32_t j = 0; write && j < count; j++)
            if (write[j].thread && write[j].thread != issuer + 1 && is_late(watch, &write[j])) {
                report(watch, event, &write[j], &event->locations[i]);
                break;
            }
    }
}

void watch_late_see(PtxWatch *watch, const PtxEvent *event) {
    if (!watch->late)
        return;
    watch->late->clock++;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        if (event->outstanding && event->access.proxy == PROXY_ASYNC)
            see_outstanding(watch, event);
        else if (!event->outstanding && event->access.kind != KIND_READ)
            see_write(watch, event);
        if (!event->outstanding && order_releases(event->access.order))
            see_lanes(watch, event, false);
        break;
    case PTX_EVENT_FENCE:
        if (event->proxy == PROXY_ASYNC)
            see_lanes(watch, event, true);
        break;
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_EXPECT:
        if (!event->outstanding && (event->kind == PTX_EVENT_ARRIVE || event->arrives))
            see_lanes(watch, event, false);
        break;
    case PTX_EVENT_WARP_SYNC:
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_CLUSTER_ARRIVE:
        see_lanes(watch, event, false);
        break;
    default:
        break;
    }
}

void watch_late_end(PtxWatch *watch) {
    for (uint32_t i = 0; watch->late && i < watch->late->count; i++)
        *ARENA_PUSH(watch->arena, watch->races, watch->race_count, watch->race_capacity) = watch->late->found[i];
    if (watch->late)
        watch->late->count = 0;
}
