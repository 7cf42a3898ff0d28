/* What a tensor of addresses or a box touches, as runs of bytes.
 *
 * Both are gone through along the dimension in which addresses are next to each other, outer dimensions in the order of
 * their strides, so that what is dense, in whatever order, gives few runs, and these in order. A tensor of addresses
 * that are those of a box, under a mask that leaves a box, is taken as that box. */
#ifndef MACHINE_TILE_MEMORY_PIECES_H
#define MACHINE_TILE_MEMORY_PIECES_H

#include "machine/tile/memory/byte_intervals.h"
#include "model/number/evaluate.h"

/* Of rank 0: one element. */
typedef struct Box {
    unsigned rank;
    int64_t base, element; /* address of the element at all zeros; bytes of one */
    int64_t begin[TENSOR_MOST_DIMS], end[TENSOR_MOST_DIMS];
    int64_t strides[TENSOR_MOST_DIMS]; /* bytes */
} Box;

/* What the numbers of an index count in, from where on, and how many bytes there are at each; `scale` divides `bytes`.
 */
typedef struct PieceUnit {
    int64_t base, scale, bytes;
} PieceUnit;

/* Adds how many elements there are to *elements. False if there are more pieces than are looked at. */
bool pieces_of_box(const Box *box, Runs *runs, uint64_t *elements);
/* The elements at each place of `index` where the mask (NULL: everywhere) is on; both are known, and of one shape. */
bool pieces_of_tensor(const Tensor *index, const Tensor *mask, const PieceUnit *unit, Runs *runs, uint64_t *elements);

/* count * bytes further; addresses wrap round, as those of the hardware do. */
static inline int64_t address_add(int64_t address, int64_t count, int64_t bytes) {
    return (int64_t)((uint64_t)address + (uint64_t)count * (uint64_t)bytes);
}

#endif
