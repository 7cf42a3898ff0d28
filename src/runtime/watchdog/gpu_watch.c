/* Launches whose waits have a limit: handed to those who watch them (gpu_hang.c), and what they find is written. */
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <unistd.h>

enum { ENDED_FOR_HANG = 124 };

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
    void *destroy = driver_symbol("cuStreamDestroy_v2");
    const GpuDriver *driver = gpu_driver(NULL);
    uint32_t site_count;
    const RecordShape *shapes = gpu_shapes(outstanding->module, &site_count);
    if (!shapes || !destroy) {
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
                                        .shapes = shapes,
                                        .site_count = site_count,
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
