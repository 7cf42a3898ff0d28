/* Threads that a program makes and joins, for libraries that stand before pthread_create and pthread_join: one that
 * begins gets what the thread that made it left for it, and who waits for its end gets its number. */
#ifndef BASE_HOST_THREADS_H
#define BASE_HOST_THREADS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void *ThreadFunction(void *);
typedef int ThreadCreate(pthread_t *, const pthread_attr_t *, ThreadFunction *, void *);
typedef int ThreadJoin(pthread_t, void **);

typedef struct ThreadWatch {
    void *(*made)(void);           /* before this thread makes one: what that is given; NULL: nothing */
    void (*not_made)(void *made);  /* it could not be made */
    uint64_t (*begun)(void *made); /* in the thread that was made: its number, not 0 */
    void (*joined)(uint64_t id);   /* this thread has waited for the end of that one */
} ThreadWatch;

/* As pthread_create and pthread_join, which `next` points to. */
int watched_create(const ThreadWatch *watch, void *next, pthread_t *thread, const pthread_attr_t *attributes,
                   ThreadFunction *function, void *argument);
int watched_join(const ThreadWatch *watch, void *next, pthread_t thread, void **value);

/* Whether a sanitizer makes the call, whose own function `interceptor` is: before it knows a thread no other code may
 * run there. */
static inline bool is_sanitizer(const void *caller, const void *interceptor) {
    Dl_info of_caller, of_interceptor;
    return interceptor && dladdr(caller, &of_caller) && dladdr(interceptor, &of_interceptor) &&
           of_caller.dli_fbase == of_interceptor.dli_fbase;
}

/* Whether the caller is in the library that `here` is in, whose threads are not the program's. */
static inline bool is_own_thread(const void *caller, const void *here) {
    Dl_info of_caller, own;
    return dladdr(caller, &of_caller) && dladdr(here, &own) && of_caller.dli_fbase == own.dli_fbase;
}

#endif
