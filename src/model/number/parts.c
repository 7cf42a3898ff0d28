/* Sums, remainders and comparisons, one op at a time. */
#include "model/number/parts.h"

const Op *made_of_two(const Value *value, Evaluator how) {
    const Op *op = value_made(value, how);
    return op && op->operand_count == 2 ? op : NULL;
}

const Op *remainder_made(const Value *value) {
    const Op *op = made_of_two(value, EVALUATE_REMAINDER_SIGNED);
    return op ? op : made_of_two(value, EVALUATE_REMAINDER_UNSIGNED);
}

const Op *quotient_made(const Value *value) {
    const Op *op = made_of_two(value, EVALUATE_DIVIDE_SIGNED);
    return op ? op : made_of_two(value, EVALUATE_DIVIDE_UNSIGNED);
}

const Value *cast_of(const Value *value) {
    const Op *op = value_op(value);
    Evaluator how = op_evaluator(op);
    bool cast = how == EVALUATE_SIGN_EXTEND || how == EVALUATE_ZERO_EXTEND || how == EVALUATE_WRAP;
    return cast && op->form != FORM_OPAQUE && op->operand_count == 1 ? op->operands[0] : NULL;
}

const Value *sum_part(const Value *value, PartSeen *seen, int64_t *number) {
    const Op *sum = made_of_two(value, EVALUATE_ADD), *op = sum ? sum : made_of_two(value, EVALUATE_SUBTRACT);
    if (!op)
        return NULL;
    const Value *left = op->operands[0], *right = op->operands[1];
    if (value_constant(seen ? seen(right) : right, number)) {
        if (!sum && *number == INT64_MIN)
            return NULL;
        *number = sum ? *number : -*number;
        return left;
    }
    return sum && value_constant(seen ? seen(left) : left, number) ? right : NULL;
}

const Value *split_sum(const Value *value, PartSeen *seen, int64_t *add) {
    enum { MOST_TERMS = 32 };
    int64_t number;
    const Value *rest;
    *add = 0;
    value = seen ? seen(value) : value;
    for (int term = 0;
         term < MOST_TERMS && (rest = sum_part(value, seen, &number)) && !__builtin_add_overflow(*add, number, &number);
         term++) {
        *add = number;
        value = seen ? seen(rest) : rest;
    }
    return value;
}

bool relation_of(const Value *condition, Relation *relation) {
    const Op *op = made_of_two(condition, EVALUATE_COMPARE);
    int64_t number;
    if (!op || !op_number(op, "predicate", &number) || number < COMPARE_EQ || number > COMPARE_UGE)
        return false;
    *relation = (Relation){op->operands[0], op->operands[1], (Comparison)number};
    return true;
}
