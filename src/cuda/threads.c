/* Threads of the program, in its order log: one that begins knows what the thread that made it knew, and who waits for
 * its end learns what it knew. */
#include "cuda/cuda.h"
#include "cuda/runtime.h"

#include "base/host/threads.h"

#include <unistd.h>

static const ThreadWatch watch = {log_thread_made, log_thread_not_made, log_thread_begun, log_thread_joined};
static pid_t process;

__attribute__((constructor)) static void name_process(void) {
    process = getpid();
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, ThreadFunction *function,
                            void *argument) {
    void *next = dlsym(RTLD_NEXT, "pthread_create");
    const void *caller = __builtin_return_address(0);
    if (getpid() != process || is_own_thread(caller, &process) ||
        is_sanitizer(caller, dlsym(RTLD_DEFAULT, "__interceptor_pthread_create")))
        return (*(ThreadCreate **)&next)(thread, attributes, function, argument);
    return watched_create(&watch, next, thread, attributes, function, argument);
}

EXPORTED int pthread_join(pthread_t thread, void **value) {
    void *next = dlsym(RTLD_NEXT, "pthread_join");
    return getpid() == process ? watched_join(&watch, next, thread, value) : (*(ThreadJoin **)&next)(thread, value);
}
