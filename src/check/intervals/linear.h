/* Whether linear conditions on integers exclude each other: the arithmetic that all else here rests on.
 *
 * Rows are sums of variables that are at most 0, or 0. A system is refuted by a sum of multiples of its rows that says
 * 1 <= 0: the simplex method looks for the multiples, in exact fractions, and what it finds is added up again from the
 * rows themselves. That all variables are whole numbers is used row by row: 2 x - 2 y + 1 <= 0 is x - y + 1 <= 0, and
 * 2 x + 1 == 0 never holds. What takes too long, or numbers that are too large, are not refuted. */
#ifndef CHECK_INTERVALS_LINEAR_H
#define CHECK_INTERVALS_LINEAR_H

#include "base/arena.h"

enum { LINEAR_MOST_VARIABLES = 160, LINEAR_MOST_ROWS = 480 };

typedef struct LinearTerm {
    uint32_t variable;
    int64_t factor;
} LinearTerm;

/* The sum of its terms + constant <= 0, or == 0. */
typedef struct LinearRow {
    const LinearTerm *terms;
    uint32_t count;
    int64_t constant;
    bool equal;
} LinearRow;

typedef struct LinearSystem {
    LinearRow *rows;
    uint32_t count, capacity;
    bool impossible; /* a row cannot hold by itself */
} LinearSystem;

/* A copy of the row is kept. Terms of one variable are added up. */
void linear_add(LinearSystem *system, Arena *arena, const LinearTerm *terms, uint32_t count, int64_t constant,
                bool equal);
/* True: no whole numbers fulfill all rows. False: some may. */
bool linear_refuted(const LinearSystem *system, Arena *scratch);

#endif
