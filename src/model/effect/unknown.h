/* Ops that is not known: which of them cannot matter, and what is said of the others.
 *
 * The rule, here and nowhere else: an op that is in no row may do anything to memory and to time, unless it is of a
 * dialect of which every op is pure, and has numbers, vectors or tensors of numbers alone in and out, and no regions.
 * An op whose name has a row, but which is written in a way that the row does not have, is as harmless as that row. */
#ifndef MODEL_EFFECT_UNKNOWN_H
#define MODEL_EFFECT_UNKNOWN_H

#include "model/effect/effect.h"

/* Of an op that is in no row, or stands for one: whether it certainly does nothing to memory and orders nothing. */
bool unknown_is_harmless(Module *module, const Op *op);
/* Of a call of a library's function on elements: whether it is said to be pure, and nothing speaks against that: a
 * pointer in its hands, a name that is about others. */
bool external_is_pure(Module *module, const Op *op);

/* Whether it is not known what the op does: one of its effects is EFFECT_ANYTHING. */
bool op_is_unknown(Module *module, const Op *op);
/* Why, as a sentence without its end: "the op is not known". */
void unknown_reason(Module *module, const Op *op, Text *to);

#endif
