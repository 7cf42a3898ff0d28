/* The growing side of the map, and its seed; looking up is inline in the header. */
#include "base/map.h"

#include <stdlib.h>
#include <sys/random.h>

uint64_t map_seed;

__attribute__((constructor)) static void choose_seed(void) {
    if (getrandom(&map_seed, sizeof map_seed, GRND_NONBLOCK) != (ssize_t)sizeof map_seed)
        map_seed = 0x9e3779b97f4a7c15u;
}

static bool grow(Map *map) {
    Map bigger = {.capacity = map->capacity ? map->capacity * 2 : 32, .count = map->count};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++) {
        MapEntry *entry = &map->entries[i];
        if (entry->key)
            *map_find(&bigger, (Str){entry->key, entry->size}, entry->hash) = *entry;
    }
    free(map->entries);
    *map = bigger;
    return true;
}

void **map_put(Map *map, Str key) {
    if (key.size > UINT32_MAX || (map->count >= map->capacity / 2 && !grow(map)))
        return NULL;
    uint32_t hash = map_hash(key);
    MapEntry *entry = map_find(map, key, hash);
    if (!entry->key) {
        *entry = (MapEntry){key.data, (uint32_t)key.size, hash, NULL};
        map->count++;
    }
    return &entry->value;
}

void map_free(Map *map) {
    free(map->entries);
    *map = (Map){0};
}
