/* Steps of a launch, from the events of the machine. Lanes of a warp count as one. */
#include "machine/simt/host/steps.h"

#include "base/array.h"

#include <stdlib.h>
#include <time.h>

enum { MOST_STEPS = 1 << 20, MOST_BARRIERS = 1 << 16 };

/* A barrier, and the numbers of its phases. */
typedef struct StepBarrier {
    uint64_t place;
    uint32_t kind;
    uint32_t first, complete; /* number of the phase that is not complete; of the one before it, 0: there is none */
} StepBarrier;

struct HostSteps {
    HostStep *items;
    uint32_t count, capacity;
    StepBarrier *barriers;
    uint32_t barrier_count, barrier_capacity;
    uint32_t objects; /* phases that have a number */
    uint32_t warps_per_cta, warp_count;
    uint32_t *last; /* of each warp: its last access, + 1 */
    uint64_t *seen; /* ... and what it has read with that, if it is a strong read */
    uint64_t time;
    const char *problem;
    const StepRange *ranges; /* NULL: the machine's memory says so itself */
    uint32_t range_count;
};

HostSteps *host_steps_new(const PtxMachine *machine) {
    HostSteps *steps = calloc(1, sizeof *steps);
    if (!steps)
        return NULL;
    steps->warps_per_cta = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    steps->warp_count = machine->cta_count * steps->warps_per_cta;
    steps->last = calloc((size_t)steps->warp_count + 1, sizeof *steps->last);
    steps->seen = calloc((size_t)steps->warp_count + 1, sizeof *steps->seen);
    if (steps->last && steps->seen)
        return steps;
    host_steps_free(steps);
    return NULL;
}

void host_steps_free(HostSteps *steps) {
    if (!steps)
        return;
    free(steps->items);
    free(steps->barriers);
    free(steps->last);
    free(steps->seen);
    free(steps);
}

void host_steps_within(HostSteps *steps, const StepRange *ranges, uint32_t count) {
    steps->ranges = ranges;
    steps->range_count = count;
}

static uint64_t now(HostSteps *steps) {
    static const uint64_t second = 1000000000;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t ns = (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
    steps->time = ns > steps->time ? ns : steps->time + 1;
    return steps->time;
}

static void add(HostSteps *steps, HostStep step) {
    step.time = now(steps);
    if (steps->count == MOST_STEPS)
        steps->problem = "it has too many accesses to memory that other processes have";
    else if (!ARRAY_ROOM(steps->items, steps->count, steps->capacity, 256))
        steps->problem = "there is not enough memory for its accesses";
    else
        steps->items[steps->count++] = step;
    if (step.what == STEP_ACCESS)
        steps->last[step.warp] = steps->count;
}

/* ---- Accesses ---- */

/* The address of a location; 0: it is of no memory that steps are made of. *bytes: what is there, if that is known. */
static uint64_t address_of(const HostSteps *steps, const PtxLocation *location, bool strong, const uint8_t **bytes) {
    const PtxBlock *block = location->block;
    const PtxHost *host = block->host;
    *bytes = NULL;
    if (host) {
        *bytes = location->offset + sizeof(uint64_t) <= host->size ? host->bytes + location->offset : NULL;
        return host->shared || strong ? (uintptr_t)host->bytes + location->offset : 0;
    }
    uint64_t address = steps->ranges && block->space == PTX_SPACE_GLOBAL ? block->base + location->offset : 0;
    bool within = strong;
    for (uint32_t i = 0; i < steps->range_count && !within; i++)
        within = address - steps->ranges[i].begin < steps->ranges[i].bytes;
    return within ? address : 0;
}

static uint64_t value_at(const uint8_t *from, uint64_t bytes) {
    uint64_t value = 0;
    if (from && bytes <= sizeof value)
        memcpy(&value, from, bytes);
    return value;
}

/* A warp that polls reads the same again and again: the last time counts. */
static bool is_again(HostSteps *steps, const HostStep *step, uint64_t value) {
    uint32_t last = steps->last[step->warp];
    HostStep *before = last ? &steps->items[last - 1] : NULL;
    bool again = before && before->what == STEP_ACCESS && before->kind == KIND_READ && step->kind == KIND_READ &&
                 before->order == step->order && before->order != ORDER_WEAK && before->code == step->code &&
                 before->address == step->address && steps->seen[step->warp] == value;
    steps->seen[step->warp] = value;
    return again;
}

/* The list is in the order of times: what is said again is taken out where it was. What a recording found is not known
 * here. */
static void add_access(HostSteps *steps, HostStep step, const uint8_t *bytes) {
    bool polls = step.kind == KIND_READ && step.order != ORDER_WEAK && !steps->ranges;
    if (polls && is_again(steps, &step, value_at(bytes, step.bytes)))
        steps->items[steps->last[step.warp] - 1].bytes = 0;
    add(steps, step);
}

static Order order_of(const PtxAccess *access, bool strong, bool stores) {
    if (!strong)
        return ORDER_WEAK;
    Order order = access->order == ORDER_WEAK ? ORDER_RELAXED : (Order)access->order;
    if (access->kind != KIND_UPDATE || stores)
        return order;
    return order == ORDER_ACQ_REL ? ORDER_ACQUIRE : order == ORDER_RELEASE ? ORDER_RELAXED : order;
}

static void see_lanes(HostSteps *steps, const PtxEvent *event, uint32_t lanes, bool stores) {
    const PtxAccess *access = &event->access;
    bool strong = access->strong || access->is_volatile;
    HostStep step = {.code = event->code,
                     .warp = event->warp->cta->number * steps->warps_per_cta + event->warp->index,
                     .kind = access->kind == KIND_UPDATE && !stores ? KIND_READ : access->kind,
                     .order = (uint8_t)order_of(access, strong, stores),
                     .scope = !strong                       ? SCOPE_NONE
                              : access->scope == SCOPE_NONE ? SCOPE_SYS
                                                            : access->scope};
    const uint8_t *first = NULL, *bytes;
    uint64_t end = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t address = address_of(steps, &event->locations[__builtin_ctz(lanes)], strong, &bytes);
        if (!address)
            continue;
        bool within = end && address >= step.address && address + access->bytes <= end;
        bool apart = address != end || strong;
        if (within && step.kind != KIND_UPDATE)
            continue;
        if (end && apart) {
            step.bytes = end - step.address;
            add_access(steps, step, first);
        }
        first = apart ? bytes : first;
        step.address = apart ? address : step.address;
        end = address + access->bytes;
    }
    step.bytes = end - step.address;
    if (end)
        add_access(steps, step, first);
}

static void see_access(HostSteps *steps, const PtxEvent *event) {
    if (event->outstanding) {
        for (uint32_t i = 0; i < event->location_count; i++) {
            const uint8_t *bytes;
            if (event->locations[i].block && address_of(steps, &event->locations[i], false, &bytes))
                steps->problem = "an asynchronous copy accesses memory that other processes have";
        }
        return;
    }
    bool update = event->access.kind == KIND_UPDATE;
    see_lanes(steps, event, update ? event->lanes & event->changes : event->lanes, true);
    if (update) /* a compare that failed is a read */
        see_lanes(steps, event, event->lanes & ~event->changes, false);
}

/* ---- Barriers ---- */

enum { BARRIER_NAMED, BARRIER_CLUSTER, BARRIER_MEMORY };

/* NULL: there is no memory, or there are too many. */
static StepBarrier *barrier_of(HostSteps *steps, uint32_t kind, uint64_t place) {
    for (uint32_t i = 0; i < steps->barrier_count; i++)
        if (steps->barriers[i].place == place && steps->barriers[i].kind == kind)
            return &steps->barriers[i];
    if (steps->barrier_count == MOST_BARRIERS ||
        !ARRAY_ROOM(steps->barriers, steps->barrier_count, steps->barrier_capacity, 16)) {
        steps->problem = "it has too many barriers";
        return NULL;
    }
    StepBarrier *made = &steps->barriers[steps->barrier_count++];
    *made = (StepBarrier){.place = place, .kind = kind, .first = ++steps->objects};
    return made;
}

static void see_barrier(HostSteps *steps, const PtxEvent *event, uint32_t kind, uint64_t place, HostStepKind what) {
    bool alone = steps->warps_per_cta == 1 && kind != BARRIER_CLUSTER; /* a warp is in order by itself */
    const StepBarrier *barrier = alone ? NULL : barrier_of(steps, kind, place);
    if (barrier)
        add(steps, (HostStep){.code = event->code,
                              .what = (uint8_t)what,
                              .warp = event->warp->cta->number * steps->warps_per_cta + event->warp->index,
                              .address = what == STEP_ARRIVE ? barrier->first : barrier->complete});
}

static void complete(HostSteps *steps, uint32_t kind, uint64_t place) {
    StepBarrier *barrier = barrier_of(steps, kind, place);
    if (!barrier)
        return;
    barrier->complete = barrier->first;
    barrier->first = ++steps->objects;
}

void host_steps_observe(HostSteps *steps, const PtxEvent *event) {
    uint64_t named = event->warp ? (uint64_t)event->warp->cta->number << 32 | event->barrier : 0;
    uint64_t cluster = event->warp ? event->warp->cta->cluster : 0;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        see_access(steps, event);
        break;
    case PTX_EVENT_FENCE:
        if (event->proxy == PROXY_GENERIC && event->space != PTX_SPACE_TENSOR && !event->inits)
            add(steps, (HostStep){.code = event->code,
                                  .what = STEP_FENCE,
                                  .warp = event->warp->cta->number * steps->warps_per_cta + event->warp->index,
                                  .order = event->order,
                                  .scope = event->scope});
        break;
    case PTX_EVENT_NAMED_ARRIVE:
        see_barrier(steps, event, BARRIER_NAMED, named, STEP_ARRIVE);
        break;
    case PTX_EVENT_NAMED_COMPLETE:
        complete(steps, BARRIER_NAMED, named);
        break;
    case PTX_EVENT_NAMED_SYNC:
        see_barrier(steps, event, BARRIER_NAMED, named, STEP_PASS);
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
        see_barrier(steps, event, BARRIER_CLUSTER, cluster, STEP_ARRIVE);
        break;
    case PTX_EVENT_CLUSTER_COMPLETE:
        complete(steps, BARRIER_CLUSTER, cluster);
        break;
    case PTX_EVENT_CLUSTER_WAIT:
        see_barrier(steps, event, BARRIER_CLUSTER, cluster, STEP_PASS);
        break;
    case PTX_EVENT_ARRIVE:
        if (!event->outstanding)
            see_barrier(steps, event, BARRIER_MEMORY, event->place, STEP_ARRIVE);
        break;
    case PTX_EVENT_FLIP:
        complete(steps, BARRIER_MEMORY, event->place);
        break;
    case PTX_EVENT_WAIT:
        see_barrier(steps, event, BARRIER_MEMORY, event->place, STEP_PASS);
        break;
    default:
        break;
    }
}

const HostStep *host_steps_all(const HostSteps *steps, uint32_t *count, const char **problem) {
    static const HostStep none;
    *count = steps->count;
    *problem = steps->problem;
    return steps->problem ? NULL : steps->items ? steps->items : &none;
}
