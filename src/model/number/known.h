/* What is known of an integer that is not known: its bounds, and what it leaves when it is divided.
 *
 * Two facts, each of which holds for every value that the integer can have: least <= value <= most, and value =
 * remainder + some multiple of modulus. Sums, products and the rest keep what can be kept, and know that numbers of
 * some width wrap around: then the bounds go, and of the modulus the part stays that is a power of two. */
#ifndef MODEL_NUMBER_KNOWN_H
#define MODEL_NUMBER_KNOWN_H

#include "model/number/evaluate.h"

typedef struct Known {
    bool exact;          /* it is `least` == `most` */
    int64_t least, most; /* INT64_MIN, INT64_MAX: not known */
    int64_t divisor;     /* at least 1: it is a multiple of this; 0 has every divisor: INT64_MAX */
    /* modulus 1: nothing is known; 0: the value is exact; else 0 <= remainder < modulus */
    int64_t modulus, remainder;
} Known;

typedef enum Answer { ANSWER_NO, ANSWER_YES, ANSWER_OPEN } Answer;
/* Whether it is a multiple of `n` (at least 1): always, never, or not known. */
Answer known_is_multiple(const Known *known, int64_t n);

Known known_nothing(void);
Known known_exact(int64_t value);
/* From `least` to `most`, both included. */
Known known_between(int64_t least, int64_t most);
/* A multiple of `divisor`, which is at least 1. */
Known known_multiple(int64_t divisor);

/* The facts that hold whichever of the two it is, and those that hold if both do. */
Known known_join(const Known *a, const Known *b);
Known known_both(const Known *a, const Known *b);
/* `after`, with those bounds given up that are wider than in `before`. */
Known known_widened(const Known *before, const Known *after);
/* `start` and any number of steps from it, from `least` to `most`. */
Known known_counting(const Known *start, const Known *step, int64_t least, int64_t most);
bool known_equal(const Known *a, const Known *b);

/* With the bounds that a type of that width has, where none are known. Width 1 is 0 or 1. */
Known known_bounded(const Known *known, unsigned width);

/* Arithmetic on numbers of `width` bits, signed. */
Known known_add(const Known *a, const Known *b, unsigned width);
Known known_multiply(const Known *a, const Known *b, unsigned width);
/* Rounded toward 0, down (-1) or up (1). */
Known known_divide(const Known *a, const Known *b, int rounding, unsigned width);
/* The lower `width` bits, as a signed number. */
Known known_wrap(const Known *known, unsigned width);
/* The same bits of `width` as an unsigned number. */
Known known_unsigned(const Known *known, unsigned width);

/* One of the NUMBERS on one or two operands of `operand_width` bits, but for choices and comparisons; `attribute` is
 * the Evaluation's `a`. Nothing is known of what has no value. */
Known known_evaluated(Evaluator code, unsigned width, unsigned operand_width, int64_t attribute, const Known *x,
                      const Known *y);
/* Whether x COMPARISON y, and what x is where that holds. */
Known known_compared(Comparison comparison, const Known *x, const Known *y);
Known known_where(const Known *x, Comparison comparison, const Known *y);

#endif
