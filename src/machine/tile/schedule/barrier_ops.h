/* Which ops of a program may wait for an mbarrier, or arrive on it: read off the IR, for explanations of a run.
 *
 * The slots of a ring are picked at run time, so that an op may be on any of them; but an array of barriers may be many
 * that have nothing to do with each other, each picked by a constant. */
#ifndef MACHINE_TILE_SCHEDULE_BARRIER_OPS_H
#define MACHINE_TILE_SCHEDULE_BARRIER_OPS_H

#include "machine/tile/step/machine.h"

enum { NO_BARRIER = UINT32_MAX, NO_PC = UINT32_MAX, ANY_STRAND = UINT32_MAX };

/* The barriers that an effect may be on. */
typedef struct BarrierRange {
    bool any;
    uint32_t storage;
    int64_t begin, end; /* bytes of it */
} BarrierRange;
BarrierRange effect_barriers(const Program *program, const Effect *effect);
bool range_has(const Machine *machine, const BarrierRange *range, uint32_t barrier);
bool ranges_overlap(const BarrierRange *range, const BarrierRange *other);
/* One of them, of the first CTA; NO_BARRIER: none of them was ever used. */
uint32_t range_first(const Machine *machine, const BarrierRange *range);

/* Whether it arrives, or delivers bytes. */
bool effect_signals(const Effect *effect);
/* The slots of the ring that it is one of, or the barrier alone. */
BarrierRange barrier_channel(const Machine *machine, uint32_t barrier);
/* "%full[1]" if it is one of its own, "%ring" if it is a slot of a ring. */
void channel_name(const Machine *machine, uint32_t barrier, Text *to);

uint32_t strand_end(const Program *program, uint32_t strand);
/* The instruction by which the strand waits for the barrier, or for another of its ring; NO_PC: it never does. */
uint32_t strand_waits(const Machine *machine, uint32_t strand, uint32_t barrier);
/* ... by which it arrives there: the first one from `pc` on, or else the first one. */
uint32_t strand_arrives(const Machine *machine, uint32_t strand, uint32_t barrier, uint32_t pc);

#endif
