/* A table from pointers to numbers: what an op or a value is known by inside one analysis. It lives in an arena,
 * nothing is ever taken out, and nothing may depend on the order of its entries. */
#ifndef BASE_POINTERS_H
#define BASE_POINTERS_H

#include "base/table.h"

typedef struct PointerEntry {
    const void *key; /* NULL: free */
    uint32_t number;
} PointerEntry;

typedef struct Pointers {
    PointerEntry *items;
    uint32_t count, capacity;
    Arena *arena;
} Pointers;

TABLE(pointers, Pointers, PointerEntry, const void *, 64, item->key, item->key, table_hash((uintptr_t)key >> 3),
      item->key == key)

enum { NO_NUMBER = UINT32_MAX };

/* The number of `key`; NO_NUMBER if it has none. */
static inline uint32_t pointers_get(const Pointers *table, const void *key) {
    const PointerEntry *entry = pointers_find(table, key);
    return entry ? entry->number : NO_NUMBER;
}

static inline void pointers_set(Pointers *table, const void *key, uint32_t number) {
    *pointers_put(table->arena, table, key) = (PointerEntry){key, number};
}

#endif
