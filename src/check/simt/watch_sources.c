/* What else a read could have given, for explorations. */
#include "check/simt/watch_internal.h"

enum { SOURCES_MOST = 64 };

static uint32_t sources_of(void *context, const PtxEvent *event, uint32_t lane, uint32_t *writes, uint32_t most) {
    PtxWatch *watch = context;
    uint64_t addresses[PTX_LANES];
    ThreadsSource sources[SOURCES_MOST];
    if (event->outstanding || !watch_addresses(watch, event->locations, UINT32_C(1) << lane, addresses))
        return 0;
    ThreadsAccess access = watch_access(watch, event);
    uint32_t count = threads_sources(watch->engine, watch_warp(watch, event->warp), lane, &access, addresses[lane],
                                     sources, most < SOURCES_MOST ? most : SOURCES_MOST);
    for (uint32_t i = 0; i < count; i++)
        writes[i] = sources[i].write;
    return count;
}

static void choose(void *context, uint32_t write) {
    threads_choose(((PtxWatch *)context)->engine, write);
}

static uint32_t writes_of(void *context) {
    return threads_writes(((PtxWatch *)context)->engine);
}

PtxReads ptx_watch_reads(PtxWatch *watch) {
    return (PtxReads){.context = watch, .sources = sources_of, .choose = choose, .writes = writes_of};
}
