/* The clock that does not go back. */
#include "base/deadline.h"

#include <time.h>

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
    if (deadline.end && !deadline.missed)
        deadline.missed = now() >= deadline.end;
    return deadline.missed;
}
