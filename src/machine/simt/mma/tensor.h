/* Tensor memory of a CTA: 128 lanes of 512 columns, 32 bits each; and what its instructions share.
 *
 * It is a block of memory like others, lane by lane: the word at lane l and column c is at ((l * 512) + c) * 4. An
 * address of the program has the lane in its upper and the column in its lower half. What is read and written is told
 * with locations in that block.
 *
 * MMAs, copies and shifts of one thread land in the order in which they were issued; loads and stores do not wait for
 * them, nor for each other. */
#ifndef MACHINE_SIMT_MMA_TENSOR_H
#define MACHINE_SIMT_MMA_TENSOR_H

#include "machine/simt/mma/matrix_state.h"
#include "machine/simt/sync/barriers.h"

enum {
    TENSOR_LANES = 128,
    TENSOR_COLUMNS = 512,
    TENSOR_UNIT = 32, /* columns that are allocated at least */
    TENSOR_WORDS = TENSOR_LANES * TENSOR_COLUMNS,
    TENSOR_BYTES = TENSOR_WORDS * 4,
};

typedef struct TensorMemory {
    PtxBlock block;
    uint32_t units;  /* of 32 columns that are allocated: bit i is unit i */
    uint32_t begins; /* units that an allocation begins with */
    bool relinquished;
} TensorMemory;

/* That of a CTA; made when it is asked for first. */
TensorMemory *tensor_memory(PtxMachine *machine, PtxCta *cta);
/* The other CTA of a pair; NULL: there is none, or it is over. */
PtxCta *tensor_peer(PtxMachine *machine, const PtxCta *cta);

/* An address of tensor memory. */
typedef struct TensorPlace {
    uint32_t lane, column;
} TensorPlace;
static inline TensorPlace tensor_place(uint64_t address) {
    return (TensorPlace){(uint32_t)(address >> 16) & 0xffff, (uint32_t)address & 0xffff};
}
static inline uint32_t tensor_offset(uint32_t lane, uint32_t column) {
    return (lane * TENSOR_COLUMNS + column) * 4;
}
uint32_t tensor_word(const TensorMemory *memory, uint32_t lane, uint32_t column, bool *known);
void tensor_set(TensorMemory *memory, uint32_t lane, uint32_t column, uint32_t value, bool known);

/* Some lanes, and the same columns of each. */
typedef struct TensorArea {
    uint32_t lanes[TENSOR_LANES];
    uint32_t lane_count;
    uint32_t column, columns;
} TensorArea;
/* Whether all of it is allocated; false: machine->fault. */
bool tensor_check(PtxMachine *machine, const PtxCode *code, const PtxWarp *warp, uint32_t lanes,
                  const TensorMemory *memory, const TensorArea *area);
/* Tells that an outstanding operation reads, writes or updates it. */
void tensor_emit(PtxMachine *machine, const PtxOutstanding *outstanding, AccessKind kind, TensorMemory *memory,
                 const TensorArea *area);
/* Puts an MMA, a copy or a shift of a lane in flight, behind those before it. */
bool tensor_fly(PtxMachine *machine, PtxOutstanding *outstanding);

/* The address that an operand in brackets has in a lane; false: it is not known, and *step says so. */
bool tensor_address(PtxMachine *machine, PtxGroup *group, const PtxCode *code, unsigned operand, uint32_t lane,
                    uint64_t *address, PtxStep *step);

/* The instructions that each file takes (tensor.c asks them). */
PtxPrepareFamily tensor_move_prepare, tensor_copy_prepare, tensor_mma_prepare;

#endif
