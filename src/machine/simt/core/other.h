/* A run with other data than that of the launch: whether two threads that write the same do so whatever the data is.
 *
 * Words of the launch's buffers that decide nothing hold what stands for unknown data: for each word something else. So
 * two values are the same if they are made of the same data in the same way, and not because the data is zero. What
 * decides where threads go and what they access stays, so the run goes as it did. A write is silent (PtxEvent.changes)
 * if it leaves what stands there. Registers, local and shared memory that nothing has written are 0, or differ by
 * thread: their values are indeterminate, so that nothing makes two of them equal. */
#ifndef MACHINE_SIMT_CORE_OTHER_H
#define MACHINE_SIMT_CORE_OTHER_H

#include "machine/simt/core/machine.h"

enum { OTHER_WORD = 4, OTHER_SEEDS = 2 };

typedef struct PtxOther {
    /* Of each buffer of the launch, for each of its words: whether it stays; NULL: none does. NULL: all data stays. */
    uint8_t **kept;
    uint32_t seed; /* which data: 0 has numbers from 1 to 2, as floats; 1 also negative, small and large ones */
    /* Of each code: it stores what is made of data. Where such a value is known all the same (padding, or data that
     * decides) nothing says that it is the same with other data: it counts as a change. NULL: it does not. */
    const bool *data;
    bool unset; /* what nothing has written differs by thread */
} PtxOther;

/* What a run reads that decides something: an observer. `kept` is filled; the arena is for it. */
typedef struct PtxDeciding {
    const PtxMachine *machine;
    Arena *arena;
    const bool *decides; /* of each code (slice.h) */
    uint8_t **kept;
} PtxDeciding;
void ptx_deciding_observe(void *deciding, const PtxEvent *event); /* a PtxObserve */

#endif
