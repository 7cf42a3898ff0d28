/* Entry points of the driver that allocate and free memory, and that encode tensor maps: what there is is remembered.
 */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <string.h>

/* What a call says that asks for memory of the device: made again if there is none, but for what records could do
 * without. */
#define OR_MAKE_ROOM(call) \
    do                     \
        result = (call);   \
    while (result == OUT_OF_MEMORY && gpu_make_room())

static void add_memory(DevicePointer memory, size_t bytes) {
    GUARDED(memory_add(memory, bytes, false));
    if (order_on())
        order_given(memory, bytes);
}

EXPORTED Result cuMemAlloc_v2(DevicePointer *to, size_t bytes) {
    Result result;
    if (!checked_allocate(to, bytes, &result))
        OR_MAKE_ROOM(NEXT(cuMemAlloc_v2, (DevicePointer *, size_t), to, bytes));
    if (!result)
        add_memory(*to, bytes);
    return result;
}

/* Memory that the program would get counts as free. */
EXPORTED Result cuMemGetInfo_v2(size_t *unused, size_t *all) {
    Result result = NEXT(cuMemGetInfo_v2, (size_t *, size_t *), unused, all);
    if (!result && unused)
        *unused += gpu_lent();
    return result;
}

EXPORTED Result cuMemAllocPitch_v2(DevicePointer *to, size_t *pitch, size_t width, size_t height, unsigned element) {
    Result result;
    if (!checked_pitch(to, pitch, width, height, &result))
        OR_MAKE_ROOM(NEXT(cuMemAllocPitch_v2, (DevicePointer *, size_t *, size_t, size_t, unsigned), to, pitch, width,
                          height, element));
    if (!result)
        add_memory(*to, *pitch * height);
    return result;
}

EXPORTED Result cuMemAllocManaged(DevicePointer *to, size_t bytes, unsigned flags) {
    Result result = NEXT(cuMemAllocManaged, (DevicePointer *, size_t, unsigned), to, bytes, flags);
    if (!result)
        GUARDED(memory_add_managed(*to, bytes));
    return result;
}

/* Memory that comes from a stream. In one that is captured it is allocated when its graph is launched. */
static void add_async(DevicePointer memory, size_t bytes, OrderStream stream, const char *name) {
    GUARDED(memory_add_pooled(memory, bytes));
    if (order_on() && gpu_capture(order_handle(stream)) == CAPTURE_NONE)
        order_pooled(&(OrderPooled){.stream = stream, .memory = {memory, bytes}, .name = name});
}

#define ALLOCATE_ASYNC(name, per_thread)                                                    \
    EXPORTED Result name(DevicePointer *to, size_t bytes, Handle stream) {                  \
        Result result;                                                                      \
        if (!checked_allocate(to, bytes, &result))                                          \
            OR_MAKE_ROOM(NEXT(name, (DevicePointer *, size_t, Handle), to, bytes, stream)); \
        if (!result)                                                                        \
            add_async(*to, bytes, (OrderStream){NULL, stream, per_thread}, #name);          \
        return result;                                                                      \
    }
ALLOCATE_ASYNC(cuMemAllocAsync, false)
ALLOCATE_ASYNC(cuMemAllocAsync_ptsz, true)

#define ALLOCATE_FROM(name, per_thread)                                                                   \
    EXPORTED Result name(DevicePointer *to, size_t bytes, Handle pool, Handle stream) {                   \
        Result result;                                                                                    \
        if (!checked_allocate(to, bytes, &result))                                                        \
            OR_MAKE_ROOM(NEXT(name, (DevicePointer *, size_t, Handle, Handle), to, bytes, pool, stream)); \
        if (!result)                                                                                      \
            add_async(*to, bytes, (OrderStream){NULL, stream, per_thread}, #name);                        \
        return result;                                                                                    \
    }
ALLOCATE_FROM(cuMemAllocFromPoolAsync, false)
ALLOCATE_FROM(cuMemAllocFromPoolAsync_ptsz, true)

#define ALLOCATE_HOST(name, size)                               \
    EXPORTED Result name(void **to, size bytes) {               \
        Result result = NEXT(name, (void **, size), to, bytes); \
        if (!result)                                            \
            GUARDED(memory_add((uintptr_t)*to, bytes, true));   \
        return result;                                          \
    }
ALLOCATE_HOST(cuMemAllocHost, unsigned)
ALLOCATE_HOST(cuMemAllocHost_v2, size_t)

EXPORTED Result cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
    Result result = NEXT(cuMemHostAlloc, (void **, size_t, unsigned), to, bytes, flags);
    if (!result)
        GUARDED(memory_add((uintptr_t)*to, bytes, true));
    return result;
}

#define REGISTER_HOST(name)                                                           \
    EXPORTED Result name(void *memory, size_t bytes, unsigned flags) {                \
        Result result = NEXT(name, (void *, size_t, unsigned), memory, bytes, flags); \
        if (!result)                                                                  \
            GUARDED(memory_add((uintptr_t)memory, bytes, true));                      \
        return result;                                                                \
    }
REGISTER_HOST(cuMemHostRegister)
REGISTER_HOST(cuMemHostRegister_v2)

EXPORTED Result cuMemHostUnregister(void *memory) {
    hold_for_all();
    GUARDED(memory_remove((uintptr_t)memory));
    return NEXT(cuMemHostUnregister, (void *), memory);
}

/* What there is at the address, which is there no more. */
static CaptureAllocation take(DevicePointer memory) {
    CaptureAllocation taken = {.begin = memory};
    pthread_mutex_lock(&hook_mutex);
    const CaptureAllocation *found = memory_find(memory);
    if (found && found->begin == memory)
        taken = *found;
    memory_remove(memory);
    pthread_mutex_unlock(&hook_mutex);
    return taken;
}

/* The driver waits for all kernels before it gives memory back. */
static Result freed(Result result) {
    if (!result && order_on())
        order_host_context(NULL);
    return result;
}

/* It does not wait for memory of a pool: there the program does. */
EXPORTED Result cuMemFree_v2(DevicePointer memory) {
    hold_for_all();
    CaptureAllocation taken = take(memory);
    Result result;
    if (checked_free(memory, &result))
        return result;
    if (taken.pooled && order_on())
        order_pooled(&(OrderPooled){.host = true, .frees = true, .memory = {memory, taken.bytes}, .name = "cuMemFree"});
    result = NEXT(cuMemFree_v2, (DevicePointer), memory);
    return taken.pooled ? result : freed(result);
}

/* In a stream that is captured it is freed when its graph is launched. */
static void remove_async(DevicePointer memory, Handle handle, bool per_thread) {
    OrderStream stream = {NULL, handle, per_thread};
    if (gpu_on() && gpu_capture(order_handle(stream)) == CAPTURE_ACTIVE)
        return;
    CaptureAllocation taken = take(memory);
    if (order_on())
        order_pooled(
            &(OrderPooled){.stream = stream, .frees = true, .memory = {memory, taken.bytes}, .name = "cuMemFreeAsync"});
}

#define FREE_ASYNC(name, per_thread)                                                                         \
    EXPORTED Result name(DevicePointer memory, Handle stream) {                                              \
        Result result;                                                                                       \
        remove_async(memory, stream, per_thread);                                                            \
        return checked_free(memory, &result) ? result : NEXT(name, (DevicePointer, Handle), memory, stream); \
    }
FREE_ASYNC(cuMemFreeAsync, false)
FREE_ASYNC(cuMemFreeAsync_ptsz, true)

EXPORTED Result cuMemFreeHost(void *memory) {
    hold_for_all();
    GUARDED(memory_remove((uintptr_t)memory));
    return freed(NEXT(cuMemFreeHost, (void *), memory));
}

EXPORTED Result cuTensorMapEncodeTiled(void *to, int type, unsigned rank, void *address, const uint64_t *sizes,
                                       const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                                       int interleave, int swizzle, int promotion, int fill) {
    Result result = NEXT(cuTensorMapEncodeTiled,
                         (void *, int, unsigned, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                          const uint32_t *, int, int, int, int),
                         to, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill);
    if (result || !rank || rank > TENSOR_MAP_DIMS)
        return result;
    CaptureTensorMap map = {.type = type,
                            .rank = rank,
                            .address = (uintptr_t)address,
                            .interleave = interleave,
                            .swizzle = swizzle,
                            .promotion = promotion,
                            .fill = fill};
    memcpy(map.bytes, to, TENSOR_MAP_BYTES);
    memcpy(map.sizes, sizes, rank * sizeof *sizes);
    memcpy(map.strides + 1, strides, (rank - 1) * sizeof *strides);
    memcpy(map.box, box, rank * sizeof *box);
    memcpy(map.steps, steps, rank * sizeof *steps);
    GUARDED(map_add(&map));
    return result;
}

/* ---- Textures ------------------------------------------------------------------------------------ */

enum {
    RESOURCE_MIPMAPPED = 1
}; /* CUresourcetype, which a CUDA_RESOURCE_DESC begins with: behind that they are linear */

static bool others_than_arrays; /* a texture of memory that has addresses, or a surface, was made */

bool textures_are_arrays(void) {
    return !__atomic_load_n(&others_than_arrays, __ATOMIC_RELAXED);
}

EXPORTED Result cuTexObjectCreate(uint64_t *object, const int *resource, const void *texture, const void *view) {
    if (!resource || *resource > RESOURCE_MIPMAPPED)
        __atomic_store_n(&others_than_arrays, true, __ATOMIC_RELAXED);
    return NEXT(cuTexObjectCreate, (uint64_t *, const int *, const void *, const void *), object, resource, texture,
                view);
}

EXPORTED Result cuSurfObjectCreate(uint64_t *object, const int *resource) {
    __atomic_store_n(&others_than_arrays, true, __ATOMIC_RELAXED);
    return NEXT(cuSurfObjectCreate, (uint64_t *, const int *), object, resource);
}
