/* What the launches of a kernel do at all: which of its ops have an effect, and on which of their operands. A fault in
 * what never happens is none. */
#ifndef TESTS_MUTANTS_USES_H
#define TESTS_MUTANTS_USES_H

#include "explore/launch/launch.h"
#include "ir/ir.h"

typedef struct Uses {
    uint64_t *operands; /* by the offset of an op: bit 0 if it did anything, bit 1 + k if it did it to operand k */
} Uses;

/* Memory: the module's arena. */
Uses uses_create(Module *module);
/* Adds what a launch does. */
void uses_find(Uses *uses, Module *module, const Launch *launch, uint64_t budget);
/* `operand` may be NULL: the op did anything. */
bool uses_has(const Uses *uses, const Op *op, const Value *operand);

#endif
