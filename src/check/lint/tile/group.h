/* What the passes of the group family share: cp.async, wgmma, tensor memory, atomics. */
#ifndef CHECK_LINT_TILE_GROUP_H
#define CHECK_LINT_TILE_GROUP_H

#include "check/lint/tile/paths.h"
#include "model/flow/partition.h"

void lint_copies(Lint *lint);
void lint_mmas(Lint *lint);
void lint_tensor(Lint *lint);
void lint_tensor_order(Lint *lint, const Flow *flow);
void lint_atomics(Lint *lint);

/* Why it is wrong and what fixes it, of a finding that may have been told already. */
void lint_explain(Finding *finding, const char *space, const char *why, const char *fix);
/* A product or copy of the tensor cores that have their own memory: the first access that they make; else NULL. */
const Effect *tensor_access(Lint *lint, const Op *op);
/* The warp of the CTA with which the partition of `op` starts; -1: not said. */
int64_t partition_first_warp(const Op *op);
/* "partition1", "default", or "the kernel" where there are no partitions: for messages. */
const char *partition_name(Lint *lint, const Op *op);

#endif
