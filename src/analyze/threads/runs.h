/* One machine and those who watch it. */
#ifndef ANALYZE_THREADS_RUNS_H
#define ANALYZE_THREADS_RUNS_H

#include "analyze/threads/internal.h"

/* How a run is made. */
typedef struct ThreadsRun {
    PtxSchedule schedule;
    unsigned world;
} ThreadsRun;

/* The machine for a launch; false, with a line in the verdict, if there is none. */
bool runs_open(ThreadsCheck *check, const PtxLaunch *launch);
void runs_close(ThreadsCheck *check);
/* Makes a run that `watch` sees, or nobody if it is NULL. An eager run of many CTAs is one of each class (classes.h)
 * where that says all; if something is wrong then, the run's schedule gets those CTAs alone. */
PtxEnd runs_make(ThreadsCheck *check, ThreadsRun *run, PtxWatch *watch);

/* ---- unset.c: what the run that was just made shows beside races ---- */
void threads_unset(ThreadsCheck *check, const ThreadsRun *run);
void threads_overwrite(ThreadsCheck *check, const ThreadsRun *run);

#endif
