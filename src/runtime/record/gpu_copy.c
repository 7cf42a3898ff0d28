/* What a launch left, brought to the host: the block, and what its chunks hold, packed. Where that cannot be, chunks
 * are copied as they are: all first ones, and those further ones that were used. */
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <string.h>

/* What the kernel says in its block. */
static void note_block(GpuOutstanding *outstanding, const RecordLaunch *after) {
    RecordingLaunch *launch = &outstanding->launch;
    launch->asked = after->next;
    launch->dropped = record_dropped(after);
    launch->shared_window = after->shared_window;
    launch->local_window = after->local_window;
    launch->param_window = after->param_window;
    outstanding->places = after->places;
    launch->nanoseconds = outstanding_nanoseconds(outstanding);
}

/* The first warp of the first CTA begins with a record, which is not 0. */
bool gpu_has_run(const GpuOutstanding *outstanding) {
    GpuContext *context = outstanding->context;
    uint32_t *word = &context->slots[outstanding->slot].after.tag;
    if (context->on_host)
        return *(const uint32_t *)(uintptr_t)outstanding->first != 0;
    *word = 0;
    return gpu_driver(NULL)->copy_from(word, outstanding->first, sizeof *word, context->behind) != 0 ||
           gpu_driver(NULL)->stream_wait(context->behind) != 0 || *word;
}

/* From memory of the device, as they are. */
static bool take_block(GpuOutstanding *outstanding) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = outstanding->context;
    RecordLaunch *after = &context->slots[outstanding->slot].after;
    if (driver->copy_from(after, outstanding->block, sizeof *after, context->behind) != 0 ||
        driver->stream_wait(context->behind) != 0)
        return false;
    note_block(outstanding, after);
    return true;
}

static bool take_chunks(GpuOutstanding *outstanding, GpuChunks *chunks) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = outstanding->context->behind;
    chunks->first = chunks->copied = malloc(chunks->bytes);
    return chunks->first && driver->copy_from(chunks->first, outstanding->first, chunks->bytes, stream) == 0 &&
           driver->stream_wait(stream) == 0;
}

bool gpu_copy(GpuOutstanding *outstanding, GpuChunks *chunks) {
    RecordLaunch *after = &outstanding->context->slots[outstanding->slot].after;
    bool on_host = outstanding->context->on_host;
    *chunks = (GpuChunks){0};
    bool packed = !on_host && gpu_pack(outstanding, after, chunks);
    if (on_host)
        memcpy(after, (const void *)(uintptr_t)outstanding->block, sizeof *after);
    if (packed || on_host)
        note_block(outstanding, after);
    else if (!take_block(outstanding))
        return false;
    uint64_t asked = outstanding->launch.asked, chunk = outstanding->launch.chunk;
    chunks->first_count = outstanding->first_bytes / chunk;
    chunks->more_count = asked < outstanding->more_count ? asked : outstanding->more_count;
    chunks->bytes = outstanding->first_bytes + chunks->more_count * chunk;
    if (on_host)
        chunks->first = (uint8_t *)(uintptr_t)outstanding->first;
    else if (!packed && !take_chunks(outstanding, chunks))
        return false;
    chunks->more = chunks->first ? chunks->first + outstanding->first_bytes : NULL;
    return true;
}

void gpu_clear(const GpuOutstanding *outstanding, const GpuChunks *chunks) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = outstanding->context->behind;
    uint64_t chunk = outstanding->launch.chunk, bytes = outstanding->first - outstanding->block + chunks->bytes;
    DevicePointer last = outstanding->more + outstanding->more_count * chunk;
    if (outstanding->context->on_host) {
        memset((void *)(uintptr_t)outstanding->block, 0, bytes);
        memset((void *)(uintptr_t)last, 0, chunk);
        return;
    }
    driver->set_bytes(outstanding->block, 0, bytes, stream);
    driver->set_bytes(last, 0, chunk, stream);
    driver->stream_wait(stream);
}
