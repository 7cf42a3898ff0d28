/* The fewest proxy fences with which a kernel has none missing, and the IR with them. */
#ifndef CHECK_FENCES_FENCES_H
#define CHECK_FENCES_FENCES_H

#include "check/fences/proxies_run.h"

/* Of one kernel. */
typedef struct FencePlan {
    const FencePoint *points; /* to be inserted */
    size_t point_count;
    const Op *const *without; /* to be taken out */
    size_t without_count;
    bool settled; /* with these there is none missing */
} FencePlan;

/* What is inserted is a fence before the arrive by which another partition learns of a write, or before the operation
 * itself; fences that are there stay where they are, unless they are needless. No fence of the plan can be left out.
 * Memory: the module's arena, which must be able to jump. */
FencePlan fences_plan(Module *module, const Op *function, const Launch *launch, Verdict *verdict);
void fences_emit(Module *module, const FencePlan *plans, size_t count, Text *to);

bool op_is_fence(const Op *op);
/* The fences that can be left out, all together, so that no more is missing than before; none if runs do not end, do
 * not make every access, or take too long to be made for each of them. Forgets what the observer has found. */
const Op *const *fences_needless(Module *module, const Op *function, FenceRuns *runs, Proxies *proxies, size_t *count);

#endif
