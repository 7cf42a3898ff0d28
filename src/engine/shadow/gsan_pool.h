/* Memory of the global race engine: an arena, and lists of what was given back to it, by size. */
#ifndef ENGINE_SHADOW_GSAN_POOL_H
#define ENGINE_SHADOW_GSAN_POOL_H

#include "base/arena.h"

/* Up to 1024 bytes in steps of 16, above that in powers of two. */
enum { POOL_STEP = 16, POOL_STEPS = 64, POOL_LARGEST = 48, POOL_CLASSES = POOL_STEPS + POOL_LARGEST };

typedef struct Pool {
    Arena arena; /* jumps when it is exhausted */
    void *free[POOL_CLASSES];
    size_t used; /* bytes that are taken and not given back, rounded up as above */
} Pool;

/* Zero. */
void *gsan_pool_take(Pool *pool, size_t size);
/* `size` is what it was taken with; NULL is nothing. */
void gsan_pool_give(Pool *pool, void *memory, size_t size);

#define POOL_NEW(pool, T) ((T *)gsan_pool_take((pool), sizeof(T)))

#endif
