/* Which elements of a tensor of integers or pointers lie beside each other along one dimension.
 *
 * Counted from the first element of each aligned run: `contiguous` elements that go up by one, `constant` elements that
 * are the same, and `divisor`, which divides the first of each run. All are lower bounds, and powers of two; those of
 * pointers count in elements, their divisor in bytes. This is what decides how many elements one instruction moves. */
#ifndef CHECK_FACTS_CONTIGUITY_H
#define CHECK_FACTS_CONTIGUITY_H

#include "check/facts/facts.h"

typedef struct ContiguityRuns {
    int64_t contiguous, constant, divisor;
} ContiguityRuns;

enum { RUNS_MOST = 1 << 20 /* no number is larger */ };

typedef struct Contiguity Contiguity;

Contiguity *contiguity_create(Arena *arena, Module *module, Facts *facts);
/* Of a tensor, or of a scalar, which is as if it were spread. */
ContiguityRuns runs_of(Contiguity *contiguity, const Value *value, unsigned dim);

#endif
