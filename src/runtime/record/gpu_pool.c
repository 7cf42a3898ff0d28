/* Memory of the device for records: an arena in each context, from which launches take pieces and give them back. It
 * grows as launches need more, and is given back to a program that needs it. What no launch has is all zero. */
#include "runtime/record/gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 256, LEAST_ARENA = 1 << 22, HOST_ARENA = 1 << 28, USUAL_SHARE = 16, MOST_SHARE = 4 };
#define USUAL_ARENA (UINT64_C(8) << 30)  /* to begin with, at most; and */
#define MOST_ARENA  (UINT64_C(16) << 30) /* once launches need more */
/* Nanoseconds: for as long launches are waited for that have memory which the program needs. */
static const uint64_t wait_for_room = 500000000;

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

/* Behind what there is: the last piece is larger, or there is one more. */
static bool add_piece(GpuContext *context, uint64_t bytes) {
    GpuPiece **end = &context->pieces, *last = NULL;
    for (; *end; end = &(*end)->next)
        last = *end;
    if (last && !last->taken) {
        last->bytes += bytes;
    } else {
        GpuPiece *piece = calloc(1, sizeof *piece);
        if (!piece)
            return false;
        *piece = (GpuPiece){.offset = context->arena_bytes, .bytes = bytes};
        *end = piece;
    }
    context->arena_bytes += bytes;
    return true;
}

/* So many bytes more of the device's memory, or what there can be of that: at most half of what is free. If that is
 * less, no more is asked for until some was given back. */
static bool grow(GpuContext *context, uint64_t bytes) {
    const GpuDriver *driver = gpu_driver(NULL);
    size_t free_bytes = 0, total = 0;
    uint64_t begin = gpu_now(), page = context->map.page, room = context->limit - context->arena_bytes;
    if (!context->grows || !room || context->block_count == GPU_BLOCKS)
        return false;
    driver->memory_info(&free_bytes, &total);
    if (room > free_bytes / 2) {
        room = free_bytes / 2 / page * page;
        context->limit = context->arena_bytes + room;
    }
    bytes = (bytes + page - 1) / page * page;
    bytes = bytes < room ? bytes : room;
    GpuBlock *block = &context->blocks[context->block_count];
    uint64_t at = context->arena + context->arena_bytes;
    while (bytes && mapping_add(&context->map, at, bytes, &block->handle) != 0)
        bytes = bytes / 2 / page * page;
    if (!bytes) {
        context->limit = context->arena_bytes;
        return false;
    }
    block->bytes = bytes;
    if (driver->set_bytes(at, 0, bytes, context->behind) != 0 || driver->stream_wait(context->behind) != 0 ||
        !add_piece(context, bytes)) {
        mapping_remove(&context->map, at, bytes, block->handle);
        return false;
    }
    context->block_count++;
    if (gpu_options()->times)
        folder_log("memory for records: %llu bytes, %llu more after %llu ns",
                   (unsigned long long)context->arena_bytes, (unsigned long long)bytes,
                   (unsigned long long)(gpu_now() - begin));
    return true;
}

/* Blocks that no launch has a part of, from the last on. */
static void shrink(GpuContext *context) {
    while (context->block_count) {
        GpuBlock *block = &context->blocks[context->block_count - 1];
        uint64_t begin = context->arena_bytes - block->bytes;
        GpuPiece **last = &context->pieces;
        while ((*last)->next)
            last = &(*last)->next;
        if ((*last)->taken || (*last)->offset > begin)
            return;
        (*last)->bytes = begin - (*last)->offset;
        if (!(*last)->bytes) {
            free(*last);
            *last = NULL;
        }
        mapping_remove(&context->map, context->arena + begin, block->bytes, block->handle);
        context->arena_bytes = begin;
        context->limit = context->reserved;
        context->block_count--;
    }
}

/* Addresses for as much as it may get; false: it cannot grow. */
static bool reserve(GpuContext *context) {
    uint64_t page = 0;
    if (mapping_open(&context->map, driver_symbol, context->device_number))
        return false;
    page = context->map.page;
    context->limit = context->reserved = context->limit / page * page;
    context->grows = page % GPU_ALIGN == 0 && context->limit &&
                     context->map.cuMemAddressReserve(&context->arena, context->limit, page, 0, 0) == 0;
    return context->grows && grow(context, context->usual);
}

/* As much as was asked for, or less if the device has no more: at most half of what is free now. */
static bool make_arena(GpuContext *context, const GpuDriver *driver) {
    size_t free_bytes = 0, total = 0;
    uint64_t asked = gpu_options()->memory;
    driver->memory_info(&free_bytes, &total);
    bool on_host = context->on_host = gpu_options()->on_host;
    uint64_t usual = total / USUAL_SHARE < USUAL_ARENA ? total / USUAL_SHARE : USUAL_ARENA;
    context->limit = asked ? asked : total / MOST_SHARE < MOST_ARENA ? total / MOST_SHARE : MOST_ARENA;
    if (!on_host && context->limit > free_bytes / 2)
        context->limit = free_bytes / 2;
    context->usual = on_host ? (asked ? asked : HOST_ARENA) : usual < context->limit ? usual : context->limit;
    if (!on_host && reserve(context))
        return true;
    uint64_t wanted = context->usual;
    for (wanted = wanted / GPU_ALIGN * GPU_ALIGN; wanted >= LEAST_ARENA; wanted = wanted / 2 / GPU_ALIGN * GPU_ALIGN)
        if ((on_host ? allocate_host(driver, &context->arena, wanted + GPU_ALIGN)
                     : driver->allocate(&context->arena, wanted + GPU_ALIGN)) == 0)
            break;
    context->grows = false;
    if (wanted < LEAST_ARENA || !add_piece(context, wanted))
        return false;
    context->limit = context->usual = wanted;
    context->arena = (context->arena + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    if (on_host) {
        memset((void *)(uintptr_t)context->arena, 0, wanted);
        return true;
    }
    return driver->set_bytes(context->arena, 0, wanted, context->behind) == 0 &&
           driver->stream_wait(context->behind) == 0;
}

static bool make_slots(GpuContext *context, const GpuDriver *driver) {
    if (driver->allocate_host((void **)&context->slots, GPU_OUTSTANDING_LAUNCHES * sizeof(GpuSlot),
                              HOST_PORTABLE | HOST_MAPPED) != 0)
        return false;
    memset(context->slots, 0, GPU_OUTSTANDING_LAUNCHES * sizeof(GpuSlot));
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
        driver->stream_create(&context->ahead, STREAM_NON_BLOCKING) != 0 || !make_slots(context, driver) ||
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

/* What is mapped does not go with the context. */
static void give_all(GpuContext *context) {
    shrink(context);
    if (context->grows && !context->arena_bytes)
        context->map.cuMemAddressFree(context->arena, context->reserved);
}

void gpu_context_ends(Handle handle) {
    pthread_mutex_lock(&gpu_mutex);
    GpuContext *context = contexts;
    while (context && context->context != handle)
        context = context->next;
    if (context) {
        drain_all(context);
        give_all(context);
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
        if (context->device_number == device) {
            drain_all(context);
            shrink(context);
        }
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

/* The smallest free piece that has `most`, else the largest that has `least`. */
static GpuPiece *find_piece(const GpuContext *context, uint64_t least, uint64_t most) {
    GpuPiece *best = NULL;
    for (GpuPiece *piece = context->pieces; piece; piece = piece->next)
        if (!piece->taken && piece->bytes >= least &&
            (!best ||
             (best->bytes < most ? piece->bytes > best->bytes : piece->bytes >= most && piece->bytes < best->bytes)))
            best = piece;
    return best;
}

/* More memory, so that there is such a piece behind all others. */
static bool grow_for(GpuContext *context, uint64_t least) {
    const GpuPiece *last = context->pieces;
    while (last && last->next)
        last = last->next;
    uint64_t there = last && !last->taken ? last->bytes : 0, needed = least > there ? least - there : 0;
    uint64_t half = context->arena_bytes / 2;
    return grow(context, needed > half ? needed : half);
}

DevicePointer gpu_take(GpuContext *context, uint64_t least, uint64_t most, uint64_t *bytes) {
    least = (least + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    most = (most + GPU_ALIGN - 1) / GPU_ALIGN * GPU_ALIGN;
    GpuPiece *best = find_piece(context, least, most);
    if (!best && grow_for(context, least))
        best = find_piece(context, least, most);
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

uint64_t gpu_most(const GpuContext *context) {
    return context->limit;
}

/* That of the calling thread, if it was made; NULL: it was not. */
static GpuContext *known_context(void) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    GpuContext *context = contexts;
    if (!driver || driver->context_current(&current) != 0)
        return NULL;
    while (context && context->context != current)
        context = context->next;
    return context;
}

bool gpu_make_room(void) {
    if (!gpu_on())
        return false;
    pthread_mutex_lock(&gpu_mutex);
    GpuContext *context = known_context();
    uint64_t before = context && context->grows ? context->arena_bytes : 0;
    if (before && drain_until(context, wait_for_room)) /* else to unmap it might wait for a kernel that waits for us */
        shrink(context);
    bool gave = before && context->arena_bytes < before;
    pthread_mutex_unlock(&gpu_mutex);
    return gave;
}

uint64_t gpu_lent(void) {
    if (!gpu_on())
        return 0;
    pthread_mutex_lock(&gpu_mutex);
    const GpuContext *context = known_context();
    uint64_t lent = context && context->grows ? context->arena_bytes : 0;
    pthread_mutex_unlock(&gpu_mutex);
    return lent;
}

int gpu_slot(GpuContext *context) {
    for (int i = 1; i < GPU_OUTSTANDING_LAUNCHES; i++) /* the first is that of launches that are not recorded */
        if (!context->taken[i]) {
            context->taken[i] = true;
            return i;
        }
    return -1;
}
