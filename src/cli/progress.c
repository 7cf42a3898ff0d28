/* For a terminal: a line on standard error that the next overwrites, cleared before anything is said.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double seconds_now(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

double seconds_worked(void) {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

Progress progress_start(void) {
    return (Progress){.started = seconds_now()};
}

double progress_seconds(const Progress *progress) {
    return seconds_now() - progress->started;
}

bool progress_due(Progress *progress) {
    double time = seconds_now();
    if (!isatty(STDERR_FILENO) || time - progress->started < 1 || time - progress->shown < 0.1)
        return false;
    progress->shown = time;
    progress->showing = true;
    fputs("\r\033[K", stderr);
    return true;
}

void progress_show(void *context, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters) {
    Progress *progress = context;
    if (!progress_due(progress))
        return;
    if (progress->files > 1)
        fprintf(stderr, "file %zu of %zu, ", progress->file + 1, progress->files);
    fprintf(stderr, "@%.60s, %.80s, cluster %llu of %llu", kernel, launch, (unsigned long long)cluster + 1,
            (unsigned long long)clusters);
}

int progress_write_error(void *progress, const char *data, size_t size) {
    progress_clear(progress);
    return stream_write(stderr, data, size);
}

void progress_clear(Progress *progress) {
    if (progress->showing)
        fputs("\r\033[K", stderr);
    progress->showing = false;
}
