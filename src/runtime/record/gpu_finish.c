/* The end of the program: what is still in the air is waited for, and what was seen is said. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* For launches that the program did not wait for itself. */
static const uint64_t spin_timeout = UINT64_C(10) * 1000000000;

static pid_t owner; /* a child that was forked has nothing to say */

static struct { uint64_t kernels, recorded, repeated, excluded; } seen;

static struct {
    Result result;
    const char *kernel;
    bool kept;
} failed;

/* Errors of kernels, after which a context is of no use. */
static bool is_sticky(Result result) {
    enum { ILLEGAL_ADDRESS = 700, TIMEOUT = 702, ASSERT = 710, STACK = 714, LAUNCH_FAILED = 719 };
    return result == ILLEGAL_ADDRESS || result == TIMEOUT || result == ASSERT ||
           (result >= STACK && result <= LAUNCH_FAILED);
}

void gpu_failed(Result result, const char *kernel) {
    if (!gpu_on() || !is_sticky(result))
        return;
    failed.result = failed.result ? failed.result : result;
    failed.kernel = failed.kernel ? failed.kernel : kernel;
}

void gpu_failed_kept(void) {
    failed.kept = true;
}

/* Time in which something is recorded, written or compiled: about as much longer does the program take. */
static struct {
    pthread_mutex_t lock;
    unsigned count;
    uint64_t since, total;
} busy = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gpu_busy(bool begins) {
    uint64_t now = gpu_now();
    pthread_mutex_lock(&busy.lock);
    if (begins ? !busy.count++ : busy.count && !--busy.count) {
        busy.total += begins ? 0 : now - busy.since;
        busy.since = now;
    }
    pthread_mutex_unlock(&busy.lock);
}

static double busy_seconds(void) {
    pthread_mutex_lock(&busy.lock);
    uint64_t all = busy.total + (busy.count ? gpu_now() - busy.since : 0);
    pthread_mutex_unlock(&busy.lock);
    return (double)all * 1e-9;
}

static void count(GpuKernel *kernel) {
    seen.kernels += kernel->launches > 0;
    seen.recorded += kernel->recorded;
    seen.repeated += kernel->repeated;
    if (!kernel->wanted)
        seen.excluded += kernel->launches;
}

static void say(void) {
    over_look(); /* what was written last */
    uint64_t libraries = gpu_unseen_write();
    if (order_on())
        order_log_end(libraries && !seen.recorded && !seen.repeated);
    if (failed.result && !failed.kept)
        folder_log("launch-failed %d %s", failed.result, failed.kernel ? failed.kernel : "");
    folder_log("busy %ld %.3f", (long)getpid(), busy_seconds());
    folder_log("recorded %ld %llu %llu %llu %llu %llu %llu", (long)getpid(), (unsigned long long)seen.kernels,
               (unsigned long long)gpu_launches(), (unsigned long long)seen.recorded, (unsigned long long)seen.repeated,
               (unsigned long long)seen.excluded, (unsigned long long)libraries);
}

static void finish(uint64_t nanoseconds) {
    if (owner != getpid())
        return;
    owner = 0;
    gpu_variants_settle(nanoseconds);
    graph_count_all();
    checked_look(true);
    pthread_mutex_lock(&gpu_mutex);
    if (!gpu_settle_all(nanoseconds)) {
        drain_lost();
        writing_lost();
    }
    gpu_each_kernel(count);
    pthread_mutex_unlock(&gpu_mutex);
    say();
}

void gpu_finish(void) {
    finish(spin_timeout + 2 * gpu_options()->hang_after);
}

static const uint64_t time_to_write = 2000000000; /* nanoseconds */

/* A thread that keeps the mutex for that long is locked out of the driver, and changes nothing. */
void gpu_abandon(void) {
    struct timespec until;
    if (owner != getpid())
        return;
    owner = 0;
    writing_settle(time_to_write);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    bool has = pthread_mutex_timedlock(&gpu_mutex, &until) == 0;
    if (!has || !gpu_settle_all(0)) {
        drain_lost();
        writing_lost();
    }
    gpu_each_kernel(count);
    if (has)
        pthread_mutex_unlock(&gpu_mutex);
    say();
}

void gpu_begin(void) {
    if (owner)
        return;
    owner = getpid();
    folder_log("cuda %ld", (long)owner);
    crash_watch();
    atexit(gpu_finish); /* after those of the driver and the runtime were made, so before them */
}

/* Some end without a notice: children of Python do. */
EXPORTED void _exit(int status) {
    if (gpu_on())
        gpu_finish();
    for (;;)
        syscall(SYS_exit_group, status);
}
