/* The clock that does not go back. */
#include "base/deadline.h"

#include <time.h>

/* For what was found last, and for all that was found. */
static const uint64_t granted_once = 2000000000u, granted_at_most = 10000000000u;

_Thread_local Deadline deadline;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

double clock_seconds(void) {
    return (double)now() * 1e-9;
}

void deadline_start(unsigned seconds) {
    deadline = (Deadline){.end = seconds ? now() + (uint64_t)seconds * 1000000000u : 0};
}

bool deadline_end(void) {
    bool missed = deadline.missed;
    deadline = (Deadline){0};
    return missed;
}

bool deadline_look(void) {
    if (deadline.end && (!deadline.missed || deadline.grant)) {
        uint64_t time = now();
        if (time < deadline.grant)
            return false;
        deadline.grant = 0;
        deadline.missed |= time >= deadline.end;
    }
    return deadline.missed;
}

void deadline_grant(void) {
    if (!deadline.end)
        return;
    uint64_t until = now() + granted_once, last = deadline.end + granted_at_most;
    deadline.grant = until < last ? until : last;
}
