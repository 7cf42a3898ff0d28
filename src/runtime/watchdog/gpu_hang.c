/* The watching thread, and one that watches over it. */
#include "runtime/record/gpu_hang.h"

#include "trace/thread_status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STREAM_NON_BLOCKING = 1, MILLISECOND = 1000000 };
/* How often RecordHost is looked at; for how long no further wait must have given up. */
static const uint64_t tick = 5 * MILLISECOND, grace = 100 * MILLISECOND, longest_grace = 1000 * MILLISECOND;
static const uint64_t copy_ends = UINT64_C(4000) * MILLISECOND; /* of gigabytes in a second or two */
enum { COPY_LIMITS = 4 };                                       /* and as often the limit of waits */
enum { LATE_LIMITS = 4 }; /* as often the limit of waits, threads that are elsewhere are waited for */
static const uint64_t trap_ends = UINT64_C(3000) * MILLISECOND; /* a trap takes a third of a second */
enum { LOOKS = 4, LONGEST_PAUSE = 16 }; /* in hang_after: how often the block is looked at, how seldom all of it */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static HangLaunch *launches;
static bool runs, guarded; /* whether there is that thread, and the other */
static HangDriver cuda;
static HangLaunch *copied; /* the launch whose records are being copied, and since when */
static uint64_t copied_since;

static uint64_t clock_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pause_for(uint64_t nanoseconds) {
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    nanosleep(&time, NULL);
}

/* ---- Copying while it runs ------------------------------------------------------------------------ */

/* The recording as it is now. */
typedef struct Drained {
    RecordLaunch block;
    uint8_t *first, *more;
    uint32_t more_count;
    Recording recording;
} Drained;

static bool copy(void *to, DevicePointer from, size_t bytes, Handle stream) {
    return !bytes || (cuda.copy(to, from, bytes, stream) == 0 && cuda.stream_wait(stream) == 0);
}

static bool copy_chunks(const HangLaunch *launch, Drained *drained, Handle stream) {
    const RecordLaunch *given = &launch->given;
    size_t chunk = launch->recording.launch.chunk;
    uint32_t asked = drained->block.next;
    drained->more_count = asked < given->more_count ? asked : given->more_count;
    drained->first = malloc(launch->first_count * chunk + 1);
    drained->more = malloc(drained->more_count * chunk + 1);
    return drained->first && drained->more && copy(drained->first, given->first, launch->first_count * chunk, stream) &&
           copy(drained->more, given->more, drained->more_count * chunk, stream);
}

static void drained_free(Drained *drained) {
    free(drained->first);
    free(drained->more);
}

/* For who watches over it: from here on the driver is asked, for that launch; NULL: it is back. */
static void note_copy(HangLaunch *launch) {
    pthread_mutex_lock(&lock);
    copied = launch;
    copied_since = clock_now();
    pthread_mutex_unlock(&lock);
}

static bool copy_block(const HangLaunch *launch, Drained *drained, bool chunks) {
    Handle stream;
    if (cuda.context_set(launch->context) != 0 || cuda.stream_create(&stream, STREAM_NON_BLOCKING) != 0)
        return false;
    bool done = copy(&drained->block, launch->block, sizeof drained->block, stream) &&
                (!chunks || copy_chunks(launch, drained, stream));
    cuda.stream_destroy(stream);
    return done;
}

/* The block alone, or with the chunks. A stream of its own, which waits for no other: the program's are busy. */
static bool drain(HangLaunch *launch, Drained *drained, bool chunks) {
    *drained = (Drained){.recording = launch->recording};
    note_copy(launch);
    bool done = copy_block(launch, drained, chunks);
    note_copy(NULL);
    RecordingLaunch *about = &drained->recording.launch;
    about->flags |= RECORDING_HUNG | RECORDING_CUT;
    about->asked = drained->block.next;
    about->dropped = record_dropped(&drained->block);
    about->shared_window = drained->block.shared_window;
    about->local_window = drained->block.local_window;
    about->param_window = drained->block.param_window;
    drained->recording.places = &drained->block.places;
    drained->recording.first = drained->first;
    drained->recording.first_count = launch->first_count;
    drained->recording.more = drained->more;
    drained->recording.more_count = drained->more_count;
    return done;
}

/* ---- What was found ------------------------------------------------------------------------------- */

static bool has_ended(const HangLaunch *launch) {
    return launch->done && cuda.event_query(launch->done) == 0;
}

static void report(HangLaunch *launch, const Drained *drained, HangEnd end) {
    launch->end = end;
    launch->found(launch, &drained->recording, end);
    launch->trapped = end == HANG_TRAPS ? clock_now() : 0;
    if (end != HANG_STAYS)
        __atomic_store_n(&launch->host->drained, end == HANG_EXITS ? 1 : 2, __ATOMIC_SEQ_CST);
}

/* Others see that one gave up, and give up, too. */
static void wait_for_others(const HangLaunch *launch) {
    uint64_t begin = clock_now(), since = begin;
    uint64_t still = grace + launch->recording.launch.hang_after / 8;
    uint32_t gave_up = launch->host->gave_up;
    while (clock_now() - since < still && clock_now() - begin < longest_grace + still) {
        pause_for(tick);
        if (launch->host->gave_up != gave_up) {
            gave_up = launch->host->gave_up;
            since = clock_now();
        }
    }
}

static uint64_t hash_of(uint64_t hash, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Of all that was recorded; never 0. */
static uint64_t hash_of_records(const HangLaunch *launch, const Drained *drained) {
    size_t chunk = launch->recording.launch.chunk;
    uint64_t hash = hash_of(1, drained->first, launch->first_count * chunk);
    return hash_of(hash, drained->more, drained->more_count * chunk) | 1;
}

/* A wait gave up. If it cannot be read who stands where, a trap is what surely ends the launch. Where other processes
 * have the device most of the time, threads that wait come to notice it late: while some are elsewhere, it is looked at
 * again, until nothing more was recorded for as long as a wait may take. */
static void look_at_reported(HangLaunch *launch) {
    RecordThreadStatus thread_status;
    Drained drained;
    uint64_t limit = launch->recording.launch.hang_after, begin = clock_now(), since = begin, hash = 0;
    bool reports;
    for (;;) {
        wait_for_others(launch);
        reports = drain(launch, &drained, true) &&
                  record_thread_status(&thread_status, &drained.recording, launch->shapes, launch->site_count);
        if (!reports || !thread_status.elsewhere || has_ended(launch))
            break;
        uint64_t now = clock_now(), before = hash;
        hash = hash_of_records(launch, &drained);
        since = hash != before ? now : since;
        if (now - since >= limit || now - begin >= LATE_LIMITS * limit)
            break;
        drained_free(&drained);
    }
    if (!drained.first || !drained.more)
        drained.recording.first_count = drained.recording.more_count = 0;
    report(launch, &drained, reports && !thread_status.held && !thread_status.elsewhere ? HANG_EXITS : HANG_TRAPS);
    drained_free(&drained);
}

/* Nothing was recorded for as long as a wait may take: who stands where? */
static void look_at_still(HangLaunch *launch, const Drained *drained) {
    RecordThreadStatus thread_status;
    if (record_thread_status(&thread_status, &drained->recording, launch->shapes, launch->site_count) &&
        thread_status_still(&thread_status) && !has_ended(launch))
        report(launch, drained, thread_status.gave_up ? HANG_TRAPS : HANG_STAYS);
}

/* No thread reports anything, and it runs: what was recorded since the last look? Chunks are copied only when no
 * further one was asked for since; and ever more seldom, where some threads are elsewhere. */
static void look_at_silent(HangLaunch *launch) {
    uint64_t limit = launch->recording.launch.hang_after, now = clock_now();
    Drained drained = {0};
    launch->look = now + limit / LOOKS;
    if (has_ended(launch) || !drain(launch, &drained, false))
        return;
    if (drained.block.next != launch->asked) {
        launch->asked = drained.block.next;
        launch->hash = 0;
    } else if ((!launch->hash || now - launch->since >= launch->pause) && drain(launch, &drained, true)) {
        uint64_t hash = hash_of_records(launch, &drained);
        bool same = hash == launch->hash;
        if (same)
            look_at_still(launch, &drained);
        launch->pause = !same ? limit : launch->pause < LONGEST_PAUSE * limit ? 2 * launch->pause : launch->pause;
        launch->hash = hash;
        launch->since = clock_now();
    }
    drained_free(&drained);
}

/* ---- The thread ----------------------------------------------------------------------------------- */

/* One that has something to be looked at now; the lock is held. */
static HangLaunch *to_look_at(void) {
    uint64_t now = clock_now();
    for (HangLaunch *launch = launches; launch; launch = launch->next)
        if (launch->trapped && now - launch->trapped > trap_ends)
            return launch;
        else if (!launch->end && (launch->host->hang || now >= launch->look))
            return launch;
    return NULL;
}

static void *watch(void *unused) {
    pthread_mutex_lock(&lock);
    if (cuda.relax)
        cuda.relax();
    for (;;) {
        HangLaunch *launch = to_look_at();
        if (!launch) {
            if (!launches) {
                pthread_cond_wait(&changed, &lock);
                continue;
            }
            pthread_mutex_unlock(&lock);
            pause_for(tick);
            pthread_mutex_lock(&lock);
            continue;
        }
        launch->looked_at = true;
        pthread_mutex_unlock(&lock);
        if (launch->trapped)
            launch->stays(launch);
        else if (launch->host->hang)
            look_at_reported(launch);
        else
            look_at_silent(launch);
        pthread_mutex_lock(&lock);
        launch->looked_at = false;
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

/* A wait gave up, and what it takes to end the launch cannot be had of the driver. */
static bool is_locked_out(void) {
    return copied && copied->host->hang &&
           clock_now() - copied_since > copy_ends + COPY_LIMITS * copied->recording.launch.hang_after;
}

/* Asks the driver nothing, and so cannot be locked out by it. */
static void *watch_over(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!launches)
            pthread_cond_wait(&changed, &lock);
        if (is_locked_out()) {
            copied->end = HANG_STAYS;
            copied->locked_out(copied);
        }
        pthread_mutex_unlock(&lock);
        pause_for(grace);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

static bool begin_thread(void *(*work)(void *)) {
    pthread_t thread;
    bool begun = pthread_create(&thread, NULL, work, NULL) == 0;
    if (begun)
        pthread_detach(thread);
    return begun;
}

void hang_watch(HangLaunch *launch, const HangDriver *driver) {
    if (!launch->recording.launch.hang_after)
        return;
    pthread_mutex_lock(&lock);
    cuda = *driver;
    launch->end = HANG_NOT;
    launch->trapped = 0;
    launch->done = NULL;
    launch->looked_at = false;
    launch->asked = 0;
    launch->hash = 0;
    launch->since = clock_now();
    launch->look = launch->since + launch->recording.launch.hang_after / LOOKS;
    launch->pause = launch->recording.launch.hang_after;
    launch->next = launches;
    launches = launch;
    runs = runs || begin_thread(watch);
    guarded = guarded || begin_thread(watch_over);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void hang_made(HangLaunch *launch, Handle done) {
    pthread_mutex_lock(&lock);
    launch->done = done;
    pthread_mutex_unlock(&lock);
}

HangEnd hang_release(HangLaunch *launch) {
    pthread_mutex_lock(&lock);
    while (launch->looked_at)
        pthread_cond_wait(&changed, &lock);
    for (HangLaunch **at = &launches; *at; at = &(*at)->next)
        if (*at == launch) {
            *at = launch->next;
            break;
        }
    HangEnd end = launch->end;
    pthread_mutex_unlock(&lock);
    return end;
}

const char *hang_means(HangEnd end) {
    switch (end) {
    case HANG_EXITS:
        return "its waiting threads were made to exit; the program goes on, without what the kernel would have "
               "computed";
    case HANG_TRAPS:
        return "it was stopped by a trap, because threads of it are held at barriers: CUDA reports a launch failure to "
               "the program, and this process cannot use the device any more";
    case HANG_STAYS:
        return "all of its threads are held at barriers, and only the end of the process ends such a kernel: the "
               "process was ended";
    default:
        return "";
    }
}
