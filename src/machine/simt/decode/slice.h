/* `--values needed`: which instructions of a kernel need not be run, since nothing that decides anything depends on
 * them.
 *
 * What decides: guards, branches, addresses, what barriers, copies and groups are told (counts, phases, coordinates),
 * and the masks of lanes. All else is data. What is loaded is needed if something that decides is computed from it;
 * then what is stored to that memory is needed, too, by state space. Kernels that call functions of their own, or add
 * with carries, are run whole. */
#ifndef MACHINE_SIMT_DECODE_SLICE_H
#define MACHINE_SIMT_DECODE_SLICE_H

#include "machine/simt/decode/program.h"

/* Of each code, whether what it computes or loads decides something. What cannot be decided does. */
void ptx_slice_decides(PtxProgram *program, size_t budget, bool *decides);
/* Sets `skipped` and `data` of the code. False, with a sentence, if that would take more than `budget` bytes. */
bool ptx_slice(PtxProgram *program, size_t budget, const char **problem);
/* Of each value of a flow: whether something that decides is computed from it, in an instruction that counts. */
bool *ptx_slice_needed(const PtxFlow *flow, const PtxValues *values, const bool *counts, Arena *arena);

/* Whether launches differ in what decides, or in which bytes are accessed: a parameter, %ctaid, the size of the CTA
 * where .reqntid does not say it, data. Where a parameter points does not count. `several`: launches of several CTAs
 * were looked at; else what is written to global memory is open. *line: of the first such instruction; 0: it is not one
 * alone, or was not found out. */
bool ptx_open(const PtxProgram *program, size_t budget, bool several, uint32_t *line);

#endif
