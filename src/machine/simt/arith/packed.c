/* Two numbers in one register: each half by itself. */
#include "machine/simt/arith/compute.h"

static void packed_halves(Lanes *out, const Lanes *const in[], const Compute *how) {
    Lanes low[COMPUTE_OPERANDS], high[COMPUTE_OPERANDS], low_result, high_result;
    const Lanes *lows[COMPUTE_OPERANDS], *highs[COMPUTE_OPERANDS];
    unsigned shift = how->type.bits;
    uint64_t mask = (UINT64_C(1) << shift) - 1;
    for (unsigned k = 0; k < how->count; k++) {
        const uint64_t *from = in[k]->at;
        EACH_LANE {
            low[k].at[i] = from[i] & mask;
            high[k].at[i] = from[i] >> shift;
        }
        lows[k] = &low[k], highs[k] = &high[k];
    }
    how->each(&low_result, lows, how);
    how->each(&high_result, highs, how);
    EACH_LANE out->at[i] = low_result.at[i] | high_result.at[i] << shift;
}

ComputeRow *packed_row(Compute *how, ComputeRow *each) {
    how->each = each;
    return packed_halves;
}
