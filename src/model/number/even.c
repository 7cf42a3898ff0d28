/* Sums, products and comparisons of even tensors, by their first element and their steps alone. */
#include "model/number/even.h"

/* ---- Making them --------------------------------------------------------------------------------- */

void even_find(Tensor *tensor, const int64_t *data, size_t size) {
    int64_t steps[TENSOR_MOST_DIMS] = {0};
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (!tensor->dims[i])
            return;
        if (tensor->strides[i] && __builtin_sub_overflow(data[tensor->strides[i]], data[0], &steps[i]))
            return;
    }
    for (size_t k = 0; k < size; k++) {
        __int128 expected = data[0];
        size_t rest = k;
        for (unsigned i = tensor->rank; i-- > 0;)
            if (tensor->strides[i]) {
                expected += (__int128)steps[i] * (int64_t)(rest % (size_t)tensor->dims[i]);
                rest /= (size_t)tensor->dims[i];
            }
        if (data[k] != expected)
            return;
    }
    tensor->even = true;
    tensor->base = data[0];
    memcpy(tensor->steps, steps, sizeof steps);
}

Tensor tensor_whole(const Tensor *tensor, Arena *arena) {
    Tensor whole = *tensor;
    if (whole.data)
        return whole;
    int64_t at[TENSOR_MOST_DIMS] = {0}, sizes[TENSOR_MOST_DIMS], value = whole.base;
    size_t size = 1;
    for (unsigned i = whole.rank; i-- > 0;) { /* it may be a part of one that had other strides */
        sizes[i] = whole.steps[i] ? whole.dims[i] : 1;
        whole.strides[i] = sizes[i] > 1 ? (int64_t)size : 0;
        size *= (size_t)sizes[i];
    }
    int64_t *data = arena_alloc(arena, size * sizeof *data);
    for (size_t done = 0; done < size; done++) {
        data[done] = value;
        for (unsigned i = whole.rank; i-- > 0;) {
            bool over = ++at[i] >= sizes[i];
            value += over ? (1 - sizes[i]) * whole.steps[i] : whole.steps[i];
            if (!over)
                break;
            at[i] = 0;
        }
    }
    whole.data = data;
    return whole;
}

Word even_tensor(const Evaluation *how, int64_t base, const int64_t *steps, uint64_t identity, Arena *arena) {
    bool repeats[TENSOR_MOST_DIMS], uniform = true;
    for (unsigned i = 0; i < how->rank; i++) {
        repeats[i] = how->dims[i] == 1 || !steps[i];
        uniform &= repeats[i];
    }
    if (uniform)
        return tensor_splat(how, base, arena);
    Tensor *tensor = ARENA_NEW(arena, Tensor);
    *tensor = (Tensor){
        .known = true, .even = true, .rank = how->rank, .width = how->width, .identity = identity, .base = base};
    memcpy(tensor->dims, how->dims, sizeof tensor->dims);
    int64_t stride = 1; /* of the data, if it is needed */
    for (unsigned i = how->rank; i-- > 0;)
        if (!repeats[i]) {
            tensor->steps[i] = steps[i];
            tensor->strides[i] = stride;
            stride *= how->dims[i];
        }
    return (Word){.tensor = tensor, .kind = WORD_TENSOR};
}

/* Numbers that an even tensor has: all from low to high. */
typedef struct Even {
    __int128 base, steps[TENSOR_MOST_DIMS], low, high;
} Even;

/* x + times * y (NULL: 0) of these dimensions. False if the numbers are larger than is needed. */
static bool even_sum(const Evaluation *how, const Tensor *x, const Tensor *y, int64_t times, Even *to) {
    const __int128 most = (__int128)1 << 100;
    *to = (Even){.base = (x ? x->base : 0) + (y ? (__int128)y->base * times : 0)};
    to->low = to->high = to->base;
    for (unsigned i = 0; i < how->rank; i++) {
        to->steps[i] = (x ? x->steps[i] : 0) + (y ? (__int128)y->steps[i] * times : 0);
        if (to->steps[i] > most || to->steps[i] < -most || how->dims[i] < 1 || how->dims[i] > 1 << 24)
            return false;
        __int128 reach = to->steps[i] * (how->dims[i] - 1);
        *(reach < 0 ? &to->low : &to->high) += reach;
    }
    return true;
}

/* As a tensor, if no number wraps. */
static bool even_result(const Evaluation *how, const Even *even, uint64_t identity, Arena *arena, Word *result) {
    __int128 limit = (__int128)1 << (how->width ? how->width - 1 : 0);
    int64_t steps[TENSOR_MOST_DIMS] = {0};
    size_t size = 1;
    if (how->width < 2 || even->low < -limit || even->high >= limit)
        return false;
    for (unsigned i = 0; i < how->rank; i++) {
        steps[i] = how->dims[i] > 1 ? (int64_t)even->steps[i] : 0;
        if (how->dims[i] > 1 && steps[i] != even->steps[i])
            return false;
        size *= steps[i] ? (size_t)how->dims[i] : 1;
        if (size > TENSOR_MOST_ELEMENTS) /* its elements may be needed */
            return false;
    }
    *result = even_tensor(how, (int64_t)even->base, steps, identity, arena);
    return true;
}

/* What a comparison of x and y gives everywhere, by their difference; -1: not the same everywhere. */
static int even_comparison(Comparison predicate, const Even *difference) {
    bool below = difference->high < 0;
    bool above = difference->low > 0;
    bool not_above = difference->high <= 0, not_below = difference->low >= 0;
    switch (predicate) {
    case COMPARE_EQ:
        return below || above ? 0 : not_above && not_below ? 1 : -1;
    case COMPARE_NE:
        return below || above ? 1 : not_above && not_below ? 0 : -1;
    case COMPARE_SLT:
    case COMPARE_ULT:
        return below ? 1 : not_below ? 0 : -1;
    case COMPARE_SLE:
    case COMPARE_ULE:
        return not_above ? 1 : above ? 0 : -1;
    case COMPARE_SGT:
    case COMPARE_UGT:
        return above ? 1 : not_above ? 0 : -1;
    case COMPARE_SGE:
    case COMPARE_UGE:
        return not_below ? 1 : below ? 0 : -1;
    }
    return -1;
}

static bool even_compare(const Evaluation *how, const Tensor *const *tensors, Arena *arena, Word *result) {
    Even difference, side;
    if (how->operand_width < 2 || !even_sum(how, tensors[0], tensors[1], -1, &difference))
        return false;
    for (unsigned i = 0; i < 2 && how->a >= COMPARE_ULT; i++)
        if (!even_sum(how, tensors[i], NULL, 0, &side) || side.low < 0)
            return false;
    int same = even_comparison((Comparison)how->a, &difference);
    if (same < 0)
        return false;
    *result = tensor_splat(how, same, arena);
    return true;
}

/* A quotient or a rest by one number, where all numbers lie between two multiples of it. */
static bool even_divide(const Evaluation *how, const Tensor *const *tensors, uint64_t identity, Arena *arena,
                        Word *result) {
    Even even;
    int64_t by;
    bool rest = how->code == EVALUATE_REMAINDER_SIGNED || how->code == EVALUATE_REMAINDER_UNSIGNED;
    if (!tensor_uniform(tensors[1], &by) || by <= 0 || !even_sum(how, tensors[0], NULL, 0, &even) || even.low < 0 ||
        even.low / by != even.high / by)
        return false;
    if (!rest) {
        *result = tensor_splat(how, (int64_t)(even.low / by), arena);
        return true;
    }
    even.base -= even.low / by * by;
    even.high -= even.low / by * by;
    even.low -= even.low / by * by;
    return even_result(how, &even, identity, arena, result);
}

/* Operand `other` where this one, the same everywhere, changes nothing. */
static bool even_neutral(const Evaluation *how, const Word *operands, const Tensor *const *tensors, Word *result) {
    int64_t neutral = how->code == EVALUATE_AND ? integer_wrap(-1, how->width) : 0, value;
    for (unsigned i = 0; i < 2; i++)
        if (tensor_uniform(tensors[i], &value) && value == neutral) {
            *result = operands[!i];
            return true;
        }
    return false;
}

/* The NUMBERS on even tensors, as far as the result is even without looking at its elements. */
bool even_numbers(const Evaluation *how, const Word *operands, const Tensor *const *tensors, unsigned count,
                  Arena *arena, Word *result) {
    Even even, other;
    int64_t value;
    if (how->code == EVALUATE_AND || how->code == EVALUATE_OR)
        return even_neutral(how, operands, tensors, result);
    for (unsigned i = 0; i < count; i++)
        if (!tensors[i]->even)
            return false;
    uint64_t identity = result_identity(how, operands, count);
    switch (how->code) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
        return even_sum(how, tensors[0], tensors[1], how->code == EVALUATE_ADD ? 1 : -1, &even) &&
               even_result(how, &even, identity, arena, result);
    case EVALUATE_ADD_POINTER:
        return even_sum(how, tensors[0], tensors[1], how->a, &even) && even_result(how, &even, identity, arena, result);
    case EVALUATE_MULTIPLY: {
        unsigned factor = tensor_uniform(tensors[0], &value) ? 0 : 1;
        return tensor_uniform(tensors[factor], &value) && even_sum(how, NULL, tensors[!factor], value, &even) &&
               even_result(how, &even, identity, arena, result);
    }
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_WRAP:
    case EVALUATE_ZERO_EXTEND:
        return how->operand_width > 1 && even_sum(how, tensors[0], NULL, 0, &even) &&
               (how->code != EVALUATE_ZERO_EXTEND || even.low >= 0) && even_result(how, &even, identity, arena, result);
    case EVALUATE_COMPARE:
        return even_compare(how, tensors, arena, result);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return even_divide(how, tensors, identity, arena, result);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MAXIMUM_SIGNED: {
        if (!even_sum(how, tensors[0], tensors[1], -1, &other) || (other.low < 0 && other.high > 0))
            return false;
        bool least = how->code == EVALUATE_MINIMUM_SIGNED, less = other.high <= 0;
        *result = operands[least == less ? 0 : 1];
        return true;
    }
    default:
        return false;
    }
}
