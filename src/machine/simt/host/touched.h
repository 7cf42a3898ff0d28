/* What a launch touches of this process's memory, or of a GPU's in a recording, byte by byte; and of a dependent
 * launch, what it touches before it has waited for the launch before it. One observer for each machine that runs CTAs
 * of the launch. */
#ifndef MACHINE_SIMT_HOST_TOUCHED_H
#define MACHINE_SIMT_HOST_TOUCHED_H

#include "machine/simt/core/machine.h"

enum { TOUCHED_READ, TOUCHED_WRITE, TOUCHED_STRONG_READ, TOUCHED_STRONG_WRITE, TOUCHED_WAYS };

/* Bytes that are touched one way: `count` pieces, each `stride` behind the one before it. */
typedef struct TouchedBytes {
    uint64_t address, bytes, stride, count;
    uint8_t way;
    bool early;
} TouchedBytes;

typedef struct Touched Touched;

/* NULL: there is no memory. It is given to the machine: touched_observe, and this as the observer. */
Touched *touched_new(const PtxMachine *machine, bool dependent);
void touched_free(Touched *touched);
void touched_observe(void *touched, const PtxEvent *event);
/* Nothing was touched: the launch begins again. */
void touched_clear(Touched *touched);
/* What other machines' CTAs touch is touched, too. */
void touched_join(Touched *touched, const Touched *other);

/* What was touched, way by way in the order of memory; the caller frees it. NULL: there is no memory, or some is
 * missing. */
TouchedBytes *touched_bytes(const Touched *touched, uint32_t *count);
/* Of a dependent launch: whether some thread of each of `ctas` CTAs has waited, and did so before the CTA let the next
 * launch begin. */
typedef enum TouchedWaits { TOUCHED_NO_WAIT, TOUCHED_WAIT, TOUCHED_WAIT_FIRST } TouchedWaits;
TouchedWaits touched_waits(const Touched *touched, uint32_t ctas);
/* ... whether some CTA let the next launch begin before it ended. */
bool touched_triggers(const Touched *touched);

#endif
