/* A launch that is recorded: the memory it gets, its block, and the events around it. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <time.h>

#define MUCH (UINT64_C(128) << 20) /* bytes of records of a launch: one of equal ones is enough */
enum { BLOCK_BYTES = GPU_ALIGN, FURTHER_SPARE = 1 << 20 };
/* Chunks of kernels with loops, or more. Of a launch that is like none before, so that it is not cut short beside 31
 * others: a share of all memory; of one that is equal to others, what these needed, a quarter of that, and a share. */
enum { LOOPS_CHUNK = 4096, UNKNOWN_SHARE = 32, SPARE_SHARE = 64, RATE_SHARE = 4, MUCH_SHARE = 16 };
/* Nanoseconds: for as long a launch of the same kernel that runs is waited for, since it says how much this one needs.
 */
static const uint64_t wait_for_like = 100000000;
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

static void take_memory(GpuOutstanding *outstanding) {
    size_t count, mapped = 0, at = 0;
    CaptureAllocation run;
    pthread_mutex_lock(&hook_mutex);
    const CaptureAllocation *all = memory_all(&count);
    while (memory_mapped(&at, &run))
        mapped++;
    outstanding->twice = memory_twice();
    outstanding->memory = count + mapped ? malloc((count + mapped) * sizeof *outstanding->memory) : NULL;
    for (size_t i = 0; outstanding->memory && i < count; i++)
        outstanding->memory[outstanding->memory_count++] = (RecordingMemory){all[i].begin, all[i].bytes};
    for (at = 0; outstanding->memory && memory_mapped(&at, &run);)
        outstanding->memory[outstanding->memory_count++] = (RecordingMemory){run.begin, run.bytes};
    pthread_mutex_unlock(&hook_mutex);
}

static GpuSeen *seen_before(const GpuKernel *kernel, uint64_t key) {
    for (size_t i = 0; i < kernel->seen_count; i++)
        if (kernel->seen[i].key == key)
            return &kernel->seen[i];
    return NULL;
}

/* What a launch gets: the CTAs that are recorded (RecordingLaunch), and bytes for their chunks. */
typedef struct GpuOutstandingWish {
    uint64_t first;       /* of first chunks */
    uint64_t least, most; /* of further ones; most: if that is there */
} GpuOutstandingWish;

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
static bool wish_for(GpuContext *context, GpuKernel *kernel, uint64_t key, RecordingLaunch *launch,
                     GpuOutstandingWish *wish) {
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
    if (!known) /* its loops may go further than those before: twice, if its numbers are twice as large */
        further *= 2;
    wish->first = ctas * each;
    uint64_t rest = room - BLOCK_BYTES - launch->chunk - wish->first, half = gpu_free(context) / 2;
    wish->least = further + (known ? spare < FURTHER_SPARE ? spare : FURTHER_SPARE : usual / UNKNOWN_SHARE);
    wish->least = wish->least < rest ? wish->least : rest;
    if (!context->flying) /* nothing else needs it yet */
        half += half / 2;
    wish->most = known || half < wish->least ? wish->least : half;
    return true;
}

/* A piece that has room for first chunks, and for as many further ones as it is likely to need; others are waited for
 * if there are any. */
static DevicePointer take_piece(GpuContext *context, GpuKernel *kernel, uint64_t key, RecordingLaunch *launch,
                                GpuOutstandingWish *wish, uint64_t *bytes) {
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

/* ---- An outstanding launch ------------------------------------------------------------------------------------ */

static void describe(GpuOutstanding *outstanding, const SeenLaunch *launch) {
    const GpuModule *module = outstanding->module;
    outstanding->launch = (RecordingLaunch){.abi = RECORDING_ABI,
                                            .flags = launch->dependent ? RECORDING_DEPENDENT : 0,
                                            .shared = launch->shared,
                                            .spaces = module->spaces,
                                            .options = module->options,
                                            .chunk = module->chunk,
                                            .fingerprint = module->fingerprint,
                                            .hang_after = gpu_options()->hang_after};
    memcpy(outstanding->launch.grid, launch->grid, sizeof launch->grid);
    memcpy(outstanding->launch.block, launch->block, sizeof launch->block);
    for (int axis = 0; axis < 3; axis++) {
        uint32_t compiled = outstanding->kernel->cluster[axis], asked = launch->cluster[axis];
        outstanding->launch.cluster[axis] = asked ? asked : compiled ? compiled : 1;
    }
}

static void place(GpuOutstanding *outstanding, DevicePointer piece, uint64_t bytes) {
    outstanding->block = piece;
    outstanding->first = piece + BLOCK_BYTES;
    outstanding->more = outstanding->first + outstanding->first_bytes;
    uint64_t further =
        (bytes - (outstanding->more - piece)) / outstanding->launch.chunk - 1; /* the last is not counted */
    outstanding->more_count = further < UINT32_MAX / 2 ? further : UINT32_MAX / 2;
}

/* Loops need what nothing says; and where lanes part, each has a chunk of its own. */
static bool may_need_much(const GpuContext *context, const RecordingLaunch *launch) {
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return launch->chunk >= LOOPS_CHUNK ||
           launch_ctas(launch) * threads > gpu_free(context) / MUCH_SHARE / launch->chunk;
}

static GpuOutstanding *take(GpuOutstanding *outstanding, const SeenLaunch *launch) {
    GpuContext *context = outstanding->context;
    GpuOutstandingWish wish = {0};
    uint64_t bytes = 0;
    describe(outstanding, launch);
    const GpuSeen *seen = seen_before(outstanding->kernel, outstanding->key);
    if (may_need_much(context, &outstanding->launch) && !(seen && seen->landed))
        drain_kernel(outstanding->kernel, wait_for_like);
    outstanding->slot = take_slot(context);
    DevicePointer piece = outstanding->slot >= 0 ? take_piece(context, outstanding->kernel, outstanding->key,
                                                              &outstanding->launch, &wish, &bytes)
                                                 : 0;
    if (!piece) {
        if (outstanding->slot >= 0)
            context->taken[outstanding->slot] = false;
        return NULL;
    }
    outstanding->first_bytes = wish.first;
    outstanding->launch.tag = context->tag = context->tag % 255 + 1;
    place(outstanding, piece, bytes);
    take_memory(outstanding);
    context->flying++;
    outstanding->kernel->flying++;
    return outstanding;
}

GpuOutstanding *outstanding_take(GpuContext *context, GpuKernel *kernel, GpuModule *module, uint64_t key,
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
    GpuOutstanding *outstanding = calloc(1, sizeof *outstanding);
    if (!outstanding)
        return NULL;
    *outstanding = (GpuOutstanding){.context = context, .kernel = kernel, .module = module, .key = key};
    GpuOutstanding *taken = take(outstanding, launch);
    if (!taken)
        free(outstanding);
    return taken;
}

bool outstanding_begins(GpuOutstanding *outstanding, Handle stream) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = outstanding->context;
    GpuSlot *slot = &context->slots[outstanding->slot];
    Handle *events = context->events[outstanding->slot];
    slot->host = (RecordHost){0};
    slot->block = (RecordLaunch){.first = outstanding->first,
                                 .more = outstanding->more,
                                 .more_count = (uint32_t)outstanding->more_count,
                                 .tag = outstanding->launch.tag << 24,
                                 .spin_timeout = record_spin_timeout(outstanding->launch.hang_after),
                                 .host = outstanding->launch.hang_after ? (uintptr_t)&slot->host : 0,
                                 .sample = sample_words(&outstanding->launch)};
    bool written = true;
    if (context->on_host)
        memcpy((void *)(uintptr_t)outstanding->block, &slot->block, sizeof slot->block);
    else
        written = driver->copy_to(outstanding->block, &slot->block, sizeof slot->block, stream) == 0;
    return written && driver->event_record(events[EVENT_BEGAN], stream) == 0;
}

void outstanding_undo(GpuOutstanding *outstanding, Handle stream) {
    outstanding->undone = true;
    if (outstanding->context->on_host)
        memset((void *)(uintptr_t)outstanding->block, 0, sizeof(RecordLaunch));
    else
        gpu_driver(NULL)->set_bytes(outstanding->block, 0, sizeof(RecordLaunch), stream);
    outstanding_made(outstanding, stream);
}

void outstanding_made(GpuOutstanding *outstanding, Handle stream) {
    outstanding->failed =
        gpu_driver(NULL)->event_record(outstanding->context->events[outstanding->slot][EVENT_ENDED], stream);
}

Handle outstanding_ended(const GpuOutstanding *outstanding) {
    return outstanding->context->events[outstanding->slot][EVENT_ENDED];
}

Handle outstanding_packed(const GpuOutstanding *outstanding) {
    return outstanding->context->events[outstanding->slot][EVENT_PACKED];
}

uint64_t outstanding_nanoseconds(const GpuOutstanding *outstanding) {
    const Handle *events = outstanding->context->events[outstanding->slot];
    float milliseconds = 0;
    gpu_driver(NULL)->event_between(&milliseconds, events[EVENT_BEGAN], events[EVENT_ENDED]);
    return (uint64_t)((double)milliseconds * 1e6);
}

/* How many further chunks it has asked for, and got or not. */
static void note_further(GpuOutstanding *outstanding) {
    GpuKernel *kernel = outstanding->kernel;
    GpuSeen *seen = seen_before(kernel, outstanding->key);
    uint64_t further = (uint64_t)outstanding->launch.asked * outstanding->launch.chunk,
             ctas = sample_ctas(&outstanding->launch);
    uint64_t each = (further + ctas - 1) / ctas;
    if (kernel->further < further)
        kernel->further = further;
    if (kernel->further_each < each)
        kernel->further_each = each;
    if (seen) {
        uint64_t grid =
            (uint64_t)outstanding->launch.grid[0] * outstanding->launch.grid[1] * outstanding->launch.grid[2];
        seen->landed = true;
        seen->enough |= ctas == grid && outstanding->launch.asked <= outstanding->more_count &&
                        outstanding->first_bytes + further > MUCH;
        seen->further = seen->further < each ? each : seen->further;
    }
}

void outstanding_complete(GpuOutstanding *outstanding) {
    if (!outstanding->undone)
        note_further(outstanding);
    gpu_give(outstanding->context, outstanding->block);
    outstanding->context->taken[outstanding->slot] = false;
    outstanding->context->flying--;
    outstanding->kernel->flying--;
    outstanding->context->landed++;
    drain_changed();
}

void outstanding_free(GpuOutstanding *outstanding) {
    order_free(&outstanding->order);
    free(outstanding->parameters);
    free(outstanding->memory);
    free(outstanding);
}
