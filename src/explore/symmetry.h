/* CTA symmetry: for which CTAs of a grid the run of one of them speaks.
 *
 * A machine runs one CTA, and keeps beside each integer how it changes from CTA to CTA: by so much for each step along
 * an axis of the grid (its affine form). Whatever decides something (a comparison, a quotient, an operand of an effect)
 * makes the box of CTAs smaller in which it comes out the same; what has no form makes it one CTA wide along the axes
 * that it depends on. The CTAs of the box that is left do the same, step by step, with accesses to global memory that
 * lie as much further on as the forms of their addresses say.
 *
 * For a machine whose clusters are what differs, a CTA is a cluster here. */
#ifndef EXPLORE_SYMMETRY_H
#define EXPLORE_SYMMETRY_H

#include <stdbool.h>
#include <stdint.h>

enum { AXES = 3 };

/* An integer of CTA p is its value in the run plus the sum of by[a] * (p[a] - at[a]); each element of a tensor and each
 * lane of a warp, too. */
typedef struct AffineForm {
    int64_t by[AXES];
    bool loose; /* what it is in another CTA is not known */
} AffineForm;

typedef struct Symmetry {
    int64_t at[AXES];              /* the CTA of the run */
    int64_t low[AXES], high[AXES]; /* the CTAs that it speaks for, both included */
    int64_t weights[AXES]; /* CTAs in x that a step along each axis is, where x alone is all of them; 0: it is not */
    int64_t periods[AXES]; /* steps along each axis after which a remainder is what it was: the least seen; 0: none */
} Symmetry;

/* Makes the box so small that a number of that form and value, from `least` to `most` here, is so everywhere in it. */
void symmetry_keep(Symmetry *symmetry, const AffineForm *form, int64_t value, __int128 least, __int128 most);
/* Makes it one CTA wide along all axes that the form depends on. */
void symmetry_pin(Symmetry *symmetry, const AffineForm *form);
/* Whether what has the form is the same in the whole box. */
bool symmetry_is_fixed(const Symmetry *symmetry, const AffineForm *form);
/* Whether two have the same form, and it is known. */
bool symmetry_forms_equal(const AffineForm *left, const AffineForm *right);
/* left + times * right; false if that is more than 64 bits. */
bool symmetry_combine(const AffineForm *left, const AffineForm *right, int64_t times, AffineForm *to);
/* The form of the quotients, rounded down, of numbers of that form by a positive one; their remainders are from
 * least_rest to most_rest here, and have the form *rest. */
AffineForm symmetry_quotient(Symmetry *symmetry, const AffineForm *form, int64_t by, int64_t least_rest,
                             int64_t most_rest, AffineForm *rest);
/* The form of coordinate `axis` of the grid. */
AffineForm symmetry_coordinate(const Symmetry *symmetry, unsigned axis, int64_t step);

#endif
