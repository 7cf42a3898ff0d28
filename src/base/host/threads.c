/* Who begins is known by what the thread that made it left, and who ends by its handle. */
#include "base/host/threads.h"

#include "base/array.h"

#include <stdlib.h>

typedef struct ThreadStart {
    const ThreadWatch *watch;
    ThreadFunction *function;
    void *argument, *made;
} ThreadStart;

/* Threads that were made, and whose end was not waited for. */
typedef struct MadeThread {
    pthread_t handle;
    uint64_t id;
} MadeThread;

static MadeThread *threads;
static size_t count, capacity;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A handle is used again once nothing can wait for the thread that had it. */
static MadeThread *find(pthread_t handle) {
    for (size_t i = 0; i < count; i++)
        if (pthread_equal(threads[i].handle, handle))
            return &threads[i];
    return NULL;
}

static void add(pthread_t handle, uint64_t id) {
    pthread_mutex_lock(&mutex);
    MadeThread *thread = find(handle);
    if (!thread && ARRAY_ROOM(threads, count, capacity, 16))
        thread = &threads[count++];
    if (thread)
        *thread = (MadeThread){handle, id};
    pthread_mutex_unlock(&mutex);
}

/* 0: it is not known. */
static uint64_t take(pthread_t handle) {
    uint64_t id = 0;
    pthread_mutex_lock(&mutex);
    MadeThread *thread = find(handle);
    if (thread) {
        id = thread->id;
        *thread = threads[--count];
    }
    pthread_mutex_unlock(&mutex);
    return id;
}

static void *begin(void *of) {
    ThreadStart start = *(ThreadStart *)of;
    free(of);
    add(pthread_self(), start.watch->begun(start.made));
    return start.function(start.argument);
}

int watched_create(const ThreadWatch *watch, void *next, pthread_t *thread, const pthread_attr_t *attributes,
                   ThreadFunction *function, void *argument) {
    ThreadCreate *create = *(ThreadCreate **)&next;
    ThreadStart *start = malloc(sizeof *start);
    if (!start)
        return create(thread, attributes, function, argument);
    *start = (ThreadStart){watch, function, argument, watch->made()};
    int result = create(thread, attributes, begin, start);
    if (result) {
        watch->not_made(start->made);
        free(start);
    }
    return result;
}

int watched_join(const ThreadWatch *watch, void *next, pthread_t thread, void **value) {
    uint64_t id = take(thread); /* before its handle can be that of another thread */
    int result = (*(ThreadJoin **)&next)(thread, value);
    if (result && id)
        add(thread, id);
    else if (!result && (id || (id = take(thread))))
        watch->joined(id);
    return result;
}
