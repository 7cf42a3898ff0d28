/* Textures and surfaces: what a handle stands for. A handle is the address of a description, in an encoding of the
 * machine's own, which lies in global memory as what it describes does. */
#ifndef MACHINE_SIMT_MEMORY_TEXTURES_H
#define MACHINE_SIMT_MEMORY_TEXTURES_H

#include <stdint.h>

enum { TEXTURE_BYTES = 128 };

typedef enum TextureKind { TEXTURE_SIGNED, TEXTURE_UNSIGNED, TEXTURE_FLOAT } TextureKind;
/* As in CUDA. */
typedef enum TextureMode { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER } TextureMode;

typedef struct TextureMap {
    uint64_t magic, address;
    uint64_t pitch, slice;    /* bytes from one row, and layer or slice, to the next */
    uint32_t size[3], layers; /* elements; 0: it has no such dimension. layers 0: it is not layered */
    uint8_t channels, bits, kind, mode[3];
    uint8_t linear, normalized, floats;     /* floats: integers are read as reals of 0 to 1, or -1 to 1 */
    uint8_t is_surface, is_cube, is_buffer; /* is_buffer: of linear memory, which is read by integers alone */
    float border[4];
    uint8_t rest[TEXTURE_BYTES - 76];
} TextureMap;
_Static_assert(sizeof(TextureMap) == TEXTURE_BYTES, "it is as large as it is said to be");
#define TEXTURE_MAGIC UINT64_C(0x7765697274657874)

#endif
