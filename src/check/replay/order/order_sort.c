/* Strong accesses by place and time. There are many, and each is large: what decides is sorted byte by byte, the lowest
 * first, and the accesses are moved once. */
#include "check/replay/order/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW = 64,       /* are sorted as they are */
    FAR = 1 << 30,  /* nanoseconds between two times, from which on it is not told which is the earlier one */
    TIME_BYTES = 4, /* of a column's number, those of the time; the others are the key's */
    COLUMNS = TIME_BYTES + 8,
    VALUES = 256,
};

typedef struct OrderSortEntry {
    uint64_t key;
    uint32_t time; /* since the first one's, + FAR */
    uint32_t item;
} OrderSortEntry;

static int by_time(const void *a, const void *b) {
    const Strong *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    int32_t difference = (int32_t)(x->time - y->time);
    if (difference)
        return difference < 0 ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static unsigned byte_of(const OrderSortEntry *entry, unsigned column) {
    return column < TIME_BYTES ? entry->time >> 8 * column & 0xFF
                               : (unsigned)(entry->key >> 8 * (column - TIME_BYTES)) & 0xFF;
}

static void sort_column(OrderSortEntry *to, const OrderSortEntry *from, uint32_t count, unsigned column) {
    uint32_t next[VALUES + 1] = {0};
    for (uint32_t i = 0; i < count; i++)
        next[byte_of(&from[i], column) + 1]++;
    for (unsigned i = 0; i < VALUES; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < count; i++)
        to[next[byte_of(&from[i], column)]++] = from[i];
}

/* Which of them comes where: the array of the two that says so. NULL: some times are too far from each other, or those
 * of one key and time are not in the order of their numbers. */
static OrderSortEntry *sort_entries(OrderSortEntry *entries, OrderSortEntry *other, const Strong *items,
                                    uint32_t count) {
    OrderSortEntry differs = {0};
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (OrderSortEntry){items[i].key, items[i].time - items[0].time + FAR, i};
        differs.key |= entries[i].key ^ entries[0].key;
        differs.time |= entries[i].time ^ entries[0].time;
        if (entries[i].time >= 2U * FAR)
            return NULL;
    }
    for (unsigned column = 0; column < COLUMNS; column++) {
        if (!byte_of(&differs, column))
            continue;
        sort_column(other, entries, count, column);
        OrderSortEntry *sorted = other;
        other = entries;
        entries = sorted;
    }
    for (uint32_t i = 1; i < count; i++)
        if (entries[i].key == entries[i - 1].key && entries[i].time == entries[i - 1].time &&
            items[entries[i].item].index < items[entries[i - 1].item].index)
            return NULL;
    return entries;
}

/* Each goes where it belongs, and the one that was there next. */
static void move(Strong *items, OrderSortEntry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].item == i)
            continue;
        Strong first = items[i];
        uint32_t at = i;
        for (uint32_t from = entries[at].item; from != i; from = entries[at].item) {
            items[at] = items[from];
            entries[at].item = at;
            at = from;
        }
        items[at] = first;
        entries[at].item = at;
    }
}

void strong_sort(Strong *items, uint32_t count) {
    OrderSortEntry *entries = count > FEW ? malloc(2 * (size_t)count * sizeof *entries) : NULL;
    OrderSortEntry *sorted = entries ? sort_entries(entries, entries + count, items, count) : NULL;
    if (sorted)
        move(items, sorted, count);
    else if (count)
        qsort(items, count, sizeof *items, by_time);
    free(entries);
}
