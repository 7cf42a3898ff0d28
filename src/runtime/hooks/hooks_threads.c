/* Threads of the host: one that begins knows what the thread that made it knew, and who waits for its end learns what
 * it knew. Other ways in which threads hand on to each other what they have waited for are not seen. */
#include "runtime/hooks.h"

#include "base/host/threads.h"
#include "runtime/record/gpu.h"

#include <unistd.h>

static const ThreadWatch watch = {order_thread_made, order_thread_not_made, order_thread_begun, order_thread_joined};
static pid_t process;

__attribute__((constructor)) static void name_process(void) {
    process = getpid();
}

/* In a child that was forked, a mutex may be locked by a thread that is not there. */
static bool looks(void) {
    return order_on() && getpid() == process;
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, ThreadFunction *function,
                            void *argument) {
    void *next = next_dlsym(RTLD_NEXT, "pthread_create");
    const void *caller = __builtin_return_address(0);
    if (!looks() || is_own_thread(caller, &process) ||
        is_sanitizer(caller, next_dlsym(RTLD_DEFAULT, "__interceptor_pthread_create")))
        return (*(ThreadCreate **)&next)(thread, attributes, function, argument);
    return watched_create(&watch, next, thread, attributes, function, argument);
}

EXPORTED int pthread_join(pthread_t thread, void **value) {
    void *next = next_dlsym(RTLD_NEXT, "pthread_join");
    return looks() ? watched_join(&watch, next, thread, value) : (*(ThreadJoin **)&next)(thread, value);
}
