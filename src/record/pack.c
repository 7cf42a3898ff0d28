/* Packed chunks are opened. Nothing in them is believed. */
#include "record/pack.h"

#include "record/record.h"

#include <string.h>

static const char damaged[] = "the recording's packed chunks are damaged";

typedef struct BlockHead {
    uint32_t number, bytes, windows, zero;
} BlockHead;

typedef struct Opening {
    const PackHead *head;
    uint8_t *to;
    const uint8_t *at, *end; /* of the block */
} Opening;

static uint32_t take_bytes(Opening *o, unsigned bytes) {
    uint32_t value = 0;
    memcpy(&value, o->at, bytes);
    o->at += bytes;
    return value;
}

static void add_words(Opening *o, uint8_t *unit, unsigned code) {
    static const uint8_t sizes[] = {0, 1, 2, 4};
    uint32_t words[RECORD_UNIT / 4];
    memcpy(words, unit, sizeof words);
    for (unsigned i = 0; i < RECORD_UNIT / 4; i++) {
        uint32_t difference = take_bytes(o, sizes[code >> 2 * i & 3]);
        words[i] += difference >> 1 ^ -(difference & 1);
    }
    memcpy(unit, words, sizeof words);
}

/* Bytes of all the words that codes tell of. */
static size_t words_bytes(const uint8_t *codes, unsigned count) {
    size_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned code = codes[i]; code; code >>= 2)
            bytes += (code & 3) + ((code & 3) == 3);
    return bytes;
}

static bool open_window(Opening *o, uint64_t first, uint64_t distance) {
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
    for (uint64_t i = 0; i < units; i++) {
        uint8_t *unit = o->to + (first + i) * RECORD_UNIT;
        if (first + i >= distance)
            memcpy(unit, unit - distance * RECORD_UNIT, RECORD_UNIT);
        if (differ >> i & 1)
            add_words(o, unit, *codes++);
    }
    return true;
}

static bool open_block(Opening *o, const uint8_t *block) {
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

const char *pack_open(const PackHead *head, const uint8_t *packed, size_t bytes, uint8_t *to, Arena *arena) {
    uint64_t in_block = PACK_WINDOW * PACK_WINDOWS, count = head->units / in_block + (head->units % in_block > 0);
    const uint8_t **blocks = ARENA_ARRAY(arena, const uint8_t *, count + 1);
    Opening o = {.head = head, .to = to};
    if (!head->near || !head->far || !find_blocks(blocks, count, packed, bytes))
        return damaged;
    for (uint64_t i = 0; i < count; i++)
        if (blocks[i] && !open_block(&o, blocks[i]))
            return damaged;
    return NULL;
}
