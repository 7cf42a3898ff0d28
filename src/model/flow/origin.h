/* Which allocation a memory descriptor, token or aref is a part of: the first that is found, or all of them, through
 * views, selects, values that loops carry and branches hand over, captures of partitions. */
#ifndef MODEL_FLOW_ORIGIN_H
#define MODEL_FLOW_ORIGIN_H

#include "base/pointers.h"
#include "ir/ir.h"

/* The op that allocates what `value` is a part of, found in the IR alone: through views, captures of partitions, values
 * carried by loops and arguments of blocks. Where several come together, the first is taken; NULL if none can be seen.
 */
const Op *origin_of(Module *module, const Value *value);

enum { ORIGINS_MOST = 32 /* of one value; one that has more may be a part of anything */ };

/* What memory comes from. */
typedef struct Origin {
    const Op *op;          /* the allocation; NULL: an argument of the function */
    const Value *argument; /* that argument */
    const Value *value;    /* the name that it has there */
} Origin;

typedef struct OriginSet {
    const uint32_t *items; /* of Origins.items, sorted */
    uint32_t count;
    bool anything; /* it may be a part of others as well, of any */
} OriginSet;

typedef struct Origins {
    Origin *items;
    uint32_t count;
    struct OriginNode *nodes;
    Pointers values;
} Origins;

/* Of the memory descriptors below a function. */
Origins origins_of(Module *module, const Op *function, Arena *arena);
/* The same up to the nearest view: one that a select chooses or a loop carries may be any of those that were made. A
 * view that an op makes is its own origin. */
Origins views_of(Module *module, const Op *function, Arena *arena);
OriginSet origins_find(const Origins *origins, const Value *value);

#endif
