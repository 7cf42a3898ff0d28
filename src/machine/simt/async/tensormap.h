/* Tensor maps: the 128 bytes that a TMA copy goes by, in an encoding of the machine's own, so that a map can lie in
 * parameters, const or global memory, be copied, and be changed in place (tensormap.replace). */
#ifndef MACHINE_SIMT_ASYNC_TENSORMAP_H
#define MACHINE_SIMT_ASYNC_TENSORMAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TENSORMAP_BYTES = 128, TENSORMAP_DIMS = 5 };

typedef enum TensorMapKind { TENSORMAP_TILED, TENSORMAP_IM2COL } TensorMapKind;

/* Dimension 0 is the innermost, as in the CUDA API. */
typedef struct TensorMap {
    TensorMapKind kind;
    uint8_t rank;
    uint8_t type; /* CUtensorMapDataType: 0 u8, 1 u16, 2 u32, 3 s32, 4 u64, 5 s64, 6 f16, 7 f32, 8 f64, 9 bf16, ... */
    uint8_t interleave; /* 0 none, 1 16 bytes, 2 32 bytes */
    uint8_t swizzle;    /* CUtensorMapSwizzle: 0 none, 1 32 bytes, 2 64, 3 128; 4 to 6 128 in other atoms */
    uint8_t fill;       /* 0 zeros, 1 NaN */
    uint64_t address;   /* in global memory */
    uint32_t size[TENSORMAP_DIMS];
    uint64_t stride[TENSORMAP_DIMS]; /* bytes; of dimension 0 that of an element */
    uint16_t box[TENSORMAP_DIMS];
    uint8_t element_stride[TENSORMAP_DIMS];
    int16_t lower[3], upper[3]; /* im2col: corners of the pixel box */
    uint16_t channels, pixels;  /* im2col */
} TensorMap;

void tensormap_encode(const TensorMap *map, uint8_t bytes[TENSORMAP_BYTES]);
/* False: they are none. */
bool tensormap_decode(const uint8_t bytes[TENSORMAP_BYTES], TensorMap *map);
/* The same of what the CUDA driver encodes (tensormap_driver.c). */
bool tensormap_decode_driver(const uint8_t bytes[TENSORMAP_BYTES], TensorMap *map);
/* Fields that tensormap.replace changes. */
typedef enum TensorMapField {
    TENSORMAP_ADDRESS,
    TENSORMAP_RANK, /* less 1 */
    TENSORMAP_BOX,
    TENSORMAP_SIZE,
    TENSORMAP_STRIDE, /* ordinal 0 is that of dimension 1 */
    TENSORMAP_ELEMENT_STRIDE,
    TENSORMAP_TYPE, /* in the numbers of that instruction */
    TENSORMAP_INTERLEAVE,
    TENSORMAP_SWIZZLE,
    TENSORMAP_ATOMICITY,
    TENSORMAP_FILL,
} TensorMapField;
enum { TENSORMAP_SWIZZLE_96 = 7 };
/* One field of a map, or of zeros, which become one. False: they are neither, or it cannot have that value. */
bool tensormap_replace(uint8_t bytes[TENSORMAP_BYTES], TensorMapField field, unsigned ordinal, uint64_t value);
/* Bits of an element of that type; 0: there is no such type. */
unsigned tensormap_element_bits(uint8_t type);

#endif
