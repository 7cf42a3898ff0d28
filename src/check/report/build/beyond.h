/* What a kernel that hangs was meant to do: the same run, gone on past the waits that block. */
#ifndef CHECK_REPORT_BUILD_BEYOND_H
#define CHECK_REPORT_BUILD_BEYOND_H

#include "check/report/build/watch.h"

typedef struct Beyond {
    const Machine *machine;
    const Sights *sights; /* NULL: the run could not be made again */
} Beyond;

/* Makes the run again that hung, and wherever nothing can go on lets the wait pass that the finding about it blames, or
 * else one that waits because of that: as if the phase had been completed. To the end, or to where nothing helps. The
 * verdict is only looked at. */
Beyond beyond_run(Module *module, const Op *function, const Sights *hung, const Verdict *verdict);

#endif
