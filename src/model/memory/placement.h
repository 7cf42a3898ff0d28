/* Where in shared memory everything lies: allocations, scratch memory of ops, frames of functions that are called.
 *
 * Offsets that the IR has (`allocation.offset`) are taken. Without them they are computed as Triton's allocator would:
 * from how long each buffer lives, the largest first, at the lowest place that nothing else has at that time. */
#ifndef MODEL_MEMORY_PLACEMENT_H
#define MODEL_MEMORY_PLACEMENT_H

#include "model/memory/lifetime.h"
#include "model/memory/scratch.h"

typedef enum PlacedKind { PLACED_ALLOCATION, PLACED_SCRATCH, PLACED_CALL /* the frame of a callee */ } PlacedKind;

/* The end of what could not be placed: it overlaps everything. */
#define PLACED_ANYWHERE INT64_MAX

typedef struct Placed {
    const Op *op; /* the function itself has scratch memory too, if it is warp-specialized */
    PlacedKind kind;
    int64_t begin, end; /* bytes of the function's frame; tensor memory is not in it */
    Scratch scratch;    /* PLACED_SCRATCH */
    /* Of what the IR does not place: how long it lives, and the region of which op with partitions it is in, or NULL.
     */
    bool given;
    Lifetime life;
    const void *specialize, *partition;
} Placed;

typedef struct Placements {
    Placed *items; /* in the order of the text; several for an allocation that lies in several pieces */
    uint32_t count;
    int64_t size;        /* of the frame */
    bool given;          /* the IR has offsets */
    const char *problem; /* a sentence, if something could not be placed; it then overlaps everything; else NULL */
} Placements;

/* Whether the IR says where shared memory lies: compilers insert the barriers and fences of threads and clusters then,
 * and none can be missing before. */
bool memory_is_placed(const Op *function);
/* The nearest op with partitions around an op, and the region of it in which the op is; NULL: there is none. */
const Op *placement_partition(const Op *op, const Region **partition);
/* Of one function; callees are placed first, as part of it. In the module's arena, and computed once. */
Placements placements_of(Module *module, const Op *function);

#endif
