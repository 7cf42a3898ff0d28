/* Packed chunks are opened. Nothing in them is believed. */
#include "trace/pack.h"

#include "base/deadline.h"
#include "trace/record.h"

#include <string.h>

static const char damaged[] = "the recording's packed chunks are damaged";

typedef struct BlockHead {
    uint32_t number, bytes, windows, zero;
} BlockHead;

typedef struct PackOpening {
    const PackHead *head;
    uint8_t *to; /* NULL: chunks lie apart */
    PackChunk *chunks;
    uint32_t chunk_units;
    const uint8_t *at, *end; /* of the block */
} PackOpening;

static uint32_t take_bytes(PackOpening *o, unsigned bytes) {
    uint32_t value = 0;
    memcpy(&value, o->at, bytes);
    o->at += bytes;
    return value;
}

static const uint8_t sizes[] = {0, 1, 2, 4};

/* Near the end of the block, behind which nothing may be read. */
static void take_last(PackOpening *o, uint32_t *differences, unsigned code) {
    for (unsigned i = 0; i < RECORD_UNIT / 4; i++)
        differences[i] = take_bytes(o, sizes[code >> 2 * i & 3]);
}

static void take_differences(PackOpening *o, uint32_t *differences, unsigned code) {
    static const uint32_t masks[] = {0, 0xff, 0xffff, UINT32_MAX};
    if (o->end - o->at < RECORD_UNIT) {
        take_last(o, differences, code);
        return;
    }
    for (unsigned i = 0; i < RECORD_UNIT / 4; i++) { /* four bytes each, with some of the next */
        unsigned size = code >> 2 * i & 3;
        memcpy(&differences[i], o->at, 4);
        differences[i] &= masks[size];
        o->at += sizes[size];
    }
}

static void add_words(PackOpening *o, uint8_t *unit, unsigned code) {
    uint32_t words[RECORD_UNIT / 4], differences[RECORD_UNIT / 4];
    memcpy(words, unit, sizeof words);
    take_differences(o, differences, code);
    for (unsigned i = 0; i < RECORD_UNIT / 4; i++)
        words[i] += differences[i] >> 1 ^ -(differences[i] & 1);
    memcpy(unit, words, sizeof words);
}

/* Bytes of all the words that codes tell of. */
static size_t words_bytes(const uint8_t *codes, unsigned count) {
    static const uint8_t of_two[] = {0, 1, 2, 4, 1, 2, 3, 5, 2, 3, 4, 6, 4, 5, 6, 8};
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += of_two[codes[i] & 15] + of_two[codes[i] >> 4];
    return bytes;
}

/* Where the window is that begins with that unit; NULL: nothing of it is told. */
static uint8_t *window_at(const PackOpening *o, uint64_t first) {
    if (o->to)
        return o->to + first * RECORD_UNIT;
    const PackChunk *chunk = &o->chunks[first / o->chunk_units];
    uint64_t at = first % o->chunk_units;
    return at + PACK_WINDOW > chunk->units ? NULL : (uint8_t *)(uintptr_t)chunk->at + at * RECORD_UNIT;
}

static bool open_window(PackOpening *o, uint64_t first, uint64_t distance) {
    if (o->end - o->at < 4)
        return false;
    uint32_t differ = take_bytes(o, 4);
    unsigned count = (unsigned)__builtin_popcount(differ);
    const uint8_t *codes = o->at;
    uint64_t units = o->head->units - first < PACK_WINDOW ? o->head->units - first : PACK_WINDOW;
    if ((uint64_t)differ >> units || (size_t)(o->end - o->at) < count ||
        (size_t)(o->end - o->at) - count < words_bytes(codes, count))
        return false;
    o->at += count;
    uint8_t *window = window_at(o, first);
    bool whole = distance % PACK_WINDOW == 0;
    const uint8_t *before = whole && first >= distance ? window_at(o, first - distance) : NULL;
    if (before)
        memcpy(window, before, units * RECORD_UNIT);
    for (uint64_t i = whole ? units : 0; i < units; i++) { /* one may be told by another one of them */
        uint8_t *unit = window + i * RECORD_UNIT;
        if (first + i >= distance)
            memcpy(unit, unit - distance * RECORD_UNIT, RECORD_UNIT);
        if (differ >> i & 1)
            add_words(o, unit, *codes++);
    }
    for (uint32_t rest = whole ? differ : 0; rest; rest &= rest - 1)
        add_words(o, window + (unsigned)__builtin_ctz(rest) * RECORD_UNIT, *codes++);
    return true;
}

static bool open_block(PackOpening *o, const uint8_t *block) {
    BlockHead head;
    memcpy(&head, block, sizeof head);
    o->at = block + sizeof head;
    o->end = block + head.bytes;
    for (unsigned i = 0; i < PACK_WINDOWS; i++) {
        uint64_t first = ((uint64_t)head.number * PACK_WINDOWS + i) * PACK_WINDOW;
        if (!(head.windows >> i & 1))
            continue;
        if (first >= o->head->units ||
            !open_window(o, first, head.windows >> (PACK_WINDOWS + i) & 1 ? o->head->far : o->head->near))
            return false;
    }
    return true;
}

/* Where each block is, by its number; units are told by those before them, so that blocks have to be opened in order.
 */
static bool find_blocks(const uint8_t **blocks, uint64_t count, const uint8_t *packed, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        BlockHead head;
        if (bytes - at < sizeof head)
            return false;
        memcpy(&head, packed + at, sizeof head);
        if (head.number >= count || blocks[head.number] || head.bytes < sizeof head || head.bytes % PACK_ALIGN ||
            head.bytes > bytes - at)
            return false;
        blocks[head.number] = packed + at;
        at += head.bytes;
    }
    return true;
}

static uint64_t block_count(const PackHead *head) {
    enum { IN_BLOCK = PACK_WINDOW * PACK_WINDOWS };
    return head->units / IN_BLOCK + (head->units % IN_BLOCK > 0);
}

static const char *open_blocks(PackOpening *o, const uint8_t *const *blocks) {
    for (uint64_t i = 0; i < block_count(o->head); i++) {
        if (deadline_passed())
            return "there was no time to open the recording's chunks";
        if (blocks[i] && !open_block(o, blocks[i]))
            return damaged;
    }
    return NULL;
}

const char *pack_open(const PackHead *head, const uint8_t *packed, size_t bytes, uint8_t *to, Arena *arena) {
    const uint8_t **blocks = ARENA_ARRAY(arena, const uint8_t *, block_count(head) + 1);
    PackOpening o = {.head = head, .to = to};
    if (!head->near || !head->far || !find_blocks(blocks, block_count(head), packed, bytes))
        return damaged;
    return open_blocks(&o, blocks);
}

/* ---- Chunks that lie apart ------------------------------------------------------------------------ */

bool pack_has_chunks(const PackHead *head, uint32_t chunk_units) {
    return chunk_units && chunk_units % PACK_WINDOW == 0 && head->units % chunk_units == 0 &&
           head->near % PACK_WINDOW == 0 && head->far % PACK_WINDOW == 0;
}

/* Of each chunk: units up to the last window that is told. */
static void measure(const PackOpening *o, const uint8_t *const *blocks) {
    for (uint64_t i = 0; i < block_count(o->head); i++) {
        BlockHead head = {0};
        if (blocks[i])
            memcpy(&head, blocks[i], sizeof head);
        for (unsigned k = 0; k < PACK_WINDOWS; k++) {
            uint64_t first = (i * PACK_WINDOWS + k) * PACK_WINDOW;
            if (head.windows >> k & 1 && first < o->head->units)
                o->chunks[first / o->chunk_units].units = (uint32_t)(first % o->chunk_units) + PACK_WINDOW;
        }
    }
}

const char *pack_open_chunks(const PackHead *head, const uint8_t *packed, size_t bytes, uint32_t chunk_units,
                             PackChunk **chunks, Arena *arena) {
    uint64_t count = head->units / chunk_units, all = 0;
    const uint8_t **blocks = ARENA_ARRAY(arena, const uint8_t *, block_count(head) + 1);
    PackOpening o = {.head = head, .chunk_units = chunk_units, .chunks = ARENA_ARRAY(arena, PackChunk, count + 1)};
    if (!head->near || !head->far || !find_blocks(blocks, block_count(head), packed, bytes))
        return damaged;
    measure(&o, blocks);
    for (uint64_t i = 0; i < count; i++) {
        PackChunk *chunk = &o.chunks[i];
        chunk->units = chunk->units + PACK_BEHIND < chunk_units ? chunk->units + PACK_BEHIND : chunk_units;
        all += chunk->units;
    }
    const uint8_t *at = arena_zalloc(arena, (size_t)(all * RECORD_UNIT) + 1);
    for (uint64_t i = 0; i < count; i++) {
        o.chunks[i].at = at;
        at += (size_t)o.chunks[i].units * RECORD_UNIT;
    }
    *chunks = o.chunks;
    return open_blocks(&o, blocks);
}
