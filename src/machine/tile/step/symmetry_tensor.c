/* Forms of tensors of integers: all elements of one move by the same amount from cluster to cluster.
 *
 * That is so of nearly all addresses and of what masks are made of. A comparison, which decides element by element,
 * makes the box so small that each element comes out as in the run. */
#include "machine/tile/step/symmetry.h"

#include "model/number/tensor.h"

static const AffineForm loose_form = {.loose = true};

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
static AffineForm in_width(Symmetry *symmetry, AffineForm form, __int128 low, __int128 high, unsigned width) {
    __int128 least = width ? -((__int128)1 << (width - 1)) : 0, most = -least - 1;
    if (width < 2 || low < least || high > most)
        return loose_form;
    symmetry_keep(symmetry, &form, (int64_t)low, least, most);
    symmetry_keep(symmetry, &form, (int64_t)high, least, most);
    return form;
}

/* x + times * y */
static AffineForm sum(Symmetry *symmetry, const AffineForm *forms, const Extent *extents, int64_t times,
                      unsigned width) {
    AffineForm form;
    __int128 low = (__int128)extents[1].low * times, high = (__int128)extents[1].high * times;
    if (!symmetry_combine(&forms[0], &forms[1], times, &form))
        return loose_form;
    return in_width(symmetry, form, extents[0].low + (times < 0 ? high : low),
                    extents[0].high + (times < 0 ? low : high), width);
}

/* Times a number that is the same everywhere. */
static AffineForm scaled(Symmetry *symmetry, const AffineForm *form, const Extent *extent, int64_t times,
                         unsigned width) {
    const AffineForm forms[2] = {{.loose = false}, *form};
    const Extent extents[2] = {{0, 0}, *extent};
    return sum(symmetry, forms, extents, times, width);
}

static bool is_number(const Symmetry *symmetry, const AffineForm *form, const Extent *extent) {
    return symmetry_is_fixed(symmetry, form) && extent->low == extent->high;
}

static AffineForm product(Symmetry *symmetry, const AffineForm *forms, const Extent *extents, unsigned width) {
    unsigned number = is_number(symmetry, &forms[0], &extents[0]) ? 0 : 1;
    if (!is_number(symmetry, &forms[number], &extents[number]))
        return loose_form;
    return scaled(symmetry, &forms[!number], &extents[!number], extents[number].low, width);
}

static int64_t element(Word word, size_t index) {
    return word_is(word, WORD_INTEGER) ? word.bits : tensor_linear(word.tensor, index);
}

/* How the elements of two stand to each other: of those below the nearest one, and so of those above. */
typedef struct SymmetryTensorSides {
    __int128 below, above;
    bool equal;
} SymmetryTensorSides;

static SymmetryTensorSides sides_of(const Word *operands) {
    const Tensor *tensor = word_is(operands[0], WORD_TENSOR) ? operands[0].tensor : operands[1].tensor;
    const __int128 none = (__int128)1 << 100;
    SymmetryTensorSides sides = {-none, none, false};
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
static bool keep_sides(Symmetry *symmetry, const AffineForm *forms, SymmetryTensorSides sides, int equal) {
    const __int128 limit = (__int128)1 << 64;
    AffineForm form;
    if (!symmetry_combine(&forms[0], &forms[1], -1, &form))
        return false;
    if (sides.equal && equal < 0)
        sides.below = 0;
    else if (sides.equal && equal > 0)
        sides.above = 0;
    else if (sides.equal)
        symmetry_keep(symmetry, &form, 0, 0, 0);
    if (sides.below >= -limit / 2)
        symmetry_keep(symmetry, &form, (int64_t)sides.below, -limit, equal < 0 ? 0 : -1);
    if (sides.above < limit / 2)
        symmetry_keep(symmetry, &form, (int64_t)sides.above, equal > 0 ? 0 : 1, limit);
    return true;
}

static AffineForm compare(Symmetry *symmetry, Comparison predicate, const AffineForm *forms, const Word *operands,
                          const Extent *extents) {
    for (unsigned i = 0; i < 2 && predicate >= COMPARE_ULT; i++) {
        if (extents[i].low < 0)
            return loose_form;
        symmetry_keep(symmetry, &forms[i], extents[i].low, 0, INT64_MAX);
    }
    bool same = predicate == COMPARE_EQ || predicate == COMPARE_NE;
    bool less =
        predicate == COMPARE_SLT || predicate == COMPARE_ULT || predicate == COMPARE_SGE || predicate == COMPARE_UGE;
    return (AffineForm){.loose = !keep_sides(symmetry, forms, sides_of(operands), same ? 0 : less ? 1 : -1)};
}

/* The smaller or the greater where it is the same operand everywhere. */
static AffineForm smaller(Symmetry *symmetry, bool least, const AffineForm *forms, const Word *operands) {
    SymmetryTensorSides sides = sides_of(operands);
    const __int128 far = (__int128)1 << 99;
    bool below = sides.below > -far, above = sides.above < far;
    if ((below && above) || !keep_sides(symmetry, forms, sides, below ? -1 : 1))
        return loose_form;
    return forms[below == least ? 0 : 1];
}

/* By a number: each rest or quotient stays, or moves along. */
static AffineForm divide(Symmetry *symmetry, bool rest, const AffineForm *forms, const Extent *extents) {
    int64_t by = extents[1].low;
    if (!is_number(symmetry, &forms[1], &extents[1]) || by <= 0 || extents[0].low < 0)
        return loose_form;
    symmetry_keep(symmetry, &forms[0], extents[0].low, 0, INT64_MAX);
    AffineForm left;
    bool together = extents[0].high / by == extents[0].low / by;
    Symmetry within = *symmetry;
    AffineForm to = symmetry_quotient(&within, &forms[0], by, together ? extents[0].low % by : 0,
                                      together ? extents[0].high % by : by - 1, &left);
    if (!together && !symmetry_is_fixed(symmetry, &left))
        return loose_form;
    *symmetry = within;
    return rest ? left : to;
}

static AffineForm select_one(const Symmetry *symmetry, const AffineForm *forms, const Extent *condition) {
    if (!symmetry_is_fixed(symmetry, &forms[0]))
        return loose_form;
    if (condition->low == condition->high)
        return condition->low ? forms[1] : forms[2];
    return symmetry_forms_equal(&forms[1], &forms[2]) ? forms[1] : loose_form;
}

static AffineForm numbers(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const Word *operands,
                          const Extent *extents) {
    switch (how->code) {
    case EVALUATE_ADD:
        return sum(symmetry, forms, extents, 1, how->width);
    case EVALUATE_SUBTRACT:
        return sum(symmetry, forms, extents, -1, how->width);
    case EVALUATE_ADD_POINTER:
        return sum(symmetry, forms, extents, how->a, how->width);
    case EVALUATE_MULTIPLY:
        return product(symmetry, forms, extents, how->width);
    case EVALUATE_SHIFT_LEFT:
        if (!is_number(symmetry, &forms[1], &extents[1]) || extents[1].low < 0 || extents[1].low > 61)
            return loose_form;
        return scaled(symmetry, &forms[0], &extents[0], INT64_C(1) << extents[1].low, how->width);
    case EVALUATE_ZERO_EXTEND:
        if (extents[0].low < 0)
            return loose_form;
        symmetry_keep(symmetry, &forms[0], extents[0].low, 0, INT64_MAX);
        return in_width(symmetry, forms[0], extents[0].low, extents[0].high, how->width);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_WRAP:
        return in_width(symmetry, forms[0], extents[0].low, extents[0].high, how->width);
    case EVALUATE_COMPARE:
        return compare(symmetry, (Comparison)how->a, forms, operands, extents);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
        return smaller(symmetry, how->code == EVALUATE_MINIMUM_SIGNED, forms, operands);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return divide(symmetry, how->code == EVALUATE_REMAINDER_SIGNED || how->code == EVALUATE_REMAINDER_UNSIGNED,
                      forms, extents);
    default:
        return loose_form;
    }
}

AffineForm symmetry_tensor(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const Word *operands,
                           unsigned count) {
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
        return symmetry_forms_equal(&forms[0], &forms[1]) ? forms[0] : loose_form;
    case EVALUATE_SELECT:
        return extent_of(operands[0], &extents[0]) ? select_one(symmetry, forms, &extents[0]) : loose_form;
    default:
        break;
    }
    bool known = count > 0 && count <= 2, shaped = false;
    for (unsigned i = 0; i < count && known; i++) {
        known = !forms[i].loose && extent_of(operands[i], &extents[i]);
        shaped |= word_is(operands[i], WORD_TENSOR);
    }
    return known && shaped ? numbers(symmetry, how, forms, operands, extents) : loose_form;
}
