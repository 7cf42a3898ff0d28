/* For whoever watches a terminal: a line on standard error that the next overwrites, cleared before anything is said.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

Progress progress_start(void) {
    return (Progress){.started = now()};
}

double progress_seconds(const Progress *progress) {
    return now() - progress->started;
}

bool progress_due(Progress *progress) {
    double time = now();
    if (!isatty(STDERR_FILENO) || time - progress->started < 1 || time - progress->shown < 0.1)
        return false;
    progress->shown = time;
    progress->showing = true;
    fputs("\r\033[K", stderr);
    return true;
}

void progress_clear(Progress *progress) {
    if (progress->showing)
        fputs("\r\033[K", stderr);
    progress->showing = false;
}
