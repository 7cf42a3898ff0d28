/* Rings of barriers and buffers: how many slots a loop goes through, one a turn. */
#ifndef MACHINE_TILE_LAUNCH_RINGS_H
#define MACHINE_TILE_LAUNCH_RINGS_H

#include "machine/tile/launch/solve.h"
#include "model/effect/effect.h"

/* The slots of the largest ring that ops in the loop cycle through, those in loops inside of it aside unless these run
 * as often at every launch; a barrier by itself is a ring of one. 0: there is none. */
uint32_t ring_in_loop(Solver *solver, Module *module, const Op *loop);
/* The same of a loop of blocks (block_loops.h). */
uint32_t ring_in_blocks(Solver *solver, Module *module, const Block *head);
/* The slots that a view chooses one of by something that is no constant; 0: it does not. */
uint32_t slots_viewed(Module *module, const Op *op, const Effect *view);

#endif
