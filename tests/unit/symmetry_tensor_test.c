/* machine/tile/step/symmetry_tensor: what ops make of tensors at random, in every CTA of the box. */
#include "boxes.h"

#include "machine/tile/step/symmetry.h"
#include "model/number/tensor.h"

enum { ELEMENTS = 4 };

/* Of 1000 results how many at least have a form that is known and moves. Truth values are the same in the whole box,
 * and of one bit no other is followed. */
static const struct {
    Evaluation how;
    unsigned least;
} tensor_ops[] = {
    {{.code = EVALUATE_ADD, .width = 8}, 400},
    {{.code = EVALUATE_SUBTRACT, .width = 8}, 400},
    {{.code = EVALUATE_MULTIPLY, .width = 8}, 180},
    {{.code = EVALUATE_SHIFT_LEFT, .width = 8}, 50},
    {{.code = EVALUATE_ZERO_EXTEND, .width = 16}, 110},
    {{.code = EVALUATE_SIGN_EXTEND, .width = 16}, 400},
    {{.code = EVALUATE_WRAP, .width = 4}, 190},
    {{.code = EVALUATE_WRAP, .width = 1}, 0},
    {{.code = EVALUATE_COMPARE, .width = 1, .a = COMPARE_EQ}, 0},
    {{.code = EVALUATE_COMPARE, .width = 1, .a = COMPARE_SLT}, 0},
    {{.code = EVALUATE_COMPARE, .width = 1, .a = COMPARE_SGT}, 0},
    {{.code = EVALUATE_COMPARE, .width = 1, .a = COMPARE_ULE}, 0},
    {{.code = EVALUATE_MINIMUM_SIGNED, .width = 8}, 250},
    {{.code = EVALUATE_MAXIMUM_SIGNED, .width = 8}, 140},
    {{.code = EVALUATE_DIVIDE_SIGNED, .width = 8}, 8},
    {{.code = EVALUATE_REMAINDER_SIGNED, .width = 8}, 7},
};

/* The operand in the CTA: of the values in the run, each as much further on as the form says. */
static Word tensor_there(const int64_t *values, const Symmetry *box, const AffineForm *form, const int64_t at[AXES],
                         Arena *arena) {
    const Evaluation how = {.width = 8, .tensor = true, .rank = 1, .dims = {ELEMENTS}};
    int64_t *data = ARENA_ARRAY(arena, int64_t, ELEMENTS);
    for (unsigned i = 0; i < ELEMENTS; i++)
        data[i] = integer_wrap(value_at(box, form, values[i], at), 8);
    return tensor_dense(&how, data, arena);
}

/* Whether what the op makes has a form that is known and moves; in every CTA of the box it is then what the form says.
 */
static bool tensor_moves(Evaluation how, Arena *arena) {
    Symmetry box = {.high = {roll(0, 7), roll(0, 1), 0}}, all = box;
    AffineForm forms[2] = {{.by = {roll(-4, 4), roll(-2, 2)}}, {.by = {roll(0, 2) ? 0 : roll(-4, 4)}}};
    unsigned count =
        how.code == EVALUATE_ZERO_EXTEND || how.code == EVALUATE_SIGN_EXTEND || how.code == EVALUATE_WRAP ? 1 : 2;
    int64_t values[2][ELEMENTS], at[AXES], same = roll(0, 3), middle = roll(0, 1) ? roll(-30, 30) : 0,
                                           apart = roll(0, 9);
    how.constant = (Word){.kind = WORD_NOTHING};
    how.operand_width = 8;
    how.tensor = true;
    how.rank = 1;
    how.dims[0] = ELEMENTS;
    for (unsigned i = 0; i < ELEMENTS; i++) {
        values[0][i] = middle + roll(-apart, apart);
        values[1][i] = same && i ? values[1][0] : roll(-3, 12);
    }
    Word operands[2], there[2];
    for (unsigned k = 0; k < count; k++)
        operands[k] = tensor_there(values[k], &box, &forms[k], box.at, arena);
    Word here = evaluate(&how, operands, count, arena);
    AffineForm form = symmetry_tensor(&box, &how, forms, operands, count);
    if (form.loose || !word_is(here, WORD_TENSOR) || !here.tensor->known)
        return false;
    for (unsigned axis = 0; axis < AXES; axis++)
        assert_true(box.low[axis] >= all.low[axis] && box.high[axis] <= all.high[axis]);
    EACH_CTA(&box, at) {
        for (unsigned k = 0; k < count; k++)
            there[k] = tensor_there(values[k], &box, &forms[k], at, arena);
        Word result = evaluate(&how, there, count, arena);
        assert_true(word_is(result, WORD_TENSOR) && result.tensor->known);
        for (unsigned i = 0; i < ELEMENTS; i++)
            assert_int_equal(tensor_linear(result.tensor, i), value_at(&box, &form, tensor_linear(here.tensor, i), at));
    }
    return !symmetry_is_fixed(&box, &form);
}

static void tensors_move_as_their_forms_say(void **state) {
    (void)state;
    for (unsigned op = 0; op < sizeof tensor_ops / sizeof *tensor_ops; op++) {
        unsigned moved = 0;
        for (unsigned round = 0; round < 1000; round++) {
            Arena arena;
            arena_init(&arena, SIZE_MAX);
            moved += tensor_moves(tensor_ops[op].how, &arena);
            arena_free(&arena);
        }
        assert_true(tensor_ops[op].least ? moved >= tensor_ops[op].least : !moved);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_move_as_their_forms_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
