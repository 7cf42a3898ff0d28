/* The families of instructions: each looks whether an instruction is one of its own, by the words of its row, and says
 * how it is run. They are asked in this order, and the first that takes it has it.
 *
 * A family sets `run`, `detail` and `visible` of the code. The arguments are there already. */
#ifndef MACHINE_SIMT_DECODE_PREPARE_H
#define MACHINE_SIMT_DECODE_PREPARE_H

#include "machine/simt/decode/program.h"
#include "model/effect/ptx_column.h"

/* What a family is told of an instruction. */
typedef struct PtxPrepare {
    PtxProgram *program;
    PtxEvaluator evaluator; /* of its row */
    const PtxEffect *effects;
    unsigned effect_count;
} PtxPrepare;

typedef bool PtxPrepareFamily(const PtxPrepare *about, PtxCode *code);

PtxPrepareFamily
    control_prepare; /* control.c: jumps, tables, calls, returns, exits, traps; bar.warp.sync, elect, activemask */
PtxPrepareFamily compute_prepare; /* compute.c: results that are a function of the operands, lane by lane */
PtxPrepareFamily warp_prepare;    /* warp_values.c: shuffles, votes, matches, redux */
PtxPrepareFamily matrix_prepare;  /* matrix.c: mma, wmma, ldmatrix, stmatrix, movmatrix, wgmma */
PtxPrepareFamily tensor_prepare;  /* tensor.c: tensor memory and the fifth generation's MMAs */
PtxPrepareFamily
    barrier_prepare; /* barriers.c: named and cluster barriers, mbarriers, fences, groups, dependent launches */
PtxPrepareFamily copy_prepare; /* copies.c: cp.async, bulk and tensor copies, st.async, red.async, tensor maps, CLC */
PtxPrepareFamily
    access_prepare; /* access.c: loads, stores, atomics, prefetches, addresses (cvta, mapa, isspacep), alloca */
PtxPrepareFamily texture_prepare; /* textures.c: textures and surfaces */

#endif
