/* What a tensor map and coordinates say: which bytes of global memory a TMA copy touches, and where each row of them is
 * in shared memory. */
#ifndef MACHINE_SIMT_ASYNC_TILES_H
#define MACHINE_SIMT_ASYNC_TILES_H

#include "machine/simt/async/tensormap.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum TileMode {
    TILE_BOX,
    TILE_IM2COL,  /* with offsets, or without: they are 0 */
    TILE_ROWS,    /* gather4, scatter4: coordinates are a column and four rows */
    TILE_UNKNOWN, /* one that is not modeled */
} TileMode;

typedef struct Tile {
    TensorMap map;
    TileMode mode;
    int32_t at[TENSORMAP_DIMS];
    uint16_t offset[3]; /* im2col: of the filter */
} Tile;

/* A row: elements that are beside each other in global and in shared memory. */
typedef struct TileRow {
    uint64_t address;      /* of its first element that is in the tensor */
    uint32_t first, count; /* those that are: from which on, how many */
} TileRow;

/* NULL if it is a copy that the machine can make, else why it is not, in a clause. */
const char *tile_problem(const Tile *tile, bool stores, bool reduces);
unsigned tile_element_bytes(const Tile *tile);
/* Elements of a row, and rows. */
uint32_t tile_row_elements(const Tile *tile);
uint32_t tile_rows(const Tile *tile);
static inline size_t tile_bytes(const Tile *tile) {
    return (size_t)tile_rows(tile) * tile_row_elements(tile) * tile_element_bytes(tile);
}
TileRow tile_row(const Tile *tile, uint32_t row);
/* Where the byte is that would be at a shared address if nothing were swizzled. */
uint64_t tile_swizzled(const Tile *tile, uint64_t address);
/* Bytes that stay beside each other; 0: all do. */
uint32_t tile_atom(const Tile *tile);
/* Bytes from one row to the next in shared memory: those of the swizzle at least. */
uint32_t tile_pitch(const Tile *tile);
/* What is there of elements that are outside the tensor; and what becomes of others when they are loaded. */
void tile_fill(const Tile *tile, uint8_t *bytes, size_t count);
void tile_convert(const Tile *tile, uint8_t *bytes, size_t count);
/* NULL, or why it cannot begin where it does. */
const char *tile_start_problem(const Tile *tile);

#endif
