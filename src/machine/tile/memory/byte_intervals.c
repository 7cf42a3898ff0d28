/* Sorting is by digits of the distance from the lowest address: an access may have millions of runs in any order, and
 * most lie near each other. */
#include "machine/tile/memory/byte_intervals.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

void runs_grow(Runs *runs) {
    runs->runs = arena_grown(runs->arena, runs->runs, runs->count, &runs->capacity, sizeof *runs->runs);
}

static void sort_few(Run *runs, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        Run run = runs[i];
        uint32_t at = i;
        for (; at > 0 && runs[at - 1].begin > run.begin; at--)
            runs[at] = runs[at - 1];
        runs[at] = run;
    }
}

static uint64_t distance(int64_t from, int64_t to) {
    return (uint64_t)to - (uint64_t)from;
}

static void sort_many(Runs *runs) {
    int64_t lowest = INT64_MAX;
    uint64_t widest = 0;
    for (uint32_t i = 0; i < runs->count; i++)
        lowest = runs->runs[i].begin < lowest ? runs->runs[i].begin : lowest;
    for (uint32_t i = 0; i < runs->count; i++)
        widest |= distance(lowest, runs->runs[i].begin);
    Run *from = runs->runs, *to = ARENA_ARRAY(runs->arena, Run, runs->capacity);
    for (unsigned shift = 0; shift < 64 && widest >> shift; shift += DIGIT) {
        uint32_t places[DIGITS] = {0}, place = 0;
        for (uint32_t i = 0; i < runs->count; i++)
            places[distance(lowest, from[i].begin) >> shift & (DIGITS - 1)]++;
        for (unsigned k = 0; k < DIGITS; k++) {
            uint32_t size = places[k];
            places[k] = place;
            place += size;
        }
        for (uint32_t i = 0; i < runs->count; i++)
            to[places[distance(lowest, from[i].begin) >> shift & (DIGITS - 1)]++] = from[i];
        Run *other = from;
        from = to;
        to = other;
    }
    runs->runs = from;
}

void runs_sort(Runs *runs) {
    enum { FEW = 48 };
    uint32_t kept = 0;
    if (!runs->disordered)
        return;
    if (runs->count <= FEW)
        sort_few(runs->runs, runs->count);
    else
        sort_many(runs);
    for (uint32_t i = 1; i < runs->count; i++) {
        Run *last = &runs->runs[kept], next = runs->runs[i];
        if (next.begin > last->end)
            runs->runs[++kept] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    runs->count = kept + 1;
    runs->disordered = false;
}
