/* Each place looks for the longest of a few earlier ones that begin with the same eight bytes. */
#include "render/html/pack.h"

#include <stdlib.h>

enum {
    BITS = 16,            /* of a hash */
    TRIES = 12,           /* earlier places that are compared */
    LEAST = 10,           /* units that are worth a copy */
    MOST_BACK = 1 << 18,  /* three digits */
    MOST_UNITS = 1 << 12, /* two */
    BEGINNING = 8,
};

typedef struct Packing {
    Str text;
    uint32_t *units;  /* of each byte: how many units stand before it */
    uint32_t *last;   /* by hash: 1 + the last place that has it */
    uint32_t *before; /* of each place: 1 + the one before it that has the same hash */
} Packing;

static uint32_t hash_at(const Packing *packing, size_t at) {
    uint64_t bytes;
    memcpy(&bytes, packing->text.data + at, sizeof bytes);
    return (uint32_t)(bytes * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS));
}

static void remember(Packing *packing, size_t at) {
    if (at + BEGINNING > packing->text.size)
        return;
    uint32_t *last = &packing->last[hash_at(packing, at)];
    packing->before[at] = *last;
    *last = (uint32_t)at + 1;
}

/* Bytes that two places have in common, whole characters. */
static size_t in_common(const Packing *packing, size_t early, size_t at) {
    const char *data = packing->text.data;
    size_t size = 0;
    while (at + size < packing->text.size && data[early + size] == data[at + size] &&
           packing->units[at + size] - packing->units[at] < MOST_UNITS - 2)
        size++;
    while (size && at + size < packing->text.size && utf8_continues(data[at + size]))
        size--;
    return size;
}

/* The longest earlier text that the one at a place begins with; 0 if none is worth it. */
static size_t find_copy(const Packing *packing, size_t at, size_t *early) {
    size_t best = 0;
    if (at + BEGINNING > packing->text.size || utf8_continues(packing->text.data[at]))
        return 0;
    uint32_t place = packing->last[hash_at(packing, at)];
    for (unsigned i = 0; i < TRIES && place && packing->units[at] - packing->units[place - 1] < MOST_BACK; i++) {
        size_t size = in_common(packing, place - 1, at);
        if (size > best) {
            best = size;
            *early = place - 1;
        }
        place = packing->before[place - 1];
    }
    return best && packing->units[at + best] - packing->units[at] >= LEAST ? best : 0;
}

static void add_digits(Text *to, uint32_t number, unsigned count) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";
    while (count--)
        text_char(to, digits[number >> (6 * count) & 63]);
}

static void pack(Packing *packing, Text *to) {
    Str text = packing->text;
    text_addf(to, "%u:", packing->units[text.size]);
    for (size_t at = 0, early = 0, size; at < text.size; at += size) {
        size = find_copy(packing, at, &early);
        if (size) {
            text_char(to, '~');
            add_digits(to, packing->units[at] - packing->units[early], 3);
            add_digits(to, packing->units[at + size] - packing->units[at], 2);
        } else {
            size = 1;
            if (text.data[at] == '~' || text.data[at] == '<')
                text_char(to, '~');
            text_char(to, text.data[at] == '<' ? '-' : text.data[at]);
        }
        for (size_t i = 0; i < size; i++)
            remember(packing, at + i);
    }
}

/* Characters beyond the first plane, whose UTF-8 takes four bytes, are two units. */
static void count_units(Packing *packing) {
    uint32_t units = 0;
    for (size_t i = 0; i <= packing->text.size; i++) {
        packing->units[i] = units;
        unsigned char c = i < packing->text.size ? (unsigned char)packing->text.data[i] : 0;
        units += !utf8_continues((char)c) + (c >= 0xf0);
    }
}

void pack_text(Str text, Text *to) {
    Packing packing = {.text = text,
                       .units = calloc(text.size + 1, sizeof *packing.units),
                       .last = calloc((size_t)1 << BITS, sizeof *packing.last),
                       .before = calloc(text.size + 1, sizeof *packing.before)};
    if (packing.units && packing.last && packing.before) {
        count_units(&packing);
        pack(&packing, to);
    } else {
        to->failed = true;
    }
    free(packing.units);
    free(packing.last);
    free(packing.before);
}
