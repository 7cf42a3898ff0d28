/* What a launch left, brought to the host: the block, and what its chunks hold, packed. Where that cannot be, chunks
 * are copied as they are: all first ones, and those further ones that were used. */
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <string.h>

/* What the kernel says in its block. */
static void note_block(GpuFlight *flight, const RecordLaunch *after) {
    RecordingLaunch *launch = &flight->launch;
    launch->asked = after->next;
    launch->dropped = record_dropped(after);
    launch->shared_window = after->shared_window;
    launch->local_window = after->local_window;
    launch->param_window = after->param_window;
    flight->places = after->places;
    launch->nanoseconds = flight_nanoseconds(flight);
}

/* From memory of the device, as they are. */
static bool take_block(GpuFlight *flight) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = flight->context;
    RecordLaunch *after = &context->slots[flight->slot].after;
    if (driver->copy_from(after, flight->block, sizeof *after, context->behind) != 0 ||
        driver->stream_wait(context->behind) != 0)
        return false;
    note_block(flight, after);
    return true;
}

static bool take_chunks(GpuFlight *flight, GpuChunks *chunks) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = flight->context->behind;
    chunks->first = chunks->copied = malloc(chunks->bytes);
    return chunks->first && driver->copy_from(chunks->first, flight->first, chunks->bytes, stream) == 0 &&
           driver->stream_wait(stream) == 0;
}

bool gpu_copy(GpuFlight *flight, GpuChunks *chunks) {
    RecordLaunch *after = &flight->context->slots[flight->slot].after;
    bool on_host = flight->context->on_host;
    *chunks = (GpuChunks){0};
    bool packed = !on_host && gpu_pack(flight, after, chunks);
    if (on_host)
        memcpy(after, (const void *)(uintptr_t)flight->block, sizeof *after);
    if (packed || on_host)
        note_block(flight, after);
    else if (!take_block(flight))
        return false;
    uint64_t asked = flight->launch.asked, chunk = flight->launch.chunk;
    chunks->first_count = flight->first_bytes / chunk;
    chunks->more_count = asked < flight->more_count ? asked : flight->more_count;
    chunks->bytes = flight->first_bytes + chunks->more_count * chunk;
    if (on_host)
        chunks->first = (uint8_t *)(uintptr_t)flight->first;
    else if (!packed && !take_chunks(flight, chunks))
        return false;
    chunks->more = chunks->first ? chunks->first + flight->first_bytes : NULL;
    return true;
}

void gpu_clear(const GpuFlight *flight, const GpuChunks *chunks) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = flight->context->behind;
    uint64_t chunk = flight->launch.chunk, bytes = flight->first - flight->block + chunks->bytes;
    DevicePointer last = flight->more + flight->more_count * chunk;
    if (flight->context->on_host) {
        memset((void *)(uintptr_t)flight->block, 0, bytes);
        memset((void *)(uintptr_t)last, 0, chunk);
        return;
    }
    driver->set_bytes(flight->block, 0, bytes, stream);
    driver->set_bytes(last, 0, chunk, stream);
    driver->stream_wait(stream);
}
