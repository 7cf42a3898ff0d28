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
    const char *at = key.data;
    size_t left = key.size;
    uint64_t hash = seed ^ left * 0x9e3779b97f4a7c15u, low = 0, high = 0;
    for (; left > 16; at += 16, left -= 16) {
        memcpy(&low, at, 8);
        memcpy(&high, at + 8, 8);
        hash = mix(hash ^ low, high ^ 0xa0761d6478bd642fu);
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
    hash = mix(hash ^ low, high ^ 0xe7037ed1a0b428dbu);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Keys are mostly short: two loads that may overlap beat a call of memcmp. */
static inline bool same_bytes(const char *a, const char *b, size_t size) {
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
    if (key.size > UINT32_MAX || (map->count >= map->capacity / 2 && !grow(map)))
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
