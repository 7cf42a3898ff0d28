/* Numbers of the checker of certificates: sums of products, in an order that makes equal ones the same.
 *
 * They are numbers, not words: code that makes one of an op of the IR says between which bounds it has to be
 * (number_need), and the certificate has to ask a launch for that, unless it is so at every launch. */
#ifndef CHECK_CERTIFICATE_NUMBER_H
#define CHECK_CERTIFICATE_NUMBER_H

#include "base/arena.h"

typedef enum NumberAtomKind {
    NUMBER_ARGUMENT, /* of: the parameter */
    NUMBER_SHAPE,    /* of a descriptor: of: the parameter; axis */
    NUMBER_STRIDE,
    NUMBER_PROGRAMS, /* along axis */
    NUMBER_PROGRAM,
    NUMBER_LANE,   /* coordinate `axis` of an element, less than extent */
    NUMBER_TRIP,   /* turns that are over of the loop `key`, which counts up to a by b */
    NUMBER_DIVIDE, /* of a, not negative, by b, positive; rounded down */
    NUMBER_REMAINDER,
    NUMBER_MINIMUM,
    NUMBER_MAXIMUM,
    NUMBER_DATA, /* key: a value of the IR; extent: the lanes that it is at */
    NUMBER_KINDS
} NumberAtomKind;

enum { NUMBER_FACTORS = 6, NUMBER_TERMS = 64, NUMBER_ATOMS = 2048, MOST_WORK = 100000 };
#define NUMBER_BEYOND (INT64_C(1) << 62)

typedef struct NumberRange {
    int64_t least, most; /* -NUMBER_BEYOND, NUMBER_BEYOND: not known */
} NumberRange;

typedef struct NumberTerm {
    int64_t factor; /* not 0 */
    uint32_t count;
    uint32_t atoms[NUMBER_FACTORS]; /* in order */
} NumberTerm;

/* NULL: not known, or too long. */
typedef struct Number {
    uint32_t count;
    NumberTerm terms[]; /* by their atoms, the constant first */
} Number;

typedef struct NumberAtom {
    NumberAtomKind kind;
    bool varies, data; /* not the same in the whole launch; made of data */
    unsigned axis, width;
    uint32_t of;
    int64_t extent;
    const Number *a, *b;
    const void *key;
    NumberRange range; /* at any launch */
} NumberAtom;

/* It is in the range; it is not more than `most`. */
typedef struct NumberNeed {
    const Number *what;
    NumberRange range;
} NumberNeed;
typedef struct NumberFact {
    const Number *what, *most;
} NumberFact;

typedef struct NumberTable {
    Arena *arena;
    NumberAtom atoms[NUMBER_ATOMS];
    uint32_t atom_count;
    NumberNeed *needs;
    uint32_t need_count, need_capacity;
    NumberFact *facts;
    uint32_t fact_count, fact_capacity, work;
} NumberTable;

const Number *number_constant(NumberTable *numbers, int64_t value);
bool number_is_constant(const Number *number, int64_t *value);
bool number_same(const Number *a, const Number *b);
/* a + times * b; a * b. */
const Number *number_add(NumberTable *numbers, const Number *a, const Number *b, int64_t times);
const Number *number_multiply(NumberTable *numbers, const Number *a, const Number *b);
const Number *number_atom(NumberTable *numbers, NumberAtom atom);
/* A quotient, a remainder, the less or the larger of two. */
const Number *number_of_two(NumberTable *numbers, NumberAtomKind kind, const Number *a, const Number *b);
/* The same number with another in place of an atom. */
const Number *number_replace(NumberTable *numbers, const Number *number, uint32_t atom, const Number *by);
/* Its only atom; false: it is more than that. */
bool number_is_atom(const Number *number, uint32_t *atom);
bool number_is_varying(const NumberTable *numbers, const Number *number);
bool number_has_data(const NumberTable *numbers, const Number *number);
/* Each factor divided; NULL if one cannot be. */
const Number *number_shrink(NumberTable *numbers, const Number *number, int64_t by);

void number_need(NumberTable *numbers, const Number *number, int64_t least, int64_t most);
/* Whether it is not so at every launch, and what is then to be asked of one. */
bool number_need_is_open(const NumberTable *numbers, const NumberNeed *need, NumberRange *asked);
void number_know_most(NumberTable *numbers, const Number *number, const Number *most);

/* `atoms`: the ranges of all; NULL: at any launch. */
NumberRange number_range(const NumberTable *numbers, const NumberRange *atoms, const Number *number);
/* Of an atom that is made of others. */
NumberRange number_atom_range(const NumberTable *numbers, const NumberRange *atoms, const NumberAtom *atom);

#endif
