/* EVALUATE: how the result of a pure op comes from its operands, read off its row. Doing it is model/number/evaluate.
 */
#ifndef IR_EVALUATOR_H
#define IR_EVALUATOR_H

#include "base/text.h"

#include <stdint.h>

typedef enum Evaluator {
    EVALUATE_NONE, /* the row says nothing: the result is unknown */
#define EVALUATOR(id, name, kind, operands, what) EVALUATE_##id,
#include "ir/evaluators.def"
#undef EVALUATOR
    EVALUATOR_COUNT
} Evaluator;

enum { NUMBERS, SHAPES, MACHINE, ANY = -1 };

typedef struct EvaluatorRow {
    const char *name;
    int8_t kind, operands; /* operands: how many; ANY: at least one */
} EvaluatorRow;

extern const EvaluatorRow evaluators[EVALUATOR_COUNT];

/* The Evaluator of that name; EVALUATE_NONE if there is none. */
Evaluator evaluator_named(Str name);

#endif
