/* Which entry points of the driver are stood in front of, and how their own are called. */
#ifndef RUNTIME_HOOKS_H
#define RUNTIME_HOOKS_H

#include "runtime/driver.h"
#include "runtime/hooks_order.h"

#include <pthread.h>
#include <stdbool.h>

/* Name as cuGetProcAddress is asked for it, name as the linker has it, and which of the stream variants it is. */
#define HOOKS(X)                                                                   \
    X(cuGetProcAddress, cuGetProcAddress, ANY)                                     \
    X(cuGetProcAddress, cuGetProcAddress_v2, ANY)                                  \
    X(cuInit, cuInit, ANY)                                                         \
    X(cuModuleLoad, cuModuleLoad, ANY)                                             \
    X(cuModuleLoadData, cuModuleLoadData, ANY)                                     \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, ANY)                                 \
    X(cuModuleLoadFatBinary, cuModuleLoadFatBinary, ANY)                           \
    X(cuModuleUnload, cuModuleUnload, ANY)                                         \
    X(cuModuleGetFunction, cuModuleGetFunction, ANY)                               \
    X(cuLibraryLoadData, cuLibraryLoadData, ANY)                                   \
    X(cuLibraryLoadFromFile, cuLibraryLoadFromFile, ANY)                           \
    X(cuLibraryUnload, cuLibraryUnload, ANY)                                       \
    X(cuLibraryGetKernel, cuLibraryGetKernel, ANY)                                 \
    X(cuLibraryGetModule, cuLibraryGetModule, ANY)                                 \
    X(cuKernelGetFunction, cuKernelGetFunction, ANY)                               \
    X(cuFuncSetCacheConfig, cuFuncSetCacheConfig, ANY)                             \
    X(cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, ANY)                     \
    X(cuKernelSetCacheConfig, cuKernelSetCacheConfig, ANY)                         \
    X(cuCtxSetLimit, cuCtxSetLimit, ANY)                                           \
    X(cuCtxDestroy, cuCtxDestroy, ANY)                                             \
    X(cuCtxDestroy, cuCtxDestroy_v2, ANY)                                          \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, ANY)                       \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, ANY)                    \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, ANY)                   \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, ANY)                \
    X(cuMemAlloc, cuMemAlloc_v2, ANY)                                              \
    X(cuMemGetInfo, cuMemGetInfo_v2, ANY)                                          \
    X(cuMemAllocPitch, cuMemAllocPitch_v2, ANY)                                    \
    X(cuMemAllocManaged, cuMemAllocManaged, ANY)                                   \
    X(cuMemAllocAsync, cuMemAllocAsync, LEGACY)                                    \
    X(cuMemAllocAsync, cuMemAllocAsync_ptsz, PER_THREAD)                           \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, LEGACY)                    \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz, PER_THREAD)           \
    X(cuMemAllocHost, cuMemAllocHost, ANY)                                         \
    X(cuMemAllocHost, cuMemAllocHost_v2, ANY)                                      \
    X(cuMemHostAlloc, cuMemHostAlloc, ANY)                                         \
    X(cuMemHostRegister, cuMemHostRegister, ANY)                                   \
    X(cuMemHostRegister, cuMemHostRegister_v2, ANY)                                \
    X(cuMemHostUnregister, cuMemHostUnregister, ANY)                               \
    X(cuMemFree, cuMemFree_v2, ANY)                                                \
    X(cuMemFreeAsync, cuMemFreeAsync, LEGACY)                                      \
    X(cuMemFreeAsync, cuMemFreeAsync_ptsz, PER_THREAD)                             \
    X(cuMemFreeHost, cuMemFreeHost, ANY)                                           \
    X(cuMemAddressReserve, cuMemAddressReserve, ANY)                               \
    X(cuMemAddressFree, cuMemAddressFree, ANY)                                     \
    X(cuMemCreate, cuMemCreate, ANY)                                               \
    X(cuMemMap, cuMemMap, ANY)                                                     \
    X(cuMemUnmap, cuMemUnmap, ANY)                                                 \
    X(cuMemRelease, cuMemRelease, ANY)                                             \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, ANY)                         \
    X(cuTexObjectCreate, cuTexObjectCreate, ANY)                                   \
    X(cuSurfObjectCreate, cuSurfObjectCreate, ANY)                                 \
    X(cuLaunchKernel, cuLaunchKernel, LEGACY)                                      \
    X(cuLaunchKernel, cuLaunchKernel_ptsz, PER_THREAD)                             \
    X(cuLaunchKernelEx, cuLaunchKernelEx, LEGACY)                                  \
    X(cuLaunchKernelEx, cuLaunchKernelEx_ptsz, PER_THREAD)                         \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, LEGACY)                \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz, PER_THREAD)       \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode, ANY)                             \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode_v2, ANY)                          \
    X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, ANY)                 \
    X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, ANY)              \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, ANY)         \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, ANY)      \
    X(cuGraphAddNode, cuGraphAddNode, ANY)                                         \
    X(cuGraphAddNode, cuGraphAddNode_v2, ANY)                                      \
    X(cuGraphNodeSetParams, cuGraphNodeSetParams, ANY)                             \
    X(cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, ANY)                     \
    X(cuStreamSetAttribute, cuStreamSetAttribute, LEGACY)                          \
    X(cuStreamSetAttribute, cuStreamSetAttribute_ptsz, PER_THREAD)                 \
    X(cuStreamBeginCapture, cuStreamBeginCapture, LEGACY)                          \
    X(cuStreamBeginCapture, cuStreamBeginCapture_ptsz, PER_THREAD)                 \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, LEGACY)                       \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2_ptsz, PER_THREAD)              \
    X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, LEGACY)            \
    X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz, PER_THREAD)   \
    X(cuStreamEndCapture, cuStreamEndCapture, LEGACY)                              \
    X(cuStreamEndCapture, cuStreamEndCapture_ptsz, PER_THREAD)                     \
    X(cuGraphInstantiate, cuGraphInstantiate, ANY)                                 \
    X(cuGraphInstantiate, cuGraphInstantiate_v2, ANY)                              \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags, ANY)                        \
    X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, LEGACY)          \
    X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz, PER_THREAD) \
    X(cuGraphExecUpdate, cuGraphExecUpdate, ANY)                                   \
    X(cuGraphExecUpdate, cuGraphExecUpdate_v2, ANY)                                \
    X(cuGraphExecDestroy, cuGraphExecDestroy, ANY)                                 \
    X(cuGraphDestroy, cuGraphDestroy, ANY)                                         \
    X(cuGraphDestroyNode, cuGraphDestroyNode, ANY)                                 \
    X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, ANY)                         \
    X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, ANY)         \
    X(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, ANY)         \
    X(cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, ANY)             \
    X(cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, ANY) \
    X(cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, ANY) \
    X(cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, ANY)     \
    X(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, ANY)                           \
    X(cuGraphLaunch, cuGraphLaunch, LEGACY)                                        \
    X(cuGraphLaunch, cuGraphLaunch_ptsz, PER_THREAD)                               \
    X(cuIpcGetEventHandle, cuIpcGetEventHandle, ANY)                               \
    X(cuIpcOpenEventHandle, cuIpcOpenEventHandle, ANY)                             \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, ANY)                                   \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle, ANY)                                 \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2, ANY)                              \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, ANY)                               \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, ANY)             \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle, ANY)         \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, ANY)

/* Words as arguments, and as they are handed on. */
#define WORDS_1 uintptr_t a
#define WORDS_2 WORDS_1, uintptr_t b
#define WORDS_3 WORDS_2, uintptr_t c
#define WORDS_4 WORDS_3, uintptr_t d
#define WORDS_5 WORDS_4, uintptr_t e
#define WORDS_6 WORDS_5, uintptr_t f
#define WORDS_8 WORDS_6, uintptr_t g, uintptr_t h
#define WORDS_9 WORDS_8, uintptr_t i
#define GIVEN_1 a
#define GIVEN_2 GIVEN_1, b
#define GIVEN_3 GIVEN_2, c
#define GIVEN_4 GIVEN_3, d
#define GIVEN_5 GIVEN_4, e
#define GIVEN_6 GIVEN_5, f
#define GIVEN_8 GIVEN_6, g, h
#define GIVEN_9 GIVEN_8, i

/* All of them, with those that order launches: HOOK_ROW is what is made of each. */
#define HOOK_ASYNC(name, exported, means, count, stream) \
    HOOK_ROW(name, exported, LEGACY) HOOK_ROW(name, exported##_ptsz, PER_THREAD)
#define HOOK_SYNC(name, exported, means, count, stream) \
    HOOK_ROW(name, exported, LEGACY) HOOK_ROW(name, exported##_ptds, PER_THREAD)
#define HOOK_OTHER(name, exported, means, count, stream) HOOK_ROW(name, exported, ANY)
#define ALL_HOOKS                                        HOOKS(HOOK_ROW) ORDER_ASYNC(HOOK_ASYNC) ORDER_SYNC(HOOK_SYNC) ORDER_OTHERS(HOOK_OTHER)

/* Behind those, the ones that are not modeled (hooks_unmodeled.c). */
enum {
#define HOOK_ROW(name, exported, streams) HOOK_##exported,
    ALL_HOOKS
#undef HOOK_ROW
        HOOKS_MODELED,
    HOOK_BEFORE = HOOKS_MODELED - 1,
#define MODELED(exported)
#define HARMLESS(exported)
#define INCOMPLETE(exported, why, words) HOOK_##exported,
#include "runtime/entry_points.def"
#undef INCOMPLETE
    HOOK_COUNT
};

typedef void HookFunction(void);

enum { NOT_FOUND = 500 }; /* CUDA_ERROR_NOT_FOUND: a driver without that entry point */
#define EXPORTED __attribute__((visibility("default")))

/* The driver's own; NULL: it has none. */
HookFunction *hook_next(unsigned number);

/* Calls the driver's entry point of the same name. */
#define NEXT(exported, types, ...) \
    (hook_next(HOOK_##exported) ? ((Result(*) types)hook_next(HOOK_##exported))(__VA_ARGS__) : NOT_FOUND)

/* Those that this library calls itself, as the program would. */
Result cuMemAlloc_v2(DevicePointer *to, size_t bytes);
Result cuMemFree_v2(DevicePointer memory);

/* A node of an executable graph was changed: our clone of its graph follows (hooks_graphs.c). `set`: the entry point
 * that does the same to a node of a graph; NULL: it is not followed. Returns `result`. */
Result graph_follow(Result result, Handle exec, Handle node, const char *set, const void *value);

struct OrderCopy;
/* A copy was made, by a node of a graph or by a call: the allocations are found that its memory is in, and whether the
 * host waits for it. */
void hook_copied(struct OrderCopy *copy, bool node);

extern pthread_mutex_t hook_mutex;
#define GUARDED(statement)                 \
    do {                                   \
        pthread_mutex_lock(&hook_mutex);   \
        statement;                         \
        pthread_mutex_unlock(&hook_mutex); \
    } while (0)

#endif
