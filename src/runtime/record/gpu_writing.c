/* The thread that writes recordings: a disk may take its time, and whatever takes records off the device goes on
 * meanwhile, so that launches find memory for theirs. */
#include "runtime/record/gpu.h"

#include <stdlib.h>
#include <time.h>

#define MOST_UNWRITTEN (UINT64_C(64) << 20) /* bytes, which a crash loses; what takes records off waits then */

static GpuWriting *first, **last = &first;
static uint64_t bytes; /* of all of them */
static bool runs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *write_all(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!first)
            pthread_cond_wait(&changed, &mutex);
        GpuWriting *writing = first;
        pthread_mutex_unlock(&mutex);
        drain_written(writing);
        pthread_mutex_lock(&mutex);
        first = writing->next;
        last = first ? last : &first;
        bytes -= writing->chunks.packed.size;
        free(writing->chunks.copied);
        free(writing);
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

/* A child has no launches, and not this thread. */
static void is_child(void) {
    runs = false;
    first = NULL;
    last = &first;
    bytes = 0;
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

void writing_add(GpuWriting *writing) {
    pthread_t thread;
    static bool watches_forks;
    pthread_mutex_lock(&mutex);
    if (!runs && pthread_create(&thread, NULL, write_all, NULL) == 0) {
        runs = true;
        pthread_detach(thread);
        if (!watches_forks)
            pthread_atfork(NULL, NULL, is_child);
        watches_forks = true;
    }
    bool added = runs;
    while (added && bytes && bytes + writing->chunks.packed.size > MOST_UNWRITTEN)
        pthread_cond_wait(&changed, &mutex);
    if (added) {
        writing->next = NULL;
        *last = writing;
        last = &writing->next;
        bytes += writing->chunks.packed.size;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&mutex);
    if (!added) {
        drain_written(writing);
        free(writing->chunks.copied);
        free(writing);
    }
}

void writing_settle(uint64_t nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(nanoseconds / 1000000000);
    pthread_mutex_lock(&mutex);
    while (first && pthread_cond_timedwait(&changed, &mutex, &until) == 0)
        continue;
    pthread_mutex_unlock(&mutex);
}

void writing_lost(void) {
    pthread_mutex_lock(&mutex);
    for (const GpuWriting *writing = first; writing; writing = writing->next) {
        __atomic_sub_fetch(&writing->kernel->recorded, 1, __ATOMIC_RELAXED);
        gpu_unseen(writing->kernel->name, "its recording was not written when the program ended");
    }
    pthread_mutex_unlock(&mutex);
}
