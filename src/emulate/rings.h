/* Rings of barriers and buffers: how many slots a loop goes through, one a turn. */
#ifndef EMULATE_RINGS_H
#define EMULATE_RINGS_H

#include "emulate/solve.h"

/* The slots of the largest ring that ops in the loop go round, those in loops inside of it aside unless these run as
 * often at every launch; a barrier by itself is a ring of one. 0: there is none. */
uint32_t ring_in_loop(Solver *solver, Module *module, const Op *loop);

#endif
