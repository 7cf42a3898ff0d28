/* What the rules about mbarriers, clusters and limits share: who signals which barrier, and in whose CTA. */
#ifndef CHECK_LINT_TILE_SIGNALS_H
#define CHECK_LINT_TILE_SIGNALS_H

#include "check/lint/tile/internal.h"
#include "model/flow/origin.h"

/* Whether the effect is one on an mbarrier. Tokens and arefs stand for barriers that are not there yet. */
bool is_signal(Module *module, const Effect *effect);
/* Whether it may reach into another CTA of the cluster. */
bool effect_is_remote(const Lint *lint, uint32_t ctas, const Effect *effect);

/* Whether a memory descriptor begins at a multiple of `alignment` bytes. */
Tribool is_aligned(const Lint *lint, const Value *memdesc, int64_t alignment);

/* ---- Parts of the passes, one a file ---- */

/* Which signals go together: predicates, bytes, deps, waits that are not there. */
void lint_pairs(Lint *lint);
/* Who of a cluster may touch whom, and when. */
void lint_cluster(Lint *lint);
/* Barriers that not all threads come to, and requests that whose answer is not looked at. */
void lint_conditions(Lint *lint);
/* Registers of partitions, named barriers. */
void lint_partitions(Lint *lint);
/* Grids that overlap, and clusters that are launched by others. */
void lint_grid(Lint *lint);

#endif
