/* Chunks are packed on the device and written to memory of the host, by a kernel of our own (pack.ptx) that runs behind
 * the recorded one: what goes to the host is a tenth of what was recorded, and nothing has to be known of it before. */
#include "runtime/record/gpu.h"

#include <stdlib.h>

enum { LEAST_STAGING = 1 << 20, MORE_STAGING = 4, PACKER_THREADS = 256, PACKERS_A_SM = 6, MULTIPROCESSORS = 16 };
enum { AWAKE = 1000000 }; /* nanoseconds */
enum { UNITS_A_CTA = PACK_WINDOW * PACK_WINDOWS * PACKER_THREADS / RECORD_LANES };
static const uint64_t most_pinned = UINT64_C(1) << 30;

__asm__(".pushsection .rodata\n"
        "pack_ptx: .incbin \"src/runtime/record/pack.ptx\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pack_ptx[] __attribute__((visibility("hidden")));

/* The function, in the current context, if the driver takes it. */
static void load_packer(GpuContext *context) {
    Handle module;
    void *load = driver_symbol("cuModuleLoadData"), *get = driver_symbol("cuModuleGetFunction");
    if (load && get && (*(Result(**)(Handle *, const void *)) & load)(&module, pack_ptx) == 0 &&
        (*(Result(**)(Handle *, Handle, const char *)) & get)(&context->packer, module, "weir_pack") != 0)
        context->packer = NULL;
}

/* Pinned memory for so many bytes, that the device can reach; it may have moved. What was there before is kept, and is
 * a third of it at most: to free it, the driver waits for all that runs. */
static bool has_room(GpuStaging *staging, uint64_t bytes) {
    const GpuDriver *driver = gpu_driver(NULL);
    uint64_t wanted = LEAST_STAGING, begin = gpu_now();
    if (staging->at && staging->bytes >= bytes)
        return true;
    while (wanted < bytes)
        wanted *= MORE_STAGING;
    *staging = (GpuStaging){0};
    if (wanted > most_pinned || driver->allocate_host(&staging->at, wanted, HOST_PORTABLE | HOST_MAPPED) != 0)
        return false;
    staging->bytes = wanted;
    if (gpu_options()->times)
        folder_log("memory pinned: %llu bytes after %llu ns, at %llu", (unsigned long long)wanted,
                   (unsigned long long)(gpu_now() - begin), (unsigned long long)begin);
    return true;
}

void gpu_pack_prepare(GpuContext *context) {
    load_packer(context);
    (void)has_room(&context->later, LEAST_STAGING);
    (void)has_room(&context->soon, LEAST_STAGING);
}

/* As many CTAs as there is work for at first sight; they go on to the next block for as long as there is one. */
static unsigned grid_of(const GpuOutstanding *outstanding) {
    int processors = 0;
    gpu_driver(NULL)->device_attribute(&processors, MULTIPROCESSORS, outstanding->context->device_number);
    uint64_t bytes = outstanding->first_bytes + outstanding->kernel->further,
             most = (uint64_t)processors * PACKERS_A_SM;
    uint64_t wanted = bytes / RECORD_UNIT / UNITS_A_CTA + 1;
    return (unsigned)(wanted < most ? wanted : most ? most : 1);
}

/* Words are held against those of the previous warp, and of the previous CTA: so many units before. */
static uint32_t near_of(const GpuOutstanding *outstanding) {
    return outstanding->launch.chunk / RECORD_UNIT;
}

static uint32_t far_of(const GpuOutstanding *outstanding) {
    return near_of(outstanding) * launch_warps(&outstanding->launch);
}

static bool ask(const GpuOutstanding *outstanding, const GpuStaging *staging, Handle stream) {
    DevicePointer units = outstanding->first, block = outstanding->block, to = (uintptr_t)staging->at;
    uint64_t first = outstanding->first_bytes / RECORD_UNIT, room = staging->bytes;
    uint32_t near = near_of(outstanding), far = far_of(outstanding);
    void *parameters[] = {&units, &first, &near, &far, &block, &to, &room};
    return gpu_driver(NULL)->launch(outstanding->context->packer, grid_of(outstanding), 1, 1, PACKER_THREADS, 1, 1, 0,
                                    stream, parameters, NULL) == 0;
}

/* ---- Behind the launch ----------------------------------------------------------------------------- */

void gpu_pack_behind(GpuOutstanding *outstanding) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = outstanding->context;
    if (outstanding->failed || !context->packer || context->on_host || context->soon_taken ||
        context->soon.bytes < outstanding->kernel->packed || !context->soon.at)
        return;
    outstanding->packs = driver->stream_after(context->ahead, outstanding_ended(outstanding), 0) == 0 &&
                         ask(outstanding, &context->soon, context->ahead);
    if (outstanding->packs) {
        context->soon_taken = true;
        outstanding->failed = driver->event_record(outstanding_packed(outstanding), context->ahead);
    }
}

void gpu_packed(const GpuOutstanding *outstanding) {
    GpuContext *context = outstanding->context;
    if (outstanding->packs)
        context->soon_taken = false;
    if (!context->soon_taken && context->soon.bytes < context->later.bytes) { /* as much as was needed before */
        GpuStaging more = context->later;
        context->later = context->soon;
        context->soon = more;
    }
}

/* Being told that it is over takes longer than it lasts: that is looked at without a sleep, for a while. */
static bool wait_for_packed(const GpuOutstanding *outstanding) {
    const GpuDriver *driver = gpu_driver(NULL);
    uint64_t until = gpu_now() + AWAKE;
    Result result;
    while ((result = driver->event_query(outstanding_packed(outstanding))) == NOT_READY && gpu_now() < until)
        continue;
    return result == NOT_READY ? driver->stream_wait(outstanding->context->ahead) == 0 : result == 0;
}

/* ---- For who takes records off ---------------------------------------------------------------------- */

static bool pack(const GpuOutstanding *outstanding, bool again) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = outstanding->context->behind;
    DevicePointer counters = outstanding->block + offsetof(RecordLaunch, packed);
    return (!again || driver->set_bytes(counters, 0, 2 * sizeof(uint32_t), stream) == 0) &&
           ask(outstanding, &outstanding->context->later, stream) && driver->stream_wait(stream) == 0;
}

bool gpu_pack(const GpuOutstanding *outstanding, RecordLaunch *after, GpuChunks *chunks) {
    GpuContext *context = outstanding->context;
    bool packed = outstanding->packs;
    uint64_t needed = 0; /* not known before it was tried */
    if (!context->packer || (packed && !wait_for_packed(outstanding)))
        return false;
    const GpuStaging *staging = packed ? &context->soon : &context->later;
    chunks->near = near_of(outstanding);
    chunks->far = far_of(outstanding);
    do {
        if (needed) /* not all of it had room: it is packed once more */
            staging = &context->later;
        if ((needed || !packed) && (!has_room(&context->later, needed) || !pack(outstanding, needed)))
            return false;
        memcpy(after, staging->at, sizeof *after);
        needed = sizeof *after + (uint64_t)after->packed * RECORD_UNIT;
    } while (needed > staging->bytes);
    if (outstanding->kernel->packed < needed)
        outstanding->kernel->packed = needed;
    chunks->packed = (Str){(const char *)staging->at + sizeof *after, (size_t)(needed - sizeof *after)};
    return true;
}
