/* Memory with one life: everything allocated from an arena is freed with it.
 *
 * An arena has a budget. When an allocation would pass it, or the system has no more memory, the arena
 * does not return NULL: it jumps to `exhausted`, which the code that started the work has set. So code that
 * builds a module needs no failure path of its own for memory, and a hostile input cannot take more
 * than the budget. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    char *next, *end;   /* free space of the newest chunk */
    ArenaChunk *chunks; /* newest first */
    bool zero;          /* that free space is all zero */
    size_t held;        /* bytes taken from the system */
    size_t budget;      /* most bytes `held` may reach */
    jmp_buf *exhausted; /* where to go when it would pass the budget */
} Arena;

void arena_init(Arena *arena, size_t budget);
void arena_free(Arena *arena);
/* Everything in it is gone; some of its memory stays, for what comes next. */
void arena_reset(Arena *arena);

/* From now on, arenas of this thread that can be exhausted may take so many bytes together; 0: as many as their budgets
 * say. What they hold already is not counted. */
void arena_limit(size_t bytes);

/* Memory for any object; contents are not set. */
void *arena_alloc(Arena *arena, size_t size);
void *arena_zalloc(Arena *arena, size_t size);
/* Zeros of which few will be written: of a large array, what is not written takes no memory. */
void *arena_sparse(Arena *arena, size_t size);
/* A copy of `size` bytes, followed by a zero byte. */
char *arena_copy(Arena *arena, const char *data, size_t size);
/* An array that doubles when it is full, with room for one more: `items`, or a larger one with the same contents. New
 * room is zero. */
void *arena_grown(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size);

/* The place of one more in such an array, which may move. */
#define ARENA_PUSH(arena, items, count, capacity)                                                                   \
    ((count) == (capacity) ? (void)((items) = arena_grown((arena), (items), (count), &(capacity), sizeof *(items))) \
                           : (void)0,                                                                               \
     &(items)[(count)++])

#define ARENA_NEW(arena, T)       ((T *)arena_zalloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n)  ((T *)arena_zalloc((arena), sizeof(T) * (size_t)(n)))
#define ARENA_SPARSE(arena, T, n) ((T *)arena_sparse((arena), sizeof(T) * (size_t)(n)))

#endif
