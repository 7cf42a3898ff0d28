/* Launches whose waits have a limit: handed to those who watch them (gpu_hang.c), and what they find is written. */
#include "instrument/shapes.h"
#include "ptx/reader.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <unistd.h>

enum { ENDED_FOR_HANG = 124, SHAPES_BUDGET = 1 << 26 };

/* Of a module's sites, which its text and options tell. They stay as long as the module. */
static void make_shapes(GpuModule *module) {
    PtxModule ptx;
    Sites sites;
    Diagnostics diagnostics = {0};
    InstrumentOptions options = instrument_options_of(module->spaces, module->options);
    Arena *arena = calloc(1, sizeof *arena);
    Source *source = source_copy("module.ptx", module->ptx, module->ptx_bytes);
    jmp_buf exhausted;
    const char *problem;
    if (!arena || !source)
        return;
    arena_init(arena, SHAPES_BUDGET);
    arena->exhausted = &exhausted;
    if (ptx_read(&ptx, source, false, &diagnostics) && instrument_sites(&sites, &ptx, &options, &problem)) {
        if (setjmp(exhausted) == 0) {
            module->site_count = sites.count;
            module->shapes = site_shapes(&sites, &ptx, arena);
        }
        instrument_sites_free(&sites);
    }
    ptx_free(&ptx);
    diagnostics_free(&diagnostics);
    source_free(source);
}

const RecordShape *gpu_shapes(GpuModule *module) {
    if (!module->shapes)
        make_shapes(module);
    return module->shapes;
}

/* By the watching thread, before the launch is ended. */
static void found(HangLaunch *launch, const Recording *recording, HangEnd end) {
    (void)launch;
    if (recording->first_count)
        drain_write(recording, 0);
    else
        gpu_unseen(recording->kernel, "it did not end, and its records could not be copied");
    folder_log("note kernel %s did not end: %s", recording->kernel, hang_means(end));
    if (end == HANG_STAYS) {
        gpu_abandon();
        _exit(ENDED_FOR_HANG);
    }
}

/* The driver has not got the better of it, and nothing that the process asks of it would come back. */
static void stays(HangLaunch *launch) {
    folder_log("note kernel %s was not ended by the trap either: the process was ended", launch->recording.kernel);
    gpu_abandon();
    _exit(ENDED_FOR_HANG);
}

static void locked_out(HangLaunch *launch) {
    const char *kernel = launch->recording.kernel;
    gpu_unseen(kernel, "it did not end, and its records could not be copied");
    folder_log("note kernel %s did not end: a wait of it gave up, and its records could not be copied, because the "
               "program was in a call of the driver that waits for the kernel: the process was ended",
               kernel);
    gpu_abandon();
    _exit(ENDED_FOR_HANG);
}

void gpu_watch(GpuOutstanding *outstanding, Recording recording) {
    GpuContext *context = outstanding->context;
    GpuModule *module = outstanding->module;
    void *destroy = driver_symbol("cuStreamDestroy_v2");
    const GpuDriver *driver = gpu_driver(NULL);
    if (!gpu_shapes(module) || !destroy) {
        gpu_unseen(outstanding->kernel->name, "its waits could not be watched");
        return;
    }
    HangDriver calls = {.relax = gpu_relax,
                        .context_set = driver->context_set,
                        .stream_create = driver->stream_create,
                        .stream_destroy = *(Result(**)(Handle)) & destroy,
                        .stream_wait = driver->stream_wait,
                        .copy = driver->copy_from,
                        .event_query = driver->event_query};
    outstanding->watched = (HangLaunch){.recording = recording,
                                        .shapes = module->shapes,
                                        .site_count = module->site_count,
                                        .host = &context->slots[outstanding->slot].host,
                                        .block = outstanding->block,
                                        .given = context->slots[outstanding->slot].block,
                                        .first_count = (uint32_t)(outstanding->first_bytes / outstanding->launch.chunk),
                                        .context = context->context,
                                        .found = found,
                                        .stays = stays,
                                        .locked_out = locked_out};
    hang_watch(&outstanding->watched, &calls);
}
