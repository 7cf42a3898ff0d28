/* Tensor maps as the program had them encoded: an argument with the same 128 bytes is that map. */
#include "base/array.h"
#include "runtime/capture/capture.h"

#include <stdlib.h>
#include <string.h>

static CaptureTensorMap *maps;
static size_t count, capacity;

const CaptureTensorMap *map_find(const unsigned char *bytes) {
    for (size_t i = count; i--;)
        if (memcmp(maps[i].bytes, bytes, TENSOR_MAP_BYTES) == 0)
            return &maps[i];
    return NULL;
}

void map_add(const CaptureTensorMap *map) {
    if (map_find(map->bytes))
        return;
    if (ARRAY_ROOM(maps, count, capacity, 16))
        maps[count++] = *map;
}
