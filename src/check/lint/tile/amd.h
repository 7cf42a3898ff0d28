/* What the parts of the AMD rules share. */
#ifndef CHECK_LINT_TILE_AMD_H
#define CHECK_LINT_TILE_AMD_H

#include "check/lint/tile/internal.h"
#include "check/port/counters.h"

/* What threads read of LDS; NULL: nothing. */
const Value *lds_read(Lint *lint, const Op *op);

/* ---- amd_waits.c ---- */
void lint_amd_waits(Lint *lint);
/* ---- amd_copies.c ---- */
void lint_amd_copy(Lint *lint, const Op *op);
void lint_amd_move(Lint *lint, const Op *op);
/* ---- amd_barriers.c ---- */
void lint_amd_barriers(Lint *lint);

#endif
