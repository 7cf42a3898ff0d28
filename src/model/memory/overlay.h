/* Which memory of a kernel may lie over which: allocations and scratch memory of ops that live at different times get
 * the same bytes from the compiler.
 *
 * Life is a matter of the IR's uses. Work that is still in flight when the last use is over is none: it then goes on in
 * memory that belongs to something else. */
#ifndef MODEL_MEMORY_OVERLAY_H
#define MODEL_MEMORY_OVERLAY_H

#include "model/memory/placement.h"
#include "model/memory/views.h"

typedef enum Over {
    OVER_NEVER,
    OVER_APART, /* nothing keeps the compiler from it, but Triton's allocator puts them beside each other */
    OVER_OPEN,  /* nothing keeps the compiler from it, and where it puts them is not known */
    OVER_IS     /* they have bytes in common: the IR says so, or Triton's allocator does it */
} Over;

enum { OVERLAY_DEEPEST = 6 }; /* functions that call each other */

/* Memory of an op: in one function, or in one that it calls, each call counts. */
typedef struct Overlaid {
    const Op *op;
    Space space;
    bool scratch;
    int64_t begin, end; /* bytes of the kernel's frame; PLACED_ANYWHERE: not known. Tensor memory: no place */
    bool over;          /* it may lie over an allocation */
    uint32_t depth;
    const Placed *path[OVERLAY_DEEPEST]; /* calls, the outermost first, then its own */
} Overlaid;

typedef struct Overlays {
    Overlaid *items;
    uint32_t count, capacity;
    bool cut; /* there are more than are looked at */
} Overlays;

/* Of a kernel and what it calls. In the module's arena, and computed once. */
const Overlays *overlays_of(Module *module, const Op *kernel);
Over overlay(const Overlaid *a, const Overlaid *b);

#endif
