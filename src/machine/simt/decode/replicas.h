/* Whether two threads that store to the same place by one instruction hold the same data, as far as is known without
 * it: compilers let all threads that hold the same element store it.
 *
 * They do not if that is computed of what differs, or of what they load from different addresses, by themselves. Where
 * lanes of a warp hand values to each other, or have parts of matrices, or store rows of them, it may be the same. */
#ifndef MACHINE_SIMT_DECODE_REPLICAS_H
#define MACHINE_SIMT_DECODE_REPLICAS_H

#include "machine/simt/decode/program.h"

typedef struct PtxReplicas {
    const PtxProgram *program; /* NULL: it is not open */
    PtxFlow flow;
    PtxValues values;
    uint8_t *seen;  /* of each value: it was looked at */
    uint32_t *work; /* values that are to be */
} PtxReplicas;

/* Of a CTA of that shape. False: it would take more than `budget` bytes. */
bool ptx_replicas_open(PtxReplicas *replicas, const PtxProgram *program, const PtxBlockShape *shape, size_t budget);
void ptx_replicas_close(PtxReplicas *replicas);
/* Whether two threads, by their numbers in a CTA or in two of them (`apart`), may well store the same. */
bool ptx_may_store_same(PtxReplicas *replicas, const PtxCode *code, uint32_t one, uint32_t other, bool apart);
/* Whether what an instruction stores is made of data: of what was loaded from memory other than parameters and
 * constants. What cannot be decided is. */
bool ptx_stores_data(PtxReplicas *replicas, const PtxCode *code);

#endif
