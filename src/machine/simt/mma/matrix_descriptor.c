/* Matrices in shared memory, by their descriptors. */
#include "machine/simt/mma/matrix_descriptor.h"
#include "machine/simt/core/internal.h"

#include <string.h>

static MatrixDescriptor fields(uint64_t bits) {
    return (MatrixDescriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                              .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                              .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                              .base = (uint8_t)(bits >> 49 & 7)};
}

MatrixDescriptor matrix_descriptor(uint64_t bits) {
    static const uint8_t lines[] = {16, 128, 64, 32};
    MatrixDescriptor descriptor = fields(bits);
    descriptor.line = lines[bits >> 62];
    return descriptor;
}

bool tensor_descriptor(uint64_t bits, MatrixDescriptor *descriptor) {
    static const uint8_t lines[] = {16, 128, 128, 0, 64, 0, 32, 0};
    unsigned mode = (unsigned)(bits >> 61);
    *descriptor = fields(bits);
    descriptor->line = lines[mode];
    descriptor->pairs = mode == 1;
    descriptor->absolute = bits >> 52 & 1;
    return descriptor->line != 0;
}

static uint32_t swizzled(const MatrixDescriptor *descriptor, uint32_t address) {
    uint32_t phase = (address >> 7) - descriptor->base;
    if (descriptor->pairs)
        address ^= (phase & 3) << 5;
    else
        address ^= (phase & (descriptor->line / DESCRIPTOR_CHUNK - 1u)) << 4;
    return address & (DESCRIPTOR_SPAN - 1);
}

static inline uint32_t chunk_at(const MatrixTile *tile, unsigned i, unsigned j) {
    const MatrixDescriptor *d = &tile->descriptor;
    unsigned width = d->line / DESCRIPTOR_CHUNK, depth = d->pairs ? 4 : 8; /* powers of two */
    unsigned width_bits = (unsigned)__builtin_ctz(width), depth_bits = d->pairs ? 2 : 3;
    uint32_t at = d->start;
    if (!tile->across)
        at += i % 8 * d->line + i / 8 * d->stride + j * (width == 1 ? d->leading : DESCRIPTOR_CHUNK);
    else if (width == 1)
        at += i * d->stride + j % 8 * DESCRIPTOR_CHUNK + j / 8 * d->leading;
    else
        at += (i & (width - 1)) * DESCRIPTOR_CHUNK + (i >> width_bits) * d->leading + (j & (depth - 1)) * d->line +
              (j >> depth_bits) * d->stride;
    return swizzled(d, at);
}

uint32_t matrix_chunk(const MatrixTile *tile, unsigned i, unsigned j) {
    return chunk_at(tile, i, j);
}

/* Elements in a chunk. */
static unsigned per_chunk(const MatrixTile *tile) {
    unsigned bits = matrix_type_bits(tile->type);
    return 128 / (bits == 6 || (bits == 4 && !tile->tight) ? 8 : bits);
}

/* Chunks along the lines, and along k. */
static void extent(const MatrixTile *tile, unsigned *first, unsigned *end, unsigned *depth) {
    unsigned per = per_chunk(tile);
    *first = tile->across ? tile->first / per : tile->first;
    *end = tile->across ? (tile->first + tile->lines + per - 1u) / per : tile->first + tile->lines;
    *depth = tile->across ? tile->k : (tile->k + per - 1) / per;
}

static bool add_piece(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, PtxBlock *block, uint32_t from,
                      uint32_t bytes, MatrixPieces *pieces) {
    PtxLocation location = {block, from - block->base};
    if (from < block->base || location.offset + bytes > block->size) {
        /* The check of out-of-range accesses says it in its own words. */
        return ptx_resolve_one(machine, code, warp, 0, PTX_SPACE_SHARED, from, bytes, DESCRIPTOR_CHUNK, &location);
    }
    if (pieces->count == pieces->capacity)
        return true;
    pieces->locations[pieces->count] = location;
    pieces->sizes[pieces->count++] = bytes;
    return true;
}

bool matrix_pieces(PtxMachine *machine, const PtxCode *code, PtxWarp *warp, PtxBlock *block, const MatrixTile *tile,
                   MatrixPieces *pieces) {
    uint64_t marks[DESCRIPTOR_SPAN / DESCRIPTOR_CHUNK / 64] = {0};
    unsigned first, end, depth;
    uint32_t low = DESCRIPTOR_SPAN / DESCRIPTOR_CHUNK, high = 0;
    extent(tile, &first, &end, &depth);
    for (unsigned i = first; i < end; ++i)
        for (unsigned j = 0; j < depth; ++j) {
            uint32_t chunk = matrix_chunk(tile, i, j) / DESCRIPTOR_CHUNK;
            marks[chunk / 64] |= UINT64_C(1) << chunk % 64;
            low = chunk < low ? chunk : low;
            high = chunk > high ? chunk : high;
        }
    for (uint32_t chunk = low; chunk <= high;) {
        uint32_t from = chunk;
        while (chunk <= high && marks[chunk / 64] >> chunk % 64 & 1)
            ++chunk;
        if (chunk > from &&
            !add_piece(machine, code, warp, block, from * DESCRIPTOR_CHUNK, (chunk - from) * DESCRIPTOR_CHUNK, pieces))
            return false;
        ++chunk;
    }
    return true;
}

/* Kernels come back to the same tiles: where those of a run are. Those of other CTAs are as far from their begin. */
typedef struct KnownTile {
    MatrixTile tile;
    uint64_t base, size;      /* of the block */
    uint32_t count, capacity; /* count 0: there is none */
    uint32_t *sizes;
    uint64_t *offsets;
} KnownTile;
enum { KNOWN_TILES = 1024, MOST_PIECES = 2048 };

static bool same_tile(const MatrixTile *a, const MatrixTile *b) {
    const MatrixDescriptor *x = &a->descriptor, *y = &b->descriptor;
    return x->start == y->start && x->leading == y->leading && x->stride == y->stride && x->line == y->line &&
           x->base == y->base && x->pairs == y->pairs && x->absolute == y->absolute && a->across == b->across &&
           a->type == b->type && a->tight == b->tight && a->first == b->first && a->lines == b->lines && a->k == b->k;
}

static KnownTile *tile_seat(PtxMachine *machine, const MatrixTile *tile) {
    uint64_t mixed = tile->descriptor.start >> 4 ^ (uint64_t)tile->first << 20 ^ (uint64_t)tile->lines << 36;
    if (!machine->tiles)
        machine->tiles = ARENA_ARRAY(&machine->arena, KnownTile, KNOWN_TILES);
    return (KnownTile *)machine->tiles + (mixed * UINT64_C(0x9E3779B97F4A7C15) >> 40) % KNOWN_TILES;
}

static void keep_tile(PtxMachine *machine, KnownTile *known, const PtxBlock *block, const MatrixTile *tile,
                      const MatrixPieces *pieces) {
    if (known->capacity < pieces->count) {
        known->capacity = pieces->count;
        known->sizes = ARENA_ARRAY(&machine->arena, uint32_t, pieces->count);
        known->offsets = ARENA_ARRAY(&machine->arena, uint64_t, pieces->count);
    }
    known->tile = *tile;
    known->base = block->base;
    known->size = block->size;
    known->count = pieces->count;
    for (uint32_t i = 0; i < pieces->count; i++) {
        known->sizes[i] = pieces->sizes[i];
        known->offsets[i] = pieces->locations[i].offset;
    }
}

static bool find_pieces(PtxMachine *machine, const PtxOutstanding *outstanding, PtxBlock *block, const MatrixTile *tile,
                        MatrixPieces *pieces) {
    KnownTile *known = tile_seat(machine, tile);
    if (!known->count || known->base != block->base || known->size != block->size || !same_tile(&known->tile, tile)) {
        if (!matrix_pieces(machine, outstanding->code, outstanding->warp, block, tile, pieces))
            return false;
        keep_tile(machine, known, block, tile, pieces);
        return true;
    }
    pieces->count = known->count;
    for (uint32_t i = 0; i < known->count; i++) {
        pieces->locations[i] = (PtxLocation){block, known->offsets[i]};
        pieces->sizes[i] = known->sizes[i];
    }
    return true;
}

bool matrix_emit(PtxMachine *machine, const PtxOutstanding *outstanding, PtxBlock *block, const MatrixTile *tile) {
    PtxLocation locations[MOST_PIECES];
    uint32_t sizes[MOST_PIECES];
    MatrixPieces pieces = {.locations = locations, .sizes = sizes, .capacity = MOST_PIECES};
    if (!find_pieces(machine, outstanding, block, tile, &pieces))
        return false;
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = outstanding->code,
                                  .warp = outstanding->warp,
                                  .lanes = UINT32_C(1) << outstanding->lane,
                                  .outstanding = outstanding,
                                  .locations = locations,
                                  .location_count = pieces.count,
                                  .sizes = sizes,
                                  .access = {.kind = KIND_READ,
                                             .proxy = PROXY_ASYNC,
                                             .order = ORDER_WEAK,
                                             .element = DESCRIPTOR_CHUNK,
                                             .bytes = DESCRIPTOR_CHUNK,
                                             .used = UINT32_MAX}});
    return true;
}

/* Where the element of a line and a k is. */
static inline unsigned place_of(const MatrixTake *take, unsigned line, unsigned k) {
    if (take->order == ORDER_ROWS)
        return line * take->k_count + k;
    return (line / 8 * take->k_count + k) * 8 + (take->order == ORDER_FRAGMENTS ? MATRIX_COLUMN_PLACE(line) : line % 8);
}

/* Of less than 8 bits: it is within two bytes. */
static uint32_t element_at(const uint8_t bytes[DESCRIPTOR_CHUNK], unsigned bit) {
    unsigned last = bit / 8 + 1 < DESCRIPTOR_CHUNK ? bit / 8 + 1 : bit / 8;
    return (bytes[bit / 8] | (uint32_t)bytes[last] << 8) >> bit % 8;
}

/* A whole chunk of elements of 16 bits, from its first on. */
static inline void take_halves(const MatrixTake *take, bool across, const uint8_t bytes[DESCRIPTOR_CHUNK],
                               uint32_t *to) {
    enum { COUNT = DESCRIPTOR_CHUNK / 2 };
    uint16_t halves[COUNT];
    memcpy(halves, bytes, sizeof halves);
    if (across == (take->order == ORDER_ROWS)) { /* they are apart */
        unsigned stride = across ? take->k_count : COUNT;
        for (unsigned at = 0; at < COUNT; ++at)
            to[at * stride] = halves[at];
    } else if (take->order == ORDER_FRAGMENTS)
        for (unsigned at = 0; at < COUNT / 2; ++at) {
            to[at] = halves[2 * at];
            to[at + COUNT / 2] = halves[2 * at + 1];
        }
    else
        for (unsigned at = 0; at < COUNT; ++at)
            to[at] = halves[at];
}

#define TAKE_EACH(element)                                                                  \
    if (tile->across)                                                                       \
        for (unsigned at = 0; at < count; ++at)                                             \
            to[place_of(take, line + at, k)] = element;                                     \
    else {                                                                                  \
        uint32_t *line_to = to + place_of(take, line, k);                                   \
        for (unsigned at = 0, stride = take->order == ORDER_ROWS ? 1 : 8; at < count; ++at) \
            line_to[at * stride] = element;                                                 \
    }

/* The bits of the elements of a chunk that are asked for: K-major: k; MN-major: lines. */
static void take_chunk(const MatrixTile *tile, unsigned bits, const MatrixTake *take, unsigned i, unsigned j,
                       const uint8_t bytes[DESCRIPTOR_CHUNK], uint32_t *to) {
    unsigned per = per_chunk(tile), begin = (tile->across ? i : j) * per;
    unsigned low = tile->across ? tile->first : take->k_first;
    unsigned high = tile->across ? tile->first + tile->lines : take->k_first + take->k_count;
    unsigned from = begin < low ? low : begin, end = begin + per < high ? begin + per : high, count = end - from;
    if (from >= end)
        return;
    unsigned line = (tile->across ? from : i) - tile->first, k = (tile->across ? j : from) - take->k_first;
    unsigned skip = from - begin;
    if (bits == 16 && count == DESCRIPTOR_CHUNK / 2)
        take_halves(take, tile->across, bytes, to + place_of(take, line, k));
    else if (bits == 16) {
        uint16_t words[DESCRIPTOR_CHUNK / 2];
        memcpy(words, bytes, sizeof words);
        TAKE_EACH(words[skip + at])
    } else if (bits == 32) {
        uint32_t words[DESCRIPTOR_CHUNK / 4];
        memcpy(words, bytes, sizeof words);
        TAKE_EACH(words[skip + at])
    } else if (bits == 8) {
        TAKE_EACH(bytes[skip + at])
    } else {
        TAKE_EACH(element_at(bytes, (skip + at) * bits))
    }
}

static void mark_unknown(const MatrixTile *tile, const MatrixTake *take, unsigned i) {
    unsigned per = tile->across ? per_chunk(tile) : 1;
    for (unsigned line = i * per; line < (i + 1) * per; ++line)
        if (line >= tile->first && line < (unsigned)tile->first + tile->lines)
            take->unknown[line - tile->first] = true;
}

void matrix_take(PtxMachine *machine, PtxBlock *block, const MatrixTile *tile, const MatrixTake *take) {
    unsigned first, end, depth, per = per_chunk(tile), k_end = take->k_first + take->k_count;
    MatrixDecoder decoder = matrix_decoder(tile->type);
    unsigned used = per * decoder.bits / 8; /* bytes of a chunk; the rest is padding */
    uint32_t elements[MATRIX_TAKE_MOST];
    extent(tile, &first, &end, &depth);
    unsigned j_first = tile->across ? take->k_first : take->k_first / per;
    unsigned j_end = tile->across ? k_end : (k_end + per - 1) / per;
    for (unsigned i = first; i < end; ++i)
        for (unsigned j = j_first; j < j_end && j < depth; ++j) {
            uint8_t bytes[DESCRIPTOR_CHUNK], states[DESCRIPTOR_CHUNK];
            PtxLocation location = {block, chunk_at(tile, i, j) - block->base};
            if (!load_known(location, DESCRIPTOR_CHUNK, bytes)) {
                ptx_load_bytes(machine, location, DESCRIPTOR_CHUNK, bytes, states);
                if (!bytes_known(states, used))
                    mark_unknown(tile, take, i);
            }
            take_chunk(tile, decoder.bits, take, i, j, bytes, elements);
        }
    matrix_decode(&decoder, elements, tile->lines * take->k_count, take->to);
}
