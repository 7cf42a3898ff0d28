#include "base/map.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t seed;

static void choose_seed(void) {
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = 0x9e3779b97f4a7c15u;
}

static inline uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t map_hash(Str key) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, choose_seed);
    uint64_t hash = seed ^ key.size, word;
    const char *at = key.data;
    size_t left = key.size;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        hash = mix(hash ^ word, 0xa0761d6478bd642fu);
    }
    word = 0;
    for (size_t i = 0; i < left; i++)
        word = word << 8 | (unsigned char)at[i];
    hash = mix(hash ^ word, 0xe7037ed1a0b428dbu);
    return (uint32_t)(hash ^ hash >> 32);
}

static MapEntry *find(const Map *map, Str key, uint32_t hash) {
    for (uint32_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        MapEntry *entry = &map->entries[i];
        if (!entry->key || (entry->hash == hash && entry->size == key.size &&
                            memcmp(entry->key, key.data, key.size) == 0))
            return entry;
    }
}

void *map_get(const Map *map, Str key) {
    return map->capacity ? find(map, key, map_hash(key))->value : NULL;
}

static bool grow(Map *map) {
    Map bigger = {.capacity = map->capacity ? map->capacity * 2 : 32, .count = map->count};
    bigger.entries = calloc(bigger.capacity, sizeof *bigger.entries);
    if (!bigger.entries)
        return false;
    for (uint32_t i = 0; i < map->capacity; i++) {
        MapEntry *entry = &map->entries[i];
        if (entry->key)
            *find(&bigger, (Str){entry->key, entry->size}, entry->hash) = *entry;
    }
    free(map->entries);
    *map = bigger;
    return true;
}

void **map_put(Map *map, Str key) {
    if (key.size > UINT32_MAX || (map->count >= map->capacity / 4 * 3 && !grow(map)))
        return NULL;
    uint32_t hash = map_hash(key);
    MapEntry *entry = find(map, key, hash);
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
