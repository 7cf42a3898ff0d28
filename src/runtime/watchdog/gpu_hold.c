/* Calls of the program in which the driver waits for kernels with its lock held: the thread that watches for hangs
 * would be locked out, and a kernel that does not end would never be ended. They are held back until no watched launch
 * is in their way. The driver would have waited as long.
 *
 * Which calls these are was measured, with a kernel that spins and another thread that copies (driver 580): modules
 * that are loaded, functions that are used for the first time, memory that is freed, copies from and to memory that is
 * not pinned, kernels that need more local memory than any before, launches that wait for their kernels
 * (CUDA_LAUNCH_BLOCKING), and all calls once a queue is full. What waits in other calls (cuStreamSynchronize, say)
 * locks out no thread. */
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <time.h>

/* Things that are in a queue of the driver at most: it is full somewhere below 6000 launches, and 20,000 events (driver
 * 580). With a launch that is recorded, copies and events come. */
enum { MOST_AHEAD = 640, FOR_LAUNCH = 5 };
enum { LOCAL_BYTES = 1024 };                                                /* that there are from the beginning */
enum { WITHOUT_SLEEP = 200000, LONGEST_SLEEP = 1000000, SLEEP_SHARE = 16 }; /* nanoseconds */

static const Handle no_stream = (Handle)-1;
static uint64_t things; /* that were put into streams */
static bool blocking;   /* launches wait for their kernels */

static void sleep_since(uint64_t begin) {
    uint64_t passed = gpu_now() - begin, share = passed / SLEEP_SHARE;
    if (passed > WITHOUT_SLEEP)
        nanosleep(&(struct timespec){.tv_nsec = share < LONGEST_SLEEP ? (long)share : LONGEST_SLEEP}, NULL);
}

/* For launches that were made before so many things were put into streams, as long as there is something to be done in
 * that stream; no_stream: for those of the thread's context, as the driver waits for no other: what runs there may wait
 * for what the program does here. What is captured is done later, and queries of our own must not disturb it. */
static void hold_for(uint64_t before, Handle stream) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle context = NULL;
    if (!drain_flies() || (stream != no_stream && gpu_capture(stream) != CAPTURE_NONE))
        return;
    if (stream == no_stream && driver->context_current(&context) != 0)
        context = NULL;
    uint64_t begin = gpu_now();
    int mode = gpu_relax();
    while (drain_runs(before, context) && (stream == no_stream || driver->stream_query(stream) == NOT_READY))
        sleep_since(begin);
    gpu_relaxed(mode);
}

void hold_for_all(void) {
    hold_for(UINT64_MAX, no_stream);
}

void hold_for_stream(Handle stream) {
    hold_for(UINT64_MAX, stream);
}

void hold_for_room(Handle stream, unsigned count) {
    uint64_t number = __atomic_add_fetch(&things, count, __ATOMIC_RELAXED);
    if (number > MOST_AHEAD)
        hold_for(number - MOST_AHEAD, stream);
}

uint64_t hold_things(void) {
    return __atomic_load_n(&things, __ATOMIC_RELAXED);
}

bool hold_is_lazy(void) {
    const char *loading = getenv("CUDA_MODULE_LOADING");
    return !loading || strcmp(loading, "EAGER") != 0;
}

void hold_begin(void) {
    const char *asked = getenv("CUDA_LAUNCH_BLOCKING");
    if (!gpu_on() || !gpu_driver(NULL) || !asked || !*asked || strcmp(asked, "0") == 0)
        return;
    blocking = true;
    unsetenv("CUDA_LAUNCH_BLOCKING");
}

Result hold_launched(Handle stream) {
    return !blocking || gpu_capture(stream) != CAPTURE_NONE ? 0 : gpu_driver(NULL)->stream_wait(stream);
}

static uint64_t most_local = LOCAL_BYTES;

bool hold_local_grows(uint64_t local) {
    return local > __atomic_load_n(&most_local, __ATOMIC_RELAXED);
}

void hold_local_grown(uint64_t local) {
    __atomic_store_n(&most_local, local, __ATOMIC_RELAXED);
}

void hold_to_launch(Handle function, Handle stream) {
    if (!gpu_driver(NULL)) /* it lacks something, and nothing is recorded */
        return;
    hold_for_room(stream, FOR_LAUNCH);
    if (gpu_loads(function))
        hold_for_all();
    uint64_t local = gpu_local(function);
    if (hold_local_grows(local)) {
        hold_for_all();
        hold_local_grown(local);
    }
}
