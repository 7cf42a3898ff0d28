/* WAITS: what of AMD's counters, or of what becomes one there, an op waits for, read off its row.
 *
 *     WAITS("load load store store ds ds")
 *
 * A counter of the list below, and the attribute that holds how many may be left; then the next. */
#ifndef IR_WAITS_H
#define IR_WAITS_H

#include "ir/format.h"

/* id, the word, what is counted */
#define WAIT_COUNTERS(M)                                                               \
    M(GROUPS, "groups", "groups of copies between memory and LDS that were committed") \
    M(MOVES, "moves", "ops of the tensor data mover, or TMA stores")                   \
    M(COPIES, "copies", "instructions that copy between memory and LDS")               \
    M(LOAD, "load", "instructions of loadcnt, once vmcnt")                             \
    M(STORE, "store", "instructions of storecnt")                                      \
    M(DS, "ds", "instructions of dscnt, once lgkmcnt")                                 \
    M(ASYNC, "async", "instructions of asynccnt")                                      \
    M(TENSOR, "tensor", "instructions of tensorcnt")                                   \
    M(BITS, "bits", "several, which the number holds in bits of its own")

typedef enum WaitCounter {
    WAITS_NOTHING,
#define COUNTER(id, word, what) WAITS_##id,
    WAIT_COUNTERS(COUNTER)
#undef COUNTER
        WAIT_COUNTER_COUNT
} WaitCounter;

enum { MAX_WAITS = 3 };
typedef struct WaitEntry {
    WaitCounter counter;
    SlotRef left; /* an attribute */
} WaitEntry;

#endif
