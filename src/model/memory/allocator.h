/* Offsets for buffers of known size and life, as Triton's allocator chooses them. */
#ifndef MODEL_MEMORY_ALLOCATOR_H
#define MODEL_MEMORY_ALLOCATOR_H

#include "base/arena.h"
#include "model/memory/lifetime.h"

typedef struct Buffer {
    int64_t size, alignment; /* below 2^40, positive */
    Lifetime life;
    /* Regions that run at the same time: the op that has them (NULL: none), the region of it in which the buffer is,
     * and the time of that op. */
    const void *specialize, *partition;
    Lifetime specialized;
    int64_t offset; /* the answer */
    /* the allocator's own */
    int64_t was;
    uint32_t number, color;
} Buffer;

/* No two buffers whose lives meet overlap, nor two of different partitions of one op. Among buffers of one size the
 * first are placed first. Up to `exact` of them are placed as Triton would, more by a quicker rule. */
void allocator_place(Arena *arena, Buffer *buffers, uint32_t count, uint32_t exact);

#endif
