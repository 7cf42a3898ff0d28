/* What a launch left, brought to the host: the block, then of the chunks what was used.
 *
 * First chunks are as large as the kernel may need, and most warps need less: a kernel of our own looks how far the
 * fullest of them goes, and only that much of each is copied. Chunks that are shorter than they were are chunks all the
 * same: a file has their size. */
#include "exec/gpu.h"

#include <stdlib.h>

enum { LEAST_STAGING = 1 << 24, WORTH_LOOKING = 1 << 20, LEAST_CHUNK = 64, LOOKERS = 256 };
static const uint64_t most_pinned = UINT64_C(1) << 30; /* more is copied to ordinary memory, which is slower */

/* Each thread looks at every so-many-th unit, and keeps the end of the last one that is not zero. */
static const char looks[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry weir_used(.param .u64 first, .param .u64 units, .param .u32 mask, .param .u64 to) {\n"
    ".reg .b64 %rd<12>; .reg .b32 %r<24>; .reg .pred %p<4>;\n"
    "ld.param.u64 %rd1, [first]; ld.param.u64 %rd2, [units]; ld.param.u32 %r1, [mask]; ld.param.u64 %rd3, [to];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r4; cvt.u64.u32 %rd4, %r6; mul.wide.u32 %rd5, %r5, %r3; mov.u32 %r7, 0;\n"
    "next: setp.ge.u64 %p1, %rd4, %rd2; @%p1 bra done;\n"
    "shl.b64 %rd6, %rd4, 4; add.s64 %rd7, %rd1, %rd6; ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd7];\n"
    "or.b32 %r12, %r8, %r9; or.b32 %r13, %r10, %r11; or.b32 %r12, %r12, %r13; setp.eq.u32 %p2, %r12, 0;\n"
    "cvt.u32.u64 %r14, %rd6; and.b32 %r14, %r14, %r1; add.u32 %r14, %r14, 16; max.u32 %r15, %r7, %r14; selp.b32 %r7, "
    "%r7, %r15, %p2;\n"
    "add.s64 %rd4, %rd4, %rd5; bra next;\n"
    "done: setp.eq.u32 %p3, %r7, 0; @%p3 bra over; red.global.max.u32 [%rd3], %r7;\n"
    "over: ret;\n}\n";

/* ---- How far ------------------------------------------------------------------------------------- */

static Handle looker(GpuContext *context) {
    void *load = driver_symbol("cuModuleLoadData"), *get = driver_symbol("cuModuleGetFunction");
    Handle module;
    if (!context->looked_for && load && get && (*(Result(**)(Handle *, const void *)) & load)(&module, looks) == 0 &&
        (*(Result(**)(Handle *, Handle, const char *)) & get)(&context->looker, module, "weir_used") != 0)
        context->looker = NULL;
    context->looked_for = true;
    return context->looker;
}

/* Has the first chunks looked at, if that is worth it: the block says then how far the fullest of them goes. */
static bool look(const GpuFlight *flight) {
    GpuContext *context = flight->context;
    uint64_t units = flight->first_bytes / RECORD_UNIT;
    uint32_t mask = flight->launch.chunk - 1;
    DevicePointer first = flight->first, to = flight->block + offsetof(RecordLaunch, fullest);
    void *parameters[] = {&first, &units, &mask, &to};
    return flight->launch.chunk > 2 * LEAST_CHUNK && flight->first_bytes >= WORTH_LOOKING && looker(context) &&
           gpu_driver(NULL)->launch(context->looker, LOOKERS, 1, 1, LOOKERS, 1, 1, 0, context->behind, parameters,
                                    NULL) == 0;
}

/* Bytes of each first chunk that have to be copied: a power of two. */
static uint64_t head_bytes(const GpuFlight *flight, uint64_t fullest) {
    uint64_t used = LEAST_CHUNK;
    while (used < fullest + RECORD_UNIT) /* a unit behind the last says that it is */
        used *= 2;
    return used < flight->launch.chunk ? used : flight->launch.chunk;
}

/* ---- Copies -------------------------------------------------------------------------------------- */

/* Room for so many bytes; NULL: there is none. */
static uint8_t *staging(GpuContext *context, uint64_t bytes, bool *pinned) {
    const GpuDriver *driver = gpu_driver(NULL);
    *pinned = bytes <= most_pinned;
    if (!*pinned)
        return malloc(bytes);
    if (context->staging_bytes < bytes) {
        uint64_t wanted = LEAST_STAGING;
        while (wanted < bytes)
            wanted *= 2;
        if (context->staging)
            driver->free_host(context->staging);
        context->staging_bytes = 0;
        context->staging = NULL;
        if (driver->allocate_host(&context->staging, wanted, HOST_PORTABLE) != 0)
            return NULL;
        context->staging_bytes = wanted;
    }
    return context->staging;
}

static Result copy_heads(const GpuFlight *flight, uint8_t *to, uint64_t head) {
    uint64_t chunk = flight->launch.chunk;
    Copy2D copy = {.from_kind = MEMORY_DEVICE,
                   .from_device = flight->first,
                   .from_pitch = chunk,
                   .to_kind = MEMORY_HOST,
                   .to_host = to,
                   .to_pitch = head,
                   .width = head,
                   .height = flight->first_bytes / chunk};
    return gpu_driver(NULL)->copy_2d(&copy, flight->context->behind);
}

/* What the kernel says in its block; and how far its first chunks go. */
static bool take_block(GpuFlight *flight, uint64_t *head) {
    const GpuDriver *driver = gpu_driver(NULL);
    bool looked = !flight->context->on_host && look(flight);
    GpuContext *context = flight->context;
    RecordLaunch *after = &context->slots[flight->slot].after;
    RecordingLaunch *launch = &flight->launch;
    if (context->on_host)
        memcpy(after, (const void *)(uintptr_t)flight->block, sizeof *after);
    else if (driver->copy_from(after, flight->block, sizeof *after, context->behind) != 0 ||
             driver->stream_wait(context->behind) != 0)
        return false;
    launch->asked = after->next;
    launch->dropped = after->dropped;
    launch->shared_window = after->shared_window;
    launch->local_window = after->local_window;
    launch->param_window = after->param_window;
    launch->nanoseconds = flight_nanoseconds(flight);
    *head = looked && !after->next ? head_bytes(flight, after->fullest) : launch->chunk;
    return true;
}

/* From memory of the device; what was used is cleared for those who come next. */
static bool take_chunks(GpuFlight *flight, uint64_t head, GpuChunks *chunks) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = flight->context->behind;
    uint64_t chunk = flight->launch.chunk, further = chunks->more_count * chunk;
    uint64_t count = flight->first_bytes / chunk;
    chunks->bytes = count * head + further;
    chunks->first = staging(flight->context, chunks->bytes, &chunks->pinned);
    bool good =
        chunks->first && (head < chunk ? copy_heads(flight, chunks->first, head)
                                       : driver->copy_from(chunks->first, flight->first, chunks->bytes, stream)) == 0;
    DevicePointer last = flight->more + flight->more_count * chunk;
    good &= driver->set_bytes(flight->block, 0, flight->first - flight->block + flight->first_bytes + further,
                              stream) == 0 &&
            driver->set_bytes(last, 0, chunk, stream) == 0 && driver->stream_wait(stream) == 0;
    flight->launch.chunk = (uint32_t)head;
    chunks->first_count = count;
    chunks->more = chunks->first + flight->first_bytes;
    return good;
}

bool gpu_copy(GpuFlight *flight, GpuChunks *chunks) {
    uint64_t head;
    *chunks = (GpuChunks){.pinned = true};
    if (!take_block(flight, &head))
        return false;
    uint64_t asked = flight->launch.asked, chunk = flight->launch.chunk;
    chunks->more_count = asked < flight->more_count ? asked : flight->more_count;
    if (flight->kernel->further < asked * chunk)
        flight->kernel->further = asked * chunk;
    if (!flight->context->on_host)
        return take_chunks(flight, head, chunks);
    chunks->first = (uint8_t *)(uintptr_t)flight->first;
    chunks->first_count = flight->first_bytes / chunk;
    chunks->more = chunks->first + flight->first_bytes;
    chunks->bytes = flight->first_bytes + chunks->more_count * chunk;
    return true;
}

void gpu_copied(GpuFlight *flight, GpuChunks *chunks) {
    if (flight->context->on_host) {
        uint64_t chunk = flight->launch.chunk;
        memset((void *)(uintptr_t)flight->block, 0, flight->first - flight->block + chunks->bytes);
        memset((void *)(uintptr_t)(flight->more + flight->more_count * chunk), 0, chunk);
    } else if (!chunks->pinned) {
        free(chunks->first);
    }
}
