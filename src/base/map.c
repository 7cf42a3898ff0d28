#include "base/map.h"

#include <stdlib.h>
#include <sys/random.h>

static uint64_t seed;

__attribute__((constructor)) static void choose_seed(void) {
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = 0x9e3779b97f4a7c15u;
}

static inline uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t map_hash(Str key) {
    uint64_t hash = seed ^ key.size, word;
    const char *at = key.data;
    size_t left = key.size;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        hash = mix(hash ^ word, 0xa0761d6478bd642fu);
    }
    word = 0;
    if (left >= 4) { /* the two halves may overlap */
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + left - 4, 4);
        word = (uint64_t)high << 32 | low;
    } else if (left) {
        word = (uint64_t)(unsigned char)at[0] << 16 | (uint64_t)(unsigned char)at[left / 2] << 8 |
               (unsigned char)at[left - 1];
    }
    hash = mix(hash ^ word, 0xe7037ed1a0b428dbu);
    return (uint32_t)(hash ^ hash >> 32);
}

static inline bool same_bytes(const char *a, const char *b, size_t size) {
    uint64_t x, y;
    for (; size >= 8; a += 8, b += 8, size -= 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            return false;
    }
    while (size--)
        if (*a++ != *b++)
            return false;
    return true;
}

static MapEntry *find(const Map *map, Str key, uint32_t hash) {
    for (uint32_t i = hash & (map->capacity - 1);; i = (i + 1) & (map->capacity - 1)) {
        MapEntry *entry = &map->entries[i];
        if (!entry->key || (entry->hash == hash && entry->size == key.size &&
                            same_bytes(entry->key, key.data, key.size)))
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
