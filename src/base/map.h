/* A hash map from text to a pointer. The keys' bytes are not copied: they must outlive the map.
 *
 * Hashing is seeded once per process from the system, so that a file cannot be written to make every
 * key collide. Nothing may depend on the order of entries: there is no way to walk a map. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/table.h"
#include "base/text.h"

#include <stdlib.h>

typedef struct MapEntry {
    const char *key; /* NULL: free */
    uint32_t size;
    uint32_t hash;
    void *value;
} MapEntry;

typedef struct Map {
    MapEntry *items;
    uint32_t count, capacity;
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

#define MAP_TAKE(memory, size)        ((void)(memory), calloc(1, (size)))
#define MAP_GIVE(memory, items, size) ((void)(size), free(items))
TABLE_IN(map_entry, Map, MapEntry, MapEntry, void, MAP_TAKE, MAP_GIVE, 32, item->key, *item, key.hash,
         item->hash == key.hash && item->size == key.size && bytes_equal(item->key, key.key, key.size))

static inline MapEntry map_key(Str key) {
    return (MapEntry){key.data, (uint32_t)key.size, map_hash(key), NULL};
}

/* The value of `key`, or NULL. */
static inline void *map_get(const Map *map, Str key) {
    return map->capacity ? map_entry_place(map, map_key(key))->value : NULL;
}

#endif
