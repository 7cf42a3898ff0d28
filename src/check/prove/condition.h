/* Preconditions of a proof: what a launch has to fulfill so that the proof covers it.
 *
 * Each is a small question about quantities (quantity.h) that do not vary, or about the bounds of those that do. Asking
 * all of them of a launch takes no memory and less than a microsecond. A launch that does not fulfill them is not
 * covered, which is no finding. */
#ifndef CHECK_PROVE_CONDITION_H
#define CHECK_PROVE_CONDITION_H

#include "check/prove/quantity.h"
#include "explore/launch/launch.h"
#include "ir/ir.h"

typedef enum ConditionKind {
    CONDITION_EQUAL,    /* a == b */
    CONDITION_AT_LEAST, /* a >= b */
    CONDITION_MULTIPLE, /* a % b == 0 */
    CONDITION_NEST,     /* the levels nest */
} ConditionKind;

/* Of two sums that are equal, sum of factor * value[0] and of factor * value[1] over all levels. If the levels nest,
 * which is to say that each factor is larger than all that the levels with smaller factors can differ by, then both
 * values of each level are equal. `most` and `least` are further bounds, which do not vary; QUANTITY_NONE: there are
 * none. */
typedef struct NestLevel {
    Quantity factor, value[2], least[2], most[2];
} NestLevel;

enum { MOST_LEVELS = 16 };

typedef struct Condition {
    ConditionKind kind;
    Quantity a, b;
    const NestLevel *levels;
    uint32_t level_count;
    const char *text;   /* for people: "K % 64 == 0" */
    const Op *op;       /* where it comes from */
    uint32_t statement; /* of PTX, in its place; 0: none */
} Condition;

/* Whether it is fulfilled with these bounds of all atoms. */
bool condition_holds(const Quantities *quantities, const Interval *atoms, const Condition *condition);
/* For people, in the arena of the quantities. `subject`: whose strides nest. */
const char *condition_text(const Quantities *quantities, const Condition *condition, const char *subject);

/* Of two levels of which one has the factor 1: whether they nest if `*outer` > `*inner`, which do not vary. */
bool condition_is_two(const Quantities *quantities, const Condition *condition, Quantity *outer, Quantity *inner);

/* What a launch gives a parameter, by its name or its number; NULL: nothing. */
const Argument *launch_argument_of(const Launch *launch, const char *name, uint32_t index);
/* The numbers of a launch, by parameter: `names` are theirs. An argument that is not there, or no number, is not known,
 * and what depends on it does not hold. `room` has space for `count`. */
LaunchNumbers launch_numbers(const Launch *launch, const char *const *names, uint32_t count, LaunchNumber *room);

#endif
