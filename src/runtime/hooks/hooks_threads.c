/* Threads of the host: one that begins knows what the thread that made it knew, and who waits for its end learns what
 * it knew. Other ways in which threads hand on to each other what they have waited for are not seen. */
#include "runtime/hooks.h"

#include "base/array.h"
#include "runtime/record/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *ThreadFunction(void *);

typedef struct ThreadStart {
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
    add(pthread_self(), order_thread_begun(start.made));
    return start.function(start.argument);
}

static pid_t process;

__attribute__((constructor)) static void name_process(void) {
    process = getpid();
}

/* In a child that was forked, a mutex may be locked by a thread that is not there. */
static bool looks(void) {
    return order_on() && getpid() == process;
}

/* This library's own threads are not the program's. */
static bool is_own(const void *caller) {
    Dl_info of_caller, own;
    return dladdr(caller, &of_caller) && dladdr(&threads, &own) && of_caller.dli_fbase == own.dli_fbase;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, ThreadFunction *function,
                            void *argument) {
    typedef int Create(pthread_t *, const pthread_attr_t *, ThreadFunction *, void *);
    void *symbol = next_dlsym(RTLD_NEXT, "pthread_create");
    Create *next = *(Create **)&symbol;
    bool own = is_own(__builtin_return_address(0));
    ThreadStart *start = looks() && !own ? malloc(sizeof *start) : NULL;
    if (!start)
        return next(thread, attributes, function, argument);
    *start = (ThreadStart){function, argument, order_thread_made()};
    int result = next(thread, attributes, begin, start);
    if (result) {
        order_thread_not_made(start->made);
        free(start);
    }
    return result;
}

EXPORTED int pthread_join(pthread_t thread, void **value) {
    typedef int Join(pthread_t, void **);
    void *symbol = next_dlsym(RTLD_NEXT, "pthread_join");
    int result = (*(Join **)&symbol)(thread, value);
    uint64_t id = !result && looks() ? take(thread) : 0;
    if (id)
        order_thread_joined(id);
    return result;
}
