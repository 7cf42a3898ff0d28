/* Rows of the boxes of tensor maps: tiles, images as columns, gathered rows; swizzles and fills. */
#include "machine/simt/async/tiles.h"

#include <string.h>

enum { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128 };
enum { TYPE_F32_FTZ = 10, TYPE_TF32, TYPE_TF32_FTZ }; /* the last whose elements are whole bytes */

const char *tile_problem(const Tile *tile, bool stores, bool reduces) {
    const TensorMap *map = &tile->map;
    if ((stores && map->type >= TYPE_TF32) || (reduces && map->type == TYPE_F32_FTZ))
        return "stores by tensor maps of tf32, and reductions of f32 without subnormal numbers, are not modeled";
    if (tile->mode == TILE_UNKNOWN)
        return "the mode of its tensor copy is not modeled";
    if (map->type > TYPE_TF32_FTZ)
        return "tensor maps of elements that are not whole bytes are not modeled";
    if (map->interleave)
        return "interleaved tensor maps are not modeled";
    if (map->swizzle > SWIZZLE_128)
        return "the swizzle of its tensor map is not modeled";
    return NULL;
}

unsigned tile_element_bytes(const Tile *tile) {
    return tensormap_element_bits(tile->map.type) / 8;
}

uint32_t tile_row_elements(const Tile *tile) {
    return tile->mode == TILE_IM2COL ? tile->map.channels : tile->map.box[0];
}

/* Elements of a box along a dimension: every so-many-th. */
static uint32_t extent(const TensorMap *map, unsigned dimension) {
    uint32_t step = map->element_stride[dimension] ? map->element_stride[dimension] : 1;
    return (map->box[dimension] + step - 1) / step;
}

uint32_t tile_rows(const Tile *tile) {
    uint32_t rows = 1;
    if (tile->mode == TILE_IM2COL)
        return tile->map.pixels;
    if (tile->mode == TILE_ROWS)
        return 4;
    for (unsigned i = 1; i < tile->map.rank; i++)
        rows *= extent(&tile->map, i);
    return rows;
}

/* The coordinates of a box's row. */
static void find_box_row(const Tile *tile, uint32_t row, int64_t at[TENSORMAP_DIMS]) {
    const TensorMap *map = &tile->map;
    for (unsigned i = 1; i < map->rank; i++) {
        uint32_t count = extent(map, i), step = map->element_stride[i] ? map->element_stride[i] : 1;
        at[i] = (int64_t)tile->at[i] + (int64_t)(row % count) * step;
        row /= count;
    }
}

/* ... of a pixel: from the first on, to the end of the box of pixels, and on from its beginning in the next line. */
static void find_pixel(const Tile *tile, uint32_t row, int64_t at[TENSORMAP_DIMS]) {
    const TensorMap *map = &tile->map;
    uint64_t carry = row;
    unsigned images = map->rank - 1u;
    for (unsigned i = 1; i < images; i++) {
        int64_t low = map->lower[i - 1], high = (int64_t)map->size[i] - 1 + map->upper[i - 1];
        int64_t step = map->element_stride[i] ? map->element_stride[i] : 1;
        int64_t count = high < low ? 1 : (high - low) / step + 1;
        int64_t from = (tile->at[i] - low) / step;
        uint64_t all = (uint64_t)(from < 0 ? 0 : from) + carry;
        at[i] = tile->at[i] + ((int64_t)(all % (uint64_t)count) - from) * step + tile->offset[i - 1];
        carry = all / (uint64_t)count;
    }
    at[images] = tile->at[images] + (int64_t)carry;
}

TileRow tile_row(const Tile *tile, uint32_t row) {
    const TensorMap *map = &tile->map;
    int64_t at[TENSORMAP_DIMS] = {tile->at[0]}, elements = tile_row_elements(tile);
    if (tile->mode == TILE_ROWS)
        at[1] = tile->at[1 + row];
    else if (tile->mode == TILE_IM2COL)
        find_pixel(tile, row, at);
    else
        find_box_row(tile, row, at);
    TileRow found = {.address = map->address};
    for (unsigned i = 1; i < map->rank; i++) {
        if (at[i] < 0 || at[i] >= (int64_t)map->size[i])
            return (TileRow){0};
        found.address += (uint64_t)at[i] * map->stride[i];
    }
    int64_t first = at[0] < 0 ? -at[0] : 0, end = (int64_t)map->size[0] - at[0];
    end = end > elements ? elements : end;
    if (first >= end)
        return (TileRow){0};
    found.address += (uint64_t)(at[0] + first) * tile_element_bytes(tile);
    found.first = (uint32_t)first;
    found.count = (uint32_t)(end - first);
    return found;
}

uint64_t tile_swizzled(const Tile *tile, uint64_t address) {
    switch (tile->map.swizzle) {
    case SWIZZLE_32:
        return address ^ (address >> 3 & 0x10);
    case SWIZZLE_64:
        return address ^ (address >> 3 & 0x30);
    case SWIZZLE_128:
        return address ^ (address >> 3 & 0x70);
    default:
        return address;
    }
}

uint32_t tile_atom(const Tile *tile) {
    return tile->map.swizzle ? 16 : 0;
}

uint32_t tile_pitch(const Tile *tile) {
    static const uint8_t spans[] = {0, 32, 64, 128};
    uint32_t bytes = tile_row_elements(tile) * tile_element_bytes(tile), span = spans[tile->map.swizzle];
    return bytes < span ? span : bytes;
}

void tile_fill(const Tile *tile, uint8_t *bytes, size_t count) {
    memset(bytes, 0, count);
    for (size_t i = 0; tile->map.fill && i + 1 < count; i += 2) { /* what an H200 takes for a NaN of any type */
        bytes[i] = 0xf7;
        bytes[i + 1] = 0x7f;
    }
}

/* 10 bits of the mantissa, to nearest, ties to even; what is too large becomes infinite. */
static uint32_t rounded(uint32_t bits) {
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (bits & 0x80000000) | 0x7fffe000;
    return (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
}

void tile_convert(const Tile *tile, uint8_t *bytes, size_t count) {
    if (tile->map.type != TYPE_TF32 && tile->map.type != TYPE_TF32_FTZ)
        return;
    for (size_t i = 0; i + 4 <= count; i += 4) {
        uint32_t bits;
        memcpy(&bits, bytes + i, 4);
        bits = rounded(bits);
        memcpy(bytes + i, &bits, 4);
    }
}

const char *tile_start_problem(const Tile *tile) {
    const TensorMap *map = &tile->map;
    for (unsigned i = 1; tile->mode == TILE_IM2COL && i + 1 < map->rank; i++)
        if (tile->at[i] < map->lower[i - 1] || tile->at[i] > (int64_t)map->size[i] - 1 + map->upper[i - 1])
            return "its first pixel is outside the box of pixels";
    return NULL;
}
