/* A scalar integer, written as a person would write it.
 *
 * What a compiler made of "count % 3" is many ops: divisions, products, casts, counters that loops carry, phase bits
 * that flip when a slot wraps around. This finds the expression again: "accumCnt(loop@41) % 3". docs/report.md
 * explains the words that it uses. */
#ifndef MODEL_NUMBER_EXPRESSION_H
#define MODEL_NUMBER_EXPRESSION_H

#include "ir/ir.h"

/* What `value` is, in terms of counts of loops, induction variables, arguments and constants; a value that is none of
 * that is its name. At most 200 characters. */
void expression_print(Module *module, const Value *value, Text *to);

#endif
