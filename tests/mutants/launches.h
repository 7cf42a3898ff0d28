/* The launches that a file is tried in, and plain runs of its kernels for something that watches. */
#ifndef TESTS_MUTANTS_LAUNCHES_H
#define TESTS_MUTANTS_LAUNCHES_H

#include "machine/tile/launch/choose.h"
#include "machine/tile/schedule/schedule.h"

typedef struct RunWatcher {
    void *context;
    /* Before each run; its observer is set there. */
    void (*start)(void *context, Machine *machine);
    /* May be NULL. */
    void (*end)(void *context, RunEnd end);
} RunWatcher;

/* Those that Weir would choose for the first kernel of the module, as if they were given, but for what callers may
 * never give (LaunchDoubt). `like`: the one that was given, or NULL. At most MOST_CHOSEN; returns how many. Memory: the
 * module's arena. */
size_t launches_choose(Module *module, const Launch *like, Launch *launches);
/* Every kernel of the module, every cluster of the launch, eagerly. Memory: the module's arena. */
void launches_run(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher);
/* The same of the first clusters, in other schedules: late completions, turns, the other way round, at random. */
void launches_run_otherwise(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher);

#endif
