/* What is known of an integer that is not known: its bounds, and what it leaves when it is divided.
 *
 * Two facts, each of which holds for every value that the integer can have: least <= value <= most, and value =
 * remainder + some multiple of modulus. Sums, products and the rest keep what can be kept, and know that numbers of
 * some width wrap around: then the bounds go, and of the modulus the part stays that is a power of two.
 *
 * The forms of PTX (ptx/value/form.h) are another lattice, over the threads of a CTA: bounds and remainders cannot say
 * that lanes differ by 4, and known bits of a base cannot say that a trip count is below 7. Neither is a case of the
 * other; what both compute with is base/number.h. */
#ifndef MODEL_NUMBER_KNOWN_H
#define MODEL_NUMBER_KNOWN_H

#include "model/number/evaluate.h"

typedef struct IntDomain {
    bool exact;          /* it is `least` == `most` */
    int64_t least, most; /* INT64_MIN, INT64_MAX: not known */
    int64_t divisor;     /* at least 1: it is a multiple of this; 0 has every divisor: INT64_MAX */
    /* modulus 1: nothing is known; 0: the value is exact; else 0 <= remainder < modulus */
    int64_t modulus, remainder;
} IntDomain;

typedef enum Tribool { TRIBOOL_FALSE, TRIBOOL_TRUE, TRIBOOL_UNKNOWN } Tribool;
/* Whether it is a multiple of `n` (at least 1): always, never, or not known. */
Tribool known_is_multiple(const IntDomain *known, int64_t n);

IntDomain known_nothing(void);
IntDomain known_exact(int64_t value);
/* From `least` to `most`, both included. */
IntDomain known_between(int64_t least, int64_t most);
/* A multiple of `divisor`, which is at least 1. */
IntDomain known_multiple(int64_t divisor);

/* The facts that hold whichever of the two it is, and those that hold if both do. */
IntDomain known_join(const IntDomain *a, const IntDomain *b);
IntDomain known_both(const IntDomain *a, const IntDomain *b);
/* `after`, with those bounds given up that are wider than in `before`. */
IntDomain known_widened(const IntDomain *before, const IntDomain *after);
/* `start` and any number of steps from it, from `least` to `most`. */
IntDomain known_counting(const IntDomain *start, const IntDomain *step, int64_t least, int64_t most);
bool known_equal(const IntDomain *a, const IntDomain *b);

/* With the bounds that a type of that width has, where none are known. Width 1 is 0 or 1. */
IntDomain known_bounded(const IntDomain *known, unsigned width);

/* Arithmetic on numbers of `width` bits, signed. */
IntDomain known_add(const IntDomain *a, const IntDomain *b, unsigned width);
IntDomain known_multiply(const IntDomain *a, const IntDomain *b, unsigned width);
/* Rounded toward 0, down (-1) or up (1). */
IntDomain known_divide(const IntDomain *a, const IntDomain *b, int rounding, unsigned width);
/* The lower `width` bits, as a signed number. */
IntDomain known_wrap(const IntDomain *known, unsigned width);
/* The same bits of `width` as an unsigned number. */
IntDomain known_unsigned(const IntDomain *known, unsigned width);

/* One of the NUMBERS on one or two operands of `operand_width` bits, but for choices and comparisons; `attribute` is
 * the Evaluation's `a`. Nothing is known of what has no value. */
IntDomain known_evaluated(Evaluator code, unsigned width, unsigned operand_width, int64_t attribute, const IntDomain *x,
                          const IntDomain *y);
/* Whether x COMPARISON y, and what x is where that holds. */
IntDomain known_compared(Comparison comparison, const IntDomain *x, const IntDomain *y);
IntDomain known_where(const IntDomain *x, Comparison comparison, const IntDomain *y);

#endif
