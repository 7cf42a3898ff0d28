/* The entry points of the CUDA driver (driver.def) that do what the runtime has no function for; called with the lock
 * held. Types are those of cuda.h: its structures begin as the runtime's do, or are here. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include "cuda/graphs.h"

/* Contexts (contexts.c). */
typedef struct Context Context;
typedef struct ContextParameters { /* CUctxCreateParams */
    const void *affinities;
    int count;
    const void *graphics;
} ContextParameters;
Context *context_of(const void *handle); /* NULL: there is none such */
Context *context_numbered(uint64_t number);
Error context_problem(void); /* why calls that need one cannot be made; 0: they can */
Error do_cuCtxCreate(void **to, unsigned flags, int device);
Error do_cuCtxDestroy(void *handle);
Error do_cuCtxPushCurrent(void *handle);
Error do_cuCtxPopCurrent(void **to);
Error do_cuCtxSetCurrent(void *handle);
Error do_cuCtxGetCurrent(void **to);
Error do_cuCtxGetFlags(unsigned *flags);
Error do_cuCtxGetId(void *handle, unsigned long long *id);
Error do_cuCtxGetApiVersion(void *handle, unsigned *version);
Error do_cuCtxSynchronize(void *handle);
Error do_cuDevicePrimaryCtxRetain(void **to, int device);
Error do_cuDevicePrimaryCtxRelease(int device);
Error do_cuDevicePrimaryCtxSetFlags(int device, unsigned flags);
Error do_cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
Error do_cuDevicePrimaryCtxReset(int device);
Error do_cuStreamGetCtx(void *stream, void **to);

/* Devices and memory (driver_memory.c). */
typedef struct Rows { /* CUDA_MEMCPY2D */
    size_t from_x, from_y;
    int from_kind;
    const void *from_host, *from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_kind;
    void *to_host, *to_device, *to_array;
    size_t to_pitch, width, height;
} Rows;
typedef struct Slices { /* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, whose contexts are where this has what is reserved */
    size_t from_x, from_y, from_z, from_level;
    int from_kind;
    const void *from_host, *from_device;
    void *from_array, *from_context;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_level;
    int to_kind;
    void *to_host, *to_device, *to_array, *to_context;
    size_t to_pitch, to_height, width, height, depth;
} Slices;
Error slices_of(const Slices *given, Copy *copy);
Error do_cuDeviceGetName(char *name, int length, int device);
Error do_cuDeviceGetUuid(void *uuid, int device);
Error do_cuDeviceTotalMem(size_t *bytes, int device);
Error do_cuDeviceGetProperties(int *properties, int device);
Error do_cuMemAlloc(void **to, size_t bytes);
Error do_cuMemAllocPitch(void **to, size_t *pitch, size_t width, size_t height, unsigned element);
Error do_cuMemGetAddressRange(void **base, size_t *bytes, void *memory);
Error do_cuMemcpy(const char *name, void *to, const void *from, size_t bytes, int kind, void *stream, bool waits);
Error do_cuMemcpyPeer(const char *name, void *to, void *to_context, const void *from, void *from_context, size_t bytes,
                      void *stream, bool waits);
Error do_cuMemcpy2D(const char *name, const Rows *rows, void *stream, bool waits);
Error do_cuMemcpy3D(const char *name, const Slices *slices, void *stream, bool waits);
Error do_cuMemset(const char *name, void *to, size_t pitch, unsigned value, unsigned element, size_t width,
                  size_t height, void *stream, bool waits);
Error do_cuPointerGetAttribute(void *data, int attribute, void *memory);
Error do_cuPointerGetAttributes(unsigned count, const int *attributes, void **data, void *memory);

/* Modules and kernels (driver_kernels.c). */
typedef struct DriverConfig { /* CUlaunchConfig */
    Dim3 grid, block;
    unsigned shared;
    void *stream;
    const void *attributes;
    unsigned attribute_count;
} DriverConfig;
Error do_cuModuleLoad(void **module, const char *path);
Error do_cuModuleLoadData(void **module, const void *image);
Error do_cuModuleLoadDataEx(void **module, const void *image, unsigned count, const int *options, void **values);
Error do_cuModuleUnload(void *module);
Error do_cuModuleGetFunction(void **function, void *module, const char *name);
Error do_cuModuleGetFunctionCount(unsigned *count, void *module);
Error do_cuModuleEnumerateFunctions(void **functions, unsigned count, void *module);
Error do_cuModuleGetGlobal(void **to, size_t *bytes, void *module, const char *name);
Error do_cuLibraryGetModule(void **module, void *library);
Error do_cuKernelGetFunction(void **function, void *kernel);
Error do_cuFuncGetModule(void **module, void *function);
Error do_cuFuncGetAttribute(int *value, int attribute, void *function);
Error do_cuLinkCreate(unsigned count, const int *options, void **values, void **state);
Error do_cuLinkAddData(void *state, int type, const void *data, size_t size);
Error do_cuLinkAddFile(void *state, int type, const char *path);
Error do_cuLinkComplete(void *state, void **image, size_t *size);
Error do_cuLinkDestroy(void *state);
Error do_cuLaunchKernel(void *function, Dim3 grid, Dim3 block, unsigned shared, void *stream, void **parameters,
                        void **extra, bool cooperative);
Error do_cuLaunchKernelEx(const DriverConfig *config, void *function, void **parameters, void **extra);
Error do_cuOccupancyMaxPotentialBlockSize(int *ctas, int *threads, void *function, void *shared_of, size_t shared,
                                          int most);
Error do_cuOccupancyClusters(int *to, void *function, const DriverConfig *config, bool size);
Error do_cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill);

/* Graphs (driver_graphs.c). */
typedef struct DriverKernelNode { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    KernelNode node;
    void *kernel, *context;
} DriverKernelNode;
Error do_cuGraphAddKernelNode(void **to, void *graph, void *const *from, size_t count, const DriverKernelNode *given);
Error do_cuGraphKernelNodeGetParams(void *node, DriverKernelNode *to);
Error do_cuGraphKernelNodeSetParams(void *exec, void *node, const DriverKernelNode *given);
Error do_cuGraphAddMemcpyNode(void **to, void *graph, void *const *from, size_t count, const Slices *given);
Error do_cuGraphMemcpyNodeSetParams(void *exec, void *node, const Slices *given);
Error do_cuGraphInstantiate(void **exec, void *graph, void **node, char *text, size_t size);
Error do_cuGraphExecUpdate(void *exec, void *graph, void **node, int *result);
Error do_cuGraphAddNode(void **to, void *graph, void *const *from, const void *edges, size_t count, void *parameters);
Error do_cuGraphNodeSetParams(void *exec, void *node, void *parameters);

/* Entry points by name, as of a release (12030): NULL with what is missing: 1 the name, 2 a newer release. */
void *driver_entry(const char *name, int version, bool per_thread, int *status);

#endif
