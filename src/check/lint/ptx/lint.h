/* What the hardware does not allow, read off PTX: the engine of `weir lint K.ptx`.
 *
 * A rule is about one kernel, and tells only what holds for every launch: an address that is wrong in all lanes, a wait
 * that no path leads to. What an instruction does is what the effects of its row say (model/effect/ptx_column.h); one
 * without a row, or a call of what has no body here, makes the verdict incomplete, and keeps rules about something that
 * is missing from being told. */
#ifndef CHECK_LINT_PTX_LINT_H
#define CHECK_LINT_PTX_LINT_H

#include "finding/finding.h"
#include "model/target/target.h"
#include "ptx/ptx.h"

/* Adds what it finds in a function that has a body to the verdict; verdict_close is the caller's. `first`: it is the
 * first of the module's kernels, and functions that are no kernels are looked at with it. `target`: NULL, that of the
 * module. */
void ptx_lint(PtxModule *module, uint32_t function, bool first, const Target *target, Verdict *verdict);

#endif
