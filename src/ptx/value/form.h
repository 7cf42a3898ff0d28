/* What is known of a value across the lanes of a warp: its form.
 *
 *     value(lane) = base + offset(lane)    modulo 2^width
 *
 * base is the same in all lanes that run the instruction together; of base some bits may be known. offset is a table of
 * 32 constants, with offset(0) = 0; tables are kept once (FormTables), so that a form is a few words. A table of zeros
 * makes the value uniform; one with a single stride makes it affine in the lane; else it is affine in the bits of the
 * lane, or any table. Where offsets are the same multiple or sum of unknown uniform values, the strides are not known,
 * but the shape is: FORM_AFFINE and FORM_BITS without a table. All operations are exact or say less: what cannot be
 * told is FORM_ANY. */
#ifndef PTX_VALUE_FORM_H
#define PTX_VALUE_FORM_H

#include "base/arena.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

/* From much known to little; the join of two is at least as low as both. */
typedef enum FormKind {
    FORM_NEVER,  /* not computed yet */
    FORM_TABLE,  /* base + a table of constants; uniform if the table is 0 */
    FORM_AFFINE, /* v(lane) = v(0) + lane * s; s is the same in all lanes */
    FORM_BITS,   /* v(lane) = v(0) + the sum of s[b] over the bits b of lane */
    FORM_ANY,
} FormKind;

/* Over which threads base, and unknown strides, are the same. ORDER: from many to few. */
typedef enum FormSpan { SPAN_GRID, SPAN_CLUSTER, SPAN_CTA, SPAN_WARP } FormSpan;

typedef struct Form {
    uint8_t kind, span;
    uint8_t width; /* 1 (a predicate), 8, 16, 32, 64, 128 */
    /* It holds if no 32-bit index wraps between the lanes of a warp where it is extended to 64 bits: see
     * PtxValues.assumed. */
    bool assumes;
    uint32_t table;       /* FORM_TABLE */
    uint64_t zeros, ones; /* bits of base that are known; all of them: it is a constant */
} Form;

typedef struct FormTables FormTables;

#endif
