/* Distances between words, by the table of all their beginnings. */
#include "base/near.h"

enum { LONGEST = 64 };

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

unsigned near_distance(Str a, Str b, unsigned most) {
    unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];
    size_t apart = a.size > b.size ? a.size - b.size : b.size - a.size;
    if (a.size > LONGEST || b.size > LONGEST || apart > most)
        return most + 1;
    for (unsigned j = 0; j <= b.size; j++)
        last[j] = before[j] = j;
    for (unsigned i = 1; i <= a.size; i++) {
        now[0] = i;
        for (unsigned j = 1; j <= b.size; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a.data[i - 1] != b.data[j - 1]));
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return least(last[b.size], most + 1);
}

const char *near_word(Str given, const char *const *words) {
    unsigned most = given.size < 4 ? 1 : given.size < 8 ? 2 : 3;
    const char *nearest = NULL;
    for (; *words; words++) {
        unsigned distance = near_distance(given, str_of(*words), most);
        if (distance <= most && distance < strlen(*words)) {
            nearest = *words;
            most = distance ? distance - 1 : 0;
            if (!distance)
                break;
        }
    }
    return nearest;
}
