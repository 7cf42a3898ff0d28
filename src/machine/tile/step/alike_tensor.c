/* Forms of tensors of integers: all elements of one move by the same amount from cluster to cluster.
 *
 * That is so of nearly all addresses and of what masks are made of. A comparison, which decides element by element,
 * makes the box so small that each element comes out as in the run. */
#include "machine/tile/step/alike.h"

#include "model/number/tensor.h"

static const Form loose_form = {.loose = true};

/* All that an operand holds lies between these. */
typedef struct Extent {
    int64_t low, high;
} Extent;

static bool extent_of(Word word, Extent *extent) {
    if (word_is(word, WORD_INTEGER)) {
        *extent = (Extent){word.bits, word.bits};
        return true;
    }
    if (!word_is(word, WORD_TENSOR) || !word.tensor->known || !tensor_size(word.tensor))
        return false;
    const Tensor *tensor = word.tensor;
    if (!tensor->even) {
        size_t size = tensor_size(tensor);
        *extent = (Extent){INT64_MAX, INT64_MIN};
        for (size_t i = 0; i < size; i++) {
            int64_t value = tensor_linear(tensor, i);
            extent->low = value < extent->low ? value : extent->low;
            extent->high = value > extent->high ? value : extent->high;
        }
        return true;
    }
    *extent = (Extent){tensor->base, tensor->base};
    for (unsigned i = 0; i < tensor->rank; i++)
        *(tensor->steps[i] < 0 ? &extent->low : &extent->high) += tensor->steps[i] * (tensor->dims[i] - 1);
    return true;
}

/* Numbers from low to high of that form must not leave what `width` bits hold. */
static Form in_width(Alike *alike, Form form, __int128 low, __int128 high, unsigned width) {
    __int128 least = width ? -((__int128)1 << (width - 1)) : 0, most = -least - 1;
    if (width < 2 || form.loose || low < least || high > most)
        return loose_form;
    alike_keep(alike, &form, (int64_t)low, least, most);
    alike_keep(alike, &form, (int64_t)high, least, most);
    return form;
}

/* x + times * y */
static Form sum(Alike *alike, const Form *forms, const Extent *extents, int64_t times, unsigned width) {
    Form form;
    __int128 low = (__int128)extents[1].low * times, high = (__int128)extents[1].high * times;
    if (!alike_combine(&forms[0], &forms[1], times, &form))
        return loose_form;
    return in_width(alike, form, extents[0].low + (times < 0 ? high : low), extents[0].high + (times < 0 ? low : high),
                    width);
}

/* Times a number that is the same everywhere. */
static Form scaled(Alike *alike, const Form *form, const Extent *extent, int64_t times, unsigned width) {
    const Form forms[2] = {{.loose = false}, *form};
    const Extent extents[2] = {{0, 0}, *extent};
    return sum(alike, forms, extents, times, width);
}

static bool is_number(const Alike *alike, const Form *form, const Extent *extent) {
    return alike_is_fixed(alike, form) && extent->low == extent->high;
}

static Form product(Alike *alike, const Form *forms, const Extent *extents, unsigned width) {
    unsigned number = is_number(alike, &forms[0], &extents[0]) ? 0 : 1;
    if (!is_number(alike, &forms[number], &extents[number]))
        return loose_form;
    return scaled(alike, &forms[!number], &extents[!number], extents[number].low, width);
}

static int64_t element(Word word, size_t index) {
    return word_is(word, WORD_INTEGER) ? word.bits : tensor_linear(word.tensor, index);
}

/* How the elements of two stand to each other: of those below the nearest one, and so of those above. */
typedef struct Sides {
    __int128 below, above;
    bool equal;
} Sides;

static Sides sides_of(const Word *operands) {
    const Tensor *tensor = word_is(operands[0], WORD_TENSOR) ? operands[0].tensor : operands[1].tensor;
    const __int128 none = (__int128)1 << 100;
    Sides sides = {-none, none, false};
    size_t size = tensor_size(tensor);
    for (size_t i = 0; i < size; i++) {
        __int128 difference = (__int128)element(operands[0], i) - element(operands[1], i);
        sides.equal |= difference == 0;
        if (difference < 0)
            sides.below = difference > sides.below ? difference : sides.below;
        else if (difference > 0)
            sides.above = difference < sides.above ? difference : sides.above;
    }
    return sides;
}

/* Keeps the differences of these on their sides; where two are equal, they stay together with those below, with those
 * above, or by themselves (0). */
static bool keep_sides(Alike *alike, const Form *forms, Sides sides, int equal) {
    const __int128 limit = (__int128)1 << 64;
    Form form;
    if (!alike_combine(&forms[0], &forms[1], -1, &form) || form.loose)
        return false;
    if (sides.equal && equal < 0)
        sides.below = 0;
    else if (sides.equal && equal > 0)
        sides.above = 0;
    else if (sides.equal)
        alike_keep(alike, &form, 0, 0, 0);
    if (sides.below >= -limit / 2)
        alike_keep(alike, &form, (int64_t)sides.below, -limit, equal < 0 ? 0 : -1);
    if (sides.above < limit / 2)
        alike_keep(alike, &form, (int64_t)sides.above, equal > 0 ? 0 : 1, limit);
    return true;
}

static Form compare(Alike *alike, Comparison predicate, const Form *forms, const Word *operands,
                    const Extent *extents) {
    for (unsigned i = 0; i < 2 && predicate >= COMPARE_ULT; i++) {
        if (extents[i].low < 0)
            return loose_form;
        alike_keep(alike, &forms[i], extents[i].low, 0, INT64_MAX);
    }
    bool same = predicate == COMPARE_EQ || predicate == COMPARE_NE;
    bool less =
        predicate == COMPARE_SLT || predicate == COMPARE_ULT || predicate == COMPARE_SGE || predicate == COMPARE_UGE;
    return (Form){.loose = !keep_sides(alike, forms, sides_of(operands), same ? 0 : less ? 1 : -1)};
}

/* The smaller or the greater where it is the same operand everywhere. */
static Form smaller(Alike *alike, bool least, const Form *forms, const Word *operands) {
    Sides sides = sides_of(operands);
    const __int128 far = (__int128)1 << 99;
    bool below = sides.below > -far, above = sides.above < far;
    if ((below && above) || !keep_sides(alike, forms, sides, below ? -1 : 1))
        return loose_form;
    return forms[below == least ? 0 : 1];
}

/* By a number: each rest or quotient stays, or moves along. */
static Form divide(Alike *alike, bool rest, const Form *forms, const Extent *extents) {
    int64_t by = extents[1].low;
    if (!is_number(alike, &forms[1], &extents[1]) || by <= 0 || extents[0].low < 0)
        return loose_form;
    alike_keep(alike, &forms[0], extents[0].low, 0, INT64_MAX);
    Form left, to = alike_multiples(&forms[0], by, &left);
    if (alike_is_fixed(alike, &left))
        return rest ? (Form){.loose = false} : to;
    int64_t part = extents[0].low / by;
    if (extents[0].high / by != part)
        return loose_form;
    alike_keep(alike, &left, extents[0].low, (__int128)part * by, INT64_MAX);
    alike_keep(alike, &left, extents[0].high, 0, (__int128)part * by + by - 1);
    return rest ? left : to;
}

static bool same_form(const Form *a, const Form *b) {
    return !a->loose && !b->loose && memcmp(a->by, b->by, sizeof a->by) == 0;
}

static Form select_one(const Alike *alike, const Form *forms, const Extent *condition) {
    if (!alike_is_fixed(alike, &forms[0]))
        return loose_form;
    if (condition->low == condition->high)
        return condition->low ? forms[1] : forms[2];
    return same_form(&forms[1], &forms[2]) ? forms[1] : loose_form;
}

static Form numbers(Alike *alike, const Evaluation *how, const Form *forms, const Word *operands,
                    const Extent *extents) {
    switch (how->code) {
    case EVALUATE_ADD:
        return sum(alike, forms, extents, 1, how->width);
    case EVALUATE_SUBTRACT:
        return sum(alike, forms, extents, -1, how->width);
    case EVALUATE_ADD_POINTER:
        return sum(alike, forms, extents, how->a, how->width);
    case EVALUATE_MULTIPLY:
        return product(alike, forms, extents, how->width);
    case EVALUATE_SHIFT_LEFT:
        if (!is_number(alike, &forms[1], &extents[1]) || extents[1].low < 0 || extents[1].low > 61)
            return loose_form;
        return scaled(alike, &forms[0], &extents[0], INT64_C(1) << extents[1].low, how->width);
    case EVALUATE_ZERO_EXTEND:
        if (extents[0].low < 0)
            return loose_form;
        alike_keep(alike, &forms[0], extents[0].low, 0, INT64_MAX);
        return in_width(alike, forms[0], extents[0].low, extents[0].high, how->width);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_WRAP:
        return in_width(alike, forms[0], extents[0].low, extents[0].high, how->width);
    case EVALUATE_COMPARE:
        return compare(alike, (Comparison)how->a, forms, operands, extents);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
        return smaller(alike, how->code == EVALUATE_MINIMUM_SIGNED, forms, operands);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return divide(alike, how->code == EVALUATE_REMAINDER_SIGNED || how->code == EVALUATE_REMAINDER_UNSIGNED, forms,
                      extents);
    default:
        return loose_form;
    }
}

Form alike_tensor(Alike *alike, const Evaluation *how, const Form *forms, const Word *operands, unsigned count) {
    Extent extents[3];
    switch (how->code) {
    case EVALUATE_SAME:
    case EVALUATE_SPLAT:
    case EVALUATE_UNSPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
    case EVALUATE_RESHAPE:
    case EVALUATE_TRANSPOSE:
    case EVALUATE_SPLIT:
    case EVALUATE_SLICE:
        return forms[0];
    case EVALUATE_JOIN:
        return same_form(&forms[0], &forms[1]) ? forms[0] : loose_form;
    case EVALUATE_SELECT:
        return extent_of(operands[0], &extents[0]) ? select_one(alike, forms, &extents[0]) : loose_form;
    default:
        break;
    }
    bool known = count > 0 && count <= 2, shaped = false;
    for (unsigned i = 0; i < count && known; i++) {
        known = !forms[i].loose && extent_of(operands[i], &extents[i]);
        shaped |= word_is(operands[i], WORD_TENSOR);
    }
    return known && shaped ? numbers(alike, how, forms, operands, extents) : loose_form;
}
