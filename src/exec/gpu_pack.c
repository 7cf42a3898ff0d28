/* Chunks are packed on the device and written to memory of the host, by a kernel of our own (pack.ptx) that runs behind
 * the recorded one: what goes to the host is a tenth of what was recorded, and nothing has to be known of it before. */
#include "exec/gpu.h"

#include <stdlib.h>

enum { LEAST_STAGING = 1 << 14, MORE_STAGING = 4, PACKER_THREADS = 256, PACKERS_A_SM = 6, MULTIPROCESSORS = 16 };
enum { UNITS_A_CTA = PACK_WINDOW * PACK_WINDOWS * PACKER_THREADS / RECORD_LANES };
static const uint64_t most_pinned = UINT64_C(1) << 30;

__asm__(".pushsection .rodata\n"
        "pack_ptx: .incbin \"src/exec/pack.ptx\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pack_ptx[] __attribute__((visibility("hidden")));

/* The function, in the current context; NULL: the driver does not take it. */
static Handle packer(GpuContext *context) {
    Handle module;
    if (context->packer_sought)
        return context->packer;
    void *load = driver_symbol("cuModuleLoadData"), *get = driver_symbol("cuModuleGetFunction");
    if (load && get && (*(Result(**)(Handle *, const void *)) & load)(&module, pack_ptx) == 0 &&
        (*(Result(**)(Handle *, Handle, const char *)) & get)(&context->packer, module, "weir_pack") != 0)
        context->packer = NULL;
    context->packer_sought = true;
    return context->packer;
}

/* Pinned memory for so many bytes, that the device can reach; it may have moved. */
static bool staging(GpuContext *context, uint64_t bytes) {
    const GpuDriver *driver = gpu_driver(NULL);
    uint64_t wanted = LEAST_STAGING;
    if (context->staging && context->staging_bytes >= bytes)
        return true;
    while (wanted < bytes)
        wanted *= MORE_STAGING;
    if (context->staging)
        driver->free_host(context->staging);
    context->staging_bytes = 0;
    context->staging = NULL;
    if (wanted > most_pinned || driver->allocate_host(&context->staging, wanted, HOST_PORTABLE | HOST_MAPPED) != 0)
        return false;
    context->staging_bytes = wanted;
    return true;
}

/* As many CTAs as there is work for at first sight; they go on to the next block for as long as there is one. */
static unsigned grid_of(const GpuFlight *flight) {
    int processors = 0;
    gpu_driver(NULL)->device_attribute(&processors, MULTIPROCESSORS, flight->context->device_number);
    uint64_t bytes = flight->first_bytes + flight->kernel->further, most = (uint64_t)processors * PACKERS_A_SM;
    uint64_t wanted = bytes / RECORD_UNIT / UNITS_A_CTA + 1;
    return (unsigned)(wanted < most ? wanted : most ? most : 1);
}

static bool pack(const GpuFlight *flight, uint32_t near, uint32_t far) {
    GpuContext *context = flight->context;
    DevicePointer units = flight->first, block = flight->block, to = (uintptr_t)context->staging;
    uint64_t first = flight->first_bytes / RECORD_UNIT, room = context->staging_bytes;
    void *parameters[] = {&units, &first, &near, &far, &block, &to, &room};
    return gpu_driver(NULL)->launch(context->packer, grid_of(flight), 1, 1, PACKER_THREADS, 1, 1, 0, context->behind,
                                    parameters, NULL) == 0 &&
           gpu_driver(NULL)->stream_wait(context->behind) == 0;
}

bool gpu_pack(const GpuFlight *flight, RecordLaunch *after, GpuChunks *chunks) {
    GpuContext *context = flight->context;
    const RecordingLaunch *launch = &flight->launch;
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t needed = 0; /* not known before it was tried */
    if (!packer(context))
        return false;
    chunks->near = launch->chunk / RECORD_UNIT;
    chunks->far = (uint32_t)(flight->first_bytes / RECORD_UNIT / ctas);
    do {
        /* Not all of it had room: it is packed once more. */
        DevicePointer counters = flight->block + offsetof(RecordLaunch, packed);
        if (!staging(context, needed) ||
            (needed && gpu_driver(NULL)->set_bytes(counters, 0, 2 * sizeof(uint32_t), context->behind) != 0) ||
            !pack(flight, chunks->near, chunks->far))
            return false;
        memcpy(after, context->staging, sizeof *after);
        needed = sizeof *after + (uint64_t)after->packed * RECORD_UNIT;
    } while (needed > context->staging_bytes);
    chunks->packed = (Str){(const char *)context->staging + sizeof *after, (size_t)(needed - sizeof *after)};
    return true;
}
