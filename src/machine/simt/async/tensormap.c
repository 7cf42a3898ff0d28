/* The machine's own encoding of tensor maps. */
#include "machine/simt/async/tensormap.h"

#include <string.h>

/* Where the fields are; numbers are little-endian. A map that tensormap.replace makes out of zeros has the mark, too.
 */
enum {
    AT_MARK = 0,
    AT_KIND = 4,
    AT_RANK, /* less 1, as tensormap.replace has it */
    AT_TYPE,
    AT_INTERLEAVE,
    AT_SWIZZLE,
    AT_FILL,
    AT_LOWER = 12,
    AT_UPPER = 18,
    AT_ADDRESS = 24,
    AT_SIZES = 32,
    AT_BOX = 52,
    AT_ELEMENT_STRIDES = 62,
    AT_CHANNELS = 68,
    AT_PIXELS = 70,
    AT_STRIDES = 72, /* of dimensions 1 to 4 */
    MARK = 0x504d5457,
};

/* CUtensorMapDataType. */
static const uint8_t element_bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

unsigned tensormap_element_bits(uint8_t type) {
    return type < sizeof element_bits ? element_bits[type] : 0;
}

static void put(uint8_t *bytes, unsigned at, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *bytes, unsigned at, unsigned size) {
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[at + i] << 8 * i;
    return value;
}

void tensormap_encode(const TensorMap *map, uint8_t bytes[TENSORMAP_BYTES]) {
    memset(bytes, 0, TENSORMAP_BYTES);
    put(bytes, AT_MARK, MARK, 4);
    bytes[AT_KIND] = (uint8_t)map->kind;
    bytes[AT_RANK] = (uint8_t)(map->rank - 1);
    bytes[AT_TYPE] = map->type;
    bytes[AT_INTERLEAVE] = map->interleave;
    bytes[AT_SWIZZLE] = map->swizzle;
    bytes[AT_FILL] = map->fill;
    put(bytes, AT_ADDRESS, map->address, 8);
    for (unsigned i = 0; i < TENSORMAP_DIMS; i++) {
        put(bytes, AT_SIZES + 4 * i, map->size[i], 4);
        put(bytes, AT_BOX + 2 * i, map->box[i], 2);
        bytes[AT_ELEMENT_STRIDES + i] = map->element_stride[i];
        if (i)
            put(bytes, AT_STRIDES + 8 * (i - 1), map->stride[i], 8);
    }
    for (unsigned i = 0; i < 3; i++) {
        put(bytes, AT_LOWER + 2 * i, (uint16_t)map->lower[i], 2);
        put(bytes, AT_UPPER + 2 * i, (uint16_t)map->upper[i], 2);
    }
    put(bytes, AT_CHANNELS, map->channels, 2);
    put(bytes, AT_PIXELS, map->pixels, 2);
}

static void decode(const uint8_t bytes[TENSORMAP_BYTES], TensorMap *map) {
    *map = (TensorMap){.kind = (TensorMapKind)bytes[AT_KIND],
                       .rank = (uint8_t)(bytes[AT_RANK] + 1),
                       .type = bytes[AT_TYPE],
                       .interleave = bytes[AT_INTERLEAVE],
                       .swizzle = bytes[AT_SWIZZLE],
                       .fill = bytes[AT_FILL],
                       .address = get(bytes, AT_ADDRESS, 8),
                       .channels = (uint16_t)get(bytes, AT_CHANNELS, 2),
                       .pixels = (uint16_t)get(bytes, AT_PIXELS, 2)};
    for (unsigned i = 0; i < TENSORMAP_DIMS; i++) {
        map->size[i] = (uint32_t)get(bytes, AT_SIZES + 4 * i, 4);
        map->box[i] = (uint16_t)get(bytes, AT_BOX + 2 * i, 2);
        map->element_stride[i] = bytes[AT_ELEMENT_STRIDES + i];
        map->stride[i] = i ? get(bytes, AT_STRIDES + 8 * (i - 1), 8) : tensormap_element_bits(map->type) / 8;
    }
    for (unsigned i = 0; i < 3; i++) {
        map->lower[i] = (int16_t)get(bytes, AT_LOWER + 2 * i, 2);
        map->upper[i] = (int16_t)get(bytes, AT_UPPER + 2 * i, 2);
    }
}

static bool is_blank(const uint8_t bytes[TENSORMAP_BYTES]) {
    for (unsigned i = 0; i < TENSORMAP_BYTES; i++)
        if (bytes[i])
            return false;
    return true;
}

bool tensormap_decode(const uint8_t bytes[TENSORMAP_BYTES], TensorMap *map) {
    if (get(bytes, AT_MARK, 4) != MARK)
        return false;
    decode(bytes, map);
    return map->rank <= TENSORMAP_DIMS && tensormap_element_bits(map->type);
}

bool tensormap_replace(uint8_t bytes[TENSORMAP_BYTES], TensorMapField field, unsigned ordinal, uint64_t value) {
    /* The numbers of element types in tensormap.replace, as CUtensorMapDataType. */
    static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12, 13, 14, 15};
    if ((get(bytes, AT_MARK, 4) != MARK && !is_blank(bytes)) || ordinal >= TENSORMAP_DIMS)
        return false;
    put(bytes, AT_MARK, MARK, 4);
    switch (field) {
    case TENSORMAP_ADDRESS:
        put(bytes, AT_ADDRESS, value, 8);
        return true;
    case TENSORMAP_RANK:
        bytes[AT_RANK] = (uint8_t)value;
        return value < TENSORMAP_DIMS;
    case TENSORMAP_BOX:
        put(bytes, AT_BOX + 2 * ordinal, value, 2);
        return value <= UINT16_MAX;
    case TENSORMAP_SIZE:
        put(bytes, AT_SIZES + 4 * ordinal, value, 4);
        return true;
    case TENSORMAP_STRIDE:
        if (ordinal < TENSORMAP_DIMS - 1)
            put(bytes, AT_STRIDES + 8 * ordinal, value, 8);
        return true;
    case TENSORMAP_ELEMENT_STRIDE:
        bytes[AT_ELEMENT_STRIDES + ordinal] = (uint8_t)value;
        return value <= UINT8_MAX;
    case TENSORMAP_TYPE:
        bytes[AT_TYPE] = value < sizeof types ? types[value] : UINT8_MAX;
        return value < sizeof types;
    case TENSORMAP_INTERLEAVE:
        bytes[AT_INTERLEAVE] = (uint8_t)value;
        return value <= 2;
    case TENSORMAP_SWIZZLE: /* the atoms of one that had others stay */
        bytes[AT_SWIZZLE] = value == 4 ? TENSORMAP_SWIZZLE_96 : (uint8_t)value;
        return value <= 4;
    case TENSORMAP_ATOMICITY:
        if (value && (bytes[AT_SWIZZLE] < 3 || bytes[AT_SWIZZLE] > 6))
            return false;
        if (bytes[AT_SWIZZLE] >= 3 && bytes[AT_SWIZZLE] <= 6)
            bytes[AT_SWIZZLE] = (uint8_t)(3 + value);
        return value <= 3;
    case TENSORMAP_FILL:
        bytes[AT_FILL] = (uint8_t)value;
        return value <= 1;
    }
    return false;
}
