/* Values as sums: how much two of them are apart, where the launch alone says it.
 *
 * A value of a kernel is taken apart at its additions: into parameters of the kernel, a number, and roots, which are
 * values that are no sums. Two values with the same roots differ by parameters and a number, in every thread, and
 * modulo 2^width exactly: code that knows one of them, and the launch, knows the other. Both have to be read in one
 * execution of one block, so that a root is the same value for both. */
#ifndef PTX_VALUE_SUM_H
#define PTX_VALUE_SUM_H

#include "ptx/value/value.h"

enum { PTX_SUM_MOST = 4 };

typedef struct PtxTerm {
    uint32_t variable, offset; /* bytes of a parameter of the kernel, as many as the value has */
    bool subtracted;
} PtxTerm;

typedef struct PtxSum {
    uint8_t width; /* 32 or 64 */
    uint8_t root_count, term_count;
    uint32_t roots[PTX_SUM_MOST]; /* values of the flow, in their order */
    PtxTerm terms[2 * PTX_SUM_MOST];
    uint64_t constant;
} PtxSum;

/* The sum that a value of the flow is; it may be a root itself. */
PtxSum ptx_sum_of(const PtxValues *values, uint32_t value);
/* b - a, without roots; false: it is not known. */
bool ptx_sum_apart(const PtxSum *a, const PtxSum *b, PtxSum *apart);

#endif
