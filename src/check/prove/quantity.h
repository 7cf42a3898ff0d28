/* Numbers of a kernel in a normal form, and between which bounds they are at a launch.
 *
 * A quantity is a polynomial with integer factors over atoms. Some atoms are the same in a whole launch: arguments,
 * sizes of the grid, dimensions and strides of descriptors, quotients of such. Others vary: program ids, turns of
 * loops, coordinates of an element in its tensor (lanes), data. Equal polynomials are one quantity, so that comparing
 * two is comparing their numbers.
 *
 * Quantities are numbers, not words of 32 bits: code that makes one of an op of the IR adds a bound (quantity_bound) to
 * say that the op does not wrap around. Quotients and remainders are those of numbers that are not negative, by
 * positive ones; bounds say that, too. A launch that breaks a bound is not covered by what was found out. */
#ifndef CHECK_PROVE_QUANTITY_H
#define CHECK_PROVE_QUANTITY_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>

/* The number of a polynomial in its table. 0 is the number zero. */
typedef uint32_t Quantity;
enum {
    QUANTITY_ZERO = 0,
    QUANTITY_ONE = 1,
    QUANTITY_NONE = UINT32_MAX, /* not known, or too long */
    MOST_FACTORS = 6,           /* of a monomial */
    MOST_MONOMIALS = 64,
    MOST_ATOMS = 512,
    LAUNCH_MOST_DIMS = 8
};

typedef enum AtomKind {
    ATOM_ARGUMENT,  /* of: the parameter */
    ATOM_SHAPE,     /* of a descriptor: of: the parameter; axis: the dimension */
    ATOM_STRIDE,    /* the same; in elements */
    ATOM_PROGRAMS,  /* how many programs there are along `axis` */
    ATOM_PROGRAM,   /* the program id along `axis` */
    ATOM_LANE,      /* coordinate `axis` of an element, from 0 to extent - 1 */
    ATOM_TRIP,      /* turns of the loop `key` that are over: it counts up to a by b, from 0 on */
    ATOM_DIVIDE,    /* a / b, rounded down */
    ATOM_REMAINDER, /* a - b * (a / b) */
    ATOM_MINIMUM,   /* of a and b */
    ATOM_MAXIMUM,
    ATOM_DATA, /* `key`: a value of which only the width is known, or the one that a loop carries */
    /* Of PTX: */
    ATOM_THREADS, /* how many threads a CTA has along `axis` */
    ATOM_THREAD,  /* the thread's place along `axis` */
    ATOM_ADDRESS, /* where the variable `of` lies */
} AtomKind;

typedef struct QuantityAtom {
    AtomKind kind;
    bool varies; /* not the same in the whole launch */
    bool data;   /* data is in it */
    bool needed; /* a launch is asked about it (quantities_settle) */
    bool open;   /* a value that a loop carries and that is being looked at is in it */
    uint8_t axis, width;
    uint32_t of;
    int64_t extent;
    Quantity a, b;
    const void *key;
} QuantityAtom;

/* factor * the product of atoms, in the order of their numbers. */
typedef struct Monomial {
    int64_t factor; /* not 0 */
    uint8_t count;
    uint16_t atoms[MOST_FACTORS];
} Monomial;

typedef struct Polynomial {
    const Monomial *terms; /* by their atoms, the constant first */
    uint32_t count;
    Quantity most; /* it is no more than this, for another reason than its atoms; QUANTITY_ZERO: none is known */
} Polynomial;

/* `what` is from least to most. */
typedef struct QuantityBound {
    Quantity what;
    int64_t least, most;
} QuantityBound;

typedef struct Quantities {
    Arena *arena;
    QuantityAtom *atoms;
    uint32_t atom_count;
    struct Interval *anywhere; /* of each atom, at any launch */
    bool settled;              /* atoms that are not needed are left out at a launch */
    Polynomial *all;
    uint32_t count, capacity;
    QuantityBound *bounds;
    uint32_t bound_count, bound_capacity;
    struct {
        Quantity *items;
        uint32_t count, capacity;
    } found;                       /* the table of all, by what they are */
    const char *const *parameters; /* their names, for people */
} Quantities;

void quantities_init(Quantities *quantities, Arena *arena);
/* One more, with all that the first has, which may be added to. */
Quantities *quantities_copy(const Quantities *quantities, Arena *arena);

Quantity quantity_constant(Quantities *quantities, int64_t value);
/* An atom by itself. Its operands, if it has any, must be known: with QUANTITY_NONE, and past MOST_ATOMS, the result is
 * that, too. Quotients of constants, and by 1, are no atoms. */
Quantity quantity_atom(Quantities *quantities, const QuantityAtom *atom);
/* a + times * b; a * b. */
Quantity quantity_add(Quantities *quantities, Quantity a, Quantity b, int64_t times);
Quantity quantity_multiply(Quantities *quantities, Quantity a, Quantity b);
/* Rounded down, and the remainder: of what is not negative by what is positive, which becomes a bound. */
Quantity quantity_divide(Quantities *quantities, Quantity a, Quantity b);
Quantity quantity_remainder(Quantities *quantities, Quantity a, Quantity b);
Quantity quantity_minimum(Quantities *quantities, Quantity a, Quantity b);
Quantity quantity_maximum(Quantities *quantities, Quantity a, Quantity b);
/* min(a, b) + c as min(a + c, b + c), whose bounds may be better. */
Quantity quantity_into_minimum(Quantities *quantities, Quantity quantity);
/* How often a loop runs that counts up to `span` by a step, from 0 on. */
Quantity quantity_trips(Quantities *quantities, Quantity span, Quantity step);

static inline const Polynomial *quantity_of_number(const Quantities *quantities, Quantity quantity) {
    return &quantities->all[quantity];
}
bool quantity_is_constant(const Quantities *quantities, Quantity quantity, int64_t *value);
/* Whether it is not the same in the whole launch; whether data, or what is not known, is in it; whether the value that
 * `open` of an atom is about is. */
bool quantity_varies(const Quantities *quantities, Quantity quantity);
bool quantity_has_data(const Quantities *quantities, Quantity quantity);
bool quantity_is_open(const Quantities *quantities, Quantity quantity);
/* Whether the atom is in it, or in an operand of its atoms. */
bool quantity_mentions(const Quantities *quantities, Quantity quantity, uint32_t atom);

/* It is at most `most`, wherever it has a value at all: the counter of a loop is less than its end. */
void quantity_set_most(Quantities *quantities, Quantity quantity, Quantity most);
/* The same with another number in place of an atom, wherever it is; QUANTITY_NONE if that is too long. */
Quantity quantity_substitute(Quantities *quantities, Quantity quantity, uint32_t atom, Quantity by);

/* From now on it is asked of a launch that it is so, unless it is so at every launch. */
void quantity_bound(Quantities *quantities, Quantity quantity, int64_t least, int64_t most);

/* As a person would write it: "pid.x * 64 + lane0", "(K + 63) / 64". */
void quantity_print(const Quantities *quantities, Quantity quantity, Text *to);

/* ---- At a launch ------------------------------------------------------------------------------------ */

/* What is beyond this is not known. */
#define BOUND_NONE (INT64_C(1) << 62)

typedef struct Interval {
    int64_t least, most; /* -BOUND_NONE, BOUND_NONE: there is none */
} Interval;

/* From now on, what a quantity that was not needed (quantity_need) is at a launch is not said. */
void quantity_need(Quantities *quantities, Quantity quantity);
void quantities_settle(Quantities *quantities);

/* An argument of a launch. */
typedef struct LaunchNumber {
    bool known; /* it is an integer: */
    int64_t value;
    uint8_t rank; /* of a descriptor; 0: it is none */
    int64_t shape[LAUNCH_MOST_DIMS], strides[LAUNCH_MOST_DIMS];
} LaunchNumber;

typedef struct LaunchNumbers {
    int64_t grid[3], block[3];     /* block: of PTX */
    const LaunchNumber *arguments; /* by parameter */
    uint32_t count;
} LaunchNumbers;

/* The bounds of all atoms at a launch; NULL: at any launch, where the bounds that are asked for hold. */
void quantities_at(const Quantities *quantities, const LaunchNumbers *launch, Interval atoms[MOST_ATOMS]);
Interval quantity_interval(const Quantities *quantities, const Interval *atoms, Quantity quantity);
/* Bounds of atoms that are made of others, by what is known of these. */
void quantities_refine(const Quantities *quantities, Interval atoms[MOST_ATOMS]);

#endif
