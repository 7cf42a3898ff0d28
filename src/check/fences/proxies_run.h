/* Plain runs of a kernel for the proxies' observer: which launches, which clusters. */
#ifndef CHECK_FENCES_PROXIES_RUN_H
#define CHECK_FENCES_PROXIES_RUN_H

#include "check/fences/proxies.h"
#include "machine/tile/launch/choose.h"

/* What is given to a kernel; all may be NULL. */
typedef struct FenceLaunch {
    const Launch *launch;
    /* What the loads of each of its clusters gave when the whole grid ran. */
    const LoadLog *(*loads)(void *context, uint64_t cluster);
    void *loads_context;
    ChosenLaunches **chosen; /* those of other steps */
} FenceLaunch;

typedef struct FenceRuns FenceRuns;
typedef void FenceWork(FenceRuns *runs, Proxies *proxies, void *context);

/* What a kernel consists of: itself, or its module if it calls functions. */
const Op *proxies_scope(const Op *function);
/* Whether any op of the kernel reaches memory by another proxy than the generic one. */
bool proxies_matter(Module *module, const Op *function);

/* Compiles the kernel, chooses launches, adds the one that is given, and calls `work`, which may run them as
 * often as it likes. What cannot be looked at is told to the verdict as incomplete; its launches and findings are not
 * touched. */
void fence_runs(Module *module, const Op *function, FenceLaunch given, Verdict *verdict, FenceWork *work,
                void *context);
/* All runs once more. */
void fence_runs_again(FenceRuns *runs);
/* The same, until `enough` says after one of them that no more are needed. */
void fence_runs_until(FenceRuns *runs, bool (*enough)(void *context), void *context);
/* Whether all runs that were made last came to their end. */
bool fence_runs_complete(const FenceRuns *runs);
/* Why some run did not finish; NULL: all did. */
const char *fence_runs_cut_short(const FenceRuns *runs);
/* The same, of one that does not hang. */
const char *fence_runs_unfinished(const FenceRuns *runs);
/* How many clusters of a launch no run speaks for; 0: every one has been looked at. *launch: that one. */
uint64_t fence_runs_left_out(const FenceRuns *runs, const Launch **launch);
/* Steps of all runs so far. */
uint64_t fence_runs_steps(const FenceRuns *runs);
const Machine *fence_runs_machine(const FenceRuns *runs);

#endif
