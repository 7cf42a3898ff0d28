/* How many CTAs of a kernel run at the same time. Instrumented they are fewer, and CTAs that wait for each other, as at
 * a barrier of the grid, all have to be there. */
#include "runtime/record/gpu.h"

enum { DEVICE_SMS = 16 };

/* A launch may name a CUkernel where a CUfunction is meant: the latter. */
static Handle function_of(Handle kernel) {
    void *symbol = driver_symbol("cuKernelGetFunction");
    Handle function = NULL;
    return symbol && (*(Result(**)(Handle *, Handle)) & symbol)(&function, kernel) == 0 && function ? function : kernel;
}

uint32_t gpu_resident(const SeenLaunch *launch, Handle function) {
    void *symbol = driver_symbol("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    Result (*occupancy)(int *, Handle, int, size_t) = *(Result(**)(int *, Handle, int, size_t)) & symbol;
    const GpuDriver *driver = gpu_driver(NULL);
    int blocks = 0, sms = 0, device = 0;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    driver->context_device(&device);
    driver->device_attribute(&sms, DEVICE_SMS, device);
    if (!occupancy || occupancy(&blocks, function_of(function), (int)threads, launch->shared) != 0 || blocks < 1)
        blocks = 1;
    return (uint32_t)(blocks * sms);
}

/* Whether it reads what others may write meanwhile: without that, no CTA waits for another one. */
static bool may_wait(GpuModule *module) {
    uint32_t count;
    const RecordShape *shapes = gpu_shapes(module, &count);
    for (uint32_t i = 0; i < count; i++)
        if (shapes[i].polls)
            return true;
    return false;
}

uint32_t gpu_together(GpuModule *module, const SeenLaunch *launch) {
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    int device = 0, sms = 0;
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1 ||
        (!launch->cooperative && !may_wait(module)) || ctas > gpu_resident(launch, launch->function))
        return 0;
    gpu_driver(NULL)->context_device(&device);
    gpu_driver(NULL)->device_attribute(&sms, DEVICE_SMS, device);
    return sms > 0 ? (uint32_t)((ctas + (uint64_t)sms - 1) / (uint64_t)sms) : 0;
}
