/* For which threads of a CTA a condition may hold, whatever data and arguments are: by their numbers, through `and`,
 * `or`, `not`, comparisons with 0 and choices. */
#ifndef MACHINE_SIMT_DECODE_GUARDS_H
#define MACHINE_SIMT_DECODE_GUARDS_H

#include "machine/simt/decode/program.h"

typedef struct PtxGuards {
    const PtxFlow *flow;
    const PtxValues *values;
    uint32_t warps; /* of a CTA: a set of threads is so many masks of lanes */
} PtxGuards;

/* Threads for which the operand, a predicate or a number, may be other than 0 (`holds`), or 0. */
void ptx_guard_may(const PtxGuards *guards, const PtxOperand *operand, bool holds, uint32_t *threads);

#endif
