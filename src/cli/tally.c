/* How often each text came up, and the list of that. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static int order(weir_string text, const char *other) {
    int order = strncmp(text.data, other, text.size);
    return order ? order : other[text.size] ? -1 : 0;
}

/* Keeps the texts sorted; there are a few hundred at most. */
void tally_add(Tally *tally, weir_string text, size_t times) {
    size_t low = 0, high = tally->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int side = order(text, tally->items[middle].text);
        if (side == 0) {
            tally->items[middle].times += times;
            return;
        }
        *(side < 0 ? &high : &low) = middle + (side > 0);
    }
    if (tally->count == tally->capacity) {
        tally->capacity = tally->capacity ? tally->capacity * 2 : 64;
        tally->items = realloc(tally->items, tally->capacity * sizeof *tally->items);
    }
    char *copy = strndup(text.data, text.size);
    if (!tally->items || !copy) {
        complain("there is not enough memory");
        exit(STATUS_ERROR);
    }
    memmove(&tally->items[low + 1], &tally->items[low], (tally->count++ - low) * sizeof *tally->items);
    tally->items[low] = (Count){copy, times};
}

static int by_times(const void *a, const void *b) {
    const Count *x = a, *y = b;
    return x->times != y->times ? (x->times < y->times ? 1 : -1) : strcmp(x->text, y->text);
}

void tally_print(Tally *tally, Output *output, size_t most) {
    if (tally->count)
        qsort(tally->items, tally->count, sizeof *tally->items, by_times);
    size_t shown = most && tally->count > most ? most : tally->count, rest = 0;
    for (size_t i = 0; i < shown; i++)
        output_printf(output, "%8zu  %s\n", tally->items[i].times, tally->items[i].text);
    for (size_t i = shown; i < tally->count; i++)
        rest += tally->items[i].times;
    if (rest)
        output_printf(output, "%8zu  in %zu other lines (-v shows them)\n", rest, tally->count - shown);
}

void tally_free(Tally *tally) {
    for (size_t i = 0; i < tally->count; i++)
        free(tally->items[i].text);
    free(tally->items);
}
