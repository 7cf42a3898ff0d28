/* Tensors of known integers, for evaluate.c: what makes them, and what works on whole ones. */
#ifndef MODEL_NUMBER_TENSOR_H
#define MODEL_NUMBER_TENSOR_H

#include "model/number/evaluate.h"

/* The identity of a word as an operand. */
uint64_t word_identity(Word word);
/* The identity of what `how` makes of these operands. */
uint64_t result_identity(const Evaluation *how, const Word *operands, unsigned count);

/* Tensors of the shape of the result of `how`. */
Word tensor_unknown(const Evaluation *how, uint64_t identity, Arena *arena);
Word tensor_splat(const Evaluation *how, int64_t value, Arena *arena);
/* `data` is all elements in row-major order; not copied. */
Word tensor_dense(const Evaluation *how, const int64_t *data, Arena *arena);
/* The same with data only along the dimensions that do not repeat. */
Word tensor_repeating(const Evaluation *how, const int64_t *data, const bool *repeats, Arena *arena);

/* Whether all elements are known and the same one. */
bool tensor_uniform(const Tensor *tensor, int64_t *value);
/* Whether it has the shape of the result of `how`. */
bool tensor_fits(const Tensor *tensor, const Evaluation *how);
/* The tensor with its data, which is made in the arena if it has none. */
Tensor tensor_whole(const Tensor *tensor, Arena *arena);
/* How many elements a tensor of these dimensions has; SIZE_MAX if too many to count. */
size_t dims_size(const int64_t *dims, unsigned rank);

/* One of the NUMBERS on tensors of one shape, and the SHAPES that have operands. False: unknown. */
bool tensor_numbers(const Evaluation *how, const Word *operands, unsigned count, Arena *arena, Word *result);
bool tensor_shapes(const Evaluation *how, const Word *operands, unsigned count, Arena *arena, Word *result);

#endif
