/* `weir check K.ptx`: runs a kernel at its launches in the orders that can matter, and makes findings of what is wrong.
 */
#ifndef ANALYZE_THREADS_CHECK_H
#define ANALYZE_THREADS_CHECK_H

#include "emulate/launch.h"
#include "emulate/ptx/machine.h"
#include "finding/finding.h"

typedef struct ThreadsOptions {
    const Launch *launch; /* NULL: they are chosen */
    bool only_launch;
    bool volatile_races;
    PtxGear gear;
    uint64_t budget; /* instructions of groups for each run; 0: the default */
    uint64_t seed;
} ThreadsOptions;

void threads_check(const PtxModule *module, uint32_t entry, const ThreadsOptions *options, Verdict *verdict);

#endif
