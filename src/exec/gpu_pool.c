/* Memory of the device for records: one piece of it in each context, from which launches take theirs and give it back.
 * What nobody has is all zero. */
#include "exec/gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 256, LEAST_ARENA = 1 << 22, HOST_ARENA = 1 << 28, SHARE = 16 };
#define USUAL_ARENA (UINT64_C(3) << 30) /* at most: a file of as many bytes can still be read */

struct GpuPiece {
    GpuPiece *next;
    uint64_t offset, bytes;
    bool taken;
};

static GpuContext *contexts;

/* ---- Contexts ------------------------------------------------------------------------------------ */

static Result allocate_host(const GpuDriver *driver, DevicePointer *to, uint64_t bytes) {
    void *memory = NULL;
    Result result = driver->allocate_host(&memory, bytes, HOST_PORTABLE | HOST_MAPPED);
    *to = (uintptr_t)memory;
    return result;
}

/* As much as was asked for, or less if the device has no more: at most half of what is free now. */
static bool make_arena(GpuContext *context, const GpuDriver *driver) {
    size_t free_bytes = 0, total = 0;
    driver->memory_info(&free_bytes, &total);
    bool on_host = context->on_host = gpu_options()->on_host;
    uint64_t share = total / SHARE < USUAL_ARENA ? total / SHARE : USUAL_ARENA;
    uint64_t usual = on_host ? HOST_ARENA : share;
    uint64_t wanted = gpu_options()->memory ? gpu_options()->memory : usual;
    if (!on_host && wanted > free_bytes / 2)
        wanted = free_bytes / 2;
    for (wanted = wanted / GPU_ALIGN * GPU_ALIGN; wanted >= LEAST_ARENA; wanted = wanted / 2 / GPU_ALIGN * GPU_ALIGN)
        if ((on_host ? allocate_host(driver, &context->arena, wanted + GPU_ALIGN)
                     : driver->allocate(&context->arena, wanted + GPU_ALIGN)) == 0)
            break;
    GpuPiece *piece = wanted >= LEAST_ARENA ? calloc(1, sizeof *piece) : NULL;
    if (!piece)
        return false;
    *piece = (GpuPiece){.bytes = wanted};
    context->pieces = piece;
    context->arena_bytes = wanted;
    context->arena = (context->arena + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    if (on_host) {
        memset((void *)(uintptr_t)context->arena, 0, wanted);
        return true;
    }
    return driver->set_bytes(context->arena, 0, wanted, context->behind) == 0 &&
           driver->stream_wait(context->behind) == 0;
}

/* The block of launches that are not recorded: no CTA has a number of which no bit is 1. */
static bool make_off(GpuContext *context, const GpuDriver *driver) {
    DevicePointer block;
    if (driver->allocate_host((void **)&context->slots, GPU_FLIGHTS * sizeof(GpuSlot), HOST_PORTABLE | HOST_MAPPED) !=
            0 ||
        driver->allocate(&block, 3 * GPU_ALIGN) != 0)
        return false;
    memset(context->slots, 0, GPU_FLIGHTS * sizeof(GpuSlot));
    block = (block + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN; /* then a chunk for all */
    context->slots[0].block = (RecordLaunch){.first = block + GPU_ALIGN,
                                             .more = block + GPU_ALIGN,
                                             .tag = 1u << 24,
                                             .patience = record_patience(0),
                                             .sample_value = 1};
    if (driver->copy_to(block, &context->slots[0].block, sizeof(RecordLaunch), context->behind) != 0 ||
        driver->stream_wait(context->behind) != 0)
        return false;
    context->off = block;
    return true;
}

static void fill_context(GpuContext *context, const GpuDriver *driver) {
    char name[NAME_BYTES] = "";
    Handle primary = NULL;
    void *release = driver_symbol("cuDevicePrimaryCtxRelease_v2");
    driver->context_device(&context->device_number);
    driver->device_name(name, sizeof name, context->device_number);
    if (!context->device_number || asprintf(&context->device, "%s (device %d)", name, context->device_number) < 0)
        context->device = strdup(name);
    if (release && driver->primary_retain(&primary, context->device_number) == 0) {
        context->primary = primary == context->context;
        (*(Result(**)(int)) & release)(context->device_number);
    }
    if (driver->stream_create(&context->behind, STREAM_NON_BLOCKING) != 0 ||
        driver->stream_create(&context->ahead, STREAM_NON_BLOCKING) != 0 || !make_off(context, driver) ||
        !make_arena(context, driver))
        context->why = "there was no memory on the device for records";
    else if (!context->on_host)
        gpu_pack_prepare(context);
}

GpuContext *gpu_context(void) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    if (!driver || driver->context_current(&current) != 0 || !current)
        return NULL;
    for (GpuContext *context = contexts; context; context = context->next)
        if (context->context == current)
            return context;
    GpuContext *context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->context = current;
    int mode = gpu_relax();
    fill_context(context, driver);
    gpu_relaxed(mode);
    context->next = contexts;
    return contexts = context;
}

/* Its memory goes with it. */
static void forget(GpuContext *context) {
    GpuContext **at = &contexts;
    while (*at && *at != context)
        at = &(*at)->next;
    if (*at)
        *at = context->next;
    while (context->pieces) {
        GpuPiece *next = context->pieces->next;
        free(context->pieces);
        context->pieces = next;
    }
    free(context->device);
    free(context);
}

void gpu_context_ends(Handle handle) {
    pthread_mutex_lock(&gpu_mutex);
    GpuContext *context = contexts;
    while (context && context->context != handle)
        context = context->next;
    if (context) {
        drain_all(context);
        forget(context);
    }
    pthread_mutex_unlock(&gpu_mutex);
}

bool gpu_settle_all(uint64_t nanoseconds) {
    bool all = true;
    for (GpuContext *context = contexts; context; context = context->next)
        all &= drain_until(context, nanoseconds);
    return all;
}

void gpu_device_settle(int device) {
    pthread_mutex_lock(&gpu_mutex);
    for (GpuContext *context = contexts; context; context = context->next)
        if (context->device_number == device)
            drain_all(context);
    pthread_mutex_unlock(&gpu_mutex);
}

bool gpu_device_ended(int device, bool surely) {
    unsigned flags;
    int active = 0;
    bool ended =
        surely || (gpu_driver(NULL) && gpu_driver(NULL)->primary_state(device, &flags, &active) == 0 && !active);
    pthread_mutex_lock(&gpu_mutex);
    for (GpuContext *context = contexts, *next; context; context = next) {
        next = context->next;
        if (ended && context->device_number == device && context->primary)
            forget(context);
    }
    pthread_mutex_unlock(&gpu_mutex);
    return ended;
}

/* ---- Pieces -------------------------------------------------------------------------------------- */

DevicePointer gpu_take(GpuContext *context, uint64_t least, uint64_t most, uint64_t *bytes) {
    GpuPiece *best = NULL;
    least = (least + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    most = (most + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    for (GpuPiece *piece = context->pieces; piece;
         piece = piece->next) /* the smallest that has all, else the largest */
        if (!piece->taken && piece->bytes >= least &&
            (!best ||
             (best->bytes < most ? piece->bytes > best->bytes : piece->bytes >= most && piece->bytes < best->bytes)))
            best = piece;
    if (!best)
        return 0;
    *bytes = best->bytes < most ? best->bytes : most;
    if (best->bytes > *bytes) {
        GpuPiece *rest = calloc(1, sizeof *rest);
        if (!rest)
            return 0;
        *rest = (GpuPiece){best->next, best->offset + *bytes, best->bytes - *bytes, false};
        best->next = rest;
        best->bytes = *bytes;
    }
    best->taken = true;
    return context->arena + best->offset;
}

static void join(GpuPiece *piece) {
    while (piece->next && !piece->taken && !piece->next->taken) {
        GpuPiece *next = piece->next;
        piece->bytes += next->bytes;
        piece->next = next->next;
        free(next);
    }
}

void gpu_give(GpuContext *context, DevicePointer address) {
    GpuPiece *before = NULL;
    for (GpuPiece *piece = context->pieces; piece; before = piece, piece = piece->next)
        if (context->arena + piece->offset == address) {
            piece->taken = false;
            join(piece);
            if (before)
                join(before);
            return;
        }
}

uint64_t gpu_free(const GpuContext *context) {
    uint64_t largest = 0;
    for (const GpuPiece *piece = context->pieces; piece; piece = piece->next)
        if (!piece->taken && piece->bytes > largest)
            largest = piece->bytes;
    return largest;
}

int gpu_slot(GpuContext *context) {
    for (int i = 1; i < GPU_FLIGHTS; i++) /* the first is that of launches that are not recorded */
        if (!context->taken[i]) {
            context->taken[i] = true;
            return i;
        }
    return -1;
}
