/* The CUDA runtime: kernels, their attributes, and launches of them. */
#include "cuda/runtime.h"

#include <string.h>

extern _Thread_local const void *pushed_from;

/* ---- Launches ---- */

static void set_shape(unsigned to[3], Dim3 from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static Error launch(CudaLaunch *launch, const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                    void *stream) {
    Error error = function ? registered_kernel(function, &launch->kernel) : CUDA_INVALID_FUNCTION;
    if (error)
        return error;
    set_shape(launch->grid, grid);
    set_shape(launch->block, block);
    launch->shared = shared;
    launch->parameters = arguments;
    launch->stream = stream_of(stream);
    return launch_make(launch);
}

Error do_cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared, void *stream) {
    CudaLaunch made = {0};
    return launch(&made, function, grid, block, arguments, shared, stream);
}

/* Between <<< and >>>: the caller is a function that the compiler made, and its caller has said where it was. */
Error do___cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                            void *stream) {
    cuda_came_from(pushed_from);
    return do_cudaLaunchKernel(function, grid, block, arguments, shared, stream);
}

Error do_cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                                     void *stream) {
    CudaLaunch made = {.cooperative = true};
    return launch(&made, function, grid, block, arguments, shared, stream);
}

typedef struct Attribute { /* cudaLaunchAttribute */
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
        int number;
        struct {
            void *event;
            int flags, at_start;
        } event;
    } value;
} Attribute;

enum {
    ATTRIBUTE_COOPERATIVE = 2,
    ATTRIBUTE_CLUSTER = 4,
    ATTRIBUTE_PROGRAMMATIC = 6,
    ATTRIBUTE_EVENT = 7,
    ATTRIBUTE_LAUNCHED = 12
};

static Error take_attributes(CudaLaunch *launch, const RuntimeConfig *config) {
    const Attribute *attributes = config->attributes;
    enum { MOST = 64 };
    if (config->attribute_count > MOST || (config->attribute_count && !attributes))
        return CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const Attribute *one = &attributes[i];
        if (one->id == ATTRIBUTE_COOPERATIVE)
            launch->cooperative = one->value.number;
        else if (one->id == ATTRIBUTE_CLUSTER)
            memcpy(launch->cluster, one->value.cluster, sizeof launch->cluster);
        else if (one->id == ATTRIBUTE_PROGRAMMATIC)
            launch->dependent = one->value.number;
        else if (one->id == ATTRIBUTE_EVENT || one->id == ATTRIBUTE_LAUNCHED)
            launch->event = one->value.event.event;
    }
    return 0;
}

Error do_cudaLaunchKernelExC(const RuntimeConfig *config, const void *function, void **arguments) {
    CudaLaunch made = {0};
    Error error = config ? take_attributes(&made, config) : CUDA_INVALID_VALUE;
    if (!error)
        error = launch(&made, function, config->grid, config->block, arguments, config->shared, config->stream);
    if (!error && made.event)
        error = event_during_launch(made.event, config->stream);
    return error;
}

/* ---- What a kernel is ---- */

Error do___cudaGetKernel(void **kernel, const void *function) {
    Kernel *found = NULL;
    Error error = kernel ? registered_kernel(function, &found) : CUDA_INVALID_VALUE;
    if (!error)
        *kernel = found;
    return error;
}

Error do_cudaGetKernel(void **kernel, const void *function) {
    return do___cudaGetKernel(kernel, function);
}

/* Registers are those of the compiler for the GPU, which is not here: as many as a thread may have at that block. */
Error do_cudaFuncGetAttributes(void *attributes, const void *function) {
    Kernel *kernel;
    Error error = attributes ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (error)
        return error;
    const weir_device_kernel *about = &kernel->about;
    unsigned required = about->required[0] ? about->required[0] * (about->required[1] ? about->required[1] : 1) *
                                                 (about->required[2] ? about->required[2] : 1)
                                           : 0;
    FunctionAttributes *to = attributes;
    *to = (FunctionAttributes){.shared = about->shared,
                               .constant = about->constant,
                               .local = about->local,
                               .threads = required      ? (int)required
                                          : about->most ? (int)about->most
                                                        : 1024,
                               .registers = 32,
                               .ptx = (int)cuda.target->capability,
                               .binary = (int)cuda.target->capability,
                               .dynamic = (int)kernel->dynamic_most,
                               .carveout = kernel->carveout,
                               .cluster_needed = about->cluster[0] != 0};
    for (unsigned i = 0; i < 3; i++)
        to->cluster[i] = (int)about->cluster[i];
    return 0;
}

Error do_cudaFuncSetAttribute(const void *function, int attribute, int value) {
    enum { DYNAMIC = 8, CARVEOUT = 9, LARGE_CLUSTER = 14, LAST = 15 };
    Kernel *kernel;
    Error error = registered_kernel(function, &kernel);
    if (error)
        return error;
    if (attribute < DYNAMIC || attribute > LAST)
        return CUDA_INVALID_VALUE;
    if (attribute == DYNAMIC) {
        if (value < 0 || (size_t)value + kernel->about.shared > (size_t)cuda.target->shared_block)
            return CUDA_INVALID_VALUE;
        kernel->dynamic_most = (size_t)value;
    } else if (attribute == CARVEOUT) {
        if (value < -1 || value > 100)
            return CUDA_INVALID_VALUE;
        kernel->carveout = value;
    } else if (attribute == LARGE_CLUSTER) {
        kernel->large_cluster = value;
    }
    return 0;
}

Error do_cudaFuncSetCacheConfig(const void *function, int config) {
    Kernel *kernel;
    return config < 0 || config > 3 ? CUDA_INVALID_VALUE : registered_kernel(function, &kernel);
}

Error do_cudaFuncSetSharedMemConfig(const void *function, int config) {
    Kernel *kernel;
    return config < 0 || config > 2 ? CUDA_INVALID_VALUE : registered_kernel(function, &kernel);
}

Error do_cudaFuncGetName(const char **name, const void *function) {
    Kernel *kernel;
    Error error = name ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (!error)
        *name = kernel->name;
    return error;
}

/* Each lies behind the one before it, at a multiple of its size, or of what its parts need. */
Error do_cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
    Kernel *kernel;
    Error error = offset ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (error || index >= kernel->about.parameters)
        return error ? error : CUDA_INVALID_VALUE;
    *offset = kernel->offsets[index];
    if (size)
        *size = kernel->sizes[index];
    return 0;
}

/* ---- Occupancy ---- */

Error do_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *function, int threads,
                                                                size_t shared, unsigned flags) {
    Kernel *kernel;
    Error error = count && threads > 0 && flags <= 1 ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (!error)
        *count = kernel->about.most && (unsigned)threads > kernel->about.most
                     ? 0
                     : gpu_occupancy(threads, shared + kernel->about.shared);
    return error;
}

Error do_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int threads, size_t shared) {
    return do_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, shared, 0);
}

Error do_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int ctas, int threads) {
    enum { RESERVED = 1024, UNIT = 128 };
    Kernel *kernel;
    Error error = bytes && ctas > 0 && threads > 0 ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (error)
        return error;
    size_t each = (size_t)(cuda.target->shared_most / ctas) / UNIT * UNIT, taken = RESERVED + kernel->about.shared;
    size_t most = (size_t)cuda.target->shared_block - kernel->about.shared;
    *bytes = each > taken ? each - taken : 0;
    *bytes = *bytes < most ? *bytes : most;
    return gpu_occupancy(threads, kernel->about.shared) < ctas ? CUDA_INVALID_VALUE : 0;
}

Error do_cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const RuntimeConfig *config) {
    Kernel *kernel;
    Error error = size && config ? registered_kernel(function, &kernel) : CUDA_INVALID_VALUE;
    if (!error)
        *size = kernel->large_cluster ? 16 : 8;
    return error;
}

Error do_cudaOccupancyMaxActiveClusters(int *count, const void *function, const RuntimeConfig *config) {
    CudaLaunch made = {0};
    Error error = count && config ? registered_kernel(function, &made.kernel) : CUDA_INVALID_VALUE;
    error = error ? error : take_attributes(&made, config);
    if (error)
        return error;
    const unsigned *cluster = made.cluster[0] ? made.cluster : made.kernel->about.cluster;
    uint64_t ctas = 1, threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    for (unsigned i = 0; i < 3; i++)
        ctas *= cluster[i] ? cluster[i] : 1;
    int fit = gpu_occupancy(threads > 1024 ? 0 : (int)threads, config->shared + made.kernel->about.shared);
    *count = ctas ? (int)((uint64_t)fit * (uint64_t)cuda.target->processors / ctas) : 0;
    return 0;
}
