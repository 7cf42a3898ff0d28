/* How pure ops get their results from their operands: integer arithmetic, on scalars and on tensors.
 *
 * A row's EVALUATE column names the way (several names: one for each result); `evaluation_of` makes of it, and of an
 * op's attributes and types, a small record that the compiled program keeps; `evaluate` does it. Unknown operands give
 * an unknown result, unless the result does not depend on them (x * 0, a select whose condition is known). */
#ifndef MODEL_NUMBER_EVALUATE_H
#define MODEL_NUMBER_EVALUATE_H

#include "ir/evaluator.h"
#include "ir/ir.h"
#include "model/number/value.h"

/* The numbers of an integer comparison's predicates, as the op table's enumerations have them. */
typedef enum Comparison {
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_SLT,
    COMPARE_SLE,
    COMPARE_SGT,
    COMPARE_SGE,
    COMPARE_ULT,
    COMPARE_ULE,
    COMPARE_UGT,
    COMPARE_UGE,
} Comparison;
/* The one that holds where this one does not, and the one with left and right exchanged. */
Comparison comparison_negated(Comparison comparison);
Comparison comparison_mirrored(Comparison comparison);

/* Bits of a scalar as it is computed, 64 of pointers and index; 0 of what is not computed, and of NULL. */
unsigned number_width(Module *module, const Type *type);

typedef struct Evaluation {
    Evaluator code;
    uint8_t width;         /* bits of an element of the result; 64 for pointers and index */
    uint8_t operand_width; /* the same of the first operand */
    bool tensor;           /* the result is one */
    uint8_t rank;
    uint8_t result; /* which result of the op */
    int64_t dims[TENSOR_MOST_DIMS];
    /* Attributes. a: a comparison's predicate, an axis, the bytes that a pointer points to, how many stages come after
     * this one. b: how a reduction or scan puts two together (an Evaluator). */
    int64_t a, b;
    bool reverse; /* of a scan */
    int8_t order[TENSOR_MOST_DIMS];
    const int64_t *offsets; /* of a slice; rank of them */
    Word constant;          /* the result of an op without operands, as long as the module lives; or WORD_NOTHING */
    uint64_t identity;      /* of the op's name and attributes */
    enum { SIGN_NONE, SIGN_DIFFERENCE, SIGN_TURNED } sign; /* of floating-point numbers: a - b, or -a */
} Evaluation;

/* A tensor with more distinct elements than this is unknown. */
#define TENSOR_MOST_ELEMENTS ((size_t)1 << 22)

/* How result `index` of `op` is made. The code is EVALUATE_NONE if the row does not say, or says it of other types than
 * these. */
Evaluation evaluation_of(Module *module, const Op *op, unsigned index);

/* `arena` takes tensors. Any number of operands. */
Word evaluate(const Evaluation *how, const Word *operands, unsigned count, Arena *arena);

/* An element of a known tensor by its coordinates, and all of it in row-major order (`index` < tensor_size). */
int64_t tensor_at(const Tensor *tensor, const int64_t *coordinates);
int64_t tensor_linear(const Tensor *tensor, size_t index);
size_t tensor_size(const Tensor *tensor);

/* ---- Integers: inline, since emulating is little else ------------------------------------------- */

/* A kept integer as a signed number: of width 1 it is kept as 0 or 1. */
static inline int64_t integer_signed(int64_t value, unsigned width) {
    return width == 1 ? -value : value;
}

/* x to the y by squaring, modulo 2^64. */
static inline int64_t integer_power(int64_t x, uint64_t y) {
    uint64_t power = 1;
    for (uint64_t square = (uint64_t)x; y; y >>= 1, square *= square)
        if (y & 1)
            power *= square;
    return (int64_t)power;
}

/* a / b rounded toward 0, down (-1) or up (1), or the remainder (2); false where it has no value. */
static inline bool integer_divide(int64_t a, int64_t b, unsigned width, int rounding, int64_t *result) {
    if (b == 0 || (b == -1 && a == INT64_MIN >> (64 - width)))
        return false;
    int64_t quotient = a / b, rest = a % b;
    if (rounding == 2)
        *result = rest;
    else
        *result = quotient + (rest != 0 && ((rest < 0) == (b < 0) ? rounding == 1 : rounding == -1) ? rounding : 0);
    return true;
}

static inline bool integer_compare(Comparison predicate, int64_t signed_x, int64_t signed_y, uint64_t x, uint64_t y) {
    switch (predicate) {
    case COMPARE_EQ:
        return x == y;
    case COMPARE_NE:
        return x != y;
    case COMPARE_SLT:
        return signed_x < signed_y;
    case COMPARE_SLE:
        return signed_x <= signed_y;
    case COMPARE_SGT:
        return signed_x > signed_y;
    case COMPARE_SGE:
        return signed_x >= signed_y;
    case COMPARE_ULT:
        return x < y;
    case COMPARE_ULE:
        return x <= y;
    case COMPARE_UGT:
        return x > y;
    case COMPARE_UGE:
        return x >= y;
    }
    return false;
}

/* How two numbers can stand to each other; for which of these a comparison holds, as a mask. 0: the op is none. Of
 * floating-point numbers, that neither is NaN is taken for granted. */
enum { STANDS_LESS = 1, STANDS_EQUAL = 2, STANDS_GREATER = 4 };
unsigned comparison_holds_for(const Op *op);
/* Of the difference of two numbers that are not known. That of b and a is its complement, as is that of -x to that of
 * x: so what is compared and what is subtracted and compared with 0.0 have the same one. */
uint64_t difference_identity(Word a, Word b);

/* The result of one of the NUMBERS on known integers; `attribute` is the Evaluation's `a`. False: it has no value, or
 * the code is no such one. `width` and `operand_width` are 1 to 64. Always inline, so that a caller with a constant
 * code gets just that one. */
static inline __attribute__((always_inline)) bool evaluate_integers(Evaluator code, unsigned width,
                                                                    unsigned operand_width, int64_t attribute,
                                                                    int64_t x, int64_t y, int64_t z, int64_t *result) {
    int64_t value = 0;
    uint64_t ux = integer_unsigned(x, operand_width), uy = integer_unsigned(y, operand_width);
    int64_t sx = integer_signed(x, operand_width), sy = integer_signed(y, operand_width);
    switch (code) {
    case EVALUATE_ADD:
        value = (int64_t)((uint64_t)x + (uint64_t)y);
        break;
    case EVALUATE_SUBTRACT:
        value = (int64_t)((uint64_t)x - (uint64_t)y);
        break;
    case EVALUATE_MULTIPLY:
        value = (int64_t)((uint64_t)x * (uint64_t)y);
        break;
    case EVALUATE_MULTIPLY_HIGH_SIGNED:
        value = (int64_t)((__int128)sx * sy >> operand_width);
        break;
    case EVALUATE_MULTIPLY_HIGH_UNSIGNED:
        value = (int64_t)((unsigned __int128)ux * uy >> operand_width);
        break;
    case EVALUATE_CARRY:
        value = integer_unsigned((int64_t)(ux + uy), operand_width) < ux;
        break;
    case EVALUATE_DIVIDE_SIGNED:
        if (!integer_divide(sx, sy, operand_width, 0, &value))
            return false;
        break;
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
        if (!integer_divide(sx, sy, operand_width, -1, &value))
            return false;
        break;
    case EVALUATE_DIVIDE_CEIL_SIGNED:
        if (!integer_divide(sx, sy, operand_width, 1, &value))
            return false;
        break;
    case EVALUATE_REMAINDER_SIGNED:
        if (!integer_divide(sx, sy, operand_width, 2, &value))
            return false;
        break;
    case EVALUATE_DIVIDE_UNSIGNED:
        if (uy == 0)
            return false;
        value = (int64_t)(ux / uy);
        break;
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
        if (uy == 0)
            return false;
        value = (int64_t)(ux / uy + (ux % uy != 0));
        break;
    case EVALUATE_REMAINDER_UNSIGNED:
        if (uy == 0)
            return false;
        value = (int64_t)(ux % uy);
        break;
    case EVALUATE_MINIMUM_SIGNED:
        value = sx < sy ? x : y;
        break;
    case EVALUATE_MINIMUM_UNSIGNED:
        value = ux < uy ? x : y;
        break;
    case EVALUATE_MAXIMUM_SIGNED:
        value = sx > sy ? x : y;
        break;
    case EVALUATE_MAXIMUM_UNSIGNED:
        value = ux > uy ? x : y;
        break;
    case EVALUATE_ABSOLUTE:
        value = sx < 0 ? (int64_t) - (uint64_t)sx : sx;
        break;
    case EVALUATE_POWER:
        if (sy >= 0)
            value = integer_power(sx, (uint64_t)sy);
        else if (sx == 0)
            return false;
        else if (sx == 1 || sx == -1)
            value = sy & 1 ? sx : 1;
        break;
    case EVALUATE_AND:
        value = x & y;
        break;
    case EVALUATE_OR:
        value = x | y;
        break;
    case EVALUATE_XOR:
        value = x ^ y;
        break;
    case EVALUATE_SHIFT_LEFT:
        if (uy >= operand_width)
            return false;
        value = (int64_t)((uint64_t)x << uy);
        break;
    case EVALUATE_SHIFT_RIGHT_SIGNED:
        if (uy >= operand_width)
            return false;
        value = sx >> uy;
        break;
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        if (uy >= operand_width)
            return false;
        value = (int64_t)(ux >> uy);
        break;
    case EVALUATE_LEADING_ZEROS:
        value = ux ? __builtin_clzll(ux) - (int)(64 - operand_width) : (int)operand_width;
        break;
    case EVALUATE_TRAILING_ZEROS:
        value = ux ? __builtin_ctzll(ux) : (int)operand_width;
        break;
    case EVALUATE_COUNT_ONES:
        value = __builtin_popcountll(ux);
        break;
    case EVALUATE_COMPARE:
        value = integer_compare((Comparison)attribute, sx, sy, ux, uy);
        break;
    case EVALUATE_SELECT:
        value = x ? y : z;
        break;
    case EVALUATE_PREDICATE_STAGE: {
        int64_t last = (int64_t)((uint64_t)y - (uint64_t)attribute * (uint64_t)z);
        value = sx < integer_signed(integer_wrap(last, operand_width), operand_width);
        break;
    }
    case EVALUATE_SIGN_EXTEND:
        value = sx;
        break;
    case EVALUATE_ZERO_EXTEND:
        value = (int64_t)ux;
        break;
    case EVALUATE_WRAP:
        value = x;
        break;
    case EVALUATE_ADD_POINTER:
        value = (int64_t)((uint64_t)x + (uint64_t)y * (uint64_t)attribute);
        break;
    default:
        return false;
    }
    *result = integer_wrap(value, width);
    return true;
}

#endif
