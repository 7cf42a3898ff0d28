/* Which thread holds which element of a tensor.
 *
 * Every distributed encoding is linear over GF(2): a register, lane, warp and CTA together hold the element whose
 * coordinates are the XOR of the bases of the set bits in their four numbers. A basis that is zero is a copy: with and
 * without that bit the same element is held. */
#ifndef MODEL_LAYOUT_DISTRIBUTED_H
#define MODEL_LAYOUT_DISTRIBUTED_H

#include "ir/ir.h"

typedef enum Holder { HOLD_REGISTER, HOLD_LANE, HOLD_WARP, HOLD_BLOCK, HOLDERS } Holder;
enum { DISTRIBUTED_RANK = 12, DISTRIBUTED_BASES = 24, DISTRIBUTED_BITS = 28 };

typedef struct Distributed {
    bool known;   /* false: the encoding is not understood, and nothing else here means anything */
    bool blocked; /* it is written as #ttg.blocked */
    uint8_t rank;
    uint8_t bits[DISTRIBUTED_RANK]; /* of a coordinate; over all dimensions at most DISTRIBUTED_BITS */
    uint8_t count[HOLDERS];         /* of bases */
    uint32_t bases[HOLDERS][DISTRIBUTED_BASES][DISTRIBUTED_RANK];
} Distributed;

/* The most bases that a holder may have. */
extern const uint8_t distributed_most[HOLDERS];

/* The layout of a tensor type; NULL if it is no tensor. Kept by the module. */
const Distributed *distributed_of(Module *module, const Type *tensor);

/* How far apart in one dimension the holder's bits reach: 2 to the number of bases that move along it. */
int64_t distributed_along(const Distributed *layout, Holder holder, unsigned dim);
/* Whether a basis moves nowhere: what it chooses between are copies. */
bool distributed_is_copy(const Distributed *layout, Holder holder, unsigned index);
/* Without the registers that hold copies. */
void distributed_drop_copies(Distributed *layout);
/* Coordinates' bits as few as the bases need. */
void distributed_shrink(Distributed *layout);

#endif
