/* Pieces of classes of CTAs, merged, and compared with one another. */
#include "explore/footprint.h"

#include "base/deadline.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIECES = 1 << 18, MOST_QUESTIONS = 1 << 20, FIRST_MERGE = 1 << 12, FIRST_FOLD = 1 << 15 };

/* ---- One class ------------------------------------------------------------------------------------ */

void footprints_begin(Footprints *footprints) {
    for (; footprints->count > footprints->first; footprints->count--)
        footprints->pieces -= footprints->all[footprints->count - 1].count;
}

/* The one of the class that is the same elsewhere, or a new one. */
static Footprint *footprint_like(Footprints *footprints, const Footprint *like) {
    for (uint32_t i = footprints->count; i-- > footprints->first;) {
        Footprint *at = &footprints->all[i];
        if (at->site == like->site && at->area == like->area && at->writes == like->writes &&
            at->async == like->async && at->atomic == like->atomic && symmetry_forms_equal(&at->form, &like->form))
            return at;
    }
    Footprint *made = ARENA_PUSH(footprints->arena, footprints->all, footprints->count, footprints->capacity);
    *made = *like;
    made->class = footprints->class_count;
    made->pieces = NULL;
    made->count = made->capacity = made->folded = made->merge_at = 0;
    return made;
}

ORDER(by_begin, Piece, BY(begin))

/* Pieces from the one that was folded last on: those that touch or overlap become one. */
static void merge(Footprint *footprint) {
    Piece *pieces = footprint->pieces;
    uint32_t plain = footprint->folded, kept = plain;
    for (uint32_t i = plain; i < footprint->count; i++)
        if (pieces[i].levels)
            return;
    if (footprint->count - plain < 2)
        return;
    bool sorted = true;
    for (uint32_t i = plain + 1; i < footprint->count && sorted; i++)
        sorted = pieces[i - 1].begin <= pieces[i].begin;
    if (!sorted)
        qsort(pieces + plain, footprint->count - plain, sizeof *pieces, by_begin);
    for (uint32_t i = plain + 1; i < footprint->count; i++) {
        Piece *last = &pieces[kept];
        int64_t end = pieces[i].begin + pieces[i].bytes;
        if (pieces[i].begin > last->begin + last->bytes)
            pieces[++kept] = pieces[i];
        else if (end > last->begin + last->bytes)
            last->bytes = end - last->begin;
    }
    footprint->count = kept + 1;
}

static void fold(Footprints *footprints, Footprint *footprint) {
    uint32_t before = footprint->count;
    merge(footprint);
    footprint->count = footprint->folded = overlap_fold(footprint->pieces, footprint->count);
    footprints->pieces -= before - footprint->count;
}

void footprints_add(Footprints *footprints, const Footprint *like, const Piece *pieces, uint32_t count) {
    Footprint *footprint = footprint_like(footprints, like);
    for (uint32_t i = 0; i < count; i++) {
        if (footprint->count >= FIRST_MERGE && footprint->count >= footprint->merge_at) {
            uint32_t before = footprint->count;
            merge(footprint);
            footprints->pieces -= before - footprint->count;
            if (footprint->count >= FIRST_FOLD)
                fold(footprints, footprint);
            footprint->merge_at = 2 * footprint->count;
        }
        *ARENA_PUSH(footprints->arena, footprint->pieces, footprint->count, footprint->capacity) = pieces[i];
        footprints->pieces++;
    }
    footprints->failed |= footprints->pieces > MOST_PIECES;
}

/* Where it may be in all CTAs of its class. */
static Run reach(const CtaBox *class, const AffineForm *form, Run hull) {
    for (unsigned axis = 0; axis < AXES; axis++)
        *(form->by[axis] < 0 ? &hull.begin : &hull.end) += form->by[axis] * (class->high[axis] - class->low[axis]);
    return hull;
}

void footprints_end(Footprints *footprints, const CtaBox *class) {
    *ARENA_PUSH(footprints->arena, footprints->classes, footprints->class_count, footprints->class_capacity) = *class;
    for (uint32_t i = footprints->first; i < footprints->count; i++) {
        Footprint *footprint = &footprints->all[i];
        fold(footprints, footprint);
        for (uint32_t k = 0; k < footprint->count; k++) {
            Run hull = reach(class, &footprint->form, overlap_hull(&footprint->pieces[k]));
            footprint->hull.begin = k && footprint->hull.begin < hull.begin ? footprint->hull.begin : hull.begin;
            footprint->hull.end = k && footprint->hull.end > hull.end ? footprint->hull.end : hull.end;
        }
    }
    footprints->first = footprints->count;
}

static Family family_of(const CtaBox *class, const Footprint *footprint, uint32_t piece) {
    Family family = {.piece = &footprint->pieces[piece]};
    memcpy(family.by, footprint->form.by, sizeof family.by);
    memcpy(family.low, class->low, sizeof family.low);
    memcpy(family.high, class->high, sizeof family.high);
    return family;
}

/* ---- Within one CTA ------------------------------------------------------------------------------- */

static bool too_many_questions(Footprints *footprints) {
    footprints->failed |= ++footprints->questions > MOST_QUESTIONS || deadline_look();
    return footprints->failed;
}

/* Two that do not overlap in the CTA that was run stay on their sides; else neither moves by more than the other. */
static void keep_pieces_apart(Symmetry *symmetry, const Footprint *left, const Piece *x, const Footprint *right,
                              const Piece *y) {
    AffineForm apart;
    Run a = overlap_hull(x), b = overlap_hull(y);
    if (!symmetry_combine(&left->form, &right->form, -1, &apart)) {
        symmetry_pin(symmetry, &left->form);
        symmetry_pin(symmetry, &right->form);
    } else if (a.begin >= b.end) {
        symmetry_keep(symmetry, &apart, a.begin - b.end, 0, INT64_MAX);
    } else if (b.begin >= a.end) {
        symmetry_keep(symmetry, &apart, a.end - b.begin, INT64_MIN, 0);
    } else {
        symmetry_pin(symmetry, &apart);
    }
}

void footprints_keep_apart(Footprints *footprints, Symmetry *symmetry) {
    for (uint32_t i = footprints->first; i < footprints->count; i++)
        for (uint32_t k = i + 1; k < footprints->count; k++) {
            Footprint *left = &footprints->all[i], *right = &footprints->all[k];
            AffineForm apart;
            if (left->area != right->area || !(left->writes || right->writes) || !(left->async || right->async) ||
                (symmetry_combine(&left->form, &right->form, -1, &apart) && symmetry_is_fixed(symmetry, &apart)))
                continue;
            fold(footprints, left);
            fold(footprints, right);
            for (uint32_t m = 0; m < left->count; m++)
                for (uint32_t n = 0; n < right->count && !too_many_questions(footprints); n++) {
                    CtaBox box;
                    memcpy(box.low, symmetry->low, sizeof box.low);
                    memcpy(box.high, symmetry->high, sizeof box.high);
                    Family one = family_of(&box, left, m), two = family_of(&box, right, n);
                    if (overlap_within(&one, &two) != OVERLAP_NEVER)
                        keep_pieces_apart(symmetry, left, one.piece, right, two.piece);
                }
        }
}

/* ---- Between CTAs --------------------------------------------------------------------------------- */

bool footprints_conflict(const Footprint *left, const Footprint *right) {
    return left->area == right->area && (left->writes || right->writes) &&
           !(left->atomic && left->atomic == right->atomic);
}

static bool hulls_meet(Run left, Run right) {
    return left.begin < right.end && right.begin < left.end;
}

Overlap footprints_overlap(Footprints *footprints, const Footprint *left, const Footprint *right, int64_t at[AXES],
                           int64_t other[AXES]) {
    const CtaBox *here = &footprints->classes[left->class], *there = &footprints->classes[right->class];
    if (!hulls_meet(left->hull, right->hull))
        return OVERLAP_NEVER;
    for (uint32_t i = 0; i < left->count; i++) {
        Run hull = reach(here, &left->form, overlap_hull(&left->pieces[i]));
        for (uint32_t k = left == right ? i : 0; k < right->count; k++) {
            if (!hulls_meet(hull, reach(there, &right->form, overlap_hull(&right->pieces[k]))))
                continue;
            Family one = family_of(here, left, i), two = family_of(there, right, k);
            Overlap overlap = overlap_families(&one, &two, left->class == right->class, at, other);
            if (overlap != OVERLAP_NEVER)
                return overlap;
            if (too_many_questions(footprints))
                return OVERLAP_UNDECIDED;
        }
    }
    return OVERLAP_NEVER;
}
