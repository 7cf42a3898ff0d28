/* Even tensors: each element is the first and a step for each coordinate, as in nearly all tensors of addresses.
 *
 * What is done to them is done to a handful of numbers, whatever their size: adding and scaling, comparing where the
 * outcome is the same everywhere, the rest of a division that wraps nowhere. Whatever does not come out even, or would
 * not fit its width, is left to those who go through the elements (tensor.c). */
#ifndef MODEL_NUMBER_EVEN_H
#define MODEL_NUMBER_EVEN_H

#include "model/number/tensor.h"

/* Of the shape of the result of `how`; one without steps is a splat, and has data. */
Word even_tensor(const Evaluation *how, int64_t base, const int64_t *steps, uint64_t identity, Arena *arena);
/* Looks whether a tensor with this data, `size` elements in row-major order, is even. Its strides are set. */
void even_find(Tensor *tensor, const int64_t *data, size_t size);
/* One of the NUMBERS on known tensors of one shape. False: the result is not even, or not seen to be. */
bool even_numbers(const Evaluation *how, const Word *operands, const Tensor *const *tensors, unsigned count,
                  Arena *arena, Word *result);

#endif
