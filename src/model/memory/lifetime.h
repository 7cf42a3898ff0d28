/* How long memory lives: from the op that allocates it to the last that uses it, under any of its names.
 *
 * Time is the number of an op when a function's ops are counted inner before outer, in the order of the text. A value
 * lives from its definition over all blocks on the way to its uses; memory lives as long as any value that may be a
 * name for it: views, selects, what loops carry, ifs and branches hand over, partitions capture. */
#ifndef MODEL_MEMORY_LIFETIME_H
#define MODEL_MEMORY_LIFETIME_H

#include "ir/ir.h"

typedef struct Lifetime {
    uint32_t begin, end; /* [begin, end) */
} Lifetime;

static inline bool lifetimes_overlap(Lifetime a, Lifetime b) {
    return a.begin < b.end && b.begin < a.end;
}

typedef struct Lifetimes Lifetimes;

/* Of the ops, and of the shared and tensor memory of a function. In the module's arena. */
const Lifetimes *lifetimes_of(Module *module, const Op *function);
/* The time of an op below the function, the function itself included. */
uint32_t lifetime_number(const Lifetimes *lifetimes, const Op *op);
/* Of what `value` allocates; the whole function if it is no memory or could not be followed. */
Lifetime lifetime_of(const Lifetimes *lifetimes, const Value *value);

#endif
