/* Tensor maps as the CUDA driver encodes them, which is how recordings have them. The encoding is written down nowhere:
 * this is what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col give for sm_90, field by field. */
#include "machine/simt/async/tensormap.h"

#include <string.h>

enum {
    WORD_ADDRESS = 0, /* two */
    WORD_KINDS = 2, /* bit 0: im2col; 4 to 6: rank less 1; 7 to 10: type; 11, 12: interleave; 13, 14: swizzle; 15: fill;
                       16: TF32 */
    WORD_STRIDES = 3, /* in 16 bytes, of dimensions 1 to 4; upper bits of them in the next word, 4 each */
    WORD_MORE_STRIDES = 7,
    WORD_SIZES = 8, /* less 1 */
    WORD_ELEMENTS =
        13,        /* element strides less 1, 3 bits each; bits 24 to 31: the box's first size, or channels, less 1 */
    WORD_BOX = 14, /* its other sizes less 1; of im2col the corners, lower and upper, 16 bits for all of one */
    WORD_PIXELS = 15, /* im2col: less 1 */
    WORDS = TENSORMAP_BYTES / 4,
};

/* CUtensorMapDataType of the type, without TF32 and with it; 255: there is none. */
static const uint8_t types[16] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 255, 255, 255, 255, 255};
static uint8_t type_of(uint32_t kinds) {
    uint8_t type = types[kinds >> 7 & 15];
    if (!(kinds >> 16 & 1))
        return type;
    return type == 7 ? 11 : type == 10 ? 12 : 255;
}

/* Corners of `count` dimensions in 16 bits, with their signs. */
static void read_corners(uint32_t bits, unsigned count, int16_t *corners) {
    unsigned each = count == 1 ? 16 : count == 2 ? 8 : 5;
    for (unsigned i = 0; i < count; i++) {
        uint32_t field = bits >> i * each & ((1u << each) - 1);
        corners[i] = (int16_t)(field >> (each - 1) ? (int32_t)field - (1 << each) : (int32_t)field);
    }
}

static void read_box(const uint32_t words[WORDS], TensorMap *map) {
    uint16_t first = (uint16_t)((words[WORD_ELEMENTS] >> 24) + 1);
    if (map->kind == TENSORMAP_IM2COL) {
        map->channels = first;
        map->pixels = (uint16_t)((words[WORD_PIXELS] & 0x3ff) + 1);
        read_corners(words[WORD_BOX] & 0xffff, map->rank - 2u, map->lower);
        read_corners(words[WORD_BOX] >> 16, map->rank - 2u, map->upper);
        return;
    }
    map->box[0] = first;
    for (unsigned i = 1; i < map->rank; i++)
        map->box[i] = (uint16_t)((words[WORD_BOX] >> 8 * (i - 1) & 0xff) + 1);
}

bool tensormap_decode_driver(const uint8_t bytes[TENSORMAP_BYTES], TensorMap *map) {
    uint32_t words[WORDS], kinds;
    memcpy(words, bytes, TENSORMAP_BYTES);
    kinds = words[WORD_KINDS];
    *map = (TensorMap){.kind = kinds & 1 ? TENSORMAP_IM2COL : TENSORMAP_TILED,
                       .rank = (uint8_t)((kinds >> 4 & 7) + 1),
                       .type = type_of(kinds),
                       .interleave = kinds >> 11 & 3,
                       .swizzle = kinds >> 13 & 3,
                       .fill = kinds >> 15 & 1,
                       .address = words[WORD_ADDRESS] | (uint64_t)words[WORD_ADDRESS + 1] << 32};
    bool columns = map->kind == TENSORMAP_IM2COL;
    if (!map->address || map->address & 15 || map->rank > TENSORMAP_DIMS || (columns && map->rank < 3) ||
        !tensormap_element_bits(map->type) || map->interleave == 3)
        return false;
    for (unsigned i = 0; i < map->rank; i++) {
        uint64_t upper = i ? words[WORD_MORE_STRIDES] >> 4 * (i - 1) & 15 : 0;
        map->size[i] = words[WORD_SIZES + i] + 1;
        map->element_stride[i] = (uint8_t)((words[WORD_ELEMENTS] >> 3 * i & 7) + 1);
        map->stride[i] = i ? (words[WORD_STRIDES + i - 1] | upper << 32) * 16 : tensormap_element_bits(map->type) / 8;
    }
    read_box(words, map);
    return true;
}
