/* Writes that are the same in every program of a launch.
 *
 * They are if all programs go the same way and have the same numbers in memory of their own: nothing but numbers in
 * registers tells which program it is, or what others do (program ids, clocks, assembly that names registers), and
 * these go into no branch, loop, buffer or barrier, only into addresses and values of global memory. Atomics, calls and
 * flags are not there. What is read from a buffer was written before: something on each way to there has filled it; and
 * what a masked load leaves out is a number.
 *
 * Which of two accesses to shared or tensor memory comes first is not looked at: without a race it is the same in each
 * program. Nor is which global memory is read: what another program writes there is a race, too. */
#ifndef MODEL_MEMORY_ALIKE_H
#define MODEL_MEMORY_ALIKE_H

#include "ir/ir.h"

/* Whether each program makes these writes to global memory once at most, to the same places, and writes the same. Not
 * for those by TMA, which are still under way when another program writes. */
bool op_is_alike(Module *module, const Op *function, const Op *write);

#endif
