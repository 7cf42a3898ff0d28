/* A hash map from text to a pointer. The keys' bytes are not copied: they must outlive the map.
 *
 * Hashing is seeded once per process from the system, so that a file cannot be written to make every
 * key collide. Nothing may depend on the order of entries: there is no way to walk a map. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/text.h"

typedef struct MapEntry {
    const char *key; /* NULL: free */
    uint32_t size;
    uint32_t hash;
    void *value;
} MapEntry;

typedef struct Map {
    MapEntry *entries;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t count;
} Map;

/* The place of `key`'s value, made (as NULL) if it is not there; NULL when memory ran out. The place
 * is good until the next call. */
void **map_put(Map *map, Str key);
void map_free(Map *map);

/* ---- Looking up: inline, since the reader does little else --------------------------------------- */

extern uint64_t map_seed; /* chosen when the program starts */

static inline uint64_t map_mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint32_t map_hash(Str key) {
    const char *at = key.data;
    size_t left = key.size;
    uint64_t hash = map_seed ^ left * 0x9e3779b97f4a7c15u, low = 0, high = 0;
    for (; left > 16; at += 16, left -= 16) {
        memcpy(&low, at, 8);
        memcpy(&high, at + 8, 8);
        hash = map_mix(hash ^ low, high ^ 0xa0761d6478bd642fu);
    }
    if (left >= 8) { /* the two halves may overlap */
        memcpy(&low, at, 8);
        memcpy(&high, at + left - 8, 8);
    } else if (left >= 4) {
        uint32_t half;
        memcpy(&half, at, 4);
        low = half;
        memcpy(&half, at + left - 4, 4);
        high = half;
    } else if (left) {
        low = (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[left / 2] << 8 |
              (unsigned char)at[left - 1];
    }
    hash = map_mix(hash ^ low, high ^ 0xe7037ed1a0b428dbu);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Keys are mostly short: two loads that may overlap beat a call of memcmp. */
static inline bool map_same(const char *a, const char *b, size_t size) {
    uint64_t x, y;
    if (size >= 8) {
        for (size_t i = 0; i + 8 < size; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y)
                return false;
        }
        memcpy(&x, a + size - 8, 8);
        memcpy(&y, b + size - 8, 8);
        return x == y;
    }
    if (size >= 4) {
        uint32_t low[2], high[2];
        memcpy(&low[0], a, 4);
        memcpy(&low[1], b, 4);
        memcpy(&high[0], a + size - 4, 4);
        memcpy(&high[1], b + size - 4, 4);
        return low[0] == low[1] && high[0] == high[1];
    }
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Its entry, or the free one where it would go. The map is not empty. */
static inline MapEntry *map_find(const Map *map, Str key, uint32_t hash) {
    for (uint32_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        MapEntry *entry = &map->entries[i];
        if (!entry->key || (entry->hash == hash && entry->size == key.size &&
                            map_same(entry->key, key.data, key.size)))
            return entry;
    }
}

/* The value of `key`, or NULL. */
static inline void *map_get(const Map *map, Str key) {
    return map->capacity ? map_find(map, key, map_hash(key))->value : NULL;
}

#endif
