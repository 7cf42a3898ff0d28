/* Launches: whether they can be made, the run on the CPU, and how that ended. */
#include "cuda/cuda.h"
#include "cuda/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whether it can be made ---- */

static bool is_zero(const unsigned shape[3]) {
    return !shape[0] || !shape[1] || !shape[2];
}

static Error fit_cluster(const CudaLaunch *launch) {
    const unsigned *required = launch->kernel->about.cluster, *said = launch->cluster;
    enum { MOST = 8, MOST_LARGE = 16 };
    const unsigned *cluster = said[0] ? said : required;
    uint64_t ctas = 1;
    if (!cluster[0])
        return 0;
    for (unsigned i = 0; i < 3; i++) {
        unsigned one = cluster[i] ? cluster[i] : 1;
        if (launch->grid[i] % one || (said[0] && required[0] && said[i] != required[i]))
            return CUDA_INVALID_CLUSTER;
        ctas *= one;
    }
    return ctas > (launch->kernel->large_cluster ? MOST_LARGE : MOST) || cuda.target->capability < 90
               ? CUDA_INVALID_CLUSTER
               : 0;
}

Error launch_fits(const CudaLaunch *launch) {
    const Kernel *kernel = launch->kernel;
    if (kernel->module->gone)
        return CUDA_INVALID_HANDLE;
    static const unsigned most_grid[3] = {2147483647, 65535, 65535}, most_block[3] = {1024, 1024, 64};
    const unsigned *required = kernel->about.required;
    if (is_zero(launch->grid) || is_zero(launch->block))
        return CUDA_INVALID_CONFIGURATION;
    for (unsigned i = 0; i < 3; i++)
        if (launch->grid[i] > most_grid[i] || launch->block[i] > most_block[i])
            return CUDA_INVALID_CONFIGURATION;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > 1024)
        return CUDA_INVALID_CONFIGURATION;
    if (launch->shared > kernel->dynamic_most ||
        launch->shared + kernel->about.shared > (size_t)cuda.target->shared_block ||
        (launch->shared + kernel->about.shared > 49152 && kernel->dynamic_most <= 49152))
        return CUDA_INVALID_VALUE;
    if ((kernel->about.most && threads > kernel->about.most) ||
        (required[0] &&
         threads != (uint64_t)required[0] * (required[1] ? required[1] : 1) * (required[2] ? required[2] : 1)))
        return CUDA_OUT_OF_RESOURCES;
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int fit = gpu_occupancy((int)threads, launch->shared + kernel->about.shared);
    if (launch->cooperative && ctas > (uint64_t)fit * (uint64_t)cuda.target->processors)
        return CUDA_COOPERATIVE_TOO_LARGE;
    if (kernel->about.parameters && !launch->parameters)
        return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < kernel->about.parameters; i++)
        if (!launch->parameters[i])
            return CUDA_INVALID_VALUE;
    return fit_cluster(launch);
}

Error launch_parameters(CudaLaunch *launch, void **extra, void *places[MOST_PARAMETERS]) {
    enum { END, POINTER, SIZE };
    const Kernel *kernel = launch->kernel;
    size_t count = kernel->about.parameters, bytes = SIZE_MAX;
    char *block = NULL;
    if (!extra)
        return 0;
    for (; *extra != (void *)END; extra += 2) {
        if (*extra != (void *)POINTER && *extra != (void *)SIZE)
            return CUDA_INVALID_VALUE;
        if (*extra == (void *)POINTER)
            block = extra[1];
        else if (extra[1])
            memcpy(&bytes, extra[1], sizeof bytes);
    }
    if (launch->parameters || !block || bytes == SIZE_MAX || count > MOST_PARAMETERS)
        return CUDA_INVALID_VALUE;
    if (bytes != (count ? kernel->offsets[count - 1] + kernel->sizes[count - 1] : 0))
        return CUDA_OUT_OF_RESOURCES;
    for (size_t i = 0; i < count; i++)
        places[i] = block + kernel->offsets[i];
    launch->parameters = places;
    return 0;
}

/* ---- How it ended ---- */

static int print(void *to, const char *data, size_t size) {
    (void)to;
    return fwrite(data, 1, size, stdout) == size ? 0 : -1;
}

static int print_error(void *to, const char *data, size_t size) {
    (void)to;
    return fwrite(data, 1, size, stderr) == size ? 0 : -1;
}

static Error error_of(const CudaLaunch *launch, weir_device_end end) {
    const char *why = weir_device_error(cuda.device);
    switch (end) {
    case WEIR_DEVICE_DONE:
        return 0;
    case WEIR_DEVICE_ADDRESS:
        return cuda.sticky = CUDA_ILLEGAL_ADDRESS;
    case WEIR_DEVICE_ALIGNMENT:
        return cuda.sticky = CUDA_MISALIGNED;
    case WEIR_DEVICE_ASSERTION:
        return cuda.sticky = CUDA_ASSERT;
    case WEIR_DEVICE_TRAP:
        return cuda.sticky = CUDA_LAUNCH_FAILURE;
    case WEIR_DEVICE_FAULT:
    case WEIR_DEVICE_HANG:
        cuda_note("kernel %s ended: %s", launch->kernel->plain, why);
        return cuda.sticky = CUDA_LAUNCH_FAILURE;
    case WEIR_DEVICE_INVALID:
        cuda_note("kernel %s was not run: %s", launch->kernel->plain, why);
        return CUDA_INVALID_VALUE;
    case WEIR_DEVICE_UNSUPPORTED:
    case WEIR_DEVICE_LIMIT:
        cuda_note("kernel %s was not run: %s", launch->kernel->plain, why);
        return end == WEIR_DEVICE_LIMIT ? CUDA_NO_MEMORY : CUDA_NOT_SUPPORTED;
    }
    return CUDA_LAUNCH_FAILURE;
}

/* A launch that ended badly was not made, as far as its results go. On a GPU, later calls say so. */
Error launch_run(const CudaLaunch *launch) {
    const Kernel *kernel = launch->kernel;
    if (kernel->module->gone) /* a graph still has it */
        return CUDA_INVALID_HANDLE;
    launch->stream->busy = true;
    weir_device_launch given = {.kernel = kernel->name,
                                .shared = launch->shared,
                                .parameters = launch->parameters,
                                .parameter_count = kernel->about.parameters,
                                .dependent = launch->dependent,
                                .print = print,
                                .print_error = print_error};
    memcpy(given.grid, launch->grid, sizeof given.grid);
    memcpy(given.block, launch->block, sizeof given.block);
    memcpy(given.cluster, launch->cluster, sizeof given.cluster);
    cuda.launches++;
    capture_launch(launch, &given);
    bool checked = check_launch(launch, &given, false);
    weir_device_watch(cuda.device, log_on());
    weir_device_end end = weir_device_run(cuda.device, kernel->module->module, &given);
    log_launch(launch, end == WEIR_DEVICE_DONE);
    Error error = error_of(launch, end);
    if (cuda.sticky && !checked)
        checked = check_launch(launch, &given, true);
    cuda.fresh = cuda.sticky;
    if (cuda.sticky)
        cuda_say("failed-launch %d %s", error, kernel->plain);
    return cuda.sticky ? 0 : error;
}

Error launch_make(CudaLaunch *launch) {
    if (!launch->stream)
        return CUDA_INVALID_HANDLE;
    Error error = launch_fits(launch);
    if (error)
        return error;
    return launch->stream->capture ? graph_launch(launch->stream, launch) : launch_run(launch);
}
