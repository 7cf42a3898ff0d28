/* Free lists upon an arena. */
#include "engine/shadow/gsan_pool.h"

#include <string.h>

typedef struct GsanPoolRoom {
    unsigned list;
    size_t size; /* rounded up to what its list holds */
} GsanPoolRoom;

static GsanPoolRoom large_room(size_t size) {
    GsanPoolRoom room = {POOL_STEPS, (size_t)POOL_STEP * POOL_STEPS * 2};
    while (room.size < size && room.list < POOL_CLASSES - 1) {
        room.list++;
        room.size *= 2;
    }
    return room;
}

static inline GsanPoolRoom room_of(size_t size) {
    if (size > (size_t)POOL_STEP * POOL_STEPS)
        return large_room(size);
    size_t steps = size ? (size + POOL_STEP - 1) / POOL_STEP : 1;
    return (GsanPoolRoom){(unsigned)steps - 1, steps * POOL_STEP};
}

void *gsan_pool_take(Pool *pool, size_t size) {
    GsanPoolRoom room = room_of(size);
    void *memory = pool->free[room.list];
    if (memory) {
        memcpy(&pool->free[room.list], memory, sizeof(void *));
        memset(memory, 0, size);
    } else {
        memory = arena_zalloc(&pool->arena, room.size < size ? size : room.size);
    }
    pool->used += room.size;
    return memory;
}

void gsan_pool_give(Pool *pool, void *memory, size_t size) {
    if (!memory)
        return;
    GsanPoolRoom room = room_of(size);
    memcpy(memory, &pool->free[room.list], sizeof(void *));
    pool->free[room.list] = memory;
    pool->used -= room.size;
}
