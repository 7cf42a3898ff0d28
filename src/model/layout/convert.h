/* How values of a tensor get from one layout to another: who has to tell whom, and through how much shared memory. */
#ifndef MODEL_LAYOUT_CONVERT_H
#define MODEL_LAYOUT_CONVERT_H

#include "model/layout/distributed.h"

/* How far a value goes at most. */
typedef enum Reach {
    REACH_NOWHERE,   /* both layouts are the same */
    REACH_REGISTERS, /* each thread moves its own */
    REACH_LANES,     /* between the threads of a warp */
    REACH_WARPS,
    REACH_CTAS,
    REACH_UNKNOWN
} Reach;

Reach convert_reach(const Distributed *from, const Distributed *to);
/* A conversion within each warp that shuffles do: at most one bit of a register's number changes places with one of a
 * lane's. */
bool convert_by_shuffles(const Distributed *from, const Distributed *to);
/* Whether shared memory written under one layout and read under the other can do with a warp's own synchronization:
 * each warp reads only what it wrote. */
bool convert_within_warps(const Distributed *from, const Distributed *to);
/* The same for CTAs. */
bool convert_within_ctas(const Distributed *from, const Distributed *to);

/* Instructions that move values between registers and shared memory. */
typedef struct ConvertMeans {
    bool load_matrix, store_matrix; /* ldmatrix, stmatrix */
    bool plain;                     /* loads and stores only, not even tried as vectors of 128 bits first */
    unsigned banks;                 /* of 32 bits */
    const uint8_t *load_lanes;      /* the lanes' bits that load in one phase, where these are not the lowest */
    unsigned load_lane_count;
} ConvertMeans;

/* Bits of the widest vector that plain loads and stores can move at once. */
unsigned convert_vector_bits(const Distributed *from, const Distributed *to, unsigned element_bits);
/* Elements of the buffer in one CTA: it is swizzled, and used again for every repetition that registers have in both
 * layouts. -1 if that cannot be said. */
int64_t convert_elements(const Distributed *from, const Distributed *to, unsigned element_bits, ConvertMeans means);

#endif
