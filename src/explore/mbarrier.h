/* The arithmetic of an mbarrier's phase, which is the same in both machines (PTX ISA 9.7.15.16): a phase is complete
 * when no arrival is pending and the transaction bytes are zero; then the count is pending again. */
#ifndef EXPLORE_MBARRIER_H
#define EXPLORE_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* What the hardware counts up to: arrivals, and bytes either way. */
enum { MBARRIER_MOST_ARRIVALS = (1 << 20) - 1, MBARRIER_MOST_BYTES = (1 << 20) - 1 };

typedef struct MbarrierTally {
    uint32_t count, pending; /* arrivals of each phase; those that this one still waits for */
    int64_t bytes;           /* expected and not delivered */
} MbarrierTally;

typedef enum MbarrierOutcome {
    MBARRIER_GOES_ON,
    MBARRIER_UNDERFLOW,    /* more arrivals than are pending */
    MBARRIER_OUT_OF_RANGE, /* more bytes than the hardware counts */
} MbarrierOutcome;

typedef struct MbarrierChange {
    int64_t arrivals, bytes; /* bytes: to come; negative: delivered */
    int64_t drops;           /* arrivals that are not expected from the next phase on */
} MbarrierChange;

/* Arrivals and bytes come. What is wrong changes nothing; *wrong is then the arrivals, or the bytes there would be. */
MbarrierOutcome mbarrier_bring(MbarrierTally *tally, const MbarrierChange *change, int64_t *wrong);
/* Whether the phase is complete; the next one then begins. */
bool mbarrier_completes(MbarrierTally *tally);
/* Whether it is a count that an mbarrier can have, or an arrive bring. */
static inline bool mbarrier_counts(int64_t arrivals) {
    return arrivals >= 0 && arrivals <= MBARRIER_MOST_ARRIVALS;
}

#endif
