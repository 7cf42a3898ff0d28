/* A launch that is recorded: the memory it gets, its block, and the events around it. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <time.h>

#define MUCH (UINT64_C(128) << 20) /* bytes of records of a launch: one of equal ones is enough */
enum { BLOCK_BYTES = GPU_ALIGN, FURTHER_SPARE = 1 << 20 };
/* Chunks of kernels with loops, or more. Of a launch that is like none before, so that it is not cut short beside 31
 * others: a share of all memory; of one that is equal to others, what these needed, a quarter of that, and a share. */
enum { LOOPS_CHUNK = 4096, UNKNOWN_SHARE = 32, SPARE_SHARE = 64, RATE_SHARE = 4 };
/* Of a launch that does not fit as a whole so much is recorded as fits into a share: it is a sample in any case, which
 * takes time to check, and room on disk. */
enum { SAMPLE_SHARE = 8 };
enum { EVENT_BEGAN, EVENT_ENDED, EVENT_PACKED };

uint64_t gpu_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
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

/* What a launch gets: the CTAs that are recorded (RecordingLaunch), and bytes for their chunks. */
typedef struct Wish {
    uint64_t first;       /* of first chunks */
    uint64_t least, most; /* of further ones; most: if that is there */
} Wish;

/* How many CTAs fit, of a launch of which each needs so many bytes for first chunks and so many for further ones. A
 * kernel with loops whose chunks are of no known number leaves them half of what there is. */
static uint64_t ctas_that_fit(uint64_t room, const RecordingLaunch *launch, uint64_t each, uint64_t rate, bool known) {
    uint64_t kept = BLOCK_BYTES + 2 * (uint64_t)launch->chunk;
    if (known)
        kept += room / SPARE_SHARE;
    else if (launch->chunk >= LOOPS_CHUNK)
        kept += room / 2;
    return room > kept ? (room - kept) / (each + rate + rate / RATE_SHARE) : 0;
}

/* False: not even a part of the launch fits. The more of its kind have run, the more is known of what it needs: of none
 * of its kernel it may be anything, and an equal one needs what that did. */
static bool wish_for(GpuContext *context, GpuKernel *kernel, uint64_t key, RecordingLaunch *launch, Wish *wish) {
    const GpuSeen *seen = seen_before(kernel, key);
    bool known = seen && seen->landed;
    uint64_t room = gpu_most(context), rate = known ? seen->further : kernel->further_each;
    uint64_t each = (uint64_t)launch_warps(launch) * launch->chunk, asked = gpu_options()->sample;
    uint64_t fit = ctas_that_fit(room, launch, each, rate, known), usual = context->usual;
    uint64_t few = ctas_that_fit(usual / SAMPLE_SHARE, launch, each, rate, known);
    if (asked && asked < fit)
        fit = asked;
    else if (fit < launch_ctas(launch) && few < fit)
        fit = few;
    if (!sample_choose(launch, fit) && !sample_choose(launch, ctas_that_fit(room, launch, each, rate, known)))
        return false;
    uint64_t ctas = sample_ctas(launch), further = ctas * (rate + rate / RATE_SHARE), spare = usual / SPARE_SHARE;
    wish->first = ctas * each;
    uint64_t rest = room - BLOCK_BYTES - launch->chunk - wish->first, half = gpu_free(context) / 2;
    wish->least = further + (known ? spare < FURTHER_SPARE ? spare : FURTHER_SPARE : usual / UNKNOWN_SHARE);
    wish->least = wish->least < rest ? wish->least : rest;
    wish->most = known || half < wish->least ? wish->least : half;
    return true;
}

/* A piece that has room for first chunks, and for as many further ones as it is likely to need; others are waited for
 * if there are any. */
static DevicePointer take_piece(GpuContext *context, GpuKernel *kernel, uint64_t key, RecordingLaunch *launch,
                                Wish *wish, uint64_t *bytes) {
    do {
        uint64_t kept = BLOCK_BYTES + launch->chunk;
        if (!wish_for(context, kernel, key, launch, wish))
            return 0;
        kept += wish->first;
        DevicePointer piece = gpu_take(context, kept + wish->least, kept + wish->most, bytes);
        if (piece)
            return piece;
    } while (drain_one(context));
    if (!wish_for(context, kernel, key, launch, wish)) /* the arena may have got less than it was to get */
        return 0;
    return gpu_take(context, BLOCK_BYTES + launch->chunk + wish->first, gpu_free(context), bytes);
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

static void describe(GpuFlight *flight, const SeenLaunch *launch) {
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
}

static void place(GpuFlight *flight, DevicePointer piece, uint64_t bytes) {
    flight->block = piece;
    flight->first = piece + BLOCK_BYTES;
    flight->more = flight->first + flight->first_bytes;
    uint64_t further = (bytes - (flight->more - piece)) / flight->launch.chunk - 1; /* the last is not counted */
    flight->more_count = further < UINT32_MAX / 2 ? further : UINT32_MAX / 2;
}

static GpuFlight *take(GpuFlight *flight, const SeenLaunch *launch) {
    GpuContext *context = flight->context;
    Wish wish = {0};
    uint64_t bytes = 0;
    describe(flight, launch);
    flight->slot = take_slot(context);
    DevicePointer piece =
        flight->slot >= 0 ? take_piece(context, flight->kernel, flight->key, &flight->launch, &wish, &bytes) : 0;
    if (!piece) {
        if (flight->slot >= 0)
            context->taken[flight->slot] = false;
        return NULL;
    }
    flight->first_bytes = wish.first;
    flight->launch.tag = context->tag = context->tag % 255 + 1;
    place(flight, piece, bytes);
    take_memory(flight);
    context->flying++;
    return flight;
}

GpuFlight *flight_take(GpuContext *context, GpuKernel *kernel, GpuModule *module, uint64_t key,
                       const SeenLaunch *launch, const char **why) {
    uint64_t rows = (uint64_t)launch->grid[1] * launch->grid[2], threads = launch->block[0];
    *why = context->why ? context->why : "there was no memory for its records";
    threads *= (uint64_t)launch->block[1] * launch->block[2];
    if (context->why || !rows || !launch->grid[0] || !threads || !module->chunk)
        return NULL;
    if (rows > SAMPLE_MOST_CTAS / launch->grid[0]) {
        *why = "it has more than 4,194,303 CTAs, which is more than a recording tells apart";
        return NULL;
    }
    *why = "no CTA, or no whole cluster, of it fits into the memory for records (--record-memory)";
    GpuFlight *flight = calloc(1, sizeof *flight);
    if (!flight)
        return NULL;
    *flight = (GpuFlight){.context = context, .kernel = kernel, .module = module, .key = key};
    GpuFlight *taken = take(flight, launch);
    if (!taken)
        free(flight);
    return taken;
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
                                 .sample = sample_words(&flight->launch)};
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

/* How many further chunks it has asked for, and got or not. */
static void note_further(GpuFlight *flight) {
    GpuKernel *kernel = flight->kernel;
    GpuSeen *seen = seen_before(kernel, flight->key);
    uint64_t further = (uint64_t)flight->launch.asked * flight->launch.chunk, ctas = sample_ctas(&flight->launch);
    uint64_t each = (further + ctas - 1) / ctas;
    if (kernel->further < further)
        kernel->further = further;
    if (kernel->further_each < each)
        kernel->further_each = each;
    if (seen) {
        uint64_t grid = (uint64_t)flight->launch.grid[0] * flight->launch.grid[1] * flight->launch.grid[2];
        seen->landed = true;
        seen->enough |=
            ctas == grid && flight->launch.asked <= flight->more_count && flight->first_bytes + further > MUCH;
        seen->further = seen->further < each ? each : seen->further;
    }
}

void flight_land(GpuFlight *flight) {
    if (!flight->undone)
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
