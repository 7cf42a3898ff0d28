/* Where the elements of a memory descriptor lie in the memory of one CTA.
 *
 * Every encoding is linear over GF(2): the place of an element is the XOR of the places of its coordinates' set bits.
 * A layout is that list of places. It is built on the shape of the allocation, of which a view may be a part, so that
 * two views of one allocation agree on where an element is. */
#ifndef MODEL_LAYOUT_LAYOUT_H
#define MODEL_LAYOUT_LAYOUT_H

#include "model/effect/effect.h"
#include "model/layout/bytes.h"

enum { LAYOUT_RANK = 12, LAYOUT_BITS = 32, LAYOUT_PADDINGS = 4, LAYOUT_REPLICAS = 8, LAYOUT_PIECES = 16 };

/* After each `interval` elements, `amount` elements that are not used. */
typedef struct Padding {
    int64_t interval, amount;
} Padding;

/* The places of a view's elements at one value of Offset.affine, from Offset.base on. */
typedef struct LayoutFootprint {
    struct LayoutFootprint *next;
    int32_t affine;
    Bytes bytes;
} LayoutFootprint;

typedef struct Layout {
    const Type *type; /* the memory descriptor, canonical */
    Space space;
    bool known;                /* false: the encoding is not understood; sizes hold, places do not */
    bool sized;                /* false: not even the sizes hold */
    uint8_t pieces;            /* in how many places of its own each an allocation lies: 1 but for partitioned_shared */
    uint8_t rank;              /* of the encoding: it lays out the last `rank` dimensions; those before are stages */
    uint8_t bits[LAYOUT_RANK]; /* of a coordinate of the allocation, over all CTAs */
    int64_t split[LAYOUT_RANK]; /* between how many CTAs a dimension is cut */
    const int64_t *shape;       /* of the view: `rank` sizes */
    int64_t stages;             /* of the view: the product of the dimensions before those */
    uint32_t element_bits;      /* as stored: an i1 takes 8 in shared memory */
    /* Of a coordinate's bit, in elements; tensor memory: row << 16 | column. 0 for the bits that choose the CTA. */
    uint32_t place[LAYOUT_RANK][LAYOUT_BITS];
    /* Bits of a place that mean no other element: each element lies at all their combinations. */
    uint32_t replicas[LAYOUT_REPLICAS];
    uint8_t replica_count, padding_count;
    Padding paddings[LAYOUT_PADDINGS];
    int64_t stage_elements;      /* of one CTA; tensor memory: columns */
    int64_t rows;                /* tensor memory: how many are used */
    int64_t alignment;           /* shared memory: of an allocation, in bytes, unless its op says another */
    LayoutFootprint *footprints; /* those asked for until now */
    uint32_t footprint_count;
} Layout;

/* SPACE_NONE if it is no memory descriptor. An alias is seen through once type_canonical was asked for the type, which
 * allocations_of does for every value below its root. */
Space memdesc_space(const Type *memdesc);

/* The layout of a `!ttg.memdesc`; NULL if it is no such type. Kept by the module. */
Layout *layout_of(Module *module, const Type *memdesc);

/* The last `rank` sizes of the allocation that a memory descriptor is a view of, where its type gives them behind the
 * view's own; false: it is all of it. */
bool memdesc_allocation(const Type *memdesc, unsigned rank, int64_t *sizes);

/* The place of an element of the allocation, in elements (tensor memory: row << 16 | column); `layout` is known. */
uint32_t layout_place(const Layout *layout, const int64_t *coordinates);
/* Bytes (tensor memory: columns) from the start of a stage to the start of the next; -1 where the padding makes that
 * another number for each stage. */
int64_t layout_stage_stride(const Layout *layout);
/* A byte of the allocation as if it had no padding, with it. */
int64_t layout_pad(const Layout *layout, int64_t byte);

#endif
