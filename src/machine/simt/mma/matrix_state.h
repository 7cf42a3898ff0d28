/* What the families of MMAs keep of a CTA: PtxCta.tensor. */
#ifndef MACHINE_SIMT_MMA_MATRIX_STATE_H
#define MACHINE_SIMT_MMA_MATRIX_STATE_H

#include "machine/simt/sync/barriers.h"

struct WarpMma;

/* Of a warp: its wgmma that are in flight, the newest first; of each lane the sequence of the last MMA, copy, shift or
 * commit of tensor memory that it issued, 0 if none. */
typedef struct WarpMatrix {
    struct WarpMma *newest;
    uint32_t issued[PTX_LANES];
} WarpMatrix;

typedef struct CtaMatrix {
    WarpMatrix *warps;
    struct TensorMemory *memory; /* tensor.c; NULL: nothing was allocated yet */
} CtaMatrix;

/* Made when it is asked for first. */
CtaMatrix *cta_matrix(PtxMachine *machine, PtxCta *cta);

#endif
