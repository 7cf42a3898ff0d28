/* The launches that a file is tried in, and plain runs of its kernels for somebody who watches. */
#ifndef TESTS_MUTANTS_LAUNCHES_H
#define TESTS_MUTANTS_LAUNCHES_H

#include "emulate/choose.h"
#include "emulate/machine.h"

typedef struct RunWatcher {
    void *context;
    /* Before each run; its observer is set there. */
    void (*start)(void *context, Machine *machine);
} RunWatcher;

/* Those that Weir would choose for the first kernel of the module, as if they were given. At most MOST_CHOSEN; returns
 * how many. Memory: the module's arena. */
size_t launches_choose(Module *module, Launch *launches);
/* Every kernel of the module, every cluster of the launch, eagerly. Memory: the module's arena. */
void launches_run(Module *module, const Launch *launch, uint64_t budget, const RunWatcher *watcher);

#endif
