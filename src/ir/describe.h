/* DESCRIBES: the descriptor of a tensor, or the block pointer, that an op makes, and of what; read off its row.
 *
 *     DESCRIBES("tensor base base shape shape strides strides")
 *
 * A kind of the list below, then words in any order, each followed by the operand that it is about (of a list, all of
 * it):
 *
 *   base             the address where the tensor begins
 *   shape strides    one for each dimension
 *   offsets          where its block begins, or how far that is moved
 *   box steps        the box that a copy moves, and the steps between its elements
 *   at               the memory that holds it
 *   of               the descriptor that it is made of
 *   bounds if        the shape that it gets instead; whether accesses through it do anything
 *   element clamps   attributes: the number of the type of its elements; whether what is left becomes its shape */
#ifndef IR_DESCRIBE_H
#define IR_DESCRIBE_H

#include "ir/format.h"

/* id, the word, what it means. */
#define DESCRIBE_KINDS(M)                                                                                        \
    M(TENSOR, "tensor", "the result describes a tensor: strides in elements, the innermost dimension last")      \
    M(BLOCK, "block", "the same, of a block pointer: its block is at the offsets")                               \
    M(MAP, "map", "the hardware's form in memory: strides in bytes, the innermost dimension first, without its") \
    M(TAKEN, "taken", "the result is the one in memory")                                                         \
    M(ADVANCED, "advanced", "the result is another one whose block is moved")                                    \
    M(MOVED, "moved", "the result is another one whose tensor begins elsewhere")

typedef enum Describe {
    DESCRIBE_NONE,
#define KIND(id, word, what) DESCRIBE_##id,
    DESCRIBE_KINDS(KIND)
#undef KIND
        DESCRIBE_COUNT
} Describe;

/* The column, taken apart; REF_NONE where the row does not say. */
typedef struct DescribeColumn {
    Describe kind;
    SlotRef base, shape, strides, offsets, box, steps, at, of, bounds, predicate, element, clamps;
} DescribeColumn;

#endif
