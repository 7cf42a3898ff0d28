/* The structures of the driver that describe copies, as its documentation has them, and what they mean. */
#include "runtime/copy_areas.h"

#include <stddef.h>

enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

/* One side, without where in it the copy begins, and without its pitch: their order differs. */
typedef struct CopyMemory {
    uint32_t type;
    uint64_t host, device, array;
} CopyMemory;

typedef struct RowsSide {
    uint64_t x, y;
    CopyMemory memory;
    uint64_t pitch;
} RowsSide;

typedef struct RowsCopy {
    RowsSide from, to;
    uint64_t width, height;
} RowsCopy;

typedef struct SlicesSide {
    uint64_t x, y, z, level;
    CopyMemory memory;
    uint64_t reserved; /* or the context */
    uint64_t pitch, height;
} SlicesSide;

typedef struct SlicesCopy {
    SlicesSide from, to;
    uint64_t width, height, depth;
} SlicesCopy;

_Static_assert(sizeof(RowsCopy) == 128 && sizeof(SlicesCopy) == 200 && offsetof(SlicesCopy, to) == 88,
               "as the driver has them");

static RecordingArea area_of(const SlicesSide *side, uint64_t width, uint64_t height, uint64_t depth) {
    uint64_t pitch = side->pitch ? side->pitch : side->x + width;
    uint64_t rows = side->height ? side->height : side->y + height;
    uint64_t base = side->memory.type == MEMORY_HOST ? side->memory.host : side->memory.device;
    if (!width || !height || !depth)
        return (RecordingArea){0};
    if (side->memory.type == MEMORY_ARRAY)
        return recording_array(side->memory.array);
    return (RecordingArea){.base = base + side->z * rows * pitch + side->y * pitch + side->x,
                           .bytes = width,
                           .pitch = pitch,
                           .slice = rows * pitch,
                           .rows = height,
                           .slices = depth};
}

static CopySides sides_of(const SlicesCopy *copy) {
    return (CopySides){.reads = area_of(&copy->from, copy->width, copy->height, copy->depth),
                       .writes = area_of(&copy->to, copy->width, copy->height, copy->depth),
                       .from_host = copy->from.memory.type == MEMORY_HOST,
                       .to_host = copy->to.memory.type == MEMORY_HOST,
                       .from_unified = copy->from.memory.type == MEMORY_UNIFIED,
                       .to_unified = copy->to.memory.type == MEMORY_UNIFIED};
}

CopySides copy_rows(const void *arguments) {
    const RowsCopy *rows = arguments;
    SlicesCopy copy = {
        .from = {.x = rows->from.x, .y = rows->from.y, .memory = rows->from.memory, .pitch = rows->from.pitch},
        .to = {.x = rows->to.x, .y = rows->to.y, .memory = rows->to.memory, .pitch = rows->to.pitch},
        .width = rows->width,
        .height = rows->height,
        .depth = 1};
    return sides_of(&copy);
}

CopySides copy_slices(const void *arguments) {
    return sides_of(arguments);
}

RecordingArea set_rows(uint64_t base, uint64_t pitch, uint64_t element, uint64_t width, uint64_t height) {
    SlicesSide side = {.memory = {.type = MEMORY_DEVICE, .device = base}, .pitch = pitch};
    return area_of(&side, width * element, height, 1);
}
