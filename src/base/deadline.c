/* The clock that does not go back, and the time that a thread has worked. */
#include "base/deadline.h"

#include "base/dependencies.h"

#include <time.h>

/* For what was found last, and for all that was found. */
static const uint64_t granted_once = 2000000000u, granted_at_most = 10000000000u;

_Thread_local Deadline deadline;
static _Thread_local double started; /* by the clock */

static uint64_t time_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* A thread that begins has worked for some time already, so that there are times long before it. */
uint64_t deadline_now(void) {
    static const uint64_t begun = UINT64_C(1000000000000);
    return begun + time_of(CLOCK_THREAD_CPUTIME_ID);
}

double clock_seconds(void) {
    return (double)time_of(CLOCK_MONOTONIC) * 1e-9;
}

void deadline_start(unsigned seconds, DeadlineStop *stop, void *context) {
    uint64_t end = seconds ? deadline_now() + (uint64_t)seconds * 1000000000u : stop ? UINT64_MAX : 0;
    deadline = (Deadline){.end = end, .stop = stop, .context = context};
    started = clock_seconds();
}

double deadline_seconds(void) {
    return clock_seconds() - started;
}

bool deadline_end(void) {
    bool missed = deadline.missed;
    deadline = (Deadline){0};
    return missed;
}

bool deadline_look(void) {
    if (deadline.end && (!deadline.missed || deadline.grant)) {
        uint64_t time = deadline_now();
        if (time < deadline.grant)
            return false;
        deadline.grant = 0;
        deadline.stopped |= !deadline.missed && deadline.stop && deadline.stop(deadline.context);
        if (deadline.stopped && deadline.end > time)
            deadline.end = time;
        deadline.missed |= time >= deadline.end;
        if (deadline.missed)
            dependencies_spoil(); /* with more time there would be another result */
    }
    return deadline.missed;
}

void deadline_grant(void) {
    if (!deadline.end)
        return;
    uint64_t until = deadline_now() + granted_once,
             last = deadline.end == UINT64_MAX ? UINT64_MAX : deadline.end + granted_at_most;
    deadline.grant = until < last ? until : last;
}
