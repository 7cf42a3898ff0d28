/* All but global memory, of kernels in which nothing synchronizes and nothing is asynchronous: there one agent runs ops
 * one after the other, loops that count end, and nothing waits. Thread barriers are looked at over all paths elsewhere
 * (check/membar). */
#include "check/prove/prove.h"

#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/effect/inline_ptx.h"

/* Whether the effect is more than an access of the op's own time. */
static bool synchronizes(const Effect *effect) {
    return verb_is(effect->verb, VERB_SYNCS | VERB_BARRIER) || effect->verb == EFFECT_ANYTHING ||
           effect->done != DONE_NOW || effect->expected || effect->repeats;
}

/* Whether the op may run something again and again without counting, or several agents at once. */
static bool loops_freely(const Op *op) {
    switch (op_control(op)) {
    case CONTROL_NONE:
    case CONTROL_LOOP:
    case CONTROL_BRANCH:
    case CONTROL_SWITCH:
    case CONTROL_ONCE:
    case CONTROL_GUARD:
    case CONTROL_COMBINE:
    case CONTROL_FUNCTION:
    case CONTROL_MODULE:
    case CONTROL_YIELD:
    case CONTROL_RETURN:
        return false;
    default:
        return true;
    }
}

void prove_sync(Prover *prover) {
    for (const Op *op = prover->function; op; op = op_next_in_walk(op, prover->function)) {
        Effect effects[EFFECTS_MOST];
        unsigned count = effects_of(prover->module, op, effects);
        if (loops_freely(op) || is_inline_ptx(op)) {
            proof_open(prover, op, "control", "what it does to the order of things is not looked at");
            return;
        }
        for (unsigned i = 0; i < count; i++)
            if (synchronizes(&effects[i])) {
                proof_open(prover, op, "synchronization", "synchronization is not looked at");
                return;
            }
    }
}
