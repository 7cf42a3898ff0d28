/* A function's returned value, evaluated op by op: what the tests of the emulator's arithmetic start from. */
#ifndef TESTS_UNIT_EVALUATING_H
#define TESTS_UNIT_EVALUATING_H

#include "reading.h"

#include "model/number/evaluate.h"

#include <stdio.h>

/* Of a function without control flow, called with these words. The text and the result live until done_evaluating. */
typedef struct Evaluating {
    Reading *reading;
    Arena arena;
    const Word *arguments;
} Evaluating;

static inline Word value_of(Evaluating *evaluating, const Value *value) {
    Word operands[16];
    if (!value->is_result)
        return evaluating->arguments[value->index];
    const Op *op = value->owner;
    assert_true(op->operand_count <= 16);
    for (uint32_t i = 0; i < op->operand_count; i++)
        operands[i] = value_of(evaluating, op->operands[i]);
    Evaluation how = evaluation_of(&evaluating->reading->module, op, value->index);
    return evaluate(&how, operands, op->operand_count, &evaluating->arena);
}

/* The operand number `index` of the function's return. */
static inline Word returned(Evaluating *evaluating, unsigned index) {
    const Op *end = find_op(evaluating->reading, "tt.return", 0);
    assert_non_null(end);
    assert_true(index < end->operand_count);
    return value_of(evaluating, end->operands[index]);
}

static inline Evaluating *start_evaluating(const char *text, const Word *arguments) {
    Evaluating *evaluating = calloc(1, sizeof *evaluating);
    assert_non_null(evaluating);
    evaluating->reading = read_good(text);
    evaluating->arguments = arguments;
    arena_init(&evaluating->arena, (size_t)1 << 30);
    return evaluating;
}

static inline void done_evaluating(Evaluating *evaluating) {
    arena_free(&evaluating->arena);
    done(evaluating->reading);
    free(evaluating);
}

#endif
