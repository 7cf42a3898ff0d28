/* Plain runs of all kernels of a module, for somebody who watches. */
#ifndef TESTS_MUTANTS_LAUNCHES_H
#define TESTS_MUTANTS_LAUNCHES_H

#include "emulate/machine.h"

typedef struct Watcher {
    void *context;
    /* Before each run; its observer is set there. */
    void (*start)(void *context, Machine *machine);
} Watcher;

/* Eagerly, every cluster; `launch` may be NULL: chosen ones. Memory: the module's arena. */
void launches_run(Module *module, const Launch *launch, uint64_t budget, const Watcher *watcher);

#endif
