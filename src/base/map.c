/* The growing side of the map, and its seed; looking up is inline in the header. */
#include "base/map.h"

#include <sys/random.h>

uint64_t map_seed;

__attribute__((constructor)) static void choose_seed(void) {
    if (getrandom(&map_seed, sizeof map_seed, GRND_NONBLOCK) != (ssize_t)sizeof map_seed)
        map_seed = 0x9e3779b97f4a7c15u;
}

void **map_put(Map *map, Str key) {
    MapEntry entry = map_key(key), *place = key.size > UINT32_MAX ? NULL : map_entry_put(NULL, map, entry);
    if (place && !place->key)
        *place = entry;
    return place ? &place->value : NULL;
}

void map_free(Map *map) {
    free(map->items);
    *map = (Map){0};
}
