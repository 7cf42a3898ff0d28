/* Any bytes as packed chunks, as a section of a recording has them: they are opened, or refused with a sentence. What
 * was opened, packed again with its blocks the other way round, opens as the same. */
#include "base/text.h"
#include "trace/pack.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_UNITS = 4096, IN_BLOCK = PACK_WINDOW * PACK_WINDOWS, WORDS = RECORD_UNIT / 4 };

static uint32_t word_at(const uint8_t *units, uint64_t unit, unsigned word) {
    uint32_t value;
    memcpy(&value, units + unit * RECORD_UNIT + 4 * word, 4);
    return value;
}

/* Of a word to that of the unit `distance` before it, as it is told. */
static uint32_t difference(const uint8_t *units, uint64_t unit, unsigned word, uint32_t distance) {
    uint32_t d = word_at(units, unit, word) - (unit >= distance ? word_at(units, unit - distance, word) : 0);
    return d << 1 ^ -(d >> 31);
}

static void put(Text *to, uint32_t value, unsigned bytes) {
    text_add(to, (const char *)&value, bytes);
}

static unsigned size_of(uint32_t reported) {
    return !reported ? 0 : reported < 1 << 8 ? 1 : reported < 1 << 16 ? 2 : 3;
}

static void pack_window(const PackHead *head, const uint8_t *units, uint64_t first, uint32_t distance, Text *to) {
    uint32_t differ = 0;
    Text codes = {0}, words = {0};
    for (uint64_t i = 0; i < PACK_WINDOW && first + i < head->units; i++) {
        uint32_t code = 0;
        for (unsigned k = 0; k < WORDS; k++) {
            uint32_t reported = difference(units, first + i, k, distance);
            code |= size_of(reported) << 2 * k;
            put(&words, reported, size_of(reported) == 3 ? 4 : size_of(reported));
        }
        if (!code)
            continue;
        differ |= UINT32_C(1) << i;
        put(&codes, code, 1);
    }
    put(to, differ, 4);
    text_add(to, codes.data, codes.size);
    text_add(to, words.data, words.size);
    text_free(&codes);
    text_free(&words);
}

static void pack_block(const PackHead *head, const uint8_t *units, uint32_t number, Text *to) {
    uint32_t windows = 0;
    Text body = {0};
    for (unsigned i = 0; i < PACK_WINDOWS; i++) {
        uint64_t first = (uint64_t)number * IN_BLOCK + i * PACK_WINDOW;
        bool far = (number + i) % 3 == 0;
        if (first >= head->units)
            break;
        windows |= 1u << i | (unsigned)far << (PACK_WINDOWS + i);
        pack_window(head, units, first, far ? head->far : head->near, &body);
    }
    while ((body.size + 16) % PACK_ALIGN)
        text_char(&body, 0);
    put(to, number, 4);
    put(to, (uint32_t)body.size + 16, 4);
    put(to, windows, 4);
    put(to, 0, 4);
    text_add(to, body.data, body.size);
    text_free(&body);
}

static void pack_again(const PackHead *head, const uint8_t *units, Arena *arena) {
    Text packed = {0};
    size_t bytes = (size_t)head->units * RECORD_UNIT;
    for (uint32_t i = (uint32_t)((head->units + IN_BLOCK - 1) / IN_BLOCK); i-- > 0;)
        pack_block(head, units, i, &packed);
    uint8_t *again = arena_zalloc(arena, bytes + 1);
    if (pack_open(head, (const uint8_t *)packed.data, packed.size, again, arena) || memcmp(units, again, bytes) != 0)
        abort();
    text_free(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    PackHead head;
    if (size < sizeof head)
        return 0;
    memcpy(&head, data, sizeof head);
    if (head.units > MOST_UNITS)
        return 0;
    arena_init(&arena, (size_t)64 << 20);
    /* Exactly as large as it has to be, so that the address sanitizer sees what is written beside it. */
    size_t bytes = (size_t)head.units * RECORD_UNIT;
    uint8_t *units = calloc(bytes ? bytes : 1, 1);
    if (!units)
        abort();
    const char *problem = pack_open(&head, data + sizeof head, size - sizeof head, units, &arena);
    if (problem && !*problem)
        abort();
    if (!problem)
        pack_again(&head, units, &arena);
    free(units);
    arena_free(&arena);
    return 0;
}
