/* Comments in a kernel's source, Python or C++, that say which findings there are known, and why:
 *
 *     # weir: ignore[race.war] the consumer is one warp
 *     tile = buffer.load(layout)
 *
 *     bar.wait(phase)  # weir: ignore[deadlock.lapped, barrier] only ever launched with one tile
 *
 *     part[i] += part[i + 16]; // weir: ignore[race.raw] the lanes agree
 *
 * A comment behind code is about its own line, one on a line of its own about the next line with code. Rules are those
 * of `weir rules`, or families of them. */
#ifndef CONFIG_COMMENTS_H
#define CONFIG_COMMENTS_H

#include "base/source.h"

typedef struct Suppression {
    const char *rules;    /* "deadlock.lapped,barrier" */
    const char *reason;   /* what follows them */
    const char *problem;  /* why it is not honored, one sentence; NULL: it is */
    uint32_t line;        /* of the comment */
    uint32_t target;      /* that it is about */
    uint32_t first, last; /* lines of the function that this is in; of the whole file if it is in none */
    bool used, looked_at;
} Suppression;

typedef struct SuppressionList {
    Suppression *items;
    uint32_t count, capacity;
} SuppressionList;

/* Everything in the list is in the arena. What stands in a string is no comment. */
void suppressions_read(Arena *arena, const Source *source, SuppressionList *list);

#endif
