/* A second opinion on races: plain happens-before, by sets of accesses. Slow, and nothing of it is shared with the
 * engine but the events.
 *
 * Every agent knows a set of accesses that are over. An arrive puts what its agent knows into the barrier's phase, a
 * copy's completion inserts the copy, a commit what the agent's tensor core has done, too; a wait takes the set out.
 * Two accesses race if they overlap, one of them writes, and the one that makes the later one does not know the
 * earlier. Beside that it keeps which write each read sees, so that a fault that changes nothing can be distinguished
 * from one that makes a kernel compute something else in good order. */
#ifndef TESTS_MUTANTS_ORDER_H
#define TESTS_MUTANTS_ORDER_H

#include "explore/launch/launch.h"
#include "ir/ir.h"

typedef struct OrderResult {
    uint64_t races;
    uint32_t line, other_line; /* of the first one */
    uint64_t data;             /* which write each read sees, as a hash */
    uint64_t unwritten;        /* reads of memory that nothing has written */
    uint64_t stuck;            /* runs that end with something that waits forever, or with a fault */
    bool partial;              /* a run was too large to be looked at to its end */
} OrderResult;

/* Of all kernels of the module. Memory: the module's arena. */
OrderResult order_find(Module *module, const Launch *launch, uint64_t budget);
/* The same of other schedules, whose data do not count. */
OrderResult order_find_otherwise(Module *module, const Launch *launch, uint64_t budget);

#endif
