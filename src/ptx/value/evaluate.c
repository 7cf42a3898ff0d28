/* What instructions on whole numbers give, for one thread. */
#include "base/number.h"
#include "ptx/value/operation.h"

typedef __int128 EvaluateWide;
typedef unsigned __int128 EvaluateBits128;

static uint64_t low(uint64_t value, unsigned width) {
    return value & low_ones(width);
}

/* An operand as the number that it stands for. */
static EvaluateWide number(uint64_t value, unsigned width, bool is_signed) {
    return is_signed ? (EvaluateWide)sign_extended(value, width) : (EvaluateWide)low(value, width);
}

static EvaluateWide operand(const Operation *op, const uint64_t *arguments, unsigned index) {
    return number(arguments[index], operation_argument_width(op, index), op->is_signed);
}

static uint64_t clamped(EvaluateWide value, unsigned width, bool is_signed) {
    EvaluateWide most = is_signed ? (EvaluateWide)(low_ones(width) >> 1) : (EvaluateWide)low_ones(width),
                 least = is_signed ? -most - 1 : 0;
    return (uint64_t)(value < least ? least : value > most ? most : value);
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

static EvaluateWide multiplied(const Operation *op, const uint64_t *arguments) {
    EvaluateBits128 both = (EvaluateBits128)operand(op, arguments, 0) * (EvaluateBits128)operand(op, arguments, 1);
    if (op->high)
        return op->is_signed ? (EvaluateWide)both >> op->width : (EvaluateWide)(both >> op->width);
    return (EvaluateWide)both;
}

static EvaluateWide multiplied24(const Operation *op, const uint64_t *arguments) {
    EvaluateWide both = number(arguments[0], 24, op->is_signed) * number(arguments[1], 24, op->is_signed);
    return op->high ? both >> 16 : both;
}

static EvaluateWide added(const Operation *op, EvaluateWide value, const uint64_t *arguments) {
    EvaluateWide sum = value + operand(op, arguments, 2);
    return op->saturates ? (EvaluateWide)clamped(sum, op->result, op->is_signed) : sum;
}

static bool divided(const Operation *op, const uint64_t *arguments, bool rest, EvaluateWide *result) {
    EvaluateWide a = operand(op, arguments, 0), b = operand(op, arguments, 1);
    EvaluateWide least = -((EvaluateWide)1 << (op->width - 1));
    if (!b || (op->is_signed && b == -1 && a == least))
        return false;
    *result = rest ? a % b : a / b;
    return true;
}

static EvaluateWide least_or_greatest(const Operation *op, const uint64_t *arguments, bool least) {
    EvaluateWide a = operand(op, arguments, 0), b = operand(op, arguments, 1);
    EvaluateWide chosen = (a < b) == least ? a : b;
    return op->to_zero && chosen < 0 ? 0 : chosen;
}

static bool arithmetic(const Operation *op, const uint64_t *arguments, EvaluateWide *result) {
    EvaluateWide a = operand(op, arguments, 0), b = operation_arguments(op) > 1 ? operand(op, arguments, 1) : 0;
    switch (op->evaluator) {
    case PTX_EVALUATE_ADD:
        *result = op->saturates ? (EvaluateWide)clamped(a + b, op->result, op->is_signed) : a + b;
        break;
    case PTX_EVALUATE_SUB:
        *result = op->saturates ? (EvaluateWide)clamped(a - b, op->result, op->is_signed) : a - b;
        break;
    case PTX_EVALUATE_MUL:
        *result = multiplied(op, arguments);
        break;
    case PTX_EVALUATE_MAD:
        *result = added(op, multiplied(op, arguments), arguments);
        break;
    case PTX_EVALUATE_MUL24:
        *result = multiplied24(op, arguments);
        break;
    case PTX_EVALUATE_MAD24:
        *result = added(op, multiplied24(op, arguments), arguments);
        break;
    case PTX_EVALUATE_SAD:
        *result = operand(op, arguments, 2) + (a < b ? b - a : a - b);
        break;
    case PTX_EVALUATE_DIV:
        return divided(op, arguments, false, result);
    case PTX_EVALUATE_REM:
        return divided(op, arguments, true, result);
    case PTX_EVALUATE_ABS:
        *result = a < 0 ? -a : a;
        break;
    case PTX_EVALUATE_NEG:
        *result = -a;
        break;
    case PTX_EVALUATE_MIN:
        *result = least_or_greatest(op, arguments, true);
        break;
    case PTX_EVALUATE_MAX:
        *result = least_or_greatest(op, arguments, false);
        break;
    default:
        return false;
    }
    return true;
}

/* ---- Bits -------------------------------------------------------------------------------------------------- */

static unsigned leading_zeros(uint64_t a, unsigned width) {
    return a ? (unsigned)__builtin_clzll(a) - (64 - width) : width;
}

static uint64_t highest_bit(const Operation *op, uint64_t a) {
    if (op->is_signed && sign_extended(a, op->width) < 0)
        a = low(~a, op->width);
    if (!a)
        return UINT64_MAX;
    unsigned bit = op->width - 1 - leading_zeros(a, op->width);
    return op->shift_amount ? op->width - 1 - bit : bit;
}

static uint64_t reversed(uint64_t a, unsigned width) {
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++)
        result |= (a >> i & 1) << (width - 1 - i);
    return result;
}

static uint64_t extracted(const Operation *op, const uint64_t *arguments) {
    unsigned at = arguments[1] & 255, size = arguments[2] & 255, top = op->width - 1;
    uint64_t a = low(arguments[0], op->width), sign = 0;
    if (op->is_signed && size)
        sign = a >> (at + size - 1 < top ? at + size - 1 : top) & 1;
    uint64_t field = at > top ? 0 : a >> at;
    unsigned there = at > top ? 0 : size < top + 1 - at ? size : top + 1 - at;
    return (field & low_ones(there)) | (sign ? ~low_ones(there) : 0);
}

static uint64_t inserted(const Operation *op, const uint64_t *arguments) {
    unsigned at = arguments[2] & 255, size = arguments[3] & 255;
    if (at >= op->width)
        return arguments[1];
    uint64_t field = low_ones(size) << at;
    return (arguments[1] & ~field) | (arguments[0] << at & field);
}

static uint64_t shifted(const Operation *op, const uint64_t *arguments, bool left) {
    uint64_t by = low(arguments[1], 32);
    if (left)
        return by >= op->width ? 0 : arguments[0] << by;
    if (op->is_signed)
        return (uint64_t)(sign_extended(arguments[0], op->width) >> (by > 63 ? 63 : by));
    return by >= op->width ? 0 : low(arguments[0], op->width) >> by;
}

static uint64_t funnel(const Operation *op, const uint64_t *arguments) {
    uint64_t both = low(arguments[1], 32) << 32 | low(arguments[0], 32), by = low(arguments[2], 32);
    by = op->wraps ? by & 31 : by > 32 ? 32 : by;
    return op->left ? by == 32 ? both : both << by >> 32 : both >> by;
}

static uint64_t permuted(const uint64_t *arguments) {
    uint64_t both = low(arguments[1], 32) << 32 | low(arguments[0], 32), result = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned choice = arguments[2] >> 4 * i & 15;
        uint64_t byte = both >> 8 * (choice & 7) & 255;
        if (choice & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

static uint64_t looked_up(const uint64_t *arguments) {
    uint64_t result = 0;
    for (unsigned term = 0; term < 8; term++)
        if (arguments[3] >> term & 1)
            result |= (term & 4 ? arguments[0] : ~arguments[0]) & (term & 2 ? arguments[1] : ~arguments[1]) &
                      (term & 1 ? arguments[2] : ~arguments[2]);
    return result;
}

static bool bits(const Operation *op, const uint64_t *arguments, uint64_t *result) {
    uint64_t a = low(arguments[0], op->width);
    switch (op->evaluator) {
    case PTX_EVALUATE_POPC:
        *result = (uint64_t)__builtin_popcountll(a);
        break;
    case PTX_EVALUATE_CLZ:
        *result = leading_zeros(a, op->width);
        break;
    case PTX_EVALUATE_BFIND:
        *result = highest_bit(op, a);
        break;
    case PTX_EVALUATE_BREV:
        *result = reversed(a, op->width);
        break;
    case PTX_EVALUATE_BFE:
        *result = extracted(op, arguments);
        break;
    case PTX_EVALUATE_BFI:
        *result = inserted(op, arguments);
        break;
    case PTX_EVALUATE_AND:
        *result = a & arguments[1];
        break;
    case PTX_EVALUATE_OR:
        *result = a | arguments[1];
        break;
    case PTX_EVALUATE_XOR:
        *result = a ^ arguments[1];
        break;
    case PTX_EVALUATE_NOT:
        *result = ~a;
        break;
    case PTX_EVALUATE_CNOT:
        *result = !a;
        break;
    case PTX_EVALUATE_LOP3:
        *result = looked_up(arguments);
        break;
    case PTX_EVALUATE_SHF:
        *result = funnel(op, arguments);
        break;
    case PTX_EVALUATE_SHL:
        *result = shifted(op, arguments, true);
        break;
    case PTX_EVALUATE_SHR:
        *result = shifted(op, arguments, false);
        break;
    case PTX_EVALUATE_PRMT:
        *result = permuted(arguments);
        break;
    case PTX_EVALUATE_MOV:
        *result = a;
        break;
    default:
        return false;
    }
    return true;
}

/* ---- Choices -------------------------------------------------------------------------------------------------- */

static bool compared(const Operation *op, const uint64_t *arguments) {
    EvaluateWide a = operand(op, arguments, 0), b = operand(op, arguments, 1);
    switch ((Compare)op->compare) {
    case COMPARE_EQ:
        return a == b;
    case COMPARE_NE:
        return a != b;
    case COMPARE_LT:
        return a < b;
    case COMPARE_LE:
        return a <= b;
    case COMPARE_GT:
        return a > b;
    case COMPARE_GE:
        return a >= b;
    }
    return false;
}

static bool combined(const Operation *op, const uint64_t *arguments) {
    bool holds = compared(op, arguments), other = op->combine && (arguments[2] & 1);
    switch ((Combine)op->combine) {
    case COMBINE_NOTHING:
        return holds;
    case COMBINE_AND:
        return holds && other;
    case COMBINE_OR:
        return holds || other;
    case COMBINE_XOR:
        return holds != other;
    }
    return false;
}

static bool choices(const Operation *op, const uint64_t *arguments, uint64_t *result) {
    switch (op->evaluator) {
    case PTX_EVALUATE_SET:
        *result = combined(op, arguments) ? UINT64_MAX : 0;
        break;
    case PTX_EVALUATE_SETP:
        *result = combined(op, arguments);
        break;
    case PTX_EVALUATE_SELP:
        *result = arguments[arguments[2] & 1 ? 0 : 1];
        break;
    case PTX_EVALUATE_SLCT:
        *result = arguments[sign_extended(arguments[2], 32) >= 0 ? 0 : 1];
        break;
    case PTX_EVALUATE_CVT: {
        EvaluateWide value = operand(op, arguments, 0);
        *result = op->saturates ? clamped(value, op->result, op->result_signed) : (uint64_t)value;
        break;
    }
    default:
        return false;
    }
    return true;
}

bool operation_evaluate(const Operation *op, const uint64_t *arguments, uint64_t *result) {
    EvaluateWide number;
    if (!op->numbers)
        return false;
    if (!bits(op, arguments, result) && !choices(op, arguments, result)) {
        if (!arithmetic(op, arguments, &number))
            return false;
        *result = (uint64_t)number;
    }
    *result = low(*result, op->result);
    return true;
}
