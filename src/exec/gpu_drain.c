/* The thread that takes records off the device: it waits for launches to end, copies what they used, clears it, and
 * writes a file. The program's own streams are not waited for. */
#include "exec/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NAME_MOST = 60, SHORTEST_NAP = 5000, LONGEST_NAP = 1000000, NAP_SHARE = 16 };
enum { LEAST_STAGING = 1 << 24 };
static const uint64_t most_pinned = UINT64_C(1) << 30; /* more is copied to ordinary memory, which is slower */

static GpuFlight *flights; /* that are in the air, the oldest first */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool runs;

/* ---- Files --------------------------------------------------------------------------------------- */

/* Its name, as far as a file may have it. */
static void plain_name(const char *kernel, char *name) {
    size_t length = 0;
    for (const char *at = kernel; *at && length < NAME_MOST; at++)
        name[length++] = isalnum((unsigned char)*at) ? *at : '_';
    name[length] = 0;
}

void drain_write(const Recording *recording) {
    static unsigned files;
    char name[NAME_MOST + 1], path[4096], part[4096 + 8];
    plain_name(recording->kernel, name);
    snprintf(path, sizeof path, "%s/%s-%ld-%u%s", gpu_options()->folder, name, (long)getpid(),
             __atomic_add_fetch(&files, 1, __ATOMIC_RELAXED), RECORDING_ENDING);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "wb");
    bool good = to && recording_write(to, recording);
    int why = errno;
    if (to && fclose(to) != 0) {
        why = errno;
        good = false;
    }
    if (!good || rename(part, path) != 0) {
        folder_log("note a recording of kernel %s could not be written: %s; it was not looked at", recording->kernel,
                   strerror(good ? errno : why));
        unlink(part);
    }
}

static Recording recording_of(const GpuFlight *flight) {
    const GpuKernel *kernel = flight->kernel;
    return (Recording){.launch = flight->launch,
                       .kernel = kernel->name,
                       .device = flight->context->device,
                       .ptx = {kernel->module->ptx, kernel->module->ptx_bytes},
                       .parameters = flight->parameters,
                       .parameter_bytes = flight->parameters ? kernel->parameter_bytes : 0,
                       .memory = flight->memory,
                       .memory_count = flight->memory_count};
}

/* ---- Copies -------------------------------------------------------------------------------------- */

/* Room for so many bytes; NULL: there is none. */
static void *staging(GpuContext *context, uint64_t bytes, bool *pinned) {
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

/* What the kernel said in its block. */
static bool take_block(GpuFlight *flight) {
    const GpuDriver *driver = gpu_driver(NULL);
    GpuContext *context = flight->context;
    RecordLaunch *after = &context->slots[flight->slot].after;
    RecordingLaunch *launch = &flight->launch;
    if (driver->copy_from(after, flight->block, sizeof *after, context->behind) != 0 ||
        driver->stream_wait(context->behind) != 0)
        return false;
    launch->asked = after->next;
    launch->dropped = after->dropped;
    launch->shared_window = after->shared_window;
    launch->local_window = after->local_window;
    launch->param_window = after->param_window;
    launch->nanoseconds = flight_nanoseconds(flight);
    return true;
}

/* Copies, and clears for those who come next. NULL: it could not be done. */
static void *take_chunks(GpuFlight *flight, uint64_t bytes, bool *pinned) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle stream = flight->context->behind;
    void *to = staging(flight->context, bytes, pinned);
    bool good = to && driver->copy_from(to, flight->first, bytes, stream) == 0;
    uint64_t chunk = flight->launch.chunk, last = flight->more + flight->more_count * chunk;
    good &= driver->set_bytes(flight->block, 0, flight->first - flight->block + bytes, stream) == 0 &&
            driver->set_bytes(last, 0, chunk, stream) == 0 && driver->stream_wait(stream) == 0;
    if (good)
        return to;
    if (!*pinned)
        free(to);
    return NULL;
}

static void note_time(const GpuFlight *flight, uint64_t bytes, uint64_t ended, uint64_t copied) {
    if (getenv("WEIR_RECORD_TIMES"))
        folder_log("time %s launch %llu kernel %llu ns, seen to have ended after %llu ns, on the host after %llu ns, "
                   "written after %llu ns, %llu bytes",
                   flight->kernel->name, (unsigned long long)flight->launch.number,
                   (unsigned long long)flight->launch.nanoseconds, (unsigned long long)(ended - flight->made_at),
                   (unsigned long long)(copied - flight->made_at), (unsigned long long)(gpu_now() - flight->made_at),
                   (unsigned long long)bytes);
}

/* ---- One launch ---------------------------------------------------------------------------------- */

static void land(GpuFlight *flight) {
    pthread_mutex_lock(&gpu_mutex);
    flight_land(flight);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gpu_mutex);
}

/* It has ended as it should. */
static bool take_records(GpuFlight *flight, bool told) {
    uint64_t ended = gpu_now(), chunk = flight->launch.chunk;
    bool pinned = true;
    if (!take_block(flight))
        return false;
    uint64_t asked = flight->launch.asked, used = asked < flight->more_count ? asked : flight->more_count;
    uint64_t bytes = flight->first_bytes + used * chunk;
    uint8_t *chunks = take_chunks(flight, bytes, &pinned);
    if (!chunks)
        return false;
    uint64_t copied = gpu_now();
    if (flight->kernel->further < asked * chunk)
        flight->kernel->further = asked * chunk;
    Recording recording = recording_of(flight);
    recording.first = chunks;
    recording.first_count = flight->first_bytes / chunk;
    recording.more = chunks + flight->first_bytes;
    recording.more_count = used;
    land(flight);
    if (!told)
        drain_write(&recording);
    if (!pinned)
        free(chunks);
    note_time(flight, bytes, ended, copied);
    return true;
}

/* `result`: how the launch ended, as the driver says it. */
static void drain(GpuFlight *flight, Result result) {
    GpuContext *context = flight->context;
    bool told = flight->watched.found && hang_release(&flight->watched) != HANG_NOT;
    if (result || !take_records(flight, told)) {
        if (!told && result)
            gpu_unseen(flight->kernel->name, "its launch failed with CUDA error %d, and its records were lost", result);
        else if (!told)
            gpu_unseen(flight->kernel->name, "its records could not be copied");
        land(flight);
    }
    flight_free(flight);
    pthread_mutex_lock(&gpu_mutex);
    context->unwritten--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gpu_mutex);
}

/* ---- The thread ---------------------------------------------------------------------------------- */

/* One that has ended, taken off the list; NULL: all go on. */
static GpuFlight *next_ended(Result *result) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    for (GpuFlight **at = &flights; *at; at = &(*at)->next) {
        GpuFlight *flight = *at;
        if (flight->context->context != current)
            driver->context_set(current = flight->context->context);
        *result = driver->event_query(flight_ended(flight));
        if (*result != NOT_READY) {
            *at = flight->next;
            return flight;
        }
    }
    return NULL;
}

/* The longer it takes, the longer between two looks. */
static void nap(uint64_t since) {
    uint64_t share = (gpu_now() - since) / NAP_SHARE;
    share = share < SHORTEST_NAP ? SHORTEST_NAP : share > LONGEST_NAP ? LONGEST_NAP : share;
    nanosleep(&(struct timespec){.tv_nsec = (long)share}, NULL);
}

static void *take_off(void *unused) {
    Result result;
    prctl(PR_SET_TIMERSLACK, 1);
    gpu_relax();
    pthread_mutex_lock(&gpu_mutex);
    for (;;) {
        GpuFlight *flight = next_ended(&result);
        if (!flight && !flights) {
            pthread_cond_wait(&changed, &gpu_mutex);
            continue;
        }
        uint64_t since = flight ? 0 : flights->made_at;
        pthread_mutex_unlock(&gpu_mutex);
        if (flight)
            drain(flight, result);
        else
            nap(since);
        pthread_mutex_lock(&gpu_mutex);
    }
    return unused;
}

void drain_add(GpuFlight *flight) {
    GpuFlight **at = &flights;
    pthread_t thread;
    while (*at)
        at = &(*at)->next;
    *at = flight;
    flight->context->unwritten++;
    if (flight->launch.hang_after)
        gpu_watch(flight, recording_of(flight));
    if (!runs && pthread_create(&thread, NULL, take_off, NULL) == 0) {
        runs = true;
        pthread_detach(thread);
    }
    pthread_cond_broadcast(&changed);
}

bool drain_one(GpuContext *context) {
    size_t before = context->flying;
    while (context->flying && context->flying >= before)
        pthread_cond_wait(&changed, &gpu_mutex);
    return before > 0;
}

void drain_all(GpuContext *context) {
    while (context->flying || context->unwritten)
        pthread_cond_wait(&changed, &gpu_mutex);
}

bool drain_until(GpuContext *context, uint64_t nanoseconds) {
    uint64_t end = gpu_now() + nanoseconds;
    while ((context->flying || context->unwritten) && gpu_now() < end) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LONGEST_NAP;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &gpu_mutex, &until);
    }
    return !context->flying && !context->unwritten;
}

void drain_lost(void) {
    for (const GpuFlight *flight = flights; flight; flight = flight->next)
        gpu_unseen(flight->kernel->name, "it had not ended when the program did");
}
