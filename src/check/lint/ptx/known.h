/* What is known of the values of one function, in the words that rules ask in.
 *
 * A page over src/ptx/value, which has names of its own for memories: nothing else here includes it. */
#ifndef CHECK_LINT_PTX_KNOWN_H
#define CHECK_LINT_PTX_KNOWN_H

#include "ptx/flow/flow.h"

typedef struct Known Known;

/* NULL, with one sentence, if it would take more than `budget` bytes. */
Known *known_open(const PtxFlow *flow, size_t budget, const char **problem);
void known_close(Known *known);

/* Whether an operand has the same value in all threads, at every launch, and which. */
bool known_number(const Known *known, uint32_t operand, int64_t *value);
/* Whether an address is no multiple of `step`, a power of two, in any lane. */
bool known_off(const Known *known, uint32_t statement, uint32_t operand, uint64_t step);
/* Whether each lane of a warp has a value of its own; whether all have the same. */
bool known_different(const Known *known, uint32_t operand);
bool known_uniform(const Known *known, uint32_t operand);
/* Whether a block is run by whole warps only. */
bool known_whole(const Known *known, uint32_t block);

#endif
