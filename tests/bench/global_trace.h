/* A trace to measure checkers of global memory with: CTAs that share what they read and hand on what they write.
 *
 * In each round a CTA reads its rows of A and all of B, writes its part of C, and arrives at a barrier of the grid;
 * then it reads the part of its neighbor, and arrives again. All in pieces of some elements of four bytes. */
#ifndef TESTS_BENCH_GLOBAL_TRACE_H
#define TESTS_BENCH_GLOBAL_TRACE_H

#include <stdint.h>

enum {
    GLOBAL_CTAS = 8,
    GLOBAL_PART = 4096, /* elements */
    GLOBAL_A = 0,       /* where they begin, in elements */
    GLOBAL_B = GLOBAL_A + GLOBAL_CTAS * GLOBAL_PART,
    GLOBAL_C = GLOBAL_B + GLOBAL_PART,
    GLOBAL_ELEMENTS = GLOBAL_C + GLOBAL_CTAS * GLOBAL_PART,
    GLOBAL_ROUND = 4 * GLOBAL_PART * GLOBAL_CTAS, /* elements that are accessed in a round */
};

/* What one CTA does in half a round: each access is given to `access`, piece by piece. */
typedef void GlobalAccess(void *context, uint32_t cta, int is_write, uint32_t begin, uint32_t count);

static inline void global_part(uint32_t cta, int is_write, uint32_t begin, uint32_t piece, GlobalAccess *access,
                               void *context) {
    for (uint32_t at = 0; at < GLOBAL_PART; at += piece)
        access(context, cta, is_write, begin + at, piece);
}

static inline void global_first_half(uint32_t cta, uint32_t piece, GlobalAccess *access, void *context) {
    global_part(cta, 0, GLOBAL_A + cta * GLOBAL_PART, piece, access, context);
    global_part(cta, 0, GLOBAL_B, piece, access, context);
    global_part(cta, 1, GLOBAL_C + cta * GLOBAL_PART, piece, access, context);
}

static inline void global_second_half(uint32_t cta, uint32_t piece, GlobalAccess *access, void *context) {
    global_part(cta, 0, GLOBAL_C + (cta + 1) % GLOBAL_CTAS * GLOBAL_PART, piece, access, context);
}

#endif
