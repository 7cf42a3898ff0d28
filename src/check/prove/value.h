/* From values of the IR to quantities: of a tensor, what its element is at the coordinates of a lane. */
#ifndef CHECK_PROVE_VALUE_H
#define CHECK_PROVE_VALUE_H

#include "check/prove/prove.h"
#include "model/number/evaluate.h"

/* What each element is, with ATOM_LANE for its coordinates. A pointer is the parameter that it comes from and the bytes
 * that were added. */
Quantity prover_element(Prover *prover, const Value *value);

/* `left` <= 0: part of what has to hold where an access is made. */
typedef struct ProofGuard {
    Quantity left;
} ProofGuard;

enum { MOST_GUARDS = 24 };
typedef struct ProofGuards {
    ProofGuard all[MOST_GUARDS];
    uint32_t count;
} ProofGuards;

/* Adds what holds where the condition, of a tensor of them that of the lane, is `wanted`; what is not understood is
 * left out. */
void prover_guards(Prover *prover, const Value *condition, bool wanted, ProofGuards *guards);

#endif
