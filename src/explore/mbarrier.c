/* What arrivals and bytes make of an mbarrier's phase. */
#include "explore/mbarrier.h"

MbarrierOutcome mbarrier_bring(MbarrierTally *tally, const MbarrierChange *change, int64_t *wrong) {
    int64_t total;
    *wrong = change->arrivals;
    if (change->arrivals > tally->pending || change->drops > tally->count)
        return MBARRIER_UNDERFLOW;
    bool overflows = __builtin_add_overflow(tally->bytes, change->bytes, &total);
    *wrong = total;
    if (overflows || total > MBARRIER_MOST_BYTES || total < -MBARRIER_MOST_BYTES)
        return MBARRIER_OUT_OF_RANGE;
    tally->pending -= (uint32_t)change->arrivals;
    tally->count -= (uint32_t)change->drops;
    tally->bytes = total;
    return MBARRIER_GOES_ON;
}

bool mbarrier_completes(MbarrierTally *tally) {
    if (tally->pending || tally->bytes)
        return false;
    tally->pending = tally->count;
    return true;
}
