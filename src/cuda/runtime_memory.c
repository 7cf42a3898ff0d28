/* The CUDA runtime: memory of all kinds, copies and fills. */
#include "cuda/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICE_KINDS = 1 << MEMORY_DEVICE | 1 << MEMORY_MANAGED, PITCH = 512 };

/* ---- Allocations ---- */

static Error allocate(void **to, MemoryKind kind, size_t bytes) {
    if (!to)
        return CUDA_INVALID_VALUE;
    *to = NULL;
    if (!bytes)
        return 0;
    *to = memory_allocate(kind, bytes, false);
    return *to ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaMalloc(void **to, size_t bytes) {
    return allocate(to, MEMORY_DEVICE, bytes);
}

Error do_cudaMallocHost(void **to, size_t bytes) {
    return allocate(to, MEMORY_HOST, bytes);
}

Error do_cudaHostAlloc(void **to, size_t bytes, unsigned flags) {
    Error error = flags > 7 ? CUDA_INVALID_VALUE : allocate(to, MEMORY_HOST, bytes);
    Allocation *one = error ? NULL : memory_of(*to);
    if (one)
        one->flags = flags;
    return error;
}

Error do_cudaMallocManaged(void **to, size_t bytes, unsigned flags) {
    enum { GLOBAL = 1, HOST = 2 };
    if (!bytes || (flags != GLOBAL && flags != HOST))
        return CUDA_INVALID_VALUE;
    return allocate(to, MEMORY_MANAGED, bytes);
}

static size_t pitch_of(size_t width) {
    return width > SIZE_MAX - PITCH ? 0 : (width + PITCH - 1) / PITCH * PITCH;
}

Error do_cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
    size_t bytes;
    if (!to || !pitch)
        return CUDA_INVALID_VALUE;
    *pitch = pitch_of(width);
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return CUDA_NO_MEMORY;
    return allocate(to, MEMORY_DEVICE, bytes);
}

Error do_cudaMalloc3D(Pitched *to, Extent extent) {
    size_t bytes;
    if (!to)
        return CUDA_INVALID_VALUE;
    *to = (Pitched){NULL, pitch_of(extent.width), extent.width, extent.height};
    if (__builtin_mul_overflow(to->pitch, extent.height, &bytes) || __builtin_mul_overflow(bytes, extent.depth, &bytes))
        return CUDA_NO_MEMORY;
    return allocate(&to->at, MEMORY_DEVICE, bytes);
}

/* The driver waits for all kernels before it gives memory back, but for memory of a pool: there the program waits. */
static Error free_kinds(const char *name, void *memory, unsigned kinds) {
    const Allocation *one = memory ? memory_of(memory) : NULL;
    if (!memory)
        return 0;
    if (!one || one->at != (uintptr_t)memory || !(kinds >> one->kind & 1))
        return CUDA_INVALID_VALUE;
    if (one->pooled)
        log_lifetime(NULL, name, true, one);
    else
        stream_await_all(context_number());
    return memory_free(memory, kinds);
}

Error do_cudaFree(void *memory) {
    return free_kinds("cudaFree", memory, DEVICE_KINDS);
}

Error do_cudaFreeHost(void *memory) {
    return free_kinds("cudaFreeHost", memory, 1 << MEMORY_HOST);
}

Error do_cudaHostRegister(void *memory, size_t bytes, unsigned flags) {
    return flags > 15 ? CUDA_INVALID_VALUE : memory_register(memory, bytes, flags);
}

Error do_cudaHostUnregister(void *memory) {
    if (!memory)
        return CUDA_INVALID_VALUE;
    return memory_free(memory, 1 << MEMORY_REGISTERED) ? CUDA_NOT_REGISTERED : 0;
}

static const Allocation *host_memory(const void *memory) {
    const Allocation *one = memory_of(memory);
    return one && (one->kind == MEMORY_HOST || one->kind == MEMORY_REGISTERED) ? one : NULL;
}

Error do_cudaHostGetDevicePointer(void **to, void *memory, unsigned flags) {
    if (!to || flags || !host_memory(memory))
        return CUDA_INVALID_VALUE;
    *to = memory;
    return 0;
}

Error do_cudaHostGetFlags(unsigned *flags, void *memory) {
    const Allocation *one = host_memory(memory);
    if (!flags || !one)
        return CUDA_INVALID_VALUE;
    *flags = one->flags | 2; /* all of it is mapped */
    return 0;
}

Error do_cudaMemGetInfo(size_t *free, size_t *total) {
    size_t all, there = gpu_free(&all);
    if (free)
        *free = there;
    if (total)
        *total = all;
    return 0;
}

typedef struct PointerAttributes { /* the first 24 bytes of cudaPointerAttributes, which are all of CUDA 12's */
    int kind, device;
    void *on_device, *on_host;
} PointerAttributes;

Error do_cudaPointerGetAttributes(void *attributes, const void *memory) {
    enum { KIND_NONE, KIND_HOST, KIND_DEVICE, KIND_MANAGED };
    const Allocation *one = memory_of(memory);
    void *at = (void *)(uintptr_t)memory;
    PointerAttributes *to = attributes;
    if (!to)
        return CUDA_INVALID_VALUE;
    if (!one)
        *to = (PointerAttributes){KIND_NONE, -2, NULL, at};
    else if (one->kind == MEMORY_HOST || one->kind == MEMORY_REGISTERED)
        *to = (PointerAttributes){KIND_HOST, 0, at, at};
    else if (one->kind == MEMORY_MANAGED)
        *to = (PointerAttributes){KIND_MANAGED, 0, at, at};
    else
        *to = (PointerAttributes){KIND_DEVICE, 0, at, NULL};
    return 0;
}

Error do_cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *memory, size_t bytes) {
    const Allocation *one = memory_of(memory);
    enum { READ_MOSTLY = 1, LAST_PREFETCHED = 4, NOWHERE = -2 };
    if (!data || size != sizeof(int) || !bytes || !one || one->kind != MEMORY_MANAGED)
        return CUDA_INVALID_VALUE;
    *(int *)data = attribute == READ_MOSTLY ? 0 : NOWHERE;
    return attribute >= READ_MOSTLY && attribute <= LAST_PREFETCHED ? 0 : CUDA_INVALID_VALUE;
}

/* ---- Memory in the order of streams ---- */

/* A pool; memory is not kept in it. */
typedef struct Pool {
    struct Pool *next;
    uint64_t threshold;
    int choices[3]; /* what may be given out again */
} Pool;
static Pool usual_pool = {.choices = {1, 1, 1}}, *current_pool = &usual_pool, *pools = &usual_pool;

static Pool *pool_of(const void *handle) {
    Pool *pool = pools;
    while (pool && pool != handle)
        pool = pool->next;
    return pool;
}

Error do_cudaMallocFromPoolAsync(void **to, size_t bytes, void *pool, void *handle) {
    Stream *stream = stream_of(handle);
    if (!to || !pool_of(pool))
        return CUDA_INVALID_VALUE;
    if (!stream)
        return CUDA_INVALID_HANDLE;
    if (stream->capture)
        return graph_allocate(stream, to, bytes);
    *to = bytes ? memory_allocate(MEMORY_DEVICE, bytes, false) : NULL;
    Allocation *one = *to ? memory_of(*to) : NULL;
    if (one) {
        one->pooled = true;
        log_lifetime(stream, "cudaMallocAsync", false, one);
    }
    return *to || !bytes ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaMallocAsync(void **to, size_t bytes, void *stream) {
    return do_cudaMallocFromPoolAsync(to, bytes, current_pool, stream);
}

Error do_cudaFreeAsync(void *memory, void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    if (stream->capture)
        return graph_free(stream, memory);
    const Allocation *one = memory ? memory_of(memory) : NULL;
    if (one && one->at == (uintptr_t)memory && one->kind == MEMORY_DEVICE)
        log_lifetime(stream, "cudaFreeAsync", true, one);
    return memory ? memory_free(memory, 1 << MEMORY_DEVICE) : 0;
}

Error do_cudaMemPoolCreate(void **pool, const void *properties) {
    if (!pool || !properties)
        return CUDA_INVALID_VALUE;
    Pool *made = calloc(1, sizeof *made);
    *pool = made;
    if (!made)
        return CUDA_NO_MEMORY;
    *made = (Pool){.next = pools, .choices = {1, 1, 1}};
    pools = made;
    return 0;
}

Error do_cudaMemPoolDestroy(void *pool) {
    for (Pool **at = &pools; *at != &usual_pool; at = &(*at)->next) {
        Pool *one = *at;
        if (one != pool)
            continue;
        *at = one->next;
        current_pool = current_pool == one ? &usual_pool : current_pool;
        free(one);
        return 0;
    }
    return CUDA_INVALID_VALUE;
}

Error do_cudaDeviceGetDefaultMemPool(void **pool, int device) {
    if (!pool || device)
        return pool ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    *pool = &usual_pool;
    return 0;
}

Error do_cudaDeviceGetMemPool(void **pool, int device) {
    if (!pool || device)
        return pool ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    *pool = current_pool;
    return 0;
}

Error do_cudaDeviceSetMemPool(int device, void *pool) {
    if (!pool_of(pool) || device)
        return pool ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    current_pool = pool;
    return 0;
}

static size_t pooled_bytes;

static void add_pooled(Allocation *one) {
    pooled_bytes += one->pooled ? one->bytes : 0;
}

Error do_cudaMemPoolGetAttribute(void *pool, int attribute, void *value) {
    enum { FIRST_NUMBER = 4, USED = 7, LAST_NUMBER = 8 };
    const Pool *of = pool_of(pool);
    if (!of || !value || attribute < 1 || attribute > LAST_NUMBER)
        return CUDA_INVALID_VALUE;
    if (attribute < FIRST_NUMBER) {
        *(int *)value = of->choices[attribute - 1];
        return 0;
    }
    pooled_bytes = 0;
    memory_each(add_pooled);
    *(uint64_t *)value = attribute == FIRST_NUMBER ? of->threshold : pooled_bytes;
    return 0;
}

Error do_cudaMemPoolSetAttribute(void *pool, int attribute, void *value) {
    enum { FIRST_NUMBER = 4, LAST_NUMBER = 8 };
    Pool *of = pool_of(pool);
    if (!of || !value || attribute < 1 || attribute > LAST_NUMBER)
        return CUDA_INVALID_VALUE;
    if (attribute < FIRST_NUMBER)
        of->choices[attribute - 1] = *(int *)value;
    else if (attribute == FIRST_NUMBER)
        of->threshold = *(uint64_t *)value;
    return 0;
}

Error do_cudaMemPoolTrimTo(void *pool, size_t bytes) {
    (void)bytes;
    return pool_of(pool) ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaMemPoolSetAccess(void *pool, const void *accesses, size_t count) {
    return pool_of(pool) && (accesses || !count) ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaMemPoolGetAccess(int *flags, void *pool, void *location) {
    enum { READ_AND_WRITE = 3 };
    if (!flags || !pool_of(pool) || !location)
        return CUDA_INVALID_VALUE;
    *flags = READ_AND_WRITE;
    return 0;
}

/* ---- Copies ---- */

Error copy_make(Copy *copy, void *handle) {
    copy->stream = stream_of(handle);
    if (!copy->stream)
        return CUDA_INVALID_HANDLE;
    if (copy->stream->capture && !copy->waits)
        return graph_copy(copy);
    return copy->stream->capture ? CUDA_CAPTURE_UNSUPPORTED : copy_bytes(copy);
}

Error copy_lines(const char *name, Span to, Span from, size_t width, size_t height, int kind, void *stream,
                 bool waits) {
    Copy copy = {.name = name, .to = to, .from = from, .extent = {width, height, 1}, .kind = kind, .waits = waits};
    return copy_make(&copy, stream);
}

static Span span(const void *at, size_t pitch) {
    return (Span){.at = (char *)(uintptr_t)at, .pitch = pitch};
}

Error do_cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    return copy_lines("cudaMemcpy", span(to, 0), span(from, 0), bytes, 1, kind, NULL, true);
}

Error do_cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    return copy_lines("cudaMemcpyAsync", span(to, 0), span(from, 0), bytes, 1, kind, stream, false);
}

Error do_cudaMemcpyPeer(void *to, int device, const void *from, int peer, size_t bytes) {
    if (device || peer)
        return CUDA_INVALID_DEVICE;
    return copy_lines("cudaMemcpyPeer", span(to, 0), span(from, 0), bytes, 1, COPY_BY_ADDRESS, NULL, true);
}

Error do_cudaMemcpyPeerAsync(void *to, int device, const void *from, int peer, size_t bytes, void *stream) {
    if (device || peer)
        return CUDA_INVALID_DEVICE;
    return copy_lines("cudaMemcpyPeerAsync", span(to, 0), span(from, 0), bytes, 1, COPY_BY_ADDRESS, stream, false);
}

Error do_cudaMemcpy2D(void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind) {
    return copy_lines("cudaMemcpy2D", span(to, pitch), span(from, from_pitch), width, height, kind, NULL, true);
}

Error do_cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                           int kind, void *stream) {
    return copy_lines("cudaMemcpy2DAsync", span(to, pitch), span(from, from_pitch), width, height, kind, stream, false);
}

/* One side of a copy in three dimensions: memory, or an array, whose positions are in elements. */
static bool side_of(const void *handle, Position at, Pitched memory, Extent extent, Span *to) {
    const Array *array = array_of(handle);
    if (handle)
        return array && !memory.at && array_span(array, at, extent, to);
    *to = (Span){(char *)memory.at + at.x + at.y * memory.pitch + at.z * memory.pitch * memory.height, memory.pitch,
                 memory.pitch * memory.height};
    return memory.at;
}

Error volume_of(const Copy3D *given, Copy *copy) {
    copy->kind = given->kind;
    copy->extent = given->extent;
    const Array *array = array_of(given->from_array ? given->from_array : given->to_array);
    if (!side_of(given->from_array, given->from_at, given->from, given->extent, &copy->from) ||
        !side_of(given->to_array, given->to_at, given->to, given->extent, &copy->to))
        return CUDA_INVALID_VALUE;
    copy->extent.width *= array ? array_element(array) : 1;
    return 0;
}

static Error copy_volume(const char *name, const Copy3D *given, void *stream, bool waits) {
    Copy copy = {.name = name, .waits = waits};
    Error error = given ? volume_of(given, &copy) : CUDA_INVALID_VALUE;
    return error ? error : copy_make(&copy, stream);
}

Error do_cudaMemcpy3D(const Copy3D *copy) {
    return copy_volume("cudaMemcpy3D", copy, NULL, true);
}

Error do_cudaMemcpy3DAsync(const Copy3D *copy, void *stream) {
    return copy_volume("cudaMemcpy3DAsync", copy, stream, false);
}

static Error copy_peer(const char *name, const CopyPeer3D *given, void *stream, bool waits) {
    if (!given)
        return CUDA_INVALID_VALUE;
    if (given->from_device || given->to_device)
        return CUDA_INVALID_DEVICE;
    Copy3D copy = {given->from_array, given->from_at, given->from,   given->to_array,
                   given->to_at,      given->to,      given->extent, COPY_BY_ADDRESS};
    return copy_volume(name, &copy, stream, waits);
}

Error do_cudaMemcpy3DPeer(const CopyPeer3D *copy) {
    return copy_peer("cudaMemcpy3DPeer", copy, NULL, true);
}

Error do_cudaMemcpy3DPeerAsync(const CopyPeer3D *copy, void *stream) {
    return copy_peer("cudaMemcpy3DPeerAsync", copy, stream, false);
}

/* ---- Symbols ---- */

static Error copy_symbol(const char *name, const void *symbol, void *other, size_t bytes, size_t offset, int kind,
                         void *stream, bool to_symbol, bool waits) {
    weir_device_variable variable;
    Error error = registered_variable(symbol, &variable);
    if (error)
        return error;
    if (offset > variable.size || bytes > variable.size - offset)
        return CUDA_INVALID_VALUE;
    if (kind == (to_symbol ? COPY_TO_HOST : COPY_TO_DEVICE) || kind == COPY_HOST_TO_HOST)
        return CUDA_INVALID_DIRECTION;
    char *at = (char *)variable.bytes + offset;
    Span to = span(to_symbol ? (void *)at : other, 0), from = span(to_symbol ? other : (void *)at, 0);
    return copy_lines(name, to, from, bytes, 1, COPY_BY_ADDRESS, stream, waits);
}

Error do_cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind) {
    return copy_symbol("cudaMemcpyToSymbol", symbol, (void *)(uintptr_t)from, bytes, offset, kind, NULL, true, true);
}

Error do_cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind) {
    return copy_symbol("cudaMemcpyFromSymbol", symbol, to, bytes, offset, kind, NULL, false, true);
}

Error do_cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
                                 void *stream) {
    return copy_symbol("cudaMemcpyToSymbolAsync", symbol, (void *)(uintptr_t)from, bytes, offset, kind, stream, true,
                       false);
}

Error do_cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int kind, void *stream) {
    return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, stream, false, false);
}

/* Of const memory: bytes that copies reach. */
Error do_cudaGetSymbolAddress(void **to, const void *symbol) {
    weir_device_variable variable;
    Error error = to ? registered_variable(symbol, &variable) : CUDA_INVALID_VALUE;
    if (!error)
        *to = variable.bytes;
    return error;
}

Error do_cudaGetSymbolSize(size_t *bytes, const void *symbol) {
    weir_device_variable variable;
    Error error = bytes ? registered_variable(symbol, &variable) : CUDA_INVALID_VALUE;
    if (!error)
        *bytes = variable.size;
    return error;
}

/* ---- Fills ---- */

Error fill_make(const char *name, Span to, Extent extent, unsigned value, unsigned element, void *handle, bool waits) {
    Stream *stream = stream_of(handle);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    if (stream->capture)
        return waits ? CUDA_CAPTURE_UNSUPPORTED : graph_fill(name, to, extent, value, element, stream);
    return copy_fill(name, to, extent, value, element, stream, waits);
}

static Error fill(const char *name, Span to, Extent extent, int value, void *stream, bool waits) {
    return fill_make(name, to, extent, (unsigned char)value, 1, stream, waits);
}

Error do_cudaMemset(void *to, int value, size_t bytes) {
    return fill("cudaMemset", span(to, 0), (Extent){bytes, 1, 1}, value, NULL, true);
}

Error do_cudaMemsetAsync(void *to, int value, size_t bytes, void *stream) {
    return fill("cudaMemsetAsync", span(to, 0), (Extent){bytes, 1, 1}, value, stream, false);
}

Error do_cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill("cudaMemset2D", span(to, pitch), (Extent){width, height, 1}, value, NULL, true);
}

Error do_cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream) {
    return fill("cudaMemset2DAsync", span(to, pitch), (Extent){width, height, 1}, value, stream, false);
}

Error do_cudaMemset3D(Pitched to, int value, Extent extent) {
    Span at = {to.at, to.pitch, to.pitch * to.height};
    return fill("cudaMemset3D", at, extent, value, NULL, true);
}

Error do_cudaMemset3DAsync(Pitched to, int value, Extent extent, void *stream) {
    Span at = {to.at, to.pitch, to.pitch * to.height};
    return fill("cudaMemset3DAsync", at, extent, value, stream, false);
}
