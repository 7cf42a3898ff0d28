/* Chunks of memory, each twice the last up to a limit, freed together. */
#include "base/arena.h"

#include "base/deadline.h"
#include "base/dependencies.h"
#include "base/text.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct ArenaChunk {
    ArenaChunk *older;
    size_t size;
    bool mapped; /* from the system, rather than from malloc */
    bool sparse; /* on small pages, and given back to the system at once */
    max_align_t data[];
};

/* From ZERO_CHUNK on malloc takes them from the system, which gives pages of zeros: they need not be cleared, and what
 * is not used is not there. From HUGE_CHUNK on they are mapped, and have as many large pages as they need: one takes as
 * long as some 50 to 200 small ones. */
enum {
    FIRST_CHUNK = 8 << 10,
    ZERO_CHUNK = 128 << 10,
    HUGE_CHUNK = 512 << 10,
    LARGEST_CHUNK = 8 << 20,
    HUGE_PAGE = 2 << 20,
    SIZES = LARGEST_CHUNK / HUGE_PAGE, /* of mapped chunks that are kept */
    KEPT = 4,                          /* of each size */
    ALIGNMENT = 8
};

/* Mapped chunks that arenas have freed, of all threads. A run makes and frees several arenas, and the system clears
 * each page that it hands out, which took up to a third of the time of a check; what is kept is only cleared where it
 * is asked for. */
static _Atomic(ArenaChunk *) kept[SIZES][KEPT];

/* Since arena_limit. What another thread took and this one frees makes it less than nothing. */
static _Thread_local struct {
    size_t most; /* 0: there is no limit */
    int64_t held;
} together;

static _Atomic(ArenaChunk *) *kept_of(size_t size) {
    return size <= LARGEST_CHUNK ? kept[size / HUGE_PAGE - 1] : NULL;
}

static void unmap_chunk(ArenaChunk *chunk) {
    _Atomic(ArenaChunk *) *slots = chunk->sparse ? NULL : kept_of(chunk->size);
    for (int i = 0; slots && i < KEPT; i++) {
        ArenaChunk *none = NULL;
        if (atomic_compare_exchange_strong(&slots[i], &none, chunk))
            return;
    }
    munmap(chunk, chunk->size);
}

void arena_limit(size_t bytes) {
    together.most = bytes;
    together.held = 0;
}

void arena_init(Arena *arena, size_t budget) {
    *arena = (Arena){.budget = budget};
}

void arena_free(Arena *arena) {
    for (ArenaChunk *chunk = arena->chunks, *older; chunk; chunk = older) {
        older = chunk->older;
        together.held -= (int64_t)chunk->size;
        if (chunk->mapped)
            unmap_chunk(chunk);
        else
            free(chunk);
    }
    *arena = (Arena){.budget = arena->budget};
}

void arena_reset(Arena *arena) {
    ArenaChunk *newest = arena->chunks;
    if (!newest)
        return;
    Arena older = {.chunks = newest->older};
    arena_free(&older);
    newest->older = NULL;
    arena->held = newest->size;
    arena->next = (char *)newest->data;
    arena->zero = false;
}

static void exhausted(Arena *arena) {
    dependencies_spoil(); /* another time there may be more */
    if (arena->exhausted)
        longjmp(*arena->exhausted, 1);
    abort(); /* no handler is set: our own mistake */
}

/* Whether so much more is too much. */
static bool is_over(const Arena *arena, size_t want) {
    bool together_over = together.most && arena->exhausted && together.held + (int64_t)want > (int64_t)together.most;
    return want > arena->budget || arena->held > arena->budget - want || together_over;
}

static void take(Arena *arena, size_t size) {
    arena->held += size;
    together.held += (int64_t)size;
}

/* Large chunks come on large pages, so that a big module does not pay for a page fault every 4 KiB. */
static ArenaChunk *map_chunk(size_t size, bool *zero) {
    _Atomic(ArenaChunk *) *slots = kept_of(size);
    for (int i = 0; slots && i < KEPT; i++) {
        ArenaChunk *chunk = atomic_exchange(&slots[i], NULL);
        if (chunk) {
            *zero = false;
            return chunk;
        }
    }
    char *start = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)start & (HUGE_PAGE - 1);
    if (before)
        munmap(start, before);
    if (before < HUGE_PAGE)
        munmap(start + before + size, HUGE_PAGE - before);
    madvise(start + before, size, MADV_HUGEPAGE);
    return (ArenaChunk *)(void *)(start + before);
}

static void grow(Arena *arena, size_t size) {
    size_t want = arena->chunks ? arena->chunks->size * 2 : FIRST_CHUNK;
    if (want > LARGEST_CHUNK)
        want = LARGEST_CHUNK;
    if (want < size + sizeof(ArenaChunk))
        want = size + sizeof(ArenaChunk);
    size_t whole = (want + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    if (want > HUGE_PAGE || (want >= HUGE_CHUNK && arena->held < arena->budget && whole <= arena->budget - arena->held))
        want = whole;
    if (is_over(arena, want) || (arena->exhausted && deadline_look()))
        exhausted(arena);
    bool mapped = want >= HUGE_PAGE, zero = want >= ZERO_CHUNK;
    ArenaChunk *chunk = mapped ? map_chunk(want, &zero) : zero ? calloc(1, want) : malloc(want);
    if (!chunk)
        exhausted(arena);
    chunk->mapped = mapped;
    chunk->sparse = false;
    arena->zero = zero;
    chunk->older = arena->chunks;
    chunk->size = want;
    arena->chunks = chunk;
    take(arena, want);
    arena->next = (char *)chunk->data;
    arena->end = (char *)chunk + want;
}

void *arena_alloc(Arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        exhausted(arena);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if ((size_t)(arena->end - arena->next) < size || !arena->next)
        grow(arena, size); /* of an empty arena even nothing has a place, which is not NULL */
    void *memory = arena->next;
    arena->next += size;
    return memory;
}

void *arena_zalloc(Arena *arena, size_t size) {
    void *memory = arena_alloc(arena, size);
    return arena->zero ? memory : memset(memory, 0, size);
}

/* A chunk of its own, behind the newest one. */
void *arena_sparse(Arena *arena, size_t size) {
    if (size < HUGE_CHUNK || size > SIZE_MAX / 2)
        return arena_zalloc(arena, size);
    (void)arena_alloc(arena, 0);
    size_t want = size + sizeof(ArenaChunk);
    if (is_over(arena, want))
        exhausted(arena);
    ArenaChunk *chunk = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunk == MAP_FAILED)
        exhausted(arena);
    *chunk = (ArenaChunk){.older = arena->chunks->older, .size = want, .mapped = true, .sparse = true};
    arena->chunks->older = chunk;
    take(arena, want);
    return chunk->data;
}

char *arena_copy(Arena *arena, const char *data, size_t size) {
    char *copy = arena_alloc(arena, size + 1);
    if (size)
        memcpy(copy, data, size);
    copy[size] = 0;
    return copy;
}

void *arena_grown(Arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size) {
    if (count < *capacity)
        return items;
    if (*capacity > UINT32_MAX / 2)
        exhausted(arena);
    uint32_t more = *capacity ? 2 * *capacity : 16;
    char *larger = arena_alloc(arena, more * item_size); /* may jump: then all is as it was */
    if (count)
        memcpy(larger, items, count * item_size);
    memset(larger + count * item_size, 0, (more - count) * item_size);
    *capacity = more;
    return larger;
}
