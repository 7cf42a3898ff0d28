/* Threads of launches that were not given: where would they go?
 *
 * A scout runs the kernel on the machine with 32 lanes that are threads of 32 different launches: each lane has its own
 * arguments, grid, block and numbers. Only what a thread computes from these is run. Memory, barriers and what other
 * lanes have give nothing that is known. So one run says of 32 launches which ways conditions go in them, by the
 * machine's own instructions; and how far comparisons are from going the other way, by which such a launch is sought:
 * along each number, as if the distance were linear in it, then at usual numbers, then at random. */
#ifndef MACHINE_SIMT_CORE_SCOUT_H
#define MACHINE_SIMT_CORE_SCOUT_H

#include "machine/simt/core/machine.h"

/* Numbers of a candidate: the shape of the launch, which thread is meant, and behind these one for each parameter. */
enum { SCOUT_GRID = 0, SCOUT_BLOCK = 3, SCOUT_CTA = 6, SCOUT_THREAD = 9, SCOUT_NUMBERS = 12 };

typedef struct PtxScout PtxScout;

/* `like`: a launch that was chosen, which the others resemble. `fixed`: what must not change, or NULL. `budget`:
 * instructions of all its runs. NULL: there is nothing to be found out. Memory: the arena, and a machine
 * (ptx_scout_free). */
PtxScout *ptx_scout(Arena *arena, const PtxProgram *program, const PtxLaunch *like, const Launch *fixed,
                    uint64_t budget);
void ptx_scout_free(PtxScout *scout);
/* How many numbers a candidate has. */
uint32_t ptx_scout_count(const PtxScout *scout);
/* Whether launches that are sought differ in that number. */
bool ptx_scout_is_open(const PtxScout *scout, unsigned number);
/* Threads of that launch are sent out: what they come to is known from then on. */
void ptx_scout_send(PtxScout *scout, const PtxLaunch *launch);
/* A launch and a thread of it that goes that way at a condition, a guard or a choice: ptx_scout_count numbers. NULL:
 * none was found. */
const int64_t *ptx_scout_find(PtxScout *scout, uint32_t code, bool way);
/* Whether that candidate for the condition has a size that is 0 or less: a number that the condition compares as more
 * or less than another, and not as equal. */
bool ptx_scout_empty(const PtxScout *scout, uint32_t code, const int64_t *candidate);
/* The block that arrays in shared memory are made for, by how threads index them; false: they do not tell. */
bool ptx_scout_block(PtxScout *scout, uint32_t block[3]);
/* Whether no thread of any block goes that way, whatever else the launch is: the condition depends on the thread and
 * its block alone, and all were tried. */
bool ptx_scout_never(PtxScout *scout, uint32_t code, bool way);

/* ---- For the machine ---- */

/* An instruction, for those lanes of the group. */
PtxStep ptx_scout_step(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes);
/* The special registers that say who a thread is: false, if it is none of those. `first`: SCOUT_... */
void ptx_scout_special(const PtxMachine *machine, unsigned first, unsigned axis, Lanes *values);

#endif
