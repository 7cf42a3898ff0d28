/* A launch that is recorded: the memory it gets, its block, and the events around it. */
#include "exec/gpu.h"
#include "exec/hooks.h"

#include <stdlib.h>
#include <time.h>

enum { BLOCK_BYTES = GPU_ALIGN, FURTHER_SPARE = 1 << 20 };
enum { EVENT_BEGAN, EVENT_ENDED, EVENT_PACKED };

uint64_t gpu_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- Which CTAs ---------------------------------------------------------------------------------- */

/* About as many CTAs as were asked for: those of whose number some bits are 0. CTAs of a cluster stay together where
 * their numbers do: clusters that are a power of two in x. */
static void choose_sample(RecordingLaunch *launch, uint64_t ctas) {
    uint64_t wanted = gpu_options()->sample, of = 1;
    uint32_t together = launch->cluster[0];
    if (!wanted || wanted >= ctas || launch->cluster[1] > 1 || launch->cluster[2] > 1 || (together & (together - 1)))
        return;
    while (ctas / (of * 2) >= wanted && of < UINT32_MAX / 2 / together)
        of *= 2;
    launch->sample_mask = (uint32_t)(of - 1) * together;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static void take_memory(GpuFlight *flight) {
    size_t count, mapped = 0, at = 0;
    Allocation run;
    pthread_mutex_lock(&hook_mutex);
    const Allocation *all = memory_all(&count);
    while (memory_mapped(&at, &run))
        mapped++;
    flight->twice = memory_twice();
    flight->memory = count + mapped ? malloc((count + mapped) * sizeof *flight->memory) : NULL;
    for (size_t i = 0; flight->memory && i < count; i++)
        flight->memory[flight->memory_count++] = (RecordingMemory){all[i].begin, all[i].bytes};
    for (at = 0; flight->memory && memory_mapped(&at, &run);)
        flight->memory[flight->memory_count++] = (RecordingMemory){run.begin, run.bytes};
    pthread_mutex_unlock(&hook_mutex);
}

static GpuSeen *seen_before(const GpuKernel *kernel, uint64_t key) {
    for (size_t i = 0; i < kernel->seen_count; i++)
        if (kernel->seen[i].key == key)
            return &kernel->seen[i];
    return NULL;
}

static uint64_t with_spare(uint64_t further) {
    return further + further / 4 + FURTHER_SPARE;
}

/* Nobody knows how many further chunks a launch needs before one of its shape and numbers has run: half of what is
 * there, or as many as others of the kernel have used. */
static uint64_t further_wish(const GpuContext *context, const GpuKernel *kernel) {
    uint64_t half = gpu_free(context) / 2, others = kernel->further ? with_spare(kernel->further) : 0;
    return half > others ? half : others;
}

/* A piece that has room for first chunks, and for those further ones that it is known to need; others are waited for
 * if there are any. */
static DevicePointer take_piece(GpuContext *context, const GpuKernel *kernel, uint64_t key, uint64_t least,
                                uint64_t *bytes) {
    for (;;) {
        const GpuSeen *seen = seen_before(kernel, key);
        uint64_t known = seen && seen->further ? with_spare(seen->further) : 0;
        DevicePointer piece =
            gpu_take(context, least + known, least + (known ? known : further_wish(context, kernel)), bytes);
        if (piece)
            return piece;
        if (!drain_one(context))
            return known ? gpu_take(context, least, gpu_free(context), bytes) : 0;
    }
}

static int take_slot(GpuContext *context) {
    int slot;
    while ((slot = gpu_slot(context)) < 0)
        if (!drain_one(context))
            return -1;
    for (int i = 0; i < 3; i++)
        if (!context->events[slot][i] &&
            gpu_driver(NULL)->event_create(&context->events[slot][i], i == EVENT_PACKED ? EVENT_NO_TIMING : 0) != 0) {
            context->taken[slot] = false;
            return -1;
        }
    return slot;
}

/* ---- A flight ------------------------------------------------------------------------------------ */

static void describe(GpuFlight *flight, const SeenLaunch *launch, uint64_t ctas) {
    const GpuModule *module = flight->module;
    flight->launch = (RecordingLaunch){.abi = RECORDING_ABI,
                                       .flags = launch->dependent ? RECORDING_DEPENDENT : 0,
                                       .shared = launch->shared,
                                       .spaces = module->spaces,
                                       .options = module->options,
                                       .chunk = module->chunk,
                                       .fingerprint = module->fingerprint,
                                       .hang_after = gpu_options()->hang_after};
    memcpy(flight->launch.grid, launch->grid, sizeof launch->grid);
    memcpy(flight->launch.block, launch->block, sizeof launch->block);
    for (int axis = 0; axis < 3; axis++) {
        uint32_t compiled = flight->kernel->cluster[axis], asked = launch->cluster[axis];
        flight->launch.cluster[axis] = asked ? asked : compiled ? compiled : 1;
    }
    flight->launch.tag = flight->context->tag = flight->context->tag % 255 + 1;
    choose_sample(&flight->launch, ctas);
}

static void place(GpuFlight *flight, DevicePointer piece, uint64_t bytes) {
    flight->block = piece;
    flight->first = piece + BLOCK_BYTES;
    flight->more = flight->first + flight->first_bytes;
    uint64_t further = (bytes - (flight->more - piece)) / flight->launch.chunk - 1; /* the last is not counted */
    flight->more_count = further < UINT32_MAX / 2 ? further : UINT32_MAX / 2;
}

GpuFlight *flight_take(GpuContext *context, GpuKernel *kernel, GpuModule *module, uint64_t key,
                       const SeenLaunch *launch, const char **why) {
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], bytes = 0;
    uint64_t warps =
        ((uint64_t)launch->block[0] * launch->block[1] * launch->block[2] + RECORD_LANES - 1) / RECORD_LANES;
    uint64_t chunk = module->chunk, least = BLOCK_BYTES + chunk;
    *why = context->why ? context->why : "there was no memory for its records";
    if (context->why || !ctas || !warps || !chunk)
        return NULL;
    if (ctas > context->arena_bytes || warps * chunk > context->arena_bytes / ctas ||
        least + ctas * warps * chunk > context->arena_bytes) {
        *why = "its records do not fit into the memory that --record-memory gives";
        return NULL;
    }
    GpuFlight *flight = calloc(1, sizeof *flight);
    int slot = flight ? take_slot(context) : -1;
    DevicePointer piece = slot >= 0 ? take_piece(context, kernel, key, least + ctas * warps * chunk, &bytes) : 0;
    if (!piece) {
        if (slot >= 0)
            context->taken[slot] = false;
        free(flight);
        return NULL;
    }
    *flight = (GpuFlight){.context = context,
                          .kernel = kernel,
                          .module = module,
                          .key = key,
                          .slot = slot,
                          .first_bytes = ctas * warps * chunk};
    describe(flight, launch, ctas);
    place(flight, piece, bytes);
    take_memory(flight);
    context->flying++;
    return flight;
}

bool flight_begins(GpuFlight *flight, Handle stream) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = flight->context;
    GpuSlot *slot = &context->slots[flight->slot];
    Handle *events = context->events[flight->slot];
    slot->host = (RecordHost){0};
    slot->block = (RecordLaunch){.first = flight->first,
                                 .more = flight->more,
                                 .more_count = (uint32_t)flight->more_count,
                                 .tag = flight->launch.tag << 24,
                                 .patience = record_patience(flight->launch.hang_after),
                                 .host = flight->launch.hang_after ? (uintptr_t)&slot->host : 0,
                                 .sample_mask = flight->launch.sample_mask,
                                 .sample_value = flight->launch.sample_value};
    bool written = true;
    if (context->on_host)
        memcpy((void *)(uintptr_t)flight->block, &slot->block, sizeof slot->block);
    else
        written = driver->copy_to(flight->block, &slot->block, sizeof slot->block, stream) == 0;
    return written && driver->event_record(events[EVENT_BEGAN], stream) == 0;
}

void flight_undo(GpuFlight *flight, Handle stream) {
    flight->undone = true;
    if (flight->context->on_host)
        memset((void *)(uintptr_t)flight->block, 0, sizeof(RecordLaunch));
    else
        gpu_driver(NULL)->set_bytes(flight->block, 0, sizeof(RecordLaunch), stream);
    flight_made(flight, stream);
}

void flight_made(GpuFlight *flight, Handle stream) {
    flight->failed = gpu_driver(NULL)->event_record(flight->context->events[flight->slot][EVENT_ENDED], stream);
}

Handle flight_ended(const GpuFlight *flight) {
    return flight->context->events[flight->slot][EVENT_ENDED];
}

Handle flight_packed(const GpuFlight *flight) {
    return flight->context->events[flight->slot][EVENT_PACKED];
}

uint64_t flight_nanoseconds(const GpuFlight *flight) {
    const Handle *events = flight->context->events[flight->slot];
    float milliseconds = 0;
    gpu_driver(NULL)->event_between(&milliseconds, events[EVENT_BEGAN], events[EVENT_ENDED]);
    return (uint64_t)((double)milliseconds * 1e6);
}

/* How many further chunks it has asked for. */
static void note_further(GpuFlight *flight) {
    GpuKernel *kernel = flight->kernel;
    GpuSeen *seen = seen_before(kernel, flight->key);
    uint64_t further = (uint64_t)flight->launch.asked * flight->launch.chunk;
    if (kernel->further < further)
        kernel->further = further;
    if (seen && seen->further < further)
        seen->further = further;
}

void flight_land(GpuFlight *flight) {
    note_further(flight);
    gpu_give(flight->context, flight->block);
    flight->context->taken[flight->slot] = false;
    flight->context->flying--;
    flight->context->landed++;
    drain_changed();
}

void flight_free(GpuFlight *flight) {
    order_free(&flight->order);
    free(flight->parameters);
    free(flight->memory);
    free(flight);
}
