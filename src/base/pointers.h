/* A table from pointers to numbers: what an op or a value is known by inside one analysis. It lives in an arena,
 * nothing is ever taken out, and nothing may depend on the order of its entries. */
#ifndef BASE_POINTERS_H
#define BASE_POINTERS_H

#include <stdint.h>

#include "base/arena.h"

typedef struct PointerEntry {
    const void *key; /* NULL: free */
    uint32_t number;
} PointerEntry;

typedef struct Pointers {
    Arena *arena;
    PointerEntry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} Pointers;

enum { NO_NUMBER = UINT32_MAX };

/* Its entry, or the free one where it would go. The table is not empty. */
static inline PointerEntry *pointers_place(const Pointers *table, const void *key) {
    uint64_t hash = (uint64_t)((uintptr_t)key >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & (table->capacity - 1);
    while (table->entries[at].key && table->entries[at].key != key)
        at = (at + 1) & (table->capacity - 1);
    return &table->entries[at];
}

/* The number of `key`; NO_NUMBER if it has none. */
static inline uint32_t pointers_get(const Pointers *table, const void *key) {
    const PointerEntry *entry = table->capacity ? pointers_place(table, key) : NULL;
    return entry && entry->key ? entry->number : NO_NUMBER;
}

static inline void pointers_set(Pointers *table, const void *key, uint32_t number) {
    if (2 * table->count >= table->capacity) {
        const Pointers old = *table;
        uint32_t capacity = old.capacity ? 2 * old.capacity : 64;
        table->entries = ARENA_ARRAY(table->arena, PointerEntry, capacity); /* may jump: then all is as it was */
        table->capacity = capacity;
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.entries[i].key)
                *pointers_place(table, old.entries[i].key) = old.entries[i];
    }
    PointerEntry *entry = pointers_place(table, key);
    table->count += !entry->key;
    *entry = (PointerEntry){key, number};
}

#endif
