/* What classes of CTAs access in global memory, and whether two CTAs access the same bytes.
 *
 * Of each class (classes.h) one CTA was run. What it accesses in one area and in one way is a list of pieces
 * (overlap.h), with the form of their addresses: so the bytes of all CTAs of the class are known in closed form, and
 * neither time nor memory grows with the grid. */
#ifndef EXPLORE_FOOTPRINT_H
#define EXPLORE_FOOTPRINT_H

#include "explore/classes.h"
#include "explore/overlap.h"

typedef struct Footprint {
    uint32_t site, class;
    uint64_t area; /* memory that nothing else overlaps: a tensor, a buffer */
    bool writes;
    bool async;      /* within a CTA, too, what orders it with others depends on whether they overlap */
    uint32_t atomic; /* bytes of an access that is strong at a scope with all CTAs, and morally strong with others of
                        that size; 0: it is weak */
    AffineForm form;
    Piece *pieces;                              /* where they lie in the CTA that was run, the first of its class */
    uint32_t count, capacity, folded, merge_at; /* folded: of them; merge_at: how many are to be merged next */
    Run hull;                                   /* of all its CTAs */
} Footprint;

typedef struct Footprints {
    Arena *arena;
    CtaBox *classes;
    uint32_t class_count, class_capacity;
    Footprint *all;
    uint32_t count, capacity, first; /* first: of the class that is run, behind those that are done */
    uint64_t pieces, questions;
    bool failed; /* there are too many to decide it */
} Footprints;

/* A CTA is run; what was added since the last class ended is dropped. */
void footprints_begin(Footprints *footprints);
/* More pieces of an access of that CTA. */
void footprints_add(Footprints *footprints, const Footprint *like, const Piece *pieces, uint32_t count);
/* Makes the box so small that accesses of one CTA, of which one is asynchronous, have the same bytes in common in all
 * of its CTAs. */
void footprints_keep_apart(Footprints *footprints, Symmetry *symmetry);
/* These CTAs are the class. */
void footprints_end(Footprints *footprints, const CtaBox *class);

/* Whether two CTAs that make these accesses to the same bytes may race. */
bool footprints_conflict(const Footprint *left, const Footprint *right);
/* Whether some CTA of the one and another of the other access the same byte: they are *at and *other. */
Overlap footprints_overlap(Footprints *footprints, const Footprint *left, const Footprint *right, int64_t at[AXES],
                           int64_t other[AXES]);

#endif
