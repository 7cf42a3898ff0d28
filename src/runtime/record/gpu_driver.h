/* The entry points of the driver that recording needs, as the driver exports them. */
#ifndef RUNTIME_RECORD_GPU_DRIVER_H
#define RUNTIME_RECORD_GPU_DRIVER_H

#include "runtime/driver.h"

#include <stdbool.h>

/* Field, exported name, types of the parameters. */
#define GPU_DRIVER(X)                                                                                           \
    X(context_current, cuCtxGetCurrent, (Handle *))                                                             \
    X(context_set, cuCtxSetCurrent, (Handle))                                                                   \
    X(context_push, cuCtxPushCurrent_v2, (Handle))                                                              \
    X(context_pop, cuCtxPopCurrent_v2, (Handle *))                                                              \
    X(context_device, cuCtxGetDevice, (int *))                                                                  \
    X(context_wait, cuCtxSynchronize, (void))                                                                   \
    X(primary_retain, cuDevicePrimaryCtxRetain, (Handle *, int))                                                \
    X(primary_state, cuDevicePrimaryCtxGetState, (int, unsigned *, int *))                                      \
    X(device_attribute, cuDeviceGetAttribute, (int *, int, int))                                                \
    X(device_name, cuDeviceGetName, (char *, int, int))                                                         \
    X(memory_info, cuMemGetInfo_v2, (size_t *, size_t *))                                                       \
    X(allocate, cuMemAlloc_v2, (DevicePointer *, size_t))                                                       \
    X(free, cuMemFree_v2, (DevicePointer))                                                                      \
    X(allocate_host, cuMemHostAlloc, (void **, size_t, unsigned))                                               \
    X(set_bytes, cuMemsetD8Async, (DevicePointer, unsigned char, size_t, Handle))                               \
    X(copy_to, cuMemcpyHtoDAsync_v2, (DevicePointer, const void *, size_t, Handle))                             \
    X(copy_from, cuMemcpyDtoHAsync_v2, (void *, DevicePointer, size_t, Handle))                                 \
    X(launch, cuLaunchKernel,                                                                                   \
      (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **, void **)) \
    X(stream_create, cuStreamCreate, (Handle *, unsigned))                                                      \
    X(stream_wait, cuStreamSynchronize, (Handle))                                                               \
    X(stream_query, cuStreamQuery, (Handle))                                                                    \
    X(stream_after, cuStreamWaitEvent, (Handle, Handle, unsigned))                                              \
    X(stream_capturing, cuStreamIsCapturing, (Handle, int *))                                                   \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, (int *))                                                 \
    X(event_create, cuEventCreate, (Handle *, unsigned))                                                        \
    X(event_destroy, cuEventDestroy_v2, (Handle))                                                               \
    X(event_record, cuEventRecord, (Handle, Handle))                                                            \
    X(event_query, cuEventQuery, (Handle))                                                                      \
    X(event_between, cuEventElapsedTime, (float *, Handle, Handle))                                             \
    X(function_parameter, cuFuncGetParamInfo, (Handle, size_t, size_t *, size_t *))                             \
    X(function_attribute, cuFuncGetAttribute, (int *, int, Handle))                                             \
    X(function_set, cuFuncSetAttribute, (Handle, int, int))                                                     \
    X(module_load, cuModuleLoadData, (Handle *, const void *))                                                  \
    X(module_function, cuModuleGetFunction, (Handle *, Handle, const char *))                                   \
    X(module_variable, cuModuleGetGlobal_v2, (DevicePointer *, size_t *, Handle, const char *))                 \
    X(link_create, cuLinkCreate_v2, (unsigned, int *, void **, Handle *))                                       \
    X(link_add, cuLinkAddData_v2, (Handle, int, void *, size_t, const char *, unsigned, int *, void **))        \
    X(link_complete, cuLinkComplete, (Handle, void **, size_t *))                                               \
    X(link_destroy, cuLinkDestroy, (Handle))

typedef struct GpuDriver {
#define FIELD(field, exported, types) Result(*field) types;
    GPU_DRIVER(FIELD)
#undef FIELD
} GpuDriver;

/* NULL: there is no driver, or it lacks one of them; *missing is its name then. */
const GpuDriver *gpu_driver(const char **missing);

/* Calls of our own while the program captures a graph on this thread must not disturb it. */
int gpu_relax(void);
void gpu_relaxed(int mode);

/* What a call means on that stream. A stream that is captured must not be touched by calls of our own: all but
 * cuStreamIsCapturing, also those that ask for its flags or its context, invalidate the capture (driver 580). */
typedef enum GpuCapture {
    CAPTURE_NONE,
    CAPTURE_ACTIVE,  /* what is put into the stream becomes a node of a graph */
    CAPTURE_UNKNOWN, /* the driver does not say: a launch before it failed, or the stream waits for one that captures */
} GpuCapture;
GpuCapture gpu_capture(Handle stream);

enum { STREAM_PER_THREAD = 2, STREAM_NON_BLOCKING = 1 };
enum { CAPTURE_RELAXED = 2 };
enum { EVENT_NO_TIMING = 2 };
enum { HOST_PORTABLE = 1, HOST_MAPPED = 2 };
enum { DEVICE_MAJOR = 75, DEVICE_MINOR = 76 };
enum { NOT_READY = 600 };
enum { FUNCTION_THREADS = 0 };  /* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
enum { FUNCTION_LOCAL = 3 };    /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES */
enum { FUNCTION_CLUSTER = 11 }; /* CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, then _HEIGHT, _DEPTH */

#endif
