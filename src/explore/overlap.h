/* Whether two families of bytes have one in common: arithmetic on progressions, without a look at their members.
 *
 * What a class of CTAs does at one place of a kernel is a run of bytes, repeated with strides (the rows of a tile, the
 * turns of a loop), and shifted by so much for each coordinate of the CTA. That two such families meet is a question
 * about a sum of bounded multiples; it is answered for all their members at once. */
#ifndef EXPLORE_OVERLAP_H
#define EXPLORE_OVERLAP_H

#include "base/arena.h"
#include "model/layout/bytes.h"

enum { OVERLAP_AXES = 3, OVERLAP_LEVELS = 4, OVERLAP_TERMS = 2 * (OVERLAP_AXES + OVERLAP_LEVELS) + 2 };

/* by * value, for a value from 0 to count - 1. */
typedef struct OverlapTerm {
    int64_t by, count;
    int64_t value; /* in the solution */
} OverlapTerm;

typedef enum Overlap { OVERLAP_NEVER, OVERLAP_FOUND, OVERLAP_UNDECIDED } Overlap;

/* Whether values can be chosen such that the sum of all terms is from low to high. OVERLAP_UNDECIDED: that takes too
 * long, or the numbers are too large. */
Overlap overlap_sum(OverlapTerm *terms, unsigned count, __int128 low, __int128 high);

/* `bytes` from `begin` on, and again at each level: counts[i] times in all, strides[i] apart. */
typedef struct Piece {
    int64_t begin, bytes;
    unsigned levels;
    int64_t strides[OVERLAP_LEVELS], counts[OVERLAP_LEVELS];
} Piece;

/* Runs as pieces, in the arena; as few as are seen at once. */
Piece *overlap_pieces(Arena *arena, const Bytes *bytes, uint32_t *count);
/* Puts pieces together that follow each other in even steps. Returns how many are left. */
uint32_t overlap_fold(Piece *pieces, uint32_t count);
/* The first byte, and the one behind the last. */
Run overlap_hull(const Piece *piece);

/* A piece in the CTAs of a box: it lies by[a] further for each step from low[a] along axis a. */
typedef struct Family {
    const Piece *piece;
    int64_t by[OVERLAP_AXES], low[OVERLAP_AXES], high[OVERLAP_AXES];
} Family;

/* Whether some CTA of the one and another CTA of the other touch the same byte; `same`: both have the same box, of
 * which a CTA is not another than itself. OVERLAP_FOUND: they are *at and *other. */
Overlap overlap_families(const Family *left, const Family *right, bool same, int64_t at[OVERLAP_AXES],
                         int64_t other[OVERLAP_AXES]);
/* Whether one CTA touches the same byte with both, which have the same box. */
Overlap overlap_within(const Family *left, const Family *right);

#endif
