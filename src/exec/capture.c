/* The entry points of libweir-capture.so: LD_PRELOAD puts them in front of the driver's, whichever way a program gets
 * at those: linked, by dlsym, or by cuGetProcAddress, which is how the CUDA runtime does it. Each calls the driver's
 * own and remembers what it needs; a launch is written before it is made, since a kernel that hangs is one to look at.
 */
#include "exec/capture.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { NOT_FOUND = 500 }; /* CUDA_ERROR_NOT_FOUND: a driver without that entry point */

#define EXPORTED __attribute__((visibility("default")))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- What is stood in front of ------------------------------------------------------------------- */

typedef void Function(void);
typedef enum Streams { STREAMS_ANY, STREAMS_LEGACY, STREAMS_PER_THREAD } Streams;
typedef struct Hook {
    const char *name;     /* as cuGetProcAddress is asked for it */
    const char *exported; /* as the linker has it */
    Streams streams;
    Function *hook;
    Function *next; /* the driver's; NULL: not asked for yet */
} Hook;

#define HOOKS(X)                                                             \
    X(cuGetProcAddress, cuGetProcAddress_v2, ANY)                            \
    X(cuModuleLoad, cuModuleLoad, ANY)                                       \
    X(cuModuleLoadData, cuModuleLoadData, ANY)                               \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, ANY)                           \
    X(cuModuleLoadFatBinary, cuModuleLoadFatBinary, ANY)                     \
    X(cuModuleGetFunction, cuModuleGetFunction, ANY)                         \
    X(cuLibraryLoadData, cuLibraryLoadData, ANY)                             \
    X(cuLibraryLoadFromFile, cuLibraryLoadFromFile, ANY)                     \
    X(cuLibraryGetKernel, cuLibraryGetKernel, ANY)                           \
    X(cuLibraryGetModule, cuLibraryGetModule, ANY)                           \
    X(cuKernelGetFunction, cuKernelGetFunction, ANY)                         \
    X(cuMemAlloc, cuMemAlloc_v2, ANY)                                        \
    X(cuMemAllocPitch, cuMemAllocPitch_v2, ANY)                              \
    X(cuMemAllocManaged, cuMemAllocManaged, ANY)                             \
    X(cuMemAllocAsync, cuMemAllocAsync, LEGACY)                              \
    X(cuMemAllocAsync, cuMemAllocAsync_ptsz, PER_THREAD)                     \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, LEGACY)              \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz, PER_THREAD)     \
    X(cuMemAllocHost, cuMemAllocHost_v2, ANY)                                \
    X(cuMemHostAlloc, cuMemHostAlloc, ANY)                                   \
    X(cuMemHostRegister, cuMemHostRegister_v2, ANY)                          \
    X(cuMemHostUnregister, cuMemHostUnregister, ANY)                         \
    X(cuMemFree, cuMemFree_v2, ANY)                                          \
    X(cuMemFreeAsync, cuMemFreeAsync, LEGACY)                                \
    X(cuMemFreeAsync, cuMemFreeAsync_ptsz, PER_THREAD)                       \
    X(cuMemFreeHost, cuMemFreeHost, ANY)                                     \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, ANY)                   \
    X(cuLaunchKernel, cuLaunchKernel, LEGACY)                                \
    X(cuLaunchKernel, cuLaunchKernel_ptsz, PER_THREAD)                       \
    X(cuLaunchKernelEx, cuLaunchKernelEx, LEGACY)                            \
    X(cuLaunchKernelEx, cuLaunchKernelEx_ptsz, PER_THREAD)                   \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, LEGACY)          \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz, PER_THREAD) \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, ANY)

enum {
#define NUMBER(name, exported, streams) HOOK_##exported,
    HOOKS(NUMBER)
#undef NUMBER
        HOOK_COUNT
};

static Hook hooks[HOOK_COUNT];

static Function *next_of(unsigned number) {
    Hook *hook = &hooks[number];
    if (!hook->next) {
        void *symbol = driver_symbol(hook->exported);
        hook->next = *(Function **)&symbol;
    }
    return hook->next;
}

/* Calls the driver's entry point of the same name. */
#define NEXT(exported, types, ...) \
    (next_of(HOOK_##exported) ? ((Result(*) types)next_of(HOOK_##exported))(__VA_ARGS__) : NOT_FOUND)
#define GUARDED(statement)            \
    do {                              \
        pthread_mutex_lock(&mutex);   \
        statement;                    \
        pthread_mutex_unlock(&mutex); \
    } while (0)

/* ---- Modules ------------------------------------------------------------------------------------- */

EXPORTED Result cuModuleLoad(Handle *module, const char *path) {
    Result result = NEXT(cuModuleLoad, (Handle *, const char *), module, path);
    if (!result)
        GUARDED(module_loaded_from(*module, path));
    return result;
}

EXPORTED Result cuModuleLoadData(Handle *module, const void *image) {
    Result result = NEXT(cuModuleLoadData, (Handle *, const void *), module, image);
    if (!result)
        GUARDED(module_loaded(*module, image));
    return result;
}

EXPORTED Result cuModuleLoadDataEx(Handle *module, const void *image, unsigned count, int *options, void **values) {
    Result result = NEXT(cuModuleLoadDataEx, (Handle *, const void *, unsigned, int *, void **), module, image, count,
                         options, values);
    if (!result)
        GUARDED(module_loaded(*module, image));
    return result;
}

EXPORTED Result cuModuleLoadFatBinary(Handle *module, const void *image) {
    Result result = NEXT(cuModuleLoadFatBinary, (Handle *, const void *), module, image);
    if (!result)
        GUARDED(module_loaded(*module, image));
    return result;
}

EXPORTED Result cuModuleGetFunction(Handle *function, Handle module, const char *name) {
    Result result = NEXT(cuModuleGetFunction, (Handle *, Handle, const char *), function, module, name);
    if (!result)
        GUARDED(module_same(*function, module));
    return result;
}

EXPORTED Result cuLibraryLoadData(Handle *library, const void *image, int *jit, void **jit_values, unsigned jit_count,
                                  int *options, void **values, unsigned count) {
    Result result =
        NEXT(cuLibraryLoadData, (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned), library,
             image, jit, jit_values, jit_count, options, values, count);
    if (!result)
        GUARDED(module_loaded(*library, image));
    return result;
}

EXPORTED Result cuLibraryLoadFromFile(Handle *library, const char *path, int *jit, void **jit_values,
                                      unsigned jit_count, int *options, void **values, unsigned count) {
    Result result =
        NEXT(cuLibraryLoadFromFile, (Handle *, const char *, int *, void **, unsigned, int *, void **, unsigned),
             library, path, jit, jit_values, jit_count, options, values, count);
    if (!result)
        GUARDED(module_loaded_from(*library, path));
    return result;
}

EXPORTED Result cuLibraryGetKernel(Handle *kernel, Handle library, const char *name) {
    Result result = NEXT(cuLibraryGetKernel, (Handle *, Handle, const char *), kernel, library, name);
    if (!result)
        GUARDED(module_same(*kernel, library));
    return result;
}

EXPORTED Result cuLibraryGetModule(Handle *module, Handle library) {
    Result result = NEXT(cuLibraryGetModule, (Handle *, Handle), module, library);
    if (!result)
        GUARDED(module_same(*module, library));
    return result;
}

EXPORTED Result cuKernelGetFunction(Handle *function, Handle kernel) {
    Result result = NEXT(cuKernelGetFunction, (Handle *, Handle), function, kernel);
    if (!result)
        GUARDED(module_same(*function, kernel));
    return result;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

EXPORTED Result cuMemAlloc_v2(DevicePointer *to, size_t bytes) {
    Result result = NEXT(cuMemAlloc_v2, (DevicePointer *, size_t), to, bytes);
    if (!result)
        GUARDED(memory_add(*to, bytes, false));
    return result;
}

EXPORTED Result cuMemAllocPitch_v2(DevicePointer *to, size_t *pitch, size_t width, size_t height, unsigned element) {
    Result result = NEXT(cuMemAllocPitch_v2, (DevicePointer *, size_t *, size_t, size_t, unsigned), to, pitch, width,
                         height, element);
    if (!result)
        GUARDED(memory_add(*to, *pitch * height, false));
    return result;
}

EXPORTED Result cuMemAllocManaged(DevicePointer *to, size_t bytes, unsigned flags) {
    Result result = NEXT(cuMemAllocManaged, (DevicePointer *, size_t, unsigned), to, bytes, flags);
    if (!result)
        GUARDED(memory_add(*to, bytes, false));
    return result;
}

#define ALLOCATE_ASYNC(name)                                                              \
    EXPORTED Result name(DevicePointer *to, size_t bytes, Handle stream) {                \
        Result result = NEXT(name, (DevicePointer *, size_t, Handle), to, bytes, stream); \
        if (!result)                                                                      \
            GUARDED(memory_add(*to, bytes, false));                                       \
        return result;                                                                    \
    }
ALLOCATE_ASYNC(cuMemAllocAsync)
ALLOCATE_ASYNC(cuMemAllocAsync_ptsz)

#define ALLOCATE_FROM(name)                                                                             \
    EXPORTED Result name(DevicePointer *to, size_t bytes, Handle pool, Handle stream) {                 \
        Result result = NEXT(name, (DevicePointer *, size_t, Handle, Handle), to, bytes, pool, stream); \
        if (!result)                                                                                    \
            GUARDED(memory_add(*to, bytes, false));                                                     \
        return result;                                                                                  \
    }
ALLOCATE_FROM(cuMemAllocFromPoolAsync)
ALLOCATE_FROM(cuMemAllocFromPoolAsync_ptsz)

EXPORTED Result cuMemAllocHost_v2(void **to, size_t bytes) {
    Result result = NEXT(cuMemAllocHost_v2, (void **, size_t), to, bytes);
    if (!result)
        GUARDED(memory_add((uintptr_t)*to, bytes, true));
    return result;
}

EXPORTED Result cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
    Result result = NEXT(cuMemHostAlloc, (void **, size_t, unsigned), to, bytes, flags);
    if (!result)
        GUARDED(memory_add((uintptr_t)*to, bytes, true));
    return result;
}

EXPORTED Result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    Result result = NEXT(cuMemHostRegister_v2, (void *, size_t, unsigned), memory, bytes, flags);
    if (!result)
        GUARDED(memory_add((uintptr_t)memory, bytes, true));
    return result;
}

EXPORTED Result cuMemHostUnregister(void *memory) {
    GUARDED(memory_remove((uintptr_t)memory));
    return NEXT(cuMemHostUnregister, (void *), memory);
}

EXPORTED Result cuMemFree_v2(DevicePointer memory) {
    GUARDED(memory_remove(memory));
    return NEXT(cuMemFree_v2, (DevicePointer), memory);
}

EXPORTED Result cuMemFreeAsync(DevicePointer memory, Handle stream) {
    GUARDED(memory_remove(memory));
    return NEXT(cuMemFreeAsync, (DevicePointer, Handle), memory, stream);
}

EXPORTED Result cuMemFreeAsync_ptsz(DevicePointer memory, Handle stream) {
    GUARDED(memory_remove(memory));
    return NEXT(cuMemFreeAsync_ptsz, (DevicePointer, Handle), memory, stream);
}

EXPORTED Result cuMemFreeHost(void *memory) {
    GUARDED(memory_remove((uintptr_t)memory));
    return NEXT(cuMemFreeHost, (void *), memory);
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
    TensorMap map = {.type = type,
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

/* ---- Launches ------------------------------------------------------------------------------------ */

#define LAUNCH(name)                                                                                                  \
    EXPORTED Result name(Handle function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,            \
                         uint32_t bz, uint32_t shared, Handle stream, void **parameters, void **extra) {              \
        SeenLaunch launch = {.function = function,                                                                    \
                             .stream = stream,                                                                        \
                             .grid = {gx, gy, gz},                                                                    \
                             .block = {bx, by, bz},                                                                   \
                             .shared = shared,                                                                        \
                             .parameters = parameters,                                                                \
                             .extra = extra};                                                                         \
        GUARDED(launch_seen(&launch));                                                                                \
        return NEXT(                                                                                                  \
            name,                                                                                                     \
            (Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle, void **, void **), \
            function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);                                     \
    }
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)

#define LAUNCH_COOPERATIVE(name)                                                                                     \
    EXPORTED Result name(Handle function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,           \
                         uint32_t bz, uint32_t shared, Handle stream, void **parameters) {                           \
        SeenLaunch launch = {.function = function,                                                                   \
                             .stream = stream,                                                                       \
                             .grid = {gx, gy, gz},                                                                   \
                             .block = {bx, by, bz},                                                                  \
                             .shared = shared,                                                                       \
                             .parameters = parameters};                                                              \
        GUARDED(launch_seen(&launch));                                                                               \
        return NEXT(name,                                                                                            \
                    (Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle, void **), \
                    function, gx, gy, gz, bx, by, bz, shared, stream, parameters);                                   \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

static void launch_with(const LaunchConfig *config, Handle function, void **parameters, void **extra) {
    SeenLaunch launch = {.function = function,
                         .stream = config->stream,
                         .shared = config->shared,
                         .parameters = parameters,
                         .extra = extra};
    memcpy(launch.grid, config->grid, sizeof launch.grid);
    memcpy(launch.block, config->block, sizeof launch.block);
    for (unsigned i = 0; config->attributes && i < config->attribute_count; i++) {
        const LaunchAttribute *attribute = &config->attributes[i];
        if (attribute->id == ATTRIBUTE_CLUSTER)
            memcpy(launch.cluster, attribute->value.cluster, sizeof launch.cluster);
        else if (attribute->id == ATTRIBUTE_PROGRAMMATIC)
            launch.dependent = attribute->value.number != 0;
    }
    GUARDED(launch_seen(&launch));
}

EXPORTED Result cuLaunchKernelEx(const LaunchConfig *config, Handle function, void **parameters, void **extra) {
    launch_with(config, function, parameters, extra);
    return NEXT(cuLaunchKernelEx, (const LaunchConfig *, Handle, void **, void **), config, function, parameters,
                extra);
}

EXPORTED Result cuLaunchKernelEx_ptsz(const LaunchConfig *config, Handle function, void **parameters, void **extra) {
    launch_with(config, function, parameters, extra);
    return NEXT(cuLaunchKernelEx_ptsz, (const LaunchConfig *, Handle, void **, void **), config, function, parameters,
                extra);
}

EXPORTED Result cuGraphAddKernelNode_v2(Handle *node, Handle graph, const Handle *before, size_t count,
                                        const KernelNode *kernel) {
    SeenLaunch launch = {.function = kernel->function,
                         .shared = kernel->shared,
                         .later = true,
                         .parameters = kernel->parameters,
                         .extra = kernel->extra};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    if (!launch.function)
        launch.function = kernel->kernel;
    GUARDED(launch_seen(&launch));
    return NEXT(cuGraphAddKernelNode_v2, (Handle *, Handle, const Handle *, size_t, const KernelNode *), node, graph,
                before, count, kernel);
}

/* ---- How programs get at the driver -------------------------------------------------------------- */

/* The hook in front of what was found, if there is one; it goes on to that from now on. */
static void *in_front(Hook *hook, void *found) {
    Function *function = *(Function **)&found;
    if (function != hook->hook)
        hook->next = function;
    return *(void **)&hook->hook;
}

static void *put_in_front(const char *name, uint64_t flags, void *found) {
    Streams streams = flags & PER_THREAD_STREAM ? STREAMS_PER_THREAD : STREAMS_LEGACY;
    for (unsigned i = 0; found && i < HOOK_COUNT; i++)
        if (strcmp(hooks[i].name, name) == 0 && (hooks[i].streams == STREAMS_ANY || hooks[i].streams == streams))
            return in_front(&hooks[i], found);
    return found;
}

EXPORTED Result cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status) {
    Result result =
        NEXT(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *), name, to, version, flags, status);
    if (!result && to)
        *to = put_in_front(name, flags, *to);
    return result;
}

/* The form before CUDA 12. */
EXPORTED Result cuGetProcAddress(const char *name, void **to, int version, uint64_t flags) {
    void *symbol = driver_symbol("cuGetProcAddress");
    Result (*next)(const char *, void **, int, uint64_t) = *(Result(**)(const char *, void **, int, uint64_t)) & symbol;
    Result result = next ? next(name, to, version, flags) : NOT_FOUND;
    if (!result && to && strcmp(name, "cuGetProcAddress") != 0)
        *to = put_in_front(name, flags, *to);
    return result;
}

EXPORTED void *dlsym(void *handle, const char *name) {
    if (strncmp(name, "cu", 2) != 0)
        return next_dlsym(handle, name);
    void *found = next_dlsym(handle, name);
    for (unsigned i = 0; found && i < HOOK_COUNT; i++)
        if (strcmp(hooks[i].exported, name) == 0)
            return in_front(&hooks[i], found);
    return found;
}

/* ---- The table ----------------------------------------------------------------------------------- */

static Hook hooks[HOOK_COUNT] = {
#define ROW(name, exported, streams) {#name, #exported, STREAMS_##streams, (Function *)exported, NULL},
    HOOKS(ROW)
#undef ROW
};

__attribute__((constructor)) static void say_process(void) {
    folder_log("process %ld", (long)getpid());
}
