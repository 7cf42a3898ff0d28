/* Gear `slice`: which instructions of a kernel need not be run, since nothing that decides anything depends on them.
 *
 * What decides: guards, branches, addresses, what barriers, copies and groups are told (counts, phases, coordinates),
 * and the masks of lanes. All else is data. What is loaded is needed if something that decides is computed from it;
 * then what is stored to that memory is needed, too, by state space. Kernels that call functions of their own, or add
 * with carries, are run whole. */
#ifndef EMULATE_PTX_SLICE_H
#define EMULATE_PTX_SLICE_H

#include "emulate/ptx/program.h"

/* Sets `skipped` and `data` of the code. False, with a sentence, if that would take more than `budget` bytes. */
bool ptx_slice(PtxProgram *program, size_t budget, const char **problem);
/* Of each value of a flow: whether something that decides is computed from it, in an instruction that counts. */
bool *ptx_slice_needed(const PtxFlow *flow, const PtxValues *values, const bool *counts, Arena *arena);

#endif
