/* What the machine of PTX keeps for CTA symmetry (explore/symmetry.h), beside a run of one CTA.
 *
 * Each register has an affine form in %ctaid, the same in all lanes; or none, as what is loaded has, but for what
 * threads wrote to shared memory that is the same in all CTAs. Conditions, indices that must not wrap, and addresses that must stay in their buffer make the box of CTAs smaller for which the
 * run speaks. Where something decides that has no form, the run speaks for its own CTA alone.
 *
 * Not for clusters of several CTAs, nor for what synchronizes CTAs by global memory: both are run whole. */
#ifndef MACHINE_SIMT_CORE_SYMMETRY_H
#define MACHINE_SIMT_CORE_SYMMETRY_H

#include "explore/footprint.h"
#include "machine/simt/core/machine.h"

typedef struct PtxSymmetry PtxSymmetry;

/* For a machine; its memory is of the arena. `strong`: atomics and other strong accesses may be there, as long as no
 * order can come of them. NULL: the kernel, or the grid, is none for which it is kept. */
PtxSymmetry *ptx_symmetry_new(Arena *arena, const PtxMachine *machine, bool strong);
/* Before a CTA runs alone: the box of which it is the first, and where its accesses to global memory go. `narrows`:
 * quotients, remainders and minima make the box so small that they have a form; else they have one only where the box
 * may stay as it is, which is enough where they are data and decide nothing. */
void ptx_symmetry_start(PtxSymmetry *symmetry, Symmetry *box, Footprints *footprints, bool narrows);
/* Before an instruction is run by lanes of a group, and for a guard that was looked at. */
void ptx_symmetry_step(PtxSymmetry *symmetry, PtxMachine *machine, PtxGroup *group, const PtxCode *code,
                       uint32_t lanes);
/* Something that the machine tells: accesses to global memory, and operations that make some later. */
void ptx_symmetry_event(PtxSymmetry *symmetry, const PtxEvent *event);
/* Where the run first did something that makes it speak for its own CTA alone; NULL: nowhere. */
const PtxCode *ptx_symmetry_alone(const PtxSymmetry *symmetry);

#endif
