/* Which part of a tensor each CTA of a cluster has, by its encoding: of registers, or of shared memory.
 *
 * Both kinds are linear over GF(2). What the first CTA has is a space of coordinates; a CTA's rank moves it, by the XOR
 * of what its set bits stand for. Nearly always such a part is a box. A bit of the rank that moves it nowhere makes a
 * copy: of the CTAs that have the same part the one with that bit clear comes first. */
#ifndef MODEL_LAYOUT_SHARE_H
#define MODEL_LAYOUT_SHARE_H

#include "model/layout/encoding.h"

typedef struct Share {
    bool known;      /* false: the encoding is not understood, and nothing else here means anything */
    bool boxes;      /* every part is a box */
    uint8_t rank;    /* of the encoding: it is about the last `rank` dimensions */
    uint8_t ctas;    /* bits of a CTA's rank that it knows of */
    uint32_t copies; /* those of them that make a copy */
    int64_t size[CTAS_RANK];
    /* Coordinates as one vector, each from bit `shift` on: where a bit of the rank moves a part to, and the part of CTA
     * 0 in reduced echelon form, by highest bit. */
    uint8_t shift[CTAS_RANK];
    uint64_t moves[CTAS_BITS], rows[64];
} Share;

/* Of a tensor, a memory descriptor or a tensor descriptor; NULL if it is none of these. Kept by the module. */
const Share *share_of(Module *module, const Type *type);

/* The same of the allocation that a memory descriptor is a view of, in its coordinates. */
const Share *share_of_allocation(Module *module, const Type *memdesc);

/* The first CTA that has the element with these coordinates; `share` is known. */
uint32_t share_holder(const Share *share, const int64_t *coordinates);

/* The first and the end of a CTA's part in each dimension; `share` is known, and of boxes. */
void share_box(const Share *share, uint32_t cta, int64_t *begin, int64_t *end);
/* Whether a CTA's part has the element with these coordinates; `share` is known. */
bool share_has(const Share *share, uint32_t cta, const int64_t *coordinates);

#endif
