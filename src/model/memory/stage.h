/* How far the compiler has come with a module, and which release it may be of: what the module says itself, and the
 * pass log that it stood in. docs/checking.md has the table. */
#ifndef MODEL_MEMORY_STAGE_H
#define MODEL_MEMORY_STAGE_H

#include "ir/ir.h"
#include "model/target/release.h"

/* Whether the compiler is past a pass. */
typedef enum Past { PAST_NOT, PAST_YES, PAST_UNKNOWN } Past;

/* ... that which inserts thread barriers. */
Past stage_barriers(Module *module, const Op *function);
/* ... that which makes CTAs of a cluster meet, after their mbarriers are set up and at the end. Up to Triton 3.7 there
 * is none: what is there is all there will be. */
Past stage_meetings(Module *module, const Op *function);
/* ... the same in Meta's fork, where the programs of a grid are the CTAs of clusters; `made` is the module's mark of
 * what was inserted: "tlx.cluster_sync_kernel_init", "tlx.cluster_sync_kernel_cleanup". */
Past stage_fork_meetings(const Op *function, const char *made);
/* ... that which makes products of the tensor cores wait for themselves where the kernel commits none. Gluon's
 * compilation has no such pass. */
Past stage_mmas(Module *module, const Op *function);
/* Whether the layout of mbarriers is that of Triton 3.6, which says of each CTA's own that all share it: a copy of one
 * CTA could not signal such a one. */
bool stage_own_barriers(Module *module, const Op *function);

/* Whether Meta's fork compiled the module: it marks every one. */
bool stage_is_fork(const Op *function);
/* Whether a module of clusters shows that it is of Triton 3.9 or later: only these say how many CTAs a product takes
 * before memory is placed. */
bool stage_is_from_39(const Op *function);
/* Whether all threads meet before an atomic that releases, and after one that acquires: Triton 3.9 lowers it so, 3.8
 * does not. `releases`: of Triton that lower the IR; 0: not named, then by what the module shows. */
Past stage_atomics(const Module *module, const Op *function, ReleaseSet releases);
/* Whether columns of source locations are counted from 1, as Triton does from 3.8 on; else from 0. */
bool stage_columns_from_one(Module *module);

#endif
