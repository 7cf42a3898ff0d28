/* What a value of integer arithmetic is made of, read off the ops that make it. */
#ifndef MODEL_NUMBER_PARTS_H
#define MODEL_NUMBER_PARTS_H

#include "ir/op.h"
#include "model/number/evaluate.h"

/* The same number under another name; NULL: names are taken as they are. */
typedef const Value *PartSeen(const Value *value);

/* The op of two operands that made it so; NULL if none did. */
const Op *made_of_two(const Value *value, Evaluator how);

/* What a conversion to another width was given; NULL if it is none. */
const Value *cast_of(const Value *value);

/* value = the result + *number, which is a constant: one sum, or one difference; NULL if it is none. */
const Value *sum_part(const Value *value, PartSeen *seen, int64_t *number);
/* value = the result + *add, read off sums and differences with constants. */
const Value *split_sum(const Value *value, PartSeen *seen, int64_t *add);

/* left COMPARISON right */
typedef struct Relation {
    const Value *left, *right;
    Comparison comparison;
} Relation;
bool relation_of(const Value *condition, Relation *relation);

/* A signed or an unsigned remainder, or quotient (rounded toward 0). */
const Op *remainder_made(const Value *value);
const Op *quotient_made(const Value *value);

#endif
