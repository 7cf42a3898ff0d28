/* The half of a proof about global memory: so far, that a kernel which writes none is as good as any. */
#include "check/prove/prove.h"

#include "model/effect/effect.h"

void prove_global(Prover *prover) {
    for (const Op *op = prover->function; op; op = op_next_in_walk(op, prover->function)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(prover->module, op, effects);
        for (unsigned i = 0; i < count; i++)
            if (effect_is_access(&effects[i]) && effects[i].space == SPACE_GLOBAL && effects[i].verb != EFFECT_READ) {
                proof_open(prover, op, "global memory", "writes to global memory are not looked at");
                return;
            }
    }
}
