/* Which words of a launch decide something: those that loads read whose results do. */
#include "machine/simt/core/other.h"

static void keep(const PtxDeciding *to, PtxLocation location, uint64_t bytes) {
    const PtxLaunch *launch = to->machine->launch;
    for (uint32_t i = 0; bytes && i < launch->buffer_count; i++) {
        const PtxBuffer *buffer = &launch->buffers[i];
        if (location.block->space != PTX_SPACE_GLOBAL || location.block->base != buffer->address)
            continue;
        if (!to->kept[i])
            to->kept[i] = ARENA_ARRAY(to->arena, uint8_t, buffer->bytes / OTHER_WORD + 1);
        memset(to->kept[i] + location.offset / OTHER_WORD, 1,
               (location.offset + bytes - 1) / OTHER_WORD - location.offset / OTHER_WORD + 1);
    }
}

void ptx_deciding_observe(void *deciding, const PtxEvent *event) {
    const PtxDeciding *to = deciding;
    if (event->kind != PTX_EVENT_ACCESS || event->access.kind == KIND_WRITE ||
        !(to->decides[event->code - to->machine->program->code] || event->access.proxy == PROXY_TENSORMAP))
        return;
    for (uint32_t i = 0; i < event->location_count; i++)
        if (event->locations[i].block && (event->outstanding || event->lanes >> i & 1))
            keep(to, event->locations[i], event->sizes ? event->sizes[i] : event->access.bytes);
}
