/* Chunks in few bytes: as the device packs them before they go to the host (runtime/record/pack.ptx), and as files keep
 * them.
 *
 * All units of the first chunks and of the further ones behind them are one array. It has windows of 32 units, and
 * blocks of 8 windows. Blocks come in any order, each once at most; what is not told is all zero:
 *
 *     block: its number, its bytes, windows that are told (bits 0 to 7) and that go by the far unit (8 to 15), 0: u32
 *            each; then its windows, the lowest first, and zeros up to a multiple of 32 bytes
 *     window: which of its units differ: u32; a code of each that does: u8; the words that these codes tell of
 *     code: two bits for each word, the first one's lowest: it is the same, or the difference has 1, 2 or 4 bytes
 *
 * Differences are to the same word of the unit that lies `near` or `far` units before it (0 where there is none),
 * modulo 2^32, with the sign in bit 0: d * 2, or -d * 2 - 1. So a unit is told by what is like it: that of the warp
 * before, or of the same warp of the CTA before. */
#ifndef TRACE_PACK_H
#define TRACE_PACK_H

#include "base/arena.h"

enum { PACK_WINDOW = 32, PACK_WINDOWS = 8, PACK_ALIGN = 32 };

/* How a packed array begins in a file. */
typedef struct PackHead {
    uint64_t units; /* of the array */
    uint32_t near, far;
} PackHead;

/* A chunk of the array: the units that it begins with, up to the last that is told of, and PACK_BEHIND zeros behind
 * them, or what there is room for. Those behind are all zero. */
typedef struct PackChunk {
    const uint8_t *at;
    uint32_t units;
} PackChunk;
enum { PACK_BEHIND = 17 }; /* no unit that says what it is has more behind it, but for those of runs */

/* Whether chunks of so many units can lie apart from each other. */
bool pack_has_chunks(const PackHead *head, uint32_t chunk_units);
/* ... which they do then: of most of them little is told, and the rest needs no memory. NULL, or one sentence: it is
 * damaged, or the time is up. */
const char *pack_open_chunks(const PackHead *head, const uint8_t *packed, size_t bytes, uint32_t chunk_units,
                             PackChunk **chunks, Arena *arena);
/* `to` has room for the array, and is all zero. NULL, or one sentence: it is damaged. */
const char *pack_open(const PackHead *head, const uint8_t *packed, size_t bytes, uint8_t *to, Arena *arena);

#endif
