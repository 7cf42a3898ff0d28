/* The thread that takes records off the device: it waits for launches to end, copies what they used, clears it, and has
 * it written as a file. The program's own streams are not waited for. */
#include "runtime/record/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NAME_MOST = 60, LONGEST_NAP = 1000000, NAP_SHARE = 16 };
/* Nanoseconds: a launch is waited for without sleep for so long, looking at the others in between; and one that is
 * about to be made, or may come behind another. Being woken takes longer than many kernels do: of one of 28 us on an
 * H200 it was seen after 176 us that it had ended, and after 47 to 79 us in other runs. A program that waits for a
 * launch, looks at what it left, and makes the next takes a millisecond or more. */
enum { AWAKE = 200000, AWAKE_SLICE = 20000, AWAKE_FOR_NEXT = 5000000 };

static GpuOutstanding *outstanding_ops; /* that are in the air, the oldest first */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool runs;
static unsigned in_air;      /* outstanding launches of that list, for who has not got the mutex; */
static unsigned unwritten;   /* ... and those whose recordings are not written yet */
static uint64_t awake_until; /* a launch is about to be made, or others may follow one */
static unsigned added;       /* outstanding launches so far */
/* Where the thread sleeps. Not with gpu_mutex, which the thread that wakes it keeps for a while: it would sleep once
 * more. */
static pthread_mutex_t idle = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wakes = PTHREAD_COND_INITIALIZER;

/* ---- Files --------------------------------------------------------------------------------------- */

/* Its name, as far as a file may have it. */
static void plain_name(const char *kernel, char *name) {
    size_t length = 0;
    for (const char *at = kernel; *at && length < NAME_MOST; at++)
        name[length++] = isalnum((unsigned char)*at) ? *at : '_';
    name[length] = 0;
}

/* Bytes of the file, nearly. */
static uint64_t bytes_of(const Recording *recording) {
    uint64_t chunks = (uint64_t)(recording->first_count + recording->more_count) * recording->launch.chunk;
    return recording->ptx.size + recording->memory_count * sizeof *recording->memory +
           (recording->packed.data ? recording->packed.size : chunks);
}

bool drain_write(const Recording *recording, uint64_t key) {
    static unsigned files;
    uint64_t bytes = bytes_of(recording);
    /* Sentences, and the report of a kernel that does not end, are written in any case. */
    if (recording->ptx.size && !(recording->launch.flags & RECORDING_HUNG) && !disk_has(bytes)) {
        gpu_unseen(recording->kernel, "%s", disk_full);
        return false;
    }
    disk_takes(bytes);
    char name[NAME_MOST + 1], path[4096], part[4096 + 8];
    plain_name(recording->kernel, name);
    snprintf(path, sizeof path, "%s/%s-%ld-%u%s", gpu_options()->folder, name, (long)getpid(),
             __atomic_add_fetch(&files, 1, __ATOMIC_RELAXED), RECORDING_ENDING);
    snprintf(part, sizeof part, "%s.part", path);
    FILE *to = fopen(part, "wb");
    bool good = to && recording_write(to, recording), large = good && ftello(to) > (off_t)SOURCE_LARGEST;
    int why = errno;
    if (to && fclose(to) != 0) {
        why = errno;
        good = false;
    }
    if (!good || large || rename(part, path) != 0) {
        folder_log("note a recording of kernel %s could not be written: %s; it was not checked", recording->kernel,
                   large ? "it is larger than 4 GiB (--sample records fewer CTAs)" : strerror(good ? errno : why));
        unlink(part);
    } else {
        if (key)
            folder_log("like %s %016llx", strrchr(path, '/') + 1, (unsigned long long)key);
        if (recording->launch.flags & RECORDING_HUNG)
            folder_log("hung %s", strrchr(path, '/') + 1);
        over_written(strrchr(path, '/') + 1, recording);
    }
    return true;
}

static Recording recording_of(const GpuOutstanding *outstanding) {
    const GpuKernel *kernel = outstanding->kernel;
    RecordingLaunch launch = outstanding->launch;
    launch.flags |= RECORDING_AS_PASSED; /* the driver says where they are */
    if (textures_are_arrays())
        launch.flags |= RECORDING_ARRAYS;
    return (Recording){.launch = launch,
                       .kernel = kernel->name,
                       .device = outstanding->context->device,
                       .ptx = {outstanding->module->ptx, outstanding->module->ptx_bytes},
                       .sites = gpu_site_table(outstanding->module, kernel, launch.block),
                       .parameters = outstanding->parameters,
                       .parameter_bytes = outstanding->parameters ? kernel->parameter_bytes : 0,
                       .memory = outstanding->memory,
                       .memory_count = outstanding->memory_count,
                       .places = &outstanding->places,
                       .order = outstanding->order.there ? &outstanding->order.order : NULL,
                       .known = outstanding->order.known};
}

static void note_time(const GpuOutstanding *outstanding, const GpuChunks *chunks, uint64_t ended, uint64_t copied) {
    if (gpu_options()->times)
        folder_log(
            "time %s launch %llu kernel %llu ns, seen to have ended after %llu ns, on the host after %llu ns, "
            "written after %llu ns, %llu bytes of chunks, %llu packed",
            outstanding->kernel->name, (unsigned long long)outstanding->launch.number,
            (unsigned long long)outstanding->launch.nanoseconds, (unsigned long long)(ended - outstanding->made_at),
            (unsigned long long)(copied - outstanding->made_at), (unsigned long long)(gpu_now() - outstanding->made_at),
            (unsigned long long)chunks->bytes, (unsigned long long)chunks->packed.size);
}

static void stay_awake(void) {
    __atomic_store_n(&awake_until, gpu_now() + AWAKE_FOR_NEXT, __ATOMIC_RELAXED);
}

/* ---- One launch ---------------------------------------------------------------------------------- */

static void land(GpuOutstanding *outstanding) {
    pthread_mutex_lock(&gpu_mutex);
    outstanding_complete(outstanding);
    pthread_mutex_unlock(&gpu_mutex);
}

/* If its memory cannot be cleared, nothing can be done on the device any more. */
static void give_back(GpuOutstanding *outstanding, const GpuChunks *chunks) {
    gpu_clear(outstanding, chunks);
    land(outstanding);
}

static const char no_order[] = "there are more streams than can be distinguished: whether it races with launches of "
                               "others was not checked";

/* What the recording lacks, in sentences. */
static Text sentences_of(const GpuOutstanding *outstanding, const Recording *recording, Result result) {
    Text text = {0};
    if (result) {
        text_addf(&text, "its launch failed with CUDA error %d", result);
        text_char(&text, 0);
    } else if (!recording->order) {
        text_str(&text, (Str){no_order, sizeof no_order});
    }
    if (outstanding->twice)
        text_add(&text, TWO_ADDRESSES, sizeof TWO_ADDRESSES);
    return text;
}

/* It is over, and what was to be written is. */
static void finish(GpuOutstanding *outstanding) {
    GpuContext *context = outstanding->context;
    pthread_mutex_lock(&gpu_mutex);
    outstanding_free(outstanding);
    context->unwritten--;
    __atomic_sub_fetch(&unwritten, 1, __ATOMIC_RELEASE);
    gpu_busy(false);
    stay_awake();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&gpu_mutex);
    over_look();
}

/* What a launch left is written as a recording. */
static void write_records(GpuWriting *writing) {
    GpuOutstanding *outstanding = writing->outstanding;
    const GpuChunks *chunks = &writing->chunks;
    Recording recording = recording_of(outstanding);
    recording.first = chunks->first;
    recording.first_count = chunks->first_count;
    recording.more = chunks->more;
    recording.more_count = chunks->more_count;
    recording.packed = chunks->packed;
    recording.near = chunks->near;
    recording.far = chunks->far;
    Text sentences = sentences_of(outstanding, &recording, writing->result);
    recording.unseen = (Str){sentences.data, sentences.size};
    /* One that failed, or of which there is something to be said, is like no other. */
    uint64_t key = writing->result || sentences.size
                       ? 0
                       : outstanding->key ^ (uint64_t)(uintptr_t)outstanding->kernel ^ (uint64_t)getpid() << 48;
    if (!writing->written && !drain_write(&recording, key))
        __atomic_sub_fetch(&outstanding->kernel->recorded, 1, __ATOMIC_RELAXED);
    note_time(outstanding, chunks, writing->ended, writing->copied);
    text_free(&sentences);
}

void drain_written(GpuWriting *writing) {
    write_records(writing);
    finish(writing->outstanding);
}

static void is_packed(GpuOutstanding *outstanding) {
    pthread_mutex_lock(&gpu_mutex);
    gpu_packed(outstanding);
    outstanding->packs = false;
    pthread_mutex_unlock(&gpu_mutex);
}

/* Packed records, moved out of where they were packed to, are left to another thread. False: they are not. */
static bool write_later(const GpuWriting *writing) {
    GpuWriting *later = writing->chunks.packed.data && !writing->written ? malloc(sizeof *later) : NULL;
    char *copy = later ? malloc(writing->chunks.packed.size + 1) : NULL;
    if (!copy) {
        free(later);
        return false;
    }
    *later = *writing;
    later->chunks.copied = memcpy(copy, writing->chunks.packed.data, writing->chunks.packed.size);
    later->chunks.packed.data = copy;
    is_packed(writing->outstanding);
    writing_add(later);
    return true;
}

/* What came of a launch: its records were taken, and are written; they are taken, and another thread writes them; or
 * they are lost. */
typedef enum GpuTaken { TAKEN_WRITTEN, TAKEN_LATER, TAKEN_NOT } GpuTaken;

/* `result`: how the launch ended, as the driver says it; `written`: it is already, as a hang. */
static GpuTaken take_records(GpuOutstanding *outstanding, Result result, bool written) {
    GpuWriting writing = {.outstanding = outstanding,
                          .kernel = outstanding->kernel,
                          .result = result,
                          .written = written,
                          .ended = gpu_now()};
    bool on_host = outstanding->context->on_host;
    if (!gpu_copy(outstanding, &writing.chunks)) {
        free(writing.chunks.copied);
        return TAKEN_NOT;
    }
    writing.copied = gpu_now();
    if (!on_host) /* others can have its memory while it is written */
        give_back(outstanding, &writing.chunks);
    if (!on_host && write_later(&writing))
        return TAKEN_LATER;
    write_records(&writing);
    if (on_host)
        give_back(outstanding, &writing.chunks);
    free(writing.chunks.copied);
    return TAKEN_WRITTEN;
}

/* After a launch that failed memory of the device is gone. Whether another thread writes what it left. */
static bool end(GpuOutstanding *outstanding, Result result) {
    bool written = outstanding->watched.found && hang_release(&outstanding->watched) != HANG_NOT;
    bool lost = result && !outstanding->context->on_host;
    if (!result && !written && outstanding->maybe && !gpu_has_run(outstanding)) {
        gpu_not_run(outstanding);
        give_back(outstanding, &(GpuChunks){0});
        return false;
    }
    if (written || (result && !lost))
        gpu_failed_kept();
    if (result)
        outstanding->launch.flags |= RECORDING_CUT;
    GpuTaken taken = lost ? TAKEN_NOT : take_records(outstanding, result, written);
    if (taken == TAKEN_NOT) {
        if (!written && lost)
            gpu_failed(result, outstanding->kernel->name);
        if (!written && lost)
            gpu_unseen(outstanding->kernel->name,
                       "its launch failed with CUDA error %d, and its records were lost; --record-host keeps them",
                       result);
        else if (!written)
            gpu_unseen(outstanding->kernel->name, "its records could not be copied");
        land(outstanding);
    }
    return taken == TAKEN_LATER;
}

static void drain(GpuOutstanding *outstanding, Result result) {
    if (outstanding->undone)
        land(outstanding);
    else if (end(outstanding, result))
        return;
    is_packed(outstanding);
    finish(outstanding);
}

/* ---- The thread ---------------------------------------------------------------------------------- */

static bool is_awake(void) {
    return gpu_now() < __atomic_load_n(&awake_until, __ATOMIC_RELAXED);
}

/* One that has ended, taken off the list; NULL: all go on. */
static GpuOutstanding *next_ended(Result *result) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    for (GpuOutstanding **at = &outstanding_ops; *at; at = &(*at)->next) {
        GpuOutstanding *outstanding = *at;
        if (outstanding->context->context != current)
            driver->context_set(current = outstanding->context->context);
        *result = outstanding->failed ? outstanding->failed : driver->event_query(outstanding_ended(outstanding));
        if (*result != NOT_READY) {
            *at = outstanding->next;
            __atomic_sub_fetch(&in_air, 1, __ATOMIC_RELAXED);
            return outstanding;
        }
    }
    return NULL;
}

/* Until it may have ended: the longer it takes, the longer between two looks. Nothing else takes outstanding launches
 * off the list.
 */
static void nap(const GpuOutstanding *outstanding) {
    uint64_t now = gpu_now(), until = now + AWAKE_SLICE, share = (now - outstanding->made_at) / NAP_SHARE;
    if (now - outstanding->made_at >= AWAKE) {
        nanosleep(&(struct timespec){.tv_nsec = share < LONGEST_NAP ? (long)share : LONGEST_NAP}, NULL);
        return;
    }
    gpu_driver(NULL)->context_set(outstanding->context->context);
    while (gpu_driver(NULL)->event_query(outstanding_ended(outstanding)) == NOT_READY && gpu_now() < until)
        continue;
}

/* Nothing is in the air; the mutex is held. */
static void wait_for_next(void) {
    unsigned before = __atomic_load_n(&added, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&gpu_mutex);
    while (__atomic_load_n(&added, __ATOMIC_RELAXED) == before && is_awake())
        continue;
    pthread_mutex_lock(&idle);
    while (__atomic_load_n(&added, __ATOMIC_RELAXED) == before && !is_awake())
        pthread_cond_wait(&wakes, &idle);
    pthread_mutex_unlock(&idle);
    pthread_mutex_lock(&gpu_mutex);
}

static void wake(void) {
    pthread_mutex_lock(&idle);
    pthread_cond_broadcast(&wakes);
    pthread_mutex_unlock(&idle);
}

static void *take_off(void *unused) {
    Result result;
    prctl(PR_SET_TIMERSLACK, 1);
    gpu_relax();
    pthread_mutex_lock(&gpu_mutex);
    for (;;) {
        GpuOutstanding *outstanding = next_ended(&result);
        if (!outstanding && !outstanding_ops) {
            wait_for_next();
            continue;
        }
        const GpuOutstanding *oldest = outstanding_ops;
        pthread_mutex_unlock(&gpu_mutex);
        if (outstanding)
            drain(outstanding, result);
        else
            nap(oldest);
        pthread_mutex_lock(&gpu_mutex);
    }
    return unused;
}

void drain_watch(GpuOutstanding *outstanding) {
    if (outstanding->launch.hang_after)
        gpu_watch(outstanding, recording_of(outstanding));
}

/* A child has no launches, and no thread that would take them off the list; who has had the mutex is not there, either.
 */
static void is_child(void) {
    in_air = unwritten = 0;
}

void drain_soon(void) {
    pthread_t thread;
    stay_awake();
    if (!runs && pthread_create(&thread, NULL, take_off, NULL) == 0) {
        runs = true;
        pthread_detach(thread);
        pthread_atfork(NULL, NULL, is_child);
    }
    wake();
}

void drain_add(GpuOutstanding *outstanding) {
    GpuOutstanding **at = &outstanding_ops;
    while (*at)
        at = &(*at)->next;
    *at = outstanding;
    outstanding->things = hold_things();
    __atomic_add_fetch(&in_air, 1, __ATOMIC_RELAXED);
    outstanding->context->unwritten++;
    __atomic_add_fetch(&unwritten, 1, __ATOMIC_RELEASE);
    gpu_busy(true);
    if (outstanding->watched.found && !outstanding->failed)
        hang_made(&outstanding->watched, outstanding_ended(outstanding));
    __atomic_add_fetch(&added, 1, __ATOMIC_RELEASE);
    wake();
}

void drain_changed(void) {
    pthread_cond_broadcast(&changed);
}

bool drain_one(GpuContext *context) {
    uint64_t before = context->landed;
    if (!context->flying)
        return false;
    while (context->landed == before)
        pthread_cond_wait(&changed, &gpu_mutex);
    return true;
}

void drain_all(GpuContext *context) {
    while (context->flying || context->unwritten)
        pthread_cond_wait(&changed, &gpu_mutex);
}

static void wait_a_little(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LONGEST_NAP;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&changed, &gpu_mutex, &until);
}

bool drain_until(GpuContext *context, uint64_t nanoseconds) {
    uint64_t end = gpu_now() + nanoseconds;
    while ((context->flying || context->unwritten) && gpu_now() < end)
        wait_a_little();
    return !context->flying && !context->unwritten;
}

void drain_kernel(const GpuKernel *kernel, uint64_t nanoseconds) {
    uint64_t end = gpu_now() + nanoseconds;
    while (kernel->flying && gpu_now() < end)
        wait_a_little();
}

bool drain_is_done(void) {
    return __atomic_load_n(&unwritten, __ATOMIC_ACQUIRE) == 0;
}

bool drain_flies(void) {
    return __atomic_load_n(&in_air, __ATOMIC_RELAXED) != 0;
}

bool drain_busy(Handle context) {
    bool found = false;
    pthread_mutex_lock(&gpu_mutex);
    for (const GpuOutstanding *outstanding = outstanding_ops; outstanding && !found; outstanding = outstanding->next)
        found = !outstanding->failed && outstanding->context->context == context &&
                gpu_driver(NULL)->event_query(outstanding_ended(outstanding)) == NOT_READY;
    pthread_mutex_unlock(&gpu_mutex);
    return found;
}

bool drain_runs(uint64_t before, Handle context) {
    bool found = false;
    pthread_mutex_lock(&gpu_mutex);
    for (const GpuOutstanding *outstanding = outstanding_ops; outstanding && !found; outstanding = outstanding->next)
        found = outstanding->watched.found && !outstanding->failed && outstanding->things < before &&
                (!context || outstanding->context->context == context) &&
                gpu_driver(NULL)->event_query(outstanding_ended(outstanding)) == NOT_READY;
    pthread_mutex_unlock(&gpu_mutex);
    return found;
}

void drain_lost(void) {
    for (const GpuOutstanding *outstanding = outstanding_ops; outstanding; outstanding = outstanding->next)
        if (outstanding->watched.end == HANG_NOT) /* else the cause is reported */
            gpu_unseen(outstanding->kernel->name, "it had not ended when the program did");
}
