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

uint32_t map_hash(Str key);
/* The value of `key`, or NULL. */
void *map_get(const Map *map, Str key);
/* The place of `key`'s value, made (as NULL) if it is not there; NULL when memory ran out. The place
 * is good until the next call. */
void **map_put(Map *map, Str key);
void map_free(Map *map);

#endif
