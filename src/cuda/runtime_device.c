/* The CUDA runtime: the device, its properties and limits. There is one. */
#include "cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNTIME_VERSION = 13000, MOST_LIMITS = 16, LIMIT_HEAP = 2, DEFAULT_HEAP = 8 << 20 };

static unsigned device_flags = 8; /* memory of the host can be mapped */
static int cache_config, shared_config;
static size_t limits[MOST_LIMITS] = {1024, 1 << 20, DEFAULT_HEAP, 2, 2048, 128, 0};

static Error is_device(int device) {
    return device == 0 ? 0 : CUDA_INVALID_DEVICE;
}

Error do_cudaDeviceReset(void) {
    graph_forget_all();
    array_forget_all();
    memory_reset(0);
    weir_device_heap_reset(cuda.device);
    limits[LIMIT_HEAP] = DEFAULT_HEAP;
    log_line("await-all 0");
    stream_forget_all(0);
    cuda.sticky = 0;
    cuda_last(true);
    return 0;
}

Error do_cudaThreadExit(void) {
    return do_cudaDeviceReset();
}

Error do_cudaThreadSynchronize(void) {
    return do_cudaDeviceSynchronize();
}

Error do_cudaDeviceSetLimit(int limit, size_t value) {
    if (limit < 0 || limit >= MOST_LIMITS)
        return CUDA_INVALID_VALUE;
    if (limit > 6)
        return CUDA_UNSUPPORTED_LIMIT;
    if (limit == LIMIT_HEAP && weir_device_heap(cuda.device, value) != 0)
        return CUDA_INVALID_VALUE;
    limits[limit] = value;
    return 0;
}

Error do_cudaDeviceGetLimit(size_t *value, int limit) {
    if (!value || limit < 0 || limit >= MOST_LIMITS)
        return CUDA_INVALID_VALUE;
    if (limit > 6)
        return CUDA_UNSUPPORTED_LIMIT;
    *value = limits[limit];
    return 0;
}

Error do_cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const Channels *format, int device) {
    if (!width || !format)
        return CUDA_INVALID_VALUE;
    *width = (size_t)1 << 28;
    return is_device(device);
}

Error do_cudaDeviceGetCacheConfig(int *config) {
    if (!config)
        return CUDA_INVALID_VALUE;
    *config = cache_config;
    return 0;
}

Error do_cudaDeviceSetCacheConfig(int config) {
    cache_config = config;
    return config >= 0 && config <= 3 ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaDeviceGetSharedMemConfig(int *config) {
    if (!config)
        return CUDA_INVALID_VALUE;
    *config = shared_config ? shared_config : 1;
    return 0;
}

Error do_cudaDeviceSetSharedMemConfig(int config) {
    shared_config = config;
    return config >= 0 && config <= 2 ? 0 : CUDA_INVALID_VALUE;
}

static const char bus_id[] = "0000:00:00.0";

Error do_cudaDeviceGetByPCIBusId(int *device, const char *id) {
    if (!device || !id)
        return CUDA_INVALID_VALUE;
    *device = 0;
    return strcmp(id, bus_id) == 0 ? 0 : CUDA_INVALID_DEVICE;
}

Error do_cudaDeviceGetPCIBusId(char *id, int size, int device) {
    if (!id || size < (int)sizeof bus_id)
        return CUDA_INVALID_VALUE;
    memcpy(id, bus_id, sizeof bus_id);
    return is_device(device);
}

Error do_cudaGetDeviceCount(int *count) {
    if (!count)
        return CUDA_INVALID_VALUE;
    *count = 1;
    return 0;
}

Error do_cudaGetDeviceProperties(void *properties, int device) {
    if (!properties)
        return CUDA_INVALID_VALUE;
    if (device)
        return CUDA_INVALID_DEVICE;
    gpu_properties(properties);
    return 0;
}

Error do_cudaGetDeviceProperties_v2(void *properties, int device) {
    if (!properties)
        return CUDA_INVALID_VALUE;
    if (device)
        return CUDA_INVALID_DEVICE;
    gpu_properties_12(properties);
    return 0;
}

Error do_cudaDeviceGetAttribute(int *value, int attribute, int device) {
    if (!value)
        return CUDA_INVALID_VALUE;
    if (device)
        return CUDA_INVALID_DEVICE;
    return gpu_attribute(attribute, value) ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaChooseDevice(int *device, const void *properties) {
    if (!device || !properties)
        return CUDA_INVALID_VALUE;
    *device = 0;
    return 0;
}

Error do_cudaInitDevice(int device, unsigned flags, unsigned other) {
    (void)flags, (void)other;
    return is_device(device);
}

Error do_cudaSetDevice(int device) {
    return is_device(device);
}

Error do_cudaGetDevice(int *device) {
    if (!device)
        return CUDA_INVALID_VALUE;
    *device = 0;
    return 0;
}

Error do_cudaSetValidDevices(int *devices, int count) {
    if (count < 0 || (count && !devices))
        return CUDA_INVALID_VALUE;
    return count ? is_device(devices[0]) : 0;
}

Error do_cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags | 8;
    return 0;
}

Error do_cudaGetDeviceFlags(unsigned *flags) {
    if (!flags)
        return CUDA_INVALID_VALUE;
    *flags = device_flags;
    return 0;
}

Error do_cudaDriverGetVersion(int *version) {
    if (!version)
        return CUDA_INVALID_VALUE;
    *version = RUNTIME_VERSION;
    return 0;
}

Error do_cudaRuntimeGetVersion(int *version) {
    return do_cudaDriverGetVersion(version);
}

Error do_cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (!can)
        return CUDA_INVALID_VALUE;
    *can = 0;
    return device || peer ? CUDA_INVALID_DEVICE : 0;
}

Error do_cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)peer;
    return flags ? CUDA_INVALID_VALUE : CUDA_INVALID_DEVICE;
}

Error do_cudaDeviceDisablePeerAccess(int peer) {
    return peer ? CUDA_INVALID_DEVICE : CUDA_PEER_NOT_ENABLED;
}

Error do_cudaDeviceGetP2PAttribute(int *value, int attribute, int from, int to) {
    (void)attribute;
    if (!value)
        return CUDA_INVALID_VALUE;
    *value = 0;
    return from || to || from == to ? CUDA_INVALID_DEVICE : 0;
}
